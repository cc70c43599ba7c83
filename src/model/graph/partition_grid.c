/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the blocks of a lattice and the messages that they send, from the sides of the
 * lattice alone. Two blocks are neighbours in at most one direction; in the other directions
 * their ranges overlap. */
#include "base/memory.h"
#include "graph/partition.h"

/* A block and the parts into which it will be cut. */
typedef struct node {
    gbsi_block block;
    uint32_t part, n_parts;
} node;

typedef struct lattice {
    gbsi_grid_shape shape;
    uint32_t n_parts;
    const gbsi_block *block; /* [n_parts] blocks of the parts */
} lattice;

static uint32_t extent(const gbsi_block *block, unsigned d)
{
    return block->to[d] - block->from[d];
}

static uint64_t volume(const gbsi_block *block)
{
    return (uint64_t)extent(block, 0) * extent(block, 1) * extent(block, 2);
}

/* Returns the direction in which a block is cut: the direction of its longest side and, if several
 * sides are longest, the direction with the largest stride. */
static unsigned longest(const gbsi_block *block)
{
    unsigned best = 0;
    for (unsigned d = 1; d < GBSI_GRID_MOST; d++) {
        best = extent(block, d) >= extent(block, best) ? d : best;
    }
    return best;
}

static void cut(const node *whole, node half[2])
{
    const unsigned d = longest(&whole->block);
    const uint32_t n_first = whole->n_parts / 2;
    const uint32_t plane =
        whole->block.from[d] + gbsi_grid_plane(extent(&whole->block, d), n_first, whole->n_parts);
    half[0] = (node){whole->block, whole->part, n_first};
    half[1] = (node){whole->block, whole->part + n_first, whole->n_parts - n_first};
    half[0].block.to[d] = plane;
    half[1].block.from[d] = plane;
}

static node root(const gbsi_grid_shape *shape, uint32_t n_parts)
{
    return (node){.block = {.to = {shape->side[0], shape->side[1], shape->side[2]}},
                  .n_parts = n_parts};
}

/* Cuts the lattice into blocks. @return false if some block has fewer variables than parts to be
 * made of it. */
static bool cut_all(const gbsi_grid_shape *shape, uint32_t n_parts, gbsi_block *block)
{
    node stack[64] = {root(shape, n_parts)}; /* stack: each of the 32 halvings leaves one entry */
    unsigned n_stack = 1;
    while (n_stack > 0) {
        const node next = stack[--n_stack];
        if (volume(&next.block) < next.n_parts) {
            return false;
        }
        if (next.n_parts == 1) {
            block[next.part] = next.block;
        } else {
            cut(&next, stack + n_stack);
            n_stack += 2;
        }
    }
    return true;
}

/* ---- neighbours ---------------------------------------------------------------------------- */

/* Returns whether a side counts as closed. A side of length two does not count: a variable would
 * have the same neighbour before and after it. */
static bool is_closed(const gbsi_grid_shape *shape, unsigned d)
{
    return shape->torus[d] && shape->side[d] > 2;
}

/* Computes the coordinate of the plane next to a block, after or before it, in direction d. @return
 * false if the block has no neighbour on that side, or is its own neighbour. */
static bool next_plane(const gbsi_grid_shape *shape, const gbsi_block *block, unsigned d,
                       bool after, uint32_t *plane)
{
    const uint32_t side = shape->side[d];
    const bool at_end = after ? block->to[d] == side : block->from[d] == 0;
    if (extent(block, d) == side || (at_end && !is_closed(shape, d))) {
        return false;
    }
    *plane = after ? block->to[d] % side : (block->from[d] + side - 1) % side;
    return true;
}

static bool meets(const gbsi_block *a, const gbsi_block *b)
{
    bool all = true;
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        all &= a->from[d] < b->to[d] && b->from[d] < a->to[d];
    }
    return all;
}

/* Returns the set of chessboard colours, as bits, of the block's variables whose coordinate in
 * direction d is `at`. */
static unsigned colors_of(const gbsi_block *block, unsigned d, uint32_t at)
{
    gbsi_block plane = *block;
    plane.from[d] = at;
    plane.to[d] = at + 1;
    return volume(&plane) > 1 ? 3u : 1u << ((plane.from[0] + plane.from[1] + plane.from[2]) % 2);
}

/* Adds the values and messages that a part exchanges with one neighbour in direction d. @param
 * after whether the neighbour is after the part. @param before whether the neighbour is before the
 * part; a neighbour may be on both sides. */
static void count_exchange(const lattice *l, uint32_t p, uint32_t q, unsigned d, bool after,
                           bool before, gbsi_partition_rank *rank)
{
    const gbsi_block *other = &l->block[q];
    gbsi_block shared = l->block[p]; /* number of variables in which the two blocks overlap in the
                                        other directions */
    for (unsigned e = 0; e < GBSI_GRID_MOST; e++) {
        if (e != d) {
            shared.from[e] = shared.from[e] > other->from[e] ? shared.from[e] : other->from[e];
            shared.to[e] = shared.to[e] < other->to[e] ? shared.to[e] : other->to[e];
        }
    }
    const uint64_t area = volume(&shared) / extent(&shared, d);
    const unsigned own = (after ? colors_of(&shared, d, shared.to[d] - 1) : 0) |
                         (before ? colors_of(&shared, d, shared.from[d]) : 0);
    const unsigned others = (after ? colors_of(&shared, d, other->from[d]) : 0) |
                            (before ? colors_of(&shared, d, other->to[d] - 1) : 0);
    const bool both = after && before;
    rank->values += area * (both && extent(&shared, d) > 1 ? 2 : 1);
    rank->halo += area * (both && extent(other, d) > 1 ? 2 : 1);
    rank->messages += (uint64_t)__builtin_popcount(own);
    rank->received += (uint64_t)__builtin_popcount(others);
    rank->neighbours++;
}

/* Finds all parts that have variables in a plane next to part p, by repeating the cuts that made
 * the parts.
 * @param other the plane on the other side of part p; NULL if there is none. A part that meets both
 * planes is counted only in the call with `after`. */
static void visit_plane(const lattice *l, uint32_t p, unsigned d, bool after,
                        const gbsi_block *plane, const gbsi_block *other, gbsi_partition_rank *rank)
{
    node stack[64] = {root(&l->shape, l->n_parts)};
    unsigned n_stack = 1;
    while (n_stack > 0) {
        const node next = stack[--n_stack];
        if (!meets(&next.block, plane)) {
            continue;
        }
        if (next.n_parts > 1) {
            cut(&next, stack + n_stack);
            n_stack += 2;
            continue;
        }
        const bool both = other != NULL && meets(&next.block, other);
        if (after || !both) {
            count_exchange(l, p, next.part, d, after || both, !after || both, rank);
        }
    }
}

static void visit_neighbours(const lattice *l, uint32_t p, gbsi_partition_rank *rank)
{
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        /* the planes before and after the block */
        gbsi_block plane[2] = {l->block[p], l->block[p]};
        bool exists[2];
        for (unsigned side = 0; side < 2; side++) {
            uint32_t at = 0;
            exists[side] = next_plane(&l->shape, &l->block[p], d, side == 1, &at);
            plane[side].from[d] = at;
            plane[side].to[d] = at + 1;
        }
        for (unsigned side = 0; side < 2; side++) {
            if (exists[side]) {
                visit_plane(l, p, d, side == 1, &plane[side],
                            exists[1 - side] ? &plane[1 - side] : NULL, rank);
            }
        }
    }
}

/* ---- figures of a single block ------------------------------------------------------------- */

/* Counts the variables of a block that have a neighbour outside. */
static uint64_t count_boundary(const gbsi_grid_shape *shape, const gbsi_block *block)
{
    uint64_t inside = 1;
    uint32_t plane = 0;
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        const uint32_t outer = (uint32_t)next_plane(shape, block, d, true, &plane) +
                               (uint32_t)next_plane(shape, block, d, false, &plane);
        inside *= extent(block, d) > outer ? extent(block, d) - outer : 0;
    }
    return volume(block) - inside;
}

/* Returns the sum over the block's variables of 1 + the number of neighbours. */
static uint64_t count_work(const gbsi_grid_shape *shape, const gbsi_block *block)
{
    const uint64_t own = volume(block);
    uint64_t work = own;
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        const uint64_t area = own / extent(block, d);
        const bool ends = !is_closed(shape, d);
        work += 2 * own - (ends && block->from[d] == 0 ? area : 0) -
                (ends && block->to[d] == shape->side[d] ? area : 0);
    }
    return work;
}

/* Counts the runs of a block. If the block does not span the lattice in the fastest direction, each
 * of its lines along this direction is one run for each colour that the line contains. */
static uint64_t count_runs(const gbsi_grid_shape *shape, const gbsi_block *block)
{
    uint64_t together = 1;
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        together *= extent(block, d);
        if (extent(block, d) < shape->side[d]) {
            break;
        }
    }
    return volume(block) / together * (together > 1 ? 2 : 1);
}

uint32_t gbsi_grid_part(const gbsi_grid_shape *shape, uint32_t n_parts,
                        const uint32_t at[GBSI_GRID_MOST])
{
    node next = root(shape, n_parts);
    while (next.n_parts > 1) {
        node half[2];
        const unsigned d = longest(&next.block);
        cut(&next, half);
        next = half[at[d] >= half[1].block.from[d]];
    }
    return next.part;
}

/* Applies the rules of balance of gbsi_partition_bisect() to the blocks. */
static bool is_balanced(const gbsi_grid_shape *shape, const node *half, double mean)
{
    const uint64_t least = (uint64_t)(mean * (1 - GBSI_PARTITION_IMBALANCE));
    const uint64_t most = (uint64_t)(mean * (1 + GBSI_PARTITION_IMBALANCE));
    const uint64_t n = volume(&half->block);
    const uint64_t work = n == 0 ? 0 : count_work(shape, &half->block);
    return n >= half->n_parts && work >= half->n_parts * least && work <= half->n_parts * most;
}

bool gbsi_grid_is_cut_by_planes(const gbsi_grid_shape *shape, uint32_t n_parts)
{
    node stack[64] = {root(shape, n_parts)};
    unsigned n_stack = 1;
    const double mean = (double)count_work(shape, &stack[0].block) / n_parts;
    while (n_stack > 0) {
        const node next = stack[--n_stack];
        if (next.n_parts == 1) {
            continue;
        }
        cut(&next, stack + n_stack);
        if (volume(&next.block) <= next.n_parts || !is_balanced(shape, &stack[n_stack], mean) ||
            !is_balanced(shape, &stack[n_stack + 1], mean)) {
            return false;
        }
        n_stack += 2;
    }
    return true;
}

static gbs_status check_shape(const gbsi_grid_shape *shape, uint32_t n_parts, gbs_error *err)
{
    if (n_parts == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "a partition into 0 parts, expected 1 or more");
    }
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        if (shape->side[d] == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "side %u of the lattice is 0", d);
        }
        if (is_closed(shape, d) && shape->side[d] % 2 != 0) {
            return gbsi_fail(
                err, GBS_ERR_UNSUPPORTED,
                "side %u of the lattice is closed and %u long, expected an even length", d,
                shape->side[d]);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_partition_grid(const gbsi_grid_shape *shape, uint32_t n_parts, gbsi_block *block,
                               gbsi_partition_figures *figures, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_partition_figures found = {0};
    gbsi_block *blocks = NULL;
    GBSI_TRY(check_shape(shape, n_parts, err));
    blocks = gbsi_alloc_array(n_parts, sizeof *blocks);
    GBSI_TRY(GBSI_HAVE(err, "partition", blocks));
    if (!cut_all(shape, n_parts, blocks)) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "a lattice of %u x %u x %u cut by planes has too few variables for %u "
                           "parts",
                           shape->side[0], shape->side[1], shape->side[2], n_parts));
    }
    if (figures != NULL) {
        const lattice l = {.shape = *shape, .n_parts = n_parts, .block = blocks};
        GBSI_TRY(gbsi_partition_figures_init(n_parts, 2, &found, err));
        for (uint32_t p = 0; p < n_parts; p++) {
            found.rank[p] = (gbsi_partition_rank){.work = count_work(shape, &blocks[p]),
                                                  .own = volume(&blocks[p]),
                                                  .boundary = count_boundary(shape, &blocks[p]),
                                                  .runs = count_runs(shape, &blocks[p])};
            visit_neighbours(&l, p, &found.rank[p]);
        }
        gbsi_partition_figures_sum(&found);
        *figures = found;
    }
    if (block != NULL) {
        memcpy(block, blocks, n_parts * sizeof *block);
    }

cleanup:
    gbsi_free(blocks);
    return status;
}
