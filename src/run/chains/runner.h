/* SPDX-License-Identifier: Apache-2.0 */
/* Ways of running a model: chains, chains in bits, pictures of levels, shares of a model, ladders
 * of temperatures, approximations, exact answers. Each way is a table of functions and a row of
 * drive/runners.def. The steps of a run call the functions of its table, and never test which table
 * it is. The member `runner` of a prepared run points to the first row that suits the run. A runner
 * with the trait GBSI_RUNNER_OVER_CHAINS works beside plain chains, or after them. The member
 * `plain` points to the first suitable row without that trait. Until a run turns to ladders,
 * `runner` and `plain` are equal. */
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
#define GBSI_RUNNER_SCANS       2u /* runs a scan, which a pilot may choose */
#define GBSI_RUNNER_SHARES      4u /* ranks share the model, and not the chains */

/* Forms of a model with which chains run without a plan: see gbsi_form. */
typedef enum gbsi_form_kind {
    GBSI_FORM_NONE,
    GBSI_FORM_SITES,  /* the sites of a lattice, as bits */
    GBSI_FORM_CHAINS, /* spins, with chains as bits */
    GBSI_FORM_LEVELS, /* a picture of levels */
} gbsi_form_kind;

/* The rows of estimates of one variable, p, mcse, ess and rhat; a row has one entry for each state.
 * A row pointer is NULL if the caller does not need the row. */
enum { GBSI_P, GBSI_MCSE, GBSI_ESS, GBSI_RHAT, GBSI_N_ROWS };

/* A part of a checkpoint. */
typedef struct gbsi_part {
    const char *name; /* name of less than 16 bytes */
    bool of_chains; /* whether the data of the part are of plain chains; false for ladders that run
                       from the beginning */
    bool may_lack;  /* whether the part may be missing from a file, as in files of older versions */
    bool (*is_there)(
        const struct gbsi_sampling *sampling); /* function that returns whether the run has the
                                                  part; NULL if every run has the part */
    gbs_status (*save)(const struct gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(struct gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err);
} gbsi_part;

/* Function pointers are NULL where a runner has no work to do. */
typedef struct gbsi_runner {
    const char *name;
    unsigned traits;
    int bits; /* GBS_BITS_SITES or GBS_BITS_CHAINS if spins are bits, else 0 */

    /* Whether this runner runs the task; the sampled part of the task's model is known. NULL: the
     * runner runs the task if the chains have the form `form`. */
    bool (*suits)(const struct gbsi_task *task);
    gbsi_form_kind form;

    /* ---- before the first pass ---- */

    /* Compiles the sampled part. @param watch stops preparation. */
    gbs_status (*compile)(struct gbsi_task *task, struct gbsi_engine *engine,
                          struct gbsi_report *report, gbsi_watch *watch, gbs_error *err);
    /* The shape of the estimates (numbers of slots and states); needed if compile() is set. */
    gbsi_estimate_shape (*shape)(const struct gbsi_task *task, const struct gbsi_engine *engine);
    /* Predicts the memory of the run. @param m in: the member `standing`; out: all other members.
     */
    gbs_status (*bytes)(struct gbs_run *run, struct gbsi_run_memory *m, gbs_error *err);
    /* Takes the memory that bytes() predicted. */
    gbs_status (*prepare)(struct gbs_run *run, gbs_error *err);

    /* ---- executed ---- */

    /* Computes the answers that need no draws. After this function, the caller may read marginals.
     */
    gbs_status (*begin)(struct gbsi_task *task, struct gbsi_sampling *sampling,
                        struct gbsi_report *report, struct gbsi_drive *drive, gbs_error *err);
    /* Makes the decisions that are needed before the first pass, and sets the starts; not called if
     * the run resumes from a checkpoint. */
    gbs_status (*start)(struct gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
    /* Runs passes until drive->stop is set. */
    gbs_status (*advance)(struct gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
    /* The parts that a checkpoint saves, in the order of the file; the array ends with NULL. */
    const gbsi_part *const *parts;
    /* Reason why gbs_run_monitor() is refused; NULL if monitoring is allowed. */
    const char *untraced;

    /* ---- judged ---- */

    /* Writes the errors of the present estimates to the report. */
    gbs_status (*errors)(struct gbs_run *run, gbs_error *err);
    /* REQUIRED. Writes the method, the verdict and the digest to the report. */
    gbs_status (*judge)(struct gbs_run *run, gbs_error *err);
    /* Warns about a run that kept draws, and completes the report. Called only by
     * gbsi_judge_sampled(). */
    gbs_status (*remark)(struct gbs_run *run, gbs_error *err);

    /* ---- read ---- */

    /* Checks that estimates can be read. @return GBS_ERR_STATE if estimates cannot be read. The
     * pointer is NULL if estimates can always be read. */
    gbs_status (*check)(const struct gbs_run *run, gbs_error *err);
    /* Writes the estimates of a variable of the sampled part. Several threads may call the function
     * at once. The pointer is NULL if the runner has no marginals, or if the marginals are on
     * several ranks. @param row [GBSI_N_ROWS], of which row[GBSI_P] is never NULL. */
    void (*marginal)(const struct gbsi_sampling *sampling, uint32_t v,
                     double *const row[GBSI_N_ROWS]);
    /* Do the work of gbs_run_marginals() and gbs_run_each_marginal(). If a pointer is NULL, the
     * public function calls marginal() for each variable. */
    gbs_status (*marginals)(const struct gbs_run *run, double *p, double *mcse, double *ess,
                            double *rhat, gbs_error *err);
    gbs_status (*each)(const struct gbs_run *run, gbs_on_marginal *on_marginal, void *context,
                       gbs_error *err);
    /* REQUIRED. Computes the digest of the estimates for the report. @param text [33] out. */
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
