/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the branches of a tree, which are parts that threads can compute at the same time. Branches
 * and their memory depend only on the tree. The bits of a clique's table and message do not depend
 * on the thread that computes the clique. */
#include "base/memory.h"
#include "trees/clique_tables.h"
#include "trees/junction_tree_making.h"

static size_t entries_of(const gbsi_tree *t, uint32_t begin, uint32_t end)
{
    const gbsi_clique *last = &t->clique[end - 1];
    return last->table + last->n_rows * last->n_columns - t->clique[begin].table;
}

/* Finds the branches among cliques [begin, end), in ascending order. @param branch out: the
 * branches; NULL if the function must only count them.
 * @return number of branches. */
static uint32_t find(const gbsi_tree *t, uint32_t begin, uint32_t end, gbsi_branch *branch)
{
    uint32_t n = 0;
    gbsi_branch last = {begin, begin};
    for (uint32_t i = begin; i < end;) {
        uint32_t root = i; /* root of the largest subtree that begins with clique i and is small
                              enough for a branch */
        for (uint32_t up = i; up < end && up + 1 - t->clique[up].size == i;
             up = t->clique[up].parent) {
            if (entries_of(t, i, up + 1) > GBSI_BRANCH_ENTRIES) {
                break;
            }
            root = up;
            if (t->clique[up].parent == GBSI_NONE) {
                break;
            }
        }
        const bool small =
            t->clique[i].size == 1 && entries_of(t, i, root + 1) <= GBSI_BRANCH_ENTRIES;
        if (small && last.end == i && last.begin < i &&
            entries_of(t, last.begin, root + 1) <= GBSI_BRANCH_ENTRIES) {
            last.end = root + 1;
            n -= 1;
        } else if (small) {
            last = (gbsi_branch){i, root + 1};
        }
        if (small && branch != NULL) {
            branch[n] = last;
        }
        n += small;
        i = root + 1;
    }
    return n;
}

/* Returns whether the branches of a tree have enough entries to justify threads. */
static bool is_worthwhile(const gbsi_tree *t, const gbsi_branch *branch, uint32_t n)
{
    size_t entries = 0;
    for (uint32_t b = 0; b < n; ++b) {
        entries += entries_of(t, branch[b].begin, branch[b].end);
    }
    return n > 1 && entries >= GBSI_BRANCH_ENTRIES;
}

gbs_status gbsi_tree_find_branches(gbsi_tree *tree, gbs_error *err)
{
    size_t n = 0;
    size_t most = 0; /* largest number of message entries in the branches of one tree */
    uint32_t begin = 0;
    for (uint32_t t = 0; t < tree->n_trees; begin = tree->tree_end[t++]) {
        n += find(tree, begin, tree->tree_end[t], NULL);
    }
    tree->branch = gbsi_alloc_array(n, sizeof *tree->branch);
    tree->branch_start = gbsi_alloc_array_zero(tree->n_trees + (size_t)1, sizeof(uint32_t));
    GBSI_PASS(GBSI_HAVE(err, "junction tree", tree->branch, tree->branch_start));
    begin = 0;
    for (uint32_t t = 0; t < tree->n_trees; begin = tree->tree_end[t++]) {
        gbsi_branch *branch = tree->branch + tree->branch_start[t];
        uint32_t found = find(tree, begin, tree->tree_end[t], branch);
        size_t messages = 0;
        found = is_worthwhile(tree, branch, found) ? found : 0;
        tree->branch_start[t + 1] = tree->branch_start[t] + found;
        for (uint32_t b = 0; b < found; ++b) {
            for (uint32_t i = branch[b].begin; i < branch[b].end; ++i) {
                tree->clique[i].in_branch = true;
                tree->clique[i].message = tree->n_stack + messages;
                messages += tree->clique[i].n_rows;
            }
        }
        most = messages > most ? messages : most;
    }
    tree->n_stack += most;
    return GBS_OK;
}
