/* SPDX-License-Identifier: Apache-2.0 */
/* The factor store that is used by models and conditioned models, and the log-weight of a
 * factor. */
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
 * counted here. Body literals that are fixed false are only counted in n_body. In a factor as
 * the user writes it, the head is free and n_body_true is 0. */
typedef enum gbsi_head {
    GBSI_HEAD_FREE,  /* the head is the last variable of the scope */
    GBSI_HEAD_FALSE, /* the head is fixed; the whole scope is body */
    GBSI_HEAD_TRUE,
} gbsi_head;

typedef struct gbsi_logical {
    uint8_t function;     /* a gbs_logical_function */
    uint8_t head;         /* a gbsi_head */
    uint16_t k;           /* parameter of AT_LEAST, AT_MOST and EXACTLY, otherwise 0 */
    uint32_t n_body;      /* number of literals in the body as the user wrote it: m - 1 */
    uint32_t n_body_true; /* number of body literals that are fixed true */
} gbsi_logical;

/* Kinds of factors that conditioning makes from noisy factors [M56]. EFFECT: the effect is
 * observed; the log-weight is ln(1 - product of inhibitions), and the scope has only the
 * parents. RISING, FALLING: one level of a noisy-max or noisy-min. The weight is the number of
 * the child's state that is the effect; for states beyond the effect the factor is 1. */
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
    uint32_t *literal; /* [scope_start[n_factors]] state that makes the literal true; NULL if no
                          factor is logical */
    double *weight;    /* [n_factors] h, J or w; 0 for tables; for levels see GBSI_FACTOR_RISING */
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
/* Lists the arrays; arrays that do not exist are listed with no elements. */
void gbsi_factors_list(gbsi_factors *factors, gbsi_room arrays[GBSI_FACTORS_ARRAYS]);

/* Returns weight * phi for n_body_true true body literals (including fixed literals) and a value of
 * the head [M5]. If the weight is +inf, returns the value of the hard form of gbs_logical_function.
 */
double gbsi_logical_value(const gbsi_logical *logical, double weight, uint32_t n_body_true,
                          bool head);

/* Returns the log-weight of factor f at x, for any kind of factor. Tests compare the kernels with
 * this function.
 * @param x states by variable id of the store; @param arity arities by variable id. */
double gbsi_factor_value(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                         const uint32_t *x);

/* Computes the log-weight of factor f for states that are given by position in its scope. */
double gbsi_factor_value_at(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            const uint32_t *at);

/* Returns the number of steps of a walk through factor f: the entries of its table, or the
 * variables of its scope. */
size_t gbsi_factor_size(const gbsi_factors *factors, size_t f);

/* Returns an upper bound of the absolute values of all finite log-weights. */
double gbsi_factors_magnitude(const gbsi_factors *factors);

/* Returns whether one of n entries is minus infinity. If the watch stops the search, the answer is
 * undefined.
 * @param watch NULL: never stops. */
bool gbsi_any_zero(const double *entry, size_t n, gbsi_watch *watch);

/* Returns whether some configuration of factor f has log-weight minus infinity, in O(table
 * entries). For noisy factors of the user and for levels: whether a factor made from f by
 * conditioning may have one. */
bool gbsi_factor_has_zeros(const gbsi_factors *factors, size_t f);

/* ---- logical.c ----------------------------------------------------------------------------- */

/* Properties of logical factors that the builder, propagation and conditioning need. */

bool gbsi_logical_same(const gbsi_logical *a, const gbsi_logical *b);

/* gbsi_logical_is_cardinality(): whether the function compares the number of true literals with
 * k. gbsi_logical_range(): the numbers of true literals, *least to *most, for which the function
 * is true; fixed literals are included. */
bool gbsi_logical_is_cardinality(unsigned function);
void gbsi_logical_range(const gbsi_logical *logical, uint32_t *least, uint32_t *most);

/* gbsi_are_cardinalities_alike(): whether two factors are cardinalities of equal literals,
 * including fixed literals. gbsi_count_cardinalities(): the number of consecutive such factors from
 * the cardinality f on. */
bool gbsi_are_cardinalities_alike(const gbsi_factors *factors, size_t f, size_t g);
uint32_t gbsi_count_cardinalities(const gbsi_factors *factors, size_t f);

/* gbsi_logical_known(): whether a number is a gbs_logical_function. gbsi_logical_may_be_hard():
 * whether the function is marked (hard). */
bool gbsi_logical_known(unsigned function);
bool gbsi_logical_may_be_hard(unsigned function);

/* Returns whether the factor has the same value for all states of the n_scope literals left in its
 * scope, including the head if it is free. *value is the value if all these literals are false.
 * Takes time O(n_scope). */
bool gbsi_logical_constant(const gbsi_logical *logical, double weight, uint32_t n_scope,
                           double *value);

/* ---- noisy.c ------------------------------------------------------------------------------- */

/* One level of a noisy factor: no cause takes effect, and the child is in a state `below`, with
 * probability N = q_0 product over parents i of q_i(u_i). A noisy-or or noisy-and is one level. A
 * noisy-max of K states is the product of K - 1 levels, because with N_k = P(Y < k | Y <= k, u)
 *     P(Y = y | u) = (1 - N_y) product over k > y of N_k,      N_0 = 0. */
typedef struct gbsi_noisy {
    uint32_t n_parents;
    const uint32_t *parent; /* [n_parents] parents */
    uint32_t child;         /* GBSI_NONE if the child is observed in the state of the effect
                               (GBSI_FACTOR_EFFECT) */
    uint32_t effect;        /* state of the child that is the effect */
    bool falling; /* true if the states above `effect` mean no effect, false if the states below
                     `effect` do */
    const double *log_q; /* [1 + sum of the parents' arities] log q of the leak, then of each state
                            of each parent */
} gbsi_noisy;

/* The role that a state of the child has at a level. */
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
/* Returns whether aux is the number of a table. */
bool gbsi_has_table(unsigned kind);
/* Returns the number of levels of a noisy factor f. It is one, except for a noisy-max or
 * noisy-min, whose first level is the one next to the absence of an effect. */
uint32_t gbsi_noisy_n_levels(const gbsi_factors *factors, const uint32_t *arity, size_t f);
gbsi_noisy gbsi_noisy_level(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            uint32_t level);
/* Returns the level of a noisy factor that has only one level. */
gbsi_noisy gbsi_noisy_of(const gbsi_factors *factors, size_t f);
/* Returns the log-weight of a level, from ln N, the sum of logarithms of inhibitions. */
double gbsi_noisy_value(double log_none, gbsi_noisy_part part);
/* Returns ln P(no effect), or ln P(effect) = ln(1 - P(no effect)). @param log_none ln P(no
 * effect). */
double gbsi_noisy_log(double log_none, bool effect);

#endif
