/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ground clauses of a Markov logic network, one clause in each line, such as "1.5 !Smokes(A)
 * v Cancer(A)". A hard clause has a final period instead of a weight. Variables are numbered in the
 * order in which their names occur. */
#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "models/clauses.h"
#include "models/formats.h"
#include "text/common.h"
#include "text/lines.h"

typedef struct mln_reader {
    gbsi_text *text;
    gbsi_clauses clauses;
    gbsi_name_map map;
    void *name; /* char: the name that was read last, ended by 0 */
    size_t name_capacity;
    bool warned; /* a warning about a logical variable was given */
} mln_reader;

/* @return the next token of the line; an empty token where a comment begins. */
static gbsi_token next_token(gbsi_text *line)
{
    gbsi_token token = gbsi_text_next(line);
    if (token.n >= 2 && memcmp(token.at, "//", 2) == 0) {
        line->at = token.at;
        line->end = token.at;
        token.n = 0;
    }
    return token;
}

/* Whether a token is a weight. Words such as "inf" and "nan" are names, although they can be read
 * as numbers. */
static bool is_weight(gbsi_token token)
{
    double value = 0;
    return token.n != 0 && strchr("+-.0123456789", token.at[0]) != NULL &&
           gbsi_decimal_read(token.at, token.n, &value) != GBSI_DECIMAL_BAD;
}

/* Whether a token occurs only in files of first-order formulas. Such tokens belong to declarations,
 * implications, conjunctions and quantifiers. */
static bool is_first_order(gbsi_token token)
{
    static const char *const signs[] = {"=", "=>", "<=>", "^", "EXIST", "FORALL", "=="};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (gbsi_token_is(token, signs[i])) {
            return true;
        }
    }
    return false;
}

/* Whether a name has a logical variable as an argument, as in Smokes(x). Constants begin with
 * capitals or digits, and logical variables do not. */
static bool has_logical_variable(gbsi_token name)
{
    bool inside = false;
    for (size_t i = 0; i + 1 < name.n; i++) {
        inside = inside || name.at[i] == '(';
        if (inside && (name.at[i] == '(' || name.at[i] == ',') && name.at[i + 1] >= 'a' &&
            name.at[i + 1] <= 'z') {
            return true;
        }
    }
    return false;
}

static gbs_status find_variable(mln_reader *r, gbsi_token name, uint32_t *variable, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool added = false;
    if (gbsi_name_map_find(&r->map, 0, name.at, name.n, variable)) {
        return GBS_OK;
    }
    if (!r->warned && has_logical_variable(name)) {
        char shown[GBSI_SHOWN];
        r->warned = true;
        gbsi_text_warn(r->text,
                       "%s looks like a formula over a logical variable; it is read as the name of "
                       "one variable of the model: gibbsite ground makes a model of such a program",
                       gbsi_token_show(name, shown));
    }
    *variable = r->clauses.n_variables;
    GBSI_TRY(gbsi_clauses_need(&r->clauses, *variable + 1, err));
    GBSI_TRY(gbsi_reserve(&r->name, &r->name_capacity, name.n + 1, 1, r->text->name, err));
    memcpy(r->name, name.at, name.n);
    ((char *)r->name)[name.n] = 0;
    status = gbs_builder_name_variable(r->clauses.builder, *variable, r->name, err);
    GBSI_TRY(gbsi_text_blame(r->text, name, status, err));
    GBSI_TRY(gbsi_name_map_add(&r->map, 0, name.at, name.n, *variable, &added, err));

cleanup:
    return status;
}

/* Reads a literal. The caller has removed the period of a hard clause from the token. */
static gbs_status read_literal(mln_reader *r, const gbsi_text *line, gbsi_token token,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t variable = 0;
    gbsi_token name = token;
    const bool negative = token.n != 0 && token.at[0] == '!';
    name.at += negative;
    name.n -= negative;
    if (name.n == 0 || name.at[0] == '!' || gbsi_token_is(name, "v")) {
        return gbsi_line_unexpected(line, token, "a name, or one behind a '!'", err);
    }
    if (name.at[name.n - 1] == '.') {
        return gbsi_line_unexpected(line, token,
                                    "a period only at the end of a clause without a weight", err);
    }
    status = find_variable(r, name, &variable, err);
    GBSI_TRY(gbsi_text_blame(r->text, name, status, err));
    GBSI_TRY(gbsi_clauses_literal(&r->clauses, variable, !negative, err));

cleanup:
    return status;
}

/* Removes a period from the end of the token, which is the last literal of a hard clause.
 * @return whether the token had a period. */
static bool take_period(gbsi_token *token)
{
    bool period = token->n > 1 && token->at[token->n - 1] == '.';
    token->n -= period;
    return period;
}

/* Reads literals with a v between them, up to the end of the line. */
static gbs_status read_literals(mln_reader *r, gbsi_text *line, gbsi_token token, bool hard,
                                gbs_error *err)
{
    for (;;) {
        bool period = hard && take_period(&token);
        GBSI_PASS(read_literal(r, line, token, err));
        gbsi_token next = next_token(line);
        if (!period && hard && gbsi_token_is(next, ".")) {
            period = true;
            next = next_token(line);
        }
        if (period && next.n != 0) {
            return gbsi_line_unexpected(line, next, "the end of the line after the period", err);
        }
        if (next.n == 0) {
            return period == hard
                       ? GBS_OK
                       : gbsi_line_unexpected(line, next,
                                              "a weight before the ground clause, or a period "
                                              "behind it",
                                              err);
        }
        if (is_first_order(next)) {
            return gbsi_line_unexpected(line, next,
                                        "a ground clause: a formula over logical variables needs "
                                        "gibbsite ground PROGRAM DATABASE",
                                        err);
        }
        if (!gbsi_token_is(next, "v")) {
            return gbsi_line_unexpected(line, next, "v or the end of a ground clause", err);
        }
        token = next_token(line);
    }
    return GBS_OK;
}

static gbs_status read_clause(mln_reader *r, gbsi_text *line, gbs_error *err)
{
    double weight = GBSI_HARD;
    gbsi_token place = gbsi_text_peek(line);
    const bool hard = !is_weight(place);
    if (!hard) {
        GBSI_PASS(gbsi_line_number(line, "a finite weight", &weight, &r->clauses.n_underflow, err));
    }
    GBSI_PASS(read_literals(r, line, next_token(line), hard, err));
    return gbsi_clauses_end(&r->clauses, r->text, place, weight, err);
}

gbs_status gbsi_mln_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    mln_reader r = {.text = text};
    gbsi_text line;
    GBSI_TRY(gbsi_clauses_begin(&r.clauses, text, err));
    while (gbsi_line_next(text, &line)) {
        gbsi_text copy = line;
        if (next_token(&copy).n != 0) {
            GBSI_TRY(read_clause(&r, &line, err));
        }
    }
    if (r.clauses.n_clauses == 0) {
        status = gbsi_text_unexpected(text, gbsi_text_next(text), "a clause", err);
        goto cleanup;
    }
    status = gbsi_clauses_build(&r.clauses, text, model, err);

cleanup:
    gbsi_clauses_free(&r.clauses);
    gbsi_name_map_free(&r.map);
    gbsi_free(r.name);
    return status;
}
