/* SPDX-License-Identifier: Apache-2.0 */
/* Tests inputs and outputs compressed with zstd. The zstd library makes the inputs in this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "config.h"
#include "text/input.h"
#include "text/output.h"
#include "text/test_models.h"

#ifdef GBSI_HAVE_ZSTD
#include <zstd.h>

static const char TEXT[] = "MARKOV 1 2 1 1 0 2 1 3 and so on and so on and so on and so on";

static size_t pack_at(char *out, size_t size, const void *bytes, size_t n, int checksum, int level)
{
    ZSTD_CCtx *stream = ZSTD_createCCtx();
    assert_non_null(stream);
    (void)ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, checksum);
    (void)ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, level);
    size_t packed = ZSTD_compress2(stream, out, size, bytes, n);
    assert_false(ZSTD_isError(packed));
    (void)ZSTD_freeCCtx(stream);
    return packed;
}

/* Makes a skippable frame with n bytes of content (RFC 8878, section 3.1.2). */
static size_t skippable(char *out, unsigned kind, size_t n)
{
    const char head[8] = {(char)(0x50 + kind), 0x2a, 0x4d, 0x18, (char)n, 0, 0, 0};
    memcpy(out, head, sizeof head);
    memset(out + sizeof head, 'x', n);
    return sizeof head + n;
}

/* Puts the input at the end of its allocation, so that a memory checker sees a read beyond it. */
static gbs_status unpack(const char *bytes, size_t n, gbsi_input *input, gbs_error *err)
{
    char *copy = malloc(n == 0 ? 1 : n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    gbsi_input made = {0};
    gbs_status status = gbsi_input_memory("x", copy, n, &made, err);
    if (status == GBS_OK && made.owned == NULL) { /* bytes that are not compressed stay in `copy` */
        made.bytes = NULL;
    }
    *input = made;
    free(copy);
    return status;
}

static void expect_text(const char *bytes, size_t n, const char *text)
{
    gbsi_input input;
    gbs_error err = {0};
    if (unpack(bytes, n, &input, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_non_null(input.owned);
    assert_int_equal(input.n, strlen(text));
    assert_memory_equal(input.bytes, text, input.n);
    gbsi_input_free(&input);
}

static void frames(void **state)
{
    (void)state;
    char bytes[1024];
    size_t n = pack_at(bytes, sizeof bytes, "one ", 4, 0, 3);
    expect_text(bytes, n, "one ");
    n += skippable(bytes + n, 0, 5);
    n += pack_at(bytes + n, sizeof bytes - n, "two ", 4, 1, 19);
    n += pack_at(bytes + n, sizeof bytes - n, "", 0, 1, 1);
    n += skippable(bytes + n, 15, 0);
    expect_text(bytes, n, "one two ");
    /* A skippable frame before other frames, and alone. */
    n = skippable(bytes, 7, 3);
    expect_text(bytes, n, "");
    n += pack_at(bytes + n, sizeof bytes - n, "three", 5, 1, 3);
    expect_text(bytes, n, "three");
    n = pack_at(bytes, sizeof bytes, "", 0, 0, 3);
    expect_text(bytes, n, "");
}

static void models(void **state)
{
    (void)state;
    char bytes[1024];
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_model *plain = read_model("a.uai", "MARKOV 1 2 1 1 0 2 1 3", NULL);
    size_t n = pack_at(bytes, sizeof bytes, "MARKOV 1 2 1 1 0 2 1 3", 22, 1, 3);
    /* The content decides, not the name. */
    static const char *const names[] = {"a.uai", "a.uai.zst", "a.uai.gz"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(gbs_model_read_memory(names[i], bytes, n, NULL, &model, &err), GBS_OK);
        assert_string_equal(gbs_model_digest(model), gbs_model_digest(plain));
        gbs_model_free(model);
    }
    const char *path = scratch_path("m.uai.zst");
    assert_int_equal(gbs_model_write(plain, path, NULL, &err), GBS_OK);
    (void)read_file(path, bytes, sizeof bytes);
    assert_memory_equal(bytes, "\x28\xb5\x2f\xfd", 4);
    assert_int_equal(gbs_model_read(path, NULL, &model, &err), GBS_OK);
    assert_string_equal(gbs_model_digest(model), gbs_model_digest(plain));
    gbs_model_free(model);
    gbs_model_free(plain);
}

static void cut_anywhere(void **state)
{
    (void)state;
    char bytes[1024];
    gbs_error err = {0};
    gbsi_input input;
    size_t first = pack_at(bytes, sizeof bytes, TEXT, sizeof TEXT - 1, 1, 3);
    size_t second = first + skippable(bytes + first, 2, 6);
    size_t n = second + pack_at(bytes + second, sizeof bytes - second, TEXT, 30, 0, 3);
    for (size_t cut = 4; cut <= n; cut++) {
        gbs_status status = unpack(bytes, cut, &input, &err);
        if (cut == first || cut == second || cut == n) {
            /* a prefix of whole frames is a valid file */
            assert_int_equal(status, GBS_OK);
            gbsi_input_free(&input);
        } else {
            char expected[128];
            (void)snprintf(expected, sizeof expected,
                           "x: byte %zu: found the end of the file, expected more zstd data", cut);
            assert_int_equal(status, GBS_ERR_FORMAT);
            assert_string_equal(err.message, expected);
        }
    }
}

static void damaged(void **state)
{
    (void)state;
    char bytes[1024];
    gbs_error err = {0};
    gbsi_input input;
    size_t n = pack_at(bytes, sizeof bytes, TEXT, sizeof TEXT - 1, 1, 3);
    size_t n_harmless = 0;
    for (size_t i = 4; i < n; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
            gbs_status status = unpack(bytes, n, &input, &err);
            if (status == GBS_OK) {
                /* a changed file may only be accepted if its content is unchanged */
                assert_int_equal(input.n, sizeof TEXT - 1);
                assert_memory_equal(input.bytes, TEXT, input.n);
                gbsi_input_free(&input);
                n_harmless++;
            } else {
                assert_true(status == GBS_ERR_FORMAT || status == GBS_ERR_LIMIT ||
                            status == GBS_ERR_UNSUPPORTED);
                assert_int_equal(strncmp(err.message, "x: byte ", 8), 0);
            }
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
        }
    }
    assert_true(n_harmless <= 8);
    bytes[n] = 'x'; /* bytes behind the last frame */
    assert_int_equal(unpack(bytes, n + 1, &input, &err), GBS_ERR_FORMAT);
    memcpy(bytes + n, "no frame", 8); /* NOLINT(bugprone-not-null-terminated-result) */
    assert_int_equal(unpack(bytes, n + 8, &input, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "found damaged zstd data ("));
}

/* Tests the headers of frames: RFC 8878, section 3.1.1.1. */
static void heads(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbsi_input input;
    /* Window_Descriptor 0x90: exponent 18, 2^28 bytes. */
    assert_int_equal(unpack("\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9, &input, &err),
                     GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "window of more than 2^27 bytes"));
    /* Dictionary_ID 7. */
    assert_int_equal(unpack("\x28\xb5\x2f\xfd\x21\x07\x00\x01\x00\x00", 10, &input, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "need a dictionary"));
    /* Frame_Content_Size is 2^63 with a small window. The announced size must not be allocated. */
    assert_int_equal(
        unpack("\x28\xb5\x2f\xfd\xc0\x00\0\0\0\0\0\0\0\x80\x09\x00\x00z", 18, &input, &err),
        GBS_ERR_FORMAT);
}

static void bombs(void **state)
{
    (void)state;
    gbs_error err = {0};
    size_t size = (size_t)70 << 20;
    char *blanks = malloc(size);
    char packed[16384];
    assert_non_null(blanks);
    memset(blanks, ' ', size);
    size_t n = pack_at(packed, sizeof packed, blanks, size, 0, 3);
    free(blanks);
    gbsi_input input;
    assert_int_equal(unpack(packed, n, &input, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "512 times"));
}

static void fill(gbs_output *output)
{
    for (uint64_t i = 0; i < 60000; i++) {
        gbsi_output_uint(output, i * i * 7919 % 1000003);
        gbsi_output_text(output, "\n");
    }
}

static void compresses(void **state)
{
    (void)state;
    gbs_error err = {0};
    static const char *const names[] = {"plain", "one.zst", "two.zst"};
    for (size_t i = 0; i < 3; i++) {
        gbs_output *output = NULL;
        assert_int_equal(gbs_output_open(scratch_path(names[i]), &output, &err), GBS_OK);
        fill(output);
        assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    }
    gbsi_input plain;
    gbsi_input packed;
    assert_int_equal(gbsi_input_read(scratch_path("plain"), &plain, &err), GBS_OK);
    assert_int_equal(gbsi_input_read(scratch_path("one.zst"), &packed, &err), GBS_OK);
    assert_int_equal(plain.n, packed.n);
    assert_memory_equal(plain.bytes, packed.bytes, plain.n);
    gbsi_input_free(&packed);
    static char one[1 << 20];
    static char two[1 << 20];
    size_t n = read_file(scratch_path("one.zst"), one, sizeof one);
    assert_int_equal(n, read_file(scratch_path("two.zst"), two, sizeof two));
    assert_memory_equal(one, two, n);
    assert_true(n < plain.n);
    gbsi_input_free(&plain);
}

static void memory_runs_out(void **state)
{
    (void)state;
    char bytes[1024];
    gbs_error err = {0};
    size_t n = pack_at(bytes, sizeof bytes, TEXT, sizeof TEXT - 1, 1, 3);
    uint64_t allowed = 0;
    for (gbs_status status = GBS_ERR_MEMORY; status != GBS_OK; allowed++) {
        gbsi_input input = {0};
        gbsi_alloc_fail_after(allowed);
        status = gbsi_input_memory("x", bytes, n, &input, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        gbsi_input_free(&input);
    }
    assert_true(allowed > 1);
    allowed = 0;
    for (gbs_status status = GBS_ERR_MEMORY; status != GBS_OK; allowed++) {
        gbs_output *output = NULL;
        const char *path = scratch_path("p.zst");
        gbsi_alloc_fail_after(allowed);
        status = gbs_output_open(path, &output, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        gbs_output_discard(output);
    }
    assert_true(allowed > 4);
}

#else

static void refused(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbsi_input input = {0};
    gbs_output *output = NULL;
    static const char *const heads[] = {"\x28\xb5\x2f\xfd...", "\x5f\x2a\x4d\x18..."};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(gbsi_input_memory("x", heads[i], 7, &input, &err), GBS_ERR_UNSUPPORTED);
        assert_string_equal(err.message, "x: compressed with zstd, which this version cannot "
                                         "read; unpack it first");
    }
    assert_int_equal(gbs_output_open(scratch_path("a.zst"), &output, &err), GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "leave out the ending .zst"));
    assert_null(output);
}

#endif

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef GBSI_HAVE_ZSTD
        cmocka_unit_test(frames),       cmocka_unit_test(models),
        cmocka_unit_test(cut_anywhere), cmocka_unit_test(damaged),
        cmocka_unit_test(heads),        cmocka_unit_test(bombs),
        cmocka_unit_test(compresses),   cmocka_unit_test(memory_runs_out),
#else
        cmocka_unit_test(refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
