/* SPDX-License-Identifier: Apache-2.0 */
/* Writes stored members. The check sum of a member precedes its bytes, so an archive can be read
 * from its beginning, or from the directory at its end. */
#include <assert.h>
#include <string.h>

#include "arrays/zip.h"
#include "base/memory.h"
#include "text/output.h"

enum {
    VERSION = 20, /* version of ZIP that a reader must support */
    /* version of ZIP that a reader must support if the archive has ZIP64 records */
    VERSION_64 = 45,
    UNIX = 3 << 8,          /* the archive was made on Unix */
    DATE_1980 = 1 << 5 | 1, /* 1 January 1980 in the format of MS-DOS */
};

static const uint32_t FILE_MODE = UINT32_C(0100644) << 16; /* regular file, rw-r--r-- */

void gbsi_zip_writer_init(gbsi_zip_writer *writer, gbs_output *output)
{
    *writer = (gbsi_zip_writer){.output = output, .zip64_from = UINT32_MAX};
}

void gbsi_zip_writer_free(gbsi_zip_writer *writer)
{
    gbsi_zip_entry *entry = writer->entry;
    for (size_t i = 0; i < writer->n; i++) {
        gbsi_free(entry[i].name);
    }
    gbsi_free(writer->entry);
    *writer = (gbsi_zip_writer){0};
}

void gbsi_zip_put(gbsi_zip_writer *writer, const void *bytes, size_t n)
{
    gbsi_output_bytes(writer->output, bytes, n);
    writer->at += n;
}

/* Writes a number of n bytes, the lowest byte first. */
static void put_number(gbsi_zip_writer *writer, uint64_t value, unsigned n)
{
    uint8_t bytes[8];
    assert(n <= sizeof bytes);
    for (unsigned i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
    gbsi_zip_put(writer, bytes, n);
}

/* Writes a field of four bytes. If the value is too large, the field is 2^32 - 1, which tells
 * readers to take the number from the ZIP64 record. */
static void put_field(gbsi_zip_writer *writer, uint64_t value)
{
    put_number(writer, value >= writer->zip64_from ? UINT32_MAX : value, 4);
}

/* Writes the fields that a local header and an entry of the directory share. */
static void put_description(gbsi_zip_writer *writer, const gbsi_zip_entry *entry, bool zip64)
{
    put_number(writer, zip64 ? VERSION_64 : VERSION, 2);
    put_number(writer, 0, 2); /* no flags */
    put_number(writer, 0, 2); /* method: stored */
    put_number(writer, 0, 2); /* time: midnight */
    put_number(writer, DATE_1980, 2);
    put_number(writer, entry->crc, 4);
    put_field(writer, entry->size); /* packed size */
    put_field(writer, entry->size);
    put_number(writer, strlen(entry->name), 2);
}

gbs_status gbsi_zip_begin(gbsi_zip_writer *writer, const char *name, uint64_t size, uint32_t crc,
                          gbs_error *err)
{
    const size_t length = strlen(name);
    assert(length <= UINT16_MAX);
    GBSI_PASS(gbsi_reserve(&writer->entry, &writer->capacity, writer->n + 1, sizeof(gbsi_zip_entry),
                           "archive", err));
    char *copy = gbsi_alloc(length + 1);
    GBSI_PASS(GBSI_HAVE(err, "archive", copy));
    memcpy(copy, name, length + 1);
    gbsi_zip_entry *entry = (gbsi_zip_entry *)writer->entry + writer->n++;
    *entry = (gbsi_zip_entry){.name = copy, .crc = crc, .size = size, .offset = writer->at};
    const bool zip64 = size >= writer->zip64_from;
    put_number(writer, 0x04034b50, 4);
    put_description(writer, entry, zip64);
    put_number(writer, zip64 ? 20 : 0, 2); /* number of bytes of the extra field */
    gbsi_zip_put(writer, name, length);
    /* a ZIP64 record in a local header must have both the packed and the unpacked size */
    if (zip64) {
        put_number(writer, 1, 2);
        put_number(writer, 16, 2);
        put_number(writer, size, 8);
        put_number(writer, size, 8);
    }
    return GBS_OK;
}

static void put_directory_entry(gbsi_zip_writer *writer, const gbsi_zip_entry *entry)
{
    const bool large = entry->size >= writer->zip64_from;
    const bool far = entry->offset >= writer->zip64_from;
    const unsigned extra = (large ? 16u : 0u) + (far ? 8u : 0u);
    put_number(writer, 0x02014b50, 4);
    put_number(writer, UNIX | VERSION_64, 2);
    put_description(writer, entry, large || far);
    put_number(writer, extra > 0 ? extra + 4 : 0, 2);
    put_number(writer, 0, 2); /* length of the comment */
    put_number(writer, 0, 2); /* disk of the member */
    put_number(writer, 0, 2); /* internal attributes */
    put_number(writer, FILE_MODE, 4);
    put_field(writer, entry->offset);
    gbsi_zip_put(writer, entry->name, strlen(entry->name));
    if (extra > 0) {
        put_number(writer, 1, 2);
        put_number(writer, extra, 2);
    }
    if (large) {
        put_number(writer, entry->size, 8);
        put_number(writer, entry->size, 8);
    }
    if (far) {
        put_number(writer, entry->offset, 8);
    }
}

/* Writes the ZIP64 end record of the archive, and the record with the position of this end
 * record. */
static void put_end_64(gbsi_zip_writer *writer, uint64_t directory, uint64_t size)
{
    const uint64_t here = writer->at;
    put_number(writer, 0x06064b50, 4);
    put_number(writer, 44, 8); /* number of bytes of this record behind this field */
    put_number(writer, UNIX | VERSION_64, 2);
    put_number(writer, VERSION_64, 2);
    put_number(writer, 0, 4); /* number of this disk */
    put_number(writer, 0, 4); /* number of the disk with the directory */
    put_number(writer, writer->n, 8);
    put_number(writer, writer->n, 8);
    put_number(writer, size, 8);
    put_number(writer, directory, 8);
    put_number(writer, 0x07064b50, 4);
    put_number(writer, 0, 4);
    put_number(writer, here, 8);
    put_number(writer, 1, 4); /* number of disks */
}

void gbsi_zip_finish(gbsi_zip_writer *writer)
{
    const uint64_t directory = writer->at;
    const gbsi_zip_entry *entry = writer->entry;
    for (size_t i = 0; i < writer->n; i++) {
        put_directory_entry(writer, &entry[i]);
    }
    const uint64_t size = writer->at - directory;
    const bool many = writer->n >= UINT16_MAX;
    if (many || directory >= writer->zip64_from || size >= writer->zip64_from) {
        put_end_64(writer, directory, size);
    }
    put_number(writer, 0x06054b50, 4);
    put_number(writer, 0, 2); /* number of this disk */
    put_number(writer, 0, 2); /* number of the disk with the directory */
    put_number(writer, many ? UINT16_MAX : writer->n, 2);
    put_number(writer, many ? UINT16_MAX : writer->n, 2);
    put_field(writer, size);
    put_field(writer, directory);
    put_number(writer, 0, 2); /* length of the comment */
}
