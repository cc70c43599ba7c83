/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/answers.h"
#include "text/test_models.h"

/* Makes a model of four variables with 2, 3, 4 and 5 states. */
static gbs_model *model_of_four(void)
{
    return read_model("m.uai", "MARKOV 4 2 3 4 5 0", NULL);
}

/* @param found [4] observed states, -1 for unobserved variables. */
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
    /* Either form fits the count of tokens: 2 pairs, or samples of no pair and of one pair. A
     * reading is excluded if it repeats a variable with another state, or names a variable that
     * the model lacks. */
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
    assert_non_null(strstr(warned.last, "1 observation is repeated"));
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

/* Tests lines as a person types them. */
static void names(void **state)
{
    (void)state;
    const gbs_read_options named = {.evidence_format = "names"};
    const gbs_read_options single = {.evidence_format = "single"};
    expect_evidence("0=1", 0, NULL, 1, -1, -1, -1);
    expect_evidence("# seen = 2\n\n 0 = 1 \r\n\t3=#4,1=2\n", 0, NULL, 1, 2, -1, 4);
    expect_evidence("0=1\n0=1", 0, &named, 1, -1, -1, -1);
    /* sets of states become likelihoods */
    expect_evidence("1!=2\n2=0|1\n0=0", 0, NULL, 0, -1, -1, -1);
    expect_evidence("", 0, &named, -1, -1, -1, -1);
    refuse_evidence("0=1\n\n 4=0\n", 0, NULL, GBS_ERR_FORMAT,
                    "e.evid:3:2: variable 4: the model has 4 variables");
    refuse_evidence("0=1\n1=3\n", 0, NULL, GBS_ERR_FORMAT, "e.evid:2:1: ");
    refuse_evidence("0=1\n0=0\n", 0, NULL, GBS_ERR_FORMAT,
                    "e.evid:2:1: variable 0 is observed in state 1 and in state 0");
    refuse_evidence("0=1\n1\n", 0, NULL, GBS_ERR_FORMAT, "expected NAME=STATE, found '1'");
    refuse_evidence("0=1\n1=0|1\n1=2\n", 1, NULL, GBS_ERR_ARGUMENT, "the file has 1");
    refuse_evidence("0=1", 0, &single, GBS_ERR_FORMAT, "found '0=1', expected a number");
    refuse_evidence("1 0 1", 0, &named, GBS_ERR_FORMAT, "expected NAME=STATE");
    refuse_evidence("1=0\n1=1|2\n1!=1\n1!=2", 0, NULL, GBS_ERR_IMPOSSIBLE, "variable 1 leave it");
    refuse_evidence("\x1b[2J=1", 0, NULL, GBS_ERR_FORMAT,
                    "'\\x1b[2J=1', expected NAME=STATE in UTF-8");
    refuse_evidence("0=1\nStra\xdf"
                    "e=1",
                    0, NULL, GBS_ERR_FORMAT,
                    ":2:1: there is no variable \"Stra\xc3\x9f"
                    "e\"");
    expect_evidence("# one\n1#of\n0 1 # them\n#", 0, NULL, 1, -1, -1, -1);
}

/* Earlier observations stay, and a contradiction changes nothing. */
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
    assert_int_equal(
        gbs_evidence_read(evidence, scratch_file("t", "0=1\n2=3|1\n3=1"), 0, NULL, &err),
        GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "t:3:1: variable 3 is observed in state 2 and in state 1"));
    assert_int_equal(gbs_evidence_n_observed(evidence), 2);
    assert_int_equal(gbs_evidence_read(evidence, scratch_file("t", "0=1\n3=2"), 0, NULL, &err),
                     GBS_OK);
    assert_int_equal(gbs_evidence_n_observed(evidence), 3);
    gbs_evidence_free(evidence);
    gbs_model_free(m);
}

static void virtual_evidence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part; /* NULL is allowed */
    } cases[] = {
        {"1\n0 2 0.5 3\n", NULL},
        {"2 0 2 1 0 1 3 1 2 3e-1", NULL},
        {"# two states\n1#of\n0 2 0.5 # yes\n3", NULL},
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

/* A set is read once, and every sample can be observed by itself. */
static void sets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {{"", 1},    {"0", 1},         {"2 1 0 2 1", 1}, {"1 0 1", 1},
                 {"1 0", 1}, {"2 0 1 0 0", 2}, {"3 0 0 0", 3},   {"3 1 0 1 0 2 3 4 1 2", 3}};
    gbs_model *m = model_of_four();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        size_t n = 0;
        if (gbs_evidence_count(m, scratch_file("s.evid", cases[i].text), NULL, &n, &err) !=
            GBS_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(n, cases[i].n);
    }
    gbs_error err = {0};
    gbsi_evidence_set *set = NULL;
    const char *path = scratch_file("s.evid", "3 1 0 1\n0\n2 3 4 1 2");
    assert_int_equal(gbsi_evidence_set_read(m, path, NULL, &set, &err), GBS_OK);
    (void)remove(path);
    assert_int_equal(gbsi_evidence_set_size(set), 3);
    static const uint32_t n_observed[] = {1, 0, 2};
    for (size_t k = 0; k < 3; k++) {
        gbs_evidence *evidence = NULL;
        assert_int_equal(gbs_evidence_new(m, &evidence, &err), GBS_OK);
        assert_int_equal(gbsi_evidence_set_observe(set, k, evidence, &err), GBS_OK);
        assert_int_equal(gbs_evidence_n_observed(evidence), n_observed[k]);
        assert_int_equal(gbsi_evidence_set_observe(set, 3, evidence, &err), GBS_ERR_ARGUMENT);
        assert_int_equal(gbs_evidence_n_observed(evidence), n_observed[k]);
        gbs_evidence_free(evidence);
    }
    gbs_model *other = model_of_four();
    gbs_evidence *evidence = NULL;
    assert_int_equal(gbs_evidence_new(other, &evidence, &err), GBS_OK);
    assert_int_equal(gbsi_evidence_set_observe(set, 0, evidence, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "read for another model"));
    gbs_evidence_free(evidence);
    gbsi_evidence_set_free(set);
    gbsi_evidence_set_free(NULL);
    gbs_model_free(other);
    gbs_model_free(m);
}

/* @param found [4] states observed in sample k of the data, -1 for unobserved variables. */
static gbs_status read_tab(const gbs_model *m, const char *content, size_t k, int *found,
                           gbs_error *err)
{
    gbs_evidence *evidence = NULL;
    assert_int_equal(gbs_evidence_new(m, &evidence, err), GBS_OK);
    gbs_status status =
        gbs_evidence_read(evidence, scratch_file("d.tab", content), (uint32_t)k, NULL, err);
    for (uint32_t v = 0; v < 4; v++) {
        uint32_t s = 0;
        bool exists = v < gbs_model_n_variables(m);
        found[v] = exists && gbs_evidence_state(evidence, v, &s) != 0 ? (int)s : -1;
    }
    gbs_evidence_free(evidence);
    return status;
}

static void tab_data(void **state)
{
    (void)state;
    static const char text[] = "2\t0\t3\n\n1\t0\t4\n\t1\t\n3\t\t\n\t\t\n\t\t0";
    static const int expected[][4] = {
        {0, -1, 1, 4}, {1, -1, -1, -1}, {-1, -1, 3, -1}, {-1, -1, -1, -1}, {-1, -1, -1, 0}};
    gbs_model *m = model_of_four();
    gbs_error err = {0};
    int found[4];
    size_t n = 0;
    char crlf[sizeof text * 2] = "";
    for (size_t i = 0, j = 0; text[i] != 0; i++) {
        if (text[i] == '\n') {
            crlf[j++] = '\r';
        }
        crlf[j++] = text[i];
    }
    for (int i = 0; i < 2; i++) {
        const char *content = i == 0 ? text : crlf;
        assert_int_equal(gbs_evidence_count(m, scratch_file("d.TAB", content), NULL, &n, &err),
                         GBS_OK);
        assert_int_equal(n, 5);
        for (size_t k = 0; k < 5; k++) {
            if (read_tab(m, content, k, found, &err) != GBS_OK) {
                fail_msg("%s", err.message);
            }
            assert_memory_equal(found, expected[k], sizeof found);
        }
    }
    /* with one column an empty line is a sample; without columns every line is a sample */
    assert_int_equal(gbs_evidence_count(m, scratch_file("d.tab", "1\n\n2\n\n0\n"), NULL, &n, &err),
                     GBS_OK);
    assert_int_equal(n, 3);
    assert_int_equal(gbs_evidence_count(m, scratch_file("d.tab", "\n\n\n\n"), NULL, &n, &err),
                     GBS_OK);
    assert_int_equal(n, 2);
    /* the file name extension or the option names the form; the option has priority */
    gbs_read_options as = {.evidence_format = "tab"};
    assert_int_equal(gbs_evidence_count(m, scratch_file("d.txt", "1\n\n2"), &as, &n, &err), GBS_OK);
    assert_int_equal(n, 1);
    as.evidence_format = "single";
    assert_int_equal(gbs_evidence_count(m, scratch_file("d.tab", "1\n0 1"), &as, &n, &err), GBS_OK);
    gbs_model_free(m);
}

/* A label is first taken for a name. A number that is not a name is the number of a variable,
 * unless some variable has a number as its name. */
static void tab_labels(void **state)
{
    (void)state;
    gbs_error err = {0};
    int found[4];
    gbs_model *m = read_model("m.alchemy", "variables:\nsky\t3\nwet grass\n0x\nfactors:\n", NULL);
    assert_int_equal(read_tab(m, "wet grass\t0\t0x\n\n1\t2\t0\n", 0, found, &err), GBS_OK);
    assert_true(found[0] == 2 && found[1] == 1 && found[2] == 0);
    gbs_model_free(m);
    m = read_model("m.fg", "1 2 5 2 2 3 0", NULL); /* the variables are named 2 and 5 */
    assert_int_equal(read_tab(m, "5\t2\n\n1\t2\n", 0, found, &err), GBS_OK);
    assert_true(found[0] == 2 && found[1] == 1);
    assert_int_equal(read_tab(m, "0\t2\n\n1\t2\n", 0, found, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "d.tab:1:1: found '0', expected a variable of the model"));
    gbs_model_free(m);
}

static void tab_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"", "d.tab:1:1: found the end of the file, expected a line of labels"},
        {"0", "d.tab:1:2: found the end of the file, expected an empty line after the labels"},
        {"0\n", "d.tab:2:1: found the end of the file, expected an empty line after the labels"},
        {"0\n1\n", "d.tab:2:1: found '1', expected an empty line after the labels"},
        {"0\n \n1\n", "d.tab:2:1: found ' ', expected an empty line"},
        {"0\n\n", "d.tab:3:1: found the end of the file, expected a sample"},
        {"0\t\t1\n\n", "d.tab:1:3: found an empty label of column 1"},
        {"0\t\n\n", "d.tab:1:3: found an empty label of column 1"},
        {"0\t4\n\n", "d.tab:1:3: found '4', expected a variable of the model, by its name"},
        {"0\t+1\n\n", "found '+1', expected a variable"},
        {"0\t 1\n\n", "d.tab:1:3: found ' 1', expected a variable"},
        {"0\t1\t0\n\n", "d.tab:1:5: found variable '0' in columns 0 and 2 (from 0)"},
        {"0\t1\n\n0\t3\n", "d.tab:3:3: found '3' in column 1 (from 0), expected a state less"},
        {"0\t1\n\n0\t-1\n", "found '-1' in column 1"},
        {"0\t1\n\n0\t1 \n", "found '1 ' in column 1"},
        {"0\t1\n\n0\tx\n", "found 'x' in column 1"},
        {"0\t1\n\n0\t9223372036854775808\n", "found '9223372036854775808' in column 1"},
        {"0\t1\n\n0\n", "d.tab:3:2: found the end of the line after 1 field, expected 2"},
        {"0\t1\n\n0\t0\n\n", "d.tab:4:1: found the end of the line after 1 field, expected 2"},
        {"0\t1\n\n0\t0\t\n", "d.tab:3:5: found more than 2 fields, expected one per label"},
        {"\n\n0\n", "d.tab:3:1: found more than 0 fields"},
    };
    gbs_model *m = model_of_four();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        int found[4];
        gbs_status status = read_tab(m, cases[i].text, 0, found, &err);
        if (status != GBS_ERR_FORMAT || strstr(err.message, cases[i].part) == NULL) {
            fail_msg("status %d, \"%s\"; expected \"%s\"", status, err.message, cases[i].part);
        }
        for (int v = 0; v < 4; v++) {
            assert_int_equal(found[v], -1);
        }
    }
    /* the text is cut at every byte: reading must not crash, and every failure must name a place */
    static const char text[] = "2\t0\n\n1\t0\n\t1\n";
    for (size_t cut = 0; cut < strlen(text); cut++) {
        char part[sizeof text] = "";
        gbs_error err = {0};
        int found[4];
        memcpy(part, text, cut);
        gbs_status status = read_tab(m, part, 0, found, &err);
        assert_true(status == GBS_OK || status == GBS_ERR_FORMAT);
        assert_true((status == GBS_OK) == (cut >= strlen("2\t0\n\n1\t")));
        assert_true(status == GBS_OK || strstr(err.message, "d.tab:") != NULL);
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
        cmocka_unit_test(both_generations),
        cmocka_unit_test(ambiguous),
        cmocka_unit_test(repetitions),
        cmocka_unit_test(refusals),
        cmocka_unit_test(names),
        cmocka_unit_test(on_top),
        cmocka_unit_test(virtual_evidence),
        cmocka_unit_test(sets),
        cmocka_unit_test(tab_data),
        cmocka_unit_test(tab_labels),
        cmocka_unit_test(tab_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
