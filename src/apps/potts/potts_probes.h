/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of dense Potts models with more parameters than a matrix of them has room for. */
#ifndef GBSI_POTTS_POTTS_PROBES_H
#define GBSI_POTTS_POTTS_PROBES_H

#include "potts/potts.h"

/* The root mean square of what n probes find, each with signs of its own for all rows: as
 * potts_errors.c computes without them, within a share of 1 / sqrt(2 n) at most (one standard
 * error). @param potts has memory for gradients. @param x at the maximum of the pseudo-likelihood.
 * @param options l2, method, seed. @param pull the part of the penalty instead: how far it moves
 * the maximum, of parameters drawn from the prior that it stands for. @param error [potts->n] out.
 */
gbs_status gbsi_potts_probe_errors(gbsi_potts *potts, const double *x,
                                   const gbs_potts_options *options, uint64_t n, bool pull,
                                   double *error, gbs_error *err);

/* Finds the parameters that the rows do not bound: couplings of sites some of whose states are
 * together in no row, and their fields.
 * @param unseen [potts->n] out, 1 there.
 * @return whether there are any. */
bool gbsi_potts_unseen(const gbsi_potts *potts, gbsi_watch *watch, uint8_t *unseen);

#endif
