/* SPDX-License-Identifier: Apache-2.0 */
/* Fits of spin models to moments [M41]:
 *
 *     d/dtheta of the mean log-likelihood = data moments - E_theta(statistics)
 *
 * Step sizes that fall as 1/k (Robbins & Monro 1951, Ann. Math. Statist. 22:400-407) average out
 * the random errors of the estimated moments, but not their bias. */
#include "lab/spin_fit.h"

#include "base/memory.h"
#include "reference/joint.h"

gbs_status lab_spins_model(const gbsi_spins *spins, const double *theta, gbs_model **model,
                           gbs_error *err)
{
    static const uint32_t two = 2;
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    GBSI_TRY(gbs_builder_new(&builder, err));
    for (uint32_t i = 0; i < spins->n; i++) {
        GBSI_TRY(gbs_builder_add_variables(builder, 1, &two, NULL, err));
        GBSI_TRY(gbs_builder_add_field(builder, i, theta[i], err));
    }
    for (uint32_t k = 0; k < spins->n_pairs; k++) {
        GBSI_TRY(gbs_builder_add_ising(builder, spins->pair[2 * k], spins->pair[2 * k + 1],
                                       theta[spins->n + k], err));
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    return status;
}

void lab_spins_add(const gbsi_spins *spins, const uint32_t *state, double weight, double *sum)
{
    for (uint32_t i = 0; i < spins->n; i++) {
        sum[i] += state[i] != 0 ? weight : -weight;
    }
    for (uint32_t k = 0; k < spins->n_pairs; k++) {
        const bool same = state[spins->pair[2 * k]] == state[spins->pair[2 * k + 1]];
        sum[spins->n + k] += same ? weight : -weight;
    }
}

gbs_status lab_spins_moments(const gbsi_spins *spins, const gbs_model *model, double *moment,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (spins->n > 20) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "moments: found %u spins, expected at most 20",
                         (unsigned)spins->n);
    }
    const size_t n_states = (size_t)1 << spins->n;
    uint32_t state[20];
    double *p = gbsi_alloc_array(n_states, sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "moments", p));
    GBSI_TRY(gbsi_joint_exact(model, NULL, 0, NULL, p, err));
    for (size_t m = 0; m < lab_spins_size(spins); m++) {
        moment[m] = 0.0;
    }
    for (size_t x = 0; x < n_states; x++) { /* the last variable is the fastest */
        for (uint32_t i = 0; i < spins->n; i++) {
            state[i] = x >> (spins->n - 1 - i) & 1;
        }
        lab_spins_add(spins, state, p[x], moment);
    }
cleanup:
    gbsi_free(p);
    return status;
}

gbs_status lab_spins_fit(const gbsi_spins *spins, const lab_ascent *ascent, gbs_error *err)
{
    const size_t n = lab_spins_size(spins);
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    double *moment = gbsi_alloc_array(n, sizeof *moment);
    GBSI_PASS(GBSI_HAVE(err, "moments", moment));
    for (size_t m = 0; m < n; m++) {
        ascent->path[m] = 0.0;
    }
    for (uint32_t k = 0; k < ascent->steps; k++) {
        const double *theta = ascent->path + k * n;
        const double rate = ascent->rate / (1.0 + k / ascent->half);
        GBSI_TRY(lab_spins_model(spins, theta, &model, err));
        GBSI_TRY(ascent->moments(ascent->context, k, model, moment, err));
        if (status == GBS_STOPPED) {
            goto cleanup;
        }
        for (size_t m = 0; m < n; m++) {
            ascent->path[(k + 1) * n + m] = theta[m] + rate * (ascent->data[m] - moment[m]);
        }
        gbs_model_free(model);
        model = NULL;
    }
cleanup:
    gbs_model_free(model);
    gbsi_free(moment);
    return status;
}
