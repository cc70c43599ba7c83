/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses the sides of a grid from the differences between the site numbers of two neighbours. A
 * grid has at most six different differences. A guess is accepted if every pair is a bond of the
 * grid. */
#include "lattice/grid.h"

#include <math.h>
#include <string.h>

#include "base/forest.h"
#include "base/memory.h"

#define MOST_DISTANCES 6

typedef struct finder {
    const gbsi_conditioned *model;
    gbsi_grid *grid;
    uint32_t distance[MOST_DISTANCES + 1]; /* ascending */
    unsigned n_distances;
} finder;

void gbsi_grid_free(gbsi_grid *grid)
{
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        gbsi_free(grid->bond[d]);
    }
    gbsi_free(grid->field_of);
    *grid = (gbsi_grid){0};
}

uint64_t gbsi_grid_bytes(uint32_t n_sites)
{
    return n_sites * (uint64_t)GBSI_GRID_DIRECTIONS + gbsi_spins_find_bytes(n_sites);
}

static uint32_t stride_of(const gbsi_grid *grid, unsigned direction)
{
    uint32_t stride = 1;
    for (unsigned d = 0; d < direction; ++d) {
        stride *= grid->side[d];
    }
    return stride;
}

/* Number of the next site in a direction, as if all lines of sites were closed. */
static uint32_t next_site(const gbsi_grid *grid, uint32_t site, unsigned direction)
{
    const uint32_t stride = stride_of(grid, direction);
    const uint32_t side = grid->side[direction];
    const uint32_t at = site / stride % side;
    return at + 1 < side ? site + stride : site - at * stride;
}

/* ---- without a model ------------------------------------------------------------------------ */

gbs_status gbsi_grid_open(uint32_t width, uint32_t height, double coupling, const double *field,
                          uint32_t n_fields, uint8_t *field_of, gbsi_grid *grid, gbs_error *err)
{
    const uint32_t n = width * height;
    gbsi_grid g = {.n_sites = n,
                   .side = {width, 1, height},
                   .coupling = {coupling, 0.0, coupling},
                   .spins = {.n_sites = n, .n_components = 1, .n_fields = n_fields},
                   .field_of = field_of};
    g.bond[0] = gbsi_alloc_array(n, 1);
    g.bond[2] = gbsi_alloc_array(n, 1);
    if (g.bond[0] == NULL || g.bond[2] == NULL) {
        gbsi_grid_free(&g);
        return gbsi_no_memory(err, "lattice", n);
    }
    memset(g.bond[0], 1, n);
    for (uint32_t last = width - 1; last < n; last += width) {
        g.bond[0][last] = 0;
    }
    memset(g.bond[2], 1, n - width);
    memset(g.bond[2] + (n - width), 0, width);
    memcpy(g.spins.field, field, n_fields * sizeof *field);
    for (uint32_t v = 0; v < n; ++v) {
        ++g.spins.n_of_field[field_of == NULL ? 0 : field_of[v]];
    }
    *grid = g;
    return GBS_OK;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Finds the coupling of a factor and its two sites, low < high. @return false if the factor is no
 * such pair. */
static bool pair_of(const gbsi_conditioned *model, size_t f, double *coupling, uint32_t *low,
                    uint32_t *high)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    if (factors->scope_start[f + 1] - factors->scope_start[f] != 2) {
        return false;
    }
    *coupling = gbsi_spin_factor_of(model, f).coupling;
    *low = scope[0] < scope[1] ? scope[0] : scope[1];
    *high = scope[0] < scope[1] ? scope[1] : scope[0];
    return *coupling != 0.0;
}

/* Adds a difference between the site numbers of two neighbours to the list. @return false if there
 * are more differences than any grid has. */
static bool note_distance(finder *s, uint32_t distance)
{
    unsigned i = 0;
    while (i < s->n_distances && s->distance[i] < distance) {
        ++i;
    }
    if (i < s->n_distances && s->distance[i] == distance) {
        return true;
    }
    for (unsigned j = s->n_distances; j > i; --j) {
        s->distance[j] = s->distance[j - 1];
    }
    s->distance[i] = distance;
    return ++s->n_distances <= MOST_DISTANCES;
}

static const char *note_distances(finder *s)
{
    const gbsi_conditioned *model = s->model;
    double coupling = 0.0;
    uint32_t low = 0;
    uint32_t high = 0;
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        if (pair_of(model, f, &coupling, &low, &high) && !note_distance(s, high - low)) {
            return "neighbours do not form a grid numbered row by row";
        }
    }
    return NULL;
}

/* ---- sides ---------------------------------------------------------------------------------- */

/* Finds the bond of sites u < v: its direction, and the site at which it begins. */
static bool find_bond(const gbsi_grid *grid, uint32_t u, uint32_t v, unsigned *direction,
                      uint32_t *from)
{
    const uint32_t distance = v - u;
    uint32_t stride = 1;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        const uint32_t side = grid->side[d];
        const bool next = distance == stride && u / stride % side + 1 < side;
        const bool around = side > 2 && distance == stride * (side - 1) && u / stride % side == 0;
        if (next || around) {
            *direction = d;
            *from = next ? u : v;
            return true;
        }
        stride *= side; /* the stride after the last direction is the number of sites */
    }
    return false;
}

static bool place_bond(gbsi_grid *grid, uint32_t u, uint32_t v, double coupling)
{
    unsigned d = 0;
    uint32_t from = 0;
    if (!find_bond(grid, u, v, &d, &from) || grid->bond[d][from] != 0) {
        return false;
    }
    if (grid->coupling[d] == 0.0) {
        grid->coupling[d] = coupling;
    }
    if (fabs(coupling) != fabs(grid->coupling[d])) {
        return false;
    }
    grid->bond[d][from] = coupling == grid->coupling[d] ? 1 : -1;
    grid->wraps[d] |= from == v;
    return true;
}

/* Clears the bonds of the grid of s, and enters the pairs of the model as bonds. @return whether
 * every pair is a bond of the grid. */
static bool fits(finder *s)
{
    const gbsi_conditioned *model = s->model;
    gbsi_grid *grid = s->grid;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        if (grid->coupling[d] != 0.0) { /* clears the bonds of an earlier guess */
            memset(grid->bond[d], 0, grid->n_sites);
        }
        grid->coupling[d] = 0.0;
        grid->wraps[d] = false;
    }
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        double coupling = 0.0;
        uint32_t low = 0;
        uint32_t high = 0;
        if (pair_of(model, f, &coupling, &low, &high) && !place_bond(grid, low, high, coupling)) {
            return false;
        }
    }
    return true;
}

/* Tries grids of two directions first and then grids of three, in order of ascending sides. */
static bool find_sides(finder *s)
{
    gbsi_grid *grid = s->grid;
    const uint32_t n = grid->n_sites;
    for (unsigned n_directions = 2; n_directions <= 3; ++n_directions) {
        for (unsigned i = 0; i < s->n_distances; ++i) {
            const uint32_t row = s->distance[i];
            if (row < 2 || n % row != 0 || row == n) {
                continue;
            }
            for (unsigned j = n_directions == 2 ? i : i + 1;
                 j < (n_directions == 2 ? i + 1 : s->n_distances); ++j) {
                const uint32_t layer = s->distance[j];
                if (layer % row != 0 || n % layer != 0 || layer == n) {
                    continue;
                }
                grid->side[0] = row;
                grid->side[1] = layer / row;
                grid->side[2] = n / layer;
                if (fits(s)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Gives the same J to directions whose couplings J differ only in sign, and frees the bond arrays
 * of directions without a bond. */
static void tidy(gbsi_grid *grid)
{
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        bool opposite = false;
        for (unsigned before = 0; before < d; ++before) {
            opposite |= grid->coupling[d] != 0.0 && grid->coupling[d] == -grid->coupling[before];
        }
        for (uint32_t v = 0; opposite && v < grid->n_sites; ++v) {
            grid->bond[d][v] = (int8_t)-grid->bond[d][v];
        }
        grid->coupling[d] = opposite ? -grid->coupling[d] : grid->coupling[d];
        if (grid->coupling[d] == 0.0) {
            gbsi_free(grid->bond[d]);
            grid->bond[d] = NULL;
        }
    }
}

/* ---- components ----------------------------------------------------------------------------- */

/* Whether no bond between neighbours is missing. Bonds that close a side do not matter. */
static bool is_whole(const gbsi_grid *grid)
{
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        const uint32_t stride = stride_of(grid, d);
        const uint32_t span = stride * (grid->side[d] - 1); /* number of sites that have a next site
                                                               in this direction */
        if (span > 0 && grid->bond[d] == NULL) {
            return false;
        }
        for (uint32_t first = 0; span > 0 && first < grid->n_sites; first += span + stride) {
            if (memchr(grid->bond[d] + first, 0, span) != NULL) {
                return false;
            }
        }
    }
    return true;
}

static gbs_status count_components(gbsi_grid *grid, gbs_error *err)
{
    const uint32_t n = grid->n_sites;
    grid->spins.n_components = 1;
    if (is_whole(grid)) {
        return GBS_OK;
    }
    uint32_t *parent = gbsi_alloc_array(n, sizeof *parent);
    GBSI_PASS(GBSI_HAVE(err, "lattice", parent));
    gbsi_forest_plant(parent, n);
    grid->spins.n_components = n;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        for (uint32_t v = 0; grid->bond[d] != NULL && v < n; ++v) {
            if (grid->bond[d][v] != 0) {
                grid->spins.n_components -= gbsi_forest_join(parent, v, next_site(grid, v, d));
            }
        }
    }
    gbsi_free(parent);
    return GBS_OK;
}

gbs_status gbsi_grid_find(const gbsi_conditioned *model, gbsi_grid *grid, const char **reason,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_grid found = {.n_sites = model->n_variables};
    finder s = {.model = model, .grid = &found};
    const char *why = gbsi_spins_refusal(model);
    why = why == NULL ? note_distances(&s) : why;
    if (why != NULL) {
        goto cleanup;
    }
    found.spins.n_sites = found.n_sites;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        found.bond[d] = gbsi_alloc_array_zero(found.n_sites, 1);
        GBSI_TRY(GBSI_HAVE(err, "lattice", found.bond[d]));
    }
    if (!find_sides(&s)) {
        why = "neighbours do not form a grid numbered row by row with couplings J or -J in each "
              "direction";
        goto cleanup;
    }
    tidy(&found);
    GBSI_TRY(gbsi_spins_find_fields(model, &found.spins, &found.field_of, &why, err));
    if (why == NULL) {
        GBSI_TRY(count_components(&found, err));
    }
cleanup:
    if (status < 0 || why != NULL) {
        gbsi_grid_free(&found);
    }
    if (status >= 0) {
        *grid = found;
        *reason = why;
    }
    return status;
}
