/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations private to src/engine/dobrushin. */
#ifndef GBSI_DOBRUSHIN_INFLUENCE_INSIDE_H
#define GBSI_DOBRUSHIN_INFLUENCE_INSIDE_H

#include <math.h>

#include "dobrushin/influence.h"
#include "graph/graph.h"

/* An interval that contains all finite log-odds of a binary variable. */
typedef struct range {
    double lo, hi;
} range;

/* A factor of the current variable i. */
typedef struct use {
    size_t f;
    uint32_t position; /* position of i in the scope of factor f */
    bool coarse;       /* the factor is a table that is too large to walk through */
    bool has_zeros; /* the factor is a table that is too large to walk through, and has entries of
                       minus infinity */
    double spread; /* largest minus smallest log-weight of a table that is too large to walk through
                      and has no hard zeros */
    range odds;    /* range of the factor's contribution to the log-odds of i, if i is binary */
} use;

/* A neighbour j that shares one factor with i. */
typedef struct end {
    uint32_t j;
    uint32_t use;
    uint32_t position; /* position of j in the scope of the shared factor */
} end;

/* The bound on the influence of j on i, from the slabs seen so far. A slab is a table over (x_j,
 * x_i) with all other variables fixed. */
typedef struct measure {
    uint32_t ki, kj;
    range field;   /* if i is binary: range of the contribution of all other factors to the log-odds
                      of i */
    bool apart;    /* the set of forbidden states of i depends on x_j, and the bound is 1 */
    double bound;  /* if i is binary: largest influence so far */
    double osc;    /* if i has more states: largest oscillation so far */
    double *delta; /* [n_delta] or NULL. If delta is set, `apart` is the only member above that is
                      computed. `delta` then gets the largest change of log-odds, or the largest
                      oscillation. It has a value for each pair of states of j, [kj][kj], or one
                      value for all pairs if n_delta is 1 */
    size_t n_delta;
    range mid; /* range of the midpoints of the two log-odds, if i is binary and delta is set */
} measure;

/* Sums of ranges are widened by this fraction of their size, to allow for rounding. */
#define INFLUENCE_SLACK 1e-15

/* Returns the range `all` of a sum of contributions without the range `some` of a part of this sum,
 * widened for rounding. */
static inline range gbsi_range_without(range all, range some)
{
    const double slack = INFLUENCE_SLACK * (fabs(all.lo) + fabs(all.hi));
    return (range){all.lo - some.lo - slack, all.hi - some.hi + slack};
}

/* Returns the maximum over s in `field` of | sigma(a + s) - sigma(c + s) |. */
double gbsi_influence_field(double a, double c, range field);
/* Adds a slab to a measure. @param slab [kj][ki] log-weights. */
void gbsi_influence_slab(const double *slab, measure *m);
/* Returns the bound from all slabs of a measure. */
double gbsi_influence_of(const measure *m);

typedef struct logical_key {
    gbsi_logical logical;
    uint32_t n;
    bool i_head, j_head;
    double weight;
} logical_key;

/* The effect of a logical factor on variables i and j in given roles or, if `single`, on i alone.
 */
typedef struct logical_effect {
    logical_key key;
    bool known, single, apart;
    double delta;
    range odds, mid; /* range of the log-odds of literal i being true, and range of the midpoints of
                        the two log-odds that differ in literal j */
} logical_effect;

enum {
    N_EFFECTS = 256,
    MOST_PAIRED = 64, /* largest number of states of j for which every pair is measured */
};

struct gbsi_influence {
    const gbsi_graph *graph;
    const gbsi_conditioned *model;
    const gbsi_factors *factors;
    gbsi_influence_limits limits;
    gbsi_incident_factors incident; /* for each variable, its factors of two or more variables; made
                                       when the first row is computed */
    double *field; /* [n] log-odds of binary variables from their factors of one variable; NULL:
                      there are no such factors */
    /* the current row */
    use *use;
    size_t n_use, use_capacity;
    end *end;
    size_t n_end, end_capacity;
    uint32_t *j;
    double *bound;
    size_t j_capacity, bound_capacity;
    /* the current entry */
    double *slab, *delta;
    size_t slab_capacity, delta_capacity;
    uint32_t place[64]; /* variables of the union of several scopes; i and j come first */
    logical_effect effect[N_EFFECTS];
};

/* ---- influence.c --------------------------------------------------------------------------- */

/* Returns the `use` of factor f by variable i, which is at `position` of the factor's scope. */
use gbsi_influence_use(gbsi_influence *w, uint32_t i, size_t f, uint32_t position);

/* ---- influence_logical.c ----------------------------------------------------------------- */

logical_key gbsi_logical_key(const gbsi_influence *w, size_t f, uint32_t pi, uint32_t pj);
/* Returns the effect of a logical factor over all states of its other variables: the range of the
 * log-odds of literal i, and the largest change of these log-odds by literal j.
 * @param single whether only i is considered, without a second variable j. k->j_head is then true,
 * as if i were j. */
const logical_effect *gbsi_logical_effect(gbsi_influence *w, const logical_key *k, bool single);
/* Adds the slab of every case of a short factor to a measure. If i has more than two states, a slab
 * has three columns, in which the literal of i is false, true and false. */
void gbsi_logical_walk(const gbsi_influence *w, size_t f, uint32_t pi, uint32_t pj, measure *m);

static inline bool gbsi_literal_is_zero(const gbsi_influence *w, size_t f, uint32_t position)
{
    return w->factors->literal[w->factors->scope_start[f] + position] == 0;
}

/* ---- influence_table.c ------------------------------------------------------------------- */

/* Adds all slabs of a table to a measure. The caller must reserve room for a slab. @param u a use
 * of a table. */
void gbsi_table_walk(gbsi_influence *w, const use *u, uint32_t pj, measure *m);
/* Fills the members coarse, has_zeros and spread of a use of a table. */
void gbsi_table_size_up(const gbsi_influence *w, use *u);
range gbsi_table_odds(const gbsi_influence *w, size_t f, uint32_t position);

/* ---- influence_pair.c -------------------------------------------------------------------- */

/* Returns the range of the contribution of factor f to the log-odds of the binary variable at
 * `position` of the factor's scope. */
range gbsi_influence_odds(gbsi_influence *w, size_t f, uint32_t position);

/* Returns the range of the sum of the contributions of all factors with the scope {i, j} to the
 * log-odds of i. */
range gbsi_influence_parallel(gbsi_influence *w, uint32_t i, const end *e, size_t n);

/* Computes a bound on C_ij from the factors e[0 .. n) that i and j share. @param others range of
 * the contribution of all other factors to the log-odds of i. */
gbs_status gbsi_influence_pair(gbsi_influence *w, uint32_t i, const end *e, size_t n, range others,
                               double *bound, gbs_error *err);

/* Returns the sum of the bounds on C_ij over all variables j of one long factor other than i. */
double gbsi_influence_long(gbsi_influence *w, uint32_t i, const use *u, range others);

#endif
