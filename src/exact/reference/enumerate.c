/* SPDX-License-Identifier: Apache-2.0 */
/* Computes marginals, ln Z and the joint distribution by visiting every state twice. The first pass
 * finds the largest log density m. The second pass sums the weights exp(log density - m), the
 * largest of which is 1. */
#include "reference/enumerate.h"

#include "base/memory.h"
#include "simd/math.h"

typedef struct weigh {
    double max;
    double *joint; /* out: joint distribution; NULL if it is not wanted */
} weigh;

static double visit_weight(void *context, uint64_t index, double logw)
{
    const weigh *w = context;
    const double weight = gbsi_exp(logw - w->max);
    if (w->joint != NULL) {
        w->joint[index] = weight;
    }
    return weight;
}

gbs_status gbsi_enumerate(const gbsi_conditioned *model, gbsi_watch *watch, double *p,
                          double *log_z, gbs_error *err)
{
    weigh w = {0};
    double total = 0.0;
    GBSI_PASS(gbsi_walk_max(model, watch, &w.max, err));
    GBSI_PASS(gbsi_walk(model, watch, visit_weight, &w, p, &total, err));
    for (uint32_t v = 0; v < model->n_variables; v++) {
        double sum = 0.0;
        for (size_t i = model->state_offset[v]; i < model->state_offset[v + 1]; i++) {
            sum += p[i];
        }
        for (size_t i = model->state_offset[v]; i < model->state_offset[v + 1]; i++) {
            p[i] /= sum;
        }
    }
    if (log_z != NULL) {
        *log_z = w.max + gbsi_log(total) + model->log_constant;
    }
    return GBS_OK;
}

gbs_status gbsi_enumerate_joint(const gbsi_conditioned *model, double *joint, gbs_error *err)
{
    gbs_status status = GBS_OK;
    weigh w = {0};
    double total = 0.0;
    GBSI_TRY(gbsi_walk_max(model, NULL, &w.max, err));
    const size_t n_states = (size_t)gbsi_n_states(model, NULL);
    w.joint = gbsi_alloc_array_zero(n_states, sizeof *w.joint);
    GBSI_TRY(GBSI_HAVE(err, "enumeration", w.joint));
    GBSI_TRY(gbsi_walk(model, NULL, visit_weight, &w, NULL, &total, err));
    for (size_t i = 0; i < n_states; i++) {
        joint[i] = w.joint[i] / total;
    }

cleanup:
    gbsi_free(w.joint);
    return status;
}
