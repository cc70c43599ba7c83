/* SPDX-License-Identifier: Apache-2.0 */
/* Which connected components of a conditioned model are answered exactly, and their answers. */
#ifndef GBSI_EXACT_COMPONENTS_H
#define GBSI_EXACT_COMPONENTS_H

#include "graph/graph.h"

typedef struct gbsi_components {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t n;
    uint32_t *of;       /* [n_variables] component of each variable */
    uint64_t *n_states; /* [n] product of arities, saturating */
    uint64_t most_states;
    size_t *variable_start; /* [n + 1] nothing for components of more than most_states */
    uint32_t *variable;     /* variables by component, ascending */
    size_t *factor_start;   /* [n + 1] likewise */
    size_t *factor;         /* factors by component, ascending */
    uint8_t *has_zeros;     /* [n] a factor with hard zeros */
    uint32_t largest;       /* variables in the largest */
} gbsi_components;

/* @param most_states of a component whose variables and factors are listed: on a large model the
 * lists of one that nobody looks into are a waste. UINT64_MAX: of all. */
gbs_status gbsi_components_new(const gbsi_graph *graph, uint64_t most_states, gbsi_components **out,
                               gbs_error *err);
void gbsi_components_free(gbsi_components *components);

size_t gbsi_components_bytes(const gbsi_components *components);

/* The lowest variable of a component, by a search. */
uint32_t gbsi_components_first(const gbsi_components *components, uint32_t component);

/* One listed component as a model of its own, in time linear in its size. @param local
 * [n_variables] scratch, any content. */
gbs_status gbsi_components_extract(const gbsi_components *c, uint32_t component, uint32_t *local,
                                   gbsi_conditioned **out, gbs_error *err);

/* Marginals by enumeration of every component with exact[component] != 0.
 * @param p [state_offset[n_variables]] of the whole model; entries of other components untouched.
 * @return as gbsi_enumerate(). */
gbs_status gbsi_components_enumerate(const gbsi_components *c, const uint8_t *exact, double *p,
                                     gbs_error *err);

/* What is known of the support of the sampled components with hard zeros under updates of one
 * variable at a time. Components of at most max_states states are enumerated. */
typedef enum gbsi_support {
    GBSI_SUPPORT_CONNECTED,
    GBSI_SUPPORT_UNKNOWN,      /* too many states to find out */
    GBSI_SUPPORT_DISCONNECTED, /* shown: some state cannot be reached from another */
} gbsi_support;

gbs_status gbsi_components_support(const gbsi_components *c, const uint8_t *exact,
                                   uint64_t max_states, gbsi_support *support, gbs_error *err);

#endif
