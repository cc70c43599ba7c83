/* SPDX-License-Identifier: Apache-2.0 */
/* Tests when runs of pictures without factors are chosen, and that they give the answers of runs of
 * the model. */
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
#include "gibbsite/checkpoint.h"
#include "gibbsite/denoise.h"
#include "gibbsite/image.h"

/* ---- bit by bit ------------------------------------------------------------------------------ */

static const gbs_denoise_options of_flips = {.size = sizeof of_flips,
                                             .levels = 2,
                                             .noise = GBS_NOISE_FLIP,
                                             .noise_level = 0.125,
                                             .coupling = 1.25};

/* Tests which options of large pictures of two levels are set, and which options prevent a change.
 */
static void large_pictures_of_two_levels_are_run_in_bits(void **unused)
{
    (void)unused;
    gbs_image image = grey(1024, 512, 255);
    gbs_denoise_options how = of_flips;
    gbs_run_options run = gbs_run_options_default();
    assert_int_equal(gbs_denoise_limit(&image, &how, &run, NULL), GBS_OK);
    assert_int_equal(run.method, GBS_METHOD_SAMPLE);
    assert_int_equal(run.lattice, GBS_LATTICE_ALWAYS);
    assert_int_equal(run.estimator, GBS_ESTIMATOR_RAO_BLACKWELL);
    assert_int_equal(run.chains, 4);
    assert_int_equal(run.sweeps, (UINT64_C(1) << 33) / (4 * 2 * 1024 * 512));
    run = gbs_run_options_default();
    run.estimator = GBS_ESTIMATOR_COUNT;
    run.chains = 8;
    run.sweeps = 7;
    assert_int_equal(gbs_denoise_limit(&image, &how, &run, NULL), GBS_OK);
    assert_int_equal(run.lattice, GBS_LATTICE_ALWAYS);
    assert_int_equal(run.estimator, GBS_ESTIMATOR_COUNT);
    assert_int_equal(run.chains, 8);
    assert_int_equal(run.sweeps, 7);
    run = gbs_run_options_default(); /* sixteen chains, as asked for: sweeps are counted for them */
    how.keep_chains = 1;
    assert_int_equal(gbs_denoise_limit(&image, &how, &run, NULL), GBS_OK);
    assert_int_equal(run.lattice, GBS_LATTICE_ALWAYS);
    assert_int_equal(run.chains, 16);
    assert_int_equal(run.sweeps, (UINT64_C(1) << 33) / (16 * 2 * 1024 * 512));
    for (int i = 0; i < 5; i++) {
        how = of_flips;
        run = gbs_run_options_default();
        run.target_error = i == 0 ? 0.01 : 0.0;
        run.temper = i == 1 ? 8 : run.temper;
        run.lattice = i == 2 ? GBS_LATTICE_NEVER : run.lattice;
        run.draw = i == 3 ? GBS_DRAW_HERDED : run.draw;
        run.method = i == 4 ? GBS_METHOD_MEAN_FIELD : run.method;
        assert_int_equal(gbs_denoise_limit(&image, &how, &run, NULL), GBS_OK);
        assert_int_equal(run.lattice, i == 2 ? GBS_LATTICE_NEVER : GBS_LATTICE_AUTO);
        assert_int_equal(run.chains, 16);
    }
    gbs_image_free(&image);
    image = grey(1 << 15, 47, 255); /* a tree of width 47 may answer it */
    run = gbs_run_options_default();
    assert_int_equal(gbs_denoise_limit(&image, &of_flips, &run, NULL), GBS_OK);
    assert_int_equal(run.lattice, GBS_LATTICE_AUTO);
    gbs_image_free(&image);
}

static gbs_run_options in_bits(gbs_estimator_kind estimator)
{
    gbs_run_options run = gbs_run_options_default();
    run.method = GBS_METHOD_SAMPLE;
    run.estimator = (int)estimator;
    run.lattice = estimator == GBS_ESTIMATOR_RAO_BLACKWELL ? GBS_LATTICE_ALWAYS : run.lattice;
    run.chains = 4;
    run.sweeps = test_share(64, 8);
    run.burn_in = 3;
    run.threads = 2;
    return run;
}

static void execute(gbs_run *run)
{
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
}

/* Checks that the run without factors has the bits of the run of the model. @param shown of one
 * pixel in this many, black. */
static void check_bits(uint32_t width, uint32_t height, uint32_t shown,
                       gbs_estimator_kind estimator)
{
    const gbs_run_options options = in_bits(estimator);
    const size_t n_states = (size_t)2 * width * height;
    gbs_image image = grey(width, height, 1);
    gbs_model *model = NULL;
    gbs_model *pixels = NULL;
    gbs_run *of_model = NULL;
    gbs_run *of_picture = NULL;
    test_random random = {.state = width};
    for (size_t i = 0; i < n_states / 2; i++) {
        image.sample[i] = shown > 0 && test_below(&random, shown) == 0;
    }
    assert_int_equal(gbs_denoise_model(&image, &of_flips, &model, NULL), GBS_OK);
    assert_int_equal(gbs_run_new(model, NULL, &options, &of_model, NULL), GBS_OK);
    assert_int_equal(gbs_denoise_run(&image, &of_flips, &options, &pixels, &of_picture, NULL),
                     GBS_OK);
    assert_int_equal(gbs_model_n_factors(pixels), 0);
    assert_int_equal(gbs_model_n_variables(pixels), width * height);
    execute(of_model);
    execute(of_picture);
    const gbs_report *a = gbs_run_report(of_model);
    const gbs_report *b = gbs_run_report(of_picture);
    assert_int_equal(a->lattice, GBS_BITS_SITES);
    assert_int_equal(b->lattice, GBS_BITS_SITES);
    assert_string_equal(a->digest, b->digest);
    assert_int_equal(a->converged, b->converged);
    assert_true(a->energy == b->energy && a->max_rhat == b->max_rhat);
    assert_int_equal(gbs_run_checkpoint(of_picture, "x", NULL), GBS_ERR_STATE);
    gbs_run_free(of_model);
    gbs_run_free(of_picture);
    gbs_model_free(model);
    gbs_model_free(pixels);
    gbs_image_free(&image);
}

static void no_factors_are_needed(void **unused)
{
    (void)unused;
    check_bits(200, 150, 3, GBS_ESTIMATOR_COUNT);
    check_bits(64, 48, 2, GBS_ESTIMATOR_RAO_BLACKWELL);
    check_bits(97, 131, 5, GBS_ESTIMATOR_RAO_BLACKWELL);
    check_bits(64, 64, 0, GBS_ESTIMATOR_COUNT);
    check_bits(64, 64, 0, GBS_ESTIMATOR_RAO_BLACKWELL);
}

/* A picture that is not a lattice is run with its model. A run without factors has no checkpoint.
 */
static void other_runs_have_their_model(void **unused)
{
    (void)unused;
    gbs_run_options options = in_bits(GBS_ESTIMATOR_COUNT);
    gbs_image image = grey(60, 60, 1);
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    gbs_error err = {0};
    assert_int_equal(gbs_denoise_run(&image, &of_flips, &options, &model, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run, "x", &err), GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no factors"));
    gbs_run_free(run);
    gbs_model_free(model);
    options.estimator = GBS_ESTIMATOR_RAO_BLACKWELL;
    assert_int_equal(gbs_denoise_run(&image, &of_flips, &options, &model, &run, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_factors(model), 60 * 60 + 2 * 60 * 59);
    gbs_run_free(run);
    gbs_model_free(model);
    gbs_model *const no_model = model;
    options.sweeps = 0;
    options.chains = 0;
    assert_int_equal(gbs_denoise_run(&image, &of_flips, &options, &model, &run, NULL),
                     GBS_ERR_ARGUMENT);
    assert_ptr_equal(model, no_model);
    assert_int_equal(gbs_denoise_run(&image, &of_flips, &options, NULL, &run, NULL),
                     GBS_ERR_ARGUMENT);
    gbs_image_free(&image);
}

/* ---- levels ---------------------------------------------------------------------------------- */

static const gbs_denoise_options of_grey = {.size = sizeof of_grey,
                                            .levels = 8,
                                            .noise = GBS_NOISE_GAUSS,
                                            .noise_level = 1.0,
                                            .coupling = 0.5};

/* Large pictures of more levels, and of two levels that are not a lattice in bits, have no factors.
 */
static void large_pictures_of_levels_have_no_factors(void **unused)
{
    (void)unused;
    gbs_image image = grey(1024, 512, 255);
    for (int i = 0; i < 7; i++) {
        gbs_denoise_options how = i < 3 ? of_flips : of_grey;
        gbs_run_options run = gbs_run_options_default();
        how.neighbours = i == 0 || i == 5 ? 8 : 4;
        how.noise = i == 1 || i > 2 ? GBS_NOISE_GAUSS : GBS_NOISE_FLIP;
        how.noise_level = i == 1 ? 0.5 : how.noise_level; /* less would freeze every pixel */
        how.coupling = i == 2 ? 0.0 : 1.25;               /* no pixel has neighbours */
        run.estimator = i == 4 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL;
        run.target_error = i == 6 ? 0.01 : 0.0;
        assert_int_equal(gbs_denoise_limit(&image, &how, &run, NULL), GBS_OK);
        assert_int_equal(run.lattice, i == 4 ? GBS_LATTICE_AUTO : GBS_LATTICE_ALWAYS);
        assert_int_equal(run.chains, i == 4 ? 16 : 4);
        assert_int_equal(run.sweeps,
                         i == 6 ? 0 : (UINT64_C(1) << 33) / (run.chains * how.levels * 1024 * 512));
    }
    gbs_image_free(&image);
}

static gbs_run_options in_levels(void)
{
    gbs_run_options run = gbs_run_options_default();
    run.method = GBS_METHOD_SAMPLE;
    run.lattice = GBS_LATTICE_ALWAYS;
    run.chains = 4;
    run.sweeps = 2000;
    run.burn_in = 20;
    run.threads = 2;
    return run;
}

typedef struct small_picture {
    uint32_t width, height;
    gbs_denoise_options how;
} small_picture;

/* Pictures with every kind of noise, smoothing and neighbours. Some sides fill blocks of sixteen
 * columns of one parity, others do not. */
static const small_picture small[] = {
    {4, 3, {.levels = 3, .noise_level = 0.3, .coupling = 0.6}},
    {3, 5, {.levels = 2, .noise_level = 0.2, .coupling = 0.9, .neighbours = 8}},
    {5, 3, {.levels = 4, .noise = GBS_NOISE_GAUSS, .noise_level = 0.9, .coupling = 0.4}},
    {1, 7, {.levels = 3, .noise = GBS_NOISE_GAUSS, .noise_level = 0.7, .coupling = 0.8}},
    {9, 1, {.levels = 5, .noise_level = 0.3, .coupling = 0.7, .neighbours = 8}},
    {67, 2, {.levels = 3, .labels = 1, .noise_level = 0.25, .coupling = 0.7}},
    {33, 3, {.levels = 3, .noise_level = 0.3, .coupling = 0.4, .neighbours = 8}},
    {4,
     4,
     {.levels = 5,
      .noise = GBS_NOISE_GAUSS,
      .noise_level = 1.2,
      .coupling = 0.3,
      .smoothing = GBS_SMOOTHING_QUADRATIC,
      .truncation = 3.5}},
    {3,
     3,
     {.levels = 17,
      .noise = GBS_NOISE_GAUSS,
      .noise_level = 3.0,
      .coupling = 0.05,
      .smoothing = GBS_SMOOTHING_QUADRATIC,
      .neighbours = 8}},
    {1, 1, {.levels = 256, .noise = GBS_NOISE_GAUSS, .noise_level = 40.0, .coupling = 1.0}},
};

static gbs_image shown_in(const small_picture *s, uint64_t seed)
{
    gbs_image image = grey(s->width, s->height, s->how.labels ? s->how.levels - 1 : 255);
    test_random random = {seed};
    for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
        image.sample[i] = (uint16_t)test_below(&random, image.maxval + 1);
    }
    return image;
}

static void exact_marginals(const gbs_image *image, const gbs_denoise_options *how, double *p)
{
    gbs_run_options options = gbs_run_options_default();
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    options.method = GBS_METHOD_EXACT;
    assert_int_equal(gbs_denoise_model(image, how, &model, NULL), GBS_OK);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_run_marginals(run, p, NULL, NULL, NULL, NULL), GBS_OK);
    gbs_run_free(run);
    gbs_model_free(model);
}

enum { MOST_STATES = 1024 };

/* Errors in units of the standard errors that the run states itself: their mean square is about 1
 * and the largest has the tail of Student's t. */
static void check_against_exact(const small_picture *s, uint64_t seed)
{
    static double exact[MOST_STATES];
    static double p[MOST_STATES];
    static double mcse[MOST_STATES];
    gbs_denoise_options how = s->how;
    const gbs_run_options options = in_levels();
    const gbs_image image = shown_in(s, seed);
    const size_t n = (size_t)s->width * s->height * how.levels;
    gbs_model *pixels = NULL;
    gbs_run *run = NULL;
    how.size = sizeof how;
    assert_true(n <= MOST_STATES);
    exact_marginals(&image, &how, exact);
    assert_int_equal(gbs_denoise_run(&image, &how, &options, &pixels, &run, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_factors(pixels), 0);
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
    double worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        /* what single precision and draws in units of 2^-24 leave */
        const double off = fabs(p[i] - exact[i]) / (mcse[i] + 2e-6);
        worst = off > worst ? off : worst;
    }
    print_message("%u x %u, %u levels: largest error %.2f standard errors\n", s->width, s->height,
                  how.levels, worst);
    assert_true(worst < 6.0);
    gbs_run_free(run);
    gbs_model_free(pixels);
    gbs_image_free((gbs_image *)(uintptr_t)&image);
}

static void levels_have_their_marginals(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        check_against_exact(&small[i], i + 1);
    }
}

/* A run of levels: its digest, and the largest difference between what sites have and exact. */
static void digest_of(const gbs_image *image, const gbs_denoise_options *how,
                      const gbs_run_options *options, char digest[33])
{
    gbs_model *pixels = NULL;
    gbs_run *run = NULL;
    assert_int_equal(gbs_denoise_run(image, how, options, &pixels, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    memcpy(digest, gbs_run_report(run)->digest, 33);
    gbs_run_free(run);
    gbs_model_free(pixels);
}

static void threads_make_no_difference(void **unused)
{
    (void)unused;
    const small_picture s = {150, 90, of_grey};
    gbs_run_options options = in_levels();
    gbs_image image = shown_in(&s, 3);
    for (uint32_t neighbours = 4; neighbours <= 8; neighbours += 4) {
        gbs_denoise_options how = of_grey;
        char one[33];
        char many[33];
        how.neighbours = neighbours;
        options.sweeps = 5;
        options.threads = 1;
        digest_of(&image, &how, &options, one);
        options.threads = 3;
        digest_of(&image, &how, &options, many);
        assert_string_equal(one, many);
    }
    gbs_image_free(&image);
}

/* Sums of many passes are moved to the totals. The answer must equal the estimate, which keeps its
 * own sums. */
static void long_runs_keep_their_sums(void **unused)
{
    (void)unused;
    const small_picture s = {7, 5, of_grey};
    gbs_run_options options = in_levels();
    gbs_image image = shown_in(&s, 4);
    static double exact[MOST_STATES];
    static double p[MOST_STATES];
    static double mcse[MOST_STATES];
    gbs_model *pixels = NULL;
    gbs_run *run = NULL;
    options.sweeps = 2500;
    exact_marginals(&image, &of_grey, exact);
    assert_int_equal(gbs_denoise_run(&image, &of_grey, &options, &pixels, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
    for (size_t i = 0; i < (size_t)7 * 5; i++) {
        double sum = 0.0;
        for (uint32_t a = 0; a < 8; a++) {
            sum += p[8 * i + a];
            assert_true(fabs(p[8 * i + a] - exact[8 * i + a]) < 6 * mcse[8 * i + a] + 2e-6);
        }
        assert_true(fabs(sum - 1.0) < 1e-5);
    }
    gbs_run_free(run);
    gbs_model_free(pixels);
    gbs_image_free(&image);
}

/* In a large picture all sites have probabilities, and some sites, spread over the picture, have
 * errors. */
static void some_sites_have_errors(void **unused)
{
    (void)unused;
    enum { SIDE = 400, LEVELS = 8 };
    const small_picture s = {SIDE, SIDE, of_grey};
    gbs_run_options options = in_levels();
    gbs_image image = shown_in(&s, 5);
    gbs_model *pixels = NULL;
    gbs_run *run = NULL;
    uint32_t in_quarter[4] = {0};
    const size_t n = (size_t)SIDE * SIDE * LEVELS;
    double *p = malloc(n * sizeof *p);
    double *mcse = malloc(n * sizeof *mcse);
    assert_true(p != NULL && mcse != NULL);
    options.sweeps = 16;
    assert_int_equal(gbs_denoise_run(&image, &of_grey, &options, &pixels, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const double *own = p + (size_t)i * LEVELS;
        double sum = 0.0;
        for (uint32_t a = 0; a < LEVELS; a++) {
            sum += own[a];
        }
        assert_true(fabs(sum - 1.0) < 1e-5);
        in_quarter[2 * (i / SIDE / (SIDE / 2)) + i % SIDE / (SIDE / 2)] +=
            isnan(mcse[(size_t)i * LEVELS]) ? 0 : 1;
    }
    for (int k = 0; k < 4; k++) {
        print_message("errors of %u sites\n", in_quarter[k]);
        assert_in_range(in_quarter[k], 6000, 10000);
    }
    assert_true(gbs_run_report(run)->max_mcse > 0.0);
    free(p);
    free(mcse);
    gbs_run_free(run);
    gbs_model_free(pixels);
    gbs_image_free(&image);
}

/* Lets every request of memory fail in turn. */
static void run_out_of_memory(const gbs_denoise_options *how)
{
    gbs_run_options options = in_bits(GBS_ESTIMATOR_RAO_BLACKWELL);
    options.threads = 1;
    gbs_image image = grey(48, 48, 1);
    bool done = false;
    image.sample[7] = 1;
    for (uint64_t n = 0; !done; n++) {
        gbs_model *model = NULL;
        gbs_run *run = NULL;
        gbsi_alloc_fail_after(n);
        const gbs_status status = gbs_denoise_run(&image, how, &options, &model, &run, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        done = status == GBS_OK;
        assert_true(done || (run == NULL && model == NULL));
        gbs_run_free(run);
        gbs_model_free(model);
    }
    gbs_image_free(&image);
}

static void memory_may_run_out(void **unused)
{
    (void)unused;
    run_out_of_memory(&of_flips);
    run_out_of_memory(&of_grey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pictures_of_two_levels_are_run_in_bits),
        cmocka_unit_test(no_factors_are_needed),
        cmocka_unit_test(other_runs_have_their_model),
        cmocka_unit_test(large_pictures_of_levels_have_no_factors),
        cmocka_unit_test(levels_have_their_marginals),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(long_runs_keep_their_sums),
        cmocka_unit_test(some_sites_have_errors),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
