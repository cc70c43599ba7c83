/* SPDX-License-Identifier: Apache-2.0 */
/* Ways of running: chains, chains in bits, pictures of levels, shares of a model, ladders of
 * temperatures, approximations, exact answers. Each is a table of functions, and a row of
 * drive/runners.def. The steps of a run ask its table, never which way of running it is.
 *
 * The first row that suits a prepared run is its `runner`. A runner with GBSI_RUNNER_OVER_CHAINS
 * works beside plain chains, which may come before it: `plain` is the first row that suits without
 * that trait. Until a run turns to ladders, or if it never does, both are the same. */
#ifndef GBSI_CHAINS_RUNNER_H
#define GBSI_CHAINS_RUNNER_H

#include <stdbool.h>

#include "base/saved.h"
#include "base/watch.h"
#include "estimate/estimate.h"
#include "gibbsite/share.h"

struct gbs_run;
struct gbsi_drive;
struct gbsi_engine;
struct gbsi_report;
struct gbsi_run_memory;
struct gbsi_sampling;
struct gbsi_task;

/* Traits. */
#define GBSI_RUNNER_OVER_CHAINS 1u /* works beside plain chains, or takes over from them */
#define GBSI_RUNNER_SCANS       2u /* follows a scan, which a pilot may choose */
#define GBSI_RUNNER_SHARES      4u /* ranks share the model rather than the chains */

/* Forms of a model that chains run on without a plan. */
typedef enum gbsi_form_kind {
    GBSI_FORM_NONE,
    GBSI_FORM_SITES,  /* the sites of a lattice in bits */
    GBSI_FORM_CHAINS, /* spins whose chains are in bits */
    GBSI_FORM_LEVELS, /* a picture of levels */
} gbsi_form_kind;

/* Estimates of one variable: a row each for p, mcse, ess and rhat, with an entry for each state;
 * NULL: this row is not asked for. */
enum { GBSI_P, GBSI_MCSE, GBSI_ESS, GBSI_RHAT, GBSI_N_ROWS };

/* A part of a checkpoint. */
typedef struct gbsi_part {
    const char *name; /* less than 16 bytes */
    bool of_chains;   /* false for ladders that run from the beginning */
    bool may_lack;    /* files of older versions do not have this part */
    bool (*is_there)(const struct gbsi_sampling *sampling); /* NULL: always */
    gbs_status (*save)(const struct gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(struct gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err);
} gbsi_part;

/* Functions may be NULL if nothing is to be done. */
typedef struct gbsi_runner {
    const char *name;
    unsigned traits;
    int bits; /* GBS_BITS_SITES or GBS_BITS_CHAINS where spins are bits, else 0 */

    /* Whether this is how a run is run, once its sampled part is known. NULL: if its chains run on
     * this form. */
    bool (*suits)(const struct gbsi_task *task);
    gbsi_form_kind form;

    /* ---- before the first pass ---- */

    /* Compiles the sampled part. @param watch stops preparation. */
    gbs_status (*compile)(struct gbsi_task *task, struct gbsi_engine *engine,
                          struct gbsi_report *report, gbsi_watch *watch, gbs_error *err);
    /* The shape of its estimates, for runners with compile(). */
    gbsi_estimate_shape (*shape)(const struct gbsi_task *task, const struct gbsi_engine *engine);
    /* Predicts the memory of the run. @param m in: the standing bytes. Out: the rest. */
    gbs_status (*bytes)(struct gbs_run *run, struct gbsi_run_memory *m, gbs_error *err);
    /* Takes that memory. */
    gbs_status (*prepare)(struct gbs_run *run, gbs_error *err);

    /* ---- executed ---- */

    /* Gives the answers that need no draws. Once it returns, marginals may be asked for. */
    gbs_status (*begin)(struct gbsi_task *task, struct gbsi_sampling *sampling,
                        struct gbsi_report *report, struct gbsi_drive *drive, gbs_error *err);
    /* Makes the decisions before the first pass and sets the starts, unless a checkpoint is taken
     * up. */
    gbs_status (*start)(struct gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
    /* Samples until something stops the run: drive->stop. */
    gbs_status (*advance)(struct gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
    /* The parts that a checkpoint saves, in the order of the file, NULL behind the last. */
    const gbsi_part *const *parts;
    /* Why gbs_run_monitor() is refused; NULL: it is not. */
    const char *untraced;

    /* ---- judged ---- */

    /* Reports the errors of the draws so far. */
    gbs_status (*errors)(struct gbs_run *run, gbs_error *err);
    /* REQUIRED. Reports the method, the verdict and the digest. */
    gbs_status (*judge)(struct gbs_run *run, gbs_error *err);
    /* For runners that use gbsi_judge_sampled(): warns about a run that kept draws, and completes
     * the report. */
    gbs_status (*remark)(struct gbs_run *run, gbs_error *err);

    /* ---- read ---- */

    /* Whether there is something to read. @return GBS_ERR_STATE if not. NULL: always. */
    gbs_status (*check)(const struct gbs_run *run, gbs_error *err);
    /* The estimates of a variable of the sampled part. May be called by several threads. NULL: the
     * runner has no marginals, or they are on several ranks. @param row [GBSI_N_ROWS], of which p
     * is never NULL. */
    void (*marginal)(const struct gbsi_sampling *sampling, uint32_t v,
                     double *const row[GBSI_N_ROWS]);
    /* gbs_run_marginals() and gbs_run_each_marginal(). NULL: by marginal(). */
    gbs_status (*marginals)(const struct gbs_run *run, double *p, double *mcse, double *ess,
                            double *rhat, gbs_error *err);
    gbs_status (*each)(const struct gbs_run *run, gbs_on_marginal *on_marginal, void *context,
                       gbs_error *err);
    /* REQUIRED. The digest of the report. @param text [33] out. */
    gbs_status (*digest)(struct gbs_run *run, char *text, gbs_error *err);

    /* Frees the objects that the runner has added to the run. */
    void (*free)(struct gbsi_task *task, struct gbsi_sampling *sampling);
} gbsi_runner;

static inline bool gbsi_runner_climbs(const gbsi_runner *runner)
{
    return (runner->traits & GBSI_RUNNER_OVER_CHAINS) != 0;
}

static inline bool gbsi_runner_shares(const gbsi_runner *runner)
{
    return (runner->traits & GBSI_RUNNER_SHARES) != 0;
}

#endif
