/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that shuffled lattices get a local order, and that random graphs and graphs with a local
 * order do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/graph.h"
#include "rng/philox.h"

#define SIDE 300u
#define N    (SIDE * SIDE)

typedef struct fixture {
    gbs_builder *builder;
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    uint32_t *number; /* [N] by place: number of the variable in the model */
    uint32_t *rank, *order;
} fixture;

static uint32_t draws; /* number of random numbers that the current test has taken */

static uint32_t below(uint32_t n)
{
    return gbsi_word(7, 0, 0, draws++, GBSI_PURPOSE_TEST) % n;
}

static void begin(fixture *f, bool shuffled)
{
    *f = (fixture){.number = malloc(N * sizeof(uint32_t)),
                   .rank = malloc(N * sizeof(uint32_t)),
                   .order = malloc(N * sizeof(uint32_t))};
    assert_true(f->number != NULL && f->rank != NULL && f->order != NULL);
    assert_int_equal(gbs_builder_new(&f->builder, NULL), GBS_OK);
    const uint32_t two = 2;
    for (uint32_t v = 0; v < N; v++) {
        assert_int_equal(gbs_builder_add_variables(f->builder, 1, &two, NULL, NULL), GBS_OK);
        f->number[v] = v;
    }
    for (uint32_t v = 0; shuffled && v + 1 < N; v++) {
        const uint32_t other = v + below(N - v);
        const uint32_t moved = f->number[v];
        f->number[v] = f->number[other];
        f->number[other] = moved;
    }
}

/* Adds a factor over places. */
static void join(fixture *f, uint32_t n, const uint32_t *place)
{
    uint32_t scope[4];
    for (uint32_t i = 0; i < n; i++) {
        scope[i] = f->number[place[i]];
    }
    assert_int_equal(gbs_builder_add_spin(f->builder, n, scope, 0.5, NULL), GBS_OK);
}

/* @return whether an order was found. */
static bool end(fixture *f)
{
    bool found = false;
    assert_int_equal(gbs_builder_build(f->builder, &f->model, NULL), GBS_OK);
    assert_int_equal(gbsi_condition(f->model, NULL, &f->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, NULL, &f->graph, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_local_order(f->graph, f->rank, f->order, &found, NULL), GBS_OK);
    return found;
}

static void clear(fixture *f)
{
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
    gbs_builder_free(f->builder);
    free(f->number);
    free(f->rank);
    free(f->order);
}

/* Checks that the order has every variable once. Sets `rank` to the places of the order. */
static void assert_permutation(fixture *f)
{
    for (uint32_t v = 0; v < N; v++) {
        f->rank[v] = GBSI_NONE;
    }
    for (uint32_t at = 0; at < N; at++) {
        assert_true(f->order[at] < N && f->rank[f->order[at]] == GBSI_NONE);
        f->rank[f->order[at]] = at;
    }
}

/* Returns the largest distance in the order between two variables of a scope. */
static uint32_t bandwidth(const fixture *f)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < N; v++) {
        const size_t last = gbsi_graph_ends(f->graph, v + (size_t)1);
        for (size_t i = gbsi_graph_ends(f->graph, v); i < last; i++) {
            const gbsi_members members = gbsi_graph_members(f->graph, i);
            for (size_t e = 0; e < members.n; e++) {
                const uint32_t a = f->rank[v];
                const uint32_t b = f->rank[members.variable[e]];
                most = (a > b ? a - b : b - a) > most ? (a > b ? a - b : b - a) : most;
            }
        }
    }
    return most;
}

static void add_grid(fixture *f)
{
    for (uint32_t r = 0; r < SIDE; r++) {
        for (uint32_t c = 0; c < SIDE; c++) {
            const uint32_t v = r * SIDE + c;
            if (c + 1 < SIDE) {
                join(f, 2, (uint32_t[]){v, v + 1});
            }
            if (r + 1 < SIDE) {
                join(f, 2, (uint32_t[]){v, v + SIDE});
            }
        }
    }
}

static void shuffled_grid(void **unused)
{
    (void)unused;
    fixture f;
    draws = 0;
    begin(&f, true);
    add_grid(&f);
    assert_true(end(&f));
    assert_permutation(&f);
    /* from a corner the front is a diagonal: a variable and its last neighbour are at most two
     * diagonals apart */
    assert_true(bandwidth(&f) <= 2 * SIDE);
    clear(&f);
}

/* Scopes of three and four variables, in two components. */
static void shuffled_strips(void **unused)
{
    (void)unused;
    fixture f;
    draws = 0;
    begin(&f, true);
    for (uint32_t v = 0; v + 3 < N; v += 2) {
        if (v != N / 2) {
            join(&f, 3 + v / 2 % 2, (uint32_t[]){v, v + 1, v + 2, v + 3});
        }
    }
    assert_true(end(&f));
    assert_permutation(&f);
    assert_true(bandwidth(&f) <= 16);
    clear(&f);
}

static void ordered_grid_stays(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, false);
    add_grid(&f);
    assert_false(end(&f));
    clear(&f);
}

/* A ring with as many chords as variables: the visited variables have neighbours everywhere. */
static void random_graph_stays(void **unused)
{
    (void)unused;
    fixture f;
    draws = 0;
    begin(&f, true);
    for (uint32_t v = 0; v < N; v++) {
        const uint32_t chord = below(N);
        join(&f, 2, (uint32_t[]){v, (v + 1) % N});
        if (chord != v) {
            join(&f, 2, (uint32_t[]){v, chord});
        }
    }
    assert_false(end(&f));
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffled_grid),
        cmocka_unit_test(shuffled_strips),
        cmocka_unit_test(ordered_grid_stays),
        cmocka_unit_test(random_graph_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
