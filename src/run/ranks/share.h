/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a model that one of several processes holds: its own variables, the factors that have
 * one of them in their scope, and the other variables of these factors, its halo. Conditionals of
 * own variables, the order of their updates and the places that random numbers are keyed by are
 * those of the whole. */
#ifndef GBSI_RANKS_SHARE_H
#define GBSI_RANKS_SHARE_H

#include "base/saved.h"
#include "gibbsite/share.h"
#include "ranks/deal.h"

/* Facts about the whole model, the same in all shares. Numbers only, as they are saved. */
typedef struct gbsi_share_facts {
    uint64_t partition; /* shares with another number are of another partition */
    uint64_t n_ranks;
    uint64_t n_user_variables;
    uint64_t n_user_states;
    uint64_t max_user_arity;
    uint64_t n_free;
    uint64_t n_factors; /* of the sampled part */
    uint64_t n_states;  /* of the sampled part */
    uint64_t n_cells;   /* cells of its estimates: one for a binary variable, else one per state */
    uint64_t max_arity;
    uint64_t n_components;
    uint64_t n_colors;
    uint64_t n_places;  /* updates of a pass */
    uint64_t n_batches; /* of a pass */
    uint64_t n_precise; /* variables of class PRECISE; 0 if noisy factors need that class */
    uint64_t scan;      /* gbs_scan_kind */
    uint64_t each_once; /* every variable is updated exactly once in a pass */
    uint64_t has_zeros; /* some factor has hard zeros */
    uint64_t support;   /* gbsi_support of updates of one variable */
    uint64_t searched;  /* starts need the whole model: it has hard zeros or conditional tables */
    uint64_t seed;      /* seed with which the starts were found */
    uint64_t n_starts;  /* number of chains that have starts; 0: none yet */
    uint64_t named;     /* variables or states have names */
    uint64_t n_runs;    /* number of runs of slots with equal arity */
    /* Digests of the user's model, evidence and scan file, for checkpoints; 0 for an input that is
     * not given. */
    uint64_t model[2], evidence[2], sequence[2];
    double log_constant;
    gbsi_sum_units density_units;
} gbsi_share_facts;

/* Slots whose values go to, or come from, each neighbour after each batch. */
typedef struct gbsi_share_lists {
    size_t *start;  /* [n_batches * n_neighbours + 1] */
    uint32_t *slot; /* [start[...]] in order of places */
} gbsi_share_lists;

struct gbs_share {
    gbsi_share_facts facts;
    uint32_t rank;
    char *path;         /* path of the file that the share was read from; NULL: of none */
    gbs_model *nothing; /* a model of no variables, which `part` is said to be of */
    /* Own variables and halo, in the order of the whole; user_variable is the user's number in the
     * whole model, free_variable and fixed_state are NULL. Only the conditionals of own variables
     * are right. */
    gbsi_conditioned *part;
    uint32_t *of_whole;   /* [part->n_variables] number among the free variables of the whole */
    uint32_t *user_arity; /* [part->n_variables] states before evidence */
    uint8_t *own;         /* [part->n_variables] 1: updated here */
    uint32_t n_own;
    uint32_t *order; /* [part->n_variables] variables by slot, in the order that they have in the
                        whole model */
    uint32_t
        *whole_slot;   /* [part->n_variables] their slots in the whole model, below facts.n_free */
    uint8_t *by_count; /* [part->n_variables] see gbsi_plan_options */
    /* Updates of own variables. Every batch of the whole model is two batches here: first the
     * variables that other ranks see, then those that no other rank sees. */
    gbsi_schedule schedule;
    uint64_t *global; /* [schedule.n_pieces] schedule.global */
    uint16_t *start;  /* [facts.n_starts][part->n_variables] states */
    uint32_t n_neighbours;
    uint32_t *neighbour; /* [n_neighbours] ranks, ascending */
    gbsi_share_lists out, in;
    /* On rank 0: variables that evidence or hard zeros fix. */
    uint32_t n_fixed;
    uint32_t *fixed_variable, *fixed_arity, *fixed_state; /* [n_fixed] the user's numbers */
};

/* The inputs from which shares are made; all borrowed. */
typedef struct gbsi_share_source {
    const gbsi_conditioned *part;  /* the whole model that is sampled */
    const gbsi_plan *plan;         /* plan of the whole model: only the properties of its slots */
    const gbsi_deal *deal;         /* of all of it */
    const gbsi_schedule *schedule; /* schedule with a list of slots and of positions */
    const uint32_t *owner;         /* [part->n_variables] the rank of each variable */
    const uint16_t *start;         /* [facts.n_starts][part->n_variables] */
    gbsi_share_facts facts;
} gbsi_share_source;

/* @return GBS_ERR_ARGUMENT if the rank owns nothing. */
gbs_status gbsi_share_make(const gbsi_share_source *source, uint32_t rank, gbs_share **out,
                           gbs_error *err);

/* The plan options that make a plan of the share compute what the plan of the whole computes. */
gbsi_plan_options gbsi_share_plan_options(const gbs_share *share, bool sell);

uint64_t gbsi_share_bytes(const gbs_share *share);

/* share_check.c. Checks that need a plan of the share: whether its updates have the classes and
 * forms of its variables. @return GBS_ERR_FORMAT where one is not. */
gbs_status gbsi_share_check_plan(const gbs_share *share, const gbsi_plan *plan, gbs_error *err);
/* Checks that need all shares: whether every variable and every slot is owned by exactly one rank;
 * collective.
 * @return GBS_ERR_FORMAT on all ranks where one is not. */
gbs_status gbsi_share_check_owners(const gbs_share *share, const gbs_ranks *ranks, gbs_error *err);

/* share_saved.c. @return the status of the sink or source; GBS_ERR_FORMAT for damage. */
gbs_status gbsi_share_save(const void *object, const gbsi_sink *sink, gbs_error *err);
/* @param available bytes that the source has. */
gbs_status gbsi_share_load(const gbsi_source *source, uint64_t available, gbs_share **out,
                           gbs_error *err);

/* Declarations shared by the files of this folder. */

/* share_check.c: whether every number of a share that was loaded points into its arrays.
 * @return GBS_ERR_FORMAT where one does not. */
gbs_status gbsi_share_check(const gbs_share *share, gbs_error *err);

#endif
