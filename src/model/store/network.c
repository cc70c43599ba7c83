/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether factors form a Bayesian network: one table per child, no directed cycle. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/builder.h"

enum { MAX_CYCLE_NAMES = 8 };

/* The children of every variable, in rows, and the number of its parents that are not in the
 * order yet. */
typedef struct family {
    size_t *child_start; /* [n_variables + 1] offsets of the variables' children */
    uint32_t *child;
    uint32_t *n_waiting; /* [n_variables] number of parents that are not in the order yet */
} family;

static void family_free(family *f)
{
    GBSI_FREE(f->child_start, f->child, f->n_waiting);
}

static gbs_status assign_tables(const gbs_model *m, uint32_t *cpt, gbs_error *err)
{
    char name[128];
    if (m->factors.n_factors != m->n_variables) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "a Bayesian network has one factor per variable: %zu factors, %u variables",
            m->factors.n_factors, (unsigned)m->n_variables);
    }
    memset(cpt, 0xff, m->n_variables * sizeof *cpt);
    for (size_t f = 0; f < m->factors.n_factors; ++f) {
        if (!gbsi_has_table(m->factors.kind[f]) ||
            m->factors.scope_start[f] == m->factors.scope_start[f + 1]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu of a Bayesian network is not the table of a variable", f);
        }
        const uint32_t child = m->factors.scope[m->factors.scope_start[f + 1] - 1];
        if (cpt[child] != GBSI_NONE) {
            return gbsi_fail(
                err, GBS_ERR_ARGUMENT, "factors %u and %zu are both the table of variable %s",
                (unsigned)cpt[child], f, gbsi_variable_text(m, child, name, sizeof name));
        }
        cpt[child] = (uint32_t)f;
    }
    return GBS_OK;
}

static uint32_t n_parents(const gbs_model *m, const uint32_t *cpt, uint32_t v)
{
    const size_t f = cpt[v];
    return (uint32_t)(m->factors.scope_start[f + 1] - m->factors.scope_start[f] - 1);
}

static const uint32_t *parents(const gbs_model *m, const uint32_t *cpt, uint32_t v)
{
    return &m->factors.scope[m->factors.scope_start[cpt[v]]];
}

static gbs_status find_children(const gbs_model *m, const uint32_t *cpt, family *out,
                                gbs_error *err)
{
    const size_t n = m->n_variables;
    out->child_start = gbsi_alloc_array_zero(n + 2, sizeof *out->child_start);
    out->child = gbsi_alloc_array(m->factors.scope_start[m->factors.n_factors], sizeof *out->child);
    out->n_waiting = gbsi_alloc_array(n, sizeof *out->n_waiting);
    GBSI_PASS(GBSI_HAVE(err, "model", out->child_start, out->child, out->n_waiting));
    /* the count of row v is stored at start[v + 2]; filling the rows then moves each start to its
     * final place */
    size_t *fill = out->child_start + 1;
    for (uint32_t v = 0; v < n; ++v) {
        out->n_waiting[v] = n_parents(m, cpt, v);
        for (uint32_t i = 0; i < out->n_waiting[v]; ++i) {
            ++fill[parents(m, cpt, v)[i] + 1];
        }
    }
    for (size_t v = 0; v < n; ++v) {
        fill[v + 1] += fill[v];
    }
    for (uint32_t v = 0; v < n; ++v) {
        for (uint32_t i = 0; i < out->n_waiting[v]; ++i) {
            out->child[fill[parents(m, cpt, v)[i]]++] = v;
        }
    }
    return GBS_OK;
}

/* Reports a cycle. The cycle is found by a walk from an unplaced variable to unplaced parents,
 * until the walk reaches a variable twice. */
static gbs_status refuse_cycle(const gbs_model *m, const uint32_t *cpt, family *f, gbs_error *err)
{
    uint32_t v = 0;
    while (f->n_waiting[v] == 0) {
        ++v;
    }
    uint32_t *step =
        /* the array `child` is used again: its content is no longer needed, and it has room for
           every unplaced variable */
        f->child;
    uint32_t n_steps = 0;
    uint32_t *met = gbsi_alloc_array_zero(m->n_variables, sizeof *met);
    GBSI_PASS(GBSI_HAVE(err, "model", met));
    while (met[v] == 0) {
        met[v] = 1;
        step[n_steps++] = v;
        const uint32_t *parent = parents(m, cpt, v);
        while (f->n_waiting[*parent] == 0) {
            ++parent;
        }
        v = *parent;
    }
    char text[700];
    char name[72];
    size_t used = 0;
    uint32_t shown = 0;
    uint32_t at = n_steps;
    used +=
        (size_t)snprintf(text, sizeof text, "%.64s", gbsi_variable_text(m, v, name, sizeof name));
    do {
        --at;
        if (shown++ == MAX_CYCLE_NAMES) {
            while (step[at] != v) {
                --at;
            }
            used += (size_t)snprintf(text + used, sizeof text - used, " -> ...");
        }
        used += (size_t)snprintf(text + used, sizeof text - used, " -> %.64s",
                                 gbsi_variable_text(m, step[at], name, sizeof name));
    } while (step[at] != v);
    gbsi_free(met);
    assert(used < sizeof text);
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "directed cycle %s", text);
}

/* Orders the variables by Kahn's algorithm (1962): first places the variables without parents in
 * their order, then each variable as soon as its last parent is placed. */
static gbs_status order_parents_first(const gbs_model *m, const uint32_t *cpt, family *f,
                                      uint32_t *order, gbs_error *err)
{
    uint32_t n_placed = 0;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        if (f->n_waiting[v] == 0) {
            order[n_placed++] = v;
        }
    }
    for (uint32_t i = 0; i < n_placed; ++i) {
        const uint32_t v = order[i];
        for (size_t c = f->child_start[v]; c < f->child_start[v + 1]; ++c) {
            if (--f->n_waiting[f->child[c]] == 0) {
                order[n_placed++] = f->child[c];
            }
        }
    }
    return n_placed == m->n_variables ? GBS_OK : refuse_cycle(m, cpt, f, err);
}

gbs_status gbsi_model_index_network(gbs_model *model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    family f = {0};
    uint32_t *cpt = gbsi_alloc_array(model->n_variables, sizeof *cpt);
    uint32_t *order = gbsi_alloc_array(model->n_variables, sizeof *order);
    GBSI_TRY(GBSI_HAVE(err, "model", cpt, order));
    GBSI_TRY(assign_tables(model, cpt, err));
    GBSI_TRY(find_children(model, cpt, &f, err));
    GBSI_TRY(order_parents_first(model, cpt, &f, order, err));
    model->cpt = cpt;
    model->topological = order;
    cpt = NULL;
    order = NULL;

cleanup:
    family_free(&f);
    GBSI_FREE(cpt, order);
    return status;
}
