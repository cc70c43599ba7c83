/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest class that computes a variable's conditional exactly. */
#include <math.h>

#include "plan/compile.h"
#include "simd/math.h"

/* Pairwise factors of other kinds are tabulated up to this many entries; beyond it they are terms.
 */
#define TABULATE_LIMIT 256u

/* What the factors of one variable ask for. */
typedef struct needs {
    bool zeros;       /* hard zeros: no log-odds */
    bool tables;      /* a table of three or more */
    bool logical;     /* a logical factor or spin product that is not tabulated */
    bool not_potts;   /* a pairwise factor that is not a finite Potts coupling */
    bool wide_pair;   /* a neighbour of arity above 2 */
    double magnitude; /* sum over factors of the spread of their log-weights */
} needs;

/* Largest minus smallest finite entry of a table, computed once. */
static double table_spread(gbsi_compile *c, uint32_t table)
{
    if (isnan(c->table_spread[table])) {
        double low = INFINITY;
        double high = -INFINITY;
        for (size_t i = c->factors->table_start[table]; i < c->factors->table_start[table + 1];
             ++i) {
            double entry = c->factors->table[i];
            if (entry > -INFINITY) {
                low = entry < low ? entry : low;
                high = entry > high ? entry : high;
            }
        }
        c->table_spread[table] = high > low ? high - low : 0.0;
    }
    return c->table_spread[table];
}

static double spread(gbsi_compile *c, size_t f, uint32_t n)
{
    const gbsi_factors *factors = c->factors;
    double w = isfinite(factors->weight[f]) ? fabs(factors->weight[f]) : 0.0;
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_TABLE:
        return table_spread(c, factors->aux[f]);
    case GBS_FACTOR_POTTS:
        return w;
    case GBS_FACTOR_FIELD:
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_SPIN:
        return 2.0 * w;
    case GBS_FACTOR_LOGICAL:
        break;
    }
    switch ((gbs_logical_function)factors->logical[factors->aux[f]].function) {
    case GBS_LOGICAL_LINEAR:
        return w * n;
    case GBS_LOGICAL_RATIO:
        return w * gbsi_log2(1.0 + n);
    default:
        return 2.0 * w;
    }
}

/* J of a k x k table with one value on the diagonal and one off it; infinite if it is none. */
static double potts_of_table(const gbsi_factors *factors, uint32_t table, uint32_t k)
{
    const double *logw = factors->table + factors->table_start[table];
    for (size_t i = 0; i < (size_t)k * k; ++i) {
        const bool diagonal = i % ((size_t)k + 1) == 0;
        if (logw[i] != (diagonal ? logw[0] : logw[1]) || !isfinite(logw[i])) {
            return INFINITY;
        }
    }
    return logw[0] - logw[1];
}

bool gbsi_is_potts(gbsi_compile *c, size_t f, double *coupling)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const uint32_t k = c->model->arity[scope[0]];
    if (factors->kind[f] == GBS_FACTOR_POTTS) {
        *coupling = factors->weight[f];
        return isfinite(*coupling);
    }
    if (factors->kind[f] != GBS_FACTOR_TABLE || c->model->arity[scope[1]] != k) {
        return false;
    }
    double *known = &c->table_potts[factors->aux[f]];
    if (isnan(*known)) { /* of this shape: a k x k table shared with another shape has k^2 entries
                            too */
        *known = potts_of_table(factors, factors->aux[f], k);
    }
    *coupling = *known;
    return isfinite(*coupling);
}

static void add_pair(gbsi_compile *c, size_t f, uint32_t v, needs *need)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    uint32_t other = scope[0] == v ? scope[1] : scope[0];
    uint64_t entries = (uint64_t)c->model->arity[v] * c->model->arity[other];
    gbs_factor_kind kind = (gbs_factor_kind)factors->kind[f];
    need->wide_pair |= c->model->arity[other] > 2;
    double coupling = 0.0;
    need->not_potts |= !gbsi_is_potts(c, f, &coupling);
    need->logical |= kind == GBS_FACTOR_LOGICAL && entries > TABULATE_LIMIT;
}

static void look_at(gbsi_compile *c, uint32_t v, needs *need)
{
    const gbsi_factors *factors = c->factors;
    for (size_t i = c->of_start[v]; i < c->of_start[v + 1]; ++i) {
        size_t f = c->of[i];
        uint32_t n = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
        need->zeros |= c->model->has_zeros[f] != 0;
        need->magnitude += spread(c, f, n);
        if (n == 2) {
            add_pair(c, f, v, need);
        } else if (n > 2) {
            bool table = factors->kind[f] == GBS_FACTOR_TABLE;
            need->tables |= table;
            need->logical |= !table;
        }
    }
}

static bool mixes_wide_potts(const gbsi_compile *c, uint32_t v)
{
    uint64_t k = c->model->arity[v];
    if (k * k <= TABULATE_LIMIT) {
        return false;
    }
    for (size_t i = c->of_start[v]; i < c->of_start[v + 1]; ++i) {
        if (c->factors->kind[c->of[i]] == GBS_FACTOR_POTTS) {
            return true;
        }
    }
    return false;
}

/* Whether products of weights neither overflow nor lose more than sums of logarithms would. */
static bool is_linear(const gbsi_compile *c, const needs *need, size_t degree)
{
    return !c->options.heated && need->magnitude <= GBSI_LINEAR_SPAN &&
           degree <= GBSI_LINEAR_DEGREE;
}

static gbsi_class class_of(gbsi_compile *c, uint32_t v, uint8_t *form)
{
    needs need = {0};
    look_at(c, v, &need);
    const size_t degree = c->of_start[v + 1] - c->of_start[v];
    const bool odds = c->model->arity[v] == 2 && !need.zeros;
    const bool linear = is_linear(c, &need, degree);
    *form = (uint8_t)((odds ? GBSI_ODDS : 0u) | (linear ? GBSI_LINEAR : 0u));
    /* [M13]; a pairwise table in 0/1 form is a field and a coupling of up to three times its spread
     */
    if (!linear && ((double)degree + 2.0) * 0x1p-24 * 3.0 * need.magnitude > GBSI_ROUNDING_LIMIT) {
        return GBSI_CLASS_PRECISE;
    }
    if (need.logical) {
        return GBSI_CLASS_LOGICAL;
    }
    if (!need.tables && odds && !need.wide_pair) {
        return GBSI_CLASS_ISING;
    }
    if (!need.tables && !need.not_potts && !need.zeros) {
        return GBSI_CLASS_POTTS;
    }
    if (mixes_wide_potts(c, v)) {
        return GBSI_CLASS_LOGICAL;
    }
    return need.tables ? GBSI_CLASS_TABLE : GBSI_CLASS_PAIRWISE;
}

void gbsi_classify(gbsi_compile *c, uint8_t *class_id, uint8_t *form)
{
    for (uint32_t v = 0; v < c->plan->n_slots; ++v) {
        class_id[v] = (uint8_t)class_of(c, v, &form[v]);
    }
}
