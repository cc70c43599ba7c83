/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/merge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "simd/math.h"

gbs_status gbsi_row_entries_reserve(gbsi_row_entries *e, uint32_t n, gbs_error *err)
{
    void *pointer = e->entry;
    const gbs_status status =
        gbsi_reserve(&pointer, &e->capacity, n, sizeof *e->entry, "plan", err);
    e->entry = pointer;
    return status;
}

void gbsi_row_entries_clear(gbsi_row_entries *e)
{
    GBSI_FREE(e->entry, e->tie);
}

/* Entries of the same neighbour may come in any order, because they are merged later. */
static int by_slot(const void *a, const void *b)
{
    const uint32_t x = ((const gbsi_row_entry *)a)->slot;
    const uint32_t y = ((const gbsi_row_entry *)b)->slot;
    return (x > y) - (x < y);
}

bool gbsi_row_entries_sort(gbsi_row_entries *e)
{
    gbsi_row_entry *entry = e->entry;
    uint32_t sorted = 1;
    while (sorted < e->n && entry[sorted - 1].slot <= entry[sorted].slot) {
        ++sorted;
    }
    if (sorted >= e->n) {
        return false;
    }
    if (e->n > 32) {
        qsort(entry, e->n, sizeof *entry, by_slot);
        return true;
    }
    for (uint32_t i = sorted; i < e->n; ++i) {
        const gbsi_row_entry one = entry[i];
        uint32_t k = i;
        for (; k > 0 && entry[k - 1].slot > one.slot; --k) {
            entry[k] = entry[k - 1];
        }
        entry[k] = one;
    }
    return true;
}

bool gbsi_row_entries_tied(const gbsi_row_entries *e)
{
    for (uint32_t i = 1; i < e->n; ++i) {
        if (e->entry[i].slot == e->entry[i - 1].slot) {
            return true;
        }
    }
    return false;
}

gbsi_edge gbsi_coupling_edge(double coupling, unsigned form)
{
    return (gbsi_edge){.coupling =
                           (float)((form & GBSI_LINEAR) != 0 ? gbsi_exp(coupling) : coupling)};
}

/* ---- factors of the same two variables ----------------------------------------------------- */

static int by_neighbour(const void *a, const void *b)
{
    const gbsi_tie *x = a;
    const gbsi_tie *y = b;
    if (x->slot != y->slot) {
        return x->slot > y->slot ? 1 : -1;
    }
    return (x->factor > y->factor) - (x->factor < y->factor);
}

/* Lists the pairwise factors of a slot, sorted by the other variable. */
static gbs_status list_ties(gbsi_compile *c, uint32_t slot, gbsi_row_entries *e, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t v = c->plan->variable_of[slot];
    uint32_t n = 0;
    GBSI_PASS(gbsi_need_incidence(c, err));
    void *pointer = e->tie;
    GBSI_PASS(gbsi_reserve(&pointer, &e->tie_capacity, e->n, sizeof *e->tie, "plan", err));
    e->tie = pointer;
    const size_t end = gbsi_offset(&c->incident.start, v + (size_t)1);
    for (size_t i = gbsi_offset(&c->incident.start, v); i < end; ++i) {
        const size_t f = c->incident.factor[i];
        const uint32_t *scope = factors->scope + factors->scope_start[f];
        if (gbsi_scope_size(factors, f) == 2) {
            e->tie[n++] = (gbsi_tie){c->plan->slot_of[scope[scope[0] == v ? 1 : 0]], f};
        }
    }
    assert(n == e->n);
    qsort(e->tie, n, sizeof *e->tie, by_neighbour);
    return GBS_OK;
}

static double sum_couplings(gbsi_compile *c, uint32_t v, const gbsi_tie *tie, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
        sum +=
            gbsi_coupling_of(c, tie[i].factor, gbsi_position(c->factors, tie[i].factor, v), NULL);
    }
    return sum;
}

/* Makes a table that is the sum of n factors of v and one neighbour. */
static gbs_status merge_tables(gbsi_compile *c, uint32_t v, const gbsi_tie *tie, uint32_t n,
                               unsigned form, size_t *base, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t other = c->model->arity[c->plan->variable_of[tie->slot]];
    const uint32_t k = c->model->arity[v];
    const bool odds = (form & GBSI_ODDS) != 0;
    const uint32_t width = odds ? 1 : k;
    const gbs_status status = gbsi_pool_take(c, form, (size_t)other * width, base, err);
    for (uint32_t b = 0; status == GBS_OK && b < other; ++b) {
        double top = -INFINITY;
        for (uint32_t a = 0; a < k; ++a) {
            double sum = 0.0;
            for (uint32_t i = 0; i < n; ++i) {
                const size_t f = tie[i].factor;
                const bool first = factors->scope[factors->scope_start[f]] == v;
                const uint32_t at[2] = {first ? a : b, first ? b : a};
                sum += gbsi_factor_value_at(factors, c->model->arity, f, at);
            }
            c->own[a] = sum;
            top = sum > top ? sum : top;
        }
        top = top > -INFINITY ? top : 0.0;
        for (uint32_t a = 0; a < width; ++a) {
            gbsi_pool_put(c, form, *base + (size_t)b * width + a,
                          odds ? c->own[1] - c->own[0] : c->own[a] - top);
        }
    }
    return status;
}

gbs_status gbsi_row_entries_merge(gbsi_compile *c, uint32_t slot, gbsi_row_entries *e,
                                  gbs_error *err)
{
    const uint32_t v = c->plan->variable_of[slot];
    const unsigned form = gbsi_plan_form(c->plan, slot);
    uint32_t kept = 0;
    GBSI_PASS(list_ties(c, slot, e, err));
    for (uint32_t i = 0; i < e->n;) {
        uint32_t n = 1;
        gbsi_row_entry merged = e->entry[i];
        assert(merged.slot == e->tie[i].slot);
        while (i + n < e->n && e->tie[i + n].slot == e->tie[i].slot) {
            ++n;
        }
        if (n > 1 && gbsi_plan_class(c->plan, slot) == GBSI_CLASS_PAIRWISE) {
            size_t base = 0;
            GBSI_PASS(merge_tables(c, v, e->tie + i, n, form, &base, err));
            merged.edge.base = (uint32_t)base;
        } else if (n > 1) {
            merged.edge = gbsi_coupling_edge(sum_couplings(c, v, e->tie + i, n), form);
        }
        e->entry[kept++] = merged;
        i += n;
    }
    assert(kept <= e->n &&
           !gbsi_row_entries_tied(&(gbsi_row_entries){.entry = e->entry, .n = kept}));
    e->n = kept;
    return GBS_OK;
}
