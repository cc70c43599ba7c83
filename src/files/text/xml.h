/* SPDX-License-Identifier: Apache-2.0 */
/* XML 1.0, read by expat. Nothing is ever expanded or fetched: a declaration of an entity is
 * refused, and a document type in another file is refused too. */
#ifndef GBSI_TEXT_XML_H
#define GBSI_TEXT_XML_H

#include "text/text.h"

/* Handlers of a reader. Tokens are places of the file. A handler that returns a status below 0
 * ends the reading. */
typedef struct gbsi_xml_handlers {
    /* Called for a start tag.
     * @param attributes name, value, name, value, ..., NULL; valid until the handler returns. */
    gbs_status (*start)(void *context, gbsi_token tag, const char *name,
                        const char *const *attributes, gbs_error *err);
    /* Called for a piece of character data. Comments and references split character data into
     * several pieces.
     * @param meant the decoded data, never longer than `shown`; valid until the handler returns.
     * @param literal the data is from a reference or a CDATA section, where blanks count. */
    gbs_status (*data)(void *context, gbsi_token shown, gbsi_token meant, bool literal,
                       gbs_error *err);
    /* Called for an end tag. @param tag the end tag, or the start tag if the element is <NAME/>. */
    gbs_status (*end)(void *context, gbsi_token tag, gbs_error *err);
} gbsi_xml_handlers;

/* Collects names in character data, decoded and without the blanks around them. */
typedef struct gbsi_xml_names {
    char *bytes; /* as large as the file, so that no name ever moves */
    size_t n;
    size_t begin, behind; /* begin and end of the name that is being collected */
} gbsi_xml_names;

gbs_status gbsi_xml_names_init(gbsi_xml_names *names, const gbsi_text *text, gbs_error *err);
void gbsi_xml_names_free(gbsi_xml_names *names);
void gbsi_xml_begin_name(gbsi_xml_names *names);
/* Adds the data that a handler was given. Blanks around a name count if they are literal. */
void gbsi_xml_add_name(gbsi_xml_names *names, gbsi_token meant, bool literal);
/* @return the name, empty if the data had only blanks. */
gbsi_token gbsi_xml_end_name(const gbsi_xml_names *names);

/* Parses the whole text. GBS_ERR_UNSUPPORTED in builds without expat. */
gbs_status gbsi_xml_parse(const gbsi_text *text, const gbsi_xml_handlers *handlers, void *context,
                          gbs_error *err);

#endif
