/* SPDX-License-Identifier: Apache-2.0 */
/* Writes draws in the format of CODA. BASEindex.txt lists the variables and their ranges of lines
 * in the files BASEchainK.txt. Lines of these files are "iteration value", variable after
 * variable. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "job/files.h"

#define COLUMNS_BYTES \
    ((size_t)64       \
     << 20) /* bytes of memory for the variables that are turned into columns in one step */

/* Names end at the first blank: a variable without a name, or whose name contains blanks, is
 * written as x[INDEX]. */
static void write_name(gbs_output *output, const gbs_model *model, uint32_t variable)
{
    const char *name = gbs_model_variable_name(model, variable);
    const char *at = name;
    while (at != NULL && *at != '\0' && !isspace((unsigned char)*at)) {
        at++;
    }
    if (name != NULL && *at == '\0') {
        gbsi_output_text(output, name);
        return;
    }
    gbsi_output_text(output, "x[");
    gbsi_output_uint(output, (uint64_t)variable + 1);
    gbsi_output_text(output, "]");
}

static void write_index(gbs_output *output, const cli_draws *d)
{
    for (uint32_t i = 0; i < d->selection->n && d->n_draws > 0; i++) {
        write_name(output, d->job->model, d->selection->variable[i]);
        gbsi_output_text(output, " ");
        gbsi_output_uint(output, i * d->n_draws + 1);
        gbsi_output_text(output, " ");
        gbsi_output_uint(output, (i + 1) * d->n_draws);
        gbsi_output_text(output, "\n");
    }
}

/* Writes variables [first, first + n) of a chain. @param column [n * n_draws] scratch memory for
 * states. */
static gbs_status write_columns(gbs_output *output, cli_rows *rows, uint32_t chain, uint32_t first,
                                uint32_t n, uint16_t *column, gbs_error *err)
{
    const cli_draws *d = rows->draws;
    const size_t row = cli_row_bytes(d);
    for (uint64_t at = 0; at < d->n_draws; at += rows->n) {
        const gbs_status status = cli_rows_read(rows, chain, at, err);
        if (status < 0) {
            return status;
        }
        for (size_t r = 0; r < rows->n; r++) {
            for (uint32_t i = 0; i < n; i++) {
                column[i * d->n_draws + at + r] =
                    (uint16_t)cli_state_at(rows->states + r * row, d->state_bytes, first + i);
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint64_t draw = 0; draw < d->n_draws; draw++) {
            gbsi_output_uint(output, (draw + 1) * d->job->options.thin);
            gbsi_output_bytes(output, " ", 1);
            gbsi_output_uint(output, column[i * d->n_draws + draw]);
            gbsi_output_bytes(output, "\n", 1);
        }
    }
    return GBS_OK;
}

static gbs_status write_chains(cli_files *files, cli_rows *rows, const char *base, gbs_error *err)
{
    const cli_draws *d = rows->draws;
    const uint32_t n = d->selection->n;
    const size_t one = (size_t)d->n_draws * sizeof(uint16_t);
    const size_t fit = one > 0 && one < COLUMNS_BYTES ? COLUMNS_BYTES / one : 1;
    const uint32_t at_once = fit < n ? (uint32_t)fit : n;
    uint16_t *column = malloc(at_once * one + 1);
    gbs_output *output = NULL;
    gbs_status status = GBS_OK;
    if (column == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %zu bytes", at_once * one);
    }
    char *before = malloc(strlen(base) + sizeof "chain");
    if (before == NULL) {
        status = cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    } else {
        (void)snprintf(before, strlen(base) + sizeof "chain", "%schain", base);
    }
    for (uint32_t chain = 0; chain < d->n_chains && status >= 0; chain++) {
        status = cli_files_open(files, before, (uint64_t)chain + 1, ".txt", &output, err);
        for (uint32_t first = 0; first < n && status >= 0; first += at_once) {
            const uint32_t m = n - first < at_once ? n - first : at_once;
            status = write_columns(output, rows, chain, first, m, column, err);
        }
    }
    free(before);
    free(column);
    return status;
}

gbs_status cli_draws_coda(const cli_draws *draws, const char *base, gbs_error *err)
{
    cli_files files;
    cli_rows rows;
    gbs_output *output = NULL;
    gbs_status status = cli_rows_init(&rows, draws, err);
    if (status < 0) {
        return status;
    }
    status = cli_files_init(&files, (size_t)draws->n_chains + 1, err);
    if (status >= 0) {
        status = cli_files_open(&files, base, 0, "index.txt", &output, err);
    }
    if (status >= 0) {
        write_index(output, draws);
        status = write_chains(&files, &rows, base, err);
    }
    status = cli_files_close(&files, status, err);
    cli_rows_free(&rows);
    return status;
}
