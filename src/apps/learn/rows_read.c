/* SPDX-License-Identifier: Apache-2.0 */
/* Alignments in FASTA and tables of whole numbers in CSV. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "learn/rows.h"
#include "text/common.h"
#include "text/text.h"

typedef struct reader {
    gbsi_text text;
    gbs_rows *rows;
    gbsi_name_map names;
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

/* ---- CSV ------------------------------------------------------------------------------------- */

/* The end of the field at `at`, which is cut of blanks on both sides. */
static const char *field(const char **at, const char *line, const char **behind)
{
    const char *comma = memchr(*at, ',', (size_t)(line - *at));
    const char *end = comma == NULL ? line : comma;
    *behind = comma == NULL ? NULL : comma + 1;
    while (*at < end && gbsi_is_blank(**at)) {
        ++*at;
    }
    while (end > *at && gbsi_is_blank(end[-1])) {
        --end;
    }
    return end;
}

static gbs_status check_name(const reader *r, const char *at, const char *end, gbs_error *err)
{
    if (at == end) {
        return fail_at(r, at, err, "an empty name", "the name of a site");
    }
    for (const char *c = at; c < end; ++c) {
        if (*c == '"' || gbsi_is_control(c, (size_t)(end - c))) {
            return gbsi_text_unexpected(&r->text, (gbsi_token){c, 1},
                                        "a name without quotation marks and control characters",
                                        err);
        }
    }
    return GBS_OK;
}

/* Names of sites. @param line the end of their line. */
static gbs_status read_names(reader *r, const char *line, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t n = 1;
    char *to = NULL;
    for (const char *c = r->text.at; c < line; ++c) {
        n += n <= GBS_MAX_SITES && *c == ',';
    }
    if (n > GBS_MAX_SITES) {
        return fail_at(r, r->text.at, err, "more than 65536 columns", "at most as many");
    }
    GBSI_TRY(gbs_rows_new(n, 2, &r->rows, err));
    r->rows->names = to = gbsi_alloc((size_t)(line - r->text.at) + n + 1);
    r->rows->name = gbsi_alloc_array_zero(n, sizeof *r->rows->name);
    if (to == NULL || r->rows->name == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "names of sites", (size_t)(line - r->text.at)));
    }
    n = 0;
    for (const char *at = r->text.at, *behind = NULL; at != NULL; at = behind) {
        const char *end = field(&at, line, &behind);
        bool added = false;
        GBSI_TRY(check_name(r, at, end, err));
        GBSI_TRY(gbsi_name_map_add(&r->names, 0, at, (size_t)(end - at), n, &added, err));
        if (!added) {
            GBSI_TRY(gbsi_text_unexpected(&r->text, (gbsi_token){at, (size_t)(end - at)},
                                          "a name that no column before has", err));
        }
        r->rows->name[n++] = to;
        memcpy(to, at, (size_t)(end - at));
        to += end - at;
        *to++ = '\0';
    }

cleanup:
    return status;
}

static gbs_status read_state(reader *r, const char *at, const char *end, gbs_error *err)
{
    uint32_t state = 0;
    bool digits = end > at;
    for (const char *c = at; c < end; ++c) {
        digits = digits && *c >= '0' && *c <= '9';
        state = digits && state < GBS_MAX_SITE_STATES ? 10 * state + (uint32_t)(*c - '0') : state;
    }
    if (!digits || state >= GBS_MAX_SITE_STATES) {
        return gbsi_text_unexpected(&r->text, (gbsi_token){at, (size_t)(end - at)},
                                    "a state, 0 to 255", err);
    }
    r->rows->n_states = state >= r->rows->n_states ? state + 1 : r->rows->n_states;
    return push(r, state, err);
}

static gbs_status read_csv(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(read_names(r, line_end(r, r->text.at), err));
    for (const char *at = next_line(r, r->text.at); at < r->text.end;) {
        const char *line = line_end(r, at);
        const char *next = next_line(r, at);
        for (const char *behind = NULL; at != NULL && at < line; at = behind) {
            const char *end = field(&at, line, &behind);
            GBSI_TRY(read_state(r, at, end, err));
            if (behind == line) { /* a comma ends the line */
                GBSI_TRY(read_state(r, line, line, err));
            }
        }
        if (r->n > 0) {
            GBSI_TRY(add_row(r, line, err));
        }
        at = next;
    }

cleanup:
    return status;
}

/* ---- public ---------------------------------------------------------------------------------- */

static gbs_status read_input(const gbsi_input *input, gbs_rows **rows, gbs_error *err)
{
    gbs_status status = GBS_OK;
    reader r = {0};
    GBSI_TRY(gbsi_text_open(&r.text, input, NULL, err));
    GBSI_TRY(r.text.at < r.text.end && *r.text.at == '>' ? read_fasta(&r, err) : read_csv(&r, err));
    if (r.rows->n == 0) {
        GBSI_TRY(fail_at(&r, r.text.end, err, "no rows", "some below the names"));
    }
    *rows = r.rows;
    r.rows = NULL;

cleanup:
    gbs_rows_free(r.rows);
    gbsi_free(r.line);
    gbsi_name_map_free(&r.names);
    return status;
}

gbs_status gbs_rows_read(const char *path, gbs_rows **rows, gbs_error *err)
{
    GBSI_NEED(path);
    GBSI_NEED(rows);
    gbsi_input input;
    gbs_status status = gbsi_input_read_text(path, &input, err);
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
