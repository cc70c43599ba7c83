/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of cases: cases.c makes it, and cases_answer.c answers cases with it. */
#ifndef GBSI_ASK_CASES_H
#define GBSI_ASK_CASES_H

#include "cases/case_tree.h"
#include "gibbsite/cases.h"
#include "store/model.h"

struct gbs_cases {
    const gbs_model *model;
    gbs_evidence *evidence; /* a copy of the evidence common to all cases */
    bool has_evidence;
    gbs_run_options options;
    uint32_t n_columns, n_query;
    uint32_t *column, *query;
    size_t n_states;
    double begun_s, told_s; /* told_s: time at which a call last reported progress */
    double log_base;        /* ln Z given the common evidence; NAN if it is not known */
    gbsi_case_tree *tree;   /* NULL if each case is answered by a run */
    gbsi_pool *pool;
    gbsi_case_worker **worker; /* [members of the pool] data of each thread */
    uint64_t n_answered;
    double *marginal; /* [2][states of the model] marginals and their standard errors from a run;
                         NULL before the first run */
};

#endif
