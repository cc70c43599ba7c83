/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that JSON is read strictly, and that pages show their sources safely and load nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "config.h"
#include "gibbsite/generate.h"
#include "gibbsite/report.h"
#include "report/json.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

/* @return the message, or "" if the text is JSON. */
static const char *refusal(const char *text, size_t n)
{
    static gbs_error err;
    gbsi_json_file file;
    char *copy = malloc(n + 1); /* a memory checker sees a read behind the text */
    assert_non_null(copy);
    memcpy(copy, text, n);
    const gbsi_input input = {.name = "s", .bytes = copy, .n = n};
    err.message[0] = '\0';
    if (gbsi_json_read(&input, &file, &err) == GBS_OK) {
        gbsi_json_free(&file);
    }
    free(copy);
    return err.message;
}

static void json_is_strict(void **state)
{
    (void)state;
    static const char *const fine[] = {"0",
                                       "-0.5e+10",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       " [1 , 2]\n",
                                       "[[],{\"a\":null}]",
                                       "\"\\u00e9\\ud83d\\ude00\\n\\\\\"",
                                       "{\"a\":{\"b\":[true,false]},\"c\":1}"};
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "s:1:1: found the end of the file, expected a value of JSON"},
        {"[1,]", "s:1:4: found ']', expected a value of JSON"},
        {"[1 2]", "s:1:4: found '2', expected ',' or ']'"},
        {"{\"a\" 1}", "s:1:6: found '1', expected ':'"},
        {"{a:1}", "s:1:2: found 'a', expected the name of a member"},
        {"{\"a\":1,}", "s:1:8: found '}', expected the name of a member"},
        {"01", "s:1:1: found '01', expected a value of JSON"},
        {"[1.]", "s:1:2: found '1.', expected a value of JSON"},
        {"nan", "s:1:1: found 'nan', expected a value of JSON"},
        {"\"a", "s:1:3: found the end of the file, expected '\"'"},
        {"\"\\x\"", "s:1:2: found '\\x', expected an escape of JSON"},
        {"\"\\u0000\"", "s:1:2: found '\\u', expected an escape of JSON"},
        {"\"\\ud800\"", "s:1:2: found '\\u', expected an escape of JSON"},
        {"\"\t\"", "s:1:2: found '\\x09', expected UTF-8 without control characters"},
        {"\"\xc0\x80\"", "s:1:2: found '\\xc0', expected UTF-8 without control characters"},
        {"1\n2", "s:2:1: found '2', expected the end of the file"},
        {"[", "s:1:2: found the end of the file, expected a value of JSON"},
    };
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        assert_string_equal(refusal(fine[i], strlen(fine[i])), "");
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_string_equal(refusal(bad[i].text, strlen(bad[i].text)), bad[i].message);
    }
    char deep[200];
    memset(deep, '[', 100);
    assert_non_null(strstr(refusal(deep, 100), "s:1:65: found '[', expected at most 64 levels"));
}

static void json_is_a_tree(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": [1, {\"b\": \"\\u00e9\"}, 18446744073709551615], \"c\": null}";
    gbsi_json_file file;
    const gbsi_input input = {.name = "s", .bytes = text, .n = sizeof text - 1};
    assert_int_equal(gbsi_json_read(&input, &file, NULL), GBS_OK);
    const gbsi_json *a = gbsi_json_member(file.value, "a");
    const gbsi_json *one = gbsi_json_first(a);
    const gbsi_json *two = gbsi_json_next(a, one);
    const gbsi_json *three = gbsi_json_next(a, two);
    assert_int_equal(a->n, 3);
    assert_true(one->number == 1.0);
    assert_string_equal(gbsi_json_member(two, "b")->text, "é");
    assert_string_equal(three->text, "18446744073709551615");
    assert_null(gbsi_json_next(a, three));
    assert_int_equal(gbsi_json_member(file.value, "c")->kind, GBSI_JSON_NULL);
    assert_null(gbsi_json_member(file.value, "d"));
    assert_null(gbsi_json_member(one, "a"));
    gbsi_json_free(&file);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* @return the page, which the caller frees with gbs_free(); NULL after a failure, with a message
 *   in err. */
static char *page_of(const gbs_report_source *source, size_t n, gbs_error *err)
{
    gbs_output *output = NULL;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(gbs_output_open_memory(&output, NULL), GBS_OK);
    const gbs_status status = gbs_report_html(source, n, output, err);
    assert_int_equal(gbs_output_take(output, &text, &length, NULL), GBS_OK);
    if (status < 0) {
        assert_int_equal(length, 0); /* a failed call writes nothing of the page */
        gbs_free(text);
        return NULL;
    }
    assert_int_equal(strlen(text), length);
    return text;
}

static const char summary[] =
    "{\"schema\": \"run/1\", \"converged\": true, \"verdict\": \"converged: R-hat 1\",\n"
    " \"model\": {\"name\": \"a/<b>&\\\"c\\\".bif\", \"variables\": 2, \"digest\": \"00ff\"},\n"
    " \"options\": {\"evidence\": [\"x=<1>\"], \"seed\": 1},\n"
    " \"warnings\": [\"<script>alert(1)</script>\"], \"max_rhat\": 1.00012, \"updates\": "
    "18446744073709551615,\n"
    " \"command\": \"gibbsite marginals 'a b' && rm <x>\",\n"
    " \"marginals\": {\"variables\": 2, \"order\": \"given\", \"map\": null,\n"
    "  \"rhat\": {\"values\": 3, \"least\": 1, \"most\": 1.2, \"variable\": \"<v>\", \"limit\": "
    "1.01, \"above\": 1,\n"
    "   \"edges\": [1, 1.1, 1.2], \"counts\": [2, 1]}, \"ess\": null,\n"
    "  \"shown\": [{\"id\": 0, \"name\": \"é<&\\u0001\", \"arity\": 3, \"states\": [\n"
    "    {\"state\": \"no\", \"p\": 0.25, \"mcse\": 0.01, \"ess\": 1000, \"rhat\": 1.001},\n"
    "    {\"state\": \"\\\"\", \"p\": 0.75, \"mcse\": 0, \"ess\": null, \"rhat\": null}]}]}}";

static void pages_are_safe(void **state)
{
    (void)state;
    const gbs_report_source source = {"s", summary, sizeof summary - 1};
    char *page = page_of(&source, 1, NULL);
    assert_non_null(page);
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_non_null(
        strstr(page, "Marginals of <span class=\"of\">&lt;b&gt;&amp;&quot;c&quot;.bif"));
    assert_non_null(strstr(page, "é&lt;&amp;\xef\xbf\xbd"));
    assert_non_null(strstr(page, "&lt;script&gt;alert(1)"));
    assert_non_null(strstr(page, "gibbsite marginals 'a b' &amp;&amp; rm &lt;x&gt;"));
    assert_non_null(strstr(page, "± 0.01000"));
    assert_non_null(strstr(page, "and 1 less probable"));
    assert_non_null(strstr(page, "1 of 3 are above 1.01"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "https:"));
    assert_null(strstr(page, "url(h"));
    gbs_free(page);
}

static void same_sources_same_page(void **state)
{
    (void)state;
    const gbs_report_source both[2] = {{"s", summary, sizeof summary - 1},
                                       {"t", summary, sizeof summary - 1}};
    char *first = page_of(both, 2, NULL);
    char *second = page_of(both, 2, NULL);
    assert_non_null(first);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "The runs beside one another"));
    assert_non_null(strstr(first, "href=\"#run2\""));
    gbs_free(first);
    gbs_free(second);
}

static void what_is_no_summary(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"[]", "s:1:1: found '[', expected a summary"},
        {"{\"schema\": \"run/2\"}", "s:1:12: found '\"', expected a summary"},
        {"{\"schema\": 1}", "s:1:12: found '1', expected a string or null"},
        {"{\"schema\": \"run/1\"}",
         "s:1:1: found '{', expected a summary of a run, with \"marginals\""},
        {"{\"schema\": \"run/1\", \"marginals\": null}",
         "s:1:34: found 'null', expected a summary of a run, with \"marginals\""},
        {"{\"schema\": \"logz/1\"}", "expected an answer of gibbsite logz, with \"verdict\""},
        {"{\"schema\": \"map/1\"}", "expected an answer of gibbsite map, with \"state\""},
        {"{\"schema\": \"draws/1\"}", "expected an object with draws, with \"quantities\""},
        {"{\"schema\": \"run/1\", \"marginals\": {},\n \"verdict\": 7}",
         "s:2:13: found '7', expected a string or null"},
        {"{\"schema\": \"run/1\", \"marginals\": {\"shown\": [], \"map\": {\"png\": "
         "\"\\\"><b>\"}}}",
         "expected base64"},
        {"{\"schema\": \"run/1\", \"marginals\": {}, \"converged\": 1}",
         "found '1', expected true, false or null"},
        {"{\"schema\": \"draws/1\", \"quantities\": [{\"trace\": [1]}]}",
         "found '1', expected an array"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gbs_error err = {GBS_OK, ""};
        const gbs_report_source source = {"s", bad[i].text, strlen(bad[i].text)};
        assert_null(page_of(&source, 1, &err));
        assert_int_equal(err.status, GBS_ERR_FORMAT);
        if (strstr(err.message, bad[i].message) == NULL) {
            fail_msg("%s", err.message);
        }
    }
}

/* Bytes are changed, removed and doubled. The result must be a page, or a message that names a
 * place. */
static void damaged_summaries(void **state)
{
    (void)state;
    uint64_t seed = 16;
    size_t n_pages = 0;
    for (int trial = 0; trial < 3000; trial++) {
        char text[2 * sizeof summary];
        size_t n = sizeof summary - 1;
        gbs_error err = {GBS_OK, ""};
        memcpy(text, summary, n);
        for (uint64_t k = next_random(&seed) % 3 + 1; k > 0; k--) {
            static const char signs[] = "{}[]\",:0123456789eE+-.\\untrfals <&";
            const size_t at = next_random(&seed) % n;
            const size_t length = next_random(&seed) % 8 + 1;
            switch (next_random(&seed) % 3) {
            case 0:
                text[at] = signs[next_random(&seed) % (sizeof signs - 1)];
                break;
            case 1:
                if (at + length < n) {
                    memmove(text + at, text + at + length, n - at - length);
                    n -= length;
                }
                break;
            default:
                memmove(text + at + 1, text + at, n - at);
                n++;
            }
        }
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, text, n);
        const gbs_report_source source = {"s", copy, n};
        char *page = page_of(&source, 1, &err);
        n_pages += page != NULL;
        if (page == NULL && strncmp(err.message, "s:", 2) != 0) {
            fail_msg("%s", err.message);
        }
        assert_true(page == NULL || strstr(page, "<script") == NULL);
        gbs_free(page);
        free(copy);
    }
    assert_true(n_pages > 300 && n_pages < 2700);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static gbs_run *run_of(const gbs_model *model, uint64_t sweeps)
{
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = sweeps;
    options.chains = 4;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    return run;
}

static char *summary_of(const gbs_run *run, const gbs_summary_about *about, size_t *n)
{
    gbs_output *output = NULL;
    char *text = NULL;
    assert_int_equal(gbs_output_open_memory(&output, NULL), GBS_OK);
    assert_int_equal(gbs_run_summary(run, about, output, NULL), GBS_OK);
    assert_int_equal(gbs_output_take(output, &text, n, NULL), GBS_OK);
    return text;
}

/* Large models have small summaries and pages. Grids are found from their factors. */
static void many_variables(void **state)
{
    (void)state;
    const gbs_generate_ising_options of = {
        .size = sizeof of, .side = {250, 400, 1}, .coupling = 0.2, .random_field = 0.5};
    gbs_model *model = NULL;
    size_t n = 0;
    assert_int_equal(gbs_generate_ising(&of, &model, NULL), GBS_OK);
    gbs_run *run = run_of(model, 16);
    char *text = summary_of(run, NULL, &n);
    const gbs_report_source source = {"s", text, n};
    char *page = page_of(&source, 1, NULL);
    assert_non_null(strstr(text, "\"variables\": 100000, \"order\": \"error\""));
    assert_non_null(page);
    assert_true(strlen(page) < 2000000);
    assert_non_null(strstr(page, "The 40 variables with the largest errors; 99\u202f960 are left"));
#ifdef GBSI_HAVE_PNG
    assert_non_null(strstr(text, "\"rows\": 250, \"columns\": 400"));
#endif
    gbs_free(page);
    gbs_free(text);
    gbs_run_free(run);
    gbs_model_free(model);
}

/* Without memory a call fails, and leaves its output unchanged. */
static void without_memory(void **state)
{
    (void)state;
    const gbs_generate_ising_options of = {.size = sizeof of, .side = {5, 5, 1}, .coupling = 0.2};
    gbs_model *model = NULL;
    size_t n = 0;
    uint64_t allowed = 0;
    assert_int_equal(gbs_generate_ising(&of, &model, NULL), GBS_OK);
    gbs_run *run = run_of(model, 64);
    char *text = summary_of(run, NULL, &n);
    const gbs_report_source source = {"s", text, n};
    for (; allowed < 1000; allowed++) {
        gbs_output *output = NULL;
        char *bytes = NULL;
        size_t length = 0;
        assert_int_equal(gbs_output_open_memory(&output, NULL), GBS_OK);
        gbsi_alloc_fail_after(allowed);
        gbs_status status = gbs_run_summary(run, NULL, output, NULL);
        if (status == GBS_OK) {
            status = gbs_report_html(&source, 1, output, NULL);
        } else {
            length = 1;
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        if (length == 1) {
            gbs_status taken = gbs_output_take(output, &bytes, &length, NULL);
            assert_true(taken < 0 || length == 0);
        } else {
            gbs_output_discard(output);
        }
        gbs_free(bytes);
        if (status == GBS_OK) {
            break;
        }
    }
    assert_true(allowed > 5 && allowed < 1000);
    gbs_free(text);
    gbs_run_free(run);
    gbs_model_free(model);
}

/* Ranks of chains that agree are even, and a chain that differs shows. Equal draws are reported.
 * If a variable only is in a state or not, the running mean is shown. */
static void draws(void **state)
{
    (void)state;
    double x[4][400];
    for (size_t i = 0; i < 400; i++) {
        x[0][i] = (double)(i * 7919 % 400);
        /* the values of the second chain are above those of the first */
        x[1][i] = x[0][i] + (i < 200 ? 0.0 : 2000.0);
        x[2][i] = 7.0;
        x[3][i] = (double)(i % 2);
    }
    const gbs_drawn drawn[4] = {{"even", x[0]}, {"apart", x[1]}, {"same", x[2]}, {"is", x[3]}};
    gbs_output *output = NULL;
    char *text = NULL;
    size_t n = 0;
    assert_int_equal(gbs_output_open_memory(&output, NULL), GBS_OK);
    assert_int_equal(gbs_draws_summary(drawn, 4, 2, 200, output, NULL), GBS_OK);
    assert_int_equal(gbs_output_take(output, &text, &n, NULL), GBS_OK);
    const char *apart = strstr(text, "\"apart\"");
    assert_non_null(apart);
    assert_non_null(strstr(apart,
                           "\"ranks\": [[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, "
                           "0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, "
                           "2]]"));
    assert_non_null(strstr(text, "\"autocorrelation\": [[1, "));
    assert_null(strstr(strstr(text, "\"is\""), "\"trace\""));
    assert_non_null(strstr(text, "\"mean_so_far\": [[0, 0.5, 0.3333333333333333, 0.5, 0.4, "));
    const gbs_report_source source = {"s", text, n};
    char *page = page_of(&source, 1, NULL);
    assert_non_null(page);
    assert_non_null(strstr(page, "All draws are equal"));
    assert_non_null(strstr(page, "Mean of the draws so far"));
    gbs_free(page);
    gbs_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(json_is_a_tree),
        cmocka_unit_test(pages_are_safe),
        cmocka_unit_test(same_sources_same_page),
        cmocka_unit_test(what_is_no_summary),
        cmocka_unit_test(damaged_summaries),
        cmocka_unit_test(many_variables),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
