/* SPDX-License-Identifier: Apache-2.0 */
/* Tests marginals, states and scans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/answers.h"
#include "gibbsite/options.h"
#include "text/test_models.h"

static gbs_status read_marginals(const char *text, const gbs_read_options *options,
                                 gbs_marginals *m, gbs_error *err)
{
    return gbs_marginals_read(scratch_file("a.MAR", text), options, m, err);
}

static void marginals(void **state)
{
    (void)state;
    static const char *const same[] = {
        "MAR\n2 2 0.25 0.75 3 0.1 0.2 0.7",
        "mar\r\n2 2 0.25 0.75 3 0.1 0.2 0.7\r\n",
        "MAR\n2 2 0.5 0.5 3 x -BEGIN-\n2 2 0.25 0.75 3 0.1 0.2 0.7\n",
        "MAR\n-BEGIN-\nMAR 2 2 0.25 0.75 3 0.1 0.2 0.7\n",
        "MAR\n1 2 0.5 0.5\n-BEGIN-\n1 1 1\n-BEGIN- 2 2 0.25 0.75 3 0.1 0.2 0.7\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        gbs_marginals m = {0};
        gbs_error err = {0};
        if (read_marginals(same[i], NULL, &m, &err) != GBS_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(m.n_variables, 2);
        assert_int_equal(m.offset[1], 2);
        assert_int_equal(m.offset[2], 5);
        assert_true(m.p[1] == 0.75 && m.p[4] == 0.7);
        gbs_marginals_free(&m);
        assert_null(m.p);
    }
    gbs_marginals_free(NULL);
}

static void marginals_lenient(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    gbs_marginals m = {0};
    gbs_error err = {0};
    assert_int_equal(read_marginals("MAR\n1\n2 2 0.25 0.75 1 1", NULL, &m, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, ":2:1: found a number of evidence samples"));
    assert_int_equal(read_marginals("MAR\n1\n2 2 0.25 0.75 1 1", &options, &m, &err), GBS_OK);
    assert_int_equal(warned.n, 1);
    assert_int_equal(m.n_variables, 2);
    gbs_marginals_free(&m);
    /* the order of the file */
    assert_int_equal(read_marginals("MAR 1 1 1", &options, &m, &err), GBS_OK);
    assert_int_equal(warned.n, 1);
    gbs_marginals_free(&m);
    assert_int_equal(read_marginals("MAR 1 2 0.5 0.4", &options, &m, &err), GBS_OK);
    assert_int_equal(warned.n, 2);
    gbs_marginals_free(&m);
    assert_int_equal(read_marginals("MAR 0", &options, &m, &err), GBS_OK);
    gbs_marginals_free(&m);
}

static void marginals_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"", ":1:1: found the end of the file, expected MAR"},
        {"PR 3", "found 'PR', expected MAR"},
        {"MAR", "expected the number of variables"},
        {"MAR 1 2 0.5", "found the end of the file, expected a probability"},
        {"MAR 1 9 0.5", "cannot hold more than 2"},
        {"MAR 1 2 0.5    ", "found the end of the file, expected a probability"},
        {"MAR 1 2 0.5 x", ":1:13: found 'x'"},
        {"MAR 1 2 0.5 -0.5", "found '-0.5'"},
        {"MAR 1 2 0.5 nan", "found 'nan'"},
        {"MAR 1 2 0.5 1.5", "found '1.5'"},
        {"MAR 1 0 1 1 1", "at least 1"},
        {"MAR 1 1 1 1 1", "expected the end of the file"},
        {"MAR 9223372036854775808 1 1", "cannot hold"},
        {"MAR 1 9223372036854775808 1 1", "cannot hold"},
        {"MAR 1 1 1 -BEGIN-", "found the end of the file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_marginals m = {0};
        gbs_error err = {0};
        assert_int_equal(read_marginals(cases[i].text, NULL, &m, &err), GBS_ERR_FORMAT);
        if (strstr(err.message, cases[i].part) == NULL) {
            fail_msg("\"%s\", expected \"%s\"", err.message, cases[i].part);
        }
        assert_null(m.p);
    }
}

static void compare(void **state)
{
    (void)state;
    gbs_error err;
    size_t offset[] = {0, 2, 5};
    size_t other_offset[] = {0, 3, 5};
    double p[] = {0.5, 0.5, 0.2, 0.3, 0.5};
    double q[] = {0.25, 0.75, 0.2, 0.4, 0.4};
    gbs_marginals a = {.n_variables = 2, .offset = offset, .p = p};
    gbs_marginals b = {.n_variables = 2, .offset = offset, .p = q};
    gbs_comparison c = {0};
    assert_int_equal(gbs_marginals_compare(&a, &b, &c, &err), GBS_OK);
    expect_near(c.max_abs, 0.25);
    expect_near(c.mean_abs, 0.7 / 5);
    expect_near(c.max_tv, 0.25);
    expect_near(c.mean_tv, 0.175);
    assert_int_equal(c.worst, 0);
    assert_true(isnan(c.max_z)); /* the result has no errors */
    double error[] = {0.1, 0.1, 0.0, 0.01, 0.01};
    b.error = error;
    assert_int_equal(gbs_marginals_compare(&a, &b, &c, &err), GBS_OK);
    assert_true(fabs(c.max_z - 10.0) < 1e-4);
    assert_true(c.worst_z == 1 && c.worst_z_state >= 1 && c.limit_z > 3.5 && c.limit_z < 3.6);
    error[3] = NAN; /* an unknown error is not judged */
    assert_int_equal(gbs_marginals_compare(&b, &a, &c, &err), GBS_OK);
    assert_true(fabs(c.max_z - 10.0) < 1e-4 && c.worst_z == 1 && c.worst_z_state == 2);
    error[2] = error[3] = 0.0; /* the answers are exact and different */
    assert_int_equal(gbs_marginals_compare(&b, &a, &c, &err), GBS_OK);
    assert_true(c.max_z > 4000.0 && c.worst_z == 1 && c.worst_z_state == 1);
    b.error = NULL;
    b.offset = other_offset;
    assert_int_equal(gbs_marginals_compare(&a, &b, &c, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "variable 0 has 2 states and 3 states");
    b.n_variables = 1;
    assert_int_equal(gbs_marginals_compare(&a, &b, &c, &err), GBS_ERR_ARGUMENT);
    expect_near(c.max_abs, 0.25);
    b.offset = offset;
    b.n_variables = 2;
    q[4] = NAN;
    assert_int_equal(gbs_marginals_compare(&a, &b, &c, &err), GBS_OK);
    assert_true(isnan(c.max_abs) && isnan(c.max_tv) && isnan(c.mean_abs));
    b.n_variables = 0;
    assert_int_equal(gbs_marginals_compare(&b, &b, &c, &err), GBS_OK);
    assert_true(c.mean_abs == 0 && c.mean_tv == 0);
}

static gbs_model *model_of_three(void)
{
    return read_model("m.uai", "MARKOV 3 2 3 4 0", NULL);
}

static void states(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part; /* NULL: 1 0 3 */
    } cases[] = {
        {"1 0 3", NULL},
        {"MAP\n3 1 0 3\n", NULL},
        {"mpe 3 1 0 3", NULL},
        {"MAP 3 0 0 0 -BEGIN- 3 1 0 3", NULL},
        {"", "s:1:1: found the end of the file, expected a state"},
        {"1 0", "s:1:4: found the end of the file"},
        {"1 0 4", "s:1:5: found state '4' of variable 2, expected less than 4"},
        {"1 0 x", "found 'x'"},
        {"1 0 3 0", "expected the end of the file"},
        {"MAP 2 1 0 3", "s:1:5: found '2' variables, expected those of the model: 3"},
    };
    gbs_model *m = model_of_three();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        uint32_t x[3] = {9, 9, 9};
        gbs_status status = gbs_state_read(scratch_file("s", cases[i].text), m, NULL, x, &err);
        if (cases[i].part == NULL) {
            assert_int_equal(status, GBS_OK);
            assert_true(x[0] == 1 && x[1] == 0 && x[2] == 3);
            continue;
        }
        assert_int_equal(status, GBS_ERR_FORMAT);
        assert_true(x[0] == 9 && x[1] == 9 && x[2] == 9);
        if (strstr(err.message, cases[i].part) == NULL) {
            fail_msg("\"%s\", expected \"%s\"", err.message, cases[i].part);
        }
    }
    gbs_model_free(m);
}

/* Rows of probabilities: a variable, or * for a variable drawn uniformly. */
static void scans_with_uniform_updates(void **state)
{
    (void)state;
    gbs_model *m = model_of_three();
    static const uint32_t given[] = {GBS_STEP_UNIFORM, 0, 2, GBS_STEP_UNIFORM, 1};
    uint32_t *sequence = NULL;
    size_t n = 0;
    const char *path = scratch_file("c", "scan 1\nvariables 3\n* 0 2 # *\n*\n1\n");
    assert_int_equal(gbs_scan_read(path, m, &sequence, &n, NULL), GBS_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(sequence, given, sizeof given);
    assert_int_equal(gbs_scan_write(path, m, sequence, n, "again", NULL), GBS_OK);
    gbs_free(sequence);
    assert_int_equal(gbs_scan_read(path, m, &sequence, &n, NULL), GBS_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(sequence, given, sizeof given);
    gbs_free(sequence);
    gbs_model_free(m);
}

static void scans(void **state)
{
    (void)state;
    gbs_model *m = model_of_three();
    char bound[200];
    (void)snprintf(bound, sizeof bound, "scan 1\nvariables 3\nmodel %s\n0 2 1 2\n",
                   gbs_model_digest(m));
    const struct {
        const char *text;
        const char *part; /* NULL: 0 2 1 2 */
    } cases[] = {
        {bound, NULL},
        {"scan 1\nvariables 3\n0 2 1 2", NULL},
        {"# c\nscan 1 # c\r\nvariables 3\n0 2 # 7\n1 2\n#", NULL},
        {"", "c:1:1: found the end of the file, expected 'scan'"},
        {"scan 2\nvariables 3 0", "c:1:6: found '2', expected version 1"},
        {"scan 1 0 1", "expected 'variables'"},
        {"scan 1 variables 4 0", "expected those of the model: 3"},
        {"scan 1 variables 3 model 0123 0", "found '0123', expected "},
        {"scan 1 variables 3", "expected a variable"},
        {"scan 1 variables 3\n0 3", "c:2:3: found variable '3', expected less than 3"},
        {"scan 1 variables 3 0 x", "found 'x'"},
        {"scan 1 variables 3 0 **", "found '**'"},
        {"scan 1 variables 3 0 -1", "c:1:22: found '-1'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        uint32_t *sequence = NULL;
        size_t n = 7;
        gbs_status status = gbs_scan_read(scratch_file("c", cases[i].text), m, &sequence, &n, &err);
        if (cases[i].part == NULL) {
            assert_int_equal(status, GBS_OK);
            assert_int_equal(n, 4);
            assert_true(sequence[0] == 0 && sequence[1] == 2 && sequence[2] == 1 &&
                        sequence[3] == 2);
            gbs_free(sequence);
            continue;
        }
        assert_int_equal(status, GBS_ERR_FORMAT);
        assert_true(sequence == NULL && n == 7);
        if (strstr(err.message, cases[i].part) == NULL) {
            fail_msg("\"%s\", expected \"%s\"", err.message, cases[i].part);
        }
    }
    gbs_model_free(m);
}

static void dummy_edges(void **state)
{
    (void)state;
    gbs_model *m = model_of_three();
    static const struct {
        const char *text;
        const char *part; /* NULL: 0 2, 1 2 */
    } cases[] = {
        {"edges 1\nvariables 3\n0 2\n1 2\n", NULL},
        {"# c\nedges 1 variables 3 0 2 # x\n1 2", NULL},
        {"", "c:1:1: found the end of the file, expected 'edges'"},
        {"edges 2 variables 3 0 1", "c:1:7: found '2', expected 1"},
        {"edges 1 variables 4 0 1", "found '4', expected 3"},
        {"edges 1 variables 3", "expected a variable"},
        {"edges 1 variables 3 0 1 2", "expected a variable"},
        {"edges 1 variables 3\n0 3", "c:2:3: found variable '3', expected less than 3"},
        {"edges 1 variables 3\n1 1", "c:2:3: found variable '1' twice, expected another"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        uint32_t *pair = NULL;
        size_t n = 7;
        gbs_status status = gbsi_edges_read(scratch_file("c", cases[i].text), m, &pair, &n, &err);
        if (cases[i].part == NULL) {
            assert_int_equal(status, GBS_OK);
            assert_int_equal(n, 2);
            assert_true(pair[0] == 0 && pair[1] == 2 && pair[2] == 1 && pair[3] == 2);
            gbs_free(pair);
            continue;
        }
        assert_int_equal(status, GBS_ERR_FORMAT);
        assert_true(pair == NULL && n == 7);
        if (strstr(err.message, cases[i].part) == NULL) {
            fail_msg("%s\nexpected: %s", err.message, cases[i].part);
        }
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
        cmocka_unit_test(marginals),
        cmocka_unit_test(marginals_lenient),
        cmocka_unit_test(marginals_refused),
        cmocka_unit_test(compare),
        cmocka_unit_test(states),
        cmocka_unit_test(scans),
        cmocka_unit_test(scans_with_uniform_updates),
        cmocka_unit_test(dummy_edges),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
