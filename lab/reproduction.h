/* SPDX-License-Identifier: Apache-2.0 */
/** Experiments of the literature: run again, drawn again, and their claims checked. */
#ifndef LAB_REPRODUCTION_H
#define LAB_REPRODUCTION_H

#include "gibbsite/model.h"

/** The description of an experiment; all strings are static. */
typedef struct lab_experiment {
    const char *name;   /**< "hg-two-variables" */
    const char *paper;  /**< authors, year, title */
    const char *figure; /**< the figure of the paper that it repeats */
    const char *claim;  /**< the claim of the paper about it */
    const char *cost;   /**< about how long it takes on one core, "1 s quick, 20 s in full" */
} lab_experiment;

/** @return the experiment of that number from 0 on; NULL past the last. Static. */
const lab_experiment *lab_experiment_at(size_t index);

/** Says how to run an experiment; zero-initialised means in full, with seed 0, on all cores, with
 * generated data. */
typedef struct lab_reproduce_options {
    int quick;        /**< 1: fewer and shorter runs, seconds instead of minutes */
    uint64_t seed;    /**< seed of every random number in the experiment */
    uint64_t threads; /**< 0: all cores; results do not depend on it */
    const char *data; /**< a folder of pictures (PNG, PNM) for the experiments on pictures; NULL:
                           shapes of our own. Refused by the others. */
    /** NULL, or called now and then. @param share done, 0 to 1. @param what name of the experiment
     * that is running.
     *  @return nonzero to stop: GBS_STOPPED, and verdict.txt lists the findings up to then. */
    int (*progress)(void *context, double share, const char *what);
    void *context;
} lab_reproduce_options;

/** The outcome of an experiment. */
typedef struct lab_verdict {
    int holds;           /**< 1 if every part of the claim was found */
    char measured[3072]; /**< what was found, each part after "\n- " */
    char note[4096];     /**< where our run differs from the paper's, and why; may be "" */
} lab_verdict;

/**
 * Run an experiment and write its results: CSV files, SVG charts, pictures, and verdict.txt.
 *
 * @param name    of an experiment. @param folder made if it is not there; files in it of the same
 *                names are replaced.
 * @param verdict out, untouched on failure and when stopped.
 * @return GBS_ERR_ARGUMENT for an unknown name or data that cannot be used; GBS_STOPPED; and what
 *         runs and files return. It is not an error if a claim was not confirmed.
 */
gbs_status lab_reproduce(const char *name, const char *folder, const lab_reproduce_options *options,
                         lab_verdict *verdict, gbs_error *err);

#endif
