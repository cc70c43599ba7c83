/* SPDX-License-Identifier: Apache-2.0 */
/* Exact inference, influences and draws, for gbs_model_info(). */
#include "ask/inspect.h"

#include <string.h>

#include "base/memory.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "dobrushin/influence.h"
#include "drive/run_memory.h"
#include "simd/math.h"

static gbs_search_end end_of(const gbsi_exact_plan *plan, uint32_t c)
{
    if (gbsi_exact_fits(plan, c)) {
        return GBS_SEARCH_DONE;
    }
    return plan->elimination->part[c].end == GBSI_ELIMINATION_WORK ? GBS_SEARCH_WORK
                                                                   : GBS_SEARCH_ENTRIES;
}

static void count_search(const gbsi_exact_plan *plan, gbs_info *info)
{
    const gbsi_elimination *e = plan->elimination;
    for (uint32_t p = 0; p < e->n_parts; ++p) {
        const gbsi_elimination_part *part = &e->part[p];
        const gbs_search_end end = end_of(plan, p);
        info->width = part->width > info->width ? part->width : info->width;
        info->entries = gbsi_saturating_add(info->entries, part->entries);
        info->order_found = info->order_found && part->end == GBSI_ELIMINATION_DONE;
        if (end == GBS_SEARCH_ENTRIES || info->search == GBS_SEARCH_DONE) {
            info->search = (int)end;
        }
    }
}

/* Counts the components that `auto` would answer exactly. @param take [components] scratch. */
static gbs_status count_auto(const gbsi_task *task, gbsi_exact_plan *plan, uint8_t *take,
                             gbs_info *info, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_forms forms = {0};
    GBSI_TRY(gbsi_run_auto_forms(task, plan, take, &forms, err));
    for (uint32_t c = 0; c < plan->elimination->n_parts; ++c) {
        info->n_auto += take[c];
    }
    if (forms.tree != NULL) {
        const gbsi_keep keep = gbsi_exact_keep(forms.tree, false, gbsi_run_auto_bytes(task));
        info->auto_s = (double)forms.tree->n_entries * 1e-9 * gbsi_exact_entry_ns(keep);
        info->auto_forms = keep == GBSI_KEEP_TABLES ? GBS_FORM_TABLES : GBS_FORM_MESSAGES;
    }
    for (const gbsi_codewords *c = forms.codewords; c != NULL; c = c->next) {
        info->auto_s += c->ns * 1e-9;
        info->auto_forms |= GBS_FORM_CODEWORDS;
    }
    for (const gbsi_sparse *c = forms.sparse; c != NULL; c = c->next) {
        info->auto_nonzero += c->n_entries;
        info->auto_s += c->ns * 1e-9;
        info->auto_forms |= GBS_FORM_SPARSE;
    }
    for (const gbsi_cutset *c = forms.cutset; c != NULL; c = c->next) {
        info->auto_cases += (uint32_t)c->cases.n;
        info->auto_s += c->entries * 1e-9 * gbsi_exact_entry_ns(c->keep);
        info->auto_forms |= GBS_FORM_CASES;
    }

cleanup:
    gbsi_exact_plan_take_back(plan, forms.tree);
    gbsi_codewords_free(forms.codewords);
    gbsi_sparse_free(forms.sparse);
    gbsi_cutsets_free(forms.cutset);
    return status;
}

/* Predicts exact answers. Plans a run that answers all components by junction trees, but does not
 * compute the tables. */
gbs_status gbsi_inspect_elimination(const gbsi_task *task, gbs_info *info, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    gbsi_tree *tree = NULL;
    uint8_t *all = NULL;
    const gbsi_exact_limits limits = gbsi_run_exact_limits(task);
    uint64_t search = gbsi_exact_search_bytes(task->problem.whole);
    info->entry_limit = limits.bytes / sizeof(double);
    info->exact_bytes = info->exact_least_bytes = UINT64_MAX;
    if (search > limits.bytes) {
        info->search = GBS_SEARCH_WORK;
        return GBS_OK;
    }
    GBSI_TRY(
        gbsi_exact_plan_new(task->problem.whole, task->problem.whole_graph, &limits, &plan, err));
    info->order_found = 1;
    count_search(plan, info);
    info->exact_s = (double)info->entries * 1e-9 * GBSI_TABLES_NS;
    info->log2_entries = info->entries > 0 ? gbsi_log2((double)info->entries) : 0.0;
    all = gbsi_alloc_array(plan->elimination->n_parts, 1);
    GBSI_TRY(GBSI_HAVE(err, "junction tree", all));
    GBSI_TRY(count_auto(task, plan, all, info, err));
    if (info->search != GBS_SEARCH_DONE) {
        goto cleanup;
    }
    memset(all, 1, plan->elimination->n_parts);
    GBSI_TRY(gbsi_exact_plan_tree(plan, all, &tree, err));
    search += plan->elimination->order_bytes;
    const uint64_t work = gbsi_exact_bytes(tree, gbsi_exact_keep(tree, false, limits.bytes));
    const uint64_t least = gbsi_exact_bytes(tree, GBSI_KEEP_MESSAGES);
    const uint64_t standing =
        gbsi_components_standing(task->problem.components, task->problem.whole_graph);
    info->exact_fits = work <= limits.bytes;
    info->exact_bytes = standing + (work > search ? work : search);
    info->exact_least_bytes = standing + (least > search ? least : search);

cleanup:
    gbsi_tree_free(tree);
    gbsi_free(all);
    gbsi_exact_plan_free(plan);
    return status;
}

gbs_status gbsi_inspect_influence(const gbsi_graph *graph, gbs_info *info, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_influence *influence = NULL;
    const gbsi_influence_limits limits = gbsi_influence_affordable(&graph->model->factors);
    GBSI_TRY(gbsi_influence_new(graph, &limits, &influence, err));
    GBSI_TRY(gbsi_influence_sums(influence, &info->max_influence, &info->mean_influence, err));

cleanup:
    gbsi_influence_free(influence);
    return status;
}

/* Largest number of pairs of neighbours that are examined. With more pairs, the memory of draws
 * that are keyed by neighbours is not known. */
#define MOST_PAIRS (UINT64_C(1) << 26)

/* Whether the drawing method keeps weights that are keyed by the states of neighbours. */
static bool is_keyed(const gbs_run_options *options)
{
    const unsigned keyed = GBSI_DRAW_CONTEXT | GBSI_DRAW_HERDS;
    return (gbsi_draw_traits(options) & keyed) == keyed && !gbsi_draw_completes(options);
}

gbs_status gbsi_inspect_draws(const gbs_run_options *asked, const gbs_ranks *spread,
                              const gbsi_engine *engine, const gbsi_run_memory *memory,
                              gbs_draw_sizes *sizes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_surroundings around = {0};
    const gbsi_plan *plan = engine->plan; /* NULL for a lattice whose sites are bits */
    const uint64_t room = memory->draw_room;
    sizes->stopped = plan != NULL && gbsi_context_links(plan) > MOST_PAIRS;
    bool known = plan != NULL && sizes->stopped == 0 && gbsi_surroundings_bytes(plan, true) <= room;
    if (known) {
        status = gbsi_surroundings_new(plan, true, &around, err);
        known = status == GBS_OK;
        if (status < 0 && status != GBS_ERR_LIMIT) {
            goto cleanup;
        }
    }
    /* if the memory of one drawing method cannot be predicted, the others are still reported */
    for (int d = 0; d < GBS_INFO_DRAWS && gbsi_draw_name(d) != NULL; ++d) {
        const gbs_run_options options = gbsi_draw_instead(asked, d);
        uint64_t bytes = UINT64_MAX;
        if (plan == NULL && (gbsi_draw_traits(&options) & GBSI_DRAW_INDEPENDENT) == 0) {
            continue; /* the only method for spins in bits is the random draw */
        }
        if (sizes->stopped == 0 || !is_keyed(&options)) {
            status = gbsi_run_draw_bytes(spread, engine, &options, room, known ? &around : NULL,
                                         &bytes, err);
            if (status < 0 && status != GBS_ERR_LIMIT) {
                goto cleanup;
            }
        }
        sizes->name[sizes->n] = gbsi_draw_name(d);
        sizes->bytes[sizes->n++] = status < 0 ? UINT64_MAX : bytes;
    }
    status = GBS_OK;
cleanup:
    gbsi_surroundings_free(&around);
    return status;
}
