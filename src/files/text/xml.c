/* SPDX-License-Identifier: Apache-2.0 */
#include "text/xml.h"

#include <string.h>

#include "base/memory.h"
#include "config.h"

gbs_status gbsi_xml_names_init(gbsi_xml_names *names, const gbsi_text *text, gbs_error *err)
{
    const size_t n = (size_t)(text->end - text->begin);
    *names = (gbsi_xml_names){.bytes = gbsi_alloc(n)};
    return names->bytes == NULL ? gbsi_no_memory(err, text->name, n) : GBS_OK;
}

void gbsi_xml_names_free(gbsi_xml_names *names)
{
    gbsi_free(names->bytes);
}

void gbsi_xml_begin_name(gbsi_xml_names *names)
{
    names->begin = names->behind = names->n;
}

void gbsi_xml_add_name(gbsi_xml_names *names, gbsi_token meant, bool literal)
{
    for (size_t i = 0; i < meant.n; i++) {
        const bool counts = literal || !gbsi_is_blank(meant.at[i]);
        if (counts || names->n > names->begin) {
            names->bytes[names->n++] = meant.at[i];
            names->behind = counts ? names->n : names->behind;
        }
    }
}

gbsi_token gbsi_xml_end_name(const gbsi_xml_names *names)
{
    return (gbsi_token){names->bytes + names->begin, names->behind - names->begin};
}

#ifdef GBSI_HAVE_EXPAT
#include <expat.h>

/* Largest number of attributes with a default. A default is given again for each element; many
 * defaults would make a small file slow to read. The document type of XMLBIF declares two
 * attributes. */
#define MAX_ATTRIBUTES 64

/* Text is parsed in parts, because XML_Parse() takes a length of type int. */
#define MAX_PART ((size_t)1 << 30)

typedef struct xml_reader {
    const gbsi_text *text;
    const gbsi_xml_handlers *handlers;
    void *context;
    XML_Parser parser;
    const char *begin; /* start of the text that expat sees */
    gbs_status status; /* status of a handler that failed and set err; it is below 0 */
    gbs_error *err;
    gbsi_token tag; /* the last start tag */
    bool cdata;
    unsigned n_attributes; /* number of declared attributes */
} xml_reader;

/* Whether the parser was stopped. expat calls some handlers even after a stop. */
static bool stopped(const xml_reader *r)
{
    return r->status < 0;
}

static void stop(xml_reader *r, gbs_status status)
{
    if (status < 0) {
        r->status = status;
        (void)XML_StopParser(r->parser, XML_FALSE);
    }
}

/* @return the position of expat in the file. The position counts the bytes of all parts given to
 * XML_Parse(). In an empty file some versions of expat have no position. */
static gbsi_token place(const xml_reader *r)
{
    if (XML_GetCurrentByteIndex(r->parser) < 0) {
        return (gbsi_token){r->begin, 0};
    }
    return (gbsi_token){r->begin + XML_GetCurrentByteIndex(r->parser),
                        (size_t)XML_GetCurrentByteCount(r->parser)};
}

/* ---- before the first tag ---------------------------------------------------------------- */

/* Checks the declared encoding. The bytes are UTF-8, possibly converted by gbsi_input_decode().
 * Another encoding is accepted if all characters are ASCII. */
static void XMLCALL on_declaration(void *user, const XML_Char *version, const XML_Char *encoding,
                                   int standalone)
{
    xml_reader *r = user;
    (void)version;
    (void)standalone;
    gbsi_token name = {encoding, encoding == NULL ? 0 : strlen(encoding)};
    if (stopped(r) || encoding == NULL || gbsi_token_is_any_case(name, "UTF-8") ||
        gbsi_token_is_any_case(name, "US-ASCII") || gbsi_encoding_is_latin(name)) {
        return;
    }
    for (const char *at = r->text->begin; at < r->text->end; at++) {
        if ((unsigned char)*at >= 0x80) {
            char shown[GBSI_SHOWN];
            (void)gbsi_text_fail(r->text, place(r), r->err,
                                 "found the encoding %s, expected UTF-8, US-ASCII, ISO-8859-1 or "
                                 "windows-1252",
                                 gbsi_token_show(name, shown));
            if (r->err != NULL) {
                r->err->status = GBS_ERR_UNSUPPORTED;
            }
            stop(r, GBS_ERR_UNSUPPORTED);
            return;
        }
    }
}

static void refuse_type(xml_reader *r, const char *what)
{
    if (!stopped(r)) {
        stop(r, gbsi_text_fail(r->text, (gbsi_token){place(r).at, 1}, r->err,
                               "found a document type that %s, expected one without", what));
    }
}

static void XMLCALL on_document_type(void *user, const XML_Char *name, const XML_Char *system,
                                     const XML_Char *public, int has_subset)
{
    (void)name;
    (void)has_subset;
    if (system != NULL || public != NULL) {
        refuse_type(user, "uses an entity or another file");
    }
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are those of expat */
static void XMLCALL on_entity(void *user, const XML_Char *name, int is_parameter,
                              const XML_Char *value, int n, const XML_Char *base,
                              const XML_Char *system, const XML_Char *public,
                              const XML_Char *notation)
{
    (void)name, (void)is_parameter, (void)value, (void)n;
    (void)base, (void)system, (void)public, (void)notation;
    refuse_type(user, "declares an entity");
}

/* Called if expat meets an unknown parameter entity or the name of a file. */
static int XMLCALL on_not_standalone(void *user)
{
    refuse_type(user, "uses an entity or another file");
    return XML_STATUS_ERROR;
}

static void XMLCALL on_attribute(void *user, const XML_Char *element, const XML_Char *name,
                                 const XML_Char *type, const XML_Char *value, int required)
{
    xml_reader *r = user;
    (void)element, (void)name, (void)type, (void)value, (void)required;
    if (++r->n_attributes > MAX_ATTRIBUTES) {
        refuse_type(r, "declares more than 64 attributes");
    }
}

/* ---- in the document --------------------------------------------------------------------- */

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    xml_reader *r = user;
    if (!stopped(r)) {
        r->tag = place(r);
        stop(r,
             r->handlers->start(r->context, r->tag, name, (const char *const *)attributes, r->err));
    }
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    xml_reader *r = user;
    (void)name;
    if (!stopped(r)) {
        gbsi_token tag = place(r);
        stop(r, r->handlers->end(r->context, tag.n == 0 ? r->tag : tag, r->err));
    }
}

static void XMLCALL on_data(void *user, const XML_Char *bytes, int n)
{
    xml_reader *r = user;
    if (!stopped(r)) {
        gbsi_token shown = place(r);
        stop(r, r->handlers->data(r->context, shown, (gbsi_token){bytes, (size_t)n},
                                  r->cdata || *shown.at == '&', r->err));
    }
}

static void XMLCALL on_cdata(void *user)
{
    ((xml_reader *)user)->cdata = true;
}

static void XMLCALL on_cdata_end(void *user)
{
    ((xml_reader *)user)->cdata = false;
}

/* ---- the call ---------------------------------------------------------------------------- */

static void set_handlers(xml_reader *r)
{
    XML_SetUserData(r->parser, r);
    XML_SetXmlDeclHandler(r->parser, on_declaration);
    XML_SetStartDoctypeDeclHandler(r->parser, on_document_type);
    XML_SetEntityDeclHandler(r->parser, on_entity);
    XML_SetNotStandaloneHandler(r->parser, on_not_standalone);
    XML_SetAttlistDeclHandler(r->parser, on_attribute);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_data);
    XML_SetCdataSectionHandler(r->parser, on_cdata, on_cdata_end);
}

/* Refuses a text that expat refused: "found ..., expected well-formed XML (why)". */
static gbs_status refuse(const xml_reader *r, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    enum XML_Error code = XML_GetErrorCode(r->parser);
    if (stopped(r)) {
        return r->status;
    }
    if (code == XML_ERROR_NO_MEMORY) {
        return gbsi_no_memory(err, r->text->name, 0);
    }
    gbsi_token token = {place(r).at, 0};
    /* expat's position is at the name, behind "</" */
    token.at -= code == XML_ERROR_TAG_MISMATCH ? strlen("</") : 0;
    const char *end = token.at;
    while (end < r->text->end && (end == token.at || (!gbsi_is_blank(*end) && *end != '<'))) {
        if (*end++ == '>') {
            break;
        }
    }
    token.n = (size_t)(end - token.at);
    return gbsi_text_fail(r->text, token, err, "found %s, expected well-formed XML (%s)",
                          gbsi_token_show(token, shown), XML_ErrorString(code));
}

/* Whether the declaration is written in capitals, as JavaBayes writes it. */
static bool has_capitals(const gbsi_text *text, const char *at)
{
    static const char declaration[] = "<?XML";
    return (size_t)(text->end - at) >= sizeof declaration &&
           memcmp(at, declaration, sizeof declaration - 1) == 0;
}

/* @return the start of the document. XML allows nothing before its declaration, but leading
 *   blanks are skipped. */
static const char *skip_blanks(const gbsi_text *text)
{
    static const char declaration[] = "<?xml";
    const char *at = text->begin;
    while (at < text->end && gbsi_is_blank(*at)) {
        at++;
    }
    if (has_capitals(text, at)) {
        gbsi_text_warn(text, "'<?XML' stands in capitals, which XML does not allow: it is skipped");
        while (at + 1 < text->end && (at[0] != '?' || at[1] != '>')) {
            at++;
        }
        return at + 1 < text->end ? at + 2 : text->begin;
    }
    if (at == text->begin || (size_t)(text->end - at) < sizeof declaration ||
        memcmp(at, declaration, sizeof declaration - 1) != 0) {
        return text->begin;
    }
    gbsi_text_warn(text, "blanks stand before '<?xml', which XML does not allow: they are skipped");
    return at;
}

static void *resize(void *pointer, size_t n)
{
    return gbsi_realloc_array(pointer, n, 1);
}

gbs_status gbsi_xml_parse(const gbsi_text *text, const gbsi_xml_handlers *handlers, void *context,
                          gbs_error *err)
{
    static const XML_Memory_Handling_Suite memory = {gbsi_alloc, resize, gbsi_free};
    gbs_status status = GBS_OK;
    xml_reader r = {.text = text, .handlers = handlers, .context = context, .err = err};
    r.begin = skip_blanks(text);
    r.parser = XML_ParserCreate_MM("UTF-8", &memory, NULL);
    if (r.parser == NULL) {
        return gbsi_no_memory(err, text->name, 0);
    }
    set_handlers(&r);
    for (const char *at = r.begin; status == GBS_OK; at += MAX_PART) {
        size_t left = (size_t)(text->end - at);
        bool last = left <= MAX_PART;
        if (XML_Parse(r.parser, at, (int)(last ? left : MAX_PART), last) != XML_STATUS_OK) {
            status = refuse(&r, err);
        } else if (last) {
            break;
        }
    }
    XML_ParserFree(r.parser);
    return status;
}

#else

gbs_status gbsi_xml_parse(const gbsi_text *text, const gbsi_xml_handlers *handlers, void *context,
                          gbs_error *err)
{
    (void)handlers;
    (void)context;
    return gbsi_fail(
        err, GBS_ERR_UNSUPPORTED,
        "%s: XMLBIF and XDSL files cannot be read: gibbsite was built without expat; convert the "
        "file to BIF by a gibbsite with expat (Debian: libexpat1-dev)",
        text->name);
}

#endif
