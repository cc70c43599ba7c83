/* SPDX-License-Identifier: Apache-2.0 */
#include "models/bif.h"

#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"

const gbsi_bif_variable *gbsi_bif_variable_at(const gbsi_bif_network *network, uint32_t variable)
{
    return (const gbsi_bif_variable *)network->variable + variable;
}

gbsi_token gbsi_bif_state_at(const gbsi_bif_network *network, uint32_t variable, uint32_t state)
{
    size_t first = gbsi_bif_variable_at(network, variable)->first_state;
    return ((const gbsi_token *)network->state)[first + state];
}

const char *gbsi_bif_block_at(const gbsi_bif_network *network, size_t block)
{
    return ((const char *const *)network->block)[block];
}

void gbsi_bif_network_free(gbsi_bif_network *network)
{
    GBSI_FREE(network->variable, network->state, network->block, network->word);
    gbsi_name_map_free(&network->names);
    *network = (gbsi_bif_network){0};
}

/* Reads the block network NAME { property ...; }. The name may be any text, and the '}' may be
 * missing. */
static gbs_status declare_network(gbsi_text *text, gbsi_bif_network *network, gbs_error *err)
{
    gbsi_bif_token token;
    char shown[GBSI_SHOWN];
    do {
        GBSI_PASS(gbsi_bif_next(text, GBSI_BIF_PLAIN, &token, err));
    } while (token.kind != 0 && strchr("wq()", token.kind) != NULL);
    if (token.kind != '{') {
        return gbsi_text_unexpected(text, token.shown, "'{' of the network block", err);
    }
    for (;;) {
        GBSI_PASS(gbsi_bif_next(text, GBSI_BIF_PLAIN, &token, err));
        if (token.kind == '}') {
            return GBS_OK;
        }
        if (gbsi_bif_is_word(&token, "variable") || gbsi_bif_is_word(&token, "probability")) {
            gbsi_text_warn(text,
                           "the network block is not closed before the first %s, read as if "
                           "it were",
                           gbsi_token_show(token.shown, shown));
            network->is_open = true;
            text->at = token.shown.at;
            return GBS_OK;
        }
        if (gbsi_bif_is_word(&token, "property")) {
            GBSI_PASS(gbsi_bif_skip_property(text, err));
        } else if (token.kind != ';') {
            return gbsi_text_unexpected(text, token.shown, "'property' or '}'", err);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_bif_add_state(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                              const gbsi_bif_token *token, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    bool added = false;
    gbsi_bif_variable *v = (gbsi_bif_variable *)network->variable + variable;
    if (v->n_states == GBS_MAX_ARITY) {
        return gbsi_text_fail(text, token->shown, err,
                              "found more than %u states, expected at most as many", GBS_MAX_ARITY);
    }
    GBSI_PASS(gbsi_name_map_add(&network->names, variable, token->text.at, token->text.n,
                                v->n_states, &added, err));
    if (!added) {
        return gbsi_text_fail(text, token->shown, err, "found state %s twice, expected it once",
                              gbsi_token_show(token->text, shown));
    }
    GBSI_PASS(gbsi_reserve(&network->state, &network->state_capacity, network->n_states + 1,
                           sizeof(gbsi_token), text->name, err));
    ((gbsi_token *)network->state)[network->n_states++] = token->text;
    v->n_states++;
    return GBS_OK;
}

/* Reads a declaration type discrete [ K ] { s1, s2, ... }; from behind the word "type". */
static gbs_status declare_type(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_bif_token token;
    gbsi_bif_token count;
    uint64_t n = 0;
    bool too_large = false;
    char shown[GBSI_SHOWN];
    GBSI_TRY(gbsi_bif_next(text, GBSI_BIF_TYPE, &token, err));
    if (!gbsi_bif_is_word(&token, "discrete")) {
        return gbsi_text_unexpected(text, token.shown, "'discrete', the only type supported", err);
    }
    GBSI_TRY(gbsi_bif_expect(text, GBSI_BIF_TYPE, '[', err));
    GBSI_TRY(gbsi_bif_next(text, GBSI_BIF_TYPE, &count, err));
    if (count.kind != 'w' ||
        !gbsi_integer_read(count.text.at, count.text.n, GBS_MAX_ARITY, &n, &too_large) || n == 0) {
        return gbsi_text_fail(text, count.shown, err,
                              "found %s, expected a number of states, 1 to %u",
                              gbsi_token_show(count.shown, shown), GBS_MAX_ARITY);
    }
    GBSI_TRY(gbsi_bif_expect(text, GBSI_BIF_TYPE, ']', err));
    GBSI_TRY(gbsi_bif_expect(text, GBSI_BIF_TYPE, '{', err));
    GBSI_TRY(gbsi_bif_read_states(text, network, variable, count.shown, n, err));
    status = gbsi_bif_expect(text, GBSI_BIF_PLAIN, ';', err);

cleanup:
    return status;
}

gbs_status gbsi_bif_add_variable(gbsi_text *text, gbsi_bif_network *network,
                                 const gbsi_bif_token *name, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    bool added = false;
    uint32_t id = network->n_variables;
    if (id == GBS_MAX_VARIABLES) {
        return gbsi_text_fail(text, name->shown, err, "found more than %u variables",
                              GBS_MAX_VARIABLES);
    }
    GBSI_PASS(gbsi_name_map_add(&network->names, GBSI_BIF_VARIABLES, name->text.at, name->text.n,
                                id, &added, err));
    if (!added) {
        return gbsi_text_fail(text, name->shown, err, "found variable %s twice, expected it once",
                              gbsi_token_show(name->text, shown));
    }
    GBSI_PASS(gbsi_reserve(&network->variable, &network->variable_capacity, (size_t)id + 1,
                           sizeof(gbsi_bif_variable), text->name, err));
    ((gbsi_bif_variable *)network->variable)[id] = (gbsi_bif_variable){
        .name = name->text, .shown = name->shown, .first_state = network->n_states};
    network->n_variables++;
    return GBS_OK;
}

gbs_status gbsi_bif_add_block(const gbsi_text *text, gbsi_bif_network *network, const char *at,
                              gbs_error *err)
{
    gbs_status status = gbsi_reserve(&network->block, &network->block_capacity,
                                     network->n_blocks + 1, sizeof(const char *), text->name, err);
    if (status == GBS_OK) {
        ((const char **)network->block)[network->n_blocks++] = at;
    }
    return status;
}

/* Reads a block variable NAME { type ...; property ...; } from behind the word "variable". */
static gbs_status declare_variable(gbsi_text *text, gbsi_bif_network *network, gbs_error *err)
{
    gbsi_bif_token token;
    uint32_t id = network->n_variables;
    GBSI_PASS(gbsi_bif_read_variable(text, network, &token, err));
    GBSI_PASS(gbsi_bif_add_variable(text, network, &token, err));
    for (;;) {
        GBSI_PASS(gbsi_bif_next(text, GBSI_BIF_PLAIN, &token, err));
        bool typed = gbsi_bif_variable_at(network, id)->n_states != 0;
        if (token.kind == '}' && typed) {
            return GBS_OK;
        }
        if (gbsi_bif_is_word(&token, "type") && !typed) {
            GBSI_PASS(declare_type(text, network, id, err));
        } else if (gbsi_bif_is_word(&token, "property")) {
            GBSI_PASS(gbsi_bif_skip_property(text, err));
        } else if (token.kind != ';') {
            return gbsi_text_unexpected(text, token.shown,
                                        typed ? "'property' or '}'" : "'type' or 'property'", err);
        }
    }
    return GBS_OK;
}

/* Notes where a probability block begins, and moves behind its end. The content of the block is
 * read later. */
static gbs_status pass_block(gbsi_text *text, gbsi_bif_network *network, gbs_error *err)
{
    gbsi_bif_token token;
    char last = 0;
    GBSI_PASS(gbsi_bif_add_block(text, network, text->at, err));
    do {
        GBSI_PASS(gbsi_bif_next(text, GBSI_BIF_PLAIN, &token, err));
        if ((last == '{' || last == ';') && gbsi_bif_is_word(&token, "property")) {
            GBSI_PASS(gbsi_bif_skip_property(text, err));
            token.kind = ';';
        }
        last = token.kind;
    } while (last != '}' && last != 0);
    if (last == 0) {
        return gbsi_text_unexpected(text, token.shown, "'}' of a probability block", err);
    }
    return GBS_OK;
}

gbs_status gbsi_bif_declare(gbsi_text *text, gbsi_bif_network *network, gbs_error *err)
{
    gbsi_bif_token token;
    for (;;) {
        GBSI_PASS(gbsi_bif_next(text, GBSI_BIF_PLAIN, &token, err));
        if (token.kind == 0) {
            return GBS_OK;
        }
        if (gbsi_bif_is_word(&token, "network")) {
            GBSI_PASS(declare_network(text, network, err));
        } else if (gbsi_bif_is_word(&token, "variable")) {
            GBSI_PASS(declare_variable(text, network, err));
        } else if (gbsi_bif_is_word(&token, "probability")) {
            GBSI_PASS(pass_block(text, network, err));
        } else if (token.kind == '}' && network->is_open) {
            network->is_open = false;
        } else if (token.kind != ';') {
            return gbsi_text_unexpected(text, token.shown, "'network', 'variable' or 'probability'",
                                        err);
        }
    }
    return GBS_OK;
}
