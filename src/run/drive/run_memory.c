/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the memory of a run. There are two peaks: compiling, when the scratch of the compiler
 * stands beside the plan, and the end of sampling, when all estimates and the caller's marginals
 * are in memory. Memory that compiling frees is used again by sampling. Reading the model comes
 * earlier and has its own peak (the text beside the model), which is not counted here. */
#include "drive/run_memory.h"

#include <inttypes.h>

#include "base/machine.h"
#include "base/memory.h"
#include "chains/run_options.h"
#include "condition/soften.h"
#include "graph/graph.h"
#include "lattice/averages.h"

/* Runs of up to so many passes never write to the sums for long batches (more than 128 counts or
 * 256 terms, estimate.c), so these take no memory: a batch has at most a sixteenth of the passes
 * before it (batches.c). */
#define SHORT_OF_COUNTS 4096u
#define SHORT_OF_SUMS   8192u
#define SHORT_OF_HELD   128u /* 4 terms, where chains hold their sums */

/* With many sites in bits, the first batches have this many passes. */
#define MANY_SITES   (UINT32_C(1) << 20)
#define LONG_BATCHES 16u
/* The batches of a block and chain for pictures: few, so that there are standard errors after few
 * passes. */
#define BATCHES_OF_LEVELS 8u

gbsi_estimate_shape gbsi_run_shape(const gbs_run *run)
{
    const uint32_t n_chains = gbsi_options_chains(&run->options);
    const gbsi_plan *plan = run->engine.plan; /* NULL for a lattice: slots are variables */
    if (gbsi_engine_holds(&run->engine, &run->options)) {
        const uint32_t n_slots = gbsi_lattice_n_slots(run->engine.lattice);
        return (gbsi_estimate_shape){.n_slots = n_slots,
                                     .same_arity = 2,
                                     .n_chains = n_chains,
                                     .lanes = 1,
                                     .n_groups = n_chains,
                                     .value_bytes = 1,
                                     .kind = GBS_ESTIMATOR_RAO_BLACKWELL,
                                     .each_once = true,
                                     .held = true,
                                     .n_padding = n_slots - run->engine.spins->n_sites};
    }
    if (run->engine.levels != NULL) { /* sites that are watched */
        return (gbsi_estimate_shape){.n_slots = gbsi_levels_n_slots(run->engine.levels),
                                     .same_arity = run->engine.levels->n_levels,
                                     .n_chains = n_chains,
                                     .lanes = 1,
                                     .n_groups = n_chains,
                                     .value_bytes = 1,
                                     .kind = GBS_ESTIMATOR_RAO_BLACKWELL,
                                     .n_batches = BATCHES_OF_LEVELS,
                                     .each_once = true};
    }
    return (gbsi_estimate_shape){
        .n_slots = run->problem.part->n_variables,
        .arity = plan == NULL ? run->problem.part->arity : plan->arity,
        .same_arity = plan == NULL ? 2 : plan->max_arity,
        .n_chains = n_chains,
        .lanes = gbsi_lanes_of(n_chains),
        .n_groups = gbsi_groups_of(n_chains),
        .value_bytes = plan == NULL ? 1 : plan->value_bytes,
        .kind = (gbs_estimator_kind)run->options.estimator,
        .each_once =
            (run->engine.scan_traits & GBSI_SCAN_EACH_ONCE) != 0 && run->problem.target == NULL,
        .first_length = run->engine.lattice != NULL && run->problem.part->n_variables >= MANY_SITES
                            ? LONG_BATCHES
                            : 0,
        .own = run->shared.own_slot,
        .ranks = run->shared.share == NULL ? NULL : run->ranks,
        .n_all_cells = run->shared.share == NULL ? 0 : run->shared.share->facts.n_cells,
        .n_all_runs = run->shared.share == NULL ? 0 : run->shared.share->facts.n_runs,
        .weave = run->shared.share == NULL ? NULL : &run->shared.weave};
}

/* ---- parts --------------------------------------------------------------------------------- */

static uint64_t schedule_bytes(const gbsi_schedule *s)
{
    return s->batch_capacity * sizeof *s->batch_start + s->piece_capacity * sizeof *s->piece +
           s->slot_capacity * sizeof *s->slot + s->position_capacity * sizeof *s->position +
           s->scratch_capacity * sizeof *s->scratch;
}

/* Compiling has two peaks: the sorting of slots, beside what the factors of each variable need; and
 * the plan, beside the fields in double and, if there are terms, the list of factors of every
 * variable. */
static uint64_t compile_bytes(const gbs_run *run)
{
    const gbsi_plan *plan = run->engine.plan;
    const gbsi_factors *f = &run->problem.part->factors;
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

/* The bytes for finding starts; with hard zeros that is a search, which keeps domains. */
static uint64_t start_bytes(const gbs_run *run)
{
    const gbsi_factors *f = &run->problem.part->factors;
    uint64_t hard_ends = 0;
    uint64_t n_hard = 0;
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (run->problem.part->has_zeros[i]) {
            hard_ends += f->scope_start[i + 1] - f->scope_start[i];
            ++n_hard;
        }
    }
    const uint64_t each = n_hard > 0 ? 48 : 8; /* domains, or only the states of one chain */
    return run->problem.part->n_variables * each + hard_ends * 8 + n_hard * 40;
}

/* The bytes of the results; 0 for pictures, whose results are read some rows at a time. */
static uint64_t result_bytes(const gbs_run *run)
{
    if (run->engine.levels != NULL) {
        return 0;
    }
    const size_t n_states = run->problem.model->state_offset[run->problem.model->n_variables];
    return 4 * (uint64_t)n_states * sizeof(double); /* p, mcse, ess, rhat */
}

/* @param bytes out: size of the estimates; 0 if only traces are kept. */
static gbs_status estimate_bytes(const gbs_run *run, const gbsi_estimate_shape *shape,
                                 size_t *bytes, gbs_error *err)
{
    *bytes = 0;
    if (shape->kind == GBS_ESTIMATOR_TRACES) {
        return GBS_OK;
    }
    return gbsi_chains_are_spread(run) ? gbsi_estimate_spread_bytes(run->ranks, shape, bytes, err)
                                       : gbsi_estimate_bytes(shape, bytes, err);
}

gbs_status gbsi_run_new_estimate(const gbs_run *run, gbsi_estimate **estimate, gbs_error *err)
{
    const gbsi_estimate_shape shape = gbsi_run_shape(run);
    const gbsi_simd level = gbsi_simd_level();
    return gbsi_chains_are_spread(run)
               ? gbsi_estimate_spread(run->ranks, &shape, level, estimate, err)
               : gbsi_estimate_new(&shape, level, estimate, err);
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The size of the estimates without the sums that a run of so few passes never writes to. */
static uint64_t touched_bytes(const gbs_run *run, const gbsi_estimate_shape *shape,
                              uint64_t estimate)
{
    const uint64_t passes = run->options.sweeps;
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
    /* open sums; totals too */
    const uint64_t each = shape->held ? sizeof(float)
                          : counts    ? 2 * sizeof(double)
                                      : sizeof(double);
    const uint32_t n_ranks = gbsi_chains_are_spread(run) ? run->ranks->n_ranks : 1;
    const uint64_t late = n_cells * shape->lanes * shape->n_groups * each / n_ranks;
    return late < estimate ? estimate - late : estimate;
}

/* ---- predictions --------------------------------------------------------------------------- */

gbs_status gbsi_run_draw_bytes(const gbs_run *run, const gbs_run_options *options, uint64_t room,
                               const gbsi_surroundings *around, uint64_t *bytes, gbs_error *err)
{
    const gbsi_draw *draw = gbsi_draw_of(options, gbsi_simd_level());
    const uint32_t n_chains = gbsi_options_chains(options);
    const uint32_t lanes = gbsi_lanes_of(n_chains);
    const uint32_t n_own = gbsi_chains_are_spread(run) ? run->engine.own.n : n_chains;
    const gbsi_draw_job job = {.plan = run->engine.plan,
                               .options = options,
                               .traits = draw->traits,
                               .lanes = lanes,
                               .n_groups = (n_own + lanes - 1) / lanes,
                               .room = room,
                               .around = around};
    *bytes = 0;
    return draw->bytes == NULL || run->engine.plan == NULL ? GBS_OK : draw->bytes(&job, bytes, err);
}

gbs_status gbsi_run_predict(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_estimate_shape shape = gbsi_run_shape(run);
    gbsi_run_memory m = {.standing = gbsi_run_standing_bytes(run)};
    GBSI_TRY(estimate_bytes(run, &shape, &run->estimates.estimate_bytes, err));
    const uint64_t start = start_bytes(run);
    const uint64_t result = shape.kind == GBS_ESTIMATOR_TRACES ? 0 : result_bytes(run);
    if (gbsi_engine_has_form(&run->engine)) {
        m.plan = gbsi_lattice_bytes(&run->engine);
    } else {
        m.plan = run->engine.plan->bytes;
        m.schedule =
            schedule_bytes(&run->engine.schedule) + (uint64_t)run->problem.part->n_variables * 4;
    }
    const gbsi_executor_setting setting = gbsi_engine_setting(&run->engine, &run->options, 0);
    m.states = gbsi_executor_bytes(&setting, gbsi_options_threads(&run->options));
    m.estimators =
        run->purpose.anneals ? 0 : touched_bytes(run, &shape, run->estimates.estimate_bytes);
    if ((gbsi_draw_of(&run->options, gbsi_simd_level())->traits & GBSI_DRAW_EXACT) == 0) {
        m.estimators = more(m.estimators, m.estimators); /* a comparison with the random draw */
    }
    const uint64_t estimators = m.estimators;
    m.estimators = more(m.estimators, gbsi_run_threshold_bytes(run));
    const uint64_t compiling = m.standing + (gbsi_engine_has_form(&run->engine)
                                                 ? m.plan + gbsi_lattice_scratch_bytes(&run->engine)
                                                 : compile_bytes(run));
    uint64_t running = m.standing + m.plan + m.schedule + (start > result ? start : result);
    running = more(more(running, m.states), m.estimators);
    const uint64_t limit = gbsi_options_memory_limit(&run->options);
    m.draw_room = running < limit ? limit - running : 0;
    GBSI_TRY(gbsi_run_draw_bytes(run, &run->options, m.draw_room, NULL, &m.draw, err));
    running = more(running, m.draw);
    m.peak = compiling > running ? compiling : running;
    if (gbsi_run_wants_temper(run)) {
        m.peak = more(m.peak, gbsi_run_tempered_bytes(run));
        m.blocks = gbsi_run_block_bytes(run, m.peak < limit ? limit - m.peak : 0);
        m.peak = more(m.peak, m.blocks);
    }
    run->memory = m;
    run->report.public.predicted_bytes = m.peak;
    const uint64_t all = more(run->estimates.estimate_bytes, run->estimates.estimate_bytes);
    const uint64_t untouched = run->purpose.anneals || all < estimators ? 0 : all - estimators;
    run->budget.own.room += (int64_t)untouched - (int64_t)run->budget.untouched;
    run->budget.untouched = untouched;

cleanup:
    return status;
}

/* ---- limits -------------------------------------------------------------------------------- */

static gbs_status refuse(const gbs_run *run, uint64_t bytes, const char *least, uint64_t limit,
                         gbs_error *err)
{
    const char *fewer =
        run->engine.levels != NULL ? "fewer levels" : "fewer --chains, --estimator count";
    char needed[16];
    char allowed[16];
    gbsi_bytes_text((double)bytes, needed);
    gbsi_bytes_text((double)limit, allowed);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "this run would take %s%s (%" PRIu64 " bytes), the limit is %s: try %s or a "
                     "larger --memory-limit",
                     least, needed, bytes, allowed, fewer);
}

gbs_status gbsi_run_check_model(const gbs_run *run, gbs_error *err)
{
    const uint64_t limit = gbsi_options_memory_limit(&run->options);
    const uint64_t bytes = gbsi_program_bytes() + gbs_model_bytes(run->problem.model);
    return bytes > limit ? refuse(run, bytes, "at least ", limit, err) : GBS_OK;
}

gbs_status gbsi_run_check_part(const gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t limit = gbsi_options_memory_limit(&run->options);
    const gbsi_conditioned *part = run->problem.part;
    const uint32_t n_chains = gbsi_options_chains(&run->options);
    const uint64_t lanes = (uint64_t)gbsi_lanes_of(n_chains) * gbsi_groups_of(n_chains);
    gbsi_estimate_shape shape = {.n_slots = part->n_variables,
                                 .arity = part->arity,
                                 .n_chains = n_chains,
                                 .lanes = gbsi_lanes_of(n_chains),
                                 .n_groups = gbsi_groups_of(n_chains),
                                 .value_bytes = 2, /* any arity */
                                 .kind = (gbs_estimator_kind)run->options.estimator,
                                 .each_once = true};
    size_t estimate = 0;
    if (!run->purpose.anneals) {
        GBSI_TRY(estimate_bytes(run, &shape, &estimate, err));
    }
    uint64_t bytes = more(gbsi_run_standing_bytes(run), touched_bytes(run, &shape, estimate));
    bytes = more(bytes, lanes * part->n_variables + result_bytes(run));
    /* The plan's order of slots has fewer runs of equal slots than the model's order used here, and
     * a run takes 24 bytes: allow for that. */
    const uint64_t slack = (uint64_t)part->n_variables * 24;
    if (bytes > slack && bytes - slack > limit) {
        GBSI_TRY(refuse(run, bytes - slack, "at least ", limit, err));
    }

cleanup:
    return status;
}

gbs_status gbsi_run_check(const gbs_run *run, gbs_error *err)
{
    const uint64_t limit = gbsi_options_memory_limit(&run->options);
    return run->memory.peak > limit ? refuse(run, run->memory.peak, "", limit, err) : GBS_OK;
}
