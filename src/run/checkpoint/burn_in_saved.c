/* SPDX-License-Identifier: Apache-2.0 */
/* Saves an automatic burn-in as a part of a checkpoint, and loads it. */
#include "base/memory.h"
#include "chains/run.h"

gbs_status gbsi_burn_in_take(gbsi_burn_in *t, gbsi_engine *engine, gbs_error *err)
{
    const uint32_t n_chains = engine->executor.n_all;
    const size_t n = (size_t)n_chains * GBSI_BURN_IN_VALUES;
    if (t->density == NULL) {
        t->density = gbsi_alloc_array_zero(n + 2 * n_chains, sizeof *t->density);
        t->now = t->density + n;
    }
    return GBSI_HAVE(err, "burn-in", t->density);
}

gbs_status gbsi_burn_in_save(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_burn_in *t = &sampling->burn_in;
    const uint64_t count[] = {t->most, t->stride, t->n};
    GBSI_PASS(gbsi_put_numbers(sink, count, 3, sizeof count[0], err));
    for (uint32_t chain = 0; t->n > 0 && chain < sampling->engine.executor.n_all; ++chain) {
        GBSI_PASS(gbsi_put_numbers(sink, t->density + (size_t)chain * GBSI_BURN_IN_VALUES, t->n,
                                   sizeof *t->density, err));
    }
    return GBS_OK;
}

gbs_status gbsi_burn_in_load(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    gbsi_burn_in *t = &sampling->burn_in;
    uint64_t count[3]; /* the first number is the limit of the saved run; it is not used, because
                          this run has a limit of its own */
    GBSI_PASS(gbsi_take_numbers(source, count, 3, sizeof count[0], err));
    if (count[2] >= GBSI_BURN_IN_VALUES || (count[1] & (count[1] - 1)) != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "burn-in: the saved counts are damaged");
    }
    GBSI_PASS(gbsi_burn_in_take(&sampling->burn_in, &sampling->engine, err));
    t->stride = count[1];
    t->n = count[2];
    for (uint32_t chain = 0; chain < sampling->engine.executor.n_all; ++chain) {
        GBSI_PASS(gbsi_take_numbers(source, t->density + (size_t)chain * GBSI_BURN_IN_VALUES, t->n,
                                    sizeof *t->density, err));
    }
    return GBS_OK;
}
