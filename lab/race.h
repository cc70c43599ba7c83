/* SPDX-License-Identifier: Apache-2.0 */
/* Scans side by side on large models, as in Gonzalez et al. (2011), figure 5. What they have
 * reached after 1, 2, 4, ... sweeps is a matter of the seed: how probable the states are, and how
 * far the means of independent chains are still apart. How many variables they draw a second on so
 * many threads is measured and decides nothing. */
#ifndef GBSI_LAB_RACE_H
#define GBSI_LAB_RACE_H

#include "lab/curves.h"

#define GBSI_MAX_RACERS 4
#define GBSI_MAX_TEAMS  6 /* 1, 2, 4, ... threads */
#define GBSI_MAX_RACES  4

/* A scan and how it looks in charts. */
typedef struct gbsi_racer {
    const char *name;
    gbsi_color color;
    int scan;              /* gbs_scan_kind */
    uint64_t width;        /* of splashes: eight at once, each at most a fortieth of the model */
    uint64_t sweeps;       /* in full, a power of 2 */
    uint64_t sweeps_quick; /* likewise */
    uint64_t sweeps_timed; /* with every number of threads */
} gbsi_racer;

/* What one of them has reached. */
typedef struct gbsi_trail {
    size_t n;                             /* checkpoints */
    double updates[GBSI_MAX_CHECKPOINTS]; /* of a variable in one chain, mean over the variables */
    double density[GBSI_MAX_CHECKPOINTS]; /* log density, mean over the chains */
    double low[GBSI_MAX_CHECKPOINTS];     /* of the least probable state of any chain */
    double high[GBSI_MAX_CHECKPOINTS];
    double variance[GBSI_MAX_CHECKPOINTS]; /* between chains, of the mean state of a variable over
                                              all sweeps so far; mean over the variables */
    double rate[GBSI_MAX_TEAMS];           /* variables drawn a second, all chains together */
    double seconds[GBSI_MAX_CHECKPOINTS];  /* updates at the rate of most threads */
} gbsi_trail;

typedef struct gbsi_race {
    const char *title;
    const gbs_model *model;
    const gbs_evidence *evidence; /* NULL for none */
    const char *between;          /* label of the variance: "grey levels squared" */
    bool wider_is_better;         /* expected of splashes among themselves */
    uint32_t n_chains;
    size_t n_racers;
    const gbsi_racer *racer; /* [n_racers] */
    /* results */
    uint32_t n_free; /* variables */
    gbsi_trail trail[GBSI_MAX_RACERS];
    size_t n_teams;
    double threads[GBSI_MAX_TEAMS];
} gbsi_race;

/* Updates of all its runs, for the progress. */
double gbsi_race_updates(const gbsi_lab *lab, const gbsi_race *race);

/* @param race the fields above the results set. Of runs of equal work the fastest of three counts,
 * taken in turns. */
gbs_status gbsi_race_run(gbsi_lab *lab, gbsi_race *race, gbs_error *err);

/* curves.csv: a function of the seed alone; times.csv: measured. */
gbs_status gbsi_races_write(const gbsi_lab *lab, size_t n, const gbsi_race *race, gbs_error *err);
/* curves.svg: by updates, a row of two panels a race; times.svg: by seconds and by threads, two
 * rows. @param title what is seen by updates. */
gbs_status gbsi_races_draw(const gbsi_lab *lab, size_t n, const gbsi_race *race, const char *title,
                           gbs_error *err);

/* Value of a curve at x, linear in its logarithm; that of the ends beyond them. */
double gbsi_trail_at(const gbsi_trail *trail, const double *x, const double *y, double at);
/* The x at which a curve that starts below (or above) a value first is there; infinite if it never
 * is. */
double gbsi_trail_reaches(const gbsi_trail *trail, const double *x, const double *y, double value);
/* Findings: racer 0 draws single variables, the others splashes, ever wider ones. With as many
 * updates splashes are further (and the widest than the narrowest, if that is expected); to get as
 * far as the widest, racer 0 takes at least so many times the updates. And a note of what that is
 * by the clock. */
void gbsi_race_judge(gbsi_lab *lab, const gbsi_race *race, double least);

#endif
