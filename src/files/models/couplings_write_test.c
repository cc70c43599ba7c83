/* SPDX-License-Identifier: Apache-2.0 */
/* Tests writing Matrix Market, rudy and COO: which factors are couplings, which models are
 * refused, and reading back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/test_written.h"

#define MTX "%%MatrixMarket matrix coordinate real "

/* Three spins in a row, with a field on the first spin. */
static const char ROW[] = MTX "symmetric\n% a comment\n\n3 3 3\n1 1 0.5\n2 1 1\n3 2 -1\n";

static void written_text(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_write_options options = {.warn = take_warning, .context = &warned};
    gbs_model *m = read_model("a.mtx", ROW, NULL);
    expect_written(m, "w.mtx", &options,
                   "%%MatrixMarket matrix coordinate real symmetric\n% couplings, fields on the "
                   "diagonal, convention physics\n3 3 3\n1 1 0.5\n2 1 1\n3 2 -1\n");
    expect_written(m, "w.coo", &options, "# vartype=SPIN\n0 0 -0.5\n0 1 -1\n1 2 1\n");
    options.convention = "bqm";
    expect_written(m, "w.mtx", &options,
                   "%%MatrixMarket matrix coordinate real symmetric\n% couplings, fields on the "
                   "diagonal, convention bqm\n3 3 3\n1 1 -0.5\n2 1 -1\n3 2 1\n");
    options.convention = "physics";
    expect_written(m, "w.coo", &options, "# vartype=SPIN\n0 0 0.5\n0 1 1\n1 2 -1\n");
    refuse_write(m, "no.rud", NULL, "factor 0 (0) holds a field, which rud files cannot hold");
    options.convention = "maxcut";
    refuse_write(m, "no.mtx", &options, "factor 0 (0) holds a field");
    gbs_model_free(m);
    m = read_model("a.rud", "5 2\n3 1 2\n1 2 0.1", NULL);
    options.convention = NULL;
    expect_written(m, "w.rud", &options, "5 2\n1 3 2\n1 2 0.1\n");
    options.convention = "physics";
    expect_written(m, "w.rud", &options, "5 2\n1 3 -2\n1 2 -0.1\n");
    options.convention = NULL;
    expect_written(m, "w.coo", &options, "# vartype=SPIN\n0 2 2\n0 1 0.1\n4 4 0\n");
    gbs_model_free(m);
    assert_int_equal(warned.n, 0);
}

/* A written file reads as the same model, to the bit, and the other formats agree. */
static void write_and_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        MTX "general\n5 5 7\n1 1 0.1\n4 4 -1e-300\n2 1 0.3333333333333333\n5 2 -7\n3 4 1e9\n1 5 "
            "-0.2\n3 3 2",
        MTX "general\n4 4 3\n2 1 1\n3 2 -1.5\n4 1 2.25\n",
    };
    static const char *const endings[] = {"b.mtx", "b.coo", "b.rud", "b.mtx.gz", "b.lg"};
    static const char *const words[] = {NULL, "physics", "bqm", "maxcut"};
    for (size_t i = 0; i < 2; i++) {
        gbs_model *m = read_model("a.mtx", texts[i], NULL);
        for (size_t k = 0; k < 20; k++) {
            const char *path = scratch_path(endings[k / 4]);
            const gbs_write_options write = {.convention = words[k % 4]};
            const gbs_read_options read = {.convention = words[k % 4]};
            gbs_model *back = NULL;
            gbs_error err;
            bool refused = i == 0 && (k / 4 == 2 || (k % 4 == 3 && k / 4 != 4));
            if (k / 4 == 4 && k % 4 != 0) {
                continue;
            }
            if (refused) { /* fields */
                assert_int_equal(gbs_model_write(m, path, &write, &err), GBS_ERR_UNSUPPORTED);
                continue;
            }
            assert_int_equal(gbs_model_write(m, path, &write, &err), GBS_OK);
            assert_int_equal(gbs_model_read(path, &read, &back, &err), GBS_OK);
            if (k / 4 != 4) {
                assert_string_equal(gbs_model_digest(back), gbs_model_digest(m));
            }
            double w[32] = {0};
            double w_back[32] = {0};
            assert_int_equal(enumerate(m, w, 32), enumerate(back, w_back, 32));
            assert_memory_equal(w, w_back, sizeof w);
            gbs_model_free(back);
        }
        gbs_model_free(m);
    }
}

/* Makes every kind of factor with at most two spins, some of them on one pair. */
static gbs_model *all_kinds(void)
{
    const uint32_t arity[] = {2, 2, 2};
    const uint32_t scope[] = {1, 2};
    const uint32_t literal[] = {0, 1};
    const double pair[] = {0.3, -1.25, 2, 0.75};
    const double one[] = {0.5, -2};
    const double constant = 0.625;
    uint32_t table = 0;
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_error err;
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 3, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 2, 1, -0.7, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 0, 0.3, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_potts(b, 0, 1, 1.1, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 1, scope, 0.2, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 2, scope, 0.4, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 2, scope, literal, 0.9, &err),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 4, pair, &table, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 2, (const uint32_t[]){2, 0}, table, &err),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 2, one, &table, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 1, scope + 1, table, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 1, &constant, &table, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 0, NULL, table, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, &err), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static void splits_kinds(void **state)
{
    (void)state;
    static const char *const endings[] = {"k.mtx", "k.coo"};
    gbs_model *m = all_kinds();
    double w[8] = {0};
    assert_int_equal(enumerate(m, w, 8), 8);
    for (int i = 0; i < 2; i++) {
        warnings warned = {0};
        const gbs_write_options options = {.warn = take_warning, .context = &warned};
        gbs_model *back = NULL;
        gbs_error err;
        const char *path = scratch_path(endings[i]);
        assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
        const bool keeps = i == 1; /* the constant stands in an own line */
        assert_int_equal(warned.n, keeps ? 0 : 1);
        const char *said =
            keeps ? NULL : strstr(warned.last, "lost a constant of the log-density, ");
        assert_true(keeps || said != NULL);
        const double lost =
            keeps ? 0.0 : strtod(said + strlen("lost a constant of the log-density, "), NULL);
        assert_int_equal(gbs_model_read(path, NULL, &back, &err), GBS_OK);
        /* each pair and each variable once */
        assert_int_equal(gbs_model_n_factors(back), keeps ? 7 : 6);
        double w_back[8] = {0};
        (void)enumerate(back, w_back, 8);
        for (int k = 0; k < 8; k++) {
            expect_near(w_back[k] * exp(lost), w[k]);
        }
        gbs_model_free(back);
    }
    gbs_model_free(m);
}

/* Tests files of isolated variables with hardly any entries. They are valid, but the reader
 * refuses them. */
static void hardly_any_entries(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned most;
    } cases[] = {{"i.rud", 4208}, {"i.coo", 4528}, {"i.wcnf", 4240}, {"i.col.gz", 4320}};
    gbs_model *m = read_model("a.mtx", MTX "symmetric\n% so many bytes\n5000 5000 0\n", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        warnings warned = {0};
        gbs_write_options options = {.warn = take_warning, .context = &warned};
        gbs_read_options colors = {.states = i == 3 ? 2 : 0};
        gbs_error err = {0};
        gbs_model *back = NULL;
        char part[64];
        const char *path = scratch_path(cases[i].name);
        assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
        (void)snprintf(part, sizeof part, "bytes it takes at most %u", cases[i].most);
        if (strstr(warned.last, part) == NULL) {
            fail_msg("\"%s\" lacks \"%s\"", warned.last, part);
        }
        assert_int_equal(gbs_model_read(path, &colors, &back, &err), GBS_ERR_FORMAT);
        (void)snprintf(part, sizeof part, "at most %u", cases[i].most);
        assert_non_null(strstr(err.message, part));
    }
    gbs_model_free(m);
}

static void unwritable(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"MARKOV 3 2 2 2 2 1 0 3 0 1 2 2 1 2 8 1 2 3 4 5 6 7 8",
         "factor 1 (0, 1, 2) has more than two variables, which mtx files cannot hold"},
        {"MARKOV 2 2 3 2 1 0 2 0 1 2 1 2 6 1 2 3 4 5 6",
         "factor 1 (0, 1) has a variable that is no spin of two states, which mtx"},
        {"MARKOV 2 2 2 2 1 0 2 0 1 2 1 2 4 1 0 3 4",
         "factor 1 (0, 1) forbids a configuration, which mtx files cannot hold"},
        {"MARKOV 2 2 2 1 0 1 0", "factor 0 () forbids a configuration"},
        {"MARKOV 2 2 4 1 1 0 2 1 2", "variable 1 has 4 states, and mtx files hold spins"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_model *m = read_model("a.uai", cases[i].text, NULL);
        refuse_write(m, "no.mtx", NULL, cases[i].part);
        gbs_model_free(m);
    }
    gbs_model *m = NULL;
    gbs_error err;
    assert_int_equal(gbs_model_read(data_path("mixed.uai"), NULL, &m, &err), GBS_OK);
    refuse_write(m, "no.coo", NULL, "factor 0 (");
    gbs_model_free(m);
    /* Two fields, or two couplings, are too large for any reader when they are added. */
    m = read_model("a.lg", "MARKOV 1 2 2 1 0 1 0 2 -6e279 6e279 2 -6e279 6e279", NULL);
    refuse_write(m, "no.coo", NULL, "add up beyond 1e+280");
    gbs_model_free(m);
    m = read_model("a.lg",
                   "MARKOV 2 2 2 2 2 0 1 2 1 0 4 6e279 -6e279 -6e279 6e279 "
                   "4 6e279 -6e279 -6e279 6e279",
                   NULL);
    refuse_write(m, "no.rud", NULL, "add up beyond 1e+280");
    gbs_model_free(m);
    /* A field that other fields cancel is not written. */
    m = read_model("a.lg", "MARKOV 2 2 2 3 1 0 1 0 2 1 0 2 -1 1 2 1 -1 4 2 -2 -2 2", NULL);
    expect_written(m, "cancel.rud", NULL, "2 1\n1 2 -2\n");
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
        cmocka_unit_test(written_text), cmocka_unit_test(write_and_read),
        cmocka_unit_test(splits_kinds), cmocka_unit_test(hardly_any_entries),
        cmocka_unit_test(unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
