/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of random models against an explicit adjacency matrix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/color_order.h"
#include "graph/graph.h"
#include "rng/philox.h"

/* ---- models ------------------------------------------------------------------------------ */

typedef struct fixture {
    gbs_builder *builder;
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
} fixture;

static uint32_t draws; /* of the test at hand */

static uint32_t below(uint32_t n)
{
    return gbsi_word(7, 0, 0, draws++, GBSI_PURPOSE_TEST) % n;
}

static void begin(fixture *f, uint32_t n)
{
    *f = (fixture){0};
    assert_int_equal(gbs_builder_new(&f->builder, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t two = 2;
        assert_int_equal(gbs_builder_add_variables(f->builder, 1, &two, NULL, NULL), GBS_OK);
    }
}

/* A product of spins over the scope: any number of variables, no table. */
static void add(fixture *f, uint32_t n, const uint32_t *scope)
{
    assert_int_equal(gbs_builder_add_spin(f->builder, n, scope, 0.5, NULL), GBS_OK);
}

static void end(fixture *f, const gbsi_edges *extra)
{
    assert_int_equal(gbs_builder_build(f->builder, &f->model, NULL), GBS_OK);
    assert_int_equal(gbsi_condition(f->model, NULL, &f->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, extra, &f->graph, NULL), GBS_OK);
}

static void clear(fixture *f)
{
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
    gbs_builder_free(f->builder);
}

/* m distinct variables below n: the start of a shuffle. */
static void choose(uint32_t n, uint32_t m, uint32_t *scope)
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

static void random_model(fixture *f, uint32_t n, uint32_t n_factors, uint32_t most,
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

/* Straight from the factors. @return [n * n], to be freed. */
static uint8_t *adjacency(const fixture *f, const gbsi_edges *extra)
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

/* Pairs say no more than who the other is, in the order of the scopes. */
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
    add(&f, 2, (uint32_t[]){0, 3}); /* parallel to the first */
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
        assert_int_equal(gbsi_graph_color(f.graph, color, &count, NULL), GBS_OK);
        assert_int_equal(count, n);
        for (int order = GBSI_LARGEST_FIRST; order <= GBSI_SMALLEST_LAST; order++) {
            assert_int_equal(
                gbsi_graph_color_greedy(f.graph, (gbsi_color_order)order, color, &count, NULL),
                GBS_OK);
            assert_int_equal(count, n);
        }
        gbsi_graph_levels(f.graph, NULL, 0, last, level, &count);
        assert_int_equal(count, 0);
        if (n == 1) {
            assert_int_equal(component[0], 0);
            assert_int_equal(color[0], 0);
            const uint32_t twice[] = {0, 0};
            gbsi_graph_levels(f.graph, twice, 2, last, level, &count);
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

/* ---- colours ----------------------------------------------------------------------------- */

static void assert_proper(const uint8_t *a, size_t n, const uint32_t *color, uint32_t n_colors)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(color[i] < n_colors);
        for (size_t j = 0; j < i; j++) {
            assert_true(!a[i * n + j] || color[i] != color[j]);
        }
    }
    for (uint32_t c = 0; c < n_colors; c++) {
        size_t i = 0;
        while (i < n && color[i] != c) {
            i++;
        }
        assert_true(i < n); /* every colour is in use */
    }
}

static void colorings_are_proper(void **state)
{
    (void)state;
    draws = 0;
    for (uint32_t round = 0; round < 60; round++) {
        /* The last rounds have scopes that keep a set of colours. */
        const uint32_t n = round < 40 ? 1 + below(40) : 150 + below(100);
        fixture f;
        random_model(&f, n, below(2 * n), round < 40 ? 6 : 140, NULL);
        uint8_t *a = adjacency(&f, NULL);
        uint32_t color[250];
        uint32_t first[250];
        uint32_t last[250];
        uint32_t n_colors = 0;
        uint32_t n_first = 0;
        uint32_t n_last = 0;
        bool bipartite = false;
        assert_int_equal(
            gbsi_graph_color_greedy(f.graph, GBSI_LARGEST_FIRST, first, &n_first, NULL), GBS_OK);
        assert_proper(a, n, first, n_first);
        assert_int_equal(gbsi_graph_color_greedy(f.graph, GBSI_SMALLEST_LAST, last, &n_last, NULL),
                         GBS_OK);
        assert_proper(a, n, last, n_last);
        assert_int_equal(gbsi_graph_color(f.graph, color, &n_colors, NULL), GBS_OK);
        assert_proper(a, n, color, n_colors);
        assert_int_equal(gbsi_graph_color_two(f.graph, color, &bipartite, NULL), GBS_OK);
        if (!bipartite) {
            assert_int_equal(n_colors, n_last < n_first ? n_last : n_first);
            const uint32_t *better = n_last < n_first ? last : first;
            assert_memory_equal(color, better, n * sizeof *color); /* two left it alone */
        }
        free(a);
        clear(&f);
    }
}

static bool two_colors_by_trial(const uint8_t *a, uint32_t n)
{
    for (uint32_t set = 0; set < UINT32_C(1) << n; set++) {
        bool proper = true;
        for (uint32_t i = 0; i < n && proper; i++) {
            for (uint32_t j = 0; j < i && proper; j++) {
                proper = !a[i * n + j] || ((set >> i) & 1) != ((set >> j) & 1);
            }
        }
        if (proper) {
            return true;
        }
    }
    return false;
}

static void two_colors_are_found_exactly(void **state)
{
    (void)state;
    draws = 0;
    uint32_t n_bipartite = 0;
    for (uint32_t round = 0; round < 200; round++) {
        const uint32_t n = 1 + below(9);
        fixture f;
        random_model(&f, n, below(3 * n), below(12) == 0 ? 3 : 2, NULL);
        uint8_t *a = adjacency(&f, NULL);
        uint32_t color[9];
        memset(color, 0x55, sizeof color);
        uint32_t n_colors = 0;
        bool bipartite = false;
        assert_int_equal(gbsi_graph_color_two(f.graph, color, &bipartite, NULL), GBS_OK);
        assert_int_equal(bipartite, two_colors_by_trial(a, n));
        if (bipartite) {
            assert_int_equal(gbsi_graph_color(f.graph, color, &n_colors, NULL), GBS_OK);
            assert_proper(a, n, color, n_colors);
            assert_true(n_colors <= 2);
            n_bipartite++;
        } else {
            assert_int_equal(color[0], 0x55555555);
        }
        free(a);
        clear(&f);
    }
    assert_true(n_bipartite > 40 && n_bipartite < 160); /* both answers were tried */
}

/* Smallest-last uses at most 1 + the degeneracy (Matula & Beck): the largest, over the steps of
 * taking a variable of least degree away, of that degree. */
static void smallest_last_meets_the_degeneracy(void **state)
{
    (void)state;
    draws = 0;
    for (uint32_t round = 0; round < 60; round++) {
        const uint32_t n = 2 + below(30);
        fixture f;
        begin(&f, n);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < i;
                 j++) { /* no pair twice: degrees are numbers of neighbours */
                if (below(4) == 0) {
                    add(&f, 2, (uint32_t[]){i, j});
                }
            }
        }
        end(&f, NULL);
        uint8_t *a = adjacency(&f, NULL);
        bool gone[32] = {false};
        uint32_t degeneracy = 0;
        for (uint32_t step = 0; step < n; step++) {
            uint32_t best = UINT32_MAX;
            uint32_t who = 0;
            for (uint32_t i = 0; i < n; i++) {
                uint32_t degree = 0;
                for (uint32_t j = 0; j < n; j++) {
                    degree += a[i * n + j] && !gone[j];
                }
                if (!gone[i] && degree < best) {
                    best = degree;
                    who = i;
                }
            }
            gone[who] = true;
            degeneracy = best > degeneracy ? best : degeneracy;
        }
        uint32_t color[32];
        uint32_t n_colors = 0;
        assert_int_equal(
            gbsi_graph_color_greedy(f.graph, GBSI_SMALLEST_LAST, color, &n_colors, NULL), GBS_OK);
        assert_true(n_colors <= degeneracy + 1);
        free(a);
        clear(&f);
    }
}

static void largest_first_order(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 6);
    add(&f, 2, (uint32_t[]){5, 3});
    add(&f, 3, (uint32_t[]){1, 3, 4});
    add(&f, 2, (uint32_t[]){4, 0});
    end(&f, NULL);
    uint32_t order[6];
    assert_int_equal(gbsi_order_largest_first(f.graph, order, NULL), GBS_OK);
    const uint32_t expected[] = {3, 4, 1, 0, 5, 2}; /* degrees 3 3 2 1 1 0 */
    assert_memory_equal(order, expected, sizeof expected);
    clear(&f);
}

/* A scope of 10^4 variables, and short ones long enough for a set whose members have colours
 * beyond its bits. */
static void long_scopes(void **state)
{
    (void)state;
    draws = 0;
    const uint32_t n = 10000;
    fixture f;
    uint32_t *scope = malloc(n * sizeof *scope);
    uint32_t *color = malloc(n * sizeof *color);
    assert_non_null(scope);
    assert_non_null(color);
    for (int order = GBSI_LARGEST_FIRST; order <= GBSI_SMALLEST_LAST; order++) {
        begin(&f, n + 100);
        for (uint32_t v = 0; v < n; v++) {
            scope[v] = v;
        }
        add(&f, n, scope);
        for (uint32_t i = 0; i < 30; i++) {
            choose(n, 69, scope);
            scope[69] = n + below(100); /* and one from outside */
            add(&f, 70, scope);
        }
        end(&f, NULL);
        free(color);
        color = malloc((n + 100) * sizeof *color);
        assert_non_null(color);
        uint32_t n_colors = 0;
        assert_int_equal(
            gbsi_graph_color_greedy(f.graph, (gbsi_color_order)order, color, &n_colors, NULL),
            GBS_OK);
        assert_int_equal(n_colors, n);
        for (size_t s = 0; s < f.graph->n_scopes; s++) {
            uint8_t *used = calloc(n, 1);
            assert_non_null(used);
            for (size_t i = f.graph->scope_start[s]; i < f.graph->scope_start[s + 1]; i++) {
                assert_false(used[color[f.graph->scope[i]]]);
                used[color[f.graph->scope[i]]] = 1;
            }
            free(used);
        }
        clear(&f);
    }
    free(scope);
    free(color);
}

/* The last variable's neighbours have colours 0..2499 by one scope; 2500 by a scope of 65, whose
 * set has bits for 2112 colours only. */
static void colors_beyond_the_bits(void **state)
{
    (void)state;
    uint32_t scope[3000];
    for (uint32_t v = 0; v < 3000; v++) {
        scope[v] = v;
    }
    fixture f;
    begin(&f, 3064);
    add(&f, 3000, scope);
    scope[2500] = 3063;
    add(&f, 2501, scope);
    scope[0] = 2500;
    for (uint32_t i = 1; i < 65; i++) {
        scope[i] = 2999 + i;
    }
    add(&f, 65, scope);
    end(&f, NULL);
    uint32_t color[3064];
    uint32_t n_colors = 0;
    assert_int_equal(gbsi_graph_color_greedy(f.graph, GBSI_LARGEST_FIRST, color, &n_colors, NULL),
                     GBS_OK);
    assert_int_equal(n_colors, 3000);
    for (uint32_t v = 0; v < 3000; v++) {
        assert_int_equal(color[v], v);
    }
    assert_int_equal(color[3063], 2501);
    clear(&f);
}

/* ---- levels ------------------------------------------------------------------------------ */

/* From explicit neighbours: one more than the latest level of the variable and its neighbours. */
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
        gbsi_graph_levels(f.graph, sequence, length, last, level, &n_levels);
        assert_int_equal(n_levels, naive_levels(a, n, sequence, length, expected));
        assert_memory_equal(level, expected, length * sizeof *level);
        for (size_t t = 0; t < length; t++) {
            for (size_t s = 0; s < t; s++) { /* order kept, and nobody beside a neighbour */
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
                               : gbsi_graph_color(f.graph, out, &count, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true(status == GBS_OK ||
                        (out[0] == 77 && count == 77 && err.status == GBS_ERR_MEMORY));
            assert_true(allowed < 100);
        }
    }
    clear(&f);
    /* Pairs only, for the two-colour search. */
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

/* Sorted by colour, every variable's level is its colour: the chromatic scan counts on it. */
static void levels_by_color_are_colors(void **state)
{
    (void)state;
    draws = 600;
    for (uint32_t trial = 0; trial < 200; trial++) {
        fixture f;
        const uint32_t n = 1 + below(40);
        uint32_t color[40];
        uint32_t sequence[41]; /* one is written too many */
        uint32_t level[40];
        uint32_t n_colors = 0;
        uint32_t n_levels = 0;
        uint32_t n_placed = 0;
        random_model(&f, n, below(2 * n), trial % 4 == 0 ? 4 : 2, NULL);
        assert_int_equal(gbsi_graph_color(f.graph, color, &n_colors, NULL), GBS_OK);
        for (uint32_t c = 0; c < n_colors; c++) {
            for (uint32_t v = 0; v < n; v++) {
                sequence[n_placed] = v;
                n_placed += color[v] == c;
            }
        }
        assert_int_equal(n_placed, n);
        uint32_t *last = malloc(gbsi_graph_n_last(f.graph) * sizeof *last);
        assert_non_null(last);
        gbsi_graph_levels(f.graph, sequence, n, last, level, &n_levels);
        assert_int_equal(n_levels, n_colors);
        for (uint32_t t = 0; t < n; t++) {
            assert_int_equal(level[t], color[sequence[t]]);
        }
        free(last);
        clear(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incidence_skips_single_variables),
        cmocka_unit_test(pairs_are_neighbours),
        cmocka_unit_test(levels_by_color_are_colors),
        cmocka_unit_test(empty_graphs),
        cmocka_unit_test(components_are_the_closure),
        cmocka_unit_test(colorings_are_proper),
        cmocka_unit_test(two_colors_are_found_exactly),
        cmocka_unit_test(smallest_last_meets_the_degeneracy),
        cmocka_unit_test(largest_first_order),
        cmocka_unit_test(long_scopes),
        cmocka_unit_test(colors_beyond_the_bits),
        cmocka_unit_test(levels_are_those_of_neighbors),
        cmocka_unit_test(failing_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
