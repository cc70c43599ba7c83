/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite marginals: executes a run and writes one row per state. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draws/traces.h"
#include "job/joint_tables.h"
#include "job/ranks.h"
#include "marginals.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

#define MAX_TERMINAL_ROWS 10000
#define SHOWN             10 /* number of variables that are shown if a table is too long */

static int make_estimates(const cli_job *job, cli_estimates *e)
{
    e->n = gbs_model_state_offsets(job->model)[gbs_model_n_variables(job->model)];
    e->p =
        calloc(e->n + 1,
               4 * sizeof *e->p); /* calloc() checks the product for overflow; + 1 avoids size 0 */
    if (e->p == NULL) {
        (void)cli_error(CLI_FAILED, "out of memory: %zu rows", e->n);
        return CLI_FAILED;
    }
    e->mcse = e->p + e->n;
    e->ess = e->mcse + e->n;
    e->rhat = e->ess + e->n;
    return CLI_DONE;
}

static int take_estimates(const cli_job *job, cli_estimates *e)
{
    gbs_error err = {GBS_OK, ""};
    CLI_PASS(make_estimates(job, e));
    const gbs_status status = gbs_run_marginals(job->run, e->p, e->mcse, e->ess, e->rhat, &err);
    if (status == GBS_ERR_STATE) {
        return cli_error(CLI_STOPPED, "stopped before the first draw was kept: nothing is written");
    }
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

/* Estimates of one variable. */
typedef struct marginal {
    uint32_t variable, arity;
    const double *p, *mcse, *ess, *rhat; /* [arity] */
} marginal;

static marginal marginal_of(const cli_job *job, const cli_estimates *e, uint32_t v)
{
    const size_t at = gbs_model_state_offsets(job->model)[v];
    return (marginal){
        v, gbs_model_arity(job->model, v), e->p + at, e->mcse + at, e->ess + at, e->rhat + at};
}

/* @return whether there is an estimate. Variables that a scan omits, or visits only because other
 *         variables need them, have none. */
static int has_estimate(const marginal *m)
{
    return !isnan(m->p[0]);
}

#define CSV_HEAD "variable,state,probability,mcse,ess,rhat\n"

static void csv_variable(gbs_output *output, const cli_job *job, const marginal *m)
{
    char text[32];
    for (uint32_t a = 0; a < m->arity; a++) {
        gbsi_output_csv_field(output, cli_variable_text(job->model, m->variable, "", text));
        gbsi_output_text(output, ",");
        gbsi_output_csv_field(output, cli_state_text(job->model, m->variable, a, text));
        cli_csv_number(output, m->p[a]);
        cli_csv_number(output, m->mcse[a]);
        cli_csv_number(output, m->ess[a]);
        cli_csv_number(output, m->rhat[a]);
        gbsi_output_text(output, "\n");
    }
}

static void write_csv(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    gbsi_output_text(output, CSV_HEAD);
    for (uint32_t i = 0; i < e->selection->n; i++) {
        const marginal m = marginal_of(job, e, e->selection->variable[i]);
        if (has_estimate(&m)) {
            csv_variable(output, job, &m);
        }
    }
}

static void write_mar(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    gbs_result result = {.task = GBS_TASK_MAR};
    result.marginals.n_variables = gbs_model_n_variables(job->model);
    result.marginals.offset =
        (size_t *)(uintptr_t)gbs_model_state_offsets(job->model); /* the array is only read */
    result.marginals.p = e->p;
    gbsi_output_text(output, "MAR\n");
    gbsi_result_write_solution(output, &result, GBS_LOG_BASE_10);
}

static void json_head(gbs_output *output, const cli_job *job)
{
    cli_json_head(output, "marginals/2", gbs_run_model_digest(job->run));
    gbsi_output_text(output, ",\n  \"digest\": ");
    gbsi_output_json_string(output, gbs_run_report(job->run)->digest);
    cli_json_verdict(output, gbs_run_report(job->run));
    gbsi_output_text(output, ",\n  \"variables\": [\n");
}

/* Writes a variable in JSON. @param n_before number of variables already written. */
static void json_variable(gbs_output *output, const cli_job *job, const marginal *m, int n_before)
{
    gbsi_output_text(output, n_before > 0 ? ",\n    {" : "    {");
    cli_json_variable(output, job->model, m->variable);
    cli_json_array(output, "probability", m->p, m->arity);
    cli_json_array(output, "mcse", m->mcse, m->arity);
    cli_json_array(output, "ess", m->ess, m->arity);
    cli_json_array(output, "rhat", m->rhat, m->arity);
    gbsi_output_text(output, "}");
}

static void json_end(gbs_output *output, int n_written)
{
    gbsi_output_text(output, n_written > 0 ? "\n  ]\n}\n" : "  ]\n}\n");
}

static void write_json(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    int n_written = 0;
    json_head(output, job);
    for (uint32_t i = 0; i < e->selection->n; i++) {
        const marginal m = marginal_of(job, e, e->selection->variable[i]);
        if (has_estimate(&m)) {
            json_variable(output, job, &m, n_written++ > 0);
        }
    }
    json_end(output, n_written);
}

/* Chooses the variables with the largest errors, for a table that is too long for a screen. */
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

/* The question, which is the same for every sample of the evidence. */
typedef struct request {
    const char *format;
    cli_selection selection;
    cli_picture picture;
} request;

/* @return the number of rows of the variables that are written. */
static size_t count_rows(const cli_job *job, const cli_selection *selection)
{
    size_t n = 0;
    for (uint32_t i = 0; i < selection->n; i++) {
        n += gbs_model_arity(job->model, selection->variable[i]);
    }
    return n;
}

/* @return whether a table is too long for the terminal, so that only a part of the table is
 * shown. */
static int is_brief(const cli_job *job, size_t n_rows)
{
    return n_rows > MAX_TERMINAL_ROWS && (job->output == NULL || strcmp(job->output, "-") == 0) &&
           job->arguments->format == NULL && cli_is_terminal(STDOUT_FILENO);
}

/* Writes the result in a format. @param status out: exit status of a part that has already printed
 * its message. */
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
            "%zu row%s: only those with the largest errors are shown; for all rows use -o FILE.csv "
            "or --format csv",
            n_rows, gbsi_plural(n_rows));
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

/* ---- the drawing ---- */

/* Draws the model into an output. @param e NULL: without the answer. */
static gbs_status draw(const cli_job *job, const request *r, const cli_estimates *e,
                       gbs_output *output, gbs_error *err)
{
    const gbs_drawing drawing = {
        .size = sizeof drawing,
        .evidence = job->evidence,
        .p = e == NULL ? NULL : e->p,
        .mcse = e == NULL ? NULL : e->mcse,
        .query = r->selection.all ? NULL : r->selection.variable,
        .n_query = r->selection.n,
    };
    return gbs_model_draw(job->model, &drawing, output, err);
}

/* Draws the model without an answer before the run, so that a model that cannot be drawn is refused
 * at once. */
static int check_drawing(const cli_job *job, const request *r)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *memory = NULL;
    if (job->arguments->drawing == NULL) {
        return CLI_DONE;
    }
    if (cli_here.by_model) {
        return cli_error(CLI_USAGE, "--drawing: no rank has the whole model; leave it out");
    }
    gbs_status status = gbs_output_open_memory(&memory, &err);
    if (status >= 0) {
        status = draw(job, r, NULL, memory, &err);
        gbs_output_discard(memory);
    }
    if (status == GBS_ERR_UNSUPPORTED) {
        return cli_error(CLI_USAGE,
                         "--drawing: %s; for a part of the model name some variables "
                         "with --query",
                         err.message);
    }
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

static int write_drawing(const cli_job *job, const request *r, const cli_estimates *e)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    if (job->drawing == NULL) {
        return CLI_DONE;
    }
    gbs_status done = gbs_output_open(job->drawing, &output, &err);
    if (done >= 0) {
        done = draw(job, r, e, output, &err);
        if (done >= 0) {
            done = gbs_output_commit(output, &err);
        } else {
            gbs_output_discard(output);
        }
    }
    return done < 0 ? cli_fail_output(job->drawing, done, &err) : CLI_DONE;
}

/* Concludes a run, with the traces of --monitor above the verdict and in the summary. */
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

/* ---- estimates of a model on several ranks ---- */

/* The receiver of estimates that a run gives one variable after another. */
typedef struct coming {
    const cli_job *job;
    const request *r;
    gbs_output
        *output;   /* output to which rows are written when they arrive; only on the first rank */
    int n_written; /* number of rows written before; only on the first rank */
    cli_estimates
        estimates;    /* estimates of the queried variables, if they are not written at once */
    uint32_t *wanted; /* [r->selection.n] ids of the queried variables, ascending */
    uint32_t next;    /* index in wanted of the next variable */
} coming;

static gbs_status write_one(void *context, uint32_t variable, uint32_t arity, const double *p,
                            const double *mcse, const double *ess, const double *rhat,
                            gbs_error *err)
{
    coming *c = context;
    const marginal m = {variable, arity, p, mcse, ess, rhat};
    (void)err;
    if (strcmp(c->r->format, "json") == 0) {
        json_variable(c->output, c->job, &m, c->n_written++ > 0);
    } else {
        csv_variable(c->output, c->job, &m);
    }
    return GBS_OK;
}

/* Writes the estimates in the order in which they arrive, so that no rank holds all of them. */
static int stream(coming *c)
{
    const int is_json = strcmp(c->r->format, "json") == 0;
    const char *path = c->job->output != NULL ? c->job->output : "-";
    gbs_error err = {GBS_OK, ""};
    gbs_status done = cli_speaks() ? gbs_output_open(path, &c->output, &err) : GBS_OK;
    if (done >= 0 && cli_speaks() && is_json) {
        json_head(c->output, c->job);
    } else if (done >= 0 && cli_speaks()) {
        gbsi_output_text(c->output, CSV_HEAD);
    }
    if (done >= 0) {
        done = gbs_run_each_marginal(c->job->run, write_one, c, &err);
    }
    if (done >= 0 && cli_speaks()) {
        if (is_json) {
            json_end(c->output, c->n_written);
        }
        done = gbs_output_commit(c->output, &err);
    } else {
        gbs_output_discard(c->output);
    }
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static gbs_status keep_one(void *context, uint32_t variable, uint32_t arity, const double *p,
                           const double *mcse, const double *ess, const double *rhat,
                           gbs_error *err)
{
    coming *c = context;
    const cli_estimates *e = &c->estimates;
    (void)err;
    if (c->next == c->r->selection.n || c->wanted[c->next] != variable) {
        return GBS_OK;
    }
    while (c->next < c->r->selection.n && c->wanted[c->next] == variable) {
        c->next++;
    }
    const size_t at = gbs_model_state_offsets(c->job->model)[variable];
    memcpy(e->p + at, p, arity * sizeof *p);
    memcpy(e->mcse + at, mcse, arity * sizeof *p);
    memcpy(e->ess + at, ess, arity * sizeof *p);
    memcpy(e->rhat + at, rhat, arity * sizeof *p);
    return GBS_OK;
}

/* Keeps the wanted estimates on the first rank, in arrays with room for all variables. Pages of
 * these arrays that are never written take no memory. */
static int keep(coming *c)
{
    const cli_selection *s = &c->r->selection;
    gbs_error err = {GBS_OK, ""};
    if (cli_speaks()) {
        const int made = make_estimates(c->job, &c->estimates);
        c->wanted = calloc((size_t)s->n + 1, sizeof *c->wanted);
        if (made != CLI_DONE || c->wanted == NULL) {
            return made != CLI_DONE ? made : cli_error(CLI_FAILED, "out of memory");
        }
        memcpy(c->wanted, s->variable, s->n * sizeof *c->wanted);
        qsort(c->wanted, s->n, sizeof *c->wanted, by_number);
    }
    const gbs_status done = gbs_run_each_marginal(c->job->run, keep_one, c, &err);
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

static int may_stream(const request *r)
{
    const int by_rows = strcmp(r->format, "csv") == 0 || strcmp(r->format, "json") == 0;
    return cli_here.by_model && by_rows && r->selection.all;
}

/* Collects the estimates of all ranks once the run has ended; called on every rank. */
static int bring_together(cli_job *job, void *context)
{
    coming *c = context;
    gbs_error err = {GBS_OK, ""};
    const cli_arguments *arguments = job->arguments; /* the same arguments on all ranks, unlike
                                                        job->summary */
    const int summarised = arguments->summary != NULL || arguments->report != NULL;
    const int brought = (may_stream(c->r) ? stream : keep)(c);
    const gbs_status done =
        brought == CLI_DONE && summarised ? gbs_run_gather_marginals(job->run, &err) : GBS_OK;
    return done < 0 ? cli_fail(done, &err) : brought;
}

static int answer_sample(cli_job *job, void *context)
{
    const request *r = context;
    coming c = {.job = job, .r = r, .estimates = {.selection = &r->selection}};
    int stopped = 0;
    job->together = bring_together;
    /* cppcheck-suppress autoVariables ; asked for in cli_execute() alone */
    job->together_context = &c;
    int status = cli_execute(job, NULL, NULL, &stopped);
    /* the estimator traces gives no marginals; the energy is printed with the verdict */
    const int marginals = job->options.estimator != GBS_ESTIMATOR_TRACES && !may_stream(r);
    if (status == CLI_DONE && marginals && !cli_here.by_model) {
        status = take_estimates(job, &c.estimates);
    }
    if (status == CLI_DONE && marginals) {
        status = write_result(job, r, &c.estimates);
        status = status == CLI_DONE ? write_drawing(job, r, &c.estimates) : status;
    }
    free(c.wanted);
    free(c.estimates.p);
    return status == CLI_DONE ? conclude(job, stopped) : status;
}

/* Checks that the format can be used with --query, with missing estimates, and with tables of
 * cases. */
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
    if (arguments->cases != NULL && !is_csv && strcmp(r->format, "table") != 0) {
        return cli_error(CLI_USAGE, "--cases: answers to cases are rows, --format csv or table");
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
    if (arguments->observables && (arguments->cases != NULL || arguments->n_joints > 0)) {
        return cli_error(CLI_USAGE,
                         "--observables: observables are those of one run; leave out --%s",
                         arguments->cases != NULL ? "cases" : "joint");
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
    return job->arguments->cases != NULL
               ? cli_answer_cases(job, &r->selection, strcmp(r->format, "table") == 0)
               : cli_each_sample(job, answer_sample, r);
}

/* Selects the variables to write. If rows are written at once, the list of all variables is not
 * made. */
static int select_variables(const cli_job *job, request *r)
{
    const char *query = job->arguments->query;
    r->selection = (cli_selection){NULL, gbs_model_n_variables(job->model), query == NULL};
    return may_stream(r) ? CLI_DONE : cli_select_query(job, query, &r->selection);
}

int cli_write_marginals(cli_arguments *arguments, gbs_method forced)
{
    request r = {NULL, {NULL, 0, 0}, {0}};
    cli_job job;
    memset(&job, 0, sizeof job);
    int status =
        cli_output_format(arguments, "mar|csv|table|json|npz|netcdf|dimmwitted|pbm|pgm|ppm|png",
                          cli_is_terminal(STDOUT_FILENO) ? "table" : "csv", &r.format);
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
        (arguments->output != NULL || arguments->format != NULL || arguments->drawing != NULL)) {
        status = cli_error(CLI_USAGE, "--estimator traces keeps no marginals: leave out --output, "
                                      "--format and --drawing; use --summary");
    }
    if (status == CLI_DONE) {
        status = load(&job, arguments);
    }
    if (status == CLI_DONE) {
        status = cli_picture_fit(&job, &r.picture);
    }
    if (status == CLI_DONE) {
        status = select_variables(&job, &r);
    }
    if (status == CLI_DONE) {
        status = check_drawing(&job, &r);
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

static int run_marginals(cli_arguments *arguments)
{
    return cli_write_marginals(arguments, GBS_METHOD_AUTO);
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/marginals.def"
};

const cli_verb cli_verb_marginals = {
    .name = "marginals",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "marginal distributions, with Monte Carlo errors",
    .notes = "Writes CSV (variable,state,probability,mcse,ess,rhat) to standard output;\n"
             "-o FILE.MAR, FILE.csv, FILE.json or FILE.npz writes a file, compressed if .gz\n"
             "or .zst follows; with --picture, FILE.png, .pgm, .ppm or .pbm. Components that\n"
             "are small enough are answered exactly by default, unless an option is given\n"
             "that has a meaning only for sampling. With --joint, tables of joint states;\n"
             "with --cases, a row of probabilities for each row of a table.\n",
    .example = "gibbsite marginals examples/sprinkler.bif -e grass=wet\n"
               "gibbsite marginals examples/clinic.bif -e fever=yes --joint influenza,cold\n"
               "gibbsite marginals examples/clinic.bif --cases examples/clinic.csv --query 5\n"
               "gibbsite marginals examples/clinic.bif --method sample --target-error 0.004\n"
               "gibbsite generate potts --grid 24x32 --states 3 --noise 0.8 -o patches.uai\n"
               "gibbsite marginals patches.uai --picture 24x32 --sweeps 200 -o patches.ppm\n",
    .run = run_marginals,
};
