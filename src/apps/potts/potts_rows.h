/* SPDX-License-Identifier: Apache-2.0 */
/* The innermost loops of dense Potts models: they compute p(x_i | all others) at one site for many
 * rows. A block [n_sites][n_states][width] holds the couplings of site i. Element (j, b, a) is
 * J_ij(a, b); zeros pad the states a to a width that is a multiple of eight. The field of site i is
 * in the place of its coupling to itself: element (i, 0, a) is h_i(a). */
#ifndef GBSI_POTTS_POTTS_ROWS_H
#define GBSI_POTTS_POTTS_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gbsi_potts_site {
    uint32_t n_sites, n_states, width, site;
    const double *block;
    double *slope; /* array of the shape of `block`: sum over rows of weight (p(a) - [a = x_i]);
                      NULL if not needed */
    const double *along;  /* NULL, or a direction of the shape of `block`; `slope` then receives the
                             derivative of the slope in this direction */
    const uint8_t *state; /* [rows][n_sites] states of the rows */
    const double *weight; /* [rows] weights of the rows */
    double log_p;         /* sum over rows of weight ln p(x_i | others) */
} gbsi_potts_site;

/* @return the width to which n_states are padded. */
static inline uint32_t gbsi_potts_width(uint32_t n_states)
{
    return (n_states + 7) / 8 * 8;
}

#define GBSI_POTTS_MOST_WIDTH 256u

/* Adds the rows `from` to `end` - 1, one after the other, to the site's log_p and slope. If there
 * are many sites, calls with about GBSI_POTTS_ROWS rows are fastest. */
#define GBSI_POTTS_ROWS 512u
void gbsi_potts_add_rows(gbsi_potts_site *site, size_t from, size_t end);

/* Computes p(. | others) at the site for a row, up to a factor. @param p [width] out: exp(f -
 * largest f); entries from n_states on are zero. @return the sum of the entries. */
double gbsi_potts_conditional(const gbsi_potts_site *site, const uint8_t *state, double *p);

#endif
