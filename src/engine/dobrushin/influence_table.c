/* SPDX-License-Identifier: Apache-2.0 */
/* Measures tables slab by slab. Within a slab two variables go through their states, and all other
 * variables are fixed. */
#include <math.h>

#include "dobrushin/influence_inside.h"

static const range nothing = {0.0, 0.0};

static size_t stride_of(const gbsi_influence *w, size_t f, uint32_t position)
{
    const gbsi_factors *factors = w->factors;
    size_t stride = 1;
    for (size_t s = factors->scope_start[f] + position + 1; s < factors->scope_start[f + 1]; ++s) {
        stride *= w->model->arity[factors->scope[s]];
    }
    return stride;
}

void gbsi_table_size_up(const gbsi_influence *w, use *u)
{
    const gbsi_factors *factors = w->factors;
    const size_t t = factors->aux[u->f];
    const uint64_t n = factors->scope_start[u->f + 1] - factors->scope_start[u->f];
    const uint64_t entries = factors->table_start[t + 1] - factors->table_start[t];
    double most = -INFINITY;
    double least = INFINITY;
    u->coarse = n > 2 && n * (n - 1) > w->limits.walk / entries;
    if (!u->coarse) {
        return;
    }
    for (size_t e = factors->table_start[t]; e < factors->table_start[t + 1]; ++e) {
        const double v = factors->table[e];
        u->has_zeros |= v == -INFINITY;
        most = v > most ? v : most;
        least = v < least && v != -INFINITY ? v : least;
    }
    u->spread = most > least ? most - least : 0.0;
}

/* Bounds the influence of a table by the table's spread alone: log-odds are within [-spread,
 * spread], and change by at most twice the spread. */
static void coarse_table(const use *u, measure *m)
{
    const double spread = u->spread;
    m->apart |= u->has_zeros;
    if (m->delta != NULL) {
        for (size_t e = 0; e < m->n_delta; ++e) {
            m->delta[e] = 2.0 * spread;
        }
        m->mid = (range){-spread, spread};
    } else if (m->ki == 2) {
        const range all = {m->field.lo - spread, m->field.hi + spread};
        const double bound = gbsi_influence_field(spread, -spread, all);
        m->bound = bound > m->bound ? bound : m->bound;
    } else {
        m->osc = 2.0 * spread > m->osc ? 2.0 * spread : m->osc;
    }
}

void gbsi_table_walk(gbsi_influence *w, const use *u, uint32_t pj, measure *m)
{
    const gbsi_factors *factors = w->factors;
    const size_t start = factors->table_start[factors->aux[u->f]];
    const size_t last = factors->table_start[factors->aux[u->f] + (size_t)1];
    const size_t si = stride_of(w, u->f, u->position);
    const size_t sj = stride_of(w, u->f, pj);
    const size_t long_stride = si > sj ? si : sj;
    const size_t short_stride = si > sj ? sj : si;
    const size_t long_block = long_stride * (si > sj ? m->ki : m->kj);
    const size_t short_block = short_stride * (si > sj ? m->kj : m->ki);
    if (u->coarse) {
        coarse_table(u, m);
        return;
    }
    for (size_t a = start; a < last && !m->apart; a += long_block) {
        for (size_t b = 0; b < long_stride; b += short_block) {
            for (size_t c = 0; c < short_stride; ++c) {
                const double *entry = &factors->table[a + b + c];
                for (uint32_t x = 0; x < m->kj; ++x) {
                    for (uint32_t s = 0; s < m->ki; ++s) {
                        w->slab[(size_t)x * m->ki + s] = entry[x * sj + s * si];
                    }
                }
                gbsi_influence_slab(w->slab, m);
            }
        }
    }
}

range gbsi_table_odds(const gbsi_influence *w, size_t f, uint32_t position)
{
    const gbsi_factors *factors = w->factors;
    const size_t last = factors->table_start[factors->aux[f] + (size_t)1];
    const size_t stride = stride_of(w, f, position);
    range r = {INFINITY, -INFINITY};
    for (size_t a = factors->table_start[factors->aux[f]]; a < last; a += 2 * stride) {
        for (size_t e = a; e < a + stride; ++e) {
            const double odds = factors->table[e + stride] - factors->table[e];
            if (isfinite(odds)) {
                r.lo = odds < r.lo ? odds : r.lo;
                r.hi = odds > r.hi ? odds : r.hi;
            }
        }
    }
    return r.lo <= r.hi ? r : nothing;
}
