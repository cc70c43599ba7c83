/* SPDX-License-Identifier: Apache-2.0 */
/* What holds of every junction tree, once it is made: asserts. Nothing where they are not compiled
 * in. */
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
