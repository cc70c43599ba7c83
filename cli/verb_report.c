/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite report: a page made of summaries and draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draws_read.h"

enum { MOST_SOURCES = 64, MOST_QUANTITIES = 4 };

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

typedef struct ranked {
    double rhat;
    size_t quantity;
} ranked;

/* Largest R-hat first, those without one last; else in the order of the file. */
static int compare_ranked(const void *left, const void *right)
{
    const ranked *p = left;
    const ranked *q = right;
    return p->rhat != q->rhat ? (p->rhat > q->rhat ? -1 : 1)
                              : (p->quantity < q->quantity ? -1 : p->quantity > q->quantity);
}

/* The quantities with the largest R-hat. @return an exit status. */
static int choose(const cli_drawn *d, gbs_drawn shown[MOST_QUANTITIES], size_t *n_shown)
{
    ranked *order = malloc((d->n + 1) * sizeof *order);
    if (order == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    for (size_t i = 0; i < d->n; i++) {
        gbs_error err = {GBS_OK, ""};
        gbs_diagnostics of = {.size = sizeof of};
        const gbs_status done = gbs_diagnose(d->value[i], d->n_chains, d->n_draws, &of, &err);
        if (done < 0) {
            free(order);
            return cli_fail(done, &err);
        }
        order[i] = (ranked){isnan(of.rhat) ? -INFINITY : of.rhat, i};
    }
    qsort(order, d->n, sizeof *order, compare_ranked);
    *n_shown = d->n < MOST_QUANTITIES ? d->n : MOST_QUANTITIES;
    for (size_t k = 0; k < *n_shown; k++) {
        const size_t i = order[k].quantity;
        shown[k] = (gbs_drawn){d->name[i], d->value[i]};
    }
    free(order);
    return CLI_DONE;
}

/* Draws as a source of the page. @param text out: free it with gbs_free(). */
static int summarise(char **path, int n_paths, char **text, size_t *n)
{
    cli_drawn d = {0};
    gbs_drawn shown[MOST_QUANTITIES];
    size_t n_shown = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_output *memory = NULL;
    int status = cli_drawn_read(&d, path, n_paths);
    if (status == CLI_DONE) {
        status = choose(&d, shown, &n_shown);
    }
    if (status == CLI_DONE) {
        gbs_status done = gbs_output_open_memory(&memory, &err);
        if (done >= 0) {
            done = gbs_draws_summary(shown, n_shown, d.n_chains, d.n_draws, memory, &err);
        }
        if (done >= 0) {
            done = gbs_output_take(memory, text, n, &err);
        } else {
            gbs_output_discard(memory);
        }
        status = done < 0 ? cli_fail(done, &err) : CLI_DONE;
    }
    cli_drawn_free(&d);
    return status;
}

static int write_page(const cli_arguments *arguments, char **draws, int n_draws,
                      gbs_report_source *source, size_t n)
{
    char *text = NULL;
    int status = CLI_DONE;
    if (n_draws > 0) {
        source[n].name = draws[0];
        status = summarise(draws, n_draws, &text, &source[n].n);
        source[n++].text = text;
    }
    if (status == CLI_DONE) {
        const char *output = arguments->output;
        status = cli_write_report(output != NULL ? output : "-", source, n);
    }
    gbs_free(text);
    return status;
}

int cli_report(cli_arguments *arguments)
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
    if (draws == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    int n_draws = 0;
    size_t n_sources = 0;
    for (int i = 0; i < n; i++) {
        if (is_draws(arguments->operand[i])) {
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
