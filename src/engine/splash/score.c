/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/score.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"
#include "splash/sums.h"

static gbs_status take_sums(gbsi_score_scratch *scratch, const gbsi_potentials *p, gbs_error *err)
{
    const gbsi_factors *factors = &p->plan->model->factors;
    scratch->sum_of = gbsi_alloc_array(p->n_long, sizeof *scratch->sum_of);
    for (uint32_t l = 0; scratch->sum_of != NULL && l < p->n_long; ++l) {
        const size_t f = p->long_factor[l];
        const bool kept = factors->kind[f] != GBS_FACTOR_TABLE &&
                          factors->scope_start[f + 1] - factors->scope_start[f] > GBSI_SCORE_LONG;
        scratch->sum_of[l] = kept ? scratch->n_sums++ : GBSI_NONE;
    }
    scratch->sum_mark = gbsi_alloc_array_zero(scratch->n_sums, sizeof *scratch->sum_mark);
    scratch->sum = gbsi_alloc_array((size_t)scratch->n_sums * GBSI_LANES, sizeof *scratch->sum);
    return GBSI_HAVE(err, "splash", scratch->sum_of, scratch->sum_mark, scratch->sum);
}

gbs_status gbsi_score_scratch_init(gbsi_score_scratch *scratch, const gbsi_potentials *p,
                                   gbs_error *err)
{
    size_t most = 0;
    for (uint32_t s = 0; s < p->n; ++s) {
        const size_t n = p->many_start[s + 1] - p->many_start[s];
        most = n > most ? n : most;
    }
    *scratch = (gbsi_score_scratch){.stamp = 1};
    scratch->r = gbsi_alloc_array(GBSI_SCORE_STATES, sizeof *scratch->r);
    scratch->logw = gbsi_alloc_array(2 * (size_t)p->plan->max_arity, sizeof *scratch->logw);
    scratch->factor = gbsi_alloc_array(most, sizeof *scratch->factor);
    scratch->part = gbsi_alloc_array(most * GBSI_SPLASH_WIDTH, sizeof *scratch->part);
    GBSI_PASS(GBSI_HAVE(err, "splash", scratch->r, scratch->logw, scratch->factor, scratch->part));
    return take_sums(scratch, p, err);
}

void gbsi_score_scratch_free(gbsi_score_scratch *scratch)
{
    GBSI_FREE(scratch->r, scratch->logw, scratch->factor, scratch->part, scratch->sum_of,
              scratch->sum_mark, scratch->sum);
    *scratch = (gbsi_score_scratch){0};
}

void gbsi_score_begin(gbsi_score_scratch *scratch)
{
    if (++scratch->stamp == 0) {
        memset(scratch->sum_mark, 0, scratch->n_sums * sizeof *scratch->sum_mark);
        scratch->stamp = 1;
    }
}

/* Arguments for computing the conditional of a slot in one chain. */
typedef struct conditional {
    const gbsi_potentials *p;
    const gbsi_splash_view *states;
    uint32_t lane, slot, k;
    uint32_t n_inside;
    uint32_t inside[GBSI_SPLASH_WIDTH]; /* slots of the neighbours inside the splash, ascending */
    uint32_t number[GBSI_SPLASH_WIDTH]; /* number of each variable in the splash */
    gbsi_score_scratch *scratch;        /* scratch->x has the states of the neighbours inside */
} conditional;

static void set_insiders(conditional *c, const gbsi_score_inside *inside)
{
    c->n_inside = inside->n;
    for (uint32_t i = 0; i < inside->n; ++i) {
        const uint32_t slot = inside->growth->clique[inside->number[i]].slot;
        uint32_t at = i;
        for (; at > 0 && c->inside[at - 1] > slot; --at) {
            c->inside[at] = c->inside[at - 1];
            c->number[at] = c->number[at - 1];
        }
        c->inside[at] = slot;
        c->number[at] = inside->number[i];
    }
}

/* Returns the index of `wanted` among n numbers; n if none of the numbers is `wanted`. */
static uint32_t index_of(const uint32_t *of, uint32_t n, uint32_t wanted)
{
    uint32_t i = 0;
    while (i < n && of[i] != wanted) {
        ++i;
    }
    return i;
}

/* ---- long factors ---------------------------------------------------------------------------- */

static void set_factors(const conditional *c, const gbsi_score_inside *inside)
{
    const gbsi_potentials *p = c->p;
    const gbsi_factors *factors = &p->plan->model->factors;
    gbsi_score_factor *factor = c->scratch->factor;
    uint32_t n_parts = 0;
    for (size_t m = p->many_start[c->slot]; m < p->many_start[c->slot + 1]; ++m, ++factor) {
        const size_t f = p->long_factor[p->many[m].number];
        const size_t first = factors->scope_start[f];
        uint32_t share = gbsi_shares_last(inside->shares, p->many[m].number);
        *factor = (gbsi_score_factor){.f = f, .e = first + p->many[m].at, .first_part = n_parts};
        factor->stride = gbsi_part_stride(p->plan, f, factor->e);
        for (; share != UINT32_MAX; share = inside->growth->share[share].before) {
            const gbsi_growth_share *s = &inside->growth->share[share];
            const size_t e = first + s->at;
            c->scratch->part[n_parts++] = (gbsi_score_part){
                e, gbsi_part_stride(p->plan, f, e), index_of(c->number, c->n_inside, s->variable)};
        }
        factor->n_parts = n_parts - factor->first_part;
    }
}

/* Returns the sum of a long factor over its whole scope, in the current chain. */
static uint64_t sum_scope(const conditional *c, size_t f)
{
    const gbsi_plan *plan = c->p->plan;
    const gbsi_factors *factors = &plan->model->factors;
    size_t stride = 1;
    uint64_t sum = 0;
    for (size_t e = factors->scope_start[f + 1]; e-- > factors->scope_start[f];) {
        const uint32_t slot = gbsi_scope_slot(plan, e);
        sum += gbsi_part_of(plan, f, e, stride, gbsi_view_at(c->states, slot, c->lane));
        stride *= gbsi_plan_arity(plan, slot);
    }
    c->scratch->n_looked += factors->scope_start[f + 1] - factors->scope_start[f];
    return sum;
}

static uint64_t kept_sum(conditional *c, uint32_t number)
{
    gbsi_score_scratch *scratch = c->scratch;
    const uint32_t at = scratch->sum_of[number];
    const uint32_t lane = c->lane;
    uint64_t *sum = scratch->sum + (size_t)at * GBSI_LANES;
    if (scratch->sum_mark[at] != scratch->stamp) {
        for (c->lane = 0; c->lane < c->states->n; ++c->lane) {
            sum[c->lane] = sum_scope(c, c->p->long_factor[number]);
        }
        c->lane = lane;
        scratch->sum_mark[at] = scratch->stamp;
    }
    return sum[lane];
}

/* Computes, for each long factor, the contribution of the variables outside to its sum. It is the
 * sum over the scope, minus the contributions of the scored variable and of the variables inside.
 */
static void sum_outside(conditional *c)
{
    const gbsi_potentials *p = c->p;
    const gbsi_plan *plan = p->plan;
    gbsi_score_factor *factor = c->scratch->factor;
    for (size_t m = p->many_start[c->slot]; m < p->many_start[c->slot + 1]; ++m, ++factor) {
        const uint32_t number = p->many[m].number;
        factor->outside =
            c->scratch->sum_of[number] == GBSI_NONE ? sum_scope(c, factor->f) : kept_sum(c, number);
        factor->outside -= gbsi_part_of(plan, factor->f, factor->e, factor->stride,
                                        gbsi_view_at(c->states, c->slot, c->lane));
        for (uint32_t i = 0; i < factor->n_parts; ++i) {
            const gbsi_score_part *part = &c->scratch->part[factor->first_part + i];
            factor->outside -=
                gbsi_part_of(plan, factor->f, part->e, part->stride,
                             gbsi_view_at(c->states, c->inside[part->inside], c->lane));
        }
    }
}

static void add_long(const conditional *c, const gbsi_score_factor *factor, double *logw)
{
    const gbsi_plan *plan = c->p->plan;
    const gbsi_factors *factors = &plan->model->factors;
    const size_t f = factor->f;
    uint64_t sum = factor->outside;
    for (uint32_t i = 0; i < factor->n_parts; ++i) {
        const gbsi_score_part *part = &c->scratch->part[factor->first_part + i];
        sum += gbsi_part_of(plan, f, part->e, part->stride, c->scratch->x[part->inside]);
    }
    for (uint32_t a = 0; a < c->k; ++a) {
        const uint64_t whole = sum + gbsi_part_of(plan, f, factor->e, factor->stride, a);
        logw[a] += factors->kind[f] == GBS_FACTOR_TABLE
                       ? factors->table[factors->table_start[factors->aux[f]] + whole]
                       : gbsi_value_of_sum(plan, f, whole);
    }
}

/* ---- conditionals ---------------------------------------------------------------------------- */

static void add_link(const conditional *c, const gbsi_splash_link *link, uint32_t x, double *logw)
{
    const double *row = c->p->log64 + link->table + (size_t)x * c->k;
    for (uint32_t a = 0; a < c->k; ++a) {
        logw[a] += row[a];
    }
}

/* Adds factors to the log-weights of the slot's states. If `inside` is true, the factors that
 * contain a neighbour inside the splash are added, otherwise all other factors. */
static void add_factors(const conditional *c, bool inside, double *logw)
{
    const gbsi_potentials *p = c->p;
    const gbsi_score_factor *factor = c->scratch->factor;
    for (size_t l = p->link_start[c->slot]; l < p->link_start[c->slot + 1]; ++l) {
        const gbsi_splash_link *link = &p->link[l];
        const uint32_t i = index_of(c->inside, c->n_inside, link->slot);
        if ((i < c->n_inside) == inside) {
            add_link(c, link,
                     inside ? c->scratch->x[i] : gbsi_view_at(c->states, link->slot, c->lane),
                     logw);
        }
    }
    for (size_t m = p->many_start[c->slot]; m < p->many_start[c->slot + 1]; ++m, ++factor) {
        if ((factor->n_parts > 0) == inside) {
            add_long(c, factor, logw);
        }
    }
}

/* Returns p(x | u, rest), where u are the states of the neighbours inside; 0 if no state of the
 * slot is possible given u. */
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

/* Returns the number of joint states of the variables inside; 0 if this number exceeds
 * GBSI_SCORE_STATES. */
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

static double score_of_chain(conditional *c, gbs_score_kind kind, uint64_t hash)
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
    sum_outside(c);
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
    c->scratch->n_looked +=
        (uint64_t)(n + 1) * (c->p->link_start[c->slot + 1] - c->p->link_start[c->slot] +
                             c->p->many_start[c->slot + 1] - c->p->many_start[c->slot] + 1);
    const double from = kind == GBS_SCORE_LITERAL ? 0.0 : clamped_log(mean);
    for (uint32_t u = 0; u < n; ++u) {
        score += fabs(from - clamped_log(c->scratch->r[u])) / n;
    }
    return score;
}

double gbsi_score(const gbsi_potentials *potentials, const gbsi_splash_view *states,
                  gbs_score_kind kind, uint32_t slot, const gbsi_score_inside *inside,
                  uint64_t hash, gbsi_score_scratch *scratch)
{
    conditional c = {.p = potentials,
                     .states = states,
                     .slot = slot,
                     .k = gbsi_plan_arity(potentials->plan, slot),
                     .scratch = scratch};
    double sum = 0.0;
    set_insiders(&c, inside);
    set_factors(&c, inside);
    for (c.lane = 0; c.lane < states->n; ++c.lane) {
        sum += score_of_chain(&c, kind, hash);
    }
    return sum / states->n;
}
