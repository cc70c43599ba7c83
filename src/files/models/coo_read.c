/* SPDX-License-Identifier: Apache-2.0 */
/* Reads coordinate lists in the form that dimod writes. The first line gives the type of the
 * variables, SPIN or BINARY, as in "# vartype=SPIN". Lines "i j v" follow, in which variables are
 * numbered from 0. A line such as "# offset=1.5" gives a constant energy; dimod does not write such
 * a line. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/plural.h"
#include "models/couplings.h"
#include "models/formats.h"

typedef struct coo_reader {
    gbsi_couplings couplings;
    bool has_vartype; /* a line or an option gave the type of the variables */
    bool binary;
    bool has_offset; /* a line of the file gave the offset */
    double offset;
} coo_reader;

static const char expected_vartype[] = "SPIN or BINARY";

static gbs_status set_vartype(coo_reader *r, bool binary, gbs_error *err)
{
    r->has_vartype = true;
    r->binary = binary;
    if (binary && r->couplings.convention == GBSI_MAXCUT) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: convention maxcut needs spins, but the vartype is BINARY; expected "
                         "bqm or physics",
                         r->couplings.text->name);
    }
    return GBS_OK;
}

static gbs_status take_option(coo_reader *r, const char *word, gbs_error *err)
{
    const gbsi_token token = {.at = word, .n = word == NULL ? 0 : strlen(word)};
    if (word == NULL) {
        return GBS_OK;
    }
    const bool binary = gbsi_token_is_any_case(token, "BINARY");
    return binary || gbsi_token_is_any_case(token, "SPIN")
               ? set_vartype(r, binary, err)
               : gbsi_fail(err, GBS_ERR_ARGUMENT, "vartype '%.100s' is not known, expected %s",
                           word, expected_vartype);
}

static gbs_status read_vartype(coo_reader *r, gbsi_text line, gbs_error *err)
{
    gbsi_token token = gbsi_text_next(&line);
    const bool binary = gbsi_token_is_any_case(token, "BINARY");
    const bool typed = r->couplings.text->options->vartype != NULL;
    if (!binary && !gbsi_token_is_any_case(token, "SPIN")) {
        return gbsi_line_unexpected(&line, token, expected_vartype, err);
    }
    if ((r->couplings.edges.n != 0 && !typed) || (r->has_vartype && r->binary != binary)) {
        return gbsi_text_fail(&line, token, err, "found another vartype, expected %s",
                              typed ? "the one of --vartype" : "it once and before the entries");
    }
    return set_vartype(r, binary, err);
}

static gbs_status read_offset(coo_reader *r, gbsi_text line, gbs_error *err)
{
    gbsi_token token = gbsi_text_peek(&line);
    const double typed = r->couplings.text->options->offset;
    double value = 0.0;
    GBSI_PASS(gbsi_line_number(&line, "a finite energy", &value, &r->couplings.n_underflow, err));
    GBSI_PASS(gbsi_line_expect_end(&line, "an offset", err));
    if ((r->has_offset || typed != 0.0) && value != r->offset) {
        return gbsi_text_fail(&line, token, err, "found another offset, expected %s",
                              r->has_offset ? "it once" : "that of --offset");
    }
    r->has_offset = true;
    r->offset = value;
    return GBS_OK;
}

/* Reads the text behind '#': "vartype=SPIN" or "offset=1.5". ':' may replace '=', blanks may
 * surround either character, and letters may have any case. Other comments are skipped. */
static gbs_status read_comment(coo_reader *r, gbsi_text line, gbs_error *err)
{
    static const struct {
        const char *key;
        gbs_status (*read)(coo_reader *r, gbsi_text line, gbs_error *err);
    } known[] = {{"vartype", read_vartype}, {"offset", read_offset}};
    while (line.at < line.end && (gbsi_is_blank(*line.at) || *line.at == '#')) {
        line.at++;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t n_key = strlen(known[i].key);
        gbsi_text rest = line;
        if (gbsi_text_left(&line) < n_key || strncasecmp(line.at, known[i].key, n_key) != 0) {
            continue;
        }
        for (rest.at += n_key; rest.at < rest.end && gbsi_is_blank(*rest.at);) {
            rest.at++;
        }
        if (rest.at < rest.end && (*rest.at == '=' || *rest.at == ':')) {
            rest.at++;
            return known[i].read(r, rest, err);
        }
    }
    return GBS_OK;
}

static gbs_status read_variable(coo_reader *r, gbsi_text *line, const char *expected,
                                uint64_t *variable, gbs_error *err)
{
    gbsi_token token = gbsi_text_peek(line);
    GBSI_PASS(gbsi_line_integer(line, expected, UINT64_MAX - 1, variable, err));
    GBSI_PASS(gbsi_check_variables(r->couplings.text, token, *variable + 1, err));
    if (*variable >= r->couplings.n_variables) {
        r->couplings.n_variables = (uint32_t)*variable + 1;
    }
    return GBS_OK;
}

static gbs_status read_entry(coo_reader *r, gbsi_text *line, gbs_error *err)
{
    gbsi_couplings *c = &r->couplings;
    uint64_t i = 0;
    uint64_t j = 0;
    double value = 0;
    gbsi_token place = gbsi_text_peek(line);
    GBSI_PASS(read_variable(r, line, "a variable from 0", &i, err));
    GBSI_PASS(read_variable(r, line, "a second variable", &j, err));
    GBSI_PASS(gbsi_line_number(line, "a finite value", &value, &c->n_underflow, err));
    GBSI_PASS(gbsi_line_expect_end(line, "an entry", err));
    if (!r->has_vartype) {
        return gbsi_text_fail(
            line, place, err,
            "found an entry before a line '# vartype=SPIN' or '# vartype=BINARY', "
            "expected one, or --vartype");
    }
    return gbsi_couplings_add(c, line, place, i, j, value, err);
}

/* Gives one warning about variables that no line names although their numbers are below the largest
 * one. The file may have lost lines, or may number the variables from 1. */
static gbs_status tell_gaps(const gbsi_couplings *c, gbs_error *err)
{
    enum { MOST = 8 };
    char list[(MOST + 1) * 32] = "";
    size_t n = 0;
    uint32_t n_gaps = 0;
    uint32_t n_unused = 0;
    const gbsi_edge *edge = c->edges.edge;
    unsigned char *used = gbsi_alloc_zero((size_t)c->n_variables + 1);
    GBSI_PASS(GBSI_HAVE(err, c->text->name, used));
    for (size_t e = 0; e < c->edges.n; e++) {
        used[edge[e].j] = 1;
        if (edge[e].i != GBS_NO_PAIR) {
            used[edge[e].i] = 1;
        }
    }
    for (uint32_t v = 0; v < c->n_variables; v++) {
        const uint32_t first = v;
        while (!used[v]) { /* the loop ends, because a line names the last variable */
            v++;
        }
        n_unused += v - first;
        if (v > first && n_gaps++ < MOST) {
            n += (size_t)snprintf(list + n, sizeof list - n, n == 0 ? "%u" : ", %u", first);
            if (v > first + 1) {
                n += (size_t)snprintf(list + n, sizeof list - n, " to %u", v - 1);
            }
        }
    }
    gbsi_free(used);
    if (n_unused > 0) {
        gbsi_text_warn(c->text, "variable%s %s%s no line: no coupling and no field is known of %s",
                       gbsi_plural(n_unused), list,
                       n_gaps > MOST ? ", ... have" : gbsi_plural_of(n_unused, " has", " have"),
                       gbsi_plural_of(n_unused, "it", "them"));
    }
    return GBS_OK;
}

gbs_status gbsi_coo_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    coo_reader r = {0};
    gbsi_text line;
    GBSI_TRY(gbsi_couplings_begin(&r.couplings, text, GBSI_COO_CONVENTION, "#", err));
    GBSI_TRY(take_option(&r, text->options->vartype, err));
    r.offset = text->options->offset;
    while (gbsi_line_next(text, &line)) {
        if (gbsi_text_peek(&line).at[0] == '#') {
            GBSI_TRY(read_comment(&r, line, err));
        } else {
            GBSI_TRY(read_entry(&r, &line, err));
        }
    }
    if (!r.has_vartype) {
        status = gbsi_text_unexpected(text, gbsi_text_peek(text),
                                      "'# vartype=SPIN' or '# vartype=BINARY'", err);
        goto cleanup;
    }
    GBSI_TRY(tell_gaps(&r.couplings, err));
    r.couplings.constant = r.offset;
    status = gbsi_couplings_build(&r.couplings, GBSI_PAIR_ONCE, r.binary, model, err);

cleanup:
    gbsi_couplings_free(&r.couplings);
    return status;
}
