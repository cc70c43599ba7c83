/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of compiling a plan share: private to src/plan. */
#ifndef GBSI_PLAN_COMPILE_H
#define GBSI_PLAN_COMPILE_H

#include "plan/plan.h"

/* A derived table that other factors of the same content may use: see derive.c. */
typedef struct gbsi_derived {
    size_t factor; /* an example of the factors that share it; SIZE_MAX: empty place */
    uint32_t position;
    uint32_t form; /* GBSI_ODDS | GBSI_LINEAR | GBSI_DOUBLE */
    size_t base;
} gbsi_derived;

typedef struct gbsi_compile {
    const gbsi_conditioned *model;
    const gbsi_factors *factors;
    gbsi_plan *plan;
    size_t *of_start;      /* [n_slots + 1] factors of each variable, unary ones included */
    size_t *of;            /* in factor order */
    uint32_t *table_uses;  /* [n_tables] factors per table, saturating */
    double *table_potts;   /* [n_tables] J where a table is a Potts coupling; NAN: not known yet;
                              infinite: it is none */
    double *table_spread;  /* [n_tables] largest minus smallest finite entry; NAN: not known yet */
    gbsi_derived *derived; /* open addressing, a power of two */
    size_t n_derived, derived_capacity;
    gbsi_plan_options options;
    struct gbsi_count_table *count_table; /* rows.c: a cache */
    size_t n_count_tables;
    double *own;  /* [max_arity] scratch */
    uint32_t *at; /* [largest scope] scratch: states by position */
    size_t pool_capacity, pool64_capacity;
} gbsi_compile;

/* class.c: class_id and form by variable. */
void gbsi_classify(gbsi_compile *c, uint8_t *class_id, uint8_t *form);

/* derive.c: the table of factor f as the variable at `position` sees it, appended to the pool or
 * shared: [configurations of the others, last fastest][k], each row with its maximum taken off;
 * odds: [configurations]. */
gbs_status gbsi_derive(gbsi_compile *c, size_t f, uint32_t position, unsigned form, size_t *base,
                       gbs_error *err);
/* The map behind it. A position of GBSI_BY_COUNT or more stands for a logical factor that is looked
 * up by the number of its true literals: literals and arities then need not agree. */
#define GBSI_BY_COUNT 0x80000000u
gbs_status gbsi_shared_find(gbsi_compile *c, size_t f, uint32_t position, unsigned form,
                            bool *found, size_t *base, gbs_error *err);
void gbsi_shared_add(gbsi_compile *c, size_t f, uint32_t position, unsigned form, size_t base);
/* Room for n more entries in a pool. @param base out: where they start. */
gbs_status gbsi_pool_take(gbsi_compile *c, unsigned form, size_t n, size_t *base, gbs_error *err);
/* Stores a log-weight in a pool, in the form asked for. */
void gbsi_pool_put(gbsi_compile *c, unsigned form, size_t index, double logw);

/* rows.c, terms.c: fields and neighbourhoods of the row and term classes. */
gbs_status gbsi_compile_rows(gbsi_compile *c, gbs_error *err);
gbs_status gbsi_compile_terms(gbsi_compile *c, gbs_error *err);
gbs_status gbsi_compile_sell(gbsi_compile *c, gbs_error *err);

/* Whether pairwise factor f is a finite Potts coupling, J on the diagonal relative to one value off
 * it: by its kind, or as a table (text formats know no other way to write one). */
bool gbsi_is_potts(gbsi_compile *c, size_t f, double *coupling);

/* What the factors of a variable alone add up to, collected in c->own, into its field. */
void gbsi_store_field(gbsi_compile *c, uint32_t slot);

/* Adds factor f of variable v alone (scope of 1) to logw[k]. */
void gbsi_add_unary(const gbsi_compile *c, size_t f, uint32_t arity, double *logw);

/* Position of variable v in the scope of factor f. */
uint32_t gbsi_position(const gbsi_factors *factors, size_t f, uint32_t v);

#endif
