/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ordinary ways to write one small table. All of them give the same rows or are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "gibbsite/table.h"
#include "tables/sheet.h"
#include "text/test_models.h"

#define ROWS 4

/* Makes the variables "day" (0, 1), "mood" (low, fair, high), "seen" (false, true), "odd" (NA,
 * -). */
static gbs_model *new_model(void)
{
    static const char bif[] = "network n { }\n"
                              "variable day { type discrete [ 2 ] { 0, 1 }; }\n"
                              "variable mood { type discrete [ 3 ] { low, fair, high }; }\n"
                              "variable seen { type discrete [ 2 ] { false, true }; }\n"
                              "variable odd { type discrete [ 2 ] { NA, - }; }\n"
                              "probability ( day ) { table 0.5, 0.5; }\n"
                              "probability ( mood ) { table 0.5, 0.25, 0.25; }\n"
                              "probability ( seen ) { table 0.5, 0.5; }\n"
                              "probability ( odd ) { table 0.5, 0.5; }\n";
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    const gbs_status status =
        gbs_model_read_memory("n.bif", bif, sizeof bif - 1, NULL, &model, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, GBS_OK);
    return model;
}

typedef struct told {
    char text[1024];
} told;

static void take_note(void *context, const char *message)
{
    told *t = context;
    const size_t n = strlen(t->text);
    (void)snprintf(t->text + n, sizeof t->text - n, "%s|", message);
}

/* @return the number of rows, -1 if the table is refused. @param x [ROWS][2] states of day and
 *   mood. */
static int read_rows(const gbs_model *model, const char *text, gbs_table_options options,
                     uint32_t x[ROWS][2], told *notes, gbs_error *err)
{
    gbs_table *table = NULL;
    int n = 0;
    int end = 0;
    *notes = (told){""};
    *err = (gbs_error){GBS_OK, ""};
    options.size = sizeof options;
    options.tell = take_note;
    options.context = notes;
    gbs_status status =
        gbs_table_open_memory(model, "t", text, strlen(text), &options, &table, err);
    while (status >= 0 && !end) {
        uint32_t n_columns = 0;
        uint32_t state[8] = {0};
        const uint32_t *column = gbs_table_columns(table, &n_columns);
        status = gbs_table_next(table, state, NULL, &end, err);
        for (uint32_t k = 0; status >= 0 && !end && k < n_columns; k++) {
            assert_true(n < ROWS);
            if (column[k] < 2) {
                x[n][column[k]] = state[k];
            }
        }
        n += status >= 0 && !end;
    }
    gbs_table_free(table);
    return status < 0 ? -1 : n;
}

#define U GBS_UNOBSERVED

/* Texts whose rows are 0 low, 1 fair, 1 high. With `gap` the second day is missing. */
static const struct {
    const char *row, *text;
    int gap, numbers;
    const char *note; /* part of the expected warning; "" for no warning */
} variants[] = {
    {"plain", "day,mood\n0,low\n1,fair\n1,high\n", 0, 0, ""},
    {"index of pandas", ",day,mood\n0,0,low\n1,1,fair\n2,1,high\n", 0, 0, "has no name"},
    {"row names of R",
     "\"\",\"day\",\"mood\"\n\"1\",0,\"low\"\n\"2\",1,\"fair\"\n\"3\",1,\"high\"\n", 0, 0,
     "has no name"},
    {"write.table",
     "\"day\"\t\"mood\"\n\"1\"\t0\t\"low\"\n\"2\"\t1\t\"fair\"\n\"3\"\t1\t\"high\"\n", 0, 0,
     "has no name"},
    {"write.table with blanks",
     "\"day\" \"odd one\" \"mood\"\n\"1\" 0 \"a b\" \"low\"\n\"2\" 1 NA \"fair\"\n\"3\" 1 2.5 "
     "\"high\"\n",
     0, 0, "has no name"},
    {"write.table of Windows, unquoted cells",
     "\"day\" \"mood\"\r\n\"1\" 0 low\r\n\"2\" NA fair\r\n\"3\" 1 high\r\n", 1, 0, "1 NA"},
    {"write.table with blanks, without row names",
     "\"day\" \"mood\"\n0 \"low\"\n1 \"fair\"\n1 \"high\"\n", 0, 0, ""},
    {"write.table without quotes", "day mood odd\n1 0 low NA\n2 1 fair -\n3 1 high NA\n", 0, 0,
     "has no name"},
    {"write.table of chosen rows, tabs, without quotes",
     "day\tmood\n7\t0\tlow\n12\tNA\tfair\n3\t1\thigh\n", 1, 0, "has no name"},
    {"write.table with named rows and commas, without quotes",
     "mood,day\nmonday,low,0\nfriday,fair,1\nsunday,high,1\n", 0, 0, "has no name"},
    {"write.table without quotes and row names", "mood day\nlow 0\nfair 1\nhigh 1\n", 0, 0, ""},
    {"a printed frame", "  day  mood\n1   0   low\n2  NA  fair\n10  1  high\n", 1, 0, "1 NA"},
    {"decimals", "day,mood\n0.0,low\n1.0,fair\n1.00,high\n", 0, 0, ""},
    {"decimals and gaps", "day,mood\n0.0,low\n,fair\n1.0,high\n", 1, 0,
     "1 cell has no value: 1 empty"},
    {"NaN", "day,mood\n0,low\nNaN,fair\n1,high\n", 1, 0, "1 NaN"},
    {"NA of pandas", "day,mood\n0,low\n<NA>,fair\n1,high\n", 1, 0, "1 <NA>"},
    {"None", "day,mood\n0,low\nNone,fair\n1,high\n", 1, 0, "1 None"},
    {"NULL", "day,mood\n0,low\nNULL,fair\n1,high\n", 1, 0, "1 NULL"},
    {"?", "day,mood\n0,low\n?,fair\n1,high\n", 1, 0, "1 ?"},
    {"other columns", "id,day,mood,note\n7,0,low,\"a, b\"\n8,1,fair,\n9,1,high,x\n", 0, 0,
     "2 columns are no variable and left out: 'id', 'note'"},
    {"semicolons", "day;mood\n0;low\n1;fair\n1;high\n", 0, 0, ""},
    {"decimal commas", "day;mood\n0,0;low\n1,0;fair\n\"1,00\";high\n", 0, 0, ""},
    {"sep=", "sep=;\r\nday;mood\r\n0;low\r\n1;fair\r\n1;high\r\n", 0, 0, ""},
    {"tabs", "mood\tday\nlow\t0\nfair\t1\nhigh\t1\n", 0, 0, ""},
    {"blank lines", "\nday,mood\n\n0,low\n1,fair\n \t\n1,high\n\n\n", 0, 0, ""},
    {"quotes", "\"day\", \"mood\" \n\"0\",\"low\"\n\"1\", \"fair\"\n1,high", 0, 0, ""},
    {"truth", "day,mood\nFalse,low\nTRUE,fair\ntrue,high\n", 0, 0, ""},
    {"numbers", "day,mood\n0,0\n1,1.0\nTrue,2\n", 0, 1, ""},
    {"a mark of the byte order",
     "\xef\xbb\xbf"
     "day,mood\r\n0,low\r\n1,fair\r\n1,high\r\n",
     0, 0, ""},
    {"draws", "chain,draw,lp,day,mood\n0,0,-1.5,0,0\n0,1,-2,1,1\n1,0,-2,1,2\n", 0, 0, ""},
};

static void ordinary_variants(void **state)
{
    (void)state;
    gbs_model *model = new_model();
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        test_row("%s", variants[i].row);
        uint32_t x[ROWS][2] = {{9, 9}, {9, 9}, {9, 9}, {9, 9}};
        told notes;
        gbs_error err;
        const gbs_table_options options = {.numbers = variants[i].numbers};
        const int n = read_rows(model, variants[i].text, options, x, &notes, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(n, 3);
        const uint32_t right[3][2] = {{0, 0}, {variants[i].gap ? U : 1, 1}, {1, 2}};
        assert_memory_equal(x, right, sizeof right);
        if (variants[i].note[0] == '\0') {
            assert_string_equal(notes.text, "");
        } else {
            assert_non_null(strstr(notes.text, variants[i].note));
        }
    }
    gbs_model_free(model);
}

static const struct {
    const char *text, *message;
    int strict, complete, numbers;
} refused[] = {
    {"Day,mood\n0,low\n", "t:1:1: found 'Day', expected a variable: \"day\" is written nearly so",
     0, 0, 0},
    {"mood,Day \n", "t:1:6: found 'Day'", 0, 0, 0},
    {"day,mod\n", "t:1:5: found 'mod', expected a variable: \"mood\"", 0, 0, 0},
    {"day,modo\n", "\"mood\" is written nearly so", 0, 0, 0},
    {"day,mood,M.ood\n", "t:1:10: found 'M.ood'", 0, 0, 0},
    {"a,b\n0,low\n", "no other column is a variable", 0, 0, 0},
    {"0,low\n1,fair\n", "t:1:1: found '0', expected a variable", 0, 0, 0},
    {"low,0\n1,fair\n", "the first line names the variables", 0, 0, 0},
    {"a b\n0 low\n", "commas, semicolons or tabs separate columns", 0, 0, 0},
    {"day mood\n1 0 low\n2 1 low\n3 1\n",
     "t:4:1: found 2 fields, expected 3 as in the header and a row", 0, 0, 0},
    {"day mood\n1 0 very low\n", "t:2:1: found more than 2 fields", 0, 0, 0},
    {"day mood\n0 low 1\n1 low 1\n0 fair 1\n", "t:2:1: found more than 2 fields", 0, 0, 0},
    {"day,mood\n1,low,\n0,fair,\n", "t:2:1: found more than 2 fields", 0, 0, 0},
    {"mood,day\n0.5,low,1\n0.7,low,1\n0.1,low,1\n", "t:2:1: found more than 2", 0, 0, 0},
    {"day mood\n1 0 low\n", "t:2:1: found more than 2 fields", 0, 0, 0},
    {"mood,day\n5,low,1\n7,low,1\n", "t:2:1: found more than 2 fields", 0, 0, 0},
    {"day;mood\n1,000;low\n", "t:2:1: found '1,000', expected a state", 0, 0, 0},
    {"", "t:1:1: found an empty file, expected a line that names variables", 0, 0, 0},
    {"day,mood,day\n", "t:1:10: found 'day' again", 0, 0, 0},
    {"day,mood\n0,2\n", "t:2:3: found '2', expected a state, or nothing", 0, 0, 0},
    {"day,mood\n0,2\n", "add --states numbers", 0, 0, 0},
    {"day,mood\n0,3\n", "expected the number of a state of variable mood, 0 to 2", 0, 0, 1},
    {"day,mood\n0,1.5\n", "t:2:3: found '1.5'", 0, 0, 1},
    {"day,mood\n0,LOW\n", "t:2:3: found 'LOW', expected a state", 0, 0, 0},
    {"day,mood\n\n\"0\" ,  what\n", "t:3:8: found 'what'", 0, 0, 0},
    {"day,mood\n\"0\nx\",low\n", "t:2:1: found '0\\x0ax'", 0, 0, 0},
    {"day,mood\n0,low,1\n", "t:2:1: found more than 2 fields, expected 2 as in the header", 0, 0,
     0},
    {"day,mood\n0\n", "t:2:1: found 1 field, expected 2", 0, 0, 0},
    {"day,mood\n0,\"low\n", "t:2:3: found the end of the table", 0, 0, 0},
    {"day,mood\n\"0\"1,low\n", "t:2:4: found text behind a quote", 0, 0, 0},
    {"day,mood\r0,low\r1,high\r", "t:1:9: found a carriage return alone", 0, 0, 0},
    {"# only\n", "t:2:1: found only comments and blank lines", 0, 0, 0},
    {"\n\n", "found only comments and blank lines", 0, 0, 0},
    {"day,x\n0,1\n", "t:1:5: found 'x', expected a variable in every column", 1, 0, 0},
    {"day,mood,odd\n0,low,NA\n", "t:1:1: found no column of variable seen", 0, 1, 0},
    {"day,mood,odd,seen\n0,low,NA,\n", "t:2:10: found no value", 0, 1, 0},
};

static void ambiguous_tables_are_refused(void **state)
{
    (void)state;
    gbs_model *model = new_model();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        test_row("%s", refused[i].text);
        uint32_t x[ROWS][2];
        told notes;
        gbs_error err;
        const gbs_table_options options = {.strict = refused[i].strict,
                                           .complete = refused[i].complete,
                                           .numbers = refused[i].numbers};
        assert_int_equal(read_rows(model, refused[i].text, options, x, &notes, &err), -1);
        assert_int_equal(err.status, GBS_ERR_FORMAT);
        if (strstr(err.message, refused[i].message) == NULL) {
            assert_string_equal(err.message, refused[i].message);
        }
    }
    gbs_model_free(model);
}

/* If a state has the label of a sign of a missing value, cells of its variable mean the state. */
static void signs_that_are_states(void **state)
{
    (void)state;
    static const char text[] = "odd,mood,w\nNA,NA,1\n-,-,0.5\n?,low,2\n";
    gbs_model *model = new_model();
    gbs_error err = {GBS_OK, ""};
    gbs_table *table = NULL;
    told notes = {""};
    const gbs_table_options options = {
        .size = sizeof options, .weights = "w", .tell = take_note, .context = &notes};
    assert_int_equal(
        gbs_table_open_memory(model, "t", text, sizeof text - 1, &options, &table, &err), GBS_OK);
    for (int pass = 0; pass < 2; pass++) {
        static const uint32_t right[3][2] = {{0, U}, {1, U}, {U, 0}};
        static const double weight[3] = {1.0, 0.5, 2.0};
        uint32_t x[2];
        double w = 0.0;
        int end = 0;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(gbs_table_next(table, x, &w, &end, &err), GBS_OK);
            assert_false(end);
            assert_memory_equal(x, right[i], sizeof x);
            assert_true(w == weight[i]);
        }
        assert_int_equal(gbs_table_next(table, x, &w, &end, &err), GBS_OK);
        assert_true(end);
        gbs_table_rewind(table);
    }
    assert_string_equal(notes.text, "t: 3 cells have no value: 1 NA, 1 ?, 1 -|");
    gbs_table_free(table);
    gbs_model_free(model);
}

/* Makes two variables of 2 and 3 states, without names and labels. */
static gbs_model *unnamed(void)
{
    static const char uai[] = "MARKOV\n2\n2 3\n1\n1 0\n2 0.5 0.5\n";
    gbs_model *model = NULL;
    assert_int_equal(gbs_model_read_memory("n.uai", uai, sizeof uai - 1, NULL, &model, NULL),
                     GBS_OK);
    return model;
}

/* Without labels, states are numbers. Variables without names are called by their numbers. */
static void models_without_names(void **state)
{
    (void)state;
    gbs_model *model = unnamed();
    gbs_error err = {GBS_OK, ""};
    uint32_t x[ROWS][2] = {{9, 9}};
    told notes;
    assert_int_equal(
        read_rows(model, "0\t1\n\n1.0\t2\nFalse\t-\n", (gbs_table_options){0}, x, &notes, &err), 2);
    assert_true(x[0][0] == 1 && x[0][1] == 2 && x[1][0] == 0 && x[1][1] == U);
    gbs_model_free(model);
}

/* A first row in place of names would be taken for numbers of variables, and is refused. */
static void rows_are_no_names(void **state)
{
    (void)state;
    gbs_model *model = unnamed();
    gbs_error err = {GBS_OK, ""};
    uint32_t x[ROWS][2] = {{9, 9}};
    told notes;
    assert_int_equal(read_rows(model, "1,0\n0,2\n", (gbs_table_options){0}, x, &notes, &err), -1);
    assert_non_null(strstr(err.message, "t:1:1: found '1', expected a first line that names"));
    gbs_model_free(model);
}

/* 1.000 means 1. It is refused if the separator allows a dot before thousands and a thousand is
 * a state too. */
static void dots_before_thousands(void **state)
{
    (void)state;
    static const char bif[] = "network n { }\n"
                              "variable load { type discrete [ 3 ] { 1, 2, 1000 }; }\n"
                              "variable gear { type discrete [ 2 ] { 1, 2 }; }\n"
                              "probability ( load ) { table 0.5, 0.25, 0.25; }\n"
                              "probability ( gear ) { table 0.5, 0.5; }\n";
    static const struct {
        const char *text;
        int n;
    } tables[] = {
        {"load;gear\n1000;1.000\n2.000;2,00\n", 2},
        {"load;gear\n1.000;1\n", -1},
        {"load\tgear\n1.000\t1\n", -1},
        {"load,gear\n1.000,2.000\n", 1},
        {"load;gear\n1.0;1.0000\n", 1},
    };
    gbs_model *model = NULL;
    assert_int_equal(gbs_model_read_memory("n.bif", bif, sizeof bif - 1, NULL, &model, NULL),
                     GBS_OK);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        test_row("%s", tables[i].text);
        uint32_t x[ROWS][2] = {{9, 9}, {9, 9}, {9, 9}, {9, 9}};
        told notes;
        gbs_error err;
        assert_int_equal(read_rows(model, tables[i].text, (gbs_table_options){0}, x, &notes, &err),
                         tables[i].n);
        if (tables[i].n < 0) {
            assert_non_null(strstr(err.message, "t:2:1: found '1.000', expected a number without"));
        } else {
            assert_true(x[0][0] == (tables[i].n == 2 ? 2 : 0));
        }
    }
    gbs_model_free(model);
}

/* Columns that a program holds are read as files are. Their places are rows and columns. */
static void columns_that_are_held(void **state)
{
    (void)state;
    static const char *const day[3] = {"1.0", NULL, "n/a"};
    static const char *const mood[3] = {"low", "", "HIGH"};
    static const char *const weight[3] = {"1", "2e0", "3"};
    const gbs_column columns[] = {{"note", NULL}, {"mood", mood}, {"w", weight}, {"day", day}};
    const gbs_column misspelt[] = {{"mood", mood}, {"Day", day}};
    gbs_model *model = new_model();
    gbs_error err = {GBS_OK, ""};
    gbs_table *table = NULL;
    told notes = {""};
    uint32_t x[2];
    double w = 0.0;
    int end = 0;
    const gbs_table_options options = {
        .size = sizeof options, .weights = "w", .tell = take_note, .context = &notes};
    assert_int_equal(gbs_table_of_columns(model, "t", 4, columns, 3, &options, &table, &err),
                     GBS_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(gbs_table_next(table, x, &w, &end, &err), GBS_OK);
        assert_true(x[0] == 0 && x[1] == 1 && w == 1.0);
        assert_int_equal(gbs_table_next(table, x, &w, &end, &err), GBS_OK);
        assert_true(x[0] == U && x[1] == U && w == 2.0);
        assert_int_equal(gbs_table_next(table, x, &w, &end, &err), GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "t, row 3, column 'mood': found 'HIGH', expected"));
        gbs_table_rewind(table);
    }
    assert_string_equal(notes.text, "t: 1 column is no variable and left out: 'note'|");
    gbs_table_free(table);
    assert_int_equal(gbs_table_of_columns(model, "t", 2, misspelt, 3, NULL, &table, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "t, column 2: found 'Day', expected a variable: \"day\""));
    assert_int_equal(gbs_table_of_columns(model, "t", 0, columns, 3, NULL, &table, &err),
                     GBS_ERR_ARGUMENT);
    gbs_model_free(model);
}

static void names_nearly_alike(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int alike, close;
    } pairs[] = {
        {"Light on", "light_on", 1, 1},
        {"light.on", "Lighton", 1, 1},
        {"smoke", "smoker", 0, 1},
        {"smkoe", "smoke", 0, 1},
        {"smike", "smoke", 0, 1},
        {"x1", "x2", 0, 0},
        {"x1", "x11", 0, 0},
        {"X1", "x.1", 1, 1},
        {"a", "b", 0, 0},
        {"a", "A", 1, 1},
        {"ab", "ba", 0, 1},
        {"rain", "train set", 0, 0},
        {"Stra\xc3\x9f"
         "e",
         "Strase", 0, 1},
        {"", "", 1, 1},
        {"season1", "season", 0, 1},
        {"`wind speed`", "wind.speed", 1, 1},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        test_row("%s, %s", pairs[i].a, pairs[i].b);
        assert_int_equal(gbsi_alike_names(pairs[i].a, pairs[i].b), pairs[i].alike);
        assert_int_equal(gbsi_close_names(pairs[i].a, pairs[i].b), pairs[i].close);
        assert_int_equal(gbsi_close_names(pairs[i].b, pairs[i].a), pairs[i].close);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_model *model = new_model();
    uint32_t x[ROWS][2];
    told notes;
    gbs_error err;
    int n = -1;
    for (uint64_t i = 0; n < 0; i++) {
        gbsi_alloc_fail_after(i);
        n = read_rows(model, variants[11].text, (gbs_table_options){0}, x, &notes, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(n == 3 || err.status == GBS_ERR_MEMORY);
        assert_true(i < 100);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_variants),     cmocka_unit_test(ambiguous_tables_are_refused),
        cmocka_unit_test(signs_that_are_states), cmocka_unit_test(models_without_names),
        cmocka_unit_test(dots_before_thousands), cmocka_unit_test(rows_are_no_names),
        cmocka_unit_test(columns_that_are_held), cmocka_unit_test(names_nearly_alike),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
