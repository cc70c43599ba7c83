/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite fit: fits the conditional tables of a Bayesian network to a table of data. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/data_rows.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct fitting {
    cli_job job;
    gbs_fit_options options;
    cli_held_out out;
    gbs_data *data, *held_out;
    gbs_fitted *fitted;
    cli_bar bar;
} fitting;

/* ---- what was typed -------------------------------------------------------------------------- */

static int settle_prior(fitting *f, const char *text)
{
    static const struct {
        const char *name;
        gbs_prior prior;
    } priors[] = {{"bdeu:", GBS_PRIOR_BDEU}, {"dirichlet:", GBS_PRIOR_DIRICHLET}};
    if (text == NULL || strcmp(text, "none") == 0) {
        return CLI_DONE;
    }
    for (size_t i = 0; i < sizeof priors / sizeof priors[0]; i++) {
        const size_t n = strlen(priors[i].name);
        double weight = 0.0;
        if (strncmp(text, priors[i].name, n) == 0 && cli_parse_real(text + n, &weight) &&
            weight > 0.0 && weight <= 1e12) {
            f->options.prior = (uint64_t)priors[i].prior;
            f->options.weight = weight;
            return CLI_DONE;
        }
    }
    return cli_error(CLI_USAGE,
                     "--prior: found \"%s\", expected none, bdeu:ESS or dirichlet:ALPHA with a "
                     "number above 0 and at most 1e12",
                     text);
}

static int settle(fitting *f, cli_arguments *arguments)
{
    cli_settle_model_format(arguments);
    f->options = arguments->of.fit;
    CLI_PASS(settle_prior(f, arguments->prior));
    CLI_PASS(cli_settle_held_out(arguments->held_out, arguments->operand[1], &f->out));
    CLI_PASS(cli_check_model_output(arguments));
    return cli_check_results(arguments);
}

/* ---- results --------------------------------------------------------------------------------- */

/* Writes the rows of one table: "variable,state,parents,probability,low,high,rows". */
static gbs_status write_intervals_of(const fitting *f, gbs_output *output, size_t factor,
                                     double *room, gbs_error *err)
{
    const gbs_model *model = gbs_fitted_model(f->fitted);
    char text[32];
    uint32_t n = 0;
    const uint32_t *scope = NULL;
    (void)gbs_model_factor(model, factor, &n, &scope);
    const uint32_t child = scope[n - 1];
    const size_t n_entries = gbs_fitted_n_entries(f->fitted, child);
    cli_text parents = {.size = cli_states_bytes(model, n - 1, scope)};
    parents.at = malloc(parents.size);
    if (parents.at == NULL) {
        (void)snprintf(err->message, sizeof err->message, "out of memory");
        return GBS_ERR_MEMORY;
    }
    const gbs_status status =
        gbs_fitted_table(f->fitted, child, f->job.arguments->level, room, room + n_entries,
                         room + 2 * n_entries, room + 3 * n_entries, err);
    for (size_t i = 0; status >= 0 && i < n_entries; i++) {
        const uint32_t a = (uint32_t)(i % gbs_model_arity(model, child));
        gbsi_output_csv_field(output, cli_variable_text(model, child, "", text));
        gbsi_output_text(output, ",");
        gbsi_output_csv_field(output, cli_state_text(model, child, a, text));
        gbsi_output_text(output, ",");
        parents.n = 0;
        parents.at[0] = '\0';
        cli_add_states(model, n - 1, n, scope, i, " ", &parents);
        gbsi_output_csv_field(output, parents.at);
        for (size_t k = 0; k < 4; k++) {
            gbsi_output_text(output, ",");
            gbsi_output_double(output, room[k * n_entries + i]);
        }
        gbsi_output_text(output, "\n");
    }
    free(parents.at);
    return status;
}

static int write_intervals(const fitting *f)
{
    const char *path = f->job.arguments->intervals;
    const gbs_model *model = gbs_fitted_model(f->fitted);
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    size_t most = 0;
    if (path == NULL) {
        return CLI_DONE;
    }
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        const size_t n = gbs_fitted_n_entries(f->fitted, v);
        most = n > most ? n : most;
    }
    double *room = calloc(most, 4 * sizeof *room);
    CLI_PASS(CLI_HAVE(room));
    gbs_status done = gbs_output_open(path, &output, &err);
    if (done >= 0) {
        gbsi_output_text(output, "variable,state,parents,probability,low,high,rows\n");
    }
    for (size_t i = 0; done >= 0 && i < gbs_model_n_factors(model); i++) {
        done = write_intervals_of(f, output, i, room, &err);
    }
    free(room);
    if (done >= 0) {
        gbs_output *whole = output;
        output = NULL;
        done = gbs_output_commit(whole, &err);
    }
    gbs_output_discard(output);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

static int write_summary(const fitting *f, int stopped)
{
    static const char *const priors[] = {"none", "bdeu", "dirichlet"};
    const gbs_fit_report *r = gbs_fitted_report(f->fitted);
    const cli_text_member texts[] = {{"prior", priors[f->options.prior]}, {NULL, NULL}};
    const cli_count counts[] = {{"rows", r->n_rows},
                                {"distinct_rows", r->n_distinct},
                                {"incomplete_rows", r->n_incomplete},
                                {"missing_values", r->n_missing},
                                {"parameters", r->n_parameters},
                                {"columns", r->n_columns},
                                {"unseen_columns", r->n_unseen},
                                {"iterations", r->iterations},
                                {"held_out_rows", r->held_out_rows},
                                {"held_out_impossible", r->held_out_impossible},
                                {"exact", r->exact},
                                {"sweeps", r->sweeps},
                                {"doubtful_rows", r->n_doubtful},
                                {"unmet_probabilities", r->n_unmet},
                                {NULL, 0}};
    const cli_number numbers[] = {{"prior_weight", f->options.weight},
                                  {"weight", r->weight},
                                  {"log_likelihood", r->log_likelihood},
                                  {"log_likelihood_error", r->log_likelihood_error},
                                  {"log_posterior", r->log_posterior},
                                  {"bic", r->bic},
                                  {"change", r->change},
                                  {"error", r->error},
                                  {"held_out_weight", r->held_out_weight},
                                  {"held_out_log_likelihood", r->held_out_log_likelihood},
                                  {"held_out_error", r->held_out_error},
                                  {"seconds", r->seconds},
                                  {NULL, 0}};
    const cli_flag flags[] = {{"converged", r->converged != 0}, {"stopped", stopped}, {NULL, 0}};
    const cli_members summary = {.schema = "fit/1",
                                 .model = gbs_fitted_model(f->fitted),
                                 .texts = texts,
                                 .counts = counts,
                                 .numbers = numbers,
                                 .flags = flags};
    return cli_write_members(f->job.arguments->summary, &summary);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void tell_sampled_em(const fitting *f, int stopped)
{
    const cli_arguments *arguments = f->job.arguments;
    const gbs_fit_report *r = gbs_fitted_report(f->fitted);
    cli_note(arguments,
             "%" PRIu64 " row%s a missing value; EM, with sampled expectations: %" PRIu64
             " iteration%s, the last of 16 chains by %" PRIu64 " sweep%s a row, seed %" PRIu64 "%s",
             r->n_incomplete, gbsi_plural_of(r->n_incomplete, " has", "s have"), r->iterations,
             gbsi_plural(r->iterations), r->sweeps, gbsi_plural(r->sweeps), f->options.seed,
             stopped ? "; stopped" : "");
    cli_note(arguments,
             "%s: the last one changed a probability by %.2g; probabilities are off from where EM "
             "ends by a standard error of up to %.2g",
             r->converged ? "converged, to within the error" : "not converged", r->change,
             r->error);
    if (r->n_unmet > 0) {
        cli_note(arguments,
                 "%" PRIu64
                 " probabilit%s met by no draw of the last iteration and not checked: EM "
                 "with exact expectations might raise %s; try --method exact, or a --prior",
                 r->n_unmet, gbsi_plural_of(r->n_unmet, "y is", "ies are"),
                 gbsi_plural_of(r->n_unmet, "it", "them"));
    }
    if (r->n_doubtful > 0) {
        cli_note(arguments,
                 "the chains of %" PRIu64 " row%s disagree: R-hat is above 1.1; try a larger "
                 "--sweeps, or --method exact",
                 r->n_doubtful, gbsi_plural(r->n_doubtful));
    } else if (r->error >= 1.0) {
        cli_note(arguments, "the rows say too little about some probability for chains to find it; "
                            "a --prior says more, and --method exact has no error of sampling");
    } else if (!r->converged && !stopped) {
        cli_note(arguments, "for a smaller error try a larger --sweeps");
    }
}

static void tell_em(const fitting *f, int stopped)
{
    const cli_arguments *arguments = f->job.arguments;
    const gbs_fit_report *r = gbs_fitted_report(f->fitted);
    if (r->n_incomplete == 0) {
        return;
    }
    if (!r->exact) {
        tell_sampled_em(f, stopped);
        return;
    }
    cli_note(arguments,
             "%" PRIu64 " row%s a missing value; EM, with exact expectations: %" PRIu64
             " iteration%s, %s: the last one changed a probability by %.2g%s",
             r->n_incomplete, gbsi_plural_of(r->n_incomplete, " has", "s have"), r->iterations,
             gbsi_plural(r->iterations), r->converged ? "converged" : "not converged", r->change,
             stopped ? "; stopped" : "");
}

/* Writes an error such as " +- 0.2", or "" if the error is 0. @param text [32] */
static const char *error_text(double error, char *text)
{
    text[0] = '\0';
    if (error > 0.0) {
        (void)snprintf(text, 32, " +- %.2g", error);
    }
    return text;
}

static void tell_likelihood(const fitting *f, const char *weight)
{
    const gbs_fit_report *r = gbs_fitted_report(f->fitted);
    char error[32];
    if (isnan(r->log_likelihood)) { /* it is sampled last */
        cli_note(f->job.arguments,
                 "%" PRIu64 " row%s%s: ln P(data) is unknown, since the fit was stopped before; "
                 "%" PRIu64 " free parameter%s",
                 r->n_rows, gbsi_plural(r->n_rows), weight, r->n_parameters,
                 gbsi_plural(r->n_parameters));
        return;
    }
    cli_note(f->job.arguments,
             "%" PRIu64 " row%s%s: ln P(data) = %.10g%s, %.6g a %s; %" PRIu64
             " free parameter%s, BIC %.10g",
             r->n_rows, gbsi_plural(r->n_rows), weight, r->log_likelihood,
             error_text(r->log_likelihood_error, error), r->log_likelihood / r->weight,
             weight[0] == '\0' ? "row" : "unit of weight", r->n_parameters,
             gbsi_plural(r->n_parameters), r->bic);
}

static void tell(const fitting *f, int stopped)
{
    const cli_arguments *arguments = f->job.arguments;
    const gbs_fit_report *r = gbs_fitted_report(f->fitted);
    char weight[64] = "";
    char error[32];
    if (arguments->weights != NULL) {
        (void)snprintf(weight, sizeof weight, " of weight %.10g", r->weight);
    }
    tell_likelihood(f, weight);
    tell_em(f, stopped);
    if (r->n_unseen > 0) {
        cli_note(arguments, "%" PRIu64 " of %" PRIu64 " column%s of the tables %s in no row: %s",
                 r->n_unseen, r->n_columns, gbsi_plural(r->n_columns),
                 gbsi_plural_of(r->n_unseen, "is", "are"),
                 f->options.prior == GBS_PRIOR_NONE ? "the network's own stay there"
                                                    : "the prior alone says what they are");
    }
    if (r->held_out_rows > 0 && r->held_out_impossible == r->held_out_rows) {
        cli_note(arguments,
                 "%" PRIu64 " row%s held out, all of probability 0: no row is left to judge by; a "
                 "prior gives every row a positive one",
                 r->held_out_rows, gbsi_plural(r->held_out_rows));
        return;
    }
    if (r->held_out_rows > 0) {
        cli_note(arguments, "%" PRIu64 " row%s held out: ln P = %.10g%s, %.6g a %s",
                 r->held_out_rows, gbsi_plural(r->held_out_rows), r->held_out_log_likelihood,
                 error_text(r->held_out_error, error),
                 r->held_out_log_likelihood / r->held_out_weight,
                 weight[0] == '\0' ? "row" : "unit of weight");
    }
    if (r->held_out_impossible > 0) {
        cli_note(arguments,
                 "%" PRIu64 " of them have probability 0 and are left out of this; a prior gives "
                 "every row a positive one",
                 r->held_out_impossible);
    }
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int fit(fitting *f, int *stopped)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_run_callbacks callbacks = {.context = &f->bar, .progress = cli_bar_watch};
    cli_signals_catch();
    cli_bar_init(&f->bar, f->job.arguments, &f->job.options);
    f->bar.unit = "iterations";
    const gbs_status done =
        gbs_fit(f->job.model, f->data, f->held_out, &f->options, &callbacks, &f->fitted, &err);
    cli_bar_finish(&f->bar, NULL);
    *stopped = done == GBS_STOPPED;
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

static int write_all(const fitting *f, int stopped)
{
    CLI_PASS(cli_write_model(f->job.arguments, gbs_fitted_model(f->fitted)));
    CLI_PASS(write_intervals(f));
    return write_summary(f, stopped);
}

static int run_fit(cli_arguments *arguments)
{
    fitting f;
    int stopped = 0;
    memset(&f, 0, sizeof f);
    int status = settle(&f, arguments);
    if (status == CLI_DONE) {
        status = cli_load_model(&f.job, arguments, arguments->operand[0]);
    }
    if (status == CLI_DONE && !gbs_model_is_directed(f.job.model)) {
        status =
            cli_error(CLI_INPUT,
                      "%s: found a model that is no Bayesian network, expected one: only these "
                      "have conditional tables to fit",
                      arguments->operand[0]);
    }
    if (status == CLI_DONE) {
        status = cli_read_data(arguments, f.job.model, arguments->operand[1], 0, &f.out, &f.data,
                               &f.held_out);
    }
    if (status == CLI_DONE) {
        status = fit(&f, &stopped);
    }
    if (status == CLI_DONE) {
        status = write_all(&f, stopped);
    }
    if (status == CLI_DONE) {
        tell(&f, stopped);
    }
    gbs_fitted_free(f.fitted);
    gbs_data_free(f.data);
    gbs_data_free(f.held_out);
    cli_job_free(&f.job);
    return status == CLI_DONE && stopped ? CLI_STOPPED : status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "fit"
static const cli_option options[] = {
#include "gibbsite/questions/fit.def"
};

const cli_verb cli_verb_fit = {
    .name = "fit",
    CLI_TAKES(options),
    .n_operands = 2,
    .operands = "NETWORK DATA",
    .what = "conditional tables of a Bayesian network from data",
    .notes = "DATA is a table with a column for each of some variables and a row for each\n"
             "observation; an empty cell or NA is a missing value, and so are variables\n"
             "without a column: then EM finds the tables, starting from those of NETWORK.\n"
             "Writes the network with the new tables; the format is that of -o FILE.\n",
    .example = "gibbsite fit examples/sprinkler.bif examples/sprinkler.csv -o fitted.bif\n"
               "gibbsite fit fitted.bif examples/sprinkler.csv --prior bdeu:10 --format uai\n",
    .run = run_fit,
};
