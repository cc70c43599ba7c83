/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite report: writes a page made from summaries and draws. */
#include <stdlib.h>
#include <string.h>

#include "draws/diagnosis.h"
#include "gibbsite/report.h"
#include "options/rows.h"
#include "src/files/models/format_names.h"

enum { MOST_SOURCES = 64 };

static int is_draws(const char *path)
{
    static const char *const endings[] = {".npz", ".npy", ".nc", ".csv", "index.txt"};
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t m = strlen(endings[i]);
        if (n >= m && strcmp(path + n - m, endings[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Summarises draws for the page, for the quantities with the largest R-hat.
 * @param text out: free it with gbs_free(). */
static int summarise(const cli_arguments *arguments, char **path, int n_paths, char **text,
                     size_t *n)
{
    cli_diagnosis a = {.arguments = arguments};
    gbs_error err = {GBS_OK, ""};
    gbs_output *memory = NULL;
    int status = CLI_DONE;
    CLI_TRY(cli_drawn_read(&a.drawn, arguments, path, n_paths));
    CLI_TRY(cli_diagnosis_make(&a));
    CLI_TRY(cli_diagnosis_choose(&a, CLI_SHOWN_DRAWS));
    gbs_status done = gbs_output_open_memory(&memory, &err);
    if (done >= 0) {
        done = cli_diagnosis_draws(memory, &a, &err);
    }
    if (done >= 0) {
        done = gbs_output_take(memory, text, n, &err);
    } else {
        gbs_output_discard(memory);
    }
    CLI_TRY(done < 0 ? cli_fail(done, &err) : CLI_DONE);

cleanup:
    cli_diagnosis_free(&a);
    return status;
}

static int write_page(const cli_arguments *arguments, char **draws, int n_draws,
                      gbs_report_source *source, size_t n)
{
    char *text = NULL;
    int status = CLI_DONE;
    if (n_draws > 0) {
        source[n].name = draws[0];
        status = summarise(arguments, draws, n_draws, &text, &source[n].n);
        source[n++].text = text;
    }
    if (status == CLI_DONE) {
        const char *output = arguments->output;
        status = cli_write_report(output != NULL ? output : "-", source, n);
    }
    gbs_free(text);
    return status;
}

static int run_report(cli_arguments *arguments)
{
    gbs_report_source source[MOST_SOURCES];
    const int n = arguments->n_operands;
    if (n == 0) {
        return cli_error(CLI_USAGE, "report: SUMMARY is missing; see 'gibbsite help report'");
    }
    if (n > MOST_SOURCES) {
        return cli_error(CLI_USAGE, "report: a page has at most %d files, not %d", MOST_SOURCES, n);
    }
    int status = cli_check_output(arguments->output);
    char **draws = calloc((size_t)n, sizeof *draws);
    CLI_PASS(CLI_HAVE(draws));
    int n_draws = 0;
    size_t n_sources = 0;
    for (int i = 0; i < n && status == CLI_DONE; i++) {
        const char *path = arguments->operand[i];
        if (gbsi_model_format_of(path) != NULL) {
            status = cli_error(
                CLI_USAGE, "report: %s is a model; type gibbsite marginals %s --report FILE.html",
                path, path);
        } else if (is_draws(arguments->operand[i])) {
            draws[n_draws++] = arguments->operand[i];
        } else {
            source[n_sources++] = (gbs_report_source){arguments->operand[i], NULL, 0};
        }
    }
    if (status == CLI_DONE) {
        status = write_page(arguments, draws, n_draws, source, n_sources);
    }
    free(draws);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/report.def"
};

const cli_verb cli_verb_report = {
    .name = "report",
    CLI_TAKES(options),
    .n_operands = -1,
    .operands = "SUMMARY...",
    .what = "a page for a browser from summaries of runs",
    .notes = "Makes one page in HTML of files that --summary of other verbs and --format json\n"
             "of logz and map wrote, and of draws (.npz, .npy, .nc, .csv): the verdict,\n"
             "what was asked, marginals, how far chains agree, what repeats the run.\n"
             "Several runs are compared. The page is one file and loads nothing.\n",
    .example = "gibbsite marginals examples/clinic.bif -e fever=yes --summary run.json\n"
               "gibbsite report run.json -o clinic.html\n",
    .run = run_report,
};
