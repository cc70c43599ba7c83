/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite reproduce: the experiments and their verdicts. */
#include <string.h>
#include <time.h>

#include "job.h"
#include "lab/reproduction.h"

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
    struct timespec begun;
} watch;

static int on_progress(void *context, double share, const char *what)
{
    watch *w = context;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const double elapsed_s =
        (double)(now.tv_sec - w->begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - w->begun.tv_nsec);
    cli_bar_share(&w->bar, elapsed_s, share, what);
    return cli_signals_caught();
}

/* The paragraph of verdict.txt. */
static int tell(const lab_experiment *e, const lab_verdict *verdict)
{
    (void)printf("%s: %s, %s\nclaim: %s\nmeasured: %s\nholds: %s\n", e->name, e->paper, e->figure,
                 e->claim, verdict->measured, verdict->holds ? "yes" : "no");
    if (verdict->note[0] != '\0') {
        (void)printf("note: %s\n", verdict->note);
    }
    return fflush(stdout) == 0 && !ferror(stdout)
               ? CLI_DONE
               : cli_error(CLI_FAILED, "standard output: cannot write");
}

int cli_reproduce(cli_arguments *arguments)
{
    watch w;
    lab_verdict verdict;
    gbs_error err = {GBS_OK, ""};
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
    const lab_experiment *experiment = find(arguments->operand[0]);
    if (experiment == NULL) {
        return unknown(arguments->operand[0]);
    }
    if (arguments->output == NULL) {
        return cli_error(CLI_USAGE,
                         "reproduce: -o FOLDER is missing; name a folder for the results");
    }
    memset(&w, 0, sizeof w);
    memset(&verdict, 0, sizeof verdict);
    cli_signals_catch();
    cli_bar_init(&w.bar, arguments, &arguments->run);
    (void)clock_gettime(CLOCK_MONOTONIC, &w.begun);
    const lab_reproduce_options options = {.quick = arguments->quick,
                                           .seed = arguments->run.seed,
                                           .threads = arguments->run.threads,
                                           .data = arguments->data,
                                           .progress = on_progress,
                                           .context = &w};
    gbs_status status =
        lab_reproduce(experiment->name, arguments->output, &options, &verdict, &err);
    cli_bar_finish(&w.bar, NULL);
    if (status == GBS_STOPPED) {
        return cli_error(CLI_STOPPED, "stopped before the end: the results are incomplete");
    }
    if (status < 0) {
        return cli_fail(status, &err);
    }
    const int told = tell(experiment, &verdict);
    return told == CLI_DONE && arguments->check && !verdict.holds ? CLI_FAILED : told;
}
