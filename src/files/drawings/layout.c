/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses layers, inserts bends, and puts the connected parts of a graph beside one another. */
#include "drawings/layout.h"

#include <assert.h>
#include <stdlib.h>

#include "base/extremes.h"
#include "drawings/levels.h"

enum { MOST_BENDS = 200000 };

#define MOST_WIDTH 1500.0 /* width beyond which leaves of a layer move to a layer of their own */
#define LEAF_GAP   26.0
#define LAYER_GAP  46.0
#define PART_GAP   40.0
#define ROW_WIDTH  700.0 /* parts are put side by side at least up to this width */

/* What the steps share. A part is a connected graph; its nodes follow each other in `order`. */
typedef struct graph {
    gbsi_layout *layout;
    uint32_t *begin; /* [n_nodes + 1] where the edges at each node begin */
    uint32_t *edge;  /* [2 n_edges] edges at each node */
    uint32_t *order; /* [n_nodes] nodes, each after those above it */
    uint32_t *place; /* [n_nodes] position in order */
    int32_t *layer;  /* [n_nodes] */
    uint32_t n_parts;
    uint32_t *part; /* [n_nodes + 1] where each part begins in order */
} graph;

typedef struct part_box {
    uint32_t part, n; /* number of the part, and of its nodes */
    double width, height;
    size_t first, n_bends;
} part_box;

static void free_graph(graph *g)
{
    GBSI_FREE(g->begin, g->edge, g->order, g->place, g->layer, g->part);
}

/* Lists the edges at each node. */
static void list_edges(graph *g)
{
    const gbsi_layout *l = g->layout;
    for (size_t e = 0; e < l->n_edges; e++) {
        assert(l->edge[e].from != l->edge[e].to);
        g->begin[l->edge[e].from + 1]++;
        g->begin[l->edge[e].to + 1]++;
    }
    for (size_t v = 0; v < l->n_nodes; v++) {
        g->begin[v + 1] += g->begin[v];
        g->place[v] = g->begin[v]; /* as a cursor, until the search sets the places */
    }
    for (size_t e = 0; e < l->n_edges; e++) {
        g->edge[g->place[l->edge[e].from]++] = (uint32_t)e;
        g->edge[g->place[l->edge[e].to]++] = (uint32_t)e;
    }
}

static uint32_t other_end(const gbsi_layout_edge *e, uint32_t v)
{
    return e->from == v ? e->to : e->from;
}

/* Finds the parts by breadth-first search. Edges without a direction then go from the end that was
 * found first to the other one. */
static void search(graph *g)
{
    gbsi_layout *l = g->layout;
    uint32_t n = 0;
    memset(g->place, 0xff, l->n_nodes * sizeof *g->place);
    for (uint32_t start = 0; start < l->n_nodes; start++) {
        if (g->place[start] != UINT32_MAX) {
            continue;
        }
        g->part[g->n_parts++] = n;
        g->place[start] = n;
        g->order[n++] = start;
        for (uint32_t i = g->place[start]; i < n; i++) {
            const uint32_t v = g->order[i];
            for (uint32_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
                const uint32_t u = other_end(&l->edge[g->edge[k]], v);
                if (g->place[u] == UINT32_MAX) {
                    g->place[u] = n;
                    g->order[n++] = u;
                }
            }
        }
    }
    g->part[g->n_parts] = n;
    for (size_t e = 0; !l->directed && e < l->n_edges; e++) {
        gbsi_layout_edge *edge = &l->edge[e];
        if (g->place[edge->from] > g->place[edge->to]) {
            const uint32_t from = edge->from;
            edge->from = edge->to;
            edge->to = from;
        }
    }
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Sorts the nodes of a part so that all edges go forward, and puts each node one layer below the
 * lowest of the nodes above it.
 * @param waits [2 n_nodes] scratch: for each node the number of edges from nodes that are not yet
 *   sorted; then the sorted nodes. @return false if there is a directed cycle. */
static bool sort_part(graph *g, uint32_t part, uint32_t *waits)
{
    const gbsi_layout *l = g->layout;
    const uint32_t first = g->part[part];
    const uint32_t end = g->part[part + 1];
    uint32_t n = first;
    for (uint32_t i = first; i < end; i++) {
        waits[g->order[i]] = 0;
    }
    for (uint32_t i = first; i < end; i++) {
        const uint32_t v = g->order[i];
        for (uint32_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
            waits[v] += l->edge[g->edge[k]].to == v;
        }
        g->layer[v] = 0;
    }
    uint32_t *queue = waits + l->n_nodes;
    for (uint32_t i = first; i < end; i++) {
        if (waits[g->order[i]] == 0) {
            queue[n++] = g->order[i];
        }
    }
    for (uint32_t i = first; i < n; i++) {
        const uint32_t v = queue[i];
        for (uint32_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
            const gbsi_layout_edge *edge = &l->edge[g->edge[k]];
            if (edge->from != v) {
                continue;
            }
            g->layer[edge->to] =
                g->layer[edge->to] > g->layer[v] + 1 ? g->layer[edge->to] : g->layer[v] + 1;
            if (--waits[edge->to] == 0) {
                queue[n++] = edge->to;
            }
        }
    }
    if (n < end) {
        return false;
    }
    memcpy(g->order + first, queue + first, (end - first) * sizeof *queue);
    return true;
}

/* Moves nodes with more edges below than above as far down as they can go, from the lowest one,
 * which makes edges shorter. */
static void pull_down(graph *g, uint32_t part)
{
    const gbsi_layout *l = g->layout;
    for (uint32_t i = g->part[part + 1]; i-- > g->part[part];) {
        const uint32_t v = g->order[i];
        int32_t least = INT32_MAX;
        int32_t balance = 0;
        for (uint32_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
            const gbsi_layout_edge *edge = &l->edge[g->edge[k]];
            balance += edge->from == v ? 1 : -1;
            if (edge->from == v && g->layer[edge->to] < least) {
                least = g->layer[edge->to];
            }
        }
        if (balance > 0) {
            g->layer[v] = least - 1;
        }
    }
}

/* Whether a node has no edges in a direction: 1 down, -1 up. */
static bool is_end(const graph *g, uint32_t v, int32_t direction)
{
    for (uint32_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
        const bool down = g->layout->edge[g->edge[k]].from == v;
        if (down == (direction > 0)) {
            return false;
        }
    }
    return true;
}

/* Makes layers narrower: nodes at the end of all their edges move on to the next layer in a
 * direction if their layer is wider than MOST_WIDTH. */
static void thin(graph *g, uint32_t part, int32_t direction)
{
    int32_t last = 0;
    int32_t layer = 0;
    for (uint32_t i = g->part[part]; i < g->part[part + 1]; i++) {
        const int32_t at = direction * g->layer[g->order[i]];
        layer = i == g->part[part] || at < layer ? at : layer;
        last = i == g->part[part] || at > last ? at : last;
    }
    for (; layer <= last; layer++) {
        double width = 0.0;
        for (int ends = 0; ends < 2; ends++) {
            for (uint32_t i = g->part[part]; i < g->part[part + 1]; i++) {
                const uint32_t v = g->order[i];
                if (direction * g->layer[v] != layer || is_end(g, v, direction) != (ends == 1)) {
                    continue;
                }
                const double wider = width + g->layout->node[v].width + LEAF_GAP;
                if (ends == 1 && width > 0.0 && wider > MOST_WIDTH) {
                    g->layer[v] += direction;
                    last = layer + 1 > last ? layer + 1 : last;
                } else {
                    width = wider;
                }
            }
        }
    }
}

static gbs_status choose_layers(graph *g, gbs_error *err)
{
    uint32_t *waits = gbsi_alloc_array(2 * (uint64_t)g->layout->n_nodes, sizeof *waits);
    GBSI_PASS(GBSI_HAVE(err, "drawing", waits));
    for (uint32_t p = 0; p < g->n_parts; p++) {
        if (!sort_part(g, p, waits)) {
            gbsi_free(waits);
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "the graph has a directed cycle");
        }
        pull_down(g, p);
        thin(g, p, 1);
        thin(g, p, -1);
        int32_t least = INT32_MAX;
        for (uint32_t i = g->part[p]; i < g->part[p + 1]; i++) {
            g->place[g->order[i]] = i - g->part[p];
            least = g->layer[g->order[i]] < least ? g->layer[g->order[i]] : least;
        }
        for (uint32_t i = g->part[p]; i < g->part[p + 1]; i++) {
            g->layer[g->order[i]] -= least;
        }
    }
    gbsi_free(waits);
    return GBS_OK;
}

/* ---- one part -------------------------------------------------------------------------------- */

/* Counts or stores the neighbours of all vertices: an edge links its upper end, its bends and its
 * lower end. @param pass 0 counts, 1 stores. */
static void link_part(const graph *g, uint32_t part, gbsi_levels *v, int pass)
{
    const gbsi_layout *l = g->layout;
    uint32_t bend = v->n_nodes;
    for (uint32_t i = g->part[part]; i < g->part[part + 1]; i++) {
        const uint32_t node = g->order[i];
        for (uint32_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
            gbsi_layout_edge *edge = &l->edge[g->edge[k]];
            if (edge->from != node) {
                continue;
            }
            const uint32_t n_bends = (uint32_t)(g->layer[edge->to] - g->layer[node] - 1);
            uint32_t above = g->place[node];
            for (uint32_t j = 0; j <= n_bends; j++) {
                const uint32_t below = j == n_bends ? g->place[edge->to] : bend + j;
                v->layer[below] = (uint32_t)g->layer[node] + j + 1;
                if (pass == 0) {
                    v->begin[GBSI_BELOW][above + 1]++;
                    v->begin[GBSI_ABOVE][below + 1]++;
                } else {
                    v->next[GBSI_BELOW][v->begin[GBSI_BELOW][above]++] = below;
                    v->next[GBSI_ABOVE][v->begin[GBSI_ABOVE][below]++] = above;
                }
                above = below;
            }
            edge->first = l->n_bends + bend - v->n_nodes;
            edge->n = n_bends;
            bend += n_bends;
        }
    }
}

static void add_up(uint32_t *begin, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        begin[i + 1] += begin[i];
    }
}

/* Moves the begins back by one place, which storing the neighbours has moved on. */
static void move_back(uint32_t *begin, uint32_t n)
{
    memmove(begin + 1, begin, n * sizeof *begin);
    begin[0] = 0;
}

static void free_levels(gbsi_levels *v)
{
    GBSI_FREE(v->layer, v->rank, v->member, v->first, v->begin[0], v->begin[1], v->next[0],
              v->next[1], v->width, v->x);
}

/* Counts the bends of a part, and its links, layers and vertices. */
static uint64_t count_part(const graph *g, uint32_t part, gbsi_levels *v)
{
    uint64_t n_links = 0;
    uint64_t n_edges = 0;
    v->n_nodes = g->part[part + 1] - g->part[part];
    for (uint32_t i = g->part[part]; i < g->part[part + 1]; i++) {
        const uint32_t node = g->order[i];
        const uint32_t layer = (uint32_t)g->layer[node];
        v->n_layers = layer + 1 > v->n_layers ? layer + 1 : v->n_layers;
        for (uint32_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
            const gbsi_layout_edge *edge = &g->layout->edge[g->edge[k]];
            if (edge->from == node) {
                n_links += (uint64_t)(g->layer[edge->to] - g->layer[node]);
                n_edges++;
            }
        }
    }
    v->n = v->n_nodes + (uint32_t)(n_links - n_edges);
    return n_links;
}

static gbs_status make_levels(const graph *g, uint32_t part, gbsi_levels *v, gbs_error *err)
{
    const uint64_t n_links = count_part(g, part, v);
    const uint64_t n = v->n;
    v->layer = gbsi_alloc_array_zero(n, sizeof *v->layer);
    v->rank = gbsi_alloc_array(n, sizeof *v->rank);
    v->member = gbsi_alloc_array(n, sizeof *v->member);
    v->first = gbsi_alloc_array_zero((uint64_t)v->n_layers + 1, sizeof *v->first);
    v->width = gbsi_alloc_array_zero(n, sizeof *v->width);
    v->x = gbsi_alloc_array(n, sizeof *v->x);
    for (int side = 0; side < 2; side++) {
        v->begin[side] = gbsi_alloc_array_zero(n + 1, sizeof *v->begin[side]);
        v->next[side] = gbsi_alloc_array(n_links, sizeof *v->next[side]);
    }
    GBSI_PASS(GBSI_HAVE(err, "drawing", v->layer, v->rank, v->member, v->first, v->width, v->x,
                        v->begin[0], v->begin[1], v->next[0], v->next[1]));
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        const uint32_t node = g->order[g->part[part] + i];
        v->layer[i] = (uint32_t)g->layer[node];
        v->width[i] = g->layout->node[node].width;
    }
    link_part(g, part, v, 0);
    for (int side = 0; side < 2; side++) {
        add_up(v->begin[side], v->n);
    }
    link_part(g, part, v, 1);
    for (int side = 0; side < 2; side++) {
        move_back(v->begin[side], v->n);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        v->first[v->layer[i] + 1]++;
    }
    add_up(v->first, v->n_layers);
    for (uint32_t i = 0; i < v->n; i++) {
        v->member[v->first[v->layer[i]]] = i;
        v->first[v->layer[i]]++;
    }
    move_back(v->first, v->n_layers);
    for (uint32_t i = 0; i < v->n; i++) {
        v->rank[v->member[i]] = i - v->first[v->layer[v->member[i]]];
    }
    return GBS_OK;
}

/* Computes the top and the bottom of each layer. Many links between two layers need more room.
 * @param top, bottom [n_layers] out. @return the height of the part. */
static double stack_layers(const graph *g, uint32_t part, const gbsi_levels *v, double *top,
                           double *bottom)
{
    memset(bottom, 0, v->n_layers * sizeof *bottom);
    for (uint32_t i = 0; i < v->n_nodes; i++) {
        const double height = g->layout->node[g->order[g->part[part] + i]].height;
        bottom[v->layer[i]] = gbsi_larger(bottom[v->layer[i]], height);
    }
    double y = 0.0;
    for (uint32_t i = 0; i < v->n_layers; i++) {
        top[i] = y;
        bottom[i] += y;
        uint32_t n_links = 0;
        for (uint32_t k = v->first[i]; k < v->first[i + 1]; k++) {
            n_links += v->begin[GBSI_BELOW][v->member[k] + 1] - v->begin[GBSI_BELOW][v->member[k]];
        }
        y = bottom[i] + LAYER_GAP + gbsi_smaller(0.5 * n_links, 60.0);
    }
    return bottom[v->n_layers - 1];
}

/* Stores the places of a part's nodes and bends. */
static gbs_status store(const graph *g, uint32_t part, const gbsi_levels *v, part_box *box,
                        gbs_error *err)
{
    gbsi_layout *l = g->layout;
    double *top = gbsi_alloc_array(2 * (uint64_t)v->n_layers, sizeof *top);
    GBSI_PASS(GBSI_HAVE(err, "drawing", top));
    const double *bottom = top + v->n_layers;
    box->height = stack_layers(g, part, v, top, top + v->n_layers);
    box->first = l->n_bends;
    box->n_bends = v->n - v->n_nodes;
    for (uint32_t i = 0; i < v->n; i++) {
        const uint32_t layer = v->layer[i];
        box->width = gbsi_larger(box->width, v->x[i] + 0.5 * v->width[i]);
        if (i < v->n_nodes) {
            const uint32_t node = g->order[g->part[part] + i];
            l->node[node].x = v->x[i];
            l->node[node].y = 0.5 * (top[layer] + bottom[layer]);
        } else {
            l->bend[l->n_bends++] = (gbsi_bend){v->x[i], top[layer], bottom[layer]};
        }
    }
    for (uint32_t i = g->part[part]; i < g->part[part + 1]; i++) {
        const uint32_t node = g->order[i];
        for (uint32_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
            gbsi_layout_edge *edge = &l->edge[g->edge[k]];
            if (edge->from == node) {
                edge->start = bottom[g->layer[node]];
                edge->finish = top[g->layer[edge->to]];
            }
        }
    }
    gbsi_free(top);
    return GBS_OK;
}

static gbs_status lay_out_part(const graph *g, uint32_t part, part_box *box, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_levels v = {0};
    *box = (part_box){.part = part, .n = g->part[part + 1] - g->part[part]};
    GBSI_TRY(make_levels(g, part, &v, err));
    GBSI_TRY(gbsi_levels_order(&v, err));
    GBSI_TRY(gbsi_levels_place(&v, err));
    GBSI_TRY(store(g, part, &v, box, err));

cleanup:
    free_levels(&v);
    return status;
}

/* ---- parts side by side ---------------------------------------------------------------------- */

static int larger_first(const void *a, const void *b)
{
    const part_box *x = a;
    const part_box *y = b;
    if (x->n != y->n) {
        return x->n > y->n ? -1 : 1;
    }
    return (x->part > y->part) - (x->part < y->part);
}

static void move_part(const graph *g, const part_box *box, double x, double y)
{
    gbsi_layout *l = g->layout;
    for (uint32_t i = g->part[box->part]; i < g->part[box->part + 1]; i++) {
        const uint32_t node = g->order[i];
        l->node[node].x += x;
        l->node[node].y += y;
        for (uint32_t k = g->begin[node]; k < g->begin[node + 1]; k++) {
            gbsi_layout_edge *edge = &l->edge[g->edge[k]];
            if (edge->from == node) {
                edge->start += y;
                edge->finish += y;
            }
        }
    }
    for (size_t i = box->first; i < box->first + box->n_bends; i++) {
        l->bend[i].x += x;
        l->bend[i].top += y;
        l->bend[i].bottom += y;
    }
}

/* Puts the parts in rows of at most `width`, the largest part first.
 * @param moves whether the parts move, or only the size is computed. */
static void put_rows(const graph *g, const part_box *box, double width, bool moves)
{
    gbsi_layout *l = g->layout;
    double x = 0.0;
    double y = 0.0;
    double height = 0.0; /* of the row */
    l->width = 0.0;
    for (uint32_t p = 0; p < g->n_parts; p++) {
        if (x > 0.0 && x + box[p].width > width) {
            x = 0.0;
            y += height + PART_GAP;
            height = 0.0;
        }
        if (moves) {
            move_part(g, &box[p], x, y);
        }
        height = gbsi_larger(height, box[p].height);
        l->width = gbsi_larger(l->width, x + box[p].width);
        x += box[p].width + PART_GAP;
    }
    l->height = y + height;
}

static void put_parts(const graph *g, part_box *box)
{
    double width = ROW_WIDTH;
    qsort(box, g->n_parts, sizeof *box, larger_first);
    for (uint32_t p = 0; p < g->n_parts; p++) {
        width = gbsi_larger(width, box[p].width);
    }
    put_rows(g, box, width, false);
    while (g->layout->height > 0.75 * width) {
        width *= 1.25;
        put_rows(g, box, width, false);
    }
    put_rows(g, box, width, true);
}

static gbs_status check_bends(const graph *g, size_t *n, gbs_error *err)
{
    uint64_t n_bends = 0;
    for (size_t e = 0; e < g->layout->n_edges; e++) {
        const gbsi_layout_edge *edge = &g->layout->edge[e];
        n_bends += (uint64_t)(g->layer[edge->to] - g->layer[edge->from] - 1);
    }
    *n = (size_t)n_bends;
    return n_bends <= MOST_BENDS
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "the edges of the drawing cross layers %llu times, at most %d are "
                           "drawn: nothing could be seen",
                           (unsigned long long)n_bends, MOST_BENDS);
}

gbs_status gbsi_layout_compute(gbsi_layout *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    graph g = {.layout = l};
    part_box *box = NULL;
    size_t n_bends = 0;
    const uint64_t n = l->n_nodes;
    l->width = l->height = 0.0;
    l->n_bends = 0;
    l->bend = NULL;
    g.begin = gbsi_alloc_array_zero(n + 1, sizeof *g.begin);
    g.edge = gbsi_alloc_array(2 * (uint64_t)l->n_edges, sizeof *g.edge);
    g.order = gbsi_alloc_array(n, sizeof *g.order);
    g.place = gbsi_alloc_array(n, sizeof *g.place);
    g.layer = gbsi_alloc_array(n, sizeof *g.layer);
    g.part = gbsi_alloc_array(n + 1, sizeof *g.part);
    box = gbsi_alloc_array(n, sizeof *box);
    GBSI_TRY(GBSI_HAVE(err, "drawing", g.begin, g.edge, g.order, g.place, g.layer, g.part, box));
    list_edges(&g);
    search(&g);
    GBSI_TRY(choose_layers(&g, err));
    GBSI_TRY(check_bends(&g, &n_bends, err));
    l->bend = gbsi_alloc_array(n_bends, sizeof *l->bend);
    GBSI_TRY(GBSI_HAVE(err, "drawing", l->bend));
    for (uint32_t p = 0; p < g.n_parts; p++) {
        GBSI_TRY(lay_out_part(&g, p, &box[p], err));
    }
    put_parts(&g, box);

cleanup:
    free_graph(&g);
    gbsi_free(box);
    return status;
}
