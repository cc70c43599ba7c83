/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_TESTS_NPY_CHECKS_H
#define GBSI_TESTS_NPY_CHECKS_H

#include "arrays/arrays.h"
#include "fuzz.h"

/* Checks that type, shape and size agree, and that every element can be read. */
static inline void fuzz_check_array(const gbsi_array *array)
{
    size_t n = 1;
    FUZZ_REQUIRE(array->type <= GBSI_ARRAY_F8 && array->n_dims <= GBSI_ARRAY_MAX_DIMS);
    for (uint32_t i = 0; i < array->n_dims; i++) {
        n *= (size_t)array->shape[i];
    }
    FUZZ_REQUIRE(gbsi_array_size(array) == n);
    volatile double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum = sum + gbsi_array_value(array, i);
    }
}

#endif
