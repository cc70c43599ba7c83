/* SPDX-License-Identifier: Apache-2.0 */
/* A conditioned model once made: its density, its size, and the part of it over some components. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/condition.h"

void gbsi_conditioned_free(gbsi_conditioned *conditioned)
{
    if (conditioned == NULL) {
        return;
    }
    if (!conditioned->borrows) {
        gbsi_free(conditioned->arity);
        gbsi_free(conditioned->state_offset);
        gbsi_factors_free(&conditioned->factors);
        gbsi_free(conditioned->free_variable);
        gbsi_free(conditioned->cpt);
        gbsi_free(conditioned->topological);
    }
    gbsi_free(conditioned->origin);
    gbsi_free(conditioned->has_zeros);
    gbsi_free(conditioned->user_variable);
    gbsi_free(conditioned->user_state);
    gbsi_free(conditioned->fixed_state);
    gbsi_free(conditioned);
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
    const gbsi_factors *f = &c->factors;
    const size_t n = c->n_variables;
    const size_t n_scope = f->scope_start[f->n_factors];
    if (c->borrows) { /* has_zeros stays untouched, and so takes nothing */
        return sizeof *c + n * (sizeof *c->user_variable + sizeof *c->fixed_state) +
               c->state_offset[n] * sizeof *c->user_state;
    }
    size_t bytes = sizeof *c + n * (sizeof *c->arity + sizeof *c->user_variable);
    bytes += (n + 1) * sizeof *c->state_offset + c->state_offset[n] * sizeof *c->user_state;
    bytes += c->model->n_variables * (sizeof *c->free_variable + sizeof *c->fixed_state);
    bytes += c->cpt == NULL ? 0 : n * (sizeof *c->cpt + sizeof *c->topological);
    bytes += f->n_factors * (sizeof *f->kind + sizeof *f->weight + sizeof *f->aux +
                             sizeof *c->origin + sizeof *c->has_zeros);
    bytes += (f->n_factors + 1) * sizeof *f->scope_start + n_scope * sizeof *f->scope;
    bytes += f->literal == NULL ? 0 : n_scope * sizeof *f->literal;
    bytes += (f->n_tables + 1) * sizeof *f->table_start;
    bytes += f->table_start[f->n_tables] * sizeof *f->table;
    bytes += f->n_logical * sizeof *f->logical;
    return bytes;
}

/* ---- the part over some components --------------------------------------------------------- */

/* How much of the whole stays, and the new numbers of its variables, factors and tables. */
typedef struct kept {
    gbsi_part_sizes sizes;
    const uint8_t *visited; /* [n_variables] of the whole: a factor stays with any of these; NULL:
                               with all its variables or none */
    uint32_t *variable;     /* [n_variables] of the whole, GBSI_NONE where left out */
    uint32_t *table;        /* [n_tables] of the whole */
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
    if (k->visited != NULL) {
        return holds_any(&whole->factors, f, k->visited);
    }
    return k->variable[whole->factors.scope[whole->factors.scope_start[f]]] != GBSI_NONE;
}

static gbs_status count_kept(const gbsi_conditioned *whole, const uint8_t *keep, kept *k,
                             gbs_error *err)
{
    const gbsi_factors *f = &whole->factors;
    gbsi_part_sizes *z = &k->sizes;
    k->variable = gbsi_alloc_array(whole->n_variables, sizeof *k->variable);
    k->table = gbsi_alloc_array(f->n_tables, sizeof *k->table);
    if (k->variable == NULL || k->table == NULL) {
        return gbsi_no_memory(err, "part of a model", whole->n_variables * sizeof *k->variable);
    }
    memset(k->table, 0xff, f->n_tables * sizeof *k->table);
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        k->variable[v] = keep[v] != 0 ? z->n_variables++ : GBSI_NONE;
        z->n_states += keep[v] != 0 ? whole->arity[v] : 0;
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (!keeps(k, whole, i)) {
            continue;
        }
        ++z->n_factors;
        z->n_scope += f->scope_start[i + 1] - f->scope_start[i];
        z->logical |= f->kind[i] == GBS_FACTOR_LOGICAL;
        if (gbsi_has_table(f->kind[i]) && k->table[f->aux[i]] == GBSI_NONE) {
            k->table[f->aux[i]] = (uint32_t)z->n_tables++;
            z->n_entries += f->table_start[f->aux[i] + (size_t)1] - f->table_start[f->aux[i]];
        }
    }
    return GBS_OK;
}

gbs_status gbsi_conditioned_reserve(const gbsi_conditioned *whole, const gbsi_part_sizes *sizes,
                                    gbsi_conditioned *part, gbs_error *err)
{
    gbsi_factors *f = &part->factors;
    const size_t n = sizes->n_variables;
    part->arity = gbsi_alloc_array(n, sizeof *part->arity);
    part->state_offset = gbsi_alloc_array(n + 1, sizeof *part->state_offset);
    part->user_variable = gbsi_alloc_array(n, sizeof *part->user_variable);
    part->user_state = gbsi_alloc_array(sizes->n_states, sizeof *part->user_state);
    part->free_variable = gbsi_alloc_array(whole->model->n_variables, sizeof *part->free_variable);
    part->fixed_state = gbsi_alloc_array(whole->model->n_variables, sizeof *part->fixed_state);
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
                  part->user_variable == NULL || part->user_state == NULL ||
                  part->free_variable == NULL || part->fixed_state == NULL ||
                  part->origin == NULL || part->has_zeros == NULL || f->kind == NULL ||
                  f->scope_start == NULL || f->scope == NULL || f->weight == NULL ||
                  f->aux == NULL || f->table_start == NULL || f->table == NULL;
    if (sizes->logical) {
        f->literal = gbsi_alloc_array_zero(sizes->n_scope, sizeof *f->literal);
        f->logical = gbsi_alloc_array(whole->factors.n_logical, sizeof *f->logical);
        failed |= f->literal == NULL || f->logical == NULL;
    }
    return failed ? gbsi_no_memory(err, "part of a model", sizes->n_scope * sizeof *f->scope)
                  : GBS_OK;
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
        const uint32_t u = number[v];
        if (u == GBSI_NONE) {
            continue;
        }
        part->arity[u] = whole->arity[v];
        part->state_offset[u + (size_t)1] = part->state_offset[u] + whole->arity[v];
        memcpy(&part->user_state[part->state_offset[u]], &whole->user_state[whole->state_offset[v]],
               whole->arity[v] * sizeof *part->user_state);
        part->user_variable[u] = whole->user_variable[v];
        part->free_variable[whole->user_variable[v]] = u;
        ++part->n_variables;
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
    return p->cpt == NULL || p->topological == NULL
               ? gbsi_no_memory(err, "part of a model", n * sizeof *p->cpt)
               : GBS_OK;
}

static void copy_tables(const gbsi_factors *from, const kept *k, gbsi_factors *to)
{
    to->n_tables = k->sizes.n_tables;
    to->table_start[0] = 0;
    for (size_t t = 0; t < from->n_tables; ++t) { /* sizes first: numbers are by first use */
        if (k->table[t] != GBSI_NONE) {
            to->table_start[k->table[t] + (size_t)1] =
                from->table_start[t + 1] - from->table_start[t];
        }
    }
    for (size_t t = 0; t < to->n_tables; ++t) {
        to->table_start[t + 1] += to->table_start[t];
    }
    for (size_t t = 0; t < from->n_tables; ++t) {
        if (k->table[t] != GBSI_NONE) {
            memcpy(&to->table[to->table_start[k->table[t]]], &from->table[from->table_start[t]],
                   (from->table_start[t + 1] - from->table_start[t]) * sizeof *to->table);
        }
    }
}

static void copy_factors(const gbsi_conditioned *whole, const kept *k, gbsi_conditioned *p)
{
    const gbsi_factors *from = &whole->factors;
    gbsi_factors *to = &p->factors;
    to->scope_start[0] = 0;
    for (size_t i = 0; i < from->n_factors; ++i) {
        if (!keeps(k, whole, i)) {
            continue;
        }
        const size_t f = to->n_factors++;
        size_t used = to->scope_start[f];
        for (size_t s = from->scope_start[i]; s < from->scope_start[i + 1]; ++s) {
            assert(k->variable[from->scope[s]] != GBSI_NONE); /* of a factor all are kept */
            if (to->literal != NULL) {
                to->literal[used] = from->literal[s];
            }
            to->scope[used++] = k->variable[from->scope[s]];
        }
        to->scope_start[f + 1] = used;
        to->kind[f] = from->kind[i];
        to->weight[f] = from->weight[i];
        to->aux[f] = gbsi_has_table(from->kind[i]) ? k->table[from->aux[i]] : from->aux[i];
        p->origin[f] = gbsi_conditioned_origin(whole, i);
        p->has_zeros[f] = whole->has_zeros[i];
    }
    if (k->sizes.logical) {
        gbsi_conditioned_take_logical(whole, p);
    }
}

/* A conditional table's child is the last variable of its scope. */
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

static gbs_status make_part(const gbsi_conditioned *whole, const uint8_t *keep,
                            const uint8_t *visited, gbsi_conditioned **part, gbs_error *err)
{
    gbs_status status = GBS_OK;
    kept k = {.visited = visited};
    gbsi_conditioned *p = gbsi_alloc_zero(sizeof *p);
    if (p == NULL) {
        return gbsi_no_memory(err, "part of a model", sizeof *p);
    }
    p->model = whole->model;
    GBSI_TRY(count_kept(whole, keep, &k, err));
    GBSI_TRY(gbsi_conditioned_reserve(whole, &k.sizes, p, err));
    gbsi_conditioned_take_variables(whole, k.variable, p);
    copy_tables(&whole->factors, &k, &p->factors);
    copy_factors(whole, &k, p);
    if (whole->cpt != NULL) {
        GBSI_TRY(reserve_network(p->n_variables, p, err));
        copy_network(whole, &k, p);
    }
    *part = p;
    p = NULL;

cleanup:
    gbsi_free(k.variable);
    gbsi_free(k.table);
    gbsi_conditioned_free(p);
    return status;
}

gbs_status gbsi_conditioned_part(const gbsi_conditioned *whole, const uint8_t *keep,
                                 gbsi_conditioned **part, gbs_error *err)
{
    return make_part(whole, keep, NULL, part, err);
}

gbs_status gbsi_conditioned_around(const gbsi_conditioned *whole, const uint8_t *visited,
                                   gbsi_conditioned **part, gbs_error *err)
{
    const gbsi_factors *f = &whole->factors;
    uint8_t *keep = gbsi_alloc_array(whole->n_variables, 1);
    if (keep == NULL) {
        return gbsi_no_memory(err, "part of a model", whole->n_variables);
    }
    memcpy(keep, visited, whole->n_variables);
    for (size_t i = 0; i < f->n_factors; ++i) {
        for (size_t s = f->scope_start[i]; holds_any(f, i, visited) && s < f->scope_start[i + 1];
             ++s) {
            keep[f->scope[s]] = 1;
        }
    }
    const gbs_status status = make_part(whole, keep, visited, part, err);
    gbsi_free(keep);
    return status;
}
