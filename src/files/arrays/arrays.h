/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of numbers in the file formats of NumPy: .npy (one array) and .npz (several named arrays).
 *
 * Formats: NEP 1 "A Simple File Format for NumPy Arrays"; PKWARE APPNOTE 6.3.9 for the ZIP archive.
 * Archives are written without compression and with the time stamp 1980-01-01, so that equal arrays
 * give equal bytes. ZIP64 records are written where a size or an offset needs them. Members of
 * archives may be stored or deflated when they are read, and their check sums are verified.
 *
 * The program calls these functions and links the static library. The shared library does not
 * export them. If an object or an output is NULL, or an index does not exist, a function that
 * returns a status returns GBS_ERR_ARGUMENT. Other functions return 0, NULL or NAN in this case.
 */
#ifndef GBSI_ARRAYS_ARRAYS_H
#define GBSI_ARRAYS_ARRAYS_H

#include "gibbsite/io.h"

#define GBSI_ARRAY_MAX_DIMS 8

/* Types of elements, which are little-endian. NumPy writes the types as |u1 <u2 <i4 <i8 <f4 <f8. */
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
    uint32_t n_dims; /* number of dimensions; 0 for a single number */
    uint64_t shape[GBSI_ARRAY_MAX_DIMS];
    void *data; /* [product of shape] elements of the type `type` */
} gbsi_array;

size_t gbsi_array_type_bytes(gbsi_array_type type);
/* @return the number of elements of an array. */
size_t gbsi_array_size(const gbsi_array *array);
/* @return element i of the data, converted to double. Integers beyond 2^53 are rounded. */
double gbsi_array_value(const gbsi_array *array, size_t i);
void gbsi_array_free(gbsi_array *array); /* frees the data and sets the struct to zeros */

/* ---- reading ----------------------------------------------------------------------------- */

/*
 * Read a .npy file. An array in Fortran order is transposed. Returns GBS_ERR_UNSUPPORTED for Python
 * objects (|O), for structures, and for types or byte orders that gbsi_array_type lacks.
 *
 * @param array out; free with gbsi_array_free().
 */
gbs_status gbsi_npy_read(const char *path, gbsi_array *array, gbs_error *err);

/* An archive that is open for reading. */
typedef struct gbsi_npz gbsi_npz;

gbs_status gbsi_npz_open(const char *path, gbsi_npz **npz, gbs_error *err);
void gbsi_npz_close(gbsi_npz *npz); /* NULL is allowed */
size_t gbsi_npz_n_members(const gbsi_npz *npz);
/* @return the name of a member without ".npy". The string is valid until the archive is closed. */
const char *gbsi_npz_name(const gbsi_npz *npz, size_t member);
/* Read one array.
 * @param array out; free with gbsi_array_free().
 * @return GBS_ERR_ARGUMENT if the archive has no array of that name. The message then lists the
 *   names of its arrays. */
gbs_status gbsi_npz_read(gbsi_npz *npz, const char *name, gbsi_array *array, gbs_error *err);

/* ---- writing ----------------------------------------------------------------------------- */

/*
 * Callback that supplies the bytes of an array that is not in memory. The function is called for
 * consecutive pieces from the beginning. For .npz files all pieces are asked for twice, because the
 * check sum has to be computed first.
 *
 * @param at offset of the first wanted byte in the data.
 * @param bytes out, [n], little-endian.
 */
typedef gbs_status gbsi_array_source(void *context, uint64_t at, void *bytes, size_t n,
                                     gbs_error *err);

/*
 * Write a .npy file into an output.
 *
 * @param array array whose data may be NULL if there is a source.
 * @param source callback that supplies the data; NULL if the data is array->data.
 */
gbs_status gbsi_npy_write(gbs_output *output, const gbsi_array *array, gbsi_array_source *source,
                          void *context, gbs_error *err);

/* An archive that is being written. */
typedef struct gbsi_npz_writer gbsi_npz_writer;

/* @param output output of the archive, borrowed until the writer is freed. Nothing else may be
 *   written to this output. */
gbs_status gbsi_npz_writer_new(gbs_output *output, gbsi_npz_writer **writer, gbs_error *err);
/* Add an array. The parameters array, source and context are those of gbsi_npy_write().
 * @param name name without ".npy", which consists of letters, digits and '_'. No other array of the
 *   archive may have this name. */
gbs_status gbsi_npz_writer_add(gbsi_npz_writer *writer, const char *name, const gbsi_array *array,
                               gbsi_array_source *source, void *context, gbs_error *err);
/* Write the directory, which completes the archive. The caller must then commit the output. */
void gbsi_npz_writer_finish(gbsi_npz_writer *writer);
void gbsi_npz_writer_free(gbsi_npz_writer *writer); /* NULL is allowed */

#endif
