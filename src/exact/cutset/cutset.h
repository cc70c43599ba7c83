/* SPDX-License-Identifier: Apache-2.0 */
/* Conditioning on a cutset [M46]. Given the states of a few variables, the cutset, the cliques of
 * the other variables are small. With one case for every joint state c of the cutset, Z = sum over
 * c of Z(c),    p(x) = sum over c of Z(c) / Z p(x | c) (Pearl 1988, Probabilistic Reasoning in
 * Intelligent Systems, section 4.3). Hard zeros rule out most cases. Cases that arc consistency
 * finds impossible are left out and never answered. All cases share one junction tree, and differ
 * only in the entries of the tree's factors. */
#ifndef GBSI_CUTSET_CUTSET_H
#define GBSI_CUTSET_CUTSET_H

#include "reference/exact_components.h"
#include "trees/exact_plan.h"

/* A factor that contains a variable of the cutset has at most this number of variables. Such a
 * factor also has at most 2^16 joint states. */
#define GBSI_CUT_SCOPE 16u

/* Limit on the predicted nanoseconds of all cases together if an exact answer is required. */
#define GBSI_CUTSET_NS 60e9

/* The joint states of the cutset of a component that arc consistency leaves possible. */
typedef struct gbsi_cases {
    uint32_t n_variables;
    uint32_t *variable; /* [n_variables] variables of the cutset, by their numbers in the whole
                           model, in the order in which they were chosen */
    size_t n;
    uint32_t *state; /* [n][n_variables] states of the cutset's variables in each case; cases are in
                        lexicographic order */
} gbsi_cases;

typedef struct gbsi_cutset {
    const gbsi_components *components; /* borrowed */
    uint32_t component;
    gbsi_cases cases;
    uint32_t *local;        /* [whole variables] number of each variable in `rest`; GBSI_NONE if the
                               variable is in the cutset */
    gbsi_conditioned *rest; /* model of the component's variables outside the cutset */
    gbsi_tree *tree;        /* tree of `rest` */
    gbsi_keep keep;
    double entries;           /* number of table entries of all cases together */
    uint64_t bytes;           /* bytes of the cutset and the work on it */
    struct gbsi_cutset *next; /* owned: cutset of another component */
} gbsi_cutset;

typedef struct gbsi_cutset_limits {
    double ns;      /* limit on the predicted nanoseconds of all cases on one thread */
    uint64_t bytes; /* limit on the bytes of the cutset and the work on it */
    bool up_only;   /* whether only ln Z is wanted */
    bool maximise;  /* whether a most probable state is wanted */
    gbsi_watch *watch;
} gbsi_cutset_limits;

/* Looks for cutsets of components. The search is greedy. Each step adds the variable whose removal
 * lowers the table entries most in comparison with the cases that it adds, and then finds a new
 * elimination order of the remaining variables. Components without hard zeros get no cutset,
 * because their cases together take as long as one tree.
 *
 * @param plan   the plan of the whole model.
 * @param limits limits for all cutsets together.
 * @param take [components] 0 if a cutset of the component is wanted. @param out list of the cutsets
 * found, by component; NULL if no cutset was found. */
gbs_status gbsi_cutsets_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                            const gbsi_cutset_limits *limits, const uint8_t *take,
                            gbsi_cutset **out, gbs_error *err);
/* Frees `cutset` and all cutsets after it in the list. */
void gbsi_cutsets_free(gbsi_cutset *cutset);

/* Computes ln of the sum over all states of the component, without log_constant; the result is
 * minus infinity if no state has positive weight. Cases are answered one after the other; the
 * threads of the pool share the work of each case.
 *
 * @param pool, watch borrowed or NULL; after a stop, results are undefined.
 * @param p NULL, or [states of the whole model] out: marginals of the component's variables. */
gbs_status gbsi_cutset_sum(const gbsi_cutset *cutset, gbsi_pool *pool, gbsi_watch *watch, double *p,
                           double *log_z, gbs_error *err);

/* Finds a most probable state of the component and ln of its weight. If several cases have equal
 * maxima, the first case is taken. The cutset must be made with limits->maximise.
 * @param x [whole variables] out: the state of the component's variables. */
gbs_status gbsi_cutset_maximise(const gbsi_cutset *cutset, gbsi_pool *pool, gbsi_watch *watch,
                                uint32_t *x, double *log_weight, gbs_error *err);

#endif
