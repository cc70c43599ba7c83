/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes classes as text; gibbsite-formats(5) describes the format. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "segment/aspects.h"
#include "text/output.h"
#include "text/text.h"

enum { MOST_SIDE = 1024, MOST_CELLS = 256, LEAST_BYTES = 2 };

/* ---- reading --------------------------------------------------------------------------------- */

static gbs_status read_word(gbsi_text *text, const char *word, gbs_error *err)
{
    char expected[48];
    const gbsi_token token = gbsi_text_next(text);
    (void)snprintf(expected, sizeof expected, "'%s'", word);
    return gbsi_token_is(token, word) ? GBS_OK : gbsi_text_unexpected(text, token, expected, err);
}

static gbs_status read_named(gbsi_text *text, const char *name, uint64_t least, uint64_t most,
                             uint32_t *value, gbs_error *err)
{
    char expected[64];
    uint64_t found = 0;
    GBSI_PASS(read_word(text, name, err));
    const gbsi_token token = gbsi_text_peek(text);
    (void)snprintf(expected, sizeof expected, "a number from %llu to %llu",
                   (unsigned long long)least, (unsigned long long)most);
    GBSI_PASS(gbsi_text_integer(text, expected, most, &found, err));
    if (found < least) {
        GBSI_PASS(gbsi_text_unexpected(text, token, expected, err));
    }
    *value = (uint32_t)found;
    return GBS_OK;
}

static gbs_status read_real(gbsi_text *text, double least, double most, const char *expected,
                            double *value, gbs_error *err)
{
    const gbsi_token token = gbsi_text_peek(text);
    const gbs_status status = gbsi_text_double(text, expected, value, NULL, err);
    return status >= 0 && !(*value >= least && *value <= most)
               ? gbsi_text_unexpected(text, token, expected, err)
               : status;
}

static gbs_status read_centres(gbsi_text *text, const char *name, gbsi_vocabulary *v,
                               gbs_error *err)
{
    uint64_t n = 0;
    GBSI_PASS(read_word(text, name, err));
    const gbsi_token token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_count(text, "a number of words", (size_t)v->width * LEAST_BYTES, &n, err));
    if (n == 0 || n > UINT32_MAX) {
        GBSI_PASS(gbsi_text_unexpected(text, token, "at least one word", err));
    }
    v->centre = gbsi_alloc_array((size_t)n * v->width, sizeof *v->centre);
    GBSI_PASS(GBSI_HAVE(err, "words", v->centre));
    v->n = (uint32_t)n;
    for (size_t i = 0; i < (size_t)n * v->width; i++) {
        double value = 0.0;
        GBSI_PASS(read_real(text, -1e6, 1e6, "a number from -1e6 to 1e6", &value, err));
        v->centre[i] = (float)value;
    }
    return GBS_OK;
}

static gbs_status read_class(gbsi_text *text, gbs_aspects *a, uint32_t number, gbs_error *err)
{
    GBSI_PASS(read_word(text, "class", err));
    const gbsi_token token = gbsi_text_next(text);
    if (token.n == 0) {
        GBSI_PASS(gbsi_text_unexpected(text, token, "the name of a class", err));
    }
    char *name = gbsi_alloc_zero(token.n + 1);
    GBSI_PASS(GBSI_HAVE(err, "classes", name));
    memcpy(name, token.at, token.n);
    a->name[number] = name;
    for (uint32_t other = 0; other < number; other++) {
        if (strcmp(a->name[other], name) == 0) {
            GBSI_PASS(gbsi_text_unexpected(text, token, "the name of another class", err));
        }
    }
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        for (size_t w = 0; w < a->n_words[m]; w++) {
            GBSI_PASS(read_real(text, 1e-100, 1.0, "a probability above 0",
                                &a->beta[m][w * a->n_classes + number], err));
        }
    }
    return GBS_OK;
}

static gbs_status read_classes(gbsi_text *text, gbs_aspects *a, gbs_error *err)
{
    uint32_t n = 0;
    GBSI_PASS(read_named(text, "classes", 2, GBS_MAX_CLASSES, &n, err));
    a->name = gbsi_alloc_array_zero(n, sizeof *a->name);
    GBSI_PASS(GBSI_HAVE(err, "classes", a->name));
    a->n_classes = n;
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        a->beta[m] = gbsi_aspects_beta(a, m);
        if (a->beta[m] == NULL && a->n_words[m] > 0) {
            return gbsi_no_memory(err, "classes", (size_t)n * a->n_words[m]);
        }
    }
    for (uint32_t number = 0; number < n; number++) {
        GBSI_PASS(read_class(text, a, number, err));
    }
    return gbsi_text_expect_end(text, "the last class", err);
}

static gbs_status read_aspects(const gbsi_input *input, gbs_aspects **aspects, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text text;
    uint32_t version = 0;
    gbs_aspects *a = gbsi_alloc_zero(sizeof *a);
    GBSI_PASS(GBSI_HAVE(err, "classes", a));
    GBSI_TRY(gbsi_text_open(&text, input, NULL, err));
    GBSI_TRY(read_named(&text, "gibbsite-aspects", 1, 1, &version, err));
    GBSI_TRY(read_named(&text, "side", 4, MOST_SIDE, &a->side, err));
    GBSI_TRY(read_named(&text, "step", 1, MOST_SIDE, &a->step, err));
    GBSI_TRY(read_named(&text, "cells", 0, MOST_CELLS, &a->cells, err));
    a->texture.width = GBSI_TEXTURE;
    a->color.width = GBSI_COLOR;
    GBSI_TRY(read_centres(&text, "texture", &a->texture, err));
    GBSI_TRY(read_centres(&text, "color", &a->color, err));
    a->n_words[GBSI_WORD_TEXTURE] = a->texture.n;
    a->n_words[GBSI_WORD_COLOR] = a->color.n;
    a->n_words[GBSI_WORD_PLACE] = a->cells * a->cells;
    GBSI_TRY(read_classes(&text, a, err));
    *aspects = a;
    a = NULL;
cleanup:
    gbs_aspects_free(a);
    return status;
}

gbs_status gbs_aspects_read(const char *path, gbs_aspects **aspects, gbs_error *err)
{
    GBSI_NEED(path, aspects);
    gbsi_input input = {0};
    gbs_status status = gbsi_input_read_text(path, &input, err);
    if (status >= 0) {
        status = read_aspects(&input, aspects, err);
    }
    gbsi_input_free(&input);
    return status;
}

gbs_status gbs_aspects_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                   gbs_aspects **aspects, gbs_error *err)
{
    GBSI_NEED(name, bytes, aspects);
    gbsi_input input = {0};
    gbs_status status = gbsi_input_memory(name, bytes, n_bytes, &input, err);
    if (status >= 0) {
        status = read_aspects(&input, aspects, err);
    }
    gbsi_input_free(&input);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_named(gbs_output *output, const char *name, uint32_t value)
{
    gbsi_output_text(output, name);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, value);
    gbsi_output_text(output, "\n");
}

static void put_centres(gbs_output *output, const char *name, const gbsi_vocabulary *v)
{
    put_named(output, name, v->n);
    for (size_t i = 0; i < (size_t)v->n * v->width; i++) {
        gbsi_output_double(output, (double)v->centre[i]);
        gbsi_output_text(output, (i + 1) % v->width == 0 ? "\n" : " ");
    }
}

gbs_status gbs_aspects_write(const gbs_aspects *aspects, const char *path, gbs_error *err)
{
    GBSI_NEED(aspects, path);
    gbs_output *output = NULL;
    GBSI_PASS(gbs_output_open(path, &output, err));
    put_named(output, "gibbsite-aspects", 1);
    put_named(output, "side", aspects->side);
    put_named(output, "step", aspects->step);
    put_named(output, "cells", aspects->cells);
    put_centres(output, "texture", &aspects->texture);
    put_centres(output, "color", &aspects->color);
    put_named(output, "classes", aspects->n_classes);
    for (uint32_t a = 0; a < aspects->n_classes; a++) {
        gbsi_output_text(output, "class ");
        gbsi_output_text(output, aspects->name[a]);
        gbsi_output_text(output, "\n");
        for (int m = 0; m < GBSI_WORD_KINDS; m++) {
            for (size_t w = 0; w < aspects->n_words[m]; w++) {
                gbsi_output_double(output, aspects->beta[m][w * aspects->n_classes + a]);
                gbsi_output_text(output, w + 1 == aspects->n_words[m] ? "\n" : " ");
            }
        }
    }
    return gbs_output_commit(output, err);
}
