/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the search for better orders with eliminations by matrix: on random graphs from
 * random orders, on small graphs with all orders, and on grids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/order_search.h"
#include "rng/philox.h"

enum { MOST = 400 };

static uint32_t draws;

static uint32_t below(uint32_t n)
{
    return gbsi_word(13, 0, 0, draws++, GBSI_PURPOSE_TEST) % n;
}

typedef struct test_graph {
    uint32_t n;
    uint8_t next_to[MOST][MOST];
    uint32_t arity[MOST];
    size_t start[MOST + 1];
    uint32_t *to;
} test_graph;

static test_graph x; /* graph of the current test */

static void join(uint32_t u, uint32_t v)
{
    if (u != v) {
        x.next_to[u][v] = x.next_to[v][u] = 1;
    }
}

static gbsi_order_graph list_graph(void)
{
    size_t n = 0;
    free(x.to);
    x.to = malloc(sizeof *x.to * x.n * x.n);
    assert_non_null(x.to);
    for (uint32_t v = 0; v < x.n; ++v) {
        for (uint32_t u = 0; u < x.n; ++u) {
            if (x.next_to[v][u]) {
                x.to[n++] = u;
            }
        }
        x.start[v + 1] = n;
    }
    return (gbsi_order_graph){.n = x.n, .start = x.start, .to = x.to, .arity = x.arity};
}

/* Makes a random tree with some additional edges. Variables have many states, which gives the
 * search some work. */
static gbsi_order_graph random_graph(uint32_t n, uint32_t n_edges)
{
    x.n = n;
    memset(x.next_to, 0, sizeof x.next_to);
    for (uint32_t v = 0; v < n; ++v) {
        x.arity[v] = 2 + below(60);
        if (v > 0) {
            join(v, below(v));
        }
    }
    for (; n_edges > 0; --n_edges) {
        join(below(n), below(n));
    }
    return list_graph();
}

static gbsi_order_graph grid(uint32_t side, uint32_t arity)
{
    x.n = side * side;
    memset(x.next_to, 0, sizeof x.next_to);
    for (uint32_t v = 0; v < x.n; ++v) {
        x.arity[v] = arity;
        if (v % side > 0) {
            join(v, v - 1);
        }
        if (v >= side) {
            join(v, v - side);
        }
    }
    return list_graph();
}

static void shuffle(uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t j = below(i + 1);
        order[i] = i;
        order[i] = order[j];
        order[j] = i;
    }
}

/* Computes the entries of the maximal cliques by eliminating a copy. */
static double entries_of(const uint32_t *order)
{
    static uint8_t next_to[MOST][MOST];
    static uint8_t clique[MOST][MOST];
    uint8_t gone[MOST] = {0};
    double sum = 0.0;
    memcpy(next_to, x.next_to, sizeof next_to);
    for (uint32_t i = 0; i < x.n; ++i) {
        const uint32_t v = order[i];
        assert_true(v < x.n && !gone[v]); /* every vertex occurs once */
        gone[v] = 1;
        double entries = x.arity[v];
        for (uint32_t u = 0; u < x.n; ++u) {
            clique[i][u] = u == v || (next_to[v][u] && !gone[u]);
            entries *= u != v && clique[i][u] ? x.arity[u] : 1.0;
        }
        for (uint32_t a = 0; a < x.n; ++a) {
            for (uint32_t b = 0; clique[i][a] && b < x.n; ++b) {
                next_to[a][b] |= clique[i][b] && a != b;
            }
        }
        int covered = 0; /* whether a clique of an earlier vertex contains this clique */
        for (uint32_t j = 0; j < i && !covered; ++j) {
            covered = clique[j][v];
            for (uint32_t u = 0; u < x.n && covered; ++u) {
                covered = clique[j][u] >= clique[i][u];
            }
        }
        sum += covered ? 0.0 : entries;
    }
    return sum;
}

static const gbsi_order_limits no_limits = {.entries = UINT64_C(1) << 62, .work = 1u << 20};

static void improve(const gbsi_order_graph *g, const gbsi_order_limits *limits, uint32_t *order,
                    gbsi_order_result *r)
{
    assert_int_equal(gbsi_order_improve(g, limits, order, r, NULL), GBS_OK);
}

/* The result is valid, is never worse than before or than the search reports, and is
 * reproducible. */
static void test_random(void **unused)
{
    (void)unused;
    uint32_t n_better = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        uint32_t order[MOST];
        uint32_t first[MOST];
        uint32_t again[MOST];
        gbsi_order_result r;
        const uint32_t n = 2 + below(i < 190 ? 30 : 150);
        const gbsi_order_graph g = random_graph(n, below(n + 1));
        shuffle(first, n);
        memcpy(order, first, sizeof order);
        memcpy(again, first, sizeof again);
        improve(&g, &no_limits, order, &r);
        const double before = entries_of(first);
        const double after = entries_of(order);
        assert_true(r.entries <= r.before && r.before < before * (1.0 + 1e-12) &&
                    before < r.before * (1.0 + 1e-12)); /* products beyond 2^53 are rounded */
        assert_true(after <= r.entries * (1.0 + 1e-12));
        assert_true(after < before * (1.0 + 1e-12));
        assert_true(r.entries < r.before || memcmp(order, first, n * sizeof *order) == 0);
        n_better += after < before;
        improve(&g, &no_limits, again, &r);
        assert_memory_equal(order, again, n * sizeof *order);
    }
    assert_true(n_better > 150);
}

static double best_of_all(uint32_t *order, uint32_t from)
{
    double best = from + 1 >= x.n ? entries_of(order) : 1e300;
    for (uint32_t i = from; from + 1 < x.n && i < x.n; ++i) {
        const uint32_t v = order[i];
        order[i] = order[from];
        order[from] = v;
        const double found = best_of_all(order, from + 1);
        best = found < best ? found : best;
        order[from] = order[i];
        order[i] = v;
    }
    return best;
}

/* On graphs of six vertices the search finds the best order from any initial order. */
static void test_optimal(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 100; ++i) {
        uint32_t order[MOST];
        gbsi_order_result r;
        const gbsi_order_graph g = random_graph(6, 3 + below(5));
        shuffle(order, 6);
        for (uint32_t v = 0; v < 6; ++v) {
            x.arity[v] += 100;
        }
        const double best = best_of_all(order, 0);
        improve(&g, &no_limits, order, &r);
        assert_true(entries_of(order) <= best * (1.0 + 1e-12));
    }
}

/* On a 20 x 20 grid minimum fill finds 2^28.7 entries; the order row by row has 2^29.6. */
static void test_grid(void **unused)
{
    (void)unused;
    uint32_t order[MOST];
    gbsi_order_result r;
    const gbsi_order_limits limits = {.entries = UINT64_C(1) << 62, .work = 1u << 22};
    const gbsi_order_graph g = grid(20, 2);
    for (uint32_t v = 0; v < g.n; ++v) {
        order[v] = v;
    }
    improve(&g, &limits, order, &r);
    assert_true(entries_of(order) <= r.entries); /* a bag may contain more than the clique needs */
    assert_true(r.entries < 1.4 * (1 << 27));
}

/* The work is the allowed number of steps plus at most one region; tables that are too small get
 * no steps. */
static void test_work(void **unused)
{
    (void)unused;
    for (uint32_t k = 10; k < 22; ++k) {
        uint32_t order[MOST];
        gbsi_order_result r;
        gbsi_order_limits limits = {.entries = UINT64_C(1) << 62, .work = UINT64_C(1) << k};
        const gbsi_order_graph g = grid(16, 2);
        for (uint32_t v = 0; v < g.n; ++v) {
            order[v] = v;
        }
        improve(&g, &limits, order, &r);
        assert_true(r.work < limits.work + (1u << 17));
        limits = (gbsi_order_limits){.entries = UINT64_C(1) << k, .work = UINT64_MAX};
        improve(&g, &limits, order, &r);
        assert_true(r.work < (limits.entries / GBSI_ORDER_SHARE) + (1u << 17));
    }
}

/* A search without a prospect is given up: 20 x 20 grids do not reach 2^20 entries. */
static void test_hopeless(void **unused)
{
    (void)unused;
    uint32_t order[MOST];
    gbsi_order_result r;
    const gbsi_order_limits limits = {.entries = 1u << 20, .work = UINT64_C(1) << 32};
    const gbsi_order_graph g = grid(20, 16);
    for (uint32_t v = 0; v < g.n; ++v) {
        order[v] = v;
    }
    improve(&g, &limits, order, &r);
    assert_true(r.entries < r.before && r.work < 1u << 26);
}

/* With one bag there is nothing to improve, and the search must end. */
static void test_one_bag(void **unused)
{
    (void)unused;
    uint32_t order[MOST];
    gbsi_order_result r;
    random_graph(12, 0);
    for (uint32_t v = 0; v < 12; ++v) {
        for (uint32_t u = 0; u < v; ++u) {
            join(u, v);
        }
    }
    const gbsi_order_graph g = list_graph();
    shuffle(order, 12);
    improve(&g, &no_limits, order, &r);
    assert_true(r.entries == r.before && r.work < 50000);
}

static bool count_looks(void *context)
{
    uint32_t *left = context;
    return (*left)-- == 0;
}

/* A watch changes nothing, or ends the search without an order. */
static void test_watch(void **unused)
{
    (void)unused;
    uint32_t left = UINT32_MAX;
    uint32_t order[MOST];
    uint32_t watched[MOST];
    gbsi_order_result r;
    const gbsi_order_graph g = grid(14, 3);
    for (uint32_t v = 0; v < g.n; ++v) {
        order[v] = watched[v] = v;
    }
    gbsi_watch watch = {.look = count_looks, .context = &left};
    gbsi_order_limits limits = no_limits;
    improve(&g, &limits, order, &r);
    limits.watch = &watch;
    improve(&g, &limits, watched, &r);
    assert_memory_equal(order, watched, g.n * sizeof *order);
    assert_true(watch.n_looks > 5);
    for (uint32_t n = 0; n < 5; ++n) {
        gbs_error err = {0};
        watch = (gbsi_watch){.look = count_looks, .context = &left};
        left = n;
        for (uint32_t v = 0; v < g.n; ++v) {
            order[v] = v;
        }
        assert_int_equal(gbsi_order_improve(&g, &limits, order, &r, &err), GBS_ERR_STOPPED);
        assert_int_equal(err.status, GBS_ERR_STOPPED);
        for (uint32_t v = 0; v < g.n; ++v) {
            assert_int_equal(order[v], v);
        }
    }
}

static void test_no_memory(void **unused)
{
    (void)unused;
    uint32_t order[MOST];
    gbsi_order_result r;
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    const gbsi_order_graph g = grid(12, 3);
    const gbsi_order_limits limits = {.entries = UINT64_C(1) << 62, .work = 1u << 19};
    for (; status != GBS_OK; ++n) {
        gbs_error err = {0};
        for (uint32_t v = 0; v < g.n; ++v) {
            order[v] = v;
        }
        gbsi_alloc_fail_after(n);
        status = gbsi_order_improve(&g, &limits, order, &r, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && order[1] == 1));
        assert_int_equal(err.status, status);
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_optimal),
        cmocka_unit_test(test_grid),    cmocka_unit_test(test_work),
        cmocka_unit_test(test_one_bag), cmocka_unit_test(test_hopeless),
        cmocka_unit_test(test_watch),   cmocka_unit_test(test_no_memory),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(x.to);
    return failed;
}
