/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/surroundings.h"

void gbsi_surroundings_free(gbsi_surroundings *s)
{
    gbsi_conditionals_free(&s->conditionals);
    gbsi_context_free(&s->context);
}

uint64_t gbsi_surroundings_bytes(const gbsi_plan *plan, bool neighbours)
{
    return gbsi_conditionals_bytes(plan) + (neighbours ? 8 * gbsi_context_links(plan) : 0);
}

gbs_status gbsi_surroundings_new(const gbsi_plan *plan, bool neighbours, gbsi_surroundings *out,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_surroundings s = {0};
    GBSI_TRY(gbsi_conditionals_new(plan, &s.conditionals, err));
    if (neighbours) {
        GBSI_TRY(gbsi_context_new(plan, &s.context, err));
    }
    *out = s;
    s = (gbsi_surroundings){0};
cleanup:
    gbsi_surroundings_free(&s);
    return status;
}
