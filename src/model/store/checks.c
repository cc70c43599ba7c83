/* SPDX-License-Identifier: Apache-2.0 */
/* Checks variables, tables, names and labels; check_factor.c checks factors. */
#include "store/checks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "store/builder.h"

enum {
    FEW_LABELS = 16, /* up to this number of labels, an array on the stack is large enough */
};

gbs_status gbsi_check_arities(uint32_t first, uint32_t n, const uint32_t *arity, size_t *n_states,
                              gbs_error *err)
{
    size_t sum = *n_states;
    for (uint32_t i = 0; i < n; ++i) {
        if (arity[i] < 1 || arity[i] > GBS_MAX_ARITY) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u has %u states, expected 1 to %u",
                             (unsigned)(first + i), (unsigned)arity[i], GBS_MAX_ARITY);
        }
        if (!gbsi_add_size(sum, arity[i], &sum)) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "more states than memory has bytes");
        }
    }
    *n_states = sum;
    return GBS_OK;
}

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

gbs_status gbsi_check_entries(size_t table, size_t n, const double *logw, size_t *bad,
                              gbs_error *err)
{
    for (size_t e = 0; e < n; ++e) {
        if (!(fabs(logw[e]) <= GBS_MAX_LOG_WEIGHT) && logw[e] != -INFINITY) {
            *bad = e;
            return refuse_entry(table, e, logw[e], err);
        }
    }
    return GBS_OK;
}

/* Checks a name or label for control characters: C0, DEL, and C1 as encoded in UTF-8. Names are
 * printed in tables and on terminals, where these characters would end lines or move cursors. */
gbs_status gbsi_check_control(uint32_t variable, const char *what, const char *text, gbs_error *err)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        const bool c1 = *c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        if (*c < 0x20 || *c == 0x7f || c1) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "variable %u: %s holds the control character U+%04x",
                             (unsigned)variable, what, (unsigned)(c1 ? c[1] : *c));
        }
    }
    return GBS_OK;
}

static gbs_status refuse_label(uint32_t variable, uint32_t a, uint32_t b, const char *label,
                               gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u: states %u and %u are both \"%.200s\"",
                     (unsigned)variable, (unsigned)a, (unsigned)b, label);
}

gbs_status gbsi_check_labels(const char *text, const size_t *offset, uint32_t variable, uint32_t k,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t few[2 * FEW_LABELS];
    uint32_t *order = few;
    if (k > FEW_LABELS) {
        order = gbsi_alloc_array(2 * (size_t)k, sizeof *order);
        GBSI_PASS(GBSI_HAVE(err, "labels", order));
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

gbs_status gbsi_check_name_order(const gbs_model *model, const uint32_t *by_name, uint32_t n,
                                 gbs_error *err)
{
    for (uint32_t i = 1; i < n; ++i) {
        const uint32_t before = by_name[i - 1];
        const char *name = model->text + model->name[by_name[i]];
        const int order = strcmp(model->text + model->name[before], name);
        if (order == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "variables %u and %u are both named \"%.200s\"",
                             (unsigned)before, (unsigned)by_name[i], name);
        }
        if (order > 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found variable %u (\"%.200s\") behind %u, expected the variables "
                             "sorted by name",
                             (unsigned)by_name[i], name, (unsigned)before);
        }
    }
    return GBS_OK;
}
