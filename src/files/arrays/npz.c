/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of arrays: ZIP files with members NAME.npy. */
#include <stdio.h>
#include <string.h>

#include "arrays/npy.h"
#include "base/budget.h"
#include "base/memory.h"

/* ---- reading ----------------------------------------------------------------------------- */

struct gbsi_npz {
    char *path; /* path of the archive, owned; `input` borrows the string */
    gbsi_input input;
    gbsi_zip zip;
};

/* Cuts ".npy" off the name of a member. */
static void cut_ending(char *name)
{
    const size_t n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, ".npy") == 0) {
        name[n - 4] = 0;
    }
}

gbs_status gbsi_npz_open(const char *path, gbsi_npz **npz, gbs_error *err)
{
    GBSI_NEED(path, npz);
    gbs_status status = GBS_OK;
    const size_t size = strlen(path) + 1;
    gbsi_npz *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, path, made));
    made->path = gbsi_alloc(size);
    GBSI_TRY(GBSI_HAVE(err, path, made->path));
    memcpy(made->path, path, size);
    GBSI_TRY(gbsi_input_read(made->path, &made->input, err));
    GBSI_TRY(gbsi_zip_open(&made->input, &made->zip, err));
    for (size_t i = 0; i < made->zip.n; i++) {
        cut_ending(made->zip.member[i].name);
    }
    *npz = made;
    made = NULL;

cleanup:
    gbsi_npz_close(made);
    return status;
}

void gbsi_npz_close(gbsi_npz *npz)
{
    if (npz != NULL) {
        gbsi_zip_close(&npz->zip);
        gbsi_input_free(&npz->input);
        GBSI_FREE(npz->path, npz);
    }
}

size_t gbsi_npz_n_members(const gbsi_npz *npz)
{
    return npz == NULL ? 0 : npz->zip.n;
}

const char *gbsi_npz_name(const gbsi_npz *npz, size_t member)
{
    return member < gbsi_npz_n_members(npz) ? npz->zip.member[member].name : NULL;
}

static gbs_status no_such_member(const gbsi_npz *npz, const char *name, gbs_error *err)
{
    char list[400] = "none";
    size_t n = 0;
    for (size_t i = 0; i < npz->zip.n && n < sizeof list - 70; i++) {
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%.60s", i > 0 ? ", " : "",
                              npz->zip.member[i].name);
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: has no array '%.100s'; it has: %s",
                     npz->input.name, name, list);
}

gbs_status gbsi_npz_read(gbsi_npz *npz, const char *name, gbsi_array *array, gbs_error *err)
{
    GBSI_NEED(npz, name, array);
    gbs_status status = GBS_OK;
    const char *bytes = NULL;
    void *owned = NULL;
    size_t i = 0;
    while (i < npz->zip.n && strcmp(npz->zip.member[i].name, name) != 0) {
        i++;
    }
    if (i == npz->zip.n) {
        return no_such_member(npz, name, err);
    }
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, npz->input.n);
    char title[512];
    (void)snprintf(title, sizeof title, "%.400s(%.100s)", npz->input.name, name);
    GBSI_TRY(gbsi_zip_read(&npz->zip, &npz->zip.member[i], &bytes, &owned, err));
    status = gbsi_npy_parse(title, bytes, (size_t)npz->zip.member[i].size, array, err);

cleanup:
    gbsi_free(owned);
    gbsi_budget_leave(before);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------- */

gbs_status gbsi_npz_writer_new(gbs_output *output, gbsi_npz_writer **writer, gbs_error *err)
{
    GBSI_NEED(output, writer);
    gbsi_npz_writer *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "archive", made));
    gbsi_zip_writer_init(&made->zip, output);
    gbsi_crc32_init(&made->tables);
    *writer = made;
    return GBS_OK;
}

void gbsi_npz_writer_free(gbsi_npz_writer *writer)
{
    if (writer != NULL) {
        gbsi_zip_writer_free(&writer->zip);
        gbsi_free(writer);
    }
}

static void put_sum(void *to, const void *bytes, size_t n)
{
    gbsi_npz_writer *writer = to;
    writer->crc = gbsi_crc32(&writer->tables, writer->crc, bytes, n);
}

static void put_archive(void *to, const void *bytes, size_t n)
{
    gbsi_npz_writer *writer = to;
    gbsi_zip_put(&writer->zip, bytes, n);
}

static gbs_status check_name(const gbsi_npz_writer *writer, const char *name, gbs_error *err)
{
    const gbsi_zip_entry *entry = writer->zip.entry;
    const size_t n = strlen(name);
    bool fine = n > 0 && n < 200;
    for (size_t i = 0; i < n; i++) {
        const char c = name[i];
        fine = fine && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_');
    }
    for (size_t i = 0; fine && i < writer->zip.n; i++) {
        fine = strncmp(entry[i].name, name, n) != 0 || strcmp(entry[i].name + n, ".npy") != 0;
    }
    return fine ? GBS_OK
                : gbsi_fail(err, GBS_ERR_ARGUMENT,
                            "archive: '%.200s' is no name for an array, or is there already", name);
}

gbs_status gbsi_npz_writer_add(gbsi_npz_writer *writer, const char *name, const gbsi_array *array,
                               gbsi_array_source *source, void *context, gbs_error *err)
{
    GBSI_NEED(writer, name, array);
    char header[GBSI_NPY_HEADER];
    char member[256];
    uint64_t bytes = 0;
    GBSI_PASS(check_name(writer, name, err));
    GBSI_PASS(gbsi_npy_check(array, &bytes, err));
    const size_t n_header = gbsi_npy_header(array, header);
    (void)snprintf(member, sizeof member, "%s.npy", name);
    writer->crc = 0;
    put_sum(writer, header, n_header);
    GBSI_PASS(gbsi_npy_put(array, source, context, put_sum, writer, err));
    GBSI_PASS(gbsi_zip_begin(&writer->zip, member, n_header + bytes, writer->crc, err));
    put_archive(writer, header, n_header);
    return gbsi_npy_put(array, source, context, put_archive, writer, err);
}

void gbsi_npz_writer_finish(gbsi_npz_writer *writer)
{
    if (writer != NULL) {
        gbsi_zip_finish(&writer->zip);
    }
}
