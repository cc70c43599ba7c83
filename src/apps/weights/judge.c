/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/learning.h"

#include <math.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "gibbsite/learn.h"

void gbsi_judge_free(gbsi_judge *judge)
{
    gbsi_pseudo_free(&judge->pseudo);
    gbsi_likelihood_free(judge->likelihood);
    judge->likelihood = NULL;
    gbsi_learnt_free(&judge->learnt);
}

gbs_status gbsi_judge_check(const gbs_model *model, const gbs_data *data, gbs_error *err)
{
    const uint32_t n = model->n_variables;
    if (data->model->n_variables != n ||
        memcmp(data->model->arity, model->arity, n * sizeof *model->arity) != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "the data are of other variables");
    }
    return data->n_rows > 0 ? GBS_OK
                            : gbsi_fail(err, GBS_ERR_ARGUMENT, "found no rows, expected some");
}

gbs_status gbsi_judge_init(gbsi_judge *judge, const gbs_model *model, const gbs_data *data,
                           bool exact, uint64_t memory_limit, gbsi_pool *pool, gbsi_watch *watch,
                           gbs_error *err)
{
    GBSI_PASS(gbsi_judge_check(model, data, err));
    GBSI_PASS(gbsi_learnt_find(model, &judge->learnt, err));
    return exact ? gbsi_likelihood_new(model, &judge->learnt, data, memory_limit, watch,
                                       &judge->likelihood, err)
                 : gbsi_pseudo_init(&judge->pseudo, model, &judge->learnt, data, true, pool, watch,
                                    err);
}

gbs_status gbsi_judge_at(gbsi_judge *judge, const double *w, double *sum, gbs_error *err)
{
    return judge->likelihood != NULL ? gbsi_likelihood_at(judge->likelihood, w, sum, NULL, err)
                                     : gbsi_pseudo_sum(&judge->pseudo, w, sum, NULL, NULL, err);
}

/* Judges a model at its own weights. */
static gbs_status judge_model(const gbs_model *model, const gbs_data *data, bool exact, double *sum,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_judge judge = {0};
    double *w = NULL;
    GBSI_TRY(
        gbsi_judge_init(&judge, model, data, exact, gbsi_default_memory_limit(), NULL, NULL, err));
    w = gbsi_alloc_array(judge.learnt.n, sizeof *w);
    GBSI_TRY(GBSI_HAVE(err, "weights", w));
    for (size_t k = 0; k < judge.learnt.n; ++k) {
        w[k] = model->tied.value[judge.learnt.weight[k]];
    }
    GBSI_TRY(gbsi_judge_at(&judge, w, sum, err));

cleanup:
    gbsi_judge_free(&judge);
    gbsi_free(w);
    return status;
}

gbs_status gbs_pseudo_log_likelihood(const gbs_model *model, const gbs_data *data, double *sum,
                                     gbs_error *err)
{
    GBSI_NEED(model, data, sum);
    return judge_model(model, data, false, sum, err);
}

gbs_status gbs_log_likelihood(const gbs_model *model, const gbs_data *data, double *sum,
                              gbs_error *err)
{
    GBSI_NEED(model, data, sum);
    double found = 0.0;
    gbs_status status = judge_model(model, data, true, &found, err);
    if (status == GBS_ERR_IMPOSSIBLE) { /* a row of probability 0 is an answer, not an error */
        found = -INFINITY;
        status = GBS_OK;
    }
    *sum = status < 0 ? *sum : found;
    return status;
}
