/* SPDX-License-Identifier: Apache-2.0 */
/* Computes long factors given the states outside the splash. Also defines gbsi_splash_loops_of(),
 * which finds the loops of an instruction set. */
#include <math.h>
#include <string.h>

#include "splash/loops.h"
#include "splash/sums.h"

/* For each joint state of the variables inside the splash, computes their contribution to the sum
 * on which a long factor depends. The state of the last variable varies fastest.
 * @return the largest sum. */
static uint64_t sum_inside(const gbsi_splash_job *job, const gbsi_splash_many *many)
{
    const gbsi_plan *plan = job->potentials->plan;
    const gbsi_factors *factors = &plan->model->factors;
    const size_t f = many->factor;
    const size_t first = factors->scope_start[f];
    uint64_t *sum = job->work->sum;
    size_t n = 1;
    size_t largest = 0;
    sum[0] = 0;
    for (uint32_t m = 0; m < many->n_inside; ++m) {
        const uint32_t k = job->program->clique[many->inside[m]].arity;
        const size_t e = first + many->place[m];
        const size_t stride = gbsi_part_stride(plan, f, e);
        for (size_t i = n; i-- > 0;) {
            const uint64_t from = sum[i];
            for (uint32_t x = k; x-- > 0;) {
                sum[i * k + x] = from + gbsi_part_of(plan, f, e, stride, x);
            }
        }
        n *= k;
    }
    for (size_t i = 0; i < n; ++i) {
        largest = sum[i] > largest ? sum[i] : largest;
    }
    return largest;
}

/* Lists the places in the scope of the variables inside the splash, last place first. */
static void sort_places(const gbsi_splash_many *many, uint32_t *place)
{
    for (uint32_t m = 0; m < many->n_inside; ++m) {
        uint32_t at = m;
        for (; at > 0 && place[at - 1] < many->place[m]; --at) {
            place[at] = place[at - 1];
        }
        place[at] = many->place[m];
    }
}

/* Computes the contribution of the variables outside the splash to the sum of a long factor, in
 * some chains. @param sum [n_lanes] out: the contribution in each chain. */
static void sum_outside(const gbsi_splash_job *job, const gbsi_splash_many *many,
                        uint32_t first_lane, uint32_t n_lanes, uint64_t *sum)
{
    const gbsi_plan *plan = job->potentials->plan;
    const gbsi_factors *factors = &plan->model->factors;
    const size_t f = many->factor;
    const size_t first = factors->scope_start[f];
    uint32_t place[GBSI_SPLASH_WIDTH + 1];
    uint32_t m = 0;
    size_t stride = 1;
    sort_places(many, place);
    job->work->n_looked += factors->scope_start[f + 1] - first;
    memset(sum, 0, n_lanes * sizeof *sum);
    for (size_t e = factors->scope_start[f + 1]; e-- > first;) {
        const uint32_t slot = gbsi_scope_slot(plan, e);
        if (m < many->n_inside && e == first + place[m]) {
            ++m;
        } else {
            for (uint32_t lane = 0; lane < n_lanes; ++lane) {
                sum[lane] += gbsi_part_of(plan, f, e, stride,
                                          gbsi_view_at(job->view, slot, first_lane + lane));
            }
        }
        stride *= gbsi_plan_arity(plan, slot);
    }
}

/* Largest number of different contributions of the variables inside to the sum of a logical or spin
 * factor. Entries of such a factor repeat, so that the entry for each sum is computed only once and
 * stored by sum. If the variables outside decide the factor, all its entries are equal. */
#define MOST_SUMS (2 * (GBSI_SPLASH_WIDTH + 1) + 2)

/* Fills the entries of a factor in one chain. @param outside contribution of the variables outside
 * the splash to the sum, in this chain. @param largest largest contribution of the variables
 * inside, from sum_inside(). @return false if all entries are equal; `out` is then not filled. */
static bool fill_lane(const gbsi_splash_job *job, const gbsi_splash_many *many, uint64_t outside,
                      size_t largest, double *out)
{
    const gbsi_plan *plan = job->potentials->plan;
    const gbsi_factors *factors = &plan->model->factors;
    const bool noisy = gbsi_is_noisy(factors->kind[many->factor]);
    const uint64_t *inside = job->work->sum;
    double value[MOST_SUMS];
    const double *table = value;
    double top = -INFINITY;
    if (factors->kind[many->factor] == GBS_FACTOR_TABLE) {
        table = factors->table + factors->table_start[factors->aux[many->factor]] + outside;
    } else if (!noisy) {
        bool same = true; /* whether all entries so far are possible and equal */
        for (size_t i = 0; i <= largest; ++i) {
            value[i] = gbsi_value_of_sum(plan, many->factor, outside + i);
            same = same && value[i] == value[0] && value[i] > -INFINITY;
        }
        if (same) {
            return false;
        }
    }
    for (uint32_t i = 0; i < many->n_entries; ++i) {
        out[i] =
            noisy ? gbsi_value_of_sum(plan, many->factor, outside + inside[i]) : table[inside[i]];
        top = out[i] > top ? out[i] : top;
    }
    for (uint32_t i = 0; i < many->n_entries; ++i) {
        out[i] -= top > -INFINITY ? top : 0.0;
    }
    return true;
}

bool gbsi_splash_many_logs(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t lane,
                           double *out)
{
    uint64_t outside = 0;
    sum_outside(job, many, lane, 1, &outside);
    return fill_lane(job, many, outside, sum_inside(job, many), out);
}

void gbsi_splash_add_given(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t first,
                           uint32_t end, double *base, size_t stride)
{
    double *own = job->work->log_many;
    const uint64_t largest = sum_inside(job, many);
    uint64_t outside[GBSI_LANES];
    sum_outside(job, many, first, end - first, outside);
    for (uint32_t lane = first; lane < end; ++lane) {
        const bool differ = fill_lane(job, many, outside[lane - first], largest, own);
        for (uint32_t a = 0; differ && a < many->n_entries; ++a) {
            base[(size_t)lane * stride + a] += own[a];
        }
    }
}

void gbsi_splash_fill_many(const gbsi_splash_job *job)
{
    const gbsi_splash_program *program = job->program;
    gbsi_splash_work *work = job->work;
    for (uint32_t m = 0; m < program->n_many; ++m) {
        const gbsi_splash_many *many = &program->many[m];
        float *rows = work->many + (size_t)many->at * GBSI_LANES;
        const uint64_t largest = sum_inside(job, many);
        uint64_t outside[GBSI_LANES];
        sum_outside(job, many, 0, GBSI_LANES, outside);
        for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
            const bool differ = fill_lane(job, many, outside[lane], largest, work->log_many);
            for (uint32_t i = 0; i < many->n_entries; ++i) {
                rows[(size_t)i * GBSI_LANES + lane] = differ ? (float)work->log_many[i] : 0.0F;
            }
        }
    }
}

/* ---- instruction sets ------------------------------------------------------------------------ */

#define DECLARE(set, SET) extern const gbsi_splash_loops gbsi_splash_loops_##set;
#define ROW(set, SET)     [GBSI_SIMD_##SET] = &gbsi_splash_loops_##set,

GBSI_SIMD_SETS(DECLARE)

const gbsi_splash_loops *gbsi_splash_loops_of(gbsi_simd level)
{
    static const gbsi_splash_loops *const loops[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    return loops[level];
}
