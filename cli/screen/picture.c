/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite marginals --picture RxC: draws a picture with a pixel for every variable. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/image.h"
#include "job/job.h"
#include "src/core/base/plural.h"

#define MAX_LABELS 256 /* largest number of colours in a palette */

static int is_picture(const char *format)
{
    return strcmp(format, "pbm") == 0 || strcmp(format, "pgm") == 0 || strcmp(format, "ppm") == 0 ||
           strcmp(format, "png") == 0;
}

/* Reads a text such as "20x30". @return 1 if the text has this form. */
static int parse_sides(const char *text, uint64_t *rows, uint64_t *columns)
{
    char part[32];
    size_t n = strcspn(text, "x");
    if (text[n] != 'x' || n >= sizeof part) {
        return 0;
    }
    memcpy(part, text, n);
    part[n] = '\0';
    return cli_parse_uint(part, rows) && cli_parse_uint(text + n + 1, columns) && *rows >= 1 &&
           *columns >= 1 && *rows <= UINT32_MAX && *columns <= UINT32_MAX;
}

int cli_picture_settle(const cli_arguments *arguments, const char *format, cli_picture *picture)
{
    memset(picture, 0, sizeof *picture);
    int wanted = is_picture(format);
    if (!wanted && (arguments->picture != NULL || cli_given(arguments, "state"))) {
        return cli_error(CLI_USAGE, "--%s applies to pictures: use -o FILE.png, .pgm, .ppm or .pbm",
                         arguments->picture != NULL ? "picture" : "state");
    }
    if (!wanted) {
        return CLI_DONE;
    }
    if (arguments->picture == NULL) {
        return cli_error(CLI_USAGE,
                         "a picture needs its numbers of rows and columns: --picture RxC");
    }
    if (!parse_sides(arguments->picture, &picture->rows, &picture->columns)) {
        return cli_error(CLI_USAGE, "--picture %s: expected RxC, such as 20x30",
                         arguments->picture);
    }
    if (strcmp(format, "pbm") == 0 && cli_given(arguments, "state")) {
        return cli_error(CLI_USAGE,
                         "a PBM holds black and white only, no probabilities: use .png or .pgm, or "
                         "leave out --state for the most probable states");
    }
    picture->format = format;
    return CLI_DONE;
}

int cli_picture_fit(const cli_job *job, cli_picture *picture)
{
    const cli_arguments *arguments = job->arguments;
    const gbs_model *model = job->model;
    uint32_t n = gbs_model_n_variables(model);
    if (picture->format == NULL) {
        return CLI_DONE;
    }
    if (picture->rows * picture->columns !=
        n) { /* the product does not overflow, because both factors are below 2^32 */
        return cli_error(
            CLI_USAGE, "--picture %s: %" PRIu64 " pixels, but the model has %" PRIu32 " variable%s",
            arguments->picture, picture->rows * picture->columns, n, gbsi_plural(n));
    }
    uint32_t arity = gbs_model_arity(model, 0);
    for (uint32_t v = 1; v < n; v++) {
        if (gbs_model_arity(model, v) != arity) {
            return cli_error(CLI_USAGE,
                             "--picture %s: the variables have different numbers of states: 0 has "
                             "%" PRIu32 ", %" PRIu32 " has %" PRIu32,
                             arguments->picture, arity, v, gbs_model_arity(model, v));
        }
    }
    int bitmap = strcmp(picture->format, "pbm") == 0;
    picture->arity = arity;
    picture->labels = bitmap || (arity != 2 && !cli_given(arguments, "state"));
    picture->state = cli_given(arguments, "state") ? arguments->state : 1;
    if (!picture->labels && picture->state >= arity) {
        return cli_error(CLI_USAGE, "--state %" PRIu64 ": the variables have %" PRIu32 " state%s",
                         picture->state, arity, gbsi_plural(arity));
    }
    if (bitmap && arity > 2) {
        return cli_error(CLI_USAGE, "a PBM holds two states, but the variables have %" PRIu32,
                         arity);
    }
    if (picture->labels && arity > MAX_LABELS) {
        return cli_error(CLI_USAGE,
                         "a picture shows at most %d states, but the variables have %" PRIu32
                         ": use --state K for the probability of one state",
                         MAX_LABELS, arity);
    }
    return CLI_DONE;
}

/* Maps every variable to its most probable state. If several states are equally probable, the first
 * of these states is taken. */
static gbs_status map_labels(const cli_picture *picture, const double *p, gbs_image *image,
                             gbs_error *err)
{
    size_t n = (size_t)(picture->rows * picture->columns);
    uint32_t width = (uint32_t)picture->columns;
    uint32_t height = (uint32_t)picture->rows;
    uint32_t *best = calloc(n, sizeof *best);
    gbs_status status = GBS_ERR_MEMORY;
    for (size_t i = 0; best != NULL && i < n; i++) {
        const double *row = p + i * picture->arity;
        for (uint32_t a = 1; a < picture->arity; a++) {
            best[i] = row[a] > row[best[i]] ? a : best[i];
        }
    }
    if (best != NULL) {
        status = strcmp(picture->format, "pbm") == 0
                     ? gbs_image_from_spins(best, width, height, GBS_IMAGE_BITMAP, image, err)
                     : gbs_image_from_labels(best, width, height, picture->arity, image, err);
    }
    free(best);
    return status;
}

/* Maps every variable to the probability of one state. The probabilities of a variable, as averages
 * of float32 conditionals, may sum to slightly more than one. */
static gbs_status map_probability(const cli_picture *picture, const double *p, gbs_image *image,
                                  gbs_error *err)
{
    size_t n = (size_t)(picture->rows * picture->columns);
    double *q = calloc(n, sizeof *q);
    gbs_status status = GBS_ERR_MEMORY;
    for (size_t i = 0; q != NULL && i < n; i++) {
        const double *row = p + i * picture->arity;
        double sum = 0.0;
        for (uint32_t a = 0; a < picture->arity; a++) {
            sum += row[a];
        }
        q[i] = row[picture->state] / sum;
    }
    if (q != NULL) {
        status = gbs_image_from_probabilities(q, (uint32_t)picture->columns,
                                              (uint32_t)picture->rows, image, err);
    }
    free(q);
    return status;
}

int cli_picture_write(const cli_job *job, const cli_picture *picture, const double *p)
{
    const char *path = job->output != NULL ? job->output : "-";
    const gbs_image_write_options options = {.format = picture->format};
    gbs_error err = {GBS_OK, "out of memory"};
    gbs_image image = {0};
    gbs_status status = picture->labels ? map_labels(picture, p, &image, &err)
                                        : map_probability(picture, p, &image, &err);
    if (status >= 0) {
        status = gbs_image_write(&image, path, &options, &err);
    }
    gbs_image_free(&image);
    return status < 0 ? cli_fail_output(path, status, &err) : CLI_DONE;
}
