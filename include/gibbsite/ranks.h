/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Processes that share one run, and the functions by which they communicate. The functions are in a
 * table, so that the library does not need MPI. libgibbsite-mpi (gibbsite/mpi.h) makes such a table
 * from a communicator.
 *
 * The processes are the ranks 0 .. n_ranks - 1. Every function is collective: all ranks call the
 * same functions of the table in the same order. A run gives the same bits on any number of ranks,
 * because sums over ranks are exact or are taken in the order of the ranks.
 *
 * If a rank fails, other ranks may wait for it forever. The caller must then end all ranks
 * (gbs_mpi_abort()).
 */
#ifndef GIBBSITE_RANKS_H
#define GIBBSITE_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the values of all ranks are combined. */
typedef enum gbs_combine_kind {
    GBS_COMBINE_SUM_U64,
    GBS_COMBINE_MAX_U64,
    GBS_COMBINE_SUM_F64, /**< sum of doubles; used only if the doubles can be added exactly, in any
                            order */
    GBS_COMBINE_MAX_F64, /**< maximum of doubles; never used with NAN */
} gbs_combine_kind;

/** Bytes to or from another rank. At most one message goes each way between two ranks at a time. */
typedef struct gbs_message {
    uint32_t rank; /**< rank to which the bytes are sent, or from which they come */
    void *bytes;   /**< [n] contents of the message; not changed on the sending rank */
    size_t n;      /**< number of bytes, known to both ranks */
} gbs_message;

/** The processes of a run, seen from one of them. */
typedef struct gbs_ranks {
    uint32_t rank;
    uint32_t n_ranks;
    void *context; /**< first argument of all functions */
    /** @param values [n] of uint64_t or double: in: values of this rank; out: combined values of
     * all ranks. */
    gbs_status (*combine)(void *context, gbs_combine_kind kind, void *values, size_t n,
                          gbs_error *err);
    /** @param bytes [n] input on rank `from`, output on all other ranks. */
    gbs_status (*broadcast)(void *context, uint32_t from, void *bytes, size_t n, gbs_error *err);
    /** Collect bytes of all ranks on rank 0, in the order of ranks. @param own [n] bytes of this
     * rank. @param all on rank 0: [sum of n_of], out; NULL on other ranks. @param n_of on rank 0:
     * [n_ranks] number of bytes of each rank; NULL on other ranks. */
    gbs_status (*gather)(void *context, const void *own, size_t n, void *all, const size_t *n_of,
                         gbs_error *err);
    /** Start sending and receiving messages; the buffers must not be touched before finish(). Only
     * one exchange may be in progress at a time. */
    gbs_status (*begin)(void *context, const gbs_message *out, size_t n_out, const gbs_message *in,
                        size_t n_in, gbs_error *err);
    /** Wait until all messages of begin() have arrived. Without begin(): do nothing. */
    gbs_status (*finish)(void *context, gbs_error *err);
} gbs_ranks;

#ifdef __cplusplus
}
#endif

#endif
