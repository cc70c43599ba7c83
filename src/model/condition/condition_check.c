/* SPDX-License-Identifier: Apache-2.0 */
#include "condition/condition_inside.h"

#ifndef NDEBUG

#include <assert.h>
#include <math.h>

/* ---- variables ----------------------------------------------------------------------------- */

static void check_variable(const gbsi_conditioned *c, uint32_t v)
{
    const uint32_t *state = gbsi_conditioned_states(c, v);
    const uint32_t user = c->user_variable[v];
    assert(c->arity[v] >= 2); /* a variable that has only one state is fixed, never free */
    assert(c->state_offset[v + (size_t)1] - c->state_offset[v] == c->arity[v]);
    assert(v == 0 || c->user_variable[v - 1] < user); /* free variables are in the user's order */
    for (uint32_t a = 1; a < c->arity[v]; ++a) {
        assert(state[a - 1] < state[a]);
    }
    if (c->free_variable != NULL) {
        assert(user < c->model->n_variables && c->free_variable[user] == v);
        assert(c->fixed_state[user] == GBSI_NONE);
        assert(state[c->arity[v] - 1] < c->model->arity[user]);
    }
}

/* If the child of a conditional table is free, the child is the last variable of the table's
 * scope; parents come before children. */
static void check_network(const gbsi_conditioned *c)
{
    const gbsi_factors *f = &c->factors;
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        const uint32_t cpt = c->cpt[v];
        assert(cpt == GBSI_NONE || cpt < f->n_factors);
        assert(cpt == GBSI_NONE || f->scope[f->scope_start[cpt + (size_t)1] - 1] == v);
        assert(c->topological[v] < c->n_variables);
    }
}

/* ---- factors ------------------------------------------------------------------------------- */

/* Returns the number of entries of a table over the scope of factor i. */
static size_t entries_of(const gbsi_conditioned *c, size_t i)
{
    const gbsi_factors *f = &c->factors;
    size_t n = 1;
    for (size_t e = f->scope_start[i]; e < f->scope_start[i + 1]; ++e) {
        n *= c->arity[f->scope[e]];
    }
    return n;
}

static void check_factor(const gbsi_conditioned *c, size_t i)
{
    const gbsi_factors *f = &c->factors;
    const uint32_t aux = f->aux[i];
    /* a conditioned model stores no factor without variables */
    assert(f->scope_start[i] < f->scope_start[i + 1]);
    for (size_t e = f->scope_start[i]; e < f->scope_start[i + 1]; ++e) {
        assert(f->scope[e] < c->n_variables);
        assert(f->kind[i] != GBS_FACTOR_LOGICAL || f->literal[e] < c->arity[f->scope[e]]);
    }
    assert(!gbsi_has_table(f->kind[i]) || aux < f->n_tables);
    assert(f->kind[i] != GBS_FACTOR_TABLE ||
           f->table_start[aux + (size_t)1] - f->table_start[aux] == entries_of(c, i));
    assert(f->kind[i] != GBS_FACTOR_LOGICAL || aux < f->n_logical);
    assert(i == 0 || gbsi_conditioned_origin(c, i - 1) <= gbsi_conditioned_origin(c, i));
}

void gbsi_condition_check(const gbsi_conditioned *conditioned)
{
    const gbsi_conditioned *c = conditioned;
    assert(c->state_offset[0] == 0);
    assert(c->factors.scope_start[0] == 0);
    assert(c->log_constant > -INFINITY);
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        check_variable(c, v);
    }
    for (size_t i = 0; i < c->factors.n_factors; ++i) {
        check_factor(c, i);
    }
    if (c->cpt != NULL) {
        check_network(c);
    }
}

/* ---- domains ------------------------------------------------------------------------------- */

void gbsi_propagator_check(gbsi_propagator *propagator)
{
    gbsi_watch *watch = propagator->watch;
    uint64_t before = 0;
    uint64_t after = 0;
    assert(propagator->queue_length == 0);
    for (uint32_t v = 0; v < propagator->of->n_variables; ++v) {
        assert(propagator->size[v] >= 1 && propagator->size[v] <= propagator->of->arity[v]);
        before += propagator->size[v];
    }
    propagator->watch = NULL; /* no watch, because this check must not be stopped */
    gbsi_propagator_queue_all(propagator);
    const size_t refused = gbsi_propagator_run(propagator);
    propagator->watch = watch;
    for (uint32_t v = 0; v < propagator->of->n_variables; ++v) {
        after += propagator->size[v];
    }
    assert(refused == SIZE_MAX && after == before);
}

#endif
