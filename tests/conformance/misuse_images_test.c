/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for pictures and what is made of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/denoise.h"
#include "gibbsite/image.h"
#include "gibbsite/segment.h"
#include "support/misuse.h"

static void images_from(void **state)
{
    (void)state;
    gbs_image image = {0};
    const uint32_t x[2] = {0, 2};
    const double p[2] = {0.5, 1.5};
    REFUSED(gbs_image_new(GBS_IMAGE_GREY, 2, 1, 255, 0, NULL, &err));
    REFUSED(gbs_image_new(GBS_IMAGE_GREY, 0, 1, 255, 0, &image, &err));
    REFUSED(gbs_image_new((gbs_image_kind)9, 2, 1, 255, 0, &image, &err));
    REFUSED(gbs_image_read(NULL, NULL, &image, &err));
    REFUSED(gbs_image_read("x", NULL, NULL, &err));
    REFUSED(gbs_image_read_memory(NULL, "P1", 2, NULL, &image, &err));
    REFUSED(gbs_image_read_memory("x", NULL, 2, NULL, &image, &err));
    REFUSED(gbs_image_read_memory("x", "P1", 2, NULL, NULL, &err));
    REFUSED(gbs_image_from_spins(NULL, 2, 1, GBS_IMAGE_GREY, &image, &err));
    REFUSED(gbs_image_from_spins(x, 2, 1, GBS_IMAGE_GREY, NULL, &err));
    REFUSED(gbs_image_from_spins(x, 2, 1, GBS_IMAGE_GREY, &image, &err)); /* state 2 */
    REFUSED(gbs_image_from_spins(x, 2, 1, GBS_IMAGE_COLOR, &image, &err));
    REFUSED(gbs_image_from_labels(NULL, 2, 1, 2, &image, &err));
    REFUSED(gbs_image_from_labels(x, 2, 1, 2, &image, &err));
    REFUSED(gbs_image_from_labels(x, 2, 1, 257, &image, &err));
    REFUSED(gbs_image_from_levels(NULL, 2, 1, 2, &image, &err));
    REFUSED(gbs_image_from_levels(x, 2, 1, 2, &image, &err));
    REFUSED(gbs_image_from_levels(x, 2, 1, 0, &image, &err));
    REFUSED(gbs_image_from_probabilities(NULL, 2, 1, &image, &err));
    REFUSED(gbs_image_from_probabilities(p, 2, 1, &image, &err));
    REFUSED(gbs_image_from_probabilities(p, 1, 1, NULL, &err));
    REFUSED(gbs_image_from_probabilities(p, 0, 1, &image, &err));
    assert_null(image.sample);
    gbs_image_free(&image);
    gbs_image_free(NULL);
}

/* Pictures that no reader makes: a caller may fill the struct in. */
static void images_to(void **state)
{
    (void)state;
    gbs_image image = {0};
    gbs_image broken = {.kind = GBS_IMAGE_GREY, .width = 2, .height = 1, .channels = 1};
    uint32_t x[2];
    REFUSED(gbs_image_to_spins(&broken, 0, x, &err)); /* neither samples nor a maxval */
    REFUSED(gbs_image_to_labels(&broken, 2, x, &err));
    REFUSED(gbs_image_to_levels(&broken, 2, x, &err));
    REFUSED(gbs_image_write(&broken, "x.pgm", NULL, &err));
    FINE(gbs_image_new(GBS_IMAGE_PALETTE, 2, 1, 255, 2, &image, &err));
    REFUSED(gbs_image_to_spins(NULL, 0, x, &err));
    REFUSED(gbs_image_to_spins(&image, 0, NULL, &err));
    REFUSED(gbs_image_to_spins(&image, 256, x, &err));
    REFUSED(gbs_image_to_labels(NULL, 2, x, &err));
    REFUSED(gbs_image_to_labels(&image, 2, NULL, &err));
    REFUSED(gbs_image_to_levels(NULL, 2, x, &err));
    REFUSED(gbs_image_to_levels(&image, 2, NULL, &err));
    REFUSED(gbs_image_to_levels(&image, 0, x, &err));
    REFUSED(gbs_image_write(NULL, "x.png", NULL, &err));
    REFUSED(gbs_image_write(&image, NULL, NULL, &err));
    REFUSED(gbs_image_write(&image, "x.jpg", NULL, &err));
    image.sample[1] = 60000; /* no such colour */
    REFUSED(gbs_image_to_spins(&image, 0, x, &err));
    REFUSED(gbs_image_to_labels(&image, UINT32_MAX, x, &err));
    REFUSED(gbs_image_to_levels(&image, 2, x, &err));
    REFUSED(gbs_image_write(&image, "x.ppm", NULL, &err));
    image.n_colors = 0;
    REFUSED(gbs_image_write(&image, "x.ppm", NULL, &err));
    gbs_image_free(&image);
}

static void denoising(void **state)
{
    (void)state;
    gbs_image y = {0};
    gbs_image image = {0};
    gbs_image broken = {.kind = GBS_IMAGE_GREY, .width = 2, .height = 1, .channels = 1};
    gbs_model *m = NULL;
    gbs_denoise_errors e = {.size = sizeof e};
    gbs_denoise_found f = {.size = sizeof f};
    const double p[4] = {0.5, 0.5, 0.5, 0.5};
    const uint32_t x[2] = {0, 2};
    const gbs_denoise_options o = {
        .size = sizeof o, .levels = 2, .noise_level = 0.1, .coupling = 1.0};
    gbs_denoise_options small = o;
    small.size = 3;
    FINE(gbs_image_new(GBS_IMAGE_GREY, 2, 1, 255, 0, &y, &err));
    gbs_run_options limited = gbs_run_options_default();
    REFUSED(gbs_denoise_limit(NULL, &o, &limited, &err));
    REFUSED(gbs_denoise_limit(&y, NULL, &limited, &err));
    REFUSED(gbs_denoise_limit(&y, &o, NULL, &err));
    gbs_run *run = NULL;
    REFUSED(gbs_denoise_run(NULL, &o, &limited, &m, &run, &err));
    REFUSED(gbs_denoise_run(&y, NULL, &limited, &m, &run, &err));
    REFUSED(gbs_denoise_run(&y, &o, &limited, NULL, &run, &err));
    REFUSED(gbs_denoise_run(&y, &o, &limited, &m, NULL, &err));
    REFUSED(gbs_denoise_run(&broken, &o, &limited, &m, &run, &err));
    uint64_t n_frozen = 0;
    REFUSED(gbs_denoise_frozen(NULL, &o, &n_frozen, &err));
    REFUSED(gbs_denoise_frozen(&y, NULL, &n_frozen, &err));
    REFUSED(gbs_denoise_frozen(&y, &o, NULL, &err));
    assert_int_equal(gbs_denoise_noise_of(NULL, 2, 0), GBS_NOISE_FLIP);
    REFUSED(gbs_denoise_model(NULL, &o, &m, &err));
    REFUSED(gbs_denoise_model(&y, NULL, &m, &err));
    REFUSED(gbs_denoise_model(&y, &small, &m, &err));
    REFUSED(gbs_denoise_model(&y, &o, NULL, &err));
    REFUSED(gbs_denoise_model(&broken, &o, &m, &err)); /* neither samples nor a maxval */
    REFUSED(gbs_denoise_draw(&y, &o, NULL, GBS_DENOISE_MODE, &image, &err));
    REFUSED(gbs_denoise_draw(&y, &o, p, GBS_DENOISE_MODE, NULL, &err));
    REFUSED(gbs_denoise_draw(&y, &o, p, (gbs_denoise_picture)9, &image, &err));
    REFUSED(gbs_denoise_draw(NULL, &o, p, GBS_DENOISE_MODE, &image, &err));
    REFUSED(gbs_denoise_draw_levels(&y, &o, NULL, &image, &err));
    REFUSED(gbs_denoise_draw_levels(&y, &o, x, NULL, &err));
    REFUSED(gbs_denoise_draw_levels(&y, &o, x, &image, &err)); /* level 2 of two */
    REFUSED(gbs_denoise_compare(NULL, &y, &o, p, &e, &err));
    REFUSED(gbs_denoise_compare(&y, NULL, &o, p, &e, &err));
    REFUSED(gbs_denoise_compare(&y, &y, &o, NULL, &e, &err));
    REFUSED(gbs_denoise_compare(&y, &y, &o, p, NULL, &err));
    REFUSED(gbs_denoise_estimate(NULL, &o, 1, 1, 1, 1, NULL, &f, &err));
    REFUSED(gbs_denoise_estimate(&y, NULL, 1, 1, 1, 1, NULL, &f, &err));
    REFUSED(gbs_denoise_estimate(&y, &o, 1, 1, 1, 1, NULL, NULL, &err));
    e.size = 0;
    f.size = 0;
    REFUSED(gbs_denoise_compare(&y, &y, &o, p, &e, &err));
    REFUSED(gbs_denoise_estimate(&y, &o, 1, 1, 1, 1, NULL, &f, &err));
    assert_true(m == NULL && image.sample == NULL);
    gbs_image_free(&y);
}

static const char aspects_text[] = "gibbsite-aspects 1\nside 4\nstep 2\ncells 1\ntexture "
                                   "1\n%s\ncolor 1\n0 0 0 0 0 0 0 0\nclasses 2\n"
                                   "class a\n1\n1\n1\nclass b\n1\n1\n1\n";

/* Classes of one word of each kind. */
static gbs_aspects *make_aspects(void)
{
    char zeros[257];
    char text[600];
    gbs_aspects *aspects = NULL;
    for (int i = 0; i < 128; i++) {
        memcpy(zeros + 2 * i, "0 ", 3);
    }
    (void)snprintf(text, sizeof text, aspects_text, zeros);
    FINE(gbs_aspects_read_memory("a", text, strlen(text), &aspects, &err));
    return aspects;
}

static void aspects_refused(void **state)
{
    (void)state;
    gbs_aspects *aspects = NULL;
    gbs_aspect_report little = {.size = 1};
    const gbs_aspect_options shorter = {.size = 1};
    const gbs_aspect_options small = {.size = sizeof small, .side = 3};
    const gbs_aspect_options apart = {.size = sizeof apart, .step = 2000};
    REFUSED(gbs_aspects_learn(NULL, NULL, NULL, &aspects, NULL, &err));
    REFUSED(gbs_aspects_learn("none", NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_aspects_learn("none", &shorter, NULL, &aspects, NULL, &err));
    REFUSED(gbs_aspects_learn("none", &small, NULL, &aspects, NULL, &err));
    REFUSED(gbs_aspects_learn("none", &apart, NULL, &aspects, NULL, &err));
    REFUSED(gbs_aspects_learn("none", NULL, NULL, &aspects, &little, &err));
    assert_int_equal(gbs_aspects_learn("/none/none", NULL, NULL, &aspects, NULL, NULL), GBS_ERR_IO);
    REFUSED(gbs_aspects_read(NULL, &aspects, &err));
    REFUSED(gbs_aspects_read("none", NULL, &err));
    REFUSED(gbs_aspects_read_memory(NULL, "a", 1, &aspects, &err));
    REFUSED(gbs_aspects_read_memory("a", NULL, 1, &aspects, &err));
    REFUSED(gbs_aspects_read_memory("a", "a", 1, NULL, &err));
    REFUSED(gbs_aspects_write(NULL, "none", &err));
    assert_null(aspects);
    aspects = make_aspects();
    REFUSED(gbs_aspects_write(aspects, NULL, &err));
    assert_int_equal(gbs_aspects_n_classes(aspects), 2);
    assert_int_equal(gbs_aspects_n_classes(NULL), 0);
    assert_null(gbs_aspects_class_name(NULL, 0));
    assert_null(gbs_aspects_class_name(aspects, 2));
    gbs_aspects_free(aspects);
    gbs_aspects_free(NULL);
}

static void segments_refused(void **state)
{
    (void)state;
    gbs_aspects *aspects = make_aspects();
    gbs_image image = {0};
    gbs_image small = {0};
    gbs_image out = {0};
    gbs_segment *segment = NULL;
    gbs_model *model = NULL;
    uint32_t *sequence = NULL;
    size_t n = 0;
    gbs_segment_score score[3];
    const uint32_t label[4] = {0, 1, 1, 0};
    const uint32_t beyond[4] = {0, 1, 2, 0};
    const gbs_rectangle inside = {0, 0, 1, 1};
    const gbs_rectangle outside = {0, 1, 1, 2};
    const gbs_segment_options shorter = {.size = 1};
    const gbs_segment_options coupled = {.size = sizeof coupled, .coupling = -1.0};
    const gbs_segment_options neighbours = {.size = sizeof neighbours, .neighbours = 5};
    FINE(gbs_image_new(GBS_IMAGE_GREY, 6, 6, 255, 0, &image, &err));
    FINE(gbs_image_new(GBS_IMAGE_GREY, 3, 6, 255, 0, &small, &err));
    REFUSED(gbs_segment_new(NULL, &image, NULL, NULL, &segment, &err));
    REFUSED(gbs_segment_new(aspects, NULL, NULL, NULL, &segment, &err));
    REFUSED(gbs_segment_new(aspects, &out, NULL, NULL, &segment, &err));
    REFUSED(gbs_segment_new(aspects, &small, NULL, NULL, &segment, &err));
    REFUSED(gbs_segment_new(aspects, &image, &shorter, NULL, &segment, &err));
    REFUSED(gbs_segment_new(aspects, &image, &coupled, NULL, &segment, &err));
    REFUSED(gbs_segment_new(aspects, &image, &neighbours, NULL, &segment, &err));
    REFUSED(gbs_segment_new(aspects, &image, NULL, NULL, NULL, &err));
    assert_null(segment);
    FINE(gbs_segment_new(aspects, &image, NULL, NULL, &segment, &err));
    REFUSED(gbs_segment_model(NULL, &model, &err));
    REFUSED(gbs_segment_model(segment, NULL, &err));
    REFUSED(gbs_segment_scan(NULL, &inside, NULL, NULL, &sequence, &n, NULL, &err));
    REFUSED(gbs_segment_scan(segment, NULL, NULL, NULL, &sequence, &n, NULL, &err));
    REFUSED(gbs_segment_scan(segment, &outside, NULL, NULL, &sequence, &n, NULL, &err));
    REFUSED(gbs_segment_scan(segment, &inside, NULL, NULL, NULL, &n, NULL, &err));
    REFUSED(gbs_segment_scan(segment, &inside, NULL, NULL, &sequence, NULL, NULL, &err));
    REFUSED(gbs_segment_draw(NULL, &image, label, NULL, GBS_SEGMENT_MAP, &out, &err));
    REFUSED(gbs_segment_draw(segment, NULL, label, NULL, GBS_SEGMENT_MAP, &out, &err));
    REFUSED(gbs_segment_draw(segment, &small, label, NULL, GBS_SEGMENT_MAP, &out, &err));
    REFUSED(gbs_segment_draw(segment, &image, NULL, NULL, GBS_SEGMENT_MAP, &out, &err));
    REFUSED(gbs_segment_draw(segment, &image, beyond, NULL, GBS_SEGMENT_MAP, &out, &err));
    REFUSED(gbs_segment_draw(segment, &image, label, &outside, GBS_SEGMENT_MAP, &out, &err));
    REFUSED(gbs_segment_draw(segment, &image, label, NULL, (gbs_segment_picture)7, &out, &err));
    REFUSED(gbs_segment_draw(segment, &image, label, NULL, GBS_SEGMENT_MAP, NULL, &err));
    REFUSED(gbs_segment_compare(NULL, &image, label, NULL, score, &err));
    REFUSED(gbs_segment_compare(segment, NULL, label, NULL, score, &err));
    REFUSED(gbs_segment_compare(segment, &small, label, NULL, score, &err));
    REFUSED(gbs_segment_compare(segment, &image, NULL, NULL, score, &err));
    REFUSED(gbs_segment_compare(segment, &image, beyond, NULL, score, &err));
    REFUSED(gbs_segment_compare(segment, &image, label, &outside, score, &err));
    REFUSED(gbs_segment_compare(segment, &image, label, NULL, NULL, &err));
    assert_true(model == NULL && sequence == NULL && out.sample == NULL);
    assert_int_equal(gbs_segment_rows(segment), 2);
    assert_true(gbs_segment_rows(NULL) == 0 && gbs_segment_columns(NULL) == 0);
    assert_true(gbs_segment_shares(NULL) == NULL && gbs_segment_alone(NULL) == NULL);
    gbs_segment_free(segment);
    gbs_segment_free(NULL);
    gbs_aspects_free(aspects);
    gbs_image_free(&image);
    gbs_image_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_from),      cmocka_unit_test(images_to),
        cmocka_unit_test(denoising),        cmocka_unit_test(aspects_refused),
        cmocka_unit_test(segments_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
