/* SPDX-License-Identifier: Apache-2.0 */
/* Draws as arrays: x [chains, draws, variables] and lp [chains, draws]. An .npz archive also names
 * the variables. Equal runs must give equal bytes; therefore the files do not contain the time. */
#include <stdlib.h>
#include <string.h>

#include "archives.h"
#include "kept_draws.h"
#include "src/files/arrays/arrays.h"

/* The draws as a source of bytes, chain after chain. */
typedef struct source {
    const cli_draws *draws;
    const cli_spool *spool;
    uint64_t chain_bytes; /* bytes of one chain */
} source;

static gbs_status read_source(void *context, uint64_t at, void *bytes, size_t n, gbs_error *err)
{
    const source *s = context;
    gbs_status status = GBS_OK;
    char *to = bytes;
    while (n > 0 && status >= 0) {
        const uint64_t within = at % s->chain_bytes;
        const uint64_t left = s->chain_bytes - within;
        const size_t piece = n < left ? n : (size_t)left;
        status = cli_spool_read(s->spool, (uint32_t)(at / s->chain_bytes), within, to, piece, err);
        at += piece;
        to += piece;
        n -= piece;
    }
    return status;
}

static gbsi_array shape_of_states(const cli_draws *d)
{
    gbsi_array x = {.type = d->state_bytes == 1 ? GBSI_ARRAY_U1 : GBSI_ARRAY_U2, .n_dims = 3};
    x.shape[0] = d->n_chains;
    x.shape[1] = d->n_draws;
    x.shape[2] = d->selection->n;
    return x;
}

gbs_status cli_draws_npy(const cli_draws *draws, const char *path, gbs_error *err)
{
    gbs_output *output = NULL;
    const gbsi_array x = shape_of_states(draws);
    source s = {draws, draws->states, draws->n_draws * cli_row_bytes(draws)};
    gbs_status status = gbs_output_open(path, &output, err);
    if (status >= 0) {
        status = gbsi_npy_write(output, &x, read_source, &s, err);
    }
    if (status < 0) {
        gbs_output_discard(output);
        return status;
    }
    return gbs_output_commit(output, err);
}

static gbs_status add_draws(gbsi_npz_writer *writer, const cli_draws *d, gbs_error *err)
{
    const gbsi_array x = shape_of_states(d);
    gbsi_array lp = {.type = GBSI_ARRAY_F8, .n_dims = 2};
    lp.shape[0] = d->n_chains;
    lp.shape[1] = d->n_draws;
    source states = {d, d->states, d->n_draws * cli_row_bytes(d)};
    source densities = {d, d->lp, d->n_draws * sizeof(double)};
    gbs_status status = gbsi_npz_writer_add(writer, "x", &x, read_source, &states, err);
    if (status >= 0) {
        status = gbsi_npz_writer_add(writer, "lp", &lp, read_source, &densities, err);
    }
    return status;
}

gbs_status cli_draws_npz(const cli_draws *draws, const char *path, gbs_error *err)
{
    gbs_output *output = NULL;
    gbsi_npz_writer *writer = NULL;
    gbs_status status = gbs_output_open(path, &output, err);
    if (status >= 0) {
        status = gbsi_npz_writer_new(output, &writer, err);
    }
    if (status >= 0) {
        status = add_draws(writer, draws, err);
    }
    if (status >= 0) {
        status = cli_add_variables(writer, draws->job->model, draws->selection, err);
    }
    if (status >= 0) {
        status = cli_add_meta(writer, "draws/1", draws->job, draws->selection, err);
    }
    if (status >= 0) {
        gbsi_npz_writer_finish(writer);
    }
    gbsi_npz_writer_free(writer);
    if (status < 0) {
        gbs_output_discard(output);
        return status;
    }
    return gbs_output_commit(output, err);
}
