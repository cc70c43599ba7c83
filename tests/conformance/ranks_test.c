/* SPDX-License-Identifier: Apache-2.0 */
/* Chains on several ranks: the bits of one process, whatever scan, draw, estimator and number of
 * chains, with 1 to 4 ranks of 1 or 2 threads. Ranks are threads here (support/thread_ranks.h);
 * tests/mpi runs processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "chains/run.h"
#include "support/place.h"
#include "support/ranks_alike.h"
#include "support/runs.h"
#include "support/small_models.h"
#include "support/thread_ranks.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])
#define MOST_RANKS  4

static const int scans[] = {GBS_SCAN_CHROMATIC, GBS_SCAN_SYSTEMATIC, GBS_SCAN_RANDOM,
                            GBS_SCAN_PERMUTED, GBS_SCAN_SEQUENCE};

/* One chain a group; a group and a bit; two and a half: some ranks have none. */
static const uint64_t chains[] = {1, 3, 7, 16, 17, 40, 70};

/* ---- a run ---- */

typedef struct problem {
    const gbs_model *model;
    const gbs_evidence *evidence;
    gbs_run_options options;
    gbs_status (*prepare)(gbs_run *run, gbs_error *err); /* before it is executed; NULL: nothing */
    const char *from, *to;                               /* checkpoints; NULL: none */
    uint64_t stop_after;                                 /* the pass; 0: its end */
    gbsi_digest *draws; /* of what callbacks.draw was given; NULL: there is none */
} problem;

/* What it answers, on every rank. */
typedef struct answer {
    gbs_status status;
    gbs_error err;
    gbs_report report;
    size_t n_warnings;
    size_t n;      /* states */
    double *value; /* [4][n] p, mcse, ess, rhat */
    size_t n_traced;
    double *trace; /* [n_traced] densities, then states of variable 0, of all chains */
    char draws[33];
} answer;

typedef struct job {
    problem problem;
    answer of[MOST_RANKS];
} job;

static gbs_status hear_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    const problem *p = context;
    const uint64_t number[2] = {draw, chain};
    (void)err;
    gbsi_digest_bytes(p->draws, number, sizeof number);
    gbsi_digest_f64(p->draws, &log_density, 1);
    gbsi_digest_u32(p->draws, state, gbs_model_n_variables(p->model));
    return GBS_OK;
}

static gbs_status read_traces(const gbs_run *run, answer *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_traces traces = {.size = sizeof traces};
    uint32_t *state = NULL;
    GBSI_TRY(gbs_run_traces(run, &traces, err));
    const size_t n = (size_t)traces.n_chains * traces.n_draws;
    a->n_traced = 2 * n;
    a->trace = calloc(2 * n, sizeof *a->trace);
    state = calloc(n, sizeof *state);
    GBSI_TRY(gbs_run_trace_density(run, a->trace, err));
    GBSI_TRY(gbs_run_trace_state(run, 0, state, err));
    for (size_t i = 0; i < n; ++i) {
        a->trace[n + i] = state[i];
    }
cleanup:
    free(state);
    return status;
}

static gbs_status keep_answer(const gbs_run *run, const problem *p, answer *a, gbs_error *err)
{
    const gbs_report *r = gbs_run_report(run);
    a->report = *r;
    a->n_warnings = r->n_warnings;
    if (p->draws != NULL || r->sweeps == 0) {
        return GBS_OK;
    }
    gbs_status status = GBS_OK;
    a->n = gbs_model_state_offsets(p->model)[gbs_model_n_variables(p->model)];
    a->value = calloc(4 * a->n, sizeof *a->value);
    GBSI_TRY(gbs_run_marginals(run, a->value, a->value + a->n, a->value + 2 * a->n,
                               a->value + 3 * a->n, err));
    if (p->prepare != NULL) {
        GBSI_TRY(read_traces(run, a, err));
    }
cleanup:
    return status;
}

/* @param ranks NULL: one process. */
static gbs_status live(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    job *j = context;
    const problem *p = &j->problem;
    answer *a = &j->of[ranks == NULL ? 0 : ranks->rank];
    gbs_run *run = NULL;
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks,
                                         .context = &j->problem,
                                         .draw = p->draws == NULL ? NULL : hear_draw};
    const gbs_run_setup setup = {.model = p->model,
                                 .evidence = p->evidence,
                                 .options = &p->options,
                                 .task = p->draws != NULL ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS,
                                 .ranks = ranks};
    GBSI_TRY(gbs_run_new_with(&setup, &run, err));
    if (p->prepare != NULL) {
        GBSI_TRY(p->prepare(run, err));
    }
    if (p->draws != NULL && (p->from != NULL || p->to != NULL)) {
        GBSI_TRY(gbs_run_keep_draws(run, NULL, 0, err));
    }
    GBSI_TRY(p->from == NULL ? GBS_OK : gbs_run_resume(run, p->from, err));
    GBSI_TRY(p->to == NULL ? GBS_OK : gbs_run_checkpoint(run, p->to, err));
    run->checkpoints.stop_after = p->stop_after;
    GBSI_TRY(gbs_run_execute(run, &callbacks, err));
    GBSI_TRY(keep_answer(run, p, a, err));
cleanup:
    gbs_run_free(run);
    return status;
}

/* @param n_ranks 0: one process. */
static job run_job(const problem *p, uint32_t n_ranks, uint32_t n_threads, bool gives)
{
    job j = {.problem = *p};
    j.problem.options.threads = n_threads;
    answer *first = &j.of[0];
    if (gives) {
        assert_int_equal(gbsi_digest_new(&j.problem.draws, NULL), GBS_OK);
    }
    first->status =
        n_ranks == 0 ? live(NULL, &j, &first->err) : test_on_ranks(n_ranks, live, &j, &first->err);
    if (gives) {
        gbsi_digest_text(j.problem.draws, first->draws);
        gbsi_digest_free(j.problem.draws);
    }
    return j;
}

static void drop(job *j)
{
    for (size_t rank = 0; rank < MOST_RANKS; ++rank) {
        free(j->of[rank].value);
        free(j->of[rank].trace);
    }
}

/* ---- alike ---- */

static void same_answer(const answer *a, const answer *b)
{
    test_same_report(&a->report, &b->report);
    test_same_numbers(&a->report.n_weights, &b->report.n_weights, 1, "number of weights");
    assert_int_equal(a->n_warnings, b->n_warnings);
    assert_int_equal(a->n, b->n);
    test_same_numbers(a->value, b->value, 4 * a->n, "estimate");
    assert_int_equal(a->n_traced, b->n_traced);
    test_same_numbers(a->trace, b->trace, a->n_traced, "trace");
}

/* @param one the job of one process, of which the ranks must have the bits.
 * @return whether it was run: a combination that one process refuses is refused here too. */
static bool check_against(const job *one, const problem *p, uint32_t n_ranks, uint32_t n_threads)
{
    job many = run_job(p, n_ranks, n_threads, one->problem.draws != NULL);
    const bool refused = one->of[0].status < 0;
    if (many.of[0].status != one->of[0].status) {
        fail_msg("one process: status %d %s; %u ranks: status %d %s", one->of[0].status,
                 one->of[0].err.message, n_ranks, many.of[0].status, many.of[0].err.message);
    }
    for (uint32_t rank = 0; !refused && rank < n_ranks; ++rank) {
        same_answer(&one->of[0], &many.of[rank]);
    }
    assert_string_equal(one->of[0].draws, many.of[0].draws);
    drop(&many);
    return !refused;
}

static bool check_ranks(const problem *p, uint32_t n_ranks, uint32_t n_threads, bool gives)
{
    job one = run_job(p, 0, 1, gives);
    const bool run = check_against(&one, p, n_ranks, n_threads);
    drop(&one);
    return run;
}

/* ---- every combination ----------------------------------------------------------------------- */

/* One combination on one model, with ranks and threads that take turns. */
static bool check_case(const test_case *one, size_t scan, size_t draw, size_t estimator,
                       size_t turn)
{
    gbs_model *model = one->make();
    const uint32_t n = gbs_model_n_variables(model);
    gbs_evidence *evidence = test_observe(model, one->observe);
    uint32_t *sequence = calloc(2 * (size_t)n + 1, sizeof *sequence);
    problem p = {.model = model, .evidence = evidence};
    p.options = test_rank_options(scans[scan], draw, estimator, chains[turn % N_OF(chains)]);
    if (p.options.scan == GBS_SCAN_SEQUENCE) {
        p.options.sequence_length = test_rank_sequence(n, sequence);
        p.options.sequence = sequence;
    }
    const bool run = check_ranks(&p, 1 + turn % MOST_RANKS, 1 + turn / MOST_RANKS % 2, false);
    free(sequence);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return run;
}

/* Chains, ranks and threads take turns: 7 x 4 x 2 have no common divisor with the models. */
static void every_combination_has_the_bits_of_one_process(void **state)
{
    (void)state;
    size_t turn = 0;
    size_t n_run = 0;
    const size_t step = test_scaled(1, 29, 111);
    for (size_t scan = 0; scan < N_OF(scans); ++scan) {
        for (size_t draw = 0; draw < test_n_rank_draws; ++draw) {
            for (size_t estimator = 0; estimator < N_OF(test_rank_estimators); ++estimator) {
                for (size_t c = 0; c < n_test_cases; ++c, ++turn) {
                    if (turn % step == 0) {
                        n_run += check_case(&test_cases[c], scan, draw, estimator, turn / step);
                    }
                }
            }
        }
    }
    assert_true(n_run > turn / step / 2);
}

/* ---- what decides ---------------------------------------------------------------------------- */

static void check_all_ranks(const problem *p, bool gives)
{
    job one = run_job(p, 0, 1, gives);
    for (uint32_t n_ranks = 1; n_ranks <= MOST_RANKS; ++n_ranks) {
        assert_true(check_against(&one, p, n_ranks, 1 + n_ranks % 2));
    }
    drop(&one);
}

static void burn_in_and_target_stop_alike(void **state)
{
    (void)state;
    const gbs_generate_ising_options warm = {.side = {5, 5, 1}, .coupling = 0.2};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&warm, &model, NULL), GBS_OK);
    problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.target_error = 0.05;
    p.options.temper = GBS_TEMPER_OFF;
    p.options.max_updates = 50000;
    for (size_t i = 0; i < N_OF(chains); ++i) {
        p.options.chains = chains[i];
        check_all_ranks(&p, false);
    }
    /* long enough to be ended by the target */
    p.options.chains = 64;
    p.options.max_updates = 10000000;
    check_all_ranks(&p, false);
    job one = run_job(&p, 0, 1, false);
    assert_true(one.of[0].report.converged);
    drop(&one);
    gbs_model_free(model);
}

/* Two halves that never meet. */
static void chains_that_disagree_are_told_alike(void **state)
{
    (void)state;
    const gbs_generate_ising_options cold = {.side = {12, 12, 1}, .coupling = 0.9};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&cold, &model, NULL), GBS_OK);
    problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.lattice = GBS_LATTICE_NEVER;
    p.options.chains = 40;
    p.options.sweeps = 200;
    check_all_ranks(&p, false);
    job two = run_job(&p, 2, 1, false);
    assert_non_null(strstr(two.of[0].report.verdict, "--temper"));
    drop(&two);
    gbs_model_free(model);
}

/* ---- ladders --------------------------------------------------------------------------------- */

static void ladders_have_the_bits_of_one_process(void **state)
{
    (void)state;
    size_t turn = 0;
    for (size_t c = 0; c < n_test_cases; ++c, ++turn) {
        gbs_model *model = test_cases[c].make();
        gbs_evidence *evidence = test_observe(model, test_cases[c].observe);
        problem p = {.model = model, .evidence = evidence, .options = test_ladder_options(turn)};
        (void)check_ranks(&p, 1 + turn % MOST_RANKS, 1 + turn / MOST_RANKS % 2, turn % 3 == 0);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* Burn-in by rounds, with levels that move, a ladder that is cut, and blocks. */
static void ladders_adapt_alike(void **state)
{
    (void)state;
    gbs_model *model[] = {test_model(TEST_ISING, 4, 16), test_model(TEST_BAYES, 4, 14)};
    for (size_t i = 0; i < N_OF(model); ++i) {
        problem p = {.model = model[i], .options = test_ladder_options(3)};
        p.options.burn_in = GBS_BURN_IN_AUTO;
        assert_true(check_ranks(&p, 2 + (uint32_t)i, 1 + (uint32_t)i, false));
        gbs_model_free(model[i]);
    }
}

/* After a second of counted operations chains still disagree: auto goes on with ladders. At full
 * scale, since that takes seconds. */
static void auto_turns_to_ladders_alike(void **state)
{
    (void)state;
    if (test_scale_asked() != TEST_FULL) {
        skip();
    }
    const gbs_generate_potts_options cold = {
        .size = sizeof cold, .rows = 24, .columns = 24, .states = 12, .coupling = 3.0};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_potts(&cold, &model, NULL), GBS_OK);
    problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.chains = 16; /* two ladders of sixteen temperatures: a group a rank, none for one */
    p.options.max_updates = 240000000;
    job one = run_job(&p, 0, 1, false);
    job many = run_job(&p, 3, 1, false);
    assert_true(one.of[0].report.temperatures > 0);
    for (uint32_t rank = 0; rank < 3; ++rank) {
        same_answer(&one.of[0], &many.of[rank]);
    }
    drop(&one);
    drop(&many);
    gbs_model_free(model);
}

static gbs_status monitor_first(gbs_run *run, gbs_error *err)
{
    const uint32_t variable[] = {0};
    return gbs_run_monitor(run, variable, 1, err);
}

static void traces_are_of_all_chains(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_POTTS, 3, 20);
    problem p = {.model = model, .prepare = monitor_first, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.sweeps = 100;
    for (size_t i = 0; i < N_OF(chains); ++i) {
        p.options.chains = chains[i];
        check_all_ranks(&p, false);
    }
    gbs_model_free(model);
}

static void draws_come_in_the_order_of_chains(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_BAYES, 3, 20);
    gbs_evidence *evidence = test_observe(model, 2);
    problem p = {.model = model, .evidence = evidence, .options = gbs_run_options_default()};
    p.options.sweeps = 30;
    p.options.thin = 3;
    for (int method = 0; method < 2; ++method) {
        p.options.method = method == 0 ? GBS_METHOD_SAMPLE : GBS_METHOD_EXACT;
        for (size_t i = 0; i < N_OF(chains); ++i) {
            p.options.chains = chains[i];
            check_all_ranks(&p, true);
        }
    }
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* Part of it is answered exactly; rows long enough to be shared by threads. */
static void large_and_half_exact_models_too(void **state)
{
    (void)state;
    gbs_model *picture = test_picture();
    gbs_model *mixed = test_model(TEST_BAYES, 8, 60);
    problem p = {.model = picture, .options = gbs_run_options_default()};
    p.options.sweeps = 70;
    p.options.burn_in = 3;
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.chains = 40;
    for (int estimator = 0; estimator < 2; ++estimator) {
        p.options.estimator = test_rank_estimators[estimator];
        check_all_ranks(&p, false);
    }
    p.model = mixed;
    p.options.method = GBS_METHOD_AUTO;
    check_all_ranks(&p, false);
    gbs_model_free(mixed);
    gbs_model_free(picture);
}

/* ---- interrupted and resumed ---- */

static void stretch(const problem *p, uint32_t n_ranks, bool gives, answer *a)
{
    job j = run_job(p, n_ranks, 1, gives);
    if (j.of[0].status < 0) {
        fail_msg("%u ranks, to pass %u: %s", n_ranks, (unsigned)p->stop_after, j.of[0].err.message);
    }
    *a = j.of[0];
    drop(&j);
}

/* To a pass on some ranks, to another on other ones, to the end on others again; 0 is one process
 * without any. */
static void check_resumed(const problem *whole, const uint32_t n_ranks[3], const uint64_t stop[2],
                          bool gives, const test_place *at)
{
    answer expected;
    answer a;
    problem p = *whole;
    stretch(&p, 0, gives, &expected);
    p.to = at->path;
    p.stop_after = stop[0];
    stretch(&p, n_ranks[0], gives, &a);
    p.from = at->path;
    p.stop_after = stop[1];
    stretch(&p, n_ranks[1], gives, &a);
    p.to = NULL;
    p.stop_after = 0;
    stretch(&p, n_ranks[2], gives, &a);
    assert_string_equal(expected.report.digest, a.report.digest);
    assert_int_equal(expected.report.sweeps, a.report.sweeps);
    assert_int_equal(expected.report.updates, a.report.updates);
    if (gives) { /* those before are given again */
        assert_string_equal(expected.draws, a.draws);
    }
}

static const uint32_t routes[][3] = {{3, 2, 0}, {0, 3, 2}, {2, 4, 1}, {4, 0, 3}};

static void runs_go_on_on_other_ranks(void **state)
{
    (void)state;
    const test_place at = test_take_place();
    size_t turn = 0;
    size_t n_run = 0;
    size_t n_tried = 0;
    const size_t step = test_scaled(1, 3, 7);
    for (size_t scan = 0; scan < 4; ++scan) {
        for (size_t draw = 0; draw < test_n_rank_draws; ++draw) {
            for (size_t estimator = 0; estimator < N_OF(test_rank_estimators);
                 ++estimator, ++turn) {
                if (turn % step != 0) {
                    continue;
                }
                ++n_tried;
                gbs_model *model = test_model((test_family)(turn % TEST_N_FAMILIES), turn, 12);
                problem p = {.model = model};
                p.options =
                    test_rank_options(scans[scan], draw, estimator, chains[turn % N_OF(chains)]);
                p.options.burn_in =
                    p.options.burn_in > 0 && turn % 2 == 0 ? GBS_BURN_IN_AUTO : p.options.burn_in;
                const uint64_t stop[2] = {3 + turn % 40, 50 + turn % 7};
                job one = run_job(&p, 0, 1, false);
                if (one.of[0].status >= 0 && one.of[0].report.sweeps > 0) {
                    check_resumed(&p, routes[turn % N_OF(routes)], stop, false, &at);
                    ++n_run;
                }
                drop(&one);
                gbs_model_free(model);
            }
        }
    }
    assert_true(n_run > n_tried / 3);
    test_leave_place(&at);
}

static void draws_and_traces_go_on_too(void **state)
{
    (void)state;
    const test_place at = test_take_place();
    const uint64_t stop[2] = {30, 80};
    gbs_model *model = test_model(TEST_POTTS, 3, 20);
    problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.sweeps = 100;
    p.options.chains = 40;
    p.options.burn_in = 7;
    for (size_t i = 0; i < N_OF(routes); ++i) {
        p.prepare = NULL;
        check_resumed(&p, routes[i], stop, true, &at);
        p.prepare = monitor_first;
        check_resumed(&p, routes[i], stop, false, &at);
    }
    gbs_model_free(model);
    test_leave_place(&at);
}

static void ladders_go_on_too(void **state)
{
    (void)state;
    const test_place at = test_take_place();
    gbs_model *model = test_model(TEST_MIXED, 5, 12);
    for (size_t i = 0; i < N_OF(routes); ++i) {
        const uint64_t stop[2] = {25, 70}; /* in burn-in, and after it */
        problem p = {.model = model, .options = test_ladder_options(i)};
        check_resumed(&p, routes[i], stop, i % 2 == 0, &at);
    }
    gbs_model_free(model);
    test_leave_place(&at);
}

/* ---- what is refused ---- */

static void check_refused(const problem *p, const char *why)
{
    job j = run_job(p, 2, 1, false);
    if (j.of[0].status != GBS_ERR_UNSUPPORTED || strstr(j.of[0].err.message, why) == NULL) {
        fail_msg("expected \"%s\" in: %s", why, j.of[0].err.message);
    }
    drop(&j);
}

static void what_needs_all_chains_is_refused(void **state)
{
    (void)state;
    const gbs_generate_ising_options torus = {.side = {6, 4, 1}, .torus = 1, .coupling = 0.3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&torus, &model, NULL), GBS_OK);
    problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.sweeps = 10;
    problem q = p;
    q.options.scan = GBS_SCAN_SPLASH;
    check_refused(&q, "--scan splash");
    q.options.scan = GBS_SCAN_AUTO;
    check_refused(&q, "--scan auto");
    q.options.scan = GBS_SCAN_SYNCHRONOUS;
    check_refused(&q, "--scan synchronous");
    q = p;
    test_choose_draw(&q.options, GBS_DRAW_BOUNDED_ERROR, 0, 0);
    q.options.threshold = GBS_THRESHOLD_AUTO;
    q.options.sweeps = 300;
    check_refused(&q, "--threshold auto");
    q = p;
    q.options.estimator = GBS_ESTIMATOR_COUNT;
    q.options.lattice = GBS_LATTICE_ALWAYS;
    check_refused(&q, "--lattice never");
    gbs_model_free(model);
}

/* Every rank its own seed. */
static gbs_status live_apart(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    const problem *p = context;
    gbs_run_options options = p->options;
    gbs_run *run = NULL;
    options.seed += ranks->rank;
    const gbs_run_setup setup = {
        .model = p->model, .evidence = p->evidence, .options = &options, .ranks = ranks};
    const gbs_status status = gbs_run_new_with(&setup, &run, err);
    gbs_run_free(run);
    return status;
}

static void ranks_that_differ_are_told(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 10);
    problem p = {.model = model, .options = gbs_run_options_default()};
    gbs_error err = {GBS_OK, ""};
    p.options.seed = 7;
    assert_int_equal(test_on_ranks(2, live_apart, &p, &err), GBS_ERR_STATE);
    assert_non_null(strstr(err.message, "this rank has --seed=8, rank 0 has --seed=7"));
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_has_the_bits_of_one_process),
        cmocka_unit_test(burn_in_and_target_stop_alike),
        cmocka_unit_test(chains_that_disagree_are_told_alike),
        cmocka_unit_test(ladders_have_the_bits_of_one_process),
        cmocka_unit_test(ladders_adapt_alike),
        cmocka_unit_test(auto_turns_to_ladders_alike),
        cmocka_unit_test(traces_are_of_all_chains),
        cmocka_unit_test(draws_come_in_the_order_of_chains),
        cmocka_unit_test(large_and_half_exact_models_too),
        cmocka_unit_test(runs_go_on_on_other_ranks),
        cmocka_unit_test(draws_and_traces_go_on_too),
        cmocka_unit_test(ladders_go_on_too),
        cmocka_unit_test(what_needs_all_chains_is_refused),
        cmocka_unit_test(ranks_that_differ_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
