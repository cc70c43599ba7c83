/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a grid: finds the places and the kinds of sites, and the thresholds for all values of
 * the local log-odds. */
#include "lattice/lattice.h"

#include "base/memory.h"

/* ---- places --------------------------------------------------------------------------------- */

/* Place of a site. @param at coordinates X, Y, Z of the site. */
static gbsi_lattice_place place_at(const gbsi_lattice *lattice, const uint32_t *at)
{
    return (gbsi_lattice_place){.color = (at[0] + at[1] + at[2]) % 2,
                                .layer = at[2] % lattice->height,
                                .row = at[1],
                                .x = at[0] / 2,
                                .bit = at[2] / lattice->height};
}

gbsi_lattice_place gbsi_lattice_locate(const gbsi_lattice *lattice, uint32_t site)
{
    const uint32_t row = site / lattice->side[0];
    const uint32_t at[GBSI_GRID_DIRECTIONS] = {site % lattice->side[0], row % lattice->side[1],
                                               row / lattice->side[1]};
    return place_at(lattice, at);
}

uint32_t gbsi_lattice_word(const gbsi_lattice *lattice, gbsi_lattice_place p)
{
    return ((p.color * lattice->height + p.layer) * lattice->n_rows + p.row) * lattice->padded +
           p.x;
}

size_t gbsi_lattice_state_word(const gbsi_lattice *lattice, gbsi_lattice_place p)
{
    return p.color * lattice->color_words +
           ((size_t)(p.layer + 1) * lattice->n_rows + p.row) * lattice->row_words +
           GBSI_LATTICE_LANES + p.x;
}

double gbsi_lattice_share(const gbsi_lattice *lattice)
{
    return lattice->spins.n_sites / (64.0 * lattice->n_words);
}

static const char *lay_out(gbsi_lattice *l, const gbsi_grid *grid)
{
    memcpy(l->side, grid->side, sizeof l->side);
    memcpy(l->wraps, grid->wraps, sizeof l->wraps);
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        l->seam[d] = grid->wraps[d] && grid->side[d] % 2 != 0;
        l->n_seams += l->seam[d];
    }
    l->width = (l->side[0] + 1) / 2;
    l->padded = (l->width + 15) / 16 * 16;
    l->n_rows = l->side[1];
    l->height = 2 * ((l->side[2] + 63) / 64);
    l->n_blocks = (l->side[2] + l->height - 1) / l->height;
    const uint64_t n_words = (uint64_t)l->height * l->n_rows * l->padded;
    if (n_words >= UINT64_C(1) << 28) { /* 8 blocks of random numbers per word and color */
        return "the lattice has too many sites";
    }
    l->n_words = (uint32_t)n_words;
    l->row_words = (size_t)l->padded + GBSI_LATTICE_LANES;
    l->color_words = (size_t)(l->height + 3) * l->n_rows * l->row_words + GBSI_LATTICE_LANES;
    l->state_words = 2 * l->color_words;
    return NULL;
}

/* Lists the neighbours of a site. Directions with equal J form a group; the sign of a coupling is
 * relative to the first J of its group. */
static void list_neighbours(gbsi_lattice *l, const gbsi_grid *grid)
{
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        uint32_t g = 0;
        while (g < l->spins.n_groups && l->spins.coupling[g] != grid->coupling[d]) {
            ++g;
        }
        if (grid->coupling[d] != 0.0 && g == l->spins.n_groups) {
            l->spins.coupling[l->spins.n_groups++] = grid->coupling[d];
        }
    }
    for (uint32_t g = 0; g < l->spins.n_groups; ++g) {
        for (uint8_t d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
            for (int forward = 1; grid->coupling[d] == l->spins.coupling[g] && forward >= 0;
                 --forward) {
                l->direction[l->n_neighbours] = d;
                l->forward[l->n_neighbours++] = forward != 0;
                ++l->group_size[g];
            }
        }
    }
}

/* ---- kinds of sites ------------------------------------------------------------------------- */

typedef struct compiling {
    gbsi_lattice *lattice;
    const gbsi_grid *grid;
    uint32_t stride[GBSI_GRID_DIRECTIONS];
    uint32_t site, at[GBSI_GRID_DIRECTIONS]; /* site under test, and its coordinates */
    uint32_t n_plain[GBSI_LATTICE_KINDS]; /* number of sites of each kind that have no missing and
                                             no negative bonds */
    uint32_t n_of_kind[GBSI_LATTICE_KINDS];
} compiling;

/* Sets the walk over all sites to the first site. go_on() moves to the next site without a
 * division, and returns false after the last site. */
static void go_to_first(compiling *c)
{
    uint32_t stride = 1;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; stride *= c->grid->side[d++]) {
        c->stride[d] = stride;
        c->at[d] = 0;
    }
    c->site = 0;
}

static bool go_on(compiling *c)
{
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        if (++c->at[d] < c->grid->side[d]) {
            ++c->site;
            return true;
        }
        c->at[d] = 0;
    }
    return false;
}

static uint32_t field_of(const compiling *c)
{
    return c->grid->field_of == NULL ? 0 : c->grid->field_of[c->site];
}

/* Bond to a neighbour, as if all lines were closed: 1, -1 or 0. */
static int bond_of(const compiling *c, uint32_t neighbour)
{
    const uint8_t d = c->lattice->direction[neighbour];
    const uint32_t stride = c->stride[d];
    if (c->lattice->forward[neighbour]) {
        return c->grid->bond[d][c->site];
    }
    return c->grid
        ->bond[d][c->at[d] > 0 ? c->site - stride : c->site + (c->grid->side[d] - 1) * stride];
}

/* Finds the kind of the site of the walk, and adds the kind to the lattice if it is new. @return
 * the kind; GBSI_LATTICE_KINDS if there are too many. */
static uint32_t kind_of(compiling *c, bool *plain)
{
    gbsi_lattice *l = c->lattice;
    gbsi_lattice_kind kind = {.field = field_of(c)};
    uint32_t k = 0;
    *plain = true;
    for (uint32_t g = 0; g < l->spins.n_groups; ++g) {
        for (uint32_t end = k + l->group_size[g]; k < end; ++k) {
            const int bond = bond_of(c, k);
            kind.degree[g] = (uint8_t)(kind.degree[g] + (bond != 0));
            *plain = *plain && bond == 1;
        }
    }
    uint32_t i = 0;
    while (i < l->n_kinds && (l->kind[i].field != kind.field ||
                              memcmp(l->kind[i].degree, kind.degree, sizeof kind.degree) != 0)) {
        ++i;
    }
    if (i == l->n_kinds && i < GBSI_LATTICE_KINDS) {
        l->kind[l->n_kinds++] = kind;
    }
    return i;
}

static const char *list_kinds(compiling *c)
{
    gbsi_lattice *l = c->lattice;
    go_to_first(c);
    do {
        bool plain = false;
        const uint32_t kind = kind_of(c, &plain);
        if (kind == GBSI_LATTICE_KINDS) {
            return "too many combinations of field and missing bonds";
        }
        ++c->n_of_kind[kind];
        c->n_plain[kind] += plain;
        for (uint32_t k = 0, g = 0, end = 0; g < l->spins.n_groups; ++g) {
            for (end += l->group_size[g]; k < end; ++k) {
                l->spins.n_bonds[g] += l->forward[k] && bond_of(c, k) != 0;
            }
        }
    } while (go_on(c));
    return NULL;
}

/* Returns the kind of the opposite field, whose sites become like plain sites if all spins are
 * turned round. A kind for which both states can be equally likely has no mirror, because the
 * random bits would differ between the two kinds. */
static uint32_t mirror_of(const gbsi_lattice *l, uint32_t i)
{
    const gbsi_lattice_kind *kind = &l->kind[i];
    for (uint32_t j = 0; j < kind->n_levels; ++j) {
        if (l->threshold[l->level[kind->first_level + j].threshold] == UINT32_C(1) << 31) {
            return GBSI_NONE;
        }
    }
    for (uint32_t j = 0; j < l->n_kinds; ++j) {
        if (j != i && l->spins.field[l->kind[j].field] == -l->spins.field[kind->field] &&
            memcmp(l->kind[j].degree, kind->degree, sizeof kind->degree) == 0) {
            return j;
        }
    }
    return GBSI_NONE;
}

static uint32_t n_plain_of(const compiling *c, uint32_t kind)
{
    return kind == GBSI_NONE ? 0 : c->n_plain[kind];
}

/* Chooses as plain kind the kind that, together with its mirror, has the most sites without missing
 * or negative bonds. The fast path requires 4 or 6 neighbours in one group. */
static void choose_plain(compiling *c)
{
    gbsi_lattice *l = c->lattice;
    l->plain_kind = GBSI_NONE;
    l->mirror_kind = GBSI_NONE;
    if (l->spins.n_groups != 1 || l->n_neighbours < 4) {
        return;
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < l->n_kinds; ++i) {
        const uint32_t mirror = mirror_of(l, i);
        const uint32_t n = c->n_plain[i] + n_plain_of(c, mirror);
        if (c->n_plain[i] > 0 && n > most) {
            most = n;
            l->plain_kind = i;
            l->mirror_kind = mirror;
        }
    }
}

/* ---- thresholds ----------------------------------------------------------------------------- */

static uint32_t enter_threshold(gbsi_lattice *l, uint32_t threshold)
{
    uint32_t i = 0;
    while (i < l->n_thresholds && l->threshold[i] != threshold) {
        ++i;
    }
    if (i == l->n_thresholds && i < GBSI_LATTICE_THRESHOLDS) {
        l->threshold[l->n_thresholds++] = threshold;
    }
    return i;
}

static bool list_levels(gbsi_lattice *l, gbsi_lattice_kind *kind)
{
    uint8_t c[GBSI_SPIN_GROUPS] = {0};
    kind->first_level = l->n_levels;
    for (c[2] = 0; c[2] <= kind->degree[2]; ++c[2]) {
        for (c[1] = 0; c[1] <= kind->degree[1]; ++c[1]) {
            for (c[0] = 0; c[0] <= kind->degree[0]; ++c[0]) {
                uint32_t likely = 0;
                const uint32_t t = enter_threshold(
                    l, gbsi_spins_threshold(&l->spins, kind->field, kind->degree, c, &likely));
                if (t == GBSI_LATTICE_THRESHOLDS || l->n_levels == GBSI_LATTICE_LEVELS) {
                    return false;
                }
                gbsi_lattice_level *level = &l->level[l->n_levels++];
                memcpy(level->count, c, sizeof c);
                level->threshold = (uint8_t)t;
                level->flip = (uint8_t)likely;
            }
        }
    }
    kind->n_levels = l->n_levels - kind->first_level;
    return true;
}

/* Fills the tables of the plain kind, which are indexed by the number of neighbours up. `folded`
 * becomes true if, for every c, the thresholds for c and for n - c neighbours up are equal. */
static void fold_plain(gbsi_lattice *l)
{
    const gbsi_lattice_kind *kind = &l->kind[l->plain_kind];
    const gbsi_lattice_level *level = &l->level[kind->first_level];
    const uint32_t n = l->n_neighbours;
    l->folded = true;
    for (uint32_t c = 0; c <= n; ++c) {
        l->folded = l->folded && level[c].threshold == level[n - c].threshold;
        l->plain_flip[c] = level[c].flip ? UINT32_MAX : 0;
        for (uint32_t plane = 0; plane < GBSI_SPIN_PLANES; ++plane) {
            l->plain_bit[plane][c] = gbsi_spins_plane(l->threshold[level[c].threshold], plane);
        }
    }
}

static const char *list_thresholds(gbsi_lattice *l)
{
    for (uint32_t i = 0; i < l->n_kinds; ++i) {
        if (!list_levels(l, &l->kind[i])) {
            return "the local field takes too many values";
        }
    }
    for (uint32_t t = 0; t < l->n_thresholds; ++t) {
        for (uint32_t plane = 0; plane < GBSI_SPIN_PLANES; ++plane) {
            l->bit[plane][t] = gbsi_spins_plane(l->threshold[t], plane);
        }
    }
    return NULL;
}

/* ---- masks ---------------------------------------------------------------------------------- */

static gbs_status take_mask(gbsi_lattice *l, uint32_t **mask, gbs_error *err)
{
    const size_t n = 2 * (size_t)l->n_words;
    *mask = gbsi_alloc_lanes(n, sizeof **mask);
    l->bytes += n * sizeof **mask;
    return *mask == NULL ? gbsi_no_memory(err, "lattice", n * sizeof **mask) : GBS_OK;
}

/* Allocates the masks that at least one site needs. */
static gbs_status take_masks(compiling *c, gbs_error *err)
{
    gbsi_lattice *l = c->lattice;
    const uint32_t n_plain = n_plain_of(c, l->plain_kind) + n_plain_of(c, l->mirror_kind);
    uint64_t n_whole = 0; /* number of plain sites, all of whose bonds are J */
    for (uint32_t i = 0; i < l->n_kinds; ++i) {
        n_whole += c->n_plain[i];
    }
    if (gbsi_lattice_share(l) < 1.0) {
        GBSI_PASS(take_mask(l, &l->valid, err));
    }
    if (n_plain > 0 && n_plain < l->spins.n_sites) {
        const size_t n = 2 * (size_t)l->n_words / GBSI_LATTICE_LANES;
        l->plain = gbsi_alloc_array(n, 1);
        GBSI_PASS(GBSI_HAVE(err, "lattice", l->plain));
        memset(l->plain, 1, n);
    }
    for (uint32_t k = 0; n_whole < l->spins.n_sites && k < l->n_neighbours; ++k) {
        GBSI_PASS(take_mask(l, &l->present[k], err));
        GBSI_PASS(take_mask(l, &l->negative[k], err));
    }
    for (uint32_t i = 0; l->n_kinds > 1 && i < l->n_kinds; ++i) {
        GBSI_PASS(take_mask(l, &l->kind_mask[i], err));
    }
    return GBS_OK;
}

static void fill_masks(compiling *c)
{
    gbsi_lattice *l = c->lattice;
    if (l->valid == NULL && l->plain == NULL && l->present[0] == NULL && l->n_kinds == 1) {
        return;
    }
    go_to_first(c);
    do {
        const gbsi_lattice_place place = place_at(l, c->at);
        const uint32_t w = gbsi_lattice_word(l, place);
        const uint32_t bit = UINT32_C(1) << place.bit;
        bool plain = false;
        const uint32_t kind = kind_of(c, &plain);
        if (l->valid != NULL) {
            l->valid[w] |= bit;
        }
        if (l->plain != NULL && ((kind != l->plain_kind && kind != l->mirror_kind) || !plain)) {
            l->plain[w / GBSI_LATTICE_LANES] = 0;
        }
        for (uint32_t k = 0; l->present[0] != NULL && k < l->n_neighbours; ++k) {
            const int bond = bond_of(c, k);
            l->present[k][w] |= bond != 0 ? bit : 0;
            l->negative[k][w] |= bond < 0 ? bit : 0;
        }
        if (l->n_kinds > 1) {
            l->kind_mask[kind][w] |= bit;
        }
    } while (go_on(c));
}

gbs_status gbsi_lattice_of_grid(const gbsi_grid *grid, gbsi_lattice **out, const char **reason,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_lattice *l = gbsi_alloc_zero(sizeof *l);
    compiling c = {.lattice = l, .grid = grid};
    GBSI_PASS(GBSI_HAVE(err, "lattice", l));
    l->spins = grid->spins;
    const char *why = lay_out(l, grid);
    if (why == NULL) {
        l->bytes = sizeof *l;
        list_neighbours(l, grid);
        why = list_kinds(&c);
    }
    if (why == NULL) {
        why = list_thresholds(l);
    }
    if (why == NULL) {
        choose_plain(&c);
        if (l->plain_kind != GBSI_NONE) {
            fold_plain(l);
        }
        GBSI_TRY(take_masks(&c, err));
        fill_masks(&c);
        *out = l;
        l = NULL;
    }
    *reason = why;
cleanup:
    gbsi_lattice_free(l);
    return status;
}

gbs_status gbsi_lattice_new(const gbsi_conditioned *model, gbsi_lattice **out, const char **reason,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_grid grid = {0};
    GBSI_TRY(gbsi_grid_find(model, &grid, reason, err));
    if (*reason == NULL) {
        GBSI_TRY(gbsi_lattice_of_grid(&grid, out, reason, err));
    }
cleanup:
    gbsi_grid_free(&grid);
    return status;
}

void gbsi_lattice_free(gbsi_lattice *l)
{
    if (l == NULL) {
        return;
    }
    GBSI_FREE(l->valid, l->plain);
    for (uint32_t k = 0; k < GBSI_LATTICE_NEIGHBOURS; ++k) {
        GBSI_FREE(l->present[k], l->negative[k]);
    }
    for (uint32_t i = 0; i < GBSI_LATTICE_KINDS; ++i) {
        gbsi_free(l->kind_mask[i]);
    }
    gbsi_free(l);
}
