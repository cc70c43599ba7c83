/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of learning a restricted Boltzmann machine. A step that is stopped leaves the weights
 * unchanged but moves the chains; a copy of the chains from before the step is therefore kept. */
#include <string.h>

#include "rbm/rbm.h"

static size_t n_herd(const gbsi_rbm *r)
{
    return r->herd == NULL ? 0 : (size_t)r->options.batch * (r->n + r->m) * GBSI_RBM_BINS;
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_rbm *r = object;
    const size_t batch = (size_t)r->options.batch;
    const uint64_t count[5] = {r->kept_step, r->report->epochs, r->report->best_epoch, r->kept_pass,
                               r->round};
    GBSI_PASS(gbsi_put_numbers(sink, count, 5, sizeof count[0], err));
    GBSI_PASS(gbsi_put_numbers(sink, r->curve, 2 * r->report->epochs, sizeof *r->curve, err));
    GBSI_PASS(gbsi_put_numbers(sink, r->w, r->n * r->wide_m, sizeof *r->w, err));
    GBSI_PASS(gbsi_put_numbers(sink, r->a, r->n, sizeof *r->a, err));
    GBSI_PASS(gbsi_put_numbers(sink, r->b, r->m, sizeof *r->b, err));
    GBSI_PASS(sink->put(sink->context, r->kept_v, batch * r->n, err));
    GBSI_PASS(sink->put(sink->context, r->kept_h, batch * r->m, err));
    GBSI_PASS(gbsi_put_numbers(sink, r->kept_herd, n_herd(r), sizeof *r->herd, err));
    GBSI_PASS(gbsi_put_numbers(sink, r->owed, gbsi_rbm_n_owed(r), sizeof *r->owed, err));
    GBSI_PASS(gbsi_put_numbers(sink, &r->owing, 1, sizeof r->owing, err));
    return gbsi_put_numbers(sink, r->best, gbsi_rbm_n_best(r), sizeof *r->best, err);
}

static gbs_status check(const gbsi_rbm *r, bool right, gbs_error *err)
{
    const size_t batch = (size_t)r->options.batch;
    for (size_t k = 0; k < batch * r->n; ++k) {
        right = right && r->v[k] < 2;
    }
    for (size_t k = 0; k < batch * r->m; ++k) {
        right = right && r->h[k] < 2;
    }
    return right ? GBS_OK
                 : gbsi_fail(err, GBS_ERR_FORMAT,
                             "%s: found epochs, steps, rounds or states out of range",
                             r->keep.files->resume);
}

static gbs_status load(gbsi_rbm *r, const gbsi_source *source, gbs_error *err)
{
    const size_t batch = (size_t)r->options.batch;
    const uint64_t n_batches = (r->rows->n + batch - 1) / batch;
    uint64_t count[5];
    GBSI_PASS(gbsi_take_numbers(source, count, 5, sizeof count[0], err));
    GBSI_PASS(check(r,
                    count[1] <= r->options.epochs && count[0] >= count[1] * n_batches &&
                        count[0] <= r->options.epochs * n_batches && count[2] <= count[1] &&
                        count[4] <= r->round &&
                        (count[2] > 0) == (r->options.patience > 0 && count[1] > 0),
                    err));
    GBSI_PASS(gbsi_take_numbers(source, r->curve, 2 * count[1], sizeof *r->curve, err));
    GBSI_PASS(gbsi_take_numbers(source, r->w, r->n * r->wide_m, sizeof *r->w, err));
    GBSI_PASS(gbsi_take_numbers(source, r->a, r->n, sizeof *r->a, err));
    GBSI_PASS(gbsi_take_numbers(source, r->b, r->m, sizeof *r->b, err));
    GBSI_PASS(source->take(source->context, r->v, batch * r->n, err));
    GBSI_PASS(source->take(source->context, r->h, batch * r->m, err));
    GBSI_PASS(gbsi_take_numbers(source, r->herd, n_herd(r), sizeof *r->herd, err));
    GBSI_PASS(gbsi_take_numbers(source, r->owed, gbsi_rbm_n_owed(r), sizeof *r->owed, err));
    GBSI_PASS(gbsi_take_numbers(source, &r->owing, 1, sizeof r->owing, err));
    GBSI_PASS(gbsi_take_numbers(source, r->best, gbsi_rbm_n_best(r), sizeof *r->best, err));
    GBSI_PASS(check(r, true, err));
    gbsi_rbm_turn(r);
    r->step = r->report->steps = count[0];
    r->pass = count[3];
    r->round = (uint32_t)count[4];
    r->report->best_epoch = count[2];
    r->report->epochs = r->work->progress.pass = count[1];
    for (size_t k = 0; k < 2 && count[1] > 0; ++k) {
        *(k == 0 ? &r->report->mean_pl : &r->report->held_out_pl) =
            r->curve[2 * (count[1] - 1) + k];
    }
    return GBS_OK;
}

/* Computes a digest of all inputs that determine the result. @param held_out the rows on which the
 * learning curve is computed. */
static gbs_status find_digest(gbsi_rbm *r, const gbs_rows *held_out, gbs_error *err)
{
    const gbs_rbm_options *o = &r->options;
    const uint64_t count[] = {o->hidden,  o->method, o->draw, o->epochs,
                              o->batch,   o->sweeps, o->seed, held_out == NULL ? 0 : held_out->n,
                              o->patience};
    const double number[] = {o->rate, o->rate_last, o->l2, o->l1};
    gbsi_digest *digest = NULL;
    const gbs_status status =
        gbsi_keep_digest("rbm", r->rows->n, r->n, r->rows->weight, &digest, err);
    if (status >= 0) {
        gbsi_digest_u8(digest, r->rows->state, r->rows->n * r->n);
        gbsi_digest_u64(digest, count, sizeof count / sizeof count[0]);
        gbsi_digest_f64(digest, number, sizeof number / sizeof number[0]);
        if (held_out != NULL) {
            gbsi_digest_u8(digest, held_out->state, held_out->n * held_out->n_sites);
        }
        gbsi_digest_text(digest, r->keep.digest);
    }
    gbsi_digest_free(digest);
    return status;
}

gbs_status gbsi_rbm_resume(gbsi_rbm *rbm, const gbs_rows *held_out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_kept *kept = NULL;
    rbm->keep = (gbsi_keep){.files = rbm->options.checkpoints,
                            .every_s = rbm->options.checkpoint_every_s,
                            .object = rbm,
                            .save = save};
    GBSI_TRY(find_digest(rbm, held_out, err));
    GBSI_TRY(gbsi_keep_open(&rbm->keep, &kept, err));
    if (kept != NULL) {
        const gbsi_source source = gbsi_kept_source(kept);
        GBSI_TRY(load(rbm, &source, err));
    }
    gbsi_rbm_keep_step(rbm);
    GBSI_TRY(gbsi_keep_first(&rbm->keep, err));

cleanup:
    gbsi_kept_close(kept);
    return status;
}

void gbsi_rbm_keep_step(gbsi_rbm *rbm)
{
    const size_t batch = (size_t)rbm->options.batch;
    if (!gbsi_keep_writes(&rbm->keep)) {
        return;
    }
    memcpy(rbm->kept_v, rbm->v, batch * rbm->n);
    memcpy(rbm->kept_h, rbm->h, batch * rbm->m);
    if (rbm->herd != NULL) {
        memcpy(rbm->kept_herd, rbm->herd, n_herd(rbm) * sizeof *rbm->herd);
    }
    rbm->kept_step = rbm->step;
    rbm->kept_pass = rbm->pass;
}
