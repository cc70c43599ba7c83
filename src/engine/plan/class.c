/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, for each variable, the cheapest class that computes its conditional exactly. The
 * properties of factors are gathered in one loop over all factors, not variable by variable. If the
 * factors of a large model are scattered in memory, this loop takes one walk through memory, while
 * loops over variables would take one random access for each variable of each factor. */
#include <math.h>

#include "base/memory.h"
#include "plan/compile.h"
#include "simd/math.h"

/* TABULATE_LIMIT: largest number of entries of a pairwise factor, of a kind other than table, that
 * is converted to a table; larger factors become terms. */
#define ENDS_AHEAD     32 /* number of scope entries by which profiles are prefetched ahead */
#define TABULATE_LIMIT 256u
/* Largest number of entries of a factor of three variables or more that is converted to a table. Up
 * to this size, a table for each variable takes no more memory than a term with its links, and a
 * table fits two registers. */
#define TABULATE_TERM 32u

/* Returns the largest minus the smallest finite entry of a table. The spread of each table is
 * computed once and kept. */
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
    if (gbsi_is_noisy(factors->kind[f])) {
        return 0.0; /* variables of noisy factors are always of class PRECISE */
    }
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_TABLE:
        return table_spread(c, factors->aux[f]);
    case GBS_FACTOR_POTTS:
        return w;
    case GBS_FACTOR_FIELD:
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_SPIN:
        return 2.0 * w;
    default:
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

/* Returns J if a k x k table is a Potts coupling, with one value on the diagonal and another off
 * the diagonal; infinity for any other table. */
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

/* Whether pairwise factor f is a finite Potts coupling: all log-weights off the diagonal are equal,
 * and those on the diagonal are larger by J. f may be of kind POTTS or a table, because text
 * formats write Potts couplings as tables. */
static bool is_potts(gbsi_compile *c, size_t f, double *coupling)
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
    if (isnan(*known)) { /* `known` then serves every k x k factor that uses the table */
        *known = potts_of_table(factors, factors->aux[f], k);
    }
    *coupling = *known;
    return isfinite(*coupling);
}

/* Computes the 0/1 form of [M3], l(b) = theta(1, b) - theta(0, b) = l(0) + (l(1) - l(0)) b, and
 * returns the coupling l(1) - l(0). */
static double binary_coupling(const gbsi_compile *c, size_t f, uint32_t position, double *field)
{
    double l[2];
    for (uint32_t b = 0; b < 2; ++b) {
        uint32_t at[2];
        at[1 - position] = b;
        at[position] = 1;
        l[b] = gbsi_factor_value_at(c->factors, c->model->arity, f, at);
        at[position] = 0;
        l[b] -= gbsi_factor_value_at(c->factors, c->model->arity, f, at);
    }
    *field = l[0];
    return l[1] - l[0];
}

double gbsi_coupling_of(gbsi_compile *c, size_t f, uint32_t position, double *field)
{
    const uint32_t *scope = c->factors->scope + c->factors->scope_start[f];
    double own = 0.0;
    double coupling = NAN;
    if (c->factors->kind[f] == GBS_FACTOR_ISING) {
        own = -2.0 * c->factors->weight[f];
        coupling = 4.0 * c->factors->weight[f];
    } else if (c->model->arity[scope[0]] == 2 && c->model->arity[scope[1]] == 2) {
        coupling = binary_coupling(c, f, position, &own);
    } else if (!is_potts(c, f, &coupling)) {
        coupling = NAN;
    }
    if (field != NULL) {
        *field = own;
    }
    return coupling;
}

bool gbsi_is_tabulated(const gbsi_compile *c, size_t f)
{
    const gbsi_factors *factors = c->factors;
    uint64_t n = 1;
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        n *= c->model->arity[factors->scope[e]];
        if (n > TABULATE_TERM) {
            return false;
        }
    }
    return true;
}

/* Adds the properties of a factor of two variables to the profiles of its variables. */
static void add_pair(gbsi_compile *c, size_t f)
{
    const uint32_t *scope = c->factors->scope + c->factors->scope_start[f];
    const gbs_factor_kind kind = (gbs_factor_kind)c->factors->kind[f];
    const uint64_t k[2] = {c->model->arity[scope[0]], c->model->arity[scope[1]]};
    double potts = 0.0;
    uint32_t needs = is_potts(c, f, &potts) ? 0 : GBSI_NEEDS_NO_POTTS;
    needs |= kind == GBS_FACTOR_LOGICAL && k[0] * k[1] > TABULATE_LIMIT ? GBSI_NEEDS_LOGICAL : 0;
    needs |= kind == GBS_FACTOR_POTTS && k[0] * k[0] > TABULATE_LIMIT ? GBSI_NEEDS_WIDE_POTTS : 0;
    for (uint32_t q = 0; q < 2; ++q) {
        gbsi_profile *p = &c->profile[scope[q]];
        const double coupling = gbsi_coupling_of(c, f, q, NULL);
        if (p->n_pairs++ == 0) {
            p->coupling = coupling;
        }
        p->needs |= needs;
        p->needs |= k[1 - q] > 2 ? GBSI_NEEDS_WIDE_PAIR : 0;
        p->needs |= p->coupling == coupling ? 0 : GBSI_NEEDS_COUPLINGS;
    }
}

/* Prefetches the profiles that later factors need, because the profiles of a large model are
 * scattered in memory. */
static void look_ahead(const gbsi_compile *c, size_t f)
{
    const gbsi_factors *factors = c->factors;
    const size_t from = factors->scope_start[f] + ENDS_AHEAD;
    const size_t to = factors->scope_start[f + 1] + ENDS_AHEAD;
    const size_t n_ends = factors->scope_start[factors->n_factors];
    for (size_t e = from; e < to && e < n_ends; ++e) {
        __builtin_prefetch(&c->profile[factors->scope[e]], 1);
    }
}

/* Adds the properties of factor f to the profiles of its variables. @return false if a variable has
 * too many factors to count. */
static bool add_factor(gbsi_compile *c, size_t f)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t n = gbsi_scope_size(factors, f);
    const double magnitude = spread(c, f, n);
    const int16_t grain = gbsi_grain_of(c, f);
    uint32_t needs = c->model->has_zeros[f] != 0 ? GBSI_NEEDS_ZEROS : 0;
    if (gbsi_is_noisy(factors->kind[f])) {
        needs |= GBSI_NEEDS_NOISY;
    } else if (n > 2) {
        const bool table = factors->kind[f] == GBS_FACTOR_TABLE || gbsi_is_tabulated(c, f);
        needs |= table ? GBSI_NEEDS_TABLES : GBSI_NEEDS_LOGICAL;
    }
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        gbsi_profile *p = &c->profile[factors->scope[e]];
        p->needs |= needs;
        p->magnitude += magnitude;
        p->grain = grain < p->grain ? grain : p->grain;
        if (p->n_factors++ == UINT32_MAX) {
            return false;
        }
    }
    if (n == 2) {
        add_pair(c, f);
    }
    return true;
}

/* Whether weights can be multiplied instead of adding logarithms. This requires that products
 * cannot overflow, and that they are as precise as the sums. */
static bool is_linear(const gbsi_compile *c, const gbsi_profile *p)
{
    return !c->options.heated && p->magnitude <= GBSI_LINEAR_SPAN &&
           p->n_factors <= GBSI_LINEAR_DEGREE;
}

/* Whether float sums of log-weights would be too imprecise [M13]. In 0/1 form, the field and
 * coupling of a pairwise table can be three times as large as the spread of the table. */
static bool needs_double(const gbsi_compile *c, const gbsi_profile *p)
{
    const double largest = 3.0 * p->magnitude;
    const double limit = c->options.coarse ? GBSI_COARSE_LIMIT : GBSI_ROUNDING_LIMIT;
    return ((double)p->n_factors + 2.0) * 0x1p-24 * largest > limit &&
           !gbsi_sums_are_exact(largest, p->grain);
}

static uint8_t type_of(const gbsi_compile *c, uint32_t v)
{
    const gbsi_profile *p = &c->profile[v];
    const bool odds = c->model->arity[v] == 2 && (p->needs & GBSI_NEEDS_ZEROS) == 0;
    const bool noisy = (p->needs & GBSI_NEEDS_NOISY) != 0;
    const bool linear = !noisy && is_linear(c, p);
    const unsigned form = (odds ? GBSI_ODDS : 0u) | (linear ? GBSI_LINEAR : 0u);
    const bool tables = (p->needs & GBSI_NEEDS_TABLES) != 0;
    if (noisy || (!linear && needs_double(c, p))) {
        return gbsi_type_of(GBSI_CLASS_PRECISE, form);
    }
    if ((p->needs & GBSI_NEEDS_LOGICAL) != 0) {
        return gbsi_type_of(GBSI_CLASS_LOGICAL, form);
    }
    if (!tables && odds && (p->needs & GBSI_NEEDS_WIDE_PAIR) == 0) {
        return gbsi_type_of(GBSI_CLASS_ISING, form);
    }
    if (!tables && (p->needs & (GBSI_NEEDS_NO_POTTS | GBSI_NEEDS_ZEROS)) == 0) {
        return gbsi_type_of(GBSI_CLASS_POTTS, form);
    }
    if ((p->needs & GBSI_NEEDS_WIDE_POTTS) != 0) {
        return gbsi_type_of(GBSI_CLASS_LOGICAL, form);
    }
    return gbsi_type_of(tables ? GBSI_CLASS_TABLE : GBSI_CLASS_PAIRWISE, form);
}

gbs_status gbsi_classify(gbsi_compile *c, gbs_error *err)
{
    const uint32_t n = c->model->n_variables;
    c->profile = gbsi_alloc_array_zero(n, sizeof *c->profile);
    GBSI_PASS(GBSI_HAVE(err, "plan", c->profile));
    for (uint32_t v = 0; v < n; ++v) {
        c->profile[v].grain = GBSI_GRAIN_ANY;
    }
    for (size_t f = 0; f < c->factors->n_factors; ++f) {
        look_ahead(c, f);
        if (gbsi_compile_spend(c, 8, err) < 0) {
            return GBS_ERR_STOPPED;
        }
        if (!add_factor(c, f)) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "plan: a variable has more than %u factors",
                             UINT32_MAX);
        }
    }
    for (uint32_t v = 0; v < n; ++v) {
        c->profile[v].type = type_of(c, v);
    }
    return GBS_OK;
}
