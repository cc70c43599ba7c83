/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite marginals: run, then write one row per state. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "joint_tables.h"
#include "ranks.h"
#include "traces.h"
#include "verb_marginals.h"

#define MAX_TERMINAL_ROWS 10000
#define SHOWN             10 /* variables of a table that is shown in part */

static int take_estimates(const cli_job *job, cli_estimates *e)
{
    gbs_error err = {GBS_OK, ""};
    e->n = gbs_model_state_offsets(job->model)[gbs_model_n_variables(job->model)];
    e->p = calloc(e->n + 1, 4 * sizeof *e->p); /* calloc checks the product; 1: never of size 0 */
    if (e->p == NULL) {
        (void)cli_error(CLI_FAILED, "out of memory: %zu rows", e->n);
        return CLI_FAILED;
    }
    e->mcse = e->p + e->n;
    e->ess = e->mcse + e->n;
    e->rhat = e->ess + e->n;
    gbs_status status = gbs_run_marginals(job->run, e->p, e->mcse, e->ess, e->rhat, &err);
    if (status == GBS_ERR_STATE) {
        return cli_error(CLI_STOPPED, "stopped before the first draw was kept: nothing is written");
    }
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

#define CSV_HEAD "variable,state,probability,mcse,ess,rhat\n"

static void csv_row(gbs_output *output, const cli_job *job, uint32_t v, uint32_t a, double p,
                    double mcse, double ess, double rhat)
{
    char text[32];
    gbs_output_csv_field(output, cli_variable_text(job->model, v, "", text));
    gbs_output_text(output, ",");
    gbs_output_csv_field(output, cli_state_text(job->model, v, a, text));
    cli_csv_number(output, p);
    cli_csv_number(output, mcse);
    cli_csv_number(output, ess);
    cli_csv_number(output, rhat);
    gbs_output_text(output, "\n");
}

/* What a scan omits, or serves others alone, has none. */
static int has_estimate(const cli_job *job, const cli_estimates *e, uint32_t v)
{
    return !isnan(e->p[gbs_model_state_offsets(job->model)[v]]);
}

static void write_csv(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    gbs_output_text(output, CSV_HEAD);
    for (uint32_t i = 0; i < e->selection->n; i++) {
        const uint32_t v = e->selection->variable[i];
        for (uint32_t a = 0; has_estimate(job, e, v) && a < gbs_model_arity(job->model, v); a++) {
            const size_t row = gbs_model_state_offsets(job->model)[v] + a;
            csv_row(output, job, v, a, e->p[row], e->mcse[row], e->ess[row], e->rhat[row]);
        }
    }
}

static void write_mar(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    gbs_result result = {.task = GBS_TASK_MAR};
    result.marginals.n_variables = gbs_model_n_variables(job->model);
    result.marginals.offset = (size_t *)(uintptr_t)gbs_model_state_offsets(job->model); /* read */
    result.marginals.p = e->p;
    gbs_output_text(output, "MAR\n");
    gbs_result_write_solution(output, &result, GBS_LOG_BASE_10);
}

static void json_variable(gbs_output *output, const cli_job *job, const cli_estimates *e,
                          uint32_t v)
{
    const size_t at = gbs_model_state_offsets(job->model)[v];
    const uint32_t arity = gbs_model_arity(job->model, v);
    gbs_output_text(output, "    {");
    cli_json_variable(output, job->model, v);
    cli_json_array(output, "probability", e->p + at, arity);
    cli_json_array(output, "mcse", e->mcse + at, arity);
    cli_json_array(output, "ess", e->ess + at, arity);
    cli_json_array(output, "rhat", e->rhat + at, arity);
    gbs_output_text(output, "}");
}

static void write_json(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    uint32_t n = e->selection->n;
    cli_json_head(output, "marginals/2", job->model);
    gbs_output_text(output, ",\n  \"digest\": ");
    gbs_output_json_string(output, gbs_run_report(job->run)->digest);
    cli_json_verdict(output, gbs_run_report(job->run));
    gbs_output_text(output, ",\n  \"variables\": [\n");
    int n_written = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (has_estimate(job, e, e->selection->variable[i])) {
            gbs_output_text(output, n_written++ > 0 ? ",\n" : "");
            json_variable(output, job, e, e->selection->variable[i]);
        }
    }
    gbs_output_text(output, n_written > 0 ? "\n  ]\n}\n" : "  ]\n}\n");
}

/* The variables with the largest errors: nobody reads ten thousand rows on a screen. */
static uint32_t worst_variables(const cli_job *job, const cli_estimates *e, uint32_t worst[SHOWN])
{
    const size_t *offset = gbs_model_state_offsets(job->model);
    double error_of[SHOWN];
    uint32_t n_worst = 0;
    for (uint32_t i = 0; i < e->selection->n; i++) {
        const uint32_t v = e->selection->variable[i];
        double error = -1.0;
        for (size_t row = offset[v]; row < offset[v + 1]; row++) {
            error = e->mcse[row] > error ? e->mcse[row] : error;
        }
        uint32_t at = n_worst < SHOWN ? n_worst++ : SHOWN;
        for (; at > 0 && error > error_of[at - 1]; at--) {
            if (at < SHOWN) {
                worst[at] = worst[at - 1];
                error_of[at] = error_of[at - 1];
            }
        }
        if (at < SHOWN) {
            worst[at] = v;
            error_of[at] = error;
        }
    }
    return n_worst;
}

static void write_table_in_part(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    uint32_t worst[SHOWN];
    const cli_selection shown = {.variable = worst, .n = worst_variables(job, e, worst)};
    cli_estimates part = *e;
    part.selection = &shown;
    cli_marginals_table(output, job, &part);
}

/* What is asked for every sample of the evidence. */
typedef struct request {
    const char *format;
    cli_selection selection;
    cli_picture picture;
} request;

/* Rows of the variables that are written. */
static size_t count_rows(const cli_job *job, const cli_selection *selection)
{
    size_t n = 0;
    for (uint32_t i = 0; i < selection->n; i++) {
        n += gbs_model_arity(job->model, selection->variable[i]);
    }
    return n;
}

/* A table that would run off the terminal is shown in part. */
static int is_brief(const cli_job *job, size_t n_rows)
{
    return n_rows > MAX_TERMINAL_ROWS && (job->output == NULL || strcmp(job->output, "-") == 0) &&
           job->arguments->format == NULL && cli_is_terminal(STDOUT_FILENO);
}

/* @param status out: an exit status of what has said so itself. */
static gbs_status write_format(gbs_output *output, const cli_job *job, const request *r,
                               const cli_estimates *e, int brief, int *status, gbs_error *err)
{
    if (strcmp(r->format, "mar") == 0) {
        write_mar(output, job, e);
    } else if (strcmp(r->format, "json") == 0) {
        write_json(output, job, e);
    } else if (strcmp(r->format, "npz") == 0) {
        return cli_marginals_npz(output, job, e, err);
    } else if (strcmp(r->format, "dimmwitted") == 0) {
        *status = cli_write_dimmwitted(output, job, &r->selection, e->p);
    } else if (brief) {
        write_table_in_part(output, job, e);
    } else if (strcmp(r->format, "table") == 0) {
        cli_marginals_table(output, job, e);
    } else {
        write_csv(output, job, e);
    }
    return GBS_OK;
}

static int write_table(const cli_job *job, const request *r, const cli_estimates *e)
{
    const char *path = job->output != NULL ? job->output : "-";
    const size_t n_rows = count_rows(job, &r->selection);
    const int brief = is_brief(job, n_rows);
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    int status = CLI_DONE;
    gbs_status done = gbs_output_open(path, &output, &err);
    if (done >= 0) {
        done = write_format(output, job, r, e, brief, &status, &err);
        if (done >= 0 && status == CLI_DONE) {
            done = gbs_output_commit(output, &err);
        } else {
            gbs_output_discard(output);
        }
    }
    if (done >= 0 && brief) {
        cli_note(
            job->arguments,
            "%zu rows: only those with the largest errors are shown; for all rows use -o FILE.csv "
            "or --format csv",
            n_rows);
    }
    return done < 0 ? cli_fail_output(path, done, &err) : status;
}

static int is_netcdf(const request *r)
{
    return strcmp(r->format, "netcdf") == 0;
}

static int write_result(const cli_job *job, const request *r, const cli_estimates *e)
{
    gbs_error err = {GBS_OK, ""};
    if (r->picture.format != NULL) {
        return cli_picture_write(job, &r->picture, e->p);
    }
    if (is_netcdf(r)) {
        gbs_status done = cli_marginals_netcdf(job, job->output, e, &err);
        return done < 0 ? cli_fail_output(job->output, done, &err) : CLI_DONE;
    }
    return write_table(job, r, e);
}

/* The traces of --monitor stand above the verdict, and in the summary. */
static int conclude(cli_job *job, int stopped)
{
    cli_diagnosis traces;
    if (!cli_monitors(job->arguments)) {
        return cli_conclude(job, stopped);
    }
    int status = cli_traces_take(job, &traces);
    if (status == CLI_DONE) {
        job->traces = job->arguments->monitor != NULL || traces.drawn.n > 0 ? &traces : NULL;
        status = cli_conclude(job, stopped);
        job->traces = NULL;
    }
    cli_diagnosis_free(&traces);
    return status;
}

/* ---- of a model on several ranks ---- */

/* Rows as they come, so that no rank holds all of them. */
typedef struct streaming {
    const cli_job *job;
    gbs_output *output; /* NULL but on the first rank */
} streaming;

static gbs_status write_rows(void *context, uint32_t variable, uint32_t arity, const double *p,
                             const double *mcse, const double *ess, const double *rhat,
                             gbs_error *err)
{
    const streaming *s = context;
    (void)err;
    for (uint32_t a = 0; a < arity; a++) {
        csv_row(s->output, s->job, variable, a, p[a], mcse[a], ess[a], rhat[a]);
    }
    return GBS_OK;
}

static int stream_rows(cli_job *job)
{
    const char *path = job->output != NULL ? job->output : "-";
    streaming s = {.job = job};
    gbs_error err = {GBS_OK, ""};
    gbs_status done = GBS_OK;
    if (cli_speaks()) {
        done = gbs_output_open(path, &s.output, &err);
        if (done < 0) {
            return cli_fail_output(path, done, &err);
        }
        gbs_output_text(s.output, CSV_HEAD);
    }
    done = gbs_run_each_marginal(job->run, write_rows, &s, &err);
    if (s.output != NULL && done >= 0) {
        done = gbs_output_commit(s.output, &err);
    } else if (s.output != NULL) {
        gbs_output_discard(s.output);
    }
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

static int gather(cli_job *job)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_status done = gbs_run_gather_marginals(job->run, &err);
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

/* Whether rows can be written one after the other, without all of them at hand. */
static int may_stream(const cli_job *job, const request *r)
{
    return cli_here.by_model && strcmp(r->format, "csv") == 0 && r->selection.all &&
           r->picture.format == NULL && job->summary == NULL && job->report == NULL;
}

static int answer_sample(cli_job *job, void *context)
{
    const request *r = context;
    cli_estimates e = {.selection = &r->selection};
    int stopped = 0;
    const int streams = may_stream(job, r);
    job->together = streams ? stream_rows : gather;
    int status = cli_execute(job, NULL, NULL, &stopped);
    /* traces alone give no marginals: the energy is told with the verdict */
    const int marginals = job->options.estimator != GBS_ESTIMATOR_TRACES && !streams;
    if (status == CLI_DONE && marginals) {
        status = take_estimates(job, &e);
    }
    if (status == CLI_DONE && marginals) {
        status = write_result(job, r, &e);
    }
    free(e.p);
    return status == CLI_DONE ? conclude(job, stopped) : status;
}

/* What goes with --query, estimates that may be missing, and tables of cases. */
static int check_format(const cli_arguments *arguments, const request *r)
{
    const int is_csv = strcmp(r->format, "csv") == 0;
    if (arguments->query != NULL && (strcmp(r->format, "mar") == 0 || r->picture.format != NULL)) {
        return cli_error(CLI_USAGE,
                         "--query: a %s holds the marginals of all variables; use "
                         "--format csv, json, npz or netcdf",
                         r->picture.format != NULL ? "picture" : ".MAR file");
    }
    if ((arguments->run.partial_scan || arguments->run.restarts) && !is_csv &&
        strcmp(r->format, "table") != 0 && strcmp(r->format, "json") != 0) {
        return cli_error(CLI_USAGE,
                         "--%s: variables may have no estimate, and %s needs all of them; "
                         "use --format csv or json",
                         arguments->run.restarts ? "restarts" : "partial-scan", r->format);
    }
    if (arguments->cases != NULL && !is_csv) {
        return cli_error(CLI_USAGE, "--cases: answers to cases are a table, --format csv");
    }
    if (arguments->monitor != NULL && (arguments->cases != NULL || arguments->n_joints > 0)) {
        return cli_error(CLI_USAGE, "--monitor: traces are those of marginals; leave out --%s",
                         arguments->cases != NULL ? "cases" : "joint");
    }
    if (arguments->monitor != NULL && arguments->run.temper != GBS_TEMPER_AUTO &&
        arguments->run.temper != GBS_TEMPER_OFF) {
        return cli_error(CLI_USAGE, "--monitor: ladders of temperatures have no traces; leave out "
                                    "--temper, or use gibbsite sample --monitor");
    }
    if (arguments->cases != NULL && (arguments->summary != NULL || arguments->report != NULL)) {
        return cli_error(CLI_USAGE, "--%s tells of one run: leave it out with --cases",
                         arguments->summary != NULL ? "summary" : "report");
    }
    return CLI_DONE;
}

static int load(cli_job *job, cli_arguments *arguments)
{
    return arguments->cases != NULL ? cli_load(job, arguments, arguments->operand[0])
                                    : cli_load_samples(job, arguments, arguments->operand[0]);
}

static int answer(cli_job *job, request *r)
{
    job->query = r->selection.all ? NULL : r->selection.variable;
    job->n_query = r->selection.n;
    job->rows = (uint32_t)r->picture.rows;
    job->columns = (uint32_t)r->picture.columns;
    if (job->arguments->n_joints > 0) {
        return cli_each_sample(job, cli_answer_joints, (void *)(uintptr_t)r->format);
    }
    return job->arguments->cases != NULL ? cli_answer_cases(job, &r->selection)
                                         : cli_each_sample(job, answer_sample, r);
}

int cli_write_marginals(cli_arguments *arguments, gbs_method forced)
{
    request r = {NULL, {NULL, 0, 0}, {0}};
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = cli_output_format(
        arguments, "mar|csv|table|json|npz|netcdf|dimmwitted|pbm|pgm|ppm|png",
        cli_is_terminal(STDOUT_FILENO) && arguments->cases == NULL ? "table" : "csv", &r.format);
    if (status == CLI_DONE) {
        status = cli_picture_settle(arguments, r.format, &r.picture);
    }
    if (status == CLI_DONE && is_netcdf(&r)) {
        status = cli_netcdf_check(arguments);
    }
    if (status == CLI_DONE && arguments->n_joints > 0) {
        status = cli_joint_settle(arguments, r.format);
    }
    if (status == CLI_DONE) {
        status = check_format(arguments, &r);
    }
    if (status == CLI_DONE) {
        status = cli_settle_checkpoints(arguments);
    }
    if (status == CLI_DONE) {
        status = cli_settle(arguments, forced);
    }
    if (status == CLI_DONE && arguments->run.estimator == GBS_ESTIMATOR_TRACES &&
        (arguments->output != NULL || arguments->format != NULL)) {
        status =
            cli_error(CLI_USAGE, "--estimator traces keeps no marginals: leave out --output and "
                                 "--format; use --summary");
    }
    if (status == CLI_DONE) {
        status = load(&job, arguments);
    }
    if (status == CLI_DONE) {
        status = cli_picture_fit(&job, &r.picture);
    }
    if (status == CLI_DONE) {
        status = cli_select_query(&job, arguments->query, &r.selection);
    }
    if (status == CLI_DONE && is_netcdf(&r)) {
        status = cli_marginals_netcdf_fit(&job, &r.selection);
    }
    if (status == CLI_DONE) {
        status = answer(&job, &r);
    }
    cli_selection_free(&r.selection);
    cli_job_free(&job);
    return status;
}

int cli_marginals(cli_arguments *arguments)
{
    return cli_write_marginals(arguments, GBS_METHOD_AUTO);
}
