/* SPDX-License-Identifier: Apache-2.0 */
/* Chains: their states, saving and loading of states, and passes over all chains. */
#include "chains/executor.h"

#include <assert.h>

#include "base/memory.h"
#include "base/plural.h"
#include "chains/run_options.h"

uint32_t gbsi_lanes_of(uint32_t n_chains)
{
    return n_chains >= 8 ? GBSI_LANES : 1;
}

uint32_t gbsi_groups_of(uint32_t n_chains)
{
    return n_chains >= 8 ? (n_chains + GBSI_LANES - 1) / GBSI_LANES : n_chains;
}

/* ---- life ------------------------------------------------------------------------------------ */

static gbsi_pass_setting setting_of(const gbsi_executor_setting *setting)
{
    const uint32_t n_all = gbsi_options_chains(setting->options);
    const uint32_t n_chains = setting->own.some ? setting->own.n : n_all;
    const uint32_t lanes = gbsi_lanes_of(n_all);
    return (gbsi_pass_setting){.plan = setting->plan,
                               .compiled = setting->compiled,
                               .options = setting->options,
                               .n_chains = n_chains,
                               .lanes = lanes,
                               .n_groups = (n_chains + lanes - 1) / lanes,
                               .first_chain = setting->own.some ? setting->own.first : 0,
                               .level = setting->level,
                               .pool = setting->pool,
                               .n_threads = gbsi_pool_size(setting->pool),
                               .turns = setting->turns};
}

uint64_t gbsi_executor_bytes(const gbsi_executor_setting *setting, uint32_t n_threads)
{
    gbsi_pass_setting of_pass = setting_of(setting);
    const gbsi_plan *plan = setting->plan;
    uint64_t states = 0;
    if (plan != NULL) {
        const uint64_t per_chain = (uint64_t)plan->n_slots * plan->value_bytes +
                                   (uint64_t)plan->n_counters * sizeof(uint32_t);
        states = (uint64_t)of_pass.lanes * of_pass.n_groups * per_chain +
                 of_pass.n_groups * sizeof(gbsi_group);
    }
    of_pass.n_threads = n_threads;
    const uint64_t bytes = setting->pass->bytes(&of_pass);
    return bytes > UINT64_MAX - states ? UINT64_MAX : bytes + states;
}

static gbs_status take_groups(gbsi_executor *x, gbs_error *err)
{
    const gbsi_plan *plan = x->plan;
    x->group = gbsi_alloc_array_zero(x->n_groups, sizeof *x->group);
    GBSI_PASS(GBSI_HAVE(err, "chains", x->group));
    const size_t n_states = (size_t)plan->n_slots * x->lanes;
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        x->group[g].state = gbsi_alloc_lanes(n_states, plan->value_bytes);
        GBSI_PASS(GBSI_HAVE(err, "chains", x->group[g].state));
        if (plan->n_counters > 0) {
            x->group[g].counter =
                gbsi_alloc_lanes((size_t)plan->n_counters * x->lanes, sizeof(uint32_t));
            GBSI_PASS(GBSI_HAVE(err, "chains", x->group[g].counter));
        }
    }
    return GBS_OK;
}

static gbs_status init_draw(gbsi_executor *x, const gbs_run_options *options, uint64_t room,
                            gbs_error *err)
{
    const gbsi_draw_job job = {.plan = x->plan,
                               .options = options,
                               .traits = x->draw->traits,
                               .lanes = x->lanes,
                               .n_groups = x->n_groups,
                               .first_chain = x->first_chain,
                               .room = room};
    return x->draw->init == NULL ? GBS_OK : x->draw->init(&job, &x->draw_state, err);
}

static void free_draw(gbsi_executor *x)
{
    if (x->draw != NULL && x->draw->free != NULL) {
        x->draw->free(x->draw_state);
    }
    x->draw_state = NULL;
}

static gbs_status prepare_pass(gbsi_executor *x, const gbsi_executor_setting *setting,
                               gbs_error *err)
{
    gbsi_pass_setting of_pass = setting_of(setting);
    if (setting->moved.some) {
        of_pass.first_chain += setting->moved.first;
        of_pass.n_chains = setting->moved.n;
        of_pass.n_groups = x->n_moved;
    }
    of_pass.group = x->group == NULL ? NULL : x->group + x->first_moved;
    return x->pass->prepare(&of_pass, &x->pass_state, err);
}

gbs_status gbsi_executor_redraw(gbsi_executor *x, const gbs_run_options *options,
                                uint64_t draw_room, gbs_error *err)
{
    const gbsi_executor_setting setting = {
        .pass = x->pass,
        .plan = x->plan,
        .options = options,
        .level = x->level,
        .pool = x->pool,
        .own = {.some = true, .first = x->first_chain, .n = x->n_chains},
        .turns = x->turns};
    assert(x->n_moved == x->n_groups);
    free_draw(x);
    x->seed = options->seed;
    x->draw = gbsi_draw_of(options, x->level);
    GBSI_PASS(init_draw(x, options, draw_room, err));
    x->pass->free(x->pass_state);
    x->pass_state = NULL;
    return prepare_pass(x, &setting, err);
}

gbs_status gbsi_executor_init(gbsi_executor *x, const gbsi_executor_setting *setting,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_pass_setting of_pass = setting_of(setting);
    *x = (gbsi_executor){.pass = setting->pass,
                         .plan = setting->plan,
                         .level = setting->level,
                         .seed = setting->options->seed,
                         .n_chains = of_pass.n_chains,
                         .n_all = gbsi_options_chains(setting->options),
                         .first_chain = of_pass.first_chain,
                         .lanes = of_pass.lanes,
                         .n_groups = of_pass.n_groups,
                         .n_moved = of_pass.n_groups,
                         .pool = setting->pool,
                         .turns = setting->turns};
    if (setting->moved.some) {
        x->first_moved = (setting->moved.first + x->lanes - 1) / x->lanes;
        x->n_moved = (setting->moved.n + x->lanes - 1) / x->lanes;
    }
    if ((x->pass->traits & GBSI_PASS_OWNS) == 0) {
        GBSI_TRY(take_groups(x, err));
        x->draw = gbsi_draw_of(setting->options, setting->level);
        GBSI_TRY(init_draw(x, setting->options, setting->draw_room, err));
    }
    assert(x->first_moved + x->n_moved <= x->n_groups);
    GBSI_TRY(prepare_pass(x, setting, err));
cleanup:
    if (status < 0) {
        gbsi_executor_free(x);
    }
    return status;
}

void gbsi_executor_free(gbsi_executor *x)
{
    if (x->pass != NULL) {
        x->pass->free(x->pass_state);
    }
    free_draw(x);
    for (uint32_t g = 0; x->group != NULL && g < x->n_groups; ++g) {
        GBSI_FREE(x->group[g].state, x->group[g].counter);
    }
    GBSI_FREE(x->group, x->beta);
    *x = (gbsi_executor){0};
}

/* ---- states by variable ------------------------------------------------------------------- */

static void set_lane(gbsi_executor *x, uint32_t g, uint32_t lane, const uint32_t *states)
{
    const gbsi_plan *plan = x->plan;
    assert(g < x->n_groups && lane < x->lanes);
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const size_t i = (size_t)slot * x->lanes + lane;
        const uint32_t value = states[plan->variable_of[slot]];
        assert(value < gbsi_plan_arity(plan, slot));
        if (plan->value_bytes == 1) {
            ((uint8_t *)x->group[g].state)[i] = (uint8_t)value;
        } else {
            ((uint16_t *)x->group[g].state)[i] = (uint16_t)value;
        }
    }
}

void gbsi_executor_set(gbsi_executor *x, uint32_t chain, const uint32_t *states)
{
    if (x->pass->set != NULL) {
        x->pass->set(x->pass_state, chain, states);
        return;
    }
    set_lane(x, chain / x->lanes, chain % x->lanes, states);
    if (chain == x->n_chains - 1) {
        for (uint32_t lane = chain % x->lanes + 1; lane < x->lanes; ++lane) {
            set_lane(x, chain / x->lanes, lane, states);
        }
    }
}

void gbsi_executor_get(const gbsi_executor *x, uint32_t chain, uint32_t *states)
{
    if (x->pass->get != NULL) {
        x->pass->get(x->pass_state, chain, states);
        return;
    }
    const gbsi_plan *plan = x->plan;
    const void *state = x->group[chain / x->lanes].state;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const size_t i = (size_t)slot * x->lanes + chain % x->lanes;
        states[plan->variable_of[slot]] = gbsi_state_at(state, i, plan->value_bytes);
    }
}

uint32_t gbsi_executor_state(const gbsi_executor *x, uint32_t chain, uint32_t variable)
{
    const size_t i = (size_t)x->plan->slot_of[variable] * x->lanes + chain % x->lanes;
    return gbsi_state_at(x->group[chain / x->lanes].state, i, x->plan->value_bytes);
}

void gbsi_executor_ready(gbsi_executor *x)
{
    for (uint32_t g = 0; x->plan != NULL && x->plan->n_counters > 0 && g < x->n_groups; ++g) {
        gbsi_counters_init(x->plan, x->lanes, &x->group[g]);
    }
}

/* Swaps element `a` of one array with element `b` of another. An element has n bytes for each lane.
 */
static void swap_bytes(void *of_a, size_t a, void *of_b, size_t b, size_t n, size_t lanes,
                       size_t size)
{
    uint8_t *at_a = (uint8_t *)of_a + a * size;
    uint8_t *at_b = (uint8_t *)of_b + b * size;
    for (size_t i = 0; i < n; ++i, at_a += lanes * size, at_b += lanes * size) {
        for (size_t k = 0; k < size; ++k) {
            const uint8_t byte = at_a[k];
            at_a[k] = at_b[k];
            at_b[k] = byte;
        }
    }
}

void gbsi_executor_swap(gbsi_executor *x, uint32_t a, uint32_t b)
{
    const uint32_t lanes = x->lanes;
    const gbsi_group *of_a = &x->group[a / lanes];
    const gbsi_group *of_b = &x->group[b / lanes];
    assert(x->plan != NULL);
    swap_bytes(of_a->state, a % lanes, of_b->state, b % lanes, x->plan->n_slots, lanes,
               x->plan->value_bytes);
    if (x->plan->n_counters > 0) {
        swap_bytes(of_a->counter, a % lanes, of_b->counter, b % lanes, x->plan->n_counters, lanes,
                   sizeof *of_a->counter);
    }
}

gbs_status gbsi_executor_heat(gbsi_executor *x, float beta, gbs_error *err)
{
    const size_t n = (size_t)x->n_groups * x->lanes;
    assert((x->pass->traits & GBSI_PASS_HEATS) != 0 && (x->draw->traits & GBSI_DRAW_HEATS) != 0);
    if (x->beta == NULL) {
        x->beta = gbsi_alloc_array(n, sizeof *x->beta);
    }
    GBSI_PASS(GBSI_HAVE(err, "temperatures", x->beta));
    for (size_t i = 0; i < n; ++i) {
        x->beta[i] = beta;
    }
    return GBS_OK;
}

/* ---- passes ---------------------------------------------------------------------------------- */

void gbsi_executor_fetch(const gbsi_executor *x, gbsi_estimate *estimate)
{
    if (estimate != NULL && x->pass != NULL && x->pass->fetch != NULL) {
        x->pass->fetch(x->pass_state, estimate);
    }
}

bool gbsi_executor_may_connect(const gbsi_executor *x)
{
    return x->pass != NULL && x->pass->connects != NULL;
}

bool gbsi_executor_connects(const gbsi_executor *x)
{
    return gbsi_executor_may_connect(x) && x->pass->connects(x->pass_state);
}

void gbsi_executor_watch(gbsi_executor *x, gbsi_on_block *on_block, void *context)
{
    if (x->pass->watch != NULL) {
        x->pass->watch(x->pass_state, on_block, context);
    }
}

gbs_status gbsi_executor_pass(gbsi_executor *x, const gbsi_schedule *schedule, uint64_t pass,
                              gbsi_estimate *estimate, bool rao_blackwell, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_pass_job job = {.pass = pass,
                               .schedule = schedule,
                               .draw = x->draw,
                               .draw_state = x->draw_state,
                               .beta = x->beta == NULL ? NULL : x->beta + x->first_moved * x->lanes,
                               .estimate = estimate,
                               .rao_blackwell = rao_blackwell,
                               .watch = x->watch};
    const uint32_t most = x->hook.after == NULL ? UINT32_MAX : 1;
    if (x->lost != NULL && x->lost->status < 0) {
        return gbsi_fail(err, x->lost->status, "%s", x->lost->message);
    }
    bool more = true;
    GBSI_TRY(x->pass->begin(x->pass_state, &job, err));
    for (uint32_t batch = 0; more; ++batch) {
        GBSI_TRY(x->pass->batch(x->pass_state, most, &more, err));
        if (x->hook.after != NULL) {
            GBSI_TRY(x->hook.after(x->hook.context, batch, err));
        }
    }
    x->n_updates = x->pass->n_updates(x->pass_state);
    GBSI_TRY(x->pass->end(x->pass_state, err));
    if (estimate != NULL && (status == GBS_OK || x->n_updates > 0)) {
        gbsi_estimate_end_pass(estimate, x->pool);
    }
cleanup:
    return status;
}

gbs_status gbsi_executor_check_states(const gbsi_executor *x, uint32_t g, uint32_t slot,
                                      gbs_error *err)
{
    const gbsi_plan *plan = x->plan;
    const uint32_t arity = gbsi_plan_arity(plan, slot);
    for (uint32_t lane = 0; lane < x->lanes; ++lane) {
        const size_t at = (size_t)slot * x->lanes + lane;
        const uint32_t found = gbsi_state_at(x->group[g].state, at, plan->value_bytes);
        if (found >= arity) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "the saved chains are damaged: variable %u has %u state%s, found "
                             "state %u of chain %u",
                             plan->model->user_variable[plan->variable_of[slot]], arity,
                             gbsi_plural(arity), found, x->first_chain + g * x->lanes + lane);
        }
    }
    return GBS_OK;
}
