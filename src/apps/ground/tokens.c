/* SPDX-License-Identifier: Apache-2.0 */
/* Splits programs and databases into words and statements, and reads the weight before a formula. A
 * weight may be a small expression such as log(0.9/0.1). */
#include <math.h>
#include <string.h>

#include "decimal/decimal.h"
#include "ground/program.h"
#include "simd/math.h"
#include "text/lines.h"

/* ---- tokens --------------------------------------------------------------------------------- */

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '\'' || (unsigned char)c >= 0x80;
}

bool gbsi_logic_is_name(gbsi_token token)
{
    return token.n != 0 && (begins_name(token.at[0]) || (token.at[0] == '"' && token.n > 1));
}

static bool starts(const gbsi_text *text, const char *sign)
{
    const size_t n = strlen(sign);
    return (size_t)(text->end - text->at) >= n && memcmp(text->at, sign, n) == 0;
}

/* Moves past the next occurrence of a sign; if there is none, to the end of the text. */
static void skip_to(gbsi_text *text, const char *sign)
{
    while (text->at < text->end && !starts(text, sign)) {
        text->at++;
    }
    text->at += text->at < text->end ? strlen(sign) : 0;
}

/* Skips blanks and comments. */
static void skip_blanks(gbsi_text *text)
{
    for (;;) {
        while (text->at < text->end && gbsi_is_blank(*text->at)) {
            text->at++;
        }
        if (starts(text, "//")) {
            skip_to(text, "\n");
        } else if (starts(text, "/*")) {
            skip_to(text, "*/");
        } else {
            return;
        }
    }
}

/* @return whether a '-' or a period is part of a name, as in Anna-Lena and cs.edu. */
static bool joins_name(const gbsi_text *text, const char *at)
{
    return (*at == '-' || *at == '.') && at > text->at && at + 1 < text->end && begins_name(at[1]);
}

/* @return the length of a quoted name, its quotes included; 0 if the line has no second quote. */
static size_t quoted(const gbsi_text *text)
{
    size_t n = 1;
    while (text->at + n < text->end && text->at[n] != '"' && text->at[n] != '\n') {
        n++;
    }
    return text->at + n < text->end && text->at[n] == '"' ? n + 1 : 0;
}

gbsi_token gbsi_logic_next(gbsi_text *text)
{
    static const char *const signs[] = {"<=>", "=/=", "=>", "!=", "<>", "||", "&&", "..."};
    skip_blanks(text);
    gbsi_token token = {text->at, 0};
    while (token.at + token.n < text->end &&
           (begins_name(token.at[token.n]) || joins_name(text, token.at + token.n))) {
        token.n++;
    }
    if (token.n == 0 && starts(text, "\"")) {
        token.n = quoted(text);
    }
    for (size_t i = 0; token.n == 0 && i < sizeof signs / sizeof signs[0]; i++) {
        token.n = starts(text, signs[i]) ? strlen(signs[i]) : 0;
    }
    if (token.n == 0 && text->at < text->end) {
        token.n = 1;
    }
    text->at += token.n;
    return token;
}

gbsi_token gbsi_logic_peek(const gbsi_text *text)
{
    gbsi_text copy = *text;
    return gbsi_logic_next(&copy);
}

gbs_status gbsi_logic_take(gbsi_text *text, const char *word, const char *expected, gbs_error *err)
{
    const gbsi_token token = gbsi_logic_next(text);
    return gbsi_token_is(token, word) ? GBS_OK : gbsi_line_unexpected(text, token, expected, err);
}

bool gbsi_logic_is_sign(gbsi_token token, gbsi_logic_sign sign)
{
    static const char *const words[][3] = {[GBSI_SIGN_AND] = {"^", "&", "&&"},
                                           [GBSI_SIGN_OR] = {"v", "|", "||"},
                                           [GBSI_SIGN_IMPLIES] = {"=>", "=>", "=>"},
                                           [GBSI_SIGN_IFF] = {"<=>", "<=>", "<=>"},
                                           [GBSI_SIGN_LIST] = {",", ",", ","}};
    for (int i = 0; i < 3; i++) {
        if (gbsi_token_is(token, words[sign][i])) {
            return true;
        }
    }
    return false;
}

/* ---- statements ----------------------------------------------------------------------------- */

/* @return whether a line that ends with this token continues in the next line, and a line that
 * begins with this token continues the previous line. */
static bool goes_on(gbsi_token token)
{
    for (int sign = GBSI_SIGN_AND; sign <= GBSI_SIGN_IFF; sign++) {
        if (gbsi_logic_is_sign(token, (gbsi_logic_sign)sign)) {
            return true;
        }
    }
    return false;
}

bool gbsi_logic_statement(gbsi_text *whole, gbsi_text *line)
{
    gbsi_text at = *whole;
    gbsi_token last = {NULL, 0};
    int depth = 0;
    *line = *whole;
    for (;;) {
        const char *behind = at.at;
        const gbsi_token token = gbsi_logic_next(&at);
        const bool new_line =
            last.n != 0 && memchr(behind, '\n', (size_t)(token.at - behind)) != NULL;
        if (token.n == 0 || (new_line && depth <= 0 && !goes_on(token) && !goes_on(last) &&
                             !gbsi_token_is(last, ","))) {
            line->end = behind;
            whole->at = behind;
            return last.n != 0;
        }
        line->at = last.n == 0 ? token.at : line->at;
        depth += token.n == 1 && strchr("([{", *token.at) != NULL;
        depth -= token.n == 1 && strchr(")]}", *token.at) != NULL;
        last = token;
    }
}

/* ---- weights -------------------------------------------------------------------------------- */

enum { MOST_DEPTH = 50 }; /* largest depth of nested signs and parentheses in a weight */

typedef struct calculator {
    const char *at, *end;
    int depth;
} calculator;

static bool read_sum(calculator *c, double *value);

/* Skips blanks and takes the next character if it is one of `any`. @return the character, or 0. */
static char take(calculator *c, const char *any)
{
    while (c->at < c->end && gbsi_is_blank(*c->at)) {
        c->at++;
    }
    return c->at < c->end && *c->at != '\0' && strchr(any, *c->at) != NULL ? *c->at++ : '\0';
}

static const char *behind_digits(const calculator *c, const char *at)
{
    while (at < c->end && *at >= '0' && *at <= '9') {
        at++;
    }
    return at;
}

static bool read_number(calculator *c, double *value)
{
    const char *end = behind_digits(c, c->at);
    end = end < c->end && *end == '.' ? behind_digits(c, end + 1) : end;
    if (end < c->end && (*end == 'e' || *end == 'E')) {
        const char *digits = end + 1;
        digits += digits < c->end && (*digits == '+' || *digits == '-');
        end = behind_digits(c, digits) > digits ? behind_digits(c, digits) : end;
    }
    const size_t n = (size_t)(end - c->at);
    if (n == 0 || gbsi_decimal_read(c->at, n, value) == GBSI_DECIMAL_BAD ||
        (end < c->end && begins_name(*end))) {
        return false;
    }
    c->at = end;
    return true;
}

/* Reads a number, a function such as log(x), or a sum in parentheses; a sign may precede each of
 * them. */
static bool read_value(calculator *c, double *value)
{
    static const char *const names[] = {"logx", "log", "ln", "exp", "float"};
    size_t name = 0;
    const char sign = take(c, "+-(");
    if (c->depth++ == MOST_DEPTH) {
        return false;
    }
    if (sign == '(') {
        return read_sum(c, value) && take(c, ")") == ')';
    }
    if (sign != '\0') {
        const bool read = read_value(c, value);
        *value = sign == '-' ? -*value : *value;
        return read;
    }
    for (; name < sizeof names / sizeof names[0]; name++) {
        const size_t n = strlen(names[name]);
        if ((size_t)(c->end - c->at) > n && memcmp(c->at, names[name], n) == 0 && c->at[n] == '(') {
            c->at += n;
            break;
        }
    }
    if (name == sizeof names / sizeof names[0]) {
        return read_number(c, value);
    }
    if (!read_value(c, value)) {
        return false;
    }
    *value = name == 0 && *value == 0.0 ? -100.0 /* log(0) is -100, as in ProbCog */
             : name <= 2                ? gbsi_log(*value)
             : name == 3                ? gbsi_exp(*value)
                                        : *value;
    return true;
}

/* Reads values that are separated by characters of `signs`. If no value follows a sign, the weight
 * ends before the sign. */
static bool read_list(calculator *c, const char *signs, bool (*operand)(calculator *, double *),
                      double *value)
{
    bool read = operand(c, value);
    while (read) {
        const calculator before = *c;
        const char sign = take(c, signs);
        double right = 0.0;
        if (sign == '\0' || !operand(c, &right)) {
            *c = before;
            break;
        }
        *value = sign == '+'   ? *value + right
                 : sign == '-' ? *value - right
                 : sign == '*' ? *value * right
                               : *value / right;
    }
    return read;
}

static bool read_product(calculator *c, double *value)
{
    return read_list(c, "*/", read_value, value);
}

static bool read_sum(calculator *c, double *value)
{
    return read_list(c, "+-", read_product, value);
}

bool gbsi_logic_weight(gbsi_text *line, double *weight)
{
    calculator c = {.at = line->at, .end = line->end};
    double value = 0.0;
    const char first = take(&c, "(");
    if (first != '\0' || !read_sum(&c, &value)) { /* a formula may begin with a parenthesis */
        return false;
    }
    *weight = value;
    line->at = c.at;
    return true;
}
