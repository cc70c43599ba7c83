/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/junction_tree.h"

#ifndef NDEBUG

#include <assert.h>

static uint32_t n_axes_of(const gbsi_clique *c)
{
    return c->n_separator + c->n_own;
}

static bool holds(const gbsi_tree *tree, const gbsi_clique *c, uint32_t v)
{
    uint32_t k = 0;
    while (k < n_axes_of(c) && tree->variable[c->first + k] != v) {
        ++k;
    }
    return k < n_axes_of(c);
}

/* Checks that n_rows is the number of joint states of the separator, and that n_columns is the
 * number of joint states of the clique's own variables. */
static void check_sizes(const gbsi_tree *tree, const gbsi_clique *c)
{
    size_t n = 1;
    assert(n_axes_of(c) <= GBSI_TREE_AXES);
    assert(c->first + n_axes_of(c) <= tree->n_variables);
    for (uint32_t k = 0; k < n_axes_of(c); ++k) {
        assert(tree->variable[c->first + k] < tree->model->n_variables);
        n *= tree->model->arity[tree->variable[c->first + k]];
    }
    assert(n == c->n_rows * c->n_columns);
    assert(n <= tree->n_largest && c->table + n <= tree->n_tables);
    assert(c->n_rows <= tree->n_rows && c->kept + c->n_rows <= tree->n_kept);
    assert(c->message + c->n_rows <= tree->n_stack);
}

/* Checks that clique i comes before its parent, and that the parent has all variables of clique i's
 * separator. If this holds for all cliques, the cliques that contain a variable form one subtree.
 */
static void check_place(const gbsi_tree *tree, uint32_t i)
{
    const gbsi_clique *c = &tree->clique[i];
    assert(c->size >= 1 && c->size <= i + 1);
    assert(c->parent == GBSI_NONE ? c->n_separator == 0 : c->parent > i);
    for (uint32_t k = 0; k < c->n_separator; ++k) {
        assert(holds(tree, &tree->clique[c->parent], tree->variable[c->first + k]));
    }
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        assert(tree->child[k] < i && tree->clique[tree->child[k]].parent == i);
    }
}

/* Checks that the factors of a clique ascend, and that the clique has all variables of these
 * factors. */
static void check_factors(const gbsi_tree *tree, uint32_t i)
{
    const gbsi_factors *f = &tree->model->factors;
    for (size_t k = tree->factor_start[i]; k < tree->factor_start[i + (size_t)1]; ++k) {
        const size_t factor = tree->factor[k];
        assert(k == tree->factor_start[i] || tree->factor[k - 1] < factor);
        for (size_t e = f->scope_start[factor]; e < f->scope_start[factor + 1]; ++e) {
            assert(holds(tree, &tree->clique[i], f->scope[e]));
        }
    }
}

void gbsi_tree_check(const gbsi_tree *tree)
{
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        check_sizes(tree, &tree->clique[i]);
        check_place(tree, i);
        check_factors(tree, i);
    }
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        assert(tree->tree_end[t] > (t == 0 ? 0 : tree->tree_end[t - 1]));
        assert(tree->clique[tree->tree_end[t] - 1].parent == GBSI_NONE);
    }
    assert(tree->n_trees == 0 || tree->tree_end[tree->n_trees - 1] == tree->n_cliques);
}

#endif
