/* SPDX-License-Identifier: Apache-2.0 */
/* The innermost loops of dense Potts models: p(x_i | all others) of many rows at one site.
 *
 * A block holds the couplings of site i, [n_sites][n_states][width]: element (j, b, a) is J_ij(a,
 * b), with states a padded by zeros to a width that is a multiple of eight. A site has its field
 * where its coupling to itself would be: element (i, 0, a) is h_i(a). */
#ifndef GBSI_POTTS_POTTS_ROWS_H
#define GBSI_POTTS_POTTS_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gbsi_potts_site {
    uint32_t n_sites, n_states, width, site;
    const double *block;
    double *slope; /* the same shape: sum of weight (p(a) - [a = x_i]); NULL: not wanted */
    const double
        *along; /* NULL, or the same shape: slope is then that of slope in this direction */
    const uint8_t *state; /* [rows][n_sites] */
    const double *weight; /* [rows] */
    double log_p;         /* sum of weight ln p(x_i | others) */
} gbsi_potts_site;

/* @return the width to which n_states are padded. */
static inline uint32_t gbsi_potts_width(uint32_t n_states)
{
    return (n_states + 7) / 8 * 8;
}

#define GBSI_POTTS_MOST_WIDTH 256u

/* Adds rows from .. end - 1 to log_p and slope, in this order: some GBSI_POTTS_ROWS together are
 * quickest, where sites are many. */
#define GBSI_POTTS_ROWS 512u
void gbsi_potts_add_rows(gbsi_potts_site *site, size_t from, size_t end);

/* Computes p(. | others) of a row, in place of its state.
 * @param p [width] out: exp(f - largest f), zeros behind n_states.
 * @return their sum. */
double gbsi_potts_conditional(const gbsi_potts_site *site, const uint8_t *state, double *p);

#endif
