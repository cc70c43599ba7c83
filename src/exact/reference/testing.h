/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed sequence of random numbers and random models for tests. */
#ifndef GBSI_REFERENCE_TESTING_H
#define GBSI_REFERENCE_TESTING_H

#include "generate/random_models.h"

#define TEST_MAX_VARIABLES 8
#define TEST_MAX_STATES    40

static uint64_t test_seed;

static inline void test_draws_restart(void)
{
    test_seed = 11;
}

static inline uint32_t test_below(uint32_t n)
{
    return random_below(&test_seed, n);
}

static inline void test_ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

/* Returns a random model of 1 to 6 variables with 1 to 4 states each; some factors have hard zeros.
 */
static inline gbs_model *test_random_model(void)
{
    return random_model_of(&test_seed, (random_size){MOST_VARIABLES, 4, 15, 2}, test_below(3) * 10);
}

#endif
