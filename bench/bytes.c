/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

/* Sixteen chains: rows of neighbours, or terms and their links. */
static double row_bytes(const gbsi_plan *plan, uint32_t slot)
{
    const double width = (plan->form[slot] & GBSI_ODDS) != 0 ? 1.0 : plan->arity[slot];
    const bool precise = plan->class_id[slot] == GBSI_CLASS_PRECISE;
    double bytes = sizeof *plan->field_start + width * (precise ? sizeof(double) : sizeof(float));
    if (plan->class_id[slot] >= GBSI_CLASS_TABLE) {
        bytes += sizeof *plan->term_start;
        for (size_t t = plan->term_start[slot]; t < plan->term_start[slot + 1]; ++t) {
            bytes += sizeof *plan->term + (double)plan->term[t].n * sizeof *plan->link;
        }
        return bytes;
    }
    const double degree = (double)(plan->row_start[slot + 1] - plan->row_start[slot]);
    const bool by_count = plan->by_count[slot] != GBSI_NONE;
    return bytes + sizeof *plan->row_start + sizeof *plan->by_count +
           degree * (double)(sizeof *plan->neighbour + (by_count ? 0 : sizeof *plan->edge));
}

/* One chain: a regular slice of sixteen slots. */
static double slice_bytes(const gbsi_plan *plan, const gbsi_slice *s, uint32_t slot)
{
    const double width = (plan->form[slot] & GBSI_ODDS) != 0 ? 1.0 : plan->arity[slot];
    const bool terms = plan->class_id[slot] >= GBSI_CLASS_PAIRWISE;
    const double values = s->table != GBSI_NONE ? 0.0 : 16.0 * s->width * sizeof(float);
    const double links = 16.0 * s->width * s->depth * sizeof(uint32_t);
    return sizeof *s + sizeof *plan->field_start + 16.0 * width * sizeof(float) + values +
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

bench_bytes bench_bytes_of(const bench_engine *engine)
{
    const gbsi_plan *plan = engine->run->plan;
    const double chains = engine->chains;
    const double groups = gbsi_groups_of(engine->chains);
    double cells = 0.0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        cells += plan->arity[slot] == 2 ? 1 : plan->arity[slot];
    }
    const double states = (double)plan->n_slots * plan->value_bytes * chains;
    bench_bytes bytes = {0};
    bytes.plan = groups * plan_bytes(plan);
    bytes.states = 3.0 * states;
    bytes.count = states + 2.0 * cells * chains;
    bytes.rao_blackwell = 2.0 * sizeof(float) * cells * chains;
    bytes.closing = 2.0 * (sizeof(double) * cells * chains + groups * 2 * sizeof(double) * cells);
    return bytes;
}
