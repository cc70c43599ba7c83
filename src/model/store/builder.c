/* SPDX-License-Identifier: Apache-2.0 */
/* Collects variables, names and tables. Every call is checked at once, and a failed call leaves
 * the builder unchanged. */
#include "store/builder.h"

#include <string.h>

#include "base/memory.h"

gbs_status gbs_builder_new(gbs_builder **builder, gbs_error *err)
{
    GBSI_NEED(builder);
    gbs_builder *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "builder", b));
    b->watch = gbsi_watch_current();
    *builder = b;
    return GBS_OK;
}

void gbs_builder_free(gbs_builder *builder)
{
    if (builder != NULL) {
        gbsi_model_clear(&builder->model);
        gbsi_stamps_free(&builder->stamps);
        gbsi_free(builder);
    }
}

void gbs_builder_set_directed(gbs_builder *builder)
{
    if (builder != NULL) {
        builder->model.directed = true;
    }
}

/* ---- variables ----------------------------------------------------------------------------- */

static gbs_status check_arities(const gbs_builder *b, uint32_t n, const uint32_t *arity,
                                size_t *n_states, gbs_error *err)
{
    const uint32_t first = b->model.n_variables;
    if (n > GBS_MAX_VARIABLES - first) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "%llu variables, at most %u are possible",
                         (unsigned long long)first + n, GBS_MAX_VARIABLES);
    }
    *n_states = first == 0 ? 0 : b->model.state_offset[first];
    return gbsi_check_arities(first, n, arity, n_states, err);
}

/* Extends an array of offsets into the text. The array exists only if some variable has a name
 * or some state a label. */
static gbs_status extend_offsets(size_t **offset, size_t *capacity, size_t from, size_t to,
                                 gbs_error *err)
{
    gbs_status status =
        gbsi_reserve((void **)(void *)offset, capacity, to, sizeof **offset, "model", err);
    if (status == GBS_OK) {
        for (size_t i = from; i < to; ++i) {
            (*offset)[i] = SIZE_MAX;
        }
    }
    return status;
}

gbs_status gbs_builder_add_variables(gbs_builder *builder, uint32_t n, const uint32_t *arity,
                                     uint32_t *first, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n > 0) {
        GBSI_NEED(arity);
    }
    gbs_model *m = &builder->model;
    const uint32_t n_before = m->n_variables;
    size_t n_states = 0;
    GBSI_PASS(check_arities(builder, n, arity, &n_states, err));
    const size_t n_after = (size_t)n_before + n;
    GBSI_PASS(GBSI_GROW(builder, model.arity, arity, n_after, err));
    GBSI_PASS(GBSI_GROW(builder, model.state_offset, state_offset, n_after + 1, err));
    if (m->name != NULL) {
        GBSI_PASS(extend_offsets(&m->name, &builder->capacity.name, n_before, n_after, err));
    }
    if (m->label != NULL) {
        GBSI_PASS(extend_offsets(&m->label, &builder->capacity.label, m->state_offset[n_before],
                                 n_states, err));
    }
    m->state_offset[0] = 0;
    for (uint32_t i = 0; i < n; ++i) {
        m->arity[n_before + i] = arity[i];
        m->state_offset[n_before + i + 1] = m->state_offset[n_before + i] + arity[i];
    }
    m->n_variables = (uint32_t)n_after;
    if (first != NULL) {
        *first = n_before;
    }
    return GBS_OK;
}

static gbs_status check_variable(const gbs_builder *b, uint32_t variable, gbs_error *err)
{
    if (variable >= b->model.n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: there are %u variables so far",
                         (unsigned)variable, (unsigned)b->model.n_variables);
    }
    return GBS_OK;
}

/* Appends a copy of the text to the pool. */
static gbs_status keep_text(gbs_builder *b, const char *text, size_t *offset, gbs_error *err)
{
    const size_t n = strlen(text) + 1;
    gbs_status status = GBSI_GROW(b, model.text, text, b->text_bytes + n, err);
    if (status == GBS_OK) {
        memcpy(b->model.text + b->text_bytes, text, n);
        *offset = b->text_bytes;
        b->text_bytes += n;
    }
    return status;
}

gbs_status gbs_builder_name_variable(gbs_builder *builder, uint32_t variable, const char *name,
                                     gbs_error *err)
{
    GBSI_NEED(builder, name);
    gbs_model *m = &builder->model;
    GBSI_PASS(check_variable(builder, variable, err));
    if (name == NULL || name[0] == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: its name is empty",
                         (unsigned)variable);
    }
    GBSI_PASS(gbsi_check_control(variable, "its name", name, err));
    if (m->name == NULL) {
        GBSI_PASS(extend_offsets(&m->name, &builder->capacity.name, 0, m->n_variables, err));
    }
    return keep_text(builder, name, &m->name[variable], err);
}

gbs_status gbs_builder_label_states(gbs_builder *builder, uint32_t variable,
                                    const char *const *label, gbs_error *err)
{
    GBSI_NEED(builder, label);
    gbs_status status = GBS_OK;
    gbs_model *m = &builder->model;
    const size_t text_before = builder->text_bytes;
    size_t *offset = NULL;
    GBSI_TRY(check_variable(builder, variable, err));
    const uint32_t k = m->arity[variable];
    if (m->label == NULL) {
        GBSI_TRY(extend_offsets(&m->label, &builder->capacity.label, 0,
                                m->state_offset[m->n_variables], err));
    }
    offset = gbsi_alloc_array(k, sizeof *offset);
    GBSI_TRY(GBSI_HAVE(err, "labels", offset));
    for (uint32_t a = 0; a < k; ++a) {
        if (label[a] == NULL || label[a][0] == 0) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: the label of state %u is empty",
                               (unsigned)variable, (unsigned)a));
        }
        GBSI_TRY(gbsi_check_control(variable, "a label", label[a], err));
        GBSI_TRY(keep_text(builder, label[a], &offset[a], err));
    }
    GBSI_TRY(gbsi_check_labels(m->text, offset, variable, k, err));
    memcpy(&m->label[m->state_offset[variable]], offset, k * sizeof *offset);

cleanup:
    if (status < 0) {
        builder->text_bytes = text_before;
    }
    gbsi_free(offset);
    return status;
}

/* ---- tables -------------------------------------------------------------------------------- */

gbs_status gbs_builder_add_table(gbs_builder *builder, size_t n_entries, const double *logw,
                                 uint32_t *table, gbs_error *err)
{
    GBSI_NEED(builder, table);
    if (n_entries > 0) {
        GBSI_NEED(logw);
    }
    gbsi_factors *f = &builder->model.factors;
    const size_t used = f->n_tables == 0 ? 0 : f->table_start[f->n_tables];
    size_t total = 0;
    size_t bad = 0;
    if (n_entries == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "table %zu has no entries", f->n_tables);
    }
    if (f->n_tables >= GBSI_NONE || !gbsi_add_size(used, n_entries, &total)) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more tables or entries than can be numbered");
    }
    GBSI_PASS(gbsi_watch_work(builder->watch, n_entries, "reading the model", err));
    GBSI_PASS(gbsi_check_entries(f->n_tables, n_entries, logw, &bad, err));
    GBSI_PASS(GBSI_GROW(builder, model.factors.table_start, table_start, f->n_tables + 2, err));
    GBSI_PASS(GBSI_GROW(builder, model.factors.table, table, total, err));
    memcpy(f->table + used, logw, n_entries * sizeof *logw);
    f->table_start[0] = 0;
    f->table_start[f->n_tables + 1] = total;
    *table = (uint32_t)f->n_tables++;
    return GBS_OK;
}
