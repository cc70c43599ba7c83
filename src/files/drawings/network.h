/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing of a model's graph as SVG. A Bayesian network has an arrow from each parent to its
 * child. In another model a line joins two variables that share a factor of two variables, and a
 * small square stands for a factor of more variables. A node is a box with the variable's name and,
 * if its probabilities are known, a bar for each state. */
#ifndef GBSI_DRAWINGS_NETWORK_H
#define GBSI_DRAWINGS_NETWORK_H

#include <stdbool.h>

#include "gibbsite/io.h"

enum { GBSI_DRAWN_STATES = 8 }; /* the most states that a node shows */

typedef struct gbsi_drawn_state {
    const char *label;
    double p, error; /* probability and its standard error; error 0 or NaN: without an error */
} gbsi_drawn_state;

typedef struct gbsi_drawn_node {
    uint32_t id; /* number of the variable, as an attribute of the node */
    const char *name;
    bool observed;
    bool answered;     /* its probabilities are known, and drawn as bars */
    uint32_t n_states; /* number of states in state[] */
    uint32_t n_more;   /* number of states that are not shown */
    gbsi_drawn_state state[GBSI_DRAWN_STATES];
} gbsi_drawn_node;

/* What is drawn; everything is borrowed. */
typedef struct gbsi_network {
    const char *title;
    const char *id; /* prefix of the ids of a drawing in a page, which has no addresses in it; NULL:
                       the drawing is a file of its own */
    bool directed;  /* a scope is a child behind its parents; there is no directed cycle */
    size_t n_nodes;
    const gbsi_drawn_node *node;
    size_t n_scopes;
    const size_t *begin;   /* [n_scopes + 1] where the nodes of each scope begin */
    const uint32_t *scope; /* nodes of the scopes of the factors; none twice in a scope */
} gbsi_network;

/* Chooses the most probable states of a variable, and keeps them in the model's order.
 * @param p [arity] probabilities; NULL: the first states are chosen.
 * @param state [most] out.
 * @return the number of chosen states. */
size_t gbsi_most_probable(const double *p, size_t arity, uint32_t *state, size_t most);
/* Marks the queried variables and those that share a factor with one of them.
 * @param node [n_variables] out: 0 for a marked variable, else GBSI_NONE. */
void gbsi_drawn_near(const gbs_model *model, const uint32_t *query, size_t n_query, uint32_t *node);
/* Copies the part of a factor's scope that is drawn. A conditional table is left out if its child
 * is not drawn.
 * @param node [n_variables] node of each variable, GBSI_NONE if it is not drawn.
 * @param to NULL: the function only counts.
 * @return the number of variables of that part; 0 instead of 1, which is no line. */
size_t gbsi_drawn_scope(const gbs_model *model, size_t factor, const uint32_t *node, uint32_t *to);
/* Refuses graphs in which nothing could be seen.
 * @param n_entries total length of all scopes. */
gbs_status gbsi_network_check(size_t n_nodes, size_t n_entries, gbs_error *err);
/* Writes the drawing. Errors of the output are reported when it is committed.
 * @return GBS_ERR_UNSUPPORTED if the drawing would be too large; GBS_ERR_MEMORY. */
gbs_status gbsi_network_svg(const gbsi_network *network, gbs_output *output, gbs_error *err);

#endif
