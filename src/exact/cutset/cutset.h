/* SPDX-License-Identifier: Apache-2.0 */
/* Conditioning on a cutset [M46]. Given the states of a few variables, the cutset, the cliques of
 * the other variables are small. With one case for every joint state c of the cutset,
 *     Z = sum over c of Z(c),    p(x) = sum over c of Z(c) / Z p(x | c)
 * (Pearl 1988, Probabilistic Reasoning in Intelligent Systems, section 4.3). Hard zeros rule out
 * most cases; those that arc consistency finds are never answered. All cases share one junction
 * tree, only the entries of their factors differ. */
#ifndef GBSI_CUTSET_CUTSET_H
#define GBSI_CUTSET_CUTSET_H

#include "reference/exact_components.h"
#include "trees/exact_plan.h"

/* Factors of more variables, or with more than 2^16 states, are never cut. */
#define GBSI_CUT_SCOPE 16u

/* The most nanoseconds that all cases may take if an exact answer is required. */
#define GBSI_CUTSET_NS 60e9

/* Joint states of some variables of a component that arc consistency leaves. */
typedef struct gbsi_cases {
    uint32_t n_variables;
    uint32_t *variable; /* [n_variables] variables of the whole model in the order in which they
                           were chosen */
    size_t n;
    uint32_t *state; /* [n][n_variables], lexicographic */
} gbsi_cases;

typedef struct gbsi_cutset {
    const gbsi_components *components; /* borrowed */
    uint32_t component;
    gbsi_cases cases;
    uint32_t *local;        /* [whole variables] number among the variables outside the cutset;
                               GBSI_NONE: of the cutset */
    gbsi_conditioned *rest; /* the other variables of the component */
    gbsi_tree *tree;        /* of the rest */
    gbsi_keep keep;
    double entries;           /* entries of the tables of all cases together */
    uint64_t bytes;           /* bytes of the cutset and the work on it */
    struct gbsi_cutset *next; /* owned: that of another component */
} gbsi_cutset;

typedef struct gbsi_cutset_limits {
    double ns;      /* nanoseconds of one thread that all cases may be predicted to take */
    uint64_t bytes; /* bytes that the cutset and the work on it may take */
    bool up_only;   /* ln Z is all that is asked for */
    bool maximise;  /* a most probable state is asked for */
    gbsi_watch *watch;
} gbsi_cutset_limits;

/* Looks for cutsets of components, greedily: the variable whose removal lowers the entries of the
 * tables most for the cases that it adds, then finds a new elimination order of the remaining
 * variables. Components without hard zeros have none: their cases together take as long as one
 * tree.
 *
 * @param plan   the plan of the whole model.
 * @param limits limits for all of them together.
 * @param take   [components] 0: a cutset is wanted.
 * @param out the first cutset of those found, by component; NULL: none was found. */
gbs_status gbsi_cutsets_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                            const gbsi_cutset_limits *limits, const uint8_t *take,
                            gbsi_cutset **out, gbs_error *err);
/* Frees this one and those after it. */
void gbsi_cutsets_free(gbsi_cutset *cutset);

/* ln of the sum over all states of the component, log_constant left out; minus infinity if none has
 * weight. Cases are answered one after the other; the threads of the pool share the work of each
 * case.
 *
 * @param pool, watch borrowed or NULL; once stopped, results are undefined.
 * @param p NULL, or [states of the whole model] out: marginals of the component's variables. */
gbs_status gbsi_cutset_sum(const gbsi_cutset *cutset, gbsi_pool *pool, gbsi_watch *watch, double *p,
                           double *log_z, gbs_error *err);

/* ln of the weight of a most probable state of the component, of the first case among equals.
 * The cutset was made to be maximised over.
 * @param x [whole variables] out: the state of the component's variables. */
gbs_status gbsi_cutset_maximise(const gbsi_cutset *cutset, gbsi_pool *pool, gbsi_watch *watch,
                                uint32_t *x, double *log_weight, gbs_error *err);

#endif
