/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for learn potts and learn rbm: reading rows, and checkpoints. The functions for
 * checkpoints also serve learn weights. */
#ifndef GIBBSITE_CLI_LEARN_MACHINES_H
#define GIBBSITE_CLI_LEARN_MACHINES_H

#include "job/data_rows.h"
#include "job/job.h"

typedef struct cli_machine_rows {
    cli_held_out out;
    gbs_rows *data, *held_out; /* held_out is NULL if no rows are held out */
    gbs_checkpoint_files checkpoints;
} cli_machine_rows;

/* Reads --rate FIRST[:LAST].
 * @param first, last out: sizes of the first and the last step; the defaults if no sizes are
 * given. */
int cli_learn_rates(const cli_arguments *arguments, double *first, double *last);

/* Settles --held-out, checkpoints and outputs; rows are read from the second operand.
 * @return an exit status, after a message if it is not CLI_DONE. */
int cli_machine_settle(const cli_arguments *arguments, cli_machine_rows *rows);
/* Reads the rows; the caller frees them in either case. */
int cli_machine_read(const cli_arguments *arguments, cli_machine_rows *rows);
void cli_machine_free(cli_machine_rows *rows);

/* Sets the files of --checkpoint and --resume. */
void cli_learn_settle_checkpoints(const cli_arguments *arguments, gbs_checkpoint_files *files);
/* @return the files; NULL if neither --checkpoint nor --resume is given. */
const gbs_checkpoint_files *cli_learn_checkpoints(const gbs_checkpoint_files *files);
/* Reports that learning failed. A checkpoint of other work is bad input. */
int cli_learn_fail(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err);
void cli_learn_tell_unwritten(const cli_arguments *arguments, uint64_t n);
/* Prints the precision of standard errors from n probes; prints nothing if n is 0. */
void cli_learn_tell_probes(const cli_arguments *arguments, uint64_t n);

/* Writes a curve of learning as CSV; NAN becomes an empty field. If path is NULL, nothing is
 * written. `header` has the names of the columns. The first column has the numbers of the rows,
 * which begin with `first`; `value` [n_rows][n_columns] has all other columns. */
int cli_write_curve(const char *path, const char *header, uint64_t first, const double *value,
                    size_t n_rows, size_t n_columns);

/* The points that the callbacks gbs_learn_options.point and gbs_potts_options.point received; all
 * zero before the first point. */
typedef struct cli_points {
    double *value; /* [n][3] objective, gradient and value for held-out rows; freed by the caller */
    size_t n, capacity;
    uint64_t first; /* iteration of the first point */
    int lost;       /* 1: a point of the curve was lost because memory was short */
} cli_points;
void cli_points_add(void *context, const gbs_learn_point *point);
/* Writes the points of the curve as CSV; does nothing if path is NULL.
 * @return an exit status. */
int cli_points_write(const cli_points *points, const char *path);

#endif
