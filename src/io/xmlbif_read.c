/* SPDX-License-Identifier: Apache-2.0 */
/* XMLBIF 0.3, Bayesian networks in XML. Read twice as BIF is: definitions may stand before the
 * variables that they use. A TABLE runs over the GIVEN variables, the first slowest, and then over
 * the states of the FOR variable: our own order, and not that of a BIF "table". */
#include <string.h>

#include "base/memory.h"
#include "io/bif_tables.h"
#include "io/formats.h"
#include "io/xml.h"

typedef struct xmlbif_reader {
    gbsi_text *text;
    gbsi_xml_arena arena;
    gbsi_bif_tables tables;
    /* the definition being read */
    gbsi_bif_token child; /* kind 0: none yet */
    void *given;          /* gbsi_bif_token [n_given] */
    size_t given_capacity;
    size_t n_given;
    const char *table; /* behind <TABLE>; NULL: none yet */
} xmlbif_reader;

/* The next tag within an element: false at its end. */
static gbs_status next_child(xmlbif_reader *r, const char *parent, const char *expected,
                             gbsi_xml_tag *tag, bool *more, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_xml_next_tag(r->text, tag, err));
    *more = tag->kind == '<';
    if (!*more && !gbsi_xml_is(tag, '/', parent)) {
        return gbsi_xml_unexpected(r->text, tag, expected, err);
    }

cleanup:
    return status;
}

/* The data of <NAME>, <OUTCOME>, <FOR> or <GIVEN>. */
static gbs_status read_name(xmlbif_reader *r, const gbsi_xml_tag *tag, gbsi_bif_token *name,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    *name = (gbsi_bif_token){.kind = 'w'};
    GBSI_TRY(gbsi_xml_data(r->text, tag, &r->arena, &name->text, &name->shown, err));
    if (name->text.n == 0) {
        return gbsi_text_fail(r->text, tag->name, err, "found an empty <%.*s>, expected a name",
                              (int)tag->name.n, tag->name.at);
    }

cleanup:
    return status;
}

/* ---- first reading ----------------------------------------------------------------------- */

/* Chance variables alone: TYPE="nature", which is also the default. */
static gbs_status check_type(xmlbif_reader *r, const gbsi_xml_tag *tag, gbs_error *err)
{
    gbsi_token type = {0};
    if (!gbsi_xml_attribute(tag, "TYPE", &type) || gbsi_token_is(type, "nature")) {
        return GBS_OK;
    }
    bool known = gbsi_token_is(type, "decision") || gbsi_token_is(type, "utility");
    (void)gbsi_text_unexpected(
        r->text, type,
        known ? "nature: decisions and utilities are not supported" : "the type nature", err);
    gbs_status status = known ? GBS_ERR_UNSUPPORTED : GBS_ERR_FORMAT;
    if (err != NULL) {
        err->status = status;
    }
    return status;
}

/* NAME, then OUTCOMEs, PROPERTYs among them; behind <VARIABLE>. */
static gbs_status declare_variable(xmlbif_reader *r, const gbsi_xml_tag *variable, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_bif_network *network = &r->tables.network;
    uint32_t id = network->n_variables;
    gbsi_bif_token name;
    GBSI_TRY(check_type(r, variable, err));
    for (;;) {
        gbsi_xml_tag tag = {0};
        bool more = false;
        bool named = network->n_variables > id;
        const char *expected = named ? "<OUTCOME>, <PROPERTY> or </VARIABLE>" : "<NAME>";
        if (!variable->empty) {
            GBSI_TRY(next_child(r, "VARIABLE", expected, &tag, &more, err));
        }
        if (!more && named && gbsi_bif_variable_at(network, id)->n_states > 0) {
            return GBS_OK;
        }
        if (!more) {
            return gbsi_text_fail(r->text, variable->name, err, "found a variable without %s",
                                  named ? "an OUTCOME" : "a NAME");
        }
        if (gbsi_xml_is(&tag, '<', "NAME") && !named) {
            GBSI_TRY(read_name(r, &tag, &name, err));
            GBSI_TRY(gbsi_bif_add_variable(r->text, network, &name, err));
        } else if (gbsi_xml_is(&tag, '<', "OUTCOME") && named) {
            GBSI_TRY(read_name(r, &tag, &name, err));
            GBSI_TRY(gbsi_bif_add_state(r->text, network, id, &name, err));
        } else if (gbsi_xml_is(&tag, '<', "PROPERTY")) {
            GBSI_TRY(gbsi_xml_skip_data(r->text, &tag, err));
        } else {
            return gbsi_xml_unexpected(r->text, &tag, expected, err);
        }
    }

cleanup:
    return status;
}

static bool is_part_of_definition(const gbsi_xml_tag *tag)
{
    return gbsi_xml_is(tag, '<', "FOR") || gbsi_xml_is(tag, '<', "GIVEN") ||
           gbsi_xml_is(tag, '<', "TABLE") || gbsi_xml_is(tag, '<', "PROPERTY");
}

static const char *const PARTS = "<FOR>, <GIVEN>, <TABLE>, <PROPERTY> or </DEFINITION>";

/* Remembers where it is and goes on behind its end. */
static gbs_status pass_definition(xmlbif_reader *r, const gbsi_xml_tag *definition, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool more = true;
    if (definition->empty) {
        return gbsi_text_fail(r->text, definition->name, err, "found a DEFINITION without FOR");
    }
    GBSI_TRY(gbsi_bif_add_block(r->text, &r->tables.network, r->text->at, err));
    for (;;) {
        gbsi_xml_tag tag;
        GBSI_TRY(next_child(r, "DEFINITION", PARTS, &tag, &more, err));
        if (!more) {
            return GBS_OK;
        }
        if (!is_part_of_definition(&tag)) {
            return gbsi_xml_unexpected(r->text, &tag, PARTS, err);
        }
        GBSI_TRY(gbsi_xml_skip_data(r->text, &tag, err));
    }

cleanup:
    return status;
}

static gbs_status declare_network(xmlbif_reader *r, gbs_error *err)
{
    static const char *const expected =
        "<NAME>, <PROPERTY>, <VARIABLE>, <DEFINITION> or </NETWORK>";
    gbs_status status = GBS_OK;
    bool more = true;
    for (;;) {
        gbsi_xml_tag tag;
        GBSI_TRY(next_child(r, "NETWORK", expected, &tag, &more, err));
        if (!more) {
            return GBS_OK;
        }
        if (gbsi_xml_is(&tag, '<', "VARIABLE")) {
            GBSI_TRY(declare_variable(r, &tag, err));
        } else if (gbsi_xml_is(&tag, '<', "DEFINITION")) {
            GBSI_TRY(pass_definition(r, &tag, err));
        } else if (gbsi_xml_is(&tag, '<', "NAME") || gbsi_xml_is(&tag, '<', "PROPERTY")) {
            GBSI_TRY(gbsi_xml_skip_data(r->text, &tag, err));
        } else {
            return gbsi_xml_unexpected(r->text, &tag, expected, err);
        }
    }

cleanup:
    return status;
}

static gbs_status expect_tag(xmlbif_reader *r, char kind, const char *name, const char *shown,
                             gbsi_xml_tag *tag, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_xml_next_tag(r->text, tag, err));
    if (!gbsi_xml_is(tag, kind, name) || tag->empty) {
        return gbsi_xml_unexpected(r->text, tag, shown, err);
    }

cleanup:
    return status;
}

static gbs_status declare(xmlbif_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    gbsi_xml_tag tag;
    gbsi_token version = {0};
    GBSI_TRY(gbsi_xml_prolog(r->text, err));
    GBSI_TRY(expect_tag(r, '<', "BIF", "<BIF>", &tag, err));
    if (gbsi_xml_attribute(&tag, "VERSION", &version) && !gbsi_token_is(version, "0.3")) {
        GBSI_TRY(gbsi_text_deviation(r->text, version, err,
                                     "found version %s of XMLBIF, expected 0.3",
                                     gbsi_token_show(version, shown)));
    }
    GBSI_TRY(expect_tag(r, '<', "NETWORK", "<NETWORK>", &tag, err));
    GBSI_TRY(declare_network(r, err));
    GBSI_TRY(expect_tag(r, '/', "BIF", "</BIF>", &tag, err));
    GBSI_TRY(gbsi_xml_next_tag(r->text, &tag, err));
    if (tag.kind != 0) {
        return gbsi_xml_unexpected(r->text, &tag, "the end of the file", err);
    }
    if (r->tables.network.n_variables == 0) {
        return gbsi_text_fail(r->text, version.n > 0 ? version : (gbsi_token){r->text->begin, 0},
                              err, "found no variable, expected one");
    }

cleanup:
    return status;
}

/* ---- second reading ---------------------------------------------------------------------- */

static gbs_status read_part(xmlbif_reader *r, const gbsi_xml_tag *tag, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_bif_token name;
    if (gbsi_xml_is(tag, '<', "GIVEN")) {
        GBSI_TRY(gbsi_reserve(&r->given, &r->given_capacity, r->n_given + 1, sizeof name,
                              r->text->name, err));
        GBSI_TRY(read_name(r, tag, &name, err));
        ((gbsi_bif_token *)r->given)[r->n_given++] = name;
        return GBS_OK;
    }
    bool is_for = gbsi_xml_is(tag, '<', "FOR");
    bool is_table = gbsi_xml_is(tag, '<', "TABLE");
    if ((is_for && r->child.kind != 0) || (is_table && r->table != NULL)) {
        return gbsi_xml_unexpected(r->text, tag, "one of them in a definition", err);
    }
    if (is_for) {
        return read_name(r, tag, &r->child, err);
    }
    if (is_table && !tag->empty) {
        r->table = r->text->at;
    }
    status = gbsi_xml_skip_data(r->text, tag, err);

cleanup:
    return status;
}

/* From behind <TABLE>: as many values as the table has, comments between them. */
static gbs_status read_values(xmlbif_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    size_t n = r->tables.n_rows * r->tables.arity;
    double *value = r->tables.value;
    for (size_t i = 0;; i++) {
        gbsi_bif_token token = {.kind = 'w'};
        GBSI_TRY(gbsi_xml_word(r->text, &token.text, err));
        token.shown = token.text;
        if (token.text.n == 0 && i == n) {
            return GBS_OK;
        }
        if (token.text.n == 0) {
            return gbsi_text_fail(r->text, token.shown, err,
                                  "found the end of the TABLE of %s after %zu probabilities, "
                                  "expected %zu",
                                  gbsi_token_show(r->child.text, shown), i, n);
        }
        if (i == n) {
            return gbsi_text_fail(r->text, token.shown, err,
                                  "found %s after all %zu probabilities of a TABLE",
                                  gbsi_token_show(token.text, shown), n);
        }
        GBSI_TRY(gbsi_bif_table_value(&r->tables, &token, &value[i], err));
    }

cleanup:
    return status;
}

static gbs_status read_definition(xmlbif_reader *r, const char *block, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_xml_tag tag;
    bool more = true;
    r->text->at = block;
    r->child.kind = 0;
    r->n_given = 0;
    r->table = NULL;
    for (;;) {
        GBSI_TRY(next_child(r, "DEFINITION", PARTS, &tag, &more, err));
        if (!more) {
            break;
        }
        GBSI_TRY(read_part(r, &tag, err));
    }
    if (r->child.kind == 0 || r->table == NULL) {
        return gbsi_text_fail(r->text, tag.name, err,
                              "found the end of a DEFINITION without %s, expected one",
                              r->child.kind == 0 ? "FOR" : "TABLE");
    }
    GBSI_TRY(gbsi_bif_table_child(&r->tables, &r->child, err));
    for (size_t i = 0; i < r->n_given; i++) {
        GBSI_TRY(gbsi_bif_table_parent(&r->tables, (const gbsi_bif_token *)r->given + i, err));
    }
    r->text->at = r->table;
    GBSI_TRY(gbsi_bif_table_size(&r->tables, err));
    GBSI_TRY(read_values(r, err));
    status = gbsi_bif_table_add(&r->tables, err);

cleanup:
    return status;
}

gbs_status gbsi_xmlbif_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    xmlbif_reader r = {.text = text};
    const gbsi_bif_network *network = &r.tables.network;
    GBSI_TRY(gbsi_bif_tables_init(&r.tables, text, "DEFINITION", err));
    GBSI_TRY(declare(&r, err));
    GBSI_TRY(gbsi_bif_tables_begin(&r.tables, err));
    for (size_t b = 0; b < network->n_blocks; b++) {
        GBSI_TRY(read_definition(&r, gbsi_bif_block_at(network, b), err));
    }
    status = gbsi_bif_tables_build(&r.tables, model, err);

cleanup:
    gbsi_bif_tables_free(&r.tables);
    gbsi_xml_arena_free(&r.arena);
    gbsi_free(r.given);
    return status;
}
