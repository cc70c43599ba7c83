/* SPDX-License-Identifier: Apache-2.0 */
/* Roots as a table, all others row by row: the layout of the common network repositories. */
#include <string.h>

#include "base/memory.h"
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

typedef struct bif_writer {
    const gbs_model *model;
    gbs_output *output;
    gbsi_expander expander;
    uint32_t *x; /* [n_variables] states of the parents in the row being written */
} bif_writer;

/* Names that a reader could take apart go in quotes; what no quotes can hold is refused. */
static gbs_status write_name(bif_writer *w, const char *name, gbs_error *err)
{
    bool quote = name[0] == '/' || name[0] == 0;
    for (const char *c = name; *c != 0; c++) {
        if (*c == '"') {
            return gbsi_refuse_name(name, "BIF", "it holds a quote", err);
        }
        const bool comment = c[0] == '/' && (c[1] == '*' || (c[1] == '/' && c[2] == 0));
        quote = quote || comment || gbsi_is_blank(*c) || strchr("{}(),;|[]", *c) != NULL;
    }
    gbs_output_text(w->output, quote ? "\"" : "");
    gbs_output_text(w->output, name);
    gbs_output_text(w->output, quote ? "\"" : "");
    return GBS_OK;
}

static gbs_status write_variable(bif_writer *w, uint32_t v, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char made[GBSI_MADE_NAME];
    const char *name = NULL;
    GBSI_TRY(gbsi_written_name(w->model, v, made, &name, err));
    status = write_name(w, name, err);

cleanup:
    return status;
}

static gbs_status write_state(bif_writer *w, uint32_t v, uint32_t state, gbs_error *err)
{
    const char *label = gbs_model_state_label(w->model, v, state);
    if (label != NULL) {
        return write_name(w, label, err);
    }
    gbs_output_uint(w->output, state);
    return GBS_OK;
}

static gbs_status write_declaration(bif_writer *w, uint32_t v, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t arity = w->model->arity[v];
    gbs_output_text(w->output, "variable ");
    GBSI_TRY(write_variable(w, v, err));
    gbs_output_text(w->output, " {\n  type discrete [ ");
    gbs_output_uint(w->output, arity);
    gbs_output_text(w->output, " ] { ");
    for (uint32_t a = 0; a < arity; a++) {
        gbs_output_text(w->output, a == 0 ? "" : ", ");
        GBSI_TRY(write_state(w, v, a, err));
    }
    gbs_output_text(w->output, " };\n}\n");

cleanup:
    return status;
}

static gbs_status write_header(bif_writer *w, const uint32_t *scope, size_t n_parents,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output_text(w->output, "probability ( ");
    GBSI_TRY(write_variable(w, scope[n_parents], err));
    for (size_t i = 0; i < n_parents; i++) {
        gbs_output_text(w->output, i == 0 ? " | " : ", ");
        GBSI_TRY(write_variable(w, scope[i], err));
    }
    gbs_output_text(w->output, " ) {\n");

cleanup:
    return status;
}

/* "(a, b)" and on to the next row, the last parent fastest. */
static gbs_status write_row_states(bif_writer *w, const uint32_t *scope, size_t n_parents,
                                   gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output_text(w->output, "(");
    for (size_t i = 0; i < n_parents; i++) {
        gbs_output_text(w->output, i == 0 ? "" : ", ");
        GBSI_TRY(write_state(w, scope[i], w->x[scope[i]], err));
    }
    gbs_output_text(w->output, ")");
    for (size_t i = n_parents; i-- > 0;) {
        if (++w->x[scope[i]] < w->model->arity[scope[i]]) {
            break;
        }
        w->x[scope[i]] = 0;
    }

cleanup:
    return status;
}

static gbs_status write_block(bif_writer *w, size_t factor, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *factors = &w->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[factor];
    size_t n_parents = factors->scope_start[factor + 1] - factors->scope_start[factor] - 1;
    uint32_t arity = w->model->arity[scope[n_parents]];
    const double *logw = NULL;
    size_t n = 0;
    GBSI_TRY(gbsi_expand(&w->expander, factor, &logw, &n, err));
    GBSI_TRY(write_header(w, scope, n_parents, err));
    for (size_t row = 0; row < n; row += arity) {
        gbs_output_text(w->output, n_parents == 0 ? "  table" : "  ");
        if (n_parents != 0) {
            GBSI_TRY(write_row_states(w, scope, n_parents, err));
        }
        for (uint32_t a = 0; a < arity; a++) {
            gbs_output_text(w->output, a == 0 ? " " : ", ");
            GBSI_TRY(gbsi_output_exp(w->output, logw[row + a], factor, err));
        }
        gbs_output_text(w->output, ";\n");
    }
    gbs_output_text(w->output, "}\n");

cleanup:
    return status;
}

gbs_status gbsi_bif_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    (void)options;
    gbs_status status = GBS_OK;
    bif_writer w = {.model = model, .output = output};
    GBSI_TRY(gbsi_check_network(model, "BIF", err));
    GBSI_TRY(gbsi_expander_init(&w.expander, model, err));
    w.x = gbsi_alloc_array_zero(model->n_variables, sizeof *w.x);
    if (w.x == NULL) {
        status = gbsi_no_memory(err, "writing a model", model->n_variables * sizeof *w.x);
        goto cleanup;
    }
    gbs_output_text(output, "network unknown {\n}\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        GBSI_TRY(write_declaration(&w, v, err));
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(write_block(&w, f, err));
    }

cleanup:
    gbsi_expander_free(&w.expander);
    gbsi_free(w.x);
    return status;
}
