/* SPDX-License-Identifier: Apache-2.0 */
/* Reads weights of literals in a CNF file whose models are to be counted. Files of the model
 * counting competitions have these comment lines, in any letter case:
 *     c p weight L W 0          the weight of a literal
 *     c p show V ... 0          the variables of a projected count
 * Files of the first competition, and files for Cachet, have lines "w L W", which give the weights
 * W and 1 - W to the two literals of a variable. W = -1 means that both literals have the weight 1.
 * miniC2D gives all weights in one comment, "c weights", in the order V, -V, V + 1, ... The weight
 * of a state is the product of the weights of its literals. A literal without a weight has the
 * weight 1. For each variable the model thus gets a constant, and a unit clause if the weights of
 * the two literals differ. */
#include "models/literal_weights.h"

#include <math.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "simd/math.h"
#include "text/lines.h"

#define UNSET (-1.0)

/* A weight that a line gives to one literal, or a variable that "c p show" lists. */
typedef struct entry {
    gbsi_token place;
    /* number of the variable, from 1 on; 0 in the entry of a line "c p show 0" */
    uint32_t variable;
    bool negative;
    enum { WEIGHT, OF_A_VARIABLE, SHOWN } kind;
    double weight;
} entry;

static gbs_status add(gbsi_literal_weights *w, entry e, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve(&w->entry, &w->capacity, w->n + 1, sizeof e, "weights", err));
    ((entry *)w->entry)[w->n++] = e;
    return GBS_OK;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Whether a token is a number, or two numbers with a '/' between them. */
static bool is_weight(gbsi_token token, double *weight)
{
    const char *slash = token.n == 0 ? NULL : memchr(token.at, '/', token.n);
    const size_t n = slash == NULL ? token.n : (size_t)(slash - token.at);
    double below = 1.0;
    if (gbsi_decimal_read(token.at, n, weight) != GBSI_DECIMAL_OK ||
        (slash != NULL &&
         gbsi_decimal_read(slash + 1, token.n - n - 1, &below) != GBSI_DECIMAL_OK)) {
        return false;
    }
    const double above = *weight;
    *weight = above / below;
    return isfinite(*weight) && below > 0 && (*weight != 0 || above == 0);
}

static gbs_status read_weight(gbsi_text *line, entry *e, gbs_error *err)
{
    const gbsi_token token = gbsi_text_next(line);
    if (!is_weight(token, &e->weight)) {
        return gbsi_line_unexpected(line, token, "the weight of a literal, a number", err);
    }
    if (e->weight < 0 && !(e->kind == OF_A_VARIABLE && e->weight == -1 && !e->negative)) {
        return gbsi_line_unexpected(line, token, "a weight of at least 0", err);
    }
    return GBS_OK;
}

/* Reads a literal L and its weight W, which a 0 may follow. */
static gbs_status read_line(gbsi_literal_weights *w, gbsi_text *line, entry e, gbs_error *err)
{
    const gbsi_token token = gbsi_text_next(line);
    uint64_t variable = 0;
    bool large = false;
    e.negative = token.n > 1 && token.at[0] == '-';
    if (!gbsi_integer_read(token.at + e.negative, token.n - e.negative, UINT32_MAX, &variable,
                           &large) ||
        variable == 0) {
        return gbsi_line_unexpected(line, token, "a literal", err);
    }
    e.variable = (uint32_t)variable;
    GBSI_PASS(read_weight(line, &e, err));
    if (gbsi_token_is(gbsi_text_peek(line), "0")) {
        (void)gbsi_text_next(line);
    }
    GBSI_PASS(gbsi_line_expect_end(line, "a weight", err));
    return add(w, e, err);
}

static gbs_status read_show(gbsi_literal_weights *w, gbsi_text *line, entry e, gbs_error *err)
{
    for (uint64_t variable = 1; variable != 0 && gbsi_text_peek(line).n != 0;) {
        GBSI_PASS(gbsi_line_integer(line, "a variable, or 0 behind the last one", UINT32_MAX,
                                    &variable, err));
        e.variable = (uint32_t)variable;
        GBSI_PASS(add(w, e, err));
    }
    return gbsi_line_expect_end(line, "the variables", err);
}

/* Reads miniC2D's line with the weights of all literals. */
static gbs_status read_all(gbsi_literal_weights *w, gbsi_text *line, entry e, gbs_error *err)
{
    w->n_in_one_line = 0;
    for (; gbsi_text_peek(line).n != 0; w->n_in_one_line++) {
        e.place = gbsi_text_peek(line);
        e.variable = 1 + (uint32_t)(w->n_in_one_line / 2);
        e.negative = w->n_in_one_line % 2 != 0;
        GBSI_PASS(read_weight(line, &e, err));
        GBSI_PASS(add(w, e, err));
    }
    return GBS_OK;
}

gbs_status gbsi_literal_weights_line(gbsi_literal_weights *w, gbsi_text line, gbs_error *err)
{
    double number = 0;
    entry e = {.place = gbsi_text_next(&line), .kind = OF_A_VARIABLE};
    if (gbsi_token_is(e.place, "w")) {
        return read_line(w, &line, e, err);
    }
    const gbsi_token word = gbsi_text_next(&line);
    const gbsi_token second = gbsi_text_peek(&line);
    e.kind = WEIGHT;
    if (gbsi_token_is_any_case(word, "WEIGHTS") && is_weight(second, &number)) {
        return read_all(w, &line, e, err);
    }
    if (gbsi_token_is_any_case(word, "IND") && !w->told) {
        w->told = true;
        gbsi_text_warn(&line, "the sampling set of \"c ind\" is not used: states of all variables "
                              "count");
    }
    if (gbsi_token_is_any_case(word, "MUST") && gbsi_token_is_any_case(second, "MULTIPLY")) {
        gbsi_text_warn(&line,
                       "a comment says that the count is to be multiplied (\"c MUST MULTIPLY "
                       "BY\"), which is not done here");
    }
    if (!gbsi_token_is_any_case(word, "P")) {
        return GBS_OK;
    }
    (void)gbsi_text_next(&line);
    if (gbsi_token_is_any_case(second, "WEIGHT")) {
        return read_line(w, &line, e, err);
    }
    e.kind = SHOWN;
    return gbsi_token_is_any_case(second, "SHOW") ? read_show(w, &line, e, err) : GBS_OK;
}

/* ---- clauses for the weights ---------------------------------------------------------------- */

/* Sets the weight of one literal. Fails if the literal has another weight already.
 * @param weight [2 n] weights of the two literals of each variable, the positive literal first. */
static gbs_status set(double *weight, const gbsi_text *text, const entry *e, bool negative,
                      double value, gbs_error *err)
{
    double *known = &weight[2 * (e->variable - 1) + negative];
    if (*known != UNSET && *known != value) {
        return gbsi_text_fail(text, e->place, err,
                              "found another weight of the literal %s%u, expected one",
                              negative ? "-" : "", e->variable);
    }
    *known = value;
    return GBS_OK;
}

/* Checks that "c p show" lists all n variables. @param seen [n] zeros, which the call changes. */
static gbs_status check_shown(const gbsi_literal_weights *w, const gbsi_text *text, uint32_t n,
                              uint8_t *seen, gbs_error *err)
{
    const entry *e = w->entry;
    const entry *first = NULL;
    uint32_t n_seen = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (e[i].kind == SHOWN) {
            first = first == NULL ? &e[i] : first;
            if (e[i].variable != 0 && seen[e[i].variable - 1] == 0) {
                seen[e[i].variable - 1] = 1;
                n_seen++;
            }
        }
    }
    if (first == NULL || n_seen == n) {
        return GBS_OK;
    }
    return gbsi_text_unsupported(
        text, first->place, err,
        "found \"c p show\" with %u of the %u variable%s, which asks for a "
        "projected count; expected all of them or no such line, as "
        "projected counts are not supported",
        n_seen, n, gbsi_plural(n));
}

/* Sets the weight of the literal -V to 1 - P for a line "w V P", unless -V has a weight already. */
static gbs_status complete(double *weight, const gbsi_text *text, const entry *e, gbs_error *err)
{
    double *other = &weight[2 * (e->variable - 1) + !e->negative];
    if (*other != UNSET) {
        return GBS_OK;
    }
    if (e->negative || e->weight > 1) {
        return gbsi_text_fail(text, e->place, err,
                              "found a weight of the literal %s%u that is not the probability of a "
                              "variable, expected the weight of the other literal too",
                              e->negative ? "-" : "", e->variable);
    }
    *other = 1.0 - e->weight;
    return GBS_OK;
}

static gbs_status gather(const gbsi_literal_weights *w, const gbsi_text *text, uint32_t n,
                         double *weight, gbs_error *err)
{
    const entry *end = (const entry *)w->entry + w->n;
    for (const entry *e = w->entry; e < end; e++) {
        if (e->variable > n) {
            return gbsi_text_fail(text, e->place, err,
                                  "found variable %u, expected one of at most %u", e->variable, n);
        }
        if (e->kind != SHOWN) {
            const bool both = e->weight == -1;
            GBSI_PASS(set(weight, text, e, e->negative, both ? 1.0 : e->weight, err));
            GBSI_PASS(both ? set(weight, text, e, true, 1.0, err) : GBS_OK);
        }
    }
    for (const entry *e = w->entry; e < end; e++) {
        GBSI_PASS(e->kind == OF_A_VARIABLE ? complete(weight, text, e, err) : GBS_OK);
    }
    return GBS_OK;
}

/* Adds a unit clause and a constant for a weight that is a if V holds, and b otherwise. Its
 * logarithm is ln b + (ln a - ln b) [V]. */
static gbs_status add_clauses(gbsi_clauses *c, const gbsi_text *text, uint32_t v, double a,
                              double b, gbs_error *err)
{
    const gbsi_token place = {text->begin, 1};
    if (a == b && a != 0) {
        c->constant += c->scale * gbsi_log(a);
        return GBS_OK;
    }
    if (a != 0 && b != 0) {
        c->constant += c->scale * gbsi_log(b);
        GBSI_PASS(gbsi_clauses_literal(c, v, true, err));
        return gbsi_clauses_end(c, text, place, gbsi_log(a) - gbsi_log(b), err);
    }
    if (a == 0) { /* a weight of 0 forbids the literal */
        c->constant += b == 0 ? 0 : c->scale * gbsi_log(b);
        GBSI_PASS(gbsi_clauses_literal(c, v, false, err));
        GBSI_PASS(gbsi_clauses_end(c, text, place, GBSI_HARD, err));
    }
    if (b == 0) {
        c->constant += a == 0 ? 0 : c->scale * gbsi_log(a);
        GBSI_PASS(gbsi_clauses_literal(c, v, true, err));
        GBSI_PASS(gbsi_clauses_end(c, text, place, GBSI_HARD, err));
    }
    return GBS_OK;
}

static void warn_of(const gbsi_literal_weights *w, const gbsi_text *text, uint32_t n,
                    const double *weight)
{
    uint32_t n_one = 0;
    uint32_t n_none = 0;
    bool cachet = false;
    for (size_t i = 0; i < w->n; i++) {
        cachet = cachet || ((const entry *)w->entry)[i].kind == OF_A_VARIABLE;
    }
    for (uint32_t v = 0; v < n; v++) {
        const int known = (weight[2 * v] != UNSET) + (weight[2 * v + 1] != UNSET);
        n_one += known == 1;
        n_none += known == 0;
    }
    if (n_one != 0) {
        gbsi_text_warn(text,
                       "of %u variable%s one literal has a weight and the other has not: it counts "
                       "1, not 1 minus that weight",
                       n_one, gbsi_plural(n_one));
    }
    if (cachet && n_none != 0) {
        gbsi_text_warn(text,
                       "%u variable%s no weight: both literals count 1 (with 1/2, ln Z is %u "
                       "ln 2 lower)",
                       n_none, gbsi_plural_of(n_none, " has", "s have"), n_none);
    }
}

gbs_status gbsi_literal_weights_end(gbsi_literal_weights *w, gbsi_clauses *c, const gbsi_text *text,
                                    bool counting, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = c->n_variables;
    double *weight = NULL;
    uint8_t *seen = NULL;
    if (w->n == 0) {
        return GBS_OK;
    }
    if (!counting) {
        return gbsi_text_fail(text, ((entry *)w->entry)[0].place, err,
                              "found a line about literals in a file whose clauses have weights, "
                              "expected it below \"p cnf\"");
    }
    weight = gbsi_alloc_array(2 * (size_t)n, sizeof *weight);
    seen = gbsi_alloc_array_zero(n, 1);
    GBSI_TRY(GBSI_HAVE(err, "weights", weight, seen));
    for (size_t i = 0; i < 2 * (size_t)n; i++) {
        weight[i] = UNSET;
    }
    GBSI_TRY(gather(w, text, n, weight, err));
    GBSI_TRY(check_shown(w, text, n, seen, err));
    if (w->n_in_one_line != 0 && w->n_in_one_line != 2 * (size_t)n) {
        status = gbsi_text_fail(text, ((entry *)w->entry)[0].place, err,
                                "found %zu weight%s behind \"c weights\", expected %zu",
                                w->n_in_one_line, gbsi_plural(w->n_in_one_line), 2 * (size_t)n);
        goto cleanup;
    }
    for (uint32_t v = 0; v < n; v++) {
        const double *of = weight + 2 * (size_t)v;
        GBSI_TRY(add_clauses(c, text, v, of[0] == UNSET ? 1.0 : of[0], of[1] == UNSET ? 1.0 : of[1],
                             err));
    }
    warn_of(w, text, n, weight);

cleanup:
    GBSI_FREE(weight, seen);
    return status;
}

void gbsi_literal_weights_free(gbsi_literal_weights *w)
{
    gbsi_free(w->entry);
    *w = (gbsi_literal_weights){0};
}
