/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the threshold c of the bounded-error draw for a number of sweeps T. The method is the
 * preliminary experiment of Yamashita & Suzuki (2019), section 5.4, made precise in [M37]. First
 * there are two series of passes with the random draw, then one series for each candidate c,
 * smallest first. If a series is not biased, its estimates after t passes and those of the first
 * series differ by an amount that falls as 1/sqrt(t). If the difference stops falling, c is too
 * small. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run.h"
#include "draw/keys.h"
#include "simd/math.h"

#define POINTS        5u /* number of times at which series are compared: T/16, T/8, .., T */
#define LEAST_REPEATS 6u
#define MOST_CHAINS   64u /* largest number of chains that are watched */
#define MOST_SLOTS    1024u
#define MOST_CELLS    8192u
#define JOINT_SLOTS   12u
#define JOINT_CELLS   4096u
#define SLACK         0.12 /* largest allowed difference of slopes */

static const double candidate[] = {0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0};
enum { N_CANDIDATES = sizeof candidate / sizeof candidate[0] };

/* Cells of states; at the end of a pass, every watched chain is counted in its cells. If there are
 * few variables, a cell is a joint state; else it is a state of one of up to 1024 variables at
 * equal distances. A repeat is one chain in one round of passes. */
typedef struct tally_shape {
    bool joint;
    uint32_t n_chains, n_rounds, n_slots;
    size_t n_cells;
} tally_shape;

typedef struct search {
    gbs_run *run;
    gbsi_drive *drive;
    tally_shape shape;
    uint64_t passes;
    uint32_t *count; /* [n_cells][n_chains] */
    uint32_t *first; /* [POINTS][n_rounds][n_cells][n_chains] counts of the first series */
} search;

/* ---- what is counted ------------------------------------------------------------------------- */

static uint32_t watched_slot(const tally_shape *shape, const gbsi_plan *plan, uint32_t i)
{
    return shape->joint ? i : (uint32_t)((uint64_t)i * plan->n_slots / shape->n_slots);
}

static size_t cells_of(const tally_shape *shape, const gbsi_plan *plan)
{
    size_t n = 0;
    for (uint32_t i = 0; i < shape->n_slots; ++i) {
        n += gbsi_plan_arity(plan, watched_slot(shape, plan, i));
    }
    return n;
}

static tally_shape shape_of(const gbsi_engine *engine, const gbs_run_options *options)
{
    const gbsi_plan *plan = engine->plan;
    const uint32_t chains = (uint32_t)options->chains;
    tally_shape shape = {.joint = plan->n_slots <= JOINT_SLOTS,
                         .n_chains = chains < MOST_CHAINS ? chains : MOST_CHAINS,
                         .n_rounds = (LEAST_REPEATS + chains - 1) / chains,
                         .n_slots = plan->n_slots,
                         .n_cells = 1};
    for (uint32_t slot = 0; shape.joint && slot < plan->n_slots; ++slot) {
        shape.n_cells *= gbsi_plan_arity(plan, slot);
        shape.joint = shape.n_cells <= JOINT_CELLS;
    }
    if (!shape.joint) {
        shape.n_slots = plan->n_slots < MOST_SLOTS ? plan->n_slots : MOST_SLOTS;
        while (shape.n_slots > 1 && cells_of(&shape, plan) > MOST_CELLS) {
            shape.n_slots /= 2;
        }
        shape.n_cells = cells_of(&shape, plan);
    }
    return shape;
}

static bool is_wanted(const gbs_run_options *options, const gbsi_engine *engine)
{
    return (gbsi_draw_traits(options) & GBSI_DRAW_THRESHOLD) != 0 &&
           options->threshold == GBS_THRESHOLD_AUTO && engine->plan != NULL;
}

uint64_t gbsi_run_threshold_bytes(const gbs_run_options *options, const gbsi_engine *engine)
{
    if (!is_wanted(options, engine)) {
        return 0;
    }
    const tally_shape shape = shape_of(engine, options);
    return (uint64_t)shape.n_cells * shape.n_chains * (POINTS * shape.n_rounds + 1) *
           sizeof(uint32_t);
}

static void count_pass(search *s)
{
    const gbsi_plan *plan = s->run->sampling.engine.plan;
    const gbsi_executor *x = &s->run->sampling.engine.executor;
    const uint32_t n_chains = s->shape.n_chains;
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        const void *state = x->group[chain / x->lanes].state;
        size_t cell = 0;
        size_t step = 1;
        for (uint32_t i = 0; i < s->shape.n_slots; ++i) {
            const uint32_t slot = watched_slot(&s->shape, plan, i);
            const size_t at = (size_t)slot * x->lanes + chain % x->lanes;
            const uint32_t value = gbsi_state_at(state, at, plan->value_bytes);
            if (s->shape.joint) {
                cell += step * value;
                step *= gbsi_plan_arity(plan, slot);
            } else {
                ++s->count[(cell + value) * n_chains + chain];
                cell += gbsi_plan_arity(plan, slot);
            }
        }
        if (s->shape.joint) {
            ++s->count[cell * n_chains + chain];
        }
    }
}

/* ---- series ---------------------------------------------------------------------------------- */

/* Runs the rounds of passes of one series. The first series stores its counts in s->first; other
 * series are compared with these counts. @param distance [POINTS] sums of |count - first count|
 * over cells and repeats; NULL for the first series. */
static gbs_status run_series(search *s, const gbs_run_options *how, uint64_t series,
                             uint64_t *distance, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = s->run;
    const size_t n = s->shape.n_cells * s->shape.n_chains;
    const uint64_t seed = run->task.options.seed;
    for (uint32_t round = 0; round < s->shape.n_rounds && s->drive->stop == GBSI_GO_ON; ++round) {
        gbs_run_options options = *how;
        uint32_t point = 0;
        options.seed = gbsi_mix64(seed + gbsi_mix64(series * s->shape.n_rounds + round + 1));
        GBSI_TRY(gbsi_executor_redraw(&run->sampling.engine.executor, &options,
                                      run->memory.draw_room, err));
        run->task.options.seed = options.seed; /* gives every series its own starts */
        GBSI_TRY(
            gbsi_run_set_starts(&run->task, &run->sampling.engine, &run->report, s->drive, err));
        run->task.options.seed = seed;
        run->report.public.updates = 0;
        memset(s->count, 0, n * sizeof *s->count);
        for (uint64_t t = 1; t <= s->passes && s->drive->stop == GBSI_GO_ON; ++t) {
            GBSI_TRY(
                gbsi_run_advance(&run->task, &run->sampling, &run->report, s->drive, NULL, err));
            count_pass(s);
            if (t != s->passes >> (POINTS - 1 - point)) {
                continue;
            }
            uint32_t *first = s->first + (point * (size_t)s->shape.n_rounds + round) * n;
            for (size_t i = 0; distance != NULL && i < n; ++i) {
                const uint32_t a = s->count[i];
                const uint32_t b = first[i];
                distance[point] += a > b ? a - b : b - a;
            }
            if (distance == NULL) {
                memcpy(first, s->count, n * sizeof *first);
            }
            ++point;
        }
    }
cleanup:
    run->task.options.seed = seed;
    return status;
}

/* Least-squares slope of log2 (distance / t) at the times t = T/16, .., T. */
static double slope_of(const uint64_t *distance)
{
    double slope = 0.0;
    for (uint32_t i = 0; i < POINTS; ++i) {
        const double sum = distance[i] > 0 ? (double)distance[i] : 1.0;
        slope += ((double)i - 2.0) * (gbsi_log(sum) / gbsi_log(2.0) - (double)i) / 10.0;
    }
    return slope;
}

/* ---- the search ------------------------------------------------------------------------------ */

static gbs_status try_all(search *s, double *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run_options random =
        gbsi_draw_instead(&s->run->task.options, gbsi_draw_with(GBSI_DRAW_INDEPENDENT));
    uint64_t control[POINTS] = {0};
    GBSI_TRY(run_series(s, &random, 0, NULL, err));
    GBSI_TRY(run_series(s, &random, 1, control, err));
    for (uint32_t i = 0; i < N_CANDIDATES && s->drive->stop == GBSI_GO_ON; ++i) {
        gbs_run_options bounded = s->run->task.options;
        uint64_t distance[POINTS] = {0};
        bounded.threshold = candidate[i];
        GBSI_TRY(run_series(s, &bounded, 2 + i, distance, err));
        if (s->drive->stop == GBSI_GO_ON && slope_of(distance) <= slope_of(control) + SLACK) {
            *found = candidate[i];
            return GBS_OK;
        }
    }
    if (s->drive->stop == GBSI_GO_ON) {
        GBSI_TRY(gbsi_report_warn(
            &s->run->report, err,
            "with no threshold up to %g does the error fall as fast as with random "
            "draws over %.0f sweeps: the threshold is %g, which is --draw random",
            candidate[N_CANDIDATES - 1], (double)s->passes, *found));
    }
cleanup:
    return status;
}

static gbs_status find(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    double found = GBSI_MOST_THRESHOLD;
    search s = {
        .run = run, .drive = drive, .shape = shape_of(&run->sampling.engine, &run->task.options)};
    const size_t n = s.shape.n_cells * s.shape.n_chains;
    s.passes = gbsi_draw_passes(&run->task.options, run->sampling.engine.plan->n_sampled);
    s.passes = s.passes < GBSI_LEAST_TRIAL ? GBSI_LEAST_TRIAL : s.passes;
    if (s.passes > UINT32_MAX) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--threshold auto needs a run of less than 2^32 sweeps");
    }
    s.count = gbsi_alloc_array(n, sizeof *s.count);
    s.first = gbsi_alloc_array(n, POINTS * s.shape.n_rounds * sizeof *s.first);
    GBSI_TRY(GBSI_HAVE(err, "threshold", s.count, s.first));
    GBSI_TRY(try_all(&s, &found, err));
    run->task.options.threshold = found;
    GBSI_TRY(gbsi_executor_redraw(&run->sampling.engine.executor, &run->task.options,
                                  run->memory.draw_room, err));
    drive->pass = 0; /* from here on, the run goes on as if the user had given the threshold */
    run->report.public.updates = 0;
cleanup:
    GBSI_FREE(s.count, s.first);
    return status;
}

gbs_status gbsi_run_find_threshold(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (run->sampling.engine.plan == NULL) {
        return GBS_OK;
    }
    if (is_wanted(&run->task.options, &run->sampling.engine)) {
        GBSI_TRY(find(run, drive, err));
    }
    if ((gbsi_draw_traits(&run->task.options) & GBSI_DRAW_THRESHOLD) != 0) {
        run->report.public.threshold = run->task.options.threshold;
    }
    run->report.public.bins =
        gbsi_draw_bins(&run->task.options, run->sampling.engine.plan->n_sampled);
cleanup:
    return status;
}
