/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every model passes, whether a builder made it or it was read from a file. All
 * failures here are GBS_ERR_ARGUMENT or GBS_ERR_LIMIT. */
#ifndef GBSI_STORE_CHECKS_H
#define GBSI_STORE_CHECKS_H

#include "store/model.h"

/* Finds repeated variables in long scopes: each variable is marked with the last such scope in
 * which it was met. Zero-initialised; grows with the model. */
typedef struct gbsi_stamps {
    uint32_t *stamp; /* [n] */
    size_t capacity;
    size_t n;     /* initialised ones */
    uint32_t now; /* scopes stamped so far */
} gbsi_stamps;

void gbsi_stamps_free(gbsi_stamps *stamps);

/* A factor that is to join a model, or is in it already. */
typedef struct gbsi_candidate {
    size_t factor; /* its number, for messages */
    gbs_factor_kind kind;
    uint32_t n;
    const uint32_t *scope;   /* [n] */
    const uint32_t *literal; /* [n], of logical factors */
    double weight;
    uint32_t table; /* of table factors */
    int function;   /* of logical factors: gbs_logical_function */
    uint32_t k;     /* the parameter k of logical functions that have one */
} gbsi_candidate;

/* Checks a factor against the variables and tables of the model. O(n). */
gbs_status gbsi_check_factor(const gbs_model *model, gbsi_stamps *stamps, const gbsi_candidate *c,
                             gbs_error *err);

/* @param first the number of the first variable, for messages. @param n_states in: states of the
 * variables before; out: with these. */
gbs_status gbsi_check_arities(uint32_t first, uint32_t n, const uint32_t *arity, size_t *n_states,
                              gbs_error *err);

/* @param table number of the table, for messages. *bad is the first entry that is not a log-weight.
 */
gbs_status gbsi_check_entries(size_t table, size_t n, const double *logw, size_t *bad,
                              gbs_error *err);

/* A name or label without control characters. @param what "its name" or "a label". */
gbs_status gbsi_check_control(uint32_t variable, const char *what, const char *text,
                              gbs_error *err);

/* k labels of a variable at text + offset[0 .. k): no two alike. O(their length log k). */
gbs_status gbsi_check_labels(const char *text, const size_t *offset, uint32_t variable, uint32_t k,
                             gbs_error *err);

/* by_name[0 .. n) sorted by name, strictly. */
gbs_status gbsi_check_name_order(const gbs_model *model, const uint32_t *by_name, uint32_t n,
                                 gbs_error *err);

/* Value number weight of those that factors are tied to. */
gbs_status gbsi_check_weight(uint32_t weight, double value, unsigned fixed, gbs_error *err);
/* A tie of a factor that is in the model to one of its weights. */
gbs_status gbsi_check_tie(const gbs_model *model, size_t factor, uint32_t weight, double feature,
                          gbs_error *err);

/* Elements of the arrays that offsets of a model point into. */
typedef struct gbsi_extents {
    size_t n_states;  /* arities summed */
    size_t n_scope;   /* scope, literal */
    size_t n_entries; /* table */
    size_t n_text;    /* bytes */
} gbsi_extents;

/* Checks everything that the arrays of a model say, except for the properties that
 * gbsi_model_index() checks. Trusts nothing except that each array has the length that the counts
 * and extents tell; names and labels must lie in the text one behind the other, names first, with
 * nothing else between them.
 * @param place out, on failure: the element that is wrong. O(bytes of the model). */
gbs_status gbsi_model_check(const gbs_model *model, const gbsi_extents *extents, const void **place,
                            gbs_error *err);

#endif
