/* SPDX-License-Identifier: Apache-2.0 */
/* Learns tied weights by Newton's method on the pseudo-likelihood [M61] or the likelihood [M66],
 * with standard errors. If there are too many weights for a matrix of second derivatives, products
 * of this matrix with vectors take its place (products.c). The matrix may not be positive definite,
 * because the data do not determine all weights or because rows have missing values. A multiple of
 * the unit matrix is then added to it. A step that does not increase the objective is halved. */
#include "gibbsite/learn.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/sized.h"
#include "learn/equations.h"
#include "learn/orthantwise.h"
#include "simd/math.h"
#include "weights/learning.h"
#include "weights/sampled.h"

#define HALVINGS 40u
/* A step must give this share of the increase that the slope predicts (Armijo 1966) */
#define RISE 1e-4

static void learning_free(gbsi_learning *l)
{
    gbsi_pseudo_free(&l->pseudo);
    gbsi_likelihood_free(l->likelihood);
    gbsi_products_free(&l->products);
    gbsi_judge_free(&l->held_out);
    gbsi_learnt_free(&l->learnt);
    GBSI_FREE(l->w, l->tried, l->gradient, l->information, l->root, l->step, l->variance, l->room);
}

/* ---- the objective --------------------------------------------------------------------------- */

/* Evaluates the sum over rows of ln PL or ln P, minus l2/2 |w|^2. @param gradient [n] out, or NULL.
 * @param with_second whether l->information is also computed, if it is not NULL and a gradient is
 * wanted. */
static gbs_status evaluate(gbsi_learning *l, const double *w, double *gradient, bool with_second,
                           double *sum, double *objective, gbs_error *err)
{
    const bool second = with_second && l->information != NULL;
    double square = 0.0;
    if (l->likelihood == NULL) {
        GBSI_PASS(
            gbsi_pseudo_sum(&l->pseudo, w, sum, gradient, second ? l->information : NULL, err));
    } else {
        GBSI_PASS(gbsi_likelihood_at(l->likelihood, w, sum, gradient, err));
    }
    if (l->likelihood != NULL && second) {
        GBSI_PASS(gbsi_likelihood_information(l->likelihood, w, l->information, err));
    }
    for (size_t k = 0; k < l->n; ++k) {
        square += w[k] * w[k];
        if (gradient != NULL) {
            gradient[k] -= l->options.l2 * w[k];
        }
        if (second) {
            l->information[k * l->n + k] += l->options.l2;
        }
    }
    *objective = *sum - 0.5 * l->options.l2 * square;
    return GBS_OK;
}

/* Calls options.point with the state of learning. @param gradient length of the gradient. */
static gbs_status tell_point(void *context, uint64_t iteration, const double *w, double objective,
                             double gradient, gbs_error *err)
{
    gbsi_learning *l = context;
    gbs_learn_point point = {.size = sizeof point,
                             .iteration = iteration,
                             .objective = objective,
                             .gradient = gradient,
                             .held_out = (double)NAN};
    gbs_status status = GBS_OK;
    if (l->options.point == NULL) {
        return GBS_OK;
    }
    if (l->options.held_out != NULL) {
        status = gbsi_judge_at(&l->held_out, w, &point.held_out, err);
    }
    if (status == GBS_ERR_IMPOSSIBLE) { /* a held-out row of probability 0 is an answer, not an
                                           error */
        point.held_out = -INFINITY;
        status = GBS_OK;
    }
    if (status >= 0) {
        l->options.point(l->options.point_context, &point);
    }
    return status;
}

/* Tells the caller about a step of Newton's method, unless the step only searches for the weights
 * at which sampling starts. */
static gbs_status tell_step(gbsi_learning *l, gbs_error *err)
{
    double square = 0.0;
    for (size_t k = 0; k < l->n; ++k) {
        square += l->gradient[k] * l->gradient[k];
    }
    return l->options.objective == GBS_LEARN_SAMPLED
               ? GBS_OK
               : tell_point(l, l->report.iterations, l->w, l->report.objective, gbsi_sqrt(square),
                            err);
}

/* ---- Newton's method ------------------------------------------------------------------------- */

static gbs_status solve_step(gbsi_learning *l, gbs_error *err)
{
    double most = 0.0;
    if (l->information == NULL) {
        return gbsi_products_step(&l->products, l->gradient, l->step, err);
    }
    for (size_t k = 0; k < l->n; ++k) {
        most = gbsi_larger(most, l->information[k * l->n + k]);
    }
    for (double more = 0.0; !gbsi_learning_factorise(l, more);
         more = more > 0.0 ? 10.0 * more : 1e-9 * most + 1e-12) {
        if (gbsi_watch_stopped(&l->work.watch)) {
            return gbsi_watch_fail(err, "learning");
        }
    }
    memcpy(l->step, l->gradient, l->n * sizeof *l->step);
    gbsi_cholesky_solve(l->root, l->n, l->step);
    return GBS_OK;
}

/* Finds the step from w. @param slope out: the derivative of the objective along the step. */
static gbs_status find_step(gbsi_learning *l, double *slope, gbs_error *err)
{
    const gbs_status status = solve_step(l, err);
    *slope = 0.0;
    for (size_t k = 0; status >= 0 && k < l->n; ++k) {
        *slope += l->step[k] * l->gradient[k];
    }
    return status;
}

/* Goes along the step, which is halved until the objective increases enough. @return GBS_OK with a
 * change of 0 if no such point was found. */
static gbs_status go(gbsi_learning *l, double slope, gbs_error *err)
{
    gbs_learn_report *r = &l->report;
    double share = 1.0;
    r->change = 0.0;
    for (unsigned i = 0; i < HALVINGS; ++i, share *= 0.5) {
        double sum = 0.0;
        double objective = 0.0;
        double change = 0.0;
        for (size_t k = 0; k < l->n; ++k) {
            l->tried[k] = l->w[k] + share * l->step[k];
            change = gbsi_larger(change, fabs(l->tried[k] - l->w[k]));
        }
        GBSI_PASS(evaluate(l, l->tried, NULL, false, &sum, &objective, err));
        if (objective >= r->objective + RISE * share * slope) {
            memcpy(l->w, l->tried, l->n * sizeof *l->w);
            l->sum = sum;
            r->objective = objective;
            r->change = change;
            break;
        }
    }
    return GBS_OK;
}

/* Evaluates the objective and its derivatives at the first weights. */
static gbs_status evaluate_first(gbsi_learning *l, bool second, gbs_error *err)
{
    gbs_learn_report *r = &l->report;
    const gbs_status status = evaluate(l, l->w, l->gradient, second, &l->sum, &r->objective, err);
    return status < 0 || r->objective > -INFINITY
               ? status
               : gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                           "found a row of weight 0 whatever the weights are, expected none");
}

static gbs_status maximise(gbsi_learning *l, gbs_error *err)
{
    gbs_learn_report *r = &l->report;
    GBSI_PASS(evaluate_first(l, true, err));
    GBSI_PASS(tell_step(l, err));
    while (!r->converged && r->iterations < l->options.iterations) {
        double slope = 0.0;
        GBSI_PASS(find_step(l, &slope, err));
        GBSI_PASS(go(l, slope, err));
        l->work.progress.pass = ++r->iterations;
        r->converged = r->change <= l->options.tolerance;
        GBSI_PASS(evaluate(l, l->w, l->gradient, true, &l->sum, &r->objective, err));
        GBSI_PASS(tell_step(l, err));
    }
    return GBS_OK;
}

/* ---- with a penalty on absolute weights ------------------------------------------------------ */

static gbs_status evaluate_smooth(void *context, const double *w, double *objective,
                                  double *gradient, gbs_error *err)
{
    double sum = 0.0;
    return evaluate(context, w, gradient, false, &sum, objective, err);
}

/* Tells the caller about an iteration of OWL-QN. @param objective objective at w, with all
 * penalties. */
static gbs_status tell_sparse(void *context, uint64_t iteration, const double *w, double objective,
                              double slope, double change, gbs_error *err)
{
    gbsi_learning *l = context;
    l->report.iterations = l->work.progress.pass = iteration;
    l->report.objective = l->sum = objective;
    l->report.change = change;
    for (size_t k = 0; k < l->n; ++k) {
        l->sum += 0.5 * l->options.l2 * w[k] * w[k] + l->options.l1 * fabs(w[k]);
    }
    return tell_point(l, iteration, w, objective, slope, err);
}

/* Maximises the objective minus l1 |w|; many weights are then 0 [M61]. */
static gbs_status maximise_sparse(gbsi_learning *l, gbs_error *err)
{
    double *objective = &l->report.objective;
    gbsi_orthantwise o = {.n = l->n,
                          .l1 = l->options.l1,
                          .scale = l->data->sum,
                          .tolerance = l->options.tolerance,
                          .iterations = l->options.iterations,
                          .watch = &l->work.watch,
                          .context = l,
                          .evaluate = evaluate_smooth,
                          .tell = tell_sparse};
    GBSI_PASS(evaluate_first(l, false, err));
    for (size_t k = 0; k < l->n; ++k) {
        *objective -= o.l1 * fabs(l->w[k]);
    }
    GBSI_PASS(tell_sparse(l, 0, l->w, *objective, gbsi_orthantwise_slope(&o, l->w, l->gradient),
                          0.0, err));
    GBSI_PASS(gbsi_orthantwise_maximise(&o, l->w, err));
    l->report.converged = o.converged;
    return GBS_OK;
}

/* ---- along sampled gradients ---------------------------------------------------------------- */

/* Called before each step of the sampled likelihood. */
static gbs_status tell_sampled(void *context, uint64_t step, const double *w, double objective,
                               double gradient, gbs_error *err)
{
    gbsi_learning *l = context;
    l->work.progress.pass = step;
    l->work.progress.passes = l->options.steps;
    return tell_point(l, step, w, objective, gradient, err);
}

/* Learns along sampled gradients, which also gives the variances. */
static gbs_status climb(gbsi_learning *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_learn_report *r = &l->report;
    gbsi_learning_scan scan = {.pseudo = &l->pseudo,
                               .kind = (gbs_learn_scan)l->options.scan,
                               .accuracy = l->options.accuracy,
                               .memory_limit = l->options.memory_limit};
    const gbsi_climb how = {
        .options = &l->options, .scan = &scan, .tell = tell_sampled, .tell_context = l};
    gbsi_climbed found = {.variance = l->variance};
    GBSI_TRY(gbsi_learning_scan_init(&scan, err));
    GBSI_TRY(gbsi_climb_likelihood(&l->pseudo, &how, l->w, &found, err));
    r->has_errors = found.has_errors;
    r->converged = found.converged;

cleanup:
    if (found.steps > 0) {
        r->iterations = found.steps;
    }
    r->rhat = found.rhat;
    r->change = found.share;
    r->chance = found.error;
    r->misfit = found.misfit;
    r->n_unwritten = found.n_unwritten;
    l->sum = r->objective = (double)NAN;
    r->n_scans = scan.n_made;
    r->scan_length = scan.order.n;
    gbsi_learning_scan_free(&scan);
    return status;
}

/* @param error NULL, or [n_weights] out: standard errors. */
static gbs_status find_errors(gbsi_learning *l, double *error, gbs_error *err)
{
    GBSI_PASS(gbsi_learning_errors(l, error != NULL, err));
    for (uint32_t k = 0; error != NULL && k < l->model->tied.n_weights; ++k) {
        error[k] = 0.0;
    }
    for (size_t k = 0; error != NULL && k < l->n; ++k) {
        error[l->learnt.weight[k]] =
            l->report.has_errors ? gbsi_sqrt(gbsi_larger(l->variance[k], 0.0)) : (double)NAN;
    }
    return GBS_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* @return whether every row has a value of every variable that has several states. */
static bool is_whole(const gbs_model *model, const gbs_data *data)
{
    uint32_t n_known = 0;
    uint32_t n_wanted = 0;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        n_wanted += model->arity[v] > 1;
    }
    for (uint32_t c = 0; c < data->n_columns; ++c) {
        n_known += model->arity[data->column[c]] > 1 && data->n_missing[c] == 0;
    }
    return n_known == n_wanted;
}

static bool resumes(const gbs_learn_options *options)
{
    return options->checkpoints != NULL && options->checkpoints->resume != NULL;
}

/* @return whether the weights are few enough for a matrix of second derivatives. */
static bool has_matrix(const gbsi_learning *l)
{
    return l->n <= (l->options.objective == GBS_LEARN_LIKELIHOOD ? GBS_MAX_LIKELIHOOD_WEIGHTS
                                                                 : GBS_MAX_LEARNT_WEIGHTS);
}

static gbs_status find_weights(gbsi_learning *l, gbs_error *err)
{
    const gbs_status status = gbsi_learnt_find(l->model, &l->learnt, err);
    l->n = l->learnt.n;
    return status < 0 || l->n > 0
               ? status
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "found no weight to learn, expected a factor tied to one that is not "
                           "fixed");
}

static gbs_status take_memory(gbsi_learning *l, gbs_error *err)
{
    const bool matrix = has_matrix(l) && l->options.l1 == 0.0;
    const size_t n = matrix ? l->n : 0;
    l->w = gbsi_alloc_array(l->n, sizeof *l->w);
    l->tried = gbsi_alloc_array(l->n, sizeof *l->tried);
    l->gradient = gbsi_alloc_array(l->n, sizeof *l->gradient);
    l->step = gbsi_alloc_array(l->n, sizeof *l->step);
    l->variance = gbsi_alloc_array_zero(l->n, sizeof *l->variance);
    l->room = gbsi_alloc_array(gbsi_pool_size(l->work.pool), l->n * sizeof *l->room);
    l->information = matrix ? gbsi_alloc_array(n * n, sizeof *l->information) : NULL;
    l->root = matrix ? gbsi_alloc_array_zero(n * n, sizeof *l->root) : NULL;
    return l->w == NULL || l->tried == NULL || l->gradient == NULL || l->step == NULL ||
                   l->variance == NULL || l->room == NULL ||
                   (matrix && (l->information == NULL || l->root == NULL))
               ? gbsi_no_memory(err, "second derivatives", (l->n + n * n) * sizeof *l->root)
               : GBS_OK;
}

static gbs_status begin(gbsi_learning *l, const gbs_model *model, const gbs_data *data,
                        gbs_error *err)
{
    const gbs_learn_options *o = &l->options;
    const bool exact = o->objective == GBS_LEARN_LIKELIHOOD;
    l->model = model;
    l->data = data;
    GBSI_PASS(find_weights(l, err));
    if (exact) {
        GBSI_PASS(gbsi_likelihood_new(model, &l->learnt, data, o->memory_limit, &l->work.watch,
                                      &l->likelihood, err));
    } else {
        GBSI_PASS(gbsi_pseudo_init(&l->pseudo, model, &l->learnt, data,
                                   o->objective == GBS_LEARN_PSEUDO, l->work.pool, &l->work.watch,
                                   err));
    }
    if (o->held_out != NULL) {
        GBSI_PASS(gbsi_judge_init(&l->held_out, model, o->held_out, exact, o->memory_limit,
                                  l->work.pool, &l->work.watch, err));
    }
    l->report.size = sizeof l->report;
    l->report.n_rows = data->n_rows;
    l->report.n_learnt = l->n;
    l->report.misfit = (double)NAN;
    GBSI_PASS(take_memory(l, err));
    for (size_t k = 0; k < l->n; ++k) {
        l->w[k] = model->tied.value[l->learnt.weight[k]];
    }
    l->products = (gbsi_products){.pseudo = &l->pseudo,
                                  .likelihood = l->likelihood,
                                  .data = data,
                                  .work = &l->work,
                                  .l2 = o->l2,
                                  .w = l->w,
                                  .n = l->n,
                                  .seed = o->seed};
    if (o->probes > 0 || l->information == NULL) {
        GBSI_PASS(gbsi_products_init(&l->products, err));
    }
    return GBS_OK;
}

static gbs_status give(gbsi_learning *l, double *error, gbs_model **learnt, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_tied *t = &l->model->tied;
    gbs_model *model = NULL;
    double *value = gbsi_alloc_array(t->n_weights, sizeof *value);
    GBSI_PASS(GBSI_HAVE(err, "weights", value));
    memcpy(value, t->value, t->n_weights * sizeof *value);
    for (size_t k = 0; k < l->n; ++k) {
        value[l->learnt.weight[k]] = l->w[k];
    }
    GBSI_TRY(gbs_model_with_weights(l->model, value, &model, err));
    GBSI_TRY(find_errors(l, error, err));
    *learnt = model;
    model = NULL;

cleanup:
    gbs_model_free(model);
    gbsi_free(value);
    return status;
}

gbs_status gbs_learn_weights(const gbs_model *model, const gbs_data *data,
                             const gbs_learn_options *options, const gbs_run_callbacks *callbacks,
                             double *error, gbs_model **learnt, gbs_learn_report *report,
                             gbs_error *err)
{
    GBSI_NEED(model, data, learnt);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_learn_report);
    gbs_status status = GBS_OK;
    gbsi_learning l = {.n = 0};
    GBSI_TRY(gbsi_learn_options_settle(options, &l.options, err));
    GBSI_TRY(gbsi_judge_check(model, data, err));
    const gbs_label_options limits = {
        .size = sizeof limits,
        .time_s = l.options.time_s,
        .threads = l.options.objective == GBS_LEARN_LIKELIHOOD ? 1 : l.options.threads,
        .memory_limit = l.options.memory_limit};
    GBSI_TRY(gbsi_work_begin(&l.work, &limits, callbacks, gbs_model_bytes(model), err));
    l.work.progress.passes = l.options.iterations;
    l.work.progress.worst_error = (double)NAN;
    status = begin(&l, model, data, err);
    if (status >= 0 && l.options.l1 > 0.0) {
        status = maximise_sparse(&l, err);
    } else if (status >= 0 && (l.options.objective != GBS_LEARN_SAMPLED ||
                               (is_whole(model, data) && !resumes(&l.options)))) {
        status = maximise(&l, err);
    }
    if (status >= 0 && l.options.objective == GBS_LEARN_SAMPLED) {
        status = climb(&l, err);
    }
    if (status == GBS_ERR_STOPPED && l.report.iterations > 0) {
        status = GBS_STOPPED;
    }
    if (status >= 0) {
        const gbs_status given = give(&l, error, learnt, err);
        status = given < 0 || !gbsi_watch_stopped(&l.work.watch) ? given : GBS_STOPPED;
    }
    const bool exact = l.likelihood != NULL;
    l.report.seconds = gbsi_clock_s() - l.work.begun_s;
    l.report.pseudo_log_likelihood = exact ? (double)NAN : l.sum;
    l.report.log_likelihood = exact ? l.sum : (double)NAN;
    if (status >= 0) {
        gbsi_struct_give(report, &l.report, sizeof l.report);
    }

cleanup:
    learning_free(&l); /* free the solver's memory first, since it counts towards the budget */
    gbsi_work_end(&l.work);
    return status;
}
