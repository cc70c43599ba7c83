/* SPDX-License-Identifier: Apache-2.0 */
/* Chains, their states, and the scratch of the threads that run them. */
#include "sampler/executor.h"

#include <assert.h>

#include "base/memory.h"
#include "sampler/options.h"
#include "sampler/pass.h"
#include "scan/scan.h"

uint32_t gbsi_lanes_of(uint32_t n_chains)
{
    return n_chains >= 8 ? GBSI_LANES : 1;
}

uint32_t gbsi_groups_of(uint32_t n_chains)
{
    return n_chains >= 8 ? (n_chains + GBSI_LANES - 1) / GBSI_LANES : n_chains;
}

static size_t tile_cells(const gbsi_plan *plan)
{
    const size_t row = (size_t)GBSI_LANES * plan->max_arity;
    return row > GBSI_TILE_CELLS ? row : GBSI_TILE_CELLS;
}

size_t gbsi_executor_bytes(const gbsi_plan *plan, uint32_t n_chains, uint32_t n_threads)
{
    const size_t per_chain =
        (size_t)plan->n_slots * plan->value_bytes + (size_t)plan->n_counters * sizeof(uint32_t);
    const size_t n_chains_held = (size_t)gbsi_lanes_of(n_chains) * gbsi_groups_of(n_chains);
    const size_t scratch = tile_cells(plan) * sizeof(float) +
                           (GBSI_WINDOW_ROWS + 1) * GBSI_LANES * (sizeof(uint32_t) + 2) +
                           sizeof(gbsi_worker) + sizeof(gbsi_barrier);
    return n_chains_held * per_chain + gbsi_groups_of(n_chains) * sizeof(gbsi_group) +
           n_threads * scratch;
}

static gbs_status take_groups(gbsi_executor *x, gbs_error *err)
{
    const gbsi_plan *plan = x->plan;
    x->group = gbsi_alloc_array_zero(x->n_groups, sizeof *x->group);
    if (x->group == NULL) {
        return gbsi_no_memory(err, "chains", x->n_groups * sizeof *x->group);
    }
    const size_t n_states = (size_t)plan->n_slots * x->lanes;
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        x->group[g].state = gbsi_alloc_lanes(n_states, plan->value_bytes);
        if (x->group[g].state == NULL) {
            return gbsi_no_memory(err, "chains", n_states * plan->value_bytes);
        }
        if (plan->n_counters > 0) {
            x->group[g].counter =
                gbsi_alloc_lanes((size_t)plan->n_counters * x->lanes, sizeof(uint32_t));
            if (x->group[g].counter == NULL) {
                return gbsi_no_memory(err, "chains", (size_t)plan->n_counters * x->lanes * 4);
            }
        }
    }
    return GBS_OK;
}

/* Whole groups go round the workers first; of those left over each gets a team, worker w being of
 * team w mod n_teams. */
static gbs_status make_teams(gbsi_executor *x, gbs_error *err)
{
    const uint32_t n_left = x->n_groups % x->n_workers;
    if (x->n_workers == 1 || n_left == 0) {
        return GBS_OK;
    }
    x->team = gbsi_alloc_lanes(n_left, sizeof *x->team);
    if (x->team == NULL) {
        return gbsi_no_memory(err, "threads", n_left * sizeof *x->team);
    }
    for (uint32_t t = 0; t < n_left; ++t) {
        const uint32_t size = x->n_workers / n_left + (t < x->n_workers % n_left);
        if (!gbsi_barrier_init(&x->team[t], size, gbsi_pool_spins(x->pool))) {
            return gbsi_no_memory(err, "threads", sizeof *x->team);
        }
        ++x->n_teams;
    }
    for (uint32_t w = 0; w < x->n_workers; ++w) {
        x->worker[w].team = &x->team[w % n_left];
        x->worker[w].team_size = x->team[w % n_left].n;
        x->worker[w].rank = w / n_left;
        x->worker[w].shared_group = x->n_groups - n_left + w % n_left;
    }
    return GBS_OK;
}

static gbs_status take_workers(gbsi_executor *x, gbs_error *err)
{
    const size_t cells = tile_cells(x->plan);
    x->worker = gbsi_alloc_array_zero(x->n_workers, sizeof *x->worker);
    if (x->worker == NULL) {
        return gbsi_no_memory(err, "threads", x->n_workers * sizeof *x->worker);
    }
    for (uint32_t w = 0; w < x->n_workers; ++w) {
        gbsi_worker *worker = &x->worker[w];
        worker->word = gbsi_alloc_lanes((GBSI_WINDOW_ROWS + 1) * GBSI_LANES, sizeof(uint32_t));
        worker->w = gbsi_alloc_lanes(cells, sizeof(float));
        worker->value = gbsi_alloc_lanes(GBSI_TILE_ROWS * GBSI_LANES, sizeof(uint16_t));
        if (worker->word == NULL || worker->w == NULL || worker->value == NULL) {
            return gbsi_no_memory(err, "threads", cells * sizeof(float));
        }
    }
    return make_teams(x, err);
}

static gbs_status init_draw(gbsi_executor *x, const gbs_run_options *options, uint64_t room,
                            gbs_error *err)
{
    const gbsi_draw_job job = {.plan = x->plan,
                               .options = options,
                               .lanes = x->lanes,
                               .n_groups = x->n_groups,
                               .room = room};
    return x->draw->init == NULL ? GBS_OK : x->draw->init(&job, &x->draw_state, err);
}

static gbs_status take_splash(gbsi_executor *x, const gbs_run_options *options, gbs_error *err)
{
    const gbsi_splash_setting setting = {.plan = x->plan,
                                         .options = options,
                                         .group = x->group,
                                         .n_groups = x->n_groups,
                                         .lanes = x->lanes,
                                         .n_chains = x->n_chains,
                                         .level = x->level,
                                         .pool = x->pool};
    return gbsi_splash_new(&setting, &x->splash, err);
}

gbs_status gbsi_executor_redraw(gbsi_executor *executor, const gbs_run_options *options,
                                uint64_t draw_room, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (executor->draw->free != NULL) {
        executor->draw->free(executor->draw_state);
    }
    executor->draw_state = NULL;
    executor->seed = options->seed;
    executor->draw = gbsi_draw_of(options, executor->level);
    GBSI_TRY(init_draw(executor, options, draw_room, err));
    if (executor->splash != NULL) { /* which begins again too */
        gbsi_splash_free(executor->splash);
        executor->splash = NULL;
        GBSI_TRY(take_splash(executor, options, err));
    }
cleanup:
    return status;
}

gbs_status gbsi_executor_init(gbsi_executor *executor, const gbsi_plan *plan, const gbsi_draw *draw,
                              const gbs_run_options *options, gbsi_simd level, gbsi_pool *pool,
                              uint64_t draw_room, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_chains = gbsi_options_chains(options);
    *executor = (gbsi_executor){.plan = plan,
                                .draw = draw,
                                .words = gbsi_words_of(level),
                                .level = level,
                                .seed = options->seed,
                                .n_chains = n_chains,
                                .lanes = gbsi_lanes_of(n_chains),
                                .n_groups = gbsi_groups_of(n_chains),
                                .pool = pool,
                                .n_workers = gbsi_pool_size(pool)};
    GBSI_TRY(take_workers(executor, err));
    GBSI_TRY(take_groups(executor, err));
    GBSI_TRY(init_draw(executor, options, draw_room, err));
    if ((gbsi_scan_traits(options->scan) & GBSI_SCAN_BLOCKS) != 0) {
        GBSI_TRY(take_splash(executor, options, err));
    }
cleanup:
    if (status < 0) {
        gbsi_executor_free(executor);
    }
    return status;
}

void gbsi_executor_init_spins(gbsi_executor *executor, gbsi_spin_chains *chains, gbsi_simd level)
{
    *executor = (gbsi_executor){.level = level,
                                .seed = chains->seed,
                                .n_chains = chains->n_chains,
                                .lanes = gbsi_lanes_of(chains->n_chains),
                                .n_groups = gbsi_groups_of(chains->n_chains),
                                .pool = chains->pool,
                                .n_workers = chains->n_members,
                                .lattice = chains};
}

void gbsi_executor_free(gbsi_executor *executor)
{
    for (uint32_t g = 0; executor->group != NULL && g < executor->n_groups; ++g) {
        gbsi_free(executor->group[g].state);
        gbsi_free(executor->group[g].counter);
    }
    for (uint32_t w = 0; executor->worker != NULL && w < executor->n_workers; ++w) {
        gbsi_free(executor->worker[w].word);
        gbsi_free(executor->worker[w].w);
        gbsi_free(executor->worker[w].value);
    }
    gbsi_spin_chains_free(executor->lattice);
    gbsi_splash_free(executor->splash);
    for (uint32_t t = 0; t < executor->n_teams; ++t) {
        gbsi_barrier_destroy(&executor->team[t]);
    }
    if (executor->draw != NULL && executor->draw->free != NULL) {
        executor->draw->free(executor->draw_state);
    }
    gbsi_free(executor->group);
    gbsi_free(executor->worker);
    gbsi_free(executor->team);
    *executor = (gbsi_executor){0};
}

/* ---- states by variable ------------------------------------------------------------------- */

static void set_lane(gbsi_executor *x, uint32_t g, uint32_t lane, const uint32_t *states)
{
    const gbsi_plan *plan = x->plan;
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
    if (x->lattice != NULL) {
        x->lattice->form->set(x->lattice, chain, states);
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
    if (x->lattice != NULL) {
        x->lattice->form->get(x->lattice, chain, states);
        return;
    }
    const gbsi_plan *plan = x->plan;
    const void *state = x->group[chain / x->lanes].state;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const size_t i = (size_t)slot * x->lanes + chain % x->lanes;
        states[plan->variable_of[slot]] = gbsi_state_at(state, i, plan->value_bytes);
    }
}

static uint8_t *visits_of(void *context, uint32_t chain)
{
    size_t stride = 0;
    return gbsi_estimate_visits(context, chain, &stride);
}

void gbsi_executor_fetch_visits(const gbsi_executor *x, gbsi_estimate *estimate)
{
    if (x->lattice != NULL && estimate != NULL) {
        x->lattice->form->take_visits(x->lattice, x->lanes, visits_of, estimate);
    }
}

void gbsi_executor_ready(gbsi_executor *x)
{
    for (uint32_t g = 0; x->lattice == NULL && x->plan->n_counters > 0 && g < x->n_groups; ++g) {
        gbsi_counters_init(x->plan, x->lanes, &x->group[g]);
    }
}
