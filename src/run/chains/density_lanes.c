/* SPDX-License-Identifier: Apache-2.0 */
/* Log densities are summed factor by factor over all lanes. The states of a variable in all lanes
 * lie side by side, and sixteen chains therefore cost little more than one [M1]. The sums are
 * exact: all instruction sets give the same bits, and so do all ways to divide the factors among
 * processes. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/exact_sum.h"
#include "chains/density.h"
#include "simd/lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* The running sums, one in each lane, in two parts. If only one lane is used, this lane is the
 * first. */
typedef struct sums {
    gbsi_sum_units units;
    double high[GBSI_LANES], low[GBSI_LANES];
    double size; /* weight of the present run, a sequence of factors that are counted together; the
                    absolute value of the weight if spins */
    bool spins;  /* whether the log-value of a factor of the run is +size or -size, rather than size
                    or 0 */
    /* Number of factors of the run that were counted so far, at most MOST_COUNTED. */
    uint32_t n;
    /* Number of factors of the run whose log-value is +size, in each lane. */
    uint8_t up[GBSI_LANES];
} sums;

/* Does the work of gbsi_sum_term() in every lane. */
INLINE void add(sums *s, const uint32_t lanes, const double *value)
{
    if (lanes == 1) {
        gbsi_sum_term(&s->units, value[0], s->high, s->low);
        return;
    }
    const vd high = vd_set1(s->units.high);
    const vd low = vd_set1(s->units.low);
    const vd term = vd_load(value);
    const vd large = vd_sub(vd_add(term, high), high);
    const vm is_finite = vd_lt(vd_set1(-INFINITY), term);
    const vd rest = vd_select(is_finite, vd_sub(term, large), vd_zero());
    vd_store(s->high, vd_add(vd_load(s->high), large));
    vd_store(s->low, vd_add(vd_load(s->low), vd_sub(vd_add(rest, low), low)));
}

/* Loads the states of one variable and widens them. Compilers turn each of these loops into a few
 * vector instructions. */
INLINE void load(const gbsi_plan *plan, const gbsi_group *group, uint32_t v, const uint32_t lanes,
                 uint32_t *x)
{
    const size_t at = (size_t)plan->slot_of[v] * lanes;
    if (plan->value_bytes == 1) {
        const uint8_t *state = (const uint8_t *)group->state + at;
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            x[lane] = state[lane];
        }
    } else {
        const uint16_t *state = (const uint16_t *)group->state + at;
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            x[lane] = state[lane];
        }
    }
}

INLINE void add_table(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                      size_t f, sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const double *table = factors->table + factors->table_start[factors->aux[f]];
    size_t index[GBSI_LANES] = {0};
    uint32_t x[GBSI_LANES];
    double value[GBSI_LANES];
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        const size_t k = plan->model->arity[factors->scope[e]];
        load(plan, group, factors->scope[e], lanes, x);
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            index[lane] = index[lane] * k + x[lane];
        }
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        value[lane] = table[index[lane]];
    }
    add(out, lanes, value);
}

/* Counts the literals that hold among scope entries [from, to). */
INLINE void count_true(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                       size_t from, size_t to, uint32_t *count)
{
    const gbsi_factors *factors = &plan->model->factors;
    uint32_t x[GBSI_LANES];
    memset(count, 0, GBSI_LANES * sizeof *count);
    for (size_t e = from; e < to; ++e) {
        const uint32_t literal = factors->literal[e];
        load(plan, group, factors->scope[e], lanes, x);
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            count[lane] += x[lane] == literal;
        }
    }
}

INLINE void add_logical(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                        size_t f, sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    const bool free_head = logical->head == GBSI_HEAD_FREE;
    const size_t end = factors->scope_start[f + 1];
    uint32_t body[GBSI_LANES];
    uint32_t head[GBSI_LANES];
    double value[GBSI_LANES];
    count_true(plan, group, lanes, factors->scope_start[f], free_head ? end - 1 : end, body);
    count_true(plan, group, lanes, free_head ? end - 1 : end, end, head);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const bool holds = free_head ? head[lane] != 0 : logical->head == GBSI_HEAD_TRUE;
        value[lane] = gbsi_logical_value(logical, factors->weight[f],
                                         logical->n_body_true + body[lane], holds);
    }
    add(out, lanes, value);
}

/* Adds a factor of kind FIELD, ISING or SPIN in one chain. The log-value is the negative weight if
 * an odd number of the spins is down, else the weight. */
INLINE void add_spin(const gbsi_plan *plan, const gbsi_group *group, size_t f, sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    uint32_t down = 0;
    uint32_t x = 0;
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        load(plan, group, factors->scope[e], 1, &x);
        down ^= x ^ 1u;
    }
    const double value = down != 0 ? -factors->weight[f] : factors->weight[f];
    add(out, 1, &value);
}

INLINE vb load_bytes(const gbsi_plan *plan, const gbsi_group *group, uint32_t v)
{
    const size_t at = (size_t)plan->slot_of[v] * GBSI_LANES;
    return plan->value_bytes == 1 ? vb_load((const uint8_t *)group->state + at)
                                  : vb_narrow(vu_load_u16((const uint16_t *)group->state + at));
}

enum { MOST_COUNTED = 255 };

/* Adds the run of factors that is being counted to the sums. Adding changes neither part by
 * rounding. */
INLINE void end_run(sums *out)
{
    double high = 0.0;
    double low = 0.0;
    gbsi_sum_term(&out->units, out->size, &high, &low);
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        const int32_t up = out->up[lane];
        const double times = (double)(out->spins ? 2 * up - (int32_t)out->n : up);
        out->high[lane] +=
            times == 0.0 ? 0.0 : times * high; /* `high`, the first part of a sum, may be -inf */
        out->low[lane] += times * low;
    }
    out->n = 0;
    memset(out->up, 0, sizeof out->up);
}

/* @param up 1 in the lanes where the log-value of the factor is +size, else 0. */
INLINE void count(sums *out, double size, bool spins, vb up)
{
    if (size != out->size || spins != out->spins || out->n == MOST_COUNTED) {
        end_run(out);
        out->size = size;
        out->spins = spins;
    }
    ++out->n;
    vb_store(out->up, vb_add(vb_load(out->up), up));
}

/* Adds a spin factor in sixteen chains. Neighbouring factors whose weights have the same size,
 * which are common on grids, are counted instead of added. */
INLINE void count_spin(const gbsi_plan *plan, const gbsi_group *group, size_t f, sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    vb up = vb_set1(factors->weight[f] >
                    0.0); /* whether the product of the weight and the spins is positive */
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        up = vb_sub(vb_set1(0), vb_eq(up, load_bytes(plan, group, factors->scope[e])));
    }
    count(out, fabs(factors->weight[f]), true, up);
}

INLINE void count_potts(const gbsi_plan *plan, const gbsi_group *group, size_t f, sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const vb x = load_bytes(plan, group, scope[0]);
    const vb y = load_bytes(plan, group, scope[1]);
    count(out, factors->weight[f], false, vb_sub(vb_set1(0), vb_eq(x, y)));
}

INLINE void add_potts(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                      size_t f, sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    uint32_t x[GBSI_LANES];
    uint32_t y[GBSI_LANES];
    double value[GBSI_LANES];
    load(plan, group, scope[0], lanes, x);
    load(plan, group, scope[1], lanes, y);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        value[lane] = x[lane] == y[lane] ? factors->weight[f] : 0.0;
    }
    add(out, lanes, value);
}

INLINE void add_noisy(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                      size_t f, sums *out)
{
    const gbsi_noisy noisy = gbsi_noisy_of(&plan->model->factors, f);
    const double *log_q = noisy.log_q + 1;
    double log_none[GBSI_LANES];
    double value[GBSI_LANES];
    uint32_t x[GBSI_LANES] = {0};
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        log_none[lane] = noisy.log_q[0];
    }
    for (uint32_t i = 0; i < noisy.n_parents; ++i) {
        load(plan, group, noisy.parent[i], lanes, x);
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            log_none[lane] += log_q[x[lane]];
        }
        log_q += plan->model->arity[noisy.parent[i]];
    }
    if (noisy.child != GBSI_NONE) {
        load(plan, group, noisy.child, lanes, x);
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const uint32_t state = noisy.child == GBSI_NONE ? noisy.effect : x[lane];
        value[lane] = gbsi_noisy_value(log_none[lane],
                                       gbsi_noisy_part_of(noisy.effect, noisy.falling, state));
    }
    add(out, lanes, value);
}

/* Whether this process counts a factor. If several processes hold the factor, the process that owns
 * its first variable counts it. */
INLINE bool is_counted(const gbsi_factors *factors, size_t f, const uint8_t *own)
{
    return own == NULL || own[factors->scope[factors->scope_start[f]]] != 0;
}

/* Always inlined with a constant number of lanes: compilers can then vectorise the loops above. */
INLINE void sum_factors(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                        const gbsi_summed *summed, sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    for (size_t f = summed->first; f < summed->end; ++f) {
        if (!is_counted(factors, f, summed->own)) {
            continue;
        }
        switch (factors->kind[f]) {
        case GBS_FACTOR_TABLE:
            add_table(plan, group, lanes, f, out);
            break;
        case GBS_FACTOR_FIELD:
        case GBS_FACTOR_ISING:
        case GBS_FACTOR_SPIN:
            if (lanes == 1) {
                add_spin(plan, group, f, out);
            } else {
                count_spin(plan, group, f, out);
            }
            break;
        case GBS_FACTOR_POTTS:
            if (lanes == 1 || plan->value_bytes != 1) {
                add_potts(plan, group, lanes, f, out);
            } else {
                count_potts(plan, group, f, out);
            }
            break;
        case GBS_FACTOR_LOGICAL:
            add_logical(plan, group, lanes, f, out);
            break;
        default:
            add_noisy(plan, group, lanes, f, out);
            break;
        }
    }
}

void GBSI_V(gbsi_group_density_sums)(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                                     const gbsi_summed *summed, double *high, double *low);
void GBSI_V(gbsi_group_density_sums)(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                                     const gbsi_summed *summed, double *high, double *low)
{
    sums out = {.units = plan->density_units};
    if (lanes == GBSI_LANES) {
        sum_factors(plan, group, GBSI_LANES, summed, &out);
        end_run(&out);
    } else {
        sum_factors(plan, group, 1, summed, &out);
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        high[lane] += out.high[lane];
        low[lane] += out.low[lane];
    }
}
