/* SPDX-License-Identifier: Apache-2.0 */
/* Dobrushin's matrix of influences. Each entry is an upper bound, an exact influence if enumeration
 * is cheap [M17], or a number that the caller gives. Variations [M38] and optimised scans [M39] are
 * computed from it.
 *
 * Row i has an entry for j exactly if i and j share a factor, or if the caller gave the influence
 * of i on j or of j on i. The pattern of entries is therefore symmetric, and one list of neighbours
 * serves rows and columns. */
#ifndef GBSI_DOBRUSHIN_MATRIX_H
#define GBSI_DOBRUSHIN_MATRIX_H

#include "base/offsets.h"
#include "base/watch.h"
#include "dobrushin/influence.h"
#include "gibbsite/dobrushin.h"

typedef struct gbsi_influences {
    uint32_t n;
    gbsi_offsets start; /* [n] start of each row */
    uint32_t *j;        /* neighbours of i, ascending within a row */
    double *on;         /* influence of j on i, C_ij, 0 to 1 */
    double *of;         /* influence of i on j, C_ji: column i */
    uint32_t n_exact;   /* number of rows that were enumerated */
    uint32_t n_refused; /* number of rows that were not enumerated, because they have too many
                           configurations or the limit on work was reached */
    size_t n_given;     /* number of entries that the caller gave; 0 if the matrix was computed */
} gbsi_influences;

static inline size_t gbsi_influences_row(const gbsi_influences *c, size_t i)
{
    return gbsi_offset(&c->start, i);
}

/* Returns row i of C times b, the sum of C_ij b_j over j. */
static inline double gbsi_influences_times(const gbsi_influences *c, size_t i, const double *b)
{
    const size_t end = gbsi_influences_row(c, i + 1);
    double sum = 0.0;
    for (size_t e = gbsi_influences_row(c, i); e < end; ++e) {
        sum += c->on[e] * b[c->j[e]];
    }
    return sum;
}

/* Returns the number of operations of an update of i, for a watch. */
static inline uint64_t gbsi_influences_work(const gbsi_influences *c, size_t i)
{
    return gbsi_influences_row(c, i + 1) - gbsi_influences_row(c, i) + 1;
}

/* Computes the whole matrix. @param graph borrowed during the call. @param room limit on the bytes
 * of the matrix. @param watch borrowed or NULL; may stop the call. @return GBS_ERR_LIMIT, with the
 * number of bytes needed; GBS_ERR_STOPPED if the watch stopped. */
gbs_status gbsi_influences_new(const gbsi_graph *graph, gbs_influence_rule rule, uint64_t room,
                               gbsi_watch *watch, gbsi_influences **out, gbs_error *err);
void gbsi_influences_free(gbsi_influences *c);
/* Stores C_ji beside every C_ij, which is the last step of making a matrix. */
gbs_status gbsi_influences_transpose(gbsi_influences *c, gbs_error *err);
/* ---- matrix_given.c ---------------------------------------------------------------------- */

/* Makes a matrix from given entries; all other entries are 0. @param pair [n] borrowed: C_ij =
 * value, in the user's numbers of variables. Pairs with a variable that is not free are left out.
 * @param room, watch as above.
 * @return GBS_ERR_ARGUMENT for values outside 0 to 1, on the diagonal, or given twice. */
gbs_status gbsi_influences_given(const gbsi_conditioned *model, const gbs_pair *pair, size_t n,
                                 uint64_t room, gbsi_watch *watch, gbsi_influences **out,
                                 gbs_error *err);
/* Finds the connected components of the pattern, numbered in the order of their lowest members.
 * @param component [n] out. */
gbs_status gbsi_matrix_components(const gbsi_influences *c, uint32_t *component,
                                  uint32_t *n_components, gbs_error *err);

/* ---- norms.c ------------------------------------------------------------------------------ */

/* Computes |C|_inf, the largest sum of a row, and the mean sum of a row; both are 0 if there are no
 * rows. */
void gbsi_matrix_sums(const gbsi_influences *c, double *largest, double *mean);

/* An interval that contains a number which is not known exactly. */
typedef struct gbsi_interval {
    double lo, hi;
} gbsi_interval;

/* Norms of the matrix. */
typedef struct gbsi_norms {
    gbsi_interval two;    /* |C|_2 */
    gbsi_interval radius; /* spectral radius */
} gbsi_norms;

/* @param component [n] connected component of each variable in the pattern of the matrix, numbered
 * from 0. @param watch borrowed or NULL; may stop the call. @return GBS_ERR_STOPPED if the watch
 * stopped. */
gbs_status gbsi_matrix_norms(const gbsi_influences *c, const uint32_t *component,
                             uint32_t n_components, gbsi_watch *watch, gbsi_norms *norms,
                             gbs_error *err);

/* ---- influence_exact.c ------------------------------------------------------------------- */

#define GBSI_EXACT_CONFIGURATIONS 65536u

/* Scratch memory for computing rows by enumeration. */
typedef struct gbsi_enumerator gbsi_enumerator;

/* @param model borrowed. @param watch borrowed or NULL; may stop the enumeration. */
gbs_status gbsi_enumerator_new(const gbsi_conditioned *model, gbsi_watch *watch,
                               gbsi_enumerator **out, gbs_error *err);
void gbsi_enumerator_free(gbsi_enumerator *e);
/* Returns the cost of computing row i by enumeration: the number of factor entries that are read
 * plus the number of probabilities that are compared. Returns UINT64_MAX if the neighbours have
 * more than GBSI_EXACT_CONFIGURATIONS joint states. */
uint64_t gbsi_enumerator_cost(const gbsi_enumerator *e, uint32_t i, uint32_t n, const uint32_t *j);
/* Computes C_ij for all j[0 .. n). @param j [n] all variables that share a factor with i. @param c
 * [n] out; undefined if the watch stopped. */
gbs_status gbsi_enumerator_row(gbsi_enumerator *e, uint32_t i, uint32_t n, const uint32_t *j,
                               double *c, gbs_error *err);

#endif
