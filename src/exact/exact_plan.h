/* SPDX-License-Identifier: Apache-2.0 */
/* What an exact answer takes, before it is taken: long factors as chains, an elimination order,
 * the junction trees of the components that fit. */
#ifndef GBSI_EXACT_EXACT_PLAN_H
#define GBSI_EXACT_EXACT_PLAN_H

#include "exact/junction_tree.h"

#define GBSI_AUTO_ENTRIES (UINT64_C(1) << 26) /* `auto` answers exactly up to here */
#define GBSI_MOST_ENTRIES                                                  \
    (UINT64_C(1) << 32) /* of any component: offsets in blocks are 32 bits \
                         */

typedef struct gbsi_exact_limits {
    uint64_t entries;    /* table entries of one component, at most GBSI_MOST_ENTRIES */
    uint64_t bytes;      /* of calibration, beside the model */
    bool maximise;       /* all variables are maximised over */
    const uint8_t *late; /* NULL, or [model variables] 1: these are maximised over, after the others
                            are summed out */
    const gbsi_edges *extra; /* NULL, or pairs that must share a clique */
    bool thorough;           /* look longer for a good order where tables are large */
} gbsi_exact_limits;

typedef struct gbsi_exact_plan {
    const gbsi_conditioned *model; /* as given, borrowed */
    gbsi_conditioned *chains;      /* with long factors as chains; NULL: there are none */
    gbsi_graph *graph;             /* of chains or with extra pairs; NULL: the caller's will do */
    gbsi_elimination *elimination; /* without extra pairs, components numbered as the model's */
    uint8_t *maximise;             /* [variables] or NULL */
} gbsi_exact_plan;

/* @param graph of the model without extra edges; borrowed while this runs. */
gbs_status gbsi_exact_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                               const gbsi_exact_limits *limits, gbsi_exact_plan **out,
                               gbs_error *err);
void gbsi_exact_plan_free(gbsi_exact_plan *plan);

/* Whether the search for component c ended well and its tables are within the limits. Messages
 * count when the tree is there. */
bool gbsi_exact_fits(const gbsi_exact_plan *plan, uint32_t c);

/* The trees of some components; the plan may go afterwards. @param take [components], all of them
 * fitting. */
gbs_status gbsi_exact_plan_tree(gbsi_exact_plan *plan, const uint8_t *take, gbsi_tree **out,
                                gbs_error *err);

/* GBS_ERR_LIMIT if it and the work on it would exceed the limit of bytes. @param all as
 * gbsi_tree_work_bytes(). */
gbs_status gbsi_exact_check_bytes(const gbsi_tree *tree, bool all, uint64_t bytes, gbs_error *err);

/* GBS_ERR_LIMIT saying of component c what its tables would take. @param variable of the user, to
 * name it by. */
gbs_status gbsi_exact_refuse(const gbsi_exact_plan *plan, uint32_t c, uint32_t variable,
                             const gbsi_exact_limits *limits, gbs_error *err);

/* What the search takes, at most. */
uint64_t gbsi_exact_search_bytes(const gbsi_conditioned *model);
/* GBS_ERR_LIMIT if the search itself would exceed the limit of bytes. */
gbs_status gbsi_exact_check_search(const gbsi_conditioned *model, uint64_t bytes, gbs_error *err);

#endif
