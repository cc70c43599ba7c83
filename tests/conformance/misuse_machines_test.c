/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for dense models learnt from rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/checkpoint.h"
#include "gibbsite/learn.h"
#include "gibbsite/machines.h"
#include "gibbsite/question.h"
#include "support/misuse.h"

static const uint32_t states[6] = {0, 1, 1, 0, 1, 1};

static void rows_in_memory(void **state)
{
    (void)state;
    const uint32_t beyond[2] = {0, 2};
    gbs_rows *rows = NULL;
    gbs_rows *out = NULL;
    const gbs_run_callbacks shorter = {.size = 1};
    REFUSED(gbs_rows_new(2, 2, NULL, &err));
    REFUSED(gbs_rows_new(0, 2, &rows, &err));
    REFUSED(gbs_rows_new(2, 1, &rows, &err));
    REFUSED(gbs_rows_new(GBS_MAX_SITES + 1, 2, &rows, &err));
    REFUSED(gbs_rows_new(2, GBS_MAX_SITE_STATES + 1, &rows, &err));
    assert_null(rows);
    FINE(gbs_rows_new(2, 2, &rows, &err));
    REFUSED(gbs_rows_add(NULL, 1, states, &err));
    REFUSED(gbs_rows_add(rows, 1, NULL, &err));
    REFUSED(gbs_rows_add(rows, 1, beyond, &err));
    assert_true(gbs_rows_n(rows) == 0);
    FINE(gbs_rows_add(rows, 3, states, &err));
    REFUSED(gbs_rows_weigh(NULL, 0.8, 1, NULL, &err));
    REFUSED(gbs_rows_weigh(rows, 0.0, 1, NULL, &err));
    REFUSED(gbs_rows_weigh(rows, 1.1, 1, NULL, &err));
    REFUSED(gbs_rows_weigh(rows, 0.8, 1u << 20, NULL, &err));
    REFUSED(gbs_rows_weigh(rows, 0.8, 1, &shorter, &err));
    REFUSED(gbs_rows_hold_out(NULL, 0.5, &out, &err));
    REFUSED(gbs_rows_hold_out(rows, 0.5, NULL, &err));
    REFUSED(gbs_rows_hold_out(rows, 1.0, &out, &err));
    assert_null(out);
    assert_true(gbs_rows_n(NULL) == 0 && gbs_rows_n_sites(NULL) == 0 &&
                gbs_rows_n_states(NULL) == 0);
    assert_true(gbs_rows_n_unknown(NULL) == 0 && gbs_rows_weight(NULL) == 0.0);
    assert_true(gbs_rows_state(NULL, 0, 0) == UINT32_MAX &&
                gbs_rows_state(rows, 3, 0) == UINT32_MAX);
    assert_true(gbs_rows_state(rows, 0, 2) == UINT32_MAX && gbs_rows_weight(rows) == 3.0);
    assert_null(gbs_rows_site_name(NULL, 0));
    assert_null(gbs_rows_site_name(rows, 0));
    gbs_rows_free(rows);
    gbs_rows_free(NULL);
}

static void rows_in_files(void **state)
{
    (void)state;
    gbs_rows *rows = NULL;
    REFUSED(gbs_rows_read_as(NULL, "a", 1, GBS_ALPHABET_AUTO, &rows, &err));
    REFUSED(gbs_rows_read_as("d", "a", 1, GBS_ALPHABET_AUTO, NULL, &err));
    REFUSED(gbs_rows_read_as("d", "a", 1, (gbs_alphabet)9, &rows, &err));
    assert_int_equal(gbs_rows_alphabet(NULL), GBS_ALPHABET_AUTO);
    gbs_rows_count_states(NULL, NULL);
    assert_int_equal(gbs_rows_read_as("/none/none", NULL, 0, GBS_ALPHABET_AUTO, &rows, NULL),
                     GBS_ERR_IO);
    assert_int_equal(gbs_rows_read_as("d", "a\nx", 3, GBS_ALPHABET_AUTO, &rows, NULL),
                     GBS_ERR_FORMAT);
    assert_null(rows);
    assert_null(gbs_rows_note(NULL));
}

/* Also in a build without libLBFGS: arguments are looked at first. */
static void potts(void **state)
{
    (void)state;
    gbs_rows *rows = NULL;
    gbs_model *model = NULL;
    const gbs_potts_options small = {.size = 8};
    const gbs_run_callbacks shorter = {.size = 1};
    gbs_potts_report little = {.size = 8};
    FINE(gbs_rows_new(2, 2, &rows, &err));
    FINE(gbs_rows_add(rows, 3, states, &err));
    REFUSED(gbs_potts_learn(NULL, NULL, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_potts_learn(rows, NULL, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_potts_learn(rows, NULL, &small, NULL, &model, NULL, &err));
    REFUSED(gbs_potts_learn(rows, NULL, NULL, &shorter, &model, NULL, &err));
    REFUSED(gbs_potts_learn(rows, NULL, NULL, NULL, &model, &little, &err));
    assert_null(model);
    gbs_rows_free(rows);
}

static void see_nothing(void *context, const gbs_learn_point *point)
{
    (void)context;
    (void)point;
}

/* What is refused by what it says, where the library can learn. */
static void potts_options(void **state)
{
    (void)state;
    const gbs_checkpoint_files files = {.size = sizeof files, .write = "none"};
    const gbs_potts_options bad[] = {
        {.size = sizeof bad[0], .l2 = -1.0},
        {.size = sizeof bad[0], .tolerance = 2.0},
        {.size = sizeof bad[0], .rate = -1.0},
        {.size = sizeof bad[0], .method = 3},
        {.size = sizeof bad[0], .chains = 1ull << 40},
        {.size = sizeof bad[0], .time_s = -1.0},
        {.size = sizeof bad[0], .threads = 1u << 20},
        {.size = sizeof bad[0], .l1 = -1.0},
        {.size = sizeof bad[0], .l1 = 1.0, .method = GBS_POTTS_PCD},
        {.size = sizeof bad[0], .chains = 5},
        {.size = sizeof bad[0], .steps = 5, .method = GBS_POTTS_ASYMMETRIC},
        {.size = sizeof bad[0], .probes = 5, .method = GBS_POTTS_PCD},
        {.size = sizeof bad[0], .checkpoints = &files},
        {.size = sizeof bad[0], .point = see_nothing, .method = GBS_POTTS_ASYMMETRIC},
        {.size = sizeof bad[0], .checkpoint_every_s = -1.0}};
    gbs_rows *rows = NULL;
    gbs_rows *empty = NULL;
    gbs_rows *wider = NULL;
    gbs_model *model = NULL;
    FINE(gbs_rows_new(2, 2, &rows, &err));
    FINE(gbs_rows_new(2, 2, &empty, &err));
    FINE(gbs_rows_new(3, 2, &wider, &err));
    FINE(gbs_rows_add(rows, 3, states, &err));
    const gbs_status status = gbs_potts_learn(rows, NULL, NULL, NULL, &model, NULL, NULL);
    if (status != GBS_ERR_UNSUPPORTED) {
        size_t n = 0;
        double error[8];
        FINE(status);
        FINE(gbs_potts_parameters(model, &n, NULL, &err));
        assert_int_equal(n, 8);
        REFUSED(gbs_potts_parameters(NULL, &n, NULL, &err));
        REFUSED(gbs_potts_parameters(model, NULL, NULL, &err));
        assert_true(gbs_potts_probes(NULL, NULL) == 0 && gbs_potts_probes(model, NULL) == 0);
        REFUSED(gbs_potts_errors(NULL, rows, NULL, NULL, error, NULL, &err));
        REFUSED(gbs_potts_errors(model, NULL, NULL, NULL, error, NULL, &err));
        REFUSED(gbs_potts_errors(model, rows, NULL, NULL, NULL, NULL, &err));
        REFUSED(gbs_potts_errors(model, wider, NULL, NULL, error, NULL, &err));
        REFUSED(gbs_potts_errors(model, empty, NULL, NULL, error, NULL, &err));
        REFUSED(gbs_potts_errors(model, rows, &bad[0], NULL, error, NULL, &err));
        gbs_model_free(model);
        model = NULL;
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            REFUSED(gbs_potts_learn(rows, NULL, &bad[i], NULL, &model, NULL, &err));
        }
        REFUSED(gbs_potts_learn(empty, NULL, NULL, NULL, &model, NULL, &err));
        REFUSED(gbs_potts_learn(rows, wider, NULL, NULL, &model, NULL, &err));
    }
    assert_null(model);
    gbs_rows_free(rows);
    gbs_rows_free(empty);
    gbs_rows_free(wider);
}

static void rbm(void **state)
{
    (void)state;
    const gbs_checkpoint_files no_files = {.size = 8, .write = "none"};
    const gbs_rbm_options good = {.size = sizeof good, .hidden = 2, .epochs = 1};
    const gbs_rbm_options bad[] = {{.size = 8, .hidden = 2},
                                   {.size = sizeof bad[0]},
                                   {.size = sizeof bad[0], .hidden = GBS_MAX_HIDDEN + 1},
                                   {.size = sizeof bad[0], .hidden = 2, .method = 2},
                                   {.size = sizeof bad[0], .hidden = 2, .draw = 2},
                                   {.size = sizeof bad[0], .hidden = 2, .epochs = 1ull << 40},
                                   {.size = sizeof bad[0], .hidden = 2, .batch = 1ull << 40},
                                   {.size = sizeof bad[0], .hidden = 2, .sweeps = 1ull << 40},
                                   {.size = sizeof bad[0], .hidden = 2, .rate = -1.0},
                                   {.size = sizeof bad[0], .hidden = 2, .l2 = -1.0},
                                   {.size = sizeof bad[0], .hidden = 2, .time_s = -1.0},
                                   {.size = sizeof bad[0], .hidden = 2, .checkpoint_every_s = -1.0},
                                   {.size = sizeof bad[0], .hidden = 2, .checkpoints = &no_files},
                                   {.size = sizeof bad[0], .hidden = 2, .threads = 1u << 20}};
    const gbs_run_callbacks shorter = {.size = 1};
    gbs_rbm_report little = {.size = 8};
    gbs_rows *rows = NULL;
    gbs_rows *empty = NULL;
    gbs_rows *three = NULL;
    gbs_model *model = NULL;
    FINE(gbs_rows_new(2, 2, &rows, &err));
    FINE(gbs_rows_new(2, 2, &empty, &err));
    FINE(gbs_rows_new(2, 3, &three, &err));
    FINE(gbs_rows_add(rows, 3, states, &err));
    FINE(gbs_rows_add(three, 3, states, &err));
    REFUSED(gbs_rbm_learn(NULL, NULL, &good, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_rbm_learn(rows, NULL, &good, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_rbm_learn(rows, NULL, NULL, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_rbm_learn(empty, NULL, &good, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_rbm_learn(rows, empty, &good, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_rbm_learn(three, NULL, &good, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_rbm_learn(rows, three, &good, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_rbm_learn(rows, NULL, &good, &shorter, NULL, &model, NULL, &err));
    REFUSED(gbs_rbm_learn(rows, NULL, &good, NULL, NULL, &model, &little, &err));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSED(gbs_rbm_learn(rows, NULL, &bad[i], NULL, NULL, &model, NULL, &err));
    }
    FINE(gbs_rows_weigh(rows, 0.5, 1, NULL, &err)); /* two equal rows */
    REFUSED(gbs_rbm_learn(rows, NULL, &good, NULL, NULL, &model, NULL, &err));
    assert_null(model);
    gbs_rows_free(rows);
    gbs_rows_free(empty);
    gbs_rows_free(three);
}

static void questions(void **state)
{
    (void)state;
    const gbs_question *rbm = gbs_question_find("learn rbm");
    gbs_rbm_options options;
    char text[64];
    assert_null(gbs_question_at(gbs_question_count()));
    assert_null(gbs_question_find("rbm"));
    assert_null(gbs_question_name(NULL));
    assert_int_equal(gbs_question_size(NULL), 0);
    assert_int_equal(gbs_question_n_options(NULL), 0);
    assert_null(gbs_question_option(NULL, 0));
    assert_null(gbs_question_option(rbm, gbs_question_n_options(rbm)));
    assert_null(gbs_question_find_option(rbm, NULL));
    assert_null(gbs_question_find_option(NULL, "hidden"));
    REFUSED(gbs_question_init(NULL, &options, sizeof options, &err));
    REFUSED(gbs_question_init(rbm, NULL, sizeof options, &err));
    REFUSED(gbs_question_init(rbm, &options, 8, &err));
    FINE(gbs_question_init(rbm, &options, sizeof options, &err));
    REFUSED(gbs_question_set(NULL, &options, "hidden", "8", &err));
    REFUSED(gbs_question_set(rbm, NULL, "hidden", "8", &err));
    REFUSED(gbs_question_set(rbm, &options, NULL, "8", &err));
    REFUSED(gbs_question_set(rbm, &options, "hidden", NULL, &err));
    REFUSED(gbs_question_set(rbm, &options, "hide", "8", &err));
    REFUSED(gbs_question_set(rbm, &options, "hidden", "eight", &err));
    REFUSED(gbs_question_get(NULL, &options, "hidden", text, sizeof text, &err));
    REFUSED(gbs_question_get(rbm, NULL, "hidden", text, sizeof text, &err));
    REFUSED(gbs_question_get(rbm, &options, NULL, text, sizeof text, &err));
    REFUSED(gbs_question_get(rbm, &options, "epochs", NULL, sizeof text, &err));
    REFUSED(gbs_question_get(rbm, &options, "epochs", text, 3, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_memory),
        cmocka_unit_test(rows_in_files),
        cmocka_unit_test(potts),
        cmocka_unit_test(potts_options),
        cmocka_unit_test(rbm),
        cmocka_unit_test(questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
