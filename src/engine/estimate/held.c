/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for estimates whose chains hold the sums of the last passes themselves. These functions
 * fetch the sums from the chains, for 512 slots at a time. */
#include <assert.h>

#include "estimate/estimate_internal.h"

void gbsi_estimate_hold(gbsi_estimate *e, const gbsi_held *held)
{
    assert(e->shape.held);
    e->held = *held;
}

double gbsi_estimate_held(const gbsi_estimate *e, uint32_t group, size_t cell)
{
    float held = 0.0F;
    if (e->n_held > 0) {
        e->held.sum(e->held.context, group, (uint32_t)cell, 1, &held);
    }
    const float *open = e->held_open + (size_t)group * e->n_cells;
    return (double)held + (e->batches.open_used ? (double)open[cell] : 0.0);
}

void gbsi_held_flush(gbsi_estimate *e, uint32_t first, uint32_t end)
{
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        float *open = e->held_open + (size_t)group * e->n_cells;
        for (uint32_t slot = first; slot < end; slot += GBSI_SLOTS_HELD) {
            float sum[GBSI_SLOTS_HELD];
            e->held.sum(e->held.context, group, slot, GBSI_SLOTS_HELD, sum);
            for (uint32_t i = 0; i < GBSI_SLOTS_HELD; i++) {
                open[slot + i] += sum[i];
            }
        }
    }
}

void gbsi_held_forget(gbsi_estimate *e)
{
    e->held.forget(e->held.context);
    e->n_held = 0;
}

/* ---- estimates of rows of slots -------------------------------------------------------------- */

enum { N = GBSI_SLOTS_HELD };

/* Sums over chains, slot by slot. These sums equal the sums in gbsi_summarise_cell(), because their
 * terms are added in the order of gbsi_summarise_cell(). */
typedef struct row_sums {
    double sum[N], closed[N];
    double least[N], most[N];
    double first[N], shift[N], shift_square[N], within[N];
} row_sums;

/* Adds the totals of a chain to the sums over chains. @param total, closed [N] sums of the chain
 * over all passes, and over closed batches. */
static void add_chain(row_sums *s, bool is_first, double updates, const double *restrict total,
                      const double *restrict closed)
{
    for (uint32_t i = 0; i < N; i++) {
        const double raw = total[i] / updates;
        const double m = raw < 0 ? 0 : raw > 1 ? 1 : raw;
        s->first[i] = is_first ? m : s->first[i];
        const double d = m - s->first[i];
        s->shift[i] += d;
        s->shift_square[i] += d * d;
        s->within[i] += m * (1 - m);
        s->sum[i] += total[i];
        s->closed[i] += closed[i];
        s->least[i] = is_first || total[i] < s->least[i] ? total[i] : s->least[i];
        s->most[i] = is_first || total[i] > s->most[i] ? total[i] : s->most[i];
    }
}

static void add_chains(const gbsi_estimate *e, uint32_t first, double updates, row_sums *s)
{
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        const float *held = e->held_total + (size_t)group * e->n_cells + first;
        double closed[N];
        double total[N];
        for (uint32_t i = 0; i < N; i++) {
            closed[i] = (double)held[i];
            total[i] = closed[i];
        }
        for (uint32_t i = 0; i < N && (e->n_held > 0 || e->batches.open_used); i++) {
            total[i] += gbsi_estimate_held(e, group, first + i);
        }
        add_chain(s, group == 0, updates, total, closed);
    }
}

static void tell_cells(const gbsi_estimate *e, uint32_t first, gbsi_held_row *out)
{
    for (uint32_t i = 0; i < N; i++) {
        const gbsi_cell_summary s = gbsi_summarise_cell(e, first + i, first + i);
        out->p[i] = s.p;
        out->mcse[i] = s.mcse;
        out->rhat[i] = s.rhat;
        out->constant[i] = gbsi_is_constant(e, first + i);
    }
}

void gbsi_estimate_held_row(const gbsi_estimate *e, uint32_t first, gbsi_held_row *out)
{
    const double updates = (double)e->n_passes;
    const double n_chains = e->shape.n_chains;
    row_sums s = {.sum = {0}};
    if (e->split || e->n_passes == 0) {
        tell_cells(e, first, out);
        return;
    }
    add_chains(e, first, updates, &s);
    for (uint32_t i = 0; i < N; i++) {
        out->p[i] = s.sum[i] / (updates * n_chains);
        out->constant[i] = s.most[i] == 0 || s.least[i] == updates;
        out->rhat[i] = gbsi_rhat(s.within[i], s.shift[i], s.shift_square[i], n_chains, updates);
        const double mcse = gbsi_batches_mcse_of(e, first + i, first + i, s.closed[i]);
        const double least = gbsi_resolution(e, out->p[i]);
        out->mcse[i] =
            mcse < least ? least
                         : mcse; /* a NAN is not replaced, because comparisons with NAN are false */
    }
}
