/* SPDX-License-Identifier: Apache-2.0 */
/* Tests NumPy's files: the bytes are those that NumPy writes, and damaged files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arrays/arrays.h"
#include "arrays/npy.h"
#include "base/memory.h"
#include "base/test_row.h"
#include "config.h"
#include "text/test_models.h"

#define HEADER 128 /* bytes of the preamble of a small array */

/* Makes a file of version 1 with a given literal and n bytes of data that count up from 0. */
static size_t make_npy(char *bytes, const char *text, size_t n)
{
    const size_t length = strlen(text);
    memcpy(bytes, "\x93NUMPY\x01", 8);
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, text, length); /* NOLINT(bugprone-not-null-terminated-result) */
    for (size_t i = 0; i < n; i++) {
        bytes[10 + length + i] = (char)i;
    }
    return 10 + length + n;
}

static gbs_status parse(const char *text, size_t n, gbsi_array *array, gbs_error *err)
{
    char bytes[4096];
    return gbsi_npy_parse("name", bytes, make_npy(bytes, text, n), array, err);
}

static void checksum(void **state)
{
    (void)state;
    gbsi_crc32_tables tables;
    const char text[] = "123456789 and then some more";
    gbsi_crc32_init(&tables);
    /* the published check value of CRC-32 */
    assert_int_equal(gbsi_crc32(&tables, 0, text, 9), 0xcbf43926);
    assert_int_equal(gbsi_crc32(&tables, 0, text, 0), 0);
    for (size_t cut = 0; cut < sizeof text; cut++) {
        const uint32_t begun = gbsi_crc32(&tables, 0, text, cut);
        assert_int_equal(gbsi_crc32(&tables, begun, text + cut, sizeof text - cut),
                         gbsi_crc32(&tables, 0, text, sizeof text));
    }
}

static void header(void **state)
{
    (void)state;
    static const struct {
        gbsi_array array;
        const char *text;
    } cases[] = {
        {{GBSI_ARRAY_U1, 3, {4, 100, 6}, NULL},
         "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 100, 6), }"},
        {{GBSI_ARRAY_F8, 1, {5}, NULL},
         "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }"},
        {{GBSI_ARRAY_I8, 0, {0}, NULL}, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }"},
        {{GBSI_ARRAY_U2,
          8,
          {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
           UINT64_MAX},
          NULL},
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_row("%zu: %s", i, cases[i].text == NULL ? "any" : cases[i].text);
        char bytes[GBSI_NPY_HEADER];
        const size_t n = gbsi_npy_header(&cases[i].array, bytes);
        assert_true(n % 64 == 0 && n <= GBSI_NPY_HEADER);
        assert_memory_equal(bytes, "\x93NUMPY\x01\x00", 8);
        assert_int_equal((unsigned char)bytes[8] + 256 * (unsigned char)bytes[9], n - 10);
        assert_int_equal(bytes[n - 1], '\n');
        if (cases[i].text != NULL) {
            const size_t length = strlen(cases[i].text);
            assert_memory_equal(bytes + 10, cases[i].text, length);
            for (size_t k = 10 + length; k < n - 1; k++) {
                assert_int_equal(bytes[k], ' ');
            }
        }
    }
}

static void literals(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{\"shape\":(2,3,),\"descr\":\"<u2\",\"fortran_order\":False}",
        " { 'fortran_order' : False , 'shape' : ( 2 , 3 ) , 'descr' : '<u2' } \n",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        test_row("%s", good[i]);
        gbsi_array a = {0};
        gbs_error err = {0};
        if (parse(good[i], 12, &a, &err) != GBS_OK) {
            fail_msg("%s", err.message);
        }
        assert_true(a.type == GBSI_ARRAY_U2 && a.n_dims == 2 && a.shape[0] == 2 && a.shape[1] == 3);
        assert_int_equal(gbsi_array_size(&a), 6);
        assert_true(gbsi_array_value(&a, 1) == 2 + 256 * 3);
        gbsi_array_free(&a);
        assert_null(a.data);
    }
}

static void refused_literals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gbs_status status;
        const char *part;
    } bad[] = {
        {"", GBS_ERR_FORMAT, "byte 10: found the end of the header, expected '{'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3)", GBS_ERR_FORMAT,
         "expected ',' or '}'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3)} x", GBS_ERR_FORMAT,
         "found 'x', expected the end of the header"},
        {"{'descr': '<u2', 'shape': (2, 3)}", GBS_ERR_FORMAT, "each once"},
        {"{'descr': '<u2', 'descr': '<u2', 'shape': (2, 3)}", GBS_ERR_FORMAT, "each once"},
        {"{'extra': 1}", GBS_ERR_FORMAT, "byte 12: found 'e', expected the keys"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (12,)}", GBS_ERR_UNSUPPORTED,
         "type '|O' (Python objects), expected |u1, <u2"},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (12,)}", GBS_ERR_UNSUPPORTED, "'>f8'"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", GBS_ERR_UNSUPPORTED,
         "structures"},
        {"{'descr': '<u2', 'fortran_order': Maybe, 'shape': (2, 3)}", GBS_ERR_FORMAT,
         "expected True or False"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2, -3)}", GBS_ERR_FORMAT,
         "found '-', expected a length"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2 3)}", GBS_ERR_FORMAT,
         "expected ',' or ')'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (18446744073709551616,)}",
         GBS_ERR_FORMAT, "a length below 2^64"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (9223372036854775808,)}",
         GBS_ERR_FORMAT, "found 12 bytes of data"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2, 4)}", GBS_ERR_FORMAT,
         "found 12 bytes of data, expected as many as the shape"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
         GBS_ERR_UNSUPPORTED, "more than 8 dimensions"},
        {"{'descr: '<u2'}", GBS_ERR_FORMAT, "expected ':'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_row("%s", bad[i].text);
        gbsi_array a = {.n_dims = 7};
        gbs_error err = {0};
        const gbs_status status = parse(bad[i].text, 12, &a, &err);
        if (status != bad[i].status || strstr(err.message, bad[i].part) == NULL) {
            fail_msg("%s: %d, \"%s\", expected \"%s\"", bad[i].text, status, err.message,
                     bad[i].part);
        }
        assert_int_equal(strncmp(err.message, "name: ", 6), 0);
        assert_int_equal(a.n_dims, 7);
    }
}

static void versions(void **state)
{
    (void)state;
    const char text[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}";
    char bytes[256] = "\x93NUMPY\x02";
    const size_t length = strlen(text);
    gbsi_array a = {0};
    gbs_error err = {0};
    bytes[8] = (char)length;                    /* the length has four bytes from version 2 on */
    memcpy(bytes + 12, text, length);           /* NOLINT(bugprone-not-null-terminated-result) */
    memcpy(bytes + 12 + length, "\x07\x08", 2); /* NOLINT(bugprone-not-null-terminated-result) */
    for (char version = 2; version <= 3; version++) {
        bytes[6] = version;
        assert_int_equal(gbsi_npy_parse("name", bytes, 14 + length, &a, &err), GBS_OK);
        assert_true(gbsi_array_value(&a, 0) == 7.0 && gbsi_array_value(&a, 1) == 8.0);
        gbsi_array_free(&a);
    }
    bytes[6] = 4;
    assert_int_equal(gbsi_npy_parse("name", bytes, 14 + length, &a, &err), GBS_ERR_UNSUPPORTED);
    bytes[6] = 2;
    bytes[11] = 1; /* a header of 16 MiB */
    assert_int_equal(gbsi_npy_parse("name", bytes, 14 + length, &a, &err), GBS_ERR_FORMAT);
    assert_int_equal(gbsi_npy_parse("name", "PK\3\4..........", 14, &a, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "no NumPy array"));
}

/* The sides are 2, 3 and 4 long. In Fortran order element (i, j, k) stands at i + 2 (j + 3 k). */
static void transposed(void **state)
{
    (void)state;
    gbsi_array a = {0};
    gbs_error err = {0};
    const char text[] = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}";
    assert_int_equal(parse(text, 24, &a, &err), GBS_OK);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 3; j++) {
            for (size_t k = 0; k < 4; k++) {
                assert_true(gbsi_array_value(&a, (i * 3 + j) * 4 + k) ==
                            (double)(i + 2 * (j + 3 * k)));
            }
        }
    }
    gbsi_array_free(&a);
    assert_int_equal(parse("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 0)}", 0, &a, &err),
                     GBS_OK);
    assert_int_equal(gbsi_array_size(&a), 0);
    gbsi_array_free(&a);
}

/* ---- archives ---------------------------------------------------------------------------- */

static const uint8_t U1[6] = {0, 1, 2, 3, 254, 255};
static const uint16_t U2[2] = {7, 65535};
static const int32_t I4[3] = {-5, 0, INT32_MAX};
static const int64_t I8[1] = {-4096};
static const float F4[2] = {0.25f, -1e30f};
static const double F8[2] = {0.1, -1e300};

typedef struct named {
    const char *name;
    gbsi_array array;
} named;

static void fill(named all[6])
{
    const named made[6] = {
        {"x", {GBSI_ARRAY_U1, 3, {1, 2, 3}, (void *)(uintptr_t)U1}},
        {"wide", {GBSI_ARRAY_U2, 1, {2}, (void *)(uintptr_t)U2}},
        {"card", {GBSI_ARRAY_I4, 2, {3, 1}, (void *)(uintptr_t)I4}},
        {"one_8", {GBSI_ARRAY_I8, 0, {0}, (void *)(uintptr_t)I8}},
        {"f4", {GBSI_ARRAY_F4, 1, {2}, (void *)(uintptr_t)F4}},
        {"lp", {GBSI_ARRAY_F8, 2, {1, 2}, (void *)(uintptr_t)F8}},
    };
    memcpy(all, made, sizeof made);
}

static gbs_status from_memory(void *context, uint64_t at, void *bytes, size_t n, gbs_error *err)
{
    (void)err;
    memcpy(bytes, (const char *)context + at, n);
    return GBS_OK;
}

/* @param zip64_from see gbsi_zip_writer. @return status; *bytes must be freed with gbs_free(). */
static gbs_status write_archive(uint64_t zip64_from, char **bytes, size_t *n, gbs_error *err)
{
    named all[6];
    gbs_output *output = NULL;
    gbsi_npz_writer *writer = NULL;
    fill(all);
    gbs_status status = gbs_output_open_memory(&output, err);
    if (status >= 0) {
        status = gbsi_npz_writer_new(output, &writer, err);
    }
    if (status >= 0) {
        writer->zip.zip64_from = zip64_from;
    }
    for (size_t i = 0; i < 6 && status >= 0; i++) {
        gbsi_array *a = &all[i].array;
        void *data = a->data;
        a->data = i % 2 == 0 ? data : NULL;
        status =
            gbsi_npz_writer_add(writer, all[i].name, a, i % 2 == 0 ? NULL : from_memory, data, err);
    }
    if (status >= 0) {
        gbsi_npz_writer_finish(writer);
        status = gbs_output_take(output, bytes, n, err);
        output = NULL;
    }
    gbsi_npz_writer_free(writer);
    gbs_output_discard(output);
    return status;
}

static const char *save(const char *bytes, size_t n)
{
    const char *path = scratch_path("a.npz");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void check_archive(const char *path)
{
    named all[6];
    gbsi_npz *npz = NULL;
    gbs_error err = {0};
    fill(all);
    if (gbsi_npz_open(path, &npz, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(gbsi_npz_n_members(npz), 6);
    for (size_t i = 0; i < 6; i++) {
        gbsi_array a = {0};
        const gbsi_array *expected = &all[i].array;
        assert_string_equal(gbsi_npz_name(npz, i), all[i].name);
        if (gbsi_npz_read(npz, all[i].name, &a, &err) != GBS_OK) {
            fail_msg("%s", err.message);
        }
        assert_true(a.type == expected->type && a.n_dims == expected->n_dims);
        for (uint32_t d = 0; d < a.n_dims; d++) {
            assert_int_equal(a.shape[d], expected->shape[d]);
        }
        for (size_t k = 0; k < gbsi_array_size(expected); k++) {
            assert_true(gbsi_array_value(&a, k) == gbsi_array_value(expected, k));
        }
        gbsi_array_free(&a);
    }
    gbsi_npz_close(npz);
}

static void archive(void **state)
{
    (void)state;
    char *bytes = NULL;
    char *again = NULL;
    size_t n = 0;
    size_t n_again = 0;
    gbs_error err = {0};
    assert_int_equal(write_archive(UINT32_MAX, &bytes, &n, &err), GBS_OK);
    check_archive(save(bytes, n));
    /* 1980-01-01 00:00, stored, sizes in front */
    assert_memory_equal(bytes, "PK\3\4\x14\0\0\0\0\0\0\0\x21\0", 14);
    assert_memory_equal(bytes + 26, "\x05\0\0\0x.npy\x93NUMPY", 15);
    assert_int_equal(write_archive(UINT32_MAX, &again, &n_again, &err), GBS_OK);
    assert_int_equal(n, n_again);
    assert_memory_equal(bytes, again, n);
    gbs_free(again);
    gbs_free(bytes);
}

/* Tests the records of large archives in a small archive. */
static void zip64(void **state)
{
    (void)state;
    static const uint64_t from[] = {0, 1, 150, 300, 600, 2000};
    size_t size[6] = {0};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        char *bytes = NULL;
        size_t n = 0;
        gbs_error err = {0};
        assert_int_equal(write_archive(from[i], &bytes, &n, &err), GBS_OK);
        check_archive(save(bytes, n));
        size[i] = n;
        gbs_free(bytes);
    }
    assert_true(size[0] > size[3] && size[3] > size[5]);
}

static void refused_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "x", "a/b", "a.npy", "a b"};
    named all[6];
    gbs_output *output = NULL;
    gbsi_npz_writer *writer = NULL;
    gbs_error err = {0};
    fill(all);
    assert_int_equal(gbs_output_open_memory(&output, &err), GBS_OK);
    assert_int_equal(gbsi_npz_writer_new(output, &writer, &err), GBS_OK);
    assert_int_equal(gbsi_npz_writer_add(writer, "x", &all[0].array, NULL, NULL, &err), GBS_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        test_row("name '%s'", names[i]);
        assert_int_equal(gbsi_npz_writer_add(writer, names[i], &all[0].array, NULL, NULL, &err),
                         GBS_ERR_ARGUMENT);
    }
    test_no_row();
    assert_int_equal(gbsi_npz_writer_add(writer, "x2", &all[0].array, NULL, NULL, &err), GBS_OK);
    all[0].array.n_dims = 9;
    assert_int_equal(gbsi_npz_writer_add(writer, "y", &all[0].array, NULL, NULL, &err),
                     GBS_ERR_ARGUMENT);
    gbsi_npz_writer_free(writer);
    gbs_output_discard(output);
}

/* NumPy made the archive. It has deflated members, one array in Fortran order, and a comment
 * behind the end. */
static void by_numpy(void **state)
{
    (void)state;
    gbsi_npz *npz = NULL;
    gbs_error err = {0};
    gbsi_array a = {0};
    if (gbsi_npz_open(data_path("arrays.npz"), &npz, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(gbsi_npz_n_members(npz), 6);
    assert_int_equal(gbsi_npz_read(npz, "absent", &a, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message,
                           "has no array 'absent'; it has: fortran, zeros, bytes, big, "
                           "objects, notes.txt"));
    assert_int_equal(gbsi_npz_read(npz, "notes.txt", &a, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "arrays.npz(notes.txt): byte 0: found no NumPy array"));
#ifdef GBSI_HAVE_ZLIB
    assert_int_equal(gbsi_npz_read(npz, "fortran", &a, &err), GBS_OK);
    assert_true(a.type == GBSI_ARRAY_I4 && a.n_dims == 3);
    for (size_t i = 0; i < 24; i++) {
        assert_true(gbsi_array_value(&a, i) == (double)i);
    }
    gbsi_array_free(&a);
    assert_int_equal(gbsi_npz_read(npz, "zeros", &a, &err), GBS_OK);
    assert_int_equal(gbsi_array_size(&a), 2000);
    gbsi_array_free(&a);
    assert_int_equal(gbsi_npz_read(npz, "bytes", &a, &err), GBS_OK);
    assert_true(gbsi_array_value(&a, 299) == 299 % 251);
    gbsi_array_free(&a);
    assert_int_equal(gbsi_npz_read(npz, "big", &a, &err), GBS_ERR_UNSUPPORTED);
    assert_int_equal(gbsi_npz_read(npz, "objects", &a, &err), GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "Python objects"));
#else
    assert_int_equal(gbsi_npz_read(npz, "fortran", &a, &err), GBS_ERR_UNSUPPORTED);
#endif
    gbsi_npz_close(npz);
    gbsi_npz_close(NULL);
}

/* ---- damage ------------------------------------------------------------------------------ */

/* Reads everything in an archive at the end of its allocation. @return the number of arrays
 * read. */
static int read_all(const char *bytes, size_t n)
{
    char *copy = malloc(n == 0 ? 1 : n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    const gbsi_input input = {.name = "name", .bytes = copy, .n = n};
    gbsi_zip zip = {0};
    gbs_error err = {0};
    int n_read = 0;
    if (gbsi_zip_open(&input, &zip, &err) < 0) {
        assert_null(zip.member);
        assert_int_equal(strncmp(err.message, "name: ", 6), 0);
    }
    for (size_t i = 0; i < zip.n; i++) {
        const char *found = NULL;
        void *owned = NULL;
        gbsi_array a = {0};
        if (gbsi_zip_read(&zip, &zip.member[i], &found, &owned, &err) >= 0 &&
            gbsi_npy_parse("name", found, (size_t)zip.member[i].size, &a, &err) >= 0) {
            n_read++;
        }
        gbsi_array_free(&a);
        gbsi_free(owned);
    }
    gbsi_zip_close(&zip);
    free(copy);
    return n_read;
}

static void cut_anywhere(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t n = 0;
    gbs_error err = {0};
    for (int large = 0; large < 2; large++) {
        assert_int_equal(write_archive(large ? 0 : UINT32_MAX, &bytes, &n, &err), GBS_OK);
        for (size_t cut = 0; cut < n; cut++) {
            assert_int_equal(read_all(bytes, cut), 0);
        }
        assert_int_equal(read_all(bytes, n), 6);
        gbs_free(bytes);
    }
    /* an array alone */
    char npy[256];
    const size_t size = make_npy(npy, "{'descr': '|u1', 'fortran_order': False, 'shape': (9,)}", 9);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut == 0 ? 1 : cut);
        gbsi_array a = {0};
        assert_non_null(copy);
        memcpy(copy, npy, cut);
        assert_int_equal(gbsi_npy_parse("name", copy, cut, &a, &err), GBS_ERR_FORMAT);
        free(copy);
    }
}

/* Changes every byte in three ways. Reading must not crash, and a member that is read must have
 * the right check sum. */
static void changed_anywhere(void **state)
{
    (void)state;
    static const char with[] = {'\x01', '\x80', '\xff'};
#ifdef GBSI_HAVE_ZLIB
    const int n_archives = 3;
#else
    const int n_archives = 2; /* the archive by NumPy is deflated */
#endif
    char numpy[8192];
    const size_t n_numpy = read_file(data_path("arrays.npz"), numpy, sizeof numpy);
    assert_true(n_numpy > 500 && n_numpy < sizeof numpy - 1);
    for (int which = 0; which < n_archives; which++) {
        char *bytes = NULL;
        size_t n = 0;
        gbs_error err = {0};
        int n_whole = 0;
        if (which < 2) {
            assert_int_equal(write_archive(which == 0 ? UINT32_MAX : 0, &bytes, &n, &err), GBS_OK);
        } else {
            bytes = numpy;
            n = n_numpy;
        }
        const int n_arrays = read_all(bytes, n);
        for (size_t at = 0; at < n; at++) {
            for (size_t k = 0; k < sizeof with; k++) {
                bytes[at] = (char)(bytes[at] ^ with[k]);
                n_whole += read_all(bytes, n) == n_arrays;
                bytes[at] = (char)(bytes[at] ^ with[k]);
            }
        }
        assert_true(n_whole > 0 && n_whole < 3 * (int)n);
        if (which < 2) {
            gbs_free(bytes);
        }
    }
}

static void wrong_sum(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t n = 0;
    gbs_error err = {0};
    gbsi_npz *npz = NULL;
    gbsi_array a = {0};
    assert_int_equal(write_archive(UINT32_MAX, &bytes, &n, &err), GBS_OK);
    bytes[35 + HEADER] ^= 1; /* the first number of x */
    assert_int_equal(gbsi_npz_open(save(bytes, n), &npz, &err), GBS_OK);
    assert_int_equal(gbsi_npz_read(npz, "x", &a, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "the check sum of member x is "));
    assert_int_equal(gbsi_npz_read(npz, "lp", &a, &err), GBS_OK);
    gbsi_array_free(&a);
    gbsi_npz_close(npz);
    gbs_free(bytes);
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    char *bytes = NULL;
    size_t size = 0;
    for (uint64_t n = 0; status != GBS_OK; n++) {
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = write_archive(UINT32_MAX, &bytes, &size, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
    }
    gbs_free(bytes);
    for (int what = 0; what < 2; what++) {
        status = GBS_ERR_MEMORY;
        for (uint64_t n = 0; status != GBS_OK; n++) {
            gbsi_npz *npz = NULL;
            gbsi_array a = {0};
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            status = gbsi_npz_open(data_path("arrays.npz"), &npz, &err);
            if (status == GBS_OK) {
                status = gbsi_npz_read(npz, what == 0 ? "fortran" : "zeros", &a, &err);
            }
            gbsi_alloc_fail_after(UINT64_MAX);
#ifndef GBSI_HAVE_ZLIB
            if (status == GBS_ERR_UNSUPPORTED) {
                status = GBS_OK;
            }
#endif
            assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && a.data == NULL));
            gbsi_array_free(&a);
            gbsi_npz_close(npz);
        }
    }
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
        cmocka_unit_test(checksum),      cmocka_unit_test(header),
        cmocka_unit_test(literals),      cmocka_unit_test(refused_literals),
        cmocka_unit_test(versions),      cmocka_unit_test(transposed),
        cmocka_unit_test(archive),       cmocka_unit_test(zip64),
        cmocka_unit_test(refused_names), cmocka_unit_test(by_numpy),
        cmocka_unit_test(cut_anywhere),  cmocka_unit_test(changed_anywhere),
        cmocka_unit_test(wrong_sum),     cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
