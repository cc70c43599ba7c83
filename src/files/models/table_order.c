/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "models/tables.h"

/* Names of the orders. The index of a name consists of the bits GBSI_CHILD_SLOWEST and
 * GBSI_PARENTS_REVERSED. */
static const char *const names[] = {"parents-child", "child-parents", "reversed-child",
                                    "child-reversed"};
#define N_ORDERS (sizeof names / sizeof names[0])

const char *gbsi_table_order_name(unsigned order)
{
    assert(order < N_ORDERS);
    return names[order];
}

static const char *typed(const gbs_read_options *options)
{
    /* a struct without a size is of the first version, which does not have the member
     * table_order */
    return options->size == 0 ? NULL : options->table_order;
}

bool gbsi_table_order_typed(const gbs_read_options *options)
{
    return typed(options) != NULL;
}

bool gbsi_table_order_known(const gbs_read_options *options)
{
    const char *word = typed(options);
    size_t i = 0;
    while (word != NULL && i < N_ORDERS && strcmp(word, names[i]) != 0) {
        i++;
    }
    return i < N_ORDERS;
}

unsigned gbsi_table_order(const gbs_read_options *options, unsigned standard)
{
    const char *word = typed(options);
    unsigned order = 0;
    if (word == NULL) {
        return standard;
    }
    while (strcmp(word, names[order]) != 0) {
        order++;
        assert(order < N_ORDERS);
    }
    return order;
}

void gbsi_axes_add_parent(gbsi_axes *axes, uint32_t arity)
{
    if (arity > 1) {
        assert(axes->n_parents < GBSI_MAX_PARENT_AXES);
        axes->arity[axes->n_parents++] = arity;
    }
}

/* Finds the strides of the axes. The stride of an axis is the distance in the file between two
 * entries whose states on this axis differ by one.
 * @param stride [n_parents + 1] out: strides of the parents, then the stride of the child. */
static void find_strides(const gbsi_axes *axes, uint32_t child_arity, unsigned order,
                         size_t *stride)
{
    const uint32_t n = axes->n_parents;
    size_t step = 1;
    if ((order & GBSI_CHILD_SLOWEST) == 0) {
        stride[n] = step;
        step *= child_arity;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t axis = (order & GBSI_PARENTS_REVERSED) != 0 ? i : n - 1 - i;
        stride[axis] = step;
        step *= axes->arity[axis];
    }
    if ((order & GBSI_CHILD_SLOWEST) != 0) {
        stride[n] = step;
    }
}

void gbsi_axes_turn(const gbsi_axes *axes, uint32_t child_arity, unsigned order, const double *from,
                    double *to)
{
    const uint32_t n = axes->n_parents;
    size_t stride[GBSI_MAX_PARENT_AXES + 1];
    uint32_t state[GBSI_MAX_PARENT_AXES] = {0};
    size_t row = 0; /* index in the file of the first entry of the current row */
    find_strides(axes, child_arity, order, stride);
    for (;;) {
        for (uint32_t a = 0; a < child_arity; a++) {
            *to++ = from[row + a * stride[n]];
        }
        uint32_t axis = n;
        for (;;) { /* moves to the next row, where the last parent runs fastest */
            if (axis-- == 0) {
                return;
            }
            row += stride[axis];
            if (++state[axis] < axes->arity[axis]) {
                break;
            }
            row -= stride[axis] * axes->arity[axis];
            state[axis] = 0;
        }
    }
}
