/* SPDX-License-Identifier: Apache-2.0 */
/* Finds entries of the same pair. Each variable has a list of its entries. While a list is scanned,
 * seen[u] is the first entry of the list whose other variable is u. The time is linear for every
 * file, which a hash table would not guarantee. */
#include "models/couplings.h"

#include "base/memory.h"

gbs_status gbsi_edges_add(gbsi_edges *edges, uint32_t i, uint32_t j, double value, gbs_error *err)
{
    gbs_status status = gbsi_reserve(&edges->edge, &edges->capacity, edges->n + 1,
                                     sizeof(gbsi_edge), "couplings", err);
    if (status == GBS_OK) {
        ((gbsi_edge *)edges->edge)[edges->n++] = (gbsi_edge){.i = i, .j = j, .value = value};
    }
    return status;
}

void gbsi_edges_free(gbsi_edges *edges)
{
    gbsi_free(edges->edge);
    *edges = (gbsi_edges){0};
}

static uint32_t bucket_of(gbsi_edge e, bool directed)
{
    return directed || e.i < e.j ? e.i : e.j;
}

static uint32_t other_of(gbsi_edge e, bool directed)
{
    return directed || e.i < e.j ? e.j : e.i;
}

/* Sets first[e] to the first entry that has the pair of entry e. If no earlier entry has this pair,
 * first[e] is e. */
static void find_first(const gbsi_edges *edges, uint32_t n_variables, bool directed, size_t *head,
                       size_t *seen, size_t *first)
{
    const gbsi_edge *edge = edges->edge;
    for (uint32_t v = 0; v < n_variables; v++) {
        head[v] = SIZE_MAX;
        seen[v] = SIZE_MAX;
    }
    /* first[] has the links of the lists until the loop below replaces each link */
    size_t *next = first;
    for (size_t e = edges->n; e-- > 0;) {
        if (edge[e].i == GBS_NO_PAIR) {
            next[e] = e;
            continue;
        }
        uint32_t v = bucket_of(edge[e], directed);
        next[e] = head[v];
        head[v] = e;
    }
    for (uint32_t v = 0; v < n_variables; v++) {
        for (size_t e = head[v]; e != SIZE_MAX;) {
            size_t after = next[e];
            size_t *last = &seen[other_of(edge[e], directed)];
            if (*last == SIZE_MAX || bucket_of(edge[*last], directed) != v) {
                *last = e;
            }
            first[e] = *last;
            e = after;
        }
    }
}

/* Allocates the array first[] and fills it by find_first().
 * @return the array; NULL, with a message in err, if there is not enough memory. */
static size_t *make_first(const gbsi_edges *edges, uint32_t n_variables, bool directed,
                          gbs_error *err)
{
    size_t *head = gbsi_alloc_array(n_variables, sizeof *head);
    size_t *seen = gbsi_alloc_array(n_variables, sizeof *seen);
    size_t *first = gbsi_alloc_array(edges->n, sizeof *first);
    if (head == NULL || seen == NULL || first == NULL) {
        (void)gbsi_no_memory(err, "couplings", edges->n * sizeof *first);
        gbsi_free(first);
        first = NULL;
    } else {
        find_first(edges, n_variables, directed, head, seen, first);
    }
    GBSI_FREE(head, seen);
    return first;
}

static void count_repeat(gbsi_repeats *repeats, size_t entry, size_t of)
{
    if (repeats->n++ == 0) {
        repeats->entry = entry;
        repeats->of = of;
    }
}

gbs_status gbsi_edges_sum(gbsi_edges *edges, uint32_t n_variables, bool directed,
                          gbsi_repeats *repeats, gbs_error *err)
{
    gbsi_edge *edge = edges->edge;
    size_t *first = make_first(edges, n_variables, directed, err);
    if (first == NULL) {
        return GBS_ERR_MEMORY;
    }
    *repeats = (gbsi_repeats){0};
    for (size_t e = 0; e < edges->n; e++) {
        if (first[e] != e) {
            edge[first[e]].value += edge[e].value;
            edge[e].i = GBS_NO_PAIR;
            count_repeat(repeats, e, first[e]);
        }
    }
    gbsi_free(first);
    return GBS_OK;
}

gbs_status gbsi_edges_fold(gbsi_edges *edges, uint32_t n_variables, gbsi_repeats *unequal,
                           gbs_error *err)
{
    gbsi_edge *edge = edges->edge;
    size_t *first = make_first(edges, n_variables, false, err);
    if (first == NULL) {
        return GBS_ERR_MEMORY;
    }
    *unequal = (gbsi_repeats){0};
    for (size_t e = 0; e < edges->n; e++) {
        if (first[e] != e) {
            if (edge[first[e]].value != edge[e].value) {
                count_repeat(unequal, e, first[e]);
            }
            edge[e].i = GBS_NO_PAIR;
        }
    }
    gbsi_free(first);
    return GBS_OK;
}
