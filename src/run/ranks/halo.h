/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the halo of a share up to date. A batch of the whole is two of the share: the variables
 * that other ranks see, then those that nobody does. After the first, states are sent off; they
 * travel while the second is run, after which the states of the others are there. */
#ifndef GBSI_RANKS_HALO_H
#define GBSI_RANKS_HALO_H

#include "chains/executor.h"
#include "ranks/share.h"

typedef struct gbsi_halo {
    const gbs_share *share;       /* borrowed, like ... */
    const gbs_ranks *ranks;       /* ... these and ... */
    gbsi_executor *executor;      /* ... this */
    size_t value_bytes;           /* bytes of one variable over all chains */
    size_t wire_bytes;            /* bytes of a state in a message */
    bool bits;                    /* sixteen chains of a binary variable are two bytes */
    unsigned char *out, *in;      /* the messages of one batch */
    gbs_message *message;         /* [2 n_neighbours] */
    void *value;                  /* states of a tile on their way from a message */
    uint64_t n_messages, n_bytes; /* sent so far */
    double exchange_s;            /* spent on sending and waiting */
} gbsi_halo;

uint64_t gbsi_halo_bytes(const gbs_share *share, uint32_t n_chains);
/* @param x the executor of the share, which from now on calls the halo after every batch. */
gbs_status gbsi_halo_init(gbsi_halo *h, const gbs_share *share, const gbs_ranks *ranks,
                          gbsi_executor *x, gbs_error *err);
void gbsi_halo_free(gbsi_halo *halo); /* frees the members, not the struct itself */

#endif
