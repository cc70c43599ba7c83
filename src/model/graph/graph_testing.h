/* SPDX-License-Identifier: Apache-2.0 */
/* Random models for the tests of graphs, and their adjacency matrices. */
#ifndef GBSI_GRAPH_GRAPH_TESTING_H
#define GBSI_GRAPH_GRAPH_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "rng/philox.h"

typedef struct fixture {
    gbs_builder *builder;
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
} fixture;

static uint32_t draws; /* number of random numbers that the current test has drawn */

static inline uint32_t below(uint32_t n)
{
    return gbsi_word(7, 0, 0, draws++, GBSI_PURPOSE_TEST) % n;
}

static inline void begin(fixture *f, uint32_t n)
{
    *f = (fixture){0};
    assert_int_equal(gbs_builder_new(&f->builder, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t two = 2;
        assert_int_equal(gbs_builder_add_variables(f->builder, 1, &two, NULL, NULL), GBS_OK);
    }
}

/* Adds a product of the spins of the scope, which may have any number of variables and has no
 * table. */
static inline void add(fixture *f, uint32_t n, const uint32_t *scope)
{
    assert_int_equal(gbs_builder_add_spin(f->builder, n, scope, 0.5, NULL), GBS_OK);
}

static inline void end(fixture *f, const gbsi_edges *extra)
{
    assert_int_equal(gbs_builder_build(f->builder, &f->model, NULL), GBS_OK);
    assert_int_equal(gbsi_condition(f->model, NULL, &f->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, extra, &f->graph, NULL), GBS_OK);
}

static inline void clear(fixture *f)
{
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
    gbs_builder_free(f->builder);
}

/* Chooses m distinct variables below n by the first m steps of a shuffle. */
static inline void choose(uint32_t n, uint32_t m, uint32_t *scope)
{
    uint32_t *all = malloc(n * sizeof *all);
    assert_non_null(all);
    for (uint32_t v = 0; v < n; v++) {
        all[v] = v;
    }
    for (uint32_t i = 0; i < m; i++) {
        const uint32_t j = i + below(n - i);
        scope[i] = all[j];
        all[j] = all[i];
    }
    free(all);
}

static inline void random_model(fixture *f, uint32_t n, uint32_t n_factors, uint32_t most,
                                const gbsi_edges *extra)
{
    uint32_t scope[256];
    begin(f, n);
    for (uint32_t i = 0; i < n_factors; i++) {
        uint32_t m = 1 + below(most);
        m = m < n ? m : n;
        choose(n, m, scope);
        add(f, m, scope);
    }
    end(f, extra);
}

/* Computes the adjacency matrix directly from the factors. @return [n * n]; the caller frees it. */
static inline uint8_t *adjacency(const fixture *f, const gbsi_edges *extra)
{
    const size_t n = f->conditioned->n_variables;
    const gbsi_factors *factors = &f->conditioned->factors;
    uint8_t *a = calloc(n * n + 1, 1);
    assert_non_null(a);
    for (size_t k = 0; k < factors->n_factors; k++) {
        for (size_t i = factors->scope_start[k]; i < factors->scope_start[k + 1]; i++) {
            for (size_t j = factors->scope_start[k]; j < i; j++) {
                a[factors->scope[i] * n + factors->scope[j]] = 1;
                a[factors->scope[j] * n + factors->scope[i]] = 1;
            }
        }
    }
    for (size_t e = 0; extra != NULL && e < extra->n; e++) {
        a[extra->pair[2 * e] * n + extra->pair[2 * e + 1]] = 1;
        a[extra->pair[2 * e + 1] * n + extra->pair[2 * e]] = 1;
    }
    return a;
}

#endif
