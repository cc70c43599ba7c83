/* SPDX-License-Identifier: Apache-2.0 */
/* Long factors given the variables outside; and which loops there are. */
#include <math.h>

#include "splash/loops.h"

/* A long factor sees its variables through a sum: of offsets (TABLE), of twice the body literals
 * that hold and once the head (LOGICAL), of states 0 (SPIN). What those inside add to it is the
 * same for all chains, what those outside add is one number for each. */
static size_t part_of(const gbsi_factors *factors, size_t f, size_t e, size_t stride, uint32_t x)
{
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_TABLE:
        return x * stride;
    case GBS_FACTOR_LOGICAL:
        return x != factors->literal[e] ? 0
               : factors->logical[factors->aux[f]].head == GBSI_HEAD_FREE &&
                       e + 1 == factors->scope_start[f + 1]
                   ? 1
                   : 2;
    default:
        return x == 0;
    }
}

static double value_of(const gbsi_factors *factors, size_t f, size_t sum)
{
    const gbsi_logical *logical = NULL;
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_LOGICAL:
        logical = &factors->logical[factors->aux[f]];
        return gbsi_logical_value(logical, factors->weight[f],
                                  logical->n_body_true + (uint32_t)(sum / 2),
                                  logical->head == GBSI_HEAD_TRUE || sum % 2 != 0);
    default:
        return sum % 2 == 0 ? factors->weight[f] : -factors->weight[f];
    }
}

static uint32_t find(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t slot)
{
    uint32_t m = 0;
    while (m < many->n_inside && job->program->clique[many->inside[m]].slot != slot) {
        ++m;
    }
    return m;
}

/* Sums of those inside, for each of their states, the last of them fastest. @return the largest. */
static size_t sum_inside(const gbsi_splash_job *job, const gbsi_splash_many *many)
{
    const gbsi_plan *plan = job->potentials->plan;
    const gbsi_factors *factors = &plan->model->factors;
    const size_t f = many->factor;
    size_t entry[GBSI_SPLASH_WIDTH + 1] = {0};
    size_t stride[GBSI_SPLASH_WIDTH + 1] = {0};
    size_t *sum = job->work->sum;
    size_t all = 1;
    size_t n = 1;
    size_t largest = 0;
    for (size_t e = factors->scope_start[f + 1]; e-- > factors->scope_start[f];) {
        const uint32_t slot = gbsi_scope_slot(plan, e);
        const uint32_t m = find(job, many, slot);
        if (m < many->n_inside) {
            entry[m] = e;
            stride[m] = all;
        }
        all *= gbsi_plan_arity(plan, slot);
    }
    sum[0] = 0;
    for (uint32_t m = 0; m < many->n_inside; ++m) {
        const uint32_t k = job->program->clique[many->inside[m]].arity;
        for (size_t i = n; i-- > 0;) {
            const size_t from = sum[i];
            for (uint32_t x = k; x-- > 0;) {
                sum[i * k + x] = from + part_of(factors, f, entry[m], stride[m], x);
            }
        }
        n *= k;
    }
    for (size_t i = 0; i < n; ++i) {
        largest = sum[i] > largest ? sum[i] : largest;
    }
    return largest;
}

static size_t sum_outside(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t lane)
{
    const gbsi_plan *plan = job->potentials->plan;
    const gbsi_factors *factors = &plan->model->factors;
    const size_t f = many->factor;
    size_t stride = 1;
    size_t sum = 0;
    for (size_t e = factors->scope_start[f + 1]; e-- > factors->scope_start[f];) {
        const uint32_t slot = gbsi_scope_slot(plan, e);
        if (find(job, many, slot) == many->n_inside) {
            sum += part_of(factors, f, e, stride, gbsi_view_at(job->view, slot, lane));
        }
        stride *= gbsi_plan_arity(plan, slot);
    }
    return sum;
}

/* Entries of logical and spin factors repeat: each value once, at its sum inside. */
#define MOST_SUMS (2 * (GBSI_SPLASH_WIDTH + 1) + 2)

/* @param largest of the sums inside, as sum_inside() has left them. */
static void fill_lane(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t lane,
                      size_t largest, double *out)
{
    const gbsi_factors *factors = &job->potentials->plan->model->factors;
    const size_t *inside = job->work->sum;
    const size_t outside = sum_outside(job, many, lane);
    double value[MOST_SUMS];
    const double *table = value;
    double top = -INFINITY;
    if (factors->kind[many->factor] == GBS_FACTOR_TABLE) {
        table = factors->table + factors->table_start[factors->aux[many->factor]] + outside;
    } else {
        for (size_t i = 0; i <= largest; ++i) {
            value[i] = value_of(factors, many->factor, outside + i);
        }
    }
    for (uint32_t i = 0; i < many->n_entries; ++i) {
        out[i] = table[inside[i]];
        top = out[i] > top ? out[i] : top;
    }
    for (uint32_t i = 0; i < many->n_entries; ++i) {
        out[i] -= top > -INFINITY ? top : 0.0;
    }
}

void gbsi_splash_many_logs(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t lane,
                           double *out)
{
    fill_lane(job, many, lane, sum_inside(job, many), out);
}

void gbsi_splash_fill_many(const gbsi_splash_job *job)
{
    const gbsi_splash_program *program = job->program;
    gbsi_splash_work *work = job->work;
    for (uint32_t m = 0; m < program->n_many; ++m) {
        const gbsi_splash_many *many = &program->many[m];
        float *rows = work->many + (size_t)many->at * GBSI_LANES;
        const size_t largest = sum_inside(job, many);
        for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
            fill_lane(job, many, lane, largest, work->log_many);
            for (uint32_t i = 0; i < many->n_entries; ++i) {
                rows[(size_t)i * GBSI_LANES + lane] = (float)work->log_many[i];
            }
        }
    }
}

/* ---- instruction sets ------------------------------------------------------------------------ */

extern const gbsi_splash_loops gbsi_splash_loops_portable;
#ifdef GBSI_HAVE_X86_SETS
extern const gbsi_splash_loops gbsi_splash_loops_avx2;
extern const gbsi_splash_loops gbsi_splash_loops_avx512;
#endif
#ifdef GBSI_HAVE_NEON_SET
extern const gbsi_splash_loops gbsi_splash_loops_neon;
#endif

const gbsi_splash_loops *gbsi_splash_loops_of(gbsi_simd level)
{
    switch (level) {
#ifdef GBSI_HAVE_X86_SETS
    case GBSI_SIMD_AVX2:
        return &gbsi_splash_loops_avx2;
    case GBSI_SIMD_AVX512:
        return &gbsi_splash_loops_avx512;
#endif
#ifdef GBSI_HAVE_NEON_SET
    case GBSI_SIMD_NEON:
        return &gbsi_splash_loops_neon;
#endif
    default:
        return &gbsi_splash_loops_portable;
    }
}
