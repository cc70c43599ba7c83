/* SPDX-License-Identifier: Apache-2.0 */
/* Ways of running: chains, chains in bits, pictures of levels, shares of a model, ladders of
 * temperatures, mean field, exact answers. Each is a table of functions, and a row of
 * drive/runners.def. The steps of a run ask its table, never which way of running it is.
 *
 * The first row that suits a prepared run is its `runner`. A runner with GBSI_RUNNER_OVER_CHAINS
 * works beside plain chains, which may come before it: `plain` is the first row that suits without
 * that trait. */
#ifndef GBSI_CHAINS_RUNNER_H
#define GBSI_CHAINS_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/share.h"

struct gbs_run;

/* Traits. */
#define GBSI_RUNNER_OVER_CHAINS 1u /* works beside plain chains, or takes over from them */

/* Estimates of one variable: a row each for p, mcse, ess and rhat, with an entry for each state;
 * NULL: this row is not asked for. */
enum { GBSI_P, GBSI_MCSE, GBSI_ESS, GBSI_RHAT, GBSI_N_ROWS };

typedef struct gbsi_runner {
    const char *name;
    unsigned traits;

    /* REQUIRED. Whether this is how a run is run, once its sampled part is known. */
    bool (*suits)(const struct gbs_run *run);

    /* ---- answers ---- */

    /* Whether there is something to read. @return GBS_ERR_STATE if not. NULL: always. */
    gbs_status (*check)(const struct gbs_run *run, gbs_error *err);
    /* The estimates of a variable of the sampled part. May be called by several threads. NULL:
     * there are none, or they are on several ranks. @param row [GBSI_N_ROWS], of which p is never
     * NULL. */
    void (*marginal)(const struct gbs_run *run, uint32_t v, double *const row[GBSI_N_ROWS]);
    /* gbs_run_marginals() and gbs_run_each_marginal(). NULL: by marginal(). */
    gbs_status (*marginals)(const struct gbs_run *run, double *p, double *mcse, double *ess,
                            double *rhat, gbs_error *err);
    gbs_status (*each)(const struct gbs_run *run, gbs_on_marginal *on_marginal, void *context,
                       gbs_error *err);
    /* REQUIRED. The digest of the report. @param text [33] out. */
    gbs_status (*digest)(struct gbs_run *run, char *text, gbs_error *err);
} gbsi_runner;

#endif
