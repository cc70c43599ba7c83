/* SPDX-License-Identifier: Apache-2.0 */
/* Tests options of questions by name: defaults, conversion to and from text, and refused values. */
#include "gibbsite/question.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/crf.h"
#include "gibbsite/denoise.h"
#include "gibbsite/generate.h"
#include "gibbsite/ground.h"
#include "gibbsite/machines.h"
#include "gibbsite/segment.h"
#include "options/questions.h"

/* The text of every option of every question sets the option to its current value. */
static void test_there_and_back(void **state)
{
    (void)state;
    assert_true(gbs_question_count() > 0);
    for (size_t q = 0; q < gbs_question_count(); q++) {
        const gbs_question *question = gbs_question_at(q);
        const size_t size = gbs_question_size(question);
        char *one = calloc(2, size);
        char *other = one + size;
        assert_ptr_equal(gbs_question_find(gbs_question_name(question)), question);
        assert_int_equal(gbs_question_init(question, one, size, NULL), GBS_OK);
        memcpy(other, one, size);
        for (size_t i = 0; i < gbs_question_n_options(question); i++) {
            const gbs_option *option = gbs_question_option(question, i);
            char text[64];
            assert_ptr_equal(gbs_question_find_option(question, option->name), option);
            assert_int_equal(gbs_question_get(question, one, option->name, text, sizeof text, NULL),
                             GBS_OK);
            if (strcmp(text, "unset") != 0 && !(option->min > 0 && option->def == 0)) {
                assert_int_equal(gbs_question_set(question, other, option->name, text, NULL),
                                 GBS_OK);
            }
        }
        assert_memory_equal(one, other, size);
        assert_null(gbs_question_option(question, gbs_question_n_options(question)));
        assert_int_equal(gbs_question_init(question, one, size - 1, NULL), GBS_ERR_ARGUMENT);
        free(one);
    }
    assert_null(gbs_question_at(gbs_question_count()));
    assert_null(gbs_question_find("learn nothing"));
    assert_null(gbs_question_find(NULL));
}

/* In a struct, 0 means unset; a typed 0 means the least value. */
static void test_a_tolerance_of_zero(void **state)
{
    (void)state;
    const gbs_question *question = gbs_question_find("learn potts");
    gbs_potts_options options;
    gbs_potts_options taken;
    gbs_error err = {GBS_OK, ""};
    char text[64];
    assert_int_equal(gbs_question_init(question, &options, sizeof options, NULL), GBS_OK);
    assert_int_equal(gbs_question_set(question, &options, "tolerance", "0", &err), GBS_OK);
    assert_true(options.tolerance > 0.0 && options.tolerance / 2.0 == 0.0);
    assert_int_equal(gbsi_question_settle("learn potts", &options, &taken, &err), GBS_OK);
    assert_true(taken.tolerance == options.tolerance);
    assert_int_equal(gbs_question_get(question, &options, "tolerance", text, sizeof text, NULL),
                     GBS_OK);
    assert_int_equal(gbs_question_set(question, &taken, "tolerance", text, NULL), GBS_OK);
    assert_true(taken.tolerance == options.tolerance);
    options.tolerance = 0.0;
    assert_int_equal(gbsi_question_settle("learn potts", &options, &taken, &err), GBS_OK);
    assert_true(taken.tolerance == 1e-5);
    assert_int_equal(gbs_question_set(question, &options, "tolerance", "-1e-9", &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "must be at least 0 and at most 1"));
    assert_int_equal(gbs_question_set(question, &options, "l2", "0", &err), GBS_ERR_ARGUMENT);
}

static void test_by_name(void **state)
{
    const gbs_question *question = gbs_question_find("learn_rbm");
    gbs_rbm_options options;
    gbs_error err = {GBS_OK, ""};
    (void)state;
    assert_int_equal(gbs_question_init(question, &options, sizeof options, &err), GBS_OK);
    assert_int_equal(options.size, sizeof options);
    assert_int_equal(options.epochs, 100);
    assert_true(options.l2 == 1.0);
    assert_int_equal(gbs_question_set(question, &options, "draw", "herded", &err), GBS_OK);
    assert_int_equal(options.draw, GBS_RBM_HERDED);
    assert_int_equal(gbs_question_set(question, &options, "rate_last", "0.5%", &err), GBS_OK);
    assert_true(options.rate_last == 0.005);
    assert_int_equal(gbs_question_set(question, &options, "memory-limit", "2K", &err), GBS_OK);
    assert_int_equal(options.memory_limit, 2048);
    static const char *const wrong[][3] = {
        {"draw", "cud", "--draw cud: expected random|herded"},
        {"epochs", "0", "--epochs 0: must be from 1 to 2147483647 (N)"},
        {"l1", "-1", "--l1 -1: must be at least 0 and at most 1e+12 (X)"},
        {"splashes", "3", "learn rbm has no option \"splashes\""},
    };
    const gbs_rbm_options before = options;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(gbs_question_set(question, &options, wrong[i][0], wrong[i][1], &err),
                         GBS_ERR_ARGUMENT);
        assert_string_equal(err.message, wrong[i][2]);
    }
    assert_memory_equal(&options, &before, sizeof options);
}

/* Fields of four bytes, in an array, and one of the run; --memory-limit is no field. */
static void test_of_a_lattice(void **state)
{
    const gbs_question *question = gbs_question_find("generate ising");
    gbs_generate_ising_options options;
    gbs_error err = {GBS_OK, ""};
    static const char *const set[][2] = {
        {"rows", "3"}, {"columns", "40k"}, {"torus", "yes"}, {"field", "-2.5"}, {"seed", "0"}};
    (void)state;
    assert_int_equal(gbs_question_init(question, &options, sizeof options, &err), GBS_OK);
    assert_true(options.coupling == 1.0 && options.seed == 1 && options.side[2] == 1);
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
        assert_int_equal(gbs_question_set(question, &options, set[i][0], set[i][1], &err), GBS_OK);
    }
    assert_int_equal(options.side[0], 3);
    assert_int_equal(options.side[1], 40000);
    assert_int_equal(options.side[2], 1);
    assert_int_equal(options.torus, 1);
    assert_true(options.field == -2.5 && options.seed == 0);
    assert_int_equal(gbs_question_set(question, &options, "rows", "5G", &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--rows 5000000000: must be from 1 to 4294967295 (R)");
    assert_null(gbs_question_find_option(question, "memory-limit"));
}

/* Text is borrowed, of any length, and "" is unset. */
static void test_text(void **state)
{
    const gbs_question *question = gbs_question_find("ground");
    static const char names[] =
        "Smokes,Cancer,Friends,Asthma,Smokes2,Cancer2,Friends2,Asthma2,Last";
    gbs_ground_options options;
    gbs_error err = {GBS_OK, ""};
    char text[sizeof names] = "";
    (void)state;
    assert_int_equal(gbs_question_init(question, &options, sizeof options, &err), GBS_OK);
    assert_null(options.query_predicates);
    assert_int_equal(gbs_question_find_option(question, "similarity")->kind, GBS_OPTION_KIND_TEXT);
    assert_int_equal(gbs_question_set(question, &options, "query_predicates", names, &err), GBS_OK);
    assert_ptr_equal(options.query_predicates, names);
    assert_int_equal(
        gbs_question_get(question, &options, "query-predicates", text, sizeof text - 1, &err),
        GBS_ERR_ARGUMENT);
    assert_int_equal(
        gbs_question_get(question, &options, "query-predicates", text, sizeof text, &err), GBS_OK);
    assert_string_equal(text, names);
    assert_int_equal(gbs_question_set(question, &options, "query-predicates", "", &err), GBS_OK);
    assert_null(options.query_predicates);
    assert_int_equal(gbs_question_get(question, &options, "query-predicates", text, 1, &err),
                     GBS_OK);
    assert_string_equal(text, "");
}

/* A choice without a number 0: there 0 is the default. Options of the run are no fields here. */
static void test_of_pictures(void **state)
{
    gbs_denoise_options given = {.size = sizeof given, .noise_level = 0.1, .coupling = 1.0};
    gbs_denoise_options taken;
    gbs_error err = {GBS_OK, ""};
    (void)state;
    assert_int_equal(gbsi_question_settle("denoise", &given, &taken, &err), GBS_OK);
    assert_true(taken.neighbours == 4 && taken.levels == 2 && taken.truncation == 0.0);
    given.neighbours = 6;
    assert_int_equal(gbsi_question_settle("denoise", &given, &taken, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--neighbours: found 6, which is not the number of a choice");
    given.neighbours = 8;
    given.coupling = 101.0;
    assert_int_equal(gbsi_question_settle("denoise", &given, &taken, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--coupling 101: must be at least 0 and at most 100 (J)");
    assert_null(gbs_question_find_option(gbs_question_find("denoise"), "chains"));
    assert_non_null(gbs_question_find_option(gbs_question_find("segment"), "threads"));
    assert_null(gbs_question_find_option(gbs_question_find("segment"), "chains"));
}

/* 0 stands for the default unless 0 is a legal value. The message names the wrong option. */
static void test_settled(void **state)
{
    gbs_rbm_options given = {.size = sizeof given, .hidden = 3};
    gbs_rbm_options taken;
    gbs_error err = {GBS_OK, ""};
    (void)state;
    assert_int_equal(gbsi_question_settle("learn rbm", &given, &taken, &err), GBS_OK);
    assert_int_equal(taken.epochs, 100);
    assert_int_equal(taken.batch, 64);
    assert_int_equal(taken.patience, 0);
    assert_true(taken.l2 == 0.0 && taken.rate == 0.05 && taken.rate_last == 0.0);
    given.method = 7;
    assert_int_equal(gbsi_question_settle("learn rbm", &given, &taken, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--method: found 7, which is not the number of a choice");
    given = (gbs_rbm_options){.size = sizeof given, .hidden = 3, .batch = UINT64_MAX};
    assert_int_equal(gbsi_question_settle("learn rbm", &given, &taken, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--batch 18446744073709551615: must be from 1 to 1048576 (N)");
    assert_int_equal(gbsi_question_settle("learn rbm", NULL, &taken, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--hidden 0: must be from 1 to 65536 (N)");
}

/* An option that differs from its default is refused if its conditions on other options do not
 * hold. */
static void test_needs(void **state)
{
    static const struct {
        gbs_learn_options given;
        const char *said; /* "": accepted */
    } cases[] = {
        {{.l1 = 2.0, .seed = 9, .threads = 2}, ""},
        {{.objective = GBS_LEARN_SAMPLED, .chains = 7, .sweeps = 2}, ""},
        {{.chains = 100, .steps = 1000, .sweeps = 1, .accuracy = 0.01}, ""}, /* the defaults */
        {{.objective = GBS_LEARN_SAMPLED, .scan = GBS_LEARN_SCAN_OPTIMISED, .accuracy = 0.2}, ""},
        {{.probes = 5, .objective = GBS_LEARN_LIKELIHOOD}, ""}, /* intervals is no field */
        {{.chains = 7}, "--chains applies with --objective sampled only"},
        {{.method = GBS_LEARN_RESTARTED}, "--method applies with --objective sampled only"},
        {{.objective = GBS_LEARN_SAMPLED, .l1 = 2.0},
         "--l1 applies with --objective pseudo|likelihood only"},
        {{.objective = GBS_LEARN_SAMPLED, .accuracy = 0.2},
         "--accuracy applies with --scan optimised only"},
        {{.accuracy = 0.2}, "--accuracy applies with --objective sampled only"},
        {{.probes = 5, .l1 = 2.0}, "--probes applies with --l1 0 only"},
        {{.probes = 5, .objective = GBS_LEARN_SAMPLED},
         "--probes applies with --objective pseudo|likelihood only"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_learn_options taken;
        gbs_error err = {GBS_OK, ""};
        assert_int_equal(gbsi_question_settle("learn weights", &cases[i].given, &taken, &err),
                         cases[i].said[0] == '\0' ? GBS_OK : GBS_ERR_ARGUMENT);
        assert_string_equal(err.message, cases[i].said);
    }
}

/* Options that the program takes in another form, --patch, have names of their own. */
static void test_named_apart(void **state)
{
    const gbs_question *question = gbs_question_find("learn aspects");
    gbs_aspect_options options = {.size = sizeof options, .step = 2000};
    gbs_aspect_options taken;
    gbs_error err = {GBS_OK, ""};
    (void)state;
    assert_null(gbs_question_find_option(question, "patch"));
    assert_int_equal(gbsi_question_settle("learn aspects", &options, &taken, &err),
                     GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--step 2000: must be from 1 to 1024 (pixels)");
    assert_int_equal(gbs_question_set(question, &options, "step", "unset", NULL), GBS_OK);
    assert_int_equal(gbs_question_set(question, &options, "side", "30", NULL), GBS_OK);
    assert_int_equal(gbsi_question_settle("learn aspects", &options, &taken, &err), GBS_OK);
    assert_true(taken.side == 30 && taken.step == 0 && taken.texture_words == 200);
}

/* A field of the width of an enum takes a choice, and the field after it stays. */
static void test_enum_of_four_bytes(void **state)
{
    const gbs_question *question = gbs_question_find("learn crf");
    gbs_crf_learn_options options;
    gbs_crf_learn_options taken;
    gbs_error err = {GBS_OK, ""};
    (void)state;
    assert_int_equal(gbs_question_init(question, &options, sizeof options, NULL), GBS_OK);
    options.memory_limit = options.steps = UINT64_MAX;
    assert_int_equal(gbs_question_set(question, &options, "objective", "likelihood", NULL), GBS_OK);
    assert_int_equal(options.objective, GBS_CRF_CONTRAST);
    assert_true(options.memory_limit == UINT64_MAX && options.steps == UINT64_MAX);
    options = (gbs_crf_learn_options){.size = sizeof options, .objective = GBS_CRF_PSEUDO};
    options.steps = 3;
    assert_int_equal(gbsi_question_settle("learn crf", &options, &taken, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--steps applies with --objective auto|likelihood only");
    options.objective = (gbs_crf_objective)3;
    assert_int_equal(gbsi_question_settle("learn crf", &options, &taken, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--objective: found 3, which is not the number of a choice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_a_tolerance_of_zero),
        cmocka_unit_test(test_settled),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_named_apart),
        cmocka_unit_test(test_enum_of_four_bytes),
        cmocka_unit_test(test_of_a_lattice),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_of_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
