/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of the weights of chains, by probes [M73]. A probe is the sum of the features of
 * labels that are drawn from the model, minus the expectation of this sum. The covariance of a
 * probe is H. The product of (H + l2)^-1 with a probe has the covariance of the weights at the
 * penalised maximum, (H + l2)^-1 H (H + l2)^-1 [M66]. */
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "crf/curvature.h"
#include "learn/equations.h"
#include "learn/probes.h"
#include "options/questions.h"

enum {
    VECTORS = 4
}; /* number of vectors of conjugate gradients: right side, direction, product, diagonal */

typedef struct errors {
    const gbs_crf *crf;
    gbs_crf_learn_options options;
    gbsi_work work;
    gbsi_features features;
    uint32_t *labels; /* [n_tokens] labels; standard errors do not depend on their values */
    gbsi_gradient gradient;
    gbsi_curvature curvature;
    double *room; /* [VECTORS][n_weights] vectors of conjugate gradients */
} errors;

static void errors_free(errors *e)
{
    gbsi_curvature_free(&e->curvature);
    gbsi_gradient_free(&e->gradient);
    gbsi_features_free(&e->features);
    GBSI_FREE(e->labels, e->room);
    gbsi_work_end(&e->work);
}

static bool multiply(void *context, const double *d, double *product)
{
    errors *e = context;
    return gbsi_curvature_product(&e->curvature, d, e->options.l2, product);
}

static bool solve(void *context, uint64_t probe, double *y)
{
    errors *e = context;
    const size_t n = e->crf->n_weights;
    const gbsi_conjugate c = {.n = n,
                              .y = y,
                              .r = e->room,
                              .d = e->room + n,
                              .product = e->room + 2 * n,
                              .diagonal = e->room + 3 * n,
                              .left = GBSI_CONJUGATE_LEFT,
                              .multiply = multiply,
                              .context = e};
    e->gradient.truth = e->gradient.state;
    const bool drawn = gbsi_curvature_draw(&e->curvature, e->options.seed, probe);
    if (drawn) {
        (void)gbsi_gradient_at(&e->gradient, e->crf->weight, 0.0, c.r);
    }
    e->gradient.truth = e->labels;
    return drawn && !gbsi_watch_stopped(&e->work.watch) && gbsi_conjugate_solve(&c);
}

/* Computes the sums of the chains at the weights, and the diagonal. */
static gbs_status begin(errors *e, const gbs_sequences *data, gbs_error *err)
{
    const gbs_crf *crf = e->crf;
    GBSI_PASS(gbsi_features_find(&crf->templates, &crf->features, NULL, data, &e->features,
                                 &e->work.watch, err));
    if (e->features.n_links > 0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "standard errors are those of chains: found links between tokens");
    }
    e->labels = gbsi_alloc_array_zero(data->n_tokens, sizeof *e->labels);
    e->room = gbsi_alloc_array(VECTORS, crf->n_weights * sizeof *e->room);
    GBSI_PASS(GBSI_HAVE(err, "standard errors", e->labels, e->room));
    GBSI_PASS(gbsi_gradient_new(crf, data, &e->features, e->labels, &e->work, &e->gradient, err));
    e->curvature.gradient = &e->gradient;
    GBSI_PASS(gbsi_curvature_new(&e->curvature, err));
    (void)gbsi_gradient_at(&e->gradient, crf->weight, 0.0, e->room);
    if (e->gradient.wide) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "standard errors: log-weights at one token differ by more than %g",
                         GBSI_MOST_SPAN);
    }
    if (gbsi_watch_stopped(&e->work.watch) ||
        !gbsi_curvature_diagonal(&e->curvature, e->options.l2,
                                 e->room + (VECTORS - 1) * crf->n_weights)) {
        GBSI_PASS(gbsi_watch_fail(err, "finding standard errors"));
    }
    return GBS_OK;
}

static gbs_status take_options(errors *e, const gbs_crf_learn_options *options, gbs_error *err)
{
    gbs_crf_learn_options *o = &e->options;
    GBSI_PASS(gbsi_question_settle("learn crf", options, o, err));
    if (o->l1 > 0.0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "standard errors are not those of weights that l1 holds at 0: found l1 %g",
                         o->l1);
    }
    o->l2 = o->l2 > 0.0 ? o->l2 : 1.0;
    o->probes = o->probes > 0 ? o->probes : GBS_USUAL_CRF_PROBES;
    return GBS_OK;
}

gbs_status gbs_crf_errors(const gbs_crf *crf, const gbs_sequences *data,
                          const gbs_crf_learn_options *options, const gbs_run_callbacks *callbacks,
                          double *error, gbs_error *err)
{
    GBSI_NEED(crf, data, error);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    gbs_status status = GBS_OK;
    double *found = NULL;
    errors e = {.crf = crf};
    GBSI_TRY(take_options(&e, options, err));
    const gbs_label_options work = {.size = sizeof work,
                                    .time_s = e.options.time_s,
                                    .threads = e.options.threads,
                                    .memory_limit = e.options.memory_limit};
    GBSI_TRY(gbsi_work_begin(&e.work, &work, callbacks,
                             gbsi_crf_bytes(crf) + gbsi_sequences_bytes(data), err));
    GBSI_TRY(begin(&e, data, err));
    found = gbsi_alloc_array(crf->n_weights, sizeof *found);
    GBSI_TRY(GBSI_HAVE(err, "standard errors", found));
    const gbsi_probes probes = {.n = crf->n_weights,
                                .count = e.options.probes,
                                .work = &e.work,
                                .context = &e,
                                .solve = solve};
    GBSI_TRY(gbsi_probe_errors(&probes, found, err));
    memcpy(error, found, crf->n_weights * sizeof *error);

cleanup:
    gbsi_free(found);
    errors_free(&e);
    return status;
}
