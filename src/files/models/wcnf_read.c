/* SPDX-License-Identifier: Apache-2.0 */
/* Reads weighted clauses of the MaxSAT evaluations. Files until 2021 begin with a line "p wcnf N M
 * TOP", and a weight of at least TOP makes a clause hard. Files since 2022 do not have this line.
 * In these files a hard clause begins with h, and each clause has its own line. After "p cnf N M"
 * all clauses are hard and have no weight. An x before the literals requires that an odd number of
 * them is true, as in files of CryptoMiniSat. A comparison instead of the final 0 limits the number
 * of true literals, as in "cnf+" files of MiniCARD. */
#include <string.h>

#include "base/plural.h"
#include "decimal/decimal.h"
#include "models/clauses.h"
#include "models/formats.h"
#include "models/literal_weights.h"
#include "text/common.h"
#include "text/lines.h"

typedef struct wcnf_reader {
    gbsi_text *text;
    gbsi_clauses clauses;
    gbsi_literal_weights weights;
    bool old; /* the file has a p line */
    /* clauses have no weights: the file has "p cnf", or "p wcnf" and weights of literals */
    bool unweighted;
    uint64_t n_declared; /* number of clauses in the p line */
    uint64_t most;       /* largest number that a variable may have */
    double top;          /* weight from which a clause is hard; +inf if no clause is hard */
    gbsi_token top_token;
} wcnf_reader;

/* Moves to the next clause, and reads the comments and weights of literals before this clause.
 * @param more out: whether the file has another clause. */
static gbs_status next_clause(wcnf_reader *r, bool *more, gbs_error *err)
{
    for (;;) {
        gbsi_text line;
        const gbsi_token token = gbsi_text_peek(r->text);
        *more = token.n != 0;
        if (token.n == 0 || (token.at[0] != 'c' && !(r->unweighted && gbsi_token_is(token, "w")))) {
            return GBS_OK;
        }
        (void)gbsi_line_next(r->text, &line);
        GBSI_PASS(gbsi_literal_weights_line(&r->weights, line, err));
    }
    return GBS_OK;
}

/* Whether the file has lines "w L W". Files of the first model counting competition have such lines
 * and a line "p wcnf" without TOP. */
static bool has_weights_of_literals(gbsi_text text)
{
    gbsi_text line;
    while (gbsi_line_next(&text, &line)) {
        if (gbsi_token_is(gbsi_text_peek(&line), "w")) {
            return true;
        }
    }
    return false;
}

/* Reads TOP from the end of the p line. TOP may be missing. */
static gbs_status read_top(wcnf_reader *r, gbsi_text *line, gbs_error *err)
{
    static const char expected[] = "TOP, a weight above 0";
    r->top = INFINITY;
    r->top_token = gbsi_text_peek(line);
    if (r->top_token.n != 0) {
        GBSI_PASS(gbsi_line_number(line, expected, &r->top, NULL, err));
        if (r->top <= 0) {
            return gbsi_text_unexpected(line, r->top_token, expected, err);
        }
    }
    return gbsi_line_expect_end(line, "TOP", err);
}

static gbs_status read_problem(wcnf_reader *r, gbs_error *err)
{
    gbsi_text line;
    (void)gbsi_line_next(r->text, &line);
    (void)gbsi_text_next(&line); /* skips the p */
    gbsi_token word = gbsi_text_next(&line);
    r->unweighted = gbsi_token_is(word, "cnf") || gbsi_token_is(word, "cnf+");
    if (gbsi_token_is(word, "pcnf") || gbsi_token_is(word, "wpcnf")) {
        return gbsi_text_unsupported(&line, word, err,
                                     "found a projected count, which is not supported; expected "
                                     "wcnf, cnf or cnf+");
    }
    if (!r->unweighted && !gbsi_token_is(word, "wcnf")) {
        return gbsi_line_unexpected(&line, word, "wcnf, cnf or cnf+", err);
    }
    gbsi_token place = gbsi_text_peek(&line);
    GBSI_PASS(gbsi_line_integer(&line, "the number of variables", UINT64_MAX, &r->most, err));
    GBSI_PASS(gbsi_check_variables(r->text, place, r->most, err));
    GBSI_PASS(
        r->unweighted
            ? gbsi_line_integer(&line, "the number of clauses", UINT64_MAX, &r->n_declared, err)
            : gbsi_line_count(r->text, &line, "the number of clauses", 4, &r->n_declared, err));
    GBSI_PASS(r->unweighted ? gbsi_line_expect_end(&line, "the number of clauses", err)
                            : read_top(r, &line, err));
    r->unweighted = r->unweighted || (r->top_token.n == 0 && has_weights_of_literals(*r->text));
    return gbsi_clauses_need(&r->clauses, (uint32_t)r->most, err);
}

/* Whether a weight is at least TOP. Integers are compared exactly, because a double cannot
 * represent every integer near 2^63. */
static bool reaches_top(const wcnf_reader *r, gbsi_token token, double weight)
{
    uint64_t exact = 0;
    uint64_t top = 0;
    bool large = false;
    if (weight == r->top && gbsi_integer_read(token.at, token.n, UINT64_MAX, &exact, &large) &&
        gbsi_integer_read(r->top_token.at, r->top_token.n, UINT64_MAX, &top, &large)) {
        return exact >= top;
    }
    return weight >= r->top;
}

static gbs_status read_weight(wcnf_reader *r, gbsi_text *from, double *weight, gbs_error *err)
{
    gbsi_token token = gbsi_text_peek(from);
    if (r->unweighted) {
        *weight = GBSI_HARD;
        return GBS_OK;
    }
    if (!r->old && gbsi_token_is(token, "h")) {
        (void)gbsi_text_next(from);
        *weight = GBSI_HARD;
        return GBS_OK;
    }
    GBSI_PASS(gbsi_line_number(from, r->old ? "a finite weight" : "a finite weight or h", weight,
                               &r->clauses.n_underflow, err));
    if (r->old && reaches_top(r, token, *weight)) {
        *weight = GBSI_HARD;
    }
    return GBS_OK;
}

/* Reads the comparison that ends a cardinality.
 * @return false if the token is not a comparison. */
static bool is_comparison(const wcnf_reader *r, gbsi_token token, gbs_logical_function *function)
{
    *function = gbsi_token_is(token, ">=")   ? GBS_LOGICAL_AT_LEAST
                : gbsi_token_is(token, "<=") ? GBS_LOGICAL_AT_MOST
                : gbsi_token_is(token, "=")  ? GBS_LOGICAL_EXACTLY
                                             : 0;
    return *function != 0 && r->clauses.function != GBS_LOGICAL_PARITY;
}

static gbs_status read_cardinality(wcnf_reader *r, gbsi_text *from, gbs_logical_function function,
                                   gbs_error *err)
{
    static const char expected[] = "the number of literals that are true";
    uint64_t k = 0;
    const gbs_status status = r->old ? gbsi_text_integer(from, expected, UINT32_MAX, &k, err)
                                     : gbsi_line_integer(from, expected, UINT32_MAX, &k, err);
    r->clauses.function = function;
    r->clauses.k = (uint32_t)k;
    return status;
}

/* Reads a literal or the end of a clause.
 * @param end out: whether the token was the 0 at the end of a clause, or the comparison at the end
 *   of a cardinality. */
static gbs_status read_literal(wcnf_reader *r, gbsi_text *from, bool *end, gbs_error *err)
{
    static const char expected[] = "a literal, or 0 behind the clause";
    char shown[GBSI_SHOWN];
    uint64_t variable = 0;
    bool large = false;
    gbsi_token token = gbsi_text_next(from);
    gbs_logical_function function = 0;
    if (is_comparison(r, token, &function)) {
        *end = true;
        return read_cardinality(r, from, function, err);
    }
    if (token.n == 0 && r->old) {
        return gbsi_text_unexpected(from, token, expected, err);
    }
    bool negative = token.n > 1 && token.at[0] == '-' && token.at[1] != '+';
    if (!gbsi_integer_read(token.at + negative, token.n - negative, r->most, &variable, &large)) {
        return large ? gbsi_text_fail(from, token, err,
                                      "found %s, expected a variable of at most "
                                      "%llu",
                                      gbsi_token_show(token, shown), (unsigned long long)r->most)
                     : gbsi_line_unexpected(from, token, expected, err);
    }
    if (variable == 0 && negative) {
        return gbsi_text_unexpected(from, token, expected, err);
    }
    *end = variable == 0;
    if (*end) {
        return GBS_OK;
    }
    gbs_status status = gbsi_clauses_need(&r->clauses, (uint32_t)variable, err);
    return status < 0 ? status
                      : gbsi_clauses_literal(&r->clauses, (uint32_t)variable - 1, !negative, err);
}

static gbs_status read_clause(wcnf_reader *r, gbsi_text *from, gbs_error *err)
{
    double weight = 0;
    gbsi_token place = gbsi_text_peek(from);
    GBSI_PASS(read_weight(r, from, &weight, err));
    const gbsi_token first = gbsi_text_peek(from);
    if (first.n > 0 && first.at[0] == 'x') {
        r->clauses.function = GBS_LOGICAL_PARITY;
        from->at = first.at + 1; /* the first literal may follow the x without a blank */
    }
    for (bool end = false; !end;) {
        GBSI_PASS(read_literal(r, from, &end, err));
    }
    return gbsi_clauses_end(&r->clauses, r->text, place, weight, err);
}

/* Reads the end of the file. Files of SATLIB end with a line "%" and a line "0". */
static gbs_status read_end(wcnf_reader *r, gbs_error *err)
{
    if (r->unweighted && gbsi_token_is(gbsi_text_peek(r->text), "%")) {
        (void)gbsi_text_next(r->text);
        if (gbsi_token_is(gbsi_text_peek(r->text), "0")) {
            (void)gbsi_text_next(r->text);
        }
    }
    return gbsi_text_expect_end(r->text, "the last clause", err);
}

/* Reads a file with a p line. In files without weights the announced number of clauses is often
 * wrong, for example in all files published with Cachet. All clauses of such a file are read. */
static gbs_status read_old(wcnf_reader *r, gbs_error *err)
{
    bool more = false;
    uint64_t n = 0;
    GBSI_PASS(read_problem(r, err));
    for (;; n++) {
        GBSI_PASS(next_clause(r, &more, err));
        if (!more ||
            (r->unweighted ? gbsi_token_is(gbsi_text_peek(r->text), "%") : n == r->n_declared)) {
            break;
        }
        GBSI_PASS(read_clause(r, r->text, err));
    }
    if (n < r->n_declared && !r->unweighted) {
        return gbsi_text_fail(r->text, gbsi_text_next(r->text), err,
                              "found the end of the file, expected clause %llu of %llu",
                              (unsigned long long)n + 1, (unsigned long long)r->n_declared);
    }
    if (n != r->n_declared) {
        gbsi_text_warn(r->text, "the p line announces %llu clause%s; the %llu of the file are read",
                       (unsigned long long)r->n_declared, gbsi_plural(r->n_declared),
                       (unsigned long long)n);
    }
    return read_end(r, err);
}

static gbs_status read_new(wcnf_reader *r, gbs_error *err)
{
    gbsi_text line;
    bool more = false;
    r->most = gbsi_most_variables(r->text);
    for (;;) {
        GBSI_PASS(next_clause(r, &more, err));
        if (!more) {
            return GBS_OK;
        }
        (void)gbsi_line_next(r->text, &line);
        GBSI_PASS(read_clause(r, &line, err));
        GBSI_PASS(gbsi_line_expect_end(&line, "a clause", err));
    }
    return GBS_OK;
}

static gbs_status read_clauses(wcnf_reader *r, gbs_error *err)
{
    bool more = false;
    GBSI_PASS(next_clause(r, &more, err));
    const gbsi_token first = gbsi_text_peek(r->text);
    r->old = gbsi_token_is(first, "p");
    if (!more) {
        return gbsi_text_unexpected(r->text, first, "p wcnf or a clause", err);
    }
    if (!r->old && gbsi_has_ending(r->text->name, ".cnf")) { /* a file .cnf must have a p line */
        return gbsi_text_unexpected(r->text, first, "p cnf before the clauses of a .cnf file", err);
    }
    GBSI_PASS(r->old ? read_old(r, err) : read_new(r, err));
    return gbsi_literal_weights_end(&r->weights, &r->clauses, r->text, r->unweighted, err);
}

gbs_status gbsi_wcnf_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    wcnf_reader r = {.text = text};
    GBSI_TRY(gbsi_clauses_begin(&r.clauses, text, err));
    GBSI_TRY(read_clauses(&r, err));
    status = gbsi_clauses_build(&r.clauses, text, model, err);

cleanup:
    gbsi_clauses_free(&r.clauses);
    gbsi_literal_weights_free(&r.weights);
    return status;
}
