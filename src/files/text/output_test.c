/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "config.h"
#include "text/input.h"
#include "text/output.h"
#include "text/test_models.h"

static gbs_output *open_output(const char *path)
{
    gbs_output *output = NULL;
    gbs_error err = {0};
    if (gbs_output_open(path, &output, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return output;
}

static void expect_file(const char *path, const char *text)
{
    char found[1024];
    (void)read_file(path, found, sizeof found);
    assert_string_equal(found, text);
}

static size_t files_in(const char *folder)
{
    char command[1100];
    char line[32] = "";
    (void)snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    (void)pclose(pipe);
    return (size_t)strtoul(line, NULL, 10);
}

static void whole_or_not(void **state)
{
    (void)state;
    gbs_error err;
    assert_int_equal(mkdir(scratch_path("d"), 0700), 0);
    const char *path = scratch_file("d/f", "old");
    gbs_output *output = open_output(path);
    gbsi_output_text(output, "new");
    expect_file(path, "old");
    gbs_output_discard(output);
    expect_file(path, "old");
    assert_int_equal(files_in(scratch_path("d")), 1);
    output = open_output(path);
    gbsi_output_text(output, "new ");
    gbsi_output_uint(output, UINT64_MAX);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, 0);
    gbsi_output_text(output, " ");
    gbsi_output_double(output, 0.1);
    gbsi_output_bytes(output, "", 0);
    assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    expect_file(path, "new 18446744073709551615 0 0.1");
    assert_int_equal(files_in(scratch_path("d")), 1);
    gbs_output_discard(NULL);
}

static void keeps_mode_and_link(void **state)
{
    (void)state;
    gbs_error err;
    struct stat info;
    const char *path = scratch_file("m", "old");
    const char *link_path = scratch_path("l");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("m", link_path), 0);
    gbs_output *output = open_output(link_path);
    gbsi_output_text(output, "new");
    assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    expect_file(path, "new");
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void fails(void **state)
{
    (void)state;
    gbs_error err;
    gbs_output *output = NULL;
    assert_int_equal(gbs_output_open(scratch_path("none/f"), &output, &err), GBS_ERR_IO);
    assert_int_equal(gbs_output_open(scratch_path(""), &output, &err), GBS_ERR_IO);
    assert_null(output);
    if (access("/dev/full", W_OK) == 0) {
        output = open_output("/dev/full");
        for (int i = 0; i < 100000; i++) {
            /* a write fails in the middle, and later writes fail too */
            gbsi_output_text(output, "something ");
        }
        assert_int_equal(gbs_output_commit(output, &err), GBS_ERR_IO);
        assert_non_null(strstr(err.message, "/dev/full: cannot be written: "));
        output = open_output("/dev/full");
        gbsi_output_text(output, "short");
        assert_int_equal(gbs_output_commit(output, NULL), GBS_ERR_IO);
    }
}

static void closed_pipe(void **state)
{
    (void)state;
    int ends[2];
    gbs_error err;
    char path[64];
    assert_int_equal(pipe(ends), 0);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    if (access(path, W_OK) != 0) {
        skip(); /* this system does not have the folder */
    }
    gbs_output *output = open_output(path);
    (void)close(ends[0]);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    gbsi_output_text(output, "x");
    assert_int_equal(gbs_output_commit(output, &err), GBS_ERR_IO);
    (void)signal(SIGPIPE, before);
    (void)close(ends[1]);
}

static void json_and_csv(void **state)
{
    (void)state;
    gbs_error err;
    const char *path = scratch_path("t");
    gbs_output *output = open_output(path);
    gbsi_output_json_string(output, "a\"b\\c\n\t\x01\x7f gr\xc3\xbcn \xff\xed\xa0\x80\xe2\x82");
    gbsi_output_text(output, "\n");
    gbsi_output_json_double(output, INFINITY);
    gbsi_output_json_double(output, NAN);
    gbsi_output_json_double(output, -0.5);
    gbsi_output_double(output, -INFINITY);
    gbsi_output_text(output, "\n");
    gbsi_output_csv_field(output, "plain text");
    gbsi_output_csv_field(output, ",");
    gbsi_output_csv_field(output, "\"a\"\"");
    gbsi_output_csv_field(output, "a\nb");
    gbsi_output_csv_field(output, "");
    assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    expect_file(path, "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f gr\xc3\xbcn "
                      "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"\n"
                      "nullnull-0.5-inf\n"
                      "plain text\",\"\"\"\"a\"\"\"\"\"\"a\nb\"");
}

#ifdef GBSI_HAVE_ZLIB

/* Writes more than the buffers of either side hold, with varying bytes. */
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
    gbs_error err;
    static const char *const names[] = {"plain", "one.gz", "two.GZ"};
    for (size_t i = 0; i < 3; i++) {
        gbs_output *output = open_output(scratch_path(names[i]));
        fill(output);
        assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    }
    gbsi_input plain;
    gbsi_input packed;
    assert_int_equal(gbsi_input_read(scratch_path("plain"), &plain, &err), GBS_OK);
    assert_int_equal(gbsi_input_read(scratch_path("one.gz"), &packed, &err), GBS_OK);
    assert_int_equal(plain.n, packed.n);
    assert_memory_equal(plain.bytes, packed.bytes, plain.n);
    gbsi_input_free(&packed);
    gbsi_input_free(&plain);
    static char one[1 << 20];
    static char two[1 << 20];
    size_t n = read_file(scratch_path("one.gz"), one, sizeof one);
    assert_int_equal(n, read_file(scratch_path("two.GZ"), two, sizeof two));
    assert_memory_equal(one, two, n);
    /* Two members after one another are one file. Garbage behind the last member is an error. */
    memcpy(one + n, two, n);
    assert_int_equal(gbsi_input_memory("x", one, 2 * n, &packed, &err), GBS_OK);
    gbsi_input_free(&packed);
    assert_int_equal(gbsi_input_memory("x", one, n + 1, &packed, &err), GBS_ERR_FORMAT);
}

static void damaged(void **state)
{
    (void)state;
    char bytes[4096];
    gbs_error err;
    gbsi_input input = {0};
    gbs_output *output = open_output(scratch_path("s.gz"));
    gbsi_output_text(output, "MARKOV 1 2 1 1 0 2 1 3 and so on and so on and so on");
    assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    size_t n = read_file(scratch_path("s.gz"), bytes, sizeof bytes);
    for (size_t cut = 2; cut < n; cut++) {
        assert_int_equal(gbsi_input_memory("x", bytes, cut, &input, &err), GBS_ERR_FORMAT);
        assert_non_null(strstr(err.message, "found the end of the file, expected more gzip"));
    }
    for (size_t i = 2; i < n; i++) {
        bytes[i] = (char)(bytes[i] ^ 0x55);
        if (gbsi_input_memory("x", bytes, n, &input, &err) == GBS_OK) {
            gbsi_input_free(&input); /* fields of the header that do not matter here */
            assert_true(i < 10);
        }
        bytes[i] = (char)(bytes[i] ^ 0x55);
    }
}

static void bombs(void **state)
{
    (void)state;
    gbs_error err;
    static char blanks[1 << 16];
    memset(blanks, ' ', sizeof blanks);
    gbs_output *output = open_output(scratch_path("bomb.gz"));
    for (int i = 0; i < 2200; i++) { /* 137.5 MiB */
        gbsi_output_bytes(output, blanks, sizeof blanks);
    }
    assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    gbsi_input input = {0};
    assert_int_equal(gbsi_input_read(scratch_path("bomb.gz"), &input, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "512 times"));
}

static void gzip_memory(void **state)
{
    (void)state;
    gbs_error err;
    gbs_output *output = open_output(scratch_path("o.gz"));
    fill(output);
    assert_int_equal(gbs_output_commit(output, &err), GBS_OK);
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n++) {
        gbsi_input input = {0};
        const char *path = scratch_path("o.gz");
        gbsi_alloc_fail_after(n);
        status = gbsi_input_read(path, &input, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        gbsi_input_free(&input);
    }
    status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n++) {
        output = NULL;
        const char *path = scratch_path("p.gz");
        gbsi_alloc_fail_after(n);
        status = gbs_output_open(path, &output, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        gbs_output_discard(output);
    }
}

#endif

static void unreadable(void **state)
{
    (void)state;
    gbs_error err;
    gbsi_input input = {0};
    assert_int_equal(gbsi_input_read(scratch_path("none"), &input, &err), GBS_ERR_IO);
    assert_non_null(strstr(err.message, "none: cannot be opened: "));
    assert_int_equal(gbsi_input_read(scratch_path(""), &input, &err), GBS_ERR_IO);
#ifndef GBSI_HAVE_ZSTD
    assert_int_equal(gbsi_input_memory("x", "\x28\xb5\x2f\xfd...", 7, &input, &err),
                     GBS_ERR_UNSUPPORTED);
#endif
    assert_int_equal(gbsi_input_read(scratch_file("empty", ""), &input, &err), GBS_OK);
    assert_int_equal(input.n, 0);
    gbsi_input_free(&input);
}

/* ---- on disk before the name ---------------------------------------------------------------- */

static struct {
    const char *path; /* the watched path, NULL if none is watched */
    int files, folders;
    bool fails;
} sync_calls;

/* Replaces the system's function in this whole program. */
int fsync(int fd)
{
    struct stat is;
    if (sync_calls.path == NULL || fstat(fd, &is) != 0) {
        return fdatasync(fd);
    }
    sync_calls.files += S_ISREG(is.st_mode);
    sync_calls.folders += S_ISDIR(is.st_mode);
    if (S_ISREG(is.st_mode)) {
        assert_int_equal(is.st_size, 3); /* the whole file is written */
        expect_file(sync_calls.path, "old");
    } else {
        expect_file(sync_calls.path, "new");
    }
    errno = EIO;
    return sync_calls.fails ? -1 : fdatasync(fd);
}

/* A crash leaves the old file or the whole new one. The bytes are on disk before the file gets
 * its name, and the name is on disk afterwards. If the disk reports an error, the old file
 * stays. */
static void on_disk_before_the_name(void **state)
{
    (void)state;
    gbs_error err = {0};
    const char *path = scratch_file("synced", "old");
    for (int fails = 0; fails <= 1; ++fails) {
        (void)scratch_file("synced", "old");
        gbs_output *output = open_output(path);
        gbsi_output_text(output, "new");
        memset(&sync_calls, 0, sizeof sync_calls);
        sync_calls.path = path;
        sync_calls.fails = fails == 1;
        assert_int_equal(gbs_output_commit(output, &err), fails ? GBS_ERR_IO : GBS_OK);
        sync_calls.path = NULL;
        assert_int_equal(sync_calls.files, 1);
        assert_int_equal(sync_calls.folders, 1 - fails);
        expect_file(path, fails ? "old" : "new");
    }
    assert_non_null(strstr(err.message, "flushed to disk"));
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
        cmocka_unit_test(whole_or_not), cmocka_unit_test(keeps_mode_and_link),
        cmocka_unit_test(fails),        cmocka_unit_test(closed_pipe),
        cmocka_unit_test(json_and_csv), cmocka_unit_test(on_disk_before_the_name),
#ifdef GBSI_HAVE_ZLIB
        cmocka_unit_test(compresses),   cmocka_unit_test(damaged),
        cmocka_unit_test(bombs),        cmocka_unit_test(gzip_memory),
#endif
        cmocka_unit_test(unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
