/* SPDX-License-Identifier: Apache-2.0 */
/* The packing for groups of one chain: sliced ELL (Monakov, Lokhmotov & Avetisyan 2010, HiPEAC,
 * section 3.1). Only irregular slices store their rows one after the other. */
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"

#define WIDEST 65535u /* largest number of links of a term in a regular slice */

/* Widens slice s so that it can hold a slot. @return false if the slot cannot be in a regular
 * slice. */
static bool take_in(const gbsi_compile *c, uint32_t slot, gbsi_slice *s)
{
    const gbsi_plan *plan = c->plan;
    size_t width = c->degree[slot];
    switch (gbsi_plan_class(plan, slot)) {
    case GBSI_CLASS_ISING:
        if (gbsi_plan_by_count(plan, slot) == GBSI_NONE && width > GBSI_LONG_ROW) {
            return false; /* rows of this length are summed in strided partial sums */
        }
        break;
    case GBSI_CLASS_POTTS:
    case GBSI_CLASS_PAIRWISE:
        break;
    case GBSI_CLASS_TABLE:
    case GBSI_CLASS_PRECISE: {
        const size_t first = gbsi_offset(&plan->term_start, slot);
        width = gbsi_offset(&plan->term_start, slot + (size_t)1) - first;
        for (size_t t = first; t < first + width; ++t) {
            const gbsi_term *term = &plan->term[t];
            if (term->kind != GBSI_TERM_TABLE || term->n > WIDEST) {
                return false;
            }
            s->depth = term->n > s->depth ? (uint16_t)term->n : s->depth;
        }
        break;
    }
    default:
        return false;
    }
    s->width = width > s->width ? (uint32_t)width : s->width;
    return true;
}

/* Whether the padded slice has less than about twice as many entries as its slots need. */
static bool worth_padding(const gbsi_compile *c, uint32_t first, const gbsi_slice *s)
{
    const gbsi_plan *plan = c->plan;
    uint64_t n = 0;
    for (uint32_t slot = first; slot < first + 16; ++slot) {
        n += c->degree[slot];
        if (!gbsi_is_row_class(gbsi_plan_class(plan, slot))) {
            const size_t end = gbsi_offset(&plan->term_start, slot + (size_t)1);
            for (size_t t = gbsi_offset(&plan->term_start, slot); t < end; ++t) {
                n += plan->term[t].n;
            }
        }
    }
    return (uint64_t)16 * s->width * s->depth <= 3 * n + 64;
}

static gbsi_slice look_at(const gbsi_compile *c, size_t i)
{
    const gbsi_plan *plan = c->plan;
    const uint32_t first = (uint32_t)(16 * i);
    gbsi_slice s = {.depth = 1, .table = GBSI_NONE};
    uint32_t n_counted = 0;
    bool same_table = true;
    if (plan->n_slots - first < 16) {
        return s;
    }
    for (uint32_t slot = first; slot < first + 16; ++slot) {
        if (gbsi_plan_class(plan, slot) != gbsi_plan_class(plan, first) ||
            gbsi_plan_form(plan, slot) != gbsi_plan_form(plan, first) ||
            gbsi_plan_arity(plan, slot) != gbsi_plan_arity(plan, first) || !take_in(c, slot, &s)) {
            return (gbsi_slice){.depth = 1, .table = GBSI_NONE};
        }
        n_counted += gbsi_plan_by_count(plan, slot) != GBSI_NONE;
        same_table &= gbsi_plan_by_count(plan, slot) == gbsi_plan_by_count(plan, first);
    }
    s.regular = worth_padding(c, first, &s);
    s.table =
        s.regular && n_counted > 0 && same_table ? gbsi_plan_by_count(plan, first) : GBSI_NONE;
    s.mixed = s.regular && n_counted > 0 && !same_table;
    return s;
}

/* Lays out the rows of up to 16 slots one after the other. */
static gbs_status lay_out_irregular(gbsi_compile *c, uint32_t first, gbsi_slice *s, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    s->link = plan->n_ends;
    s->counted = plan->sell.n_bases;
    plan->sell.n_bases += 17;
    for (uint32_t lane = 0; lane < 16 && lane < plan->n_slots - first; ++lane) {
        plan->n_ends += c->degree[first + lane];
        plan->has_edges |=
            c->degree[first + lane] > 0 && gbsi_plan_by_count(plan, first + lane) == GBSI_NONE;
    }
    return plan->n_ends - s->link <= UINT32_MAX
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_LIMIT, "plan: sixteen variables with more than %u factors",
                           UINT32_MAX);
}

static void lay_out_regular(gbsi_compile *c, uint32_t first, gbsi_slice *s)
{
    gbsi_sell *sell = &c->plan->sell;
    s->link = sell->n_links;
    sell->n_links += (size_t)16 * s->width * s->depth;
    if (!gbsi_has_couplings(gbsi_plan_class(c->plan, first))) {
        s->value = sell->n_bases;
        sell->n_bases += (size_t)16 * s->width;
        sell->has_terms = true;
    } else if (s->table == GBSI_NONE) {
        s->value = sell->n_couplings;
        sell->n_couplings += (size_t)16 * s->width;
        s->counted = sell->n_bases;
        sell->n_bases += s->mixed ? 32 : 0;
    }
}

gbs_status gbsi_lay_out_slices(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbsi_sell *sell = &plan->sell;
    const size_t n_slices = ((size_t)plan->n_slots + 15) / 16;
    sell->slice = gbsi_alloc_array(n_slices, sizeof *sell->slice);
    GBSI_PASS(GBSI_HAVE(err, "plan", sell->slice));
    gbs_status status = GBS_OK;
    for (size_t i = 0; status == GBS_OK && i < n_slices; ++i) {
        gbsi_slice *s = &sell->slice[i];
        *s = look_at(c, i);
        if (s->regular) {
            lay_out_regular(c, (uint32_t)(16 * i), s);
        } else {
            status = lay_out_irregular(c, (uint32_t)(16 * i), s, err);
        }
    }
    return status;
}

/* ---- room ---------------------------------------------------------------------------------- */

/* Writes the starts of the rows of an irregular slice. */
static void place_rows(const gbsi_compile *c, size_t i)
{
    const gbsi_plan *plan = c->plan;
    uint32_t *place = plan->sell.base + plan->sell.slice[i].counted;
    uint32_t at = 0;
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const size_t slot = 16 * i + lane;
        place[lane] = at;
        at += slot < plan->n_slots ? c->degree[slot] : 0;
    }
    place[16] = at;
}

gbs_status gbsi_take_slices(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbsi_sell *sell = &plan->sell;
    sell->slot = gbsi_alloc_lanes(sell->n_links, sizeof *sell->slot);
    sell->stride = sell->has_terms ? gbsi_alloc_lanes(sell->n_links, sizeof *sell->stride) : NULL;
    sell->coupling = gbsi_alloc_lanes(sell->n_couplings, sizeof *sell->coupling);
    sell->base = gbsi_alloc_lanes(sell->n_bases, sizeof *sell->base);
    if (sell->slot == NULL || sell->coupling == NULL || sell->base == NULL ||
        (sell->has_terms && sell->stride == NULL)) {
        return gbsi_no_memory(err, "plan", 8 * sell->n_links);
    }
    for (size_t i = 0; i < ((size_t)plan->n_slots + 15) / 16; ++i) {
        if (!sell->slice[i].regular) {
            place_rows(c, i);
        }
    }
    return GBS_OK;
}

/* ---- contents of slices --------------------------------------------------------------------- */

typedef struct packing {
    gbsi_plan *plan;
    const uint32_t *used;
    uint32_t neutral; /* index in `pool` of the neutral entries: first logarithms (0), then weights
                         (1) */
    uint32_t neutral64; /* index in `pool64` of the neutral entries, which are logarithms (0) */
} packing;

/* Moves the rows of an irregular slice together if some rows became shorter. */
static void close_gaps(const packing *p, size_t i)
{
    gbsi_plan *plan = p->plan;
    const gbsi_slice *s = &plan->sell.slice[i];
    uint32_t *place = plan->sell.base + s->counted;
    uint32_t to = 0;
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const size_t slot = 16 * i + lane;
        const uint32_t n = slot < plan->n_slots ? p->used[slot] : 0;
        const size_t from = s->link + place[lane];
        for (uint32_t d = 0; d < n; ++d) {
            plan->neighbour[s->link + to + d] = plan->neighbour[from + d];
            if (plan->edge != NULL) {
                plan->edge[s->link + to + d] = plan->edge[from + d];
            }
        }
        place[lane] = to;
        to += n;
    }
    place[16] = to;
}

/* Pads each row of a slice with neutral couplings to slot 0. */
static void pad_couplings(const packing *p, const gbsi_slice *s, uint32_t first)
{
    gbsi_plan *plan = p->plan;
    const float neutral = (gbsi_plan_form(plan, first) & GBSI_LINEAR) != 0 ? 1.0F : 0.0F;
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const gbsi_row row = gbsi_plan_room(plan, first + lane);
        const uint32_t table = gbsi_plan_by_count(plan, first + lane);
        const uint32_t n = p->used[first + lane];
        if (s->mixed) {
            plan->sell.base[s->counted + lane] = table;
            plan->sell.base[s->counted + 16 + lane] = table != GBSI_NONE ? n : 0;
        }
        for (size_t d = 0; d < s->width; ++d) {
            row.slot[16 * d] = d < n ? row.slot[16 * d] : 0;
            if (s->table == GBSI_NONE && (d >= n || table != GBSI_NONE)) {
                row.coupling[16 * d] = neutral;
            }
        }
    }
}

/* Pads the rows of a PAIRWISE slice, in which each neighbour is a term of one link. */
static void pad_pairs(const packing *p, const gbsi_slice *s, uint32_t first, uint32_t neutral)
{
    gbsi_plan *plan = p->plan;
    const bool odds = (gbsi_plan_form(plan, first) & GBSI_ODDS) != 0;
    const uint32_t stride = odds ? 1 : gbsi_plan_arity(plan, first);
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const gbsi_row row = gbsi_plan_room(plan, first + lane);
        const uint32_t n = p->used[first + lane];
        for (size_t d = 0; d < s->width; ++d) {
            row.slot[16 * d] = d < n ? row.slot[16 * d] : 0;
            row.base[16 * d] = d < n ? row.base[16 * d] : neutral;
            plan->sell.stride[s->link + lane + 16 * d] = d < n ? stride : 0;
        }
    }
}

static void fill_terms(const packing *p, const gbsi_slice *s, uint32_t first, uint32_t neutral)
{
    const gbsi_plan *plan = p->plan;
    const gbsi_sell *sell = &plan->sell;
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const size_t start = gbsi_offset(&plan->term_start, first + lane);
        const size_t n = gbsi_offset(&plan->term_start, first + lane + (size_t)1) - start;
        for (size_t t = 0; t < s->width; ++t) {
            const gbsi_term *term = t < n ? &plan->term[start + t] : NULL;
            sell->base[s->value + 16 * t + lane] = term == NULL ? neutral : (uint32_t)term->base;
            for (uint32_t d = 0; d < s->depth; ++d) {
                const size_t at = s->link + 16 * (t * s->depth + d) + lane;
                const bool linked = term != NULL && d < term->n;
                sell->slot[at] = linked ? plan->link[term->first + d].slot : 0;
                sell->stride[at] = linked ? plan->link[term->first + d].aux : 0;
            }
        }
    }
}

/* Appends the neutral entries to the pools: max_arity zeros and then max_arity ones in float, and
 * only zeros in double. */
static gbs_status take_neutral(gbsi_compile *c, packing *p, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const size_t n = plan->max_arity;
    size_t base = 0;
    if (!plan->sell.has_terms) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_pool_take(c, 0, 2 * n, &base, err));
    p->neutral = (uint32_t)base;
    for (size_t i = 0; i < n; ++i) {
        plan->pool[base + i] = 0.0F;
        plan->pool[base + n + i] = 1.0F;
    }
    if (plan->n_of_class[GBSI_CLASS_PRECISE] > 0) {
        GBSI_PASS(gbsi_pool_take(c, GBSI_DOUBLE, n, &base, err));
        p->neutral64 = (uint32_t)base;
        memset(plan->pool64 + base, 0, n * sizeof *plan->pool64);
    }
    return GBS_OK;
}

/* Returns the index, in its pool, of the neutral entries that suit a slot. */
static uint32_t neutral_of(const packing *p, uint32_t slot)
{
    const bool linear = (gbsi_plan_form(p->plan, slot) & GBSI_LINEAR) != 0;
    return gbsi_plan_class(p->plan, slot) == GBSI_CLASS_PRECISE
               ? p->neutral64
               : p->neutral + (linear ? p->plan->max_arity : 0);
}

gbs_status gbsi_finish_slices(gbsi_compile *c, const uint32_t *used, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    packing p = {.plan = plan, .used = used};
    GBSI_PASS(take_neutral(c, &p, err));
    for (size_t i = 0; i < ((size_t)plan->n_slots + 15) / 16; ++i) {
        const gbsi_slice *s = &plan->sell.slice[i];
        const uint32_t first = (uint32_t)(16 * i);
        const uint32_t neutral = neutral_of(&p, first);
        if (!s->regular) {
            close_gaps(&p, i);
        } else if (gbsi_has_couplings(gbsi_plan_class(plan, first))) {
            pad_couplings(&p, s, first);
        } else if (gbsi_plan_class(plan, first) == GBSI_CLASS_PAIRWISE) {
            pad_pairs(&p, s, first, neutral);
        } else {
            fill_terms(&p, s, first, neutral);
        }
    }
    return GBS_OK;
}
