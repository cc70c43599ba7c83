/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/worker.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct room {
    uint64_t rows, entries, table, arity, most;
} room;

/* Returns three largest numbers: of rows of all separators, of entries of bases and long factors,
 * and of entries of a clique. These are the limits of growth (splash_tree.h, grow.c), or smaller
 * numbers that the model cannot exceed. */
static room room_for(const gbsi_plan *plan, uint32_t width, uint32_t most, uint64_t entries_of_root)
{
    const uint64_t k = plan->max_arity;
    uint64_t rows = 1;
    for (uint32_t j = 0; j < width && rows <= GBSI_SPLASH_TABLE; ++j) {
        rows *= k;
    }
    room r = {.rows = rows * most, .table = rows * k, .arity = k, .most = most};
    r.rows = rows > GBSI_SPLASH_ROWS || r.rows > GBSI_SPLASH_ROWS ? GBSI_SPLASH_ROWS : r.rows;
    r.table = r.table > GBSI_SPLASH_TABLE ? GBSI_SPLASH_TABLE : r.table;
    r.table = r.table < k ? k : r.table;
    r.entries = GBSI_SPLASH_ROWS < entries_of_root ? entries_of_root : GBSI_SPLASH_ROWS;
    return r;
}

/* Returns the largest number of entries that the root of a splash can have, with the entries of its
 * long factors. */
static uint64_t entries_of_root(const gbsi_potentials *p)
{
    uint64_t most = 0;
    for (uint32_t s = 0; s < p->n; ++s) {
        const uint64_t n =
            gbsi_plan_arity(p->plan, s) * (1 + (uint64_t)(p->many_start[s + 1] - p->many_start[s]));
        most = n > most ? n : most;
    }
    return most;
}

/* Returns the largest number of entries of work->base. @param many whether the model has long
 * factors. */
static uint64_t base_entries(const room *r, bool many)
{
    return many || r->most * r->arity > r->entries ? r->entries : r->most * r->arity;
}

enum { N_ARRAYS = 18 };

/* Lists all arrays of `work` except work->value, which is half a cache line. */
static void list_arrays(gbsi_splash_work *work, const room *r, bool many, gbsi_room out[N_ARRAYS])
{
    const uint64_t n_many = many ? r->entries : 0;
    const uint64_t n_base = base_entries(r, many);
#define ROWS(pointer, n)   GBSI_ROOM(pointer, (n)*GBSI_LANES, gbsi_alloc_lanes)
#define SINGLE(pointer, n) GBSI_ROOM(pointer, n, gbsi_alloc_array)
    const gbsi_room arrays[N_ARRAYS] = {
        ROWS(work->base, n_base),
        ROWS(work->many, n_many),
        ROWS(work->message, r->rows),
        ROWS(work->q, r->rows),
        ROWS(work->p, n_base),
        ROWS(work->scale, r->most),
        ROWS(work->least, r->most),
        ROWS(work->partial, (GBSI_SPLASH_WIDTH + 2) * r->arity),
        ROWS(work->w, r->arity),
        ROWS(work->x, r->most),
        ROWS(work->word, (uint64_t)GBSI_TILE_ROWS + 1),
        SINGLE(work->sum, n_many),
        SINGLE(work->decided, many ? n_many : 1),
        SINGLE(work->log_message, r->rows),
        SINGLE(work->log_q, r->rows),
        SINGLE(work->log_base, n_base * GBSI_LANES),
        SINGLE(work->log_many, n_many),
        SINGLE(work->table, r->table),
    };
#undef ROWS
#undef SINGLE
    memcpy(out, arrays, sizeof arrays);
}

uint64_t gbsi_splash_work_bytes(const gbsi_plan *plan, uint32_t width, uint32_t most)
{
    const room r = room_for(plan, width, most, plan->max_arity);
    gbsi_splash_work nothing = {0};
    gbsi_room arrays[N_ARRAYS];
    list_arrays(&nothing, &r, gbsi_count_long(plan).n > 0, arrays);
    return gbsi_rooms_bytes(arrays, N_ARRAYS);
}

gbs_status gbsi_splash_work_init(gbsi_splash_work *work, const gbsi_potentials *potentials,
                                 uint32_t width, uint32_t most, gbs_error *err)
{
    const room r = room_for(potentials->plan, width, most, entries_of_root(potentials));
    gbsi_room arrays[N_ARRAYS];
    *work = (gbsi_splash_work){.value = gbsi_alloc_lanes(GBSI_LANES, sizeof(uint16_t))};
    GBSI_PASS(GBSI_HAVE(err, "splash", work->value));
    list_arrays(work, &r, potentials->many_start[potentials->n] > 0, arrays);
    const gbs_status status = gbsi_rooms_take(arrays, N_ARRAYS, "splash", err);
    if (status < 0) {
        gbsi_splash_work_free(work);
    }
    return status;
}

void gbsi_splash_work_free(gbsi_splash_work *work)
{
    const room none = {0};
    gbsi_room arrays[N_ARRAYS];
    list_arrays(work, &none, false, arrays);
    gbsi_rooms_free(arrays, N_ARRAYS);
    gbsi_free(work->value);
    *work = (gbsi_splash_work){0};
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void note_impossible(gbsi_splash_worker *worker, const gbsi_splash_task *task, uint32_t i)
{
    if (task->place + i < worker->impossible_place) {
        worker->impossible_place = task->place + i;
        worker->impossible_slot = task->job.program->clique[i].slot;
    }
}

/* Returns the random words of a place, which are made for a window of places at a time; NULL if the
 * draw uses no random words. */
static const uint32_t *words_of(gbsi_splash_worker *worker, const gbsi_splash_task *task,
                                uint64_t place, uint64_t *window_end)
{
    if (task->sweep->draw->n_words == 0) {
        return NULL;
    }
    const uint64_t first = place / GBSI_TILE_ROWS * GBSI_TILE_ROWS;
    if (place >= *window_end) {
        worker->words->lanes16(task->seed, task->bundle * GBSI_LANES, task->pass,
                               (uint32_t)(first / 4), GBSI_TILE_ROWS / 4, GBSI_PURPOSE_UPDATE,
                               worker->work.word);
        *window_end = first + GBSI_TILE_ROWS;
    }
    assert(place < *window_end && place - first < GBSI_TILE_ROWS);
    return worker->work.word + (place - first) * GBSI_LANES;
}

/* Draws a row if every group has one chain. The weights of the drawing method belong to groups, so
 * that each chain is drawn alone, in lane 0 of a separate row. @param tile the tile of the whole
 * row. */
static void draw_chains(gbsi_splash_worker *worker, const gbsi_splash_task *task, gbsi_tile tile,
                        uint32_t *x)
{
    const gbsi_splash_work *work = &worker->work;
    uint32_t *own_word = work->word + (size_t)GBSI_TILE_ROWS * GBSI_LANES;
    const float *w = tile.w;
    const uint32_t *word = tile.word;
    const unsigned idle = tile.idle;
    tile.lanes = 1;
    tile.idle = 0;
    tile.w = work->partial; /* scratch memory of the walks over cliques, which is not used during
                               draws */
    tile.word = word == NULL ? NULL : own_word;
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        if ((idle >> lane & 1u) != 0) {
            x[lane] = 0;
            continue;
        }
        for (size_t cell = 0; cell < (size_t)tile.arity * GBSI_LANES; ++cell) {
            tile.w[cell] = w[cell / GBSI_LANES * GBSI_LANES + lane];
        }
        for (uint32_t l = 0; word != NULL && l < GBSI_LANES; ++l) {
            own_word[l] = word[lane];
        }
        tile.chain = tile.group = task->bundle * GBSI_LANES + lane;
        task->sweep->draw->categorical(task->sweep->draw_state, &tile);
        x[lane] = gbsi_state_at(tile.value, 0, tile.value_bytes);
    }
}

/* Draws a row of values from work->w. @param idle a bit for each lane that may get any state.
 * @param x [GBSI_LANES] out. */
static void draw_row(gbsi_splash_worker *worker, const gbsi_splash_task *task, uint32_t i,
                     const uint32_t *word, unsigned idle, uint32_t *x)
{
    const gbsi_draw *draw = task->sweep->draw;
    const gbsi_splash_clique *c = &task->job.program->clique[i];
    gbsi_tile tile = {.linear = 1,
                      .value_bytes = (uint8_t)task->setting->plan->value_bytes,
                      .lanes = GBSI_LANES,
                      .arity = c->arity,
                      .n_places = 1,
                      .n_rows = 1,
                      .first_slot = c->slot,
                      .contiguous = 1,
                      .seed = task->seed,
                      .pass = task->pass,
                      .place = task->place + i,
                      .chain = task->bundle * GBSI_LANES,
                      .group = task->bundle,
                      .idle = (uint16_t)idle,
                      .word = word,
                      .w = worker->work.w,
                      .value = worker->work.value};
    if (draw->init != NULL && task->setting->lanes == 1) {
        draw_chains(worker, task, tile, x);
        return;
    }
    draw->categorical(task->sweep->draw_state, &tile);
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        x[lane] = gbsi_state_at(tile.value, lane, tile.value_bytes);
    }
}

/* Draws states for all chains; chains in `bad` get an arbitrary state. */
static void draw_lanes(gbsi_splash_worker *worker, const gbsi_splash_task *task, unsigned bad)
{
    uint64_t window_end = 0;
    for (uint32_t i = 0; i < task->job.program->n; ++i) {
        if (worker->loops->weigh(&task->job, i, bad) != 0) {
            note_impossible(worker, task, i);
        }
        draw_row(worker, task, i, words_of(worker, task, task->place + i, &window_end), bad,
                 worker->work.x + (size_t)i * GBSI_LANES);
    }
}

static void draw_by_logs(gbsi_splash_worker *worker, const gbsi_splash_task *task, uint32_t lane)
{
    uint64_t window_end = 0;
    if (!gbsi_logs_up(&task->job, lane)) {
        note_impossible(worker, task, 0);
        return;
    }
    for (uint32_t i = 0; i < task->job.program->n; ++i) {
        if (!gbsi_logs_weigh(&task->job, i, lane)) {
            note_impossible(worker, task, i);
        }
        uint32_t x[GBSI_LANES];
        draw_row(worker, task, i, words_of(worker, task, task->place + i, &window_end),
                 ~(1u << lane) & 0xFFFFu, x);
        worker->work.x[(size_t)i * GBSI_LANES + lane] = x[lane];
    }
}

static void store_states(const gbsi_splash_task *task, unsigned real)
{
    for (uint32_t i = 0; i < task->job.program->n; ++i) {
        const uint32_t slot = task->job.program->clique[i].slot;
        const uint32_t *x = task->job.work->x + (size_t)i * GBSI_LANES;
        for (uint32_t lane = 0; real >> lane != 0; ++lane) {
            assert(x[lane] < task->job.program->clique[i].arity);
            gbsi_view_set(task->job.view, slot, lane, x[lane]);
        }
    }
}

/* ---- estimates ------------------------------------------------------------------------------- */

static gbsi_tile tile_of(const gbsi_splash_task *task, const gbsi_splash_clique *c, float *p)
{
    return (gbsi_tile){.value_bytes = (uint8_t)task->setting->plan->value_bytes,
                       .lanes = (uint8_t)task->setting->lanes,
                       .arity = c->arity,
                       .n_places = 1,
                       .n_rows = 1,
                       .first_slot = c->slot,
                       .contiguous = 1,
                       .pass = task->sweep->pass,
                       .p = p};
}

/* Feeds the estimate if every group has one chain. Each group then reads its probabilities from
 * lane 0. */
static void keep_chains(const gbsi_splash_task *task, const gbsi_splash_clique *c, const float *p)
{
    float *own = task->job.work->w;
    for (uint32_t lane = 0; lane < task->job.view->n; ++lane) {
        for (uint32_t a = 0; a < c->arity; ++a) {
            own[(size_t)a * GBSI_LANES] = p[(size_t)a * GBSI_LANES + lane];
        }
        const gbsi_tile tile = tile_of(task, c, own);
        gbsi_estimate_tile(task->sweep->estimate, task->bundle * GBSI_LANES + lane, &tile);
    }
}

static void keep_marginals(const gbsi_splash_task *task)
{
    for (uint32_t i = 0; i < task->job.program->n; ++i) {
        const gbsi_splash_clique *c = &task->job.program->clique[i];
        float *p = task->job.work->p + (size_t)c->base * GBSI_LANES;
        if (task->setting->lanes == 1) {
            keep_chains(task, c, p);
        } else {
            const gbsi_tile tile = tile_of(task, c, p);
            gbsi_estimate_tile(task->sweep->estimate, task->bundle, &tile);
        }
    }
}

/* Tells the watch that n_operations are about to be done. @return whether to stop. */
static bool spend(const gbsi_splash_worker *worker, uint64_t n_operations)
{
    return worker->spends ? gbsi_watch_spend(worker->watch, n_operations)
                          : gbsi_watch_stopped(worker->watch);
}

/* Returns the number of operations of one walk over the cliques of a program: entries of cliques,
 * operands of cliques, and factors with variables outside. */
static uint64_t cost_of(const gbsi_splash_program *program)
{
    return program->n_entries + program->n_operands + program->n_outer + program->n_many_entries;
}

/* Draws a splash. The results of a chain do not depend on the other chains of the bundle. */
void gbsi_splash_draw(gbsi_splash_worker *worker, const gbsi_splash_task *task)
{
    const gbsi_splash_job *job = &task->job;
    const unsigned real = (1u << job->view->n) - 1;
    const bool keeps = task->sweep->estimate != NULL && task->sweep->rao_blackwell;
    const uint64_t cost = cost_of(job->program);
    unsigned bad = 0xFFFFu;
    if (spend(worker, cost)) {
        return; /* no state has changed yet */
    }
    if (!job->program->precise) {
        if (job->program->n_many > 0) {
            gbsi_splash_fill_many(job);
        }
        worker->loops->base(job);
        bad = worker->loops->up(job) | (~real & 0xFFFFu);
    }
    if ((bad & real) != real) {
        (void)spend(worker, cost);
        draw_lanes(worker, task, bad);
        if (keeps) {
            worker->loops->down(job);
        }
    }
    if ((bad & real) != 0) {
        gbsi_logs_outside(job, bad & real);
    }
    for (uint32_t lane = 0; lane < job->view->n; ++lane) {
        if ((bad >> lane & 1u) != 0) {
            if (spend(worker, 2 * cost)) {
                return;
            }
            draw_by_logs(worker, task, lane);
            worker->n_log_entries += job->program->n_entries;
            if (keeps) {
                gbsi_logs_down(job, lane);
            }
        }
    }
    store_states(task, real);
    if (keeps) {
        keep_marginals(task);
    }
}
