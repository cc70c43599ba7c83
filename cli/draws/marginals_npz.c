/* SPDX-License-Identifier: Apache-2.0 */
/* Writes marginals as arrays. State a of the i-th variable has index offsets[i] + a in marginals,
 * mcse, ess and rhat; undefined entries are NaN. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archives.h"
#include "src/files/arrays/arrays.h"
#include "verbs/marginals.h"

/* Copies the rows of the selected variables into one array. */
static void gather(const cli_job *job, const cli_selection *s, const double *from, double *to)
{
    const size_t *offset = gbs_model_state_offsets(job->model);
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t v = s->variable[i];
        for (size_t row = offset[v]; row < offset[v + 1]; row++) {
            *to++ =
                isnan(from[row]) ? (double)NAN : from[row]; /* all NaN get the same bits, so that
                                                               equal runs write equal files */
        }
    }
}

static gbs_status add_rows(gbsi_npz_writer *writer, const cli_job *job, const cli_estimates *e,
                           size_t n, gbs_error *err)
{
    const struct {
        const char *name;
        const double *value;
    } arrays[] = {{"marginals", e->p}, {"mcse", e->mcse}, {"ess", e->ess}, {"rhat", e->rhat}};
    gbsi_array array = {.type = GBSI_ARRAY_F8, .n_dims = 1};
    gbs_status status = GBS_OK;
    array.shape[0] = n;
    array.data = malloc(n * sizeof(double) + 1);
    if (array.data == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %zu rows", n);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && status >= 0; i++) {
        gather(job, e->selection, arrays[i].value, array.data);
        status = gbsi_npz_writer_add(writer, arrays[i].name, &array, NULL, NULL, err);
    }
    free(array.data);
    return status;
}

static gbs_status add_offsets(gbsi_npz_writer *writer, const int64_t *offset, size_t n,
                              gbs_error *err)
{
    gbsi_array array = {.type = GBSI_ARRAY_I8, .n_dims = 1};
    array.shape[0] = n;
    array.data = (void *)(uintptr_t)offset; /* the array is only read */
    return gbsi_npz_writer_add(writer, "offsets", &array, NULL, NULL, err);
}

gbs_status cli_marginals_npz(gbs_output *output, const cli_job *job, const cli_estimates *e,
                             gbs_error *err)
{
    const cli_selection *s = e->selection;
    gbsi_npz_writer *writer = NULL;
    int64_t *offset = calloc((size_t)s->n + 1, sizeof *offset);
    gbs_status status = offset == NULL
                            ? cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u variables", s->n)
                            : gbsi_npz_writer_new(output, &writer, err);
    for (uint32_t i = 0; i < s->n && status >= 0; i++) {
        offset[i + 1] = offset[i] + gbs_model_arity(job->model, s->variable[i]);
    }
    if (status >= 0) {
        status = add_rows(writer, job, e, (size_t)offset[s->n], err);
    }
    if (status >= 0) {
        status = add_offsets(writer, offset, (size_t)s->n + 1, err);
    }
    if (status >= 0) {
        status = cli_add_variables(writer, job->model, s, err);
    }
    if (status >= 0) {
        status = cli_add_meta(writer, "marginals/2", job, s, err);
    }
    if (status >= 0) {
        gbsi_npz_writer_finish(writer);
    }
    gbsi_npz_writer_free(writer);
    free(offset);
    return status;
}
