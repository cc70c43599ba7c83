/* SPDX-License-Identifier: Apache-2.0 */
/* The ratio of two partition functions from draws of both laws: Bennett's acceptance ratio (Bennett
 * 1976, Journal of Computational Physics 22:245-268, equation 12; Meng & Wong 1996). [M47] */
#ifndef GBSI_TEMPER_BAR_H
#define GBSI_TEMPER_BAR_H

#include <stddef.h>

/* ln Z_1 / Z_0 of laws pi_i = exp(f_i) / Z_i.
 * @param u0 [n0] f_1(x) - f_0(x) of draws x of pi_0; n0 >= 1. @param u1 [n1] the same of draws of
 * pi_1; n1 >= 1. */
double gbsi_bar(const double *u0, size_t n0, const double *u1, size_t n1);

#endif
