/* SPDX-License-Identifier: Apache-2.0 */
/* The herded family: every legal scan x draw x estimator on the table of models against
 * enumeration. Except with complete keys herding has a bias of its own, which is recorded here as a
 * band: what these runs showed, and half as much again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simd/dispatch.h"
#include "support/models.h"
#include "support/runs.h"

/* A draw as options choose it, and how far its estimates may be off after so many sweeps: bias,
 * what is left of 1/T, and of the random order of a random scan. */
typedef struct herded {
    const char *name;
    int draw, keys, rule, init;
    uint64_t bins;
    bool binary_only;
    double band[2]; /* scans of a fixed order, of a random one */
} herded;

static const herded draws[] = {
    {"herded", GBS_DRAW_HERDED, 0, 0, 0, 0, false, {0.04, 0.07}},
    {"shared", GBS_DRAW_HERDED_SHARED, 0, 0, 0, 0, false, {0.045, 0.09}},
    {"complete", GBS_DRAW_HERDED_COMPLETE, 0, 0, 0, 0, false, {0.12, 0.12}},
    {"discretized", GBS_DRAW_DISCRETIZED, 0, 0, 0, 16, true, {0.04, 0.07}},
    {"discretized, pre", GBS_DRAW_DISCRETIZED, 0, GBS_HERD_PRE, 0, 16, true, {0.05, 0.12}},
    {"one bin", GBS_DRAW_ONE_BIN, 0, 0, 0, 0, true, {0.17, 0.15}},
};
enum { N_DRAWS = sizeof draws / sizeof draws[0] };

static bool all_binary(const gbs_model *model)
{
    for (uint32_t v = 0; v < gbs_model_n_variables(model); ++v) {
        if (gbs_model_arity(model, v) > 2) {
            return false;
        }
    }
    return true;
}

static gbs_run_options options_of(const herded *d, int scan, int estimator, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.draw = d->draw;
    options.keys = d->keys;
    options.herd_rule = d->rule;
    options.herd_init = d->init;
    options.bins = d->bins;
    options.scan = scan;
    options.estimator = estimator;
    options.chains = chains;
    options.sweeps = chains == 1 ? 4096 : 512;
    options.burn_in = 64;
    options.seed = 20261121;
    return options;
}

static double worst(const test_answer *found, const test_answer *exact)
{
    double most = 0.0;
    for (size_t i = 0; i < found->n; ++i) {
        const double error = fabs(found->p[i] - exact->p[i]);
        most = error > most ? error : most;
    }
    return most;
}

static void check_case(const test_case *c)
{
    gbs_model *model = c->make();
    gbs_evidence *evidence = test_observe(model, c->observe);
    gbs_run_options oracle = gbs_run_options_default();
    oracle.method = GBS_METHOD_EXACT;
    test_answer exact = test_run_once(model, evidence, &oracle);
    for (int d = 0; d < N_DRAWS; ++d) {
        if (draws[d].binary_only && !all_binary(model)) {
            continue;
        }
        for (int scan = 0; scan < GBS_SCAN_SEQUENCE; ++scan) {
            for (int estimator = 0; estimator <= GBS_ESTIMATOR_COUNT; ++estimator) {
                for (uint64_t chains = 1; chains <= 16; chains += 15) {
                    const gbs_run_options options = options_of(&draws[d], scan, estimator, chains);
                    test_answer found = test_run_once(model, evidence, &options);
                    const double error = worst(&found, &exact);
                    const double band =
                        draws[d].band[scan == GBS_SCAN_RANDOM || scan == GBS_SCAN_PERMUTED];
                    if (c->crossable && error > band) {
                        fail_msg(
                            "%s, %s, scan %d, estimator %d, %d chains: off by %.5f, above %.5f",
                            c->name, draws[d].name, scan, estimator, (int)chains, error, band);
                    }
                    assert_true(!found.report.converged || found.report.n_free_variables == 0);
                    test_drop(&found);
                }
            }
        }
    }
    test_drop(&exact);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void scans_and_draws(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_cases; ++i) {
        check_case(&test_cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_and_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
