/* SPDX-License-Identifier: Apache-2.0 */
/* Writes portable any-map, as netpbm's pages pbm(5), pgm(5) and ppm(5) describe it. */
#include "pictures/image_file.h"

/* @return the number that the file gets for sample i of the picture. 1 means black in a PBM and in
 *   a bitmap. If a bitmap is written as a PGM, 0 means black. */
static uint32_t file_value(const gbs_image *image, char magic, size_t i)
{
    bool flip = image->kind == GBS_IMAGE_BITMAP && magic != '4';
    return flip ? !image->sample[i] : image->sample[i];
}

static void write_header(const gbs_image *image, char magic, bool plain, gbs_output *output)
{
    char word[3] = {'P', plain ? (char)(magic - 3) : magic, '\n'};
    gbsi_output_bytes(output, word, sizeof word);
    gbsi_output_uint(output, image->width);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, image->height);
    gbsi_output_text(output, "\n");
    if (magic != '4') {
        gbsi_output_uint(output, image->maxval);
        gbsi_output_text(output, "\n");
    }
}

/* Writes samples as text. The format asks for lines of at most 70 characters. A line has room for
 * 11 samples of 5 digits, each with a blank. */
static void write_plain(const gbs_image *image, char magic, gbs_output *output)
{
    size_t n_row = (size_t)image->width * image->channels;
    size_t per_line = magic == '4' ? 70 : magic == '6' ? 9 : 11;
    for (size_t i = 0; i < n_row * image->height; i++) {
        size_t at = i % n_row;
        gbsi_output_uint(output, file_value(image, magic, i));
        bool ends = at + 1 == n_row || at % per_line + 1 == per_line;
        gbsi_output_text(output, ends ? "\n" : magic == '4' ? "" : " ");
    }
}

/* Writes a bitmap. The most significant bit of a byte is its first pixel, and each row is filled up
 * to whole bytes. */
static void write_bits(const gbs_image *image, gbs_output *output)
{
    for (size_t y = 0; y < image->height; y++) {
        const uint16_t *row = image->sample + y * image->width;
        for (size_t x = 0; x < image->width; x += 8) {
            unsigned char byte = 0;
            for (size_t b = 0; b < 8 && x + b < image->width; b++) {
                byte = (unsigned char)(byte | row[x + b] << (7 - b));
            }
            gbsi_output_bytes(output, &byte, 1);
        }
    }
}

static void write_bytes(const gbs_image *image, char magic, gbs_output *output)
{
    size_t n = (size_t)image->width * image->height * image->channels;
    size_t n_bytes = image->maxval > 255 ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t value = file_value(image, magic, i);
        unsigned char bytes[2] = {(unsigned char)(value >> 8), (unsigned char)value};
        gbsi_output_bytes(output, bytes + 2 - n_bytes, n_bytes);
    }
}

void gbsi_pnm_write(const gbs_image *image, char magic, bool plain, gbs_output *output)
{
    write_header(image, magic, plain, output);
    if (plain) {
        write_plain(image, magic, output);
    } else if (magic == '4') {
        write_bits(image, output);
    } else {
        write_bytes(image, magic, output);
    }
}
