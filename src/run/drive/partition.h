/* SPDX-License-Identifier: Apache-2.0 */
/* Models that several ranks share, at run time: gibbsite/share.h. */
#ifndef GBSI_DRIVE_PARTITION_H
#define GBSI_DRIVE_PARTITION_H

#include "chains/run.h"
#include "graph/partition.h"
#include "ranks/lattice.h"

struct gbs_partition {
    gbs_run *run;           /* run of the whole model, prepared and never executed; see
                               forget() */
    gbsi_schedule schedule; /* schedule of a pass, with slots and positions */
    uint32_t *owner;        /* [part variables] */
    gbsi_deal deal;         /* to the ranks */
    gbsi_share_lattice
        *lattice;    /* NULL; otherwise no run is made and no variables are dealt to ranks */
    uint16_t *start; /* [facts.n_starts][part variables] */
    gbsi_partition_kind kind; /* that divided them */
    gbsi_share_facts facts;
};

/* The options of a run on shares from the user's, or GBS_ERR_UNSUPPORTED for those that need the
 * whole model in one process. */
gbs_status gbsi_share_options(const gbs_run_options *options, gbs_run_options *out, gbs_error *err);
/* Refuses passes that read the states before them: shares hold no copy of their neighbours' states.
 */
gbs_status gbsi_share_check_scan(const gbsi_engine *engine, gbs_error *err);

/* gbs_partition_new() in two steps: choosing the owners, which tests may change; then everything
 * that follows from them. */
gbs_status gbsi_partition_begin(const gbs_model *model, const gbs_evidence *evidence,
                                const gbs_run_options *options, uint32_t n_ranks, gbs_parts parts,
                                gbs_partition **out, gbs_error *err);
gbs_status gbsi_partition_end(gbs_partition *partition, uint32_t n_ranks, gbs_error *err);

#endif
