/* SPDX-License-Identifier: Apache-2.0 */
/* Operands are tables over some variables of a clique. A walk steps through the operands and the
 * clique's own table together.
 *
 * The innermost axes of the clique make a block of some hundred entries. Within a block an operand
 * is constant or contiguous, or it has runs of equal length, within which it is constant or
 * contiguous. A map, which is made once for each operand, lists the offsets of the runs. From one
 * block to the next the operand's offset changes by a sum of strides. */
#ifndef GBSI_TREES_OPERAND_H
#define GBSI_TREES_OPERAND_H

#include "trees/junction_tree.h"

#define GBSI_BLOCK 512 /* usual number of entries of a block; see gbsi_shape_most() */

typedef struct gbsi_shape {
    uint32_t n_axes;
    uint32_t n_outer; /* number of axes that are not part of a block */
    uint32_t arity[GBSI_TREE_AXES];
    size_t stride[GBSI_TREE_AXES]; /* stride of each axis in the clique's table */
    size_t block;                  /* entries of a block */
    size_t n_blocks;
} gbsi_shape;

/* Computes the shape of a clique, and the axis axis_of[v] of each variable v of the clique. */
void gbsi_shape_of(const gbsi_tree *tree, const gbsi_clique *clique, gbsi_shape *shape,
                   uint32_t *axis_of);
/* Returns the number of entries of the largest block of any clique of the tree. */
size_t gbsi_shape_most(const gbsi_tree *tree);

typedef enum gbsi_form {
    GBSI_CONSTANT,
    GBSI_DENSE,
    GBSI_LEVEL_RUNS, /* constant within a run */
    GBSI_DENSE_RUNS, /* contiguous within a run */
} gbsi_form;

typedef struct gbsi_operand {
    const double *data;
    gbsi_form form;
    size_t run;                    /* number of entries of a run */
    uint32_t *map;                 /* [block / run] offsets of runs, for the forms that have runs */
    size_t stride[GBSI_TREE_AXES]; /* stride of each axis of the clique; 0 for axes that the operand
                                      lacks */
    size_t carry[GBSI_TREE_AXES];  /* change of the offset by a step along each outer axis (modulo
                                      2^64) */
} gbsi_operand;

/* @param variable [n] variables of the operand, slowest first. @param map [shape->block] memory for
 * operand->map. */
void gbsi_operand_init(gbsi_operand *operand, const gbsi_shape *shape, const uint32_t *axis_of,
                       const uint32_t *arity, uint32_t n, const uint32_t *variable, uint32_t *map);

/* A walk over the outer axes in a given order; the last axis moves fastest. */
typedef struct gbsi_odometer {
    uint32_t n;
    uint32_t axis[GBSI_TREE_AXES];
    uint32_t arity[GBSI_TREE_AXES];
    uint32_t digit[GBSI_TREE_AXES];
} gbsi_odometer;

void gbsi_odometer_init(gbsi_odometer *o, const gbsi_shape *shape);
/* Sets the digits to the values that they have after `at` steps. */
void gbsi_odometer_set(gbsi_odometer *o, size_t at);
size_t gbsi_odometer_offset(const gbsi_odometer *o, const size_t *stride);
/* Computes carry[k] for each place k: the change of an offset by a step that carries into place k.
 */
void gbsi_odometer_carry(const gbsi_odometer *o, const size_t *stride, size_t *carry);
/* Takes one step. @return the place into which the step carries; also 0 after the last step. */
static inline uint32_t gbsi_odometer_step(gbsi_odometer *o)
{
    uint32_t k = o->n;
    while (k > 1 && o->digit[k - 1] + 1 == o->arity[k - 1]) {
        o->digit[--k] = 0;
    }
    if (k == 0) {
        return 0;
    }
    ++o->digit[k - 1];
    return k - 1;
}

#endif
