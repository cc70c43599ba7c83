/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting variables, names and tables. Every call is checked when it comes and leaves the
 * builder as it was when it fails. */
#include "model/builder.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
    FEW_LABELS = 16, /* up to here the stack will do */
};

gbs_status gbs_builder_new(gbs_builder **builder, gbs_error *err)
{
    gbs_builder *b = gbsi_alloc_zero(sizeof *b);
    if (b == NULL) {
        return gbsi_no_memory(err, "builder", sizeof *b);
    }
    *builder = b;
    return GBS_OK;
}

void gbs_builder_free(gbs_builder *builder)
{
    if (builder != NULL) {
        gbsi_model_clear(&builder->model);
        gbsi_free(builder->stamp);
        gbsi_free(builder);
    }
}

void gbs_builder_set_directed(gbs_builder *builder)
{
    builder->model.directed = true;
}

/* ---- variables ----------------------------------------------------------------------------- */

static gbs_status check_arities(const gbs_builder *b, uint32_t n, const uint32_t *arity,
                                size_t *n_states, gbs_error *err)
{
    if (n > GBS_MAX_VARIABLES - b->model.n_variables) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "%llu variables, at most %u are possible",
                         (unsigned long long)b->model.n_variables + n, GBS_MAX_VARIABLES);
    }
    *n_states = b->model.n_variables == 0 ? 0 : b->model.state_offset[b->model.n_variables];
    for (uint32_t i = 0; i < n; ++i) {
        if (arity[i] < 1 || arity[i] > GBS_MAX_ARITY) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u has %u states, expected 1 to %u",
                             (unsigned)(b->model.n_variables + i), (unsigned)arity[i],
                             GBS_MAX_ARITY);
        }
        if (!gbsi_add_size(*n_states, arity[i], n_states)) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "more states than memory has bytes");
        }
    }
    return GBS_OK;
}

/* Arrays of offsets into the text are only there once something has a name or a label. */
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
    gbs_status status = GBS_OK;
    gbs_model *m = &builder->model;
    const uint32_t n_before = m->n_variables;
    size_t n_states = 0;
    GBSI_TRY(check_arities(builder, n, arity, &n_states, err));
    const size_t n_after = (size_t)n_before + n;
    GBSI_TRY(GBSI_GROW(builder, model.arity, arity, n_after, err));
    GBSI_TRY(GBSI_GROW(builder, model.state_offset, state_offset, n_after + 1, err));
    if (m->name != NULL) {
        GBSI_TRY(extend_offsets(&m->name, &builder->capacity.name, n_before, n_after, err));
    }
    if (m->label != NULL) {
        GBSI_TRY(extend_offsets(&m->label, &builder->capacity.label, m->state_offset[n_before],
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

cleanup:
    return status;
}

static gbs_status check_variable(const gbs_builder *b, uint32_t variable, gbs_error *err)
{
    if (variable >= b->model.n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: there are %u variables so far",
                         (unsigned)variable, (unsigned)b->model.n_variables);
    }
    return GBS_OK;
}

/* Names end up in tables and on terminals: characters that end lines or move cursors (C0, DEL, and
 * C1 as UTF-8 has it) are no part of one. @return the first of them, or NULL. */
static const char *find_control(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) {
            return (const char *)c;
        }
    }
    return NULL;
}

static gbs_status refuse_control(uint32_t variable, const char *what, const char *at,
                                 gbs_error *err)
{
    const unsigned char *c = (const unsigned char *)at;
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: %s holds the control character U+%04x",
                     (unsigned)variable, what, (unsigned)(*c == 0xc2 ? c[1] : *c));
}

/* Append a copy of text to the pool. */
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
    gbs_status status = GBS_OK;
    gbs_model *m = &builder->model;
    GBSI_TRY(check_variable(builder, variable, err));
    if (name == NULL || name[0] == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: its name is empty",
                         (unsigned)variable);
    }
    if (find_control(name) != NULL) {
        return refuse_control(variable, "its name", find_control(name), err);
    }
    if (m->name == NULL) {
        GBSI_TRY(extend_offsets(&m->name, &builder->capacity.name, 0, m->n_variables, err));
    }
    GBSI_TRY(keep_text(builder, name, &m->name[variable], err));

cleanup:
    return status;
}

static gbs_status refuse_label(uint32_t variable, uint32_t a, uint32_t b, const char *label,
                               gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: states %u and %u are both \"%.200s\"",
                     (unsigned)variable, (unsigned)a, (unsigned)b, label);
}

/* Labels already in the pool at offset[0..k-1]. */
static gbs_status check_labels_unique(const char *text, const size_t *offset, uint32_t variable,
                                      uint32_t k, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t few[2 * FEW_LABELS];
    uint32_t *order = few;
    if (k > FEW_LABELS) {
        order = gbsi_alloc_array(2 * (size_t)k, sizeof *order);
        if (order == NULL) {
            return gbsi_no_memory(err, "labels", 2 * (size_t)k * sizeof *order);
        }
    }
    for (uint32_t a = 0; a < k; ++a) {
        order[a] = a;
    }
    gbsi_sort_by_text(text, offset, order, order + k, k);
    for (uint32_t a = 1; a < k; ++a) {
        const char *label = text + offset[order[a]];
        if (strcmp(label, text + offset[order[a - 1]]) == 0) {
            GBSI_TRY(refuse_label(variable, order[a - 1], order[a], label, err));
        }
    }

cleanup:
    if (order != few) {
        gbsi_free(order);
    }
    return status;
}

gbs_status gbs_builder_label_states(gbs_builder *builder, uint32_t variable,
                                    const char *const *label, gbs_error *err)
{
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
    if (offset == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "labels", k * sizeof *offset));
    }
    for (uint32_t a = 0; a < k; ++a) {
        if (label[a] == NULL || label[a][0] == 0) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: the label of state %u is empty",
                               (unsigned)variable, (unsigned)a));
        }
        if (find_control(label[a]) != NULL) {
            GBSI_TRY(refuse_control(variable, "a label", find_control(label[a]), err));
        }
        GBSI_TRY(keep_text(builder, label[a], &offset[a], err));
    }
    GBSI_TRY(check_labels_unique(m->text, offset, variable, k, err));
    memcpy(&m->label[m->state_offset[variable]], offset, k * sizeof *offset);

cleanup:
    if (status < 0) {
        builder->text_bytes = text_before;
    }
    gbsi_free(offset);
    return status;
}

/* ---- tables -------------------------------------------------------------------------------- */

static gbs_status refuse_entry(size_t table, size_t entry, double logw, gbs_error *err)
{
    if (isfinite(logw)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "table %zu: entry %zu is %g, expected a log-weight of at most %g in size",
                         table, entry, logw, GBS_MAX_LOG_WEIGHT);
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "table %zu: entry %zu is %s, expected a finite log-weight or minus infinity",
                     table, entry, isnan(logw) ? "not a number" : "plus infinity");
}

gbs_status gbs_builder_add_table(gbs_builder *builder, size_t n_entries, const double *logw,
                                 uint32_t *table, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_factors *f = &builder->model.factors;
    const size_t used = f->n_tables == 0 ? 0 : f->table_start[f->n_tables];
    size_t total = 0;
    if (n_entries == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "table %zu has no entries", f->n_tables);
    }
    if (f->n_tables >= GBSI_NONE || !gbsi_add_size(used, n_entries, &total)) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more tables or entries than can be numbered");
    }
    for (size_t e = 0; e < n_entries; ++e) {
        if (!(fabs(logw[e]) <= GBS_MAX_LOG_WEIGHT) && logw[e] != -INFINITY) {
            return refuse_entry(f->n_tables, e, logw[e], err);
        }
    }
    GBSI_TRY(GBSI_GROW(builder, model.factors.table_start, table_start, f->n_tables + 2, err));
    GBSI_TRY(GBSI_GROW(builder, model.factors.table, table, total, err));
    memcpy(f->table + used, logw, n_entries * sizeof *logw);
    f->table_start[0] = 0;
    f->table_start[f->n_tables + 1] = total;
    *table = (uint32_t)f->n_tables++;

cleanup:
    return status;
}
