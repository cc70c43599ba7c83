/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as tests make them: to the end, or the test fails. */
#ifndef GBSI_TESTS_RUNS_H
#define GBSI_TESTS_RUNS_H

#include "gibbsite/gibbsite.h"

typedef struct test_answer {
    size_t n; /* entries of p and mcse: states of all variables */
    double *p, *mcse;
    gbs_report report; /* its pointers are gone with the run */
    char digest[33];
} test_answer;

void test_drop(test_answer *a);

/* @param variable observed in state 1; -1: none. */
gbs_evidence *test_observe(const gbs_model *model, int variable);

test_answer test_run_once(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options);

/* One digest on every instruction set there is. */
void test_same_bits(const gbs_model *model, const gbs_evidence *evidence,
                    const gbs_run_options *options);

#endif
