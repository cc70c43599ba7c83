/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/test_models.h"

/* Four variables of 2, 3, 4 and 5 states. */
static gbs_model *model_of_four(void)
{
    return read_model("m.uai", "MARKOV 4 2 3 4 5 0", NULL);
}

/* @param found [4] the states observed, -1: none. */
static gbs_status read_evidence(const char *content, uint32_t index,
                                const gbs_read_options *options, int *found, gbs_error *err)
{
    gbs_model *m = model_of_four();
    gbs_evidence *evidence = NULL;
    assert_int_equal(gbs_evidence_new(m, &evidence, err), GBS_OK);
    gbs_status status =
        gbs_evidence_read(evidence, scratch_file("e.evid", content), index, options, err);
    for (uint32_t v = 0; v < 4; v++) {
        uint32_t s = 0;
        found[v] = gbs_evidence_state(evidence, v, &s) != 0 ? (int)s : -1;
    }
    gbs_evidence_free(evidence);
    gbs_model_free(m);
    return status;
}

static void expect_evidence(const char *content, uint32_t index, const gbs_read_options *options,
                            int a, int b, int c, int d)
{
    gbs_error err = {0};
    int found[4];
    if (read_evidence(content, index, options, found, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    if (found[0] != a || found[1] != b || found[2] != c || found[3] != d) {
        fail_msg("%s: %d %d %d %d", content, found[0], found[1], found[2], found[3]);
    }
}

static void refuse_evidence(const char *content, uint32_t index, const gbs_read_options *options,
                            gbs_status status, const char *part)
{
    gbs_error err = {0};
    int found[4];
    gbs_status got = read_evidence(content, index, options, found, &err);
    if (got != status || strstr(err.message, part) == NULL) {
        fail_msg("%s: status %d, \"%s\"; expected %d, \"%s\"", content, got, err.message, status,
                 part);
    }
    for (int v = 0; v < 4; v++) {
        assert_int_equal(found[v], -1);
    }
}

static void both_generations(void **state)
{
    (void)state;
    expect_evidence("2 1 0 2 1", 0, NULL, -1, 0, 1, -1);
    expect_evidence("1\r\n2 1 0 2 1", 0, NULL, -1, 0, 1, -1);
    expect_evidence("1\n2\n1\n0\n2\n1\n", 0, NULL, -1, 0, 1, -1);
    expect_evidence("0", 0, NULL, -1, -1, -1, -1);
    expect_evidence("1 0", 0, NULL, -1, -1, -1, -1);
    expect_evidence("2 1 0 1 1 3 4", 0, NULL, 1, -1, -1, -1);
    expect_evidence("2 1 0 1 1 3 4", 1, NULL, -1, -1, -1, 4);
    expect_evidence("1 0 1", 0, NULL, 1, -1, -1, -1);
    /* Both fit by count: 2 pairs, or samples of no and of one pair. What repeats a variable with
     * another state, or names none of the model's, is not meant. */
    expect_evidence("2 0 1 0 0", 1, NULL, 0, -1, -1, -1);
    expect_evidence("2 1 0 1 0", 0, NULL, 1, -1, -1, -1);
    refuse_evidence("2 0 1 3 9", 0, NULL, GBS_ERR_FORMAT, "state 9 of variable 3, which has 5");
}

static void ambiguous(void **state)
{
    (void)state;
    gbs_read_options single = {.evidence_format = "single"};
    gbs_read_options multi = {.evidence_format = "multi"};
    refuse_evidence("2 0 1 3 0", 0, NULL, GBS_ERR_FORMAT, "--evidence-format");
    expect_evidence("2 0 1 3 0", 0, &single, 1, -1, -1, 0);
    expect_evidence("2 0 1 3 0", 1, &multi, -1, -1, -1, 0);
    expect_evidence("2 0 1 3 0", 0, &multi, -1, -1, -1, -1);
    refuse_evidence("2 1 0 2 1", 0, &multi, GBS_ERR_FORMAT,
                    "expected evidence of the form 'multi'");
    refuse_evidence("1 1 0 0", 0, &single, GBS_ERR_FORMAT,
                    "expected evidence of the form 'single'");
    refuse_evidence("0", 0, &(gbs_read_options){.evidence_format = "x"}, GBS_ERR_ARGUMENT, "'x'");
}

static void repetitions(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.warn = take_warning, .context = &warned};
    expect_evidence("3 1 2 0 1 1 2", 0, &options, 1, 2, -1, -1);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "1 observations are repeated"));
    refuse_evidence("3 1 2 0 1 1 1", 0, NULL, GBS_ERR_FORMAT, "variable 1 observed twice");
    expect_evidence(" \n\t", 0, &options, -1, -1, -1, -1);
    assert_int_equal(warned.n, 2);
    expect_evidence("", 0, &options, -1, -1, -1, -1);
    assert_int_equal(warned.n, 3);
}

static void refusals(void **state)
{
    (void)state;
    refuse_evidence("1 4 0", 0, NULL, GBS_ERR_FORMAT, "e.evid:1:3: found neither");
    refuse_evidence("1\n0 2", 0, NULL, GBS_ERR_FORMAT, "e.evid:2:3: found neither");
    refuse_evidence("2 1 0", 0, NULL, GBS_ERR_FORMAT,
                    "e.evid:1:1: found neither evidence of one "
                    "sample (2 pairs announced, 2 numbers follow) nor");
    refuse_evidence("1 0 x", 0, NULL, GBS_ERR_FORMAT, "e.evid:1:5: found 'x'");
    refuse_evidence("1 0 -1", 0, NULL, GBS_ERR_FORMAT, "found '-1'");
    refuse_evidence("18446744073709551615 0 1", 0, NULL, GBS_ERR_FORMAT, "found neither");
    refuse_evidence("1 18446744073709551615 1", 0, NULL, GBS_ERR_FORMAT, "found neither");
    refuse_evidence("18446744073709551616", 0, NULL, GBS_ERR_FORMAT, "at most");
    refuse_evidence("1 0 1", 1, NULL, GBS_ERR_ARGUMENT, "sample 1 is asked for, the file has 1");
    refuse_evidence("2 1 0 1 1 3 4", 2, NULL, GBS_ERR_ARGUMENT, "the file has 2");
    refuse_evidence("0", 1, NULL, GBS_ERR_ARGUMENT, "sample 1");
    refuse_evidence("", 1, NULL, GBS_ERR_ARGUMENT, "sample 1");
}

/* What was observed before stays, and a contradiction changes nothing. */
static void on_top(void **state)
{
    (void)state;
    gbs_error err;
    gbs_evidence *evidence = NULL;
    gbs_model *m = model_of_four();
    assert_int_equal(gbs_evidence_new(m, &evidence, &err), GBS_OK);
    assert_int_equal(gbs_evidence_observe(evidence, 3, 2, &err), GBS_OK);
    assert_int_equal(gbs_evidence_read(evidence, scratch_file("t", "2 0 1 3 3"), 0,
                                       &(gbs_read_options){.evidence_format = "single"}, &err),
                     GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "t:1:7: found variable 3 observed in state 3, but"));
    assert_int_equal(gbs_evidence_n_observed(evidence), 1);
    assert_int_equal(gbs_evidence_read(evidence, scratch_file("t", "2 1 1 3 2"), 0, NULL, &err),
                     GBS_OK);
    assert_int_equal(gbs_evidence_n_observed(evidence), 2);
    gbs_evidence_free(evidence);
    gbs_model_free(m);
}

static void virtual_evidence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part; /* NULL: fine */
    } cases[] = {
        {"1\n0 2 0.5 3\n", NULL},
        {"2 0 2 1 0 1 3 1 2 3e-1", NULL},
        {"0", NULL},
        {"", "v:1:1: found the end of the file"},
        {"1 4 2 1 1", "v:1:3: found variable '4', expected less than 4"},
        {"1 0 3 1 1 1", "v:1:5: found 3 likelihoods of variable 0, expected one per state: 2"},
        {"1 0 2 0 0", "v:1:3: found likelihoods that are all zero"},
        {"1 0 2 1 -1", "v:1:9: found '-1'"},
        {"1 0 2 1 inf", "found 'inf'"},
        {"1 0 2 1 nan", "found 'nan'"},
        {"1 0 2 1 1 1", "expected the end of the file"},
        {"9 0 2 1 1", "cannot hold more than"},
    };
    gbs_model *m = model_of_four();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        gbs_evidence *evidence = NULL;
        assert_int_equal(gbs_evidence_new(m, &evidence, &err), GBS_OK);
        gbs_status status =
            gbs_evidence_read_virtual(evidence, scratch_file("v", cases[i].text), NULL, &err);
        assert_int_equal(status, cases[i].part == NULL ? GBS_OK : GBS_ERR_FORMAT);
        if (cases[i].part != NULL && strstr(err.message, cases[i].part) == NULL) {
            fail_msg("\"%s\", expected \"%s\"", err.message, cases[i].part);
        }
        gbs_evidence_free(evidence);
    }
    gbs_model_free(m);
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_generations), cmocka_unit_test(ambiguous),
        cmocka_unit_test(repetitions),      cmocka_unit_test(refusals),
        cmocka_unit_test(on_top),           cmocka_unit_test(virtual_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
