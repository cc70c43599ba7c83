/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of numbers in the file formats of NumPy: .npy (one array) and .npz (several named arrays).
 *
 * Formats: NEP 1 "A Simple File Format for NumPy Arrays"; PKWARE APPNOTE 6.3.9 for the ZIP archive.
 * Archives are written without compression and with the time stamp 1980-01-01, so that equal arrays
 * give equal bytes; ZIP64 records are used where a size or an offset needs them. Archives that are
 * read may be stored or deflated, and their check sums are verified.
 *
 * Called by the program, which links the static library; the shared library does not show them.
 * If an object or output is NULL, or an index does not exist, calls that return a status return
 * GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN.
 */
#ifndef GBSI_ARRAYS_ARRAYS_H
#define GBSI_ARRAYS_ARRAYS_H

#include "gibbsite/io.h"

#define GBSI_ARRAY_MAX_DIMS 8

/* Types of elements, little-endian. NumPy's notation for them: |u1 <u2 <i4 <i8 <f4 <f8. */
typedef enum gbsi_array_type {
    GBSI_ARRAY_U1 = 0,
    GBSI_ARRAY_U2 = 1,
    GBSI_ARRAY_I4 = 2,
    GBSI_ARRAY_I8 = 3,
    GBSI_ARRAY_F4 = 4,
    GBSI_ARRAY_F8 = 5,
} gbsi_array_type;

/* An array with any number of dimensions. Its last index runs fastest. */
typedef struct gbsi_array {
    gbsi_array_type type;
    uint32_t n_dims; /* 0 for a single number */
    uint64_t shape[GBSI_ARRAY_MAX_DIMS];
    void *data; /* [product of shape] elements of the type above */
} gbsi_array;

size_t gbsi_array_type_bytes(gbsi_array_type type);
/* @return the number of elements. */
size_t gbsi_array_size(const gbsi_array *array);
/* @return element i of the data, converted to double; integers beyond 2^53 are rounded. */
double gbsi_array_value(const gbsi_array *array, size_t i);
void gbsi_array_free(gbsi_array *array); /* frees the data, zeroes the struct */

/* ---- reading ----------------------------------------------------------------------------- */

/*
 * Read a .npy file. An array in Fortran order is transposed. Python objects (|O), structures, and
 * byte orders or types that gbsi_array_type lacks are GBS_ERR_UNSUPPORTED.
 *
 * @param array out; free with gbsi_array_free().
 */
gbs_status gbsi_npy_read(const char *path, gbsi_array *array, gbs_error *err);

/* An archive opened for reading. */
typedef struct gbsi_npz gbsi_npz;

gbs_status gbsi_npz_open(const char *path, gbsi_npz **npz, gbs_error *err);
void gbsi_npz_close(gbsi_npz *npz); /* NULL is allowed */
size_t gbsi_npz_n_members(const gbsi_npz *npz);
/* @return the name of a member, without its ".npy"; valid until the archive is closed. */
const char *gbsi_npz_name(const gbsi_npz *npz, size_t member);
/* Read one array. @param array out; free with gbsi_array_free(). @return GBS_ERR_ARGUMENT if the
 *  archive has no array of that name; the message lists the names it has. */
gbs_status gbsi_npz_read(gbsi_npz *npz, const char *name, gbsi_array *array, gbs_error *err);

/* ---- writing ----------------------------------------------------------------------------- */

/*
 * Callback that supplies the bytes of an array that is not in memory. The function is called for
 * consecutive pieces from the beginning; for .npz files it is called for all of them a second time,
 * to compute the check sum.
 *
 * @param at    offset of the first byte wanted, 0 for the first byte of the data.
 * @param bytes out, [n], little-endian.
 */
typedef gbs_status gbsi_array_source(void *context, uint64_t at, void *bytes, size_t n,
                                     gbs_error *err);

/*
 * Write a .npy file into an output.
 *
 * @param array  type and shape; its data may be NULL if there is a source.
 * @param source callback that supplies the data, or NULL: the data is array->data.
 */
gbs_status gbsi_npy_write(gbs_output *output, const gbsi_array *array, gbsi_array_source *source,
                          void *context, gbs_error *err);

/* An archive being written. */
typedef struct gbsi_npz_writer gbsi_npz_writer;

/* @param output borrowed until the writer is freed; nothing else may be written to it. */
gbs_status gbsi_npz_writer_new(gbs_output *output, gbsi_npz_writer **writer, gbs_error *err);
/* Add an array. The parameters array, source and context are those of gbsi_npy_write().
 * @param name letters, digits and '_', without ".npy"; no other array of the archive may have
 *   this name. */
gbs_status gbsi_npz_writer_add(gbsi_npz_writer *writer, const char *name, const gbsi_array *array,
                               gbsi_array_source *source, void *context, gbs_error *err);
/* Write the directory, which completes the archive. To be followed by a commit of the output. */
void gbsi_npz_writer_finish(gbsi_npz_writer *writer);
void gbsi_npz_writer_free(gbsi_npz_writer *writer); /* NULL is allowed */

#endif
