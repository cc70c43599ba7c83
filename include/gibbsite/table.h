/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables of data in files: one column for each of some variables of a model, and one row for each
 * case or observation.
 *
 *     gbs_table *table = NULL;
 *     uint32_t n = 0;
 *     int end = 0;
 *     gbs_table_open(model, "patients.csv", NULL, &table, &err);
 *     const uint32_t *column = gbs_table_columns(table, &n); // [n] variables
 *     uint32_t x[99]; // n of them
 *     while (gbs_table_next(table, x, NULL, &end, &err) >= 0 && !end) {
 *         printf("variable %u is in state %u\n", column[0], x[0]);
 *     }
 *
 * Section "Tables of data" of the manual page gibbsite-formats(5) describes the files.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults.
 */
#ifndef GIBBSITE_TABLE_H
#define GIBBSITE_TABLE_H

#include "gibbsite/cases.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbs_table gbs_table;

/** Options for reading a table; zeros mean the defaults. */
typedef struct gbs_table_options {
    size_t size;         /**< sizeof(gbs_table_options) */
    const char *weights; /**< name of the column with the weights of rows; NULL: the table has no
                            such column */
    int numbers; /**< 1: cells are numbers of states, from 0. 0: cells are labels of states, or
                    numbers for variables without labels; in the CSV files of gibbsite sample, whose
                    columns begin with chain, draw, lp, cells are always numbers. 2: as 0, but cells
                    are labels also in these CSV files */
    int strict;  /**< 1: columns that are not variables are refused; 0: such columns are left out */
    int complete; /**< 1: every variable of two states or more must have a column, and a value in
                     each row; 0: values may be missing */
    int reserved; /**< 0 */
    /** NULL, or called with a sentence about anything that was skipped, such as an index or columns
     *  that are left out. When the end of the table is reached for the first time, the function is
     *  called with a sentence that has the number of cells without a value. */
    void (*tell)(void *context, const char *message);
    void *context; /**< first argument of tell */
} gbs_table_options;

/**
 * Read a file, and the names of its columns.
 *
 * @param model   borrowed, outlives the table.
 * @param path    "-" for standard input; may be compressed (gzip, zstd). The file is held in
 *         memory.
 * @param options copied; its weights are borrowed for the call.
 * @return GBS_ERR_FORMAT, with the line and column, for a mistake in the file. Mistakes include a
 *         file in which no column is a variable, and a left-out column whose name differs from a
 *         variable's name only by case, blanks, '.', '_', '-' or one letter; GBS_ERR_IO;
 *         GBS_ERR_LIMIT; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_table_open(const gbs_model *model, const char *path,
                                               const gbs_table_options *options, gbs_table **table,
                                               gbs_error *err);
/** Open a table in memory. @param name name of the table in messages. @param bytes [n_bytes],
 * borrowed until the table is freed. */
GBS_API GBS_MUST_USE gbs_status gbs_table_open_memory(const gbs_model *model, const char *name,
                                                      const void *bytes, size_t n_bytes,
                                                      const gbs_table_options *options,
                                                      gbs_table **table, gbs_error *err);

/** A column of a table in the memory of a program, such as a column of a data frame. */
typedef struct gbs_column {
    const char *name;
    const char *const *cell; /**< [rows] texts in UTF-8. NULL in place of a text, or in place of the
                                array, means no value; `tell` does not count such cells */
} gbs_column;

/**
 * Open a table of columns in memory. Names, signs of missing values, numbers and left-out columns
 * are treated as in a file with these texts.
 *
 * @param name    name of the table in messages; messages give the place of a cell as a row, counted
 *         from 1, and the name of a column.
 * @param column  [n_columns] columns; borrowed, with all their texts, until the table is freed.
 * @return GBS_ERR_ARGUMENT where gbs_table_open() returns GBS_ERR_FORMAT; gbs_table_next() also
 *         returns GBS_ERR_ARGUMENT for such a table; GBS_ERR_LIMIT; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_table_of_columns(const gbs_model *model, const char *name,
                                                     uint32_t n_columns, const gbs_column *column,
                                                     uint64_t n_rows,
                                                     const gbs_table_options *options,
                                                     gbs_table **table, gbs_error *err);
GBS_API void gbs_table_free(gbs_table *table); /**< NULL is allowed */

/** @param n out or NULL: number of columns that are variables. @return [n] their ids. */
GBS_API const uint32_t *gbs_table_columns(const gbs_table *table, uint32_t *n);

/**
 * Read the next row.
 *
 * @param state  [columns] out: a state of each column's variable, or GBS_UNOBSERVED.
 * @param weight out or NULL: weight of the row; 1 if the table has no column of weights.
 * @param end    out: 1 if there is no further row; then nothing else is written.
 * @return GBS_ERR_FORMAT with the line and column of a cell that is not a state.
 */
GBS_API GBS_MUST_USE gbs_status gbs_table_next(gbs_table *table, uint32_t *state, double *weight,
                                               int *end, gbs_error *err);

/** Go back to the first row. */
GBS_API void gbs_table_rewind(gbs_table *table);

/** The texts that mean a missing value, numbered from 0. If a variable has a state with such a
 * label, the text means this state. @return NULL behind the last. */
GBS_API const char *gbs_table_missing_sign(size_t i);

#ifdef __cplusplus
}
#endif
#endif
