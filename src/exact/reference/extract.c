/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a model of one component, with some of its variables left out. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "reference/exact_components.h"

typedef struct extraction {
    const gbsi_conditioned *whole;
    const uint8_t *left_out; /* NULL: no variable is left out */
    uint32_t *local; /* [whole variables] number of each variable in the new model; undefined for
                        variables that are left out */
    const uint32_t *variable;
    uint32_t n_variables; /* number of variables of the component */
    const size_t *factor;
    size_t n_factors; /* number of factors of the component */
    gbsi_conditioned *part;
    size_t n_entries; /* number of table entries of the new model */
} extraction;

static bool is_kept(const extraction *x, uint32_t v)
{
    return x->left_out == NULL || x->left_out[v] == 0;
}

/* Returns the number of variables in the scope of factor f that are kept. @param all out: whether
 * all variables of the scope are kept. */
static size_t count_kept(const extraction *x, size_t f, bool *all)
{
    const gbsi_factors *from = &x->whole->factors;
    size_t n = 0;
    for (size_t q = from->scope_start[f]; q < from->scope_start[f + 1]; ++q) {
        n += is_kept(x, from->scope[q]);
    }
    *all = n == from->scope_start[f + 1] - from->scope_start[f];
    return n;
}

/* Returns the number of table entries that factor f takes in the new model. @param all whether the
 * whole scope is kept; if not, a noisy factor becomes a table. */
static size_t count_entries(const extraction *x, size_t f, bool all)
{
    const gbsi_factors *from = &x->whole->factors;
    size_t n = 1;
    if (all && gbsi_is_noisy(from->kind[f])) {
        return from->table_start[from->aux[f] + (size_t)1] - from->table_start[from->aux[f]];
    }
    for (size_t q = from->scope_start[f]; q < from->scope_start[f + 1]; ++q) {
        n *= is_kept(x, from->scope[q]) ? x->whole->arity[from->scope[q]] : 1;
    }
    return n;
}

/* Numbers the variables of the new model, counts its factors and table entries, and allocates its
 * arrays. */
static gbs_status take(extraction *x, gbs_error *err)
{
    const gbsi_factors *from = &x->whole->factors;
    gbsi_conditioned *part = x->part;
    gbsi_factors *to = &part->factors;
    const bool literals = from->literal != NULL;
    size_t n_states = 0;
    size_t n_ends = 0;
    for (uint32_t i = 0; i < x->n_variables; ++i) {
        if (is_kept(x, x->variable[i])) {
            x->local[x->variable[i]] = part->n_variables++;
            n_states += x->whole->arity[x->variable[i]];
        }
    }
    for (size_t i = 0; i < x->n_factors; ++i) {
        const size_t f = x->factor[i];
        bool all = false;
        const size_t n = count_kept(x, f, &all);
        n_ends += n;
        to->n_factors += n > 0;
        if (n > 0 && (!all || gbsi_has_table(from->kind[f]))) {
            ++to->n_tables;
            x->n_entries += count_entries(x, f, all);
        } else if (n > 0 && from->kind[f] == GBS_FACTOR_LOGICAL) {
            ++to->n_logical;
        }
    }
    const size_t nv = part->n_variables;
    const size_t nf = to->n_factors;
    part->arity = gbsi_alloc_array(nv, sizeof *part->arity);
    part->state_offset = gbsi_alloc_array_zero(nv + 1, sizeof *part->state_offset);
    part->user_variable = gbsi_alloc_array(nv, sizeof *part->user_variable);
    part->user_state = gbsi_alloc_array(n_states, sizeof *part->user_state);
    part->origin = gbsi_alloc_array(nf, sizeof *part->origin);
    part->has_zeros = gbsi_alloc_array(nf, 1);
    to->kind = gbsi_alloc_array(nf, 1);
    to->scope_start = gbsi_alloc_array_zero(nf + 1, sizeof *to->scope_start);
    to->scope = gbsi_alloc_array(n_ends, sizeof *to->scope);
    to->literal = literals ? gbsi_alloc_array(n_ends, sizeof *to->literal) : NULL;
    to->weight = gbsi_alloc_array(nf, sizeof *to->weight);
    to->aux = gbsi_alloc_array(nf, sizeof *to->aux);
    to->table_start = gbsi_alloc_array_zero(to->n_tables + 1, sizeof *to->table_start);
    to->table = gbsi_alloc_array_zero(x->n_entries, sizeof *to->table);
    to->logical = gbsi_alloc_array(to->n_logical, sizeof *to->logical);
    return part->arity == NULL || part->state_offset == NULL || part->user_variable == NULL ||
                   part->user_state == NULL || part->origin == NULL || part->has_zeros == NULL ||
                   to->kind == NULL || to->scope_start == NULL || to->scope == NULL ||
                   (literals && to->literal == NULL) || to->weight == NULL || to->aux == NULL ||
                   to->table_start == NULL || to->table == NULL || to->logical == NULL
               ? gbsi_no_memory(err, "component", n_ends * 16 + nf * 32 + x->n_entries * 8)
               : GBS_OK;
}

static void copy_variables(const extraction *x)
{
    const gbsi_conditioned *whole = x->whole;
    gbsi_conditioned *part = x->part;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_variables; ++i) {
        const uint32_t v = x->variable[i];
        if (is_kept(x, v)) {
            part->arity[n] = whole->arity[v];
            part->user_variable[n] = whole->user_variable[v];
            part->state_offset[n + (size_t)1] = part->state_offset[n] + whole->arity[v];
            memcpy(part->user_state + part->state_offset[n], gbsi_conditioned_states(whole, v),
                   whole->arity[v] * sizeof *part->user_state);
            ++n;
        }
    }
}

/* Appends factor f. Each factor gets a copy of its table, even if several factors share the table.
 * The copies take little memory, because only small components are extracted. */
static void copy_factor(const extraction *x, size_t f, size_t i, size_t *n_tables,
                        size_t *n_logical)
{
    const gbsi_factors *from = &x->whole->factors;
    gbsi_factors *to = &x->part->factors;
    const uint32_t aux = from->aux[f];
    bool all = false;
    size_t end = to->scope_start[i];
    (void)count_kept(x, f, &all);
    for (size_t q = from->scope_start[f]; q < from->scope_start[f + 1]; ++q) {
        if (is_kept(x, from->scope[q])) {
            to->scope[end] = x->local[from->scope[q]];
            if (from->literal != NULL) {
                to->literal[end] = from->literal[q];
            }
            ++end;
        }
    }
    to->scope_start[i + 1] = end;
    to->kind[i] = all ? from->kind[f] : GBS_FACTOR_TABLE;
    to->weight[i] = all ? from->weight[f] : 0.0;
    to->aux[i] = 0;
    x->part->origin[i] = gbsi_conditioned_origin(x->whole, f);
    x->part->has_zeros[i] = x->whole->has_zeros[f];
    if (gbsi_has_table(to->kind[i])) {
        const size_t start = to->table_start[*n_tables];
        const size_t n = count_entries(x, f, all);
        if (all) {
            memcpy(to->table + start, from->table + from->table_start[aux], n * sizeof(double));
        }
        to->aux[i] = (uint32_t)(*n_tables)++;
        to->table_start[*n_tables] = start + n;
    } else if (from->kind[f] == GBS_FACTOR_LOGICAL) {
        to->logical[*n_logical] = from->logical[aux];
        to->aux[i] = (uint32_t)(*n_logical)++;
    }
}

gbs_status gbsi_components_extract(const gbsi_components *c, uint32_t component,
                                   const uint8_t *left_out, uint32_t *local, gbsi_conditioned **out,
                                   gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t first = c->variable_start[component];
    const size_t first_factor = c->factor_start[component];
    extraction x = {.whole = c->model,
                    .left_out = left_out,
                    .local = local,
                    .variable = c->variable + first,
                    .n_variables = (uint32_t)(c->variable_start[component + 1] - first),
                    .factor = c->factor + first_factor,
                    .n_factors = c->factor_start[component + 1] - first_factor,
                    .part = gbsi_alloc_zero(sizeof *x.part)};
    size_t n = 0;
    size_t n_tables = 0;
    size_t n_logical = 0;
    if (x.part == NULL) {
        return gbsi_no_memory(err, "component", sizeof *x.part);
    }
    x.part->model = x.whole->model;
    GBSI_TRY(take(&x, err));
    copy_variables(&x);
    for (size_t i = 0; i < x.n_factors; ++i) {
        bool all = false;
        if (count_kept(&x, x.factor[i], &all) > 0) {
            copy_factor(&x, x.factor[i], n++, &n_tables, &n_logical);
        }
    }
    assert(n == x.part->factors.n_factors && n_tables == x.part->factors.n_tables);
    assert(x.part->factors.table_start[n_tables] == x.n_entries);
    *out = x.part;
    x.part = NULL;

cleanup:
    gbsi_conditioned_free(x.part);
    return status;
}
