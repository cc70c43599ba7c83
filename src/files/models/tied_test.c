/* SPDX-License-Identifier: Apache-2.0 */
/* Tests weights that factors share: which factors can be tied, the getters of a model, and
 * native files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "gibbsite/gibbsite.h"
#include "models/gbm.h"
#include "store/test_builder.h"
#include "text/test_models.h"

static const uint32_t SCOPE[2] = {0, 1};
static const double VALUE[3] = {0.5, 0, -2};
static const uint8_t FIXED[3] = {0, 0, 1};

/* Makes factors: a field, a coupling, a table, a hard clause, and a field that is not tied. */
static gbs_builder *with_factors(void)
{
    static const double hard[4] = {0, 1, 2, 3};
    uint32_t table = 0;
    gbs_builder *b = new_builder(5, mixed);
    assert_int_equal(gbs_builder_add_field(b, 0, 1.5, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 0, 2, 0, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 4, hard, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 2, SCOPE, table, NULL), GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, SCOPE, SCOPE, INFINITY, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 1, 0.25, NULL), GBS_OK);
    return b;
}

static gbs_model *tied_model(void)
{
    uint32_t first = 9;
    gbs_builder *b = with_factors();
    assert_int_equal(gbs_builder_add_weights(b, 1, VALUE, NULL, &first, NULL), GBS_OK);
    assert_int_equal(first, 0);
    assert_int_equal(gbs_builder_add_weights(b, 2, VALUE + 1, FIXED + 1, &first, NULL), GBS_OK);
    assert_int_equal(first, 1);
    assert_int_equal(gbs_builder_tie_factor(b, 1, 1, -7, NULL), GBS_OK);
    assert_int_equal(gbs_builder_tie_factor(b, 0, 2, -0.75, NULL), GBS_OK);
    assert_int_equal(gbs_builder_tie_factor(b, 0, 0, 3, NULL), GBS_OK); /* instead */
    gbs_model *m = build(b);
    gbs_builder_free(b);
    return m;
}

static void expect_ties(const gbs_model *m)
{
    static const uint32_t number[5] = {0, 1, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    static const double expected[5] = {3, -7, 0, 0, 0};
    assert_int_equal(gbs_model_n_weights(m), 3);
    for (uint32_t w = 0; w < 3; w++) {
        int fixed = 7;
        assert_true(gbs_model_weight(m, w, &fixed) == VALUE[w]);
        assert_int_equal(fixed, FIXED[w]);
    }
    for (size_t f = 0; f < 5; f++) {
        double feature = 7;
        assert_int_equal(gbs_model_tied_weight(m, f, &feature), number[f]);
        assert_true(feature == expected[f]);
    }
}

/* Ties change only the results of the getters of ties. */
static void getters(void **unused)
{
    (void)unused;
    gbs_builder *b = with_factors();
    gbs_model *plain = build(b);
    gbs_model *m = tied_model();
    gbs_builder_free(b);
    expect_ties(m);
    assert_string_equal(gbs_model_digest(m), gbs_model_digest(plain));
    assert_int_equal(gbs_model_bytes(m), gbs_model_bytes(plain) + 3 * (8 + 1) + 2 * (4 + 8));
    assert_int_equal(gbs_model_n_weights(plain), 0);
    assert_int_equal(gbs_model_tied_weight(plain, 0, NULL), UINT32_MAX);
    gbs_model_free(plain);
    gbs_model_free(m);
}

static void refusals(void **unused)
{
    (void)unused;
    const double bad = NAN;
    const uint8_t two = 2;
    gbs_builder *b = with_factors();
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_weights(b, 1, &bad, NULL, NULL, &err),
            "tied weight 0 is nan, expected a finite value");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_weights(b, 1, VALUE, &two, NULL, &err),
            "tied weight 0: fixed is 2, expected 0 or 1");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 0, 0, 3, &err), "there are 0 weights");
    assert_int_equal(gbs_builder_add_weights(b, 3, VALUE, FIXED, NULL, NULL), GBS_OK);
    REFUSED(GBS_ERR_LIMIT, gbs_builder_add_weights(b, UINT32_MAX, VALUE, NULL, NULL, &err),
            "more tied weights than can be numbered");
    assert_int_equal(gbs_builder_add_noisy_or(b, 1, 1, SCOPE, VALUE, 0.1, NULL), GBS_OK);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 0, 3, 3, &err),
            "factor 0 is tied to weight 3: there are 3 weights");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 6, 0, 3, &err), "there are 6 factors");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 2, 1, 0, &err), "it has a table");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 5, 1, 0, &err), "it has a table");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 0, 0, 2, &err),
            "factor 0 has weight 1.5, expected weight 0 times its feature, 0.5 * 2");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 3, 0, INFINITY, &err), "0.5 * inf");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_tie_factor(b, 1, 1, NAN, &err), "0 * nan");
    gbs_model *m = build(b);
    assert_int_equal(gbs_model_tied_weight(m, 0, NULL), UINT32_MAX);
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* ---- native files ---------------------------------------------------------------------------- */

static size_t write_native(const gbs_model *m, char *bytes, size_t size)
{
    const char *path = scratch_path("tied.gbm");
    assert_int_equal(gbs_model_write(m, path, NULL, NULL), GBS_OK);
    const size_t n = read_file(path, bytes, size);
    assert_true(n < size - 1);
    return n;
}

static gbs_status read_native(char *bytes, size_t n, gbs_model **m, gbs_error *err)
{
    char text[GBSI_GBM_DIGEST_BYTES + 1];
    gbsi_digest *d = NULL;
    assert_int_equal(gbsi_digest_new(&d, NULL), GBS_OK);
    gbsi_digest_bytes(d, bytes, n - GBSI_GBM_DIGEST_BYTES);
    gbsi_digest_text(d, text);
    gbsi_digest_free(d);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, not a string */
    memcpy(bytes + n - GBSI_GBM_DIGEST_BYTES, text, GBSI_GBM_DIGEST_BYTES);
    return gbs_model_read_memory("m.gbm", bytes, n, NULL, m, err);
}

static size_t section(const char *bytes, const char *name)
{
    uint64_t offset = 0;
    const char *entry = bytes + GBSI_GBM_HEADER_BYTES;
    while (strcmp(entry, name) != 0) {
        entry += GBSI_GBM_ENTRY_BYTES;
    }
    memcpy(&offset, entry + GBSI_GBM_NAME_BYTES, sizeof offset);
    return offset;
}

static void native_files(void **unused)
{
    (void)unused;
    static char first[4096];
    static char second[4096];
    gbs_model *m = tied_model();
    gbs_model *back = NULL;
    const size_t n = write_native(m, first, sizeof first);
    assert_int_equal(first[8], 2); /* the version */
    assert_int_equal(first[GBSI_GBM_N_WEIGHTS_AT], 3);
    assert_int_equal(read_native(first, n, &back, NULL), GBS_OK);
    expect_ties(back);
    assert_string_equal(gbs_model_digest(m), gbs_model_digest(back));
    assert_int_equal(gbs_model_bytes(back), gbs_model_bytes(m) + 3 * (4 + 8)); /* of all factors */
    assert_int_equal(write_native(back, second, sizeof second), n);
    assert_memory_equal(first, second, n);
    gbs_model_free(m);
    gbs_model_free(back);
}

static void forged_files(void **unused)
{
    (void)unused;
    static const struct {
        const char *section;
        size_t at, n;
        uint64_t bits;
        const char *part;
    } cases[] = {
        {"weight_value", 16, 8, 0x7ff0000000000000, "tied weight 2 is inf"},
        {"weight_value", 0, 8, 0x3ff0000000000000, "factor 0 has weight 1.5, expected weight 0"},
        {"weight_fixed", 1, 1, 2, "tied weight 1: fixed is 2"},
        {"weight_number", 0, 4, 3, "factor 0 is tied to weight 3: there are 3 weights"},
        {"weight_number", 8, 4, 1, "factor 2 is tied to weight 1: it has a table"},
        {"weight_number", 0, 4, UINT32_MAX, "found feature 3 of factor 0, expected 0"},
        {"feature", 32, 8, 0x3ff0000000000000, "found feature 1 of factor 4, expected 0"},
    };
    static char bytes[4096];
    gbs_model *m = tied_model();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_model *back = NULL;
        char place[64];
        const size_t n = write_native(m, bytes, sizeof bytes);
        const size_t at = section(bytes, cases[i].section) + cases[i].at;
        memcpy(bytes + at, &cases[i].bits, cases[i].n);
        (void)snprintf(place, sizeof place, "m.gbm: byte ");
        REFUSED(GBS_ERR_FORMAT, read_native(bytes, n, &back, &err), cases[i].part);
        REFUSED(GBS_ERR_FORMAT, read_native(bytes, n, &back, &err), place);
    }
    const size_t n = write_native(m, bytes, sizeof bytes);
    gbs_model *back = NULL;
    bytes[8] = 1;
    REFUSED(GBS_ERR_FORMAT, read_native(bytes, n, &back, &err), "found version 1, expected 2");
    memset(bytes + GBSI_GBM_N_WEIGHTS_AT, 0xff, 8);
    REFUSED(GBS_ERR_FORMAT, read_native(bytes, n, &back, &err), "byte 104: found 184467440737");
    gbs_model_free(m);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n++) {
        gbs_model *m = NULL;
        gbs_builder *b = with_factors();
        gbsi_alloc_fail_after(n);
        status = gbs_builder_add_weights(b, 3, VALUE, FIXED, NULL, NULL);
        status = status < 0 ? status : gbs_builder_tie_factor(b, 1, 1, -7, NULL);
        status = status < 0 ? status : gbs_builder_build(b, &m, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        gbs_model_free(m);
        gbs_builder_free(b);
    }
}

static int end(void **unused)
{
    (void)unused;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(getters),         cmocka_unit_test(refusals),
        cmocka_unit_test(native_files),    cmocka_unit_test(forged_files),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
