/* SPDX-License-Identifier: Apache-2.0 */
/* L-BFGS for all sites together and for each site alone. Only for builds with libLBFGS. */
#ifndef GBSI_POTTS_POTTS_LBFGS_H
#define GBSI_POTTS_POTTS_LBFGS_H

#include <limits.h>

#include <lbfgs.h>

#include "potts/potts.h"

enum {
    GBSI_LBFGS_WINDOW = 10, /* iterations over which the fall of the objective is judged */
    GBSI_LBFGS_MEMORY = 6,  /* steps that are remembered */
};

static inline lbfgs_parameter_t gbsi_potts_lbfgs(const gbs_potts_options *options)
{
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = GBSI_LBFGS_MEMORY;
    parameters.past = GBSI_LBFGS_WINDOW;
    parameters.delta = options->tolerance;
    parameters.max_iterations = options->iterations > INT_MAX ? 0 : (int)options->iterations;
    return parameters;
}

/* @return the bytes that libLBFGS needs for n weights. */
static inline size_t gbsi_potts_lbfgs_bytes(size_t n)
{
    return (2 * GBSI_LBFGS_MEMORY + 5) * n * sizeof(double);
}

/* Whether L-BFGS has converged. It has, too, if rounding ended a line search, which then has
 * nothing lower to find. */
static inline bool gbsi_lbfgs_converged(int ended)
{
    return ended == LBFGS_SUCCESS || ended == LBFGS_STOP || ended == LBFGS_ALREADY_MINIMIZED ||
           ended == LBFGSERR_ROUNDING_ERROR;
}

/* potts_sites.c: learns each site alone.
 * @param x [n] out.
 * @param report its fields of L-BFGS are set.
 * @return GBS_ERR_STOPPED if it was stopped: x is then of no use. */
gbs_status gbsi_potts_sites(gbsi_potts *potts, const gbs_potts_options *options, double *x,
                            gbs_potts_report *report, gbs_error *err);

#endif
