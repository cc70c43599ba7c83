/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pictures: reading and writing PNM (P1 to P6) and PNG, reading JPEG, and converting pixels to and
 * from states of a model. Variable row * width + column belongs to the pixel in row `row` and
 * column `column`; row 0 is at the top.
 *
 * Samples are used as they are stored: gamma and colour profiles are ignored. In a palette picture,
 * the value of a pixel is the pixel's palette index.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
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

/** A picture. Free with gbs_image_free(); an all-zero struct is an empty picture. */
typedef struct gbs_image {
    gbs_image_kind kind;
    uint32_t width, height; /**< size in pixels, at least 1 */
    uint32_t channels;      /**< number of channels: 1 or 3 */
    uint32_t maxval;        /**< largest valid sample, 1 to 65535 */
    uint16_t *sample;       /**< [height][width][channels] */
    uint8_t *hidden;   /**< [height][width], 1 for a fully transparent pixel, else 0; NULL unless
                          gbs_image_read_options.keep_hidden was set and the picture has a fully
                          transparent pixel. Not written to files. */
    uint32_t n_colors; /**< number of colours in the palette, 1 to 256; 0 for other kinds */
    uint8_t color[256][3]; /**< the palette, red, green, blue */
} gbs_image;

/** How to read a picture; a struct that is set to zero means the defaults. */
typedef struct gbs_image_read_options {
    size_t size; /**< sizeof(gbs_image_read_options); 0: the fields of its first version */
    uint32_t max_width, max_height; /**< largest size in pixels; 0 means 32768. A larger picture
                                       gives GBS_ERR_LIMIT */
    int keep_hidden; /**< 1: mark fully transparent pixels in gbs_image.hidden; 0: drop transparency
                          with a warning */
    /** NULL, or called for each warning with one line of text without a newline. */
    void (*warn)(void *context, const char *message);
    void *context;
    /** NULL, or called several times a second while a picture is read. @return nonzero to stop; the
     * call then fails with GBS_ERR_STOPPED. */
    int (*stop)(void *context);
    void *stop_context; /**< first argument of stop */
} gbs_image_read_options;

/** How to write a picture; a struct that is set to zero means the defaults. */
typedef struct gbs_image_write_options {
    size_t size;        /**< sizeof(gbs_image_write_options); 0: the fields of its first version */
    const char *format; /**< "pbm", "pgm", "ppm" or "png"; NULL: by file name extension */
    int plain;          /**< 1: PNM as text (P1, P2, P3), refused for PNG; 0: binary */
} gbs_image_write_options;

/** Make a picture with all samples 0. @param n_colors number of colours of the palette, all black
 * at first; 0 for other kinds. */
GBS_API GBS_MUST_USE gbs_status gbs_image_new(gbs_image_kind kind, uint32_t width, uint32_t height,
                                              uint32_t maxval, uint32_t n_colors, gbs_image *image,
                                              gbs_error *err);
/** Free the arrays and zero the struct. NULL is allowed. */
GBS_API void gbs_image_free(gbs_image *image);

/**
 * Read a picture; the first bytes of the file determine the format. All colour types and depths of
 * PNG are read. JPEG files may be grey or colour, baseline or progressive. If a PNM file has
 * several pictures, the first is read, with a warning. A picture that takes more than 256 MiB in
 * memory and more than 512 times the size of its file gives GBS_ERR_LIMIT.
 *
 * @param options NULL for the defaults. @param image out, untouched on failure.
 * @return GBS_ERR_UNSUPPORTED for a PNG in a build without libpng, for a JPEG in a build without
 *         libjpeg, and for a JPEG in four printing colours (CMYK).
 */
GBS_API GBS_MUST_USE gbs_status gbs_image_read(const char *path,
                                               const gbs_image_read_options *options,
                                               gbs_image *image, gbs_error *err);
/** Read a picture from memory. @param name used in messages in place of the file name. */
GBS_API GBS_MUST_USE gbs_status gbs_image_read_memory(const char *name, const void *bytes,
                                                      size_t n_bytes,
                                                      const gbs_image_read_options *options,
                                                      gbs_image *image, gbs_error *err);

/**
 * Write a picture. PBM is for bitmaps; PGM is for bitmaps, grey pictures and the indices of
 * palettes; PPM is for all kinds. A PNG has the kind of the picture, except that bitmaps become
 * grey. If maxval of a grey or colour picture is not 255 or 65535, samples are scaled to 8 bits, or
 * to 16 bits if maxval is above 255, and rounded to nearest. Equal pictures give files with equal
 * bytes.
 */
GBS_API GBS_MUST_USE gbs_status gbs_image_write(const gbs_image *image, const char *path,
                                                const gbs_image_write_options *options,
                                                gbs_error *err);

/* ---- pixels to states; state is [height * width], out, untouched on failure ----------------- */

/**
 * Convert pixels to states 0 and 1. In a bitmap, black is state 1. In other pictures, a pixel has
 * state 1 if its grey value (in a palette, the grey value of its colour) is >= threshold. The grey
 * of a colour is (299 r + 587 g + 114 b) / 1000 (ITU-R BT.601), rounded to nearest.
 *
 * @param threshold 1 to maxval; 0 means half of maxval, rounded up. For bitmaps it must be 0.
 */
GBS_API GBS_MUST_USE gbs_status gbs_image_to_spins(const gbs_image *image, uint32_t threshold,
                                                   uint32_t *state, gbs_error *err);
/** Use the pixel values of a grey, palette or bitmap picture as states. Every pixel value must be
 *  below n_states. */
GBS_API GBS_MUST_USE gbs_status gbs_image_to_labels(const gbs_image *image, uint32_t n_states,
                                                    uint32_t *state, gbs_error *err);
/**
 * Convert the grey value of each pixel, which is defined as in gbs_image_to_spins(), to the nearest
 * of the levels a * maxval / (n_levels - 1), a = 0 ... n_levels - 1. If two levels are equally
 * near, the brighter one is taken. With two levels, the result equals the result of
 * gbs_image_to_spins() with the default threshold. Bitmaps are refused, because the value 1 means
 * black in a bitmap.
 */
GBS_API GBS_MUST_USE gbs_status gbs_image_to_levels(const gbs_image *image, uint32_t n_levels,
                                                    uint32_t *state, gbs_error *err);

/* ---- states and probabilities to pixels; image is out, caller frees, untouched on failure ---- */

/** Draw states 0 and 1. @param kind GBS_IMAGE_BITMAP: 1 is black; GBS_IMAGE_GREY: 1 is white, 255.
 */
GBS_API GBS_MUST_USE gbs_status gbs_image_from_spins(const uint32_t *state, uint32_t width,
                                                     uint32_t height, gbs_image_kind kind,
                                                     gbs_image *image, gbs_error *err);
/** Draw up to 256 states as a palette picture whose pixel values are the states. The first eight
 *  colours, of Okabe & Ito (2008), can be distinguished with any colour vision; the others are
 * shades of these eight. */
GBS_API GBS_MUST_USE gbs_status gbs_image_from_labels(const uint32_t *state, uint32_t width,
                                                      uint32_t height, uint32_t n_states,
                                                      gbs_image *image, gbs_error *err);
/** Draw states as grey levels: state a becomes a * maxval / (n_levels - 1), rounded to nearest;
 *  maxval is 255 for up to 256 levels and 65535 for up to 65536. gbs_image_to_levels() is the
 *  inverse. */
GBS_API GBS_MUST_USE gbs_status gbs_image_from_levels(const uint32_t *state, uint32_t width,
                                                      uint32_t height, uint32_t n_levels,
                                                      gbs_image *image, gbs_error *err);
/** Draw probabilities as 16-bit grey: 0 is black, 1 is white (65535). @param p [height * width], in
 * [0, 1]. */
GBS_API GBS_MUST_USE gbs_status gbs_image_from_probabilities(const double *p, uint32_t width,
                                                             uint32_t height, gbs_image *image,
                                                             gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
