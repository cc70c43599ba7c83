/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite reproduce: repeats experiments and prints their verdicts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "job/job.h"
#include "lab/reproduction.h"
#include "options/rows.h"

static int list_experiments(void)
{
    const lab_experiment *e = NULL;
    for (size_t i = 0; (e = lab_experiment_at(i)) != NULL; i++) {
        (void)printf("%s%s\n  %s, %s\n  claim: %s\n  takes: %s\n", i > 0 ? "\n" : "", e->name,
                     e->paper, e->figure, e->claim, e->cost);
    }
    return fflush(stdout) == 0 && !ferror(stdout)
               ? CLI_DONE
               : cli_error(CLI_FAILED, "standard output: cannot write");
}

static int unknown(const char *name)
{
    const char *candidate[32];
    size_t n = 0;
    const lab_experiment *e = NULL;
    while (n < 32 && (e = lab_experiment_at(n)) != NULL) {
        candidate[n++] = e->name;
    }
    const char *near = cli_nearest(name, candidate, n);
    if (near != NULL) {
        return cli_error(CLI_USAGE, "no experiment is called '%s'; did you mean '%s'?", name, near);
    }
    return cli_error(CLI_USAGE, "no experiment is called '%s'; see 'gibbsite reproduce --list'",
                     name);
}

static const lab_experiment *find(const char *name)
{
    const lab_experiment *e = NULL;
    for (size_t i = 0; (e = lab_experiment_at(i)) != NULL; i++) {
        if (strcmp(e->name, name) == 0) {
            return e;
        }
    }
    return NULL;
}

typedef struct watch {
    cli_bar bar;
    double begun_s;
} watch;

static int on_progress(void *context, double share, const char *what)
{
    watch *w = context;
    cli_bar_share(&w->bar, cli_clock_s() - w->begun_s, share, what);
    return cli_signals_caught();
}

/* Prints the paragraph of verdict.txt. */
static int tell(const lab_experiment *e, const lab_verdict *verdict)
{
    (void)printf("%s: %s, %s\nclaim: %s\nmeasured:%s\nholds: %s\n", e->name, e->paper, e->figure,
                 e->claim, verdict->measured, verdict->holds ? "yes" : "no");
    if (verdict->note[0] != '\0') {
        (void)printf("note: %s\n", verdict->note);
    }
    return fflush(stdout) == 0 && !ferror(stdout)
               ? CLI_DONE
               : cli_error(CLI_FAILED, "standard output: cannot write");
}

/* Runs one experiment into a folder.
 * @param holds out: whether the claim of the experiment holds.
 * @return an exit status */
static int reproduce(const cli_arguments *arguments, const lab_experiment *experiment,
                     const char *folder, int *holds)
{
    watch w;
    lab_verdict verdict;
    gbs_error err = {GBS_OK, ""};
    memset(&w, 0, sizeof w);
    memset(&verdict, 0, sizeof verdict);
    cli_signals_catch();
    cli_bar_init(&w.bar, arguments, &arguments->run);
    w.begun_s = cli_clock_s();
    const lab_reproduce_options options = {.quick = arguments->quick,
                                           .seed = arguments->run.seed,
                                           .threads = arguments->run.threads,
                                           .data = arguments->data,
                                           .progress = on_progress,
                                           .context = &w};
    gbs_status status = lab_reproduce(experiment->name, folder, &options, &verdict, &err);
    cli_bar_finish(&w.bar, NULL);
    if (status == GBS_STOPPED) {
        return cli_error(CLI_STOPPED,
                         "stopped before the end: %s/verdict.txt says what was found until then",
                         folder);
    }
    if (status < 0) {
        return cli_fail(status, &err);
    }
    *holds = verdict.holds;
    return tell(experiment, &verdict);
}

/* Runs every experiment into a folder with the name of the experiment. */
static int reproduce_all(const cli_arguments *arguments, int *holds)
{
    const lab_experiment *e = NULL;
    int n_hold = 0;
    int status = CLI_DONE;
    size_t n = 0;
    if (arguments->data != NULL) {
        return cli_error(CLI_USAGE, "--data: experiments want different data; run them one by one");
    }
    if (mkdir(arguments->output, 0777) != 0 && errno != EEXIST) {
        return cli_error(CLI_FAILED, "%s: cannot make a folder: %s", arguments->output,
                         strerror(errno)); // NOLINT(concurrency-mt-unsafe): one thread
    }
    for (; status == CLI_DONE && (e = lab_experiment_at(n)) != NULL; n++) {
        int one_holds = 0;
        const size_t size = strlen(arguments->output) + strlen(e->name) + 2;
        char *folder = calloc(size, 1);
        CLI_PASS(CLI_HAVE(folder));
        (void)snprintf(folder, size, "%s/%s", arguments->output, e->name);
        status = reproduce(arguments, e, folder, &one_holds);
        n_hold += one_holds;
        (void)printf("\n");
        free(folder);
    }
    if (status == CLI_DONE) {
        (void)printf("%d of %zu claims hold\n", n_hold, n);
        status = cli_flush(stdout);
    }
    *holds = (size_t)n_hold == n;
    return status;
}

static int run_reproduce(cli_arguments *arguments)
{
    int holds = 0;
    if (arguments->list) {
        return arguments->n_operands == 0
                   ? list_experiments()
                   : cli_error(CLI_USAGE, "reproduce --list takes no experiment name");
    }
    if (arguments->n_operands != 1) {
        return arguments->n_operands == 0
                   ? cli_error(CLI_USAGE, "reproduce: NAME is missing; see 'gibbsite reproduce "
                                          "--list'")
                   : cli_error(CLI_USAGE, "reproduce: unexpected '%s'", arguments->operand[1]);
    }
    const int all = strcmp(arguments->operand[0], "all") == 0;
    const lab_experiment *experiment = all ? NULL : find(arguments->operand[0]);
    if (!all && experiment == NULL) {
        return unknown(arguments->operand[0]);
    }
    if (arguments->output == NULL) {
        return cli_error(CLI_USAGE,
                         "reproduce: -o FOLDER is missing; name a folder for the results");
    }
    const int status = all ? reproduce_all(arguments, &holds)
                           : reproduce(arguments, experiment, arguments->output, &holds);
    return status == CLI_DONE && arguments->check && !holds ? CLI_FAILED : status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/reproduce.def"
};

const cli_verb cli_verb_reproduce = {
    .name = "reproduce",
    CLI_TAKES(options),
    .n_operands = -1,
    .operands = "NAME",
    .what = "repeat an experiment of the literature",
    .notes = "Writes tables (CSV), charts (SVG) and verdict.txt into a folder, and prints\n"
             "what was claimed, what was measured and whether the claim holds. Without\n"
             "--check, the exit status is 0 even if it does not. The name all stands for all\n"
             "experiments.\n",
    .example = "gibbsite reproduce --list\n"
               "gibbsite reproduce hg-two-variables --quick -o two\n",
    .run = run_reproduce,
    .names_at_once = 1,
};
