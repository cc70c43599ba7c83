/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/likelihood.h"

#include "base/memory.h"

/* Numbers the learnt weights in their order. @param number [n_weights] out: number of the weight
 * among the learnt weights; GBSI_NONE if the weight is not learnt. */
static gbs_status number_them(const gbs_model *model, gbsi_learnt *learnt, uint32_t *number,
                              gbs_error *err)
{
    const gbsi_tied *t = &model->tied;
    for (uint32_t k = 0; k < t->n_weights; ++k) {
        number[k] = GBSI_NONE;
    }
    for (size_t i = 0; i < t->n_ties; ++i) {
        if (t->number[i] != GBSI_NONE && !t->fixed[t->number[i]]) {
            number[t->number[i]] = 0;
        }
    }
    for (uint32_t k = 0; k < t->n_weights; ++k) {
        learnt->n += number[k] == 0;
    }
    learnt->weight = gbsi_alloc_array(learnt->n, sizeof *learnt->weight);
    GBSI_PASS(GBSI_HAVE(err, "weights", learnt->weight));
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->n_weights; ++k) {
        if (number[k] == 0) {
            learnt->weight[n] = k;
            number[k] = n++;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_learnt_find(const gbs_model *model, gbsi_learnt *learnt, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_tied *t = &model->tied;
    const gbsi_factors *f = &model->factors;
    uint32_t *number = gbsi_alloc_array(t->n_weights, sizeof *number);
    learnt->unit = *f;
    learnt->unit.weight = gbsi_alloc_array(f->n_factors, sizeof *learnt->unit.weight);
    learnt->of = gbsi_alloc_array(f->n_factors, sizeof *learnt->of);
    GBSI_TRY(GBSI_HAVE(err, "weights", number, learnt->unit.weight, learnt->of));
    GBSI_TRY(number_them(model, learnt, number, err));
    for (size_t i = 0; i < f->n_factors; ++i) {
        const uint32_t weight = gbsi_tied_weight(t, i);
        learnt->of[i] = weight == GBSI_NONE ? GBSI_NONE : number[weight];
        learnt->unit.weight[i] = learnt->of[i] != GBSI_NONE ? t->feature[i] : f->weight[i];
    }

cleanup:
    gbsi_free(number);
    return status;
}

void gbsi_learnt_free(gbsi_learnt *learnt)
{
    GBSI_FREE(learnt->unit.weight, learnt->weight, learnt->of);
}
