/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checkpoints: a run is written to a file while it is executed, and can go on from there after
 * whatever ended it, with the bits that it would have had. docs/checkpoint.md specifies the file.
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
 * Keep draws with the checkpoints: in "PATH.draws" beside PATH, a file that grows while the run is
 * executed, of which each checkpoint names how many draws it had and their digest. Call it before
 * gbs_run_checkpoint() and gbs_run_resume(); the resumed run then gives callbacks.draw, which is
 * needed, all draws from the first, without drawing again what is in the file.
 *
 * @param variable [n] ids of variables whose states are kept, copied; for all others callbacks.draw
 * is given 2^32 - 1 with the draws of the file. NULL: all.
 * @return GBS_ERR_STATE once one of those calls, or gbs_run_execute(), was made.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_keep_draws(gbs_run *run, const uint32_t *variable,
                                                   uint32_t n, gbs_error *err);

/**
 * Write checkpoints of a run to a file: before its first pass, every options.checkpoint_every_s,
 * and when its chains end, whatever ends them but a failure. The one before stays as "PATH~". Once
 * a first one was written, one that cannot be written gives a warning and the run goes on. Passes
 * are then finished before --time or a signal end a run.
 *
 * A run of ladders of temperatures writes checkpoints after iterations.
 *
 * Only one run at a time writes a file. From this call until the run was executed or is freed it
 * holds a lock on "PATH.lock"; the lock ends with the process. If several ranks share the chains,
 * the first rank holds the lock. A file system without locks is warned of in the report.
 *
 * @param path copied. @return GBS_ERR_IO if another run has the lock; GBS_ERR_STATE after
 * gbs_run_execute(). gbs_run_execute() fails with GBS_ERR_IO if the first checkpoint cannot be
 * written, or there is no room for two of them.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_checkpoint(gbs_run *run, const char *path, gbs_error *err);

/**
 * Let gbs_run_execute() go on from a checkpoint. The run is made of the same model, evidence and
 * options; sweeps, target_error, time_s, max_updates, threads, memory_limit, budget_s, least_chains
 * and checkpoint_every_s may differ. The results of a pilot run or of a search, and the length of a
 * burn-in that has ended, are kept. A run that reached its end goes on if it may have more sweeps
 * or a smaller error than before. callbacks.draw is given the draws that follow; with
 * gbs_run_keep_draws() all draws, those before the checkpoint from the file beside it.
 *
 * @return GBS_ERR_FORMAT for a file that is damaged or no checkpoint; GBS_ERR_ARGUMENT, naming what
 *         differs, for one of another model, evidence, version, task or option, or where the length
 *         decides how it is drawn (bins, cud_bits) and has changed; GBS_ERR_STATE after
 *         gbs_run_execute(). After a failure the run is unchanged.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_resume(gbs_run *run, const char *path, gbs_error *err);

/** Checkpoints of what is one call: gbs_map_with_checkpoints(), gbs_log_z_with(). */
typedef struct gbs_checkpoint_files {
    size_t size;        /**< sizeof(gbs_checkpoint_files) of the caller */
    const char *write;  /**< path of the checkpoint, as in gbs_run_checkpoint(); NULL: nowhere */
    const char *resume; /**< the checkpoint to go on from, as by gbs_run_resume(); NULL: none */
} gbs_checkpoint_files;

/** The state of a run in a checkpoint. */
typedef struct gbs_checkpoint {
    size_t size;         /**< sizeof(gbs_checkpoint) of the caller */
    char version[32];    /**< version of the program that wrote the checkpoint */
    char model[33];      /**< digest, see gbs_model_digest() */
    int burning_in;      /**< 1 during burn-in */
    uint32_t chains;     /**< chains of the run */
    uint64_t burn_in;    /**< passes discarded until now, by each chain */
    uint64_t sweeps;     /**< passes kept until now, by each chain */
    uint64_t updates;    /**< updates of variables until now, over all chains */
    double seconds;      /**< seconds that the run took until now */
    double target_error; /**< standard error at which it stops; 0: none */
    double max_mcse;    /**< largest standard error of a probability; this and below: NAN without */
    double max_rhat;    /**< largest R-hat */
    double min_ess;     /**< smallest effective sample size */
    uint64_t bytes;     /**< of the file */
    char task[16];      /**< "marginals", "sample", "map" or "logz" */
    uint64_t draws;     /**< draws of each chain in the file of draws beside the checkpoint
                         */
    double log_density; /**< log density of the best state that "map" has found; NAN otherwise */
    double log_z; /**< the present estimate of "logz", max_mcse its standard error; NAN otherwise */
} gbs_checkpoint;

/** @return 1 for a regular file that begins as a checkpoint does, whether it is damaged or not. */
GBS_API int gbs_is_checkpoint(const char *path);

/** Read where a run stands. @return GBS_ERR_FORMAT for a file that is damaged or no checkpoint. */
GBS_API GBS_MUST_USE gbs_status gbs_checkpoint_read(const char *path, gbs_checkpoint *checkpoint,
                                                    gbs_error *err);

/** Read the options of a run. Arrays (start, sequence, dummy edges, targets) are not in the file,
 * and the machine's options (threads, time_s, memory_limit, checkpoint_every_s) are left as they
 * are.
 * @param options initialised, e.g. by gbs_run_options_init(). */
GBS_API GBS_MUST_USE gbs_status gbs_checkpoint_options(const char *path, gbs_run_options *options,
                                                       gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
