/* SPDX-License-Identifier: Apache-2.0 */
/* Compares trees that grow variable by variable with elimination from scratch; tests removal of the
 * last variable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_random.h"
#include "splash/splash_tree.h"

enum { MOST = 24 };

typedef struct graph {
    uint32_t n;
    uint32_t edges[MOST]; /* neighbours as bits, by number */
} graph;

/* Computes the cliques of elimination of n - 1, .., 0: the earlier neighbours of each variable at
 * its elimination. */
static void eliminate(const graph *g, uint32_t *clique)
{
    uint32_t edges[MOST];
    memcpy(edges, g->edges, sizeof edges);
    for (uint32_t i = g->n; i-- > 0;) {
        clique[i] = edges[i] & ((1u << i) - 1);
        for (uint32_t j = 0; j < i; ++j) {
            if ((clique[i] >> j & 1u) != 0) {
                edges[j] |= clique[i] & ~(1u << j);
            }
        }
    }
}

static uint32_t bits_of(const gbsi_growth *growth, uint32_t i)
{
    uint32_t bits = 0;
    for (uint32_t j = 0; j < growth->clique[i].n_separator; ++j) {
        assert_true(j == 0 ||
                    gbsi_growth_separator(growth, i)[j - 1] < gbsi_growth_separator(growth, i)[j]);
        bits |= 1u << gbsi_growth_separator(growth, i)[j];
    }
    return bits;
}

static uint32_t rows_of(const gbsi_growth *growth)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < growth->n; ++i) {
        uint32_t rows = 1;
        for (uint32_t j = 0; j < growth->clique[i].n_separator; ++j) {
            rows *= growth->clique[gbsi_growth_separator(growth, i)[j]].arity;
        }
        assert_int_equal(growth->clique[i].n_rows, rows);
        sum += rows;
    }
    return sum;
}

static uint32_t width_of(const uint32_t *clique, uint32_t n)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t size = (uint32_t)__builtin_popcount(clique[i]);
        width = size > width ? size : width;
    }
    return width;
}

static void check_equal(const gbsi_growth *growth, const graph *g)
{
    uint32_t clique[MOST];
    eliminate(g, clique);
    assert_int_equal(growth->n, g->n);
    for (uint32_t i = 0; i < g->n; ++i) {
        assert_int_equal(bits_of(growth, i), clique[i]);
    }
    assert_int_equal(rows_of(growth), growth->n_rows);
}

/* Random graphs in random orders, with some variables without neighbours. Cliques equal those of
 * elimination. A variable is refused if and only if its width would exceed the limit, and the
 * attempt leaves the tree unchanged. */
static void same_as_elimination(void **state)
{
    (void)state;
    uint64_t random = 7;
    uint32_t n_taken = 0;
    uint32_t n_refused = 0;
    for (uint32_t trial = 0; trial < 3000; ++trial) {
        gbsi_growth growth;
        graph g = {0};
        const uint32_t width = 1 + trial % 8;
        const uint32_t density = 1 + trial / 8 % 6;
        assert_int_equal(gbsi_growth_init(&growth, width, MOST, NULL), GBS_OK);
        for (uint32_t attempt = 0; attempt < MOST + 10 && g.n < MOST; ++attempt) {
            uint32_t earlier[MOST];
            uint32_t clique[MOST];
            uint32_t n = 0;
            graph more = g;
            for (uint32_t j = 0; j < g.n; ++j) {
                if (next_random(&random) % 16 < density) {
                    earlier[n++] = j;
                    more.edges[g.n] |= 1u << j;
                    more.edges[j] |= 1u << g.n;
                }
            }
            ++more.n;
            eliminate(&more, clique);
            const bool fits = width_of(clique, more.n) <= width;
            const uint32_t arity = 2 + (uint32_t)(next_random(&random) % 2);
            assert_int_equal(gbsi_growth_extend(&growth, attempt, arity, n, earlier), fits);
            n_taken += fits;
            n_refused += !fits;
            g = fits ? more : g;
            check_equal(&growth, &g);
        }
        gbsi_growth_free(&growth);
    }
    assert_true(n_taken > 10000 && n_refused > 10000);
}

/* The counterexample to the printed algorithm: the cycle 1-2-3-4 in the order 3, 2, 4, 1. */
static void four_cycle(void **state)
{
    (void)state;
    gbsi_growth growth;
    const uint32_t of_3[] = {0};
    const uint32_t of_2_and_4[] = {1, 2};
    assert_int_equal(gbsi_growth_init(&growth, 2, 4, NULL), GBS_OK);
    assert_true(gbsi_growth_extend(&growth, 3, 2, 0, of_3));
    assert_true(gbsi_growth_extend(&growth, 2, 2, 1, of_3));
    assert_true(gbsi_growth_extend(&growth, 4, 2, 1, of_3));
    assert_true(gbsi_growth_extend(&growth, 1, 2, 2, of_2_and_4));
    assert_int_equal(bits_of(&growth, 3), 1u << 1 | 1u << 2); /* 1: {2, 4} */
    assert_int_equal(bits_of(&growth, 2), 1u << 0 | 1u << 1); /* 4: {2, 3} */
    assert_int_equal(bits_of(&growth, 1), 1u << 0);           /* 2: {3} */
    assert_int_equal(gbsi_growth_parent(&growth, 3), 2);
    assert_int_equal(gbsi_growth_parent(&growth, 2), 1);
    assert_int_equal(gbsi_growth_parent(&growth, 1), 0);
    assert_int_equal(gbsi_growth_parent(&growth, 0), UINT32_MAX);
    gbsi_growth_free(&growth);
}

static void tables_have_limits(void **state)
{
    (void)state;
    gbsi_growth growth;
    uint32_t earlier[] = {0, 1};
    assert_int_equal(gbsi_growth_init(&growth, 2, 100, NULL), GBS_OK);
    assert_true(gbsi_growth_extend(&growth, 0, 60000, 0, earlier)); /* a root is always taken */
    assert_true(gbsi_growth_extend(&growth, 1, 17, 1, earlier));
    assert_false(gbsi_growth_extend(&growth, 2, 18, 1, earlier)); /* 2^20 states */
    /* the variables are in the clique of 0, 1 and 2 */
    assert_false(gbsi_growth_extend(&growth, 2, 2, 2, earlier));
    assert_int_equal(growth.n_rows, 60001);
    for (uint32_t i = 0; i < 3; ++i) { /* 60 000 rows each, 2^18 in all */
        assert_true(gbsi_growth_extend(&growth, 2 + i, 2, 1, earlier));
    }
    assert_false(gbsi_growth_extend(&growth, 9, 2, 1, earlier));
    assert_int_equal(growth.n_rows, rows_of(&growth));
    gbsi_growth_free(&growth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_elimination),
        cmocka_unit_test(four_cycle),
        cmocka_unit_test(tables_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
