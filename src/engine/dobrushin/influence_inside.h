/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/dobrushin. */
#ifndef GBSI_DOBRUSHIN_INFLUENCE_INSIDE_H
#define GBSI_DOBRUSHIN_INFLUENCE_INSIDE_H

#include <math.h>

#include "dobrushin/influence.h"
#include "graph/graph.h"

/* An interval that contains the finite log-odds of a binary variable. */
typedef struct range {
    double lo, hi;
} range;

/* A factor of i. */
typedef struct use {
    size_t f;
    uint32_t position; /* of i in its scope */
    bool coarse;       /* it is a table that is too large to walk through */
    bool has_zeros;    /* it is such a table, and has entries of minus infinity */
    double spread;     /* of such a table without zeros: its largest entry minus its smallest */
    range odds;        /* its contribution to the log-odds of i, if i is binary */
} use;

/* A neighbour j of i by one factor. */
typedef struct end {
    uint32_t j;
    uint32_t use;
    uint32_t position; /* of j in its scope */
} end;

/* Slabs seen so far: tables over (x_j, x_i) with everything else fixed. */
typedef struct measure {
    uint32_t ki, kj;
    range field;   /* binary i: what all other factors add to its log-odds */
    bool apart;    /* the forbidden states of i depend on x_j: the bound is 1 */
    double bound;  /* binary i: so far */
    double osc;    /* else: largest oscillation until now */
    double *delta; /* [n_delta] or NULL; if set, only `apart` of the above is computed, and the
                      largest change of log-odds or oscillation is stored here: for each pair of
                      states of j, [kj][kj]; if n_delta is 1, one value for all of them */
    size_t n_delta;
    range mid; /* midpoints of the two log-odds, for binary i if delta is set */
} measure;

/* Sums of ranges are widened by this share of their size, for what rounding may have lost. */
#define INFLUENCE_SLACK 1e-15

/* The range of all but some, widened. */
static inline range gbsi_range_without(range all, range some)
{
    const double slack = INFLUENCE_SLACK * (fabs(all.lo) + fabs(all.hi));
    return (range){all.lo - some.lo - slack, all.hi - some.hi + slack};
}

/* max over s in field of | sigma(a + s) - sigma(c + s) |. */
double gbsi_influence_field(double a, double c, range field);
/* @param slab [kj][ki] log-weights. */
void gbsi_influence_slab(const double *slab, measure *m);
/* The bound that all slabs make. */
double gbsi_influence_of(const measure *m);

typedef struct logical_key {
    gbsi_logical logical;
    uint32_t n;
    bool i_head, j_head;
    double weight;
} logical_key;

/* The effect of a logical factor on a pair of variables in given roles or, if single, on i
 * alone. */
typedef struct logical_effect {
    logical_key key;
    bool known, single, apart;
    double delta;
    range odds, mid; /* ranges for literal i true against false */
} logical_effect;

enum {
    N_EFFECTS = 256,
    MOST_PAIRED = 64, /* states of j; of more, not every pair is looked at */
};

struct gbsi_influence {
    const gbsi_graph *graph;
    const gbsi_conditioned *model;
    const gbsi_factors *factors;
    gbsi_influence_limits limits;
    gbsi_incident_factors incident; /* factors of two or more variables around each variable; made
                                       when the first row is computed */
    double *field; /* [n] log-odds of binary variables from factors of one variable; NULL: none */
    /* the row */
    use *use;
    size_t n_use, use_capacity;
    end *end;
    size_t n_end, end_capacity;
    uint32_t *j;
    double *bound;
    size_t j_capacity, bound_capacity;
    /* one entry */
    double *slab, *delta;
    size_t slab_capacity, delta_capacity;
    uint32_t place[64]; /* a union of scopes, i and j first */
    logical_effect effect[N_EFFECTS];
};

/* ---- influence.c --------------------------------------------------------------------------- */

/* The use of factor f by variable i, at a position of its scope. */
use gbsi_influence_use(gbsi_influence *w, uint32_t i, size_t f, uint32_t position);

/* ---- influence_logical.c ----------------------------------------------------------------- */

logical_key gbsi_logical_key(const gbsi_influence *w, size_t f, uint32_t pi, uint32_t pj);
/* The effect over all cases: the range of the log-odds of literal i, and how literal j changes
 * them.
 * @param single whether i is the only variable, without a j; k->j_head is then true, as if i were
 * j. */
const logical_effect *gbsi_logical_effect(gbsi_influence *w, const logical_key *k, bool single);
/* Visits every case of a short factor, in the states of i: with more than two states, false, true,
 * false. */
void gbsi_logical_walk(const gbsi_influence *w, size_t f, uint32_t pi, uint32_t pj, measure *m);

static inline bool gbsi_literal_is_zero(const gbsi_influence *w, size_t f, uint32_t position)
{
    return w->factors->literal[w->factors->scope_start[f] + position] == 0;
}

/* ---- influence_table.c ------------------------------------------------------------------- */

/* Needs room for a slab. @param u a use of a table. */
void gbsi_table_walk(gbsi_influence *w, const use *u, uint32_t pj, measure *m);
/* Fills coarse, has_zeros and spread of a table. */
void gbsi_table_size_up(const gbsi_influence *w, use *u);
range gbsi_table_odds(const gbsi_influence *w, size_t f, uint32_t position);

/* ---- influence_pair.c -------------------------------------------------------------------- */

/* The interval of what factor f adds to the log-odds of the binary variable at a position of its
 * scope. */
range gbsi_influence_odds(gbsi_influence *w, size_t f, uint32_t position);

/* The interval of what the factors whose scope is i and j add together to the log-odds of i. */
range gbsi_influence_parallel(gbsi_influence *w, uint32_t i, const end *e, size_t n);

/* Bound on C_ij from the factors end[0 .. n) of i that have j too. @param others contribution of
 * all other factors to the log-odds of i. */
gbs_status gbsi_influence_pair(gbsi_influence *w, uint32_t i, const end *e, size_t n, range others,
                               double *bound, gbs_error *err);

/* The sum of bounds over all other variables of one long factor. */
double gbsi_influence_long(gbsi_influence *w, uint32_t i, const use *u, range others);

#endif
