/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/features.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"

#define TEMPLATE_OPERATIONS 30u /* of the watch: a template expanded and looked up */

typedef struct finding {
    const gbsi_templates *templates;
    const gbsi_dictionary *known;
    gbsi_dictionary *learn; /* NULL: only what is known */
    const gbs_sequences *data;
    gbsi_features *features;
    gbsi_expansion text;
    gbsi_dictionary combinations; /* lists of features, as bytes */
    uint32_t *pairs;              /* [n_templates] features of pairs of this token */
    gbs_error *err;
} finding;

/* The features of one token. */
static gbs_status find_token(finding *f, size_t first, size_t end, size_t token)
{
    gbs_status status = GBS_OK;
    gbsi_features *out = f->features;
    size_t n_pairs = 0;
    uint32_t number = 0;
    for (size_t k = 0; k < f->templates->n; k++) {
        GBSI_TRY(
            gbsi_template_expand(f->templates, k, f->data, first, end, token, &f->text, f->err));
        if (f->learn != NULL) {
            GBSI_TRY(gbsi_dictionary_add(f->learn, f->text.at, f->text.n, &number, f->err));
        } else {
            number = gbsi_dictionary_find(f->known, f->text.at, f->text.n);
        }
        if (number == GBSI_NOT_THERE) {
            continue;
        }
        if (gbsi_has_unigram(f->text.at[0])) {
            GBSI_TRY(gbsi_reserve((void **)&out->feature, &out->capacity, out->n + 1,
                                  sizeof *out->feature, "features of tokens", f->err));
            out->feature[out->n++] = number;
        }
        if (gbsi_has_bigram(f->text.at[0])) {
            f->pairs[n_pairs++] = number;
        }
    }
    out->begin[token + 1] = out->n;
    GBSI_TRY(gbsi_dictionary_add(&f->combinations, (const char *)f->pairs,
                                 n_pairs * sizeof *f->pairs, &out->combination[token], f->err));

cleanup:
    return status;
}

/* The lists of features behind the numbers of combinations. */
static gbs_status list_combinations(finding *f)
{
    gbsi_features *out = f->features;
    const gbsi_dictionary *d = &f->combinations;
    size_t n = 0;
    for (uint32_t c = 0; c < d->n; c++) {
        n += d->length[c] / sizeof *f->pairs;
    }
    out->n_combinations = d->n;
    out->combination_begin = gbsi_alloc_array(d->n + (size_t)1, sizeof *out->combination_begin);
    out->combination_feature = gbsi_alloc_array(n, sizeof *out->combination_feature);
    if (out->combination_begin == NULL || out->combination_feature == NULL) {
        return gbsi_no_memory(f->err, "features of pairs", n * sizeof *f->pairs);
    }
    n = 0;
    for (uint32_t c = 0; c < d->n; c++) {
        out->combination_begin[c] = n;
        memcpy(out->combination_feature + n, d->text[c], d->length[c]);
        n += d->length[c] / sizeof *f->pairs;
    }
    out->combination_begin[d->n] = n;
    return GBS_OK;
}

static gbs_status find_all(finding *f, gbsi_watch *watch)
{
    gbs_status status = GBS_OK;
    const gbs_sequences *data = f->data;
    const uint64_t operations = TEMPLATE_OPERATIONS * (f->templates->n + (uint64_t)1);
    for (size_t s = 0; s < data->n; s++) {
        for (size_t t = data->first[s]; t < data->first[s + 1]; t++) {
            GBSI_TRY(find_token(f, data->first[s], data->first[s + 1], t));
            if (gbsi_watch_spend(watch, operations)) {
                return gbsi_watch_fail(f->err, "finding features");
            }
        }
    }
    GBSI_TRY(list_combinations(f));

cleanup:
    return status;
}

gbs_status gbsi_features_find(const gbsi_templates *templates, const gbsi_dictionary *known,
                              gbsi_dictionary *learn, const gbs_sequences *data,
                              gbsi_features *features, gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_features found = {0};
    finding f = {.templates = templates,
                 .known = known,
                 .learn = learn,
                 .data = data,
                 .features = &found,
                 .err = err};
    if (data->n_columns < templates->n_columns) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "%s: found %" PRIu32 " column%s, expected the %" PRIu32 " that the templates name",
            data->name, data->n_columns, data->n_columns == 1 ? "" : "s", templates->n_columns);
    }
    found.begin = gbsi_alloc_array_zero(data->n_tokens + 1, sizeof *found.begin);
    found.combination = gbsi_alloc_array(data->n_tokens, sizeof *found.combination);
    f.pairs = gbsi_alloc_array(templates->n, sizeof *f.pairs);
    if (found.begin == NULL || found.combination == NULL || f.pairs == NULL) {
        status = gbsi_no_memory(err, "features", data->n_tokens * sizeof *found.begin);
        goto cleanup;
    }
    GBSI_TRY(find_all(&f, watch));
    *features = found;
    found = (gbsi_features){0};

cleanup:
    gbsi_features_free(&found);
    gbsi_expansion_free(&f.text);
    gbsi_dictionary_free(&f.combinations);
    gbsi_free(f.pairs);
    return status;
}

void gbsi_features_free(gbsi_features *features)
{
    gbsi_free(features->begin);
    gbsi_free(features->feature);
    gbsi_free(features->combination);
    gbsi_free(features->combination_begin);
    gbsi_free(features->combination_feature);
    *features = (gbsi_features){0};
}
