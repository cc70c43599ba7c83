/* SPDX-License-Identifier: Apache-2.0 */
/* XMLBIF 0.3: a TABLE over the parents and then the child, the order of our own tables. */
#include <stdio.h>
#include <string.h>

#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

typedef struct xmlbif_writer {
    const gbs_model *model;
    gbs_output *output;
    gbsi_expander expander;
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

/* Blanks at either end would not survive as they are; bytes that are no UTF-8 have no form in XML.
 * Names and labels hold no control characters. */
static gbs_status write_text(gbs_output *output, const char *text, gbs_error *err)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        char c = text[i];
        size_t length = gbsi_utf8_length(text + i, n - i);
        if (length == 0) {
            return gbsi_refuse_name(text, "XML", "it is no UTF-8", err);
        }
        if (c == ' ' && (i == 0 || i + 1 == n)) {
            char reference[8];
            (void)snprintf(reference, sizeof reference, "&#%d;", c);
            gbs_output_text(output, reference);
        } else if (entity(c) != NULL) {
            gbs_output_text(output, entity(c));
        } else {
            gbs_output_bytes(output, text + i, length);
        }
        i += length;
    }
    return GBS_OK;
}

/* A line of one element. */
static gbs_status write_element(xmlbif_writer *w, const char *tag, const char *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output_text(w->output, "\t<");
    gbs_output_text(w->output, tag);
    gbs_output_text(w->output, ">");
    GBSI_TRY(write_text(w->output, text, err));
    gbs_output_text(w->output, "</");
    gbs_output_text(w->output, tag);
    gbs_output_text(w->output, ">\n");

cleanup:
    return status;
}

static gbs_status write_name(xmlbif_writer *w, const char *tag, uint32_t v, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char made[GBSI_MADE_NAME];
    const char *name = NULL;
    GBSI_TRY(gbsi_written_name(w->model, v, made, &name, err));
    status = write_element(w, tag, name, err);

cleanup:
    return status;
}

static gbs_status write_variable(xmlbif_writer *w, uint32_t v, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output_text(w->output, "<VARIABLE TYPE=\"nature\">\n");
    GBSI_TRY(write_name(w, "NAME", v, err));
    for (uint32_t a = 0; a < w->model->arity[v]; a++) {
        char number[16];
        const char *label = gbs_model_state_label(w->model, v, a);
        (void)snprintf(number, sizeof number, "%u", a);
        GBSI_TRY(write_element(w, "OUTCOME", label != NULL ? label : number, err));
    }
    gbs_output_text(w->output, "</VARIABLE>\n");

cleanup:
    return status;
}

static gbs_status write_definition(xmlbif_writer *w, size_t factor, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *factors = &w->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[factor];
    size_t n_parents = factors->scope_start[factor + 1] - factors->scope_start[factor] - 1;
    uint32_t arity = w->model->arity[scope[n_parents]];
    const double *logw = NULL;
    size_t n = 0;
    GBSI_TRY(gbsi_expand(&w->expander, factor, &logw, &n, err));
    gbs_output_text(w->output, "<DEFINITION>\n");
    GBSI_TRY(write_name(w, "FOR", scope[n_parents], err));
    for (size_t i = 0; i < n_parents; i++) {
        GBSI_TRY(write_name(w, "GIVEN", scope[i], err));
    }
    gbs_output_text(w->output, "\t<TABLE>\n");
    for (size_t i = 0; i < n; i++) {
        gbs_output_text(w->output, i % arity == 0 ? "\t\t" : " ");
        GBSI_TRY(gbsi_output_exp(w->output, logw[i], factor, err));
        gbs_output_text(w->output, i % arity + 1 == arity ? "\n" : "");
    }
    gbs_output_text(w->output, "\t</TABLE>\n</DEFINITION>\n");

cleanup:
    return status;
}

gbs_status gbsi_xmlbif_write(const gbs_model *model, gbs_output *output,
                             const gbs_write_options *options, gbs_error *err)
{
    (void)options;
    gbs_status status = GBS_OK;
    xmlbif_writer w = {.model = model, .output = output};
    GBSI_TRY(gbsi_check_network(model, "XMLBIF", err));
    GBSI_TRY(gbsi_expander_init(&w.expander, model, err));
    gbs_output_text(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                            "<BIF VERSION=\"0.3\">\n<NETWORK>\n<NAME>unknown</NAME>\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        GBSI_TRY(write_variable(&w, v, err));
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(write_definition(&w, f, err));
    }
    gbs_output_text(output, "</NETWORK>\n</BIF>\n");

cleanup:
    gbsi_expander_free(&w.expander);
    return status;
}
