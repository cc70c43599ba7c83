/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of cases, which cases.c makes and cases_answer.c answers with. */
#ifndef GBSI_ASK_CASES_H
#define GBSI_ASK_CASES_H

#include "cases/case_tree.h"
#include "gibbsite/cases.h"
#include "store/model.h"

struct gbs_cases {
    const gbs_model *model;
    gbs_evidence *evidence; /* a copy */
    bool has_evidence;
    gbs_run_options options;
    uint32_t n_columns, n_query;
    uint32_t *column, *query;
    size_t n_states;
    double begun_s, told_s; /* told_s: when progress was told last, by any call */
    double log_base;        /* ln Z given the evidence; NAN: not known */
    gbsi_case_tree *tree;   /* NULL: cases are runs */
    gbsi_pool *pool;
    gbsi_case_worker **worker; /* [members of the pool] */
    uint64_t n_answered;
    double *marginal; /* [2][states of the model] marginals of a run; NULL before the first */
};

#endif
