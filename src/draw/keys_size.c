/* SPDX-License-Identifier: Apache-2.0 */
/* Which slots have dense tables, and what they take. */
#include <math.h>

#include "base/memory.h"
#include "draw/keys_internal.h"
#include "draw/table.h"

/* More codes than these are never tabulated, whatever memory there is: most would never be met. */
#define MOST_CODES (UINT64_C(1) << 12)
/* Nor more conditionals in all than take seconds. */
#define MOST_WORK (UINT64_C(1) << 30)

#define SAME_COUPLING 1e-10 /* relative */

void gbsi_key_maker_free(gbsi_key_maker *m)
{
    gbsi_context_free(&m->context);
    gbsi_conditionals_free(&m->conditionals);
    gbsi_free(m->state);
    gbsi_free(m->logw);
    gbsi_free(m->by_sum);
    *m = (gbsi_key_maker){0}; /* a failing gbsi_key_maker_new() frees, and so may its caller */
}

gbs_status gbsi_key_maker_new(const gbsi_draw_job *job, int scheme, gbsi_key_maker *m,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_plan *plan = job->plan;
    *m = (gbsi_key_maker){.job = job, .plan = plan, .scheme = scheme};
    GBSI_TRY(gbsi_conditionals_new(plan, &m->conditionals, err));
    if (scheme != GBS_KEYS_COMPLETE) {
        GBSI_TRY(gbsi_context_new(plan, &m->context, err));
    }
    m->whole_codes = 1;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const uint64_t k = gbsi_plan_arity(plan, slot);
        m->whole_codes =
            m->whole_codes >= GBSI_MANY_CODES / k ? GBSI_MANY_CODES : m->whole_codes * k;
    }
    m->state = gbsi_alloc_array_zero(plan->n_slots, plan->value_bytes);
    m->logw = gbsi_alloc_array(plan->max_arity, sizeof *m->logw);
    m->by_sum = gbsi_alloc_array_zero(plan->n_slots, sizeof *m->by_sum);
    if (m->state == NULL || m->logw == NULL || m->by_sum == NULL) {
        status = gbsi_no_memory(err, "herding", (size_t)plan->n_slots * plan->value_bytes);
    }
cleanup:
    if (status < 0) {
        gbsi_key_maker_free(m);
    }
    return status;
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

static double log_odds(const gbsi_key_maker *m, uint32_t slot)
{
    const gbsi_view view = gbsi_key_maker_view(m);
    gbsi_conditional_logw(&m->conditionals, slot, &view, m->logw);
    return m->logw[1] - m->logw[0];
}

static bool only_pairs(const gbsi_key_maker *m, uint32_t slot)
{
    const gbsi_factors *factors = &m->plan->model->factors;
    const uint32_t v = m->plan->variable_of[slot];
    for (size_t i = m->conditionals.start[v]; i < m->conditionals.start[v + 1]; ++i) {
        const size_t f = m->conditionals.factor[i];
        if (factors->scope_start[f + 1] - factors->scope_start[f] > 2) {
            return false;
        }
    }
    return true;
}

/* Whether all couplings of a binary variable to binary neighbours are w or -w: the log-odds are
 * then field + w sum of x_j (x_j turned round where the coupling is -w). */
static bool sum_decides(const gbsi_key_maker *m, uint32_t slot, uint8_t *sign)
{
    const size_t first = m->context.start[slot];
    const size_t n = m->context.start[slot + 1] - first;
    const uint32_t *neighbour = m->context.neighbour + first;
    if (gbsi_plan_arity(m->plan, slot) != 2 || (gbsi_plan_form(m->plan, slot) & GBSI_ODDS) == 0 ||
        !only_pairs(m, slot)) {
        return false;
    }
    for (size_t i = 0; i < n; ++i) {
        if (gbsi_plan_arity(m->plan, neighbour[i]) != 2) {
            return false;
        }
    }
    const double field = log_odds(m, slot);
    double w = 0.0;
    for (size_t i = 0; i < n; ++i) {
        gbsi_key_maker_put(m, neighbour[i], 1);
        const double coupling = log_odds(m, slot) - field;
        gbsi_key_maker_put(m, neighbour[i], 0);
        const double scale = fabs(field) > 1.0 ? fabs(field) : 1.0; /* rounding of the difference */
        w = i == 0 ? coupling : w;
        if (!(fabs(fabs(coupling) - fabs(w)) <= SAME_COUPLING * (fabs(w) + scale * 0x1p-18))) {
            return false;
        }
        if (sign != NULL) {
            sign[i] = (coupling < 0.0) != (w < 0.0);
        }
    }
    return true;
}

uint64_t gbsi_key_codes(const gbsi_key_maker *m, uint32_t slot, bool *sum, uint8_t *sign)
{
    *sum = false;
    if (m->scheme == GBS_KEYS_COMPLETE) {
        return GBSI_MANY_CODES;
    }
    if (m->scheme != GBS_KEYS_NEIGHBOURS) {
        /* found once: every bound on codes that is tried asks again */
        const bool known =
            m->by_sum[slot] == GBSI_SUM_NO || (m->by_sum[slot] == GBSI_SUM_YES && sign == NULL);
        *sum = known ? m->by_sum[slot] == GBSI_SUM_YES : sum_decides(m, slot, sign);
        m->by_sum[slot] = *sum ? GBSI_SUM_YES : GBSI_SUM_NO;
    }
    return *sum ? m->context.start[slot + 1] - m->context.start[slot] + 1
                : m->context.n_codes[slot];
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* Bytes of one code of a dense slot: its weights in all lanes and groups, its conditional, its
 * entry in the look-up. */
static uint64_t code_bytes(const gbsi_key_maker *m, uint32_t slot)
{
    const uint64_t n_lanes = (uint64_t)m->job->lanes * m->job->n_groups;
    const uint64_t k = gbsi_plan_arity(m->plan, slot);
    const uint64_t shared = m->scheme == GBS_KEYS_SHARED ? 4 + 8 : 0;
    const bool bounded = m->job->options->draw == GBS_DRAW_BOUNDED_ERROR;
    const bool two = bounded || m->job->lanes == 1; /* words: turns, or the chance once more */
    return shared + (k == 2 ? (two ? 8 : 4) * n_lanes + 5 : 8 * k * (n_lanes + 1));
}

static void add_slot(const gbsi_key_maker *m, uint32_t slot, gbsi_key_sizes *sizes, uint64_t *work)
{
    bool sum = false;
    const uint64_t codes = gbsi_key_codes(m, slot, &sum, NULL);
    if (codes <= sizes->most_codes) {
        const uint32_t v = m->plan->variable_of[slot];
        const uint64_t n_factors = m->conditionals.start[v + 1] - m->conditionals.start[v];
        sizes->dense_bytes = more(sizes->dense_bytes, codes * code_bytes(m, slot));
        *work = more(*work, codes * (n_factors + 1) * gbsi_plan_arity(m->plan, slot));
        return;
    }
    const uint64_t k = gbsi_plan_arity(m->plan, slot);
    const uint64_t met = m->scheme == GBS_KEYS_COMPLETE && m->whole_codes < GBSI_MANY_CODES
                             ? m->whole_codes / k
                             : codes;
    const uint64_t entry = gbsi_key_table_entry_bytes(
        gbsi_plan_arity(m->plan, slot),
        m->job->lanes * (m->job->options->draw == GBS_DRAW_BOUNDED_ERROR && k == 2 ? 2 : 1));
    const uint64_t grown = met >= GBSI_MANY_CODES ? UINT64_MAX : times(met + 16, 4 * entry);
    sizes->hashed_bytes = more(sizes->hashed_bytes, times(grown, m->job->n_groups));
}

/* Links and offsets of slices of sixteen slots, for one chain. */
static uint64_t slice_bytes(const gbsi_key_maker *m)
{
    uint64_t bytes = (uint64_t)m->plan->n_slots * 16;
    uint64_t width = 0;
    for (uint32_t slot = 0; m->context.start != NULL && slot < m->plan->n_slots; ++slot) {
        const uint64_t n = m->context.start[slot + 1] - m->context.start[slot];
        width = slot % GBSI_LANES == 0 || n > width ? n : width;
        bytes += slot % GBSI_LANES == GBSI_LANES - 1 ? 8 * GBSI_LANES * width : 0;
    }
    return bytes;
}

/* The largest bound on codes with which the tables fit: all the room where nothing is hashed, half
 * of it where something is. */
static gbsi_key_sizes sizes_of(const gbsi_key_maker *m)
{
    const uint64_t n_links = m->context.start == NULL ? 0 : m->context.start[m->plan->n_slots];
    for (uint64_t most = MOST_CODES;; most /= 2) {
        uint64_t work = 0;
        gbsi_key_sizes sizes = {.most_codes = most};
        sizes.dense_bytes = (uint64_t)m->plan->n_slots * sizeof(gbsi_key_slot) + 8 * n_links;
        sizes.dense_bytes += m->job->lanes == 1 ? slice_bytes(m) : 0;
        for (uint32_t slot = 0; slot < m->plan->n_slots; ++slot) {
            add_slot(m, slot, &sizes, &work);
        }
        const uint64_t room = sizes.hashed_bytes == 0 ? m->job->room : m->job->room / 2;
        if (most == 1 || (sizes.dense_bytes <= room && work <= MOST_WORK)) {
            return sizes;
        }
    }
}

gbs_status gbsi_keys_size(const gbsi_draw_job *job, int scheme, gbsi_key_sizes *sizes,
                          gbs_error *err)
{
    const uint64_t links = scheme == GBS_KEYS_COMPLETE ? 0 : gbsi_context_links(job->plan);
    *sizes = (gbsi_key_sizes){.dense_bytes = 8 * links + gbsi_conditionals_bytes(job->plan)};
    if (sizes->dense_bytes > job->room) {
        return GBS_OK; /* refused for this alone */
    }
    gbsi_key_maker m;
    gbs_status status = gbsi_key_maker_new(job, scheme, &m, err);
    if (status == GBS_OK) {
        *sizes = sizes_of(&m);
        sizes->dense_bytes += gbsi_conditionals_bytes(job->plan);
        gbsi_key_maker_free(&m);
    }
    return status;
}
