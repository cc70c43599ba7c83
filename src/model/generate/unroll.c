/* SPDX-License-Identifier: Apache-2.0 */
/* Networks in time. A network of two slices holds P(Z_0) as the tables of the variables X, and
 * P(Z_t | Z_t-1) as the tables of X'. Unrolled over T slices it is
 *
 *     P(Z_0, ..., Z_T-1) = prod over i of P(Z_0^i | Pa(Z_0^i))
 *                          prod over t = 1 .. T-1 and i of P(Z_t^i | Pa(Z_t^i))          [M57]
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/machine.h"
#include "base/memory.h"
#include "store/builder.h"

/* Bytes of the parts of a built network. A variable needs its arity, the offsets of its states and
 * of its name, its place in by_name, the number of its factor and its place in the topological
 * order. A factor needs its kind, its weight, the number of its table and the offset of its scope.
 */
#define VARIABLE_BYTES 32.0
#define FACTOR_BYTES   21.0
#define NUMBER_BYTES   13 /* bytes of "[4294967295]" and a final 0 */

typedef struct unroller {
    const gbs_model *model;
    uint32_t *next; /* [n_variables] the variable X' if the variable is an X, otherwise GBSI_NONE */
    /* [n_variables] the variable X if the variable is an X', otherwise GBSI_NONE */
    uint32_t *previous;
    uint32_t *place; /* [n_variables] number of the pair (X, X') that has the variable, or number of
                        the variable among the variables outside of time */
    uint32_t *pair;  /* [n_pairs] the variable X of each pair, ascending */
    uint32_t n_pairs, n_outside;
    gbs_builder *builder;
    uint32_t *table; /* [n_tables] number of the table in the builder; GBSI_NONE if it is not in the
                        builder yet */
    uint32_t *scope; /* [n_variables] scratch */
    uint32_t *arity; /* [n_pairs] number of states of each pair */
    const char **label; /* [GBS_MAX_ARITY] scratch */
    char *name;         /* scratch for the longest name followed by a number in brackets */
} unroller;

static void free_unroller(unroller *u)
{
    gbs_builder_free(u->builder);
    GBSI_FREE(u->next, u->previous, u->place, u->pair, u->table, u->scope, u->arity, u->label,
              u->name);
}

static gbs_status init_unroller(unroller *u, gbs_error *err)
{
    const gbs_model *m = u->model;
    const size_t n = m->n_variables;
    size_t longest = 0;
    for (uint32_t v = 0; m->name != NULL && v < n; ++v) {
        const char *name = gbs_model_variable_name(m, v);
        const size_t length = name == NULL ? 0 : strlen(name);
        longest = length > longest ? length : longest;
    }
    u->next = gbsi_alloc_array(n, sizeof *u->next);
    u->previous = gbsi_alloc_array(n, sizeof *u->previous);
    u->place = gbsi_alloc_array(n, sizeof *u->place);
    u->pair = gbsi_alloc_array(n, sizeof *u->pair);
    u->table = gbsi_alloc_array(m->factors.n_tables, sizeof *u->table);
    u->scope = gbsi_alloc_array(n, sizeof *u->scope);
    u->arity = gbsi_alloc_array(n, sizeof *u->arity);
    u->label = gbsi_alloc_array(GBS_MAX_ARITY, sizeof *u->label);
    u->name = gbsi_alloc_array(longest + NUMBER_BYTES, 1);
    GBSI_PASS(GBSI_HAVE(err, "unrolling a network", u->next, u->previous, u->place, u->pair,
                        u->table, u->scope, u->arity, u->label, u->name));
    memset(u->next, 0xff, n * sizeof *u->next); /* sets all elements to GBSI_NONE */
    memset(u->previous, 0xff, n * sizeof *u->previous);
    memset(u->table, 0xff, m->factors.n_tables * sizeof *u->table);
    return gbs_builder_new(&u->builder, err);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static gbs_status check_pair(const gbs_model *m, uint32_t x, uint32_t next, gbs_error *err)
{
    const char *name = gbs_model_variable_name(m, x);
    if (m->arity[x] != m->arity[next]) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%.100s has %u states, but %.100s' has %u", name,
                         (unsigned)m->arity[x], name, (unsigned)m->arity[next]);
    }
    for (uint32_t a = 0; a < m->arity[x]; ++a) {
        const char *label = gbs_model_state_label(m, x, a);
        const char *other = gbs_model_state_label(m, next, a);
        if ((label == NULL) != (other == NULL) || (label != NULL && strcmp(label, other) != 0)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "state %u is '%.100s' in %.100s, but '%.100s' in %.100s'", (unsigned)a,
                             label == NULL ? "" : label, name, other == NULL ? "" : other, name);
        }
    }
    return GBS_OK;
}

static gbs_status find_pairs(unroller *u, gbs_error *err)
{
    const gbs_model *m = u->model;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        const char *name = gbs_model_variable_name(m, v);
        const size_t n = name == NULL ? 0 : strlen(name);
        uint32_t x = 0;
        if (n < 2 || name[n - 1] != '\'') {
            continue;
        }
        (void)snprintf(u->name, n + 1, "=%s",
                       name); /* "=X" finds the name X even if it looks like an index */
        GBSI_PASS(gbs_model_find_variable(m, u->name, &x, err));
        GBSI_PASS(check_pair(m, x, v, err));
        u->next[x] = v;
        u->previous[v] = x;
    }
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        if (u->next[v] != GBSI_NONE && u->previous[v] != GBSI_NONE) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "%.100s' and %.100s are both later slices, expected two slices",
                             gbs_model_variable_name(m, v), gbs_model_variable_name(m, v));
        }
        if (u->next[v] != GBSI_NONE) {
            u->arity[u->n_pairs] = m->arity[v];
            u->place[v] = u->place[u->next[v]] = u->n_pairs;
            u->pair[u->n_pairs++] = v;
        } else if (u->previous[v] == GBSI_NONE) {
            u->place[v] = u->n_outside++;
        }
    }
    if (u->n_pairs == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found no network of two slices, expected pairs of variables named X "
                         "and X', the next slice of X");
    }
    return GBS_OK;
}

/* Checks that variables X of the first slice, and variables outside of time, have no variable X' as
 * a parent. */
static gbs_status check_parents(const unroller *u, uint32_t child, gbs_error *err)
{
    const gbs_model *m = u->model;
    const gbsi_factors *f = &m->factors;
    const size_t factor = m->cpt[child];
    const bool in_time = u->next[child] != GBSI_NONE;
    char texts[2][128];
    for (size_t i = f->scope_start[factor]; i < f->scope_start[factor + 1]; ++i) {
        const uint32_t v = f->scope[i];
        const bool outside = u->next[v] == GBSI_NONE && u->previous[v] == GBSI_NONE;
        if (u->previous[child] == GBSI_NONE && v != child &&
            (in_time ? u->previous[v] != GBSI_NONE : !outside)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s, a parent of %s, is %s",
                             gbsi_variable_text(m, v, texts[0], sizeof texts[0]),
                             gbsi_variable_text(m, child, texts[1], sizeof texts[1]),
                             in_time ? "of a later slice, expected parents of the first"
                                     : "in time, expected none: no variable is its next slice");
        }
    }
    return GBS_OK;
}

/* ---- size ------------------------------------------------------------------------------------ */

static double text_bytes(const gbs_model *m, uint32_t v)
{
    double bytes = (double)strlen(gbs_model_variable_name(m, v)) + NUMBER_BYTES;
    for (uint32_t a = 0; m->label != NULL && a < m->arity[v]; ++a) {
        const char *label = gbs_model_state_label(m, v, a);
        bytes += sizeof *m->label + (label == NULL ? 0.0 : (double)strlen(label) + 1.0);
    }
    return bytes;
}

static gbs_status check_size(const unroller *u, uint32_t n_slices, gbs_error *err)
{
    const gbs_model *m = u->model;
    const uint64_t n = u->n_outside + (uint64_t)u->n_pairs * n_slices;
    const double limit = (double)gbsi_default_memory_limit();
    double slice = 0.0; /* bytes of one slice */
    if (n > GBS_MAX_VARIABLES) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%u slices have %" PRIu64 " variables, more than the %u possible",
                         (unsigned)n_slices, n, GBS_MAX_VARIABLES);
    }
    for (uint32_t i = 0; i < u->n_pairs; ++i) {
        const size_t *start = m->factors.scope_start + m->cpt[u->next[u->pair[i]]];
        slice += VARIABLE_BYTES + FACTOR_BYTES + (double)(start[1] - start[0]) * sizeof(uint32_t) +
                 text_bytes(m, u->pair[i]);
    }
    if (slice * n_slices > limit) {
        char needed[16];
        char allowed[16];
        gbsi_bytes_text(slice * n_slices, needed);
        gbsi_bytes_text(limit, allowed);
        return gbsi_fail(err, GBS_ERR_LIMIT, "%u slices take %s, the memory limit is %s",
                         (unsigned)n_slices, needed, allowed);
    }
    return GBS_OK;
}

/* ---- slices ---------------------------------------------------------------------------------- */

static gbs_status copy_labels(unroller *u, uint32_t from, uint32_t to, gbs_error *err)
{
    const gbs_model *m = u->model;
    if (gbs_model_state_label(m, from, 0) == NULL) {
        return GBS_OK;
    }
    for (uint32_t a = 0; a < m->arity[from]; ++a) {
        u->label[a] = gbs_model_state_label(m, from, a);
    }
    return gbs_builder_label_states(u->builder, to, u->label, err);
}

/* Copies the table or noisy factor whose child is a variable of the model. The scope of the copy
 * has variables of slice t, of slice t - 1 and outside of time. */
static gbs_status copy_table(unroller *u, uint32_t child, uint32_t t, gbs_error *err)
{
    const gbsi_factors *f = &u->model->factors;
    const size_t factor = u->model->cpt[child];
    const size_t first = f->scope_start[factor];
    const uint32_t n = (uint32_t)(f->scope_start[factor + 1] - first);
    uint32_t *table = &u->table[f->aux[factor]];
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t v = f->scope[first + i];
        const uint32_t slice = u->previous[v] != GBSI_NONE || t == 0 ? t : t - 1;
        const bool outside = u->next[v] == GBSI_NONE && u->previous[v] == GBSI_NONE;
        u->scope[i] = u->place[v] + (outside ? 0 : u->n_outside + slice * u->n_pairs);
    }
    if (*table == GBSI_NONE) {
        const size_t *start = &f->table_start[f->aux[factor]];
        GBSI_PASS(gbs_builder_add_table(u->builder, start[1] - start[0], &f->table[start[0]], table,
                                        err));
    }
    return gbsi_builder_add_tabled(u->builder, (gbs_factor_kind)f->kind[factor], n, u->scope,
                                   *table, err);
}

static gbs_status add_outside(unroller *u, gbs_error *err)
{
    const gbs_model *m = u->model;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        if (u->next[v] == GBSI_NONE && u->previous[v] == GBSI_NONE) {
            const char *name = gbs_model_variable_name(m, v);
            GBSI_PASS(gbs_builder_add_variables(u->builder, 1, &m->arity[v], NULL, err));
            GBSI_PASS(copy_labels(u, v, u->place[v], err));
            if (name != NULL) {
                GBSI_PASS(gbs_builder_name_variable(u->builder, u->place[v], name, err));
            }
        }
    }
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        if (u->next[v] == GBSI_NONE && u->previous[v] == GBSI_NONE) {
            GBSI_PASS(copy_table(u, v, 0, err));
        }
    }
    return GBS_OK;
}

static gbs_status add_slice(unroller *u, uint32_t t, gbs_error *err)
{
    uint32_t first = 0;
    GBSI_PASS(gbs_builder_add_variables(u->builder, u->n_pairs, u->arity, &first, err));
    for (uint32_t i = 0; i < u->n_pairs; ++i) {
        const uint32_t x = u->pair[i];
        const char *name = gbs_model_variable_name(u->model, x);
        (void)snprintf(u->name, strlen(name) + NUMBER_BYTES, "%s[%" PRIu32 "]", name, t);
        GBSI_PASS(gbs_builder_name_variable(u->builder, first + i, u->name, err));
        GBSI_PASS(copy_labels(u, x, first + i, err));
        GBSI_PASS(copy_table(u, t == 0 ? x : u->next[x], t, err));
    }
    return GBS_OK;
}

static gbs_status unroll(unroller *u, uint32_t n_slices, gbs_model **unrolled, gbs_error *err)
{
    GBSI_PASS(init_unroller(u, err));
    GBSI_PASS(find_pairs(u, err));
    for (uint32_t v = 0; v < u->model->n_variables; ++v) {
        GBSI_PASS(check_parents(u, v, err));
    }
    GBSI_PASS(check_size(u, n_slices, err));
    GBSI_PASS(add_outside(u, err));
    for (uint32_t t = 0; t < n_slices; ++t) {
        GBSI_PASS(add_slice(u, t, err));
    }
    gbs_builder_set_directed(u->builder);
    return gbs_builder_build(u->builder, unrolled, err);
}

gbs_status gbs_unroll(const gbs_model *model, uint32_t n_slices, gbs_model **unrolled,
                      gbs_error *err)
{
    GBSI_NEED(model, unrolled);
    unroller u = {.model = model};
    gbsi_budget budget;
    if (n_slices == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "0 slices, expected 1 or more");
    }
    if (!model->directed) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found a model that is no Bayesian network");
    }
    gbsi_budget *before = gbsi_budget_enter_default(&budget, gbs_model_bytes(model));
    const gbs_status status = unroll(&u, n_slices, unrolled, err);
    free_unroller(&u);
    gbsi_budget_leave(before);
    return status;
}
