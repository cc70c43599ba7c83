/* SPDX-License-Identifier: Apache-2.0 */
/* Tests layouts of random graphs, and drawings of models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "drawings/layout.h"
#include "drawings/levels.h"
#include "gibbsite/generate.h"
#include "gibbsite/io.h"

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* ---- layouts --------------------------------------------------------------------------------- */

typedef struct graph {
    gbsi_layout layout;
    gbsi_layout_node node[64];
    gbsi_layout_edge edge[256];
} graph;

static void make(graph *g, uint64_t *seed, bool directed)
{
    gbs_error err = {0};
    *g = (graph){.layout = {.directed = directed, .node = g->node, .edge = g->edge}};
    g->layout.n_nodes = 1 + next(seed) % 40;
    for (size_t v = 0; v < g->layout.n_nodes; v++) {
        g->node[v].width = 20.0 + (double)(next(seed) % 150);
        g->node[v].height = 20.0 + (double)(next(seed) % 80);
    }
    const uint64_t density = 1 + next(seed) % 12;
    for (uint32_t v = 0; v < g->layout.n_nodes; v++) {
        for (uint32_t u = 0; u < v; u++) {
            if (next(seed) % (4 * g->layout.n_nodes) < density && g->layout.n_edges < 256) {
                const bool flip = !directed && next(seed) % 2 == 1;
                g->edge[g->layout.n_edges].from = flip ? v : u;
                g->edge[g->layout.n_edges++].to = flip ? u : v;
            }
        }
    }
    assert_int_equal(gbsi_layout_compute(&g->layout, &err), GBS_OK);
}

static double left(const gbsi_layout_node *n)
{
    return n->x - 0.5 * n->width;
}

static double top(const gbsi_layout_node *n)
{
    return n->y - 0.5 * n->height;
}

static void check_nodes(const graph *g)
{
    const gbsi_layout *l = &g->layout;
    for (size_t v = 0; v < l->n_nodes; v++) {
        const gbsi_layout_node *a = &g->node[v];
        assert_true(left(a) > -1e-6 && top(a) > -1e-6);
        assert_true(left(a) + a->width < l->width + 1e-6);
        assert_true(top(a) + a->height < l->height + 1e-6);
        for (size_t u = 0; u < v; u++) {
            const gbsi_layout_node *b = &g->node[u];
            const bool apart = left(a) + a->width < left(b) || left(b) + b->width < left(a) ||
                               top(a) + a->height < top(b) || top(b) + b->height < top(a);
            assert_true(apart);
        }
    }
}

/* Each stretch of an edge inside a layer is vertical, and passes no node; each edge goes down. */
static void check_edges(const graph *g)
{
    const gbsi_layout *l = &g->layout;
    for (size_t e = 0; e < l->n_edges; e++) {
        const gbsi_layout_edge *edge = &g->edge[e];
        const gbsi_layout_node *from = &g->node[edge->from];
        const gbsi_layout_node *to = &g->node[edge->to];
        double y = edge->start;
        assert_true(top(from) + from->height < edge->start + 1e-6);
        assert_true(edge->finish < top(to) + 1e-6);
        for (size_t i = edge->first; i < edge->first + edge->n; i++) {
            const gbsi_bend *bend = &l->bend[i];
            assert_true(i < l->n_bends && y < bend->top && bend->top <= bend->bottom);
            for (size_t v = 0; v < l->n_nodes; v++) {
                const gbsi_layout_node *n = &g->node[v];
                const bool beside = bend->x < left(n) || bend->x > left(n) + n->width ||
                                    bend->bottom < top(n) || bend->top > top(n) + n->height;
                assert_true(beside);
            }
            y = bend->bottom;
        }
        assert_true(y < edge->finish);
    }
}

static void test_nothing_overlaps(void **state)
{
    graph *g = malloc(sizeof *g);
    uint64_t seed = 1;
    (void)state;
    assert_non_null(g);
    for (int trial = 0; trial < 300; trial++) {
        make(g, &seed, trial % 2 == 0);
        check_nodes(g);
        check_edges(g);
        gbsi_free(g->layout.bend);
    }
    free(g);
}

/* A chain that is given out of order is drawn in one column, and a ring has no crossings. */
static void test_small_graphs(void **state)
{
    static const uint32_t chain[][2] = {{3, 1}, {1, 0}, {0, 2}};
    graph g = {.layout = {.directed = true, .n_nodes = 4, .n_edges = 3}};
    gbs_error err = {0};
    (void)state;
    g.layout.node = g.node;
    g.layout.edge = g.edge;
    for (size_t e = 0; e < 3; e++) {
        g.edge[e] = (gbsi_layout_edge){.from = chain[e][0], .to = chain[e][1]};
    }
    for (size_t v = 0; v < 4; v++) {
        g.node[v] = (gbsi_layout_node){.width = 40.0 + 10.0 * (double)v, .height = 20.0};
    }
    assert_int_equal(gbsi_layout_compute(&g.layout, &err), GBS_OK);
    assert_true(g.node[3].y < g.node[1].y && g.node[1].y < g.node[0].y);
    assert_true(g.node[0].y < g.node[2].y);
    for (size_t v = 1; v < 4; v++) {
        assert_true(g.node[v].x - g.node[0].x < 1e-9 && g.node[0].x - g.node[v].x < 1e-9);
    }
    gbsi_free(g.layout.bend);
}

/* ---- order of layers ------------------------------------------------------------------------- */

/* Counts crossings one pair of links after the other. */
static uint64_t crossings_by_pairs(const gbsi_levels *l)
{
    uint64_t n = 0;
    for (uint32_t u = 0; u < l->n; u++) {
        for (uint32_t v = 0; v < l->n; v++) {
            for (uint32_t a = l->begin[1][u]; l->layer[u] == l->layer[v] && a < l->begin[1][u + 1];
                 a++) {
                for (uint32_t b = l->begin[1][v]; b < l->begin[1][v + 1]; b++) {
                    n += l->rank[u] < l->rank[v] && l->rank[l->next[1][a]] > l->rank[l->next[1][b]];
                }
            }
        }
    }
    return n;
}

enum { UPPER = 9, LOWER = 8, ALL = UPPER + LOWER };

/* Crossings are counted right, and an order is never worse than the first one. */
static void test_crossings(void **state)
{
    uint64_t seed = 7;
    gbs_error err = {0};
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        uint32_t layer[ALL];
        uint32_t rank[ALL];
        uint32_t member[ALL];
        uint32_t first[3] = {0, UPPER, ALL};
        uint32_t below[ALL + 1] = {0};
        uint32_t above[ALL + 1] = {0};
        uint32_t down[UPPER * LOWER];
        uint32_t up[UPPER * LOWER];
        uint32_t tree[ALL + 1];
        bool linked[UPPER][LOWER];
        uint32_t n = 0;
        for (uint32_t i = 0; i < ALL; i++) {
            layer[i] = i >= UPPER;
            rank[i] = i < UPPER ? i : i - UPPER;
            member[i] = i;
        }
        for (uint32_t i = 0; i < UPPER; i++) {
            for (uint32_t j = 0; j < LOWER; j++) {
                linked[i][j] = next(&seed) % 4 == 0;
                if (linked[i][j]) {
                    down[n++] = UPPER + j;
                }
            }
            below[i + 1] = n;
        }
        for (uint32_t i = UPPER; i < ALL; i++) {
            below[i + 1] = n;
        }
        n = 0;
        for (uint32_t j = 0; j < LOWER; j++) {
            for (uint32_t i = 0; i < UPPER; i++) {
                if (linked[i][j]) {
                    up[n++] = i;
                }
            }
            above[UPPER + j + 1] = n;
        }
        gbsi_levels l = {.n = ALL,
                         .n_nodes = ALL,
                         .n_layers = 2,
                         .layer = layer,
                         .rank = rank,
                         .member = member,
                         .first = first,
                         .begin = {above, below},
                         .next = {up, down}};
        const uint64_t before = crossings_by_pairs(&l);
        assert_int_equal(gbsi_levels_crossings(&l, tree), before);
        assert_int_equal(gbsi_levels_order(&l, &err), GBS_OK);
        assert_true(crossings_by_pairs(&l) <= before);
        assert_int_equal(gbsi_levels_crossings(&l, tree), crossings_by_pairs(&l));
    }
}

/* ---- drawings of models ---------------------------------------------------------------------- */

static char *drawn(const gbs_model *m, const gbs_drawing *drawing)
{
    gbs_output *output = NULL;
    char *text = NULL;
    size_t n = 0;
    gbs_error err = {0};
    assert_int_equal(gbs_output_open_memory(&output, &err), GBS_OK);
    assert_int_equal(gbs_model_draw(m, drawing, output, &err), GBS_OK);
    assert_int_equal(gbs_output_take(output, &text, &n, &err), GBS_OK);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text++) {
        n++;
    }
    return n;
}

static gbs_model *built(gbs_builder *b)
{
    gbs_model *m = NULL;
    gbs_error err = {0};
    assert_int_equal(gbs_builder_build(b, &m, &err), GBS_OK);
    gbs_builder_free(b);
    return m;
}

/* Two factors over the same pair are one line, a factor of three variables is a square, and a
 * factor of one is not drawn. */
static void test_factors(void **state)
{
    gbs_builder *b = NULL;
    gbs_error err = {0};
    const uint32_t arity[] = {2, 2, 2, 2};
    const double one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    uint32_t id = 0;
    (void)state;
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 4, arity, &id, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_potential(b, 2, (uint32_t[]){0, 1}, 4, one, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_potential(b, 2, (uint32_t[]){1, 0}, 4, one, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_potential(b, 1, (uint32_t[]){2}, 2, one, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_potential(b, 3, (uint32_t[]){1, 2, 3}, 8, one, &err), GBS_OK);
    gbs_model *m = built(b);
    char *text = drawn(m, NULL);
    assert_int_equal(count(text, "class=\"edge\""), 4);
    assert_int_equal(count(text, "class=\"square\""), 1);
    assert_int_equal(count(text, "class=\"box\""), 4);
    assert_int_equal(count(text, "class=\"arrow\""), 0);
    gbs_free(text);
    /* a query draws its variables and their neighbours */
    const uint32_t query = 0;
    double p[8] = {0.25, 0.75, 1, 0, 0.5, 0.5, 0.5, 0.5};
    const gbs_drawing part = {.size = sizeof part, .p = p, .query = &query, .n_query = 1};
    text = drawn(m, &part);
    assert_int_equal(count(text, "class=\"box\""), 2);
    assert_int_equal(count(text, "class=\"bar\""), 2); /* the neighbour was not asked for */
    assert_non_null(strstr(text, ">0.7500<"));
    gbs_free(text);
    gbs_model_free(m);
}

/* Without memory the drawing fails, writes nothing and loses nothing. */
static void test_memory_is_short(void **state)
{
    const gbs_generate_bayes_options options = {
        .variables = 8, .parents = 3, .min_states = 2, .max_states = 3};
    gbs_error err = {0};
    gbs_model *m = NULL;
    (void)state;
    assert_int_equal(gbs_generate_bayes(&options, &m, &err), GBS_OK);
    const uint32_t query[] = {1, 5};
    const gbs_drawing part = {.size = sizeof part, .query = query, .n_query = 2};
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status == GBS_ERR_MEMORY; n++) {
        gbs_output *output = NULL;
        char *text = NULL;
        size_t length = 0;
        assert_int_equal(gbs_output_open_memory(&output, &err), GBS_OK);
        gbsi_alloc_fail_after(n);
        status = gbs_model_draw(m, &part, output, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        if (status == GBS_OK) {
            gbs_output_discard(output);
            assert_true(n > 20);
            break;
        }
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_int_equal(gbs_output_take(output, &text, &length, &err), GBS_OK);
        assert_int_equal(length, 0);
        gbs_free(text);
    }
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_overlaps), cmocka_unit_test(test_small_graphs),
        cmocka_unit_test(test_crossings),        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
