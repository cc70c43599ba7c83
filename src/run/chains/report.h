/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: the public one with its warnings, and what the verdict needs besides. */
#ifndef GBSI_CHAINS_REPORT_H
#define GBSI_CHAINS_REPORT_H

#include <stdbool.h>

#include "base/status.h"
#include "gibbsite/run.h"

/* A probability that ladders, run as a control, find to be another one. */
typedef struct gbsi_contradiction {
    double beyond; /* largest difference of estimates, minus what the target and chance explain; 0:
                      none */
    uint32_t variable; /* the user's number */
    double chains_say, ladders_say;
} gbsi_contradiction;

typedef struct gbsi_report {
    gbs_report public;
    char **warning;        /* [public.n_warnings] owned; public.warning points here */
    bool starts_dispersed; /* every chain got a different, dispersed start */
    bool split_draws;      /* draws were given whose two classes of variables are independent */
    bool connected;        /* blocks of all ranks show the support connected, once sampling ended */
    uint32_t n_precise; /* sampled variables of class PRECISE, except noisy factors, which need that
                           class */
    double
        bias_at_most; /* of a draw that is not exact, by a run of the random draw; NAN: not known */
    bool proved;      /* a draw that is not exact, but whose errors fall as 1 / T by a theorem */
    bool burn_in_agreed;  /* split R-hat of the log density was small, or the user decided */
    uint64_t slow_passes; /* that the chains took to agree; 0: no longer than the first look, or the
                             user decided */
    bool executed;        /* gbs_run_execute() was called: once */
    bool
        answering; /* the run has not failed, and exact parts are answered: marginals may be read */
    bool in_hand;  /* the answer is by belief propagation, as chains have none */
    bool without_cycles; /* the answer is by messages on a factor graph without cycles: exact */
    double late_share;   /* of --time after which exact answers were given up; 0: they were not */
    bool late_search;    /* before anything was known to be exact */
    bool bare;           /* the run is of a lattice or a picture: its model has no factors */
    bool frozen;         /* noise leaves the pixels of a picture no choice */
    gbsi_contradiction contradiction; /* where it is largest */
    bool told_of_ladders;             /* on several ranks: that one process would turn to them */
} gbsi_report;

/* Figures that are not known yet are NaN. */
void gbsi_report_init(gbsi_report *report);
void gbsi_report_free(gbsi_report *report); /* frees the members, not the struct itself */
gbs_status gbsi_report_warn(gbsi_report *report, gbs_error *err, const char *format, ...)
    GBSI_PRINTF(3, 4);

#endif
