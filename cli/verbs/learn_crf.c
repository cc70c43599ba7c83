/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite learn crf: learns the weights of a conditional random field from labelled tokens. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/crf.h"
#include "learn_machines.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct learning {
    cli_arguments *arguments;
    gbs_crf_learn_options options;
    gbs_template_style style;
    gbs_sequences *data;
    gbs_crf *crf;
    gbs_crf_learn_report report;
    double *error;      /* [weights] standard errors; NULL if they are not wanted or not known */
    gbs_error no_error; /* the reason why standard errors are not known */
    cli_points curve;
    cli_bar bar;
} learning;

static int settle(learning *l)
{
    const cli_arguments *arguments = l->arguments;
    if (strcmp(arguments->operand[0], "-") == 0 && strcmp(arguments->operand[1], "-") == 0) {
        return cli_error(CLI_USAGE, "standard input cannot be the templates and the data");
    }
    if (arguments->of.crf.l1 == 0.0 && arguments->of.crf.l2 == 0.0) {
        return cli_error(CLI_USAGE, "--l2 0: without a penalty weights grow without end; give --l1 "
                                    "or --l2 a number above 0");
    }
    l->style = arguments->template_style != NULL && strcmp(arguments->template_style, "wapiti") == 0
                   ? GBS_TEMPLATES_WAPITI
                   : GBS_TEMPLATES_CRFPP;
    l->options = arguments->of.crf;
    return cli_check_results(arguments);
}

static int learn(learning *l, int *stopped)
{
    const cli_arguments *arguments = l->arguments;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    gbs_error err = {GBS_OK, ""};
    gbs_status done = gbs_sequences_read(arguments->operand[1], &l->data, &err);
    if (done < 0) {
        return cli_fail_input(done, &err);
    }
    cli_signals_catch();
    if (l->arguments->curve != NULL) {
        l->options.point = cli_points_add;
        l->options.point_context = &l->curve;
    }
    cli_bar_init(&l->bar, arguments, &arguments->run);
    l->bar.unit = "iterations";
    done = gbs_crf_learn(arguments->operand[0], l->style, l->data, &l->options, &callbacks, &l->crf,
                         &l->report, &err);
    cli_bar_finish(&l->bar, NULL);
    *stopped = done == GBS_STOPPED;
    return done == GBS_ERR_IO ? cli_fail_input(done, &err)
           : done < 0         ? cli_fail(done, &err)
                              : CLI_DONE;
}

/* Computes standard errors if the user wants them. If standard errors cannot be computed,
 * no_error gets the reason. */
static int find_errors(learning *l, int *stopped)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    gbs_crf_learn_options options = l->options; /* learning gets the remaining part of --time */
    gbs_status done = GBS_ERR_UNSUPPORTED;
    options.time_s -= options.time_s > 0.0 ? fmin(l->report.seconds, 0.99 * options.time_s) : 0.0;
    if (l->arguments->intervals == NULL) {
        return CLI_DONE;
    }
    l->error = calloc(gbs_crf_n_weights(l->crf) + 1, sizeof *l->error);
    CLI_PASS(CLI_HAVE(l->error));
    if (!l->report.converged || *stopped) {
        (void)snprintf(l->no_error.message, sizeof l->no_error.message, "%s",
                       "learning has not converged");
    } else {
        cli_bar_init(&l->bar, l->arguments, &l->arguments->run);
        l->bar.unit = "probes";
        done = gbs_crf_errors(l->crf, l->data, &options, &callbacks, l->error, &l->no_error);
        cli_bar_finish(&l->bar, NULL);
    }
    *stopped = *stopped || done == GBS_ERR_STOPPED;
    if (done < 0) {
        free(l->error);
        l->error = NULL;
    }
    return CLI_DONE;
}

/* Writes a weight.
 * @param previous NULL: a weight of a single label. */
static void write_weight(gbs_output *output, const learning *l, const char *feature,
                         const char *previous, const char *label, size_t k)
{
    gbsi_output_csv_field(output, feature);
    gbsi_output_text(output, ",");
    gbsi_output_csv_field(output, previous == NULL ? "" : previous);
    gbsi_output_text(output, ",");
    gbsi_output_csv_field(output, label);
    gbsi_output_text(output, ",");
    gbsi_output_double(output, gbs_crf_weights(l->crf)[k]);
    gbsi_output_text(output, ",");
    if (l->error != NULL) {
        gbsi_output_double(output, l->error[k]);
    }
    gbsi_output_text(output, "\n");
}

/* Writes lines "feature,previous,label,value,error"; an error that is not known is an empty
 * field. */
static void write_intervals(gbs_output *output, const void *context)
{
    const learning *l = context;
    const uint32_t n_labels = gbs_crf_n_labels(l->crf);
    gbsi_output_text(output, "feature,previous,label,value,error\n");
    for (size_t f = 0; f < gbs_crf_n_features(l->crf); f++) {
        const char *text = NULL;
        size_t single = 0;
        size_t pairs = 0;
        if (gbs_crf_feature(l->crf, f, &text, &single, &pairs, NULL) < 0) {
            continue;
        }
        for (uint32_t b = 0; single != SIZE_MAX && b < n_labels; b++) {
            write_weight(output, l, text, NULL, gbs_crf_label_name(l->crf, b), single + b);
        }
        for (uint32_t k = 0; pairs != SIZE_MAX && k < n_labels * n_labels; k++) {
            write_weight(output, l, text, gbs_crf_label_name(l->crf, k / n_labels),
                         gbs_crf_label_name(l->crf, k % n_labels), pairs + k);
        }
    }
}

static uint64_t count_probes(const learning *l)
{
    return l->error == NULL ? 0 : l->options.probes > 0 ? l->options.probes : GBS_USUAL_CRF_PROBES;
}

static int write_model(const learning *l)
{
    const char *path = l->arguments->output != NULL ? l->arguments->output : "-";
    gbs_error err = {GBS_OK, ""};
    const gbs_status done = gbs_crf_write(l->crf, path, &err);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

static int write_summary(const learning *l, int stopped)
{
    const gbs_crf_learn_report *r = &l->report;
    const cli_count counts[] = {{"sequences", gbs_sequences_n(l->data)},
                                {"tokens", gbs_sequences_n_tokens(l->data)},
                                {"labels", r->n_labels},
                                {"features", r->n_features},
                                {"weights", r->n_weights},
                                {"active_weights", r->n_active},
                                {"iterations", r->iterations},
                                {"evaluations", r->evaluations},
                                {"links", r->n_links},
                                {"steps", r->steps},
                                {"probes", count_probes(l)},
                                {NULL, 0}};
    const cli_number numbers[] = {{"l1", l->options.l1},
                                  {"l2", l->options.l2},
                                  {"log_likelihood", r->log_likelihood},
                                  {"objective", r->objective},
                                  {"gradient_norm", r->gradient_norm},
                                  {"change", r->change},
                                  {"seconds", r->seconds},
                                  {NULL, 0}};
    const cli_flag flags[] = {{"converged", r->converged != 0}, {"stopped", stopped}, {NULL, 0}};
    const cli_members summary = {
        .schema = "learn-crf/1", .counts = counts, .numbers = numbers, .flags = flags};
    return cli_write_members(l->arguments->summary, &summary);
}

static void tell(const learning *l, int stopped)
{
    const gbs_crf_learn_report *r = &l->report;
    cli_note(l->arguments,
             "%zu sequence%s, %zu token%s, %" PRIu64 " label%s; %" PRIu64 " feature%s, %" PRIu64
             " weight%s, %" PRIu64 " of them not 0",
             gbs_sequences_n(l->data), gbsi_plural(gbs_sequences_n(l->data)),
             gbs_sequences_n_tokens(l->data), gbsi_plural(gbs_sequences_n_tokens(l->data)),
             r->n_labels, gbsi_plural(r->n_labels), r->n_features, gbsi_plural(r->n_features),
             r->n_weights, gbsi_plural(r->n_weights), r->n_active);
    if (r->steps > 0) {
        cli_note(
            l->arguments,
            "%" PRIu64 " pair%s of tokens are linked: from the best weights without links %" PRIu64
            " step%s along sampled gradients; in the last quarter of these, counted as at least "
            "one step of Newton's method, the weights moved by %.2g %% (converged: at most 2 %%%s)",
            r->n_links, gbsi_plural(r->n_links), r->steps, gbsi_plural(r->steps), 100.0 * r->change,
            r->converged ? "" : "; try more --steps or a larger --l2");
    }
    cli_note(l->arguments,
             "%s after %" PRIu64 " iteration%s, %" PRIu64 " gradient%s, %.3g s%s: ln %s(labels) = "
             "%.8g, objective %.8g, its gradient %.2g",
             r->converged ? "converged" : "not converged", r->iterations,
             gbsi_plural(r->iterations), r->evaluations, gbsi_plural(r->evaluations), r->seconds,
             stopped ? ", stopped" : "", r->n_links > 0 ? "PL" : "P", r->log_likelihood,
             r->objective, r->gradient_norm);
    if (l->arguments->intervals != NULL && l->error == NULL) {
        cli_note(l->arguments, "standard errors are not known: %s", l->no_error.message);
    }
    cli_learn_tell_probes(l->arguments, count_probes(l));
}

static int run_learn_crf(cli_arguments *arguments)
{
    learning l = {.arguments = arguments, .report = {.size = sizeof l.report}};
    int stopped = 0;
    int status = CLI_DONE;
    CLI_TRY(settle(&l));
    CLI_TRY(learn(&l, &stopped));
    CLI_TRY(find_errors(&l, &stopped));
    CLI_TRY(write_model(&l));
    CLI_TRY(cli_write(l.arguments->intervals, write_intervals, &l));
    CLI_TRY(cli_points_write(&l.curve, arguments->curve));
    CLI_TRY(write_summary(&l, stopped));
    tell(&l, stopped);

cleanup:
    gbs_crf_free(l.crf);
    gbs_sequences_free(l.data);
    free(l.error);
    free(l.curve.value);
    return status == CLI_DONE && stopped ? CLI_STOPPED : status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "learn crf"
static const cli_option options[] = {
#include "gibbsite/questions/learn_crf.def"
};

const cli_verb cli_verb_learn_crf = {
    .name = "learn crf",
    CLI_TAKES(options),
    .n_operands = 2,
    .operands = "TEMPLATES DATA",
    .what = "a conditional random field from labelled tokens",
    .notes = "TEMPLATES says which features a token has; DATA has a token a line, its label\n"
             "in the last column. Writes a text model of CRF++ (or Wapiti) for label.\n",
    .example = "gibbsite learn crf examples/places.template examples/places.txt -o places.crf\n"
               "gibbsite learn crf examples/places.template examples/places.txt --l1 1\n",
    .run = run_learn_crf,
};
