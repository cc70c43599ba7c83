/* SPDX-License-Identifier: Apache-2.0 */
/* As much of XML 1.0 as data files need: tags, attributes, character data with the five predefined
 * entities and numeric references, CDATA sections, comments, processing instructions. A document
 * type declaration is passed over and never acted on: no entity is ever expanded, no file opened.
 */
#ifndef GBSI_IO_XML_H
#define GBSI_IO_XML_H

#include "io/text.h"

typedef struct gbsi_xml_tag {
    char kind;             /* '<' start, '/' end, 0 end of the file */
    bool empty;            /* <NAME/>: no end tag follows */
    gbsi_token name;       /* for messages too: "NAME" */
    gbsi_token attributes; /* of a start tag, well-formed */
} gbsi_xml_tag;

/* Where character data goes that does not stand in the file as it is meant. */
typedef struct gbsi_xml_arena {
    char *bytes; /* [capacity], made on first use: as large as the file, so that it never moves */
    size_t n;
    size_t capacity;
} gbsi_xml_arena;

void gbsi_xml_arena_free(gbsi_xml_arena *arena);

/* What may stand before the first tag. */
gbs_status gbsi_xml_prolog(gbsi_text *text, gbs_error *err);

/* The next tag; between tags nothing but blanks, comments and processing instructions. */
gbs_status gbsi_xml_next_tag(gbsi_text *text, gbsi_xml_tag *tag, gbs_error *err);
bool gbsi_xml_is(const gbsi_xml_tag *tag, char kind, const char *name);
/* GBS_ERR_FORMAT "found <NAME>, expected ...". */
gbs_status gbsi_xml_unexpected(const gbsi_text *text, const gbsi_xml_tag *tag, const char *expected,
                               gbs_error *err);

/* The value of an attribute as it stands, without its quotes; false if there is none. */
bool gbsi_xml_attribute(const gbsi_xml_tag *tag, const char *name, gbsi_token *value);

/* Character data from behind a start tag to behind its end tag, decoded, without the blanks around
 * it. Each piece of the file may be decoded once.
 * @param meant out: borrowed from the text or the arena. @param shown out: as it stands. */
gbs_status gbsi_xml_data(gbsi_text *text, const gbsi_xml_tag *tag, gbsi_xml_arena *arena,
                         gbsi_token *meant, gbsi_token *shown, gbs_error *err);
/* The same for what nobody looks at. */
gbs_status gbsi_xml_skip_data(gbsi_text *text, const gbsi_xml_tag *tag, gbs_error *err);

/* The next run without blanks of character data, as it stands; empty at the next tag. Comments
 * separate. */
gbs_status gbsi_xml_word(gbsi_text *text, gbsi_token *word, gbs_error *err);

#endif
