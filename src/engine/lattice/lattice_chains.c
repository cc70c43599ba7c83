/* SPDX-License-Identifier: Apache-2.0 */
/* A pass is two jobs of the pool, one per colour. Each job divides the columns of all chains evenly
 * among the members of the pool. A lattice with seams has two more jobs for each number of seams
 * from 1 on, and two jobs that count visits and sums. */
#include "lattice/lattice.h"

#include <assert.h>

#include "base/memory.h"
#include "lattice/averages.h"
#include "lattice/sweep.h"

#define PLANES (2 * (size_t)GBSI_SPIN_COUNTERS)

typedef struct lattice_chains {
    gbsi_spin_chains base;
    const gbsi_lattice *lattice; /* borrowed */
    gbsi_lattice_sweep_function sweep;
    gbsi_lattice_average_function average;
    gbsi_lattice_averages averages; /* used if neighbours are kept */
} lattice_chains;

#define DECLARE(set, SET) void gbsi_lattice_sweep_##set(gbsi_lattice_sweep *);
#define ROW(set, SET)     [GBSI_SIMD_##SET] = gbsi_lattice_sweep_##set,

GBSI_SIMD_SETS(DECLARE)

static gbsi_lattice_sweep_function sweep_of(gbsi_simd level)
{
    static const gbsi_lattice_sweep_function sweep[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    assert(level < GBSI_N_SIMD && sweep[level] != NULL);
    return sweep[level];
}

/* Number of words of visits or numbers of neighbours that are kept for a chain. */
static size_t kept_words(const gbsi_lattice *lattice, gbsi_spin_keep keep)
{
    return keep == GBSI_SPIN_KEEP_NEIGHBOURS ? gbsi_lattice_kept_words(lattice)
           : keep == GBSI_SPIN_KEEP_VISITS   ? PLANES * 2 * lattice->n_words
                                             : 0;
}

static const lattice_chains *of(const gbsi_spin_chains *chains)
{
    return (const lattice_chains *)chains;
}

/* ---- states --------------------------------------------------------------------------------- */

/* The words of one colour, layer and Y, with the places of the sites in these words. */
typedef struct line {
    uint32_t color, layer, y, first_x;
    size_t word; /* index of the first word, below 2 n_words */
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

/* Number of bits of word x of a line. first_site() is the site of its lowest bit; the sites of the
 * next bits are site_step() apart. */
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

static uint32_t *state_of_line(const gbsi_spin_chains *c, uint32_t chain, const line *at)
{
    const gbsi_lattice *l = of(c)->lattice;
    const gbsi_lattice_place place = {.color = at->color, .layer = at->layer, .row = at->y};
    return c->state + chain * l->state_words + gbsi_lattice_state_word(l, place);
}

static void set_chain(gbsi_spin_chains *c, uint32_t chain, const uint32_t *state)
{
    const gbsi_lattice *l = of(c)->lattice;
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

static void get_chain(const gbsi_spin_chains *c, uint32_t chain, uint32_t *state)
{
    const gbsi_lattice *l = of(c)->lattice;
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

/* ---- passes --------------------------------------------------------------------------------- */

typedef struct pass_job {
    gbsi_spin_chains *chains;
    uint64_t pass;
    uint32_t color, n_seams;
    bool count_only, count;
    uint64_t unit;       /* number of adjacent columns that one member must update */
    uint64_t first, end; /* range of columns in the sequence of the columns of all chains */
} pass_job;

static uint32_t n_columns_of(const gbsi_lattice *l)
{
    return l->n_rows * (l->padded / GBSI_LATTICE_LANES);
}

static void sweep_columns(const pass_job *job, uint32_t member, uint32_t chain, uint32_t first,
                          uint32_t end)
{
    gbsi_spin_chains *c = job->chains;
    const gbsi_lattice *l = of(c)->lattice;
    gbsi_spin_sums *sums = &c->partial[(size_t)member * c->n_chains + chain];
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
        sweep.keep = c->keep;
        sweep.visits = c->visits + chain * kept_words(l, c->keep);
    }
    of(c)->sweep(&sweep);
    *sums = sweep.sums;
}

/* Sweeps columns [first, end) in the sequence of the columns of all chains. */
static void sweep_share(const pass_job *job, uint32_t member, uint64_t first, uint64_t end)
{
    const uint32_t n = n_columns_of(of(job->chains)->lattice);
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
    const gbsi_spin_chains *c = job->chains;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(job->end - job->first, job->unit, member, c->n_members, &first, &end);
    sweep_share(job, member, job->first + first, job->first + end);
}

static void run_job(pass_job *job)
{
    gbsi_spin_chains *c = job->chains;
    if (gbsi_spin_chains_shared(c)) {
        gbsi_pool_run(c->pool, run_member, job);
    } else {
        sweep_share(job, 0, job->first, job->end);
    }
}

/* Number of batches of a pass: one per colour and number of seams; if the lattice has seams, two
 * more batches that count. */
static uint32_t n_batches(const gbsi_spin_chains *c)
{
    const gbsi_lattice *l = of(c)->lattice;
    return 2 * (l->n_seams + 1 + (l->n_seams > 0));
}

/* Number of the batch that adds final states of color 0 to the visits. The next batch adds final
 * states of color 1. */
static uint32_t first_counted(const gbsi_lattice *l)
{
    return l->n_seams == 0 ? 0 : 2 * (l->n_seams + 1);
}

/* Number of adjacent columns that one part of a batch has. */
static uint64_t unit_of(const gbsi_lattice *l, uint32_t batch)
{
    const uint64_t row = l->padded / GBSI_LATTICE_LANES;
    if (l->n_seams == 0) {
        return 1;
    }
    /* sites on seams: all columns of a chain */
    return batch >= 2 && batch < first_counted(l) ? n_columns_of(l) : row;
}

static uint64_t n_parts(const gbsi_spin_chains *c, uint32_t batch, double *n_updates)
{
    const gbsi_lattice *l = of(c)->lattice;
    const uint64_t unit = unit_of(l, batch);
    *n_updates = 0.5 * l->spins.n_sites * (double)unit / n_columns_of(l);
    return (uint64_t)n_columns_of(l) * c->n_chains / unit;
}

static void run_parts(gbsi_spin_chains *c, uint64_t pass, bool count, uint32_t batch,
                      uint64_t first, uint64_t end)
{
    const gbsi_lattice *l = of(c)->lattice;
    const uint64_t unit = unit_of(l, batch);
    const uint32_t n_seams = batch / 2;
    const bool count_only = n_seams > l->n_seams;
    run_job(&(pass_job){.chains = c,
                        .pass = pass,
                        .color = batch % 2,
                        .n_seams = count_only ? 0 : n_seams,
                        .count_only = count_only,
                        .count = count && c->visits != NULL && batch >= first_counted(l),
                        .unit = unit,
                        .first = first * unit,
                        .end = end * unit});
}

static void run_batches(gbsi_spin_chains *c, uint64_t pass, bool count, uint32_t first,
                        uint32_t end)
{
    for (uint32_t batch = first; batch < end; ++batch) {
        double n_updates = 0.0;
        run_parts(c, pass, count, batch, 0, n_parts(c, batch, &n_updates));
    }
}

/* ---- visits --------------------------------------------------------------------------------- */

/* Adds to the visits the words of a line that a pass which was cut short at `part` of `batch` had
 * not added yet. */
static void count_line(gbsi_spin_chains *c, uint32_t chain, const line *at, uint32_t batch,
                       uint64_t part)
{
    const gbsi_lattice *l = of(c)->lattice;
    const uint32_t own = first_counted(l) + at->color;
    const uint64_t n_done = batch > own ? UINT64_MAX : batch < own ? 0 : part * unit_of(l, own);
    const uint64_t column =
        (uint64_t)chain * n_columns_of(l) + (uint64_t)at->y * (l->padded / GBSI_LATTICE_LANES);
    const uint32_t *words = state_of_line(c, chain, at);
    uint32_t *visits = c->visits + chain * kept_words(l, c->keep) + at->word;
    for (uint32_t x = 0; x < l->width; ++x) {
        if (column + x / GBSI_LATTICE_LANES >= n_done) {
            gbsi_spin_count(visits + x, 2 * (size_t)l->n_words, c->n_counted, words[x]);
        }
    }
}

/* After a pass that was cut short, keeps numbers of neighbours for the sites that were not updated.
 * The numbers are computed from current states. */
static void keep_rest(gbsi_spin_chains *c, uint32_t batch, uint64_t part)
{
    for (uint32_t color = batch; color < 2; ++color) {
        run_job(&(pass_job){.chains = c,
                            .color = color,
                            .count_only = true,
                            .count = true,
                            .unit = 1,
                            .first = color == batch ? part : 0,
                            .end = (uint64_t)n_columns_of(of(c)->lattice) * c->n_chains});
    }
}

static void count_rest(gbsi_spin_chains *c, uint32_t batch, uint64_t part)
{
    const gbsi_lattice *l = of(c)->lattice;
    if (c->keep == GBSI_SPIN_KEEP_NEIGHBOURS) {
        keep_rest(c, batch, part);
        return;
    }
    for (uint32_t chain = 0; chain < c->n_chains; ++chain) {
        for (uint32_t i = 0; i < n_lines_of(l); ++i) {
            const line at = line_of(l, i);
            count_line(c, chain, &at, batch, part);
        }
    }
}

typedef struct visit_job {
    gbsi_spin_chains *chains;
    size_t stride;
    uint8_t *(*bytes_of)(void *context, uint32_t chain);
    void *context;
} visit_job;

/* TOGETHER chains and TILE words of BITS bits form a tile of counts. The bytes of TOGETHER chains
 * for one site usually lie together. The sites of a word lie many rows apart, while the sites of
 * neighbouring words lie close together. For this reason, all words of a tile are read before bytes
 * are written. */
enum { TOGETHER = 16, TILE = 32, BITS = 32 };

typedef struct tile {
    uint32_t chain, n_chains, x, n_words;
    uint8_t count[TOGETHER][TILE][BITS];
} tile;

/* Stores eight bytes; compilers turn the assignments into a single store. */
static void put_bytes(uint8_t *to, uint64_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    to[2] = (uint8_t)(value >> 16);
    to[3] = (uint8_t)(value >> 24);
    to[4] = (uint8_t)(value >> 32);
    to[5] = (uint8_t)(value >> 40);
    to[6] = (uint8_t)(value >> 48);
    to[7] = (uint8_t)(value >> 56);
}

static void read_tile(const visit_job *job, const line *at, tile *t)
{
    const gbsi_spin_chains *c = job->chains;
    const gbsi_lattice *l = of(c)->lattice;
    for (uint32_t k = 0; k < t->n_chains; ++k) {
        uint32_t *visits = c->visits + (t->chain + k) * kept_words(l, c->keep) + at->word + t->x;
        for (uint32_t w = 0; w < t->n_words; ++w) {
            uint64_t count[4];
            gbsi_spin_take_counts(visits + w, 2 * (size_t)l->n_words, c->n_counted, count);
            for (uint32_t i = 0; i < 4; ++i) {
                put_bytes(t->count[k][w] + (size_t)8 * i, count[i]);
            }
        }
    }
}

static void add_tile(const visit_job *job, const line *at, uint32_t n_bits, const tile *t)
{
    const gbsi_lattice *l = of(job->chains)->lattice;
    const size_t first = first_site(l, at, t->x);
    for (uint32_t k = 0; k < t->n_chains; ++k) {
        uint8_t *bytes = job->bytes_of(job->context, t->chain + k);
        for (uint32_t b = 0; b < n_bits; ++b) {
            uint8_t *site = bytes + (first + b * site_step(l)) * job->stride;
            for (uint32_t w = 0; w < t->n_words; ++w) {
                site[2 * w * job->stride] =
                    (uint8_t)(site[2 * w * job->stride] + t->count[k][w][b]);
            }
        }
    }
}

static void take_line(const visit_job *job, uint32_t i, tile *t)
{
    const gbsi_lattice *l = of(job->chains)->lattice;
    const line at = line_of(l, i);
    uint32_t n = l->width; /* number of words with sites */
    while (n > 0 && n_bits_of(l, &at, n - 1) == 0) {
        --n;
    }
    for (t->x = 0; t->x < n; t->x += TILE) {
        t->n_words = n - t->x < TILE ? n - t->x : TILE;
        read_tile(job, &at, t);
        add_tile(job, &at, n_bits_of(l, &at, t->x), t);
    }
}

static void take_member(void *context, uint32_t member)
{
    const visit_job *job = context;
    const gbsi_spin_chains *c = job->chains;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(n_lines_of(of(c)->lattice), 1, member, c->n_members, &first, &end);
    tile t = {.chain = 0};
    for (; t.chain < c->n_chains; t.chain += TOGETHER) {
        const uint32_t left = c->n_chains - t.chain;
        t.n_chains = left < TOGETHER ? left : TOGETHER;
        for (uint64_t i = first; i < end; ++i) {
            take_line(job, (uint32_t)i, &t);
        }
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

/* ---- averages ------------------------------------------------------------------------------- */

static void average(const gbsi_spin_chains *c, uint32_t chain, uint32_t first, uint32_t n,
                    float *sum)
{
    const lattice_chains *own = of(c);
    const uint32_t *kept = c->visits + chain * kept_words(own->lattice, c->keep);
    const uint32_t end = first + n;
    for (uint32_t slot = first; slot < end;) {
        if (slot % GBSI_LATTICE_ROW_SLOTS == 0 && end - slot >= GBSI_LATTICE_ROW_SLOTS) {
            own->average(&own->averages, kept, c->n_counted, slot / GBSI_LATTICE_ROW_SLOTS,
                         sum + (slot - first));
            slot += GBSI_LATTICE_ROW_SLOTS;
        } else {
            sum[slot - first] = gbsi_lattice_average_slot(&own->averages, kept, c->n_counted, slot);
            ++slot;
        }
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

size_t gbsi_lattice_chains_bytes(const gbsi_lattice *lattice, uint32_t n_chains, uint32_t n_threads,
                                 gbsi_spin_keep keep)
{
    return gbsi_spin_chains_bytes(n_chains * lattice->state_words,
                                  n_chains * kept_words(lattice, keep), n_chains, n_threads);
}

gbs_status gbsi_lattice_chains_new(const gbsi_lattice *lattice, uint32_t n_chains, uint64_t seed,
                                   gbsi_spin_keep keep, gbsi_simd level, gbsi_pool *pool,
                                   gbsi_spin_chains **out, gbs_error *err)
{
    static const gbsi_spin_form form = {.set = set_chain,
                                        .get = get_chain,
                                        .n_batches = n_batches,
                                        .run = run_batches,
                                        .n_parts = n_parts,
                                        .run_parts = run_parts,
                                        .count_rest = count_rest,
                                        .take_visits = take_visits,
                                        .average = average};
    size_t n_state = 0;
    size_t n_visits = 0;
    if (!gbsi_mul_size(lattice->state_words, n_chains, &n_state) ||
        !gbsi_mul_size(kept_words(lattice, keep), n_chains, &n_visits)) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "lattice: its size exceeds the address space of this machine");
    }
    const gbs_status status =
        gbsi_spin_chains_new(&form, sizeof(lattice_chains), &lattice->spins, n_state, n_visits,
                             n_chains, seed, pool, out, err);
    if (status == GBS_OK) {
        lattice_chains *chains = (lattice_chains *)*out;
        chains->lattice = lattice;
        chains->sweep = sweep_of(level);
        chains->average = gbsi_lattice_average_of(level);
        chains->base.keep = keep;
        if (keep == GBSI_SPIN_KEEP_NEIGHBOURS) {
            chains->averages = gbsi_lattice_averages_of(lattice);
        }
    }
    return status;
}
