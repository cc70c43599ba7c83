/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for conditional random fields. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
    REFUSED(gbs_crf_label(NULL, data, NULL, NULL, label, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, NULL, NULL, NULL, label, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, NULL, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, &small, NULL, label, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, &late, NULL, label, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, &many, NULL, label, NULL, NULL, &err));
    REFUSED(gbs_crf_label(crf, data, NULL, &shorter, label, NULL, NULL, &err));
    assert_int_equal(label[0], 7);
    FINE(gbs_crf_label(crf, data, NULL, NULL, label, NULL, NULL, &err));
    REFUSED(gbs_label_scores_new(NULL, data, 1, label, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, NULL, 1, label, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, data, 1, NULL, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, data, 1, label, NULL, &err));
    REFUSED(gbs_label_scores_new(crf, data, 2, label, &scores, &err));
    REFUSED(gbs_label_scores_new(crf, data, 1, beyond, &scores, &err));
    assert_null(scores);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(what_is_in_them),
        cmocka_unit_test(labels),
        cmocka_unit_test(learning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
