/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the estimates of all variables by the runner's marginal(), and digests them. */
#ifndef GBSI_DRIVE_MARGINALS_H
#define GBSI_DRIVE_MARGINALS_H

#include "base/digest.h"
#include "chains/run.h"

/* The failure of a run from which nothing can be read yet. */
gbs_status gbsi_no_draw_kept(gbs_error *err);
/* NaN, whatever its sign is. */
double gbsi_one_nan(double value);

/* Adds the probabilities of all variables to a digest, or their standard errors. */
gbs_status gbsi_marginals_add(const gbs_run *run, bool errors, gbsi_digest *digest, gbs_error *err);
/* gbsi_runner.digest: the probabilities of all variables, then their standard errors. */
gbs_status gbsi_marginals_digest(gbs_run *run, char *text, gbs_error *err);

#endif
