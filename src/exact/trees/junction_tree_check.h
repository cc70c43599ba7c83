/* SPDX-License-Identifier: Apache-2.0 */
/* Asserts the invariants of a junction tree, once it is made. Does nothing in builds without
 * asserts. */
#ifndef GBSI_TREES_JUNCTION_TREE_CHECK_H
#define GBSI_TREES_JUNCTION_TREE_CHECK_H

#include "trees/junction_tree.h"

#ifdef NDEBUG
static inline void gbsi_tree_check(const gbsi_tree *tree)
{
    (void)tree;
}
#else
void gbsi_tree_check(const gbsi_tree *tree);
#endif

#endif
