/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a model and the cost of a run, without sampling. */
#include "gibbsite/info.h"

#include <math.h>
#include <string.h>

#include "ask/inspect.h"
#include "base/memory.h"
#include "base/sized.h"
#include "chains/run_options.h"
#include "condition/prune.h"
#include "drive/run_memory.h"
#include "reference/enumerate.h"

static void count_factors(const gbs_model *model, gbs_info *info)
{
    const gbsi_factors *factors = &model->factors;
    size_t n_zeros = 0;
    info->n_factors = factors->n_factors;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        ++info->factors_of_kind[factors->kind[f]];
        ++info->factors_of_order[n < GBS_INFO_ORDERS - 1 ? n : GBS_INFO_ORDERS - 1];
    }
    info->n_table_entries = factors->n_tables == 0 ? 0 : factors->table_start[factors->n_tables];
    for (size_t i = 0; i < info->n_table_entries; ++i) {
        n_zeros += factors->table[i] == -INFINITY;
    }
    info->zero_share =
        info->n_table_entries == 0 ? 0.0 : (double)n_zeros / (double)info->n_table_entries;
}

static gbs_status count_degrees(const gbs_model *model, gbs_info *info, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    uint32_t *degree = gbsi_alloc_array_zero(model->n_variables, sizeof *degree);
    GBSI_PASS(GBSI_HAVE(err, "info", degree));
    const size_t n_ends = factors->n_factors == 0 ? 0 : factors->scope_start[factors->n_factors];
    for (size_t e = 0; e < n_ends; ++e) {
        ++degree[factors->scope[e]];
    }
    double sum = 0.0;
    info->n_variables = model->n_variables;
    info->min_arity = model->n_variables > 0 ? UINT32_MAX : 0;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        const uint32_t k = model->arity[v];
        ++info->variables_of_degree[degree[v] < GBS_INFO_DEGREES - 1 ? degree[v]
                                                                     : GBS_INFO_DEGREES - 1];
        info->min_arity = k < info->min_arity ? k : info->min_arity;
        info->max_arity = k > info->max_arity ? k : info->max_arity;
        sum += k;
    }
    info->mean_arity = model->n_variables > 0 ? sum / model->n_variables : 0.0;
    gbsi_free(degree);
    return GBS_OK;
}

static gbs_status count_run(gbsi_task *task, const gbsi_sampling *sampling,
                            const gbsi_run_memory *memory, const gbsi_report *report,
                            gbs_info *info, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *color = NULL;
    if (task->problem.components == NULL) {
        GBSI_TRY(gbsi_problem_take_graph(&task->problem, err));
    }
    info->n_implied = task->problem.whole->n_implied;
    info->n_free = task->problem.whole->n_variables;
    info->n_components = task->problem.components->n;
    info->largest_component = task->problem.components->largest;
    for (uint32_t i = 0; i < task->problem.components->n; ++i) {
        info->n_enumerable += task->problem.components->n_states[i] <= GBSI_ENUMERATE_AUTO_STATES;
        info->has_zeros |= task->problem.components->has_zeros[i];
    }
    color = gbsi_alloc_array(info->n_free, sizeof *color);
    GBSI_PASS(GBSI_HAVE(err, "info", color));
    bool bipartite = false;
    GBSI_TRY(gbsi_graph_color_two(task->problem.whole_graph, color, &bipartite, err));
    info->bipartite = bipartite;
    if (task->problem.part != NULL) {
        info->n_colors = report->public.n_colors;
        info->n_levels = report->public.n_levels;
        info->mean_batch =
            report->public.n_batches == 0
                ? 0.0
                : (double)sampling->engine.schedule.n_places / sampling->engine.schedule.n_batches;
        for (unsigned c = 0; c < GBS_N_CLASSES && sampling->engine.plan != NULL; ++c) {
            info->variables_of_class[c] = sampling->engine.plan->n_of_class[c];
        }
        info->n_precise = info->variables_of_class[GBSI_CLASS_PRECISE];
        if (task->plain->bits != 0) {
            info->variables_of_class[GBSI_CLASS_LATTICE] = sampling->engine.spins->n_sites;
            info->lattice = task->plain->bits;
            info->lattice_share = sampling->engine.form.share;
        }
        if (task->plain->bits == GBS_BITS_SITES) {
            memcpy(info->lattice_side, sampling->engine.lattice->side, sizeof info->lattice_side);
        }
        info->plan_bytes = memory->plan;
        info->state_bytes = memory->states;
        info->estimator_bytes = sampling->estimates.estimate_bytes;
        info->run_bytes = memory->peak;
    } else { /* no variable is sampled */
        info->run_bytes =
            gbs_model_bytes(task->problem.model) + gbsi_conditioned_bytes(task->problem.whole);
    }
cleanup:
    gbsi_free(color);
    return status;
}

/* Prepares a run with these options up to its plan, with method `sample` even if `auto` would
 * answer exactly. Allocates no array that counts towards the memory limit. */
static gbs_status prepare(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options, gbs_run **run, gbs_error *err)
{
    gbs_run_options sampled;
    GBSI_PASS(gbsi_options_take(options, &sampled, err));
    sampled.method = GBS_METHOD_SAMPLE;
    GBSI_PASS(gbsi_run_begin(model, &sampled, run, err));
    return gbsi_run_prepare(*run, evidence, err);
}

gbs_status gbs_model_info(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options, gbs_info *info, gbs_error *err)
{
    GBSI_NEED(model, info);
    GBSI_OUT_STRUCT(info, gbs_info);
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbsi_pruning pruning = {0};
    gbs_info found = {0};
    count_factors(model, &found);
    GBSI_TRY(count_degrees(model, &found, err));
    found.model_bytes = gbs_model_bytes(model);
    found.n_observed = evidence == NULL ? 0 : gbs_evidence_n_observed(evidence);
    GBSI_TRY(prepare(model, evidence, options, &run, err));
    GBSI_TRY(count_run(&run->task, &run->sampling, &run->memory, &run->report, &found, err));
    GBSI_TRY(gbsi_prune(run->task.problem.whole, NULL, NULL, &pruning, err));
    found.n_barren = pruning.n;
    GBSI_TRY(gbsi_inspect_elimination(&run->task, &found, err));
    GBSI_TRY(gbsi_inspect_influence(run->task.problem.whole_graph, &found, err));
    gbsi_struct_give(info, &found, sizeof found);
cleanup:
    gbsi_pruning_clear(&pruning);
    gbs_run_free(run);
    return status;
}

gbs_status gbs_model_draw_sizes(const gbs_model *model, const gbs_evidence *evidence,
                                const gbs_run_options *options, gbs_draw_sizes *sizes,
                                gbs_error *err)
{
    GBSI_NEED(model, sizes);
    GBSI_OUT_STRUCT(sizes, gbs_draw_sizes);
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbs_draw_sizes found = {0};
    GBSI_TRY(prepare(model, evidence, options, &run, err));
    if (run->task.problem.part != NULL) {
        GBSI_TRY(gbsi_inspect_draws(&run->task.options, run->task.spread, &run->sampling.engine,
                                    &run->memory, &found, err));
    }
    gbsi_struct_give(sizes, &found, sizeof found);
cleanup:
    gbs_run_free(run);
    return status;
}
