/* SPDX-License-Identifier: Apache-2.0 */
/* Writes drawings for Graphviz. A Bayesian network is a directed graph. Any other model is a factor
 * graph, in which each factor is a box. */
#include <stdio.h>

#include "base/plural.h"
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

enum {
    /* number of nodes beyond which Graphviz takes long and the picture cannot be read */
    MANY = 2000,
    MOST = 200000,
    SHOWN_STATES = 16,
};

/* Writes a string in quotes. The characters '"', '\' and '&' are escaped. A plain '&' would begin
 * an HTML entity. */
static void put_text(gbs_output *output, const char *text)
{
    for (; *text != '\0'; ++text) {
        if (*text == '&') {
            gbsi_output_text(output, "&amp;");
        } else {
            gbsi_output_text(output, *text == '"' || *text == '\\' ? "\\" : "");
            gbsi_output_bytes(output, text, 1);
        }
    }
}

/* Writes the line of a variable, such as v3 [label="rain", tooltip="no, yes"]; */
static gbs_status put_variable(const gbs_model *model, gbs_output *output, uint32_t v,
                               gbs_error *err)
{
    char made[GBSI_MADE_NAME];
    const char *name = NULL;
    GBSI_PASS(gbsi_written_name(model, v, made, &name, err));
    gbsi_output_text(output, "  v");
    gbsi_output_uint(output, v);
    gbsi_output_text(output, " [label=\"");
    put_text(output, name);
    gbsi_output_text(output, "\", tooltip=\"");
    for (uint32_t a = 0; a < model->arity[v] && a < SHOWN_STATES; ++a) {
        const char *label = gbs_model_state_label(model, v, a);
        gbsi_output_text(output, a == 0 ? "" : ", ");
        if (label != NULL) {
            put_text(output, label);
        } else {
            gbsi_output_uint(output, a);
        }
    }
    gbsi_output_text(output, model->arity[v] > SHOWN_STATES ? ", ...\"];\n" : "\"];\n");
    return GBS_OK;
}

/* Writes arcs from the parents to the child, which is the last variable of the scope. */
static void put_arcs(const gbs_model *model, gbs_output *output, size_t factor)
{
    uint32_t n = 0;
    const uint32_t *scope = NULL;
    (void)gbs_model_factor(model, factor, &n, &scope);
    for (uint32_t i = 0; i + 1 < n; ++i) {
        gbsi_output_text(output, "  v");
        gbsi_output_uint(output, scope[i]);
        gbsi_output_text(output, " -> v");
        gbsi_output_uint(output, scope[n - 1]);
        gbsi_output_text(output, ";\n");
    }
}

/* Writes a box for a factor, and the edges of the box. The text in the box is the kind of the
 * factor, and the weight if there is one. */
static void put_box(const gbs_model *model, gbs_output *output, size_t factor)
{
    uint32_t n = 0;
    const uint32_t *scope = NULL;
    char weight[32] = "";
    const gbs_factor_kind kind = gbs_model_factor(model, factor, &n, &scope);
    if (!gbsi_has_table(kind)) {
        gbsi_say(weight, sizeof weight, " %.4g", model->factors.weight[factor]);
    }
    gbsi_output_text(output, "  f");
    gbsi_output_uint(output, factor);
    gbsi_output_text(output, " [shape=box, label=\"");
    gbsi_output_text(output, gbs_factor_kind_name(kind));
    gbsi_output_text(output, weight);
    gbsi_output_text(output, "\"];\n");
    for (uint32_t i = 0; i < n; ++i) {
        gbsi_output_text(output, "  f");
        gbsi_output_uint(output, factor);
        gbsi_output_text(output, " -- v");
        gbsi_output_uint(output, scope[i]);
        gbsi_output_text(output, ";\n");
    }
}

/* Warns about a large drawing, and refuses a drawing that is too large. */
static gbs_status check_size(size_t n, const gbs_write_options *options, gbs_error *err)
{
    char message[160];
    if (n > MOST) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "a drawing of %zu node%s, at most %d are written: nothing could be seen",
                         n, gbsi_plural(n), MOST);
    }
    if (n > MANY && options->warn != NULL) {
        (void)snprintf(
            message, sizeof message,
            "%zu node%s: dot may take very long; Graphviz's sfdp is made for large graphs", n,
            gbsi_plural(n));
        options->warn(options->context, message);
    }
    return GBS_OK;
}

gbs_status gbsi_dot_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    const size_t n_factors = model->factors.n_factors;
    GBSI_PASS(check_size(model->n_variables + (model->directed ? 0 : n_factors), options, err));
    gbsi_output_text(output, model->directed
                                 ? "digraph model {\n"
                                 : "graph model {\n  layout=neato;\n  overlap=false;\n");
    gbsi_output_text(output, "  node [fontname=\"Helvetica\"];\n");
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        GBSI_PASS(put_variable(model, output, v, err));
    }
    for (size_t f = 0; f < n_factors; ++f) {
        if (model->directed) {
            put_arcs(model, output, f);
        } else {
            put_box(model, output, f);
        }
    }
    gbsi_output_text(output, "}\n");
    return GBS_OK;
}
