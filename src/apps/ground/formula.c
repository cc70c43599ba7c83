/* SPDX-License-Identifier: Apache-2.0 */
/* Reads formulas by recursive descent. Operators, from the weakest to the strongest: <=>, =>, v, ^,
 * !. */
#include "base/memory.h"
#include "ground/program.h"
#include "text/lines.h"

typedef struct parser {
    gbsi_program *program;
    gbsi_text *line;
    gbsi_logic_formula *formula;
    gbsi_token name[GBSI_GROUND_MOST_VARIABLES];
    uint32_t depth, n_nodes;
    uint32_t call[GBSI_GROUND_MOST_VARIABLES]; /* node of the atom f(x, z), for each variable z that
                                                  stands for the value of a function */
    /* bit z: whether variable z stands for the value of a function in the current atom */
    uint32_t calls;
} parser;

enum { MOST_NODES = 1000 }; /* largest number of nodes; the grounding visits nodes by recursion */

static gbs_status read_iff(parser *s, uint32_t *node, gbs_error *err);

static gbs_status add_node(parser *s, gbsi_logic_node n, uint32_t *node, gbs_error *err)
{
    gbsi_program *p = s->program;
    if (s->n_nodes++ == MOST_NODES) {
        return gbsi_line_unexpected(s->line, gbsi_logic_peek(s->line),
                                    "a formula of at most 1000 predicates and signs", err);
    }
    const gbs_status status = gbsi_reserve((void **)(void *)&p->node, &p->node_capacity,
                                           p->n_nodes + 1, sizeof *p->node, p->text->name, err);
    if (status == GBS_OK) {
        *node = p->n_nodes;
        p->node[p->n_nodes++] = n;
    }
    return status;
}

static gbs_status add_not(parser *s, uint32_t *node, gbs_error *err)
{
    return add_node(s, (gbsi_logic_node){.op = GBSI_LOGIC_NOT, .left = *node}, node, err);
}

static gbs_status add_terms(parser *s, const int64_t *term, uint32_t n, size_t *first,
                            gbs_error *err)
{
    gbsi_program *p = s->program;
    const gbs_status status = gbsi_reserve((void **)(void *)&p->term, &p->term_capacity,
                                           p->n_terms + n, sizeof *p->term, p->text->name, err);
    *first = p->n_terms;
    for (uint32_t k = 0; k < n && status == GBS_OK; k++) {
        p->term[p->n_terms++] = term[k];
    }
    return status;
}

/* ---- terms ---------------------------------------------------------------------------------- */

static bool is_variable(gbsi_token token)
{
    return token.at[0] >= 'a' && token.at[0] <= 'z';
}

/* @return whether the name is the name of a function, and a parenthesis with its arguments follows.
 */
static bool find_function(const parser *s, gbsi_token name, uint32_t *id)
{
    return gbsi_name_map_find(&s->program->predicates, 0, name.at, name.n, id) &&
           s->program->predicate[*id].function && gbsi_token_is(gbsi_logic_peek(s->line), "(");
}

static gbs_status find_variable(parser *s, gbsi_token token, uint32_t *variable, gbs_error *err)
{
    gbsi_logic_formula *f = s->formula;
    for (uint32_t k = f->n_variables; k > 0;
         k--) { /* the variable of the innermost quantifier comes first */
        if (s->name[k - 1].n == token.n && memcmp(s->name[k - 1].at, token.at, token.n) == 0) {
            *variable = k - 1;
            return GBS_OK;
        }
    }
    if (f->n_variables == GBSI_GROUND_MOST_VARIABLES) {
        return gbsi_line_unexpected(s->line, token, "at most 32 variables in a formula", err);
    }
    *variable = f->n_variables;
    s->name[f->n_variables] = token;
    f->type[f->n_variables++] = UINT32_MAX;
    return GBS_OK;
}

static gbs_status read_call(parser *s, uint32_t function, int64_t *term, gbs_error *err);

/* @param type in: the type that the term must have; UINT32_MAX: any type. Out: the type of the
 * term. */
static gbs_status read_term(parser *s, gbsi_token token, uint32_t *type, int64_t *term,
                            gbs_error *err)
{
    uint32_t id = 0;
    const bool plus = gbsi_token_is(token, "+");
    if (plus) {
        token = gbsi_logic_next(s->line);
    }
    if (!gbsi_logic_is_name(token) || (plus && !is_variable(token))) {
        return gbsi_line_unexpected(s->line, token, plus ? "a variable" : "a variable or constant",
                                    err);
    }
    if (!plus && find_function(s, token, &id)) {
        const gbsi_predicate *q = &s->program->predicate[id];
        const uint32_t value = q->type[q->n_arguments - 1];
        if (*type != UINT32_MAX && *type != value) {
            return gbsi_line_unexpected(s->line, token, "a function with values of this type", err);
        }
        *type = value;
        return read_call(s, id, term, err);
    }
    if (!is_variable(token)) {
        if (*type == UINT32_MAX) {
            return gbsi_line_unexpected(
                s->line, token, "a variable of a type known from a predicate before it", err);
        }
        GBSI_PASS(gbsi_program_constant(s->program, s->program->text, *type, token, &id, err));
        *term = ~(int64_t)id;
        return GBS_OK;
    }
    GBSI_PASS(find_variable(s, token, &id, err));
    uint32_t *known = &s->formula->type[id];
    if (*known != UINT32_MAX && *type != UINT32_MAX && *known != *type) {
        return gbsi_line_unexpected(s->line, token, "variables of one type throughout a formula",
                                    err);
    }
    if (*known == UINT32_MAX) {
        *known = *type;
    }
    *type = *known;
    if (plus && (s->formula->bound >> id & 1) != 0) {
        return gbsi_line_unexpected(s->line, token, "a '+' only before a variable of no quantifier",
                                    err);
    }
    s->formula->plus |= plus ? UINT32_C(1) << id : 0;
    *term = id;
    return GBS_OK;
}

/* Reads n terms in parentheses. The parser is at the opening parenthesis. @param term [n] out */
static gbs_status read_terms(parser *s, const gbsi_predicate *q, uint32_t n, int64_t *term,
                             gbs_error *err)
{
    uint32_t type[GBSI_GROUND_MOST_ARGUMENTS];
    memcpy(type, q->type, sizeof type);
    GBSI_PASS(gbsi_logic_take(s->line, "(", "'('", err));
    for (uint32_t k = 0; k < n; k++) {
        GBSI_PASS(read_term(s, gbsi_logic_next(s->line), &type[k], &term[k], err));
        GBSI_PASS(k + 1 < n ? gbsi_logic_take(s->line, ",", "',' and the next argument", err)
                            : gbsi_logic_take(s->line, ")", "')' behind the last argument", err));
    }
    return GBS_OK;
}

static gbs_status add_atom(parser *s, uint32_t predicate, const int64_t *term, uint32_t *node,
                           gbs_error *err)
{
    gbsi_logic_node n = {.op = GBSI_LOGIC_ATOM, .predicate = predicate};
    GBSI_PASS(add_terms(s, term, s->program->predicate[predicate].n_arguments, &n.first_term, err));
    return add_node(s, n, node, err);
}

/* Reads f(x) as a term: the term becomes a new variable z for which f(x, z) holds, and the atom
 * that contains the term becomes EXIST z (f(x, z) ^ atom), in close_calls(). */
static gbs_status read_call(parser *s, uint32_t function, int64_t *term, gbs_error *err)
{
    gbsi_logic_formula *f = s->formula;
    const gbsi_predicate *q = &s->program->predicate[function];
    const uint32_t n = q->n_arguments - 1;
    int64_t inside[GBSI_GROUND_MOST_ARGUMENTS];
    if (s->depth++ == GBSI_GROUND_MOST_DEPTH) {
        return gbsi_line_unexpected(s->line, gbsi_logic_peek(s->line),
                                    "functions nested in at most 100 others", err);
    }
    GBSI_PASS(read_terms(s, q, n, inside, err));
    s->depth--;
    if (f->n_variables == GBSI_GROUND_MOST_VARIABLES) {
        return gbsi_line_unexpected(s->line, gbsi_logic_peek(s->line),
                                    "at most 32 variables in a formula, one for each function",
                                    err);
    }
    const uint32_t z = f->n_variables++;
    s->name[z] = (gbsi_token){NULL, 0};
    f->type[z] = q->type[n];
    f->bound |= UINT32_C(1) << z;
    inside[n] = *term = z;
    GBSI_PASS(add_atom(s, function, inside, &s->call[z], err));
    s->calls |= UINT32_C(1) << z;
    return GBS_OK;
}

/* Wraps an atom in a quantifier EXIST z for each function value in s->calls (see read_call()).
 * @param node an atom, in and out. */
static gbs_status close_calls(parser *s, uint32_t *node, gbs_error *err)
{
    for (uint32_t z = GBSI_GROUND_MOST_VARIABLES; z > 0;
         z--) { /* the outermost call was added last */
        if ((s->calls >> (z - 1) & 1) != 0) {
            gbsi_logic_node both = {.op = GBSI_LOGIC_AND, .left = s->call[z - 1], .right = *node};
            gbsi_logic_node exist = {.op = GBSI_LOGIC_EXIST, .predicate = z - 1};
            GBSI_PASS(add_node(s, both, &exist.left, err));
            GBSI_PASS(add_node(s, exist, node, err));
        }
    }
    s->calls = 0;
    return GBS_OK;
}

static gbs_status read_atom(parser *s, gbsi_token name, uint32_t *node, gbs_error *err)
{
    gbsi_program *p = s->program;
    uint32_t id = 0;
    int64_t term[GBSI_GROUND_MOST_ARGUMENTS];
    if (!gbsi_name_map_find(&p->predicates, 0, name.at, name.n, &id)) {
        return gbsi_line_unexpected(s->line, name, "a predicate that is declared above", err);
    }
    GBSI_PASS(read_terms(s, &p->predicate[id], p->predicate[id].n_arguments, term, err));
    GBSI_PASS(add_atom(s, id, term, node, err));
    return close_calls(s, node, err);
}

/* Whether a sign says that two terms differ, as Alchemy, ProbCog or Tuffy write it. */
static bool is_unequal(gbsi_token sign)
{
    return gbsi_token_is(sign, "!=") || gbsi_token_is(sign, "=/=") || gbsi_token_is(sign, "<>");
}

/* Reads f(x) = y, which is the atom f(x, y). */
static gbs_status read_function_value(parser *s, uint32_t function, uint32_t *node, gbs_error *err)
{
    const gbsi_predicate *q = &s->program->predicate[function];
    const uint32_t n = q->n_arguments - 1;
    uint32_t type = q->type[n];
    int64_t term[GBSI_GROUND_MOST_ARGUMENTS];
    GBSI_PASS(read_terms(s, q, n, term, err));
    const gbsi_token sign = gbsi_logic_next(s->line);
    const bool differs = is_unequal(sign);
    if (!differs && !gbsi_token_is(sign, "=")) {
        return gbsi_line_unexpected(s->line, sign, "'=' or '!=' and the function's value", err);
    }
    GBSI_PASS(read_term(s, gbsi_logic_next(s->line), &type, &term[n], err));
    GBSI_PASS(add_atom(s, function, term, node, err));
    GBSI_PASS(close_calls(s, node, err));
    return differs ? add_not(s, node, err) : GBS_OK;
}

/* Reads x = y or x != y. */
static gbs_status read_equal(parser *s, gbsi_token first, uint32_t *node, gbs_error *err)
{
    uint32_t type = UINT32_MAX;
    int64_t term[2];
    gbsi_logic_node n = {.op = GBSI_LOGIC_EQUAL};
    GBSI_PASS(read_term(s, first, &type, &term[0], err));
    const gbsi_token sign = gbsi_logic_next(s->line);
    GBSI_PASS(read_term(s, gbsi_logic_next(s->line), &type, &term[1], err));
    /* the type of the first term may follow from the second term */
    if (term[0] >= 0) {
        s->formula->type[term[0]] = type;
    }
    GBSI_PASS(add_terms(s, term, 2, &n.first_term, err));
    GBSI_PASS(add_node(s, n, node, err));
    GBSI_PASS(close_calls(s, node, err));
    if (is_unequal(sign)) {
        GBSI_PASS(add_not(s, node, err));
    }
    return GBS_OK;
}

/* ---- signs ---------------------------------------------------------------------------------- */

static gbs_status read_unary(parser *s, uint32_t *node, gbs_error *err);

/* Reads EXIST x, y body. The body must be a literal or a formula in parentheses, because programs
 * differ in how far a quantifier reaches without parentheses. */
static gbs_status read_quantifier(parser *s, gbsi_logic_op op, uint32_t *node, gbs_error *err)
{
    gbsi_logic_formula *f = s->formula;
    const uint32_t first = f->n_variables;
    gbsi_token sign;
    do {
        const gbsi_token name = gbsi_logic_next(s->line);
        if (!gbsi_logic_is_name(name) || !is_variable(name)) {
            return gbsi_line_unexpected(s->line, name, "a variable behind the quantifier", err);
        }
        if (f->n_variables == GBSI_GROUND_MOST_VARIABLES) {
            return gbsi_line_unexpected(s->line, name, "at most 32 variables in a formula", err);
        }
        f->bound |= UINT32_C(1) << f->n_variables;
        s->name[f->n_variables] = name;
        f->type[f->n_variables++] = UINT32_MAX;
        sign = gbsi_logic_peek(s->line);
        if (gbsi_token_is(sign, ",")) {
            (void)gbsi_logic_next(s->line);
        }
    } while (gbsi_token_is(sign, ","));
    const uint32_t behind = f->n_variables;
    const bool closed = gbsi_token_is(sign, "(");
    GBSI_PASS(read_unary(s, node, err));
    sign = gbsi_logic_peek(s->line);
    if (!closed && sign.n != 0 && !gbsi_token_is(sign, ")") && !gbsi_token_is(sign, ".")) {
        return gbsi_line_unexpected(s->line, sign,
                                    "parentheses about the formula of the quantifier", err);
    }
    for (uint32_t k = behind; k > first; k--) {
        if (f->type[k - 1] == UINT32_MAX) {
            return gbsi_line_unexpected(s->line, s->name[k - 1],
                                        "a variable that a predicate behind it has", err);
        }
        GBSI_PASS(
            add_node(s, (gbsi_logic_node){.op = op, .left = *node, .predicate = k - 1}, node, err));
        s->name[k - 1].n = 0; /* the variable has no name after the quantifier's formula */
    }
    return GBS_OK;
}

static gbs_status read_inside(parser *s, uint32_t *node, gbs_error *err)
{
    const gbsi_token token = gbsi_logic_next(s->line);
    if (gbsi_token_is(token, "!")) {
        GBSI_PASS(read_unary(s, node, err));
        return add_not(s, node, err);
    }
    if (gbsi_token_is(token, "(") || gbsi_token_is(token, "[")) {
        const bool is_round = gbsi_token_is(token, "(");
        GBSI_PASS(read_iff(s, node, err));
        return gbsi_logic_take(
            s->line, is_round ? ")" : "]",
            is_round ? "')' or a sign such as v, ^, =>" : "']' or a sign such as v, ^, =>", err);
    }
    if (gbsi_token_is_any_case(token, "EXIST") || gbsi_token_is_any_case(token, "FORALL")) {
        return read_quantifier(
            s, gbsi_token_is_any_case(token, "EXIST") ? GBSI_LOGIC_EXIST : GBSI_LOGIC_FORALL, node,
            err);
    }
    const gbsi_token sign = gbsi_logic_peek(s->line);
    uint32_t function = 0;
    if (gbsi_token_is(token, "*")) {
        return gbsi_line_unexpected(s->line, token,
                                    "a literal: '*' for a formula of either sign is not read", err);
    }
    if (gbsi_logic_is_name(token) && find_function(s, token, &function)) {
        return read_function_value(s, function, node, err);
    }
    if (gbsi_logic_is_name(token) && (gbsi_token_is(sign, "=") || is_unequal(sign))) {
        return read_equal(s, token, node, err);
    }
    if (!gbsi_logic_is_name(token)) {
        return gbsi_line_unexpected(s->line, token, "a predicate, '!', '(' or a quantifier", err);
    }
    return read_atom(s, token, node, err);
}

static gbs_status read_unary(parser *s, uint32_t *node, gbs_error *err)
{
    if (s->depth == GBSI_GROUND_MOST_DEPTH) {
        return gbsi_line_unexpected(s->line, gbsi_logic_peek(s->line),
                                    "formulas nested in at most 100 others", err);
    }
    s->depth++;
    const gbs_status status = read_inside(s, node, err);
    s->depth--;
    return status;
}

/* Reads further operands after the first, each with the sign before it; the sign binds to the left.
 * @param node in: the first operand; out: all operands. */
static gbs_status read_more(parser *s, gbsi_logic_sign sign, gbsi_logic_op op,
                            gbs_status (*operand)(parser *, uint32_t *, gbs_error *),
                            uint32_t *node, gbs_error *err)
{
    while (gbsi_logic_is_sign(gbsi_logic_peek(s->line), sign)) {
        gbsi_logic_node n = {.op = op, .left = *node};
        (void)gbsi_logic_next(s->line);
        GBSI_PASS(operand(s, &n.right, err));
        GBSI_PASS(add_node(s, n, node, err));
    }
    return GBS_OK;
}

/* Reads operands with a sign between them. */
static gbs_status read_list(parser *s, gbsi_logic_sign sign, gbsi_logic_op op,
                            gbs_status (*operand)(parser *, uint32_t *, gbs_error *),
                            uint32_t *node, gbs_error *err)
{
    GBSI_PASS(operand(s, node, err));
    return read_more(s, sign, op, operand, node, err);
}

static gbs_status read_and(parser *s, uint32_t *node, gbs_error *err)
{
    return read_list(s, GBSI_SIGN_AND, GBSI_LOGIC_AND, read_unary, node, err);
}

static gbs_status read_or(parser *s, uint32_t *node, gbs_error *err)
{
    return read_list(s, GBSI_SIGN_OR, GBSI_LOGIC_OR, read_and, node, err);
}

/* Reads the formula before =>, which in Tuffy may be a list a, b that means a ^ b. */
static gbs_status read_condition(parser *s, uint32_t *node, gbs_error *err)
{
    GBSI_PASS(read_and(s, node, err));
    if (!gbsi_logic_is_sign(gbsi_logic_peek(s->line), GBSI_SIGN_LIST)) {
        return read_more(s, GBSI_SIGN_OR, GBSI_LOGIC_OR, read_and, node, err);
    }
    GBSI_PASS(read_more(s, GBSI_SIGN_LIST, GBSI_LOGIC_AND, read_and, node, err));
    const gbsi_token sign = gbsi_logic_peek(s->line);
    return gbsi_token_is(sign, "=>")
               ? GBS_OK
               : gbsi_line_unexpected(s->line, sign,
                                      "'=>', because commas mean ^ only before this sign", err);
}

/* Reads a => b, which is !a v b. A second => needs parentheses. */
static gbs_status read_implies(parser *s, uint32_t *node, gbs_error *err)
{
    GBSI_PASS(read_condition(s, node, err));
    if (gbsi_token_is(gbsi_logic_peek(s->line), "=>")) {
        gbsi_logic_node n = {.op = GBSI_LOGIC_OR};
        (void)gbsi_logic_next(s->line);
        GBSI_PASS(add_not(s, node, err));
        n.left = *node;
        GBSI_PASS(read_or(s, &n.right, err));
        GBSI_PASS(add_node(s, n, node, err));
        if (gbsi_token_is(gbsi_logic_peek(s->line), "=>")) {
            return gbsi_line_unexpected(s->line, gbsi_logic_peek(s->line),
                                        "parentheses about one of two implications", err);
        }
    }
    return GBS_OK;
}

static gbs_status read_iff(parser *s, uint32_t *node, gbs_error *err)
{
    return read_list(s, GBSI_SIGN_IFF, GBSI_LOGIC_IFF, read_implies, node, err);
}

/* Checks that compared terms have equal types. The types of some variables are known only after the
 * whole formula was read. */
static gbs_status check_equal(const parser *s, uint32_t first_node, gbs_error *err)
{
    const gbsi_program *p = s->program;
    for (uint32_t i = first_node; i < p->n_nodes; i++) {
        const int64_t *term = p->term + p->node[i].first_term;
        if (p->node[i].op == GBSI_LOGIC_EQUAL && term[0] >= 0 && term[1] >= 0 &&
            s->formula->type[term[0]] != s->formula->type[term[1]]) {
            return gbsi_line_unexpected(s->line, s->formula->place,
                                        "a formula that compares variables of one type", err);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_formula_read(gbsi_program *program, gbsi_text *line, gbsi_logic_formula *formula,
                             gbs_error *err)
{
    parser s = {.program = program, .line = line, .formula = formula};
    const uint32_t first_node = program->n_nodes;
    GBSI_PASS(read_iff(&s, &formula->root, err));
    for (uint32_t k = 0; k < formula->n_variables; k++) {
        if (formula->type[k] == UINT32_MAX) {
            return gbsi_line_unexpected(line, s.name[k], "a variable that a predicate has", err);
        }
    }
    return check_equal(&s, first_node, err);
}
