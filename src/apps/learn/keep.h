/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of learning by chains: the state between two steps, in a file (io/kept_file.h) that
 * begins with a digest of all that decides its bits. */
#ifndef GBSI_LEARN_KEEP_H
#define GBSI_LEARN_KEEP_H

#include "base/digest.h"
#include "gibbsite/checkpoint.h"
#include "text/kept_file.h"

typedef struct gbsi_keep {
    const gbs_checkpoint_files *files; /* borrowed; NULL: none are wanted */
    double every_s;                    /* seconds from one checkpoint to the next; 0: 300 */
    const void *object;                /* what is saved: */
    gbs_status (*save)(const void *object, const gbsi_sink *sink, gbs_error *err);
    char digest[33];
    gbsi_kept_lock lock; /* of files->write */
    double last_s;
    uint64_t n_failed; /* checkpoints that could not be written */
} gbsi_keep;

/* Whether checkpoints are to be written. */
bool gbsi_keep_writes(const gbsi_keep *keep);

/* Begins a digest with the kind of learning, this version, and the weights of rows; the caller
 * adds the states of the rows and the options.
 * @param digest out: freed by gbsi_digest_free(). */
gbs_status gbsi_keep_digest(const char *kind, size_t n_rows, size_t n_sites, const double *weight,
                            gbsi_digest **digest, gbs_error *err);

/* Locks the file that is to be written; the file to go on from, behind its digest. @param kept out:
 * NULL if there is none.
 * @return GBS_ERR_ARGUMENT for one of another model, other rows or options. */
gbs_status gbsi_keep_open(gbsi_keep *keep, gbsi_kept **kept, gbs_error *err);

/* To be called before the first step: a path that cannot be written is an error. */
gbs_status gbsi_keep_first(gbsi_keep *keep, gbs_error *err);
/* To be called between two steps, and at the end: a checkpoint that cannot be written is
 * counted. */
void gbsi_keep_if_due(gbsi_keep *keep);
void gbsi_keep_last(gbsi_keep *keep);
void gbsi_keep_end(gbsi_keep *keep); /* releases the lock */

#endif
