/* SPDX-License-Identifier: Apache-2.0 */
/* The differences of a run whose model is partitioned over several ranks (run->task.shared.share):
 * it is prepared from the share, and results of the whole are combined from all ranks. */
#ifndef GBSI_RANKS_SHARE_RUN_H
#define GBSI_RANKS_SHARE_RUN_H

#include "chains/engine.h"
#include "chains/executor.h"
#include "choose/problem.h"
#include "gibbsite/share.h"
#include "plan/pass.h"
#include "ranks/share.h"

/* ---- halo.c --------------------------------------------------------------------------------- */

/* Keeps the halo of a share up to date. A batch of the whole is two of the share: the variables
 * that other ranks see, then those that nobody does. After the first, states are sent off; they
 * travel while the second is run, after which the states of the others are there. */
typedef struct gbsi_halo {
    const gbs_share *share;       /* borrowed */
    const gbs_ranks *ranks;       /* borrowed */
    gbsi_executor *executor;      /* borrowed */
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

/* ---- share_run.c ---------------------------------------------------------------------------- */

struct gbsi_report;
struct gbsi_runner;
struct gbsi_sampling;
struct gbsi_task;
struct gbs_run;
struct gbsi_drive;

typedef struct gbsi_shared {
    const gbs_share *share;        /* borrowed; NULL: the model is not shared */
    const gbs_ranks *ranks;        /* which share it; NULL as well */
    const gbsi_conditioned *whole; /* whole model on rank 0, where starts are searched for; borrowed
                                    */
    const gbs_model *user;         /* names of the user's variables; borrowed, NULL: none */
    uint8_t *own_slot;             /* [slots] share->own */
    double *told; /* [4][user's states] p, mcse, ess, rhat of all ranks, on rank 0 once they were
                     asked for; else NULL */
    gbsi_halo halo;
    gbsi_turns turns; /* of a scan of blocks */
    uint8_t *reach;   /* [slots] turns.reach */
    gbsi_weave weave; /* of what is saved */
    char model[33];   /* digest of the user's model */
    gbs_error lost;
} gbsi_shared;

/* gbsi_runner.free of shares. */
void gbsi_shared_free(struct gbsi_task *task, struct gbsi_sampling *sampling);

/* Whether the share holds the starts of such a run; whether the scan draws blocks. */
bool gbsi_shared_has_starts(const gbs_share *share, const gbs_run_options *options);
bool gbsi_shared_has_blocks(const gbsi_engine *engine);

/* Updates of a pass, of all ranks. */
uint64_t gbsi_run_n_places(const struct gbsi_runner *plain, const gbsi_shared *shared,
                           const gbsi_engine *engine);

/* Updates of each chain in the last pass, of all ranks. */
gbs_status gbsi_run_count_updates(const struct gbsi_task *task, const gbsi_engine *engine,
                                  uint64_t *n, gbs_error *err);

/* Whether blocks of all ranks show the support connected, into run->report.connected. */
gbs_status gbsi_shared_connect(const gbs_ranks *ranks, const gbsi_engine *engine,
                               struct gbsi_report *report, gbs_error *err);

/* The model that the user knows; where ranks share it, perhaps without its factors. */
const gbs_model *gbsi_run_user_model(const gbsi_shared *shared, const gbsi_problem *problem);

/* Checks that a checkpoint has the scan that the model was divided for; does nothing if the model
 * is not divided.
 * @param decided the scan of the checkpoint. */
gbs_status gbsi_shared_check_scan(const struct gbsi_runner *plain, const gbsi_shared *shared,
                                  const char *path, int decided, gbs_error *err);

/* How the model is divided, if results depend on that. */
enum { GBSI_PARTS_TEXT = 48 };
void gbsi_shared_parts(const gbsi_engine *engine, const gbsi_shared *shared, char *text);

/* Sets the start of every chain. */
gbs_status gbsi_shared_starts(struct gbsi_task *task, gbsi_engine *engine,
                              struct gbsi_report *report, gbs_error *err);
/* Gathers one state of one chain from all ranks, on rank 0 in the user's numbering.
 * @param x [part variables] of this rank. @param user [user's variables], on rank 0. */
gbs_status gbsi_shared_gather_state(gbsi_shared *shared, const gbs_ranks *ranks, const uint32_t *x,
                                    uint32_t *user, gbs_error *err);
/* Gathers the bytes of all ranks on rank 0, in the order of the ranks.
 * @param all [*capacity] in and out, grown there. */
gbs_status gbsi_shared_gather(const gbs_ranks *ranks, const void *own, uint64_t n,
                              unsigned char **all, size_t *capacity, gbs_error *err);
/* each_marginal.c: gbs_run_each_marginal() of shares. */
gbs_status gbsi_shared_each_marginal(const struct gbs_run *run, gbs_on_marginal *on, void *context,
                                     gbs_error *err);
/* gbs_run_marginals() of shares. */
gbs_status gbsi_shared_marginals(const struct gbs_run *run, double *p, double *mcse, double *ess,
                                 double *rhat, gbs_error *err);
/* each_marginal.c: the digest of estimates and errors, on all ranks. @param text [33] out. */
gbs_status gbsi_shared_digest(struct gbs_run *run, char *text, gbs_error *err);
/* Reports the time and the traffic of the exchange of all ranks. */
gbs_status gbsi_shared_report(const gbs_ranks *ranks, const gbsi_shared *shared,
                              struct gbsi_report *report, gbs_error *err);

/* ---- turns.c -------------------------------------------------------------------------------- */

/* Turns in which ranks that share a model change what other ranks see, for scans that draw blocks.
 * Ranks that share a factor have different turns [M72], so that states of other ranks that a rank
 * sees do not change during its own turn. */
/* Each rank takes the first turn that no earlier rank has with which it shares a factor.
 * @param owner [variables] @param turn [n_ranks] out. */
gbs_status gbsi_turns_of_ranks(const gbsi_factors *factors, const uint32_t *owner, uint32_t n_ranks,
                               uint32_t *turn, gbs_error *err);

/* @param share whose batches are turns. @param reach [slots] out, which turns then point to. */
void gbsi_turns_of_share(const gbs_share *share, uint8_t *reach, gbsi_turns *turns);

#endif
