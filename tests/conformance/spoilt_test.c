/* SPDX-License-Identifier: Apache-2.0 */
/* Every experiment of the laboratory, its runs spoilt: whatever the verdicts say no to, the whole
 * experiment has to say no to. The linker puts functions of this file before those that make runs,
 * label sequences and optimise scans (--wrap). lab/verdicts_test.c shows each verdict alone. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_scale.h"
#include "gibbsite/crf.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/gibbsite.h"
#include "lab/decomposition.h"
#include "lab/reproduction.h"
#include "support/place.h"

typedef struct spoilt {
    const char *experiment;
    const char *how;
    const char *finding;               /* a part of one that has to fail */
    void (*run)(gbs_run_options *run); /* what is made of the options of its runs; or NULL */
    void (*scan)(uint32_t *sequence, size_t n, uint32_t n_variables); /* of its scans; or NULL */
    bool once;                                                        /* scans are not iterated */
    double reported; /* what the optimiser's figures are multiplied by; 0: left as they are */
    double estimate; /* what the estimated limit of D cor is multiplied by; 0: left as it is */
} spoilt;

static const spoilt *now;

/* ---- before functions of the library --------------------------------------------------------- */

/* The linker's names.
 * NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming) */
__typeof__(gbs_run_new) __real_gbs_run_new, __wrap_gbs_run_new;
__typeof__(gbs_crf_label) __real_gbs_crf_label, __wrap_gbs_crf_label;
__typeof__(gbs_scan_optimise) __real_gbs_scan_optimise, __wrap_gbs_scan_optimise;
__typeof__(lab_decompose) __real_lab_decompose, __wrap_lab_decompose;
__typeof__(lab_decompose_asymptotic) __real_lab_decompose_asymptotic,
    __wrap_lab_decompose_asymptotic;

static gbs_run_options spoil(const gbs_run_options *options)
{
    gbs_run_options run = *options;
    if (now->run != NULL) {
        now->run(&run);
    }
    return run;
}

gbs_status __wrap_gbs_run_new(const gbs_model *model, const gbs_evidence *evidence,
                              const gbs_run_options *options, gbs_run **run, gbs_error *err)
{
    const gbs_run_options own = spoil(options);
    return __real_gbs_run_new(model, evidence, &own, run, err);
}

gbs_status __wrap_gbs_crf_label(const gbs_crf *crf, const gbs_sequences *data,
                                const gbs_label_options *options,
                                const gbs_run_callbacks *callbacks, uint32_t *label,
                                double *posterior, double *log_p, gbs_label_report *report,
                                gbs_error *err)
{
    gbs_label_options own = *options;
    gbs_run_options run;
    if (own.run != NULL) {
        run = spoil(own.run);
        own.run = &run;
    }
    return __real_gbs_crf_label(crf, data, &own, callbacks, label, posterior, log_p, report, err);
}

gbs_status __wrap_gbs_scan_optimise(const gbs_influences *influences,
                                    const gbs_scan_request *request, uint32_t **sequence, size_t *n,
                                    gbs_scan_report *report, gbs_error *err)
{
    gbs_scan_request own = *request;
    own.iterate = request->iterate && !now->once;
    const gbs_status status = __real_gbs_scan_optimise(influences, &own, sequence, n, report, err);
    if (status >= 0 && now->scan != NULL) {
        now->scan(*sequence, *n, gbs_influences_report(influences)->n_variables);
    }
    if (status >= 0 && now->reported != 0.0 && report != NULL) {
        report->after *= now->reported;
    }
    return status;
}

gbs_status __wrap_lab_decompose(const gbs_model *model, const gbs_evidence *evidence,
                                const gbs_run_options *options, uint32_t focus,
                                const gbs_run_callbacks *callbacks, lab_decomposition *out,
                                gbs_error *err)
{
    const gbs_run_options own = spoil(options);
    return __real_lab_decompose(model, evidence, &own, focus, callbacks, out, err);
}

gbs_status __wrap_lab_decompose_asymptotic(const gbs_model *model, const gbs_evidence *evidence,
                                           const gbs_run_options *options, uint32_t focus,
                                           const gbs_run_callbacks *callbacks, lab_asymptotic *out,
                                           gbs_error *err)
{
    const gbs_status status =
        __real_lab_decompose_asymptotic(model, evidence, options, focus, callbacks, out, err);
    if (status >= 0 && now->estimate != 0.0) {
        out->total *= now->estimate;
    }
    return status;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

/* ---- what is spoilt -------------------------------------------------------------------------- */

static void draw_at_random(gbs_run_options *run)
{
    const gbs_run_options usual = gbs_run_options_default();
    run->draw = GBS_DRAW_RANDOM;
    run->keys = usual.keys;
    run->herd_rule = usual.herd_rule;
    run->herd_init = usual.herd_init;
    run->bins = usual.bins;
    run->bin_edge = usual.bin_edge;
    run->bin_rule = usual.bin_rule;
    run->threshold = usual.threshold;
    run->cud_scheme = usual.cud_scheme;
    run->cud_bits = usual.cud_bits;
    run->cud_offset = usual.cud_offset;
    run->dummy_edges = NULL;
    run->n_dummy_edges = 0;
}

static void use_bins(gbs_run_options *run)
{
    if (run->draw == GBS_DRAW_RANDOMLY_DISCRETIZED) {
        run->draw = GBS_DRAW_DISCRETIZED;
    }
}

static void use_few_bins(gbs_run_options *run)
{
    if (run->draw == GBS_DRAW_DISCRETIZED && run->bins > 8) {
        run->bins = 8;
    }
}

static void draw_many_bins_at_random(gbs_run_options *run)
{
    if (run->draw == GBS_DRAW_DISCRETIZED && run->bins > 64) {
        draw_at_random(run);
    }
}

static void draw_shared_at_random(gbs_run_options *run)
{
    if (run->draw == GBS_DRAW_HERDED_SHARED) {
        draw_at_random(run);
    }
}

static void draw_bins_at_random(gbs_run_options *run)
{
    if (run->draw == GBS_DRAW_DISCRETIZED) {
        draw_at_random(run);
    }
}

static void draw_rounded_at_random(gbs_run_options *run)
{
    if (run->draw == GBS_DRAW_RANDOMLY_DISCRETIZED) {
        draw_at_random(run);
    }
}

static void update_one_at_a_time(gbs_run_options *run)
{
    const gbs_run_options usual = gbs_run_options_default();
    if (run->scan == GBS_SCAN_SPLASH || run->scan == GBS_SCAN_SYNCHRONOUS) {
        run->scan = GBS_SCAN_CHROMATIC;
    }
    run->width = usual.width;
    run->splash_size = usual.splash_size;
    run->splashes = usual.splashes;
    run->grow = usual.grow;
    run->adapt = usual.adapt;
}

static void grow_at_random(gbs_run_options *run)
{
    run->grow = GBS_GROW_RANDOM;
    run->adapt = 0;
}

static void systematic(uint32_t *sequence, size_t n, uint32_t n_variables)
{
    for (size_t i = 0; i < n; i++) {
        sequence[i] = (uint32_t)(i % n_variables);
    }
}

static void reversed(uint32_t *sequence, size_t n, uint32_t n_variables)
{
    (void)n_variables;
    for (size_t i = 0; i < n / 2; i++) {
        const uint32_t kept = sequence[i];
        sequence[i] = sequence[n - 1 - i];
        sequence[n - 1 - i] = kept;
    }
}

static void garbage(uint32_t *sequence, size_t n, uint32_t n_variables)
{
    for (size_t i = 0; i < n; i++) {
        sequence[i] = n_variables - 1;
    }
}

/* The quickest first: these are all at small scale. */
enum { N_QUICK = 12 };

static const spoilt all[] = {
    {"dogs-scans", "scans not optimised", "times lower than the systematic scan's",
     .scan = systematic},
    {"dogs-scans", "scans reversed", "above that of the scan", .scan = reversed},
    {"dogs-scans", "scans of one variable", "above that of the scan", .scan = garbage},
    {"dogs-scans", "scans not iterated", "lower than one descent", .once = true},
    {"dogs-scans", "not optimised, said to be", "times lower than the systematic scan's",
     .scan = systematic, .reported = 1e-3},
    {"dogs-marginal", "not optimised, said to be", "the bound on the marginal's error",
     .scan = systematic, .reported = 1e-3},
    {"dogs-segment", "scans of one variable", "the rectangle's scan has", .scan = garbage},
    {"dogs-marginal", "scans not optimised", "half of the estimates", .scan = systematic},
    {"dogs-segment", "scans not optimised", "patches are wrong with its own scan",
     .scan = systematic},
    {"ws-dcor", "half the estimate", "times that (wanted", .estimate = 0.5},
    {"ws-dcor", "twice the estimate", "times that (wanted", .estimate = 2.0},
    {"pgs-synchronous", "a chromatic scan for the synchronous", "averages of neighbours, which mix",
     .run = update_one_at_a_time},
    {"pgs-synchronous", "a chromatic scan for the synchronous", "which takes six colours",
     .run = update_one_at_a_time},
    {"hg-two-variables", "random draws", "slope of the herded median", .run = draw_at_random},
    {"hg-incomplete", "random draws", "with complete keys the slope", .run = draw_at_random},
    {"hg-denoise", "random draws", "shared weights are better than herding", .run = draw_at_random},
    {"hg-denoise", "random draws for shared weights",
     "shared weights:", .run = draw_shared_at_random},
    {"hg-ner", "random draws", "skip chain: after 100 sweeps", .run = draw_at_random},
    {"ws-sharing", "random draws", "the order is reversed", .run = draw_at_random},
    {"ws-sharing", "8 bins for 32 and 128", "wanted falling up to 32 bins", .run = use_few_bins},
    {"ws-sharing", "random draws for 128 bins", "with 128 bins at most five sixths of",
     .run = draw_many_bins_at_random},
    {"ws-components", "random draws", "slope of D herding", .run = draw_at_random},
    {"ws-components", "half the estimate", "D cor tends to", .estimate = 0.5},
    {"ws-components", "twice the estimate", "D cor tends to", .estimate = 2.0},
    {"ws-components", "a quarter of the estimate", "D cor tends to", .estimate = 0.25},
    {"ws-dcor", "random draws", "D cor falls from", .run = draw_at_random},
    {"ws-dcor", "random draws", "times that (wanted", .run = draw_at_random},
    {"ws-dcor", "a quarter of the estimate", "times that (wanted", .estimate = 0.25},
    {"ws-beg", "random draws", "slopes of D herding", .run = draw_at_random},
    {"ws-rdhg", "bins for rounding", "D approx is", .run = use_bins},
    {"ws-rdhg", "random draws for rounding", "D herding of rounding",
     .run = draw_rounded_at_random},
    {"ws-rdhg", "random draws for bins", "less D all of random draws", .run = draw_bins_at_random},
    {"ws-rao-blackwell", "random draws", "rounded at random", .run = draw_at_random},
    {"ws-images", "random draws", "the share of wrong pixels", .run = draw_at_random},
    {"pgs-denoise", "a chromatic scan for splashes", "the variance between chains",
     .run = update_one_at_a_time},
    {"pgs-relational", "a chromatic scan for splashes", "the variance between chains",
     .run = update_one_at_a_time},
    {"pgs-adaptation", "growth at random", "splashes that grow by coupling", .run = grow_at_random},
    {"pgs-adaptation", "growth at random", "in the first", .run = grow_at_random},
    {"dogs-segment", "not optimised, said to be", "the rectangle's scan has", .scan = systematic,
     .reported = 1e-3},
    {"dogs-million", "scans not optimised", "a scan of 16 updates", .scan = systematic},
    {"dogs-mle", "scans not optimised", "chains need", .scan = systematic},
};

enum { N_SPOILT = sizeof all / sizeof all[0] };

/* ---- tests ----------------------------------------------------------------------------------- */

/* Whether a row is the first of its experiment. */
static bool is_first(size_t i)
{
    size_t first = 0;
    while (strcmp(all[first].experiment, all[i].experiment) != 0) {
        first++;
    }
    return first == i;
}

/* At the usual scale the first row of each experiment runs besides the quick ones, except the
 * experiment of a million variables, which takes a quarter of the time of all others. At small
 * scale a quarter of the quick rows runs. */
static bool is_asked(size_t i)
{
    const bool quick = i < N_QUICK && i % test_share(1, 4) == 0;
    return quick || test_scale_asked() == TEST_FULL ||
           (test_scale_asked() == TEST_USUAL && is_first(i) &&
            strcmp(all[i].experiment, "dogs-million") != 0);
}

/* Whether a finding that fails has this text in it. */
static bool has_failed(const char *measured, const char *finding)
{
    static const char mark[] = "- [fails] ";
    for (const char *at = measured; (at = strstr(at, mark)) != NULL; at++) {
        const char *found = strstr(at, finding);
        if (found != NULL && memchr(at, '\n', (size_t)(found - at)) == NULL) {
            return true;
        }
    }
    return false;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void test_spoilt_runs(void **state)
{
    static lab_verdict verdict;
    const lab_reproduce_options options = {.quick = 1, .seed = 1};
    const test_place at = test_take_place();
    (void)state;
    for (size_t i = 0; i < N_SPOILT; i++) {
        gbs_error err = {0};
        if (!is_asked(i)) {
            continue;
        }
        now = &all[i];
        const gbs_status status =
            lab_reproduce(now->experiment, at.folder, &options, &verdict, &err);
        if (status == GBS_ERR_UNSUPPORTED) {
            continue; /* built without libLBFGS or libpng */
        }
        if (status != GBS_OK) {
            fail_msg("%s: %s", now->experiment, err.message);
        }
        if (verdict.holds || !has_failed(verdict.measured, now->finding)) {
            fail_msg("%s with %s: wanted no, and '%s' among what fails, found%s", now->experiment,
                     now->how, now->finding, verdict.measured);
        }
    }
    assert_int_equal(nftw(at.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void test_all_are_spoilt(void **state)
{
    (void)state;
    for (size_t e = 0; lab_experiment_at(e) != NULL; e++) {
        size_t i = 0;
        while (i < N_SPOILT && strcmp(all[i].experiment, lab_experiment_at(e)->name) != 0) {
            i++;
        }
        if (i == N_SPOILT) {
            fail_msg("no run of %s is spoilt", lab_experiment_at(e)->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spoilt_runs),
        cmocka_unit_test(test_all_are_spoilt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
