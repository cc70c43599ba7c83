/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the public functions that make optimised scans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "base/test_scale.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "scan/influences.h"
#include "scan/optimise.h"

static uint32_t below(uint64_t *seed, uint32_t n)
{
    return (uint32_t)((next_random(seed) >> 33) % n);
}

static double uniform(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53;
}

/* ---- the public calls ---------------------------------------------------------------------- */

static gbs_run_options options_of(int scan)
{
    gbs_run_options options = gbs_run_options_default();
    options.scan = scan;
    return options;
}

typedef struct fixture {
    gbs_model *model;
    gbs_evidence *evidence;
    gbs_influences *influences;
    double *weight; /* weight 1 for variable 0, else 0 */
} fixture;

static void begin(fixture *f, uint32_t side, double coupling, double spread, int observed)
{
    const gbs_generate_ising_options grid = {
        .side = {side, side, 1}, .coupling = coupling, .coupling_spread = spread, .seed = 5};
    const gbs_influence_options bound = {.rule = GBS_INFLUENCE_BOUND};
    *f = (fixture){0};
    assert_int_equal(gbs_generate_ising(&grid, &f->model, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_new(f->model, &f->evidence, NULL), GBS_OK);
    if (observed) {
        assert_int_equal(gbs_evidence_observe(f->evidence, 2, 1, NULL), GBS_OK);
    }
    assert_int_equal(gbs_influences_new(f->model, f->evidence, &bound, &f->influences, NULL),
                     GBS_OK);
    f->weight = calloc((size_t)side * side, sizeof *f->weight);
    f->weight[0] = 1.0;
}

static void end(fixture *f)
{
    gbs_influences_free(f->influences);
    gbs_evidence_free(f->evidence);
    gbs_model_free(f->model);
    free(f->weight);
}

/* Mitliagkas & Mackey (2017), section 5.2: for one target of a million variables, 16 updates are
 * enough. */
static void sixteen_of_a_million(void **unused)
{
    (void)unused;
    static const double model[][2] = {{1.0 / 3.915, 0.0}, {0.125, 0.125}};
    const uint32_t side = (uint32_t)test_share(1000, 400);
    for (unsigned k = 0; k < 2; ++k) {
        fixture f;
        begin(&f, side, model[k][0], model[k][1], 0);
        for (uint64_t origin = 0; origin < 2; ++origin) {
            gbs_scan_report report = {.size = sizeof report};
            uint32_t *scan = NULL;
            size_t n = 0;
            gbs_scan_request o = {.weight = f.weight, .origin = origin, .match = 2 * side * side};
            gbs_status status = gbs_scan_optimise(f.influences, &o, &scan, &n, &report, NULL);
            assert_int_equal(status, GBS_OK);
            assert_int_equal(n, origin == 1 ? 16 : 4);
            assert_true(report.after <= report.goal && report.goal < 0.5);
            gbs_free(scan);
        }
        end(&f);
    }
}

static void lengths_and_accuracies(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 10, 0.2, 0.0, 1);
    gbs_scan_report report = {.size = sizeof report};
    uint32_t *scan = NULL;
    size_t n = 0;
    gbs_scan_request request = {.steps = 150};
    assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &n, &report, NULL), GBS_OK);
    assert_true(n == 150 && report.after < report.before && report.rounds == 1);
    assert_true(report.n_visited > 50 && report.n_visited <= 99);
    const double once = report.after;
    for (size_t t = 0; t < n; ++t) {
        assert_true(scan[t] < 100 && scan[t] != 2); /* observed */
    }
    /* the report's V is that of the scan */
    gbs_run_options options = options_of(GBS_SCAN_SEQUENCE);
    options.sequence = scan;
    options.sequence_length = n;
    const double *const all[1] = {NULL};
    const uint64_t steps[3] = {0, 150, 151};
    gbs_variation_bound b[3];
    assert_int_equal(gbs_variation(f.influences, &options, 1, all, 3, steps, b, NULL), GBS_OK);
    assert_true(b[0].variation == 99.0 && b[0].functions == 99.0 && b[0].total_variation == 1.0);
    assert_true(fabs(b[1].variation - once) < 1e-12 * once && b[2].variation <= b[1].variation);
    gbs_free(scan);
    request.iterate = 1;
    assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &n, &report, NULL), GBS_OK);
    assert_true(report.after < once && report.rounds > 1);
    gbs_free(scan);
    request = (gbs_scan_request){.weight = f.weight, .accuracy = 1e-3};
    assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &n, &report, NULL), GBS_OK);
    assert_true(report.after <= 1e-3 && n <= 256 && (n & (n - 1)) == 0);
    gbs_free(scan);
    end(&f);
}

/* ---- from the random scan ---------------------------------------------------------------- */

enum { SPINS = 25, LONGEST = 40 };

/* A plain descent: each step uses all of C and b, and b before update t is computed from the
 * beginning. */
static void plain_descent(const fixture *f, uint32_t n_steps, uint32_t *scan)
{
    double d[SPINS];
    for (uint32_t i = 0; i < SPINS; ++i) {
        d[i] = f->weight[i];
    }
    for (uint32_t t = n_steps; t-- > 0;) {
        double b[SPINS];
        double next[SPINS];
        double influence[SPINS];
        for (uint32_t i = 0; i < SPINS; ++i) {
            b[i] = 1.0;
        }
        for (uint32_t k = 0; k <= t; ++k) {
            for (uint32_t i = 0; i < SPINS; ++i) {
                influence[i] = 0.0;
                for (uint32_t j = 0; j < SPINS; ++j) {
                    influence[i] += gbs_influence(f->influences, i, j) * b[j];
                }
                next[i] = b[i] + (influence[i] - b[i]) / SPINS;
            }
            if (k < t) {
                memcpy(b, next, sizeof b);
            }
        }
        double least = INFINITY;
        scan[t] = 0;
        for (uint32_t i = 0; i < SPINS; ++i) {
            const double w = -d[i] * (b[i] - influence[i]);
            if (w < least - 1e-13) {
                least = w;
                scan[t] = i;
            }
        }
        const double weight = d[scan[t]];
        d[scan[t]] = 0.0;
        for (uint32_t j = 0; j < SPINS; ++j) {
            d[j] += weight * gbs_influence(f->influences, scan[t], j);
        }
    }
}

/* [M39] with q_t uniform: the plain descent, never worse than the random scan, for every length
 * around squares, where stretches of b begin and end. */
static void from_the_random_scan(void **unused)
{
    (void)unused;
    fixture f;
    uint64_t seed = 7;
    begin(&f, 5, 0.25, 0.1, 0);
    for (uint32_t i = 0; i < SPINS; ++i) {
        f.weight[i] = below(&seed, 3) == 0 ? 0.1 + uniform(&seed) : 0.0;
    }
    gbs_run_options random = gbs_run_options_default();
    random.scan = GBS_SCAN_RANDOM;
    for (uint64_t n = 1; n <= LONGEST; ++n) {
        const double *const weight[1] = {f.weight};
        gbs_scan_request request = {
            .size = sizeof request, .weight = f.weight, .steps = n, .start = &random};
        gbs_scan_report report = {.size = sizeof report};
        gbs_variation_bound bound;
        uint32_t expected[LONGEST];
        uint32_t *scan = NULL;
        size_t length = 0;
        assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &length, &report, NULL),
                         GBS_OK);
        assert_int_equal(gbs_variation(f.influences, &random, 1, weight, 1, &n, &bound, NULL),
                         GBS_OK);
        assert_true(fabs(report.before - bound.variation) < 1e-12 * bound.variation);
        assert_true(report.after <= report.before && report.rounds == 1);
        plain_descent(&f, (uint32_t)n, expected);
        assert_memory_equal(scan, expected, length * sizeof *scan);
        gbs_free(scan);
        request.iterate = 1;
        const double once = report.after;
        assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &length, &report, NULL),
                         GBS_OK);
        assert_true(report.after <= once && report.rounds > 1);
        gbs_free(scan);
    }
    end(&f);
}

/* A given sequence is repeated to the length, and its result is no worse. */
static void from_a_sequence(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 5, 0.25, 0.1, 0);
    uint32_t given[7] = {0, 1, 5, 0, 6, 1, 0};
    gbs_run_options start = gbs_run_options_default();
    start.scan = GBS_SCAN_SEQUENCE;
    start.sequence = given;
    start.sequence_length = 7;
    const double *const weight[1] = {f.weight};
    const uint64_t n = 17;
    gbs_scan_request request = {
        .size = sizeof request, .weight = f.weight, .steps = n, .start = &start};
    gbs_scan_report report = {.size = sizeof report};
    gbs_variation_bound bound;
    uint32_t *scan = NULL;
    size_t length = 0;
    assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &length, &report, NULL),
                     GBS_OK);
    assert_int_equal(gbs_variation(f.influences, &start, 1, weight, 1, &n, &bound, NULL), GBS_OK);
    assert_true(length == n && fabs(report.before - bound.variation) < 1e-12 * bound.variation);
    assert_true(report.after < report.before);
    gbs_free(scan);
    /* lengths that are doubled do not stop at that of the systematic scan which is matched */
    request = (gbs_scan_request){.size = sizeof request, .match = 50, .start = &start};
    assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &length, &report, NULL),
                     GBS_OK);
    assert_true(report.after <= report.goal);
    gbs_free(scan);
    end(&f);
}

static void refused(const fixture *f, const gbs_scan_request *request, gbs_status status,
                    const char *part)
{
    gbs_error err = {GBS_OK, ""};
    uint32_t *scan = NULL;
    size_t n = 7;
    assert_int_equal(gbs_scan_optimise(f->influences, request, &scan, &n, NULL, &err), status);
    assert_true(scan == NULL && n == 7);
    if (strstr(err.message, part) == NULL) {
        fail_msg("%s", err.message);
    }
}

static void refusals(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 4, 2.0, 0.0, 0);
    refused(&f, &(gbs_scan_request){0}, GBS_ERR_ARGUMENT, "accuracy");
    refused(&f, &(gbs_scan_request){.steps = 3, .match = 4}, GBS_ERR_ARGUMENT, "not both");
    refused(&f, &(gbs_scan_request){.accuracy = 0.1, .match = 4}, GBS_ERR_ARGUMENT, "not both");
    refused(&f, &(gbs_scan_request){.accuracy = NAN}, GBS_ERR_ARGUMENT, "accuracy");
    refused(&f, &(gbs_scan_request){.accuracy = 0.1, .origin = 16}, GBS_ERR_ARGUMENT, "origin");
    refused(&f, &(gbs_scan_request){.accuracy = 0.1}, GBS_ERR_UNSUPPORTED, "spectral radius");
    refused(&f, &(gbs_scan_request){.steps = UINT64_C(1) << 40}, GBS_ERR_LIMIT, "longer than");
    f.weight[3] = -1.0;
    refused(&f, &(gbs_scan_request){.steps = 3, .weight = f.weight}, GBS_ERR_ARGUMENT,
            "variable 3");
    /* no pass of this model brings V down */
    gbs_sufficient found = {0};
    const gbs_run_options random = options_of(GBS_SCAN_RANDOM);
    assert_int_equal(gbs_variation_within(f.influences, NULL, NULL, 0.1, &found, NULL), GBS_OK);
    assert_false(found.found);
    assert_true(found.value > 1.0);
    assert_int_equal(gbs_variation_within(f.influences, &random, NULL, 0.1, &found, NULL), GBS_OK);
    assert_false(found.found);
    const gbs_run_options permuted = options_of(GBS_SCAN_PERMUTED);
    assert_int_equal(gbs_variation_within(f.influences, &permuted, NULL, 0.1, &found, NULL),
                     GBS_ERR_ARGUMENT);
    gbs_influence_norms norms;
    assert_int_equal(gbs_influences_norms(f.influences, &norms, NULL), GBS_OK);
    assert_true(norms.radius_lo > 1.0 && norms.radius_lo <= norms.two_hi);
    end(&f);
}

/* The number of passes that is found is the least sufficient one. */
static void passes_that_suffice(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 6, 0.15, 0.05, 1);
    for (int scan = 0; scan < 3; ++scan) {
        const gbs_run_options options = options_of(scan);
        const double *const weight[1] = {f.weight};
        gbs_sufficient found;
        uint64_t n = 0;
        gbs_variation_bound b[2];
        assert_int_equal(gbs_pass_length(f.influences, &options, &n, NULL), GBS_OK);
        assert_int_equal(n, 35);
        assert_int_equal(gbs_variation_within(f.influences, &options, f.weight, 1e-4, &found, NULL),
                         GBS_OK);
        assert_true(found.found && found.passes > 2 && found.steps == 35 * found.passes);
        const uint64_t steps[2] = {found.steps - 35, found.steps};
        assert_int_equal(gbs_variation(f.influences, &options, 1, weight, 2, steps, b, NULL),
                         GBS_OK);
        assert_true(b[0].variation > 1e-4 && b[1].variation <= 1e-4);
        assert_true(fabs(b[1].variation - found.value) <= 1e-12 * found.value);
    }
    assert_true(gbs_influence(f.influences, 0, 1) > 0.0);
    assert_true(gbs_influence(f.influences, 0, 7) == 0.0);
    assert_true(gbs_influence(f.influences, 1, 2) == 0.0); /* observed */
    end(&f);
}

static void failing_requests(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 3, 0.2, 0.0, 1);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status != GBS_OK; ++allowed) {
        const gbs_scan_request request = {.weight = f.weight, .match = 20, .iterate = 1};
        const double *const weight[1] = {f.weight};
        const uint64_t steps[1] = {30};
        gbs_influences *influences = NULL;
        gbs_sufficient found;
        uint32_t *scan = NULL;
        gbs_variation_bound b;
        size_t n = 0;
        gbs_error err = {GBS_OK, ""};
        gbsi_alloc_fail_after(allowed);
        gbs_influence_norms norms;
        status = gbs_influences_new(f.model, f.evidence, NULL, &influences, &err);
        if (status == GBS_OK) {
            status = gbs_influences_norms(influences, &norms, &err);
        }
        for (int kind = 0; status == GBS_OK && kind < 3; ++kind) {
            const gbs_run_options options = options_of(kind);
            status = gbs_variation(influences, &options, 1, weight, 1, steps, &b, &err);
            if (status == GBS_OK) {
                status = gbs_variation_within(influences, &options, NULL, 0.1, &found, &err);
            }
        }
        if (status == GBS_OK) {
            status = gbs_scan_optimise(influences, &request, &scan, &n, NULL, &err);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && scan == NULL));
        assert_int_equal(err.status, status);
        gbs_free(scan);
        gbs_influences_free(influences);
    }
    assert_true(allowed > 40);
    end(&f);
}

/* ---- time and signals ---------------------------------------------------------------------- */

/* A callback that stops the work at its n-th call. */
typedef struct patience {
    unsigned n_asked, most;
} patience;

static bool look(void *context)
{
    patience *p = context;
    return ++p->n_asked >= p->most;
}

static int ask(void *context)
{
    return look(context);
}

/* Work between two looks is that of one update more than allowed, and what is stopped ends soon. */
static void little_between_looks(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 100, 0.2, 0.0, 1);
    const uint32_t n = f.influences->c->n;
    uint32_t *component = calloc(n, sizeof *component);
    uint32_t n_components = 0;
    assert_int_equal(gbsi_graph_components(f.influences->graph, component, &n_components, NULL),
                     GBS_OK);
    for (unsigned k = 0; k < 4; ++k) {
        for (unsigned most = 1; most < 40; most += 19) {
            gbs_status status = GBS_OK;
            patience p = {.most = most};
            gbsi_watch watch = {.look = look, .context = &p};
            gbsi_influences *c = NULL;
            gbsi_uniform *u = NULL;
            gbsi_norms norms;
            const double *const d[1] = {NULL};
            double value = 0.0;
            if (k < 2) {
                status = gbsi_influences_new(f.influences->graph,
                                             k == 0 ? GBS_INFLUENCE_BOUND : GBS_INFLUENCE_EXACT,
                                             UINT64_MAX, &watch, &c, NULL);
            } else if (k == 2) {
                status = gbsi_matrix_norms(f.influences->c, component, n_components, &watch, &norms,
                                           NULL);
            } else {
                assert_int_equal(gbsi_uniform_new(f.influences->c, 1, d, &watch, &u, NULL), GBS_OK);
                status = gbsi_uniform_at(u, UINT64_C(200) * n, &value, NULL);
            }
            assert_true(status == GBS_ERR_STOPPED || (k == 0 && most > 1 && status == GBS_OK));
            assert_true(watch.longest < GBSI_WATCH_EVERY + n + 1000);
            assert_true(p.n_asked <= most);
            gbsi_influences_free(c);
            gbsi_uniform_free(u);
        }
    }
    free(component);
    end(&f);
}

/* A descent may be stopped at any point. Its scan is then not worse than before, and has the
 * variation that is reported. */
static void descents_stop_anywhere(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 60, 0.2, 0.0, 0);
    const uint32_t n = 5 * f.influences->c->n;
    uint32_t *scan = calloc(n, sizeof *scan);
    double last = INFINITY;
    for (unsigned most = 1; most < 40; most += 3) {
        patience p = {.most = most};
        gbsi_watch watch = {.look = look, .context = &p};
        gbsi_optimiser *o = NULL;
        for (uint32_t t = 0; t < n; ++t) {
            scan[t] = t % f.influences->c->n;
        }
        assert_int_equal(gbsi_optimiser_new(f.influences->c, NULL, &watch, &o, NULL), GBS_OK);
        const double before = gbsi_optimiser_variation(o, scan, n);
        double after = before;
        assert_int_equal(gbsi_optimiser_descend(o, scan, n, -1.0, &after, NULL), GBS_OK);
        assert_true(gbsi_optimiser_variation(o, scan, n) == after && after <= before);
        assert_true(after <= last && watch.longest < GBSI_WATCH_EVERY + 1000);
        last = after;
        gbsi_optimiser_free(o);
    }
    free(scan);
    end(&f);
}

/* V of a sequence that may have updates of variables drawn uniformly. */
static double variation_of(const fixture *f, const uint32_t *sequence, size_t n)
{
    const double *const all[1] = {NULL};
    const uint64_t steps = n;
    gbs_variation_bound bound;
    gbs_run_options options = options_of(GBS_SCAN_SEQUENCE);
    options.sequence = sequence;
    options.sequence_length = n;
    assert_int_equal(gbs_variation(f->influences, &options, 1, all, 1, &steps, &bound, NULL),
                     GBS_OK);
    return bound.variation;
}

/* Goes on from a scan that was stopped early: all updates are chosen, and V does not grow. */
static void go_on(const fixture *f, const uint32_t *part, size_t n, double so_far)
{
    gbs_run_options start = options_of(GBS_SCAN_SEQUENCE);
    start.sequence = part;
    start.sequence_length = n;
    const gbs_scan_request request = {.size = sizeof request, .steps = n, .start = &start};
    gbs_scan_report report = {.size = sizeof report};
    uint32_t *scan = NULL;
    size_t n_made = 0;
    assert_int_equal(gbs_scan_optimise(f->influences, &request, &scan, &n_made, &report, NULL),
                     GBS_OK);
    assert_true(n_made == n && report.n_left == 0);
    assert_true(fabs(report.before - so_far) < 1e-12 * so_far && report.after <= report.before);
    assert_true(fabs(report.after - variation_of(f, scan, n)) < 1e-12 * report.after);
    for (size_t t = 0; t < n; ++t) {
        assert_true(scan[t] < f->influences->c->n);
    }
    gbs_free(scan);
}

/* From the random scan: the updates that were chosen before the stop are those of the whole search,
 * and the updates before them take a variable drawn uniformly, as in the random scan. */
static void random_starts_stop_anywhere(void **unused)
{
    (void)unused;
    enum { STEPS = 400 };
    fixture f;
    begin(&f, 12, 0.2, 0.0, 0);
    const gbs_run_options start = options_of(GBS_SCAN_RANDOM);
    const gbs_scan_request request = {.size = sizeof request, .steps = STEPS, .start = &start};
    gbs_scan_report whole = {.size = sizeof whole};
    uint32_t *scan = NULL;
    size_t n = 0;
    unsigned n_parts = 0;
    assert_int_equal(gbs_scan_optimise(f.influences, &request, &scan, &n, &whole, NULL), GBS_OK);
    assert_true(n == STEPS && whole.n_left == 0);
    for (unsigned most = 2; most < 60; ++most) {
        patience p = {.most = UINT_MAX};
        const gbs_influence_options options = {
            .rule = GBS_INFLUENCE_BOUND, .stop = ask, .stop_context = &p};
        gbs_influences *influences = NULL;
        gbs_scan_report report = {.size = sizeof report};
        uint32_t *part = NULL;
        assert_int_equal(gbs_influences_new(f.model, NULL, &options, &influences, NULL), GBS_OK);
        p = (patience){.most = most};
        const gbs_status status = gbs_scan_optimise(influences, &request, &part, &n, &report, NULL);
        if (status >= 0) {
            assert_true(n == STEPS && report.n_left < STEPS);
            assert_true((status == GBS_STOPPED) >= (report.n_left > 0));
            assert_memory_equal(part + report.n_left, scan + report.n_left,
                                (STEPS - report.n_left) * sizeof *scan);
            for (uint64_t t = 0; t < report.n_left; ++t) {
                assert_int_equal(part[t], GBS_STEP_UNIFORM);
            }
            assert_true(report.after <= report.before && report.before == whole.before);
            assert_true(fabs(report.after - variation_of(&f, part, n)) < 1e-12 * report.after);
            go_on(&f, part, n, report.after);
            n_parts += report.n_left > 0;
        }
        gbs_free(part);
        gbs_influences_free(influences);
    }
    assert_true(n_parts > 3);
    gbs_free(scan);
    end(&f);
}

/* While lengths are doubled: never worse than the whole scan of half the length. */
static void doubling_leaves_the_last_whole_scan(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 40, 0.2, 0.0, 0);
    const gbs_scan_request request = {.size = sizeof request, .accuracy = 1e-3};
    double last = INFINITY;
    unsigned n_kept = 0;
    for (unsigned most = 2; most < 60; ++most) {
        patience p = {.most = UINT_MAX};
        const gbs_influence_options options = {
            .rule = GBS_INFLUENCE_BOUND, .stop = ask, .stop_context = &p};
        gbs_influences *influences = NULL;
        gbs_scan_report report = {.size = sizeof report};
        uint32_t *scan = NULL;
        size_t n = 0;
        assert_int_equal(gbs_influences_new(f.model, NULL, &options, &influences, NULL), GBS_OK);
        p = (patience){.most = most};
        const gbs_status status = gbs_scan_optimise(influences, &request, &scan, &n, &report, NULL);
        if (status >= 0) {
            assert_true(report.after <= last);
            last = report.after;
            n_kept += status == GBS_STOPPED;
        } else {
            assert_true(status == GBS_ERR_STOPPED && isinf(last));
        }
        gbs_free(scan);
        gbs_influences_free(influences);
    }
    assert_true(n_kept > 20);
    end(&f);
}

static void the_user_stops(void **unused)
{
    (void)unused;
    fixture f;
    patience p = {.most = 60};
    const gbs_scan_request request = {.steps = 50000, .iterate = 1};
    const gbs_influence_options options = {
        .rule = GBS_INFLUENCE_BOUND, .stop = ask, .stop_context = &p};
    const double *const all[1] = {NULL};
    const uint64_t steps = 1000000;
    gbs_influence_norms norms;
    gbs_sufficient within;
    gbs_scan_report report = {.size = sizeof report};
    gbs_influences *influences = NULL;
    gbs_run_options random = options_of(GBS_SCAN_RANDOM);
    uint32_t *scan = NULL;
    size_t n = 0;
    gbs_variation_bound b;
    gbs_error err;
    begin(&f, 100, 0.2, 0.0, 0);
    assert_int_equal(gbs_influences_new(f.model, NULL, &options, &influences, &err), GBS_OK);
    assert_int_equal(gbs_scan_optimise(influences, &request, &scan, &n, &report, &err),
                     GBS_STOPPED);
    assert_true(n == 50000 && report.after < report.before && p.n_asked >= 60);
    gbs_free(scan);
    p.most = 1; /* from now on at the first look */
    assert_int_equal(gbs_influences_norms(influences, &norms, &err), GBS_ERR_STOPPED);
    assert_non_null(strstr(err.message, "stopped while"));
    assert_int_equal(gbs_variation(influences, NULL, 1, all, 1, &steps, &b, &err), GBS_ERR_STOPPED);
    assert_int_equal(gbs_variation(influences, &random, 1, all, 1, &steps, &b, &err),
                     GBS_ERR_STOPPED);
    assert_int_equal(gbs_variation_within(influences, NULL, NULL, 1e-100, &within, &err),
                     GBS_ERR_STOPPED);
    gbs_influences_free(influences);
    assert_true(gbs_influences_new(f.model, NULL, &options, &influences, &err) == GBS_ERR_STOPPED);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_of_a_million),
        cmocka_unit_test(lengths_and_accuracies),
        cmocka_unit_test(refusals),
        cmocka_unit_test(passes_that_suffice),
        cmocka_unit_test(failing_requests),
        cmocka_unit_test(little_between_looks),
        cmocka_unit_test(descents_stop_anywhere),
        cmocka_unit_test(the_user_stops),
        cmocka_unit_test(random_starts_stop_anywhere),
        cmocka_unit_test(doubling_leaves_the_last_whole_scan),
        cmocka_unit_test(from_the_random_scan),
        cmocka_unit_test(from_a_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
