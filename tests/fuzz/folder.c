/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of several files: an input is cut into them at lines "===NAME", and a folder that lives
 * as long as the program holds them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

enum { PATH_BYTES = 512 };
static const char MARK[] = "===";

/* A folder that is emptied and removed at the end of the program. */
typedef struct fuzz_folder {
    char path[PATH_BYTES];
} fuzz_folder;

static fuzz_folder input_folder;
static fuzz_folder output_folder;

static void empty_folder(const fuzz_folder *folder)
{
    char path[2 * PATH_BYTES];
    DIR *open = opendir(folder->path);
    FUZZ_REQUIRE(open != NULL);
    const struct dirent *entry = NULL;
    while ((entry = readdir(open)) != NULL) { /* NOLINT(concurrency-mt-unsafe): one thread */
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
            (void)unlink(path);
        }
    }
    (void)closedir(open);
}

static void remove_folders(void)
{
    fuzz_folder *const all[] = {&input_folder, &output_folder};
    for (size_t i = 0; i < 2; i++) {
        if (all[i]->path[0] != 0) {
            empty_folder(all[i]);
            (void)rmdir(all[i]->path);
        }
    }
}

static void make_folder(fuzz_folder *folder)
{
    static int registered;
    if (folder->path[0] == 0) {
        const char *base = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread */
        (void)snprintf(folder->path, sizeof folder->path, "%s/gibbsite-fuzz-XXXXXX",
                       base != NULL ? base : P_tmpdir);
        FUZZ_REQUIRE(mkdtemp(folder->path) != NULL);
    }
    if (!registered) {
        registered = 1;
        FUZZ_REQUIRE(atexit(remove_folders) == 0);
    }
    empty_folder(folder);
}

/* The first mark at the beginning of a line, or the end. */
static const char *find_mark(const char *at, const char *end)
{
    for (const char *line = at; line != NULL && line < end;) {
        if ((size_t)(end - line) >= strlen(MARK) && memcmp(line, MARK, strlen(MARK)) == 0) {
            return line;
        }
        line = memchr(line, '\n', (size_t)(end - line));
        line = line == NULL ? NULL : line + 1;
    }
    return end;
}

/* Letters, digits, '.' and '-': nothing that leads out of the folder. */
static int is_name(const char *name, size_t n)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    for (size_t i = 0; i < n; i++) {
        if (memchr(legal, name[i], sizeof legal - 1) == NULL) {
            return 0;
        }
    }
    return n > 0 && n < 64 && name[0] != '.';
}

static void write_piece(const char *name, size_t n_name, const char *content, size_t n)
{
    char path[2 * PATH_BYTES];
    if (!is_name(name, n_name)) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%.*s", input_folder.path, (int)n_name, name);
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file != NULL && fwrite(content, 1, n, file) == n && fclose(file) == 0);
}

const char *fuzz_files(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *end = at + size;
    make_folder(&input_folder);
    for (at = find_mark(at, end); at < end;) {
        const char *name = at + strlen(MARK);
        const char *line = memchr(name, '\n', (size_t)(end - name));
        const char *content = line == NULL ? end : line + 1;
        at = find_mark(content, end);
        /* The newline before a mark is the mark's. */
        size_t n = (size_t)(at - content) - (at < end && at > content ? 1 : 0);
        write_piece(name, (size_t)((line == NULL ? end : line) - name), content, n);
    }
    return input_folder.path;
}

gbs_model *fuzz_through_folder(const gbs_model *model, const char *format, const char *name,
                               const gbs_read_options *options)
{
    char path[2 * PATH_BYTES];
    gbs_error err = {0};
    gbs_model *back = NULL;
    const gbs_write_options as = {
        .format = format, .convention = options->convention, .warn = fuzz_take_warning};
    make_folder(&output_folder);
    (void)snprintf(path, sizeof path, "%s/%s", output_folder.path, name);
    gbs_status status = gbs_model_write(model, path, &as, &err);
    if (status < 0) {
        fuzz_check_failure(status, &err);
        return NULL;
    }
    gbs_read_options again = *options;
    again.format = format;
    status = gbs_model_read(path, &again, &back, &err);
    if (status < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
    }
    FUZZ_REQUIRE(status == GBS_OK);
    return back;
}
