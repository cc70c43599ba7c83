/* SPDX-License-Identifier: Apache-2.0 */
/* Reads virtual evidence: N, then N times "variable k v_0 ... v_{k-1}" with the likelihoods v. */
#include <math.h>

#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "store/builder.h"
#include "store/model.h"
#include "text/text.h"

typedef struct likelihood {
    uint32_t variable;
    size_t first; /* index in `value` of the first likelihood of the variable */
    gbsi_token token;
} likelihood;

typedef struct likelihoods {
    void *item; /* likelihood [n] */
    size_t item_capacity;
    size_t n;
    void *value; /* double */
    size_t value_capacity;
    size_t n_values;
} likelihoods;

static gbs_status read_values(gbsi_text *text, likelihoods *all, uint32_t n, gbsi_token place,
                              gbs_error *err)
{
    bool any = false;
    GBSI_PASS(gbsi_reserve(&all->value, &all->value_capacity, all->n_values + n, sizeof(double),
                           text->name, err));
    double *value = (double *)all->value + all->n_values;
    for (uint32_t a = 0; a < n; a++) {
        gbsi_token token = gbsi_text_peek(text);
        GBSI_PASS(gbsi_text_double(text, "a likelihood", &value[a], NULL, err));
        if (!(value[a] >= 0 && value[a] < INFINITY)) {
            return gbsi_text_unexpected(text, token, "a likelihood, finite and at least 0", err);
        }
        any = any || value[a] > 0;
    }
    if (!any) {
        return gbsi_text_fail(text, place, err,
                              "found likelihoods that are all zero, expected a positive one");
    }
    all->n_values += n;
    return GBS_OK;
}

static gbs_status read_item(gbsi_text *text, const gbs_model *model, likelihoods *all,
                            gbs_error *err)
{
    uint32_t variable = 0;
    uint64_t n = 0;
    const gbsi_token place = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_variable(text, model->n_variables, &variable, err));
    gbsi_token token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_integer(text, "the number of likelihoods", UINT64_MAX, &n, err));
    uint32_t arity = model->arity[variable];
    if (n != arity) {
        char name[128];
        return gbsi_text_fail(text, token, err,
                              "found %llu likelihood%s of variable %s, expected one per state: %u",
                              (unsigned long long)n, gbsi_plural(n),
                              gbsi_variable_text(model, variable, name, sizeof name), arity);
    }
    GBSI_PASS(gbsi_reserve(&all->item, &all->item_capacity, all->n + 1, sizeof(likelihood),
                           text->name, err));
    ((likelihood *)all->item)[all->n++] =
        (likelihood){.variable = (uint32_t)variable, .first = all->n_values, .token = place};
    return read_values(text, all, arity, place, err);
}

static gbs_status read_all(gbsi_text *text, gbs_evidence *evidence, likelihoods *all,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t n = 0;
    GBSI_TRY(gbsi_text_count(text, "the number of variables with likelihoods", 6, &n, err));
    for (uint64_t i = 0; i < n; i++) {
        GBSI_TRY(read_item(text, evidence->model, all, err));
    }
    GBSI_TRY(gbsi_text_expect_end(text, "the last likelihood", err));
    const likelihood *item = all->item;
    for (size_t i = 0; i < all->n; i++) {
        status = gbs_evidence_likelihood(evidence, item[i].variable,
                                         (const double *)all->value + item[i].first, err);
        GBSI_TRY(gbsi_text_blame(text, item[i].token, status, err));
    }

cleanup:
    return status;
}

gbs_status gbs_evidence_read_virtual(gbs_evidence *evidence, const char *path,
                                     const gbs_read_options *options, gbs_error *err)
{
    GBSI_NEED(evidence, path);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    likelihoods all = {0};
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, options, err));
    text.comment = '#';
    text.is_glued = true;
    status = read_all(&text, evidence, &all, err);

cleanup:
    GBSI_FREE(all.item, all.value);
    gbsi_input_free(&input);
    return status;
}
