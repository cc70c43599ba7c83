/* SPDX-License-Identifier: Apache-2.0 */
/* gbs_sensitivity(): checks the question and chooses how to answer it. */
#include "gibbsite/sensitivity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/extremes.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "chains/run_options.h"
#include "sensitivity/parameters.h"
#include "simd/math.h"
#include "store/builder.h"

#define PROGRESS_S 0.25

void gbs_sensitivities_free(gbs_sensitivities *answer)
{
    if (answer != NULL) {
        GBSI_FREE(answer->kind, answer->factor, answer->of, answer->entry, answer->value,
                  answer->derivative, answer->mcse, answer->log_p, answer->low, answer->high);
        *answer = (gbs_sensitivities){.size = answer->size};
    }
}

/* ---- another value ----------------------------------------------------------------------- */

/* p = now + m derivative / (1 + m log_p). P(x, e) and P(e) are linear in t, or in the ratio of the
 * new weight of some states to their old weight; m is the change of t, or this ratio minus 1. For a
 * formula that is `high` in these states and `low` in all other states, 1[formula = high] =
 * (formula - low) / (high - low) [M55]. */
typedef struct line {
    double derivative, log_p;
    double width; /* high - low; 1 for other kinds */
} line;

/* @return whether P(x, e) and P(e) are linear in the parameter, not in a ratio of weights. */
static bool is_probability(const gbs_sensitivities *a, size_t i)
{
    return a->kind[i] == GBS_PARAMETER_PROBABILITY || a->kind[i] == GBS_PARAMETER_INHIBITION ||
           a->kind[i] == GBS_PARAMETER_LEAK;
}

static line line_of(const gbs_sensitivities *a, size_t i)
{
    line l = {a->derivative[i], a->log_p[i], 1.0};
    if (a->kind[i] == GBS_PARAMETER_WEIGHT) {
        l.width = a->high[i] - a->low[i];
        l.derivative /= l.width;
        l.log_p = (l.log_p - a->low[i]) / l.width;
    }
    return l;
}

double gbs_sensitivity_at(const gbs_sensitivities *answer, size_t parameter, double value)
{
    const gbs_sensitivities *a = answer;
    if (a == NULL || parameter >= a->n_parameters || isnan(value)) {
        return NAN;
    }
    const double now = a->value[parameter];
    const line l = line_of(a, parameter);
    double moved = value - now;
    if (is_probability(a, parameter)) {
        moved = value >= 0.0 && value <= 1.0 ? moved : (double)NAN;
    } else {
        moved = isinf(now) ? (double)NAN : gbsi_exp(moved * l.width) - 1.0;
    }
    /* P(e) becomes P(e) (1 + moved d ln P(e)), and p = P(x, e) / P(e) [M55] */
    const double evidence = 1.0 + moved * l.log_p;
    const double p = a->p + moved * l.derivative / evidence;
    if (!(evidence > 0.0) || isnan(p)) {
        return NAN;
    }
    return p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p;
}

/* @return the value of a parameter for a p, from p = now + moved dp / (1 + moved C): moved = (p -
 * now) / (dp - (p - now) C) [M55]. */
double gbs_sensitivity_value_for(const gbs_sensitivities *answer, size_t parameter, double p)
{
    const gbs_sensitivities *a = answer;
    if (a == NULL || parameter >= a->n_parameters || !(p >= 0.0 && p <= 1.0)) {
        return NAN;
    }
    const line l = line_of(a, parameter);
    const double rise = p - a->p;
    const double moved = rise / (l.derivative - rise * l.log_p);
    if (l.derivative == 0.0 || !(1.0 + moved * l.log_p > 0.0)) {
        return NAN; /* also if the slope is NAN */
    }
    double value = a->value[parameter] + moved;
    if (!is_probability(a, parameter)) {
        value = moved > -1.0 ? a->value[parameter] + gbsi_log(1.0 + moved) / l.width : (double)NAN;
    }
    return isnan(gbs_sensitivity_at(a, parameter, value)) ? (double)NAN : value;
}

/* ---- the answer -------------------------------------------------------------------------- */

typedef struct asking {
    gbs_run_options options;
    gbs_run_callbacks callbacks;
    double begun_s, told_s;
} asking;

static bool look(void *context)
{
    asking *a = context;
    const double now_s = gbsi_clock_s();
    if (a->callbacks.progress == NULL || now_s - a->told_s < PROGRESS_S) {
        return false;
    }
    const gbs_progress progress = {
        .size = sizeof progress, .elapsed_s = now_s - a->begun_s, .worst_error = NAN};
    a->told_s = now_s;
    return a->callbacks.progress(a->callbacks.context, &progress) != 0;
}

static gbs_status check(const gbs_model *model, const gbs_evidence *evidence, uint32_t variable,
                        uint32_t state, gbs_error *err)
{
    char name[128];
    if (variable >= model->n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "sensitivity: there is no variable %" PRIu32 ", the model has %" PRIu32,
                         variable, model->n_variables);
    }
    if (state >= model->arity[variable]) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "sensitivity: variable %s has %" PRIu32 " state%s, found state %" PRIu32,
                         gbsi_variable_text(model, variable, name, sizeof name),
                         model->arity[variable], gbsi_plural(model->arity[variable]), state);
    }
    if (evidence != NULL && evidence->model != model) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "sensitivity: the evidence is of another model");
    }
    return GBS_OK;
}

/* @param first offsets of parameters, from gbsi_parameters_list() */
static gbs_status answer_exactly(asking *a, const gbs_model *model, const gbs_evidence *evidence,
                                 const size_t *first, gbs_sensitivities *answer, gbs_error *err)
{
    const gbs_run_options *o = &a->options;
    const bool is_auto = o->method == GBS_METHOD_AUTO;
    const gbs_exact_options options = {
        .size = sizeof options,
        .memory_limit = is_auto && o->memory_limit == 0 ? gbsi_auto_memory_limit()
                                                        : gbsi_options_memory_limit(o),
        .threads = o->threads,
        .most_s = is_auto ? 0.5 * (o->time_s > 0.0 ? o->time_s : o->budget_s) : 0.0};
    gbsi_watch watch = gbsi_watch_of(look, a, a->begun_s, o->time_s);
    const gbs_status status =
        gbsi_sensitivity_exact(model, evidence, &options, &watch, first, answer, err);
    if (status >= 0) {
        answer->exact = 1;
        answer->converged = 1;
        (void)snprintf(answer->verdict, sizeof answer->verdict, "exact: a junction tree");
    }
    return status;
}

static gbs_status answer_somehow(asking *a, const gbs_model *model, const gbs_evidence *evidence,
                                 gbs_sensitivities *answer, gbs_error *err)
{
    size_t *first = NULL;
    gbs_run_options *o = &a->options;
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_parameters_list(model, evidence, answer, &first, err));
    if (o->method != GBS_METHOD_SAMPLE) {
        status = answer_exactly(a, model, evidence, first, answer, err);
    }
    if (o->method == GBS_METHOD_SAMPLE ||
        (status == GBS_ERR_LIMIT && o->method == GBS_METHOD_AUTO)) {
        o->method = GBS_METHOD_SAMPLE;
        const double left_s = o->time_s - (gbsi_clock_s() - a->begun_s);
        o->time_s = o->time_s > 0.0 ? gbsi_larger(left_s, 1e-3) : 0.0;
        o->temper =
            GBS_TEMPER_OFF; /* tempered runs give no draws in which hard zeros are violated */
        status = gbsi_sensitivity_sampled(model, evidence, o, &a->callbacks, first, answer, err);
    }

cleanup:
    gbsi_free(first);
    return status;
}

gbs_status gbs_sensitivity(const gbs_model *model, const gbs_evidence *evidence, uint32_t variable,
                           uint32_t state, const gbs_run_options *options,
                           const gbs_run_callbacks *callbacks, gbs_sensitivities *answer,
                           gbs_error *err)
{
    GBSI_NEED(model, answer);
    GBSI_OUT_STRUCT(answer, gbs_sensitivities);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    gbs_status status = GBS_OK;
    gbs_sensitivities own = {.size = sizeof own, .variable = variable, .state = state};
    asking a = {.begun_s = gbsi_clock_s()};
    if (callbacks != NULL) {
        a.callbacks =
            (gbs_run_callbacks){.context = callbacks->context, .progress = callbacks->progress};
    }
    GBSI_TRY(gbsi_options_take(options, &a.options, err));
    GBSI_TRY(gbsi_options_check(&a.options, err));
    GBSI_TRY(check(model, evidence, variable, state, err));
    if (gbsi_options_approximate(&a.options) || a.options.restarts ||
        a.options.estimator == GBS_ESTIMATOR_TRACES) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "sensitivity: takes method auto, exact or sample, and neither restarts "
                           "nor the estimator traces"));
    }
    GBSI_TRY(answer_somehow(&a, model, evidence, &own, err));
    gbsi_struct_give(answer, &own, sizeof own);
    own = (gbs_sensitivities){.size = sizeof own};

cleanup:
    gbs_sensitivities_free(&own);
    return status;
}
