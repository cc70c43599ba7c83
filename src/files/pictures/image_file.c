/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps pictures in memory, and chooses the reader or writer of a picture file. */
#include "pictures/image_file.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "base/watch.h"
#include "text/common.h"

#define MAX_SIDE 32768u

static const gbs_image_write_options default_write = {0};

/* ---- in memory --------------------------------------------------------------------------- */

gbs_status gbsi_image_new(const char *name, gbs_image_kind kind, uint32_t width, uint32_t height,
                          uint32_t maxval, uint32_t n_colors, gbs_image *image, gbs_error *err)
{
    bool palette = kind == GBS_IMAGE_PALETTE;
    if ((unsigned)kind > GBS_IMAGE_PALETTE || width == 0 || height == 0 || maxval == 0 ||
        maxval > 65535 || (kind == GBS_IMAGE_BITMAP && maxval != 1) || (palette && maxval != 255) ||
        (palette ? n_colors == 0 || n_colors > 256 : n_colors != 0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "a picture cannot have %u x %u pixels, maxval %u and %u colour%s", width,
                         height, maxval, n_colors, gbsi_plural(n_colors));
    }
    gbs_image made = {.kind = kind,
                      .width = width,
                      .height = height,
                      .channels = kind == GBS_IMAGE_COLOR ? 3 : 1,
                      .maxval = maxval,
                      .n_colors = n_colors};
    size_t n = 0;
    bool fits =
        gbsi_mul_size(width, height, &n) && gbsi_mul_size(n, made.channels * sizeof(uint16_t), &n);
    made.sample = fits ? gbsi_alloc_zero(n) : NULL;
    GBSI_PASS(GBSI_HAVE(err, name, made.sample));
    *image = made;
    return GBS_OK;
}

gbs_status gbs_image_new(gbs_image_kind kind, uint32_t width, uint32_t height, uint32_t maxval,
                         uint32_t n_colors, gbs_image *image, gbs_error *err)
{
    GBSI_NEED(image);
    return gbsi_image_new("picture", kind, width, height, maxval, n_colors, image, err);
}

void gbs_image_free(gbs_image *image)
{
    if (image != NULL) {
        GBSI_FREE(image->sample, image->hidden);
        *image = (gbs_image){0};
    }
}

uint32_t gbsi_image_grey(const gbs_image *image, size_t pixel)
{
    const uint16_t *s = image->sample + pixel * image->channels;
    uint64_t rgb[3] = {s[0], s[0], s[0]};
    if (image->kind == GBS_IMAGE_GREY) {
        return s[0];
    }
    for (int c = 0; c < 3; c++) {
        rgb[c] = image->kind == GBS_IMAGE_PALETTE ? image->color[s[0]][c] : s[c];
    }
    return (uint32_t)((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
}

gbs_status gbsi_image_colored(const gbs_image *image, gbs_image *colored, gbs_error *err)
{
    gbs_image made = {0};
    gbs_status status =
        gbs_image_new(GBS_IMAGE_COLOR, image->width, image->height, image->maxval, 0, &made, err);
    if (made.sample == NULL) {
        return status;
    }
    size_t n = (size_t)image->width * image->height;
    for (size_t i = 0; i < n; i++) {
        const uint16_t value = image->sample[i * image->channels];
        for (size_t c = 0; c < 3; c++) {
            made.sample[3 * i + c] = image->kind == GBS_IMAGE_PALETTE  ? image->color[value][c]
                                     : image->kind == GBS_IMAGE_BITMAP ? (uint16_t)!value
                                     : image->kind == GBS_IMAGE_COLOR  ? image->sample[3 * i + c]
                                                                       : value;
        }
    }
    *colored = made;
    return GBS_OK;
}

/* ---- reading ----------------------------------------------------------------------------- */

gbs_status gbsi_image_work(size_t n, gbs_error *err)
{
    return gbsi_watch_work(gbsi_watch_current(), n, "reading the picture", err);
}

void gbsi_image_warn(const gbs_image_read_options *options, const char *name, const char *format,
                     ...)
{
    char what[512];
    char message[1024];
    if (options->warn == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    (void)snprintf(message, sizeof message, "%.400s: %s", name, what);
    options->warn(options->context, message);
}

gbs_status gbsi_image_check_size(uint64_t width, uint64_t height, uint32_t channels, size_t n_file,
                                 const gbs_image_read_options *options, gbs_error *err)
{
    const uint64_t free_bytes = (uint64_t)256 << 20;
    const uint64_t most_ratio = 512;
    uint64_t max_width = options->max_width == 0 ? MAX_SIDE : options->max_width;
    uint64_t max_height = options->max_height == 0 ? MAX_SIDE : options->max_height;
    if (width == 0 || height == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found a picture of %llu x %llu pixels, expected at least one",
                         (unsigned long long)width, (unsigned long long)height);
    }
    if (width > max_width || height > max_height) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "found a picture of %llu x %llu pixels; the limit is %llu x %llu",
                         (unsigned long long)width, (unsigned long long)height,
                         (unsigned long long)max_width, (unsigned long long)max_height);
    }
    uint64_t n_bytes =
        width * height; /* the product is below 2^64, because width and height are below 2^32 */
    n_bytes = n_bytes > UINT64_MAX / 6 ? UINT64_MAX : n_bytes * channels * sizeof(uint16_t);
    if (n_bytes > SIZE_MAX / 2 || (n_bytes > free_bytes && n_bytes / most_ratio > n_file)) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "found a picture that takes %llu bytes in a file of %zu; the limit is "
                         "%llu times the size of the file beyond %llu bytes",
                         (unsigned long long)n_bytes, n_file, (unsigned long long)most_ratio,
                         (unsigned long long)free_bytes);
    }
    return GBS_OK;
}

bool gbsi_is_image(const gbsi_input *input)
{
    return gbsi_is_pnm(input) || gbsi_is_png(input) || gbsi_is_jpeg(input);
}

gbs_status gbsi_image_read_input(const gbsi_input *input, const gbs_image_read_options *options,
                                 gbs_image *image, gbs_error *err)
{
    if (gbsi_is_png(input)) {
        return gbsi_png_read(input, options, image, err);
    }
    if (gbsi_is_jpeg(input)) {
        return gbsi_jpeg_read(input, options, image, err);
    }
    if (gbsi_is_pnm(input)) {
        return gbsi_pnm_read(input, options, image, err);
    }
    return gbsi_fail(
        err, GBS_ERR_FORMAT,
        "%s: byte 0: found no picture, expected a PNG or JPEG file, or P1 to P6 and white space",
        input->name);
}

/* @return the options, with defaults for members that are missing. If given->size is 0, only the
 * members of the first version of the struct are taken from `given`. */
static gbs_image_read_options all_options(const gbs_image_read_options *given)
{
    gbs_image_read_options own = {0};
    if (given != NULL) {
        memcpy(&own, given, given->size != 0 ? sizeof own : offsetof(gbs_image_read_options, stop));
    }
    return own;
}

static bool ask(void *options)
{
    const gbs_image_read_options *o = options;
    return o->stop != NULL && o->stop(o->stop_context) != 0;
}

gbs_status gbs_image_read(const char *path, const gbs_image_read_options *options, gbs_image *image,
                          gbs_error *err)
{
    GBSI_NEED(path, image);
    GBSI_IN_STRUCT(options, gbs_image_read_options);
    gbsi_input input;
    gbs_image_read_options own = all_options(options);
    gbsi_watch watch = gbsi_watch_of(ask, &own, 0.0, 0.0);
    gbsi_watch *before = gbsi_watch_enter(&watch);
    gbs_status status = gbsi_input_read_begun(path, gbsi_is_image, &input, err);
    if (status == GBS_OK) {
        status = gbsi_image_read_input(&input, &own, image, err);
        gbsi_input_free(&input);
    }
    gbsi_watch_leave(before);
    return status;
}

gbs_status gbs_image_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                 const gbs_image_read_options *options, gbs_image *image,
                                 gbs_error *err)
{
    GBSI_NEED(name, bytes, image);
    GBSI_IN_STRUCT(options, gbs_image_read_options);
    gbsi_input input;
    gbs_image_read_options own = all_options(options);
    gbsi_watch watch = gbsi_watch_of(ask, &own, 0.0, 0.0);
    gbsi_watch *before = gbsi_watch_enter(&watch);
    gbs_status status = gbsi_input_memory(name, bytes, n_bytes, &input, err);
    if (status == GBS_OK) {
        status = gbsi_image_read_input(&input, &own, image, err);
        gbsi_input_free(&input);
    }
    gbsi_watch_leave(before);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* @return the kind of picture that the first three letters of a word name, in any letter case:
 *   '4' for pbm, '5' for pgm, '6' for ppm, 'n' for png, or 0. */
static char format_of(const char *word)
{
    static const char names[4][4] = {"pbm", "pgm", "ppm", "png"};
    for (size_t i = 0; i < 4; i++) {
        if (gbsi_equal_any_case(word, names[i], 3)) {
            return "456n"[i];
        }
    }
    return 0;
}

static gbs_status choose_format(const char *path, const gbs_image_write_options *options,
                                char *format, gbs_error *err)
{
    if (options->format != NULL) {
        *format = strlen(options->format) == 3 ? format_of(options->format) : 0;
        return *format != 0
                   ? GBS_OK
                   : gbsi_fail(
                         err, GBS_ERR_ARGUMENT,
                         "picture format '%.100s' is not known, expected pbm, pgm, ppm or png",
                         options->format);
    }
    const size_t n = gbsi_unpacked_length(path);
    *format = n > 4 && path[n - 4] == '.' ? format_of(path + n - 3) : 0;
    return *format != 0 ? GBS_OK
                        : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                    "%s: cannot tell the picture format from the file name "
                                    "extension, expected one of "
                                    ".pbm .pgm .ppm .png, or the format named",
                                    path);
}

gbs_status gbsi_image_check(const gbs_image *image, const char *name, gbs_error *err)
{
    const bool palette = image->kind == GBS_IMAGE_PALETTE;
    const uint32_t channels = image->kind == GBS_IMAGE_COLOR ? 3 : 1;
    if ((unsigned)image->kind > GBS_IMAGE_PALETTE || image->sample == NULL ||
        image->channels != channels || image->maxval == 0 || image->maxval > 65535 ||
        (palette && (image->n_colors == 0 || image->n_colors > 256))) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: found no picture in the struct (kind %d, %u channels, maxval %u, %u "
                         "colour%s%s)",
                         name, (int)image->kind, image->channels, image->maxval, image->n_colors,
                         gbsi_plural(image->n_colors), image->sample == NULL ? ", no samples" : "");
    }
    const size_t n = (size_t)image->width * image->height * channels;
    const uint32_t most = palette ? image->n_colors - 1 : image->maxval;
    for (size_t i = 0; i < n; i++) {
        if (image->sample[i] > most) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "%s: found a sample of %u in the picture, expected at most %u", name,
                             image->sample[i], most);
        }
    }
    return GBS_OK;
}

static gbs_status check_write(const gbs_image *image, const char *path, char format, bool plain,
                              gbs_error *err)
{
    if (plain && format == 'n') {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: a PNG cannot be plain text", path);
    }
    if (format == '4' && image->kind != GBS_IMAGE_BITMAP) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: a PBM holds black and white only, expected a bitmap", path);
    }
    if (format == '5' && image->kind == GBS_IMAGE_COLOR) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: a PGM cannot hold colour", path);
    }
    return gbsi_image_check(image, path, err);
}

gbs_status gbs_image_write(const gbs_image *image, const char *path,
                           const gbs_image_write_options *options, gbs_error *err)
{
    GBSI_NEED(image, path);
    GBSI_IN_STRUCT(options, gbs_image_write_options);
    gbs_status status = GBS_OK;
    gbs_output *output = NULL;
    gbs_image colored = {0};
    char format = 0;
    options = options == NULL ? &default_write : options;
    GBSI_TRY(choose_format(path, options, &format, err));
    GBSI_TRY(check_write(image, path, format, options->plain != 0, err));
    if (format == '6' && image->kind != GBS_IMAGE_COLOR) {
        GBSI_TRY(gbsi_image_colored(image, &colored, err));
        image = &colored;
    }
    GBSI_TRY(gbs_output_open(path, &output, err));
    if (format == 'n') {
        GBSI_TRY(gbsi_png_write(image, path, output, err));
    } else {
        gbsi_pnm_write(image, format, options->plain != 0, output);
    }
    status = gbs_output_commit(output, err);
    output = NULL;

cleanup:
    gbs_output_discard(output);
    gbs_image_free(&colored);
    return status;
}
