/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of scans on large models, as in Gonzalez et al. (2011), figure 5. The results after 1,
 * 2, 4, ... sweeps depend on the seed alone: the log density of the states, and the variance
 * between the means of independent chains. Work is the number of operations times nanoseconds that
 * were calibrated once, so that work does not depend on the machine. The number of variables that
 * scans draw per second on several threads is reported, but not judged. */
#ifndef LAB_RACE_H
#define LAB_RACE_H

#include "lab/curves.h"

#define LAB_MAX_RACERS 4
#define LAB_MAX_TEAMS  6 /* numbers of threads: 1, 2, 4, ... */
#define LAB_MAX_RACES  4

/* A scan, with its name and colour in charts. */
typedef struct lab_racer {
    const char *name;
    gbsi_color color;
    int scan; /* gbs_scan_kind */
    /* largest separator of splashes; 0 for other scans. Eight splashes grow at the same time,
     * each on at most 1/40 of the model */
    uint64_t width;
    uint64_t sweeps;       /* sweeps in full runs, a power of 2 */
    uint64_t sweeps_quick; /* sweeps in quick runs, a power of 2 */
    uint64_t sweeps_timed; /* sweeps of the runs that are timed, with every number of threads */
} lab_racer;

#define LAB_RACER_CHROMATIC(full, quick, timed)                                 \
    {                                                                           \
        "chromatic", GBSI_BLUE, GBS_SCAN_CHROMATIC, 0, (full), (quick), (timed) \
    }
#define LAB_RACER_SPLASH(width, color, full, quick, timed)                                   \
    {                                                                                        \
        "splash, width " #width, (color), GBS_SCAN_SPLASH, (width), (full), (quick), (timed) \
    }

/* Results of one racer at each checkpoint. */
typedef struct lab_trail {
    size_t n; /* number of checkpoints */
    /* updates per variable in one chain, as a mean over the variables */
    double updates[LAB_MAX_CHECKPOINTS];
    double density[LAB_MAX_CHECKPOINTS]; /* log density, as a mean over the chains */
    /* log density of the chain with the least probable state */
    double low[LAB_MAX_CHECKPOINTS];
    double high[LAB_MAX_CHECKPOINTS];
    /* variance between chains of the mean state over all sweeps so far, as a mean over the
     * variables */
    double variance[LAB_MAX_CHECKPOINTS];
    double work_rate;                 /* variables drawn per second of counted work */
    double work[LAB_MAX_CHECKPOINTS]; /* counted work of all chains in seconds */
    double rate[LAB_MAX_TEAMS];       /* variables drawn per second by all chains together */
    /* seconds of the updates, at the rate with the most threads */
    double seconds[LAB_MAX_CHECKPOINTS];
} lab_trail;

typedef struct lab_race {
    const char *title;
    const gbs_model *model;
    const gbs_evidence *evidence; /* NULL if there is none */
    const char *between;  /* label of the axis of the variance, such as "grey levels squared" */
    bool wider_is_better; /* 1 if wider splashes are expected to be better, else 0 */
    uint32_t n_chains;
    size_t n_racers;
    const lab_racer *racer; /* [n_racers] */
    /* results */
    uint32_t n_free; /* number of free variables */
    lab_trail trail[LAB_MAX_RACERS];
    size_t n_teams;
    double threads[LAB_MAX_TEAMS];
} lab_race;

/* Number of updates of all runs of a race, for the progress. */
double lab_race_updates(const laboratory *lab, const lab_race *race);

/* Runs a race. Each racer has three equal timed runs, in turn with the other racers; the fastest
 * run is used. @param race its members before the results must be set. */
gbs_status lab_race_run(laboratory *lab, lab_race *race, gbs_error *err);

/* Writes curves.csv and work.csv, which are functions of the seed alone, and times.csv, which is
 * measured. */
gbs_status lab_races_write(const laboratory *lab, size_t n, const lab_race *race, gbs_error *err);
/* Draws three figures. curves.svg shows results by updates, with a row of two panels for each race.
 * work.svg shows results by counted work, with a row of three panels. times.svg shows results by
 * seconds and by threads, in two rows. @param title name of the quantity that is drawn against
 * updates. */
gbs_status lab_races_draw(const laboratory *lab, size_t n, const lab_race *race, const char *title,
                          gbs_error *err);

/* Returns the value of a curve at x = `at`, interpolated linearly in the logarithm of x. Beyond the
 * ends of the curve the value is the value at the end. */
double lab_trail_at(const lab_trail *trail, const double *x, const double *y, double at);
/* The x at which a curve first reaches a value from below or above; infinity if the curve never
 * reaches the value. */
double lab_trail_reaches(const lab_trail *trail, const double *x, const double *y, double value);
/* Judges a race. Racer 0 draws single variables; the other racers draw splashes of increasing
 * widths. After equal numbers of updates splashes must be ahead of racer 0, and, if expected, the
 * widest splashes must be ahead of the narrowest. To reach a result of the widest splashes, racer 0
 * must need at least 1.3 times as many updates as these splashes. The function also notes this
 * ratio by the clock. */
void lab_race_judge(laboratory *lab, const lab_race *race);

#endif
