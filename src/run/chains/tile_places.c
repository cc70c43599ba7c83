/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the places of one group in equal steps for every scan, class of updates and drawing method:
 * random words, kernel, draw, store, estimate. The functions allocate no memory; they call function
 * pointers once per tile, never once per variable. */
#include <assert.h>
#include <string.h>

#include "chains/tiles_inside.h"
#include "estimate/estimate.h"

/* Random words of a group, made for a window of places at a time. */
typedef struct window {
    uint64_t first, end; /* range of the places of the window */
} window;

/* Number of blocks of four places whose random words are made between two prefetches of sums. The
 * sums arrive from memory while random words are made. If all prefetches were made at once, the
 * thread would wait for memory. */
#define STRETCH 4u

/* @param shift difference between the global number of a place and its number in the schedule. */
static void fill_rows(const gbsi_tiles *t, const gbsi_tile_worker *by, uint32_t g,
                      const gbsi_piece *piece, uint64_t shift, const window *w)
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
        t->words->lanes16(t->seed, t->setting.first_chain + g * t->setting.lanes, t->job.pass,
                          (uint32_t)(first / 4), n, GBSI_PURPOSE_UPDATE,
                          by->word + (size_t)b * 4 * GBSI_LANES);
    }
}

/* @param place global number of the place. */
static void fill_window(const gbsi_tiles *t, const gbsi_tile_worker *by, uint32_t g,
                        const gbsi_piece *piece, uint64_t shift, uint64_t place, window *w)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const uint32_t lanes = t->setting.lanes;
    const uint64_t length = lanes == 1 ? GBSI_WINDOW_ROWS * GBSI_LANES : GBSI_WINDOW_ROWS;
    const uint64_t end =
        schedule->global == NULL ? schedule->n_places : piece->place + shift + piece->n;
    w->first = place / length * length;
    w->end = end - w->first < length ? end : w->first + length;
    if (t->job.draw->n_words == 0) {
        return; /* a drawing method without random numbers needs no words */
    }
    if (lanes == 1) {
        const uint32_t n_blocks = (uint32_t)((w->end - w->first + 63) / 64 * 16);
        t->words->lanes1(t->seed, t->setting.first_chain + g, t->job.pass, (uint32_t)(w->first / 4),
                         n_blocks, by->word);
    } else {
        fill_rows(t, by, g, piece, shift, w);
    }
}

/* Writes the drawn values of a tile into the states of its group. */
static void scatter(const gbsi_group *group, const gbsi_tile *tile)
{
    const size_t bytes =
        (size_t)tile->lanes * tile->value_bytes; /* bytes of the states of one slot */
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

/* Multiplies one row of k log-weights, or one row of log-odds, by inverse temperatures. Minus
 * infinity is not changed. The largest log-weight is first subtracted from all, which keeps
 * products within the range of float. */
static void heat_row(float *w, size_t k, const float *beta)
{
    float top[GBSI_LANES] = {0.0F};
    if (k > 1) {
        memcpy(top, w, sizeof top);
    }
    for (size_t a = 1; a < k; ++a) {
        for (size_t i = 0; i < GBSI_LANES; ++i) {
            top[i] = w[a * GBSI_LANES + i] > top[i] ? w[a * GBSI_LANES + i] : top[i];
        }
    }
    for (size_t a = 0; a < k; ++a) {
        float *at = w + a * GBSI_LANES;
        for (size_t i = 0; i < GBSI_LANES; ++i) {
            const float heated = (at[i] - top[i]) * beta[i];
            at[i] = at[i] > -3.0e38F ? heated : at[i];
        }
    }
}

/* Applies the inverse temperatures to a tile. The plan was compiled for chains at temperatures, and
 * no slot is linear. */
static void heat(gbsi_tile *tile)
{
    const size_t k = tile->odds ? 1 : tile->arity;
    float beta[GBSI_LANES];
    assert(!tile->linear);
    for (size_t i = 0; i < GBSI_LANES; ++i) {
        beta[i] = tile->beta[tile->lanes == 1 ? 0 : i];
    }
    for (size_t row = 0; row < tile->n_rows; ++row) {
        heat_row(tile->w + row * k * GBSI_LANES, k, beta);
    }
}

/* The number of places in the next tile: as many as a tile has room for and the window has words
 * for. If a group has a single chain, a tile also ends where a slice of GBSI_LANES slots ends. */
static uint32_t next_places(const gbsi_tiles *t, const gbsi_piece *piece, uint32_t done,
                            uint64_t in_window)
{
    const uint32_t lanes = t->setting.lanes;
    const uint32_t width = (piece->form & GBSI_ODDS) != 0 ? 2 : piece->arity;
    uint32_t rows = GBSI_TILE_CELLS / (GBSI_LANES * width);
    rows = rows < 1 ? 1 : (rows > GBSI_TILE_ROWS ? GBSI_TILE_ROWS : rows);
    uint64_t n = lanes == 1 ? (uint64_t)rows * GBSI_LANES : rows;
    const uint32_t first_slot = piece->first_slot + done;
    if (lanes == 1 && piece->contiguous && first_slot % GBSI_LANES != 0) {
        n = GBSI_LANES - first_slot % GBSI_LANES; /* up to the start of the next slice */
    }
    assert(in_window > 0 && done < piece->n);
    n = n < in_window ? n : in_window;
    return (uint32_t)(n < piece->n - done ? n : piece->n - done);
}

/* The states that updates of a group read: t->before, if updates read the states before the pass.
 */
static const gbsi_group *read_by(const gbsi_tiles *t, uint32_t g)
{
    return t->before != NULL ? &t->before[g] : &t->setting.group[g];
}

static void fill(const gbsi_tiles *t, const gbsi_group *group, gbsi_tile *tile)
{
    const gbsi_kernel *kernel = gbsi_kernel_of((gbsi_class)tile->class_id, t->setting.level);
    (tile->lanes == 1 ? kernel->fill1 : kernel->fill16)(t->setting.plan, group, tile);
}

static void run_tile(const gbsi_tiles *t, gbsi_group *group, gbsi_tile *tile)
{
    const gbsi_draw *draw = t->job.draw;
    const gbsi_plan *plan = t->setting.plan;
    if (!t->filled && (draw->traits & GBSI_DRAW_TABLED) == 0) {
        fill(t, read_by(t, tile->group), tile);
    }
    if (tile->beta != NULL) {
        heat(tile);
    }
    (tile->odds ? draw->binary : draw->categorical)(t->job.draw_state, tile);
    if (group->counter != NULL && t->before == NULL) {
        gbsi_counters_commit(plan, group, tile);
    }
    scatter(group, tile);
}

static void note_impossible(gbsi_tile_worker *by, const gbsi_tile *tile, uint32_t g)
{
    if (by->impossible_place == UINT64_MAX) {
        const uint32_t place = tile->flag_place < tile->n_places ? tile->flag_place : 0;
        by->impossible_group = g;
        by->impossible_place = tile->place + place;
        by->impossible_slot = gbsi_tile_slot(tile, place);
    }
}

/* Adds the conditional probabilities of a tile to the estimate. If the estimate counts states, adds
 * the drawn states, provided that they do not change again in this pass. */
static void feed_estimate(const gbsi_tiles *t, uint32_t g, const gbsi_tile *tile)
{
    if (tile->p != NULL) {
        gbsi_estimate_tile(t->job.estimate, g, tile);
    } else if (t->tiles_counted) {
        gbsi_estimate_state(t->job.estimate, g, t->setting.group[g].state, tile->first_slot,
                            tile->first_slot + tile->n_places);
    }
}

/* Finds the next tile of a group: n places, from a given place of the schedule on. */
static gbsi_tile tile_at(const gbsi_tiles *t, gbsi_tile_worker *by, uint32_t g,
                         const gbsi_piece *piece, uint64_t place, uint32_t n)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const gbsi_pass_job *job = &t->job;
    const uint32_t lanes = t->setting.lanes;
    float *w = t->is_long ? t->w + g * gbsi_tile_cells(t->setting.plan) : by->w;
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
                       .chain = t->setting.first_chain + g * lanes,
                       .group = g,
                       .state = read_by(t, g)->state,
                       .beta = job->beta == NULL ? NULL : job->beta + (size_t)g * lanes,
                       .w = w,
                       .value = by->value,
                       .p =
                           job->estimate != NULL && job->rao_blackwell && piece->counts ? w : NULL};
}

size_t gbsi_piece_of(const gbsi_schedule *schedule, uint64_t place)
{
    size_t low = 0;
    size_t high = schedule->n_pieces;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (schedule->piece[middle].place <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Runs places [first, end) of a group, which lie in the pieces from *piece_id on. On return,
 * *piece_id is the last piece that has one of these places. */
static void run_places(const gbsi_tiles *t, gbsi_tile_worker *by, uint32_t g, uint64_t first,
                       uint64_t end, size_t *piece_id)
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
        assert(global >= w.first &&
               global + n <= w.end); /* the buffer holds the random words of these places */
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

bool gbsi_tiles_fill_long(const gbsi_tiles *t)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const gbsi_piece *piece = &schedule->piece[gbsi_piece_of(schedule, t->first_place)];
    for (uint32_t g = 0; g < t->setting.n_groups && !gbsi_watch_stopped(t->job.watch); ++g) {
        gbsi_tile tile = tile_at(t, &t->worker[0], g, piece, t->first_place, 1);
        const double operations =
            gbsi_operations_update(t->setting.plan, gbsi_tile_slot(&tile, 0), t->setting.n_chains) /
            tile.arity;
        const double block = t->between_looks / operations;
        tile.watch = t->job.watch;
        tile.operations = (uint64_t)operations;
        tile.block = block < 1.0 ? 1 : (uint32_t)block;
        fill(t, read_by(t, g), &tile);
    }
    return !gbsi_watch_stopped(t->job.watch);
}

/* Whether states are counted now: they are counted once in a pass, after its last batch. */
static bool counts_now(const gbsi_tiles *t)
{
    return t->job.estimate != NULL && !t->job.rao_blackwell && !t->tiles_counted &&
           t->end_place == t->job.schedule->n_places;
}

/* The first place of a batch. If other processes run parts of the pass, a batch may have no places
 * in this process. */
uint64_t gbsi_batch_place(const gbsi_schedule *schedule, uint32_t batch)
{
    const size_t piece =
        batch < schedule->n_batches ? schedule->batch_start[batch] : schedule->n_pieces;
    return piece < schedule->n_pieces ? schedule->piece[piece].place : schedule->n_places;
}

static bool is_shared(const gbsi_tiles *t, uint32_t batch)
{
    const gbsi_schedule *schedule = t->job.schedule;
    return (gbsi_batch_place(schedule, batch + 1) - gbsi_batch_place(schedule, batch)) *
               t->setting.lanes >=
           GBSI_LEAST_SHARED;
}

/* The place where the batch or the stretch ends, the earlier of the two. */
static uint64_t end_of(const gbsi_tiles *t, uint32_t batch)
{
    const uint64_t end = gbsi_batch_place(t->job.schedule, batch + 1);
    return end < t->end_place ? end : t->end_place;
}

/* Runs the worker's part of a group that a team of workers shares. All threads of the team walk
 * through the same batches and meet at the same barriers. */
static void run_with_team(const gbsi_tiles *t, gbsi_tile_worker *by)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const uint64_t unit = GBSI_WINDOW_ROWS * (t->setting.lanes == 1 ? GBSI_LANES : 1);
    const uint32_t g = by->shared_group;
    uint64_t place = t->first_place;
    for (uint32_t batch = t->stretch_batch; place < t->end_place;) {
        uint64_t first = place;
        uint64_t end = first;
        size_t piece = first == gbsi_batch_place(schedule, batch) ? schedule->batch_start[batch]
                                                                  : gbsi_piece_of(schedule, first);
        if (is_shared(t, batch)) {
            place = end_of(t, batch++);
            const uint64_t skew =
                first % unit; /* the group is cut where windows of random words begin */
            uint64_t from = 0;
            gbsi_pool_share(place - first + skew, unit, by->rank, by->team_size, &from, &end);
            end = first + (end > skew ? end - skew : 0);
            first += from > skew ? from - skew : 0;
        } else {
            while (place < t->end_place && !is_shared(t, batch)) {
                place = end_of(t, batch++);
            }
            end = by->rank == 0 ? place : first;
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

/* Runs the places of the present stretch in one group, by one worker. */
void gbsi_tiles_run_group(const gbsi_tiles *t, gbsi_tile_worker *by, uint32_t g)
{
    size_t piece = t->first_place == 0 ? 0 : gbsi_piece_of(t->job.schedule, t->first_place);
    run_places(t, by, g, t->first_place, t->end_place, &piece);
    if (counts_now(t)) {
        gbsi_estimate_state(t->job.estimate, g, t->setting.group[g].state, 0,
                            t->setting.plan->n_slots);
    }
}

void gbsi_tiles_run_member(void *context, uint32_t member)
{
    const gbsi_tiles *t = context;
    gbsi_tile_worker *by = &t->worker[member];
    const uint32_t n_whole = t->setting.n_groups - t->n_teams;
    for (uint32_t g = member; g < n_whole; g += t->n_workers) {
        gbsi_tiles_run_group(t, by, g);
    }
    if (by->team != NULL) {
        run_with_team(t, by);
    }
}
