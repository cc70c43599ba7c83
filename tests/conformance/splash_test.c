/* SPDX-License-Identifier: Apache-2.0 */
/* The splash scan leaves the target invariant: every model of the table against exact answers over
 * widths, sizes, orders of growth, both ways of locking; the same bits from any number of threads
 * and chains and any instruction set under reservation. Run under the thread sanitizer too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/generate.h"
#include "gibbsite/map.h"
#include "support/runs.h"
#include "support/small_models.h"

/* As in conformance_test.c. */
#define LIMIT    6.0
#define ROUNDING 2e-5

static bool is_small(void)
{
    return test_scale_asked() == TEST_SMALL;
}

static gbs_run_options options_of(uint64_t width, uint64_t size, uint64_t splashes)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = GBS_SCAN_SPLASH;
    options.width = width;
    options.splash_size = size;
    options.splashes = splashes;
    options.sweeps = is_small() ? 256 : 768;
    options.burn_in = 32;
    options.seed = 20261121;
    return options;
}

static size_t check_close(const char *what, const gbs_run_options *options,
                          const test_answer *found, const test_answer *exact)
{
    size_t n = 0;
    for (size_t i = 0; i < found->n; ++i) {
        const double error = fabs(found->p[i] - exact->p[i]);
        const double mcse = isnan(found->mcse[i]) ? 0.0 : found->mcse[i];
        const double n_draws = (double)found->report.sweeps * found->report.chains;
        const double rare =
            options->estimator == GBS_ESTIMATOR_COUNT ? LIMIT * LIMIT / 2 / n_draws : 0.0;
        if (!(error <= LIMIT * mcse + rare + ROUNDING)) {
            fail_msg("%s, width %d, size %d, %d splashes, grow %d, locking %d, estimator %d, %d "
                     "chains: entry %zu is %.6f +- %.6f, exact %.6f",
                     what, (int)options->width, (int)options->splash_size, (int)options->splashes,
                     options->grow, options->locking, options->estimator, (int)options->chains, i,
                     found->p[i], mcse, exact->p[i]);
        }
        n += mcse > 0.0;
    }
    return n;
}

/* Hard zeros make every run of such a model look at all of its states. */
static int takes_long(const gbs_model *model)
{
    return gbs_model_n_variables(model) > 12;
}

/* ---- models of the table -------------------------------------------------------------------- */

/* Widths, and in turns everything else: all of them at full scale, else every third or fourth of
 * each model, in turns too. */
static void every_model(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1000, 1, 4, 2, 7};
    static const uint64_t splashes[] = {1, 8, 3};
    static const uint64_t chains[] = {16, 3, 1, 20};
    static const uint64_t width_step[] = {3, 4, 1}; /* [test_scale] */
    size_t turn = 0;
    size_t n_compared = 0;
    for (size_t m = 0; m < n_test_cases; m += test_share(1, 5)) {
        gbs_model *model = test_cases[m].make();
        gbs_evidence *evidence = test_observe(model, test_cases[m].observe);
        test_answer exact = test_exactly(model, evidence);
        const uint64_t step = takes_long(model) ? 7 : width_step[test_scale_asked()];
        for (uint64_t width = 1 + m % step; test_cases[m].crossable && width <= 8;
             width += step, ++turn) {
            gbs_run_options options = options_of(width, sizes[turn % 5], splashes[turn % 3]);
            options.grow = (int)(turn / 2 % 3);
            options.adapt = options.grow == GBS_GROW_ADAPTIVE ? 20 : 0;
            options.score = options.adapt > 0 ? (int)(width % 2) : GBS_SCORE_COUPLING;
            options.locking = (int)(turn / 3 % 2);
            options.estimator = (int)(turn / 5 % 2);
            options.chains = chains[turn / 7 % 4];
            options.sweeps *= options.chains < 8 ? 4 : 1;
            test_answer found = test_run_once(model, evidence, &options);
            n_compared += check_close(test_cases[m].name, &options, &found, &exact);
            test_drop(&found);
        }
        test_drop(&exact);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_compared > test_scaled(2000, 500, 150));
}

/* Single variables cannot cross it, blocks can: converged only where that was shown. */
static void zeros_are_crossed(void **state)
{
    (void)state;
    for (size_t m = 0; m < n_test_cases; ++m) {
        if (test_cases[m].crossable) {
            continue;
        }
        gbs_model *model = test_cases[m].make();
        gbs_evidence *evidence = test_observe(model, test_cases[m].observe);
        test_answer exact = test_exactly(model, evidence);
        gbs_run_options options = options_of(8, 1000, 8);
        /* blocks of noisy factors take long: too short a run to be called converged */
        const bool brief =
            test_scale_asked() == TEST_SMALL || strcmp(test_cases[m].name, "hard-noisy") == 0;
        options.sweeps = brief ? 1 << 11 : 1 << 17;
        test_answer blocks = test_run_once(model, evidence, &options);
        (void)check_close(test_cases[m].name, &options, &blocks, &exact);
        assert_true(blocks.report.converged || brief);
        options.splash_size = 1;
        options.sweeps = 200;
        test_answer single = test_run_once(model, evidence, &options);
        assert_false(single.report.converged);
        assert_non_null(strstr(single.report.verdict, "hard zeros"));
        test_drop(&blocks);
        test_drop(&single);
        test_drop(&exact);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* ---- weights beyond floats ------------------------------------------------------------------ */

/* A grid of J with strong fields of random sign at the rim: nearly deterministic. */
static gbs_model *stiff_grid(double coupling)
{
    enum { SIDE = 4 };
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    test_stream s = {.seed = 4};
    uint32_t two[SIDE * SIDE];
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        two[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, SIDE * SIDE, two, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        const double sign = test_below(&s, 2) == 0 ? -1.0 : 1.0;
        if (v % SIDE + 1 < SIDE) {
            assert_int_equal(gbs_builder_add_ising(builder, v, v + 1, sign * coupling, NULL),
                             GBS_OK);
        }
        if (v + SIDE < SIDE * SIDE) {
            assert_int_equal(gbs_builder_add_ising(builder, v, v + SIDE, coupling, NULL), GBS_OK);
        }
        assert_int_equal(gbs_builder_add_field(builder, v, test_uniform(&s, -0.5, 0.5), NULL),
                         GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static void weights_beyond_floats(void **state)
{
    (void)state;
    static const double couplings[] = {3.0, 12.0, 30.0, 200.0, 5000.0};
    for (size_t c = 0; c < sizeof couplings / sizeof couplings[0]; c += test_share(1, 3)) {
        gbs_model *model = stiff_grid(couplings[c]);
        test_answer exact = test_exactly(model, NULL);
        for (int estimator = 0; estimator < 2; ++estimator) {
            gbs_run_options options = options_of(4, 1000, 2);
            options.estimator = estimator;
            test_answer found = test_run_once(model, NULL, &options);
            (void)check_close("stiff grid", &options, &found, &exact);
            test_drop(&found);
        }
        test_drop(&exact);
        gbs_model_free(model);
    }
}

/* ---- the joint ------------------------------------------------------------------------------ */

typedef struct histogram {
    uint64_t count[1024];
} histogram;

static gbs_status count_state(void *context, uint64_t draw, uint32_t chain, double log_density,
                              const uint32_t *x, gbs_error *err)
{
    histogram *h = context;
    size_t index = 0;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    for (uint32_t v = 0; v < 10; ++v) {
        index = 2 * index + x[v];
    }
    ++h->count[index];
    return GBS_OK;
}

/* Chi-square over 2^10 states as in conformance_test.c, with blocks of at most four. */
static void joint_of_ten_spins(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = test_model(TEST_SPIN, 21, 10);
    gbs_run *run = NULL;
    histogram h = {{0}};
    gbs_run_options options = options_of(2, 4, 3);
    const gbs_run_callbacks callbacks = {.context = &h, .draw = count_state};
    options.chains = 64;
    options.sweeps = test_scaled(12000, 6000, 1500);
    options.thin = 8;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_OK);
    gbs_run_free(run);
    double weight[1024];
    double total = 0.0;
    for (uint32_t i = 0; i < 1024; ++i) {
        uint32_t x[10];
        for (uint32_t v = 0; v < 10; ++v) {
            x[v] = i >> (9 - v) & 1u;
        }
        weight[i] = exp(gbs_model_log_density(model, x));
        total += weight[i];
    }
    double chi2 = 0.0;
    const double n = 64.0 * (double)options.sweeps / 8;
    for (uint32_t i = 0; i < 1024; ++i) {
        const double expected = n * weight[i] / total;
        chi2 += ((double)h.count[i] - expected) * ((double)h.count[i] - expected) / expected;
    }
    assert_true(chi2 < 1.05 * 1023 + 4.9 * 45.2);
    assert_true(chi2 > 1023 - 4.9 * 45.2);
    gbs_model_free(model);
}

/* ---- the same bits -------------------------------------------------------------------------- */

static gbs_model *network(void)
{
    const gbs_generate_bayes_options options = {
        .variables = 3000, .parents = 3, .min_states = 2, .max_states = 4, .seed = 5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_bayes(&options, &model, NULL), GBS_OK);
    return model;
}

static void same_bits_from_any_threads(void **state)
{
    (void)state;
    static gbs_model *(*const make[])(void) = {test_picture, network, test_strip};
    static const uint64_t chains[] = {1, 3, 16, 40};
    for (size_t m = 0; m < sizeof make / sizeof make[0]; ++m) {
        gbs_model *model = make[m]();
        for (size_t turn = 0; turn < 8; turn += test_scaled(1, 3, 5)) {
            /* crowded rounds and others */
            gbs_run_options options = options_of(1 + turn % 4, turn % 2 == 0 ? 25 : 1000, 8);
            options.chains = chains[turn % 4];
            options.estimator = (int)(turn / 4);
            options.grow = (int)(turn % 3);
            options.adapt = options.grow == GBS_GROW_ADAPTIVE ? 3 : 0;
            options.sweeps = test_scaled(12, 6, 2);
            options.burn_in = 1;
            if (test_races_alone()) {
                options.threads = 3;
                test_answer raced = test_run_once(model, NULL, &options);
                test_drop(&raced);
                continue;
            }
            options.threads = 1;
            test_answer one = test_run_once(model, NULL, &options);
            for (options.threads = 2; options.threads <= 3; ++options.threads) {
                test_answer many = test_run_once(model, NULL, &options);
                assert_string_equal(one.digest, many.digest);
                test_drop(&many);
            }
            test_drop(&one);
        }
        gbs_model_free(model);
    }
}

/* Spins or variables of more states that are all coupled to one another: the cliques of one splash
 * are large. */
static gbs_model *all_coupled(uint32_t n, uint32_t arity)
{
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    uint32_t arities[32];
    for (uint32_t v = 0; v < n; ++v) {
        arities[v] = arity;
    }
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, n, arities, NULL, NULL), GBS_OK);
    for (uint32_t a = 0; a < n; ++a) {
        for (uint32_t b = a + 1; b < n; ++b) {
            const double coupling = 0.01 * (1 + (7 * a + 3 * b) % 5);
            assert_int_equal(gbs_builder_add_potts(builder, a, b, coupling, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

/* One splash with tables of 2^17 and 11^5 entries, which all threads compute together. */
static void large_tables_are_shared(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, arity;
        uint64_t width;
    } shapes[] = {{17, 2, 16}, {6, 11, 4}};
    for (size_t m = 0; m < sizeof shapes / sizeof shapes[0]; ++m) {
        gbs_model *model = all_coupled(shapes[m].n, shapes[m].arity);
        gbs_run_options options = options_of(shapes[m].width, 1000, 1);
        options.chains = m == 0 ? 16 : 3;
        options.sweeps = 2;
        options.burn_in = 1;
        options.threads = 1;
        test_answer one = test_run_once(model, NULL, &options);
        for (options.threads = 2; options.threads <= 5; options.threads += 3) {
            test_answer many = test_run_once(model, NULL, &options);
            assert_string_equal(one.digest, many.digest);
            test_drop(&many);
        }
        test_drop(&one);
        gbs_model_free(model);
    }
}

/* Groups of twelve spins that are all coupled, and a spin that joins the groups: a level of the
 * tree has eight cliques of up to 2^13 entries. */
static gbs_model *joined_groups(void)
{
    enum { N_GROUPS = 8, N_EACH = 12, N = 1 + N_GROUPS * N_EACH };
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    uint32_t arities[N];
    for (uint32_t v = 0; v < N; ++v) {
        arities[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, N, arities, NULL, NULL), GBS_OK);
    for (uint32_t b = 1; b < N; ++b) {
        const uint32_t first = b - (b - 1) % N_EACH;
        for (uint32_t a = first - 1; a < b; ++a) {
            const uint32_t other = a < first ? 0 : a; /* 0 is the spin that joins the groups */
            const double coupling = 0.01 * (1 + (7 * other + 3 * b) % 5);
            assert_int_equal(gbs_builder_add_potts(builder, other, b, coupling, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

/* One splash with many cliques too small to be shared, which all threads compute level by level. */
static void cliques_of_a_level_are_shared(void **state)
{
    (void)state;
    gbs_model *model = joined_groups();
    for (uint64_t chains = 3; chains <= 16; chains += 13) {
        gbs_run_options options = options_of(12, 1000, 1);
        options.chains = chains;
        options.sweeps = 2;
        options.burn_in = 1;
        options.threads = 1;
        test_answer one = test_run_once(model, NULL, &options);
        for (options.threads = 2; options.threads <= 5; options.threads += 3) {
            test_answer many = test_run_once(model, NULL, &options);
            assert_string_equal(one.digest, many.digest);
            test_drop(&many);
        }
        test_drop(&one);
    }
    gbs_model_free(model);
}

/* Splashes that race for variables on several threads: every time a run is another one, so that it
 * has to be long enough for its standard errors to hold. */
static void blanket_locks_on_threads(void **state)
{
    (void)state;
    gbs_model *model = test_strip();
    test_answer exact = {0};
    if (!test_races_alone()) {
        exact = test_exactly(model, NULL);
    }
    for (uint64_t size = 20; size <= (is_small() ? 20 : 1020); size += 1000) {
        gbs_run_options options = options_of(3, size, 8);
        options.locking = GBS_LOCKING_BLANKET;
        options.threads = 3;
        options.sweeps = test_races_alone() ? 64 : 256;
        test_answer found = test_run_once(model, NULL, &options);
        assert_true(test_races_alone() || check_close("strip", &options, &found, &exact) > 4000);
        assert_true(found.report.n_warnings > 0); /* that bits are not repeated */
        test_drop(&found);
    }
    test_drop(&exact);
    gbs_model_free(model);
}

static void same_bits_on_every_set(void **state)
{
    (void)state;
    for (size_t m = 0; m < n_test_cases; m += test_scaled(1, 2, 5)) {
        gbs_model *model = test_cases[m].make();
        gbs_evidence *evidence = test_observe(model, test_cases[m].observe);
        for (int variant = 0; !takes_long(model) && variant < 4; variant += is_small() ? 3 : 1) {
            gbs_run_options options = options_of(1 + (uint64_t)variant, 1000, 2);
            options.estimator = variant % 2;
            options.chains = variant < 2 ? 16 : 3;
            options.sweeps = test_scaled(100, 40, 20);
            test_same_bits(model, evidence, &options);
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* Growth that looks at no state is the same for all chains, whatever their number. */
static void chains_do_not_depend_on_their_number(void **state)
{
    (void)state;
    for (size_t m = 0; m < n_test_cases; m += test_scaled(1, 2, 4)) {
        gbs_model *model = test_cases[m].make();
        gbs_evidence *evidence = test_observe(model, test_cases[m].observe);
        if (!takes_long(model)) {
            gbs_run_options options = options_of(3, 5, 3);
            options.sweeps = test_share(100, 40);
            const uint64_t alone = test_trajectory(model, evidence, options, 1, 0);
            assert_true(alone == test_trajectory(model, evidence, options, 16, 0));
            assert_true(alone == test_trajectory(model, evidence, options, 40, 0));
            assert_true(test_trajectory(model, evidence, options, 3, 2) ==
                        test_trajectory(model, evidence, options, 19, 2));
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* ---- what it is for ------------------------------------------------------------------------- */

/* Where single variables hardly move blocks do: standard errors at the same number of sweeps. */
static void blocks_mix(void **state)
{
    (void)state;
    gbs_model *model = stiff_grid(2.0);
    gbs_run_options options = options_of(4, 1000, 1);
    options.sweeps = 4096;
    test_answer blocks = test_run_once(model, NULL, &options);
    gbs_run_options single = gbs_run_options_default();
    single.method = GBS_METHOD_SAMPLE;
    single.sweeps = options.sweeps;
    test_answer chromatic = test_run_once(model, NULL, &single);
    assert_true(chromatic.report.max_mcse > 10 * blocks.report.max_mcse);
    test_drop(&blocks);
    test_drop(&chromatic);
    gbs_model_free(model);
}

/* ---- refusals ------------------------------------------------------------------------------- */

/* What callbacks are told of splashes: how often each variable was in one. */
typedef struct seen {
    uint64_t round, n_rounds;
    uint32_t splash, most;
    uint64_t n, updates[2048];
    uint32_t owner[2048];
} seen;

static void see_splash(void *context, uint64_t round, uint32_t splash, uint32_t variable)
{
    seen *s = context;
    if (s->n == 0 || round != s->round) {
        assert_true(s->n == 0 ? round == 0 : round == s->round + 1);
        memset(s->owner, 0, sizeof s->owner);
        s->splash = 0;
        s->n_rounds++;
    }
    assert_true(splash == s->splash || splash == s->splash + 1);
    assert_int_equal(s->owner[variable], 0); /* once a round */
    s->owner[variable] = splash + 1;
    s->round = round;
    s->splash = splash;
    s->most = splash > s->most ? splash : s->most;
    s->n++;
    s->updates[variable]++;
}

/* Counts splashes of the rounds of a run. */
typedef struct side_by_side {
    uint64_t round, n_rounds, n_splashes, n_updates;
    uint32_t splash;
} side_by_side;

static void count_splash(void *context, uint64_t round, uint32_t splash, uint32_t variable)
{
    side_by_side *c = context;
    (void)variable;
    const bool first = c->n_updates == 0 || round != c->round;
    c->n_rounds += first;
    c->n_splashes += first || splash != c->splash;
    c->n_updates++;
    c->round = round;
    c->splash = splash;
}

static side_by_side count_splashes(gbs_model *model, uint64_t size, uint64_t width)
{
    side_by_side c = {0};
    const gbs_run_callbacks callbacks = {.context = &c, .splash = count_splash};
    gbs_run_options options = options_of(width, size, 8);
    gbs_run *run = NULL;
    options.sweeps = 60;
    options.burn_in = 0;
    options.chains = 1;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, &callbacks, NULL) >= 0);
    gbs_run_free(run);
    gbs_model_free(model);
    return c;
}

static gbs_model *spins_on(uint32_t rows, uint32_t columns)
{
    const gbs_generate_ising_options grid = {.side = {rows, columns, 1}, .coupling = 0.3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    return model;
}

/* Gonzalez et al. 2011, algorithm 3: as many splashes grow in a round as are asked for. Without
 * --splash-size their size is lowered for this, except where a splash holds almost the whole model.
 */
static void splashes_grow_side_by_side(void **state)
{
    (void)state;
    static const uint32_t side[] = {20, 40, 100};
    for (unsigned i = 0; i < 3; ++i) {
        const side_by_side unset = count_splashes(spins_on(side[i], side[i]), 0, 5);
        const side_by_side typed = count_splashes(spins_on(side[i], side[i]), 1000, 5);
        assert_true((double)unset.n_splashes > 6.0 * (double)unset.n_rounds);
        assert_true((double)typed.n_splashes < 5.0 * (double)typed.n_rounds);
    }
    const side_by_side chain = count_splashes(spins_on(1, 600), 0, 5);
    assert_int_equal(chain.n_updates, 600 * chain.n_rounds);
    const side_by_side narrow = count_splashes(spins_on(2, 300), 0, 5);
    assert_true(narrow.n_updates > 500 * narrow.n_rounds);
    const side_by_side wide = count_splashes(spins_on(2, 600), 0, 5); /* more than 1000 variables */
    assert_true((double)wide.n_splashes > 6.0 * (double)wide.n_rounds);
}

/* All updates are told, burn-in included, and every variable has some. */
static void splashes_are_told(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = test_picture();
    gbs_run *run = NULL;
    seen *s = calloc(1, sizeof *s);
    const uint32_t n = gbs_model_n_variables(model);
    const gbs_run_callbacks callbacks = {.context = s, .splash = see_splash};
    gbs_run_options options = options_of(2, 9, 4);
    assert_true(s != NULL && n <= 2048);
    options.method = GBS_METHOD_SAMPLE;
    options.chains = 3;
    options.burn_in = 5;
    options.sweeps = 8;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_OK);
    assert_int_equal(3 * s->n, gbs_run_report(run)->updates);
    assert_int_equal(s->most, 3);
    for (uint32_t v = 0; v < n; v++) {
        assert_true(s->updates[v] > 0);
    }
    gbs_run_free(run);
    gbs_model_free(model);
    free(s);
}

static void assert_refused(const gbs_model *model, const gbs_run_options *options, const char *part)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, &err), GBS_ERR_ARGUMENT);
    if (strstr(err.message, part) == NULL) {
        fail_msg("%s: expected '%s'", err.message, part);
    }
}

static void refusals(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = stiff_grid(1.0);
    gbs_run_options options = options_of(3, 10, 2);
    options.adapt = 5;
    assert_refused(model, &options, "must be given together");
    options.grow = GBS_GROW_ADAPTIVE;
    options.burn_in = 0;
    assert_refused(model, &options, "needs a burn-in");
    options = options_of(3, 10, 2);
    options.scan = GBS_SCAN_CHROMATIC;
    assert_refused(model, &options, "applies with --scan splash");
    options = options_of(17, 10, 2);
    assert_refused(model, &options, "--width 17");
    uint32_t x[16];
    options = options_of(3, 10, 2);
    assert_int_equal(gbs_map(model, NULL, &options, NULL, x, NULL, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "splash chains are not annealed"));
    gbs_model_free(model);
}

/* splash_suite [NAMES]: all tests, or those whose names fit a pattern. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model),
        cmocka_unit_test(zeros_are_crossed),
        cmocka_unit_test(weights_beyond_floats),
        cmocka_unit_test(joint_of_ten_spins),
        cmocka_unit_test(same_bits_from_any_threads),
        cmocka_unit_test(cliques_of_a_level_are_shared),
        cmocka_unit_test(blanket_locks_on_threads),
        cmocka_unit_test(same_bits_on_every_set),
        cmocka_unit_test(chains_do_not_depend_on_their_number),
        cmocka_unit_test(blocks_mix),
        cmocka_unit_test(splashes_are_told),
        cmocka_unit_test(splashes_grow_side_by_side),
        cmocka_unit_test(large_tables_are_shared),
        cmocka_unit_test(refusals),
    };
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
