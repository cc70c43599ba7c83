/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the value of --dummy-edges, which is FILE or ring:S. */
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "src/core/base/plural.h"

/* Makes the edges (i, i + s mod N) for s = 2 to S. The model itself has the edges with s = 1. s and
 * N - s give equal edges, and each edge is made once. */
static int make_ring(cli_job *job, const char *text, uint64_t most)
{
    const uint64_t n = gbs_model_n_variables(job->model);
    if (most < 2 || most > n / 2) {
        return cli_error(CLI_USAGE,
                         "--dummy-edges %s: expected ring:S with S from 2 to half of the %lu "
                         "variable%s",
                         text, (unsigned long)n, gbsi_plural(n));
    }
    uint32_t *pair = calloc((size_t)(n * (most - 1)), 2 * sizeof *pair);
    CLI_PASS(CLI_HAVE(pair));
    size_t at = 0;
    for (uint64_t s = 2; s <= most; s++) {
        for (uint64_t i = 0; i < (2 * s == n ? s : n); i++) {
            pair[2 * at] = (uint32_t)i;
            pair[2 * at + 1] = (uint32_t)((i + s) % n);
            at++;
        }
    }
    job->dummy_ring = pair;
    job->options.dummy_edges = pair;
    job->options.n_dummy_edges = at;
    return CLI_DONE;
}

int cli_load_edges(cli_job *job, const char *text)
{
    uint64_t most = 0;
    gbs_error err = {GBS_OK, ""};
    if (strncmp(text, "ring:", 5) == 0) {
        return cli_parse_uint(text + 5, &most) ? make_ring(job, text, most)
                                               : make_ring(job, text, 0);
    }
    gbs_status status =
        gbsi_edges_read(text, job->model, &job->dummy_edges, &job->options.n_dummy_edges, &err);
    job->options.dummy_edges = job->dummy_edges;
    return status < 0 ? cli_fail_input(status, &err) : CLI_DONE;
}
