/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan of a draw from an elimination order: lists the rows that are multiplied in each
 * bucket, and all offsets. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "block/block_inside.h"

/* Nanoseconds that a row of sixteen doubles takes in a draw. ROW_NS: the row is multiplied on the
 * way up. GATHER_NS: the row is gathered on the way down or for a slice. */
#define ROW_NS    3.0
#define GATHER_NS 12.0

/* The variables of a table; the state of the last variable varies fastest along the rows. */
typedef struct axes {
    uint32_t n;
    const uint32_t *variable;
} axes;

typedef struct making {
    const gbsi_blocks *blocks;
    const gbsi_block_order *order;
    gbsi_block_plan *plan;
    /* Lists of the factors and messages that each bucket multiplies. */
    size_t *first_factor; /* [n_variables] first factor of each bucket; SIZE_MAX if the bucket has
                             no factor */
    size_t *next_factor;  /* [n_factors] next factor of the same bucket */
    uint32_t *first_child,
        *next_child; /* [n_variables] lists of the buckets whose messages go to each bucket */
} making;

#define ROOM(array, room, n, err) \
    gbsi_reserve((void **)(void *)&(array), &(room), (n), sizeof *(array), "blocks", err)

static bool is_held(const making *m, uint32_t v)
{
    return m->order->position[v] == GBSI_NONE;
}

static size_t stride_in(const gbsi_conditioned *model, axes a, uint32_t v)
{
    size_t stride = 1;
    for (uint32_t i = a.n; i-- > 0;) {
        if (a.variable[i] == v) {
            return stride;
        }
        stride *= model->arity[a.variable[i]];
    }
    return 0;
}

/* Appends offsets: for every joint state of `over`, the last variable fastest, the row number in a
 * table over `from`. Variables of `from` that are not in `over` have state 0. */
static gbs_status add_offsets(making *m, axes over, axes from, size_t *first, uint32_t *n,
                              gbs_error *err)
{
    const gbsi_conditioned *model = m->blocks->model;
    gbsi_block_plan *p = m->plan;
    size_t stride[GBSI_BLOCK_CLIQUE + 1];
    uint32_t digit[GBSI_BLOCK_CLIQUE + 1] = {0};
    size_t entries = 1;
    assert(over.n <= GBSI_BLOCK_CLIQUE);
    for (uint32_t i = 0; i < over.n; ++i) {
        stride[i] = stride_in(model, from, over.variable[i]);
        entries *= model->arity[over.variable[i]];
    }
    GBSI_PASS(ROOM(p->offset, p->room_offset, p->n_offsets + entries, err));
    size_t at = 0;
    for (size_t e = 0; e < entries; ++e) {
        assert(at < GBSI_BLOCK_MOST);
        p->offset[p->n_offsets + e] = (uint16_t)at;
        for (uint32_t k = over.n; k-- > 0;) {
            at += stride[k];
            if (++digit[k] < model->arity[over.variable[k]]) {
                break;
            }
            at -= stride[k] * digit[k];
            digit[k] = 0;
        }
    }
    *first = p->n_offsets;
    *n = (uint32_t)entries;
    p->n_offsets += entries;
    return GBS_OK;
}

/* ---- factors --------------------------------------------------------------------------------- */

static axes scope_of(const making *m, size_t f)
{
    const gbsi_factors *factors = &m->blocks->model->factors;
    return (axes){(uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]),
                  factors->scope + factors->scope_start[f]};
}

/* Lists the variables of a factor that are not held, in the order of its scope. @return the
 * number of these variables. */
static uint32_t drawn_of(const making *m, size_t f, uint32_t drawn[GBSI_BLOCK_CLIQUE])
{
    const axes scope = scope_of(m, f);
    uint32_t n = 0;
    for (uint32_t i = 0; i < scope.n; ++i) {
        if (!is_held(m, scope.variable[i])) {
            drawn[n++] = scope.variable[i];
        }
    }
    return n;
}

/* Returns the bucket of a factor, which is the bucket of the first eliminated variable in its
 * scope; GBSI_NONE if all its variables are held. */
static uint32_t home_of(const making *m, size_t f)
{
    const axes scope = scope_of(m, f);
    uint32_t home = GBSI_NONE;
    for (uint32_t i = 0; m->blocks->table[f] != SIZE_MAX && i < scope.n; ++i) {
        const uint32_t position = m->order->position[scope.variable[i]];
        home = position < home ? position : home;
    }
    return home;
}

static gbs_status list_factors(making *m, gbs_error *err)
{
    const gbsi_conditioned *model = m->blocks->model;
    const size_t n = model->factors.n_factors;
    m->first_factor = gbsi_alloc_array(model->n_variables, sizeof *m->first_factor);
    m->next_factor = gbsi_alloc_array(n, sizeof *m->next_factor);
    m->first_child = gbsi_alloc_array(model->n_variables, sizeof *m->first_child);
    m->next_child = gbsi_alloc_array(model->n_variables, sizeof *m->next_child);
    GBSI_PASS(
        GBSI_HAVE(err, "blocks", m->first_factor, m->next_factor, m->first_child, m->next_child));
    memset(m->first_factor, 0xff, model->n_variables * sizeof *m->first_factor);
    memset(m->first_child, 0xff, model->n_variables * sizeof *m->first_child);
    for (size_t f = n; f-- > 0;) { /* the loop adds factors at the heads of lists and goes
                                      backwards, so that the lists ascend */
        const uint32_t home = home_of(m, f);
        if (home != GBSI_NONE) {
            m->next_factor[f] = m->first_factor[home];
            m->first_factor[home] = f;
        }
    }
    return GBS_OK;
}

/* Adds the slice of a factor to the plan, with the slice's rows, offsets and strides. */
static gbs_status add_slice(making *m, size_t f, axes drawn, gbs_error *err)
{
    gbsi_block_plan *p = m->plan;
    const axes scope = scope_of(m, f);
    gbsi_block_slice s = {.table = m->blocks->table[f],
                          .row = p->n_slice_rows,
                          .held = (uint32_t)p->n_held_strides,
                          .n_held = scope.n - drawn.n};
    const size_t end = p->n_held_strides + s.n_held;
    GBSI_PASS(ROOM(p->slice, p->room_slice, p->n_slices + (size_t)1, err));
    GBSI_PASS(ROOM(p->held_variable, p->room_held_variable, end, err));
    GBSI_PASS(ROOM(p->held_stride, p->room_held_stride, end, err));
    GBSI_PASS(add_offsets(m, drawn, scope, &s.offset, &s.n_rows, err));
    for (uint32_t i = 0; i < scope.n; ++i) {
        if (is_held(m, scope.variable[i])) {
            p->held_variable[p->n_held_strides] = scope.variable[i];
            p->held_stride[p->n_held_strides++] =
                (uint32_t)stride_in(m->blocks->model, scope, scope.variable[i]);
        }
    }
    p->slice[p->n_slices++] = s;
    p->n_slice_rows += s.n_rows;
    p->operations += GATHER_NS * s.n_rows;
    return GBS_OK;
}

static gbs_status add_item(making *m, axes clique, axes from, gbsi_block_source source, size_t row,
                           gbs_error *err)
{
    gbsi_block_plan *p = m->plan;
    gbsi_block_item item = {.source = source, .row = row};
    uint32_t n = 0;
    GBSI_PASS(ROOM(p->item, p->room_item, p->n_items + 1, err));
    GBSI_PASS(add_offsets(m, clique, from, &item.offset, &n, err));
    p->item[p->n_items++] = item;
    p->operations +=
        ROW_NS * n + GATHER_NS * m->blocks->model->arity[clique.variable[clique.n - 1]];
    return GBS_OK;
}

static gbs_status add_factor(making *m, size_t f, axes clique, gbs_error *err)
{
    uint32_t variable[GBSI_BLOCK_CLIQUE];
    const axes drawn = {drawn_of(m, f, variable), variable};
    if (drawn.n == scope_of(m, f).n) {
        return add_item(m, clique, drawn, GBSI_BLOCK_TABLE, m->blocks->table[f], err);
    }
    GBSI_PASS(add_slice(m, f, drawn, err));
    return add_item(m, clique, drawn, GBSI_BLOCK_SLICE, m->plan->slice[m->plan->n_slices - 1].row,
                    err);
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* Adds the clique of v: its neighbours in the reverse order of elimination, and then v itself. */
static gbs_status add_clique(making *m, uint32_t v, axes *clique, gbs_error *err)
{
    gbsi_block_plan *p = m->plan;
    const gbsi_block_clique *c = &m->order->clique[v];
    GBSI_PASS(ROOM(p->neighbour, p->room_neighbour, p->n_neighbours + c->n + 1, err));
    uint32_t *to = p->neighbour + p->n_neighbours;
    for (uint32_t i = 0; i < c->n; ++i) {
        uint32_t k = i;
        for (; k > 0 && m->order->position[to[k - 1]] < m->order->position[c->member[i]]; --k) {
            to[k] = to[k - 1];
        }
        to[k] = c->member[i];
    }
    to[c->n] = v;
    p->n_neighbours += c->n + (size_t)1;
    *clique = (axes){c->n + 1, to};
    return GBS_OK;
}

static gbs_status add_bucket(making *m, uint32_t position, gbs_error *err)
{
    gbsi_block_plan *p = m->plan;
    const gbsi_conditioned *model = m->blocks->model;
    const uint32_t v = m->order->order[position];
    gbsi_block_bucket *b = &p->bucket[position];
    axes clique = {0};
    *b = (gbsi_block_bucket){.variable = v,
                             .arity = model->arity[v],
                             .neighbour = (uint32_t)p->n_neighbours,
                             .n_neighbours = m->order->clique[v].n,
                             .item = (uint32_t)p->n_items,
                             .n_rows = 1,
                             .message = p->n_message_rows};
    GBSI_PASS(add_clique(m, v, &clique, err));
    for (uint32_t i = 0; i < b->n_neighbours; ++i) {
        b->n_rows *= model->arity[clique.variable[i]];
    }
    for (size_t f = m->first_factor[position]; f != SIZE_MAX; f = m->next_factor[f]) {
        GBSI_PASS(add_factor(m, f, clique, err));
    }
    for (uint32_t c = m->first_child[position]; c != GBSI_NONE; c = m->next_child[c]) {
        const gbsi_block_bucket *child = &p->bucket[c];
        const axes from = {child->n_neighbours, p->neighbour + child->neighbour};
        GBSI_PASS(add_item(m, clique, from, GBSI_BLOCK_MESSAGE, child->message, err));
    }
    b->n_items = (uint32_t)p->n_items - b->item;
    p->n_message_rows += b->n_rows;
    if (b->n_neighbours > 0) { /* the bucket's message goes to the neighbour of its variable that
                                  is eliminated next */
        const uint32_t to = m->order->position[clique.variable[b->n_neighbours - 1]];
        m->next_child[position] = m->first_child[to];
        m->first_child[to] = position;
    }
    return GBS_OK;
}

static gbs_status plan_init(const gbsi_block_order *order, uint32_t n, gbsi_block_plan *p,
                            gbs_error *err)
{
    p->n_buckets = order->n_eliminated;
    p->bucket = gbsi_alloc_array(p->n_buckets, sizeof *p->bucket);
    p->held = gbsi_alloc_array(n - p->n_buckets, sizeof *p->held);
    GBSI_PASS(GBSI_HAVE(err, "blocks", p->bucket, p->held));
    for (uint32_t v = 0; v < n; ++v) {
        if (order->position[v] == GBSI_NONE) {
            p->held[p->n_held++] = v;
        }
    }
    return GBS_OK;
}

/* Makes room behind the offsets, because gathers of sixteen offsets read a few bytes beyond the
 * last one. */
static gbs_status pad_offsets(gbsi_block_plan *p, gbs_error *err)
{
    return ROOM(p->offset, p->room_offset, p->n_offsets + 8, err);
}

gbs_status gbsi_block_plan_make(const gbsi_blocks *blocks, const gbsi_block_order *order,
                                gbsi_block_plan *plan, gbs_error *err)
{
    gbs_status status = GBS_OK;
    making m = {.blocks = blocks, .order = order, .plan = plan};
    GBSI_TRY(plan_init(order, blocks->model->n_variables, plan, err));
    GBSI_TRY(list_factors(&m, err));
    for (uint32_t position = 0; position < plan->n_buckets; ++position) {
        GBSI_TRY(add_bucket(&m, position, err));
    }
    GBSI_TRY(pad_offsets(plan, err));

cleanup:
    GBSI_FREE(m.first_factor, m.next_factor, m.first_child, m.next_child);
    return status;
}

void gbsi_block_plan_free(gbsi_block_plan *plan)
{
    GBSI_FREE(plan->bucket, plan->held, plan->slice, plan->neighbour, plan->item, plan->offset,
              plan->held_variable, plan->held_stride);
}
