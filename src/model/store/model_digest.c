/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of a model. Equal models have equal digests, even if they share tables or
 * descriptions of logical factors in different ways. The model is fed array by array. The contents
 * of the tables are fed in the order of the factors, each as often as factors have it. */
#include "base/digest.h"

#include <string.h>

#include "base/memory.h"
#include "base/watch.h"
#include "store/builder.h"
#include "store/model.h"

enum {
    CHUNK = 512,
    DIGEST_TEXT = 33,
};

static const char version_tag[] = "gibbsite model 1";

/* Feeds numbers. Digests are defined on little-endian bytes. On a little-endian machine the digest
 * therefore reads the array directly. */
static void feed_u32(gbsi_digest *d, const uint32_t *value, size_t n)
{
    if (gbsi_little_endian()) {
        gbsi_digest_bytes(d, value, n * sizeof *value);
    } else {
        gbsi_digest_u32(d, value, n);
    }
}

static void feed_f64(gbsi_digest *d, const double *value, size_t n)
{
    if (gbsi_little_endian()) {
        gbsi_digest_bytes(d, value, n * sizeof *value);
    } else {
        gbsi_digest_f64(d, value, n);
    }
}

static void feed_u64(gbsi_digest *d, uint64_t value)
{
    gbsi_digest_u64(d, &value, 1);
}

static void feed_scope_sizes(gbsi_digest *d, const gbsi_factors *f)
{
    uint32_t size[CHUNK];
    size_t n = 0;
    for (size_t i = 0; i < f->n_factors; ++i) {
        size[n++] = (uint32_t)(f->scope_start[i + 1] - f->scope_start[i]);
        if (n == CHUNK) {
            feed_u32(d, size, n);
            n = 0;
        }
    }
    feed_u32(d, size, n);
}

static void feed_functions(gbsi_digest *d, const gbsi_factors *f)
{
    uint8_t function[CHUNK + 2];
    size_t n = 0;
    for (size_t i = 0; f->n_logical > 0 && i < f->n_factors; ++i) {
        if (f->kind[i] == GBS_FACTOR_LOGICAL) {
            const gbsi_logical *logical = &f->logical[f->aux[i]];
            function[n++] = logical->function;
            if (gbsi_logical_is_cardinality(logical->function)) {
                function[n++] = (uint8_t)(logical->k & 0xff);
                function[n++] = (uint8_t)(logical->k >> 8);
            }
        }
        if (n >= CHUNK) {
            gbsi_digest_u8(d, function, n);
            n = 0;
        }
    }
    gbsi_digest_u8(d, function, n);
}

static gbs_status long_table_text(const gbsi_factors *f, size_t table, char text[DIGEST_TEXT],
                                  gbs_error *err)
{
    gbsi_digest *d = NULL;
    gbs_status status = gbsi_digest_new(&d, err);
    if (status == GBS_OK) {
        const size_t start = f->table_start[table];
        feed_f64(d, &f->table[start], f->table_start[table + 1] - start);
        gbsi_digest_text(d, text);
    }
    gbsi_digest_free(d);
    return status;
}

static gbs_status feed_tables(gbsi_digest *d, const gbsi_factors *f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *place = NULL; /* [n_tables] row of each long table in `text` */
    char(*text)[DIGEST_TEXT] = NULL;
    size_t n_long = 0;
    place = gbsi_alloc_array(f->n_tables, sizeof *place);
    GBSI_TRY(GBSI_HAVE(err, "model", place));
    for (size_t t = 0; t < f->n_tables; ++t) {
        place[t] = (uint32_t)n_long;
        n_long += f->table_start[t + 1] - f->table_start[t] > GBSI_SHORT_TABLE;
    }
    text = gbsi_alloc_array(n_long, sizeof *text);
    GBSI_TRY(GBSI_HAVE(err, "model", text));
    for (size_t t = 0; t < f->n_tables; ++t) {
        if (f->table_start[t + 1] - f->table_start[t] > GBSI_SHORT_TABLE) {
            GBSI_TRY(long_table_text(f, t, text[place[t]], err));
        }
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (!gbsi_has_table(f->kind[i])) {
            continue;
        }
        const uint32_t t = f->aux[i];
        const size_t n = f->table_start[t + 1] - f->table_start[t];
        if (n > GBSI_SHORT_TABLE) {
            gbsi_digest_bytes(d, text[place[t]], DIGEST_TEXT);
        } else {
            feed_f64(d, &f->table[f->table_start[t]], n);
        }
    }

cleanup:
    GBSI_FREE(place, text);
    return status;
}

void gbsi_model_digest_begin(gbsi_digest *d, uint8_t directed, uint64_t n_variables,
                             uint64_t n_factors)
{
    gbsi_digest_bytes(d, version_tag, sizeof version_tag);
    gbsi_digest_u8(d, &directed, 1);
    feed_u64(d, n_variables);
    feed_u64(d, n_factors);
}

gbs_status gbsi_model_make_digest(gbs_model *model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *f = &model->factors;
    gbsi_digest *d = NULL;
    GBSI_TRY(gbsi_digest_new(&d, err));
    gbsi_model_digest_begin(d, model->directed ? 1 : 0, model->n_variables, f->n_factors);
    feed_u32(d, model->arity, model->n_variables);
    gbsi_digest_u8(d, f->kind, f->n_factors);
    feed_scope_sizes(d, f);
    feed_u32(d, f->scope, f->scope_start[f->n_factors]);
    feed_f64(d, f->weight, f->n_factors);
    if (f->n_logical > 0) {
        feed_u32(d, f->literal, f->scope_start[f->n_factors]);
        feed_functions(d, f);
    }
    GBSI_TRY(feed_tables(d, f, err));
    GBSI_TRY(gbsi_watch_work(gbsi_watch_current(), 0, "reading the model", err));
    gbsi_digest_text(d, model->digest);

cleanup:
    gbsi_digest_free(d);
    return status;
}
