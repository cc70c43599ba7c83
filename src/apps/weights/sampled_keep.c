/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of learning by the sampled likelihood. A checkpoint holds the weights, the averages
 * of the steps, and the states of the chains after the last complete step, because a step that is
 * stopped leaves some chains ahead of others. If sweeps at weights held still were stopped, the
 * next call draws them again. */
#include <string.h>

#include "base/memory.h"
#include "learn/split_rhat.h"
#include "weights/sampled_climbing.h"

static size_t n_states(const gbsi_climbing *c)
{
    return ((size_t)c->options->chains + c->n_partial) * c->n_variables;
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_climbing *c = object;
    const uint64_t count[5] = {c->n_steps, c->drawn, c->how->scan->n_made, c->kept_pass, c->round};
    const double *const number[] = {c->w, c->average, c->mean, c->rows, c->how->scan->at};
    GBSI_PASS(gbsi_put_numbers(sink, count, 5, sizeof count[0], err));
    for (size_t k = 0; k < sizeof number / sizeof number[0]; ++k) {
        GBSI_PASS(gbsi_put_numbers(sink, number[k], c->n, sizeof *number[k], err));
    }
    for (size_t k = 0; !c->many && k < c->n; ++k) {
        GBSI_PASS(gbsi_put_numbers(sink, c->covariance + k * c->n, k + 1, sizeof(double), err));
    }
    if (c->many) {
        GBSI_PASS(gbsi_put_numbers(sink, c->variance, c->n, sizeof *c->variance, err));
        GBSI_PASS(gbsi_put_numbers(sink, c->towards, c->n, sizeof *c->towards, err));
    }
    return gbsi_put_numbers(sink, c->kept, n_states(c), sizeof *c->kept, err);
}

static gbs_status check(const gbsi_climbing *c, const uint64_t *count, gbs_error *err)
{
    bool right = count[0] <= c->options->steps && count[1] <= (count[0] < c->options->steps) &&
                 count[4] < GBSI_ROUNDS;
    for (size_t k = 0; k < n_states(c); ++k) {
        right = right && c->state[k] < c->pseudo->model->arity[k % c->n_variables];
    }
    return right ? GBS_OK
                 : gbsi_fail(err, GBS_ERR_FORMAT, "%s: found steps, rounds or states out of range",
                             c->keep.files->resume);
}

static gbs_status load(gbsi_climbing *c, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t count[5];
    double *const number[] = {c->w, c->average, c->mean, c->rows, c->step};
    GBSI_TRY(gbsi_take_numbers(source, count, 5, sizeof count[0], err));
    for (size_t k = 0; k < sizeof number / sizeof number[0]; ++k) {
        GBSI_TRY(gbsi_take_numbers(source, number[k], c->n, sizeof *number[k], err));
    }
    for (size_t k = 0; !c->many && k < c->n; ++k) {
        GBSI_TRY(gbsi_take_numbers(source, c->covariance + k * c->n, k + 1, sizeof(double), err));
    }
    if (c->many) {
        GBSI_TRY(gbsi_take_numbers(source, c->variance, c->n, sizeof *c->variance, err));
        GBSI_TRY(gbsi_take_numbers(source, c->towards, c->n, sizeof *c->towards, err));
        gbsi_diagonal_scale(c);
    }
    GBSI_TRY(gbsi_take_numbers(source, c->state, n_states(c), sizeof *c->state, err));
    GBSI_TRY(check(c, count, err));
    c->n_steps = count[0];
    c->drawn = count[1] == 1;
    c->pass = count[3];
    c->round = (uint32_t)count[4];
    if (count[2] > 0) { /* c->step: the weights that the scan was made for */
        GBSI_TRY(gbsi_learning_scan_follow(c->how->scan, c->step, err));
        c->how->scan->n_made = count[2];
    }

cleanup:
    return status;
}

/* Computes a digest of all inputs that determine the result. */
static gbs_status find_digest(gbsi_climbing *c, gbs_error *err)
{
    const gbs_data *d = c->pseudo->data;
    const gbs_learn_options *o = c->options;
    const uint64_t count[] = {o->iterations, o->chains, o->steps, o->seed,
                              o->scan,       o->method, o->sweeps};
    const double number[] = {o->l2, o->tolerance, o->accuracy};
    const char *model = gbs_model_digest(c->pseudo->model);
    gbsi_digest *digest = NULL;
    const gbs_status status =
        gbsi_keep_digest("weights", d->n_distinct, d->n_columns, d->weight, &digest, err);
    if (status >= 0) {
        gbsi_digest_bytes(digest, model, strlen(model));
        gbsi_digest_u32(digest, d->column, d->n_columns);
        for (size_t k = 0; k < d->n_distinct * d->n_columns; ++k) {
            const uint32_t state = d->state[k];
            gbsi_digest_u32(digest, &state, 1);
        }
        gbsi_digest_u64(digest, count, sizeof count / sizeof count[0]);
        gbsi_digest_f64(digest, number, sizeof number / sizeof number[0]);
        gbsi_digest_text(digest, c->keep.digest);
    }
    gbsi_digest_free(digest);
    return status;
}

gbs_status gbsi_climbing_resume(gbsi_climbing *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_kept *kept = NULL;
    c->keep = (gbsi_keep){.files = c->options->checkpoints,
                          .every_s = c->options->checkpoint_every_s,
                          .object = c,
                          .save = save};
    if (c->keep.files == NULL) {
        return GBS_OK;
    }
    c->kept = gbsi_alloc_array(n_states(c), sizeof *c->kept);
    GBSI_PASS(GBSI_HAVE(err, "chains", c->kept));
    GBSI_TRY(find_digest(c, err));
    GBSI_TRY(gbsi_keep_open(&c->keep, &kept, err));
    if (kept != NULL) {
        const gbsi_source source = gbsi_kept_source(kept);
        GBSI_TRY(load(c, &source, err));
    }
    memcpy(c->kept, c->state, n_states(c) * sizeof *c->kept);
    c->kept_pass = c->pass;
    GBSI_TRY(gbsi_keep_first(&c->keep, err));

cleanup:
    gbsi_kept_close(kept);
    return status;
}

void gbsi_climbing_keep(gbsi_climbing *c)
{
    if (gbsi_keep_writes(&c->keep)) {
        memcpy(c->kept, c->state, n_states(c) * sizeof *c->kept);
        c->kept_pass = c->pass;
        gbsi_keep_if_due(&c->keep);
    }
}
