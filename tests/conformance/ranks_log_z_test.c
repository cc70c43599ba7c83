/* SPDX-License-Identifier: Apache-2.0 */
/* ln Z with its chains on several ranks: the report of one process, bit by bit, from 1 to 4 ranks
 * of 1 or 2 threads, also resumed on another number of ranks; and what fails or stops on one rank
 * does so on all. Ranks are threads here (support/thread_ranks.h); tests/mpi runs processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ask/inspect.h"
#include "base/machine.h"
#include "base/status.h"
#include "ladders/tempered_inside.h"
#include "support/place.h"
#include "support/ranks_alike.h"
#include "support/runs.h"
#include "support/small_models.h"
#include "support/thread_ranks.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])
#define MOST_RANKS  4

/* One chain a group; a group and a bit; two and a half: some ranks have none. */
static const uint64_t chains[] = {1, 3, 7, 16, 17, 40, 70};
static const int scans[] = {GBS_SCAN_CHROMATIC, GBS_SCAN_SYSTEMATIC, GBS_SCAN_RANDOM,
                            GBS_SCAN_PERMUTED, GBS_SCAN_USUAL};

/* ---- a job ---- */

typedef struct job {
    const gbs_model *model;
    const gbs_evidence *evidence;
    gbs_run_options options;
    const char *from, *to; /* checkpoints; NULL: none */
    uint32_t odd_one;      /* the rank that ... */
    uint64_t odd_limit;    /* ... has another memory limit, 0: the same, ... */
    uint64_t odd_seed;     /* ... or seed, ... */
    bool odd_one_keeps;    /* ... or a checkpoint, ... */
    bool odd_one_stops;    /* ... or stops, as by a signal */
    gbs_log_z_report of[MOST_RANKS];
    gbs_error err[MOST_RANKS];
    gbs_status status[MOST_RANKS];
} job;

static int stop_now(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return 1;
}

static gbs_status live(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    job *j = context;
    const uint32_t rank = ranks->rank;
    const bool odd = rank == j->odd_one;
    const gbs_checkpoint_files files = {.size = sizeof files,
                                        .write = odd && j->odd_one_keeps ? "/tmp/never" : j->to,
                                        .resume = j->from};
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks,
                                         .progress = odd && j->odd_one_stops ? stop_now : NULL};
    gbs_run_options options = j->options;
    options.memory_limit = odd && j->odd_limit > 0 ? j->odd_limit : options.memory_limit;
    options.seed = odd && j->odd_seed > 0 ? j->odd_seed : options.seed;
    j->of[rank] = (gbs_log_z_report){.size = sizeof j->of[rank], .log_z = 7.0};
    j->status[rank] = gbs_log_z_with(ranks, j->model, j->evidence, &options, &files, &callbacks,
                                     &j->of[rank], &j->err[rank]);
    return j->status[rank] < 0 ? gbsi_fail(err, j->status[rank], "%s", j->err[rank].message)
                               : j->status[rank];
}

/* @param n_ranks 0: one process. */
static void go(job *j, uint32_t n_ranks, uint32_t n_threads)
{
    const gbs_checkpoint_files files = {.size = sizeof files, .write = j->to, .resume = j->from};
    j->options.threads = n_threads;
    if (n_ranks > 0) {
        (void)test_on_ranks(n_ranks, live, j, NULL);
        return;
    }
    j->of[0] = (gbs_log_z_report){.size = sizeof j->of[0], .log_z = 7.0};
    j->status[0] = gbs_log_z_with(NULL, j->model, j->evidence, &j->options, &files, NULL, &j->of[0],
                                  &j->err[0]);
}

static void same_report(const gbs_log_z_report *a, const gbs_log_z_report *b)
{
    const double one[] = {a->log_z,       a->error, a->low,     a->high,
                          a->lower_bound, a->ess,   a->barrier, a->valid_share};
    const double other[] = {b->log_z,       b->error, b->low,     b->high,
                            b->lower_bound, b->ess,   b->barrier, b->valid_share};
    const uint64_t counts[] = {
        a->n_free_variables,  a->n_exact_variables,   a->chains,  a->rounds, a->temperatures,
        a->updates,           (uint64_t)a->converged, a->burn_in, a->sweeps, a->round_trips,
        (uint64_t)a->tempered};
    const uint64_t others[] = {
        b->n_free_variables,  b->n_exact_variables,   b->chains,  b->rounds, b->temperatures,
        b->updates,           (uint64_t)b->converged, b->burn_in, b->sweeps, b->round_trips,
        (uint64_t)b->tempered};
    test_same_numbers(one, other, N_OF(one), "number of the report");
    assert_memory_equal(counts, others, sizeof counts);
    assert_string_equal(a->verdict, b->verdict);
    assert_string_equal(a->stop, b->stop);
}

/* Every rank has the report of one process. */
static gbs_log_z_report check_ranks(const job *j, uint32_t n_ranks, uint32_t n_threads)
{
    job one = *j;
    job many = *j;
    go(&one, 0, 1);
    go(&many, n_ranks, n_threads);
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        if (one.status[0] < 0 || many.status[rank] != one.status[0]) {
            fail_msg("one process: %d %s; rank %u of %u: %d %s", one.status[0], one.err[0].message,
                     rank, n_ranks, many.status[rank], many.err[rank].message);
        }
        same_report(&one.of[0], &many.of[rank]);
    }
    return one.of[0];
}

static gbs_run_options annealed(uint64_t sweeps, uint64_t n_chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.temper = GBS_TEMPER_OFF;
    options.sweeps = sweeps;
    options.chains = n_chains;
    options.seed = 20261124;
    return options;
}

static gbs_run_options climbing(uint64_t sweeps, size_t shape)
{
    gbs_run_options options = test_ladder_options(shape);
    options.thin = 1;
    options.sweeps = sweeps;
    return options;
}

static gbs_model *glass(uint32_t side)
{
    const gbs_generate_ising_options how = {
        .side = {side, side, 1}, .coupling_spread = 0.7, .seed = 5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    return model;
}

/* ---- the same bits ---- */

/* The table of models has hard zeros of every kind, evidence, and models without a free variable.
 * 7 numbers of chains, 5 scans, 4 of ranks, 2 of threads take turns. */
static void every_model_has_the_bits_of_one_process(void **state)
{
    (void)state;
    size_t turn = 0;
    for (size_t round = 0; round < test_scaled(14, 3, 1); ++round) {
        for (size_t c = 0; c < n_test_cases; ++c, ++turn) {
            gbs_model *model = test_cases[c].make();
            gbs_evidence *evidence = test_observe(model, test_cases[c].observe);
            job j = {.model = model, .evidence = evidence, .options = annealed(60, 1)};
            j.options.chains = chains[turn % N_OF(chains)];
            j.options.scan = scans[turn % N_OF(scans)];
            (void)check_ranks(&j, 1 + turn % MOST_RANKS, 1 + turn / MOST_RANKS % 2);
            gbs_evidence_free(evidence);
            gbs_model_free(model);
        }
    }
}

static void ladders_of_every_model_have_the_bits_of_one_process(void **state)
{
    (void)state;
    for (size_t c = 0; c < n_test_cases; ++c) {
        gbs_model *model = test_cases[c].make();
        gbs_evidence *evidence = test_observe(model, test_cases[c].observe);
        job j = {.model = model, .evidence = evidence};
        j.options = climbing(60, c);
        (void)check_ranks(&j, 1 + c % MOST_RANKS, 1 + c / MOST_RANKS % 2);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* Levels that move, penalties that rise, blocks, and an end by the error. */
static void ladders_adapt_alike(void **state)
{
    (void)state;
    gbs_model *model[] = {test_model(TEST_ISING, 5, 12), glass(5)};
    for (size_t i = 0; i < N_OF(model); ++i) {
        job j = {.model = model[i], .options = gbs_run_options_default()};
        j.options.method = GBS_METHOD_SAMPLE;
        j.options.target_error = 0.5;
        const gbs_log_z_report r = check_ranks(&j, 2 + (uint32_t)i, 1);
        assert_true(r.tempered != 0 && r.burn_in > 1000);
        gbs_model_free(model[i]);
    }
}

static void until_the_target(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 12);
    job j = {.model = model, .options = annealed(0, 40)};
    j.options.target_error = 0.1;
    for (uint32_t n_ranks = 1; n_ranks <= MOST_RANKS; ++n_ranks) {
        assert_string_equal(check_ranks(&j, n_ranks, 1 + n_ranks % 2).stop, "target");
    }
    gbs_model_free(model);
}

/* All exact, where no ladder is asked for; and too many variables for ladders. */
static void what_auto_chooses(void **state)
{
    (void)state;
    gbs_model *small = glass(5);
    gbs_model *large = glass(70);
    job j = {.model = small, .options = gbs_run_options_default()};
    assert_string_equal(check_ranks(&j, 3, 2).stop, "exact");
    j.model = large;
    j.options.method = GBS_METHOD_SAMPLE;
    j.options.chains = 33;
    j.options.sweeps = 8;
    assert_int_equal(check_ranks(&j, 3, 2).tempered, 0);
    gbs_model_free(large);
    gbs_model_free(small);
}

/* Two components: one summed by every rank, the other too large for the memory that is allowed. */
static void partly_exact(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    const gbs_generate_ising_options how = {.side = {40, 40, 1}, .coupling = 0.3};
    gbs_evidence *evidence = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
    for (uint32_t row = 0; row < 40; ++row) { /* a wall between 2 columns and 37 */
        assert_int_equal(gbs_evidence_observe(evidence, 40 * row + 2, row % 2, NULL), GBS_OK);
    }
    job j = {.model = model, .evidence = evidence, .options = annealed(20, 20)};
    j.options.method = GBS_METHOD_AUTO;
    const gbs_log_z_report r = check_ranks(&j, 3, 1);
    assert_int_equal(r.n_exact_variables, 80);
    assert_int_equal(r.n_free_variables, 39 * 40);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* ---- resumed ---- */

static gbs_model *make_case(const char *name)
{
    size_t i = 0;
    while (strcmp(test_cases[i].name, name) != 0) {
        ++i;
    }
    return test_cases[i].make();
}

/* On 3 ranks, in one process, on 2 ranks, and to the end on 4. */
static void goes_on_on_another_number_of_ranks(void **state)
{
    (void)state;
    char folder[] = "/tmp/gibbsite_ranks_log_z_XXXXXX";
    char path[64];
    char older[72];
    static const uint32_t ranks[] = {3, 0, 2};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/run.ckpt", folder);
    (void)snprintf(older, sizeof older, "%s~", path);
    gbs_model *model[] = {glass(6), make_case("coloring"), make_case("sparse-zeros"), glass(5),
                          make_case("hard-cardinalities")};
    for (size_t i = 0; i < N_OF(model); ++i) {
        job whole = {.model = model[i], .options = annealed(200, 40)};
        whole.options = i < 3 ? whole.options : climbing(100, i);
        go(&whole, 0, 1);
        assert_int_equal(whole.status[0], GBS_OK);
        job part = {.model = model[i], .options = whole.options, .to = path};
        for (size_t k = 0; k < N_OF(ranks); ++k) {
            part.options.max_updates = (k + 1) * (whole.of[0].updates / 4);
            part.from = k == 0 ? NULL : path;
            go(&part, ranks[k], 2);
            assert_int_equal(part.status[0], GBS_STOPPED);
        }
        job last = {.model = model[i], .options = whole.options, .from = path};
        go(&last, 4, 1);
        for (uint32_t rank = 0; rank < 4; ++rank) {
            assert_int_equal(last.status[rank], GBS_OK);
            same_report(&whole.of[0], &last.of[rank]);
        }
        gbs_model_free(model[i]);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(older), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- what one rank does, all do ---- */

static void check_failure(const job *j, gbs_status status, const char *why)
{
    for (uint32_t n_ranks = 2; n_ranks <= MOST_RANKS; ++n_ranks) {
        job many = *j;
        go(&many, n_ranks, 1);
        for (uint32_t rank = 0; rank < n_ranks; ++rank) {
            if (many.status[rank] != status || strstr(many.err[rank].message, why) == NULL) {
                fail_msg("rank %u of %u: %d %s, expected %s", rank, n_ranks, many.status[rank],
                         many.err[rank].message, why);
            }
            assert_true(many.of[rank].log_z == 7.0);
        }
    }
}

static void failures_are_alike(void **state)
{
    (void)state;
    gbs_model *model = glass(6);
    job j = {.model = model, .options = annealed(100, 40), .odd_one = 1};
    j.odd_limit = 1000;
    check_failure(&j, GBS_ERR_LIMIT, "rank 1: ");
    j.odd_limit = 0;
    j.odd_seed = 3;
    check_failure(&j, GBS_ERR_STATE, "rank 1: this rank has --seed=3, rank 0 has --seed=20261124");
    j.odd_seed = 0;
    j.odd_one_keeps = true;
    check_failure(&j, GBS_ERR_STATE,
                  "rank 1: this rank has --checkpoint=yes, rank 0 has --checkpoint=no");
    j.odd_one_keeps = false;
    j.to = "/nowhere/run.ckpt"; /* of rank 0 alone */
    check_failure(&j, GBS_ERR_IO, "rank 0: /nowhere/run.ckpt");
    j.to = NULL;
    j.from = "/nowhere/run.ckpt";
    check_failure(&j, GBS_ERR_IO, "/nowhere/run.ckpt");
    j.from = NULL;
    j.options.draw = GBS_DRAW_HERDED;
    check_failure(&j, GBS_ERR_ARGUMENT, "--draw random");
    j.options = annealed(100, 40);
    j.options.temper = 8;
    j.odd_limit = 1000;
    check_failure(&j, GBS_ERR_LIMIT, "rank 1: ");
    j.odd_limit = 0;
    j.to = "/nowhere/run.ckpt";
    check_failure(&j, GBS_ERR_IO, "rank 0: /nowhere/run.ckpt");
    j.to = NULL;
    j.options.temper = GBS_TEMPER_OFF;
    j.options.scan = GBS_SCAN_SPLASH;
    check_failure(&j, GBS_ERR_ARGUMENT, "splash chains are not annealed");
    gbs_model_free(model);
}

/* Rank 1 may not sum what the others sum. */
static void memory_that_decides_is_told(void **state)
{
    (void)state;
    const gbs_generate_ising_options how = {.side = {18, 40, 1}, .coupling = 0.3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    job j = {.model = model, .options = annealed(20, 16), .odd_one = 1};
    j.options.method = GBS_METHOD_AUTO;
    j.options.memory_limit = UINT64_C(1) << 32;
    j.odd_limit = gbsi_process_bytes() + (UINT64_C(24) << 20); /* a table takes 32 MiB */
    check_failure(&j, GBS_ERR_STATE, "rank 1: this rank would answer 0 of 720 variables exactly");
    gbs_model_free(model);
}

static void a_stop_on_one_rank_ends_all(void **state)
{
    (void)state;
    gbs_model *model = glass(6);
    job j = {.model = model,
             .options = annealed(UINT64_C(1) << 40, 40),
             .odd_one = 2,
             .odd_one_stops = true};
    for (int tempered = 0; tempered < 2; ++tempered) {
        j.options = tempered != 0 ? climbing(UINT64_C(1) << 40, 1) : j.options;
        go(&j, 3, 1);
        for (uint32_t rank = 0; rank < 3; ++rank) {
            assert_int_equal(j.status[rank], GBS_STOPPED);
            assert_string_equal(j.of[rank].stop, "signal");
            same_report(&j.of[0], &j.of[rank]);
        }
    }
    gbs_model_free(model);
}

/* After some batches rank 1 can go no further. */
static gbs_status fail_soon(void *context, uint32_t batch, gbs_error *err)
{
    uint32_t *left = context;
    (void)batch;
    return (*left)-- > 0 ? GBS_OK : gbsi_fail(err, GBS_ERR_MEMORY, "no more");
}

static gbs_status live_and_fail(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    const job *j = context;
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbsi_drive drive;
    uint32_t left = 9;
    gbs_log_z_report report = {.size = sizeof report};
    const gbs_run_callbacks nobody = {0};
    const gbsi_run_purpose purpose = {
        .limited = true, .anneals = true, .up_only = true, .ranks = ranks};
    GBSI_TRY(gbsi_run_open(j->model, NULL, &j->options, &purpose, &run, err));
    gbsi_drive_begin(&drive, run, &nobody);
    const bool climbs = j->options.temper > GBS_TEMPER_OFF;
    if (climbs) {
        GBSI_TRY(gbsi_tempered_begin(&run->task, &run->sampling.engine, &run->memory, &run->report,
                                     &drive, &run->sampling.tempered, err));
    }
    gbsi_executor *x = climbs ? &run->sampling.tempered->executor : &run->sampling.engine.executor;
    x->hook.after = ranks->rank == 1 ? fail_soon : NULL;
    x->hook.context = &left;
    status =
        (climbs ? gbsi_log_z_by_ladders : gbsi_log_z_by_annealing)(run, &drive, 0.0, &report, err);
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
cleanup:
    gbs_run_free(run);
    return status;
}

static void a_pass_that_fails_ends_all(void **state)
{
    (void)state;
    gbs_error err = {GBS_OK, ""};
    gbs_model *model = glass(6);
    job j = {.model = model, .options = annealed(100, 40)};
    j.options.lattice = GBS_LATTICE_NEVER;
    assert_int_equal(test_on_ranks(3, live_and_fail, &j, &err), GBS_ERR_MEMORY);
    assert_string_equal(err.message, "rank 1: no more");
    j.options = climbing(100, 1);
    assert_int_equal(test_on_ranks(3, live_and_fail, &j, &err), GBS_ERR_MEMORY);
    assert_string_equal(err.message, "rank 1: no more");
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_has_the_bits_of_one_process),
        cmocka_unit_test(ladders_of_every_model_have_the_bits_of_one_process),
        cmocka_unit_test(ladders_adapt_alike),
        cmocka_unit_test(until_the_target),
        cmocka_unit_test(what_auto_chooses),
        cmocka_unit_test(partly_exact),
        cmocka_unit_test(goes_on_on_another_number_of_ranks),
        cmocka_unit_test(failures_are_alike),
        cmocka_unit_test(memory_that_decides_is_told),
        cmocka_unit_test(a_stop_on_one_rank_ends_all),
        cmocka_unit_test(a_pass_that_fails_ends_all),
    };
    return cmocka_run_group_tests_name("ranks_log_z", tests, NULL, NULL);
}
