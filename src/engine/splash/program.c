/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/program.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

typedef struct builder {
    const gbsi_potentials *potentials;
    const gbsi_growth *growth;
    const gbsi_ownership *own;
    uint32_t tag;
    gbsi_splash_program *program;
} builder;

#ifndef NDEBUG
/* Checks that the parent of a clique has all variables of the clique's separator, so that the
 * cliques of each variable form one subtree [M35]. */
static void check_separator(const gbsi_growth *g, uint32_t i)
{
    const uint32_t *separator = gbsi_growth_separator(g, i);
    const uint32_t parent = gbsi_growth_parent(g, i);
    uint64_t rows = 1;
    uint32_t at = 0;
    for (uint32_t j = 0; j < g->clique[i].n_separator; ++j) {
        assert(separator[j] < i && (j == 0 || separator[j - 1] < separator[j]));
        rows *= g->clique[separator[j]].arity;
        while (separator[j] != parent && gbsi_growth_separator(g, parent)[at] != separator[j]) {
            ++at;
            assert(at < g->clique[parent].n_separator);
        }
    }
    assert(g->clique[i].n_separator <= g->width);
    assert(rows == g->clique[i].n_rows);
}
#endif

/* Number of a slot in the splash; GBSI_NONE if the slot is outside. */
static uint32_t number_of(const builder *b, uint32_t slot)
{
    return atomic_load_explicit(&b->own->owner[slot], memory_order_relaxed) == b->tag
               ? b->own->number[slot]
               : GBSI_NONE;
}

static gbs_status add_operand(builder *b, gbsi_splash_clique *c, const gbsi_splash_operand *operand,
                              gbs_error *err)
{
    gbsi_splash_program *p = b->program;
    const gbs_status status =
        gbsi_reserve((void **)&p->operand, &p->operand_capacity, (size_t)p->n_operands + 1,
                     sizeof *operand, "splash", err);
    if (status >= 0) {
        p->operand[p->n_operands++] = *operand;
        ++c->n_operands;
    }
    return status;
}

static gbs_status add_links(builder *b, gbsi_splash_clique *c, uint32_t i, gbs_error *err)
{
    gbsi_splash_program *p = b->program;
    const gbsi_potentials *potentials = b->potentials;
    c->first_outer = p->n_outer;
    for (size_t l = potentials->link_start[c->slot]; l < potentials->link_start[c->slot + 1]; ++l) {
        const gbsi_splash_link *link = &potentials->link[l];
        const uint32_t other = number_of(b, link->slot);
        if (other == GBSI_NONE) {
            GBSI_PASS(gbsi_reserve((void **)&p->outer, &p->outer_capacity, (size_t)p->n_outer + 1,
                                   sizeof *p->outer, "splash", err));
            p->outer[p->n_outer++] = (gbsi_splash_outer){link->slot, link->table};
        } else if (other < i) {
            gbsi_splash_operand operand = {.kind = GBSI_SPLASH_LINK,
                                           .at = link->table,
                                           .child = GBSI_NONE,
                                           .number = GBSI_NONE,
                                           .least = link->least};
            /* strides in the order of the separator's variables; set_walk() puts them into the
             * order of the axes */
            const uint32_t *separator = gbsi_growth_separator(b->growth, i);
            for (uint32_t j = 0; j < c->n_axes; ++j) {
                operand.stride[j] = separator[j] == other ? c->arity : 0;
            }
            GBSI_PASS(add_operand(b, c, &operand, err));
        }
    }
    c->n_outer = p->n_outer - c->first_outer;
    return GBS_OK;
}

/* Sets the strides of a table over n earlier variables in ascending order and the own variable,
 * which varies fastest. */
static void set_strides(const builder *b, uint32_t i, uint32_t n, const uint32_t *variable,
                        gbsi_splash_operand *operand)
{
    const gbsi_splash_clique *c = &b->program->clique[i];
    const uint32_t *separator = gbsi_growth_separator(b->growth, i);
    uint32_t stride = c->arity;
    uint32_t j = c->n_axes;
    for (uint32_t m = n; m-- > 0;) {
        while (j-- > 0 && separator[j] != variable[m]) {
        }
        assert(j < c->n_axes);
        operand->stride[j] = stride;
        stride *= b->growth->clique[variable[m]].arity;
    }
}

/* Lists the variables of a long factor inside the splash in ascending order. The shares of the
 * factor are visited from the last one back to the first. */
static void find_inside(const gbsi_growth *growth, const gbsi_growth_share *last,
                        gbsi_splash_many *many)
{
    many->n_inside = 1;
    for (const gbsi_growth_share *s = last; s->before != UINT32_MAX;
         s = &growth->share[s->before]) {
        ++many->n_inside;
    }
    assert(many->n_inside <= GBSI_SPLASH_WIDTH + 1);
    const gbsi_growth_share *s = last;
    for (uint32_t m = many->n_inside - 1;; --m) {
        many->inside[m] = s->variable;
        many->place[m] = s->at;
        if (m == 0) {
            return;
        }
        assert(growth->share[s->before].variable < s->variable);
        s = &growth->share[s->before];
    }
}

/* Adds the long factors of clique i. @param given true: adds the long factors that have only this
 * variable inside the splash; false: adds the other long factors. */
static gbs_status add_many(builder *b, gbsi_splash_clique *c, uint32_t i, bool given,
                           gbs_error *err)
{
    gbsi_splash_program *p = b->program;
    const gbsi_potentials *potentials = b->potentials;
    const size_t *start = potentials->plan->model->factors.scope_start;
    uint32_t at = b->growth->clique[i].first_share;
    for (size_t f = potentials->many_start[c->slot]; f < potentials->many_start[c->slot + 1]; ++f) {
        const gbsi_growth_share *share = &b->growth->share[at++];
        gbsi_splash_many many = {.factor = potentials->long_factor[potentials->many[f].number],
                                 .at = p->n_many_entries};
        if (!share->is_last || (share->before == UINT32_MAX) != given) {
            continue; /* the factor belongs to the clique of its latest variable */
        }
        find_inside(b->growth, share, &many);
        many.n_entries = 1;
        for (uint32_t m = 0; m < many.n_inside; ++m) {
            many.n_entries *= b->growth->clique[many.inside[m]].arity;
        }
        *(given ? &p->n_given : &p->n_shared) += many.n_entries + start[many.factor + 1] -
                                                 start[many.factor] +
                                                 (given ? 0 : (uint64_t)c->n_rows * c->arity);
        if (!given) {
            gbsi_splash_operand operand = {
                .kind = GBSI_SPLASH_MANY, .at = many.at, .child = GBSI_NONE, .number = p->n_many};
            set_strides(b, i, many.n_inside - 1, many.inside, &operand);
            GBSI_PASS(add_operand(b, c, &operand, err));
        }
        GBSI_PASS(gbsi_reserve((void **)&p->many, &p->many_capacity, (size_t)p->n_many + 1,
                               sizeof *p->many, "splash", err));
        /* the clique's own variable comes last and is the fastest */
        assert(many.inside[many.n_inside - 1] == i);
        p->many[p->n_many++] = many;
        p->n_many_entries += many.n_entries;
    }
    return GBS_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Adds an operand for the message of every child of clique i. The list of children begins at child
 * `first`. Until first_operand of a child gets its final value, this member has the number of the
 * next child in the list. */
static gbs_status add_messages(builder *b, gbsi_splash_clique *c, uint32_t i, uint32_t first,
                               gbs_error *err)
{
    const gbsi_splash_program *p = b->program;
    for (uint32_t child = first; child != GBSI_NONE; child = p->clique[child].first_operand) {
        gbsi_splash_operand operand = {.kind = GBSI_SPLASH_MESSAGE,
                                       .at = p->clique[child].message,
                                       .child = child,
                                       .number = GBSI_NONE};
        set_strides(b, i, b->growth->clique[child].n_separator - 1,
                    gbsi_growth_separator(b->growth, child), &operand);
        GBSI_PASS(add_operand(b, c, &operand, err));
    }
    return GBS_OK;
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* Orders the axes of a clique: axes that many operands have come first. Sets all members that
 * depend on this order. */
static void set_walk(const builder *b, gbsi_splash_clique *c, uint32_t i)
{
    const uint32_t m = c->n_axes;
    const uint32_t *separator = gbsi_growth_separator(b->growth, i);
    gbsi_splash_operand *operand = b->program->operand + c->first_operand;
    uint32_t order[GBSI_SPLASH_WIDTH];
    uint32_t in[GBSI_SPLASH_WIDTH] = {0};
    uint32_t stride[GBSI_SPLASH_WIDTH] = {0};
    uint32_t rows = 1;
    for (uint32_t j = m; j-- > 0;) {
        stride[j] = rows;
        rows *= b->growth->clique[separator[j]].arity;
        for (uint32_t o = 0; o < c->n_operands; ++o) {
            in[j] += operand[o].stride[j] != 0;
        }
    }
    for (uint32_t j = 0; j < m; ++j) {
        uint32_t at = j;
        for (; at > 0 && in[order[at - 1]] < in[j]; --at) {
            order[at] = order[at - 1];
        }
        order[at] = j;
    }
    for (uint32_t j = 0; j < m; ++j) {
        c->variable[j] = separator[order[j]];
        c->axis_arity[j] = b->growth->clique[separator[order[j]]].arity;
        c->row_stride[j] = stride[order[j]];
    }
    for (uint32_t o = 0; o < c->n_operands; ++o) {
        uint32_t by_variable[GBSI_SPLASH_WIDTH];
        memcpy(by_variable, operand[o].stride, sizeof by_variable);
        operand[o].depth = 0;
        for (uint32_t j = 0; j < m; ++j) {
            operand[o].stride[j] = by_variable[order[j]];
            operand[o].depth = by_variable[order[j]] != 0 ? (uint8_t)(j + 1) : operand[o].depth;
        }
    }
}

/* Sorts operands by depth; operands of equal depth keep their order. */
static gbs_status sort_by_depth(gbsi_splash_program *p, uint32_t first, uint32_t n, gbs_error *err)
{
    uint32_t at[GBSI_SPLASH_WIDTH + 2] = {0};
    const gbsi_splash_operand *from = p->operand + first;
    bool sorted = true;
    for (uint32_t i = 0; i < n; ++i) {
        ++at[from[i].depth + 1];
        sorted = sorted && (i == 0 || from[i - 1].depth <= from[i].depth);
    }
    if (sorted) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_reserve((void **)&p->sorted, &p->sorted_capacity, n, sizeof *p->sorted, "splash",
                           err));
    for (uint32_t depth = 1; depth <= GBSI_SPLASH_WIDTH; ++depth) {
        at[depth] += at[depth - 1];
    }
    for (uint32_t i = 0; i < n; ++i) {
        p->sorted[at[from[i].depth]++] = from[i];
    }
    memcpy(p->operand + first, p->sorted, n * sizeof *p->sorted);
    return GBS_OK;
}

static gbs_status build_clique(builder *b, uint32_t i, uint32_t first_child, gbs_error *err)
{
    gbsi_splash_program *p = b->program;
    gbsi_splash_clique *c = &p->clique[i];
    c->first_given = p->n_many;
    GBSI_PASS(add_many(b, c, i, true, err));
    c->n_given = p->n_many - c->first_given;
    /* from here on first_operand has its own meaning; until now the parent used this member as a
     * link in its list of children */
    const uint32_t first_operand = p->n_operands;
    GBSI_PASS(add_links(b, c, i, err));
    GBSI_PASS(add_many(b, c, i, false, err));
    GBSI_PASS(add_messages(b, c, i, first_child, err));
    c->first_operand = first_operand;
    set_walk(b, c, i);
    GBSI_PASS(sort_by_depth(p, first_operand, c->n_operands, err));
    p->precise |= b->potentials->precise[c->slot] != 0;
    p->largest = c->n_rows * c->arity > p->largest ? c->n_rows * c->arity : p->largest;
    p->n_entries += (uint64_t)c->n_rows * c->arity;
    return GBS_OK;
}

gbs_status gbsi_splash_build(const gbsi_potentials *potentials, const gbsi_growth *growth,
                             const gbsi_ownership *own, uint32_t tag, gbsi_splash_program *program,
                             gbs_error *err)
{
    builder b = {potentials, growth, own, tag, program};
    gbsi_splash_program *p = program;
    p->n = growth->n;
    p->n_operands = p->n_outer = p->n_many = p->n_rows = p->n_base = p->n_many_entries = 0;
    p->largest = 0;
    p->n_entries = p->n_given = p->n_shared = 0;
    p->precise = false;
    GBSI_PASS(gbsi_reserve((void **)&p->clique, &p->clique_capacity, p->n, sizeof *p->clique,
                           "splash", err));
    for (uint32_t i = 0; i < p->n; ++i) {
        const gbsi_growth_clique *grown = &growth->clique[i];
        p->clique[i] = (gbsi_splash_clique){.slot = grown->slot,
                                            .arity = grown->arity,
                                            .n_axes = grown->n_separator,
                                            .n_rows = grown->n_rows,
                                            .message = p->n_rows,
                                            .base = p->n_base,
                                            .first_operand = GBSI_NONE,
                                            .first_given = GBSI_NONE};
#ifndef NDEBUG
        check_separator(growth, i);
#endif
        assert(number_of(&b, grown->slot) == i);
        p->n_rows += grown->n_rows;
        p->n_base += grown->arity;
    }
    for (uint32_t i = p->n; i-- > 0;) { /* the descending loop makes the lists of children ascend */
        const uint32_t parent = gbsi_growth_parent(growth, i);
        if (parent != UINT32_MAX) {
            p->clique[i].first_operand = p->clique[parent].first_given;
            p->clique[parent].first_given = i;
        }
    }
    for (uint32_t i = 0; i < p->n; ++i) {
        GBSI_PASS(build_clique(&b, i, p->clique[i].first_given, err));
    }
    return GBS_OK;
}

gbs_status gbsi_splash_find_levels(gbsi_splash_program *p, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve((void **)&p->by_level, &p->by_level_capacity, p->n, sizeof *p->by_level,
                           "splash", err));
    GBSI_PASS(gbsi_reserve((void **)&p->level_end, &p->level_end_capacity, p->n + (size_t)1,
                           sizeof *p->level_end, "splash", err));
    memset(p->level_end, 0, (p->n + (size_t)1) * sizeof *p->level_end);
    p->n_levels = 0;
    for (uint32_t i = 0; i < p->n; ++i) { /* a child comes after its parent */
        const gbsi_splash_clique *c = &p->clique[i];
        for (uint32_t o = c->first_operand; o < c->first_operand + c->n_operands; ++o) {
            if (p->operand[o].kind == GBSI_SPLASH_MESSAGE) {
                p->clique[p->operand[o].child].level = c->level + 1;
            }
        }
        ++p->level_end[c->level + 1];
        p->n_levels = c->level + 1 > p->n_levels ? c->level + 1 : p->n_levels;
    }
    for (uint32_t l = 1; l < p->n_levels; ++l) {
        p->level_end[l] += p->level_end[l - 1];
    }
    for (uint32_t i = 0; i < p->n; ++i) { /* the begin of each level becomes its end */
        p->by_level[p->level_end[p->clique[i].level]++] = i;
    }
    return GBS_OK;
}

uint64_t gbsi_splash_level_entries(const gbsi_splash_program *p, uint32_t level)
{
    uint32_t n_small = 0;
    uint64_t n_entries = 0;
    for (uint32_t k = gbsi_splash_level_begin(p, level); k < p->level_end[level]; ++k) {
        const uint64_t n = gbsi_splash_entries(&p->clique[p->by_level[k]]);
        n_small += n < GBSI_SPLASH_SHARED;
        n_entries += n < GBSI_SPLASH_SHARED ? n : 0;
    }
    return n_small < 2 ? 0 : n_entries;
}

void gbsi_splash_program_free(gbsi_splash_program *program)
{
    GBSI_FREE(program->clique, program->operand, program->sorted, program->outer, program->many,
              program->by_level, program->level_end);
    *program = (gbsi_splash_program){0};
}
