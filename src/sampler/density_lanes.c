/* SPDX-License-Identifier: Apache-2.0 */
/* Factor by factor over all lanes: the states of a variable lie together, so that this costs little
 * more for sixteen chains than for one [M1]. Sums are exact, so that every instruction set, and
 * every way to share the factors among processes, gives the same bits. */
#include <string.h>

#include "base/exact_sum.h"
#include "sampler/density.h"
#include "simd/lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* Sums under way, one of each lane, in two parts. */
typedef struct sums {
    gbsi_sum_units units;
    double *high, *low; /* [lanes] */
} sums;

INLINE void add(const sums *s, uint32_t lane, double value)
{
    gbsi_sum_term(&s->units, value, &s->high[lane], &s->low[lane]);
}

/* States of one variable, widened: eight of these loops are as many vector instructions. */
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
                      size_t f, const sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const double *table = factors->table + factors->table_start[factors->aux[f]];
    size_t index[GBSI_LANES] = {0};
    uint32_t x[GBSI_LANES];
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        const size_t k = plan->model->arity[factors->scope[e]];
        load(plan, group, factors->scope[e], lanes, x);
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            index[lane] = index[lane] * k + x[lane];
        }
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        add(out, lane, table[index[lane]]);
    }
}

/* Literals that hold among scope entries [from, to). */
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
                        size_t f, const sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    const bool free_head = logical->head == GBSI_HEAD_FREE;
    const size_t end = factors->scope_start[f + 1];
    uint32_t body[GBSI_LANES];
    uint32_t head[GBSI_LANES];
    count_true(plan, group, lanes, factors->scope_start[f], free_head ? end - 1 : end, body);
    count_true(plan, group, lanes, free_head ? end - 1 : end, end, head);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const bool holds = free_head ? head[lane] != 0 : logical->head == GBSI_HEAD_TRUE;
        add(out, lane,
            gbsi_logical_value(logical, factors->weight[f], logical->n_body_true + body[lane],
                               holds));
    }
}

/* FIELD, ISING and SPIN: minus the weight where an odd number of spins is down. */
INLINE void add_spin(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes, size_t f,
                     const sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    uint32_t down[GBSI_LANES] = {0};
    uint32_t x[GBSI_LANES];
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        load(plan, group, factors->scope[e], lanes, x);
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            down[lane] ^= x[lane] ^ 1u;
        }
    }
    const double weight = factors->weight[f];
    for (uint32_t lane = 0; lane < lanes; ++lane) { /* times +-1 is exact, and vectorises */
        add(out, lane, (double)(1 - 2 * (int32_t)down[lane]) * weight);
    }
}

INLINE void add_potts(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                      size_t f, const sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    uint32_t x[GBSI_LANES];
    uint32_t y[GBSI_LANES];
    load(plan, group, scope[0], lanes, x);
    load(plan, group, scope[1], lanes, y);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        add(out, lane, x[lane] == y[lane] ? factors->weight[f] : 0.0);
    }
}

INLINE void add_noisy(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                      size_t f, const sums *out)
{
    const gbsi_noisy noisy = gbsi_noisy_of(&plan->model->factors, f);
    const double *log_q = noisy.log_q + 1;
    double log_none[GBSI_LANES];
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
        add(out, lane,
            gbsi_noisy_value(log_none[lane],
                             gbsi_noisy_part_of(noisy.effect, noisy.falling, state)));
    }
}

/* A factor that several processes hold is counted by the one that owns its first variable. */
INLINE bool is_counted(const gbsi_factors *factors, size_t f, const uint8_t *own)
{
    return own == NULL || own[factors->scope[factors->scope_start[f]]] != 0;
}

/* Inlined with a constant number of lanes, for the loops above. */
INLINE void sum_factors(const gbsi_plan *plan, const gbsi_group *group, const uint32_t lanes,
                        const uint8_t *own, const sums *out)
{
    const gbsi_factors *factors = &plan->model->factors;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (!is_counted(factors, f, own)) {
            continue;
        }
        switch (factors->kind[f]) {
        case GBS_FACTOR_TABLE:
            add_table(plan, group, lanes, f, out);
            break;
        case GBS_FACTOR_FIELD:
        case GBS_FACTOR_ISING:
        case GBS_FACTOR_SPIN:
            add_spin(plan, group, lanes, f, out);
            break;
        case GBS_FACTOR_POTTS:
            add_potts(plan, group, lanes, f, out);
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
                                     const uint8_t *own, double *high, double *low);
void GBSI_V(gbsi_group_density_sums)(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                                     const uint8_t *own, double *high, double *low)
{
    const sums out = {.units = plan->density_units, .high = high, .low = low};
    if (lanes == GBSI_LANES) {
        sum_factors(plan, group, GBSI_LANES, own, &out);
    } else {
        sum_factors(plan, group, 1, own, &out);
    }
}
