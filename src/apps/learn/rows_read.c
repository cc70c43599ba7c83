/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of whole numbers in CSV; which file is one, and which an alignment. */
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

/* The name of another format of alignments, or NULL. */
static const char *other_format(const gbsi_text *text)
{
    static const char *const begin[][2] = {{"# STOCKHOLM", "in the Stockholm format"},
                                           {"CLUSTAL", "of Clustal"}};
    for (size_t k = 0; k < sizeof begin / sizeof begin[0]; ++k) {
        const size_t n = strlen(begin[k][0]);
        if (gbsi_text_left(text) >= n && memcmp(text->at, begin[k][0], n) == 0) {
            return begin[k][1];
        }
    }
    return NULL;
}

static gbs_status read_input(const gbsi_input *input, gbs_alphabet alphabet, gbs_rows **rows,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    reader r = {0};
    GBSI_TRY(gbsi_text_open(&r.text, input, NULL, err));
    while (r.text.at < r.text.end && gbsi_is_blank(*r.text.at)) {
        ++r.text.at;
    }
    const char *other = other_format(&r.text);
    if (other != NULL) {
        GBSI_TRY(gbsi_text_fail(&r.text, (gbsi_token){r.text.at, 0}, err,
                                "found an alignment %s, expected one in FASTA", other));
    }
    if (r.text.at < r.text.end && *r.text.at == '>') {
        GBSI_TRY(gbsi_rows_read_fasta(&r.text, alphabet, &r.rows, err));
    } else if (alphabet != GBS_ALPHABET_AUTO) {
        GBSI_TRY(fail_at(&r, r.text.at, err, "a table of states",
                         "an alignment in FASTA, whose alphabet is named"));
    } else {
        GBSI_TRY(read_csv(&r, err));
    }
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

gbs_status gbs_rows_read_as(const char *name, const void *bytes, size_t n_bytes,
                            gbs_alphabet alphabet, gbs_rows **rows, gbs_error *err)
{
    GBSI_NEED(name);
    GBSI_NEED(rows);
    if ((int)alphabet < GBS_ALPHABET_AUTO || alphabet > GBS_ALPHABET_DNA) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "there is no alphabet number %d", (int)alphabet);
    }
    gbsi_input input;
    gbs_status status = bytes == NULL ? gbsi_input_read(name, &input, err)
                                      : gbsi_input_memory(name, bytes, n_bytes, &input, err);
    if (status >= 0) {
        status = read_input(&input, alphabet, rows, err);
        gbsi_input_free(&input);
    }
    return status;
}

gbs_status gbs_rows_read(const char *path, gbs_rows **rows, gbs_error *err)
{
    return gbs_rows_read_as(path, NULL, 0, GBS_ALPHABET_AUTO, rows, err);
}

gbs_status gbs_rows_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                gbs_rows **rows, gbs_error *err)
{
    GBSI_NEED(bytes);
    return gbs_rows_read_as(name, bytes, n_bytes, GBS_ALPHABET_AUTO, rows, err);
}
