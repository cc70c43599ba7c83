/* SPDX-License-Identifier: Apache-2.0 */
/* Colouring with two colours, if two suffice; the lowest variable of a component gets colour 0. The
 * result is exact.
 *
 * The edges are processed in stored order, and each edge joins two trees of variables. Each
 * variable records whether its colour differs from its parent's (Tarjan (1975), J. ACM
 * 22(2):215-225). A breadth-first search would access a large graph at random; this algorithm walks
 * through the graph once. */
#include "graph/graph.h"

#include "base/forest.h"
#include "base/memory.h"

typedef struct forest {
    uint32_t *parent; /* [n_variables] parent of each variable: a lower variable, or the variable
                         itself if it is a root; a root is the lowest variable of its tree */
    uint8_t *differs; /* [n_variables] 1 if the variable's colour differs from its parent's colour;
                         0 for roots */
} forest;

/* Returns the root of v, and halves the path from v to the root. @param differs out: whether the
 * colours of v and the root differ. */
static uint32_t find_root(forest *f, uint32_t v, uint8_t *differs)
{
    uint8_t sum = 0;
    while (f->parent[v] != v) {
        const uint32_t p = f->parent[v];
        f->differs[v] ^= f->differs[p];
        f->parent[v] = f->parent[p];
        sum ^= f->differs[v];
        v = f->parent[v];
    }
    *differs = sum;
    return v;
}

/* Joins the trees of u and v. @return false if u and v must have one colour, contrary to their
 * edge. */
static bool join(forest *f, uint32_t u, uint32_t v)
{
    uint8_t u_differs = 0;
    uint8_t v_differs = 0;
    const uint32_t a = find_root(f, u, &u_differs);
    const uint32_t b = find_root(f, v, &v_differs);
    if (a == b) {
        return u_differs != v_differs;
    }
    const uint32_t low = a < b ? a : b;
    const uint32_t high = a < b ? b : a;
    f->parent[high] = low;
    f->differs[high] = (uint8_t)(1u ^ u_differs ^ v_differs);
    return true;
}

gbs_status gbsi_graph_color_two(const gbsi_graph *graph, uint32_t *color, bool *bipartite,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = graph->n_variables;
    forest f = {0};
    /* a scope of three variables is a triangle, for which two colours do not suffice */
    if (graph->neighbour == NULL) {
        *bipartite = false;
        return GBS_OK;
    }
    f.parent = gbsi_alloc_array(n, sizeof *f.parent);
    f.differs = gbsi_alloc_array_zero(n, sizeof *f.differs);
    GBSI_TRY(GBSI_HAVE(err, "colouring", f.parent, f.differs));
    gbsi_forest_plant(f.parent, graph->n_variables);
    bool fits = true;
    for (uint32_t v = 0; v < n && fits; v++) {
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        for (size_t i = gbsi_graph_ends(graph, v); i < end && fits; i++) {
            fits = graph->neighbour[i] > v || join(&f, graph->neighbour[i], v);
        }
    }
    for (uint32_t v = 0; v < n && fits; v++) {
        /* the parent is lower than v */
        color[v] = f.parent[v] == v ? 0 : color[f.parent[v]] ^ f.differs[v];
    }
    *bipartite = fits;

cleanup:
    GBSI_FREE(f.parent, f.differs);
    return status;
}
