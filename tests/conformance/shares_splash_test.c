/* SPDX-License-Identifier: Apache-2.0 */
/* Splashes of models that ranks share. On one rank they have the bits of one process; on several
 * the target is left invariant, every model of the table against exact answers; bits depend on the
 * partition, never on threads or interruptions. What changes in which half of a turn is watched.
 * A false alarm: 6 standard errors, some 1e-9 for a normal error, times 1e4 comparisons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "chains/run.h"
#include "drive/partition.h"
#include "ranks/share_run.h"
#include "support/place.h"
#include "support/ranks_alike.h"
#include "support/runs.h"
#include "support/share_runs.h"
#include "support/small_models.h"
#include "support/thread_ranks.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* Everything in turns. */
static test_share_problem problem_of(const gbs_model *model, const gbs_evidence *evidence,
                                     size_t turn)
{
    static const uint64_t sizes[] = {1000, 1, 4, 2, 7};
    static const uint64_t splashes[] = {1, 8, 3};
    test_share_problem p = {.model = model,
                            .evidence = evidence,
                            .options = gbs_run_options_default(),
                            .parts = turn % 2 == 0 ? GBS_PARTS_BREADTH : GBS_PARTS_INTERVALS,
                            .scattered = turn % 4 == 3 ? 1 + (uint32_t)(turn % 3) : 0};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.lattice = GBS_LATTICE_NEVER;
    p.options.scan = GBS_SCAN_SPLASH;
    p.options.width = 1 + turn % 5;
    p.options.splash_size = sizes[turn / 2 % N_OF(sizes)];
    p.options.splashes = splashes[turn % N_OF(splashes)];
    p.options.grow = (int)(turn / 3 % 3);
    p.options.adapt = p.options.grow == GBS_GROW_ADAPTIVE ? 20 : 0;
    p.options.estimator = test_rank_estimators[turn / 2 % 2];
    p.options.chains = test_share_chains[turn % N_OF(test_share_chains)];
    p.options.burn_in = 32;
    p.options.sweeps = 100;
    p.options.seed = 20261124;
    return p;
}

/* ---- one rank -------------------------------------------------------------------------------- */

static void one_rank_has_the_bits_of_one_process(void **state)
{
    (void)state;
    size_t n_run = 0;
    const size_t step = test_scaled(1, 11, 17);
    for (size_t turn = 0; turn < test_n_rank_draws * n_test_cases; turn += step) {
        const test_case *one = &test_cases[turn % n_test_cases];
        gbs_model *model = one->make();
        gbs_evidence *evidence = test_observe(model, one->observe);
        test_share_problem p = problem_of(model, evidence, turn);
        const gbs_run_options drawn =
            test_rank_options(GBS_SCAN_SPLASH, turn / n_test_cases, turn / 2 % 2, p.options.chains);
        p.options.draw = drawn.draw;
        p.options.keys = drawn.keys;
        p.options.bin_rule = drawn.bin_rule;
        p.options.threshold = drawn.threshold;
        n_run += test_check_shares(&p, 1, 1 + turn % 2);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_run * step > test_n_rank_draws * n_test_cases / 6);
}

/* ---- exact answers --------------------------------------------------------------------------- */

static size_t check_exact(const test_case *one, size_t turn)
{
    gbs_model *model = one->make();
    gbs_evidence *evidence = test_observe(model, one->observe);
    test_share_problem p = problem_of(model, evidence, turn);
    const uint32_t n_ranks = 2 + (uint32_t)(turn % 3);
    size_t n = 0;
    p.options.sweeps = test_scaled(768, 768, 256) * (p.options.chains < 8 ? 4 : 1);
    const test_share_job tried = test_run_job(&p, n_ranks, 1);
    if (tried.of[0].status >= 0) {
        test_answer exact = test_exactly(model, evidence);
        test_answer found = test_run_shared(&p, n_ranks, 2);
        assert_string_equal(tried.of[0].report.digest, found.digest);
        n = test_close(one->name, &p.options, &found, &exact);
        test_drop(&found);
        test_drop(&exact);
    } else { /* fewer variables than ranks */
        assert_int_equal(tried.of[0].status, GBS_ERR_ARGUMENT);
    }
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return n;
}

static void marginals_are_exact(void **state)
{
    (void)state;
    size_t n_compared = 0;
    const size_t n_turns = test_scaled(12, 1, 1);
    for (size_t m = 0; m < n_test_cases; ++m) {
        for (size_t i = 0; test_cases[m].crossable && i < n_turns; ++i) {
            n_compared += check_exact(&test_cases[m], m * 7 + i * 5);
        }
    }
    assert_true(n_compared > 400 * n_turns);
}

/* Draws of pairs of neighbours: what a missed exchange at a cut would change. */
typedef struct pairs {
    uint32_t n;
    uint64_t n_draws;
    uint64_t equal[64]; /* of variables v and v + 1 */
} pairs;

static gbs_status count_pairs(void *context, uint64_t draw, uint32_t chain, double log_density,
                              const uint32_t *x, gbs_error *err)
{
    pairs *p = context;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    for (uint32_t v = 0; v + 1 < p->n; ++v) {
        p->equal[v] += x[v] == x[v + 1];
    }
    ++p->n_draws;
    return GBS_OK;
}

typedef struct drawing {
    gbs_share *share[TEST_MOST_RANKS];
    gbs_run_options options;
    pairs *pairs;
} drawing;

static gbs_status draw_on_rank(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const drawing *d = context;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = d->pairs, .draw = count_pairs};
    gbs_run *run = NULL;
    const gbs_run_setup setup = {.options = &d->options,
                                 .task = GBS_RUN_DRAWS,
                                 .ranks = ranks,
                                 .share = d->share[ranks->rank]};
    GBSI_TRY(gbs_run_new_with(&setup, &run, err));
    GBSI_TRY(gbs_run_execute(run, &callbacks, err));
cleanup:
    gbs_run_free(run);
    return status;
}

/* A chain of spins, neighbours equal with probability e^2J / (1 + e^2J), J = 0.5; independent of
 * one another, so that counts of 64 chains, 8 sweeps apart, are nearly binomial. Limit: 6 standard
 * deviations of a count of half as many draws, for each of 39 pairs and 3 numbers of ranks. */
static void neighbours_agree_across_ranks(void **state)
{
    (void)state;
    enum { N = 40 };
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    uint32_t two[N];
    for (uint32_t v = 0; v < N; ++v) {
        two[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, N, two, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v + 1 < N; ++v) {
        assert_int_equal(gbs_builder_add_ising(builder, v, v + 1, 0.5, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    for (uint32_t n_ranks = 2; n_ranks <= 4; ++n_ranks) {
        pairs counted = {.n = N};
        drawing d = {.options = problem_of(model, NULL, n_ranks).options, .pairs = &counted};
        gbs_partition *partition = NULL;
        gbs_error err = {GBS_OK, ""};
        d.options.chains = 64;
        d.options.thin = 8;
        d.options.sweeps = test_scaled(8000, 2000, 800);
        assert_int_equal(gbs_partition_new(model, NULL, &d.options, n_ranks, GBS_PARTS_BREADTH,
                                           &partition, &err),
                         GBS_OK);
        for (uint32_t rank = 0; rank < n_ranks; ++rank) {
            assert_int_equal(gbs_partition_share(partition, rank, &d.share[rank], &err), GBS_OK);
        }
        assert_int_equal(test_on_ranks(n_ranks, draw_on_rank, &d, &err), GBS_OK);
        const double p = 0.7310585786300049;
        const double n = (double)counted.n_draws;
        for (uint32_t v = 0; v + 1 < N; ++v) {
            const double off = (double)counted.equal[v] - n * p;
            assert_true(off * off <= 36.0 * 2.0 * n * p * (1.0 - p));
        }
        for (uint32_t rank = 0; rank < n_ranks; ++rank) {
            gbs_share_free(d.share[rank]);
        }
        gbs_partition_free(partition);
    }
    gbs_builder_free(builder);
    gbs_model_free(model);
}

/* ---- hard zeros ------------------------------------------------------------------------------ */

/* Pairs of equal spins, coupled to the next pair. */
static gbs_model *equal_pairs(void)
{
    enum { N = 16 };
    static const double equal[] = {1.0, 0.0, 0.0, 1.5};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    uint32_t two[N];
    for (uint32_t v = 0; v < N; ++v) {
        two[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, N, two, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; v += 2) {
        const uint32_t scope[] = {v, v + 1};
        assert_int_equal(gbs_builder_add_potential(builder, 2, scope, 4, equal, NULL), GBS_OK);
        if (v + 2 < N) {
            assert_int_equal(gbs_builder_add_ising(builder, v + 1, v + 2, 0.3, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static void zeros_are_crossed_within_a_rank_alone(void **state)
{
    (void)state;
    gbs_model *model = equal_pairs();
    test_answer exact = test_exactly(model, NULL);
    test_share_problem p = {.model = model, .options = gbs_run_options_default(), .scattered = 4};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.scan = GBS_SCAN_SPLASH;
    p.options.sweeps = test_scaled(1 << 14, 1 << 14, 1 << 12);
    p.options.temper = GBS_TEMPER_OFF;
    for (uint32_t n_ranks = 2; n_ranks <= 3; ++n_ranks) {
        test_answer whole = test_run_shared(&p, n_ranks, 1);
        assert_true(test_close("pairs", &p.options, &whole, &exact) > 0);
        assert_null(strstr(whole.report.verdict, "hard zeros"));
        assert_true(whole.report.converged || test_scale_asked() == TEST_SMALL);
        test_drop(&whole);
    }
    p.scattered = 1; /* every pair is cut */
    p.options.sweeps = 300;
    test_answer cut = test_run_shared(&p, 2, 1);
    assert_false(cut.report.converged);
    assert_non_null(strstr(cut.report.verdict, "hard zeros"));
    test_drop(&cut);
    test_drop(&exact);
    gbs_model_free(model);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static void threads_change_no_bit(void **state)
{
    (void)state;
    static gbs_model *(*const make[])(void) = {test_picture, test_strip};
    for (size_t m = 0; m < N_OF(make); ++m) {
        gbs_model *model = make[m]();
        for (size_t turn = 0; turn < 6; turn += test_scaled(1, 3, 4)) {
            test_share_problem p = problem_of(model, NULL, turn);
            p.options.splash_size = turn % 2 == 0 ? 25 : 1000; /* crowded rounds and others */
            p.options.chains = 40;
            p.options.burn_in = 2;
            p.options.adapt = p.options.grow == GBS_GROW_ADAPTIVE ? 3 : 0;
            p.options.sweeps = test_scaled(12, 6, 2);
            const uint32_t n_ranks = 2 + (uint32_t)(turn % 3);
            const test_share_job one = test_run_job(&p, n_ranks, 1);
            assert_int_equal(one.of[0].status, GBS_OK);
            for (uint32_t n_threads = 2; n_threads <= 3; ++n_threads) {
                const test_share_job many = test_run_job(&p, n_ranks, n_threads);
                assert_string_equal(one.of[0].told, many.of[0].told);
                for (uint32_t rank = 0; rank < n_ranks; ++rank) {
                    test_same_report(&one.of[0].report, &many.of[rank].report);
                }
            }
        }
        gbs_model_free(model);
    }
}

/* A commit that changes one says why. */
static void bits_of_some_runs(void **state)
{
    (void)state;
    static const char *const digest[] = {"13accb39cd8cbb48e887bb7048089218",
                                         "4da48a23f31bd9c9962989441a5aec32",
                                         "3c407b2560921723a74771b308e22fdc"};
    gbs_model *model = test_model(TEST_MIXED, 5, 30);
    for (uint32_t i = 0; i < N_OF(digest); ++i) {
        test_share_problem p = problem_of(model, NULL, 2 * i);
        test_answer found = test_run_shared(&p, 2 + i, 1);
        assert_string_equal(found.digest, digest[i]);
        test_drop(&found);
    }
    gbs_model_free(model);
}

/* ---- interrupted ----------------------------------------------------------------------------- */

static test_share_answer stretch(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads)
{
    const test_share_job j = test_run_job(p, n_ranks, n_threads);
    if (j.of[0].status < 0) {
        fail_msg("%u ranks, to pass %u: %s", n_ranks, (unsigned)p->stop_after, j.of[0].err.message);
    }
    return j.of[0];
}

/* In burn-in, where growth adapts, and later. */
static void runs_go_on_with_the_same_parts(void **state)
{
    (void)state;
    static const uint64_t stop[] = {7, 41, 90, 0};
    const test_place at = test_take_place();
    for (size_t turn = 0; turn < 12; turn += test_scaled(1, 4, 5)) {
        gbs_model *model = test_model((test_family)(turn % TEST_N_FAMILIES), turn, 14);
        test_share_problem p = problem_of(model, NULL, turn);
        const uint32_t n_ranks = 2 + (uint32_t)(turn % 3);
        p.gives = turn % 5 == 0;
        const test_share_answer expected = stretch(&p, n_ranks, 1);
        test_share_answer a = {0};
        for (size_t i = 0; i < N_OF(stop); ++i) {
            p.from = i == 0 ? NULL : at.path;
            p.to = at.path;
            p.stop_after = stop[i];
            a = stretch(&p, n_ranks, 1 + (uint32_t)(i % 2));
        }
        assert_string_equal(expected.told, a.told);
        test_same_report(&expected.report, &a.report);
        gbs_model_free(model);
    }
    test_leave_place(&at);
}

/* One rank and one process go on from each other's; other parts are refused. */
static void checkpoints_of_other_parts_are_refused(void **state)
{
    (void)state;
    const test_place at = test_take_place();
    gbs_model *model = test_model(TEST_MIXED, 3, 14);
    test_share_problem p = problem_of(model, NULL, 2);
    const test_share_answer expected = stretch(&p, 0, 1);
    test_share_answer a = {0};
    for (uint32_t i = 0; i < 4; ++i) {
        p.from = i == 0 ? NULL : at.path;
        p.to = at.path;
        p.stop_after = i == 3 ? 0 : 20 + 30 * (uint64_t)i;
        a = stretch(&p, i % 2, 1);
    }
    assert_string_equal(expected.told, a.told);
    p.from = NULL;
    p.stop_after = 50;
    (void)stretch(&p, 3, 1);
    p.from = at.path;
    p.to = NULL;
    static const char why[] = "splashes follow the parts of the model: a checkpoint of 3 (";
    test_check_refused(&p, 2, GBS_ERR_ARGUMENT, why);
    test_check_refused(&p, 1, GBS_ERR_ARGUMENT, why);
    test_check_refused(&p, 0, GBS_ERR_ARGUMENT, why);
    p.parts = GBS_PARTS_INTERVALS;
    test_check_refused(&p, 3, GBS_ERR_ARGUMENT, why);
    gbs_model_free(model);
    test_leave_place(&at);
}

/* ---- what changes when ----------------------------------------------------------------------- */

enum { MOST = 2400 };

/* Of all ranks. */
typedef struct scene {
    gbs_share *share[TEST_MOST_RANKS];
    gbs_run_options options;
    uint64_t told[MOST]; /* by variable of the whole: its states, from its owner */
    uint64_t n_of[3];    /* changes by gbsi_reach, on rank 0 */
} scene;

/* Of one rank. */
typedef struct observer {
    scene *scene;
    gbs_run *run;
    gbsi_batch_hook hook; /* the exchange */
    uint64_t before[MOST];
} observer;

/* States of all chains, as one number. */
static uint64_t states_of(const gbs_run *run, uint32_t slot)
{
    const gbsi_executor *x = &run->sampling.engine.executor;
    uint64_t number = 0;
    for (uint32_t chain = 0; chain < x->n_chains; ++chain) {
        const size_t at = (size_t)slot * x->lanes + chain % x->lanes;
        number = number * UINT64_C(6364136223846793005) + 1 +
                 gbsi_state_at(x->group[chain / x->lanes].state, at, x->plan->value_bytes);
    }
    return number;
}

/* Which slots have changed since the last look. @param may [3] by gbsi_reach: whether they may. */
static gbs_status look(observer *o, const bool *may, gbs_error *err)
{
    const gbs_run *run = o->run;
    for (uint32_t slot = 0; slot < run->sampling.engine.plan->n_slots; ++slot) {
        const uint64_t now = states_of(run, slot);
        const gbsi_reach reach = gbsi_reach_of(run->sampling.engine.turns, slot);
        if (now != o->before[slot] && !may[reach]) {
            return gbsi_fail(err, GBS_ERR_STATE, "a slot of reach %d changed", (int)reach);
        }
        if (run->task.ranks->rank == 0) {
            o->scene->n_of[reach] += now != o->before[slot];
        }
        o->before[slot] = now;
    }
    return GBS_OK;
}

/* All ranks tell what they own, and see whether their halo says the same. */
static gbs_status compare_halo(const observer *o, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run *run = o->run;
    const gbs_share *share = run->task.shared.share;
    const gbs_ranks *ranks = run->task.ranks;
    uint64_t barrier = 0;
    for (uint32_t slot = 0; slot < run->sampling.engine.plan->n_slots; ++slot) {
        if (share->own[share->order[slot]] != 0) {
            o->scene->told[share->of_whole[share->order[slot]]] = states_of(run, slot);
        }
    }
    GBSI_TRY(ranks->combine(ranks->context, GBS_COMBINE_MAX_U64, &barrier, 1, err));
    for (uint32_t slot = 0; slot < run->sampling.engine.plan->n_slots; ++slot) {
        if (o->scene->told[share->of_whole[share->order[slot]]] != states_of(run, slot)) {
            return gbsi_fail(err, GBS_ERR_STATE, "a halo is out of date");
        }
    }
    GBSI_TRY(ranks->combine(ranks->context, GBS_COMBINE_MAX_U64, &barrier, 1, err));
cleanup:
    return status;
}

static gbs_status watch_batch(void *context, uint32_t batch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    observer *o = context;
    const gbsi_turns *turns = o->run->sampling.engine.turns;
    const bool first = batch % 2 == 0;
    const bool own = first && batch / 2 == turns->own;
    GBSI_TRY(look(o, (const bool[]){!first || own, own, false}, err));
    GBSI_TRY(o->hook.after(o->hook.context, batch, err));
    GBSI_TRY(look(o, (const bool[]){false, false, !first}, err));
    if (!first) {
        GBSI_TRY(compare_halo(o, err));
    }
cleanup:
    return status;
}

static gbs_status watch_rank(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    scene *s = context;
    observer o = {.scene = s};
    const gbs_run_setup setup = {
        .options = &s->options, .ranks = ranks, .share = s->share[ranks->rank]};
    GBSI_TRY(gbs_run_new_with(&setup, &o.run, err));
    gbsi_executor *x = &o.run->sampling.engine.executor;
    GBSI_TRY(gbsi_shared_starts(&o.run->task, &o.run->sampling.engine, &o.run->report, err));
    for (uint32_t slot = 0; slot < x->plan->n_slots; ++slot) {
        o.before[slot] = states_of(o.run, slot);
    }
    o.hook = x->hook;
    x->hook = (gbsi_batch_hook){watch_batch, &o};
    for (uint64_t pass = 0; pass < 30; ++pass) {
        GBSI_TRY(gbsi_executor_pass(x, &o.run->sampling.engine.schedule, pass, NULL, false, err));
        if (x->n_updates < s->share[ranks->rank]->n_own) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_STATE, "a pass of too few updates"));
        }
    }
cleanup:
    gbs_run_free(o.run);
    return status;
}

/* Boundary in the own turn alone, interior in both halves, halo by messages alone: bytes of many
 * levels, bits of spins. */
static void splashes_stay_inside_their_rank(void **state)
{
    (void)state;
    for (uint32_t n_ranks = 2; n_ranks <= 4; ++n_ranks) {
        gbs_model *model = n_ranks == 3 ? test_strip() : test_picture();
        scene s = {.options = problem_of(model, NULL, 0).options};
        s.options.chains = n_ranks == 2 ? 3 : 40;
        gbs_partition *partition = NULL;
        gbs_error err = {GBS_OK, ""};
        s.options.splash_size = 40;
        s.options.splashes = 3;
        assert_int_equal(gbs_partition_new(model, NULL, &s.options, n_ranks, GBS_PARTS_INTERVALS,
                                           &partition, &err),
                         GBS_OK);
        for (uint32_t rank = 0; rank < n_ranks; ++rank) {
            assert_int_equal(gbs_partition_share(partition, rank, &s.share[rank], &err), GBS_OK);
        }
        if (test_on_ranks(n_ranks, watch_rank, &s, &err) < 0) {
            fail_msg("%u ranks: %s", n_ranks, err.message);
        }
        for (int reach = 0; reach < 3; ++reach) {
            assert_true(s.n_of[reach] > 100);
        }
        for (uint32_t rank = 0; rank < n_ranks; ++rank) {
            gbs_share_free(s.share[rank]);
        }
        gbs_partition_free(partition);
        gbs_model_free(model);
    }
}

/* No two ranks of a factor have one turn, and no rank a turn that an earlier one leaves free. */
static void ranks_of_a_factor_have_other_turns(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        gbs_model *model = test_model((test_family)family, 7, 60);
        const gbs_run_options options = problem_of(model, NULL, 0).options;
        gbs_error err = {GBS_OK, ""};
        for (uint32_t n_ranks = 1; n_ranks <= 47; n_ranks += 23) {
            gbs_partition *partition = NULL;
            uint32_t turn[47];
            assert_int_equal(gbs_partition_new(model, NULL, &options, n_ranks, GBS_PARTS_BREADTH,
                                               &partition, &err),
                             GBS_OK);
            const gbsi_factors *f = &partition->run->task.problem.part->factors;
            assert_int_equal(gbsi_turns_of_ranks(f, partition->owner, n_ranks, turn, &err), GBS_OK);
            for (size_t i = 0; i < f->n_factors; ++i) {
                for (size_t a = f->scope_start[i]; a < f->scope_start[i + 1]; ++a) {
                    for (size_t b = f->scope_start[i]; b < a; ++b) {
                        const uint32_t r = partition->owner[f->scope[a]];
                        const uint32_t t = partition->owner[f->scope[b]];
                        assert_true(r == t || turn[r] != turn[t]);
                    }
                }
            }
            uint32_t most = 0;
            for (uint32_t rank = 0; rank < n_ranks; ++rank) {
                assert_true(turn[rank] <= most);
                most += turn[rank] == most;
            }
            gbs_partition_free(partition);
        }
        gbs_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank_has_the_bits_of_one_process),
        cmocka_unit_test(marginals_are_exact),
        cmocka_unit_test(neighbours_agree_across_ranks),
        cmocka_unit_test(zeros_are_crossed_within_a_rank_alone),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(bits_of_some_runs),
        cmocka_unit_test(runs_go_on_with_the_same_parts),
        cmocka_unit_test(checkpoints_of_other_parts_are_refused),
        cmocka_unit_test(splashes_stay_inside_their_rank),
        cmocka_unit_test(ranks_of_a_factor_have_other_turns),
    };
    return cmocka_run_group_tests_name("shares_splash", tests, NULL, NULL);
}
