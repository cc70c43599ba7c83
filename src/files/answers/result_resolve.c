/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a result into the order of a model's variables and states, and gives it the names of the
 * model. */
#include <stdio.h>
#include <string.h>

#include "answers/result.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/status.h"
#include "store/builder.h"

/* ---- names and labels ------------------------------------------------------------------------ */

typedef struct pool {
    void *text;
    size_t capacity, n_bytes;
} pool;

/* Adds `text` to the pool, or the digits of `number` if `text` is NULL. */
static gbs_status add_text(pool *p, const char *text, uint32_t number, gbs_error *err)
{
    char digits[16];
    if (text == NULL) {
        (void)snprintf(digits, sizeof digits, "%u", (unsigned)number);
        text = digits;
    }
    const size_t n = strlen(text) + 1;
    GBSI_PASS(gbsi_reserve(&p->text, &p->capacity, p->n_bytes + n, 1, "names", err));
    memcpy((char *)p->text + p->n_bytes, text, n);
    p->n_bytes += n;
    return GBS_OK;
}

/* Gives all variables and states the names of the model.
 * @param id [gbsi_result_size(r)] the number in the model of each variable of the result. */
static gbs_status rename_all(gbs_result *r, const gbs_model *model, const uint32_t *id,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    char **name = NULL;
    char **label = NULL;
    pool names = {0};
    pool labels = {0};
    const bool marginals = r->task == GBS_TASK_MAR;
    for (uint32_t i = 0; i < gbsi_result_size(r); i++) {
        GBSI_TRY(add_text(&names, gbs_model_variable_name(model, id[i]), id[i], err));
        for (uint32_t a = 0; marginals && a < gbs_model_arity(model, id[i]); a++) {
            GBSI_TRY(add_text(&labels, gbs_model_state_label(model, id[i], a), a, err));
        }
    }
    GBSI_TRY(gbsi_result_texts(names.text, names.n_bytes, gbsi_result_size(r), &name, err));
    if (marginals) {
        const size_t n_cells = r->marginals.offset[r->marginals.n_variables];
        GBSI_TRY(gbsi_result_texts(labels.text, labels.n_bytes, n_cells, &label, err));
        gbsi_free(r->label);
        r->label = label;
    }
    gbsi_free(r->name);
    r->name = name;
    name = NULL;

cleanup:
    GBSI_FREE(names.text, labels.text, name);
    return status;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Puts the variables into the order of the model.
 * @param id out: [variables of the model] the number in the model of each variable of the result,
 *   in the new order. */
static gbs_status order_variables(gbs_result *r, const gbs_model *model, uint32_t *id,
                                  gbs_error *err)
{
    const uint32_t n = gbs_model_n_variables(model);
    gbs_status status = GBS_OK;
    uint32_t n_kept = 0;
    uint32_t *kept = gbsi_alloc_array((size_t)n + 1, sizeof *kept);
    GBSI_PASS(GBSI_HAVE(err, "variables", kept));
    memset(kept, 0xff, n * sizeof *kept);
    if (r->name == NULL && gbsi_result_size(r) != n) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "found a result of %u variable%s without names, the model has %u",
                           gbsi_result_size(r), gbsi_plural(gbsi_result_size(r)), n));
    }
    for (uint32_t i = 0; i < gbsi_result_size(r); i++) {
        uint32_t v = i;
        GBSI_TRY(r->name == NULL ? GBS_OK : gbs_model_find_variable(model, r->name[i], &v, err));
        if (kept[v] != UINT32_MAX) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT,
                               "found variable %.80s again, expected each once", r->name[i]));
        }
        kept[v] = i;
    }
    for (uint32_t v = 0; v < n; v++) {
        if (kept[v] != UINT32_MAX) {
            id[n_kept] = v;
            kept[n_kept++] = kept[v];
        }
    }
    status = gbsi_result_keep(r, kept, n_kept, err);

cleanup:
    gbsi_free(kept);
    return status;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Finds a state by its label. A number that is not a label is taken for the number of a state. */
static gbs_status find_state(const gbs_model *model, uint32_t variable, const char *text,
                             uint32_t *state, gbs_error *err)
{
    char number[16] = "#";
    const size_t n = strlen(text);
    if (gbs_model_find_state(model, variable, text, state, err) >= 0) {
        return GBS_OK;
    }
    if (n < sizeof number - 1 && text[0] >= '0' && text[0] <= '9') {
        memcpy(number + 1, text, n + 1);
        if (gbs_model_find_state(model, variable, number, state, NULL) >= 0) {
            return GBS_OK;
        }
    }
    return GBS_ERR_ARGUMENT; /* err has the first message, which lists the labels */
}

static gbs_status number_states(gbs_result *r, const gbs_model *model, const uint32_t *id,
                                gbs_error *err)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->label != NULL) {
            GBSI_PASS(find_state(model, id[i], r->label[i], &r->state[i], err));
        } else if (r->state[i] >= gbs_model_arity(model, id[i])) {
            char name[128];
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %s has no state %u",
                             gbsi_variable_text(model, id[i], name, sizeof name), r->state[i]);
        }
    }
    return GBS_OK;
}

/* Finds the cells of one variable. @param cells out: cell of each state of the variable. */
static gbs_status find_cells(const gbs_result *r, const gbs_model *model, uint32_t variable,
                             uint32_t i, size_t *cells, gbs_error *err)
{
    char name[128];
    const size_t first = r->marginals.offset[i];
    const size_t n = r->marginals.offset[i + 1] - first;
    if (n != gbs_model_arity(model, variable)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "variable %s has %zu state%s in the result and %u in the model",
                         gbsi_variable_text(model, variable, name, sizeof name), n, gbsi_plural(n),
                         gbs_model_arity(model, variable));
    }
    memset(cells, 0xff, n * sizeof *cells);
    for (size_t a = 0; a < n; a++) {
        uint32_t state = (uint32_t)a;
        if (r->label != NULL) {
            GBSI_PASS(find_state(model, variable, r->label[first + a], &state, err));
        }
        if (cells[state] != SIZE_MAX) {
            return gbsi_fail(
                err, GBS_ERR_FORMAT, "variable %s: found state %.80s again, expected each once",
                gbsi_variable_text(model, variable, name, sizeof name), r->label[first + a]);
        }
        cells[state] = first + a;
    }
    return GBS_OK;
}

static gbs_status order_states(gbs_result *r, const gbs_model *model, const uint32_t *id,
                               gbs_error *err)
{
    const gbs_marginals *m = &r->marginals;
    gbs_status status = GBS_OK;
    size_t *cells = gbsi_alloc_array(m->offset[m->n_variables] + 1, sizeof *cells);
    GBSI_PASS(GBSI_HAVE(err, "states", cells));
    for (uint32_t i = 0; i < m->n_variables; i++) {
        GBSI_TRY(find_cells(r, model, id[i], i, cells + m->offset[i], err));
    }
    status = gbsi_result_keep_cells(r, cells, m->offset[m->n_variables], err);

cleanup:
    gbsi_free(cells);
    return status;
}

gbs_status gbs_result_resolve(gbs_result *result, const gbs_model *model, gbs_error *err)
{
    GBSI_NEED(result, model);
    gbs_status status = GBS_OK;
    uint32_t *id = NULL;
    if (result->task != GBS_TASK_MAR && result->task != GBS_TASK_MAP) {
        return GBS_OK;
    }
    id = gbsi_alloc_array((size_t)gbs_model_n_variables(model) + 1, sizeof *id);
    GBSI_PASS(GBSI_HAVE(err, "variables", id));
    GBSI_TRY(order_variables(result, model, id, err));
    GBSI_TRY(result->task == GBS_TASK_MAR ? order_states(result, model, id, err)
                                          : number_states(result, model, id, err));
    status = rename_all(result, model, id, err);

cleanup:
    gbsi_free(id);
    return status;
}
