/* SPDX-License-Identifier: Apache-2.0 */
/** Repeats experiments of the literature, draws their figures, and compares the results with the
 * claims. */
#ifndef LAB_REPRODUCTION_H
#define LAB_REPRODUCTION_H

#include "gibbsite/model.h"

/** Description of an experiment; all strings are static. */
typedef struct lab_experiment {
    const char *name;   /**< name, such as "hg-two-variables" */
    const char *paper;  /**< authors, year and title */
    const char *figure; /**< the figure of the paper that the experiment repeats */
    const char *claim;  /**< the claim of the paper about the figure */
    const char *cost;   /**< approximate time on one core, such as "1 s quick, 20 s in full" */
} lab_experiment;

/** @return the experiment with this number, which counts from 0; NULL after the last experiment.
 *         The struct is static. */
const lab_experiment *lab_experiment_at(size_t index);

/** Options of an experiment. If all members are zero, the experiment runs in full, with seed 0, on
 * all cores, and with generated data. */
typedef struct lab_reproduce_options {
    int quick;     /**< 1 for fewer and shorter runs, which take seconds instead of minutes */
    uint64_t seed; /**< seed of every random number in the experiment */
    uint64_t
        threads; /**< number of threads; 0 for all cores; results do not depend on this number */
    /** folder of the pictures (PNG, PNM), models or texts that the experiment reads; NULL for
     * generated data. Experiments that read no data refuse a folder. */
    const char *data;
    /** Called from time to time; may be NULL. @param share progress from 0 to 1. @param what name
     * of the experiment that is running. @return nonzero to stop the experiment. lab_reproduce()
     * then returns GBS_STOPPED, and verdict.txt lists the findings so far. */
    int (*progress)(void *context, double share, const char *what);
    void *context;
} lab_reproduce_options;

/** Outcome of an experiment. */
typedef struct lab_verdict {
    int holds;           /**< 1 if every part of the claim was confirmed */
    char measured[3072]; /**< findings, each part after "\n- " */
    char note[4096];     /**< differences from the paper's run and their reasons; may be "" */
} lab_verdict;

/** Runs an experiment and writes its results: CSV files, SVG charts, pictures, and verdict.txt.
 *
 * @param name name of an experiment.
 * @param folder folder of the results, which is made if necessary; existing files are replaced.
 * @param verdict out; unchanged on failure or after a stop.
 * @return GBS_ERR_ARGUMENT for an unknown name or data that cannot be used; GBS_STOPPED after a
 *         stop; or the failure of a run or file. A claim that is not confirmed is no error. */
gbs_status lab_reproduce(const char *name, const char *folder, const lab_reproduce_options *options,
                         lab_verdict *verdict, gbs_error *err);

#endif
