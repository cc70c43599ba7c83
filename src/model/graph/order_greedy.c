/* SPDX-License-Identifier: Apache-2.0 */
/* Elimination of a small graph by minimum fill with noise.
 *
 * The fill of a vertex is the total weight of the missing edges between its neighbours, and is
 * always exact. Let N(v) be the neighbours of v, and w(v) its weight. Removing v changes the
 * fill of each a in N(v):
 *
 *     fill(a) -= w(v) * (sum of w(c), c in N(a) but not in N(v))
 *
 * and for each edge {a, b} that is added:
 *
 *     fill(c) -= w(a) w(b)                                           for c in N(a) and N(b)
 *     fill(a) += w(b) * (sum of w(c), c in N(a) but not in N(b))     and the same for b
 *
 * All numbers are sums of integers below 2^53, which doubles represent exactly. */
#include <assert.h>
#include <string.h>

#include "graph/order_search_inside.h"

static bool has(const uint64_t *set, uint32_t v)
{
    return (set[v / 64] >> v % 64 & 1u) != 0;
}

static void put(uint64_t *set, uint32_t v)
{
    set[v / 64] |= UINT64_C(1) << v % 64;
}

static void take(uint64_t *set, uint32_t v)
{
    set[v / 64] &= ~(UINT64_C(1) << v % 64);
}

/* Returns the vertex of the lowest bit of word w of a set. */
static uint32_t lowest(uint64_t bits, uint32_t w)
{
    return w * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* Returns the number of 1 bits of a word; this portable code is faster than a call into the
 * compiler's library. */
static uint64_t count(uint64_t x)
{
#ifdef __POPCNT__
    return (uint64_t)__builtin_popcountll(x);
#else
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return x * UINT64_C(0x0101010101010101) >> 56;
#endif
}

/* Returns the sum of the weights of the members of x that are not in y. */
static double weight_beyond(greedy *g, const region *r, const uint64_t *x, const uint64_t *y)
{
    uint64_t sum = 0;
    g->work += r->n_words;
    for (uint32_t w = 0; w < r->n_words; ++w) {
        uint64_t rest = x[w] & ~y[w];
        if (!r->weighted) {
            sum += count(rest);
            continue;
        }
        for (; rest != 0; rest &= rest - 1) {
            sum += r->weight[lowest(rest, w)];
            ++g->work;
        }
    }
    return (double)sum;
}

static double first_fill(greedy *g, const region *r, uint32_t v)
{
    double twice = 0.0;
    for (uint32_t w = 0; w < r->n_words; ++w) {
        for (uint64_t rest = r->row[v][w]; rest != 0; rest &= rest - 1) {
            const uint32_t u = lowest(rest, w);
            uint64_t near[REGION_WORDS];
            memcpy(near, r->row[u], sizeof near);
            put(near, u);
            twice += r->weight[u] * weight_beyond(g, r, r->row[v], near);
        }
    }
    return 0.5 * twice;
}

static void start(greedy *g, const region *r, double noise, order_random *random)
{
    memcpy(g->row, r->row, r->n * sizeof *g->row);
    g->n_alive = r->n;
    g->n_open = 0;
    g->work += 4 * (uint64_t)r->n;
    for (uint32_t v = 0; v < r->n; ++v) {
        g->alive[v] = (uint16_t)v;
        g->noise[v] = 1.0 + noise * gbsi_order_uniform(random);
        g->fill[v] = first_fill(g, r, v);
    }
}

/* @return the index in `alive` of the vertex to eliminate next. A vertex without fill can be
 * eliminated at once, because its neighbours already form a clique. */
static uint32_t next_index(greedy *g)
{
    uint32_t at = 0;
    double least = 0.0;
    g->work += g->n_alive / 4;
    for (uint32_t i = 0; i < g->n_alive; ++i) {
        const uint32_t v = g->alive[i];
        const double key = g->fill[v] * g->noise[v];
        if (i == 0 || key < least) {
            at = i;
            least = key;
        }
    }
    return at;
}

static void add_edge(greedy *g, const region *r, uint32_t a, uint32_t b)
{
    const double pair = (double)r->weight[a] * r->weight[b];
    const uint64_t *x = g->row[a];
    const uint64_t *y = g->row[b];
    for (uint32_t w = 0; w < r->n_words; ++w) {
        for (uint64_t both = x[w] & y[w]; both != 0; both &= both - 1) {
            g->fill[lowest(both, w)] -= pair;
            ++g->work;
        }
    }
    g->fill[a] += r->weight[b] * weight_beyond(g, r, x, y);
    g->fill[b] += r->weight[a] * weight_beyond(g, r, y, x);
    put(g->row[a], b);
    put(g->row[b], a);
}

/* Joins vertex a to the members of a set that are above a and not yet joined to a. */
static void add_edges(greedy *g, const region *r, const uint64_t *near, uint32_t a)
{
    for (uint32_t w = a / 64; w < r->n_words; ++w) {
        uint64_t lacks = near[w] & ~g->row[a][w];
        if (w == a / 64) {
            lacks &= ~((UINT64_C(2) << a % 64) - 1);
        }
        for (; lacks != 0; lacks &= lacks - 1) {
            add_edge(g, r, a, lowest(lacks, w));
        }
    }
}

static void eliminate(greedy *g, const region *r, uint32_t v)
{
    uint64_t near[REGION_WORDS];
    memcpy(near, g->row[v], sizeof near);
    for (uint32_t w = 0; w < r->n_words; ++w) {
        for (uint64_t rest = near[w]; rest != 0; rest &= rest - 1) {
            const uint32_t a = lowest(rest, w);
            take(g->row[a], v);
            g->fill[a] -= r->weight[v] * weight_beyond(g, r, g->row[a], near);
        }
    }
    for (uint32_t w = 0; g->fill[v] > 0.0 && w < r->n_words; ++w) {
        for (uint64_t rest = near[w]; rest != 0; rest &= rest - 1) {
            add_edges(g, r, near, lowest(rest, w));
        }
    }
}

static double count_entries(const region *r, const uint64_t *clique)
{
    double entries = 1.0;
    for (uint32_t w = 0; w < r->n_words; ++w) {
        for (uint64_t rest = clique[w]; rest != 0; rest &= rest - 1) {
            entries *= r->arity[lowest(rest, w)];
        }
    }
    return entries;
}

/* Stores the clique of v. This clique becomes the parent of the open cliques that contain v, where
 * open means without a parent. If one of these open cliques has exactly one member more than the
 * clique of v, it contains the clique of v. */
static void record(greedy *g, const region *r, uint32_t v, triangulation *t)
{
    const uint32_t at = t->n++;
    uint32_t n_kept = 0;
    memcpy(t->clique[at], g->row[v], sizeof t->clique[at]);
    put(t->clique[at], v);
    t->position[v] = at;
    t->parent[at] = GBSI_NONE;
    t->bag[at] = at;
    t->size[at] = 0;
    for (uint32_t w = 0; w < r->n_words; ++w) {
        t->size[at] += (uint32_t)count(t->clique[at][w]);
    }
    for (uint32_t i = 0; i < g->n_open; ++i) {
        const uint32_t c = g->open[i];
        if (!has(t->clique[c], v)) {
            g->open[n_kept++] = (uint16_t)c;
            continue;
        }
        t->parent[c] = at;
        if (t->bag[at] == at && t->size[c] == t->size[at] + 1) {
            t->bag[at] = t->bag[c];
        }
    }
    g->work += g->n_open + t->size[at];
    g->open[n_kept] = (uint16_t)at;
    g->n_open = n_kept + 1;
    t->entries[at] = count_entries(r, t->clique[at]);
    t->total += t->bag[at] == at ? t->entries[at] : 0.0;
}

/* Ends the elimination; the caller has found that all remaining vertices lie in the last clique. */
static void close_last(const greedy *g, triangulation *t)
{
    for (uint32_t i = 0; i < g->n_alive; ++i) {
        t->position[g->alive[i]] = t->n - 1;
    }
    for (uint32_t i = 0; i + 1 < g->n_open; ++i) {
        t->parent[g->open[i]] = t->n - 1;
    }
}

bool gbsi_greedy_run(greedy *g, const region *r, double noise, order_random *random, double most,
                     triangulation *t)
{
    start(g, r, noise, random);
    t->n = 0;
    t->total = 0.0;
    for (;;) {
        const uint32_t i = next_index(g);
        const uint32_t v = g->alive[i];
        record(g, r, v, t);
        if (t->total > most) {
            return false;
        }
        g->alive[i] = g->alive[--g->n_alive];
        if (t->size[t->n - 1] == g->n_alive + 1) {
            close_last(g, t);
            return true;
        }
        eliminate(g, r, v);
    }
}
