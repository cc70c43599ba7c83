/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/memory.h"
#include "condition/propagate.h"
#include "variational/bound.h"

/* Gives each variable its first remaining state in turn, parents first, and rules out what hard
 * zeros then forbid. @return false if no state is left. */
static bool assign_in_turn(const gbsi_conditioned *model, gbsi_propagator *domains, uint32_t *x)
{
    for (uint32_t i = 0; i < model->n_variables; ++i) {
        const uint32_t v = model->topological != NULL ? model->topological[i] : i;
        x[v] = gbsi_propagator_next(domains, v, 0);
        if (!gbsi_propagator_assign(domains, v, x[v]) || gbsi_propagator_run(domains) != SIZE_MAX) {
            return false;
        }
    }
    return true;
}

gbs_status gbsi_bound_is_obvious(const gbsi_conditioned *model, gbsi_watch *watch, bool *obvious,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_propagation *propagation = NULL;
    gbsi_propagator *domains = NULL;
    uint32_t *x = gbsi_alloc_array(model->n_variables, sizeof *x);
    *obvious = false;
    GBSI_TRY(GBSI_HAVE(err, "first state", x));
    if (memchr(model->has_zeros, 1, model->factors.n_factors) == NULL) {
        goto cleanup;
    }
    GBSI_TRY(gbsi_propagation_new(&model->factors, model->arity, model->n_variables,
                                  model->has_zeros, watch, &propagation, err));
    GBSI_TRY(gbsi_propagator_new(propagation, false, &domains, err));
    domains->watch = watch;
    if (assign_in_turn(model, domains, x) && !gbsi_watch_stopped(watch)) {
        *obvious = gbsi_bound_reaches(gbsi_conditioned_log_density(model, x),
                                      gbsi_bound_plain(model, watch));
    }

cleanup:
    gbsi_propagator_free(domains);
    gbsi_propagation_free(propagation);
    gbsi_free(x);
    return status;
}
