/* SPDX-License-Identifier: Apache-2.0 */
/* Alignments in FASTA; other files are tables, of rows_csv.c. */
#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "learn/rows.h"
#include "text/common.h"
#include "text/text.h"

typedef struct reader {
    gbsi_text text;
    gbs_rows *rows;
    uint8_t *line; /* [capacity] states of the row that is being read */
    size_t n, capacity;
} reader;

static gbs_status fail_at(const reader *r, const char *at, gbs_error *err, const char *what,
                          const char *expected)
{
    return gbsi_text_fail(&r->text, (gbsi_token){at, at < r->text.end ? 1 : 0}, err,
                          "found %s, expected %s", what, expected);
}

static gbs_status push(reader *r, uint32_t state, gbs_error *err)
{
    const gbs_status status =
        gbsi_reserve((void **)&r->line, &r->capacity, r->n + 1, 1, "a row", err);
    if (status >= 0) {
        r->line[r->n++] = (uint8_t)state;
    }
    return status;
}

/* Ends a row. @param at behind it. */
static gbs_status add_row(reader *r, const char *at, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_rows *rows = r->rows;
    if (r->n != rows->n_sites) {
        return gbsi_text_fail(&r->text, (gbsi_token){at, 0}, err,
                              "found %zu sites, expected %" PRIu32, r->n, rows->n_sites);
    }
    GBSI_TRY(gbsi_rows_reserve(rows, 1, err));
    memcpy(rows->state + rows->n * rows->n_sites, r->line, r->n);
    rows->weight[rows->n++] = 1.0;
    r->n = 0;

cleanup:
    return status;
}

static const char *newline_or_end(const reader *r, const char *at)
{
    while (at < r->text.end && *at != '\n') {
        ++at;
    }
    return at;
}

/* Where the text of a line ends: before its "\n" or "\r\n". */
static const char *line_end(const reader *r, const char *at)
{
    const char *end = newline_or_end(r, at);
    return end > at && end[-1] == '\r' ? end - 1 : end;
}

static const char *next_line(const reader *r, const char *at)
{
    const char *end = newline_or_end(r, at);
    return end == r->text.end ? end : end + 1;
}

/* ---- FASTA ----------------------------------------------------------------------------------- */

static gbs_status take_letter(reader *r, const char *at, gbs_error *err)
{
    const char c = *at;
    const char *letter = c == '\0' ? NULL : strchr(GBSI_PROTEIN, c);
    if (letter != NULL) {
        return push(r, (uint32_t)(letter - GBSI_PROTEIN), err);
    }
    if (c >= 'A' && c <= 'Z') { /* B, J, O, U, X, Z */
        ++r->rows->n_unknown;
        return push(r, 0, err);
    }
    if (c == '.' || (c >= 'a' && c <= 'z') || gbsi_is_blank(c)) {
        return GBS_OK;
    }
    return gbsi_text_unexpected(&r->text, (gbsi_token){at, 1},
                                "a letter of an amino acid, '-' or '.'", err);
}

/* The first sequence tells the number of sites. */
static gbs_status end_sequence(reader *r, const char *at, gbs_error *err)
{
    if (r->n == 0) {
        return fail_at(r, at, err, "no letters", "those of a sequence");
    }
    if (r->rows->n == 0) {
        if (r->n > GBS_MAX_SITES) {
            return gbsi_text_fail(&r->text, (gbsi_token){at, 0}, err,
                                  "found %zu sites, the limit is %u", r->n, GBS_MAX_SITES);
        }
        r->rows->n_sites = (uint32_t)r->n;
    }
    return add_row(r, at, err);
}

static gbs_status read_fasta(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(gbs_rows_new(1, (uint32_t)strlen(GBSI_PROTEIN), &r->rows, err));
    r->rows->letters = GBSI_PROTEIN;
    for (const char *at = next_line(r, r->text.at); at < r->text.end; at = next_line(r, at)) {
        if (*at == '>') {
            GBSI_TRY(end_sequence(r, at, err));
            continue;
        }
        for (const char *end = line_end(r, at); at < end; ++at) {
            GBSI_TRY(take_letter(r, at, err));
        }
    }
    GBSI_TRY(end_sequence(r, r->text.end, err));

cleanup:
    return status;
}

/* ---- public ---------------------------------------------------------------------------------- */

static gbs_status read_input(const gbsi_input *input, gbs_rows **rows, gbs_error *err)
{
    gbs_status status = GBS_OK;
    reader r = {0};
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(gbsi_text_open(&r.text, input, NULL, err));
    GBSI_TRY(r.text.at < r.text.end && *r.text.at == '>' ? read_fasta(&r, err)
                                                         : gbsi_rows_csv(&r.text, &r.rows, err));
    if (r.rows->n == 0) {
        GBSI_TRY(fail_at(&r, r.text.end, err, "no rows", "some below the names"));
    }
    *rows = r.rows;
    r.rows = NULL;

cleanup:
    gbs_rows_free(r.rows);
    gbsi_free(r.line);
    gbsi_budget_leave(before);
    return status;
}

gbs_status gbs_rows_read(const char *path, gbs_rows **rows, gbs_error *err)
{
    GBSI_NEED(path);
    GBSI_NEED(rows);
    gbsi_input input;
    gbs_status status = gbsi_input_read(path, &input, err);
    if (status >= 0) {
        status = read_input(&input, rows, err);
        gbsi_input_free(&input);
    }
    return status;
}

gbs_status gbs_rows_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                gbs_rows **rows, gbs_error *err)
{
    GBSI_NEED(name);
    GBSI_NEED(bytes);
    GBSI_NEED(rows);
    gbsi_input input;
    gbs_status status = gbsi_input_memory(name, bytes, n_bytes, &input, err);
    if (status >= 0) {
        status = read_input(&input, rows, err);
        gbsi_input_free(&input);
    }
    return status;
}
