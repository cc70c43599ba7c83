/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as tests make them: to the end, or the test fails. */
#ifndef GBSI_TESTS_RUNS_H
#define GBSI_TESTS_RUNS_H

#include "base/test_scale.h"
#include "gibbsite/gibbsite.h"

typedef struct test_answer {
    size_t n; /* entries of p and mcse: states of all variables */
    double *p, *mcse;
    gbs_report report; /* its pointers are gone with the run */
    char digest[33];
} test_answer;

/* A draw with its keys and rule. @param keys, rule 0: GBS_KEYS_AUTO, GBS_HERD_RULE_AUTO. */
void test_choose_draw(gbs_run_options *options, int draw, int keys, int rule);

void test_drop(test_answer *a);

/* @param variable observed in state 1; -1: none. */
gbs_evidence *test_observe(const gbs_model *model, int variable);

test_answer test_run_once(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options);

/* By junction trees or enumeration. */
test_answer test_exactly(const gbs_model *model, const gbs_evidence *evidence);

/* Fails where an estimate is too far from what is exact. @param what names it then.
 * @return how many had a standard error. */
size_t test_close(const char *what, const gbs_run_options *options, const test_answer *found,
                  const test_answer *exact);

/* A hash of all draws of one chain of a run of so many, and their densities. */
uint64_t test_trajectory(const gbs_model *model, const gbs_evidence *evidence,
                         gbs_run_options options, uint64_t chains, uint32_t chain);

/* One digest on every instruction set there is. */
void test_same_bits(const gbs_model *model, const gbs_evidence *evidence,
                    const gbs_run_options *options);

/* gbs_run_new() returns GBS_ERR_ARGUMENT, makes no run, and its message contains `why`. */
void test_refused(const gbs_model *model, const gbs_run_options *options, const char *why);

#endif
