/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite learn potts: learns a dense Potts model from an alignment or a table of states. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/data_rows.h"
#include "learn_machines.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct learning {
    cli_arguments *arguments;
    gbs_potts_options options;
    cli_machine_rows rows;
    gbs_model *learnt;
    gbs_potts_report report;
    size_t n_parameters;   /* length of the arrays below */
    double *value, *error; /* parameters and their standard errors; NULL without --intervals; error
                              is also NULL if errors are not known */
    gbs_error no_error;    /* the reason why standard errors are not known */
    uint8_t *unseen;       /* [n_parameters] 1 if the error includes the pull of the penalty */
    uint64_t n_probes; /* number of probes that estimated the standard errors; 0 if no probes were
                          used */
    cli_points curve;
    cli_bar bar;
} learning;

static int settle(learning *l)
{
    const cli_arguments *arguments = l->arguments;
    l->options = arguments->of.potts;
    int status = cli_learn_rates(arguments, &l->options.rate, &l->options.rate_last);
    if (status == CLI_DONE) {
        status = cli_machine_settle(arguments, &l->rows);
    }
    l->options.checkpoints = cli_learn_checkpoints(&l->rows.checkpoints);
    return status;
}

static int learn(learning *l, int *stopped)
{
    const cli_arguments *arguments = l->arguments;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    gbs_error err = {GBS_OK, ""};
    gbs_status done = GBS_OK;
    if (arguments->curve != NULL) {
        l->options.point = cli_points_add;
        l->options.point_context = &l->curve;
    }
    cli_signals_catch();
    cli_bar_init(&l->bar, arguments, &arguments->run);
    l->bar.unit = "iterations";
    if (arguments->identity > 0.0) {
        done = gbs_rows_weigh(l->rows.data, arguments->identity, arguments->run.threads, &callbacks,
                              &err);
    }
    if (done >= 0) {
        done = gbs_potts_learn(l->rows.data, l->rows.held_out, &l->options, &callbacks, &l->learnt,
                               &l->report, &err);
    }
    cli_bar_finish(&l->bar, NULL);
    *stopped = done == GBS_STOPPED;
    return done < 0 ? cli_learn_fail(&l->rows.checkpoints, done, &err) : CLI_DONE;
}

/* Computes standard errors if --intervals requests them. If standard errors do not exist, the
 * program prints the reason and continues. */
static int find_errors(learning *l, int *stopped)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    gbs_error *err = &l->no_error;
    gbs_potts_options options = l->options; /* learning gets the remaining part of --time */
    options.time_s -= options.time_s > 0.0 ? fmin(l->report.seconds, 0.99 * options.time_s) : 0.0;
    if (l->arguments->intervals == NULL) {
        return CLI_DONE;
    }
    gbs_status done = gbs_potts_parameters(l->learnt, &l->n_parameters, NULL, err);
    if (done < 0) {
        return cli_fail(done, err);
    }
    l->value = calloc(l->n_parameters, sizeof *l->value);
    l->error = calloc(l->n_parameters, sizeof *l->error);
    l->unseen = calloc(l->n_parameters, sizeof *l->unseen);
    CLI_PASS(CLI_HAVE(l->value, l->error, l->unseen));
    done = gbs_potts_parameters(l->learnt, &l->n_parameters, l->value, err);
    if (done < 0) {
        return cli_fail(done, err);
    }
    if (l->options.method != GBS_POTTS_PCD && (!l->report.converged || *stopped)) {
        done = GBS_ERR_UNSUPPORTED;
        (void)snprintf(err->message, sizeof err->message, "learning has not converged");
    } else {
        l->n_probes = gbs_potts_probes(l->learnt, &options);
        cli_bar_init(&l->bar, l->arguments, &l->arguments->run);
        l->bar.unit = l->n_probes > 0 ? "probes" : "iterations";
        done = gbs_potts_errors(l->learnt, l->rows.data, &options, &callbacks, l->error, l->unseen,
                                err);
        cli_bar_finish(&l->bar, NULL);
    }
    *stopped = *stopped || done == GBS_ERR_STOPPED;
    if (done < 0) {
        free(l->error);
        l->error = NULL;
    }
    return CLI_DONE;
}

/* Writes a parameter with its error and the source of the error, the penalty or the rows. Error and
 * source are empty if the error is not known. */
static void write_parameter(gbs_output *output, const learning *l, size_t k)
{
    gbsi_output_text(output, ",");
    gbsi_output_double(output, l->value[k]);
    gbsi_output_text(output, ",");
    if (l->error != NULL) {
        gbsi_output_double(output, l->error[k]);
    }
    gbsi_output_text(output, l->error == NULL ? ",\n" : l->unseen[k] ? ",penalty\n" : ",rows\n");
}

/* Writes two fields: a site and its state; the fields are empty if the number of the site is too
 * large. */
static void write_state(gbs_output *output, const gbs_model *model, uint32_t site, uint32_t state)
{
    char text[32];
    if (site == gbs_model_n_variables(model)) {
        gbsi_output_text(output, ",");
        return;
    }
    gbsi_output_csv_field(output, cli_variable_text(model, site, "", text));
    gbsi_output_text(output, ",");
    gbsi_output_csv_field(output, cli_state_text(model, site, state, text));
}

/* Writes lines "site,state,other,other_state,value,error,from": first the parameters h, whose other
 * site is empty, then the couplings. */
static void write_intervals(gbs_output *output, const void *context)
{
    const learning *l = context;
    const uint32_t n = gbs_model_n_variables(l->learnt);
    const uint32_t q = gbs_model_arity(l->learnt, 0);
    size_t k = 0;
    gbsi_output_text(output, "site,state,other,other_state,value,error,from\n");
    for (size_t f = 0; f < gbs_model_n_factors(l->learnt); f++) {
        const uint32_t *scope = NULL;
        uint32_t size = 0;
        (void)gbs_model_factor(l->learnt, f, &size, &scope);
        for (uint32_t a = 0; a < q; a++) {
            for (uint32_t b = 0; b < (size == 2 ? q : 1); b++, k++) {
                write_state(output, l->learnt, scope[0], a);
                gbsi_output_text(output, ",");
                write_state(output, l->learnt, size == 2 ? scope[1] : n, b);
                write_parameter(output, l, k);
            }
        }
    }
}

/* @return the number of errors that come only from the rows. */
static uint64_t count_seen(const learning *l)
{
    uint64_t n = 0;
    for (size_t k = 0; l->error != NULL && k < l->n_parameters; k++) {
        n += !l->unseen[k];
    }
    return n;
}

/* Counts the states that occur in no row, held-out rows included. @param first out or NULL: one
 * of these states. */
static uint32_t count_unseen(const learning *l, uint32_t *first)
{
    uint64_t n[GBS_MAX_SITE_STATES];
    uint64_t n_out[GBS_MAX_SITE_STATES] = {0};
    uint32_t n_unseen = 0;
    gbs_rows_count_states(l->rows.data, n);
    gbs_rows_count_states(l->rows.held_out, n_out);
    for (uint32_t a = gbs_rows_n_states(l->rows.data); a-- > 0;) {
        if (n[a] + n_out[a] == 0) {
            n_unseen++;
            if (first != NULL) {
                *first = a;
            }
        }
    }
    return n_unseen;
}

static int write_summary(const learning *l, int stopped)
{
    const gbs_potts_report *r = &l->report;
    const cli_count counts[] = {{"rows", r->n_rows},
                                {"sites", r->n_sites},
                                {"states", r->n_states},
                                {"parameters", r->n_parameters},
                                {"unknown_letters", gbs_rows_n_unknown(l->rows.data)},
                                {"unseen_states", count_unseen(l, NULL)},
                                {"iterations", r->iterations},
                                {"evaluations", r->evaluations},
                                {"steps", r->steps},
                                {"held_out_rows", gbs_rows_n(l->rows.held_out)},
                                {"known_errors", l->error != NULL ? l->n_parameters : 0},
                                {"errors_of_rows", count_seen(l)},
                                {"probes", l->error != NULL ? l->n_probes : 0},
                                {"coupled_pairs", r->n_coupled},
                                {NULL, 0}};
    const cli_number numbers[] = {{"l2", l->options.l2},
                                  {"l1", l->options.l1},
                                  {"effective_rows", r->weight},
                                  {"pseudo_log_likelihood", r->pseudo_log_likelihood},
                                  {"held_out_pseudo_log_likelihood", r->held_out_pl},
                                  {"objective", r->objective},
                                  {"gradient_norm", r->gradient_norm},
                                  {"moment_error", r->moment_error},
                                  {"rhat", r->rhat},
                                  {"misfit", r->misfit},
                                  {"predicted_bytes", r->predicted_bytes},
                                  {"seconds_per_iteration", r->iteration_s},
                                  {"seconds", r->seconds},
                                  {NULL, 0}};
    const cli_flag flags[] = {{"converged", r->converged != 0}, {"stopped", stopped}, {NULL, 0}};
    const cli_members summary = {.schema = "learn-potts/1",
                                 .model = l->learnt,
                                 .counts = counts,
                                 .numbers = numbers,
                                 .flags = flags};
    return cli_write_members(l->arguments->summary, &summary);
}

/* Prints how the states of the rows were interpreted, if this is in doubt. */
static void tell_states(const learning *l)
{
    static const char *const alphabet[] = {NULL, "protein: ACDEFGHIKLMNPQRSTVWY", "RNA: ACGU",
                                           "DNA: ACGT"};
    const char *letters = alphabet[gbs_rows_alphabet(l->rows.data)];
    const uint64_t n_unknown = gbs_rows_n_unknown(l->rows.data);
    uint32_t first = 0;
    const uint32_t n_unseen = letters == NULL ? count_unseen(l, &first) : 0;
    if (letters != NULL) {
        cli_note(l->arguments, "an alignment of %s", letters);
    }
    if (n_unknown > 0) {
        cli_note(l->arguments, "%" PRIu64 " other letter%s", n_unknown,
                 gbsi_plural_of(n_unknown, " was read as a gap", "s were read as gaps"));
    }
    if (n_unseen > 0) {
        cli_note(l->arguments,
                 "warning: %" PRIu32 " of %" PRIu64 " state%s %s in no row, such as %" PRIu32
                 ": states are numbers from 0, and every site has as many",
                 n_unseen, l->report.n_states, gbsi_plural(l->report.n_states),
                 gbsi_plural_of(n_unseen, "is", "are"), first);
    }
}

static void tell(const learning *l, int stopped)
{
    const cli_arguments *arguments = l->arguments;
    const gbs_potts_report *r = &l->report;
    cli_note(arguments,
             "%" PRIu64 " row%s, effectively %.6g, of %" PRIu64 " site%s with %" PRIu64
             " state%s: %" PRIu64 " parameter%s",
             r->n_rows, gbsi_plural(r->n_rows), r->weight, r->n_sites, gbsi_plural(r->n_sites),
             r->n_states, gbsi_plural(r->n_states), r->n_parameters, gbsi_plural(r->n_parameters));
    tell_states(l);
    const int chains = l->options.method == GBS_POTTS_PCD;
    cli_note(arguments, "%s%" PRIu64 " iteration%s of %.3g s, %.3g s in all%s",
             chains         ? ""
             : r->converged ? "converged after "
                            : "not converged after ",
             r->iterations, gbsi_plural(r->iterations), r->iteration_s, r->seconds,
             stopped ? ", stopped" : "");
    if (!isnan(r->pseudo_log_likelihood)) {
        cli_note(arguments, "ln PL = %.8g, %.6g a row", r->pseudo_log_likelihood,
                 r->pseudo_log_likelihood / r->weight);
    }
    if (l->options.l1 > 0.0) {
        cli_note(arguments, "%" PRIu64 " of %" PRIu64 " pair%s of sites are coupled", r->n_coupled,
                 r->n_sites * (r->n_sites - 1) / 2, gbsi_plural(r->n_sites * (r->n_sites - 1) / 2));
    }
    if (chains && isnan(r->rhat)) {
        cli_note(arguments,
                 "not converged after %" PRIu64 " step%s of %" PRIu64
                 " chain%s: stopped, and the chains were not judged",
                 r->steps, gbsi_plural(r->steps), l->options.chains,
                 gbsi_plural(l->options.chains));
    } else if (chains) {
        cli_note(
            arguments,
            "%s after %" PRIu64 " step%s of %" PRIu64
            " chain%s: R-hat of states and pairs %.3f (converged: at most 1.05), distance from the "
            "rows %.2g of their standard errors (at most 0.25)%s",
            r->converged ? "converged" : "not converged", r->steps, gbsi_plural(r->steps),
            l->options.chains, gbsi_plural(l->options.chains), r->rhat, r->misfit,
            r->converged      ? ""
            : r->rhat <= 1.05 ? "; try more --steps or --chains, or a larger --rate"
                              : "; try more --steps");
    }
    cli_learn_tell_unwritten(arguments, r->n_unwritten);
    if (l->rows.held_out != NULL && !isnan(r->held_out_pl)) {
        cli_note(arguments, "%zu row%s held out: ln PL = %.8g, %.6g a row",
                 gbs_rows_n(l->rows.held_out), gbsi_plural(gbs_rows_n(l->rows.held_out)),
                 r->held_out_pl, r->held_out_pl / r->held_out_weight);
    }
    if (l->value != NULL && l->error == NULL) {
        cli_note(arguments, "standard errors are not known: %s", l->no_error.message);
    } else if (l->value != NULL && count_seen(l) < l->n_parameters) {
        cli_note(arguments,
                 "standard errors of %" PRIu64
                 " of %zu parameter%s are those of the rows; two sites "
                 "have states that are together in no row: to those of the rest the pull of --l2 "
                 "is added",
                 count_seen(l), l->n_parameters, gbsi_plural(l->n_parameters));
    }
    cli_learn_tell_probes(arguments, l->error != NULL ? l->n_probes : 0);
}

static int run_learn_potts(cli_arguments *arguments)
{
    learning l = {.arguments = arguments, .report = {.size = sizeof l.report}};
    int stopped = 0;
    int status = CLI_DONE;
    CLI_TRY(settle(&l));
    CLI_TRY(cli_machine_read(arguments, &l.rows));
    CLI_TRY(learn(&l, &stopped));
    CLI_TRY(find_errors(&l, &stopped));
    CLI_TRY(cli_write_model(arguments, l.learnt));
    CLI_TRY(cli_write(arguments->intervals, write_intervals, &l));
    CLI_TRY(cli_points_write(&l.curve, arguments->curve));
    CLI_TRY(write_summary(&l, stopped));
    tell(&l, stopped);

cleanup:
    cli_machine_free(&l.rows);
    gbs_model_free(l.learnt);
    free(l.value);
    free(l.error);
    free(l.unseen);
    free(l.curve.value);
    return status == CLI_DONE && stopped ? CLI_STOPPED : status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "learn potts"
static const cli_option options[] = {
#include "gibbsite/questions/learn_potts.def"
};

const cli_verb cli_verb_learn_potts = {
    .name = "learn potts",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "DATA",
    .what = "a dense Potts model of an alignment or a table",
    .notes = "DATA is an alignment (FASTA), or CSV of states: a column for each site.\n",
    .example = "gibbsite learn potts examples/bars.csv --method pcd -o bars.gbm\n",
    .run = run_learn_potts,
};
