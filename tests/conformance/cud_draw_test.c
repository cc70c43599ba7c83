/* SPDX-License-Identifier: Apache-2.0 */
/* The cud draw: over a whole period every variable meets every number once, so that independent
 * variables are estimated to 1 / P rather than 1 / sqrt(P); marginals of coupled models against
 * enumeration; the same bits everywhere; what cannot be is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/generate.h"
#include "simd/dispatch.h"
#include "support/runs.h"
#include "support/small_models.h"

/* Standard errors are those of batches, mostly too large here, where numbers balance each other
 * only over the whole period. */
#define LIMIT    6.0
#define ROUNDING 2e-5

static gbs_run_options options_of(int scheme, uint32_t bits, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.draw = GBS_DRAW_CUD;
    options.cud_scheme = scheme;
    options.cud_bits = bits;
    options.chains = chains;
    options.burn_in = 0;
    options.seed = 20261121;
    return options;
}

static gbs_run *executed(const gbs_model *model, const gbs_run_options *options,
                         const gbs_run_callbacks *callbacks)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    if (gbs_run_new(model, NULL, options, &run, &err) < 0 ||
        gbs_run_execute(run, callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return run;
}

/* ---- independent variables ------------------------------------------------------------------- */

/* n variables of 2, 3 and 6 states, each with a table of its own. */
static gbs_model *independent(uint32_t n)
{
    static const uint32_t arities[] = {2, 3, 2, 6};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    test_stream s = {.seed = n};
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; ++v) {
        const uint32_t k = arities[v % 4];
        double logw[6];
        uint32_t table = 0;
        assert_int_equal(gbs_builder_add_variables(builder, 1, &k, NULL, NULL), GBS_OK);
        for (uint32_t a = 0; a < k; ++a) {
            logw[a] = test_uniform(&s, -2.0, 2.0);
        }
        assert_int_equal(gbs_builder_add_table(builder, k, logw, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(builder, 1, &v, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

/* Counts by chain, variable and state. */
typedef struct counts {
    const gbs_model *model;
    size_t n_states;
    uint64_t *count; /* [chain][n_states] */
} counts;

static gbs_status count_states(void *context, uint64_t draw, uint32_t chain, double log_density,
                               const uint32_t *x, gbs_error *err)
{
    counts *c = context;
    (void)draw;
    (void)log_density;
    (void)err;
    for (uint32_t v = 0; v < gbs_model_n_variables(c->model); ++v) {
        const size_t at = gbs_model_state_offsets(c->model)[v] + x[v];
        ++c->count[chain * c->n_states + at];
    }
    return GBS_OK;
}

/* A state takes an interval of length p on the circle. Of the P + 1 numbers j / 2^m, shifted, it
 * holds (P + 1) p within 1, and 0 is not among them: P p within 2. Where one number lies anywhere
 * in each cell (CHEN), both ends cut a cell: within 3. */
static void check_independent(uint32_t n, int scheme, uint64_t chains, int scan, uint64_t burn_in)
{
    enum { BITS = 6 };
    const double period = 63.0;
    gbs_model *model = independent(n);
    counts c = {.model = model, .n_states = gbs_model_state_offsets(model)[n]};
    gbs_run_options options = options_of(scheme, BITS, chains);
    const gbs_run_callbacks callbacks = {.context = &c, .draw = count_states};
    double *p = calloc(c.n_states, sizeof *p);
    c.count = calloc(chains * c.n_states, sizeof *c.count);
    options.scan = scan;
    options.burn_in = burn_in;
    test_exact(model, NULL, p);
    gbs_run *run = executed(model, &options, &callbacks);
    assert_int_equal(gbs_run_report(run)->sweeps, 63);
    for (size_t chain = 0; chain < chains; ++chain) {
        for (size_t i = 0; i < c.n_states; ++i) {
            const double off = (double)c.count[chain * c.n_states + i] - period * p[i];
            assert_true(fabs(off) < (scheme == GBS_CUD_TRIBBLE ? 2.0 : 3.0));
        }
    }
    gbs_run_free(run);
    free(c.count);
    free(p);
    gbs_model_free(model);
}

/* 63 = 3 * 3 * 7 has common divisors with all of these but 1, 4, 5 and 8. */
static void every_number_once(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 3, 4, 5, 6, 7, 8, 9};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        for (int scheme = GBS_CUD_TRIBBLE; scheme <= GBS_CUD_CHEN; ++scheme) {
            for (uint64_t burn_in = 0; burn_in <= 40; burn_in += 20) {
                check_independent(sizes[i], scheme, 1, GBS_SCAN_SYSTEMATIC, burn_in);
                check_independent(sizes[i], scheme, 3, GBS_SCAN_CHROMATIC, burn_in);
                check_independent(sizes[i], scheme, 19, GBS_SCAN_CHROMATIC, burn_in);
            }
        }
    }
}

/* ---- coupled models -------------------------------------------------------------------------- */

static gbs_evidence *observe(const gbs_model *model, int variable)
{
    gbs_evidence *evidence = NULL;
    assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
    if (variable >= 0) {
        assert_int_equal(gbs_evidence_observe(evidence, (uint32_t)variable, 1, NULL), GBS_OK);
    }
    return evidence;
}

/* @return comparisons made. */
static size_t check_case(const test_case *c, int scan, int scheme, uint64_t chains)
{
    gbs_error err = {0};
    gbs_model *model = c->make();
    gbs_evidence *evidence = observe(model, c->observe);
    const size_t n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)];
    gbs_run_options options =
        options_of(scheme, (chains == 1 ? 14 : 11) - (uint32_t)test_share(0, 2), chains);
    double *p = calloc(3 * n + 1, sizeof *p);
    double *mcse = p + n;
    double *exact = mcse + n;
    gbs_run *run = NULL;
    size_t n_compared = 0;
    options.scan = scan;
    options.burn_in = 64;
    test_exact(model, evidence, exact);
    if (gbs_run_new(model, evidence, &options, &run, &err) < 0 ||
        gbs_run_execute(run, NULL, &err) < 0 ||
        gbs_run_marginals(run, p, mcse, NULL, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    for (size_t i = 0; i < n && c->crossable; ++i) {
        const double allowed = LIMIT * (isnan(mcse[i]) ? 0.0 : mcse[i]) + ROUNDING;
        if (!(fabs(p[i] - exact[i]) <= allowed)) {
            fail_msg("%s, scan %d, scheme %d, %u chains: entry %zu is %.6f +- %.6f, exact %.6f",
                     c->name, scan, scheme, (unsigned)chains, i, p[i], mcse[i], exact[i]);
        }
        n_compared += mcse[i] > 0.0;
    }
    if (strcmp(gbs_run_report(run)->method, "sampled") == 0) {
        assert_false(gbs_run_report(run)->converged);
    }
    gbs_run_free(run);
    free(p);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return n_compared;
}

static void against_enumeration(void **state)
{
    (void)state;
    static const int scans[] = {GBS_SCAN_CHROMATIC, GBS_SCAN_SYSTEMATIC, GBS_SCAN_PERMUTED};
    const size_t step = test_share(1, 12);
    size_t n_compared = 0;
    for (size_t i = 0; i < n_test_cases; i += step) {
        for (size_t s = 0; s < 3; ++s) {
            n_compared += check_case(&test_cases[i], scans[s], (int)(i + s) % 2, 1);
            n_compared += check_case(&test_cases[i], scans[s], (int)(i + s + 1) % 2, 16);
        }
    }
    assert_true(n_compared > 1000 / step);
}

/* ---- the same bits --------------------------------------------------------------------------- */

static void digest_of(const gbs_model *model, const gbs_run_options *options, char digest[33])
{
    gbs_run *run = executed(model, options, NULL);
    memcpy(digest, gbs_run_report(run)->digest, 33);
    gbs_run_free(run);
}

static void same_bits(void **state)
{
    (void)state;
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        gbs_model *model = test_model((test_family)family, 3, 12);
        for (uint64_t chains = 1; chains <= 21; chains += test_share(4, 10)) {
            gbs_run_options options = options_of(family % 2, 7, chains);
            char first[33] = "";
            options.scan = chains % 3 == 0 ? GBS_SCAN_PERMUTED : GBS_SCAN_CHROMATIC;
            for (int level = 0; level <= (int)best; ++level) {
                char digest[33];
                if (!gbsi_simd_has((gbsi_simd)level)) {
                    continue;
                }
                (void)gbsi_simd_force((gbsi_simd)level);
                digest_of(model, &options, digest);
                if (level == 0) {
                    memcpy(first, digest, sizeof first);
                }
                assert_string_equal(first, digest);
            }
        }
        gbs_model_free(model);
    }
    (void)gbsi_simd_force(best);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    const gbs_generate_ising_options grid = {
        .side = {140, 140, 1}, .torus = 1, .coupling = 0.2, .coupling_spread = 0.3, .seed = 7};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    for (uint64_t chains = 1; chains <= 16; chains += 15) {
        gbs_run_options options = options_of(GBS_CUD_TRIBBLE, 3, chains);
        char one[33];
        char many[33];
        options.threads = 1;
        digest_of(model, &options, one);
        options.threads = 3;
        digest_of(model, &options, many);
        assert_string_equal(one, many);
    }
    gbs_model_free(model);
}

/* ---- options --------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 1, 9);
    uint32_t twice[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0};
    gbs_run_options options = options_of(GBS_CUD_TRIBBLE, 0, 16);
    options.scan = GBS_SCAN_RANDOM;
    test_refused(model, &options, "once");
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = twice;
    options.sequence_length = 10;
    test_refused(model, &options, "once");
    options.sequence_length = 9;
    options.cud_bits = 4;
    gbs_run_free(executed(model, &options, NULL)); /* a file that lists each once will do */
    options = options_of(GBS_CUD_TRIBBLE, 0, 16);
    options.sweeps = 1000;
    test_refused(model, &options, "--sweeps 511 or --sweeps 1023");
    options.sweeps = 1023;
    options.cud_bits = 9;
    test_refused(model, &options, "511");
    options.cud_bits = 2;
    test_refused(model, &options, "3 to 32");
    options.cud_bits = 10;
    options.cud_offset = 33; /* 1023 = 3 * 11 * 31 */
    test_refused(model, &options, "divisor");
    options.cud_offset = 1023;
    test_refused(model, &options, "divisor");
    gbs_model_free(model);
}

/* Sweeps and bits from one another, or from the target; a warning where numbers overlap. */
static void defaults(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 1, 5);
    gbs_run_options options = options_of(GBS_CUD_TRIBBLE, 0, 16);
    gbs_run *run = executed(model, &options, NULL);
    assert_int_equal(gbs_run_report(run)->sweeps, 4095); /* 16 * 4095 > 1 / 0.005^2 */
    gbs_run_free(run);
    options.target_error = 0.02;
    run = executed(model, &options, NULL);
    assert_int_equal(gbs_run_report(run)->sweeps, 1023);
    for (size_t i = 0; i < gbs_run_report(run)->n_warnings; ++i) {
        assert_null(strstr(gbs_run_report(run)->warning[i], "cud-offset"));
    }
    gbs_run_free(run);
    options.sweeps = 127;
    options.cud_offset = 3;
    run = executed(model, &options, NULL);
    assert_true(gbs_run_report(run)->n_warnings >= 1);
    assert_non_null(strstr(gbs_run_report(run)->warning[0], "cud-offset"));
    gbs_run_free(run);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_once), cmocka_unit_test(against_enumeration),
        cmocka_unit_test(same_bits),         cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(refusals),          cmocka_unit_test(defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
