/* SPDX-License-Identifier: Apache-2.0 */
/* A pass has one job of the pool for each colour. The job divides the rows of all groups of 32
 * chains evenly among the members of the pool. If the number of groups is a multiple of the number
 * of members, a single job runs all colours, and each member sweeps whole groups. Bits of the last
 * word that belong to no chain stay 0. */
#include "lattice/packed.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "lattice/packed_sweep.h"

#define PLANES (2 * (size_t)GBSI_SPIN_COUNTERS)

typedef struct packed_chains {
    gbsi_spin_chains base;
    const gbsi_packed *packed; /* borrowed */
    gbsi_packed_sweep_function sweep;
} packed_chains;

#define DECLARE(set, SET) void gbsi_packed_sweep_##set(const gbsi_packed_sweep *);
#define ROW(set, SET)     [GBSI_SIMD_##SET] = gbsi_packed_sweep_##set,

GBSI_SIMD_SETS(DECLARE)

static gbsi_packed_sweep_function sweep_of(gbsi_simd level)
{
    static const gbsi_packed_sweep_function sweep[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    assert(level < GBSI_N_SIMD && sweep[level] != NULL);
    return sweep[level];
}

static const gbsi_packed *packed_of(const gbsi_spin_chains *chains)
{
    return ((const packed_chains *)chains)->packed;
}

static uint32_t n_groups_of(uint32_t n_chains)
{
    return (n_chains + GBSI_PACKED_CHAINS - 1) / GBSI_PACKED_CHAINS;
}

/* ---- states --------------------------------------------------------------------------------- */

static uint32_t *state_of(const gbsi_spin_chains *c, uint32_t chain)
{
    return c->state + (size_t)(chain / GBSI_PACKED_CHAINS) * packed_of(c)->n_slots;
}

static void set_chain(gbsi_spin_chains *c, uint32_t chain, const uint32_t *state)
{
    const gbsi_packed *p = packed_of(c);
    const uint32_t bit = UINT32_C(1) << chain % GBSI_PACKED_CHAINS;
    uint32_t *word = state_of(c, chain);
    for (uint32_t slot = 0; slot < p->n_slots; ++slot) {
        const uint32_t v = p->variable_of[slot];
        word[slot] = v != GBSI_NONE && state[v] != 0 ? word[slot] | bit : word[slot] & ~bit;
    }
}

static void get_chain(const gbsi_spin_chains *c, uint32_t chain, uint32_t *state)
{
    const gbsi_packed *p = packed_of(c);
    const uint32_t *word = state_of(c, chain);
    for (uint32_t slot = 0; slot < p->n_slots; ++slot) {
        if (p->variable_of[slot] != GBSI_NONE) {
            state[p->variable_of[slot]] = word[slot] >> chain % GBSI_PACKED_CHAINS & 1u;
        }
    }
}

/* ---- passes --------------------------------------------------------------------------------- */

/* A job sweeps rows [first, end) of some groups of chains; the rows of these groups form one
 * sequence. If the rows have more than one colour, one thread sweeps them in order. */
typedef struct pass_job {
    gbsi_spin_chains *chains;
    uint64_t pass;
    uint32_t first, end;
    uint32_t unit; /* number of adjacent rows that one member must sweep */
    bool count;
    uint64_t from, to; /* the job's rows [from, to) in the sequence of the rows of all groups */
} pass_job;

/* Sweeps rows [first, end) of one group. */
static void sweep_rows(const pass_job *job, uint32_t member, uint32_t group, uint32_t first,
                       uint32_t end)
{
    gbsi_spin_chains *c = job->chains;
    const gbsi_packed *p = packed_of(c);
    const uint32_t chain = group * GBSI_PACKED_CHAINS;
    const uint32_t n =
        c->n_chains - chain < GBSI_PACKED_CHAINS ? c->n_chains - chain : GBSI_PACKED_CHAINS;
    assert(n > 0);
    gbsi_spin_sums sums[GBSI_PACKED_CHAINS] = {{{0}, {0}}};
    gbsi_packed_sweep sweep = {.packed = p,
                               .state = c->state + (size_t)group * p->n_slots,
                               .first_row = first,
                               .end_row = end,
                               .seed = c->seed,
                               .pass = job->pass,
                               .group = group,
                               .chains = (uint32_t)((UINT64_C(1) << n) - 1),
                               .n_counted = c->n_counted,
                               .sums = sums};
    if (job->count) {
        sweep.visits = c->visits + group * PLANES * p->n_slots;
    }
    ((packed_chains *)c)->sweep(&sweep);
    gbsi_spin_sums *partial = &c->partial[(size_t)member * c->n_chains + chain];
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t g = 0; g < p->spins.n_groups; ++g) {
            partial[i].agree[g] += sums[i].agree[g];
        }
        for (uint32_t f = 0; f < p->spins.n_fields; ++f) {
            partial[i].up[f] += sums[i].up[f];
        }
    }
}

static void sweep_share(const pass_job *job, uint32_t member, uint64_t first, uint64_t end)
{
    const uint32_t n = job->end - job->first;
    while (first < end) {
        const uint32_t group = (uint32_t)(first / n);
        const uint64_t start = (uint64_t)group * n;
        const uint64_t stop = start + n < end ? start + n : end;
        sweep_rows(job, member, group, job->first + (uint32_t)(first - start),
                   job->first + (uint32_t)(stop - start));
        first = stop;
    }
}

static void run_member(void *context, uint32_t member)
{
    const pass_job *job = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(job->to - job->from, job->unit, member, job->chains->n_members, &first, &end);
    sweep_share(job, member, job->from + first, job->from + end);
}

static uint32_t n_batches(const gbsi_spin_chains *c)
{
    return packed_of(c)->n_colors;
}

static uint64_t n_parts(const gbsi_spin_chains *c, uint32_t batch, double *n_updates)
{
    const gbsi_packed *p = packed_of(c);
    *n_updates = GBSI_PACKED_LANES * GBSI_PACKED_CHAINS;
    return (uint64_t)(p->color_row[batch + 1] - p->color_row[batch]) * n_groups_of(c->n_chains);
}

static void run_parts(gbsi_spin_chains *c, uint64_t pass, bool count, uint32_t batch,
                      uint64_t first, uint64_t end)
{
    const gbsi_packed *p = packed_of(c);
    pass_job job = {.chains = c,
                    .pass = pass,
                    .first = p->color_row[batch],
                    .end = p->color_row[batch + 1],
                    .unit = 1,
                    .count = count && c->visits != NULL,
                    .from = first,
                    .to = end};
    if (gbsi_spin_chains_shared(c)) {
        gbsi_pool_run(c->pool, run_member, &job);
    } else {
        sweep_share(&job, 0, first, end);
    }
}

/* Runs batches [first, end). If the number of groups is a multiple of the number of threads, each
 * thread runs whole groups, so that no thread waits at the end of a colour. */
static void run_batches(gbsi_spin_chains *c, uint64_t pass, bool count, uint32_t first,
                        uint32_t end)
{
    const gbsi_packed *p = packed_of(c);
    const uint32_t n_rows = p->color_row[end] - p->color_row[first];
    pass_job job = {.chains = c,
                    .pass = pass,
                    .first = p->color_row[first],
                    .end = p->color_row[end],
                    .unit = n_rows,
                    .count = count && c->visits != NULL,
                    .to = (uint64_t)n_rows * n_groups_of(c->n_chains)};
    if (!gbsi_spin_chains_shared(c)) {
        sweep_share(&job, 0, 0, job.to);
    } else if (n_groups_of(c->n_chains) % c->n_members == 0) {
        gbsi_pool_run(c->pool, run_member, &job);
    } else {
        for (uint32_t batch = first; batch < end; ++batch) {
            double n_updates = 0.0;
            run_parts(c, pass, count, batch, 0, n_parts(c, batch, &n_updates));
        }
    }
}

/* ---- visits --------------------------------------------------------------------------------- */

static void count_rest(gbsi_spin_chains *c, uint32_t batch, uint64_t part)
{
    const gbsi_packed *p = packed_of(c);
    const uint32_t first = p->color_row[batch];
    const uint32_t n = p->color_row[batch + 1] - first;
    for (uint32_t group = 0; group < n_groups_of(c->n_chains); ++group) {
        const uint32_t *word = state_of(c, group * GBSI_PACKED_CHAINS);
        uint32_t *visits = c->visits + group * PLANES * p->n_slots;
        const uint64_t before = (uint64_t)group * n;
        const uint64_t n_done = part > before ? part - before : 0;
        /* end of the rows of the group that were swept */
        const uint32_t done = first + (uint32_t)(n_done < n ? n_done : n);
        for (uint32_t slot = done * GBSI_PACKED_LANES; slot < p->n_slots; ++slot) {
            gbsi_spin_count(visits + slot, p->n_slots, c->n_counted, word[slot]);
        }
    }
}

typedef struct visit_job {
    gbsi_spin_chains *chains;
    size_t stride;
    uint8_t *(*bytes_of)(void *context, uint32_t chain);
    void *context;
} visit_job;

static void take_group(const visit_job *job, uint32_t group, uint32_t first, uint32_t end)
{
    const gbsi_spin_chains *c = job->chains;
    const gbsi_packed *p = packed_of(c);
    const uint32_t chain = group * GBSI_PACKED_CHAINS;
    uint32_t *visits = c->visits + group * PLANES * p->n_slots;
    uint8_t *bytes[GBSI_PACKED_CHAINS];
    uint32_t n = 0;
    for (; n < GBSI_PACKED_CHAINS && chain + n < c->n_chains; ++n) {
        bytes[n] = job->bytes_of(job->context, chain + n);
    }
    for (uint32_t slot = first; slot < end; ++slot) {
        uint64_t count[4];
        gbsi_spin_take_counts(visits + slot, p->n_slots, c->n_counted, count);
        for (uint32_t i = 0; p->variable_of[slot] != GBSI_NONE && i < n; ++i) {
            uint8_t *byte = &bytes[i][p->variable_of[slot] * job->stride];
            *byte = (uint8_t)(*byte + (uint8_t)(count[i / 8] >> 8 * (i % 8)));
        }
    }
}

static void take_member(void *context, uint32_t member)
{
    const visit_job *job = context;
    const gbsi_spin_chains *c = job->chains;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(packed_of(c)->n_slots, 1, member, c->n_members, &first, &end);
    for (uint32_t group = 0; group < n_groups_of(c->n_chains); ++group) {
        take_group(job, group, (uint32_t)first, (uint32_t)end);
    }
}

static void take_visits(gbsi_spin_chains *c, size_t stride,
                        uint8_t *(*bytes_of)(void *context, uint32_t chain), void *context)
{
    visit_job job = {c, stride, bytes_of, context};
    if (c->n_counted == 0 || c->visits == NULL) {
        return;
    }
    gbsi_pool_run(c->pool, take_member, &job);
    c->n_counted = 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

size_t gbsi_packed_chains_bytes(const gbsi_packed *packed, uint32_t n_chains, uint32_t n_threads,
                                bool count)
{
    const size_t n = (size_t)n_groups_of(n_chains) * packed->n_slots;
    return gbsi_spin_chains_bytes(n, count ? n * PLANES : 0, n_chains, n_threads);
}

gbs_status gbsi_packed_chains_new(const gbsi_packed *packed, uint32_t n_chains, uint64_t seed,
                                  bool count, gbsi_simd level, gbsi_pool *pool,
                                  gbsi_spin_chains **out, gbs_error *err)
{
    static const gbsi_spin_form form = {.set = set_chain,
                                        .get = get_chain,
                                        .n_batches = n_batches,
                                        .run = run_batches,
                                        .n_parts = n_parts,
                                        .run_parts = run_parts,
                                        .count_rest = count_rest,
                                        .take_visits = take_visits};
    size_t n_state = 0;
    size_t n_visits = 0;
    if (!gbsi_mul_size(packed->n_slots, n_groups_of(n_chains), &n_state) ||
        !gbsi_mul_size(count ? PLANES : 0, n_state, &n_visits)) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "lattice: its size exceeds the address space of this machine");
    }
    const gbs_status status =
        gbsi_spin_chains_new(&form, sizeof(packed_chains), &packed->spins, n_state, n_visits,
                             n_chains, seed, pool, out, err);
    if (status == GBS_OK) {
        packed_chains *chains = (packed_chains *)*out;
        chains->packed = packed;
        chains->sweep = sweep_of(level);
    }
    return status;
}
