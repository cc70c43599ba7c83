/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

#include <math.h>

#include "draw/herd.h"

#define LINE 64.0 /* bytes of a cache line */

/* Bytes that are read to find where the row of a slot begins. */
static double offset_bytes(const gbsi_offsets *offsets)
{
    return offsets->narrow != NULL ? sizeof(uint32_t) : offsets->wide != NULL ? sizeof(size_t) : 0;
}

/* Bytes of a slot's row in a pass of sixteen chains: neighbours, or terms and their links. */
static double row_bytes(const gbsi_plan *plan, uint32_t slot)
{
    const double width =
        (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0 ? 1.0 : gbsi_plan_arity(plan, slot);
    const bool precise = gbsi_plan_class(plan, slot) == GBSI_CLASS_PRECISE;
    double bytes =
        offset_bytes(&plan->field_start) + width * (precise ? sizeof(double) : sizeof(float));
    if (gbsi_plan_class(plan, slot) >= GBSI_CLASS_TABLE) {
        bytes += offset_bytes(&plan->term_start);
        const size_t end = gbsi_offset(&plan->term_start, slot + (size_t)1);
        for (size_t t = gbsi_offset(&plan->term_start, slot); t < end; ++t) {
            bytes += sizeof *plan->term + (double)plan->term[t].n * sizeof *plan->link;
        }
        return bytes;
    }
    const double degree = gbsi_plan_row(plan, slot).n;
    const bool by_count = gbsi_plan_by_count(plan, slot) != GBSI_NONE;
    return bytes + offset_bytes(&plan->row_start) + (plan->by_count == NULL ? 0 : 4) +
           degree * (double)(sizeof *plan->neighbour + (by_count ? 0 : sizeof *plan->edge));
}

/* Bytes of sixteen slots of a regular slice in a pass of one chain. */
static double slice_bytes(const gbsi_plan *plan, const gbsi_slice *s, uint32_t slot)
{
    const double width =
        (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0 ? 1.0 : gbsi_plan_arity(plan, slot);
    const bool terms = gbsi_plan_class(plan, slot) >= GBSI_CLASS_PAIRWISE;
    const double values = s->table != GBSI_NONE ? 0.0 : 16.0 * s->width * sizeof(float);
    const double links = 16.0 * s->width * s->depth * sizeof(uint32_t);
    return sizeof *s + offset_bytes(&plan->field_start) + 16.0 * width * sizeof(float) + values +
           links * (terms ? 2 : 1);
}

static double plan_bytes(const gbsi_plan *plan)
{
    double bytes = (double)plan->n_pool * sizeof(float) + (double)plan->n_pool64 * sizeof(double);
    for (uint32_t slot = 0; slot < plan->n_slots;) {
        const gbsi_slice *s = plan->sell.slice == NULL ? NULL : &plan->sell.slice[slot / 16];
        if (s != NULL && s->regular) {
            bytes += slice_bytes(plan, s, slot);
            slot += 16;
        } else {
            bytes += row_bytes(plan, slot++);
        }
    }
    return bytes;
}

static double at_most(double a, double b)
{
    return a < b ? a : b;
}

/* Mean number of different keys among n for which independent chains ask. It is largest if all
 * keys are equally likely, which is assumed here. */
static double distinct(double n, double chains)
{
    return n * (1.0 - pow(1.0 - 1.0 / n, chains));
}

/* Bytes of the herded draw of one group. With sixteen chains, a line holds the weights of a key.
 * With one chain, a cache line holds the weights of sixteen bins, or of eight keys with their
 * chances, and neighbouring slots share the rest of the line. */
static double herd_bytes(const gbsi_herd *herd)
{
    const bool bins = herd->cell != NULL;
    const bool one = herd->lanes == 1;
    double bytes = 0.0;
    for (uint32_t slot = 0; slot < herd->plan->n_slots; ++slot) {
        const gbsi_key_slot *s = bins ? NULL : &herd->keys.slot[slot];
        const double n = bins ? herd->how.n_bins : s->n_keys;
        const double each = (bins ? 1.0 : 2.0) * sizeof(uint32_t);
        bytes += 2.0 * (one ? at_most(n * each, LINE) : LINE * distinct(n, herd->lanes));
        if (bins) {
            bytes += sizeof *herd->cell;
        } else {
            const double where =
                one ? sizeof(uint32_t) * (s->lut == GBSI_NO_LUT ? 1.0 : 2.0) : sizeof *s;
            const double chances = one ? 0.0 : at_most(n * sizeof *herd->keys.chance, LINE);
            bytes += where + s->n_links * (double)sizeof *herd->keys.link + chances;
        }
    }
    return bytes;
}

bench_bytes bench_bytes_of(const bench_engine *engine)
{
    const gbsi_plan *plan = engine->run->sampling.engine.plan;
    const double chains = engine->chains;
    const double groups = gbsi_groups_of(engine->chains);
    double cells = 0.0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        cells += gbsi_plan_arity(plan, slot) == 2 ? 1 : gbsi_plan_arity(plan, slot);
    }
    const double states = (double)plan->n_slots * plan->value_bytes * chains;
    bench_bytes bytes = {0};
    const gbsi_executor *x = &engine->executor;
    if (engine->run->task.options.draw != GBS_DRAW_RANDOM) {
        bytes.draw = groups * herd_bytes(x->draw_state);
    }
    if (bytes.draw == 0.0 || (x->draw->traits & GBSI_DRAW_TABLED) == 0) {
        bytes.plan = groups * plan_bytes(plan);
    }
    bytes.states = 3.0 * states;
    bytes.count = states + 2.0 * cells * chains;
    bytes.rao_blackwell = 2.0 * sizeof(float) * cells * chains;
    bytes.closing = 2.0 * (sizeof(double) * cells * chains + groups * 2 * sizeof(double) * cells);
    return bytes;
}
