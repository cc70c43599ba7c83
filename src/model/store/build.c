/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the model from the builder, after the checks that need the whole model. */
#include <string.h>

#include "base/memory.h"
#include "store/builder.h"

/* Allocates every array that readers of the model index, even if the model has no variables or
 * factors. */
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

enum { N_ARRAYS = 10 + GBSI_FACTORS_ARRAYS };

/* Lists all arrays except those that only Bayesian networks have. */
static void list_arrays(gbs_model *m, size_t text_bytes, gbsi_room arrays[N_ARRAYS])
{
    gbsi_tied *t = &m->tied;
    const size_t n = m->n_variables;
    const gbsi_room all[N_ARRAYS - GBSI_FACTORS_ARRAYS] = {
        GBSI_ROOM(m->arity, n, NULL),
        GBSI_ROOM(m->state_offset, n + 1, NULL),
        GBSI_ROOM(m->text, text_bytes, NULL),
        GBSI_ROOM(m->name, m->name == NULL ? 0 : n, NULL),
        GBSI_ROOM(m->label, m->label == NULL ? 0 : m->state_offset[n], NULL),
        GBSI_ROOM(m->by_name, m->n_named, NULL),
        GBSI_ROOM(t->value, t->n_weights, NULL),
        GBSI_ROOM(t->fixed, t->n_weights, NULL),
        GBSI_ROOM(t->number, t->n_ties, NULL),
        GBSI_ROOM(t->feature, t->n_ties, NULL),
    };
    memcpy(arrays, all, sizeof all);
    gbsi_factors_list(&m->factors, arrays + N_ARRAYS - GBSI_FACTORS_ARRAYS);
}

gbs_status gbsi_model_index(gbs_model *model, size_t text_bytes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_room arrays[N_ARRAYS];
    if (model->directed) {
        GBSI_TRY(gbsi_model_index_network(model, err));
    }
    GBSI_TRY(gbsi_model_make_digest(model, err));
    list_arrays(model, text_bytes, arrays);
    model->bytes = sizeof *model + gbsi_rooms_bytes(arrays, N_ARRAYS);
    if (model->cpt != NULL) {
        model->bytes += model->n_variables * (sizeof *model->cpt + sizeof *model->topological);
    }

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
    gbsi_room arrays[N_ARRAYS];
    GBSI_TRY(reserve_empty(builder, err));
    GBSI_TRY(gbsi_model_index_names(m, err));
    GBSI_TRY(gbsi_model_index(m, builder->text_bytes, err));
    made = gbsi_alloc_zero(sizeof *made);
    GBSI_TRY(GBSI_HAVE(err, "model", made));
    list_arrays(m, builder->text_bytes, arrays);
    gbsi_rooms_shrink(arrays, N_ARRAYS);
    *made = *m;
    *model = made;
    gbsi_stamps_free(&builder->stamps);
    *builder = (gbs_builder){0};

cleanup:
    if (status < 0) { /* restores the builder: frees the arrays that build added */
        GBSI_FREE(m->by_name, m->cpt, m->topological);
        m->by_name = NULL;
        m->cpt = NULL;
        m->topological = NULL;
        m->n_named = 0;
    }
    return status;
}
