/* SPDX-License-Identifier: Apache-2.0 */
#include "models/dimmwitted.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "models/formats.h"
#include "text/common.h"

static const char *const KIND[GBSI_DW_N_KINDS] = {"weights", "variables", "factors", "domains"};

const char *gbsi_dw_kind_name(gbsi_dw_kind kind)
{
    return KIND[kind];
}

/* ---- the meta file ------------------------------------------------------------------------- */

/* Whether text[0 .. n) ends in `ending`. */
static bool ends_in(const char *text, size_t n, const char *ending)
{
    return gbsi_ends_in(text, n, ending, strlen(ending));
}

static bool is_folder(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* Joins the strings `head` and `tail` in newly allocated memory. */
static gbs_status join(const char *head, size_t n_head, const char *tail, char **text,
                       gbs_error *err)
{
    const size_t n_tail = strlen(tail) + 1;
    *text = gbsi_alloc(n_head + n_tail);
    if (*text == NULL) {
        return gbsi_no_memory(err, tail, n_head + n_tail);
    }
    memcpy(*text, head, n_head);
    memcpy(*text + n_head, tail, n_tail);
    return GBS_OK;
}

gbs_status gbsi_dw_place_find(const char *path, gbsi_dw_place *place, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t n = strlen(path);
    gbsi_dw_place found = {0};
    if (is_folder(path)) {
        GBSI_TRY(
            join(path, n, path[n - 1] == '/' ? "graph.meta" : "/graph.meta", &found.meta, err));
    } else {
        GBSI_TRY(join(path, n, "", &found.meta, err));
    }
    n = strlen(found.meta);
    const char *slash = strrchr(found.meta, '/');
    found.n_folder = slash == NULL ? 0 : (size_t)(slash - found.meta) + 1;
    found.packed = ends_in(found.meta, n, ".gz");
    n -= found.packed ? strlen(".gz") : 0;
    if (!ends_in(found.meta, n, ".meta") || n - found.n_folder == strlen(".meta")) {
        status = gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: expected NAME.meta, from which the names of the other files "
                           "follow, or a folder with graph.meta",
                           path);
        goto cleanup;
    }
    found.n_base = n - strlen(".meta") - found.n_folder;
    *place = found;
    found.meta = NULL;

cleanup:
    gbsi_free(found.meta);
    return status;
}

void gbsi_dw_place_free(gbsi_dw_place *place)
{
    gbsi_free(place->meta);
    *place = (gbsi_dw_place){0};
}

bool gbsi_dimmwitted_in_folder(const char *path)
{
    struct stat is;
    char meta[4096];
    const int n = snprintf(meta, sizeof meta, "%s/graph.meta", path);
    return n > 0 && (size_t)n < sizeof meta && is_folder(path) && stat(meta, &is) == 0;
}

/* ---- names of companions ------------------------------------------------------------------- */

const char *gbsi_dw_pattern(const gbsi_dw_place *place, gbsi_dw_kind kind, char *text, size_t size)
{
    (void)snprintf(text, size, "%.*s.%s*", (int)place->n_base, place->meta + place->n_folder,
                   KIND[kind]);
    return text;
}

/* Whether a name belongs to a text file from which DimmWitted makes its binary files. The name of
 * such a file begins with "BASE.", unless BASE is "graph". */
static bool is_text(const gbsi_dw_place *place, const char *name)
{
    const char *base = place->meta + place->n_folder;
    const size_t n = strlen(name);
    const bool plain =
        place->n_base == strlen("graph") && memcmp(base, "graph", place->n_base) == 0;
    const size_t n_prefix = plain ? 0 : place->n_base + 1;
    return (ends_in(name, n, ".tsv") || ends_in(name, n, ".tsv.gz")) &&
           strncmp(name, base, n_prefix) == 0 &&
           strncmp(name + n_prefix, KIND[GBSI_DW_FACTORS], strlen(KIND[GBSI_DW_FACTORS])) == 0;
}

/* @return the kind of the companion that has this name; GBSI_DW_N_KINDS if the file is no
 *   companion. */
static gbsi_dw_kind kind_of(const gbsi_dw_place *place, const char *name)
{
    const size_t n_prefix = place->n_base + 1; /* length of "BASE." */
    const size_t n = strlen(name);
    const bool is_other = ends_in(name, n, ".tsv") || ends_in(name, n, ".tsv.gz") ||
                          ends_in(name, n, ".text2bin-args") || ends_in(name, n, "~") ||
                          strstr(name, ".tmp-") != NULL; /* temporary files of gbs_output_open() */
    if (is_other || strncmp(name, place->meta + place->n_folder, n_prefix) != 0) {
        return GBSI_DW_N_KINDS;
    }
    for (int k = 0; k < GBSI_DW_N_KINDS; k++) {
        if (strncmp(name + n_prefix, KIND[k], strlen(KIND[k])) == 0) {
            return (gbsi_dw_kind)k;
        }
    }
    return GBSI_DW_N_KINDS;
}

/* ---- files in the folder ------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static gbs_status take(const gbsi_dw_place *place, gbsi_dw_kind kind, const char *name,
                       gbsi_dw_files *files, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *path = NULL;
    GBSI_TRY(join(place->meta, place->n_folder, name, &path, err));
    if (is_folder(path)) {
        goto cleanup;
    }
    GBSI_TRY(gbsi_reserve(&files->path[kind], &files->capacity[kind], files->n[kind] + 1,
                          sizeof(char *), place->meta, err));
    ((char **)files->path[kind])[files->n[kind]++] = path;
    path = NULL;

cleanup:
    gbsi_free(path);
    return status;
}

static gbs_status open_folder(const gbsi_dw_place *place, DIR **folder, gbs_error *err)
{
    char *path = NULL;
    const bool here = place->n_folder == 0;
    gbs_status status = join(here ? "./" : place->meta, here ? 2 : place->n_folder, "", &path, err);
    if (status == GBS_OK) {
        *folder = opendir(path);
        if (*folder == NULL) {
            status = gbsi_fail_errno(err, path, "cannot be opened", errno);
        }
    }
    gbsi_free(path);
    return status;
}

/* Lists the companions in the folder, and skips folders in it. */
static gbs_status list_folder(const gbsi_dw_place *place, gbsi_dw_files *files, gbs_error *err)
{
    gbs_status status = GBS_OK;
    DIR *folder = NULL;
    GBSI_TRY(open_folder(place, &folder, err));
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder); // NOLINT(concurrency-mt-unsafe): our stream
        if (entry == NULL) {
            if (errno != 0) {
                status = gbsi_fail_errno(err, place->meta, "its folder cannot be read", errno);
            }
            break;
        }
        const gbsi_dw_kind kind = kind_of(place, entry->d_name);
        if (kind != GBSI_DW_N_KINDS) {
            GBSI_TRY(take(place, kind, entry->d_name, files, err));
        }
        files->text = files->text || is_text(place, entry->d_name);
    }

cleanup:
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return status;
}

gbs_status gbsi_dw_files_find(const gbsi_dw_place *place, gbsi_dw_files *files, gbs_error *err)
{
    *files = (gbsi_dw_files){0};
    const gbs_status status = list_folder(place, files, err);
    for (int k = 0; k < GBSI_DW_N_KINDS; k++) {
        if (files->n[k] > 1) {
            qsort(files->path[k], files->n[k], sizeof(char *), by_name);
        }
    }
    if (status < 0) {
        gbsi_dw_files_free(files);
    }
    return status;
}

const char *gbsi_dw_files_path(const gbsi_dw_files *files, gbsi_dw_kind kind, size_t i)
{
    return ((char **)files->path[kind])[i];
}

void gbsi_dw_files_free(gbsi_dw_files *files)
{
    for (int k = 0; k < GBSI_DW_N_KINDS; k++) {
        for (size_t i = 0; i < files->n[k]; i++) {
            gbsi_free(((char **)files->path[k])[i]);
        }
        gbsi_free(files->path[k]);
    }
    *files = (gbsi_dw_files){0};
}
