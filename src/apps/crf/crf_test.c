/* SPDX-License-Identifier: Apache-2.0 */
/* Compares chains with the enumeration of all labellings, with features that are written by hand.
 * Tests templates, models of both formats, and refusals. */
#include "gibbsite/crf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "crf/templates.h"

enum { L = 3, LONGEST = 5, N_WORDS = 3, N_TAGS = 2, MOST = 1 << 16 };

static const char *const words[N_WORDS] = {"the", "Ant", "X9"};
static const char *const tags[N_TAGS] = {"D", "N"};

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

/* ---- a model in text, and what its features are worth -------------------------------------- */

/* A text to which parts are appended. */
typedef struct text {
    char at[MOST];
    size_t n;
} text;

static void add(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    t->n += (size_t)vsnprintf(t->at + t->n, MOST - t->n, format, arguments);
    va_end(arguments);
    assert_true(t->n < MOST);
}

/* @return the weight of a feature with labels, an arbitrary function of the text. @param before
 * label before; L: none. */
static double weight_of(const char *feature, uint32_t before, uint32_t y)
{
    uint64_t h = 17 + before * 5 + y;
    for (const char *at = feature; *at != '\0'; at++) {
        h = h * 31 + (unsigned char)*at;
    }
    return (double)(next_random(&h) % 4001) / 1000.0 - 2.0;
}

typedef struct listed {
    char at[600][32];
    size_t n;
} listed;

static void list(listed *l, const char *format, ...)
{
    char feature[32];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(feature, sizeof feature, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->at[i], feature) == 0) {
            return;
        }
    }
    strcpy(l->at[l->n++], feature);
}

/* A token and the token before it; NULL if there is none. */
typedef struct seen {
    const char *word, *tag, *first, *before;
} seen;

static void crfpp_features(seen s, listed *l)
{
    list(l, "U0:%s", s.word);
    list(l, "U1:%s/%s", s.before == NULL ? "_B-1" : s.before, s.tag);
    list(l, "B");
    list(l, "B1:%s", s.tag);
}

static const char crfpp_templates[] = "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\nB\nB1:%x[0,1]\n";

static const char *lower(const char *word)
{
    return strcmp(word, "Ant") == 0 ? "ant" : strcmp(word, "X9") == 0 ? "x9" : word;
}

static void wapiti_features(seen s, listed *l)
{
    const char *capital = strcmp(s.word, "Ant") == 0 ? "A" : strcmp(s.word, "X9") == 0 ? "X" : "";
    list(l, "u:0=%s", lower(s.word));
    list(l, "*%s|%s", s.first, s.before == NULL ? "_x-1" : s.before);
    list(l, "b%s%s", capital, strcmp(s.word, "X9") == 0 ? "true" : "false");
}

static const char *const wapiti_templates[] = {"u:0=%X[0,0]", "*%x[@1,0]|%x[-1,0]",
                                               "b%m[0,0,\"^\\u\"]%t[0,0,\"\\d$\"]"};

typedef void features_of(seen s, listed *l);

/* Every feature that any sequence of these words has. */
static void list_all(features_of *features, listed *l)
{
    for (int i = 0; i < N_WORDS * N_TAGS * N_WORDS * (N_WORDS + 1); i++) {
        const int before = i / (N_WORDS * N_TAGS * N_WORDS);
        features((seen){words[i % N_WORDS], tags[i / N_WORDS % N_TAGS],
                        words[i / (N_WORDS * N_TAGS) % N_WORDS],
                        before == N_WORDS ? NULL : words[before]},
                 l);
    }
}

static void write_crfpp(text *t)
{
    listed *l = calloc(1, sizeof *l);
    size_t n = 0;
    text *weights = calloc(1, sizeof *weights);
    text *features = calloc(1, sizeof *features);
    assert_true(l != NULL && weights != NULL && features != NULL);
    list_all(crfpp_features, l);
    for (size_t i = 0; i < l->n; i++) {
        const int pairs = l->at[i][0] == 'B';
        add(features, "%zu %s\n", n, l->at[i]);
        for (uint32_t k = 0; k < (pairs ? L * L : L); k++, n++) {
            add(weights, "%.17g\n", weight_of(l->at[i], pairs ? k / L : L, k % L) / 2.0);
        }
    }
    t->n = 0;
    add(t, "version: 100\ncost-factor: 2\nmaxid: %zu\nxsize: 2\n\nO\nB-X\nI-X\n\n%s\n", n,
        crfpp_templates);
    add(t, "%s\n%s", features->at, weights->at);
    free(l);
    free(weights);
    free(features);
}

static void write_wapiti(text *t)
{
    listed *l = calloc(1, sizeof *l);
    size_t n = 0;
    assert_non_null(l);
    list_all(wapiti_features, l);
    for (size_t i = 0; i < l->n; i++) {
        n += l->at[i][0] == 'u' ? L : l->at[i][0] == 'b' ? L * L : L + L * L;
    }
    t->n = 0;
    add(t, "#mdl#2#%zu\n#rdr#3/1/0\n", n);
    for (size_t k = 0; k < 3; k++) {
        add(t, "%zu:%s,\n", strlen(wapiti_templates[k]), wapiti_templates[k]);
    }
    add(t, "#qrk#3\n1:O,\n3:B-X,\n3:I-X,\n#qrk#%zu\n", l->n);
    for (size_t i = 0; i < l->n; i++) {
        add(t, "%zu:%s,\n", strlen(l->at[i]), l->at[i]);
    }
    n = 0;
    for (size_t i = 0; i < l->n; i++) {
        for (uint32_t y = 0; l->at[i][0] != 'b' && y < L; y++) {
            add(t, "%zu=%a\n", n++, weight_of(l->at[i], L, y));
        }
        for (uint32_t k = 0; l->at[i][0] != 'u' && k < L * L; k++) {
            add(t, "%zu=%.17g\n", n++, weight_of(l->at[i], k / L, k % L));
        }
    }
    free(l);
}

/* ---- enumeration --------------------------------------------------------------------------- */

typedef struct sentence {
    uint32_t n, word[LONGEST], tag[LONGEST];
} sentence;

static double score_of(const sentence *s, features_of *features, const uint32_t *y)
{
    double score = 0.0;
    for (uint32_t t = 0; t < s->n; t++) {
        listed l;
        l.n = 0;
        features((seen){words[s->word[t]], tags[s->tag[t]], words[s->word[0]],
                        t == 0 ? NULL : words[s->word[t - 1]]},
                 &l);
        for (size_t i = 0; i < l.n; i++) {
            const char kind = l.at[i][0];
            score += kind == 'B' || kind == 'b' ? 0.0 : weight_of(l.at[i], L, y[t]);
            score +=
                kind == 'U' || kind == 'u' || t == 0 ? 0.0 : weight_of(l.at[i], y[t - 1], y[t]);
        }
    }
    return score;
}

static void check_sentence(const sentence *s, features_of *features, const uint32_t *label,
                           const double *posterior, double log_p)
{
    uint32_t best[LONGEST] = {0};
    double p[LONGEST][L] = {{0.0}};
    double largest = -INFINITY;
    double total = 0.0;
    uint32_t n_states = 1;
    for (uint32_t t = 0; t < s->n; t++) {
        n_states *= L;
    }
    for (uint32_t i = 0; i < n_states; i++) {
        uint32_t y[LONGEST];
        uint32_t rest = i;
        for (uint32_t t = 0; t < s->n; t++, rest /= L) {
            y[t] = rest % L;
        }
        const double score = score_of(s, features, y);
        total += exp(score);
        for (uint32_t t = 0; t < s->n; t++) {
            p[t][y[t]] += exp(score);
        }
        if (score > largest) {
            largest = score;
            memcpy(best, y, sizeof best);
        }
    }
    assert_memory_equal(label, best, s->n * sizeof *label);
    assert_true(fabs(log_p - (largest - log(total))) < 1e-12);
    for (uint32_t i = 0; i < s->n * L; i++) {
        assert_true(fabs(posterior[i] - p[i / L][i % L] / total) < 1e-13);
    }
}

enum { N_SENTENCES = 60 };

static void check_model(const text *model, features_of *features)
{
    uint64_t seed = 5;
    sentence s[N_SENTENCES];
    text *data = calloc(1, sizeof *data);
    uint32_t label[2][N_SENTENCES * LONGEST];
    double p[2][N_SENTENCES * LONGEST * L];
    double log_p[2][N_SENTENCES];
    gbs_crf *crf = NULL;
    gbs_sequences *sequences = NULL;
    assert_non_null(data);
    for (uint32_t i = 0; i < N_SENTENCES; i++) {
        s[i].n = 1 + i % LONGEST;
        for (uint32_t t = 0; t < s[i].n; t++) {
            s[i].word[t] = (uint32_t)(next_random(&seed) % N_WORDS);
            s[i].tag[t] = (uint32_t)(next_random(&seed) % N_TAGS);
            add(data, "%s %s%s", words[s[i].word[t]], tags[s[i].tag[t]], i % 2 ? "\n" : "\r\n");
        }
        add(data, i % 3 == 0 ? " \n\n" : "\n");
    }
    ok(gbs_crf_read_memory("m", model->at, model->n, &crf, NULL));
    ok(gbs_sequences_read_memory("d", data->at, data->n, &sequences, NULL));
    assert_int_equal(gbs_sequences_n(sequences), N_SENTENCES);
    assert_int_equal(gbs_crf_n_columns(crf), features == crfpp_features ? 2 : 1);
    for (uint32_t k = 0; k < 2; k++) { /* the same bits on any number of threads */
        const gbs_label_options options = {.size = sizeof options, .threads = 1 + 2 * k};
        ok(gbs_crf_label(crf, sequences, &options, NULL, label[k], p[k], log_p[k], NULL, NULL));
    }
    const size_t *first = gbs_sequences_first(sequences);
    for (uint32_t i = 0; i < N_SENTENCES; i++) {
        check_sentence(&s[i], features, label[0] + first[i], p[0] + first[i] * L, log_p[0][i]);
    }
    const size_t n = gbs_sequences_n_tokens(sequences);
    assert_memory_equal(label[0], label[1], n * sizeof label[0][0]);
    assert_memory_equal(p[0], p[1], n * L * sizeof p[0][0]);
    assert_memory_equal(log_p[0], log_p[1], sizeof log_p[0]);
    gbs_crf_free(crf);
    gbs_sequences_free(sequences);
    free(data);
}

static void chains_against_enumeration(void **state)
{
    (void)state;
    text *model = calloc(1, sizeof *model);
    assert_non_null(model);
    write_crfpp(model);
    check_model(model, crfpp_features);
    write_wapiti(model);
    check_model(model, wapiti_features);
    free(model);
}

/* ---- writing ------------------------------------------------------------------------------- */

static size_t read_file(const char *path, char *at)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(at, 1, MOST, file);
    (void)fclose(file);
    assert_true(n < MOST);
    return n;
}

/* Checks that a model that was written and read has equal bytes if it is written again. */
static void models_written(void **state)
{
    (void)state;
    text *t = calloc(1, sizeof *t);
    char *again = malloc(MOST);
    char path[] = "/tmp/crf_test_XXXXXX";
    assert_true(t != NULL && again != NULL && mkstemp(path) >= 0);
    for (int wapiti = 0; wapiti < 2; wapiti++) {
        gbs_crf *crf = NULL;
        (wapiti ? write_wapiti : write_crfpp)(t);
        ok(gbs_crf_read_memory("m", t->at, t->n, &crf, NULL));
        ok(gbs_crf_write(crf, path, NULL));
        t->n = read_file(path, t->at);
        check_model(t, wapiti ? wapiti_features : crfpp_features);
        gbs_crf_free(crf);
        ok(gbs_crf_read(path, &crf, NULL));
        ok(gbs_crf_write(crf, path, NULL));
        assert_int_equal(read_file(path, again), t->n);
        assert_memory_equal(again, t->at, t->n);
        gbs_crf_free(crf);
    }
    (void)remove(path);
    free(t);
    free(again);
}

/* ---- patterns ------------------------------------------------------------------------------ */

static void patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text, *found; /* NULL: nothing */
    } cases[] = {{"", "abc", ""},           {"b", "abc", "b"},       {"^b", "abc", NULL},
                 {"c$", "abc", "c"},        {"b$", "abc", NULL},     {"^$", "", ""},
                 {"^$", "a", NULL},         {"a.c", "xabcx", "abc"}, {"\\d\\d*$", "ab123", "123"},
                 {"\\d\\d*", "ab123", "1"}, {"ab?c", "xac", "ac"},   {"ab?c", "xabc", "abc"},
                 {"\\U\\U", "ABcd", "cd"},  {"\\.", "a.b", "."},     {"\\p", "ab-", "-"},
                 {"\\u*$", "aBC", "BC"},    {"a\\$", "a$", "a$"},    {"\\w\\W", "a_", "a_"},
                 {"a*a*a*b", "aaaa", NULL}, {"x", "", NULL},         {"b?", "abc", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *p = cases[i].pattern;
        size_t room[64];
        size_t begin = 7;
        size_t length = 7;
        assert_null(gbsi_pattern_check(p, strlen(p)));
        const bool found = gbsi_pattern_find(p, strlen(p), cases[i].text, strlen(cases[i].text),
                                             room, &begin, &length);
        assert_int_equal(found, cases[i].found != NULL);
        assert_int_equal(length, found ? strlen(cases[i].found) : 0);
        assert_memory_equal(cases[i].text + begin, found ? cases[i].found : "", length);
    }
    assert_non_null(gbsi_pattern_check("*a", 2));
    assert_non_null(gbsi_pattern_check("^?", 2));
    assert_non_null(gbsi_pattern_check("a**", 3));
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void data_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *message;
    } cases[] = {{"", "d:1:1: found no tokens, expected a line for each"},
                 {"\n \n", "d:3:1: found no tokens, expected a line for each"},
                 {"a b\n\nc\n", "d:3:2: found 1 column, expected 2 as in the lines before"},
                 {"a b\nc d e\n", "d:2:5: found more columns than the 2 of the lines before"},
                 {"a b\n c d\n",
                  "d:2:1: found a blank at the beginning of a line, expected the text of the "
                  "first column or an empty line"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_sequences *data = NULL;
        gbs_error err = {0};
        assert_int_equal(
            gbs_sequences_read_memory("d", cases[i].bytes, strlen(cases[i].bytes), &data, &err),
            GBS_ERR_FORMAT);
        assert_null(data);
        assert_string_equal(err.message, cases[i].message);
    }
}

#define HEAD "version: 100\ncost-factor: 1\nmaxid: "

static void models_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *message; /* how the message begins */
        gbs_status status;
    } cases[] = {
        {"", "m:1:1: found the end of the file, expected \"version:\"", GBS_ERR_FORMAT},
        {HEAD "99\nxsize: 1\n\nA\n\nB\n\n0 B\n\n0\n", "m:3:8: ", GBS_ERR_FORMAT},
        {HEAD "2\nxsize: 1\n\nA\nA\n\nB\n\n0 B\n\n0\n0\n", "m:7:1: found the label 'A' a second",
         GBS_ERR_FORMAT},
        {HEAD "2\nxsize: 1\n\n\nB\n\n0 B\n\n0\n0\n", "m:6:1: found 0 labels", GBS_ERR_FORMAT},
        {HEAD "2\nxsize: 1\n\nA\n\nC\n\n0 B\n\n0\n0\n", "m:8:1: ", GBS_ERR_FORMAT},
        {HEAD "2\nxsize: 1\n\nA\n\nU%x[9,0]\n\n0 B\n\n0\n0\n",
         "m:8:5: found '9,0]', expected a row from -8 to 8", GBS_ERR_FORMAT},
        {HEAD "2\nxsize: 1\n\nA\n\nU%x[0\n\n0 B\n\n0\n0\n",
         "m:8:6: found the end of the template, expected a comma and a column", GBS_ERR_FORMAT},
        {HEAD "2\nxsize: 1\n\nA\n\nU%t[0,0,\"a\"]\n\n0 B\n\n0\n0\n", "m:8:3: ", GBS_ERR_FORMAT},
        {HEAD "1\nxsize: 1\n\nA\nC\n\nB\n\n0 B\n\n0\n", "m:11:1: found weights 0 to 3",
         GBS_ERR_FORMAT},
        {HEAD "2\nxsize: 1\n\nA\n\nB\n\n0 B\n0 B\n\n0\n0\n",
         "m:11:3: found the feature 'B' a second", GBS_ERR_FORMAT},
        {HEAD "1\nxsize: 1\n\nA\n\nB\n\n0 B\n\nnan\n", "m:12:1: ", GBS_ERR_FORMAT},
        {HEAD "1\nxsize: 1\n\nA\n\nB\n\n0 B\n\n0\n0\n", "m:13:1: ", GBS_ERR_FORMAT},
        {"#mdl#0#1\n#rdr#1/0/0\n", "m:1:1: found a model of type 0", GBS_ERR_UNSUPPORTED},
        {"#mdl#2#1\n#rdr#0/0/0\n", "m:2:1: models without patterns", GBS_ERR_UNSUPPORTED},
        {"#mdl#2#0\n#rdr#1/0/0\n9:u%x[0,0],\n", "m:3:1: ", GBS_ERR_FORMAT},
        {"#mdl#2#0\n#rdr#1/0/0\n9:u%x[*0,0],\n", "m:3:7: rows that a column names",
         GBS_ERR_UNSUPPORTED},
        {"#mdl#2#0\n#rdr#1/0/0\n13:u%m[0,0,\"*a\"],\n", "m:3:13: ", GBS_ERR_FORMAT},
        {"#mdl#2#1\n#rdr#1/0/0\n1:u,\n#qrk#1\n1:A,\n#qrk#1\n1:u,\n1=0x1p+0\n",
         "m:8:1: ", GBS_ERR_FORMAT},
        {"#mdl#2#1\n#rdr#1/0/0\n1:u,\n#qrk#1\n1:A,\n#qrk#1\n1:u,\n0=0xq\n",
         "m:8:3: ", GBS_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_crf *crf = NULL;
        gbs_error err = {0};
        const gbs_status status =
            gbs_crf_read_memory("m", cases[i].bytes, strlen(cases[i].bytes), &crf, &err);
        assert_null(crf);
        err.message[strlen(cases[i].message)] = '\0';
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(status, cases[i].status);
    }
}

/* Weights that are too large for sums still have a best labelling. Data with too few columns are
 * refused. */
static void labelling_refused(void **state)
{
    (void)state;
    static const char model[] = HEAD "2\nxsize: 1\n\nA\nC\n\nU:%x[0,1]\n\n0 U:a\n\n0\n-1e9\n";
    gbs_crf *crf = NULL;
    gbs_sequences *data = NULL;
    gbs_error err = {0};
    uint32_t label[2] = {7, 7};
    double log_p[1] = {7.0};
    ok(gbs_crf_read_memory("m", model, sizeof model - 1, &crf, NULL));
    ok(gbs_sequences_read_memory("d", "b\n", 2, &data, NULL));
    assert_int_equal(gbs_crf_label(crf, data, NULL, NULL, label, NULL, NULL, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "d: found 1 column, expected the 2 that the templates name");
    gbs_sequences_free(data);
    ok(gbs_sequences_read_memory("d", "b b\n\nb a\n", 9, &data, NULL));
    assert_int_equal(gbs_crf_label(crf, data, NULL, NULL, label, NULL, log_p, NULL, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "d:3: log-weights"));
    assert_true(label[0] == 7 && log_p[0] == 7.0);
    ok(gbs_crf_label(crf, data, NULL, NULL, label, NULL, NULL, NULL, NULL));
    assert_true(label[0] == 0 && label[1] == 0);
    gbs_sequences_free(data);
    gbs_crf_free(crf);
}

/* ---- the n-th request for memory fails ----------------------------------------------------- */

static gbs_status everything(const text *model, gbs_error *err)
{
    static const char columns[] = "the D O\nAnt N B-X\n\nX9 N O\n";
    gbs_crf *crf = NULL;
    gbs_sequences *data = NULL;
    gbs_label_scores *scores = NULL;
    uint32_t label[3];
    double p[3 * L];
    const gbs_label_options options = {.size = sizeof options, .threads = 1};
    gbs_status status = gbs_crf_read_memory("m", model->at, model->n, &crf, err);
    if (status >= 0) {
        status = gbs_sequences_read_memory("d", columns, sizeof columns - 1, &data, err);
    }
    if (status >= 0) {
        status = gbs_crf_label(crf, data, &options, NULL, label, p, NULL, NULL, err);
    }
    if (status >= 0) {
        status = gbs_label_scores_new(crf, data, 2, label, &scores, err);
    }
    gbs_label_scores_free(scores);
    gbs_sequences_free(data);
    gbs_crf_free(crf);
    return status;
}

static void memory_fails(void **state)
{
    (void)state;
    text *model = calloc(1, sizeof *model);
    assert_non_null(model);
    for (int wapiti = 0; wapiti < 2; wapiti++) {
        (wapiti ? write_wapiti : write_crfpp)(model);
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t n = 0; status == GBS_ERR_MEMORY; n++) {
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            status = everything(model, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || err.message[0] != '\0');
        }
        ok(status);
    }
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_against_enumeration),
        cmocka_unit_test(models_written),
        cmocka_unit_test(patterns),
        cmocka_unit_test(data_refused),
        cmocka_unit_test(models_refused),
        cmocka_unit_test(labelling_refused),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
