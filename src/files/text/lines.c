/* SPDX-License-Identifier: Apache-2.0 */
#include "text/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "decimal/decimal.h"
#include "gibbsite/model.h"
#include "text/output.h"

bool gbsi_line_next(gbsi_text *text, gbsi_text *line)
{
    gbsi_token first = gbsi_text_peek(text);
    if (first.n == 0) {
        text->at = text->end;
        return false;
    }
    const char *newline = memchr(first.at, '\n', (size_t)(text->end - first.at));
    *line = *text;
    line->at = first.at;
    line->end = newline == NULL ? text->end : newline;
    text->at = line->end;
    return true;
}

gbs_status gbsi_line_unexpected(const gbsi_text *line, gbsi_token token, const char *expected,
                                gbs_error *err)
{
    if (token.n == 0) {
        return gbsi_text_fail(line, token, err, "found the end of the line, expected %s", expected);
    }
    return gbsi_text_unexpected(line, token, expected, err);
}

gbs_status gbsi_line_integer(gbsi_text *line, const char *expected, uint64_t max, uint64_t *value,
                             gbs_error *err)
{
    bool too_large = false;
    gbsi_token token = gbsi_text_next(line);
    if (token.n == 0) {
        return gbsi_line_unexpected(line, token, expected, err);
    }
    if (gbsi_integer_read(token.at, token.n, max, value, &too_large)) {
        return GBS_OK;
    }
    line->at = token.at; /* the function that makes the message reads the token again */
    return gbsi_text_integer(line, expected, max, value, err);
}

gbs_status gbsi_line_number(gbsi_text *line, const char *expected, double *value,
                            size_t *n_underflow, gbs_error *err)
{
    gbsi_token token = gbsi_text_next(line);
    if (token.n == 0) {
        return gbsi_line_unexpected(line, token, expected, err);
    }
    if (gbsi_decimal_read(token.at, token.n, value) == GBSI_DECIMAL_OK && isfinite(*value)) {
        return GBS_OK;
    }
    line->at = token.at;
    gbs_status status = gbsi_text_double(line, expected, value, n_underflow, err);
    if (status == GBS_OK && !isfinite(*value)) {
        return gbsi_text_unexpected(line, token, expected, err);
    }
    return status;
}

gbs_status gbsi_line_expect_end(gbsi_text *line, const char *last, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    gbsi_token token = gbsi_text_next(line);
    if (token.n == 0) {
        return GBS_OK;
    }
    return gbsi_text_fail(line, token, err, "found %s, expected the end of the line after %s",
                          gbsi_token_show(token, shown), last);
}

gbs_status gbsi_line_count(const gbsi_text *text, gbsi_text *line, const char *expected,
                           size_t least_bytes, uint64_t *value, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t count = 0;
    gbsi_token token = gbsi_text_peek(line);
    GBSI_PASS(gbsi_line_integer(line, expected, UINT64_MAX, &count, err));
    /* A separator precedes the first item, and no separator needs to follow the last item. */
    size_t left = gbsi_text_left(text);
    if (count > left / least_bytes) {
        return gbsi_text_fail(line, token, err,
                              "found %s as %s, but the %zu bytes left of the file cannot hold more "
                              "than %zu",
                              gbsi_token_show(token, shown), expected, left, left / least_bytes);
    }
    *value = count;
    return GBS_OK;
}

static uint64_t most_variables(uint64_t n_bytes)
{
    if (n_bytes >= GBS_MAX_VARIABLES / GBSI_VARIABLES_PER_BYTE) {
        return GBS_MAX_VARIABLES;
    }
    uint64_t n = GBSI_FREE_VARIABLES + GBSI_VARIABLES_PER_BYTE * n_bytes;
    return n < GBS_MAX_VARIABLES ? n : GBS_MAX_VARIABLES;
}

uint64_t gbsi_most_variables(const gbsi_text *text)
{
    return most_variables((uint64_t)(text->end - text->begin));
}

gbs_status gbsi_check_variables(const gbsi_text *text, gbsi_token token, uint64_t n, gbs_error *err)
{
    uint64_t most = gbsi_most_variables(text);
    if (n <= most) {
        return GBS_OK;
    }
    return gbsi_text_fail(text, token, err,
                          "found %llu variable%s, but a file of %zu bytes may have at most %llu",
                          (unsigned long long)n, gbsi_plural(n), (size_t)(text->end - text->begin),
                          (unsigned long long)most);
}

void gbsi_tell_most_variables(const gbs_write_options *options, const gbs_output *output,
                              uint64_t n)
{
    char message[512];
    const uint64_t n_bytes = gbsi_output_length(output);
    if (options->warn == NULL || n <= most_variables(n_bytes)) {
        return;
    }
    (void)snprintf(
        message, sizeof message,
        "%.200s: so few of the %llu variable%s occur that gibbsite will not read the file "
        "again: of %llu bytes it takes at most %llu",
        gbsi_output_name(output), (unsigned long long)n, gbsi_plural(n),
        (unsigned long long)n_bytes, (unsigned long long)most_variables(n_bytes));
    options->warn(options->context, message);
}
