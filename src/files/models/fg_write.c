/* SPDX-License-Identifier: Apache-2.0 */
/* Writes factor graphs of libDAI. The first variable of a scope runs fastest in the file's tables,
 * and the last one in the model's tables. Scopes are therefore written in reverse order. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

/* Whether a name is a number that readers keep as a label without a change. */
static bool is_label(const char *name)
{
    uint64_t value = 0;
    bool too_large = false;
    bool plain = name[0] >= '1' && name[0] <= '9';
    return strcmp(name, "0") == 0 ||
           (plain && gbsi_integer_read(name, strlen(name), UINT64_MAX, &value, &too_large));
}

static bool less(const char *a, const char *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);
    return n < m || (n == m && strcmp(a, b) < 0);
}

bool gbsi_fg_keeps_names(const gbs_model *model)
{
    const char *before = NULL;
    for (uint32_t v = 0; v < model->n_variables; v++) {
        const char *name = gbs_model_variable_name(model, v);
        if (name == NULL || !is_label(name) || (before != NULL && !less(before, name))) {
            return false;
        }
        before = name;
    }
    return true;
}

typedef struct fg_writer {
    const gbs_model *model;
    gbs_output *output;
    bool by_name; /* the labels are the names of the variables instead of their numbers */
} fg_writer;

static void write_label(const fg_writer *w, uint32_t v)
{
    if (w->by_name) {
        gbsi_output_text(w->output, gbs_model_variable_name(w->model, v));
    } else {
        gbsi_output_uint(w->output, v);
    }
}

static void write_scope(const fg_writer *w, const uint32_t *scope, size_t n)
{
    gbsi_output_text(w->output, "\n");
    gbsi_output_uint(w->output, n);
    gbsi_output_text(w->output, "\n");
    for (size_t i = n; i-- > 0;) {
        write_label(w, scope[i]);
        gbsi_output_text(w->output, i > 0 ? " " : "");
    }
    gbsi_output_text(w->output, "\n");
    for (size_t i = n; i-- > 0;) {
        gbsi_output_uint(w->output, w->model->arity[scope[i]]);
        gbsi_output_text(w->output, i > 0 ? " " : "");
    }
    gbsi_output_text(w->output, "\n");
}

static gbs_status write_factor(const fg_writer *w, gbsi_expander *expander, size_t f,
                               gbs_error *err)
{
    const gbsi_factors *factors = &w->model->factors;
    size_t start = factors->scope_start[f];
    const double *logw = NULL;
    size_t n = 0;
    size_t n_positive = 0;
    GBSI_PASS(gbsi_expand(expander, f, &logw, &n, err));
    write_scope(w, factors->scope + start, factors->scope_start[f + 1] - start);
    for (size_t i = 0; i < n; i++) {
        n_positive += logw[i] > -INFINITY;
    }
    gbsi_output_uint(w->output, n_positive);
    gbsi_output_text(w->output, "\n");
    for (size_t i = 0; i < n; i++) {
        if (logw[i] > -INFINITY) {
            gbsi_output_uint(w->output, i);
            gbsi_output_text(w->output, " ");
            GBSI_PASS(gbsi_output_exp(w->output, logw[i], f, err));
            gbsi_output_text(w->output, "\n");
        }
    }
    return GBS_OK;
}

/* Writes a factor of ones for a variable without factors, because the format has no other place
 * where a variable can be named. */
static void write_lone_variable(const fg_writer *w, uint32_t v)
{
    uint32_t arity = w->model->arity[v];
    write_scope(w, &v, 1);
    gbsi_output_uint(w->output, arity);
    gbsi_output_text(w->output, "\n");
    for (uint32_t a = 0; a < arity; a++) {
        gbsi_output_uint(w->output, a);
        gbsi_output_text(w->output, " 1\n");
    }
}

gbs_status gbsi_fg_write(const gbs_model *model, gbs_output *output,
                         const gbs_write_options *options, gbs_error *err)
{
    (void)options;
    gbs_status status = GBS_OK;
    const gbsi_factors *factors = &model->factors;
    size_t n = model->n_variables;
    size_t n_lone = n;
    gbsi_expander expander = {0};
    fg_writer w = {.model = model, .output = output, .by_name = gbsi_fg_keeps_names(model)};
    uint8_t *mentioned = gbsi_alloc_zero(n);
    GBSI_PASS(GBSI_HAVE(err, "writing a model", mentioned));
    GBSI_TRY(gbsi_expander_init(&expander, model, err));
    for (size_t i = 0; factors->n_factors > 0 && i < factors->scope_start[factors->n_factors];
         i++) {
        n_lone -= mentioned[factors->scope[i]] == 0;
        mentioned[factors->scope[i]] = 1;
    }
    gbsi_output_uint(output, factors->n_factors + n_lone);
    gbsi_output_text(output, "\n");
    for (size_t f = 0; f < factors->n_factors; f++) {
        GBSI_TRY(write_factor(&w, &expander, f, err));
    }
    for (uint32_t v = 0; v < n; v++) {
        if (mentioned[v] == 0) {
            write_lone_variable(&w, v);
        }
    }

cleanup:
    gbsi_expander_free(&expander);
    gbsi_free(mentioned);
    return status;
}
