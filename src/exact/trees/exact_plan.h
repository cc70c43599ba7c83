/* SPDX-License-Identifier: Apache-2.0 */
/* Plans exact inference before any table is allocated. Long factors become chains, an elimination
 * order is searched, and components whose tables fit in memory get a junction tree. */
#ifndef GBSI_TREES_EXACT_PLAN_H
#define GBSI_TREES_EXACT_PLAN_H

#include "trees/junction_tree.h"

/* The time that one table entry takes with each kind of gbsi_keep, in nanoseconds of one thread.
 * This time includes the clearing of new memory pages by the operating system. The measured times
 * are 1.7 to 7 (mostly 3) for the way up only, 4 to 20 (mostly 7) for both ways if tables are kept,
 * and 4.5 to 17 (mostly 9) for both ways if only messages are kept. The measurements used fifteen
 * models of 2 million entries or more, with AVX2, on a machine with other load. */
#define GBSI_STACK_NS    4.0
#define GBSI_TABLES_NS   10.0
#define GBSI_MESSAGES_NS 12.0
/* The smallest number of table entries of a tree for which threads are started. */
#define GBSI_SHARED_ENTRIES ((size_t)1 << 18)
/* The largest number of table entries of a component, because offsets in blocks have 32 bits. */
#define GBSI_MOST_ENTRIES (UINT64_C(1) << 32)

typedef struct gbsi_exact_limits {
    uint64_t entries; /* limit on the table entries of one component, at most GBSI_MOST_ENTRIES */
    uint64_t bytes;   /* limit on the bytes that calibration takes, not counting the model */
    uint64_t steps;   /* limit on the steps of the search for an elimination order; 0: the limit is
                         proportional to the table entries */
    bool up_only;     /* whether the caller needs only ln Z, for which gbsi_tree_up() is enough */
    bool maximise;    /* whether all variables are maximised over */
    const uint8_t *late; /* NULL, or [model variables] 1 if the variable is maximised over, after
                            the other variables are summed out */
    bool any_order; /* whether `late` variables may also be maximised over before other variables
                       are summed out; the result is then an upper bound */
    const gbsi_edges *extra; /* NULL, or pairs of variables that must share a clique */
    gbsi_watch
        *watch; /* borrowed; may stop the search for an order; NULL if nothing stops the search */
} gbsi_exact_limits;

typedef struct gbsi_exact_plan {
    const gbsi_conditioned *model; /* the caller's model, borrowed */
    gbsi_conditioned *chains; /* the model with chains for long factors; NULL if no factor is long,
                                 or if a tree now owns the model with chains */
    /* the model whose variables the elimination order lists: the model with chains, or the
     * original model if no factor is long */
    const gbsi_conditioned *eliminated;
    gbsi_graph *graph; /* graph with chains and extra pairs; NULL if the caller's graph was used */
    gbsi_elimination *elimination; /* elimination order; if limits->extra is NULL, its components
                                      have the numbers of the model's components */
    uint8_t *maximise; /* [variables] 1 if the variable is maximised over; NULL if no variable is */
    uint64_t most_entries; /* limit on the table entries of one component: the smaller of
                              limits->entries and GBSI_MOST_ENTRIES */
} gbsi_exact_plan;

/* @param graph the graph of the model, without extra edges; borrowed during the call. */
gbs_status gbsi_exact_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                               const gbsi_exact_limits *limits, gbsi_exact_plan **out,
                               gbs_error *err);
void gbsi_exact_plan_free(gbsi_exact_plan *plan);

/* Frees a tree that the plan made. The plan can then make another tree. @param tree may be NULL. */
void gbsi_exact_plan_take_back(gbsi_exact_plan *plan, gbsi_tree *tree);

/* Returns the model whose variables the elimination order lists: the model with chains, or the
 * original model if no factor is long. */
const gbsi_conditioned *gbsi_exact_plan_model(const gbsi_exact_plan *plan);

/* Returns the time of one table entry, which is one of the three constants above. */
double gbsi_exact_entry_ns(gbsi_keep keep);

/* Returns the number of bytes that a tree and the work on it take. */
uint64_t gbsi_exact_bytes(const gbsi_tree *tree, gbsi_keep keep);

/* Chooses which data calibration keeps, given a limit of `bytes` bytes. All tables are kept if they
 * fit. Otherwise only messages are kept, even if messages do not fit either. @param up_only whether
 * only gbsi_tree_up() will be called. */
gbsi_keep gbsi_exact_keep(const gbsi_tree *tree, bool up_only, uint64_t bytes);

/* Makes trees for as many components as fit together within the limits. Components with fewer table
 * entries are chosen first.
 *
 * @param ns    limit on the predicted time of all trees, in nanoseconds.
 * @param bytes limit on the bytes of the trees and of the work on the trees, if all components get
 * trees. If some components must be sampled instead, the trees may take half of the limit.
 * @param take [components] out: 1 if a component has a tree.
 * @param out out: the trees; NULL if no component has a tree. */
gbs_status gbsi_exact_plan_choose(gbsi_exact_plan *plan, bool up_only, double ns, uint64_t bytes,
                                  uint8_t *take, gbsi_tree **out, gbs_error *err);

/* Returns whether component c has an elimination order with which its tables are within the limits.
 * The memory of messages is checked later, after the tree is made. */
bool gbsi_exact_fits(const gbsi_exact_plan *plan, uint32_t c);

/* Makes the trees of all components c with take[c] != 0. Each of these components must fit. The
 * plan may be freed afterwards. @param take [components]. */
gbs_status gbsi_exact_plan_tree(gbsi_exact_plan *plan, const uint8_t *take, gbsi_tree **out,
                                gbs_error *err);

/* Returns GBS_ERR_LIMIT if the tree and the work on it take more than `bytes` bytes. */
gbs_status gbsi_exact_check_bytes(const gbsi_tree *tree, gbsi_keep keep, uint64_t bytes,
                                  gbs_error *err);

/* @return GBS_ERR_LIMIT; the message in `err` gives the size of the tables of component c. @param
 * variable a variable of the component in the user's numbering, for the message. */
gbs_status gbsi_exact_refuse(const gbsi_exact_plan *plan, uint32_t c, uint32_t variable,
                             gbs_error *err);

/* Returns an upper bound on the bytes that the search for an elimination order takes. */
uint64_t gbsi_exact_search_bytes(const gbsi_conditioned *model);
/* @return GBS_ERR_LIMIT if the search for an elimination order would take more than `bytes` bytes.
 */
gbs_status gbsi_exact_check_search(const gbsi_conditioned *model, uint64_t bytes, gbs_error *err);

#endif
