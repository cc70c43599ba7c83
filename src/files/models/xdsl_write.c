/* SPDX-License-Identifier: Apache-2.0 */
/* Writes GeNIe's XDSL: an element <cpt> for each variable, parents before children. The tables have
 * the order of the model. */
#include <string.h>

#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

typedef struct xdsl_writer {
    const gbs_model *model;
    gbs_output *output;
    gbsi_expander expander;
    gbsi_names names;
} xdsl_writer;

/* Makes a name an identifier, because GeNIe accepts nothing else for nodes and states. */
static void make_legal(const char *name, bool is_state, char *legal)
{
    gbsi_legal_identifier(name, is_state ? 's' : 'x', false, legal);
}

static void write_states(xdsl_writer *w, uint32_t v)
{
    for (uint32_t a = 0; a < w->model->arity[v]; a++) {
        const char *label = gbsi_names_state(&w->names, v, a);
        gbsi_output_text(w->output, "\t\t\t<state id=\"");
        gbsi_output_text(w->output, label != NULL ? label : "State");
        if (label == NULL) {
            gbsi_output_uint(w->output, a);
        }
        gbsi_output_text(w->output, "\" />\n");
    }
}

static gbs_status write_node(xdsl_writer *w, uint32_t v, gbs_error *err)
{
    const gbsi_factors *factors = &w->model->factors;
    const size_t factor = w->model->cpt[v];
    const uint32_t *scope = factors->scope + factors->scope_start[factor];
    const size_t n_parents = factors->scope_start[factor + 1] - factors->scope_start[factor] - 1;
    const double *logw = NULL;
    size_t n = 0;
    GBSI_PASS(gbsi_expand(&w->expander, factor, &logw, &n, err));
    gbsi_output_text(w->output, "\t\t<cpt id=\"");
    gbsi_output_text(w->output, w->names.variable[v]);
    gbsi_output_text(w->output, "\">\n");
    write_states(w, v);
    for (size_t i = 0; i < n_parents; i++) {
        gbsi_output_text(w->output, i == 0 ? "\t\t\t<parents>" : " ");
        gbsi_output_text(w->output, w->names.variable[scope[i]]);
    }
    gbsi_output_text(w->output, n_parents > 0 ? "</parents>\n" : "");
    gbsi_output_text(w->output, "\t\t\t<probabilities>");
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(w->output, i == 0 ? "" : " ");
        GBSI_PASS(gbsi_output_exp(w->output, logw[i], factor, err));
    }
    gbsi_output_text(w->output, "</probabilities>\n\t\t</cpt>\n");
    return GBS_OK;
}

gbs_status gbsi_xdsl_write(const gbs_model *model, gbs_output *output,
                           const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    xdsl_writer w = {.model = model, .output = output};
    GBSI_TRY(gbsi_check_network(model, "XDSL", err));
    GBSI_TRY(gbsi_names_init(&w.names, model, make_legal, "XDSL", output, options, err));
    GBSI_TRY(gbsi_expander_init(&w.expander, model, err));
    gbsi_output_text(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                             "<smile version=\"1.0\" id=\"Network1\">\n\t<nodes>\n");
    for (uint32_t i = 0; i < model->n_variables; i++) {
        GBSI_TRY(write_node(&w, model->topological[i], err));
    }
    gbsi_output_text(output, "\t</nodes>\n</smile>\n");

cleanup:
    gbsi_expander_free(&w.expander);
    gbsi_names_free(&w.names);
    return status;
}
