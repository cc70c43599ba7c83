/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/ranks.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "estimate/estimate.h"
#include "gibbsite/io.h"
#include "text/output.h"

bool gbsi_run_speaks(const gbs_ranks *ranks)
{
    return ranks == NULL || ranks->rank == 0;
}

uint32_t gbsi_n_ranks(const gbs_ranks *ranks)
{
    return ranks == NULL ? 1 : ranks->n_ranks;
}

gbs_status gbsi_ranks_combine(const gbs_ranks *ranks, gbs_combine_kind kind, void *values, size_t n,
                              gbs_error *err)
{
    return ranks == NULL ? GBS_OK : ranks->combine(ranks->context, kind, values, n, err);
}

gbs_status gbsi_ranks_broadcast(const gbs_ranks *ranks, void *bytes, size_t n, gbs_error *err)
{
    return ranks == NULL ? GBS_OK : ranks->broadcast(ranks->context, 0, bytes, n, err);
}

gbsi_own_chains gbsi_chains_of_own(const gbs_ranks *ranks, uint32_t n_chains)
{
    return gbsi_chains_of(ranks, ranks == NULL ? 0 : ranks->rank, n_chains);
}

gbsi_own_chains gbsi_chains_of(const gbs_ranks *ranks, uint32_t rank, uint32_t n_chains)
{
    if (ranks == NULL) {
        return (gbsi_own_chains){.first = 0, .n = n_chains};
    }
    const uint32_t lanes = gbsi_lanes_of(n_chains);
    const uint32_t n_groups = gbsi_groups_of(n_chains);
    const uint32_t first = lanes * gbsi_first_group(n_groups, ranks->n_ranks, rank);
    const uint32_t end = lanes * gbsi_first_group(n_groups, ranks->n_ranks, rank + 1);
    assert(rank < ranks->n_ranks && first <= end && end <= lanes * n_groups);
    return (gbsi_own_chains){.some = true,
                             .first = first < n_chains ? first : n_chains,
                             .n = (end < n_chains ? end : n_chains) -
                                  (first < n_chains ? first : n_chains)};
}

/* ---- what several ranks do not do ------------------------------------------------------------ */

static gbs_status refuse(const char *what, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "chains on several ranks: %s", what);
}

gbs_status gbsi_ranks_check(const gbsi_task *task, const gbsi_engine *engine, gbs_error *err)
{
    const gbs_run_options *o = &task->options;
    const unsigned scan_traits = engine->scan_traits;
    if (task->ranks == NULL || task->problem.part == NULL) {
        return GBS_OK;
    }
    if ((task->plain->traits & GBSI_RUNNER_SCANS) == 0) {
        return refuse("spins with one bit each are on one process only: use --lattice never "
                      "with --estimator count or rao-blackwell",
                      err);
    }
    if (engine->undecided && !engine->by_need) {
        return refuse("--scan auto: its pilot run may choose splashes, which are on one process "
                      "only: name a scan",
                      err);
    }
    if ((scan_traits & GBSI_SCAN_BLOCKS) != 0) {
        return refuse("--scan splash grows its blocks by the states of all chains", err);
    }
    if ((scan_traits & GBSI_SCAN_SPLITS) != 0) {
        return refuse("--scan synchronous puts the states of a chain together from two", err);
    }
    if ((gbsi_draw_traits(o) & GBSI_DRAW_THRESHOLD) != 0 && o->threshold == GBS_THRESHOLD_AUTO) {
        return refuse("--threshold auto: trial runs are on one process only: give a number", err);
    }
    return GBS_OK;
}

gbs_status gbsi_ranks_meet(const gbs_ranks *ranks, gbs_status status, gbs_error *err)
{
    if (ranks == NULL) {
        return status;
    }
    const gbs_status own = status;
    gbs_error told = {.status = own};
    uint64_t first = own < 0 ? ranks->n_ranks - ranks->rank
                             : 0; /* the largest value comes from the first rank that failed */
    uint64_t n_failed = own < 0;
    if (own < 0) {
        (void)snprintf(told.message, sizeof told.message, "%s", err == NULL ? "" : err->message);
    }
    GBSI_TRY(ranks->combine(ranks->context, GBS_COMBINE_MAX_U64, &first, 1, err));
    GBSI_TRY(ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, &n_failed, 1, err));
    if (n_failed == 0) {
        return own;
    }
    const uint32_t from = (uint32_t)(ranks->n_ranks - first);
    GBSI_TRY(ranks->broadcast(ranks->context, from, &told, sizeof told, err));
    char who[32] = "";
    if (n_failed < ranks->n_ranks) {
        (void)snprintf(who, sizeof who, "rank %" PRIu32 ": ", from);
    }
    status = gbsi_fail(err, told.status, "%s%s", who, told.message);
cleanup:
    return status;
}

/* ---- together -------------------------------------------------------------------------------- */

gbs_status gbsi_drive_agree(const gbs_ranks *ranks, gbsi_drive *drive, gbs_error *err)
{
    uint64_t stop = (uint64_t)drive->stop;
    const gbs_status status = gbsi_ranks_combine(ranks, GBS_COMBINE_MAX_U64, &stop, 1, err);
    drive->stop = (gbsi_stop)stop;
    return status;
}

gbs_status gbsi_run_any(const gbs_ranks *ranks, bool *is_so, gbs_error *err)
{
    uint64_t value = *is_so;
    const gbs_status status = gbsi_ranks_combine(ranks, GBS_COMBINE_MAX_U64, &value, 1, err);
    *is_so = value != 0;
    return status;
}

gbs_status gbsi_run_gather(const gbs_ranks *ranks, const gbsi_engine *engine, const void *own,
                           size_t size, void *all, gbs_error *err)
{
    const gbsi_executor *x = &engine->executor;
    size_t *n_of = gbsi_alloc_array(ranks->n_ranks, sizeof *n_of);
    GBSI_PASS(GBSI_HAVE(err, "ranks", n_of));
    for (uint32_t rank = 0; rank < ranks->n_ranks; ++rank) {
        n_of[rank] = size * gbsi_chains_of(ranks, rank, x->n_all).n;
    }
    const gbs_status status =
        ranks->gather(ranks->context, own, size * x->n_chains, all, n_of, err);
    gbsi_free(n_of);
    return status;
}

gbs_status gbsi_run_gather_f64(const gbs_ranks *spread, const gbsi_engine *engine,
                               const double *own, double *all, gbs_error *err)
{
    const uint32_t n = engine->executor.n_all;
    if (spread == NULL) {
        memcpy(all, own, n * sizeof *all);
        return GBS_OK;
    }
    GBSI_PASS(gbsi_run_gather(spread, engine, own, sizeof *own, all, err));
    return spread->broadcast(spread->context, 0, all, n * sizeof *all, err);
}

/* ---- saved ---- */

/* Writes to an output; failures are reported when the output is taken. */
static gbs_status put_output(void *context, const void *bytes, size_t n, gbs_error *err)
{
    (void)err;
    if (context != NULL) {
        gbsi_output_bytes(context, bytes, n);
    }
    return GBS_OK;
}

gbsi_sink gbsi_memory_sink(gbs_output *output)
{
    return (gbsi_sink){.context = output, .put = put_output};
}

/* @param own [n] bytes of this rank. */
static gbs_status gather_saved(const gbs_ranks *ranks, const void *own, size_t n,
                               const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    unsigned char *all = NULL;
    size_t *n_of = gbsi_alloc_array(2 * (size_t)ranks->n_ranks, sizeof *n_of);
    GBSI_PASS(GBSI_HAVE(err, "ranks", n_of));
    size_t *size = n_of + ranks->n_ranks;
    size_t sum = 0;
    for (uint32_t rank = 0; rank < ranks->n_ranks; ++rank) {
        size[rank] = sizeof n;
    }
    GBSI_TRY(ranks->gather(ranks->context, &n, sizeof n, n_of, size, err));
    for (uint32_t rank = 0; ranks->rank == 0 && rank < ranks->n_ranks; ++rank) {
        sum += n_of[rank];
    }
    all = gbsi_alloc(sum);
    GBSI_TRY(GBSI_HAVE(err, "checkpoint", all));
    GBSI_TRY(ranks->gather(ranks->context, own, n, all, n_of, err));
    if (sum > 0) {
        GBSI_TRY(sink->put(sink->context, all, sum, err));
    }
cleanup:
    GBSI_FREE(all, n_of);
    return status;
}

gbs_status gbsi_ranks_save(const gbs_ranks *ranks, const void *object,
                           gbs_status (*save)(const void *object, const gbsi_sink *sink,
                                              gbs_error *err),
                           const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *out = NULL;
    char *own = NULL;
    size_t n = 0;
    if (ranks == NULL) {
        return save(object, sink, err);
    }
    GBSI_TRY(gbs_output_open_memory(&out, err));
    const gbsi_sink memory = gbsi_memory_sink(out);
    GBSI_TRY(save(object, &memory, err));
    gbs_output *whole = out;
    out = NULL;
    GBSI_TRY(gbs_output_take(whole, &own, &n, err));
    GBSI_TRY(gather_saved(ranks, own, n, sink, err));
cleanup:
    gbs_output_discard(out);
    gbs_free(own);
    return status;
}

/* ---- ladders ---- */

static gbs_status warn_of_ladders(gbsi_report *report, gbs_error *err)
{
    if (report->told_of_ladders) {
        return GBS_OK;
    }
    report->told_of_ladders = true;
    return gbsi_report_warn(report, err,
                            "the chains disagree, where ranks that have the whole model would go "
                            "on with ladders of temperatures (--temper auto); ranks that share a "
                            "model go on with the chains");
}

gbs_status gbsi_run_turn_to_ladders(const gbsi_runner *plain, const gbs_ranks *ranks,
                                    gbsi_report *report, gbsi_drive *drive, bool wanted,
                                    gbs_error *err)
{
    bool stays = !wanted;
    if (gbsi_runner_shares(plain)) {
        return wanted ? warn_of_ladders(report, err) : GBS_OK;
    }
    GBSI_PASS(gbsi_run_any(ranks, &stays, err));
    drive->stop = stays ? drive->stop : GBSI_STOP_TO_TEMPER;
    return GBS_OK;
}

/* Gathers the rows of the chains of all ranks on rank 0, which then sends all rows to all ranks.
 * @param size number of bytes for a chain. */
static gbs_status gather_rows(const gbsi_engine *engine, const gbs_ranks *ranks, void *rows,
                              size_t size, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_executor *x = &engine->executor;
    unsigned char *own = gbsi_alloc_array(x->n_chains, size);
    GBSI_PASS(GBSI_HAVE(err, "monitor", own));
    memcpy(own, (unsigned char *)rows + x->first_chain * size, x->n_chains * size);
    GBSI_TRY(gbsi_run_gather(ranks, engine, own, size, rows, err));
    GBSI_TRY(ranks->broadcast(ranks->context, 0, rows, x->n_all * size, err));
cleanup:
    gbsi_free(own);
    return status;
}

gbs_status gbsi_monitor_gather(const gbs_ranks *ranks, const gbs_ranks *spread,
                               const gbsi_engine *engine, const gbsi_monitor *monitor,
                               gbs_error *err)
{
    const gbsi_thinned *t = &monitor->traces;
    if (spread == NULL || t->density == NULL) {
        return GBS_OK;
    }
    GBSI_PASS(gather_rows(engine, ranks, t->density, GBSI_THINNED * sizeof *t->density, err));
    for (uint32_t i = 0; i < t->n_variables; ++i) {
        GBSI_PASS(gather_rows(engine, ranks, t->state + (size_t)i * t->n_chains * GBSI_THINNED,
                              GBSI_THINNED * sizeof *t->state, err));
    }
    return GBS_OK;
}
