/* SPDX-License-Identifier: Apache-2.0 */
/* The factor store that a model and a conditioned model share, and the log-weight of one factor. */
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

/* A logical factor after evidence: literals that evidence fixed have left the scope and are counted
 * here. Fixed-false body literals only show in n_body. In a factor as the user writes it, the head
 * is free and n_body_true is 0. */
typedef enum gbsi_head {
    GBSI_HEAD_FREE,  /* the last variable of the scope */
    GBSI_HEAD_FALSE, /* fixed; the whole scope is body */
    GBSI_HEAD_TRUE,
} gbsi_head;

typedef struct gbsi_logical {
    uint8_t function;     /* gbs_logical_function */
    uint8_t head;         /* gbsi_head */
    uint16_t k;           /* parameter of AT_LEAST, AT_MOST and EXACTLY, else 0 */
    uint32_t n_body;      /* literals in the body as written: m - 1 */
    uint32_t n_body_true; /* of these, fixed true */
} gbsi_logical;

/* The kinds of factors that conditioning makes of noisy factors [M56]. EFFECT: the effect is
 * observed, the log-weight is ln(1 - product of inhibitions) and the scope has the parents only.
 * RISING, FALLING: one level of a noisy-max or noisy-min; the weight is the number of the child's
 * state that is the effect, and beyond that state the factor is 1. */
#define GBSI_FACTOR_EFFECT  ((gbs_factor_kind)128)
#define GBSI_FACTOR_RISING  ((gbs_factor_kind)129)
#define GBSI_FACTOR_FALLING ((gbs_factor_kind)130)

enum { GBSI_FACTORS_ARRAYS = 9 };

typedef struct gbsi_factors {
    size_t n_factors;
    uint8_t *kind;       /* [n_factors] gbs_factor_kind, or one of GBSI_FACTOR_... */
    size_t *scope_start; /* [n_factors + 1] */
    uint32_t *scope;     /* [scope_start[n_factors]] variables, distinct within a factor */
    uint32_t *literal;   /* like scope: the state that makes the literal true; NULL if no factor is
                            logical */
    double *weight;      /* [n_factors] h, J or w; 0 for tables; see GBSI_FACTOR_RISING */
    uint32_t *aux;       /* [n_factors] table id, also of noisy ones; logical id; else 0 */
    size_t n_tables;
    size_t *table_start; /* [n_tables + 1] */
    double *table;       /* natural log, last variable of the scope fastest; of a noisy factor the
                            logarithms of its leak's and of its parents' inhibitions, gbsi_noisy */
    size_t n_logical;
    gbsi_logical *logical; /* [n_logical] */
} gbsi_factors;

void gbsi_factors_free(gbsi_factors *factors); /* frees the arrays, not the struct */
/* Lists the arrays; those that do not exist have no elements. */
void gbsi_factors_list(gbsi_factors *factors, gbsi_room arrays[GBSI_FACTORS_ARRAYS]);

/* weight * phi for n_body_true true body literals (fixed ones included) and the head's value
 * [M5]; with weight +inf the hard form of gbs_logical_function. */
double gbsi_logical_value(const gbsi_logical *logical, double weight, uint32_t n_body_true,
                          bool head);

/* The log-weight of factor f at x. @param x states by variable id of the store;
 * @param arity arities by variable id. Any kind; the reference that kernels are tested against. */
double gbsi_factor_value(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                         const uint32_t *x);

/* Computes the log-weight of factor f for states that are given by position in its scope. */
double gbsi_factor_value_at(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            const uint32_t *at);

/* The number of steps of a walk through factor f: the entries of its table, or the variables of its
 * scope. */
size_t gbsi_factor_size(const gbsi_factors *factors, size_t f);

/* An upper bound of the magnitude of all finite log-weights. */
double gbsi_factors_magnitude(const gbsi_factors *factors);

/* Whether one of n entries is minus infinity. If the watch stops it, the answer is undefined.
 * @param watch NULL: never stops. */
bool gbsi_any_zero(const double *entry, size_t n, gbsi_watch *watch);

/* Whether some configuration of factor f has log-weight minus infinity. O(table entries). For noisy
 * factors of the user, and for levels: whether some factor may have such a form. */
bool gbsi_factor_has_zeros(const gbsi_factors *factors, size_t f);

/* ---- logical.c ----------------------------------------------------------------------------- */

/* Properties of logical factors that builder, propagation and conditioning need. */

bool gbsi_logical_same(const gbsi_logical *a, const gbsi_logical *b);

/* Whether the function compares the number of true literals with k; and the numbers with which it
 * holds, *least to *most, fixed literals included. */
bool gbsi_logical_is_cardinality(unsigned function);
void gbsi_logical_range(const gbsi_logical *logical, uint32_t *least, uint32_t *most);

/* Whether two factors are cardinalities of the same literals, including fixed ones; and how many
 * such factors follow one another from the cardinality f on. */
bool gbsi_are_cardinalities_alike(const gbsi_factors *factors, size_t f, size_t g);
uint32_t gbsi_count_cardinalities(const gbsi_factors *factors, size_t f);

/* Whether the number is one of gbs_logical_function, and one of those marked (hard). */
bool gbsi_logical_known(unsigned function);
bool gbsi_logical_may_be_hard(unsigned function);

/* Whether the factor has the same value for all states of the n_scope literals left in its scope
 * (the head among them if it is free); *value is the value with all of them false. O(n_scope). */
bool gbsi_logical_constant(const gbsi_logical *logical, double weight, uint32_t n_scope,
                           double *value);

/* ---- noisy.c ------------------------------------------------------------------------------- */

/* One level of a noisy factor: no cause takes effect, and the child is in a state `below`, with
 * probability N = q_0 product over parents i of q_i(u_i). A noisy-or or noisy-and is one level; a
 * noisy-max of K states is the product of K - 1 of them, since with N_k = P(Y < k | Y <= k, u)
 *     P(Y = y | u) = (1 - N_y) product over k > y of N_k,      N_0 = 0. */
typedef struct gbsi_noisy {
    uint32_t n_parents;
    const uint32_t *parent; /* [n_parents] */
    uint32_t child;         /* GBSI_NONE: observed, it is the effect (GBSI_FACTOR_EFFECT) */
    uint32_t effect;        /* the child's state */
    bool falling;           /* the states without effect are those above it, not those below */
    const double *log_q;    /* [1 + sum of the parents' arities] log q of the leak, then of each
                               parent by its state */
} gbsi_noisy;

/* The role of a state of the child at a level. */
typedef enum gbsi_noisy_part {
    GBSI_NOISY_NONE,   /* without effect: N */
    GBSI_NOISY_EFFECT, /* 1 - N */
    GBSI_NOISY_BEYOND, /* decided by a later level: 1 */
} gbsi_noisy_part;

static inline gbsi_noisy_part gbsi_noisy_part_of(uint32_t effect, bool falling, uint32_t state)
{
    return state == effect               ? GBSI_NOISY_EFFECT
           : (state > effect) == falling ? GBSI_NOISY_NONE
                                         : GBSI_NOISY_BEYOND;
}

bool gbsi_is_noisy(unsigned kind);
/* A noisy-max or noisy-min of the user. */
bool gbsi_noisy_is_graded(unsigned kind);
/* Whether aux is the number of a table. */
bool gbsi_has_table(unsigned kind);
/* The levels of a noisy factor f: one, but of a noisy-max or noisy-min, where the first is the one
 * next to the absence of an effect. */
uint32_t gbsi_noisy_n_levels(const gbsi_factors *factors, const uint32_t *arity, size_t f);
gbsi_noisy gbsi_noisy_level(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            uint32_t level);
/* The level of a noisy factor that has only one. */
gbsi_noisy gbsi_noisy_of(const gbsi_factors *factors, size_t f);
/* The log-weight of a level: from the sum of logarithms ln N. */
double gbsi_noisy_value(double log_none, gbsi_noisy_part part);
/* ln P(no effect) from its sum of logarithms, or ln P(effect) = ln(1 - P(no effect)). */
double gbsi_noisy_log(double log_none, bool effect);

#endif
