/* SPDX-License-Identifier: Apache-2.0 */
/* Scans that are optimised while weights are learnt (Mitliagkas & Mackey 2017, section 5.3). All
 * variables have weight 1, and a scan is long enough if its Dobrushin variation [M38] is at most
 * the accuracy. */
#include "weights/sampled.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/run.h"

#define MOVED 0.01 /* change of a weight after which a new scan is made */
#define TOO_LONG \
    8u /* a scan may be longer than the shortest sufficient scan by the share 1 / TOO_LONG */
/* Largest number of variables and influences that the updates of one pass may look at, for descents
 * from the random scan. */
#define MOST_LOOKS (UINT64_C(1) << 20)

void gbsi_learning_scan_free(gbsi_learning_scan *scan)
{
    GBSI_FREE(scan->variable, scan->at);
}

gbs_status gbsi_learning_scan_init(gbsi_learning_scan *scan, gbs_error *err)
{
    const uint32_t *arity = scan->pseudo->model->arity;
    const uint32_t n = scan->pseudo->model->n_variables;
    uint32_t n_free = 0;
    scan->variable = gbsi_alloc_array(n, sizeof *scan->variable);
    scan->at = gbsi_alloc_array_zero(scan->pseudo->learnt->n, sizeof *scan->at);
    GBSI_PASS(GBSI_HAVE(err, "scan", scan->variable, scan->at));
    for (uint32_t v = 0; v < n; ++v) { /* the systematic scan: place v holds variable v */
        scan->variable[n_free] = v;
        n_free += scan->kind != GBS_LEARN_SCAN_RANDOM || arity[v] > 1;
    }
    scan->order = (gbsi_sweep_order){
        .variable = scan->variable, .n = n_free, .random = scan->kind == GBS_LEARN_SCAN_RANDOM};
    return GBS_OK;
}

static int stop(void *context)
{
    gbsi_watch_look(context);
    return gbsi_watch_stopped(context);
}

static gbs_status check_condition(const gbs_influences *influences, gbs_error *err)
{
    gbs_influence_norms norms = {0};
    const double sum = gbs_influences_report(influences)->largest_sum;
    const gbs_status status = sum < 1.0 ? GBS_OK : gbs_influences_norms(influences, &norms, err);
    return status < 0 || sum < 1.0 || norms.radius_hi < 1.0
               ? status
               : gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "Dobrushin's condition fails at the weights of this step: found "
                           "influences on one variable that sum to %.4g, and a spectral radius of "
                           "up to %.4g, expected below 1; no scan is then proved to forget its "
                           "start, so learn with the systematic or random scan",
                           sum, norms.radius_hi);
}

/* Finds a scan that meets the accuracy and is at most one eighth longer than the shortest such
 * scan, by doubling and then by bisection. Descents begin with the random scan, as in the paper, or
 * with the systematic scan if each update of the random scan would look at too much. @param made
 * out: the scan; NULL if there is no free variable. */
static gbs_status optimise(const gbs_influences *influences, double accuracy, uint32_t **made,
                           size_t *n, gbs_error *err)
{
    const gbs_influence_report *of = gbs_influences_report(influences);
    gbs_run_options random = gbs_run_options_default();
    random.scan = GBS_SCAN_RANDOM;
    gbs_scan_report report = {.size = sizeof report};
    gbs_scan_request request = {
        .size = sizeof request,
        .accuracy = accuracy,
        .start = of->n_free * (of->n_free + of->n_entries) <= MOST_LOOKS ? &random : NULL};
    gbs_status status = GBS_OK;
    if (of->n_free > 0) {
        status = gbs_scan_optimise(influences, &request, made, n, &report, err);
    }
    for (size_t fails = *n / 2; status == GBS_OK && *n - fails > *n / TOO_LONG + 1;) {
        uint32_t *tried = NULL;
        size_t length = 0;
        request.steps = fails + (*n - fails) / 2;
        status = gbs_scan_optimise(influences, &request, &tried, &length, &report, err);
        if (status == GBS_OK && report.after <= accuracy) {
            gbsi_free(*made);
            *made = tried;
            *n = length;
            continue;
        }
        gbsi_free(tried);
        fails = (size_t)request.steps;
    }
    return status == GBS_STOPPED ? gbsi_watch_fail(err, "learning") : status;
}

static bool moved(const gbsi_learning_scan *scan, const double *w)
{
    bool far = scan->n_made == 0;
    for (size_t k = 0; k < scan->pseudo->learnt->n; ++k) {
        far = far || !(fabs(w[k] - scan->at[k]) <= MOVED);
    }
    return far;
}

/* Makes the model with the weights w. */
static gbs_status model_at(const gbsi_learning_scan *scan, const double *w, gbs_model **model,
                           gbs_error *err)
{
    const gbsi_learnt *learnt = scan->pseudo->learnt;
    const gbsi_tied *t = &scan->pseudo->model->tied;
    double *value = gbsi_alloc_array(t->n_weights, sizeof *value);
    GBSI_PASS(GBSI_HAVE(err, "weights", value));
    memcpy(value, t->value, t->n_weights * sizeof *value);
    for (uint32_t k = 0; k < learnt->n; ++k) {
        value[learnt->weight[k]] = w[k];
    }
    const gbs_status status = gbs_model_with_weights(scan->pseudo->model, value, model, err);
    gbsi_free(value);
    return status;
}

gbs_status gbsi_learning_scan_follow(gbsi_learning_scan *scan, const double *w, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    gbs_influences *influences = NULL;
    uint32_t *made = NULL;
    size_t n = 0;
    const gbs_influence_options options = {.size = sizeof options,
                                           .memory_limit = scan->memory_limit,
                                           .stop = scan->pseudo->watch != NULL ? stop : NULL,
                                           .stop_context = scan->pseudo->watch};
    if (scan->kind != GBS_LEARN_SCAN_OPTIMISED || !moved(scan, w)) {
        return GBS_OK;
    }
    GBSI_TRY(model_at(scan, w, &model, err));
    GBSI_TRY(gbs_influences_new(model, NULL, &options, &influences, err));
    GBSI_TRY(check_condition(influences, err));
    GBSI_TRY(optimise(influences, scan->accuracy, &made, &n, err));
    gbsi_free(scan->variable);
    scan->variable = made;
    made = NULL;
    scan->order = (gbsi_sweep_order){.variable = scan->variable, .n = n};
    memcpy(scan->at, w, scan->pseudo->learnt->n * sizeof *w);
    ++scan->n_made;

cleanup:
    gbsi_free(made);
    gbs_influences_free(influences);
    gbs_model_free(model);
    return status;
}
