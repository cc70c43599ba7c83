/* SPDX-License-Identifier: Apache-2.0 */
/* The message for a model that has no state of positive weight. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "satisfy/satisfy.h"
#include "store/builder.h"

enum { N_NAMED = 12 };

/* Operations of the search for the factors. A message that takes longer names none. */
#define LIMIT ((uint64_t)1 << 22)

void gbsi_append_factor(const gbsi_conditioned *model, size_t factor, char *list, size_t size)
{
    char scope[128] = "";
    const size_t used = strlen(list);
    const size_t origin = gbsi_conditioned_origin(model, factor);
    const char *comma = used == 0 ? "" : ", ";
    if (origin == SIZE_MAX) {
        (void)snprintf(list + used, size - used, "%svirtual evidence", comma);
    } else {
        (void)snprintf(list + used, size - used, "%sfactor %zu %s", comma, origin,
                       gbsi_scope_text(model->model, origin, scope, sizeof scope));
    }
}

gbs_status gbsi_fail_contradiction(const gbsi_conditioned *model, const gbsi_conflict_set *set,
                                   const char *what, gbs_error *err)
{
    char list[2048] = "";
    for (size_t i = 0; i < set->n && i < N_NAMED; ++i) {
        gbsi_append_factor(model, set->factor[i], list, sizeof list);
    }
    if (set->n == 0) {
        return gbsi_fail(err, GBS_ERR_IMPOSSIBLE, "%s", what);
    }
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE, "%s: %zu factor%s%s: %s%s", what, set->n,
                     set->n == 1 ? " forbids every state" : "s contradict one another",
                     !set->minimal ? ", perhaps fewer suffice"
                     : set->n == 1 ? ""
                                   : ", and each of them is needed for the contradiction",
                     list, set->n > N_NAMED ? ", ..." : "");
}

/* Lists all hard factors and all variables of a model. @param part out: the caller must free the
 * arrays. */
static gbs_status take_hard_part(const gbsi_conditioned *model, gbsi_hard_part *part,
                                 gbs_error *err)
{
    const uint32_t n = model->n_variables;
    size_t *factor = gbsi_alloc_array(model->factors.n_factors, sizeof *factor);
    uint32_t *variable = gbsi_alloc_array(n, sizeof *variable);
    uint32_t *number = gbsi_alloc_array(n, sizeof *number);
    *part = (gbsi_hard_part){.factors = &model->factors,
                             .arity = model->arity,
                             .factor = factor,
                             .variable = variable,
                             .n_variables = n,
                             .number = number};
    GBSI_PASS(GBSI_HAVE(err, "search", factor, variable, number));
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        if (model->has_zeros[f]) {
            factor[part->n_factors++] = f;
        }
    }
    for (uint32_t v = 0; v < n; ++v) {
        variable[v] = v;
    }
    return GBS_OK;
}

/* Returns whether some variable is observed. */
static bool has_evidence(const gbsi_conditioned *model)
{
    uint32_t n_fixed = 0;
    for (uint32_t v = 0; v < model->model->n_variables; ++v) {
        n_fixed += model->fixed_state != NULL && model->fixed_state[v] != GBSI_NONE;
    }
    return n_fixed > model->n_implied;
}

gbs_status gbsi_impossible(const gbsi_conditioned *model, gbs_error *err)
{
    gbsi_hard_part part = {0};
    gbsi_conflict_set set = {0};
    gbs_error none = {0};
    if (take_hard_part(model, &part, &none) == GBS_OK) {
        (void)gbsi_find_conflict_set(&part, gbsi_watch_surrounding().watch, LIMIT, &set, &none);
    }
    const gbs_status status = gbsi_fail_contradiction(
        model, &set,
        has_evidence(model) ? "the evidence has probability zero: no state has positive weight"
                            : "no state has positive weight",
        err);
    GBSI_FREE((void *)part.factor, (void *)part.variable, part.number, set.factor);
    return status;
}
