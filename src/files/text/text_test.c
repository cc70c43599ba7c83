/* SPDX-License-Identifier: Apache-2.0 */
#include "text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "text/test_models.h"

static gbsi_text open_text(const char *content)
{
    static gbsi_input input;
    gbsi_text text;
    gbs_error err;
    assert_int_equal(gbsi_input_memory("f", content, strlen(content), &input, &err), GBS_OK);
    assert_int_equal(gbsi_text_open(&text, &input, NULL, &err), GBS_OK);
    return text;
}

static void tokens(void **state)
{
    (void)state;
    gbsi_text text = open_text("\xef\xbb\xbf ab\tc\r\n\v\f# d e\n#\n#f\ng");
    text.comment = '#';
    assert_true(gbsi_token_is(gbsi_text_peek(&text), "ab"));
    assert_true(gbsi_token_is(gbsi_text_next(&text), "ab"));
    assert_true(gbsi_token_is_any_case(gbsi_text_next(&text), "C"));
    assert_true(gbsi_token_is(gbsi_text_next(&text), "g"));
    assert_int_equal(gbsi_text_next(&text).n, 0);
    assert_int_equal(gbsi_text_next(&text).n, 0);
    text = open_text("");
    assert_int_equal(gbsi_text_next(&text).n, 0);
    text = open_text("a#b c");
    text.comment = '#';
    assert_true(gbsi_token_is(gbsi_text_peek(&text), "a#b"));
    text.is_glued = true;
    assert_true(gbsi_token_is(gbsi_text_next(&text), "a"));
    assert_int_equal(gbsi_text_next(&text).n, 0);
}

/* @return the status of opening bytes as text, converted if they are not UTF-8. */
static gbs_status open_bytes(const char *bytes, size_t n, const gbs_read_options *options,
                             char *decoded, size_t size, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    GBSI_TRY(gbsi_input_memory("f", bytes, n, &input, err));
    GBSI_TRY(gbsi_input_decode(&input, options, err));
    GBSI_TRY(gbsi_text_open(&text, &input, options, err));
    (void)snprintf(decoded, size, "%.*s", (int)gbsi_text_left(&text), text.at);

cleanup:
    gbsi_input_free(&input);
    return status;
}

static void encodings(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *decoded; /* NULL if the text is refused */
        const char *message; /* part of the message or warning, or NULL */
    } cases[] = {
        {"plain text", 10, "plain text", NULL},
        {"caf\u00e9 \u20ac", 9, "caf\u00e9 \u20ac", NULL},
        {"a rather long caf\xe9 \x80", 20, "a rather long caf\u00e9 \u20ac",
         "2 bytes are no UTF-8, the first '\\xe9': read as Latin-1"},
        {"a\n\xe9\u00e9", 5, NULL, "f:2:1: found the byte '\\xe9', which is no UTF-8, in a file"},
        {"a \x81", 3, NULL, "f:1:3: found the byte '\\x81', which is no UTF-8 and no letter of"},
        {"\xff\xfe"
         "a\0b\0",
         6, NULL, "f:1:1: found UTF-16, expected UTF-8"},
        {"\xfe\xff\0a\0b", 6, NULL, "found UTF-16, expected UTF-8"},
        {"\0<\0?", 4, NULL, "found UTF-16, expected UTF-8"},
        {"PK\3\4\0\0\xe9", 7, NULL, "found a ZIP archive, expected a text file: unpack it first"},
        {"ab\0", 3, NULL, "found a NUL byte, expected text"},
        {"<?xml encoding = 'CP1252'?>\xc3\xa9", 29, "<?xml encoding = 'CP1252'?>\u00c3\u00a9",
         NULL},
        {"<?xml encoding=\"UTF-8\"?>\xc3\xa9", 26, "<?xml encoding=\"UTF-8\"?>\u00e9", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char decoded[64] = "";
        gbs_error err = {0};
        warnings warned = {0};
        const gbs_read_options options = {.warn = take_warning, .context = &warned};
        const gbs_status status =
            open_bytes(cases[i].bytes, cases[i].n, &options, decoded, sizeof decoded, &err);
        assert_int_equal(status, cases[i].decoded == NULL ? GBS_ERR_FORMAT : GBS_OK);
        assert_string_equal(decoded, cases[i].decoded == NULL ? "" : cases[i].decoded);
        const char *said = cases[i].decoded == NULL ? err.message : warned.last;
        assert_int_equal(warned.n, cases[i].decoded != NULL && cases[i].message != NULL);
        if (cases[i].message != NULL && strstr(said, cases[i].message) == NULL) {
            fail_msg("%s", said);
        }
    }
}

static void places(void **state)
{
    (void)state;
    gbs_error err;
    gbsi_text text = open_text("\xef\xbb\xbfone\r\n  two\n");
    gbsi_token one = gbsi_text_next(&text);
    gbsi_token two = gbsi_text_next(&text);
    gbsi_token last = gbsi_text_next(&text);
    assert_int_equal(gbsi_text_fail(&text, one, &err, "x"), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:1:1: x");
    assert_int_equal(gbsi_text_unexpected(&text, two, "y", &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:2:3: found 'two', expected y");
    assert_int_equal(gbsi_text_unexpected(&text, last, "y", &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:3:1: found the end of the file, expected y");
    assert_int_equal(gbsi_text_fail(&text, one, NULL, "x"), GBS_ERR_FORMAT);
    text = open_text("a\n\u20ac\u00e9\xe9 z\n"); /* a byte of Latin-1 is one character */
    for (int i = 0; i < 3; i++) {
        one = gbsi_text_next(&text);
    }
    assert_int_equal(gbsi_text_fail(&text, one, &err, "x"), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:2:5: x");
}

static void shows_anything(void **state)
{
    (void)state;
    char shown[GBSI_SHOWN];
    static const struct {
        const char *token;
        const char *shown;
    } cases[] = {
        {"a", "'a'"},
        {"\x1b[31m", "'\\x1b[31m'"},
        {"gr\xc3\xbcn", "'gr\xc3\xbcn'"},
        {"\xc3", "'\\xc3'"},
        {"\xed\xa0\x80", "'\\xed\\xa0\\x80'"},
        {"\xc2\x9b", "'\\xc2\\x9b'"},
        {"\xff\x7f", "'\\xff\\x7f'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbsi_token token = {cases[i].token, strlen(cases[i].token)};
        assert_string_equal(gbsi_token_show(token, shown), cases[i].shown);
    }
    char longest[500];
    for (int byte = 1; byte < 256; byte++) { /* the buffer holds the longest possible text */
        memset(longest, byte, sizeof longest);
        for (size_t shift = 0; shift < 4; shift++) {
            memset(longest, 'a', shift);
            (void)gbsi_token_show((gbsi_token){longest, sizeof longest}, shown);
            assert_true(strlen(shown) < GBSI_SHOWN);
            assert_string_equal(shown + strlen(shown) - 4, "...'");
        }
    }
}

static void numbers(void **state)
{
    (void)state;
    gbs_error err;
    uint64_t n = 7;
    double x = 7;
    size_t underflow = 0;
    gbsi_text text = open_text("3 -1 4x 9 1e-999 1e999 z 3 1 1");
    assert_int_equal(gbsi_text_integer(&text, "a", 3, &n, &err), GBS_OK);
    assert_int_equal(n, 3);
    assert_int_equal(gbsi_text_integer(&text, "an a", 3, &n, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:1:3: found '-1', expected an a");
    assert_int_equal(gbsi_text_integer(&text, "an a", 3, &n, &err), GBS_ERR_FORMAT);
    assert_int_equal(gbsi_text_integer(&text, "an a", 8, &n, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:1:9: found '9', expected an a of at most 8");
    assert_int_equal(n, 3);
    assert_int_equal(gbsi_text_double(&text, "x", &x, &underflow, &err), GBS_OK);
    assert_true(x == 0 && underflow == 1);
    assert_int_equal(gbsi_text_double(&text, "x", &x, &underflow, &err), GBS_ERR_FORMAT);
    assert_int_equal(gbsi_text_double(&text, "x", &x, NULL, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:1:24: found 'z', expected x");
    gbsi_text copy = text;
    assert_int_equal(gbsi_text_count(&text, "n", 2, &n, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message,
                        "f:1:26: found '3' as n, but the 4 bytes left of the file cannot "
                        "hold more than 2");
    assert_int_equal(gbsi_text_count(&copy, "n", 1, &n, &err), GBS_OK);
}

static void blames(void **state)
{
    (void)state;
    gbsi_text text = open_text("a b");
    gbsi_token a = gbsi_text_next(&text);
    gbs_error err = {.status = GBS_ERR_ARGUMENT, .message = "no"};
    assert_int_equal(gbsi_text_blame(&text, a, GBS_ERR_ARGUMENT, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:1:1: no");
    assert_int_equal(err.status, GBS_ERR_FORMAT);
    err = (gbs_error){.status = GBS_ERR_MEMORY, .message = "no"};
    assert_int_equal(gbsi_text_blame(&text, a, GBS_ERR_MEMORY, &err), GBS_ERR_MEMORY);
    assert_string_equal(err.message, "no");
    assert_int_equal(gbsi_text_blame(&text, a, GBS_ERR_ARGUMENT, NULL), GBS_ERR_FORMAT);
    memset(err.message, 'x', sizeof err.message - 1);
    err.message[sizeof err.message - 1] = 0;
    assert_int_equal(gbsi_text_blame(&text, a, GBS_ERR_LIMIT, &err), GBS_ERR_LIMIT);
    assert_int_equal(strncmp(err.message, "f:1:1: xxx", 10), 0);
}

static void deviations(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    gbs_error err = {0};
    gbsi_text text = open_text("a b");
    assert_int_equal(gbsi_text_expect_end(&text, "x", &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "f:1:1: found 'a', expected the end of the file after x");
    text = open_text("a b");
    text.options = &options;
    assert_int_equal(gbsi_text_expect_end(&text, "x", &err), GBS_OK);
    assert_string_equal(warned.last, err.message);
    options.warn = NULL;
    assert_int_equal(gbsi_text_expect_end(&text, "x", &err), GBS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),         cmocka_unit_test(encodings), cmocka_unit_test(places),
        cmocka_unit_test(shows_anything), cmocka_unit_test(numbers),   cmocka_unit_test(blames),
        cmocka_unit_test(deviations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
