/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the steps that compile a plan; private to src/engine/plan. */
#ifndef GBSI_PLAN_COMPILE_H
#define GBSI_PLAN_COMPILE_H

#include "graph/graph.h"
#include "plan/plan.h"

/* An entry in the map of derived tables. Factors of equal content share a derived table; see
 * derive.c. */
typedef struct gbsi_derived {
    size_t factor; /* one of the factors that share the table; SIZE_MAX: the place is empty */
    uint32_t position;
    uint32_t form; /* GBSI_ODDS | GBSI_LINEAR | GBSI_DOUBLE */
    size_t base;
} gbsi_derived;

/* Bits for properties of a variable's factors. The properties limit the classes that the variable
 * can have. One loop over all factors finds these properties for all variables. */
#define GBSI_NEEDS_ZEROS      1u   /* hard zeros, which make log-odds infinite */
#define GBSI_NEEDS_TABLES     2u   /* a table of three or more variables */
#define GBSI_NEEDS_LOGICAL    4u   /* a logical factor or spin product that is not tabulated */
#define GBSI_NEEDS_NO_POTTS   8u   /* a pairwise factor that is not a finite Potts coupling */
#define GBSI_NEEDS_WIDE_PAIR  16u  /* a neighbour of arity above 2 */
#define GBSI_NEEDS_WIDE_POTTS 32u  /* a Potts coupling of too many states for a table */
#define GBSI_NEEDS_COUPLINGS  64u  /* couplings of different strengths */
#define GBSI_NEEDS_NOISY      128u /* a noisy factor, which needs logarithms in double */

/* Special values of a grain, which are not exponents. */
#define GBSI_GRAIN_ANY     INT16_MAX /* all log-weights are 0 or infinite */
#define GBSI_GRAIN_NONE    INT16_MIN /* no useful power of two divides all log-weights */
#define GBSI_GRAIN_UNKNOWN (INT16_MAX - 1)

typedef struct gbsi_profile {
    double magnitude; /* sum of the spreads of the log-weights of the variable's factors */
    double coupling;  /* gbsi_coupling_of() of the variable's first factor of two variables */
    uint32_t n_factors;
    uint32_t n_pairs; /* number of the variable's factors of two variables */
    uint32_t needs;   /* bits GBSI_NEEDS_... */
    int16_t grain;    /* all log-weights are multiples of 2^grain, gbsi_grain_of() */
    uint8_t type;     /* gbsi_type_of() */
} gbsi_profile;

typedef struct gbsi_compile {
    const gbsi_conditioned *model;
    const gbsi_factors *factors;
    gbsi_plan *plan;
    gbsi_profile *profile;          /* [n_variables] profiles; freed when the layout is known */
    gbsi_incident_factors incident; /* incident factors of all variables; made when first needed */
    uint32_t *table_uses; /* [n_tables] number of factors that use each table, saturating */
    double *table_potts;  /* [n_tables] for each table: J if the table is a Potts coupling, infinite
                             if it is not, NAN if this was not tested yet */
    double *table_spread; /* [n_tables] largest minus smallest finite entry of each table; NAN if
                             the number is not known yet */
    int16_t *table_grain; /* [n_tables] gbsi_grain_of(), or GBSI_GRAIN_UNKNOWN */
    gbsi_derived *derived; /* hash table with open addressing; its capacity is a power of two */
    size_t n_derived, derived_capacity;
    gbsi_plan_options options;
    struct gbsi_count_table *count_table; /* cache of count.c */
    size_t n_count_tables;
    uint32_t *degree; /* [n_slots + 1] for slots in classes with rows: upper bound of the number of
                         neighbours, in which each factor counts as one neighbour */
    double *own;      /* [max_arity] scratch: numbers for the own states */
    uint32_t *at;     /* [largest scope] scratch: states by position in a scope */
    size_t pool_capacity, pool64_capacity;
    gbsi_watch *watch; /* the watch in force during compilation */
} gbsi_compile;

static inline uint32_t gbsi_scope_size(const gbsi_factors *factors, size_t f)
{
    return (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
}

static inline bool gbsi_is_row_class(gbsi_class class_id)
{
    return class_id <= GBSI_CLASS_PAIRWISE;
}

/* Whether a class has only couplings: ISING and POTTS. */
static inline bool gbsi_has_couplings(gbsi_class class_id)
{
    return class_id <= GBSI_CLASS_POTTS;
}

/* class.c: sets the type in every profile. */
gbs_status gbsi_classify(gbsi_compile *c, gbs_error *err);

/* grain.c: returns the largest g for which all log-weights of factor f are multiples of 2^g. */
int16_t gbsi_grain_of(gbsi_compile *c, size_t f);
/* grain.c: whether float sums of log-weights, which are multiples of 2^grain, are exact in any
 * order [M13].
 * @param magnitude an upper bound of the absolute values of all partial sums. */
bool gbsi_sums_are_exact(double magnitude, int16_t grain);

/* class.c: whether a logical factor or spin product of three variables or more has so few
 * entries that it is stored as a table. A table is read without counting literals. */
bool gbsi_is_tabulated(const gbsi_compile *c, size_t f);

/* order.c: sorts the n items in `in` (NULL: the items 0 to n - 1) by key[item], which is below
 * n_keys, with a stable counting sort.
 * @param histogram [n_keys + 1] scratch; out: for each key, the end of the key's items in `out`. */
void gbsi_sort_by(const uint32_t *key, uint32_t n_keys, const uint32_t *in, uint32_t *out, size_t n,
                  uint32_t *histogram);

/* slots.c: gives every variable its slot, and sets all members of the plan that depend only on
 * slots. */
gbs_status gbsi_number_slots(gbsi_compile *c, const uint32_t *sequence, size_t n, gbs_error *err);

/* derive.c: makes the table of factor f in the order that the variable at `position` uses, and
 * appends this derived table to the pool. If the pool already has an equal table, no new table is
 * made. The table has a row of k entries for each joint state of the other variables, of which the
 * last varies fastest; the maximum of each row is subtracted. If `form` is odds, a row has one
 * entry. */
gbs_status gbsi_derive(gbsi_compile *c, size_t f, uint32_t position, unsigned form, size_t *base,
                       gbs_error *err);
/* Functions on the map of shared derived tables, which gbsi_derive() uses. A value of `position`
 * from GBSI_BY_COUNT on stands for a logical factor whose table is indexed by the number of true
 * literals. Such factors share a table even if their literals and arities differ. */
#define GBSI_BY_COUNT 0x80000000u
gbs_status gbsi_shared_find(gbsi_compile *c, size_t f, uint32_t position, unsigned form,
                            bool *found, size_t *base, gbs_error *err);
void gbsi_shared_add(gbsi_compile *c, size_t f, uint32_t position, unsigned form, size_t base);
/* Makes room for n more entries in a pool. @param base out: index of the first new entry. */
gbs_status gbsi_pool_take(gbsi_compile *c, unsigned form, size_t n, size_t *base, gbs_error *err);
/* Stores a log-weight in a pool, converted to `form`. */
void gbsi_pool_put(gbsi_compile *c, unsigned form, size_t index, double logw);

/* count.c: makes tables indexed by the number of neighbours in a state, for classes most of whose
 * slots have only equal couplings. */
gbs_status gbsi_count_neighbours(gbsi_compile *c, gbs_error *err);

/* noisy.c: makes the cost sums of noisy factors. */
gbs_status gbsi_compile_sums(gbsi_compile *c, gbs_error *err);

/* terms.c: makes the fields and terms of the classes that use whole factors. */
gbs_status gbsi_compile_terms(gbsi_compile *c, gbs_error *err);
/* gbsi_lay_out_rows() (layout.c) computes the memory of rows that are stored one after the other,
 * and gbsi_lay_out_slices() (sell.c) the memory of rows in slices. */
gbs_status gbsi_lay_out_rows(gbsi_compile *c, gbs_error *err);
gbs_status gbsi_lay_out_slices(gbsi_compile *c, gbs_error *err);
/* The next two functions allocate this memory. */
gbs_status gbsi_take_rows(gbsi_plan *plan, gbs_error *err);
gbs_status gbsi_take_slices(gbsi_compile *c, gbs_error *err);
/* rows.c: fills the rows of neighbours. */
gbs_status gbsi_compile_rows(gbsi_compile *c, gbs_error *err);
/* Makes the padding, terms and tables of slices. @param used [n_slots] number of neighbours of each
 * row. */
gbs_status gbsi_finish_slices(gbsi_compile *c, const uint32_t *used, gbs_error *err);

/* Reports n steps of compiling to the watch. @return GBS_ERR_STOPPED if the watch stopped. */
static inline gbs_status gbsi_compile_spend(const gbsi_compile *c, uint64_t n, gbs_error *err)
{
    return gbsi_watch_work(c->watch, n, "compiling the model", err);
}

/* Makes c->incident, the list of factors of every variable, if this list does not exist yet. */
gbs_status gbsi_need_incidence(gbsi_compile *c, gbs_error *err);

/* Returns the coupling of a factor of two variables, as the variable at `position` uses it. For two
 * binary variables the coupling is w of [M3]. If `field` is then not NULL, *field is set to the
 * constant that the factor adds to the log-odds. Otherwise the coupling is J of [M4], or NAN if the
 * factor is not a Potts coupling. */
double gbsi_coupling_of(gbsi_compile *c, size_t f, uint32_t position, double *field);

/* Stores the field of a slot, which is the sum of the log-weights of its factors of one variable.
 * logw has one number per state; if the slot uses odds, logw[0] is the log-weight of state 1 minus
 * the log-weight of state 0. */
void gbsi_store_field(gbsi_plan *plan, uint32_t slot, const double *logw);
/* Adds factor f, which has one variable, to logw, in the form that gbsi_store_field() takes. */
void gbsi_add_unary(const gbsi_compile *c, size_t f, bool odds, double *logw);

/* Returns the position of variable v in the scope of factor f. */
uint32_t gbsi_position(const gbsi_factors *factors, size_t f, uint32_t v);

/* Frees all members of a plan except the properties of each slot: its variable, arity and type, and
 * whether it uses a table by count. The plan cannot be run afterwards. */
void gbsi_plan_keep_slots(gbsi_plan *plan);

#endif
