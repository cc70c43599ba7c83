/* SPDX-License-Identifier: Apache-2.0 */
/* The upward half of calibration, and the choice between weights and logarithms.
 *
 * The spread of a factor or message is ln of its largest weight over its smallest positive weight.
 * Let the largest weight of each factor and message be 1. A product of positive weights of several
 * factors and messages is then at least exp(- sum of their spreads). If the spreads of a clique add
 * up to at most MOST_SPREAD, every product of positive weights is a normal double, and no weight is
 * lost to underflow. If the spreads add up to more, the sums of the table's rows are checked. In a
 * row whose sum is at least LEAST_SUM, a lost entry is less than 2^-120 of the sum and does not
 * matter. If the sum of some row is below LEAST_SUM (perhaps 0), the table is made again in
 * logarithms. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "reference/local.h"
#include "simd/math.h"
#include "trees/clique_table.h"
#include "trees/clique_tables.h"

#define MOST_SPREAD 690.0    /* exp(-690) = 2^-995 */
#define LEAST_SUM   0x1p-900 /* in a row of at least this sum, no weight that matters is lost */

/* ---- weights or logarithms ----------------------------------------------------------------- */

/* Returns the spread of n log-weights. @param top out: the largest log-weight. */
static double spread_of_logs(const gbsi_pieces *pieces, const double *t, size_t n, double *top)
{
    *top = gbsi_pieces_max(pieces, t, n);
    return *top > -INFINITY ? *top - gbsi_pieces_least_above(pieces, t, n, -INFINITY) : 0.0;
}

/* Returns the sum of the spreads of clique i's factors and of its children's messages, and sets
 * tables->top of the factors. @param log_scale in and out: the function adds the logarithms of the
 * scales of these factors and messages. */
static double spread_of_operands(gbsi_tables *tables, uint32_t i, gbsi_sum *log_scale)
{
    const gbsi_tree *tree = tables->tree;
    const gbsi_pieces pieces = gbsi_pieces_of(tables);
    double spread = 0.0;
    for (size_t k = tree->factor_start[i]; k < tree->factor_start[i + (size_t)1]; ++k) {
        size_t n = 0;
        const double *logs = gbsi_factor_logs(tree->model, tree->factor[k], tables->factor, &n);
        double top = 0.0;
        spread += spread_of_logs(&pieces, logs, n, &top);
        tables->top[k] = top > -INFINITY ? top : 0.0; /* weights of 0 need no scale */
        *log_scale = gbsi_sum_add(*log_scale, (gbsi_sum){.high = top});
    }
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        spread += tables->spread[tree->child[k]];
    }
    return spread;
}

/* Turns the messages of clique i's children into logarithms, except messages that already have
 * logarithms. */
static void children_to_logs(gbsi_tables *tables, uint32_t i)
{
    const gbsi_tree *tree = tables->tree;
    const gbsi_pieces pieces = gbsi_pieces_of(tables);
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        const uint32_t child = tree->child[k];
        const gbsi_clique *c = &tree->clique[child];
        if (tables->spread[child] < INFINITY) {
            gbsi_pieces_log(&pieces, gbsi_message_of(tables, c), c->n_rows);
            tables->spread[child] = INFINITY;
        }
    }
}

/* ---- messages ------------------------------------------------------------------------------ */

/* Returns the place at which the message of clique i is written. It is written to its final place
 * if this place is free, otherwise to the stack behind the messages of clique i's children. */
static double *new_message(const gbsi_tables *tables, uint32_t i)
{
    const gbsi_tree *tree = tables->tree;
    double *at = gbsi_message_of(tables, &tree->clique[i]);
    if (gbsi_keeps_messages(tables->keep) || tree->clique[i].in_branch) {
        return at;
    }
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        at += tree->clique[tree->child[k]].n_rows;
    }
    return at;
}

/* Scales a message of weights so that its largest weight is 1, and turns it into logarithms if its
 * spread is too large. @return the logarithm of the number by which the weights were divided. */
static double normalise_weights(gbsi_tables *tables, uint32_t i, double *message)
{
    const gbsi_pieces pieces = gbsi_pieces_of(tables);
    const size_t n = tables->tree->clique[i].n_rows;
    const double top = gbsi_pieces_max(&pieces, message, n);
    tables->spread[i] = 0.0;
    if (!(top > 0.0)) {
        return -INFINITY;
    }
    const double log_top = gbsi_log(top);
    tables->spread[i] = log_top - gbsi_log(gbsi_pieces_least_above(&pieces, message, n, 0.0));
    assert(tables->spread[i] >= 0.0);
    gbsi_pieces_multiply(&pieces, message, n, 1.0 / top);
    if (tables->spread[i] > MOST_SPREAD) {
        gbsi_pieces_log(&pieces, message, n);
        tables->spread[i] = INFINITY;
    }
    return log_top;
}

/* Shifts a message of logarithms so that its largest entry is 0. If the parent clique is summed and
 * doubles can hold the weights, turns the message into weights. @return the number that was
 * subtracted. */
static double normalise_logs(gbsi_tables *tables, uint32_t i, double *message)
{
    const gbsi_pieces pieces = gbsi_pieces_of(tables);
    const gbsi_clique *c = &tables->tree->clique[i];
    double top = 0.0;
    const double spread = spread_of_logs(&pieces, message, c->n_rows, &top);
    const bool wanted = c->parent != GBSI_NONE && !tables->tree->clique[c->parent].maximise;
    const double unit = top > -INFINITY ? top : 0.0;
    assert(spread >= 0.0 && top < INFINITY);
    if (wanted && spread <= MOST_SPREAD) {
        gbsi_pieces_exp_less(&pieces, message, c->n_rows, unit);
        tables->spread[i] = spread;
    } else {
        gbsi_pieces_add(&pieces, message, c->n_rows, -unit);
        tables->spread[i] = INFINITY;
    }
    return top;
}

/* ---- a clique, a tree ---------------------------------------------------------------------- */

/* Tries to make the table of clique i with weights. @return whether the table lost no weight that
 * matters. */
static bool make_of_weights(gbsi_tables *tables, uint32_t i, double spread, double *message)
{
    const gbsi_clique *c = &tables->tree->clique[i];
    const gbsi_pieces pieces = gbsi_pieces_of(tables);
    if (c->maximise || spread == INFINITY) {
        return false;
    }
    tables->weights[i] = true;
    gbsi_clique_fill(tables, i, message);
    return spread <= MOST_SPREAD ||
           gbsi_pieces_least_above(&pieces, message, c->n_rows, -1.0) >= LEAST_SUM;
}

static void clique_up(gbsi_tables *tables, uint32_t i)
{
    const gbsi_clique *c = &tables->tree->clique[i];
    double *message = new_message(tables, i);
    gbsi_sum log_scale = {0};
    const double spread = spread_of_operands(tables, i, &log_scale);
    if (make_of_weights(tables, i, spread, message)) {
        const double top = normalise_weights(tables, i, message);
        log_scale = gbsi_sum_add(log_scale, (gbsi_sum){.high = top});
    } else {
        tables->weights[i] = false;
        children_to_logs(tables, i);
        gbsi_clique_fill(tables, i, message);
        log_scale = (gbsi_sum){.high = normalise_logs(tables, i, message)};
    }
    if (message != gbsi_message_of(tables, c)) {
        memmove(gbsi_message_of(tables, c), message, c->n_rows * sizeof *message);
    }
    tables->log_scale[2 * (size_t)i] = log_scale.high;
    tables->log_scale[2 * (size_t)i + 1] = log_scale.low;
}

void gbsi_clique_remake(gbsi_tables *tables, uint32_t i)
{
    if (tables->keep == GBSI_KEEP_MESSAGES) {
        gbsi_clique_fill(tables, i, tables->remade);
    }
}

static void branch_up(gbsi_tables *tables, void *context, const gbsi_branch *branch)
{
    (void)context;
    for (uint32_t i = branch->begin; i < branch->end && !gbsi_watch_stopped(tables->watch); ++i) {
        clique_up(tables, i);
    }
}

void gbsi_tree_up(gbsi_tables *tables, uint32_t t, double *log_z)
{
    const gbsi_tree *tree = tables->tree;
    gbsi_sum total = {0};
    const uint32_t first = t == 0 ? 0 : tree->tree_end[t - 1];
    gbsi_branches_do(tables, t, branch_up, NULL);
    for (uint32_t i = first; i < tree->tree_end[t] && !gbsi_watch_stopped(tables->watch); ++i) {
        if (!tree->clique[i].in_branch) {
            clique_up(tables, i);
        }
    }
    for (uint32_t i = first; i < tree->tree_end[t] && !gbsi_watch_stopped(tables->watch); ++i) {
        const double *part = tables->log_scale + 2 * (size_t)i;
        total = gbsi_sum_add(total, (gbsi_sum){part[0], part[1]});
    }
    *log_z = total.high + total.low;
}
