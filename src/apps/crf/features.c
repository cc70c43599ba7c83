/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/features.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"

/* operations that the watch counts when a template is expanded and looked up */
#define TEMPLATE_OPERATIONS 30u
#define NOT_LISTED          UINT32_MAX

/* The links of one sequence. A key is a text of a token; tokens with equal keys are linked. */
typedef struct linking {
    gbsi_dictionary keys;
    size_t *last; /* [keys.n] last token so far with each key */
    size_t last_capacity;
    size_t *before; /* [n_tokens] for each token, the previous token with an equal key; SIZE_MAX if
                       no token precedes */
    uint32_t *feature; /* lists of the features that tokens contribute to their links */
    size_t *begin;     /* [n_tokens] where the features of a token begin in `feature` */
    uint32_t *n;       /* [n_tokens] number of features of the token; NOT_LISTED: not listed yet */
    size_t used, capacity;
} linking;

typedef struct finding {
    const gbsi_templates *templates;
    const gbsi_dictionary *known;
    gbsi_dictionary *learn; /* dictionary that receives new features; NULL if only known features
                               are looked up */
    const gbs_sequences *data;
    gbsi_features *features;
    gbsi_expansion text;
    gbsi_dictionary combinations; /* lists of the features of each combination, stored as bytes */
    uint32_t *pairs; /* [2 n_templates] features of the pair that ends at the current token, or of a
                        link */
    linking links;
    gbs_error *err;
} finding;

/* Finds the number of the feature whose text was expanded last. */
static gbs_status look_up(finding *f, uint32_t *number)
{
    if (f->learn != NULL) {
        GBSI_PASS(gbsi_dictionary_add(f->learn, f->text.at, f->text.n, number, f->err));
    } else {
        *number = gbsi_dictionary_find(f->known, f->text.at, f->text.n);
    }
    return GBS_OK;
}

/* Finds the features of one token, except the features of links. */
static gbs_status find_token(finding *f, size_t first, size_t end, size_t token)
{
    gbsi_features *out = f->features;
    size_t n_pairs = 0;
    uint32_t number = 0;
    for (size_t k = 0; k < f->templates->n; k++) {
        const char kind = f->templates->of[k].line[0];
        if (gbsi_has_link(kind) || gbsi_is_key(kind)) {
            continue;
        }
        GBSI_PASS(
            gbsi_template_expand(f->templates, k, f->data, first, end, token, &f->text, f->err));
        GBSI_PASS(look_up(f, &number));
        if (number == GBSI_NOT_THERE) {
            continue;
        }
        if (gbsi_has_unigram(f->text.at[0])) {
            GBSI_PASS(gbsi_reserve((void **)&out->feature, &out->capacity, out->n + 1,
                                   sizeof *out->feature, "features of tokens", f->err));
            out->feature[out->n++] = number;
        }
        if (gbsi_has_bigram(f->text.at[0])) {
            f->pairs[n_pairs++] = number;
        }
    }
    out->begin[token + 1] = out->n;
    return gbsi_dictionary_add(&f->combinations, (const char *)f->pairs, n_pairs * sizeof *f->pairs,
                               &out->combination[token], f->err);
}

/* ---- links --------------------------------------------------------------------------------- */

/* Finds the first key of a token whose text is not empty. A key is "=" and the text. */
static gbs_status expand_key(finding *f, size_t first, size_t end, size_t token)
{
    f->text.n = 0;
    for (size_t k = 0; k < f->templates->n && f->text.n <= 1; k++) {
        if (gbsi_is_key(f->templates->of[k].line[0])) {
            GBSI_PASS(gbsi_template_expand(f->templates, k, f->data, first, end, token, &f->text,
                                           f->err));
        }
    }
    return GBS_OK;
}

/* Links the tokens of a sequence that have equal keys: each token points to the previous token with
 * its key. */
static gbs_status chain_keys(finding *f, size_t first, size_t end)
{
    linking *l = &f->links;
    uint32_t key = 0;
    gbsi_dictionary_free(&l->keys);
    l->keys = (gbsi_dictionary){0};
    l->used = 0;
    for (size_t t = first; t < end; t++) {
        l->before[t] = SIZE_MAX;
        l->n[t] = NOT_LISTED;
        GBSI_PASS(expand_key(f, first, end, t));
        if (f->text.n <= 1) {
            continue;
        }
        const uint32_t next = l->keys.n;
        GBSI_PASS(gbsi_dictionary_add(&l->keys, f->text.at, f->text.n, &key, f->err));
        GBSI_PASS(gbsi_reserve((void **)&l->last, &l->last_capacity, l->keys.n, sizeof *l->last,
                               "links", f->err));
        l->before[t] = key == next ? SIZE_MAX : l->last[key];
        l->last[key] = t;
    }
    return GBS_OK;
}

/* Lists the features that a token contributes to its links. */
static gbs_status list_token(finding *f, size_t first, size_t end, size_t token)
{
    linking *l = &f->links;
    uint32_t number = 0;
    if (l->n[token] != NOT_LISTED) {
        return GBS_OK;
    }
    l->begin[token] = l->used;
    for (size_t k = 0; k < f->templates->n; k++) {
        if (!gbsi_has_link(f->templates->of[k].line[0])) {
            continue;
        }
        GBSI_PASS(
            gbsi_template_expand(f->templates, k, f->data, first, end, token, &f->text, f->err));
        GBSI_PASS(look_up(f, &number));
        if (number != GBSI_NOT_THERE) {
            GBSI_PASS(gbsi_reserve((void **)&l->feature, &l->capacity, l->used + 1,
                                   sizeof *l->feature, "links", f->err));
            l->feature[l->used++] = number;
        }
    }
    l->n[token] = (uint32_t)(l->used - l->begin[token]);
    return GBS_OK;
}

/* Adds a link, which has the features of its two tokens. A feature of both tokens counts once. */
static gbs_status add_link(finding *f, size_t first, size_t second)
{
    gbsi_features *out = f->features;
    const linking *l = &f->links;
    const uint32_t n_first = l->n[first];
    const uint32_t *of = n_first > 0 ? l->feature + l->begin[first] : NULL;
    size_t n = n_first;
    for (uint32_t i = 0; i < n_first; i++) {
        f->pairs[i] = of[i];
    }
    for (uint32_t i = 0; i < l->n[second]; i++) {
        const uint32_t feature = l->feature[l->begin[second] + i];
        bool is_new = true;
        for (uint32_t k = 0; k < n_first && is_new; k++) {
            is_new = of[k] != feature;
        }
        if (is_new) {
            f->pairs[n++] = feature;
        }
    }
    if (n == 0) { /* if no feature is known, the array of weights is empty */
        return GBS_OK;
    }
    GBSI_PASS(gbsi_reserve((void **)&out->link, &out->link_capacity, out->n_links + 1,
                           sizeof *out->link, "links", f->err));
    gbsi_link *link = &out->link[out->n_links];
    *link = (gbsi_link){.first = first, .second = second};
    GBSI_PASS(gbsi_dictionary_add(&f->combinations, (const char *)f->pairs, n * sizeof *f->pairs,
                                  &link->combination, f->err));
    out->n_links++;
    return GBS_OK;
}

/* Finds every pair of tokens in a sequence that have equal keys. */
static gbs_status find_links(finding *f, size_t first, size_t end, gbsi_watch *watch)
{
    const linking *l = &f->links;
    GBSI_PASS(chain_keys(f, first, end));
    for (size_t t = first; t < end; t++) {
        for (size_t u = l->before[t]; u != SIZE_MAX; u = l->before[u]) {
            GBSI_PASS(list_token(f, first, end, u));
            GBSI_PASS(list_token(f, first, end, t));
            GBSI_PASS(add_link(f, u, t));
            if (gbsi_watch_spend(watch, TEMPLATE_OPERATIONS)) {
                return gbsi_watch_fail(f->err, "finding links");
            }
        }
    }
    return GBS_OK;
}

static gbs_status begin_links(finding *f)
{
    const size_t n = f->data->n_tokens;
    linking *l = &f->links;
    f->features->link_begin = gbsi_alloc_array_zero(f->data->n + 1, sizeof *l->begin);
    l->before = gbsi_alloc_array(n, sizeof *l->before);
    l->begin = gbsi_alloc_array(n, sizeof *l->begin);
    l->n = gbsi_alloc_array(n, sizeof *l->n);
    return GBSI_HAVE(f->err, "links", f->features->link_begin, l->before, l->begin, l->n);
}

static void linking_free(linking *l)
{
    gbsi_dictionary_free(&l->keys);
    GBSI_FREE(l->last, l->before, l->feature, l->begin, l->n);
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Copies the lists of features of all combinations from the dictionary. */
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
    GBSI_PASS(
        GBSI_HAVE(f->err, "features of pairs", out->combination_begin, out->combination_feature));
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
    const gbs_sequences *data = f->data;
    const uint64_t operations = TEMPLATE_OPERATIONS * (f->templates->n + (uint64_t)1);
    if (f->templates->links) {
        GBSI_PASS(begin_links(f));
    }
    for (size_t s = 0; s < data->n; s++) {
        if (f->templates->links) {
            GBSI_PASS(find_links(f, data->first[s], data->first[s + 1], watch));
            f->features->link_begin[s + 1] = f->features->n_links;
        }
        for (size_t t = data->first[s]; t < data->first[s + 1]; t++) {
            GBSI_PASS(find_token(f, data->first[s], data->first[s + 1], t));
            if (gbsi_watch_spend(watch, operations)) {
                return gbsi_watch_fail(f->err, "finding features");
            }
        }
    }
    return list_combinations(f);
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
            data->name, data->n_columns, gbsi_plural(data->n_columns), templates->n_columns);
    }
    found.begin = gbsi_alloc_array_zero(data->n_tokens + 1, sizeof *found.begin);
    found.combination = gbsi_alloc_array(data->n_tokens, sizeof *found.combination);
    f.pairs = gbsi_alloc_array(templates->n, 2 * sizeof *f.pairs);
    GBSI_TRY(GBSI_HAVE(err, "features", found.begin, found.combination, f.pairs));
    GBSI_TRY(find_all(&f, watch));
    *features = found;
    found = (gbsi_features){0};

cleanup:
    gbsi_features_free(&found);
    gbsi_expansion_free(&f.text);
    gbsi_dictionary_free(&f.combinations);
    linking_free(&f.links);
    gbsi_free(f.pairs);
    return status;
}

void gbsi_features_free(gbsi_features *features)
{
    GBSI_FREE(features->begin, features->feature, features->combination,
              features->combination_begin, features->combination_feature, features->link,
              features->link_begin);
    *features = (gbsi_features){0};
}
