/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the meaning of pixels: states of pixels, pixels of states, and pictures as starts and as
 * evidence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "config.h"
#include "pictures/test_images.h"

#define BYTES(text) (text), sizeof(text) - 1

/* ---- pixels to states -------------------------------------------------------------------- */

static void expect_spins(const char *bytes, size_t n, uint32_t threshold, const char *expected)
{
    uint32_t x[16];
    gbs_error err = {0};
    gbs_image image = read_image(bytes, n);
    assert_int_equal(gbs_image_to_spins(&image, threshold, x, &err), GBS_OK);
    for (size_t i = 0; i < strlen(expected); i++) {
        assert_int_equal(x[i], expected[i] - '0');
    }
    gbs_image_free(&image);
}

static void spins(void **state)
{
    (void)state;
    expect_spins(BYTES("P1 3 2 101011"), 0, "101011");          /* black is 1 */
    expect_spins(BYTES("P2 3 1 1 1 0 1"), 0, "101");            /* white is 1 */
    expect_spins(BYTES("P2 4 1 255 0 127 128 255"), 0, "0011"); /* half of 255, rounded up: 128 */
    expect_spins(BYTES("P2 4 1 4 0 1 2 3"), 0, "0011");
    expect_spins(BYTES("P2 4 1 255 0 127 128 255"), 1, "0111");
    expect_spins(BYTES("P2 4 1 255 0 127 128 255"), 255, "0001");
    expect_spins(BYTES("P2 2 1 65535 32767 32768"), 0, "01");
    /* (299 r + 587 g + 114 b) / 1000: pure green 150, red 76, blue 29 of 255 */
    static const char rgb[] = "P3 3 1 255 0 255 0 255 0 0 0 0 255";
    expect_spins(BYTES(rgb), 150, "100");
    expect_spins(BYTES(rgb), 151, "000");
    expect_spins(BYTES(rgb), 76, "110");
    expect_spins(BYTES(rgb), 77, "100");
    expect_spins(BYTES(rgb), 29, "111");
    expect_spins(BYTES(rgb), 30, "110");
    uint32_t x[15] = {9};
    gbs_error err = {0};
    gbs_image image = make_image(GBS_IMAGE_PALETTE, 255); /* colours 0, 80, 160 and 240 or so */
    assert_int_equal(gbs_image_to_spins(&image, 0, x, &err), GBS_OK);
    for (size_t i = 0; i < 15; i++) {
        assert_int_equal(x[i], image.sample[i] >= 2);
    }
    x[0] = 9;
    assert_int_equal(gbs_image_to_spins(&image, 256, x, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message,
                        "found threshold 256, expected at most the largest sample, 255");
    gbs_image_free(&image);
    image = make_image(GBS_IMAGE_BITMAP, 1);
    assert_int_equal(gbs_image_to_spins(&image, 1, x, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "a bitmap takes no threshold");
    assert_int_equal(x[0], 9);
    gbs_image_free(&image);
}

static void labels(void **state)
{
    (void)state;
    uint32_t x[8] = {9, 9, 9, 9};
    gbs_error err = {0};
    gbs_image image = read_image(BYTES("P2 2 2 255 0 3 2 1"));
    assert_int_equal(gbs_image_to_labels(&image, 3, x, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "row 0, column 1: found a pixel of value 3, expected a state: "
                                     "less than 3");
    assert_int_equal(x[0], 9);
    assert_int_equal(gbs_image_to_labels(&image, 4, x, &err), GBS_OK);
    assert_true(x[0] == 0 && x[1] == 3 && x[2] == 2 && x[3] == 1);
    gbs_image_free(&image);
    image = read_image(BYTES("P3 1 1 255 0 0 0"));
    assert_int_equal(gbs_image_to_labels(&image, 4, x, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "found a picture in colour"));
    gbs_image_free(&image);
}

static void levels(void **state)
{
    (void)state;
    uint32_t x[256];
    uint32_t spin[256];
    gbs_error err = {0};
    gbs_image image = {0};
    assert_int_equal(gbs_image_new(GBS_IMAGE_GREY, 16, 16, 255, 0, &image, &err), GBS_OK);
    for (uint16_t i = 0; i < 256; i++) {
        image.sample[i] = i;
    }
    /* The levels are 0, 85, 170, 255. Borders are half way between levels, and belong to the
     * brighter one. */
    assert_int_equal(gbs_image_to_levels(&image, 4, x, &err), GBS_OK);
    for (uint32_t i = 0; i < 256; i++) {
        assert_int_equal(x[i], i < 43 ? 0 : i < 128 ? 1 : i < 213 ? 2 : 3);
    }
    /* the levels are 0, 127.5, 255 */
    assert_int_equal(gbs_image_to_levels(&image, 3, x, &err), GBS_OK);
    assert_true(x[63] == 0 && x[64] == 1 && x[191] == 1 && x[192] == 2);
    assert_int_equal(gbs_image_to_levels(&image, 1, x, &err), GBS_OK);
    assert_true(x[0] == 0 && x[255] == 0);
    /* Two levels give the result of the default threshold, for any maxval. */
    for (uint32_t maxval = 255; maxval < 300; maxval++) {
        image.maxval = maxval;
        assert_int_equal(gbs_image_to_levels(&image, 2, x, &err), GBS_OK);
        assert_int_equal(gbs_image_to_spins(&image, 0, spin, &err), GBS_OK);
        assert_memory_equal(x, spin, sizeof x);
    }
    assert_int_equal(gbs_image_to_levels(&image, 0, x, &err), GBS_ERR_ARGUMENT);
    gbs_image_free(&image);
    image = make_image(GBS_IMAGE_BITMAP, 1);
    assert_int_equal(gbs_image_to_levels(&image, 2, x, &err), GBS_ERR_ARGUMENT);
    gbs_image_free(&image);
    /* Levels become pixels and levels again, up to the number of levels at which two of them
     * coincide. */
    for (uint32_t n = 1; n < 700; n++) {
        uint32_t given[256];
        for (uint32_t i = 0; i < 256; i++) {
            given[i] = i * 7919 % n;
        }
        assert_int_equal(gbs_image_from_levels(given, 16, 16, n, &image, &err), GBS_OK);
        assert_int_equal(image.maxval, n <= 256 ? 255 : 65535);
        assert_int_equal(gbs_image_to_levels(&image, n, x, &err), GBS_OK);
        assert_memory_equal(x, given, sizeof x);
        gbs_image_free(&image);
    }
    assert_int_equal(gbs_image_from_levels(x, 16, 16, 65537, &image, &err), GBS_ERR_ARGUMENT);
}

/* ---- states to pixels -------------------------------------------------------------------- */

static void from_spins(void **state)
{
    (void)state;
    static const uint32_t given[6] = {0, 1, 1, 0, 1, 0};
    static const char *const names[] = {"a.pbm", "a.pgm", "a.ppm"};
    gbs_error err = {0};
    gbs_image image;
    for (size_t i = 0; i < 3; i++) {
        uint32_t x[6];
        assert_int_equal(gbs_image_from_spins(
                             given, 3, 2, i == 0 ? GBS_IMAGE_BITMAP : GBS_IMAGE_GREY, &image, &err),
                         GBS_OK);
        assert_int_equal(image.sample[1], i == 0 ? 1 : 255);
        write_image(&image, scratch_path(names[i]), 0);
        gbs_image_free(&image);
        image = read_path(scratch_path(names[i]));
        assert_int_equal(gbs_image_to_spins(&image, 0, x, &err), GBS_OK);
        assert_memory_equal(x, given, sizeof x);
        gbs_image_free(&image);
    }
    static const uint32_t wrong[2] = {0, 2};
    assert_int_equal(gbs_image_from_spins(wrong, 2, 1, GBS_IMAGE_GREY, &image, &err),
                     GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "row 0, column 1: found state 2, expected less than 2");
    assert_int_equal(gbs_image_from_spins(given, 2, 1, GBS_IMAGE_COLOR, &image, &err),
                     GBS_ERR_ARGUMENT);
}

static void from_labels(void **state)
{
    (void)state;
    static const uint8_t first[9][3] = {{0, 0, 0},     {230, 159, 0},  {86, 180, 233},
                                        {0, 158, 115}, {240, 228, 66}, {0, 114, 178},
                                        {213, 94, 0},  {204, 121, 167}};
    uint32_t given[256];
    uint32_t x[256];
    gbs_error err = {0};
    gbs_image image;
    for (uint32_t i = 0; i < 256; i++) {
        given[i] = 255 - i;
    }
    assert_int_equal(gbs_image_from_labels(given, 128, 2, 256, &image, &err), GBS_OK);
    assert_int_equal(image.n_colors, 256);
    assert_memory_equal(image.color, first, 24);
    for (size_t a = 0; a < 256; a++) { /* all different */
        for (size_t b = 0; b < a; b++) {
            assert_int_not_equal(memcmp(image.color[a], image.color[b], 3), 0);
        }
    }
    assert_int_equal(gbs_image_to_labels(&image, 256, x, &err), GBS_OK);
    assert_memory_equal(x, given, sizeof x);
    gbs_image_free(&image);
    assert_int_equal(gbs_image_from_labels(given, 2, 2, 257, &image, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_image_from_labels(given, 2, 2, 255, &image, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_image_from_labels(given + 250, 3, 2, 6, &image, &err), GBS_OK);
    assert_int_equal(image.n_colors, 6);
#ifdef GBSI_HAVE_PNG
    write_image(&image, scratch_path("l.png"), 0);
    gbs_image back = read_path(scratch_path("l.png"));
    expect_same(&image, &back);
    gbs_image_free(&back);
#endif
    gbs_image_free(&image);
}

static void from_probabilities(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_image image;
    static const double p[6] = {0, 1, 0.5, 0.25, 1.0 / 65535, 0.4999 / 65535};
    static const uint16_t expected[6] = {0, 65535, 32768, 16384, 1, 0};
    assert_int_equal(gbs_image_from_probabilities(p, 3, 2, &image, &err), GBS_OK);
    assert_true(image.kind == GBS_IMAGE_GREY && image.maxval == 65535);
    assert_memory_equal(image.sample, expected, sizeof expected);
    gbs_image_free(&image);
    static const double wrong[3] = {1.0000001, -1e-300, NAN};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(gbs_image_from_probabilities(wrong + i, 1, 1, &image, &err),
                         GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "row 0, column 0: found "));
    }
}

/* ---- files of states --------------------------------------------------------------------- */

/* Makes four variables with these numbers of states. */
static gbs_model *make_model(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    char text[64];
    (void)snprintf(text, sizeof text, "MARKOV 4 %u %u %u %u 0", a, b, c, d);
    return read_model("m.uai", text, NULL);
}

static const char *file_of(const char *bytes, size_t n)
{
    const char *path = scratch_path("p");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void expect_start(const gbs_model *m, const char *path, const char *expected)
{
    uint32_t x[4] = {9, 9, 9, 9};
    gbs_error err = {0};
    if (gbs_state_read(path, m, NULL, x, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(x[i], expected[i] - '0');
    }
}

static void refuse_start(const gbs_model *m, const char *text, const char *part)
{
    uint32_t x[4] = {9, 9, 9, 9};
    gbs_error err = {0};
    const char *path = file_of(text, strlen(text));
    assert_int_equal(gbs_state_read(path, m, NULL, x, &err), GBS_ERR_FORMAT);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", err.message, part);
    }
    assert_true(x[0] == 9 && x[3] == 9);
    assert_int_equal(gbs_state_read(path, m, NULL, x, NULL), GBS_ERR_FORMAT);
}

static void starts(void **state)
{
    (void)state;
    gbs_model *two = make_model(2, 2, 2, 2);
    gbs_model *five = make_model(5, 5, 5, 5);
    gbs_model *mixed = make_model(2, 3, 2, 2);
    expect_start(two, file_of(BYTES("0 1 1 0")), "0110");
    expect_start(two, file_of(BYTES("P1 2 2 0110")), "0110");
    expect_start(two, file_of(BYTES("P2 4 1 255 0 200 255 1")), "0110");
    expect_start(two, file_of(BYTES("P3 1 4 9 9 9 9 0 0 0 9 9 9 9 9 9")), "1011");
    expect_start(five, file_of(BYTES("P2 2 2 255 4 0 3 2")), "4032");
    refuse_start(
        two, "P1 3 2 011000",
        "p: found a picture of 3 x 2 (width x height) = 6 pixels, expected one for each of "
        "the 4 variables of the model");
    refuse_start(five, "P2 2 2 255 4 0 5 2",
                 "p: row 1, column 0: found a pixel of value 5, expected a state: less than 5");
    refuse_start(five, "P3 4 1 1 0 0 0 0 0 0 0 0 0 0 0 0", "p: found a picture in colour");
    refuse_start(mixed, "P1 2 2 0110", "the numbers of states of the model's variables differ");
    refuse_start(two, "P1 2 2 01x0", "p:1:10: found 'x'");
#ifdef GBSI_HAVE_PNG
    /* If only the first two colours of a palette occur, pixels are indices; otherwise lightness
     * decides. */
    gbs_error err = {0};
    gbs_image image = make_image(GBS_IMAGE_PALETTE, 255);
    image.width = 2;
    image.height = 2;
    memcpy(image.sample, (uint16_t[4]){0, 1, 0, 1}, 4 * sizeof(uint16_t));
    image.color[0][0] = image.color[0][1] = image.color[0][2] = 255;
    assert_int_equal(gbs_image_write(&image, scratch_path("a.png"), NULL, &err), GBS_OK);
    expect_start(two, scratch_path("a.png"), "0101");
    image.sample[1] = 3;
    assert_int_equal(gbs_image_write(&image, scratch_path("a.png"), NULL, &err), GBS_OK);
    expect_start(two, scratch_path("a.png"), "1110");
    gbs_image_free(&image);
#endif
    gbs_model_free(two);
    gbs_model_free(five);
    gbs_model_free(mixed);
}

static void expect_evidence(gbs_evidence *evidence, const char *expected)
{
    for (uint32_t v = 0; v < 4; v++) {
        uint32_t x = 9;
        int is = gbs_evidence_state(evidence, v, &x);
        assert_int_equal(is, expected[v] != '-');
        assert_true(!is || x == (uint32_t)(expected[v] - '0'));
    }
}

static void refuse_evidence(gbs_evidence *evidence, const char *text, uint32_t index,
                            gbs_status status, const char *part)
{
    gbs_error err = {0};
    const char *path = file_of(text, strlen(text));
    assert_int_equal(gbs_evidence_read(evidence, path, index, NULL, &err), status);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", err.message, part);
    }
}

static void evidence(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_evidence *e = NULL;
    gbs_model *m = make_model(2, 3, 4, 5); /* arities may differ */
    assert_int_equal(gbs_evidence_new(m, &e, &err), GBS_OK);
    refuse_evidence(e, "P2 2 2 255 1 2 4 255", 0, GBS_ERR_FORMAT,
                    "p: row 1, column 0: found a pixel of value 4, expected a state of its "
                    "variable, less than 4, or 255 or transparent for not observed");
    refuse_evidence(e, "P2 2 2 254 1 2 3 254", 0, GBS_ERR_FORMAT, "value 254");
    refuse_evidence(e, "P2 2 1 255 1 2", 0, GBS_ERR_FORMAT, "= 2 pixels, expected one for each");
    refuse_evidence(e, "P3 4 1 1 0 0 0 0 0 0 0 0 0 0 0 0", 0, GBS_ERR_FORMAT, "in colour");
    refuse_evidence(e, "P2 2 2 255 1 2 3 255", 1, GBS_ERR_ARGUMENT,
                    "the file has 1 (counted from 0)");
    expect_evidence(e, "----");
    assert_int_equal(gbs_evidence_read(e, file_of(BYTES("P2 2 2 255 1 255 3 255")), 0, NULL, &err),
                     GBS_OK);
    expect_evidence(e, "1-3-");
    refuse_evidence(e, "P2 2 2 255 0 2 3 4", 0, GBS_ERR_FORMAT,
                    "found pixel 0 in state 0, but its variable was observed in state 1 already");
    expect_evidence(e, "1-3-");
    assert_int_equal(gbs_evidence_read(e, file_of(BYTES("P2 2 2 255 1 2 255 255")), 0, NULL, &err),
                     GBS_OK);
    expect_evidence(e, "123-");
    gbs_evidence_free(e);
    assert_int_equal(gbs_evidence_new(m, &e, &err), GBS_OK);
    assert_int_equal(gbs_evidence_read(e, file_of(BYTES("P1 4 1 0110")), 0, NULL, &err), GBS_OK);
    expect_evidence(e, "0110");
    gbs_evidence_free(e);
    gbs_model_free(m);
    m = make_model(256, 256, 2, 2); /* 255 is a state if samples have more than 8 bits */
    assert_int_equal(gbs_evidence_new(m, &e, &err), GBS_OK);
    refuse_evidence(e, "P2 4 1 65535 255 3 0 255", 0, GBS_ERR_FORMAT, "row 0, column 3");
    assert_int_equal(gbs_evidence_read(e, file_of(BYTES("P2 4 1 65535 255 3 0 1")), 0, NULL, &err),
                     GBS_OK);
    uint32_t x = 0;
    assert_true(gbs_evidence_state(e, 0, &x) && x == 255);
    gbs_evidence_free(e);
    gbs_model_free(m);
}

/* masked.png is grey with alpha, 2 x 2. The pixels 1 and 0 are visible; 9 and 200 are hidden. */
static void masked_evidence(void **state)
{
    (void)state;
#ifdef GBSI_HAVE_PNG
    gbs_error err = {0};
    gbs_evidence *e = NULL;
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model *m = make_model(2, 2, 2, 2);
    assert_int_equal(gbs_evidence_new(m, &e, &err), GBS_OK);
    assert_int_equal(gbs_evidence_read(e, data_path("masked.png"), 0, &options, &err), GBS_OK);
    expect_evidence(e, "1-0-");
    assert_int_equal(warned.n, 0);
    gbs_evidence_free(e);
    /* A start needs a state for every pixel, also for hidden ones. */
    uint32_t x[4];
    assert_int_equal(gbs_state_read(data_path("masked.png"), m, &options, x, &err), GBS_OK);
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 1);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "masked.png: dropped the transparency of 2 pixels"));
    gbs_model_free(m);
#else
    skip(); /* this build cannot read PNG */
#endif
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *m = make_model(5, 5, 5, 5);
    const char *path = file_of(BYTES("P2 2 2 255 4 0 3 2"));
    for (int what = 0; what < 2; what++) {
        uint64_t allowed = 0;
        for (gbs_status status = GBS_ERR_MEMORY; status != GBS_OK; allowed++) {
            gbs_evidence *e = NULL;
            uint32_t x[4];
            assert_int_equal(gbs_evidence_new(m, &e, &err), GBS_OK);
            gbsi_alloc_fail_after(allowed);
            status = what == 0 ? gbs_state_read(path, m, NULL, x, &err)
                               : gbs_evidence_read(e, path, 0, NULL, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            expect_evidence(e, what == 1 && status == GBS_OK ? "4032" : "----");
            gbs_evidence_free(e);
        }
        assert_true(allowed > 2);
    }
    gbs_model_free(m);
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
        cmocka_unit_test(spins),           cmocka_unit_test(labels),
        cmocka_unit_test(levels),          cmocka_unit_test(from_spins),
        cmocka_unit_test(from_labels),     cmocka_unit_test(from_probabilities),
        cmocka_unit_test(starts),          cmocka_unit_test(evidence),
        cmocka_unit_test(masked_evidence), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
