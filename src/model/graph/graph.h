/* SPDX-License-Identifier: Apache-2.0 */
/* Variable-factor incidence in both directions, and what is computed from it: components, colours,
 * levels. Explicit variable-variable edges are never stored: a 300-literal clause must not become
 * 90 000.
 */
#ifndef GBSI_GRAPH_GRAPH_H
#define GBSI_GRAPH_GRAPH_H

#include "base/offsets.h"
#include "base/watch.h"
#include "condition/condition.h"
#include "store/factors.h"

/* ---- incidence.c and others ---------------------------------------------------------------- */

/* Pairs of variables that must not be updated at once beyond what the factors say
 * (the dummy edges of herded draws). Additional edges, which count as factors of two variables. */
typedef struct gbsi_edges {
    size_t n;
    uint32_t *pair; /* [2 n] */
    bool all;       /* every pair, none of them stored: updates run one by one */
} gbsi_edges;

/* Factors of one variable are left out: they couple nothing. "Scope" here means such a factor's or
 * an extra edge's; scopes are numbered factors first, in order. If no scope has more than two
 * variables, as in the largest models, an end of a scope is stored as the other variable alone, in
 * 4 bytes. */
typedef struct gbsi_graph {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t n_variables;
    size_t n_scopes;
    gbsi_offsets incident_start; /* [n_variables] rows of neighbour, or of incident */
    uint32_t *neighbour;         /* pairs only: the other variable of each scope, in their order */
    /* else: */
    size_t *incident;    /* scopes of each variable, ascending */
    size_t *scope_start; /* [n_scopes + 1] */
    uint32_t *scope;     /* variables of each scope */
    bool all;            /* every variable is next to every other, whatever the scopes say */
} gbsi_graph;

/* The variables of a factor that one end belongs to: the others, with or without v itself. */
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

/* Variables that share the scope of an end with its variable. */
static inline size_t gbsi_graph_n_others(const gbsi_graph *graph, size_t end)
{
    return graph->neighbour != NULL ? 1 : gbsi_graph_members(graph, end).n - 1;
}

/* Variables that share a scope with v, those of parallel scopes each time. */
size_t gbsi_graph_degree(const gbsi_graph *graph, size_t v);

/* Whether some variable may have the same neighbour by two scopes. This is found out only if all
 * scopes are pairs and no variable has more than 32 of them. */
bool gbsi_graph_may_repeat(const gbsi_graph *graph);

size_t gbsi_graph_bytes(const gbsi_graph *graph);

/* @param extra NULL for none. */
gbs_status gbsi_graph_new(const gbsi_conditioned *model, const gbsi_edges *extra,
                          gbsi_graph **graph, gbs_error *err);
void gbsi_graph_free(gbsi_graph *graph);

/* Connected components, numbered by their lowest variable.
 * @param component [n_variables], out. @param n_components out. */
gbs_status gbsi_graph_components(const gbsi_graph *graph, uint32_t *component,
                                 uint32_t *n_components, gbs_error *err);

/* Finds the connected components of the factors with hard zeros alone, called blocks: a state of
 * all variables has positive weight iff its part in every block has. A variable that is in no
 * factor with zeros is a block by itself.
 * @param watch NULL: never stops; GBS_ERR_STOPPED where it stops the work.
 * @param block [n_variables], out. */
gbs_status gbsi_hard_blocks(const gbsi_conditioned *model, gbsi_watch *watch, uint32_t *block,
                            uint32_t *n_blocks, gbs_error *err);

/* Finds the connected components of all factors, for a model whose graph is not at hand. */
gbs_status gbsi_factor_blocks(const gbsi_conditioned *model, gbsi_watch *watch, uint32_t *block,
                              uint32_t *n_blocks, gbs_error *err);

/* Whether some of these blocks surely needs separators of more than `width` variables in any tree
 * of cliques. @param watch if it stops the work, nothing is known; NULL: never stops.
 * @param too_dense out: false: not shown. */
gbs_status gbsi_hard_too_dense(const gbsi_conditioned *model, uint32_t width, gbsi_watch *watch,
                               bool *too_dense, gbs_error *err);

/* A proper colouring. Two colours are found whenever they suffice. Otherwise it is the better of
 * greedy largest-degree-first and smallest-last (Matula & Beck 1983), and the former if both are
 * equal.
 * @param watch asked while scopes of many variables are coloured; NULL: never stops.
 * @param color [n_variables], out, each below *n_colors.
 * @return GBS_ERR_STOPPED if the watch stopped it. */
gbs_status gbsi_graph_color(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *color,
                            uint32_t *n_colors, gbs_error *err);
/* The two greedy rules alone, for tests.
 * @param work NULL, or out: colours and words of colours that were looked at. */
typedef enum gbsi_color_order { GBSI_LARGEST_FIRST, GBSI_SMALLEST_LAST } gbsi_color_order;
gbs_status gbsi_graph_color_greedy(const gbsi_graph *graph, gbsi_color_order order,
                                   gbsi_watch *watch, uint32_t *color, uint32_t *n_colors,
                                   uint64_t *work, gbs_error *err);
/* Two colours, or *bipartite = false and color untouched. */
gbs_status gbsi_graph_color_two(const gbsi_graph *graph, uint32_t *color, bool *bipartite,
                                gbs_error *err);

/* Level of every update of a sequence, 0-based:
 *     level(t) = 1 + the largest level last seen at any scope of the variable and at its own last
 *     occurrence, or 0 if nothing was.
 * Updates of one level are mutually non-adjacent and running the levels in order gives exactly what
 * one update at a time gives. O(sum of degrees).
 * @param last [gbsi_graph_n_last()] scratch, any content. @param level [n], out.
 * @param n_levels out: 1 + the largest level, 0 if n is 0. */
size_t gbsi_graph_n_last(const gbsi_graph *graph);
void gbsi_graph_schedule_levels(const gbsi_graph *graph, const uint32_t *sequence, size_t n,
                                uint32_t *last, uint32_t *level, uint32_t *n_levels);

/* ---- color_order.c ------------------------------------------------------------------------- */

/* Orders in which a greedy colouring takes the variables, by gbsi_graph_degree(). */

/* Largest degree first, ties by lowest variable (Welsh & Powell 1967, Comput. J. 10(1):85-86).
 * @param order [n_variables], out. */
gbs_status gbsi_order_largest_first(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *order,
                                    gbs_error *err);

/* Backwards from the end: the variable of least degree among those not yet placed (Matula & Beck
 * 1983, J. ACM 30(3):417-427). If several variables have that degree, it is the one whose degree
 * fell last, else the one with the lowest number. The members of a scope are told of its losses one
 * by one while fewer than 128 are left, and above that each time a 64th of them has gone. So a
 * scope costs at most some 64 times its length.
 * @param order [n_variables], out. */
gbs_status gbsi_order_smallest_last(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *order,
                                    gbs_error *err);

/* ---- incident_factors.c -------------------------------------------------------------------- */

/* Factors of each variable, where scopes alone do not do: which factor it is matters. */

typedef struct gbsi_incident_factors {
    gbsi_offsets start; /* [n_variables] */
    size_t *factor;     /* ascending for each variable */
    uint32_t *position; /* position of the variable in each of its factors; NULL: none is long, look
                         */
} gbsi_incident_factors;

/* @param least number of variables of the smallest scope that counts: 1 for all factors. */
gbs_status gbsi_incident_factors_init(const gbsi_factors *factors, uint32_t n_variables,
                                      size_t least, gbsi_incident_factors *incident,
                                      gbs_error *err);
void gbsi_incident_factors_free(gbsi_incident_factors *incident);

/* The place of a variable in the scope of its factor[k]: found in bounded time. */
uint32_t gbsi_incident_position(const gbsi_incident_factors *incident, const gbsi_factors *factors,
                                size_t k, uint32_t v);
/* Bytes that positions take, 0 if no scope is long. */
uint64_t gbsi_incident_position_bytes(const gbsi_factors *factors);

/* Adds the ends of n variables to their numbers. @return false if one of them has too many. */
bool gbsi_count_ends(uint32_t *degree, const uint32_t *variable, size_t n);

/* ---- locality.c ---------------------------------------------------------------------------- */

/* An order of the variables in which neighbours come soon after each other. */

/* Smaller models lie in the cache whatever their order. */
#define GBSI_LOCALITY_LEAST 65536u /* variables */

/* Breadth first from the far end of each component (Cuthill & McKee 1969, without the sorting by
 * degree). The order is made only if the numbers of most neighbours are far apart and the front of
 * the search stays small: it does on lattices, meshes and chains. Random graphs have no local
 * order, which is found out early. The order depends on the graph alone; computing it takes O(sum
 * of degrees).
 * @param rank [n_variables] scratch, any content.
 * @param order [n_variables], out, if *found; else any content. */
gbs_status gbsi_graph_local_order(const gbsi_graph *graph, uint32_t *rank, uint32_t *order,
                                  bool *found, gbs_error *err);

#endif
