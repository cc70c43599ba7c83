/* SPDX-License-Identifier: Apache-2.0 */
/* Spins run bit by bit, as a user runs them: against enumeration where that is possible, against
 * Onsager's energy and Yang's magnetisation where it is not, the same bits on every instruction set
 * and from any number of threads, and chosen exactly where the options say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/generate.h"
#include "gibbsite/info.h"
#include "simd/dispatch.h"
#include "support/runs.h"
#include "support/small_models.h"

static gbs_run_options lattice_options(int estimator)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.estimator = estimator;
    options.lattice = GBS_LATTICE_ALWAYS;
    return options;
}

static gbs_run *execute(const gbs_model *model, const gbs_evidence *evidence,
                        const gbs_run_options *options)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    if (gbs_run_new(model, evidence, options, &run, &err) < 0 ||
        gbs_run_execute(run, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return run;
}

static gbs_model *ising(uint32_t rows, uint32_t columns, uint32_t layers, int torus,
                        double coupling, double field)
{
    const gbs_generate_ising_options options = {
        .side = {rows, columns, layers}, .torus = torus, .coupling = coupling, .field = field};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

/* 4 x 4, every other bond -J, one field up and one down at two corners. */
static gbs_model *glass(void)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    const uint32_t two = 2;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < 16; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
    }
    for (uint32_t v = 0; v < 16; ++v) {
        const uint32_t right = v % 4 == 3 ? v - 3 : v + 1;
        const double sign = (v * 7 + 3) % 5 < 2 ? -1.0 : 1.0;
        assert_int_equal(gbs_builder_add_ising(b, v, right, 0.6 * sign, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_ising(b, v, (v + 4) % 16, -0.6 * sign, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_field(b, 0, 0.7, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 5, -0.4, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* ---- enumeration ---------------------------------------------------------------------------- */

/* Means of minus the log density and of the size of the mean spin, per variable. */
static void exact_means(const gbs_model *model, double *energy, double *size)
{
    const uint32_t n = gbs_model_n_variables(model);
    double z = 0.0;
    double e = 0.0;
    double m = 0.0;
    uint32_t x[24];
    assert_true(n <= 20);
    for (uint32_t state = 0; state < UINT32_C(1) << n; ++state) {
        int spins = 0;
        for (uint32_t v = 0; v < n; ++v) {
            x[v] = state >> v & 1u;
            spins += x[v] != 0 ? 1 : -1;
        }
        const double logw = gbs_model_log_density(model, x);
        z += exp(logw);
        e -= exp(logw) * logw;
        m += exp(logw) * abs(spins);
    }
    *energy = e / z / n;
    *size = m / z / n;
}

static void check_exact(gbs_model *model, const char *name)
{
    const uint32_t n = gbs_model_n_variables(model);
    gbs_run_options options = lattice_options(GBS_ESTIMATOR_COUNT);
    double exact[40];
    double p[40];
    double mcse[40];
    double energy = 0.0;
    double size = 0.0;
    options.sweeps = test_scale_asked() == TEST_FULL ? 200000 : 20000;
    options.burn_in = 100;
    gbs_run *run = execute(model, NULL, &options);
    const gbs_report *r = gbs_run_report(run);
    assert_int_equal(r->lattice, GBS_BITS_CHAINS); /* words of sites would be all but empty */
    test_exact(model, NULL, exact);
    exact_means(model, &energy, &size);
    assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
    /* Some 150 z-scores with 15 degrees of freedom per chain and more: beyond 4.5 with probability
     * below 10^-3 in all. */
    for (uint32_t v = 0; v < n; ++v) {
        const double z = (p[2 * v + 1] - exact[2 * v + 1]) / mcse[2 * v + 1];
        if (!(fabs(z) < 4.5)) {
            fail_msg("%s: variable %u has %g, exactly %g: z = %g", name, v, p[2 * v + 1],
                     exact[2 * v + 1], z);
        }
    }
    assert_true(r->energy_mcse > 0.0 && r->energy_mcse < 2e-3);
    assert_true(fabs(r->energy - energy) < 4.5 * r->energy_mcse);
    assert_true(fabs(r->abs_magnetisation - size) < 4.5 * r->abs_magnetisation_mcse);
    if (!(r->max_mcse < 1e-2 && r->max_rhat < 1.01)) {
        fail_msg("%s: largest error %g, R-hat %g", name, r->max_mcse, r->max_rhat);
    }
    gbs_run_free(run);
    gbs_model_free(model);
}

static gbs_model *regular(uint32_t n, uint32_t degree, double coupling)
{
    const gbs_generate_regular_options options = {
        .variables = n, .degree = degree, .coupling = coupling, .seed = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_regular(&options, &model, NULL), GBS_OK);
    return model;
}

static void small_graphs_are_exact(void **state)
{
    (void)state;
    check_exact(ising(4, 4, 1, 1, 0.3, 0.1), "torus 4 x 4");
    check_exact(ising(3, 4, 1, 0, 0.4, -0.2), "open 3 x 4");
    check_exact(ising(2, 2, 4, 1, 0.25, 0.05), "box 2 x 2 x 4");
    check_exact(ising(3, 5, 1, 0, -0.5, 0.3), "antiferromagnet, open 3 x 5");
    check_exact(glass(), "glass 4 x 4");
    check_exact(ising(5, 3, 1, 1, 0.3, 0.1), "torus 5 x 3");
    check_exact(ising(3, 4, 1, 1, -0.4, 0.2), "torus 3 x 4, frustrated");
    check_exact(ising(3, 2, 3, 1, 0.2, 0.1), "box 3 x 2 x 3");
    check_exact(regular(14, 3, 0.5), "3-regular");
    check_exact(regular(12, 5, -0.3), "5-regular, frustrated");
}

/* Evidence on a whole row leaves an open lattice in a field. */
static void evidence_on_a_row(void **state)
{
    (void)state;
    gbs_model *model = ising(5, 4, 1, 0, 0.4, 0.0);
    gbs_evidence *evidence = NULL;
    double exact[40];
    double p[40];
    double mcse[40];
    gbs_run_options options = lattice_options(GBS_ESTIMATOR_COUNT);
    options.sweeps = 20000;
    options.burn_in = 100;
    assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
    for (uint32_t v = 0; v < 4; ++v) {
        assert_int_equal(gbs_evidence_observe(evidence, v, 1, NULL), GBS_OK);
    }
    gbs_run *run = execute(model, evidence, &options);
    assert_int_equal(gbs_run_report(run)->lattice, GBS_BITS_CHAINS);
    test_exact(model, evidence, exact);
    assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < 20; ++v) {
        assert_true(fabs(p[2 * v + 1] - exact[2 * v + 1]) <= 4.5 * mcse[2 * v + 1]);
    }
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* Of a large one too, and there it is a field along the side that remains. */
static void evidence_on_a_large_row(void **state)
{
    (void)state;
    gbs_model *model = ising(65, 40, 1, 0, 0.4, 0.0);
    gbs_evidence *evidence = NULL;
    gbs_run_options options = lattice_options(GBS_ESTIMATOR_TRACES);
    options.sweeps = 200;
    options.chains = 4;
    assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
    for (uint32_t v = 0; v < 40; ++v) {
        assert_int_equal(gbs_evidence_observe(evidence, v, 1, NULL), GBS_OK);
    }
    gbs_run *run = execute(model, evidence, &options);
    const gbs_report *r = gbs_run_report(run);
    assert_int_equal(r->lattice, GBS_BITS_SITES);
    assert_true(r->lattice_side[0] == 40 && r->lattice_side[2] == 64);
    assert_true(r->magnetisation > 0.0);
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* ---- the infinite square lattice ------------------------------------------------------------ */

/* Complete elliptic integral of the first kind by the arithmetic-geometric mean. */
static double elliptic_k(double k)
{
    double a = 1.0;
    double b = sqrt(1.0 - k * k);
    for (int i = 0; i < 40; ++i) {
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return acos(-1.0) / (2.0 * a);
}

/* Onsager (1944), Phys. Rev. 65:117: energy per site over J, times K = J. */
static double onsager(double coupling)
{
    const double t = tanh(2.0 * coupling);
    const double k = 2.0 * sinh(2.0 * coupling) / (cosh(2.0 * coupling) * cosh(2.0 * coupling));
    return -coupling / t * (1.0 + 2.0 / acos(-1.0) * (2.0 * t * t - 1.0) * elliptic_k(k));
}

/* Yang (1952), Phys. Rev. 85:808. */
static double yang(double coupling)
{
    const double s = sinh(2.0 * coupling);
    return s > 1.0 ? pow(1.0 - 1.0 / (s * s * s * s), 0.125) : 0.0;
}

/* A closed lattice so much longer than the correlation length, 1 / (ln coth K - 2 K) above the
 * critical temperature and half of 1 / (2 K - ln coth K) below, that what its size changes is far
 * below the errors: of order exp(-256 / 12) at K = 0.42, the worst of the short list. Below the
 * critical temperature all spins start up, since cooled from disorder two phases may share the
 * lattice for very long. Two z-scores each: beyond 4 with probability 10^-3 in all. Batches are
 * some multiples of the time the magnetisation takes to forget (200 passes at 0.42). */
static void check_square_lattice(double k, uint32_t side, uint64_t sweeps)
{
    const double m_exact = yang(k);
    const uint32_t n = side * side;
    uint32_t *up = malloc(n * sizeof *up);
    assert_non_null(up);
    for (uint32_t v = 0; v < n; ++v) {
        up[v] = 1;
    }
    gbs_model *model = ising(side, side, 1, 1, k, 0.0);
    gbs_run_options options = lattice_options(GBS_ESTIMATOR_TRACES);
    options.chains = 2;
    options.burn_in = sweeps / 8;
    options.sweeps = sweeps;
    options.start = m_exact > 0.0 ? up : NULL;
    gbs_run *run = execute(model, NULL, &options);
    const gbs_report *r = gbs_run_report(run);
    const double m = m_exact > 0.0 ? r->abs_magnetisation : r->magnetisation;
    const double m_error = m_exact > 0.0 ? r->abs_magnetisation_mcse : r->magnetisation_mcse;
    const double z_energy = (r->energy - onsager(k)) / r->energy_mcse;
    const double z_m = (m - m_exact) / m_error;
    print_message("K %.2f, %u x %u: energy %.6f (%.1e), Onsager %.6f, z %.2f; magnetisation %.5f "
                  "(%.1e), Yang %.5f, z %.2f\n",
                  k, side, side, r->energy, r->energy_mcse, onsager(k), z_energy, m, m_error,
                  m_exact, z_m);
    assert_true(fabs(z_energy) < 4.0 && fabs(z_m) < 4.0);
    assert_true(test_scale_asked() == TEST_SMALL || (r->energy_mcse < 3e-4 && m_error < 1e-2));
    gbs_run_free(run);
    gbs_model_free(model);
    free(up);
}

static void square_lattice_of_onsager_and_yang(void **state)
{
    (void)state;
    check_square_lattice(0.3, 128, test_scale_asked() == TEST_SMALL ? 1000 : 16000);
    check_square_lattice(0.5, 127,
                         test_scale_asked() == TEST_SMALL ? 1000 : 16000); /* odd: with seams */
    if (test_scale_asked() > TEST_SMALL) {
        check_square_lattice(0.4, 256, 8000);
        check_square_lattice(0.42, 256, 16000);
        check_square_lattice(0.46, 256, 8000);
    }
    if (test_scale_asked() == TEST_FULL) {
        check_square_lattice(0.4, 1024, 40000);
        check_square_lattice(0.42, 511, 100000);
        check_square_lattice(0.43, 512, 400000);
        check_square_lattice(0.45, 512, 200000);
        check_square_lattice(0.5, 1024, 40000);
    }
}

/* ---- bits and choices ----------------------------------------------------------------------- */

static void digest_of(const gbs_model *model, const gbs_run_options *options, char digest[33])
{
    gbs_run *run = execute(model, NULL, options);
    assert_true(gbs_run_report(run)->lattice != GBS_BITS_NONE);
    memcpy(digest, gbs_run_report(run)->digest, 33);
    gbs_run_free(run);
}

static void same_bits_of(const gbs_model *model, gbs_run_options options)
{
    static const uint64_t threads[] = {2, 3, 7};
    const gbsi_simd best = gbsi_simd_level();
    char first[33];
    char digest[33];
    options.threads = 1;
    digest_of(model, &options, first);
    for (size_t i = 0; i < test_share(3, 1); ++i) {
        options.threads = threads[i];
        digest_of(model, &options, digest);
        assert_string_equal(digest, first);
    }
    for (int level = 0; level < (int)best; ++level) {
        if (gbsi_simd_has((gbsi_simd)level)) {
            (void)gbsi_simd_force((gbsi_simd)level);
            digest_of(model, &options, digest);
            assert_string_equal(digest, first);
        }
    }
    (void)gbsi_simd_force(best);
}

/* Every set, 1, 2, 3 and 7 threads; past flushes, closed batches and merged traces. At small scale
 * a sixth of the runs, of each model, number of chains and estimator some. */
static void same_bits_everywhere(void **state)
{
    (void)state;
    static const uint64_t chains[] = {1, 3, 40};
    gbs_model *models[] = {ising(512, 256, 1, 1, 0.43, 0.0), ising(70, 50, 1, 0, 0.4, 0.1),
                           ising(11, 34, 20, 1, 0.2, 0.0), regular(1000, 5, 0.2)};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; ++i) {
        for (size_t c = 0; c < 3; ++c) {
            for (int estimator = GBS_ESTIMATOR_COUNT; estimator <= GBS_ESTIMATOR_TRACES;
                 ++estimator) {
                if ((i + c + (size_t)estimator) % test_share(1, 6) != 0) {
                    continue;
                }
                gbs_run_options options = lattice_options(estimator);
                options.chains = chains[c];
                options.burn_in = 2;
                options.sweeps = i == 0 ? 2 : 150;
                same_bits_of(models[i], options);
            }
        }
        gbs_model_free(models[i]);
    }
}

static int uses_lattice(const gbs_model *model, const gbs_run_options *options)
{
    gbs_info info = {.size = sizeof info};
    assert_int_equal(gbs_model_info(model, NULL, options, &info, NULL), GBS_OK);
    const uint32_t n = info.variables_of_class[GBS_N_CLASSES - 1];
    assert_string_equal(gbs_class_name(GBS_N_CLASSES - 1), "lattice");
    assert_true(n == 0 || n == info.n_variables);
    return n > 0;
}

static int bits_of(const gbs_model *model, const gbs_run_options *options)
{
    gbs_info info = {.size = sizeof info};
    assert_int_equal(gbs_model_info(model, NULL, options, &info, NULL), GBS_OK);
    return info.lattice;
}

/* Words hold sites or chains, whichever fills them better. */
static void sites_or_chains(void **state)
{
    (void)state;
    gbs_model *large = ising(64, 64, 1, 1, 0.3, 0.0);
    gbs_model *little = ising(16, 16, 1, 1, 0.3, 0.0);
    gbs_model *graph = regular(200, 4, 0.3);
    gbs_run_options options = gbs_run_options_default();
    options.estimator = GBS_ESTIMATOR_COUNT;
    assert_int_equal(bits_of(large, &options), GBS_BITS_SITES);
    assert_int_equal(bits_of(little, &options), GBS_BITS_NONE); /* 16 chains fill half a word */
    assert_int_equal(bits_of(graph, &options), GBS_BITS_NONE);
    options.chains = 32;
    assert_int_equal(bits_of(large, &options), GBS_BITS_SITES);
    assert_int_equal(bits_of(little, &options), GBS_BITS_CHAINS);
    assert_int_equal(bits_of(graph, &options), GBS_BITS_CHAINS);
    options.lattice = GBS_LATTICE_NEVER;
    assert_int_equal(bits_of(graph, &options), GBS_BITS_NONE);
    options.lattice = GBS_LATTICE_ALWAYS;
    options.chains = 1;
    assert_int_equal(bits_of(graph, &options), GBS_BITS_CHAINS);
    gbs_model_free(large);
    gbs_model_free(little);
    gbs_model_free(graph);
}

static void chosen_by_options(void **state)
{
    (void)state;
    gbs_model *large = ising(64, 64, 1, 1, 0.3, 0.0);
    gbs_model *little = ising(8, 8, 1, 1, 0.3, 0.0);
    const gbs_generate_ising_options spread = {
        .side = {64, 64, 1}, .torus = 1, .coupling = 0.3, .coupling_spread = 0.1};
    gbs_model *varied = NULL;
    assert_int_equal(gbs_generate_ising(&spread, &varied, NULL), GBS_OK);
    gbs_run_options options = gbs_run_options_default();
    assert_false(uses_lattice(large, &options)); /* Rao-Blackwell is the default */
    options.estimator = GBS_ESTIMATOR_COUNT;
    assert_true(uses_lattice(large, &options));
    assert_false(uses_lattice(little, &options)); /* most bits would be idle */
    assert_false(uses_lattice(varied, &options));
    options.lattice = GBS_LATTICE_NEVER;
    assert_false(uses_lattice(large, &options));
    options.lattice = GBS_LATTICE_ALWAYS;
    assert_true(uses_lattice(little, &options));
    test_refused(varied, &options, "couplings of more than three sizes");
    options.scan = GBS_SCAN_SYSTEMATIC;
    test_refused(large, &options, "colour by colour");
    options.lattice = GBS_LATTICE_AUTO;
    assert_false(uses_lattice(large, &options));
    options.estimator = GBS_ESTIMATOR_TRACES;
    test_refused(large, &options, "--estimator traces");
    options.scan = GBS_SCAN_CHROMATIC;
    assert_true(uses_lattice(little, &options));
    options.lattice = GBS_LATTICE_NEVER;
    test_refused(large, &options, "--lattice never");
    options.lattice = GBS_LATTICE_ALWAYS;
    options.estimator = GBS_ESTIMATOR_RAO_BLACKWELL;
    assert_true(uses_lattice(large, &options));
    gbs_model_free(large);
    gbs_model_free(little);
    gbs_model_free(varied);
}

/* Draws given to a callback have the density that is said, and traces alone have no marginals. */
typedef struct seen {
    const gbs_model *model;
    uint64_t n;
    double energy;
} seen;

static gbs_status look(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *x, gbs_error *err)
{
    seen *s = context;
    (void)draw;
    (void)chain;
    (void)err;
    assert_true(fabs(log_density - gbs_model_log_density(s->model, x)) < 1e-6);
    s->energy -= log_density / gbs_model_n_variables(s->model);
    ++s->n;
    return GBS_OK;
}

static void draws_and_traces_are_the_same_states(void **state)
{
    (void)state;
    gbs_model *model = ising(40, 36, 1, 0, 0.3, 0.1);
    for (int estimator = GBS_ESTIMATOR_COUNT; estimator <= GBS_ESTIMATOR_TRACES; ++estimator) {
        gbs_run_options options = lattice_options(estimator);
        gbs_run *run = NULL;
        double p[2 * 40 * 36];
        seen s = {.model = model};
        const gbs_run_callbacks callbacks = {.context = &s, .draw = look};
        options.chains = 9;
        options.sweeps = 20;
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
        assert_int_equal(gbs_run_execute(run, &callbacks, NULL), GBS_OK);
        assert_int_equal(s.n, 180);
        const gbs_report *r = gbs_run_report(run);
        assert_true(fabs(s.energy / 180.0 - r->energy) < 1e-9);
        assert_true(r->n_couplings == 1 && r->coupling[0].n == 39 * 36 + 40 * 35);
        assert_true(r->n_fields == 1 && r->field[0].n == 40 * 36);
        assert_true(fabs(r->field[0].mean - r->magnetisation) < 1e-12);
        const double terms =
            r->coupling[0].weight * (double)r->coupling[0].n * r->coupling[0].mean +
            r->field[0].weight * (double)r->field[0].n * r->field[0].mean;
        assert_true(fabs(-terms / (40 * 36) - r->energy) < 1e-9);
        assert_int_equal(gbs_run_marginals(run, p, NULL, NULL, NULL, NULL),
                         estimator == GBS_ESTIMATOR_COUNT ? GBS_OK : GBS_ERR_STATE);
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_are_exact),
        cmocka_unit_test(evidence_on_a_row),
        cmocka_unit_test(evidence_on_a_large_row),
        cmocka_unit_test(square_lattice_of_onsager_and_yang),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(chosen_by_options),
        cmocka_unit_test(sites_or_chains),
        cmocka_unit_test(draws_and_traces_are_the_same_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
