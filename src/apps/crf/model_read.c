/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text models of CRF++ and Wapiti. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "crf/model.h"
#include "decimal/decimal.h"

enum { WAPITI_CRF = 2 }; /* Wapiti's number of chains; 0 and 1 are other types of models */
#define SKIP_CHAIN "skip-chain"

/* @return the rest of a line without the line end. The text moves to the next line. */
static gbsi_token rest_of_line(gbsi_text *text)
{
    gbsi_token line = {.at = text->at};
    const char *newline =
        text->at == text->end ? NULL : memchr(text->at, '\n', gbsi_text_left(text));
    const char *end = newline == NULL ? text->end : newline;
    text->at = newline == NULL ? text->end : newline + 1;
    line.n = (size_t)(end - line.at);
    line.n -= line.n > 0 && end[-1] == '\r';
    return line;
}

static gbs_status expect_word(gbsi_text *text, const char *word, gbs_error *err)
{
    const size_t n = strlen(word);
    if (gbsi_text_left(text) < n || memcmp(text->at, word, n) != 0) {
        return gbsi_text_unexpected(text, gbsi_text_peek(text), word, err);
    }
    text->at += n;
    return GBS_OK;
}

/* Adds a label or feature, which must be new. */
static gbs_status add_new(gbsi_dictionary *d, const gbsi_text *text, gbsi_token token,
                          const char *what, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint32_t number = 0;
    const uint32_t next = d->n;
    GBSI_PASS(gbsi_dictionary_add(d, token.at, token.n, &number, err));
    if (number != next) {
        return gbsi_text_fail(text, token, err, "found the %s %s a second time", what,
                              gbsi_token_show(token, shown));
    }
    return GBS_OK;
}

/* Adds a feature. @param unigram,bigram indices of the feature's first weights. */
static gbs_status add_feature(gbs_crf *crf, const gbsi_text *text, gbsi_token token,
                              uint64_t unigram, uint64_t bigram, gbs_error *err)
{
    GBSI_PASS(add_new(&crf->features, text, token, "feature", err));
    const size_t n = crf->features.n;
    GBSI_PASS(gbsi_reserve((void **)&crf->unigram, &crf->unigram_capacity, n, sizeof *crf->unigram,
                           "features", err));
    GBSI_PASS(gbsi_reserve((void **)&crf->bigram, &crf->bigram_capacity, n, sizeof *crf->bigram,
                           "features", err));
    crf->unigram[n - 1] = unigram;
    crf->bigram[n - 1] = bigram;
    return GBS_OK;
}

static gbs_status take_weights(gbs_crf *crf, gbs_error *err)
{
    crf->weight = gbsi_alloc_array_zero(crf->n_weights, sizeof *crf->weight);
    return GBSI_HAVE(err, "weights", crf->weight);
}

static gbs_status check_labels(const gbs_crf *crf, const gbsi_text *text, gbsi_token at,
                               gbs_error *err)
{
    if (crf->labels.n < 1 || crf->labels.n > GBS_MAX_ARITY) {
        return gbsi_text_fail(text, at, err, "found %" PRIu32 " label%s, expected 1 to %d",
                              crf->labels.n, gbsi_plural(crf->labels.n), GBS_MAX_ARITY);
    }
    return GBS_OK;
}

/* ---- CRF++ --------------------------------------------------------------------------------- */

static gbs_status read_head(gbsi_text *text, double *cost_factor, uint64_t *n_weights,
                            gbs_error *err)
{
    uint64_t ignored = 0;
    const char *begin = text->at;
    GBSI_PASS(expect_word(text, "version:", err));
    GBSI_PASS(gbsi_text_integer(text, "a version", UINT32_MAX, &ignored, err));
    (void)rest_of_line(text);
    GBSI_PASS(expect_word(text, "cost-factor:", err));
    begin = text->at;
    GBSI_PASS(gbsi_text_double(text, "a cost factor", cost_factor, NULL, err));
    if (!(*cost_factor > 0.0 && isfinite(*cost_factor))) {
        return gbsi_text_unexpected(text, gbsi_text_at(text, begin), "a number above 0", err);
    }
    (void)rest_of_line(text);
    GBSI_PASS(expect_word(text, "maxid:", err));
    GBSI_PASS(gbsi_text_count(text, "the number of weights", 2, n_weights, err));
    (void)rest_of_line(text);
    GBSI_PASS(expect_word(text, "xsize:", err));
    GBSI_PASS(gbsi_text_integer(text, "a number of columns", UINT32_MAX, &ignored, err));
    (void)rest_of_line(text);
    begin = text->at;
    if (rest_of_line(text).n != 0) {
        return gbsi_text_unexpected(text, gbsi_text_at(text, begin), "an empty line", err);
    }
    return GBS_OK;
}

/* Reads "id feature": the index of the feature's first weight, a blank, and the text. */
static gbs_status read_feature(gbs_crf *crf, gbsi_text *text, gbs_error *err)
{
    uint64_t id = 0;
    const uint64_t n_labels = crf->labels.n;
    const gbsi_token number = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_integer(text, "the number of a weight", UINT64_MAX, &id, err));
    text->at += text->at < text->end && *text->at == ' ';
    const gbsi_token feature = rest_of_line(text);
    if (feature.n == 0 || (feature.at[0] != 'U' && feature.at[0] != 'B')) {
        return gbsi_text_unexpected(text, feature, "a feature, which begins with U or B", err);
    }
    const bool pairs = feature.at[0] == 'B';
    const uint64_t n = pairs ? n_labels * n_labels : n_labels;
    if (id > crf->n_weights || crf->n_weights - id < n) {
        return gbsi_text_fail(text, number, err,
                              "found weights %" PRIu64 " to %" PRIu64
                              ", expected at most maxid, %" PRIu64,
                              id, id + n - 1, crf->n_weights);
    }
    return add_feature(crf, text, feature, pairs ? GBSI_NO_WEIGHT : id, pairs ? id : GBSI_NO_WEIGHT,
                       err);
}

gbs_status gbsi_crf_read_crfpp(gbs_crf *crf, gbsi_text *text, gbs_error *err)
{
    double cost_factor = 1.0;
    gbsi_token line = {NULL, 0};
    crf->templates.style = GBS_TEMPLATES_CRFPP;
    GBSI_PASS(read_head(text, &cost_factor, &crf->n_weights, err));
    while ((line = rest_of_line(text)).n > 0) {
        GBSI_PASS(add_new(&crf->labels, text, line, "label", err));
    }
    GBSI_PASS(check_labels(crf, text, line, err));
    while ((line = rest_of_line(text)).n > 0) {
        GBSI_PASS(gbsi_templates_add(&crf->templates, text, line, err));
    }
    while (text->at < text->end && *text->at != '\n' && *text->at != '\r') {
        GBSI_PASS(read_feature(crf, text, err));
    }
    (void)rest_of_line(text);
    GBSI_PASS(take_weights(crf, err));
    for (uint64_t i = 0; i < crf->n_weights; i++) {
        const gbsi_token token = gbsi_text_peek(text);
        GBSI_PASS(gbsi_text_double(text, "a weight", &crf->weight[i], NULL, err));
        crf->weight[i] *= cost_factor;
        if (!isfinite(crf->weight[i])) {
            return gbsi_text_unexpected(text, token, "a finite weight", err);
        }
    }
    return gbsi_text_expect_end(text, "the weights", err);
}

/* ---- Wapiti -------------------------------------------------------------------------------- */

/* Reads "length:text," and the end of a line. The length counts bytes. */
static gbs_status read_netstring(gbsi_text *text, gbsi_token *token, gbs_error *err)
{
    uint64_t n = 0;
    const char *begin = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9' &&
           n <= gbsi_text_left(text)) {
        n = 10 * n + (uint64_t)(*text->at++ - '0');
    }
    if (text->at == begin || text->at == text->end || *text->at != ':' ||
        gbsi_text_left(text) < n + 2 || text->at[n + 1] != ',') {
        text->at = begin;
        return gbsi_text_unexpected(text, gbsi_text_peek(text), "LENGTH:TEXT,", err);
    }
    *token = (gbsi_token){text->at + 1, (size_t)n};
    text->at += n + 2;
    text->at += text->at < text->end && *text->at == '\r';
    text->at += text->at < text->end && *text->at == '\n';
    return GBS_OK;
}

static gbs_status read_count(gbsi_text *text, const char *expected, uint64_t most, uint64_t *n,
                             gbs_error *err)
{
    const char *begin = text->at;
    for (*n = 0; text->at < text->end && *text->at >= '0' && *text->at <= '9' && *n <= most;) {
        *n = 10 * *n + (uint64_t)(*text->at++ - '0');
    }
    if (text->at > begin && *n <= most) {
        return GBS_OK;
    }
    text->at = begin;
    return gbsi_text_unexpected(text, gbsi_text_peek(text), expected, err);
}

/* Reads a hexadecimal number, such as -0x1.8p+1, or a decimal number. */
static bool read_hexadecimal(const char *at, const char *end, double *value)
{
    const bool negative = at < end && *at == '-';
    uint64_t digits = 0;
    int exponent = 0;
    int n = 0;
    bool point = false;
    at += negative;
    if (end - at < 3 || at[0] != '0' || (at[1] != 'x' && at[1] != 'X')) {
        return false;
    }
    for (at += 2; at < end && *at != 'p' && *at != 'P'; at++) {
        const char small = (char)(*at | 0x20);
        const bool decimal = *at >= '0' && *at <= '9';
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if ((!decimal && (small < 'a' || small > 'f')) || ++n > 15) {
            return false; /* no double needs more than 14 digits */
        }
        digits = 16 * digits + (uint64_t)(decimal ? *at - '0' : small - 'a' + 10);
        exponent -= point ? 4 : 0;
    }
    if (n == 0 || end - at < 2) {
        return false;
    }
    const bool down = at[1] == '-';
    int power = 0;
    at += 1 + (at[1] == '-' || at[1] == '+');
    if (at == end) {
        return false;
    }
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || power > 9999) {
            return false;
        }
        power = 10 * power + (*at - '0');
    }
    exponent += down ? -power : power;
    *value = negative ? -(double)digits : (double)digits;
    for (; exponent > 0 && isfinite(*value) && *value != 0.0; exponent--) {
        *value *= 2.0;
    }
    for (; exponent < 0 && *value != 0.0; exponent++) {
        *value *= 0.5;
    }
    return true;
}

/* Reads "index=value". */
static gbs_status read_weight(gbs_crf *crf, gbsi_text *text, gbs_error *err)
{
    uint64_t index = 0;
    double value = 0.0;
    if (crf->n_weights == 0) {
        return gbsi_text_unexpected(text, gbsi_text_peek(text), "no weights", err);
    }
    GBSI_PASS(read_count(text, "the number of a weight", crf->n_weights - 1, &index, err));
    GBSI_PASS(expect_word(text, "=", err));
    const gbsi_token token = rest_of_line(text);
    if (!read_hexadecimal(token.at, token.at + token.n, &value) &&
        gbsi_decimal_read(token.at, token.n, &value) == GBSI_DECIMAL_BAD) {
        return gbsi_text_unexpected(text, token, "a weight", err);
    }
    if (!isfinite(value)) {
        return gbsi_text_unexpected(text, token, "a finite weight", err);
    }
    crf->weight[index] = value;
    return GBS_OK;
}

/* Reads the first lines of a model of Wapiti: "#mdl#TYPE#ACTIVE" (in old files "#mdl#ACTIVE") and
 * "#rdr#PATTERNS/COLUMNS/AUTOMATIC" (in old files without "/AUTOMATIC"). */
static gbs_status read_wapiti_head(gbsi_text *text, uint64_t *n_active, uint64_t *n_patterns,
                                   gbs_error *err)
{
    uint64_t type = WAPITI_CRF;
    uint64_t ignored = 0;
    const uint64_t most = gbsi_text_left(text);
    const gbsi_token head = gbsi_text_peek(text);
    GBSI_PASS(expect_word(text, "#mdl#", err));
    if (text->at < text->end &&
        *text->at == SKIP_CHAIN[0]) { /* SKIP_CHAIN, which Wapiti itself does not write */
        GBSI_PASS(expect_word(text, SKIP_CHAIN, err));
        *n_active = WAPITI_CRF;
    } else {
        GBSI_PASS(read_count(text, "the number of weights that are not 0", most, n_active, err));
    }
    if (text->at < text->end && *text->at == '#') {
        text->at++;
        type = *n_active;
        GBSI_PASS(read_count(text, "the number of weights that are not 0", most, n_active, err));
    }
    if (type != WAPITI_CRF) {
        return gbsi_text_unsupported(text, head, err,
                                     "found a model of type %" PRIu64
                                     ", expected %d, a conditional random field",
                                     type, WAPITI_CRF);
    }
    (void)rest_of_line(text);
    const gbsi_token reader = gbsi_text_peek(text);
    GBSI_PASS(expect_word(text, "#rdr#", err));
    GBSI_PASS(read_count(text, "the number of patterns", most, n_patterns, err));
    GBSI_PASS(expect_word(text, "/", err));
    GBSI_PASS(read_count(text, "the number of columns", UINT32_MAX, &ignored, err));
    (void)rest_of_line(text);
    if (*n_patterns == 0) {
        return gbsi_text_unsupported(text, reader, err,
                                     "models without patterns are not supported");
    }
    return GBS_OK;
}

static gbs_status read_quarks(gbsi_text *text, uint64_t *n, gbs_error *err)
{
    GBSI_PASS(expect_word(text, "#qrk#", err));
    GBSI_PASS(read_count(text, "the number of texts", gbsi_text_left(text), n, err));
    (void)rest_of_line(text);
    return GBS_OK;
}

gbs_status gbsi_crf_read_wapiti(gbs_crf *crf, gbsi_text *text, gbs_error *err)
{
    uint64_t n_active = 0;
    uint64_t n = 0;
    gbsi_token token = {NULL, 0};
    crf->templates.style = GBS_TEMPLATES_WAPITI;
    GBSI_PASS(read_wapiti_head(text, &n_active, &n, err));
    for (; n > 0; n--) {
        GBSI_PASS(read_netstring(text, &token, err));
        GBSI_PASS(gbsi_templates_add(&crf->templates, text, token, err));
    }
    GBSI_PASS(gbsi_templates_check(&crf->templates, text, token, err));
    GBSI_PASS(read_quarks(text, &n, err));
    for (; n > 0; n--) {
        GBSI_PASS(read_netstring(text, &token, err));
        GBSI_PASS(add_new(&crf->labels, text, token, "label", err));
    }
    GBSI_PASS(check_labels(crf, text, token, err));
    GBSI_PASS(read_quarks(text, &n, err));
    for (; n > 0; n--) {
        GBSI_PASS(read_netstring(text, &token, err));
        if (token.n == 0 || strchr("uUbB*sS", token.at[0]) == NULL) {
            return gbsi_text_unexpected(text, token, "a feature, which begins with u, b, * or s",
                                        err);
        }
        GBSI_PASS(add_feature(crf, text, token, GBSI_NO_WEIGHT, GBSI_NO_WEIGHT, err));
    }
    GBSI_PASS(gbsi_crf_number_weights(crf, err));
    GBSI_PASS(take_weights(crf, err));
    for (; n_active > 0; n_active--) {
        GBSI_PASS(read_weight(crf, text, err));
    }
    return gbsi_text_expect_end(text, "the weights", err);
}
