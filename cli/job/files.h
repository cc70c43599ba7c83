/* SPDX-License-Identifier: Apache-2.0 */
/* Output files that get their final names together. The files are written one after the other, and
 * all are renamed when the last file is finished. */
#ifndef GIBBSITE_CLI_FILES_H
#define GIBBSITE_CLI_FILES_H

#include "draws/kept_draws.h"

typedef struct cli_files {
    gbs_output **output; /* [n] outputs; all outputs except the last are finished */
    size_t n, capacity;
} cli_files;

/* @param capacity number of files that will be opened. */
gbs_status cli_files_init(cli_files *files, size_t capacity, gbs_error *err);
/* Finishes the last file and opens a new file. The path of the new file is `before`, k and `after`
 * joined; k is left out if k is 0.
 * @param output out: the new file, borrowed. */
gbs_status cli_files_open(cli_files *files, const char *before, uint64_t k, const char *after,
                          gbs_output **output, gbs_error *err);
/* Renames all files to their final paths if `status` is no failure and no file fails; otherwise
 * removes them. Frees `files`.
 * @return the status. */
gbs_status cli_files_close(cli_files *files, gbs_status status, gbs_error *err);

/* ---- rows of one chain, a piece at a time -------------------------------------------------- */

typedef struct cli_rows {
    const cli_draws *draws;
    uint32_t chain;
    uint64_t first; /* first draw of the piece in memory */
    size_t n, capacity;
    uint8_t *states; /* [n] rows of states */
    double *lp;      /* [n] log densities */
} cli_rows;

gbs_status cli_rows_init(cli_rows *rows, const cli_draws *draws, gbs_error *err);
void cli_rows_free(cli_rows *rows);
/* Reads the piece that begins with draw `first`, which must be less than draws->n_draws. */
gbs_status cli_rows_read(cli_rows *rows, uint32_t chain, uint64_t first, gbs_error *err);

#endif
