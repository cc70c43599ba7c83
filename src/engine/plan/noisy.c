/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles noisy factors to sums, over their parents, of costs -ln q_i(u_i) [M56]. Each noisy
 * factor has a unit, and the costs of the factor are whole multiples of this unit. A sum therefore
 * does not depend on the order of its terms. */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "plan/compile.h"

enum { SUM_BITS = 61 }; /* bits of the largest sum; two such sums can be added in 63 bits */

/* How the logarithms of a factor are converted to costs. */
typedef struct scale {
    double per_log; /* cost of 1 nat; a power of two */
    int64_t never;
} scale;

static int64_t cost_of(const scale *s, double log_q)
{
    if (log_q == -INFINITY) {
        return s->never;
    }
    const int64_t cost = (int64_t)(-log_q * s->per_log + 0.5);
    assert(cost >= 0 && cost < s->never);
    return cost == 0 && log_q < 0.0
               ? 1
               : cost; /* a cost above 0 must not become 0, which stands for a certain state */
}

/* Chooses the scale. A sum must be able to hold `never` once for each parent and once for the leak.
 * The cost `never` must also be more than twice the sum of all finite costs of the factor. */
static scale scale_of(const gbsi_compile *c, const gbsi_noisy *noisy)
{
    const double *log_q = noisy->log_q + 1;
    double total = isfinite(noisy->log_q[0]) ? -noisy->log_q[0] : 0.0;
    int bits = 1;
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        double most = 0.0;
        for (uint32_t a = 0; a < c->model->arity[noisy->parent[i]]; ++a, ++log_q) {
            most = isfinite(*log_q) && -*log_q > most ? -*log_q : most;
        }
        total += most;
    }
    while (((uint64_t)1 << bits) <= noisy->n_parents) {
        ++bits;
    }
    scale s = {.per_log = 0x1p-20, .never = (int64_t)1 << (SUM_BITS - bits)};
    while (4.0 * s.per_log * total >=
           (double)s.never) { /* a file may contain logarithms of any size */
        s.per_log *= 0.5;
    }
    while (s.per_log < 0x1p52 && 4.0 * s.per_log * total < (double)s.never) {
        s.per_log *= 2.0;
    }
    return s;
}

static gbs_status add_sum(gbsi_compile *c, size_t f, size_t *cost_capacity, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const gbsi_noisy noisy = gbsi_noisy_of(c->factors, f);
    const scale s = scale_of(c, &noisy);
    const double *log_q = noisy.log_q + 1;
    plan->noisy[plan->n_noisy++] = (gbsi_noisy_sum){.counter = plan->n_counters,
                                                    .effect = noisy.effect,
                                                    .falling = noisy.falling,
                                                    .leak = cost_of(&s, noisy.log_q[0]),
                                                    .never = s.never,
                                                    .unit = 1.0 / s.per_log};
    plan->n_counters += 2;
    for (uint32_t i = 0; i < noisy.n_parents; ++i) {
        const uint32_t k = c->model->arity[noisy.parent[i]];
        void *cost = plan->cost;
        GBSI_PASS(
            gbsi_reserve(&cost, cost_capacity, plan->n_costs + k, sizeof *plan->cost, "plan", err));
        plan->cost = cost;
        if (plan->n_costs > UINT32_MAX - k) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "plan: noisy factors have more than %u states",
                             UINT32_MAX);
        }
        plan->cost_at[c->factors->scope_start[f] + i] = (uint32_t)plan->n_costs;
        for (uint32_t a = 0; a < k; ++a) {
            plan->cost[plan->n_costs++] = cost_of(&s, *log_q++);
        }
    }
    return GBS_OK;
}

/* Lists, for each slot, the noisy factors whose sums change with the state of the slot. */
static gbs_status link_sums(gbsi_compile *c, size_t n_links, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const gbsi_factors *factors = c->factors;
    size_t n = 0;
    plan->cost_start = gbsi_alloc_array_zero((size_t)plan->n_slots + 1, sizeof *plan->cost_start);
    plan->cost_link = gbsi_alloc_array(n_links, sizeof *plan->cost_link);
    GBSI_PASS(GBSI_HAVE(err, "plan", plan->cost_start, plan->cost_link));
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        const size_t v = plan->variable_of[s];
        const size_t end = gbsi_offset(&c->incident.start, v + 1);
        for (size_t i = gbsi_offset(&c->incident.start, v); i < end; ++i) {
            const size_t f = c->incident.factor[i];
            if (!gbsi_is_noisy(factors->kind[f])) {
                continue;
            }
            const uint32_t q = gbsi_incident_position(&c->incident, factors, i, (uint32_t)v);
            if (q < gbsi_noisy_of(factors, f).n_parents) {
                plan->cost_link[n++] = (gbsi_cost_link){
                    .noisy = plan->noisy_of[f], .base = plan->cost_at[factors->scope_start[f] + q]};
            }
        }
        plan->cost_start[s + 1] = n;
    }
    return GBS_OK;
}

gbs_status gbsi_compile_sums(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const gbsi_factors *factors = c->factors;
    size_t cost_capacity = 0;
    size_t n_noisy = 0;
    size_t n_links = 0;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        GBSI_PASS(gbsi_compile_spend(c, 2, err));
        n_noisy += gbsi_is_noisy(factors->kind[f]);
    }
    if (n_noisy == 0) {
        return GBS_OK;
    }
    if (n_noisy > (UINT32_MAX - plan->n_counters) / 2) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "plan: more noisy factors than can be numbered");
    }
    const size_t n_scope = factors->scope_start[factors->n_factors];
    plan->noisy = gbsi_alloc_array(n_noisy, sizeof *plan->noisy);
    plan->cost_at = gbsi_alloc_array(n_scope, sizeof *plan->cost_at);
    plan->noisy_of = gbsi_alloc_array(factors->n_factors, sizeof *plan->noisy_of);
    GBSI_PASS(GBSI_HAVE(err, "plan", plan->noisy, plan->cost_at, plan->noisy_of));
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (gbsi_is_noisy(factors->kind[f])) {
            plan->noisy_of[f] = plan->n_noisy;
            n_links += gbsi_scope_size(factors, f);
            GBSI_PASS(add_sum(c, f, &cost_capacity, err));
        }
    }
    return link_sums(c, n_links, err);
}
