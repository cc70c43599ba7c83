/* SPDX-License-Identifier: Apache-2.0 */
/* Models that ranks share: the bits of one process, whatever scan, draw, estimator, number of
 * chains and partition, with 1 to 4 ranks of 1 or 2 threads, from shares in memory and from files.
 * Ranks are threads here (support/thread_ranks.h); tests/mpi runs processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "sampler/partition.h"
#include "sampler/run.h"
#include "support/ranks_alike.h"
#include "support/runs.h"
#include "support/small_models.h"
#include "support/thread_ranks.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])
#define MOST_RANKS  4

static const int scans[] = {GBS_SCAN_CHROMATIC, GBS_SCAN_SYSTEMATIC, GBS_SCAN_SYNCHRONOUS,
                            GBS_SCAN_SEQUENCE};

static const uint64_t chains[] = {1, 3, 7, 16, 17};
static const gbs_parts parts[] = {GBS_PARTS_BREADTH, GBS_PARTS_INTERVALS, GBS_PARTS_AUTO};

/* ---- a run ---- */

typedef struct problem {
    const gbs_model *model;
    const gbs_evidence *evidence;
    gbs_run_options options;
    gbs_parts parts;
    bool scattered;     /* variables are given to ranks in turn: as bad as it gets */
    const char *folder; /* shares go through files here; NULL: through messages */
    bool gives;         /* draws, rather than marginals */
} problem;

typedef struct answer {
    gbs_status status;
    gbs_error err;
    gbs_report report;
    size_t n_warnings;
    size_t n; /* given to `sink` */
    char told[33];
} answer;

typedef struct job {
    problem problem;
    gbsi_digest *digest; /* of what rank 0 was told */
    const gbs_partition *partition;
    gbs_share *share[MOST_RANKS];
    answer of[MOST_RANKS];
} job;

static gbs_status hear_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    const job *j = context;
    const uint64_t number[2] = {draw, chain};
    (void)err;
    gbsi_digest_bytes(j->digest, number, sizeof number);
    gbsi_digest_f64(j->digest, &log_density, 1);
    gbsi_digest_u32(j->digest, state, gbs_model_n_variables(j->problem.model));
    return GBS_OK;
}

static gbs_status hear_marginal(void *context, uint32_t variable, uint32_t arity, const double *p,
                                const double *mcse, const double *ess, const double *rhat,
                                gbs_error *err)
{
    const job *j = context;
    const double *value[] = {p, mcse, ess, rhat};
    (void)err;
    gbsi_digest_u32(j->digest, &variable, 1);
    for (size_t i = 0; i < N_OF(value) * arity; ++i) {
        const double v = value[i / arity][i % arity];
        const double told = v == v ? v : -1.0;
        gbsi_digest_f64(j->digest, &told, 1);
    }
    return GBS_OK;
}

static gbs_status answer_with(gbs_run *run, job *j, answer *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = j, .draw = j->problem.gives ? hear_draw : NULL};
    GBSI_TRY(gbs_run_execute(run, &callbacks, err));
    a->report = *gbs_run_report(run);
    a->n_warnings = a->report.n_warnings;
    if (!j->problem.gives) {
        GBSI_TRY(gbs_run_each_marginal(run, hear_marginal, j, err));
    }
cleanup:
    return status;
}

static gbs_status live(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    job *j = context;
    gbs_run *run = NULL;
    GBSI_TRY(gbs_run_new_of_share(j->share[ranks->rank], ranks->rank == 0 ? j->partition : NULL,
                                  ranks, &j->problem.options, &run, err));
    GBSI_TRY(answer_with(run, j, &j->of[ranks->rank], err));
cleanup:
    gbs_run_free(run);
    return status;
}

static gbs_status live_alone(job *j, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    GBSI_TRY(gbs_run_new(j->problem.model, j->problem.evidence, &j->problem.options, &run, err));
    GBSI_TRY(answer_with(run, j, &j->of[0], err));
cleanup:
    gbs_run_free(run);
    return status;
}

/* A share as another process would get it. */
static gbs_status take_share(const problem *p, const gbs_partition *partition, uint32_t rank,
                             gbs_share **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_share *share = NULL;
    void *bytes = NULL;
    size_t n = 0;
    char path[512];
    GBSI_TRY(gbs_partition_share(partition, rank, &share, err));
    if (p->folder != NULL) {
        (void)snprintf(path, sizeof path, "%s/%u.share", p->folder, rank);
        GBSI_TRY(gbs_share_write(share, path, err));
        GBSI_TRY(gbs_share_read(path, out, err));
        (void)unlink(path);
    } else {
        GBSI_TRY(gbs_share_pack(share, &bytes, &n, err));
        GBSI_TRY(gbs_share_unpack(bytes, n, out, err));
    }
cleanup:
    gbs_share_bytes_free(bytes);
    gbs_share_free(share);
    return status;
}

static void scatter(gbs_partition *partition, uint32_t n_ranks)
{
    for (uint32_t v = 0; v < partition->facts.n_free; ++v) {
        partition->owner[v] = v % n_ranks;
    }
}

static gbs_status live_shared(job *j, uint32_t n_ranks, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const problem *p = &j->problem;
    gbs_partition *partition = NULL;
    GBSI_TRY(
        gbs_partition_new(p->model, p->evidence, &p->options, n_ranks, p->parts, &partition, err));
    if (p->scattered) {
        scatter(partition, n_ranks);
    }
    j->partition = partition;
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        GBSI_TRY(take_share(p, partition, rank, &j->share[rank], err));
    }
    if ((gbsi_scan_traits(p->options.scan) & GBSI_SCAN_READS) != 0) { /* the shares have read it */
        j->problem.options.scan = GBS_SCAN_USUAL;
        j->problem.options.sequence = NULL;
        j->problem.options.sequence_length = 0;
    }
    GBSI_TRY(test_on_ranks(n_ranks, live, j, err));
cleanup:
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        gbs_share_free(j->share[rank]);
    }
    gbs_partition_free(partition);
    return status;
}

/* @param n_ranks 0: one process. */
static job run_job(const problem *p, uint32_t n_ranks, uint32_t n_threads)
{
    job j = {.problem = *p};
    answer *first = &j.of[0];
    j.problem.options.threads = n_threads;
    assert_int_equal(gbsi_digest_new(&j.digest, NULL), GBS_OK);
    first->status =
        n_ranks == 0 ? live_alone(&j, &first->err) : live_shared(&j, n_ranks, &first->err);
    gbsi_digest_text(j.digest, first->told);
    gbsi_digest_free(j.digest);
    return j;
}

/* @return whether it was run: what one process refuses is refused here too. */
static bool check_shares(const problem *p, uint32_t n_ranks, uint32_t n_threads)
{
    job one = run_job(p, 0, 1);
    job many = run_job(p, n_ranks, n_threads);
    if (many.of[0].status == GBS_ERR_UNSUPPORTED || many.of[0].status == GBS_ERR_ARGUMENT) {
        return false;
    }
    if (many.of[0].status != one.of[0].status) {
        fail_msg("one process: status %d %s; %u ranks: status %d %s", one.of[0].status,
                 one.of[0].err.message, n_ranks, many.of[0].status, many.of[0].err.message);
    }
    for (uint32_t rank = 0; one.of[0].status >= 0 && rank < n_ranks; ++rank) {
        test_same_report(&one.of[0].report, &many.of[rank].report);
        assert_int_equal(one.of[0].n_warnings, many.of[rank].n_warnings);
    }
    assert_string_equal(one.of[0].told, many.of[0].told);
    return one.of[0].status >= 0;
}

/* ---- every combination ----------------------------------------------------------------------- */

static bool check_case(const test_case *one, size_t scan, size_t draw, size_t estimator,
                       size_t turn)
{
    gbs_model *model = one->make();
    const uint32_t n = gbs_model_n_variables(model);
    gbs_evidence *evidence = test_observe(model, one->observe);
    uint32_t *sequence = calloc(2 * (size_t)n + 1, sizeof *sequence);
    problem p = {.model = model,
                 .evidence = evidence,
                 .parts = parts[turn % N_OF(parts)],
                 .scattered = turn % 4 == 0};
    p.options = test_rank_options(scans[scan], draw, estimator, chains[turn % N_OF(chains)]);
    if (p.options.scan == GBS_SCAN_SEQUENCE) {
        p.options.sequence_length = test_rank_sequence(n, sequence);
        p.options.sequence = sequence;
    }
    const bool run = check_shares(&p, 1 + turn % MOST_RANKS, 1 + turn / MOST_RANKS % 2);
    free(sequence);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return run;
}

static void every_combination_has_the_bits_of_one_process(void **state)
{
    (void)state;
    size_t turn = 0;
    size_t n_run = 0;
    const size_t step = test_scaled(1, 7, 71);
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
    assert_true(n_run > turn / step / 3);
}

/* ---- random models, larger ones, decisions --------------------------------------------------- */

static void check_all_ranks(problem *p)
{
    for (uint32_t n_ranks = 1; n_ranks <= MOST_RANKS; ++n_ranks) {
        p->scattered = n_ranks % 2 == 1;
        assert_true(check_shares(p, n_ranks, 1 + n_ranks % 2));
    }
}

static void random_models_of_every_kind(void **state)
{
    (void)state;
    problem p = {.options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.sweeps = 40;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 1; seed <= test_scaled(20, 3, 1); ++seed) {
            gbs_model *model = test_model((test_family)family, seed, 40);
            p.model = model;
            p.options.chains = chains[seed % N_OF(chains)];
            p.options.burn_in = seed % 2 == 0 ? 3 : GBS_BURN_IN_AUTO;
            check_all_ranks(&p);
            gbs_model_free(model);
        }
    }
}

static void burn_in_and_target_stop_alike(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_MIXED, 5, 30);
    problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.target_error = 0.03;
    p.options.temper = GBS_TEMPER_OFF;
    p.options.max_updates = 1000000;
    for (size_t i = 0; i < N_OF(chains); ++i) {
        p.options.chains = chains[i];
        check_all_ranks(&p);
    }
    gbs_model_free(model);
}

static void draws_are_put_together(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_BAYES, 3, 20);
    gbs_evidence *evidence = test_observe(model, 2);
    problem p = {.model = model, .evidence = evidence, .gives = true};
    p.options = gbs_run_options_default();
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.sweeps = 30;
    p.options.thin = 3;
    for (size_t i = 0; i < N_OF(chains); ++i) {
        p.options.chains = chains[i];
        check_all_ranks(&p);
    }
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* Rows long enough to be shared by threads; shares through files. */
static void large_models_through_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/gibbsite_shares_XXXXXX";
    assert_non_null(mkdtemp(folder));
    gbs_model *picture = test_picture();
    problem p = {.model = picture, .folder = folder, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.sweeps = 70;
    p.options.burn_in = 3;
    p.options.chains = 40;
    for (int estimator = 0; estimator < 2; ++estimator) {
        p.options.estimator = test_rank_estimators[estimator];
        check_all_ranks(&p);
    }
    gbs_model_free(picture);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- what is refused ---- */

static void check_refused(const problem *p, uint32_t n_ranks, gbs_status status, const char *why)
{
    job j = run_job(p, n_ranks, 1);
    if (j.of[0].status != status || strstr(j.of[0].err.message, why) == NULL) {
        fail_msg("expected \"%s\" in: %s", why, j.of[0].err.message);
    }
}

static void what_needs_the_whole_is_refused(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 3, 12);
    problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.sweeps = 10;
    problem q = p;
    q.options.method = GBS_METHOD_EXACT;
    check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--method");
    q = p;
    q.options.temper = 8;
    check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--temper");
    q = p;
    q.options.scan = GBS_SCAN_SPLASH;
    check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "scan splash");
    q.options.scan = GBS_SCAN_RANDOM;
    check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "scan random");
    q.options.scan = GBS_SCAN_AUTO;
    check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--scan auto");
    q = p;
    test_choose_draw(&q.options, GBS_DRAW_HERDED_COMPLETE, 0, 0);
    check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--draw");
    q = p;
    gbs_model_free(model);
    model = test_model(TEST_ISING, 3, 2);
    p.model = model;
    check_refused(&p, 3, GBS_ERR_ARGUMENT, "3 ranks for 2 variables");
    gbs_model_free(model);
}

/* Every rank the share of rank 0. */
static gbs_status live_alike(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    job *j = context;
    gbs_run *run = NULL;
    const gbs_status status =
        gbs_run_new_of_share(j->share[0], NULL, ranks, &j->problem.options, &run, err);
    gbs_run_free(run);
    return status;
}

static void shares_of_other_ranks_are_told(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 10);
    job j = {.problem = {.model = model, .options = gbs_run_options_default()}};
    gbs_partition *partition = NULL;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_partition_new(model, NULL, NULL, 2, GBS_PARTS_AUTO, &partition, &err),
                     GBS_OK);
    assert_int_equal(gbs_partition_share(partition, 0, &j.share[0], &err), GBS_OK);
    assert_int_equal(test_on_ranks(2, live_alike, &j, &err), GBS_ERR_STATE);
    gbs_share_free(j.share[0]);
    gbs_partition_free(partition);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_has_the_bits_of_one_process),
        cmocka_unit_test(random_models_of_every_kind),
        cmocka_unit_test(burn_in_and_target_stop_alike),
        cmocka_unit_test(draws_are_put_together),
        cmocka_unit_test(large_models_through_files),
        cmocka_unit_test(what_needs_the_whole_is_refused),
        cmocka_unit_test(shares_of_other_ranks_are_told),
    };
    return cmocka_run_group_tests_name("shares", tests, NULL, NULL);
}
