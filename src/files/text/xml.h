/* SPDX-License-Identifier: Apache-2.0 */
/* XML 1.0, read by expat. No entity is expanded and no other file is fetched. A declaration of an
 * entity is refused, and so is a document type in another file. */
#ifndef GBSI_TEXT_XML_H
#define GBSI_TEXT_XML_H

#include "text/text.h"

/* Handlers of a reader. The tokens that they get are positions in the file. A handler that returns
 * a status below 0 ends the reading. */
typedef struct gbsi_xml_handlers {
    /* Called for a start tag.
     * @param attributes name, value, name, value, ..., NULL; valid until the handler returns. */
    gbs_status (*start)(void *context, gbsi_token tag, const char *name,
                        const char *const *attributes, gbs_error *err);
    /* Called for a piece of character data. Comments and references split character data into
     * several pieces.
     * @param meant the decoded data, never longer than `shown`; valid until the handler returns.
     * @param literal whether the data is from a reference or a CDATA section. Blanks in such data
     *   are part of names. */
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
/* Adds the data that a handler was given. Blanks around a name are part of the name if `literal` is
 * true. */
void gbsi_xml_add_name(gbsi_xml_names *names, gbsi_token meant, bool literal);
/* @return the name, empty if the data had only blanks. */
gbsi_token gbsi_xml_end_name(const gbsi_xml_names *names);

/* Parses the whole text. @return GBS_ERR_UNSUPPORTED in builds without expat. */
gbs_status gbsi_xml_parse(const gbsi_text *text, const gbsi_xml_handlers *handlers, void *context,
                          gbs_error *err);

#endif
