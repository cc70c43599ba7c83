/* SPDX-License-Identifier: Apache-2.0 */
/* DimmWitted factor graphs, written. Weights that factors are tied to keep their numbers; those of
 * other factors follow, numbered by value as factors bring them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "models/dimmwitted.h"
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

typedef struct writer {
    const gbs_model *model;
    const gbs_write_options *options;
    gbsi_dw_form form;
    gbsi_dw_outputs outputs;
    gbsi_dw_plan plan;
    gbsi_expander expander;
    gbs_output *factors; /* the one being filled, borrowed */
    gbsi_dw_index weights;
    void *weight; /* double [weights.n], numbered from model->tied.n_weights on */
    size_t weight_capacity;
    void *state; /* uint32_t, of the factor being written */
    size_t state_capacity;
    uint64_t n_factors, n_edges;
} writer;

static void free_writer(writer *w)
{
    gbsi_dw_outputs_free(&w->outputs);
    gbsi_expander_free(&w->expander);
    gbsi_dw_index_free(&w->weights);
    gbsi_free(w->weight);
    gbsi_free(w->state);
    gbsi_dw_plan_free(&w->plan);
}

/* ---- fields -------------------------------------------------------------------------------- */

static void put_integer(gbs_output *output, uint64_t value, unsigned n_bytes)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < n_bytes; i++) {
        bytes[i] = (unsigned char)(value >> 8 * (n_bytes - 1 - i));
    }
    gbs_output_bytes(output, bytes, n_bytes);
}

static void put_double(gbs_output *output, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    put_integer(output, bits, 8);
}

/* In text every field ends in a tab, the last of a line in its end. */
static void field(const writer *w, gbs_output *output, uint64_t value, unsigned n_bytes,
                  const char *separator)
{
    if (w->form == GBSI_DW_TEXT) {
        gbs_output_uint(output, value);
        gbs_output_text(output, separator);
    } else {
        put_integer(output, value, n_bytes);
    }
}

/* ---- factors ------------------------------------------------------------------------------- */

typedef struct weight_sought {
    const double *weight; /* [weights.n] */
    double value;
} weight_sought;

static bool is_weight(const void *context, size_t id)
{
    const weight_sought *sought = context;
    return sought->weight[id] == sought->value;
}

/* The number of a weight that has none in the model. */
static gbs_status number_weight(writer *w, double value, uint64_t *id, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool added = false;
    size_t found = 0;
    uint64_t bits = 0;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    GBSI_TRY(gbsi_reserve(&w->weight, &w->weight_capacity, w->weights.n + 1, sizeof(double),
                          "weights", err));
    const weight_sought sought = {w->weight, value};
    GBSI_TRY(gbsi_dw_index_find(&w->weights, gbsi_dw_hash(0, bits), is_weight, &sought, &found,
                                &added, err));
    if (added) {
        ((double *)w->weight)[found] = value;
    }
    *id = w->model->tied.n_weights + (uint64_t)found;

cleanup:
    return status;
}

/* The weight and the feature of a record of factor f, of log-weight value. Factors that become one
 * record an entry of their table are no longer tied. */
static gbs_status find_weight(writer *w, size_t f, const gbsi_dw_rule *rule, double value,
                              uint64_t *id, double *feature, gbs_error *err)
{
    const uint32_t tied =
        rule->how == GBSI_DW_ENTRIES ? GBSI_NONE : gbs_model_tied_weight(w->model, f, feature);
    if (tied == GBSI_NONE) {
        *feature = 1;
        return number_weight(w, value, id, err);
    }
    *id = tied;
    *feature *= rule->scale;
    return GBS_OK;
}

/* One record of factor f. @param state [rule->n] the literals; the function is the rule's. */
static gbs_status put_factor(writer *w, size_t f, const gbsi_dw_rule *rule, const uint32_t *state,
                             double weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *out = w->factors;
    const bool text = w->form == GBSI_DW_TEXT;
    uint64_t id = 0;
    double feature = 1;
    GBSI_TRY(find_weight(w, f, rule, weight, &id, &feature, err));
    if (!text) {
        put_integer(out, rule->function, 2);
        put_integer(out, rule->n, 8);
    }
    for (uint32_t i = 0; i < rule->n; i++) {
        field(w, out, rule->scope[i], 8, "\t");
        if (!text) {
            put_integer(out, gbsi_dw_value(&w->plan, rule->scope[i], state[i]), 8);
        }
    }
    for (uint32_t i = 0; text && rule->function == GBS_LOGICAL_AND_CATEGORICAL && i < rule->n;
         i++) {
        field(w, out, gbsi_dw_value(&w->plan, rule->scope[i], state[i]), 8, "\t");
    }
    field(w, out, id, 8, "\t");
    if (text) {
        gbs_output_double(out, feature);
        gbs_output_text(out, "\n");
    } else {
        put_double(out, feature);
    }
    w->n_factors++;
    w->n_edges += rule->n;

cleanup:
    return status;
}

static gbs_status put_one(writer *w, size_t f, const gbsi_dw_rule *rule, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *state = w->state;
    for (uint32_t i = 0; i < rule->n; i++) {
        state[i] = rule->literal == NULL ? 1 : rule->literal[i];
    }
    GBSI_TRY(put_factor(w, f, rule, state, rule->weight, err));

cleanup:
    return status;
}

static gbs_status put_states(writer *w, size_t f, const gbsi_dw_rule *rule, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *state = w->state;
    for (uint32_t a = 0; a < w->model->arity[rule->scope[0]]; a++) {
        state[0] = a;
        state[1] = a;
        GBSI_TRY(put_factor(w, f, rule, state, rule->weight, err));
    }

cleanup:
    return status;
}

/* The last variable of the scope is fastest. */
static gbs_status put_entries(writer *w, size_t f, const gbsi_dw_rule *rule, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *state = w->state;
    const double *logw = NULL;
    size_t n = 0;
    GBSI_TRY(gbsi_expand(&w->expander, f, &logw, &n, err));
    memset(state, 0, rule->n * sizeof *state);
    for (size_t e = 0; e < n; e++) {
        if (logw[e] != 0) {
            GBSI_TRY(put_factor(w, f, rule, state, logw[e], err));
        }
        for (uint32_t i = rule->n; i > 0 && ++state[i - 1] == w->model->arity[rule->scope[i - 1]];
             i--) {
            state[i - 1] = 0;
        }
    }

cleanup:
    return status;
}

static gbs_status put_model_factor(writer *w, size_t f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_dw_rule rule;
    GBSI_TRY(gbsi_dw_rule_of(w->model, w->plan.clamped, f, &rule, err));
    GBSI_TRY(
        gbsi_reserve(&w->state, &w->state_capacity, rule.n, sizeof(uint32_t), "a factor", err));
    status = rule.how == GBSI_DW_ONE      ? put_one(w, f, &rule, err)
             : rule.how == GBSI_DW_STATES ? put_states(w, f, &rule, err)
                                          : put_entries(w, f, &rule, err);

cleanup:
    return status;
}

/* Function, arity and literals of a group, which its factors do not repeat. */
static gbs_status put_arguments(writer *w, const gbsi_dw_rule *rule, const char *tail,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *out = NULL;
    GBSI_TRY(gbsi_dw_outputs_open(&w->outputs, GBSI_DW_FACTORS, tail, &out, err));
    gbs_output_uint(out, rule->function);
    gbs_output_text(out, " ");
    gbs_output_uint(out, rule->n);
    for (uint32_t i = 0; i < rule->n; i++) {
        gbs_output_text(out, " ");
        gbs_output_uint(out, gbsi_dw_fixed_value(&w->plan, rule, i));
    }
    gbs_output_text(out, "\n");

cleanup:
    return status;
}

/* Names of groups sort as they are numbered. */
static void group_name(const writer *w, size_t group, char *text, size_t size)
{
    const size_t n = w->plan.n_groups; /* 100 at most */
    const int width = n >= 100 ? 3 : n >= 10 ? 2 : 1;
    if (n == 1) {
        text[0] = 0;
    } else {
        (void)snprintf(text, size, "%0*zu", width, group + 1);
    }
}

static gbs_status write_group(writer *w, size_t group, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char tail[64];
    char name[24] = "";
    const size_t start = w->plan.group_start[group];
    const size_t end = w->plan.group_start[group + 1];
    if (w->form == GBSI_DW_TEXT) {
        gbsi_dw_rule rule;
        group_name(w, group, name, sizeof name);
        GBSI_TRY(gbsi_dw_rule_of(w->model, w->plan.clamped, w->plan.order[start], &rule, err));
        (void)snprintf(tail, sizeof tail, "%s.text2bin-args", name);
        GBSI_TRY(put_arguments(w, &rule, tail, err));
    }
    (void)snprintf(tail, sizeof tail, "%s%s", name, w->form == GBSI_DW_TEXT ? ".tsv" : "");
    GBSI_TRY(gbsi_dw_outputs_open(&w->outputs, GBSI_DW_FACTORS, tail, &w->factors, err));
    for (size_t i = start; i < end; i++) {
        GBSI_TRY(put_model_factor(w, w->plan.order[i], err));
    }

cleanup:
    return status;
}

/* ---- variables, domains, weights ----------------------------------------------------------- */

static gbs_status write_variables(writer *w, const char *tail, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *out = NULL;
    GBSI_TRY(gbsi_dw_outputs_open(&w->outputs, GBSI_DW_VARIABLES, tail, &out, err));
    for (uint32_t v = 0; v < w->model->n_variables; v++) {
        const bool evidence = w->plan.clamped[v] != GBSI_NONE;
        const bool boolean = w->model->arity[v] == 2 && w->plan.own_values[v] == 0;
        field(w, out, v, 8, "\t");
        field(w, out, evidence ? 1 : 0, 1, "\t");
        field(w, out, gbsi_dw_value(&w->plan, v, evidence ? w->plan.clamped[v] : 0), 8, "\t");
        field(w, out, boolean ? 0 : 1, 2, "\t");
        field(w, out, w->model->arity[v], 8, "\n");
    }

cleanup:
    return status;
}

static void text_domain(const writer *w, gbs_output *out, uint32_t v)
{
    const uint32_t n = w->model->arity[v];
    field(w, out, v, 8, "\t");
    field(w, out, n, 8, "\t{");
    for (uint32_t a = 0; a < n; a++) {
        field(w, out, gbsi_dw_value(&w->plan, v, a), 8, a + 1 < n ? "," : "}\t{");
    }
    for (uint32_t a = 0; a < n; a++) {
        gbs_output_text(out, a + 1 < n ? "0," : "0}\n");
    }
}

static void binary_domain(const writer *w, gbs_output *out, uint32_t v)
{
    put_integer(out, v, 8);
    put_integer(out, w->model->arity[v], 8);
    for (uint32_t a = 0; a < w->model->arity[v]; a++) {
        put_integer(out, gbsi_dw_value(&w->plan, v, a), 8);
        put_double(out, 0.0);
    }
}

static gbs_status write_domains(writer *w, const char *tail, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *out = NULL;
    GBSI_TRY(gbsi_dw_outputs_open(&w->outputs, GBSI_DW_DOMAINS, tail, &out, err));
    for (uint32_t v = 0; v < w->model->n_variables; v++) {
        if (w->plan.own_values[v] == 0) {
            continue;
        }
        if (w->form == GBSI_DW_TEXT) {
            text_domain(w, out, v);
        } else {
            binary_domain(w, out, v);
        }
    }

cleanup:
    return status;
}

static void put_weight(const writer *w, gbs_output *out, uint64_t id, bool fixed, double value)
{
    field(w, out, id, 8, "\t");
    field(w, out, fixed ? 1 : 0, 1, "\t");
    if (w->form == GBSI_DW_TEXT) {
        gbs_output_double(out, value);
        gbs_output_text(out, "\n");
    } else {
        put_double(out, value);
    }
}

/* Those that are not of the model are fixed: that learning may change them is not known. */
static gbs_status write_weights(writer *w, const char *tail, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *out = NULL;
    const double *weight = w->weight;
    const gbsi_tied *tied = &w->model->tied;
    GBSI_TRY(gbsi_dw_outputs_open(&w->outputs, GBSI_DW_WEIGHTS, tail, &out, err));
    for (uint32_t i = 0; i < tied->n_weights; i++) {
        put_weight(w, out, i, tied->fixed[i] != 0, tied->value[i]);
    }
    for (size_t i = 0; i < w->weights.n; i++) {
        put_weight(w, out, tied->n_weights + (uint64_t)i, true, weight[i]);
    }

cleanup:
    return status;
}

static gbs_status write_meta(writer *w, gbs_error *err)
{
    const uint64_t count[4] = {w->model->tied.n_weights + (uint64_t)w->weights.n,
                               w->model->n_variables, w->n_factors, w->n_edges};
    gbs_output *out = NULL;
    const gbs_status status = gbsi_dw_outputs_open_meta(&w->outputs, &out, err);
    for (size_t i = 0; status == GBS_OK && i < 4; i++) {
        gbs_output_uint(out, count[i]);
        gbs_output_text(out, i < 3 ? "," : "\n");
    }
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void tell(const writer *w, const char *message)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%.250s: %s", w->outputs.place.meta, message);
    w->options->warn(w->options->context, text);
}

/* What readers of the files will not find in them. */
static void tell_losses(const writer *w)
{
    char text[200];
    if (w->options->warn == NULL) {
        return;
    }
    if (w->plan.n_labels_lost > 0) {
        tell(w, "lost labels of states that are no ascending numbers");
    }
    if (w->plan.n_rewritten > 0) {
        (void)snprintf(
            text, sizeof text,
            "wrote %zu factors in another form, since DimmWitted has no function for them",
            w->plan.n_rewritten);
        tell(w, text);
    }
    if (w->plan.n_shifted > 0) {
        (void)snprintf(text, sizeof text,
                       "wrote %zu factors up to a constant: log-weights differ, probabilities do "
                       "not",
                       w->plan.n_shifted);
        tell(w, text);
    }
    if (w->weights.n > 0) {
        tell(w,
             "wrote one weight per value, all fixed, for factors that are tied to none: which of "
             "them learning may change, and which factors share it, is not known");
    }
}

static gbs_status write_all(writer *w, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const char *tail = w->form == GBSI_DW_TEXT ? ".tsv" : "";
    for (size_t g = 0; g < w->plan.n_groups; g++) {
        GBSI_TRY(write_group(w, g, err));
    }
    GBSI_TRY(write_variables(w, tail, err));
    if (w->plan.any_own_values) {
        GBSI_TRY(write_domains(w, tail, err));
    }
    GBSI_TRY(write_weights(w, tail, err));
    GBSI_TRY(write_meta(w, err));
    GBSI_TRY(gbsi_dw_outputs_commit(&w->outputs, err));
    tell_losses(w);

cleanup:
    return status;
}

static gbs_status write_graph(const gbs_model *model, const char *path, gbsi_dw_form form,
                              const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    writer w = {.model = model, .options = options, .form = form};
    GBSI_TRY(gbsi_dw_outputs_init(&w.outputs, path, form, options, err));
    GBSI_TRY(gbsi_dw_plan_init(&w.plan, model, form == GBSI_DW_TEXT, err));
    GBSI_TRY(gbsi_expander_init(&w.expander, model, err));
    status = write_all(&w, err);

cleanup:
    free_writer(&w);
    return status;
}

gbs_status gbsi_dimmwitted_write(const gbs_model *model, const char *path,
                                 const gbs_write_options *options, gbs_error *err)
{
    return write_graph(model, path, GBSI_DW_BINARY, options, err);
}

gbs_status gbsi_dimmwitted_tsv_write(const gbs_model *model, const char *path,
                                     const gbs_write_options *options, gbs_error *err)
{
    return write_graph(model, path, GBSI_DW_TEXT, options, err);
}
