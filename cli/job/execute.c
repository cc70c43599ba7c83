/* SPDX-License-Identifier: Apache-2.0 */
/* A run, from its options to its verdict, for all verbs that sample. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "draws/series.h"
#include "draws/traces.h"
#include "job.h"
#include "ranks.h"
#include "shares.h"
#include "src/core/base/plural.h"
#include "src/engine/options/needs.h"

/*
 * Options whose rows need "sampled" apply to sampling only (gibbsite-marginals(1), --method). If
 * one of these options was given, even with its default value, `--method auto` means `sample`. The
 * library sees values only, not which options were given, so the program decides this here. */
const char *cli_sampled_option(const cli_arguments *arguments)
{
    for (size_t i = 0; i < arguments->verb->n_options; i++) {
        const cli_option *option = &arguments->verb->options[i];
        if (arguments->given[i] && gbsi_needs_have(option->needs, "sampled")) {
            return option->name;
        }
    }
    return NULL;
}

/* Refuses herding options, even with their default values, for draws that do not use these options.
 * The library sees values only, not which options were given. */
static int check_herding(const cli_arguments *arguments)
{
    for (size_t i = 0; i < arguments->verb->n_options; i++) {
        const cli_option *option = &arguments->verb->options[i];
        gbs_error err = {GBS_OK, ""};
        if (arguments->given[i] && gbsi_needs_have(option->needs, "draw has keys") &&
            gbsi_draw_takes_herding(arguments->run.draw, option->name, &err) < 0) {
            return cli_error(CLI_USAGE, "%s", err.message);
        }
    }
    return CLI_DONE;
}

/* Files that a run writes in addition to the result, in the order of their options. */
typedef struct beside {
    const char *name, *path;
} beside;

/* Checks the path of a file that is written in addition to the result and to the n files before it.
 */
static int check_beside(const cli_arguments *arguments, const beside *before, size_t n,
                        const beside *file)
{
    const char *output = arguments->output;
    if (file->path == NULL) {
        return CLI_DONE;
    }
    if (strcmp(file->path, "-") == 0) {
        return cli_error(CLI_USAGE,
                         "--%s -: standard output is for the result; name a file instead",
                         file->name);
    }
    if (output != NULL && strcmp(file->path, output) == 0) {
        return cli_error(CLI_USAGE, "--output and --%s name the same file %s", file->name, output);
    }
    for (size_t i = 0; i < n; i++) {
        if (before[i].path != NULL && strcmp(before[i].path, file->path) == 0) {
            return cli_error(CLI_USAGE, "--%s and --%s name the same file %s", before[i].name,
                             file->name, file->path);
        }
    }
    return cli_check_output(file->path);
}

/* Refuses a result whose name is that of a file that belongs to the checkpoint, such as PATH~. */
static int check_companion(const cli_arguments *arguments, const char *name, const char *path)
{
    const char *checkpoint = arguments->checkpoint;
    gbs_error err = {GBS_OK, ""};
    bool belongs = false;
    if (path == NULL || checkpoint == NULL) {
        return CLI_DONE;
    }
    const gbs_status status = gbsi_kept_owns(checkpoint, path, &belongs, &err);
    return status < 0 ? cli_fail(status, &err)
           : belongs  ? cli_error(CLI_USAGE, "--%s %s: --checkpoint %s writes a file of that name",
                                  name, path, checkpoint)
                      : CLI_DONE;
}

int cli_check_outputs(const cli_arguments *arguments)
{
    const beside file[] = {{"summary", arguments->summary},
                           {"series", arguments->series},
                           {"report", arguments->report},
                           {"drawing", arguments->drawing},
                           {"checkpoint", arguments->checkpoint}};
    enum { N = sizeof file / sizeof file[0] };
    CLI_PASS(check_companion(arguments, "output", arguments->output));
    for (size_t i = 0; i < N; i++) {
        CLI_PASS(check_companion(arguments, file[i].name, file[i].path));
    }
    CLI_PASS(cli_check_output(arguments->output));
    for (size_t i = 0; i < N; i++) {
        CLI_PASS(check_beside(arguments, file, i, &file[i]));
    }
    return CLI_DONE;
}

static int refuse_sampled(const char *given, const char *method)
{
    return given == NULL || strcmp(given, "max-updates") == 0
               ? CLI_DONE
               : cli_error(CLI_USAGE, "--%s cannot apply with --method %s", given, method);
}

int cli_check_method(const cli_arguments *arguments)
{
    return arguments->run.method == GBS_METHOD_EXACT
               ? refuse_sampled(cli_sampled_option(arguments), "exact")
               : CLI_DONE;
}

int cli_approximates(const cli_arguments *arguments)
{
    return arguments->run.method == GBS_METHOD_MEAN_FIELD ||
           arguments->run.method == GBS_METHOD_BELIEF;
}

int cli_is_approximate(const gbs_report *report)
{
    return strcmp(report->method, "bp") == 0 || strcmp(report->method, "mean-field") == 0;
}

int cli_settle(cli_arguments *arguments, gbs_method forced)
{
    int status = CLI_DONE;
    const char *given = cli_sampled_option(arguments);
    gbs_run_options *options = &arguments->run;
    const int unsampled = options->method == GBS_METHOD_EXACT || cli_approximates(arguments);
    const char *name = options->method == GBS_METHOD_EXACT    ? "exact"
                       : options->method == GBS_METHOD_BELIEF ? "bp"
                                                              : "mean-field";
    if (forced == GBS_METHOD_SAMPLE && unsampled) {
        return options->method == GBS_METHOD_EXACT
                   ? cli_error(CLI_USAGE, "--method %s: '%s' takes auto|sample here", name,
                               arguments->verb->name)
                   : cli_error(CLI_USAGE,
                               "--method %s has probabilities and no draws: for these type "
                               "'gibbsite marginals ... --method %s'; '%s' takes --method auto or "
                               "sample",
                               name, name, arguments->verb->name);
    }
    if (given == NULL && cli_approximates(arguments)) {
        given = cli_given(arguments, "target-error") ? "target-error"
                : cli_given(arguments, "seed")       ? "seed"
                                                     : NULL;
    }
    if (forced == GBS_METHOD_EXACT) {
        options->method = GBS_METHOD_EXACT;
    } else if (unsampled) {
        status = refuse_sampled(given, name);
    }
    if (options->method == GBS_METHOD_AUTO && given != NULL && arguments->resume == NULL) {
        options->method = GBS_METHOD_SAMPLE;
    }
    if (status == CLI_DONE) {
        status = check_herding(arguments);
    }
    return status == CLI_DONE ? cli_check_outputs(arguments) : status;
}

typedef struct watch {
    cli_bar bar;
    int pipe; /* results are written to standard output during the run */
} watch;

static int on_progress(void *context, const gbs_progress *progress)
{
    watch *w = context;
    cli_bar_update(&w->bar, progress);
    if (cli_signals_asked()) {
        cli_bar_tell(&w->bar, progress);
    }
    return cli_signals_caught() || (w->pipe && cli_reader_gone());
}

/* Context of the callbacks of a run. The library passes one context to all callbacks, but the draw
 * callback of the caller has a context of its own. */
typedef struct both {
    watch w; /* `w` is the first member, because on_progress() casts the context to watch */
    gbs_status (*draw)(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *state, gbs_error *err);
    void *context;
    cli_series *series; /* NULL without --series */
} both;

static gbs_status on_observed(void *context, uint64_t sweep, uint32_t chain,
                              const gbs_observed *observed, gbs_error *err)
{
    (void)sweep;
    return cli_series_put(((both *)context)->series, chain, observed, err);
}

static gbs_status on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                          const uint32_t *state, gbs_error *err)
{
    both *b = context;
    return b->draw(b->context, draw, chain, log_density, state, err);
}

static gbs_status new_run(cli_job *job, int draws, gbs_error *err)
{
    if (job->make_run != NULL) {
        return job->make_run(job, err);
    }
    if (cli_here.by_model) {
        return cli_new_shared_run(job, draws, err);
    }
    const int some = !draws && !cli_monitors(job->arguments);
    const gbs_run_setup setup = {.size = sizeof setup,
                                 .model = job->model,
                                 .evidence = job->evidence,
                                 .options = &job->options,
                                 .task = draws ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS,
                                 .ranks = cli_here.ranks,
                                 .query = some ? job->query : NULL,
                                 .n_query = some && job->query != NULL ? job->n_query : 0,
                                 .observables = cli_observes(job->arguments)};
    return gbs_run_new_with(&setup, &job->run, err);
}

int cli_execute(cli_job *job,
                gbs_status (*draw)(void *context, uint64_t draw, uint32_t chain, double log_density,
                                   const uint32_t *state, gbs_error *err),
                void *context, int *stopped)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    both b;
    memset(&b, 0, sizeof b);
    b.draw = draw;
    b.context = context;
    b.w.pipe = draw != NULL && (arguments->output == NULL || strcmp(arguments->output, "-") == 0);
    cli_signals_tell();
    int begun = cli_meet(CLI_DONE);
    begun = begun == CLI_DONE ? cli_meet_divided(job) : begun;
    if (begun != CLI_DONE) {
        return begun;
    }
    gbs_status status = new_run(job, draw != NULL, &err);
    if (status < 0) {
        return cli_meet(cli_fail(status, &err));
    }
    if (job->series_path != NULL) {
        status =
            cli_series_new(job->series_path, gbs_run_report(job->run)->chains, &job->series, &err);
        if (status < 0) {
            return cli_meet(cli_fail(status, &err));
        }
    }
    b.series = job->series;
    /* if draws are written, --monitor names the variables of the draws */
    begun = draw == NULL ? cli_monitor(job) : CLI_DONE;
    begun = begun == CLI_DONE ? cli_begin_checkpoints(job, draw != NULL) : begun;
    begun = cli_meet(begun);
    if (begun != CLI_DONE) {
        return begun;
    }
    cli_signals_catch(); /* before this call, a signal ends the program */
    if (arguments->verbose) {
        const gbs_report *report = gbs_run_report(job->run);
        cli_note(arguments,
                 "%" PRIu32 " of %" PRIu32 " variable%s free, %" PRIu32 " component%s, %" PRIu32
                 " colour%s, %" PRIu64 " batch%s; %.1f MiB; kernels %s",
                 report->n_free_variables, gbs_model_n_variables(job->model),
                 gbsi_plural(gbs_model_n_variables(job->model)), report->n_components,
                 gbsi_plural(report->n_components), report->n_colors, gbsi_plural(report->n_colors),
                 report->n_batches, gbsi_plural_of(report->n_batches, "", "es"),
                 (double)report->predicted_bytes / 1048576.0, gbs_simd_name());
    }
    for (job->n_told = 0; cli_speaks() && job->n_told < gbs_run_report(job->run)->n_warnings;
         job->n_told++) {
        cli_note(arguments, "warning: %s", gbs_run_report(job->run)->warning[job->n_told]);
    }
    cli_bar_init(&b.w.bar, arguments, &job->options);
    gbs_run_callbacks callbacks = {.context = &b,
                                   .progress = on_progress,
                                   .draw = draw != NULL ? on_draw : NULL,
                                   .observed = b.series != NULL ? on_observed : NULL};
    status = gbs_run_execute(job->run, &callbacks, &err);
    cli_bar_finish(&b.w.bar, status >= 0 ? gbs_run_report(job->run) : NULL);
    if (b.w.pipe && cli_reader_gone()) {
        return CLI_FAILED; /* the reader of the output has closed the pipe; programs usually end
                              without a message then */
    }
    if (status < 0) {
        return cli_leave(cli_fail(status, &err));
    }
    *stopped = status == GBS_STOPPED;
    begun = cli_here.by_model && job->together != NULL ? job->together(job, job->together_context)
                                                       : CLI_DONE;
    if (begun != CLI_DONE) {
        return cli_leave(begun);
    }
    return cli_speaks() ? CLI_DONE : CLI_SILENT;
}

/* Prints the scan that the pilot chose. With --verbose, also prints the efficiency of each scan. */
static void tell_pilot(const cli_arguments *arguments, const gbs_report *r)
{
    if (r->scan_reason == NULL || r->scan == NULL) {
        return;
    }
    for (uint32_t i = 0; arguments->verbose && i < r->n_trials; i++) {
        const gbs_trial *t = &r->trial[i];
        char width[96] = "";
        if (t->width > 0) {
            (void)snprintf(width, sizeof width,
                           " --width %" PRIu32 " --splash-size %" PRIu32 " --grow fifo", t->width,
                           t->splash_size);
        }
        cli_note(arguments, "pilot: %s%s%s gives %s%.3g effective samples per 10^9 operations",
                 i == r->chosen ? "chosen: " : "", t->scan, width, t->is_bound ? "at most " : "",
                 1e9 * t->ess_per_operation);
    }
    cli_note(arguments, "scan %s: %s", r->scan, r->scan_reason);
}

#define GIB 1073741824.0

/* Prints a note if exact answers fit into the time, but not into the memory. */
static void tell_memory(const cli_job *job, const gbs_exact_cost *cost)
{
    const gbs_run_options *o = &job->options;
    const double time_s = o->time_s > 0.0 ? o->time_s : o->budget_s;
    const double limit = (double)(o->memory_limit != 0 ? o->memory_limit : gbs_auto_memory_limit());
    const double bytes = cost->entries * (double)sizeof(double);
    if (bytes > limit && cost->seconds <= 0.5 * time_s) {
        cli_note(job->arguments,
                 "their tables take more than the %.3g GiB of the memory limit%s: try "
                 "--memory-limit %.0fG",
                 limit / GIB, o->memory_limit == 0 ? ", half of what was free" : "",
                 ceil(1.25 * bytes / GIB));
    }
}

void cli_tell_choice(const cli_job *job, const gbs_exact_cost *cost)
{
    if (job->options.method == GBS_METHOD_AUTO && cost->entries > 0.0) {
        cli_note(job->arguments,
                 "sampled: exact answers would take %s%.3g table entries, %.3g s of one thread",
                 cost->counted ? "" : "at least ", cost->entries, cost->seconds);
        tell_memory(job, cost);
    }
}

void cli_tell_default_ladders(const cli_job *job, uint32_t n_ladders)
{
    if (cli_given(job->arguments, "chains") && n_ladders != job->options.chains) {
        cli_note(job->arguments,
                 "--chains %" PRIu64 " is the default, which for ladders means as many as fit: "
                 "%" PRIu32 "; any other number is taken as it is",
                 job->options.chains, n_ladders);
    }
}

/* Prints the number and properties of the ladders of a tempered run. */
static void tell_ladders(const cli_job *job, const gbs_report *r)
{
    const cli_arguments *arguments = job->arguments;
    if (r->temperatures > 0) {
        cli_tell_default_ladders(job, r->chains);
        cli_note(arguments,
                 "tempered: each chain is a ladder of %" PRIu32
                 " temperature%s from %.3g to 1 (inverse), barrier %.3g, at least %" PRIu64
                 " round trips, %.3g of cold states without violated zeros; moves: %s",
                 r->temperatures, gbsi_plural(r->temperatures), r->hottest, r->barrier,
                 r->round_trips, r->valid_share,
                 r->block_variables > 0 ? "blocks and a sweep" : "sweeps");
    }
}

/* @return a name for the largest standard error, for the verdict. */
static const char *error_name(const gbs_report *r)
{
    return r->chains_disagree ? CLI_UNRELIABLE_ERROR ":" : "error";
}

/* Prints how much work was done and how large the errors are. */
static void tell_work(const cli_job *job, const gbs_report *r)
{
    const cli_arguments *arguments = job->arguments;
    if (strcmp(r->method, "exact") == 0) {
        char cases[64] = "";
        if (r->visited_states > 0.0) {
            (void)snprintf(cases, sizeof cases, ", %.3g of them states that hard parities allow",
                           r->visited_states);
        } else if (r->nonzero_entries > 0.0) {
            (void)snprintf(cases, sizeof cases, ", %.3g of them in sparse tables",
                           r->nonzero_entries);
        }
        if (r->exact.n_cases > 0) {
            (void)snprintf(cases, sizeof cases, " in %d cases of a cutset", r->exact.n_cases);
        }
        const uint32_t n = r->n_free_variables - r->n_pruned;
        cli_note(arguments,
                 "exact: %" PRIu32 " free variable%s in %" PRIu32
                 " component%s, %.3g table entries%s",
                 n, gbsi_plural(n), r->n_components, gbsi_plural(r->n_components), r->exact.entries,
                 cases);
    } else if (!cli_is_approximate(r)) { /* the verdict of an approximation contains all of this */
        cli_tell_choice(job, &r->exact);
        cli_note(arguments,
                 "%s: %" PRIu32 " chain%s, %" PRIu64 " sweep%s after %" PRIu64
                 ", %.3g updates in %.3g s (%.3g/s), seed %" PRIu64,
                 r->method, r->chains, gbsi_plural(r->chains), r->sweeps, gbsi_plural(r->sweeps),
                 r->burn_in, (double)r->updates, r->sampling_s, r->updates_per_s,
                 job->options.seed);
        tell_ladders(job, r);
        if (isfinite(r->max_mcse) && job->options.estimator == GBS_ESTIMATOR_TRACES) {
            cli_note(arguments, "largest %s %.3g, largest R-hat %.5g", error_name(r), r->max_mcse,
                     r->max_rhat);
        } else if (isfinite(r->max_mcse)) {
            char target[40] = "";
            if (r->target_error > 0.0) {
                (void)snprintf(target, sizeof target, " (target %.3g)", r->target_error);
            }
            char ess[40] = "";
            if (isfinite(r->min_ess)) {
                (void)snprintf(ess, sizeof ess, ", min ESS %.4g", r->min_ess);
            }
            char watched[64] = "";
            if (r->n_watched > 0) {
                (void)snprintf(watched, sizeof watched, ", of %" PRIu64 " variable%s spread evenly",
                               r->n_watched, gbsi_plural(r->n_watched));
            }
            char rhat[48] = "";
            if (isfinite(r->max_rhat) || r->n_drawn == 0) { /* independent draws have no R-hat */
                (void)snprintf(rhat, sizeof rhat, ", largest R-hat %.5g", r->max_rhat);
            }
            cli_note(arguments, "largest %s %.3g%s%s%s%s", error_name(r), r->max_mcse, target, rhat,
                     ess, watched);
        }
    }
}

static cli_colour colour_of(const gbs_report *r)
{
    const int wrong = strcmp(r->stop, "support") == 0 ||
                      r->max_rhat > 1.1; /* max_rhat is NAN if there is no R-hat */
    return r->converged ? CLI_GREEN : wrong ? CLI_RED : CLI_YELLOW;
}

/* @return whether P(evidence) is printed above the table on the terminal. */
static int is_headed(const cli_job *job)
{
    const cli_arguments *arguments = job->arguments;
    return cli_is_verb(arguments->verb, "marginals") && job->output == NULL &&
           cli_is_terminal(STDOUT_FILENO) &&
           (arguments->format == NULL || strcmp(arguments->format, "table") == 0);
}

void cli_verdict(const cli_job *job, int stopped)
{
    const cli_arguments *arguments = job->arguments;
    const gbs_report *r = gbs_run_report(job->run);
    for (size_t i = job->n_told; i < r->n_warnings; i++) {
        cli_note(arguments, "warning: %s", r->warning[i]);
    }
    tell_pilot(arguments, r);
    if (r->n_pruned > 0) {
        cli_note(arguments,
                 "left out: %" PRIu32 " of %" PRIu32
                 " free variable%s, as %s not affect the answer",
                 r->n_pruned, r->n_free_variables, gbsi_plural(r->n_free_variables),
                 gbsi_plural_of(r->n_pruned, "it does", "they do"));
    }
    if (r->n_drawn > 0) {
        cli_note(arguments,
                 "drawn: %" PRIu32 " variable%s that no evidence depends on, given exact draws of "
                 "the others",
                 r->n_drawn, gbsi_plural(r->n_drawn));
    }
    tell_work(job, r);
    cli_tell_exchange(job);
    if (arguments->run.threshold == GBS_THRESHOLD_AUTO && isfinite(r->threshold)) {
        cli_note(arguments, "--threshold auto: %g", r->threshold);
    }
    if (isfinite(r->certified)) {
        cli_note(arguments,
                 "certified: after %" PRIu64
                 " sweep%s of burn-in, every marginal is within %.3g of its limit, from any start",
                 r->burn_in, gbsi_plural(r->burn_in), r->certified);
    }
    if (job->options.restarts && strcmp(r->method, "exact") != 0) {
        cli_note(arguments,
                 "restarts: every estimated marginal is within %.3g (total variation) of the true "
                 "marginal, apart from the error of sampling",
                 r->bias_estimate);
    }
    if (r->lattice && isfinite(r->energy_mcse)) {
        cli_note(arguments,
                 "lattice: energy %.6g (error %.2g), magnetisation %.6g (%.2g), absolute %.6g "
                 "(%.2g) per spin",
                 r->energy, r->energy_mcse, r->magnetisation, r->magnetisation_mcse,
                 r->abs_magnetisation, r->abs_magnetisation_mcse);
    } else if (r->lattice) {
        cli_note(arguments,
                 "lattice: energy %.6g, magnetisation %.6g, absolute %.6g per spin; more sweeps "
                 "would tell their errors",
                 r->energy, r->magnetisation, r->abs_magnetisation);
    }
    char sum[CLI_SUM_TEXT];
    cli_evidence_text(job, r->log_z, sum);
    if (sum[0] != '\0' && !is_headed(job)) {
        cli_note(arguments, "%s", sum);
    }
    const char *word = r->converged ? "converged" : "not converged";
    int says_so = strncmp(r->verdict, word, strlen(word)) == 0;
    char said[sizeof r->verdict + 16];
    (void)snprintf(said, sizeof said, "%s%s%s", says_so ? "" : word, says_so ? "" : ": ",
                   r->verdict);
    cli_note_verdict(arguments, colour_of(r), said);
    if (stopped) {
        cli_note(arguments, "the run stopped before its target (%s): these are the results so far",
                 r->stop);
    }
}

int cli_conclude(const cli_job *job, int stopped)
{
    int status = cli_summary(job);
    if (status != CLI_DONE) {
        return status;
    }
    if (job->traces != NULL) {
        status = cli_traces_tell(job->traces, gbs_run_report(job->run)->temperatures > 0);
    }
    if (status == CLI_DONE && job->series != NULL) {
        status = cli_series_write(job->series, job);
    }
    if (status == CLI_DONE) {
        status = cli_tell_observables(job);
    }
    if (status != CLI_DONE) {
        return status;
    }
    cli_verdict(job, stopped);
    return cli_judge(job->arguments, gbs_run_report(job->run)->converged,
                     stopped ? CLI_STOPPED : CLI_DONE);
}
