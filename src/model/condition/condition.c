/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions a model on evidence: propagates domains to their fixed point, renumbers variables,
 * reduces factors. */
#include "condition/condition.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "condition/condition_inside.h"
#include "condition/propagate.h"
#include "store/builder.h"

/* ---- domains ------------------------------------------------------------------------------- */

static gbs_status refuse_likelihood(const gbs_model *m, const gbs_evidence *e, uint32_t v,
                                    gbs_error *err)
{
    char name[128];
    char label[128];
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                     "evidence has probability zero: variable %s is observed in state %s, of "
                     "likelihood zero",
                     gbsi_variable_text(m, v, name, sizeof name),
                     gbsi_state_text(m, v, e->state[v], label, sizeof label));
}

static gbs_status enter_evidence(const gbs_model *m, const gbs_evidence *e, gbsi_propagator *domain,
                                 gbs_error *err)
{
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        if (e->state[v] != GBSI_NONE) {
            (void)gbsi_propagator_assign(domain, v, e->state[v]);
        }
        if (e->log_likelihood == NULL) {
            continue;
        }
        const double *logl = &e->log_likelihood[m->state_offset[v]];
        for (uint32_t a = 0; a < m->arity[v]; ++a) {
            /* the removal fails only if the variable is observed in this state, because a
             * likelihood always leaves at least one state */
            if (logl[a] == -INFINITY && !gbsi_propagator_remove(domain, v, a)) {
                return refuse_likelihood(m, e, v, err);
            }
        }
    }
    return GBS_OK;
}

static gbs_status propagate(const gbs_model *m, const gbs_evidence *e, gbsi_propagator *domain,
                            gbs_error *err)
{
    gbsi_propagator_queue_all(domain);
    const size_t f = gbsi_propagator_run(domain);
    if (gbsi_watch_stopped(domain->watch)) {
        return gbsi_watch_fail(err, GBSI_CONDITIONING);
    }
    if (f != SIZE_MAX) {
        char scope[600];
        const bool any = e != NULL && (e->n_observed > 0 || e->log_likelihood != NULL);
        return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                         "%s has probability zero: factor %zu %s forbids every combination that is "
                         "left",
                         any ? "evidence" : "every state of the model", f,
                         gbsi_scope_text(m, f, scope, sizeof scope));
    }
    gbsi_propagator_check(domain);
    return GBS_OK;
}

/* ---- variables ----------------------------------------------------------------------------- */

static gbs_status number_variables(const gbs_model *m, const gbs_evidence *e,
                                   const gbsi_propagator *domain, gbsi_conditioned *c,
                                   gbs_error *err)
{
    const size_t n = m->n_variables;
    size_t n_states = 0;
    size_t n_free = 0;
    for (uint32_t v = 0; v < n; ++v) {
        n_free += domain->size[v] > 1;
        n_states += domain->size[v] > 1 ? domain->size[v] : 0;
    }
    c->arity = gbsi_alloc_array(n_free, sizeof *c->arity);
    c->state_offset = gbsi_alloc_array(n_free + 1, sizeof *c->state_offset);
    c->user_variable = gbsi_alloc_array(n_free, sizeof *c->user_variable);
    c->user_state = gbsi_alloc_array(n_states, sizeof *c->user_state);
    c->free_variable = gbsi_alloc_array(n, sizeof *c->free_variable);
    c->fixed_state = gbsi_alloc_array(n, sizeof *c->fixed_state);
    GBSI_PASS(GBSI_HAVE(err, "conditioned model", c->arity, c->state_offset, c->user_variable,
                        c->user_state, c->free_variable, c->fixed_state));
    c->state_offset[0] = 0;
    for (uint32_t v = 0; v < n; ++v) {
        if (gbsi_watch_spend(domain->watch, domain->size[v])) {
            return gbsi_watch_fail(err, GBSI_CONDITIONING);
        }
        c->free_variable[v] = GBSI_NONE;
        c->fixed_state[v] = GBSI_NONE;
        uint32_t a = gbsi_propagator_next(domain, v, 0);
        if (domain->size[v] == 1) {
            c->fixed_state[v] = a;
            c->n_implied += e == NULL || e->state[v] == GBSI_NONE;
            continue;
        }
        const uint32_t u = c->n_variables++;
        size_t used = c->state_offset[u];
        for (; a != GBSI_NONE; a = gbsi_propagator_next(domain, v, a + 1)) {
            c->user_state[used++] = a;
        }
        c->free_variable[v] = u;
        c->user_variable[u] = v;
        c->arity[u] = domain->size[v];
        c->state_offset[u + (size_t)1] = used;
    }
    return GBS_OK;
}

/* ---- factors ------------------------------------------------------------------------------- */

/* Returns an upper bound of the number of additional factors that conditioning makes when it splits
 * noisy factors into factors of one or two variables. */
static size_t count_noisy_ends(const gbsi_factors *f, const uint32_t *arity)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_factors; ++i) {
        const size_t n_scope = f->scope_start[i + 1] - f->scope_start[i];
        n += gbsi_is_noisy(f->kind[i]) ? n_scope * gbsi_noisy_n_levels(f, arity, i) : 0;
    }
    return n;
}

/* Allocates room for every factor of the user, and for one likelihood factor of every free variable
 * that has virtual evidence. */
static gbs_status reserve_factors(const gbs_model *m, const gbs_evidence *e, gbsi_conditioned *c,
                                  gbs_error *err)
{
    const size_t n_extra = e != NULL && e->log_likelihood != NULL ? c->n_variables : 0;
    const size_t n_noisy = count_noisy_ends(&m->factors, m->arity);
    const size_t n = m->factors.n_factors + n_extra + n_noisy;
    const size_t n_scope = m->factors.scope_start[m->factors.n_factors] + n_extra + 2 * n_noisy;
    gbsi_factors *f = &c->factors;
    f->kind = gbsi_alloc_array(n, sizeof *f->kind);
    f->scope_start = gbsi_alloc_array(n + 1, sizeof *f->scope_start);
    f->scope = gbsi_alloc_array(n_scope, sizeof *f->scope);
    f->weight = gbsi_alloc_array(n, sizeof *f->weight);
    f->aux = gbsi_alloc_array(n, sizeof *f->aux);
    c->origin = gbsi_alloc_array(n, sizeof *c->origin);
    c->has_zeros = gbsi_alloc_array(n, sizeof *c->has_zeros);
    bool failed = f->kind == NULL || f->scope_start == NULL || f->scope == NULL ||
                  f->weight == NULL || f->aux == NULL || c->origin == NULL || c->has_zeros == NULL;
    if (m->factors.n_logical > 0) {
        f->literal = gbsi_alloc_array(n_scope, sizeof *f->literal);
        failed |= f->literal == NULL;
    }
    return failed ? gbsi_no_memory(err, "conditioned model", n * 40) : GBS_OK;
}

static gbs_status reduce_all(const gbs_model *m, const gbs_evidence *e,
                             const gbsi_propagator *domain, gbsi_conditioned *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_reducer r = {0};
    GBSI_TRY(reserve_factors(m, e, c, err));
    GBSI_TRY(gbsi_reducer_init(&r, m, domain, c, err));
    for (size_t f = 0; f < m->factors.n_factors; ++f) {
        GBSI_TRY(gbsi_reduce_factor(&r, f, err));
        const size_t *scope_start = m->factors.scope_start + f;
        if (gbsi_watch_spend(domain->watch, 1 + scope_start[1] - scope_start[0])) {
            GBSI_TRY(gbsi_watch_fail(err, GBSI_CONDITIONING));
        }
    }
    for (uint32_t v = 0; e != NULL && e->log_likelihood != NULL && v < m->n_variables; ++v) {
        GBSI_TRY(gbsi_reduce_likelihood(&r, v, &e->log_likelihood[m->state_offset[v]], err));
    }

cleanup:
    gbsi_reducer_clear(&r);
    return status;
}

static void shrink_factors(gbsi_conditioned *c)
{
    gbsi_factors *f = &c->factors;
    gbsi_room arrays[GBSI_FACTORS_ARRAYS + 2] = {GBSI_ROOM(c->origin, f->n_factors, NULL),
                                                 GBSI_ROOM(c->has_zeros, f->n_factors, NULL)};
    if (f->n_logical == 0) {
        gbsi_free(f->literal);
        f->literal = NULL;
    }
    gbsi_factors_list(f, arrays + 2);
    gbsi_rooms_shrink(arrays, GBSI_FACTORS_ARRAYS + 2);
}

/* ---- Bayesian networks --------------------------------------------------------------------- */

static gbs_status index_network(const gbs_model *m, gbsi_conditioned *c, gbs_error *err)
{
    uint32_t n = 0;
    c->cpt = gbsi_alloc_array(c->n_variables, sizeof *c->cpt);
    c->topological = gbsi_alloc_array(c->n_variables, sizeof *c->topological);
    GBSI_PASS(GBSI_HAVE(err, "conditioned model", c->cpt, c->topological));
    memset(c->cpt, 0xff, c->n_variables * sizeof *c->cpt);
    for (uint32_t i = 0; i < m->n_variables; ++i) {
        const uint32_t v = c->free_variable[m->topological[i]];
        if (v != GBSI_NONE) {
            c->topological[n++] = v;
        }
    }
    for (size_t f = 0; f < c->factors.n_factors; ++f) {
        if (c->origin[f] == SIZE_MAX) {
            continue;
        }
        const uint32_t last = c->factors.scope[c->factors.scope_start[f + 1] - 1];
        if (m->cpt[c->user_variable[last]] == c->origin[f]) {
            c->cpt[last] = (uint32_t)f;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_condition(const gbs_model *model, const gbs_evidence *evidence,
                          gbsi_conditioned **conditioned, gbs_error *err)
{
    return gbsi_condition_watched(model, evidence, NULL, conditioned, err);
}

gbs_status gbsi_condition_watched(const gbs_model *model, const gbs_evidence *evidence,
                                  gbsi_watch *watch, gbsi_conditioned **conditioned, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_propagation *hard = NULL;
    gbsi_propagator *domain = NULL;
    gbsi_conditioned *c = gbsi_alloc_zero(sizeof *c);
    GBSI_PASS(GBSI_HAVE(err, "conditioned model", c));
    if (evidence != NULL && evidence->model != model) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "the evidence belongs to another model"));
    }
    c->model = model;
    const bool whole = gbsi_condition_is_whole(model, evidence, watch);
    if (gbsi_watch_stopped(watch)) {
        GBSI_TRY(gbsi_watch_fail(err, GBSI_CONDITIONING));
    }
    if (whole) {
        GBSI_TRY(gbsi_condition_whole(model, c, watch, err));
        gbsi_condition_check(c);
        *conditioned = c;
        return GBS_OK;
    }
    GBSI_TRY(gbsi_propagation_new(&model->factors, model->arity, model->n_variables, NULL, watch,
                                  &hard, err));
    GBSI_TRY(gbsi_propagator_new(hard, false, &domain, err));
    domain->watch = watch;
    if (evidence != NULL) {
        GBSI_TRY(enter_evidence(model, evidence, domain, err));
    }
    GBSI_TRY(propagate(model, evidence, domain, err));
    GBSI_TRY(number_variables(model, evidence, domain, c, err));
    GBSI_TRY(reduce_all(model, evidence, domain, c, err));
    shrink_factors(c);
    if (model->directed) {
        GBSI_TRY(index_network(model, c, err));
    }
    gbsi_condition_check(c);
    *conditioned = c;
    c = NULL;

cleanup:
    gbsi_conditioned_free(c);
    gbsi_propagator_free(domain);
    gbsi_propagation_free(hard);
    return status;
}
