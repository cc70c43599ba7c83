/* SPDX-License-Identifier: Apache-2.0 */
/* Writes draws in the schema of ArviZ's InferenceData: */
#include <stdlib.h>
#include <string.h>

#include "netcdf_file.h"

#define SLAB_BYTES \
    ((size_t)64 << 20) /* most bytes of states of a chain that are written in one step */
#define CHUNK_BYTES ((size_t)4 << 20)
#define CHUNK_DRAWS 1024

/* ---- posterior and sample_stats -------------------------------------------------------------- */

typedef struct layout {
    int posterior, stats;     /* ids of the groups */
    int x, lp, energy, flips; /* ids of the variables; energy is -1 if there is none */
    size_t chunk_draws;
} layout;

/* @return whether -ln p is an energy in the sense of physics: all factors are fields or couplings,
 *         apart from factors without weight. */
static int has_energy(const cli_job *job)
{
    const size_t n = gbs_model_n_factors(job->model);
    int couplings =
        n > 0 && job->arguments->virtual_evidence == NULL && job->arguments->likelihood == NULL;
    for (size_t f = 0; f < n && couplings; f++) {
        const gbs_factor_kind kind = gbs_model_factor(job->model, f, NULL, NULL);
        couplings =
            kind == GBS_FACTOR_FIELD || kind == GBS_FACTOR_ISING || kind == GBS_FACTOR_POTTS;
    }
    return couplings;
}

static gbs_status define(cli_netcdf *file, const cli_draws *d, layout *to, gbs_error *err)
{
    const size_t n = d->selection->n;
    const size_t draws = (size_t)d->n_draws;
    const size_t row = n * d->state_bytes;
    size_t most = SLAB_BYTES / row > 0 ? SLAB_BYTES / row : 1;
    most = most < CHUNK_DRAWS ? most : CHUNK_DRAWS;
    to->chunk_draws = draws < most ? draws : most;
    const size_t fit = CHUNK_BYTES / (to->chunk_draws * d->state_bytes);
    const size_t chunk[3] = {1, to->chunk_draws, n < fit ? n : fit};
    const cli_nc_type type = d->state_bytes == 1 ? NC_UBYTE : NC_USHORT;
    int dim[3];
    gbs_status status = GBS_OK;
    to->posterior = cli_netcdf_draws_group(file, "posterior");
    to->stats = cli_netcdf_draws_group(file, "sample_stats");
    const int group[] = {to->stats, to->posterior};
    for (int g = 0; g < 2 && status >= 0; g++) {
        dim[0] = cli_netcdf_dim(file, group[g], "chain", d->n_chains);
        dim[1] = cli_netcdf_dim(file, group[g], "draw", draws);
        status = cli_netcdf_count(file, group[g], "chain", dim[0], d->n_chains, err);
        if (status >= 0) {
            status = cli_netcdf_count(file, group[g], "draw", dim[1], draws, err);
        }
        if (g == 0) {
            to->lp = cli_netcdf_variable(file, to->stats, "lp", NC_DOUBLE, 2, dim, chunk);
            to->flips = cli_netcdf_variable(file, to->stats, "n_flips", NC_INT64, 2, dim, chunk);
            to->energy = !has_energy(d->job) ? -1
                                             : cli_netcdf_variable(file, to->stats, "energy",
                                                                   NC_DOUBLE, 2, dim, chunk);
        }
    }
    dim[2] = cli_netcdf_dim(file, to->posterior, "x_dim_0", n);
    to->x = cli_netcdf_variable(file, to->posterior, "x", type, 3, dim, chunk);
    if (status >= 0) {
        status = cli_netcdf_names(file, to->posterior, "x_dim_0", dim[2], d->job->model,
                                  d->selection->variable, d->selection->n, err);
    }
    return status;
}

/* A slab of draws of one chain, with the last draw before the slab. */
typedef struct slab {
    uint8_t *states; /* [1 + chunk_draws] rows; row 0 is the last row of the previous chunk */
    double *lp;
    int64_t *flips;
} slab;

/* @return the number of variables whose state differs from the previous draw; 0 for the first
 * draw. */
static int64_t count_flips(const cli_draws *d, const uint8_t *before, const uint8_t *now)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < d->selection->n; i++) {
        n += cli_state_at(before, d->state_bytes, i) != cli_state_at(now, d->state_bytes, i);
    }
    return n;
}

static gbs_status write_slab(cli_netcdf *file, const cli_draws *d, const layout *to, uint32_t chain,
                             uint64_t first, const slab *s, gbs_error *err)
{
    const size_t row = cli_row_bytes(d);
    const uint64_t left = d->n_draws - first;
    const size_t n = left < to->chunk_draws ? (size_t)left : to->chunk_draws;
    const size_t start[3] = {chain, (size_t)first, 0};
    const size_t count[3] = {1, n, d->selection->n};
    gbs_status status =
        cli_spool_read(d->states, chain, first * row, s->states + row, n * row, err);
    if (status >= 0) {
        status =
            cli_spool_read(d->lp, chain, first * sizeof(double), s->lp, n * sizeof(double), err);
    }
    if (status < 0) {
        return status;
    }
    for (size_t r = 0; r < n; r++) {
        const uint8_t *now = s->states + (r + 1) * row;
        s->flips[r] = first + r == 0 ? 0 : count_flips(d, now - row, now);
    }
    cli_netcdf_put(file, to->posterior, to->x, start, count, s->states + row);
    cli_netcdf_put(file, to->stats, to->lp, start, count, s->lp);
    cli_netcdf_put(file, to->stats, to->flips, start, count, s->flips);
    for (size_t r = 0; r < n; r++) {
        s->lp[r] = -s->lp[r];
    }
    if (to->energy >= 0) {
        cli_netcdf_put(file, to->stats, to->energy, start, count, s->lp);
    }
    memmove(s->states, s->states + n * row, row);
    return GBS_OK;
}

static gbs_status write_draws(cli_netcdf *file, const cli_draws *d, const layout *to,
                              gbs_error *err)
{
    slab s = {malloc((to->chunk_draws + 1) * cli_row_bytes(d)),
              malloc(to->chunk_draws * sizeof *s.lp), malloc(to->chunk_draws * sizeof *s.flips)};
    gbs_status status = GBS_OK;
    if (s.states == NULL || s.lp == NULL || s.flips == NULL) {
        status = cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    for (uint32_t chain = 0; chain < d->n_chains && status >= 0; chain++) {
        for (uint64_t first = 0; first < d->n_draws && status >= 0; first += to->chunk_draws) {
            status = write_slab(file, d, to, chain, first, &s, err);
        }
    }
    free(s.states);
    free(s.lp);
    free(s.flips);
    return status;
}

gbs_status cli_draws_netcdf(const cli_draws *draws, const char *path, gbs_error *err)
{
    cli_netcdf file;
    layout to = {0};
    if (draws->n_draws == 0 ||
        draws->selection->n == 0) { /* a NetCDF dimension cannot have length 0 */
        return cli_reason(err, GBS_ERR_STATE, "%s: no draw was kept: there is nothing to write",
                          path);
    }
    gbs_status status = cli_netcdf_open(&file, path, err);
    if (status >= 0) {
        status = cli_netcdf_attributes(&file, draws->job, err);
    }
    if (status >= 0) {
        status = define(&file, draws, &to, err);
    }
    if (status >= 0) {
        status = write_draws(&file, draws, &to, err);
    }
    if (status >= 0) {
        const int group = cli_netcdf_group(&file, "constant_data");
        const int dim = cli_netcdf_dim(&file, group, "x_dim_0", draws->selection->n);
        status = cli_netcdf_variables(&file, group, "x_dim_0", dim, draws->job->model,
                                      draws->selection, err);
    }
    if (status >= 0) {
        status = cli_netcdf_observed(&file, draws->job, err);
    }
    return cli_netcdf_close(&file, status, err);
}
