/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a checkpoint: lines NAME=VALUE that identify the run and give its progress. */
#include "checkpoint/checkpoint_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "chains/run.h"
#include "decimal/decimal.h"
#include "gibbsite/io.h"
#include "options/options.h"
#include "text/output.h"

enum { VALUE = 160 };

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- what may differ, and what is decided while a run is executed --------------------------- */

static const char *const may_differ[] = {"sweeps",      "target-error", "time",
                                         "max-updates", "threads",      "memory-limit",
                                         "budget",      "least-chains", "checkpoint-every"};
/* Options among `may_differ` that depend on the machine, and are not read from a file. */
static const char *const of_machine[] = {"time", "threads", "memory-limit", "least-chains",
                                         "checkpoint-every"};
static const char *const decided[] = {"scan", "width", "splash-size", "grow", "threshold"};

static bool is_in(const char *const *list, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(list[i], name) != 0) {
        ++i;
    }
    return i < n;
}

static const struct {
    const char *name, *message;
} inputs[GBSI_N_INPUTS] = {
    [GBSI_INPUT_EVIDENCE] = {"evidence", "the evidence is not that of the checkpoint"},
    [GBSI_INPUT_START] = {"start", "--start: not the start of the checkpoint's run"},
    [GBSI_INPUT_SCAN] = {"scan-file", "--scan: not the scan file of the checkpoint's run"},
    [GBSI_INPUT_EDGES] = {"dummy-edges", "--dummy-edges: not those of the checkpoint's run"},
    [GBSI_INPUT_TARGET] = {"target", "--target: not the variables of the checkpoint's run"},
    [GBSI_INPUT_DRAWS] = {"draws-of",
                          "--monitor or --joint: other variables than those of the checkpoint's "
                          "draws, or it has none"},
    [GBSI_INPUT_MONITOR] = {"monitor", "--monitor: not the variables of the checkpoint's run"},
    [GBSI_INPUT_QUERY] = {"query", "--query: not the variables of the checkpoint's run, which left "
                                   "out what they do not need"},
    [GBSI_INPUT_OBSERVABLES] =
        {"observables", "--observables: either this run or the checkpoint's run keeps none"},
};

/* @param text [33] */
static gbs_status digest_u32(const uint32_t *value, size_t n, const double *more, size_t n_more,
                             char *text, gbs_error *err)
{
    gbsi_digest *digest = NULL;
    const gbs_status status = gbsi_digest_new(&digest, err);
    if (status >= 0) {
        gbsi_digest_u32(digest, value, n);
        gbsi_digest_f64(digest, more, n_more);
        gbsi_digest_text(digest, text);
    }
    gbsi_digest_free(digest);
    return status;
}

gbs_status gbsi_run_note_inputs(gbsi_problem *problem, gbsi_checkpoints *checkpoints,
                                const gbs_evidence *evidence, const gbs_run_options *o,
                                gbs_error *err)
{
    const gbs_model *model = problem->model;
    const size_t n = model->n_variables;
    const double *likelihood = evidence == NULL ? NULL : evidence->log_likelihood;
    char(*text)[33] = checkpoints->input;
    if (evidence != NULL && (evidence->n_observed > 0 || likelihood != NULL)) {
        GBSI_PASS(digest_u32(evidence->state, n, likelihood,
                             likelihood == NULL ? 0 : model->state_offset[n],
                             text[GBSI_INPUT_EVIDENCE], err));
    }
    if (o->start != NULL) {
        GBSI_PASS(digest_u32(o->start, n, NULL, 0, text[GBSI_INPUT_START], err));
    }
    if (o->sequence != NULL) {
        GBSI_PASS(digest_u32(o->sequence, o->sequence_length, NULL, 0, text[GBSI_INPUT_SCAN], err));
    }
    if (o->dummy_edges != NULL) {
        GBSI_PASS(
            digest_u32(o->dummy_edges, 2 * o->n_dummy_edges, NULL, 0, text[GBSI_INPUT_EDGES], err));
    }
    if (o->target != NULL) {
        GBSI_PASS(digest_u32(o->target, o->n_targets, NULL, 0, text[GBSI_INPUT_TARGET], err));
    }
    return GBS_OK;
}

gbs_status gbsi_run_note_variables(gbsi_checkpoints *checkpoints, gbsi_input input,
                                   const uint32_t *variable, size_t n, gbs_error *err)
{
    return digest_u32(variable, n, NULL, 0, checkpoints->input[input], err);
}

/* Returns a name for the purpose of the run. A checkpoint can only be resumed by a run with the
 * same purpose. */
static const char *task_of(const gbsi_run_purpose *purpose)
{
    return purpose->up_only   ? "logz"
           : purpose->anneals ? "map"
           : purpose->draws   ? "sample"
                              : "marginals";
}

gbs_status gbsi_digest_exact(const gbsi_report *report, const gbsi_problem *problem, char *text,
                             gbs_error *err)
{
    gbsi_digest *digest = NULL;
    text[0] = '\0';
    if (report->public.n_exact_variables == 0) {
        return GBS_OK;
    }
    const gbs_status status = gbsi_digest_new(&digest, err);
    if (status >= 0) {
        gbsi_digest_u8(digest, problem->exact, problem->components->n);
        gbsi_digest_text(digest, text);
    }
    gbsi_digest_free(digest);
    return status;
}

/* The number of bins of the drawing method, which depends on the length of the run. */
uint64_t gbsi_run_bins(const gbsi_problem *problem, const gbs_run_options *options)
{
    return gbsi_draw_bins(options, problem->n_sampled);
}

/* ---- numbers ---- */

static const struct {
    const char *name;
    size_t offset;
    bool is_real;
} numbers[] = {
    {"phase", offsetof(gbsi_standing, phase), false},
    {"pass", offsetof(gbsi_standing, pass), false},
    {"burn-in", offsetof(gbsi_standing, burn_in), false},
    {"burn-in-most", offsetof(gbsi_standing, burn_in_most), false},
    {"sweeps", offsetof(gbsi_standing, sweeps), false},
    {"updates", offsetof(gbsi_standing, updates), false},
    {"chains", offsetof(gbsi_standing, chains), false},
    {"support", offsetof(gbsi_standing, support), false},
    {"slow-passes", offsetof(gbsi_standing, slow_passes), false},
    {"burn-in-agreed", offsetof(gbsi_standing, burn_in_agreed), false},
    {"starts-dispersed", offsetof(gbsi_standing, starts_dispersed), false},
    {"bins", offsetof(gbsi_standing, bins), false},
    {"cud-bits", offsetof(gbsi_standing, cud_bits), false},
    {"draws", offsetof(gbsi_standing, draws), false},
    {"seconds", offsetof(gbsi_standing, seconds), true},
    {"target-error", offsetof(gbsi_standing, target_error), true},
    {"largest-error", offsetof(gbsi_standing, max_mcse), true},
    {"largest-rhat", offsetof(gbsi_standing, max_rhat), true},
    {"smallest-ess", offsetof(gbsi_standing, min_ess), true},
    {"best", offsetof(gbsi_standing, best), true},
    {"log-z", offsetof(gbsi_standing, log_z), true},
};

/* ---- the text -------------------------------------------------------------------------------- */

static void put_line(gbs_output *out, const char *group, const char *name, const char *value)
{
    gbsi_output_text(out, group);
    gbsi_output_text(out, name);
    gbsi_output_text(out, "=");
    gbsi_output_text(out, value);
    gbsi_output_text(out, "\n");
}

static void put_option(gbs_output *out, const char *group, const gbs_run_options *options,
                       const char *name)
{
    char value[VALUE] = "";
    if (gbs_option_get(options, name, value, sizeof value, NULL) >= 0) {
        put_line(out, group, name, value);
    }
}

static void put_inputs(gbs_output *out, const gbsi_checkpoints *checkpoints)
{
    for (size_t i = 0; i < N_OF(inputs); ++i) {
        put_line(out, "", inputs[i].name, checkpoints->input[i]);
    }
}

static void put_options(gbs_output *out, const gbsi_checkpoints *checkpoints)
{
    for (size_t i = 0; i < gbsi_n_options; ++i) {
        const char *name = gbsi_options[i].shown.name;
        if (!is_in(of_machine, N_OF(of_machine), name)) {
            put_option(out, "--", &checkpoints->asked, name);
        }
    }
}

gbs_status gbsi_identity_text(const gbs_run *run, char **text, size_t *n, gbs_error *err)
{
    gbs_output *out = NULL;
    GBSI_PASS(gbs_output_open_memory(&out, err));
    put_line(out, "", "version", gbs_version());
    put_line(out, "", "task", task_of(&run->task.purpose));
    put_line(out, "", "model", gbs_run_model_digest(run));
    put_inputs(out, &run->checkpoints);
    put_options(out, &run->checkpoints);
    return gbs_output_take(out, text, n, err);
}

gbs_status gbsi_files_text(const gbs_run *run, char **text, size_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_checkpoints *c = &run->checkpoints;
    gbs_output *out = NULL;
    gbsi_digest *digest = NULL;
    char from[33] = "no";
    if (c->text != NULL) {
        GBSI_TRY(gbsi_digest_new(&digest, err));
        gbsi_digest_bytes(digest, c->text, strlen(c->text));
        gbsi_digest_text(digest, from);
    }
    GBSI_TRY(gbs_output_open_memory(&out, err));
    put_inputs(out, &run->checkpoints);
    put_line(out, "--", "checkpoint", c->path == NULL ? "no" : "yes");
    put_line(out, "--", "resume", from);
    status = gbs_output_take(out, text, n, err);
cleanup:
    gbsi_digest_free(digest);
    return status;
}

gbs_status gbsi_checkpoint_text(const gbs_run *run, const gbsi_standing *s, char **text, size_t *n,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *out = NULL;
    char exact[33];
    char draws[33] = "";
    char parts[GBSI_PARTS_TEXT];
    GBSI_TRY(gbsi_digest_exact(&run->report, &run->task.problem, exact, err));
    if (run->checkpoints.draws != NULL) {
        (void)gbsi_draw_log_count(run->checkpoints.draws, draws);
    }
    GBSI_TRY(gbs_output_open_memory(&out, err));
    put_line(out, "", "version", gbs_version());
    put_line(out, "", "task", task_of(&run->task.purpose));
    put_line(out, "", "model", gbs_run_model_digest(run));
    put_line(out, "", "exact", exact);
    put_inputs(out, &run->checkpoints);
    gbsi_shared_parts(&run->sampling.engine, &run->task.shared, parts);
    put_line(out, "", "parts", parts);
    put_line(out, "", "draws", draws);
    put_options(out, &run->checkpoints);
    for (size_t i = 0; i < N_OF(decided); ++i) {
        put_option(out, "decided-", &run->task.options, decided[i]);
    }
    for (size_t i = 0; i < N_OF(numbers); ++i) {
        const char *at = (const char *)s + numbers[i].offset;
        char value[32];
        if (numbers[i].is_real) {
            (void)gbsi_format_double(*(const double *)(const void *)at, value);
        } else {
            (void)snprintf(value, sizeof value, "%" PRIu64, *(const uint64_t *)(const void *)at);
        }
        put_line(out, "at-", numbers[i].name, value);
    }
    gbs_output *whole = out;
    out = NULL;
    GBSI_TRY(gbs_output_take(whole, text, n, err));
cleanup:
    gbs_output_discard(out);
    return status;
}

/* Finds the value of a line of the text. @param value [VALUE] out. @return false if the text has no
 * such line. */
static bool find_line(const char *text, const char *group, const char *name, char *value)
{
    const size_t n_group = strlen(group);
    const size_t n_name = strlen(name);
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, group, n_group) == 0 && strncmp(at + n_group, name, n_name) == 0 &&
            at[n_group + n_name] == '=') {
            const char *from = at + n_group + n_name + 1;
            const size_t n = strcspn(from, "\n");
            if (n < VALUE) {
                memcpy(value, from, n);
                value[n] = '\0';
                return true;
            }
        }
    }
    return false;
}

/* The value of an option of the run. Older versions wrote --damping=1 for a damping that is not
 * set; runs with checkpoints have no damping.
 * @param value [VALUE] out. @return false if the text has no such line. */
static bool find_option(const char *text, const char *name, char *value)
{
    const bool found = find_line(text, "--", name, value);
    if (found && strcmp(name, "damping") == 0 && strcmp(value, "1") == 0) {
        (void)snprintf(value, VALUE, "auto");
    }
    return found;
}

/* Whether files of older versions may lack the line; the value of a missing line is read as 0. */
static bool is_later(const char *name)
{
    return strcmp(name, "burn-in-most") == 0;
}

gbs_status gbsi_text_standing(const char *path, const char *text, gbsi_standing *s, gbs_error *err)
{
    for (size_t i = 0; i < N_OF(numbers); ++i) {
        char *at = (char *)s + numbers[i].offset;
        char value[VALUE];
        if (!find_line(text, "at-", numbers[i].name, value)) {
            (void)snprintf(value, sizeof value, "%s", is_later(numbers[i].name) ? "0" : "");
        }
        bool too_large = false;
        const bool is_number =
            numbers[i].is_real
                ? gbsi_decimal_read(value, strlen(value), (double *)(void *)at) == GBSI_DECIMAL_OK
                : gbsi_integer_read(value, strlen(value), UINT64_MAX, (uint64_t *)(void *)at,
                                    &too_large);
        if (!is_number) {
            return gbsi_fail(err, GBS_ERR_FORMAT, "%s: the line at-%s is missing or no number",
                             path, numbers[i].name);
        }
    }
    return s->phase <= GBSI_PHASE_CLIMBING && s->support <= GBSI_SUPPORT_DISCONNECTED
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_FORMAT, "%s: no such phase or support", path);
}

/* ---- compared ---- */

static gbs_status need_same(const char *path, const char *what, const char *saved, const char *own,
                            gbs_error *err)
{
    return strcmp(saved, own) == 0
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %s %s, this is %s", path, what, saved, own);
}

static gbs_status check_option(const gbsi_runner *plain, const gbsi_checkpoints *checkpoints,
                               const char *path, const char *text, const char *name, gbs_error *err)
{
    char saved[VALUE];
    char own[VALUE] = "";
    GBSI_PASS(gbs_option_get(&checkpoints->asked, name, own, sizeof own, err));
    if (!find_option(text, name, saved)) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: the line --%s is missing", path, name);
    }
    const bool fixed =
        gbsi_runner_shares(plain) && (strcmp(name, "method") == 0 || strcmp(name, "lattice") == 0);
    return strcmp(saved, own) == 0
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: a checkpoint of a run with --%s %s, this run has --%s %s%s", path,
                           name, saved, name, own,
                           fixed ? ": ranks that share a model go on with runs begun with --method "
                                   "sample --lattice never"
                                 : "");
}

static gbs_status check_identity(const gbs_run *run, const char *path, const char *text,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    char saved[VALUE] = "";
    char exact[33];
    char parts[GBSI_PARTS_TEXT];
    (void)find_line(text, "", "version", saved);
    GBSI_TRY(need_same(path, "a checkpoint of gibbsite", saved, gbs_version(), err));
    gbsi_text_line(text, "task", saved, sizeof saved);
    GBSI_TRY(need_same(path, "a checkpoint of the task", saved, task_of(&run->task.purpose), err));
    (void)find_line(text, "", "model", saved);
    GBSI_TRY(need_same(path, "a checkpoint of the model with digest", saved,
                       gbs_run_model_digest(run), err));
    for (size_t i = 0; i < gbsi_n_options; ++i) {
        const char *name = gbsi_options[i].shown.name;
        if (!is_in(may_differ, N_OF(may_differ), name)) {
            GBSI_TRY(check_option(run->task.plain, &run->checkpoints, path, text, name, err));
        }
    }
    for (size_t i = 0; i < N_OF(inputs); ++i) {
        if (!find_line(text, "", inputs[i].name, saved) ||
            strcmp(saved, run->checkpoints.input[i]) != 0) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %s", path, inputs[i].message));
        }
    }
    gbsi_shared_parts(&run->sampling.engine, &run->task.shared, parts);
    gbsi_text_line(text, "parts", saved, sizeof saved);
    GBSI_TRY(need_same(path, "splashes follow the parts of the model: a checkpoint of", saved,
                       parts, err));
    GBSI_TRY(gbsi_digest_exact(&run->report, &run->task.problem, exact, err));
    if (!find_line(text, "", "exact", saved) || strcmp(saved, exact) != 0) {
        status = gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: other components of the model are answered exactly than in the "
                           "checkpoint's run; --time, --budget and --memory-limit decide that",
                           path);
    }
cleanup:
    return status;
}

/* Replaces options by the values that the run chose during its execution. */
gbs_status gbsi_text_decided(const char *path, const char *text, gbs_run_options *options,
                             gbs_error *err)
{
    for (size_t i = 0; i < N_OF(decided); ++i) {
        char value[VALUE];
        char own[VALUE] = "";
        GBSI_PASS(gbs_option_get(options, decided[i], own, sizeof own, err));
        if (!find_line(text, "decided-", decided[i], value)) {
            return gbsi_fail(err, GBS_ERR_FORMAT, "%s: the line decided-%s is missing", path,
                             decided[i]);
        }
        if (strcmp(value, own) != 0) {
            GBSI_PASS(gbs_option_set(options, decided[i], value, err));
        }
    }
    return GBS_OK;
}

/* Checks the length of an annealing, on which its temperatures depend. */
static gbs_status check_schedule(const gbsi_checkpoints *checkpoints, const char *path,
                                 const char *text, gbs_error *err)
{
    char saved[VALUE] = "";
    char own[VALUE] = "";
    (void)find_line(text, "--", "sweeps", saved);
    GBSI_PASS(gbs_option_get(&checkpoints->asked, "sweeps", own, sizeof own, err));
    return strcmp(saved, own) == 0
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: --sweeps %s: the temperatures of an annealing follow from its "
                           "length, which was %s: leave it as it was",
                           path, own, saved);
}

/* Checks the options for the length of the run, which the user may change as long as the run goes
 * on in the same way. */
static gbs_status check_length(const gbsi_task *task, const gbsi_checkpoints *checkpoints,
                               const char *path, const char *text, const gbsi_standing *s,
                               gbs_error *err)
{
    gbs_run_options options = task->options;
    const bool anneals = task->purpose.anneals && !gbsi_runner_climbs(task->runner);
    if (anneals) {
        GBSI_PASS(check_schedule(checkpoints, path, text, err));
    }
    GBSI_PASS(gbsi_text_decided(path, text, &options, err));
    GBSI_PASS(gbsi_shared_check_scan(task->plain, &task->shared, path, options.scan, err));
    if (s->bins != gbsi_run_bins(&task->problem, &options)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: the number of bins follows from --sweeps or --target-error, and "
                         "these give %" PRIu64 " in place of %" PRIu64 ": leave them as they were",
                         path, gbsi_run_bins(&task->problem, &options), s->bins);
    }
    if (s->cud_bits != options.cud_bits) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: the shift register follows from --sweeps or --target-error, and "
                         "these give --cud-bits %" PRIu64 " in place of %" PRIu64
                         ": leave them as they were",
                         path, options.cud_bits, s->cud_bits);
    }
    if (!anneals && options.sweeps > 0 && s->sweeps > options.sweeps) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: --sweeps %" PRIu64 ": %" PRIu64 " were kept already", path,
                         options.sweeps, s->sweeps);
    }
    return GBS_OK;
}

gbs_status gbsi_text_check(const gbs_run *run, const char *path, const char *text,
                           const gbsi_standing *s, gbs_error *err)
{
    const gbs_status status = check_identity(run, path, text, err);
    return status < 0 ? status : check_length(&run->task, &run->checkpoints, path, text, s, err);
}

void gbsi_text_line(const char *text, const char *name, char *value, size_t n)
{
    char whole[VALUE] = "";
    (void)find_line(text, "", name, whole);
    (void)snprintf(value, n, "%.*s", (int)n - 1, whole);
}

gbs_status gbsi_text_options(const char *text, gbs_run_options *options, gbs_error *err)
{
    for (size_t i = 0; i < gbsi_n_options; ++i) {
        char value[VALUE];
        const char *name = gbsi_options[i].shown.name;
        /* Versions that gave splash-size a fixed default wrote it for every scan. */
        const bool applies = strcmp(name, "splash-size") != 0 ||
                             (gbsi_scan_traits(options->scan) & GBSI_SCAN_BLOCKS) != 0;
        if (applies && find_option(text, name, value)) {
            GBSI_PASS(gbs_option_set(options, name, value, err));
        }
    }
    return GBS_OK;
}
