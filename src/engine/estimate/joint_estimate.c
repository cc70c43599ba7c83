/* SPDX-License-Identifier: Apache-2.0 */
/* Joint distributions estimated from draws. Let x_l be the last of the N variables. A draw x adds
 * 1[x_i = a_i for all i but l] p(x_l = a_l | all variables but l) [M7] to cell a. This term is the
 * conditional mean of 1[x_i = a_i for all i] given all variables except l, and has a smaller
 * variance. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/trace.h"
#include "gibbsite/joint.h"
#include "simd/math.h"
#include "store/model.h"

/* Largest number of series of all chains together; a series keeps 128 batches in 2 KiB. */
#define MOST_SERIES (UINT64_C(1) << 18)

/* If fewer draws than this number had a state, the spread of its batches says too little about its
 * standard error. */
#define RARE_VISITS 8.0

struct gbs_joint_estimate {
    const gbs_model *model;
    uint32_t n;
    uint32_t *variable; /* [n] */
    uint32_t n_cells, n_last;
    uint32_t n_chains, next_chain;
    uint64_t n_passes;
    bool averages;    /* whether terms are averaged over the last variable */
    size_t n_factors; /* number of factors that contain the last variable */
    size_t *factor;
    uint32_t *at;      /* states of the variables of a factor */
    double *log_prior; /* [n_last] log-likelihoods of the last variable's states, from evidence */
    double *weight;    /* [n_last] scratch */
    double *value;     /* [n_cells] scratch */
    gbsi_trace *trace; /* trace with one series for each cell */
};

void gbs_joint_estimate_free(gbs_joint_estimate *estimate)
{
    gbs_joint_estimate *e = estimate;
    if (e == NULL) {
        return;
    }
    gbsi_trace_free(e->trace);
    GBSI_FREE(e->variable, e->factor, e->at, e->log_prior, e->weight, e->value, e);
}

/* ---- making an estimate ---------------------------------------------------------------------- */

static gbs_status count_cells(const gbs_model *model, uint32_t n, const uint32_t *variable,
                              uint32_t n_chains, uint32_t *n_cells, gbs_error *err)
{
    uint64_t cells = 1;
    for (uint32_t i = 0; i < n; ++i) {
        if (variable[i] >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "joint: there is no variable %" PRIu32 ", the model has %" PRIu32,
                             variable[i], model->n_variables);
        }
        for (uint32_t k = 0; k < i; ++k) {
            if (variable[k] == variable[i]) {
                return gbsi_fail(err, GBS_ERR_ARGUMENT,
                                 "joint: variable %" PRIu32 " is given twice", variable[i]);
            }
        }
        cells *= model->arity[variable[i]];
        if (cells * n_chains > MOST_SERIES) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "joint: the joint states of %" PRIu32 " variables times %" PRIu32
                             " chains are more than %" PRIu64
                             ", which are the most to be estimated: ask for fewer variables",
                             n, n_chains, MOST_SERIES);
        }
    }
    *n_cells = (uint32_t)cells;
    return GBS_OK;
}

static bool holds(const gbsi_factors *f, size_t i, uint32_t variable)
{
    bool found = false;
    for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
        found |= f->scope[k] == variable;
    }
    return found;
}

/* Lists the factors that contain the last variable. */
static gbs_status find_factors(gbs_joint_estimate *e, gbs_error *err)
{
    const gbsi_factors *f = &e->model->factors;
    const uint32_t last = e->variable[e->n - 1];
    size_t most = 1;
    for (int fill = 0; fill < 2; ++fill) {
        e->n_factors = 0;
        for (size_t i = 0; i < f->n_factors; ++i) {
            const bool is_one = holds(f, i, last);
            const size_t n_scope = f->scope_start[i + 1] - f->scope_start[i];
            most = is_one && n_scope > most ? n_scope : most;
            if (is_one && fill != 0) {
                e->factor[e->n_factors] = i;
            }
            e->n_factors += is_one;
        }
        if (fill == 0) {
            e->factor = gbsi_alloc_array(e->n_factors, sizeof *e->factor);
            e->at = gbsi_alloc_array(most, sizeof *e->at);
        }
        GBSI_PASS(GBSI_HAVE(err, "joint", e->factor, e->at));
    }
    return GBS_OK;
}

gbs_status gbs_joint_estimate_needs(const gbs_model *model, uint32_t n, const uint32_t *variable,
                                    int average_last, uint32_t *needed, uint32_t *n_needed,
                                    gbs_error *err)
{
    GBSI_NEED(model, variable, needed, n_needed);
    gbs_status status = GBS_OK;
    uint8_t *needs = NULL;
    uint32_t n_cells = 0;
    const gbsi_factors *f = &model->factors;
    if (n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "joint: no variables");
    }
    GBSI_TRY(count_cells(model, n, variable, 1, &n_cells, err));
    needs = gbsi_alloc_array_zero(model->n_variables, sizeof *needs);
    GBSI_TRY(GBSI_HAVE(err, "joint", needs));
    for (uint32_t i = 0; i < n; ++i) {
        needs[variable[i]] = 1;
    }
    for (size_t i = 0; average_last != 0 && i < f->n_factors; ++i) {
        const bool is_read = holds(f, i, variable[n - 1]);
        for (size_t k = f->scope_start[i]; is_read && k < f->scope_start[i + 1]; ++k) {
            needs[f->scope[k]] = 1;
        }
    }
    *n_needed = 0;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (needs[v] != 0) {
            needed[(*n_needed)++] = v;
        }
    }
cleanup:
    gbsi_free(needs);
    return status;
}

static void take_evidence(gbs_joint_estimate *e, const gbs_evidence *evidence)
{
    const uint32_t last = e->variable[e->n - 1];
    for (uint32_t a = 0; a < e->n_last; ++a) {
        e->log_prior[a] = 0.0;
        if (evidence != NULL && evidence->log_likelihood != NULL) {
            e->log_prior[a] = evidence->log_likelihood[e->model->state_offset[last] + a];
        }
        if (evidence != NULL && evidence->state[last] != GBSI_NONE && evidence->state[last] != a) {
            e->log_prior[a] = -INFINITY;
        }
    }
}

gbs_status gbs_joint_estimate_new(const gbs_model *model, const gbs_evidence *evidence, uint32_t n,
                                  const uint32_t *variable, uint32_t n_chains, int average_last,
                                  gbs_joint_estimate **estimate, gbs_error *err)
{
    GBSI_NEED(model, variable, estimate);
    gbs_status status = GBS_OK;
    gbs_joint_estimate *e = NULL;
    uint32_t n_cells = 0;
    if (n == 0 || n_chains == 0 || (evidence != NULL && evidence->model != model)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "joint: expected a variable, a chain, and evidence of the same model");
    }
    GBSI_TRY(count_cells(model, n, variable, n_chains, &n_cells, err));
    e = gbsi_alloc_zero(sizeof *e);
    GBSI_PASS(GBSI_HAVE(err, "joint", e));
    e->model = model;
    e->n = n;
    e->n_cells = n_cells;
    e->n_chains = n_chains;
    e->n_last = model->arity[variable[n - 1]];
    e->averages = average_last != 0;
    e->variable = gbsi_alloc_array(n, sizeof *e->variable);
    e->log_prior = gbsi_alloc_array(e->n_last, sizeof *e->log_prior);
    e->weight = gbsi_alloc_array(e->n_last, sizeof *e->weight);
    e->value = gbsi_alloc_array(n_cells, sizeof *e->value);
    GBSI_TRY(GBSI_HAVE(err, "joint", e->variable, e->log_prior, e->weight, e->value));
    memcpy(e->variable, variable, n * sizeof *variable);
    take_evidence(e, evidence);
    GBSI_TRY(find_factors(e, err));
    GBSI_TRY(gbsi_trace_new(n_chains, n_cells, &e->trace, err));
    *estimate = e;
    e = NULL;

cleanup:
    gbs_joint_estimate_free(e);
    return status;
}

/* ---- draws ----------------------------------------------------------------------------------- */

/* Stores p(last | all others) in e->weight. If no state of the last variable has a positive weight,
 * its current state gets probability 1. */
static void condition(gbs_joint_estimate *e, const uint32_t *state)
{
    const gbsi_factors *f = &e->model->factors;
    const uint32_t last = e->variable[e->n - 1];
    double top = -INFINITY;
    double sum = 0.0;
    memcpy(e->weight, e->log_prior, e->n_last * sizeof *e->weight);
    for (size_t i = 0; i < e->n_factors; ++i) {
        const size_t first = f->scope_start[e->factor[i]];
        const size_t n = f->scope_start[e->factor[i] + 1] - first;
        size_t own = 0;
        for (size_t k = 0; k < n; ++k) {
            e->at[k] = state[f->scope[first + k]];
            own = f->scope[first + k] == last ? k : own;
        }
        for (uint32_t a = 0; a < e->n_last; ++a) {
            e->at[own] = a;
            e->weight[a] += gbsi_factor_value_at(f, e->model->arity, e->factor[i], e->at);
        }
    }
    for (uint32_t a = 0; a < e->n_last; ++a) {
        top = e->weight[a] > top ? e->weight[a] : top;
    }
    for (uint32_t a = 0; a < e->n_last; ++a) {
        e->weight[a] = top > -INFINITY ? gbsi_exp(e->weight[a] - top) : a == state[last];
        sum += e->weight[a];
    }
    for (uint32_t a = 0; a < e->n_last; ++a) {
        e->weight[a] /= sum;
    }
}

gbs_status gbs_joint_estimate_add(gbs_joint_estimate *estimate, uint32_t chain,
                                  const uint32_t *state, gbs_error *err)
{
    GBSI_NEED(estimate, state);
    gbs_joint_estimate *e = estimate;
    size_t row = 0;
    if (chain != e->next_chain) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "joint: found a draw of chain %" PRIu32 ", expected one of chain %" PRIu32
                         ": chains take turns",
                         chain, e->next_chain);
    }
    for (uint32_t i = 0; i < e->n; ++i) {
        const uint32_t v = e->variable[i];
        if (state[v] >= e->model->arity[v]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "joint: variable %" PRIu32 " has %" PRIu32 " states, found %" PRIu32,
                             v, e->model->arity[v], state[v]);
        }
        row = row * e->model->arity[v] + state[v];
    }
    memset(e->value, 0, e->n_cells * sizeof *e->value);
    if (e->averages) {
        condition(e, state);
        memcpy(e->value + row / e->n_last * e->n_last, e->weight, e->n_last * sizeof *e->value);
    } else {
        e->value[row] = 1.0;
    }
    gbsi_trace_put(e->trace, chain, e->value);
    e->next_chain = (chain + 1) % e->n_chains;
    if (e->next_chain == 0) {
        gbsi_trace_end_pass(e->trace);
        ++e->n_passes;
    }
    return GBS_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Raises the standard error of a state that few draws had, or that nearly all draws had. A state
 * that n independent draws miss may have a probability of about 1 / n, so that the reported error
 * is not smaller. */
static double at_least_rare(double p, double mcse, double n)
{
    const double rarer = (p < 0.5 ? p : 1.0 - p) * n;
    const double q = ((rarer > 0.0 ? rarer : 0.0) + 0.5) / (n + 1.0);
    const double floor = gbsi_sqrt(q * (1.0 - q) / n);
    return rarer < RARE_VISITS && mcse < floor ? floor : mcse;
}

gbs_status gbs_joint_estimate_read(const gbs_joint_estimate *estimate, double *p, double *mcse,
                                   double *ess, double *rhat, gbs_error *err)
{
    GBSI_NEED(estimate, p);
    const gbs_joint_estimate *e = estimate;
    const double n = (double)e->n_passes * e->n_chains;
    if (e->n_passes == 0) {
        return gbsi_fail(err, GBS_ERR_STATE, "joint: there is no draw of every chain yet");
    }
    for (uint32_t i = 0; i < e->n_cells; ++i) {
        const gbsi_trace_summary s = gbsi_trace_summarise(e->trace, i);
        const double error = at_least_rare(s.mean, s.mcse, n);
        p[i] = s.mean;
        if (mcse != NULL) {
            mcse[i] = error;
        }
        if (ess != NULL) {
            ess[i] = error > 0.0 ? s.mean * (1.0 - s.mean) / (error * error) : (double)NAN;
        }
        if (rhat != NULL) {
            rhat[i] = s.rhat;
        }
    }
    return GBS_OK;
}
