/* SPDX-License-Identifier: Apache-2.0 */
/* Contests of several draws on one small model: error of each draw after 1, 2, 4, ... sweeps, over
 * many runs. */
#ifndef LAB_CONTEST_H
#define LAB_CONTEST_H

#include "lab/curves.h"
#include "lab/plot.h"

#define LAB_MAX_CONTENDERS 8

/* A draw, its options, and its appearance in charts. */
typedef struct lab_contender {
    const char *name; /* name of the contender in tables and at lines of charts */
    gbsi_color color;
    gbsi_dash dash;
    int draw;         /* gbs_draw_kind */
    int rule;         /* gbs_herd_rule; 0 for auto */
    double threshold; /* threshold of bounded-error herding */
    uint64_t bins;    /* number of bins; 0 for none */
    uint64_t offset;  /* offset of the cud draw; 0 for the default */
    /* dummy edges go to the 2nd, ..., ring-th neighbours on a ring; values below 2 stand for none
     */
    uint32_t ring;
} lab_contender;

/* Run options of a contender. @param edge [2 n ring] room for dummy edges of n variables, NULL if
 * the contender has no dummy edges; borrowed by the options. */
void lab_contender_options(const lab_contender *contender, uint32_t n_variables, uint32_t *edge,
                           gbs_run_options *options);

typedef struct lab_contest {
    const char *title; /* title of the panel, and heading of the first column of the table */
    size_t n;
    const lab_contender *contender; /* [n] borrowed */
    lab_statistic *statistic;
    const void *context;
    bool largest; /* takes the largest value of the statistic since the checkpoint before */
    /* results */
    lab_curves curves[LAB_MAX_CONTENDERS];
    double median[LAB_MAX_CONTENDERS][LAB_MAX_CHECKPOINTS];
    double low[LAB_MAX_CONTENDERS][LAB_MAX_CHECKPOINTS];  /* lower quartile of the runs */
    double high[LAB_MAX_CONTENDERS][LAB_MAX_CHECKPOINTS]; /* upper quartile */
    double max[LAB_MAX_CONTENDERS][LAB_MAX_CHECKPOINTS];
} lab_contest;

/* @param sweeps a power of 2; cud draws take a whole period, which is one sweep less.
 * @param contest with title, contenders, statistic and context set, and the other members zero; the
 * caller must free it in any case. */
gbs_status lab_contest_run(laboratory *lab, const gbs_model *model, uint64_t chains,
                           uint64_t sweeps, lab_contest *contest, gbs_error *err);
/* Runs n contests that differ only in their statistics: each draw runs once for all of them.
 * @param n 1 to LAB_MAX_MEASURES. */
gbs_status lab_contests_run(laboratory *lab, const gbs_model *model, uint64_t chains,
                            uint64_t sweeps, size_t n, lab_contest *contest, gbs_error *err);
void lab_contest_free(lab_contest *contest);

#define LAB_CONTEST_HEADER "model,draw,sweeps,median,q25,q75,max"
void lab_contest_rows(lab_table *table, const lab_contest *contest);
/* Adds a line of the median for each contender. @param bands whether bands between the quartiles
 * of the runs are added. */
void lab_contest_lines(lab_plot *plot, size_t panel, const lab_contest *contest, bool bands);
/* Writes the contests of an experiment as one table. */
gbs_status lab_contests_write(const laboratory *lab, const char *name, size_t n,
                              const lab_contest *contest, gbs_error *err);

#endif
