/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pictures: PNM (P1 to P6) and PNG in and out, and what their pixels mean to a model. Variable
 * row * width + column belongs to the pixel in that row and column, row 0 on top.
 *
 * Pictures are data here, not colour: gamma and colour profiles are ignored, and the value of a
 * pixel of a palette picture is its index.
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_IMAGE_H
#define GIBBSITE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gbs_image_kind {
    GBS_IMAGE_BITMAP = 0,  /**< one channel, 0 is white and 1 is black, maxval 1 */
    GBS_IMAGE_GREY = 1,    /**< one channel, 0 is black and maxval is white */
    GBS_IMAGE_COLOR = 2,   /**< three channels, red, green, blue */
    GBS_IMAGE_PALETTE = 3, /**< one channel, an index into color; maxval 255 */
} gbs_image_kind;

/** A picture. Free with gbs_image_free(); all zero is an empty one. */
typedef struct gbs_image {
    gbs_image_kind kind;
    uint32_t width, height; /**< pixels, at least 1 */
    uint32_t channels;      /**< 1 or 3 */
    uint32_t maxval;        /**< largest sample that is legal, 1 to 65535 */
    uint16_t *sample;       /**< [height][width][channels] */
    uint8_t *hidden;        /**< [height][width], 1 where a pixel is fully transparent; NULL unless
                                 asked for in reading and there is one. Never written. */
    uint32_t n_colors;      /**< of the palette, 1 to 256; 0 for other kinds */
    uint8_t color[256][3];  /**< the palette, red, green, blue */
} gbs_image;

/** How to read a picture; zero-initialised means: at most 2^15 x 2^15 pixels. */
typedef struct gbs_image_read_options {
    size_t
        size; /**< sizeof(gbs_image_read_options), or 0: only the fields of version 0.2 are read */
    uint32_t max_width, max_height; /**< pixels; 0 stands for 32768. Larger ones: GBS_ERR_LIMIT */
    int keep_hidden; /**< 1: say in gbs_image.hidden which pixels are fully transparent; otherwise
                          transparency is dropped with a warning */
    /** NULL, or called once per warning with one line of text, without a newline. */
    void (*warn)(void *context, const char *message);
    void *context;
} gbs_image_read_options;

/** How to write a picture; zero-initialised means: by the file's ending, binary. */
typedef struct gbs_image_write_options {
    size_t
        size; /**< sizeof(gbs_image_write_options), or 0: only the fields of version 0.2 are read */
    const char *format; /**< NULL: by ending; else "pbm", "pgm", "ppm" or "png" */
    int plain;          /**< 1: PNM as text (P1, P2, P3); refused for PNG */
} gbs_image_write_options;

/** Make a picture of zeros. @param n_colors of a palette, else 0; the palette itself is black. */
GBS_API gbs_status gbs_image_new(gbs_image_kind kind, uint32_t width, uint32_t height,
                                 uint32_t maxval, uint32_t n_colors, gbs_image *image,
                                 gbs_error *err);
/** Free the arrays and zero the struct. NULL is allowed. */
GBS_API void gbs_image_free(gbs_image *image);

/** @return 1 if a file that begins with these bytes is a picture of a format read here. */
GBS_API int gbs_image_recognise(const void *bytes, size_t n_bytes);

/**
 * Read a picture; its first bytes tell the format. PNG of every colour type and depth; of several
 * pictures in a PNM file the first, with a warning. A picture that takes more than 256 MiB in
 * memory and more than 512 times the size of its file is GBS_ERR_LIMIT.
 *
 * @param options NULL for the defaults. @param image out, untouched on failure.
 * @return GBS_ERR_UNSUPPORTED for a PNG in a build without libpng.
 */
GBS_API gbs_status gbs_image_read(const char *path, const gbs_image_read_options *options,
                                  gbs_image *image, gbs_error *err);
/** The same from memory. @param name stands for the file in messages. */
GBS_API gbs_status gbs_image_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                         const gbs_image_read_options *options, gbs_image *image,
                                         gbs_error *err);

/**
 * Write a picture: .pbm takes bitmaps, .pgm also grey, and palettes as their indices, .ppm all
 * kinds. .png keeps the kind, but for bitmaps, which become grey; grey and colour of a maxval other
 * than 255 and 65535 are scaled to 8 or, beyond 255, 16 bits, rounded to nearest. Equal pictures
 * give equal bytes.
 */
GBS_API gbs_status gbs_image_write(const gbs_image *image, const char *path,
                                   const gbs_image_write_options *options, gbs_error *err);

/* ---- pixels to states; state is [height * width], out, untouched on failure ----------------- */

/**
 * Two states. A bitmap: 1 where black. Grey, palettes (by the grey of their colours) and colour: 1
 * where grey >= threshold. The grey of a colour is (299 r + 587 g + 114 b) / 1000 (ITU-R BT.601),
 * rounded to nearest.
 *
 * @param threshold 1 to maxval; 0 stands for half of maxval, rounded up. Bitmaps take only 0.
 */
GBS_API gbs_status gbs_image_to_spins(const gbs_image *image, uint32_t threshold, uint32_t *state,
                                      gbs_error *err);
/** Pixel value = state: grey, palette or bitmap. Every value must be below n_states. */
GBS_API gbs_status gbs_image_to_labels(const gbs_image *image, uint32_t n_states, uint32_t *state,
                                       gbs_error *err);
/**
 * Grey (as for spins) to the nearest of the levels a * maxval / (n_levels - 1), a = 0 ...
 * n_levels - 1, the brighter one of two that are as near; with two levels this is the default
 * threshold. Bitmaps are refused: their black is not dark.
 */
GBS_API gbs_status gbs_image_to_levels(const gbs_image *image, uint32_t n_levels, uint32_t *state,
                                       gbs_error *err);

/* ---- states and probabilities to pixels; image is out, caller frees, untouched on failure ---- */

/** States 0 and 1. @param kind GBS_IMAGE_BITMAP: 1 is black; GBS_IMAGE_GREY: 1 is white, 255. */
GBS_API gbs_status gbs_image_from_spins(const uint32_t *state, uint32_t width, uint32_t height,
                                        gbs_image_kind kind, gbs_image *image, gbs_error *err);
/** Pixel value = state, of at most 256, in colours that people of any colour vision tell apart: the
 *  first eight are those of Okabe & Ito (2008), the others shades of them. */
GBS_API gbs_status gbs_image_from_labels(const uint32_t *state, uint32_t width, uint32_t height,
                                         uint32_t n_states, gbs_image *image, gbs_error *err);
/** Grey: state a of n_levels is a * maxval / (n_levels - 1), rounded to nearest; maxval is 255 for
 *  up to 256 levels and 65535 for up to 65536. gbs_image_to_levels() gives the states back. */
GBS_API gbs_status gbs_image_from_levels(const uint32_t *state, uint32_t width, uint32_t height,
                                         uint32_t n_levels, gbs_image *image, gbs_error *err);
/** 16-bit grey: 0 is black and 1 is 65535. @param p [height * width], in [0, 1]. */
GBS_API gbs_status gbs_image_from_probabilities(const double *p, uint32_t width, uint32_t height,
                                                gbs_image *image, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
