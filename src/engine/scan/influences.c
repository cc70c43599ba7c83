/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions for the influences of a model given evidence, and for the scans whose
 * variation is bounded. */
#include "scan/influences.h"

#include <inttypes.h>
#include <math.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/sized.h"
#include "options/options.h"
#include "simd/dispatch.h"
#include "store/model.h"

uint64_t gbsi_influences_room(const gbs_influences *influences)
{
    const gbsi_budget *b = &influences->budget;
    const int64_t left = b->room - atomic_load(&b->held);
    return left > 0 ? (uint64_t)left : 0;
}

gbsi_budget *gbsi_influences_enter(const gbs_influences *influences)
{
    return gbsi_budget_enter((gbsi_budget *)(uintptr_t)&influences->budget);
}

static bool ask(void *context)
{
    const gbs_influences *f = context;
    return f->stop != NULL && f->stop(f->stop_context) != 0;
}

gbsi_watch gbsi_influences_watch(const gbs_influences *influences)
{
    return gbsi_watch_of(ask, (void *)(uintptr_t)influences, 0.0, 0.0);
}

static void describe(gbs_influences *f)
{
    const gbsi_influences *c = f->c;
    f->report = (gbs_influence_report){.size = sizeof f->report,
                                       .n_variables = f->model->n_variables,
                                       .n_free = c->n,
                                       .n_entries = gbsi_influences_row(c, c->n),
                                       .n_exact = c->n_exact,
                                       .n_refused = c->n_refused,
                                       .n_given = c->n_given};
    gbsi_matrix_sums(c, &f->report.largest_sum, &f->report.mean_sum);
}

gbs_status gbs_influences_norms(const gbs_influences *influences, gbs_influence_norms *norms,
                                gbs_error *err)
{
    GBSI_NEED(influences, norms);
    gbs_status status = GBS_OK;
    const gbsi_influences *c = influences->c;
    uint32_t n_components = 0;
    gbsi_norms found;
    gbsi_watch watch = gbsi_influences_watch(influences);
    gbsi_budget *before = gbsi_influences_enter(influences);
    uint32_t *component = gbsi_alloc_array(c->n, sizeof *component);
    GBSI_TRY(GBSI_HAVE(err, "norms", component));
    GBSI_TRY(gbsi_matrix_components(c, component, &n_components, err));
    GBSI_TRY(gbsi_matrix_norms(c, component, n_components, &watch, &found, err));
    *norms = (gbs_influence_norms){.two_lo = found.two.lo,
                                   .two_hi = found.two.hi,
                                   .radius_lo = found.radius.lo,
                                   .radius_hi = found.radius.hi};

cleanup:
    gbsi_free(component);
    gbsi_budget_leave(before);
    return status;
}

gbs_status gbs_influences_new(const gbs_model *model, const gbs_evidence *evidence,
                              const gbs_influence_options *options, gbs_influences **out,
                              gbs_error *err)
{
    GBSI_NEED(model, out);
    GBSI_IN_STRUCT(options, gbs_influence_options);
    gbs_status status = GBS_OK;
    const gbs_influence_options asked =
        options != NULL ? *options : (gbs_influence_options){.rule = GBS_INFLUENCE_AUTO};
    const gbs_influence_rule rule =
        asked.rule == 0 ? GBS_INFLUENCE_AUTO : (gbs_influence_rule)asked.rule;
    if (asked.rule != 0 && asked.rule != GBS_INFLUENCE_AUTO && asked.rule != GBS_INFLUENCE_BOUND &&
        asked.rule != GBS_INFLUENCE_EXACT) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_influence_options.rule: found %d, which is no gbs_influence_rule",
                         asked.rule);
    }
    gbsi_budget *before = gbsi_budget_current();
    gbs_influences *f = gbsi_alloc_zero(sizeof *f);
    GBSI_PASS(GBSI_HAVE(err, "influences", f));
    f->model = model;
    f->stop = asked.stop;
    f->stop_context = asked.stop_context;
    gbsi_watch watch = gbsi_influences_watch(f);
    gbsi_budget_init(&f->budget,
                     asked.memory_limit != 0 ? asked.memory_limit : gbsi_default_memory_limit(),
                     gbsi_process_bytes() + gbs_model_bytes(model));
    before = gbsi_influences_enter(f);
    GBSI_TRY(gbsi_simd_check(err));
    GBSI_TRY(gbsi_condition_watched(model, evidence, &watch, &f->conditioned, err));
    GBSI_TRY(gbsi_graph_new(f->conditioned, NULL, &f->graph, err));
    GBSI_TRY(
        asked.given != NULL
            ? gbsi_influences_given(f->conditioned, asked.given, asked.n_given,
                                    gbsi_influences_room(f), &watch, &f->c, err)
            : gbsi_influences_new(f->graph, rule, gbsi_influences_room(f), &watch, &f->c, err));
    describe(f);
    *out = f;
    f = NULL;

cleanup:
    gbs_influences_free(f);
    gbsi_budget_leave(before);
    return status;
}

void gbs_influences_free(gbs_influences *influences)
{
    if (influences == NULL) {
        return;
    }
    gbsi_influences_free(influences->c);
    gbsi_graph_free(influences->graph);
    gbsi_conditioned_free(influences->conditioned);
    gbsi_free(influences);
}

const gbs_influence_report *gbs_influences_report(const gbs_influences *influences)
{
    return influences == NULL ? NULL : &influences->report;
}

double gbs_influence(const gbs_influences *influences, uint32_t i, uint32_t j)
{
    if (influences == NULL) {
        return 0.0;
    }
    const gbsi_influences *c = influences->c;
    const uint32_t *free_variable = influences->conditioned->free_variable;
    const uint32_t n = influences->model->n_variables;
    if (i >= n || j >= n || free_variable[i] == GBSI_NONE || free_variable[j] == GBSI_NONE) {
        return 0.0;
    }
    size_t low = gbsi_influences_row(c, free_variable[i]);
    const size_t end = gbsi_influences_row(c, free_variable[i] + (size_t)1);
    size_t high = end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->j[middle] < free_variable[j]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && c->j[low] == free_variable[j] ? c->on[low] : 0.0;
}

gbs_status gbsi_weights_of(const gbs_influences *influences, const double *weight, double **d,
                           gbs_error *err)
{
    const gbsi_conditioned *model = influences->conditioned;
    *d = NULL;
    if (weight == NULL) {
        return GBS_OK;
    }
    double *made = gbsi_alloc_array(model->n_variables, sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "weights", made));
    for (uint32_t u = 0; u < model->model->n_variables; ++u) {
        if (!(weight[u] >= 0.0 && weight[u] <= GBSI_VARIATION_CEILING)) {
            gbsi_free(made);
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "the weight of variable %" PRIu32 " is %g, expected 0 to %g", u,
                             weight[u], GBSI_VARIATION_CEILING);
        }
        if (model->free_variable[u] != GBSI_NONE) {
            made[model->free_variable[u]] = weight[u];
        }
    }
    *d = made;
    return GBS_OK;
}

gbs_status gbsi_scan_pass_init(const gbs_influences *influences, const gbs_run_options *options,
                               gbsi_scan_pass *pass, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run_options asked;
    gbsi_scan_pass made = {0};
    GBSI_TRY(gbsi_options_take(options, &asked, err));
    GBSI_TRY(gbsi_option_check_names(&asked, "scan", asked.scan, gbsi_scan_options, err));
    asked.partial_scan = 1;
    if (gbsi_scan_choice_of(asked.scan) == GBSI_CHOICE_BY_NEED) {
        asked.scan = gbsi_scan_with(GBSI_SCAN_BASE);
    }
    made.scan = gbsi_scan_of(asked.scan);
    const char *base = gbsi_scan_base_name();
    if (gbsi_scan_choice_of(asked.scan) == GBSI_CHOICE_TRIED) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--scan auto leaves the choice to a run, but a bound needs one given "
                         "scan: try --scan %s",
                         base);
    }
    unsigned traits = made.scan->traits;
    gbsi_watch watch = gbsi_influences_watch(influences);
    const bool uniform = (traits & GBSI_SCAN_UNIFORM) != 0;
    if ((traits & (GBSI_SCAN_SPLITS | GBSI_SCAN_BLOCKS | GBSI_SCAN_CLUSTERS)) != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "bounds exist only for scans that update one variable at a time, and the "
                         "%s scan %s: try --scan %s",
                         made.scan->name,
                         (traits & GBSI_SCAN_SPLITS) != 0   ? "updates all variables at once"
                         : (traits & GBSI_SCAN_BLOCKS) != 0 ? "draws blocks"
                                                            : "moves clusters",
                         base);
    }
    if (!uniform && (traits & GBSI_SCAN_REPEATS) == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "the %s scan changes its sequence in every pass, so its variation has no "
                         "closed form: try --scan %s, or a scan file",
                         made.scan->name, base);
    }
    GBSI_TRY(made.scan->init(influences->graph, &asked, &watch, &made.state, &traits, err));
    GBSI_TRY(made.scan->next_pass(made.state, 0, &made.sequence, err));
    if (uniform) {
        made.sequence.variable = NULL;
    }
    for (size_t t = 0; !uniform && t < made.sequence.n; ++t) {
        made.n_uniform += made.sequence.variable[t] == GBSI_NONE;
    }
    *pass = made;
    return GBS_OK;

cleanup:
    gbsi_scan_pass_free(&made);
    return status;
}

void gbsi_scan_pass_free(gbsi_scan_pass *pass)
{
    if (pass->scan != NULL && pass->state != NULL) {
        pass->scan->free(pass->state);
    }
    *pass = (gbsi_scan_pass){0};
}

gbs_status gbs_pass_length(const gbs_influences *influences, const gbs_run_options *options,
                           uint64_t *n, gbs_error *err)
{
    GBSI_NEED(influences, n);
    gbsi_scan_pass pass = {0};
    gbsi_budget *before = gbsi_influences_enter(influences);
    const gbs_status status = gbsi_scan_pass_init(influences, options, &pass, err);
    if (status >= 0) {
        *n = pass.sequence.n;
        gbsi_scan_pass_free(&pass);
    }
    gbsi_budget_leave(before);
    return status;
}
