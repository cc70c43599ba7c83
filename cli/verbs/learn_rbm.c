/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite learn rbm: learns a restricted Boltzmann machine from a table of zeros and ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "learn_machines.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct learning {
    cli_arguments *arguments;
    gbs_rbm_options options;
    cli_machine_rows rows;
    double *curve; /* [epochs][2] */
    gbs_model *learnt;
    gbs_rbm_report report;
    cli_bar bar;
} learning;

static int settle(learning *l)
{
    const cli_arguments *arguments = l->arguments;
    if (!cli_given(arguments, "hidden")) {
        return cli_error(CLI_USAGE,
                         "learn rbm: --hidden N, the number of hidden units, is missing");
    }
    l->options = arguments->of.rbm;
    int status = cli_learn_rates(arguments, &l->options.rate, &l->options.rate_last);
    if (status == CLI_DONE) {
        status = cli_machine_settle(arguments, &l->rows);
    }
    l->options.checkpoints = cli_learn_checkpoints(&l->rows.checkpoints);
    return status;
}

static int read_all(learning *l)
{
    const char *path = l->arguments->operand[0];
    CLI_PASS(cli_machine_read(l->arguments, &l->rows));
    if (gbs_rows_n_states(l->rows.data) != 2) {
        return cli_error(CLI_INPUT, "%s: found sites of %u state%s, expected zeros and ones", path,
                         gbs_rows_n_states(l->rows.data),
                         gbsi_plural(gbs_rows_n_states(l->rows.data)));
    }
    return CLI_DONE;
}

static int learn(learning *l, int *stopped)
{
    const cli_arguments *arguments = l->arguments;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->bar, .progress = cli_bar_watch};
    gbs_error err = {GBS_OK, ""};
    l->curve = calloc(2 * l->options.epochs, sizeof *l->curve);
    CLI_PASS(CLI_HAVE(l->curve));
    cli_signals_catch();
    cli_bar_init(&l->bar, arguments, &arguments->run);
    l->bar.unit = "epochs";
    const gbs_status done = gbs_rbm_learn(l->rows.data, l->rows.held_out, &l->options, &callbacks,
                                          l->curve, &l->learnt, &l->report, &err);
    cli_bar_finish(&l->bar, NULL);
    *stopped = done == GBS_STOPPED;
    return done < 0 ? cli_learn_fail(&l->rows.checkpoints, done, &err) : CLI_DONE;
}

/* Writes the curve of means over rows; the columns of held-out rows are NAN if there are no such
 * rows. */
static int write_curve(const learning *l)
{
    return cli_write_curve(l->arguments->curve, "epoch,pl,held_out_pl", 1, l->curve,
                           l->report.epochs, 2);
}

static int write_summary(const learning *l, int stopped)
{
    const gbs_rbm_report *r = &l->report;
    const cli_count counts[] = {{"rows", r->n_rows},
                                {"visible", r->n_visible},
                                {"hidden", r->n_hidden},
                                {"epochs", r->epochs},
                                {"steps", r->steps},
                                {"held_out_rows", gbs_rows_n(l->rows.held_out)},
                                {"best_epoch", r->best_epoch},
                                {"zero_couplings", r->n_zero},
                                {NULL, 0}};
    const cli_number numbers[] = {{"l2", l->options.l2},
                                  {"l1", l->options.l1},
                                  {"rate", l->options.rate},
                                  {"last_rate", l->options.rate_last},
                                  {"mean_pseudo_log_likelihood", r->mean_pl},
                                  {"held_out_mean_pseudo_log_likelihood", r->held_out_pl},
                                  {"rhat", r->rhat},
                                  {"misfit", r->misfit},
                                  {"rise", r->rise},
                                  {"predicted_bytes", r->predicted_bytes},
                                  {"seconds_per_epoch", r->epoch_s},
                                  {"seconds", r->seconds},
                                  {NULL, 0}};
    const cli_flag flags[] = {{"herded", l->options.draw == GBS_RBM_HERDED},
                              {"persistent", l->options.method == GBS_RBM_PCD},
                              {"converged", r->converged != 0},
                              {"stopped", stopped},
                              {NULL, 0}};
    const cli_members summary = {.schema = "learn-rbm/1",
                                 .model = l->learnt,
                                 .counts = counts,
                                 .numbers = numbers,
                                 .flags = flags};
    return cli_write_members(l->arguments->summary, &summary);
}

static void tell_convergence(const learning *l)
{
    const gbs_rbm_report *r = &l->report;
    const int agree = r->rhat <= 1.05;
    const int rises = r->misfit <= 0.25 && !(r->rise <= 0.02);
    cli_note(l->arguments,
             "%s: R-hat of units among the chains, at these weights, %.3f (at most 1.05), slope of "
             "ln P %.3f of the rows' standard errors (at most 0.25)%s",
             r->converged ? "converged"
             : agree      ? "not converged"
                          : "not converged, chains disagree",
             r->rhat, r->misfit,
             r->converged     ? ""
             : !agree         ? "; try a larger --l2 or --batch, more --sweeps, or a smaller --rate"
             : !rises         ? "; try more --epochs, a larger --batch, or a smaller last --rate"
             : r->rise > 0.02 ? ", but ln PL still rises; try more --epochs"
                              : ", but ln PL has not risen; try more --epochs");
}

static void tell(const learning *l, int stopped)
{
    const cli_arguments *arguments = l->arguments;
    const gbs_rbm_report *r = &l->report;
    cli_note(arguments,
             "%" PRIu64 " row%s, %" PRIu64 " visible and %" PRIu64 " hidden unit%s: %" PRIu64
             " epochs of %.3g s, %.3g s in all%s",
             r->n_rows, gbsi_plural(r->n_rows), r->n_visible, r->n_hidden, gbsi_plural(r->n_hidden),
             r->epochs, r->epoch_s, r->seconds, stopped ? ", stopped" : "");
    if (r->epochs > 0) {
        cli_note(arguments, "ln PL = %.6g a row after %s epoch, %.6g after the first", r->mean_pl,
                 r->best_epoch > 0 ? "the best" : "the last", l->curve[0]);
    }
    if (r->epochs > 0 && l->rows.held_out != NULL) {
        cli_note(arguments, "%zu row%s held out: ln PL = %.6g a row, %.6g after the first",
                 gbs_rows_n(l->rows.held_out), gbsi_plural(gbs_rows_n(l->rows.held_out)),
                 r->held_out_pl, l->curve[1]);
    }
    if (r->best_epoch > 0) {
        cli_note(arguments,
                 "the model is that of epoch %" PRIu64 " of %" PRIu64
                 ", after which held-out rows had the highest ln PL%s",
                 r->best_epoch, r->epochs,
                 stopped || r->epochs - r->best_epoch >= l->options.patience
                     ? ""
                     : "; it may rise further: try more --epochs");
    }
    if (l->options.l1 > 0.0) {
        cli_note(arguments, "%" PRIu64 " of %" PRIu64 " coupling%s %s 0", r->n_zero,
                 r->n_visible * r->n_hidden, gbsi_plural(r->n_visible * r->n_hidden),
                 gbsi_plural_of(r->n_zero, "is", "are"));
    }
    cli_learn_tell_unwritten(arguments, r->n_unwritten);
    if (r->rhat >= 1.0) { /* otherwise learning was stopped before R-hat was computed */
        tell_convergence(l);
    }
}

static int run_learn_rbm(cli_arguments *arguments)
{
    learning l = {.arguments = arguments, .report = {.size = sizeof l.report}};
    int stopped = 0;
    int status = CLI_DONE;
    CLI_TRY(settle(&l));
    CLI_TRY(read_all(&l));
    CLI_TRY(learn(&l, &stopped));
    CLI_TRY(cli_write_model(arguments, l.learnt));
    CLI_TRY(write_curve(&l));
    CLI_TRY(write_summary(&l, stopped));
    tell(&l, stopped);

cleanup:
    cli_machine_free(&l.rows);
    gbs_model_free(l.learnt);
    free(l.curve);
    return status == CLI_DONE && stopped ? CLI_STOPPED : status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "learn rbm"
static const cli_option options[] = {
#include "gibbsite/questions/learn_rbm.def"
};

const cli_verb cli_verb_learn_rbm = {
    .name = "learn rbm",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "DATA",
    .what = "a restricted Boltzmann machine from zeros and ones",
    .notes = "DATA is CSV of zeros and ones, a column for each visible unit.\n",
    .example = "gibbsite learn rbm examples/bars.csv --hidden 8 --l2 0 --rate 0.3 -o bars.gbm\n",
    .run = run_learn_rbm,
};
