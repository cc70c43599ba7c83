/* SPDX-License-Identifier: Apache-2.0 */
/* One thread adds the conditionals of a site over chains, in the order of the chains. Results
 * therefore do not depend on which thread updates which rows. */
#include "levels/levels_chains.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/estimate.h"

/* Number of bytes of margin before half a row, which a load of left neighbours may read. */
#define MARGIN 16u

#define DECLARE(set, SET)                                   \
    void gbsi_levels_update_##set(const gbsi_levels_row *); \
    double gbsi_levels_log_density_##set(const gbsi_levels_row *);
#define ROW(set, SET) [GBSI_SIMD_##SET] = {gbsi_levels_update_##set, gbsi_levels_log_density_##set},

GBSI_SIMD_SETS(DECLARE)

static const gbsi_levels_functions *functions_of(gbsi_simd level)
{
    static const gbsi_levels_functions functions[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    assert(level < GBSI_N_SIMD && functions[level].update != NULL);
    return &functions[level];
}

/* ---- life ------------------------------------------------------------------------------------ */

static size_t half_bytes(const gbsi_levels *l)
{
    return l->half + (size_t)MARGIN;
}

static size_t chain_bytes(const gbsi_levels *l)
{
    return 2 * (size_t)l->height * half_bytes(l) + MARGIN;
}

static size_t n_cells(const gbsi_levels *l)
{
    return (size_t)l->n_blocks * l->n_levels * GBSI_LEVELS_BLOCK;
}

/* Largest number of floats that the conditionals of the watched blocks in one half of a row take.
 */
static size_t most_watched(const gbsi_levels *l, uint32_t n_chains)
{
    uint32_t most = 0;
    for (uint32_t half = 0; half < 2 * l->height; ++half) {
        const uint32_t n = l->watched_of_half[half + 1] - l->watched_of_half[half];
        most = n > most ? n : most;
    }
    return (size_t)most * n_chains * l->n_levels * GBSI_LEVELS_BLOCK;
}

uint64_t gbsi_levels_chains_bytes(const gbsi_levels *l, uint32_t n_chains, uint32_t n_threads,
                                  gbsi_levels_keeping keeping)
{
    uint64_t bytes = (uint64_t)n_chains * chain_bytes(l);
    if (keeping.keeps) {
        bytes += (keeping.long_run ? 2 : 1) * (uint64_t)n_cells(l) * sizeof(float);
        bytes += (uint64_t)n_threads * most_watched(l, n_chains) * sizeof(float);
    }
    return bytes;
}

static gbs_status take_arrays(gbsi_levels_chains *c, gbsi_levels_keeping keeping, gbs_error *err)
{
    const size_t n = n_cells(c->levels);
    c->state = gbsi_alloc_lanes(c->chain_bytes, c->n_chains);
    c->sum = keeping.keeps ? gbsi_alloc_lanes(n, sizeof *c->sum) : NULL;
    c->total = keeping.keeps && keeping.long_run ? gbsi_alloc_lanes(n, sizeof *c->total) : NULL;
    c->n_watched = keeping.keeps ? most_watched(c->levels, c->n_chains) : 0;
    c->watched = gbsi_alloc_lanes(c->n_watched * c->n_members, sizeof *c->watched);
    if (c->state == NULL || (keeping.keeps && c->sum == NULL) ||
        (keeping.keeps && keeping.long_run && c->total == NULL) || c->watched == NULL) {
        return gbsi_no_memory(
            err, "picture",
            gbsi_levels_chains_bytes(c->levels, c->n_chains, c->n_members, keeping));
    }
    return GBS_OK;
}

gbs_status gbsi_levels_chains_new(const gbsi_levels *levels, uint32_t n_chains, uint64_t seed,
                                  gbsi_levels_keeping keeping, gbsi_simd level, gbsi_pool *pool,
                                  gbsi_levels_chains **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_levels_chains *c = gbsi_alloc_zero(sizeof *c);
    GBSI_PASS(GBSI_HAVE(err, "picture", c));
    c->levels = levels;
    c->functions = functions_of(level);
    c->words = gbsi_words_of(level);
    c->pool = pool;
    c->seed = seed;
    c->n_chains = n_chains;
    c->n_members = gbsi_pool_size(pool);
    c->half_bytes = half_bytes(levels);
    c->chain_bytes = chain_bytes(levels);
    GBSI_TRY(take_arrays(c, keeping, err));
    *out = c;
    c = NULL;
cleanup:
    gbsi_levels_chains_free(c);
    return status;
}

void gbsi_levels_chains_free(gbsi_levels_chains *c)
{
    if (c == NULL) {
        return;
    }
    GBSI_FREE(c->state, c->sum, c->total, c->watched, c);
}

/* ---- states ---------------------------------------------------------------------------------- */

static uint8_t *half_of(const gbsi_levels_chains *c, uint32_t chain, uint32_t half)
{
    return c->state + chain * c->chain_bytes + half * c->half_bytes + MARGIN;
}

void gbsi_levels_chains_set(gbsi_levels_chains *c, uint32_t chain, const uint32_t *x)
{
    const gbsi_levels *l = c->levels;
    for (uint32_t half = 0; half < 2 * l->height; ++half) {
        const uint32_t *row = x + (size_t)(half / 2) * l->width + half % 2;
        uint8_t *state = half_of(c, chain, half);
        for (uint32_t i = 0; i < gbsi_levels_sites_of(l, half); ++i) {
            state[i] = (uint8_t)row[2 * i];
        }
    }
}

void gbsi_levels_chains_get(const gbsi_levels_chains *c, uint32_t chain, uint32_t *x)
{
    const gbsi_levels *l = c->levels;
    for (uint32_t half = 0; half < 2 * l->height; ++half) {
        uint32_t *row = x + (size_t)(half / 2) * l->width + half % 2;
        const uint8_t *state = half_of(c, chain, half);
        for (uint32_t i = 0; i < gbsi_levels_sites_of(l, half); ++i) {
            row[2 * i] = state[i];
        }
    }
}

static uint8_t level_below(const uint32_t *start, uint32_t word)
{
    uint8_t a = 0;
    while (word > start[a]) {
        ++a;
    }
    return a;
}

static void scatter_half(gbsi_levels_chains *c, uint32_t chain, uint32_t half)
{
    const gbsi_levels *l = c->levels;
    const uint16_t *value = l->value + (size_t)half * l->half;
    uint8_t *state = half_of(c, chain, half);
    for (uint32_t i = 0; i < l->half; i += 4) {
        uint32_t word[4];
        gbsi_philox(c->seed, chain, 0, (half * l->half + i) / 4, GBSI_PURPOSE_START, word);
        for (uint32_t k = 0; k < 4; ++k) {
            state[i + k] = level_below(l->start + (size_t)value[i + k] * l->n_levels, word[k]);
        }
    }
}

static void scatter_share(void *context, uint32_t member)
{
    gbsi_levels_chains *c = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(2 * (uint64_t)c->levels->height, 1, member, c->n_members, &first, &end);
    for (uint32_t chain = 0; chain < c->n_chains; ++chain) {
        for (uint64_t half = first; half < end; ++half) {
            scatter_half(c, chain, (uint32_t)half);
        }
    }
}

void gbsi_levels_chains_scatter(gbsi_levels_chains *c)
{
    gbsi_pool_run(c->pool, scatter_share, c);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Finds the neighbours of the sites of half a row, in the order of rows and columns. The left
 * neighbour of a site is in the other half of the site's row. In its half, the left neighbour has
 * the index of the site if the site's column is odd, and the index before if the column is even.
 * The right neighbour is at the next index after the left neighbour. Weights of neighbours outside
 * the picture are 0. */
static void find_neighbours(const gbsi_levels_chains *c, uint32_t half, gbsi_levels_row *row)
{
    const gbsi_levels *l = c->levels;
    const uint32_t parity = half % 2;
    const ptrdiff_t line = 2 * (ptrdiff_t)c->half_bytes;
    const ptrdiff_t other = parity == 0 ? (ptrdiff_t)c->half_bytes : -(ptrdiff_t)c->half_bytes;
    const ptrdiff_t left = other + (parity == 0 ? -1 : 0);
    const ptrdiff_t right = left + 1;
    const struct {
        int row;
        ptrdiff_t at;
        gbsi_levels_weight weight;
    } all[GBSI_LEVELS_NEIGHBOURS] = {{-1, left - line, GBSI_LEVELS_DIAGONAL_LEFT},
                                     {-1, -line, GBSI_LEVELS_BESIDE},
                                     {-1, right - line, GBSI_LEVELS_DIAGONAL_RIGHT},
                                     {0, left, GBSI_LEVELS_LEFT},
                                     {0, right, GBSI_LEVELS_RIGHT},
                                     {1, left + line, GBSI_LEVELS_DIAGONAL_LEFT},
                                     {1, line, GBSI_LEVELS_BESIDE},
                                     {1, right + line, GBSI_LEVELS_DIAGONAL_RIGHT}};
    uint32_t n = 0;
    for (uint32_t k = 0; k < GBSI_LEVELS_NEIGHBOURS; ++k) {
        const bool diagonal = all[k].weight >= GBSI_LEVELS_DIAGONAL_LEFT;
        const bool is_there =
            (all[k].row >= 0 || half >= 2) && (all[k].row <= 0 || half + 2 < 2 * l->height);
        if (diagonal && l->n_neighbours == 4) {
            continue;
        }
        row->neighbour[n++] = (gbsi_levels_neighbour){
            is_there ? all[k].at : 0,
            gbsi_levels_weights(l, parity, is_there ? all[k].weight : GBSI_LEVELS_NONE)};
    }
}

static gbsi_levels_row row_of(const gbsi_levels_chains *c, uint32_t chain, uint32_t half)
{
    const gbsi_levels *l = c->levels;
    const uint32_t sites =
        (l->half + GBSI_LEVELS_WORDS - 1) / GBSI_LEVELS_WORDS * GBSI_LEVELS_WORDS;
    gbsi_levels_row row = {.levels = l,
                           .value = l->value + (size_t)half * l->half,
                           .state = half_of(c, chain, half),
                           .stride = c->chain_bytes,
                           .n_chains = c->n_chains,
                           .words = c->words,
                           .seed = c->seed,
                           .first_word = half * (sites / 4),
                           .watched = l->watched + l->watched_of_half[half],
                           .first_block = half * (l->half / GBSI_LEVELS_BLOCK),
                           .n_watched = l->watched_of_half[half + 1] - l->watched_of_half[half]};
    find_neighbours(c, half, &row);
    return row;
}

/* Adds the conditionals of watched sites to the estimate, chain by chain. */
static void tell(const gbsi_levels_chains *c, const gbsi_levels_row *row, uint32_t half,
                 struct gbsi_estimate *estimate)
{
    const gbsi_levels *l = c->levels;
    const size_t cells = (size_t)l->n_levels * GBSI_LEVELS_BLOCK;
    for (uint32_t i = 0; i < row->n_watched; ++i) {
        const uint32_t w = l->watched_of_half[half] + i;
        gbsi_tile tile = {.value_bytes = 1,
                          .lanes = 1,
                          .arity = l->n_levels,
                          .n_places = l->slot_of_watched[w + 1] - l->slot_of_watched[w],
                          .n_rows = 1,
                          .first_slot = l->slot_of_watched[w],
                          .contiguous = 1,
                          .pass = row->pass};
        for (uint32_t chain = 0; chain < c->n_chains; ++chain) {
            tile.p = row->p + ((size_t)i * c->n_chains + chain) * cells;
            tile.chain = chain;
            gbsi_estimate_tile(estimate, chain, &tile);
        }
    }
}

typedef struct rows_job {
    gbsi_levels_chains *chains;
    uint64_t pass;
    uint32_t color, first, end;
    struct gbsi_estimate *estimate;
} rows_job;

static void run_rows(void *context, uint32_t member)
{
    const rows_job *job = context;
    gbsi_levels_chains *c = job->chains;
    const gbsi_levels *l = c->levels;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(job->end - job->first, 1, member, c->n_members, &first, &end);
    for (uint64_t i = job->first + first; i < job->first + end; ++i) {
        const uint32_t half = gbsi_levels_half_of(l, job->color, (uint32_t)i);
        gbsi_levels_row row = row_of(c, 0, half);
        row.pass = job->pass;
        if (job->estimate != NULL) {
            row.sum = c->sum + (size_t)half * l->half * l->n_levels;
            row.p = c->watched + member * c->n_watched;
        }
        c->functions->update(&row);
        if (job->estimate != NULL) {
            tell(c, &row, half, job->estimate);
        }
    }
}

void gbsi_levels_chains_run(gbsi_levels_chains *c, uint64_t pass, uint32_t color, uint32_t first,
                            uint32_t end, struct gbsi_estimate *estimate)
{
    rows_job job = {c, pass, color, first, end, estimate};
    gbsi_pool_run(c->pool, run_rows, &job);
}

void gbsi_levels_chains_sweep(gbsi_levels_chains *c, uint64_t pass)
{
    for (uint32_t color = 0; color < c->levels->n_colors; ++color) {
        gbsi_levels_chains_run(c, pass, color, 0, gbsi_levels_rows_of(c->levels, color), NULL);
    }
}

static void add_to_totals(void *context, uint32_t member)
{
    gbsi_levels_chains *c = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(n_cells(c->levels), GBSI_LEVELS_BLOCK, member, c->n_members, &first, &end);
    for (uint64_t i = first; i < end; ++i) {
        c->total[i] += c->sum[i];
        c->sum[i] = 0.0F;
    }
}

void gbsi_levels_chains_kept(gbsi_levels_chains *c)
{
    ++c->n_kept;
    if (c->total != NULL && c->n_kept % GBSI_LEVELS_PASSES == 0) {
        gbsi_pool_run(c->pool, add_to_totals, c);
    }
}

double gbsi_levels_chains_log_density(const gbsi_levels_chains *c, uint32_t chain)
{
    double sum = c->levels->log_constant;
    for (uint32_t half = 0; half < 2 * c->levels->height; ++half) {
        const gbsi_levels_row row = row_of(c, chain, half);
        sum += c->functions->log_density(&row);
    }
    return sum;
}
