/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every model must pass, whether a builder made it or it was read from a file. All
 * failures are GBS_ERR_ARGUMENT or GBS_ERR_LIMIT. */
#ifndef GBSI_STORE_CHECKS_H
#define GBSI_STORE_CHECKS_H

#include "store/model.h"

/* Finds repeated variables in long scopes. Each variable is marked with the last long scope in
 * which it occurred. The caller sets the struct to zero; the array grows with the model. */
typedef struct gbsi_stamps {
    uint32_t *stamp; /* [n] last long scope of each variable */
    size_t capacity;
    size_t n;     /* number of initialised stamps */
    uint32_t now; /* number of scopes stamped so far */
} gbsi_stamps;

void gbsi_stamps_free(gbsi_stamps *stamps);

/* A factor that will be added to a model, or that is already in it. */
typedef struct gbsi_candidate {
    size_t factor; /* number of the factor, for messages */
    gbs_factor_kind kind;
    uint32_t n;
    const uint32_t *scope;   /* [n] variables of the scope */
    const uint32_t *literal; /* [n] literals, for logical factors */
    double weight;
    uint32_t table; /* number of the table, for factors with a table */
    int function;   /* a gbs_logical_function, for logical factors */
    uint32_t k;     /* the parameter k of logical functions that have one */
} gbsi_candidate;

/* Checks a factor against the variables and tables of the model, in O(n). */
gbs_status gbsi_check_factor(const gbs_model *model, gbsi_stamps *stamps, const gbsi_candidate *c,
                             gbs_error *err);

/* @param first number of the first variable, for messages. @param n_states in: number of states
 * of the variables before `first`; out: including the n variables. */
gbs_status gbsi_check_arities(uint32_t first, uint32_t n, const uint32_t *arity, size_t *n_states,
                              gbs_error *err);

/* @param table number of the table, for messages. @param bad out: the first entry that is not a
 * log-weight. */
gbs_status gbsi_check_entries(size_t table, size_t n, const double *logw, size_t *bad,
                              gbs_error *err);

/* Refuses a name or label that has control characters. @param what "its name" or "a label". */
gbs_status gbsi_check_control(uint32_t variable, const char *what, const char *text,
                              gbs_error *err);

/* Checks that the k labels of a variable, at text + offset[0 .. k), are distinct. Takes time
 * O(length of the labels times log k). */
gbs_status gbsi_check_labels(const char *text, const size_t *offset, uint32_t variable, uint32_t k,
                             gbs_error *err);

/* Checks that by_name[0 .. n) is sorted by name, without equal names. */
gbs_status gbsi_check_name_order(const gbs_model *model, const uint32_t *by_name, uint32_t n,
                                 gbs_error *err);

/* Checks the value of tied weight number `weight`. */
gbs_status gbsi_check_weight(uint32_t weight, double value, unsigned fixed, gbs_error *err);
/* Checks a tie between a factor of the model and one of its weights. */
gbs_status gbsi_check_tie(const gbs_model *model, size_t factor, uint32_t weight, double feature,
                          gbs_error *err);

/* Lengths of the arrays of a model into which its offsets point. */
typedef struct gbsi_extents {
    size_t n_states;  /* sum of the arities */
    size_t n_scope;   /* length of `scope` and `literal` */
    size_t n_entries; /* length of `table` */
    size_t n_text;    /* bytes of `text` */
} gbsi_extents;

/* Checks the content of all arrays of a model, except the properties that gbsi_model_index()
 * checks. The function assumes only that each array has the length given by the counts and extents.
 * Names and labels must lie in the text one after another, names first, without gaps.
 * @param place out, on failure: address of the wrong element. Takes O(bytes of the model). */
gbs_status gbsi_model_check(const gbs_model *model, const gbsi_extents *extents, const void **place,
                            gbs_error *err);

#endif
