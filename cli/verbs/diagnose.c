/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite diagnose: R-hat, effective sample sizes and errors of draws of any program. */
#include "draws/diagnosis.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draws/kept_draws.h"
#include "gibbsite/diagnose.h"
#include "gibbsite/report.h"
#include "job/job.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

enum { TOP = 20 };

/* Vehtari et al. (2021), section 4: R-hat below 1.01 and an ESS of 100 for each of four chains. */
#define MOST_RHAT    1.01
#define LEAST_ESS    400.0
#define LEAST_CHAINS 4

/* Finds the smallest effective number of draws in the bulk or the tail over all quantities for
 * which they are known. */
static size_t least_ess(const cli_diagnosis *a, double *ess)
{
    size_t at = a->drawn.n;
    *ess = INFINITY;
    for (size_t i = 0; i < a->drawn.n; i++) {
        const double least = fmin(a->of[i].ess_bulk, a->of[i].ess_tail); /* fmin() ignores NAN */
        if (least < *ess) {
            *ess = least;
            at = i;
        }
    }
    return at;
}

/* Writes an R-hat above 1.01 with enough digits to show that it is above 1.01. */
static const char *above_text(double rhat, char *text, size_t size)
{
    int digits = 4;
    do {
        (void)snprintf(text, size, "%.*g", digits, rhat);
    } while (strcmp(text, "1.01") == 0 && ++digits < 17);
    return text;
}

/* Prints the verdict. @return whether the draws have converged. */
static int tell(const cli_diagnosis *a)
{
    size_t n_constant = 0;
    size_t n_unknown = 0;
    char text[512];
    double ess = 0.0;
    const size_t slow = least_ess(a, &ess);
    for (size_t i = 0; i < a->drawn.n; i++) {
        n_constant += a->of[i].constant != 0;
        n_unknown += !a->of[i].constant && isnan(a->of[i].rhat);
    }
    if (n_constant > 0) {
        cli_note(a->arguments, "%zu of %zu quantit%s never %s: that says nothing about convergence",
                 n_constant, a->drawn.n, gbsi_plural_of(a->drawn.n, "y", "ies"),
                 gbsi_plural_of(n_constant, "changes", "change"));
    }
    if (n_unknown > 0) {
        cli_note(a->arguments,
                 "%zu of %zu quantit%s %s no R-hat: too few draws, or some that are not finite",
                 n_unknown, a->drawn.n, gbsi_plural_of(a->drawn.n, "y", "ies"),
                 gbsi_plural_of(n_unknown, "has", "have"));
    }
    if (a->worst == a->drawn.n) {
        cli_note_verdict(a->arguments, CLI_YELLOW, "not converged: no quantity has an R-hat");
        return 0;
    }
    const double rhat = a->of[a->worst].rhat;
    cli_colour colour = CLI_YELLOW;
    if (rhat > MOST_RHAT) {
        colour = CLI_RED;
        char number[32];
        (void)snprintf(text, sizeof text,
                       "not converged: %s, R-hat of %.100s is %s, above 1.01; draw longer chains",
                       gbsi_plural_of(a->drawn.n_chains, "the halves of the chain disagree",
                                      "the chains disagree"),
                       a->drawn.name[a->worst], above_text(rhat, number, sizeof number));
    } else if (a->drawn.n_chains < LEAST_CHAINS) {
        (void)snprintf(text, sizeof text,
                       "not converged: fewer than 4 chains: one that is stuck looks like one that "
                       "has converged");
    } else if (ess < LEAST_ESS) {
        (void)snprintf(
            text, sizeof text,
            "not converged: %.100s has an effective sample size of %.0f, 400 are needed; "
            "draw longer chains",
            a->drawn.name[slow], ess);
    } else {
        colour = n_unknown > 0 ? CLI_YELLOW : CLI_GREEN;
        (void)snprintf(text, sizeof text, "%s: R-hat is at most %.4f, ESS at least %.0f",
                       n_unknown > 0 ? "not converged, as far as is known" : "converged", rhat,
                       ess);
    }
    cli_note_verdict(a->arguments, colour, text);
    return colour == CLI_GREEN;
}

static int check(const cli_arguments *arguments, const char **format)
{
    if (arguments->n_operands == 0) {
        return cli_error(CLI_USAGE, "diagnose: DRAWS is missing; see 'gibbsite help diagnose'");
    }
    const int status = cli_output_format(arguments, "csv|table|json",
                                         cli_is_terminal(STDOUT_FILENO) ? "table" : "csv", format);
    return status == CLI_DONE ? cli_check_plot(arguments) : status;
}

static int run_diagnose(cli_arguments *arguments)
{
    cli_diagnosis a = {.arguments = arguments};
    const char *format = NULL;
    int status = check(arguments, &format);
    cli_signals_catch();
    if (status == CLI_DONE) {
        status = cli_drawn_read(&a.drawn, arguments, arguments->operand, arguments->n_operands);
    }
    if (status == CLI_DONE) {
        status = cli_diagnosis_make(&a);
    }
    const int is_table = format != NULL && strcmp(format, "table") == 0;
    if (status == CLI_DONE) {
        status = cli_diagnosis_choose(
            &a, arguments->top == 0 && is_table && a.drawn.n > TOP ? TOP : arguments->top);
    }
    if (status == CLI_DONE && arguments->plot != NULL && a.worst == a.drawn.n) {
        status =
            cli_error(CLI_FAILED, "--plot %s: no quantity has an R-hat to show", arguments->plot);
    }
    if (status == CLI_DONE) {
        status = cli_write(arguments->output != NULL ? arguments->output : "-",
                           is_table                      ? cli_diagnosis_as_table
                           : strcmp(format, "json") == 0 ? cli_diagnosis_as_json
                                                         : cli_diagnosis_as_csv,
                           &a);
    }
    if (status == CLI_DONE && arguments->plot != NULL) {
        status = cli_diagnose_chart(&a);
    }
    if (status == CLI_DONE) {
        status = cli_judge(arguments, tell(&a), CLI_DONE);
    }
    cli_diagnosis_free(&a);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/diagnose.def"
};

const cli_verb cli_verb_diagnose = {
    .name = "diagnose",
    CLI_TAKES(options),
    .n_operands = -1,
    .operands = "DRAWS...",
    .what = "have the chains converged? draws of any program",
    .notes = "R-hat, effective sample sizes and standard errors of every quantity, as Vehtari\n"
             "et al. (2021) define them. DRAWS is one .npz, .npy or .nc (ArviZ) file, the\n"
             "BASEindex.txt of CODA, or CSV: of CmdStan, a chain a file, or with a column\n"
             "chain, as 'gibbsite sample' and R's package posterior write it. Four chains\n"
             "have converged if R-hat is below 1.01 and ESS above 400; quantities that never\n"
             "change are called constant, which says nothing about convergence.\n",
    .example = "gibbsite sample examples/sprinkler.bif --method sample --sweeps 2k -o d.npz\n"
               "gibbsite diagnose d.npz\n"
               "gibbsite diagnose d.npz --plot ranks.svg --format json\n",
    .run = run_diagnose,
};
