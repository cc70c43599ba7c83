/* SPDX-License-Identifier: Apache-2.0 */
/* Compares programs in the special syntax of Alchemy, Tuffy and ProbCog with equivalent programs in
 * plain syntax: the models must be equal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "gibbsite/ground.h"

/* Grounds a program. @param query NULL: only the predicates that are open by default are open. */
static gbs_status ground(const char *program, const char *database, const char *query,
                         gbs_model **model, gbs_ground_report *report, gbs_error *err)
{
    const gbs_ground_options options = {.size = sizeof options, .query_predicates = query};
    *report = (gbs_ground_report){.size = sizeof *report};
    return gbs_ground_memory("p.mln", program, strlen(program), "d.db", database, strlen(database),
                             &options, NULL, model, report, err);
}

static gbs_model *grounded(const char *program, const char *database, const char *query)
{
    gbs_model *model = NULL;
    gbs_ground_report report;
    gbs_error err = {GBS_OK, ""};
    if (ground(program, database, query, &model, &report, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return model;
}

/* Declarations that rows share. */
#define WHO "who = {A, B, C}\n"
#define PQ  WHO "P(who)\nQ(who, who)\n"

static void test_same(void **unused)
{
    static const struct {
        const char *program, *database, *plain, *plain_database, *query;
    } rows[] = {
        /* '*': the predicate is closed, and all other predicates are open, even if the database has
         * facts of them */
        {WHO "*Q(who, who)\nP(who)\n1 Q(x,y) => P(y)\n", "Q(A,B)\nP(C)\n",
         WHO "Q(who, who)\nP(who)\n1 Q(x,y) => P(y)\n", "Q(A,B)\nP(C)\n", "P"},
        {WHO "Q(who, who)\n*Q(who, who)\nP(who)\n1 Q(x,y) => P(y)\n", "P(A)\n",
         WHO "Q(who, who)\nP(who)\n1 Q(x,y) => P(y)\n", "P(A)\n", "P"},
        {WHO "*Q(who, who)\n*R(who)\nP(who)\n1 Q(x,y) v P(y)\n", "",
         WHO "Q(who, who)\nP(who)\n1 Q(x,y) v P(y)\n", "", "P"},
        /* ranges */
        {"n = {2, ..., 4}\nP(n)\n1 P(x)\n", "", "n = {2, 3, 4}\nP(n)\n1 P(x)\n", "", NULL},
        {"n={1,...,3,7,9,...,10}\nP(n)\n1 P(x)\n", "", "n = {1,2,3,7,9,10}\nP(n)\n1 P(x)\n", "",
         NULL},
        /* weights */
        {PQ "exp(0) P(x)\n", "", PQ "1 P(x)\n", "", NULL},
        {PQ "(P(x)).\n-.5e1 P(x)\n", "", PQ "P(x).\n-5 P(x)\n", "", NULL},
        {PQ "2 - 3*0.5 (P(x) v P(y))\n", "", PQ "0.5 P(x) v P(y)\n", "", NULL},
        {PQ "logx(0) P(x)\nlog(1) !P(x)\n", "", PQ "-100 P(x)\n0 !P(x)\n", "", NULL},
        {PQ "float(3)/(4 - 2) P(x)\n", "", PQ "1.5 P(x)\n", "", NULL},
        {PQ "P(x) => P(y)\n", "", PQ "0 P(x) => P(y)\n", "", NULL},
        /* signs */
        {PQ "1 P(x) | P(y) || !P(A)\n", "", PQ "1 P(x) v P(y) v !P(A)\n", "", NULL},
        {PQ "1 P(x) & P(y) && Q(x,y)\n", "", PQ "1 P(x) ^ P(y) ^ Q(x,y)\n", "", NULL},
        {PQ "1 P(x), Q(x,y) ^ P(y), x != y => P(A)\n", "",
         PQ "1 P(x) ^ Q(x,y) ^ P(y) ^ x != y => P(A)\n", "", NULL},
        {PQ "1 (P(x), Q(x,y) => P(y)) ^ P(x)\n", "", PQ "1 (P(x) ^ Q(x,y) => P(y)) ^ P(x)\n", "",
         NULL},
        {PQ "1 (P(x) v P(y)), Q(x,y) => x = y\n", "", PQ "1 (P(x) v P(y)) ^ Q(x,y) => x = y\n", "",
         NULL},
        {PQ "1 P(x) ^ x=/=y => P(y)\n2 P(x) ^ x <> A\n", "",
         PQ "1 P(x) ^ x != y => P(y)\n2 P(x) ^ x != A\n", "", NULL},
        {PQ "1 Q(x,y) => [x = y\n v P(x)]\n", "", PQ "1 Q(x,y) => (x = y v P(x))\n", "", NULL},
        /* lines and comments */
        {PQ "1 P(x) ^\n  Q(x,y) // so\n  => P(y)\n/* 2 P(x)\n3 P(x) */ P(x)\n  v !P(x).\n", "",
         PQ "1 P(x) ^ Q(x,y) => P(y)\n", "", NULL},
        {"who = {A,\n B, // one\n C}\nP(who)\nQ(who, who)\n1 (P(x) v\n\n P(y))\n", "",
         PQ "1 P(x) v P(y)\n", "", NULL},
        /* a declaration twice */
        {PQ "P(who)\nQ(who, who)\n1 P(x)\n", "", PQ "1 P(x)\n", "", NULL},
        /* lists of constants and certain facts in the database */
        {"P(who)\n1 P(x)\n", "who = {A, B,\n C}\nwho = {A}\n", PQ "1 P(x)\n", "", NULL},
        {PQ "1 P(x) v Q(x,y)\n", "1.0 P(A)\n0 P(B)\n!P(C).\n", PQ "1 P(x) v Q(x,y)\n",
         "P(A)\n!P(B)\n!P(C)\n", NULL},
        /* functions: the value is an argument of which exactly one holds */
        {WHO "P(who)\nwho f(who)\n1 P(f(x))\n", "f(A) = B\nf(B) = C\nf(C) = C\n",
         WHO "P(who)\nf(who, who!)\n1 EXIST z (f(x,z) ^ P(z))\n", "f(A,B)\nf(B,C)\nf(C,C)\n", NULL},
        {WHO "P(who)\nwho f(who)\n1 f(x) = y => P(y)\n2 f(x) != A\n", "",
         WHO "P(who)\nf(who, who!)\n1 f(x,y) => P(y)\n2 !f(x,A)\n", "", NULL},
        {WHO "P(who)\nwho f(who)\n1 f(f(x)) = f(y) v P(x)\n", "f(A) = B\nf(B) = A\nf(C) = A\n",
         WHO "P(who)\nf(who, who!)\n"
             "1 (EXIST z (f(x,z) ^ (EXIST u (f(y,u) ^ f(z,u))))) v P(x)\n",
         "f(A,B)\nf(B,A)\nf(C,A)\n", NULL},
        {WHO "P(who)\nwho f(who)\n1 P(x) v x = f(y)\n", "f(A) = B\nf(B) = C\nf(C) = C\n",
         WHO "P(who)\nf(who, who!)\n1 P(x) v f(y,x)\n", "f(A,B)\nf(B,C)\nf(C,C)\n", NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_row("%s", rows[i].program);
        gbs_model *found = grounded(rows[i].program, rows[i].database, NULL);
        gbs_model *plain = grounded(rows[i].plain, rows[i].plain_database, rows[i].query);
        assert_string_equal(gbs_model_digest(found), gbs_model_digest(plain));
        for (uint32_t v = 0; v < gbs_model_n_variables(plain); v++) {
            assert_string_equal(gbs_model_variable_name(found, v),
                                gbs_model_variable_name(plain, v));
        }
        gbs_model_free(found);
        gbs_model_free(plain);
    }
}

/* A constant is the text between two commas. */
static void test_names(void **unused)
{
    static const char *const names[] = {"P(Anna-Lena)", "P(O'Neil)",  "P(cs.edu)",  "P(\"A, b\")",
                                        "P(7-up)",      "P(X_1-2.5)", "P(\xc3\x84)"};
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char program[64];
        gbs_model *model = NULL;
        test_row("%s", names[i]);
        (void)snprintf(program, sizeof program, "P(t)\n-1.5 %s\n",
                       names[i][2] == 'c' ? "P(x)" : names[i]);
        model = grounded(program, names[i][2] == 'c' ? "t = {cs.edu}\n" : "", NULL);
        assert_int_equal(gbs_model_n_variables(model), 1);
        assert_string_equal(gbs_model_variable_name(model, 0), names[i]);
        gbs_model_free(model);
    }
}

/* f is open: a state of it is a function, and P(f(x)) holds where P holds of its value. */
static void test_open_function(void **unused)
{
    enum { N = 2, N_ATOMS = N * N + N };
    static const char *const names[N_ATOMS] = {"f(A,A)", "f(A,B)", "f(B,A)",
                                               "f(B,B)", "P(A)",   "P(B)"};
    uint32_t id[N_ATOMS];
    uint32_t n_worlds = 0;
    double constant = NAN;
    (void)unused;
    gbs_model *model = grounded("w = {A, B}\nP(w)\nw f(w)\n0.75 P(f(x)) => P(x)\n"
                                "-0.5 f(f(x)) = x\n",
                                "", NULL);
    assert_int_equal(gbs_model_n_variables(model), N_ATOMS);
    for (uint32_t k = 0; k < N_ATOMS; k++) {
        assert_int_equal(gbs_model_find_variable(model, names[k], &id[k], NULL), GBS_OK);
    }
    for (uint32_t bits = 0; bits < 1U << N_ATOMS; bits++) {
        uint32_t state[N_ATOMS];
        uint32_t at[N_ATOMS];
        for (uint32_t k = 0; k < N_ATOMS; k++) {
            at[k] = state[id[k]] = bits >> k & 1;
        }
        const double found = gbs_model_log_density(model, state);
        if (at[0] + at[1] != 1 || at[2] + at[3] != 1) {
            assert_true(found == -INFINITY);
            continue;
        }
        const uint32_t f[N] = {at[1], at[3]};
        double expected = 0.0;
        for (uint32_t x = 0; x < N; x++) {
            expected += 0.75 * (!at[4 + f[x]] || at[4 + x]) - 0.5 * (f[f[x]] == x);
        }
        constant = isnan(constant) ? found - expected : constant;
        assert_true(fabs(found - expected - constant) < 1e-12);
        n_worlds++;
    }
    assert_int_equal(n_worlds, 16);
    gbs_model_free(model);
}

static void test_warnings(void **unused)
{
    static const struct {
        const char *program, *database, *warning; /* NULL: none */
    } rows[] = {
        {PQ "P(x) => P(y)\nP(A) v P(B).\nP(x)\n", "", "neither a weight nor a period: 2, which"},
        {"P(t)\nR(t)\n1 P(A)\n", "R(A)\nR(X)\nR(Y)\n",
         "get 2 more from the database, 'X' of type 't'"},
        {"P(t)\nR(t)\n1 P(A)\n", "R(A)\nt = {X}\n",
         "get 1 more from the database, 'X' of type 't'"},
        {"P(t)\nR(t)\n1 P(A)\n", "R(A)\n", NULL},
        {"P(t)\nR(t)\n1 P(x)\n", "R(A)\nR(B)\n", NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbs_model *model = NULL;
        gbs_ground_report report;
        gbs_error err = {GBS_OK, ""};
        test_row("%s", rows[i].program);
        assert_int_equal(ground(rows[i].program, rows[i].database, "P", &model, &report, &err),
                         GBS_OK);
        assert_int_equal(report.n_warnings, rows[i].warning != NULL);
        assert_true(rows[i].warning == NULL || strstr(report.warning[0], rows[i].warning) != NULL);
        gbs_model_free(model);
    }
}

static void test_refused(void **unused)
{
    static const struct {
        const char *program, *database, *text;
    } rows[] = {
        {"#include \"a.mln\"\n", "", "p.mln:1:1: found '#', expected a statement: #include"},
        {PQ "$a = 3\n", "", "p.mln:4:1: found '$', expected a statement: variables"},
        {PQ "@5 P(x)\n", "", "p.mln:4:1: found '@', expected a weight"},
        {PQ "P(P(x)) = 0.4\n", "", "p.mln:4:1: found 'P', expected a formula: constraints"},
        {WHO "Q(who)\ncount(Q(x)) = 2.\n", "",
         "p.mln:3:1: found 'count', expected a formula: const"},
        {PQ "*P(x) v *Q(x,y)\n", "", "p.mln:4:1: found '*', expected a literal: '*' for"},
        {PQ "0.5 *P(x)\n", "", "p.mln:4:5: found '*', expected a literal"},
        {PQ "log(-1) P(x)\n", "", "p.mln:4:1: found 'log', expected a weight between"},
        {PQ "log(0) P(x)\n", "", "p.mln:4:1: found 'log', expected a weight between"},
        {PQ "1/0 P(x)\n", "", "expected a weight between"},
        {PQ "log(0.5 P(x)\n", "", "p.mln:4:9: found 'P'"},
        {PQ "1 P(x) v v P(y)\n", "", "p.mln:4:10: found 'v'"},
        {PQ "1 P(x), P(y)\n", "", "p.mln:4:13: found the end of the line, expected '=>'"},
        {PQ "1 P(x), P(y) v P(A) => P(x)\n", "", "p.mln:4:14: found 'v', expected '=>'"},
        {PQ "1 P(x) v P(y), P(A) => P(x)\n", "", "p.mln:4:14: found ',', expected the end"},
        {PQ "1 P(x) => P(y), P(A)\n", "", "p.mln:4:15: found ',', expected the end"},
        {PQ "1 [x = y v P(x)\n", "", "expected ']' or a sign"},
        {PQ "1 P(x) => x < y\n", "", "p.mln:4:11: found 'x', expected a predicate"},
        {PQ "1 P(x).y\n", "", "p.mln:4:7: "},
        {"n = {1, ..., 1}\nP(n)\n1 P(x)\n", "", "p.mln:1:14: found '1', expected a whole number"},
        {"n = {1, ..., 9000000}\nP(n)\n1 P(x)\n", "", "found '9000000', expected at most 1000000"},
        {"n = {A, ..., C}\nP(n)\n1 P(x)\n", "", "p.mln:1:6: found 'A', expected a whole number"},
        {"n = {..., 3}\nP(n)\n1 P(x)\n", "", "p.mln:1:6: found '...', expected the name"},
        {WHO "who f(who!)\n1 f(x) = y\n", "", "p.mln:2:5: found 'f', expected no argument marked"},
        {WHO "who f(who)\n1 f(x) v f(y)\n", "", "p.mln:3:8: found 'v', expected '=' or '!='"},
        {WHO "who f(who)\nP(no)\n1 P(f(x))\n", "",
         "p.mln:4:5: found 'f', expected a function with"},
        {WHO "who f(who)\n1 f(x) = y\n", "f(A, B)\n", "d.db:1:4: found ',', expected ')'"},
        {PQ "who f(who)\n1 f(x) = y\n", "f(A) = B\n",
         "p.mln:4:5: found a function for some of whose arguments the database has no value"},
        {WHO "who f(who)\n1 f(x) = y\n", "f(A)\n",
         "d.db:1:5: found the end of the line, expected '='"},
        {PQ "who f(who)\n1 f(x) = y\n", "f(A) = A\nf(A) = B\n", "d.db:2:1: found another value"},
        {PQ "who P(who)\n1 P(x)\n", "", "p.mln:4:5: found 'P', expected the types it was"},
        {PQ "1 P(x)\n", "0.25 P(A)\n",
         "d.db:1:1: found '0.25', expected a fact: evidence of a prob"},
        {PQ "1 P(x)\n", "that = {A}\n", "d.db:1:1: found 'that', expected a type of the program"},
        {PQ "1 P(x)\n", "who = {D}\n",
         "d.db:1:8: found 'D', expected a constant that the type was"},
        {WHO "*P(who)\n1 P(x)\n", "", "found a '*' before every predicate"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbs_model *model = NULL;
        gbs_ground_report report;
        gbs_error err = {GBS_OK, ""};
        test_row("%s", rows[i].program);
        assert_true(ground(rows[i].program, rows[i].database, NULL, &model, &report, &err) < 0);
        assert_null(model);
        if (strstr(err.message, rows[i].text) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", rows[i].text, err.message);
        }
    }
}

static void test_out_of_memory(void **unused)
{
    gbs_status status = GBS_ERR_MEMORY;
    gbs_model *model = NULL;
    gbs_ground_report report;
    gbs_error err = {GBS_OK, ""};
    (void)unused;
    for (uint64_t n = 0; status < 0; n++) {
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_null(model);
        gbsi_alloc_fail_after(n);
        status = ground("t = {1, ..., 3}\n*R(t)\nP(t)\nt f(t)\nlog(0.5) P(f(f(x))) v R(x)\n",
                        "f(1) = 2\nt = {1, ..., 3}\n", NULL, &model, &report, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_warnings), cmocka_unit_test(test_open_function),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
