/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads every JPEG file that libjpeg decodes: baseline and progressive, grey and in colour, 8 bits
 * for each sample. A file that libjpeg would mend with a warning, such as a cut file, is refused.
 * The sizes are checked before memory is allocated. The number of scans of a progressive picture
 * is limited, because each scan goes through all pixels.
 */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "pictures/image_file.h"

bool gbsi_is_jpeg(const gbsi_input *input)
{
    return input->n >= 3 && memcmp(input->bytes, "\xff\xd8\xff", 3) == 0;
}

#ifdef GBSI_HAVE_JPEG
#include <setjmp.h>

#include <jpeglib.h>

#include "base/budget.h"
#include "base/memory.h"

enum { MOST_SCANS = 100, COEFFICIENT_BYTES = 2 };

typedef struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_source_mgr source;
    jmp_buf failed;
    const gbsi_input *input;
    const gbs_image_read_options *options;
    gbs_image image; /* the picture that is being read */
    JSAMPLE *row;
    size_t taken; /* number of bytes taken from the memory budget for the coefficients that libjpeg
                     keeps */
    gbs_error error; /* error that the functions of this file found */
    char message[JMSG_LENGTH_MAX];
} decoder;

/* ---- called by libjpeg ------------------------------------------------------------------- */

static size_t place_of(const decoder *d)
{
    return d->input->n - d->source.bytes_in_buffer;
}

static void fail(j_common_ptr jpeg)
{
    decoder *d = jpeg->client_data;
    (*jpeg->err->format_message)(jpeg, d->message);
    longjmp(d->failed, 1); // NOLINT(cert-err52-cpp): libjpeg's way of failing
}

/* Receives a message of libjpeg. Level -1 means that libjpeg would mend damaged data, which is a
 * failure here. Other messages are ignored. */
static void take_message(j_common_ptr jpeg, int level)
{
    if (level < 0) {
        fail(jpeg);
    }
}

static void print_nothing(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void begin_source(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean take_more(j_decompress_ptr jpeg)
{
    decoder *d = jpeg->client_data;
    (void)gbsi_fail(&d->error, GBS_ERR_FORMAT,
                    "%s: byte %zu: found the end of the file, expected more JPEG data",
                    d->input->name, d->input->n);
    longjmp(d->failed, 1); // NOLINT(cert-err52-cpp): as above
}

static void skip(j_decompress_ptr jpeg, long n)
{
    decoder *d = jpeg->client_data;
    if (n > 0 && (size_t)n > d->source.bytes_in_buffer) {
        d->source.bytes_in_buffer = 0;
        (void)take_more(jpeg);
    }
    d->source.next_input_byte += n > 0 ? n : 0;
    d->source.bytes_in_buffer -= n > 0 ? (size_t)n : 0;
}

static void end_source(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

/* Called for each row of blocks of a scan. */
static void on_progress(j_common_ptr jpeg)
{
    decoder *d = jpeg->client_data;
    if (d->jpeg.input_scan_number > MOST_SCANS) {
        (void)gbsi_fail(&d->error, GBS_ERR_LIMIT,
                        "%s: byte %zu: found more than %d scans of the picture", d->input->name,
                        place_of(d), MOST_SCANS);
        longjmp(d->failed, 1); // NOLINT(cert-err52-cpp): as above
    }
    if (gbsi_image_work((size_t)DCTSIZE * d->jpeg.image_width, &d->error) < 0) {
        longjmp(d->failed, 1); // NOLINT(cert-err52-cpp): as above
    }
}

/* ---- below setjmp() ---------------------------------------------------------------------- */

static void begin(decoder *d)
{
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.client_data = d; /* jpeg_create_decompress() cleared this member */
    d->progress.progress_monitor = on_progress;
    d->jpeg.progress = &d->progress;
    d->source = (struct jpeg_source_mgr){.next_input_byte = (const JOCTET *)d->input->bytes,
                                         .bytes_in_buffer = d->input->n,
                                         .init_source = begin_source,
                                         .fill_input_buffer = take_more,
                                         .skip_input_data = skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = end_source};
    d->jpeg.src = &d->source;
}

static void check_size(decoder *d)
{
    gbs_error why = {0};
    const uint32_t channels = d->jpeg.num_components == 1 ? 1 : 3;
    const size_t n_coefficients =
        (size_t)d->jpeg.image_width * d->jpeg.image_height * (size_t)d->jpeg.num_components;
    gbs_status status = gbsi_image_check_size(d->jpeg.image_width, d->jpeg.image_height, channels,
                                              d->input->n, d->options, &why);
    if (status < 0) {
        (void)gbsi_fail(&d->error, status == GBS_ERR_ARGUMENT ? GBS_ERR_FORMAT : status,
                        "%s: byte %zu: %s", d->input->name, place_of(d), why.message);
        fail((j_common_ptr)&d->jpeg);
    }
    if (d->jpeg.jpeg_color_space == JCS_CMYK || d->jpeg.jpeg_color_space == JCS_YCCK) {
        (void)gbsi_fail(&d->error, GBS_ERR_UNSUPPORTED,
                        "%s: byte %zu: found a JPEG picture in four printing colours (CMYK), "
                        "expected grey or RGB",
                        d->input->name, place_of(d));
        fail((j_common_ptr)&d->jpeg);
    }
    d->taken = d->jpeg.progressive_mode ? COEFFICIENT_BYTES * n_coefficients : 0;
    if (!gbsi_budget_take(d->taken)) {
        (void)gbsi_no_memory(&d->error, d->input->name, d->taken);
        d->taken = 0;
        fail((j_common_ptr)&d->jpeg);
    }
}

static void decode(decoder *d)
{
    begin(d);
    (void)jpeg_read_header(&d->jpeg, TRUE);
    check_size(d);
    const bool grey = d->jpeg.jpeg_color_space == JCS_GRAYSCALE;
    d->jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    const size_t n_row = (size_t)d->jpeg.image_width * (grey ? 1 : 3);
    d->row = gbsi_alloc(n_row);
    if (d->row == NULL) {
        (void)gbsi_no_memory(&d->error, d->input->name, n_row);
        fail((j_common_ptr)&d->jpeg);
    }
    if (gbsi_image_new(d->input->name, grey ? GBS_IMAGE_GREY : GBS_IMAGE_COLOR, d->jpeg.image_width,
                       d->jpeg.image_height, 255, 0, &d->image, &d->error) < 0) {
        fail((j_common_ptr)&d->jpeg);
    }
    (void)jpeg_start_decompress(&d->jpeg);
    while (d->jpeg.output_scanline < d->jpeg.output_height) {
        uint16_t *sample = d->image.sample + d->jpeg.output_scanline * n_row;
        (void)jpeg_read_scanlines(&d->jpeg, &d->row, 1);
        for (size_t i = 0; i < n_row; i++) {
            sample[i] = d->row[i];
        }
    }
    (void)jpeg_finish_decompress(&d->jpeg);
}

/* ---- above setjmp() ---------------------------------------------------------------------- */

static gbs_status decode_guarded(decoder *d, gbs_error *err)
{
    if (setjmp(d->failed) == 0) { // NOLINT(cert-err52-cpp): libjpeg's way of failing
        decode(d);
        return GBS_OK;
    }
    if (d->error.status < 0) {
        return gbsi_fail(err, d->error.status, "%s", d->error.message);
    }
    return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %zu: found damaged JPEG data (%s)",
                     d->input->name, place_of(d), d->message);
}

gbs_status gbsi_jpeg_read(const gbsi_input *input, const gbs_image_read_options *options,
                          gbs_image *image, gbs_error *err)
{
    decoder *d = gbsi_alloc_zero(sizeof *d); /* the struct is not on the stack, which longjmp()
                                                unwinds */
    GBSI_PASS(GBSI_HAVE(err, input->name, d));
    d->input = input;
    d->options = options;
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->jpeg.client_data = d;
    d->errors.error_exit = fail;
    d->errors.emit_message = take_message;
    d->errors.output_message = print_nothing;
    const gbs_status status = decode_guarded(d, err);
    if (status >= 0) {
        *image = d->image;
    } else {
        gbs_image_free(&d->image);
    }
    jpeg_destroy_decompress(&d->jpeg);
    gbsi_budget_give(d->taken);
    GBSI_FREE(d->row, d);
    return status;
}

#else

gbs_status gbsi_jpeg_read(const gbsi_input *input, const gbs_image_read_options *options,
                          gbs_image *image, gbs_error *err)
{
    (void)options;
    (void)image;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: found a JPEG picture, which this build cannot read: install "
                     "libjpeg62-turbo-dev and build again, or convert it to PNG",
                     input->name);
}

#endif
