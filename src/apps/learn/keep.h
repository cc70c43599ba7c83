/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of learning by chains. A checkpoint is the state between two steps, in a file
 * (io/kept_file.h) that begins with a digest of all inputs that determine the result. */
#ifndef GBSI_LEARN_KEEP_H
#define GBSI_LEARN_KEEP_H

#include "base/digest.h"
#include "gibbsite/checkpoint.h"
#include "text/kept_file.h"

typedef struct gbsi_keep {
    const gbs_checkpoint_files *files; /* borrowed; NULL: no checkpoints are wanted */
    double every_s;                    /* seconds from one checkpoint to the next; 0 means 300 */
    const void *
        object; /* state of learning that a checkpoint saves, and function that writes this state */
    gbs_status (*save)(const void *object, const gbsi_sink *sink, gbs_error *err);
    char digest[33];
    gbsi_kept_lock lock; /* lock of the file files->write */
    double last_s;
    uint64_t n_failed; /* number of checkpoints that could not be written */
} gbsi_keep;

/* @return whether checkpoints are wanted. */
bool gbsi_keep_writes(const gbsi_keep *keep);

/* Begins a digest with the kind of learning, the version of gibbsite, and the weights of rows; the
 * caller adds the states of the rows and the options. @param digest out: the caller frees it by
 * gbsi_digest_free(). */
gbs_status gbsi_keep_digest(const char *kind, size_t n_rows, size_t n_sites, const double *weight,
                            gbsi_digest **digest, gbs_error *err);

/* Locks the file to which checkpoints are written, and opens the checkpoint from which learning
 * resumes. @param kept out: the checkpoint, at the position after its digest; NULL if there is
 * none. @return GBS_ERR_ARGUMENT if the checkpoint belongs to another model, other rows or other
 * options. */
gbs_status gbsi_keep_open(gbsi_keep *keep, gbsi_kept **kept, gbs_error *err);

/* Writes the first checkpoint. Call this function before the first step: a path that cannot be
 * written is an error. */
gbs_status gbsi_keep_first(gbsi_keep *keep, gbs_error *err);
/* Write a checkpoint: call gbsi_keep_if_due() between two steps, and gbsi_keep_last() at the end. A
 * checkpoint that cannot be written is counted. */
void gbsi_keep_if_due(gbsi_keep *keep);
void gbsi_keep_last(gbsi_keep *keep);
void gbsi_keep_end(gbsi_keep *keep); /* releases the lock */

#endif
