/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "config.h"
#include "pictures/test_images.h"

#define BYTES(text) (text), sizeof(text) - 1

static void expect_image(const char *bytes, size_t n, gbs_image_kind kind, uint32_t width,
                         uint32_t height, uint32_t maxval, const uint16_t *sample)
{
    gbs_image image = read_image(bytes, n);
    assert_int_equal(image.kind, kind);
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.maxval, maxval);
    assert_int_equal(image.channels, kind == GBS_IMAGE_COLOR ? 3 : 1);
    size_t n_samples = (size_t)width * height * image.channels;
    assert_memory_equal(image.sample, sample, n_samples * sizeof *sample);
    assert_null(image.hidden);
    gbs_image_free(&image);
    assert_null(image.sample);
}

static void formats(void **state)
{
    (void)state;
    static const uint16_t bits[20] = {1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1};
    expect_image(BYTES("P1\n10 2\n1011000111 0100000001\n"), GBS_IMAGE_BITMAP, 10, 2, 1, bits);
    expect_image(BYTES("P1 10 2 10110001110100000001"), GBS_IMAGE_BITMAP, 10, 2, 1, bits);
    expect_image(BYTES("P1 10 2\r\n1 0 1 1 0\r\n0 0 1 1 1 # c\n0 1 0 0 0 0 0 0 0 1"),
                 GBS_IMAGE_BITMAP, 10, 2, 1, bits);
    /* Rows are filled up to a byte, with any bits. */
    expect_image(BYTES("P4\n10 2\n\xb1\xff\x40\x40"), GBS_IMAGE_BITMAP, 10, 2, 1, bits);
    static const uint16_t grey[6] = {0, 9, 255, 17, 128, 1};
    expect_image(BYTES("P2 3 2 255 0 9 255 17 128 1"), GBS_IMAGE_GREY, 3, 2, 255, grey);
    expect_image(BYTES("P2 3 2 255\r\n0 9 255\r\n17 128 1\r\n"), GBS_IMAGE_GREY, 3, 2, 255, grey);
    expect_image(BYTES("P5 3 2 255\n\x00\x09\xff\x11\x80\x01"), GBS_IMAGE_GREY, 3, 2, 255, grey);
    expect_image(BYTES("P5 3 2 256\n\0\0\0\x09\0\xff\0\x11\0\x80\0\x01"), GBS_IMAGE_GREY, 3, 2, 256,
                 grey);
    static const uint16_t deep[2] = {0x0102, 65535};
    expect_image(BYTES("P5 2 1 65535\n\x01\x02\xff\xff"), GBS_IMAGE_GREY, 2, 1, 65535, deep);
    expect_image(BYTES("P2 2 1 65535 258 65535"), GBS_IMAGE_GREY, 2, 1, 65535, deep);
    expect_image(BYTES("P3 2 1 255 0 9 255 17 128 1"), GBS_IMAGE_COLOR, 2, 1, 255, grey);
    expect_image(BYTES("P6 2 1 255\n\x00\x09\xff\x11\x80\x01"), GBS_IMAGE_COLOR, 2, 1, 255, grey);
    static const uint16_t one[1] = {1};
    expect_image(BYTES("P1 1 1 1"), GBS_IMAGE_BITMAP, 1, 1, 1, one);
    expect_image(BYTES("P5 1 1 1\n\x01"), GBS_IMAGE_GREY, 1, 1, 1, one);
}

static void comments(void **state)
{
    (void)state;
    static const uint16_t hash[2] = {'#', '\n'};
    expect_image(BYTES("P5# magic\n2#width\n # height\n1 255\n#\n"), GBS_IMAGE_GREY, 2, 1, 255,
                 hash);
    /* A comment directly behind the last number ends with the one byte of white space. */
    expect_image(BYTES("P5 2 1 255# to the end of the line\n#\n"), GBS_IMAGE_GREY, 2, 1, 255, hash);
    expect_image(BYTES("P2 2 1 255 35# one\n#\n10#"), GBS_IMAGE_GREY, 2, 1, 255, hash);
    refuse_image(BYTES("P5 2 1 255#\n"), GBS_ERR_FORMAT, "found the end of the file");
}

static void line_ends(void **state)
{
    (void)state;
    refuse_image(BYTES("P5\r\n2 1\r\n255\r\nab"), GBS_ERR_FORMAT,
                 "x:3:4: found CR LF behind the header and one byte too many, expected a single "
                 "byte of white space: somebody changed the line ends");
    refuse_image(BYTES("P4\r\n8 1\r\na"), GBS_ERR_FORMAT, "x:2:4: found CR LF behind");
    refuse_image(BYTES("P6 1 1 255\r\nabc"), GBS_ERR_FORMAT, "x:1:11: found CR LF behind");
    /* The number of bytes is right, so LF is the first sample. */
    static const uint16_t sample[2] = {'\n', 'b'};
    expect_image(BYTES("P5 2 1 255\r\nb"), GBS_IMAGE_GREY, 2, 1, 255, sample);
    /* A line end behind the picture is allowed. */
    static const uint16_t other[2] = {'a', 'b'};
    expect_image(BYTES("P5 2 1 255\nab\r\n"), GBS_IMAGE_GREY, 2, 1, 255, other);
}

static void several(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_error err = {0};
    gbs_image image;
    const gbs_image_read_options options = {.warn = take_warning, .context = &warned};
    static const char two[] = "P5 2 1 255\nabP5 1 1 255\nc";
    assert_int_equal(read_image_bytes(BYTES(two), &options, &image, &err), GBS_OK);
    assert_int_equal(image.width, 2);
    assert_int_equal(image.sample[1], 'b');
    assert_int_equal(warned.n, 1);
    assert_string_equal(warned.last, "x: holds several pictures; only the first is read");
    gbs_image_free(&image);
    refuse_image(BYTES("P2 1 1 9 1 P2 1 1 9 2"), GBS_ERR_FORMAT,
                 "x:1:12: found 'P2', expected the end of the file after the last sample");
    refuse_image(BYTES("P5 2 1 255\nabcd"), GBS_ERR_FORMAT,
                 "x: byte 13: found 2 more bytes, expected the end of the file");
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gbs_status status;
        const char *part;
    } cases[] = {
        {"", GBS_ERR_FORMAT,
         "x: byte 0: found no picture, expected a PNG or JPEG file, or P1 to P6"},
        {"P7 1 1", GBS_ERR_FORMAT, "found no picture"},
        {"P5x1 1", GBS_ERR_FORMAT, "found no picture"},
        {"P5 ", GBS_ERR_FORMAT, "x:1:4: found the end of the file, expected the width"},
        {"P5 x 1", GBS_ERR_FORMAT, "x:1:4: found 'x', expected the width"},
        {"P5 1 -1 ", GBS_ERR_FORMAT, "x:1:6: found '-1', expected the height"},
        {"P5 1 1.0", GBS_ERR_FORMAT, "found '1.0'"},
        {"P5 0 1 255\n", GBS_ERR_FORMAT, "x:1:4: found a picture of 0 x 1 pixels"},
        {"P1 1 0", GBS_ERR_FORMAT, "x:1:4: found a picture of 1 x 0 pixels"},
        {"P5 1 1 0\na", GBS_ERR_FORMAT, "x:1:8: found '0', expected the largest sample"},
        {"P5 1 1 65536\nab", GBS_ERR_FORMAT, "the largest sample of at most 65535"},
        {"P5 1 1 255", GBS_ERR_FORMAT, "x:1:11: found the end of the file, expected one byte"},
        {"P4 1 1", GBS_ERR_FORMAT, "x:1:7: found the end of the file, expected one byte"},
        {"P5 2 2 255\nabc", GBS_ERR_FORMAT,
         "x: byte 14: found the end of the file, expected samples for 2 x 2 pixels: at least 4 "
         "bytes, of which 3 are there"},
        {"P5 1 1 2\nb", GBS_ERR_FORMAT, "x: byte 9: found a sample of 98, expected at most 2"},
        {"P6 1 1 300\nababab", GBS_ERR_FORMAT, "x: byte 11: found a sample of 24930"},
        {"P2 2 1 9 1 10", GBS_ERR_FORMAT, "x:1:12: found a sample of 10, expected at most 9"},
        {"P2 2 1 9 1x 1", GBS_ERR_FORMAT, "x:1:10: found '1x', expected a sample"},
        {"P3 1 1 9 1 1 99999999999", GBS_ERR_FORMAT, "found '99999999999', expected a sample"},
        {"P1 3 1 102", GBS_ERR_FORMAT, "x:1:10: found '2', expected a pixel: 0 or 1"},
        {"P1 3 1 1 #", GBS_ERR_FORMAT, "found the end of the file, expected a pixel"},
        {"P1 3 1 10111", GBS_ERR_FORMAT, "x:1:11: found '11', expected the end of the file"},
        {"P5 32769 1 255\n", GBS_ERR_LIMIT,
         "x:1:4: found a picture of 32769 x 1 pixels; the limit is 32768 x 32768"},
        {"P5 9223372036854775808 9223372036854775808 255\n", GBS_ERR_LIMIT, "the limit is"},
        {"P5 99999999999999999999 1 255\n", GBS_ERR_FORMAT, "found '99999999999999999999'"},
        {"P6 32768 32768 65535\n", GBS_ERR_LIMIT, "takes 6442450944 bytes in a file of 21"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refuse_image(cases[i].text, strlen(cases[i].text), cases[i].status, cases[i].part);
    }
    gbs_image image;
    gbs_error err = {0};
    gbs_image_read_options options = {.max_width = 3, .max_height = 2};
    assert_int_equal(read_image_bytes(BYTES("P1 3 2 000000"), &options, &image, &err), GBS_OK);
    gbs_image_free(&image);
    assert_int_equal(read_image_bytes(BYTES("P1 2 3 000000"), &options, &image, &err),
                     GBS_ERR_LIMIT);
    options = (gbs_image_read_options){.max_width = 40000};
    assert_int_equal(read_image_bytes(BYTES("P1 40000 1 000000"), &options, &image, &err),
                     GBS_ERR_FORMAT);
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        size_t whole; /* the shortest prefix that is a picture */
    } files[] = {
        {BYTES("P1 # c\n10 2\n1011000111 0100000001\n"), 33},
        /* the last number "1" is as valid as "10" */
        {BYTES("P2\n3 2\n255\n0 9 255\n17 128 10 # end\n"), 27},
        {BYTES("P3 1 1 9 1 2 3\n"), 14},
        {BYTES("P4\n10 2\n\xb1\xff\x40\x40"), 12},
        {BYTES("P5 3 1 65535# c\n\x01\x02\xff\xff\x03\x04"), 22},
        {BYTES("P6 1 1 255\nabc"), 14},
    };
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        for (size_t cut = 0; cut <= files[f].n; cut++) {
            gbs_image image;
            gbs_error err = {0};
            gbs_status status = read_image_bytes(files[f].bytes, cut, NULL, &image, &err);
            assert_int_equal(status, cut >= files[f].whole ? GBS_OK : GBS_ERR_FORMAT);
            gbs_image_free(&image);
        }
    }
}

/* Bytes are changed, removed and doubled from a fixed seed. Each file must be read or refused. */
static void mutated(void **state)
{
    (void)state;
    static const char *const files[] = {"P1 # c\n10 2\n1011000111 0100000001\n",
                                        "P2\n3 2\n255\n0 9 255\n17 128 10 # end\n",
                                        "P3 1 1 9 1 2 3\n",
                                        "P4\n10 2\n\xb1\xff\x40\x40",
                                        "P5 3 1 25535# c\n\1\2\3\4\5\6",
                                        "P6 1 1 255\nabc"};
    static const char common[] = "0199 #\nP\r-";
    uint64_t seed = 3;
    int n_read = 0;
    for (int i = 0; i < 6000; i++) {
        char bytes[96];
        size_t n = strlen(files[i % 6]);
        memcpy(bytes, files[i % 6], n);
        for (int k = 0; k <= i % 3; k++) {
            uint64_t r = next_random(&seed);
            size_t at = (size_t)(next_random(&seed) % n);
            if (r % 3 == 0) {
                bytes[at] = common[next_random(&seed) % (sizeof common - 1)];
            } else if (r % 3 == 1) {
                bytes[at] = (char)next_random(&seed);
            } else {
                memmove(bytes + at + 1, bytes + at, n - at);
                n++;
            }
        }
        gbs_image image;
        gbs_error err = {0};
        n_read += read_image_bytes(bytes, n, NULL, &image, &err) == GBS_OK;
        gbs_image_free(&image);
    }
    assert_true(n_read > 500 && n_read < 5500);
}

static void written_and_read(void **state)
{
    (void)state;
    static const struct {
        gbs_image_kind kind;
        uint32_t maxval;
        const char *name;
    } cases[] = {
        {GBS_IMAGE_BITMAP, 1, "a.pbm"},   {GBS_IMAGE_GREY, 1, "a.pgm"},
        {GBS_IMAGE_GREY, 255, "a.pgm"},   {GBS_IMAGE_GREY, 256, "a.PGM"},
        {GBS_IMAGE_GREY, 65535, "a.pgm"}, {GBS_IMAGE_COLOR, 7, "a.ppm"},
        {GBS_IMAGE_COLOR, 255, "a.ppm"},  {GBS_IMAGE_COLOR, 65535, "a.ppm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int plain = 0; plain <= 1; plain++) {
            gbs_image image = make_image(cases[i].kind, cases[i].maxval);
            const char *path = scratch_path(cases[i].name);
            write_image(&image, path, plain);
            gbs_image back = read_path(path);
            expect_same(&image, &back);
            gbs_image_free(&back);
            gbs_image_free(&image);
        }
    }
}

static void expect_written(const gbs_image *image, const char *name, int plain, const char *bytes,
                           size_t n)
{
    char found[4096];
    const char *path = scratch_path(name);
    write_image(image, path, plain);
    assert_int_equal(read_file(path, found, sizeof found), n);
    assert_memory_equal(found, bytes, n);
}

static void written(void **state)
{
    (void)state;
    gbs_image image = read_image(BYTES("P1 9 2 101000001 010000000"));
    expect_written(&image, "b.pbm", 0, BYTES("P4\n9 2\n\xa0\x80\x40\x00"));
    expect_written(&image, "b.pbm", 1, BYTES("P1\n9 2\n101000001\n010000000\n"));
    /* Black must stay black. */
    expect_written(&image, "b.pgm", 1, BYTES("P2\n9 2\n1\n0 1 0 1 1 1 1 1 0\n1 0 1 1 1 1 1 1 1\n"));
    gbs_image_free(&image);
    image = read_image(BYTES("P1 2 1 10"));
    expect_written(&image, "b.ppm", 1, BYTES("P3\n2 1\n1\n0 0 0 1 1 1\n"));
    gbs_image_free(&image);
    image = make_image(GBS_IMAGE_PALETTE, 255);
    memcpy(image.sample, (uint16_t[15]){3, 1}, 15 * sizeof(uint16_t));
    image.width = 2;
    image.height = 1;
    expect_written(&image, "b.pgm", 1, BYTES("P2\n2 1\n255\n3 1\n"));
    expect_written(&image, "b.ppm", 1, BYTES("P3\n2 1\n255\n240 241 242 80 81 82\n"));
    gbs_image_free(&image);
    /* Lines have at most 70 characters. */
    for (int kind = 0; kind < 3; kind++) {
        char found[4096];
        gbs_error err = {0};
        const char *path = scratch_path(kind == 0 ? "l.pbm" : kind == 1 ? "l.pgm" : "l.ppm");
        uint32_t maxval = kind == 0 ? 1 : 65535;
        assert_int_equal(gbs_image_new((gbs_image_kind)kind, 150, 1, maxval, 0, &image, &err),
                         GBS_OK);
        for (size_t i = 0; i < (size_t)150 * image.channels; i++) {
            image.sample[i] = (uint16_t)maxval;
        }
        write_image(&image, path, 1);
        (void)read_file(path, found, sizeof found);
        for (const char *line = found; *line != 0; line += strcspn(line, "\n") + 1) {
            assert_true(strcspn(line, "\n") <= 70);
        }
        gbs_image_free(&image);
    }
}

static void refuse_write(const gbs_image *image, const char *name, int plain, const char *format,
                         const char *part)
{
    gbs_error err = {0};
    const gbs_image_write_options options = {.plain = plain, .format = format};
    const char *path = scratch_path(name);
    assert_int_equal(gbs_image_write(image, path, &options, &err), GBS_ERR_ARGUMENT);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", err.message, part);
    }
    assert_int_not_equal(access(path, F_OK), 0);
}

static void not_written(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_image image = make_image(GBS_IMAGE_GREY, 9);
    refuse_write(&image, "n.pbm", 0, NULL, "n.pbm: a PBM holds black and white only");
    refuse_write(&image, "n.txt", 0, NULL,
                 "cannot tell the picture format from the file name extension");
    refuse_write(&image, ".png", 0, "pgn", "picture format 'pgn' is not known");
    refuse_write(&image, "n.png", 1, NULL, "n.png: a PNG cannot be plain text");
    image.sample[4] = 10;
    refuse_write(&image, "n.pgm", 0, NULL, "found a sample of 10 in the picture");
    gbs_image_free(&image);
    image = make_image(GBS_IMAGE_COLOR, 9);
    refuse_write(&image, "n.pgm", 0, NULL, "n.pgm: a PGM cannot hold colour");
    gbs_image_free(&image);
    gbs_image_free(NULL);
    gbs_image untouched = {.width = 7};
    assert_int_equal(gbs_image_new(GBS_IMAGE_GREY, 0, 1, 255, 0, &untouched, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_image_new(GBS_IMAGE_GREY, 1, 1, 65536, 0, &untouched, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_image_new(GBS_IMAGE_BITMAP, 1, 1, 255, 0, &untouched, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_image_new(GBS_IMAGE_PALETTE, 1, 1, 255, 257, &untouched, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_image_new(GBS_IMAGE_GREY, 1, 1, 255, 2, &untouched, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(untouched.width, 7);
}

static void compressed(void **state)
{
    (void)state;
#ifdef GBSI_HAVE_ZLIB
    gbs_image image = make_image(GBS_IMAGE_GREY, 255);
    const char *path = scratch_path("c.pgm.gz");
    write_image(&image, path, 0);
    gbs_image back = read_path(path);
    expect_same(&image, &back);
    gbs_image_free(&back);
    gbs_image_free(&image);
#else
    skip(); /* this build cannot write gzip */
#endif
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_image image = make_image(GBS_IMAGE_GREY, 255);
    for (int what = 0; what < 2; what++) { /* files are written, then read; .ppm makes a copy */
        uint64_t allowed = 0;
        const char *path = scratch_path("m.ppm");
        for (gbs_status status = GBS_ERR_MEMORY; status != GBS_OK; allowed++) {
            gbs_image read = {0};
            gbsi_alloc_fail_after(allowed);
            status = what == 0 ? gbs_image_write(&image, path, NULL, &err)
                               : gbs_image_read(path, NULL, &read, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true((read.sample != NULL) == (what == 1 && status == GBS_OK));
            gbs_image_free(&read);
        }
        assert_true(allowed > 2);
    }
    gbs_image_free(&image);
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),    cmocka_unit_test(comments),
        cmocka_unit_test(line_ends),  cmocka_unit_test(several),
        cmocka_unit_test(refusals),   cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(mutated),    cmocka_unit_test(written_and_read),
        cmocka_unit_test(written),    cmocka_unit_test(not_written),
        cmocka_unit_test(compressed), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
