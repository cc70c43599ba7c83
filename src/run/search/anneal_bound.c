/* SPDX-License-Identifier: Apache-2.0 */
/* The upper bound beside the best state of a search [M83]. Rounds of the bound get a share of the
 * counted time of the sweeps; their number therefore depends neither on the clock nor on threads.
 */
#include <math.h>
#include <string.h>

#include "chains/run_options.h"
#include "search/anneal.h"
#include "trees/decompose.h"

#define BOUND_SHARE  0.25 /* time of the bound, in units of the time of the sweeps */
#define FIRST_NS     2e7  /* nanoseconds of the bound before the first sweep */
#define FIRST_SHARE  0.05 /* the same as a share of --time, if this is longer */
#define MEMORY_SHARE 4u   /* the bound gets one of so many parts of the memory limit */

bool gbsi_search_is_proved(const gbsi_search *s)
{
    return gbsi_bound_reaches(s->at.best, s->at.upper);
}

/* Finds the model of the bound, and what a round takes: no time is enough if the messages do not
 * fit the memory. */
static gbs_status weigh_bound(gbsi_search *s, gbs_error *err)
{
    const gbsi_conditioned *part = s->run->task.problem.part;
    const uint64_t limit = gbsi_options_memory_limit(&s->run->task.options) / MEMORY_SHARE;
    GBSI_PASS(gbsi_decompose(part, true, &s->chained, err));
    const gbsi_conditioned *used = s->chained != NULL ? s->chained : part;
    s->round_ns = gbsi_bound_bytes(used) > limit ? INFINITY : gbsi_bound_operations(used);
    return GBS_OK;
}

/* Makes the messages of the bound. Without them the plain bound stays. */
static gbs_status make_bound(gbsi_search *s, gbs_error *err)
{
    const gbsi_conditioned *used = s->chained != NULL ? s->chained : s->run->task.problem.part;
    const gbs_status status = gbsi_bound_new(used, &s->drive.watch, &s->bound, err);
    if (status == GBS_ERR_MEMORY) {
        s->round_ns = INFINITY;
        return GBS_OK;
    }
    return status;
}

static void take_bound(gbsi_search *s, double bound)
{
    s->at.upper = bound < s->at.upper ? bound : s->at.upper;
}

/* Runs rounds within the allowed nanoseconds. A search that was resumed first repeats the rounds
 * that were made before the checkpoint. */
static void run_rounds(gbsi_search *s, double allowed_ns)
{
    gbsi_search_standing *at = &s->at;
    while (!gbsi_bound_settled(s->bound) && !gbsi_search_is_proved(s) &&
           s->n_bound_rounds < GBSI_MOST_BOUND_ROUNDS &&
           (s->n_bound_rounds < at->bound_rounds ||
            (double)(s->n_bound_rounds + 1) * s->round_ns <= allowed_ns)) {
        const double bound = gbsi_bound_round(s->bound);
        if (s->drive.stop != GBSI_GO_ON) {
            return;
        }
        ++s->n_bound_rounds;
        at->bound_rounds =
            s->n_bound_rounds > at->bound_rounds ? s->n_bound_rounds : at->bound_rounds;
        take_bound(s, bound);
    }
}

/* Considers the state that the bound leads to. */
static gbs_status consider_state(gbsi_search *s, gbs_error *err)
{
    const gbsi_conditioned *part = s->run->task.problem.part;
    memcpy(s->x, gbsi_bound_state(s->bound), part->n_variables * sizeof *s->x);
    return gbsi_search_consider(s, gbsi_conditioned_log_density(part, s->x), err);
}

gbs_status gbsi_search_bound(gbsi_search *s, double operations, gbs_error *err)
{
    if (s->drive.stop != GBSI_GO_ON || gbsi_search_is_proved(s)) {
        return GBS_OK;
    }
    const double allowed_ns = s->at.first_ns + BOUND_SHARE * operations;
    gbsi_drive_go_on(&s->drive, false);
    if (s->round_ns == 0.0) {
        GBSI_PASS(weigh_bound(s, err));
    }
    if (s->bound == NULL && s->round_ns <= allowed_ns) {
        GBSI_PASS(make_bound(s, err));
    }
    if (s->bound != NULL && s->drive.stop == GBSI_GO_ON) {
        run_rounds(s, allowed_ns);
    }
    return s->n_bound_rounds > 0 && s->drive.stop == GBSI_GO_ON && s->run->task.options.sweeps == 0
               ? consider_state(s, err)
               : GBS_OK;
}

gbs_status gbsi_search_first_bound(gbsi_search *s, gbs_error *err)
{
    const double share = FIRST_SHARE * 1e9 * s->run->task.options.time_s;
    gbsi_drive_go_on(&s->drive, false);
    s->at.first_ns = share > FIRST_NS ? share : FIRST_NS;
    take_bound(s, gbsi_bound_plain(s->run->task.problem.part, &s->drive.watch));
    return gbsi_search_bound(s, 0.0, err);
}
