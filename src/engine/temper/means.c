/* SPDX-License-Identifier: Apache-2.0 */
#include "temper/means.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

#define LEAST_BATCHES 4u /* least number of batches for a standard error */
#define FULL_WINDOW   12u

uint64_t gbsi_means_bytes(uint32_t n_ladders, size_t n_cells)
{
    return sizeof(gbsi_means) +
           (uint64_t)GBSI_MOST_BATCHES * n_ladders * (n_cells + 2) * sizeof(uint64_t);
}

gbs_status gbsi_means_new(uint32_t n_ladders, size_t n_cells, gbsi_means **means, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n_rows = (size_t)GBSI_MOST_BATCHES * n_ladders;
    gbsi_means *m = gbsi_alloc_zero(sizeof *m);
    GBSI_PASS(GBSI_HAVE(err, "estimates", m));
    m->n_ladders = n_ladders;
    m->n_draws = n_ladders;
    m->n_cells = n_cells;
    m->length = 1;
    m->sum = n_cells > SIZE_MAX / n_rows ? NULL
                                         : gbsi_alloc_array_zero(n_rows * n_cells, sizeof *m->sum);
    m->weight = gbsi_alloc_array_zero(n_rows, sizeof *m->weight);
    m->trips = gbsi_alloc_array_zero(n_rows, sizeof *m->trips);
    GBSI_TRY(GBSI_HAVE(err, "estimates", m->sum, m->weight, m->trips));
    *means = m;
    m = NULL;
cleanup:
    gbsi_means_free(m);
    return status;
}

void gbsi_means_free(gbsi_means *means)
{
    if (means != NULL) {
        GBSI_FREE(means->sum, means->weight, means->trips, means);
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

static uint64_t *row(const gbsi_means *m, uint32_t batch, uint32_t ladder)
{
    return m->sum + ((size_t)batch * m->n_ladders + ladder) * m->n_cells;
}

uint64_t *gbsi_means_row(gbsi_means *m, uint32_t ladder)
{
    return row(m, m->n_full, ladder);
}

/* Moves batch `from` to batch `to`, or adds batch `from` to batch `to` if `add` is set. */
static void carry(gbsi_means *m, uint32_t to, uint32_t from, bool add)
{
    const size_t n = m->n_ladders * m->n_cells;
    uint64_t *a = row(m, to, 0);
    const uint64_t *b = row(m, from, 0);
    for (size_t i = 0; i < n; ++i) {
        a[i] = (add ? a[i] : 0) + b[i];
    }
    for (uint32_t r = 0; r < m->n_ladders; ++r) {
        const size_t at = (size_t)to * m->n_ladders + r;
        const size_t of = (size_t)from * m->n_ladders + r;
        m->weight[at] = (add ? m->weight[at] : 0) + m->weight[of];
        m->trips[at] = (add ? m->trips[at] : 0) + m->trips[of];
    }
}

/* Zeroes all batches from number n on. */
static void clear_from(gbsi_means *m, uint32_t n)
{
    const size_t kept = (size_t)n * m->n_ladders;
    const size_t rows = (size_t)GBSI_MOST_BATCHES * m->n_ladders - kept;
    memset(m->sum + kept * m->n_cells, 0, rows * m->n_cells * sizeof *m->sum);
    memset(m->weight + kept, 0, rows * sizeof *m->weight);
    memset(m->trips + kept, 0, rows * sizeof *m->trips);
    m->n_full = n;
}

static void merge(gbsi_means *m)
{
    for (uint32_t b = 0; b < GBSI_MOST_BATCHES / 2; ++b) {
        carry(m, b, 2 * b, false);
        carry(m, b, 2 * b + 1, true);
    }
    clear_from(m, GBSI_MOST_BATCHES / 2);
    m->length *= 2;
}

void gbsi_means_end(gbsi_means *m, const uint64_t *counted, const uint64_t *trips)
{
    const size_t at = (size_t)m->n_full * m->n_ladders;
    for (uint32_t r = 0; r < m->n_ladders; ++r) {
        m->weight[at + r] += counted[r];
        m->trips[at + r] += trips[r];
    }
    ++m->n;
    if (++m->open == m->length) {
        m->open = 0;
        if (++m->n_full == GBSI_MOST_BATCHES) {
            merge(m);
        }
    }
}

bool gbsi_means_may_drop(const gbsi_means *m)
{
    return m->n_full == FULL_WINDOW && m->open == 0;
}

uint64_t gbsi_means_drop(gbsi_means *m)
{
    const uint32_t n = FULL_WINDOW / 3;
    assert(gbsi_means_may_drop(m));
    for (uint32_t b = n; b < FULL_WINDOW; ++b) {
        carry(m, b - n, b, false);
    }
    clear_from(m, FULL_WINDOW - n);
    m->n -= n * m->length;
    return n * m->length;
}

/* ---- estimates ------------------------------------------------------------------------------- */

typedef struct spread {
    double n, sum, squares;
} spread;

/* @param shift a value near the mean of all values, so that squares stay small. */
static void add(spread *s, double value, double shift)
{
    s->n += 1.0;
    s->sum += value - shift;
    s->squares += (value - shift) * (value - shift);
}

/* Variance of the mean: sample variance divided by n. */
static double variance_of_mean(const spread *s)
{
    const double v = (s->squares - s->sum * s->sum / s->n) / (s->n - 1.0) / s->n;
    return v > 0.0 ? v : 0.0;
}

gbsi_mean gbsi_means_cell(const gbsi_means *m, size_t cell)
{
    uint64_t sum = 0;
    uint64_t weight = 0;
    for (uint32_t b = 0; b <= m->n_full && b < GBSI_MOST_BATCHES; ++b) {
        for (uint32_t r = 0; r < m->n_ladders; ++r) {
            sum += row(m, b, r)[cell];
            weight += m->weight[(size_t)b * m->n_ladders + r];
        }
    }
    const double one = (double)GBSI_MEANS_ONE;
    gbsi_mean mean = {.p = (double)sum / (one * (double)weight), .mcse = NAN, .rhat = NAN};
    spread batches = {0};
    spread ladders = {0};
    for (uint32_t r = 0; r < m->n_ladders; ++r) {
        uint64_t of_ladder = 0;
        uint64_t counted = 0;
        for (uint32_t b = 0; b < m->n_full; ++b) {
            const uint64_t n = m->weight[(size_t)b * m->n_ladders + r];
            of_ladder += row(m, b, r)[cell];
            counted += n;
            if (n > 0) {
                add(&batches, (double)row(m, b, r)[cell] / (one * (double)n), mean.p);
            }
        }
        if (counted > 0) {
            add(&ladders, (double)of_ladder / (one * (double)counted), mean.p);
        }
    }
    if (m->n_full >= LEAST_BATCHES && batches.n > 1.0) {
        const double by_batches = variance_of_mean(&batches);
        const double by_ladders = ladders.n > 1.0 ? variance_of_mean(&ladders) : 0.0;
        const double of_draw = mean.p * (1.0 - mean.p);
        mean.mcse = gbsi_sqrt(by_batches > by_ladders ? by_batches : by_ladders);
        mean.rhat = ladders.n > 1.0 && of_draw > 0.0
                        ? gbsi_sqrt(1.0 + by_ladders * ladders.n / of_draw)
                        : NAN;
    }
    return mean;
}

/* Computes a weighted sum over cells. Each cell contributes its weight times its mean over batches
 * [from, to) of a ladder. @return false if no draw was added to these batches. */
static bool combine(const gbsi_means *m, const double *weight, uint32_t ladder, uint32_t from,
                    uint32_t to, double *value)
{
    uint64_t n = 0;
    *value = 0.0;
    for (uint32_t b = from; b < to; ++b) {
        n += m->weight[(size_t)b * m->n_ladders + ladder];
    }
    for (size_t c = 0; c < m->n_cells; ++c) {
        uint64_t sum = 0;
        for (uint32_t b = from; b < to; ++b) {
            sum += row(m, b, ladder)[c];
        }
        *value += weight[c] * (double)sum;
    }
    *value /= (double)GBSI_MEANS_ONE * (double)n;
    return n > 0;
}

double gbsi_means_error(const gbsi_means *m, const double *weight)
{
    spread batches = {0};
    spread ladders = {0};
    double value = 0.0;
    double shift = 0.0; /* the mean of ladder 0 becomes the shift */
    if (!combine(m, weight, 0, 0, m->n_full, &shift)) {
        shift = 0.0; /* no draw of ladder 0 was added */
    }
    for (uint32_t r = 0; r < m->n_ladders; ++r) {
        for (uint32_t b = 0; b < m->n_full; ++b) {
            if (combine(m, weight, r, b, b + 1, &value)) {
                add(&batches, value, shift);
            }
        }
        if (combine(m, weight, r, 0, m->n_full, &value)) {
            add(&ladders, value, shift);
        }
    }
    if (m->n_full < LEAST_BATCHES || !(batches.n > 1.0)) {
        return NAN;
    }
    const double by_batches = variance_of_mean(&batches);
    const double by_ladders = ladders.n > 1.0 ? variance_of_mean(&ladders) : 0.0;
    return gbsi_sqrt(by_batches > by_ladders ? by_batches : by_ladders);
}

uint64_t gbsi_means_least_trips(const gbsi_means *m)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t r = 0; r < m->n_ladders; ++r) {
        uint64_t n = 0;
        for (uint32_t b = 0; b < GBSI_MOST_BATCHES; ++b) {
            n += m->trips[(size_t)b * m->n_ladders + r];
        }
        least = n < least ? n : least;
    }
    return least;
}

double gbsi_means_share(const gbsi_means *m)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < (size_t)GBSI_MOST_BATCHES * m->n_ladders; ++i) {
        weight += m->weight[i];
    }
    return m->n == 0 ? 0.0 : (double)weight / ((double)m->n * m->n_draws);
}

/* ---- saved ----------------------------------------------------------------------------------- */

gbs_status gbsi_means_save(const gbsi_means *m, const gbsi_sink *sink, gbs_error *err)
{
    const uint64_t count[] = {m->length, m->n, m->open, m->n_full};
    const size_t n_rows = (size_t)GBSI_MOST_BATCHES * m->n_ladders;
    GBSI_PASS(gbsi_put_numbers(sink, count, 4, sizeof count[0], err));
    GBSI_PASS(gbsi_put_numbers(sink, m->sum, n_rows * m->n_cells, sizeof *m->sum, err));
    GBSI_PASS(gbsi_put_numbers(sink, m->weight, n_rows, sizeof *m->weight, err));
    return gbsi_put_numbers(sink, m->trips, n_rows, sizeof *m->trips, err);
}

gbs_status gbsi_means_load(gbsi_means *m, const gbsi_source *source, gbs_error *err)
{
    uint64_t count[4];
    const size_t n_rows = (size_t)GBSI_MOST_BATCHES * m->n_ladders;
    GBSI_PASS(gbsi_take_numbers(source, count, 4, sizeof count[0], err));
    if (count[2] >= count[0] || count[3] >= GBSI_MOST_BATCHES) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the saved batches are damaged");
    }
    m->length = count[0];
    m->n = count[1];
    m->open = count[2];
    m->n_full = (uint32_t)count[3];
    GBSI_PASS(gbsi_take_numbers(source, m->sum, n_rows * m->n_cells, sizeof *m->sum, err));
    GBSI_PASS(gbsi_take_numbers(source, m->weight, n_rows, sizeof *m->weight, err));
    return gbsi_take_numbers(source, m->trips, n_rows, sizeof *m->trips, err);
}
