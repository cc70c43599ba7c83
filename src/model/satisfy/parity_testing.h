/* SPDX-License-Identifier: Apache-2.0 */
/* Random hard parities over variables of two states, for tests. */
#ifndef GBSI_SATISFY_PARITY_TESTING_H
#define GBSI_SATISFY_PARITY_TESTING_H

#include "generate/random_models.h"

enum { MOST_BITS = 16 };

/* Adds a table that forbids one parity of some of its variables. */
static inline void add_parity_table(gbs_builder *b, uint64_t *seed, uint32_t n,
                                    const uint32_t *scope)
{
    double entry[256];
    uint32_t table = 0;
    const uint32_t size = (uint32_t)1 << n;
    const uint32_t mask = 1 + random_below(seed, size - 1);
    const unsigned odd = random_below(seed, 2);
    const bool flat = random_below(seed, 2) == 0;
    for (uint32_t i = 0; i < size; ++i) {
        const bool allowed = (unsigned)__builtin_popcount(i & mask) % 2 == odd;
        entry[i] = allowed ? (flat ? 0.25 : random_weight(seed)) : -INFINITY;
    }
    assert_int_equal(gbs_builder_add_table(b, size, entry, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, NULL), GBS_OK);
}

/* Adds a hard parity of 2 to 6 of the first n variables, which have two states; n is at least 2. */
static inline void add_random_parity(gbs_builder *b, uint64_t *seed, uint32_t n)
{
    uint32_t scope[6];
    uint32_t state[6];
    const uint32_t wanted = 2 + random_below(seed, n < 6 ? n - 1 : 5);
    for (uint32_t k = 0; k < wanted;) {
        scope[k] = random_below(seed, n);
        state[k] = random_below(seed, 2);
        uint32_t i = 0;
        while (scope[i] != scope[k]) {
            ++i;
        }
        k += i == k;
    }
    switch (random_below(seed, 4)) {
    case 0:
        assert_int_equal(gbs_builder_add_potts(b, scope[0], scope[1], -INFINITY, NULL), GBS_OK);
        break;
    case 1:
        assert_int_equal(
            gbs_builder_add_logical(b, wanted == 2 ? GBS_LOGICAL_EQUAL : GBS_LOGICAL_PARITY, wanted,
                                    scope, state, INFINITY, NULL),
            GBS_OK);
        break;
    case 2:
        assert_int_equal(
            gbs_builder_add_logical(b, GBS_LOGICAL_PARITY, wanted, scope, state, INFINITY, NULL),
            GBS_OK);
        break;
    default:
        add_parity_table(b, seed, wanted, scope);
    }
}

/* Makes a model of n variables of two states with hard parities, and with other random factors.
 * @param n 2 to MOST_BITS. */
static inline gbs_model *random_parities(uint64_t *seed, uint32_t n, uint32_t n_parities,
                                         uint32_t n_others)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[MOST_BITS];
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, arity, NULL, NULL), GBS_OK);
    for (uint32_t i = 0; i < n_parities; ++i) {
        add_random_parity(b, seed, n);
    }
    for (uint32_t i = 0; i < n_others; ++i) {
        add_random_factor(b, seed, n, arity, random_below(seed, 3) == 0 ? 30 : 0);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

#endif
