/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/registry.h"

#include "base/memory.h"

gbs_status gbsi_fixed_new(size_t n, gbsi_fixed **fixed, gbs_error *err)
{
    gbsi_fixed *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "scan", made));
    made->n = n;
    made->variable = gbsi_alloc_array(n, sizeof *made->variable);
    if (made->variable == NULL) {
        gbsi_fixed_free(made);
        return gbsi_no_memory(err, "scan", n * sizeof *made->variable);
    }
    *fixed = made;
    return GBS_OK;
}

gbs_status gbsi_fixed_next_pass(void *state, uint64_t pass, gbsi_sequence *sequence, gbs_error *err)
{
    (void)pass;
    (void)err;
    const gbsi_fixed *fixed = state;
    *sequence = (gbsi_sequence){.variable = fixed->variable, .n = fixed->n};
    return GBS_OK;
}

void gbsi_fixed_free(void *state)
{
    gbsi_fixed *fixed = state;
    if (fixed == NULL) {
        return;
    }
    GBSI_FREE(fixed->variable, fixed);
}
