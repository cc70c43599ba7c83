/* SPDX-License-Identifier: Apache-2.0 */
/* Draws that are kept until the end of the run, for formats that need all draws before they are
 * written: files of arrays, or one file per chain. */
#ifndef GIBBSITE_CLI_KEPT_DRAWS_H
#define GIBBSITE_CLI_KEPT_DRAWS_H

#include "job/job.h"
#include "spool.h"

/* The variables that a result is about. */
typedef struct cli_selection {
    uint32_t *variable; /* [n] ids of the variables */
    uint32_t n;
    int all; /* 1 if the selection has every variable, in the order of the model */
} cli_selection;

/* variables.c: selects the variables of a list; NULL selects all. @param option "--monitor", for
 * messages.
 * @return an exit status. */
int cli_select(const gbs_model *model, const char *option, const char *list,
               cli_selection *selection);
/* Selects the variables whose draws are kept: the variables of the list; without a list, those of
 * --target; without both, all variables that have a state. With a partial scan only the variables
 * that it visits are selected.
 * @return an exit status. */
int cli_select_drawn(const cli_job *job, const char *list, cli_selection *selection);
/* @return the file of "@FILE", NULL if the text is a list. */
const char *cli_query_file(const char *query);
/* Selects the variables of a list or of a query file "@FILE", in the order of the list; NULL
 * selects all.
 * @return an exit status. */
int cli_select_query(const cli_job *job, const char *query, cli_selection *selection);
void cli_selection_free(cli_selection *selection);

/* verb_sample.c: does the work of the verb sample, and of exact --task sample. @param forced see
 * cli_settle(). @return an exit status. */
int cli_write_draws(cli_arguments *arguments, gbs_method forced);

typedef struct cli_draws {
    const cli_job *job;
    const cli_selection *selection;
    const char *path; /* path of the file that is written */
    uint32_t n_chains;
    uint64_t n_draws;       /* number of draws that every chain has */
    unsigned state_bytes;   /* 1 if every written variable has at most 256 states, else 2 */
    uint8_t *row;           /* memory for one draw */
    cli_spool *states;      /* rows of [selection->n] states, little-endian */
    cli_spool *lp;          /* rows of one double, the log density */
    double first_s, last_s; /* times of the first and the last draw */
} cli_draws;

/* Runs the model, keeps the draws and writes them.
 * @param format "npz", "npy", "netcdf", "cmdstan" or "coda".
 * @return an exit status. */
int cli_draws_run(cli_job *job, const cli_selection *selection, const char *format, int *stopped);

/* Checks, before the run, that this program can write the format and that the options fit the
 * format. */
int cli_draws_check(const cli_arguments *arguments, const char *format);

/* Functions that write the draws after the run. */
gbs_status cli_draws_npz(const cli_draws *draws, const char *path, gbs_error *err);
gbs_status cli_draws_npy(const cli_draws *draws, const char *path, gbs_error *err);
gbs_status cli_draws_cmdstan(const cli_draws *draws, const char *path, gbs_error *err);
gbs_status cli_draws_coda(const cli_draws *draws, const char *base, gbs_error *err);
/* Checks that NetCDF can be written on this machine, and to the path that the options name. @return
 * an exit status. */
int cli_netcdf_check(const cli_arguments *arguments);
gbs_status cli_draws_netcdf(const cli_draws *draws, const char *path, gbs_error *err);

/* @return the state of a variable in a row of draws->states. @param i position of the variable in
 * the selection. */
static inline uint32_t cli_state_at(const uint8_t *row, unsigned state_bytes, uint32_t i)
{
    const uint8_t *at = row + (size_t)i * state_bytes;
    return state_bytes == 1 ? at[0] : (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

/* @return the number of bytes of one row of states. */
static inline size_t cli_row_bytes(const cli_draws *draws)
{
    return (size_t)draws->selection->n * draws->state_bytes;
}

#endif
