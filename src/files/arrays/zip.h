/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives as .npz files are: members stored or deflated, no encryption, ZIP64 where needed.
 * Records as in PKWARE APPNOTE 6.3.9, sections 4.3.7 to 4.3.16; all numbers little-endian. */
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
    uint64_t packed; /* bytes */
    uint64_t size;   /* bytes when unpacked */
    size_t data;     /* start of its packed bytes */
} gbsi_zip_member;

typedef struct gbsi_zip {
    const gbsi_input *input; /* borrowed */
    gbsi_zip_member *member; /* [n] members in the order of the directory */
    size_t n;
} gbsi_zip;

/* Reads the directory and checks every place in it against the size of the file. */
gbs_status gbsi_zip_open(const gbsi_input *input, gbsi_zip *zip, gbs_error *err);
void gbsi_zip_close(gbsi_zip *zip);

/* Reads the bytes of a member, and checks its check sum.
 * @param owned out: NULL, or memory to free.
 * @param bytes out: [member->size], in the input if the member is stored. */
gbs_status gbsi_zip_read(const gbsi_zip *zip, const gbsi_zip_member *member, const char **bytes,
                         void **owned, gbs_error *err);

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct gbsi_zip_entry {
    char *name; /* owned */
    uint32_t crc;
    uint64_t size;
    uint64_t offset; /* of its local header */
} gbsi_zip_entry;

typedef struct gbsi_zip_writer {
    gbs_output *output; /* borrowed */
    void *entry;        /* gbsi_zip_entry [n] */
    size_t capacity;
    size_t n;
    uint64_t at;         /* bytes written */
    uint64_t zip64_from; /* sizes and places from here on need ZIP64: 2^32 - 1 but in tests */
} gbsi_zip_writer;

void gbsi_zip_writer_init(gbsi_zip_writer *writer, gbs_output *output);
void gbsi_zip_writer_free(gbsi_zip_writer *writer);

/* Begins a stored member of known size and check sum; its bytes follow with gbsi_zip_put(). */
gbs_status gbsi_zip_begin(gbsi_zip_writer *writer, const char *name, uint64_t size, uint32_t crc,
                          gbs_error *err);
void gbsi_zip_put(gbsi_zip_writer *writer, const void *bytes, size_t n);
/* Writes the directory and the end. */
void gbsi_zip_finish(gbsi_zip_writer *writer);

#endif
