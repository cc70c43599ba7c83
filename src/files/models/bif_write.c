/* SPDX-License-Identifier: Apache-2.0 */
/* Writes BIF in the layout of the common network repositories. A variable without parents has a
 * "table" statement, and any other variable has one statement for each row. */
#include <string.h>

#include "base/memory.h"
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

typedef struct bif_writer {
    const gbs_model *model;
    gbs_output *output;
    gbsi_expander expander;
    gbsi_names names;
    uint32_t *x; /* [n_variables] states of the parents in the current row */
} bif_writer;

/* Makes a name legal. A legal name contains no quotes. */
static void make_legal(const char *name, bool is_state, char *legal)
{
    (void)is_state;
    for (; *name != 0; name++) {
        *legal++ = *name == '"' ? '\'' : *name;
    }
    *legal = 0;
}

/* Writes a name, with quotes if a reader could cut the name into several words. */
static void write_name(bif_writer *w, const char *name)
{
    bool quote = name[0] == '/' || name[0] == 0;
    for (const char *c = name; *c != 0; c++) {
        const bool comment = c[0] == '/' && (c[1] == '*' || (c[1] == '/' && c[2] == 0));
        quote = quote || comment || gbsi_is_blank(*c) || strchr("{}(),;|[]", *c) != NULL;
    }
    gbsi_output_text(w->output, quote ? "\"" : "");
    gbsi_output_text(w->output, name);
    gbsi_output_text(w->output, quote ? "\"" : "");
}

static void write_state(bif_writer *w, uint32_t v, uint32_t state)
{
    const char *label = gbsi_names_state(&w->names, v, state);
    if (label != NULL) {
        write_name(w, label);
    } else {
        gbsi_output_uint(w->output, state);
    }
}

static void write_declaration(bif_writer *w, uint32_t v)
{
    uint32_t arity = w->model->arity[v];
    gbsi_output_text(w->output, "variable ");
    write_name(w, w->names.variable[v]);
    gbsi_output_text(w->output, " {\n  type discrete [ ");
    gbsi_output_uint(w->output, arity);
    gbsi_output_text(w->output, " ] { ");
    for (uint32_t a = 0; a < arity; a++) {
        gbsi_output_text(w->output, a == 0 ? "" : ", ");
        write_state(w, v, a);
    }
    gbsi_output_text(w->output, " };\n}\n");
}

static void write_header(bif_writer *w, const uint32_t *scope, size_t n_parents)
{
    gbsi_output_text(w->output, "probability ( ");
    write_name(w, w->names.variable[scope[n_parents]]);
    for (size_t i = 0; i < n_parents; i++) {
        gbsi_output_text(w->output, i == 0 ? " | " : ", ");
        write_name(w, w->names.variable[scope[i]]);
    }
    gbsi_output_text(w->output, " ) {\n");
}

/* Writes the states of the parents in the current row, as in "(a, b)", and moves to the next row.
 * The last parent runs fastest. */
static void write_row_states(bif_writer *w, const uint32_t *scope, size_t n_parents)
{
    gbsi_output_text(w->output, "(");
    for (size_t i = 0; i < n_parents; i++) {
        gbsi_output_text(w->output, i == 0 ? "" : ", ");
        write_state(w, scope[i], w->x[scope[i]]);
    }
    gbsi_output_text(w->output, ")");
    for (size_t i = n_parents; i-- > 0;) {
        if (++w->x[scope[i]] < w->model->arity[scope[i]]) {
            break;
        }
        w->x[scope[i]] = 0;
    }
}

static gbs_status write_block(bif_writer *w, size_t factor, gbs_error *err)
{
    const gbsi_factors *factors = &w->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[factor];
    size_t n_parents = factors->scope_start[factor + 1] - factors->scope_start[factor] - 1;
    uint32_t arity = w->model->arity[scope[n_parents]];
    const double *logw = NULL;
    size_t n = 0;
    GBSI_PASS(gbsi_expand(&w->expander, factor, &logw, &n, err));
    write_header(w, scope, n_parents);
    for (size_t row = 0; row < n; row += arity) {
        gbsi_output_text(w->output, n_parents == 0 ? "  table" : "  ");
        if (n_parents != 0) {
            write_row_states(w, scope, n_parents);
        }
        for (uint32_t a = 0; a < arity; a++) {
            gbsi_output_text(w->output, a == 0 ? " " : ", ");
            GBSI_PASS(gbsi_output_exp(w->output, logw[row + a], factor, err));
        }
        gbsi_output_text(w->output, ";\n");
    }
    gbsi_output_text(w->output, "}\n");
    return GBS_OK;
}

gbs_status gbsi_bif_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bif_writer w = {.model = model, .output = output};
    GBSI_TRY(gbsi_check_network(model, "BIF", err));
    GBSI_TRY(gbsi_names_init(&w.names, model, make_legal, "BIF", output, options, err));
    GBSI_TRY(gbsi_expander_init(&w.expander, model, err));
    w.x = gbsi_alloc_array_zero(model->n_variables, sizeof *w.x);
    GBSI_TRY(GBSI_HAVE(err, "writing a model", w.x));
    gbsi_output_text(output, "network unknown {\n}\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        write_declaration(&w, v);
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(write_block(&w, f, err));
    }

cleanup:
    gbsi_expander_free(&w.expander);
    gbsi_names_free(&w.names);
    gbsi_free(w.x);
    return status;
}
