/* SPDX-License-Identifier: Apache-2.0 */
/* Tests weights of similar rows of states, files that are read, and files that are refused. */
#include "learn/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static void rows_share_weights(void **state)
{
    (void)state;
    static const uint32_t x[4][5] = {
        {0, 1, 2, 0, 1}, {0, 1, 2, 0, 0}, {2, 2, 1, 1, 0}, {0, 1, 2, 1, 0}};
    gbs_rows *rows = NULL;
    gbs_rows *out = NULL;
    ok(gbs_rows_new(5, 3, &rows, NULL));
    ok(gbs_rows_add(rows, 4, &x[0][0], NULL));
    ok(gbs_rows_weigh(rows, 0.8, 2, NULL, NULL)); /* 4 of 5 sites */
    assert_true(rows->weight[0] == 1.0 / 2 && rows->weight[1] == 1.0 / 3);
    assert_true(rows->weight[2] == 1.0 && rows->weight[3] == 1.0 / 2);
    ok(gbs_rows_weigh(rows, 0.81, 1, NULL, NULL));
    assert_true(gbs_rows_weight(rows) == 4.0);
    ok(gbs_rows_hold_out(rows, 0.5, &out, NULL));
    assert_true(gbs_rows_n(rows) == 2 && gbs_rows_n(out) == 2);
    assert_true(gbs_rows_state(rows, 1, 0) == 2 && gbs_rows_state(out, 1, 3) == 1);
    gbs_rows_free(rows);
    gbs_rows_free(out);
}

static gbs_rows *parse(const char *text, gbs_error *err)
{
    gbs_rows *rows = NULL;
    const gbs_status status =
        gbs_rows_read_as("d", text, strlen(text), GBS_ALPHABET_AUTO, &rows, err);
    assert_true((status == GBS_OK) == (rows != NULL));
    return rows;
}

static void files_are_read(void **state)
{
    (void)state;
    gbs_rows *rows = parse(">a\r\nAC.x-\r\nYX\n>b the second\n--C\naa\nDW\n", NULL);
    assert_non_null(rows);
    assert_true(gbs_rows_n(rows) == 2 && gbs_rows_n_sites(rows) == 5 &&
                gbs_rows_n_states(rows) == 21);
    assert_true(gbs_rows_state(rows, 0, 1) == 2 && gbs_rows_state(rows, 0, 3) == 20);
    assert_true(gbs_rows_state(rows, 0, 4) == 0 && gbs_rows_n_unknown(rows) == 1);
    assert_true(gbs_rows_state(rows, 1, 4) == 19 && gbs_rows_site_name(rows, 0) == NULL);
    gbs_rows_free(rows);
    rows = parse("a, b ,c\n0,1,255\n\n 2,0,1 \n", NULL);
    assert_non_null(rows);
    assert_true(gbs_rows_n(rows) == 2 && gbs_rows_n_sites(rows) == 3 &&
                gbs_rows_n_states(rows) == 256);
    assert_string_equal(gbs_rows_site_name(rows, 1), "b");
    assert_true(gbs_rows_state(rows, 1, 0) == 2);
    gbs_rows_free(rows);
}

/* The letters of all sequences determine the alphabet; T and U are one nucleotide. */
static void alphabets_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gbs_alphabet alphabet;
        uint32_t n_states;
        const char *first; /* states of the first row, as digits */
        uint64_t n_unknown;
    } cases[] = {
        {">a\nGGCUA-\n>b\nGGUUAN\n", GBS_ALPHABET_RNA, 5, "332410", 1},
        {">a\nGGCTA-\n>b\nGGTTAR\n", GBS_ALPHABET_DNA, 5, "332410", 1},
        {">a\nGGCTAA\n>b\nGGTTAU\n", GBS_ALPHABET_DNA, 5, "332411", 0},
        {">a\nGGCUAA\n>b\nGGUTAU\n", GBS_ALPHABET_RNA, 5, "332411", 0},
        {">a\nACRGTYACGTKACGTMACGTSACGTWACGTRACGTYACGTN\n", GBS_ALPHABET_DNA, 5, NULL, 9},
        {">a\nACDWCAYA\n", GBS_ALPHABET_PROTEIN, 21, NULL, 0},
        {">a\nNACG\n", GBS_ALPHABET_DNA, 5, "0123", 1},
        {">a\nACDE\n", GBS_ALPHABET_PROTEIN, 21, "1234", 0},
        {">a\n--\n", GBS_ALPHABET_PROTEIN, 21, "00", 0},
        /* small letters alone are letters, and '.' and '~' gaps where there are no insertions */
        {">a\nacgu.~?\n", GBS_ALPHABET_RNA, 5, "1234000", 1},
        {">a\nAC..G\n>b\nAC.AG\n", GBS_ALPHABET_DNA, 5, "12003", 0},
        {">a\nACgg..G\n>b\nAC..aG\n", GBS_ALPHABET_DNA, 5, "123", 0},
        /* '*' behind all sequences, behind the letters of some, in a column of its own, inside */
        {">a\nCW*\n>b\nDW*\n", GBS_ALPHABET_PROTEIN, 21, "%C", 0},
        {">a\nCW\n>b\nDW* \n", GBS_ALPHABET_PROTEIN, 21, "%C", 0},
        {">a\nCW-\n>b\nDW*\n", GBS_ALPHABET_PROTEIN, 21, "%C0", 1},
        {">a\nC*DEFHIKLMNPQRSTVWYACDEFGHI*\n", GBS_ALPHABET_PROTEIN, 21, NULL, 1},
        {"\n \r\n>a\nACGT\n\n\n>b\n\nACG\nT\n\n", GBS_ALPHABET_DNA, 5, "1234", 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        gbs_error err = {0};
        gbs_rows *rows = parse(cases[k].text, &err);
        if (rows == NULL || gbs_rows_alphabet(rows) != cases[k].alphabet ||
            gbs_rows_n_states(rows) != cases[k].n_states ||
            gbs_rows_n_unknown(rows) != cases[k].n_unknown) {
            fail_msg("case %zu: %s", k, err.message);
        }
        for (uint32_t i = 0; cases[k].first != NULL && i < gbs_rows_n_sites(rows); ++i) {
            const char sign = cases[k].first[i];
            const uint32_t expected = sign == '%' ? 2 : sign == 'C' ? 19 : (uint32_t)(sign - '0');
            assert_int_equal(gbs_rows_state(rows, 0, i), expected);
        }
        assert_true(cases[k].first == NULL || strlen(cases[k].first) == gbs_rows_n_sites(rows));
        gbs_rows_free(rows);
    }
}

/* Reads one table, 0 1 and 2 0, in the common formats. */
static void tables_are_read(void **state)
{
    static const char *const written[][2] = {
        {"a,b\n0,1\n2,0\n", NULL},
        {"\"a\";\"b\"\r\n0;1\r\n\r\n2;0", NULL},
        {"a\tb\n0.0\tTrue\n2.0\tfalse\n", NULL},
        {",a,b\n0,0,1\n1,2,0\n",
         "the first column has no name: it numbers the rows, and is left out"},
        {"chain,draw,lp,a,b\n0,0,-1.5,0,1\n0,1,-1,2,0\n",
         "chain, draw and lp of draws are left out"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof written / sizeof written[0]; ++k) {
        gbs_rows *rows = parse(written[k][0], NULL);
        assert_non_null(rows);
        assert_true(gbs_rows_n(rows) == 2 && gbs_rows_n_sites(rows) == 2);
        assert_string_equal(gbs_rows_site_name(rows, 1), "b");
        assert_true(gbs_rows_state(rows, 0, 0) == 0 && gbs_rows_state(rows, 1, 0) == 2);
        if (written[k][1] == NULL) {
            assert_null(gbs_rows_note(rows));
        } else {
            assert_string_equal(gbs_rows_note(rows), written[k][1]);
        }
        gbs_rows_free(rows);
    }
}

static gbs_rows *parse_as(const char *text, gbs_alphabet alphabet, gbs_error *err)
{
    gbs_rows *rows = NULL;
    const gbs_status status = gbs_rows_read_as("d", text, strlen(text), alphabet, &rows, err);
    assert_true((status == GBS_OK) == (rows != NULL));
    return rows;
}

/* One letter in twenty may be foreign to the alphabet, or more if the alphabet is named. */
static void letters_of_no_alphabet(void **state)
{
    static const char few[] = ">a\nACDEFGHIKLMNPQRSTVWO\n";
    static const char many[] =
        ">a\nCDEFGHIKLMNPQRSTV\n>b\nCDEFGHIKLMNPQRSOU\n>c\n----------------U\n";
    (void)state;
    gbs_error err = {0};
    uint64_t n[21];
    gbs_rows *rows = parse(few, &err);
    assert_non_null(rows);
    assert_int_equal(gbs_rows_n_unknown(rows), 1);
    gbs_rows_free(rows);
    assert_null(parse(many, &err));
    assert_string_equal(err.message, "d:4:16: found letters that proteins do not have, 8.57 % of "
                                     "all, expected at most 5 % of an alignment whose alphabet is "
                                     "not named");
    rows = parse_as(many, GBS_ALPHABET_PROTEIN, NULL);
    assert_non_null(rows);
    assert_int_equal(gbs_rows_n_unknown(rows), 3);
    gbs_rows_count_states(rows, n);
    assert_true(n[0] == 3 + 16 && n[2] == 2 && n[20] == 0);
    gbs_rows_free(rows);
    rows = parse_as(few, GBS_ALPHABET_DNA, NULL);
    assert_non_null(rows);
    assert_int_equal(gbs_rows_n_states(rows), 5);
    assert_int_equal(gbs_rows_n_unknown(rows), 16);
    gbs_rows_free(rows);
    assert_null(parse_as("a,b\n0,1\n", GBS_ALPHABET_RNA, &err));
    assert_string_equal(err.message, "d:1:1: found a table of states, expected an alignment in "
                                     "FASTA, whose alphabet is named");
    assert_int_equal(gbs_rows_read_as("d", few, 4, (gbs_alphabet)4, &rows, NULL), GBS_ERR_ARGUMENT);
}

static void files_are_refused(void **state)
{
    static const char *const bad[][2] = {
        {">a\nAC\n>b\nACD\n", "d:4:3: found 3 sites, expected 2"},
        {">a\nA1\n", "d:2:2: found '1', expected a letter"},
        {">a\n>b\nA\n", "d:1:3: found no letters below this line"},
        {">a\n", "found no letters"},
        {"", "d:1:1: found an empty cell, expected the name of a site"},
        {"a,\n0,1\n", "d:1:3: found an empty cell, expected the name of a site"},
        {"a,b, a\n0,1,0\n", "d:1:6: found 'a', expected a name that no column before has"},
        {"a,\"b\nc\"\n0,1\n", "d:1:3: found 'b\\x0ac', expected the name of a site"},
        {"a,b\n0,1\n0\n", "d:3:1: found 1 field, expected 2"},
        {"a,b\n0,1,2\n", "found more than 2 fields, expected 2"},
        {"a,b\n0,x\n", "d:2:3: found 'x', expected a state"},
        {"a,b\n0,-1\n", "d:2:3: found '-1'"},
        {"a,b\n0,256\n", "d:2:3: found '256'"},
        {"a,b\n0,\n", "d:2:3: found an empty cell, expected a state in every cell"},
        {"a,b\n0,NaN\n", "d:2:3: found 'NaN', expected a state in every cell"},
        {"a,b\n0,0.5\n", "d:2:3: found '0.5', expected a state"},
        {"1,0,3\n0,1,1\n", "d:1:1: found '1', expected the name of a site: the first line"},
        {"a,b\n", "found no rows"},
        {"# STOCKHOLM 1.0\na ACG\n//\n",
         "d:1:1: found an alignment in the Stockholm format, expected"},
        {"\nCLUSTAL W (1.8)\n\na ACG\n",
         "d:2:1: found an alignment of Clustal, expected one in FASTA"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        gbs_error err = {0};
        assert_null(parse(bad[k][0], &err));
        if (strstr(err.message, bad[k][1]) == NULL) {
            fail_msg("%s: %s", bad[k][1], err.message);
        }
    }
}

/* A note says how small letters beside capitals were read. */
static void small_letters_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *note;
        uint32_t n_sites;
    } cases[] = {
        {">a\nGGtt.C\n>b\nGC..aC\n", "insertions (A2M) and left out; to keep them, write", 3},
        {">a\nGGttC\n>b\nGCC\n", "insertions (A2M)", 3},
        {">a\nGGttC\n>b\nGCAAc\n", "small letters are read as capitals", 5},
        {">a\nGGTTC\n>b\nGCAAC\n", NULL, 5},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        gbs_rows *rows = parse(cases[k].text, NULL);
        assert_non_null(rows);
        assert_int_equal(gbs_rows_n_sites(rows), cases[k].n_sites);
        assert_true(cases[k].note == NULL ? gbs_rows_note(rows) == NULL
                                          : strstr(gbs_rows_note(rows), cases[k].note) != NULL);
        gbs_rows_free(rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_share_weights),     cmocka_unit_test(files_are_read),
        cmocka_unit_test(alphabets_are_told),     cmocka_unit_test(letters_of_no_alphabet),
        cmocka_unit_test(tables_are_read),        cmocka_unit_test(files_are_refused),
        cmocka_unit_test(small_letters_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
