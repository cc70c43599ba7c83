/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite learn weights: learns the tied weights of a log-linear model from a table of data. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn_machines.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct learning {
    cli_job job;
    gbs_learn_options options;
    cli_held_out out;
    gbs_checkpoint_files checkpoints;
    gbs_data *data, *held_out;
    gbs_model *learnt;
    double *error;       /* [weights] standard errors; NULL if they are not wanted */
    double held_out_sum; /* ln P or ln PL of the held-out rows */
    gbs_learn_report report;
    cli_bar bar;
    cli_points curve;
} learning;

/* @return whether a junction tree computes the likelihood of rows; otherwise the pseudo-likelihood
 *         of held-out rows is reported. */
static int by_tree(const learning *l)
{
    return l->options.objective == GBS_LEARN_LIKELIHOOD;
}

/* @return whether the pseudo-likelihood is maximised, which requires complete rows. */
static int by_pseudo(const learning *l)
{
    return l->options.objective == GBS_LEARN_PSEUDO;
}

static int settle(learning *l, cli_arguments *arguments)
{
    cli_settle_model_format(arguments);
    l->options = arguments->of.weights;
    cli_learn_settle_checkpoints(arguments, &l->checkpoints);
    l->options.checkpoints = cli_learn_checkpoints(&l->checkpoints);
    int status = cli_settle_held_out(arguments->held_out, arguments->operand[1], &l->out);
    if (status == CLI_DONE) {
        status = cli_check_model_output(arguments);
    }
    return status == CLI_DONE ? cli_check_results(arguments) : status;
}

static int learn(learning *l, int *stopped)
{
    const gbs_model *model = l->job.model;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    gbs_error err = {GBS_OK, ""};
    if (l->job.arguments->intervals != NULL) {
        l->error = calloc((size_t)gbs_model_n_weights(model) + 1, sizeof *l->error);
        CLI_PASS(CLI_HAVE(l->error));
    }
    if (l->job.arguments->curve != NULL) {
        l->options.point = cli_points_add;
        l->options.point_context = &l->curve;
        l->options.held_out = l->held_out;
    }
    cli_signals_catch();
    cli_bar_init(&l->bar, l->job.arguments, &l->job.options);
    l->bar.unit = "steps";
    gbs_status done = gbs_learn_weights(model, l->data, &l->options, &callbacks, l->error,
                                        &l->learnt, &l->report, &err);
    cli_bar_finish(&l->bar, NULL);
    *stopped = done == GBS_STOPPED;
    return done < 0 ? cli_learn_fail(&l->checkpoints, done, &err) : CLI_DONE;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Writes lines "weight,value,error"; an error that is not known is an empty field. */
static void write_weights(gbs_output *output, const void *context)
{
    const learning *l = context;
    gbsi_output_text(output, "weight,value,error\n");
    for (uint32_t k = 0; k < gbs_model_n_weights(l->learnt); k++) {
        gbsi_output_uint(output, k);
        gbsi_output_text(output, ",");
        gbsi_output_double(output, gbs_model_weight(l->learnt, k, NULL));
        gbsi_output_text(output, ",");
        if (l->report.has_errors) {
            gbsi_output_double(output, l->error[k]);
        }
        gbsi_output_text(output, "\n");
    }
}

static int write_summary(const learning *l, int stopped)
{
    const gbs_learn_report *r = &l->report;
    const int sampled = l->options.objective == GBS_LEARN_SAMPLED;
    const cli_count counts[] = {
        {"rows", r->n_rows},           {"learnt_weights", r->n_learnt},
        {"iterations", r->iterations}, {"held_out_rows", gbs_data_n_rows(l->held_out)},
        {"scans", r->n_scans},         {"scan_length", r->scan_length},
        {"probes", r->probes},         {NULL, 0}};
    const cli_number numbers[] = {
        {"l2", l->options.l2},
        {"l1", l->options.l1},
        {by_pseudo(l) ? "pseudo_log_likelihood" : "log_likelihood",
         by_pseudo(l) ? r->pseudo_log_likelihood : r->log_likelihood},
        {"objective", r->objective},
        {"change", r->change},
        {by_tree(l) ? "held_out_log_likelihood" : "held_out_pseudo_log_likelihood",
         l->held_out_sum},
        {"rhat", sampled ? r->rhat : (double)NAN},
        {"chance", sampled ? r->chance : (double)NAN},
        {"misfit", r->misfit},
        {"seconds", r->seconds},
        {NULL, 0}};
    const cli_flag flags[] = {{"errors_known", r->has_errors != 0},
                              {"converged", r->converged != 0},
                              {"stopped", stopped},
                              {NULL, 0}};
    const cli_members summary = {.schema = "learn-weights/1",
                                 .model = l->learnt,
                                 .counts = counts,
                                 .numbers = numbers,
                                 .flags = flags};
    return cli_write_members(l->job.arguments->summary, &summary);
}

/* @return the number of weights that are not 0. */
static unsigned count_weights(const gbs_model *model)
{
    unsigned n = 0;
    for (uint32_t k = 0; k < gbs_model_n_weights(model); k++) {
        n += gbs_model_weight(model, k, NULL) != 0.0;
    }
    return n;
}

/* @return whether there are too many weights for a matrix of second derivatives. */
static int by_probes(const learning *l)
{
    return l->report.n_learnt > (by_tree(l) ? GBS_MAX_LIKELIHOOD_WEIGHTS : GBS_MAX_LEARNT_WEIGHTS);
}

static void tell_sampled(const learning *l, int stopped)
{
    const cli_arguments *arguments = l->job.arguments;
    const gbs_learn_report *r = &l->report;
    if (stopped) {
        cli_note(arguments, "stopped after %" PRIu64 " step%s, %.3g s; %" PRIu64 " weight%s",
                 r->iterations, gbsi_plural(r->iterations), r->seconds, r->n_learnt,
                 gbsi_plural(r->n_learnt));
    } else if (!isnan(r->misfit)) {
        cli_note(arguments,
                 "%s after %" PRIu64
                 " step%s, %.3g s: R-hat of the features %.3f (converged: at most 1.05), gradient "
                 "%.3f of the rows' standard errors (at most 0.25); %" PRIu64 " weight%s%s",
                 r->converged ? "converged" : "not converged", r->iterations,
                 gbsi_plural(r->iterations), r->seconds, r->rhat, r->misfit, r->n_learnt,
                 gbsi_plural(r->n_learnt), r->converged ? "" : "; try more --steps or --chains");
    } else if (!r->has_errors) {
        cli_note(arguments,
                 "not converged after %" PRIu64
                 " step%s, %.3g s: R-hat of the features %.3f; %" PRIu64 " weight%s",
                 r->iterations, gbsi_plural(r->iterations), r->seconds, r->rhat, r->n_learnt,
                 gbsi_plural(r->n_learnt));
    } else {
        cli_note(
            arguments,
            "%s after %" PRIu64 " step%s, %.3g s: R-hat of the features %.3f (converged: at most "
            "1.05), last step %.2g standard errors (at most 1), of which chance makes up to "
            "%.0f %%; %" PRIu64 " weight%s%s",
            r->converged ? "converged" : "not converged", r->iterations, gbsi_plural(r->iterations),
            r->seconds, r->rhat, r->change, 100.0 * r->chance, r->n_learnt,
            gbsi_plural(r->n_learnt), r->converged ? "" : "; try more --steps or --chains");
    }
    cli_learn_tell_unwritten(arguments, r->n_unwritten);
}

static void tell(const learning *l, int stopped)
{
    const cli_arguments *arguments = l->job.arguments;
    const gbs_learn_report *r = &l->report;
    const char *name = by_pseudo(l) ? "PL" : "P";
    const double sum = by_pseudo(l) ? r->pseudo_log_likelihood : r->log_likelihood;
    if (l->options.objective == GBS_LEARN_SAMPLED) {
        tell_sampled(l, stopped);
        if (r->n_scans > 0) {
            cli_note(arguments,
                     "scan optimised %" PRIu64 " times: %" PRIu64
                     " update%s %s within a total variation of %g, for the last weights",
                     r->n_scans, r->scan_length, gbsi_plural(r->scan_length),
                     gbsi_plural_of(r->scan_length, "comes", "come"), l->options.accuracy);
        }
    } else {
        cli_note(arguments,
                 "%s after %" PRIu64 " step%s, %.3g s%s: ln %s = %.10g, %.6g a row of %" PRIu64
                 "; %" PRIu64 " weight%s",
                 r->converged ? "converged" : "not converged", r->iterations,
                 gbsi_plural(r->iterations), r->seconds, stopped ? ", stopped" : "", name, sum,
                 sum / (double)r->n_rows, r->n_rows, r->n_learnt, gbsi_plural(r->n_learnt));
    }
    if (l->options.l1 > 0.0) {
        cli_note(arguments, "standard errors are not known with --l1; %u weight%s not 0",
                 count_weights(l->learnt),
                 gbsi_plural_of(count_weights(l->learnt), " is", "s are"));
    } else if (!isnan(r->misfit)) {
        cli_note(arguments,
                 "standard errors are not known: they need the covariance of all features, which "
                 "is estimated by chains for at most %u weights",
                 GBS_MAX_LEARNT_WEIGHTS);
    } else if (!r->has_errors && by_probes(l) && arguments->intervals == NULL) {
        cli_note(arguments, "standard errors of so many weights are estimated by probes: add "
                            "--intervals");
    } else if (!r->has_errors) {
        cli_note(arguments,
                 "standard errors are not known: they need %sdata that determine each weight, and "
                 "convergence",
                 by_pseudo(l) || by_probes(l) ? "more rows than weights, " : "");
    } else {
        cli_learn_tell_probes(arguments, r->probes);
    }
    if (l->held_out != NULL) {
        cli_note(arguments, "%" PRIu64 " row%s held out: ln %s = %.10g",
                 gbs_data_n_rows(l->held_out), gbsi_plural(gbs_data_n_rows(l->held_out)),
                 by_tree(l) ? "P" : "PL", l->held_out_sum);
    }
}

/* ---- the verb -------------------------------------------------------------------------------- */

/* Computes the likelihood or pseudo-likelihood of the held-out rows under the learnt model. */
static int judge(learning *l)
{
    gbs_error err = {GBS_OK, ""};
    if (l->held_out == NULL) {
        return CLI_DONE;
    }
    const gbs_status done =
        by_tree(l) ? gbs_log_likelihood(l->learnt, l->held_out, &l->held_out_sum, &err)
                   : gbs_pseudo_log_likelihood(l->learnt, l->held_out, &l->held_out_sum, &err);
    if (done < 0 &&
        l->options.objective == GBS_LEARN_SAMPLED) { /* held-out rows that lack values */
        cli_note(l->job.arguments, "held-out rows are not judged: %s", err.message);
        l->held_out_sum = (double)NAN;
        return CLI_DONE;
    }
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

static int write_all(const learning *l, int stopped)
{
    CLI_PASS(cli_write_model(l->job.arguments, l->learnt));
    CLI_PASS(cli_write(l->job.arguments->intervals, write_weights, l));
    CLI_PASS(cli_points_write(&l->curve, l->job.arguments->curve));
    return write_summary(l, stopped);
}

static int read_all(learning *l, const cli_arguments *arguments)
{
    const char *path = arguments->operand[0];
    int status = cli_load_model(&l->job, arguments, path);
    if (status == CLI_DONE && gbs_model_n_weights(l->job.model) == 0) {
        return cli_error(CLI_INPUT,
                         "%s: found no tied weights, expected a model with some, such as a .gbm or "
                         "DimmWitted's",
                         path);
    }
    return status == CLI_DONE ? cli_read_data(arguments, l->job.model, arguments->operand[1],
                                              by_pseudo(l), &l->out, &l->data, &l->held_out)
                              : status;
}

static int run_learn_weights(cli_arguments *arguments)
{
    learning l = {.report = {.size = sizeof l.report}};
    int stopped = 0;
    int status = CLI_DONE;
    CLI_TRY(settle(&l, arguments));
    CLI_TRY(read_all(&l, arguments));
    CLI_TRY(learn(&l, &stopped));
    CLI_TRY(judge(&l));
    CLI_TRY(write_all(&l, stopped));
    tell(&l, stopped);

cleanup:
    gbs_data_free(l.data);
    gbs_data_free(l.held_out);
    gbs_model_free(l.learnt);
    free(l.error);
    free(l.curve.value);
    cli_job_free(&l.job);
    return status == CLI_DONE && stopped ? CLI_STOPPED : status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "learn weights"
static const cli_option options[] = {
#include "gibbsite/questions/learn_weights.def"
};

const cli_verb cli_verb_learn_weights = {
    .name = "learn weights",
    CLI_TAKES(options),
    .n_operands = 2,
    .operands = "MODEL DATA",
    .what = "tied weights of a log-linear model from data",
    .notes = "The tied weights of MODEL (.gbm, DimmWitted) by pseudo-likelihood, with\n"
             "standard errors, or by likelihood. DATA is CSV, a column for each variable;\n"
             "missing values are left empty. Writes MODEL with the weights learnt.\n",
    .example = "gibbsite learn weights examples/friends.gbm examples/friends.csv -o f.gbm\n",
    .run = run_learn_weights,
};
