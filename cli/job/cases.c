/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite marginals --cases: a row of posterior probabilities for each row of a table, as CSV or
 * as a table on the terminal. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data_rows.h"
#include "src/core/base/plural.h"
#include "verbs/marginals.h"

typedef struct answering {
    const cli_job *job;
    const cli_selection *query;
    gbs_table *table;
    gbs_cases *cases;
    gbs_output *output;
    uint32_t n_columns;
    size_t n_states, at_once;
    uint32_t *state;    /* [at_once][n_columns] states in each row of the table */
    double *p, *mcse;   /* [at_once][n_states] probabilities of states, and their standard errors */
    double *log_p;      /* [at_once] ln P of each case */
    int *converged;     /* [at_once] 1 for each case whose answer has converged, else 0 */
    uint64_t n, n_done; /* number of all cases, and number of cases answered so far */
    uint64_t n_impossible, n_unknown, n_doubtful;
    uint64_t n_short; /* number of cases whose run ended before an error could be estimated */
    int for_people;   /* 1: print a table with as many columns as fit the terminal */
    size_t n_shown;   /* number of shown columns, at most n_states */
    int *width;       /* [n_states] widths of the columns on the screen */
    cli_bar bar;
} answering;

static void answering_free(answering *a)
{
    gbs_table_free(a->table);
    gbs_cases_free(a->cases);
    gbs_output_discard(a->output);
    free(a->state);
    free(a->p);
    free(a->mcse);
    free(a->log_p);
    free(a->converged);
    free(a->width);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* @return a text such as "lung=yes" followed by `after`, which the caller frees; NULL: out of
 *         memory. */
static char *name_of(const gbs_model *model, uint32_t v, uint32_t a, const char *after)
{
    char number[32];
    char name[32];
    const char *of = cli_variable_text(model, v, "", name);
    const char *label = cli_state_text(model, v, a, number);
    const size_t size = strlen(of) + strlen(label) + strlen(after) + 2;
    char *text = malloc(size);
    if (text != NULL) {
        (void)snprintf(text, size, "%s=%s%s", of, label, after);
    }
    return text;
}

/* Writes the text of name_of() as a field of CSV, in quotes if needed. */
static int write_name(gbs_output *output, const gbs_model *model, uint32_t v, uint32_t a,
                      const char *after)
{
    char *text = name_of(model, v, a, after);
    CLI_PASS(CLI_HAVE(text));
    gbsi_output_text(output, ",");
    gbsi_output_csv_field(output, text);
    free(text);
    return CLI_DONE;
}

static int write_header(answering *a)
{
    const gbs_model *model = a->job->model;
    const int exact = gbs_cases_is_exact(a->cases);
    int status = CLI_DONE;
    gbsi_output_text(a->output, "case");
    for (uint32_t i = 0; i < a->query->n; i++) {
        const uint32_t v = a->query->variable[i];
        for (uint32_t k = 0; k < gbs_model_arity(model, v) && status == CLI_DONE; k++) {
            status = write_name(a->output, model, v, k, "");
            if (status == CLI_DONE && !exact) {
                status = write_name(a->output, model, v, k, " mcse");
            }
        }
    }
    gbsi_output_text(a->output, ",log_probability");
    gbsi_output_text(a->output, exact ? "\n" : ",converged\n");
    return status;
}

static void write_number(gbs_output *output, double value)
{
    gbsi_output_text(output, ",");
    if (!isnan(value)) {
        gbsi_output_double(output, value);
    }
}

static void write_case(answering *a, size_t i)
{
    const int exact = gbs_cases_is_exact(a->cases);
    gbsi_output_uint(a->output, a->n_done);
    for (size_t k = i * a->n_states; k < (i + 1) * a->n_states; k++) {
        write_number(a->output, a->p[k]);
        if (!exact) {
            write_number(a->output, a->mcse[k]);
        }
    }
    write_number(a->output, a->log_p[i]);
    if (!exact) {
        gbsi_output_text(a->output, a->converged[i] ? ",1" : ",0");
    }
    gbsi_output_text(a->output, "\n");
}

/* ---- for people ------------------------------------------------------------------------------ */

enum { CASE_WIDTH = 6, LN_P_WIDTH = 12, PROBABILITY_WIDTH = 8, WITH_ERROR = 18 };

/* Chooses the columns to show, and writes their headings. At least one column is shown; the others
 * must fit beside the number and the ln P of the case. */
static int table_header(answering *a)
{
    const gbs_model *model = a->job->model;
    const int exact = gbs_cases_is_exact(a->cases);
    const int least = exact ? PROBABILITY_WIDTH : WITH_ERROR;
    int left = cli_line_width() - CASE_WIDTH - LN_P_WIDTH;
    size_t at = 0;
    a->width = calloc(a->n_states + 1, sizeof *a->width);
    CLI_PASS(CLI_HAVE(a->width));
    cli_put_right(a->output, "case", CASE_WIDTH);
    for (uint32_t i = 0; i < a->query->n; i++) {
        const uint32_t v = a->query->variable[i];
        for (uint32_t k = 0; k < gbs_model_arity(model, v); k++, at++) {
            char *text = name_of(model, v, k, "");
            char scratch[64];
            CLI_PASS(CLI_HAVE(text));
            const char *seen = cli_seen(text, scratch, sizeof scratch);
            const int width = cli_columns_of(seen) + 2;
            a->width[at] = width > least ? width : least;
            left -= a->width[at];
            if (at == a->n_shown && (left >= 0 || at == 0)) {
                a->n_shown++;
                cli_put_right(a->output, seen, a->width[at]);
            }
            free(text);
        }
    }
    if (exact) {
        cli_put_right(a->output, "ln P", LN_P_WIDTH);
    }
    gbsi_output_text(a->output, "\n");
    return CLI_DONE;
}

static void put_figure(gbs_output *output, int width, const char *format, double value)
{
    char text[64] = "";
    if (!isnan(value)) {
        (void)snprintf(text, sizeof text, format, value);
    }
    cli_put_right(output, text, width);
}

static void table_case(answering *a, size_t i)
{
    const int exact = gbs_cases_is_exact(a->cases);
    put_figure(a->output, CASE_WIDTH, "%.0f", (double)a->n_done);
    for (size_t k = 0; k < a->n_shown; k++) {
        const double p = a->p[i * a->n_states + k];
        char text[64] = "";
        if (!exact && !isnan(p)) {
            (void)snprintf(text, sizeof text, "%.4f +- %.4f", p, a->mcse[i * a->n_states + k]);
            cli_put_right(a->output, text, a->width[k]);
        } else {
            put_figure(a->output, a->width[k], "%.4f", p);
        }
    }
    if (exact) {
        put_figure(a->output, LN_P_WIDTH, "%.4f", a->log_p[i]);
    }
    gbsi_output_text(a->output, a->converged[i] ? "\n" : "  not converged\n");
}

/* ---- answering ------------------------------------------------------------------------------- */

static int on_progress(void *context, const gbs_progress *progress)
{
    answering *a = context;
    char text[64];
    (void)snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " case%s", a->n_done, a->n,
                   gbsi_plural(a->n));
    cli_bar_share(&a->bar, progress->elapsed_s, a->n > 0 ? (double)a->n_done / (double)a->n : 1.0,
                  text);
    return cli_signals_caught();
}

/* Whether a case has probabilities without standard errors, although its run estimates errors. */
static int is_short(const answering *a, size_t i)
{
    int unknown = 0;
    for (size_t k = i * a->n_states; k < (i + 1) * a->n_states; k++) {
        unknown |= isfinite(a->p[k]) && !isfinite(a->mcse[k]);
    }
    return unknown && !a->converged[i] && !cli_approximates(a->job->arguments);
}

static void count_case(answering *a, size_t i)
{
    a->n_short += is_short(a, i) ? 1 : 0;
    a->n_impossible += a->log_p[i] == -INFINITY;
    a->n_unknown += a->n_states > 0 && isnan(a->p[i * a->n_states]) && isnan(a->log_p[i]);
    a->n_doubtful += !a->converged[i];
    a->n_done++;
}

static int take_room(answering *a)
{
    const size_t n = a->at_once;
    a->state = calloc(n * a->n_columns + 1, sizeof *a->state);
    a->p = calloc(n * a->n_states + 1, sizeof *a->p);
    a->mcse = calloc(n * a->n_states + 1, sizeof *a->mcse);
    a->log_p = calloc(n, sizeof *a->log_p);
    a->converged = calloc(n, sizeof *a->converged);
    return a->state == NULL || a->p == NULL || a->mcse == NULL || a->log_p == NULL ||
                   a->converged == NULL
               ? cli_error(CLI_FAILED, "out of memory: %zu cases at once", n)
               : CLI_DONE;
}

/* @param stopped out: 1 if a limit or a signal ended the work. */
static int answer_some(answering *a, size_t n, int *stopped)
{
    gbs_error err = {GBS_OK, ""};
    size_t n_done = 0;
    const gbs_run_callbacks callbacks = {.context = a, .progress = on_progress};
    gbs_case_answers answers = {.size = sizeof answers,
                                .p = a->p,
                                .mcse = a->mcse,
                                .log_p = a->log_p,
                                .converged = a->converged};
    const gbs_status status =
        gbs_cases_answer(a->cases, n, a->state, &callbacks, &answers, &n_done, &err);
    if (status < 0) {
        return cli_fail(status, &err);
    }
    for (size_t i = 0; i < n_done; i++) {
        (a->for_people ? table_case : write_case)(a, i);
        count_case(a, i);
    }
    *stopped = status == GBS_STOPPED || cli_signals_caught();
    return CLI_DONE;
}

static int answer_all(answering *a, int *stopped)
{
    int end = 0;
    int status = take_room(a);
    if (status == CLI_DONE) {
        status = (a->for_people ? table_header : write_header)(a);
    }
    while (status == CLI_DONE && !end && !*stopped) {
        size_t n = 0;
        while (n < a->at_once && status == CLI_DONE && !end) {
            status = cli_table_next(a->table, a->state + n * a->n_columns, NULL, &end);
            n += !end;
        }
        if (status == CLI_DONE && n > 0) {
            status = answer_some(a, n, stopped);
        }
    }
    return status;
}

static void tell(const answering *a, int stopped)
{
    const cli_arguments *arguments = a->job->arguments;
    if (a->n_impossible > 0) {
        cli_note(arguments, "%" PRIu64 " case%s impossible: probability 0, no posteriors",
                 a->n_impossible, gbsi_plural_of(a->n_impossible, " is", "s are"));
    }
    if (a->n_unknown > 0) {
        cli_note(arguments,
                 "%" PRIu64 " case%s unknown: no state of positive probability was found, or the "
                 "time was over before a draw was kept",
                 a->n_unknown, gbsi_plural_of(a->n_unknown, " is", "s are"));
    }
    if (a->n_short > 0) {
        const char *limit = cli_given(arguments, "max-updates") ? "--max-updates"
                            : cli_given(arguments, "sweeps")    ? "--sweeps"
                                                                : "--time";
        cli_note(arguments,
                 "warning: the runs of %" PRIu64
                 " case%s ended before errors could be estimated: columns "
                 "mcse are empty; use a larger %s",
                 a->n_short, gbsi_plural(a->n_short), limit);
    }
    if (a->n_done == 0 && !stopped) {
        cli_note(arguments, "%s: found no cases below the names of columns", arguments->cases);
    } else if (gbs_cases_is_exact(a->cases)) {
        cli_note(arguments, "%" PRIu64 " case%s, exact", a->n_done, gbsi_plural(a->n_done));
    } else {
        cli_note(arguments,
                 "%" PRIu64 " case%s, each as 'gibbsite marginals' answers it; %" PRIu64
                 " did not converge",
                 a->n_done, gbsi_plural(a->n_done), a->n_doubtful);
    }
    if (a->for_people && a->n_shown < a->n_states) {
        cli_note(arguments, "%zu column%s not fit: -o FILE.csv has all, --query fewer",
                 a->n_states - a->n_shown,
                 gbsi_plural_of(a->n_states - a->n_shown, " does", "s do"));
    }
    if (stopped && a->n_done + 1 == a->n) {
        cli_note(arguments, "stopped: case %" PRIu64 " is not answered", a->n_done);
    } else if (stopped) {
        cli_note(arguments, "stopped: cases %" PRIu64 " to %" PRIu64 " are not answered", a->n_done,
                 a->n - 1);
    }
}

/* Checks all cases before the first answer is written, and goes back to the first case. */
static int check_all(answering *a)
{
    int end = 0;
    int status = CLI_DONE;
    uint32_t *state = calloc((size_t)a->n_columns + 1, sizeof *state);
    CLI_PASS(CLI_HAVE(state));
    while (status == CLI_DONE && !end) {
        status = cli_table_next(a->table, state, NULL, &end);
        a->n += status == CLI_DONE && !end;
    }
    free(state);
    gbs_table_rewind(a->table);
    return status;
}

static int prepare(answering *a, const char *path)
{
    const cli_job *job = a->job;
    gbs_error err = {GBS_OK, ""};
    int status = cli_table_open(job->arguments, job->model, path, 0, &a->table);
    const uint32_t *column = gbs_table_columns(a->table, &a->n_columns);
    if (status == CLI_DONE) {
        status = check_all(a);
    }
    if (status != CLI_DONE) {
        return status;
    }
    const gbs_status done = gbs_cases_new(job->model, job->evidence, &job->options, a->n_columns,
                                          column, a->query->n, a->query->variable, &a->cases, &err);
    if (done < 0) {
        return cli_fail(done, &err);
    }
    a->n_states = gbs_cases_n_states(a->cases);
    a->at_once = gbs_cases_at_once(a->cases);
    return CLI_DONE;
}

int cli_answer_cases(cli_job *job, const cli_selection *query, int for_people)
{
    const char *path = job->output != NULL ? job->output : "-";
    gbs_error err = {GBS_OK, ""};
    int stopped = 0;
    answering a;
    memset(&a, 0, sizeof a);
    a.job = job;
    a.query = query;
    a.for_people = for_people;
    int status = prepare(&a, job->arguments->cases);
    gbs_status done = GBS_OK;
    if (status == CLI_DONE) {
        done = gbs_output_open(path, &a.output, &err);
    }
    if (status == CLI_DONE && done >= 0) {
        cli_signals_catch();
        cli_bar_init(&a.bar, job->arguments, &job->options);
        status = answer_all(&a, &stopped);
        cli_bar_finish(&a.bar, NULL);
    }
    if (status == CLI_DONE && done >= 0) {
        gbs_output *output = a.output;
        a.output = NULL;
        done = gbs_output_commit(output, &err);
    }
    if (done < 0) {
        status = cli_fail_output(path, done, &err);
    } else if (status == CLI_DONE) {
        tell(&a, stopped);
        status = cli_judge(job->arguments, a.n_doubtful == 0, stopped ? CLI_STOPPED : CLI_DONE);
    }
    answering_free(&a);
    return status;
}
