/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for conditional random fields and tied weights. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/crf.h"
#include "gibbsite/fit.h"
#include "gibbsite/learn.h"
#include "support/misuse.h"

static const char model[] =
    "version: 100\ncost-factor: 1\nmaxid: 2\nxsize: 1\n\nA\nC\n\nU:%x[0,1]\n\n"
    "0 U:a\n\n0\n1\n";

static void files(void **state)
{
    (void)state;
    gbs_crf *crf = NULL;
    gbs_sequences *data = NULL;
    REFUSED(gbs_sequences_read(NULL, &data, &err));
    REFUSED(gbs_sequences_read("none", NULL, &err));
    REFUSED(gbs_sequences_read_memory(NULL, "a", 1, &data, &err));
    REFUSED(gbs_sequences_read_memory("d", NULL, 1, &data, &err));
    REFUSED(gbs_sequences_read_memory("d", "a", 1, NULL, &err));
    REFUSED(gbs_crf_read(NULL, &crf, &err));
    REFUSED(gbs_crf_read("none", NULL, &err));
    REFUSED(gbs_crf_read_memory(NULL, model, 1, &crf, &err));
    REFUSED(gbs_crf_read_memory("m", NULL, 1, &crf, &err));
    REFUSED(gbs_crf_read_memory("m", model, 1, NULL, &err));
    REFUSED(gbs_crf_write(NULL, "none", &err));
    assert_true(crf == NULL && data == NULL);
    assert_int_equal(gbs_sequences_read("/none/none", &data, NULL), GBS_ERR_IO);
    assert_int_equal(gbs_crf_read("/none/none", &crf, NULL), GBS_ERR_IO);
    gbs_sequences_free(NULL);
    gbs_crf_free(NULL);
}

static void what_is_in_them(void **state)
{
    (void)state;
    gbs_crf *crf = NULL;
    gbs_sequences *data = NULL;
    size_t n = 7;
    FINE(gbs_crf_read_memory("m", model, strlen(model), &crf, &err));
    FINE(gbs_sequences_read_memory("d", "a b", 3, &data, &err));
    REFUSED(gbs_crf_write(crf, NULL, &err));
    assert_null(gbs_crf_label_name(crf, 2));
    assert_null(gbs_crf_label_name(NULL, 0));
    assert_true(gbs_crf_n_labels(NULL) == 0 && gbs_crf_n_features(NULL) == 0 &&
                gbs_crf_n_weights(NULL) == 0 && gbs_crf_n_columns(NULL) == 0);
    assert_true(gbs_sequences_n(NULL) == 0 && gbs_sequences_n_tokens(NULL) == 0 &&
                gbs_sequences_n_columns(NULL) == 0);
    assert_null(gbs_sequences_first(NULL));
    assert_null(gbs_sequences_text(NULL, 0, 0));
    assert_null(gbs_sequences_text(data, 1, 0));
    assert_null(gbs_sequences_text(data, 0, 2));
    assert_null(gbs_label_scores_entities(NULL, &n));
    assert_int_equal(n, 0);
    assert_true(isnan(gbs_label_scores_accuracy(NULL)));
    assert_true(gbs_label_scores_unseen(NULL) == 0);
    gbs_label_scores_free(NULL);
    gbs_sequences_free(data);
    gbs_crf_free(crf);
}

static void labels(void **state)
{
    (void)state;
    gbs_crf *crf = NULL;
    gbs_sequences *data = NULL;
    gbs_label_scores *scores = NULL;
    uint32_t label[1] = {7};
    const uint32_t beyond[1] = {2};
    const gbs_label_options small = {.size = 8};
    const gbs_label_options late = {.size = sizeof late, .time_s = -1.0};
    const gbs_label_options many = {.size = sizeof many, .threads = 1u << 20};
    const gbs_run_callbacks shorter = {.size = 1};
    FINE(gbs_crf_read_memory("m", model, strlen(model), &crf, &err));
    FINE(gbs_sequences_read_memory("d", "a A", 3, &data, &err));
    REFUSED(gbs_crf_label(NULL, data, NULL, NULL, label, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, NULL, NULL, NULL, label, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, NULL, NULL, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, &small, NULL, label, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, &late, NULL, label, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, &many, NULL, label, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, NULL, &shorter, label, NULL, NULL, NULL, &err));
    gbs_run_options field = gbs_run_options_default();
    field.method = GBS_METHOD_MEAN_FIELD;
    const gbs_label_options approximate = {.size = sizeof approximate, .run = &field};
    gbs_label_report little = {.size = 4};
    gbs_model *graph = NULL;
    REFUSED(gbs_crf_label(crf, data, &approximate, NULL, label, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, NULL, NULL, label, NULL, NULL, &little, &err));
    REFUSED(gbs_crf_model(NULL, data, 0, &graph, &err));
    REFUSED(gbs_crf_model(crf, NULL, 0, &graph, &err));
    REFUSED(gbs_crf_model(crf, data, 1, &graph, &err));
    REFUSED(gbs_crf_model(crf, data, 0, NULL, &err));
    assert_null(graph);
    assert_int_equal(label[0], 7);
    FINE(gbs_crf_label(crf, data, NULL, NULL, label, NULL, NULL, NULL, &err));
    REFUSED(gbs_label_scores_new(NULL, data, 1, label, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, NULL, 1, label, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, data, 1, NULL, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, data, 1, label, NULL, &err));
    REFUSED(gbs_label_scores_new(crf, data, 2, label, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, data, 1, beyond, &scores, &err));
    assert_null(scores);
    double error = 3.0;
    const gbs_crf_learn_options unsized = {.size = 8};
    REFUSED(gbs_crf_errors(NULL, data, NULL, NULL, &error, &err));
    REFUSED(gbs_crf_errors(crf, NULL, NULL, NULL, &error, &err));
    REFUSED(gbs_crf_errors(crf, data, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_errors(crf, data, &unsized, NULL, &error, &err));
    REFUSED(gbs_crf_errors(crf, data, NULL, &shorter, &error, &err));
    REFUSED(gbs_crf_feature(NULL, 0, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_feature(crf, 1000, NULL, NULL, NULL, &err));
    FINE(gbs_crf_feature(crf, 0, NULL, NULL, NULL, &err));
    assert_null(gbs_crf_weights(NULL));
    assert_true(error == 3.0);
    gbs_sequences_free(data);
    gbs_crf_free(crf);
}

static void learning(void **state)
{
    (void)state;
    gbs_sequences *data = NULL;
    gbs_crf *crf = NULL;
    const gbs_crf_learn_options small = {.size = 8};
    const gbs_run_callbacks shorter = {.size = 1};
    gbs_crf_learn_report little = {.size = 8};
    FINE(gbs_sequences_read_memory("d", "a A", 3, &data, &err));
    REFUSED(gbs_crf_learn(NULL, GBS_TEMPLATES_CRFPP, data, NULL, NULL, &crf, NULL, &err));
    REFUSED(gbs_crf_learn("none", GBS_TEMPLATES_CRFPP, NULL, NULL, NULL, &crf, NULL, &err));
    REFUSED(gbs_crf_learn("none", GBS_TEMPLATES_CRFPP, data, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_learn("none", GBS_TEMPLATES_CRFPP, data, &small, NULL, &crf, NULL, &err));
    REFUSED(gbs_crf_learn("none", GBS_TEMPLATES_CRFPP, data, NULL, &shorter, &crf, NULL, &err));
    REFUSED(gbs_crf_learn("none", GBS_TEMPLATES_CRFPP, data, NULL, NULL, &crf, &little, &err));
    assert_null(crf);
    gbs_sequences_free(data);
}

static void tied_weights(void **state)
{
    (void)state;
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_model *other = NULL;
    gbs_model *learnt = NULL;
    gbs_data *data = NULL;
    gbs_data *empty = NULL;
    const uint32_t arity[2] = {2, 2};
    const uint32_t id = 0;
    const double w = 0.5;
    const double infinite = INFINITY;
    const gbs_learn_options small = {.size = 8};
    const gbs_learn_options bad = {.size = sizeof bad, .l2 = -1.0};
    const gbs_run_callbacks shorter = {.size = 1};
    gbs_learn_report little = {.size = 8};
    double sum = 3.0;
    FINE(gbs_builder_new(&b, &err));
    FINE(gbs_builder_add_variables(b, 2, arity, NULL, &err));
    FINE(gbs_builder_add_field(b, 0, w, &err));
    FINE(gbs_builder_add_weights(b, 1, &w, NULL, NULL, &err));
    FINE(gbs_builder_build(b, &other, &err)); /* nothing is tied */
    FINE(gbs_builder_add_variables(b, 1, arity, NULL, &err));
    FINE(gbs_builder_add_field(b, 0, w, &err));
    FINE(gbs_builder_add_weights(b, 1, &w, NULL, NULL, &err));
    FINE(gbs_builder_tie_factor(b, 0, 0, 1.0, &err));
    FINE(gbs_builder_build(b, &m, &err));
    FINE(gbs_data_new(m, 1, &id, &data, &err));
    FINE(gbs_data_new(other, 1, &id, &empty, &err));
    REFUSED(gbs_learn_weights(m, data, NULL, NULL, NULL, &learnt, NULL, &err)); /* no rows */
    REFUSED(gbs_pseudo_log_likelihood(m, data, &sum, &err));
    FINE(gbs_data_add(data, 1, &id, NULL, &err));
    FINE(gbs_data_add(empty, 1, &id, NULL, &err));
    REFUSED(gbs_learn_weights(NULL, data, NULL, NULL, NULL, &learnt, NULL, &err));
    REFUSED(gbs_learn_weights(m, NULL, NULL, NULL, NULL, &learnt, NULL, &err));
    REFUSED(gbs_learn_weights(m, data, NULL, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_learn_weights(m, empty, NULL, NULL, NULL, &learnt, NULL, &err));
    REFUSED(gbs_learn_weights(other, empty, NULL, NULL, NULL, &learnt, NULL, &err));
    REFUSED(gbs_learn_weights(m, data, &small, NULL, NULL, &learnt, NULL, &err));
    REFUSED(gbs_learn_weights(m, data, &bad, NULL, NULL, &learnt, NULL, &err));
    REFUSED(gbs_learn_weights(m, data, NULL, &shorter, NULL, &learnt, NULL, &err));
    REFUSED(gbs_learn_weights(m, data, NULL, NULL, NULL, &learnt, &little, &err));
    REFUSED(gbs_pseudo_log_likelihood(NULL, data, &sum, &err));
    REFUSED(gbs_pseudo_log_likelihood(m, NULL, &sum, &err));
    REFUSED(gbs_pseudo_log_likelihood(m, data, NULL, &err));
    REFUSED(gbs_pseudo_log_likelihood(m, empty, &sum, &err));
    REFUSED(gbs_log_likelihood(NULL, data, &sum, &err));
    REFUSED(gbs_log_likelihood(m, NULL, &sum, &err));
    REFUSED(gbs_log_likelihood(m, data, NULL, &err));
    REFUSED(gbs_log_likelihood(m, empty, &sum, &err));
    REFUSED(gbs_model_with_weights(NULL, &w, &learnt, &err));
    REFUSED(gbs_model_with_weights(m, NULL, &learnt, &err));
    REFUSED(gbs_model_with_weights(m, &infinite, &learnt, &err));
    REFUSED(gbs_model_with_weights(m, &w, NULL, &err));
    assert_true(learnt == NULL && sum == 3.0);
    gbs_data_free(data);
    gbs_data_free(empty);
    gbs_model_free(m);
    gbs_model_free(other);
    gbs_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),    cmocka_unit_test(what_is_in_them), cmocka_unit_test(labels),
        cmocka_unit_test(learning), cmocka_unit_test(tied_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
