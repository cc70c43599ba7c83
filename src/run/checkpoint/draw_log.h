/* SPDX-License-Identifier: Apache-2.0 */
/* The draws of a run with checkpoints. The draws are in a file beside the checkpoints, and the file
 * only grows. A checkpoint has the number of draws that were made before it, and the digest of
 * these draws. */
#ifndef GBSI_CHECKPOINT_DRAW_LOG_H
#define GBSI_CHECKPOINT_DRAW_LOG_H

#include "base/status.h"
#include "gibbsite/run.h"

struct gbsi_drive;

typedef struct gbsi_draw_log gbsi_draw_log;

/* @param variable [n] variables whose states are logged, copied; NULL for all variables. */
gbs_status gbsi_draw_log_new(const gbs_model *model, const uint32_t *variable, uint32_t n,
                             gbsi_draw_log **out, gbs_error *err);
void gbsi_draw_log_free(gbsi_draw_log *log); /* `log` may be NULL */

/* Gets the variables whose states are logged. @param variable out: [n] @return n */
uint32_t gbsi_draw_log_variables(const gbsi_draw_log *log, const uint32_t **variable);

/* From now on, writes draws to a file whose name follows from the name of this checkpoint. @return
 * GBS_ERR_ARGUMENT if a file of that name is not empty and is not a file of draws. */
gbs_status gbsi_draw_log_write_beside(gbsi_draw_log *log, const char *checkpoint, gbs_error *err);

/* Opens the file that has the draws counted by a checkpoint, and checks that these draws are
 * undamaged; the file stays open. @param digest [33] digest in the checkpoint. @return GBS_ERR_IO;
 * GBS_ERR_FORMAT if the file has other draws. */
gbs_status gbsi_draw_log_open(gbsi_draw_log *log, const char *checkpoint, uint64_t n_draws,
                              uint32_t n_chains, const char *digest, gbs_error *err);
/* Passes the draws of the opened file to callbacks.draw again; later draws are appended to them.
 * @return GBS_ERR_STOPPED if a signal came. */
gbs_status gbsi_draw_log_give_again(gbsi_draw_log *log, struct gbsi_drive *drive, gbs_error *err);

/* Makes sure that all draws are on disk. */
gbs_status gbsi_draw_log_sync(gbsi_draw_log *log, gbs_error *err);

/* @return the number of draws of each chain up to now. @param digest [33] out: digest of all draws;
 * "" if there are none. */
uint64_t gbsi_draw_log_count(const gbsi_draw_log *log, char *digest);

#endif
