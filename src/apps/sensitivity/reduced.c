/* SPDX-License-Identifier: Apache-2.0 */
/* The model is built with weights of one, because conditioning must not remove states or factors.
 * The true weights are filled in afterwards. */
#include "sensitivity/reduced.h"

#include <math.h>

#include "base/memory.h"
#include "store/builder.h"

/* largest number of entries of one table; a larger table would not fit into a junction tree */
#define MOST_ENTRIES ((size_t)1 << 26)

void gbsi_reduced_free(gbsi_reduced *reduced)
{
    gbsi_reduced *r = reduced;
    if (r == NULL) {
        return;
    }
    gbs_model_free(r->model);
    GBSI_FREE(r->number, r->user_variable, r->state, r->barren, r->dropped, r->factor,
              r->likelihood, r->at, r->unit.weight, r);
}

const double *gbsi_log_likelihood(const gbs_evidence *evidence, uint32_t variable)
{
    if (evidence == NULL || evidence->log_likelihood == NULL) {
        return NULL;
    }
    const gbs_model *m = evidence->model;
    const double *l = evidence->log_likelihood + m->state_offset[variable];
    for (uint32_t a = 0; a < m->arity[variable]; ++a) {
        if (l[a] != 0.0) {
            return l;
        }
    }
    return NULL;
}

/* ---- walking --------------------------------------------------------------------------------- */

gbsi_rest gbsi_rest_begin(const gbsi_reduced *reduced, size_t factor)
{
    const gbsi_reduced *r = reduced;
    const gbsi_factors *f = &r->user->factors;
    const uint32_t *scope = f->scope + f->scope_start[factor];
    const size_t n = f->scope_start[factor + 1] - f->scope_start[factor];
    gbsi_rest rest = {.reduced = r, .factor = factor, .at = r->at, .n_joint = 1};
    size_t stride = 1;
    for (size_t k = n; k-- > 0;) {
        rest.at[k] = r->state[scope[k]];
        rest.user += stride * rest.at[k];
        stride *= r->user->arity[scope[k]]; /* the product may wrap around for factors without a
                                               table, which do not use it */
        if (r->number[scope[k]] != GBSI_NONE &&
            !gbsi_mul_size(rest.n_joint, r->user->arity[scope[k]], &rest.n_joint)) {
            rest.n_joint = SIZE_MAX;
        }
    }
    return rest;
}

void gbsi_rest_next(gbsi_rest *rest)
{
    const gbsi_reduced *r = rest->reduced;
    const gbsi_factors *f = &r->user->factors;
    const uint32_t *scope = f->scope + f->scope_start[rest->factor];
    size_t stride = 1;
    for (size_t k = f->scope_start[rest->factor + 1] - f->scope_start[rest->factor]; k-- > 0;) {
        const uint32_t arity = r->user->arity[scope[k]];
        if (r->number[scope[k]] != GBSI_NONE) {
            rest->user += stride;
            if (++rest->at[k] < arity) {
                return;
            }
            rest->user -= arity * stride;
            rest->at[k] = 0;
        }
        stride *= arity;
    }
}

/* ---- making ---------------------------------------------------------------------------------- */

static gbs_status take_room(gbsi_reduced *r, gbs_error *err)
{
    const gbs_model *m = r->user;
    const size_t n_factors = m->factors.n_factors;
    size_t longest = 0;
    size_t n_links = 0;
    for (size_t f = 0; f < n_factors; ++f) {
        const size_t n = m->factors.scope_start[f + 1] - m->factors.scope_start[f];
        longest = n > longest ? n : longest;
        n_links += gbsi_is_noisy(m->factors.kind[f]) ? n : 0;
    }
    if (n_links > GBS_MAX_VARIABLES - (size_t)m->n_variables - 1) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "sensitivity: noisy factors have too many parents");
    }
    r->number = gbsi_alloc_array(m->n_variables, sizeof *r->number);
    r->user_variable = gbsi_alloc_array(m->n_variables + n_links + 1, sizeof *r->user_variable);
    r->state = gbsi_alloc_array_zero(m->n_variables, sizeof *r->state);
    r->barren = gbsi_alloc_array_zero(m->n_variables, 1);
    r->dropped = gbsi_alloc_array_zero(n_factors, 1);
    r->likelihood = gbsi_alloc_array(m->n_variables, sizeof *r->likelihood);
    r->factor = gbsi_alloc_array(n_factors, sizeof *r->factor);
    r->at = gbsi_alloc_array(longest, sizeof *r->at);
    r->unit = m->factors;
    r->unit.weight = gbsi_alloc_array(n_factors, sizeof *r->unit.weight);
    for (size_t f = 0; r->unit.weight != NULL && f < n_factors; ++f) {
        r->unit.weight[f] = 1.0;
    }
    return GBSI_HAVE(err, "sensitivity", r->number, r->user_variable, r->state, r->barren,
                     r->dropped, r->likelihood, r->factor, r->at, r->unit.weight);
}

/* Numbers the free variables and, after them, the indicator; keeps the states of all others. */
static void number_variables(gbsi_reduced *r)
{
    const gbs_model *m = r->user;
    uint32_t n = 0;
    r->log_constant = 0.0;
    r->n_likelihoods = 0;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        const double *l = gbsi_log_likelihood(r->evidence, v);
        const uint32_t observed = r->evidence == NULL ? GBSI_NONE : r->evidence->state[v];
        if (observed != GBSI_NONE || m->arity[v] == 1 || r->barren[v]) {
            r->number[v] = GBSI_NONE;
            r->state[v] = observed != GBSI_NONE ? observed : 0;
            r->log_constant += l != NULL ? l[r->state[v]] : 0.0;
            continue;
        }
        r->number[v] = n;
        r->user_variable[n++] = v;
        if (l != NULL) {
            r->likelihood[r->n_likelihoods++] = v;
        }
    }
    r->user_variable[n] = r->variable;
    r->indicator = n;
    for (size_t f = 0; f < m->factors.n_factors; ++f) {
        const gbsi_noisy noisy = gbsi_is_noisy(m->factors.kind[f]) && !r->dropped[f]
                                     ? gbsi_noisy_of(&m->factors, f)
                                     : (gbsi_noisy){.child = GBSI_NONE};
        for (uint32_t k = 0; noisy.child != GBSI_NONE && k <= noisy.n_parents; ++k) {
            r->user_variable[++n] = noisy.child;
        }
    }
    r->n_variables = n + 1;
}

static gbs_status add_variables(const gbsi_reduced *r, gbs_builder *builder, gbs_error *err)
{
    const uint32_t two = 2;
    gbs_status status = GBS_OK;
    for (uint32_t i = 0; i < r->n_variables && status >= 0; ++i) {
        const uint32_t *arity = i < r->indicator ? &r->user->arity[r->user_variable[i]] : &two;
        status = gbs_builder_add_variables(builder, 1, arity, NULL, err);
    }
    return status;
}

/* Adds a table of zeros over some variables of the model. */
static gbs_status add_table(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                            size_t n_entries, const double *zeros, gbs_error *err)
{
    uint32_t table = 0;
    const gbs_status status = gbs_builder_add_table(builder, n_entries, zeros, &table, err);
    return status < 0 ? status : gbs_builder_add_table_factor(builder, n, scope, table, err);
}

static double value_now(const gbsi_rest *rest)
{
    const gbs_model *m = rest->reduced->user;
    return m->factors.kind[rest->factor] == GBS_FACTOR_TABLE
               ? m->factors.table[m->factors.table_start[m->factors.aux[rest->factor]] + rest->user]
               : gbsi_factor_value_at(&m->factors, m->arity, rest->factor, rest->at);
}

/* @return the number of entries of the largest table that a user's factor becomes. */
static size_t n_entries_of(const gbsi_reduced *r, size_t factor)
{
    const gbsi_factors *f = &r->user->factors;
    uint32_t most = 1;
    if (!gbsi_is_noisy(f->kind[factor])) {
        return gbsi_rest_begin(r, factor).n_joint;
    }
    for (size_t k = f->scope_start[factor]; k < f->scope_start[factor + 1]; ++k) {
        const uint32_t arity = r->user->arity[f->scope[k]];
        most = arity > most ? arity : most;
    }
    return 4 * (size_t)most;
}

/* Finds the number of entries of the largest table. */
static gbs_status find_largest(const gbsi_reduced *r, size_t *most, gbs_error *err)
{
    const gbs_model *m = r->user;
    char name[128];
    *most = 2 * (size_t)m->arity[r->variable];
    for (size_t f = 0; f < m->factors.n_factors; ++f) {
        const size_t n = r->dropped[f] ? 0 : n_entries_of(r, f);
        if (n > MOST_ENTRIES) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "exact sensitivities: factor %zu, with variable %s, has more than %zu "
                             "joint states, which are the most: sample",
                             f,
                             gbsi_variable_text(m, m->factors.scope[m->factors.scope_start[f]],
                                                name, sizeof name),
                             MOST_ENTRIES);
        }
        *most = n > *most ? n : *most;
    }
    for (uint32_t i = 0; i < r->n_likelihoods; ++i) {
        *most = m->arity[r->likelihood[i]] > *most ? m->arity[r->likelihood[i]] : *most;
    }
    return GBS_OK;
}

/* Adds the chain of a noisy factor. @param state in: number of the variable s_0 in the model; out:
 * the number after s_n. */
static gbs_status add_chain(gbsi_reduced *r, gbs_builder *builder, const gbsi_noisy *noisy,
                            const double *zeros, uint32_t *state, gbs_error *err)
{
    gbs_status status = add_table(builder, 1, state, 2, zeros, err);
    for (uint32_t k = 0; k <= noisy->n_parents && status >= 0; ++k) {
        const bool last = k == noisy->n_parents;
        const uint32_t v = last ? noisy->child : noisy->parent[k];
        const uint32_t n_free = r->number[v] != GBSI_NONE;
        const uint32_t scope[3] = {r->number[v], *state, *state + 1};
        const size_t n_states = n_free ? r->user->arity[v] : 1;
        ++*state;
        status = add_table(builder, n_free + (last ? 1 : 2), n_free ? scope : scope + 1,
                           n_states * (last ? 2 : 4), zeros, err);
    }
    r->first_likelihood += (size_t)noisy->n_parents + 2;
    return status;
}

/* Adds the user's factors, in their order.
 * @param scope [longest scope] room. */
static gbs_status add_factors(gbsi_reduced *r, gbs_builder *builder, const double *zeros,
                              uint32_t *scope, gbs_error *err)
{
    const gbsi_factors *f = &r->user->factors;
    gbs_status status = GBS_OK;
    uint32_t state = r->indicator + 1;
    for (size_t i = 0; i < f->n_factors && status >= 0; ++i) {
        const gbsi_rest rest = gbsi_rest_begin(r, i);
        uint32_t n = 0;
        if (r->dropped[i]) {
            r->factor[i] = SIZE_MAX;
            continue;
        }
        if (gbsi_is_noisy(f->kind[i])) {
            const gbsi_noisy noisy = gbsi_noisy_of(f, i);
            r->factor[i] = r->first_likelihood;
            status = add_chain(r, builder, &noisy, zeros, &state, err);
            continue;
        }
        for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
            if (r->number[f->scope[k]] != GBSI_NONE) {
                scope[n++] = r->number[f->scope[k]];
            }
        }
        r->factor[i] = n > 0 ? r->first_likelihood++ : SIZE_MAX;
        if (n > 0) {
            status = add_table(builder, n, scope, rest.n_joint, zeros, err);
        } else {
            r->log_constant += value_now(&rest);
        }
    }
    return status;
}

static gbs_status add_all(gbsi_reduced *r, gbs_builder *builder, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_model *m = r->user;
    size_t most = 0;
    double *zeros = NULL;
    uint32_t *scope = NULL;
    GBSI_TRY(add_variables(r, builder, err));
    GBSI_TRY(find_largest(r, &most, err));
    zeros = gbsi_alloc_array_zero(most, sizeof *zeros);
    scope = gbsi_alloc_array((size_t)m->n_variables + 1, sizeof *scope);
    GBSI_TRY(GBSI_HAVE(err, "sensitivity", zeros, scope));
    GBSI_TRY(add_factors(r, builder, zeros, scope, err));
    for (uint32_t i = 0; i < r->n_likelihoods; ++i) {
        const uint32_t v = r->likelihood[i];
        GBSI_TRY(add_table(builder, 1, &r->number[v], m->arity[v], zeros, err));
    }
    const uint32_t last[2] = {r->number[r->variable], r->indicator};
    const bool is_free = last[0] != GBSI_NONE;
    GBSI_TRY(add_table(builder, is_free ? 2 : 1, is_free ? last : last + 1,
                       is_free ? 2 * (size_t)m->arity[r->variable] : 2, zeros, err));

cleanup:
    GBSI_FREE(zeros, scope);
    return status;
}

gbs_status gbsi_reduced_build(gbsi_reduced *reduced, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    number_variables(reduced); /* second numbering, without the barren variables */
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(add_all(reduced, builder, err));
    GBSI_TRY(gbs_builder_build(builder, &reduced->model, err));

cleanup:
    gbs_builder_free(builder);
    return status;
}

gbs_status gbsi_reduced_new(const gbs_model *user, const gbs_evidence *evidence, uint32_t variable,
                            uint32_t state, gbsi_reduced **out, gbs_error *err)
{
    gbsi_reduced *r = gbsi_alloc_zero(sizeof *r);
    GBSI_PASS(GBSI_HAVE(err, "sensitivity", r));
    r->user = user;
    r->evidence = evidence;
    r->variable = variable;
    r->x = state;
    const gbs_status status = take_room(r, err);
    if (status < 0) {
        gbsi_reduced_free(r);
        return status;
    }
    number_variables(r);
    *out = r;
    return GBS_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

static double *table_of(const gbsi_reduced *r, size_t f)
{
    const gbsi_factors *factors = &r->model->factors;
    return factors->table + factors->table_start[factors->aux[f]];
}

/* Fills the table of the indicator: 0 if the indicator agrees with X, else minus infinity. */
static void fill_indicator(gbsi_reduced *r)
{
    double *table = table_of(r, r->first_likelihood + r->n_likelihoods);
    const bool is_free = r->number[r->variable] != GBSI_NONE;
    const uint32_t n = is_free ? r->user->arity[r->variable] : 1;
    for (uint32_t a = 0; a < n; ++a) {
        const bool is_x = (is_free ? a : r->state[r->variable]) == r->x;
        table[2 * (size_t)a] = is_x ? -INFINITY : 0.0;
        table[2 * (size_t)a + 1] = is_x ? 0.0 : -INFINITY;
    }
}

/* Finds the states that evidence leaves to a variable: from *first to the result minus 1. */
static uint32_t states_of(const gbsi_reduced *r, uint32_t v, uint32_t *first)
{
    *first = r->number[v] == GBSI_NONE ? r->state[v] : 0;
    return r->number[v] == GBSI_NONE ? *first + 1 : r->user->arity[v];
}

/* Fills the tables of a chain: P(s_0), then P(s_k | u_k, s_(k-1)) of each parent k, then whether
 * the child equals the state that s_n gives. */
static void fill_chain(gbsi_reduced *r, size_t f)
{
    const gbsi_noisy noisy = gbsi_noisy_of(&r->user->factors, f);
    const double *log_q = noisy.log_q + 1;
    double *table = table_of(r, r->factor[f]);
    uint32_t first = 0;
    table[0] = noisy.log_q[0];
    table[1] = gbsi_noisy_log(noisy.log_q[0], true);
    for (uint32_t k = 0; k < noisy.n_parents; ++k) {
        const uint32_t end = states_of(r, noisy.parent[k], &first);
        table = table_of(r, r->factor[f] + k + 1);
        for (uint32_t a = first; a < end; ++a, table += 4) {
            table[0] = log_q[a];
            table[1] = gbsi_noisy_log(log_q[a], true);
            table[2] = -INFINITY;
            table[3] = 0.0;
        }
        log_q += r->user->arity[noisy.parent[k]];
    }
    const uint32_t end = states_of(r, noisy.child, &first);
    table = table_of(r, r->factor[f] + noisy.n_parents + 1);
    for (uint32_t a = first; a < end; ++a, table += 2) {
        table[a == noisy.effect ? 1 : 0] = 0.0;
        table[a == noisy.effect ? 0 : 1] = -INFINITY;
    }
}

size_t gbsi_reduced_n_tables(const gbsi_reduced *reduced, size_t factor)
{
    const gbsi_factors *f = &reduced->user->factors;
    return gbsi_is_noisy(f->kind[factor]) ? f->scope_start[factor + 1] - f->scope_start[factor] + 1
                                          : 1;
}

void gbsi_reduced_fill(gbsi_reduced *reduced)
{
    gbsi_reduced *r = reduced;
    for (size_t f = 0; f < r->user->factors.n_factors; ++f) {
        if (r->factor[f] == SIZE_MAX) {
            continue;
        }
        if (gbsi_is_noisy(r->user->factors.kind[f])) {
            fill_chain(r, f);
            continue;
        }
        double *table = table_of(r, r->factor[f]);
        gbsi_rest rest = gbsi_rest_begin(r, f);
        for (size_t i = 0; i < rest.n_joint; ++i, gbsi_rest_next(&rest)) {
            table[i] = value_now(&rest);
        }
    }
    for (uint32_t i = 0; i < r->n_likelihoods; ++i) {
        const uint32_t v = r->likelihood[i];
        double *table = table_of(r, r->first_likelihood + i);
        const double *l = gbsi_log_likelihood(r->evidence, v);
        for (uint32_t a = 0; a < r->user->arity[v]; ++a) {
            table[a] = l[a];
        }
    }
    fill_indicator(r);
}
