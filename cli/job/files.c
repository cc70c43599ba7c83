/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES ((size_t)1 << 20)

gbs_status cli_files_init(cli_files *files, size_t capacity, gbs_error *err)
{
    files->n = 0;
    files->capacity = capacity;
    files->output = calloc(capacity + 1, sizeof(void *));
    return files->output != NULL ? GBS_OK : cli_reason(err, GBS_ERR_MEMORY, "out of memory");
}

gbs_status cli_files_open(cli_files *files, const char *before, uint64_t k, const char *after,
                          gbs_output **output, gbs_error *err)
{
    char number[32] = "";
    if (files->n > 0) {
        const gbs_status status = gbsi_output_finish(files->output[files->n - 1], err);
        if (status < 0) {
            return status;
        }
    }
    if (k > 0) {
        (void)snprintf(number, sizeof number, "%" PRIu64, k);
    }
    const size_t size = strlen(before) + strlen(number) + strlen(after) + 1;
    char *path = malloc(size);
    if (path == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    (void)snprintf(path, size, "%s%s%s", before, number, after);
    const gbs_status status = gbs_output_open(path, &files->output[files->n], err);
    free(path);
    if (status >= 0) {
        *output = files->output[files->n++];
    }
    return status;
}

gbs_status cli_files_close(cli_files *files, gbs_status status, gbs_error *err)
{
    if (status >= 0) {
        status = gbsi_output_commit_all(files->output, files->n, err);
    } else {
        for (size_t i = 0; i < files->n; i++) {
            gbs_output_discard(files->output[i]);
        }
    }
    free(files->output);
    memset(files, 0, sizeof *files);
    return status;
}

gbs_status cli_rows_init(cli_rows *rows, const cli_draws *draws, gbs_error *err)
{
    const size_t row = cli_row_bytes(draws) + sizeof(double);
    memset(rows, 0, sizeof *rows);
    rows->draws = draws;
    rows->capacity = row < PIECE_BYTES ? PIECE_BYTES / row : 1;
    rows->states = malloc(rows->capacity * cli_row_bytes(draws) + 1);
    rows->lp = malloc(rows->capacity * sizeof *rows->lp);
    if (rows->states == NULL || rows->lp == NULL) {
        cli_rows_free(rows);
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    return GBS_OK;
}

void cli_rows_free(cli_rows *rows)
{
    free(rows->states);
    free(rows->lp);
    memset(rows, 0, sizeof *rows);
}

gbs_status cli_rows_read(cli_rows *rows, uint32_t chain, uint64_t first, gbs_error *err)
{
    const cli_draws *d = rows->draws;
    const size_t row = cli_row_bytes(d);
    const uint64_t left = d->n_draws - first;
    rows->chain = chain;
    rows->first = first;
    rows->n = left < rows->capacity ? (size_t)left : rows->capacity;
    gbs_status status =
        cli_spool_read(d->states, chain, first * row, rows->states, rows->n * row, err);
    if (status >= 0) {
        status = cli_spool_read(d->lp, chain, first * sizeof(double), rows->lp,
                                rows->n * sizeof(double), err);
    }
    return status;
}
