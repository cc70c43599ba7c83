/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the states of chains, and loads them. */
#include "base/plural.h"
#include "chains/executor.h"
#include "ranks/ranks.h"

/* Number of slots on this rank; 0 if the pass keeps states in its own form. */
static uint32_t own_slots(const gbsi_executor *x)
{
    return x->plan == NULL ? 0 : x->plan->n_slots;
}

static gbs_status save_states(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_executor *x = object;
    const uint32_t n_slots = own_slots(x);
    for (uint32_t g = 0; x->group != NULL && g < x->n_groups; ++g) {
        GBSI_PASS(gbsi_put_numbers(sink, x->group[g].state, (size_t)n_slots * x->lanes,
                                   x->plan->value_bytes, err));
    }
    return GBS_OK;
}

/* Number of slots on all ranks. */
static uint32_t slots_of(const gbsi_executor *x)
{
    return x->weave == NULL ? own_slots(x) : (uint32_t)x->weave->n_whole;
}

static gbs_status check_shape(const gbsi_executor *x, const gbsi_source *source, gbs_error *err)
{
    uint32_t shape[3];
    GBSI_PASS(gbsi_take_numbers(source, shape, 3, sizeof shape[0], err));
    return shape[0] == x->n_all && shape[1] == x->lanes && shape[2] == slots_of(x)
               ? GBS_OK
               : gbsi_fail(
                     err, GBS_ERR_FORMAT,
                     "the saved states are %u chain%s of %u variable%s, this run has %u chain%s "
                     "of %u variable%s",
                     shape[0], gbsi_plural(shape[0]), shape[2], gbsi_plural(shape[2]), x->n_all,
                     gbsi_plural(x->n_all), slots_of(x), gbsi_plural(slots_of(x)));
}

static gbs_status load_states(gbsi_executor *x, const gbsi_source *source, gbs_error *err)
{
    const uint32_t n_slots = own_slots(x);
    const uint64_t bytes = n_slots == 0 ? 0 : (uint64_t)n_slots * x->lanes * x->plan->value_bytes;
    GBSI_PASS(gbsi_skip_bytes(source, gbsi_groups_before(x) * bytes, err));
    for (uint32_t g = 0; x->group != NULL && g < x->n_groups; ++g) {
        GBSI_PASS(gbsi_take_numbers(source, x->group[g].state, (size_t)n_slots * x->lanes,
                                    x->plan->value_bytes, err));
        for (uint32_t slot = 0; slot < n_slots; ++slot) {
            GBSI_PASS(gbsi_executor_check_states(x, g, slot, err));
        }
    }
    return gbsi_skip_bytes(source, gbsi_groups_behind(x) * bytes, err);
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_executor *x = object;
    const uint32_t shape[] = {x->n_all, x->lanes, slots_of(x)};
    GBSI_PASS(gbsi_put_numbers(sink, shape, sizeof shape / sizeof shape[0], sizeof shape[0], err));
    if (x->weave != NULL) {
        return gbsi_executor_weave(x, sink, NULL, err);
    }
    GBSI_PASS(gbsi_ranks_save(x->ranks, x, save_states, sink, err));
    if (x->draw != NULL && x->draw->save != NULL) {
        GBSI_PASS(gbsi_ranks_save(x->ranks, x->draw_state, x->draw->save, sink, err));
    }
    if (x->pass->save != NULL) {
        GBSI_PASS(x->pass->save(x->pass_state, sink, err));
    }
    return GBS_OK;
}

gbs_status gbsi_executor_save(const gbsi_executor *x, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, x, save, err);
}

static gbs_status skip_draws(const gbsi_executor *x, uint32_t n_groups, const gbsi_source *source,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t g = 0; g < n_groups && status >= 0; ++g) {
        status = x->draw->skip(x->draw_state, source, err);
    }
    return status;
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_executor *x = object;
    GBSI_TRY(check_shape(x, source, err));
    if (x->weave != NULL) {
        status = gbsi_executor_weave(x, NULL, source, err);
        gbsi_executor_ready(x);
        return status;
    }
    GBSI_TRY(load_states(x, source, err));
    gbsi_executor_ready(x);
    if (x->draw != NULL && x->draw->load != NULL) {
        GBSI_TRY(skip_draws(x, gbsi_groups_before(x), source, err));
        GBSI_TRY(x->draw->load(x->draw_state, source, err));
        GBSI_TRY(skip_draws(x, gbsi_groups_behind(x), source, err));
    }
    if (x->pass->load != NULL) {
        GBSI_TRY(x->pass->load(x->pass_state, source, err));
    }
cleanup:
    return status;
}

gbs_status gbsi_executor_load(gbsi_executor *x, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, x, load, "chains", err);
}
