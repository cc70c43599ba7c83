/* SPDX-License-Identifier: Apache-2.0 */
/* Finds states from the root down. Given the states of a clique's separator, the clique's own
 * variables get their maximising states, or states that are drawn at random. On a chain, the
 * maximising states are Viterbi's traceback. */
#include <assert.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "trees/clique_table.h"
#include "trees/junction_tree.h"

/* Returns the number of the row that belongs to the states x of the separator. */
static size_t row_at(const gbsi_tree *tree, const gbsi_clique *c, const uint32_t *x)
{
    size_t row = 0;
    for (uint32_t k = 0; k < c->n_separator; ++k) {
        const uint32_t v = tree->variable[c->first + k];
        assert(x[v] < tree->model->arity[v]);
        row = row * tree->model->arity[v] + x[v];
    }
    return row;
}

void gbsi_clique_set_column(const gbsi_tree *tree, const uint32_t *arity, const gbsi_clique *c,
                            size_t column, uint32_t *x)
{
    const uint32_t *own = tree->variable + c->first + c->n_separator;
    for (uint32_t k = c->n_own; k-- > 0;) {
        x[own[k]] = (uint32_t)(column % arity[own[k]]);
        column /= arity[own[k]];
    }
}

/* Computes one row of clique i's table again, from the factors of the clique and the messages of
 * its children. They are combined in the order in which the table was filled. The row has weights
 * or log-weights, as the table had.
 * @param x states of the separator; afterwards the states of the own variables are undefined.
 * @param base start of the messages of the tree. */
static double *make_row(gbsi_tables *tables, uint32_t i, size_t base, uint32_t *x)
{
    const gbsi_tree *tree = tables->tree;
    const gbsi_clique *c = &tree->clique[i];
    const gbsi_table_loops *loops = gbsi_table_loops_now();
    const gbsi_take_in *take_in = tables->weights[i] ? &loops->multiply : &loops->add;
    for (size_t column = 0; column < c->n_columns; ++column) {
        double t = take_in->nothing;
        gbsi_clique_set_column(tree, tree->model->arity, c, column, x);
        for (size_t k = tree->factor_start[i]; k < tree->factor_start[i + (size_t)1]; ++k) {
            double value =
                gbsi_factor_value(&tree->model->factors, tree->model->arity, tree->factor[k], x);
            if (tables->weights[i]) {
                loops->exp_less(&value, 1, tables->top[k]);
            }
            take_in->constant(&t, 1, value);
        }
        for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
            const gbsi_clique *child = &tree->clique[tree->child[k]];
            take_in->constant(&t, 1, tables->stack[base + child->kept + row_at(tree, child, x)]);
        }
        tables->table[column] = t;
    }
    return tables->table;
}

void gbsi_tree_trace(gbsi_tables *tables, uint32_t t, uint32_t *x)
{
    const gbsi_tree *tree = tables->tree;
    const uint32_t first = t == 0 ? 0 : tree->tree_end[t - 1];
    for (uint32_t i = tree->tree_end[t]; i-- > first;) {
        const gbsi_clique *c = &tree->clique[i];
        if (!c->maximise) {
            continue;
        }
        const double *row = gbsi_keeps_messages(tables->keep)
                                ? make_row(tables, i, tables->kept_base, x)
                                : gbsi_table_of(tables, c) + row_at(tree, c, x) * c->n_columns;
        size_t best = 0;
        for (size_t k = 1; k < c->n_columns; ++k) {
            best = row[k] > row[best] ? k : best;
        }
        gbsi_clique_set_column(tree, tree->model->arity, c, best, x);
    }
}

/* ---- samples ------------------------------------------------------------------------------- */

/* table_entries() and kept_entries() count the entries of the tables and of the messages of tree t.
 */
static size_t table_entries(const gbsi_tree *tree, uint32_t t)
{
    const gbsi_clique *root = &tree->clique[tree->tree_end[t] - 1];
    return root->table + root->n_rows * root->n_columns;
}
static size_t kept_entries(const gbsi_tree *tree, uint32_t t)
{
    const gbsi_clique *root = &tree->clique[tree->tree_end[t] - 1];
    return root->kept + root->n_rows;
}

void gbsi_tables_next(gbsi_tables *tables, uint32_t t)
{
    tables->base += table_entries(tables->tree, t);
    tables->kept_base += kept_entries(tables->tree, t);
}

static void accumulate(double *row, size_t n)
{
    for (size_t k = 1; k < n; ++k) {
        row[k] += row[k - 1];
    }
}

void gbsi_tree_accumulate(gbsi_tables *tables)
{
    const gbsi_tree *tree = tables->tree;
    size_t base = 0;
    uint32_t i = 0;
    for (uint32_t t = 0; tables->keep == GBSI_KEEP_ALL && t < tree->n_trees; ++t) {
        for (; i < tree->tree_end[t]; ++i) {
            const gbsi_clique *c = &tree->clique[i];
            double *row = tables->table + base + c->table;
            assert(!c->maximise);
            for (size_t r = 0; r < c->n_rows; ++r, row += c->n_columns) {
                accumulate(row, c->n_columns);
            }
        }
        base += table_entries(tree, t);
    }
}

/* The result is a column of positive weight. */
size_t gbsi_draw_column(const double *sum, size_t n, double u)
{
    const double total = sum[n - 1];
    assert(n > 0 && total > 0.0 && u >= 0.0 && u <= 1.0);
    double wanted = u * total;
    size_t low = 0;
    size_t high = n - 1;
    const bool rounded_up =
        wanted >= total; /* if so, the first column whose running sum equals the total is drawn */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool reached = rounded_up ? sum[middle] >= total : sum[middle] > wanted;
        low = reached ? low : middle + 1;
        high = reached ? middle : high;
    }
    return low;
}

/* Returns the running sums of the row of clique i for the states x of its separator. The row is
 * proportional to p(own | separator). @param base, kept_base start of the tables and start of the
 * kept messages of the clique's tree. */
static const double *running_sums(gbsi_tables *tables, uint32_t i, size_t base, size_t kept_base,
                                  uint32_t *x)
{
    const gbsi_clique *c = &tables->tree->clique[i];
    if (tables->keep == GBSI_KEEP_ALL) {
        return tables->table + base + c->table + row_at(tables->tree, c, x) * c->n_columns;
    }
    double *row = make_row(tables, i, kept_base, x);
    if (!tables->weights[i]) {
        gbsi_clique_finish_row(tables, c, row);
    }
    accumulate(row, c->n_columns);
    return row;
}

void gbsi_tree_draw(gbsi_tables *tables, uint64_t seed, uint32_t chain, uint64_t draw, uint32_t *x)
{
    const gbsi_tree *tree = tables->tree;
    size_t base = tree->n_entries;
    size_t kept_base = tree->n_messages;
    assert(tables->keep == GBSI_KEEP_ALL || tables->keep == GBSI_KEEP_ALL_MESSAGES);
    for (uint32_t t = tree->n_trees; t-- > 0;) {
        const uint32_t first = t == 0 ? 0 : tree->tree_end[t - 1];
        base -= table_entries(tree, t);
        kept_base -= kept_entries(tree, t);
        for (uint32_t i = tree->tree_end[t]; i-- > first;) {
            const gbsi_clique *c = &tree->clique[i];
            uint32_t word[4];
            gbsi_philox(seed, chain, draw, c->stream, GBSI_PURPOSE_EXACT, word);
            const double *row = running_sums(tables, i, base, kept_base, x);
            const size_t column =
                gbsi_draw_column(row, c->n_columns, gbsi_uniform(word[0], word[1]));
            gbsi_clique_set_column(tree, tree->model->arity, c, column, x);
        }
    }
}
