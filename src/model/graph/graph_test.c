/* SPDX-License-Identifier: Apache-2.0 */
/* Compares incidence, components and levels of random models with an explicit adjacency matrix. */
#include <math.h>

#include "base/memory.h"
#include "graph/graph_testing.h"

/* ---- incidence --------------------------------------------------------------------------- */

static void incidence_skips_single_variables(void **state)
{
    (void)state;
    fixture f;
    uint32_t pair[] = {4, 0, 1, 3};
    const gbsi_edges extra = {.n = 2, .pair = pair};
    begin(&f, 5);
    add(&f, 1, (uint32_t[]){2});
    add(&f, 3, (uint32_t[]){3, 0, 1});
    add(&f, 1, (uint32_t[]){0});
    add(&f, 2, (uint32_t[]){1, 2});
    end(&f, &extra);
    const gbsi_graph *g = f.graph;
    assert_int_equal(g->n_variables, 5);
    assert_int_equal(g->n_scopes, 4);
    const size_t scope_start[] = {0, 3, 5, 7, 9};
    const uint32_t scope[] = {3, 0, 1, 1, 2, 4, 0, 1, 3};
    const uint32_t incident_start[] = {0, 2, 5, 6, 8, 9};
    const size_t incident[] = {0, 2, 0, 1, 3, 1, 0, 3, 2};
    assert_memory_equal(g->scope_start, scope_start, sizeof scope_start);
    assert_memory_equal(g->scope, scope, sizeof scope);
    assert_null(g->neighbour);
    assert_memory_equal(g->incident_start.narrow, incident_start, sizeof incident_start);
    assert_memory_equal(g->incident, incident, sizeof incident);
    clear(&f);
}

/* For pairs only the other variable is stored, in the order of the scopes. */
static void pairs_are_neighbours(void **state)
{
    (void)state;
    fixture f;
    uint32_t pair[] = {4, 0, 1, 3};
    const gbsi_edges extra = {.n = 2, .pair = pair};
    begin(&f, 5);
    add(&f, 1, (uint32_t[]){2});
    add(&f, 2, (uint32_t[]){3, 0});
    add(&f, 2, (uint32_t[]){1, 2});
    add(&f, 2, (uint32_t[]){0, 3}); /* parallel to the first pair */
    end(&f, &extra);
    const gbsi_graph *g = f.graph;
    const uint32_t neighbour[] = {3, 3, 4, 2, 3, 1, 0, 0, 1, 0};
    const size_t start[] = {0, 3, 5, 6, 9, 10};
    assert_int_equal(g->n_scopes, 5);
    assert_null(g->scope);
    assert_memory_equal(g->neighbour, neighbour, sizeof neighbour);
    for (size_t v = 0; v <= 5; ++v) {
        assert_int_equal(gbsi_graph_ends(g, v), start[v]);
    }
    clear(&f);
}

static void empty_graphs(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 2; n++) {
        fixture f;
        begin(&f, n);
        end(&f, NULL);
        uint32_t component[1] = {9};
        uint32_t color[1] = {9};
        uint32_t last[1];
        uint32_t level[2];
        uint32_t count = 9;
        assert_int_equal(gbsi_graph_components(f.graph, component, &count, NULL), GBS_OK);
        assert_int_equal(count, n);
        assert_int_equal(gbsi_graph_color(f.graph, NULL, color, &count, NULL), GBS_OK);
        assert_int_equal(count, n);
        for (int order = GBSI_LARGEST_FIRST; order <= GBSI_SMALLEST_LAST; order++) {
            assert_int_equal(gbsi_graph_color_greedy(f.graph, (gbsi_color_order)order, NULL, color,
                                                     &count, NULL, NULL),
                             GBS_OK);
            assert_int_equal(count, n);
        }
        gbsi_graph_schedule_levels(f.graph, NULL, 0, last, level, &count);
        assert_int_equal(count, 0);
        if (n == 1) {
            assert_int_equal(component[0], 0);
            assert_int_equal(color[0], 0);
            const uint32_t twice[] = {0, 0};
            gbsi_graph_schedule_levels(f.graph, twice, 2, last, level, &count);
            assert_int_equal(count, 2);
            assert_int_equal(level[0], 0);
            assert_int_equal(level[1], 1);
        }
        clear(&f);
    }
}

/* ---- components -------------------------------------------------------------------------- */

static void components_are_the_closure(void **state)
{
    (void)state;
    draws = 0;
    for (uint32_t round = 0; round < 100; round++) {
        const uint32_t n = 1 + below(30);
        fixture f;
        random_model(&f, n, below(12), 4, NULL);
        uint8_t *a = adjacency(&f, NULL);
        for (size_t k = 0; k < n; k++) { /* Warshall's closure */
            a[k * n + k] = 1;
            for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < n; j++) {
                    a[i * n + j] |= a[i * n + k] & a[k * n + j];
                }
            }
        }
        uint32_t component[30];
        uint32_t n_components = 0;
        assert_int_equal(gbsi_graph_components(f.graph, component, &n_components, NULL), GBS_OK);
        uint32_t expected = 0;
        for (uint32_t v = 0; v < n; v++) {
            uint32_t lowest = 0;
            while (!a[lowest * n + v]) {
                lowest++;
            }
            assert_int_equal(component[v], lowest == v ? expected : component[lowest]);
            expected += lowest == v;
        }
        assert_int_equal(n_components, expected);
        free(a);
        clear(&f);
    }
}

/* ---- levels ------------------------------------------------------------------------------ */

/* Computes levels from explicit neighbours: one more than the latest level of the variable and
 * its neighbours. */
static uint32_t naive_levels(const uint8_t *a, uint32_t n, const uint32_t *sequence, size_t length,
                             uint32_t *level)
{
    uint32_t most = 0;
    for (size_t t = 0; t < length; t++) {
        uint32_t at = 0;
        for (size_t s = 0; s < t; s++) {
            const bool bound =
                sequence[s] == sequence[t] || a[sequence[s] * (size_t)n + sequence[t]];
            at = bound && level[s] + 1 > at ? level[s] + 1 : at;
        }
        level[t] = at;
        most = at + 1 > most ? at + 1 : most;
    }
    return most;
}

static void levels_are_those_of_neighbors(void **state)
{
    (void)state;
    draws = 0;
    for (uint32_t round = 0; round < 100; round++) {
        const uint32_t n = 2 + below(30);
        uint32_t pair[10];
        const gbsi_edges extra = {.n = below(6), .pair = pair};
        for (size_t e = 0; e < extra.n; e++) {
            choose(n, 2, pair + 2 * e);
        }
        fixture f;
        random_model(&f, n, below(n), 5, &extra);
        uint8_t *a = adjacency(&f, &extra);
        uint32_t sequence[90];
        uint32_t level[90];
        uint32_t expected[90];
        const size_t length = below(91);
        for (size_t t = 0; t < length; t++) {
            sequence[t] = below(n);
        }
        uint32_t last[30 + 32 + 5];
        memset(last, 0xa5, sizeof last);
        uint32_t n_levels = 0;
        gbsi_graph_schedule_levels(f.graph, sequence, length, last, level, &n_levels);
        assert_int_equal(n_levels, naive_levels(a, n, sequence, length, expected));
        assert_memory_equal(level, expected, length * sizeof *level);
        for (size_t t = 0; t < length; t++) {
            /* the order is kept, and neighbours never share a level */
            for (size_t s = 0; s < t; s++) {
                if (sequence[s] == sequence[t] || a[sequence[s] * n + sequence[t]]) {
                    assert_true(level[s] < level[t]);
                }
            }
        }
        free(a);
        clear(&f);
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

static void failing_requests(void **state)
{
    (void)state;
    fixture f;
    draws = 0;
    random_model(&f, 100, 40, 90, NULL);
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t allowed = 0; status != GBS_OK; allowed++) {
        gbsi_graph *graph = NULL;
        gbs_error err = {GBS_OK, ""};
        gbsi_alloc_fail_after(allowed);
        status = gbsi_graph_new(f.conditioned, NULL, &graph, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (graph == NULL && err.status == GBS_ERR_MEMORY));
        assert_true(allowed < 50);
        gbsi_graph_free(graph);
    }
    for (int what = 0; what < 2; what++) {
        status = GBS_ERR_MEMORY;
        for (uint64_t allowed = 0; status != GBS_OK; allowed++) {
            uint32_t out[100] = {77};
            uint32_t count = 77;
            gbs_error err = {GBS_OK, ""};
            gbsi_alloc_fail_after(allowed);
            status = what == 0 ? gbsi_graph_components(f.graph, out, &count, &err)
                               : gbsi_graph_color(f.graph, NULL, out, &count, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true(status == GBS_OK ||
                        (out[0] == 77 && count == 77 && err.status == GBS_ERR_MEMORY));
            assert_true(allowed < 100);
        }
    }
    clear(&f);
    /* only pairs, for the two-colour search */
    begin(&f, 3);
    add(&f, 2, (uint32_t[]){0, 2});
    end(&f, NULL);
    status = GBS_ERR_MEMORY;
    for (uint64_t allowed = 0; status != GBS_OK; allowed++) {
        uint32_t color[3];
        bool bipartite = false;
        gbsi_alloc_fail_after(allowed);
        status = gbsi_graph_color_two(f.graph, color, &bipartite, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_int_equal(bipartite, status == GBS_OK);
    }
    clear(&f);
}

/* ---- blocks of hard zeros ------------------------------------------------------------------ */

/* @param weight weight of clauses over all pairs of n variables that are at most `apart` numbers
 * apart. */
static bool is_too_dense(uint32_t n, uint32_t apart, double weight, uint32_t width)
{
    fixture f;
    bool too_dense = false;
    begin(&f, n);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i + 1; k < n && k - i <= apart; k++) {
            assert_int_equal(gbs_builder_add_logical(f.builder, GBS_LOGICAL_OR, 2,
                                                     (uint32_t[]){i, k}, (uint32_t[]){1, 0}, weight,
                                                     NULL),
                             GBS_OK);
        }
    }
    end(&f, NULL);
    assert_int_equal(gbsi_hard_too_dense(f.conditioned, width, NULL, &too_dense, NULL), GBS_OK);
    clear(&f);
    return too_dense;
}

/* A band of pairs at most w apart has width w. */
static void dense_blocks_are_found(void **state)
{
    (void)state;
    for (uint32_t w = 1; w < 6; w++) {
        assert_false(is_too_dense(40, w, INFINITY, w));
        assert_true(is_too_dense(w + 1, w, INFINITY, w - 1));
        assert_false(is_too_dense(w + 1, w, 3.0, w - 1)); /* a finite weight gives no zeros */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_blocks_are_found),
        cmocka_unit_test(incidence_skips_single_variables),
        cmocka_unit_test(pairs_are_neighbours),
        cmocka_unit_test(empty_graphs),
        cmocka_unit_test(components_are_the_closure),
        cmocka_unit_test(levels_are_those_of_neighbors),
        cmocka_unit_test(failing_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
