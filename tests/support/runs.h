/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that run models for tests: to the end, or the test fails. */
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

/* Chooses a draw with its keys and rule.
 * @param keys, rule 0: GBS_KEYS_AUTO, GBS_HERD_RULE_AUTO. */
void test_choose_draw(gbs_run_options *options, int draw, int keys, int rule);

void test_drop(test_answer *a);

/* @param variable observed in state 1; -1: none. */
gbs_evidence *test_observe(const gbs_model *model, int variable);

test_answer test_run_once(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options);

/* @return exact answers by junction trees or enumeration. */
test_answer test_exactly(const gbs_model *model, const gbs_evidence *evidence);

/* Fails if an estimate is too far from the exact value.
 * @param what names the estimate in the message.
 * @return how many had a standard error. */
size_t test_close(const char *what, const gbs_run_options *options, const test_answer *found,
                  const test_answer *exact);

/* @return a hash of all draws of one of the chains of a run, and of their densities. */
uint64_t test_trajectory(const gbs_model *model, const gbs_evidence *evidence,
                         gbs_run_options options, uint64_t chains, uint32_t chain);

/* Asserts that the digest is the same on every available instruction set. */
void test_same_bits(const gbs_model *model, const gbs_evidence *evidence,
                    const gbs_run_options *options);

/* Asserts that gbs_run_new() returns GBS_ERR_ARGUMENT, makes no run, and that its message
 * contains `why`. */
void test_refused(const gbs_model *model, const gbs_run_options *options, const char *why);

#endif
