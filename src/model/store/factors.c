/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "store/factors.h"

void gbsi_factors_free(gbsi_factors *factors)
{
    gbsi_room arrays[GBSI_FACTORS_ARRAYS];
    gbsi_factors_list(factors, arrays);
    gbsi_rooms_free(arrays, GBSI_FACTORS_ARRAYS);
}

void gbsi_factors_list(gbsi_factors *f, gbsi_room arrays[GBSI_FACTORS_ARRAYS])
{
    const size_t n = f->n_factors;
    const size_t n_scope = f->scope_start == NULL ? 0 : f->scope_start[n];
    const size_t n_entries = f->table_start == NULL ? 0 : f->table_start[f->n_tables];
    const gbsi_room all[GBSI_FACTORS_ARRAYS] = {
        GBSI_ROOM(f->kind, n, NULL),
        GBSI_ROOM(f->scope_start, n + 1, NULL),
        GBSI_ROOM(f->scope, n_scope, NULL),
        GBSI_ROOM(f->literal, f->literal == NULL ? 0 : n_scope, NULL),
        GBSI_ROOM(f->weight, n, NULL),
        GBSI_ROOM(f->aux, n, NULL),
        GBSI_ROOM(f->table_start, f->n_tables + 1, NULL),
        GBSI_ROOM(f->table, n_entries, NULL),
        GBSI_ROOM(f->logical, f->n_logical, NULL),
    };
    memcpy(arrays, all, sizeof all);
}

/* States of variables, given either by variable id or by position in the scope of one factor. */
typedef struct states {
    const uint32_t *x;
    bool by_position;
} states;

/* Returns the state of the variable scope[i], for a factor whose scope begins at scope[first]. */
static uint32_t state_of(const gbsi_factors *factors, states s, size_t first, size_t i)
{
    return s.x[s.by_position ? i - first : factors->scope[i]];
}

static double table_value(const gbsi_factors *factors, const uint32_t *arity, size_t f, states s)
{
    const size_t first = factors->scope_start[f];
    size_t entry = 0;
    for (size_t i = first; i < factors->scope_start[f + 1]; ++i) {
        const uint32_t k = arity[factors->scope[i]];
        assert(state_of(factors, s, first, i) < k);
        entry = entry * k + state_of(factors, s, first, i);
    }
    return factors->table[factors->table_start[factors->aux[f]] + entry];
}

/* Returns J prod s_k, where s is -1 in state 0 and 1 in state 1. The number of states 0 determines
 * the sign. */
static double spin_value(const gbsi_factors *factors, size_t f, states s)
{
    const size_t first = factors->scope_start[f];
    bool odd = false;
    for (size_t i = first; i < factors->scope_start[f + 1]; ++i) {
        odd ^= state_of(factors, s, first, i) == 0;
    }
    return odd ? -factors->weight[f] : factors->weight[f];
}

static double logical_factor_value(const gbsi_factors *factors, size_t f, states s)
{
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    const bool free_head = logical->head == GBSI_HEAD_FREE;
    const size_t first = factors->scope_start[f];
    const size_t end = factors->scope_start[f + 1];
    const size_t body_end = end - (free_head ? 1 : 0);
    uint32_t n_true = logical->n_body_true;
    for (size_t i = first; i < body_end; ++i) {
        n_true += state_of(factors, s, first, i) == factors->literal[i];
    }
    const bool head = free_head
                          ? state_of(factors, s, first, body_end) == factors->literal[body_end]
                          : logical->head == GBSI_HEAD_TRUE;
    return gbsi_logical_value(logical, factors->weight[f], n_true, head);
}

static double level_value(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                          const gbsi_noisy *noisy, states s)
{
    const size_t first = factors->scope_start[f];
    const double *log_q = noisy->log_q + 1;
    double log_none = noisy->log_q[0];
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        log_none += log_q[state_of(factors, s, first, first + i)];
        log_q += arity[noisy->parent[i]];
    }
    const uint32_t state = noisy->child == GBSI_NONE
                               ? noisy->effect
                               : state_of(factors, s, first, first + noisy->n_parents);
    return gbsi_noisy_value(log_none, gbsi_noisy_part_of(noisy->effect, noisy->falling, state));
}

static double noisy_value(const gbsi_factors *factors, const uint32_t *arity, size_t f, states s)
{
    const uint32_t n = gbsi_noisy_n_levels(factors, arity, f);
    double sum = 0.0;
    for (uint32_t level = 0; level < n; ++level) {
        const gbsi_noisy noisy = gbsi_noisy_level(factors, arity, f, level);
        sum += level_value(factors, arity, f, &noisy, s);
    }
    return sum;
}

static double value_of(const gbsi_factors *factors, const uint32_t *arity, size_t f, states s)
{
    const size_t first = factors->scope_start[f];
    switch (factors->kind[f]) {
    case GBS_FACTOR_TABLE:
        return table_value(factors, arity, f, s);
    case GBS_FACTOR_FIELD:
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_SPIN:
        return spin_value(factors, f, s);
    case GBS_FACTOR_POTTS:
        return state_of(factors, s, first, first) == state_of(factors, s, first, first + 1)
                   ? factors->weight[f]
                   : 0.0;
    case GBS_FACTOR_LOGICAL:
        return logical_factor_value(factors, f, s);
    default:
        assert(gbsi_is_noisy(factors->kind[f]));
        return noisy_value(factors, arity, f, s);
    }
}

double gbsi_factor_value(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                         const uint32_t *x)
{
    return value_of(factors, arity, f, (states){.x = x, .by_position = false});
}

double gbsi_factor_value_at(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            const uint32_t *at)
{
    return value_of(factors, arity, f, (states){.x = at, .by_position = true});
}

static double larger(double most, double x)
{
    return isfinite(x) && fabs(x) > most ? fabs(x) : most;
}

/* Returns an upper bound of the magnitude of a noisy factor: of the logarithm of the product
 * over parents, or of ln(1 - product), which is above -750 in double. */
static double noisy_magnitude(const gbsi_factors *factors, size_t f)
{
    const size_t table = factors->aux[f];
    double sum = 750.0;
    for (size_t i = factors->table_start[table]; i < factors->table_start[table + 1]; ++i) {
        sum += larger(0.0, factors->table[i]);
    }
    return sum;
}

double gbsi_factors_magnitude(const gbsi_factors *factors)
{
    const size_t n_entries = factors->n_tables == 0 ? 0 : factors->table_start[factors->n_tables];
    double most = 0.0;
    for (size_t i = 0; i < n_entries; ++i) {
        most = larger(most, factors->table[i]);
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (factors->kind[f] == GBS_FACTOR_LOGICAL) {
            const double literals = factors->logical[factors->aux[f]].n_body + 1.0;
            most = larger(most, factors->weight[f] * literals);
        } else if (gbsi_is_noisy(factors->kind[f])) {
            most = larger(most, noisy_magnitude(factors, f));
        } else {
            most = larger(most, factors->weight[f]);
        }
    }
    return most;
}

size_t gbsi_factor_size(const gbsi_factors *factors, size_t f)
{
    const size_t *start = factors->kind[f] == GBS_FACTOR_TABLE
                              ? factors->table_start + factors->aux[f]
                              : factors->scope_start + f;
    return start[1] - start[0];
}

bool gbsi_any_zero(const double *entry, size_t n, gbsi_watch *watch)
{
    /* number of entries between two looks at the watch; an entry takes about a nanosecond */
    enum { TOGETHER = 1 << 12 };
    bool any = false;
    for (size_t done = 0; !any && done < n; done += TOGETHER) {
        const size_t end = n - done < TOGETHER ? n : done + TOGETHER;
        for (size_t e = done; e < end; ++e) {
            any |= entry[e] == -INFINITY;
        }
        if (gbsi_watch_spend(watch, end - done)) {
            break;
        }
    }
    return any;
}

bool gbsi_factor_has_zeros(const gbsi_factors *factors, size_t f)
{
    if (gbsi_is_noisy(factors->kind[f])) { /* if the leak has inhibition 1, it is possible that no
                                              cause acts */
        const size_t *start = factors->table_start + factors->aux[f];
        const double *log_q = factors->table + start[0];
        const bool leaks = !gbsi_noisy_is_graded(factors->kind[f]) && log_q[0] < 0.0;
        return !leaks || (factors->kind[f] != GBSI_FACTOR_EFFECT &&
                          gbsi_any_zero(log_q, start[1] - start[0], NULL));
    }
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        return gbsi_any_zero(&factors->table[factors->table_start[factors->aux[f]]],
                             gbsi_factor_size(factors, f), NULL);
    }
    /* Potts couplings may be minus infinity, logical weights plus infinity. Every hard logical
     * function that is not constant forbids some configuration, and a conditioned model has no
     * constant factors. */
    return isinf(factors->weight[f]) != 0;
}
