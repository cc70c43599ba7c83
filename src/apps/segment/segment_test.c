/* SPDX-License-Identifier: Apache-2.0 */
/* Learns classes from pictures that the test makes, and segments pictures. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "gibbsite/model.h"
#include "segment/aspects.h"
#include "simd/math.h"

enum { SIDE = 120, CLASSES = 4 };

static void ok(gbs_status status)
{
    assert_true(status >= 0);
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* @return the noisy grey value of a pixel of a class: horizontal stripes, vertical stripes,
 * squares, or a flat grey. */
static uint16_t grey_of(uint32_t class_number, uint32_t row, uint32_t column, uint64_t *random)
{
    const uint32_t across = row / 3 % 2;
    const uint32_t down = column / 3 % 2;
    const uint32_t on = class_number == 0   ? across
                        : class_number == 1 ? down
                        : class_number == 2 ? (row / 5 + column / 5) % 2
                                            : 0;
    const int base = class_number == 3 ? 127 : on ? 150 : 104;
    return (uint16_t)(base + (int)(next_random(random) % 25) - 12);
}

/* @return the class of a pixel: classes fill a half of the picture, or the middle of the other
 * half. */
static uint32_t class_at(const uint32_t *shown, uint32_t row, uint32_t column)
{
    return column < SIDE / 2 ? shown[0] : row < SIDE / 2 ? shown[1] : shown[2];
}

static gbs_image make(const uint32_t *shown, uint64_t seed, gbs_image *truth)
{
    gbs_image image = {0};
    ok(gbs_image_new(GBS_IMAGE_GREY, SIDE, SIDE, 255, 0, &image, NULL));
    if (truth != NULL) {
        ok(gbs_image_new(GBS_IMAGE_GREY, SIDE, SIDE, 255, 0, truth, NULL));
    }
    for (uint32_t r = 0; r < SIDE; r++) {
        for (uint32_t c = 0; c < SIDE; c++) {
            const uint32_t a = class_at(shown, r, c);
            image.sample[r * SIDE + c] = grey_of(a, r, c, &seed);
            if (truth != NULL) {
                truth->sample[r * SIDE + c] = (uint16_t)a;
            }
        }
    }
    return image;
}

/* A folder with six pictures and their list. */
typedef struct training {
    char folder[64], list[96];
    gbs_aspects *aspects;
    gbs_aspect_report report;
} training;

static const uint32_t shows[6][3] = {{0, 1, 1}, {1, 2, 2}, {2, 3, 3},
                                     {3, 0, 0}, {0, 2, 3}, {1, 3, 1}};

static void write_list(const training *t, const char *text)
{
    FILE *file = fopen(t->list, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void set_up(training *t)
{
    char text[512] = "# pictures and what they show\n\n";
    *t = (training){.report = {.size = sizeof t->report}};
    (void)snprintf(t->folder, sizeof t->folder, "segment_test_XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    (void)snprintf(t->list, sizeof t->list, "%s/list.txt", t->folder);
    for (uint32_t k = 0; k < 6; k++) {
        char path[96];
        char line[96];
        gbs_image image = make(shows[k], 100 + k, NULL);
        (void)snprintf(path, sizeof path, "%s/%u.pgm", t->folder, k);
        ok(gbs_image_write(&image, path, NULL, NULL));
        gbs_image_free(&image);
        (void)snprintf(line, sizeof line, "%u.pgm\tk%u k%u k%u\n", k, shows[k][0], shows[k][1],
                       shows[k][2]);
        strcat(text, line);
    }
    write_list(t, text);
}

static void tear_down(training *t)
{
    for (uint32_t k = 0; k < 6; k++) {
        char path[96];
        (void)snprintf(path, sizeof path, "%s/%u.pgm", t->folder, k);
        (void)remove(path);
    }
    (void)remove(t->list);
    (void)rmdir(t->folder);
    gbs_aspects_free(t->aspects);
}

static gbs_status learn(training *t, uint64_t threads, gbs_aspects **aspects)
{
    const gbs_aspect_options options = {.size = sizeof options,
                                        .threads = threads,
                                        .texture_words = 30,
                                        .color_words = 8,
                                        .position_cells = 2};
    return gbs_aspects_learn(t->list, &options, NULL, aspects, &t->report, NULL);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static double share_right(const gbs_segment *segment, const gbs_image *truth, const uint32_t *label)
{
    gbs_segment_score score[CLASSES + 1];
    ok(gbs_segment_compare(segment, truth, label, NULL, score, NULL));
    return (double)score[CLASSES].n_right / (double)score[CLASSES].n_patches;
}

/* Samples the field from chains that start at the most probable classes without neighbours, and
 * takes the most frequent states. */
static double sampled(const gbs_segment *segment, const gbs_image *truth)
{
    const uint32_t n = gbs_segment_rows(segment) * gbs_segment_columns(segment);
    uint32_t *label = calloc(n, sizeof *label);
    double *p = calloc((size_t)n * CLASSES, sizeof *p);
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    ok(gbs_segment_model(segment, &model, NULL));
    assert_int_equal(gbs_model_n_variables(model), n);
    options.method = GBS_METHOD_SAMPLE;
    options.start = gbs_segment_alone(segment);
    options.sweeps = 200;
    ok(gbs_run_new(model, NULL, &options, &run, NULL));
    ok(gbs_run_execute(run, NULL, NULL));
    ok(gbs_run_marginals(run, p, NULL, NULL, NULL, NULL));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t a = 1; a < CLASSES; a++) {
            label[i] = p[i * CLASSES + a] > p[i * CLASSES + label[i]] ? a : label[i];
        }
    }
    const double share = share_right(segment, truth, label);
    gbs_run_free(run);
    gbs_model_free(model);
    free(label);
    free(p);
    return share;
}

static void learns(void **state)
{
    (void)state;
    static const uint32_t shown[3] = {2, 0, 1};
    const gbs_segment_options options = {.size = sizeof options, .coupling = GBS_SEGMENT_COUPLING};
    training t;
    gbs_image truth = {0};
    gbs_segment *segment = NULL;
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    assert_int_equal(t.report.n_pictures, 6);
    assert_int_equal(t.report.n_patches, 6 * 11 * 11);
    assert_int_equal(t.report.n_words[GBSI_WORD_PLACE], 4);
    assert_int_equal(t.report.converged, 1);
    assert_string_equal(gbs_aspects_class_name(t.aspects, 2), "k2");
    gbs_image picture = make(shown, 7, &truth);
    ok(gbs_segment_new(t.aspects, &picture, &options, NULL, &segment, NULL));
    assert_int_equal(gbs_segment_rows(segment), 11);
    const double alone = share_right(segment, &truth, gbs_segment_alone(segment));
    const double field = sampled(segment, &truth);
    assert_true(alone > 0.8);
    assert_true(field > 0.9);
    assert_true(field >= alone);
    /* Class 3 is not shown, class 2 on a half. */
    assert_true(gbs_segment_shares(segment)[3] < 0.1);
    assert_true(gbs_segment_shares(segment)[2] > 0.35 && gbs_segment_shares(segment)[2] < 0.65);
    gbs_segment_free(segment);
    gbs_image_free(&picture);
    gbs_image_free(&truth);
    tear_down(&t);
}

/* Compares the field with equation 1 of Verbeek & Triggs and the Potts prior, computed by hand. */
static void is_the_field(void **state)
{
    (void)state;
    static const uint32_t shown[3] = {1, 1, 3};
    const gbs_segment_options options = {.size = sizeof options, .coupling = 0.7, .neighbours = 8};
    training t;
    gbs_segment *s = NULL;
    gbs_model *model = NULL;
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    gbs_image picture = make(shown, 9, NULL);
    ok(gbs_segment_new(t.aspects, &picture, &options, NULL, &s, NULL));
    ok(gbs_segment_model(s, &model, NULL));
    const uint32_t n = gbs_model_n_variables(model);
    uint32_t *x = calloc(n, sizeof *x);
    double energy[2] = {0.0, 0.0};
    double by_hand[2] = {0.0, 0.0};
    uint64_t random = 3;
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < n; i++) {
            x[i] = (uint32_t)(next_random(&random) % CLASSES);
        }
        energy[k] = gbs_model_log_density(model, x);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t *word = s->word + (size_t)i * GBSI_WORD_KINDS;
            const int row = (int)(i / 11);
            const int column = (int)(i % 11);
            by_hand[k] += gbsi_log(s->share[x[i]]);
            for (int m = 0; m < GBSI_WORD_KINDS; m++) {
                by_hand[k] += gbsi_log(t.aspects->beta[m][word[m] * CLASSES + x[i]]);
            }
            for (uint32_t j = 0; j < i; j++) {
                const int down = row - (int)(j / 11);
                const int across = column - (int)(j % 11);
                by_hand[k] += down <= 1 && across >= -1 && across <= 1 && x[i] == x[j] ? 0.7 : 0.0;
            }
        }
    }
    assert_true(energy[0] - energy[1] - (by_hand[0] - by_hand[1]) < 1e-9);
    assert_true(energy[0] - energy[1] - (by_hand[0] - by_hand[1]) > -1e-9);
    free(x);
    gbs_model_free(model);
    gbs_segment_free(s);
    gbs_image_free(&picture);
    tear_down(&t);
}

static void same_bits(void **state)
{
    (void)state;
    training t;
    gbs_aspects *other = NULL;
    gbs_aspects *read = NULL;
    char path[128];
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    ok(learn(&t, 3, &other));
    (void)snprintf(path, sizeof path, "%s/k.aspects", t.folder);
    ok(gbs_aspects_write(other, path, NULL));
    ok(gbs_aspects_read(path, &read, NULL));
    gbs_aspects *const both[2] = {other, read};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(both[k]->n_classes, CLASSES);
        assert_memory_equal(both[k]->texture.centre, t.aspects->texture.centre,
                            (size_t)t.aspects->texture.n * GBSI_TEXTURE * sizeof(float));
        for (int m = 0; m < GBSI_WORD_KINDS; m++) {
            assert_int_equal(both[k]->n_words[m], t.aspects->n_words[m]);
            assert_memory_equal(both[k]->beta[m], t.aspects->beta[m],
                                (size_t)both[k]->n_words[m] * CLASSES * sizeof(double));
        }
    }
    (void)remove(path);
    gbs_aspects_free(other);
    gbs_aspects_free(read);
    tear_down(&t);
}

/* A scan for a rectangle has the variation of one systematic scan, in fewer updates. */
static void scans_rectangle(void **state)
{
    (void)state;
    static const uint32_t shown[3] = {1, 1, 3};
    const gbs_segment_options options = {.size = sizeof options, .coupling = 0.48};
    const gbs_rectangle middle = {4, 4, 3, 3};
    const gbs_rectangle outside = {9, 4, 3, 3};
    gbs_scan_report report = {.size = sizeof report};
    training t;
    gbs_segment *segment = NULL;
    uint32_t *sequence = NULL;
    size_t n = 0;
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    gbs_image picture = make(shown, 9, NULL);
    ok(gbs_segment_new(t.aspects, &picture, &options, NULL, &segment, NULL));
    ok(gbs_segment_scan(segment, &middle, NULL, NULL, &sequence, &n, &report, NULL));
    assert_true(n < 121 / 2);
    assert_true(report.after <= report.goal);
    assert_int_equal(gbs_segment_scan(segment, &outside, NULL, NULL, &sequence, &n, NULL, NULL),
                     GBS_ERR_ARGUMENT);
    gbs_free(sequence);
    gbs_segment_free(segment);
    gbs_image_free(&picture);
    tear_down(&t);
}

static void draws(void **state)
{
    (void)state;
    static const uint32_t shown[3] = {2, 0, 1};
    const gbs_rectangle middle = {2, 3, 4, 5};
    training t;
    gbs_image truth = {0};
    gbs_image map = {0};
    gbs_image overlay = {0};
    gbs_segment *segment = NULL;
    uint32_t label[121];
    size_t white = 0;
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    gbs_image picture = make(shown, 7, &truth);
    ok(gbs_segment_new(t.aspects, &picture, NULL, NULL, &segment, NULL));
    for (uint32_t i = 0; i < 121; i++) {
        label[i] = i % CLASSES;
    }
    ok(gbs_segment_draw(segment, &picture, label, NULL, GBS_SEGMENT_MAP, &map, NULL));
    assert_int_equal(map.kind, GBS_IMAGE_PALETTE);
    for (uint32_t i = 0; i < 121; i++) { /* the centre of each patch */
        assert_int_equal(map.sample[(i / 11 * 10 + 10) * SIDE + i % 11 * 10 + 10], label[i]);
    }
    ok(gbs_segment_draw(segment, &picture, label, &middle, GBS_SEGMENT_OVERLAY, &overlay, NULL));
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        white += overlay.sample[3 * i] == 255 && overlay.sample[3 * i + 1] == 255 &&
                 overlay.sample[3 * i + 2] == 255;
    }
    assert_int_equal(white, 2 * 40 + 2 * 50 - 4); /* a frame, one pixel wide */
    /* patches are compared by the class of most of their pixels */
    gbs_segment_score score[CLASSES + 1];
    ok(gbs_segment_compare(segment, &truth, label, &middle, score, NULL));
    assert_int_equal(score[CLASSES].n_patches, 20);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        truth.sample[i] = 200; /* no class */
    }
    ok(gbs_segment_compare(segment, &truth, label, NULL, score, NULL));
    assert_int_equal(score[CLASSES].n_patches, 0);
    label[5] = CLASSES;
    assert_int_equal(gbs_segment_draw(segment, &picture, label, NULL, GBS_SEGMENT_MAP, &map, NULL),
                     GBS_ERR_ARGUMENT);
    gbs_image_free(&map);
    gbs_image_free(&overlay);
    gbs_image_free(&truth);
    gbs_image_free(&picture);
    gbs_segment_free(segment);
    tear_down(&t);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *list, *message; /* a part of it */
    } cases[] = {
        {"", ":1:1: found the end of the file, expected a picture and the classes"},
        {"0.pgm\n", ":1:6: found the end of the line, expected names of the classes"},
        {"0.pgm a b\n1.pgm b a\n", ":1:9: found the classes a and b in the same pictures"},
        {"0.pgm a\n1.pgm a\n", ":1:7: found no class but a, expected at least two"},
        {"0.pgm a\n\nnone.pgm b\n", ":3:1: "},
        {"list.txt a\n0.pgm b\n", ":1:1: "},
    };
    training t;
    set_up(&t);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        gbs_aspects *aspects = NULL;
        write_list(&t, cases[i].list);
        assert_int_equal(gbs_aspects_learn(t.list, NULL, NULL, &aspects, NULL, &err),
                         GBS_ERR_FORMAT);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_null(aspects);
    }
    const gbs_aspect_options large = {.size = sizeof large, .side = 121 + SIDE};
    gbs_error err = {0};
    gbs_aspects *aspects = NULL;
    write_list(&t, "0.pgm a\n1.pgm b\n");
    assert_int_equal(gbs_aspects_learn(t.list, &large, NULL, &aspects, NULL, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "expected at least one patch"));
    tear_down(&t);
}

/* A damaged file is read, or refused with a position in the message. */
static void damaged_files(void **state)
{
    (void)state;
    training t;
    char path[128];
    static char bytes[1 << 18];
    uint64_t random = 5;
    size_t n_read = 0;
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    (void)snprintf(path, sizeof path, "%s/k.aspects", t.folder);
    ok(gbs_aspects_write(t.aspects, path, NULL));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_true(n > 1000 && n < sizeof bytes);
    for (int k = 0; k < 300; k++) {
        gbs_aspects *read = NULL;
        gbs_error err = {0};
        const size_t range = k % 2 == 0 ? 120 : n; /* the head of the file determines sizes */
        const size_t at = next_random(&random) % range;
        const char kept = bytes[at];
        bytes[at] = (char)(32 + next_random(&random) % 95);
        const size_t length = k % 3 == 0 ? next_random(&random) % n : n;
        const gbs_status status = gbs_aspects_read_memory("k", bytes, length, &read, &err);
        bytes[at] = kept;
        assert_true(status >= 0 || status == GBS_ERR_FORMAT);
        assert_true(status >= 0 || strncmp(err.message, "k:", 2) == 0);
        n_read += status >= 0;
        gbs_aspects_free(read);
    }
    assert_true(n_read > 0 && n_read < 300);
    (void)remove(path);
    tear_down(&t);
}

/* A grey picture has equal words if it is stored in colour or with a palette. */
static void kinds_of_pictures(void **state)
{
    (void)state;
    static const uint32_t shown[3] = {2, 0, 1};
    training t;
    gbs_segment *segment[3] = {NULL};
    gbs_image picture[3] = {{0}};
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    picture[0] = make(shown, 7, NULL);
    ok(gbs_image_new(GBS_IMAGE_COLOR, SIDE, SIDE, 255, 0, &picture[1], NULL));
    ok(gbs_image_new(GBS_IMAGE_PALETTE, SIDE, SIDE, 255, 256, &picture[2], NULL));
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        const uint16_t grey = picture[0].sample[i];
        picture[2].sample[i] = (uint16_t)(255 - grey);
        for (size_t c = 0; c < 3; c++) {
            picture[1].sample[3 * i + c] = grey;
            picture[2].color[255 - grey][c] = (uint8_t)grey;
        }
    }
    for (int k = 0; k < 3; k++) {
        ok(gbs_segment_new(t.aspects, &picture[k], NULL, NULL, &segment[k], NULL));
        assert_memory_equal(segment[k]->word, segment[0]->word,
                            gbsi_segment_n(segment[0]) * GBSI_WORD_KINDS * sizeof(uint32_t));
    }
    for (int k = 0; k < 3; k++) {
        gbs_segment_free(segment[k]);
        gbs_image_free(&picture[k]);
    }
    tear_down(&t);
}

/* Each request for memory that fails leaves nothing behind. */
static void memory_fails(void **state)
{
    (void)state;
    static const uint32_t shown[3] = {2, 0, 1};
    training t;
    set_up(&t);
    ok(learn(&t, 1, &t.aspects));
    gbs_image picture = make(shown, 7, NULL);
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t k = 0; status < 0; k += 1 + k / 16) {
        gbs_aspects *aspects = NULL;
        gbs_segment *segment = NULL;
        gbs_model *model = NULL;
        gbsi_alloc_fail_after(k);
        status = learn(&t, 1, &aspects);
        if (status >= 0) {
            status = gbs_segment_new(aspects, &picture, NULL, NULL, &segment, NULL);
        }
        if (status >= 0) {
            status = gbs_segment_model(segment, &model, NULL);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status >= 0 || status == GBS_ERR_MEMORY || status == GBS_ERR_FORMAT);
        gbs_model_free(model);
        gbs_segment_free(segment);
        gbs_aspects_free(aspects);
        assert_true(k < 3000);
    }
    gbs_image_free(&picture);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns),        cmocka_unit_test(is_the_field),
        cmocka_unit_test(same_bits),     cmocka_unit_test(scans_rectangle),
        cmocka_unit_test(draws),         cmocka_unit_test(refuses),
        cmocka_unit_test(damaged_files), cmocka_unit_test(kinds_of_pictures),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
