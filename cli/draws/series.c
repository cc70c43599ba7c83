/* SPDX-License-Identifier: Apache-2.0 */
/* --series: arrays [chains, sweeps] of doubles, one for each quantity. Equal runs give equal bytes.
 */
#include "series.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "archives.h"
#include "spool.h"

/* The quantities. A quantity that is NAN in the first sweep does not exist for the model. */
static const struct {
    const char *name;
    size_t offset; /* in gbs_observed */
} columns[] = {
    {"energy", offsetof(gbs_observed, energy)},
    {"magnetisation", offsetof(gbs_observed, magnetisation)},
    {"magnetisation_2", offsetof(gbs_observed, square)},
    {"order", offsetof(gbs_observed, order)},
    {"improved_2", offsetof(gbs_observed, improved_square)},
    {"improved_4", offsetof(gbs_observed, improved_fourth)},
};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

struct cli_series {
    const char *path;
    uint32_t n_chains;
    uint64_t n_rows; /* number of rows of the last chain */
    cli_spool *spool;
    int lacks[N_COLUMNS]; /* 1: the quantity does not exist */
};

gbs_status cli_series_new(const char *path, uint32_t n_chains, cli_series **series, gbs_error *err)
{
    cli_series *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    made->path = path;
    made->n_chains = n_chains;
    const gbs_status status =
        cli_spool_new(path, n_chains, N_COLUMNS * sizeof(double), &made->spool, err);
    if (status < 0) {
        free(made);
        return status;
    }
    *series = made;
    return GBS_OK;
}

void cli_series_free(cli_series *series)
{
    if (series != NULL) {
        cli_spool_free(series->spool);
        free(series);
    }
}

gbs_status cli_series_put(cli_series *series, uint32_t chain, const gbs_observed *observed,
                          gbs_error *err)
{
    double row[N_COLUMNS];
    for (size_t k = 0; k < N_COLUMNS; k++) {
        memcpy(&row[k], (const char *)observed + columns[k].offset, sizeof row[k]);
        series->lacks[k] = isnan(row[k]);
    }
    series->n_rows += chain + 1 == series->n_chains;
    return cli_spool_put(series->spool, chain, row, err);
}

/* One quantity as a source of bytes, chain after chain. */
typedef struct source {
    const cli_series *series;
    size_t column;
} source;

static gbs_status read_source(void *context, uint64_t at, void *bytes, size_t n, gbs_error *err)
{
    const source *s = context;
    gbs_status status = GBS_OK;
    for (size_t i = 0; i < n && status >= 0;
         i += sizeof(double)) { /* pieces are of whole doubles */
        const uint64_t value = (at + i) / sizeof(double);
        const uint64_t place = (value % s->series->n_rows * N_COLUMNS + s->column) * sizeof(double);
        status = cli_spool_read(s->series->spool, (uint32_t)(value / s->series->n_rows), place,
                                (char *)bytes + i, sizeof(double), err);
    }
    return status;
}

static gbs_status add_columns(gbsi_npz_writer *writer, const cli_series *series, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (size_t k = 0; k < N_COLUMNS && status >= 0; k++) {
        gbsi_array x = {.type = GBSI_ARRAY_F8, .n_dims = 2};
        source s = {series, k};
        x.shape[0] = series->n_chains;
        x.shape[1] = series->n_rows;
        if (!series->lacks[k]) {
            status = gbsi_npz_writer_add(writer, columns[k].name, &x, read_source, &s, err);
        }
    }
    return status;
}

static gbs_status write_archive(gbs_output *output, const cli_series *series, const cli_job *job,
                                gbs_error *err)
{
    static const cli_selection none = {NULL, 0, 0};
    gbsi_npz_writer *writer = NULL;
    gbs_status status = gbsi_npz_writer_new(output, &writer, err);
    if (status >= 0) {
        status = add_columns(writer, series, err);
    }
    if (status >= 0) {
        status = cli_add_meta(writer, "series/1", job, &none, err);
    }
    if (status >= 0) {
        gbsi_npz_writer_finish(writer);
    }
    gbsi_npz_writer_free(writer);
    return status;
}

int cli_series_write(const cli_series *series, const cli_job *job)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    gbs_status status = gbs_output_open(series->path, &output, &err);
    if (status >= 0) {
        status = write_archive(output, series, job, &err);
        if (status >= 0) {
            status = gbs_output_commit(output, &err);
        } else {
            gbs_output_discard(output);
        }
    }
    return status < 0 ? cli_fail_output(series->path, status, &err) : CLI_DONE;
}
