/* SPDX-License-Identifier: Apache-2.0 */
/* Entities found and missed, against counts by hand. */
#include "gibbsite/crf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static gbs_crf *model_of_labels(const char *labels)
{
    char text[256];
    gbs_crf *crf = NULL;
    (void)snprintf(text, sizeof text,
                   "version: 100\ncost-factor: 1\nmaxid: 0\nxsize: 1\n\n%s\nU:%%x[0,0]\n\n\n",
                   labels);
    ok(gbs_crf_read_memory("m", text, strlen(text), &crf, NULL));
    return crf;
}

/* Columns: the truth, what was found. */
static void count(const char *labels, const char *columns, const uint64_t counts[3],
                  double accuracy)
{
    gbs_crf *crf = model_of_labels(labels);
    gbs_sequences *data = NULL;
    gbs_label_scores *scores = NULL;
    uint32_t label[32];
    ok(gbs_sequences_read_memory("d", columns, strlen(columns), &data, NULL));
    for (size_t t = 0; t < gbs_sequences_n_tokens(data); t++) {
        for (label[t] = 0;
             strcmp(gbs_crf_label_name(crf, label[t]), gbs_sequences_text(data, t, 1)) != 0;) {
            label[t]++;
        }
    }
    ok(gbs_label_scores_new(crf, data, 0, label, &scores, NULL));
    const gbs_entity_score *all = gbs_label_scores_entities(scores, NULL);
    assert_int_equal(all->n_true, counts[0]);
    assert_int_equal(all->n_found, counts[1]);
    assert_int_equal(all->n_correct, counts[2]);
    assert_true(fabs(gbs_label_scores_accuracy(scores) - accuracy) < 1e-15);
    gbs_label_scores_free(scores);
    gbs_sequences_free(data);
    gbs_crf_free(crf);
}

static void entities(void **state)
{
    (void)state;
    const char *iob = "O\nB-X\nI-X\nB-Y\nI-Y\n";
    const char *iobes = "O\nB-X\nI-X\nE-X\nS-X\n";
    /* the same span and class; one too short; one of another class */
    count(iob, "B-X B-X\nI-X I-X\nO O\nB-Y B-Y\nI-Y O\nB-X B-Y\n", (const uint64_t[3]){3, 3, 1},
          4.0 / 6.0);
    /* IOB1: I- begins behind O and behind another class, B- only splits */
    count(iob, "I-X B-X\nI-Y B-Y\nB-Y B-Y\nI-Y I-Y\n", (const uint64_t[3]){3, 3, 3}, 0.5);
    /* an entity ends with its sequence; one that goes on too far is wrong */
    count(iob, "B-X B-X\n\nI-X I-X\nO I-X\n", (const uint64_t[3]){2, 2, 1}, 2.0 / 3.0);
    count(iobes, "S-X S-X\nS-X B-X\nB-X I-X\nE-X E-X\n", (const uint64_t[3]){3, 2, 1}, 0.5);
    /* without prefixes, runs of a label */
    count("O\nX\n", "X X\nX X\nO O\nX O\n", (const uint64_t[3]){2, 1, 1}, 0.75);
    count("O\nX\n", "O O\n", (const uint64_t[3]){0, 0, 0}, 1.0);
}

static void scores_by_class(void **state)
{
    (void)state;
    gbs_crf *crf = model_of_labels("O\nB-Y\nB-X\nB-Z\n");
    gbs_sequences *data = NULL;
    gbs_label_scores *scores = NULL;
    gbs_error err = {0};
    size_t n = 0;
    const char columns[] = "a B-Y\nb B-X\nc O\nd B-Y\n";
    ok(gbs_sequences_read_memory("d", columns, strlen(columns), &data, NULL));
    ok(gbs_label_scores_new(crf, data, 1, (const uint32_t[4]){1, 2, 2, 0}, &scores, NULL));
    const gbs_entity_score *of = gbs_label_scores_entities(scores, &n);
    assert_int_equal(n, 3);
    assert_string_equal(of[1].name, "X");
    assert_string_equal(of[2].name, "Y");
    assert_true(of[1].precision == 0.5 && of[1].recall == 1.0 &&
                fabs(of[1].f1 - 2.0 / 3.0) < 1e-15);
    assert_true(of[2].precision == 1.0 && of[2].recall == 0.5);
    assert_true(of[0].n_true == 3 && of[0].n_found == 3 && of[0].n_correct == 2);
    gbs_label_scores_free(scores);
    scores = NULL;
    assert_int_equal(
        gbs_label_scores_new(crf, data, 0, (const uint32_t[4]){0, 0, 0, 0}, &scores, &err),
        GBS_ERR_FORMAT);
    assert_string_equal(err.message, "d:1:1: found the label 'a', expected one of the model's");
    assert_int_equal(
        gbs_label_scores_new(crf, data, 1, (const uint32_t[4]){0, 9, 0, 0}, &scores, &err),
        GBS_ERR_ARGUMENT);
    assert_int_equal(
        gbs_label_scores_new(crf, data, 2, (const uint32_t[4]){0, 0, 0, 0}, &scores, &err),
        GBS_ERR_ARGUMENT);
    assert_null(scores);
    gbs_sequences_free(data);
    gbs_crf_free(crf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entities),
        cmocka_unit_test(scores_by_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
