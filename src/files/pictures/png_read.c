/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads PNG of every colour type and depth. Samples are not scaled. All chunks except pixels,
 * palette and transparency are skipped, because a compressed profile or text could unpack to very
 * many bytes. A wrong checksum in any chunk is refused. Deflate reaches a ratio of at most 1032 to
 * 1. A picture that is too large for its file at this ratio is refused before memory is allocated.
 */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "pictures/image_file.h"

bool gbsi_is_png(const gbsi_input *input)
{
    return input->n >= 8 && memcmp(input->bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

#ifdef GBSI_HAVE_PNG
#include <setjmp.h>

#include "pictures/png_common.h"

typedef struct decoder {
    gbsi_png p; /* first member, because libpng gets a pointer to it */
    const gbsi_input *input;
    size_t at; /* number of bytes that libpng has read */
    bool at_end;
    const gbs_image_read_options *options;
    gbs_image image; /* the picture that is being read */
    png_byte type;
    png_byte depth;
    uint32_t n_samples;   /* number of samples of a pixel in the file, including alpha */
    png_color_16 key;     /* the grey value or colour that is transparent */
    bool has_key;         /* whether a grey or colour picture has the transparent value `key` */
    png_byte alpha[256];  /* opacity of each entry of the palette */
    png_byte *row;        /* memory for one row, or for all rows of an interlaced picture */
    size_t n_row;         /* number of bytes in a row */
    size_t n_transparent; /* number of pixels that are not fully opaque */
    size_t n_hidden;      /* number of pixels that are fully transparent */
    gbs_error error;      /* error that the functions of this file found */
} decoder;

/* ---- called by libpng -------------------------------------------------------------------- */

static void take_bytes(png_structp png, png_bytep bytes, size_t n)
{
    decoder *d = png_get_io_ptr(png);
    if (n > d->input->n - d->at) {
        d->at_end = true;
        png_error(png, "end of the file");
    }
    memcpy(bytes, d->input->bytes + d->at, n);
    d->at += n;
}

static void take_warning(png_structp png, const char *message)
{
    decoder *d = png_get_error_ptr(png);
    gbsi_image_warn(d->options, d->p.name, "byte %zu: %s", d->at, message);
}

/* ---- rows -------------------------------------------------------------------------------- */

static uint32_t sample_at(const decoder *d, const png_byte *pixel, uint32_t c)
{
    return d->depth == 16 ? (uint32_t)pixel[2 * c] << 8 | pixel[2 * c + 1] : pixel[c];
}

/* @return the opacity of a pixel, 0 to largest. */
static uint32_t opacity(const decoder *d, const png_byte *pixel, uint32_t largest)
{
    uint32_t first = sample_at(d, pixel, 0);
    if ((d->type & PNG_COLOR_MASK_ALPHA) != 0) {
        return sample_at(d, pixel, d->n_samples - 1);
    }
    if (d->type == PNG_COLOR_TYPE_PALETTE) {
        return d->alpha[first];
    }
    bool is_key = d->type == PNG_COLOR_TYPE_GRAY
                      ? first == d->key.gray
                      : first == d->key.red && sample_at(d, pixel, 1) == d->key.green &&
                            sample_at(d, pixel, 2) == d->key.blue;
    return d->has_key && is_key ? 0 : largest;
}

static void convert_row(decoder *d, uint32_t y, const png_byte *row)
{
    gbs_image *image = &d->image;
    size_t n_bytes = (size_t)d->n_samples * (d->depth == 16 ? 2 : 1);
    uint32_t largest = d->depth == 16 ? 65535 : 255;
    for (uint32_t x = 0; x < image->width; x++) {
        const png_byte *pixel = row + x * n_bytes;
        size_t at = (size_t)y * image->width + x;
        for (uint32_t c = 0; c < image->channels; c++) {
            image->sample[at * image->channels + c] = (uint16_t)sample_at(d, pixel, c);
        }
        if (d->type == PNG_COLOR_TYPE_PALETTE && pixel[0] >= image->n_colors) {
            (void)gbsi_fail(&d->error, GBS_ERR_FORMAT,
                            "%s: byte %zu: found colour %u in row %u, column %u, expected less "
                            "than %u",
                            d->p.name, d->at, pixel[0], y, x, image->n_colors);
            png_error(d->p.png, "colour");
        }
        uint32_t seen = opacity(d, pixel, largest);
        d->n_transparent += seen < largest;
        d->n_hidden += seen == 0;
        if (image->hidden != NULL) {
            image->hidden[at] = seen == 0;
        }
    }
}

/* ---- below setjmp() ---------------------------------------------------------------------- */

static void set_limits(decoder *d)
{
    png_structp png = d->p.png;
    png_set_read_fn(png, d, take_bytes);
    png_set_user_limits(png, d->options->max_width == 0 ? 32768 : d->options->max_width,
                        d->options->max_height == 0 ? 32768 : d->options->max_height);
    png_set_chunk_malloc_max(png, (png_alloc_size_t)1 << 20);
    png_set_chunk_cache_max(png, 16);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
}

static void read_palette(decoder *d)
{
    png_colorp palette = NULL;
    int n = 0;
    (void)png_get_PLTE(d->p.png, d->p.info, &palette, &n);
    for (int i = 0; i < n; i++) {
        d->image.color[i][0] = palette[i].red;
        d->image.color[i][1] = palette[i].green;
        d->image.color[i][2] = palette[i].blue;
    }
    d->image.n_colors = (uint32_t)n;
}

static void read_transparency(decoder *d)
{
    png_bytep alpha = NULL;
    png_color_16p key = NULL;
    int n = 0;
    memset(d->alpha, 255, sizeof d->alpha);
    if (png_get_tRNS(d->p.png, d->p.info, &alpha, &n, &key) == 0) {
        return;
    }
    if (d->type == PNG_COLOR_TYPE_PALETTE && alpha != NULL && n <= 256) {
        memcpy(d->alpha, alpha, (size_t)n);
    } else if (key != NULL) {
        d->key = *key;
        d->has_key = true;
    }
}

static void refuse_memory(decoder *d, size_t n)
{
    d->p.no_memory = true;
    d->p.wanted = n;
    png_error(d->p.png, "memory");
}

static void make_image(decoder *d, uint32_t width, uint32_t height, int n_passes)
{
    bool color = (d->type & PNG_COLOR_MASK_COLOR) != 0;
    bool palette = d->type == PNG_COLOR_TYPE_PALETTE;
    uint32_t maxval = palette ? 255 : (1u << d->depth) - 1;
    size_t n = (size_t)width * height;
    gbs_image_kind kind = palette ? GBS_IMAGE_PALETTE : color ? GBS_IMAGE_COLOR : GBS_IMAGE_GREY;
    uint32_t n_colors = d->image.n_colors;
    gbs_image made = {0};
    if (gbsi_image_new(d->p.name, kind, width, height, maxval, n_colors, &made, &d->error) < 0) {
        png_error(d->p.png, "picture");
    }
    memcpy(made.color, d->image.color, sizeof made.color);
    d->image = made;
    bool may_hide = (d->type & PNG_COLOR_MASK_ALPHA) != 0 ||
                    png_get_valid(d->p.png, d->p.info, PNG_INFO_tRNS) != 0;
    if (d->options->keep_hidden != 0 && may_hide) {
        d->image.hidden = gbsi_alloc_zero(n);
        if (d->image.hidden == NULL) {
            refuse_memory(d, n);
        }
    }
    n = n_passes > 1 ? d->n_row * height : d->n_row;
    d->row = gbsi_alloc_zero(n);
    if (d->row == NULL) {
        refuse_memory(d, n);
    }
}

static void read_rows(decoder *d, int n_passes)
{
    for (int pass = 0; pass < n_passes; pass++) {
        for (uint32_t y = 0; y < d->image.height; y++) {
            png_byte *row = n_passes > 1 ? d->row + y * d->n_row : d->row;
            png_read_row(d->p.png, row, NULL);
            if (gbsi_image_work(d->n_row, &d->error) < 0) {
                png_error(d->p.png, "stopped");
            }
            if (pass + 1 == n_passes) {
                convert_row(d, y, row);
            }
        }
    }
}

static void check_size(decoder *d, uint32_t width, uint32_t height)
{
    gbs_error local = {0};
    uint32_t channels =
        (d->type & PNG_COLOR_MASK_COLOR) != 0 && d->type != PNG_COLOR_TYPE_PALETTE ? 3 : 1;
    size_t n_file = d->input->n;
    uint64_t n_raw = (uint64_t)height * ((uint64_t)width * d->n_samples * d->depth / 8 + 1);
    gbs_status status = gbsi_image_check_size(width, height, channels, n_file, d->options, &local);
    if (status < 0) {
        (void)gbsi_fail(&d->error, status == GBS_ERR_ARGUMENT ? GBS_ERR_FORMAT : status,
                        "%s: byte 16: %s", d->p.name, local.message);
        png_error(d->p.png, "size");
    }
    if (n_raw / 1032 > n_file) {
        (void)gbsi_fail(&d->error, GBS_ERR_FORMAT,
                        "%s: byte %zu: found the end of the file, expected more than its %zu bytes "
                        "for %u x %u pixels",
                        d->p.name, n_file, n_file, width, height);
        png_error(d->p.png, "size");
    }
}

static void decode(decoder *d)
{
    png_structp png = d->p.png;
    png_infop info = d->p.info;
    set_limits(d);
    png_read_info(png, info);
    uint32_t width = png_get_image_width(png, info);
    uint32_t height = png_get_image_height(png, info);
    d->type = png_get_color_type(png, info);
    d->depth = png_get_bit_depth(png, info);
    d->n_samples = png_get_channels(png, info);
    check_size(d, width, height);
    if (d->type == PNG_COLOR_TYPE_PALETTE) {
        read_palette(d);
    }
    read_transparency(d);
    png_set_packing(png); /* samples of less than a byte are unpacked, each to a byte */
    int n_passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    d->n_row = png_get_rowbytes(png, info);
    make_image(d, width, height, n_passes);
    read_rows(d, n_passes);
    png_read_end(png, NULL);
}

/* Checks the limits of the options before libpng applies its own limits, for which it would call
 * the file damaged. */
static gbs_status check_head(const gbsi_input *input, const gbs_image_read_options *options,
                             gbs_error *err)
{
    const unsigned char *b = (const unsigned char *)input->bytes;
    gbs_error local = {0};
    if (input->n < 24 || memcmp(b + 12, "IHDR", 4) != 0) {
        return GBS_OK; /* png_read_info() will say why the file is wrong */
    }
    gbs_status status = gbsi_image_check_size(png_get_uint_32(b + 16), png_get_uint_32(b + 20), 1,
                                              SIZE_MAX, options, &local);
    return status != GBS_ERR_LIMIT
               ? GBS_OK
               : gbsi_fail(err, status, "%s: byte 16: %s", input->name, local.message);
}

/* ---- above setjmp() ---------------------------------------------------------------------- */

static gbs_status failure(const decoder *d, gbs_error *err)
{
    if (d->p.no_memory) {
        return gbsi_no_memory(err, d->p.name, d->p.wanted);
    }
    if (d->error.status < 0) {
        return gbsi_fail(err, d->error.status, "%s", d->error.message);
    }
    if (d->at_end) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the file, expected more PNG data",
                         d->p.name, d->input->n);
    }
    return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %zu: found damaged PNG data (%s)", d->p.name,
                     d->at, d->p.message);
}

static gbs_status decode_guarded(decoder *d, gbs_error *err)
{
    if (setjmp(png_jmpbuf(d->p.png)) != 0) { // NOLINT(cert-err52-cpp): libpng's way of failing
        return failure(d, err);
    }
    decode(d);
    return d->p.no_memory ? failure(d, err) : GBS_OK;
}

/* Warns if details of a picture were lost in reading. */
static void tell_losses(const decoder *d)
{
    size_t n_lost = d->n_transparent - (d->options->keep_hidden != 0 ? d->n_hidden : 0);
    if (n_lost > 0) {
        gbsi_image_warn(d->options, d->p.name, "dropped the transparency of %zu pixels", n_lost);
    }
    if (d->at < d->input->n) {
        gbsi_image_warn(d->options, d->p.name, "byte %zu: ignored %zu bytes behind the picture",
                        d->at, d->input->n - d->at);
    }
}

gbs_status gbsi_png_read(const gbsi_input *input, const gbs_image_read_options *options,
                         gbs_image *image, gbs_error *err)
{
    decoder d = {.p = {.name = input->name}, .input = input, .options = options};
    gbs_status status = check_head(input, options, err);
    if (status < 0) {
        return status;
    }
    d.p.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &d, gbsi_png_error, take_warning, &d,
                                       gbsi_png_alloc, gbsi_png_release);
    d.p.info = d.p.png == NULL ? NULL : png_create_info_struct(d.p.png);
    status =
        d.p.info == NULL ? gbsi_no_memory(err, input->name, d.p.wanted) : decode_guarded(&d, err);
    /* libpng accepts NULL and half-built structs */
    png_destroy_read_struct(&d.p.png, &d.p.info, NULL);
    gbsi_free(d.row);
    if (status < 0) {
        gbs_image_free(&d.image);
        return status;
    }
    if (d.n_hidden == 0) {
        gbsi_free(d.image.hidden);
        d.image.hidden = NULL;
    }
    tell_losses(&d);
    *image = d.image;
    return GBS_OK;
}

#else

gbs_status gbsi_png_read(const gbsi_input *input, const gbs_image_read_options *options,
                         gbs_image *image, gbs_error *err)
{
    (void)options;
    (void)image;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: a PNG picture, which this build cannot read (it was built without "
                     "libpng); convert it to PGM or PPM",
                     input->name);
}

#endif
