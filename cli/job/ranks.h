/* SPDX-License-Identifier: Apache-2.0 */
/* The program on several ranks of a job (gibbsite-mpi), or alone. All ranks read and run alike;
 * the first one speaks. */
#ifndef GIBBSITE_CLI_RANKS_H
#define GIBBSITE_CLI_RANKS_H

#include <stdint.h>

#include "gibbsite/share.h"

/* A status in addition to those of cli.h: this rank has run, and leaves the rest of the work to the
 * first rank. */
#define CLI_SILENT (-1)

typedef struct cli_place {
    const char *program;    /* what messages begin with */
    const gbs_ranks *ranks; /* NULL: this process is alone */
    int by_model;           /* --distribute model: every rank has a part of the variables */
    gbs_parts parts;        /* rule by which variables are divided */
    void (*abort)(const gbs_ranks *ranks, int status); /* ends all ranks, does not return */
} cli_place;

extern cli_place cli_here;

/* Whether this process prints and writes. */
int cli_speaks(void);
/* Keeps the message of cli_error() for cli_meet() or cli_leave(), if there are several ranks. */
void cli_keep_message(const char *text);
/**
 * The point at which all ranks meet before they go on together. If some ranks have failed until
 * here, the first of them prints its message, and all ranks end. Called outside of a run: waits
 * until all other ranks have called it, too.
 *
 * @param status of this rank. @return the same, or if a rank has failed, the status of that rank.
 */
int cli_meet(int status);
/* Prints the message of this rank, which failed while other ranks may wait for it, and ends all
 * ranks.
 * @return status if the process is alone. */
int cli_leave(int status);

/* Runs the program once main(), which is another one for gibbsite-mpi, has prepared it.
 * @param typed [n_typed] the words as they were typed, for the summary. */
int cli_program(int argc, char **argv, int n_typed, char **typed);

#endif
