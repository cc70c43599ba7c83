/* SPDX-License-Identifier: Apache-2.0 */
/* Models of spins, which the two forms of multi-spin coding use [M16]. Couplings have few sizes and
 * there are few fields, so that the log density is a sum of integers times couplings and fields.
 *
 * With spins s = 2x - 1, the logarithm of any factor of one or two binary variables is, up to a
 * constant, J s s' + h s + h' s'. */
#ifndef GBSI_LATTICE_SPINS_H
#define GBSI_LATTICE_SPINS_H

#include <stdbool.h>

#include "condition/condition.h"

/* largest number of sizes |J|; neighbours whose couplings have the same size form a group and are
 * counted together */
#define GBSI_SPIN_GROUPS     3u
#define GBSI_SPIN_NEIGHBOURS 6u  /* largest number of neighbours of a site in one group */
#define GBSI_SPIN_FIELDS     8u  /* most values of h */
#define GBSI_SPIN_PLANES     32u /* number of bits of a threshold */
#define GBSI_SPIN_COUNTERS   8u  /* number of levels of vertical counters, enough for 128 passes */

/* Log density = constant + sum over bonds J s s' + sum over sites h s. */
typedef struct gbsi_spins {
    uint32_t n_sites, n_components;
    uint32_t n_groups;
    double coupling[GBSI_SPIN_GROUPS];
    int64_t n_bonds[GBSI_SPIN_GROUPS];
    uint32_t n_fields;
    double field[GBSI_SPIN_FIELDS];
    int64_t n_of_field[GBSI_SPIN_FIELDS];
    double constant;
} gbsi_spins;

/* Sums over the sites and bonds of one chain after a pass. `agree` is, for each group, the number
 * of bonds J whose two spins agree plus the number of bonds -J whose spins differ. `up` is, for
 * each field, the number of sites that are up. */
typedef struct gbsi_spin_sums {
    int64_t agree[GBSI_SPIN_GROUPS];
    int64_t up[GBSI_SPIN_FIELDS];
} gbsi_spin_sums;

/* J, h and h' of a factor; J and h' are 0 for a factor of one variable. */
typedef struct gbsi_spin_factor {
    double constant, coupling, field[2];
} gbsi_spin_factor;

/* @return the reason why a model is not a model of spins; NULL if it is one. The time is
 * O(factors). */
const char *gbsi_spins_refusal(const gbsi_conditioned *model);
/* @param model not refused by gbsi_spins_refusal(). */
gbsi_spin_factor gbsi_spin_factor_of(const gbsi_conditioned *model, size_t f);

/* Finds the different fields: fills n_fields, field and n_of_field, and adds the constants of all
 * factors to spins->constant.
 * @param field_of out: [n_sites] index of each site's field, which the caller must free; NULL if
 * all fields are equal.
 * @param reason out: a message if the model has too many fields (nothing must be freed then);
 * otherwise unchanged. */
gbs_status gbsi_spins_find_fields(const gbsi_conditioned *model, gbsi_spins *spins,
                                  uint8_t **field_of, const char **reason, gbs_error *err);
/* Largest number of bytes that gbsi_spins_find_fields() takes. */
uint64_t gbsi_spins_find_bytes(uint32_t n_sites);

/* Returns the threshold of a site [M3], given its field and, for each group, the number of the
 * site's neighbours and the number of neighbours that are up. The less likely state has probability
 * threshold / 2^32.
 * @param likely out: the more likely state. */
uint32_t gbsi_spins_threshold(const gbsi_spins *spins, uint32_t field, const uint8_t *degree,
                              const uint8_t *count, uint32_t *likely);
/* Returns ~0 if the threshold's bit in this plane is set, else 0. Plane 0 is the most significant
 * bit. */
uint32_t gbsi_spins_plane(uint32_t threshold, uint32_t plane);

/* gbsi_spins_log_density() returns the log density of a chain, computed from its sums. The result
 * equals gbsi_conditioned_log_density() up to rounding. gbsi_spins_total() returns the sum of all
 * spins of the chain. */
double gbsi_spins_log_density(const gbsi_spins *spins, const gbsi_spin_sums *sums);
int64_t gbsi_spins_total(const gbsi_spins *spins, const gbsi_spin_sums *sums);

#endif
