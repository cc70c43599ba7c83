/* SPDX-License-Identifier: Apache-2.0 */
/* The pilot of `--scan auto`: finds the scan that gives the most effective samples per operation
 * [M42]. The chromatic scan is tried first. On easy models this trial soon shows that no splash
 * could be cheaper, and the pilot ends. If this trial shows that the chains of the chromatic scan
 * are slow, splashes of increasing width are tried. Only counts decide, and the chains of trials
 * are not used again: the run has the bits of a run for which the user named the chosen scan. */
#include "choose/trial.h"

#include <assert.h>

#include "base/clock.h"
#include "base/memory.h"
#include "chains/run_options.h"
#include "splash/splash_rounds.h"

/* Least number of passes of the first stretch of a trial; both limits are powers of two. */
#define FIRST_LEAST 8u
#define FIRST_MOST  256u /* largest number of passes of the first stretch of a trial */
#define SHARE       20u /* the first stretch has at most 1 / SHARE of the passes of the shortest run */
#define FEWEST      8u /* least number of passes after which a trial is judged */
/* Least number of passes of the cheapest splash before a splash can win. */
#define FIRST_SPLASH 16u
/* Largest ratio of passes_each (passes per independent draw) to kept passes at which passes_each is
 * an estimate; at a larger ratio it is only a lower bound. */
#define RESOLVED 0.25
/* Factor by which a splash must be better than the chromatic scan; the margin is there because
 * trials are noisy. */
#define MARGIN 1.5
/* Factor by which a splash must be better than a splash of smaller width. */
#define WIDTH_MARGIN 1.1
/* The budget of the pilot: a share of the operations that the allowed updates or the requested
 * sweeps take, and a share of the time. */
#define SHARE_OF_UPDATES 0.05
#define SHARE_OF_SWEEPS  0.25
#define SHARE_OF_TIME    0.25
#define LEAST_BUDGET     1e8 /* least budget of operations, which take a tenth of a second */
/* budget of operations if updates of single variables may never satisfy all hard zeros */
#define ZEROS_BUDGET   2e9
#define LARGEST_CLIQUE 131072.0
#define WHOLE          16384u /* largest number of variables of a model that one splash may hold */
#define MOST_BYTES     (UINT64_C(1) << 30) /* limit on the bytes of all trials together */

static const uint32_t width[] = {1, 2, 4, 8, 16};
enum { N_WIDTHS = sizeof width / sizeof width[0] };

typedef struct pilot {
    gbs_run *run;
    gbsi_drive *drive;
    gbsi_plan *own_plan; /* NULL if the plan of the run is used */
    gbsi_schedule own_schedule;
    const gbsi_plan *plan;
    const gbsi_schedule *schedule;
    bool crosses; /* whether updates of single variables reach all states that hard zeros allow */
    double mean_arity;
    double budget;                      /* number of operations for all trials together */
    gbsi_trial *trial[GBS_MOST_TRIALS]; /* trials in the order of the report; the first is of the
                                           chromatic scan */
    uint32_t n_widths;                  /* number of widths that may be tried */
    double least_passes; /* least number of passes of a run that may be reported as converged */
    uint64_t bytes;      /* bytes of all trials so far, in addition to the memory of the run
                          */
    gbsi_pool *pool;     /* NULL if several threads would need more than MOST_BYTES */
    bool too_large;      /* whether hard zeros join more variables than a splash can hold */
    bool cut;            /* whether the clock or a signal cut the pilot short */
} pilot;

/* ---- how long -------------------------------------------------------------------------------- */

/* Number of passes of the shortest possible run. */
static double shortest_run(const gbs_run_options *o, double least_passes)
{
    const double burn_in = o->burn_in == GBS_BURN_IN_AUTO ? 64.0 : (double)o->burn_in;
    return (o->sweeps > 0 ? (double)o->sweeps : least_passes) + burn_in;
}

/* The largest of the numbers low, 2 low, 4 low, ... that exceeds neither `most` nor `high`; at
 * least `low`. */
static uint64_t power_of_two(double most, uint64_t low, uint64_t high)
{
    uint64_t n = low;
    while (n < high && (double)(2 * n) <= most) {
        n *= 2;
    }
    return n;
}

static double budget_of(const pilot *p, double operations)
{
    const gbs_run_options *o = &p->run->task.options;
    const double updates = (double)p->plan->n_slots * (double)o->chains;
    const double passes = o->sweeps > 0 ? SHARE_OF_SWEEPS * (double)o->sweeps
                                        : SHARE_OF_UPDATES * (double)o->max_updates / updates;
    const double least = p->crosses ? LEAST_BUDGET : ZEROS_BUDGET;
    return passes * operations > least ? passes * operations : least;
}

/* Whether a stop or the time limit ends the pilot. The time limit of the pilot is a share of the
 * time of the run. */
static bool is_cut(const pilot *p)
{
    const double time_s = p->run->task.options.time_s;
    return p->drive->stop != GBSI_GO_ON ||
           (time_s > 0.0 && gbsi_clock_s() - p->drive->started_s > time_s * SHARE_OF_TIME);
}

static gbs_status passes_until(pilot *p, gbsi_trial *trial, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    while (status >= 0 && gbsi_trial_n_passes(trial) < n && !p->cut) {
        status = gbsi_trial_pass(trial, err);
        gbsi_run_watch(&p->run->task.options, &p->run->report, p->drive, false);
        p->cut = status == GBS_STOPPED || is_cut(p);
    }
    return status;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static double cost_of(const pilot *p, uint32_t i)
{
    return 1.0 / p->run->report.public.trial[i].ess_per_operation;
}

static void take_note(pilot *p, uint32_t i)
{
    gbs_trial *t = &p->run->report.public.trial[i];
    uint64_t n_kept = 0;
    if (gbsi_trial_n_passes(p->trial[i]) == 0) {
        return; /* the trial was cut short */
    }
    t->passes = gbsi_trial_n_passes(p->trial[i]);
    t->operations = gbsi_trial_operations(p->trial[i]) / (double)t->passes;
    t->passes_each = gbsi_trial_passes_each(p->trial[i], &n_kept);
    t->is_bound = t->passes < FEWEST || t->passes_each > RESOLVED * (double)n_kept;
    t->reaches_zeros = gbsi_trial_reaches(p->trial[i]);
    t->ess_per_operation = (double)p->run->task.options.chains / (t->passes_each * t->operations);
}

static double spent(const pilot *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->run->report.public.n_trials; ++i) {
        sum += gbsi_trial_operations(p->trial[i]);
    }
    return sum;
}

/* Takes a plan with rows for sixteen chains side by side: the run's own plan if its rows are of
 * this kind. */
static gbs_status take_plan(pilot *p, gbs_error *err)
{
    gbs_run *run = p->run;
    gbsi_sequence sequence = {0};
    p->plan = run->sampling.engine.plan;
    p->schedule = &run->sampling.engine.schedule;
    if (run->sampling.engine.plan->sell.slice == NULL) {
        return GBS_OK;
    }
    GBSI_PASS(
        run->sampling.engine.scan->next_pass(run->sampling.engine.scan_state, 0, &sequence, err));
    GBSI_PASS(gbsi_plan_new(run->task.problem.part, run->task.problem.graph, sequence.variable,
                            sequence.n, (gbsi_plan_options){.repeats = true}, &p->own_plan, err));
    GBSI_PASS(gbsi_plan_level(p->own_plan, sequence.variable, sequence.n, &p->own_schedule, err));
    p->plan = p->own_plan;
    p->schedule = &p->own_schedule;
    return GBS_OK;
}

/* The options of a trial of splashes. Splashes that grow in order of discovery (fifo) expand from
 * the root in breadth, and need the least width. Their size is that of a run with --scan splash and
 * without --splash-size, which a user cannot give together with --scan auto. */
static gbs_run_options splashes_of(const pilot *p, uint32_t w)
{
    gbs_run_options how = p->run->task.options;
    how.scan = gbsi_scan_with(GBSI_SCAN_CANDIDATE);
    how.grow = GBS_GROW_FIFO;
    how.width = w;
    if (!p->crosses) { /* the size should be large enough for all variables that hard zeros join */
        const uint32_t n = p->plan->n_slots;
        how.splash_size = n > GBSI_SPLASH_SIZE && n <= WHOLE ? n : GBSI_SPLASH_SIZE;
    }
    return how;
}

static uint64_t bytes_of_scan(const pilot *p, const gbs_run_options *how, uint32_t n_threads)
{
    const gbsi_pass *pass = gbsi_pass_of(how->scan);
    const gbsi_pass_setting setting = {.plan = p->plan, .options = how, .n_threads = n_threads};
    return pass == p->run->sampling.engine.pass ? 0 : pass->bytes(&setting);
}

/* The bytes of the first n trials, which are in memory together: the trial of the chromatic scan,
 * and trials of splashes. */
static uint64_t bytes_of_trials(const pilot *p, uint32_t n, uint32_t n_threads)
{
    uint64_t bytes = n * gbsi_trial_bytes(p->plan, n_threads);
    for (uint32_t i = 1; i < n; ++i) {
        const gbs_run_options how = splashes_of(p, width[i - 1]);
        bytes += bytes_of_scan(p, &how, n_threads);
    }
    return bytes;
}

/* The bytes of the memory limit that remain for trials. */
static uint64_t room_for_trials(const pilot *p)
{
    const uint64_t limit = gbsi_options_memory_limit(&p->run->task.options);
    const uint64_t standing =
        gbsi_run_standing_bytes(&p->run->task.problem, &p->run->sampling.estimates) +
        p->run->sampling.engine.plan->bytes;
    const uint64_t left = limit > standing ? limit - standing : 0;
    return left < MOST_BYTES ? left : MOST_BYTES;
}

/* Whether the memory has room for n trials, and for a run with the scan of the last trial. The
 * bytes of trials are computed for one thread; the choice therefore does not depend on the number
 * of threads. */
static bool fit(const pilot *p, uint32_t n)
{
    const gbs_run *run = p->run;
    const gbs_run_options how = n > 1 ? splashes_of(p, width[n - 2]) : run->task.options;
    (void)gbsi_watch_spend(&p->drive->watch, n * p->plan->model->factors.n_factors);
    const uint64_t of_scan = bytes_of_scan(p, &how, gbsi_options_threads(&run->task.options));
    return bytes_of_trials(p, n, 1) <= room_for_trials(p) &&
           run->memory.peak + of_scan <= gbsi_options_memory_limit(&run->task.options);
}

/* The factor by which tables grow if they have n_more further variables. */
static double growth(const pilot *p, uint32_t n_more)
{
    double factor = 1.0;
    for (uint32_t i = 0; i < n_more; ++i) {
        factor *= p->mean_arity;
    }
    return factor;
}

/* Counts the widths that the pilot may try. The cliques of a width must not be too large, and its
 * splashes must fit the memory. */
static void count_widths(pilot *p)
{
    double sum = 0.0;
    for (uint32_t slot = 0; slot < p->plan->n_slots; ++slot) {
        sum += gbsi_plan_arity(p->plan, slot);
    }
    p->mean_arity = sum / p->plan->n_slots;
    for (p->n_widths = 0; p->n_widths < N_WIDTHS; ++p->n_widths) {
        if (growth(p, width[p->n_widths] + 1) > LARGEST_CLIQUE || !fit(p, p->n_widths + 2)) {
            break;
        }
    }
    const uint64_t bytes =
        bytes_of_trials(p, p->n_widths + 1, gbsi_options_threads(&p->run->task.options));
    p->pool = bytes <= room_for_trials(p) ? p->run->sampling.engine.pool : NULL;
}

/* Lower bound of the operations of a pass of splashes. */
static double least_of_candidate(const pilot *p)
{
    const gbsi_pass_setting setting = {.plan = p->plan,
                                       .n_chains = (uint32_t)p->run->task.options.chains};
    return gbsi_pass_of(gbsi_scan_with(GBSI_SCAN_CANDIDATE))->least_operations(&setting);
}

/* Whether the budget allows a pass of the next larger width. */
static bool may_widen(const pilot *p)
{
    const gbs_report *r = &p->run->report.public;
    const uint32_t i = r->n_trials;
    assert(i > 0); /* trial 0 is the trial of the chromatic scan */
    if (i > p->n_widths) {
        return false;
    }
    const double more = i == 1 ? 1.0 : growth(p, width[i - 1] - width[i - 2]);
    const double before = i == 1 ? least_of_candidate(p) : r->trial[i - 1].operations;
    return before * more * 4.0 <= p->budget - spent(p);
}

static gbs_status widen(pilot *p, gbs_error *err)
{
    gbs_report *r = &p->run->report.public;
    const uint32_t i = r->n_trials;
    const gbs_run_options how = splashes_of(p, width[i - 1]);
    gbs_status status = gbsi_trial_new(&p->run->task, p->plan, p->schedule, &how, i, p->pool,
                                       &p->drive->watch, &p->trial[i], err);
    p->cut = p->cut || status == GBS_STOPPED || status == GBS_ERR_STOPPED;
    if (status == GBS_ERR_LIMIT ||
        status ==
            GBS_ERR_STOPPED) { /* splashes are not tried on models that do not fit their limits */
        p->n_widths = i - 1;
        return GBS_OK;
    }
    GBSI_TRY(status);
    r->trial[r->n_trials++] = (gbs_trial){.scan = gbsi_scan_of(how.scan)->name,
                                          .width = width[i - 1],
                                          .splash_size = gbsi_trial_block_size(p->trial[i])};
    GBSI_TRY(passes_until(p, p->trial[i], 1, err));
    take_note(p, i);
cleanup:
    return status;
}

/* ---- the race -------------------------------------------------------------------------------- */

/* Tries the chromatic scan alone. The trial ends once its result is an estimate, and not only a
 * bound, or once it has taken as many operations as splashes take at least. */
static gbs_status try_chromatic(pilot *p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = p->run;
    gbs_report *r = &run->report.public;
    const double least = FIRST_SPLASH * least_of_candidate(p);
    uint64_t n = power_of_two(shortest_run(&run->task.options, p->least_passes) / SHARE,
                              FIRST_LEAST, FIRST_MOST);
    GBSI_TRY(gbsi_trial_new(&run->task, p->plan, p->schedule, &run->task.options, 0, p->pool,
                            &p->drive->watch, &p->trial[0], err));
    p->cut = p->cut || status == GBS_STOPPED;
    r->trial[r->n_trials++].scan = run->sampling.engine.scan->name;
    do {
        GBSI_TRY(passes_until(p, p->trial[0], n, err));
        take_note(p, 0);
        p->budget = budget_of(p, r->trial[0].operations);
        n *= 2;
    } while (!p->cut && r->trial[0].is_bound && p->crosses &&
             r->trial[0].operations * (double)n < least &&
             r->trial[0].operations * (double)n < p->budget);
cleanup:
    return status;
}

/* Runs all trials up to a number of operations, and adds trials of wider splashes once the budget
 * allows them. */
static gbs_status run_to(pilot *p, double level, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_report *r = &p->run->report.public;
    for (uint32_t i = 0; !p->cut && (i < r->n_trials || may_widen(p)); ++i) {
        if (i == r->n_trials) {
            const uint32_t before = r->n_trials;
            GBSI_TRY(widen(p, err));
            if (r->n_trials == before) {
                break;
            }
        }
        const double passes = level / r->trial[i].operations;
        const uint64_t n = power_of_two(passes, 1, UINT64_MAX / 4);
        if (n >= FEWEST) {
            GBSI_TRY(passes_until(p, p->trial[i], n, err));
            take_note(p, i);
        }
    }
cleanup:
    return status;
}

/* Finds out whether the largest block of variables that hard zeros join is too large for a splash,
 * or so dense that its tree is wider than all widths to try. */
static gbs_status find_reach(pilot *p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = p->plan->n_slots;
    const gbs_run_options how = splashes_of(p, 1);
    uint32_t n_blocks = 0;
    uint32_t *block = gbsi_alloc_array(n, sizeof *block);
    uint32_t *size = gbsi_alloc_array_zero(n, sizeof *size);
    GBSI_TRY(GBSI_HAVE(err, "pilot", block, size));
    status = gbsi_hard_blocks(p->run->task.problem.part, &p->drive->watch, block, &n_blocks, err);
    if (gbsi_watch_stopped(
            &p->drive->watch)) { /* no splash is tried if the watch stopped the search */
        status = GBS_OK;
        goto cleanup;
    }
    GBSI_TRY(status);
    for (uint32_t v = 0; v < n; ++v) {
        p->too_large |= ++size[block[v]] > how.splash_size;
    }
    if (!p->too_large && p->n_widths > 0) {
        GBSI_TRY(gbsi_hard_too_dense(p->run->task.problem.part, width[p->n_widths - 1],
                                     &p->drive->watch, &p->too_large, err));
    }
cleanup:
    GBSI_FREE(block, size);
    return status;
}

/* Whether all widths have been tried, and no trial reaches all states that hard zeros allow. */
static bool is_out_of_reach(const pilot *p)
{
    const gbs_report *r = &p->run->report.public;
    bool tried = r->n_trials > p->n_widths;
    for (uint32_t i = 1; i < r->n_trials; ++i) {
        tried = tried && r->trial[i].passes >= FEWEST && !r->trial[i].reaches_zeros;
    }
    return tried;
}

/* Returns the trial with the most effective samples per operation, or 0 if no trial qualifies. A
 * trial qualifies if its chains have moved and it reaches all states that hard zeros allow. @param
 * settled out: whether a trial qualifies. */
static uint32_t best_of(const pilot *p, bool *settled)
{
    const gbs_report *r = &p->run->report.public;
    uint32_t best = 0;
    *settled = p->crosses && !r->trial[0].is_bound;
    for (uint32_t i = 1; i < r->n_trials; ++i) {
        const gbs_trial *t = &r->trial[i];
        const double margin = best == 0 ? MARGIN : WIDTH_MARGIN;
        if (!t->is_bound && (p->crosses || t->reaches_zeros) &&
            (!*settled || cost_of(p, i) * margin < cost_of(p, best))) {
            best = i;
            *settled = true;
        }
    }
    return best;
}

/* Returns the cheapest splash trial that reaches all states that hard zeros allow, even if its
 * chains have not moved; 0 if there is no such trial. */
static uint32_t best_that_reaches(const pilot *p)
{
    const gbs_report *r = &p->run->report.public;
    uint32_t best = 0;
    for (uint32_t i = 1; !p->crosses && i < r->n_trials; ++i) {
        if (r->trial[i].reaches_zeros && (best == 0 || cost_of(p, i) < cost_of(p, best))) {
            best = i;
        }
    }
    return best;
}

/* Runs the race. All trials get equal numbers of operations, which double from round to round. The
 * comparison ends once the chains of a trial are long compared with their correlation time; this
 * trial has the most effective samples. */
static gbs_status race(pilot *p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_report *r = &p->run->report.public;
    bool settled = false;
    r->chosen = best_of(p, &settled);
    double level = 2.0 * gbsi_trial_operations(p->trial[0]);
    while (!settled && !p->cut && p->n_widths > 0 && level < p->budget - spent(p)) {
        GBSI_TRY(run_to(p, level, err));
        p->crosses = p->crosses || is_out_of_reach(p);
        if (p->crosses && p->run->sampling.engine.by_need) {
            break; /* no splash is needed, or none can cross the hard zeros */
        }
        r->chosen = best_of(p, &settled);
        level *= 2.0;
    }
    r->chosen = settled ? r->chosen : best_that_reaches(p);
cleanup:
    return status;
}

static const char *reason_of(const pilot *p)
{
    const gbs_report *r = &p->run->report.public;
    if (p->cut) {
        return "the pilot was stopped early";
    }
    if (!p->crosses && r->chosen > 0) {
        return "its splashes hold every block of hard zeros, and updates of single variables were "
               "not shown to cross them";
    }
    if (p->run->sampling.engine.by_need && r->chosen == 0) {
        return "no splash held every block of hard zeros";
    }
    if (r->n_trials == 1) {
        return "splashes need more operations per effective sample";
    }
    return r->trial[r->chosen].is_bound ? "no scan was seen to mix"
                                        : "it gives the most effective samples per operation";
}

static gbs_status choose(pilot *p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_report *r = &p->run->report.public;
    GBSI_TRY(take_plan(p, err));
    count_widths(p);
    if (!fit(p, 1)) {
        r->scan_reason = "the memory limit leaves no room for a pilot";
        goto cleanup;
    }
    if (!p->crosses) {
        GBSI_TRY(find_reach(p, err));
    }
    if (p->too_large && p->run->sampling.engine.by_need) {
        r->scan_reason = "hard zeros join more variables, or more densely, than a splash can hold";
        goto cleanup;
    }
    p->crosses = p->crosses || p->too_large;
    GBSI_TRY(try_chromatic(p, err));
    GBSI_TRY(race(p, err));
    r->chosen = p->cut ? 0 : r->chosen;
    r->scan_reason = reason_of(p);
cleanup:
    for (uint32_t i = 0; i < GBS_MOST_TRIALS; ++i) {
        gbsi_trial_free(p->trial[i]);
    }
    p->bytes = p->plan == NULL
                   ? 0
                   : gbsi_run_standing_bytes(&p->run->task.problem, &p->run->sampling.estimates) +
                         p->run->sampling.engine.plan->bytes +
                         bytes_of_trials(p, r->n_trials, gbsi_pool_size(p->pool));
    gbsi_schedule_free(&p->own_schedule);
    gbsi_plan_free(p->own_plan);
    return status;
}

gbs_status gbsi_run_choose_scan(gbs_run *run, gbsi_drive *drive, double least_passes,
                                uint64_t *bytes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_report *r = &run->report.public;
    const double begun_s = gbsi_clock_s();
    pilot p = {.run = run,
               .drive = drive,
               .least_passes = least_passes,
               .crosses = !r->has_zeros || run->task.problem.support == GBSI_SUPPORT_CONNECTED};
    run->sampling.engine.undecided = false;
    drive->share = SHARE_OF_TIME;
    gbsi_drive_go_on(drive, false);
    if (run->sampling.engine.pool == NULL) {
        GBSI_TRY(gbsi_pool_new(gbsi_options_threads(&run->task.options), &run->sampling.engine.pool,
                               err));
    }
    if (run->task.ranks != NULL && !p.crosses) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "chains on several ranks: updates of single variables were not shown to "
                         "cross all hard zeros, and pilot runs are on one process only: name a "
                         "scan (--scan %s) to go on with it",
                         gbsi_scan_base_name());
    }
    if (!run->sampling.engine.by_need || !p.crosses) {
        GBSI_TRY(choose(&p, err));
        r->pilot_s = gbsi_clock_s() - begun_s;
    }
    const gbs_trial *chosen = &r->trial[r->chosen];
    if (r->chosen > 0) {
        run->task.options.width = chosen->width;
        run->task.options.grow = GBS_GROW_FIFO;
        run->task.options.splash_size = chosen->splash_size;
    }
    *bytes = p.bytes;
cleanup:
    return status;
}
