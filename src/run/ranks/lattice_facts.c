/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the facts that all shares of a lattice have in common, and refuses lattices for which
 * the formulas are wrong. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/plural.h"
#include "ranks/lattice.h"
#include "reference/exact_components.h"
#include "store/model.h"

enum { CHUNK = 512 };

/* Least length of a side of the lattice. With this length, most variables have a next neighbour in
 * two directions. */
#define LEAST_SIDE 4u
/* The largest span of the log-weights of a conditional. It is below GBSI_LINEAR_SPAN by more than
 * the rounding of sums. */
#define MOST_SPAN 39.0
/* The largest span of the log-weights for grids of levels. With at most 7 factors per variable, no
 * sum of floats has an error as large as GBSI_ROUNDING_LIMIT. */
#define MOST_SPAN_OF_LEVELS 60.0
/* Limits of src/model/graph/locality.c. If first neighbours are FAR or more places away, and the
 * levels of a breadth-first search are shorter than this distance, the variables get another order.
 */
#define FAR        4096u
#define LONG_SIDES 128u

/* ---- what is refused ----------------------------------------------------------------------- */

static gbs_status refuse(const gbsi_share_lattice *l, const char *why, gbs_error *err)
{
    const uint32_t *side = l->shape.side;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "a lattice of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                     " on %u rank%s: %s: divide a model file",
                     side[1], side[0], side[2], (unsigned)l->facts.n_ranks,
                     gbsi_plural(l->facts.n_ranks), why);
}

/* Whether the plan of the whole model keeps the variables in the order of their numbers
 * (src/model/graph/locality.c). The plan keeps this order if the model is small, if first
 * neighbours are near, or if all sides are long. With long sides, the levels of a breadth-first
 * search are long. */
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
    if (l->grid.arity < 2) {
        return refuse(l, "variables of one state are not sampled", err);
    }
    if (l->grid.n_entries > GBSI_SHORT_TABLE) {
        return refuse(l, "data terms of more than 64 states are not taken by formulas", err);
    }
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

/* Checks that the formulas know which conditionals are products of weights, and that all or none of
 * these conditionals are computed by counts. */
static gbs_status check_couplings(const gbsi_share_lattice *l, const gbsi_grid_walk *walk,
                                  gbs_error *err)
{
    const bool levels = l->grid.n_entries > 0;
    if (!(walk->span <= (levels ? MOST_SPAN_OF_LEVELS : MOST_SPAN))) {
        return refuse(l,
                      levels ? "couplings and data terms are too strong for sums in float"
                             : "couplings and fields are too strong for products of weights",
                      err);
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

/* How many of n consecutive numbers are even. */
static uint64_t evens(uint64_t n, bool first_even)
{
    return (n + (first_even ? 1 : 0)) / 2;
}

uint32_t gbsi_lattice_position(const gbsi_share_lattice *l, uint32_t v)
{
    uint32_t at[3];
    const uint32_t *side = l->shape.side;
    const uint64_t area = (uint64_t)side[0] * side[1];
    gbsi_lattice_at(l, v, at);
    const bool even_layer = at[2] % 2 == 0;
    const bool even_row = (at[1] + at[2]) % 2 == 0;
    /* number of even sites in the earlier layers, rows and places; of two successive layers, rows
     * or places, one begins with an even site and the other with an odd site */
    uint64_t n_even =
        evens(at[2], true) * evens(area, true) + (at[2] - evens(at[2], true)) * evens(area, false);
    n_even += evens(at[1], even_layer) * evens(side[0], true) +
              (at[1] - evens(at[1], even_layer)) * evens(side[0], false);
    n_even += evens(at[0], even_row);
    return (at[0] + at[1] + at[2]) % 2 == 0 ? (uint32_t)n_even
                                            : (uint32_t)(l->n_even + (v - n_even));
}

/* ---- sums of logarithms -------------------------------------------------------------------- */

/* Number of members of a set at positions before this position. */
static uint32_t sums_before(const gbsi_lattice_sums *s, uint32_t position)
{
    const uint64_t below = ((uint64_t)1 << (position % 64)) - 1;
    return s->before[position / 64] + (uint32_t)__builtin_popcountll(s->bit[position / 64] & below);
}

uint32_t gbsi_lattice_slot(const gbsi_share_lattice *l, uint32_t v)
{
    const gbsi_lattice_sums *s = &l->sums;
    const uint32_t position = gbsi_lattice_position(l, v);
    if (s->bit == NULL) {
        return position;
    }
    const bool odd = position >= l->n_even;
    const uint32_t first = odd ? l->n_even : 0;
    const uint32_t before = sums_before(s, position) - (odd ? s->n[0] : 0);
    const bool is_sum = (s->bit[position / 64] >> (position % 64) & 1) != 0;
    return is_sum ? first + before : position - before + s->n[odd];
}

static unsigned count_neighbours(const gbsi_share_lattice *l, uint32_t v)
{
    unsigned n = 0;
    uint32_t at[3];
    gbsi_lattice_at(l, v, at);
    for (unsigned d = 0; d < 3; ++d) {
        n += l->shape.torus[d] || at[d] > 0;
        n += l->shape.torus[d] || at[d] + 1 < l->shape.side[d];
    }
    return n;
}

static gbs_status find_sums(gbsi_share_lattice *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_lattice_sums *s = &l->sums;
    const size_t n_words = ((size_t)l->grid.n_variables + 63) / 64;
    double *entry = gbsi_alloc_array(l->grid.n_entries, sizeof *entry);
    s->bit = gbsi_alloc_array_zero(n_words, sizeof *s->bit);
    s->before = gbsi_alloc_array(n_words, sizeof *s->before);
    GBSI_TRY(GBSI_HAVE(err, "partition", entry, s->bit, s->before));
    for (uint32_t v = 0; v < l->grid.n_variables; ++v) {
        if (gbsi_grid_span(&l->grid, v, count_neighbours(l, v), entry) > GBSI_LINEAR_SPAN) {
            const uint32_t position = gbsi_lattice_position(l, v);
            s->bit[position / 64] |= (uint64_t)1 << (position % 64);
            ++s->n[position >= l->n_even];
        }
    }
    uint32_t n = 0;
    for (size_t w = 0; w < n_words; ++w) {
        s->before[w] = n;
        n += (uint32_t)__builtin_popcountll(s->bit[w]);
    }
cleanup:
    gbsi_free(entry);
    return status;
}

/* ---- facts --------------------------------------------------------------------------------- */

/* Adds n numbers to a digest; the i-th number is number(l, i). */
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
    return (uint32_t)(i % l->grid.arity);
}

/* Sets facts.partition: the first 64 bits of a digest of the same data as for a model file. */
static gbs_status take_number(gbsi_share_lattice *l, const char *model, gbs_error *err)
{
    char text[33];
    gbsi_digest *digest = NULL;
    const uint64_t n = l->grid.n_variables;
    GBSI_PASS(gbsi_digest_new(&digest, err));
    gbsi_digest_bytes(digest, model, sizeof text - 1);
    feed(l, digest, n, itself); /* slot of each place */
    feed(l, digest, n, owner);
    feed(l, digest, n, itself); /* numbers of the variables in the user's model */
    feed(l, digest, l->grid.arity * n, state);
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
    f->n_user_variables = f->n_free = f->n_places = n;
    f->n_user_states = f->n_states = l->grid.arity * n;
    f->n_cells = l->grid.arity == 2 ? n : f->n_states;
    f->max_user_arity = f->max_arity = l->grid.arity;
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

static void add_piece(gbsi_share_lattice *l, uint32_t n, unsigned form)
{
    gbsi_schedule *whole = &l->whole;
    const bool spins = l->grid.arity == 2;
    if (n > 0) {
        l->piece[whole->n_pieces++] =
            (gbsi_piece){.place = whole->n_places,
                         .n = n,
                         .first_slot = (uint32_t)whole->n_places,
                         .arity = l->grid.arity,
                         .class_id = spins ? GBSI_CLASS_ISING : GBSI_CLASS_POTTS,
                         .form = (uint8_t)((spins ? GBSI_ODDS : 0) | form),
                         .contiguous = 1,
                         .counts = 1};
        whole->n_places += n;
    }
}

static void set_schedule(gbsi_share_lattice *l)
{
    const uint32_t n[2] = {l->n_even, l->grid.n_variables - l->n_even};
    l->whole = (gbsi_schedule){.n_batches = 2, .batch_start = l->batch_start, .piece = l->piece};
    for (size_t color = 0; color < 2; ++color) {
        add_piece(l, l->sums.n[color], 0);
        add_piece(l, n[color] - l->sums.n[color], GBSI_LINEAR);
        l->batch_start[color + 1] = l->whole.n_pieces;
    }
}

void gbsi_share_lattice_free(gbsi_share_lattice *lattice)
{
    GBSI_FREE(lattice->block, lattice->sums.bit, lattice->sums.before);
    lattice->block = NULL;
    lattice->sums = (gbsi_lattice_sums){0};
}

gbs_status gbsi_share_lattice_init(gbsi_share_lattice *lattice, const gbsi_grid_model *grid,
                                   uint32_t n_ranks, int scan, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_share_lattice *l = lattice;
    gbsi_grid_walk walk;
    *l = (gbsi_share_lattice){.grid = *grid, .facts = {.n_ranks = n_ranks, .scan = (uint64_t)scan}};
    for (unsigned d = 0; d < 3; ++d) {
        l->shape.side[d] = grid->size[d];
        l->shape.torus[d] = grid->torus && l->shape.side[d] > 2;
    }
    l->block = gbsi_alloc_array(n_ranks, sizeof *l->block);
    GBSI_TRY(GBSI_HAVE(err, "partition", l->block));
    GBSI_TRY(gbsi_partition_grid(&l->shape, n_ranks, l->block, NULL, err));
    GBSI_TRY(check(l, err));
    GBSI_TRY(gbsi_grid_walk_through(&l->grid, &walk, err));
    GBSI_TRY(check_couplings(l, &walk, err));
    l->n_even = (uint32_t)evens(l->grid.n_variables, true);
    l->by_count = walk.alike;
    if (walk.span > MOST_SPAN) {
        GBSI_TRY(find_sums(l, err));
    }
    set_facts(l, &walk);
    set_schedule(l);
    GBSI_TRY(take_number(l, walk.digest, err));
cleanup:
    if (status < 0) {
        gbsi_share_lattice_free(l);
    }
    return status;
}
