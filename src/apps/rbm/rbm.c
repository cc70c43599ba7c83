/* SPDX-License-Identifier: Apache-2.0 */
/* Learns a restricted Boltzmann machine from rows [M63]. */
#include "rbm/rbm.h"
#include "base/plural.h"
#include "options/questions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "learn/rates.h"
#include "learn/split_rhat.h"

#define EPOCHS      100u
#define BATCH       64u
#define MOST_ROWS   (1u << 20) /* largest number of rows in a batch */
#define UNPENALISED 0.25       /* share of all steps, the first ones, that have no L1 penalty */
/* stream of the random order of rows, used in place of the number of a chain */
#define SHUFFLE (UINT32_MAX - 1)

/* ---- epochs ---------------------------------------------------------------------------------- */

/* Puts the rows into a random order by the method of Fisher & Yates, in the form of Durstenfeld
 * (1964, CACM 7:420). */
static void shuffle(gbsi_rbm *r, uint64_t epoch)
{
    for (size_t k = 0; k < r->rows->n; ++k) {
        uint32_t word[4];
        gbsi_philox(r->options.seed, SHUFFLE, epoch, (uint32_t)k, GBSI_PURPOSE_MACHINE, word);
        const uint32_t other = gbsi_below(word[0], word[1], (uint32_t)k + 1);
        r->order[k] = r->order[other];
        r->order[other] = (uint32_t)k;
    }
}

/* Runs one epoch. @return false if the watch stopped the epoch. */
static bool run_epoch(gbsi_rbm *r, uint64_t epoch, gbs_rbm_report *report)
{
    const size_t batch = (size_t)r->options.batch;
    const size_t n_batches = (r->rows->n + batch - 1) / batch;
    shuffle(r, epoch);
    for (size_t first = (size_t)(r->step - epoch * n_batches) * batch; first < r->rows->n;
         first += batch) {
        const double done = (double)r->step / ((double)n_batches * (double)r->options.epochs);
        r->row = r->order + first;
        r->n_batch = r->rows->n - first < batch ? r->rows->n - first : batch;
        r->n_chains = r->options.method == GBS_RBM_CD ? r->n_batch : batch;
        r->l1 = done < UNPENALISED ? 0.0 : r->options.l1;
        r->rate = gbsi_rate(r->options.rate, r->options.rate_last, done);
        if (!gbsi_rbm_step(r)) {
            return false;
        }
        report->steps = ++r->step;
        gbsi_rbm_keep_step(r);
        gbsi_keep_if_due(&r->keep);
    }
    return true;
}

/* Runs epochs until the weights are held still for the next judgement. @return false if the watch
 * stopped the epochs. */
static bool run_epochs(gbsi_rbm *r, const gbs_rows *held_out, gbs_rbm_report *report)
{
    const double begun_s = gbsi_clock_s();
    const uint64_t begun = report->epochs;
    for (uint64_t epoch = begun; !gbsi_rbm_is_done(r); ++epoch) {
        double pl[2] = {(double)NAN, (double)NAN};
        if (run_epoch(r, epoch, report)) {
            pl[0] = gbsi_rbm_mean_pl(r, r->rows);
            pl[1] = held_out == NULL ? pl[1] : gbsi_rbm_mean_pl(r, held_out);
        }
        if (gbsi_watch_stopped(&r->work->watch)) {
            return false;
        }
        report->mean_pl = pl[0];
        report->held_out_pl = pl[1];
        memcpy(r->curve + 2 * epoch, pl, sizeof pl);
        report->epochs = r->work->progress.pass = epoch + 1;
        gbsi_rbm_mark_best(r);
        report->epoch_s = (gbsi_clock_s() - begun_s) / (double)(epoch + 1 - begun);
    }
    return true;
}

/* The weights are judged after a quarter of the epochs (not with l1), a half, and all of them; a
 * judgement before the last can end learning. If held-out rows decide when learning ends, the
 * weights are judged at the end only. */
static gbs_status run_rounds(gbsi_rbm *r, const gbs_rows *held_out, gbs_rbm_report *report,
                             gbs_error *err)
{
    report->mean_pl = report->held_out_pl = (double)NAN;
    report->rhat = report->misfit = report->rise = (double)NAN;
    r->report = report;
    r->round = r->options.patience > 0 ? 0
               : r->options.l1 > 0.0   ? GBSI_ROUNDS - 2
                                       : GBSI_ROUNDS - 1;
    GBSI_PASS(gbsi_rbm_resume(r, held_out, err));
    r->work->progress.passes = r->options.epochs;
    for (bool ended = false; !ended;) {
        const bool whole = run_epochs(r, held_out, report);
        gbsi_keep_last(&r->keep);
        gbsi_rbm_take_best(r);
        if (!whole) {
            report->rhat = report->misfit = report->rise = (double)NAN;
            report->converged = 0;
            return report->steps > 0 ? GBS_STOPPED : gbsi_watch_fail(err, "learning");
        }
        GBSI_PASS(gbsi_rbm_hold_still(r, report, err));
        ended = r->round == 0 || report->converged != 0 || gbsi_watch_stopped(&r->work->watch);
        if (!ended) {
            --r->round;
            gbsi_rbm_keep_step(r);
        }
    }
    return gbsi_watch_stopped(&r->work->watch) ? GBS_STOPPED : GBS_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status take_options(gbs_rbm_options *o, const gbs_rbm_options *options, gbs_error *err)
{
    gbs_status status = gbsi_question_settle("learn rbm", options, o, err);
    if (status < 0) {
        return status;
    }
    GBSI_IN_STRUCT(o->checkpoints, gbs_checkpoint_files);
    status = gbsi_settle_rates("gbs_rbm_options", &o->rate, &o->rate_last, err);
    return status < 0 ? status : gbsi_simd_check(err);
}

/* @return whether a name is the name of a hidden unit, such as "h3" if there are at least three. */
static bool names_hidden(const char *name, uint64_t n_hidden)
{
    char hidden[24];
    uint64_t number = 0;
    for (const char *c = name + 1; name[0] == 'h' && *c >= '0' && *c <= '9' && number <= n_hidden;
         ++c) {
        number = 10 * number + (uint64_t)(*c - '0');
    }
    (void)snprintf(hidden, sizeof hidden, "h%" PRIu64, number);
    return number > 0 && number <= n_hidden && strcmp(name, hidden) == 0;
}

static gbs_status check_rows(const gbs_rows *rows, const gbs_rows *held_out,
                             const gbs_rbm_options *options, gbs_error *err)
{
    if (rows->n == 0 || rows->n >= UINT32_MAX || rows->n_states != 2) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "found %zu row%s of %" PRIu32 " state%s, expected 1 to 2^32 - 2 rows of 2 states",
            rows->n, gbsi_plural(rows->n), rows->n_states, gbsi_plural(rows->n_states));
    }
    if (held_out != NULL &&
        (held_out->n_sites != rows->n_sites || held_out->n_states != 2 || held_out->n == 0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "held-out rows: found %zu of %" PRIu32 " site%s with %" PRIu32
                         " state%s, expected some of %" PRIu32 " site%s with 2 states",
                         held_out->n, held_out->n_sites, gbsi_plural(held_out->n_sites),
                         held_out->n_states, gbsi_plural(held_out->n_states), rows->n_sites,
                         gbsi_plural(rows->n_sites));
    }
    if (held_out == NULL && options->patience > 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_rbm_options: found patience %" PRIu64
                         " without held-out rows, expected both",
                         options->patience);
    }
    for (size_t k = 0; k < rows->n; ++k) {
        if (rows->weight[k] != 1.0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "row %zu: found weight %g, expected 1", k,
                             rows->weight[k]);
        }
    }
    for (uint32_t i = 0; rows->name != NULL && i < rows->n_sites; ++i) {
        if (names_hidden(rows->name[i], options->hidden)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "site %" PRIu32 ": found the name %s, which a hidden unit has", i,
                             rows->name[i]);
        }
    }
    return GBS_OK;
}

static void set_sizes(gbsi_rbm *r)
{
    const size_t largest =
        r->rows->n_sites > r->options.hidden ? r->rows->n_sites : (size_t)r->options.hidden;
    const size_t batch = (size_t)r->options.batch;
    r->n = r->rows->n_sites;
    r->m = (size_t)r->options.hidden;
    r->wide_n = gbsi_layer_width(r->n);
    r->wide_m = gbsi_layer_width(r->m);
    r->n_list = (largest > batch ? largest : batch) + 1;
    r->n_word = (largest + 3) / 4 * 64;
    r->wide = 2 * gbsi_layer_width(largest);
    r->layers = gbsi_layers_here();
    r->words = gbsi_words_of(gbsi_simd_level());
}

static uint64_t count_zeros(const gbsi_rbm *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->n; ++i) {
        for (size_t j = 0; j < r->m; ++j) {
            n += r->w[i * r->wide_m + j] == 0.0;
        }
    }
    return n;
}

static gbs_status learn(gbsi_rbm *r, const gbs_rows *held_out, double *curve, gbs_model **model,
                        gbs_rbm_report *report, gbs_error *err)
{
    gbs_status ended = GBS_OK;
    const size_t n_held_out = held_out == NULL ? 0 : held_out->n;
    report->predicted_bytes = gbsi_rbm_bytes(r, n_held_out);
    const size_t predicted = (size_t)report->predicted_bytes;
    if (!gbsi_budget_take(predicted)) {
        return gbsi_no_memory(err, "a restricted Boltzmann machine", predicted);
    }
    gbsi_budget_give(predicted);
    GBSI_PASS(gbsi_rbm_begin(r, n_held_out, err));
    GBSI_PASS(ended = run_rounds(r, held_out, report, err));
    GBSI_PASS(gbsi_rbm_model(r, model, err));
    if (curve != NULL) {
        memcpy(curve, r->curve, 2 * report->epochs * sizeof *curve);
    }
    report->size = sizeof *report;
    report->n_rows = r->rows->n;
    report->n_visible = r->n;
    report->n_hidden = r->m;
    report->n_zero = count_zeros(r);
    report->n_unwritten = r->keep.n_failed;
    report->seconds = gbsi_clock_s() - r->work->begun_s;
    return ended;
}

gbs_status gbs_rbm_learn(const gbs_rows *rows, const gbs_rows *held_out,
                         const gbs_rbm_options *options, const gbs_run_callbacks *callbacks,
                         double *curve, gbs_model **model, gbs_rbm_report *report, gbs_error *err)
{
    GBSI_NEED(rows, model);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_rbm_report);
    gbs_status status = GBS_OK;
    gbsi_work work = {0};
    gbsi_rbm r = {.rows = rows, .work = &work};
    gbs_rbm_report found = {0};
    gbs_model *learnt = NULL;
    GBSI_TRY(take_options(&r.options, options, err));
    GBSI_TRY(check_rows(rows, held_out, &r.options, err));
    const gbs_label_options limits = {.size = sizeof limits,
                                      .time_s = r.options.time_s,
                                      .threads = r.options.threads,
                                      .memory_limit = r.options.memory_limit};
    GBSI_TRY(gbsi_work_begin(&work, &limits, callbacks, 0, err));
    set_sizes(&r);
    GBSI_TRY(learn(&r, held_out, curve, &learnt, &found, err));
    gbsi_struct_give(report, &found, sizeof found);
    *model = learnt;

cleanup:
    gbsi_rbm_free(&r);
    gbsi_work_end(&work);
    return status;
}
