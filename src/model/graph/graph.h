/* SPDX-License-Identifier: Apache-2.0 */
/* The incidence of variables and factors in both directions, and results computed from this
 * incidence: components, colours, levels. Edges between variables are never stored explicitly,
 * because a clause of 300 literals must not become 90 000 edges. */
#ifndef GBSI_GRAPH_GRAPH_H
#define GBSI_GRAPH_GRAPH_H

#include "base/offsets.h"
#include "base/watch.h"
#include "condition/condition.h"
#include "store/factors.h"

/* ---- incidence.c and others ---------------------------------------------------------------- */

/* Additional pairs of variables that must not be updated at the same time, for example the dummy
 * edges of herded draws. They count as factors of two variables. */
typedef struct gbsi_edges {
    size_t n;
    uint32_t *pair; /* [2 n] variables of the pairs */
    bool all; /* true if all pairs of variables count, in which case no pair is stored; updates then
                 run one after the other */
} gbsi_edges;

/* Factors of one variable are left out, because they couple nothing. A "scope" here is the scope of
 * another factor or an extra edge. Scopes are numbered in order; the scopes of factors come first.
 * Each pair of a variable and one of its scopes is called an end. If no scope has more than two
 * variables, as in the largest models, an end is stored as the other variable alone, in 4 bytes. */
typedef struct gbsi_graph {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t n_variables;
    size_t n_scopes;
    gbsi_offsets incident_start; /* [n_variables] start of each variable's row in `neighbour` or
                                    `incident` */
    uint32_t *neighbour; /* if all scopes are pairs: the other variable of each scope, in the order
                            of scopes */
    /* if some scopes have more than two variables: */
    size_t *incident;    /* scopes of each variable, ascending */
    size_t *scope_start; /* [n_scopes + 1] offsets of the scopes in `scope` */
    uint32_t *scope;     /* variables of each scope */
    bool all; /* true if every variable counts as adjacent to every other, independently of the
                 scopes */
} gbsi_graph;

/* Variables in the scope of one end of a variable v. If all scopes are pairs, v itself is left out;
 * otherwise it is included. */
typedef struct gbsi_members {
    const uint32_t *variable;
    size_t n;
} gbsi_members;

static inline gbsi_members gbsi_graph_members(const gbsi_graph *graph, size_t end)
{
    if (graph->neighbour != NULL) {
        return (gbsi_members){graph->neighbour + end, 1};
    }
    const size_t first = graph->scope_start[graph->incident[end]];
    return (gbsi_members){graph->scope + first,
                          graph->scope_start[graph->incident[end] + 1] - first};
}

/* The ends of v are [gbsi_graph_ends(graph, v), gbsi_graph_ends(graph, v + 1)). */
static inline size_t gbsi_graph_ends(const gbsi_graph *graph, size_t v)
{
    return gbsi_offset(&graph->incident_start, v);
}

/* Returns the number of other variables in the scope of an end. */
static inline size_t gbsi_graph_n_others(const gbsi_graph *graph, size_t end)
{
    return graph->neighbour != NULL ? 1 : gbsi_graph_members(graph, end).n - 1;
}

/* Returns the number of variables that share a scope with v; a variable counts once for each
 * shared scope. */
size_t gbsi_graph_degree(const gbsi_graph *graph, size_t v);

/* Returns whether two scopes may have two variables in common. The function returns false only if
 * all scopes are pairs and no variable has more than 32 of them. */
bool gbsi_graph_may_repeat(const gbsi_graph *graph);

size_t gbsi_graph_bytes(const gbsi_graph *graph);

/* @param extra additional edges; NULL if there are none. */
gbs_status gbsi_graph_new(const gbsi_conditioned *model, const gbsi_edges *extra,
                          gbsi_graph **graph, gbs_error *err);
void gbsi_graph_free(gbsi_graph *graph);

/* Finds the connected components, numbered by their lowest variable.
 * @param component [n_variables], out. @param n_components out. */
gbs_status gbsi_graph_components(const gbsi_graph *graph, uint32_t *component,
                                 uint32_t *n_components, gbs_error *err);

/* Finds the connected components of the factors with hard zeros alone, called blocks. A joint state
 * of all variables has positive weight if and only if its restriction to each block has positive
 * weight. A variable that is in no factor with zeros is a block by itself.
 * @param watch NULL if nothing may stop the work. If the watch stops the work, the status is
 * GBS_ERR_STOPPED.
 * @param block [n_variables], out. */
gbs_status gbsi_hard_blocks(const gbsi_conditioned *model, gbsi_watch *watch, uint32_t *block,
                            uint32_t *n_blocks, gbs_error *err);

/* Finds the connected components of all factors, for callers that have no graph of the model. */
gbs_status gbsi_factor_blocks(const gbsi_conditioned *model, gbsi_watch *watch, uint32_t *block,
                              uint32_t *n_blocks, gbs_error *err);

/* Tests whether some block of gbsi_hard_blocks() needs separators of more than `width` variables in
 * every tree of cliques.
 * @param watch NULL if nothing may stop the work. If the watch stops the work, *too_dense is
 * undefined. @param too_dense out: true if this is proved; false if it is not. */
gbs_status gbsi_hard_too_dense(const gbsi_conditioned *model, uint32_t width, gbsi_watch *watch,
                               bool *too_dense, gbs_error *err);

/* Computes a proper colouring, with two colours whenever two suffice. Otherwise the result is the
 * better of two greedy colourings: largest-degree-first, and smallest-last (Matula & Beck 1983). If
 * these use equally many colours, the result is largest-degree-first.
 * @param watch checked while scopes of many variables are coloured; NULL if nothing may stop the
 * work. @param color [n_variables], out, each below *n_colors. @return GBS_ERR_STOPPED if the watch
 * stopped the work. */
gbs_status gbsi_graph_color(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *color,
                            uint32_t *n_colors, gbs_error *err);
/* For tests: colours by only one of the two greedy rules.
 * @param work NULL, or out: number of colours and words of colours that were examined. */
typedef enum gbsi_color_order { GBSI_LARGEST_FIRST, GBSI_SMALLEST_LAST } gbsi_color_order;
gbs_status gbsi_graph_color_greedy(const gbsi_graph *graph, gbsi_color_order order,
                                   gbsi_watch *watch, uint32_t *color, uint32_t *n_colors,
                                   uint64_t *work, gbs_error *err);
/* Finds a colouring with two colours, or sets *bipartite = false and leaves color unchanged. */
gbs_status gbsi_graph_color_two(const gbsi_graph *graph, uint32_t *color, bool *bipartite,
                                gbs_error *err);

/* Computes the 0-based level of every update of a sequence. The level of update t is 1 + the
 * largest level of the earlier updates of the same variable or of a variable that shares a scope
 * with this variable; it is 0 if no such update came before. Updates of one level are not adjacent
 * to each other. Running the updates level by level gives the same results as running one update
 * after the other. Takes O(sum of degrees).
 * @param last [gbsi_graph_n_last()] scratch, any content. @param level [n], out.
 * @param n_levels out: 1 + the largest level; 0 if the sequence has no updates. */
size_t gbsi_graph_n_last(const gbsi_graph *graph);
void gbsi_graph_schedule_levels(const gbsi_graph *graph, const uint32_t *sequence, size_t n,
                                uint32_t *last, uint32_t *level, uint32_t *n_levels);

/* ---- color_order.c ------------------------------------------------------------------------- */

/* Orders in which a greedy colouring processes the variables, by gbsi_graph_degree(). */

/* Orders the variables by descending degree, ties by lowest variable (Welsh & Powell 1967, Comput.
 * J. 10(1):85-86).
 * @param order [n_variables], out. */
gbs_status gbsi_order_largest_first(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *order,
                                    gbs_error *err);

/* Builds the order from its end: each step places the variable of least degree that is not yet
 * placed (Matula & Beck 1983, J. ACM 30(3):417-427). Among several such variables, the step places
 * the variable whose degree fell last or, if no degree fell, the lowest variable. While fewer than
 * 128 members of a scope are not yet placed, each placed member reduces the degrees of the other
 * members at once. In larger scopes the degrees are reduced only each time another 1/64 of the
 * members is placed. A scope therefore costs at most some 64 times its length.
 * @param order [n_variables], out. */
gbs_status gbsi_order_smallest_last(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *order,
                                    gbs_error *err);

/* ---- incident_factors.c -------------------------------------------------------------------- */

/* The factors of each variable, for callers that need the identity of a factor, not only its
 * scope. */

typedef struct gbsi_incident_factors {
    gbsi_offsets start; /* [n_variables] start of each variable's row in `factor` */
    size_t *factor;     /* factors of each variable, ascending */
    uint32_t *position; /* position of the variable in each of its factors; NULL if no scope is long
                           and positions are searched */
} gbsi_incident_factors;

/* @param least number of variables of the smallest scope that is listed; 1 for all factors. */
gbs_status gbsi_incident_factors_init(const gbsi_factors *factors, uint32_t n_variables,
                                      size_t least, gbsi_incident_factors *incident,
                                      gbs_error *err);
void gbsi_incident_factors_free(gbsi_incident_factors *incident);

/* Returns the position of a variable in the scope of factor[k], in bounded time. */
uint32_t gbsi_incident_position(const gbsi_incident_factors *incident, const gbsi_factors *factors,
                                size_t k, uint32_t v);
/* Returns the number of bytes of the array `position`; 0 if no scope is long. */
uint64_t gbsi_incident_position_bytes(const gbsi_factors *factors);

/* Adds 1 to degree[v] for each of the n given variables v. @return false if a degree would
 * overflow. */
bool gbsi_count_ends(uint32_t *degree, const uint32_t *variable, size_t n);

/* ---- locality.c ---------------------------------------------------------------------------- */

/* An order of the variables in which neighbours are near each other. */

/* Number of variables below which models fit into the cache in any order. */
#define GBSI_LOCALITY_LEAST 65536u /* number of variables */

/* Computes a breadth-first order from the far end of each component (Cuthill & McKee 1969, without
 * the sorting by degree). The order is made only if two conditions hold: the numbers of most
 * neighbours are far apart, and the queue of the search stays short, as on lattices, meshes and
 * chains. Random graphs have no local order, and the search detects them early. The order depends
 * on the graph alone; computing it takes O(sum of degrees).
 * @param rank [n_variables] scratch, any content. @param order [n_variables], out if *found;
 * otherwise undefined. */
gbs_status gbsi_graph_local_order(const gbsi_graph *graph, uint32_t *rank, uint32_t *order,
                                  bool *found, gbs_error *err);

#endif
