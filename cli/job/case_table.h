/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of cases: CSV with a header of variables, a row for each case (RFC 4180). */
#ifndef GIBBSITE_CLI_CASE_TABLE_H
#define GIBBSITE_CLI_CASE_TABLE_H

#include "job.h"

typedef struct cli_case_table cli_case_table;

/* Open a table and read its header. What can be read once only, standard input say, is copied to a
 * file without a name. @param model borrowed. @return an exit status after a message. */
/* @param weights NULL, or the name of the column with the weights of rows. */
int cli_case_table_open(const gbs_model *model, const char *path, const char *weights,
                        cli_case_table **table);
/* From now on every case has to have a value of each variable of two states or more: fields without
 * one are refused. @return CLI_INPUT after a message where a variable has no column. */
int cli_case_table_want_all(cli_case_table *table);
void cli_case_table_free(cli_case_table *table); /* NULL is allowed */

/* @param n out: how many columns. @return [n] their variables. */
const uint32_t *cli_case_table_columns(const cli_case_table *table, uint32_t *n);

/* Read the next case. @param state [columns] out. @param end out: 1 if there are no more.
 * @return an exit status after a message. */
int cli_case_table_next(cli_case_table *table, uint32_t *state, int *end);

/* The weight of the case that was read last; 1 without a column of weights. */
double cli_case_table_weight(const cli_case_table *table);

/* Read everything, and go back to the first case. @param n out: how many there are. */
int cli_case_table_check(cli_case_table *table, uint64_t *n);

#endif
