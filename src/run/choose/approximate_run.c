/* SPDX-License-Identifier: Apache-2.0 */
/* Approximations in place of chains: mean field, and loopy belief propagation. Each approximation
 * is iterated up to a fixed point, or until --iterations, --max-updates, --time or the user ends
 * the work. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/forest.h"
#include "base/memory.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "trees/decompose.h"
#include "variational/belief.h"
#include "variational/mean_field.h"

/* An approximation is at a fixed point if an iteration changes no number by more than TOLERANCE. */
#define TOLERANCE  1e-10
#define PROGRESS_S 0.1

/* An approximation of the marginals of the free variables of a problem. */
typedef struct approximation {
    gbs_method method;
    const char *name; /* name in messages */
    uint64_t (*bytes)(const gbsi_conditioned *model);
    gbs_status (*begin)(const gbsi_conditioned *model, const gbs_run_options *options,
                        gbsi_watch *watch, void **state, gbs_error *err);
    /* Makes one iteration. @param n number of iterations before this one. @return the largest
     * change of a number in this iteration. */
    double (*step)(void *state, const gbs_run_options *options, uint64_t n);
    /* Reads the marginals. @param p [n_states] out. */
    gbs_status (*read)(void *state, size_t n_states, double *p, gbs_error *err);
    /* Writes the distance from a fixed point, and the estimate of ln Z, to the report. */
    void (*judge)(void *state, gbs_report *report);
    void (*free)(void *state);
} approximation;

/* ---- mean field ------------------------------------------------------------------------------ */

static gbs_status begin_mean_field(const gbsi_conditioned *model, const gbs_run_options *options,
                                   gbsi_watch *watch, void **state, gbs_error *err)
{
    gbsi_mean_field *m = NULL;
    const double damping = options->damping == GBS_DAMPING_AUTO ? 1.0 : options->damping;
    const gbs_status status = gbsi_mean_field_new(
        model, (gbs_mean_field_schedule)options->mean_field_schedule, damping, watch, &m, err);
    *state = m;
    return status;
}

static double step_mean_field(void *state, const gbs_run_options *options, uint64_t n)
{
    (void)options;
    (void)n;
    return gbsi_mean_field_step(state);
}

static gbs_status read_mean_field(void *state, size_t n_states, double *p, gbs_error *err)
{
    (void)err;
    memcpy(p, gbsi_mean_field_q(state), n_states * sizeof *p);
    return GBS_OK;
}

static void judge_mean_field(void *state, gbs_report *report)
{
    report->residual = gbsi_mean_field_residual(state);
    report->log_z_bound = gbsi_mean_field_bound(state);
}

static void free_mean_field(void *state)
{
    gbsi_mean_field_free(state);
}

/* ---- belief propagation ---------------------------------------------------------------------- */

/* Belief propagation, in which long factors are first replaced by chains of short factors. */
typedef struct belief {
    gbsi_conditioned *chained; /* model in which chains of short factors replace long factors; NULL
                                  if no factor is long */
    gbsi_belief *messages;
    double residual; /* residual (largest change of a message) of the last iteration */
    double *p;       /* [states of `chained`, or of the model] scratch */
} belief;

static void free_belief(void *state)
{
    belief *b = state;
    if (b != NULL) {
        gbsi_belief_free(b->messages);
        gbsi_conditioned_free(b->chained);
        GBSI_FREE(b->p, b);
    }
}

static gbs_status begin_belief(const gbsi_conditioned *model, const gbs_run_options *options,
                               gbsi_watch *watch, void **state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    belief *b = gbsi_alloc_zero(sizeof *b);
    (void)options;
    GBSI_TRY(GBSI_HAVE(err, "belief propagation", b));
    GBSI_TRY(gbsi_decompose(model, false, &b->chained, err));
    const gbsi_conditioned *used = b->chained != NULL ? b->chained : model;
    b->residual = NAN;
    b->p = gbsi_alloc_array(used->state_offset[used->n_variables], sizeof *b->p);
    GBSI_TRY(GBSI_HAVE(err, "belief propagation", b->p));
    GBSI_TRY(gbsi_belief_new(used, watch, &b->messages, err));
    *state = b;
    b = NULL;

cleanup:
    free_belief(b);
    return status;
}

static double step_belief(void *state, const gbs_run_options *options, uint64_t n)
{
    belief *b = state;
    const double damping =
        options->damping != GBS_DAMPING_AUTO ? options->damping : gbsi_belief_damping(n);
    const double change = gbsi_belief_round(b->messages, damping);
    b->residual = isnan(change) ? b->residual : change;
    return change;
}

static gbs_status read_belief(void *state, size_t n_states, double *p, gbs_error *err)
{
    belief *b = state;
    GBSI_PASS(gbsi_belief_marginals(b->messages, b->p, err));
    memcpy(p, b->p, n_states * sizeof *p);
    return GBS_OK;
}

static void judge_belief(void *state, gbs_report *report)
{
    belief *b = state;
    report->residual = b->residual;
    report->log_z_bethe = gbsi_belief_log_z(b->messages);
}

/* ---- an approximation as a run --------------------------------------------------------------- */

static const approximation approximations[] = {
    {GBS_METHOD_MEAN_FIELD, "mean field", gbsi_mean_field_bytes, begin_mean_field, step_mean_field,
     read_mean_field, judge_mean_field, free_mean_field},
    {GBS_METHOD_BELIEF, "belief propagation", gbsi_belief_bytes, begin_belief, step_belief,
     read_belief, judge_belief, free_belief},
};

static const approximation *approximation_of(int method)
{
    for (size_t i = 0; i < sizeof approximations / sizeof approximations[0]; ++i) {
        if ((int)approximations[i].method == method) {
            return &approximations[i];
        }
    }
    return NULL;
}

bool gbsi_run_approximates(const gbsi_task *task)
{
    return gbsi_options_approximate(&task->options);
}

static gbs_status check_memory(const approximation *a, const gbsi_problem *problem,
                               const gbs_run_options *options, gbs_error *err)
{
    const uint64_t bytes = gbs_model_bytes(problem->model) +
                           gbsi_conditioned_bytes(problem->whole) + a->bytes(problem->whole);
    const uint64_t limit = gbsi_options_memory_limit(options);
    if (bytes <= limit) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "%s would take %" PRIu64 " bytes, the limit is %" PRIu64
                     ": try a larger --memory-limit",
                     a->name, bytes, limit);
}

static void tell_progress(const gbs_run_options *options, const gbs_report *report,
                          gbsi_drive *drive, double moved, double now_s)
{
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = report->iterations,
                                   .passes = options->iterations,
                                   .updates = report->updates,
                                   .elapsed_s = now_s - drive->started_s,
                                   .worst_error = moved,
                                   .target_error = TOLERANCE};
    drive->last_progress_s = now_s;
    if (drive->callbacks->progress(drive->callbacks->context, &progress) != 0) {
        drive->stop = GBSI_STOP_SIGNAL;
    }
}

/* Sets drive->stop if the time is over. The clock only ends the iterations: a run whose
 * --iterations is the number reached gives the same results. */
static void look_at_clock(const gbs_run_options *options, const gbs_report *report,
                          gbsi_drive *drive, double moved)
{
    const double now_s = gbsi_clock_s();
    if (drive->callbacks->progress != NULL && now_s - drive->last_progress_s > PROGRESS_S) {
        tell_progress(options, report, drive, moved, now_s);
    }
    gbsi_drive_end_in_time(options, drive, now_s);
}

/* Iterates until drive->stop is set or the watch stops. */
static void iterate(const approximation *a, void *state, const gbs_run_options *options,
                    uint32_t n_variables, gbs_report *report, gbsi_drive *drive)
{
    double least = INFINITY;
    uint64_t best = 0; /* number of the iteration with the smallest change so far */
    while (drive->stop == GBSI_GO_ON) {
        const double moved = a->step(state, options, report->iterations);
        if (gbsi_watch_stopped(&drive->watch)) {
            return;
        }
        report->updates += n_variables;
        if (moved < least) {
            least = moved;
            best = report->iterations;
        }
        if (++report->iterations == options->iterations) {
            drive->stop = GBSI_STOP_ITERATIONS;
        } else if (report->iterations - best > GBSI_PATIENCE) {
            drive->stop = GBSI_STOP_NO_PROGRESS;
        } else if (report->updates >= options->max_updates) {
            drive->stop = GBSI_STOP_UPDATES;
        } else {
            look_at_clock(options, report, drive, moved);
        }
        if (moved <= TOLERANCE) {
            drive->stop = GBSI_STOP_FIXED_POINT;
        }
    }
}

/* Whether the graph of variables and factors is a forest: no factor joins two variables that other
 * factors already join. Belief propagation is then exact (Pearl 1988). */
static gbs_status has_no_cycles(const gbsi_conditioned *model, bool *none, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    uint32_t *parent = gbsi_alloc_array(model->n_variables, sizeof *parent);
    GBSI_PASS(GBSI_HAVE(err, "cycles of the factor graph", parent));
    gbsi_forest_plant(parent, model->n_variables);
    *none = true;
    for (size_t f = 0; f < factors->n_factors && *none; ++f) {
        const size_t first = factors->scope_start[f];
        for (size_t e = first + 1; e < factors->scope_start[f + 1] && *none; ++e) {
            *none = gbsi_forest_join(parent, factors->scope[first], factors->scope[e]);
        }
    }
    gbsi_free(parent);
    return GBS_OK;
}

gbs_status gbsi_run_approximately(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                                  gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *state = NULL;
    const approximation *a = approximation_of(task->options.method);
    const gbsi_conditioned *whole = task->problem.whole;
    sampling->estimates.exact_mcse = NAN;
    if (whole->n_variables == 0) {
        drive->stop = GBSI_STOP_FIXED_POINT;
        report->public.residual = 0.0;
        report->public.log_z_bound = whole->log_constant;
        return GBS_OK;
    }
    GBSI_TRY(check_memory(a, &task->problem, &task->options, err));
    GBSI_TRY(a->begin(whole, &task->options, &drive->watch, &state, err));
    iterate(a, state, &task->options, whole->n_variables, &report->public, drive);
    gbsi_drive_finish(drive);
    a->judge(state, &report->public);
    GBSI_TRY(
        a->read(state, whole->state_offset[whole->n_variables], sampling->estimates.exact_p, err));
    if (a->method == GBS_METHOD_BELIEF && drive->stop == GBSI_STOP_FIXED_POINT) {
        GBSI_TRY(has_no_cycles(whole, &report->without_cycles, err));
        sampling->estimates.exact_mcse = report->without_cycles ? 0.0 : NAN;
    }

cleanup:
    a->free(state);
    return status;
}

/* ---- an answer in hand ----------------------------------------------------------------------- */

#define FIRST_SHARE      0.1 /* share of --time */
#define FIRST_ITERATIONS 200u
/* Largest number of states; in a larger model, one sweep would give an answer as early */
#define FIRST_STATES ((size_t)1 << 22)

/* Finds an answer by belief propagation. @param p [states of the part] out. @return false if
 * there is no answer. */
static bool find_first(const gbsi_task *task, gbsi_drive *drive, double *p)
{
    gbs_run_options options = task->options;
    gbs_report own = {0};
    void *state = NULL;
    const gbsi_conditioned *part = task->problem.part;
    const approximation *a = approximation_of(GBS_METHOD_BELIEF);
    options.iterations = FIRST_ITERATIONS;
    drive->share = gbsi_drive_spent_s(drive, gbsi_clock_s()) / options.time_s + FIRST_SHARE;
    bool found = a->begin(part, &options, &drive->watch, &state, NULL) >= 0;
    if (found) {
        iterate(a, state, &options, part->n_variables, &own, drive);
        found = own.iterations > 0 && /* without any iteration, all states are equally likely */
                a->read(state, part->state_offset[part->n_variables], p, NULL) >= 0;
    }
    a->free(state);
    drive->share = 1.0;
    if (drive->stop < GBSI_STOP_TIME) {
        drive->stop = GBSI_GO_ON;
        gbsi_drive_go_on(drive, false);
    }
    return found;
}

gbs_status gbsi_run_answer_first(const gbsi_task *task, gbsi_sampling *sampling, gbsi_drive *drive,
                                 gbs_error *err)
{
    const gbsi_conditioned *part = task->problem.part;
    const uint64_t limit = gbsi_options_memory_limit(&task->options);
    if (part == NULL || part->state_offset[part->n_variables] > FIRST_STATES ||
        gbsi_belief_bytes(part) > limit / 4) {
        return GBS_OK;
    }
    double *p = gbsi_alloc_array(part->state_offset[part->n_variables], sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "belief propagation", p));
    if (find_first(task, drive, p)) {
        sampling->estimates.first_p = p;
        sampling->estimates.first_offset = part->state_offset;
    } else {
        gbsi_free(p);
    }
    return GBS_OK;
}
