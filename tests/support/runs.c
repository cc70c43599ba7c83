/* SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simd/dispatch.h"

void test_drop(test_answer *a)
{
    free(a->p);
    free(a->mcse);
}

gbs_evidence *test_observe(const gbs_model *model, int variable)
{
    gbs_error err = {0};
    gbs_evidence *evidence = NULL;
    assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
    if (variable >= 0) {
        assert_int_equal(gbs_evidence_observe(evidence, (uint32_t)variable, 1, &err), GBS_OK);
    }
    return evidence;
}

test_answer test_run_once(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    test_answer a = {.n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)]};
    a.p = calloc(a.n + 1, sizeof *a.p);
    a.mcse = calloc(a.n + 1, sizeof *a.mcse);
    if (gbs_run_new(model, evidence, options, &run, &err) < 0 ||
        gbs_run_execute(run, NULL, &err) < 0 ||
        gbs_run_marginals(run, a.p, a.mcse, NULL, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    a.report = *gbs_run_report(run);
    memcpy(a.digest, a.report.digest, sizeof a.digest);
    gbs_run_free(run);
    return a;
}

void test_same_bits(const gbs_model *model, const gbs_evidence *evidence,
                    const gbs_run_options *options)
{
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    char first[33] = "";
    for (int level = 0; level <= (int)best; ++level) {
        if (!gbsi_simd_has((gbsi_simd)level)) {
            continue;
        }
        (void)gbsi_simd_force((gbsi_simd)level);
        test_answer found = test_run_once(model, evidence, options);
        if (level == 0) {
            memcpy(first, found.digest, sizeof first);
        }
        assert_string_equal(first, found.digest);
        test_drop(&found);
    }
    (void)gbsi_simd_force(best);
}
