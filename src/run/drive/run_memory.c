/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the memory of a run. Memory use has two peaks. The first is at the compilation, when the
 * compiler needs scratch memory in addition to the plan. The second is at the end of sampling, when
 * all estimates and the caller's marginals are in memory. Sampling uses the memory again that the
 * compiler has freed. Reading the model comes earlier and has a peak of its own (the text and the
 * model), which is not counted here. */
#include "drive/run_memory.h"

#include <inttypes.h>

#include "base/machine.h"
#include "base/memory.h"
#include "chains/run_options.h"
#include "condition/soften.h"
#include "drive/runners.h"
#include "graph/graph.h"

/* Runs of up to this many passes never write to the sums for long batches (more than 128 counts or
 * 256 terms, estimate.c). These sums therefore take no memory. A batch has at most a sixteenth of
 * the passes before it (batches.c). */
#define SHORT_OF_COUNTS 4096u
#define SHORT_OF_SUMS   8192u
#define SHORT_OF_HELD   128u /* the same limit if chains hold sums of 4 terms */

gbsi_estimate_shape gbsi_plain_shape(const gbsi_task *task, const gbsi_engine *engine)
{
    const uint32_t n_chains = gbsi_options_chains(&task->options);
    const gbsi_conditioned *part = task->problem.part;
    return (gbsi_estimate_shape){.n_slots = part->n_variables,
                                 .arity = part->arity,
                                 .same_arity = 2,
                                 .n_chains = n_chains,
                                 .lanes = gbsi_lanes_of(n_chains),
                                 .n_groups = gbsi_groups_of(n_chains),
                                 .value_bytes = 1,
                                 .kind = (gbs_estimator_kind)task->options.estimator,
                                 .each_once = (engine->scan_traits & GBSI_SCAN_EACH_ONCE) != 0 &&
                                              task->problem.target == NULL};
}

gbsi_estimate_shape gbsi_chains_shape(const gbsi_task *task, const gbsi_engine *engine)
{
    gbsi_estimate_shape shape = gbsi_plain_shape(task, engine);
    shape.arity = engine->plan->arity;
    shape.same_arity = engine->plan->max_arity;
    shape.value_bytes = engine->plan->value_bytes;
    return shape;
}

/* ---- parts --------------------------------------------------------------------------------- */

static uint64_t schedule_bytes(const gbsi_schedule *s)
{
    return s->batch_capacity * sizeof *s->batch_start + s->piece_capacity * sizeof *s->piece +
           s->slot_capacity * sizeof *s->slot + s->position_capacity * sizeof *s->position +
           s->scratch_capacity * sizeof *s->scratch;
}

/* Compiling has two peaks of memory use. The first is the sorting of slots, which needs the list of
 * factors of each variable. The second is the plan, whose fields are doubles; if there are terms,
 * the list of factors of every variable is in memory too. */
static uint64_t compile_bytes(const gbsi_plan *plan, const gbsi_factors *f)
{
    const uint64_t n = plan->n_slots;
    const uint64_t n_ends = f->n_factors == 0 ? 0 : f->scope_start[f->n_factors];
    const uint64_t sorting = n * 52;
    uint64_t packing =
        plan->bytes + n * sizeof(uint32_t) + gbsi_offset(&plan->field_start, n) * sizeof(double);
    if (plan->term != NULL) {
        packing += n_ends * sizeof(size_t) + n * 8 + f->n_factors * sizeof(uint32_t) +
                   gbsi_incident_position_bytes(f);
    }
    return (sorting > packing ? sorting : packing) + f->n_tables * 20;
}

/* Number of bytes for finding starts. With hard zeros, the search for starts keeps the domain (the
 * possible states) of every variable. */
static uint64_t start_bytes(const gbsi_conditioned *part)
{
    const gbsi_factors *f = &part->factors;
    uint64_t hard_ends = 0;
    uint64_t n_hard = 0;
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (part->has_zeros[i]) {
            hard_ends += f->scope_start[i + 1] - f->scope_start[i];
            ++n_hard;
        }
    }
    const uint64_t each = n_hard > 0 ? 48 : 8; /* with hard zeros, the domains of variables;
                                                  otherwise only the states of one chain */
    return part->n_variables * each + hard_ends * 8 + n_hard * 40;
}

uint64_t gbsi_result_bytes(const gbs_model *model)
{
    return GBSI_N_ROWS * (uint64_t)model->state_offset[model->n_variables] * sizeof(double);
}

/* @param bytes out: bytes of the estimates; 0 if only traces are kept. */
static gbs_status estimate_bytes(const gbs_ranks *spread, const gbsi_estimate_shape *shape,
                                 size_t *bytes, gbs_error *err)
{
    *bytes = 0;
    if (shape->kind == GBS_ESTIMATOR_TRACES) {
        return GBS_OK;
    }
    return gbsi_estimate_spread_bytes(spread, shape, bytes, err);
}

gbs_status gbsi_run_new_estimate(const gbsi_task *task, const gbsi_engine *engine,
                                 gbsi_estimate **estimate, gbs_error *err)
{
    const gbsi_estimate_shape shape = task->plain->shape(task, engine);
    return gbsi_estimate_spread(task->spread, &shape, gbsi_simd_level(), estimate, err);
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Number of bytes of the estimates, without those sums that a run of this many passes never writes
 * to. */
static uint64_t touched_bytes(const gbs_run_options *options, const gbs_ranks *spread,
                              const gbsi_estimate_shape *shape, uint64_t estimate)
{
    const uint64_t passes = options->sweeps;
    const bool counts = shape->kind == GBS_ESTIMATOR_COUNT;
    const uint64_t most = shape->held ? SHORT_OF_HELD : counts ? SHORT_OF_COUNTS : SHORT_OF_SUMS;
    if (estimate == 0 || passes == 0 || passes > most) {
        return estimate;
    }
    uint64_t n_cells = 0;
    for (uint32_t s = 0; s < shape->n_slots; ++s) {
        const uint32_t arity = gbsi_shape_arity(shape, s);
        n_cells += arity == 2 ? 1 : arity;
    }
    /* bytes of the sums of unfinished batches, and of the totals */
    const uint64_t each = shape->held ? sizeof(float)
                          : counts    ? 2 * sizeof(double)
                                      : sizeof(double);
    const uint32_t n_ranks = gbsi_n_ranks(spread);
    const uint64_t late = n_cells * shape->lanes * shape->n_groups * each / n_ranks;
    return late < estimate ? estimate - late : estimate;
}

/* ---- predictions --------------------------------------------------------------------------- */

gbs_status gbsi_run_draw_bytes(const gbs_ranks *spread, const gbsi_engine *engine,
                               const gbs_run_options *options, uint64_t room,
                               const gbsi_surroundings *around, uint64_t *bytes, gbs_error *err)
{
    const gbsi_draw *draw = gbsi_draw_of(options, gbsi_simd_level());
    const uint32_t n_chains = gbsi_options_chains(options);
    const uint32_t lanes = gbsi_lanes_of(n_chains);
    const uint32_t n_own = gbsi_chains_of_own(spread, n_chains).n;
    const gbsi_draw_job job = {.plan = engine->plan,
                               .options = options,
                               .traits = draw->traits,
                               .lanes = lanes,
                               .n_groups = (n_own + lanes - 1) / lanes,
                               .room = room,
                               .around = around};
    *bytes = 0;
    return draw->bytes == NULL || engine->plan == NULL ? GBS_OK : draw->bytes(&job, bytes, err);
}

/* Adds the memory of chains while they run. @param m in: the memory of all other data; out: also
 * that of chains.
 * @param compiling number of bytes in use while compiling. @param result number of bytes of the
 * results that callers read. */
static gbs_status add_running(const gbsi_task *task, gbsi_sampling *sampling, gbsi_run_memory *m,
                              uint64_t compiling, uint64_t result, gbs_error *err)
{
    const gbsi_estimate_shape shape = task->plain->shape(task, &sampling->engine);
    const uint64_t start = start_bytes(task->problem.part);
    const uint64_t limit = gbsi_options_memory_limit(&task->options);
    const gbsi_executor_setting setting = gbsi_engine_setting(&sampling->engine, &task->options, 0);
    GBSI_PASS(estimate_bytes(task->spread, &shape, &sampling->estimates.estimate_bytes, err));
    const uint64_t all =
        more(sampling->estimates.estimate_bytes, sampling->estimates.estimate_bytes);
    result = shape.kind == GBS_ESTIMATOR_TRACES ? 0 : result;
    m->states = gbsi_executor_bytes(&setting, gbsi_options_threads(&task->options));
    if (gbsi_run_counts_moves(task, &sampling->engine)) {
        const uint32_t n_own = sampling->engine.own.some
                                   ? sampling->engine.own.n
                                   : (uint32_t)gbsi_options_chains(&task->options);
        m->states = more(m->states, gbsi_moves_bytes(sampling->engine.plan, n_own));
        m->states = more(m->states, gbsi_stays_bytes(sampling->engine.plan, n_own));
    }
    if (!task->purpose.anneals) {
        m->estimators =
            touched_bytes(&task->options, task->spread, &shape, sampling->estimates.estimate_bytes);
    }
    if (task->purpose.observes) {
        m->states = more(m->states, gbsi_observed_bytes(task));
    }
    if ((gbsi_draw_of(&task->options, gbsi_simd_level())->traits & GBSI_DRAW_EXACT) == 0) {
        m->estimators =
            more(m->estimators, m->estimators); /* the estimates are counted twice, because they are
                                                   compared with those of the random draw */
    }
    m->untouched = task->purpose.anneals || all < m->estimators ? 0 : all - m->estimators;
    m->estimators =
        more(m->estimators, gbsi_run_threshold_bytes(&task->options, &sampling->engine));
    uint64_t running = m->standing + m->plan + m->schedule + (start > result ? start : result);
    running = more(more(running, m->states), m->estimators);
    m->draw_room = running < limit ? limit - running : 0;
    GBSI_PASS(gbsi_run_draw_bytes(task->spread, &sampling->engine, &task->options, m->draw_room,
                                  NULL, &m->draw, err));
    running = more(running, m->draw);
    m->peak = compiling > running ? compiling : running;
    return GBS_OK;
}

gbs_status gbsi_chains_bytes(gbs_run *run, gbsi_run_memory *m, gbs_error *err)
{
    const gbsi_plan *plan = run->sampling.engine.plan;
    m->plan = plan->bytes;
    m->schedule = schedule_bytes(&run->sampling.engine.schedule) +
                  (uint64_t)run->task.problem.part->n_variables * 4;
    return add_running(&run->task, &run->sampling, m,
                       m->standing + compile_bytes(plan, &run->task.problem.part->factors),
                       gbsi_result_bytes(run->task.problem.model), err);
}

gbs_status gbsi_form_bytes(const gbsi_task *task, gbsi_sampling *sampling, gbsi_run_memory *m,
                           uint64_t result, gbs_error *err)
{
    m->plan = sampling->engine.form.bytes;
    return add_running(task, sampling, m, m->standing + m->plan + sampling->engine.form.scratch,
                       result, err);
}

gbs_status gbsi_run_predict(gbs_run *run, gbs_error *err)
{
    gbsi_run_memory m = {.standing =
                             gbsi_run_standing_bytes(&run->task.problem, &run->sampling.estimates)};
    m.peak = m.standing;
    if (run->task.runner->bytes != NULL) {
        GBSI_PASS(run->task.runner->bytes(run, &m, err));
    }
    run->memory = m;
    run->report.public.predicted_bytes = m.peak;
    run->budget.own.room += (int64_t)m.untouched - (int64_t)run->budget.untouched;
    run->budget.untouched = m.untouched;
    return GBS_OK;
}

/* ---- limits -------------------------------------------------------------------------------- */

static gbs_status refuse(const gbsi_run_budget *budget, uint64_t bytes, const char *least,
                         uint64_t limit, gbs_error *err)
{
    char needed[16];
    char allowed[16];
    gbsi_bytes_text((double)bytes, needed);
    gbsi_bytes_text((double)limit, allowed);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "this run would take %s%s (%" PRIu64 " bytes), the limit is %s: try %s or a "
                     "larger --memory-limit",
                     least, needed, bytes, allowed, budget->fewer);
}

gbs_status gbsi_run_check_model(const gbs_run_options *options, const gbsi_problem *problem,
                                const gbsi_run_budget *budget, gbs_error *err)
{
    const uint64_t limit = gbsi_options_memory_limit(options);
    const uint64_t bytes = gbsi_program_bytes() + gbs_model_bytes(problem->model);
    return bytes > limit ? refuse(budget, bytes, "at least ", limit, err) : GBS_OK;
}

gbs_status gbsi_run_check_part(const gbsi_task *task, const gbsi_estimates *estimates,
                               const gbsi_run_budget *budget, gbs_error *err)
{
    const uint64_t limit = gbsi_options_memory_limit(&task->options);
    const gbsi_conditioned *part = task->problem.part;
    const uint32_t n_chains = gbsi_options_chains(&task->options);
    const uint64_t lanes = (uint64_t)gbsi_lanes_of(n_chains) * gbsi_groups_of(n_chains);
    gbsi_estimate_shape shape = {.n_slots = part->n_variables,
                                 .arity = part->arity,
                                 .n_chains = n_chains,
                                 .lanes = gbsi_lanes_of(n_chains),
                                 .n_groups = gbsi_groups_of(n_chains),
                                 .value_bytes = 2, /* the prediction allows any number of states */
                                 .kind = (gbs_estimator_kind)task->options.estimator,
                                 .each_once = true};
    size_t estimate = 0;
    if (!task->purpose.anneals) {
        GBSI_PASS(estimate_bytes(task->spread, &shape, &estimate, err));
    }
    uint64_t bytes = more(gbsi_run_standing_bytes(&task->problem, estimates),
                          touched_bytes(&task->options, task->spread, &shape, estimate));
    bytes = more(bytes, lanes * part->n_variables + gbsi_result_bytes(task->problem.model));
    /* The number of runs (sequences of slots with equal arity) is counted in the order of the
     * model. The plan has another order, with fewer runs. A run takes 24 bytes; the bytes of runs
     * that the plan may not have are subtracted. */
    const uint64_t slack = (uint64_t)part->n_variables * 24;
    if (bytes > slack && bytes - slack > limit) {
        GBSI_PASS(refuse(budget, bytes - slack, "at least ", limit, err));
    }
    return GBS_OK;
}

gbs_status gbsi_run_check(const gbs_run_options *options, const gbsi_run_memory *memory,
                          const gbsi_run_budget *budget, gbs_error *err)
{
    const uint64_t limit = gbsi_options_memory_limit(options);
    return memory->peak > limit ? refuse(budget, memory->peak, "", limit, err) : GBS_OK;
}
