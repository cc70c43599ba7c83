/* SPDX-License-Identifier: Apache-2.0 */
/* The data from which a junction tree is made. Only the files junction_tree*.c include this header.
 */
#ifndef GBSI_TREES_JUNCTION_TREE_MAKING_H
#define GBSI_TREES_JUNCTION_TREE_MAKING_H

#include "trees/junction_tree.h"

#define GBSI_HUB_VARIABLES 12u

/* A clique of the tree while the tree is being made. */
typedef struct group {
    uint32_t first, last; /* first and last of the positions of the elimination order that the group
                             eliminates */
    uint32_t n_own;
    uint32_t parent; /* number of the parent's group */
    uint32_t size;   /* number of cliques of the group's subtree */
    uint32_t start;  /* number of the first clique of the group's subtree */
    uint32_t n_children, first_child;
    uint32_t first_hub; /* first hub of the group; GBSI_NONE if the group has no hub */
    uint32_t hub; /* number of the hub from which this group was made; GBSI_NONE if the group is a
                     clique of the elimination */
    size_t n_rows, n_columns;
    size_t peak; /* largest size of the stack while the group's subtree is processed */
    size_t base; /* size of the stack before the group's subtree is processed */
} group;

/* A hub is a clique between a large clique and some of the large clique's children and factors. The
 * hub contains the variables of these children and factors. */
typedef struct hub {
    uint32_t of;   /* the group that has the hub */
    uint32_t next; /* next hub of the same group */
    uint32_t n_items;
    uint32_t group; /* the group that was made from this hub; GBSI_NONE if no group was made */
    uint32_t n;
    uint32_t variable[GBSI_HUB_VARIABLES];
    size_t entries;
} hub;

typedef struct making {
    const gbsi_elimination *e;
    const uint8_t *maximise;
    gbsi_tree *tree;
    uint32_t n_positions; /* number of positions of the elimination order */
    uint32_t *position; /* [model variables] position of each variable; GBSI_NONE if the variable's
                           component gets no tree */
    uint32_t *parent;   /* [positions] parent of each position */
    uint32_t *cover; /* [positions] the position whose clique absorbs the clique of each position */
    uint32_t *group_of; /* [positions] group that eliminates each position */
    uint32_t *by_last;  /* [groups] numbers of the groups in the order of their last positions, in
                           which children come before parents */
    uint32_t *child;    /* [groups] the children of all groups, sorted by parent */
    uint8_t *covered;   /* [positions] scratch */
    group *group;       /* [positions + hubs] groups; not all places are used */
    uint32_t n_groups;
    hub *hub;
    size_t hub_capacity;
    uint32_t n_hubs;
} making;

/* Puts hubs between large cliques and their children and factors. The function must be called after
 * groups are joined and before the children of groups are listed. */
gbs_status gbsi_tree_make_hubs(making *m, gbs_error *err);

/* Returns the group of a hub of `of` that contains all n variables; returns `of` if no hub contains
 * them. */
uint32_t gbsi_tree_hub_for(const making *m, uint32_t of, uint32_t n, const uint32_t *variable);

/* Finds the branches of the finished tree, and gives the messages of branches places of their own.
 */
gbs_status gbsi_tree_find_branches(gbsi_tree *tree, gbs_error *err);

#endif
