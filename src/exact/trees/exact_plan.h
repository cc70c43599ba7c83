/* SPDX-License-Identifier: Apache-2.0 */
/* Plans exact inference before any table is allocated: long factors become chains, an elimination
 * order is searched, and components whose tables fit get a junction tree. */
#ifndef GBSI_TREES_EXACT_PLAN_H
#define GBSI_TREES_EXACT_PLAN_H

#include "trees/junction_tree.h"

/* The time that one table entry takes with each gbsi_keep, in nanoseconds of one thread. It
 * includes the time in which the operating system clears new pages. Measured on fifteen models of 2
 * million entries or more, with AVX2, on a machine with other load: 1.7 to 7 (mostly 3) on the way
 * up; 4 to 20 (mostly 7) with tables; 4.5 to 17 (mostly 9) with only messages kept. */
#define GBSI_STACK_NS    4.0
#define GBSI_TABLES_NS   10.0
#define GBSI_MESSAGES_NS 12.0
/* The smallest number of table entries of a tree for which threads are started. */
#define GBSI_SHARED_ENTRIES ((size_t)1 << 18)
#define GBSI_MOST_ENTRIES                                                \
    (UINT64_C(1) << 32) /* per component: offsets in blocks have 32 bits \
                         */

typedef struct gbsi_exact_limits {
    uint64_t entries; /* table entries of one component, at most GBSI_MOST_ENTRIES */
    uint64_t bytes;   /* bytes that calibration may take, not counting the model */
    uint64_t steps;   /* limit on the steps of the search for an order; 0: a limit in proportion to
                         the tables */
    bool up_only;     /* only ln Z is wanted, for which gbsi_tree_up() is enough */
    bool maximise;    /* all variables are maximised over */
    const uint8_t *late; /* NULL, or [model variables] 1: the variable is maximised over, after the
                            other variables are summed out */
    bool any_order; /* `late` variables may be maximised over before other variables are summed out,
                       which gives an upper bound */
    const gbsi_edges *extra; /* NULL, or pairs that must share a clique */
    gbsi_watch
        *watch; /* borrowed; may stop the search for an order; NULL: nothing stops the search */
} gbsi_exact_limits;

typedef struct gbsi_exact_plan {
    const gbsi_conditioned *model; /* the caller's model, borrowed */
    gbsi_conditioned *chains; /* the model with chains for long factors; NULL if no factor is long,
                                 or if a tree now owns the model with chains */
    const gbsi_conditioned *eliminated; /* the model of the elimination order, which is the model
                                           with chains if there is one, else the original model */
    gbsi_graph *graph; /* graph with chains and extra pairs; NULL: the caller's graph was used */
    gbsi_elimination
        *elimination;  /* has the component numbers of the model if there are no extra pairs */
    uint8_t *maximise; /* [variables] 1 if the variable is maximised over; NULL if no variable is */
    uint64_t most_entries; /* entries allowed for one component: the smaller of limits->entries and
                              GBSI_MOST_ENTRIES */
} gbsi_exact_plan;

/* @param graph the graph of the model, without extra edges; borrowed during the call. */
gbs_status gbsi_exact_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                               const gbsi_exact_limits *limits, gbsi_exact_plan **out,
                               gbs_error *err);
void gbsi_exact_plan_free(gbsi_exact_plan *plan);

/* Frees a tree of the plan, which can then make another. @param tree may be NULL. */
void gbsi_exact_plan_take_back(gbsi_exact_plan *plan, gbsi_tree *tree);

/* Returns the model whose variables the elimination order lists: the model with chains if there is
 * one. */
const gbsi_conditioned *gbsi_exact_plan_model(const gbsi_exact_plan *plan);

/* Returns the time of one table entry: one of the three constants above. */
double gbsi_exact_entry_ns(gbsi_keep keep);

/* Returns the bytes of a tree and of the work on it. */
uint64_t gbsi_exact_bytes(const gbsi_tree *tree, gbsi_keep keep);

/* Chooses how to calibrate a tree within `bytes`: all tables are kept if they fit; else only
 * messages are kept, even if they do not fit either. @param up_only whether only gbsi_tree_up()
 * will be called. */
gbsi_keep gbsi_exact_keep(const gbsi_tree *tree, bool up_only, uint64_t bytes);

/* Makes trees of as many components as fit within the limits together; components of fewer entries
 * come first.
 *
 * @param ns    limit on the predicted time of all trees, in nanoseconds.
 * @param bytes limit on the bytes of the trees and of the work on them, if trees answer all
 * components; half of the limit applies if other components are left to be sampled.
 * @param take  [components] out: 1 if a component has a tree.
 * @param out   out: the trees; NULL if no component has a tree. */
gbs_status gbsi_exact_plan_choose(gbsi_exact_plan *plan, bool up_only, double ns, uint64_t bytes,
                                  uint8_t *take, gbsi_tree **out, gbs_error *err);

/* Whether component c has an elimination order and its tables are within the limits. The memory of
 * messages is checked later, once the tree is made. */
bool gbsi_exact_fits(const gbsi_exact_plan *plan, uint32_t c);

/* Makes the trees of the components with take[c] != 0. Each of these components must fit. The plan
 * may be freed afterwards. @param take [components]. */
gbs_status gbsi_exact_plan_tree(gbsi_exact_plan *plan, const uint8_t *take, gbsi_tree **out,
                                gbs_error *err);

/* Returns GBS_ERR_LIMIT if the tree and the work on it take more than `bytes` bytes. */
gbs_status gbsi_exact_check_bytes(const gbsi_tree *tree, gbsi_keep keep, uint64_t bytes,
                                  gbs_error *err);

/* @return GBS_ERR_LIMIT, with the size of the tables of component c. @param variable a variable of
 * the component in the user's numbering, for the message. */
gbs_status gbsi_exact_refuse(const gbsi_exact_plan *plan, uint32_t c, uint32_t variable,
                             gbs_error *err);

/* Returns an upper bound on the bytes that the search for an elimination order takes. */
uint64_t gbsi_exact_search_bytes(const gbsi_conditioned *model);
/* @return GBS_ERR_LIMIT if the search itself would take more than this many bytes. */
gbs_status gbsi_exact_check_search(const gbsi_conditioned *model, uint64_t bytes, gbs_error *err);

#endif
