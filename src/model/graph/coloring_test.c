/* SPDX-License-Identifier: Apache-2.0 */
/* Compares colours of random models with an explicit adjacency matrix. */
#include <string.h>

#include "graph/graph.h"
#include "graph/graph_testing.h"

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
        assert_true(i < n); /* every colour is used */
    }
}

/* Checks that each variable in its turn has the lowest colour that no earlier neighbour has. */
static void assert_greedy(const fixture *f, const uint8_t *a, const uint32_t *color, bool largest)
{
    const uint32_t n = f->graph->n_variables;
    uint32_t order[250];
    assert_int_equal(largest ? gbsi_order_largest_first(f->graph, NULL, order, NULL)
                             : gbsi_order_smallest_last(f->graph, NULL, order, NULL),
                     GBS_OK);
    for (uint32_t i = 0; i < n; i++) {
        bool used[250] = {false};
        uint32_t lowest = 0;
        for (uint32_t j = 0; j < i; j++) {
            used[color[order[j]]] |= a[(size_t)order[i] * n + order[j]] != 0;
        }
        while (used[lowest]) {
            lowest++;
        }
        assert_int_equal(color[order[i]], lowest);
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
            gbsi_graph_color_greedy(f.graph, GBSI_LARGEST_FIRST, NULL, first, &n_first, NULL, NULL),
            GBS_OK);
        assert_proper(a, n, first, n_first);
        assert_greedy(&f, a, first, true);
        assert_int_equal(
            gbsi_graph_color_greedy(f.graph, GBSI_SMALLEST_LAST, NULL, last, &n_last, NULL, NULL),
            GBS_OK);
        assert_proper(a, n, last, n_last);
        assert_greedy(&f, a, last, false);
        assert_int_equal(gbsi_graph_color(f.graph, NULL, color, &n_colors, NULL), GBS_OK);
        assert_proper(a, n, color, n_colors);
        assert_int_equal(gbsi_graph_color_two(f.graph, color, &bipartite, NULL), GBS_OK);
        if (!bipartite) {
            assert_int_equal(n_colors, n_last < n_first ? n_last : n_first);
            const uint32_t *better = n_last < n_first ? last : first;
            /* the two-colour function left it unchanged */
            assert_memory_equal(color, better, n * sizeof *color);
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
            assert_int_equal(gbsi_graph_color(f.graph, NULL, color, &n_colors, NULL), GBS_OK);
            assert_proper(a, n, color, n_colors);
            assert_true(n_colors <= 2);
            n_bipartite++;
        } else {
            assert_int_equal(color[0], 0x55555555);
        }
        free(a);
        clear(&f);
    }
    /* graphs with and without a two-colouring occurred */
    assert_true(n_bipartite > 40 && n_bipartite < 160);
}

/* Smallest-last uses at most 1 + the degeneracy of the graph (Matula & Beck). The degeneracy is
 * the largest degree of a removed variable, if a variable of least degree is removed in each
 * step. */
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
                 j++) { /* no pair occurs twice; degrees are therefore numbers of neighbours */
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
        assert_int_equal(gbsi_graph_color_greedy(f.graph, GBSI_SMALLEST_LAST, NULL, color,
                                                 &n_colors, NULL, NULL),
                         GBS_OK);
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
    assert_int_equal(gbsi_order_largest_first(f.graph, NULL, order, NULL), GBS_OK);
    const uint32_t expected[] = {3, 4, 1, 0, 5, 2}; /* degrees 3 3 2 1 1 0 */
    assert_memory_equal(order, expected, sizeof expected);
    clear(&f);
}

/* Tests a scope of 10^4 variables, and short scopes that are long enough for a set and have
 * members with colours beyond its bits. */
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
            scope[69] = n + below(100); /* and one variable from outside */
            add(&f, 70, scope);
        }
        end(&f, NULL);
        free(color);
        color = malloc((n + 100) * sizeof *color);
        assert_non_null(color);
        uint32_t n_colors = 0;
        assert_int_equal(gbsi_graph_color_greedy(f.graph, (gbsi_color_order)order, NULL, color,
                                                 &n_colors, NULL, NULL),
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

/* A scope of N variables, and pairs that prevent most of them from using the first colour. The
 * first word is therefore never full. Without skipping full words, N^2 / 64 words would be read. */
static void one_long_scope_is_linear(void **state)
{
    (void)state;
    enum { N = 40000 };
    fixture f;
    uint32_t *scope = malloc((N + 1) * sizeof *scope);
    assert_non_null(scope);
    begin(&f, N + 1);
    for (uint32_t v = 0; v < N; v++) {
        const uint32_t pair[] = {v, N};
        scope[v] = v;
        if (v > 0) {
            add(&f, 2, pair);
        }
    }
    add(&f, N, scope);
    end(&f, NULL);
    for (int order = GBSI_LARGEST_FIRST; order <= GBSI_SMALLEST_LAST; order++) {
        uint32_t n_colors = 0;
        uint64_t work = 0;
        assert_int_equal(gbsi_graph_color_greedy(f.graph, (gbsi_color_order)order, NULL, scope,
                                                 &n_colors, &work, NULL),
                         GBS_OK);
        assert_int_equal(n_colors, N);
        assert_true(work < UINT64_C(32) * N);
    }
    free(scope);
    clear(&f);
}

/* One scope gives the last variable's neighbours the colours 0..2499. A scope of 65 variables,
 * whose set has bits for only 2112 colours, gives them colour 2500. */
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
    assert_int_equal(
        gbsi_graph_color_greedy(f.graph, GBSI_LARGEST_FIRST, NULL, color, &n_colors, NULL, NULL),
        GBS_OK);
    assert_int_equal(n_colors, 3000);
    for (uint32_t v = 0; v < 3000; v++) {
        assert_int_equal(color[v], v);
    }
    assert_int_equal(color[3063], 2501);
    clear(&f);
}

static bool count_down(void *context)
{
    uint32_t *left = context;
    return (*left)-- == 0;
}

/* Long scopes that share most of their variables take N^2 M operations. A watch changes no
 * colour, waits at most for the work of one variable, and can end the work at any of its looks. */
static void interleaved_scopes_are_watched(void **state)
{
    (void)state;
    enum { N = 1200, M = 300, LENGTH = 400 };
    fixture f;
    uint32_t color[N];
    uint32_t watched[N];
    uint32_t n_colors = 0;
    uint32_t left = UINT32_MAX;
    begin(&f, N);
    for (uint32_t m = 0; m < M; m++) {
        uint32_t scope[LENGTH];
        for (uint32_t i = 0; i < LENGTH; i++) { /* every third variable, with a random start */
            scope[i] = (m + 3 * i) % N;
        }
        add(&f, LENGTH, scope);
    }
    for (uint32_t v = 0; v + 500 < N; v++) {
        add(&f, 2, (uint32_t[]){v, v + 500});
    }
    end(&f, NULL);
    gbsi_watch watch = {.look = count_down, .context = &left};
    assert_int_equal(gbsi_graph_color(f.graph, NULL, color, &n_colors, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_color(f.graph, &watch, watched, &n_colors, NULL), GBS_OK);
    assert_memory_equal(color, watched, sizeof color);
    const uint64_t n_looks = watch.n_looks;
    assert_true(n_looks > 10);
    assert_true(watch.longest < GBSI_WATCH_EVERY + UINT64_C(64) * LENGTH * M);
    for (uint32_t n = 0; n < n_looks; n += 1 + (uint32_t)n_looks / 6) {
        gbs_error err = {0};
        watch = (gbsi_watch){.look = count_down, .context = &left};
        left = n;
        assert_int_equal(gbsi_graph_color(f.graph, &watch, color, &n_colors, &err),
                         GBS_ERR_STOPPED);
        assert_string_equal(err.message, "stopped while colouring: there is no result yet");
    }
    clear(&f);
}

/* If a sequence is sorted by colour, the level of every variable is its colour; the chromatic
 * scan relies on this. */
static void levels_by_color_are_colors(void **state)
{
    (void)state;
    draws = 600;
    for (uint32_t trial = 0; trial < 200; trial++) {
        fixture f;
        const uint32_t n = 1 + below(40);
        uint32_t color[40];
        uint32_t sequence[41]; /* one element more than needed */
        uint32_t level[40];
        uint32_t n_colors = 0;
        uint32_t n_levels = 0;
        uint32_t n_placed = 0;
        random_model(&f, n, below(2 * n), trial % 4 == 0 ? 4 : 2, NULL);
        assert_int_equal(gbsi_graph_color(f.graph, NULL, color, &n_colors, NULL), GBS_OK);
        for (uint32_t c = 0; c < n_colors; c++) {
            for (uint32_t v = 0; v < n; v++) {
                sequence[n_placed] = v;
                n_placed += color[v] == c;
            }
        }
        assert_int_equal(n_placed, n);
        uint32_t *last = malloc(gbsi_graph_n_last(f.graph) * sizeof *last);
        assert_non_null(last);
        gbsi_graph_schedule_levels(f.graph, sequence, n, last, level, &n_levels);
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
        cmocka_unit_test(levels_by_color_are_colors),
        cmocka_unit_test(colorings_are_proper),
        cmocka_unit_test(two_colors_are_found_exactly),
        cmocka_unit_test(smallest_last_meets_the_degeneracy),
        cmocka_unit_test(largest_first_order),
        cmocka_unit_test(long_scopes),
        cmocka_unit_test(one_long_scope_is_linear),
        cmocka_unit_test(colors_beyond_the_bits),
        cmocka_unit_test(interleaved_scopes_are_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
