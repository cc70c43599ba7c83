/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "learn/work.h"

gbs_status gbs_rows_new(uint32_t n_sites, uint32_t n_states, gbs_rows **rows, gbs_error *err)
{
    GBSI_NEED(rows);
    if (n_sites == 0 || n_sites > GBS_MAX_SITES || n_states < 2 || n_states > GBS_MAX_SITE_STATES) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found %" PRIu32 " site%s of %" PRIu32
                         " state%s, expected 1 to %u sites of 2 to %u",
                         n_sites, gbsi_plural(n_sites), n_states, gbsi_plural(n_states),
                         GBS_MAX_SITES, GBS_MAX_SITE_STATES);
    }
    gbs_rows *r = gbsi_alloc_zero(sizeof *r);
    GBSI_PASS(GBSI_HAVE(err, "rows", r));
    r->n_sites = n_sites;
    r->n_states = n_states;
    *rows = r;
    return GBS_OK;
}

void gbs_rows_free(gbs_rows *rows)
{
    if (rows != NULL) {
        GBSI_FREE(rows->state, rows->weight, rows->names, rows->name, rows);
    }
}

gbs_status gbsi_rows_reserve(gbs_rows *rows, size_t n, gbs_error *err)
{
    size_t n_rows = 0;
    size_t n_states = 0;
    if (!gbsi_add_size(rows->n, n, &n_rows) || !gbsi_mul_size(n_rows, rows->n_sites, &n_states)) {
        return gbsi_no_memory(err, "rows", SIZE_MAX);
    }
    GBSI_PASS(gbsi_reserve((void **)&rows->state, &rows->state_capacity, n_states, 1, "rows", err));
    return gbsi_reserve((void **)&rows->weight, &rows->weight_capacity, n_rows,
                        sizeof *rows->weight, "weights of rows", err);
}

gbs_status gbs_rows_add(gbs_rows *rows, size_t n, const uint32_t *state, gbs_error *err)
{
    GBSI_NEED(rows, state);
    const size_t width = rows->n_sites;
    GBSI_PASS(gbsi_rows_reserve(rows, n, err));
    for (size_t k = 0; k < n * width; ++k) {
        if (state[k] >= rows->n_states) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "row %zu: found state %" PRIu32 " of site %zu, expected 0 to %" PRIu32,
                             k / width, state[k], k % width, rows->n_states - 1);
        }
        rows->state[rows->n * width + k] = (uint8_t)state[k];
    }
    for (size_t i = 0; i < n; ++i) {
        rows->weight[rows->n++] = 1.0;
    }
    return GBS_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

size_t gbs_rows_n(const gbs_rows *rows)
{
    return rows == NULL ? 0 : rows->n;
}

uint32_t gbs_rows_n_sites(const gbs_rows *rows)
{
    return rows == NULL ? 0 : rows->n_sites;
}

uint32_t gbs_rows_n_states(const gbs_rows *rows)
{
    return rows == NULL ? 0 : rows->n_states;
}

const char *gbs_rows_note(const gbs_rows *rows)
{
    return rows == NULL || rows->note[0] == '\0' ? NULL : rows->note;
}

uint64_t gbs_rows_n_unknown(const gbs_rows *rows)
{
    return rows == NULL ? 0 : rows->n_unknown;
}

gbs_alphabet gbs_rows_alphabet(const gbs_rows *rows)
{
    return rows == NULL ? GBS_ALPHABET_AUTO : rows->alphabet;
}

void gbs_rows_count_states(const gbs_rows *rows, uint64_t *n)
{
    if (rows == NULL || n == NULL) {
        return;
    }
    memset(n, 0, rows->n_states * sizeof *n);
    for (size_t k = 0; k < rows->n * rows->n_sites; ++k) {
        ++n[rows->state[k]];
    }
}

double gbs_rows_weight(const gbs_rows *rows)
{
    double sum = 0.0;
    for (size_t i = 0; rows != NULL && i < rows->n; ++i) {
        sum += rows->weight[i];
    }
    return sum;
}

uint32_t gbs_rows_state(const gbs_rows *rows, size_t row, uint32_t site)
{
    return rows == NULL || row >= rows->n || site >= rows->n_sites ? UINT32_MAX
                                                                   : gbsi_row(rows, row)[site];
}

const char *gbs_rows_site_name(const gbs_rows *rows, uint32_t site)
{
    return rows == NULL || site >= rows->n_sites || rows->name == NULL ? NULL : rows->name[site];
}

/* ---- weights of similar rows ----------------------------------------------------------------- */

typedef struct weighing {
    const gbs_rows *rows;
    gbsi_work *work;
    uint32_t least;   /* least number of equal sites of similar rows */
    uint32_t *number; /* [n] number of rows similar to the row */
    _Atomic size_t next;
} weighing;

static uint32_t n_equal(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
        sum += a[i] == b[i];
    }
    return sum;
}

/* Counts similar rows. Each thread compares some of the rows with all other rows. */
static void count_similar(void *context, uint32_t member)
{
    weighing *w = context;
    const gbs_rows *rows = w->rows;
    gbsi_watch *watch = &w->work->watch;
    size_t i = 0;
    while ((i = w->next++) < rows->n && !gbsi_watch_stopped(watch)) {
        uint32_t number = 0;
        for (size_t k = 0; k < rows->n; ++k) {
            number += n_equal(gbsi_row(rows, i), gbsi_row(rows, k), rows->n_sites) >= w->least;
            if (member == 0 && gbsi_watch_spend(watch, 4 + rows->n_sites / 4)) {
                return;
            }
        }
        w->number[i] = number;
    }
}

static gbs_status weigh(weighing *w, gbs_rows *rows, gbs_error *err)
{
    w->number = gbsi_alloc_array(rows->n, sizeof *w->number);
    GBSI_PASS(GBSI_HAVE(err, "weights of rows", w->number));
    gbsi_pool_run(w->work->pool, count_similar, w);
    if (gbsi_watch_stopped(&w->work->watch)) {
        return gbsi_watch_fail(err, "weighing rows");
    }
    for (size_t i = 0; i < rows->n; ++i) {
        rows->weight[i] = 1.0 / w->number[i];
    }
    return GBS_OK;
}

gbs_status gbs_rows_weigh(gbs_rows *rows, double identity, uint64_t threads,
                          const gbs_run_callbacks *callbacks, gbs_error *err)
{
    GBSI_NEED(rows);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    gbs_status status = GBS_OK;
    gbsi_work work = {0};
    weighing w = {.rows = rows, .work = &work};
    const gbs_label_options options = {.size = sizeof options, .threads = threads};
    if (!(identity > 0.0 && identity <= 1.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found identity %g, expected a share above 0 and at most 1", identity);
    }
    while ((double)w.least < identity * rows->n_sites) {
        ++w.least;
    }
    GBSI_TRY(gbsi_work_begin(&work, &options, callbacks, 0, err));
    GBSI_TRY(weigh(&w, rows, err));

cleanup:
    gbsi_free(w.number);
    gbsi_work_end(&work);
    return status;
}

/* ---- held-out rows --------------------------------------------------------------------------- */

gbs_status gbs_rows_hold_out(gbs_rows *rows, double share, gbs_rows **out, gbs_error *err)
{
    GBSI_NEED(rows, out);
    gbs_status status = GBS_OK;
    gbs_rows *held = NULL;
    size_t kept = 0;
    if (!(share > 0.0 && share < 1.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found share %g, expected above 0 and below 1",
                         share);
    }
    GBSI_TRY(gbs_rows_new(rows->n_sites, rows->n_states, &held, err));
    GBSI_TRY(gbsi_rows_reserve(held, (size_t)((double)rows->n * share), err));
    for (size_t i = 0; i < rows->n; ++i) {
        const size_t before = (size_t)((double)i * share);
        gbs_rows *to = (size_t)((double)(i + 1) * share) > before ? held : rows;
        const size_t at = to == held ? held->n++ : kept++;
        memmove(to->state + at * rows->n_sites, gbsi_row(rows, i), rows->n_sites);
        to->weight[at] = rows->weight[i];
    }
    rows->n = kept;
    *out = held;
    held = NULL;

cleanup:
    gbs_rows_free(held);
    return status;
}
