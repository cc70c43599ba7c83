/* SPDX-License-Identifier: Apache-2.0 */
/* A run as a file: first its text (checkpoint_text.c), then its parts in a fixed order. See
 * docs/checkpoint.md.
 */
#include "checkpoint/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "chains/run.h"
#include "checkpoint/checkpoint_text.h"
#include "gibbsite/io.h"

enum { PART_NAME = 16 };

/* ---- where it stands ---- */

static gbsi_standing stand(const gbsi_task *task, const gbsi_sampling *sampling,
                           const gbsi_checkpoints *checkpoints, const gbsi_report *report,
                           const gbsi_drive *drive)
{
    const gbs_report *r = &report->public;
    const gbsi_draw_log *draws = checkpoints->draws;
    char digest[33];
    return (gbsi_standing){
        .phase = sampling->phase,
        .pass = drive->pass,
        .burn_in = r->burn_in,
        .burn_in_most = sampling->burn_in.most,
        .sweeps = r->sweeps,
        .updates = r->updates,
        .chains = r->chains,
        .support = task->problem.support,
        .slow_passes = report->slow_passes,
        .burn_in_agreed = report->burn_in_agreed,
        .starts_dispersed = report->starts_dispersed,
        .bins = gbsi_run_bins(&task->problem, &task->options),
        .cud_bits = task->options.cud_bits,
        .draws = draws == NULL ? 0 : gbsi_draw_log_count(draws, digest),
        .seconds = checkpoints->before_s + gbsi_clock_s() - drive->started_s,
        .target_error = r->target_error,
        .max_mcse = r->max_mcse,
        .max_rhat = r->max_rhat,
        .min_ess = r->min_ess,
        .best = task->purpose.anneals && !task->purpose.up_only ? checkpoints->best : (double)NAN,
        .log_z = task->purpose.up_only ? checkpoints->best : (double)NAN};
}

/* ---- its parts ------------------------------------------------------------------------------- */

static bool burns_in(const gbsi_sampling *sampling)
{
    return sampling->phase == GBSI_PHASE_BURN_IN;
}

static gbs_status save_chains(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_executor_save(&sampling->engine.executor, sink, err);
}

static gbs_status load_chains(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_executor_load(&sampling->engine.executor, source, err);
}

static bool estimates(const gbsi_sampling *sampling)
{
    return sampling->estimates.estimate != NULL;
}

static gbs_status save_estimates(const gbsi_sampling *sampling, const gbsi_sink *sink,
                                 gbs_error *err)
{
    return gbsi_estimate_save(sampling->estimates.estimate, sink, err);
}

static gbs_status load_estimates(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_estimate_load(sampling->estimates.estimate, source, err);
}

static bool counts_moves(const gbsi_sampling *sampling)
{
    return sampling->estimates.moves.n_slots > 0;
}

static bool counts_stays(const gbsi_sampling *sampling)
{
    return sampling->estimates.stays.n_slots > 0;
}

static gbs_status save_all_moves(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_sampling *sampling = object;
    return gbsi_moves_save(&sampling->estimates.moves, &sampling->engine.executor, sink, err);
}

static gbs_status save_moves(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, sampling, save_all_moves, err);
}

static gbs_status load_all_moves(void *object, const gbsi_source *source, gbs_error *err)
{
    gbsi_sampling *sampling = object;
    return gbsi_moves_load(&sampling->estimates.moves, &sampling->engine.executor, source, err);
}

static gbs_status load_moves(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, sampling, load_all_moves, "moves", err);
}

static bool traces(const gbsi_sampling *sampling)
{
    return sampling->estimates.trace != NULL;
}

static gbs_status save_traces(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_trace_save(sampling->estimates.trace, sink, err);
}

static gbs_status load_traces(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_trace_load(sampling->estimates.trace, source, err);
}

static bool monitored(const gbsi_sampling *sampling)
{
    return sampling->monitor.asked;
}

static gbs_status save_monitored(const gbsi_sampling *sampling, const gbsi_sink *sink,
                                 gbs_error *err)
{
    return gbsi_thinned_save(&sampling->monitor.traces, sink, err);
}

static gbs_status load_monitored(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_thinned_load(&sampling->monitor.traces, source, err);
}

static bool observes(const gbsi_sampling *sampling)
{
    return sampling->observed.sums != NULL;
}

static gbs_status save_observed(const gbsi_sampling *sampling, const gbsi_sink *sink,
                                gbs_error *err)
{
    return gbsi_observables_save(sampling->observed.sums, sink, err);
}

static gbs_status load_observed(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_observables_load(sampling->observed.sums, source, err);
}

static gbs_status save_ladders(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_tempered_save(sampling->tempered, sink, err);
}

static gbs_status load_ladders(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_tempered_load(sampling->tempered, sampling->engine.pool, source, err);
}

static const gbsi_part burn_in_part = {"burn-in",        true, false, burns_in, gbsi_burn_in_save,
                                       gbsi_burn_in_load};
static const gbsi_part chains_part = {"chains", true, false, NULL, save_chains, load_chains};
static const gbsi_part estimates_part = {"estimates", true,           false,
                                         estimates,   save_estimates, load_estimates};
static const gbsi_part moves_part = {"moves", true, true, counts_moves, save_moves, load_moves};
static const gbsi_part stays_part = {"stays",         true,           true, counts_stays,
                                     gbsi_stays_save, gbsi_stays_load};
static const gbsi_part traces_part = {"traces", true, false, traces, save_traces, load_traces};
static const gbsi_part monitored_part = {"monitored", false,          false,
                                         monitored,   save_monitored, load_monitored};
static const gbsi_part observed_part = {"observables", true,          false,
                                        observes,      save_observed, load_observed};
static const gbsi_part ladders_part = {"ladders", false, false, NULL, save_ladders, load_ladders};

const gbsi_part *const gbsi_chains_parts[] = {&burn_in_part,   &chains_part,   &estimates_part,
                                              &moves_part,     &stays_part,    &traces_part,
                                              &monitored_part, &observed_part, NULL};
const gbsi_part *const gbsi_ladders_parts[] = {&burn_in_part,   &chains_part,  &estimates_part,
                                               &moves_part,     &stays_part,   &traces_part,
                                               &monitored_part, &ladders_part, NULL};

static bool is_there(const gbsi_part *part, const gbsi_task *task, const gbsi_sampling *sampling)
{
    return !(part->of_chains && gbsi_run_wants_temper(task)) &&
           (part->is_there == NULL || part->is_there(sampling));
}

/* Returns the first part, from `part` on, that this run has. */
static const gbsi_part *const *next_part(const gbsi_task *task, const gbsi_sampling *sampling,
                                         const gbsi_part *const *part)
{
    while (*part != NULL && !is_there(*part, task, sampling)) {
        ++part;
    }
    return part;
}

static gbs_status put_name(const gbsi_sink *sink, const char *name, gbs_error *err)
{
    char padded[PART_NAME] = {0};
    (void)snprintf(padded, sizeof padded, "%s", name);
    return sink->put(sink->context, padded, sizeof padded, err);
}

static gbs_status missing(const char *name, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_FORMAT, "the checkpoint is damaged: its part \"%s\" is missing",
                     name);
}

/* Saves the parts of the runner, then the part of a task that is one call. */
static gbs_status save_parts(const gbsi_task *task, const gbsi_sampling *sampling,
                             const gbsi_checkpoints *checkpoints, const gbsi_sink *sink,
                             gbs_error *err)
{
    const gbsi_more *more = &checkpoints->more;
    const gbsi_part *const *part = next_part(task, sampling, task->runner->parts);
    for (; *part != NULL; part = next_part(task, sampling, part + 1)) {
        GBSI_PASS(put_name(sink, (*part)->name, err));
        GBSI_PASS((*part)->save(sampling, sink, err));
    }
    if (more->name != NULL) {
        GBSI_PASS(put_name(sink, more->name, err));
        GBSI_PASS(gbsi_put_sealed(sink, more->object, more->save, err));
    }
    return GBS_OK;
}

/* Reads the name of the next part into `found`. Does nothing if `found` has a name already, or
 * at the end of the file. */
static gbs_status next_name(const gbsi_checkpoints *checkpoints, const gbsi_source *source,
                            char found[PART_NAME], gbs_error *err)
{
    return found[0] != '\0' || gbsi_kept_left(checkpoints->from) == 0
               ? GBS_OK
               : source->take(source->context, found, PART_NAME, err);
}

gbs_status gbsi_run_load_parts(const gbsi_task *task, gbsi_sampling *sampling,
                               const gbsi_checkpoints *checkpoints, const gbsi_source *source,
                               gbs_error *err)
{
    const gbsi_more *more = &checkpoints->more;
    const gbsi_part *const *part = next_part(task, sampling, task->runner->parts);
    char found[PART_NAME] = {0};
    for (; *part != NULL; part = next_part(task, sampling, part + 1)) {
        GBSI_PASS(next_name(checkpoints, source, found, err));
        if (strncmp(found, (*part)->name, sizeof found) == 0) {
            found[0] = '\0';
            GBSI_PASS((*part)->load(sampling, source, err));
        } else if (!(*part)->may_lack) {
            return missing((*part)->name, err);
        }
    }
    if (more->name != NULL) {
        GBSI_PASS(next_name(checkpoints, source, found, err));
        if (strncmp(found, more->name, sizeof found) != 0) {
            return missing(more->name, err);
        }
        GBSI_PASS(gbsi_take_sealed(source, more->object, more->load, more->name, err));
    }
    return GBS_OK;
}

/* ---- written --------------------------------------------------------------------------------- */

typedef struct kept_run {
    const gbs_run *run;
    const char *text;
    size_t n_text;
} kept_run;

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const kept_run *k = object;
    const uint64_t n = k->n_text;
    GBSI_PASS(gbsi_put_numbers(sink, &n, 1, sizeof n, err));
    GBSI_PASS(sink->put(sink->context, k->text, k->n_text, err));
    return save_parts(&k->run->task, &k->run->sampling, &k->run->checkpoints, sink, err);
}

/* Saving by several ranks. Only rank 0 writes the file. It receives the data of the other ranks
 * part by part and window by window. A file is filled twice, and all ranks therefore send their
 * data twice, even if writing fails. */
typedef struct together {
    const kept_run *kept;
    unsigned n_saved;
    gbs_error *lost; /* failure of communication between ranks, if any */
} together;

static gbs_status save_together(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    together *t = *(together *const *)object;
    ++t->n_saved;
    const gbs_status status = save(t->kept, sink, t->lost);
    return status < 0 ? gbsi_fail(err, status, "%s", t->lost->message) : status;
}

static gbs_status write_together(const kept_run *kept, unsigned n_rooms, gbs_error *why,
                                 gbs_error *err)
{
    const gbs_run *run = kept->run;
    const gbsi_sink nobody = gbsi_memory_sink(NULL);
    gbs_error lost = {GBS_OK, ""};
    together t = {.kept = kept, .lost = &lost};
    together *const object = &t;
    const gbsi_kept_content content = {&object, save_together};
    if (gbsi_run_speaks(run->task.ranks) && why->status >= 0) {
        why->status =
            gbsi_kept_write(run->checkpoints.path, &gbsi_checkpoint_form, &content, n_rooms, why);
    }
    while (t.n_saved < 2 && lost.status >= 0) {
        (void)save_together(&object, &nobody, NULL);
    }
    return lost.status < 0 ? gbsi_fail(err, lost.status, "%s", lost.message) : GBS_OK;
}

/* Writes a checkpoint. @param why out: the reason why the file could not be written, if no other
 * step failed. */
static gbs_status write_checkpoint(gbs_run *run, const gbsi_drive *drive, unsigned n_rooms,
                                   gbs_error *why, gbs_error *err)
{
    gbs_status status = GBS_OK;
    kept_run k = {.run = run};
    const gbsi_kept_content content = {&k, save};
    char *text = NULL;
    if (run->report.public.sweeps > 0) {
        GBSI_TRY(run->task.runner->errors(run, err));
    }
    if (run->sampling.monitor.asked) {
        GBSI_TRY(gbsi_monitor_gather(run->task.ranks, run->task.spread, &run->sampling.engine,
                                     &run->sampling.monitor, err));
    }
    if (run->checkpoints.draws !=
        NULL) { /* draws must be on disk before a checkpoint that counts them */
        why->status = gbsi_draw_log_sync(run->checkpoints.draws, why);
    }
    const gbsi_standing s =
        stand(&run->task, &run->sampling, &run->checkpoints, &run->report, drive);
    GBSI_TRY(gbsi_checkpoint_text(run, &s, &text, &k.n_text, err));
    k.text = text;
    if (run->task.ranks != NULL) {
        status = write_together(&k, n_rooms, why, err);
    } else if (why->status >= 0) {
        why->status =
            gbsi_kept_write(run->checkpoints.path, &gbsi_checkpoint_form, &content, n_rooms, why);
    }
cleanup:
    gbs_free(text);
    return status;
}

/* Warns once that a checkpoint cannot be written. The previous checkpoint still exists, and the run
 * goes on. */
static gbs_status tell(gbsi_checkpoints *checkpoints, gbsi_report *report, const gbs_error *why,
                       gbs_error *err)
{
    if (checkpoints->told) {
        return GBS_OK;
    }
    checkpoints->told = true;
    return gbsi_report_warn(report, err, "a checkpoint could not be written: %s", why->message);
}

gbs_status gbsi_run_keep(gbs_run *run, const gbsi_drive *drive, gbsi_moment moment, gbs_error *err)
{
    gbsi_checkpoints *c = &run->checkpoints;
    gbs_error why = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    if (c->path == NULL) {
        return GBS_OK;
    }
    if (moment == GBSI_BEFORE_PASSES) {
        c->begun = drive->stop == GBSI_GO_ON;
        c->last_s = gbsi_clock_s();
        GBSI_TRY(c->begun ? write_checkpoint(run, drive, 2, &why, err) : GBS_OK);
        return why.status < 0 ? gbsi_fail(err, why.status, "%s", why.message) : GBS_OK;
    }
    bool due = moment == GBSI_AFTER_PASSES ||
               gbsi_clock_s() - c->last_s >= run->task.options.checkpoint_every_s;
    GBSI_TRY(gbsi_run_any(run->task.ranks, &due, err));
    if (!c->begun || !due) {
        return GBS_OK;
    }
    const bool alone = run->task.ranks == NULL;
    status = write_checkpoint(run, drive, 1, &why, alone ? &why : err);
    c->last_s = gbsi_clock_s();
    if (alone || status >= 0) { /* ranks that did not reach the meeting point cannot go on */
        status = status < 0 || why.status < 0 ? tell(&run->checkpoints, &run->report, &why, err)
                                              : GBS_OK;
    }
cleanup:
    return status;
}

/* Checks that checkpoints of the run can be written, or that the run can resume from its
 * checkpoint. */
static gbs_status check_run(const gbsi_runner *plain, const gbsi_engine *engine,
                            const gbsi_report *report, const char *option, gbs_error *err)
{
    const gbsi_draw *draw = engine->executor.draw;
    if (report->executed) {
        return gbsi_fail(err, GBS_ERR_STATE, "--%s: this run was executed before", option);
    }
    if (report->bare) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "--%s: this run has no factors by which its model could be told again",
                         option);
    }
    return !gbsi_runner_shares(plain) || draw->save == NULL || draw->weave != NULL
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "--%s: draw %s cannot be kept where ranks share the model", option,
                           draw->name);
}

gbs_status gbs_run_checkpoint(gbs_run *run, const char *path, gbs_error *err)
{
    GBSI_NEED(run, path);
    gbs_status status = GBS_OK;
    const size_t n = strlen(path) + 1;
    char *copy = NULL;
    const char *no_locks = NULL;
    GBSI_TRY(check_run(run->task.plain, &run->sampling.engine, &run->report, "checkpoint", err));
    copy = gbsi_alloc(n);
    GBSI_PASS(GBSI_HAVE(err, path, copy));
    memcpy(copy, path, n);
    if (gbsi_run_speaks(run->task.ranks)) {
        GBSI_TRY(gbsi_kept_lock_take(&run->checkpoints.lock, path, &gbsi_checkpoint_form, &no_locks,
                                     err));
    }
    if (no_locks != NULL) {
        GBSI_TRY(gbsi_report_warn(&run->report, err,
                                  "%s: this file system has no locks (%s): see to it that no other "
                                  "run writes the file",
                                  path, no_locks));
    }
    if (run->checkpoints.draws != NULL) {
        GBSI_TRY(gbsi_draw_log_write_beside(run->checkpoints.draws, path, err));
    }
    gbsi_free(run->checkpoints.path);
    run->checkpoints.path = copy;
    copy = NULL;
    if (run->task.problem.part == NULL) {
        status = gbsi_report_warn(&run->report, err, "%s, so that no checkpoint is written",
                                  run->task.purpose.draws ? "draws are exact and made at once"
                                                          : "nothing is sampled");
    }
cleanup:
    gbsi_free(copy);
    return status;
}

gbs_status gbs_run_keep_draws(gbs_run *run, const uint32_t *variable, uint32_t n, gbs_error *err)
{
    GBSI_NEED(run);
    gbs_status status = GBS_OK;
    gbsi_checkpoints *c = &run->checkpoints;
    gbsi_draw_log *log = NULL;
    const uint32_t *chosen = NULL;
    if (run->report.executed || c->path != NULL || c->from != NULL) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "which draws are kept is said before checkpoints are, and the run");
    }
    if (gbsi_runner_shares(run->task.plain) && run->task.shared.user == NULL) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "draws of a model that ranks share: gbs_run_name_variables() comes first");
    }
    GBSI_TRY(gbsi_draw_log_new(gbsi_run_user_model(&run->task.shared, &run->task.problem), variable,
                               n, &log, err));
    n = gbsi_draw_log_variables(log, &chosen);
    GBSI_TRY(gbsi_run_note_variables(&run->checkpoints, GBSI_INPUT_DRAWS, chosen, n, err));
    if (gbsi_run_speaks(run->task.ranks)) { /* rank 0 receives the parts of all ranks */
        gbsi_draw_log_free(c->draws);
        c->draws = log;
        log = NULL;
    }
cleanup:
    gbsi_draw_log_free(log);
    return status;
}

/* ---- read ---- */

gbs_status gbs_run_resume(gbs_run *run, const char *path, gbs_error *err)
{
    GBSI_NEED(run, path);
    gbs_status status = GBS_OK;
    gbsi_kept *kept = NULL;
    char *text = NULL;
    gbsi_standing s;
    GBSI_TRY(check_run(run->task.plain, &run->sampling.engine, &run->report, "resume", err));
    if (run->task.problem.part == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: nothing is sampled in this run, so that it cannot go on", path);
    }
    GBSI_TRY(gbsi_checkpoint_open(path, &kept, &text, err));
    GBSI_TRY(gbsi_text_standing(path, text, &s, err));
    GBSI_TRY(gbsi_text_check(run, path, text, &s, err));
    if (run->checkpoints.draws != NULL) {
        char digest[33];
        gbsi_text_line(text, "draws", digest, sizeof digest);
        GBSI_TRY(gbsi_draw_log_open(run->checkpoints.draws, path, s.draws, (uint32_t)s.chains,
                                    digest, err));
    }
    gbsi_kept_close(run->checkpoints.from);
    gbsi_free(run->checkpoints.text);
    run->checkpoints.from = kept;
    run->checkpoints.text = text;
    kept = NULL;
    text = NULL;
cleanup:
    gbsi_kept_close(kept);
    gbsi_free(text);
    return status;
}

gbs_status gbsi_run_take_files(gbs_run *run, const gbs_checkpoint_files *files, gbs_error *err)
{
    if (files != NULL && files->resume != NULL) {
        GBSI_PASS(gbs_run_resume(run, files->resume, err));
    }
    if (files != NULL && files->write != NULL) {
        GBSI_PASS(gbs_run_checkpoint(run, files->write, err));
    }
    return GBS_OK;
}

void gbsi_checkpoints_free(gbsi_checkpoints *c)
{
    gbsi_kept_lock_release(&c->lock);
    gbsi_kept_close(c->from);
    GBSI_FREE(c->text, c->path);
    gbsi_draw_log_free(c->draws);
}
