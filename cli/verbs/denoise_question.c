/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite denoise: reads the pictures and the options for noise and smoothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "denoise.h"
#include "gibbsite/denoise.h"
#include "gibbsite/image.h"

/* Initial values of the noise for estimates: a probability of flips, or a standard deviation in
 * levels. */
#define FIRST_FLIP  0.1
#define FIRST_GAUSS 0.5

/* ---- what was typed -------------------------------------------------------------------------- */

/* Reads "name" or "name:NUMBER". @param value unchanged if there is no number. @return 1 if the
 * text has one of these forms. */
static int parse_named(const char *text, const char *name, double *value, int *has_value)
{
    const size_t n = strlen(name);
    if (strncmp(text, name, n) != 0 || (text[n] != '\0' && text[n] != ':')) {
        return 0;
    }
    *has_value = text[n] == ':';
    return !*has_value || cli_parse_real(text + n + 1, value);
}

/* Warns of a deviation that is larger than the range of all levels. It was probably meant in grey
 * values. */
static void tell_spread(const cli_denoising *d, double level)
{
    const double range = (double)d->how.levels - 1;
    char other[64] = "";
    if (!(level > range)) {
        return;
    }
    if (!d->how.labels && d->noisy.maxval > 1) {
        (void)snprintf(other, sizeof other, "; %.4g grey values are gauss:%.4g", level,
                       level * range / d->noisy.maxval);
    }
    cli_note(d->job.arguments,
             "warning: --noise gauss:%.4g: its number is in steps from one level to the next, and "
             "is larger than the %.4g step%s from the lowest to the highest level%s",
             level, range, range == 1.0 ? "" : "s", other);
}

/* Settles the kind of noise and its level, or the initial value for its estimate. */
static int settle_noise(cli_denoising *d, const char *text)
{
    double level = 0.0;
    int given = 0;
    d->how.noise = gbs_denoise_noise_of(&d->noisy, d->how.levels, d->how.labels);
    if (text != NULL) {
        const int flips = parse_named(text, "flip", &level, &given);
        if (!flips && !parse_named(text, "gauss", &level, &given)) {
            return cli_error(CLI_USAGE,
                             "--noise: found \"%s\", expected flip or gauss, with a number as in "
                             "flip:0.1, or without one",
                             text);
        }
        d->how.noise = flips ? GBS_NOISE_FLIP : GBS_NOISE_GAUSS;
    }
    if (given && !(level > 0.0)) {
        return cli_error(CLI_USAGE, "--noise: found \"%s\", expected a number above 0", text);
    }
    if (given && d->how.noise == GBS_NOISE_GAUSS) {
        tell_spread(d, level);
    }
    d->find_noise = !given;
    d->how.noise_level = given ? level : d->how.noise == GBS_NOISE_FLIP ? FIRST_FLIP : FIRST_GAUSS;
    return CLI_DONE;
}

static int settle_smoothing(cli_denoising *d, const char *text)
{
    int given = 0;
    if (text == NULL || strcmp(text, "potts") == 0) {
        d->how.smoothing = GBS_SMOOTHING_POTTS;
        return CLI_DONE;
    }
    d->how.smoothing = GBS_SMOOTHING_QUADRATIC;
    if (!parse_named(text, "quadratic", &d->how.truncation, &given) ||
        (given && !(d->how.truncation > 0.0))) {
        return cli_error(CLI_USAGE,
                         "--smoothing: found \"%s\", expected potts, quadratic or quadratic:T with "
                         "T above 0",
                         text);
    }
    return CLI_DONE;
}

/* Checks, for --labels, that the value of every pixel is a label. */
static int check_labels(const gbs_image *image, const char *path, uint32_t levels)
{
    gbs_error err = {GBS_OK, ""};
    uint32_t *level = calloc((size_t)image->width * image->height + 1, sizeof *level);
    const gbs_status status =
        level == NULL ? GBS_ERR_MEMORY : gbs_image_to_labels(image, levels, level, &err);
    free(level);
    return status == GBS_ERR_MEMORY ? cli_error(CLI_FAILED, "out of memory")
           : status < 0             ? cli_error(CLI_INPUT, "%s: %s", path, err.message)
                                    : CLI_DONE;
}

/* Refuses a picture whose pixels differ but all have the same nearest level, such as an 8-bit mask
 * of zeros and ones. The range of values is then probably not what the user expects. */
static int check_range(const cli_denoising *d, const cli_arguments *a, const gbs_image *image,
                       const char *path)
{
    const size_t n = (size_t)image->width * image->height;
    const size_t pixel = image->channels * sizeof *image->sample;
    gbs_error err = {GBS_OK, ""};
    size_t same = 1;
    size_t level_same = 1;
    if (d->how.labels || image->kind == GBS_IMAGE_BITMAP) {
        return CLI_DONE;
    }
    uint32_t *level = calloc(n + 1, sizeof *level);
    const gbs_status status =
        level == NULL ? GBS_ERR_MEMORY : gbs_image_to_levels(image, d->how.levels, level, &err);
    for (size_t i = 1; i < n && status >= 0; i++) {
        same += memcmp(image->sample, image->sample + i * image->channels, pixel) == 0;
        level_same += level[i] == level[0];
    }
    if (status >= 0 && level_same == n && same < n) {
        cli_note(a,
                 "warning: %s: all pixels are nearest to level %" PRIu32 " of %" PRIu32
                 ", though they differ: values are levels from 0 to %" PRIu32
                 "; values that are the numbers of levels want --labels",
                 path, level[0], d->how.levels, image->maxval);
    }
    free(level);
    return status == GBS_ERR_MEMORY ? cli_error(CLI_FAILED, "out of memory")
           : status < 0             ? cli_fail(status, &err)
                                    : CLI_DONE;
}

/* Warns if a picture has few different values but more than levels, so that some values are not
 * levels. */
static void tell_values(const cli_denoising *d, const cli_arguments *a)
{
    enum { FEW = 16 };
    const gbs_image *image = &d->noisy;
    const size_t n = (size_t)image->width * image->height;
    const size_t pixel = image->channels * sizeof *image->sample;
    const uint16_t *seen[FEW];
    uint32_t n_seen = 0;
    if (d->how.labels || cli_given(a, "levels")) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const uint16_t *at = image->sample + i * image->channels;
        uint32_t k = 0;
        while (k < n_seen && memcmp(seen[k], at, pixel) != 0) {
            k++;
        }
        if (k == FEW) {
            return;
        }
        if (k == n_seen) {
            seen[n_seen++] = at;
        }
    }
    if (n_seen > d->how.levels) {
        cli_note(a,
                 "warning: %s: its pixels have %" PRIu32 " values, and are restored with %" PRIu32
                 " levels: --levels %" PRIu32 " has as many levels as values",
                 a->operand[0], n_seen, d->how.levels, n_seen);
    }
}

int cli_denoise_settle(cli_denoising *d, const cli_arguments *arguments)
{
    if (arguments->run.estimator == GBS_ESTIMATOR_TRACES) {
        return cli_error(CLI_USAGE, "--estimator traces keeps no levels of pixels: use "
                                    "rao-blackwell or count");
    }
    d->how = arguments->of.denoise;
    if (d->how.labels && d->noisy.kind == GBS_IMAGE_PALETTE && !cli_given(arguments, "levels")) {
        d->how.levels = d->noisy.n_colors < 2 ? 2 : d->noisy.n_colors;
    }
    int status = CLI_DONE;
    if (d->how.labels) {
        CLI_TRY(check_labels(&d->noisy, arguments->operand[0], d->how.levels));
    }
    if (d->how.labels && arguments->truth != NULL) {
        CLI_TRY(check_labels(&d->truth, arguments->truth, d->how.levels));
    }
    CLI_TRY(check_range(d, arguments, &d->noisy, arguments->operand[0]));
    tell_values(d, arguments);
    if (arguments->truth != NULL) {
        CLI_TRY(check_range(d, arguments, &d->truth, arguments->truth));
    }
    CLI_TRY(settle_noise(d, arguments->noise_kind));
    CLI_TRY(settle_smoothing(d, arguments->smoothing));

cleanup:
    d->find_coupling = !cli_given(arguments, "coupling");
    return status;
}

/* ---- names of files -------------------------------------------------------------------------- */

static int ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path);
    const size_t m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

static int check_picture_name(const char *option, const char *path)
{
    static const char *const endings[] = {".png", ".pgm", ".ppm", ".pbm"};
    if (path == NULL || (strcmp(option, "output") == 0 && strcmp(path, "-") == 0)) {
        return CLI_DONE;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_in(path, endings[i])) {
            return cli_check_output(path);
        }
    }
    return cli_error(CLI_USAGE, "--%s %s: expected a name that ends in .png, .pgm, .ppm or .pbm",
                     option, path);
}

int cli_denoise_check_names(const cli_arguments *a)
{
    const struct {
        const char *option, *path;
    } file[] = {{"output", a->output},           {"mean", a->mean},
                {"uncertainty", a->uncertainty}, {"map", a->best},
                {"write-model", a->write_model}, {"summary", a->summary}};
    enum { N = sizeof file / sizeof file[0], N_PICTURES = 4 };
    int n = a->truth != NULL;
    int status = CLI_DONE;
    for (size_t i = 0; i < N && status == CLI_DONE; i++) {
        n += file[i].path != NULL;
        status = i < N_PICTURES ? check_picture_name(file[i].option, file[i].path) : CLI_DONE;
        for (size_t k = 0; k < i && file[i].path != NULL && status == CLI_DONE; k++) {
            if (file[k].path != NULL && strcmp(file[i].path, file[k].path) == 0) {
                status = cli_error(CLI_USAGE, "--%s and --%s name the same file %s", file[k].option,
                                   file[i].option, file[i].path);
            }
        }
    }
    if (status == CLI_DONE && n == 0) {
        status = cli_error(CLI_USAGE, "nothing to do: name a file with -o, --mean, --uncertainty, "
                                      "--map or --write-model, or give --truth");
    }
    if (status == CLI_DONE && a->truth != NULL && a->output != NULL &&
        strcmp(a->output, "-") == 0) {
        status = cli_error(CLI_USAGE, "--output -: standard output is for the table of --truth");
    }
    if (status == CLI_DONE && a->mean != NULL && a->of.denoise.labels) {
        status = cli_error(CLI_USAGE, "--mean: labels have no mean; leave out --labels or --mean");
    }
    return status;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Checks that --truth has the kind of the noisy picture. Bitmaps and grey pictures cannot be mixed,
 * because level 1 is black in bitmaps, and the highest level is white in grey pictures. */
static int check_truth(const cli_denoising *d, const cli_arguments *a)
{
    if (d->truth.width != d->noisy.width || d->truth.height != d->noisy.height) {
        return cli_error(CLI_INPUT,
                         "%s: found %" PRIu32 " x %" PRIu32 " pixels, expected %" PRIu32
                         " x %" PRIu32 " as in %s",
                         a->truth, d->truth.width, d->truth.height, d->noisy.width, d->noisy.height,
                         a->operand[0]);
    }
    if ((d->truth.kind == GBS_IMAGE_BITMAP) != (d->noisy.kind == GBS_IMAGE_BITMAP)) {
        return cli_error(
            CLI_INPUT,
            "%s: found a %s beside a %s, expected two of a kind: black is 1 in a bitmap, "
            "and 0 in others; save %s as .pbm, or the other one as .png",
            a->truth, d->truth.kind == GBS_IMAGE_BITMAP ? "bitmap" : "picture with levels",
            d->noisy.kind == GBS_IMAGE_BITMAP ? "bitmap" : "picture with levels",
            d->noisy.kind == GBS_IMAGE_BITMAP ? a->truth : a->operand[0]);
    }
    return CLI_DONE;
}

int cli_denoise_read(cli_denoising *d, const cli_arguments *arguments)
{
    const char *noisy = arguments->operand[0];
    const char *truth = arguments->truth;
    const char *pbm = arguments->output != NULL && ends_in(arguments->output, ".pbm")
                          ? arguments->output
                          : arguments->best;
    if (truth != NULL && strcmp(noisy, "-") == 0 && strcmp(truth, "-") == 0) {
        return cli_error(CLI_USAGE, "standard input (-) can be only one of the inputs");
    }
    CLI_PASS(cli_read_picture(&d->job, noisy, &d->noisy));
    if (truth != NULL) {
        CLI_PASS(cli_read_picture(&d->job, truth, &d->truth));
        CLI_PASS(check_truth(d, arguments));
    }
    if (pbm != NULL && ends_in(pbm, ".pbm") && d->noisy.kind != GBS_IMAGE_BITMAP) {
        CLI_PASS(
            cli_error(CLI_USAGE, "%s: only the result of a bitmap is a bitmap; use .png", pbm));
    }
    return CLI_DONE;
}
