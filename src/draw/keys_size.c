/* SPDX-License-Identifier: Apache-2.0 */
/* Which slots have dense tables, and what they take. */
#include <math.h>

#include "base/memory.h"
#include "draw/keys_internal.h"
#include "draw/table.h"

/* Bound b lets slots of up to 2^b codes be dense. More codes than the last are never tabulated,
 * whatever memory there is: most would never be met. */
#define N_BOUNDS   13
#define MOST_CODES (UINT64_C(1) << (N_BOUNDS - 1))
/* Nor more conditionals in all than take seconds. */
#define MOST_WORK (UINT64_C(1) << 30)

/* relative */
#define SAME_COUPLING  1e-10
#define OTHER_COUPLING 1e-6

void gbsi_key_maker_free(gbsi_key_maker *m)
{
    gbsi_surroundings_free(&m->own);
    gbsi_free(m->state);
    gbsi_free(m->logw);
    gbsi_free(m->by_sum);
    *m = (gbsi_key_maker){0}; /* a failing gbsi_key_maker_new() frees, and so may its caller */
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
    if (m->state == NULL || m->logw == NULL || m->by_sum == NULL) {
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

static double log_odds(const gbsi_key_maker *m, uint32_t slot)
{
    const gbsi_view view = gbsi_key_maker_view(m);
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

/* Two couplings that are surely not the same: what most models of many couplings say at once.
 * Where a pair has several factors, nothing is said. */
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

/* Whether all couplings of a binary variable to binary neighbours are w or -w: the log-odds are
 * then field + w sum of x_j (x_j turned round where the coupling is -w). */
static bool sum_decides(const gbsi_key_maker *m, uint32_t slot, uint8_t *sign)
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
    return *sum ? gbsi_key_links(m, slot) + 1 : m->context->n_codes[slot];
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

typedef struct slot_size {
    uint64_t dense, work; /* of at most MOST_CODES codes */
    uint64_t hashed;
} slot_size;

static void add_size(slot_size *to, const slot_size *size)
{
    to->dense = more(to->dense, size->dense);
    to->work = more(to->work, size->work);
    to->hashed = more(to->hashed, size->hashed);
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

/* What one slot takes if it is dense and if it is hashed. */
static void size_slot(const gbsi_key_maker *m, uint32_t slot, uint64_t codes, slot_size *size)
{
    const uint32_t v = m->plan->variable_of[slot];
    const uint64_t k = gbsi_plan_arity(m->plan, slot);
    if (codes <= MOST_CODES) {
        const uint64_t n_factors = m->conditionals->start[v + 1] - m->conditionals->start[v];
        size->dense = times(codes, code_bytes(m, slot));
        size->work = codes * (n_factors + 1) * k;
    }
    const uint64_t met = m->scheme == GBS_KEYS_COMPLETE && m->whole_codes < GBSI_MANY_CODES
                             ? m->whole_codes / k
                             : codes;
    const uint64_t entry = gbsi_key_table_entry_bytes(
        (uint32_t)k,
        m->job->lanes * (m->job->options->draw == GBS_DRAW_BOUNDED_ERROR && k == 2 ? 2 : 1));
    const uint64_t grown = met >= GBSI_MANY_CODES ? UINT64_MAX : times(met + 16, 4 * entry);
    size->hashed = times(grown, m->job->n_groups);
}

/* Links and offsets of slices of sixteen slots, for one chain. */
static uint64_t slice_bytes(const gbsi_key_maker *m)
{
    uint64_t bytes = (uint64_t)m->plan->n_slots * 16;
    uint64_t width = 0;
    for (uint32_t slot = 0; m->context != NULL && slot < m->plan->n_slots; ++slot) {
        const uint64_t n = gbsi_key_links(m, slot);
        width = slot % GBSI_LANES == 0 || n > width ? n : width;
        bytes += slot % GBSI_LANES == GBSI_LANES - 1 ? 8 * GBSI_LANES * width : 0;
    }
    return bytes;
}

/* The least bound under which so many codes are dense; N_BOUNDS: none. */
static uint32_t bound_of(uint64_t codes)
{
    uint32_t b = 0;
    while (b < N_BOUNDS && codes > UINT64_C(1) << b) {
        ++b;
    }
    return b;
}

/* The largest bound on codes with which the tables fit: all the room where nothing is hashed, half
 * of it where something is. */
static gbsi_key_sizes sizes_of(const gbsi_key_maker *m)
{
    const uint64_t n_links = m->context == NULL ? 0 : m->context->start[m->plan->n_slots];
    const uint64_t always = (uint64_t)m->plan->n_slots * sizeof(gbsi_key_slot) + 8 * n_links +
                            (m->job->lanes == 1 ? slice_bytes(m) : 0);
    slot_size by_bound[N_BOUNDS + 1] = {{0}}; /* of the slots that bound first makes dense */
    for (uint32_t slot = 0; slot < m->plan->n_slots; ++slot) {
        bool sum = false;
        const uint64_t codes = gbsi_key_codes(m, slot, &sum, NULL);
        slot_size size = {0};
        size_slot(m, slot, codes, &size);
        add_size(&by_bound[bound_of(codes)], &size);
    }
    for (uint32_t most = N_BOUNDS - 1;; --most) {
        slot_size total = {.dense = always};
        uint64_t hashed = 0;
        for (uint32_t b = 0; b <= most; ++b) {
            add_size(&total, &by_bound[b]);
        }
        for (uint32_t b = most + 1; b <= N_BOUNDS; ++b) {
            hashed = more(hashed, by_bound[b].hashed);
        }
        const uint64_t room = hashed == 0 ? m->job->room : m->job->room / 2;
        if (most == 0 || (total.dense <= room && total.work <= MOST_WORK)) {
            return (gbsi_key_sizes){UINT64_C(1) << most, total.dense, hashed};
        }
    }
}

gbs_status gbsi_keys_size(const gbsi_draw_job *job, int scheme, gbsi_key_sizes *sizes,
                          gbs_error *err)
{
    const bool neighbours = scheme != GBS_KEYS_COMPLETE;
    *sizes = (gbsi_key_sizes){.dense_bytes = gbsi_surroundings_bytes(job->plan, neighbours)};
    if (sizes->dense_bytes > job->room) {
        return GBS_OK; /* refused for this alone */
    }
    gbsi_key_maker m;
    gbs_status status = gbsi_key_maker_new(job, scheme, job->around, &m, err);
    if (status == GBS_OK) {
        *sizes = sizes_of(&m);
        sizes->dense_bytes += gbsi_conditionals_bytes(job->plan);
        gbsi_key_maker_free(&m);
    }
    return status;
}
