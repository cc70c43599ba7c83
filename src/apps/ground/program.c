/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the statements of a program, in the syntax of Alchemy, Tuffy and ProbCog. Statements are
 * declarations of types, predicates and functions; formulas with a weight, a period or neither
 * (Richardson & Domingos 2006, Machine Learning 62); and facts. A function f(x) of values y is the
 * predicate f(x, y!). */
#include "ground/program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "text/lines.h"

/* largest number of constants of all ranges together; bytes of the text of such a constant */
enum { MOST_OF_RANGES = 1000000, MOST_DIGITS = 20 };

#define GROW(program, array, n, err)                                                    \
    gbsi_reserve((void **)(void *)&(program)->array, &(program)->array##_capacity, (n), \
                 sizeof *(program)->array, (program)->text->name, err)

/* ---- types and predicates ------------------------------------------------------------------- */

static gbs_status find_type(gbsi_program *p, gbsi_token name, uint32_t *type, gbs_error *err)
{
    bool added = false;
    if (gbsi_name_map_find(&p->types, 0, name.at, name.n, type)) {
        return GBS_OK;
    }
    GBSI_PASS(GROW(p, type, p->n_types + 1, err));
    GBSI_PASS(gbsi_name_map_add(&p->types, 0, name.at, name.n, p->n_types, &added, err));
    *type = p->n_types;
    p->type[p->n_types++] = (gbsi_logic_type){.name = name};
    return GBS_OK;
}

static gbs_status add_constant(gbsi_program *p, uint32_t type, gbsi_token name, uint32_t *constant,
                               gbs_error *err)
{
    gbsi_logic_type *t = &p->type[type];
    bool added = false;
    GBSI_PASS(gbsi_reserve((void **)(void *)&t->constant, &t->capacity, t->n + 1,
                           sizeof *t->constant, p->text->name, err));
    GBSI_PASS(gbsi_name_map_add(&p->constants, type, name.at, name.n, t->n, &added, err));
    *constant = t->n;
    t->constant[t->n++] = name;
    return GBS_OK;
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

/* Adds the constants of a range such as {1, ..., 20} that come after the first constant. The names
 * of these constants are in no file; the program stores their texts. */
static gbs_status read_range(gbsi_program *p, gbsi_text *line, uint32_t type, gbsi_token first,
                             gbs_error *err)
{
    static const char expected[] = "a whole number above the first one, for a range such as "
                                   "1, ..., 20";
    uint64_t from = 0;
    uint64_t to = 0;
    bool large = false;
    gbsi_token last = gbsi_logic_next(line);
    last = gbsi_token_is(last, ",") ? gbsi_logic_next(line) : last;
    if (!gbsi_integer_read(first.at, first.n, UINT32_MAX, &from, &large)) {
        return gbsi_line_unexpected(line, first, "a whole number before '...'", err);
    }
    if (!gbsi_integer_read(last.at, last.n, from + MOST_OF_RANGES - p->n_ranged, &to, &large) ||
        to <= from) {
        return gbsi_line_unexpected(line, last,
                                    large ? "at most 1000000 constants in ranges" : expected, err);
    }
    p->n_ranged += (uint32_t)(to - from);
    GBSI_PASS(GROW(p, made, p->n_made + 1, err));
    char *text = gbsi_alloc_array((size_t)(to - from), MOST_DIGITS);
    GBSI_PASS(GBSI_HAVE(err, "constants", text));
    p->made[p->n_made++] = text;
    for (uint64_t i = from + 1; i <= to; i++, text += MOST_DIGITS) {
        uint32_t constant = 0;
        const gbsi_token name = {text, (size_t)snprintf(text, MOST_DIGITS, "%" PRIu64, i)};
        if (!gbsi_name_map_find(&p->constants, type, name.at, name.n, &constant)) {
            GBSI_PASS(add_constant(p, type, name, &constant, err));
        }
    }
    return GBS_OK;
}

/* Reads {Anna, Bob} or {1, ..., 20}. @param text text of the file. A constant in a program must be
 * new; a constant in a database may be known already. */
static gbs_status read_constants(gbsi_program *p, const gbsi_text *text, gbsi_text *line,
                                 uint32_t type, gbs_error *err)
{
    uint32_t constant = 0;
    gbsi_token item = {NULL, 0};
    gbsi_token sign;
    GBSI_PASS(gbsi_logic_take(line, "{", "{ and constants", err));
    do {
        const gbsi_token before = item;
        item = gbsi_logic_next(line);
        if (gbsi_token_is(item, "...") && before.n != 0) {
            GBSI_PASS(read_range(p, line, type, before, err));
        } else if (!gbsi_logic_is_name(item)) {
            return gbsi_line_unexpected(line, item, "the name of a constant", err);
        } else if (text == p->text &&
                   gbsi_name_map_find(&p->constants, type, item.at, item.n, &constant)) {
            return gbsi_line_unexpected(line, item, "a constant that is new", err);
        } else {
            GBSI_PASS(gbsi_program_constant(p, text, type, item, &constant, err));
        }
        sign = gbsi_logic_next(line);
    } while (gbsi_token_is(sign, ","));
    if (!gbsi_token_is(sign, "}")) {
        return gbsi_line_unexpected(line, sign, "',' or '}'", err);
    }
    return gbsi_logic_take(line, "", "the end of the line", err);
}

/* @return whether a statement declares a type, as in person = {Anna, Bob}; `line` is then at the
 * brace. */
static bool takes_type(gbsi_text *line, gbsi_token *name)
{
    gbsi_text behind = *line;
    *name = gbsi_logic_next(&behind);
    if (!gbsi_logic_is_name(*name) || !gbsi_token_is(gbsi_logic_next(&behind), "=") ||
        !gbsi_token_is(gbsi_logic_peek(&behind), "{")) {
        return false;
    }
    *line = behind;
    return true;
}

static gbs_status read_type(gbsi_program *p, gbsi_text *line, gbsi_token name, gbs_error *err)
{
    uint32_t type = 0;
    GBSI_PASS(find_type(p, name, &type, err));
    if (p->type[type].n != 0) {
        return gbsi_text_fail(p->text, name, err,
                              "found the constants of a type that has some already, expected them "
                              "once, before they are used");
    }
    GBSI_PASS(read_constants(p, p->text, line, type, err));
    p->type[type].declared = true;
    return GBS_OK;
}

/* Adds an argument to a predicate. @param type name of the argument's type. */
static gbs_status add_argument(gbsi_program *p, gbsi_text *line, gbsi_predicate *q, gbsi_token type,
                               gbs_error *err)
{
    if (!gbsi_logic_is_name(type)) {
        return gbsi_line_unexpected(line, type, "the name of a type", err);
    }
    if (q->n_arguments == GBSI_GROUND_MOST_ARGUMENTS) {
        return gbsi_line_unexpected(line, type, "at most 16 arguments", err);
    }
    return find_type(p, type, &q->type[q->n_arguments++], err);
}

/* Reads the types of arguments, such as (person, town!). */
static gbs_status read_arguments(gbsi_program *p, gbsi_text *line, gbsi_predicate *q,
                                 gbs_error *err)
{
    gbsi_token sign;
    GBSI_PASS(gbsi_logic_take(line, "(", "'(' and the types of the arguments", err));
    do {
        GBSI_PASS(add_argument(p, line, q, gbsi_logic_next(line), err));
        sign = gbsi_logic_next(line);
        if (gbsi_token_is(sign, "!") && q->one != GBSI_GROUND_NO_ONE) {
            return gbsi_line_unexpected(line, sign, "one argument marked '!' at most", err);
        }
        if (gbsi_token_is(sign, "!")) {
            q->one = q->n_arguments - 1;
            sign = gbsi_logic_next(line);
        }
    } while (gbsi_token_is(sign, ","));
    if (!gbsi_token_is(sign, ")")) {
        return gbsi_line_unexpected(line, sign, "',', ')' or '!'", err);
    }
    return gbsi_logic_take(line, "", "the end of the line behind a declaration", err);
}

static bool same_arguments(const gbsi_predicate *a, const gbsi_predicate *b)
{
    return a->n_arguments == b->n_arguments && a->one == b->one && a->function == b->function &&
           memcmp(a->type, b->type, a->n_arguments * sizeof *a->type) == 0;
}

/* Reads a declaration: Friends(person, person), Tuffy's *Friends(person, person), or person
 * motherOf(person). @param line the text after the name. @param q the predicate; q->name and
 * q->closed are set already. @param value the type of a function's values; empty for a predicate.
 */
static gbs_status read_predicate(gbsi_program *p, gbsi_text *line, gbsi_predicate *q,
                                 gbsi_token value, gbs_error *err)
{
    bool added = false;
    uint32_t known = 0;
    q->one = GBSI_GROUND_NO_ONE;
    GBSI_PASS(read_arguments(p, line, q, err));
    if (value.n != 0 && q->one != GBSI_GROUND_NO_ONE) {
        return gbsi_line_unexpected(line, q->name, "no argument marked '!' of a function", err);
    }
    if (value.n != 0) {
        GBSI_PASS(add_argument(p, line, q, value, err));
        q->one = q->n_arguments - 1;
        q->function = true;
    }
    p->closes = p->closes || q->closed;
    if (gbsi_name_map_find(&p->predicates, 0, q->name.at, q->name.n, &known)) {
        p->predicate[known].closed = p->predicate[known].closed || q->closed;
        return same_arguments(&p->predicate[known], q)
                   ? GBS_OK
                   : gbsi_line_unexpected(line, q->name, "the types it was declared with", err);
    }
    GBSI_PASS(GROW(p, predicate, p->n_predicates + 1, err));
    GBSI_PASS(
        gbsi_name_map_add(&p->predicates, 0, q->name.at, q->name.n, p->n_predicates, &added, err));
    p->predicate[p->n_predicates++] = *q;
    return GBS_OK;
}

/* ---- formulas ------------------------------------------------------------------------------- */

static gbs_status read_formula(gbsi_program *p, gbsi_text *line, gbs_error *err)
{
    gbsi_logic_formula f = {.place = gbsi_logic_peek(line), .weight = INFINITY};
    const bool soft = gbsi_logic_weight(line, &f.weight);
    if (soft && !(fabs(f.weight) <= 1e100)) {
        return gbsi_line_unexpected(line, f.place, "a weight between -1e100 and 1e100", err);
    }
    GBSI_PASS(gbsi_formula_read(p, line, &f, err));
    const gbsi_token end = gbsi_logic_next(line);
    if (soft && end.n != 0) {
        return gbsi_line_unexpected(line, end, "the end of a formula with a weight", err);
    }
    if (!soft && end.n != 0 && !gbsi_token_is(end, ".")) {
        return gbsi_line_unexpected(line, end, "a weight before the formula, or a period behind it",
                                    err);
    }
    if (!soft && end.n == 0) { /* a formula without weight, whose weight other programs learn */
        f.weight = 0.0;
        p->n_unweighted++;
    }
    GBSI_PASS(gbsi_logic_take(line, "", "the end of the line behind the period", err));
    GBSI_PASS(GROW(p, formula, p->n_formulas + 1, err));
    p->formula[p->n_formulas++] = f;
    return GBS_OK;
}

/* @return the kind of a statement that other programs of Markov logic know and this program does
 * not; NULL if the line is not such a statement. */
static const char *unknown_statement(gbsi_text line)
{
    static const struct {
        const char *word, *what;
    } words[] = {{"#", "a statement: #include and other instructions are not read"},
                 {"$", "a statement: variables of the program itself are not read"},
                 {"@", "a weight that is a number: a formula whose weight is fixed is not marked"},
                 {"[", "a statement: options in brackets are not read"}};
    const gbsi_token first = gbsi_logic_next(&line);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (gbsi_token_is(first, words[i].word)) {
            return words[i].what;
        }
    }
    const bool constrains =
        gbsi_token_is(first, "P") || gbsi_token_is(first, "R") || gbsi_token_is(first, "count");
    (void)gbsi_logic_next(&line);
    (void)gbsi_logic_next(&line);
    return constrains && gbsi_token_is(gbsi_logic_peek(&line), "(")
               ? "a formula: constraints on probabilities or counts are not read"
               : NULL;
}

/* @return whether a line declares a known predicate again. The arguments after the predicate's name
 * are then the names of its types. */
static bool is_repeated(const gbsi_program *p, uint32_t id, gbsi_text behind)
{
    const gbsi_predicate *q = &p->predicate[id];
    for (uint32_t k = 0; k < q->n_arguments; k++) {
        (void)gbsi_logic_next(&behind); /* '(' or ',' */
        const gbsi_token type = gbsi_logic_next(&behind);
        const gbsi_token known = p->type[q->type[k]].name;
        if (type.n != known.n || memcmp(type.at, known.at, type.n) != 0) {
            return false;
        }
        if (gbsi_token_is(gbsi_logic_peek(&behind), "!")) {
            (void)gbsi_logic_next(&behind);
        }
    }
    (void)gbsi_logic_next(&behind);
    return gbsi_logic_peek(&behind).n == 0;
}

/* Reads a declaration, if the line is one. */
static gbs_status try_declaration(gbsi_program *p, gbsi_text *line, bool *is_one, gbs_error *err)
{
    gbsi_text behind = *line;
    uint32_t id = 0;
    gbsi_predicate q = {.name = gbsi_logic_next(&behind)};
    gbsi_token value = {NULL, 0};
    q.closed = gbsi_token_is(q.name, "*");
    q.name = q.closed ? gbsi_logic_next(&behind) : q.name;
    gbsi_token second = gbsi_logic_peek(&behind);
    if (gbsi_logic_is_name(q.name) && gbsi_logic_is_name(second) &&
        !gbsi_token_is_any_case(q.name, "EXIST") &&
        !gbsi_token_is_any_case(q.name, "FORALL")) { /* person motherOf(person) */
        value = q.name;
        q.name = gbsi_logic_next(&behind);
        second = gbsi_logic_peek(&behind);
    }
    const bool known = gbsi_name_map_find(&p->predicates, 0, q.name.at, q.name.n, &id);
    *is_one = gbsi_logic_is_name(q.name) && gbsi_token_is(second, "(") &&
              (!known || value.n != 0 || is_repeated(p, id, behind));
    return *is_one ? read_predicate(p, &behind, &q, value, err) : GBS_OK;
}

/* Reads a line. A line that begins with a name is a declaration or a formula that must hold. */
static gbs_status read_line(gbsi_program *p, gbsi_text *line, gbs_error *err)
{
    bool declares = false;
    double weight = 0.0;
    gbsi_token name;
    gbsi_text copy = *line;
    const char *unknown = unknown_statement(*line);
    if (unknown != NULL) {
        return gbsi_line_unexpected(line, gbsi_logic_peek(line), unknown, err);
    }
    if (takes_type(line, &name)) {
        return read_type(p, line, name, err);
    }
    if (!gbsi_logic_weight(&copy, &weight)) {
        GBSI_PASS(try_declaration(p, line, &declares, err));
    }
    return declares ? GBS_OK : read_formula(p, line, err);
}

gbs_status gbsi_program_read(gbsi_program *program, const gbsi_text *text, gbs_error *err)
{
    gbsi_text whole = *text;
    gbsi_text line;
    program->text = text;
    while (gbsi_logic_statement(&whole, &line)) {
        GBSI_PASS(read_line(program, &line, err));
    }
    for (uint32_t t = 0; t < program->n_types; t++) {
        program->type[t].n_in_program = program->type[t].n;
    }
    if (program->n_formulas == 0) {
        return gbsi_text_unexpected(text, gbsi_text_at(text, text->end), "a formula", err);
    }
    return GBS_OK;
}

void gbsi_program_free(gbsi_program *program)
{
    for (uint32_t q = 0; q < program->n_predicates; q++) {
        gbsi_predicate *predicate = &program->predicate[q];
        for (uint32_t k = 0; k < predicate->n_arguments && predicate->start != NULL; k++) {
            GBSI_FREE(predicate->start[k], predicate->fact[k]);
        }
        GBSI_FREE(predicate->start, predicate->fact, predicate->tuple);
    }
    for (uint32_t t = 0; t < program->n_types; t++) {
        gbsi_free(program->type[t].constant);
    }
    for (uint32_t i = 0; i < program->n_made; i++) {
        gbsi_free(program->made[i]);
    }
    GBSI_FREE(program->made, program->type, program->predicate, program->node, program->formula,
              program->term);
    gbsi_name_map_free(&program->types);
    gbsi_name_map_free(&program->predicates);
    gbsi_name_map_free(&program->constants);
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* Reads the constants of a fact: (Anna, Bob) for a predicate, (Anna) = Bob for a function. */
static gbs_status read_fact_constants(gbsi_program *p, gbsi_text *line, const gbsi_predicate *q,
                                      uint32_t *constant, gbs_error *err)
{
    const uint32_t n_inside = q->n_arguments - q->function;
    GBSI_PASS(gbsi_logic_take(line, "(", "'('", err));
    for (uint32_t k = 0; k < q->n_arguments; k++) {
        const gbsi_token item = gbsi_logic_next(line);
        if (!gbsi_logic_is_name(item)) {
            return gbsi_line_unexpected(line, item, "a constant", err);
        }
        GBSI_PASS(gbsi_program_constant(p, p->database, q->type[k], item, &constant[k], err));
        if (k + 1 < n_inside) {
            GBSI_PASS(gbsi_logic_take(line, ",", "',' and the next argument", err));
        } else if (k + 1 == n_inside) {
            GBSI_PASS(gbsi_logic_take(line, ")", "')' behind the last argument", err));
            GBSI_PASS(q->function ? gbsi_logic_take(line, "=", "'=' and the function's value", err)
                                  : GBS_OK);
        }
    }
    return GBS_OK;
}

static gbs_status read_fact(gbsi_program *program, gbsi_text *line, gbsi_fact_told *told,
                            void *context, gbs_error *err)
{
    uint32_t constant[GBSI_GROUND_MOST_ARGUMENTS];
    uint32_t id = 0;
    double p = 1.0; /* a probability of 1 or 0 before an atom makes it a fact */
    gbsi_token name = gbsi_logic_peek(line);
    if (gbsi_logic_weight(line, &p) && p != 0.0 && p != 1.0) {
        return gbsi_line_unexpected(line, name,
                                    "a fact: evidence of a probability is not read here, the verbs "
                                    "that answer questions take it as virtual evidence",
                                    err);
    }
    name = gbsi_logic_next(line);
    const bool negated = gbsi_token_is(name, "!");
    if (negated) {
        name = gbsi_logic_next(line);
    }
    if (!gbsi_logic_is_name(name) ||
        !gbsi_name_map_find(&program->predicates, 0, name.at, name.n, &id)) {
        return gbsi_line_unexpected(line, name, "a predicate that the program declares", err);
    }
    GBSI_PASS(read_fact_constants(program, line, &program->predicate[id], constant, err));
    if (gbsi_token_is(gbsi_logic_peek(line), ".")) {
        (void)gbsi_logic_next(line);
    }
    GBSI_PASS(gbsi_logic_take(line, "", "the end of the line behind a fact", err));
    program->predicate[id].n_facts++;
    return told(context, id, constant, (p == 1.0) != negated, name, err);
}

gbs_status gbsi_database_read(gbsi_program *program, const gbsi_text *text, gbsi_fact_told *told,
                              void *context, gbs_error *err)
{
    gbsi_text whole = *text;
    gbsi_text line;
    program->database = text;
    while (gbsi_logic_statement(&whole, &line)) {
        gbsi_token name;
        uint32_t type = 0;
        if (takes_type(&line, &name)) {
            if (!gbsi_name_map_find(&program->types, 0, name.at, name.n, &type)) {
                return gbsi_line_unexpected(&line, name, "a type of the program", err);
            }
            GBSI_PASS(read_constants(program, text, &line, type, err));
        } else {
            GBSI_PASS(read_fact(program, &line, told, context, err));
        }
    }
    return GBS_OK;
}
