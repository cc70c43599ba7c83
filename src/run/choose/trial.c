/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often some variables have each state, separately for each chain. The differences
 * between the means of the chains show the error of a mean, even if chains are slow. If chains do
 * not move, their means differ as much as their states. */
#include "choose/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run_options.h"
#include "chains/tiles.h"

#define MOST_WATCHED 256u
#define MOST_CELLS   4096u
/* the 1 / WORST_SHARE of the watched variables with the worst results decide */
#define WORST_SHARE 10u
/* Number of the first pass of trial 0. A run has far fewer passes than FIRST_PASS, and a trial has
 * fewer than PASSES. */
#define FIRST_PASS (UINT64_C(1) << 55)
#define PASSES     (UINT64_C(1) << 40)

struct gbsi_trial {
    const gbsi_plan *plan;
    const gbsi_schedule *schedule;
    gbsi_executor executor;
    uint32_t run_chains;
    uint64_t first, n; /* number of the first pass; number of passes so far */
    uint64_t n_kept[2];
    uint32_t n_watched;
    uint32_t *slot;     /* [n_watched] slots of the watched variables */
    size_t *cell;       /* [n_watched + 1] index of the first cell of each watched variable */
    uint32_t *count[2]; /* [n_cells][chains] counts of states in the earlier half of the kept
                           passes, and in the later half */
};

/* ---- life ------------------------------------------------------------------------------------ */

static gbs_status watch_some(gbsi_trial *t, gbs_error *err)
{
    const gbsi_plan *plan = t->plan;
    uint32_t n = plan->n_slots < MOST_WATCHED ? plan->n_slots : MOST_WATCHED;
    t->slot = gbsi_alloc_array(n, sizeof *t->slot);
    t->cell = gbsi_alloc_array_zero((size_t)n + 1, sizeof *t->cell);
    GBSI_PASS(GBSI_HAVE(err, "pilot", t->slot, t->cell));
    for (uint32_t i = 0; i < n; ++i) {
        t->slot[i] = (uint32_t)((uint64_t)i * plan->n_slots / n);
        t->cell[i + 1] = t->cell[i] + gbsi_plan_arity(plan, t->slot[i]);
        t->n_watched = i == 0 || t->cell[i + 1] <= MOST_CELLS ? i + 1 : t->n_watched;
    }
    for (int half = 0; half < 2; ++half) {
        const size_t n_counts = t->cell[t->n_watched] * GBSI_TRIAL_CHAINS;
        t->count[half] = gbsi_alloc_array_zero(n_counts, sizeof *t->count[half]);
        GBSI_PASS(GBSI_HAVE(err, "pilot", t->count[half]));
    }
    return GBS_OK;
}

/* Sets starts that differ from the starts of the run's chains. */
static gbs_status start(gbsi_trial *t, const gbsi_problem *problem, const gbs_run_options *options,
                        gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_starter *starter = NULL;
    uint32_t *x = gbsi_alloc_array(problem->part->n_variables, sizeof *x);
    GBSI_PASS(GBSI_HAVE(err, "pilot", x));
    GBSI_TRY(gbsi_starter_new(problem->part, options->seed, t->executor.watch, &starter, err));
    for (uint32_t chain = 0; chain < GBSI_TRIAL_CHAINS && status == GBS_OK; ++chain) {
        GBSI_TRY(gbsi_starter_draw(starter, chain, FIRST_PASS, x, err));
        gbsi_executor_set(&t->executor, chain, x);
    }
    gbsi_executor_ready(&t->executor);
cleanup:
    gbsi_starter_free(starter);
    gbsi_free(x);
    return status;
}

gbs_status gbsi_trial_new(const gbsi_task *task, const gbsi_plan *plan,
                          const gbsi_schedule *schedule, const gbs_run_options *how,
                          uint32_t number, gbsi_pool *pool, gbsi_watch *watch, gbsi_trial **out,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run_options options = *how;
    gbsi_trial *t = gbsi_alloc_zero(sizeof *t);
    GBSI_PASS(GBSI_HAVE(err, "pilot", t));
    options.chains = GBSI_TRIAL_CHAINS;
    t->plan = plan;
    t->schedule = schedule;
    t->run_chains = (uint32_t)task->options.chains;
    t->first = FIRST_PASS + number * PASSES;
    GBSI_TRY(watch_some(t, err));
    const gbsi_executor_setting setting = {.pass = gbsi_pass_of(options.scan),
                                           .plan = plan,
                                           .options = &options,
                                           .level = gbsi_simd_level(),
                                           .pool = pool};
    GBSI_TRY(gbsi_executor_init(&t->executor, &setting, err));
    t->executor.watch = watch;
    GBSI_TRY(start(t, &task->problem, &task->options, err));
    *out = t;
    t = NULL;
cleanup:
    gbsi_trial_free(t);
    return status;
}

void gbsi_trial_free(gbsi_trial *t)
{
    if (t == NULL) {
        return;
    }
    gbsi_executor_free(&t->executor);
    GBSI_FREE(t->slot, t->cell, t->count[0], t->count[1], t);
}

uint64_t gbsi_trial_bytes(const gbsi_plan *plan, uint32_t n_threads)
{
    const uint64_t counts = 2 * (MOST_CELLS + (uint64_t)GBS_MAX_ARITY) * GBSI_TRIAL_CHAINS;
    const gbs_run_options options = {.chains = GBSI_TRIAL_CHAINS};
    const gbsi_executor_setting setting = {
        .pass = &gbsi_pass_tiles, .plan = plan, .options = &options};
    return gbsi_executor_bytes(&setting, n_threads) + counts * sizeof(uint32_t) +
           (uint64_t)MOST_WATCHED * 12 + (uint64_t)plan->n_slots * 8;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void count_states(gbsi_trial *t)
{
    const gbsi_executor *x = &t->executor;
    const void *state = x->group[0].state;
    for (uint32_t i = 0; i < t->n_watched; ++i) {
        const size_t at = (size_t)t->slot[i] * GBSI_TRIAL_CHAINS;
        uint32_t *count = t->count[1] + t->cell[i] * GBSI_TRIAL_CHAINS;
        for (uint32_t chain = 0; chain < GBSI_TRIAL_CHAINS; ++chain) {
            const uint32_t value = gbsi_state_at(state, at + chain, t->plan->value_bytes);
            ++count[value * GBSI_TRIAL_CHAINS + chain];
        }
    }
    ++t->n_kept[1];
}

/* Discards the counts of the earlier half. The later half then becomes the earlier half. */
static void forget_earliest(gbsi_trial *t)
{
    const size_t n = t->cell[t->n_watched] * GBSI_TRIAL_CHAINS;
    uint32_t *later = t->count[1];
    t->count[1] = t->count[0];
    t->count[0] = later;
    t->n_kept[0] = t->n_kept[1];
    t->n_kept[1] = 0;
    memset(t->count[1], 0, n * sizeof *t->count[1]);
}

gbs_status gbsi_trial_pass(gbsi_trial *t, gbs_error *err)
{
    if (t->n > 0 && (t->n & (t->n - 1)) == 0) {
        forget_earliest(t);
    }
    const gbs_status status =
        gbsi_executor_pass(&t->executor, t->schedule, t->first + t->n, NULL, false, err);
    if (status == GBS_OK) {
        ++t->n;
        count_states(t);
    }
    return status;
}

/* ---- results of a trial ---------------------------------------------------------------------- */

uint64_t gbsi_trial_n_passes(const gbsi_trial *t)
{
    return t->n;
}

double gbsi_trial_operations(const gbsi_trial *t)
{
    return t->executor.pass->operations(t->executor.pass_state, t->run_chains);
}

/* Variances of a variable, summed over its states. */
typedef struct spread {
    double within; /* variance of one draw, over all chains and passes */
    double means;  /* variance among the means of the chains */
} spread;

static spread spread_of(const gbsi_trial *t, uint32_t i, double n_kept)
{
    spread s = {0.0, 0.0};
    for (size_t cell = t->cell[i]; cell < t->cell[i + 1]; ++cell) {
        double sum = 0.0;
        double squares = 0.0;
        for (uint32_t chain = 0; chain < GBSI_TRIAL_CHAINS; ++chain) {
            const size_t at = cell * GBSI_TRIAL_CHAINS + chain;
            const double mean = (double)(t->count[0][at] + t->count[1][at]) / n_kept;
            sum += mean;
            squares += mean * mean;
        }
        const double p = sum / GBSI_TRIAL_CHAINS;
        const double between = (squares - sum * p) / (GBSI_TRIAL_CHAINS - 1);
        s.within += p * (1.0 - p);
        s.means += between > 0.0 ? between : 0.0;
    }
    return s;
}

/* Sorts the largest variance between means first. */
static int by_means(const void *a, const void *b)
{
    const spread *x = a;
    const spread *y = b;
    return x->means == y->means ? (x->within > y->within) - (x->within < y->within)
                                : (x->means < y->means) - (x->means > y->means);
}

double gbsi_trial_passes_each(const gbsi_trial *t, uint64_t *n_kept)
{
    spread worst[MOST_WATCHED] = {{0.0, 0.0}};
    spread sum = {0.0, 0.0};
    *n_kept = t->n_kept[0] + t->n_kept[1];
    const double n = (double)*n_kept;
    for (uint32_t i = 0; i < t->n_watched; ++i) {
        worst[i] = spread_of(t, i, n);
    }
    qsort(worst, t->n_watched, sizeof worst[0], by_means);
    for (uint32_t i = 0; i < (t->n_watched + WORST_SHARE - 1) / WORST_SHARE; ++i) {
        sum.within += worst[i].within;
        sum.means += worst[i].means;
    }
    const double each = sum.within > 0.0 ? n * sum.means / sum.within : 1.0;
    return each < 1.0 ? 1.0 : each < n ? each : n;
}

uint32_t gbsi_trial_block_size(const gbsi_trial *t)
{
    const gbsi_pass *pass = t->executor.pass;
    return pass->block_size == NULL ? 0 : pass->block_size(t->executor.pass_state);
}

bool gbsi_trial_reaches(const gbsi_trial *t)
{
    return gbsi_executor_connects(&t->executor);
}
