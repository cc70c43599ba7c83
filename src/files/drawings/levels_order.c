/* SPDX-License-Identifier: Apache-2.0 */
/* Orders the vertices of each layer so that few links cross. A sweep goes through the layers and
 * sorts each one by the mean ranks of the neighbours in the layer before (the barycentres of
 * Sugiyama, Tagawa & Toda (1981)). Then neighbours in a layer change places where that removes
 * crossings (Gansner, Koutsofios, North & Vo (1993), IEEE Transactions on Software Engineering
 * 19(3):214-230, section 3). The best order of all sweeps is kept. */
#include <assert.h>
#include <stdlib.h>

#include "drawings/levels.h"

enum {
    SWEEPS = 24,
    EXCHANGES = 6,         /* rounds of exchanges after a sweep */
    MOST_EXCHANGED = 6000, /* number of vertices beyond which sweeps alone must do */
};

typedef struct sorted {
    double key;
    uint32_t rank, vertex;
} sorted;

static int compare(const void *a, const void *b)
{
    const sorted *x = a;
    const sorted *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint32_t size_of(const gbsi_levels *l, uint32_t layer)
{
    return l->first[layer + 1] - l->first[layer];
}

/* Sorts a layer by the mean ranks of neighbours on one side. A vertex without such neighbours is
 * sorted by its own rank. */
static void sort_layer(gbsi_levels *l, uint32_t layer, int side, sorted *row)
{
    uint32_t *member = l->member + l->first[layer];
    const uint32_t n = size_of(l, layer);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = member[i];
        const uint32_t begin = l->begin[side][v];
        const uint32_t end = l->begin[side][v + 1];
        double sum = 0.0;
        for (uint32_t k = begin; k < end; k++) {
            sum += l->rank[l->next[side][k]];
        }
        row[i] = (sorted){end > begin ? sum / (end - begin) : i, i, v};
    }
    qsort(row, n, sizeof *row, compare);
    for (uint32_t i = 0; i < n; i++) {
        member[i] = row[i].vertex;
        l->rank[row[i].vertex] = i;
    }
}

/* Counts the crossings of links between a layer and the one below. For each link from left to
 * right, a Fenwick tree tells how many links before it end further to the right (Barth, Jünger &
 * Mutzel (2002), Graph Drawing, LNCS 2528:130-141). */
static uint64_t crossings_below(const gbsi_levels *l, uint32_t layer, uint32_t *tree)
{
    const uint32_t n = size_of(l, layer + 1);
    uint64_t count = 0;
    uint32_t n_before = 0;
    memset(tree, 0, ((size_t)n + 1) * sizeof *tree);
    for (uint32_t i = l->first[layer]; i < l->first[layer + 1]; i++) {
        const uint32_t v = l->member[i];
        const uint32_t begin = l->begin[GBSI_BELOW][v];
        const uint32_t end = l->begin[GBSI_BELOW][v + 1];
        for (uint32_t k = begin; k < end; k++) { /* links that end at this rank or left of it */
            uint32_t up_to = 0;
            for (uint32_t r = l->rank[l->next[GBSI_BELOW][k]] + 1; r > 0; r -= r & (0u - r)) {
                up_to += tree[r];
            }
            count += n_before - up_to;
        }
        for (uint32_t k = begin; k < end; k++) {
            for (uint32_t r = l->rank[l->next[GBSI_BELOW][k]] + 1; r <= n; r += r & (0u - r)) {
                tree[r]++;
            }
        }
        n_before += end - begin;
    }
    return count;
}

uint64_t gbsi_levels_crossings(const gbsi_levels *levels, uint32_t *tree)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i + 1 < levels->n_layers; i++) {
        count += crossings_below(levels, i, tree);
    }
    return count;
}

/* @return the crossings of the links of two vertices, of which u is left of v. */
static uint64_t crossings_of(const gbsi_levels *l, uint32_t u, uint32_t v)
{
    uint64_t count = 0;
    for (int side = 0; side < 2; side++) {
        for (uint32_t a = l->begin[side][u]; a < l->begin[side][u + 1]; a++) {
            for (uint32_t b = l->begin[side][v]; b < l->begin[side][v + 1]; b++) {
                count += l->rank[l->next[side][a]] > l->rank[l->next[side][b]];
            }
        }
    }
    return count;
}

/* Exchanges neighbours in a layer if fewer links cross afterwards. @return whether any did. */
static bool exchange(gbsi_levels *l, uint32_t layer)
{
    bool changed = false;
    uint32_t *member = l->member + l->first[layer];
    for (uint32_t i = 0; i + 1 < size_of(l, layer); i++) {
        const uint32_t u = member[i];
        const uint32_t v = member[i + 1];
        if (crossings_of(l, v, u) < crossings_of(l, u, v)) {
            member[i] = v;
            member[i + 1] = u;
            l->rank[v] = i;
            l->rank[u] = i + 1;
            changed = true;
        }
    }
    return changed;
}

static void sweep(gbsi_levels *l, bool down, sorted *row)
{
    for (uint32_t i = 1; i < l->n_layers; i++) {
        sort_layer(l, down ? i : l->n_layers - 1 - i, down ? GBSI_ABOVE : GBSI_BELOW, row);
    }
    bool changed = l->n <= MOST_EXCHANGED;
    for (int round = 0; changed && round < EXCHANGES; round++) {
        changed = false;
        for (uint32_t i = 0; i < l->n_layers; i++) {
            changed |= exchange(l, i);
        }
    }
}

gbs_status gbsi_levels_order(gbsi_levels *l, gbs_error *err)
{
    uint32_t widest = 0;
    for (uint32_t i = 0; i < l->n_layers; i++) {
        widest = size_of(l, i) > widest ? size_of(l, i) : widest;
    }
    uint32_t *tree = gbsi_alloc_array((uint64_t)widest + 1, sizeof *tree);
    uint32_t *best = gbsi_alloc_array(l->n, sizeof *best);
    sorted *row = gbsi_alloc_array((uint64_t)widest + 1, sizeof *row);
    const gbs_status status = GBSI_HAVE(err, "drawing", tree, best, row);
    if (status >= 0) {
        uint64_t least = gbsi_levels_crossings(l, tree);
        memcpy(best, l->member, l->n * sizeof *best);
        for (int i = 0; i < SWEEPS && least > 0; i++) {
            sweep(l, i % 2 == 0, row);
            const uint64_t count = gbsi_levels_crossings(l, tree);
            if (count < least) {
                least = count;
                memcpy(best, l->member, l->n * sizeof *best);
            }
        }
        memcpy(l->member, best, l->n * sizeof *best);
        for (uint32_t i = 0; i < l->n; i++) {
            const uint32_t v = l->member[i];
            l->rank[v] = i - l->first[l->layer[v]];
        }
        assert(gbsi_levels_crossings(l, tree) == least);
    }
    GBSI_FREE(tree, best, row);
    return status;
}
