/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Hugin NET: the nodes, then a potential for each node. The data have the order of the
 * model. */
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

typedef struct net_writer {
    const gbs_model *model;
    gbs_output *output;
    gbsi_expander expander;
    gbsi_names names;
} net_writer;

/* Makes a name legal. Hugin accepts only identifiers as names. States are written in quotes and may
 * have other characters. */
static void make_legal(const char *name, bool is_state, char *legal)
{
    if (!is_state) {
        gbsi_legal_identifier(name, 'x', true, legal);
        return;
    }
    for (; *name != 0; name++) {
        /* this '\' would escape the closing quote */
        const bool escapes = *name == '\\' && name[1] == 0;
        *legal++ = *name == '"' ? '\'' : escapes ? '/' : *name;
    }
    *legal = 0;
}

static void write_node(net_writer *w, uint32_t v)
{
    gbsi_output_text(w->output, "node ");
    gbsi_output_text(w->output, w->names.variable[v]);
    gbsi_output_text(w->output, "\n{\n  states = (");
    for (uint32_t a = 0; a < w->model->arity[v]; a++) {
        const char *label = gbsi_names_state(&w->names, v, a);
        gbsi_output_text(w->output, a == 0 ? "\"" : " \"");
        if (label != NULL) {
            gbsi_output_text(w->output, label);
        } else {
            gbsi_output_uint(w->output, a);
        }
        gbsi_output_text(w->output, "\"");
    }
    gbsi_output_text(w->output, ");\n}\n");
}

static gbs_status write_potential(net_writer *w, size_t factor, gbs_error *err)
{
    const gbsi_factors *factors = &w->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[factor];
    const size_t n_parents = factors->scope_start[factor + 1] - factors->scope_start[factor] - 1;
    const uint32_t arity = w->model->arity[scope[n_parents]];
    const double *logw = NULL;
    size_t n = 0;
    GBSI_PASS(gbsi_expand(&w->expander, factor, &logw, &n, err));
    gbsi_output_text(w->output, "potential (");
    gbsi_output_text(w->output, w->names.variable[scope[n_parents]]);
    for (size_t i = 0; i < n_parents; i++) {
        gbsi_output_text(w->output, i == 0 ? " | " : " ");
        gbsi_output_text(w->output, w->names.variable[scope[i]]);
    }
    gbsi_output_text(w->output, ")\n{\n  data = (");
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(w->output, n_parents == 0 ? "" : i % arity == 0 ? "\n    (" : "");
        GBSI_PASS(gbsi_output_exp(w->output, logw[i], factor, err));
        gbsi_output_text(w->output, i % arity + 1 < arity ? " " : n_parents == 0 ? "" : ")");
    }
    gbsi_output_text(w->output, ");\n}\n");
    return GBS_OK;
}

gbs_status gbsi_net_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    net_writer w = {.model = model, .output = output};
    GBSI_TRY(gbsi_check_network(model, "NET", err));
    GBSI_TRY(gbsi_names_init(&w.names, model, make_legal, "NET", output, options, err));
    GBSI_TRY(gbsi_expander_init(&w.expander, model, err));
    gbsi_output_text(output, "net\n{\n}\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        write_node(&w, v);
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(write_potential(&w, f, err));
    }

cleanup:
    gbsi_expander_free(&w.expander);
    gbsi_names_free(&w.names);
    return status;
}
