/* SPDX-License-Identifier: Apache-2.0 */
/* The store of factors that models and conditioned models use, and the log-weight of a factor. */
#ifndef GBSI_STORE_FACTORS_H
#define GBSI_STORE_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/watch.h"
#include "gibbsite/model.h"

/* ---- factors.c ----------------------------------------------------------------------------- */

#define GBSI_NONE UINT32_MAX

/* A logical factor after evidence. Literals that evidence fixed have left the scope and are
 * counted here. A body literal that is fixed false counts only in n_body. Before evidence, the head
 * is free and n_body_true is 0. */
typedef enum gbsi_head {
    GBSI_HEAD_FREE,  /* the head is the last variable of the scope */
    GBSI_HEAD_FALSE, /* the head is fixed; the whole scope is body */
    GBSI_HEAD_TRUE,
} gbsi_head;

typedef struct gbsi_logical {
    uint8_t function; /* a gbs_logical_function */
    uint8_t head;     /* a gbsi_head */
    uint16_t k;       /* parameter of AT_LEAST, AT_MOST and EXACTLY, otherwise 0 */
    uint32_t n_body;  /* number of literals in the body before evidence: the length of the user's
                         scope minus 1 */
    uint32_t n_body_true; /* number of body literals that are fixed true */
} gbsi_logical;

/* Kinds of factors that conditioning makes from noisy factors [M56]. EFFECT: the effect is
 * observed; the log-weight is ln(1 - product of inhibitions), and the scope has only the
 * parents. RISING, FALLING: one level of a noisy-max or noisy-min. The effect of the level is one
 * state of the child, and the weight of the factor is the number of this state. For states beyond
 * the effect the factor is 1. */
#define GBSI_FACTOR_EFFECT  ((gbs_factor_kind)128)
#define GBSI_FACTOR_RISING  ((gbs_factor_kind)129)
#define GBSI_FACTOR_FALLING ((gbs_factor_kind)130)

enum { GBSI_FACTORS_ARRAYS = 9 };

typedef struct gbsi_factors {
    size_t n_factors;
    uint8_t *kind;       /* [n_factors] gbs_factor_kind, or one of GBSI_FACTOR_... */
    size_t *scope_start; /* [n_factors + 1] offsets of the scopes in `scope` and `literal` */
    /* [scope_start[n_factors]] variables of the scopes, distinct within a factor */
    uint32_t *scope;
    uint32_t *literal; /* [scope_start[n_factors]] for each entry of `scope`, the state that makes
                          the literal true; NULL if no factor is logical */
    double *weight;    /* [n_factors] weight h, J or w of each factor; 0 for tables; for levels of
                          noisy factors see GBSI_FACTOR_RISING */
    uint32_t *aux; /* [n_factors] number of the table, for table and noisy factors; number of the
                      description, for logical factors; otherwise 0 */
    size_t n_tables;
    size_t *table_start; /* [n_tables + 1] offsets of the tables in `table` */
    double *table; /* natural logarithms; the last variable of the scope moves fastest. For a noisy
                      factor, the logarithms of the inhibitions of the leak and the parents, see
                      gbsi_noisy */
    size_t n_logical;
    gbsi_logical *logical; /* [n_logical] descriptions of logical factors */
} gbsi_factors;

void gbsi_factors_free(gbsi_factors *factors); /* frees the arrays, but not the struct */
/* Lists the arrays of a store; an array that does not exist is listed with no elements. */
void gbsi_factors_list(gbsi_factors *factors, gbsi_room arrays[GBSI_FACTORS_ARRAYS]);

/* Returns weight * phi for n_body_true true body literals (including fixed literals) and a value of
 * the head [M5]. If the weight is +inf, returns the value of the hard form of gbs_logical_function.
 */
double gbsi_logical_value(const gbsi_logical *logical, double weight, uint32_t n_body_true,
                          bool head);

/* Returns the log-weight of factor f at x, for any kind of factor. Tests compare the results of the
 * sampling kernels with this function.
 * @param x states by variable id of the store; @param arity arities by variable id. */
double gbsi_factor_value(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                         const uint32_t *x);

/* Computes the log-weight of factor f for states that are given by position in its scope. */
double gbsi_factor_value_at(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            const uint32_t *at);

/* Returns the number of entries of all scopes. */
static inline size_t gbsi_scope_entries(const gbsi_factors *factors)
{
    return factors->n_factors == 0 ? 0 : factors->scope_start[factors->n_factors];
}

/* Returns the number of steps of a walk through factor f: the entries of its table, or the
 * variables of its scope. */
size_t gbsi_factor_size(const gbsi_factors *factors, size_t f);

/* Returns an upper bound of the absolute values of all finite log-weights. */
double gbsi_factors_magnitude(const gbsi_factors *factors);

/* Returns whether one of n entries is minus infinity. If the watch stops the search, the answer is
 * undefined.
 * @param watch NULL if nothing may stop the search. */
bool gbsi_any_zero(const double *entry, size_t n, gbsi_watch *watch);

/* Returns whether some configuration of factor f has log-weight minus infinity, in O(table
 * entries). For a noisy factor of the user or a level of one, returns whether a factor that
 * conditioning makes from f may have such a configuration. */
bool gbsi_factor_has_zeros(const gbsi_factors *factors, size_t f);

/* ---- logical.c ----------------------------------------------------------------------------- */

/* Properties of logical factors that the builder, propagation and conditioning need. */

bool gbsi_logical_same(const gbsi_logical *a, const gbsi_logical *b);

/* gbsi_logical_is_cardinality() returns whether the function compares the number of true literals
 * with k. gbsi_logical_range() computes for which numbers of true literals, *least to *most, the
 * function is true; fixed literals count too. */
bool gbsi_logical_is_cardinality(unsigned function);
void gbsi_logical_range(const gbsi_logical *logical, uint32_t *least, uint32_t *most);

/* gbsi_are_cardinalities_alike() returns whether two factors are cardinalities of equal literals,
 * including fixed literals. gbsi_count_cardinalities() returns how many consecutive factors,
 * beginning with the cardinality f, are cardinalities of equal literals. */
bool gbsi_are_cardinalities_alike(const gbsi_factors *factors, size_t f, size_t g);
uint32_t gbsi_count_cardinalities(const gbsi_factors *factors, size_t f);

/* gbsi_logical_known() returns whether a number is a gbs_logical_function.
 * gbsi_logical_may_be_hard() returns whether the comment of the function in gibbsite/model.h has
 * the mark (hard). */
bool gbsi_logical_known(unsigned function);
bool gbsi_logical_may_be_hard(unsigned function);

/* Returns whether the factor has one value for all states of the n_scope literals left in its
 * scope, which include a free head. *value becomes the value for the case that all these literals
 * are false. Takes time O(n_scope). */
bool gbsi_logical_constant(const gbsi_logical *logical, double weight, uint32_t n_scope,
                           double *value);

/* ---- noisy.c ------------------------------------------------------------------------------- */

/* One level of a noisy factor. With probability N = q_0 times the product over parents i of
 * q_i(u_i), no cause takes effect, and the child is in a state of role GBSI_NOISY_NONE. A noisy-or
 * or noisy-and is one level. A noisy-max of K states is the product of K - 1 levels, because with
 * N_k = P(Y < k | Y <= k, u)
 *     P(Y = y | u) = (1 - N_y) product over k > y of N_k,      N_0 = 0. */
typedef struct gbsi_noisy {
    uint32_t n_parents;
    const uint32_t *parent; /* [n_parents] parents */
    uint32_t child;         /* GBSI_NONE if the child is observed in the state of the effect
                               (GBSI_FACTOR_EFFECT) */
    uint32_t effect;        /* state of the child that is the effect */
    bool falling; /* true if the states above `effect` mean no effect; false if the states below
                     `effect` mean no effect */
    const double *log_q; /* [1 + sum of the parents' arities] ln q of the leak, then ln q of each
                            state of each parent */
} gbsi_noisy;

/* The role of a state of the child at a level. */
typedef enum gbsi_noisy_part {
    GBSI_NOISY_NONE,   /* no effect: the factor is N */
    GBSI_NOISY_EFFECT, /* the effect: the factor is 1 - N */
    GBSI_NOISY_BEYOND, /* decided by a later level: the factor is 1 */
} gbsi_noisy_part;

static inline gbsi_noisy_part gbsi_noisy_part_of(uint32_t effect, bool falling, uint32_t state)
{
    return state == effect               ? GBSI_NOISY_EFFECT
           : (state > effect) == falling ? GBSI_NOISY_NONE
                                         : GBSI_NOISY_BEYOND;
}

bool gbsi_is_noisy(unsigned kind);
/* Returns whether the kind is a noisy-max or noisy-min of the user. */
bool gbsi_noisy_is_graded(unsigned kind);
/* Returns whether the element of `aux` for a factor of this kind is the number of a table. */
bool gbsi_has_table(unsigned kind);
/* Returns the number of levels of a noisy factor f. A noisy-or or noisy-and has one level. The
 * first level of a noisy-max or noisy-min is the level whose effect is the state next to the
 * absence of an effect. */
uint32_t gbsi_noisy_n_levels(const gbsi_factors *factors, const uint32_t *arity, size_t f);
gbsi_noisy gbsi_noisy_level(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            uint32_t level);
/* Returns the only level of a noisy factor that has one level. */
gbsi_noisy gbsi_noisy_of(const gbsi_factors *factors, size_t f);
/* Returns the log-weight of a level, from ln N, the sum of logarithms of inhibitions. */
double gbsi_noisy_value(double log_none, gbsi_noisy_part part);
/* Returns ln P(no effect), or ln P(effect) = ln(1 - P(no effect)). @param log_none ln P(no
 * effect). */
double gbsi_noisy_log(double log_none, bool effect);

#endif
