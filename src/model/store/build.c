/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the model from the builder, after the checks that need all of it. */
#include "base/memory.h"
#include "store/builder.h"

/* Every array that readers index exists, also in a model without variables or factors. */
static gbs_status reserve_empty(gbs_builder *b, gbs_error *err)
{
    gbs_model *m = &b->model;
    GBSI_PASS(GBSI_GROW(b, model.arity, arity, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.state_offset, state_offset, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.kind, kind, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.scope_start, scope_start, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.scope, scope, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.weight, weight, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.aux, aux, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.table_start, table_start, 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.table, table, 1, err));
    m->state_offset[0] = 0;
    m->factors.scope_start[0] = 0;
    m->factors.table_start[0] = 0;
    return GBS_OK;
}

/* Give back what doubling took too much; a refusal only means that it stays. */
static void *shrink(void *array, size_t n, size_t size)
{
    if (array == NULL) {
        return NULL;
    }
    void *smaller = gbsi_realloc_array(array, n > 0 ? n : 1, size);
    return smaller == NULL ? array : smaller;
}

#define SHRINK(array, n) ((array) = shrink(array, n, sizeof *(array)))

static void shrink_model(gbs_model *m, size_t text_bytes)
{
    gbsi_factors *f = &m->factors;
    SHRINK(m->arity, m->n_variables);
    SHRINK(m->state_offset, (size_t)m->n_variables + 1);
    SHRINK(m->text, text_bytes);
    SHRINK(m->name, m->n_variables);
    SHRINK(m->label, m->state_offset[m->n_variables]);
    SHRINK(f->kind, f->n_factors);
    SHRINK(f->scope_start, f->n_factors + 1);
    SHRINK(f->scope, f->scope_start[f->n_factors]);
    SHRINK(f->literal, f->scope_start[f->n_factors]);
    SHRINK(f->weight, f->n_factors);
    SHRINK(f->aux, f->n_factors);
    SHRINK(f->table_start, f->n_tables + 1);
    SHRINK(f->table, f->table_start[f->n_tables]);
    SHRINK(f->logical, f->n_logical);
    SHRINK(m->tied.value, m->tied.n_weights);
    SHRINK(m->tied.fixed, m->tied.n_weights);
    SHRINK(m->tied.number, m->tied.n_ties);
    SHRINK(m->tied.feature, m->tied.n_ties);
}

static size_t factors_bytes(const gbsi_factors *f)
{
    const size_t n_scope = f->scope_start[f->n_factors];
    size_t bytes = f->n_factors * (sizeof *f->kind + sizeof *f->weight + sizeof *f->aux);
    bytes += (f->n_factors + 1) * sizeof *f->scope_start;
    bytes += n_scope * sizeof *f->scope;
    bytes += f->literal == NULL ? 0 : n_scope * sizeof *f->literal;
    bytes += (f->n_tables + 1) * sizeof *f->table_start;
    bytes += f->table_start[f->n_tables] * sizeof *f->table;
    bytes += f->n_logical * sizeof *f->logical;
    return bytes;
}

static size_t tied_bytes(const gbsi_tied *t)
{
    return t->n_weights * (sizeof *t->value + sizeof *t->fixed) +
           t->n_ties * (sizeof *t->number + sizeof *t->feature);
}

static size_t model_bytes(const gbs_model *m, size_t text_bytes)
{
    const size_t n = m->n_variables;
    size_t bytes = sizeof *m + factors_bytes(&m->factors);
    bytes += n * sizeof *m->arity + (n + 1) * sizeof *m->state_offset + text_bytes;
    bytes += tied_bytes(&m->tied);
    bytes += m->name == NULL ? 0 : n * sizeof *m->name;
    bytes += m->label == NULL ? 0 : m->state_offset[n] * sizeof *m->label;
    bytes += m->n_named * sizeof *m->by_name;
    bytes += m->cpt == NULL ? 0 : n * (sizeof *m->cpt + sizeof *m->topological);
    return bytes;
}

gbs_status gbsi_model_index(gbs_model *model, size_t text_bytes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (model->directed) {
        GBSI_TRY(gbsi_model_index_network(model, err));
    }
    GBSI_TRY(gbsi_model_make_digest(model, err));
    model->bytes = model_bytes(model, text_bytes);

cleanup:
    if (status < 0) {
        GBSI_FREE(model->cpt, model->topological);
        model->cpt = NULL;
        model->topological = NULL;
    }
    return status;
}

gbs_status gbs_builder_build(gbs_builder *builder, gbs_model **model, gbs_error *err)
{
    GBSI_NEED(builder, model);
    gbs_status status = GBS_OK;
    gbs_model *m = &builder->model;
    gbs_model *made = NULL;
    GBSI_TRY(reserve_empty(builder, err));
    GBSI_TRY(gbsi_model_index_names(m, err));
    GBSI_TRY(gbsi_model_index(m, builder->text_bytes, err));
    made = gbsi_alloc_zero(sizeof *made);
    GBSI_TRY(GBSI_HAVE(err, "model", made));
    shrink_model(m, builder->text_bytes);
    *made = *m;
    *model = made;
    gbsi_stamps_free(&builder->stamps);
    *builder = (gbs_builder){0};

cleanup:
    if (status < 0) { /* the builder is as before: what build adds goes */
        GBSI_FREE(m->by_name, m->cpt, m->topological);
        m->by_name = NULL;
        m->cpt = NULL;
        m->topological = NULL;
        m->n_named = 0;
    }
    return status;
}
