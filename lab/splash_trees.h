/* SPDX-License-Identifier: Apache-2.0 */
/* Grows the junction tree of a splash on a grid variable by variable (Gonzalez et al. 2011,
 * algorithm 5 and figure 3), and compares this tree with elimination from scratch. */
#ifndef LAB_SPLASH_TREES_H
#define LAB_SPLASH_TREES_H

#include "lab/lab.h"

#define LAB_TREE_STAGES 3
#define LAB_TREE_SHOWN  16u /* number of variables whose trees are written to tree.csv */

typedef struct lab_splash_tree {
    uint32_t n;
    double *variables; /* [n] numbers of variables 1, 2, ..., n */
    double *width;     /* [n] largest number of variables of a separator so far */
    /* largest number of variables of a separator in the final tree */
    uint32_t widest;
    /* number of cliques that differ from the cliques of elimination */
    uint32_t differ;
    /* pictures of the tree after 8, 16 and 32 variables, with a row for each clique */
    gbs_image stage[LAB_TREE_STAGES];
} lab_splash_tree;

extern const char *const lab_tree_stage_name[LAB_TREE_STAGES];

/* Grows the tree of a splash. @param pixel [n] pixels of a grid with `columns` columns, in the
 * order in which the splash took them.
 * @param table receives the rows of the first trees; may be NULL. @param tree must be zero before,
 * and must be freed in any case. */
gbs_status lab_splash_tree_grow(const uint32_t *pixel, uint32_t n, uint32_t columns,
                                lab_table *table, lab_splash_tree *tree, gbs_error *err);
#define LAB_SPLASH_TREE_HEADER "growth,variables,clique,row,column,parent,separator"
void lab_splash_tree_free(lab_splash_tree *tree);

#endif
