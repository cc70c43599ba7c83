/* SPDX-License-Identifier: Apache-2.0 */
/* From the root down, the state of each clique's own variables given those of its separator: either
 * the maximising state (on a chain, Viterbi's traceback) or a random draw. */
#include <assert.h>

#include "base/memory.h"
#include "exact/clique_table.h"
#include "exact/junction_tree.h"
#include "rng/philox.h"

/* The row of the table that belongs to the states of the separator. */
static size_t row_at(const gbsi_tables *tables, const gbsi_clique *c, const uint32_t *x)
{
    const gbsi_tree *tree = tables->tree;
    size_t row = 0;
    for (uint32_t k = 0; k < c->n_separator; ++k) {
        const uint32_t v = tree->variable[c->first + k];
        row = row * tree->model->arity[v] + x[v];
    }
    return row * c->n_columns;
}

static void set_column(const gbsi_tree *tree, const gbsi_clique *c, size_t column, uint32_t *x)
{
    const uint32_t *own = tree->variable + c->first + c->n_separator;
    for (uint32_t k = c->n_own; k-- > 0;) {
        const uint32_t arity = tree->model->arity[own[k]];
        x[own[k]] = (uint32_t)(column % arity);
        column /= arity;
    }
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
        gbsi_clique_remake(tables, i);
        const double *row = gbsi_table_of(tables, c) + row_at(tables, c, x);
        size_t best = 0;
        for (size_t k = 1; k < c->n_columns; ++k) {
            best = row[k] > row[best] ? k : best;
        }
        set_column(tree, c, best, x);
    }
}

/* ---- samples ------------------------------------------------------------------------------- */

/* Where the tables of the tree after t begin. */
static size_t next_base(const gbsi_tree *tree, uint32_t t, size_t base)
{
    const gbsi_clique *root = &tree->clique[tree->tree_end[t] - 1];
    return base + root->table + root->n_rows * root->n_columns;
}

void gbsi_tables_next(gbsi_tables *tables, uint32_t t)
{
    tables->base = next_base(tables->tree, t, tables->base);
}

void gbsi_tree_accumulate(gbsi_tables *tables)
{
    const gbsi_tree *tree = tables->tree;
    size_t base = 0;
    uint32_t i = 0;
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        for (; i < tree->tree_end[t]; ++i) {
            const gbsi_clique *c = &tree->clique[i];
            double *row = tables->table + base + c->table;
            assert(!c->maximise);
            for (size_t r = 0; r < c->n_rows; ++r, row += c->n_columns) {
                for (size_t k = 1; k < c->n_columns; ++k) {
                    row[k] += row[k - 1];
                }
            }
        }
        base = next_base(tree, t, base);
    }
}

/* The first running sum above u times the total: the weight of that entry is positive. */
static size_t find_column(const double *row, size_t n, double u)
{
    const double total = row[n - 1];
    double wanted = u * total;
    size_t low = 0;
    size_t high = n - 1;
    const bool rounded_up = wanted >= total; /* then take the first sum that equals the total */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool reached = rounded_up ? row[middle] >= total : row[middle] > wanted;
        low = reached ? low : middle + 1;
        high = reached ? middle : high;
    }
    return low;
}

void gbsi_tree_draw(const gbsi_tables *tables, uint64_t seed, uint32_t chain, uint64_t draw,
                    uint32_t *x)
{
    const gbsi_tree *tree = tables->tree;
    size_t base = tree->n_entries;
    for (uint32_t t = tree->n_trees; t-- > 0;) {
        const uint32_t first = t == 0 ? 0 : tree->tree_end[t - 1];
        const gbsi_clique *root = &tree->clique[tree->tree_end[t] - 1];
        base -= root->table + root->n_rows * root->n_columns;
        for (uint32_t i = tree->tree_end[t]; i-- > first;) {
            const gbsi_clique *c = &tree->clique[i];
            uint32_t word[4];
            gbsi_philox(seed, chain, draw, i, GBSI_PURPOSE_EXACT, word);
            const double *row = tables->table + base + c->table + row_at(tables, c, x);
            set_column(tree, c, find_column(row, c->n_columns, gbsi_uniform(word[0], word[1])), x);
        }
    }
}
