/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that factors share, for learning. A tie only records where the weight of a factor comes
 * from; inference never reads ties. */
#include <math.h>

#include "base/memory.h"
#include "store/builder.h"

void gbsi_tied_free(gbsi_tied *tied)
{
    GBSI_FREE(tied->value, tied->fixed, tied->number, tied->feature);
}

/* ---- rules ----------------------------------------------------------------------------------- */

gbs_status gbsi_check_weight(uint32_t weight, double value, unsigned fixed, gbs_error *err)
{
    if (fixed > 1) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "tied weight %u: fixed is %u, expected 0 or 1",
                         (unsigned)weight, fixed);
    }
    return isfinite(value)
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT, "tied weight %u is %g, expected a finite value",
                           (unsigned)weight, value);
}

gbs_status gbsi_check_tie(const gbs_model *model, size_t factor, uint32_t weight, double feature,
                          gbs_error *err)
{
    const gbsi_factors *f = &model->factors;
    const gbsi_tied *t = &model->tied;
    if (weight >= t->n_weights) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu is tied to weight %u: there are %u weights", factor,
                         (unsigned)weight, (unsigned)t->n_weights);
    }
    if (gbsi_has_table(f->kind[factor])) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu is tied to weight %u: it has a table, which factors share "
                         "without that",
                         factor, (unsigned)weight);
    }
    if (!isfinite(feature) || t->value[weight] * feature != f->weight[factor]) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu has weight %.17g, expected weight %u times its feature, "
                         "%.17g * %.17g",
                         factor, f->weight[factor], (unsigned)weight, t->value[weight], feature);
    }
    return GBS_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

gbs_status gbs_builder_add_weights(gbs_builder *builder, size_t n, const double *value,
                                   const uint8_t *fixed, uint32_t *first, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n > 0) {
        GBSI_NEED(value);
    }
    gbsi_tied *t = &builder->model.tied;
    const uint32_t before = t->n_weights;
    if (n > GBSI_NONE - before) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more tied weights than can be numbered");
    }
    for (size_t i = 0; i < n; ++i) {
        GBSI_PASS(
            gbsi_check_weight(before + (uint32_t)i, value[i], fixed == NULL ? 0 : fixed[i], err));
    }
    GBSI_PASS(GBSI_GROW(builder, model.tied.value, tied_value, before + n, err));
    GBSI_PASS(GBSI_GROW(builder, model.tied.fixed, tied_fixed, before + n, err));
    for (size_t i = 0; i < n; ++i) {
        t->value[before + i] = value[i];
        t->fixed[before + i] = fixed == NULL ? 0 : fixed[i];
    }
    t->n_weights += (uint32_t)n;
    if (first != NULL) {
        *first = before;
    }
    return GBS_OK;
}

/* Reserves room for a tie of the factor; earlier factors without a tie are marked as not tied. */
static gbs_status extend_ties(gbs_builder *builder, size_t factor, gbs_error *err)
{
    gbsi_tied *t = &builder->model.tied;
    GBSI_PASS(GBSI_GROW(builder, model.tied.number, tied_number, factor + 1, err));
    GBSI_PASS(GBSI_GROW(builder, model.tied.feature, tied_feature, factor + 1, err));
    for (size_t *n = &t->n_ties; *n <= factor; ++*n) {
        t->number[*n] = GBSI_NONE;
        t->feature[*n] = 0.0;
    }
    return GBS_OK;
}

gbs_status gbs_builder_tie_factor(gbs_builder *builder, size_t factor, uint32_t weight,
                                  double feature, gbs_error *err)
{
    GBSI_NEED(builder);
    if (factor >= builder->model.factors.n_factors) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: there are %zu factors so far", factor,
                         builder->model.factors.n_factors);
    }
    GBSI_PASS(gbsi_check_tie(&builder->model, factor, weight, feature, err));
    GBSI_PASS(extend_ties(builder, factor, err));
    builder->model.tied.number[factor] = weight;
    builder->model.tied.feature[factor] = feature;
    return GBS_OK;
}

/* ---- reading ------------------------------------------------------------------------------- */

uint32_t gbs_model_n_weights(const gbs_model *model)
{
    return model == NULL ? 0 : model->tied.n_weights;
}

double gbs_model_weight(const gbs_model *model, uint32_t weight, int *fixed)
{
    const bool there = weight < gbs_model_n_weights(model);
    if (fixed != NULL) {
        *fixed = there ? model->tied.fixed[weight] : 0;
    }
    return there ? model->tied.value[weight] : NAN;
}

uint32_t gbs_model_tied_weight(const gbs_model *model, size_t factor, double *feature)
{
    const uint32_t weight = model == NULL ? GBSI_NONE : gbsi_tied_weight(&model->tied, factor);
    if (feature != NULL) {
        *feature = weight == GBSI_NONE ? 0.0 : model->tied.feature[factor];
    }
    return weight;
}
