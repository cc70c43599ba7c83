/* SPDX-License-Identifier: Apache-2.0 */
/* Compares numbers of entities that were found and missed with counts by hand. */
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

/* Counts entities. The columns are the true labels and the labels found. */
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
    /* an entity with equal span and class, an entity that is too short, an entity of another class
     */
    count(iob, "B-X B-X\nI-X I-X\nO O\nB-Y B-Y\nI-Y O\nB-X B-Y\n", (const uint64_t[3]){3, 3, 1},
          4.0 / 6.0);
    /* IOB1: I- begins an entity after O and after another class; B- only splits entities */
    count(iob, "I-X B-X\nI-Y B-Y\nB-Y B-Y\nI-Y I-Y\n", (const uint64_t[3]){3, 3, 3}, 0.5);
    /* an entity ends with its sequence; an entity that is too long is wrong */
    count(iob, "B-X B-X\n\nI-X I-X\nO I-X\n", (const uint64_t[3]){2, 2, 1}, 2.0 / 3.0);
    count(iobes, "S-X S-X\nS-X B-X\nB-X I-X\nE-X E-X\n", (const uint64_t[3]){3, 2, 1}, 0.5);
    /* labels without prefixes: an entity is a run of one label */
    count("O\nX\n", "X X\nX X\nO O\nX O\n", (const uint64_t[3]){2, 1, 1}, 0.75);
    count("O\nX\n", "O O\n", (const uint64_t[3]){0, 0, 0}, 1.0);
    count("B-X\nM-X\nE-X\n", "B-X B-X\nM-X M-X\nE-X E-X\n", (const uint64_t[3]){1, 1, 1}, 1.0);
}

/* Labels without a class are phrases, which are counted by hand by the rules of conlleval. */
static void phrases(void **state)
{
    (void)state;
    /* B I right; B I I with I I as a phrase found too late; I behind O begins one */
    count("B\nI\nO\n", "B B\nI I\nB O\nI I\nI I\nO O\nI B\n", (const uint64_t[3]){3, 3, 2},
          5.0 / 7.0);
    /* B splits */
    count("B\nI\nO\n", "B B\nB I\nI I\nO O\n", (const uint64_t[3]){2, 1, 0}, 0.75);
    count("B\nO\n", "B B\nB B\nO O\n", (const uint64_t[3]){2, 2, 2}, 1.0);
    /* words of one letter and of more: one is cut in two, one is joined */
    count("B\nM\nE\nS\n", "B B\nM E\nE S\nS S\nS B\nS E\nB B\nE E\n", (const uint64_t[3]){5, 5, 2},
          4.0 / 8.0);
    count("B\nI\nE\nS\nO\n", "B B\nI I\nE E\nO O\nS O\n", (const uint64_t[3]){2, 1, 1}, 0.8);
    /* a letter of both schemes together, and letters that begin nothing, are classes: of runs */
    count("B\nI\nM\n", "B B\nI I\nM M\nM M\n", (const uint64_t[3]){3, 3, 3}, 1.0);
    count("E\nS\n", "E E\nE E\nS S\nS E\n", (const uint64_t[3]){2, 3, 1}, 0.75);
    count("B\nO\nNOUN\n", "B B\nB B\nO O\nNOUN NOUN\n", (const uint64_t[3]){2, 2, 2}, 1.0);
}

static void phrases_have_one_score(void **state)
{
    (void)state;
    gbs_crf *crf = model_of_labels("B\nI\n");
    gbs_sequences *data = NULL;
    gbs_label_scores *scores = NULL;
    size_t n = 0;
    const char columns[] = "a B\nb I\nc B\n";
    ok(gbs_sequences_read_memory("d", columns, strlen(columns), &data, NULL));
    ok(gbs_label_scores_new(crf, data, 1, (const uint32_t[3]){0, 1, 1}, &scores, NULL));
    const gbs_entity_score *of = gbs_label_scores_entities(scores, &n);
    assert_true(n == 1 && of[0].n_true == 2 && of[0].n_found == 1 && of[0].n_correct == 0);
    gbs_label_scores_free(scores);
    gbs_sequences_free(data);
    gbs_crf_free(crf);
}

/* True labels that the model does not have count as wrong labels and as entities that were not
 * found. */
static void unseen_labels(void **state)
{
    (void)state;
    gbs_crf *crf = model_of_labels("O\nB-X\n");
    gbs_sequences *data = NULL;
    gbs_label_scores *scores = NULL;
    size_t n = 0;
    const char columns[] = "a B-X\nb B-W\nc I-W\nd O\ne B-W\nf I-X\n";
    const uint32_t label[] = {1, 1, 0, 0, 0, 1};
    ok(gbs_sequences_read_memory("d", columns, strlen(columns), &data, NULL));
    ok(gbs_label_scores_new(crf, data, 1, label, &scores, NULL));
    gbs_sequences_free(data);
    gbs_crf_free(crf);
    const gbs_entity_score *of = gbs_label_scores_entities(scores, &n);
    assert_int_equal(gbs_label_scores_unseen(scores), 4);
    assert_true(fabs(gbs_label_scores_accuracy(scores) - 2.0 / 6.0) < 1e-15);
    assert_int_equal(n, 3);
    assert_string_equal(of[1].name, "W");
    assert_true(of[1].n_true == 2 && of[1].n_found == 0 && of[1].f1 == 0.0);
    assert_true(of[2].n_true == 2 && of[2].n_found == 3 && of[2].n_correct == 2);
    gbs_label_scores_free(scores);
    assert_int_equal(gbs_label_scores_unseen(NULL), 0);
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
        cmocka_unit_test(phrases),
        cmocka_unit_test(phrases_have_one_score),
        cmocka_unit_test(unseen_labels),
        cmocka_unit_test(scores_by_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
