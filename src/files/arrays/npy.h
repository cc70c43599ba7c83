/* SPDX-License-Identifier: Apache-2.0 */
/* The .npy format (NEP 1). A file consists of the magic, the version, the length of the header, a
 * Python literal, padding, and the data. The functions for the rest of the program are in
 * arrays.h. */
#ifndef GBSI_ARRAYS_NPY_H
#define GBSI_ARRAYS_NPY_H

#include "arrays/arrays.h"
#include "arrays/zip.h"
#include "text/input.h"

/* ---- npy_read.c, npy_write.c --------------------------------------------------------------- */

#define GBSI_NPY_HEADER 512 /* largest number of bytes of a header that is written */

/* Writes a header, from the magic to the final newline.
 * @param bytes out: the header, with room for GBSI_NPY_HEADER bytes.
 * @return the length of the header, a multiple of 64. */
size_t gbsi_npy_header(const gbsi_array *array, char *bytes);

/* Refuses an array whose shape or size is out of range.
 * @param bytes out: number of bytes of the data. */
gbs_status gbsi_npy_check(const gbsi_array *array, uint64_t *bytes, gbs_error *err);

/* Gives the data, without a header, to the function `sink` piece by piece.
 * @param source NULL if the data is array->data. */
gbs_status gbsi_npy_put(const gbsi_array *array, gbsi_array_source *source, void *context,
                        void (*sink)(void *to, const void *bytes, size_t n), void *to,
                        gbs_error *err);

/* Reads a whole .npy file, bytes[0 .. n), and transposes the array if necessary, so that its last
 * index runs fastest.
 * @param name name of the file, for messages. */
gbs_status gbsi_npy_parse(const char *name, const char *bytes, size_t n, gbsi_array *array,
                          gbs_error *err);

/* ---- npz.c --------------------------------------------------------------------------------- */

/* The members of the struct are declared in this header because tests use them. */

struct gbsi_npz_writer {
    gbsi_zip_writer zip;
    gbsi_crc32_tables tables;
    uint32_t crc; /* CRC-32 of the current array */
};

#endif
