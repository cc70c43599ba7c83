/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a graph of spins for the form with chains in bits: finds kinds of sites, slots,
 * neighbours and thresholds. */
#include "lattice/packed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

typedef struct compiling {
    gbsi_packed *packed;
    const gbsi_conditioned *model;
    const uint32_t *color;
    /* [n] index of each site's field; NULL if all sites have one field */
    uint8_t *field_of;
    uint8_t (*degree)[GBSI_SPIN_GROUPS]; /* [n] number of neighbours in each group */
    uint8_t *kind_of;                    /* [n] kind of each site */
    uint32_t *slot_of;                   /* [n] slot of each site */
    /* [n_colors * n_kinds + 1] first slot of each colour and kind, later the first row */
    uint32_t *start;
} compiling;

uint64_t gbsi_packed_compile_bytes(uint32_t n_sites)
{
    return n_sites * (uint64_t)(GBSI_SPIN_GROUPS + 1 + sizeof(uint32_t)) +
           gbsi_spins_find_bytes(n_sites);
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* Finds the two variables of a factor and their coupling. @return false if the factor does not
 * couple two variables. */
static bool pair_of(const compiling *c, size_t f, uint32_t *u, uint32_t *v, double *coupling)
{
    const gbsi_factors *factors = &c->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    if (factors->scope_start[f + 1] - factors->scope_start[f] != 2) {
        return false;
    }
    *u = scope[0];
    *v = scope[1];
    *coupling = gbsi_spin_factor_of(c->model, f).coupling;
    return *coupling != 0.0;
}

/* Finds the group of a coupling, which is entered if it is new. @return the group; GBSI_SPIN_GROUPS
 * if there are too many. */
static uint32_t group_of(gbsi_spins *spins, double coupling)
{
    uint32_t g = 0;
    while (g < spins->n_groups && spins->coupling[g] != fabs(coupling)) {
        ++g;
    }
    if (g == spins->n_groups && g < GBSI_SPIN_GROUPS) {
        spins->coupling[spins->n_groups++] = fabs(coupling);
    }
    return g;
}

static const char *count_neighbours(compiling *c)
{
    gbsi_spins *spins = &c->packed->spins;
    for (size_t f = 0; f < c->model->factors.n_factors; ++f) {
        uint32_t end[2] = {0, 0};
        double coupling = 0.0;
        if (!pair_of(c, f, &end[0], &end[1], &coupling)) {
            continue;
        }
        const uint32_t g = group_of(spins, coupling);
        if (g == GBSI_SPIN_GROUPS) {
            return "couplings of more than three sizes";
        }
        ++spins->n_bonds[g];
        for (unsigned i = 0; i < 2; ++i) {
            if (++c->degree[end[i]][g] > GBSI_SPIN_NEIGHBOURS) {
                return "more than six neighbours with couplings of the same size";
            }
        }
    }
    return NULL;
}

static void place_neighbour(const compiling *c, uint32_t u, uint32_t v, uint32_t group,
                            bool negative)
{
    const gbsi_packed *p = c->packed;
    const uint32_t slot = c->slot_of[u];
    const gbsi_packed_row *row = &p->row[slot / GBSI_PACKED_LANES];
    uint32_t block = row->first_block;
    for (uint32_t g = 0; g < group; ++g) {
        block += p->kind[row->kind].degree[g];
    }
    block +=
        --c->degree[u][group]; /* `degree` now counts the neighbours that are not entered yet */
    p->neighbour[(size_t)block * GBSI_PACKED_LANES + slot % GBSI_PACKED_LANES] =
        c->slot_of[v] | (negative ? GBSI_PACKED_NEGATIVE : 0) |
        (c->color[v] < c->color[u] ? GBSI_PACKED_LOWER : 0);
}

static void place_neighbours(const compiling *c)
{
    for (size_t f = 0; f < c->model->factors.n_factors; ++f) {
        uint32_t u = 0;
        uint32_t v = 0;
        double coupling = 0.0;
        if (pair_of(c, f, &u, &v, &coupling)) {
            const uint32_t g = group_of(&c->packed->spins, coupling);
            place_neighbour(c, u, v, g, coupling < 0.0);
            place_neighbour(c, v, u, g, coupling < 0.0);
        }
    }
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static const char *list_kinds(compiling *c)
{
    gbsi_packed *p = c->packed;
    for (uint32_t v = 0; v < p->spins.n_sites; ++v) {
        const uint32_t field = c->field_of == NULL ? 0 : c->field_of[v];
        uint32_t i = 0;
        while (i < p->n_kinds &&
               (p->kind[i].field != field ||
                memcmp(p->kind[i].degree, c->degree[v], sizeof p->kind[i].degree) != 0)) {
            ++i;
        }
        if (i == GBSI_PACKED_KINDS) {
            return "too many combinations of field and number of neighbours";
        }
        if (i == p->n_kinds) {
            p->kind[p->n_kinds++].field = field;
            memcpy(p->kind[i].degree, c->degree[v], sizeof p->kind[i].degree);
        }
        c->kind_of[v] = (uint8_t)i;
    }
    return NULL;
}

/* Moves to the next combination of numbers of neighbours up in the groups. @return false after the
 * last. */
static bool next_count(const gbsi_packed_kind *kind, uint8_t *count)
{
    for (uint32_t g = 0; g < GBSI_SPIN_GROUPS; ++g) {
        if (count[g]++ < kind->degree[g]) {
            return true;
        }
        count[g] = 0;
    }
    return false;
}

/* Lists the levels of a kind, which are the values of its log-odds. @param threshold
 * [GBSI_PACKED_THRESHOLDS] out: thresholds of the kind. @return false if there are too many levels.
 */
static bool list_levels(gbsi_packed *p, gbsi_packed_kind *kind, uint32_t *threshold)
{
    gbsi_packed_level *level = p->level + kind->first_level;
    uint8_t count[GBSI_SPIN_GROUPS] = {0};
    do {
        uint32_t likely = 0;
        const uint32_t t =
            gbsi_spins_threshold(&p->spins, kind->field, kind->degree, count, &likely);
        uint32_t i = 0;
        while (i < kind->n_thresholds && threshold[i] != t) {
            ++i;
        }
        if (i == GBSI_PACKED_THRESHOLDS) {
            return false;
        }
        threshold[i] = t;
        kind->n_thresholds += i == kind->n_thresholds;
        memcpy(level->count, count, sizeof count);
        level->threshold = (uint8_t)i;
        level->flip = (uint8_t)likely;
        ++level;
    } while (next_count(kind, count));
    return true;
}

static gbs_status take_levels(compiling *c, uint32_t *n_levels, gbs_error *err)
{
    gbsi_packed *p = c->packed;
    *n_levels = 0;
    for (uint32_t i = 0; i < p->n_kinds; ++i) {
        gbsi_packed_kind *kind = &p->kind[i];
        kind->first_level = *n_levels;
        kind->n_levels = 1;
        for (uint32_t g = 0; g < GBSI_SPIN_GROUPS; ++g) {
            kind->n_levels *= kind->degree[g] + 1u;
        }
        *n_levels += kind->n_levels;
    }
    p->level = gbsi_alloc_array(*n_levels, sizeof *p->level);
    return GBSI_HAVE(err, "lattice", p->level);
}

/* Lists the levels of all kinds, and the bit planes of their thresholds. */
static gbs_status list_thresholds(compiling *c, const char **reason, gbs_error *err)
{
    gbsi_packed *p = c->packed;
    gbs_status status = GBS_OK;
    uint32_t n_levels = 0;
    uint32_t *threshold = NULL;
    GBSI_TRY(take_levels(c, &n_levels, err));
    threshold = gbsi_alloc_array((size_t)p->n_kinds * GBSI_PACKED_THRESHOLDS, sizeof *threshold);
    GBSI_TRY(GBSI_HAVE(err, "lattice", threshold));
    for (uint32_t i = 0; i < p->n_kinds; ++i) {
        gbsi_packed_kind *kind = &p->kind[i];
        kind->first_threshold = p->n_thresholds;
        if (!list_levels(p, kind, threshold + p->n_thresholds)) {
            *reason = "the local field takes too many values";
            goto cleanup;
        }
        p->n_thresholds += kind->n_thresholds;
    }
    p->bit = gbsi_alloc_array((size_t)GBSI_SPIN_PLANES * p->n_thresholds, sizeof *p->bit);
    GBSI_TRY(GBSI_HAVE(err, "lattice", p->bit));
    for (uint32_t plane = 0; plane < GBSI_SPIN_PLANES; ++plane) {
        for (uint32_t t = 0; t < p->n_thresholds; ++t) {
            p->bit[(size_t)plane * p->n_thresholds + t] = gbsi_spins_plane(threshold[t], plane);
        }
    }
    p->bytes +=
        n_levels * sizeof *p->level + (size_t)GBSI_SPIN_PLANES * p->n_thresholds * sizeof *p->bit;
cleanup:
    gbsi_free(threshold);
    return status;
}

/* ---- slots ---------------------------------------------------------------------------------- */

/* Finds where the slots of each colour and kind begin, and counts rows and blocks. */
static gbs_status count_slots(compiling *c, uint64_t *n_slots, gbs_error *err)
{
    const gbsi_packed *p = c->packed;
    const uint32_t n = p->n_colors * p->n_kinds;
    c->start = gbsi_alloc_array_zero((size_t)n + 1, sizeof *c->start);
    GBSI_PASS(GBSI_HAVE(err, "lattice", c->start));
    for (uint32_t v = 0; v < p->spins.n_sites; ++v) {
        ++c->start[c->color[v] * p->n_kinds + c->kind_of[v]];
    }
    *n_slots = 0;
    for (uint32_t i = 0; i <= n; ++i) {
        const uint64_t n_here = c->start[i];
        c->start[i] = (uint32_t)*n_slots;
        *n_slots += (n_here + GBSI_PACKED_LANES - 1) / GBSI_PACKED_LANES * GBSI_PACKED_LANES;
    }
    return GBS_OK;
}

static gbs_status take_slots(compiling *c, gbs_error *err)
{
    gbsi_packed *p = c->packed;
    p->row = gbsi_alloc_array(p->n_rows, sizeof *p->row);
    p->variable_of = gbsi_alloc_array(p->n_slots, sizeof *p->variable_of);
    p->color_row = gbsi_alloc_array(p->n_colors + (size_t)1, sizeof *p->color_row);
    c->slot_of = gbsi_alloc_array(p->spins.n_sites, sizeof *c->slot_of);
    p->bytes += p->n_rows * sizeof *p->row + p->n_slots * sizeof *p->variable_of +
                (p->n_colors + (size_t)1) * sizeof *p->color_row;
    return GBSI_HAVE(err, "lattice", p->row, p->variable_of, p->color_row, c->slot_of);
}

/* Assigns variables to slots and rows. @return number of blocks of neighbours. */
static uint64_t fill_rows(compiling *c)
{
    gbsi_packed *p = c->packed;
    uint64_t n_blocks = 0;
    memset(p->variable_of, 0xff, p->n_slots * sizeof *p->variable_of);
    for (uint32_t i = 0; i < p->n_colors * p->n_kinds; ++i) {
        const gbsi_packed_kind *kind = &p->kind[i % p->n_kinds];
        if (i % p->n_kinds == 0) {
            p->color_row[i / p->n_kinds] = c->start[i] / GBSI_PACKED_LANES;
        }
        for (uint32_t r = c->start[i] / GBSI_PACKED_LANES; r < c->start[i + 1] / GBSI_PACKED_LANES;
             ++r) {
            p->row[r] = (gbsi_packed_row){i % p->n_kinds, 0, (uint32_t)n_blocks};
            for (uint32_t g = 0; g < GBSI_SPIN_GROUPS; ++g) {
                n_blocks += kind->degree[g];
            }
        }
    }
    p->color_row[p->n_colors] = p->n_rows;
    /* the start of a colour and kind moves on by one slot for each variable */
    for (uint32_t v = 0; v < p->spins.n_sites; ++v) {
        const uint32_t slot = c->start[c->color[v] * p->n_kinds + c->kind_of[v]]++;
        c->slot_of[v] = slot;
        p->variable_of[slot] = v;
        ++p->row[slot / GBSI_PACKED_LANES].n_sites;
    }
    return n_blocks;
}

static gbs_status number_slots(compiling *c, const char **reason, gbs_error *err)
{
    gbsi_packed *p = c->packed;
    gbs_status status = GBS_OK;
    uint64_t n_slots = 0;
    GBSI_TRY(count_slots(c, &n_slots, err));
    if (n_slots >= UINT64_C(1) << 29) { /* 8 blocks of random numbers per slot */
        *reason = "too many variables";
        goto cleanup;
    }
    p->n_slots = (uint32_t)n_slots;
    p->n_rows = p->n_slots / GBSI_PACKED_LANES;
    GBSI_TRY(take_slots(c, err));
    const uint64_t n_blocks = fill_rows(c);
    if (n_blocks > UINT32_MAX) {
        *reason = "too many neighbours";
        goto cleanup;
    }
    p->neighbour = gbsi_alloc_lanes(n_blocks * GBSI_PACKED_LANES, sizeof *p->neighbour);
    p->bytes += n_blocks * GBSI_PACKED_LANES * sizeof *p->neighbour;
    GBSI_TRY(GBSI_HAVE(err, "lattice", p->neighbour));
    place_neighbours(c);
cleanup:
    return status;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static gbs_status take_scratch(compiling *c, gbs_error *err)
{
    const size_t n = c->model->n_variables;
    c->degree = gbsi_alloc_array_zero(n, sizeof *c->degree);
    c->kind_of = gbsi_alloc_array(n, 1);
    return GBSI_HAVE(err, "lattice", c->degree, c->kind_of);
}

static gbs_status compile(compiling *c, const char **reason, gbs_error *err)
{
    *reason = gbsi_spins_refusal(c->model);
    if (*reason != NULL) {
        return GBS_OK;
    }
    GBSI_PASS(take_scratch(c, err));
    *reason = count_neighbours(c);
    if (*reason == NULL) {
        GBSI_PASS(gbsi_spins_find_fields(c->model, &c->packed->spins, &c->field_of, reason, err));
    }
    if (*reason == NULL) {
        *reason = list_kinds(c);
    }
    if (*reason == NULL) {
        GBSI_PASS(list_thresholds(c, reason, err));
    }
    if (*reason == NULL) {
        GBSI_PASS(number_slots(c, reason, err));
    }
    return GBS_OK;
}

gbs_status gbsi_packed_new(const gbsi_conditioned *model, const uint32_t *color, uint32_t n_colors,
                           uint32_t n_components, gbsi_packed **out, const char **reason,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_packed *p = gbsi_alloc_zero(sizeof *p);
    compiling c = {.packed = p, .model = model, .color = color};
    GBSI_PASS(GBSI_HAVE(err, "lattice", p));
    p->bytes = sizeof *p;
    p->n_colors = n_colors;
    p->spins.n_sites = model->n_variables;
    p->spins.n_components = n_components;
    GBSI_TRY(compile(&c, reason, err));
    if (*reason == NULL) {
        *out = p;
        p = NULL;
    }
cleanup:
    GBSI_FREE(c.field_of, c.degree, c.kind_of, c.slot_of, c.start);
    gbsi_packed_free(p);
    return status;
}

void gbsi_packed_free(gbsi_packed *packed)
{
    if (packed == NULL) {
        return;
    }
    GBSI_FREE(packed->color_row, packed->row, packed->neighbour, packed->variable_of, packed->level,
              packed->bit, packed);
}
