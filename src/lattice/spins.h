/* SPDX-License-Identifier: Apache-2.0 */
/* What a model of spins is, however it is put into bits [M16]: couplings of a few sizes, a few
 * fields, and the log density as integers times them.
 *
 * Any factor of one or two binary variables is one of spins s = 2x - 1, up to a constant:
 *     J s s' + h s + h' s'. */
#ifndef GBSI_LATTICE_SPINS_H
#define GBSI_LATTICE_SPINS_H

#include <stdbool.h>

#include "model/condition.h"

#define GBSI_SPIN_GROUPS     3u  /* sizes of J; neighbours with the same one are counted together */
#define GBSI_SPIN_NEIGHBOURS 6u  /* most of a site in a group */
#define GBSI_SPIN_FIELDS     8u  /* values of h */
#define GBSI_SPIN_PLANES     32u /* bits of a threshold */
#define GBSI_SPIN_COUNTERS   8u  /* levels of vertical counters: 128 passes */

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

/* Integers of one chain after a pass: bonds whose two spins agree (J) or differ (-J), by group, and
 * sites that are up, by field. */
typedef struct gbsi_spin_sums {
    int64_t agree[GBSI_SPIN_GROUPS];
    int64_t up[GBSI_SPIN_FIELDS];
} gbsi_spin_sums;

/* A factor as one of spins. Of one variable: J and h' are 0. */
typedef struct gbsi_spin_factor {
    double constant, coupling, field[2];
} gbsi_spin_factor;

/* Why a model has factors or variables that are none of spins, or NULL. O(factors). */
const char *gbsi_spins_refusal(const gbsi_conditioned *model);
/* @param f of a model that was not refused. */
gbsi_spin_factor gbsi_spin_factor_of(const gbsi_conditioned *model, size_t f);

/* Fields of all sites, told apart: fills n_fields, field, n_of_field and adds to the constant what
 * all factors have of it.
 * @param field_of out: [n_sites], to be freed; NULL where all are alike.
 * @param reason out: why there are too many, then nothing is to be freed; else untouched. */
gbs_status gbsi_spins_find_fields(const gbsi_conditioned *model, gbsi_spins *spins,
                                  uint8_t **field_of, const char **reason, gbs_error *err);
/* Bytes that this takes at most. */
uint64_t gbsi_spins_find_bytes(uint32_t n_sites);

/* The conditional of a site with that field, so many neighbours in each group and so many of them
 * up [M3]: its less likely state has probability threshold / 2^32.
 * @param likely out: the other state. */
uint32_t gbsi_spins_threshold(const gbsi_spins *spins, uint32_t field, const uint8_t *degree,
                              const uint8_t *count, uint32_t *likely);
/* ~0 where a bit of it is set; plane 0 is the most significant. */
uint32_t gbsi_spins_plane(uint32_t threshold, uint32_t plane);

/* Of a chain: log density as gbsi_conditioned_log_density() up to rounding, the sum of spins. */
double gbsi_spins_log_density(const gbsi_spins *spins, const gbsi_spin_sums *sums);
int64_t gbsi_spins_total(const gbsi_spins *spins, const gbsi_spin_sums *sums);

#endif
