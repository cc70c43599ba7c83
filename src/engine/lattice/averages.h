/* SPDX-License-Identifier: Apache-2.0 */
/* Averaged conditionals of sites in bits (Rao-Blackwell, [M7]). A conditional is told by how many
 * neighbours are up, a number of three bits; these are kept for a few passes as they are, row of
 * lanes by row of lanes, and looked up in a table of probabilities when they are taken.
 *
 * Slots of the estimate stand in the order of words: sixteen words make 512 slots, the lowest bits
 * of all of them first. The sums of a row of lanes are thus read only once. */
#ifndef GBSI_LATTICE_AVERAGES_H
#define GBSI_LATTICE_AVERAGES_H

#include "lattice/lattice.h"
#include "simd/dispatch.h"

#define GBSI_LATTICE_KEPT      4u   /* passes */
#define GBSI_LATTICE_ROW_SLOTS 512u /* slots of a row of lanes */
#define GBSI_LATTICE_COUNTS    8u   /* values of three bits */

/* The index of a pass of a row of lanes, in words: three planes of sixteen. */
static inline size_t gbsi_lattice_kept(uint32_t row, uint32_t pass)
{
    return ((size_t)row * GBSI_LATTICE_KEPT + pass) * 3 * GBSI_LATTICE_LANES;
}

/* The words of all rows of both colours. */
static inline size_t gbsi_lattice_kept_words(const gbsi_lattice *lattice)
{
    return gbsi_lattice_kept(2 * lattice->n_words / GBSI_LATTICE_LANES, 0);
}

/* Probabilities of state 1, by kind and number of neighbours up. Number 0 stands for bits without a
 * site, which have probability 0. */
typedef struct gbsi_lattice_averages {
    const gbsi_lattice *lattice;          /* borrowed */
    float plain[2 * GBSI_LATTICE_COUNTS]; /* for the plain kind, and for the kind with spins turned
                                             round */
    float p[(GBSI_LATTICE_KINDS + 1) * GBSI_LATTICE_COUNTS]; /* 1 + kind */
} gbsi_lattice_averages;

/* @return NULL, or the reason why the conditionals of a lattice cannot be averaged. */
const char *gbsi_lattice_averages_refusal(const gbsi_lattice *lattice);
/* @param lattice not refused. */
gbsi_lattice_averages gbsi_lattice_averages_of(const gbsi_lattice *lattice);

uint32_t gbsi_lattice_n_slots(const gbsi_lattice *lattice); /* including slots that are not sites */
uint32_t gbsi_lattice_slot_of(const gbsi_lattice *lattice, uint32_t site);

/* The sums of the probabilities of one slot over passes. @param kept sums kept of a chain. */
float gbsi_lattice_average_slot(const gbsi_lattice_averages *a, const uint32_t *kept,
                                uint32_t n_passes, uint32_t slot);
/* Does the same for all slots of a row of lanes. @param sum [512] */
typedef void (*gbsi_lattice_average_function)(const gbsi_lattice_averages *a, const uint32_t *kept,
                                              uint32_t n_passes, uint32_t row, float *sum);
gbsi_lattice_average_function gbsi_lattice_average_of(gbsi_simd level);

#endif
