/* SPDX-License-Identifier: Apache-2.0 */
/* Tests UAI results of every task, and query files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/answers.h"
#include "base/memory.h"
#include "base/test_row.h"
#include "text/output.h"
#include "text/test_models.h"

typedef struct refused {
    const char *text;
    const char *part;
} refused;

static gbs_status read_text(const char *text, gbs_log_base base, const gbs_read_options *options,
                            gbs_result *result, gbs_error *err)
{
    return gbs_result_read(scratch_file("r", text), base, options, result, err);
}

static gbs_result read_well(const char *text, const gbs_read_options *options)
{
    gbs_result r = {0};
    gbs_error err = {0};
    if (read_text(text, GBS_LOG_BASE_10, options, &r, &err) != GBS_OK) {
        fail_msg("\"%s\": %s", text, err.message);
    }
    return r;
}

static void refuse(const refused *cases, size_t n, const gbs_read_options *options)
{
    for (size_t i = 0; i < n; i++) {
        test_row("%s", cases[i].text);
        gbs_result r = {.n = 77};
        gbs_error err = {0};
        gbs_status status = read_text(cases[i].text, GBS_LOG_BASE_10, options, &r, &err);
        if (status != GBS_ERR_FORMAT || strstr(err.message, cases[i].part) == NULL) {
            fail_msg("\"%s\": %d, \"%s\", expected \"%s\"", cases[i].text, status, err.message,
                     cases[i].part);
        }
        assert_true(r.n == 77 && r.state == NULL && r.variable == NULL);
    }
    test_no_row();
}

static void pr(void **state)
{
    (void)state;
    static const char *const same[] = {
        "PR\n-3.5",
        "pr\r\n-3.5\r\n",
        "PR -BEGIN- -3.5",
        "PR\n-2\n-BEGIN-\n-3\n-BEGIN-\n-3.5\n",
        "Pr -1 junk -2 -BEGIN- Pr -35e-1",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        test_row("%s", same[i]);
        gbs_result r = read_well(same[i], NULL);
        assert_int_equal(r.task, GBS_TASK_PR);
        assert_true(r.log10_z == -3.5);
        gbs_result_free(&r);
    }
    test_no_row();
    gbs_result r = {0};
    gbs_error err = {0};
    assert_int_equal(read_text("PR 2.302585092994046", GBS_LOG_BASE_E, NULL, &r, &err), GBS_OK);
    expect_near(r.log10_z, 1.0);
    assert_int_equal(read_text("PR -inf", GBS_LOG_BASE_E, NULL, &r, &err), GBS_OK);
    assert_true(r.log10_z == -INFINITY);
    static const refused cases[] = {
        {"", ":1:1: found the end of the file, expected PR, MAR, MAP, MPE or MMAP"},
        {"MMPE 1", ":1:1: found 'MMPE'"},
        {"PR", ":1:3: found the end of the file, expected the logarithm of Z"},
        {"PR x", ":1:4: found 'x'"},
        {"PR nan", "found 'nan', expected the logarithm of Z: a number or -inf"},
        {"PR inf", "found 'inf'"},
        {"PR 1e999", "beyond the largest double"},
        {"PR 1 2 3", ":1:6: found '2', expected the end of the file"},
        {"PR 3 2", ":1:6: found '2'"},
        {"PR\n1\n-3.5", ":2:1: found a number of evidence samples, expected the logarithm of Z "
                        "alone (--lenient skips it)"},
        {"PR 1 -BEGIN-", "found the end of the file"},
    };
    refuse(cases, sizeof cases / sizeof cases[0], NULL);
}

/* Tests marginals in the forms that the program writes. */
static void our_marginals(void **state)
{
    (void)state;
    static const char *const same[] = {
        "variable,state,probability,mcse,ess,rhat\na,no,0.25,0,,\na,yes,0.75,0,,\n\"b \"\"x\"\", "
        "y\",0,1,0,,\n",
        "variable,state,probability\r\na,no,0.25\r\na,yes,0.75\r\n\"b \"\"x\"\", y\",0,1",
        "{\"schema\": \"marginals/2\", \"model\": {\"x\": [1, \"]\"]}, \"variables\": [{\"id\": 0, "
        "\"name\": \"a\", "
        "\"states\": [\"no\", \"yes\"], \"probability\": [0.25, 0.75], \"ess\": [null, null]},\n"
        "{\"name\": \"b \\\"x\\\", y\", \"probability\": [1]}]}",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        test_row("%s", same[i]);
        gbs_result r = read_well(same[i], NULL);
        assert_int_equal(r.task, GBS_TASK_MAR);
        assert_int_equal(r.marginals.n_variables, 2);
        assert_true(r.marginals.offset[1] == 2 && r.marginals.offset[2] == 3);
        assert_true(r.marginals.p[0] == 0.25 && r.marginals.p[1] == 0.75 &&
                    r.marginals.p[2] == 1.0);
        assert_string_equal(r.name[0], "a");
        assert_string_equal(r.name[1], "b \"x\", y");
        gbs_result_free(&r);
    }
}

/* Tests marginals whose variables have other names. A result without names fits any names. */
static void names_of_variables(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_result ab = read_well("variable,state,probability\na,0,0.5\na,1,0.5\nb,0,1\n", NULL);
    gbs_result ac = read_well("variable,state,probability\na,0,0.5\na,1,0.5\nc,0,1\n", NULL);
    gbs_result one = read_well("variable,state,probability\na,0,0.5\na,1,0.5\n", NULL);
    gbs_result unnamed = read_well("MAR\n2 2 0.5 0.5 1 1\n", NULL);
    gbs_result twice = read_well("variable,state,probability\na,0,1\nb,0,1\na,0,1\n", NULL);
    uint32_t left_out[2];
    assert_int_equal(gbs_results_match(&ab, &twice, left_out, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message,
                        "the second result: found variable a again, expected each once");
    assert_int_equal(gbs_results_match(&twice, &ab, left_out, &err), GBS_ERR_FORMAT);
    gbs_result_free(&twice);
    assert_int_equal(gbs_result_check_names(&ab, &ab, &err), GBS_OK);
    assert_int_equal(gbs_result_check_names(&ab, &ac, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "variable 1 is called b and c");
    assert_int_equal(gbs_result_check_names(&ac, &one, &err), GBS_OK);
    assert_int_equal(gbs_result_check_names(&unnamed, &ab, &err), GBS_OK);
    gbs_result_free(&ab);
    gbs_result_free(&ac);
    gbs_result_free(&one);
    gbs_result_free(&unnamed);
}

/* Tests marginals with labels of states: in another order, with other labels, with numbers. */
static void labels_of_marginals(void **state)
{
    (void)state;
    gbs_error err = {0};
    uint32_t left_out[2];
    static const struct {
        const char *text, *message; /* NULL if the results match */
    } cases[] = {
        {"variable,state,probability,mcse\na,no,0.25,0.01\na,yes,0.75,0.02\n", NULL},
        {"variable,state,probability,mcse\na,yes,0.75,0.02\na,no,0.25,0.01\n", NULL},
        {"{\"variables\": [{\"name\": \"a\", \"probability\": [0.75, 0.25], \"mcse\": [0.02, "
         "0.01], "
         "\"states\": [\"yes\", \"no\"]}]}",
         NULL},
        {"MAR 1 2 0.25 0.75", NULL},
        {"variable,state,probability\na,yes,0.75\na,never,0.25\n",
         "variable a: state never is only in the second result"},
        {"variable,state,probability\na,0,0.75\na,1,0.25\n",
         "variable a: the second result has numbers of states, the other labels such as no: their "
         "model is needed to compare them (--model)"},
        {"{\"variables\": [{\"name\": \"a\", \"probability\": [0.25, 0.75]}]}",
         "variable a: the second result has numbers of states, the other labels such as no: their "
         "model is needed to compare them (--model)"},
        {"variable,state,probability\na,no,0.75\na,no,0.25\n",
         "variable a: found state no again, expected each once"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_row("%s", cases[i].text);
        gbs_result a = read_well(cases[0].text, NULL);
        gbs_result b = read_well(cases[i].text, NULL);
        const gbs_status status = gbs_results_match(&a, &b, left_out, &err);
        assert_int_equal(status < 0, cases[i].message != NULL);
        if (status < 0) {
            assert_string_equal(err.message, cases[i].message);
        } else {
            assert_true(b.marginals.p[0] == 0.25 && b.marginals.p[1] == 0.75);
            assert_true(b.marginals.error == NULL || b.marginals.error[1] == 0.02);
        }
        gbs_result_free(&a);
        gbs_result_free(&b);
    }
    test_no_row();
}

/* Tests results of every form in the terms of one model. */
static void results_of_a_model(void **state)
{
    (void)state;
    gbs_error err = {0};
    static const refused cases[] = {
        {"MAR 2 3 0.2 0.3 0.5 2 0.1 0.9", NULL},
        {"variable,state,probability\nb,1,0.9\nb,0,0.1\na,hi,0.5\na,lo,0.2\na,mid,0.3\n", NULL},
        {"variable,state,probability\n1,no,0.1\n1,yes,0.9\n0,0,0.2\n0,1,0.3\n0,2,0.5\n", NULL},
        {"MAR 1 3 0.2 0.3 0.5", "a result of 1 variable without names, the model has 2"},
        {"MAR 2 2 0.2 0.8 2 0.1 0.9", "variable a has 2 states in the result and 3 in the model"},
        {"variable,state,probability\nc,0,1\n", "no variable \"c\""},
        {"variable,state,probability\nb,no,0.5\nb,0,0.5\n", "found state 0 again"},
        {"variable,state,probability\nb,no,0.5\nb,2,0.5\n", "has no state \"2\""},
        {"variable,state\nb,yes\nb,yes\n", "found variable b again"},
        {"MAP 2 0 2", "variable b has no state 2"},
    };
    gbs_model *m =
        read_model("m.bif",
                   "variable a { type discrete [ 3 ] { lo, mid, hi }; } variable b { type discrete "
                   "[ 2 ] { no, yes }; } probability ( a ) { table 0.2, 0.3, 0.5; } probability ( "
                   "b ) { table 0.1, 0.9; }",
                   NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_row("%s", cases[i].text);
        gbs_result r = read_well(cases[i].text, NULL);
        const gbs_status status = gbs_result_resolve(&r, m, &err);
        assert_int_equal(status < 0, cases[i].part != NULL);
        if (status < 0) {
            assert_non_null(strstr(err.message, cases[i].part));
        } else {
            const double p[5] = {0.2, 0.3, 0.5, 0.1, 0.9};
            assert_memory_equal(r.marginals.p, p, sizeof p);
            assert_string_equal(r.name[1], "b");
            assert_string_equal(r.label[4], "yes");
        }
        gbs_result_free(&r);
    }
    test_no_row();
    gbs_model_free(m);
}

/* Tests states given by label, by number and through a model. */
static void our_states(void **state)
{
    (void)state;
    uint32_t n = 0;
    uint32_t first = 0;
    gbs_error err = {0};
    gbs_result csv = read_well("variable,state\na,no\nb,hi\n", NULL);
    gbs_result other = read_well("variable,state\na,no\nb,lo\n", NULL);
    gbs_result json = read_well("{\"log_density\": -3.5, \"state\": [0, 1]}", NULL);
    gbs_result numbers = read_well("variable,state\na,0\nb,1\n", NULL);
    gbs_result renamed = read_well("variable,state\na,0\nc,1\n", NULL);
    assert_true(csv.n == 2 && csv.state[1] == UINT32_MAX && isnan(csv.log_density));
    assert_true(json.n == 2 && json.state[1] == 1 && json.log_density == -3.5);
    assert_int_equal(gbs_result_count_different(&csv, &other, &n, &first, &err), GBS_OK);
    assert_true(n == 1 && first == 1);
    assert_int_equal(gbs_result_count_different(&json, &numbers, &n, &first, &err), GBS_OK);
    assert_int_equal(n, 0);
    assert_int_equal(gbs_result_count_different(&csv, &json, &n, &first, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "their model is needed"));
    assert_int_equal(gbs_result_count_different(&renamed, &numbers, &n, &first, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "called c and b"));
    gbs_model *m =
        read_model("m.bif",
                   "variable a { type discrete [ 2 ] { no, yes }; } variable b { type discrete [ 2 "
                   "] { lo, hi }; }"
                   "probability ( a ) { table 0.5, 0.5; } probability ( b ) { table 0.5, 0.5; }",
                   NULL);
    assert_int_equal(gbs_result_resolve(&csv, m, &err), GBS_OK);
    assert_int_equal(gbs_result_count_different(&csv, &json, &n, &first, &err), GBS_OK);
    assert_int_equal(n, 0);
    assert_int_equal(gbs_result_resolve(&renamed, m, &err), GBS_ERR_ARGUMENT);
    gbs_model_free(m);
    gbs_result *all[] = {&csv, &other, &json, &numbers, &renamed};
    for (size_t i = 0; i < 5; i++) {
        gbs_result_free(all[i]);
    }
}

static void our_refusals(void **state)
{
    (void)state;
    static const refused cases[] = {
        {"variable,states\n", ":1:10: found 'states', expected state"},
        {"variable,state,odds\n", "found 'odds', expected probability"},
        {"variable,state,probability\na,no\n", "expected a line of 3 fields"},
        {"variable,state,probability\na,no,2\n", "found '2', expected a probability"},
        {"variable,state\n\"a,no\n", "expected a field, in quotes or not"},
        {"variable,state\n\"a\"b,no\n", "expected a field, in quotes or not"},
        {"{}", "expected '\"'"},
        {"{\"a\": 1}", "expected marginals, joint tables, a state or ln Z"},
        {"{\"state\": [x]}", "found 'x', expected the number of a state"},
        {"{\"state\": [0", "expected ']'"},
        {"{\"variables\": [{\"name\": \"a\"}]}", "expected a name and then probabilities"},
        {"{\"variables\": [{\"probability\": [1]}]}", "expected a name and then probabilities"},
        {"{\"x\": [[[1}", "expected"},
    };
    refuse(cases, sizeof cases / sizeof cases[0], NULL);
}

static void map(void **state)
{
    (void)state;
    static const char *const same[] = {
        "MAP\n3 1 0 3",
        "MPE\n3 1 0 3\n",
        "mpe\r\n3\r\n1 0 3",
        "MAP 3 0 0 -BEGIN- 3 1 0 3",
        "MPE -BEGIN- MPE 3 1 0 3",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        test_row("%s", same[i]);
        gbs_result r = read_well(same[i], NULL);
        assert_int_equal(r.task, GBS_TASK_MAP);
        assert_int_equal(r.n, 3);
        assert_null(r.variable);
        assert_true(r.state[0] == 1 && r.state[1] == 0 && r.state[2] == 3);
        gbs_result_free(&r);
        assert_null(r.state);
    }
    test_no_row();
    gbs_result none = read_well("MAP 0", NULL);
    assert_int_equal(none.n, 0);
    gbs_result_free(&none);
    gbs_result_free(NULL);
    static const refused cases[] = {
        {"MAP", ":1:4: found the end of the file, expected the number of variables"},
        {"MAP 2 1", "cannot hold more than 1"},
        {"MAP 9223372036854775808 1", "cannot hold"},
        {"MAP 1 65535", "of at most 65534"},
        {"MAP 1 -1", "found '-1'"},
        {"MAP 2 0 1 1", ":1:11: found '1', expected the end of the file"},
        {"MAP\n1\n3 1 0 3", ":2:1: found a number of evidence samples"},
    };
    refuse(cases, sizeof cases / sizeof cases[0], NULL);
}

static void mmap_results(void **state)
{
    (void)state;
    gbs_result r = read_well("MMAP\n2 7 1 4 0\n", NULL);
    assert_int_equal(r.task, GBS_TASK_MMAP);
    assert_int_equal(r.n, 2);
    assert_true(r.variable[0] == 7 && r.state[0] == 1 && r.variable[1] == 4 && r.state[1] == 0);
    gbs_result_free(&r);
    r = read_well("MMAP 0", NULL);
    assert_int_equal(r.n, 0);
    gbs_result_free(&r);
    static const refused cases[] = {
        {"MMAP 2 7 1 4", "cannot hold more than 1"},
        {"MMAP 2 7 1 4   ", "found the end of the file, expected a state"},
        {"MMAP 2 7 1 7 0", ":1:12: found variable 7 a second time"},
        {"MMAP 3 5 0 7 1 5 0", ":1:16: found variable 5 a second time"},
        {"MMAP 1 4294967296 0", "found '4294967296'"},
        {"MMAP 2 1 0",
         ":1:8: found states without their variables, expected pairs (--lenient takes "
         "the order of the query)"},
        {"MMAP\n1\n1 7 0", ":2:1: found a number of evidence samples"},
        {"MMAP 1 7 0 0", "expected the end of the file"},
    };
    refuse(cases, sizeof cases / sizeof cases[0], NULL);
}

static void lenient(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    gbs_result r = read_well("PR\n1\n-3.5", &options);
    assert_true(r.log10_z == -3.5);
    assert_int_equal(warned.n, 1);
    r = read_well("PR 1", &options); /* the order of the file */
    assert_true(r.log10_z == 1.0);
    assert_int_equal(warned.n, 1);
    r = read_well("MPE\n1\n3 1 0 3", &options);
    assert_true(warned.n == 2 && r.n == 3 && r.state[2] == 3);
    gbs_result_free(&r);
    r = read_well("MAP 1 3", &options);
    assert_true(warned.n == 2 && r.n == 1 && r.state[0] == 3);
    gbs_result_free(&r);
    r = read_well("MMAP\n1\n2 7 1 4 0", &options);
    assert_true(warned.n == 3 && r.n == 2 && r.variable[1] == 4);
    gbs_result_free(&r);
    r = read_well("MMAP 2 1 0", &options);
    assert_true(warned.n == 4 && r.n == 2 && r.variable == NULL && r.state[0] == 1);
    gbs_result_free(&r);
    r = read_well("MMAP\n1\n2 1 0", &options);
    assert_true(warned.n == 6 && r.n == 2 && r.variable == NULL && r.state[0] == 1);
    gbs_result_free(&r);
    r = read_well("MAR\n1\n2 1 1 2 0.5 0.5", &options);
    assert_int_equal(r.task, GBS_TASK_MAR);
    assert_true(warned.n == 7 && r.marginals.n_variables == 2);
    gbs_result_free(&r);
    static const refused cases[] = {
        {"PR 2 -3.5 -4", "found '-3.5'"}, /* a result of two samples */
        {"MMAP 2 1", "cannot hold"},
    };
    refuse(cases, 1, NULL);
    refuse(cases + 1, 1, &options);
}

/* A written result is read back unchanged, in either base and with scaled rows. */
static void written(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "PR\n-3.5\n",
        "PR\n-inf\n",
        "MAR\n2 2 0.25 0.75 3 0.125 0.125 0.75\n",
        "MAR\n0\n",
        "MAP\n3 1 0 3\n",
        "MMAP\n2 7 1 4 0\n",
        "MAP\n0\n",
        "PR\n169.40812345678\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        test_row("%s", texts[i]);
        gbs_result r = read_well(texts[i], NULL);
        gbs_output *output = NULL;
        gbs_error err = {0};
        char *bytes = NULL;
        size_t n = 0;
        assert_int_equal(gbs_output_open_memory(&output, &err), GBS_OK);
        gbsi_output_text(output, gbs_task_word(r.task));
        gbsi_output_text(output, "\n");
        gbsi_result_write_solution(output, &r, GBS_LOG_BASE_10);
        assert_int_equal(gbs_output_take(output, &bytes, &n, &err), GBS_OK);
        assert_string_equal(bytes, texts[i]);
        assert_int_equal(n, strlen(texts[i]));
        gbs_free(bytes);
        gbs_result_free(&r);
    }
    test_no_row();
    gbs_result one = {.task = GBS_TASK_PR, .log10_z = 1.0};
    gbs_output *output = NULL;
    gbs_error err = {0};
    char *bytes = NULL;
    size_t n = 0;
    size_t offset[] = {0, 3, 5};
    /* a row that no scale turns into a distribution stays unchanged */
    double p[] = {1e-3, 2e-3, 1e-3, 0, 0};
    const gbs_result rows = {.task = GBS_TASK_MAR,
                             .marginals = {.n_variables = 2, .offset = offset, .p = p}};
    assert_int_equal(gbs_output_open_memory(&output, &err), GBS_OK);
    gbsi_result_write_solution(output, &one, GBS_LOG_BASE_E);
    gbsi_result_write_solution(output, &rows, GBS_LOG_BASE_10);
    assert_int_equal(gbs_output_take(output, &bytes, &n, &err), GBS_OK);
    assert_string_equal(bytes, "2.302585092994046\n2 3 0.25 0.5 0.25 2 0 0\n");
    gbs_free(bytes);
}

static void expect_different(const char *a, const char *b, uint32_t expected, uint32_t expected_at)
{
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    gbs_result x = read_well(a, &options);
    gbs_result y = read_well(b, &options);
    uint32_t n = 99;
    uint32_t first = 99;
    gbs_error err = {0};
    assert_int_equal(gbs_result_count_different(&x, &y, &n, &first, &err), GBS_OK);
    assert_int_equal(n, expected);
    assert_int_equal(first, expected_at);
    gbs_result_free(&x);
    gbs_result_free(&y);
}

static void expect_incomparable(const char *a, const char *b, const char *message)
{
    gbs_result x = read_well(a, NULL);
    gbs_result y = read_well(b, NULL);
    uint32_t n = 99;
    uint32_t first = 99;
    gbs_error err = {0};
    assert_int_equal(gbs_result_count_different(&x, &y, &n, &first, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, message);
    assert_true(n == 99 && first == 99);
    gbs_result_free(&x);
    gbs_result_free(&y);
}

static void different(void **state)
{
    (void)state;
    expect_different("MAP 3 1 0 3", "MPE 3 1 0 3", 0, 0);
    expect_different("MAP 3 1 0 3", "MAP 3 1 2 2", 2, 1);
    expect_different("MMAP 2 7 1 4 0", "MMAP 2 4 0 7 1", 0, 0);
    expect_different("MMAP 2 7 1 4 0", "MMAP 2 4 1 7 1", 1, 4);
    /* without variables, a state belongs to the variable at its place */
    expect_different("MMAP 2 7 1 4 0", "MMAP 2 1 1", 1, 1);
    expect_incomparable("MAP 3 1 0 3", "MAP 2 1 0", "found states of 3 and of 2 variables");
    expect_incomparable("MAP 0", "MMAP 0", "found results of MAP and of MMAP");
    expect_incomparable("PR 1", "PR 1", "found results of PR and of PR");
    expect_incomparable("MMAP 2 7 1 4 0", "MMAP 2 7 1 5 0",
                        "only one of the results has a state of variable 5");
}

static void queries(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part; /* NULL: 2 0 */
    } cases[] = {
        {"2 2 0", NULL},
        {"2\r\n2\r\n0\r\n", NULL},
        {"", "q:1:1: found the end of the file, expected the number of query variables"},
        {"2 2", "cannot hold more than 1"},
        {"1 3", "q:1:3: found variable '3', expected less than 3"},
        {"2 1 1", "q:1:5: found variable '1' a second time"},
        {"1 x", "found 'x'"},
        {"1 1 2", "q:1:5: found '2', expected the end of the file after the last variable"},
        {"9223372036854775808 1", "cannot hold"},
    };
    gbs_model *m = read_model("m.uai", "MARKOV 3 2 3 4 0", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_row("%s", cases[i].text);
        gbs_error err = {0};
        uint32_t *variable = NULL;
        size_t n = 7;
        gbs_status status =
            gbsi_query_read(scratch_file("q", cases[i].text), m, NULL, &variable, &n, &err);
        if (cases[i].part == NULL) {
            assert_int_equal(status, GBS_OK);
            assert_true(n == 2 && variable[0] == 2 && variable[1] == 0);
            gbs_free(variable);
            continue;
        }
        assert_int_equal(status, GBS_ERR_FORMAT);
        assert_true(variable == NULL && n == 7);
        if (strstr(err.message, cases[i].part) == NULL) {
            fail_msg("\"%s\", expected \"%s\"", err.message, cases[i].part);
        }
    }
    gbs_model_free(m);
}

/* A file that is cut short gives an error, or other numbers if the cut is within a last number. */
static void cut(void **state)
{
    (void)state;
    static const char *const texts[] = {"PR\n-31.5\n", "MAP\n4 1 0 3 12\n",
                                        "MMAP\n3 7 1 4 0 11 12\n", "3 0 1 2"};
    gbs_model *m = read_model("m.uai", "MARKOV 3 2 3 4 0", NULL);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        test_row("%s", texts[i]);
        const size_t n = strlen(texts[i]);
        for (size_t length = 0; length < n; length++) {
            char text[64] = "";
            memcpy(text, texts[i], length);
            gbs_result r = {0};
            gbs_error err = {0};
            uint32_t *variable = NULL;
            size_t n_query = 0;
            const bool query = i == 3;
            gbs_status status =
                query ? gbsi_query_read(scratch_file("q", text), m, NULL, &variable, &n_query, &err)
                      : read_text(text, GBS_LOG_BASE_10, NULL, &r, &err);
            /* the cut is within the last number of PR or of a list, or removes the final newline */
            const bool may = i == 0 ? length > 4 : length + 2 >= n;
            if (status == GBS_OK && !may) {
                fail_msg("\"%s\" was read", text);
            }
            assert_true(status == GBS_OK || status == GBS_ERR_FORMAT);
            gbs_result_free(&r);
            gbs_free(variable);
        }
    }
    gbs_model_free(m);
}

/* Results of every form. */
static const char *const forms[] = {
    "PR 1",
    "MAR 1 2 0.5 0.5",
    "MAP 3 1 0 3",
    "MMAP 2 7 1 4 0",
    "b,a,probability,mcse\n0,0,1,0\n\na,probability,mcse\n0,1,0\n",
    ("{\"schema\": \"joints/1\", \"tables\": [{\"variables\": [{\"id\": 0, \"n_states\": 2}], "
     "\"probability\": [0.5, 0.5], \"mcse\": [0, 0]}]}")};

static void memory_runs_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        test_row("%s", forms[i]);
        const char *path = scratch_file("r", forms[i]);
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t n = 0; status != GBS_OK; n++) {
            gbs_result r = {0};
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            status = gbs_result_read(path, GBS_LOG_BASE_10, NULL, &r, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true(status == GBS_OK || (r.state == NULL && r.marginals.p == NULL));
            gbs_result_free(&r);
        }
    }
    test_no_row();
    gbs_result a = read_well("MMAP 2 7 1 4 0", NULL);
    gbs_model *m = read_model("m.uai", "MARKOV 3 2 3 4 0", NULL);
    const char *path = scratch_file("q", "2 2 0");
    for (int what = 0; what < 3; what++) {
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t n = 0; status != GBS_OK; n++) {
            gbs_error err = {0};
            uint32_t *variable = NULL;
            size_t n_query = 0;
            uint32_t different_ones = 0;
            uint32_t first = 0;
            gbs_output *output = NULL;
            char *bytes = NULL;
            gbsi_alloc_fail_after(n);
            if (what == 0) {
                status = gbs_result_count_different(&a, &a, &different_ones, &first, &err);
            } else if (what == 1) {
                status = gbsi_query_read(path, m, NULL, &variable, &n_query, &err);
            } else {
                status = gbs_output_open_memory(&output, &err);
                if (status == GBS_OK) {
                    gbsi_result_write_solution(output, &a, GBS_LOG_BASE_10);
                    status = gbs_output_take(output, &bytes, &n_query, &err);
                }
            }
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true(status == GBS_OK || (variable == NULL && bytes == NULL));
            gbs_free(variable);
            gbs_free(bytes);
        }
    }
    gbs_result_free(&a);
    gbs_model_free(m);
}

/* A finished file is closed but has no name yet; commit renames it. */
static void finish_then_commit(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_output *kept = NULL;
    gbs_output *dropped = NULL;
    char text[16];
    const char *path = scratch_path("finished");
    const char *other = scratch_path("unfinished");
    assert_int_equal(gbs_output_open(path, &kept, &err), GBS_OK);
    assert_int_equal(gbs_output_open(other, &dropped, &err), GBS_OK);
    gbsi_output_text(kept, "kept");
    gbsi_output_text(dropped, "dropped");
    assert_int_equal(gbsi_output_finish(kept, &err), GBS_OK);
    assert_int_equal(gbsi_output_finish(dropped, &err), GBS_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    gbs_output_discard(dropped);
    assert_int_equal(gbs_output_commit(kept, &err), GBS_OK);
    assert_int_equal(read_file(path, text, sizeof text), 4);
    assert_string_equal(text, "kept");
    assert_int_not_equal(access(other, F_OK), 0);
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
        cmocka_unit_test(pr),
        cmocka_unit_test(our_marginals),
        cmocka_unit_test(names_of_variables),
        cmocka_unit_test(labels_of_marginals),
        cmocka_unit_test(results_of_a_model),
        cmocka_unit_test(our_states),
        cmocka_unit_test(our_refusals),
        cmocka_unit_test(map),
        cmocka_unit_test(mmap_results),
        cmocka_unit_test(lenient),
        cmocka_unit_test(written),
        cmocka_unit_test(different),
        cmocka_unit_test(queries),
        cmocka_unit_test(cut),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(finish_then_commit),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
