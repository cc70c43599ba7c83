/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/exact_plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "trees/decompose.h"

const gbsi_conditioned *gbsi_exact_plan_model(const gbsi_exact_plan *plan)
{
    return plan->eliminated;
}

/* Chain variables are functions of the model's variables. If all variables of the model are
 * maximised over, chain variables are maximised over as well. Otherwise chain variables are
 * summed out before any variable is maximised over. */
static gbs_status spread_maximise(gbsi_exact_plan *plan, const gbsi_exact_limits *limits,
                                  gbs_error *err)
{
    const size_t n = gbsi_exact_plan_model(plan)->n_variables;
    if (limits->late == NULL && !limits->maximise) {
        return GBS_OK;
    }
    plan->maximise = gbsi_alloc_array_zero(n, 1);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", plan->maximise));
    if (limits->maximise) {
        memset(plan->maximise, 1, n);
    } else {
        memcpy(plan->maximise, limits->late, plan->model->n_variables);
    }
    return GBS_OK;
}

gbs_status gbsi_exact_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                               const gbsi_exact_limits *limits, gbsi_exact_plan **out,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t spent = gbsi_exact_search_bytes(model);
    gbsi_exact_plan *plan = gbsi_alloc_zero(sizeof *plan);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", plan));
    plan->model = model;
    GBSI_TRY(gbsi_decompose(model, limits->maximise, &plan->chains, err));
    plan->eliminated = plan->chains != NULL ? plan->chains : model;
    if (plan->chains != NULL || limits->extra != NULL) {
        GBSI_TRY(gbsi_graph_new(gbsi_exact_plan_model(plan), limits->extra, &plan->graph, err));
    }
    GBSI_TRY(spread_maximise(plan, limits, err));
    plan->most_entries = limits->entries < GBSI_MOST_ENTRIES ? limits->entries : GBSI_MOST_ENTRIES;
    const gbsi_elimination_limits search = {
        .entries = plan->most_entries,
        .effort = GBSI_ELIMINATION_EFFORT,
        .useful = plan->most_entries,
        .steps = limits->steps,
        .bytes = limits->bytes > spent ? limits->bytes - spent : 0,
        .late = limits->maximise || limits->any_order ? NULL : plan->maximise,
        .watch = limits->watch};
    GBSI_TRY(gbsi_elimination_new(plan->graph != NULL ? plan->graph : graph, &search,
                                  &plan->elimination, err));
    *out = plan;
    plan = NULL;

cleanup:
    gbsi_exact_plan_free(plan);
    return status;
}

void gbsi_exact_plan_free(gbsi_exact_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    gbsi_elimination_free(plan->elimination);
    gbsi_graph_free(plan->graph);
    gbsi_conditioned_free(plan->chains);
    GBSI_FREE(plan->maximise, plan);
}

bool gbsi_exact_fits(const gbsi_exact_plan *plan, uint32_t c)
{
    const gbsi_elimination_part *part = &plan->elimination->part[c];
    return part->end == GBSI_ELIMINATION_DONE && part->entries <= plan->most_entries;
}

gbs_status gbsi_exact_plan_tree(gbsi_exact_plan *plan, const uint8_t *take, gbsi_tree **out,
                                gbs_error *err)
{
    const gbs_status status = gbsi_tree_new(gbsi_exact_plan_model(plan), plan->elimination, take,
                                            plan->maximise, true, out, err);
    if (status == GBS_OK) {
        (*out)->chains = plan->chains;
        plan->chains = NULL;
    }
    return status;
}

void gbsi_exact_plan_take_back(gbsi_exact_plan *plan, gbsi_tree *tree)
{
    if (tree != NULL) {
        plan->chains = tree->chains;
        tree->chains = NULL;
        gbsi_tree_free(tree);
    }
}

/* ---- components within the limits ----------------------------------------------------------- */

typedef struct chosen {
    uint64_t most, sum; /* most: entries of the largest chosen component; sum: entries of all chosen
                           components */
    bool all;           /* whether all components were chosen */
} chosen;

/* Chooses all components that have at most `most` table entries and that fit the limits of the
 * plan. */
static chosen choose(const gbsi_exact_plan *plan, uint64_t most, uint8_t *take)
{
    chosen c = {.all = true};
    for (uint32_t i = 0; i < plan->elimination->n_parts; ++i) {
        const uint64_t entries = plan->elimination->part[i].entries;
        take[i] = gbsi_exact_fits(plan, i) && entries <= most;
        if (take[i] != 0) {
            c.most = entries > c.most ? entries : c.most;
            c.sum = gbsi_saturating_add(c.sum, entries);
        }
        c.all = c.all && take[i] != 0;
    }
    return c;
}

double gbsi_exact_entry_ns(gbsi_keep keep)
{
    return keep == GBSI_KEEP_STACK      ? GBSI_STACK_NS
           : keep == GBSI_KEEP_MESSAGES ? GBSI_MESSAGES_NS
                                        : GBSI_TABLES_NS;
}

uint64_t gbsi_exact_bytes(const gbsi_tree *tree, gbsi_keep keep)
{
    return gbsi_tree_bytes(tree) + gbsi_tree_work_bytes(tree, keep);
}

gbsi_keep gbsi_exact_keep(const gbsi_tree *tree, bool up_only, uint64_t bytes)
{
    return up_only                                             ? GBSI_KEEP_STACK
           : gbsi_exact_bytes(tree, GBSI_KEEP_TABLES) <= bytes ? GBSI_KEEP_TABLES
                                                               : GBSI_KEEP_MESSAGES;
}

gbs_status gbsi_exact_plan_choose(gbsi_exact_plan *plan, bool up_only, double ns, uint64_t bytes,
                                  uint8_t *take, gbsi_tree **out, gbs_error *err)
{
    const double least_ns = up_only ? GBSI_STACK_NS : GBSI_TABLES_NS;
    *out = NULL;
    for (chosen c = choose(plan, UINT64_MAX, take); c.most > 0;
         c = choose(plan, c.most / 2, take)) {
        const uint64_t own_bytes = c.all ? bytes : bytes / 2;
        if ((double)c.sum * least_ns > ns) {
            continue;
        }
        GBSI_PASS(gbsi_exact_plan_tree(plan, take, out, err));
        const gbsi_keep keep = gbsi_exact_keep(*out, up_only, own_bytes);
        if (gbsi_exact_bytes(*out, keep) <= own_bytes &&
            (double)c.sum * gbsi_exact_entry_ns(keep) <= ns) {
            break;
        }
        gbsi_exact_plan_take_back(plan, *out);
        *out = NULL;
    }
    return GBS_OK;
}

gbs_status gbsi_exact_check_bytes(const gbsi_tree *tree, gbsi_keep keep, uint64_t bytes,
                                  gbs_error *err)
{
    const uint64_t taken = gbsi_exact_bytes(tree, keep);
    char text[16];
    char allowed[16];
    if (taken <= bytes) {
        return GBS_OK;
    }
    gbsi_bytes_text((double)taken, text);
    gbsi_bytes_text((double)bytes, allowed);
    return gbsi_fail(
        err, GBS_ERR_LIMIT,
        "exact inference: tables of %" PRIu64 " entr%s and their messages take %s "
        "(%" PRIu64 " bytes) at least, the memory limit leaves %s: raise the limit, or "
        "sample",
        tree->n_entries, gbsi_plural_of(tree->n_entries, "y", "ies"), text, taken, allowed);
}

gbs_status gbsi_exact_refuse(const gbsi_exact_plan *plan, uint32_t c, uint32_t variable,
                             gbs_error *err)
{
    const gbsi_elimination_part *part = &plan->elimination->part[c];
    if (part->end == GBSI_ELIMINATION_WORK) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "exact inference: no elimination order was found in reasonable time for "
                         "the component of variable %" PRIu32 " (%" PRIu32
                         " variable%s, width at least %" PRIu32 "): use sampling",
                         variable, part->n_variables, gbsi_plural(part->n_variables), part->width);
    }
    if (part->end == GBSI_ELIMINATION_DONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "exact inference: the component of variable %" PRIu32 " needs %" PRIu64
                         " table entr%s by the best elimination order found, of width %" PRIu32
                         "; %" PRIu64 " are the most: sample",
                         variable, part->entries, gbsi_plural_of(part->entries, "y", "ies"),
                         part->width, plan->most_entries);
    }
    if (part->entries == UINT64_MAX) { /* after an early stop of the search, perhaps only the width
                                          of the order is known */
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "exact inference: the component of variable %" PRIu32
                         " has a width of at least %" PRIu32 ", its tables have more than %" PRIu64
                         " entries, which are the most: sample",
                         variable, part->width, plan->most_entries);
    }
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "exact inference: the component of variable %" PRIu32
                     " needs at least %" PRIu64 " table entries, width at least %" PRIu32
                     "; %" PRIu64 " are the most: sample",
                     variable, part->entries, part->width, plan->most_entries);
}

/* Adds up the bytes of the rows of neighbours, the data of each vertex, the queue, and the cliques
 * that the search finds. */
uint64_t gbsi_exact_search_bytes(const gbsi_conditioned *model)
{
    const gbsi_factors *f = &model->factors;
    uint64_t room = 0;
    gbsi_watch *watch =
        gbsi_watch_current(); /* the caller, who prepares a run, checks whether the watch stopped */
    for (size_t i = 0; i < f->n_factors; ++i) {
        const uint64_t n = f->scope_start[i + 1] - f->scope_start[i];
        (void)gbsi_watch_spend(watch, 2);
        /* long factors become chains, with a variable and a table for each literal */
        room += n <= 12 ? n * (n - 1) : n * 64;
    }
    return (uint64_t)model->n_variables * 160 + room * 8;
}

gbs_status gbsi_exact_check_search(const gbsi_conditioned *model, uint64_t bytes, gbs_error *err)
{
    const uint64_t needed = gbsi_exact_search_bytes(model);
    char text[16];
    char allowed[16];
    if (needed <= bytes) {
        return GBS_OK;
    }
    gbsi_bytes_text((double)needed, text);
    gbsi_bytes_text((double)bytes, allowed);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "exact inference: searching for an elimination order takes %s, the memory "
                     "limit leaves %s: raise the limit, or sample",
                     text, allowed);
}
