/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for a program that runs on several ranks of a job (gibbsite-mpi), or as a single
 * process. All ranks read the same files and do the same run. Only the first rank prints and
 * writes. */
#ifndef GIBBSITE_CLI_RANKS_H
#define GIBBSITE_CLI_RANKS_H

#include <stdint.h>

#include "gibbsite/share.h"

/* A status in addition to the statuses of cli.h: this rank has finished its run, and the first rank
 * does the rest of the work. */
#define CLI_SILENT (-1)

typedef struct cli_place {
    const char *program;    /* name of the program, with which messages begin */
    const gbs_ranks *ranks; /* ranks of the job; NULL if this process is alone */
    int by_model;    /* 1 with --distribute model, which gives every rank a part of the variables */
    gbs_parts parts; /* rule by which variables are divided */
    /* function that ends all ranks and does not return */
    void (*abort)(const gbs_ranks *ranks, int status);
} cli_place;

extern cli_place cli_here;

/* @return whether this process prints and writes. */
int cli_speaks(void);
/* Keeps a message of cli_error() until cli_meet() or cli_leave() prints it, if there are several
 * ranks. */
void cli_keep_message(const char *text);
/**
 * Waits until all ranks have reached this call. If some ranks have failed before, the first of
 * these ranks prints its message, and all ranks end. The call waits until all other ranks have
 * called cli_meet(), too. cli_meet() must not be called during a run.
 *
 * @param status status of this rank. @return the status of the first rank that failed; if no rank
 *         failed, `status`.
 */
int cli_meet(int status);
/* Prints the message of this rank and ends all ranks. Call it if this rank failed while other ranks
 * may wait for it. @return status, if this process is alone. */
int cli_leave(int status);

/* Runs the program after main() has prepared it; gibbsite and gibbsite-mpi have different main()
 * functions.
 * @param typed [n_typed] the words of the command line as typed, for the summary. */
int cli_program(int argc, char **argv, int n_typed, char **typed);

#endif
