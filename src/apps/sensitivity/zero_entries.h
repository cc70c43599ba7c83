/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of conditional tables that are 0, of which no draw tells directly. With R(c) the product
 * of all other factors and likelihoods of the child c, and z the other variables of a draw,
 *
 *     rho_i(z) = R(i) / sum over c of t(c | u) R(c) ,     E[1[u] rho_i | e] = g(i, u) / P(e) [M55]
 *
 * where g is the sum over states without the table. That holds where R has no zeros: else states z
 * that the draws never have would count. */
#ifndef GBSI_SENSITIVITY_ZERO_ENTRIES_H
#define GBSI_SENSITIVITY_ZERO_ENTRIES_H

#include "sensitivity/reduced.h"

typedef struct gbsi_zero_entries gbsi_zero_entries;

gbs_status gbsi_zero_entries_new(const gbsi_reduced *reduced, gbsi_zero_entries **out,
                                 gbs_error *err);
void gbsi_zero_entries_free(gbsi_zero_entries *zeros);
/* Whether the zeros of a conditional table are answered. */
bool gbsi_zero_entries_answers(const gbsi_zero_entries *zeros, size_t factor);
/* Adds 1[u] rho_i of a draw to the cells of zeros.
 * @param cell [factors] the first cell of each: joint states of what is free in its scope.
 * @param sum  [cells][2] in and out: by 1[X = x], where the child is in state i. */
void gbsi_zero_entries_add(gbsi_zero_entries *zeros, const uint32_t *state, const size_t *cell,
                           double *sum);

#endif
