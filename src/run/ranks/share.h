/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a model that one of several processes holds: its own variables, all factors that have
 * an own variable in their scope, and the halo, which is the set of the other variables of these
 * factors. The conditionals of own variables, the order of their updates, and the places that key
 * random numbers are as in the whole model. */
#ifndef GBSI_RANKS_SHARE_H
#define GBSI_RANKS_SHARE_H

#include "base/saved.h"
#include "gibbsite/share.h"
#include "ranks/deal.h"

/* Facts about the whole model, equal in all shares. All members are numbers of 8 bytes, which are
 * saved unchanged. */
typedef struct gbsi_share_facts {
    uint64_t partition; /* number of the partition; shares with different numbers belong to
                           different partitions */
    uint64_t n_ranks;
    uint64_t n_user_variables;
    uint64_t n_user_states;
    uint64_t max_user_arity;
    uint64_t n_free;
    uint64_t n_factors; /* number of factors of the sampled part */
    uint64_t n_states;  /* number of states of the sampled part */
    uint64_t n_cells;   /* number of cells of the estimates: a binary variable has one cell, other
                           variables have one per state */
    uint64_t max_arity;
    uint64_t n_components;
    uint64_t n_colors;
    uint64_t n_places;  /* number of updates in a pass */
    uint64_t n_batches; /* number of batches in a pass */
    uint64_t n_precise; /* number of variables whose updates are of class PRECISE; 0 if only noisy
                           factors need that class */
    uint64_t scan;      /* gbs_scan_kind */
    uint64_t each_once; /* 1 if every variable is updated exactly once in a pass */
    uint64_t has_zeros; /* 1 if some factor has hard zeros */
    uint64_t support;   /* gbsi_support of updates of single variables: whether they cross all hard
                           zeros */
    uint64_t searched;  /* 1 if starts can only be found in the whole model, because it has hard
                           zeros or conditional tables */
    uint64_t seed;      /* seed with which the starts were found */
    uint64_t n_starts;  /* number of chains that have starts; 0 before starts are found */
    uint64_t named;     /* 1 if variables or states of the user's model have names */
    uint64_t n_runs;    /* number of runs (sequences of slots with equal arity) */
    /* Digests of the user's model, evidence and scan file, for checkpoints; 0 if there is no such
     * file. */
    uint64_t model[2], evidence[2], sequence[2];
    double log_constant;
    gbsi_sum_units density_units;
} gbsi_share_facts;

/* Slots whose values are sent to each neighbour after each batch, or received from it. */
typedef struct gbsi_share_lists {
    size_t *start;  /* [n_batches * n_neighbours + 1] index of the first slot for each batch and
                       neighbour */
    uint32_t *slot; /* [last `start`] slots, in the order of their places */
} gbsi_share_lists;

struct gbs_share {
    gbsi_share_facts facts;
    uint32_t rank;
    char *path; /* path of the file that the share was read from; NULL if it was not read from a
                   file */
    gbs_model *nothing; /* an empty model, to which part->model points */
    /* Own variables and halo, in the order of the whole model. user_variable has the numbers of the
     * variables in the user's model; free_variable and fixed_state are NULL. Only own variables
     * have correct conditionals. */
    gbsi_conditioned *part;
    uint32_t *of_whole; /* [part->n_variables] number of each variable among the free variables of
                           the whole model */
    uint32_t
        *user_arity; /* [part->n_variables] number of states of each variable before evidence */
    uint8_t *own;    /* [part->n_variables] 1 if this rank updates the variable */
    uint32_t n_own;
    uint32_t *order; /* [part->n_variables] the variable of each slot; slots are in the order that
                        they have in the whole model */
    uint32_t *whole_slot; /* [part->n_variables] slot of each variable in the whole model, below
                             facts.n_free */
    uint8_t *by_count;    /* [part->n_variables] see gbsi_plan_options.by_count */
    /* Updates of own variables. Every batch of the whole model becomes two batches here: first the
     * own variables that other ranks see, then the others. */
    gbsi_schedule schedule;
    uint64_t *global; /* [schedule.n_pieces] the array of schedule.global, which the share owns */
    uint16_t *start;  /* [facts.n_starts][part->n_variables] states in which chains start */
    uint32_t n_neighbours;
    uint32_t *neighbour; /* [n_neighbours] numbers of the ranks that are neighbours, ascending */
    gbsi_share_lists out, in;
    /* On rank 0: variables of the user's model that evidence or hard zeros fix. */
    uint32_t n_fixed;
    uint32_t *fixed_variable, *fixed_arity, *fixed_state; /* [n_fixed] in the user's numbering */
};

/* The inputs from which shares are made; all are borrowed. */
typedef struct gbsi_share_source {
    const gbsi_conditioned *part; /* the sampled part of the whole model */
    /* Plan of the whole model; only the properties of its slots are read. */
    const gbsi_plan *plan;
    const gbsi_deal *deal; /* lists of the factors, variables, slots and places of each rank */
    /* Schedule of the whole model; must have lists of slots and positions. */
    const gbsi_schedule *schedule;
    const uint32_t *owner; /* [part->n_variables] the rank that owns each variable */
    const uint16_t *start; /* [facts.n_starts][part->n_variables] states in which chains start */
    gbsi_share_facts facts;
} gbsi_share_source;

/* Makes the share of a rank. @return GBS_ERR_ARGUMENT if the rank owns no variable. */
gbs_status gbsi_share_make(const gbsi_share_source *source, uint32_t rank, gbs_share **out,
                           gbs_error *err);

/* Plan options for the share: with them, its plan gives the conditionals that the plan of the whole
 * model gives. */
gbsi_plan_options gbsi_share_plan_options(const gbs_share *share, bool sell);

uint64_t gbsi_share_bytes(const gbs_share *share);

/* share_check.c: checks that need a plan of the share: the updates must have the classes and forms
 * of their variables. @return GBS_ERR_FORMAT if an update has another class or form. */
gbs_status gbsi_share_check_plan(const gbs_share *share, const gbsi_plan *plan, gbs_error *err);
/* Checks that need all shares: every variable and every slot must be owned by exactly one rank.
 * Called on all ranks. @return GBS_ERR_FORMAT on all ranks if a variable or slot has no owner, or
 * several. */
gbs_status gbsi_share_check_owners(const gbs_share *share, const gbs_ranks *ranks, gbs_error *err);

/* share_saved.c: write and read a share as bytes. @return the status of the sink or source;
 * GBS_ERR_FORMAT if the bytes are damaged. */
gbs_status gbsi_share_save(const void *object, const gbsi_sink *sink, gbs_error *err);
/* @param available number of bytes that the source has. */
gbs_status gbsi_share_load(const gbsi_source *source, uint64_t available, gbs_share **out,
                           gbs_error *err);

/* Declarations shared by the files of this folder. */

/* share_check.c: checks that every number of a loaded share points into its arrays.
 * @return GBS_ERR_FORMAT if some number does not. */
gbs_status gbsi_share_check(const gbs_share *share, gbs_error *err);

#endif
