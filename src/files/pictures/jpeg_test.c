/* SPDX-License-Identifier: Apache-2.0 */
/* Tests JPEG files of every kind that is read, made by libjpeg in this test, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "config.h"
#include "gibbsite/image.h"
#include "pictures/image_file.h"

#ifdef GBSI_HAVE_JPEG
#include <jpeglib.h>

enum { W = 37, H = 22 };

typedef struct bytes {
    unsigned char *at;
    unsigned long n;
} bytes;

/* Values of a smooth picture, which JPEG changes little. */
static int value_of(int x, int y, int c)
{
    return 3 * x + 2 * y + 30 * c;
}

static bytes make_rows(J_COLOR_SPACE space, int n_channels, int progressive, unsigned n_rows)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    bytes file = {NULL, 0};
    JSAMPLE row[W * 4];
    JSAMPROW rows[1] = {row};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file.at, &file.n);
    jpeg.image_width = W;
    jpeg.image_height = n_rows;
    jpeg.input_components = n_channels;
    jpeg.in_color_space = space;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    for (unsigned y = 0; y < n_rows; y++) {
        for (int i = 0; i < W * n_channels; i++) {
            row[i] = (JSAMPLE)value_of(i / n_channels, (int)(y % H), i % n_channels);
        }
        (void)jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return file;
}

static bytes make(J_COLOR_SPACE space, int n_channels, int progressive)
{
    return make_rows(space, n_channels, progressive, H);
}

static void reads(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        const int n_channels = kind % 2 == 0 ? 1 : 3;
        bytes file = make(n_channels == 1 ? JCS_GRAYSCALE : JCS_RGB, n_channels, kind / 2);
        gbs_image image = {0};
        int furthest = 0;
        assert_true(gbsi_is_image(&(gbsi_input){.bytes = (const char *)file.at, .n = file.n}));
        assert_int_equal(gbs_image_read_memory("p.jpg", file.at, file.n, NULL, &image, NULL),
                         GBS_OK);
        assert_int_equal(image.kind, n_channels == 1 ? GBS_IMAGE_GREY : GBS_IMAGE_COLOR);
        assert_int_equal(image.width, W);
        assert_int_equal(image.height, H);
        assert_int_equal(image.maxval, 255);
        for (int i = 0; i < W * H * n_channels; i++) {
            const int pixel = i / n_channels;
            const int off = image.sample[i] - value_of(pixel % W, pixel / W, i % n_channels);
            furthest = abs(off) > furthest ? abs(off) : furthest;
        }
        assert_true(furthest < (n_channels == 1 ? 3 : 8));
        gbs_image_free(&image);
        free(file.at);
    }
}

static void refuses(void **state)
{
    (void)state;
    const gbs_image_read_options narrow = {.size = sizeof narrow, .max_width = W - 1};
    bytes cmyk = make(JCS_CMYK, 4, 0);
    bytes file = make(JCS_RGB, 3, 1);
    gbs_image image = {0};
    gbs_error err = {0};
    assert_int_equal(gbs_image_read_memory("p", cmyk.at, cmyk.n, NULL, &image, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "CMYK"));
    assert_int_equal(gbs_image_read_memory("p", file.at, file.n, &narrow, &image, &err),
                     GBS_ERR_LIMIT);
    for (unsigned long n = 3; n + 2 < file.n; n++) {
        /* the file is cut; its last mark may be missing */
        assert_int_equal(gbs_image_read_memory("p", file.at, n, NULL, &image, &err),
                         GBS_ERR_FORMAT);
        assert_true(strncmp(err.message, "p: byte ", 8) == 0);
    }
    assert_null(image.sample);
    free(cmyk.at);
    free(file.at);
}

static int stop_at_once(void *context)
{
    ++*(int *)context;
    return 1;
}

/* A tall picture is read until the caller stops the reading. */
static void stops(void **state)
{
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        bytes file = make_rows(JCS_GRAYSCALE, 1, progressive, 4000);
        int n_asked = 0;
        gbs_image image = {0};
        gbs_error err = {0};
        const gbs_image_read_options options = {
            .size = sizeof options, .stop = stop_at_once, .stop_context = &n_asked};
        assert_int_equal(gbs_image_read_memory("p", file.at, file.n, &options, &image, &err),
                         GBS_ERR_STOPPED);
        assert_non_null(strstr(err.message, "stopped while reading the picture"));
        assert_int_equal(n_asked, 1);
        assert_null(image.sample);
        free(file.at);
    }
}

static void damaged(void **state)
{
    (void)state;
    bytes file[2] = {make(JCS_RGB, 3, 1), make(JCS_GRAYSCALE, 1, 0)};
    uint64_t random = 11;
    size_t n_read = 0;
    enum { TRIALS = 2000 };
    for (int k = 0; k < TRIALS; k++) {
        bytes *f = &file[k % 2];
        const size_t at = next_random(&random) % f->n;
        const unsigned char kept = f->at[at];
        gbs_image image = {0};
        f->at[at] = (unsigned char)next_random(&random);
        const gbs_status status = gbs_image_read_memory("p", f->at, f->n, NULL, &image, NULL);
        f->at[at] = kept;
        assert_true(status == GBS_OK || status == GBS_ERR_FORMAT || status == GBS_ERR_LIMIT ||
                    status == GBS_ERR_UNSUPPORTED);
        assert_true((status == GBS_OK) == (image.sample != NULL));
        n_read += status == GBS_OK;
        gbs_image_free(&image);
    }
    assert_true(n_read > 0 && n_read < TRIALS);
    free(file[0].at);
    free(file[1].at);
}

static void memory_fails(void **state)
{
    (void)state;
    bytes file = make(JCS_RGB, 3, 0);
    gbs_status status = GBS_ERR_MEMORY;
    gbs_image image = {0};
    uint64_t k = 0;
    for (; status == GBS_ERR_MEMORY; k++) {
        gbsi_alloc_fail_after(k);
        status = gbs_image_read_memory("p", file.at, file.n, NULL, &image, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(k > 2);
    gbs_image_free(&image);
    free(file.at);
}

#else

static void is_not_there(void **state)
{
    (void)state;
    gbs_image image = {0};
    gbs_error err = {0};
    assert_int_equal(gbs_image_read_memory("p", "\xff\xd8\xff\xe0", 4, NULL, &image, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "JPEG"));
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef GBSI_HAVE_JPEG
        cmocka_unit_test(reads), cmocka_unit_test(refuses),      cmocka_unit_test(damaged),
        cmocka_unit_test(stops), cmocka_unit_test(memory_fails),
#else
        cmocka_unit_test(is_not_there),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
