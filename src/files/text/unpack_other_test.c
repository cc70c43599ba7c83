/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files packed with xz and bzip2: read whole, in several streams, cut at any place,
 * damaged at any place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "config.h"
#include "gibbsite/io.h"
#include "models/format_names.h"
#include "text/input.h"
#include "text/output.h"
#include "text/test_models.h"

static const char TEXT[] = "network small {\n}\nnetwork small {\n}\nnetwork small {\n}\n";

static const unsigned char XZ[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00,
    0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x35, 0x00,
    0x19, 0x5d, 0x00, 0x37, 0x19, 0x4a, 0xf0, 0x5b, 0xf8, 0x17, 0x75, 0x68, 0x79, 0xfe,
    0xdd, 0x52, 0xf7, 0x52, 0x23, 0x7f, 0xdf, 0xbd, 0x05, 0xd5, 0x8f, 0xa4, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x0d, 0x8a, 0x42, 0xef, 0x00, 0x01, 0x31, 0x36, 0x00, 0x27,
    0x61, 0x29, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
};

static const unsigned char BZ2[] = {
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x66, 0x4f, 0x98, 0x4c, 0x00, 0x00,
    0x10, 0x51, 0x80, 0x00, 0x10, 0x40, 0x00, 0x22, 0x0f, 0x9c, 0x8a, 0x20, 0x00, 0x23, 0x3f, 0xf5,
    0x52, 0x34, 0x36, 0x93, 0xc5, 0x0a, 0x60, 0x00, 0x2d, 0x6f, 0x1e, 0xb4, 0x87, 0xce, 0x90, 0x94,
    0x2d, 0x49, 0x52, 0xdc, 0xbb, 0x7e, 0x2e, 0xe4, 0x8a, 0x70, 0xa1, 0x20, 0xcc, 0x9f, 0x30, 0x98,
};

static const struct {
    const char *kind;
    const unsigned char *bytes;
    size_t n;
    bool is_read; /* this build can unpack the file */
} PACKED[] = {
#ifdef GBSI_HAVE_LZMA
    {"xz", XZ, sizeof XZ, true},
#else
    {"xz", XZ, sizeof XZ, false},
#endif
#ifdef GBSI_HAVE_BZ2
    {"bzip2", BZ2, sizeof BZ2, true},
#else
    {"bzip2", BZ2, sizeof BZ2, false},
#endif
};
#define N_PACKED (sizeof PACKED / sizeof PACKED[0])

static void whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PACKED; i++) {
        unsigned char twice[2 * sizeof BZ2 + 2 * sizeof XZ];
        const size_t n = PACKED[i].n;
        test_row("%s", PACKED[i].kind);
        memcpy(twice, PACKED[i].bytes, n);
        memcpy(twice + n, PACKED[i].bytes, n);
        for (size_t times = 1; times <= 2; times++) {
            gbsi_input input = {0};
            gbs_error err = {0};
            const gbs_status status = gbsi_input_memory("x", twice, times * n, &input, &err);
            if (!PACKED[i].is_read) {
                assert_int_equal(status, GBS_ERR_UNSUPPORTED);
                assert_non_null(strstr(err.message, "which this build cannot read: unpack it"));
                continue;
            }
            assert_int_equal(status, GBS_OK);
            assert_int_equal(input.n, times * (sizeof TEXT - 1));
            assert_memory_equal(input.bytes, TEXT, sizeof TEXT - 1);
            assert_memory_equal(input.bytes + input.n - (sizeof TEXT - 1), TEXT, sizeof TEXT - 1);
            gbsi_input_free(&input);
        }
    }
    test_no_row();
}

static void damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PACKED; i++) {
        test_row("%s", PACKED[i].kind);
        for (size_t at = 10; at < PACKED[i].n && PACKED[i].is_read; at++) {
            /* the cut is behind the magic bytes */
            unsigned char bytes[sizeof BZ2 + sizeof XZ];
            gbsi_input input = {0};
            gbs_error err = {0};
            memcpy(bytes, PACKED[i].bytes, PACKED[i].n);
            assert_int_equal(gbsi_input_memory("x", bytes, at, &input, &err), GBS_ERR_FORMAT);
            assert_non_null(strstr(err.message, "x: byte "));
            bytes[at] ^= 0x10;
            if (gbsi_input_memory("x", bytes, PACKED[i].n, &input, &err) == GBS_OK) {
                gbsi_input_free(&input); /* padding bits, which do not count */
            } else {
                assert_true(err.status == GBS_ERR_FORMAT || err.status == GBS_ERR_LIMIT);
            }
        }
    }
    test_no_row();
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PACKED; i++) {
        gbs_status status = PACKED[i].is_read ? GBS_ERR_MEMORY : GBS_OK;
        for (uint64_t allowed = 0; status != GBS_OK; allowed++) {
            gbsi_input input = {0};
            gbs_error err = {0};
            gbsi_alloc_fail_after(allowed);
            status = gbsi_input_memory("x", PACKED[i].bytes, PACKED[i].n, &input, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            gbsi_input_free(&input);
        }
    }
}

/* Files in xz and bzip2 are read, but never written. */
static void not_written(void **state)
{
    (void)state;
    static const char *const names[] = {"a.bif.xz", "a.bif.BZ2"};
    for (size_t i = 0; i < 2; i++) {
        gbs_error err = {0};
        gbs_output *output = NULL;
        assert_int_equal(gbsi_unpacked_length(names[i]), 5);
        assert_int_equal(gbs_output_open(scratch_path(names[i]), &output, &err), GBS_ERR_ARGUMENT);
        assert_non_null(
            strstr(err.message, "files are read and not written, expected .gz or .zst"));
        assert_null(output);
    }
}

static void strangers(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a.bif.zip", "a ZIP archive: unpack it first"},
        {"a.tar.gz", "a tar archive: unpack it first"},
        {"a.DSL", "save it in GeNIe as .xdsl"},
        {"a.neta", "Netica's own format"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refuse_model(cases[i][0], "text", NULL, GBS_ERR_UNSUPPORTED, cases[i][1]);
    }
    assert_string_equal(gbsi_model_format_of("a.xbif.xz"), "xmlbif");
    assert_string_equal(gbsi_model_format_of("a.oobn"), "net");
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(damaged),
                                       cmocka_unit_test(memory_runs_out),
                                       cmocka_unit_test(not_written), cmocka_unit_test(strangers)};
    return cmocka_run_group_tests(tests, NULL, end);
}
