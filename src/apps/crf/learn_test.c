/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the gradient with differences of the objective on random data. Checks that the gradient
 * is 0 where learning ends, and that bits are equal on any number of threads. */
#include "crf/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"

enum { N_SENTENCES = 40, MOST = 1 << 14 };

static const char templates[] = "# words\nU0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\n\nB\nB1:%x[0,1]\n";

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

/* Makes data of words, two tags, and labels that mostly agree with the tags. */
static gbs_sequences *make_data(void)
{
    static const char *const words[] = {"a", "b", "c", "d"};
    static const char *const labels[] = {"O", "B-X", "I-X"};
    gbs_sequences *data = NULL;
    uint64_t seed = 3;
    char text[MOST];
    size_t n = 0;
    for (uint32_t s = 0; s < N_SENTENCES; s++) {
        for (uint32_t t = 0; t < 1 + s % 6; t++) {
            const uint32_t word = (uint32_t)(next_random(&seed) % 4);
            const uint32_t other = (uint32_t)(next_random(&seed) % 3);
            const uint32_t y = next_random(&seed) % 3 > 0 ? word % 3 : other;
            n += (size_t)snprintf(text + n, MOST - n, "%s %s %s\n", words[word],
                                  t % 2 ? "odd" : "even", labels[y]);
        }
        text[n++] = '\n';
    }
    ok(gbs_sequences_read_memory("d", text, n, &data, NULL));
    return data;
}

/* Templates as a file, which is removed again. */
static gbs_status learn(const char *text, gbs_template_style style, const gbs_sequences *data,
                        const gbs_crf_learn_options *options, gbs_crf **crf,
                        gbs_crf_learn_report *report, gbs_error *err)
{
    char path[] = "/tmp/learn_test_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(file);
    const gbs_status status = gbs_crf_learn(path, style, data, options, NULL, crf, report, err);
    (void)remove(path);
    return status;
}

/* Skips the test if this library cannot learn. */
static void need_lbfgs(void)
{
    gbs_sequences *data = make_data();
    gbs_crf *crf = NULL;
    gbs_error err = {0};
    const gbs_status status = learn(templates, GBS_TEMPLATES_CRFPP, data, NULL, &crf, NULL, &err);
    gbs_crf_free(crf);
    gbs_sequences_free(data);
    if (status == GBS_ERR_UNSUPPORTED) {
        assert_non_null(strstr(err.message, "libLBFGS"));
        skip();
    }
    ok(status);
}

/* A model, its data as it sees them, and the gradient on some threads. */
typedef struct problem {
    gbs_crf *crf;
    gbs_sequences *data;
    gbsi_features features;
    uint32_t *truth;
    gbsi_work work;
    gbsi_gradient gradient;
} problem;

/* The model is not learnt; only its features are used. */
static void problem_init(problem *p, uint64_t threads)
{
    const gbs_label_options options = {.size = sizeof options, .threads = threads};
    const gbsi_input input = {.name = "t", .bytes = templates, .n = sizeof templates - 1};
    gbsi_text text;
    *p = (problem){.data = make_data(), .crf = gbsi_alloc_zero(sizeof *p->crf)};
    assert_non_null(p->crf);
    ok(gbsi_text_open(&text, &input, NULL, NULL));
    for (gbsi_token line = gbsi_text_next(&text); line.n > 0; line = gbsi_text_next(&text)) {
        if (line.at[0] == 'U' || line.at[0] == 'B') {
            ok(gbsi_templates_add(&p->crf->templates, &text, line, NULL));
        }
    }
    p->truth = gbsi_alloc_array(p->data->n_tokens, sizeof *p->truth);
    for (size_t t = 0; t < p->data->n_tokens; t++) {
        const char *label = gbs_sequences_text(p->data, t, 2);
        ok(gbsi_dictionary_add(&p->crf->labels, label, strlen(label), &p->truth[t], NULL));
    }
    ok(gbsi_work_begin(&p->work, &options, NULL, 0, NULL));
    ok(gbsi_features_find(&p->crf->templates, NULL, &p->crf->features, p->data, &p->features,
                          &p->work.watch, NULL));
    ok(gbsi_crf_number_weights(p->crf, NULL));
    ok(gbsi_gradient_new(p->crf, p->data, &p->features, p->truth, &p->work, &p->gradient, NULL));
}

static void problem_free(problem *p)
{
    gbsi_gradient_free(&p->gradient);
    gbsi_features_free(&p->features);
    gbsi_free(p->truth);
    gbsi_work_end(&p->work);
    gbs_crf_free(p->crf);
    gbs_sequences_free(p->data);
}

static void gradient_against_differences(void **state)
{
    (void)state;
    problem p;
    uint64_t seed = 11;
    const double h = 1e-5;
    problem_init(&p, 1);
    const size_t n = p.crf->n_weights;
    double *weight = calloc(n, sizeof *weight);
    double *out = calloc(3 * n, sizeof *out);
    assert_true(n > 60 && weight != NULL && out != NULL);
    for (size_t i = 0; i < n; i++) {
        weight[i] = (double)(next_random(&seed) % 2001) / 1000.0 - 1.0;
    }
    (void)gbsi_gradient_at(&p.gradient, weight, 0.3, out);
    for (size_t i = 0; i < n; i++) {
        const double at = weight[i];
        weight[i] = at + h;
        const double above = gbsi_gradient_at(&p.gradient, weight, 0.3, out + n);
        weight[i] = at - h;
        const double below = gbsi_gradient_at(&p.gradient, weight, 0.3, out + n);
        weight[i] = at;
        /* third derivatives times h^2, and rounding of the objective by h: below 1e-7 */
        assert_true(fabs(out[i] - (above - below) / (2.0 * h)) < 1e-6);
    }
    /* weights too far apart for sums: the gradient is zero and g.wide is set */
    weight[0] = 1e4;
    assert_true(gbsi_gradient_at(&p.gradient, weight, 0.3, out) == INFINITY);
    assert_true(out[0] == 0.0 && out[n - 1] == 0.0);
    free(weight);
    free(out);
    problem_free(&p);
}

/* With all weights 0, all labellings have equal probabilities, and the objective is known. */
static void objective_without_weights(void **state)
{
    (void)state;
    problem p;
    problem_init(&p, 2);
    double *zero = calloc(2 * p.crf->n_weights, sizeof *zero);
    assert_non_null(zero);
    const double objective = gbsi_gradient_at(&p.gradient, zero, 1.0, zero + p.crf->n_weights);
    assert_true(fabs(objective - (double)p.data->n_tokens * log(3.0)) < 1e-10);
    free(zero);
    problem_free(&p);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    gbs_crf *crf[2] = {NULL, NULL};
    gbs_sequences *data = make_data();
    need_lbfgs();
    for (uint64_t k = 0; k < 2; k++) {
        const gbs_crf_learn_options options = {.size = sizeof options, .threads = 1 + 2 * k};
        ok(learn(templates, GBS_TEMPLATES_CRFPP, data, &options, &crf[k], NULL, NULL));
    }
    assert_int_equal(crf[0]->n_weights, crf[1]->n_weights);
    assert_memory_equal(crf[0]->weight, crf[1]->weight, crf[0]->n_weights * sizeof(double));
    gbs_crf_free(crf[0]);
    gbs_crf_free(crf[1]);
    gbs_sequences_free(data);
}

/* Checks that the gradient is 0 where learning ends. With l1, the derivative by a weight that is 0
 * is at most l1, and by other weights it is l1 with the opposite sign of the weight. */
static void check_flat(double l1, double l2)
{
    const gbs_crf_learn_options options = {
        .size = sizeof options, .l1 = l1, .l2 = l2, .tolerance = 1e-13, .iterations = 10000};
    gbs_crf_learn_report report = {.size = sizeof report};
    gbs_crf *crf = NULL;
    problem p;
    problem_init(&p, 1);
    ok(learn(templates, GBS_TEMPLATES_CRFPP, p.data, &options, &crf, &report, NULL));
    assert_int_equal(report.n_weights, crf->n_weights);
    double *weight = calloc(2 * p.crf->n_weights, sizeof *weight);
    double *out = weight + p.crf->n_weights;
    double penalty = 0.0;
    assert_non_null(weight);
    for (uint32_t f = 0; f < crf->features.n; f++) { /* the same features, less those left out */
        const uint32_t own =
            gbsi_dictionary_find(&p.crf->features, crf->features.text[f], crf->features.length[f]);
        const bool pairs = crf->unigram[f] == GBSI_NO_WEIGHT;
        memcpy(weight + (pairs ? p.crf->bigram[own] : p.crf->unigram[own]),
               crf->weight + (pairs ? crf->bigram[f] : crf->unigram[f]),
               (pairs ? 9 : 3) * sizeof *weight);
    }
    const double value = gbsi_gradient_at(&p.gradient, weight, l2, out);
    for (size_t i = 0; i < p.crf->n_weights; i++) {
        const double slope = weight[i] > 0.0   ? fabs(out[i] + l1)
                             : weight[i] < 0.0 ? fabs(out[i] - l1)
                                               : fmax(fabs(out[i]) - l1, 0.0);
        assert_true(slope < 1e-2);
        penalty += l1 * fabs(weight[i]);
    }
    assert_true(fabs(report.objective - value - penalty) < 1e-9);
    assert_true(report.converged);
    free(weight);
    gbs_crf_free(crf);
    problem_free(&p);
}

static void learnt_is_flat(void **state)
{
    (void)state;
    need_lbfgs();
    check_flat(0.0, 0.5);
    check_flat(0.7, 0.0);
    check_flat(0.3, 0.1);
}

static void rare_features(void **state)
{
    (void)state;
    need_lbfgs();
    const char columns[] = "a O\nb X\n\na O\n";
    const gbs_crf_learn_options options = {.size = sizeof options, .least_count = 2};
    gbs_sequences *data = NULL;
    gbs_crf *crf = NULL;
    ok(gbs_sequences_read_memory("d", columns, sizeof columns - 1, &data, NULL));
    ok(learn("*:%x[0,0] # both\nB\n", GBS_TEMPLATES_WAPITI, data, &options, &crf, NULL, NULL));
    assert_int_equal(gbs_crf_n_features(crf), 2);
    assert_string_equal(crf->features.text[0], "*:a");
    assert_int_equal(gbs_crf_n_weights(crf), 2 + 4 + 4);
    gbs_crf_free(crf);
    gbs_sequences_free(data);
}

/* Wapiti's own templates are padded inside of their brackets. */
static void blanks_in_wapiti(void **state)
{
    (void)state;
    need_lbfgs();
    const char columns[] = "Ab O\nb X\n\nAb O\n";
    gbs_sequences *data = NULL;
    gbs_crf *crf = NULL;
    gbs_error err = {0};
    ok(gbs_sequences_read_memory("d", columns, sizeof columns - 1, &data, NULL));
    ok(learn("u 1=%x[ 0,0]\nu 2=%X[ +1 , 0 ]\nu 3=%m[ 0,\t0, \"^\\u \\?*\" ]\nu 4=%x[ @ -1,0]\n",
             GBS_TEMPLATES_WAPITI, data, NULL, &crf, NULL, &err));
    static const char *const expected[] = {"u 1=Ab", "u 2=b", "u 3=", "u 4=b"};
    for (uint32_t k = 0; k < 4; k++) {
        assert_string_equal(crf->features.text[k], expected[k]);
    }
    gbs_crf_free(crf);
    gbs_sequences_free(data);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *templates, *message; /* a part of it */
    } cases[] = {
        {"", ":1:1: found no templates, expected some"},
        {"# U\n\n", ":3:1: found no templates, expected some"},
        {"U%x[0,0]\nV\n", ":2:1: found 'V', expected a template"},
        {"U%x[ 9,0]\n", ":1:6: found '9,0]', expected a row from -8 to 8"},
        {"U%x[ 0 , 2 ]\n", "the templates name column 2, expected one before the last of the 3"},
        {"U%x[0,2]\n", "the templates name column 2, expected one before the last of the 3"}};
    gbs_sequences *data = make_data();
    need_lbfgs();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_crf *crf = NULL;
        gbs_error err = {0};
        assert_int_equal(
            learn(cases[i].templates, GBS_TEMPLATES_CRFPP, data, NULL, &crf, NULL, &err),
            GBS_ERR_FORMAT);
        assert_null(crf);
        assert_non_null(strstr(err.message, cases[i].message));
    }
    gbs_sequences_free(data);
}

static void memory_fails(void **state)
{
    (void)state;
    gbs_sequences *data = make_data();
    need_lbfgs();
    const gbs_crf_learn_options options = {
        .size = sizeof options, .threads = 1, .l1 = 0.5, .least_count = 2, .iterations = 3};
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status == GBS_ERR_MEMORY; n++) {
        gbs_crf *crf = NULL;
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = learn(templates, GBS_TEMPLATES_CRFPP, data, &options, &crf, NULL, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((status == GBS_OK) == (crf != NULL));
        gbs_crf_free(crf);
    }
    ok(status);
    gbs_sequences_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_against_differences),
        cmocka_unit_test(objective_without_weights),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(learnt_is_flat),
        cmocka_unit_test(rare_features),
        cmocka_unit_test(blanks_in_wapiti),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
