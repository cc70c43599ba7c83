/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives in the form of .npz files: members are stored or deflated and not encrypted, and
 * ZIP64 records are used where they are needed. The records follow PKWARE APPNOTE 6.3.9, sections
 * 4.3.7 to 4.3.16. All numbers are little-endian. */
#ifndef GBSI_ARRAYS_ZIP_H
#define GBSI_ARRAYS_ZIP_H

#include <stdbool.h>

#include "gibbsite/io.h"
#include "text/input.h"
#include "text/packing.h"

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct gbsi_zip_member {
    char *name; /* owned */
    unsigned method;
    uint32_t crc;
    uint64_t packed; /* size of the member in the file, in bytes */
    uint64_t size;   /* size of the unpacked member, in bytes */
    size_t data;     /* position of the packed bytes in the file */
} gbsi_zip_member;

typedef struct gbsi_zip {
    const gbsi_input *input; /* borrowed */
    gbsi_zip_member *member; /* [n] members in the order of the directory */
    size_t n;
} gbsi_zip;

/* Reads the directory and checks every place in it against the size of the file. */
gbs_status gbsi_zip_open(const gbsi_input *input, gbsi_zip *zip, gbs_error *err);
void gbsi_zip_close(gbsi_zip *zip);

/* Reads the bytes of a member, and verifies their check sum.
 * @param owned out: memory that the caller frees; NULL if `bytes` points into the input.
 * @param bytes out: [member->size] bytes of the unpacked member. They are part of the input if the
 *   member is stored. */
gbs_status gbsi_zip_read(const gbsi_zip *zip, const gbsi_zip_member *member, const char **bytes,
                         void **owned, gbs_error *err);

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct gbsi_zip_entry {
    char *name; /* owned */
    uint32_t crc;
    uint64_t size;
    uint64_t offset; /* position of the member's local header */
} gbsi_zip_entry;

typedef struct gbsi_zip_writer {
    gbs_output *output; /* borrowed */
    void *entry;        /* gbsi_zip_entry [n] */
    size_t capacity;
    size_t n;
    uint64_t at; /* number of bytes written until now */
    /* smallest size or offset for which ZIP64 is used; 2^32 - 1 except in tests */
    uint64_t zip64_from;
} gbsi_zip_writer;

void gbsi_zip_writer_init(gbsi_zip_writer *writer, gbs_output *output);
void gbsi_zip_writer_free(gbsi_zip_writer *writer);

/* Begins a stored member of known size and check sum. The caller then writes its bytes with
 * gbsi_zip_put(). */
gbs_status gbsi_zip_begin(gbsi_zip_writer *writer, const char *name, uint64_t size, uint32_t crc,
                          gbs_error *err);
void gbsi_zip_put(gbsi_zip_writer *writer, const void *bytes, size_t n);
/* Writes the directory and the end record. */
void gbsi_zip_finish(gbsi_zip_writer *writer);

#endif
