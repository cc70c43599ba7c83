/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds and threads. A round has two phases with a barrier between them: all splashes are grown,
 * then all splashes are drawn. No state changes while splashes grow. The draw of a splash reads
 * only the splash's variables and a boundary that belongs to no splash.
 *
 * With reservations, all splashes of a round grow at the same time. Each splash avoids only the
 * splashes that are already settled. Then splashes that touch no settled splash are settled, in the
 * order of their roots. The remaining splashes grow again (deterministic reservations: Blelloch,
 * Fineman, Gibbons & Shun (2012), PPoPP 47(8):181-192). The result does not depend on the number of
 * threads. If the splashes of a round could fill much of the model, they grow one after another, so
 * that no grown splash is discarded. With locks on Markov blankets, splashes compete for variables
 * as in the paper, and the timing of threads decides which splash gets a variable. */
#include "splash/splash_inside.h"

#include <assert.h>
#include <string.h>

/* Threads share the work of a pass if it has at least this number of updates. */
#define LEAST_SHARED 16384u

/* ---- phases ---------------------------------------------------------------------------------- */

typedef struct phase {
    gbsi_splash *s;
    gbsi_growing growing;
    const gbsi_pass_job *sweep;
    const gbsi_splash_team *team; /* NULL unless all threads draw one splash after the other */
    void (*run)(struct phase *phase, gbsi_splash_worker *worker, uint32_t task);
    uint32_t n_tasks;
    _Atomic uint32_t next;
} phase;

static void run_tasks(void *context, uint32_t member)
{
    phase *ph = context;
    gbsi_splash_worker *worker = &ph->s->worker[member];
    while (!gbsi_watch_stopped(ph->sweep->watch)) {
        const uint32_t task = atomic_fetch_add_explicit(&ph->next, 1, memory_order_relaxed);
        if (task >= ph->n_tasks) {
            return;
        }
        ph->run(ph, worker, task);
    }
}

/* Returns whether one thread does all work. */
static bool is_alone(const gbsi_splash *s)
{
    return s->n_workers == 1 || (uint64_t)s->potentials->n * s->setting.n_chains < LEAST_SHARED;
}

/* Runs the tasks of a phase. Results do not depend on which worker runs which task. @return the
 * status of the first worker that failed; GBS_OK if none did. */
static gbs_status run_phase(phase *ph, void (*run)(phase *, gbsi_splash_worker *, uint32_t),
                            uint32_t n_tasks, gbs_error *err)
{
    gbsi_splash *s = ph->s;
    ph->run = run;
    ph->n_tasks = n_tasks;
    atomic_store(&ph->next, 0);
    if (is_alone(s) || n_tasks == 1) {
        run_tasks(ph, 0);
    } else {
        gbsi_pool_run(s->setting.pool, run_tasks, ph);
    }
    for (uint32_t w = 0; w < s->n_workers; ++w) {
        if (s->worker[w].status < 0) {
            if (err != NULL) {
                *err = s->worker[w].error;
            }
            return s->worker[w].status;
        }
    }
    return GBS_OK;
}

/* ---- growing --------------------------------------------------------------------------------- */

static void grow_block(phase *ph, gbsi_splash_worker *worker, uint32_t task)
{
    block *b = &ph->s->block[task];
    if (!b->settled && worker->status >= 0) {
        worker->status =
            gbsi_grow(&worker->grower, &ph->growing, b->tag, b->root, &b->growth, &worker->error);
    }
}

/* Makes the splash the owner of its slots, unless the splash touches slots of another splash. */
static void settle(const phase *ph, block *b)
{
    const gbsi_growth *growth = &b->growth;
    for (uint32_t i = 0; i < growth->n; ++i) {
        if (growth->clashed || !gbsi_is_safe(&ph->growing, b->tag, growth->clique[i].slot)) {
            return;
        }
    }
    for (uint32_t i = 0; i < growth->n; ++i) {
        const uint32_t slot = growth->clique[i].slot;
        gbsi_own(&ph->growing, b->tag, slot);
        ph->s->own.number[slot] = i;
    }
    b->settled = true;
}

static gbs_status grow_one_by_one(phase *ph, gbs_error *err)
{
    gbsi_splash *s = ph->s;
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        block *b = &s->block[i];
        GBSI_PASS(gbsi_grow(&s->worker[0].grower, &ph->growing, b->tag, b->root, &b->growth, err));
        settle(ph, b);
    }
    return GBS_OK;
}

/* Grows all unsettled splashes at the same time, where each splash avoids only the settled
 * splashes. Then settles the splashes in order. */
static gbs_status grow_together(phase *ph, gbs_error *err)
{
    gbsi_splash *s = ph->s;
    GBSI_PASS(run_phase(ph, grow_block, s->n_blocks, err));
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        if (!s->block[i].settled) {
            settle(ph, &s->block[i]);
        }
    }
    return GBS_OK;
}

/* Grows the splashes that grow_together() would grow, but on one thread. A splash that meets a
 * splash settled in this turn is given up, because several threads would have grown the two at the
 * same time. */
static gbs_status grow_in_turn(phase *ph, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_splash *s = ph->s;
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        s->fresh[i] = !s->block[i].settled;
    }
    ph->growing.fresh = s->fresh;
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        block *b = &s->block[i];
        if (!b->settled) {
            GBSI_TRY(
                gbsi_grow(&s->worker[0].grower, &ph->growing, b->tag, b->root, &b->growth, err));
            ph->growing.fresh = NULL;
            settle(ph, b);
            ph->growing.fresh = s->fresh;
        }
    }
cleanup:
    ph->growing.fresh = NULL;
    return status;
}

static uint32_t count_unsettled(const gbsi_splash *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        n += !s->block[i].settled;
    }
    return n;
}

/* Grows and settles all splashes of a round. Near hubs most splashes that threads grow at once
 * clash and are discarded. If more than half of the splashes of the last round clashed, one thread
 * grows the splashes of this round one after another. */
static gbs_status grow_at_once(phase *ph, gbs_error *err)
{
    gbsi_splash *s = ph->s;
    const bool in_turn = is_alone(s) || s->in_turn;
    uint32_t left = s->n_blocks;
    for (bool first = true; left > 0; first = false) {
        GBSI_PASS((in_turn ? grow_in_turn : grow_together)(ph, err));
        left = count_unsettled(s);
        s->in_turn = first ? left > s->n_blocks / 2 : s->in_turn;
    }
    return GBS_OK;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Returns the key of the random words for a pass or round of this rank. Ranks that share the model
 * have different keys. */
static uint64_t of_rank(const gbsi_splash *s, uint64_t number)
{
    return number * s->turns.n_ranks + s->turns.rank;
}

static void build_block(phase *ph, gbsi_splash_worker *worker, uint32_t task)
{
    gbsi_splash *s = ph->s;
    block *b = &s->block[task];
    if (worker->status >= 0) {
        worker->status = gbsi_splash_build(s->potentials, &b->growth, &s->own, b->tag, &b->program,
                                           &worker->error);
    }
}

static void draw_block(phase *ph, gbsi_splash_worker *worker, uint32_t task)
{
    gbsi_splash *s = ph->s;
    const uint32_t bundle = task / s->n_blocks;
    const block *b = &s->block[task % s->n_blocks];
    const gbsi_splash_task at = {.setting = &s->setting,
                                 .job = {.team = ph->team,
                                         .potentials = s->potentials,
                                         .program = &b->program,
                                         .view = &s->view[bundle],
                                         .work = &worker->work},
                                 .sweep = ph->sweep,
                                 .seed = s->seed,
                                 .pass = of_rank(s, ph->sweep->pass),
                                 .place = b->place,
                                 .bundle = bundle};
    gbsi_splash_draw(worker, &at);
}

/* Whether threads gain if all of them draw one splash after the other: a clique is large, or, if
 * there are at least twice as many threads as tasks, the cliques of a level are large together.
 * Finds the levels of all splashes. */
static gbs_status pays_team(const gbsi_splash *s, uint32_t n_tasks, bool *pays, gbs_error *err)
{
    *pays = false;
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        gbsi_splash_program *p = &s->block[i].program;
        GBSI_PASS(gbsi_splash_find_levels(p, err));
        *pays |= p->largest >= GBSI_SPLASH_SHARED && !p->precise;
        for (uint32_t l = 0; l < p->n_levels && 2 * n_tasks <= s->n_workers && !p->precise; ++l) {
            *pays |= gbsi_splash_level_entries(p, l) >= GBSI_SPLASH_SHARED;
        }
    }
    return GBS_OK;
}

/* Draws all splashes in all chains. If there are fewer of these than threads, and threads can share
 * the tree of a splash, all threads draw one after the other; otherwise each thread draws splashes
 * of its own. */
static gbs_status draw_blocks(phase *ph, gbs_error *err)
{
    gbsi_splash *s = ph->s;
    const uint32_t n_tasks = s->n_blocks * s->n_bundles;
    bool pays = false;
    if (n_tasks < s->n_workers) {
        GBSI_PASS(pays_team(s, n_tasks, &pays, err));
    }
    if (!pays) {
        return run_phase(ph, draw_block, n_tasks, err);
    }
    ph->team = &s->team;
    for (uint32_t task = 0; task < n_tasks && !gbsi_watch_stopped(ph->sweep->watch); ++task) {
        draw_block(ph, &s->worker[0], task);
    }
    ph->team = NULL;
    return GBS_OK;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void next_tags(gbsi_splash *s, gbsi_roots *roots)
{
    if (s->next_tag > UINT32_MAX - 2 * s->n_blocks) {
        for (uint32_t v = 0; v < s->potentials->n; ++v) {
            atomic_store_explicit(&s->own.owner[v], 0, memory_order_relaxed);
        }
        for (uint32_t l = 0; l < s->potentials->n_long; ++l) {
            atomic_store_explicit(&s->own.of_long[l], 0, memory_order_relaxed);
        }
        s->next_tag = 1;
    }
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        block *b = &s->block[i];
        b->tag = s->next_tag + i;
        b->root = gbsi_roots_next(roots);
        b->settled = false;
        b->growth.n = 0;
    }
    s->next_tag += s->n_blocks;
}

/* Moves splashes without variables to the end of the array, and puts their roots back to the front
 * of the ring. @return number of splashes with variables. */
static uint32_t drop_empty(gbsi_splash *s, gbsi_roots *roots)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        if (s->block[i].growth.n == 0) {
            gbsi_roots_defer(roots, s->block[i].root);
            continue;
        }
        const block kept = s->block[i];
        s->block[i] = s->block[n];
        s->block[n++] = kept;
    }
    gbsi_roots_end_round(roots);
    return n;
}

/* Numbers the places of the splashes. Counts all updates, and the updates of slots that have the
 * reach of the round. */
static void number_blocks(gbsi_splash *s, gbsi_reach reach, bool adapts)
{
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        block *b = &s->block[i];
        b->place = s->n_updates;
        s->n_updates += b->growth.n;
        for (uint32_t v = 0; v < b->growth.n; ++v) {
            const uint32_t slot = b->growth.clique[v].slot;
            s->n_of[reach] += gbsi_reach_of(&s->turns, slot) == reach;
            if (s->lock != NULL) {
                s->own.number[slot] = v;
            }
        }
        if (!adapts && s->zeros.n_open > 0) {
            gbsi_zeros_note(&s->zeros, &b->growth);
        }
        gbsi_wholes_note(&s->wholes, &b->growth);
    }
}

static void tell_blocks(const gbsi_splash *s, uint32_t n)
{
    const gbsi_plan *plan = s->setting.plan;
    for (uint32_t i = 0; i < n; ++i) {
        const gbsi_growth *growth = &s->block[i].growth;
        for (uint32_t v = 0; v < growth->n; ++v) {
            const uint32_t of_part = plan->variable_of[growth->clique[v].slot];
            s->on_block(s->context, s->round, i, plan->model->user_variable[of_part]);
        }
    }
}

/* Makes room in the tables of the drawing method on one thread, so that the threads that draw need
 * not enlarge these tables. */
static gbs_status expect_updates(const phase *ph, uint32_t n, gbs_error *err)
{
    const gbsi_draw *draw = ph->sweep->draw;
    for (uint32_t i = 0; draw->expect != NULL && i < n; ++i) {
        const gbsi_growth *growth = &ph->s->block[i].growth;
        for (uint32_t v = 0; v < growth->n; ++v) {
            GBSI_PASS(draw->expect(ph->sweep->draw_state, growth->clique[v].slot, err));
        }
    }
    return GBS_OK;
}

/* Forgets a round whose growth was cut short. Its roots come first in the next round. */
static void forget_round(gbsi_splash *s)
{
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        s->block[i].growth.n = 0;
    }
}

/* Returns the number of entries that a program walks for sixteen chains together. */
static uint64_t entries_of(const gbsi_splash_program *p)
{
    return p->n_entries + p->n_given + (p->precise ? 0 : p->n_shared);
}

#ifndef NDEBUG
/* Checks that no splash of a round touches another splash, so that a splash reads only its own
 * variables and a boundary that no splash changes. No splash may take a variable beyond its reach
 * [M72]. */
static void check_round(const phase *ph)
{
    const gbsi_splash *s = ph->s;
    const gbsi_potentials *p = s->potentials;
    for (uint32_t i = 0; i < s->n_blocks; ++i) {
        const block *b = &s->block[i];
        assert(b->settled || s->lock != NULL);
        for (uint32_t v = 0; v < b->growth.n; ++v) {
            const uint32_t slot = b->growth.clique[v].slot;
            assert(s->own.owner[slot] == b->tag);
            assert(gbsi_is_safe(&ph->growing, b->tag, slot));
            assert(gbsi_reach_of(&s->turns, slot) <= ph->growing.reach);
            for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m) {
                assert(s->own.of_long[p->many[m].number] == b->tag);
            }
        }
    }
}
#endif

/* Grows and settles the splashes of a round. s->n_blocks becomes the number of splashes that have
 * variables. */
static gbs_status grow_round(gbsi_splash *s, phase *ph, gbsi_reach reach, gbs_error *err)
{
    gbsi_roots *roots = &s->roots[reach];
    s->n_blocks = s->most_blocks < roots->n ? s->most_blocks : roots->n;
    next_tags(s, roots);
    ph->growing = (gbsi_growing){
        .potentials = s->potentials,
        .own = &s->own,
        .lock = s->lock,
        .first_tag = s->block[0].tag,
        .order = s->order == GBS_GROW_ADAPTIVE && s->adapt == 0 ? GBS_GROW_RANDOM : s->order,
        .score = s->score,
        .seed = s->seed,
        .round = of_rank(s, s->round),
        .turns = &s->turns,
        .reach = reach,
        .states = &s->view[0]};
    if (s->lock != NULL) {
        GBSI_PASS(run_phase(ph, grow_block, s->n_blocks, err));
    } else if (s->crowded) {
        GBSI_PASS(grow_one_by_one(ph, err));
    } else {
        GBSI_PASS(grow_at_once(ph, err));
    }
    if (gbsi_watch_stopped(ph->sweep->watch)) {
        forget_round(s);
    }
    s->n_blocks = drop_empty(s, roots);
#ifndef NDEBUG
    check_round(ph);
#endif
    return GBS_OK;
}

static gbs_status run_round(gbsi_splash *s, phase *ph, gbsi_reach reach, gbs_error *err)
{
    const bool adapts = s->adapt > 0;
    GBSI_PASS(grow_round(s, ph, reach, err));
    const uint32_t n = s->n_blocks;
    number_blocks(s, reach, adapts);
    if (s->on_block != NULL) {
        tell_blocks(s, n);
    }
    GBSI_PASS(expect_updates(ph, n, err));
    GBSI_PASS(run_phase(ph, build_block, n, err));
    if (!gbsi_watch_stopped(ph->sweep->watch)) {
        GBSI_PASS(draw_blocks(ph, err));
    }
    for (uint32_t i = 0; i < n; ++i) {
        s->counts.n_variables += s->block[i].program.n;
        s->counts.n_entries += entries_of(&s->block[i].program);
    }
    ++s->round;
    s->adapt -= adapts;
    return GBS_OK;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static gbs_status find_impossible(const gbsi_splash *s, gbs_error *err)
{
    const gbsi_plan *plan = s->setting.plan;
    uint64_t place = UINT64_MAX;
    uint32_t slot = GBSI_NONE;
    for (uint32_t w = 0; w < s->n_workers; ++w) {
        if (s->worker[w].impossible_place < place) {
            place = s->worker[w].impossible_place;
            slot = s->worker[w].impossible_slot;
        }
    }
    if (slot == GBSI_NONE) {
        return GBS_OK;
    }
    const uint32_t variable = plan->model->user_variable[plan->variable_of[slot]];
    const char *name = gbs_model_variable_name(plan->model->model, variable);
    return gbsi_fail(err, GBS_ERR_NOT_FOUND,
                     "the splash with variable %u%s%s%s has no state of positive weight given its "
                     "neighbours: the chain left the support",
                     variable, name == NULL ? "" : " (", name == NULL ? "" : name,
                     name == NULL ? "" : ")");
}

/* Gives the watch of the pass to each worker. The first worker is the calling thread. */
static void set_watch(gbsi_splash *s, gbsi_watch *watch)
{
    for (uint32_t w = 0; w < s->n_workers; ++w) {
        s->worker[w].watch = s->worker[w].grower.watch = watch;
        s->worker[w].spends = s->worker[w].grower.spends = w == 0;
    }
}

static gbs_status begin(void *state, const gbsi_pass_job *job, gbs_error *err)
{
    gbsi_splash *s = state;
    (void)err;
    s->job = *job;
    s->half = 0;
    s->n_updates = s->n_of[GBSI_REACH_INTERIOR] = s->n_of[GBSI_REACH_BOUNDARY] = 0;
    set_watch(s, job->watch);
    s->adapt = job->estimate == NULL ? s->adapt : 0;
    for (uint32_t w = 0; w < s->n_workers; ++w) {
        s->worker[w].impossible_place = UINT64_MAX;
    }
    return GBS_OK;
}

/* Returns whether this half turn is complete. A pass makes at least as many updates of boundary
 * slots as there are boundary slots, all in the rank's own turn. A pass makes at least as many
 * updates of interior slots as there are interior slots. Every turn makes an equal part of these
 * updates of interior slots. Updates by splashes with roots in the boundary do not count. [M72] */
static bool half_is_over(const gbsi_splash *s)
{
    const uint64_t turn = s->half / 2;
    const uint64_t n_boundary = turn == s->turns.own ? s->roots[GBSI_REACH_BOUNDARY].n : 0;
    const uint64_t n_interior =
        (s->roots[GBSI_REACH_INTERIOR].n * (turn + 1) + s->turns.n - 1) / s->turns.n;
    return gbsi_watch_stopped(s->job.watch) ||
           (s->half % 2 == 0 ? s->n_of[GBSI_REACH_BOUNDARY] >= n_boundary
                             : s->n_of[GBSI_REACH_INTERIOR] >= n_interior);
}

/* Runs a batch. A batch is one round, or all rounds of half a turn if ranks exchange states after
 * each batch. */
static gbs_status batch(void *state, uint32_t most, bool *more, gbs_error *err)
{
    gbsi_splash *s = state;
    phase ph = {.s = s, .sweep = &s->job};
    const uint32_t n_rounds = s->setting.turns != NULL ? UINT32_MAX : 1;
    for (uint32_t i = 0; i < most && s->half < 2 * s->turns.n; ++i) {
        const gbsi_reach reach = s->half % 2 == 0 ? GBSI_REACH_BOUNDARY : GBSI_REACH_INTERIOR;
        bool over = half_is_over(s);
        for (uint32_t r = 0; r < n_rounds && !over; ++r) {
            GBSI_PASS(run_round(s, &ph, reach, err));
            over = half_is_over(s);
        }
        s->half += over;
    }
    assert(s->half <= 2 * s->turns.n);
    *more = s->half < 2 * s->turns.n;
    return GBS_OK;
}

/* If the watch stopped the pass, the rounds drawn so far count as a shorter pass. */
static gbs_status end(void *state, gbs_error *err)
{
    const gbsi_splash *s = state;
    struct gbsi_estimate *estimate = s->n_updates > 0 ? s->job.estimate : NULL;
    for (uint32_t g = 0; estimate != NULL && !s->job.rao_blackwell && g < s->setting.n_groups;
         ++g) {
        gbsi_estimate_state(estimate, g, s->setting.group[g].state, 0, s->potentials->n);
    }
    const gbs_status status = find_impossible(s, err);
    return status == GBS_OK && gbsi_watch_stopped(s->job.watch) ? GBS_STOPPED : status;
}

static uint64_t n_updates(const void *state)
{
    return ((const gbsi_splash *)state)->n_updates;
}

static void watch(void *state, gbsi_on_block *on_block, void *context)
{
    gbsi_splash *s = state;
    s->on_block = on_block;
    s->context = context;
}

gbsi_splash_counts gbsi_splash_count(const gbsi_splash *s)
{
    gbsi_splash_counts counts = s->counts;
    for (uint32_t w = 0; w < s->n_workers; ++w) {
        const gbsi_splash_worker *worker = &s->worker[w];
        counts.n_log_entries += worker->n_log_entries + worker->work.n_log_long;
        counts.n_looked +=
            worker->grower.n_looked + worker->grower.score.n_looked + worker->work.n_looked;
    }
    return counts;
}

static double operations(void *state, uint32_t n_chains)
{
    const gbsi_splash *s = state;
    gbsi_splash_counts counts = gbsi_splash_count(s);
    counts.n_log_entries = counts.n_log_entries * n_chains / s->setting.n_chains;
    return gbsi_splash_operations(&counts, n_chains);
}

static double least_operations(const gbsi_pass_setting *setting)
{
    const gbsi_plan *plan = setting->plan;
    gbsi_splash_counts counts = {.n_variables = plan->n_slots};
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        counts.n_entries += gbsi_plan_arity(plan, slot);
    }
    /* the table of each long factor has two entries or more */
    const gbsi_long_counts many = gbsi_count_long(plan);
    counts.n_entries += 2 * many.n + many.n_ends;
    return gbsi_splash_operations(&counts, setting->n_chains);
}

static bool connects(const void *state)
{
    return ((const gbsi_splash *)state)->zeros.n_open == 0;
}

static uint8_t held(const void *state, uint32_t slot)
{
    const gbsi_wholes *wholes = &((const gbsi_splash *)state)->wholes;
    return wholes->n_times[wholes->of[slot]];
}

static void set_held(void *state, uint32_t slot, uint8_t n)
{
    const gbsi_wholes *wholes = &((gbsi_splash *)state)->wholes;
    wholes->n_times[wholes->of[slot]] = n;
}

static uint32_t block_size(const void *state)
{
    return ((const gbsi_splash *)state)->most;
}

const gbsi_pass gbsi_pass_splash = {
    .name = "splash",
    .traits = GBSI_PASS_CONNECT,
    .bytes = gbsi_splash_bytes,
    .prepare = gbsi_splash_prepare,
    .begin = begin,
    .batch = batch,
    .end = end,
    .n_updates = n_updates,
    .operations = operations,
    .least_operations = least_operations,
    .connects = connects,
    .held = held,
    .set_held = set_held,
    .block_size = block_size,
    .watch = watch,
    .save = gbsi_splash_save,
    .load = gbsi_splash_load,
    .free = gbsi_splash_free,
};
