/* SPDX-License-Identifier: Apache-2.0 */
/* The models of the coverage study: small enough for exact answers, of every kind. */
#ifndef GBSI_TESTS_COVERAGE_MODELS_H
#define GBSI_TESTS_COVERAGE_MODELS_H

#include <stddef.h>

#include "gibbsite/gibbsite.h"

typedef struct coverage_model {
    const char *kind; /* its class in the table of docs/coverage.md */
    const char *name;
    gbs_model *(*make)(uint32_t k);
    uint32_t k;           /* what make() is given: a size or a seed */
    int observed;         /* variable seen in state 1; -1: none */
    uint64_t max_updates; /* the budget of a run */
} coverage_model;

extern const coverage_model coverage_models[];
extern const size_t n_coverage_models;

#endif
