/* SPDX-License-Identifier: Apache-2.0 */
/* Exact inference, influences and draws, for gbs_model_info(). */
#include "sampler/inspect.h"

#include <math.h>

#include "base/memory.h"
#include "dobrushin/influence.h"
#include "graph/elimination.h"
#include "sampler/memory.h"
#include "sampler/options.h"

#define AUTO_ENTRIES (UINT64_C(1) << 26) /* `auto` answers exactly up to here */
#define ENTRY_BYTES  8u
#define UNION_BUDGET \
    (UINT64_C(1) << 24) /* configurations of unions of factors, all pairs together */
#define LEAST_CELLS     16u
#define WALK_BUDGET     (UINT64_C(1) << 28) /* table entries looked at, over all pairs ... */
#define WALKS_PER_ENTRY 56u                 /* ... or so often each: tables of eight variables */
#define LEAST_WALK      (UINT64_C(1) << 16)

gbs_status gbsi_inspect_elimination(const gbs_run *run, gbs_info *info, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_elimination *e = NULL;
    const gbsi_elimination_limits limits = {.entries = gbsi_options_memory_limit(&run->options) /
                                                       ENTRY_BYTES,
                                            .effort = GBSI_ELIMINATION_EFFORT};
    GBSI_TRY(gbsi_elimination_new(run->whole_graph, &limits, &e, err));
    info->entry_limit = limits.entries;
    info->exact_fits = 1;
    for (uint32_t p = 0; p < e->n_parts; ++p) {
        const gbsi_elimination_part *part = &e->part[p];
        const bool done = part->end == GBSI_ELIMINATION_DONE;
        info->width = part->width > info->width ? part->width : info->width;
        info->entries =
            part->entries > UINT64_MAX - info->entries ? UINT64_MAX : info->entries + part->entries;
        info->exact_fits &= done;
        info->n_auto += done && part->entries <= AUTO_ENTRIES;
        if (part->end == GBSI_ELIMINATION_ENTRIES || info->search == GBS_SEARCH_DONE) {
            info->search = part->end == GBSI_ELIMINATION_ENTRIES ? GBS_SEARCH_ENTRIES
                           : done                                ? GBS_SEARCH_DONE
                                                                 : GBS_SEARCH_WORK;
        }
    }

cleanup:
    gbsi_elimination_free(e);
    return status;
}

/* What bounds may cost, so that all of them take a bounded time: a number of unions, and of table
 * entries looked at that is in proportion to the tables. */
static gbsi_influence_limits affordable(const gbsi_graph *graph)
{
    const gbsi_factors *f = &graph->model->factors;
    uint64_t n_pairs = 1;
    uint64_t n_entries = 0;
    uint64_t n_walked = 0;
    for (size_t k = 0; k < f->n_factors; ++k) {
        const uint64_t n = f->scope_start[k + 1] - f->scope_start[k];
        n_pairs += n <= GBSI_INFLUENCE_LONG ? n * (n - 1) : 0;
        if (f->kind[k] == GBS_FACTOR_TABLE) {
            const uint64_t e = f->table_start[f->aux[k] + (size_t)1] - f->table_start[f->aux[k]];
            n_entries += e;
            n_walked += n * (n - 1) * e; /* n is at most the logarithm of e */
        }
    }
    const uint64_t cells = UNION_BUDGET / n_pairs;
    return (gbsi_influence_limits){
        .cells = cells < LEAST_CELLS            ? LEAST_CELLS
                 : cells > GBSI_INFLUENCE_CELLS ? GBSI_INFLUENCE_CELLS
                                                : cells,
        .walk = n_walked <= WALK_BUDGET + WALKS_PER_ENTRY * n_entries ? UINT64_MAX : LEAST_WALK};
}

gbs_status gbsi_inspect_influence(const gbsi_graph *graph, gbs_info *info, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_influence *influence = NULL;
    const gbsi_influence_limits limits = affordable(graph);
    GBSI_TRY(gbsi_influence_new(graph, &limits, &influence, err));
    GBSI_TRY(gbsi_influence_sums(influence, &info->max_influence, &info->mean_influence, err));

cleanup:
    gbsi_influence_free(influence);
    return status;
}

gbs_status gbsi_inspect_draws(const gbs_run *run, gbs_info *info, gbs_error *err)
{
    for (int d = 0; d < GBS_INFO_DRAWS; ++d) {
        const gbsi_draw *draw = gbsi_draw_of(d, gbsi_simd_level());
        uint64_t bytes = 0;
        if (draw == NULL) {
            return GBS_OK;
        }
        /* a draw that cannot even say what it would take is no reason to say nothing of the model
         */
        const gbs_status status = gbsi_draw_bytes(run, d, &bytes, err);
        if (status < 0 && status != GBS_ERR_LIMIT) {
            return status;
        }
        info->draw_name[d] = draw->name;
        info->draw_bytes[d] = status < 0 ? UINT64_MAX : bytes;
        info->n_draws = (uint32_t)d + 1;
    }
    return GBS_OK;
}
