/* SPDX-License-Identifier: Apache-2.0 */
/* Scans side by side on large models, as in Gonzalez et al. (2011), figure 5. Results after 1, 2,
 * 4, ... sweeps depend on the seed alone: how probable the states are, and how far apart the means
 * of independent chains still are. The work is counted in operations, times nanoseconds that were
 * calibrated once, and so does not depend on the machine either. The number of variables that scans
 * draw per second on several threads is only reported. */
#ifndef LAB_RACE_H
#define LAB_RACE_H

#include "lab/curves.h"

#define LAB_MAX_RACERS 4
#define LAB_MAX_TEAMS  6 /* 1, 2, 4, ... threads */
#define LAB_MAX_RACES  4

/* A scan, with its name and colour in charts. */
typedef struct lab_racer {
    const char *name;
    gbsi_color color;
    int scan;              /* gbs_scan_kind */
    uint64_t width;        /* width of splashes: eight run at once, each on at most a fortieth of
                              the model */
    uint64_t sweeps;       /* in full, a power of 2 */
    uint64_t sweeps_quick; /* likewise */
    uint64_t sweeps_timed; /* with every number of threads */
} lab_racer;

#define LAB_RACER_CHROMATIC(full, quick, timed)                                 \
    {                                                                           \
        "chromatic", GBSI_BLUE, GBS_SCAN_CHROMATIC, 0, (full), (quick), (timed) \
    }
#define LAB_RACER_SPLASH(width, color, full, quick, timed)                                   \
    {                                                                                        \
        "splash, width " #width, (color), GBS_SCAN_SPLASH, (width), (full), (quick), (timed) \
    }

/* The results of one racer, checkpoint by checkpoint. */
typedef struct lab_trail {
    size_t n;                            /* checkpoints */
    double updates[LAB_MAX_CHECKPOINTS]; /* updates of a variable in one chain, mean over the
                                            variables */
    double density[LAB_MAX_CHECKPOINTS]; /* log density, mean over the chains */
    double low[LAB_MAX_CHECKPOINTS];     /* log density of the least probable state of any chain */
    double high[LAB_MAX_CHECKPOINTS];
    double
        variance[LAB_MAX_CHECKPOINTS];   /* between chains, of the mean state of a variable over
                                             mean over all sweeps until now and over the variables */
    double work_rate;                    /* variables drawn in a second of counted work */
    double work[LAB_MAX_CHECKPOINTS];    /* seconds of counted work of all chains */
    double rate[LAB_MAX_TEAMS];          /* variables drawn a second, all chains together */
    double seconds[LAB_MAX_CHECKPOINTS]; /* updates at the rate of most threads */
} lab_trail;

typedef struct lab_race {
    const char *title;
    const gbs_model *model;
    const gbs_evidence *evidence; /* NULL for none */
    const char *between;          /* label of the variance: "grey levels squared" */
    bool wider_is_better;         /* expected of splashes among themselves */
    uint32_t n_chains;
    size_t n_racers;
    const lab_racer *racer; /* [n_racers] */
    /* results */
    uint32_t n_free; /* variables */
    lab_trail trail[LAB_MAX_RACERS];
    size_t n_teams;
    double threads[LAB_MAX_TEAMS];
} lab_race;

/* Updates of all its runs, for the progress. */
double lab_race_updates(const laboratory *lab, const lab_race *race);

/* @param race the fields above the results set. The fastest of three runs of equal work, taken in
 * turns, counts. */
gbs_status lab_race_run(laboratory *lab, lab_race *race, gbs_error *err);

/* Writes curves.csv and work.csv, which are functions of the seed alone, and times.csv, which is
 * measured. */
gbs_status lab_races_write(const laboratory *lab, size_t n, const lab_race *race, gbs_error *err);
/* curves.svg: by updates, a row of two panels a race; work.svg: by counted work, a row of three;
 * times.svg: by seconds and by threads, two rows. @param title name of the quantity that is drawn
 * against updates. */
gbs_status lab_races_draw(const laboratory *lab, size_t n, const lab_race *race, const char *title,
                          gbs_error *err);

/* Value of a curve at x, linear in its logarithm; that of the ends beyond them. */
double lab_trail_at(const lab_trail *trail, const double *x, const double *y, double at);
/* The x at which a curve that starts below (or above) a value first is there; infinite if it never
 * is. */
double lab_trail_reaches(const lab_trail *trail, const double *x, const double *y, double value);
/* Findings: racer 0 draws single variables, the others splashes, ever wider ones. After the same
 * number of updates splashes are further (and, if expected, the widest further than the narrowest).
 * Racer 0 takes at least 1.3 times the updates of the widest to get as far. The function also makes
 * a note of this ratio by the clock. */
void lab_race_judge(laboratory *lab, const lab_race *race);

#endif
