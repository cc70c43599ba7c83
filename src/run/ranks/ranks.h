/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose chains are on several ranks (gibbsite/ranks.h): each holds the whole model, and runs
 * whole groups of chains. What decides is brought together, so that all ranks decide alike. */
#ifndef GBSI_RANKS_RANKS_H
#define GBSI_RANKS_RANKS_H

#include <stdbool.h>

#include "base/saved.h"
#include "chains/executor.h"
#include "gibbsite/io.h"
#include "gibbsite/ranks.h"

struct gbs_run;
struct gbsi_drive;

/* Whether ranks share the chains, and not the model. */
bool gbsi_chains_are_spread(const struct gbs_run *run);
/* Where nothing follows below, a run on one process (run->ranks is NULL) does nothing. */

/* Whether this rank speaks: callbacks.draw is called here, files are written. */
bool gbsi_run_speaks(const struct gbs_run *run);
/* The chains of a rank. @param ranks NULL: all. */
gbsi_own_chains gbsi_chains_of(const gbs_ranks *ranks, uint32_t rank, uint32_t n_chains);
/* The options that several ranks do not have. @return GBS_ERR_UNSUPPORTED naming one. */
gbs_status gbsi_ranks_check(const struct gbs_run *run, gbs_error *err);
/* Where all ranks come before they go on together: if some have failed until here, all fail as the
 * first of them did, which the message names. @param ranks NULL: this process is alone. */
gbs_status gbsi_ranks_meet(const gbs_ranks *ranks, gbs_status status, gbs_error *err);
/* That all ranks have the same version, model, evidence and options, and decided alike what is
 * exact. @return GBS_ERR_STATE on all ranks, naming what differs from rank 0. */
gbs_status gbsi_ranks_compare(const struct gbs_run *run, gbs_error *err);
/* The same of what is said once there is a run: variables of traces and draws, whether there are
 * checkpoints, and the one to go on from. @return GBS_ERR_STATE where it differs from rank 0. */
gbs_status gbsi_ranks_compare_files(const struct gbs_run *run, gbs_error *err);

/* What stopped the run on any rank stops it on all. */
gbs_status gbsi_drive_agree(const struct gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
/* Whether it is so on any rank. */
gbs_status gbsi_run_any(const struct gbs_run *run, bool *is_so, gbs_error *err);
/* A number per chain, on all ranks. @param own of the chains here. @param all [chains] out; in one
 * process a copy. */
gbs_status gbsi_run_gather_f64(const struct gbs_run *run, const double *own, double *all,
                               gbs_error *err);
/* Items of each chain, on rank 0, those of its own chains moved too. @param size bytes of a chain.
 * @param all [chains of the run] on rank 0, else NULL. */
gbs_status gbsi_run_gather(const struct gbs_run *run, const void *own, size_t size, void *all,
                           gbs_error *err);
/* What every rank puts, one after the other, to the sink of rank 0; a process alone: as it is. */
gbs_status gbsi_ranks_save(const gbs_ranks *ranks, const void *object,
                           gbs_status (*save)(const void *object, const gbsi_sink *sink,
                                              gbs_error *err),
                           const gbsi_sink *sink, gbs_error *err);
/* A sink into memory, or one that nobody reads. @param output NULL: nobody. */
gbsi_sink gbsi_memory_sink(gbs_output *output);

/* Where plain chains disagree, a run goes on with ladders of temperatures, if all ranks can; ranks
 * that share a model say so once, and go on as they are. @param wanted by this rank. */
gbs_status gbsi_run_turn_to_ladders(struct gbs_run *run, struct gbsi_drive *drive, bool wanted,
                                    gbs_error *err);

#endif
