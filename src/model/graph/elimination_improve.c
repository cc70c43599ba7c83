/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the local search for a better elimination order of a component: copies the component as a
 * separate graph, runs the search, and computes the cliques of the order that the search finds. */
#include <string.h>

#include "base/memory.h"
#include "graph/elimination_inside.h"
#include "graph/order_search.h"

/* a search is made only if it is allowed this multiple of the steps that its preparation costs */
#define WORTH 4u
/* Largest number of steps per table entry, if the number of steps is given */
#define MOST_STEPS 64u

typedef struct component {
    uint32_t n;
    size_t *start;
    uint32_t *to, *arity;
    uint32_t *order; /* order of the component's variables, as places in search.variable */
} component;

static size_t count_members(const gbsi_elimination *e, const gbsi_elimination_part *part)
{
    return e->clique_start[part->first + (size_t)part->n_variables] - e->clique_start[part->first];
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the number of steps that a search for a better order of a component may take. */
static uint64_t allowed_steps(const search *s, const gbsi_elimination_part *part)
{
    const uint64_t share = least(part->entries, s->limits.useful) / GBSI_ORDER_SHARE;
    if (s->limits.steps > 0) {
        return least(gbsi_saturating_mul(part->entries, MOST_STEPS), s->order_pool);
    }
    return part->entries > s->limits.useful ? least(share, s->order_pool) : share;
}

/* Returns whether the tables of a component are large enough to justify preparing a search. */
static bool is_worth(search *s, const gbsi_elimination_part *part, uint64_t room, uint64_t bytes)
{
    const uint64_t steps =
        20 * (uint64_t)part->n_variables + 2 * (room + count_members(s->e, part));
    return part->end == GBSI_ELIMINATION_DONE && part->width > GBSI_EASY_WIDTH &&
           allowed_steps(s, part) / WORTH >= steps && bytes <= s->limits.bytes &&
           gbsi_count_late(s, part->n_variables) == 0;
}

static void free_component(component *c)
{
    GBSI_FREE(c->start, c->to, c->arity, c->order);
}

static gbs_status make_component(search *s, const gbsi_elimination_part *part, uint64_t room,
                                 component *c, gbs_error *err)
{
    const uint32_t n = part->n_variables;
    c->n = n;
    c->start = gbsi_alloc_array_zero(n + (size_t)1, sizeof *c->start);
    c->to = gbsi_alloc_array(room, sizeof *c->to);
    c->arity = gbsi_alloc_array(n, sizeof *c->arity);
    c->order = gbsi_alloc_array(n, sizeof *c->order);
    GBSI_PASS(GBSI_HAVE(err, "elimination order", c->start, c->to, c->arity, c->order));
    gbsi_rows_free(s, n); /* the eliminations have changed the rows, which are made again here */
    GBSI_PASS(gbsi_rows_make(s, n, err));
    for (uint32_t i = 0; i < n; ++i) {
        s->local[s->variable[i]] = i;
    }
    for (uint32_t i = 0; i < n; ++i) {
        const vertex *x = &s->x[s->variable[i]];
        size_t end = c->start[i];
        c->arity[i] = s->arity[s->variable[i]];
        c->order[i] = s->local[s->e->order[part->first + i]];
        for (uint32_t k = 0; k < x->n; ++k) {
            c->to[end++] = s->local[x->to[k]];
        }
        c->start[i + (size_t)1] = end;
    }
    gbsi_rows_free(s, n);
    return GBS_OK;
}

/* Copies the members of one clique, which are few. Ascending numbers within the component are
 * ascending numbers in the model too. */
static void copy_clique(const search *s, const uint32_t *member, uint32_t n, uint32_t *to)
{
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t v = s->variable[member[i]];
        uint32_t k = i;
        for (; k > 0 && to[k - 1] > v; --k) {
            to[k] = to[k - 1];
        }
        to[k] = v;
    }
}

/* Replaces the order and the cliques of a component by the order and the cliques that the search
 * found. */
static gbs_status take_order(search *s, gbsi_elimination_part *part, const component *c,
                             const gbsi_order_cliques *cliques, gbs_error *err)
{
    gbsi_elimination *e = s->e;
    const size_t base = e->clique_start[part->first];
    void *pointer = e->clique;
    GBSI_PASS(gbsi_reserve(&pointer, &s->clique_capacity, base + cliques->start[c->n] + 1,
                           sizeof *e->clique, "elimination", err));
    e->clique = pointer;
    part->width = 0;
    for (uint32_t i = 0; i < c->n; ++i) {
        const uint32_t at = part->first + i;
        const uint32_t size = (uint32_t)(cliques->start[i + (size_t)1] - cliques->start[i]);
        e->order[at] = s->variable[c->order[i]];
        s->position[e->order[at]] = at;
        e->clique_start[at + (size_t)1] = base + cliques->start[i + (size_t)1];
        copy_clique(s, cliques->member + cliques->start[i], size,
                    e->clique + base + cliques->start[i]);
        part->width = size > part->width ? size : part->width;
    }
    part->entries = gbsi_elimination_tree(e, s->arity, part->first, part->first + c->n, s->position,
                                          NULL, s->covered);
    return GBS_OK;
}

gbs_status gbsi_elimination_improve(search *s, gbsi_elimination_part *part, gbs_error *err)
{
    gbs_status status = GBS_OK;
    component c = {0};
    gbsi_order_cliques cliques = {0};
    gbsi_order_result result;
    const bool fixed = s->limits.steps > 0;
    const bool pooled = fixed || part->entries > s->limits.useful;
    const gbsi_order_limits limits = {.entries = s->limits.useful,
                                      .work = fixed    ? allowed_steps(s, part)
                                              : pooled ? s->order_pool
                                                       : UINT64_MAX,
                                      .fixed = fixed,
                                      .watch = s->limits.watch};
    const uint64_t room = gbsi_rows_room(s, part->n_variables);
    const uint64_t bytes = gbsi_order_bytes(part->n_variables, count_members(s->e, part)) +
                           room * 2 * sizeof *c.to +
                           part->n_variables * (sizeof *c.start + 2 * sizeof *c.order);
    if (!is_worth(s, part, room, bytes)) {
        return GBS_OK;
    }
    GBSI_TRY(make_component(s, part, room, &c, err));
    const gbsi_order_graph graph = {.n = c.n, .start = c.start, .to = c.to, .arity = c.arity};
    GBSI_TRY(gbsi_order_improve(&graph, &limits, c.order, &result, err));
    if (result.entries < result.before) {
        GBSI_TRY(gbsi_order_cliques_init(&graph, c.order, &cliques, err));
        GBSI_TRY(take_order(s, part, &c, &cliques, err));
    }
    s->order_pool -= pooled ? least(result.work, s->order_pool) : 0;
    s->e->order_bytes = bytes > s->e->order_bytes ? bytes : s->e->order_bytes;

cleanup:
    gbsi_order_cliques_free(&cliques);
    free_component(&c);
    return status;
}
