/* SPDX-License-Identifier: Apache-2.0 */
/* Draws in the schema of ArviZ's InferenceData: groups posterior, sample_stats, constant_data and
 * observed_data, each with its own dimensions and their coordinates. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "netcdf_file.h"

#define SLAB_BYTES  ((size_t)64 << 20) /* states of one chain written at a time */
#define CHUNK_BYTES ((size_t)4 << 20)
#define CHUNK_DRAWS 1024

int cli_netcdf_check(void)
{
    return CLI_DONE;
}

/* A coordinate that counts from 0. */
static gbs_status count_up(cli_netcdf *file, int group, const char *name, int dim, size_t n,
                           gbs_error *err)
{
    const int id = cli_netcdf_variable(file, group, name, NC_INT64, 1, &dim, NULL);
    int64_t *value = malloc(n * sizeof *value + 1);
    if (value == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %zu numbers", n);
    }
    for (size_t i = 0; i < n; i++) {
        value[i] = (int64_t)i;
    }
    cli_netcdf_put_all(file, group, id, value);
    free(value);
    return GBS_OK;
}

/* A coordinate of variables: names where the model has any, else 0-based numbers. */
static gbs_status name_variables(cli_netcdf *file, int group, const char *name, int dim,
                                 const gbs_model *model, const uint32_t *variable, uint32_t n,
                                 gbs_error *err)
{
    int any = 0;
    for (uint32_t i = 0; i < n; i++) {
        any |= gbs_model_variable_name(model, variable[i]) != NULL;
    }
    const char **text = malloc(n * sizeof *text + 1);
    char(*made)[32] = malloc(any ? n * sizeof *made + 1 : 1);
    int64_t *number = malloc(n * sizeof *number + 1);
    gbs_status status = GBS_OK;
    if (text == NULL || made == NULL || number == NULL) {
        status = cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u names", n);
    } else if (any) {
        for (uint32_t i = 0; i < n; i++) {
            text[i] = cli_variable_text(model, variable[i], "x", made[i]);
        }
        const int id = cli_netcdf_variable(file, group, name, NC_STRING, 1, &dim, NULL);
        cli_netcdf_put_all(file, group, id, text);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            number[i] = variable[i];
        }
        const int id = cli_netcdf_variable(file, group, name, NC_INT64, 1, &dim, NULL);
        cli_netcdf_put_all(file, group, id, number);
    }
    free(number);
    free(made);
    free(text);
    return status;
}

static void write_attributes(cli_netcdf *file, const cli_draws *d, gbs_error *err,
                             gbs_status *status)
{
    char text[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    char *command = cli_command_line(d->job->arguments);
    const unsigned long long seed = d->job->options.seed;
    if (command == NULL) {
        *status = cli_reason(err, GBS_ERR_MEMORY, "out of memory");
        return;
    }
    if (gmtime_r(&now, &utc) != NULL) {
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    cli_netcdf_text(file, "created_at", text);
    cli_netcdf_text(file, "creation_library", "gibbsite");
    cli_netcdf_text(file, "creation_library_version", gbs_version());
    cli_netcdf_text(file, "creation_library_language", "C");
    cli_netcdf_text(file, "inference_library", "gibbsite");
    cli_netcdf_text(file, "inference_library_version", gbs_version());
    cli_netcdf_text(file, "model_digest", gbs_model_digest(d->job->model));
    cli_netcdf_text(file, "command", command);
    if (file->code == NC_NOERR) {
        file->code = nc_put_att_ulonglong(file->root, NC_GLOBAL, "seed", NC_UINT64, 1, &seed);
    }
    free(command);
}

/* ---- posterior and sample_stats -------------------------------------------------------------- */

typedef struct layout {
    int posterior, stats;     /* groups */
    int x, lp, energy, flips; /* variables; energy -1 for none */
    size_t chunk_draws;
} layout;

/* E = -ln p is the energy of physics where all factors are fields and couplings, and nothing else
 * weighs in. */
static int has_energy(const cli_job *job)
{
    const size_t n = gbs_model_n_factors(job->model);
    int couplings = n > 0 && job->arguments->virtual_evidence == NULL;
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
    const nc_type type = d->state_bytes == 1 ? NC_UBYTE : NC_USHORT;
    int dim[3];
    gbs_status status = GBS_OK;
    to->posterior = cli_netcdf_group(file, "posterior");
    to->stats = cli_netcdf_group(file, "sample_stats");
    const int group[] = {to->stats, to->posterior};
    for (int g = 0; g < 2 && status >= 0; g++) {
        dim[0] = cli_netcdf_dim(file, group[g], "chain", d->n_chains);
        dim[1] = cli_netcdf_dim(file, group[g], "draw", draws);
        status = count_up(file, group[g], "chain", dim[0], d->n_chains, err);
        if (status >= 0) {
            status = count_up(file, group[g], "draw", dim[1], draws, err);
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
        status = name_variables(file, to->posterior, "x_dim_0", dim[2], d->job->model,
                                d->selection->variable, d->selection->n, err);
    }
    return status;
}

/* A slab of draws of one chain, and the last draw before it. */
typedef struct slab {
    uint8_t *states; /* [1 + chunk_draws] rows, the first the one before */
    double *lp;
    int64_t *flips;
} slab;

/* Variables in another state than in the draw before; the first draw counts none. */
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

/* ---- constant_data and observed_data -----------------------------------------------------------
 */

static gbs_status write_constants(cli_netcdf *file, const cli_draws *d, gbs_error *err)
{
    const uint32_t n = d->selection->n;
    int32_t *card = malloc(n * sizeof *card + 1);
    if (card == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u variables", n);
    }
    for (uint32_t i = 0; i < n; i++) {
        card[i] = (int32_t)gbs_model_arity(d->job->model, d->selection->variable[i]);
    }
    const int group = cli_netcdf_group(file, "constant_data");
    const int dim = cli_netcdf_dim(file, group, "x_dim_0", n);
    const int id = cli_netcdf_variable(file, group, "card", NC_INT, 1, &dim, NULL);
    cli_netcdf_put_all(file, group, id, card);
    free(card);
    return name_variables(file, group, "x_dim_0", dim, d->job->model, d->selection->variable, n,
                          err);
}

static gbs_status write_observed(cli_netcdf *file, const cli_job *job, gbs_error *err)
{
    const uint32_t n_all = gbs_model_n_variables(job->model);
    const uint32_t n = job->evidence == NULL ? 0 : gbs_evidence_n_observed(job->evidence);
    if (n == 0) {
        return GBS_OK;
    }
    uint32_t *variable = malloc(n * sizeof *variable);
    uint16_t *state = malloc(n * sizeof *state);
    gbs_status status = GBS_OK;
    uint32_t found = 0;
    if (variable == NULL || state == NULL) {
        status = cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u observations", n);
    }
    for (uint32_t v = 0; v < n_all && found < n && status >= 0; v++) {
        uint32_t x = 0;
        if (gbs_evidence_state(job->evidence, v, &x)) {
            variable[found] = v;
            state[found++] = (uint16_t)x;
        }
    }
    if (status >= 0) {
        const int group = cli_netcdf_group(file, "observed_data");
        const int dim = cli_netcdf_dim(file, group, "evidence_dim_0", n);
        const int id = cli_netcdf_variable(file, group, "evidence", NC_USHORT, 1, &dim, NULL);
        cli_netcdf_put_all(file, group, id, state);
        status =
            name_variables(file, group, "evidence_dim_0", dim, job->model, variable, found, err);
    }
    free(variable);
    free(state);
    return status;
}

gbs_status cli_draws_netcdf(const cli_draws *draws, const char *path, gbs_error *err)
{
    cli_netcdf file;
    layout to = {0};
    if (draws->n_draws == 0 || draws->selection->n == 0) { /* no dimension can have length 0 */
        return cli_reason(err, GBS_ERR_STATE, "%s: no draw was kept: nothing to write", path);
    }
    gbs_status status = cli_netcdf_open(&file, path, err);
    if (status >= 0) {
        write_attributes(&file, draws, err, &status);
    }
    if (status >= 0) {
        status = define(&file, draws, &to, err);
    }
    if (status >= 0) {
        status = write_draws(&file, draws, &to, err);
    }
    if (status >= 0) {
        status = write_constants(&file, draws, err);
    }
    if (status >= 0) {
        status = write_observed(&file, draws->job, err);
    }
    return cli_netcdf_close(&file, status, err);
}
