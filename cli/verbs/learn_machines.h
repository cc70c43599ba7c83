/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that learn potts and learn rbm share: reading rows; and checkpoints, which learn
 * weights has as well. */
#ifndef GIBBSITE_CLI_LEARN_MACHINES_H
#define GIBBSITE_CLI_LEARN_MACHINES_H

#include "job/data_rows.h"
#include "job/job.h"

typedef struct cli_machine_rows {
    cli_held_out out;
    gbs_rows *data, *held_out; /* held_out: NULL if nothing is */
    gbs_checkpoint_files checkpoints;
} cli_machine_rows;

/* Reads --rate FIRST[:LAST].
 * @param first, last out: sizes of steps, also if they are not given. */
int cli_learn_rates(const cli_arguments *arguments, double *first, double *last);

/* Settles --held-out, checkpoints and outputs; rows are read from the second operand.
 * @return an exit status, after a message if it is not CLI_DONE. */
int cli_machine_settle(const cli_arguments *arguments, cli_machine_rows *rows);
/* Reads the rows; free them in either case. */
int cli_machine_read(const cli_arguments *arguments, cli_machine_rows *rows);
void cli_machine_free(cli_machine_rows *rows);

/* Sets the files of --checkpoint and --resume. */
void cli_learn_settle_checkpoints(const cli_arguments *arguments, gbs_checkpoint_files *files);
/* @return the files, NULL if neither option is given. */
const gbs_checkpoint_files *cli_learn_checkpoints(const gbs_checkpoint_files *files);
/* Reports that learning failed: a checkpoint that does not fit is bad input. */
int cli_learn_fail(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err);
void cli_learn_tell_unwritten(const cli_arguments *arguments, uint64_t n);
/* Tells how precise standard errors by n probes are; tells nothing if n is 0. */
void cli_learn_tell_probes(const cli_arguments *arguments, uint64_t n);

/* Writes numbers learnt over time as CSV; a number that is NAN becomes an empty cell. path NULL:
 * nothing is written. header: names of the columns, of which the first holds the numbers of rows,
 * counted from `first` on. value: [n_rows][n_columns], without that first column. */
int cli_write_curve(const char *path, const char *header, uint64_t first, const double *value,
                    size_t n_rows, size_t n_columns);

/* The points that gbs_learn_options.point and gbs_potts_options.point were told; zero before the
 * first one. */
typedef struct cli_points {
    double *value; /* objective, gradient, held-out rows; freed by the caller */
    size_t n, capacity;
    uint64_t first; /* iteration of the first point */
    int lost;       /* 1 if there was no memory for a point of the curve */
} cli_points;
void cli_points_add(void *context, const gbs_learn_point *point);
/* Writes the points of the curve as CSV; does nothing if path is NULL.
 * @return an exit status. */
int cli_points_write(const cli_points *points, const char *path);

#endif
