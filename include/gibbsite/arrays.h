/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arrays of numbers in the file formats of NumPy: .npy (one array) and .npz (several named arrays).
 *
 * Formats: NEP 1 "A Simple File Format for NumPy Arrays"; PKWARE APPNOTE 6.3.9 for the ZIP archive.
 * Archives are written without compression and with the time stamp 1980-01-01, so that equal arrays
 * give equal bytes; ZIP64 records are used where a size or an offset needs them. Archives that are
 * read may be stored or deflated, and their check sums are verified.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: for an id or index that does not exist, and for NULL in place of an object or output,
 * calls that return a status return GBS_ERR_ARGUMENT; the others return 0, NULL or NAN, as stated.
 * NULL options mean the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_ARRAYS_H
#define GIBBSITE_ARRAYS_H

#include "gibbsite/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_ARRAY_MAX_DIMS 8

/** Types of elements, little-endian; in NumPy's notation |u1 <u2 <i4 <i8 <f4 <f8. */
typedef enum gbs_array_type {
    GBS_ARRAY_U1 = 0,
    GBS_ARRAY_U2 = 1,
    GBS_ARRAY_I4 = 2,
    GBS_ARRAY_I8 = 3,
    GBS_ARRAY_F4 = 4,
    GBS_ARRAY_F8 = 5,
} gbs_array_type;

/** An array of any number of dimensions, the last index fastest. */
typedef struct gbs_array {
    gbs_array_type type;
    uint32_t n_dims; /**< 0: a single number */
    uint64_t shape[GBS_ARRAY_MAX_DIMS];
    void *data; /**< [product of shape] elements of the type above */
} gbs_array;

GBS_API size_t gbs_array_type_bytes(gbs_array_type type);
/** @return the number of elements. */
GBS_API size_t gbs_array_size(const gbs_array *array);
/** @return element i of the data, converted to double; integers beyond 2^53 are rounded. */
GBS_API double gbs_array_value(const gbs_array *array, size_t i);
GBS_API void gbs_array_free(gbs_array *array); /**< frees the data, zeroes the struct */

/* ---- reading ----------------------------------------------------------------------------- */

/**
 * Read a .npy file. An array in Fortran order is transposed. Python objects (|O), structures, and
 * byte orders or types that gbs_array_type lacks are GBS_ERR_UNSUPPORTED.
 *
 * @param array out; free with gbs_array_free().
 */
GBS_API GBS_MUST_USE gbs_status gbs_npy_read(const char *path, gbs_array *array, gbs_error *err);

/** An archive opened for reading. */
typedef struct gbs_npz gbs_npz;

GBS_API GBS_MUST_USE gbs_status gbs_npz_open(const char *path, gbs_npz **npz, gbs_error *err);
GBS_API void gbs_npz_close(gbs_npz *npz); /**< NULL is allowed */
GBS_API size_t gbs_npz_n_members(const gbs_npz *npz);
/** @return the name of a member, without its ".npy"; valid until the archive is closed. */
GBS_API const char *gbs_npz_name(const gbs_npz *npz, size_t member);
/** Read one array. @param array out; free with gbs_array_free(). @return GBS_ERR_ARGUMENT if the
 *  archive has no array of that name; the message lists the names it has. */
GBS_API GBS_MUST_USE gbs_status gbs_npz_read(gbs_npz *npz, const char *name, gbs_array *array,
                                             gbs_error *err);

/* ---- writing ----------------------------------------------------------------------------- */

/**
 * Callback that supplies the bytes of an array that is not in memory. It is called for one piece
 * after the other from the beginning, and for .npz (for the check sum) a second time through.
 *
 * @param at    offset of the first byte wanted, 0 for the first byte of the data.
 * @param bytes out, [n], little-endian.
 */
typedef gbs_status gbs_array_source(void *context, uint64_t at, void *bytes, size_t n,
                                    gbs_error *err);

/**
 * Write a .npy file into an output.
 *
 * @param array  type and shape; its data may be NULL if there is a source.
 * @param source callback that supplies the data, or NULL: the data is array->data.
 */
GBS_API GBS_MUST_USE gbs_status gbs_npy_write(gbs_output *output, const gbs_array *array,
                                              gbs_array_source *source, void *context,
                                              gbs_error *err);

/** An archive being written. */
typedef struct gbs_npz_writer gbs_npz_writer;

/** @param output borrowed until the writer is freed; nothing else may be written to it. */
GBS_API GBS_MUST_USE gbs_status gbs_npz_writer_new(gbs_output *output, gbs_npz_writer **writer,
                                                   gbs_error *err);
/** Add an array; array, source and context as for gbs_npy_write(). @param name letters, digits and
 *  '_', without ".npy"; no other array of the archive may have it. */
GBS_API GBS_MUST_USE gbs_status gbs_npz_writer_add(gbs_npz_writer *writer, const char *name,
                                                   const gbs_array *array, gbs_array_source *source,
                                                   void *context, gbs_error *err);
/** Write the directory of the archive. The archive is then complete; commit the output next. */
GBS_API void gbs_npz_writer_finish(gbs_npz_writer *writer);
GBS_API void gbs_npz_writer_free(gbs_npz_writer *writer); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
