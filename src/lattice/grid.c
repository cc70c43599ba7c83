/* SPDX-License-Identifier: Apache-2.0 */
/* Sides are guessed from the distances of neighbours in the numbering, of which a grid has at most
 * six; a guess counts if every pair finds its bond. */
#include "lattice/grid.h"

#include <math.h>

#include "base/memory.h"

#define MOST_DISTANCES 6

typedef struct finder {
    const gbsi_conditioned *model;
    gbsi_grid *grid;
    uint32_t distance[MOST_DISTANCES + 1]; /* ascending */
    unsigned n_distances;
    bool any_field; /* some factor has one variable */
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
    return n_sites * (uint64_t)(GBSI_GRID_DIRECTIONS + 1 + sizeof(double)); /* bonds and fields */
}

static uint32_t stride_of(const gbsi_grid *grid, unsigned direction)
{
    uint32_t stride = 1;
    for (unsigned d = 0; d < direction; ++d) {
        stride *= grid->side[d];
    }
    return stride;
}

uint32_t gbsi_grid_next(const gbsi_grid *grid, uint32_t site, unsigned direction, bool forward)
{
    const uint32_t stride = stride_of(grid, direction);
    const uint32_t side = grid->side[direction];
    const uint32_t at = site / stride % side;
    if (forward) {
        return at + 1 < side ? site + stride : site - at * stride;
    }
    return at > 0 ? site - stride : site + (side - 1) * stride;
}

int gbsi_grid_bond(const gbsi_grid *grid, uint32_t site, unsigned direction, bool forward)
{
    if (grid->bond[direction] == NULL) {
        return 0;
    }
    return grid->bond[direction][forward ? site : gbsi_grid_next(grid, site, direction, false)];
}

/* ---- factors ----------------------------------------------------------------------------------
 */

static uint32_t order_of(const gbsi_factors *factors, size_t f)
{
    return (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
}

/* Log-weights of equal and of unequal states. @return whether they are all that counts. */
static bool pair_weights(const gbsi_conditioned *model, size_t f, double *equal, double *unequal)
{
    const gbsi_factors *factors = &model->factors;
    double logw[4];
    if (factors->kind[f] == GBS_FACTOR_ISING) {
        *equal = factors->weight[f];
        *unequal = -factors->weight[f];
        return isfinite(*equal);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t at[2] = {i >> 1, i & 1};
        logw[i] = gbsi_factor_value_at(factors, model->arity, f, at);
    }
    *equal = logw[0];
    *unequal = logw[1];
    return logw[0] == logw[3] && logw[1] == logw[2] && isfinite(logw[0]) && isfinite(logw[1]);
}

/* @return false if there are more than any grid has. */
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

static uint32_t distance_of(const gbsi_factors *factors, size_t f)
{
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    return scope[0] < scope[1] ? scope[1] - scope[0] : scope[0] - scope[1];
}

/* What each factor must be by itself; distances and the constant. */
static const char *look_at_factors(finder *s)
{
    const gbsi_conditioned *model = s->model;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (model->arity[v] != 2) {
            return "a variable has more than two states";
        }
    }
    s->grid->constant = model->log_constant;
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        double equal = 0.0;
        double unequal = 0.0;
        if (model->has_zeros[f] != 0) {
            return "hard zeros remain";
        }
        if (order_of(&model->factors, f) > 2) {
            return "a factor joins three variables or more";
        }
        if (order_of(&model->factors, f) < 2) {
            s->any_field = true;
            continue;
        }
        if (!pair_weights(model, f, &equal, &unequal)) {
            return "a factor of two variables depends on more than whether they agree";
        }
        s->grid->constant += 0.5 * (equal + unequal);
        if (equal != unequal && !note_distance(s, distance_of(&model->factors, f))) {
            return "neighbours are not those of a grid numbered row by row";
        }
    }
    return NULL;
}

/* Field h of every site and the constant of its factors. */
static void sum_fields(finder *s, double *h)
{
    const gbsi_conditioned *model = s->model;
    const gbsi_factors *factors = &model->factors;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (order_of(factors, f) == 1) {
            double logw[2];
            for (uint32_t a = 0; a < 2; ++a) {
                logw[a] = gbsi_factor_value_at(factors, model->arity, f, &a);
            }
            h[factors->scope[factors->scope_start[f]]] += 0.5 * (logw[1] - logw[0]);
            s->grid->constant += 0.5 * (logw[1] + logw[0]);
        }
    }
}

static gbs_status class_fields(finder *s, const char **reason, gbs_error *err)
{
    gbsi_grid *grid = s->grid;
    const uint32_t n = grid->n_sites;
    if (!s->any_field) {
        grid->n_fields = 1; /* 0, everywhere */
        return GBS_OK;
    }
    double *h = gbsi_alloc_array_zero(n, sizeof *h);
    grid->field_of = gbsi_alloc_array(n, 1);
    if (h == NULL || grid->field_of == NULL) {
        gbsi_free(h);
        return gbsi_no_memory(err, "lattice", n * sizeof *h);
    }
    sum_fields(s, h);
    for (uint32_t v = 0; v < n && *reason == NULL; ++v) {
        uint32_t i = 0;
        while (i < grid->n_fields && grid->field[i] != h[v]) {
            ++i;
        }
        if (i == GBSI_GRID_FIELDS) {
            *reason = "more than four different fields";
        } else if (i == grid->n_fields) {
            grid->field[grid->n_fields++] = h[v];
        }
        grid->field_of[v] = (uint8_t)i;
    }
    gbsi_free(h);
    return GBS_OK;
}

/* ---- sides ------------------------------------------------------------------------------------
 */

/* The bond of sites u < v: its direction and the site it goes forward from. */
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
        stride *= side; /* of the last one: the number of sites */
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

/* @param grid with arrays of bonds, all 0. @return whether every pair found its place. */
static bool fits(finder *s)
{
    const gbsi_conditioned *model = s->model;
    const gbsi_factors *factors = &model->factors;
    gbsi_grid *grid = s->grid;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        if (grid->coupling[d] != 0.0) { /* an earlier guess */
            memset(grid->bond[d], 0, grid->n_sites);
        }
        grid->coupling[d] = 0.0;
        grid->wraps[d] = false;
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        double equal = 0.0;
        double unequal = 0.0;
        if (order_of(factors, f) != 2 || !pair_weights(model, f, &equal, &unequal) ||
            equal == unequal) {
            continue;
        }
        const uint32_t *scope = factors->scope + factors->scope_start[f];
        const uint32_t low = scope[0] < scope[1] ? scope[0] : scope[1];
        const uint32_t high = scope[0] < scope[1] ? scope[1] : scope[0];
        if (!place_bond(grid, low, high, 0.5 * (equal - unequal))) {
            return false;
        }
    }
    return true;
}

/* Two directions first, then three, by ascending sides. */
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

/* Directions whose J differ in sign only share one; directions without a bond need no memory. */
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

/* ---- components -------------------------------------------------------------------------------
 */

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* No bond between neighbours is missing; bonds around a side are of no importance. */
static bool is_whole(const gbsi_grid *grid)
{
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        const uint32_t stride = stride_of(grid, d);
        const uint32_t span = stride * (grid->side[d] - 1); /* sites with one next to them */
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
    grid->n_components = 1;
    if (is_whole(grid)) {
        return GBS_OK;
    }
    uint32_t *parent = gbsi_alloc_array(n, sizeof *parent);
    if (parent == NULL) {
        return gbsi_no_memory(err, "lattice", n * sizeof *parent);
    }
    for (uint32_t v = 0; v < n; ++v) {
        parent[v] = v;
    }
    grid->n_components = n;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        for (uint32_t v = 0; grid->bond[d] != NULL && v < n; ++v) {
            if (grid->bond[d][v] != 0) {
                const uint32_t a = root_of(parent, v);
                const uint32_t b = root_of(parent, gbsi_grid_next(grid, v, d, true));
                parent[a > b ? a : b] = a > b ? b : a;
                grid->n_components -= a != b;
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
    const char *why = look_at_factors(&s);
    if (why != NULL) {
        goto cleanup;
    }
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        found.bond[d] = gbsi_alloc_array_zero(found.n_sites, 1);
        if (found.bond[d] == NULL) {
            GBSI_TRY(gbsi_no_memory(err, "lattice", found.n_sites));
        }
    }
    if (!find_sides(&s)) {
        why =
            "neighbours are not those of a grid numbered row by row, with one coupling up to sign "
            "in each direction";
        goto cleanup;
    }
    tidy(&found);
    GBSI_TRY(class_fields(&s, &why, err));
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
