/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Hugin NET: node blocks, then potentials over (child | parents). In the data the first
 * parent runs slowest and the child runs fastest, as in the model. The parentheses around data only
 * show the shape to people, and are skipped. The file is read twice, because a potential may
 * precede a node. */
#include <string.h>

#include "base/plural.h"
#include "models/bif.h"
#include "models/formats.h"

/* Number of entries (32 MiB of doubles) that potentials without data may fill, in addition to one
 * entry for each byte of the file. */
static const size_t UNIFORM_ENTRIES = (size_t)1 << 22;

typedef struct net_reader {
    gbsi_text *text;
    size_t n_uniform;   /* number of potentials without data */
    gbsi_token uniform; /* node of the first potential without data */
    gbsi_bif_tables tables;
} net_reader;

/* ---- tokens ---------------------------------------------------------------------------------- */

/* @return the position behind the quote that ends the text at `at`, or NULL if there is no such
 *   quote. \\" does not end the text. */
static const char *end_quote(const char *at, const char *end)
{
    while (at < end && *at != '"') {
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    }
    return at < end ? at + 1 : NULL;
}

static bool is_sign(char c)
{
    return strchr("{}()=;|", c) != NULL;
}

static bool starts(const gbsi_text *text, const char *with)
{
    const size_t n = strlen(with);
    return gbsi_text_left(text) >= n && memcmp(text->at, with, n) == 0;
}

/* Skips blanks, commas, comments of Hugin's form, and comments of the forms that other programs
 * accept. */
static gbs_status skip_blanks(gbsi_text *text, gbs_error *err)
{
    for (;;) {
        while (text->at < text->end && (gbsi_is_blank(*text->at) || *text->at == ',')) {
            text->at++;
        }
        const char *begin = text->at;
        if (starts(text, "%") || starts(text, "//")) {
            const char *line = memchr(text->at, '\n', gbsi_text_left(text));
            text->at = line == NULL ? text->end : line + 1;
        } else if (starts(text, "/*")) {
            do {
                text->at++;
            } while (text->at < text->end && !(starts(text, "*/") && text->at > begin + 1));
            if (text->at == text->end) {
                return gbsi_text_fail(text, (gbsi_token){begin, 2}, err,
                                      "found a comment that does not end, expected '*/'");
            }
            text->at += 2;
        } else {
            return GBS_OK;
        }
    }
}

/* Reads a token. The kind of the token is 'w' for a word, 'q' for quoted text, 0 at the end of the
 * file, or one of {}()=;| */
static gbs_status next_token(gbsi_text *text, gbsi_bif_token *token, gbs_error *err)
{
    GBSI_PASS(skip_blanks(text, err));
    const char *at = text->at;
    *token = (gbsi_bif_token){.text = {at, 0}, .shown = {at, 0}};
    if (at == text->end) {
        return GBS_OK;
    }
    if (*at == '"') {
        const char *end = end_quote(at + 1, text->end);
        if (end == NULL) {
            return gbsi_text_fail(text, (gbsi_token){at, 1}, err,
                                  "found a quote that does not end, expected '\"'");
        }
        text->at = end;
        *token = (gbsi_bif_token){.kind = 'q',
                                  .text = {at + 1, (size_t)(end - at) - 2},
                                  .shown = {at, (size_t)(end - at)}};
        return GBS_OK;
    }
    token->kind = is_sign(*at) ? *at++ : 'w';
    while (token->kind == 'w' && at < text->end && !is_sign(*at) && !gbsi_is_blank(*at) &&
           strchr(",\"%", *at) == NULL) {
        at++;
    }
    token->text.n = token->shown.n = (size_t)(at - text->at);
    text->at = at;
    return GBS_OK;
}

static gbs_status expect(gbsi_text *text, char kind, gbs_error *err)
{
    gbsi_bif_token token;
    GBSI_PASS(next_token(text, &token, err));
    if (token.kind != kind) {
        const char expected[4] = {'\'', kind, '\'', 0};
        return gbsi_text_unexpected(text, token.shown, expected, err);
    }
    return GBS_OK;
}

/* Reads a name, which is a word or a text in quotes that is not empty. */
static gbs_status expect_name(gbsi_text *text, gbsi_bif_token *token, const char *what,
                              gbs_error *err)
{
    GBSI_PASS(next_token(text, token, err));
    if ((token->kind != 'w' && token->kind != 'q') || token->text.n == 0) {
        return gbsi_text_unexpected(text, token->shown, what, err);
    }
    return GBS_OK;
}

/* Moves behind the semicolon that ends a value. */
static gbs_status skip_value(gbsi_text *text, gbs_error *err)
{
    gbsi_bif_token token;
    do {
        GBSI_PASS(next_token(text, &token, err));
        if (token.kind == 0 || token.kind == '{' || token.kind == '}') {
            return gbsi_text_unexpected(text, token.shown, "';' behind the value", err);
        }
    } while (token.kind != ';');
    return GBS_OK;
}

static gbs_status refuse_kind(const gbsi_text *text, const gbsi_bif_token *token, const char *why,
                              gbs_error *err)
{
    char shown[GBSI_SHOWN];
    return gbsi_text_unsupported(text, token->shown, err, "found %s, expected %s",
                                 gbsi_token_show(token->shown, shown), why);
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* Reads the list ( "a" "b" ); behind "states =" */
static gbs_status declare_states(net_reader *r, uint32_t variable, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_bif_token token;
    GBSI_TRY(expect(r->text, '(', err));
    for (;;) {
        GBSI_TRY(next_token(r->text, &token, err));
        if (token.kind == ')') {
            break;
        }
        if ((token.kind != 'w' && token.kind != 'q') || token.text.n == 0) {
            return gbsi_text_unexpected(r->text, token.shown, "a state or ')'", err);
        }
        GBSI_TRY(gbsi_bif_add_state(r->text, &r->tables.network, variable, &token, err));
    }
    status = expect(r->text, ';', err);

cleanup:
    return status;
}

/* Reads a block node NAME { states = (...); other = value; ... } from behind the word "node". */
static gbs_status declare_node(net_reader *r, gbs_error *err)
{
    gbsi_bif_network *network = &r->tables.network;
    gbsi_bif_token name;
    gbsi_bif_token token;
    const uint32_t id = network->n_variables;
    GBSI_PASS(expect_name(r->text, &name, "the name of a node", err));
    GBSI_PASS(next_token(r->text, &token, err));
    /* pgmpy writes names of several words without quotes */
    while (name.kind == 'w' && token.kind == 'w') {
        network->has_long_names = true;
        name.text.n = (size_t)(token.text.at + token.text.n - name.text.at);
        name.shown = name.text;
        GBSI_PASS(next_token(r->text, &token, err));
    }
    GBSI_PASS(gbsi_bif_add_variable(r->text, network, &name, err));
    if (token.kind != '{') {
        return gbsi_text_unexpected(r->text, token.shown, "'{'", err);
    }
    for (;;) {
        const bool has_states = gbsi_bif_variable_at(network, id)->n_states != 0;
        GBSI_PASS(next_token(r->text, &token, err));
        if (token.kind == '}' && has_states) {
            return GBS_OK;
        }
        if (token.kind == ';') {
            continue;
        }
        if (token.kind != 'w') {
            return gbsi_text_unexpected(r->text, token.shown,
                                        has_states ? "an attribute or '}'" : "the states of a node",
                                        err);
        }
        GBSI_PASS(expect(r->text, '=', err));
        if (gbsi_bif_is_word(&token, "states")) {
            if (has_states) {
                return gbsi_text_unexpected(r->text, token.shown, "the states of a node once", err);
            }
            GBSI_PASS(declare_states(r, id, err));
        } else {
            GBSI_PASS(skip_value(r->text, err));
        }
    }
    return GBS_OK;
}

/* Notes where a potential begins, and moves behind its end. */
static gbs_status pass_potential(net_reader *r, gbs_error *err)
{
    gbsi_bif_token token;
    GBSI_PASS(gbsi_bif_add_block(r->text, &r->tables.network, r->text->at, err));
    do {
        GBSI_PASS(next_token(r->text, &token, err));
        if (token.kind == 0) {
            return gbsi_text_unexpected(r->text, token.shown, "'}' of a potential", err);
        }
    } while (token.kind != '}');
    return GBS_OK;
}

/* Skips a block net { a = b; ... }. In a class, the attributes of the network are outside such a
 * block. */
static gbs_status pass_net(net_reader *r, gbs_error *err)
{
    gbsi_bif_token token;
    GBSI_PASS(expect(r->text, '{', err));
    for (;;) {
        GBSI_PASS(next_token(r->text, &token, err));
        if (token.kind == '}') {
            return GBS_OK;
        }
        if (token.kind == ';') {
            continue;
        }
        if (token.kind != 'w') {
            return gbsi_text_unexpected(r->text, token.shown, "an attribute or '}'", err);
        }
        GBSI_PASS(expect(r->text, '=', err));
        GBSI_PASS(skip_value(r->text, err));
    }
    return GBS_OK;
}

/* Reads one declaration, or an attribute of the class that contains it. */
static gbs_status declare(net_reader *r, const gbsi_bif_token *token, bool in_class, gbs_error *err)
{
    static const char *const others[] = {"continuous", "decision", "utility", "function",
                                         "instance"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (gbsi_bif_is_word(token, others[i])) {
            return refuse_kind(r->text, token, "discrete nodes and potentials only", err);
        }
    }
    if (gbsi_bif_is_word(token, "discrete")) {
        gbsi_bif_token node;
        GBSI_PASS(next_token(r->text, &node, err));
        return gbsi_bif_is_word(&node, "node") ? declare_node(r, err)
                                               : refuse_kind(r->text, &node, "'node'", err);
    }
    if (gbsi_bif_is_word(token, "node")) {
        return declare_node(r, err);
    }
    if (gbsi_bif_is_word(token, "potential")) {
        return pass_potential(r, err);
    }
    if (token->kind != 'w' || !in_class) {
        return gbsi_text_unexpected(r->text, token->shown, "'node' or 'potential'", err);
    }
    GBSI_PASS(expect(r->text, '=', err));
    return skip_value(r->text, err);
}

static gbs_status declare_all(net_reader *r, gbs_error *err)
{
    gbsi_bif_token token;
    bool in_class = false;
    GBSI_PASS(next_token(r->text, &token, err));
    if (gbsi_bif_is_word(&token, "class")) {
        in_class = true;
        GBSI_PASS(expect_name(r->text, &token, "the name of a class", err));
        GBSI_PASS(expect(r->text, '{', err));
    } else if (gbsi_bif_is_word(&token, "net")) {
        GBSI_PASS(pass_net(r, err));
    } else {
        return gbsi_text_unexpected(r->text, token.shown, "'net' or 'class'", err);
    }
    for (;;) {
        GBSI_PASS(next_token(r->text, &token, err));
        if (token.kind == (in_class ? '}' : 0)) {
            break;
        }
        if (token.kind != ';') {
            GBSI_PASS(declare(r, &token, in_class, err));
        }
    }
    if (in_class) {
        do {
            GBSI_PASS(next_token(r->text, &token, err));
        } while (token.kind == ';');
        if (token.kind != 0) {
            return refuse_kind(r->text, &token, "one class and nothing behind it", err);
        }
    }
    return GBS_OK;
}

/* ---- potentials ------------------------------------------------------------------------------ */

/* Reads the scope of a potential, ( CHILD | PARENT PARENT ) */
static gbs_status read_scope(net_reader *r, gbs_error *err)
{
    gbsi_bif_token token;
    GBSI_PASS(expect(r->text, '(', err));
    if (r->tables.network.has_long_names) {
        const gbsi_token among = gbsi_bif_inside(r->text, '{');
        const gbsi_token place = gbsi_text_at(r->text, among.at);
        bool found = false;
        GBSI_PASS(gbsi_bif_table_names(&r->tables, among, place, " \t\r\n,|", &found, err));
        r->text->at += found ? among.n + 1 : 0;
        if (found) {
            return GBS_OK;
        }
    }
    GBSI_PASS(expect_name(r->text, &token, "the node of a potential", err));
    GBSI_PASS(gbsi_bif_table_child(&r->tables, &token, err));
    GBSI_PASS(next_token(r->text, &token, err));
    if (token.kind == 'w' || token.kind == 'q') {
        return refuse_kind(r->text, &token, "'|' or ')': a potential has one node", err);
    }
    if (token.kind == ')') {
        return GBS_OK;
    }
    if (token.kind != '|') {
        return gbsi_text_unexpected(r->text, token.shown, "'|' or ')'", err);
    }
    for (;;) {
        GBSI_PASS(next_token(r->text, &token, err));
        if (token.kind == ')') {
            return GBS_OK;
        }
        if ((token.kind != 'w' && token.kind != 'q') || token.text.n == 0) {
            return gbsi_text_unexpected(r->text, token.shown, "a parent or ')'", err);
        }
        GBSI_PASS(gbsi_bif_table_parent(&r->tables, &token, err));
    }
    return GBS_OK;
}

/* Reads data such as ( 0.1 0.9 ), with any parentheses, up to the semicolon. */
static gbs_status read_data(net_reader *r, gbs_error *err)
{
    gbsi_bif_token token;
    double *value = r->tables.value;
    const size_t n = r->tables.n_rows * r->tables.arity;
    size_t i = 0;
    size_t depth = 0;
    for (;;) {
        GBSI_PASS(next_token(r->text, &token, err));
        if (token.kind == ';' && depth == 0 && i == n) {
            return GBS_OK;
        }
        if (token.kind == '(' || (token.kind == ')' && depth > 0)) {
            depth += token.kind == '(' ? 1 : (size_t)-1;
        } else if (token.kind == 'w' && i < n) {
            GBSI_PASS(gbsi_bif_table_value(&r->tables, &token, &value[i++], err));
        } else {
            char shown[GBSI_SHOWN];
            return gbsi_text_fail(r->text, token.shown, err,
                                  "found %s after %zu probabilit%s, expected %zu, as many ')' as "
                                  "'(', and ';'",
                                  gbsi_token_show(token.shown, shown), i,
                                  gbsi_plural_of(i, "y", "ies"), n);
        }
    }
    return GBS_OK;
}

/* Fills a potential that has no data with equal entries, as Hugin does. */
static gbs_status fill_uniform(net_reader *r, gbs_error *err)
{
    gbsi_bif_tables *t = &r->tables;
    GBSI_PASS(gbsi_bif_table_size(t, err));
    double *value = t->value;
    const size_t n = t->n_rows * t->arity;
    if (n > t->n_spare) {
        return gbsi_bif_table_too_large(t, err);
    }
    t->n_spare -= n;
    for (size_t i = 0; i < n; i++) {
        value[i] = 1.0 / t->arity;
    }
    r->uniform = r->n_uniform++ == 0 ? t->child.text : r->uniform;
    return GBS_OK;
}

/* Reads the attributes of a potential, data = ...; other = value; ... } */
static gbs_status read_attributes(net_reader *r, gbs_error *err)
{
    gbsi_bif_token token;
    /* the attribute model_data, an expression from which Hugin computed the data */
    gbsi_bif_token model = {0};
    bool has_data = false;
    for (;;) {
        GBSI_PASS(next_token(r->text, &token, err));
        if (token.kind == '}') {
            break;
        }
        if (token.kind == ';') {
            continue;
        }
        if (token.kind != 'w' || (has_data && gbsi_bif_is_word(&token, "data"))) {
            return gbsi_text_unexpected(r->text, token.shown,
                                        has_data ? "an attribute or '}'" : "'data' or '}'", err);
        }
        GBSI_PASS(expect(r->text, '=', err));
        if (gbsi_bif_is_word(&token, "data")) {
            has_data = true;
            GBSI_PASS(gbsi_bif_table_size(&r->tables, err));
            GBSI_PASS(read_data(r, err));
            GBSI_PASS(gbsi_bif_table_turn(&r->tables, gbsi_table_order(r->text->options, 0), err));
        } else {
            model = gbsi_bif_is_word(&token, "model_data") ? token : model;
            GBSI_PASS(skip_value(r->text, err));
        }
    }
    if (!has_data && model.kind != 0) {
        return refuse_kind(r->text, &model, "'data': expressions are not supported", err);
    }
    return has_data ? GBS_OK : fill_uniform(r, err);
}

/* Reads a potential, ( CHILD | PARENTS ) { ATTRIBUTES } */
static gbs_status read_potential(net_reader *r, const char *block, gbs_error *err)
{
    r->text->at = block;
    GBSI_PASS(read_scope(r, err));
    GBSI_PASS(expect(r->text, '{', err));
    GBSI_PASS(read_attributes(r, err));
    return gbsi_bif_table_add(&r->tables, err);
}

gbs_status gbsi_net_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    net_reader r = {.text = text};
    const gbsi_bif_network *network = &r.tables.network;
    GBSI_TRY(gbsi_bif_tables_init(&r.tables, text, "potential", err));
    r.tables.n_spare = UNIFORM_ENTRIES;
    GBSI_TRY(declare_all(&r, err));
    if (network->n_variables == 0 || network->n_blocks == 0) {
        GBSI_TRY(gbsi_text_unexpected(text, (gbsi_token){text->end, 0},
                                      network->n_variables == 0 ? "a node" : "a potential", err));
    }
    GBSI_TRY(gbsi_bif_tables_begin(&r.tables, err));
    for (size_t b = 0; b < network->n_blocks; b++) {
        GBSI_TRY(read_potential(&r, gbsi_bif_block_at(network, b), err));
    }
    if (r.n_uniform > 0) {
        char shown[GBSI_SHOWN];
        gbsi_text_warn(text, "%zu potential%s without data, the first of %s: read as uniform",
                       r.n_uniform, gbsi_plural(r.n_uniform), gbsi_token_show(r.uniform, shown));
    }
    status = gbsi_bif_tables_build(&r.tables, model, err);

cleanup:
    gbsi_bif_tables_free(&r.tables);
    return status;
}
