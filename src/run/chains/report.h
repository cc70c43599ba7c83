/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: the public report with its warnings, and the further facts that the verdict
 * needs. */
#ifndef GBSI_CHAINS_REPORT_H
#define GBSI_CHAINS_REPORT_H

#include <stdbool.h>

#include "base/status.h"
#include "gibbsite/run.h"

/* A probability that the chains estimate in one way, and ladders, run as a control, in another. */
typedef struct gbsi_contradiction {
    double beyond;     /* largest difference of the two estimates, less the part that chance and the
                          target error explain; 0 if there is no contradiction */
    uint32_t variable; /* variable in the user's numbering */
    double chains_say, ladders_say;
} gbsi_contradiction;

typedef struct gbsi_report {
    gbs_report public;
    char **warning;        /* [public.n_warnings] owned; public.warning points to this array */
    bool starts_dispersed; /* whether every chain got a different, dispersed start */
    /* Whether the draws given to the user are of synchronous chains, in which two classes of
     * variables are independent of each other. */
    bool split_draws;
    bool connected; /* whether the blocks of all ranks show that the support is connected; set once
                       sampling has ended */
    uint32_t n_precise; /* number of sampled variables whose updates are of class PRECISE; variables
                           of noisy factors, which always need that class, are not counted */
    double bias_at_most; /* bound on the bias of a drawing method that is not exact, from a
                            comparison with the random draw; NAN: not known */
    bool proved; /* whether a theorem bounds the errors of a drawing method that is not exact by a
                    multiple of 1 / T, for T passes */
    bool burn_in_agreed;  /* whether burn-in ended because split R-hat of the log density was small,
                             or because the user had set its length */
    uint64_t slow_passes; /* number of passes until the chains agreed; 0 if the chains agreed at the
                             first check, or if the user set the length of burn-in */
    bool executed;        /* whether gbs_run_execute() was called; a second call is refused */
    bool answering;       /* whether marginals may be read: the run has not failed, and the exact
                             components are answered */
    /* Whether belief propagation gives the answer because the chains have no answer. */
    bool in_hand;
    bool without_cycles; /* whether messages on a factor graph without cycles give the answer, which
                            is then exact */
    double late_share;   /* share of --time after which exact answers were given up; 0 if exact
                            answers were kept */
    double late_times;   /* time that exact answers were predicted to take, as a multiple of --time;
                            0: no prediction decided */
    bool late_search;    /* whether exact answers were given up before any component was known to be
                            exact */
    bool bare; /* whether the run is of a lattice or a picture, which has no factors in its model */
    bool frozen; /* whether the noise is so small that the pixels of a picture keep their values */
    /* number of pixels that keep their levels because the noise is small and their neighbours show
     * an equal level; 0 if the run is not of a picture */
    uint64_t n_held;
    gbsi_contradiction contradiction; /* the largest contradiction */
    bool told_of_ladders; /* whether the report of a run on several ranks says that one process
                             would change to ladders */
} gbsi_report;

/* Sets figures that are not known yet to NaN. */
void gbsi_report_init(gbsi_report *report);
void gbsi_report_free(gbsi_report *report); /* frees the members, not the struct itself */
gbs_status gbsi_report_warn(gbsi_report *report, gbs_error *err, const char *format, ...)
    GBSI_PRINTF(3, 4);

#endif
