/* SPDX-License-Identifier: Apache-2.0 */
/* A pass is two jobs of the pool, one per colour: all chains' columns, cut evenly among the
 * members; with seams two more for each number of them, and two that count. Sums are integers, so
 * that it does not matter who swept what. */
#include "lattice/chains.h"

#include <assert.h>

#include "base/memory.h"

/* Sites below which a pass is over before a second thread has woken up. */
#define LEAST_SHARED (UINT64_C(1) << 18)

#define PLANES (2 * GBSI_LATTICE_COUNTERS)

#define DECLARE_SET(set) void gbsi_lattice_sweep_##set(gbsi_lattice_sweep *);
DECLARE_SET(portable)
#ifdef GBSI_HAVE_X86_SETS
DECLARE_SET(avx2)
DECLARE_SET(avx512)
#endif
#ifdef GBSI_HAVE_NEON_SET
DECLARE_SET(neon)
#endif

gbsi_lattice_sweep_function gbsi_lattice_sweep_of(gbsi_simd level)
{
    static const gbsi_lattice_sweep_function sweep[GBSI_N_SIMD] = {
        [GBSI_SIMD_PORTABLE] = gbsi_lattice_sweep_portable,
#ifdef GBSI_HAVE_X86_SETS
        [GBSI_SIMD_AVX2] = gbsi_lattice_sweep_avx2,
        [GBSI_SIMD_AVX512] = gbsi_lattice_sweep_avx512,
#endif
#ifdef GBSI_HAVE_NEON_SET
        [GBSI_SIMD_NEON] = gbsi_lattice_sweep_neon,
#endif
    };
    assert(level < GBSI_N_SIMD && sweep[level] != NULL);
    return sweep[level];
}

/* ---- life -------------------------------------------------------------------------------------
 */

static size_t visit_words(const gbsi_lattice *lattice)
{
    return PLANES * 2 * (size_t)lattice->n_words;
}

size_t gbsi_lattice_chains_bytes(const gbsi_lattice *lattice, uint32_t n_chains, uint32_t n_threads,
                                 bool count)
{
    const size_t words = lattice->state_words + (count ? visit_words(lattice) : 0);
    return n_chains * (words * 4 + (n_threads + 1) * sizeof(gbsi_lattice_sums));
}

gbs_status gbsi_lattice_chains_new(const gbsi_lattice *lattice, uint32_t n_chains, uint64_t seed,
                                   bool count, gbsi_simd level, gbsi_pool *pool,
                                   gbsi_lattice_chains **out, gbs_error *err)
{
    gbsi_lattice_chains *c = gbsi_alloc_zero(sizeof *c);
    if (c == NULL) {
        return gbsi_no_memory(err, "lattice", sizeof *c);
    }
    *c = (gbsi_lattice_chains){.lattice = lattice,
                               .sweep = gbsi_lattice_sweep_of(level),
                               .pool = pool,
                               .seed = seed,
                               .n_chains = n_chains,
                               .n_members = gbsi_pool_size(pool)};
    size_t n_state = 0;
    size_t n_visit = 0;
    if (!gbsi_mul_size(lattice->state_words, n_chains, &n_state) ||
        !gbsi_mul_size(count ? visit_words(lattice) : 0, n_chains, &n_visit)) {
        gbsi_lattice_chains_free(c);
        return gbsi_fail(err, GBS_ERR_LIMIT, "lattice: its size does not fit a size_t");
    }
    c->state = gbsi_alloc_lanes(n_state, sizeof *c->state);
    c->visits = count ? gbsi_alloc_lanes(n_visit, sizeof *c->visits) : NULL;
    c->partial = gbsi_alloc_array_zero((size_t)c->n_members * n_chains, sizeof *c->partial);
    c->sums = gbsi_alloc_array_zero(n_chains, sizeof *c->sums);
    if (c->state == NULL || (count && c->visits == NULL) || c->partial == NULL || c->sums == NULL) {
        gbsi_lattice_chains_free(c);
        return gbsi_no_memory(err, "lattice", (n_state + n_visit) * sizeof *c->state);
    }
    *out = c;
    return GBS_OK;
}

void gbsi_lattice_chains_free(gbsi_lattice_chains *c)
{
    if (c == NULL) {
        return;
    }
    gbsi_free(c->state);
    gbsi_free(c->visits);
    gbsi_free(c->partial);
    gbsi_free(c->sums);
    gbsi_free(c);
}

/* ---- states -----------------------------------------------------------------------------------
 */

/* All words of one colour, layer and Y, and where their sites are. */
typedef struct line {
    uint32_t color, layer, y, first_x;
    size_t word; /* of 2 n_words */
} line;

static uint32_t n_lines_of(const gbsi_lattice *l)
{
    return 2 * l->height * l->n_rows;
}

static line line_of(const gbsi_lattice *l, uint32_t i)
{
    line r = {.color = i / l->n_rows / l->height,
              .layer = i / l->n_rows % l->height,
              .y = i % l->n_rows,
              .word = (size_t)i * l->padded};
    r.first_x = (r.color + r.layer + r.y) % 2;
    return r;
}

/* Bits of word x of a line, and the site of its lowest one; the next follow at site_step(). */
static uint32_t n_bits_of(const gbsi_lattice *l, const line *at, uint32_t x)
{
    const bool last = (l->n_blocks - 1) * l->height + at->layer < l->side[2];
    return 2 * x + at->first_x < l->side[0] ? l->n_blocks - !last : 0;
}

static size_t first_site(const gbsi_lattice *l, const line *at, uint32_t x)
{
    return 2 * x + at->first_x + l->side[0] * (at->y + (size_t)l->side[1] * at->layer);
}

static size_t site_step(const gbsi_lattice *l)
{
    return (size_t)l->side[0] * l->side[1] * l->height;
}

static uint32_t *state_of_line(const gbsi_lattice_chains *c, uint32_t chain, const line *at)
{
    const gbsi_lattice_place place = {.color = at->color, .layer = at->layer, .row = at->y};
    return c->state + chain * c->lattice->state_words + gbsi_lattice_state_word(c->lattice, place);
}

void gbsi_lattice_set(gbsi_lattice_chains *c, uint32_t chain, const uint32_t *state)
{
    const gbsi_lattice *l = c->lattice;
    const size_t step = site_step(l);
    for (uint32_t i = 0; i < n_lines_of(l); ++i) {
        const line at = line_of(l, i);
        uint32_t *words = state_of_line(c, chain, &at);
        for (uint32_t x = 0; x < l->width; ++x) {
            const uint32_t n = n_bits_of(l, &at, x);
            const uint32_t *site = state + (n > 0 ? first_site(l, &at, x) : 0);
            words[x] = 0;
            for (uint32_t b = 0; b < n; ++b) {
                words[x] |= (uint32_t)(site[b * step] != 0) << b;
            }
        }
    }
}

void gbsi_lattice_get(const gbsi_lattice_chains *c, uint32_t chain, uint32_t *state)
{
    const gbsi_lattice *l = c->lattice;
    const size_t step = site_step(l);
    for (uint32_t i = 0; i < n_lines_of(l); ++i) {
        const line at = line_of(l, i);
        const uint32_t *words = state_of_line(c, chain, &at);
        for (uint32_t x = 0; x < l->width; ++x) {
            const uint32_t n = n_bits_of(l, &at, x);
            uint32_t *site = state + (n > 0 ? first_site(l, &at, x) : 0);
            for (uint32_t b = 0; b < n; ++b) {
                site[b * step] = words[x] >> b & 1u;
            }
        }
    }
}

/* ---- passes -----------------------------------------------------------------------------------
 */

typedef struct pass_job {
    gbsi_lattice_chains *chains;
    uint64_t pass;
    uint32_t color, n_seams;
    bool count_only, count;
    uint64_t unit; /* columns that stay together */
} pass_job;

static uint32_t n_columns_of(const gbsi_lattice *l)
{
    return l->n_rows * (l->padded / GBSI_LATTICE_LANES);
}

static void sweep_columns(const pass_job *job, uint32_t member, uint32_t chain, uint32_t first,
                          uint32_t end)
{
    gbsi_lattice_chains *c = job->chains;
    const gbsi_lattice *l = c->lattice;
    gbsi_lattice_sums *sums = &c->partial[(size_t)member * c->n_chains + chain];
    gbsi_lattice_sweep sweep = {.lattice = l,
                                .state = c->state + chain * l->state_words,
                                .color = job->color,
                                .first_column = first,
                                .end_column = end,
                                .n_seams = job->n_seams,
                                .count_only = job->count_only,
                                .seed = c->seed,
                                .pass = job->pass,
                                .chain = chain,
                                .n_counted = c->n_counted,
                                .sums = *sums};
    if (job->count) {
        sweep.visits = c->visits + chain * visit_words(l);
    }
    c->sweep(&sweep);
    *sums = sweep.sums;
}

/* Columns [first, end) of all chains laid end to end. */
static void sweep_share(const pass_job *job, uint32_t member, uint64_t first, uint64_t end)
{
    const uint32_t n = n_columns_of(job->chains->lattice);
    while (first < end) {
        const uint32_t chain = (uint32_t)(first / n);
        const uint64_t start = (uint64_t)chain * n;
        const uint64_t stop = start + n < end ? start + n : end;
        sweep_columns(job, member, chain, (uint32_t)(first - start), (uint32_t)(stop - start));
        first = stop;
    }
}

static void run_member(void *context, uint32_t member)
{
    const pass_job *job = context;
    const gbsi_lattice_chains *c = job->chains;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share((uint64_t)n_columns_of(c->lattice) * c->n_chains, job->unit, member,
                    c->n_members, &first, &end);
    sweep_share(job, member, first, end);
}

static void add_up(gbsi_lattice_chains *c)
{
    for (uint32_t chain = 0; chain < c->n_chains; ++chain) {
        gbsi_lattice_sums *sums = &c->sums[chain];
        *sums = (gbsi_lattice_sums){0};
        for (uint32_t member = 0; member < c->n_members; ++member) {
            const gbsi_lattice_sums *part = &c->partial[(size_t)member * c->n_chains + chain];
            for (uint32_t g = 0; g < GBSI_LATTICE_GROUPS; ++g) {
                sums->agree[g] += part->agree[g];
            }
            for (uint32_t f = 0; f < GBSI_GRID_FIELDS; ++f) {
                sums->up[f] += part->up[f];
            }
        }
    }
}

static void run_job(const pass_job *job)
{
    gbsi_lattice_chains *c = job->chains;
    if (c->n_members == 1 || (uint64_t)c->lattice->n_sites * c->n_chains < LEAST_SHARED) {
        sweep_share(job, 0, 0, (uint64_t)n_columns_of(c->lattice) * c->n_chains);
    } else {
        gbsi_pool_run(c->pool, run_member, (void *)job);
    }
}

void gbsi_lattice_pass(gbsi_lattice_chains *c, uint64_t pass, bool count)
{
    const gbsi_lattice *l = c->lattice;
    const uint64_t row = l->padded / GBSI_LATTICE_LANES;
    const bool counts = count && c->visits != NULL;
    memset(c->partial, 0, (size_t)c->n_members * c->n_chains * sizeof *c->partial);
    c->n_counted += counts;
    for (uint32_t n_seams = 0; n_seams <= l->n_seams; ++n_seams) {
        for (uint32_t color = 0; color < 2; ++color) {
            run_job(&(pass_job){.chains = c,
                                .pass = pass,
                                .color = color,
                                .n_seams = n_seams,
                                .count = counts && l->n_seams == 0,
                                .unit = n_seams > 0      ? n_columns_of(l) /* a chain */
                                        : l->n_seams > 0 ? row
                                                         : 1});
        }
    }
    for (uint32_t color = 0; l->n_seams > 0 && color < 2; ++color) {
        run_job(&(pass_job){.chains = c,
                            .pass = pass,
                            .color = color,
                            .count_only = true,
                            .count = counts,
                            .unit = row});
    }
    add_up(c);
}

/* ---- visits -----------------------------------------------------------------------------------
 */

typedef struct visit_job {
    gbsi_lattice_chains *chains;
    size_t stride;
    uint8_t *(*bytes_of)(void *context, uint32_t chain);
    void *context;
} visit_job;

/* Bit j of a byte to byte j. */
static uint64_t spread(uint32_t byte)
{
    const uint64_t one = UINT64_C(0x0101010101010101);
    const uint64_t apart = (byte & 0xFFu) * one & UINT64_C(0x8040201008040201);
    return (apart + 0x7F * one) >> 7 & one;
}

/* Counts of the 32 sites of a word, and empty counters. */
static void take_word(uint32_t *visits, size_t plane_words, uint32_t n_counted, uint64_t count[4])
{
    memset(count, 0, 4 * sizeof *count);
    for (uint32_t level = 0; level < GBSI_LATTICE_COUNTERS && n_counted >> level != 0; ++level) {
        uint32_t *sum = visits + 2 * level * plane_words;
        const uint32_t waiting = n_counted >> level & 1u ? sum[plane_words] : 0;
        for (uint32_t i = 0; i < 4; ++i) {
            count[i] += (spread(*sum >> 8 * i) + spread(waiting >> 8 * i)) << level;
        }
        *sum = 0;
    }
}

static void take_line(const visit_job *job, uint32_t chain, uint32_t i, uint8_t *bytes)
{
    const gbsi_lattice_chains *c = job->chains;
    const gbsi_lattice *l = c->lattice;
    const line at = line_of(l, i);
    const size_t step = site_step(l) * job->stride;
    uint32_t *visits = c->visits + chain * visit_words(l) + at.word;
    for (uint32_t x = 0; x < l->width; ++x) {
        const uint32_t n = n_bits_of(l, &at, x);
        uint8_t *byte = bytes + (n > 0 ? first_site(l, &at, x) * job->stride : 0);
        uint64_t count[4];
        take_word(visits + x, 2 * (size_t)l->n_words, c->n_counted, count);
        for (uint32_t b = 0; b < n; ++b) {
            byte[b * step] = (uint8_t)(byte[b * step] + (uint8_t)(count[b / 8] >> 8 * (b % 8)));
        }
    }
}

static void take_member(void *context, uint32_t member)
{
    const visit_job *job = context;
    const gbsi_lattice_chains *c = job->chains;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(n_lines_of(c->lattice), 1, member, c->n_members, &first, &end);
    for (uint32_t chain = 0; chain < c->n_chains; ++chain) {
        uint8_t *bytes = job->bytes_of(job->context, chain);
        for (uint64_t i = first; i < end; ++i) {
            take_line(job, chain, (uint32_t)i, bytes);
        }
    }
}

void gbsi_lattice_take_visits(gbsi_lattice_chains *c, size_t stride,
                              uint8_t *(*bytes_of)(void *context, uint32_t chain), void *context)
{
    visit_job job = {c, stride, bytes_of, context};
    if (c->n_counted == 0 || c->visits == NULL) {
        return;
    }
    gbsi_pool_run(c->pool, take_member, &job);
    c->n_counted = 0;
}

/* ---- sums -------------------------------------------------------------------------------------
 */

double gbsi_lattice_log_density(const gbsi_lattice_chains *c, uint32_t chain)
{
    const gbsi_lattice *l = c->lattice;
    const gbsi_lattice_sums *sums = &c->sums[chain];
    double logw = l->constant;
    for (uint32_t g = 0; g < l->n_groups; ++g) {
        logw += l->coupling[g] * (double)(2 * sums->agree[g] - l->n_bonds[g]);
    }
    for (uint32_t f = 0; f < l->n_fields; ++f) {
        logw += l->field[f] * (double)(2 * sums->up[f] - l->n_of_field[f]);
    }
    return logw;
}

int64_t gbsi_lattice_spin_sum(const gbsi_lattice_chains *c, uint32_t chain)
{
    int64_t up = 0;
    for (uint32_t f = 0; f < c->lattice->n_fields; ++f) {
        up += c->sums[chain].up[f];
    }
    return 2 * up - c->lattice->n_sites;
}
