/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of data for fit and learn, and cases, from tables. */
#ifndef GIBBSITE_CLI_DATA_ROWS_H
#define GIBBSITE_CLI_DATA_ROWS_H

#include "gibbsite/table.h"
#include "job.h"

/* Opens a table with the options about tables. The user is told which columns are skipped.
 * @param complete 1: each row must have a value for each variable.
 * @return an exit status after a message. */
int cli_table_open(const cli_arguments *arguments, const gbs_model *model, const char *path,
                   int complete, gbs_table **table);
/* Calls gbs_table_next(). @return CLI_DONE, or an exit status after a message. */
int cli_table_next(gbs_table *table, uint32_t *state, double *weight, int *end);

/* The value of --held-out: "20%" or "0.2" is a share of the rows; any other text is the path of a
 * file. */
typedef struct cli_held_out {
    double share;     /* share of the rows that are held out; 0 if no share is held out */
    const char *path; /* path of the file with the held-out rows; NULL if there is no such file */
} cli_held_out;

/* @param text value of --held-out; NULL if no rows are held out. @param data_path path of the file
 * with the rows themselves. */
int cli_settle_held_out(const char *text, const char *data_path, cli_held_out *out);

/* Reads DATA and the held-out rows. The held-out rows are an evenly spread share of DATA, or a
 * separate table.
 * @param complete 1: a row without a value for each variable is refused.
 * @param held_out out: stays NULL without held-out rows.
 * @return an exit status after a message; the caller frees data and held_out in either case. */
int cli_read_data(const cli_arguments *arguments, const gbs_model *model, const char *path,
                  int complete, const cli_held_out *out, gbs_data **data, gbs_data **held_out);

#endif
