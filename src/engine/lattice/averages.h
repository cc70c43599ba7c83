/* SPDX-License-Identifier: Apache-2.0 */
/* Averaged conditionals of sites in bits (Rao-Blackwell, [M7]). The number of neighbours that are
 * up, which takes three bits, determines the conditional of a site. These numbers are kept for a
 * few passes, for one row of lanes after the other. When the estimate reads sums of conditionals, a
 * table turns the numbers into probabilities.
 *
 * Slots of the estimate are in the order of words: sixteen words, a row of lanes, make 512 slots.
 * The first sixteen of these slots are the lowest bits of the words. The estimate thus reads the
 * kept numbers of a row of lanes only once. */
#ifndef GBSI_LATTICE_AVERAGES_H
#define GBSI_LATTICE_AVERAGES_H

#include "lattice/lattice.h"
#include "simd/dispatch.h"

#define GBSI_LATTICE_KEPT      4u   /* number of passes for which numbers of neighbours are kept */
#define GBSI_LATTICE_ROW_SLOTS 512u /* slots of a row of lanes */
#define GBSI_LATTICE_COUNTS    8u   /* number of values of three bits */

/* Index, in words, of the numbers that are kept of a pass and a row of lanes. They are three planes
 * of sixteen words. */
static inline size_t gbsi_lattice_kept(uint32_t row, uint32_t pass)
{
    return ((size_t)row * GBSI_LATTICE_KEPT + pass) * 3 * GBSI_LATTICE_LANES;
}

/* Number of words kept for all rows of both colours. */
static inline size_t gbsi_lattice_kept_words(const gbsi_lattice *lattice)
{
    return gbsi_lattice_kept(2 * lattice->n_words / GBSI_LATTICE_LANES, 0);
}

/* Probabilities of state 1, by kind of site and number of neighbours up. Kind 0 stands for bits
 * without a site, which have probability 0. */
typedef struct gbsi_lattice_averages {
    const gbsi_lattice *lattice; /* borrowed */
    /* probabilities of the plain kind of site, then of the kind of the opposite field */
    float plain[2 * GBSI_LATTICE_COUNTS];
    float p[(GBSI_LATTICE_KINDS + 1) * GBSI_LATTICE_COUNTS]; /* index 1 + kind */
} gbsi_lattice_averages;

/* @return the reason why the conditionals of a lattice cannot be averaged; NULL if they can. */
const char *gbsi_lattice_averages_refusal(const gbsi_lattice *lattice);
/* @param lattice not refused by gbsi_lattice_averages_refusal(). */
gbsi_lattice_averages gbsi_lattice_averages_of(const gbsi_lattice *lattice);

/* number of slots, including slots that are not sites */
uint32_t gbsi_lattice_n_slots(const gbsi_lattice *lattice);
uint32_t gbsi_lattice_slot_of(const gbsi_lattice *lattice, uint32_t site);

/* Sum of the probabilities of one slot over the kept passes. @param kept numbers of neighbours that
 * are kept of a chain. */
float gbsi_lattice_average_slot(const gbsi_lattice_averages *a, const uint32_t *kept,
                                uint32_t n_passes, uint32_t slot);
/* Computes the sums of gbsi_lattice_average_slot() for all slots of a row of lanes. @param sum
 * [512] out. */
typedef void (*gbsi_lattice_average_function)(const gbsi_lattice_averages *a, const uint32_t *kept,
                                              uint32_t n_passes, uint32_t row, float *sum);
gbsi_lattice_average_function gbsi_lattice_average_of(gbsi_simd level);

#endif
