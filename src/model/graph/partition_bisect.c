/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive bisection by coordinates. A grid is recognised by the differences between the
 * numbers of neighbours. The part to be cut is a list of variables, sorted by one coordinate
 * after the other. A cut inside a plane therefore has a boundary with only one step, inside one
 * row. */
#include <string.h>

#include "base/memory.h"
#include "graph/partition.h"

/* Largest number of different distances between the numbers of two neighbours; a closed grid with
 * diagonals has 26 */
#define MOST_DISTANCES 32u
#define MOST_MEMBERS   27u /* largest number of members of a scope: a cube of 3 x 3 x 3 */

/* ---- recognising a grid -------------------------------------------------------------------- */

typedef struct finder {
    const gbsi_graph *graph;
    gbsi_watch *watch;
    uint32_t distance[MOST_DISTANCES]; /* distances found, ascending */
    uint32_t n_distances;
} finder;

/* Stores a distance. @return false if the scopes have more different distances than any grid. */
static bool note_distance(finder *f, uint32_t distance)
{
    uint32_t i = 0;
    while (i < f->n_distances && f->distance[i] < distance) {
        i++;
    }
    if (i < f->n_distances && f->distance[i] == distance) {
        return true;
    }
    if (f->n_distances == MOST_DISTANCES) {
        return false;
    }
    memmove(&f->distance[i + 1], &f->distance[i], (f->n_distances - i) * sizeof f->distance[0]);
    f->distance[i] = distance;
    f->n_distances++;
    return true;
}

/* Returns whether the coordinates of a and b differ by at most one in every direction; the first
 * and the last place of a closed side also count as differing by one. Stores which directions are
 * closed. */
static bool is_near(gbsi_grid_shape *shape, uint32_t a, uint32_t b)
{
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        const uint32_t side = shape->side[d];
        const uint32_t u = a % side;
        const uint32_t v = b % side;
        const uint32_t distance = u > v ? u - v : v - u;
        if (distance > 1 && distance != side - 1) {
            return false;
        }
        shape->torus[d] |= distance > 1;
        a /= side;
        b /= side;
    }
    return true;
}

/* Visits all pairs of neighbours. If no shape is given, stores the distances of the pairs;
 * otherwise checks that each pair is near in the shape.
 * @return false if the variables are not a grid, or the watch stopped the search. */
static bool visit_pairs(finder *f, gbsi_grid_shape *shape)
{
    const gbsi_graph *graph = f->graph;
    for (uint32_t v = 0; v < graph->n_variables; v++) {
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
            const gbsi_members members = gbsi_graph_members(graph, i);
            if (members.n > MOST_MEMBERS || gbsi_watch_spend(f->watch, members.n)) {
                return false;
            }
            for (size_t e = 0; e < members.n; e++) {
                const uint32_t u = members.variable[e];
                if (u < v && !(shape == NULL ? note_distance(f, v - u) : is_near(shape, u, v))) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool fits(finder *f, gbsi_grid_shape *shape, uint32_t row, uint32_t layer)
{
    const uint32_t n = f->graph->n_variables;
    *shape = (gbsi_grid_shape){.side = {row, layer / row, n / layer}};
    return layer % row == 0 && n % layer == 0 && visit_pairs(f, shape);
}

/* Searches for the shape: tries grids of one, two and three directions, with sides in ascending
 * order. */
static bool find_sides(finder *f, gbsi_grid_shape *shape)
{
    const uint32_t n = f->graph->n_variables;
    if (fits(f, shape, n, n)) {
        return true;
    }
    for (unsigned n_directions = 2; n_directions <= GBSI_GRID_MOST; n_directions++) {
        for (uint32_t i = 0; i < f->n_distances; i++) {
            const uint32_t row = f->distance[i];
            const uint32_t end = n_directions == 2 ? i : f->n_distances;
            if (row < 2 || row == n) {
                continue;
            }
            if (n_directions == 2 && fits(f, shape, row, n)) {
                return true;
            }
            for (uint32_t j = i + 1; j < end; j++) {
                if (f->distance[j] < n && fits(f, shape, row, f->distance[j])) {
                    return true;
                }
            }
        }
    }
    return false;
}

gbs_status gbsi_partition_find_grid(const gbsi_graph *graph, gbsi_watch *watch,
                                    gbsi_grid_shape *shape, bool *found, gbs_error *err)
{
    finder f = {.graph = graph, .watch = watch};
    *found = graph->n_variables > 0 && visit_pairs(&f, NULL) && f.n_distances > 0 &&
             find_sides(&f, shape);
    return gbsi_watch_stopped(watch) ? gbsi_watch_fail(err, "looking for a grid") : GBS_OK;
}

/* ---- cuts ---------------------------------------------------------------------------------- */

uint32_t gbsi_grid_plane(uint32_t side, uint32_t n_first, uint32_t n_parts)
{
    const uint64_t twice = 2 * (uint64_t)side * n_first;
    const uint64_t parts = n_parts;
    return (uint32_t)((twice - (twice < parts ? twice : parts) + 2 * parts - 1) / (2 * parts));
}

/* A piece of the grid: the variables site[first .. first + n), which will be divided into n_parts
 * parts. The number of the first of these parts is `part`. */
typedef struct piece {
    uint32_t first, n;
    uint32_t part, n_parts;
} piece;

typedef struct bisection {
    gbsi_grid_shape shape;
    uint32_t stride[GBSI_GRID_MOST];
    const uint32_t *work;
    uint32_t *site, *scratch; /* [n] variables, and scratch for sorting */
    uint32_t *count;          /* [longest side + 1] counters of a counting sort */
    uint64_t least, most;     /* least and largest work of a part that counts as balanced */
    gbsi_watch *watch; /* if the watch has stopped, the contents of the arrays are undefined */
} bisection;

static uint32_t coordinate(const bisection *b, uint32_t v, unsigned d)
{
    return v / b->stride[d] % b->shape.side[d];
}

/* Returns the direction in which the piece is longest; among several such directions, the slowest.
 */
static unsigned longest(const bisection *b, const piece *p, uint32_t *from, uint32_t *to)
{
    unsigned best = 0;
    uint32_t least[GBSI_GRID_MOST] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t last[GBSI_GRID_MOST] = {0};
    for (uint32_t i = p->first; i < p->first + p->n && !gbsi_watch_spend(b->watch, 8); i++) {
        for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
            const uint32_t at = coordinate(b, b->site[i], d);
            least[d] = at < least[d] ? at : least[d];
            last[d] = at > last[d] ? at : last[d];
        }
    }
    for (unsigned d = 1; d < GBSI_GRID_MOST; d++) {
        best = last[d] - least[d] >= last[best] - least[best] ? d : best;
    }
    *from = least[best];
    *to = last[best] + 1;
    return best;
}

/* Sorts the variables of the piece by one coordinate, with a stable sort. Afterwards count[] holds,
 * for each plane, the number of variables in this plane and in all planes before it. */
static void sort_by(bisection *b, const piece *p, unsigned d, uint32_t from, uint32_t to)
{
    memset(b->count, 0, ((size_t)(to - from) + 1) * sizeof *b->count);
    for (uint32_t i = p->first; i < p->first + p->n && !gbsi_watch_spend(b->watch, 4); i++) {
        b->count[coordinate(b, b->site[i], d) - from + 1]++;
    }
    for (uint32_t c = 0; c < to - from; c++) {
        b->count[c + 1] += b->count[c];
    }
    for (uint32_t i = p->first; i < p->first + p->n && !gbsi_watch_spend(b->watch, 4); i++) {
        const uint32_t v = b->site[i];
        b->scratch[b->count[coordinate(b, v, d) - from]++] = v;
    }
    if (!gbsi_watch_stopped(b->watch)) {
        memcpy(b->site + p->first, b->scratch, p->n * sizeof *b->site);
    }
}

static uint64_t work_of(const bisection *b, uint32_t first, uint32_t n)
{
    uint64_t work = 0;
    for (uint32_t i = first; i < first + n && !gbsi_watch_spend(b->watch, 2); i++) {
        work += b->work[b->site[i]];
    }
    return work;
}

static bool is_balanced(const bisection *b, uint64_t work, uint32_t n, uint32_t n_parts)
{
    return n >= n_parts && work >= n_parts * b->least && work <= n_parts * b->most;
}

/* Returns where the sorted variables of the piece are cut, as the number of variables that belong
 * to the first n_first parts. */
static uint32_t first_half(const bisection *b, const piece *p, uint32_t n_first, uint32_t planes)
{
    const uint32_t plane = gbsi_grid_plane(planes, n_first, p->n_parts);
    const uint32_t n_plane = plane == 0 ? 0 : b->count[plane - 1];
    const uint64_t work = work_of(b, p->first, p->n);
    const uint64_t work_plane = work_of(b, p->first, n_plane);
    if (is_balanced(b, work_plane, n_plane, n_first) &&
        is_balanced(b, work - work_plane, p->n - n_plane, p->n_parts - n_first)) {
        return n_plane;
    }
    return gbsi_partition_share(b->site + p->first, b->work, p->n, n_first, p->n_parts);
}

/* Cuts a piece of two or more parts into two pieces. */
static void cut(bisection *b, const piece *p, piece half[2])
{
    uint32_t from = 0;
    uint32_t to = 0;
    const uint32_t n_first = p->n_parts / 2;
    uint32_t n = n_first < p->n ? n_first : p->n;
    if (p->n > p->n_parts) {
        const unsigned d = longest(b, p, &from, &to);
        if (!gbsi_watch_stopped(b->watch)) {
            sort_by(b, p, d, from, to);
            n = gbsi_watch_stopped(b->watch) ? 0 : first_half(b, p, n_first, to - from);
        }
    }
    half[0] = (piece){p->first, n, p->part, n_first};
    half[1] = (piece){p->first + n, p->n - n, p->part + n_first, p->n_parts - n_first};
}

static gbs_status take_memory(bisection *b, uint32_t n, gbs_error *err)
{
    uint32_t most = 1;
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        most = b->shape.side[d] > most ? b->shape.side[d] : most;
        b->stride[d] = d == 0 ? 1 : b->stride[d - 1] * b->shape.side[d - 1];
    }
    b->site = gbsi_alloc_array(n, sizeof *b->site);
    b->scratch = gbsi_alloc_array(n, sizeof *b->scratch);
    b->count = gbsi_alloc_array((size_t)most + 1, sizeof *b->count);
    return GBSI_HAVE(err, "partition", b->site, b->scratch, b->count);
}

gbs_status gbsi_partition_bisect(const gbsi_grid_shape *shape, const uint32_t *work, uint32_t n,
                                 uint32_t n_parts, gbsi_watch *watch, uint32_t *part,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    bisection b = {.shape = *shape, .work = work, .watch = watch};
    piece stack[64] = {{.first = 0, .n = n, .part = 0, .n_parts = n_parts}};
    unsigned n_stack = 1; /* each of the at most 32 halvings of n_parts adds at most 2 entries */
    GBSI_TRY(take_memory(&b, n, err));
    for (uint32_t v = 0; v < n; v++) {
        b.site[v] = v;
    }
    const double mean = (double)work_of(&b, 0, n) / n_parts;
    b.least = (uint64_t)(mean * (1 - GBSI_PARTITION_IMBALANCE));
    b.most = (uint64_t)(mean * (1 + GBSI_PARTITION_IMBALANCE));
    while (n_stack > 0 && !gbsi_watch_stopped(watch)) {
        const piece p = stack[--n_stack];
        for (uint32_t i = p.first; p.n_parts == 1 && i < p.first + p.n; i++) {
            part[b.site[i]] = p.part;
        }
        if (p.n_parts > 1 && p.n > 0) {
            cut(&b, &p, stack + n_stack);
            n_stack += 2;
        }
    }
    if (gbsi_watch_stopped(watch)) {
        GBSI_TRY(gbsi_watch_fail(err, "dividing the model"));
    }

cleanup:
    GBSI_FREE(b.site, b.scratch, b.count);
    return status;
}
