/* SPDX-License-Identifier: Apache-2.0 */
/* Passes that update one variable after the other.
 *
 * Threads: whole groups are independent, and are first dealt to the workers in turn. For each group
 * left over, several workers form a team. The places of a batch are mutually non-adjacent. The
 * members of the team divide the places among themselves, run them, and then meet at a barrier.
 * Batches too small to be worth a barrier are run by one member of the team, together with
 * neighbouring batches. The result of an update does not depend on the thread that runs the update.
 *
 * The watch: a long pass is cut into stretches. All groups reach the end of a stretch before the
 * next one begins, and the watch is asked between two stretches. If the watch stops the pass, all
 * chains have made the same updates. An update that takes long by itself is a stretch that the
 * calling thread runs alone. The kernel of such an update asks the watch too; if the watch stops
 * the kernel, no chain has made the update. */
#include "chains/tiles_inside.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/estimate.h"
#include "store/model.h"

/* Number of operations between two looks at the watch. */
#define BETWEEN_LOOKS 3.0e7
#define LONG          2.0 /* an update is long if it takes this many times BETWEEN_LOOKS */

/* Number of bytes of the states of one group. */
static size_t state_bytes(const gbsi_pass_setting *setting)
{
    return (size_t)setting->plan->n_slots * setting->lanes * setting->plan->value_bytes;
}

/* Whether a pass is too small for several threads, because it would end before a second thread
 * has woken up. */
static bool is_small(const gbsi_tiles *t)
{
    return t->job.schedule->n_places * t->setting.lanes * t->setting.n_groups <
           2 * GBSI_LEAST_SHARED;
}

/* Number of chains for which the cost of updates is computed. A rank without chains computes the
 * cost for one chain. */
static uint32_t at_work(const gbsi_pass_setting *setting)
{
    return setting->n_chains > 0 ? setting->n_chains : 1;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static gbs_status begin(void *state, const gbsi_pass_job *job, gbs_error *err)
{
    gbsi_tiles *t = state;
    const bool once = job->estimate != NULL && job->schedule->slot == NULL &&
                      gbsi_estimate_each_once(job->estimate);
    t->job = *job;
    t->end_batch = 0;
    t->end_place = 0;
    t->next_cut = 0;
    t->tiles_counted = !job->rao_blackwell && once && job->schedule->global == NULL;
    t->far = job->estimate != NULL && (job->rao_blackwell || once) &&
             gbsi_estimate_is_far(job->estimate);
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        t->worker[w].impossible_place = UINT64_MAX;
    }
    for (uint32_t g = 0; t->before != NULL && g < t->setting.n_groups; ++g) {
        memcpy(t->before[g].state, t->setting.group[g].state, state_bytes(&t->setting));
        t->before[g].counter = t->setting.group[g].counter;
    }
    return job->draw->begin_pass == NULL ? GBS_OK
                                         : job->draw->begin_pass(job->draw_state, job->schedule,
                                                                 t->setting.group, job->pass, err);
}

/* Whether cuts between stretches are given as slots. Passes that do not visit the slots in order
 * are cut into equal parts. */
static bool is_cut_by_slot(const gbsi_tiles *t)
{
    const gbsi_schedule *schedule = t->job.schedule;
    return schedule->slot == NULL && schedule->n_places == t->setting.plan->n_slots;
}

static uint64_t cut_place(const gbsi_tiles *t, uint32_t cut)
{
    const uint64_t n_places = t->job.schedule->n_places;
    if (cut + 1 >= t->n_cuts) {
        return n_places;
    }
    return is_cut_by_slot(t) ? t->cut[cut].end : n_places / t->n_cuts * (cut + 1);
}

/* Makes the stretch end before a long update, or consist of nothing except this update. */
static void part_long(gbsi_tiles *t)
{
    const gbsi_schedule *schedule = t->job.schedule;
    const gbsi_plan *plan = t->setting.plan;
    size_t p = gbsi_piece_of(schedule, t->first_place);
    for (uint64_t place = t->first_place; place < t->end_place; ++place) {
        p += place >= schedule->piece[p].place + schedule->piece[p].n;
        const gbsi_piece *piece = &schedule->piece[p];
        const uint32_t slot = gbsi_piece_slot(schedule, piece, (uint32_t)(place - piece->place));
        if (gbsi_operations_update(plan, slot, at_work(&t->setting)) >= LONG * t->between_looks) {
            t->is_long = place == t->first_place;
            t->end_place = t->is_long ? place + 1 : place;
        }
    }
}

/* Begins the next stretch, which starts where the last stretch ended. The stretch ends at the next
 * cut or at `end`, whichever comes first. */
static void next_stretch(gbsi_tiles *t, uint64_t end)
{
    const gbsi_schedule *schedule = t->job.schedule;
    t->first_place = t->end_place;
    while (cut_place(t, t->next_cut) <= t->first_place && t->next_cut < t->n_cuts) {
        ++t->next_cut;
    }
    const uint64_t cut = cut_place(t, t->next_cut);
    t->end_place = cut < end ? cut : end;
    t->is_long = false;
    if (t->w != NULL) {
        part_long(t);
    }
    while (t->stretch_batch + 1 < t->end_batch &&
           gbsi_batch_place(schedule, t->stretch_batch + 1) <= t->first_place) {
        ++t->stretch_batch;
    }
}

/* Number of operations of the stretch that was run. The stretch may have ended before its cut,
 * where the requested batches ended. */
static uint64_t stretch_operations(const gbsi_tiles *t)
{
    if (t->is_long) {
        return GBSI_WATCH_EVERY; /* the kernels have asked the watch themselves */
    }
    const uint64_t first = t->next_cut == 0 ? 0 : cut_place(t, t->next_cut - 1);
    const double n = (double)(cut_place(t, t->next_cut) - first);
    const double each = is_cut_by_slot(t) ? t->cut[t->next_cut].operations / n
                                          : t->operations_short / t->setting.plan->n_slots;
    return (uint64_t)(each * (double)(t->end_place - t->first_place));
}

static void run_stretch(gbsi_tiles *t)
{
    t->filled = t->is_long && (t->job.draw->traits & GBSI_DRAW_TABLED) == 0;
    if (t->filled && !gbsi_tiles_fill_long(t)) {
        t->end_place = t->first_place;
    } else if (t->n_workers == 1 || t->is_long || is_small(t)) {
        for (uint32_t g = 0; g < t->setting.n_groups; ++g) {
            gbsi_tiles_run_group(t, &t->worker[0], g);
        }
    } else {
        gbsi_pool_run(t->setting.pool, gbsi_tiles_run_member, t);
    }
}

static gbs_status batch(void *state, uint32_t most, bool *more, gbs_error *err)
{
    gbsi_tiles *t = state;
    const gbsi_schedule *schedule = t->job.schedule;
    const uint32_t n_batches = schedule->n_batches;
    bool stopped = false;
    (void)err;
    t->first_batch = t->end_batch;
    t->stretch_batch = t->first_batch;
    t->end_batch = n_batches - t->first_batch < most ? n_batches : t->first_batch + most;
    const uint64_t end = gbsi_batch_place(schedule, t->end_batch);
    do {
        next_stretch(t, end);
        if (t->first_place <
            t->end_place) { /* states are counted once, when the last place has been run */
            run_stretch(t);
        }
        assert(t->first_place <= t->end_place && t->end_place <= end);
        stopped = (t->n_cuts > 1 || t->w != NULL) && t->end_place < schedule->n_places &&
                  gbsi_watch_spend(t->job.watch, stretch_operations(t));
    } while (t->end_place < end && !stopped);
    *more = t->end_batch < n_batches && !stopped;
    return GBS_OK;
}

/* Adds a pass that was cut short to the estimate. If states are counted after a pass, they are
 * counted now. If the states of slots were added tile by tile, the estimate is told which slots
 * were added. */
static void keep_cut(const gbsi_tiles *t)
{
    const gbsi_schedule *schedule = t->job.schedule;
    struct gbsi_estimate *estimate = t->job.estimate;
    if (!t->job.rao_blackwell && !t->tiles_counted) {
        for (uint32_t g = 0; g < t->setting.n_groups; ++g) {
            gbsi_estimate_state(estimate, g, t->setting.group[g].state, 0,
                                t->setting.plan->n_slots);
        }
        return;
    }
    for (size_t p = 0; gbsi_estimate_each_once(estimate) && p < schedule->n_pieces; ++p) {
        const gbsi_piece *piece = &schedule->piece[p];
        for (uint32_t i = 0; i < piece->n && piece->place + i < t->end_place; ++i) {
            gbsi_estimate_cut(estimate, gbsi_piece_slot(schedule, piece, i));
        }
    }
}

static gbs_status find_impossible(const gbsi_tiles *t, gbs_error *err)
{
    const gbsi_tile_worker *first = NULL;
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        const gbsi_tile_worker *by = &t->worker[w];
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
    return gbsi_fail(err, GBS_ERR_NOT_FOUND,
                     "variable %u%s%s%s has no state of positive weight given its neighbours: the "
                     "chain left the support",
                     variable, name == NULL ? "" : " (", name == NULL ? "" : name,
                     name == NULL ? "" : ")");
}

static gbs_status end(void *state, gbs_error *err)
{
    gbsi_tiles *t = state;
    const bool is_cut = t->end_place < t->job.schedule->n_places;
    t->n_updates += t->end_place;
    if (is_cut && t->job.estimate != NULL) {
        keep_cut(t);
    }
    for (uint32_t g = 0; t->before != NULL && g < t->setting.n_groups; ++g) {
        if (t->setting.group[g].counter != NULL) {
            gbsi_counters_init(t->setting.plan, t->setting.lanes, &t->setting.group[g]);
        }
    }
    const gbs_status status = find_impossible(t, err);
    return status == GBS_OK && is_cut ? GBS_STOPPED : status;
}

static uint64_t n_updates(const void *state)
{
    return ((const gbsi_tiles *)state)->end_place;
}

/* Operations of a pass. Passes may differ in length; a pass is counted as its number of updates of
 * a variable of average cost. */
static double operations(void *state, uint32_t n_chains)
{
    gbsi_tiles *t = state;
    if (t->counted_chains != n_chains) {
        t->counted_chains = n_chains;
        t->operations_each = gbsi_operations_single(t->setting.plan, n_chains, INFINITY);
    }
    return t->n_updates == 0
               ? 0.0
               : t->operations_each * ((double)t->n_updates / (double)t->setting.plan->n_slots);
}

static double least_operations(const gbsi_pass_setting *setting)
{
    return gbsi_operations_single(setting->plan, at_work(setting), INFINITY);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Whether some updates take so long that the kernel must ask the watch. Updates of
 * variables with two states are never so long. */
static bool has_long(const gbsi_pass_setting *setting, double between_looks)
{
    const gbsi_plan *plan = setting->plan;
    const uint32_t n = at_work(setting);
    return plan->max_arity > 2 && gbsi_operations_single(plan, n, LONG * between_looks) <
                                      gbsi_operations_single(plan, n, INFINITY);
}

static uint64_t bytes(const gbsi_pass_setting *setting)
{
    const uint64_t scratch = gbsi_tile_cells(setting->plan) * sizeof(float) +
                             (GBSI_WINDOW_ROWS + 1) * GBSI_LANES * (sizeof(uint32_t) + 2) +
                             sizeof(gbsi_tile_worker) + sizeof(gbsi_barrier);
    const size_t held = has_long(setting, BETWEEN_LOOKS)
                            ? setting->n_groups * gbsi_tile_cells(setting->plan) * sizeof(float)
                            : 0;
    const uint64_t before = setting->plan->at_once
                                ? setting->n_groups * (sizeof(gbsi_group) + state_bytes(setting))
                                : 0;
    return sizeof(gbsi_tiles) + setting->n_threads * scratch + held + before;
}

/* Makes teams for groups that several workers share. Whole groups are dealt to the workers first.
 * Each group left over gets a team: worker w is in team w mod n_teams. */
static gbs_status make_teams(gbsi_tiles *t, gbs_error *err)
{
    const uint32_t n_left = t->setting.n_groups % t->n_workers;
    if (t->n_workers == 1 || n_left == 0) {
        return GBS_OK;
    }
    t->team = gbsi_alloc_lanes(n_left, sizeof *t->team);
    GBSI_PASS(GBSI_HAVE(err, "threads", t->team));
    for (uint32_t i = 0; i < n_left; ++i) {
        const uint32_t size = t->n_workers / n_left + (i < t->n_workers % n_left);
        if (!gbsi_barrier_init(&t->team[i], size, gbsi_pool_spins(t->setting.pool))) {
            return gbsi_no_memory(err, "threads", sizeof *t->team);
        }
        ++t->n_teams;
    }
    assert(t->n_teams == n_left && n_left < t->n_workers); /* every worker is in a team */
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        t->worker[w].team = &t->team[w % n_left];
        t->worker[w].team_size = t->team[w % n_left].n;
        t->worker[w].rank = w / n_left;
        t->worker[w].shared_group = t->setting.n_groups - n_left + w % n_left;
    }
    return GBS_OK;
}

static gbs_status take_workers(gbsi_tiles *t, gbs_error *err)
{
    const size_t cells = gbsi_tile_cells(t->setting.plan);
    t->worker = gbsi_alloc_array_zero(t->n_workers, sizeof *t->worker);
    GBSI_PASS(GBSI_HAVE(err, "threads", t->worker));
    for (uint32_t w = 0; w < t->n_workers; ++w) {
        gbsi_tile_worker *by = &t->worker[w];
        by->word = gbsi_alloc_lanes((GBSI_WINDOW_ROWS + 1) * GBSI_LANES, sizeof(uint32_t));
        by->w = gbsi_alloc_lanes(cells, sizeof(float));
        by->value = gbsi_alloc_lanes(GBSI_TILE_ROWS * GBSI_LANES, sizeof(uint16_t));
        GBSI_PASS(GBSI_HAVE(err, "threads", by->word, by->w, by->value));
    }
    return make_teams(t, err);
}

static gbs_status take_before(gbsi_tiles *t, gbs_error *err)
{
    if (!t->setting.plan->at_once) {
        return GBS_OK;
    }
    t->before = gbsi_alloc_array_zero(t->setting.n_groups, sizeof *t->before);
    GBSI_PASS(GBSI_HAVE(err, "chains", t->before));
    for (uint32_t g = 0; g < t->setting.n_groups; ++g) {
        t->before[g].state = gbsi_alloc_lanes(state_bytes(&t->setting), 1);
        GBSI_PASS(GBSI_HAVE(err, "chains", t->before[g].state));
    }
    return GBS_OK;
}

static void free_tiles(void *state)
{
    gbsi_tiles *t = state;
    for (uint32_t w = 0; t != NULL && t->worker != NULL && w < t->n_workers; ++w) {
        GBSI_FREE(t->worker[w].word, t->worker[w].w, t->worker[w].value);
    }
    for (uint32_t i = 0; t != NULL && i < t->n_teams; ++i) {
        gbsi_barrier_destroy(&t->team[i]);
    }
    if (t != NULL) {
        for (uint32_t g = 0; t->before != NULL && g < t->setting.n_groups; ++g) {
            gbsi_free(t->before[g].state);
        }
        GBSI_FREE(t->before, t->worker, t->team, t->w, t);
    }
}

gbs_status gbsi_tiles_look_every(void *state, double operations, gbs_error *err)
{
    gbsi_tiles *t = state;
    const gbsi_pass_setting *setting = &t->setting;
    const double below = LONG * operations;
    t->between_looks = operations;
    t->operations_short = gbsi_operations_single(setting->plan, at_work(setting), below);
    t->n_cuts = gbsi_operations_cut(setting->plan, at_work(setting), below, t->operations_short,
                                    operations, GBSI_MOST_CUTS, t->cut);
    gbsi_free(t->w);
    t->w = NULL;
    if (has_long(setting, operations)) {
        const size_t cells = setting->n_groups * gbsi_tile_cells(setting->plan);
        t->w = gbsi_alloc_lanes(cells, sizeof *t->w);
        return GBSI_HAVE(err, "long updates", t->w);
    }
    return GBS_OK;
}

static gbs_status prepare(const gbsi_pass_setting *setting, void **state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tiles *t = gbsi_alloc_zero(sizeof *t);
    GBSI_PASS(GBSI_HAVE(err, "threads", t));
    t->setting = *setting;
    t->setting.options = NULL;
    t->seed = setting->options->seed;
    t->words = gbsi_words_of(setting->level);
    t->n_workers = gbsi_pool_size(setting->pool);
    GBSI_TRY(take_workers(t, err));
    GBSI_TRY(take_before(t, err));
    t->counted_chains = at_work(setting);
    t->operations_each = gbsi_operations_single(setting->plan, at_work(setting), INFINITY);
    GBSI_TRY(gbsi_tiles_look_every(t, BETWEEN_LOOKS, err));
    *state = t;
    t = NULL;
cleanup:
    free_tiles(t);
    return status;
}

static gbs_status save(const void *state, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_tiles *t = state;
    return gbsi_put_numbers(sink, &t->n_updates, 1, sizeof t->n_updates, err);
}

static gbs_status load(void *state, const gbsi_source *source, gbs_error *err)
{
    gbsi_tiles *t = state;
    return gbsi_take_numbers(source, &t->n_updates, 1, sizeof t->n_updates, err);
}

void gbsi_tiles_words(void *state, const gbsi_words *words)
{
    ((gbsi_tiles *)state)->words = words;
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
    .save = save,
    .load = load,
    .free = free_tiles,
};
