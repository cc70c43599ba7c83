/* SPDX-License-Identifier: Apache-2.0 */
/* A small model with tied weights and rows drawn from it, for the tests of learning. */
#ifndef GBSI_WEIGHTS_TESTING_H
#define GBSI_WEIGHTS_TESTING_H

#include "gibbsite/learn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "generate/random_models.h"
#include "learn/rows.h"
#include "simd/math.h"

enum { N = 5, ARITY = 3, STATES = 2 * 2 * 2 * 2 * 3, WEIGHTS = 5, LEARNT = 4, ROWS = 400 };

static const uint32_t arity[N] = {2, 2, 2, 2, ARITY};
static const uint32_t column[N] = {4, 0, 1, 2,
                                   3}; /* the columns are not in the order of the variables */
static uint64_t seed;

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static void close_to(double found, double expected, double most)
{
    assert_true(fabs(found - expected) < most);
}

static int restart(void **state)
{
    (void)state;
    seed = 7;
    return 0;
}

static void tie(gbs_builder *b, size_t factor, uint32_t weight, double feature)
{
    ok(gbs_builder_tie_factor(b, factor, weight, feature, NULL));
}

/* A ring of four spins with one coupling, fields, a clause, a variable of three states with a
 * coupling that is fixed, and a table. @param w [WEIGHTS] */
static gbs_model *small_model(const double *w)
{
    static const uint8_t fixed[WEIGHTS] = {0, 0, 0, 1, 0};
    static const uint32_t clause[3] = {0, 2, 4};
    static const uint32_t literal[3] = {1, 0, 2};
    static const uint32_t last = 4;
    static const double logw[ARITY] = {0.3, -0.2, 0.1};
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    uint32_t table = 0;
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, N, arity, NULL, NULL));
    ok(gbs_builder_name_variable(b, 3, "the last spin", NULL));
    ok(gbs_builder_add_weights(b, WEIGHTS, w, fixed, NULL, NULL));
    for (uint32_t i = 0; i < 4; ++i) {
        ok(gbs_builder_add_ising(b, i, (i + 1) % 4, w[0], NULL));
        tie(b, 2 * (size_t)i, 0, 1.0);
        ok(gbs_builder_add_field(b, i, w[1] * (1.0 + i), NULL));
        tie(b, 2 * (size_t)i + 1, 1, 1.0 + i);
    }
    ok(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, clause, literal, w[2], NULL));
    tie(b, 8, 2, 1.0);
    ok(gbs_builder_add_logical(b, GBS_LOGICAL_AND_CATEGORICAL, 2, clause + 1, literal + 1, w[3],
                               NULL));
    tie(b, 9, 3, 1.0);
    ok(gbs_builder_add_logical(b, GBS_LOGICAL_EQUAL, 2, clause + 1, literal, -0.5 * w[4], NULL));
    tie(b, 10, 4, -0.5);
    ok(gbs_builder_add_table(b, ARITY, logw, &table, NULL));
    ok(gbs_builder_add_table_factor(b, 1, &last, table, NULL));
    ok(gbs_builder_build(b, &m, NULL));
    gbs_builder_free(b);
    return m;
}

static void state_of(uint32_t number, uint32_t *x)
{
    for (uint32_t v = N; v-- > 0; number /= arity[v]) {
        x[v] = number % arity[v];
    }
}

/* @return independent draws from the model, found by enumeration of its states. */
static gbs_data *drawn_rows(const gbs_model *m, uint32_t n)
{
    gbs_data *data = NULL;
    double weight[STATES];
    double total = 0.0;
    uint32_t x[N];
    for (uint32_t i = 0; i < STATES; ++i) {
        state_of(i, x);
        total += weight[i] = gbsi_exp(gbs_model_log_density(m, x));
    }
    ok(gbs_data_new(m, N, column, &data, NULL));
    for (uint32_t r = 0; r < n; ++r) {
        double u = random_below(&seed, 1u << 30) * 0x1p-30 * total;
        uint32_t i = 0;
        uint32_t row[N];
        while (i + 1 < STATES && u >= weight[i]) {
            u -= weight[i++];
        }
        state_of(i, x);
        for (uint32_t c = 0; c < N; ++c) {
            row[c] = x[column[c]];
        }
        ok(gbs_data_add(data, 1, row, NULL, NULL));
    }
    return data;
}

/* @return a copy of the rows in which each value is missing with probability holes / 64. */
static gbs_data *with_holes(const gbs_model *m, const gbs_data *complete, uint32_t holes)
{
    gbs_data *data = NULL;
    ok(gbs_data_new(m, N, column, &data, NULL));
    for (size_t i = 0; i < complete->n_distinct; ++i) {
        for (uint64_t copy = 0; copy < complete->count[i]; ++copy) {
            uint32_t row[N];
            for (uint32_t c = 0; c < N; ++c) {
                row[c] =
                    random_below(&seed, 64) < holes ? GBS_UNOBSERVED : complete->state[i * N + c];
            }
            ok(gbs_data_add(data, 1, row, NULL, NULL));
        }
    }
    return data;
}

/* Checks that learning on 1, 2 and 3 threads gives the same weights, errors and report, bit by bit.
 */
static void check_threads(const gbs_model *m, const gbs_data *data, gbs_learn_options options)
{
    double error[3][WEIGHTS];
    char digest[3][80];
    gbs_learn_report report[3];
    for (uint32_t i = 0; i < 3; ++i) {
        gbs_model *learnt = NULL;
        options.threads = i + 1;
        memset(&report[i], 0, sizeof report[i]);
        report[i].size = sizeof report[i];
        ok(gbs_learn_weights(m, data, &options, NULL, error[i], &learnt, &report[i], NULL));
        (void)snprintf(digest[i], sizeof digest[i], "%s", gbs_model_digest(learnt));
        report[i].seconds = 0.0;
        assert_true(report[i].has_errors);
        assert_string_equal(digest[i], digest[0]);
        assert_memory_equal(error[i], error[0], sizeof error[0]);
        assert_memory_equal(&report[i], &report[0], sizeof report[0]);
        gbs_model_free(learnt);
    }
}

/* Callbacks that end learning at the first look of the watch in a given step. */
typedef struct stopping {
    uint64_t at; /* step in which learning ends */
    bool now;
} stopping;

static inline void stop_see_step(void *context, const gbs_learn_point *point)
{
    stopping *s = context;
    s->now = point->iteration >= s->at;
}

static inline int stop_now(void *context, const gbs_progress *progress)
{
    (void)progress;
    return ((const stopping *)context)->now;
}

/* Learns again and again, each time with another request of memory that fails; a call must give a
 * whole result or none. @param sparse after request n, request n + 1 + n / sparse fails. */
static inline void learn_without_memory(const gbs_model *m, const gbs_data *data,
                                        const gbs_learn_options *options, uint64_t sparse)
{
    gbs_model *learnt = NULL;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n += 1 + n / sparse) {
        gbs_error err = {GBS_OK, ""};
        gbsi_alloc_fail_after(n);
        status = gbs_learn_weights(m, data, options, NULL, NULL, &learnt, NULL, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && learnt == NULL));
    }
    gbs_model_free(learnt);
}

static const double truth[WEIGHTS] = {0.3, -0.2, 0.8, -0.4, 0.5};

#endif
