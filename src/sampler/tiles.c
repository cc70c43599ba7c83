/* SPDX-License-Identifier: Apache-2.0 */
/* One pass: words, kernel, draw, store, estimate, the same few steps for every scan, class and
 * draw. Nothing here allocates, and function pointers are called per tile, never per variable.
 *
 * Threads. Whole groups are independent runs and go round the workers first. Each group left over
 * is shared by a team: the places of a batch are mutually non-adjacent, so they are cut among the
 * team and a barrier follows; batches too small to be worth a barrier are run by one of the team
 * together with their neighbours in time. A place is the same update whoever runs it. */
#include "sampler/tiles.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/estimate.h"
#include "model/model.h"
#include "sampler/counted_operations.h"

/* Words are made for this many rows of 16 at a time. */
#define WINDOW_ROWS GBSI_TILE_ROWS

/* Updates in a batch below which it is not shared: about as many as run during the two crossings
 * of a barrier that sharing costs. */
#define LEAST_SHARED 8192u

/* What one thread needs to run a tile. */
typedef struct worker {
    uint32_t *word; /* the window of places whose words are made */
    float *w;
    void *value;
    gbsi_barrier *team;        /* those who share a group with this worker, NULL: nobody */
    uint32_t rank, team_size;  /* within the team */
    uint32_t shared_group;     /* the group they share, valid with a team */
    uint32_t impossible_group; /* of the first conditional without positive weight in this pass; */
    uint64_t impossible_place; /* UINT64_MAX: none */
    uint32_t impossible_slot;
} worker;

typedef struct tiles {
    gbsi_pass_setting setting;
    const gbsi_words *words;
    uint64_t seed;
    uint32_t n_workers;
    worker *worker;   /* [n_workers] */
    uint32_t n_teams; /* groups that several workers share */
    gbsi_barrier *team;
    uint64_t n_updates; /* of each chain in all passes so far */
    uint32_t counted_chains;
    double operations_each; /* of a pass of single updates of so many chains */
    /* the pass that is being run */
    gbsi_pass_job job;
    uint32_t first_batch, end_batch; /* of those that are being run */
    bool tiles_counted; /* states are counted as they are stored: each is the last of its pass */
    bool far;           /* sums and counts are asked for before they are needed */
} tiles;

/* Words of a group, a window of places at a time. */
typedef struct window {
    uint64_t first, end; /* places */
} window;

/* Blocks of four places whose words are made between two requests for sums: memory answers while
 * numbers are made, where all requests at once would wait for it. */
#define STRETCH 4u

/* @param shift from a place of the schedule to the global one. */
static void fill_rows(const tiles *t, const worker *by, uint32_t g, const gbsi_piece *piece,
                      uint64_t shift, const window *w)
{
    const uint32_t n_blocks = (uint32_t)((w->end - w->first + 3) / 4);
    const bool ask = t->far && piece->contiguous;
    const uint32_t stretch = ask ? STRETCH : n_blocks;
    const uint64_t place = piece->place + shift;
    for (uint32_t b = 0; b < n_blocks; b += stretch) {
        const uint32_t n = n_blocks - b < stretch ? n_blocks - b : stretch;
        const uint64_t first = w->first + 4 * (uint64_t)b;
        if (ask && first >= place && first + 4 * n <= place + piece->n) {
            const uint32_t slot = piece->first_slot + (uint32_t)(first - place);
            gbsi_estimate_ahead(t->job.estimate, g, slot, slot + 4 * n);
        }
        t->words->lanes16(t->seed, g * t->setting.lanes, t->job.pass, (uint32_t)(first / 4), n,
                          GBSI_PURPOSE_UPDATE, by->word + (size_t)b * 4 * GBSI_LANES);
    }
}

/* @param place global. */
static void fill_window(const tiles *t, const worker *by, uint32_t g, const gbsi_piece *piece,
                        uint64_t shift, uint64_t place, window *w)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const uint32_t lanes = t->setting.lanes;
    const uint64_t length = lanes == 1 ? WINDOW_ROWS * GBSI_LANES : WINDOW_ROWS;
    const uint64_t end =
        schedule->global == NULL ? schedule->n_places : piece->place + shift + piece->n;
    w->first = place / length * length;
    w->end = end - w->first < length ? end : w->first + length;
    if (t->job.draw->n_words == 0) {
        return; /* nothing is drawn, nothing is made */
    }
    if (lanes == 1) {
        const uint32_t n_blocks = (uint32_t)((w->end - w->first + 63) / 64 * 16);
        t->words->lanes1(t->seed, g, t->job.pass, (uint32_t)(w->first / 4), n_blocks, by->word);
    } else {
        fill_rows(t, by, g, piece, shift, w);
    }
}

/* Values of a tile into the state. */
static void scatter(const gbsi_group *group, const gbsi_tile *tile)
{
    const size_t bytes = (size_t)tile->lanes * tile->value_bytes; /* of one slot */
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
static void heat(gbsi_tile *tile)
{
    const size_t k = tile->odds ? 1 : tile->arity;
    assert(!tile->linear);
    for (size_t i = 0; i < (size_t)tile->n_rows * GBSI_LANES; ++i) {
        float *w = tile->w + i / GBSI_LANES * k * GBSI_LANES + i % GBSI_LANES;
        const float beta = tile->beta[tile->lanes == 1 ? 0 : i % GBSI_LANES];
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
static uint32_t next_places(const tiles *t, const gbsi_piece *piece, uint32_t done,
                            uint64_t in_window)
{
    const uint32_t lanes = t->setting.lanes;
    const uint32_t width = (piece->form & GBSI_ODDS) != 0 ? 2 : piece->arity;
    uint32_t rows = GBSI_TILE_CELLS / (GBSI_LANES * width);
    rows = rows < 1 ? 1 : (rows > GBSI_TILE_ROWS ? GBSI_TILE_ROWS : rows);
    uint64_t n = lanes == 1 ? (uint64_t)rows * GBSI_LANES : rows;
    const uint32_t first_slot = piece->first_slot + done;
    if (lanes == 1 && piece->contiguous && first_slot % GBSI_LANES != 0) {
        n = GBSI_LANES - first_slot % GBSI_LANES; /* up to where a slice begins */
    }
    n = n < in_window ? n : in_window;
    return (uint32_t)(n < piece->n - done ? n : piece->n - done);
}

static void run_tile(const tiles *t, gbsi_group *group, gbsi_tile *tile)
{
    const gbsi_draw *draw = t->job.draw;
    const gbsi_plan *plan = t->setting.plan;
    if ((draw->traits & GBSI_DRAW_TABLED) == 0) {
        const gbsi_kernel *kernel = gbsi_kernel_of((gbsi_class)tile->class_id, t->setting.level);
        (tile->lanes == 1 ? kernel->fill1 : kernel->fill16)(plan, group, tile);
    }
    if (tile->beta != NULL) {
        heat(tile);
    }
    (tile->odds ? draw->binary : draw->categorical)(t->job.draw_state, tile);
    if (group->counter != NULL) {
        gbsi_counters_commit(plan, group, tile);
    }
    scatter(group, tile);
}

static void note_impossible(worker *by, const gbsi_tile *tile, uint32_t g)
{
    if (by->impossible_place == UINT64_MAX) {
        const uint32_t place = tile->flag_place < tile->n_places ? tile->flag_place : 0;
        by->impossible_group = g;
        by->impossible_place = tile->place + place;
        by->impossible_slot = gbsi_tile_slot(tile, place);
    }
}

/* Probabilities, or the states where they will not change in this pass. */
static void feed_estimate(const tiles *t, uint32_t g, const gbsi_tile *tile)
{
    if (tile->p != NULL) {
        gbsi_estimate_tile(t->job.estimate, g, tile);
    } else if (t->tiles_counted) {
        gbsi_estimate_state(t->job.estimate, g, tile->state, tile->first_slot,
                            tile->first_slot + tile->n_places);
    }
}

/* The next tile of a group, n places from one of the schedule on. */
static gbsi_tile tile_at(const tiles *t, worker *by, uint32_t g, const gbsi_piece *piece,
                         uint64_t place, uint32_t n)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const gbsi_pass_job *job = &t->job;
    const uint32_t lanes = t->setting.lanes;
    return (gbsi_tile){.class_id = piece->class_id,
                       .odds = (piece->form & GBSI_ODDS) != 0,
                       .linear = (piece->form & GBSI_LINEAR) != 0,
                       .value_bytes = (uint8_t)t->setting.plan->value_bytes,
                       .lanes = (uint8_t)lanes,
                       .arity = piece->arity,
                       .n_places = n,
                       .n_rows = lanes == 1 ? (n + GBSI_LANES - 1) / GBSI_LANES : n,
                       .slot = schedule->slot == NULL ? NULL : schedule->slot + place,
                       .first_slot = piece->first_slot + (uint32_t)(place - piece->place),
                       .contiguous = piece->contiguous,
                       .position = schedule->position == NULL ? NULL : schedule->position + place,
                       .seed = t->seed,
                       .pass = job->pass,
                       .chain = g * lanes,
                       .group = g,
                       .state = t->setting.group[g].state,
                       .beta = job->beta == NULL ? NULL : job->beta + (size_t)g * lanes,
                       .w = by->w,
                       .value = by->value,
                       .p = job->estimate != NULL && job->rao_blackwell && piece->counts ? by->w
                                                                                         : NULL};
}

/* Places [first, end) of a group, which lie in pieces from *piece_id on; left at the last used. */
static void run_places(const tiles *t, worker *by, uint32_t g, uint64_t first, uint64_t end,
                       size_t *piece_id)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const bool words = t->job.draw->n_words > 0;
    window w = {0, 0};
    for (uint64_t place = first; place < end;) {
        while (place >= schedule->piece[*piece_id].place + schedule->piece[*piece_id].n) {
            ++*piece_id;
        }
        const gbsi_piece *piece = &schedule->piece[*piece_id];
        const uint64_t shift =
            schedule->global == NULL ? 0 : schedule->global[*piece_id] - piece->place;
        const uint64_t global = place + shift;
        if (global < w.first || global >= w.end) {
            fill_window(t, by, g, piece, shift, global, &w);
        }
        uint32_t n = next_places(t, piece, (uint32_t)(place - piece->place), w.end - global);
        n = n < end - place ? n : (uint32_t)(end - place);
        gbsi_tile tile = tile_at(t, by, g, piece, place, n);
        tile.place = global;
        tile.word = words ? by->word + (global - w.first) * t->setting.lanes : NULL;
        run_tile(t, &t->setting.group[g], &tile);
        if (tile.flags != 0) {
            note_impossible(by, &tile, g);
        }
        feed_estimate(t, g, &tile);
        place += n;
    }
}

/* States are counted once, after the last batch. */
static bool counts_now(const tiles *t)
{
    return t->job.estimate != NULL && !t->job.rao_blackwell && !t->tiles_counted &&
           t->end_batch == t->job.schedule->n_batches;
}

/* First place of a batch; those of a pass that is run elsewhere as well may be empty. */
static uint64_t batch_place(const gbsi_schedule *schedule, uint32_t batch)
{
    const size_t piece =
        batch < schedule->n_batches ? schedule->batch_start[batch] : schedule->n_pieces;
    return piece < schedule->n_pieces ? schedule->piece[piece].place : schedule->n_places;
}

static bool is_shared(const tiles *t, uint32_t batch)
{
    const gbsi_schedule *schedule = t->job.schedule;
    return (batch_place(schedule, batch + 1) - batch_place(schedule, batch)) * t->setting.lanes >=
           LEAST_SHARED;
}

/* The worker's part of a group that a team shares. All of the team walk through the same batches
 * and meet at the same barriers. */
static void run_with_team(const tiles *t, worker *by)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const uint64_t unit = WINDOW_ROWS * (t->setting.lanes == 1 ? GBSI_LANES : 1);
    const uint32_t g = by->shared_group;
    for (uint32_t batch = t->first_batch; batch < t->end_batch;) {
        size_t piece = schedule->batch_start[batch];
        uint64_t first = batch_place(schedule, batch);
        uint64_t end = first;
        if (is_shared(t, batch)) {
            const uint64_t n = batch_place(schedule, ++batch) - first;
            const uint64_t skew = first % unit; /* cut where windows of words begin */
            uint64_t from = 0;
            gbsi_pool_share(n + skew, unit, by->rank, by->team_size, &from, &end);
            end = first + (end > skew ? end - skew : 0);
            first += from > skew ? from - skew : 0;
        } else {
            while (batch < t->end_batch && !is_shared(t, batch)) {
                ++batch;
            }
            end = by->rank == 0 ? batch_place(schedule, batch) : first;
        }
        run_places(t, by, g, first, end, &piece);
        gbsi_barrier_wait(by->team);
    }
    if (counts_now(t)) {
        uint64_t first = 0;
        uint64_t end = 0;
        gbsi_pool_share(t->setting.plan->n_slots, 64, by->rank, by->team_size, &first, &end);
        gbsi_estimate_state(t->job.estimate, g, t->setting.group[g].state, (uint32_t)first,
                            (uint32_t)end);
    }
}

/* A group from its first place to its last, by one worker. */
static void run_whole(const tiles *t, worker *by, uint32_t g)
{
    const gbsi_schedule *schedule = t->job.schedule;
    size_t piece = t->first_batch == 0 ? 0 : schedule->batch_start[t->first_batch];
    run_places(t, by, g, batch_place(schedule, t->first_batch), batch_place(schedule, t->end_batch),
               &piece);
    if (counts_now(t)) {
        gbsi_estimate_state(t->job.estimate, g, t->setting.group[g].state, 0,
                            t->setting.plan->n_slots);
    }
}

static void run_worker(void *context, uint32_t member)
{
    const tiles *t = context;
    worker *by = &t->worker[member];
    const uint32_t n_whole = t->setting.n_groups - t->n_teams;
    for (uint32_t g = member; g < n_whole; g += t->n_workers) {
        run_whole(t, by, g);
    }
    if (by->team != NULL) {
        run_with_team(t, by);
    }
}

/* Small passes are over before a second thread has woken up. */
static bool is_small(const tiles *t)
{
    return t->job.schedule->n_places * t->setting.lanes * t->setting.n_groups < 2 * LEAST_SHARED;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static gbs_status begin(void *state, const gbsi_pass_job *job, gbs_error *err)
{
    tiles *t = state;
    const bool once = job->estimate != NULL && job->schedule->slot == NULL &&
                      gbsi_estimate_each_once(job->estimate);
    t->job = *job;
    t->end_batch = 0;
    t->tiles_counted = !job->rao_blackwell && once && job->schedule->global == NULL;
    t->far = job->estimate != NULL && (job->rao_blackwell || once) &&
             gbsi_estimate_is_far(job->estimate);
    t->n_updates += job->schedule->n_places;
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        t->worker[w].impossible_place = UINT64_MAX;
    }
    return job->draw->begin_pass == NULL ? GBS_OK
                                         : job->draw->begin_pass(job->draw_state, job->schedule,
                                                                 t->setting.group, job->pass, err);
}

static gbs_status batch(void *state, uint32_t most, bool *more, gbs_error *err)
{
    tiles *t = state;
    const uint32_t n_batches = t->job.schedule->n_batches;
    (void)err;
    t->first_batch = t->end_batch;
    t->end_batch = n_batches - t->first_batch < most ? n_batches : t->first_batch + most;
    if (t->n_workers == 1 || is_small(t)) {
        for (uint32_t g = 0; g < t->setting.n_groups; ++g) {
            run_whole(t, &t->worker[0], g);
        }
    } else {
        gbsi_pool_run(t->setting.pool, run_worker, t);
    }
    *more = t->end_batch < n_batches;
    return GBS_OK;
}

/* The first in the order of groups and places, whoever met it. */
static gbs_status end(void *state, gbs_error *err)
{
    const tiles *t = state;
    const worker *first = NULL;
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        const worker *by = &t->worker[w];
        if (by->impossible_place != UINT64_MAX &&
            (first == NULL || by->impossible_group < first->impossible_group ||
             (by->impossible_group == first->impossible_group &&
              by->impossible_place < first->impossible_place))) {
            first = by;
        }
    }
    if (first == NULL) {
        return GBS_OK;
    }
    const gbsi_plan *plan = t->setting.plan;
    const gbsi_conditioned *model = plan->model;
    const uint32_t variable = model->user_variable[plan->variable_of[first->impossible_slot]];
    const char *name = gbs_model_variable_name(model->model, variable);
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                     "variable %u%s%s%s has no state of positive weight given its neighbours: the "
                     "chain left the support",
                     variable, name == NULL ? "" : " (", name == NULL ? "" : name,
                     name == NULL ? "" : ")");
}

static uint64_t n_updates(const void *state)
{
    return ((const tiles *)state)->job.schedule->n_places;
}

/* Passes may differ in length: updates of a mean variable. */
static double operations(void *state, uint32_t n_chains)
{
    tiles *t = state;
    if (t->counted_chains != n_chains) {
        t->counted_chains = n_chains;
        t->operations_each = gbsi_operations_single(t->setting.plan, n_chains);
    }
    return t->n_updates == 0
               ? 0.0
               : t->operations_each * ((double)t->n_updates / (double)t->setting.plan->n_slots);
}

static double least_operations(const gbsi_pass_setting *setting)
{
    return gbsi_operations_single(setting->plan, setting->n_chains);
}

/* ---- life ------------------------------------------------------------------------------------ */

static size_t tile_cells(const gbsi_plan *plan)
{
    const size_t row = (size_t)GBSI_LANES * plan->max_arity;
    return row > GBSI_TILE_CELLS ? row : GBSI_TILE_CELLS;
}

static uint64_t bytes(const gbsi_pass_setting *setting)
{
    const uint64_t scratch = tile_cells(setting->plan) * sizeof(float) +
                             (WINDOW_ROWS + 1) * GBSI_LANES * (sizeof(uint32_t) + 2) +
                             sizeof(worker) + sizeof(gbsi_barrier);
    return sizeof(tiles) + setting->n_threads * scratch;
}

/* Whole groups go round the workers first; of those left over each gets a team, worker w being of
 * team w mod n_teams. */
static gbs_status make_teams(tiles *t, gbs_error *err)
{
    const uint32_t n_left = t->setting.n_groups % t->n_workers;
    if (t->n_workers == 1 || n_left == 0) {
        return GBS_OK;
    }
    t->team = gbsi_alloc_lanes(n_left, sizeof *t->team);
    if (t->team == NULL) {
        return gbsi_no_memory(err, "threads", n_left * sizeof *t->team);
    }
    for (uint32_t i = 0; i < n_left; ++i) {
        const uint32_t size = t->n_workers / n_left + (i < t->n_workers % n_left);
        if (!gbsi_barrier_init(&t->team[i], size, gbsi_pool_spins(t->setting.pool))) {
            return gbsi_no_memory(err, "threads", sizeof *t->team);
        }
        ++t->n_teams;
    }
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        t->worker[w].team = &t->team[w % n_left];
        t->worker[w].team_size = t->team[w % n_left].n;
        t->worker[w].rank = w / n_left;
        t->worker[w].shared_group = t->setting.n_groups - n_left + w % n_left;
    }
    return GBS_OK;
}

static gbs_status take_workers(tiles *t, gbs_error *err)
{
    const size_t cells = tile_cells(t->setting.plan);
    t->worker = gbsi_alloc_array_zero(t->n_workers, sizeof *t->worker);
    if (t->worker == NULL) {
        return gbsi_no_memory(err, "threads", t->n_workers * sizeof *t->worker);
    }
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        worker *by = &t->worker[w];
        by->word = gbsi_alloc_lanes((WINDOW_ROWS + 1) * GBSI_LANES, sizeof(uint32_t));
        by->w = gbsi_alloc_lanes(cells, sizeof(float));
        by->value = gbsi_alloc_lanes(GBSI_TILE_ROWS * GBSI_LANES, sizeof(uint16_t));
        if (by->word == NULL || by->w == NULL || by->value == NULL) {
            return gbsi_no_memory(err, "threads", cells * sizeof(float));
        }
    }
    return make_teams(t, err);
}

static void free_tiles(void *state)
{
    tiles *t = state;
    for (uint32_t w = 0; t != NULL && t->worker != NULL && w < t->n_workers; ++w) {
        gbsi_free(t->worker[w].word);
        gbsi_free(t->worker[w].w);
        gbsi_free(t->worker[w].value);
    }
    for (uint32_t i = 0; t != NULL && i < t->n_teams; ++i) {
        gbsi_barrier_destroy(&t->team[i]);
    }
    if (t != NULL) {
        gbsi_free(t->worker);
        gbsi_free(t->team);
        gbsi_free(t);
    }
}

static gbs_status prepare(const gbsi_pass_setting *setting, void **state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    tiles *t = gbsi_alloc_zero(sizeof *t);
    if (t == NULL) {
        return gbsi_no_memory(err, "threads", sizeof *t);
    }
    t->setting = *setting;
    t->setting.options = NULL;
    t->seed = setting->options->seed;
    t->words = gbsi_words_of(setting->level);
    t->n_workers = gbsi_pool_size(setting->pool);
    GBSI_TRY(take_workers(t, err));
    *state = t;
    t = NULL;
cleanup:
    free_tiles(t);
    return status;
}

void gbsi_tiles_words(void *state, const gbsi_words *words)
{
    ((tiles *)state)->words = words;
}

const gbsi_pass gbsi_pass_tiles = {
    .name = "tiles",
    .traits = GBSI_PASS_HEATS,
    .bytes = bytes,
    .prepare = prepare,
    .begin = begin,
    .batch = batch,
    .end = end,
    .n_updates = n_updates,
    .operations = operations,
    .least_operations = least_operations,
    .free = free_tiles,
};
