/* SPDX-License-Identifier: Apache-2.0 */
/* Several draws on one small model: the error of each after 1, 2, 4, ... sweeps, over many runs. */
#ifndef GBSI_LAB_CONTEST_H
#define GBSI_LAB_CONTEST_H

#include "lab/curves.h"

#define GBSI_MAX_CONTENDERS 8

/* A draw, its options, and how it looks in charts. */
typedef struct gbsi_contender {
    const char *name; /* in tables and at lines */
    gbsi_color color;
    gbsi_dash dash;
    int draw;         /* gbs_draw_kind */
    int rule;         /* gbs_herd_rule */
    double threshold; /* of bounded error */
    uint64_t bins;    /* 0: none */
    uint32_t ring;    /* dummy edges to the 2nd, ..., ring-th neighbour on a ring; below 2: none */
} gbsi_contender;

/* Run options of a contender. @param edge [2 n ring] room for dummy edges of n variables, NULL if
 * there are none; borrowed by the options. */
void gbsi_contender_options(const gbsi_contender *contender, uint32_t n_variables, uint32_t *edge,
                            gbs_run_options *options);

typedef struct gbsi_contest {
    const char *title; /* of the panel, and the first column of the table */
    size_t n;
    const gbsi_contender *contender; /* [n] borrowed */
    gbsi_statistic *statistic;
    const void *context;
    /* results */
    gbsi_curves curves[GBSI_MAX_CONTENDERS];
    double median[GBSI_MAX_CONTENDERS][GBSI_MAX_CHECKPOINTS];
    double low[GBSI_MAX_CONTENDERS][GBSI_MAX_CHECKPOINTS];  /* a tenth of the runs is below */
    double high[GBSI_MAX_CONTENDERS][GBSI_MAX_CHECKPOINTS]; /* a tenth above */
    double max[GBSI_MAX_CONTENDERS][GBSI_MAX_CHECKPOINTS];
    gbsi_line line[GBSI_MAX_CONTENDERS];
} gbsi_contest;

/* @param contest title, contenders, statistic and context set, the rest zero; free in any case. */
gbs_status gbsi_contest_run(gbsi_lab *lab, const gbs_model *model, uint64_t chains, uint64_t sweeps,
                            gbsi_contest *contest, gbs_error *err);
void gbsi_contest_free(gbsi_contest *contest);

#define GBSI_CONTEST_HEADER "model,draw,sweeps,median,q10,q90,max"
void gbsi_contest_rows(gbs_output *table, const gbsi_contest *contest);
/* Median lines. @param bands around them, from a tenth to nine tenths of the runs. */
gbsi_panel gbsi_contest_panel(gbsi_contest *contest, bool bands, const char *y_label,
                              size_t n_guides, const gbsi_guide *guide);
/* The contests of an experiment as one table. */
gbs_status gbsi_contests_write(const gbsi_lab *lab, const char *name, size_t n,
                               const gbsi_contest *contest, gbs_error *err);

#endif
