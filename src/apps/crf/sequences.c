/* SPDX-License-Identifier: Apache-2.0 */
/* Reads column data: one token on each line, and an empty line after each sequence. */
#include "crf/templates.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "text/text.h"

static bool separates(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts a line of the file into the texts of token s->n_tokens. *n_texts is 0 for an empty line.
 * s->bytes is a copy of the file, in which a 0 is written after each text. */
static gbs_status cut_line(gbs_sequences *s, const gbsi_text *file, const char *begin,
                           const char *end, uint32_t *n_texts, gbs_error *err)
{
    const size_t n_before = s->n_tokens * s->n_columns;
    uint32_t n = 0;
    for (const char *at = begin; at < end;) {
        if (separates(*at)) {
            at++;
            continue;
        }
        if (n == 0 && at > begin) {
            return gbsi_text_fail(file, (gbsi_token){begin, 1}, err,
                                  "found a blank at the beginning of a line, expected the text of "
                                  "the first column or an empty line");
        }
        if (s->n_tokens > 0 && n == s->n_columns) {
            return gbsi_text_fail(file, (gbsi_token){at, 1}, err,
                                  "found more columns than the %" PRIu32 " of the lines before", n);
        }
        GBSI_PASS(gbsi_reserve((void **)&s->text, &s->text_capacity, n_before + n + 1,
                               sizeof *s->text, "texts of tokens", err));
        s->text[n_before + n++] = s->bytes + (at - file->begin);
        while (at < end && !separates(*at)) {
            at++;
        }
        s->bytes[at - file->begin] = '\0';
    }
    if (n > 0 && s->n_tokens > 0 && n < s->n_columns) {
        return gbsi_text_fail(file, (gbsi_token){end, 0}, err,
                              "found %" PRIu32 " column%s, expected %" PRIu32
                              " as in the lines before",
                              n, n == 1 ? "" : "s", s->n_columns);
    }
    *n_texts = n;
    return GBS_OK;
}

static gbs_status read_lines(gbs_sequences *s, const gbsi_text *file, gbs_error *err)
{
    uint64_t line = 1;
    size_t open = 0; /* the first token of the sequence that is being read */
    for (const char *at = file->begin; at < file->end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(file->end - at));
        const char *end = newline == NULL ? file->end : newline;
        const char *next = newline == NULL ? file->end : newline + 1;
        uint32_t n_texts = 0;
        GBSI_PASS(cut_line(s, file, at, end - (end > at && end[-1] == '\r'), &n_texts, err));
        at = next;
        if (n_texts > 0) {
            GBSI_PASS(gbsi_reserve((void **)&s->line, &s->line_capacity, s->n_tokens + 1,
                                   sizeof *s->line, "tokens", err));
            s->n_columns = n_texts;
            s->line[s->n_tokens++] = line;
        }
        if (s->n_tokens > open && (n_texts == 0 || at == file->end)) {
            GBSI_PASS(gbsi_reserve((void **)&s->first, &s->first_capacity, s->n + 2,
                                   sizeof *s->first, "sequences", err));
            s->first[s->n++] = open;
            s->first[s->n] = s->n_tokens;
            open = s->n_tokens;
        }
    }
    if (s->n_tokens == 0) {
        return gbsi_text_fail(file, (gbsi_token){file->end, 0}, err,
                              "found no tokens, expected a line for each");
    }
    return GBS_OK;
}

static gbs_status read_input(const gbsi_input *input, gbs_sequences **sequences, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text file;
    const size_t n_name = strlen(input->name) + 1;
    gbs_sequences *s = gbsi_alloc_zero(sizeof *s);
    GBSI_PASS(GBSI_HAVE(err, "sequences", s));
    GBSI_TRY(gbsi_text_open(&file, input, NULL, err));
    s->name = gbsi_alloc(n_name);
    s->bytes = gbsi_alloc(gbsi_text_left(&file) + 1);
    GBSI_TRY(GBSI_HAVE(err, "sequences", s->name, s->bytes));
    memcpy(s->name, input->name, n_name);
    if (file.end > file.begin) {
        memcpy(s->bytes, file.begin, gbsi_text_left(&file));
    }
    GBSI_TRY(read_lines(s, &file, err));
    *sequences = s;
    s = NULL;

cleanup:
    gbs_sequences_free(s);
    return status;
}

/* ---- public -------------------------------------------------------------------------------- */

gbs_status gbs_sequences_read(const char *path, gbs_sequences **sequences, gbs_error *err)
{
    GBSI_NEED(path, sequences);
    gbsi_input input;
    gbs_status status = gbsi_input_read_text(path, &input, err);
    if (status >= 0) {
        status = read_input(&input, sequences, err);
        gbsi_input_free(&input);
    }
    return status;
}

gbs_status gbs_sequences_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                     gbs_sequences **sequences, gbs_error *err)
{
    GBSI_NEED(name, bytes, sequences);
    gbsi_input input;
    gbs_status status = gbsi_input_memory(name, bytes, n_bytes, &input, err);
    if (status >= 0) {
        status = read_input(&input, sequences, err);
        gbsi_input_free(&input);
    }
    return status;
}

void gbs_sequences_free(gbs_sequences *sequences)
{
    if (sequences == NULL) {
        return;
    }
    GBSI_FREE(sequences->name, sequences->bytes, sequences->first, sequences->text, sequences->line,
              sequences);
}

size_t gbs_sequences_n(const gbs_sequences *sequences)
{
    return sequences == NULL ? 0 : sequences->n;
}

size_t gbs_sequences_n_tokens(const gbs_sequences *sequences)
{
    return sequences == NULL ? 0 : sequences->n_tokens;
}

uint32_t gbs_sequences_n_columns(const gbs_sequences *sequences)
{
    return sequences == NULL ? 0 : sequences->n_columns;
}

const size_t *gbs_sequences_first(const gbs_sequences *sequences)
{
    return sequences == NULL ? NULL : sequences->first;
}

const char *gbs_sequences_text(const gbs_sequences *sequences, size_t token, uint32_t column)
{
    const gbs_sequences *s = sequences;
    return s == NULL || token >= s->n_tokens || column >= s->n_columns
               ? NULL
               : s->text[token * s->n_columns + column];
}
