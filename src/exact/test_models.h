/* SPDX-License-Identifier: Apache-2.0 */
/* Small random models of every kind of factor, for tests. */
#ifndef GBSI_EXACT_TEST_MODELS_H
#define GBSI_EXACT_TEST_MODELS_H

#include <stdint.h>

#include "gibbsite/model.h"

#define TEST_MAX_VARIABLES 8
#define TEST_MAX_STATES    40

/* Uniform below n, one number after the other from the same start. */
void test_draws_restart(void);
uint32_t test_below(uint32_t n);

void test_ok(gbs_status status);

/* 1 to 6 variables of 1 to 5 states, up to three factors per variable, hard zeros among them. */
gbs_model *test_random_model(void);

#endif
