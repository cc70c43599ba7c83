/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with restarts: their law by enumeration, their bound, and the options that they refuse. */
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
#include "simd/math.h"

enum { N = 6 };

/* A ring of six strongly coupled spins with a field. The law after one pass differs visibly from
 * the target. */
static const double coupling[N] = {0.9, -0.7, 0.8, 0.6, -0.5, 0.7};
static const double field[N] = {0.4, 0.0, -0.3, 0.2, 0.0, 0.1};

static gbs_model *ring(void)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    const uint32_t two[N] = {2, 2, 2, 2, 2, 2};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, two, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        assert_int_equal(gbs_builder_add_ising(b, v, (v + 1) % N, coupling[v], NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, v, field[v], NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static double up(uint32_t v, uint32_t x)
{
    const uint32_t left = (v + N - 1) % N;
    const double l = (x >> left & 1) != 0 ? 1.0 : -1.0;
    const double r = (x >> (v + 1) % N & 1) != 0 ? 1.0 : -1.0;
    return 1.0 / (1.0 + gbsi_exp(-2.0 * (field[v] + coupling[left] * l + coupling[v] * r)));
}

/* Computes P(x_v = 1) after the updates of a scan, from uniform states. */
static void law_of(const uint32_t *scan, size_t n, double *p)
{
    double law[1 << N];
    for (uint32_t x = 0; x < 1 << N; ++x) {
        law[x] = 1.0 / (1 << N);
    }
    for (size_t t = 0; t < n; ++t) {
        const uint32_t bit = 1u << scan[t];
        for (uint32_t x = 0; x < 1 << N; ++x) {
            if ((x & bit) == 0) {
                const double both = law[x] + law[x | bit];
                law[x | bit] = both * up(scan[t], x);
                law[x] = both - law[x | bit];
            }
        }
    }
    for (uint32_t v = 0; v < N; ++v) {
        p[v] = 0.0;
        for (uint32_t x = 0; x < 1 << N; ++x) {
            p[v] += (x >> v & 1) != 0 ? law[x] : 0.0;
        }
    }
}

static gbs_run_options short_chains(const uint32_t *scan, size_t n)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = scan;
    options.sequence_length = n;
    options.partial_scan = 1;
    options.restarts = 1;
    options.sweeps = 20000;
    options.threads = 1;
    return options;
}

static void estimate(const gbs_model *model, const gbs_run_options *options, double *p,
                     double *mcse, gbs_report *report)
{
    gbs_run *run = NULL;
    double all[2 * N];
    double error[2 * N];
    assert_int_equal(gbs_run_new(model, NULL, options, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    assert_int_equal(gbs_run_marginals(run, all, error, NULL, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        p[v] = all[2 * v + 1];
        mcse[v] = error[2 * v + 1];
    }
    *report = *gbs_run_report(run);
    gbs_run_free(run);
}

/* With 5 standard errors, one in 10^5 estimates fails by chance. */
static void estimates_are_the_law_of_a_pass(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t scan[8];
        size_t n;
    } scans[] = {{{1}, 1},
                 {{0, 1, 0}, 3},
                 {{3, 4, 3, 2, 3}, 5},
                 {{0, 1, 2, 3, 4, 5}, 6},
                 {{5, 0, 5, 0, 1, 5}, 6}};
    gbs_model *model = ring();
    for (unsigned k = 0; k < sizeof scans / sizeof *scans; ++k) {
        for (unsigned chains = 1; chains <= 16; chains += 15) {
            gbs_run_options options = short_chains(scans[k].scan, scans[k].n);
            double law[N];
            double p[N];
            double mcse[N];
            gbs_report report;
            uint32_t visited = 0;
            options.chains = chains;
            law_of(scans[k].scan, scans[k].n, law);
            estimate(model, &options, p, mcse, &report);
            for (size_t t = 0; t < scans[k].n; ++t) {
                visited |= 1u << scans[k].scan[t];
            }
            for (uint32_t v = 0; v < N; ++v) {
                if ((visited >> v & 1) == 0) {
                    assert_true(isnan(p[v]) && isnan(mcse[v]));
                } else if (!(fabs(p[v] - law[v]) <= 5.0 * mcse[v] + 1e-6)) {
                    fail_msg("scan %u, variable %u: %g +- %g, law %g", k, v, p[v], mcse[v], law[v]);
                }
            }
            assert_int_equal(report.burn_in, 0);
            assert_int_equal(report.sweeps, 20000);
        }
    }
    gbs_model_free(model);
}

/* The reported bias is the variation of the scan for the targets, and the exact marginals are
 * within it. */
static void bias_is_the_variation(void **unused)
{
    (void)unused;
    const gbs_generate_ising_options grid = {
        .side = {12, 12, 1}, .coupling = 0.15, .coupling_spread = 0.1, .seed = 4};
    gbs_model *model = NULL;
    gbs_influences *c = NULL;
    gbs_scan_report made = {.size = sizeof made};
    uint32_t *scan = NULL;
    size_t n = 0;
    double weight[144] = {0.0};
    const uint32_t target[1] = {65};
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    assert_int_equal(gbs_influences_new(model, NULL, NULL, &c, NULL), GBS_OK);
    weight[65] = 1.0;
    const gbs_scan_request request = {.weight = weight, .accuracy = 0.01};
    assert_int_equal(gbs_scan_optimise(c, &request, &scan, &n, &made, NULL), GBS_OK);
    gbs_run_options options = short_chains(scan, n);
    options.target = target;
    options.n_targets = 1;
    options.sweeps = 0;
    options.target_error = 0.02;
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
    const gbs_report *r = gbs_run_report(run);
    assert_true(fabs(r->bias_estimate - made.after) <= 1e-12 && made.after <= 0.01);
    assert_int_equal(r->n_omitted, 144 - made.n_visited);
    assert_int_equal(r->converged, 1);
    double *p = calloc(288, sizeof *p);
    double *mcse = calloc(288, sizeof *mcse);
    assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
    assert_true(fabs(p[131] - 0.5) <=
                made.after + 5.0 * mcse[131]); /* a variable without a field */
    assert_true(isnan(p[130 + 2]) && isnan(p[0]));
    gbs_run_free(run);
    /* if all visited variables are targets, the bound includes the helper variables */
    options.n_targets = 0;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
    assert_true(gbs_run_report(run)->bias_estimate > 0.1 && !gbs_run_report(run)->converged);
    assert_non_null(strstr(gbs_run_report(run)->verdict, "longer scan"));
    gbs_run_free(run);
    free(p);
    free(mcse);
    gbs_free(scan);
    gbs_influences_free(c);
    gbs_model_free(model);
}

/* ---- draws --------------------------------------------------------------------------------- */

typedef struct kept {
    uint32_t state[2][40][N];
    unsigned which;
} kept;

static gbs_status keep_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    kept *k = context;
    (void)err;
    assert_true(isnan(log_density));
    if (chain == 0) {
        memcpy(k->state[k->which][draw], state, N * sizeof *state);
    }
    return GBS_OK;
}

/* Chain 0 has the same draws alone and among sixteen chains. Variables that are not next to the
 * scan have no state. */
static void draws_of_chains(void **unused)
{
    (void)unused;
    static const uint32_t scan[] = {1, 0, 1};
    static kept k;
    gbs_model *model = ring();
    for (k.which = 0; k.which < 2; ++k.which) {
        gbs_run_options options = short_chains(scan, 3);
        const gbs_run_callbacks callbacks = {.context = &k, .draw = keep_draw};
        gbs_run *run = NULL;
        options.sweeps = 40;
        options.chains = k.which == 0 ? 1 : 16;
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
        assert_int_equal(gbs_run_execute(run, &callbacks, NULL), GBS_OK);
        gbs_run_free(run);
    }
    unsigned n_ones = 0;
    for (unsigned d = 0; d < 40; ++d) {
        for (uint32_t v = 0; v < 2; ++v) {
            assert_int_equal(k.state[0][d][v], k.state[1][d][v]);
            n_ones += k.state[0][d][v];
        }
        assert_true(k.state[0][d][3] == UINT32_MAX && k.state[0][d][4] == UINT32_MAX);
    }
    assert_true(n_ones > 10 && n_ones < 70);
    gbs_model_free(model);
}

/* Without restarts, variables that the scan omits keep their states, and the run is never called
 * converged. */
static void omitted_without_restarts(void **unused)
{
    (void)unused;
    static const uint32_t scan[] = {0, 1, 2};
    gbs_model *model = ring();
    gbs_run_options options = short_chains(scan, 3);
    gbs_report report;
    double p[N];
    double mcse[N];
    options.restarts = 0;
    options.target_error = 1.0;
    options.sweeps = 300000;
    estimate(model, &options, p, mcse, &report);
    assert_true(!report.converged && report.n_omitted == 3 && isnan(report.bias_estimate));
    assert_true(isnan(p[3]) && p[1] > 0.0 && p[1] < 1.0);
    gbs_model_free(model);
}

/* ---- restarts_are_refused
 * ------------------------------------------------------------------------------ */

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

static void restarts_are_refused(void **unused)
{
    (void)unused;
    static const uint32_t scan[] = {1, 0, 1};
    static const uint32_t target[] = {4};
    static const uint32_t beyond[] = {6};
    gbs_model *model = ring();
    gbs_run_options options = short_chains(scan, 3);
    options.partial_scan = 0;
    refused(model, &options, GBS_ERR_ARGUMENT, "omits variable 2");
    options = short_chains(scan, 3);
    options.scan = GBS_SCAN_CHROMATIC;
    options.sequence = NULL;
    refused(model, &options, GBS_ERR_ARGUMENT, "needs a scan file");
    options = short_chains(scan, 3);
    options.draw = GBS_DRAW_HERDED;
    refused(model, &options, GBS_ERR_ARGUMENT, "random draw");
    options = short_chains(scan, 3);
    options.estimator = GBS_ESTIMATOR_COUNT;
    refused(model, &options, GBS_ERR_ARGUMENT, "rao-blackwell");
    options = short_chains(scan, 3);
    options.burn_in = 3;
    refused(model, &options, GBS_ERR_ARGUMENT, "burn-in");
    options = short_chains(scan, 3);
    options.certified = 0.1;
    refused(model, &options, GBS_ERR_ARGUMENT, "cannot apply with --restarts");
    options = short_chains(scan, 3);
    options.target = target;
    options.n_targets = 1;
    refused(model, &options, GBS_ERR_ARGUMENT, "--target: the scan never visits variable 4");
    options.target = beyond;
    refused(model, &options, GBS_ERR_ARGUMENT, "6 variables");
    options.restarts = 0;
    refused(model, &options, GBS_ERR_ARGUMENT, "applies with --restarts");
    gbs_model_free(model);
}

static void memory_runs_out_between_restarts(void **unused)
{
    (void)unused;
    static const uint32_t scan[] = {1, 0, 1};
    static const uint32_t target[] = {0};
    gbs_model *model = ring();
    gbs_run_options options = short_chains(scan, 3);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    options.target = target;
    options.n_targets = 1;
    options.sweeps = 3;
    for (; status != GBS_OK; ++allowed) {
        gbs_run *run = NULL;
        gbs_error err = {GBS_OK, ""};
        gbsi_alloc_fail_after(allowed);
        status = gbs_run_new(model, NULL, &options, &run, &err);
        if (status == GBS_OK) {
            status = gbs_run_execute(run, NULL, &err);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        gbs_run_free(run);
    }
    assert_true(allowed > 30);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_the_law_of_a_pass),
        cmocka_unit_test(bias_is_the_variation),
        cmocka_unit_test(draws_of_chains),
        cmocka_unit_test(omitted_without_restarts),
        cmocka_unit_test(restarts_are_refused),
        cmocka_unit_test(memory_runs_out_between_restarts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
