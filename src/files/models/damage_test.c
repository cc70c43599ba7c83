/* SPDX-License-Identifier: Apache-2.0 */
/* Tests readers on damaged files: cut at every byte, mutated from a fixed seed, or read while
 * memory runs out. Nothing may crash or leak, and each failure must name a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/answers.h"
#include "models/test_damage.h"

/* What the beginning of a file may be. Without digits at its end a last number is another
 * number. Without its last lines a file may be another file, which an own test decides. */
enum { NOTHING, A_NUMBER, LINES };

typedef struct sample {
    const char *name;
    const char *format;
    const char *other; /* a second format in which the mutations are read */
    int cut_short;
} sample;

static const sample FILES[] = {
    {"smallest.uai", "uai", "lg", A_NUMBER},        {"mixed.uai", "uai", "lg", A_NUMBER},
    {"network.uai", "uai", "lg", A_NUMBER},         {"network.bif", "bif", "bif", NOTHING},
    {"network.xml", "xmlbif", "bif", NOTHING},      {"mixed.fg", "fg", "uai", A_NUMBER},
    {"mixed.alchemy", "alchemy", "alchemy", LINES},
};
#define N_FILES (sizeof FILES / sizeof FILES[0])

static const char *const FORMATS[] = {"uai", "lg", "bif", "xmlbif", "fg", "alchemy"};
#define N_FORMATS (sizeof FORMATS / sizeof FORMATS[0])

static bool holds_networks_only(const char *format)
{
    return strcmp(format, "bif") == 0 || strcmp(format, "xmlbif") == 0;
}

static void cut_anywhere(void **state)
{
    (void)state;
    char text[4096];
    for (size_t f = 0; f < N_FILES; f++) {
        if (!can_read(FILES[f].name)) {
            continue;
        }
        size_t n = read_file(data_path(FILES[f].name), text, sizeof text);
        gbs_read_options options = {.format = FILES[f].format};
        size_t last = n; /* behind the last token, from where on the prefix is the whole file */
        while (text[last - 1] == '\n' || text[last - 1] == ' ') {
            last--;
        }
        size_t first = last;
        while (text[first - 1] != '\n' && text[first - 1] != ' ') {
            first--;
        }
        for (size_t cut = 0; cut <= n; cut++) {
            /* A last number that is cut short is another number: 0.7 becomes 0. or 0. */
            bool number = FILES[f].cut_short == A_NUMBER && cut < last && cut > first;
            bool lines = FILES[f].cut_short == LINES && cut < last;
            bool read = read_exactly(text, cut, &options);
            if (!number && !lines) {
                if (read != (cut >= last)) {
                    fail_msg("%s cut at %zu was %s", FILES[f].name, cut, read ? "read" : "refused");
                }
            }
        }
    }
}

static const char *const WORDS[] = {"99999999999999999999",
                                    "-1",
                                    "0",
                                    "1e999",
                                    "nan",
                                    "inf",
                                    " ",
                                    "\"",
                                    "{",
                                    "}",
                                    "(",
                                    ")",
                                    ";",
                                    "/*",
                                    "//",
                                    "property",
                                    "default",
                                    "table",
                                    "18446744073709551615",
                                    "65536",
                                    "BAYES",
                                    "\n",
                                    "|",
                                    "[",
                                    "<",
                                    ">",
                                    "/>",
                                    "&#65;",
                                    "<!--",
                                    "-->",
                                    "<![CDATA[",
                                    "</TABLE>",
                                    "#",
                                    "\t",
                                    "///"};
#define N_WORDS (sizeof WORDS / sizeof WORDS[0])

static gbs_read_options mutated_options(const void *of, int round)
{
    const sample *s = of;
    return (gbs_read_options){.format = round % 2 == 0 ? s->format : s->other,
                              .lenient = round % 5 == 0,
                              .normalize_cpts = round % 7 == 0};
}

static void mutated(void **state)
{
    (void)state;
    char text[4096];
    uint64_t seed = 7;
    int n_read = 0;
    for (size_t f = 0; f < N_FILES; f++) {
        if (can_read(FILES[f].name)) {
            size_t n = read_file(data_path(FILES[f].name), text, sizeof text);
            n_read += read_mutations(text, n, WORDS, N_WORDS, &seed, mutated_options, &FILES[f]);
        }
    }
    assert_true(n_read > 100); /* some mutations do not change the model */
}

/* A damaged file may be read or refused. It must not cause a crash or a leak. */
static void read_or_refused(gbs_status status)
{
    assert_true(status != GBS_ERR_STATE && status != GBS_ERR_MEMORY);
}

static void mutated_results(void **state)
{
    (void)state;
    static const char *const originals[] = {"MAR\n3 2 0.25 0.75 3 0.1 0.2 0.7 4 0 0 0 1",
                                            "2 1 1 0 2 1 2 2 3",
                                            "2\n0 2 0.5 1\n2 4 1 2 3 4",
                                            "scan 1\nvariables 3\n0 1 2 1 2 0",
                                            "MAP\n3 1 0 3\n-BEGIN-\n3 0 2 1",
                                            "2\t0\t1\n\n3\t\t2\n\t1\t\n",
                                            "PR\n-3.5\n-BEGIN-\n-3.25",
                                            "MMAP\n2 2 1 0 0\n-BEGIN-\n2 0 1 2 3",
                                            "2 2 0"};
    uint64_t seed = 8;
    gbs_error err;
    gbs_model *model = NULL;
    assert_int_equal(gbs_model_read(data_path("mixed.uai"), NULL, &model, &err), GBS_OK);
    for (int i = 0; i < 2400; i++) {
        char text[512];
        const char *original = originals[i % 9];
        size_t n = strlen(original);
        memcpy(text, original, n);
        for (int k = 0; k <= i % 3; k++) {
            n = mutate(text, n, sizeof text - 1, WORDS, N_WORDS, &seed);
        }
        text[n] = 0;
        const char *path = scratch_file("r", text);
        gbs_read_options options = {.lenient = i % 2};
        gbs_read_options as_tab = {.evidence_format = "tab"};
        gbs_marginals m = {0};
        gbs_evidence *evidence = NULL;
        uint32_t x[3];
        uint32_t *sequence = NULL;
        size_t length = 0;
        assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
        read_or_refused(gbs_marginals_read(path, &options, &m, &err));
        read_or_refused(gbs_evidence_read(evidence, path, 0, &options, &err));
        read_or_refused(gbs_evidence_read(evidence, path, 1, &as_tab, &err));
        read_or_refused(gbs_evidence_read_virtual(evidence, path, &options, &err));
        read_or_refused(gbs_state_read(path, model, NULL, x, &err));
        read_or_refused(gbs_scan_read(path, model, &sequence, &length, &err));
        gbs_result result = {0};
        uint32_t *query = NULL;
        read_or_refused(gbs_result_read(path, GBS_LOG_BASE_10, &options, &result, &err));
        read_or_refused(gbsi_query_read(path, model, &options, &query, &length, &err));
        gbs_result_free(&result);
        gbs_free(query);
        gbs_marginals_free(&m);
        gbs_free(sequence);
        gbs_evidence_free(evidence);
    }
    gbs_model_free(model);
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (size_t f = 0; f < N_FILES; f++) {
        if (!can_read(FILES[f].name)) {
            continue;
        }
        gbs_model *model = read_starved(data_path(FILES[f].name), NULL, NULL);
        for (size_t g = 0; g < N_FORMATS; g++) {
            if (!holds_networks_only(FORMATS[g]) || gbs_model_is_directed(model) != 0) {
                write_starved(model, FORMATS[g]);
            }
        }
        gbs_model_free(model);
    }
}

static void memory_runs_out_of_results(void **state)
{
    (void)state;
    gbs_error err;
    gbs_model *model = NULL;
    assert_int_equal(gbs_model_read(data_path("mixed.uai"), NULL, &model, &err), GBS_OK);
    const char *mar = scratch_file("x.MAR", "MAR 2 2 0.25 0.75 3 0.1 0.2 0.7");
    const char *evid = scratch_file("x.evid", "2 1 1 0 1 2 3");
    const char *tab = scratch_file("x.tab", "2\t0\t1\n\n3\t\t2\n\t1\t\n");
    const char *scan = scratch_file("x.scan", "scan 1 variables 3 0 1 * 1 2 0");
    for (int reader = 0; reader < 4; reader++) {
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t n = 0; status != GBS_OK; n++) {
            gbs_marginals m = {0};
            gbs_evidence *evidence = NULL;
            uint32_t *sequence = NULL;
            size_t length = 0;
            assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
            gbsi_alloc_fail_after(n);
            status = reader == 0   ? gbs_marginals_read(mar, NULL, &m, &err)
                     : reader == 1 ? gbs_evidence_read(evidence, evid, 1, NULL, &err)
                     : reader == 2 ? gbs_evidence_read(evidence, tab, 1, NULL, &err)
                                   : gbs_scan_read(scan, model, &sequence, &length, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true(status == GBS_OK || (m.p == NULL && sequence == NULL));
            gbs_marginals_free(&m);
            gbs_free(sequence);
            gbs_evidence_free(evidence);
        }
    }
    gbs_model_free(model);
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
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(mutated),
        cmocka_unit_test(mutated_results),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(memory_runs_out_of_results),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
