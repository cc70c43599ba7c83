/* SPDX-License-Identifier: Apache-2.0 */
/* Conditionals of dense Potts models, eight states at a time [M62]. */
#include "learn/eights.h"
#include "potts/potts_rows.h"
#include "simd/lanes.h"
#include "simd/math.h"

#define ROOM 8192u /* number of doubles for the sums f of the rows that are handled together */
/* number of doubles of a tile, which is a part of a block that stays in the cache */
#define TILE_ROOM 32768u

/* sum += block(j, x_j, .) for j in [from, end), over n_eights vectors. The block holds J or
 * `along`. */
INLINE void add_sites(const gbsi_potts_site *s, const double *block, const uint8_t *x,
                      uint32_t from, uint32_t end, uint32_t first, const uint32_t n_eights,
                      eight *sum)
{
    for (uint32_t j = from; j < end; ++j) {
        const double *row = block + ((size_t)j * s->n_states + x[j]) * s->width + first;
        for (uint32_t k = 0; k < n_eights; ++k) {
            sum[k] += *(const eight *)(const void *)(row + k * EIGHT);
        }
    }
}

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* f(a) += sum over j != i in [from, end) of J_ij(a, x_j), for the states first .. first + 8
 * n_eights - 1. @param block block that holds J. */
INLINE void sum_part(const gbsi_potts_site *s, const uint8_t *x, uint32_t first,
                     const uint32_t n_eights, const double *block, uint32_t from, uint32_t end,
                     double *f)
{
    eight sum[4];
    memcpy(sum, f + first, n_eights * sizeof sum[0]);
    add_sites(s, block, x, from, smaller(end, s->site), first, n_eights, sum);
    add_sites(s, block, x, larger(from, s->site + 1), end, first, n_eights, sum);
    memcpy(f + first, sum, n_eights * sizeof sum[0]);
}

INLINE void add_slope(const gbsi_potts_site *s, const uint8_t *x, uint32_t from, uint32_t end,
                      uint32_t first, const uint32_t n_eights, const eight *r)
{
    for (uint32_t j = from; j < end; ++j) {
        double *row = s->slope + ((size_t)j * s->n_states + x[j]) * s->width + first;
        for (uint32_t k = 0; k < n_eights; ++k) {
            *(eight *)(void *)(row + k * EIGHT) += r[k];
        }
    }
}

INLINE void slope_part(const gbsi_potts_site *s, const uint8_t *x, uint32_t first,
                       const uint32_t n_eights, uint32_t from, uint32_t end, const double *rest)
{
    eight r[4];
    memcpy(r, rest + first, n_eights * sizeof r[0]);
    add_slope(s, x, from, smaller(end, s->site), first, n_eights, r);
    add_slope(s, x, larger(from, s->site + 1), end, first, n_eights, r);
}

/* Handles four vectors at a time, then the remaining vectors. */
#define IN_PARTS(s, part, ...)                                        \
    do {                                                              \
        uint32_t first = 0;                                           \
        for (; first + 4 * EIGHT <= (s)->width; first += 4 * EIGHT) { \
            part((s), x, first, 4, __VA_ARGS__);                      \
        }                                                             \
        switch (((s)->width - first) / EIGHT) {                       \
        case 1:                                                       \
            part((s), x, first, 1, __VA_ARGS__);                      \
            break;                                                    \
        case 2:                                                       \
            part((s), x, first, 2, __VA_ARGS__);                      \
            break;                                                    \
        case 3:                                                       \
            part((s), x, first, 3, __VA_ARGS__);                      \
            break;                                                    \
        default:                                                      \
            break;                                                    \
        }                                                             \
    } while (0)

static const double *field_of(const gbsi_potts_site *s, const double *block)
{
    return block + (size_t)s->site * s->n_states * s->width;
}

/* Replaces each entry f(a) by exp(f(a) - largest f). @param at out: f(x_i) - largest f. @return the
 * sum of the new entries of f. */
INLINE double weigh(const gbsi_potts_site *s, const uint8_t *x, double *f, double *at)
{
    double largest = f[0];
    double sum = 0.0;
    for (uint32_t a = 1; a < s->n_states; ++a) {
        largest = f[a] > largest ? f[a] : largest;
    }
    *at = f[x[s->site]] - largest;
    for (uint32_t a = 0; a < s->width; ++a) {
        f[a] -= largest;
    }
    for (uint32_t a = 0; a < s->width; a += EIGHT) {
        exp_eight(f + a);
    }
    for (uint32_t a = s->n_states; a < s->width; ++a) {
        f[a] = 0.0;
    }
    for (uint32_t a = 0; a < s->n_states; ++a) {
        sum += f[a];
    }
    return sum;
}

double GBSI_V(gbsi_potts_conditional)(const gbsi_potts_site *site, const uint8_t *x, double *p)
{
    double at;
    memcpy(p, field_of(site, site->block), site->width * sizeof *p);
    IN_PARTS(site, sum_part, site->block, 0, site->n_sites, p);
    return weigh(site, x, p, &at);
}

/* f, which is p times a constant, becomes weight p(a) (u(a) - sum over c of p(c) u(c)). This is the
 * derivative of weight p(a) along u [M73]. */
static void turn_row(const gbsi_potts_site *s, double weight, double sum, const double *u,
                     double *f)
{
    double mean = 0.0;
    for (uint32_t a = 0; a < s->n_states; ++a) {
        mean += f[a] / sum * u[a];
    }
    for (uint32_t a = 0; a < s->width; ++a) {
        f[a] *= weight / sum * (u[a] - mean);
    }
}

/* Adds ln p(x_i) of a row to the sum. f becomes weight (p(a) - [a = x_i]), or the derivative of
 * this term along u, and is added to the slope of the field. */
static void finish_row(gbsi_potts_site *s, size_t b, const double *u, double *f)
{
    const uint8_t *x = s->state + b * s->n_sites;
    const double weight = s->weight[b];
    double at;
    const double sum = weigh(s, x, f, &at);
    s->log_p += weight * (at - gbsi_log(sum));
    if (s->slope == NULL) {
        return;
    }
    if (s->along != NULL) {
        turn_row(s, weight, sum, u, f);
    } else {
        for (uint32_t a = 0; a < s->width; ++a) {
            f[a] *= weight / sum;
        }
        f[x[s->site]] -= weight;
    }
    for (uint32_t a = 0; a < s->width; ++a) {
        s->slope[(size_t)s->site * s->n_states * s->width + a] += f[a];
    }
}

/* Computes f of some rows, one tile of sites after the other. @param block block that holds J and
 * h. */
static void sum_some(const gbsi_potts_site *s, const double *block, size_t from, size_t n,
                     double *f)
{
    const uint32_t tile = TILE_ROOM / (s->n_states * s->width) + 1;
    for (size_t r = 0; r < n; ++r) {
        memcpy(f + r * s->width, field_of(s, block), s->width * sizeof *f);
    }
    for (uint32_t j = 0; j < s->n_sites; j += tile) {
        const uint32_t end = smaller(s->n_sites, j + tile);
        for (size_t r = 0; r < n; ++r) {
            const uint8_t *x = s->state + (from + r) * s->n_sites;
            IN_PARTS(s, sum_part, block, j, end, f + r * s->width);
        }
    }
}

/* Handles rows that fit into the memory of ROOM doubles. Sums are taken over sites in their order,
 * then over rows in their order. */
static void add_some(gbsi_potts_site *s, size_t from, size_t n, double *f, double *u)
{
    const uint32_t tile = TILE_ROOM / (s->n_states * s->width) + 1;
    sum_some(s, s->block, from, n, f);
    if (s->along != NULL) {
        sum_some(s, s->along, from, n, u);
    }
    for (size_t r = 0; r < n; ++r) {
        finish_row(s, from + r, u + r * s->width, f + r * s->width);
    }
    for (uint32_t j = 0; s->slope != NULL && j < s->n_sites; j += tile) {
        const uint32_t end = smaller(s->n_sites, j + tile);
        for (size_t r = 0; r < n; ++r) {
            const uint8_t *x = s->state + (from + r) * s->n_sites;
            IN_PARTS(s, slope_part, j, end, f + r * s->width);
        }
    }
}

void GBSI_V(gbsi_potts_add_rows)(gbsi_potts_site *site, size_t from, size_t end)
{
    double f[ROOM];
    double u[ROOM];
    const size_t at_once = ROOM / site->width;
    for (; from < end; from += at_once) {
        add_some(site, from, end - from < at_once ? end - from : at_once, f, u);
    }
}
