/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an archive from its end. The last record has the position of the directory, and the
 * directory has the positions of the members. Sizes in local headers are ignored, because writers
 * may leave them out. */
#include <string.h>

#include "arrays/zip.h"
#include "base/memory.h"
#include "text/text.h"

enum {
    END_BYTES = 22,
    END_64_BYTES = 56,
    LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1,
};

static uint64_t number(const gbsi_input *input, uint64_t at, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) {
        value |= (uint64_t)(uint8_t)input->bytes[at + i] << 8 * i;
    }
    return value;
}

static gbs_status damaged(const gbsi_input *input, uint64_t at, const char *what, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %llu: %s", input->name, (unsigned long long)at,
                     what);
}

/* ---- the directory ----------------------------------------------------------------------- */

typedef struct directory {
    uint64_t at, size, n;
} directory;

/* Finds the end record. A comment of the archive may follow this record. */
static gbs_status find_end(const gbsi_input *input, uint64_t *end, gbs_error *err)
{
    const size_t most_back = (size_t)END_BYTES + UINT16_MAX;
    for (size_t back = END_BYTES; back <= input->n && back <= most_back; back++) {
        const size_t at = input->n - back;
        if (number(input, at, 4) == 0x06054b50 &&
            number(input, at + 20, 2) == back - (size_t)END_BYTES) {
            *end = at;
            return GBS_OK;
        }
    }
    return damaged(input, input->n,
                   "found no end of a ZIP archive (not an .npz file, or cut short)", err);
}

static gbs_status find_directory(const gbsi_input *input, directory *dir, gbs_error *err)
{
    uint64_t end = 0;
    GBSI_PASS(find_end(input, &end, err));
    *dir = (directory){.n = number(input, end + 10, 2),
                       .size = number(input, end + 12, 4),
                       .at = number(input, end + 16, 4)};
    if (end >= LOCATOR_BYTES && number(input, end - LOCATOR_BYTES, 4) == 0x07064b50) {
        const uint64_t at = number(input, end - LOCATOR_BYTES + 8, 8);
        if (at > end - LOCATOR_BYTES || end - LOCATOR_BYTES - at < END_64_BYTES ||
            number(input, at, 4) != 0x06064b50) {
            return damaged(input, end - LOCATOR_BYTES + 8,
                           "found the place of a ZIP64 record, but none is there", err);
        }
        *dir = (directory){.n = number(input, at + 32, 8),
                           .size = number(input, at + 40, 8),
                           .at = number(input, at + 48, 8)};
        end = at;
    }
    if (dir->at > end || dir->size > end - dir->at || dir->n > dir->size / ENTRY_BYTES) {
        return damaged(input, end, "found a directory that does not fit into the file", err);
    }
    return GBS_OK;
}

/* Reads numbers that do not fit into 32 bits from the ZIP64 record of the extra field. The record
 * has them in the order of field[]. */
static bool take_zip64(const gbsi_input *input, uint64_t at, uint64_t n, gbsi_zip_member *member,
                       uint64_t *local)
{
    uint64_t *const field[] = {&member->size, &member->packed, local};
    bool wanted = false;
    for (size_t i = 0; i < 3; i++) {
        wanted = wanted || *field[i] == UINT32_MAX;
    }
    const uint64_t end = at + n;
    while (wanted && end - at >= 4) {
        const uint64_t tag = number(input, at, 2);
        uint64_t left = number(input, at + 2, 2);
        at += 4;
        if (left > end - at) {
            return false;
        }
        if (tag != 1) {
            at += left;
            continue;
        }
        for (size_t i = 0; i < 3; i++) {
            if (*field[i] != UINT32_MAX) {
                continue;
            }
            if (left < 8) {
                return false;
            }
            *field[i] = number(input, at, 8);
            at += 8;
            left -= 8;
        }
        return true;
    }
    return !wanted; /* a number 2^32 - 1 means that a ZIP64 record must exist */
}

static gbs_status find_data(const gbsi_input *input, uint64_t entry, uint64_t local,
                            uint64_t directory_at, gbsi_zip_member *member, gbs_error *err)
{
    if (local > directory_at || directory_at - local < LOCAL_BYTES ||
        number(input, local, 4) != 0x04034b50) {
        return damaged(input, entry, "found the place of a member, but none is there", err);
    }
    const uint64_t data =
        local + LOCAL_BYTES + number(input, local + 26, 2) + number(input, local + 28, 2);
    if (data > directory_at || member->packed > directory_at - data) {
        return damaged(input, entry, "found a member that does not fit into the file", err);
    }
    member->data = (size_t)data;
    return GBS_OK;
}

/* Reads an entry of the directory.
 * @param at in: position of the entry; out: position of the next entry. */
static gbs_status read_entry(const gbsi_input *input, const directory *dir, uint64_t *at,
                             gbsi_zip_member *member, gbs_error *err)
{
    const uint64_t here = *at;
    const uint64_t left = dir->at + dir->size - here;
    if (left < ENTRY_BYTES || number(input, here, 4) != 0x02014b50) {
        return damaged(input, here, "found no entry of the directory where one is expected", err);
    }
    const uint64_t n_name = number(input, here + 28, 2);
    const uint64_t n_extra = number(input, here + 30, 2);
    const uint64_t n_comment = number(input, here + 32, 2);
    uint64_t local = number(input, here + 42, 4);
    if (n_name + n_extra + n_comment > left - ENTRY_BYTES) {
        return damaged(input, here, "found an entry longer than the directory", err);
    }
    *member = (gbsi_zip_member){.method = (unsigned)number(input, here + 10, 2),
                                .crc = (uint32_t)number(input, here + 16, 4),
                                .packed = number(input, here + 20, 4),
                                .size = number(input, here + 24, 4)};
    if ((number(input, here + 8, 2) & ENCRYPTED) != 0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "%s: found an encrypted member", input->name);
    }
    if (!take_zip64(input, here + ENTRY_BYTES + n_name, n_extra, member, &local)) {
        return damaged(input, here, "found an entry whose ZIP64 record is cut short", err);
    }
    for (uint64_t i = 0; i < n_name; i++) {
        if (gbsi_is_control(input->bytes + here + ENTRY_BYTES + i, (size_t)(n_name - i))) {
            return damaged(input, here, "found a control character in the name of a member", err);
        }
    }
    GBSI_PASS(find_data(input, here, local, dir->at, member, err));
    member->name = gbsi_alloc((size_t)n_name + 1);
    GBSI_PASS(GBSI_HAVE(err, input->name, member->name));
    memcpy(member->name, input->bytes + here + ENTRY_BYTES, (size_t)n_name);
    member->name[n_name] = 0;
    *at = here + ENTRY_BYTES + n_name + n_extra + n_comment;
    return GBS_OK;
}

gbs_status gbsi_zip_open(const gbsi_input *input, gbsi_zip *zip, gbs_error *err)
{
    gbs_status status = GBS_OK;
    directory dir;
    gbsi_zip made = {.input = input};
    GBSI_TRY(find_directory(input, &dir, err));
    made.member = gbsi_alloc_array_zero((size_t)dir.n, sizeof *made.member);
    GBSI_TRY(GBSI_HAVE(err, input->name, made.member));
    for (uint64_t at = dir.at; made.n < dir.n; made.n++) {
        GBSI_TRY(read_entry(input, &dir, &at, &made.member[made.n], err));
    }
    *zip = made;
    made = (gbsi_zip){0};

cleanup:
    gbsi_zip_close(&made);
    return status;
}

void gbsi_zip_close(gbsi_zip *zip)
{
    for (size_t i = 0; i < zip->n; i++) {
        gbsi_free(zip->member[i].name);
    }
    gbsi_free(zip->member);
    *zip = (gbsi_zip){0};
}

/* ---- a member ---------------------------------------------------------------------------- */

static gbs_status unpack(const gbsi_zip *zip, const gbsi_zip_member *member, void **bytes,
                         gbs_error *err)
{
    /* Deflate packs at most 1032 bytes into one, so a larger announced size is wrong. */
    if (member->size / 1032 > member->packed) {
        return damaged(zip->input, member->data, "found less than the announced size needs", err);
    }
    gbs_status status =
        gbsi_unpack_limit(zip->input->name, (size_t)member->packed, (size_t)member->size, err);
    if (status < 0) {
        return status;
    }
    void *made = gbsi_alloc((size_t)member->size);
    GBSI_PASS(GBSI_HAVE(err, zip->input->name, made));
    status = gbsi_inflate_raw(zip->input->name, zip->input->bytes + member->data,
                              (size_t)member->packed, made, (size_t)member->size, err);
    if (status < 0) {
        gbsi_free(made);
        return status;
    }
    *bytes = made;
    return GBS_OK;
}

gbs_status gbsi_zip_read(const gbsi_zip *zip, const gbsi_zip_member *member, const char **bytes,
                         void **owned, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_crc32_tables tables;
    void *unpacked = NULL;
    const char *found = zip->input->bytes + member->data;
    if (member->method == DEFLATED) {
        GBSI_TRY(unpack(zip, member, &unpacked, err));
        found = unpacked;
    } else if (member->method != STORED) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "%s: member %.200s is packed by method %u, expected 0 (stored) or 8 "
                         "(deflated)",
                         zip->input->name, member->name, member->method);
    } else if (member->size != member->packed) {
        return damaged(zip->input, member->data, "found a stored member of two sizes", err);
    }
    gbsi_crc32_init(&tables);
    const uint32_t crc = gbsi_crc32(&tables, 0, found, (size_t)member->size);
    if (crc != member->crc) {
        status = gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s: byte %zu: the check sum of member %.200s is %08x, expected %08x",
                           zip->input->name, member->data, member->name, crc, member->crc);
        goto cleanup;
    }
    *bytes = found;
    *owned = unpacked;
    unpacked = NULL;

cleanup:
    gbsi_free(unpacked);
    return status;
}
