/* SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simd/dispatch.h"

void test_choose_draw(gbs_run_options *options, int draw, int keys, int rule)
{
    options->draw = draw;
    options->keys = keys == 0 ? GBS_KEYS_AUTO : keys;
    options->herd_rule = rule == 0 ? GBS_HERD_RULE_AUTO : rule;
}

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

test_answer test_exactly(const gbs_model *model, const gbs_evidence *evidence)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_EXACT;
    return test_run_once(model, evidence, &options);
}

/* An estimate may be off by LIMIT standard errors (Student's t with over 100 degrees of freedom
 * exceeds 6 with probability below 1e-7, times some 10^4 comparisons) plus the float rounding of a
 * conditional, plus what a count of a rare state may miss. */
#define LIMIT    6.0
#define ROUNDING 2e-5

size_t test_close(const char *what, const gbs_run_options *options, const test_answer *found,
                  const test_answer *exact)
{
    size_t n = 0;
    for (size_t i = 0; i < found->n; ++i) {
        const double error = fabs(found->p[i] - exact->p[i]);
        const double mcse = isnan(found->mcse[i]) ? 0.0 : found->mcse[i];
        /* Counts of rare states are Poisson rather than normal: what a count may miss at that rate
         * of false alarms, as in Bernstein's inequality. */
        const double n_draws = (double)found->report.sweeps * found->report.chains;
        const bool counts = options->estimator == GBS_ESTIMATOR_COUNT;
        const double rare = counts ? LIMIT * LIMIT / 2 / n_draws : 0.0;
        if (!(error <= LIMIT * mcse + rare + ROUNDING)) {
            char scan[32];
            assert_int_equal(gbs_option_get(options, "scan", scan, sizeof scan, NULL), GBS_OK);
            fail_msg("%s, %s scan, estimator %d, %u chains: entry %zu is %.6f +- %.6f, exact %.6f",
                     what, scan, options->estimator, found->report.chains, i, found->p[i], mcse,
                     exact->p[i]);
        }
        n += mcse > 0.0;
    }
    return n;
}

typedef struct recorder {
    uint32_t chain; /* the one kept */
    uint32_t n_variables;
    uint64_t n_draws;
    uint64_t hash;
} recorder;

static void take(recorder *r, uint64_t bits)
{
    r->hash = (r->hash ^ bits) * UINT64_C(1099511628211);
}

static gbs_status record(void *context, uint64_t draw, uint32_t chain, double log_density,
                         const uint32_t *x, gbs_error *err)
{
    recorder *r = context;
    uint64_t bits = 0;
    (void)draw;
    (void)err;
    if (chain != r->chain) {
        return GBS_OK;
    }
    for (uint32_t v = 0; v < r->n_variables; ++v) {
        take(r, x[v]);
    }
    memcpy(&bits, &log_density, sizeof bits);
    take(r, bits);
    ++r->n_draws;
    return GBS_OK;
}

uint64_t test_trajectory(const gbs_model *model, const gbs_evidence *evidence,
                         gbs_run_options options, uint64_t chains, uint32_t chain)
{
    gbs_error err = {GBS_OK, ""};
    gbs_run *run = NULL;
    recorder r = {.chain = chain, .n_variables = gbs_model_n_variables(model)};
    const gbs_run_callbacks callbacks = {.context = &r, .draw = record};
    options.chains = chains;
    if (gbs_run_new(model, evidence, &options, &run, &err) < 0 ||
        gbs_run_execute(run, &callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(r.n_draws, options.sweeps);
    gbs_run_free(run);
    return r.hash;
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

void test_refused(const gbs_model *model, const gbs_run_options *options, const char *why)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, &err), GBS_ERR_ARGUMENT);
    assert_null(run);
    if (strstr(err.message, why) == NULL) {
        fail_msg("'%s' is not in '%s'", why, err.message);
    }
}
