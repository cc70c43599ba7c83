/* SPDX-License-Identifier: Apache-2.0 */
/* Random regular graphs.
 *
 * Every variable has `degree` half-edges, and a uniform permutation pairs them (Bollobas 1980,
 * European J. Combin. 1:311-316). If the resulting graph has no loop and no repeated edge, it is
 * uniformly distributed among simple graphs. Otherwise switches (u, v), (x, y) -> (u, x), (v, y)
 * with random partners remove loops and repeated edges (McKay & Wormald 1990, J. Algorithms
 * 11:52-67).
 *
 * After this repair, random switches that keep the graph simple are made. Their stationary
 * distribution is uniform (Cooper, Dyer & Greenhill 2007, Combin. Probab. Comput. 16:557-593).
 * These further switches matter for small graphs, which need many repairs for their size; on small
 * graphs switches are also cheap. A graph whose degree exceeds half the number of variables is made
 * as the complement of a graph with a smaller degree. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "generate/generators.h"

#define MOST_SWITCHES     65536u /* largest number of switches after the repair */
#define SWITCHES_PER_EDGE 32u    /* number of switches after the repair per edge of a small graph */

typedef struct edge {
    uint32_t a, b;
} edge;

/* ---- the set of edges ---------------------------------------------------------------------- */

/* Hash table with open addressing and linear probing, at most 2/3 full. */
typedef struct edge_set {
    uint64_t *key; /* [mask + 1] keys of edges; 0 if the place is empty */
    size_t mask;
    unsigned shift;
} edge_set;

/* The key of an edge is never 0, because an edge of the set joins two different vertices. */
static uint64_t key_of(edge e)
{
    return e.a < e.b ? (uint64_t)e.a << 32 | e.b : (uint64_t)e.b << 32 | e.a;
}

static size_t home_of(const edge_set *set, uint64_t key)
{
    /* 2^64 divided by the golden ratio */
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> set->shift);
}

static bool has(const edge_set *set, edge e)
{
    const uint64_t key = key_of(e);
    size_t i = home_of(set, key);
    while (set->key[i] != 0 && set->key[i] != key) {
        i = (i + 1) & set->mask;
    }
    return set->key[i] == key;
}

static void insert(edge_set *set, edge e)
{
    const uint64_t key = key_of(e);
    size_t i = home_of(set, key);
    while (set->key[i] != 0) {
        i = (i + 1) & set->mask;
    }
    set->key[i] = key;
}

/* Deletes a key, which leaves a hole. A later key moves into the hole unless the hole lies before
 * the hash place of this key. */
static void erase(edge_set *set, edge e)
{
    const uint64_t key = key_of(e);
    size_t hole = home_of(set, key);
    while (set->key[hole] != key) {
        hole = (hole + 1) & set->mask;
    }
    for (size_t i = (hole + 1) & set->mask; set->key[i] != 0; i = (i + 1) & set->mask) {
        const size_t home = home_of(set, set->key[i]);
        if (((i - home) & set->mask) >= ((i - hole) & set->mask)) {
            set->key[hole] = set->key[i];
            hole = i;
        }
    }
    set->key[hole] = 0;
}

/* ---- the graph ----------------------------------------------------------------------------- */

typedef struct graph {
    uint64_t seed;
    uint32_t n, degree;
    size_t m;
    edge *e;      /* [m] edges */
    uint8_t *bad; /* [m] 1 if the edge is bad: a loop, or a copy of another edge; bad edges are not
                     in the set */
    edge_set set;
    size_t *bad_list;
    size_t n_bad, bad_capacity;
    uint64_t n_switches; /* number of switches tried so far; the index of the next random draw */
} graph;

static gbs_status take_graph(graph *g, gbs_error *err)
{
    size_t capacity = 4;
    unsigned bits = 2;
    while (capacity < g->m + g->m / 2 + 2) {
        capacity *= 2;
        ++bits;
    }
    g->e = gbsi_alloc_array(g->m, sizeof *g->e);
    g->bad = gbsi_alloc_array_zero(g->m, 1);
    g->set = (edge_set){.key = gbsi_alloc_array_zero(capacity, sizeof *g->set.key),
                        .mask = capacity - 1,
                        .shift = 64 - bits};
    return g->e == NULL || g->bad == NULL || g->set.key == NULL
               ? gbsi_no_memory(err, "graph", g->m * sizeof *g->e + capacity * 8)
               : GBS_OK;
}

static void free_graph(graph *g)
{
    GBSI_FREE(g->e, g->bad, g->set.key, g->bad_list);
}

/* Pairs the half-edges: shuffles them (Fisher & Yates) and joins each two consecutive half-edges.
 */
static void pair_up(graph *g)
{
    edge *e = g->e;
    for (size_t h = 0; h < 2 * g->m; ++h) {
        const uint32_t v = (uint32_t)(h / g->degree);
        if (h % 2 == 0) {
            e[h / 2].a = v;
        } else {
            e[h / 2].b = v;
        }
    }
    for (size_t h = 2 * g->m; h-- > 1;) {
        double u[2];
        gbsi_generate_uniforms(g->seed, GBSI_STREAM_PAIRING, h, u);
        const size_t other = (size_t)(u[0] * (double)(h + 1));
        uint32_t *x = h % 2 == 0 ? &e[h / 2].a : &e[h / 2].b;
        uint32_t *y = other % 2 == 0 ? &e[other / 2].a : &e[other / 2].b;
        const uint32_t keep = *x;
        *x = *y;
        *y = keep;
    }
}

static bool is_new(const graph *g, edge e)
{
    return e.a != e.b && !has(&g->set, e);
}

static gbs_status find_bad(graph *g, gbs_error *err)
{
    for (size_t k = 0; k < g->m; ++k) {
        if (is_new(g, g->e[k])) {
            insert(&g->set, g->e[k]);
            continue;
        }
        void *list = g->bad_list;
        GBSI_PASS(
            gbsi_reserve(&list, &g->bad_capacity, g->n_bad + 1, sizeof *g->bad_list, "graph", err));
        g->bad_list = list;
        g->bad_list[g->n_bad++] = k;
        g->bad[k] = 1;
    }
    return GBS_OK;
}

static void place_edge(graph *g, size_t k, edge e, bool good)
{
    g->e[k] = e;
    g->bad[k] = !good;
    if (good) {
        insert(&g->set, e);
    }
}

/* Switches edge k = (u, v) with a random edge if the switch increases the number of good edges.
 * With `keep`, switches only if both new edges are good. */
static void try_switch(graph *g, size_t k, bool keep)
{
    double random[2];
    gbsi_generate_uniforms(g->seed, GBSI_STREAM_SWITCH, g->n_switches++, random);
    const size_t half = (size_t)(random[0] * (double)(2 * g->m));
    const size_t j = half / 2;
    if (j == k) {
        return;
    }
    const edge old = g->e[k];
    const edge partner = g->e[j];
    const edge one = {old.a, half % 2 == 0 ? partner.a : partner.b};
    const edge two = {old.b, half % 2 == 0 ? partner.b : partner.a};
    const bool one_good = is_new(g, one);
    const bool two_good = is_new(g, two) && !(one_good && key_of(one) == key_of(two));
    const int before = !g->bad[k] + !g->bad[j];
    if (keep ? !(one_good && two_good) : one_good + two_good <= before) {
        return;
    }
    if (!g->bad[k]) {
        erase(&g->set, old);
    }
    if (!g->bad[j]) {
        erase(&g->set, partner);
    }
    place_edge(g, k, one, one_good);
    place_edge(g, j, two, two_good);
}

/* Repairs all bad edges. The loop ends with probability 1 if 2 degree < n. For a bad edge (u, v)
 * there is then an edge (x, y) such that x is neither u nor a neighbour of u, and y is neither v
 * nor a neighbour of v. A switch with (x, y) increases the number of good edges. */
static void repair(graph *g)
{
    for (size_t i = 0; i < g->n_bad; ++i) {
        const size_t k = g->bad_list[i];
        while (g->bad[k]) {
            if (is_new(
                    g,
                    g->e[k])) { /* edge k is no longer a copy, because the other edge was removed */
                place_edge(g, k, g->e[k], true);
            } else {
                try_switch(g, k, false);
            }
        }
    }
}

static void mix(graph *g)
{
    const uint64_t n =
        g->m < MOST_SWITCHES / SWITCHES_PER_EDGE ? g->m * SWITCHES_PER_EDGE : MOST_SWITCHES;
    for (uint64_t i = 0; i < n; ++i) {
        double u[2];
        gbsi_generate_uniforms(g->seed, GBSI_STREAM_SWITCH, g->n_switches++, u);
        try_switch(g, (size_t)(u[0] * (double)g->m), true);
    }
}

/* ---- sorting ------------------------------------------------------------------------------- */

/* Sorts edges by one of their two ends, with a stable counting sort. @param start [n + 1] scratch.
 */
static void sort_by_end(const edge *from, edge *to, size_t m, uint32_t n, bool larger,
                        size_t *start)
{
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (size_t k = 0; k < m; ++k) {
        ++start[(larger ? from[k].b : from[k].a) + (size_t)1];
    }
    for (size_t v = 0; v < n; ++v) {
        start[v + 1] += start[v];
    }
    for (size_t k = 0; k < m; ++k) {
        to[start[larger ? from[k].b : from[k].a]++] = from[k];
    }
}

/* Sorts the edges by their lower end, then by their higher end; each edge is stored with its
 * lower end first. */
static gbs_status sort_edges(graph *g, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t *start = NULL;
    edge *other = NULL;
    gbsi_free(g->set.key); /* the set is no longer needed */
    g->set.key = NULL;
    start = gbsi_alloc_array((size_t)g->n + 1, sizeof *start);
    other = gbsi_alloc_array(g->m, sizeof *other);
    GBSI_TRY(GBSI_HAVE(err, "graph", start, other));
    for (size_t k = 0; k < g->m; ++k) {
        const uint64_t key = key_of(g->e[k]);
        g->e[k] = (edge){(uint32_t)(key >> 32), (uint32_t)key};
    }
    sort_by_end(g->e, other, g->m, g->n, true, start);
    sort_by_end(other, g->e, g->m, g->n, false, start);

cleanup:
    GBSI_FREE(start, other);
    return status;
}

static gbs_status make_graph(graph *g, gbs_error *err)
{
    GBSI_PASS(take_graph(g, err));
    if (g->m > 0) {
        pair_up(g);
        GBSI_PASS(find_bad(g, err));
        repair(g);
        mix(g);
    }
    return sort_edges(g, err);
}

/* ---- the model ----------------------------------------------------------------------------- */

/* Adds a coupling for every pair of variables that is not an edge. */
static gbs_status couple_complement(const graph *g, const gbsi_generate_spins *spins,
                                    gbs_builder *builder, gbs_error *err)
{
    uint64_t n_coupled = 0;
    size_t k = 0;
    for (uint32_t u = 0; u < g->n; ++u) {
        for (uint32_t v = u + 1; v < g->n; ++v) {
            if (k < g->m && g->e[k].a == u && g->e[k].b == v) {
                ++k;
                continue;
            }
            GBSI_PASS(gbsi_generate_couple(spins, builder, n_coupled++, u, v, err));
        }
    }
    return GBS_OK;
}

static gbs_status couple_edges(const graph *g, const gbsi_generate_spins *spins,
                               gbs_builder *builder, gbs_error *err)
{
    for (size_t k = 0; k < g->m; ++k) {
        GBSI_PASS(gbsi_generate_couple(spins, builder, k, g->e[k].a, g->e[k].b, err));
    }
    return GBS_OK;
}

static gbs_status measure_regular(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                                  gbs_error *err)
{
    const uint32_t n = spins->size[0];
    const uint32_t degree = spins->size[1];
    (void)snprintf(size->what, sizeof size->what, "graph of %u variables of degree %u", (unsigned)n,
                   (unsigned)degree);
    const uint64_t n_ends = (uint64_t)n * degree;
    if (degree >= n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: expected 1 variable or more and a degree below their number",
                         size->what);
    }
    if (n_ends % 2 != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: one of the two numbers must be even",
                         size->what);
    }
    size->n_variables = n;
    size->n_couplings = n_ends / 2;
    return GBS_OK;
}

static gbs_status couple_regular(const gbsi_generate_spins *spins, gbs_builder *builder,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = spins->size[0];
    const bool complement = spins->size[1] > (n - 1) / 2;
    graph g = {.seed = spins->seed, .n = n};
    g.degree = complement ? n - 1 - spins->size[1] : spins->size[1];
    g.m = (size_t)n * g.degree / 2;
    GBSI_TRY(make_graph(&g, err));
    status = complement ? couple_complement(&g, spins, builder, err)
                        : couple_edges(&g, spins, builder, err);

cleanup:
    free_graph(&g);
    return status;
}

gbs_status gbs_generate_regular(const gbs_generate_regular_options *options, gbs_model **model,
                                gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_regular_options);
    GBSI_NEED(model);
    static const gbsi_generate_graph regular = {measure_regular, couple_regular};
    return gbsi_generate_on(
        &regular, GBSI_SPINS(options, .size = {options->variables, options->degree}), model, err);
}
