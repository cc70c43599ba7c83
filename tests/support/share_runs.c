/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/share_runs.h"

#include "chains/run.h"
#include "drive/partition.h"
#include "support/ranks_alike.h"
#include "support/thread_ranks.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

const int test_share_scans[] = {GBS_SCAN_CHROMATIC, GBS_SCAN_SYSTEMATIC, GBS_SCAN_SYNCHRONOUS,
                                GBS_SCAN_SEQUENCE};
const uint64_t test_share_chains[] = {1, 3, 7, 16, 17};
const gbs_parts test_share_parts[] = {GBS_PARTS_BREADTH, GBS_PARTS_INTERVALS, GBS_PARTS_AUTO};

static gbs_status hear_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    const test_share_job *j = context;
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
    const test_share_job *j = context;
    const double *value[] = {p, mcse, ess, rhat};
    (void)err;
    gbsi_digest_u32(j->digest, &variable, 1);
    for (uint32_t a = 0; j->answer != NULL && a < arity; ++a) {
        j->answer->p[j->answer->n] = p[a];
        j->answer->mcse[j->answer->n++] = mcse[a];
    }
    for (size_t i = 0; i < N_OF(value) * arity; ++i) {
        const double v = value[i / arity][i % arity];
        const double told = v == v ? v : -1.0;
        gbsi_digest_f64(j->digest, &told, 1);
    }
    return GBS_OK;
}

static gbs_status answer_with(gbs_run *run, test_share_job *j, test_share_answer *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = j, .draw = j->problem.gives ? hear_draw : NULL};
    if (j->problem.gives && (j->problem.from != NULL || j->problem.to != NULL)) {
        GBSI_TRY(gbs_run_keep_draws(run, NULL, 0, err));
    }
    GBSI_TRY(j->problem.from == NULL ? GBS_OK : gbs_run_resume(run, j->problem.from, err));
    GBSI_TRY(j->problem.to == NULL ? GBS_OK : gbs_run_checkpoint(run, j->problem.to, err));
    run->checkpoints.stop_after = j->problem.stop_after;
    GBSI_TRY(gbs_run_execute(run, &callbacks, err));
    a->report = *gbs_run_report(run);
    a->n_warnings = a->report.n_warnings;
    if (!j->problem.gives && j->problem.stop_after == 0) {
        GBSI_TRY(gbs_run_each_marginal(run, hear_marginal, j, err));
    }
cleanup:
    return status;
}

static gbs_status live(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    test_share_job *j = context;
    gbs_run *run = NULL;
    const gbs_run_setup setup = {.options = &j->problem.options,
                                 .task = j->problem.gives ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS,
                                 .ranks = ranks,
                                 .share = j->share[ranks->rank],
                                 .partition = ranks->rank == 0 ? j->partition : NULL};
    GBSI_TRY(gbs_run_new_with(&setup, &run, err));
    GBSI_TRY(gbs_run_name_variables(run, j->problem.model, err));
    GBSI_TRY(answer_with(run, j, &j->of[ranks->rank], err));
cleanup:
    gbs_run_free(run);
    return status;
}

static gbs_status live_alone(test_share_job *j, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    const gbs_run_setup setup = {.model = j->problem.model,
                                 .evidence = j->problem.evidence,
                                 .options = &j->problem.options,
                                 .task = j->problem.gives ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS};
    GBSI_TRY(gbs_run_new_with(&setup, &run, err));
    GBSI_TRY(answer_with(run, j, &j->of[0], err));
cleanup:
    gbs_run_free(run);
    return status;
}

/* A share as another process would get it. */
static gbs_status take_share(const test_share_problem *p, const gbs_partition *partition,
                             uint32_t rank, gbs_share **out, gbs_error *err)
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

static void scatter(gbs_partition *partition, uint32_t at_once, uint32_t n_ranks)
{
    for (uint32_t v = 0; v < partition->run->task.problem.part->n_variables; ++v) {
        partition->owner[v] = v / at_once % n_ranks;
    }
}

static gbs_status live_shared(test_share_job *j, uint32_t n_ranks, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const test_share_problem *p = &j->problem;
    gbs_partition *partition = NULL;
    GBSI_TRY(gbsi_partition_begin(p->model, p->evidence, &p->options, n_ranks, p->parts, &partition,
                                  err));
    if (p->scattered > 0) {
        scatter(partition, p->scattered, n_ranks);
    }
    GBSI_TRY(gbsi_partition_end(partition, n_ranks, err));
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

static test_share_job run_job(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads,
                              test_answer *answer)
{
    test_share_job j = {.problem = *p, .answer = answer};
    test_share_answer *first = &j.of[0];
    j.problem.options.threads = n_threads;
    assert_int_equal(gbsi_digest_new(&j.digest, NULL), GBS_OK);
    first->status =
        n_ranks == 0 ? live_alone(&j, &first->err) : live_shared(&j, n_ranks, &first->err);
    gbsi_digest_text(j.digest, first->told);
    gbsi_digest_free(j.digest);
    return j;
}

test_share_job test_run_job(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads)
{
    return run_job(p, n_ranks, n_threads, NULL);
}

test_answer test_run_shared(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads)
{
    size_t n = 0;
    for (uint32_t v = 0; v < gbs_model_n_variables(p->model); ++v) {
        n += gbs_model_arity(p->model, v);
    }
    test_answer answer = {.p = calloc(n + 1, sizeof *answer.p),
                          .mcse = calloc(n + 1, sizeof *answer.mcse)};
    const test_share_job j = run_job(p, n_ranks, n_threads, &answer);
    if (j.of[0].status < 0) {
        fail_msg("%u ranks: %s", n_ranks, j.of[0].err.message);
    }
    assert_int_equal(answer.n, n);
    answer.report = j.of[0].report;
    (void)snprintf(answer.digest, sizeof answer.digest, "%s", answer.report.digest);
    return answer;
}

bool test_check_shares(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads)
{
    const test_share_job one = test_run_job(p, 0, 1);
    return test_check_against(&one, p, n_ranks, n_threads);
}

bool test_check_against(const test_share_job *one, const test_share_problem *p, uint32_t n_ranks,
                        uint32_t n_threads)
{
    const test_share_job many = test_run_job(p, n_ranks, n_threads);
    if (many.of[0].status == GBS_ERR_UNSUPPORTED || many.of[0].status == GBS_ERR_ARGUMENT) {
        return false;
    }
    if (many.of[0].status != one->of[0].status) {
        fail_msg("one process: status %d %s; %u ranks: status %d %s", one->of[0].status,
                 one->of[0].err.message, n_ranks, many.of[0].status, many.of[0].err.message);
    }
    for (uint32_t rank = 0; one->of[0].status >= 0 && rank < n_ranks; ++rank) {
        test_same_report(&one->of[0].report, &many.of[rank].report);
        assert_int_equal(one->of[0].n_warnings, many.of[rank].n_warnings);
    }
    assert_string_equal(one->of[0].told, many.of[0].told);
    return one->of[0].status >= 0;
}

void test_check_refused(const test_share_problem *p, uint32_t n_ranks, gbs_status status,
                        const char *why)
{
    test_share_job j = test_run_job(p, n_ranks, 1);
    if (j.of[0].status != status || strstr(j.of[0].err.message, why) == NULL) {
        fail_msg("expected \"%s\" in: %s", why, j.of[0].err.message);
    }
}
