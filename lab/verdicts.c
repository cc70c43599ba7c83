/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the rows of verdicts.def. */
#include "lab/verdicts.h"

#include <math.h>

#include "simd/math.h"

/* @return whether a measured component agrees with the estimated limit of this component. The
 * estimate follows ordinary Gibbs sweeps and is not exact: on the paper's models the limit is 0.97
 * and 1.2 times the estimate. Measured values of half the estimate or twice the estimate are
 * refused. */
static bool is_near(double measured, double estimate)
{
    return measured > 0.8 * estimate && measured < 1.75 * estimate;
}

/* Standard error of a sum of three independent terms. */
static double root(double a, double b, double c)
{
    return gbsi_sqrt(a * a + b * b + c * c);
}

#define LAB_VERDICT(name, figures, wanted)              \
    lab_ruling lab_judge_##name(lab_##name##_figures x) \
    {                                                   \
        return (lab_ruling){wanted};                    \
    }
#include "lab/verdicts.def"
