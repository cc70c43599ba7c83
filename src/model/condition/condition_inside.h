/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces the user's factors once the domains are known. A factor is sliced, is folded into
 * another kind, or becomes a constant. */
#ifndef GBSI_CONDITION_CONDITION_INSIDE_H
#define GBSI_CONDITION_CONDITION_INSIDE_H

#include "condition/condition.h"
#include "condition/propagate.h"

/* ---- condition_factor.c -------------------------------------------------------------------- */

/* A reduced table, and the first factor for which the table was made. Factors with equal content
 * and the same slicing share the table. */
typedef struct gbsi_slice {
    size_t factor; /* number of the user's factor */
    /* number of the table in the conditioned model; GBSI_NONE if the place is empty */
    uint32_t table;
} gbsi_slice;

enum { GBSI_N_DESCRIBED = 256 };

typedef struct gbsi_reducer {
    const gbs_model *model;
    /* remaining states of all variables, at the fixed point of the propagation */
    const gbsi_propagator *domain;
    gbsi_conditioned *out; /* the conditioned model that is being made: its variables have numbers,
                              and its factor arrays have room for all factors */
    uint32_t *whole;   /* [model tables] for a table that loses no state, the number of its copy in
                          the conditioned model */
    gbsi_slice *slice; /* [n_places] hash table with open addressing; its size is a power of two */
    size_t n_places, n_slices;
    size_t table_start_capacity, table_capacity, logical_capacity, zeros_capacity;
    uint8_t *table_zeros;                 /* [out tables] 1 if the table has zeros */
    uint32_t described[GBSI_N_DESCRIBED]; /* for each hash, the number of a logical description with
                                             this hash; GBSI_NONE if none is stored */
    size_t scope_used; /* number of elements of out->factors.scope in use, including those of the
                          factor that is being made */
} gbsi_reducer;

gbs_status gbsi_reducer_init(gbsi_reducer *reducer, const gbs_model *model,
                             const gbsi_propagator *domain, gbsi_conditioned *out, gbs_error *err);
void gbsi_reducer_clear(gbsi_reducer *reducer);

/* Reduces a factor of the user and appends the result; a result that is constant is added to
 * log_constant. */
gbs_status gbsi_reduce_factor(gbsi_reducer *reducer, size_t factor, gbs_error *err);
/* Appends the virtual evidence on a variable as a factor, from the log-likelihoods of the user's
 * states; a constant likelihood is added to log_constant. */
gbs_status gbsi_reduce_likelihood(gbsi_reducer *reducer, uint32_t variable,
                                  const double *log_likelihood, gbs_error *err);

/* condition_table.c: makes a table restricted to the remaining states, either of a factor with a
 * table or of a Potts factor whose two variables have different remaining states. Factors with
 * equal contents share one table. If domain->watch stops the work, the table is incomplete. @param
 * table out: number in the conditioned model. */
gbs_status gbsi_reduce_table(gbsi_reducer *reducer, size_t factor, uint32_t *table, gbs_error *err);
/* Allocates a new table of n entries. @param table out: number of the table. */
gbs_status gbsi_reducer_new_table(gbsi_reducer *reducer, size_t n, uint32_t *table, double **entry,
                                  gbs_error *err);
/* Searches a new table for zeros; the table must be filled before. */
void gbsi_reducer_mark_zeros(gbsi_reducer *reducer, uint32_t table);

/* ---- condition_whole.c --------------------------------------------------------------------- */

/* The case in which conditioning leaves the model unchanged; private to src/model/condition. */

/* Returns whether neither evidence nor hard zeros remove a state of the model, in O(factors +
 * entries). If the watch stops the search, the answer is undefined. */
bool gbsi_condition_is_whole(const gbs_model *model, const gbs_evidence *evidence,
                             gbsi_watch *watch);
/* Fills *conditioned for a model that gbsi_condition_is_whole() accepts. All fields of
 * *conditioned except `model` must be zero. After a failure, the caller frees *conditioned as
 * after a success. */
gbs_status gbsi_condition_whole(const gbs_model *model, gbsi_conditioned *conditioned,
                                gbsi_watch *watch, gbs_error *err);
/* Description of the work, for the message of a watch that stops the work. */
#define GBSI_CONDITIONING "conditioning the model on the evidence"

/* ---- condition_check.c ---------------------------------------------------------------------- */

/* Asserts the invariants of a conditioned model when it is made. Does nothing in builds without
 * asserts. */
#ifdef NDEBUG
static inline void gbsi_condition_check(const gbsi_conditioned *conditioned)
{
    (void)conditioned;
}
static inline void gbsi_propagator_check(gbsi_propagator *propagator)
{
    (void)propagator;
}
#else
void gbsi_condition_check(const gbsi_conditioned *conditioned);
/* Asserts that domains are at their fixed point: every remaining state is supported in every factor
 * with hard zeros (generalised arc consistency). The function revises every factor again. */
void gbsi_propagator_check(gbsi_propagator *propagator);
#endif

#endif
