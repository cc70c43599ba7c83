/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/key_codes.h"

#include <math.h>

#include "base/memory.h"

/* Two couplings count as equal if their relative difference is below SAME_COUPLING, and as surely
 * different if this difference is above OTHER_COUPLING. */
#define SAME_COUPLING  1e-10
#define OTHER_COUPLING 1e-6

void gbsi_key_maker_free(gbsi_key_maker *m)
{
    gbsi_surroundings_free(&m->own);
    GBSI_FREE(m->state, m->logw, m->coupling, m->by_sum);
    /* gbsi_key_maker_new() frees the object on failure, and its caller may free it again */
    *m = (gbsi_key_maker){0};
}

gbs_status gbsi_key_maker_new(const gbsi_draw_job *job, int scheme, const gbsi_surroundings *around,
                              gbsi_key_maker *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_plan *plan = job->plan;
    *m = (gbsi_key_maker){.job = job, .plan = plan, .scheme = scheme};
    const bool neighbours = scheme != GBS_KEYS_COMPLETE;
    if (around == NULL) {
        GBSI_TRY(gbsi_surroundings_new(plan, neighbours, &m->own, err));
        around = &m->own;
    }
    m->conditionals = &around->conditionals;
    m->context = neighbours ? &around->context : NULL;
    m->whole_codes = 1;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const uint64_t k = gbsi_plan_arity(plan, slot);
        m->whole_codes =
            m->whole_codes >= GBSI_MANY_CODES / k ? GBSI_MANY_CODES : m->whole_codes * k;
    }
    m->state = gbsi_alloc_array_zero(plan->n_slots, plan->value_bytes);
    m->logw = gbsi_alloc_array(plan->max_arity, sizeof *m->logw);
    m->by_sum = gbsi_alloc_array_zero(plan->n_slots, sizeof *m->by_sum);
    m->coupling = gbsi_alloc_array_zero(plan->n_slots, sizeof *m->coupling);
    if (m->state == NULL || m->logw == NULL || m->by_sum == NULL || m->coupling == NULL) {
        status = gbsi_no_memory(err, "herding", (size_t)plan->n_slots * plan->value_bytes);
    }
cleanup:
    if (status < 0) {
        gbsi_key_maker_free(m);
    }
    return status;
}

size_t gbsi_key_links(const gbsi_key_maker *m, uint32_t slot)
{
    return m->context == NULL ? 0 : m->context->start[slot + 1] - m->context->start[slot];
}

void gbsi_key_maker_put(const gbsi_key_maker *m, uint32_t slot, uint32_t state)
{
    if (m->plan->value_bytes == 1) {
        ((uint8_t *)m->state)[slot] = (uint8_t)state;
    } else {
        ((uint16_t *)m->state)[slot] = (uint16_t)state;
    }
}

gbsi_view gbsi_key_maker_view(const gbsi_key_maker *m)
{
    return (gbsi_view){m->state, m->plan->value_bytes, 1, 0};
}

static double log_odds(gbsi_key_maker *m, uint32_t slot)
{
    const gbsi_view view = gbsi_key_maker_view(m);
    const uint32_t v = m->plan->variable_of[slot];
    m->n_looks += m->conditionals->start[v + 1] - m->conditionals->start[v];
    gbsi_conditional_logw(m->conditionals, slot, &view, m->logw);
    return m->logw[1] - m->logw[0];
}

static bool only_pairs(const gbsi_key_maker *m, uint32_t slot)
{
    const gbsi_factors *factors = &m->plan->model->factors;
    const uint32_t v = m->plan->variable_of[slot];
    for (size_t i = m->conditionals->start[v]; i < m->conditionals->start[v + 1]; ++i) {
        const size_t f = m->conditionals->factor[i];
        if (factors->scope_start[f + 1] - factors->scope_start[f] > 2) {
            return false;
        }
    }
    return true;
}

static double coupling_of(const gbsi_key_maker *m, size_t f)
{
    const gbsi_factors *factors = &m->plan->model->factors;
    const uint32_t *arity = m->plan->model->arity;
    const uint32_t at[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    return gbsi_factor_value_at(factors, arity, f, at[0]) -
           gbsi_factor_value_at(factors, arity, f, at[1]) -
           gbsi_factor_value_at(factors, arity, f, at[2]) +
           gbsi_factor_value_at(factors, arity, f, at[3]);
}

/* Whether two couplings of the slot surely differ. This quick test decides for most models with
 * many different couplings. The function returns false if a pair of variables has several factors.
 */
static bool couplings_differ(const gbsi_key_maker *m, uint32_t slot)
{
    const gbsi_factors *factors = &m->plan->model->factors;
    const uint32_t v = m->plan->variable_of[slot];
    const size_t first = m->conditionals->start[v];
    const size_t n = m->conditionals->start[v + 1] - first;
    const size_t n_links = gbsi_key_links(m, slot);
    if (n < n_links || n_links < 2) {
        return false;
    }
    size_t n_pairs = 0;
    bool differ = false;
    double w = 0.0;
    for (size_t i = first; i < first + n; ++i) {
        const size_t f = m->conditionals->factor[i];
        if (factors->scope_start[f + 1] - factors->scope_start[f] == 2) {
            const double coupling = differ ? w : fabs(coupling_of(m, f));
            w = n_pairs == 0 ? coupling : w;
            differ |= fabs(coupling - w) > OTHER_COUPLING * (coupling + w);
            ++n_pairs;
        }
    }
    return differ && n_pairs == n_links;
}

/* Writes the coupling between a slot and each of its neighbours to m->coupling. If a pair has
 * several factors, their couplings are added in the order of the factors. */
static void add_couplings(gbsi_key_maker *m, uint32_t slot)
{
    const gbsi_factors *factors = &m->plan->model->factors;
    const uint32_t v = m->plan->variable_of[slot];
    for (size_t i = m->conditionals->start[v]; i < m->conditionals->start[v + 1]; ++i) {
        const size_t f = m->conditionals->factor[i];
        const uint32_t *scope = factors->scope + factors->scope_start[f];
        if (factors->scope_start[f + 1] - factors->scope_start[f] == 2) {
            m->coupling[m->plan->slot_of[scope[0] == v ? scope[1] : scope[0]]] += coupling_of(m, f);
        }
        ++m->n_looks;
    }
}

/* Whether all couplings of a binary variable to binary neighbours are w or -w: The log-odds are
 * then field + w sum of x_j, with 1 - x_j in place of x_j and another field where the coupling is
 * -w. */
static bool sum_decides(gbsi_key_maker *m, uint32_t slot, uint8_t *sign)
{
    const size_t n = gbsi_key_links(m, slot);
    const uint32_t *neighbour = m->context->neighbour + m->context->start[slot];
    if (gbsi_plan_arity(m->plan, slot) != 2 || (gbsi_plan_form(m->plan, slot) & GBSI_ODDS) == 0 ||
        !only_pairs(m, slot)) {
        return false;
    }
    for (size_t i = 0; i < n; ++i) {
        if (gbsi_plan_arity(m->plan, neighbour[i]) != 2) {
            return false;
        }
    }
    if (couplings_differ(m, slot)) {
        return false;
    }
    const double field = log_odds(m, slot);
    /* scale of the rounding errors of sums of couplings */
    const double scale = fabs(field) > 1.0 ? fabs(field) : 1.0;
    bool same = true;
    double w = 0.0;
    add_couplings(m, slot);
    for (size_t i = 0; i < n; ++i) {
        const double coupling = m->coupling[neighbour[i]];
        m->coupling[neighbour[i]] = 0.0;
        w = i == 0 ? coupling : w;
        same &= fabs(fabs(coupling) - fabs(w)) <= SAME_COUPLING * (fabs(w) + scale * 0x1p-18);
        if (sign != NULL) {
            sign[i] = (coupling < 0.0) != (w < 0.0);
        }
    }
    return same;
}

uint64_t gbsi_key_codes(gbsi_key_maker *m, uint32_t slot, bool *sum, uint8_t *sign)
{
    *sum = false;
    if (m->scheme == GBS_KEYS_COMPLETE) {
        return GBSI_MANY_CODES;
    }
    if (m->scheme != GBS_KEYS_NEIGHBOURS) {
        /* the answer is kept, because the caller tries several bounds on the number of codes */
        const bool known =
            m->by_sum[slot] == GBSI_SUM_NO || (m->by_sum[slot] == GBSI_SUM_YES && sign == NULL);
        *sum = known ? m->by_sum[slot] == GBSI_SUM_YES : sum_decides(m, slot, sign);
        m->by_sum[slot] = *sum ? GBSI_SUM_YES : GBSI_SUM_NO;
    }
    return *sum ? gbsi_key_links(m, slot) + 1 : m->context->n_codes[slot];
}
