/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of verdicts.def. */
#include "lab/verdicts.h"

#include <math.h>

#include "simd/math.h"

/* Whether an error component measured after T sweeps may tend to a limit. Chance makes the L1 norm
 * of a limit larger in the mean, so that the component is above 0.9 times the limit; and it is
 * below 2 times the limit + 6 / sqrt(T), half of the L1 error of T independent draws of 256
 * states. */
static bool may_tend(double measured, double limit, double sweeps)
{
    return measured > 0.9 * limit && measured < 2.0 * limit + 6.0 / gbsi_sqrt(sweeps);
}

/* Standard error of a sum. */
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
