/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/levels_chains.h"

#include "base/memory.h"
#include "estimate/estimate.h"

/* Nanoseconds that a core takes for one level of one site in an update, from rows `levels` of
 * docs/performance.md. */
#define LEVEL 0.4

/* Number of operations between two looks at the watch. */
#define BETWEEN_LOOKS 3.0e7

typedef struct levels_pass {
    gbsi_levels_chains *chains;
    double between_looks;
    uint64_t n_passes;
    /* the pass in progress */
    gbsi_pass_job job;
    uint32_t next_color;
    bool is_cut;
    /* where a pass was cut short: in this colour, after this number of rows of the colour */
    uint32_t cut_color, cut_row;
} levels_pass;

static double operations_of(const gbsi_levels *l, uint32_t n_chains)
{
    return LEVEL * l->n_levels * l->width * l->height * n_chains;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static gbs_status begin(void *state, const gbsi_pass_job *job, gbs_error *err)
{
    levels_pass *b = state;
    (void)err;
    b->job = *job;
    b->next_color = 0;
    b->is_cut = false;
    return GBS_OK;
}

/* Updates the sites of a colour some rows at a time, and asks the watch between them. */
static void run_color(levels_pass *b)
{
    const gbsi_levels *l = b->chains->levels;
    const uint32_t color = b->next_color++;
    const uint32_t n = gbsi_levels_rows_of(l, color);
    const double row = operations_of(l, b->chains->n_chains) / (2.0 * l->height);
    const double most = b->between_looks / row;
    const uint32_t step = most < 1.0 ? 1 : most < (double)n ? (uint32_t)most : n;
    for (uint32_t first = 0; first < n && !b->is_cut;) {
        const uint32_t end = n - first < step ? n : first + step;
        gbsi_levels_chains_run(b->chains, b->job.pass, color, first, end, b->job.estimate);
        const bool more = end < n || b->next_color < l->n_colors;
        b->is_cut = more && gbsi_watch_spend(b->job.watch, (uint64_t)(row * (end - first)));
        b->cut_color = color;
        b->cut_row = end;
        first = end;
    }
}

static gbs_status batch(void *state, uint32_t most, bool *more, gbs_error *err)
{
    levels_pass *b = state;
    const uint32_t n = b->chains->levels->n_colors;
    (void)err;
    for (uint32_t i = 0; i < most && b->next_color < n && !b->is_cut; ++i) {
        run_color(b);
    }
    *more = b->next_color < n && !b->is_cut;
    return GBS_OK;
}

/* Whether the pass that was cut short updated this half of a row. */
static bool reached(const levels_pass *b, uint32_t half)
{
    uint32_t i = 0;
    const uint32_t color = gbsi_levels_color_of(b->chains->levels, half, &i);
    return color < b->cut_color || (color == b->cut_color && i < b->cut_row);
}

static void tell_cut(const levels_pass *b)
{
    const gbsi_levels *l = b->chains->levels;
    for (uint32_t half = 0; half < 2 * l->height; ++half) {
        const uint32_t first = l->slot_of_watched[l->watched_of_half[half]];
        const uint32_t end = l->slot_of_watched[l->watched_of_half[half + 1]];
        for (uint32_t slot = first; slot < end && reached(b, half); ++slot) {
            gbsi_estimate_cut(b->job.estimate, slot);
        }
    }
}

static gbs_status end(void *state, gbs_error *err)
{
    levels_pass *b = state;
    (void)err;
    ++b->n_passes;
    if (b->job.estimate != NULL && b->is_cut) {
        tell_cut(b);
    } else if (b->job.estimate != NULL) {
        gbsi_levels_chains_kept(b->chains);
    }
    return b->is_cut ? GBS_STOPPED : GBS_OK;
}

static uint64_t n_updates(const void *state)
{
    const levels_pass *b = state;
    const gbsi_levels *l = b->chains->levels;
    uint64_t n = 0;
    for (uint32_t half = 0; half < 2 * l->height && b->is_cut; ++half) {
        n += reached(b, half) ? gbsi_levels_sites_of(l, half) : 0;
    }
    return b->is_cut ? n : (uint64_t)l->width * l->height;
}

static double operations(void *state, uint32_t n_chains)
{
    const levels_pass *b = state;
    return operations_of(b->chains->levels, n_chains) * (double)b->n_passes;
}

static double least_operations(const gbsi_pass_setting *setting)
{
    return operations_of(setting->compiled, setting->n_chains);
}

void gbsi_levels_look_every(void *state, double between_looks)
{
    ((levels_pass *)state)->between_looks = between_looks;
}

/* ---- states and answers ---------------------------------------------------------------------- */

static void set(void *state, uint32_t chain, const uint32_t *x)
{
    gbsi_levels_chains_set(((levels_pass *)state)->chains, chain, x);
}

static void get(const void *state, uint32_t chain, uint32_t *x)
{
    gbsi_levels_chains_get(((const levels_pass *)state)->chains, chain, x);
}

static void scatter(void *state)
{
    gbsi_levels_chains_scatter(((levels_pass *)state)->chains);
}

static double log_density(const void *state, uint32_t chain)
{
    return gbsi_levels_chains_log_density(((const levels_pass *)state)->chains, chain);
}

void gbsi_levels_marginal(const void *state, uint32_t site, double *p)
{
    const levels_pass *b = state;
    const gbsi_levels_chains *c = b->chains;
    const gbsi_levels *l = c->levels;
    const gbsi_levels_place at = gbsi_levels_locate(l, site);
    const uint64_t cut = b->is_cut && b->job.estimate != NULL && reached(b, at.half);
    const double n = (double)(c->n_kept + cut) * c->n_chains;
    const size_t block = at.half * (l->half / GBSI_LEVELS_BLOCK) + at.index / GBSI_LEVELS_BLOCK;
    size_t cell = block * l->n_levels * GBSI_LEVELS_BLOCK + at.index % GBSI_LEVELS_BLOCK;
    for (uint32_t a = 0; a < l->n_levels; ++a, cell += GBSI_LEVELS_BLOCK) {
        const double sum = (double)c->sum[cell];
        p[a] = (c->total == NULL ? sum : sum + (double)c->total[cell]) / n;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static gbsi_levels_keeping keeping_of(const gbs_run_options *o)
{
    return (gbsi_levels_keeping){.keeps = true,
                                 .long_run = o->sweeps == 0 || o->sweeps > GBSI_LEVELS_PASSES};
}

static uint64_t bytes(const gbsi_pass_setting *s)
{
    return gbsi_levels_chains_bytes(s->compiled, s->n_chains, s->n_threads, keeping_of(s->options));
}

static void free_pass(void *state)
{
    levels_pass *b = state;
    if (b != NULL) {
        gbsi_levels_chains_free(b->chains);
        gbsi_free(b);
    }
}

static gbs_status prepare(const gbsi_pass_setting *s, void **state, gbs_error *err)
{
    levels_pass *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "picture", b));
    b->between_looks = BETWEEN_LOOKS;
    *state = b;
    return gbsi_levels_chains_new(s->compiled, s->n_chains, s->options->seed,
                                  keeping_of(s->options), s->level, s->pool, &b->chains, err);
}

const gbsi_pass gbsi_pass_levels = {.name = "levels",
                                    .traits = GBSI_PASS_OWNS,
                                    .bytes = bytes,
                                    .prepare = prepare,
                                    .begin = begin,
                                    .batch = batch,
                                    .end = end,
                                    .n_updates = n_updates,
                                    .operations = operations,
                                    .least_operations = least_operations,
                                    .set = set,
                                    .get = get,
                                    .scatter = scatter,
                                    .log_density = log_density,
                                    .free = free_pass};
