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
#define UNION_BUDGET                                                             \
    ((size_t)1 << 24) /* configurations of unions of factors, all pairs together \
                       */
#define LEAST_CELLS ((size_t)16)

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

/* Configurations that several factors of one pair may have together, so that all pairs take a
 * bounded time. */
static size_t affordable_cells(const gbsi_graph *graph)
{
    size_t n_pairs = 1;
    for (size_t s = 0; s < graph->n_scopes; ++s) {
        const size_t n = graph->scope_start[s + 1] - graph->scope_start[s];
        n_pairs += n <= GBSI_INFLUENCE_LONG ? n * (n - 1) : 0;
    }
    const size_t cells = UNION_BUDGET / n_pairs;
    return cells < LEAST_CELLS            ? LEAST_CELLS
           : cells > GBSI_INFLUENCE_CELLS ? GBSI_INFLUENCE_CELLS
                                          : cells;
}

gbs_status gbsi_inspect_influence(const gbsi_graph *graph, gbs_info *info, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_influence *influence = NULL;
    double total = 0.0;
    GBSI_TRY(gbsi_influence_new(graph, affordable_cells(graph), &influence, err));
    for (uint32_t i = 0; i < graph->n_variables; ++i) {
        double sum = 0.0;
        GBSI_TRY(gbsi_influence_row_sum(influence, i, &sum, err));
        info->max_influence = sum > info->max_influence ? sum : info->max_influence;
        total += sum;
    }
    info->mean_influence = graph->n_variables == 0 ? 0.0 : total / graph->n_variables;

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
