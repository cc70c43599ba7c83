/* SPDX-License-Identifier: Apache-2.0 */
#include "exact/test_models.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rng/philox.h"

static uint32_t draws;

void test_draws_restart(void)
{
    draws = 0;
}

uint32_t test_below(uint32_t n)
{
    return gbsi_word(11, 0, 0, draws++, GBSI_PURPOSE_TEST) % n;
}

static double weight(void)
{
    return (test_below(2001) - 1000.0) / 300.0;
}

void test_ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static void choose(uint32_t n, uint32_t m, uint32_t *scope)
{
    for (uint32_t i = 0; i < m; i++) {
        bool taken = true;
        while (taken) {
            scope[i] = test_below(n);
            taken = false;
            for (uint32_t j = 0; j < i; j++) {
                taken = taken || scope[j] == scope[i];
            }
        }
    }
}

static void add_table(gbs_builder *b, const uint32_t *arity, uint32_t n, const uint32_t *scope,
                      uint32_t zeros_in_8)
{
    size_t n_entries = 1;
    for (uint32_t i = 0; i < n; i++) {
        n_entries *= arity[scope[i]];
    }
    double *logw = malloc(n_entries * sizeof *logw);
    assert_non_null(logw);
    for (size_t e = 0; e < n_entries; e++) {
        logw[e] = test_below(8) < zeros_in_8 ? -INFINITY : weight();
    }
    uint32_t table = 0;
    test_ok(gbs_builder_add_table(b, n_entries, logw, &table, NULL));
    test_ok(gbs_builder_add_table_factor(b, n, scope, table, NULL));
    free(logw);
}

static void add_logical(gbs_builder *b, const uint32_t *arity, uint32_t n, const uint32_t *scope)
{
    const gbs_logical_function function[] = {
        GBS_LOGICAL_IMPLY_NATURAL,   GBS_LOGICAL_OR,        GBS_LOGICAL_AND,    GBS_LOGICAL_EQUAL,
        GBS_LOGICAL_IS_TRUE,         GBS_LOGICAL_LINEAR,    GBS_LOGICAL_RATIO,  GBS_LOGICAL_LOGICAL,
        GBS_LOGICAL_AND_CATEGORICAL, GBS_LOGICAL_IMPLY_MLN, GBS_LOGICAL_CLAUSE,
    };
    const gbs_logical_function hard[] = {GBS_LOGICAL_OR, GBS_LOGICAL_CLAUSE, GBS_LOGICAL_EQUAL,
                                         GBS_LOGICAL_IMPLY_MLN};
    uint32_t literal[TEST_MAX_VARIABLES];
    for (uint32_t i = 0; i < n; i++) {
        literal[i] = test_below(arity[scope[i]]);
    }
    if (test_below(5) == 0) {
        test_ok(gbs_builder_add_logical(b, hard[test_below(4)], n, scope, literal, INFINITY, NULL));
    } else {
        test_ok(gbs_builder_add_logical(b, function[test_below(11)], n, scope, literal, weight(),
                                        NULL));
    }
}

static uint32_t choose_binary(const uint32_t *arity, uint32_t n, uint32_t *scope)
{
    uint32_t m = 0;
    for (uint32_t v = 0; v < n; v++) {
        if (arity[v] == 2 && test_below(2) == 0) {
            scope[m++] = v;
        }
    }
    return m;
}

static void add_factor(gbs_builder *b, const uint32_t *arity, uint32_t n)
{
    uint32_t scope[TEST_MAX_VARIABLES];
    const uint32_t m = 1 + test_below(n < 3 ? n : 3);
    const uint32_t n_binary = choose_binary(arity, n, scope);
    switch (test_below(6)) {
    case 0:
        if (n_binary >= 1) {
            test_ok(gbs_builder_add_field(b, scope[0], weight(), NULL));
        }
        break;
    case 1:
        if (n_binary >= 2) {
            test_ok(gbs_builder_add_ising(b, scope[1], scope[0], weight(), NULL));
        }
        break;
    case 2:
        if (n_binary >= 1) {
            test_ok(gbs_builder_add_spin(b, n_binary, scope, weight(), NULL));
        }
        break;
    case 3:
        choose(n, m, scope);
        if (m >= 2 && arity[scope[0]] == arity[scope[1]]) {
            test_ok(gbs_builder_add_potts(b, scope[0], scope[1], weight(), NULL));
        }
        break;
    case 4:
        choose(n, m, scope);
        add_logical(b, arity, m, scope);
        break;
    default:
        choose(n, m, scope);
        add_table(b, arity, m, scope, test_below(3));
        break;
    }
}

gbs_model *test_random_model(void)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[TEST_MAX_VARIABLES];
    const uint32_t n = 1 + test_below(6);
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v < n; v++) {
        arity[v] = test_below(2) == 0 ? 2 : 1 + test_below(5);
    }
    test_ok(gbs_builder_add_variables(b, n, arity, NULL, NULL));
    const uint32_t n_factors = test_below(3 * n + 1);
    for (uint32_t f = 0; f < n_factors; f++) {
        add_factor(b, arity, n);
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}
