/* SPDX-License-Identifier: Apache-2.0 */
/* Linear equations of a symmetric positive definite matrix that is known by its products alone. */
#ifndef GBSI_LEARN_CONJUGATE_H
#define GBSI_LEARN_CONJUGATE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbsi_conjugate {
    size_t n;
    double *y;           /* [n] out */
    double *r;           /* [n] the right side; out: what is left of it */
    double *d, *product; /* [n] scratch */
    bool (*multiply)(void *context, const double *d, double *product); /* false: stopped */
    void *context;
} gbsi_conjugate;

/* H y = r, until r has a ten-thousandth of its length. Sums are one thread's. @return false where
 * it was stopped, or not there after 2000 products. */
bool gbsi_conjugate_solve(const gbsi_conjugate *c);

#endif
