/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checkpoints: files that store the state of a run while the run is executed. After an interruption
 * the run can go on from such a file. The results have the same bits as the results of a run
 * without interruption. docs/checkpoint.md specifies the file.
 *
 *     gbs_run *run = NULL;
 *     gbs_run_options options = gbs_run_options_default();
 *     gbs_run_new(model, evidence, &options, &run, &err);
 *     gbs_run_resume(run, "run.ckpt", &err);        // where there is one
 *     gbs_run_checkpoint(run, "run.ckpt", &err);    // every options.checkpoint_every_s
 *     gbs_run_execute(run, NULL, &err);
 *
 * Threads and errors: as in run.h.
 */
#ifndef GIBBSITE_CHECKPOINT_H
#define GIBBSITE_CHECKPOINT_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Store the draws of a run in a file "PATH.draws" beside the checkpoint PATH. The file grows while
 * the run is executed. Each checkpoint contains the number of draws in this file and their digest.
 * Call gbs_run_keep_draws() before gbs_run_checkpoint() and gbs_run_resume(); the resumed run then
 * passes all draws to callbacks.draw, which must be set. Draws that are in the file are read from
 * the file and not drawn again.
 *
 * @param variable [n] ids of variables whose states are kept, copied; for all other variables,
 *         draws that are read from the file have the value 2^32 - 1. NULL: the states of all
 *         variables are kept.
 * @return GBS_ERR_STATE after gbs_run_checkpoint(), gbs_run_resume() or gbs_run_execute().
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_keep_draws(gbs_run *run, const uint32_t *variable,
                                                   uint32_t n, gbs_error *err);

/**
 * Write checkpoints of a run to a file: before the first pass, every options.checkpoint_every_s
 * seconds, and when the chains have ended without a failure. The previous checkpoint is kept under
 * the name "PATH~". If a checkpoint after the first cannot be written, the run gives a warning and
 * goes on. With checkpoints, --time and signals end a run only after the current pass.
 *
 * A run with ladders of temperatures writes checkpoints between two iterations.
 *
 * Only one run at a time can write to a path. From this call until the run has been executed or
 * freed, the run locks the file "PATH.lock". The lock is also released when the process ends. If
 * several ranks share the chains, the first rank locks the file. On a file system that does not
 * support locks, the report contains a warning.
 *
 * @param path copied. @return GBS_ERR_IO if another run has locked "PATH.lock"; GBS_ERR_STATE after
 * gbs_run_execute(). gbs_run_execute() fails with GBS_ERR_IO if the first checkpoint cannot be
 * written, or if the disk has no room for two checkpoints.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_checkpoint(gbs_run *run, const char *path, gbs_error *err);

/**
 * Let gbs_run_execute() go on from a checkpoint. The run must have the model, evidence and options
 * of the run in the checkpoint; sweeps, target_error, time_s, max_updates, threads, memory_limit,
 * budget_s, least_chains and checkpoint_every_s may differ. The results of a pilot run or of a
 * search, and the length of a burn-in that has ended, are kept. A run that reached its end goes on
 * if its new options ask for more sweeps or a smaller error. callbacks.draw is called for the draws
 * after the checkpoint. With gbs_run_keep_draws() it is called for all draws, and the draws before
 * the checkpoint are read from "PATH.draws".
 *
 * @return GBS_ERR_FORMAT for a file that is damaged or not a checkpoint; GBS_ERR_ARGUMENT, with a
 *         message that names the difference, if model, evidence, version, task or an option
 *         differs, or if the number of sweeps has changed and decides how draws are made (bins,
 *         cud_bits); GBS_ERR_STATE after gbs_run_execute(). After a failure the run is unchanged.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_resume(gbs_run *run, const char *path, gbs_error *err);

/** Checkpoint files of a question that is answered in one call: gbs_map_with_checkpoints(),
 * gbs_log_z_with() and the calls that learn models. */
typedef struct gbs_checkpoint_files {
    size_t size;       /**< sizeof(gbs_checkpoint_files) of the caller */
    const char *write; /**< path of the checkpoint, as in gbs_run_checkpoint(); NULL: no checkpoint
                          is written */
    /** path of the checkpoint to go on from, as in gbs_run_resume(); NULL: the work starts from the
     * beginning */
    const char *resume;
} gbs_checkpoint_files;

/** The state of a run in a checkpoint. */
typedef struct gbs_checkpoint {
    size_t size;         /**< sizeof(gbs_checkpoint) of the caller */
    char version[32];    /**< version of the program that wrote the checkpoint */
    char model[33];      /**< digest of the model, see gbs_model_digest() */
    int burning_in;      /**< 1 during burn-in */
    uint32_t chains;     /**< number of chains of the run */
    uint64_t burn_in;    /**< number of passes that each chain has discarded so far */
    uint64_t sweeps;     /**< number of passes that each chain has kept so far */
    uint64_t updates;    /**< number of variable updates so far, over all chains */
    double seconds;      /**< seconds that the run has taken so far */
    double target_error; /**< standard error at which the run stops; 0: no such target */
    double max_mcse;    /**< largest standard error of a probability; max_mcse, max_rhat and min_ess
                           are NAN if they are not known */
    double max_rhat;    /**< largest R-hat */
    double min_ess;     /**< smallest effective sample size */
    uint64_t bytes;     /**< size of the checkpoint file, in bytes */
    char task[16];      /**< "marginals", "sample", "map" or "logz" */
    uint64_t draws;     /**< number of draws of each chain in the file "PATH.draws"
                         */
    double log_density; /**< log density of the best state so far for "map"; NAN for other tasks */
    double log_z; /**< present estimate of ln Z for "logz", with standard error max_mcse; NAN for
                     other tasks */
} gbs_checkpoint;

/** @return 1 for a regular file that begins with the bytes of a checkpoint, even if the rest is
 *         damaged. */
GBS_API int gbs_is_checkpoint(const char *path);

/** Read the state of a run. @return GBS_ERR_FORMAT for a file that is damaged or not a
 * checkpoint. */
GBS_API GBS_MUST_USE gbs_status gbs_checkpoint_read(const char *path, gbs_checkpoint *checkpoint,
                                                    gbs_error *err);

/** Read the options of a run. Arrays (start, sequence, dummy edges, targets) are not in the file.
 * Options that depend on the machine (threads, time_s, memory_limit, checkpoint_every_s) keep their
 * values in `options`.
 * @param options initialised, e.g. by gbs_run_options_init(). */
GBS_API GBS_MUST_USE gbs_status gbs_checkpoint_options(const char *path, gbs_run_options *options,
                                                       gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
