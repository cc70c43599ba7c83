/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the slots that have dense tables, and predicts the memory of all weights. */
#include "draw/key_codes.h"
#include "draw/keys.h"

/* The bounds on dense tables are powers of two: with bound number b, slots of up to 2^b codes are
 * dense. A table with more than MOST_CODES codes is never dense, because most of its codes would
 * never occur. */
#define N_BOUNDS   13
#define MOST_CODES (UINT64_C(1) << (N_BOUNDS - 1))
/* Limit on the work of computing the conditionals of dense tables, which takes a few seconds at
 * most. */
#define MOST_WORK (UINT64_C(1) << 30)

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

typedef struct slot_size {
    uint64_t dense, work; /* sums over slots of at most MOST_CODES codes */
    uint64_t hashed;
} slot_size;

static void add_size(slot_size *to, const slot_size *size)
{
    to->dense = more(to->dense, size->dense);
    to->work = more(to->work, size->work);
    to->hashed = more(to->hashed, size->hashed);
}

/* Whether whole turns of phases are counted, as in bounded-error herding, where weights may leave
 * the interval of herding. */
static bool counts_turns(const gbsi_key_maker *m)
{
    return (m->job->traits & GBSI_DRAW_THRESHOLD) != 0;
}

/* Bytes that one code of a dense slot takes. */
static uint64_t code_bytes(const gbsi_key_maker *m, uint32_t slot)
{
    const uint64_t n_lanes = (uint64_t)m->job->lanes * m->job->n_groups;
    const uint64_t k = gbsi_plan_arity(m->plan, slot);
    const uint64_t shared = m->scheme == GBS_KEYS_SHARED ? 4 + 8 : 0;
    /* whether a weight takes two words: the phase, and the number of turns or a copy of the chance
     */
    const bool two = counts_turns(m) || m->job->lanes == 1;
    return shared + (k == 2 ? (two ? 8 : 4) * n_lanes + 5 : 8 * k * (n_lanes + 1));
}

/* Computes the bytes of one slot if it is dense, and if it is hashed. */
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
        (uint32_t)k, m->job->lanes * (counts_turns(m) && k == 2 ? 2 : 1));
    const uint64_t grown = met >= GBSI_MANY_CODES ? UINT64_MAX : times(met + 16, 4 * entry);
    size->hashed = times(grown, m->job->n_groups);
}

/* Bytes of links and offsets of slices of sixteen slots, for one chain. */
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

/* Number of the smallest bound under which a slot with this many codes is dense; N_BOUNDS if no
 * bound makes the slot dense. */
static uint32_t bound_of(uint64_t codes)
{
    uint32_t b = 0;
    while (b < N_BOUNDS && codes > UINT64_C(1) << b) {
        ++b;
    }
    return b;
}

/* Finds the largest bound on the codes of dense slots with which all tables fit in memory. Dense
 * tables may take all the room if no slot is hashed, and half of the room otherwise. */
static gbsi_key_sizes sizes_of(gbsi_key_maker *m)
{
    const uint64_t n_links = m->context == NULL ? 0 : m->context->start[m->plan->n_slots];
    const uint64_t always = (uint64_t)m->plan->n_slots * sizeof(gbsi_key_slot) + 8 * n_links +
                            (m->job->lanes == 1 ? slice_bytes(m) : 0);
    /* [b] sizes of the slots for which b is the smallest bound that makes them dense */
    slot_size by_bound[N_BOUNDS + 1] = {{0}};
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
        return GBS_OK; /* the caller refuses only sizes that exceed the room */
    }
    gbsi_key_maker m;
    gbs_status status = gbsi_key_maker_new(job, scheme, job->around, &m, err);
    if (status == GBS_OK) {
        *sizes = sizes_of(&m);
        sizes->dense_bytes +=
            gbsi_conditionals_bytes(job->plan) + (uint64_t)job->plan->n_slots * sizeof *m.coupling;
        gbsi_key_maker_free(&m);
    }
    return status;
}
