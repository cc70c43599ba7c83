/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/monitor.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "chains/density.h"
#include "chains/run.h"

/* A log density takes about as long as a pass. If a pass has more than MOST_UPDATES updates, the
 * log density is recorded only in every STRIDE-th pass. */
enum { MOST_UPDATES = 1 << 16, STRIDE = 16 };

gbs_status gbs_run_monitor(gbs_run *run, const uint32_t *variable, size_t n, gbs_error *err)
{
    GBSI_NEED(run);
    gbsi_monitor *m = &run->sampling.monitor;
    if (run->report.executed) {
        return gbsi_fail(err, GBS_ERR_STATE, "monitor: this run was executed before");
    }
    if (run->task.runner->untraced != NULL) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "monitor: %s", run->task.runner->untraced);
    }
    if (n > 0) {
        GBSI_NEED(variable);
    }
    for (size_t i = 0; i < n; ++i) {
        if (variable[i] >= run->task.problem.model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "monitor: the model has %u variable%s, found %u",
                             run->task.problem.model->n_variables,
                             gbsi_plural(run->task.problem.model->n_variables), variable[i]);
        }
        const uint32_t v = run->task.problem.whole->free_variable[variable[i]];
        if (v == GBSI_NONE ? run->task.problem.whole->fixed_state[variable[i]] == GBSI_NONE
                           : run->task.problem.asked != NULL && run->task.problem.asked[v] == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "monitor: variable %u is none of those that the run is about",
                             variable[i]);
        }
    }
    uint32_t *copy = gbsi_alloc_array(n + 1, sizeof *copy);
    GBSI_PASS(GBSI_HAVE(err, "monitor", copy));
    const gbs_status noted =
        gbsi_run_note_variables(&run->checkpoints, GBSI_INPUT_MONITOR, variable, n, err);
    if (noted < 0) {
        gbsi_free(copy);
        return noted;
    }
    for (size_t i = 0; i < n; ++i) {
        copy[i] = variable[i];
    }
    gbsi_free(m->variable);
    *m = (gbsi_monitor){.asked = true, .n = (uint32_t)n, .variable = copy};
    return GBS_OK;
}

void gbsi_monitor_free(gbsi_monitor *m)
{
    gbsi_thinned_free(&m->traces);
    GBSI_FREE(m->variable, m->x, m->user, m->state);
}

gbs_status gbsi_monitor_begin(const gbsi_problem *problem, gbsi_monitor *monitor,
                              const gbsi_report *report, gbs_error *err)
{
    gbsi_monitor *m = monitor;
    const uint32_t n_part = problem->part->n_variables;
    const uint32_t n_model = problem->model->n_variables;
    if (!m->asked) {
        return GBS_OK;
    }
    const uint32_t n_chains = report->public.chains;
    const bool large = (uint64_t)n_part * n_chains > MOST_UPDATES;
    m->x = gbsi_alloc_array(2 * (size_t)n_part, sizeof *m->x);
    m->user = gbsi_alloc_array(n_model, sizeof *m->user);
    m->state = gbsi_alloc_array((size_t)m->n + 1, sizeof *m->state);
    GBSI_PASS(GBSI_HAVE(err, "monitor", m->x, m->user, m->state));
    memcpy(m->user, problem->whole->fixed_state, n_model * sizeof *m->user);
    return gbsi_thinned_init(&m->traces, n_chains, m->n, large ? STRIDE : 1, err);
}

/* Returns the number, in the sampled part, of one of the user's variables; GBSI_NONE if this
 * variable is not sampled. */
static uint32_t sampled_as(const gbsi_problem *problem, uint32_t variable)
{
    const uint32_t v = problem->whole->free_variable[variable];
    return v == GBSI_NONE || problem->part_of == NULL ? v : problem->part_of[v];
}

/* Records the states of the monitored variables from an array of the states of all variables. */
static void keep(gbsi_monitor *m, gbsi_engine *engine, uint32_t chain, double density)
{
    for (uint32_t i = 0; i < m->n; ++i) {
        m->state[i] = m->user[m->variable[i]];
    }
    gbsi_thinned_set(&m->traces, engine->executor.first_chain + chain, density, m->state);
}

/* Records the states of monitored variables one by one, which is faster if a large model has few
 * monitored variables. */
static void keep_single(const gbsi_problem *problem, const gbsi_engine *engine, gbsi_monitor *m,
                        uint32_t chain, double density)
{
    const gbsi_conditioned *part = problem->part;
    for (uint32_t i = 0; i < m->n; ++i) {
        const uint32_t v = sampled_as(problem, m->variable[i]);
        m->state[i] = v == GBSI_NONE
                          ? m->user[m->variable[i]]
                          : gbsi_conditioned_states(
                                part, v)[gbsi_executor_state(&engine->executor, chain, v)];
    }
    gbsi_thinned_set(&m->traces, engine->executor.first_chain + chain, density, m->state);
}

void gbsi_monitor_pass(const gbsi_problem *problem, gbsi_engine *engine, gbsi_monitor *monitor,
                       const gbsi_report *report)
{
    gbsi_monitor *m = monitor;
    const gbsi_executor *x = &engine->executor;
    const gbsi_conditioned *part = problem->part;
    double density[GBSI_LANES];
    if (!m->asked || !gbsi_thinned_pass(&m->traces)) {
        return;
    }
    const bool splits = (engine->scan_traits & GBSI_SCAN_SPLITS) != 0;
    const uint32_t n_chains = splits ? m->traces.n_chains : x->n_chains;
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        if (splits) {
            const double whole =
                gbsi_recombine(engine, part, chain, m->x, m->x + part->n_variables);
            gbsi_part_user_state(part, m->x, m->user);
            keep(monitor, engine, chain, whole);
            continue;
        }
        if (chain % x->lanes == 0) {
            gbsi_executor_group_density(x, chain / x->lanes, NULL, density);
        }
        const double own = report->public.n_omitted > 0 ? NAN : density[chain % x->lanes];
        if (x->pass->get == NULL) {
            keep_single(problem, engine, monitor, chain, own);
        } else {
            gbsi_run_user_state(engine, problem, chain, m->x, m->user);
            keep(monitor, engine, chain, own);
        }
    }
    gbsi_thinned_end(&m->traces);
}

/* ---- asked for ------------------------------------------------------------------------------- */

static gbs_status need_traces(const gbs_run *run, gbs_error *err)
{
    GBSI_NEED(run);
    return run->sampling.monitor.asked && run->report.executed
               ? GBS_OK
               : gbsi_fail(
                     err, GBS_ERR_STATE,
                     "a run has traces once it is executed, if gbs_run_monitor() came before");
}

gbs_status gbs_run_traces(const gbs_run *run, gbs_traces *traces, gbs_error *err)
{
    GBSI_PASS(need_traces(run, err));
    GBSI_NEED(traces);
    GBSI_OUT_STRUCT(traces, gbs_traces);
    const gbsi_thinned *t = &run->sampling.monitor.traces;
    const gbs_traces own = {.n_chains = t->n_chains, .n_draws = t->n, .stride = t->stride};
    gbsi_struct_give(traces, &own, sizeof own);
    return GBS_OK;
}

gbs_status gbs_run_trace_density(const gbs_run *run, double *value, gbs_error *err)
{
    GBSI_PASS(need_traces(run, err));
    GBSI_NEED(value);
    const gbsi_thinned *t = &run->sampling.monitor.traces;
    for (uint32_t chain = 0; chain < t->n_chains; ++chain) {
        memcpy(value + (size_t)chain * t->n, t->density + (size_t)chain * GBSI_THINNED,
               t->n * sizeof *value);
    }
    return GBS_OK;
}

/* Whether the variable is part of the chains' states. */
static bool is_sampled(const gbsi_monitor *monitor, const gbsi_problem *problem, uint32_t variable)
{
    return monitor->traces.n_chains > 0 && sampled_as(problem, variable) != GBSI_NONE;
}

gbs_status gbs_run_trace_state(const gbs_run *run, uint32_t variable, uint32_t *state,
                               gbs_error *err)
{
    GBSI_PASS(need_traces(run, err));
    GBSI_NEED(state);
    const gbsi_monitor *m = &run->sampling.monitor;
    const gbsi_thinned *t = &m->traces;
    uint32_t i = 0;
    while (i < m->n && m->variable[i] != variable) {
        ++i;
    }
    if (i == m->n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u is not monitored", variable);
    }
    if (!is_sampled(&run->sampling.monitor, &run->task.problem, variable)) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "variable %u has no trace: it is not sampled",
                         variable);
    }
    for (uint32_t chain = 0; chain < t->n_chains; ++chain) {
        const uint16_t *from = t->state + ((size_t)i * t->n_chains + chain) * GBSI_THINNED;
        for (uint32_t k = 0; k < t->n; ++k) {
            state[(size_t)chain * t->n + k] = from[k];
        }
    }
    return GBS_OK;
}
