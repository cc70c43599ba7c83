/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose chains are on several ranks (gibbsite/ranks.h). Each rank holds the whole model, and
 * runs whole groups of chains. Numbers on which decisions depend are combined over ranks, and all
 * ranks therefore decide alike. */
#ifndef GBSI_RANKS_RANKS_H
#define GBSI_RANKS_RANKS_H

#include <stdbool.h>

#include "base/saved.h"
#include "chains/engine.h"
#include "gibbsite/io.h"
#include "gibbsite/ranks.h"

struct gbsi_report;
struct gbsi_runner;
struct gbsi_task;
struct gbs_run;
struct gbsi_drive;

/* In the first four functions, `ranks` is NULL if there is only this process. */
uint32_t gbsi_n_ranks(const gbs_ranks *ranks);
/* Combines the numbers of all ranks by gbs_ranks.combine. */
gbs_status gbsi_ranks_combine(const gbs_ranks *ranks, gbs_combine_kind kind, void *values, size_t n,
                              gbs_error *err);
/* Sends bytes of rank 0 to all ranks by gbs_ranks.broadcast. */
gbs_status gbsi_ranks_broadcast(const gbs_ranks *ranks, void *bytes, size_t n, gbs_error *err);
/* The range of the chains of this rank. */
gbsi_own_chains gbsi_chains_of_own(const gbs_ranks *ranks, uint32_t n_chains);
/* Unless stated otherwise, the functions below do nothing in a run on one process (run->task.ranks
 * is NULL). */

/* Whether this rank calls callbacks.draw and writes files. */
bool gbsi_run_speaks(const gbs_ranks *ranks);
/* The range of the chains of a rank. @param ranks NULL: the range of all chains. */
gbsi_own_chains gbsi_chains_of(const gbs_ranks *ranks, uint32_t rank, uint32_t n_chains);
/* Refuses options that do not work with several ranks. @return GBS_ERR_UNSUPPORTED, with a
 * message that names such an option. */
gbs_status gbsi_ranks_check(const struct gbsi_task *task, const gbsi_engine *engine,
                            gbs_error *err);
/* A point that all ranks must reach before they go on. If some ranks have failed, all ranks fail
 * with the error of the first of these ranks, which the message names. @param ranks NULL if this
 * process is alone. */
gbs_status gbsi_ranks_meet(const gbs_ranks *ranks, gbs_status status, gbs_error *err);
/* Checks that all ranks have the same version, model, evidence, options, and components that are
 * answered exactly. @return GBS_ERR_STATE on all ranks, with a message that names a difference from
 * rank 0. */
gbs_status gbsi_ranks_compare(const struct gbs_run *run, gbs_error *err);
/* Checks that all ranks have equal settings of the kinds that are made after the run was created:
 * the variables of traces and draws, whether checkpoints are written, and the checkpoint to resume
 * from. @return GBS_ERR_STATE on all ranks if a setting differs from rank 0. */
gbs_status gbsi_ranks_compare_files(const struct gbs_run *run, gbs_error *err);

/* Stops the run on all ranks if it has stopped on any rank. */
gbs_status gbsi_drive_agree(const gbs_ranks *ranks, struct gbsi_drive *drive, gbs_error *err);
/* Sets *is_so to true on all ranks if it is true on any rank. */
gbs_status gbsi_run_any(const gbs_ranks *ranks, bool *is_so, gbs_error *err);
/* Gathers one number per chain, and gives all numbers to all ranks. @param own the numbers of the
 * chains on this rank.
 * @param all [chains] out; if there is only one process, a copy of `own`. */
gbs_status gbsi_run_gather_f64(const gbs_ranks *spread, const gbsi_engine *engine,
                               const double *own, double *all, gbs_error *err);
/* Gathers one item per chain on rank 0, from all ranks including rank 0. @param size number
 * of bytes for a chain.
 * @param all [chains of the run] on rank 0, else NULL. */
gbs_status gbsi_run_gather(const gbs_ranks *ranks, const gbsi_engine *engine, const void *own,
                           size_t size, void *all, gbs_error *err);
/* Writes the saved data of every rank, in the order of the ranks, to the sink of rank 0. A single
 * process writes its own data. */
gbs_status gbsi_ranks_save(const gbs_ranks *ranks, const void *object,
                           gbs_status (*save)(const void *object, const gbsi_sink *sink,
                                              gbs_error *err),
                           const gbsi_sink *sink, gbs_error *err);
/* A sink that writes to a buffer in memory. @param output NULL: the bytes are discarded. */
gbsi_sink gbsi_memory_sink(gbs_output *output);

/* If plain chains disagree, changes the run to ladders of temperatures, provided that all ranks can
 * use ladders. Ranks that share a model warn once instead, and continue with plain chains.
 * @param wanted whether this rank wants ladders. */
gbs_status gbsi_run_turn_to_ladders(const struct gbsi_runner *plain, const gbs_ranks *ranks,
                                    struct gbsi_report *report, struct gbsi_drive *drive,
                                    bool wanted, gbs_error *err);

#endif
