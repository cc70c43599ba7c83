/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the fields and rows of the classes ISING, POTTS and PAIRWISE. Every factor of two variables
 * is visited once, in order, and is added to the rows of its two variables. On a large model, whose
 * factors are scattered in memory, this takes one memory access for each variable of a factor. A
 * loop over variables, their factors and the other variables of these factors would take six. Rows
 * are sorted after all factors were visited. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"
#include "plan/merge.h"

typedef struct writing {
    uint32_t *used; /* [n_slots + 1] number of entries of each row that were written so far */
    double *logw; /* field of each slot (plan->field_start has the index): sum of the factors of one
                     variable and of the fields of 0/1 forms */
    gbsi_row_entries entries;
    bool shrunk; /* whether some row became shorter by merging than its room */
    /* latest coupling and the edge made from it, kept because most factors give two equal edges */
    double coupling;
    unsigned form;
    gbsi_edge edge;
} writing;

/* ---- one walk through the factors ---------------------------------------------------------- */

/* Makes the edge by which the variable at `position` reads a factor of two variables. */
static gbs_status edge_of(gbsi_compile *c, writing *w, size_t f, uint32_t position, uint32_t slot,
                          gbsi_edge *edge, double *field, gbs_error *err)
{
    const unsigned form = gbsi_plan_form(c->plan, slot);
    if (gbsi_plan_class(c->plan, slot) == GBSI_CLASS_PAIRWISE) {
        size_t base = 0;
        const gbs_status status = gbsi_derive(c, f, position, form, &base, err);
        edge->base = (uint32_t)base;
        return status;
    }
    const double coupling = gbsi_coupling_of(c, f, position, field);
    if (coupling != w->coupling || form != w->form) {
        w->coupling = coupling;
        w->form = form;
        w->edge = gbsi_coupling_edge(coupling, form);
    }
    *edge = w->edge;
    return GBS_OK;
}

static gbs_status write_end(gbsi_compile *c, writing *w, size_t f, uint32_t position,
                            gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const uint32_t *scope = c->factors->scope + c->factors->scope_start[f];
    const uint32_t slot = plan->slot_of[scope[position]];
    if (!gbsi_is_row_class(gbsi_plan_class(plan, slot))) {
        return GBS_OK;
    }
    const gbsi_row row = gbsi_plan_room(plan, slot);
    const size_t at = w->used[slot]++ * row.step;
    gbsi_edge edge = {.base = 0};
    double field = 0.0;
    GBSI_PASS(edge_of(c, w, f, position, slot, &edge, &field, err));
    row.slot[at] = plan->slot_of[scope[1 - position]];
    if (gbsi_plan_class(plan, slot) == GBSI_CLASS_PAIRWISE) {
        row.base[at] = edge.base;
    } else if (gbsi_plan_by_count(plan, slot) == GBSI_NONE) {
        row.coupling[at] = edge.coupling;
    }
    if (gbsi_plan_class(plan, slot) == GBSI_CLASS_ISING) {
        w->logw[gbsi_offset(&plan->field_start, slot)] += field;
    }
    return GBS_OK;
}

static gbs_status write_factor(gbsi_compile *c, writing *w, size_t f, gbs_error *err)
{
    const gbsi_plan *plan = c->plan;
    const uint32_t n = gbsi_scope_size(c->factors, f);
    if (n == 1) {
        const uint32_t slot = plan->slot_of[c->factors->scope[c->factors->scope_start[f]]];
        gbsi_add_unary(c, f, (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0,
                       w->logw + gbsi_offset(&plan->field_start, slot));
    }
    for (uint32_t position = 0; n == 2 && position < 2; ++position) {
        GBSI_PASS(write_end(c, w, f, position, err));
    }
    return GBS_OK;
}

/* Distances, in scope entries, at which three kinds of data are prefetched: slots, then the starts
 * of the slots' rows, then the rows. */
#define SLOT_AHEAD  96
#define START_AHEAD 64
#define ROW_AHEAD   32

static void look_ahead(const gbsi_compile *c, const writing *w, size_t end)
{
    const gbsi_plan *plan = c->plan;
    const uint32_t *scope = c->factors->scope + end;
    const uint32_t far = plan->slot_of[scope[START_AHEAD]];
    const uint32_t near = plan->slot_of[scope[ROW_AHEAD]];
    __builtin_prefetch(&plan->slot_of[scope[SLOT_AHEAD]]);
    __builtin_prefetch(&w->used[far], 1);
    __builtin_prefetch(&w->logw[gbsi_offset(&plan->field_start, far)], 1);
    if (plan->sell.slice != NULL) {
        const gbsi_slice *slice = &plan->sell.slice[far / 16];
        __builtin_prefetch(slice);
        __builtin_prefetch(&slice->regular);
    }
    const gbsi_row row = gbsi_plan_room(plan, near);
    const size_t at = w->used[near] * row.step;
    if (w->used[near] < row.n) {
        __builtin_prefetch(row.slot + at, 1);
        if (row.coupling != NULL) {
            __builtin_prefetch(row.coupling + at, 1);
        }
    }
}

/* ---- row by row ---------------------------------------------------------------------------- */

static void read_row(const gbsi_plan *plan, uint32_t slot, uint32_t n, gbsi_row_entry *entry)
{
    const gbsi_row row = gbsi_plan_room(plan, slot);
    const bool pairwise = gbsi_plan_class(plan, slot) == GBSI_CLASS_PAIRWISE;
    const bool counted = gbsi_plan_by_count(plan, slot) != GBSI_NONE;
    for (uint32_t d = 0; d < n; ++d) {
        const size_t at = d * row.step;
        entry[d] = (gbsi_row_entry){.slot = row.slot[at], .edge = {.base = 0}};
        if (pairwise) {
            entry[d].edge.base = row.base[at];
        } else if (!counted) {
            entry[d].edge.coupling = row.coupling[at];
        }
    }
}

static void write_row(gbsi_plan *plan, uint32_t slot, uint32_t n, const gbsi_row_entry *entry)
{
    const gbsi_row row = gbsi_plan_room(plan, slot);
    const bool pairwise = gbsi_plan_class(plan, slot) == GBSI_CLASS_PAIRWISE;
    const bool counted = gbsi_plan_by_count(plan, slot) != GBSI_NONE;
    for (uint32_t d = 0; d < n; ++d) {
        const size_t at = d * row.step;
        row.slot[at] = entry[d].slot;
        if (pairwise) {
            row.base[at] = entry[d].edge.base;
        } else if (!counted) {
            row.coupling[at] = entry[d].edge.coupling;
        }
    }
}

/* Sorts the row of a slot, and merges the entries that belong to the same neighbour. */
static gbs_status finish_row(gbsi_compile *c, writing *w, uint32_t slot, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbsi_row_entries *e = &w->entries;
    e->n = w->used[slot];
    GBSI_PASS(gbsi_row_entries_reserve(e, e->n, err));
    read_row(plan, slot, e->n, e->entry);
    const bool moved = gbsi_row_entries_sort(e);
    const bool merged = gbsi_plan_by_count(plan, slot) == GBSI_NONE && gbsi_row_entries_tied(e);
    if (merged) {
        GBSI_PASS(gbsi_row_entries_merge(c, slot, e, err));
    }
    if (moved || merged) {
        write_row(plan, slot, e->n, e->entry);
    }
    if (e->n < w->used[slot]) {
        w->used[slot] = e->n;
        w->shrunk = true;
    }
    return GBS_OK;
}

/* Moves the rows together, without gaps, if some rows became shorter. In slices the unused rest of
 * a row becomes padding. */
static gbs_status close_gaps(gbsi_plan *plan, writing *w, gbs_error *err)
{
    gbsi_offsets start = {0};
    uint32_t *used = w->used;
    w->used = NULL;
    GBSI_PASS(gbsi_offsets_take(used, plan->n_slots, &start, "plan", err));
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        const size_t from = gbsi_offset(&plan->row_start, s);
        const size_t to = gbsi_offset(&start, s);
        const size_t n = gbsi_offset(&start, s + (size_t)1) - to;
        memmove(plan->neighbour + to, plan->neighbour + from, n * sizeof *plan->neighbour);
        if (plan->edge != NULL) {
            memmove(plan->edge + to, plan->edge + from, n * sizeof *plan->edge);
        }
    }
    gbsi_offsets_free(&plan->row_start);
    plan->row_start = start;
    return GBS_OK;
}

gbs_status gbsi_compile_rows(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbs_status status = GBS_OK;
    const size_t n_fields = gbsi_offset(&plan->field_start, plan->n_slots);
    writing w = {.coupling = NAN,
                 .used = gbsi_alloc_array_zero((size_t)plan->n_slots + 1, sizeof *w.used),
                 .logw = gbsi_alloc_array_zero(n_fields, sizeof *w.logw)};
    if (w.used == NULL || w.logw == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "plan", n_fields * sizeof *w.logw));
    }
    const size_t *start = c->factors->scope_start;
    const size_t n_ends = start[c->factors->n_factors];
    for (size_t f = 0; f < c->factors->n_factors; ++f) {
        for (size_t e = start[f]; e < start[f + 1] && e + SLOT_AHEAD < n_ends; ++e) {
            look_ahead(c, &w, e);
        }
        GBSI_TRY(gbsi_compile_spend(c, 4 * (uint64_t)(start[f + 1] - start[f]), err));
        GBSI_TRY(write_factor(c, &w, f, err));
    }
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        gbsi_store_field(plan, s, w.logw + gbsi_offset(&plan->field_start, s));
        GBSI_TRY(gbsi_compile_spend(c, 8 * (uint64_t)w.used[s], err));
        GBSI_TRY(finish_row(c, &w, s, err));
    }
    if (plan->sell.slice != NULL) {
        GBSI_TRY(gbsi_finish_slices(c, w.used, err));
    } else if (w.shrunk) {
        GBSI_TRY(close_gaps(plan, &w, err));
    }

cleanup:
    GBSI_FREE(w.used, w.logw);
    gbsi_row_entries_clear(&w.entries);
    return status;
}
