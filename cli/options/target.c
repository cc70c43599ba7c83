/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for the verbs certify and scan: target variables, and influences. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draws/kept_draws.h"
#include "gibbsite/dobrushin.h"
#include "src/core/base/plural.h"

#define RECTANGLE "rectangle:"

/* Reads whole numbers with the character `between` between them. @return 1 if the text consists of
 * exactly n such numbers. */
static int parse_numbers(const char *text, char between, size_t n, uint64_t *number)
{
    char part[32];
    for (size_t i = 0; i < n; i++) {
        const char *end = strchr(text, between);
        const size_t length = end == NULL ? strlen(text) : (size_t)(end - text);
        if (length >= sizeof part || (end == NULL) != (i + 1 == n)) {
            return 0;
        }
        memcpy(part, text, length);
        part[length] = '\0';
        if (!cli_parse_uint(part, &number[i])) {
            return 0;
        }
        text += length + 1;
    }
    return 1;
}

/* Reads --grid. @param side [2] out: rows and columns that --grid gives the variables. */
static int read_grid(const cli_job *job, uint64_t *side)
{
    const char *grid = job->arguments->grid;
    const uint64_t n = gbs_model_n_variables(job->model);
    if (!parse_numbers(grid, 'x', 2, side) || side[0] == 0 || side[1] == 0 || side[0] > n ||
        side[0] * side[1] != n) {
        return cli_error(CLI_USAGE,
                         "--grid %s: expected RxC, rows times columns of %" PRIu64 " variable%s",
                         grid, n, gbsi_plural(n));
    }
    return CLI_DONE;
}

static int weigh_rectangle(const cli_job *job, const char *text, double *weight)
{
    const char *grid = job->arguments->grid;
    uint64_t side[2];
    uint64_t corner[4];
    if (grid == NULL) {
        return cli_error(CLI_USAGE,
                         "--target %s: also give the rows and columns of the variables with "
                         "--grid RxC",
                         text);
    }
    CLI_PASS(read_grid(job, side));
    if (!parse_numbers(text + strlen(RECTANGLE), ',', 4, corner) || corner[0] > corner[2] ||
        corner[1] > corner[3] || corner[2] >= side[0] || corner[3] >= side[1]) {
        return cli_error(CLI_USAGE,
                         "--target %s: expected rectangle:R0,C0,R1,C1, its first and last rows and "
                         "columns in a grid of %s",
                         text, grid);
    }
    for (uint64_t r = corner[0]; r <= corner[2]; r++) {
        for (uint64_t c = corner[1]; c <= corner[3]; c++) {
            weight[r * side[1] + c] = 1.0;
        }
    }
    return CLI_DONE;
}

static int weigh_list(const cli_job *job, const char *text, double *weight)
{
    cli_selection selection = {NULL, 0, 0};
    int status = cli_select(job->model, "--target", text, &selection);
    for (uint32_t i = 0; status == CLI_DONE && i < selection.n; i++) {
        weight[selection.variable[i]] = 1.0;
    }
    cli_selection_free(&selection);
    return status;
}

/* @return whether the text names a file; a variable with this name takes precedence. */
static int is_file(const cli_job *job, const char *text)
{
    uint32_t variable = 0;
    return access(text, F_OK) == 0 &&
           gbs_model_find_variable(job->model, text, &variable, NULL) < 0;
}

int cli_check_grid(const cli_job *job)
{
    const cli_arguments *a = job->arguments;
    uint64_t side[2];
    int is_used = 0;
    for (int k = 0; k < a->n_targets; k++) {
        is_used |= strncmp(a->target[k], RECTANGLE, strlen(RECTANGLE)) == 0;
    }
    if (a->grid != NULL && !is_used) {
        return cli_error(CLI_USAGE, "--grid %s: applies to --target rectangle:R0,C0,R1,C1 only",
                         a->grid);
    }
    return a->grid != NULL ? read_grid(job, side) : CLI_DONE;
}

int cli_target(const cli_job *job, const char *text, double **weight)
{
    gbs_error err = {GBS_OK, ""};
    int status = CLI_DONE;
    *weight = NULL;
    if (strcmp(text, "all") == 0) {
        return CLI_DONE;
    }
    double *made = calloc((size_t)gbs_model_n_variables(job->model) + 1, sizeof *made);
    CLI_PASS(CLI_HAVE(made));
    if (strncmp(text, RECTANGLE, strlen(RECTANGLE)) == 0) {
        status = weigh_rectangle(job, text, made);
    } else if (is_file(job, text)) {
        const gbs_status done = gbsi_weights_read(text, job->model, made, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    } else {
        status = weigh_list(job, text, made);
    }
    if (status != CLI_DONE) {
        free(made);
        return status;
    }
    *weight = made;
    return CLI_DONE;
}

int cli_load_targets(cli_job *job)
{
    cli_selection selection = {NULL, 0, 0};
    CLI_PASS(cli_select(job->model, "--target", job->arguments->targets, &selection));
    job->target = selection.variable;
    job->options.target = selection.variable;
    job->options.n_targets = selection.n;
    return CLI_DONE;
}

static int stop_asked(void *context)
{
    const cli_job *job = context;
    return cli_signals_caught() || cli_clock_s() > job->stop_s;
}

int cli_influences(cli_job *job, gbs_influences **influences)
{
    const char *typed = job->arguments->influence;
    gbs_error err = {GBS_OK, ""};
    gbs_pair *given = NULL;
    size_t n_given = 0;
    if (job->arguments->influences != NULL) {
        const gbs_status read =
            gbs_influences_read(job->arguments->influences, job->model, &given, &n_given, &err);
        CLI_PASS(read < 0 ? cli_fail_input(read, &err) : CLI_DONE);
    }
    const gbs_influence_options options = {
        .size = sizeof options,
        .given = given,
        .n_given = n_given,
        .rule = typed == NULL || strcmp(typed, "auto") == 0 ? GBS_INFLUENCE_AUTO
                : strcmp(typed, "bound") == 0               ? GBS_INFLUENCE_BOUND
                                                            : GBS_INFLUENCE_EXACT,
        .memory_limit = job->options.memory_limit,
        .stop = stop_asked,
        .stop_context = job};
    job->stop_s = job->options.time_s > 0.0 ? cli_clock_s() + job->options.time_s : INFINITY;
    cli_signals_catch();
    const gbs_status done =
        gbs_influences_new(job->model, job->evidence, &options, influences, &err);
    gbs_free(given);
    if (done < 0) {
        return cli_fail(done, &err);
    }
    const gbs_influence_report *r = gbs_influences_report(*influences);
    if (r->n_refused > 0) {
        cli_note(job->arguments,
                 "influences on %" PRIu32 " of %" PRIu32
                 " variable%s are upper bounds: their neighbours have too many configurations to "
                 "enumerate",
                 r->n_refused, r->n_free, gbsi_plural(r->n_free));
    }
    return CLI_DONE;
}
