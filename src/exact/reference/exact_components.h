/* SPDX-License-Identifier: Apache-2.0 */
/* The connected components of a conditioned model, and exact answers for some of them by
 * enumeration. */
#ifndef GBSI_REFERENCE_EXACT_COMPONENTS_H
#define GBSI_REFERENCE_EXACT_COMPONENTS_H

#include "base/watch.h"
#include "graph/graph.h"

typedef struct gbsi_components {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t n;
    uint32_t *of;           /* [n_variables] component of each variable */
    size_t *variable_start; /* [n + 1] start of each component in `variable` */
    uint32_t *variable;     /* variables of each component, ascending */
    size_t *factor_start;   /* [n + 1] start of each component in `factor` */
    size_t *factor;         /* factors of each component, ascending */
    uint64_t *n_states;     /* [n] product of arities; UINT64_MAX if it does not fit */
    uint8_t *has_zeros;     /* [n] 1: some factor has hard zeros */
    uint32_t largest;       /* number of variables in the largest component */
} gbsi_components;

gbs_status gbsi_components_new(const gbsi_graph *graph, gbsi_components **out, gbs_error *err);
void gbsi_components_free(gbsi_components *components);

/* Returns the number of bytes in use before any inference: for the program, the user's model, the
 * conditioned model, the graph and the components. */
uint64_t gbsi_components_standing(const gbsi_components *c, const gbsi_graph *graph);

/* Makes a model of one component, in time that is linear in the size of the component.
 *
 * @param left_out NULL, or [n_variables] 1: the variable is left out. A factor that contains such a
 * variable becomes a table over the rest of its scope, filled with zeros, which the caller
 * replaces. A factor none of whose variables remains is left out too. Variables and factors keep
 * their order.
 * @param local    [n_variables] out: the new number of each variable of the component that is kept.
 */
gbs_status gbsi_components_extract(const gbsi_components *c, uint32_t component,
                                   const uint8_t *left_out, uint32_t *local, gbsi_conditioned **out,
                                   gbs_error *err);

/* Computes the marginals of every component with exact[component] != 0, by enumeration. @param
 * watch borrowed or NULL; may stop the enumeration.
 * @param p [state_offset[n_variables]] of the whole model, out; entries of other components do not
 * change.
 * @param log_z NULL, or in and out: the function adds the ln Z of the enumerated components,
 * without log_constant.
 * @return as gbsi_enumerate(). */
gbs_status gbsi_components_enumerate(const gbsi_components *c, const uint8_t *exact,
                                     gbsi_watch *watch, double *p, double *log_z, gbs_error *err);

/* Finds out whether updates of one variable at a time reach all states of positive probability, in
 * the sampled components with hard zeros. Blocks of variables that share factors with zeros
 * (gbsi_hard_blocks()) are enumerated if they have at most max_states states. */
typedef enum gbsi_support {
    GBSI_SUPPORT_CONNECTED,
    GBSI_SUPPORT_UNKNOWN,      /* there were too many states to enumerate, or the watch stopped */
    GBSI_SUPPORT_DISCONNECTED, /* some state cannot be reached from another */
} gbsi_support;

/* @param watch borrowed or NULL; after a stop the answer is GBSI_SUPPORT_UNKNOWN. */
gbs_status gbsi_components_support(const gbsi_components *c, const uint8_t *exact,
                                   gbsi_watch *watch, uint64_t max_states, gbsi_support *support,
                                   gbs_error *err);

#endif
