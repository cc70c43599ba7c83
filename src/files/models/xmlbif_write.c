/* SPDX-License-Identifier: Apache-2.0 */
/* Writes XMLBIF 0.3. In a TABLE the last parent runs faster than the other parents, and the child
 * runs fastest, as in the tables of the model. */
#include <stdio.h>
#include <string.h>

#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

typedef struct xmlbif_writer {
    const gbs_model *model;
    gbs_output *output;
    gbsi_expander expander;
    gbsi_names names;
} xmlbif_writer;

static const char *entity(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    default:
        return NULL;
    }
}

/* Makes a name legal. XML cannot represent U+FFFE, U+FFFF and bytes that are not UTF-8. Names and
 * labels contain no control characters. */
static void make_legal(const char *name, bool is_state, char *legal)
{
    (void)is_state;
    for (size_t n = strlen(name); n > 0;) {
        const size_t length = gbsi_utf8_length(name, n);
        if (length == 0 || strncmp(name, "\xef\xbf\xbe", 3) == 0 ||
            strncmp(name, "\xef\xbf\xbf", 3) == 0) {
            *legal++ = '_';
        } else {
            memcpy(legal, name, length);
            legal += length;
        }
        name += length == 0 ? 1 : length;
        n -= length == 0 ? 1 : length;
    }
    *legal = 0;
}

/* Writes a text. Blanks at the ends of the text are escaped, because a reader would drop plain
 * blanks. */
static void write_text(gbs_output *output, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        if (c == ' ' && (i == 0 || i + 1 == n)) {
            gbsi_output_text(output, "&#32;");
        } else if (entity(c) != NULL) {
            gbsi_output_text(output, entity(c));
        } else {
            gbsi_output_bytes(output, text + i, 1);
        }
    }
}

/* Writes a line that consists of one element. */
static void write_element(xmlbif_writer *w, const char *tag, const char *text)
{
    gbsi_output_text(w->output, "\t<");
    gbsi_output_text(w->output, tag);
    gbsi_output_text(w->output, ">");
    write_text(w->output, text);
    gbsi_output_text(w->output, "</");
    gbsi_output_text(w->output, tag);
    gbsi_output_text(w->output, ">\n");
}

static void write_variable(xmlbif_writer *w, uint32_t v)
{
    gbsi_output_text(w->output, "<VARIABLE TYPE=\"nature\">\n");
    write_element(w, "NAME", w->names.variable[v]);
    for (uint32_t a = 0; a < w->model->arity[v]; a++) {
        char number[16];
        const char *label = gbsi_names_state(&w->names, v, a);
        (void)snprintf(number, sizeof number, "%u", a);
        write_element(w, "OUTCOME", label != NULL ? label : number);
    }
    gbsi_output_text(w->output, "</VARIABLE>\n");
}

static gbs_status write_definition(xmlbif_writer *w, size_t factor, gbs_error *err)
{
    const gbsi_factors *factors = &w->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[factor];
    size_t n_parents = factors->scope_start[factor + 1] - factors->scope_start[factor] - 1;
    uint32_t arity = w->model->arity[scope[n_parents]];
    const double *logw = NULL;
    size_t n = 0;
    GBSI_PASS(gbsi_expand(&w->expander, factor, &logw, &n, err));
    gbsi_output_text(w->output, "<DEFINITION>\n");
    write_element(w, "FOR", w->names.variable[scope[n_parents]]);
    for (size_t i = 0; i < n_parents; i++) {
        write_element(w, "GIVEN", w->names.variable[scope[i]]);
    }
    gbsi_output_text(w->output, "\t<TABLE>\n");
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(w->output, i % arity == 0 ? "\t\t" : " ");
        GBSI_PASS(gbsi_output_exp(w->output, logw[i], factor, err));
        gbsi_output_text(w->output, i % arity + 1 == arity ? "\n" : "");
    }
    gbsi_output_text(w->output, "\t</TABLE>\n</DEFINITION>\n");
    return GBS_OK;
}

gbs_status gbsi_xmlbif_write(const gbs_model *model, gbs_output *output,
                             const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    xmlbif_writer w = {.model = model, .output = output};
    GBSI_TRY(gbsi_check_network(model, "XMLBIF", err));
    GBSI_TRY(gbsi_names_init(&w.names, model, make_legal, "XMLBIF", output, options, err));
    GBSI_TRY(gbsi_expander_init(&w.expander, model, err));
    gbsi_output_text(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                             "<BIF VERSION=\"0.3\">\n<NETWORK>\n<NAME>unknown</NAME>\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        write_variable(&w, v);
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(write_definition(&w, f, err));
    }
    gbsi_output_text(output, "</NETWORK>\n</BIF>\n");

cleanup:
    gbsi_expander_free(&w.expander);
    gbsi_names_free(&w.names);
    return status;
}
