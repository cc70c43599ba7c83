/* SPDX-License-Identifier: Apache-2.0 */
/* XML 1.0, read by expat. Entities are refused where a file declares them, and so is a document
 * type that is found in another file: nothing is ever expanded or fetched. */
#ifndef GBSI_TEXT_XML_H
#define GBSI_TEXT_XML_H

#include "text/text.h"

/* The handlers of a reader. Tokens are places of the file. A handler that returns a status below
 * 0 ends the reading. */
typedef struct gbsi_xml_handlers {
    /* @param attributes name, value, name, value, ..., NULL: gone when the handler returns. */
    gbs_status (*start)(void *context, gbsi_token tag, const char *name,
                        const char *const *attributes, gbs_error *err);
    /* A piece of character data; one that comments or references interrupt has several.
     * @param meant   as decoded, never longer than `shown`; gone when the handler returns.
     * @param literal from a reference or a CDATA section: its blanks are meant. */
    gbs_status (*data)(void *context, gbsi_token shown, gbsi_token meant, bool literal,
                       gbs_error *err);
    /* @param tag the start tag again where it is <NAME/>. */
    gbs_status (*end)(void *context, gbsi_token tag, gbs_error *err);
} gbsi_xml_handlers;

/* Names in character data, as they are meant and without the blanks around them. */
typedef struct gbsi_xml_names {
    char *bytes; /* as large as the file, so that no name ever moves */
    size_t n;
    size_t begin, behind; /* of the name that is open */
} gbsi_xml_names;

gbs_status gbsi_xml_names_init(gbsi_xml_names *names, const gbsi_text *text, gbs_error *err);
void gbsi_xml_names_free(gbsi_xml_names *names);
void gbsi_xml_begin_name(gbsi_xml_names *names);
/* Adds the data that a handler was given: its blanks count if they are literal. */
void gbsi_xml_add_name(gbsi_xml_names *names, gbsi_token meant, bool literal);
/* @return the name, empty where there was nothing but blanks. */
gbsi_token gbsi_xml_end_name(const gbsi_xml_names *names);

/* Parses the whole text. GBS_ERR_UNSUPPORTED in builds without expat. */
gbs_status gbsi_xml_parse(const gbsi_text *text, const gbsi_xml_handlers *handlers, void *context,
                          gbs_error *err);

#endif
