/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the model of a noisy picture with its formula, and estimated parameters with the
 * parameters that made a picture. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "denoise/testing.h"
#include "gibbsite/denoise.h"
#include "gibbsite/image.h"

static double test_uniform(test_random *random)
{
    return (double)(next_random(&random->state) >> 11) * 0x1p-53;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* ln p(x | y) up to a constant, by the formula of gibbsite/denoise.h, pairs in both directions. */
static double formula(const gbs_image *y, const gbs_denoise_options *o, const uint32_t *x)
{
    double sum = 0.0;
    for (int i = 0; i < (int)(y->width * y->height); i++) {
        const int r = i / (int)y->width;
        const int c = i % (int)y->width;
        const double shown =
            o->labels ? y->sample[i] : (double)y->sample[i] * (o->levels - 1) / y->maxval;
        const double off = (shown - x[i]) / o->noise_level;
        sum += o->noise == GBS_NOISE_GAUSS  ? -off * off / 2
               : floor(shown + 0.5) == x[i] ? log(1 - o->noise_level)
                                            : log(o->noise_level / (o->levels - 1));
        for (int j = 0; j < (int)(y->width * y->height); j++) {
            const int dr = abs(r - j / (int)y->width);
            const int dc = abs(c - j % (int)y->width);
            const double apart = fabs((double)x[i] - (double)x[j]);
            const double d = o->smoothing == GBS_SMOOTHING_POTTS
                                 ? apart > 0
                                 : fmin(apart * apart, o->truncation > 0 ? o->truncation : 1e9);
            if (dr + dc == 1 || (dr == 1 && dc == 1 && o->neighbours == 8)) {
                sum -= 0.5 * o->coupling * d / sqrt(dr + dc);
            }
        }
    }
    return sum;
}

static void models_are_their_formula(void **state)
{
    (void)state;
    test_random random = {11};
    for (int trial = 0; trial < 300; trial++) {
        gbs_denoise_options o = {.size = sizeof o,
                                 .levels = 2 + test_below(&random, 4),
                                 .labels = test_below(&random, 4) == 0,
                                 .noise = (gbs_noise)test_below(&random, 2),
                                 .noise_level = 0.05 + 0.4 * test_uniform(&random),
                                 .smoothing = (gbs_smoothing)test_below(&random, 2),
                                 .coupling = 2 * test_uniform(&random),
                                 .neighbours = test_below(&random, 2) == 0 ? 4 : 8};
        o.noise = o.labels ? GBS_NOISE_FLIP : o.noise;
        o.truncation = test_below(&random, 2) == 0 ? 0.0 : 0.5 + 4 * test_uniform(&random);
        gbs_image y = grey(1 + test_below(&random, 5), 1 + test_below(&random, 5), 200);
        const size_t n = (size_t)y.width * y.height;
        uint32_t x[2][25];
        for (size_t i = 0; i < n; i++) {
            y.sample[i] = (uint16_t)test_below(&random, o.labels ? o.levels : 201);
            x[0][i] = test_below(&random, o.levels);
            x[1][i] = test_below(&random, o.levels);
        }
        gbs_model *m = NULL;
        assert_int_equal(gbs_denoise_model(&y, &o, &m, NULL), GBS_OK);
        assert_int_equal(gbs_model_n_variables(m), n);
        const double found = gbs_model_log_density(m, x[0]) - gbs_model_log_density(m, x[1]);
        const double expected = formula(&y, &o, x[0]) - formula(&y, &o, x[1]);
        assert_true(fabs(found - expected) < 1e-9);
        gbs_model_free(m);
        gbs_image_free(&y);
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* A picture has three levels, and two of four pixels are wrong; the marginals are 0.8 on one level.
 */
static void errors_are_counted(void **state)
{
    (void)state;
    gbs_image truth = grey(2, 2, 2);
    gbs_image noisy = grey(2, 2, 2);
    const gbs_denoise_options o = {
        .size = sizeof o, .levels = 3, .noise_level = 0.2, .coupling = 1.0};
    memcpy(truth.sample, (uint16_t[]){0, 1, 2, 2}, 8);
    memcpy(noisy.sample, (uint16_t[]){0, 0, 0, 2}, 8);
    const double p[12] = {0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.8, 0.1, 0.1, 0.1, 0.1, 0.8};
    gbs_denoise_errors e = {.size = sizeof e};
    assert_int_equal(gbs_denoise_compare(&truth, &noisy, &o, p, &e, NULL), GBS_OK);
    assert_true(e.noisy_wrong == 0.5 && e.wrong == 0.25);
    assert_true(fabs(e.expected_wrong - 0.2) < 1e-12);
    assert_true(e.noisy_square == (1.0 + 4.0) / 4);
    assert_true(fabs(e.square - (0.09 + 0.0 + 1.7 * 1.7 + 0.09) / 4) < 1e-12);
    gbs_image image = {0};
    assert_int_equal(gbs_denoise_draw(&noisy, &o, p, GBS_DENOISE_MODE, &image, NULL), GBS_OK);
    assert_memory_equal(image.sample, ((uint16_t[]){0, 128, 0, 255}), 8);
    gbs_image_free(&image);
    assert_int_equal(gbs_denoise_draw(&noisy, &o, p, GBS_DENOISE_MEAN, &image, NULL), GBS_OK);
    assert_in_range(image.sample[3], 55704, 55705); /* 65535 * 1.7 / 2 */
    gbs_image_free(&image);
    assert_int_equal(gbs_denoise_draw(&noisy, &o, p, GBS_DENOISE_UNCERTAINTY, &image, NULL),
                     GBS_OK);
    assert_in_range(image.sample[0], 19660, 19661); /* 65535 * 0.2 / (2 / 3) */
    gbs_image_free(&image);
    gbs_image_free(&truth);
    gbs_image_free(&noisy);
}

static void pictures_keep_their_kind(void **state)
{
    (void)state;
    gbs_image noisy = {0};
    gbs_image image = {0};
    const uint32_t level[4] = {1, 0, 0, 1};
    gbs_denoise_options o = {.size = sizeof o, .levels = 2, .noise_level = 0.2, .coupling = 1.0};
    assert_int_equal(gbs_image_new(GBS_IMAGE_BITMAP, 2, 2, 1, 0, &noisy, NULL), GBS_OK);
    assert_int_equal(gbs_denoise_draw_levels(&noisy, &o, level, &image, NULL), GBS_OK);
    assert_int_equal(image.kind, GBS_IMAGE_BITMAP);
    assert_memory_equal(image.sample, ((uint16_t[]){1, 0, 0, 1}), 8);
    gbs_image_free(&image);
    const double p[8] = {0, 1, 1, 0, 0.5, 0.5, 0, 1}; /* level 1 is black */
    assert_int_equal(gbs_denoise_draw(&noisy, &o, p, GBS_DENOISE_MEAN, &image, NULL), GBS_OK);
    assert_true(image.sample[0] == 0 && image.sample[1] == 65535 && image.sample[3] == 0);
    gbs_image_free(&image);
    gbs_image_free(&noisy);
    o.labels = 1;
    assert_int_equal(gbs_image_new(GBS_IMAGE_PALETTE, 2, 2, 255, 3, &noisy, NULL), GBS_OK);
    noisy.color[1][2] = 77;
    assert_int_equal(gbs_denoise_draw_levels(&noisy, &o, level, &image, NULL), GBS_OK);
    assert_int_equal(image.kind, GBS_IMAGE_PALETTE);
    assert_int_equal(image.color[1][2], 77);
    gbs_image_free(&image);
    gbs_image_free(&noisy);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static gbs_status keep_last(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    uint32_t **x = context;
    (void)draw;
    (void)log_density;
    (void)err;
    if (chain == 0) {
        memcpy(x[0], state, (size_t)(uintptr_t)x[1] * sizeof *state);
    }
    return GBS_OK;
}

/* Draws a picture from the prior. */
static void draw_prior(const gbs_denoise_options *o, uint32_t side, uint64_t seed, uint32_t *x)
{
    gbs_image flat = grey(side, side, 250);
    gbs_denoise_options prior = *o;
    gbs_model *m = NULL;
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    uint32_t *context[2] = {x, (uint32_t *)((size_t)side * side)};
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = context, .draw = keep_last};
    prior.noise = GBS_NOISE_GAUSS;
    prior.labels = 0;
    prior.noise_level = 1e6; /* so much noise that the pixels give no information */
    options.method = GBS_METHOD_SAMPLE;
    options.temper = GBS_TEMPER_OFF;
    options.seed = seed;
    options.sweeps = options.thin = 400;
    assert_int_equal(gbs_denoise_model(&flat, &prior, &m, NULL), GBS_OK);
    assert_int_equal(gbs_run_new(m, NULL, &options, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, &callbacks, NULL) >= 0);
    gbs_run_free(run);
    gbs_model_free(m);
    gbs_image_free(&flat);
}

static double normal(test_random *random)
{
    double sum = -6.0; /* of twelve uniform numbers: near enough */
    for (int i = 0; i < 12; i++) {
        sum += test_uniform(random);
    }
    return sum;
}

/* @return the noisy value of a level. Level a is the grey value 100 (a + 2), which leaves values
 * for noise beyond the levels. */
static uint16_t seen(const gbs_denoise_options *o, uint32_t x, test_random *random)
{
    if (o->noise == GBS_NOISE_GAUSS) {
        const double value = 100.0 * (x + o->noise_level * normal(random));
        const double most = 100.0 * (o->levels - 1);
        return (uint16_t)(value < 0.0 ? 0.0 : (value > most ? most : value));
    }
    const bool flips = test_uniform(random) < o->noise_level;
    return (uint16_t)(flips ? (x + 1 + test_below(random, o->levels - 1)) % o->levels : x);
}

/* Pictures of 120 x 120 pixels determine their parameters with these errors. Normal noise is small,
 * because pictures cut it off at black and white. */
static void parameters_are_found(void **state)
{
    (void)state;
    enum { SIDE = 120, N = SIDE * SIDE };
    static uint32_t x[N];
    static const gbs_denoise_options made[] = {
        {.size = sizeof made[0], .levels = 2, .labels = 1, .noise_level = 0.08, .coupling = 0.8},
        {.size = sizeof made[0], .levels = 4, .labels = 1, .noise_level = 0.1, .coupling = 1.05},
        {.size = sizeof made[0],
         .levels = 5,
         .noise = GBS_NOISE_GAUSS,
         .noise_level = 0.3,
         .smoothing = GBS_SMOOTHING_QUADRATIC,
         .truncation = 2.0,
         .coupling = 0.5,
         .neighbours = 8},
    };
    for (size_t k = 0; k < test_share(sizeof made / sizeof made[0], 1); k++) {
        const gbs_denoise_options *o = &made[k];
        gbs_image y = grey(SIDE, SIDE, o->labels ? 255 : 100 * (o->levels - 1));
        test_random random = {k};
        draw_prior(o, SIDE, 3 + k, x);
        for (size_t i = 0; i < N; i++) {
            y.sample[i] = seen(o, x[i], &random);
        }
        gbs_denoise_options start = *o;
        gbs_denoise_found found = {.size = sizeof found};
        start.noise_level = o->labels ? 0.3 : 1.0;
        start.coupling = 0.3;
        assert_int_equal(gbs_denoise_estimate(&y, &start, 1, 1, 1, 2, NULL, &found, NULL), GBS_OK);
        print_message("noise %.4f +- %.4f of %.4f, coupling %.4f +- %.4f of %.4f\n",
                      found.noise_level, found.noise_error, o->noise_level, found.coupling,
                      found.coupling_error, o->coupling);
        assert_true(fabs(found.noise_level - o->noise_level) < 0.03);
        assert_true(fabs(found.coupling - o->coupling) < 0.15);
        gbs_image_free(&y);
    }
}

/* One level, normal noise of 0.3: a median of 16256 sizes has a standard error of 0.003 here. */
static void neighbours_tell_the_noise(void **unused)
{
    enum { SIDE = 128 };
    gbs_image y = grey(SIDE, SIDE, 1000);
    test_random random = {5};
    gbs_denoise_options o = {.size = sizeof o,
                             .levels = 11, /* 100 apart */
                             .noise = GBS_NOISE_GAUSS,
                             .noise_level = 1.0,
                             .coupling = 0.5};
    gbs_denoise_found found = {.size = sizeof found};
    (void)unused;
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        double sum = -6.0; /* of twelve uniform numbers: variance 1 */
        for (int k = 0; k < 12; k++) {
            sum += test_uniform(&random);
        }
        y.sample[i] = (uint16_t)(500.0 + 30.0 * sum + 0.5);
    }
    assert_int_equal(gbs_denoise_estimate(&y, &o, 1, 0, 1, 2, NULL, &found, NULL), GBS_OK);
    assert_true(fabs(found.neighbour_noise - 0.3) < 0.02);
    o.noise = GBS_NOISE_FLIP;
    o.noise_level = 0.5;
    assert_int_equal(gbs_denoise_estimate(&y, &o, 1, 0, 1, 2, NULL, &found, NULL), GBS_OK);
    assert_true(found.neighbour_noise == 0.0);
    gbs_image_free(&y);
}

/* A grey picture of 16 x 16 pixels of these values, in turn. */
static gbs_image of_values(const uint16_t *value, size_t n, uint32_t maxval)
{
    gbs_image image = grey(16, 16, maxval);
    for (size_t i = 0; i < 256; i++) {
        image.sample[i] = value[i % n];
    }
    return image;
}

static void noise_follows_the_picture(void **state)
{
    (void)state;
    static const uint16_t spread[] = {0, 20, 60, 110, 150, 190, 230, 255};
    static const uint16_t jpeg[] = {0, 3, 250, 255, 12, 243, 1, 2};
    static const struct {
        uint16_t value[4];
        size_t n;
        uint32_t maxval, levels;
        gbs_noise noise;
    } cases[] = {
        {{0, 255}, 2, 255, 2, GBS_NOISE_FLIP},
        {{60, 180}, 2, 255, 2, GBS_NOISE_FLIP},
        {{0, 1}, 2, 1, 2, GBS_NOISE_FLIP},
        {{255}, 1, 255, 2, GBS_NOISE_FLIP},
        {{0, 120, 255}, 3, 255, 2, GBS_NOISE_GAUSS},
        {{100, 120}, 2, 255, 2, GBS_NOISE_GAUSS}, /* both are nearest to black */
        {{0, 85, 170, 255}, 4, 255, 4, GBS_NOISE_FLIP},
        {{0, 85, 170, 255}, 4, 255, 2, GBS_NOISE_GAUSS},
        {{0, 1, 2, 3}, 4, 3, 4, GBS_NOISE_FLIP},
        {{0, 1, 2, 3}, 4, 7, 8, GBS_NOISE_GAUSS}, /* all values are levels: they tell nothing */
        {{0, 255}, 2, 255, 256, GBS_NOISE_GAUSS},
        {{0, 65535}, 2, 65535, 2, GBS_NOISE_FLIP},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        gbs_image image = of_values(cases[k].value, cases[k].n, cases[k].maxval);
        if (gbs_denoise_noise_of(&image, cases[k].levels, 0) != cases[k].noise) {
            fail_msg("case %zu", k);
        }
        assert_int_equal(gbs_denoise_noise_of(&image, cases[k].levels, 1), GBS_NOISE_FLIP);
        gbs_image_free(&image);
    }
    gbs_image image = of_values(spread, 8, 255);
    assert_int_equal(gbs_denoise_noise_of(&image, 0, 0), GBS_NOISE_GAUSS);
    gbs_image_free(&image);
    image = of_values(jpeg, 8, 255);
    assert_int_equal(gbs_denoise_noise_of(&image, 2, 0), GBS_NOISE_FLIP);
    gbs_image_free(&image);
}

/* 4 neighbours sway a pixel by 4 couplings, so that it is frozen where 1 / (2 s^2) of two levels is
 * 20.7 more than that. */
static void noise_freezes(void **state)
{
    (void)state;
    static const uint16_t value[] = {0, 255, 100};
    gbs_image image = of_values(value, 2, 255);
    gbs_denoise_options o = {.size = sizeof o, .noise = GBS_NOISE_GAUSS, .coupling = 1.0};
    gbs_run_options run = gbs_run_options_default();
    uint64_t n = 7;
    o.noise_level = sqrt(0.5 / 24.6);
    assert_int_equal(gbs_denoise_frozen(&image, &o, &n, NULL), GBS_OK);
    assert_int_equal(n, 0);
    assert_int_equal(gbs_denoise_limit(&image, &o, &run, NULL), GBS_OK);
    assert_int_equal(run.sweeps, 0);
    o.noise_level = sqrt(0.5 / 24.8);
    assert_int_equal(gbs_denoise_frozen(&image, &o, &n, NULL), GBS_OK);
    assert_int_equal(n, 256);
    assert_int_equal(gbs_denoise_limit(&image, &o, &run, NULL), GBS_OK);
    assert_int_equal(run.sweeps, 16);
    o.neighbours = 8;
    assert_int_equal(gbs_denoise_frozen(&image, &o, &n, NULL), GBS_OK);
    assert_int_equal(n, 0);
    gbs_image_free(&image);
    image = of_values(value, 3, 255); /* 100 is a fifth of a level from the border: 1 - 2 x 0.392 */
    o.neighbours = 4;
    assert_int_equal(gbs_denoise_frozen(&image, &o, &n, NULL), GBS_OK);
    assert_int_equal(n, 256 - 85);
    assert_int_equal(gbs_denoise_frozen(&image, &o, NULL, NULL), GBS_ERR_ARGUMENT);
    gbs_image_free(&image);
}

/* The verdict of a run of any kind names the noise. */
static void frozen_runs_say_so(void **state)
{
    (void)state;
    static const uint16_t value[] = {0, 255, 255};
    for (int kind = 0; kind < 2; kind++) {
        gbs_image image = grey(64, 64, 255);
        for (size_t i = 0; i < 64 * 64; i++) {
            image.sample[i] = value[i * i % 3];
        }
        const gbs_denoise_options o = {.size = sizeof o,
                                       .noise = kind == 0 ? GBS_NOISE_GAUSS : GBS_NOISE_FLIP,
                                       .noise_level = kind == 0 ? 0.001 : 1e-15,
                                       .coupling = 1.0};
        gbs_run_options options = gbs_run_options_default();
        gbs_model *model = NULL;
        gbs_run *run = NULL;
        options.method = GBS_METHOD_SAMPLE;
        options.threads = 1;
        assert_int_equal(gbs_denoise_limit(&image, &o, &options, NULL), GBS_OK);
        assert_int_equal(gbs_denoise_run(&image, &o, &options, &model, &run, NULL), GBS_OK);
        assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
        assert_non_null(
            strstr(gbs_run_report(run)->verdict, "the model is frozen: try a larger --noise"));
        assert_false(gbs_run_report(run)->converged);
        gbs_run_free(run);
        gbs_model_free(model);
        gbs_image_free(&image);
    }
}

static void misuse_is_refused(void **state)
{
    (void)state;
    gbs_image y = grey(2, 2, 255);
    gbs_model *m = NULL;
    const gbs_denoise_options good = {
        .size = sizeof good, .levels = 3, .noise_level = 0.2, .coupling = 1.0};
    gbs_denoise_options o[] = {good, good, good, good, good, good, good, good, good};
    o[0].levels = 1;
    o[1].levels = 257;
    o[2].noise_level = 0.0;
    o[3].noise_level = 0.7; /* 1 - 1/3 says nothing */
    o[4].coupling = -0.1;
    o[5].neighbours = 6;
    o[6].truncation = -1.0;
    o[7].labels = 1, o[7].noise = GBS_NOISE_GAUSS;
    o[8].labels = 1;
    y.sample[3] = 3; /* no label of three */
    for (size_t i = 0; i < sizeof o / sizeof o[0]; i++) {
        assert_int_equal(gbs_denoise_model(&y, &o[i], &m, NULL), GBS_ERR_ARGUMENT);
    }
    assert_null(m);
    gbs_image_free(&y);
}

/* Runs without a limit get 2^33 updates times levels, and at least 16 sweeps. */
static void large_pictures_end(void **unused)
{
    static const struct {
        uint32_t width, levels;
        uint64_t sweeps;
    } large[] = {{1023, 4, 0}, {1024, 4, 2048}, {1024, 64, 128}, {2048, 256, 32}};
    gbs_run_options run = gbs_run_options_default();
    (void)unused;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        gbs_image image = grey(large[i].width, 256, 255);
        const gbs_denoise_options how = {.size = sizeof how,
                                         .levels = large[i].levels,
                                         .noise = GBS_NOISE_GAUSS,
                                         .noise_level = 1.0};
        run = gbs_run_options_default();
        assert_int_equal(gbs_denoise_limit(&image, &how, &run, NULL), GBS_OK);
        assert_int_equal(run.sweeps, large[i].sweeps);
        assert_true(run.target_error == (run.sweeps == 0 ? 0.0 : 0.005));
        run = gbs_run_options_default();
        run.time_s = 5.0;
        assert_int_equal(gbs_denoise_limit(&image, &how, &run, NULL), GBS_OK);
        assert_int_equal(run.sweeps, 0);
        assert_int_equal(gbs_denoise_limit(&image, &how, NULL, NULL), GBS_ERR_ARGUMENT);
        gbs_image_free(&image);
    }
}

static int stop_at_once(void *context, const gbs_progress *progress)
{
    ++*(int *)context;
    return progress->elapsed_s >= 0.0;
}

static int never_stop(void *context, const gbs_progress *progress)
{
    (void)progress;
    ++*(int *)context;
    return 0;
}

/* The picture has more factors than are made between two looks of the watch. */
static void making_a_model_can_be_stopped(void **state)
{
    (void)state;
    gbs_image y = grey(300, 200, 1);
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    int n_calls = 0;
    gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &n_calls, .progress = stop_at_once};
    gbs_denoise_options how = {.size = sizeof how,
                               .levels = 2,
                               .noise_level = 0.1,
                               .coupling = 1.0,
                               .callbacks = &callbacks};
    assert_int_equal(gbs_denoise_model(&y, &how, &model, &err), GBS_ERR_STOPPED);
    assert_null(model);
    assert_int_equal(n_calls, 1);
    n_calls = 0;
    callbacks.progress = never_stop;
    assert_int_equal(gbs_denoise_model(&y, &how, &model, &err), GBS_OK);
    assert_true(n_calls > 0);
    gbs_model_free(model);
    gbs_image_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_their_formula),
        cmocka_unit_test(errors_are_counted),
        cmocka_unit_test(pictures_keep_their_kind),
        cmocka_unit_test(parameters_are_found),
        cmocka_unit_test(noise_follows_the_picture),
        cmocka_unit_test(noise_freezes),
        cmocka_unit_test(frozen_runs_say_so),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(large_pictures_end),
        cmocka_unit_test(neighbours_tell_the_noise),
        cmocka_unit_test(making_a_model_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
