/* SPDX-License-Identifier: Apache-2.0 */
/* Reads XMLBIF 0.3 and 0.2, Bayesian networks in XML. A definition may come before the variables
 * that it uses; the reader therefore notes the positions of definitions, and makes the tables at
 * the end. In a TABLE the first GIVEN variable runs slowest and the FOR variable runs fastest. This
 * is the order of the model, but not of a BIF "table". XMLBIF 0.2, which JavaBayes writes, has
 * elements PROBABILITY instead of DEFINITION and VALUE instead of OUTCOME. In a TABLE of version
 * 0.2 the FOR variable runs slowest, as in the table of BIF. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "models/bif.h"
#include "models/formats.h"
#include "text/xml.h"

/* ---- the known elements ------------------------------------------------------------------ */

typedef enum element {
    DOCUMENT,
    BIF,
    NETWORK,
    NETWORK_NAME,
    NETWORK_PROPERTY,
    VARIABLE,
    VARIABLE_NAME,
    OUTCOME,
    VARIABLE_TYPE,
    VARIABLE_PROPERTY,
    OBSERVED,
    OBS,
    DEFINITION,
    FOR,
    GIVEN,
    TABLE,
    DEFINITION_PROPERTY,
    N_ELEMENTS
} element;

static const struct {
    const char *name;
    element within;
    enum { NOTHING, IGNORED, A_NAME, VALUES } text; /* meaning of the text in the element */
} elements[N_ELEMENTS] = {
    [BIF] = {"BIF", DOCUMENT, NOTHING},
    [NETWORK] = {"NETWORK", BIF, NOTHING},
    [NETWORK_NAME] = {"NAME", NETWORK, IGNORED},
    [NETWORK_PROPERTY] = {"PROPERTY", NETWORK, IGNORED},
    [VARIABLE] = {"VARIABLE", NETWORK, NOTHING},
    [VARIABLE_NAME] = {"NAME", VARIABLE, A_NAME},
    [OUTCOME] = {"OUTCOME", VARIABLE, A_NAME},
    [VARIABLE_TYPE] = {"TYPE", VARIABLE, A_NAME}, /* only in XMLBIF 0.2 */
    [VARIABLE_PROPERTY] = {"PROPERTY", VARIABLE, IGNORED},
    [OBSERVED] = {"OBSERVED", VARIABLE, A_NAME}, /* written by SamIam */
    [OBS] = {"OBS", VARIABLE, A_NAME},           /* written by AISpace */
    [DEFINITION] = {"DEFINITION", NETWORK, NOTHING},
    [FOR] = {"FOR", DEFINITION, A_NAME},
    [GIVEN] = {"GIVEN", DEFINITION, A_NAME},
    [TABLE] = {"TABLE", DEFINITION, VALUES},
    [DEFINITION_PROPERTY] = {"PROPERTY", DEFINITION, IGNORED},
};

/* ---- the reader -------------------------------------------------------------------------- */

typedef struct definition {
    gbsi_bif_token child; /* the FOR variable; its kind is 0 until FOR has been read */
    size_t first_given, n_given;
    /* index of the first piece of the definition's TABLE, and number of its pieces */
    size_t first_piece, n_pieces;
    unsigned order;        /* order of the entries of the definition's TABLE */
    const char *table_end; /* position of </TABLE>; NULL until a TABLE has been read */
} definition;

typedef struct xmlbif_reader {
    gbsi_text *text;
    gbsi_bif_tables tables;
    element at; /* the open element */
    /* number of open elements that are ignored: an unknown element and all elements inside it */
    size_t n_ignored;
    size_t n_unknown;   /* number of unknown elements, without the elements inside them */
    gbsi_token unknown; /* tag of the first unknown element */
    size_t n_observed;  /* number of observations */
    uint32_t first_observed;
    gbsi_token observation; /* text of the observation of the open variable */
    /* label of the first observed state; if the text of the observation is not a state, this text
     */
    gbsi_token first_observation;
    gbsi_token tag;    /* start tag of the first observation */
    bool has_network;  /* a NETWORK was read */
    bool is_named;     /* whether the NAME of the open variable was read */
    definition now;    /* the open definition */
    void *definitions; /* definition [n_definitions]: definitions read so far */
    size_t definition_capacity, n_definitions;
    void *given; /* gbsi_bif_token [n_given]: GIVEN variables of all definitions */
    size_t given_capacity, n_given;
    void *pieces; /* gbsi_token [n_pieces]: values of all TABLEs, in pieces between comments */
    size_t piece_capacity, n_pieces;
    gbsi_xml_names names;
} xmlbif_reader;

/* Whether the element `e` may begin inside the open element. */
static bool may_begin(const xmlbif_reader *r, element e)
{
    if (e == DOCUMENT || elements[e].within != r->at) {
        return false;
    }
    switch (e) {
    case NETWORK:
        return !r->has_network;
    case VARIABLE_NAME:
        return !r->is_named;
    case OUTCOME:
        return r->is_named;
    case FOR:
        return r->now.child.kind == 0;
    case TABLE:
        return r->now.table_end == NULL;
    default:
        return true;
    }
}

/* Refuses a tag with a message such as "found '<A>', expected <NAME>, <PROPERTY> or </NETWORK>". */
static gbs_status refuse_tag(const xmlbif_reader *r, gbsi_token tag, gbs_error *err)
{
    char expected[160];
    size_t n = 0;
    for (element e = 0; e < N_ELEMENTS; e++) {
        if (may_begin(r, e) && e != VARIABLE_TYPE) { /* only in XMLBIF 0.2 */
            n += (size_t)snprintf(expected + n, sizeof expected - n, "%s<%s>", n == 0 ? "" : ", ",
                                  elements[e].name);
        }
    }
    if (r->at != DOCUMENT) {
        (void)snprintf(expected + n, sizeof expected - n, "%s</%s>", n == 0 ? "" : " or ",
                       elements[r->at].name);
    }
    return gbsi_text_unexpected(r->text, tag, expected, err);
}

static const char *attribute(const char *const *attributes, const char *name)
{
    for (; *attributes != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

/* ---- tags -------------------------------------------------------------------------------- */

static gbs_status check_version(const xmlbif_reader *r, const char *version, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    if (version == NULL || (strlen(version) == 3 && version[0] == '0' && version[1] == '.' &&
                            version[2] >= '1' && version[2] <= '3')) {
        return GBS_OK;
    }
    return gbsi_text_deviation(r->text, r->tag, err, "found version %s of XMLBIF, expected 0.3",
                               gbsi_token_show((gbsi_token){version, strlen(version)}, shown));
}

/* Checks the type of a variable. Only chance variables are accepted, which have TYPE="nature" or no
 * TYPE. */
static gbs_status check_type(const xmlbif_reader *r, const char *type, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    if (type == NULL || strcmp(type, "nature") == 0) {
        return GBS_OK;
    }
    const bool known = strcmp(type, "decision") == 0 || strcmp(type, "utility") == 0;
    return (known ? gbsi_text_unsupported : gbsi_text_fail)(
        r->text, r->tag, err, "found a variable of type %s, expected nature%s",
        gbsi_token_show((gbsi_token){type, strlen(type)}, shown),
        known ? ": decisions and utilities are not supported" : "");
}

/* @return the name that XMLBIF 0.3 gives to an element of XMLBIF 0.2; `name` if both versions use
 * this name. */
static const char *modern_name(const xmlbif_reader *r, const char *name)
{
    return r->at == NETWORK && strcmp(name, "PROBABILITY") == 0 ? "DEFINITION"
           : r->at == VARIABLE && strcmp(name, "VALUE") == 0    ? "OUTCOME"
                                                                : name;
}

/* Handles an unknown element. Elements that other programs write around variables and tables are
 * skipped. Elements that could change probabilities are refused. */
static gbs_status start_unknown(xmlbif_reader *r, gbsi_token tag, const char *name, gbs_error *err)
{
    static const char *const others[] = {"DECISION", "UTILITY", "EQUATION", "DYNAMIC"};
    const gbsi_token called = {name, strlen(name)};
    bool known = r->at != BIF && r->at != NETWORK;
    for (element e = BIF; e < N_ELEMENTS; e++) {
        known =
            known || (elements[e].name[0] != 0 && gbsi_token_is_any_case(called, elements[e].name));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (gbsi_token_is_any_case(called, others[i])) {
            return gbsi_text_unsupported(r->text, tag, err,
                                         "found <%s>, expected variables of TYPE=\"nature\" alone: "
                                         "other nodes are not supported",
                                         name);
        }
    }
    if (known) {
        return refuse_tag(r, tag, err);
    }
    r->unknown = r->n_unknown++ == 0 ? tag : r->unknown;
    r->n_ignored = 1;
    return GBS_OK;
}

static gbs_status on_start(void *context, gbsi_token tag, const char *name,
                           const char *const *attributes, gbs_error *err)
{
    xmlbif_reader *r = context;
    element e = DOCUMENT;
    if (r->n_ignored > 0) {
        r->n_ignored++;
        return GBS_OK;
    }
    const char *modern = modern_name(r, name);
    while (e < N_ELEMENTS && (!may_begin(r, e) || strcmp(modern, elements[e].name) != 0)) {
        e++;
    }
    if (e == N_ELEMENTS) {
        return start_unknown(r, tag, name, err);
    }
    r->at = e;
    r->tag = tag;
    gbsi_xml_begin_name(&r->names);
    switch (e) {
    case BIF:
        return check_version(r, attribute(attributes, "VERSION"), err);
    case NETWORK:
        r->has_network = true;
        return GBS_OK;
    case VARIABLE:
        r->is_named = false;
        return check_type(r, attribute(attributes, "TYPE"), err);
    case DEFINITION:
        r->now = (definition){.first_given = r->n_given,
                              .first_piece = r->n_pieces,
                              .order = modern == name ? 0 : GBSI_CHILD_SLOWEST};
        return gbsi_bif_add_block(r->text, &r->tables.network, tag.at, err);
    default:
        return GBS_OK;
    }
}

static gbs_status add_piece(xmlbif_reader *r, gbsi_token piece, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve(&r->pieces, &r->piece_capacity, r->n_pieces + 1, sizeof piece,
                           r->text->name, err));
    gbsi_token *last = (gbsi_token *)r->pieces + r->n_pieces - 1;
    if (r->n_pieces > r->now.first_piece && last->at + last->n == piece.at) {
        last->n += piece.n;
    } else {
        ((gbsi_token *)r->pieces)[r->n_pieces++] = piece;
    }
    return GBS_OK;
}

static gbs_status on_data(void *context, gbsi_token shown, gbsi_token meant, bool literal,
                          gbs_error *err)
{
    xmlbif_reader *r = context;
    if (r->n_ignored > 0) {
        return GBS_OK;
    }
    if (elements[r->at].text == VALUES) {
        return add_piece(r, shown, err);
    }
    if (elements[r->at].text == A_NAME) {
        gbsi_xml_add_name(&r->names, meant, literal);
    }
    for (size_t i = 0; elements[r->at].text == NOTHING && i < meant.n; i++) {
        if (literal || !gbsi_is_blank(meant.at[i])) {
            return gbsi_text_unexpected(r->text, gbsi_text_at(r->text, shown.at + i), "a tag", err);
        }
    }
    return GBS_OK;
}

/* Takes the name that ends at `end`: the decoded text, and the text in the file for messages. */
static gbs_status take_name(const xmlbif_reader *r, const char *end, gbsi_bif_token *name,
                            gbs_error *err)
{
    const gbsi_token text = gbsi_xml_end_name(&r->names);
    if (text.n == 0) {
        return gbsi_text_fail(r->text, r->tag, err, "found an empty <%s>, expected a name",
                              elements[r->at].name);
    }
    const char *begin = r->tag.at + r->tag.n;
    while (gbsi_is_blank(*begin)) { /* the loop ends, because the text contains a name */
        begin++;
    }
    while (gbsi_is_blank(end[-1])) {
        end--;
    }
    *name = (gbsi_bif_token){.kind = 'w', .text = text, .shown = {begin, (size_t)(end - begin)}};
    return GBS_OK;
}

/* Notes the text of an observation, which is the label or the number of a state. The text "-1" and
 * an empty text are no observation. */
static void note_observation(xmlbif_reader *r)
{
    const gbsi_token text = gbsi_xml_end_name(&r->names);
    if (text.n > 0 && !gbsi_token_is(text, "-1")) {
        r->n_observed++;
        r->observation = r->observation.n > 0 ? r->observation : text;
    }
}

/* Finds the observed state of the last variable by its label, or else by its number, as
 * evidence_xml.c does. If the text is the label of one state and the number of another state, and
 * evidence is read from the file, a warning says which state is taken. */
static void end_observation(xmlbif_reader *r)
{
    const gbsi_bif_network *network = &r->tables.network;
    const uint32_t variable = network->n_variables - 1;
    const uint32_t n = gbsi_bif_variable_at(network, variable)->n_states;
    const gbsi_token text = r->observation;
    char name[GBSI_SHOWN];
    char shown[GBSI_SHOWN];
    uint64_t number = 0;
    bool too_large = false;
    uint32_t a = 0;
    const bool has_number = gbsi_integer_read(text.at, text.n, n - 1, &number, &too_large);
    for (; a < n; a++) {
        const gbsi_token label = gbsi_bif_state_at(network, variable, a);
        if (label.n == text.n && memcmp(label.at, text.at, text.n) == 0) {
            break;
        }
    }
    if (a < n && has_number && number != a && r->text->options->file_evidence != 0) {
        gbsi_text_warn(r->text,
                       "the observation %s of %s is the label of state %u and the number of "
                       "another: it is taken for the label",
                       gbsi_token_show(text, shown),
                       gbsi_token_show(gbsi_bif_variable_at(network, variable)->name, name),
                       (unsigned)a);
    }
    if (r->first_observation.n == 0) {
        r->first_observed = variable;
        r->first_observation =
            a == n && has_number ? gbsi_bif_state_at(network, variable, (uint32_t)number) : text;
    }
    r->observation = (gbsi_token){0};
}

static gbs_status end_name(xmlbif_reader *r, gbsi_token tag, gbs_error *err)
{
    gbsi_bif_network *network = &r->tables.network;
    gbsi_bif_token name;
    char shown[GBSI_SHOWN];
    if (r->at == OBSERVED || r->at == OBS) {
        note_observation(r);
        return GBS_OK;
    }
    GBSI_PASS(take_name(r, tag.at, &name, err));
    switch (r->at) {
    case VARIABLE_NAME:
        r->is_named = true;
        return gbsi_bif_add_variable(r->text, network, &name, err);
    case OUTCOME:
        return gbsi_bif_add_state(r->text, network, network->n_variables - 1, &name, err);
    case VARIABLE_TYPE:
        return gbsi_token_is_any_case(name.text, "DISCRETE")
                   ? GBS_OK
                   : gbsi_text_unsupported(r->text, name.shown, err,
                                           "found a variable of type %s, expected discrete",
                                           gbsi_token_show(name.text, shown));
    case FOR:
        r->now.child = name;
        return GBS_OK;
    default:
        GBSI_PASS(gbsi_reserve(&r->given, &r->given_capacity, r->n_given + 1, sizeof name,
                               r->text->name, err));
        ((gbsi_bif_token *)r->given)[r->n_given++] = name;
    }
    return GBS_OK;
}

static gbs_status end_variable(xmlbif_reader *r, gbsi_token tag, gbs_error *err)
{
    const gbsi_bif_network *network = &r->tables.network;
    if (!r->is_named || gbsi_bif_variable_at(network, network->n_variables - 1)->n_states == 0) {
        return gbsi_text_fail(r->text, tag, err, "found the end of a VARIABLE without %s",
                              r->is_named ? "an OUTCOME" : "a NAME");
    }
    if (r->observation.n > 0) {
        end_observation(r);
    }
    return GBS_OK;
}

static gbs_status end_definition(xmlbif_reader *r, gbsi_token tag, gbs_error *err)
{
    if (r->now.child.kind == 0 || r->now.table_end == NULL) {
        return gbsi_text_fail(r->text, tag, err,
                              "found the end of a DEFINITION without %s, expected one",
                              r->now.child.kind == 0 ? "FOR" : "TABLE");
    }
    r->now.n_given = r->n_given - r->now.first_given;
    r->now.n_pieces = r->n_pieces - r->now.first_piece;
    GBSI_PASS(gbsi_reserve(&r->definitions, &r->definition_capacity, r->n_definitions + 1,
                           sizeof r->now, r->text->name, err));
    ((definition *)r->definitions)[r->n_definitions++] = r->now;
    return GBS_OK;
}

static gbs_status on_end(void *context, gbsi_token tag, gbs_error *err)
{
    xmlbif_reader *r = context;
    if (r->n_ignored > 0) {
        r->n_ignored--;
        return GBS_OK;
    }
    if (elements[r->at].text == A_NAME) {
        GBSI_PASS(end_name(r, tag, err));
    } else if (r->at == VARIABLE) {
        GBSI_PASS(end_variable(r, tag, err));
    } else if (r->at == DEFINITION) {
        GBSI_PASS(end_definition(r, tag, err));
    } else if (r->at == TABLE) {
        r->now.table_end = tag.at;
    }
    r->at = elements[r->at].within;
    return GBS_OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* Reads the values of a piece of the TABLE.
 * @param i in and out: index of the next of the n values. */
static gbs_status read_piece(xmlbif_reader *r, gbsi_token piece, size_t n, size_t *i,
                             gbs_error *err)
{
    char shown[GBSI_SHOWN];
    double *value = r->tables.value;
    gbsi_text words = {.at = piece.at, .end = piece.at + piece.n};
    for (;;) {
        gbsi_token word = gbsi_text_next(&words);
        gbsi_bif_token token = {.kind = 'w', .text = word, .shown = word};
        if (word.n == 0) {
            return GBS_OK;
        }
        if (*i == n) {
            return gbsi_text_fail(r->text, word, err,
                                  "found %s after all %zu probabilit%s of a TABLE",
                                  gbsi_token_show(word, shown), n, gbsi_plural_of(n, "y", "ies"));
        }
        GBSI_PASS(gbsi_bif_table_value(&r->tables, &token, &value[(*i)++], err));
    }
    return GBS_OK;
}

static gbs_status read_values(xmlbif_reader *r, const definition *d, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    size_t n = r->tables.n_rows * r->tables.arity;
    size_t i = 0;
    for (size_t p = 0; p < d->n_pieces; p++) {
        GBSI_PASS(read_piece(r, ((const gbsi_token *)r->pieces)[d->first_piece + p], n, &i, err));
    }
    if (i < n) {
        return gbsi_text_fail(r->text, (gbsi_token){d->table_end, 0}, err,
                              "found the end of the TABLE of %s after %zu probabilit%s, "
                              "expected %zu",
                              gbsi_token_show(d->child.text, shown), i,
                              gbsi_plural_of(i, "y", "ies"), n);
    }
    return GBS_OK;
}

static gbs_status add_definition(xmlbif_reader *r, const definition *d, gbs_error *err)
{
    const gbsi_bif_token *given = (const gbsi_bif_token *)r->given + d->first_given;
    GBSI_PASS(gbsi_bif_table_child(&r->tables, &d->child, err));
    for (size_t i = 0; i < d->n_given; i++) {
        GBSI_PASS(gbsi_bif_table_parent(&r->tables, &given[i], err));
    }
    r->text->at =
        d->n_pieces == 0 ? d->table_end : ((const gbsi_token *)r->pieces)[d->first_piece].at;
    GBSI_PASS(gbsi_bif_table_size(&r->tables, err));
    GBSI_PASS(read_values(r, d, err));
    GBSI_PASS(gbsi_bif_table_turn(&r->tables, gbsi_table_order(r->text->options, d->order), err));
    return gbsi_bif_table_add(&r->tables, err);
}

static void warn(xmlbif_reader *r)
{
    char shown[GBSI_SHOWN];
    char name[GBSI_SHOWN];
    if (r->n_unknown > 0) {
        gbsi_text_warn(r->text, "skipped %zu element%s that XMLBIF lacks, the first %s",
                       r->n_unknown, gbsi_plural(r->n_unknown), gbsi_token_show(r->unknown, shown));
    }
    if (r->n_observed > 0 && r->text->options->file_evidence == 0) {
        const gbsi_token variable =
            gbsi_bif_variable_at(&r->tables.network, r->first_observed)->name;
        gbsi_text_warn(r->text,
                       "the file holds %zu observation%s (%s = %s%s); the model is read without "
                       "them, --file-evidence takes them as evidence",
                       r->n_observed, gbsi_plural(r->n_observed), gbsi_token_show(variable, name),
                       gbsi_token_show(r->first_observation, shown),
                       gbsi_plural_of(r->n_observed, "", ", ..."));
    }
}

gbs_status gbsi_xmlbif_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    static const gbsi_xml_handlers handlers = {on_start, on_data, on_end};
    gbs_status status = GBS_OK;
    xmlbif_reader r = {.text = text};
    GBSI_TRY(gbsi_bif_tables_init(&r.tables, text, "DEFINITION", err));
    GBSI_TRY(gbsi_xml_names_init(&r.names, text, err));
    GBSI_TRY(gbsi_xml_parse(text, &handlers, &r, err));
    if (r.tables.network.n_variables == 0) {
        GBSI_TRY(gbsi_text_fail(text, (gbsi_token){text->begin, 0}, err,
                                "found no variable, expected one"));
    }
    warn(&r);
    GBSI_TRY(gbsi_bif_tables_begin(&r.tables, err));
    for (size_t i = 0; i < r.n_definitions; i++) {
        GBSI_TRY(add_definition(&r, (const definition *)r.definitions + i, err));
    }
    status = gbsi_bif_tables_build(&r.tables, model, err);

cleanup:
    gbsi_bif_tables_free(&r.tables);
    GBSI_FREE(r.definitions, r.given, r.pieces);
    gbsi_xml_names_free(&r.names);
    return status;
}
