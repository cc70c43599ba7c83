/* SPDX-License-Identifier: Apache-2.0 */
/* Tempered runs against exact answers: every model of the table, those that updates of single
 * variables cannot cross included; the same bits anywhere; what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/generate.h"
#include "gibbsite/map.h"
#include "simd/dispatch.h"
#include "support/runs.h"
#include "support/small_models.h"

static gbs_run_options options_of(uint64_t levels, uint64_t chains)
{
    static const uint64_t sweeps[] = {512, 1024, 16384};
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.temper = levels;
    options.chains = chains;
    options.sweeps = sweeps[test_scale_asked()];
    options.seed = 20261122;
    options.threads = 1;
    return options;
}

/* Errors of eight batches and more, so that Student's t exceeds 6 once in 10^5; and of a rare state
 * twelve visits fewer than expected may be counted. */
static size_t check_close(const char *what, const test_answer *found, const test_answer *exact)
{
    const double n_draws = (double)found->report.sweeps * found->report.chains;
    size_t n_compared = 0;
    for (size_t i = 0; i < found->n; ++i) {
        const double error = isnan(found->mcse[i]) ? 0.0 : found->mcse[i];
        const double rare = n_draws > 0.0 ? 12.0 / n_draws : 0.0;
        n_compared += error > 0.0;
        if (!(fabs(found->p[i] - exact->p[i]) <= 6.0 * error + rare + 2e-5)) {
            fail_msg("%s, %u ladders of %u levels: entry %zu is %.6g +- %.2g, exact %.6g", what,
                     found->report.chains, found->report.temperatures, i, found->p[i], error,
                     exact->p[i]);
        }
    }
    return n_compared;
}

/* Lanes of one group and of several, a ladder as long as the lanes and short ones. */
static void against_exact(void **state)
{
    (void)state;
    static const struct {
        uint64_t levels, chains;
    } shape[] = {{4, 4}, {2, 3}, {16, 2}, {5, 9}};
    size_t n_compared = 0;
    for (size_t i = 0; i < n_test_cases; i += test_share(1, 5)) {
        const test_case *c = &test_cases[i];
        gbs_model *model = c->make();
        gbs_evidence *evidence = test_observe(model, c->observe);
        test_answer exact = test_exactly(model, evidence);
        for (size_t s = 0; s < sizeof shape / sizeof shape[0]; ++s) {
            if ((i / 2 + s) % test_scaled(1, 2, 4) != 0) {
                continue;
            }
            const gbs_run_options options = options_of(shape[s].levels, shape[s].chains);
            test_answer found = test_run_once(model, evidence, &options);
            n_compared += check_close(c->name, &found, &exact);
            if (found.report.temperatures > 0) {
                assert_int_equal(found.report.temperatures, shape[s].levels);
                assert_int_equal(found.report.chains, shape[s].chains);
                assert_true(found.report.valid_share > 0.5);
            }
            test_drop(&found);
        }
        test_drop(&exact);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_compared > test_scaled(400, 200, 50));
}

/* Two halves of equal spins with a field that tells them apart: half of the mass in each, which
 * plain chains never leave. Left to itself the run goes on with ladders, and is right. */
static gbs_model *two_modes(void)
{
    const gbs_generate_ising_options grid = {
        .side = {12, 12, 1}, .coupling = 0.9, .torus = 1, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    return model;
}

static void auto_tempers_where_chains_disagree(void **state)
{
    (void)state;
    if (test_scale_asked() == TEST_SMALL) { /* it begins with a second of counted operations */
        skip();
    }
    gbs_model *model = two_modes();
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.target_error = 0.02;
    options.threads = 1;
    test_answer found = test_run_once(model, NULL, &options);
    assert_true(found.report.temperatures > 1);
    assert_true(found.report.converged);
    for (size_t i = 0; i < found.n; ++i) {
        assert_true(fabs(found.p[i] - 0.5) < 0.06);
    }
    test_drop(&found);
    options.temper = GBS_TEMPER_OFF;
    options.max_updates = test_scaled(100000000, 20000000, 10000000);
    found = test_run_once(model, NULL, &options);
    assert_int_equal(found.report.temperatures, 0);
    assert_false(found.report.converged);
    test_drop(&found);
    gbs_model_free(model);
}

/* All spins up or most down: chains agree once the last has left down, and would hardly ever find
 * it again. Ladders do; plain chains (of counts, with few updates) say that they may have missed
 * it. */
static void auto_tempers_where_chains_were_slow(void **state)
{
    (void)state;
    const gbs_generate_ising_options grid = {.side = {6, 6, 1}, .coupling = 0.6, .field = 0.02};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    test_answer exact = test_exactly(model, NULL);
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.target_error = 0.02;
    options.threads = 1;
    options.max_updates = 1 << 26;
    test_answer found = test_run_once(model, NULL, &options);
    assert_true(found.report.temperatures > 1);
    assert_true(found.report.converged);
    (void)check_close("slow", &found, &exact);
    test_drop(&found);
    options.max_updates = 1 << 24; /* ladders would take half of them to burn in */
    found = test_run_once(model, NULL, &options);
    assert_true(found.report.temperatures == 0 && found.report.sweeps > 0);
    test_drop(&found);
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.target_error = 0.01;
    found = test_run_once(model, NULL, &options);
    assert_true(found.report.temperatures == 0 && !found.report.converged);
    assert_non_null(strstr(found.report.verdict, "passes to agree"));
    test_drop(&found);
    test_drop(&exact);
    gbs_model_free(model);
}

static void same_bits(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; family += (int)test_scaled(1, 3, 3)) {
        gbs_model *model = test_model((test_family)family, 5, 14);
        gbs_run_options options = options_of(8, 4);
        options.sweeps = test_share(200, 40);
        options.threads = 1;
        test_same_bits(model, NULL, &options);
        test_answer one = test_run_once(model, NULL, &options);
        options.threads = 3;
        test_answer three = test_run_once(model, NULL, &options);
        assert_string_equal(one.digest, three.digest);
        options.seed = 1;
        test_answer other = test_run_once(model, NULL, &options);
        assert_string_not_equal(one.digest, other.digest);
        test_drop(&one);
        test_drop(&three);
        test_drop(&other);
        gbs_model_free(model);
    }
}

/* A glass of 14 x 14 spins in which sweeps forget nothing at the cold end: blocks are drawn, and
 * give the exact answers; the same bits on three threads and with portable code. */
static void blocks_where_sweeps_are_stuck(void **state)
{
    (void)state;
    enum { SIDE = 14, N = SIDE * SIDE };
    test_stream s = {.seed = 8};
    uint32_t arity[N];
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        const uint32_t next[2] = {v % SIDE + 1 < SIDE ? v + 1 : N, v + SIDE};
        assert_int_equal(gbs_builder_add_field(b, v, test_uniform(&s, -0.5, 0.5), NULL), GBS_OK);
        for (int k = 0; k < 2; ++k) {
            const double j = test_uniform(&s, -9.0, 9.0);
            if (next[k] < N) {
                assert_int_equal(gbs_builder_add_ising(b, v, next[k], j, NULL), GBS_OK);
            }
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    gbs_run_options options = options_of(16, 2);
    options.sweeps = 512;
    test_answer exact = test_exactly(model, NULL);
    test_answer found = test_run_once(model, NULL, &options);
    assert_true(found.report.block_variables > 10);
    assert_true(found.report.round_trips > 5);
    assert_true(check_close("glass", &found, &exact) > 10);
    if (test_scale_asked() != TEST_SMALL) { /* block/block_test.c compares single draws */
        const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_PORTABLE);
        options.threads = 3;
        test_answer again = test_run_once(model, NULL, &options);
        (void)gbsi_simd_force(best);
        assert_string_equal(again.digest, found.digest);
        test_drop(&again);
    }
    test_drop(&exact);
    test_drop(&found);
    gbs_model_free(model);
}

/* Batches are shared by threads, and what was kept so far is that of a run with the burn-in told.
 */
static void larger_models(void **state)
{
    (void)state;
    gbs_model *model = test_picture();
    gbs_run_options options = options_of(4, 8);
    options.sweeps = 24;
    options.burn_in = 40;
    options.threads = 1;
    test_answer one = test_run_once(model, NULL, &options);
    options.threads = 4;
    test_answer four = test_run_once(model, NULL, &options);
    assert_string_equal(one.digest, four.digest);
    assert_int_equal(one.report.sweeps, 24);
    assert_int_equal(one.report.burn_in, 40);
    test_drop(&one);
    test_drop(&four);
    gbs_model_free(model);
}

/* Six variables of six states, all different: no scan crosses such a support. */
static gbs_model *permutations(void)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    double differ[36];
    uint32_t id = 0;
    const uint32_t six = 6;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t i = 0; i < 36; ++i) {
        differ[i] = i / 6 == i % 6 ? -INFINITY : 0.0;
    }
    assert_int_equal(gbs_builder_add_table(b, 36, differ, &id, NULL), GBS_OK);
    for (uint32_t v = 0; v < 6; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &six, NULL, NULL), GBS_OK);
        for (uint32_t u = 0; u < v; ++u) {
            const uint32_t scope[2] = {u, v};
            assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, id, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* Plain chains keep draws, then ladders begin. Wherever the run is stopped from the first draw on,
 * it has an answer. */
static void more_updates_take_no_answer_away(void **state)
{
    (void)state;
    gbs_model *model = permutations();
    size_t n_plain = 0;
    size_t n_tempered = 0;
    for (uint64_t updates = UINT64_C(1) << 20; updates < UINT64_C(1) << test_scaled(25, 24, 24);
         updates += test_scaled(updates / 2, updates, updates)) {
        gbs_run_options options = gbs_run_options_default();
        options.method = GBS_METHOD_SAMPLE;
        options.threads = 1;
        options.max_updates = updates;
        test_answer found = test_run_once(model, NULL, &options); /* there are marginals */
        assert_true(found.report.sweeps > 0);
        assert_true(n_tempered == 0 || found.report.temperatures > 0);
        n_plain += found.report.temperatures == 0;
        n_tempered += found.report.temperatures > 0;
        test_drop(&found);
    }
    assert_true(n_plain > 0 && n_tempered > 0);
    gbs_model_free(model);
}

/* ---- draws ----------------------------------------------------------------------------------- */

typedef struct given {
    const gbs_model *model;
    uint32_t n_chains;
    uint64_t n;    /* of all chains */
    double *count; /* [states] */
} given;

static gbs_status count_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                             const uint32_t *state, gbs_error *err)
{
    given *g = context;
    (void)err;
    assert_int_equal(draw, g->n / g->n_chains);
    assert_int_equal(chain, g->n % g->n_chains);
    const double density = gbs_model_log_density(g->model, state);
    assert_true(isfinite(density)); /* no zero is violated */
    assert_true(fabs(density - log_density) < 1e-9 * (1.0 + fabs(density)));
    for (uint32_t v = 0; v < gbs_model_n_variables(g->model); ++v) {
        g->count[gbs_model_state_offsets(g->model)[v] + state[v]] += 1.0;
    }
    ++g->n;
    return GBS_OK;
}

/* @param count [states] out. @return draws of a ladder. */
static uint64_t give(const test_case *c, const gbs_run_options *options, double *count)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = c->make();
    gbs_evidence *evidence = test_observe(model, c->observe);
    given g = {.model = model, .n_chains = (uint32_t)options->chains, .count = count};
    const gbs_run_callbacks callbacks = {.context = &g, .draw = count_draw};
    if (gbs_run_new(model, evidence, options, &run, &err) < 0) {
        fail_msg("%s: %s", c->name, err.message);
    }
    assert_int_equal(gbs_run_report(run)->chains, options->chains);
    if (gbs_run_execute(run, &callbacks, &err) < 0) {
        fail_msg("%s: %s", c->name, err.message);
    }
    const gbs_report *r = gbs_run_report(run);
    const uint64_t wanted = options->sweeps / options->thin;
    const uint64_t n = g.n / g.n_chains;
    assert_int_equal(n<wanted, r->n_warnings> 0); /* and nothing else is warned of */
    if (n < wanted) {
        assert_non_null(strstr(r->warning[0], "violated a hard zero"));
    }
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return n;
}

/* The cold states of every model of the table, those of variables that were summed out drawn given
 * the others: legal, numbered one after the other, with the model's marginals. Some thousand draws
 * of which every fourth is new at least: 0.1 is six standard errors of a share. */
static void draws(void **state)
{
    (void)state;
    const size_t step = test_scaled(1, 2, 4);
    for (size_t i = 0; i < n_test_cases; i += step) {
        const test_case *c = &test_cases[i];
        const bool odd = i / step % 2 == 1;
        double count[512] = {0};
        gbs_model *model = c->make();
        gbs_evidence *evidence = test_observe(model, c->observe);
        test_answer exact = test_exactly(model, evidence);
        gbs_run_options options = options_of(5, odd ? 17 : 3); /* more than sixteen, too */
        options.sweeps = 4096 / options.chains;
        options.thin = odd ? 2 : 1;
        options.burn_in = 300;
        const uint64_t n = give(c, &options, count) * options.chains;
        assert_true(n > 400 && exact.n <= 512);
        for (size_t e = 0; e < exact.n; ++e) {
            if (!(fabs(count[e] / (double)n - exact.p[e]) < 0.1)) {
                fail_msg("%s: entry %zu is %.4f of %d draws, exact %.4f", c->name, e,
                         count[e] / (double)n, (int)n, exact.p[e]);
            }
        }
        test_drop(&exact);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* Where the block trial, or whatever round observes moves, is cut short, the ladder is cut all the
 * same. */
static void a_short_burn_in_cuts_the_ladder(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 14);
    gbs_run_options options = options_of(8, 4);
    options.sweeps = 64;
    options.burn_in = 480 + 31;
    test_answer early = test_run_once(model, NULL, &options);
    assert_true(early.report.hottest == 0.0);
    options.burn_in = 480 + 32;
    test_answer late = test_run_once(model, NULL, &options);
    assert_true(late.report.hottest > 0.0);
    test_drop(&early);
    test_drop(&late);
    gbs_model_free(model);
}

static void refusals(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 8);
    gbs_run_options options = options_of(4, 4);
    options.draw = GBS_DRAW_HERDED;
    test_refused(model, &options, "--temper applies with --draw random only");
    options = options_of(4, 4);
    options.scan = GBS_SCAN_SPLASH;
    test_refused(model, &options, "--temper applies with --scan chromatic only");
    options = options_of(4, 4);
    options.estimator = GBS_ESTIMATOR_COUNT;
    test_refused(model, &options, "--temper applies with --estimator rao-blackwell only");
    options = options_of(4, 4);
    options.certified = 0.1;
    test_refused(model, &options, "--temper applies without --certified only");
    options = options_of(4, 4);
    gbs_error err = {0};
    gbs_map_report map = {.size = sizeof map};
    uint32_t x[8];
    assert_int_equal(gbs_map(model, NULL, &options, NULL, x, &map, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--temper applies to marginals and logz only"));
    options = options_of(257, 4);
    test_refused(model, &options, "--temper 257");
    gbs_model_free(model);
}

static void words(void **state)
{
    (void)state;
    char text[64];
    gbs_run_options options = gbs_run_options_default();
    assert_int_equal(gbs_option_get(&options, "temper", text, sizeof text, NULL), GBS_OK);
    assert_string_equal(text, "auto");
    assert_int_equal(gbs_option_set(&options, "temper", "off", NULL), GBS_OK);
    assert_int_equal(options.temper, GBS_TEMPER_OFF);
    assert_int_equal(gbs_option_get(&options, "temper", text, sizeof text, NULL), GBS_OK);
    assert_string_equal(text, "off");
    assert_int_equal(gbs_option_set(&options, "temper", "12", NULL), GBS_OK);
    assert_int_equal(options.temper, 12);
    assert_int_equal(gbs_option_set(&options, "temper", "auto", NULL), GBS_OK);
    assert_int_equal(options.temper, GBS_TEMPER_AUTO);
    assert_true(gbs_option_set(&options, "temper", "on", NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_exact),
        cmocka_unit_test(auto_tempers_where_chains_disagree),
        cmocka_unit_test(auto_tempers_where_chains_were_slow),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(larger_models),
        cmocka_unit_test(blocks_where_sweeps_are_stuck),
        cmocka_unit_test(more_updates_take_no_answer_away),
        cmocka_unit_test(draws),
        cmocka_unit_test(a_short_burn_in_cuts_the_ladder),
        cmocka_unit_test(refusals),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
