/* SPDX-License-Identifier: Apache-2.0 */
/* Certified burn-in: the smallest sufficient number of passes, for every scan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"

static gbs_model *grid(double coupling)
{
    const gbs_generate_ising_options options = {
        .side = {5, 5, 1}, .coupling = coupling, .coupling_spread = 0.1, .seed = 2};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

static gbs_run_options wanted(int scan, double certified)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scan;
    options.certified = certified;
    options.sweeps = 10;
    options.threads = 1;
    return options;
}

/* The largest bound on a single marginal after this many passes of a fixed scan. */
static double bound_after(const gbs_model *model, int scan, uint64_t passes)
{
    gbs_influences *c = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.scan = scan;
    const uint64_t steps[1] = {25 * passes};
    double most = 0.0;
    assert_int_equal(gbs_influences_new(model, NULL, NULL, &c, NULL), GBS_OK);
    for (uint32_t v = 0; v < 25; ++v) {
        double weight[25] = {0.0};
        const double *const target[1] = {weight};
        gbs_variation_bound b;
        weight[v] = 1.0;
        assert_int_equal(gbs_variation(c, &options, 1, target, 1, steps, &b, NULL), GBS_OK);
        most = b.variation > most ? b.variation : most;
    }
    gbs_influences_free(c);
    return most;
}

static void first_number_of_passes(void **unused)
{
    (void)unused;
    gbs_model *model = grid(0.15);
    for (int scan = GBS_SCAN_CHROMATIC; scan <= GBS_SCAN_PERMUTED; ++scan) {
        const gbs_run_options options = wanted(scan, 1e-3);
        gbs_run *run = NULL;
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
        assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
        const gbs_report *r = gbs_run_report(run);
        assert_true(r->burn_in > 3 && r->burn_in < 100 && r->certified <= 1e-3);
        if (scan == GBS_SCAN_CHROMATIC || scan == GBS_SCAN_SYSTEMATIC) {
            assert_true(fabs(bound_after(model, scan, r->burn_in) - r->certified) < 1e-15);
            assert_true(bound_after(model, scan, r->burn_in - 1) > 1e-3);
        }
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

static void refused(const gbs_model *model, const gbs_run_options *options, gbs_status status,
                    const char *part)
{
    gbs_error err = {GBS_OK, ""};
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, &err), status);
    assert_null(run);
    if (strstr(err.message, part) == NULL) {
        fail_msg("%s", err.message);
    }
}

static void certificates_are_refused(void **unused)
{
    (void)unused;
    gbs_model *weak = grid(0.15);
    gbs_model *strong = grid(1.0);
    gbs_run_options options = wanted(GBS_SCAN_CHROMATIC, 0.01);
    refused(strong, &options, GBS_ERR_UNSUPPORTED, "no certificate for 0.01");
    options.burn_in = 5;
    refused(weak, &options, GBS_ERR_ARGUMENT, "leave out --burn-in");
    options = wanted(GBS_SCAN_CHROMATIC, 0.01);
    options.draw = GBS_DRAW_HERDED;
    refused(weak, &options, GBS_ERR_ARGUMENT, "random draw");
    options = wanted(GBS_SCAN_CHROMATIC, 0.01);
    options.estimator = GBS_ESTIMATOR_TRACES;
    refused(weak, &options, GBS_ERR_ARGUMENT, "--certified");
    gbs_model_free(weak);
    gbs_model_free(strong);
}

/* Without the option, no burn-in is certified; exact answers need none. */
static void not_asked(void **unused)
{
    (void)unused;
    gbs_model *model = grid(0.15);
    for (int k = 0; k < 2; ++k) {
        gbs_run_options options = wanted(GBS_SCAN_CHROMATIC, k == 0 ? 0.0 : 0.01);
        options.method = k == 0 ? GBS_METHOD_SAMPLE : GBS_METHOD_AUTO;
        gbs_run *run = NULL;
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
        assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
        assert_true(isnan(gbs_run_report(run)->certified));
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

/* The time limit ends the search on machines of any speed. */
static void time_is_obeyed(void **unused)
{
    (void)unused;
    const gbs_generate_ising_options large = {.side = {100, 100, 1}, .coupling = 0.2};
    gbs_model *model = NULL;
    gbs_run_options options = wanted(GBS_SCAN_CHROMATIC, 1e-9);
    options.time_s = 1e-9;
    assert_int_equal(gbs_generate_ising(&large, &model, NULL), GBS_OK);
    refused(model, &options, GBS_ERR_STOPPED, "there is no result yet");
    gbs_model_free(model);
}

static void memory_runs_out_while_certifying(void **unused)
{
    (void)unused;
    gbs_model *model = grid(0.15);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    const gbs_run_options options = wanted(GBS_SCAN_CHROMATIC, 0.01);
    for (; status != GBS_OK; ++allowed) {
        gbs_run *run = NULL;
        gbs_error err = {GBS_OK, ""};
        gbsi_alloc_fail_after(allowed);
        status = gbs_run_new(model, NULL, &options, &run, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && run == NULL));
        gbs_run_free(run);
    }
    assert_true(allowed > 20);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_number_of_passes),
        cmocka_unit_test(certificates_are_refused),
        cmocka_unit_test(not_asked),
        cmocka_unit_test(time_is_obeyed),
        cmocka_unit_test(memory_runs_out_while_certifying),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
