/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and writers of pictures. The options must not be NULL. */
#ifndef GBSI_PICTURES_IMAGE_FILE_H
#define GBSI_PICTURES_IMAGE_FILE_H

#include <stdbool.h>

#include "base/status.h"
#include "gibbsite/image.h"
#include "gibbsite/io.h"
#include "text/input.h"
#include "text/output.h"

bool gbsi_is_pnm(const gbsi_input *input);
bool gbsi_is_png(const gbsi_input *input);
bool gbsi_is_jpeg(const gbsi_input *input);
/* Whether the input is a picture in one of the formats that these functions read. */
bool gbsi_is_image(const gbsi_input *input);

gbs_status gbsi_image_read_input(const gbsi_input *input, const gbs_image_read_options *options,
                                 gbs_image *image, gbs_error *err);
gbs_status gbsi_pnm_read(const gbsi_input *input, const gbs_image_read_options *options,
                         gbs_image *image, gbs_error *err);
/* @return GBS_ERR_UNSUPPORTED in a build without libjpeg. */
gbs_status gbsi_jpeg_read(const gbsi_input *input, const gbs_image_read_options *options,
                          gbs_image *image, gbs_error *err);
gbs_status gbsi_png_read(const gbsi_input *input, const gbs_image_read_options *options,
                         gbs_image *image, gbs_error *err);

/* Does the work of gbs_image_new(), and names the file in the message. */
gbs_status gbsi_image_new(const char *name, gbs_image_kind kind, uint32_t width, uint32_t height,
                          uint32_t maxval, uint32_t n_colors, gbs_image *image, gbs_error *err);

/* Checks the width, height and memory of a picture against the limits before anything is
 * allocated.
 * @return GBS_ERR_ARGUMENT or GBS_ERR_LIMIT, with a message to which the caller adds a place. */
gbs_status gbsi_image_check_size(uint64_t width, uint64_t height, uint32_t channels, size_t n_file,
                                 const gbs_image_read_options *options, gbs_error *err);

/* Counts the work of reading n samples. @return GBS_ERR_STOPPED if the watch in force stops it. */
gbs_status gbsi_image_work(size_t n, gbs_error *err);

/* Gives one warning that begins with the name of the file. */
void gbsi_image_warn(const gbs_image_read_options *options, const char *name, const char *format,
                     ...) GBSI_PRINTF(3, 4);

/* Writes a picture as PBM, PGM or PPM. The kind of the picture must fit the format.
 * @param magic second byte of a binary file of the format: '4' for PBM, '5' for PGM, '6' for PPM.
 * @param plain whether samples are text; the file then begins with P1, P2 or P3. */
void gbsi_pnm_write(const gbs_image *image, char magic, bool plain, gbs_output *output);
gbs_status gbsi_png_write(const gbs_image *image, const char *name, gbs_output *output,
                          gbs_error *err);

/* Converts the picture to three channels. */
gbs_status gbsi_image_colored(const gbs_image *image, gbs_image *colored, gbs_error *err);
/* @return the grey value of a pixel, 0 to maxval. The picture may be of any kind except a
 *   bitmap.
 * @param pixel row * width + column. */
uint32_t gbsi_image_grey(const gbs_image *image, size_t pixel);

/* Reads the states of a model's variables from a picture that gives the start of chains. */
gbs_status gbsi_image_start(const gbsi_input *input, const gbs_model *model,
                            const gbs_read_options *options, uint32_t *state, gbs_error *err);

/* Checks that a caller's struct is a picture whose samples are legal. @param name name of the
 * picture in messages. */
gbs_status gbsi_image_check(const gbs_image *image, const char *name, gbs_error *err);

#endif
