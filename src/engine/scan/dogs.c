/* SPDX-License-Identifier: Apache-2.0 */
/* Makes optimised scans. The goal of a scan is a given length, a given accuracy, or the accuracy of
 * a given number of updates of the systematic scan. Scans of doubled lengths are made until the
 * goal is met, as in Mitliagkas & Mackey (2017), section 5.2. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "scan/influences.h"
#include "scan/optimise.h"

#define MOST_STEPS ((uint64_t)1 << 28)
/* number of bytes for each update of the scan: for two copies of the scan, the kept values, the
 * result, and the scan of half the length */
#define STEP_BYTES  26u
#define MOST_ROUNDS 100u
#define SETTLED     1e-12 /* descents end if the relative gain of a round is at most this number */
/* beyond 64 passes, the search gives up if V at twice the length is above this fraction of V before
 */
#define STALLED (1.0 - 1e-9)

typedef struct dogs {
    const gbs_influences *f;
    const gbs_scan_request *request;
    gbsi_watch watch;
    gbsi_optimiser *optimiser;
    gbsi_scan_pass start; /* the scan to improve */
    bool is_systematic;
    double *d;
    uint32_t *scan;
    size_t n, capacity;
    gbs_scan_report report;
    uint32_t *whole; /* the scan of the previous length, which is used after an early stop */
    size_t n_whole, whole_capacity;
    gbs_scan_report whole_report;
} dogs;

static gbs_run_options systematic(const gbs_scan_request *request)
{
    gbs_run_options options = gbs_run_options_default();
    options.scan = GBS_SCAN_SYSTEMATIC;
    options.origin = request->origin;
    return options;
}

/* Sets the current scan to the first n updates of w->start; the updates of a scan that draws them
 * are GBSI_NONE. */
static gbs_status take_start(dogs *w, uint64_t n, gbs_error *err)
{
    const gbsi_sequence *pass = &w->start.sequence;
    const uint64_t fit = gbsi_influences_room(w->f) / STEP_BYTES;
    const uint64_t most = fit < MOST_STEPS ? fit : MOST_STEPS;
    void *pointer = w->scan;
    if (n > most) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "a scan of %" PRIu64 " updates is longer than the %" PRIu64
                         " that this version and the memory limit allow",
                         n, most);
    }
    const gbs_status status =
        gbsi_reserve(&pointer, &w->capacity, (size_t)n, sizeof *w->scan, "scan", err);
    w->scan = pointer;
    if (status < 0) {
        return status;
    }
    w->n = pass->n == 0 ? 0 : (size_t)n;
    for (size_t t = 0; pass->variable != NULL && t < w->n; t += pass->n) {
        const size_t left = w->n - t;
        memcpy(w->scan + t, pass->variable, (left < pass->n ? left : pass->n) * sizeof *w->scan);
    }
    for (size_t t = 0; pass->variable == NULL && t < w->n; ++t) {
        w->scan[t] = GBSI_NONE;
    }
    return GBS_OK;
}

static bool has_uniform(const dogs *w)
{
    bool found = false;
    for (size_t t = 0; t < w->n && !found; ++t) {
        found = w->scan[t] == GBSI_NONE;
    }
    return found;
}

/* Chooses the variables of all updates of the current scan, some of which are uniform. V of the
 * whole scan is computed by a separate pass. If the watch stops, V is the value of the descent. */
static gbs_status choose_uniform(dogs *w, gbs_error *err)
{
    gbsi_descended found = {0};
    double after = NAN;
    GBSI_PASS(gbsi_optimise_uniform(w->f->c, w->d, &w->watch, gbsi_influences_room(w->f), w->scan,
                                    w->n, &found, err));
    if (found.n_left == 0) {
        after = gbsi_optimiser_variation(w->optimiser, w->scan, w->n);
    }
    w->report.before = found.before;
    w->report.after = isnan(after) ? found.after : after;
    w->report.n_left = found.n_left;
    return GBS_OK;
}

/* Improves the current scan by descents. @param enough descents stop when the variation is at most
 * `enough`, which never happens if `enough` is negative. */
static gbs_status improve(dogs *w, double enough, gbs_error *err)
{
    gbs_scan_report *r = &w->report;
    double before = 0.0;
    r->rounds = 0;
    if (has_uniform(w)) {
        GBSI_PASS(choose_uniform(w, err));
        ++r->rounds;
        if (!w->request->iterate || r->after <= enough || r->n_left > 0) {
            return GBS_OK;
        }
    } else {
        r->n_left = 0;
        r->before = r->after = gbsi_optimiser_variation(w->optimiser, w->scan, w->n);
        if (isnan(r->after)) {
            return gbsi_watch_fail(err, "bounding the variation of a scan");
        }
    }
    do {
        before = r->after;
        GBSI_PASS(gbsi_optimiser_descend(w->optimiser, w->scan, w->n, enough, &r->after, err));
        ++r->rounds;
    } while (!gbsi_watch_stopped(&w->watch) && w->request->iterate && r->after > enough &&
             r->rounds < MOST_ROUNDS && before - r->after > SETTLED * before);
    return GBS_OK;
}

static gbs_status no_length(const dogs *w, gbs_error *err)
{
    gbs_influence_norms norms;
    GBSI_PASS(gbs_influences_norms(w->f, &norms, err));
    return gbsi_fail(
        err, GBS_ERR_UNSUPPORTED,
        "no scan of up to %zu updates has a variation of %g or less (found %g); the spectral "
        "radius of the influences is between %.6g and %.6g: a longer scan helps only below 1",
        w->n, w->report.goal, w->report.after, norms.radius_lo, norms.radius_hi);
}

/* Keeps a copy of the current scan before the search for a scan of twice the length. */
static gbs_status keep_whole(dogs *w, gbs_error *err)
{
    void *pointer = w->whole;
    const gbs_status status =
        gbsi_reserve(&pointer, &w->whole_capacity, w->n, sizeof *w->whole, "scan", err);
    w->whole = pointer;
    if (status >= 0 && w->n > 0) {
        memcpy(w->whole, w->scan, w->n * sizeof *w->scan);
    }
    w->n_whole = w->n;
    w->whole_report = w->report;
    return status;
}

/* After an early stop, goes back to the scan of the previous length if the search found no better
 * scan of the current length. */
static gbs_status or_the_whole(dogs *w, gbs_status found)
{
    const bool stopped = found == GBS_ERR_STOPPED || (found >= 0 && gbsi_watch_stopped(&w->watch));
    if (!stopped || w->n_whole == 0 || (found >= 0 && w->report.after <= w->whole_report.after)) {
        return found;
    }
    memcpy(w->scan, w->whole, w->n_whole * sizeof *w->scan);
    w->n = w->n_whole;
    w->report = w->whole_report;
    return GBS_OK;
}

/* Tries lengths 2, 4, 8, ... until the goal is met. If the goal is the accuracy of the systematic
 * scan and descents begin with this scan, the search ends at w->request->match updates at the
 * latest. At this length, the scan meets the goal even before it is improved. */
static gbs_status by_doubling(dogs *w, gbs_error *err)
{
    const uint64_t match = w->is_systematic ? w->request->match : 0;
    double compared = 0.0;
    for (uint64_t n = 2;; n *= 2) {
        n = match > 0 && n > match ? match : n;
        GBSI_PASS(take_start(w, n, err));
        GBSI_PASS(or_the_whole(w, improve(w, -1.0, err)));
        if (w->report.after <= w->report.goal || n == match || w->n == 0 ||
            gbsi_watch_stopped(&w->watch)) {
            return GBS_OK;
        }
        const bool stalled = n > 64 * (uint64_t)w->f->c->n && w->report.after > STALLED * compared;
        if (stalled || n >= MOST_STEPS || n > gbsi_influences_room(w->f) / STEP_BYTES) {
            return no_length(w, err);
        }
        compared = w->report.after;
        GBSI_PASS(keep_whole(w, err));
    }
    return GBS_OK;
}

static gbs_status run(dogs *w, gbs_error *err)
{
    const gbs_scan_request *request = w->request;
    if (request->steps > 0) {
        w->report.goal = request->accuracy;
        GBSI_PASS(take_start(w, request->steps, err));
        return improve(w, request->accuracy > 0.0 ? request->accuracy : -1.0, err);
    }
    w->report.goal = request->accuracy;
    if (request->match > 0) {
        const gbs_run_options options = systematic(request);
        gbs_variation_bound matched;
        GBSI_PASS(
            gbs_variation(w->f, &options, 1, &request->weight, 1, &request->match, &matched, err));
        w->report.goal = matched.variation;
    }
    return by_doubling(w, err);
}

/* Translates the scan to the user's numbers of variables, and counts the variables that it names.
 */
static gbs_status give(dogs *w, uint32_t **sequence, gbs_error *err)
{
    const uint32_t *user = w->f->conditioned->user_variable;
    uint8_t *seen = gbsi_alloc_array_zero(w->f->c->n, 1);
    uint32_t *made = gbsi_alloc_array(w->n, sizeof *made);
    if (seen == NULL || made == NULL) {
        GBSI_FREE(seen, made);
        return gbsi_no_memory(err, "scan", w->n * sizeof *made);
    }
    w->report.n_visited = 0;
    for (size_t t = 0; t < w->n; ++t) {
        if (w->scan[t] == GBSI_NONE) {
            made[t] = GBS_STEP_UNIFORM;
            continue;
        }
        w->report.n_visited += !seen[w->scan[t]];
        seen[w->scan[t]] = 1;
        made[t] = user[w->scan[t]];
    }
    gbsi_free(seen);
    *sequence = made;
    return GBS_OK;
}

static gbs_status check(const gbs_scan_request *request, gbs_error *err)
{
    if (request->steps > 0 && request->match > 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "gbs_scan_request: give steps or match, not both");
    }
    if (request->match > 0 && request->accuracy != 0.0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_scan_request: give match or accuracy, not both");
    }
    if (!(request->accuracy >= 0.0) ||
        (request->steps == 0 && request->match == 0 && request->accuracy == 0.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_scan_request.accuracy: found %g, expected above 0 unless steps or "
                         "match is given",
                         request->accuracy);
    }
    return GBS_OK;
}

gbs_status gbs_scan_optimise(const gbs_influences *influences, const gbs_scan_request *request,
                             uint32_t **sequence, size_t *n, gbs_scan_report *report,
                             gbs_error *err)
{
    GBSI_NEED(influences, request, sequence, n);
    GBSI_IN_STRUCT(request, gbs_scan_request);
    GBSI_OUT_STRUCT(report, gbs_scan_report);
    gbs_status status = GBS_OK;
    dogs w = {.f = influences, .request = request, .watch = gbsi_influences_watch(influences)};
    const gbs_run_options options = request->start == NULL ? systematic(request) : *request->start;
    gbsi_budget *before = gbsi_influences_enter(influences);
    GBSI_TRY(check(request, err));
    GBSI_TRY(gbsi_weights_of(influences, request->weight, &w.d, err));
    w.is_systematic = request->start == NULL;
    GBSI_TRY(gbsi_scan_pass_init(influences, &options, &w.start, err));
    GBSI_TRY(gbsi_optimiser_new(influences->c, w.d, &w.watch, &w.optimiser, err));
    GBSI_TRY(run(&w, err));
    GBSI_TRY(give(&w, sequence, err));
    *n = w.n;
    gbsi_struct_give(report, &w.report, sizeof w.report);
    status = gbsi_watch_stopped(&w.watch) ? GBS_STOPPED : GBS_OK;

cleanup:
    gbsi_scan_pass_free(&w.start);
    gbsi_optimiser_free(w.optimiser);
    GBSI_FREE(w.d, w.scan, w.whole);
    gbsi_budget_leave(before);
    return status;
}
