/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: small random models with all kinds of factors, hard zeros and arities other than
 * powers of two, and a walk through all their assignments. */
#ifndef GBSI_GENERATE_RANDOM_MODELS_H
#define GBSI_GENERATE_RANDOM_MODELS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/test_random.h"
#include "store/model.h"

enum { MOST_VARIABLES = 6 };

static inline uint32_t random_below(uint64_t *seed, uint32_t n)
{
    return (uint32_t)((next_random(seed) >> 33) % n);
}

/* Returns a multiple of 1/8 in [-4, 4]; sums of such numbers are exact. */
static inline double random_weight(uint64_t *seed)
{
    return ((double)random_below(seed, 65) - 32.0) / 8.0;
}

/* Draws up to `most` distinct variables, all of arity 2 if `binary`. @return their number. */
static inline uint32_t random_scope(uint64_t *seed, uint32_t n, const uint32_t *arity,
                                    uint32_t most, int binary, uint32_t *scope)
{
    uint32_t found = 0;
    for (uint32_t tries = 0; tries < 4 * most && found < most; ++tries) {
        const uint32_t v = random_below(seed, n);
        int seen = binary && arity[v] != 2;
        for (uint32_t i = 0; i < found; ++i) {
            seen |= scope[i] == v;
        }
        if (!seen) {
            scope[found++] = v;
        }
    }
    return found;
}

static inline void add_random_table(gbs_builder *b, uint64_t *seed, const uint32_t *arity,
                                    uint32_t n, const uint32_t *scope, uint32_t zeros)
{
    double logw[4096];
    size_t n_entries = 1;
    uint32_t table = 0;
    for (uint32_t i = 0; i < n; ++i) {
        n_entries *= arity[scope[i]];
    }
    for (size_t e = 0; e < n_entries; ++e) {
        logw[e] = random_below(seed, 100) < zeros ? -INFINITY : random_weight(seed);
    }
    assert_int_equal(gbs_builder_add_table(b, n_entries, logw, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, NULL), GBS_OK);
    if (random_below(seed, 2) == 0 &&
        n > 1) { /* a second factor shares the table if the arities of its scope fit */
        uint32_t other[MOST_VARIABLES];
        for (uint32_t i = 0; i < n; ++i) {
            other[i] = scope[n - 1 - i];
        }
        const gbs_status status = gbs_builder_add_table_factor(b, n, other, table, NULL);
        assert_true(status == GBS_OK || status == GBS_ERR_ARGUMENT);
    }
}

/* Adds a logical factor; some factors that would be parities become cardinalities instead. */
static inline gbs_status add_any_logical(gbs_builder *b, gbs_logical_function chosen, uint32_t n,
                                         const uint32_t *scope, const uint32_t *state,
                                         double weight)
{
    const uint32_t k = (state[0] + scope[0]) % n;
    const uint32_t which = (scope[n - 1] + n) % 4;
    if (chosen != GBS_LOGICAL_PARITY || which == 0) {
        return gbs_builder_add_logical(b, chosen, n, scope, state, weight, NULL);
    }
    const gbs_logical_function counts = which == 1   ? GBS_LOGICAL_AT_LEAST
                                        : which == 2 ? GBS_LOGICAL_AT_MOST
                                                     : GBS_LOGICAL_EXACTLY;
    return gbs_builder_add_cardinality(b, counts, which == 1 ? k + 1 : k, n, scope, state, weight,
                                       NULL);
}

static inline void add_random_logical(gbs_builder *b, uint64_t *seed, const uint32_t *arity,
                                      uint32_t n, const uint32_t *scope, uint32_t zeros)
{
    static const gbs_logical_function function[] = {
        GBS_LOGICAL_IMPLY_NATURAL,   GBS_LOGICAL_OR,        GBS_LOGICAL_AND,    GBS_LOGICAL_EQUAL,
        GBS_LOGICAL_IS_TRUE,         GBS_LOGICAL_LINEAR,    GBS_LOGICAL_RATIO,  GBS_LOGICAL_LOGICAL,
        GBS_LOGICAL_AND_CATEGORICAL, GBS_LOGICAL_IMPLY_MLN, GBS_LOGICAL_CLAUSE, GBS_LOGICAL_PARITY};
    uint32_t state[MOST_VARIABLES];
    for (uint32_t i = 0; i < n; ++i) {
        state[i] = random_below(seed, arity[scope[i]]);
    }
    const gbs_logical_function chosen = function[random_below(seed, 12)];
    const int hard = random_below(seed, 100) < zeros;
    if (!hard || add_any_logical(b, chosen, n, scope, state, INFINITY) != GBS_OK) {
        assert_int_equal(add_any_logical(b, chosen, n, scope, state, random_weight(seed)), GBS_OK);
    }
}

/* Adds a noisy factor. The last variable of the scope is the child; the others are parents with
 * any number of states. */
static inline void add_random_noisy(gbs_builder *b, uint64_t *seed, const uint32_t *arity,
                                    uint32_t n, const uint32_t *scope, uint32_t zeros)
{
    double inhibition[64];
    size_t n_entries = 0;
    for (uint32_t i = 0; i + 1 < n; ++i) {
        for (uint32_t a = 0; a < arity[scope[i]]; ++a) {
            const double q = (random_below(seed, 64) + 0.5) / 64.0;
            inhibition[n_entries++] = random_below(seed, 100) < zeros ? 0.0 : a == 0 ? 1.0 : q;
        }
    }
    const double leak = random_below(seed, 100) < 2 * zeros ? 0.0 : random_below(seed, 8) / 16.0;
    const gbs_factor_kind kind =
        random_below(seed, 2) == 0 ? GBS_FACTOR_NOISY_OR : GBS_FACTOR_NOISY_AND;
    assert_int_equal(gbs_builder_add_noisy(b, kind, scope[n - 1], n - 1, scope, n_entries,
                                           inhibition, zeros == 0 ? leak + 0.01 : leak, NULL),
                     GBS_OK);
}

/* Adds a noisy-max or noisy-min in which some causes never have an effect, and others always have
 * the same effect. */
static inline void add_random_maximum(gbs_builder *b, uint64_t *seed, const uint32_t *arity,
                                      uint32_t n, const uint32_t *scope, uint32_t zeros)
{
    const uint32_t k = arity[scope[n - 1]];
    double effect[256];
    size_t n_columns = 1; /* the column of the leak comes first */
    for (uint32_t i = 0; i + 1 < n; ++i) {
        n_columns += arity[scope[i]];
    }
    assert_true(n_columns * k <= 256);
    for (size_t i = 0; i < n_columns; ++i) {
        double sum = 0.0;
        const uint32_t alone = random_below(seed, k);
        const int hard = random_below(seed, 100) < 2 * zeros;
        for (uint32_t a = 0; a < k; ++a) {
            const double p = random_below(seed, 100) < zeros ? 0.0 : 1.0 + random_below(seed, 9);
            effect[i * k + a] = a == alone ? 3.0 : hard ? 0.0 : p;
            sum += effect[i * k + a];
        }
        for (uint32_t a = 0; a < k; ++a) {
            effect[i * k + a] /= sum;
        }
    }
    const gbs_factor_kind kind =
        random_below(seed, 2) == 0 ? GBS_FACTOR_NOISY_MAX : GBS_FACTOR_NOISY_MIN;
    assert_int_equal(gbs_builder_add_noisy_max(b, kind, scope[n - 1], n - 1, scope,
                                               (n_columns - 1) * k, effect + k,
                                               random_below(seed, 4) == 0 ? NULL : effect, NULL),
                     GBS_OK);
}

/* Adds a factor of a random kind. @param zeros percentage of entries and weights that are hard. */
static inline void add_random_factor(gbs_builder *b, uint64_t *seed, uint32_t n,
                                     const uint32_t *arity, uint32_t zeros)
{
    uint32_t scope[MOST_VARIABLES];
    const uint32_t kind = random_below(seed, 6);
    const uint32_t most = 1 + random_below(seed, n < 4 ? n : 4);
    const int binary =
        kind == GBS_FACTOR_FIELD || kind == GBS_FACTOR_ISING || kind == GBS_FACTOR_SPIN;
    const uint32_t found =
        random_scope(seed, n, arity, kind == GBS_FACTOR_POTTS ? 2 : most, binary, scope);
    const double weight = random_weight(seed);
    if (kind == GBS_FACTOR_TABLE) {
        add_random_table(b, seed, arity, random_below(seed, 20) == 0 ? 0 : found, scope,
                         found == 0 ? 0 : zeros);
    } else if (kind == GBS_FACTOR_LOGICAL && found > 0) {
        add_random_logical(b, seed, arity, found, scope, zeros);
    } else if (kind == GBS_FACTOR_FIELD && found > 0) {
        assert_int_equal(gbs_builder_add_field(b, scope[0], weight, NULL), GBS_OK);
    } else if (kind == GBS_FACTOR_ISING && found > 1) {
        assert_int_equal(gbs_builder_add_ising(b, scope[0], scope[1], weight, NULL), GBS_OK);
    } else if (kind == GBS_FACTOR_SPIN && found > 0) {
        assert_int_equal(gbs_builder_add_spin(b, found, scope, weight, NULL), GBS_OK);
    } else if (kind == GBS_FACTOR_POTTS && found == 2 && arity[scope[0]] == arity[scope[1]]) {
        const int hard = random_below(seed, 100) < zeros;
        assert_int_equal(
            gbs_builder_add_potts(b, scope[0], scope[1], hard ? -INFINITY : weight, NULL), GBS_OK);
    }
}

/* Upper bounds on the size of a random model. */
typedef struct random_size {
    uint32_t variables; /* largest number of variables, at most MOST_VARIABLES; the least is 1 */
    uint32_t states;    /* largest number of states, at most 5; the least is 1, and half of the
                           variables have 2 states */
    uint32_t factors;   /* largest number of factors */
    uint32_t noisy;     /* largest number of noisy factors in addition to these factors */
} random_size;

static inline gbs_model *random_model_of(uint64_t *seed, random_size most, uint32_t zeros)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[MOST_VARIABLES];
    const uint32_t n = 1 + random_below(seed, most.variables);
    /* some models have one arity for all variables, which makes Potts factors and shared tables
     * common */
    const int same = random_below(seed, 3) == 0;
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = same && v > 0                ? arity[0]
                   : random_below(seed, 2) == 0 ? 2
                                                : 1 + random_below(seed, most.states);
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, arity, NULL, NULL), GBS_OK);
    for (uint32_t f = random_below(seed, most.factors + 1); f > 0; --f) {
        add_random_factor(b, seed, n, arity, zeros);
    }
    for (uint32_t f = most.noisy == 0 ? 0 : random_below(seed, most.noisy + 1); f > 0; --f) {
        uint32_t scope[MOST_VARIABLES];
        const uint32_t found = random_scope(seed, n, arity, n, 0, scope);
        if (arity[scope[found - 1]] == 2) {
            add_random_noisy(b, seed, arity, found, scope, zeros);
        } else if (arity[scope[found - 1]] > 2) {
            add_random_maximum(b, seed, arity, found, scope, zeros);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static inline gbs_model *random_model(uint64_t *seed, uint32_t zeros)
{
    return random_model_of(seed, (random_size){MOST_VARIABLES - 1, 4, 9, 0}, zeros);
}

static inline gbs_model *random_noisy_model(uint64_t *seed, uint32_t zeros)
{
    return random_model_of(seed, (random_size){MOST_VARIABLES - 1, 4, 9, 2}, zeros);
}

/* Moves x to the next assignment; the state of variable 0 changes fastest. @return 0 after the last
 * assignment; x is then all 0 again. */
static inline int next_assignment(uint32_t n, const uint32_t *arity, uint32_t *x)
{
    for (uint32_t v = 0; v < n; ++v) {
        if (++x[v] < arity[v]) {
            return 1;
        }
        x[v] = 0;
    }
    return 0;
}

#endif
