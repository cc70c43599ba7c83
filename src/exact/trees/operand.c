/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/operand.h"

#include <assert.h>
#include <string.h>

#define LEAST_BLOCK 16u
#define MOST_BLOCK  65536u

/* Returns the number of entries of a block of clique c. Axes are added to the block, starting with
 * the fastest, until the block is large enough. A large axis is added only if the block has very
 * few entries so far, so that maps stay below a million entries. */
static size_t block_of(const gbsi_tree *tree, const gbsi_clique *c, uint32_t *n_outer)
{
    const uint32_t *variable = tree->variable + c->first;
    uint32_t k = c->n_separator + c->n_own;
    size_t block = 1;
    while (k > 0 && block < GBSI_BLOCK) {
        const uint32_t arity = tree->model->arity[variable[k - 1]];
        if (block >= LEAST_BLOCK && block * arity > MOST_BLOCK) {
            break;
        }
        block *= arity;
        --k;
    }
    *n_outer = k;
    return block;
}

void gbsi_shape_of(const gbsi_tree *tree, const gbsi_clique *clique, gbsi_shape *shape,
                   uint32_t *axis_of)
{
    const uint32_t *variable = tree->variable + clique->first;
    size_t stride = 1;
    shape->n_axes = clique->n_separator + clique->n_own;
    assert(shape->n_axes <= GBSI_TREE_AXES);
    for (uint32_t k = shape->n_axes; k-- > 0;) {
        shape->arity[k] = tree->model->arity[variable[k]];
        shape->stride[k] = stride;
        stride *= shape->arity[k];
        axis_of[variable[k]] = k;
    }
    shape->block = block_of(tree, clique, &shape->n_outer);
    shape->n_blocks = stride / shape->block;
    assert(shape->n_blocks * shape->block == stride); /* the table consists of whole blocks */
}

size_t gbsi_shape_most(const gbsi_tree *tree)
{
    size_t most = 1;
    uint32_t n_outer = 0;
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        const size_t block = block_of(tree, &tree->clique[i], &n_outer);
        most = block > most ? block : most;
    }
    return most;
}

/* Fills operand->map with the offsets of the operand's runs within a block, in the order of the
 * block's entries.
 * @param end first axis that is inside a run; axes of the block before `end` distinguish runs. */
static void make_map(gbsi_operand *operand, const gbsi_shape *shape, uint32_t end)
{
    size_t n = 1;
    operand->map[0] = 0;
    for (uint32_t k = shape->n_outer; k < end; ++k) {
        /* each offset is replaced by arity[k] offsets; the loop goes backwards because this happens
         * in place */
        const uint32_t arity = shape->arity[k];
        for (size_t i = n; i-- > 0;) {
            const uint32_t from = operand->map[i];
            for (uint32_t a = arity; a-- > 0;) {
                operand->map[i * arity + a] = from + (uint32_t)(a * operand->stride[k]);
            }
        }
        n *= arity;
    }
    assert(n * operand->run == shape->block);
}

/* Finds the form of an operand from its strides. @return the first axis that is inside a run. */
static uint32_t find_form(gbsi_operand *operand, const gbsi_shape *shape)
{
    uint32_t k = shape->n_axes;
    const bool level = k > 0 && operand->stride[k - 1] == 0;
    operand->run = 1;
    for (; k > shape->n_outer && operand->stride[k - 1] == (level ? 0 : shape->stride[k - 1]);
         --k) {
        operand->run *= shape->arity[k - 1];
    }
    operand->form = k > shape->n_outer ? (level ? GBSI_LEVEL_RUNS : GBSI_DENSE_RUNS)
                                       : (level ? GBSI_CONSTANT : GBSI_DENSE);
    return k;
}

void gbsi_operand_init(gbsi_operand *operand, const gbsi_shape *shape, const uint32_t *axis_of,
                       const uint32_t *arity, uint32_t n, const uint32_t *variable, uint32_t *map)
{
    size_t stride = 1;
    memset(operand->stride, 0, shape->n_axes * sizeof *operand->stride);
    for (uint32_t i = n; i-- > 0;) {
        assert(axis_of[variable[i]] < shape->n_axes);
        operand->stride[axis_of[variable[i]]] = stride;
        stride *= arity[variable[i]];
    }
    operand->map = map;
    const uint32_t end = find_form(operand, shape);
    if (operand->form == GBSI_LEVEL_RUNS || operand->form == GBSI_DENSE_RUNS) {
        make_map(operand, shape, end);
    }
}

void gbsi_odometer_init(gbsi_odometer *o, const gbsi_shape *shape)
{
    o->n = shape->n_outer;
    for (uint32_t k = 0; k < o->n; ++k) {
        o->axis[k] = k;
        o->arity[k] = shape->arity[k];
        o->digit[k] = 0;
    }
}

void gbsi_odometer_set(gbsi_odometer *o, size_t at)
{
    for (uint32_t k = o->n; k-- > 0;) {
        o->digit[k] = (uint32_t)(at % o->arity[k]);
        at /= o->arity[k];
    }
}

size_t gbsi_odometer_offset(const gbsi_odometer *o, const size_t *stride)
{
    size_t offset = 0;
    for (uint32_t k = 0; k < o->n; ++k) {
        offset += o->digit[k] * stride[o->axis[k]];
    }
    return offset;
}

void gbsi_odometer_carry(const gbsi_odometer *o, const size_t *stride, size_t *carry)
{
    size_t back = 0; /* amount by which the offset falls when all digits after k go from their last
                        values to 0 */
    for (uint32_t k = o->n; k-- > 0;) {
        carry[k] = stride[o->axis[k]] - back;
        back += stride[o->axis[k]] * (o->arity[k] - 1);
    }
}
