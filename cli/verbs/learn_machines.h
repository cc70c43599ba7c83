/* SPDX-License-Identifier: Apache-2.0 */
/* What learn potts and learn rbm share, rows in; checkpoints, which learn weights has as well; and
 * which options are whose. */
#ifndef GIBBSITE_CLI_LEARN_MACHINES_H
#define GIBBSITE_CLI_LEARN_MACHINES_H

#include "job/data_rows.h"
#include "job/job.h"

typedef struct cli_machine_rows {
    cli_held_out out;
    gbs_rows *data, *held_out; /* held_out: NULL where nothing is */
    gbs_checkpoint_files checkpoints;
} cli_machine_rows;

/* --rate FIRST[:LAST]. @param first, last out: sizes of steps, also where they are not given. */
int cli_learn_rates(const cli_arguments *arguments, double *first, double *last);

/* --held-out, checkpoints and where results go; rows are read from the second operand.
 * @return an exit status after a message, as the others. */
int cli_machine_settle(const cli_arguments *arguments, cli_machine_rows *rows);
/* Free the rows in either case. */
int cli_machine_read(const cli_arguments *arguments, cli_machine_rows *rows);
void cli_machine_free(cli_machine_rows *rows);

/* Of --checkpoint and --resume. */
void cli_learn_settle_checkpoints(const cli_arguments *arguments, gbs_checkpoint_files *files);
/* NULL where neither is asked for. */
const gbs_checkpoint_files *cli_learn_checkpoints(const gbs_checkpoint_files *files);
/* Of learning: a checkpoint that does not fit is bad input. */
int cli_learn_fail(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err);
void cli_learn_tell_unwritten(const cli_arguments *arguments, uint64_t n);
/* How near standard errors by n probes are; 0: nothing. */
void cli_learn_tell_probes(const cli_arguments *arguments, uint64_t n);

/* Writes numbers learnt over time as CSV; one that is NAN is empty. path NULL: nothing.
 * header: names of the columns, the first of them of the numbers of rows, from `first` on.
 * value: [n_rows][n_columns], without those. */
int cli_write_curve(const char *path, const char *header, uint64_t first, const double *value,
                    size_t n_rows, size_t n_columns);

/* What gbs_learn_options.point and gbs_potts_options.point tell; zero before the first one. */
typedef struct cli_points {
    double *value; /* objective, gradient, held-out rows; freed by the caller */
    size_t n, capacity;
    uint64_t first; /* iteration of the first of them */
    int lost;       /* there was no memory for one */
} cli_points;
void cli_points_add(void *context, const gbs_learn_point *point);
/* As CSV. path NULL: nothing. @return an exit status. */
int cli_points_write(const cli_points *points, const char *path);

#endif
