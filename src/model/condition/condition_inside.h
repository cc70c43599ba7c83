/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces each factor of the user once domains are known: it is sliced, folded, or becomes a
 * constant.
 */
#ifndef GBSI_CONDITION_CONDITION_INSIDE_H
#define GBSI_CONDITION_CONDITION_INSIDE_H

#include "condition/condition.h"
#include "condition/propagate.h"

/* ---- condition_factor.c -------------------------------------------------------------------- */

/* A reduced table and a factor it was made for: factors of one content and one slicing share it. */
typedef struct gbsi_slice {
    size_t factor;  /* the user's */
    uint32_t table; /* of the conditioned model; GBSI_NONE: an empty place */
} gbsi_slice;

enum { GBSI_N_DESCRIBED = 256 };

typedef struct gbsi_reducer {
    const gbs_model *model;
    const gbsi_propagator *domain; /* at its fixed point */
    gbsi_conditioned *out;         /* variables numbered; factor arrays with room for all */
    uint32_t *whole;               /* [model tables] the copy of a table that lost nothing */
    gbsi_slice *slice;             /* [n_places] open addressing, a power of two */
    size_t n_places, n_slices;
    size_t table_start_capacity, table_capacity, logical_capacity, zeros_capacity;
    uint8_t *table_zeros;                 /* [out tables] */
    uint32_t described[GBSI_N_DESCRIBED]; /* logical ids by hash of their content, or none */
    size_t scope_used; /* used part of out->factors.scope, including the factor being made */
} gbsi_reducer;

gbs_status gbsi_reducer_init(gbsi_reducer *reducer, const gbs_model *model,
                             const gbsi_propagator *domain, gbsi_conditioned *out, gbs_error *err);
void gbsi_reducer_clear(gbsi_reducer *reducer);

/* Append the remaining part of the user's factor, or add it to log_constant if it is a constant. */
gbs_status gbsi_reduce_factor(gbsi_reducer *reducer, size_t factor, gbs_error *err);
/* Append virtual evidence on a variable (log-likelihoods of the user's states), or its constant. */
gbs_status gbsi_reduce_likelihood(gbsi_reducer *reducer, uint32_t variable,
                                  const double *log_likelihood, gbs_error *err);

/* condition_table.c: makes the table of a factor sliced to the domains, or of a Potts factor whose
 * ends have different domains; once for equal contents. If the watch of the domain stops, a table
 * is left half filled. @param table out: id in the conditioned model. */
gbs_status gbsi_reduce_table(gbsi_reducer *reducer, size_t factor, uint32_t *table, gbs_error *err);
/* Room for a new table of n entries; its id. */
gbs_status gbsi_reducer_new_table(gbsi_reducer *reducer, size_t n, uint32_t *table, double **entry,
                                  gbs_error *err);
/* Looks for zeros in a new table, once it is filled. */
void gbsi_reducer_mark_zeros(gbsi_reducer *reducer, uint32_t table);

/* ---- condition_whole.c --------------------------------------------------------------------- */

/* Conditioning that leaves the model as it is: private to src/model/condition. */

/* Whether neither evidence nor hard zeros remove a state of the model. O(factors + entries). If the
 * watch stops it, the answer is undefined. */
bool gbsi_condition_is_whole(const gbs_model *model, const gbs_evidence *evidence,
                             gbsi_watch *watch);
/* Fill *conditioned, which is zero except for its model, for such a model. After a failure, the
 * caller frees *conditioned as after a success. */
gbs_status gbsi_condition_whole(const gbs_model *model, gbsi_conditioned *conditioned,
                                gbsi_watch *watch, gbs_error *err);
/* Names the work in the message of a watch that stops it. */
#define GBSI_CONDITIONING "conditioning the model on the evidence"

/* ---- condition_check.c ---------------------------------------------------------------------- */

/* Asserts the invariants of a conditioned model, once when it is made. Does nothing in builds
 * without asserts. */
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
/* Domains are at their fixed point: every state left is supported in every factor with hard zeros
 * (generalised arc consistency). Revises every factor once more. */
void gbsi_propagator_check(gbsi_propagator *propagator);
#endif

#endif
