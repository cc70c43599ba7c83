/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that all ranks execute the same run. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "chains/run.h"
#include "checkpoint/checkpoint_text.h"
#include "gibbsite/io.h"
#include "ranks/ranks.h"

/* Results of conditioning, of the search for exact answers and of the compiler, as numbers. These
 * results must be equal on all ranks. */
typedef struct decisions {
    uint64_t n_free, n_exact, n_components, all_exact, chains, n_levels, undecided;
    char exact[40]; /* digest of the components that are exact */
} decisions;

static gbs_status decide(const gbsi_problem *problem, const gbsi_engine *engine,
                         const gbsi_report *report, decisions *d, gbs_error *err)
{
    const gbs_report *r = &report->public;
    *d = (decisions){.n_free = r->n_free_variables,
                     .n_exact = r->n_exact_variables,
                     .n_components = r->n_components,
                     .all_exact = problem->part == NULL,
                     .chains = r->chains,
                     .n_levels = r->n_levels,
                     .undecided = engine->undecided};
    return gbsi_digest_exact(report, problem, d->exact, err);
}

/* Fails with a message that names the first line of rank 0's text that differs on this rank. */
static gbs_status name_difference(const char *own, const char *first, gbs_error *err)
{
    size_t line = 0;
    for (size_t i = 0; own[i] == first[i] && own[i] != '\0'; ++i) {
        line = own[i] == '\n' ? i + 1 : line;
    }
    return gbsi_fail(err, GBS_ERR_STATE,
                     "this rank has %.*s, rank 0 has %.*s: all ranks need the same version, model, "
                     "evidence, options and checkpoint",
                     (int)strcspn(own + line, "\n"), own + line, (int)strcspn(first + line, "\n"),
                     first + line);
}

static gbs_status compare_text(const gbs_ranks *ranks, const char *own, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t n_first = n;
    char *first = NULL;
    GBSI_TRY(ranks->broadcast(ranks->context, 0, &n_first, sizeof n_first, err));
    first = gbsi_alloc_zero((size_t)n_first + 1);
    GBSI_TRY(GBSI_HAVE(err, "ranks", first));
    memcpy(first, own, (size_t)(ranks->rank == 0 ? n_first : 0));
    GBSI_TRY(ranks->broadcast(ranks->context, 0, first, (size_t)n_first, err));
    if (strcmp(own, first) != 0) {
        status = name_difference(own, first, err);
    }
cleanup:
    gbsi_free(first);
    return status;
}

static gbs_status compare_decisions(const gbsi_problem *problem, const gbs_ranks *ranks,
                                    const gbsi_engine *engine, const gbsi_report *report,
                                    gbs_error *err)
{
    gbs_status status = GBS_OK;
    decisions own;
    decisions first;
    GBSI_TRY(decide(problem, engine, report, &own, err));
    first = own;
    GBSI_TRY(gbsi_ranks_broadcast(ranks, &first, sizeof first, err));
    if (memcmp(&own, &first, sizeof own) != 0) {
        status = gbsi_fail(
            err, GBS_ERR_STATE,
            "this rank would answer %" PRIu64 " of %" PRIu64 " variable%s exactly, rank 0 %" PRIu64
            " of %" PRIu64 ": time or memory decided otherwise there: give --method and "
            "--memory-limit, or no --time",
            own.n_exact, own.n_free, gbsi_plural(own.n_free), first.n_exact, first.n_free);
    }
cleanup:
    return status;
}

/* Compares a text that must be equal on all ranks. */
static gbs_status compare_by(const gbs_run *run,
                             gbs_status (*text_of)(const gbs_run *run, char **text, size_t *n,
                                                   gbs_error *err),
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *text = NULL;
    size_t n = 0;
    if (run->task.ranks == NULL) {
        return GBS_OK;
    }
    GBSI_TRY(text_of(run, &text, &n, err));
    GBSI_TRY(compare_text(run->task.ranks, text, n, err));
cleanup:
    gbs_free(text);
    return status;
}

gbs_status gbsi_ranks_compare(const gbs_run *run, gbs_error *err)
{
    GBSI_PASS(gbsi_ranks_meet(run->task.ranks, compare_by(run, gbsi_identity_text, err), err));
    return gbsi_ranks_meet(run->task.ranks,
                           compare_decisions(&run->task.problem, run->task.ranks,
                                             &run->sampling.engine, &run->report, err),
                           err);
}

gbs_status gbsi_ranks_compare_files(const gbs_run *run, gbs_error *err)
{
    return compare_by(run, gbsi_files_text, err);
}
