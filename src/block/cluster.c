/* SPDX-License-Identifier: Apache-2.0 */
/* A factor that touches the cluster C has its other variables in C, or they are the same in both
 * states. So pi(x) pi(y) is what it was, and which variables differ does too: the exchange undoes
 * itself with the probability with which it is made, and is always accepted. */
#include "block/cluster.h"

#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"

/* States that differ in more than this share of the variables are left alone. */
#define MOST_DIFFERENT 0.9

gbs_status gbsi_cluster_new(const gbsi_graph *graph, gbsi_cluster **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_cluster *c = gbsi_alloc_zero(sizeof *c);
    if (c == NULL) {
        return gbsi_no_memory(err, "clusters", sizeof *c);
    }
    c->graph = graph;
    c->mark = gbsi_alloc_array_zero(graph->n_variables, sizeof *c->mark);
    c->stack = gbsi_alloc_array(graph->n_variables, sizeof *c->stack);
    if (c->mark == NULL || c->stack == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "clusters", graph->n_variables * sizeof *c->mark));
    }
    *out = c;
    c = NULL;

cleanup:
    gbsi_cluster_free(c);
    return status;
}

void gbsi_cluster_free(gbsi_cluster *cluster)
{
    if (cluster != NULL) {
        gbsi_free(cluster->mark);
        gbsi_free(cluster->stack);
        gbsi_free(cluster);
    }
}

uint64_t gbsi_cluster_bytes(const gbsi_graph *graph)
{
    return sizeof(gbsi_cluster) + 2 * sizeof(uint32_t) * (uint64_t)graph->n_variables;
}

static bool differ(gbsi_cluster_state a, gbsi_cluster_state b, uint32_t v)
{
    return a.x[(size_t)v * a.stride] != b.x[(size_t)v * b.stride];
}

/* The variable with which a cluster begins, GBSI_NONE: there is to be none. */
static uint32_t first_of(const gbsi_cluster *c, const uint32_t word[4], gbsi_cluster_state a,
                         gbsi_cluster_state b)
{
    const uint32_t n = c->graph->n_variables;
    uint32_t n_different = 0;
    for (uint32_t v = 0; v < n; ++v) {
        n_different += differ(a, b, v);
    }
    if (n_different == 0 || n_different > MOST_DIFFERENT * n) {
        return GBSI_NONE;
    }
    uint32_t rank = gbsi_below(word[0], word[1], n_different);
    uint32_t v = 0;
    while (!differ(a, b, v) || rank-- > 0) {
        ++v;
    }
    return v;
}

uint32_t gbsi_cluster_exchange(gbsi_cluster *c, uint64_t seed, uint32_t pair, uint64_t pass,
                               gbsi_cluster_state a, gbsi_cluster_state b)
{
    const gbsi_graph *graph = c->graph;
    uint32_t word[4];
    gbsi_philox(seed, pair, pass, 0, GBSI_PURPOSE_EXCHANGE, word);
    const uint32_t first = first_of(c, word, a, b);
    if (first == GBSI_NONE) {
        return 0;
    }
    if (++c->n_exchanges == 0) { /* once in 2^32 */
        memset(c->mark, 0, graph->n_variables * sizeof *c->mark);
        c->n_exchanges = 1;
    }
    const uint32_t now = c->n_exchanges;
    uint32_t n_waiting = 0;
    uint32_t n_exchanged = 0;
    c->mark[first] = now;
    c->stack[n_waiting++] = first;
    while (n_waiting > 0) {
        const uint32_t v = c->stack[--n_waiting];
        for (size_t end = gbsi_graph_ends(graph, v); end < gbsi_graph_ends(graph, v + (size_t)1);
             ++end) {
            const gbsi_members members = gbsi_graph_members(graph, end);
            for (size_t i = 0; i < members.n; ++i) {
                const uint32_t u = members.variable[i];
                if (c->mark[u] != now && differ(a, b, u)) {
                    c->mark[u] = now;
                    c->stack[n_waiting++] = u;
                }
            }
        }
        const uint32_t state = a.x[(size_t)v * a.stride];
        a.x[(size_t)v * a.stride] = b.x[(size_t)v * b.stride];
        b.x[(size_t)v * b.stride] = state;
        ++n_exchanged;
    }
    return n_exchanged;
}
