/* SPDX-License-Identifier: Apache-2.0 */
/* Plans exact inference before memory is taken for it: long factors become chains, an elimination
 * order is searched, and components whose tables fit get a junction tree. */
#ifndef GBSI_TREES_EXACT_PLAN_H
#define GBSI_TREES_EXACT_PLAN_H

#include "trees/junction_tree.h"

/* The time that a table entry takes with each gbsi_keep, in nanoseconds of one thread with what the
 * system takes to clear pages. Measured on fifteen models of 2 million entries or more, with AVX2
 * and beside other work: 1.7 to 7 (mostly 3) on the way up; 4 to 20 (mostly 7) with tables; 4.5 to
 * 17 (mostly 9) with messages alone. */
#define GBSI_STACK_NS    4.0
#define GBSI_TABLES_NS   10.0
#define GBSI_MESSAGES_NS 12.0
/* The least table entries of a tree for which threads are worth starting. */
#define GBSI_SHARED_ENTRIES ((size_t)1 << 18)
#define GBSI_MOST_ENTRIES                                                \
    (UINT64_C(1) << 32) /* per component: offsets in blocks have 32 bits \
                         */

typedef struct gbsi_exact_limits {
    uint64_t entries;    /* table entries of one component, at most GBSI_MOST_ENTRIES */
    uint64_t bytes;      /* bytes that calibration may take, without the model */
    uint64_t steps;      /* steps of the search for an order; 0: in proportion to the tables */
    bool up_only;        /* ln Z is all that is asked for: gbsi_tree_up() */
    bool maximise;       /* all variables are maximised over */
    const uint8_t *late; /* NULL, or [model variables] 1: maximised over, after the other variables
                            are summed out */
    bool any_order;      /* maximised over at any time, which gives an upper bound */
    const gbsi_edges *extra; /* NULL, or pairs that must share a clique */
    gbsi_watch *watch;       /* borrowed, asked during the search for an order; NULL: never */
} gbsi_exact_limits;

typedef struct gbsi_exact_plan {
    const gbsi_conditioned *model; /* as given, borrowed */
    gbsi_conditioned *chains;      /* the model with chains for long factors; NULL: none is long, or
                                      a tree has taken it */
    const gbsi_conditioned *eliminated; /* the model that was eliminated: one with chains, owned
                                           here or taken over, or the original */
    gbsi_graph *graph;                  /* with chains and extra pairs; NULL: as the caller's */
    gbsi_elimination *elimination; /* components are numbered as in the model if extra is NULL */
    uint8_t *maximise;             /* [variables] or NULL */
    uint64_t most_entries;         /* entries allowed for one component: the smaller of both limits
                                    */
} gbsi_exact_plan;

/* @param graph the graph of the model, without extra edges; borrowed during the call. */
gbs_status gbsi_exact_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                               const gbsi_exact_limits *limits, gbsi_exact_plan **out,
                               gbs_error *err);
void gbsi_exact_plan_free(gbsi_exact_plan *plan);

/* Frees a tree of the plan, which can then make another. @param tree NULL is fine. */
void gbsi_exact_plan_take_back(gbsi_exact_plan *plan, gbsi_tree *tree);

/* The model whose variables the elimination has: with the chains of long factors, if there are. */
const gbsi_conditioned *gbsi_exact_plan_model(const gbsi_exact_plan *plan);

/* The time of a table entry, from the constants above. */
double gbsi_exact_entry_ns(gbsi_keep keep);

/* The bytes of a tree and of the work on it. */
uint64_t gbsi_exact_bytes(const gbsi_tree *tree, gbsi_keep keep);

/* How to calibrate a tree within this many bytes: with tables if these fit, else with messages
 * alone, whether those fit or not. @param up_only whether gbsi_tree_up() is all. */
gbsi_keep gbsi_exact_keep(const gbsi_tree *tree, bool up_only, uint64_t bytes);

/* Trees of as many components as the limits allow together, those of fewer entries first.
 *
 * @param ns    nanoseconds that they may be predicted to take.
 * @param bytes limit on the bytes of the trees and of the work on them, if trees answer all
 * components; half of the limit applies if other components are left to be sampled.
 * @param take  [components] out: 1 if a component has a tree.
 * @param out   NULL if no component has one. */
gbs_status gbsi_exact_plan_choose(gbsi_exact_plan *plan, bool up_only, double ns, uint64_t bytes,
                                  uint8_t *take, gbsi_tree **out, gbs_error *err);

/* Whether an elimination order was found for component c and its tables are within the limits. The
 * memory of messages is checked later, with the tree. */
bool gbsi_exact_fits(const gbsi_exact_plan *plan, uint32_t c);

/* Makes the trees of the components with take[c] != 0, each of which must fit; the plan may be
 * freed afterwards. @param take [components]. */
gbs_status gbsi_exact_plan_tree(gbsi_exact_plan *plan, const uint8_t *take, gbsi_tree **out,
                                gbs_error *err);

/* GBS_ERR_LIMIT if the tree and the work on it take more than this many bytes. */
gbs_status gbsi_exact_check_bytes(const gbsi_tree *tree, gbsi_keep keep, uint64_t bytes,
                                  gbs_error *err);

/* @return GBS_ERR_LIMIT, with the size of the tables of component c. @param variable a variable of
 * the component in the user's numbering, for the message. */
gbs_status gbsi_exact_refuse(const gbsi_exact_plan *plan, uint32_t c, uint32_t variable,
                             gbs_error *err);

/* The most bytes that the search for an elimination order takes. */
uint64_t gbsi_exact_search_bytes(const gbsi_conditioned *model);
/* @return GBS_ERR_LIMIT if the search itself would take more than this many bytes. */
gbs_status gbsi_exact_check_search(const gbsi_conditioned *model, uint64_t bytes, gbs_error *err);

#endif
