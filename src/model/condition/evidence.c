/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "simd/math.h"
#include "store/builder.h"

gbs_status gbs_evidence_new(const gbs_model *model, gbs_evidence **evidence, gbs_error *err)
{
    GBSI_NEED(model, evidence);
    gbs_evidence *e = gbsi_alloc_zero(sizeof *e);
    GBSI_PASS(GBSI_HAVE(err, "evidence", e));
    e->model = model;
    e->state = gbsi_alloc_array(model->n_variables, sizeof *e->state);
    if (e->state == NULL) {
        gbsi_free(e);
        return gbsi_no_memory(err, "evidence", model->n_variables * sizeof *e->state);
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        e->state[v] = GBSI_NONE;
    }
    *evidence = e;
    return GBS_OK;
}

void gbs_evidence_free(gbs_evidence *evidence)
{
    if (evidence != NULL) {
        GBSI_FREE(evidence->state, evidence->log_likelihood, evidence);
    }
}

gbs_status gbsi_evidence_copy(const gbs_model *model, const gbs_evidence *from, gbs_evidence **out,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_evidence *e = NULL;
    const size_t n = model->state_offset[model->n_variables];
    if (from != NULL && from->model != model) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "the evidence is of another model");
    }
    GBSI_TRY(gbs_evidence_new(model, &e, err));
    if (from != NULL) {
        e->n_observed = from->n_observed;
        memcpy(e->state, from->state, model->n_variables * sizeof *e->state);
    }
    if (from != NULL && from->log_likelihood != NULL) {
        e->log_likelihood = gbsi_alloc_array(n, sizeof *e->log_likelihood);
        GBSI_TRY(GBSI_HAVE(err, "evidence", e->log_likelihood));
        memcpy(e->log_likelihood, from->log_likelihood, n * sizeof *e->log_likelihood);
    }
    *out = e;
    e = NULL;

cleanup:
    gbs_evidence_free(e);
    return status;
}

static gbs_status check_variable(const gbs_evidence *e, uint32_t variable, gbs_error *err)
{
    if (variable >= e->model->n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "evidence on variable %u: the model has %u variable%s, counted from 0",
                         (unsigned)variable, (unsigned)e->model->n_variables,
                         gbsi_plural(e->model->n_variables));
    }
    return GBS_OK;
}

gbs_status gbs_evidence_observe(gbs_evidence *evidence, uint32_t variable, uint32_t state,
                                gbs_error *err)
{
    GBSI_NEED(evidence);
    char name[128];
    char before[128];
    char now[128];
    const gbs_model *m = evidence->model;
    GBSI_PASS(check_variable(evidence, variable, err));
    if (state >= m->arity[variable]) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "evidence on variable %s: state %u, it has %u state%s, counted from 0",
                         gbsi_variable_text(m, variable, name, sizeof name), (unsigned)state,
                         (unsigned)m->arity[variable], gbsi_plural(m->arity[variable]));
    }
    const uint32_t known = evidence->state[variable];
    if (known != GBSI_NONE && known != state) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "variable %s is observed in state %s and in state %s",
                         gbsi_variable_text(m, variable, name, sizeof name),
                         gbsi_state_text(m, variable, known, before, sizeof before),
                         gbsi_state_text(m, variable, state, now, sizeof now));
    }
    evidence->n_observed += known == GBSI_NONE;
    evidence->state[variable] = state;
    return GBS_OK;
}

/* Refuse numbers that are not a likelihood, and a likelihood that leaves no possible state
 * together with the earlier evidence. */
static gbs_status check_likelihood(const gbs_evidence *e, uint32_t variable,
                                   const double *likelihood, gbs_error *err)
{
    char name[128];
    char label[128];
    const gbs_model *m = e->model;
    const double *known =
        e->log_likelihood == NULL ? NULL : &e->log_likelihood[m->state_offset[variable]];
    bool positive = false;
    bool possible = false;
    for (uint32_t a = 0; a < m->arity[variable]; ++a) {
        if (!isfinite(likelihood[a]) || likelihood[a] < 0.0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "variable %s: the likelihood of state %s is %g, expected a finite "
                             "number that is not negative",
                             gbsi_variable_text(m, variable, name, sizeof name),
                             gbsi_state_text(m, variable, a, label, sizeof label), likelihood[a]);
        }
        positive |= likelihood[a] > 0.0;
        possible |= likelihood[a] > 0.0 && (known == NULL || known[a] != -INFINITY);
    }
    if (!positive) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %s: every likelihood is zero",
                         gbsi_variable_text(m, variable, name, sizeof name));
    }
    if (!possible) {
        return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                         "evidence has probability zero: the likelihoods on variable %s leave it "
                         "no state",
                         gbsi_variable_text(m, variable, name, sizeof name));
    }
    return GBS_OK;
}

gbs_status gbs_evidence_likelihood(gbs_evidence *evidence, uint32_t variable,
                                   const double *likelihood, gbs_error *err)
{
    GBSI_NEED(evidence, likelihood);
    const gbs_model *m = evidence->model;
    GBSI_PASS(check_variable(evidence, variable, err));
    GBSI_PASS(check_likelihood(evidence, variable, likelihood, err));
    if (evidence->log_likelihood == NULL) {
        const size_t n = m->state_offset[m->n_variables];
        evidence->log_likelihood = gbsi_alloc_array_zero(n, sizeof *evidence->log_likelihood);
        GBSI_PASS(GBSI_HAVE(err, "evidence", evidence->log_likelihood));
    }
    double *sum = &evidence->log_likelihood[m->state_offset[variable]];
    for (uint32_t a = 0; a < m->arity[variable]; ++a) {
        sum[a] += likelihood[a] == 0.0 ? -INFINITY : gbsi_log(likelihood[a]);
    }
    return GBS_OK;
}

uint32_t gbs_evidence_n_observed(const gbs_evidence *evidence)
{
    return evidence == NULL ? 0 : evidence->n_observed;
}

int gbs_evidence_state(const gbs_evidence *evidence, uint32_t variable, uint32_t *state)
{
    if (evidence == NULL || variable >= evidence->model->n_variables ||
        evidence->state[variable] == GBSI_NONE) {
        return 0;
    }
    if (state != NULL) {
        *state = evidence->state[variable];
    }
    return 1;
}
