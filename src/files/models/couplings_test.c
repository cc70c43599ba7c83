/* SPDX-License-Identifier: Apache-2.0 */
/* Tests Matrix Market, rudy and COO: signs, diagonals, triangles, repeated entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "text/test_models.h"

#define MTX "%%MatrixMarket matrix coordinate real "

/* Expects sum h_i s_i + sum J_ij s_i s_j + c of three spins in all eight states. */
static void expect_spins(const gbs_model *m, double c, const double h[3], double j01, double j02,
                         double j12)
{
    assert_int_equal(gbs_model_n_variables(m), 3);
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t x[3] = {k >> 2, k >> 1 & 1, k & 1};
        double s[3];
        for (int i = 0; i < 3; i++) {
            s[i] = x[i] == 1 ? 1.0 : -1.0;
        }
        expect_near(gbs_model_log_density(m, x), c + h[0] * s[0] + h[1] * s[1] + h[2] * s[2] +
                                                     j01 * s[0] * s[1] + j02 * s[0] * s[2] +
                                                     j12 * s[1] * s[2]);
    }
}

static void expect_read(const char *name, const char *text, const gbs_read_options *options,
                        double c, const double h[3], double j01, double j02, double j12)
{
    gbs_model *m = read_model(name, text, options);
    expect_spins(m, c, h, j01, j02, j12);
    gbs_model_free(m);
}

static const double NO_FIELD[3] = {0, 0, 0};

/* Three spins in a row, with a field on the first spin. */
static const char ROW[] = MTX "symmetric\n% a comment\n\n3 3 3\n1 1 0.5\n2 1 1\n3 2 -1\n";

/* Tests every layout and sign of one file in each format: J_ij and h_i times the sign. */
static void conventions(void **state)
{
    (void)state;
    static const struct {
        const char *convention;
        double sign;
    } cases[] = {{"physics", 1}, {"bqm", -1}, {NULL, 0}};
    const char *coo = "# vartype=SPIN\n0 0 0.5\n0 1 1\n1 2 -1\n";
    for (int i = 0; i < 3; i++) {
        const gbs_read_options options = {.convention = cases[i].convention};
        /* the format's own convention, physics */
        double sign = cases[i].sign != 0 ? cases[i].sign : 1;
        expect_read("a.mtx", ROW, &options, 0, (const double[3]){sign * 0.5, 0, 0}, sign, 0, -sign);
        sign = cases[i].sign != 0 ? cases[i].sign : -1; /* the convention bqm */
        expect_read("a.coo", coo, &options, 0, (const double[3]){sign * 0.5, 0, 0}, sign, 0, -sign);
        expect_read("a.rud", "3 2\n1 2 1\n2 3 -1", &options, 0, NO_FIELD, sign, 0, -sign);
    }
    const gbs_read_options cut = {.convention = "maxcut"};
    expect_read("a.rud", "3 2\n1 2 1\n2 3 -1", &cut, 0, NO_FIELD, -1, 0, 1);
    expect_read("a.mtx", MTX "general\n3 3 3\n2 2 0\n2 1 1\n3 2 -1", &cut, 0, NO_FIELD, -1, 0, 1);
    expect_read("a.coo", "# vartype=SPIN\n2 0 4\n2 1 1", &cut, 0, NO_FIELD, 0, -4, -1);
    /* The weight of a cut is the sum of w over its edges. Heavier cuts are more probable. */
    gbs_model *m = read_model("triangle.txt", "2 1\n1 2 3\n", NULL);
    assert_true(gbs_model_log_density(m, (const uint32_t[]){0, 1}) == 3);
    assert_true(gbs_model_log_density(m, (const uint32_t[]){1, 1}) == -3);
    gbs_model_free(m);
}

static void layouts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
    } same[] = {
        {"a.mtx", ROW},
        {"a.mtx", "%%MatrixMarket MATRIX Coordinate REAL Symmetric\r\n3 3 3\r\n1 1 .5\r\n\r\n2 1 "
                  "+1\r\n3 2 -1"},
        {"a.mtx", MTX "general\n3 3 5\n1 1 0.5\n2 1 1\n3 2 -1\n1 2 1\n2 3 -1.0\n"},
        {"a.mtx", MTX "general\n3 3 3\n1 1 0.5\n1 2 1\n3 2 -1\n"},
        {"a.mtx", MTX "general\n3 3 4\n1 1 0.5\n1 2 1\n3 2 -1\n3 1 0"},
        {"a.mtx", "%%MatrixMarket matrix array real general\n% by columns\n3 3\n.5\n1\n0\n1 0 -1 0 "
                  "-1 0\n"},
        {"a.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n.5\n1\n0\n0\n-1\n0"},
        {"a.mtx", "\xef\xbb\xbf%%MatrixMarket matrix coordinate real symmetric\n3 3 3 "
                  "\n1 1 0.5\n2 1 1\n3 2 -1"},
        {"a.coo", "# vartype=SPIN\n0 0 -0.5\n0 1 -1\n1 2 1\n"},
        {"a.coo", "#vartype : spin\r\n# more\n0 0 -0.5\r\n\r\n1 0 -1\n# and more\n2 1 1"},
    };
    gbs_model *m = read_model("a.mtx", ROW, NULL);
    assert_int_equal(gbs_model_n_factors(m), 3);
    assert_int_equal(gbs_model_factor(m, 0, NULL, NULL), GBS_FACTOR_FIELD);
    assert_int_equal(gbs_model_factor(m, 1, NULL, NULL), GBS_FACTOR_ISING);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        test_row("%s: %s", same[i].name, same[i].text);
        gbs_model *n = read_model(same[i].name, same[i].text, NULL);
        expect_spins(n, 0, (const double[3]){0.5, 0, 0}, 1, 0, -1);
        assert_string_equal(gbs_model_digest(n), gbs_model_digest(m));
        gbs_model_free(n);
    }
    test_no_row();
    gbs_model_free(m);
    expect_read("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n",
                NULL, 0, NO_FIELD, 1, 1, 0);
    expect_read("a.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 2\n2 1 -4\n3 1 +2",
                NULL, 0, NO_FIELD, -4, 2, 0);
    expect_read("a.gset", "3 3\r\n1 2\r\n3 1 2.5\r\n2 3 -1", NULL, 0, NO_FIELD, -1, -2.5, 1);
}

static void smallest(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
        uint32_t n;
    } files[] = {
        {"a.mtx", MTX "general\n0 0 0", 0},
        {"a.mtx", MTX "symmetric\n4 4 0\n", 4},
        {"a.mtx", "%%MatrixMarket matrix array real general\n0 0", 0},
        {"a.rudy", "0 0", 0},
        {"a.rud", "7 0\n", 7},
        {"a.coo", "# vartype=SPIN", 0},
        {"a.coo", "# vartype=SPIN\n6 6 0", 7},
        /* 4096 vertices without edges are allowed, and 16 more for each byte */
        {"a.rud", "4208 0\n", 4208},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        test_row("%s: %s", files[i].name, files[i].text);
        gbs_model *m = read_model(files[i].name, files[i].text, NULL);
        assert_int_equal(gbs_model_n_variables(m), files[i].n);
        assert_int_equal(gbs_model_n_factors(m), 0);
        gbs_model_free(m);
    }
}

/* Numbers of variables that no line has are reported once. The largest number has a line. */
static void gaps_in_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *warning; /* NULL: none */
    } files[] = {
        {"1 3 1\n1 1 2\n",
         "variables 0, 2 have no line: no coupling and no field is known of them"},
        {"1 2 1\n", "variable 0 has no line: no coupling and no field is known of it"},
        {"0 9 1\n4 4 0\n", "variables 1 to 3, 5 to 8 have no line"},
        {"20 18 1\n1 3 1\n5 7 1\n9 11 1\n13 15 1\n",
         "variables 0, 2, 4, 6, 8, 10, 12, 14, ... have no line"},
        {"0 1 1\n1 2 1\n", NULL},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        warnings warned = {0};
        const gbs_read_options options = {
            .size = sizeof options, .warn = take_warning, .context = &warned, .vartype = "SPIN"};
        test_row("%s", files[i].text);
        gbs_model_free(read_model("a.coo", files[i].text, &options));
        assert_int_equal(warned.n, files[i].warning != NULL);
        assert_true(files[i].warning == NULL || strstr(warned.last, files[i].warning) != NULL);
    }
}

/* Tests x = (1 + s) / 2, compared with the energy over {0, 1}. */
static void binary(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.warn = take_warning, .context = &warned};
    const char *text = "# vartype=BINARY\n0 0 2\n0 1 -3\n1 2 5\n2 2 0.5\n0 2 0.75\n";
    for (int i = 0; i < 2; i++) {
        const double sign = i == 0 ? -1 : 1;
        options.convention = i == 0 ? NULL : "physics";
        gbs_model *m = read_model("q.coo", text, &options);
        for (uint32_t k = 0; k < 8; k++) {
            const uint32_t x[3] = {k >> 2, k >> 1 & 1, k & 1};
            const double energy = 2.0 * x[0] - 3.0 * x[0] * x[1] + 5.0 * x[1] * x[2] + 0.5 * x[2] +
                                  0.75 * x[0] * x[2];
            /* the density is exact, including the constant */
            assert_true(gbs_model_log_density(m, x) == sign * energy);
        }
        assert_int_equal(gbs_model_factor(m, 0, NULL, NULL), GBS_FACTOR_TABLE);
        gbs_model_free(m);
    }
    assert_int_equal(warned.n, 0);
    assert_int_equal(warned.n, 0);
    options.convention = "maxcut";
    refuse_model("q.coo", text, &options, GBS_ERR_ARGUMENT, "convention maxcut needs spins");
}

/* The user types options that a file lacks. A file without the options is refused, and so are
 * options that contradict the file. */
static void vartypes_and_offsets(void **state)
{
    (void)state;
    static const struct {
        const char *text, *vartype;
        double offset;
    } same[] = {
        {"# vartype=BINARY\n# offset=-1.5\n0 0 2\n1 0 -3\n", NULL, 0},
        {"# offset : -15e-1\n#vartype: binary\n0 0 2\n0 1 -3\n", "BINARY", -1.5},
        {"# VARTYPE=BINARY\n# OFFSET = -1.5\n0 0 2\n0 1 -3\n", NULL, 0},
        {"0 0 2\n0 1 -3\n", "binary", -1.5},
        {"0 0 2\n0 1 -3\n#offset=-1.5", "BINARY", 0},
    };
    static const struct {
        const char *text, *vartype;
        double offset;
        gbs_status status;
        const char *part;
    } bad[] = {
        {"0 0 2\n", NULL, 0, GBS_ERR_FORMAT,
         "q.coo:1:1: found an entry before a line '# vartype=SPIN' or '# vartype=BINARY'"},
        {"# comment", NULL, 0, GBS_ERR_FORMAT, "expected '# vartype=SPIN' or '# vartype=BINARY'"},
        {"# vartype=SPIN\n0 0 2\n", "BINARY", 0, GBS_ERR_FORMAT,
         "q.coo:1:11: found another vartype, expected the one of --vartype"},
        {"0 0 2\n", "TERNARY", 0, GBS_ERR_ARGUMENT, "vartype 'TERNARY' is not known"},
        {"# vartype=SPIN\n# offset=2\n0 0 2", NULL, 1, GBS_ERR_FORMAT,
         "q.coo:2:10: found another offset, expected that of --offset"},
        {"# vartype=SPIN\n# offset=2\n# offset=3", NULL, 0, GBS_ERR_FORMAT,
         "q.coo:3:10: found another offset, expected it once"},
        {"# vartype=SPIN\n# offset=nan", NULL, 0, GBS_ERR_FORMAT, "q.coo:2:10: "},
        {"# vartype=SPIN\n# offset=", NULL, 0, GBS_ERR_FORMAT, "q.coo:2:10: "},
        {"# vartype=SPIN\n# offset=1 2", NULL, 0, GBS_ERR_FORMAT, "q.coo:2:12: "},
        {"# vartype=SPIN\n", NULL, INFINITY, GBS_ERR_ARGUMENT, "a constant energy of inf"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        test_row("%s", same[i].text);
        const gbs_read_options options = {
            .size = sizeof options, .vartype = same[i].vartype, .offset = same[i].offset};
        gbs_model *m = read_model("q.coo", same[i].text, &options);
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t x[2] = {k >> 1, k & 1};
            assert_true(gbs_model_log_density(m, x) == 1.5 - 2.0 * x[0] + 3.0 * x[0] * x[1]);
        }
        gbs_model_free(m);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_row("%s", bad[i].text);
        const gbs_read_options options = {
            .size = sizeof options, .vartype = bad[i].vartype, .offset = bad[i].offset};
        refuse_model("q.coo", bad[i].text, &options, bad[i].status, bad[i].part);
    }
    test_no_row();
    refuse_model("a.mtx", ROW,
                 &(gbs_read_options){.size = sizeof(gbs_read_options), .vartype = "SPIN"},
                 GBS_ERR_ARGUMENT, "a vartype does not apply to mtx files");
    refuse_model("a.mtx", ROW, &(gbs_read_options){.size = sizeof(gbs_read_options), .offset = 1},
                 GBS_ERR_ARGUMENT, "a constant energy does not apply to mtx files");
}

static void diagonal(void **state)
{
    (void)state;
    gbs_read_options options = {.diagonal = "ignore"};
    expect_read("a.mtx", ROW, &options, 0, NO_FIELD, 1, 0, -1);
    expect_read("a.coo", "# vartype=SPIN\n0 0 9\n0 0 8\n0 1 1\n1 2 -1", &options, 0, NO_FIELD, -1,
                0, 1);
    /* An entry that is left out still counts as an entry of the file. */
    refuse_model("a.coo", "# vartype=SPIN\n0 0 9\n0 1 1\n1 2 -1\n1 0 2", &options, GBS_ERR_FORMAT,
                 "a.coo:5:1: found 1 0 after 0 1: 1 entry repeats an earlier entry");
    expect_read("a.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n.5 1 0 7 -1 0", &options,
                0, NO_FIELD, 1, 0, -1);
    options.convention = "maxcut";
    expect_read("a.mtx", ROW, &options, 0, NO_FIELD, -1, 0, 1);
    options.diagonal = "error";
    refuse_model("a.mtx", ROW, &options, GBS_ERR_FORMAT,
                 "a.mtx:5:1: found an entry on the diagona");
    refuse_model("a.coo", "# vartype=SPIN\n1 1 0", &options, GBS_ERR_FORMAT, "a.coo:2:1: found an");
    options.diagonal = "field";
    refuse_model("a.mtx", ROW, &options, GBS_ERR_FORMAT,
                 "a.mtx:5:1: found a field, but a cut has no fields");
    options.convention = NULL;
    expect_read("a.mtx", ROW, &options, 0, (const double[3]){0.5, 0, 0}, 1, 0, -1);
    options.diagonal = "fields";
    refuse_model("a.mtx", ROW, &options, GBS_ERR_ARGUMENT,
                 "diagonal 'fields' is not known, expected field, ignore or error");
}

/* Tests entries at the same place, and on either side of the diagonal. */
static void repeated(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
        const char *part;
    } cases[] = {
        {"a.mtx", MTX "symmetric\n3 3 3\n2 1 1\n3 2 -1\n2 1 2",
         "a.mtx:5:1: found 2 1 after 2 1: 1 entry repeats an earlier entry"},
        {"a.mtx", MTX "general\n3 3 4\n2 1 3\n3 2 -1\n1 2 1\n1 2 2",
         "a.mtx:6:1: found 1 2 after 1"},
        {"a.rud", "3 3\n1 2 1\n2 3 -1\n2 1 2", "a.rud:4:1: found 2 1 after 1 2"},
        {"a.coo", "# vartype=SPIN\n0 1 1\n1 2 -1\n1 0 2", "a.coo:4:1: found 1 0 after 0 1"},
    };
    for (int i = 0; i < 4; i++) {
        warnings warned = {0};
        const gbs_read_options lenient = {.lenient = 1, .warn = take_warning, .context = &warned};
        refuse_model(cases[i].name, cases[i].text, NULL, GBS_ERR_FORMAT, cases[i].part);
        const double sign = i < 2 ? 1 : -1;
        expect_read(cases[i].name, cases[i].text, &lenient, 0, NO_FIELD, sign * 3, 0, -sign);
        assert_int_equal(warned.n, 1);
        assert_non_null(strstr(warned.last, cases[i].part));
    }
    const char *unequal = MTX "general\n3 3 3\n2 1 1\n3 2 -1\n1 2 2";
    refuse_model("a.mtx", unequal, NULL, GBS_ERR_FORMAT,
                 "a.mtx:5:1: found 2 across the diagonal from 1, expected one value");
    refuse_model("a.mtx", unequal, &(gbs_read_options){.lenient = 1}, GBS_ERR_FORMAT, "across");
    refuse_model("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n0 1\n3 0", NULL,
                 GBS_ERR_FORMAT, "a.mtx:4:1: found 3 across the diagonal from 1");
    /* Tests sums of zero, and sums beyond the largest double. */
    const gbs_read_options lenient = {.lenient = 1};
    expect_read("a.rud", "3 2\n1 2 1\n1 2 -1", &lenient, 0, NO_FIELD, 0, 0, 0);
    refuse_model("a.rud", "3 2\n1 2 1e308\n1 2 1e308", &lenient, GBS_ERR_FORMAT,
                 "a.rud:2:1: factor 0: coupling -inf");
    refuse_model("a.coo", "# vartype=SPIN\n0 1 1\n0 1 2\n0 1 3", NULL, GBS_ERR_FORMAT,
                 "a.coo:3:1: found 0 1 after 0 1: 2 entries repeat");
}

/* Tests a long list that has every pair twice. The sums are exact, and the time is not
 * quadratic. */
static void many_repeated(void **state)
{
    (void)state;
    enum { N = 20000, BYTES = 24 };
    char *text = malloc((size_t)N * BYTES + 64);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "%d %d\n", N / 2 + 1, N);
    for (int i = 0; i < N; i++) { /* a star, in which all entries share a variable */
        int leaf = i % (N / 2) + 2;
        at += (size_t)sprintf(text + at, i < N / 2 ? "1 %d %d\n" : "%d 1 %d\n", leaf, i);
    }
    const gbs_read_options lenient = {.lenient = 1, .convention = "physics"};
    gbs_model *m = read_model("star.rud", text, &lenient);
    free(text);
    assert_int_equal(gbs_model_n_factors(m), N / 2);
    double sum = 0;
    uint32_t *x = calloc(N / 2 + 1, sizeof *x);
    assert_non_null(x);
    sum = gbs_model_log_density(m, x);
    assert_true(sum == (double)N * (N - 1) / 2);
    x[1] = 1; /* entries 0 and N / 2 are equal */
    assert_true(gbs_model_log_density(m, x) == sum - N);
    free(x);
    gbs_model_free(m);
}

static void zeros(void **state)
{
    (void)state;
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model *m = read_model("a.rud", "3 3\n1 2 0\n2 3 -0\n1 3 2", &options);
    assert_int_equal(gbs_model_n_factors(m), 1);
    gbs_model_free(m);
    assert_int_equal(warned.n, 0);
    m = read_model("a.mtx", MTX "symmetric\n3 3 2\n1 1 0\n2 1 1e-400", &options);
    assert_int_equal(gbs_model_n_factors(m), 0);
    gbs_model_free(m);
    assert_string_equal(warned.last, "a.mtx: 1 value is too small for a double and became zero");
}

static void lenient_comments(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    const char *text = "c made by hand\n3 2\n# edges\n1 2 1\nc\n2 3 -1\n# end\n";
    expect_read("a.rud", text, &options, 0, NO_FIELD, -1, 0, 1);
    assert_int_equal(warned.n, 1);
    refuse_model("a.rud", text, NULL, GBS_ERR_FORMAT, "a.rud:1:1: found a comment");
    refuse_model("a.rud", "3 1\n1 2\n# more", NULL, GBS_ERR_FORMAT, "a.rud:3:1: found a comment");
    expect_read("a.rud", "3 1\n1 2 1\n2 3 1", &options, 0, NO_FIELD, -1, 0, 0);
    assert_non_null(strstr(warned.last, "a.rud:3:1: found '2', expected the end of the file"));
    expect_read("a.mtx", MTX "symmetric\n3 3 1\n2 1 1\n3 1 1", &options, 0, NO_FIELD, 1, 0, 0);
}

static void mtx_refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.mtx:1:1: found the end of the file, expected %%MatrixMarket"},
        {"3 3 3", "a.mtx:1:1: found '3', expected %%MatrixMarket"},
        {"%%MatrixMarket", "found the end of the line, expected matrix"},
        {"%%MatrixMarket vector", "a.mtx:1:16: found 'vector', expected matrix"},
        {"%%MatrixMarket matrix coordinate complex general", "found 'complex', expected real, int"},
        {"%%MatrixMarket matrix coordinate real hermitian", "'hermitian', expected general or sym"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric", "found 'skew-symmetric'"},
        {"%%MatrixMarket matrix array pattern general",
         "found 'pattern', expected real or integer"},
        {MTX "general more", "found 'more', expected the end of the line after the symmetry"},
        {MTX "general\n% only\n", "a.mtx:3:1: found the end of the file, expected the size of the"},
        {MTX "general\n2 3 1\n1 1 1", "a.mtx:2:3: found 2 rows and 3 columns, expected a square"},
        {MTX "general\n3 3\n1 1 1", "a.mtx:2:4: found the end of the line, expected the number of"},
        {MTX "general\n3 3 1 1\n1 1 1", "found '1', expected the end of the line after the size"},
        {MTX "general\n3 3 2\n1 1 1\n",
         "a.mtx:2:5: found '2' as the number of entries, but the 7 "},
        {MTX "general\n3 3 2\n1 1 1.000000\n", "a.mtx:4:1: found the end of the file, expected "
                                               "entry 2 of 2"},
        {MTX "general\n3 3 1\n1 1 1\n2 1 1", "a.mtx:4:1: found '2', expected the end of the file"},
        {MTX "general\n3 3 9223372036854775808\n", "found '9223372036854775808' as the number of"},
        {MTX "general\n9223372036854775808 9223372036854775808 1\n1 1 1",
         "a.mtx:2:1: found 9223372036854775808 variables, but a file of"},
        {MTX "general\n6000 6000 1\n1 1 1",
         "a.mtx:2:1: found 6000 variables, but a file of 63 bytes may have at most 5104"},
        {MTX "general\n3 3 1\n0 1 1", "a.mtx:3:1: found '0', expected a row from 1"},
        {MTX "general\n3 3 1\n1 4 1",
         "a.mtx:3:3: found '4', expected a column from 1 of at most 3"},
        {MTX "general\n3 3 1\n1 -1 1", "found '-1', expected a column from 1"},
        {MTX "general\n3 3 1\n1 2\n     ", "a.mtx:3:4: found the end of the line, expected a fin"},
        {MTX "general\n3 3 1\n1 2 1 5", "found '5', expected the end of the line after an entry"},
        {MTX "general\n3 3 1\n1 2 inf", "a.mtx:3:5: found 'inf', expected a finite value"},
        {MTX "general\n3 3 1\n1 2 nan", "found 'nan', expected a finite value"},
        {MTX "general\n3 3 1\n1 2 1e999", "beyond the largest double"},
        {MTX "general\n3 3 1\n1 2 1,5", "found '1,5'"},
        {MTX "symmetric\n3 3 1\n1 2 1", "a.mtx:3:1: found an entry above the diagonal of a symm"},
        {"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 1.0", "expected an integer"},
        {"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 -",
         "found '-', expected an"},
        {"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2 1", "end of the line after"},
        {"%%MatrixMarket matrix array real general\n2 2\n0 1 1",
         "a.mtx:2:1: found 2 rows, but the"},
        {"%%MatrixMarket matrix array real general\n2 2\n0 1 1      ",
         "found the end of the file, expected row 2 of column 2 of 2"},
        {"%%MatrixMarket matrix array real general\n2 2\n0 1 1 0 0",
         "expected the end of the file"},
        {"%%MatrixMarket matrix array real symmetric\n4096 4096\n0", "found 4096 rows"},
    };
    refuse_all("a.mtx", cases, sizeof cases / sizeof cases[0], NULL);
}

static void other_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
        const char *part;
    } cases[] = {
        {"a.rud", "", "a.rud:1:1: found the end of the file, expected the numbers of vertices"},
        {"a.rud", "64\n0 0 0.0\n",
         "a.rud:1:3: found the end of the line, expected the number of e"},
        {"a.rud", "3 1 1\n1 2 1", "found '1', expected the end of the line after the number of ed"},
        {"a.rud", "3 2\n1 2 1",
         "a.rud:1:3: found '2' as the number of edges, but the 6 bytes left"},
        {"a.rud", "3 2\n1 2 1    \n\n",
         "a.rud:4:1: found the end of the file, expected edge 2 of 2"},
        {"a.rud", "3 1\n1 2 1\n2 3 1", "a.rud:3:1: found '2', expected the end of the file after"},
        {"a.rud", "3 1\n1 1 1", "a.rud:2:1: found an edge of vertex 1 with itself"},
        {"a.rud", "3 1\n0 1 1", "a.rud:2:1: found '0', expected a vertex from 1"},
        {"a.rud", "3 1\n1 4 1", "a.rud:2:3: found '4', expected a vertex from 1 of at most 3"},
        {"a.rud", "3 1\n1 2 1 1", "found '1', expected the end of the line after an edge"},
        {"a.rud", "3 1\n1 2 inf", "found 'inf', expected a finite weight"},
        {"a.rud", "3 1\n1     ", "found the end of the line, expected a vertex"},
        {"a.rud", "3 9223372036854775808\n1 2", "found '9223372036854775808' as the number of edg"},
        {"a.rud", "4294967295 1\n1 2",
         "found 4294967295 variables, but a file of 16 bytes may hav"},
        {"a.rud", "4209 0\n",
         "a.rud:1:1: found 4209 variables, but a file of 7 bytes may have at "
         "most 4208"},
        {"a.coo", "# vartype=SPIN\n0 5000 1", "a.coo:2:3: found 5001 variables, but a file of"},
        {"a.rud", "99999999999999999999 1\n1 2", "found '99999999999999999999'"},
        {"a.coo", "", "a.coo:1:1: found the end of the file, expected '# vartype=SPIN' or '# vart"},
        {"a.coo", "# only a comment\n", "a.coo:2:1: found the end of the file, expected '# vartyp"},
        {"a.coo", "# vartype=DISCRETE", "a.coo:1:11: found 'DISCRETE', expected SPIN or BINARY"},
        {"a.coo", "# vartype=", "a.coo:1:11: found the end of the line, expected SPIN or BINARY"},
        {"a.coo", "# vartype=SPIN\n# vartype=BINARY", "a.coo:2:11: found another vartype"},
        {"a.coo", "0 1 1\n# vartype=SPIN", "a.coo:1:1: found an entry before a line '# vartype="},
        {"a.coo", "# vartype=SPIN\n0 1 1\n# vartype=SPIN",
         "a.coo:3:11: found another vartype, expected it once an"},
        {"a.coo", "# vartype=SPIN\n0 1", "a.coo:2:4: found the end of the line, expected a finite"},
        {"a.coo", "# vartype=SPIN\n0", "found the end of the line, expected a second variable"},
        {"a.coo", "# vartype=SPIN\n0 -1 1", "found '-1', expected a second variable"},
        {"a.coo", "# vartype=SPIN\n0 1 1 1",
         "found '1', expected the end of the line after an ent"},
        {"a.coo", "# vartype=SPIN\n0 1 nan", "found 'nan', expected a finite value"},
        {"a.coo", "# vartype=SPIN\n0 9223372036854775807 1", "found 9223372036854775808 variables"},
        {"a.coo", "# vartype=SPIN\n0 18446744073709551615 1", "found '18446744073709551615', exp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_row("%s: %s", cases[i].name, cases[i].text);
        refuse_model(cases[i].name, cases[i].text, NULL, GBS_ERR_FORMAT, cases[i].part);
    }
    test_no_row();
    const gbs_read_options options = {.convention = "max-cut"};
    refuse_model("a.rud", "0 0", &options, GBS_ERR_ARGUMENT,
                 "convention 'max-cut' is not known, expected physics, bqm or maxcut");
}

/* Options without a meaning for a format are refused, in reading and in writing. */
static void options_refused(void **state)
{
    (void)state;
    const gbs_read_options convention = {.convention = "bqm"};
    const gbs_read_options diagonals = {.diagonal = "ignore"};
    const gbs_read_options scale = {.weight_scale = 2};
    const gbs_read_options colors = {.states = 3};
    refuse_model("a.uai", "MARKOV 0 0", &convention, GBS_ERR_ARGUMENT,
                 "a.uai: a convention of couplings does not apply to uai files");
    refuse_model("a.wcnf", "1 1 0", &convention, GBS_ERR_ARGUMENT, "does not apply to wcnf files");
    refuse_model("a.rud", "0 0", &diagonals, GBS_ERR_ARGUMENT,
                 "a.rud: what a diagonal means does not apply to rud files");
    refuse_model("a.mtx", ROW, &scale, GBS_ERR_ARGUMENT,
                 "a scale of weights does not apply to mtx");
    refuse_model("a.coo", "0 0 1", &colors, GBS_ERR_ARGUMENT, "a number of colours does not apply");
    refuse_model("a.mln", "1 a", &(gbs_read_options){.weight_scale = -1}, GBS_ERR_ARGUMENT,
                 "a scale of weights of -1, expected one above 0");
    refuse_model("a.mln", "1 a", &(gbs_read_options){.weight_scale = NAN}, GBS_ERR_ARGUMENT,
                 "expected one above 0");
    gbs_model *m = read_model("a.mtx", ROW, NULL);
    gbs_error err;
    const gbs_write_options bqm = {.convention = "bqm"};
    const gbs_write_options unknown = {.convention = "BQM"};
    assert_int_equal(gbs_model_write(m, scratch_path("a.uai"), &bqm, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "does not apply to uai files"));
    assert_int_equal(gbs_model_write(m, scratch_path("a.mtx"), &unknown, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message,
                        "convention 'BQM' is not known, expected physics, bqm or maxcut");
    assert_int_not_equal(access(scratch_path("a.mtx"), F_OK), 0);
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
        cmocka_unit_test(conventions),      cmocka_unit_test(layouts),
        cmocka_unit_test(smallest),         cmocka_unit_test(gaps_in_numbers),
        cmocka_unit_test(binary),           cmocka_unit_test(vartypes_and_offsets),
        cmocka_unit_test(diagonal),         cmocka_unit_test(repeated),
        cmocka_unit_test(many_repeated),    cmocka_unit_test(zeros),
        cmocka_unit_test(lenient_comments), cmocka_unit_test(mtx_refusals),
        cmocka_unit_test(other_refusals),   cmocka_unit_test(options_refused),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
