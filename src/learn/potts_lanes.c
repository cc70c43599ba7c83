/* SPDX-License-Identifier: Apache-2.0 */
/* Conditionals of dense Potts models, eight states at a time [M62]. */
#include "learn/eights.h"
#include "learn/potts_rows.h"
#include "simd/lanes.h"
#include "simd/math.h"

/* sum over sites j in [from, end) of block(j, x_j, .), N_EIGHTS vectors of them. */
INLINE void add_sites(const gbsi_potts_site *s, const uint8_t *x, uint32_t from, uint32_t end,
                      uint32_t first, const uint32_t n_eights, eight *sum)
{
    for (uint32_t j = from; j < end; ++j) {
        const double *row = s->block + ((size_t)j * s->n_states + x[j]) * s->width + first;
        for (uint32_t k = 0; k < n_eights; ++k) {
            sum[k] += *(const eight *)(const void *)(row + k * EIGHT);
        }
    }
}

/* f(a) = h_i(a) + sum over j of J_ij(a, x_j) for states first .. first + 8 n_eights - 1. */
INLINE void sum_part(const gbsi_potts_site *s, const uint8_t *x, uint32_t first,
                     const uint32_t n_eights, double *f)
{
    eight sum[4];
    const double *field = s->block + (size_t)s->site * s->n_states * s->width + first;
    for (uint32_t k = 0; k < n_eights; ++k) {
        sum[k] = *(const eight *)(const void *)(field + k * EIGHT);
    }
    add_sites(s, x, 0, s->site, first, n_eights, sum);
    add_sites(s, x, s->site + 1, s->n_sites, first, n_eights, sum);
    for (uint32_t k = 0; k < n_eights; ++k) {
        memcpy(f + first + k * EIGHT, &sum[k], sizeof sum[k]);
    }
}

INLINE void add_slope(const gbsi_potts_site *s, const uint8_t *x, uint32_t from, uint32_t end,
                      uint32_t first, const uint32_t n_eights, const double *rest)
{
    eight r[4];
    for (uint32_t k = 0; k < n_eights; ++k) {
        memcpy(&r[k], rest + first + k * EIGHT, sizeof r[k]);
    }
    for (uint32_t j = from; j < end; ++j) {
        double *row = s->slope + ((size_t)j * s->n_states + x[j]) * s->width + first;
        for (uint32_t k = 0; k < n_eights; ++k) {
            *(eight *)(void *)(row + k * EIGHT) += r[k];
        }
    }
}

INLINE void slope_part(const gbsi_potts_site *s, const uint8_t *x, uint32_t first,
                       const uint32_t n_eights, const double *rest)
{
    double *field = s->slope + (size_t)s->site * s->n_states * s->width + first;
    for (uint32_t k = 0; k < n_eights * EIGHT; ++k) {
        field[k] += rest[first + k];
    }
    add_slope(s, x, 0, s->site, first, n_eights, rest);
    add_slope(s, x, s->site + 1, s->n_sites, first, n_eights, rest);
}

/* Four vectors at a time, then what is left. */
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

/* @param at out: f(x_i) less the largest. */
INLINE double conditional(const gbsi_potts_site *s, const uint8_t *x, double *p, double *at)
{
    double largest;
    double sum = 0.0;
    IN_PARTS(s, sum_part, p);
    largest = p[0];
    for (uint32_t a = 1; a < s->n_states; ++a) {
        largest = p[a] > largest ? p[a] : largest;
    }
    *at = p[x[s->site]] - largest;
    for (uint32_t a = 0; a < s->width; ++a) {
        p[a] -= largest;
    }
    for (uint32_t a = 0; a < s->width; a += EIGHT) {
        exp_eight(p + a);
    }
    for (uint32_t a = s->n_states; a < s->width; ++a) {
        p[a] = 0.0;
    }
    for (uint32_t a = 0; a < s->n_states; ++a) {
        sum += p[a];
    }
    return sum;
}

double GBSI_V(gbsi_potts_conditional)(const gbsi_potts_site *site, const uint8_t *x, double *p)
{
    double at;
    return conditional(site, x, p, &at);
}

void GBSI_V(gbsi_potts_add_rows)(gbsi_potts_site *site, size_t from, size_t end)
{
    double p[GBSI_POTTS_MOST_WIDTH];
    for (size_t b = from; b < end; ++b) {
        const uint8_t *x = site->state + b * site->n_sites;
        const double weight = site->weight[b];
        double at;
        const double sum = conditional(site, x, p, &at);
        site->log_p += weight * (at - gbsi_log(sum));
        if (site->slope == NULL) {
            continue;
        }
        for (uint32_t a = 0; a < site->width; ++a) {
            p[a] *= weight / sum;
        }
        p[x[site->site]] -= weight;
        IN_PARTS(site, slope_part, p);
    }
}
