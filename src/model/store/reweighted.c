/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a model with different tied weights. */
#include "gibbsite/learn.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "store/builder.h"

static void *copied(const void *from, size_t n, size_t size, bool *failed)
{
    if (from == NULL) {
        return NULL;
    }
    void *to = gbsi_alloc_array(n > 0 ? n : 1, size);
    *failed = *failed || to == NULL;
    if (to != NULL && n > 0) {
        memcpy(to, from, n * size);
    }
    return to;
}

#define COPY(field, n) (to->field = copied(from->field, n, sizeof *to->field, failed))

static void copy_factors(const gbsi_factors *from, gbsi_factors *to, bool *failed)
{
    const size_t n_ends = from->scope_start[from->n_factors];
    *to = (gbsi_factors){
        .n_factors = from->n_factors, .n_tables = from->n_tables, .n_logical = from->n_logical};
    COPY(kind, from->n_factors);
    COPY(scope_start, from->n_factors + 1);
    COPY(scope, n_ends);
    COPY(literal, n_ends);
    COPY(weight, from->n_factors);
    COPY(aux, from->n_factors);
    COPY(table_start, from->n_tables + 1);
    COPY(table, from->table_start[from->n_tables]);
    COPY(logical, from->n_logical);
}

/* Returns the bytes of the pool of names and labels, up to the end of the last one. */
static size_t text_bytes(const gbs_model *m)
{
    size_t last = SIZE_MAX;
    for (uint32_t v = 0; m->name != NULL && v < m->n_variables; ++v) {
        last =
            m->name[v] != SIZE_MAX && (last == SIZE_MAX || m->name[v] > last) ? m->name[v] : last;
    }
    for (size_t i = 0; m->label != NULL && i < m->state_offset[m->n_variables]; ++i) {
        last = m->label[i] != SIZE_MAX && (last == SIZE_MAX || m->label[i] > last) ? m->label[i]
                                                                                   : last;
    }
    return last == SIZE_MAX ? 0 : last + strlen(m->text + last) + 1;
}

static void copy_model(const gbs_model *from, gbs_model *to, bool *failed)
{
    to->n_variables = from->n_variables;
    to->n_named = from->n_named;
    to->directed = from->directed;
    COPY(arity, from->n_variables);
    COPY(state_offset, (size_t)from->n_variables + 1);
    COPY(text, text_bytes(from));
    COPY(name, from->n_variables);
    COPY(label, from->state_offset[from->n_variables]);
    COPY(by_name, from->n_named);
    copy_factors(&from->factors, &to->factors, failed);
    to->tied.n_weights = from->tied.n_weights;
    COPY(tied.value, from->tied.n_weights);
    COPY(tied.fixed, from->tied.n_weights);
    to->tied.n_ties = from->tied.n_ties;
    COPY(tied.number, from->tied.n_ties);
    COPY(tied.feature, from->tied.n_ties);
}

static gbs_status set_weights(gbs_model *m, const double *value, gbs_error *err)
{
    for (uint32_t k = 0; k < m->tied.n_weights; ++k) {
        if (!isfinite(value[k])) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "tied weight %u is %g, expected a finite value",
                             (unsigned)k, value[k]);
        }
        m->tied.value[k] = value[k];
    }
    for (size_t f = 0; f < m->tied.n_ties; ++f) {
        if (m->tied.number[f] == GBSI_NONE) {
            continue;
        }
        const double weight = value[m->tied.number[f]] * m->tied.feature[f];
        if (!(fabs(weight) <= GBS_MAX_LOG_WEIGHT)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu would have weight %g, expected at most %g", f, weight,
                             GBS_MAX_LOG_WEIGHT);
        }
        m->factors.weight[f] = weight;
    }
    return GBS_OK;
}

gbs_status gbs_model_with_weights(const gbs_model *model, const double *value, gbs_model **copy,
                                  gbs_error *err)
{
    GBSI_NEED(model, copy);
    if (model->tied.n_weights > 0) {
        GBSI_NEED(value);
    }
    gbs_status status = GBS_OK;
    bool failed = false;
    gbs_model *m = gbsi_alloc_zero(sizeof *m);
    GBSI_PASS(GBSI_HAVE(err, "model", m));
    copy_model(model, m, &failed);
    if (failed) {
        GBSI_TRY(gbsi_no_memory(err, "model", gbs_model_bytes(model)));
    }
    GBSI_TRY(set_weights(m, value, err));
    GBSI_TRY(gbsi_model_index(m, text_bytes(m), err));
    *copy = m;
    m = NULL;

cleanup:
    gbs_model_free(m);
    return status;
}
