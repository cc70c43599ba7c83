/* SPDX-License-Identifier: Apache-2.0 */
/* The factor store that a model and a conditioned model share, and the log-weight of one factor. */
#ifndef GBSI_MODEL_FACTORS_H
#define GBSI_MODEL_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/watch.h"
#include "gibbsite/model.h"

/* ---- factors.c ----------------------------------------------------------------------------- */

#define GBSI_NONE UINT32_MAX

/* A logical factor after evidence: literals fixed by it have left the scope and are counted here.
 * Fixed-false body literals only show in n_body. As the user writes it: head free, n_body_true 0.
 */
typedef enum gbsi_head {
    GBSI_HEAD_FREE,  /* the last variable of the scope */
    GBSI_HEAD_FALSE, /* fixed; the whole scope is body */
    GBSI_HEAD_TRUE,
} gbsi_head;

typedef struct gbsi_logical {
    uint8_t function;     /* gbs_logical_function */
    uint8_t head;         /* gbsi_head */
    uint16_t k;           /* of AT_LEAST, AT_MOST and EXACTLY, else 0 */
    uint32_t n_body;      /* literals in the body as written: m - 1 */
    uint32_t n_body_true; /* of these, fixed true */
} gbsi_logical;

/* A noisy factor whose effect is observed: ln(1 - product of inhibitions), its scope the parents.
 * Only conditioning makes it. */
#define GBSI_FACTOR_EFFECT ((gbs_factor_kind)8)

typedef struct gbsi_factors {
    size_t n_factors;
    uint8_t *kind;       /* [n_factors] gbs_factor_kind, or GBSI_FACTOR_EFFECT */
    size_t *scope_start; /* [n_factors + 1] */
    uint32_t *scope;     /* [scope_start[n_factors]] variables, distinct within a factor */
    uint32_t *literal;   /* like scope: the state that makes the literal true; NULL if no factor is
                            logical */
    double *weight;      /* [n_factors] h, J or w; 0 for tables */
    uint32_t *aux;       /* [n_factors] table id, also of noisy ones; logical id; else 0 */
    size_t n_tables;
    size_t *table_start; /* [n_tables + 1] */
    double *table;       /* natural log, last variable of the scope fastest; of a noisy factor the
                            logarithms of its leak's and of its parents' inhibitions, gbsi_noisy */
    size_t n_logical;
    gbsi_logical *logical; /* [n_logical] */
} gbsi_factors;

void gbsi_factors_free(gbsi_factors *factors); /* frees the arrays, not the struct */

/* weight * phi for n_body_true true body literals (fixed ones included) and the head's value
 * [M5]; with weight +inf the hard form of gbs_logical_function. */
double gbsi_logical_value(const gbsi_logical *logical, double weight, uint32_t n_body_true,
                          bool head);

/* Log-weight of factor f at x. @param x states by variable id of the store;
 * @param arity by variable id. Any kind; the reference that kernels are tested against. */
double gbsi_factor_value(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                         const uint32_t *x);

/* The same with the states of its scope by position. */
double gbsi_factor_value_at(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            const uint32_t *at);

/* What it takes to walk through factor f: entries of its table, or variables of its scope. */
size_t gbsi_factor_size(const gbsi_factors *factors, size_t f);

/* Whether one of n entries is minus infinity. Where the watch stops it, the answer means nothing.
 * @param watch NULL: nobody waits. */
bool gbsi_any_zero(const double *entry, size_t n, gbsi_watch *watch);

/* Whether some configuration of factor f has log-weight minus infinity. O(table entries). Of noisy
 * factors of the user: whether some may have. */
bool gbsi_factor_has_zeros(const gbsi_factors *factors, size_t f);

/* ---- logical.c ----------------------------------------------------------------------------- */

/* What builder, propagation and conditioning ask about logical factors beyond their value. */

bool gbsi_logical_same(const gbsi_logical *a, const gbsi_logical *b);

/* Whether the function compares the number of true literals with k; and the numbers with which it
 * holds, *least to *most, fixed literals included. */
bool gbsi_logical_is_cardinality(unsigned function);
void gbsi_logical_range(const gbsi_logical *logical, uint32_t *least, uint32_t *most);

/* Whether the number is one of gbs_logical_function, and one of those marked (hard). */
bool gbsi_logical_known(unsigned function);
bool gbsi_logical_may_be_hard(unsigned function);

/* Whether the factor has one value whatever the n_scope literals left in its scope (the head among
 * them if it is free); *value is the value with all of them false. O(n_scope). */
bool gbsi_logical_constant(const gbsi_logical *logical, double weight, uint32_t n_scope,
                           double *value);

/* ---- noisy.c ------------------------------------------------------------------------------- */

/* A noisy-or or noisy-and: no cause takes effect, and the child is in its state `none`, with
 * probability q_0 product over parents i of q_i(u_i). */
typedef struct gbsi_noisy {
    uint32_t n_parents;
    const uint32_t *parent; /* [n_parents] */
    uint32_t child;         /* GBSI_NONE: observed, in its other state (GBSI_FACTOR_EFFECT) */
    uint32_t none;
    const double *log_q; /* [1 + sum of the parents' arities] of the leak, then of each parent by
                            its state */
} gbsi_noisy;

bool gbsi_is_noisy(unsigned kind);
/* Whether aux is the number of a table. */
bool gbsi_has_table(unsigned kind);
/* Of a noisy factor f. */
gbsi_noisy gbsi_noisy_of(const gbsi_factors *factors, size_t f);
/* ln P(no effect) from its sum of logarithms, or ln P(effect) = ln(1 - P(no effect)). */
double gbsi_noisy_log(double log_none, bool effect);

/* ---- clamped.c ----------------------------------------------------------------------------- */

/* Evidence that is part of the model: a hard factor on one variable alone. */

/* The only state that factor f, of a scope of one variable, does not forbid; GBSI_NONE if it
 * forbids none, leaves more or has another scope. O(arity), O(1) for logical factors but hard
 * ones. */
uint32_t gbsi_factor_clamps(const gbsi_factors *factors, const uint32_t *arity, size_t f);

#endif
