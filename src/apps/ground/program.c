/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a program: declarations of types and predicates, formulas with a weight or a period
 * (Richardson & Domingos 2006, Machine Learning 62, in the syntax of Alchemy). */
#include "ground/program.h"

#include <math.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "text/lines.h"

#define GROW(program, array, n, err)                                                    \
    gbsi_reserve((void **)(void *)&(program)->array, &(program)->array##_capacity, (n), \
                 sizeof *(program)->array, (program)->text->name, err)

/* ---- tokens --------------------------------------------------------------------------------- */

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '\'' || (unsigned char)c >= 0x80;
}

bool gbsi_logic_is_name(gbsi_token token)
{
    return token.n != 0 && in_name(token.at[0]);
}

static bool starts(const gbsi_text *text, const char *sign)
{
    const size_t n = strlen(sign);
    return (size_t)(text->end - text->at) >= n && memcmp(text->at, sign, n) == 0;
}

static void skip_blanks(gbsi_text *text)
{
    while (text->at < text->end && gbsi_is_blank(*text->at)) {
        text->at++;
    }
    if (starts(text, "//")) {
        text->at = text->end;
    }
}

gbsi_token gbsi_logic_next(gbsi_text *text)
{
    static const char *const signs[] = {"<=>", "=>", "!="};
    skip_blanks(text);
    gbsi_token token = {text->at, 0};
    while (token.at + token.n < text->end && in_name(token.at[token.n])) {
        token.n++;
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

/* ---- types and predicates ------------------------------------------------------------------- */

static gbs_status find_type(gbsi_program *p, gbsi_token name, uint32_t *type, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool added = false;
    if (gbsi_name_map_find(&p->types, 0, name.at, name.n, type)) {
        return GBS_OK;
    }
    GBSI_TRY(GROW(p, type, p->n_types + 1, err));
    GBSI_TRY(gbsi_name_map_add(&p->types, 0, name.at, name.n, p->n_types, &added, err));
    *type = p->n_types;
    p->type[p->n_types++] = (gbsi_logic_type){.name = name};

cleanup:
    return status;
}

static gbs_status add_constant(gbsi_program *p, uint32_t type, gbsi_token name, uint32_t *constant,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_logic_type *t = &p->type[type];
    bool added = false;
    GBSI_TRY(gbsi_reserve((void **)(void *)&t->constant, &t->capacity, t->n + 1,
                          sizeof *t->constant, p->text->name, err));
    GBSI_TRY(gbsi_name_map_add(&p->constants, type, name.at, name.n, t->n, &added, err));
    *constant = t->n;
    t->constant[t->n++] = name;

cleanup:
    return status;
}

gbs_status gbsi_program_constant(gbsi_program *program, const gbsi_text *text, uint32_t type,
                                 gbsi_token name, uint32_t *constant, gbs_error *err)
{
    if (gbsi_name_map_find(&program->constants, type, name.at, name.n, constant)) {
        return GBS_OK;
    }
    if (program->type[type].declared) {
        return gbsi_text_unexpected(text, name, "a constant that the type was declared with", err);
    }
    return add_constant(program, type, name, constant, err);
}

/* person = {Anna, Bob}, from behind the sign. */
static gbs_status read_type(gbsi_program *p, gbsi_text *line, gbsi_token name, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t type = 0;
    uint32_t constant = 0;
    gbsi_token sign;
    GBSI_TRY(find_type(p, name, &type, err));
    if (p->type[type].n != 0) {
        return gbsi_text_fail(p->text, name, err,
                              "found the constants of a type that has some already, expected them "
                              "once, before they are used");
    }
    GBSI_TRY(gbsi_logic_take(line, "{", "{ and constants", err));
    do {
        const gbsi_token item = gbsi_logic_next(line);
        if (!gbsi_logic_is_name(item)) {
            return gbsi_line_unexpected(line, item, "the name of a constant", err);
        }
        if (gbsi_name_map_find(&p->constants, type, item.at, item.n, &constant)) {
            return gbsi_line_unexpected(line, item, "a constant that is new", err);
        }
        GBSI_TRY(add_constant(p, type, item, &constant, err));
        sign = gbsi_logic_next(line);
    } while (gbsi_token_is(sign, ","));
    if (!gbsi_token_is(sign, "}")) {
        return gbsi_line_unexpected(line, sign, "',' or '}'", err);
    }
    p->type[type].declared = true;
    GBSI_TRY(gbsi_logic_take(line, "", "the end of the line", err));

cleanup:
    return status;
}

/* Friends(person, person), from behind the name. */
static gbs_status read_predicate(gbsi_program *p, gbsi_text *line, gbsi_token name, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool added = false;
    gbsi_predicate q = {.name = name, .one = GBSI_GROUND_NO_ONE};
    gbsi_token sign;
    GBSI_TRY(gbsi_logic_take(line, "(", "'(' and the types of the arguments", err));
    do {
        const gbsi_token type = gbsi_logic_next(line);
        if (!gbsi_logic_is_name(type)) {
            return gbsi_line_unexpected(line, type, "the name of a type", err);
        }
        if (q.n_arguments == GBSI_GROUND_MOST_ARGUMENTS) {
            return gbsi_line_unexpected(line, type, "at most 16 arguments", err);
        }
        GBSI_TRY(find_type(p, type, &q.type[q.n_arguments++], err));
        sign = gbsi_logic_next(line);
        if (gbsi_token_is(sign, "!") && q.one != GBSI_GROUND_NO_ONE) {
            return gbsi_line_unexpected(line, sign, "one argument marked '!' at most", err);
        }
        if (gbsi_token_is(sign, "!")) {
            q.one = q.n_arguments - 1;
            sign = gbsi_logic_next(line);
        }
    } while (gbsi_token_is(sign, ","));
    if (!gbsi_token_is(sign, ")")) {
        return gbsi_line_unexpected(line, sign, "',', ')' or '!'", err);
    }
    GBSI_TRY(gbsi_logic_take(line, "", "the end of the line behind a declaration", err));
    GBSI_TRY(GROW(p, predicate, p->n_predicates + 1, err));
    GBSI_TRY(gbsi_name_map_add(&p->predicates, 0, name.at, name.n, p->n_predicates, &added, err));
    p->predicate[p->n_predicates++] = q;

cleanup:
    return status;
}

/* ---- formulas ------------------------------------------------------------------------------- */

/* Takes a weight from the front of a line. */
static bool take_weight(gbsi_text *line, double *weight)
{
    gbsi_text copy = *line;
    const gbsi_token token = gbsi_text_next(&copy);
    if (token.n == 0 || strchr("+-.0123456789", token.at[0]) == NULL ||
        gbsi_decimal_read(token.at, token.n, weight) == GBSI_DECIMAL_BAD) {
        return false;
    }
    line->at = token.at + token.n;
    return true;
}

static gbs_status read_formula(gbsi_program *p, gbsi_text *line, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_logic_formula f = {.place = gbsi_logic_peek(line), .weight = INFINITY};
    const bool soft = take_weight(line, &f.weight);
    if (soft && !(fabs(f.weight) <= 1e100)) {
        return gbsi_line_unexpected(line, f.place, "a weight between -1e100 and 1e100", err);
    }
    GBSI_TRY(gbsi_formula_read(p, line, &f, err));
    const gbsi_token end = gbsi_logic_next(line);
    if (soft && end.n != 0) {
        return gbsi_line_unexpected(line, end, "the end of a formula with a weight", err);
    }
    if (!soft && !gbsi_token_is(end, ".")) {
        return gbsi_line_unexpected(line, end, "a weight before the formula, or a period behind it",
                                    err);
    }
    if (!soft) {
        GBSI_TRY(gbsi_logic_take(line, "", "the end of the line behind the period", err));
    }
    GBSI_TRY(GROW(p, formula, p->n_formulas + 1, err));
    p->formula[p->n_formulas++] = f;

cleanup:
    return status;
}

/* A line that begins with a name declares, or is a formula that must hold. */
static gbs_status read_line(gbsi_program *p, gbsi_text *line, gbs_error *err)
{
    gbsi_text behind = *line;
    uint32_t id = 0;
    const gbsi_token name = gbsi_logic_next(&behind);
    const gbsi_token sign = gbsi_logic_peek(&behind);
    const bool known = gbsi_name_map_find(&p->predicates, 0, name.at, name.n, &id);
    if (gbsi_logic_is_name(name) && gbsi_token_is(sign, "=")) {
        gbsi_text inside = behind;
        (void)gbsi_logic_next(&inside);
        if (gbsi_token_is(gbsi_logic_peek(&inside), "{")) {
            return read_type(p, &inside, name, err);
        }
    }
    if (gbsi_logic_is_name(name) && gbsi_token_is(sign, "(") && !known) {
        return read_predicate(p, &behind, name, err);
    }
    return read_formula(p, line, err);
}

gbs_status gbsi_program_read(gbsi_program *program, const gbsi_text *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text whole = *text;
    gbsi_text line;
    program->text = text;
    while (gbsi_line_next(&whole, &line)) {
        if (gbsi_logic_peek(&line).n != 0) {
            GBSI_TRY(read_line(program, &line, err));
        }
    }
    if (program->n_formulas == 0) {
        return gbsi_text_unexpected(text, gbsi_text_at(text, text->end), "a formula", err);
    }

cleanup:
    return status;
}

void gbsi_program_free(gbsi_program *program)
{
    for (uint32_t q = 0; q < program->n_predicates; q++) {
        gbsi_predicate *predicate = &program->predicate[q];
        for (uint32_t k = 0; k < predicate->n_arguments && predicate->start != NULL; k++) {
            gbsi_free(predicate->start[k]);
            gbsi_free(predicate->fact[k]);
        }
        gbsi_free(predicate->start);
        gbsi_free(predicate->fact);
        gbsi_free(predicate->tuple);
    }
    for (uint32_t t = 0; t < program->n_types; t++) {
        gbsi_free(program->type[t].constant);
    }
    gbsi_free(program->type);
    gbsi_free(program->predicate);
    gbsi_free(program->node);
    gbsi_free(program->formula);
    gbsi_free(program->term);
    gbsi_name_map_free(&program->types);
    gbsi_name_map_free(&program->predicates);
    gbsi_name_map_free(&program->constants);
}

/* ---- facts ---------------------------------------------------------------------------------- */

static gbs_status read_fact(gbsi_program *p, const gbsi_text *text, gbsi_text *line,
                            gbsi_fact_told *told, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t constant[GBSI_GROUND_MOST_ARGUMENTS];
    uint32_t id = 0;
    gbsi_token name = gbsi_logic_next(line);
    const bool holds = !gbsi_token_is(name, "!");
    if (!holds) {
        name = gbsi_logic_next(line);
    }
    if (!gbsi_logic_is_name(name) || !gbsi_name_map_find(&p->predicates, 0, name.at, name.n, &id)) {
        return gbsi_line_unexpected(line, name, "a predicate that the program declares", err);
    }
    const uint32_t n = p->predicate[id].n_arguments;
    GBSI_TRY(gbsi_logic_take(line, "(", "'('", err));
    for (uint32_t k = 0; k < n; k++) {
        const gbsi_token item = gbsi_logic_next(line);
        if (!gbsi_logic_is_name(item)) {
            return gbsi_line_unexpected(line, item, "a constant", err);
        }
        GBSI_TRY(gbsi_program_constant(p, text, p->predicate[id].type[k], item, &constant[k], err));
        GBSI_TRY(k + 1 < n ? gbsi_logic_take(line, ",", "',' and the next argument", err)
                           : gbsi_logic_take(line, ")", "')' behind the last argument", err));
    }
    if (gbsi_token_is(gbsi_logic_peek(line), ".")) {
        (void)gbsi_logic_next(line);
    }
    GBSI_TRY(gbsi_logic_take(line, "", "the end of the line behind a fact", err));
    p->predicate[id].n_facts++;
    GBSI_TRY(told(context, id, constant, holds, name, err));

cleanup:
    return status;
}

gbs_status gbsi_database_read(gbsi_program *program, const gbsi_text *text, gbsi_fact_told *told,
                              void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text whole = *text;
    gbsi_text line;
    program->database = text;
    while (gbsi_line_next(&whole, &line)) {
        if (gbsi_logic_peek(&line).n != 0) {
            GBSI_TRY(read_fact(program, text, &line, told, context, err));
        }
    }

cleanup:
    return status;
}
