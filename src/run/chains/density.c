/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/density.h"

#include "simd/dispatch.h"

/* Number of factors that are added between two calls of the watch. */
#define AT_ONCE ((size_t)1 << 14)

typedef void density_sums(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                          const gbsi_summed *summed, double *high, double *low);

/* Defined by density_lanes.c, once per instruction set. */
#define DECLARE(set, SET) density_sums gbsi_group_density_sums_##set;
#define ROW(set, SET)     [GBSI_SIMD_##SET] = gbsi_group_density_sums_##set,

GBSI_SIMD_SETS(DECLARE)

/* Sums the log-values of those factors that `own` selects. Each sum is kept in two parts, and does
 * not depend on the order of adding (base/exact_sum.h). @param high, low [lanes] */
static void add_sums(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                     const gbsi_summed *summed, double *high, double *low)
{
    static density_sums *const of_set[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    of_set[gbsi_simd_level()](plan, group, lanes, summed, high, low);
}

/* Writes the log densities of a group of chains whose plan has all factors of the model.
 * @param watch may be NULL; `out` is undefined if the watch stops the work. @param out [lanes]. */
static void plan_density(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                         gbsi_watch *watch, double *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const size_t n = factors->n_factors;
    double high[GBSI_LANES] = {0.0};
    double low[GBSI_LANES] = {0.0};
    for (size_t first = 0; first < n && !gbsi_watch_stopped(watch); first += AT_ONCE) {
        const size_t end = n - first < AT_ONCE ? n : first + AT_ONCE;
        const size_t n_entries = factors->scope_start[end] - factors->scope_start[first];
        const gbsi_summed part = {.first = first, .end = end};
        add_sums(plan, group, lanes, &part, high, low);
        (void)gbsi_watch_spend(watch, 4 * n_entries);
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        out[lane] = plan->model->log_constant + (high[lane] + low[lane]);
    }
}

/* Writes the log densities of a model that ranks share. Every rank adds the factors that it
 * owns. */
static void shared_density(const gbsi_executor *x, uint32_t group, double *out)
{
    double sum[2 * GBSI_LANES] = {0.0};
    const gbsi_summed own = {.end = x->plan->model->factors.n_factors, .own = x->own};
    add_sums(x->plan, &x->group[group], x->lanes, &own, sum, sum + x->lanes);
    if (x->lost->status >= 0) {
        x->lost->status = x->sum_ranks->combine(x->sum_ranks->context, GBS_COMBINE_SUM_F64, sum,
                                                2 * (size_t)x->lanes, x->lost);
    }
    for (uint32_t lane = 0; lane < x->lanes; ++lane) {
        out[lane] = x->plan->model->log_constant + (sum[lane] + sum[x->lanes + lane]);
    }
}

void gbsi_executor_group_density(const gbsi_executor *x, uint32_t group, gbsi_watch *watch,
                                 double *out)
{
    const uint32_t first = group * x->lanes;
    if (x->own != NULL) {
        shared_density(x, group, out);
        return;
    }
    if (x->pass->log_density == NULL) {
        plan_density(x->plan, &x->group[group], x->lanes, watch, out);
        return;
    }
    for (uint32_t lane = 0; lane < x->lanes && first + lane < x->n_chains; ++lane) {
        out[lane] = x->pass->log_density(x->pass_state, first + lane);
    }
}

/* Below this number of entries of scopes, over all chains, the sums end before a second thread has
 * woken up. */
#define LEAST_SHARED 16384u

typedef struct summing {
    const gbsi_executor *executor;
    double *out;
    uint32_t n_members;
} summing;

static void sum_groups(void *context, uint32_t member)
{
    const summing *s = context;
    const gbsi_executor *x = s->executor;
    const uint32_t end = x->first_moved + x->n_moved;
    for (uint32_t g = x->first_moved + member; g < end; g += s->n_members) {
        gbsi_executor_group_density(x, g, NULL, s->out + (size_t)g * x->lanes);
    }
}

void gbsi_executor_log_density(const gbsi_executor *executor, double *out)
{
    const gbsi_factors *f = executor->plan == NULL ? NULL : &executor->plan->model->factors;
    const bool small =
        f != NULL &&
        (uint64_t)f->scope_start[f->n_factors] * executor->lanes * executor->n_moved < LEAST_SHARED;
    gbsi_pool *pool = small ? NULL : executor->pool;
    summing s = {.executor = executor, .out = out, .n_members = gbsi_pool_size(pool)};
    gbsi_pool_run(pool, sum_groups, &s);
}
