/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds on the distance of chains from their target, estimated from pairs of chains that meet
 * [M82]. All counts of pairs are whole numbers, and their sums are therefore equal for every number
 * of threads.
 */
#include <inttypes.h>
#include <math.h>

#include "ask/couple.h"
#include "base/memory.h"
#include "base/sized.h"
#include "chains/run_options.h"
#include "chains/start.h"
#include "gibbsite/dobrushin.h"
#include "parallel/pool.h"
#include "scan/influences.h"

#define USUAL_PAIRS 64u
#define MOST_PAIRS  65536u
/* Number of pairs of lag 1 that are run to choose the lag. These pairs are numbered after all other
 * pairs. */
#define PILOT_PAIRS  16u
#define USUAL_SWEEPS 1000u
/* With this limit, sums of squares of counts fit in 64 bits. */
#define MOST_SWEEPS (UINT64_C(1) << 20)
/* Number of operations of a thread between two looks at the clock. */
#define STRETCH (UINT64_C(1) << 18)

static const char doing[] = "following pairs of coupled chains";

/* Results of the pairs that have one common lag: counts, summed over pairs. */
typedef struct tally {
    uint64_t *apart,
        *apart_2; /* [n_times][n_variables] sums over pairs of couple.apart, and of its square */
    uint64_t *set_apart,
        *set_apart_2; /* [n_times][n_sets] sums over pairs of couple.set_apart, and of its square */
    uint32_t n_met, n_ended;
    uint64_t longest; /* largest number of passes of Y that a pair needed to meet, among the pairs
                         that met */
    double passes; /* number of passes of Y that a pair needed to meet, summed over the pairs that
                      met */
} tally;

typedef struct coupling {
    const gbs_influences *f;
    gbsi_couple_job job;
    gbsi_incident_factors incident;
    gbsi_scan_pass pass;
    gbsi_starter *starter;
    gbsi_watch watch;
    gbsi_pool *pool;
    gbsi_couple *couple; /* [n_members] the pair of each thread */
    uint32_t n_members;
    uint8_t **set; /* [n_sets] NULL for the set of all variables */
    tally seen;
} coupling;

/* ---- what is asked --------------------------------------------------------------------------- */

static gbs_status check_range(const char *name, uint64_t found, uint64_t least, uint64_t most,
                              gbs_error *err)
{
    return found >= least && found <= most
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: found %" PRIu64 ", expected %" PRIu64 " to %" PRIu64, name, found,
                           least, most);
}

static gbs_status take_request(const gbs_coupling_request *given, gbs_coupling_request *asked,
                               gbs_error *err)
{
    *asked = given != NULL ? *given : (gbs_coupling_request){0};
    asked->pairs = asked->pairs == 0 ? USUAL_PAIRS : asked->pairs;
    asked->sweeps = asked->sweeps == 0 ? USUAL_SWEEPS : asked->sweeps;
    GBSI_PASS(check_range("pairs of chains", asked->pairs, 2, MOST_PAIRS, err));
    GBSI_PASS(check_range("lag", asked->lag, 0, MOST_SWEEPS, err));
    return check_range("sweeps of coupled chains", asked->sweeps, 1, MOST_SWEEPS, err);
}

/* Refuses a pass that leaves out a variable, because the states of this variable in X and Y would
 * always differ as at their starts.
 */
static gbs_status check_pass(const coupling *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = c->f->c->n;
    const gbsi_sequence *s = &c->pass.sequence;
    if (c->pass.n_uniform > 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "coupled chains need a scan that names the variable of each update, and "
                         "%zu of the %zu updates take a variable drawn uniformly: finish the scan "
                         "with gibbsite scan, or leave out --couplings",
                         c->pass.n_uniform, s->n);
    }
    uint8_t *met = gbsi_alloc_array_zero(n, sizeof *met);
    GBSI_PASS(GBSI_HAVE(err, "scan", met));
    for (size_t i = 0; s->variable != NULL && i < s->n; ++i) {
        met[s->variable[i]] = 1;
    }
    for (uint32_t v = 0; s->variable != NULL && v < n && status == GBS_OK; ++v) {
        if (met[v] == 0) {
            status = gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "coupled chains never meet at variable %" PRIu32
                               ", which the scan omits: expected a scan of all variables",
                               c->f->conditioned->user_variable[v]);
        }
    }
    if (status == GBS_OK && s->n > INT32_MAX) {
        status = gbsi_fail(err, GBS_ERR_LIMIT,
                           "coupled chains: a pass has %zu updates, this version takes %d", s->n,
                           INT32_MAX);
    }
    gbsi_free(met);
    return status;
}

static gbs_status take_sets(coupling *c, size_t n, const double *const *weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    double *d = NULL;
    c->set = gbsi_alloc_array_zero(n, sizeof *c->set);
    GBSI_PASS(GBSI_HAVE(err, "targets", c->set));
    c->job.n_sets = n;
    c->job.set = (const uint8_t *const *)c->set;
    for (size_t k = 0; k < n; ++k) {
        GBSI_TRY(gbsi_weights_of(c->f, weight == NULL ? NULL : weight[k], &d, err));
        if (d == NULL) {
            continue;
        }
        c->set[k] = gbsi_alloc_array(c->f->c->n, sizeof **c->set);
        GBSI_TRY(GBSI_HAVE(err, "targets", c->set[k]));
        for (uint32_t v = 0; v < c->f->c->n; ++v) {
            c->set[k][v] = d[v] > 0.0;
        }
        gbsi_free(d);
        d = NULL;
    }

cleanup:
    gbsi_free(d);
    return status;
}

/* ---- room ------------------------------------------------------------------------------------ */

static void measure(const gbsi_conditioned *model, gbsi_couple_job *job)
{
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        const size_t n = model->factors.scope_start[f + 1] - model->factors.scope_start[f];
        job->longest = n > job->longest ? (uint32_t)n : job->longest;
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        job->most_states = model->arity[v] > job->most_states ? model->arity[v] : job->most_states;
    }
}

static gbs_status take_room(coupling *c, uint32_t n_pairs, uint32_t n_threads, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = c->job.n_times * (size_t)c->f->c->n;
    const size_t m = c->job.n_times * c->job.n_sets;
    const gbsi_room room[] = {GBSI_ROOM(c->seen.apart, n, gbsi_alloc_array_zero),
                              GBSI_ROOM(c->seen.apart_2, n, gbsi_alloc_array_zero),
                              GBSI_ROOM(c->seen.set_apart, m, gbsi_alloc_array_zero),
                              GBSI_ROOM(c->seen.set_apart_2, m, gbsi_alloc_array_zero)};
    GBSI_TRY(gbsi_rooms_take(room, sizeof room / sizeof *room, "coupled chains", err));
    c->n_members = n_threads < n_pairs ? n_threads : n_pairs;
    c->couple = gbsi_alloc_array_zero(c->n_members, sizeof *c->couple);
    GBSI_TRY(GBSI_HAVE(err, "coupled chains", c->couple));
    for (uint32_t i = 0; i < c->n_members; ++i) {
        GBSI_TRY(gbsi_couple_init(&c->job, &c->couple[i], err));
    }
    GBSI_TRY(gbsi_pool_new(c->n_members, &c->pool, err));

cleanup:
    return status;
}

static void coupling_free(coupling *c)
{
    gbsi_pool_free(c->pool);
    for (uint32_t i = 0; c->couple != NULL && i < c->n_members; ++i) {
        gbsi_couple_free(&c->couple[i]);
    }
    for (size_t k = 0; c->set != NULL && k < c->job.n_sets; ++k) {
        gbsi_free(c->set[k]);
    }
    GBSI_FREE(c->couple, c->set, c->seen.apart, c->seen.apart_2, c->seen.set_apart,
              c->seen.set_apart_2);
    gbsi_starter_free(c->starter);
    gbsi_incident_factors_free(&c->incident);
    gbsi_scan_pass_free(&c->pass);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Adds the counts of a pair to the tally. */
static void add_pair(coupling *c, gbsi_couple *pair)
{
    const size_t n = c->job.n_times * (size_t)c->f->c->n;
    const size_t m = c->job.n_times * c->job.n_sets;
    tally *t = &c->seen;
    for (size_t i = 0; i < n; ++i) {
        t->apart[i] += pair->apart[i];
        t->apart_2[i] += (uint64_t)pair->apart[i] * pair->apart[i];
    }
    for (size_t i = 0; i < m; ++i) {
        t->set_apart[i] += pair->set_apart[i];
        t->set_apart_2[i] += (uint64_t)pair->set_apart[i] * pair->set_apart[i];
    }
    if (pair->state == GBSI_COUPLE_MET) {
        const uint64_t passes = pair->pass - c->job.lag;
        ++t->n_met;
        t->longest = passes > t->longest ? passes : t->longest;
        t->passes += (double)passes;
    }
    t->n_ended += pair->state != GBSI_COUPLE_GOING;
    pair->state = GBSI_COUPLE_IDLE;
    pair->spent += n + m;
}

/* Gives every idle thread the next pair. The starts of X and Y are independent, and are drawn as
 * for chains of a run. @return GBS_STOPPED if the watch stopped the search for starts. */
static gbs_status give_pairs(coupling *c, uint32_t first, uint32_t n, uint32_t *next,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t i = 0; i < c->n_members && *next < n && status == GBS_OK; ++i) {
        gbsi_couple *pair = &c->couple[i];
        const uint32_t number = first + *next;
        if (pair->state != GBSI_COUPLE_IDLE) {
            continue;
        }
        status = gbsi_starter_draw(c->starter, 2 * number, 0, pair->x, err);
        if (status == GBS_OK) {
            status = gbsi_starter_draw(c->starter, 2 * number + 1, 0, pair->y, err);
        }
        if (status == GBS_OK) {
            gbsi_couple_begin(&c->job, number, pair);
            ++*next;
        }
    }
    return status;
}

static void move_pair(void *context, uint32_t member)
{
    coupling *c = context;
    gbsi_couple_go(&c->job, STRETCH, &c->couple[member]);
}

/* Takes the counts of pairs that have ended, or of all pairs if `all` is set. @return the number
 * of pairs that have not ended. */
static uint32_t take_pairs(coupling *c, bool all, uint64_t *spent)
{
    uint32_t n_going = 0;
    for (uint32_t i = 0; i < c->n_members; ++i) {
        gbsi_couple *pair = &c->couple[i];
        if (pair->state != GBSI_COUPLE_IDLE && (all || pair->state != GBSI_COUPLE_GOING)) {
            add_pair(c, pair);
        }
        n_going += pair->state == GBSI_COUPLE_GOING;
        *spent += pair->spent;
        pair->spent = 0;
    }
    return n_going;
}

/* Runs pairs first .. first + n - 1. @return GBS_STOPPED if the watch stopped the work; the
 * counts up to the stop are taken. */
static gbs_status run_pairs(coupling *c, uint32_t first, uint32_t n, gbs_error *err)
{
    uint32_t next = 0;
    uint32_t n_going = 0;
    do {
        uint64_t spent = 0;
        const gbs_status status = give_pairs(c, first, n, &next, err);
        if (status < 0) {
            return status;
        }
        if (status == GBS_OK) {
            gbsi_pool_run(c->pool, move_pair, c);
        }
        n_going = take_pairs(c, false, &spent);
        if (status != GBS_OK || gbsi_watch_spend(&c->watch, spent)) {
            (void)take_pairs(c, true, &spent);
            return GBS_STOPPED;
        }
    } while (n_going > 0 || next < n);
    return GBS_OK;
}

/* Finds a lag within which most pairs meet, because the sum of the bound then has few terms that
 * are not 0. The lag is found from additional pairs, which the estimates do not use. */
static gbs_status find_lag(coupling *c, uint32_t n_pairs, gbs_error *err)
{
    const size_t n_times = c->job.n_times;
    c->job.lag = 1;
    c->job.n_times = 0;
    const gbs_status status =
        run_pairs(c, MOST_PAIRS, n_pairs < PILOT_PAIRS ? n_pairs : PILOT_PAIRS, err);
    c->job.n_times = n_times;
    c->job.lag = c->seen.longest + 1;
    c->seen.n_met = 0;
    c->seen.n_ended = 0;
    c->seen.longest = 0;
    c->seen.passes = 0.0;
    return status == GBS_STOPPED ? gbsi_watch_fail(err, doing) : status;
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* The mean of m counts. The standard error is at least the error that m counts with a single 1
 * have: the expectation may be positive even if no pair differed. */
static double mean_of(uint64_t sum, uint64_t squares, uint32_t m, double *error)
{
    const double mean = (double)sum / m;
    const double variance = ((double)squares - (double)sum * mean) / (m - 1.0);
    const double found = sqrt(variance > 0.0 ? variance / m : 0.0);
    *error = found > 1.0 / m ? found : 1.0 / m;
    return mean;
}

static void conclude_set(const coupling *c, uint32_t m, size_t t, size_t k,
                         gbs_coupling_bound *bound)
{
    const tally *seen = &c->seen;
    const uint32_t n = c->f->c->n;
    const size_t at = t * c->job.n_sets + k;
    uint64_t most = 0;
    *bound = (gbs_coupling_bound){.worst = UINT32_MAX};
    bound->joint = mean_of(seen->set_apart[at], seen->set_apart_2[at], m, &bound->joint_mcse);
    for (uint32_t v = 0; v < n; ++v) {
        const uint64_t apart = seen->apart[t * n + v];
        if ((c->set[k] == NULL || c->set[k][v] != 0) &&
            (bound->worst == UINT32_MAX || apart > most)) {
            most = apart;
            bound->worst = c->f->conditioned->user_variable[v];
            bound->variable = mean_of(apart, seen->apart_2[t * n + v], m, &bound->variable_mcse);
        }
    }
}

static void conclude(const coupling *c, const gbs_coupling_request *asked,
                     gbs_coupling_bound *bound, double *each, gbs_coupling_report *report)
{
    const uint32_t n = c->f->c->n;
    const uint32_t n_all = c->f->model->n_variables;
    for (size_t t = 0; t < c->job.n_times; ++t) {
        for (size_t k = 0; k < c->job.n_sets; ++k) {
            conclude_set(c, (uint32_t)asked->pairs, t, k, &bound[t * c->job.n_sets + k]);
        }
        for (uint32_t u = 0; each != NULL && u < n_all; ++u) {
            const uint32_t v = c->f->conditioned->free_variable[u];
            each[t * n_all + u] =
                v == GBSI_NONE ? 0.0 : (double)c->seen.apart[t * n + v] / (double)asked->pairs;
        }
    }
    const gbs_coupling_report own = {.size = sizeof own,
                                     .pairs = asked->pairs,
                                     .met = c->seen.n_met,
                                     .lag = c->job.lag,
                                     .sweeps = asked->sweeps,
                                     .longest = c->seen.longest,
                                     .mean =
                                         c->seen.n_met == 0 ? NAN : c->seen.passes / c->seen.n_met};
    gbsi_struct_give(report, &own, sizeof own);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Prepares the data that all pairs share; the times must have been set before. */
static gbs_status prepare(coupling *c, const gbs_run_options *options,
                          const gbs_coupling_request *asked, size_t n_targets,
                          const double *const *weight, gbs_error *err)
{
    gbs_run_options taken;
    const gbsi_conditioned *model = c->f->conditioned;
    GBSI_PASS(gbsi_options_take(options, &taken, err));
    GBSI_PASS(gbsi_scan_pass_init(c->f, options, &c->pass, err));
    GBSI_PASS(check_pass(c, err));
    c->job.model = model;
    c->job.incident = &c->incident;
    c->job.pass = c->pass.sequence;
    c->job.seed = taken.seed;
    c->job.lag = asked->lag;
    c->job.sweeps = asked->sweeps;
    measure(model, &c->job);
    GBSI_PASS(take_sets(c, n_targets, weight, err));
    GBSI_PASS(
        gbsi_incident_factors_init(&model->factors, model->n_variables, 1, &c->incident, err));
    GBSI_PASS(gbsi_starter_new(model, taken.seed, &c->watch, &c->starter, err));
    return take_room(c, (uint32_t)asked->pairs, gbsi_options_threads(&taken), err);
}

gbs_status gbs_couple(const gbs_influences *influences, const gbs_run_options *options,
                      const gbs_coupling_request *request, size_t n_targets,
                      const double *const *weight, size_t n_times, const uint64_t *sweeps,
                      gbs_coupling_bound *bound, double *each, gbs_coupling_report *report,
                      gbs_error *err)
{
    GBSI_NEED(influences, report);
    if (n_targets > 0 && n_times > 0) {
        GBSI_NEED(sweeps, bound);
    }
    GBSI_IN_STRUCT(request, gbs_coupling_request);
    GBSI_OUT_STRUCT(report, gbs_coupling_report);
    gbs_status status = GBS_OK;
    gbs_coupling_request asked;
    coupling c = {.f = influences,
                  .job = {.n_times = n_times, .time = sweeps},
                  .watch = gbsi_influences_watch(influences)};
    gbsi_budget *before = gbsi_influences_enter(influences);
    GBSI_TRY(take_request(request, &asked, err));
    GBSI_TRY(prepare(&c, options, &asked, n_targets, weight, err));
    if (asked.lag == 0) {
        GBSI_TRY(find_lag(&c, (uint32_t)asked.pairs, err));
    }
    GBSI_TRY(run_pairs(&c, 0, (uint32_t)asked.pairs, err));
    if (status == GBS_STOPPED && c.seen.n_ended == 0) {
        GBSI_TRY(gbsi_watch_fail(err, doing));
    }
    conclude(&c, &asked, bound, each, report);

cleanup:
    coupling_free(&c);
    gbsi_budget_leave(before);
    return status;
}
