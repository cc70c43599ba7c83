/* SPDX-License-Identifier: Apache-2.0 */
/* A finished conditioned model: its density, its size, and parts of it. */
#include <assert.h>
#include <string.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "condition/condition.h"
#include "condition/condition_inside.h"
#include "condition/prune.h"

void gbsi_conditioned_free(gbsi_conditioned *conditioned)
{
    if (conditioned == NULL) {
        return;
    }
    if (!conditioned->borrows) {
        GBSI_FREE(conditioned->arity, conditioned->state_offset);
        gbsi_factors_free(&conditioned->factors);
        GBSI_FREE(conditioned->free_variable, conditioned->cpt, conditioned->topological);
    }
    GBSI_FREE(conditioned->origin, conditioned->has_zeros, conditioned->user_variable,
              conditioned->user_state, conditioned->fixed_state, conditioned);
}

double gbsi_conditioned_log_density(const gbsi_conditioned *conditioned, const uint32_t *x)
{
    double sum = conditioned->log_constant;
    for (size_t f = 0; f < conditioned->factors.n_factors; ++f) {
        sum += gbsi_factor_value(&conditioned->factors, conditioned->arity, f, x);
    }
    return sum;
}

size_t gbsi_conditioned_bytes(const gbsi_conditioned *conditioned)
{
    const gbsi_conditioned *c = conditioned;
    gbsi_factors factors = c->factors;
    const size_t n = c->n_variables;
    gbsi_room arrays[GBSI_FACTORS_ARRAYS];
    if (c->borrows) { /* has_zeros is not counted: it is never written to, so its pages take no
                         memory */
        return sizeof *c + n * (sizeof *c->user_variable + sizeof *c->fixed_state) +
               gbsi_largest(c->arity, n) * sizeof *c->user_state;
    }
    size_t bytes = sizeof *c + n * (sizeof *c->arity + sizeof *c->user_variable);
    bytes += (n + 1) * sizeof *c->state_offset + c->state_offset[n] * sizeof *c->user_state;
    bytes += c->model->n_variables * (sizeof *c->free_variable + sizeof *c->fixed_state);
    bytes += c->cpt == NULL ? 0 : n * (sizeof *c->cpt + sizeof *c->topological);
    bytes += factors.n_factors * (sizeof *c->origin + sizeof *c->has_zeros);
    gbsi_factors_list(&factors, arrays);
    return bytes + gbsi_rooms_bytes(arrays, GBSI_FACTORS_ARRAYS);
}

/* ---- a part ---------------------------------------------------------------------------------- */

/* The size of a part, and the new numbers of its variables and tables. */
typedef struct kept {
    gbsi_part_sizes sizes;
    gbsi_series_list factors; /* factors among which the part's factors are found */
    const uint8_t *
        visited; /* [n_variables of the whole] 1 if the part has all factors of this variable; NULL:
                    the part has a factor if it has the first variable of the factor's scope */
    const uint8_t *dropped; /* [factors of the whole] 1 if the factor must not be in the part; NULL
                               if no factor is excluded */
    uint32_t *variable; /* [n_variables of the whole] number in the part; GBSI_NONE if the part does
                           not have the variable */
    uint32_t *table; /* [n_tables of the whole] 1 + the number of the table in the part, in order of
                        first use; 0 if the part does not have the table */
    uint32_t *used;  /* [n_tables of the part] number in the whole */
    size_t used_capacity;
} kept;

static bool holds_any(const gbsi_factors *f, size_t i, const uint8_t *visited)
{
    bool any = false;
    for (size_t s = f->scope_start[i]; s < f->scope_start[i + 1]; ++s) {
        any |= visited[f->scope[s]] != 0;
    }
    return any;
}

static bool keeps(const kept *k, const gbsi_conditioned *whole, size_t f)
{
    if (k->dropped != NULL && k->dropped[f] != 0) {
        return false;
    }
    if (k->visited != NULL) {
        return holds_any(&whole->factors, f, k->visited);
    }
    return k->variable[whole->factors.scope[whole->factors.scope_start[f]]] != GBSI_NONE;
}

static gbs_status count_factor(const gbsi_factors *f, size_t i, kept *k, gbs_error *err)
{
    gbsi_part_sizes *z = &k->sizes;
    ++z->n_factors;
    z->n_scope += f->scope_start[i + 1] - f->scope_start[i];
    z->logical |= f->kind[i] == GBS_FACTOR_LOGICAL;
    if (!gbsi_has_table(f->kind[i]) || k->table[f->aux[i]] != 0) {
        return GBS_OK;
    }
    void *pointer = k->used;
    const gbs_status status = gbsi_reserve(&pointer, &k->used_capacity, z->n_tables + 1,
                                           sizeof *k->used, "part of a model", err);
    k->used = pointer;
    if (status >= 0) {
        k->used[z->n_tables] = f->aux[i];
        k->table[f->aux[i]] = (uint32_t)++z->n_tables;
        z->n_entries += f->table_start[f->aux[i] + (size_t)1] - f->table_start[f->aux[i]];
    }
    return status;
}

static gbs_status count_factors(const gbsi_conditioned *whole, kept *k, gbs_error *err)
{
    k->table = gbsi_alloc_array_zero(whole->factors.n_tables, sizeof *k->table);
    GBSI_PASS(GBSI_HAVE(err, "part of a model", k->table));
    for (size_t j = 0; j < k->factors.n; ++j) {
        const size_t end = k->factors.at[j].first + k->factors.at[j].n;
        for (size_t i = k->factors.at[j].first; i < end; ++i) {
            if (keeps(k, whole, i)) {
                GBSI_PASS(count_factor(&whole->factors, i, k, err));
            }
        }
    }
    return GBS_OK;
}

/* Allocates the arrays of a part, except those that map the user's variables to the part. */
static gbs_status reserve_part(const gbsi_conditioned *whole, const gbsi_part_sizes *sizes,
                               gbsi_conditioned *part, gbs_error *err)
{
    gbsi_factors *f = &part->factors;
    const size_t n = sizes->n_variables;
    part->arity = gbsi_alloc_array(n, sizeof *part->arity);
    part->state_offset = gbsi_alloc_array(n + 1, sizeof *part->state_offset);
    part->user_variable = gbsi_alloc_array(n, sizeof *part->user_variable);
    part->user_state = gbsi_alloc_array(sizes->n_states, sizeof *part->user_state);
    part->origin = gbsi_alloc_array(sizes->n_factors, sizeof *part->origin);
    part->has_zeros = gbsi_alloc_array(sizes->n_factors, sizeof *part->has_zeros);
    f->kind = gbsi_alloc_array(sizes->n_factors, sizeof *f->kind);
    f->scope_start = gbsi_alloc_array(sizes->n_factors + 1, sizeof *f->scope_start);
    f->scope = gbsi_alloc_array(sizes->n_scope, sizeof *f->scope);
    f->weight = gbsi_alloc_array(sizes->n_factors, sizeof *f->weight);
    f->aux = gbsi_alloc_array(sizes->n_factors, sizeof *f->aux);
    f->table_start = gbsi_alloc_array(sizes->n_tables + 1, sizeof *f->table_start);
    f->table = gbsi_alloc_array(sizes->n_entries, sizeof *f->table);
    bool failed = part->arity == NULL || part->state_offset == NULL ||
                  part->user_variable == NULL || part->user_state == NULL || part->origin == NULL ||
                  part->has_zeros == NULL || f->kind == NULL || f->scope_start == NULL ||
                  f->scope == NULL || f->weight == NULL || f->aux == NULL ||
                  f->table_start == NULL || f->table == NULL;
    if (sizes->logical) {
        f->literal = gbsi_alloc_array_zero(sizes->n_scope, sizeof *f->literal);
        f->logical = gbsi_alloc_array(whole->factors.n_logical, sizeof *f->logical);
        failed |= f->literal == NULL || f->logical == NULL;
    }
    return failed ? gbsi_no_memory(err, "part of a model", sizes->n_scope * sizeof *f->scope)
                  : GBS_OK;
}

gbs_status gbsi_conditioned_reserve(const gbsi_conditioned *whole, const gbsi_part_sizes *sizes,
                                    gbsi_conditioned *part, gbs_error *err)
{
    const size_t n = whole->model->n_variables;
    part->free_variable = gbsi_alloc_array(n, sizeof *part->free_variable);
    part->fixed_state = gbsi_alloc_array(n, sizeof *part->fixed_state);
    return part->free_variable == NULL || part->fixed_state == NULL
               ? gbsi_no_memory(err, "part of a model", n * sizeof *part->free_variable)
               : reserve_part(whole, sizes, part, err);
}

/* Appends a variable to the part. */
static void take_variable(const gbsi_conditioned *whole, uint32_t v, gbsi_conditioned *part)
{
    const uint32_t u = part->n_variables++;
    part->arity[u] = whole->arity[v];
    part->state_offset[u + (size_t)1] = part->state_offset[u] + whole->arity[v];
    memcpy(part->user_state + part->state_offset[u], gbsi_conditioned_states(whole, v),
           whole->arity[v] * sizeof *part->user_state);
    part->user_variable[u] = whole->user_variable[v];
}

void gbsi_conditioned_take_variables(const gbsi_conditioned *whole, const uint32_t *number,
                                     gbsi_conditioned *part)
{
    const size_t n_user = whole->model->n_variables;
    memset(part->free_variable, 0xff, n_user * sizeof *part->free_variable);
    memcpy(part->fixed_state, whole->fixed_state, n_user * sizeof *part->fixed_state);
    part->n_implied = whole->n_implied;
    part->log_constant = whole->log_constant;
    part->state_offset[0] = 0;
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        if (number[v] != GBSI_NONE) {
            part->free_variable[whole->user_variable[v]] = number[v];
            take_variable(whole, v, part);
        }
    }
}

void gbsi_conditioned_take_logical(const gbsi_conditioned *whole, gbsi_conditioned *part)
{
    part->factors.n_logical = whole->factors.n_logical;
    memcpy(part->factors.logical, whole->factors.logical,
           whole->factors.n_logical * sizeof *part->factors.logical);
}

static gbs_status reserve_network(uint32_t n, gbsi_conditioned *p, gbs_error *err)
{
    p->cpt = gbsi_alloc_array(n, sizeof *p->cpt);
    p->topological = gbsi_alloc_array(n, sizeof *p->topological);
    return GBSI_HAVE(err, "part of a model", p->cpt, p->topological);
}

static void copy_tables(const gbsi_factors *from, const kept *k, gbsi_factors *to)
{
    to->n_tables = k->sizes.n_tables;
    to->table_start[0] = 0;
    for (size_t t = 0; t < to->n_tables; ++t) {
        const size_t first = from->table_start[k->used[t]];
        const size_t n = from->table_start[k->used[t] + (size_t)1] - first;
        memcpy(&to->table[to->table_start[t]], &from->table[first], n * sizeof *to->table);
        to->table_start[t + 1] = to->table_start[t] + n;
    }
}

static void copy_factor(const gbsi_conditioned *whole, const kept *k, size_t i, gbsi_conditioned *p)
{
    const gbsi_factors *from = &whole->factors;
    gbsi_factors *to = &p->factors;
    const size_t f = to->n_factors++;
    size_t used = to->scope_start[f];
    for (size_t s = from->scope_start[i]; s < from->scope_start[i + 1]; ++s) {
        if (to->literal != NULL) {
            to->literal[used] = from->literal[s];
        }
        to->scope[used++] = k->variable[from->scope[s]]; /* no check is needed: the part has all
                                                            variables of the factor */
    }
    assert(f < k->sizes.n_factors && used <= k->sizes.n_scope);
    to->scope_start[f + 1] = used;
    to->kind[f] = from->kind[i];
    to->weight[f] = from->weight[i];
    to->aux[f] = gbsi_has_table(from->kind[i]) ? k->table[from->aux[i]] - 1 : from->aux[i];
    p->origin[f] = gbsi_conditioned_origin(whole, i);
    p->has_zeros[f] = whole->has_zeros[i];
}

static void copy_factors(const gbsi_conditioned *whole, const kept *k, gbsi_conditioned *p)
{
    p->factors.scope_start[0] = 0;
    for (size_t j = 0; j < k->factors.n; ++j) {
        const size_t end = k->factors.at[j].first + k->factors.at[j].n;
        for (size_t i = k->factors.at[j].first; i < end; ++i) {
            if (keeps(k, whole, i)) {
                copy_factor(whole, k, i, p);
            }
        }
    }
    if (k->sizes.logical) {
        gbsi_conditioned_take_logical(whole, p);
    }
}

/* The child of a conditional table is the last variable of its scope. */
static void copy_network(const gbsi_conditioned *whole, const kept *k, gbsi_conditioned *p)
{
    uint32_t n = 0;
    memset(p->cpt, 0xff, p->n_variables * sizeof *p->cpt);
    for (uint32_t i = 0; i < whole->n_variables; ++i) {
        const uint32_t u = k->variable[whole->topological[i]];
        if (u != GBSI_NONE) {
            p->topological[n++] = u;
        }
    }
    for (size_t f = 0; f < p->factors.n_factors; ++f) {
        const uint32_t last = p->factors.scope[p->factors.scope_start[f + 1] - 1];
        if (p->origin[f] != SIZE_MAX && whole->model->cpt[p->user_variable[last]] == p->origin[f]) {
            p->cpt[last] = (uint32_t)f;
        }
    }
}

/* Makes the factors of a part whose variables have numbers, and allocates the arrays of the
 * variables.
 * @param reserve function that allocates the arrays: gbsi_conditioned_reserve(), or its equivalent
 * for a part that does not come from a whole model. */
static gbs_status make_factors(const gbsi_conditioned *whole, kept *k,
                               gbs_status (*reserve)(const gbsi_conditioned *,
                                                     const gbsi_part_sizes *, gbsi_conditioned *,
                                                     gbs_error *),
                               gbsi_conditioned **part, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_conditioned *p = gbsi_alloc_zero(sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "part of a model", p));
    p->model = whole->model;
    GBSI_TRY(count_factors(whole, k, err));
    GBSI_TRY(reserve(whole, &k->sizes, p, err));
    copy_tables(&whole->factors, k, &p->factors);
    copy_factors(whole, k, p);
    *part = p;
    p = NULL;

cleanup:
    gbsi_conditioned_free(p);
    return status;
}

static void free_kept(kept *k)
{
    GBSI_FREE(k->variable, k->table, k->used);
}

static gbs_status make_part(const gbsi_conditioned *whole, const uint8_t *keep,
                            const uint8_t *visited, const uint8_t *dropped, gbsi_conditioned **part,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_series all = {0, whole->factors.n_factors};
    kept k = {.factors = {&all, 1}, .visited = visited, .dropped = dropped};
    gbsi_conditioned *p = NULL;
    k.variable = gbsi_alloc_array(whole->n_variables, sizeof *k.variable);
    GBSI_PASS(GBSI_HAVE(err, "part of a model", k.variable));
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        k.variable[v] = keep[v] != 0 ? k.sizes.n_variables++ : GBSI_NONE;
        k.sizes.n_states += keep[v] != 0 ? whole->arity[v] : 0;
    }
    GBSI_TRY(make_factors(whole, &k, gbsi_conditioned_reserve, &p, err));
    gbsi_conditioned_take_variables(whole, k.variable, p);
    if (whole->cpt != NULL) {
        GBSI_TRY(reserve_network(p->n_variables, p, err));
        copy_network(whole, &k, p);
    }
    gbsi_condition_check(p);
    *part = p;
    p = NULL;

cleanup:
    free_kept(&k);
    gbsi_conditioned_free(p);
    return status;
}

gbs_status gbsi_conditioned_part(const gbsi_conditioned *whole, const uint8_t *keep,
                                 gbsi_conditioned **part, gbs_error *err)
{
    return make_part(whole, keep, NULL, NULL, part, err);
}

gbs_status gbsi_pruned_part(const gbsi_conditioned *whole, const gbsi_pruning *pruning,
                            gbsi_conditioned **part, gbs_error *err)
{
    uint8_t *keep = gbsi_alloc_array(whole->n_variables, 1);
    GBSI_PASS(GBSI_HAVE(err, "part of a model", keep));
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        keep[v] = pruning->pruned[v] == 0;
    }
    const gbs_status status = make_part(whole, keep, NULL, pruning->dropped, part, err);
    if (status >= 0) {
        (*part)->log_constant += pruning->log_sum;
    }
    gbsi_free(keep);
    return status;
}

gbs_status gbsi_conditioned_around(const gbsi_conditioned *whole, const uint8_t *visited,
                                   gbsi_conditioned **part, gbs_error *err)
{
    const gbsi_factors *f = &whole->factors;
    uint8_t *keep = gbsi_alloc_array(whole->n_variables, 1);
    GBSI_PASS(GBSI_HAVE(err, "part of a model", keep));
    memcpy(keep, visited, whole->n_variables);
    for (size_t i = 0; i < f->n_factors; ++i) {
        for (size_t s = f->scope_start[i]; holds_any(f, i, visited) && s < f->scope_start[i + 1];
             ++s) {
            keep[f->scope[s]] = 1;
        }
    }
    const gbs_status status = make_part(whole, keep, visited, NULL, part, err);
    gbsi_free(keep);
    return status;
}

gbs_status gbsi_conditioned_pick(const gbsi_conditioned *whole, gbsi_series_list variables,
                                 gbsi_series_list factors, gbsi_conditioned **part, gbs_error *err)
{
    gbs_status status = GBS_OK;
    kept k = {.factors = factors};
    gbsi_conditioned *p = NULL;
    /* only elements of k.variable that were written are read */
    k.variable = gbsi_alloc_array(whole->n_variables, sizeof *k.variable);
    GBSI_PASS(GBSI_HAVE(err, "part of a model", k.variable));
    for (size_t j = 0; j < variables.n; ++j) {
        const uint64_t end = variables.at[j].first + variables.at[j].n;
        for (uint64_t v = variables.at[j].first; v < end; ++v) {
            k.variable[v] = k.sizes.n_variables++;
            k.sizes.n_states += whole->arity[v];
        }
    }
    GBSI_TRY(make_factors(whole, &k, reserve_part, &p, err));
    p->log_constant = whole->log_constant;
    p->state_offset[0] = 0;
    for (size_t j = 0; j < variables.n; ++j) {
        const uint64_t end = variables.at[j].first + variables.at[j].n;
        for (uint64_t v = variables.at[j].first; v < end; ++v) {
            take_variable(whole, (uint32_t)v, p);
        }
    }
    gbsi_condition_check(p);
    *part = p;
    p = NULL;

cleanup:
    free_kept(&k);
    gbsi_conditioned_free(p);
    return status;
}

gbs_status gbsi_conditioned_new_alone(const gbsi_part_sizes *sizes, gbsi_conditioned **part,
                                      gbs_error *err)
{
    gbsi_conditioned *p = gbsi_alloc_zero(sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "part of a model", p));
    const gbs_status status = reserve_part(NULL, sizes, p, err);
    if (status < 0) {
        gbsi_conditioned_free(p);
        return status;
    }
    p->state_offset[0] = p->factors.scope_start[0] = p->factors.table_start[0] = 0;
    *part = p;
    return GBS_OK;
}
