/* SPDX-License-Identifier: Apache-2.0 */
/* Every reason for which a run is not called converged, each reached by a run that nothing else
 * speaks against: the row of verdict.def without its condition fails here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/models.h"
#include "support/runs.h"

static gbs_model *grid(uint32_t side, double coupling)
{
    const gbs_generate_ising_options shape = {
        .side = {side, side, 1}, .coupling = coupling, .torus = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&shape, &model, NULL), GBS_OK);
    return model;
}

static gbs_run_options sampled(uint64_t chains, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = chains;
    options.sweeps = sweeps;
    return options;
}

/* @param part of the verdict; NULL: the run converges. Takes the model. */
static void check(gbs_model *model, const gbs_run_options *options, const char *part)
{
    test_answer a = test_run_once(model, NULL, options);
    if (part == NULL ? !a.report.converged
                     : a.report.converged || strstr(a.report.verdict, part) == NULL) {
        fail_msg("expected %s, found: %s", part == NULL ? "convergence" : part, a.report.verdict);
    }
    test_drop(&a);
    gbs_model_free(model);
}

/* ---- chains ------------------------------------------------------------------------------------
 */

/* Frozen in one of two states of all spins: each chain agrees with itself, and so may two of them.
 */
static void fewer_than_four_chains(void **state)
{
    (void)state;
    for (uint64_t chains = 1; chains <= 3; ++chains) {
        const gbs_run_options options = sampled(chains, 100000);
        check(grid(8, 0.1), &options, "--chains");
    }
    const gbs_run_options four = sampled(4, 100000);
    check(grid(8, 0.1), &four, NULL);
    gbs_run_options frozen = sampled(1, 20000);
    check(grid(16, 0.8), &frozen, "--chains");
    frozen.estimator = GBS_ESTIMATOR_COUNT;
    check(grid(16, 0.8), &frozen, "--chains");
}

/* A synchronous chain is two chromatic ones with starts of their own. */
static void synchronous_chains_count_twice(void **state)
{
    (void)state;
    gbs_run_options options = sampled(1, 100000);
    options.scan = GBS_SCAN_SYNCHRONOUS;
    check(grid(8, 0.1), &options, "--chains");
    options.chains = 2;
    check(grid(8, 0.1), &options, NULL);
}

/* What is proved needs no other chain to compare with. */
static void certificates_vouch_for_one_chain(void **state)
{
    (void)state;
    gbs_run_options options = sampled(1, 100000);
    options.certified = 0.001;
    check(grid(8, 0.1), &options, NULL);
    uint32_t scan[20 * 64];
    for (uint32_t t = 0; t < 20 * 64; ++t) {
        scan[t] = t % 64;
    }
    options = sampled(1, 20000);
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = scan;
    options.sequence_length = 20 * 64;
    options.restarts = 1;
    check(grid(8, 0.1), &options, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_than_four_chains),
        cmocka_unit_test(synchronous_chains_count_twice),
        cmocka_unit_test(certificates_vouch_for_one_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
