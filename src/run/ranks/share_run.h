/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a run that are different if ranks share its model (run->task.shared.share). The run
 * is prepared from the share of the rank, and results for the whole model are combined from all
 * ranks. */
#ifndef GBSI_RANKS_SHARE_RUN_H
#define GBSI_RANKS_SHARE_RUN_H

#include "chains/engine.h"
#include "chains/executor.h"
#include "choose/problem.h"
#include "gibbsite/share.h"
#include "plan/pass.h"
#include "ranks/share.h"

/* ---- halo.c --------------------------------------------------------------------------------- */

/* The exchange of states that keeps the halo of a share up to date. A batch of the whole model is
 * two batches of the share: first the own variables that other ranks see, then the others. After
 * the first batch, the new states are sent. They travel while the second batch is run; after this
 * batch, the states of the neighbours are received. */
typedef struct gbsi_halo {
    const gbs_share *share;  /* borrowed */
    const gbs_ranks *ranks;  /* borrowed */
    gbsi_executor *executor; /* borrowed */
    size_t value_bytes;      /* bytes of the states of one variable in all chains */
    size_t wire_bytes;       /* number of bytes of one state in a message */
    bool bits; /* whether the states of a binary variable in sixteen chains take two bytes, one bit
                  per state */
    unsigned char *out, *in;      /* messages of one batch */
    gbs_message *message;         /* [2 n_neighbours] messages to send, then messages to receive */
    void *value;                  /* states of one tile, copied from a message */
    uint64_t n_messages, n_bytes; /* number of messages sent so far, and number of their bytes */
    double exchange_s;            /* seconds spent so far on sending and waiting */
} gbsi_halo;

uint64_t gbsi_halo_bytes(const gbs_share *share, uint32_t n_chains);
/* @param x the executor of the share; from now on, it calls the exchange after every batch. */
gbs_status gbsi_halo_init(gbsi_halo *h, const gbs_share *share, const gbs_ranks *ranks,
                          gbsi_executor *x, gbs_error *err);
void gbsi_halo_free(gbsi_halo *halo); /* frees the members, not the struct itself */

/* ---- share_run.c ---------------------------------------------------------------------------- */

struct gbsi_report;
struct gbsi_runner;
struct gbsi_sampling;
struct gbsi_task;
struct gbs_run;
struct gbsi_drive;

typedef struct gbsi_shared {
    const gbs_share
        *share; /* the share of this rank; borrowed; NULL if ranks do not share the model */
    const gbs_ranks *ranks; /* ranks that share the model; NULL if there are none */
    /* On rank 0, the whole model, which is searched for starts; borrowed. */
    const gbsi_conditioned *whole;
    const gbs_model *
        user; /* names of the variables in the user's model; borrowed; NULL if they have no names */
    uint8_t *own_slot; /* [slots] 1 if the slot belongs to an own variable, see share->own */
    double *told; /* [4][user's states] p, mcse, ess and rhat, gathered from all ranks; on rank 0
                     once a caller has asked for marginals, else NULL */
    gbsi_halo halo;
    gbsi_turns turns; /* turns of the ranks, for a scan that draws blocks */
    uint8_t *reach;   /* [slots] the array to which turns.reach points */
    gbsi_weave weave; /* order in which saved files have the slots */
    char model[33];   /* digest of the user's model */
    gbs_error lost;
} gbsi_shared;

/* Frees the data of a share: gbsi_runner.free of the runner of shares. */
void gbsi_shared_free(struct gbsi_task *task, struct gbsi_sampling *sampling);

/* The first function returns whether the share has the starts for a run with these options. The
 * second function returns whether the scan draws blocks. */
bool gbsi_shared_has_starts(const gbs_share *share, const gbs_run_options *options);
bool gbsi_shared_has_blocks(const gbsi_engine *engine);

/* Number of updates of a pass, over all ranks. */
uint64_t gbsi_run_n_places(const struct gbsi_runner *plain, const gbsi_shared *shared,
                           const gbsi_engine *engine);

/* Number of updates of each chain in the last pass, over all ranks. */
gbs_status gbsi_run_count_updates(const struct gbsi_task *task, const gbsi_engine *engine,
                                  uint64_t *n, gbs_error *err);

/* Combines over ranks whether blocks show that the support is connected, and sets
 * report->connected. */
gbs_status gbsi_shared_connect(const gbs_ranks *ranks, const gbsi_engine *engine,
                               struct gbsi_report *report, gbs_error *err);

/* The user's model. If ranks share the model, the user's model on this rank may have no factors. */
const gbs_model *gbsi_run_user_model(const gbsi_shared *shared, const gbsi_problem *problem);

/* Checks that the scan of a checkpoint is the scan for which the model was divided; does nothing if
 * ranks do not share the model. @param decided the scan in the checkpoint. */
gbs_status gbsi_shared_check_scan(const struct gbsi_runner *plain, const gbsi_shared *shared,
                                  const char *path, int decided, gbs_error *err);

/* Writes how the model is divided to the report, if results depend on the division. */
enum { GBSI_PARTS_TEXT = 48 };
void gbsi_shared_parts(const gbsi_engine *engine, const gbsi_shared *shared, char *text);

/* Sets the start of every chain. */
gbs_status gbsi_shared_starts(struct gbsi_task *task, gbsi_engine *engine,
                              struct gbsi_report *report, gbs_error *err);
/* Gathers the state of one chain from all ranks; rank 0 gets it in the user's numbering. @param x
 * [part variables] state of the variables of this rank. @param user [user's variables] out, on rank
 * 0. */
gbs_status gbsi_shared_gather_state(gbsi_shared *shared, const gbs_ranks *ranks, const uint32_t *x,
                                    uint32_t *user, gbs_error *err);
/* Gathers the bytes of all ranks on rank 0, in the order of the ranks. @param all [*capacity] the
 * gathered bytes, in and out; enlarged on rank 0 if necessary. */
gbs_status gbsi_shared_gather(const gbs_ranks *ranks, const void *own, uint64_t n,
                              unsigned char **all, size_t *capacity, gbs_error *err);
/* each_marginal.c: does the work of gbs_run_each_marginal() for shares. */
gbs_status gbsi_shared_each_marginal(const struct gbs_run *run, gbs_on_marginal *on, void *context,
                                     gbs_error *err);
/* Does the work of gbs_run_marginals() for shares. */
gbs_status gbsi_shared_marginals(const struct gbs_run *run, double *p, double *mcse, double *ess,
                                 double *rhat, gbs_error *err);
/* each_marginal.c: makes the digest of estimates and errors, equal on all ranks. @param text [33]
 * out. */
gbs_status gbsi_shared_digest(struct gbs_run *run, char *text, gbs_error *err);
/* Writes the time and the traffic of the exchange, summed over all ranks, to the report. */
gbs_status gbsi_shared_report(const gbs_ranks *ranks, const gbsi_shared *shared,
                              struct gbsi_report *report, gbs_error *err);

/* ---- turns.c -------------------------------------------------------------------------------- */

/* Turns of ranks, for scans that draw blocks. In its turn, a rank changes variables that other
 * ranks see. Ranks that share a factor have different turns [M72]. A rank sees variables of other
 * ranks; during its turn, their states do not change. */
/* Gives each rank the first turn that is free. A turn is not free if an earlier rank that shares a
 * factor with the rank has this turn.
 * @param owner [variables] @param turn [n_ranks] out. */
gbs_status gbsi_turns_of_ranks(const gbsi_factors *factors, const uint32_t *owner, uint32_t n_ranks,
                               uint32_t *turn, gbs_error *err);

/* @param share share in which each batch is one turn. @param reach [slots] out; turns->reach then
 * points to this array.
 */
void gbsi_turns_of_share(const gbs_share *share, uint8_t *reach, gbsi_turns *turns);

#endif
