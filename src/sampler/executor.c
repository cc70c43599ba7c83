/* SPDX-License-Identifier: Apache-2.0 */
/* Words, kernel, draw, store, estimate: the same few steps for every scan, class and draw. Nothing
 * here allocates, and function pointers are called per tile, never per variable. */
#include "sampler/executor.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

/* Words are made for this many rows of 16 at a time. */
#define WINDOW_ROWS GBSI_TILE_ROWS

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

size_t gbsi_executor_bytes(const gbsi_plan *plan, uint32_t n_chains)
{
    const size_t per_chain =
        (size_t)plan->n_slots * plan->value_bytes + (size_t)plan->n_counters * sizeof(uint32_t);
    const size_t n_chains_held = (size_t)gbsi_lanes_of(n_chains) * gbsi_groups_of(n_chains);
    const size_t scratch =
        tile_cells(plan) * sizeof(float) + (WINDOW_ROWS + 1) * GBSI_LANES * (sizeof(uint32_t) + 2);
    return n_chains_held * per_chain + gbsi_groups_of(n_chains) * sizeof(gbsi_group) + scratch;
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

gbs_status gbsi_executor_init(gbsi_executor *executor, const gbsi_plan *plan, const gbsi_draw *draw,
                              const gbs_run_options *options, gbsi_simd level, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_chains = (uint32_t)options->chains;
    *executor = (gbsi_executor){.plan = plan,
                                .draw = draw,
                                .words = gbsi_words_of(level),
                                .level = level,
                                .seed = options->seed,
                                .n_chains = n_chains,
                                .lanes = gbsi_lanes_of(n_chains),
                                .n_groups = gbsi_groups_of(n_chains)};
    executor->word = gbsi_alloc_lanes((WINDOW_ROWS + 1) * GBSI_LANES, sizeof(uint32_t));
    executor->logw = gbsi_alloc_lanes(tile_cells(plan), sizeof(float));
    executor->value = gbsi_alloc_lanes(GBSI_TILE_ROWS * GBSI_LANES, sizeof(uint16_t));
    if (executor->word == NULL || executor->logw == NULL || executor->value == NULL) {
        status = gbsi_no_memory(err, "chains", tile_cells(plan) * sizeof(float));
        goto cleanup;
    }
    GBSI_TRY(take_groups(executor, err));
    if (draw->init != NULL) {
        GBSI_TRY(draw->init(plan, options, &executor->draw_state, err));
    }
cleanup:
    if (status < 0) {
        gbsi_executor_free(executor);
    }
    return status;
}

void gbsi_executor_free(gbsi_executor *executor)
{
    for (uint32_t g = 0; executor->group != NULL && g < executor->n_groups; ++g) {
        gbsi_free(executor->group[g].state);
        gbsi_free(executor->group[g].counter);
    }
    if (executor->draw != NULL && executor->draw->free != NULL) {
        executor->draw->free(executor->draw_state);
    }
    gbsi_free(executor->group);
    gbsi_free(executor->word);
    gbsi_free(executor->logw);
    gbsi_free(executor->value);
    *executor = (gbsi_executor){0};
}

/* ---- states by variable ------------------------------------------------------------------- */

static void set_lane(gbsi_executor *x, uint32_t g, uint32_t lane, const uint32_t *states)
{
    const gbsi_plan *plan = x->plan;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const size_t i = (size_t)slot * x->lanes + lane;
        const uint32_t value = states[plan->variable_of[slot]];
        assert(value < plan->arity[slot]);
        if (plan->value_bytes == 1) {
            ((uint8_t *)x->group[g].state)[i] = (uint8_t)value;
        } else {
            ((uint16_t *)x->group[g].state)[i] = (uint16_t)value;
        }
    }
}

void gbsi_executor_set(gbsi_executor *x, uint32_t chain, const uint32_t *states)
{
    set_lane(x, chain / x->lanes, chain % x->lanes, states);
    if (chain == x->n_chains - 1) {
        for (uint32_t lane = chain % x->lanes + 1; lane < x->lanes; ++lane) {
            set_lane(x, chain / x->lanes, lane, states);
        }
    }
}

void gbsi_executor_get(const gbsi_executor *x, uint32_t chain, uint32_t *states)
{
    const gbsi_plan *plan = x->plan;
    const void *state = x->group[chain / x->lanes].state;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const size_t i = (size_t)slot * x->lanes + chain % x->lanes;
        states[plan->variable_of[slot]] = gbsi_state_at(state, i, plan->value_bytes);
    }
}

void gbsi_executor_ready(gbsi_executor *x)
{
    for (uint32_t g = 0; x->plan->n_counters > 0 && g < x->n_groups; ++g) {
        gbsi_counters_init(x->plan, x->lanes, &x->group[g]);
    }
}

/* ---- a pass ------------------------------------------------------------------------------- */

/* Words of a group, a window of places at a time. */
typedef struct window {
    uint64_t first, end; /* places */
} window;

static void fill_window(const gbsi_executor *x, const gbsi_schedule *schedule, uint32_t chain,
                        uint64_t pass, uint64_t place, window *w)
{
    const uint64_t length = x->lanes == 1 ? WINDOW_ROWS * GBSI_LANES : WINDOW_ROWS;
    w->first = place / length * length;
    const uint64_t left = schedule->n_places - w->first;
    w->end = w->first + (left < length ? left : length);
    uint32_t n_blocks = (uint32_t)((w->end - w->first + 3) / 4);
    const uint32_t first_block = (uint32_t)(w->first / 4);
    if (x->lanes == 1) {
        n_blocks = (n_blocks + 15) / 16 * 16;
        x->words->lanes1(x->seed, chain, pass, first_block, n_blocks, x->word);
    } else {
        x->words->lanes16(x->seed, chain, pass, first_block, n_blocks, x->word);
    }
}

/* Values of a tile into the state. */
static void scatter(const gbsi_executor *x, const gbsi_group *group, const gbsi_tile *tile)
{
    const size_t bytes = (size_t)x->lanes * tile->value_bytes; /* of one slot */
    uint8_t *state = group->state;
    const uint8_t *value = tile->value;
    if (tile->contiguous) {
        memcpy(state + tile->first_slot * bytes, value, tile->n_places * bytes);
        return;
    }
    for (uint32_t i = 0; i < tile->n_places; ++i) {
        memcpy(state + tile->slot[i] * bytes, value + i * bytes, bytes);
    }
}

/* Inverse temperatures; minus infinity stays. */
static void heat(const gbsi_executor *x, gbsi_tile *tile)
{
    const size_t cells = (size_t)tile->n_rows * (tile->log_odds ? 1 : tile->arity) * GBSI_LANES;
    for (size_t i = 0; i < cells; ++i) {
        const float beta = x->beta[x->lanes == 1 ? 0 : i % GBSI_LANES];
        tile->logw[i] = tile->logw[i] > -3.0e38F ? tile->logw[i] * beta : tile->logw[i];
    }
}

/* Most places in the next tile: the room of a tile, the words at hand, whole slices of one chain.
 */
static uint32_t next_places(const gbsi_executor *x, const gbsi_piece *piece, uint32_t done,
                            const window *w)
{
    const uint32_t width = piece->log_odds ? 2 : piece->arity;
    uint32_t rows = GBSI_TILE_CELLS / (GBSI_LANES * width);
    rows = rows < 1 ? 1 : (rows > GBSI_TILE_ROWS ? GBSI_TILE_ROWS : rows);
    uint64_t n = x->lanes == 1 ? (uint64_t)rows * GBSI_LANES : rows;
    const uint32_t first_slot = piece->first_slot + done;
    if (x->lanes == 1 && piece->contiguous && first_slot % GBSI_LANES != 0) {
        n = GBSI_LANES - first_slot % GBSI_LANES; /* up to where a slice begins */
    }
    const uint64_t in_window = w->end - (piece->place + done);
    n = n < in_window ? n : in_window;
    return (uint32_t)(n < piece->n - done ? n : piece->n - done);
}

static void run_tile(gbsi_executor *x, gbsi_group *group, gbsi_tile *tile)
{
    const gbsi_kernel *kernel = gbsi_kernel_of((gbsi_class)tile->class_id, x->level);
    (x->lanes == 1 ? kernel->fill1 : kernel->fill16)(x->plan, group, tile);
    if (x->beta != NULL) {
        heat(x, tile);
    }
    (tile->log_odds ? x->draw->binary : x->draw->categorical)(x->draw_state, tile);
    if (group->counter != NULL) {
        gbsi_counters_commit(x->plan, group, tile);
    }
    scatter(x, group, tile);
}

static gbs_status impossible(const gbsi_executor *x, const gbsi_tile *tile, gbs_error *err)
{
    const uint32_t place = tile->flag_place < tile->n_places ? tile->flag_place : 0;
    const uint32_t slot = tile->contiguous ? tile->first_slot + place : tile->slot[place];
    const gbsi_conditioned *model = x->plan->model;
    const uint32_t variable = model->user_variable[x->plan->variable_of[slot]];
    const char *name = gbs_model_variable_name(model->model, variable);
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                     "variable %u%s%s%s has no state of positive weight given its neighbours: the "
                     "chain left the support",
                     variable, name == NULL ? "" : " (", name == NULL ? "" : name,
                     name == NULL ? "" : ")");
}

static gbs_status run_group(gbsi_executor *x, const gbsi_schedule *schedule, uint64_t pass,
                            uint32_t g, gbsi_estimate *estimate, bool rao_blackwell, gbs_error *err)
{
    const uint32_t chain = g * x->lanes;
    gbs_status status = GBS_OK;
    window w = {0, 0};
    for (size_t i = 0; i < schedule->n_pieces; ++i) {
        const gbsi_piece *piece = &schedule->piece[i];
        for (uint32_t done = 0; done < piece->n;) {
            const uint64_t place = piece->place + done;
            if (place >= w.end) {
                fill_window(x, schedule, chain, pass, place, &w);
            }
            gbsi_tile tile = {.class_id = piece->class_id,
                              .log_odds = piece->log_odds,
                              .value_bytes = (uint8_t)x->plan->value_bytes,
                              .lanes = (uint8_t)x->lanes,
                              .arity = piece->arity,
                              .n_places = next_places(x, piece, done, &w),
                              .slot = schedule->slot + place,
                              .first_slot = piece->first_slot + done,
                              .contiguous = piece->contiguous,
                              .seed = x->seed,
                              .pass = pass,
                              .place = place,
                              .chain = chain,
                              .word = x->word + (place - w.first) * x->lanes,
                              .beta = x->beta,
                              .logw = x->logw,
                              .value = x->value,
                              .p = estimate != NULL && rao_blackwell ? x->logw : NULL};
            tile.n_rows = x->lanes == 1 ? (tile.n_places + 15) / 16 : tile.n_places;
            run_tile(x, &x->group[g], &tile);
            if (tile.flags != 0 && status == GBS_OK) {
                status = impossible(x, &tile, err);
            }
            if (tile.p != NULL) {
                gbsi_estimate_tile(estimate, g, &tile);
            }
            done += tile.n_places;
        }
    }
    return status;
}

gbs_status gbsi_executor_pass(gbsi_executor *x, const gbsi_schedule *schedule, uint64_t pass,
                              gbsi_estimate *estimate, bool rao_blackwell, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (x->draw->begin_pass != NULL) {
        status = x->draw->begin_pass(x->draw_state, pass, err);
    }
    for (uint32_t g = 0; status == GBS_OK && g < x->n_groups; ++g) {
        status = run_group(x, schedule, pass, g, estimate, rao_blackwell, err);
        if (estimate != NULL && !rao_blackwell) {
            gbsi_estimate_state(estimate, g, x->group[g].state);
        }
    }
    if (estimate != NULL) {
        gbsi_estimate_end_pass(estimate);
    }
    return status;
}
