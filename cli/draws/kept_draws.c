/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose draws are kept until the run has ended. */
#include "kept_draws.h"
#include "netcdf_library.h"

#include <stdlib.h>
#include <string.h>

/* Makes the spools. The number of chains is known only once the run is made: in a tempered run,
 * each ladder counts as a chain. */
static gbs_status take_spools(cli_draws *d, gbs_error *err)
{
    d->n_chains = gbs_run_report(d->job->run)->chains;
    gbs_status status = cli_spool_new(d->path, d->n_chains, cli_row_bytes(d), &d->states, err);
    if (status >= 0) {
        status = cli_spool_new(d->path, d->n_chains, sizeof(double), &d->lp, err);
    }
    return status;
}

static gbs_status keep_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    cli_draws *d = context;
    (void)draw;
    if (d->states == NULL) {
        const gbs_status made = take_spools(d, err);
        if (made < 0) {
            return made;
        }
    }
    if (chain == 0) {
        d->last_s = cli_clock_s();
        d->first_s = d->n_draws == 0 ? d->last_s : d->first_s;
    }
    for (uint32_t i = 0; i < d->selection->n; i++) {
        const uint32_t x = state[d->selection->variable[i]];
        uint8_t *at = d->row + (size_t)i * d->state_bytes;
        at[0] = (uint8_t)(x & 255);
        if (d->state_bytes == 2) {
            at[1] = (uint8_t)(x >> 8);
        }
    }
    gbs_status status = cli_spool_put(d->states, chain, d->row, err);
    if (status >= 0) {
        status = cli_spool_put(d->lp, chain, &log_density, err);
    }
    d->n_draws += status >= 0 && chain + 1 == d->n_chains ? 1 : 0;
    return status;
}

static void draws_free(cli_draws *d)
{
    cli_spool_free(d->states);
    cli_spool_free(d->lp);
    free(d->row);
}

static gbs_status draws_init(cli_draws *d, const cli_job *job, const cli_selection *selection,
                             const char *path, gbs_error *err)
{
    d->job = job;
    d->selection = selection;
    d->path = path;
    d->state_bytes = 1;
    for (uint32_t i = 0; i < selection->n; i++) {
        if (gbs_model_arity(job->model, selection->variable[i]) > 256) {
            d->state_bytes = 2;
        }
    }
    d->row = calloc((size_t)selection->n + 1, d->state_bytes);
    return d->row != NULL
               ? GBS_OK
               : cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u variables", selection->n);
}

static const struct {
    const char *name;
    gbs_status (*write)(const cli_draws *draws, const char *path, gbs_error *err);
    int needs_file; /* 1: the format cannot be written to standard output */
} writers[] = {
    {"npz", cli_draws_npz, 0},         {"npy", cli_draws_npy, 0},   {"netcdf", cli_draws_netcdf, 1},
    {"cmdstan", cli_draws_cmdstan, 1}, {"coda", cli_draws_coda, 1},
};

static size_t find_writer(const char *format)
{
    size_t i = 0;
    while (i + 1 < sizeof writers / sizeof writers[0] && strcmp(writers[i].name, format) != 0) {
        i++;
    }
    return i;
}

static int needs_file(const cli_arguments *arguments, const char *format)
{
    return arguments->output != NULL && strcmp(arguments->output, "-") != 0
               ? CLI_DONE
               : cli_error(CLI_USAGE, "--format %s needs a file: name it with --output", format);
}

int cli_netcdf_check(const cli_arguments *arguments)
{
    CLI_PASS(needs_file(arguments, "netcdf"));
    const char *packing = arguments->output + gbsi_unpacked_length(arguments->output);
    if (packing[0] != '\0') {
        return cli_error(CLI_USAGE, "%s: NetCDF files are compressed already; leave out %s",
                         arguments->output, packing);
    }
    cli_netcdf_library library;
    return cli_netcdf_library_open(&library)
               ? CLI_DONE
               : cli_error(CLI_USAGE,
                           "NetCDF files are written by libnetcdf, which cannot be found: "
                           "install it (Debian: apt-get install libnetcdf19), or use "
                           "--format npz");
}

int cli_draws_check(const cli_arguments *arguments, const char *format)
{
    int status = CLI_DONE;
    if (strcmp(format, "netcdf") == 0) {
        status = cli_netcdf_check(arguments);
    } else if (writers[find_writer(format)].needs_file) {
        status = needs_file(arguments, format);
    }
    return status;
}

int cli_draws_run(cli_job *job, const cli_selection *selection, const char *format, int *stopped)
{
    const char *path = job->output != NULL ? job->output : "-";
    gbs_error err = {GBS_OK, ""};
    cli_draws draws;
    memset(&draws, 0, sizeof draws);
    int status = CLI_DONE;
    gbs_status done = draws_init(&draws, job, selection, path, &err);
    if (done < 0) {
        status = cli_fail(done, &err);
    }
    if (status == CLI_DONE) {
        status = cli_execute(job, keep_draw, &draws, stopped);
    }
    if (status == CLI_DONE) {
        done = draws.states == NULL ? take_spools(&draws, &err) : GBS_OK;
        done = done < 0 ? done : writers[find_writer(format)].write(&draws, path, &err);
        status = done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
    }
    draws_free(&draws);
    return status;
}
