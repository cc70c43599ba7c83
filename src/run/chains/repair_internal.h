/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by repair.c, repair_search.c, repair_walk.c and repair_learn.c. */
#ifndef GBSI_CHAINS_REPAIR_INTERNAL_H
#define GBSI_CHAINS_REPAIR_INTERNAL_H

#include "chains/repair.h"
#include "condition/propagate.h"
#include "rng/philox.h"
#include "satisfy/parity.h"

enum {
    GBSI_REPAIR_SEARCHES = 20,    /* number of restarts of the search by assignment; attempts with
                                     larger numbers are walks */
    GBSI_REPAIR_ATTEMPT_BITS = 6, /* bits for the number of an attempt */
};

typedef struct gbsi_decision {
    uint32_t variable;
    uint32_t value;
    size_t mark; /* length of the propagator's trail before the decision */
    uint32_t
        first; /* the variables at all places of the order before place `first` were assigned */
} gbsi_decision;

/* The search of a component that learns clauses. */
typedef struct gbsi_repair_learned {
    gbsi_satisfier *satisfier; /* NULL before the first search */
    gbsi_hard_part part;       /* owns `factor` and `number` */
    bool eliminated;           /* whether elimination was tried */
    gbsi_parity *parity;       /* equations of the hard parities; NULL if there are none */
    gbsi_repaired first;       /* result of the search within FIRST_LIMIT */
    gbsi_repaired result;      /* result of the search so far */
    bool extended;             /* whether the search went on up to LAST_LIMIT */
    uint64_t draw_limit;       /* operations of a draw */
} gbsi_repair_learned;

struct gbsi_repair {
    const gbsi_conditioned *model; /* borrowed */
    uint64_t seed;
    gbsi_watch *watch; /* NULL if the work is never stopped */
    gbsi_propagation *propagation;
    gbsi_propagator *propagator; /* propagator of the model's hard factors; between calls, its
                                    domains are those at the root of the search */
    bool impossible; /* whether propagation at the root of the search emptied a domain */
    size_t root;     /* length of the propagator's trail at the root of the search */
    uint32_t n_components;
    uint32_t *component; /* [n_variables] component of each variable; GBSI_NONE if the variable is
                            in no hard factor */
    uint32_t *member_start; /* [n_components + 1] */
    uint32_t *member;   /* variables, sorted by component; within a component, parents come first if
                           the model is directed, else in ascending order */
    size_t *hard_start; /* [n_components + 1] */
    size_t *hard;       /* indices in propagation->hard, sorted by component, then ascending */
    /* scratch arrays, large enough for the largest component */
    uint32_t *order;         /* variables in the order of the search */
    gbsi_decision *decision; /* stack of decisions */
    double *weight;          /* [largest arity] */
    size_t *violated;        /* indices in propagation->hard of the violated factors */
    size_t *where;   /* [propagation->n_hard] for each hard factor its index in `violated`; SIZE_MAX
                        if the factor is not violated */
    uint64_t walked; /* number of entries of scopes that the current walk has read */
    gbsi_repair_learned *learned; /* [n_components] NULL before the first such search */
    bool repeats;                 /* whether some draw took the state of the first search */
};

/* A source of four random words at a time, keyed by the purpose REPAIR and by chain, attempt and
 * step. */
typedef struct gbsi_repair_words {
    uint64_t seed;
    uint64_t attempt;
    uint32_t chain;
    uint32_t step;
    uint32_t word[4];
} gbsi_repair_words;

static inline void gbsi_repair_next_words(gbsi_repair_words *words)
{
    gbsi_philox(words->seed, words->chain, words->attempt, words->step++, GBSI_PURPOSE_REPAIR,
                words->word);
}

/* Runs one restart of the search by assignment. @param budget number of backtracks allowed.
 * @param in_order true: members are assigned in their order; false: members are shuffled, and the
 * variable with the smallest domain is assigned first. */
gbsi_repaired gbsi_repair_search(gbsi_repair *repair, gbsi_repair_words *words, uint32_t component,
                                 bool in_order, uint64_t budget, uint32_t *x, uint64_t *n_repairs);

void gbsi_repair_free_searches(gbsi_repair *repair);

/* Returns the number of entries of the scopes of a component's hard factors. */
uint64_t gbsi_repair_entries(const gbsi_repair *repair, uint32_t component);

/* Runs one random walk, starting from x. @param limit number of entries of scopes that it may read,
 * besides the first look at each factor. */
gbsi_repaired gbsi_repair_walk(gbsi_repair *repair, gbsi_repair_words *words, uint32_t component,
                               uint64_t limit, uint32_t *x, uint64_t *n_repairs);

/* Runs a random walk from a state drawn at random. */
gbsi_repaired gbsi_repair_short_walk(gbsi_repair *repair, uint32_t chain, uint32_t component,
                                     uint32_t *x, uint64_t *n_repairs);

/* Runs longer random walks, each from a state drawn at random. */
gbsi_repaired gbsi_repair_long_walks(gbsi_repair *repair, uint32_t chain, uint32_t component,
                                     uint32_t *x, uint64_t *n_repairs);

#endif
