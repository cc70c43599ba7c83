/* SPDX-License-Identifier: Apache-2.0 */
/* One pass: words, kernel, draw, store, estimate, the same few steps for every scan, class and
 * draw. Nothing here allocates, and function pointers are called per tile, never per variable.
 *
 * Threads. Whole groups are independent runs and go round the workers first. Each group left over
 * is shared by a team: the places of a batch are mutually non-adjacent, so they are cut among the
 * team and a barrier follows; batches too small to be worth a barrier are run by one of the team
 * together with their neighbours in time. A place is the same update whoever runs it. */
#include "sampler/pass.h"

#include <assert.h>
#include <string.h>

#include "model/model.h"
#include "sampler/executor.h"

/* Updates in a batch below which it is not shared: about as many as run during the two crossings
 * of a barrier that sharing costs. */
#define LEAST_SHARED 8192u

/* What does not change during a pass. */
typedef struct pass_job {
    gbsi_executor *x;
    const gbsi_schedule *schedule;
    uint64_t pass;
    gbsi_estimate *estimate; /* NULL: nothing is kept */
    bool rao_blackwell;
    bool tiles_counted; /* states are counted as they are stored: each is the last of its pass */
    bool far;           /* sums and counts are asked for before they are needed */
} pass_job;

/* Words of a group, a window of places at a time. */
typedef struct window {
    uint64_t first, end; /* places */
} window;

/* Blocks of four places whose words are made between two requests for sums: memory answers while
 * numbers are made, where all requests at once would wait for it. */
#define STRETCH 4u

static void fill_rows(const pass_job *job, const gbsi_worker *worker, uint32_t g,
                      const gbsi_piece *piece, const window *w)
{
    const gbsi_executor *x = job->x;
    const uint32_t n_blocks = (uint32_t)((w->end - w->first + 3) / 4);
    const bool ask = job->far && piece->contiguous;
    const uint32_t stretch = ask ? STRETCH : n_blocks;
    for (uint32_t b = 0; b < n_blocks; b += stretch) {
        const uint32_t n = n_blocks - b < stretch ? n_blocks - b : stretch;
        const uint64_t first = w->first + 4 * (uint64_t)b;
        if (ask && first >= piece->place && first + 4 * n <= piece->place + piece->n) {
            const uint32_t slot = piece->first_slot + (uint32_t)(first - piece->place);
            gbsi_estimate_ahead(job->estimate, g, slot, slot + 4 * n);
        }
        x->words->lanes16(x->seed, g * x->lanes, job->pass, (uint32_t)(first / 4), n,
                          worker->word + (size_t)b * 4 * GBSI_LANES);
    }
}

static void fill_window(const pass_job *job, const gbsi_worker *worker, uint32_t g,
                        const gbsi_piece *piece, uint64_t place, window *w)
{
    const gbsi_executor *x = job->x;
    const uint64_t length = x->lanes == 1 ? GBSI_WINDOW_ROWS * GBSI_LANES : GBSI_WINDOW_ROWS;
    w->first = place / length * length;
    const uint64_t left = job->schedule->n_places - w->first;
    w->end = w->first + (left < length ? left : length);
    if (x->draw->n_words == 0) {
        return; /* nothing is drawn, nothing is made */
    }
    if (x->lanes == 1) {
        const uint32_t n_blocks = (uint32_t)((w->end - w->first + 63) / 64 * 16);
        x->words->lanes1(x->seed, g, job->pass, (uint32_t)(w->first / 4), n_blocks, worker->word);
    } else {
        fill_rows(job, worker, g, piece, w);
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

/* Inverse temperatures; minus infinity stays. The plan was compiled for them: no slot is linear. Of
 * logs the largest becomes 0 first, so that nothing leaves the range. */
static void heat(const gbsi_executor *x, gbsi_tile *tile)
{
    const size_t k = tile->odds ? 1 : tile->arity;
    assert(!tile->linear);
    for (size_t i = 0; i < (size_t)tile->n_rows * GBSI_LANES; ++i) {
        float *w = tile->w + i / GBSI_LANES * k * GBSI_LANES + i % GBSI_LANES;
        const float beta = x->beta[x->lanes == 1 ? 0 : i % GBSI_LANES];
        float top = tile->odds ? 0.0F : w[0];
        for (size_t a = 1; a < k; ++a) {
            top = w[a * GBSI_LANES] > top ? w[a * GBSI_LANES] : top;
        }
        for (size_t a = 0; a < k; ++a) {
            float *at = w + a * GBSI_LANES;
            *at = *at > -3.0e38F ? (*at - top) * beta : *at;
        }
    }
}

/* Most places in the next tile: the room of a tile, the words at hand, whole slices of one chain.
 */
static uint32_t next_places(const gbsi_executor *x, const gbsi_piece *piece, uint32_t done,
                            const window *w)
{
    const uint32_t width = (piece->form & GBSI_ODDS) != 0 ? 2 : piece->arity;
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
    if ((x->draw->traits & GBSI_DRAW_TABLED) == 0) {
        const gbsi_kernel *kernel = gbsi_kernel_of((gbsi_class)tile->class_id, x->level);
        (x->lanes == 1 ? kernel->fill1 : kernel->fill16)(x->plan, group, tile);
    }
    if (x->beta != NULL) {
        heat(x, tile);
    }
    (tile->odds ? x->draw->binary : x->draw->categorical)(x->draw_state, tile);
    if (group->counter != NULL) {
        gbsi_counters_commit(x->plan, group, tile);
    }
    scatter(x, group, tile);
}

static void note_impossible(gbsi_worker *worker, const gbsi_tile *tile, uint32_t g)
{
    if (worker->impossible_place == UINT64_MAX) {
        const uint32_t place = tile->flag_place < tile->n_places ? tile->flag_place : 0;
        worker->impossible_group = g;
        worker->impossible_place = tile->place + place;
        worker->impossible_slot = gbsi_tile_slot(tile, place);
    }
}

/* Places [first, end) of a group, which lie in pieces from *piece_id on; left at the last used. */
static void run_places(const pass_job *job, gbsi_worker *worker, uint32_t g, uint64_t first,
                       uint64_t end, size_t *piece_id)
{
    gbsi_executor *x = job->x;
    const gbsi_schedule *schedule = job->schedule;
    const uint32_t chain = g * x->lanes;
    window w = {0, 0};
    for (uint64_t place = first; place < end;) {
        while (place >= schedule->piece[*piece_id].place + schedule->piece[*piece_id].n) {
            ++*piece_id;
        }
        const gbsi_piece *piece = &schedule->piece[*piece_id];
        const uint32_t done = (uint32_t)(place - piece->place);
        if (place >= w.end) {
            fill_window(job, worker, g, piece, place, &w);
        }
        const uint32_t n = next_places(x, piece, done, &w);
        gbsi_tile tile = {
            .class_id = piece->class_id,
            .odds = (piece->form & GBSI_ODDS) != 0,
            .linear = (piece->form & GBSI_LINEAR) != 0,
            .value_bytes = (uint8_t)x->plan->value_bytes,
            .lanes = (uint8_t)x->lanes,
            .arity = piece->arity,
            .n_places = n < end - place ? n : (uint32_t)(end - place),
            .slot = schedule->slot == NULL ? NULL : schedule->slot + place,
            .first_slot = piece->first_slot + done,
            .contiguous = piece->contiguous,
            .position = schedule->position == NULL ? NULL : schedule->position + place,
            .seed = x->seed,
            .pass = job->pass,
            .place = place,
            .chain = chain,
            .group = g,
            .state = x->group[g].state,
            .word = x->draw->n_words == 0 ? NULL : worker->word + (place - w.first) * x->lanes,
            .beta = x->beta,
            .w = worker->w,
            .value = worker->value,
            .p = job->estimate != NULL && job->rao_blackwell && piece->counts ? worker->w : NULL};
        tile.n_rows = x->lanes == 1 ? (tile.n_places + 15) / 16 : tile.n_places;
        run_tile(x, &x->group[g], &tile);
        if (tile.flags != 0) {
            note_impossible(worker, &tile, g);
        }
        if (tile.p != NULL) {
            gbsi_estimate_tile(job->estimate, g, &tile);
        } else if (job->tiles_counted) {
            gbsi_estimate_state(job->estimate, g, tile.state, tile.first_slot,
                                tile.first_slot + tile.n_places);
        }
        place += tile.n_places;
    }
}

static bool counts_at_end(const pass_job *job)
{
    return job->estimate != NULL && !job->rao_blackwell && !job->tiles_counted;
}

/* First place of a batch. */
static uint64_t batch_place(const gbsi_schedule *schedule, uint32_t batch)
{
    return batch < schedule->n_batches ? schedule->piece[schedule->batch_start[batch]].place
                                       : schedule->n_places;
}

static bool is_shared(const gbsi_executor *x, const gbsi_schedule *schedule, uint32_t batch)
{
    return (batch_place(schedule, batch + 1) - batch_place(schedule, batch)) * x->lanes >=
           LEAST_SHARED;
}

/* The worker's part of a group that a team shares. All of the team walk through the same batches
 * and meet at the same barriers. */
static void run_with_team(const pass_job *job, gbsi_worker *worker)
{
    const gbsi_executor *x = job->x;
    const gbsi_schedule *schedule = job->schedule;
    const uint64_t unit = GBSI_WINDOW_ROWS * (x->lanes == 1 ? GBSI_LANES : 1);
    const uint32_t g = worker->shared_group;
    for (uint32_t batch = 0; batch < schedule->n_batches;) {
        size_t piece = schedule->batch_start[batch];
        uint64_t first = batch_place(schedule, batch);
        uint64_t end = first;
        if (is_shared(x, schedule, batch)) {
            const uint64_t n = batch_place(schedule, ++batch) - first;
            const uint64_t skew = first % unit; /* cut where windows of words begin */
            uint64_t from = 0;
            gbsi_pool_share(n + skew, unit, worker->rank, worker->team_size, &from, &end);
            end = first + (end > skew ? end - skew : 0);
            first += from > skew ? from - skew : 0;
        } else {
            while (batch < schedule->n_batches && !is_shared(x, schedule, batch)) {
                ++batch;
            }
            end = worker->rank == 0 ? batch_place(schedule, batch) : first;
        }
        run_places(job, worker, g, first, end, &piece);
        gbsi_barrier_wait(worker->team);
    }
    if (counts_at_end(job)) {
        uint64_t first = 0;
        uint64_t end = 0;
        gbsi_pool_share(x->plan->n_slots, 64, worker->rank, worker->team_size, &first, &end);
        gbsi_estimate_state(job->estimate, g, x->group[g].state, (uint32_t)first, (uint32_t)end);
    }
}

/* A group from its first place to its last, by one worker. */
static void run_whole(const pass_job *job, gbsi_worker *worker, uint32_t g)
{
    const gbsi_executor *x = job->x;
    size_t piece = 0;
    run_places(job, worker, g, 0, job->schedule->n_places, &piece);
    if (counts_at_end(job)) {
        gbsi_estimate_state(job->estimate, g, x->group[g].state, 0, x->plan->n_slots);
    }
}

static void run_worker(void *context, uint32_t member)
{
    const pass_job *job = context;
    gbsi_executor *x = job->x;
    gbsi_worker *worker = &x->worker[member];
    const uint32_t n_whole = x->n_groups - x->n_teams;
    for (uint32_t g = member; g < n_whole; g += x->n_workers) {
        run_whole(job, worker, g);
    }
    if (worker->team != NULL) {
        run_with_team(job, worker);
    }
}

/* Small passes are over before a second thread has woken up. */
static bool alone(const gbsi_executor *x, const gbsi_schedule *schedule)
{
    return schedule->n_places * x->lanes * x->n_groups < 2 * LEAST_SHARED;
}

static void run_alone(const pass_job *job)
{
    gbsi_executor *x = job->x;
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        run_whole(job, &x->worker[0], g);
    }
}

/* The first in the order of groups and places, whoever met it. */
static gbs_status find_impossible(const gbsi_executor *x, gbs_error *err)
{
    const gbsi_worker *first = NULL;
    for (uint32_t w = 0; w < x->n_workers; ++w) {
        const gbsi_worker *worker = &x->worker[w];
        if (worker->impossible_place != UINT64_MAX &&
            (first == NULL || worker->impossible_group < first->impossible_group ||
             (worker->impossible_group == first->impossible_group &&
              worker->impossible_place < first->impossible_place))) {
            first = worker;
        }
    }
    if (first == NULL) {
        return GBS_OK;
    }
    const gbsi_conditioned *model = x->plan->model;
    const uint32_t variable = model->user_variable[x->plan->variable_of[first->impossible_slot]];
    const char *name = gbs_model_variable_name(model->model, variable);
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                     "variable %u%s%s%s has no state of positive weight given its neighbours: the "
                     "chain left the support",
                     variable, name == NULL ? "" : " (", name == NULL ? "" : name,
                     name == NULL ? "" : ")");
}

/* Lattices share their words themselves; visits are counted there until the estimate asks. */
static void pass_of_lattice(gbsi_executor *x, uint64_t pass, gbsi_estimate *estimate)
{
    x->lattice->form->pass(x->lattice, pass, estimate != NULL);
    if (estimate != NULL) {
        if (gbsi_estimate_due(estimate)) {
            gbsi_executor_fetch_visits(x, estimate);
        }
        gbsi_estimate_end_pass(estimate, x->pool);
    }
}

gbs_status gbsi_executor_pass(gbsi_executor *x, const gbsi_schedule *schedule, uint64_t pass,
                              gbsi_estimate *estimate, bool rao_blackwell, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool once =
        estimate != NULL && schedule->slot == NULL && gbsi_estimate_each_once(estimate);
    pass_job job = {.x = x,
                    .schedule = schedule,
                    .pass = pass,
                    .estimate = estimate,
                    .rao_blackwell = rao_blackwell,
                    .tiles_counted = !rao_blackwell && once,
                    .far = estimate != NULL && (rao_blackwell || once) &&
                           gbsi_estimate_is_far(estimate)};
    x->n_updates = schedule->n_places;
    if (x->lattice != NULL) {
        pass_of_lattice(x, pass, estimate);
        return GBS_OK;
    }
    if (x->splash != NULL) {
        const gbsi_splash_sweep sweep = {x->draw,  x->draw_state, pass,
                                         estimate, rao_blackwell, x->watch};
        return gbsi_splash_pass(x->splash, &sweep, &x->n_updates, err);
    }
    if (x->draw->begin_pass != NULL) {
        status = x->draw->begin_pass(x->draw_state, schedule, x->group, pass, err);
    }
    if (status < 0) {
        return status;
    }
    for (uint32_t w = 0; w < x->n_workers; ++w) {
        x->worker[w].impossible_place = UINT64_MAX;
    }
    if (x->n_workers == 1 || alone(x, schedule)) {
        run_alone(&job);
    } else {
        gbsi_pool_run(x->pool, run_worker, &job);
    }
    if (estimate != NULL) {
        gbsi_estimate_end_pass(estimate, x->pool);
    }
    return find_impossible(x, err);
}
