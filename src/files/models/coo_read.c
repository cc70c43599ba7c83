/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinate lists as dimod writes them: "# vartype=SPIN" or BINARY, then "i j v" from 0. */
#include <string.h>

#include "models/couplings.h"
#include "models/formats.h"

typedef struct coo_reader {
    gbsi_couplings couplings;
    bool told; /* there was a line with the vartype */
    bool binary;
} coo_reader;

static const char expected_vartype[] = "SPIN or BINARY";

/* After '#': "vartype=SPIN", with ':' for '=' and blanks where one likes; other comments mean
 * nothing. */
static gbs_status read_comment(coo_reader *r, gbsi_text line, gbs_error *err)
{
    static const char key[] = "vartype";
    const size_t n_key = sizeof key - 1;
    while (line.at < line.end && (gbsi_is_blank(*line.at) || *line.at == '#')) {
        line.at++;
    }
    if (gbsi_text_left(&line) < n_key || memcmp(line.at, key, n_key) != 0) {
        return GBS_OK;
    }
    for (line.at += n_key; line.at < line.end && gbsi_is_blank(*line.at);) {
        line.at++;
    }
    if (line.at == line.end || (*line.at != '=' && *line.at != ':')) {
        return GBS_OK;
    }
    line.at++;
    gbsi_token token = gbsi_text_next(&line);
    bool binary = gbsi_token_is_any_case(token, "BINARY");
    if (!binary && !gbsi_token_is_any_case(token, "SPIN")) {
        return gbsi_line_unexpected(&line, token, expected_vartype, err);
    }
    if (r->couplings.edges.n != 0 || (r->told && r->binary != binary)) {
        return gbsi_text_fail(&line, token, err,
                              "found another vartype, expected it once and before the entries");
    }
    if (binary && r->couplings.convention == GBSI_MAXCUT) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: convention maxcut needs spins, but the file has vartype BINARY; "
                         "expected bqm or physics",
                         line.name);
    }
    r->told = true;
    r->binary = binary;
    return GBS_OK;
}

static gbs_status read_variable(coo_reader *r, gbsi_text *line, const char *expected,
                                uint64_t *variable, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_token token = gbsi_text_peek(line);
    GBSI_TRY(gbsi_line_integer(line, expected, UINT64_MAX - 1, variable, err));
    GBSI_TRY(gbsi_check_variables(r->couplings.text, token, *variable + 1, err));
    if (*variable >= r->couplings.n_variables) {
        r->couplings.n_variables = (uint32_t)*variable + 1;
    }

cleanup:
    return status;
}

static gbs_status read_entry(coo_reader *r, gbsi_text *line, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_couplings *c = &r->couplings;
    uint64_t i = 0;
    uint64_t j = 0;
    double value = 0;
    gbsi_token place = gbsi_text_peek(line);
    GBSI_TRY(read_variable(r, line, "a variable from 0", &i, err));
    GBSI_TRY(read_variable(r, line, "a second variable", &j, err));
    GBSI_TRY(gbsi_line_number(line, "a finite value", &value, &c->n_underflow, err));
    GBSI_TRY(gbsi_line_expect_end(line, "an entry", err));
    GBSI_TRY(gbsi_couplings_add(c, line, place, i, j, value, err));

cleanup:
    return status;
}

static gbs_status check_vartype(const coo_reader *r, gbs_error *err)
{
    const gbsi_text *text = r->couplings.text;
    if (!r->told && r->couplings.edges.n == 0) {
        return gbsi_text_unexpected(text, gbsi_text_peek(text),
                                    "'# vartype=SPIN', '# vartype=BINARY' or an entry", err);
    }
    if (!r->told) {
        gbsi_text_warn(text, "found no line '# vartype='; SPIN is assumed");
    }
    return GBS_OK;
}

gbs_status gbsi_coo_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    coo_reader r = {0};
    gbsi_text line;
    GBSI_TRY(gbsi_couplings_begin(&r.couplings, text, GBSI_COO_CONVENTION, "#", err));
    while (gbsi_line_next(text, &line)) {
        if (gbsi_text_peek(&line).at[0] == '#') {
            GBSI_TRY(read_comment(&r, line, err));
        } else {
            GBSI_TRY(read_entry(&r, &line, err));
        }
    }
    GBSI_TRY(check_vartype(&r, err));
    status = gbsi_couplings_build(&r.couplings, GBSI_PAIR_ONCE, r.binary, model, err);

cleanup:
    gbsi_couplings_free(&r.couplings);
    return status;
}
