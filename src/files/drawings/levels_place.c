/* SPDX-License-Identifier: Apache-2.0 */
/* Places the vertices of each layer from left to right. A pass goes through the layers. In each one
 * every vertex wants to be at the mean of its neighbours, and the places nearest to these wishes
 * are found that keep the order and the distances:
 *
 *     minimise  sum_i w_i (x_i - d_i)^2   subject to  x_{i+1} - x_i >= s_i
 *
 * With y_i = x_i - (s_0 + ... + s_{i-1}) this is the regression on an increasing sequence, which is
 * solved by pooling adjacent violators (Barlow, Bartholomew, Bremner & Brunk (1972), Statistical
 * Inference under Order Restrictions, section 1.2). Links between bends weigh more, so that long
 * edges become straight (Gansner, Koutsofios, North & Vo (1993), section 4). */
#include "base/extremes.h"
#include "drawings/levels.h"

enum { PASSES = 12, LAST_PASSES = 6 };

#define NODE_GAP 26.0
#define BEND_GAP 12.0

/* A run of neighbours that touch. They move together. */
typedef struct pool {
    double weight, sum; /* sum of weights, and of weights times wishes */
    uint32_t n;
} pool;

/* @return the least distance between the centres of two neighbours in a layer. */
static double distance(const gbsi_levels *l, uint32_t u, uint32_t v)
{
    const bool bends = u >= l->n_nodes || v >= l->n_nodes;
    return 0.5 * (l->width[u] + l->width[v]) + (bends ? BEND_GAP : NODE_GAP);
}

static double link_weight(const gbsi_levels *l, uint32_t u, uint32_t v)
{
    const int bends = (u >= l->n_nodes) + (v >= l->n_nodes);
    return bends == 2 ? 8.0 : bends == 1 ? 2.0 : 1.0;
}

/* Computes where a vertex wants to be. @param sides which neighbours count: bit 0 those above, bit
 * 1 those below. */
static void wish(const gbsi_levels *l, uint32_t v, unsigned sides, double *weight, double *sum)
{
    *weight = 0.0;
    *sum = 0.0;
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t k = l->begin[side][v]; (sides >> side & 1u) && k < l->begin[side][v + 1];
             k++) {
            const uint32_t u = l->next[side][k];
            const double w = link_weight(l, u, v);
            *weight += w;
            *sum += w * l->x[u];
        }
    }
    if (*weight == 0.0) { /* without neighbours a vertex wants to stay, but gives way */
        *weight = 0.02;
        *sum = 0.02 * l->x[v];
    }
}

/* Places a layer. @param at [members] scratch: the offsets s_0 + ... + s_{i-1}. */
static void place_layer(gbsi_levels *l, uint32_t layer, unsigned sides, pool *pools, double *at)
{
    const uint32_t *member = l->member + l->first[layer];
    const uint32_t n = l->first[layer + 1] - l->first[layer];
    uint32_t n_pools = 0;
    uint32_t i = 0;
    for (uint32_t k = 0; k < n; k++) {
        pool p = {.n = 1};
        at[k] = k == 0 ? 0.0 : at[k - 1] + distance(l, member[k - 1], member[k]);
        wish(l, member[k], sides, &p.weight, &p.sum);
        p.sum -= p.weight * at[k];
        while (n_pools > 0 &&
               pools[n_pools - 1].sum * p.weight >= p.sum * pools[n_pools - 1].weight) {
            const pool *left = &pools[--n_pools];
            p = (pool){left->weight + p.weight, left->sum + p.sum, left->n + p.n};
        }
        pools[n_pools++] = p;
    }
    for (uint32_t j = 0; j < n_pools; j++) {
        for (uint32_t k = 0; k < pools[j].n; k++, i++) {
            l->x[member[i]] = pools[j].sum / pools[j].weight + at[i];
        }
    }
}

/* Moves everything to the right of 0. */
static void shift(gbsi_levels *l)
{
    double least = 0.0;
    for (uint32_t v = 0; v < l->n; v++) {
        const double left = l->x[v] - 0.5 * l->width[v];
        least = v == 0 ? left : gbsi_smaller(least, left);
    }
    for (uint32_t v = 0; v < l->n; v++) {
        l->x[v] -= least;
    }
}

gbs_status gbsi_levels_place(gbsi_levels *l, gbs_error *err)
{
    pool *pools = gbsi_alloc_array(l->n, sizeof *pools);
    double *at = gbsi_alloc_array(l->n, sizeof *at);
    const gbs_status status = GBSI_HAVE(err, "drawing", pools, at);
    if (status >= 0) {
        memset(l->x, 0, l->n * sizeof *l->x);
        for (uint32_t i = 0; i < l->n_layers; i++) {
            place_layer(l, i, 0, pools, at);
        }
        for (int pass = 0; pass < PASSES; pass++) {
            for (uint32_t i = 1; i < l->n_layers; i++) {
                place_layer(l, i, 1u << GBSI_ABOVE, pools, at);
            }
            for (uint32_t i = l->n_layers - 1; i-- > 0;) {
                place_layer(l, i, 1u << GBSI_BELOW, pools, at);
            }
        }
        for (int pass = 0; pass < LAST_PASSES; pass++) {
            for (uint32_t i = 0; i < l->n_layers; i++) {
                place_layer(l, i, 3, pools, at);
            }
        }
        shift(l);
    }
    GBSI_FREE(pools, at);
    return status;
}
