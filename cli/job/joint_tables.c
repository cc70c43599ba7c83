/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite marginals --joint: the joint distributions of some variables, exact if junction trees
 * fit, otherwise from the draws of a run. */
#include "joint_tables.h"
#include "gibbsite/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct joints {
    cli_job *job;
    const char *format;
    cli_joint *table; /* [n] tables */
    int n;
    uint32_t *needed; /* variables whose draws a checkpoint keeps; NULL: none */
} joints;

static void joints_free(joints *j)
{
    for (int i = 0; j->table != NULL && i < j->n; i++) {
        cli_selection_free(&j->table[i].selection);
        gbs_joint_estimate_free(j->table[i].estimate);
        free(j->table[i].p);
    }
    free(j->table);
    free(j->needed);
}

int cli_joint_settle(cli_arguments *arguments, const char *format)
{
    if (strcmp(format, "csv") != 0 && strcmp(format, "table") != 0 && strcmp(format, "json") != 0) {
        return cli_error(CLI_USAGE, "--joint: joint tables are written as csv, table or json");
    }
    if (cli_approximates(arguments)) {
        return cli_error(CLI_USAGE, "--joint: approximations have no joint distributions: use "
                                    "--method auto, exact or sample");
    }
    return CLI_DONE;
}

static int take_tables(joints *j)
{
    const gbs_model *model = j->job->model;
    const cli_arguments *arguments = j->job->arguments;
    int status = CLI_DONE;
    j->n = arguments->n_joints;
    j->table = calloc((size_t)j->n + 1, sizeof *j->table);
    CLI_PASS(CLI_HAVE(j->table));
    for (int i = 0; i < j->n && status == CLI_DONE; i++) {
        cli_joint *t = &j->table[i];
        status = cli_select(model, "--joint", arguments->joint[i], &t->selection);
        t->n = 1;
        for (uint32_t k = 0; k < t->selection.n && status == CLI_DONE; k++) {
            t->n *= gbs_model_arity(model, t->selection.variable[k]);
            if (t->n > GBS_JOINT_MAX_STATES) {
                status = cli_error(CLI_USAGE,
                                   "--joint %s: more than %d joint states, which are "
                                   "the most: name fewer variables",
                                   arguments->joint[i], (int)GBS_JOINT_MAX_STATES);
            }
        }
        t->p = status == CLI_DONE ? calloc(t->n, 4 * sizeof *t->p) : NULL;
        if (status == CLI_DONE && t->p == NULL) {
            status = cli_error(CLI_FAILED, "out of memory: %zu joint states", t->n);
        }
        if (status == CLI_DONE) {
            t->mcse = t->p + t->n;
            t->ess = t->mcse + t->n;
            t->rhat = t->ess + t->n;
        }
    }
    return status;
}

/* ---- answering ------------------------------------------------------------------------------- */

/* @return GBS_ERR_LIMIT if the junction trees of a table exceed what the method allows. */
static gbs_status answer_exactly(joints *j, gbs_error *err)
{
    const gbs_run_options *o = &j->job->options;
    gbs_exact_options options = {
        .size = sizeof options, .memory_limit = o->memory_limit, .threads = o->threads};
    if (o->method == GBS_METHOD_AUTO) {
        options.memory_limit = o->memory_limit != 0 ? o->memory_limit : gbs_auto_memory_limit();
        options.most_s = 0.5 * (o->time_s > 0.0 ? o->time_s : o->budget_s);
    }
    for (int i = 0; i < j->n; i++) {
        cli_joint *t = &j->table[i];
        const gbs_status status = gbs_exact_joint(j->job->model, j->job->evidence, &options,
                                                  t->selection.n, t->selection.variable, t->p, err);
        if (status < 0) {
            return status;
        }
        for (size_t row = 0; row < t->n; row++) {
            t->mcse[row] = 0.0;
            t->ess[row] = t->rhat[row] = NAN;
        }
    }
    return GBS_OK;
}

static gbs_status on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                          const uint32_t *state, gbs_error *err)
{
    joints *j = context;
    const cli_job *job = j->job;
    gbs_status status = GBS_OK;
    (void)draw;
    (void)log_density;
    for (int i = 0; i < j->n && status >= 0; i++) {
        cli_joint *t = &j->table[i];
        if (t->estimate == NULL) { /* the number of chains is not known before the first draw */
            status =
                gbs_joint_estimate_new(job->model, job->evidence, t->selection.n,
                                       t->selection.variable, gbs_run_report(job->run)->chains,
                                       job->options.draw == GBS_DRAW_RANDOM, &t->estimate, err);
        }
        if (status >= 0) {
            status = gbs_joint_estimate_add(t->estimate, chain, state, err);
        }
    }
    return status;
}

static int read_estimates(joints *j)
{
    gbs_error err = {GBS_OK, ""};
    const int is_exact = strcmp(gbs_run_report(j->job->run)->method, "exact") == 0;
    /* no draws were made, because the evidence determines all variables */
    if (is_exact && j->table[0].estimate == NULL) {
        const gbs_status status = answer_exactly(j, &err);
        return status < 0 ? cli_fail(status, &err) : CLI_DONE;
    }
    for (int i = 0; i < j->n; i++) {
        cli_joint *t = &j->table[i];
        const gbs_status status =
            t->estimate == NULL
                ? GBS_ERR_STATE
                : gbs_joint_estimate_read(t->estimate, t->p, t->mcse, t->ess, t->rhat, &err);
        if (status == GBS_ERR_STATE) {
            return cli_error(CLI_STOPPED,
                             "stopped before the first draw was kept: nothing is written");
        }
        if (status < 0) {
            return cli_fail(status, &err);
        }
    }
    return CLI_DONE;
}

static int compare_ids(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Makes a checkpoint keep, for each draw, the states of the variables that the tables need. */
static int keep_needed(joints *j)
{
    cli_job *job = j->job;
    gbs_error err = {GBS_OK, ""};
    const size_t most = gbs_model_n_variables(job->model);
    uint32_t n = 0;
    if (job->arguments->checkpoint == NULL && job->arguments->resume == NULL) {
        return CLI_DONE;
    }
    j->needed = calloc(most * (size_t)(j->n + 1), sizeof *j->needed);
    CLI_PASS(CLI_HAVE(j->needed));
    for (int i = 0; i < j->n; i++) {
        uint32_t n_more = 0;
        const gbs_status done = gbs_joint_estimate_needs(
            job->model, j->table[i].selection.n, j->table[i].selection.variable,
            job->options.draw == GBS_DRAW_RANDOM, j->needed + n, &n_more, &err);
        if (done < 0) {
            return cli_fail(done, &err);
        }
        n += n_more;
    }
    qsort(j->needed, n, sizeof *j->needed, compare_ids);
    job->n_drawn = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || j->needed[i] != j->needed[i - 1]) {
            j->needed[job->n_drawn++] = j->needed[i];
        }
    }
    job->drawn = j->needed;
    return CLI_DONE;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_csv(gbs_output *output, const gbs_model *model, const cli_joint *t)
{
    char text[32];
    for (uint32_t i = 0; i < t->selection.n; i++) {
        gbsi_output_csv_field(output, cli_variable_text(model, t->selection.variable[i], "", text));
        gbsi_output_text(output, ",");
    }
    gbsi_output_text(output, "probability,mcse,ess,rhat\n");
    for (size_t row = 0; row < t->n; row++) {
        for (uint32_t i = 0; i < t->selection.n; i++) {
            const uint32_t a = cli_joint_state(model, t, row, i);
            gbsi_output_text(output, i > 0 ? "," : "");
            gbsi_output_csv_field(output, cli_state_text(model, t->selection.variable[i], a, text));
        }
        cli_csv_number(output, t->p[row]);
        cli_csv_number(output, t->mcse[row]);
        cli_csv_number(output, t->ess[row]);
        cli_csv_number(output, t->rhat[row]);
        gbsi_output_text(output, "\n");
    }
}

static void json_variable(gbs_output *output, const gbs_model *model, uint32_t v)
{
    gbsi_output_text(output, "{");
    cli_json_variable(output, model, v);
    if (gbs_model_state_label(model, v, 0) == NULL) {
        gbsi_output_text(output, ", \"n_states\": ");
        gbsi_output_uint(output, gbs_model_arity(model, v));
    }
    gbsi_output_text(output, "}");
}

static void write_json(gbs_output *output, const joints *j)
{
    const gbs_model *model = j->job->model;
    cli_json_head(output, "joints/1", gbs_model_digest(model));
    gbsi_output_text(output, ",\n  \"tables\": [\n");
    for (int i = 0; i < j->n; i++) {
        const cli_joint *t = &j->table[i];
        gbsi_output_text(output, i > 0 ? ",\n    {\"variables\": [" : "    {\"variables\": [");
        for (uint32_t k = 0; k < t->selection.n; k++) {
            gbsi_output_text(output, k > 0 ? ", " : "");
            json_variable(output, model, t->selection.variable[k]);
        }
        gbsi_output_text(output, "]");
        cli_json_array(output, "probability", t->p, t->n);
        cli_json_array(output, "mcse", t->mcse, t->n);
        cli_json_array(output, "ess", t->ess, t->n);
        cli_json_array(output, "rhat", t->rhat, t->n);
        gbsi_output_text(output, "}");
    }
    gbsi_output_text(output, "\n  ]\n}\n");
}

/* Writes the tables in the format that the user asked for. */
static void write_tables(gbs_output *output, const void *context)
{
    const joints *j = context;
    if (strcmp(j->format, "json") == 0) {
        write_json(output, j);
        return;
    }
    for (int i = 0; i < j->n; i++) {
        gbsi_output_text(output, i > 0 ? "\n" : "");
        if (strcmp(j->format, "table") == 0) {
            cli_joint_table(output, j->job, &j->table[i]);
        } else {
            write_csv(output, j->job->model, &j->table[i]);
        }
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* @return the variables of all tables, table after table; NULL: out of memory. */
static uint32_t *variables_of(const joints *j, size_t *n)
{
    size_t most = 0;
    for (int i = 0; i < j->n; i++) {
        most += j->table[i].selection.n;
    }
    uint32_t *asked = calloc(most + 1, sizeof *asked);
    *n = 0;
    for (int i = 0; asked != NULL && i < j->n; i++) {
        for (uint32_t k = 0; k < j->table[i].selection.n; k++) {
            asked[(*n)++] = j->table[i].selection.variable[k];
        }
    }
    return asked;
}

/* Makes the run that gives P(evidence) and the verdict. If the tables are not exact, this run also
 * gives the draws for the tables. */
static int run_beside(joints *j, int exactly, int *stopped)
{
    cli_job *job = j->job;
    const uint32_t *query = job->query;
    const size_t n_query = job->n_query;
    uint32_t *asked = NULL;
    if (exactly) { /* the run only needs the variables of the tables */
        asked = variables_of(j, &job->n_query);
        CLI_PASS(CLI_HAVE(asked));
        job->query = asked;
    }
    job->options.method = exactly ? GBS_METHOD_EXACT : GBS_METHOD_SAMPLE;
    job->options.temper =
        GBS_TEMPER_OFF; /* ladders would leave out draws that violate hard zeros */
    int status = exactly ? CLI_DONE : keep_needed(j);
    if (status == CLI_DONE) {
        status = cli_execute(job, exactly ? NULL : on_draw, j, stopped);
    }
    job->query = query;
    job->n_query = n_query;
    free(asked);
    return status == CLI_DONE && !exactly ? read_estimates(j) : status;
}

int cli_answer_joints(cli_job *job, void *context)
{
    gbs_error err = {GBS_OK, ""};
    joints j = {.job = job, .format = context};
    const gbs_run_options options = job->options;
    int stopped = 0;
    int exactly = 0;
    int status = take_tables(&j);
    if (status == CLI_DONE && options.method != GBS_METHOD_SAMPLE) {
        const gbs_status done = answer_exactly(&j, &err);
        exactly = done >= 0;
        if (done < 0 && (done != GBS_ERR_LIMIT || options.method == GBS_METHOD_EXACT)) {
            status = cli_fail(done, &err);
        }
    }
    if (status == CLI_DONE) {
        status = run_beside(&j, exactly, &stopped);
    }
    if (status == CLI_DONE) {
        status = cli_write(job->output != NULL ? job->output : "-", write_tables, &j);
    }
    job->drawn = NULL;
    job->n_drawn = 0;
    joints_free(&j);
    status = status == CLI_DONE ? cli_conclude(job, stopped) : status;
    job->options = options; /* restores the options for the next sample of the evidence */
    return status;
}
