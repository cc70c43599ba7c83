/* SPDX-License-Identifier: Apache-2.0 */
/* Grows the junction tree of a splash on a grid variable by variable (Gonzalez et al. 2011,
 * algorithm 5 and figure 3), and compares this tree with elimination from scratch. */
#ifndef LAB_SPLASH_TREES_H
#define LAB_SPLASH_TREES_H

#include "lab/plot.h"
#include "splash/splash_tree.h"

#define LAB_TREE_STAGES 3
#define LAB_TREE_SHOWN  16u /* number of variables whose trees are written to tree.csv and drawn */

/* Part of a clique in the last step of growth. */
typedef enum lab_clique_part {
    LAB_CLIQUE_KEPT,
    LAB_CLIQUE_CHANGED, /* variables were passed on to this clique */
    LAB_CLIQUE_NEW,
} lab_clique_part;

/* A tree just after a variable has joined. */
typedef struct lab_tree_stage {
    uint32_t n;                      /* number of cliques; 0 for no stage */
    uint32_t parent[LAB_TREE_SHOWN]; /* the clique itself for a root */
    lab_clique_part part[LAB_TREE_SHOWN];
    /* "3: 0 +1" is the clique of variable 3, with separator 0, 1, of which 1 was passed on now */
    char text[LAB_TREE_SHOWN][32];
    uint32_t n_passed; /* number of variables that were passed on */
} lab_tree_stage;

typedef struct lab_splash_tree {
    uint32_t n;
    double *variables; /* [n] numbers of variables 1, 2, ..., n */
    double *width;     /* [n] largest number of variables of a separator so far */
    /* largest number of variables of a separator in the final tree */
    uint32_t widest;
    /* number of cliques that differ from the cliques of elimination */
    uint32_t differ;
    /* the step that passed on most variables, among steps 5 to 8, 9 to 12, and 13 to 16 */
    lab_tree_stage stage[LAB_TREE_STAGES];
    uint32_t row[LAB_TREE_SHOWN], column[LAB_TREE_SHOWN]; /* places of the first variables */
} lab_splash_tree;

/* Grows the tree of a splash. @param pixel [n] pixels of a grid with `columns` columns, in the
 * order in which the splash took them.
 * @param table receives the rows of the first trees; may be NULL. @param tree must be zero before,
 * and must be freed in any case. */
gbs_status lab_splash_tree_grow(const uint32_t *pixel, uint32_t n, uint32_t columns,
                                lab_table *table, lab_splash_tree *tree, gbs_error *err);
#define LAB_SPLASH_TREE_HEADER "growth,variables,clique,row,column,parent,separator"
void lab_splash_tree_free(lab_splash_tree *tree);

/* Records a step of growth as a stage, if it passed on more variables than the stage so far.
 * @param before [n][GBSI_SPLASH_WIDTH] separators before the step, filled up with UINT32_MAX. */
void lab_tree_stage_see(const gbsi_growth *growth, const uint32_t *before, lab_splash_tree *tree);
/* Writes trees.svg. */
gbs_status lab_splash_trees_draw(const laboratory *lab, const lab_splash_tree *first_come,
                                 const lab_splash_tree *by_coupling, gbs_error *err);

#endif
