/* SPDX-License-Identifier: Apache-2.0 */
/* Writes PNG: 8-bit palette, 8- and 16-bit grey and colour. The file has no time stamp and no text,
 * so equal pictures give equal bytes if the version of zlib is the same. */
#include <string.h>

#include "config.h"
#include "pictures/image_file.h"

#ifdef GBSI_HAVE_PNG
#include <setjmp.h>

#include "pictures/png_common.h"

typedef struct encoder {
    gbsi_png p; /* first member: libpng gets a pointer to it */
    const gbs_image *image;
    gbs_output *output;
    int depth;
    png_byte *row;
    size_t n_row;
} encoder;

static void put_bytes(png_structp png, png_bytep bytes, size_t n)
{
    const encoder *e = png_get_io_ptr(png);
    gbsi_output_bytes(e->output, bytes, n); /* a failure is reported when the output is committed */
}

static void put_nothing(png_structp png)
{
    (void)png;
}

/* Ignores warnings, because nothing that is written here can cause an important one. */
static void no_warning(png_structp png, const char *message)
{
    (void)png;
    (void)message;
}

/* @return the value of sample i in the file. A bitmap is black where its sample is 1. Samples of
 *   all kinds except palettes are scaled to the file's largest sample and rounded to nearest. */
static uint32_t file_value(const encoder *e, size_t i)
{
    const gbs_image *image = e->image;
    uint32_t value = image->sample[i];
    uint32_t most = e->depth == 16 ? 65535 : 255;
    if (image->kind == GBS_IMAGE_BITMAP) {
        value = !value;
    }
    return image->kind == GBS_IMAGE_PALETTE || image->maxval == most
               ? value
               : (uint32_t)(((uint64_t)value * most * 2 + image->maxval) / (2 * image->maxval));
}

static void fill_row(encoder *e, uint32_t y)
{
    size_t n = (size_t)e->image->width * e->image->channels;
    for (size_t i = 0; i < n; i++) {
        uint32_t value = file_value(e, y * n + i);
        if (e->depth == 16) {
            e->row[2 * i] = (png_byte)(value >> 8);
            e->row[2 * i + 1] = (png_byte)value;
        } else {
            e->row[i] = (png_byte)value;
        }
    }
}

static void set_header(encoder *e)
{
    const gbs_image *image = e->image;
    png_color palette[256];
    int type = image->kind == GBS_IMAGE_PALETTE ? PNG_COLOR_TYPE_PALETTE
               : image->kind == GBS_IMAGE_COLOR ? PNG_COLOR_TYPE_RGB
                                                : PNG_COLOR_TYPE_GRAY;
    png_set_user_limits(e->p.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(e->p.png, 6);
    png_set_IHDR(e->p.png, e->p.info, image->width, image->height, e->depth, type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (image->kind == GBS_IMAGE_PALETTE) {
        for (uint32_t i = 0; i < image->n_colors; i++) {
            palette[i].red = image->color[i][0];
            palette[i].green = image->color[i][1];
            palette[i].blue = image->color[i][2];
        }
        png_set_PLTE(e->p.png, e->p.info, palette, (int)image->n_colors);
    }
}

/* Calls libpng; runs below setjmp(). */
static void encode(encoder *e)
{
    png_set_write_fn(e->p.png, e, put_bytes, put_nothing);
    set_header(e);
    png_write_info(e->p.png, e->p.info);
    for (uint32_t y = 0; y < e->image->height; y++) {
        fill_row(e, y);
        png_write_row(e->p.png, e->row);
    }
    png_write_end(e->p.png, NULL);
}

static gbs_status encode_guarded(encoder *e, gbs_error *err)
{
    if (setjmp(png_jmpbuf(e->p.png)) != 0) { // NOLINT(cert-err52-cpp): libpng's way of failing
        return e->p.no_memory ? gbsi_no_memory(err, e->p.name, e->p.wanted)
                              : gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: no PNG can hold this (%s)",
                                          e->p.name, e->p.message);
    }
    encode(e);
    return e->p.no_memory ? gbsi_no_memory(err, e->p.name, e->p.wanted) : GBS_OK;
}

gbs_status gbsi_png_write(const gbs_image *image, const char *name, gbs_output *output,
                          gbs_error *err)
{
    encoder e = {.p = {.name = name}, .image = image, .output = output};
    e.depth = image->maxval > 255 ? 16 : 8;
    e.n_row = (size_t)image->width * image->channels * (e.depth == 16 ? 2 : 1);
    e.row = gbsi_alloc_zero(e.n_row);
    GBSI_PASS(GBSI_HAVE(err, name, e.row));
    e.p.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &e, gbsi_png_error, no_warning, &e,
                                        gbsi_png_alloc, gbsi_png_release);
    e.p.info = e.p.png == NULL ? NULL : png_create_info_struct(e.p.png);
    gbs_status status =
        e.p.info == NULL ? gbsi_no_memory(err, name, e.p.wanted) : encode_guarded(&e, err);
    png_destroy_write_struct(&e.p.png, &e.p.info); /* libpng accepts NULL and half-built structs */
    gbsi_free(e.row);
    return status;
}

#else

gbs_status gbsi_png_write(const gbs_image *image, const char *name, gbs_output *output,
                          gbs_error *err)
{
    (void)image;
    (void)output;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: this build cannot write PNG pictures (it was built without libpng); use "
                     ".pgm or .ppm",
                     name);
}

#endif
