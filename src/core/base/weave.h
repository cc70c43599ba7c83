/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads arrays whose slots are spread over ranks. A file holds the slots in the order of
 * the whole model. The ranks pass on one window of slots after the other, so that no rank ever has
 * to hold all slots. */
#ifndef GBSI_BASE_WEAVE_H
#define GBSI_BASE_WEAVE_H

#include <stdbool.h>

#include "base/saved.h"
#include "gibbsite/ranks.h"

/* The slots of the whole model that this rank holds. */
typedef struct gbsi_weave {
    const gbs_ranks *ranks;
    uint64_t n_whole;
    uint32_t n;            /* number of slots in this rank's part of the model */
    const uint32_t *whole; /* [n] numbers of the slots in the whole model, ascending */
    const uint8_t *own; /* [n] 1 if this rank saves the slot; every slot of the whole model is saved
                           by one rank */
} gbsi_weave;

/* Functions that save and load the row of one slot; the slot is given by its number on this rank.
 */
typedef struct gbsi_rows {
    void *object;
    bool all; /* whether this rank also loads the rows of those of its slots that another rank saves
               */
    /* Returns the number of bytes of the row, which a rank that does not hold the slot skips. If
     * skip() is given, skip() is called instead of width(). */
    uint64_t (*width)(const void *object, uint32_t slot);
    gbs_status (*put)(const void *object, uint32_t slot, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*take)(void *object, uint32_t slot, const gbsi_source *source, gbs_error *err);
    gbs_status (*skip)(const void *object, uint64_t width, const gbsi_source *source,
                       gbs_error *err); /* skips a row; if NULL, width() bytes are skipped */
} gbsi_rows;

/* Saves or loads the rows of all slots; collective. With a sink, rank 0 writes the rows of all
 * ranks to the sink. Without a sink, every rank reads from its own source, which has the rows of
 * all ranks. */
gbs_status gbsi_weave_rows(const gbsi_weave *weave, const gbsi_rows *rows, const gbsi_sink *sink,
                           const gbsi_source *source, gbs_error *err);

/* A number of consecutive rows in one array of numbers. */
typedef struct gbsi_span {
    size_t first, n;
} gbsi_span;
typedef struct gbsi_woven {
    void *memory;
    size_t size; /* bytes of one number */
    const void *context;
    gbsi_span (*span)(const void *context, uint32_t slot);
} gbsi_woven;
/* @param array borrowed for the call. */
gbsi_rows gbsi_rows_of_array(gbsi_woven *array);

/* Gathers the bytes of all ranks on rank 0, in the order of the ranks.
 * @param all [*capacity] in and out: array that grows as needed. @param what name of the data
 * for messages about memory: "estimates". */
gbs_status gbsi_gather_bytes(const gbs_ranks *ranks, const void *own, uint64_t n,
                             unsigned char **all, size_t *capacity, const char *what,
                             gbs_error *err);

#endif
