/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: models, the elimination orders of these models, and checks of the properties of such
 * orders. */
#ifndef GBSI_GRAPH_ELIMINATION_TESTING_H
#define GBSI_GRAPH_ELIMINATION_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/generate.h"
#include "graph/elimination.h"

typedef struct made {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_elimination *e;
} made;

static const gbsi_elimination_limits no_limits = {.entries = UINT64_MAX, .effort = 1u << 20};

static inline void eliminate(made *m, const gbsi_elimination_limits *limits)
{
    assert_int_equal(gbsi_condition(m->model, NULL, &m->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(m->conditioned, NULL, &m->graph, NULL), GBS_OK);
    assert_int_equal(gbsi_elimination_new(m->graph, limits, &m->e, NULL), GBS_OK);
}

/* Calls gbsi_elimination_new() repeatedly until a call succeeds. In each call one more request of
 * memory succeeds than in the call before, and all later requests fail. @return the number of
 * calls. */
static inline uint64_t eliminate_without_memory(made *m, const gbsi_elimination_limits *limits)
{
    uint64_t n = 0;
    assert_int_equal(gbsi_condition(m->model, NULL, &m->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(m->conditioned, NULL, &m->graph, NULL), GBS_OK);
    for (; m->e == NULL; ++n) {
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        const gbs_status status = gbsi_elimination_new(m->graph, limits, &m->e, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_int_equal(status, m->e == NULL ? GBS_ERR_MEMORY : GBS_OK);
        assert_int_equal(err.status, status);
    }
    return n;
}

static inline void release(made *m)
{
    gbsi_elimination_free(m->e);
    gbsi_graph_free(m->graph);
    gbsi_conditioned_free(m->conditioned);
    gbs_model_free(m->model);
    *m = (made){0};
}

/* Checks the tree of the eliminated cliques: each clique without its own variable lies in its
 * parent. */
static inline void check_tree(const made *m, const gbsi_elimination_part *part)
{
    const gbsi_elimination *e = m->e;
    const uint32_t n = e->n_variables;
    const uint32_t end = part->first + part->n_variables;
    uint32_t *position = malloc(2 * (size_t)n * sizeof *position);
    uint32_t *parent = position + n;
    uint8_t *covered = malloc(n);
    uint32_t n_roots = 0;
    assert_non_null(position);
    assert_non_null(covered);
    memset(position, 0xff, n * sizeof *position);
    for (uint32_t i = part->first; i < end; ++i) {
        position[e->order[i]] = i;
    }
    assert_int_equal(gbsi_elimination_tree(e, m->conditioned->arity, part->first, end, position,
                                           parent, covered),
                     part->entries);
    for (uint32_t i = part->first; i < end; ++i) {
        const uint32_t p = parent[i - part->first];
        if (p == GBSI_NONE) {
            assert_int_equal(e->clique_start[i], e->clique_start[i + 1]);
            ++n_roots;
            continue;
        }
        assert_true(p > i && p < end);
        for (size_t k = e->clique_start[i]; k < e->clique_start[i + 1]; ++k) {
            int found = e->clique[k] == e->order[p];
            for (size_t j = e->clique_start[p]; j < e->clique_start[p + 1]; ++j) {
                found |= e->clique[j] == e->clique[k];
            }
            assert_true(found);
        }
    }
    assert_int_equal(n_roots, 1);
    free(position);
    free(covered);
}

static inline gbs_model *grid(uint32_t rows, uint32_t columns)
{
    const gbs_generate_ising_options o = {.side = {rows, columns, 1}, .coupling = 0.5};
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_ising(&o, &m, NULL), GBS_OK);
    return m;
}

static inline gbs_model *complete(uint32_t n)
{
    const gbs_generate_complete_options o = {.variables = n, .coupling = 0.5};
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_complete(&o, &m, NULL), GBS_OK);
    return m;
}

static inline gbs_model *powerlaw(uint32_t n, uint32_t edges)
{
    const gbs_generate_powerlaw_options o = {.variables = n, .edges = edges, .coupling = 0.5};
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_powerlaw(&o, &m, NULL), GBS_OK);
    return m;
}

#endif
