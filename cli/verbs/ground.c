/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite ground: turns a program of Markov logic and its database into a factor graph. */
#include <inttypes.h>
#include <string.h>

#include "gibbsite/ground.h"
#include "job/job.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

static int on_progress(void *context, const gbs_progress *progress)
{
    cli_bar_share(context, progress->elapsed_s,
                  (double)progress->pass / (double)(progress->passes > 0 ? progress->passes : 1),
                  "formulas");
    return cli_signals_caught();
}

static void tell(const cli_arguments *arguments, const gbs_ground_report *r)
{
    for (uint32_t i = 0; i < r->n_warnings; i++) {
        cli_note(arguments, "warning: %s", r->warning[i]);
    }
    cli_note(arguments,
             "%" PRIu64 " formula%s, %" PRIu64
             " fact%s; %.0f groundings, %.0f of them decided by the database",
             r->n_formulas, gbsi_plural(r->n_formulas), r->n_facts, gbsi_plural(r->n_facts),
             r->n_instances, r->n_instances - (double)r->n_groundings);
    if (arguments->of.ground.similarity != NULL) {
        cli_note(arguments, "similarity: %" PRIu64 " fact%s from the words that two names share",
                 r->n_similar, gbsi_plural(r->n_similar));
    }
    const double alone = r->n_atoms - (double)r->n_variables;
    cli_note(arguments,
             "variables: %" PRIu64 "; factors: %" PRIu64 ", of these tables: %" PRIu64
             "; equal groundings merged: %" PRIu64,
             r->n_variables, r->n_factors, r->n_tables, r->n_merged);
    if (alone > 0.0) {
        cli_note(arguments,
                 "open atoms in no factor: %.0f; they hold with probability 1/2, and are left out",
                 alone);
    }
}

static int run_ground(cli_arguments *arguments)
{
    gbs_ground_options options = arguments->of.ground;
    cli_bar bar;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &bar, .progress = on_progress};
    gbs_ground_report report = {.size = sizeof report};
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    char **operand = arguments->operand;
    if (strcmp(operand[0], "-") == 0 && strcmp(operand[1], "-") == 0) {
        return cli_error(CLI_USAGE, "standard input cannot be the program and the database");
    }
    int status = cli_check_model_output(arguments);
    if (status != CLI_DONE) {
        return status;
    }
    cli_bar_init(&bar, arguments, &arguments->run);
    cli_signals_catch();
    const gbs_status done =
        gbs_ground(operand[0], operand[1], &options, &callbacks, &model, &report, &err);
    cli_bar_finish(&bar, NULL);
    cli_signals_end(); /* from here on a signal ends the program: writing the files takes seconds,
                          and an incomplete file is useless */
    status = done < 0 ? cli_fail_input(done, &err) : cli_write_model(arguments, model);
    if (status == CLI_DONE) {
        tell(arguments, &report);
    }
    gbs_model_free(model);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "ground"
static const cli_option options[] = {
#include "gibbsite/questions/ground.def"
};

const cli_verb cli_verb_ground = {
    .name = "ground",
    CLI_TAKES(options),
    .n_operands = 2,
    .operands = "PROGRAM DATABASE",
    .what = "Markov logic into a factor graph",
    .notes = "PROGRAM has weighted formulas of first-order logic, DATABASE facts, as\n"
             "Alchemy, Tuffy and ProbCog write them. Atoms of query predicates become\n"
             "variables, named as in PROGRAM; atoms of the others are false unless DATABASE\n"
             "has them. Groundings that DATABASE decides are left out.\n",
    .example = "gibbsite ground examples/smokers.mln examples/smokers.db -o smokers.gbm\n"
               "gibbsite marginals smokers.gbm --query 'Smokes(Bob)'\n",
    .run = run_ground,
};
