/* SPDX-License-Identifier: Apache-2.0 */
/* Deals out objects by counting sorts: a first walk counts the series (contiguous numbers) of each
 * rank, a second walk writes them. */
#include "ranks/deal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct dealing {
    const gbsi_deal_source *from;
    gbsi_deal *deal;
    uint64_t *scratch; /* [longest scope] ranks that own the variables of a factor */
} dealing;

void gbsi_deal_free(gbsi_deal *deal)
{
    GBSI_FREE(deal->seen, deal->is_seen);
    for (int what = 0; what < GBSI_N_DEALT; ++what) {
        GBSI_FREE(deal->start[what], deal->series[what]);
    }
    *deal = (gbsi_deal){0};
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t gbsi_sort_once(uint64_t *number, size_t n)
{
    size_t n_kept = 0;
    if (n > 0) { /* an empty array may be NULL */
        qsort(number, n, sizeof *number, by_value);
    }
    for (size_t i = 0; i < n; ++i) {
        if (i == 0 || number[i] != number[n_kept - 1]) {
            number[n_kept++] = number[i];
        }
    }
    return n_kept;
}

/* Finds the ranks that own variables of a factor. @return the number of these ranks, which is 1 for
 * most factors. */
static size_t owners_of(const dealing *d, uint64_t factor)
{
    const gbsi_factors *f = &d->from->part->factors;
    const uint32_t *owner = d->from->owner;
    size_t n = 0;
    for (size_t e = f->scope_start[factor]; e < f->scope_start[factor + 1]; ++e) {
        const uint32_t rank = owner[f->scope[e]];
        if (n == 0 || rank != d->scratch[n - 1]) {
            d->scratch[n++] = rank;
        }
    }
    return n > 1 ? gbsi_sort_once(d->scratch, n) : n;
}

/* ---- who sees a variable --------------------------------------------------------------------- */

/* Notes that a rank sees a variable. With long scopes, the same entry is noted many times. Entries
 * are therefore sorted, and repeated entries are removed, before more memory is taken. */
static gbs_status see(gbsi_deal *deal, uint32_t v, uint32_t rank, gbs_error *err)
{
    if (deal->n_seen == deal->seen_capacity) {
        void *pointer = deal->seen;
        deal->n_seen = gbsi_sort_once(deal->seen, deal->n_seen);
        const gbs_status status = gbsi_reserve(&pointer, &deal->seen_capacity, 2 * deal->n_seen + 1,
                                               sizeof *deal->seen, "share of a model", err);
        deal->seen = pointer;
        if (status < 0) {
            return status;
        }
    }
    deal->seen[deal->n_seen++] = (uint64_t)v << 32 | rank;
    return GBS_OK;
}

/* Finds the ranks that see each variable. If ranks own variables of a factor, each of these ranks
 * sees all variables of the factor. */
static gbs_status find_seen(dealing *d, gbs_error *err)
{
    gbsi_deal *deal = d->deal;
    const gbsi_factors *f = &d->from->part->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        const size_t n_owners = owners_of(d, i);
        for (size_t e = f->scope_start[i]; n_owners > 1 && e < f->scope_start[i + 1]; ++e) {
            for (size_t k = 0; k < n_owners; ++k) {
                if (d->scratch[k] != d->from->owner[f->scope[e]]) {
                    GBSI_PASS(see(deal, f->scope[e], (uint32_t)d->scratch[k], err));
                }
            }
        }
    }
    deal->n_seen = gbsi_sort_once(deal->seen, deal->n_seen);
    for (size_t i = 0; i < deal->n_seen; ++i) {
        deal->is_seen[deal->seen[i] >> 32] = 1;
    }
    return GBS_OK;
}

size_t gbsi_deal_first_seen(const gbsi_deal *deal, uint32_t variable)
{
    size_t low = 0;
    size_t high = deal->n_seen;
    if (deal->is_seen[variable] == 0) {
        return deal->n_seen;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (deal->seen[middle] >> 32 < variable) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- series of each rank ------------------------------------------------------------------ */

/* Returns the variable through which item i belongs to a rank. The item is this variable, has the
 * variable in its scope, or updates the variable. */
static uint32_t variable_of(const gbsi_deal_source *from, gbsi_dealt what, uint64_t i)
{
    return what == GBSI_DEALT_VARIABLES ? (uint32_t)i
           : what == GBSI_DEALT_SLOTS   ? from->plan->variable_of[i]
                                        : from->plan->variable_of[from->schedule->slot[i]];
}

/* The series (contiguous numbers) of objects of one kind: first they are counted, then they are
 * written. */
typedef struct counting {
    uint32_t n_ranks;
    uint64_t *next; /* [n_ranks] for each rank, the number after its last item so far */
    size_t *n; /* [n_ranks] number of series of each rank; in the second walk, the index at which
                  the next series of the rank is written */
    gbsi_series *series; /* NULL while series are counted */
} counting;

static void give(counting *c, uint32_t rank, uint64_t item)
{
    if (c->next[rank] != item || item == 0) {
        if (c->series != NULL) {
            c->series[c->n[rank]] = (gbsi_series){.first = item};
        }
        ++c->n[rank];
    }
    if (c->series != NULL) {
        ++c->series[c->n[rank] - 1].n;
    }
    assert(rank < c->n_ranks &&
           c->next[rank] <= item); /* items come in ascending order, each once */
    c->next[rank] = item + 1;
}

static void give_all(const dealing *d, gbsi_dealt what, uint64_t n_items, counting *c)
{
    const gbsi_deal *deal = d->deal;
    memset(c->next, 0, deal->n_ranks * sizeof *c->next);
    for (uint64_t i = 0; i < n_items; ++i) {
        if (what == GBSI_DEALT_FACTORS) {
            const size_t n = owners_of(d, i);
            for (size_t k = 0; k < n; ++k) {
                give(c, (uint32_t)d->scratch[k], i);
            }
            continue;
        }
        const uint32_t v = variable_of(d->from, what, i);
        give(c, d->from->owner[v], i);
        for (size_t k = gbsi_deal_first_seen(deal, v); k < deal->n_seen && deal->seen[k] >> 32 == v;
             ++k) {
            give(c, (uint32_t)deal->seen[k], i);
        }
    }
}

static gbs_status deal_out(dealing *d, gbsi_dealt what, uint64_t n_items, counting *c,
                           gbs_error *err)
{
    gbsi_deal *deal = d->deal;
    size_t *start = gbsi_alloc_array_zero((size_t)deal->n_ranks + 1, sizeof *start);
    deal->start[what] = start;
    c->series = NULL;
    GBSI_PASS(GBSI_HAVE(err, "share of a model", start));
    memset(c->n, 0, deal->n_ranks * sizeof *c->n);
    give_all(d, what, n_items, c);
    for (uint32_t rank = 0; rank < deal->n_ranks; ++rank) {
        start[rank + 1] = start[rank] + c->n[rank];
        c->n[rank] = start[rank];
    }
    c->series = gbsi_alloc_array(start[deal->n_ranks], sizeof *c->series);
    deal->series[what] = c->series;
    GBSI_PASS(GBSI_HAVE(err, "share of a model", c->series));
    give_all(d, what, n_items, c);
    assert(deal->n_ranks == 0 ||
           c->n[deal->n_ranks - 1] == start[deal->n_ranks]); /* the second walk has written as many
                                                                series as the first walk counted */
    return GBS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static size_t longest_scope(const gbsi_factors *f)
{
    size_t longest = 1;
    for (size_t i = 0; i < f->n_factors; ++i) {
        const size_t n = f->scope_start[i + 1] - f->scope_start[i];
        longest = n > longest ? n : longest;
    }
    return longest;
}

gbs_status gbsi_deal_init(gbsi_deal *deal, const gbsi_deal_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *part = source->part;
    const uint64_t n_items[GBSI_N_DEALT] = {part->factors.n_factors, part->n_variables,
                                            source->plan->n_slots, source->schedule->n_places};
    dealing d = {.from = source, .deal = deal};
    counting c = {.n_ranks = source->n_ranks};
    const size_t longest = longest_scope(&part->factors);
    deal->n_ranks = source->n_ranks;
    deal->is_seen = gbsi_alloc_array_zero(part->n_variables, 1);
    d.scratch = gbsi_alloc_array(longest, sizeof *d.scratch);
    c.next = gbsi_alloc_array(deal->n_ranks, sizeof *c.next);
    c.n = gbsi_alloc_array(deal->n_ranks, sizeof *c.n);
    GBSI_TRY(GBSI_HAVE(err, "share of a model", deal->is_seen, d.scratch, c.next, c.n));
    GBSI_TRY(find_seen(&d, err));
    for (int what = 0; what < GBSI_N_DEALT; ++what) {
        GBSI_TRY(deal_out(&d, (gbsi_dealt)what, n_items[what], &c, err));
    }
cleanup:
    GBSI_FREE(d.scratch, c.next, c.n);
    return status;
}
