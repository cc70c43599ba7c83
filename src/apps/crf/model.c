/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "text/output.h"

gbs_status gbsi_crf_number_weights(gbs_crf *crf, gbs_error *err)
{
    const uint64_t n_labels = crf->labels.n;
    const uint32_t n = crf->features.n;
    GBSI_PASS(gbsi_reserve((void **)&crf->unigram, &crf->unigram_capacity, n, sizeof *crf->unigram,
                           "features", err));
    GBSI_PASS(gbsi_reserve((void **)&crf->bigram, &crf->bigram_capacity, n, sizeof *crf->bigram,
                           "features", err));
    crf->n_weights = 0;
    for (uint32_t f = 0; f < n; f++) {
        const char first = crf->features.text[f][0];
        crf->unigram[f] = gbsi_has_unigram(first) ? crf->n_weights : GBSI_NO_WEIGHT;
        crf->n_weights += gbsi_has_unigram(first) ? n_labels : 0;
        crf->bigram[f] = gbsi_has_pairs(first) ? crf->n_weights : GBSI_NO_WEIGHT;
        crf->n_weights += gbsi_has_pairs(first) ? n_labels * n_labels : 0;
    }
    return GBS_OK;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool begins(const gbsi_text *text, const char *word)
{
    const size_t n = strlen(word);
    return gbsi_text_left(text) >= n && memcmp(text->at, word, n) == 0;
}

static gbs_status read_text(const gbsi_input *input, gbs_crf **crf, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text text;
    gbs_crf *c = gbsi_alloc_zero(sizeof *c);
    GBSI_PASS(GBSI_HAVE(err, "a model", c));
    GBSI_TRY(gbsi_text_open(&text, input, NULL, err));
    if (begins(&text, "version:")) {
        GBSI_TRY(gbsi_crf_read_crfpp(c, &text, err));
    } else if (begins(&text, "#mdl#")) {
        GBSI_TRY(gbsi_crf_read_wapiti(c, &text, err));
    } else {
        status = gbsi_text_unexpected(&text, gbsi_text_peek(&text),
                                      "\"version:\" of a text model of CRF++ (crf_learn -t), or "
                                      "\"#mdl#\" of one of Wapiti",
                                      err);
        goto cleanup;
    }
    *crf = c;
    c = NULL;

cleanup:
    gbs_crf_free(c);
    return status;
}

gbs_status gbs_crf_read(const char *path, gbs_crf **crf, gbs_error *err)
{
    GBSI_NEED(path, crf);
    gbsi_input input;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    gbs_status status = gbsi_input_read_text(path, &input, err);
    if (status >= 0) {
        status = read_text(&input, crf, err);
        gbsi_input_free(&input);
    }
    gbsi_budget_leave(before);
    return status;
}

gbs_status gbs_crf_read_memory(const char *name, const void *bytes, size_t n_bytes, gbs_crf **crf,
                               gbs_error *err)
{
    GBSI_NEED(name, bytes, crf);
    gbsi_input input;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    gbs_status status = gbsi_input_memory(name, bytes, n_bytes, &input, err);
    if (status >= 0) {
        status = read_text(&input, crf, err);
        gbsi_input_free(&input);
    }
    gbsi_budget_leave(before);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_line(gbs_output *output, const void *bytes, size_t n)
{
    gbsi_output_bytes(output, bytes, n);
    gbsi_output_text(output, "\n");
}

static void write_crfpp(const gbs_crf *crf, gbs_output *output)
{
    gbsi_output_text(output, "version: 100\ncost-factor: 1\nmaxid: ");
    gbsi_output_uint(output, crf->n_weights);
    gbsi_output_text(output, "\nxsize: ");
    gbsi_output_uint(output, crf->templates.n_columns);
    gbsi_output_text(output, "\n\n");
    for (uint32_t y = 0; y < crf->labels.n; y++) {
        write_line(output, crf->labels.text[y], crf->labels.length[y]);
    }
    gbsi_output_text(output, "\n");
    for (size_t k = 0; k < crf->templates.n; k++) {
        write_line(output, crf->templates.of[k].line, crf->templates.of[k].n);
    }
    gbsi_output_text(output, "\n");
    for (uint32_t f = 0; f < crf->features.n; f++) {
        const bool pairs = crf->unigram[f] == GBSI_NO_WEIGHT;
        gbsi_output_uint(output, pairs ? crf->bigram[f] : crf->unigram[f]);
        gbsi_output_text(output, " ");
        write_line(output, crf->features.text[f], crf->features.length[f]);
    }
    gbsi_output_text(output, "\n");
    for (uint64_t i = 0; i < crf->n_weights; i++) {
        gbsi_output_double(output, crf->weight[i]);
        gbsi_output_text(output, "\n");
    }
}

static void write_netstring(gbs_output *output, const char *at, size_t n)
{
    gbsi_output_uint(output, n);
    gbsi_output_text(output, ":");
    gbsi_output_bytes(output, at, n);
    gbsi_output_text(output, ",\n");
}

static void write_quarks(gbs_output *output, const gbsi_dictionary *d)
{
    gbsi_output_text(output, "#qrk#");
    gbsi_output_uint(output, d->n);
    gbsi_output_text(output, "\n");
    for (uint32_t i = 0; i < d->n; i++) {
        write_netstring(output, d->text[i], d->length[i]);
    }
}

/* Writes a number in the form of C's %a, such as 0x1.8p+1. @param value finite, not 0. */
static void write_hexadecimal(gbs_output *output, double value)
{
    char text[40];
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & UINT64_C(0xfffffffffffff);
    const int biased = (int)(bits >> 52 & 0x7ff);
    int n = snprintf(text, sizeof text, "%s0x%d.%013" PRIx64, bits >> 63 != 0 ? "-" : "",
                     biased != 0, fraction);
    while (text[n - 1] == '0') {
        n--;
    }
    n -= text[n - 1] == '.';
    (void)snprintf(text + n, sizeof text - (size_t)n, "p%+d\n",
                   biased == 0 ? -1022 : biased - 1023);
    gbsi_output_text(output, text);
}

static void write_wapiti(const gbs_crf *crf, gbs_output *output)
{
    uint64_t n_active = 0;
    for (uint64_t i = 0; i < crf->n_weights; i++) {
        n_active += crf->weight[i] != 0.0;
    }
    gbsi_output_text(output, crf->templates.links ? "#mdl#skip-chain#" : "#mdl#2#");
    gbsi_output_uint(output, n_active);
    gbsi_output_text(output, "\n#rdr#");
    gbsi_output_uint(output, crf->templates.n);
    gbsi_output_text(output, "/");
    gbsi_output_uint(output, crf->templates.n_columns > 0 ? crf->templates.n_columns - 1 : 0);
    gbsi_output_text(output, "/0\n");
    for (size_t k = 0; k < crf->templates.n; k++) {
        write_netstring(output, crf->templates.of[k].line, crf->templates.of[k].n);
    }
    write_quarks(output, &crf->labels);
    write_quarks(output, &crf->features);
    for (uint64_t i = 0; i < crf->n_weights; i++) {
        if (crf->weight[i] != 0.0) {
            gbsi_output_uint(output, i);
            gbsi_output_text(output, "=");
            write_hexadecimal(output, crf->weight[i]);
        }
    }
}

gbs_status gbs_crf_write(const gbs_crf *crf, const char *path, gbs_error *err)
{
    GBSI_NEED(crf, path);
    gbs_output *output = NULL;
    GBSI_PASS(gbs_output_open(path, &output, err));
    if (crf->templates.style == GBS_TEMPLATES_CRFPP) {
        write_crfpp(crf, output);
    } else {
        write_wapiti(crf, output);
    }
    return gbs_output_commit(output, err);
}

/* ---- contents ----------------------------------------------------------------------------- */

void gbs_crf_free(gbs_crf *crf)
{
    if (crf == NULL) {
        return;
    }
    gbsi_templates_free(&crf->templates);
    gbsi_dictionary_free(&crf->labels);
    gbsi_dictionary_free(&crf->features);
    GBSI_FREE(crf->unigram, crf->bigram, crf->weight, crf);
}

uint32_t gbs_crf_n_labels(const gbs_crf *crf)
{
    return crf == NULL ? 0 : crf->labels.n;
}

const char *gbs_crf_label_name(const gbs_crf *crf, uint32_t label)
{
    return crf == NULL || label >= crf->labels.n ? NULL : crf->labels.text[label];
}

const double *gbs_crf_weights(const gbs_crf *crf)
{
    return crf == NULL ? NULL : crf->weight;
}

gbs_status gbs_crf_feature(const gbs_crf *crf, size_t feature, const char **text, size_t *single,
                           size_t *pairs, gbs_error *err)
{
    GBSI_NEED(crf);
    if (feature >= crf->features.n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found feature %zu, expected one below %" PRIu32,
                         feature, crf->features.n);
    }
    if (text != NULL) {
        *text = crf->features.text[feature];
    }
    if (single != NULL) {
        *single = (size_t)crf->unigram[feature];
    }
    if (pairs != NULL) {
        *pairs = (size_t)crf->bigram[feature];
    }
    return GBS_OK;
}

size_t gbs_crf_n_features(const gbs_crf *crf)
{
    return crf == NULL ? 0 : crf->features.n;
}

size_t gbs_crf_n_weights(const gbs_crf *crf)
{
    return crf == NULL ? 0 : (size_t)crf->n_weights;
}

uint32_t gbs_crf_n_columns(const gbs_crf *crf)
{
    return crf == NULL ? 0 : crf->templates.n_columns;
}
