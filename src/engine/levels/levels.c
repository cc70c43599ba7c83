/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/levels.h"

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"

/* A level is never drawn if its weight is below exp(-LEAST) times the largest weight for all levels
 * of the neighbours, because the draw uses words of 24 bits. Its weight becomes 0. Neighbours
 * multiply a weight by at least exp(-MOST_RANGE). Other weights are therefore at least exp(-LEAST -
 * 2 MOST_RANGE), which is a normal float. */
#define LEAST      22.0
#define MOST_RANGE 32.0

/* Largest product of the number of watched sites and the number of levels of a site. */
#define MOST_WATCHED (UINT32_C(1) << 18)

void gbsi_levels_free(gbsi_levels *l)
{
    if (l == NULL) {
        return;
    }
    GBSI_FREE(l->seen, l->top, l->start, l->weight_seen, l->value, l->weight, l->watched,
              l->watched_of_half, l->slot_of_watched, l);
}

/* ---- colours --------------------------------------------------------------------------------- */

/* If there are four colours, sites in row y and in columns x with x mod 2 = p have colour 2 (y mod
 * 2) + p. */
uint32_t gbsi_levels_rows_of(const gbsi_levels *l, uint32_t color)
{
    return l->n_colors == 2 ? l->height : (l->height + 1 - color / 2) / 2;
}

uint32_t gbsi_levels_half_of(const gbsi_levels *l, uint32_t color, uint32_t i)
{
    if (l->n_colors == 2) {
        return 2 * i + (i + color) % 2;
    }
    return 2 * (2 * i + color / 2) + color % 2;
}

uint32_t gbsi_levels_color_of(const gbsi_levels *l, uint32_t half, uint32_t *i)
{
    const uint32_t row = half / 2;
    *i = l->n_colors == 2 ? row : row / 2;
    return l->n_colors == 2 ? (row + half) % 2 : 2 * (row % 2) + half % 2;
}

/* ---- watched sites --------------------------------------------------------------------------- */

static uint32_t block_at(const gbsi_levels *l, uint32_t block, uint32_t *half)
{
    const uint32_t per_half = l->half / GBSI_LEVELS_BLOCK;
    *half = block / per_half;
    return block % per_half * GBSI_LEVELS_BLOCK;
}

/* Number of sites of a block, not counting padding. */
static uint32_t sites_of_block(const gbsi_levels *l, uint32_t block)
{
    uint32_t half = 0;
    const uint32_t first = block_at(l, block, &half);
    const uint32_t n = gbsi_levels_sites_of(l, half);
    const uint32_t left = n > first ? n - first : 0;
    return left < GBSI_LEVELS_BLOCK ? left : GBSI_LEVELS_BLOCK;
}

/* Chooses one block at random in each of n_watched equal stretches [M75]. */
static void choose_watched(gbsi_levels *l)
{
    uint32_t next_half = 0;
    l->slot_of_watched[0] = 0;
    for (uint32_t i = 0; i < l->n_watched; ++i) {
        const uint64_t first = (uint64_t)l->n_blocks * i / l->n_watched;
        const uint64_t end = (uint64_t)l->n_blocks * (i + 1) / l->n_watched;
        const uint32_t word = gbsi_word(0, 0, 0, i, GBSI_PURPOSE_WATCHED);
        uint32_t half = 0;
        l->watched[i] = (uint32_t)(first + ((end - first) * word >> 32));
        (void)block_at(l, l->watched[i], &half);
        for (; next_half <= half; ++next_half) {
            l->watched_of_half[next_half] = i;
        }
        l->slot_of_watched[i + 1] = l->slot_of_watched[i] + sites_of_block(l, l->watched[i]);
    }
    for (; next_half <= 2 * l->height; ++next_half) {
        l->watched_of_half[next_half] = l->n_watched;
    }
}

uint32_t gbsi_levels_slot_of(const gbsi_levels *l, uint32_t site)
{
    const gbsi_levels_place at = gbsi_levels_locate(l, site);
    const uint32_t block = at.half * (l->half / GBSI_LEVELS_BLOCK) + at.index / GBSI_LEVELS_BLOCK;
    for (uint32_t i = l->watched_of_half[at.half]; i < l->watched_of_half[at.half + 1]; ++i) {
        if (l->watched[i] == block) {
            return l->slot_of_watched[i] + at.index % GBSI_LEVELS_BLOCK;
        }
    }
    return UINT32_MAX;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void set_seen(gbsi_levels *l, const double *seen)
{
    for (uint32_t v = 0; v < l->n_values; ++v) {
        const double *row = seen + (size_t)v * l->n_levels;
        l->top[v] = row[0];
        for (uint32_t a = 1; a < l->n_levels; ++a) {
            l->top[v] = row[a] > l->top[v] ? row[a] : l->top[v];
        }
        for (uint32_t a = 0; a < l->n_levels; ++a) {
            l->seen[(size_t)a * l->n_values + v] = (float)(row[a] - l->top[v]);
        }
    }
}

static void set_start(gbsi_levels *l, uint32_t value)
{
    uint32_t *start = l->start + (size_t)value * l->n_levels;
    double total = 0.0;
    double sum = 0.0;
    for (uint32_t a = 0; a < l->n_levels; ++a) {
        total += gbsi_exp((double)l->seen[(size_t)a * l->n_values + value]);
    }
    for (uint32_t a = 0; a + 1 < l->n_levels; ++a) {
        sum += gbsi_exp((double)l->seen[(size_t)a * l->n_values + value]);
        start[a] = (uint32_t)(sum / total * 0x1.fffffffep31);
    }
    start[l->n_levels - 1] = UINT32_MAX;
}

/* Computes the tables of factors by which weights are multiplied, if these tables fit. @param range
 * largest amount that all neighbours of a site together can subtract from the site's log-weights.
 */
static void set_factors(gbsi_levels *l, const gbsi_levels_setting *s, double range)
{
    for (size_t i = 0; i < (size_t)l->n_levels * l->n_values; ++i) {
        const double seen = (double)l->seen[i];
        l->weight_seen[i] = seen < -(LEAST + range) ? 0.0F : (float)gbsi_exp(seen);
    }
    for (uint32_t a = 0; a < GBSI_LEVELS_FACTORS; ++a) {
        for (uint32_t b = 0; b < GBSI_LEVELS_FACTORS; ++b) {
            const double d = ((double)a - b) * ((double)a - b);
            const double cost = d < s->truncation ? d : s->truncation;
            const bool absent = b == GBSI_LEVELS_ABSENT;
            l->factor[0][a][b] = absent ? 1.0F : (float)gbsi_exp(-s->coupling * cost);
            l->factor[1][a][b] = absent ? 1.0F : (float)gbsi_exp(-s->diagonal * cost);
        }
    }
}

/* Largest amount that all neighbours of a site together can subtract from a log-weight. */
static double range_of(const gbsi_levels_setting *s)
{
    const double most = (s->n_levels - 1.0) * (s->n_levels - 1.0);
    const double each = most < s->truncation ? most : s->truncation;
    return 4.0 * each * (s->n_neighbours == 8 ? s->coupling + s->diagonal : s->coupling);
}

static void set_values(gbsi_levels *l, const gbsi_levels_setting *s)
{
    size_t site = 0;
    for (uint32_t y = 0; y < l->height; ++y) {
        for (uint32_t x = 0; x < l->width; ++x, ++site) {
            const uint32_t v = s->value(s->context, site);
            l->value[((size_t)2 * y + x % 2) * l->half + x / 2] = (uint16_t)v;
            l->log_constant += l->top[v];
        }
    }
}

static void set_weights(gbsi_levels *l, const gbsi_levels_setting *s)
{
    const float straight = (float)s->coupling;
    const float diagonal = s->n_neighbours == 8 ? (float)s->diagonal : 0.0F;
    for (uint32_t parity = 0; parity < 2; ++parity) {
        float *weight = l->weight + (size_t)parity * GBSI_LEVELS_WEIGHTS * l->half;
        for (uint32_t i = 0; i < gbsi_levels_sites_of(l, parity); ++i) {
            const uint32_t x = 2 * i + parity;
            const float left = x > 0 ? 1.0F : 0.0F;
            const float right = x + 1 < l->width ? 1.0F : 0.0F;
            weight[GBSI_LEVELS_IS * l->half + i] = 1.0F;
            weight[GBSI_LEVELS_BESIDE * l->half + i] = straight;
            weight[GBSI_LEVELS_LEFT * l->half + i] = straight * left;
            weight[GBSI_LEVELS_RIGHT * l->half + i] = straight * right;
            weight[GBSI_LEVELS_DIAGONAL_LEFT * l->half + i] = diagonal * left;
            weight[GBSI_LEVELS_DIAGONAL_RIGHT * l->half + i] = diagonal * right;
        }
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Allocates an array of n elements and adds its size to *bytes. */
static bool take(size_t n, size_t size, void **array, size_t *bytes)
{
    *array = gbsi_alloc_lanes(n, size);
    *bytes += n * size;
    return *array != NULL;
}

static gbs_status take_arrays(gbsi_levels *l, gbs_error *err)
{
    const size_t n_halves = (size_t)2 * l->height;
    l->bytes = sizeof *l;
    const bool all =
        take((size_t)l->n_levels * l->n_values, sizeof *l->seen, (void **)&l->seen, &l->bytes) &&
        take(l->n_values, sizeof *l->top, (void **)&l->top, &l->bytes) &&
        take((size_t)l->n_levels * l->n_values, sizeof *l->start, (void **)&l->start, &l->bytes) &&
        (!l->multiplies || take((size_t)l->n_levels * l->n_values, sizeof *l->weight_seen,
                                (void **)&l->weight_seen, &l->bytes)) &&
        take(n_halves * l->half, sizeof *l->value, (void **)&l->value, &l->bytes) &&
        take((size_t)2 * GBSI_LEVELS_WEIGHTS * l->half, sizeof *l->weight, (void **)&l->weight,
             &l->bytes) &&
        take(l->n_watched, sizeof *l->watched, (void **)&l->watched, &l->bytes) &&
        take(n_halves + 1, sizeof *l->watched_of_half, (void **)&l->watched_of_half, &l->bytes) &&
        take(l->n_watched + (size_t)1, sizeof *l->slot_of_watched, (void **)&l->slot_of_watched,
             &l->bytes);
    return all ? GBS_OK : gbsi_no_memory(err, "picture", l->bytes);
}

gbs_status gbsi_levels_new(const gbsi_levels_setting *s, gbsi_levels **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t per_half = ((s->width + 1) / 2 + GBSI_LEVELS_BLOCK - 1) / GBSI_LEVELS_BLOCK;
    if ((uint64_t)per_half * GBSI_LEVELS_BLOCK * 2 * s->height > INT32_MAX) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "found a picture of %u x %u pixels, expected at most "
                         "2^31 of them",
                         s->width, s->height);
    }
    gbsi_levels *l = gbsi_alloc_zero(sizeof *l);
    GBSI_PASS(GBSI_HAVE(err, "picture", l));
    const uint32_t most = MOST_WATCHED / (GBSI_LEVELS_BLOCK * s->n_levels);
    l->width = s->width;
    l->height = s->height;
    l->n_levels = s->n_levels;
    l->n_neighbours = s->n_neighbours;
    l->n_colors = s->n_neighbours == 8 ? 4 : 2;
    l->n_values = s->n_values;
    l->half = per_half * GBSI_LEVELS_BLOCK;
    l->n_blocks = per_half * 2 * s->height;
    l->truncation = (float)s->truncation;
    l->multiplies = l->n_levels <= GBSI_LEVELS_ABSENT && range_of(s) <= MOST_RANGE;
    l->n_watched = l->n_blocks < most ? l->n_blocks : most;
    GBSI_TRY(take_arrays(l, err));
    set_seen(l, s->seen);
    for (uint32_t v = 0; v < l->n_values; ++v) {
        set_start(l, v);
    }
    if (l->multiplies) {
        set_factors(l, s, range_of(s));
    }
    set_values(l, s);
    set_weights(l, s);
    choose_watched(l);
    *out = l;
    l = NULL;
cleanup:
    gbsi_levels_free(l);
    return status;
}
