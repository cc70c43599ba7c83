/* SPDX-License-Identifier: Apache-2.0 */
/* The junction tree of a splash on a grid as it grows, variable by variable (Gonzalez et al. 2011,
 * algorithm 5 and figure 3), held against elimination from scratch. */
#ifndef LAB_SPLASH_TREES_H
#define LAB_SPLASH_TREES_H

#include "lab/lab.h"

#define LAB_TREE_STAGES 3
#define LAB_TREE_SHOWN  16u /* variables whose trees are in tree.csv */

typedef struct lab_splash_tree {
    uint32_t n;
    double *variables;                /* [n] 1, 2, ..., n */
    double *width;                    /* [n] variables of the largest separator by then */
    uint32_t widest;                  /* in the end */
    uint32_t differ;                  /* cliques that differ from those of elimination */
    gbs_image stage[LAB_TREE_STAGES]; /* after 8, 16, 32 variables: a row a clique */
} lab_splash_tree;

extern const char *const lab_tree_stage_name[LAB_TREE_STAGES];

/* @param pixel [n] of a grid with this many columns, in the order in which the splash took them.
 * @param table NULL, or the rows of the first trees go there. @param tree zero; free in any case.
 */
gbs_status lab_splash_tree_grow(const uint32_t *pixel, uint32_t n, uint32_t columns,
                                lab_table *table, lab_splash_tree *tree, gbs_error *err);
#define LAB_SPLASH_TREE_HEADER "growth,variables,clique,row,column,parent,separator"
void lab_splash_tree_free(lab_splash_tree *tree);

#endif
