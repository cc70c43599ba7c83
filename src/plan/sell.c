/* SPDX-License-Identifier: Apache-2.0 */
/* The second packing: sliced ELL (Monakov, Lokhmotov & Avetisyan 2010, HiPEAC, section 3.1). */
#include "base/memory.h"
#include "plan/compile.h"

#define WIDEST 65535u /* terms of more links are run slot by slot */

typedef struct packing {
    gbsi_plan *plan;
    gbsi_sell *sell;
    bool has_terms;     /* some regular slice is of PAIRWISE or TABLE */
    uint32_t neutral;   /* pool[neutral ..]: what changes nothing, as logs, then as weights */
    uint32_t max_arity; /* entries of each */
} packing;

static bool is_neighbour_class(uint8_t class_id)
{
    return class_id == GBSI_CLASS_ISING || class_id == GBSI_CLASS_POTTS;
}

static size_t degree_of(const gbsi_plan *plan, uint32_t slot)
{
    return plan->row_start[slot + 1] - plan->row_start[slot];
}

/* Widens the slice to hold a slot. @return false where the slot cannot be part of one. */
static bool take_in(const gbsi_plan *plan, uint32_t slot, gbsi_slice *s)
{
    size_t width = degree_of(plan, slot);
    switch ((gbsi_class)plan->class_id[slot]) {
    case GBSI_CLASS_ISING:
        if (plan->by_count[slot] == GBSI_NONE && width > GBSI_LONG_ROW) {
            return false; /* strided partials */
        }
        break;
    case GBSI_CLASS_POTTS:
    case GBSI_CLASS_PAIRWISE:
        break;
    case GBSI_CLASS_TABLE:
        width = plan->term_start[slot + 1] - plan->term_start[slot];
        for (size_t t = plan->term_start[slot]; t < plan->term_start[slot + 1]; ++t) {
            const gbsi_term *term = &plan->term[t];
            if (term->kind != GBSI_TERM_TABLE || term->n > WIDEST) {
                return false;
            }
            s->depth = term->n > s->depth ? (uint16_t)term->n : s->depth;
        }
        break;
    default:
        return false;
    }
    s->width = width > s->width ? (uint32_t)width : s->width;
    return true;
}

/* Whether padding to the widest and deepest stays below twice what is there, and something more. */
static bool worth_padding(const gbsi_plan *plan, uint32_t first, const gbsi_slice *s)
{
    size_t n = 0;
    for (uint32_t slot = first; slot < first + 16; ++slot) {
        if (plan->class_id[slot] == GBSI_CLASS_TABLE) {
            for (size_t t = plan->term_start[slot]; t < plan->term_start[slot + 1]; ++t) {
                n += plan->term[t].n;
            }
        } else {
            n += degree_of(plan, slot);
        }
    }
    return (uint64_t)16 * s->width * s->depth <= 3 * (uint64_t)n + 64;
}

static gbsi_slice look_at(const gbsi_plan *plan, size_t i)
{
    const uint32_t first = (uint32_t)(16 * i);
    gbsi_slice s = {.depth = 1, .table = GBSI_NONE};
    uint32_t n_counted = 0;
    bool same_table = true;
    if (plan->n_slots - first < 16) {
        return s;
    }
    for (uint32_t slot = first; slot < first + 16; ++slot) {
        if (plan->class_id[slot] != plan->class_id[first] ||
            plan->form[slot] != plan->form[first] || plan->arity[slot] != plan->arity[first] ||
            !take_in(plan, slot, &s)) {
            return (gbsi_slice){.depth = 1, .table = GBSI_NONE};
        }
        n_counted += plan->by_count[slot] != GBSI_NONE;
        same_table &= plan->by_count[slot] == plan->by_count[first];
    }
    s.regular = worth_padding(plan, first, &s);
    s.table = s.regular && n_counted > 0 && same_table ? plan->by_count[first] : GBSI_NONE;
    s.mixed = s.regular && n_counted > 0 && !same_table;
    return s;
}

static gbs_status take(packing *p, size_t n_slices, gbs_error *err)
{
    gbsi_sell *sell = p->sell;
    sell->slice = gbsi_alloc_array(n_slices, sizeof *sell->slice);
    if (sell->slice == NULL) {
        return gbsi_no_memory(err, "plan", n_slices * sizeof *sell->slice);
    }
    for (size_t i = 0; i < n_slices; ++i) {
        gbsi_slice *s = &sell->slice[i];
        *s = look_at(p->plan, i);
        s->link = sell->n_links;
        if (!s->regular) {
            continue;
        }
        sell->n_links += (size_t)16 * s->width * s->depth;
        if (!is_neighbour_class(p->plan->class_id[16 * i])) {
            s->value = sell->n_bases;
            sell->n_bases += (size_t)16 * s->width;
            p->has_terms = true;
        } else if (s->table == GBSI_NONE) {
            s->value = sell->n_couplings;
            sell->n_couplings += (size_t)16 * s->width;
            s->counted = sell->n_bases;
            sell->n_bases += s->mixed ? 32 : 0;
        }
    }
    sell->slot = gbsi_alloc_lanes(sell->n_links, sizeof *sell->slot);
    sell->stride = p->has_terms ? gbsi_alloc_lanes(sell->n_links, sizeof *sell->stride) : NULL;
    sell->coupling = gbsi_alloc_lanes(sell->n_couplings, sizeof *sell->coupling);
    sell->base = gbsi_alloc_lanes(sell->n_bases, sizeof *sell->base);
    return sell->slot == NULL || sell->coupling == NULL || sell->base == NULL ||
                   (p->has_terms && sell->stride == NULL)
               ? gbsi_no_memory(err, "plan", 8 * sell->n_links)
               : GBS_OK;
}

static void fill_neighbours(const packing *p, const gbsi_slice *s, uint32_t first)
{
    const gbsi_plan *plan = p->plan;
    for (uint32_t lane = 0; s->mixed && lane < 16; ++lane) {
        const bool counted = plan->by_count[first + lane] != GBSI_NONE;
        p->sell->base[s->counted + lane] = plan->by_count[first + lane];
        p->sell->base[s->counted + 16 + lane] =
            counted ? (uint32_t)degree_of(plan, first + lane) : 0;
    }
    const float neutral = (plan->form[first] & GBSI_LINEAR) != 0 ? 1.0F : 0.0F;
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const size_t row = plan->row_start[first + lane];
        const size_t degree = degree_of(plan, first + lane);
        for (size_t d = 0; d < s->width; ++d) {
            const size_t at = 16 * d + lane;
            p->sell->slot[s->link + at] = d < degree ? plan->neighbour[row + d] : 0;
            if (s->table == GBSI_NONE) {
                p->sell->coupling[s->value + at] =
                    d < degree ? plan->edge[row + d].coupling : neutral;
            }
        }
    }
}

/* Neighbours of PAIRWISE as terms of one link. */
static void fill_pairs(const packing *p, const gbsi_slice *s, uint32_t first, uint32_t neutral)
{
    const gbsi_plan *plan = p->plan;
    const bool odds = (plan->form[first] & GBSI_ODDS) != 0;
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const size_t row = plan->row_start[first + lane];
        const size_t degree = degree_of(plan, first + lane);
        for (size_t d = 0; d < s->width; ++d) {
            const size_t at = 16 * d + lane;
            p->sell->slot[s->link + at] = d < degree ? plan->neighbour[row + d] : 0;
            p->sell->stride[s->link + at] = d >= degree ? 0 : (odds ? 1 : plan->arity[first]);
            p->sell->base[s->value + at] = d < degree ? plan->edge[row + d].base : neutral;
        }
    }
}

static void fill_terms(const packing *p, const gbsi_slice *s, uint32_t first, uint32_t neutral)
{
    const gbsi_plan *plan = p->plan;
    for (uint32_t lane = 0; lane < 16; ++lane) {
        const size_t start = plan->term_start[first + lane];
        const size_t n = plan->term_start[first + lane + 1] - start;
        for (size_t t = 0; t < s->width; ++t) {
            const gbsi_term *term = t < n ? &plan->term[start + t] : NULL;
            p->sell->base[s->value + 16 * t + lane] = term == NULL ? neutral : (uint32_t)term->base;
            for (uint32_t d = 0; d < s->depth; ++d) {
                const size_t at = s->link + 16 * (t * s->depth + d) + lane;
                const bool linked = term != NULL && d < term->n;
                p->sell->slot[at] = linked ? plan->link[term->first + d].slot : 0;
                p->sell->stride[at] = linked ? plan->link[term->first + d].aux : 0;
            }
        }
    }
}

/* max_arity zeros, then as many ones. */
static gbs_status take_neutral(gbsi_compile *c, packing *p, gbs_error *err)
{
    size_t base = 0;
    const gbs_status status =
        p->has_terms ? gbsi_pool_take(c, 0, 2 * (size_t)p->max_arity, &base, err) : GBS_OK;
    for (uint32_t i = 0; status == GBS_OK && p->has_terms && i < p->max_arity; ++i) {
        c->plan->pool[base + i] = 0.0F;
        c->plan->pool[base + p->max_arity + i] = 1.0F;
    }
    p->neutral = (uint32_t)base;
    return status;
}

gbs_status gbsi_compile_sell(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    packing p = {.plan = plan, .sell = &plan->sell, .max_arity = plan->max_arity};
    const size_t n_slices = ((size_t)plan->n_slots + 15) / 16;
    gbs_status status = GBS_OK;
    GBSI_TRY(take(&p, n_slices, err));
    GBSI_TRY(take_neutral(c, &p, err));
    for (size_t i = 0; i < n_slices; ++i) {
        const gbsi_slice *s = &plan->sell.slice[i];
        const uint32_t first = (uint32_t)(16 * i);
        const bool linear = (plan->form[first] & GBSI_LINEAR) != 0;
        const uint32_t neutral = p.neutral + (linear ? p.max_arity : 0);
        if (!s->regular) {
            continue;
        }
        if (is_neighbour_class(plan->class_id[first])) {
            fill_neighbours(&p, s, first);
        } else if (plan->class_id[first] == GBSI_CLASS_PAIRWISE) {
            fill_pairs(&p, s, first, neutral);
        } else {
            fill_terms(&p, s, first, neutral);
        }
    }
cleanup:
    return status;
}
