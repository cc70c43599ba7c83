/* SPDX-License-Identifier: Apache-2.0 */
/* When all batches are used, neighbouring batches are merged in pairs: the two sums are added, and
 * the last value of the later batch is kept. Values are added in time order, and chains in
 * ascending order. */
#include "estimate/trace.h"

#include <math.h>

#include "base/memory.h"
#include "estimate/estimate.h"
#include "simd/math.h"

/* NUMBERS: total length of the arrays for one series of one chain */
enum { BATCHES = 128, LEAST_LENGTH = 4, NUMBERS = 3 + 2 * BATCHES };

struct gbsi_trace {
    uint32_t n_chains, n_series;
    uint64_t n_passes, length; /* number of passes so far, and number of passes of a batch */
    uint32_t n_closed;         /* number of closed batches */
    uint64_t n_open;           /* number of passes in the open batch */
    double *total;             /* [series][chain]; the arrays below follow in the same allocation */
    double *open;              /* [series][chain] sum over the open batch */
    double *now;               /* [series][chain] value of this pass */
    /* [series][chain][BATCHES] sum and last value of each closed batch */
    double *sum, *last;
};

gbs_status gbsi_trace_new(uint32_t n_chains, uint32_t n_series, gbsi_trace **out, gbs_error *err)
{
    const size_t n = (size_t)n_chains * n_series;
    gbsi_trace *t = gbsi_alloc_zero(sizeof *t);
    GBSI_PASS(GBSI_HAVE(err, "traces", t));
    *t = (gbsi_trace){.n_chains = n_chains, .n_series = n_series, .length = 1};
    t->total = gbsi_alloc_array_zero(n, NUMBERS * sizeof(double));
    if (t->total == NULL) {
        gbsi_trace_free(t);
        return gbsi_no_memory(err, "traces", n * NUMBERS * sizeof(double));
    }
    t->open = t->total + n;
    t->now = t->open + n;
    t->sum = t->now + n;
    t->last = t->sum + n * BATCHES;
    *out = t;
    return GBS_OK;
}

uint64_t gbsi_trace_bytes(uint32_t n_chains, uint32_t n_series)
{
    return sizeof(gbsi_trace) + (uint64_t)n_chains * n_series * NUMBERS * sizeof(double);
}

void gbsi_trace_free(gbsi_trace *t)
{
    if (t != NULL) {
        GBSI_FREE(t->total, t);
    }
}

void gbsi_trace_put(gbsi_trace *t, uint32_t chain, const double *value)
{
    for (uint32_t s = 0; s < t->n_series; ++s) {
        const size_t i = (size_t)s * t->n_chains + chain;
        t->now[i] = value[s];
        t->total[i] += value[s];
        t->open[i] += value[s];
    }
}

static void merge_batches(gbsi_trace *t)
{
    const size_t n = (size_t)t->n_chains * t->n_series * BATCHES;
    for (size_t i = 0; i < n; i += BATCHES) {
        for (uint32_t b = 0; b < BATCHES / 2; ++b) {
            t->sum[i + b] = t->sum[i + 2 * (size_t)b] + t->sum[i + 2 * (size_t)b + 1];
            t->last[i + b] = t->last[i + 2 * (size_t)b + 1];
        }
    }
    t->n_closed = BATCHES / 2;
    t->length *= 2;
}

void gbsi_trace_end_pass(gbsi_trace *t)
{
    const size_t n = (size_t)t->n_chains * t->n_series;
    ++t->n_passes;
    if (++t->n_open < t->length) {
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        t->sum[i * BATCHES + t->n_closed] = t->open[i];
        t->last[i * BATCHES + t->n_closed] = t->now[i];
        t->open[i] = 0.0;
    }
    t->n_open = 0;
    if (++t->n_closed == BATCHES) {
        merge_batches(t);
    }
}

/* ---- saving and loading ---------------------------------------------------------------------- */

static size_t n_numbers(const gbsi_trace *t)
{
    return (size_t)t->n_chains * t->n_series * NUMBERS;
}

/* Computes the numbers of closed batches and of passes in the open batch from the number of passes.
 */
static void set_passes(gbsi_trace *t, uint64_t n_passes)
{
    t->n_passes = n_passes;
    t->length = 1;
    while (n_passes / t->length >= BATCHES) {
        t->length *= 2;
    }
    t->n_closed = (uint32_t)(n_passes / t->length);
    t->n_open = n_passes % t->length;
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_trace *t = object;
    const uint64_t head[] = {t->n_chains, t->n_series, t->n_passes};
    GBSI_PASS(gbsi_put_numbers(sink, head, 3, sizeof head[0], err));
    return gbsi_put_numbers(sink, t->total, n_numbers(t), sizeof *t->total, err);
}

gbs_status gbsi_trace_save(const gbsi_trace *t, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, t, save, err);
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbsi_trace *t = object;
    const uint64_t shape[] = {t->n_chains, t->n_series};
    uint64_t n_passes = 0;
    GBSI_PASS(gbsi_take_expected(source, shape, 2, "traces", err));
    GBSI_PASS(gbsi_take_numbers(source, &n_passes, 1, sizeof n_passes, err));
    GBSI_PASS(gbsi_take_numbers(source, t->total, n_numbers(t), sizeof *t->total, err));
    set_passes(t, n_passes);
    return GBS_OK;
}

gbs_status gbsi_trace_load(gbsi_trace *t, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, t, load, "traces", err);
}

/* ---- summaries ------------------------------------------------------------------------------- */

/* Number of batches of each chain after merging, from which errors are computed. Batches are longer
 * if there are many chains. */
static uint32_t batches_wanted(uint32_t n_chains)
{
    return n_chains >= 8 ? 16 : (n_chains >= 2 ? 32 : 64);
}

/* Mean over `merged` consecutive batches of a chain, from batch `first` on. */
static double batch_mean(const gbsi_trace *t, size_t i, uint32_t first, uint32_t merged)
{
    double sum = 0.0;
    for (uint32_t b = first; b < first + merged; ++b) {
        sum += t->sum[i * BATCHES + b];
    }
    return sum / ((double)merged * (double)t->length);
}

/* Standard error by batch means (Flegal & Jones (2010), eq. 6), with the batches of all chains
 * pooled about the common mean. */
static double error_of(const gbsi_trace *t, uint32_t series)
{
    const uint32_t wanted = batches_wanted(t->n_chains);
    const uint32_t merged = t->n_closed / wanted;
    if (merged == 0 || merged * t->length < LEAST_LENGTH) {
        return NAN;
    }
    const uint32_t per_chain = t->n_closed / merged;
    const double n = (double)per_chain * t->n_chains;
    const double shift = batch_mean(t, (size_t)series * t->n_chains, 0, merged);
    double sum = 0.0;
    double square = 0.0;
    for (uint32_t chain = 0; chain < t->n_chains; ++chain) {
        for (uint32_t b = 0; b < per_chain; ++b) {
            const size_t i = (size_t)series * t->n_chains + chain;
            const double d = batch_mean(t, i, b * merged, merged) - shift;
            sum += d;
            square += d * d;
        }
    }
    const double squares = square - sum * sum / n;
    const double variance = squares > 0.0 ? squares / (n - 1.0) : 0.0;
    const double n_passes = (double)t->n_passes * t->n_chains;
    return gbsi_sqrt(variance * (double)merged * (double)t->length / n_passes);
}

gbsi_trace_batches gbsi_trace_batches_of(const gbsi_trace *t, uint32_t wanted)
{
    const uint32_t merged = t->n_closed / wanted;
    return (gbsi_trace_batches){.per_chain = merged == 0 ? 0 : t->n_closed / merged,
                                .merged = merged,
                                .length = merged * t->length};
}

double gbsi_trace_batch(const gbsi_trace *t, const gbsi_trace_batches *batches, uint32_t series,
                        uint32_t chain, uint32_t b)
{
    const size_t i = ((size_t)series * t->n_chains + chain) * BATCHES;
    double sum = 0.0;
    for (uint32_t k = b * batches->merged; k < (b + 1) * batches->merged; ++k) {
        sum += t->sum[i + k];
    }
    return sum;
}

uint64_t gbsi_trace_n_passes(const gbsi_trace *t)
{
    return t->n_passes;
}

gbsi_trace_summary gbsi_trace_summarise(const gbsi_trace *t, uint32_t series)
{
    gbsi_trace_summary found = {NAN, NAN, NAN};
    const size_t first = (size_t)series * t->n_chains;
    if (t->n_passes == 0) {
        return found;
    }
    double sum = 0.0;
    for (uint32_t chain = 0; chain < t->n_chains; ++chain) {
        sum += t->total[first + chain];
    }
    found.mean = sum / ((double)t->n_passes * t->n_chains);
    found.mcse = error_of(t, series);
    if (t->n_closed >= 4) {
        found.rhat = gbsi_split_rhat(t->last + first * BATCHES, t->n_chains, t->n_closed, BATCHES);
    }
    return found;
}
