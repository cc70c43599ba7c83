/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a whole model that is given as arrays. The order of the checks matters: each check only
 * uses offsets and ids that an earlier check has found to be in range. */
#include "store/checks.h"

#include <string.h>

#include "base/status.h"
#include "base/watch.h"
#include "store/factors.h"

/* ---- offsets ------------------------------------------------------------------------------- */

static gbs_status refuse_offset(const char *array, size_t i, size_t found, const char *relation,
                                size_t expected, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "found %zu as %s[%zu], expected %s%zu", found, array, i,
                     relation, expected);
}

/* Checks that n + 1 offsets begin with 0 and end with `end`, and that each exceeds the offset
 * before it by at least `least`. */
static gbs_status check_offsets(const char *array, const size_t *offset, size_t n, size_t end,
                                size_t least, const void **place, gbs_error *err)
{
    gbsi_watch *watch = gbsi_watch_current();
    *place = offset;
    if (offset[0] != 0) {
        return refuse_offset(array, 0, offset[0], "", 0, err);
    }
    for (size_t i = 0; i < n; ++i) {
        *place = &offset[i + 1];
        if (gbsi_watch_spend(watch, 4)) {
            return gbsi_watch_fail(err, "reading the model");
        }
        if (offset[i + 1] > end) {
            return refuse_offset(array, i + 1, offset[i + 1], "at most ", end, err);
        }
        if (offset[i + 1] <
            offset[i] + least) { /* this cannot overflow, because offset[i] <= end */
            return refuse_offset(array, i + 1, offset[i + 1], "at least ", offset[i] + least, err);
        }
    }
    *place = &offset[n];
    return offset[n] == end ? GBS_OK : refuse_offset(array, n, offset[n], "", end, err);
}

static gbs_status check_variables(const gbs_model *m, size_t n_states, const void **place,
                                  gbs_error *err)
{
    size_t sum = 0;
    *place = m->state_offset;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        if (m->state_offset[v] != sum) {
            *place = &m->state_offset[v];
            return refuse_offset("state_offset", v, m->state_offset[v], "", sum, err);
        }
        *place = &m->arity[v];
        GBSI_PASS(gbsi_check_arities(v, 1, &m->arity[v], &sum, err));
    }
    *place = &m->state_offset[m->n_variables];
    if (m->state_offset[m->n_variables] != sum || sum != n_states) {
        return refuse_offset("state_offset", m->n_variables, m->state_offset[m->n_variables], "",
                             sum, err);
    }
    return GBS_OK;
}

/* ---- tables and factors -------------------------------------------------------------------- */

static gbs_status check_tables(const gbsi_factors *f, size_t n_entries, const void **place,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_watch *watch = gbsi_watch_current();
    GBSI_TRY(check_offsets("table_start", f->table_start, f->n_tables, n_entries, 1, place, err));
    for (size_t t = 0; t < f->n_tables; ++t) {
        const double *logw = &f->table[f->table_start[t]];
        size_t bad = 0;
        GBSI_TRY(gbsi_watch_work(watch, f->table_start[t + 1] - f->table_start[t],
                                 "reading the model", err));
        status = gbsi_check_entries(t, f->table_start[t + 1] - f->table_start[t], logw, &bad, err);
        *place = &logw[bad];
        GBSI_TRY(status);
    }

cleanup:
    return status;
}

static gbs_status check_descriptions(const gbsi_factors *f, const void **place, gbs_error *err)
{
    for (size_t i = 0; i < f->n_logical; ++i) {
        const gbsi_logical *logical = &f->logical[i];
        *place = logical;
        if (!gbsi_logical_known(logical->function) || logical->head != GBSI_HEAD_FREE ||
            logical->n_body_true != 0 ||
            (logical->k != 0 && !gbsi_logical_is_cardinality(logical->function))) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found function %u, head %u, cardinality %u, %u true literals as "
                             "logical[%zu], expected a known function and zeros",
                             (unsigned)logical->function, (unsigned)logical->head,
                             (unsigned)logical->k, (unsigned)logical->n_body_true, i);
        }
    }
    return GBS_OK;
}

static bool is_zero(double weight)
{
    uint64_t bits = 0;
    memcpy(&bits, &weight, sizeof bits);
    return bits == 0;
}

/* Checks that the fields that a kind of factor does not use are zero, because equal models must
 * have equal bytes. */
static gbs_status check_unused(const gbsi_factors *f, const gbsi_candidate *c, const void **place,
                               gbs_error *err)
{
    const bool table = gbsi_has_table(c->kind);
    if (table && !is_zero(c->weight)) {
        *place = &f->weight[c->factor];
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found weight %g of factor %zu, expected 0 (it has a table)", c->weight,
                         c->factor);
    }
    if (!table && c->kind != GBS_FACTOR_LOGICAL && f->aux[c->factor] != 0) {
        *place = &f->aux[c->factor];
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found %u as aux[%zu], expected 0 (kind %d needs none)",
                         (unsigned)f->aux[c->factor], c->factor, (int)c->kind);
    }
    for (uint32_t i = 0; c->kind != GBS_FACTOR_LOGICAL && f->literal != NULL && i < c->n; ++i) {
        if (c->literal[i] != 0) {
            *place = &c->literal[i];
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found %u as a literal of factor %zu, expected 0 (it is not logical)",
                             (unsigned)c->literal[i], c->factor);
        }
    }
    return GBS_OK;
}

static gbs_status check_description_of(const gbsi_factors *f, gbsi_candidate *c, const void **place,
                                       gbs_error *err)
{
    const uint32_t id = f->aux[c->factor];
    *place = &f->aux[c->factor];
    if (id >= f->n_logical) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found %u as aux[%zu], expected one of %zu logical descriptions",
                         (unsigned)id, c->factor, f->n_logical);
    }
    if (f->logical[id].n_body + (size_t)1 != c->n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu has %u literals, its description (%u) expects %zu", c->factor,
                         (unsigned)c->n, (unsigned)id, f->logical[id].n_body + (size_t)1);
    }
    c->function = f->logical[id].function;
    c->k = f->logical[id].k;
    return GBS_OK;
}

static gbs_status check_factor(const gbs_model *m, gbsi_stamps *stamps, size_t i,
                               const void **place, gbs_error *err)
{
    const gbsi_factors *f = &m->factors;
    const size_t start = f->scope_start[i];
    const size_t n = f->scope_start[i + 1] - start;
    *place = &f->scope_start[i + 1];
    if (n > m->n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: found a scope of %zu, expected at most the %u variables", i,
                         n, (unsigned)m->n_variables);
    }
    gbsi_candidate c = {.factor = i,
                        .kind = (gbs_factor_kind)f->kind[i],
                        .n = (uint32_t)n,
                        .scope = &f->scope[start],
                        .literal = f->literal == NULL ? NULL : &f->literal[start],
                        .weight = f->weight[i],
                        .table = f->aux[i]};
    if (c.kind == GBS_FACTOR_LOGICAL) {
        GBSI_PASS(check_description_of(f, &c, place, err));
    }
    *place = &f->kind[i];
    GBSI_PASS(gbsi_check_factor(m, stamps, &c, err));
    return check_unused(f, &c, place, err);
}

static gbs_status check_factors(const gbs_model *m, size_t n_scope, const void **place,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *f = &m->factors;
    gbsi_stamps stamps = {0};
    gbsi_watch *watch = gbsi_watch_current();
    GBSI_TRY(check_descriptions(f, place, err));
    GBSI_TRY(check_offsets("scope_start", f->scope_start, f->n_factors, n_scope, 0, place, err));
    for (size_t i = 0; i < f->n_factors; ++i) {
        GBSI_TRY(gbsi_watch_work(watch, 4 + f->scope_start[i + 1] - f->scope_start[i],
                                 "reading the model", err));
        GBSI_TRY(check_factor(m, &stamps, i, place, err));
    }

cleanup:
    gbsi_stamps_free(&stamps);
    return status;
}

/* ---- tied weights --------------------------------------------------------------------------- */

static gbs_status check_tied(const gbs_model *m, const void **place, gbs_error *err)
{
    const gbsi_tied *t = &m->tied;
    gbsi_watch *watch = gbsi_watch_current();
    for (uint32_t w = 0; w < t->n_weights; ++w) {
        *place = t->fixed[w] > 1 ? (const void *)&t->fixed[w] : (const void *)&t->value[w];
        GBSI_PASS(gbsi_check_weight(w, t->value[w], t->fixed[w], err));
    }
    for (size_t f = 0; f < t->n_ties; ++f) {
        GBSI_PASS(gbsi_watch_work(watch, 2, "reading the model", err));
        *place = &t->number[f];
        if (t->number[f] != GBSI_NONE) {
            GBSI_PASS(gbsi_check_tie(m, f, t->number[f], t->feature[f], err));
        } else if (!is_zero(t->feature[f])) {
            *place = &t->feature[f];
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found feature %g of factor %zu, expected 0 (it is not tied)",
                             t->feature[f], f);
        }
    }
    return GBS_OK;
}

/* ---- names and labels ---------------------------------------------------------------------- */

/* Checks that the strings at offset[0 .. n) follow each other without gaps from *at on, and moves
 * *at behind the last string. No string can therefore lie inside another, and later comparisons
 * take time linear in the length of the text. */
static gbs_status check_strings(const char *array, const char *text, size_t n_text,
                                const size_t *offset, size_t n, size_t *at, const void **place,
                                gbs_error *err)
{
    for (size_t i = 0; i < n; ++i) {
        if (offset[i] == SIZE_MAX) {
            continue;
        }
        *place = &offset[i];
        if (offset[i] != *at) {
            return refuse_offset(array, i, offset[i], "2^64 - 1 (none) or ", *at, err);
        }
        *place = text + *at;
        const char *end = *at == n_text ? NULL : memchr(text + *at, 0, n_text - *at);
        if (end == NULL || end == text + *at) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found %s as the text of %s[%zu], expected letters and a final 0",
                             end == NULL ? "the end of the text" : "nothing", array, i);
        }
        *at = (size_t)(end - text) + 1;
    }
    return GBS_OK;
}

/* Checks that each variable has labels for all of its states or for none. */
static gbs_status check_all_labels(const gbs_model *m, const void **place, gbs_error *err)
{
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        const size_t *label = &m->label[m->state_offset[v]];
        *place = label;
        for (uint32_t a = 1; a < m->arity[v]; ++a) {
            if ((label[a] == SIZE_MAX) != (label[0] == SIZE_MAX)) {
                return gbsi_fail(err, GBS_ERR_ARGUMENT,
                                 "variable %u: found labels of some states, expected all or none",
                                 (unsigned)v);
            }
        }
        if (label[0] != SIZE_MAX) {
            for (uint32_t a = 0; a < m->arity[v]; ++a) {
                GBSI_PASS(gbsi_check_control(v, "a label", m->text + label[a], err));
            }
            GBSI_PASS(gbsi_check_labels(m->text, label, v, m->arity[v], err));
        }
    }
    return GBS_OK;
}

static gbs_status check_by_name(const gbs_model *m, const void **place, gbs_error *err)
{
    uint32_t n_named = 0;
    *place = m->name;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        n_named += m->name[v] != SIZE_MAX;
    }
    if (n_named != m->n_named) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found %u variables with a name, expected %u",
                         (unsigned)n_named, (unsigned)m->n_named);
    }
    for (uint32_t i = 0; i < n_named; ++i) {
        *place = &m->by_name[i];
        if (m->by_name[i] >= m->n_variables || m->name[m->by_name[i]] == SIZE_MAX) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found %u as by_name[%u], expected a variable with a name",
                             (unsigned)m->by_name[i], (unsigned)i);
        }
        GBSI_PASS(
            gbsi_check_control(m->by_name[i], "its name", m->text + m->name[m->by_name[i]], err));
    }
    *place = m->by_name;
    return gbsi_check_name_order(m, m->by_name, n_named, err);
}

static gbs_status check_text(const gbs_model *m, const gbsi_extents *extents, const void **place,
                             gbs_error *err)
{
    size_t at = 0;
    if (m->name != NULL) {
        GBSI_PASS(check_strings("name", m->text, extents->n_text, m->name, m->n_variables, &at,
                                place, err));
        GBSI_PASS(check_by_name(m, place, err));
    }
    if (m->label != NULL) {
        GBSI_PASS(check_strings("label", m->text, extents->n_text, m->label, extents->n_states, &at,
                                place, err));
        GBSI_PASS(check_all_labels(m, place, err));
    }
    if (at != extents->n_text) {
        *place = m->text + at;
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found %zu bytes of text that are no name or label, expected none",
                         extents->n_text - at);
    }
    return GBS_OK;
}

gbs_status gbsi_model_check(const gbs_model *model, const gbsi_extents *extents, const void **place,
                            gbs_error *err)
{
    GBSI_PASS(check_variables(model, extents->n_states, place, err));
    GBSI_PASS(check_tables(&model->factors, extents->n_entries, place, err));
    GBSI_PASS(check_factors(model, extents->n_scope, place, err));
    GBSI_PASS(check_tied(model, place, err));
    return check_text(model, extents, place, err);
}
