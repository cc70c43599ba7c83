/* SPDX-License-Identifier: Apache-2.0 */
/* What all shares of a lattice have in common, and which lattices formulas are right for. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/memory.h"
#include "exact/exact_components.h"
#include "share/lattice_inside.h"

enum { CHUNK = 512 };

/* So that most variables have a next one in two directions. */
#define LEAST_SIDE 4u
/* Below GBSI_LINEAR_SPAN by more than sums are rounded. */
#define MOST_SPAN 39.0
/* src/graph/locality.c: variables whose first neighbours are as far as that are put in another
 * order, where breadth-first levels are shorter than that. */
#define FAR        4096u
#define LONG_SIDES 128u

/* ---- what is refused ----------------------------------------------------------------------- */

static gbs_status refuse(const gbsi_share_lattice *l, const char *why, gbs_error *err)
{
    const uint32_t *side = l->shape.side;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "a lattice of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                     " on %u ranks: %s: divide a model file",
                     side[1], side[0], side[2], (unsigned)l->facts.n_ranks, why);
}

/* Whether the plan of the whole keeps the order of the numbers (src/graph/locality.c): it is small,
 * first neighbours are near, or breadth-first levels, about as long as the two shorter sides are
 * together or, of three, across, are long as well. */
static bool keeps_order(const gbsi_grid_shape *shape, uint32_t n)
{
    const uint32_t *side = shape->side;
    if (side[2] == 1) {
        return n < GBSI_LOCALITY_LEAST || side[0] < FAR ||
               (side[0] >= 2 * FAR && side[1] >= 2 * FAR);
    }
    return n < GBSI_LOCALITY_LEAST || (uint64_t)side[0] * side[1] < FAR ||
           (side[0] >= LONG_SIDES && side[1] >= LONG_SIDES && side[2] >= LONG_SIDES);
}

static gbs_status check(const gbsi_share_lattice *l, gbs_error *err)
{
    const gbsi_grid_shape *shape = &l->shape;
    if (shape->side[0] < LEAST_SIDE || shape->side[1] < LEAST_SIDE ||
        (shape->side[2] > 1 && shape->side[2] < LEAST_SIDE)) {
        return refuse(l, "sides are too short for shares by formulas, which need 4 or more", err);
    }
    if (!gbsi_grid_is_cut_by_planes(shape, (uint32_t)l->facts.n_ranks)) {
        return refuse(l, "cuts between planes do not balance the work to 3 %", err);
    }
    return keeps_order(shape, l->grid.n_variables)
               ? GBS_OK
               : refuse(l, "breadth-first orders of such sides may be local", err);
}

/* Whether all conditionals are products of weights, and all or none are counted. */
static gbs_status check_couplings(const gbsi_share_lattice *l, const gbsi_grid_walk *walk,
                                  gbs_error *err)
{
    const unsigned n_directions = l->shape.side[2] > 1 ? 3 : 2;
    const double span = 2.0 * walk->largest * (2.0 * n_directions + 1.0);
    if (!(span <= MOST_SPAN)) {
        return refuse(l, "couplings and fields are too strong for products of weights", err);
    }
    return walk->alike || 2 * walk->n_mixed > l->grid.n_variables
               ? GBS_OK
               : refuse(l, "some couplings are the same and others are not", err);
}

/* ---- numbers ------------------------------------------------------------------------------- */

void gbsi_lattice_at(const gbsi_share_lattice *l, uint32_t v, uint32_t at[3])
{
    const uint32_t *side = l->shape.side;
    at[0] = v % side[0];
    at[1] = v / side[0] % side[1];
    at[2] = v / side[0] / side[1];
}

/* Of n numbers in a row, the even ones if the first is even. */
static uint64_t evens(uint64_t n, bool first_even)
{
    return (n + (first_even ? 1 : 0)) / 2;
}

uint32_t gbsi_lattice_slot(const gbsi_share_lattice *l, uint32_t v)
{
    uint32_t at[3];
    const uint32_t *side = l->shape.side;
    const uint64_t area = (uint64_t)side[0] * side[1];
    gbsi_lattice_at(l, v, at);
    const bool even_layer = at[2] % 2 == 0;
    const bool even_row = (at[1] + at[2]) % 2 == 0;
    /* layers, rows and places before, each beginning with the colour after the last one's */
    uint64_t n_even =
        evens(at[2], true) * evens(area, true) + (at[2] - evens(at[2], true)) * evens(area, false);
    n_even += evens(at[1], even_layer) * evens(side[0], true) +
              (at[1] - evens(at[1], even_layer)) * evens(side[0], false);
    n_even += evens(at[0], even_row);
    return (at[0] + at[1] + at[2]) % 2 == 0 ? (uint32_t)n_even
                                            : (uint32_t)(l->n_even + (v - n_even));
}

/* ---- facts --------------------------------------------------------------------------------- */

/* n numbers into a digest, the i-th being number(l, i). */
static void feed(const gbsi_share_lattice *l, gbsi_digest *digest, uint64_t n,
                 uint32_t (*number)(const gbsi_share_lattice *l, uint64_t i))
{
    uint32_t chunk[CHUNK];
    for (uint64_t done = 0; done < n;) {
        size_t length = 0;
        for (; length < CHUNK && done < n; ++done) {
            chunk[length++] = number(l, done);
        }
        gbsi_digest_u32(digest, chunk, length);
    }
}

static uint32_t itself(const gbsi_share_lattice *l, uint64_t i)
{
    (void)l;
    return (uint32_t)i;
}

static uint32_t owner(const gbsi_share_lattice *l, uint64_t v)
{
    uint32_t at[3];
    gbsi_lattice_at(l, (uint32_t)v, at);
    return gbsi_grid_part(&l->shape, (uint32_t)l->facts.n_ranks, at);
}

static uint32_t state(const gbsi_share_lattice *l, uint64_t i)
{
    (void)l;
    return i % 2;
}

/* The first 64 bits of a digest of what those of a model file are. */
static gbs_status take_number(gbsi_share_lattice *l, const char *model, gbs_error *err)
{
    char text[33];
    gbsi_digest *digest = NULL;
    const uint64_t n = l->grid.n_variables;
    const gbs_status status = gbsi_digest_new(&digest, err);
    if (status < 0) {
        return status;
    }
    gbsi_digest_bytes(digest, model, sizeof text - 1);
    feed(l, digest, n, itself); /* slots by place */
    feed(l, digest, n, owner);
    feed(l, digest, n, itself); /* the user's variables */
    feed(l, digest, 2 * n, state);
    gbsi_digest_text(digest, text);
    gbsi_digest_free(digest);
    text[16] = '\0';
    l->facts.partition = strtoull(text, NULL, 16);
    return GBS_OK;
}

static void set_facts(gbsi_share_lattice *l, const gbsi_grid_walk *walk)
{
    gbsi_share_facts *f = &l->facts;
    const uint64_t n = l->grid.n_variables;
    char half[17] = "";
    f->n_user_variables = f->n_free = f->n_cells = f->n_places = n;
    f->n_user_states = f->n_states = 2 * n;
    f->max_user_arity = f->max_arity = 2;
    f->n_factors = l->grid.n_factors;
    f->n_components = 1;
    f->n_colors = f->n_batches = 2;
    f->each_once = 1;
    f->support = GBSI_SUPPORT_CONNECTED;
    f->n_runs = 1;
    f->density_units = gbsi_sum_units_of(walk->largest, l->grid.n_factors);
    for (size_t i = 0; i < 2; ++i) {
        memcpy(half, walk->digest + i * 16, 16);
        f->model[i] = strtoull(half, NULL, 16);
    }
}

static void set_schedule(gbsi_share_lattice *l)
{
    const uint32_t n = l->grid.n_variables;
    const gbsi_piece first = {.n = l->n_even,
                              .arity = 2,
                              .class_id = GBSI_CLASS_ISING,
                              .form = GBSI_ODDS | GBSI_LINEAR,
                              .contiguous = 1,
                              .counts = 1};
    l->piece[0] = l->piece[1] = first;
    l->piece[1].place = l->n_even;
    l->piece[1].first_slot = l->n_even;
    l->piece[1].n = n - l->n_even;
    l->batch_start[1] = 1;
    l->batch_start[2] = 2;
    l->whole = (gbsi_schedule){.n_places = n,
                               .n_batches = 2,
                               .batch_start = l->batch_start,
                               .piece = l->piece,
                               .n_pieces = 2};
}

void gbsi_share_lattice_free(gbsi_share_lattice *lattice)
{
    gbsi_free(lattice->block);
    lattice->block = NULL;
}

gbs_status gbsi_share_lattice_init(gbsi_share_lattice *lattice,
                                   const gbs_generate_ising_options *options, uint32_t n_ranks,
                                   int scan, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_share_lattice *l = lattice;
    gbsi_grid_walk walk;
    *l = (gbsi_share_lattice){.facts = {.n_ranks = n_ranks, .scan = (uint64_t)scan}};
    GBSI_TRY(gbsi_grid_spins_init(&l->grid, options, err));
    for (unsigned d = 0; d < 3; ++d) {
        l->shape.side[d] = l->grid.spins.size[d];
        l->shape.torus[d] = l->grid.spins.torus && l->shape.side[d] > 2;
    }
    l->block = gbsi_alloc_array(n_ranks, sizeof *l->block);
    if (l->block == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "partition", n_ranks * sizeof *l->block));
    }
    GBSI_TRY(gbsi_partition_grid(&l->shape, n_ranks, l->block, NULL, err));
    GBSI_TRY(check(l, err));
    GBSI_TRY(gbsi_grid_spins_walk(&l->grid, &walk, err));
    GBSI_TRY(check_couplings(l, &walk, err));
    l->n_even = (uint32_t)evens(l->grid.n_variables, true);
    l->by_count = walk.alike;
    set_facts(l, &walk);
    set_schedule(l);
    GBSI_TRY(take_number(l, walk.digest, err));
cleanup:
    if (status < 0) {
        gbsi_share_lattice_free(l);
    }
    return status;
}
