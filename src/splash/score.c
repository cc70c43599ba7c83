/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/score.h"

#include <math.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"

gbs_status gbsi_score_scratch_init(gbsi_score_scratch *scratch, const gbsi_potentials *potentials,
                                   uint32_t most_near, gbs_error *err)
{
    const gbsi_plan *plan = potentials->plan;
    const size_t k = plan->max_arity;
    scratch->r = gbsi_alloc_array(GBSI_SCORE_STATES, sizeof *scratch->r);
    scratch->logw = gbsi_alloc_array(2 * k, sizeof *scratch->logw);
    scratch->at = gbsi_alloc_array((size_t)most_near + 1, sizeof *scratch->at);
    scratch->x = gbsi_alloc_array((size_t)most_near + 1, sizeof *scratch->x);
    return scratch->r == NULL || scratch->logw == NULL || scratch->at == NULL || scratch->x == NULL
               ? gbsi_no_memory(err, "splash", GBSI_SCORE_STATES * sizeof *scratch->r)
               : GBS_OK;
}

void gbsi_score_scratch_free(gbsi_score_scratch *scratch)
{
    gbsi_free(scratch->r);
    gbsi_free(scratch->logw);
    gbsi_free(scratch->at);
    gbsi_free(scratch->x);
    *scratch = (gbsi_score_scratch){0};
}

/* One chain's conditional of a slot. */
typedef struct conditional {
    const gbsi_potentials *p;
    const gbsi_splash_view *states;
    uint32_t lane, slot, k;
    uint32_t n_inside;
    const uint32_t *inside;
    gbsi_score_scratch *scratch; /* x: states of those inside */
} conditional;

/* Which of those inside a slot is; n_inside: none. */
static uint32_t index_of(const conditional *c, uint32_t slot)
{
    uint32_t i = 0;
    while (i < c->n_inside && c->inside[i] != slot) {
        ++i;
    }
    return i;
}

static void add_link(const conditional *c, const gbsi_splash_link *link, uint32_t x, double *logw)
{
    const double *row = c->p->log64 + link->table + (size_t)x * c->k;
    for (uint32_t a = 0; a < c->k; ++a) {
        logw[a] += row[a];
    }
}

/* @return whether the factor sees one inside. */
static bool read_scope(const conditional *c, size_t f, uint32_t *own)
{
    const gbsi_factors *factors = &c->p->plan->model->factors;
    bool sees = false;
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        const uint32_t slot = gbsi_scope_slot(c->p->plan, e);
        const uint32_t at = (uint32_t)(e - factors->scope_start[f]);
        const uint32_t i = index_of(c, slot);
        *own = slot == c->slot ? at : *own;
        sees |= i < c->n_inside;
        c->scratch->at[at] =
            i < c->n_inside ? c->scratch->x[i] : gbsi_view_at(c->states, slot, c->lane);
    }
    return sees;
}

/* Factors that see one inside (or none) into log-weights of the states of the slot. */
static void add_factors(const conditional *c, bool inside, double *logw)
{
    const gbsi_potentials *p = c->p;
    const gbsi_conditioned *model = p->plan->model;
    for (size_t l = p->link_start[c->slot]; l < p->link_start[c->slot + 1]; ++l) {
        const gbsi_splash_link *link = &p->link[l];
        const uint32_t i = index_of(c, link->slot);
        if ((i < c->n_inside) == inside) {
            add_link(c, link,
                     inside ? c->scratch->x[i] : gbsi_view_at(c->states, link->slot, c->lane),
                     logw);
        }
    }
    for (size_t m = p->many_start[c->slot]; m < p->many_start[c->slot + 1]; ++m) {
        uint32_t own = 0;
        if (read_scope(c, p->many[m], &own) != inside) {
            continue;
        }
        for (uint32_t a = 0; a < c->k; ++a) {
            c->scratch->at[own] = a;
            logw[a] +=
                gbsi_factor_value_at(&model->factors, model->arity, p->many[m], c->scratch->at);
        }
    }
}

/* p(x | u, rest), or 0 where u leaves no state. */
static double share_of(const double *logw, uint32_t k, uint32_t x)
{
    double top = -INFINITY;
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        top = logw[a] > top ? logw[a] : top;
    }
    if (top == -INFINITY) {
        return 0.0;
    }
    for (uint32_t a = 0; a < k; ++a) {
        sum += gbsi_exp(logw[a] - top);
    }
    return gbsi_exp(logw[x] - top) / sum;
}

static double clamped_log(double r)
{
    return gbsi_log(r > 1e-300 ? r : 1e-300);
}

/* States of those inside, at most GBSI_SCORE_STATES; more: 0. */
static uint32_t count_states(const conditional *c)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < c->n_inside; ++i) {
        n *= gbsi_plan_arity(c->p->plan, c->inside[i]);
        if (n > GBSI_SCORE_STATES) {
            return 0;
        }
    }
    return (uint32_t)n;
}

static void set_inside(const conditional *c, uint32_t u, bool drawn, uint64_t hash)
{
    for (uint32_t i = 0; i < c->n_inside; ++i) {
        const uint32_t k = gbsi_plan_arity(c->p->plan, c->inside[i]);
        if (drawn) {
            hash = hash * UINT64_C(6364136223846793005) + 2 * (uint64_t)u + 1;
            c->scratch->x[i] = gbsi_below((uint32_t)(hash >> 32), (uint32_t)hash, k);
        } else {
            c->scratch->x[i] = u % k;
            u /= k;
        }
    }
}

static double score_of_chain(const conditional *c, gbs_score_kind kind, uint64_t hash)
{
    double *rest = c->scratch->logw;
    double *logw = rest + c->p->plan->max_arity;
    const double *field = c->p->field64 + c->p->field_start[c->slot];
    const uint32_t x = gbsi_view_at(c->states, c->slot, c->lane);
    const uint32_t n_states = count_states(c);
    const uint32_t n = n_states == 0 ? GBSI_SCORE_STATES : n_states;
    double mean = 0.0;
    double score = 0.0;
    for (uint32_t a = 0; a < c->k; ++a) {
        rest[a] = field[a];
    }
    add_factors(c, false, rest);
    for (uint32_t u = 0; u < n; ++u) {
        for (uint32_t a = 0; a < c->k; ++a) {
            logw[a] = rest[a];
        }
        set_inside(c, u, n_states == 0, hash);
        add_factors(c, true, logw);
        c->scratch->r[u] = share_of(logw, c->k, x);
        mean += c->scratch->r[u] / n;
    }
    const double from = kind == GBS_SCORE_LITERAL ? 0.0 : clamped_log(mean);
    for (uint32_t u = 0; u < n; ++u) {
        score += fabs(from - clamped_log(c->scratch->r[u])) / n;
    }
    return score;
}

double gbsi_score(const gbsi_potentials *potentials, const gbsi_splash_view *states,
                  gbs_score_kind kind, uint32_t slot, uint32_t n_inside, const uint32_t *inside,
                  uint64_t hash, gbsi_score_scratch *scratch)
{
    conditional c = {.p = potentials,
                     .states = states,
                     .slot = slot,
                     .k = gbsi_plan_arity(potentials->plan, slot),
                     .n_inside = n_inside,
                     .inside = inside,
                     .scratch = scratch};
    double sum = 0.0;
    for (c.lane = 0; c.lane < states->n; ++c.lane) {
        sum += score_of_chain(&c, kind, hash);
    }
    return sum / states->n;
}
