/* SPDX-License-Identifier: Apache-2.0 */
/* Computes expectations, with one rule per kind of factor. Tables are summed entry by entry.
 * Couplings are products of means. Logical functions need the distribution of the number of true
 * literals; some need only the probability that all literals are true and the probability that no
 * literal is true. */
#include "variational/mean_field.h"

#include <assert.h>
#include <math.h>

static double proper(double logw)
{
    return logw == -INFINITY ? GBSI_LOG_ZERO : logw;
}

static const double *probabilities(const gbsi_conditioned *model, const double *q, uint32_t v)
{
    return q + model->state_offset[v];
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Adds the expectation of a table. prefix[j + 1] is the product of q(x_i) over scope positions i
 * <= j, without the position `own`. x runs through the states in the order of the table, the
 * last position fastest. */
static void add_table(const gbsi_conditioned *model, size_t f, size_t own, const double *q,
                      double *prefix, double *out)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    const size_t begin = factors->table_start[factors->aux[f]];
    const size_t end = factors->table_start[factors->aux[f] + 1];
    uint32_t *x = (uint32_t *)(void *)(prefix + n + 1);
    prefix[0] = 1.0;
    for (size_t j = 0; j < n; ++j) {
        x[j] = 0;
    }
    size_t from = 0; /* first position whose prefix must be computed */
    for (size_t at = begin; at < end; ++at) {
        for (size_t j = from; j < n; ++j) {
            const double p = j == own ? 1.0 : probabilities(model, q, scope[j])[x[j]];
            prefix[j + 1] = prefix[j] * p;
        }
        out[x[own]] += prefix[n] * proper(factors->table[at]);
        for (from = n; from > 0;) {
            --from;
            if (++x[from] < model->arity[scope[from]]) {
                break;
            }
            x[from] = 0;
        }
    }
}

/* ---- couplings ------------------------------------------------------------------------------- */

/* Adds the expectation of FIELD, ISING and SPIN factors: the product of the other means, where
 * mean = q(1) - q(0). */
static void add_spin(const gbsi_conditioned *model, size_t f, size_t own, const double *q,
                     double *out)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    double product = factors->weight[f];
    for (size_t j = 0; j < n; ++j) {
        const double *p = probabilities(model, q, scope[j]);
        product *= j == own ? 1.0 : p[1] - p[0];
    }
    out[0] -= product;
    out[1] += product;
}

static void add_potts(const gbsi_conditioned *model, size_t f, size_t own, const double *q,
                      double *out)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const double *p = probabilities(model, q, scope[1 - own]);
    const uint32_t k = model->arity[scope[own]];
    const uint32_t k_other = model->arity[scope[1 - own]];
    for (uint32_t a = 0; a < k && a < k_other; ++a) {
        /* minus infinity if the factor is a colouring constraint */
        out[a] += proper(factors->weight[f]) * p[a];
    }
}

/* ---- logical functions ----------------------------------------------------------------------- */

/* Distribution of the number of true literals in the body, without the current variable: the number
 * is c with probability p[c]. If the function depends only on whether no literal or every literal
 * is true, all other numbers count as 1. If only the parity matters, even numbers count as 0 and
 * odd numbers as 1. If the function compares the number with k, all numbers above k count as k + 1.
 */
typedef struct literals {
    size_t n;  /* number of free literals */
    double *p; /* [n + 1] probability of each number of true literals */
} literals;

/* Updates the distribution of a sum of independent bits by one more bit; sums above `most` count as
 * `most`. */
static void add_literal(literals *l, size_t most, double p)
{
    const size_t n = l->n < most ? l->n + 1 : most;
    const double there = l->n == most ? l->p[most] : 0.0;
    if (n == 0) {
        return;
    }
    l->p[n] = there + l->p[n - 1] * p;
    for (size_t c = n - 1; c > 0; --c) {
        l->p[c] = l->p[c] * (1.0 - p) + l->p[c - 1] * p;
    }
    l->p[0] *= 1.0 - p;
    l->n = n;
}

/* Updates the distribution of the parity of a sum of independent bits by one more bit; only p[0]
 * and p[1] are used. */
static void add_to_parity(literals *l, double p)
{
    const double odd = l->n == 0 ? 0.0 : l->p[1];
    l->p[1] = odd * (1.0 - p) + l->p[0] * p;
    l->p[0] = l->p[0] * (1.0 - p) + odd * p;
    l->n = 1;
}

/* The part of the distribution of the number of true literals on which a function depends. */
typedef enum needed { ITS_ENDS, ITS_PARITY, ALL_OF_IT } needed;

static needed needed_by(unsigned function)
{
    return function == GBS_LOGICAL_LINEAR || function == GBS_LOGICAL_RATIO ||
                   gbsi_logical_is_cardinality(function)
               ? ALL_OF_IT
           : function == GBS_LOGICAL_PARITY ? ITS_PARITY
                                            : ITS_ENDS;
}

/* Returns the least number of true literals from which on further true literals do not change the
 * function. For a comparison with k, the result is the first number above k. */
static size_t most_needed(const gbsi_logical *logical)
{
    if (!gbsi_logical_is_cardinality(logical->function)) {
        return SIZE_MAX;
    }
    return logical->k < logical->n_body_true ? 0 : logical->k + (size_t)1 - logical->n_body_true;
}

/* Computes the distribution of the true body literals. @param last one past the last body
 * position. */
static literals body_of(const gbsi_conditioned *model, size_t f, size_t own, size_t last,
                        const double *q, double *scratch)
{
    const gbsi_factors *factors = &model->factors;
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    const needed what = needed_by(logical->function);
    const size_t most = most_needed(logical);
    literals l = {0, scratch};
    double all = 1.0;
    double none = 1.0;
    double between = 0.0; /* summed directly, because in 1 - all - none the rounding error would
                             hide rare forbidden cases */
    l.p[0] = 1.0;
    for (size_t j = 0; j < last; ++j) {
        const size_t e = factors->scope_start[f] + j;
        if (j == own) {
            continue;
        }
        const double p = probabilities(model, q, factors->scope[e])[factors->literal[e]];
        if (what == ALL_OF_IT) {
            add_literal(&l, most, p);
        } else if (what == ITS_PARITY) {
            add_to_parity(&l, p);
        } else {
            between += l.n == 0 ? 0.0 : none * p + all * (1.0 - p);
            all *= p;
            none *= 1.0 - p;
            ++l.n;
        }
    }
    if (what == ITS_ENDS && l.n > 0) {
        for (size_t c = 1; c < l.n; ++c) {
            l.p[c] = 0.0;
        }
        l.p[0] = none;
        l.p[l.n] = all;
        l.p[1] = l.n == 1 ? all : between;
    }
    return l;
}

/* Computes the expectation over the body's literals, given the value of the head and given that
 * `more` additional literals are true. */
static double over_body(const gbsi_conditioned *model, size_t f, const literals *l, uint32_t more,
                        bool head)
{
    const gbsi_factors *factors = &model->factors;
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    double sum = 0.0;
    for (size_t c = 0; c <= l->n; ++c) {
        if (l->p[c] > 0.0) {
            const uint32_t n_true = logical->n_body_true + (uint32_t)c + more;
            sum += l->p[c] * proper(gbsi_logical_value(logical, factors->weight[f], n_true, head));
        }
    }
    return sum;
}

static void add_logical(const gbsi_conditioned *model, size_t f, size_t own, const double *q,
                        double *scratch, double *out)
{
    const gbsi_factors *factors = &model->factors;
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    const size_t begin = factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - begin;
    const bool free_head = logical->head == GBSI_HEAD_FREE;
    const size_t last = free_head ? n - 1 : n;
    const literals l = body_of(model, f, own, last, q, scratch);
    const uint32_t k = model->arity[factors->scope[begin + own]];
    const bool is_head = free_head && own == n - 1;
    double p_head = logical->head == GBSI_HEAD_TRUE ? 1.0 : 0.0;
    if (free_head && !is_head) {
        p_head =
            probabilities(model, q, factors->scope[begin + n - 1])[factors->literal[begin + n - 1]];
    }
    double value[2]; /* expectation if the current variable's literal is false, and if it is true */
    for (uint32_t own_true = 0; own_true < 2; ++own_true) {
        if (is_head) {
            value[own_true] = over_body(model, f, &l, 0, own_true != 0);
            continue;
        }
        value[own_true] = 0.0;
        if (p_head < 1.0) {
            value[own_true] += (1.0 - p_head) * over_body(model, f, &l, own_true, false);
        }
        if (p_head > 0.0) {
            value[own_true] += p_head * over_body(model, f, &l, own_true, true);
        }
    }
    for (uint32_t a = 0; a < k; ++a) {
        out[a] += value[a == factors->literal[begin + own]];
    }
}

/* ---- all kinds ------------------------------------------------------------------------------- */

size_t gbsi_expected_scratch(const gbsi_conditioned *model)
{
    const gbsi_factors *factors = &model->factors;
    size_t most = 0;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        most = n > most ? n : most;
    }
    return 2 * most + 2;
}

void gbsi_expected_logw(const gbsi_conditioned *model, size_t f, size_t position, const double *q,
                        double *scratch, double *out)
{
    switch ((gbs_factor_kind)model->factors.kind[f]) {
    case GBS_FACTOR_TABLE:
        add_table(model, f, position, q, scratch, out);
        return;
    case GBS_FACTOR_FIELD:
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_SPIN:
        add_spin(model, f, position, q, out);
        return;
    case GBS_FACTOR_POTTS:
        add_potts(model, f, position, q, out);
        return;
    case GBS_FACTOR_LOGICAL:
        add_logical(model, f, position, q, scratch, out);
        return;
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX:
    case GBS_FACTOR_NOISY_MIN:
        break; /* gbsi_mean_field_new() refuses these kinds */
    }
    assert(0);
}
