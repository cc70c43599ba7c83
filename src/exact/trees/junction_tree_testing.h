/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for tests that make a model with its junction tree, and calibrate it. */
#ifndef GBSI_TREES_JUNCTION_TREE_TESTING_H
#define GBSI_TREES_JUNCTION_TREE_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "reference/enumerate.h"
#include "reference/testing.h"
#include "rng/philox.h"
#include "simd/dispatch.h"
#include "simd/math.h"
#include "trees/decompose.h"
#include "trees/exact_plan.h"

static const gbsi_exact_limits no_limits = {.entries = UINT64_C(1) << 30,
                                            .bytes = UINT64_C(1) << 34};

typedef struct made {
    gbsi_conditioned *model;
    gbsi_graph *graph;
    gbsi_exact_plan *plan;
    gbsi_tree *tree;
    uint32_t *home;
} made;

static inline void make(made *m, const gbs_model *model, const gbs_evidence *evidence,
                        const gbsi_exact_limits *limits)
{
    uint8_t take[64];
    test_ok(gbsi_condition(model, evidence, &m->model, NULL));
    test_ok(gbsi_graph_new(m->model, NULL, &m->graph, NULL));
    test_ok(gbsi_exact_plan_new(m->model, m->graph, limits, &m->plan, NULL));
    assert_true(m->plan->elimination->n_parts <= sizeof take);
    memset(take, 1, sizeof take);
    test_ok(gbsi_exact_plan_tree(m->plan, take, &m->tree, NULL));
    m->home = malloc((m->tree->model->n_variables + 1u) * sizeof *m->home);
    assert_non_null(m->home);
    gbsi_tree_homes(m->tree, m->home);
}

static inline void release(made *m)
{
    gbsi_tree_free(m->tree);
    gbsi_exact_plan_free(m->plan);
    gbsi_graph_free(m->graph);
    gbsi_conditioned_free(m->model);
    free(m->home);
    memset(m, 0, sizeof *m);
}

/* Computes marginals of all variables of the tree's model, unless p is NULL. Checks the prediction
 * of the operations that the watch counts. @return ln Z. */
static inline double calibrate_by(const made *m, gbsi_keep keep, gbsi_pool *pool, double *p)
{
    gbsi_tables *tables = NULL;
    gbsi_watch watch = {0};
    double log_z = m->model->log_constant;
    test_ok(gbsi_tables_new(m->tree, keep, pool, &tables, NULL));
    tables->watch = &watch;
    for (uint32_t t = 0; t < m->tree->n_trees; ++t) {
        double part = 0.0;
        gbsi_tree_up(tables, t, &part);
        log_z += part;
        if (part > -INFINITY && p != NULL) {
            gbsi_tree_down(tables, t, m->home, p);
        }
    }
    if (pool == NULL && log_z > -INFINITY) {
        const double done = (double)(watch.before + watch.spent);
        const double least = gbsi_tree_operations(m->tree, keep, p != NULL);
        assert_true(least <= done && done <= 8.0 * least);
    }
    gbsi_tables_free(tables);
    return log_z;
}

/* Checks that every form of calibration gives the same bits. @param p [states of the tree's model]
 * out. */
static inline double calibrate(const made *m, gbsi_pool *pool, double *p)
{
    const double log_z = calibrate_by(m, GBSI_KEEP_TABLES, pool, p);
    const size_t n = m->tree->model->state_offset[m->tree->model->n_variables];
    double *again = malloc((n + 1) * sizeof *again);
    assert_non_null(again);
    assert_true(calibrate_by(m, GBSI_KEEP_STACK, pool, NULL) == log_z);
    if (p != NULL) {
        memcpy(again, p, n * sizeof *p);
        assert_true(calibrate_by(m, GBSI_KEEP_MESSAGES, pool, again) == log_z);
        assert_memory_equal(again, p, n * sizeof *p);
    }
    free(again);
    return log_z;
}

static inline void assert_close(double found, double expected, double most)
{
    if (!(fabs(found - expected) <= most)) {
        fail_msg("%.17g, expected %.17g", found, expected);
    }
}

static inline void check_against_enumeration(const gbs_model *model, const gbs_evidence *evidence,
                                             uint32_t *n_possible)
{
    made m = {0};
    double p[256];
    double expected[256];
    double log_z = 0.0;
    if (gbsi_condition(model, evidence, &m.model, NULL) == GBS_ERR_IMPOSSIBLE) {
        return;
    }
    gbsi_conditioned_free(m.model);
    make(&m, model, evidence, &no_limits);
    assert_true(m.tree->model->state_offset[m.tree->model->n_variables] <= 256);
    const gbs_status status = gbsi_enumerate(m.model, NULL, expected, &log_z, NULL);
    if (status == GBS_OK) {
        ++*n_possible;
        assert_close(calibrate(&m, NULL, p), log_z, 1e-12 * (1.0 + fabs(log_z)));
        for (size_t i = 0; i < m.model->state_offset[m.model->n_variables]; ++i) {
            assert_close(p[i], expected[i], 1e-12);
        }
    } else {
        assert_int_equal(status, GBS_ERR_IMPOSSIBLE);
        assert_true(calibrate(&m, NULL, p) == -INFINITY);
    }
    release(&m);
}

/* Draws eight samples, or finds a most probable state if `trace` is set. @param x [8][64] out.
 * @return whether some state has weight. */
static inline bool draw_by(const made *m, gbsi_keep keep, bool trace, gbsi_pool *pool, uint32_t *x)
{
    gbsi_tables *tables = NULL;
    double least = 0.0;
    test_ok(gbsi_tables_new(m->tree, keep, pool, &tables, NULL));
    for (uint32_t t = 0; t < m->tree->n_trees; ++t) {
        double part = 0.0;
        gbsi_tree_up(tables, t, &part);
        least = part < least ? part : least;
        if (trace && part > -INFINITY) {
            gbsi_tree_trace(tables, t, x);
        }
        if (!trace) {
            gbsi_tables_next(tables, t);
        }
    }
    if (!trace && least > -INFINITY) {
        gbsi_tree_accumulate(tables);
        for (uint32_t draw = 0; draw < 8; ++draw) {
            gbsi_tree_draw(tables, 7, 1, draw, x + 64 * (size_t)draw);
        }
    }
    gbsi_tables_free(tables);
    return least > -INFINITY;
}

static inline void draw_both_ways(const made *m, bool trace, gbsi_pool *pool)
{
    uint32_t x[8 * 64] = {0};
    uint32_t again[8 * 64] = {0};
    assert_true(m->tree->model->n_variables <= 64);
    const bool possible = draw_by(m, trace ? GBSI_KEEP_TABLES : GBSI_KEEP_ALL, trace, pool, x);
    assert_true(possible == draw_by(m, trace ? GBSI_KEEP_MESSAGES : GBSI_KEEP_ALL_MESSAGES, trace,
                                    NULL, again));
    if (possible) {
        assert_memory_equal(x, again, sizeof x);
    }
}

#endif
