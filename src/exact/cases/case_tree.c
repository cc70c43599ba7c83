/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a junction tree for many cases: its tables, its messages, and the strides of the
 * messages in the tables. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cases/case_tree_inside.h"
#include "simd/math.h"
#include "trees/clique_tables.h"

#define BLOCK ((size_t)1 << 13) /* number of table entries between two checks of the watch */

/* The state of a compilation: its inputs, scratch arrays, and the numbers of used elements of the
 * arrays of `cases`. */
typedef struct compiling {
    gbsi_case_tree *cases;
    const gbsi_conditioned *whole;
    const gbsi_tree *tree;
    const uint32_t *column; /* the observed variables, in the user's numbering */
    const gbsi_case_scope *query;
    gbsi_watch *watch;
    double *weight;       /* [largest factor] scratch: weights of one factor */
    uint32_t *column_of;  /* [variables] the column that observes the variable; GBSI_NONE if no
                             column observes it */
    uint32_t *home;       /* [variables] the clique that eliminates the variable */
    uint32_t *message_of; /* [factors] message of the factor if some query leaves the factor out,
                             else GBSI_NONE */
    size_t n_strides, n_operands, n_states;
} compiling;

static const uint32_t *variables_of(const gbsi_tree *tree, uint32_t i)
{
    return tree->variable + tree->clique[i].first;
}

static uint32_t n_axes_of(const gbsi_tree *tree, uint32_t i)
{
    return tree->clique[i].n_separator + tree->clique[i].n_own;
}

/* Returns the number of a clique that contains all variables of a query. This clique eliminates the
 * first variable of the query. Returns GBSI_NONE if all variables of the query are fixed. */
static uint32_t home_of(const compiling *c, const gbsi_case_scope *query)
{
    uint32_t home = GBSI_NONE;
    for (uint32_t k = 0; k < query->n; ++k) {
        const uint32_t v = c->whole->free_variable[query->variable[k]];
        assert(v != GBSI_NONE || query->n == 1);
        if (v != GBSI_NONE && c->home[v] < home) {
            home = c->home[v];
        }
    }
    return home;
}

/* Returns the number of joint states of a query, counting all states that the user's variables
 * have. */
static size_t n_states_of(const gbs_model *model, const gbsi_case_scope *query)
{
    size_t n = 1;
    for (uint32_t k = 0; k < query->n; ++k) {
        n *= model->arity[query->variable[k]];
    }
    return n;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void gbsi_case_tree_free(gbsi_case_tree *cases)
{
    if (cases == NULL) {
        return;
    }
    GBSI_FREE(cases->node, cases->message, cases->column, cases->query, cases->table, cases->weight,
              cases->arity, cases->stride, cases->operand, cases->state, cases);
}

typedef struct sizes {
    size_t axes, strides, operands, entries, states, weights;
} sizes;

static sizes count(const compiling *c)
{
    const gbsi_tree *tree = c->tree;
    const gbs_model *model = c->whole->model;
    sizes n = {0};
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        const uint32_t n_axes = n_axes_of(tree, i);
        const size_t n_children = tree->child_start[i + (size_t)1] - tree->child_start[i];
        size_t entries = 1;
        for (uint32_t k = 0; k < n_axes; ++k) {
            entries *= tree->model->arity[variables_of(tree, i)[k]];
        }
        n.axes += n_axes;
        n.entries += entries;
        n.operands +=
            n_children +
            tree->clique[i]
                .n_own; /* each of the clique's own variables may be observed by a column */
        n.strides += (n_children + tree->clique[i].n_own + 2) *
                     n_axes; /* the summand 2 is for the messages to and from the parent */
    }
    for (uint32_t i = 0; i < c->cases->n_columns; ++i) {
        n.states += model->arity[c->column[i]];
    }
    for (uint32_t i = 0; i < c->cases->n_query; ++i) {
        const uint32_t home = home_of(c, &c->query[i]);
        n.states += n_states_of(model, &c->query[i]);
        n.strides += home == GBSI_NONE ? 0 : n_axes_of(tree, home);
        if (c->query[i].without != NULL) {
            ++n.operands;
            n.strides += n_axes_of(tree, home);
            n.weights += gbsi_factor_size(&tree->model->factors, *c->query[i].without);
        }
    }
    return n;
}

static gbs_status take_memory(compiling *c, gbs_error *err)
{
    gbsi_case_tree *t = c->cases;
    const sizes n = count(c);
    t->node = gbsi_alloc_array_zero(t->n_nodes, sizeof *t->node);
    t->message = gbsi_alloc_array_zero(t->n_messages, sizeof *t->message);
    t->column = gbsi_alloc_array_zero(t->n_columns, sizeof *t->column);
    t->query = gbsi_alloc_array_zero(t->n_query, sizeof *t->query);
    t->table = gbsi_alloc_array(n.entries, sizeof *t->table);
    t->weight = gbsi_alloc_array(n.weights, sizeof *t->weight);
    t->arity = gbsi_alloc_array(n.axes, sizeof *t->arity);
    t->stride = gbsi_alloc_array_zero(n.strides, sizeof *t->stride);
    t->operand = gbsi_alloc_array(n.operands, sizeof *t->operand);
    t->state = gbsi_alloc_array(n.states, sizeof *t->state);
    GBSI_PASS(GBSI_HAVE(err, "cases", t->node, t->message, t->column, t->query, t->table, t->weight,
                        t->arity, t->stride, t->operand, t->state));
    return GBS_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Writes the weights of a factor, scaled so that the largest is 1, to c->weight. @return the
 * logarithm of the number by which the weights were divided. @param least out: the least positive
 * weight. */
static double take_weights(compiling *c, size_t f, double *least)
{
    size_t n = 0;
    double top = -INFINITY;
    const double *logs = gbsi_factor_logs(c->tree->model, f, c->weight, &n);
    for (size_t i = 0; i < n; ++i) {
        top = logs[i] > top ? logs[i] : top;
    }
    *least = 1.0;
    for (size_t i = 0; i < n; ++i) {
        const bool positive = logs[i] > -INFINITY;
        c->weight[i] = positive ? gbsi_exp(logs[i] - top) : 0.0;
        *least = positive && c->weight[i] < *least ? c->weight[i] : *least;
    }
    return top > -INFINITY ? top : 0.0;
}

/* Multiplies the table of clique i by c->weight, the weights of factor f. */
static void multiply(compiling *c, uint32_t i, size_t f)
{
    const case_node *node = &c->cases->node[i];
    const gbsi_factors *factors = &c->tree->model->factors;
    const uint32_t *variable = variables_of(c->tree, i);
    double *table = c->cases->table + node->table;
    size_t stride[GBSI_TREE_AXES] = {0};
    uint32_t x[GBSI_TREE_AXES] = {0};
    size_t at = 0;
    size_t n = 1;
    for (size_t k = factors->scope_start[f + 1]; k-- > factors->scope_start[f];) {
        for (uint32_t a = 0; a < node->n_axes; ++a) {
            stride[a] = variable[a] == factors->scope[k] ? n : stride[a];
        }
        n *= c->tree->model->arity[factors->scope[k]];
    }
    for (size_t e = 0; e < node->n_entries; ++e) {
        if (e % BLOCK == 0 && gbsi_watch_spend(c->watch, BLOCK)) {
            return;
        }
        table[e] *= c->weight[at];
        for (uint32_t a = node->n_axes; a-- > 0;) {
            const uint32_t arity = c->cases->arity[node->axis + a];
            at += stride[a];
            if (++x[a] < arity) {
                break;
            }
            at -= arity * stride[a];
            x[a] = 0;
        }
    }
}

/* Fills the table of clique i with the product of its factors, as weights of at most 1. */
static void fill_table(compiling *c, uint32_t i)
{
    case_node *node = &c->cases->node[i];
    double *table = c->cases->table + node->table;
    double bound = 1.0; /* a lower bound of the positive products */
    for (size_t e = 0; e < node->n_entries; ++e) {
        if (e % BLOCK == 0 && gbsi_watch_spend(c->watch, BLOCK)) {
            return;
        }
        table[e] = 1.0;
    }
    for (size_t k = c->tree->factor_start[i]; k < c->tree->factor_start[i + (size_t)1]; ++k) {
        double least = 1.0;
        if (c->message_of[c->tree->factor[k]] != GBSI_NONE) {
            continue;
        }
        c->cases->log_constant += take_weights(c, c->tree->factor[k], &least);
        bound *= least;
        multiply(c, i, c->tree->factor[k]);
    }
    node->least = bound < GBSI_CASE_LEAST ? 0.0 : bound;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Returns the operand by which clique i reads a message over n variables. @param variable [n]
 * variables of the message, slowest first; clique i has all of them. */
static case_operand see(compiling *c, uint32_t i, uint32_t message, const uint32_t *variable,
                        uint32_t n)
{
    gbsi_case_tree *t = c->cases;
    const uint32_t n_axes = n_axes_of(c->tree, i);
    const case_operand seen = {.message = message, .stride = c->n_strides};
    size_t n_rows = 1;
    assert(message < t->n_messages);
    for (uint32_t k = n; k-- > 0;) {
        for (uint32_t a = 0; a < n_axes; ++a) {
            if (variables_of(c->tree, i)[a] == variable[k]) {
                t->stride[c->n_strides + a] = n_rows;
            }
        }
        n_rows *= c->tree->model->arity[variable[k]];
    }
    c->n_strides += n_axes;
    t->message[message].n_rows = n_rows;
    return seen;
}

static void add_operand(compiling *c, case_node *node, case_operand seen)
{
    c->cases->operand[c->n_operands++] = seen;
    ++node->n_operands;
}

static void fill_node(compiling *c, uint32_t i, size_t *n_axes, size_t *n_entries)
{
    gbsi_case_tree *t = c->cases;
    const gbsi_clique *clique = &c->tree->clique[i];
    const uint32_t *variable = variables_of(c->tree, i);
    case_node *node = &t->node[i];
    node->parent = clique->parent;
    node->n_axes = n_axes_of(c->tree, i);
    assert(node->parent == GBSI_NONE || node->parent > i); /* children before parents */
    node->n_separator = clique->n_separator;
    node->axis = *n_axes;
    node->table = *n_entries;
    node->n_entries = 1;
    for (uint32_t k = 0; k < node->n_axes; ++k) {
        t->arity[*n_axes + k] = c->tree->model->arity[variable[k]];
        node->n_entries *= t->arity[*n_axes + k];
    }
    *n_axes += node->n_axes;
    *n_entries += node->n_entries;
    node->operand = c->n_operands;
    for (uint32_t k = clique->n_separator; k < node->n_axes; ++k) {
        const uint32_t column = c->column_of[variable[k]];
        if (column != GBSI_NONE) {
            add_operand(c, node, see(c, i, column, &variable[k], 1));
            node->observed = true;
        }
    }
    for (size_t k = c->tree->child_start[i]; k < c->tree->child_start[i + (size_t)1]; ++k) {
        const uint32_t child = c->tree->child[k];
        add_operand(c, node,
                    see(c, i, t->n_columns + child, variables_of(c->tree, child),
                        c->tree->clique[child].n_separator));
        node->observed |= t->node[child].observed;
        node->asked |= t->node[child].asked;
    }
    for (size_t k = c->tree->factor_start[i]; k < c->tree->factor_start[i + (size_t)1]; ++k) {
        const size_t f = c->tree->factor[k];
        const gbsi_factors *factors = &c->tree->model->factors;
        if (c->message_of[f] != GBSI_NONE) {
            const size_t first = factors->scope_start[f];
            add_operand(c, node,
                        see(c, i, c->message_of[f], factors->scope + first,
                            (uint32_t)(factors->scope_start[f + 1] - first)));
        }
    }
    node->up = see(c, i, t->n_columns + i, variable, node->n_separator);
    node->down.message = GBSI_NONE;
    if (node->parent != GBSI_NONE) {
        node->down = node->up;
        node->down.message = t->n_columns + t->n_nodes + i;
        t->message[node->down.message].n_rows = t->message[node->up.message].n_rows;
    }
    t->most_operands =
        node->n_operands + 2 > t->most_operands ? node->n_operands + 2 : t->most_operands;
    t->most_axes = node->n_axes > t->most_axes ? node->n_axes : t->most_axes;
    fill_table(c, i);
}

/* ---- columns and queries --------------------------------------------------------------------- */

/* For each state that the user's variable of column k has, finds the row of the column's message
 * that belongs to this state. */
static void fill_column(compiling *c, uint32_t k)
{
    gbsi_case_tree *t = c->cases;
    const uint32_t u = c->column[k];
    const uint32_t v = c->whole->free_variable[u];
    case_column *column = &t->column[k];
    column->message = v == GBSI_NONE ? GBSI_NONE : k;
    column->state = c->n_states;
    column->arity = c->whole->model->arity[u];
    for (uint32_t a = 0; a < column->arity; ++a) {
        t->state[c->n_states + a] = v == GBSI_NONE && c->whole->fixed_state[u] == a ? 0 : GBSI_NONE;
    }
    for (uint32_t a = 0; v != GBSI_NONE && a < c->whole->arity[v]; ++a) {
        t->state[c->n_states + gbsi_conditioned_states(c->whole, v)[a]] = a;
    }
    c->n_states += column->arity;
}

/* Lists the user's numbers of the joint states of a query that evidence leaves possible. @return
 * the number of these states. */
static size_t fill_states(const compiling *c, const gbsi_case_scope *query, uint32_t *state)
{
    const gbsi_conditioned *whole = c->whole;
    size_t n = 1;
    state[0] = 0;
    for (uint32_t k = 0; k < query->n; ++k) {
        const uint32_t v = whole->free_variable[query->variable[k]];
        const uint32_t *user = gbsi_conditioned_states(whole, v);
        for (size_t i = n;
             i-- >
             0;) { /* the loop goes backwards, so that place i is read before it is overwritten */
            for (uint32_t a = whole->arity[v]; a-- > 0;) {
                state[i * whole->arity[v] + a] =
                    state[i] * whole->model->arity[query->variable[k]] + user[a];
            }
        }
        n *= whole->arity[v];
    }
    return n;
}

static void fill_query(compiling *c, uint32_t k, size_t *n_p)
{
    gbsi_case_tree *t = c->cases;
    case_query *query = &t->query[k];
    uint32_t variable[GBSI_TREE_AXES]; /* variables of the query, all in one clique */
    query->node = home_of(c, &c->query[k]);
    query->without = c->query[k].without == NULL ? GBSI_NONE : c->message_of[*c->query[k].without];
    query->p = *n_p;
    query->n_states = n_states_of(c->whole->model, &c->query[k]);
    query->state = c->n_states;
    *n_p += query->n_states;
    if (query->node == GBSI_NONE) {
        t->state[c->n_states++] = c->whole->fixed_state[c->query[k].variable[0]];
        return;
    }
    for (uint32_t i = 0; i < c->query[k].n; ++i) {
        variable[i] = c->whole->free_variable[c->query[k].variable[i]];
    }
    query->target = see(c, query->node, t->n_columns + 2 * t->n_nodes + k, variable, c->query[k].n);
    c->n_states += fill_states(c, &c->query[k], t->state + c->n_states);
}

/* Finds the columns that observe each variable, and the clique that eliminates each variable. */
static gbs_status find_homes(compiling *c, gbs_error *err)
{
    const size_t n = c->tree->model->n_variables;
    const size_t n_factors = c->tree->model->factors.n_factors;
    c->weight = gbsi_alloc_array(c->tree->n_factor, sizeof *c->weight);
    c->column_of = gbsi_alloc_array(n, sizeof *c->column_of);
    c->home = gbsi_alloc_array(n, sizeof *c->home);
    c->message_of = gbsi_alloc_array(n_factors, sizeof *c->message_of);
    GBSI_PASS(GBSI_HAVE(err, "cases", c->weight, c->column_of, c->home, c->message_of));
    memset(c->message_of, 0xff, n_factors * sizeof *c->message_of);
    memset(c->column_of, 0xff, n * sizeof *c->column_of);
    for (uint32_t k = 0; k < c->cases->n_columns; ++k) {
        const uint32_t v = c->whole->free_variable[c->column[k]];
        if (v != GBSI_NONE) {
            c->column_of[v] = k;
        }
    }
    for (uint32_t i = 0; i < c->tree->n_cliques; ++i) {
        for (uint32_t k = c->tree->clique[i].n_separator; k < n_axes_of(c->tree, i); ++k) {
            c->home[variables_of(c->tree, i)[k]] = i;
        }
    }
    return GBS_OK;
}

/* Decides where messages are stored, and counts the operations of a batch. */
static void place_messages(gbsi_case_tree *t)
{
    for (uint32_t i = 0; i < t->n_messages; ++i) {
        t->message[i].row = t->n_rows;
        t->n_rows += t->message[i].n_rows;
    }
    for (uint32_t i = 0; i < t->n_nodes; ++i) {
        const case_node *node = &t->node[i];
        const uint64_t sweep = node->n_entries * (node->n_operands + (uint64_t)2);
        t->n_operations += sweep * (node->observed + (node->asked ? node->n_operands + 1u : 0u));
    }
}

/* Stores each factor that some query leaves out as a message. No case changes these messages. */
static void fill_factors(compiling *c)
{
    gbsi_case_tree *t = c->cases;
    double *weight = t->weight;
    uint32_t message = t->first_factor;
    for (uint32_t k = 0; k < t->n_query; ++k) {
        double least = 1.0;
        if (c->query[k].without != NULL) {
            const size_t f = *c->query[k].without;
            const size_t n = gbsi_factor_size(&c->tree->model->factors, f);
            c->message_of[f] = message++;
            t->log_constant += take_weights(c, f, &least);
            assert(message <= t->n_messages);
            memcpy(weight, c->weight, n * sizeof *weight);
            weight += n;
        }
    }
}

static gbs_status compile(compiling *c, gbs_error *err)
{
    size_t n_axes = 0;
    size_t n_entries = 0;
    size_t n_p = 0;
    GBSI_PASS(find_homes(c, err));
    GBSI_PASS(take_memory(c, err));
    fill_factors(c);
    for (uint32_t k = 0; k < c->cases->n_query; ++k) {
        const uint32_t home = home_of(c, &c->query[k]);
        if (home != GBSI_NONE) {
            c->cases->node[home].asked = true;
        }
    }
    for (uint32_t i = 0; i < c->tree->n_cliques; ++i) {
        fill_node(c, i, &n_axes, &n_entries);
        if (gbsi_watch_stopped(c->watch)) {
            GBSI_PASS(gbsi_watch_fail(err, "making junction trees for cases"));
        }
    }
    for (uint32_t k = 0; k < c->cases->n_columns; ++k) {
        fill_column(c, k);
    }
    for (uint32_t k = 0; k < c->cases->n_query; ++k) {
        fill_query(c, k, &n_p);
    }
    place_messages(c->cases);
    return GBS_OK;
}

gbs_status gbsi_case_tree_new(const gbsi_conditioned *whole, const gbsi_tree *tree,
                              uint32_t n_columns, const uint32_t *column, uint32_t n_query,
                              const gbsi_case_scope *query, gbsi_watch *watch, gbsi_case_tree **out,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    compiling c = {.whole = whole, .tree = tree, .column = column, .query = query, .watch = watch};
    c.cases = gbsi_alloc_zero(sizeof *c.cases);
    GBSI_PASS(GBSI_HAVE(err, "cases", c.cases));
    c.cases->n_nodes = tree->n_cliques;
    c.cases->n_columns = n_columns;
    c.cases->n_query = n_query;
    c.cases->first_factor = n_columns + 2 * tree->n_cliques + n_query;
    c.cases->n_messages = c.cases->first_factor;
    for (uint32_t k = 0; k < n_query; ++k) {
        assert(query[k].without == NULL ||
               tree->chains ==
                   NULL); /* a tree whose model has no chains has the factor numbers of `whole` */
        c.cases->n_messages += query[k].without != NULL;
    }
    c.cases->log_constant = whole->log_constant;
    GBSI_TRY(compile(&c, err));
    *out = c.cases;
    c.cases = NULL;

cleanup:
    gbsi_case_tree_free(c.cases);
    GBSI_FREE(c.weight, c.column_of, c.home, c.message_of);
    return status;
}

uint64_t gbsi_case_tree_operations(const gbsi_case_tree *cases)
{
    return cases->n_operations * GBSI_CASE_LANES;
}
