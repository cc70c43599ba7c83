/* SPDX-License-Identifier: Apache-2.0 */
/* Models that several ranks share, during a run: gibbsite/share.h. */
#ifndef GBSI_DRIVE_PARTITION_H
#define GBSI_DRIVE_PARTITION_H

#include "chains/run.h"
#include "graph/partition.h"
#include "ranks/lattice.h"

struct gbs_partition {
    gbs_run *run; /* run of the whole model, which is prepared but never executed; forget() frees
                     some of its members */
    gbsi_schedule schedule; /* schedule of a pass, with slots and positions */
    uint32_t *owner;        /* [part variables] the rank that owns each variable */
    gbsi_deal deal;         /* lists of the factors, variables, slots and places of each rank */
    gbsi_share_lattice *lattice; /* NULL unless the model is a generated lattice, for which neither
                                    a run nor a deal is made */
    uint16_t *start;             /* [facts.n_starts][part variables] states in which chains start */
    gbsi_partition_kind kind;    /* method by which the variables were divided */
    gbsi_share_facts facts;
};

/* Makes the options of a run that ranks with shares execute, from the user's options. @return
 * GBS_ERR_UNSUPPORTED if an option needs the whole model in one process. */
gbs_status gbsi_share_options(const gbs_run_options *options, gbs_run_options *out, gbs_error *err);
/* Refuses scans whose updates read the states before the pass, because a rank keeps no copy of the
 * states that its neighbours had before the pass. */
gbs_status gbsi_share_check_scan(const gbsi_engine *engine, gbs_error *err);

/* The two steps of gbs_partition_new(): the first chooses the owner of each variable, which tests
 * may change; the second makes everything else from the owners. */
gbs_status gbsi_partition_begin(const gbs_model *model, const gbs_evidence *evidence,
                                const gbs_run_options *options, uint32_t n_ranks, gbs_parts parts,
                                gbs_partition **out, gbs_error *err);
gbs_status gbsi_partition_end(gbs_partition *partition, uint32_t n_ranks, gbs_error *err);

#endif
