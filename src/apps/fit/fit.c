/* SPDX-License-Identifier: Apache-2.0 */
/* Fitting the tables of a Bayesian network: counts, and EM where values are missing [M54]. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/sized.h"
#include "fit/draws.h"
#include "fit/expectation.h"
#include "fit/families.h"
#include "options/questions.h"
#include "simd/math.h"

/* with a prior, the first theta of EM is mixed with this share of the uniform distribution */
#define UNIFORM    0.01
#define AUTO_WORK  0x1p40 /* largest number of entries of junction trees in an iteration */
#define PROGRESS_S 0.1

typedef struct fitting {
    gbsi_families families;
    const gbs_data *data, *held_out;
    gbs_fit_options options;
    gbs_run_callbacks callbacks;
    double begun_s, told_s;
    gbsi_watch watch;
    gbsi_pool *pool;
    uint32_t *column;              /* [variables] number of each variable's column in the data */
    uint8_t *direct;               /* [variables] 1: every row has values for the whole family */
    uint8_t *asked;                /* [variables] 1: a value of the family is missing in a row */
    uint8_t *complete;             /* [n_distinct] 1: the row has no missing value */
    gbsi_expectation *expectation; /* expectations by a junction tree; NULL if no value is missing,
                                      or if expectations are sampled */
    gbsi_draws *draws;             /* expectations by draws; NULL unless expectations are sampled */
    bool own_limit;                /* whether the user gave the memory limit */
    double *full;                  /* [entries] counts in the complete rows */
    double *base;  /* [entries] counts over all rows if every row has values for the whole family;
                      otherwise counts over the complete rows */
    double *next;  /* [entries] `base` plus the expected counts of the incomplete rows so far */
    double *count; /* [entries] counts over all rows */
    double *theta; /* [entries] current parameters */
    double *done;  /* [entries] parameters to which `count` and `report` belong */
    double *logs;  /* [entries] logarithms of the parameters */
    gbs_fit_report report;
} fitting;

static void fitting_free(fitting *f)
{
    gbsi_expectation_free(f->expectation);
    gbsi_draws_free(f->draws);
    gbsi_pool_free(f->pool);
    gbsi_families_free(&f->families);
    GBSI_FREE(f->column, f->direct, f->asked, f->complete, f->full, f->base, f->next, f->count,
              f->theta, f->done, f->logs);
}

static bool look(void *context)
{
    fitting *f = context;
    const double now_s = gbsi_clock_s();
    if (f->callbacks.progress == NULL || now_s - f->told_s < PROGRESS_S) {
        return false;
    }
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = f->report.iterations,
                                   .passes = f->options.iterations,
                                   .elapsed_s = now_s - f->begun_s,
                                   .worst_error =
                                       f->report.iterations > 0 ? f->report.change : (double)NAN};
    f->told_s = now_s;
    return f->callbacks.progress(f->callbacks.context, &progress) != 0;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static gbs_status take_options(fitting *f, const gbs_fit_options *options, gbs_error *err)
{
    gbs_fit_options *o = &f->options;
    GBSI_PASS(gbsi_question_settle("fit", options, o, err));
    if (o->prior != GBS_PRIOR_NONE && o->weight == 0.0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--prior-weight: found 0, expected above 0: the prior needs a weight");
    }
    f->own_limit = o->memory_limit != 0;
    o->memory_limit = o->memory_limit != 0 ? o->memory_limit : gbsi_default_memory_limit();
    return GBS_OK;
}

static gbs_status check_data(const fitting *f, const gbs_model *network, gbs_error *err)
{
    if (f->data->model != network || (f->held_out != NULL && f->held_out->model != network)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "fit: the data are of another model");
    }
    if (f->data->n_rows == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "fit: found no rows of data, expected some");
    }
    return GBS_OK;
}

static gbs_status take_memory(fitting *f, gbs_error *err)
{
    const size_t n = f->families.network->n_variables;
    const size_t n_entries = gbsi_families_entries(&f->families);
    f->column = gbsi_alloc_array(n, sizeof *f->column);
    f->direct = gbsi_alloc_array_zero(n, 1);
    f->asked = gbsi_alloc_array_zero(n, 1);
    f->full = gbsi_alloc_array_zero(n_entries, sizeof *f->full);
    f->base = gbsi_alloc_array_zero(n_entries, sizeof *f->base);
    f->next = gbsi_alloc_array(n_entries, sizeof *f->next);
    f->count = gbsi_alloc_array(n_entries, sizeof *f->count);
    f->theta = gbsi_alloc_array(n_entries, sizeof *f->theta);
    f->done = gbsi_alloc_array(n_entries, sizeof *f->done);
    f->logs = gbsi_alloc_array(n_entries, sizeof *f->logs);
    GBSI_PASS(GBSI_HAVE(err, "fit", f->column, f->direct, f->asked, f->full, f->base, f->next,
                        f->count, f->theta, f->done, f->logs));
    return GBS_OK;
}

/* Finds the rows that have a value for every variable of two states or more.
 * @return the number of incomplete rows. */
static uint64_t find_complete(const gbs_data *d, const uint32_t *column, uint8_t *complete)
{
    const gbs_model *m = d->model;
    uint64_t n_incomplete = 0;
    for (size_t i = 0; i < d->n_distinct; ++i) {
        complete[i] = 1;
        for (uint32_t v = 0; v < m->n_variables && complete[i]; ++v) {
            complete[i] =
                m->arity[v] < 2 ||
                (column[v] != GBSI_NONE && d->state[i * d->n_columns + column[v]] != GBSI_MISSING);
        }
        n_incomplete += complete[i] ? 0 : d->count[i];
    }
    return n_incomplete;
}

/* Finds the tables that can be counted without EM. */
static void find_direct(fitting *f)
{
    const gbs_model *m = f->families.network;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        uint32_t n = 0;
        const uint32_t *scope = gbsi_family_scope(&f->families, v, &n);
        f->direct[v] = 1;
        for (uint32_t k = 0; k < n; ++k) {
            const uint32_t column = f->column[scope[k]];
            if (m->arity[scope[k]] > 1 && (column == GBSI_NONE || f->data->n_missing[column] > 0)) {
                f->direct[v] = 0;
            }
        }
        f->asked[v] = !f->direct[v];
        if (f->column[v] == GBSI_NONE) {
            f->report.n_missing += f->data->n_rows;
        }
    }
    f->report.n_missing += gbs_data_n_missing(f->data);
}

/* ---- counting and EM ------------------------------------------------------------------------- */

/* Chooses how expectations of rows with missing values are computed: by a junction tree or, if the
 * tree is too large, by draws. @param asked, complete see gbsi_expectation_new(). */
static gbs_status answer_rows(fitting *f, const gbs_data *data, const uint8_t *asked,
                              const uint8_t *complete, gbsi_expectation **expectation,
                              gbsi_draws **draws, gbs_error *err)
{
    const gbs_fit_options *o = &f->options;
    const bool is_auto = o->expectations == GBS_EXPECTATIONS_AUTO;
    const uint64_t free = gbsi_auto_memory_limit();
    const uint64_t limit =
        is_auto && !f->own_limit && o->memory_limit > free ? free : o->memory_limit;
    if (o->expectations != GBS_EXPECTATIONS_SAMPLED) {
        const gbs_status status = gbsi_expectation_new(&f->families, data, asked, complete, limit,
                                                       is_auto ? AUTO_WORK : INFINITY, f->pool,
                                                       &f->watch, expectation, err);
        if (status != GBS_ERR_LIMIT || !is_auto) {
            return status;
        }
    }
    return gbsi_draws_new(&f->families, data, asked, complete, o, &f->watch, draws, err);
}

static gbs_status count_all(fitting *f, gbs_error *err)
{
    const gbs_data *d = f->data;
    gbs_status status = GBS_OK;
    uint8_t *none = gbsi_alloc_array_zero(f->families.network->n_variables, 1);
    f->complete = gbsi_alloc_array(d->n_distinct, 1);
    GBSI_TRY(GBSI_HAVE(err, "fit", f->complete, none));
    gbsi_families_columns(&f->families, d, f->column);
    f->report.n_incomplete = find_complete(d, f->column, f->complete);
    find_direct(f);
    gbsi_families_count(&f->families, d, f->column, none, f->complete, f->pool, &f->watch, f->full);
    gbsi_families_count(&f->families, d, f->column, f->direct, f->complete, f->pool, &f->watch,
                        f->base);
    if (gbsi_watch_stopped(&f->watch)) {
        GBSI_TRY(gbsi_watch_fail(err, "counting rows"));
    }
    if (f->report.n_incomplete > 0) {
        GBSI_TRY(answer_rows(f, d, f->asked, f->complete, &f->expectation, &f->draws, err));
    }
    f->report.exact = f->draws == NULL;

cleanup:
    gbsi_free(none);
    return status;
}

/* Adds ln P of complete rows and, with a prior, the sum of alpha ln theta. An entry with count 0
 * adds nothing, even if its theta is 0. */
static void add_logs(fitting *f, double *log_p, double *log_prior)
{
    const gbs_model *m = f->families.network;
    const size_t n_entries = gbsi_families_entries(&f->families);
    memcpy(f->logs, f->theta, n_entries * sizeof *f->logs);
    gbsi_log_many(f->logs, n_entries);
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        const double alpha = gbsi_family_prior(&f->families, v, &f->options);
        for (size_t i = f->families.start[v]; i < f->families.start[v + (size_t)1]; ++i) {
            *log_p += f->full[i] > 0.0 ? f->full[i] * f->logs[i] : 0.0;
            *log_prior += alpha > 0.0 ? alpha * f->logs[i] : 0.0;
        }
    }
}

/* Computes the counts expected at theta, and the probability of the data. @return GBS_STOPPED if
 * the watch stopped the work; both results are then undefined. */
static gbs_status expect(fitting *f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n_bytes = gbsi_families_entries(&f->families) * sizeof *f->theta;
    double log_p = 0.0;
    double log_prior = 0.0;
    memcpy(f->next, f->base, n_bytes);
    if (f->expectation != NULL) {
        status = gbsi_expectation_add(f->expectation, f->theta, f->next, &log_p, NULL, NULL, err);
    }
    if (status == GBS_OK) {
        add_logs(f, &log_p, &log_prior);
        f->report.log_likelihood = log_p;
        f->report.log_posterior = log_p + log_prior;
        memcpy(f->done, f->theta, n_bytes);
        memcpy(f->count, f->next, n_bytes);
    }
    return status;
}

/* Sets the first theta of EM. If there is a prior, every zero of the network becomes positive. */
static void begin(fitting *f)
{
    const gbs_model *m = f->families.network;
    const double share = f->options.prior == GBS_PRIOR_NONE ? 0.0 : UNIFORM;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        for (size_t i = f->families.start[v]; i < f->families.start[v + (size_t)1]; ++i) {
            f->theta[i] = (1.0 - share) * f->families.own[i] + share / m->arity[v];
        }
    }
}

/* Monte Carlo EM (Wei & Tanner 1990): EM with sampled expectations. ln P is estimated after the
 * last iteration. */
static gbs_status maximise_by_draws(fitting *f, gbs_error *err)
{
    gbs_fit_report *r = &f->report;
    double log_p = 0.0;
    double log_prior = 0.0;
    double variance = 0.0;
    r->log_likelihood = r->log_posterior = r->log_likelihood_error = NAN;
    gbs_status status = gbsi_draws_maximise(f->draws, f->base, f->theta, f->count, r, err);
    if (status < 0) {
        return status;
    }
    memcpy(f->done, f->theta, gbsi_families_entries(&f->families) * sizeof *f->theta);
    if (status == GBS_OK) {
        status = gbsi_draws_log_p(f->draws, f->theta, &log_p, &variance, NULL, NULL, err);
    }
    if (status == GBS_OK) {
        add_logs(f, &log_p, &log_prior);
        r->log_likelihood = log_p;
        r->log_posterior = log_p + log_prior;
        r->log_likelihood_error = gbsi_sqrt(variance);
    }
    return status;
}

/* EM (Dempster, Laird & Rubin 1977): computes expectations at theta, then theta from the
 * expectations, until theta converges. */
static gbs_status maximise(fitting *f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_fit_report *r = &f->report;
    begin(f);
    if (f->draws != NULL) {
        return maximise_by_draws(f, err);
    }
    if (f->expectation == NULL) {
        (void)gbsi_families_estimate(&f->families, &f->options, f->base, f->theta);
        r->converged = 1;
        return expect(f, err);
    }
    uint64_t n = 0;
    double change = INFINITY;
    for (;;) {
        status = expect(f, err);
        if (status == GBS_STOPPED && n == 0) {
            return gbsi_watch_fail(err, "expecting the missing values for the first time");
        }
        if (status != GBS_OK) {
            return status;
        }
        r->iterations = n;
        r->change = n > 0 ? change : 0.0;
        r->converged = n > 0 && change <= f->options.tolerance;
        if (r->converged || n == f->options.iterations) {
            return GBS_OK;
        }
        change = gbsi_families_estimate(&f->families, &f->options, f->count, f->theta);
        ++n;
    }
}

/* ---- held-out rows and the report ------------------------------------------------------------ */

static void add_complete(fitting *f, const uint32_t *column, const uint8_t *complete,
                         gbs_fit_report *r)
{
    const gbs_data *d = f->held_out;
    for (size_t i = 0; i < d->n_distinct; ++i) {
        if (gbsi_watch_spend(&f->watch, 4 * (uint64_t)f->families.network->n_variables)) {
            return;
        }
        if (complete[i]) {
            const double log_p =
                gbsi_families_log_p(&f->families, column, f->logs, d->state + i * d->n_columns);
            r->held_out_impossible += log_p == -INFINITY ? d->count[i] : 0;
            r->held_out_log_likelihood += log_p == -INFINITY ? 0.0 : d->weight[i] * log_p;
            r->held_out_weight -= log_p == -INFINITY ? d->weight[i] : 0.0;
        }
    }
}

static gbs_status add_incomplete(fitting *f, const uint8_t *complete, gbs_fit_report *r,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_expectation *e = NULL;
    gbsi_draws *draws = NULL;
    double variance = 0.0;
    double lost = 0.0; /* weight of the impossible rows */
    GBSI_TRY(answer_rows(f, f->held_out, NULL, complete, &e, &draws, err));
    status = draws == NULL ? gbsi_expectation_add(e, f->done, NULL, &r->held_out_log_likelihood,
                                                  &r->held_out_impossible, &lost, err)
                           : gbsi_draws_log_p(draws, f->done, &r->held_out_log_likelihood,
                                              &variance, &r->held_out_impossible, &lost, err);
    r->held_out_weight -= lost;
    r->held_out_error = gbsi_sqrt(variance);

cleanup:
    gbsi_expectation_free(e);
    gbsi_draws_free(draws);
    return status;
}

/* @return GBS_STOPPED if the watch stopped the work; the report then has no held-out results. */
static gbs_status hold_out(fitting *f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_data *d = f->held_out;
    const size_t n_entries = gbsi_families_entries(&f->families);
    gbs_fit_report r = f->report;
    uint8_t *complete = gbsi_alloc_array(d->n_distinct, 1);
    uint32_t *column = gbsi_alloc_array(f->families.network->n_variables, sizeof *column);
    GBSI_TRY(GBSI_HAVE(err, "fit", complete, column));
    memcpy(f->logs, f->done, n_entries * sizeof *f->logs);
    gbsi_log_many(f->logs, n_entries);
    gbsi_families_columns(&f->families, d, column);
    r.held_out_rows = d->n_rows;
    r.held_out_weight = d->sum;
    const uint64_t n_incomplete = find_complete(d, column, complete);
    add_complete(f, column, complete, &r);
    if (n_incomplete > 0) {
        GBSI_TRY(add_incomplete(f, complete, &r, err));
    }
    if (gbsi_watch_stopped(&f->watch)) {
        status = GBS_STOPPED;
    } else {
        f->report = r;
    }

cleanup:
    GBSI_FREE(complete, column);
    return status == GBS_ERR_STOPPED ? GBS_STOPPED : status;
}

static void count_columns(fitting *f)
{
    const gbs_model *m = f->families.network;
    gbs_fit_report *r = &f->report;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        const uint32_t n = m->arity[v];
        for (size_t i = f->families.start[v]; n > 1 && i < f->families.start[v + (size_t)1];
             i += n) {
            double sum = 0.0;
            for (uint32_t a = 0; a < n; ++a) {
                sum += f->count[i + a];
            }
            ++r->n_columns;
            r->n_parameters += n - 1;
            r->n_unseen += sum > 0.0 ? 0 : 1;
        }
    }
    r->n_rows = f->data->n_rows;
    r->weight = f->data->sum;
    r->n_distinct = f->data->n_distinct;
    r->bic = r->log_likelihood - 0.5 * (double)r->n_parameters * gbsi_log(r->weight);
}

static gbs_status give(fitting *f, gbs_fitted **fitted, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_fitted *g = gbsi_alloc_zero(sizeof *g);
    GBSI_PASS(GBSI_HAVE(err, "fit", g));
    GBSI_TRY(gbsi_families_model(&f->families, f->done, &g->model, err));
    f->report.size = sizeof f->report;
    f->report.seconds = gbsi_clock_s() - f->begun_s;
    g->families = f->families;
    g->families.network = g->model;
    gbsi_free(g->families.own);
    g->families.own = f->done;
    g->count = f->count;
    g->options = f->options;
    g->report = f->report;
    f->families = (gbsi_families){0};
    f->done = NULL;
    f->count = NULL;
    *fitted = g;
    g = NULL;

cleanup:
    gbs_fitted_free(g);
    return status;
}

gbs_status gbs_fit(const gbs_model *network, const gbs_data *data, const gbs_data *held_out,
                   const gbs_fit_options *options, const gbs_run_callbacks *callbacks,
                   gbs_fitted **fitted, gbs_error *err)
{
    GBSI_NEED(network, data, fitted);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    gbs_status status = GBS_OK;
    gbsi_budget budget;
    gbsi_budget *before = NULL;
    bool in_budget = false;
    bool stopped = false;
    fitting f = {.data = data, .held_out = held_out, .begun_s = gbsi_clock_s()};
    if (callbacks != NULL) {
        f.callbacks =
            (gbs_run_callbacks){.context = callbacks->context, .progress = callbacks->progress};
    }
    GBSI_TRY(take_options(&f, options, err));
    f.watch = gbsi_watch_of(look, &f, f.begun_s, f.options.time_s);
    GBSI_TRY(check_data(&f, network, err));
    gbsi_budget_init(&budget, f.options.memory_limit,
                     gbsi_process_bytes() + gbs_model_bytes(network));
    before = gbsi_budget_enter(&budget);
    in_budget = true;
    GBSI_TRY(gbsi_families_init(&f.families, network, err));
    GBSI_TRY(take_memory(&f, err));
    GBSI_TRY(gbsi_pool_new(f.options.threads != 0 ? (uint32_t)f.options.threads : gbsi_pool_cores(),
                           &f.pool, err));
    GBSI_TRY(count_all(&f, err));
    GBSI_TRY(maximise(&f, err));
    stopped = status == GBS_STOPPED;
    count_columns(&f);
    if (held_out != NULL && !stopped) {
        GBSI_TRY(hold_out(&f, err));
        stopped = status == GBS_STOPPED;
    }
    GBSI_TRY(give(&f, fitted, err));
    status = stopped ? GBS_STOPPED : GBS_OK;

cleanup:
    fitting_free(&f);
    if (in_budget) {
        gbsi_budget_leave(before);
    }
    return status;
}
