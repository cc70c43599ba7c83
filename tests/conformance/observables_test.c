/* SPDX-License-Identifier: Apache-2.0 */
/* Observables of spin and Potts models [M92]: against enumeration on small models, with every
 * kernel and scan; against Kaufman's energies and specific heats of finite tori; coverage of the
 * stated errors; the same bits on any number of threads and instruction set, and after a
 * resumption. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "gibbsite/checkpoint.h"
#include "gibbsite/generate.h"
#include "gibbsite/observables.h"
#include "simd/dispatch.h"
#include "support/making.h"
#include "support/runs.h"
#include "support/small_models.h"

enum { MOST = 16 }; /* more than the observables of any model */

typedef struct seen {
    uint32_t n;
    gbs_observable of[MOST];
    uint64_t batch;
} seen;

static seen read_seen(const gbs_run *run)
{
    seen found = {.n = gbs_run_n_observables(run), .batch = gbs_run_observables_batch(run)};
    assert_in_range(found.n, 1, MOST);
    for (uint32_t i = 0; i < found.n; ++i) {
        found.of[i].size = sizeof found.of[i];
        assert_int_equal(gbs_run_observable(run, i, &found.of[i], NULL), GBS_OK);
    }
    return found;
}

static gbs_run *new_run(const gbs_model *model, const gbs_evidence *evidence,
                        const gbs_run_options *options)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    const gbs_run_setup setup = {.size = sizeof setup,
                                 .model = model,
                                 .evidence = evidence,
                                 .options = options,
                                 .observables = 1};
    must(gbs_run_new_with(&setup, &run, &err), &err);
    return run;
}

static seen observe(const gbs_model *model, const gbs_evidence *evidence,
                    const gbs_run_options *options)
{
    gbs_error err = {0};
    gbs_run *run = new_run(model, evidence, options);
    must(gbs_run_execute(run, NULL, &err), &err);
    const seen found = read_seen(run);
    gbs_run_free(run);
    return found;
}

static const gbs_observable *find(const seen *found, const char *name)
{
    for (uint32_t i = 0; i < found->n; ++i) {
        if (strcmp(found->of[i].name, name) == 0) {
            return &found->of[i];
        }
    }
    return NULL;
}

static gbs_run_options options_of(int scan, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scan;
    options.clusters = scan == GBS_SCAN_WOLFF ? 3 : 1;
    options.sweeps = sweeps;
    options.burn_in = 64;
    options.seed = 20261129;
    options.threads = 1;
    return options;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* The values of all observables by their definitions, in the order of `names`. */
static const char *const names[] = {
    "energy",          "specific_heat",   "magnetisation",  "abs_magnetisation",        "order",
    "magnetisation_2", "magnetisation_4", "susceptibility", "connected_susceptibility", "binder"};
enum { N_NAMES = sizeof names / sizeof names[0] };

typedef struct sums {
    double w, e, ee, m, abs_m, order, m2, m4;
} sums;

/* Adds a state of weight w. @param log_w up to a constant. @param count [q]. */
static void add_state(sums *s, double w, double log_w, const uint32_t *count, uint32_t n,
                      uint32_t q)
{
    double squares = 0.0;
    double most = 0.0;
    for (uint32_t a = 0; a < q; ++a) {
        const double f = (double)count[a] / n;
        squares += f * f;
        most = f > most ? f : most;
    }
    const double m2 = (q * squares - 1.0) / (q - 1.0); /* the other form of the formula */
    const double e = -log_w / n;
    s->w += w;
    s->e += w * e;
    s->ee += w * e * e;
    s->m += w * ((double)count[1] - (double)count[0]) / n;
    s->abs_m += w * sqrt(m2 > 0.0 ? m2 : 0.0);
    s->order += w * (q * most - 1.0) / (q - 1.0);
    s->m2 += w * m2;
    s->m4 += w * m2 * m2;
}

static void define(const sums *s, uint32_t n, double value[N_NAMES])
{
    const double e = s->e / s->w;
    const double m2 = s->m2 / s->w;
    const double abs_m = s->abs_m / s->w;
    const double of[N_NAMES] = {e,
                                n * (s->ee / s->w - e * e),
                                s->m / s->w,
                                abs_m,
                                s->order / s->w,
                                m2,
                                s->m4 / s->w,
                                n * m2,
                                n * (m2 - abs_m * abs_m),
                                1.0 - s->m4 / s->w / (3.0 * m2 * m2)};
    memcpy(value, of, sizeof of);
}

/* Enumerates all states, with an observed variable left out of the counts. */
static void enumerate(const gbs_model *model, int observed, double value[N_NAMES])
{
    const uint32_t n = gbs_model_n_variables(model);
    const uint32_t q = gbs_model_arity(model, 0);
    uint32_t state[32] = {0};
    sums s = {0};
    for (uint32_t v = 0; v < n;) {
        if (observed < 0 || state[observed] == 1) {
            uint32_t count[8] = {0};
            const double log_w = gbs_model_log_density(model, state);
            for (uint32_t i = 0; i < n; ++i) {
                count[state[i]] += (int)i != observed;
            }
            if (log_w > -INFINITY) {
                add_state(&s, exp(log_w), log_w, count, n - (observed >= 0), q);
            }
        }
        for (v = 0; v < n && ++state[v] == q; ++v) {
            state[v] = 0;
        }
    }
    define(&s, n - (observed >= 0), value);
}

/* ---- small models ---------------------------------------------------------------------------- */

static gbs_model *torus_4(void)
{
    const gbs_generate_ising_options o = {.side = {4, 4, 1}, .torus = 1, .coupling = 0.44};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&o, &model, NULL), GBS_OK);
    return model;
}

static gbs_model *torus_fields(void)
{
    const gbs_generate_ising_options o = {
        .side = {3, 4, 1}, .torus = 1, .coupling = 0.3, .field = 0.1, .random_field = 0.5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&o, &model, NULL), GBS_OK);
    return model;
}

/* A torus of 3 x 3 Potts variables. @param forbidden whether variable 0 cannot take state 0. */
static gbs_model *potts_torus(uint32_t q, double coupling, bool forbidden)
{
    gbs_builder *b = begin_equal(9, q);
    for (uint32_t v = 0; v < 9; ++v) {
        potts(b, v, v / 3 * 3 + (v + 1) % 3, coupling);
        potts(b, v, (v + 3) % 9, coupling);
    }
    if (forbidden) {
        const uint32_t scope[1] = {0};
        const double logw[4] = {-INFINITY, 0.0, 0.2, 0.4};
        table(b, 1, scope, q, logw);
    }
    return finish(b);
}

static gbs_model *potts_3(void)
{
    return potts_torus(3, 0.9, false);
}

static gbs_model *potts_4_forbidden(void)
{
    return potts_torus(4, 0.7, true);
}

static gbs_model *antiferromagnet(void)
{
    return potts_torus(3, -0.8, false);
}

static gbs_model *random_graph(void)
{
    return test_model(TEST_ISING, 7, 10);
}

static gbs_model *tree(void)
{
    gbs_builder *b = begin_equal(12, 2);
    for (uint32_t v = 1; v < 12; ++v) {
        ising(b, v, (v - 1) / 2, 0.6);
    }
    return finish(b);
}

static gbs_model *complete(void)
{
    gbs_builder *b = begin_equal(10, 2);
    for (uint32_t v = 0; v < 45; ++v) {
        uint32_t i = 0;
        uint32_t rest = v;
        for (; rest >= 9 - i; ++i) {
            rest -= 9 - i;
        }
        ising(b, i, i + 1 + rest, 0.1);
    }
    return finish(b);
}

/* Three spins in a factor: energies of any model of equal arities are observables. */
static gbs_model *triples(void)
{
    gbs_builder *b = begin_equal(9, 2);
    for (uint32_t v = 0; v < 9; ++v) {
        gbs_error err = {0};
        must(
            gbs_builder_add_spin(b, 3, (const uint32_t[3]){v, (v + 1) % 9, (v + 3) % 9}, 0.4, &err),
            &err);
    }
    return finish(b);
}

static const struct {
    const char *name;
    gbs_model *(*make)(void);
    int observed;  /* variable observed in state 1, or -1 */
    bool clusters; /* whether the model has clusters */
} cases[] = {
    {"4 x 4 torus", torus_4, -1, true},
    {"4 x 4 torus, observed", torus_4, 5, true},
    {"3 x 4 torus, fields", torus_fields, -1, true},
    {"Potts, q = 3", potts_3, -1, true},
    {"Potts, q = 3, observed", potts_3, 4, true},
    {"Potts, q = 4, a state forbidden", potts_4_forbidden, -1, true},
    {"Potts antiferromagnet", antiferromagnet, -1, false},
    {"random graph", random_graph, -1, true},
    {"tree", tree, -1, true},
    {"complete graph", complete, -1, true},
    {"triples", triples, -1, false},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* Compares the observables with their definitions. A z-score above 4.5 happens by chance once in
 * 150 000 observables; there are about 500. */
static void check_close(const seen *found, const double exact[N_NAMES], uint32_t q)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_NAMES; ++i) {
        const gbs_observable *seen_now = find(found, names[i]);
        const bool applies =
            q == 2 ? strcmp(names[i], "order") != 0 : strcmp(names[i], "magnetisation") != 0;
        assert_int_equal(seen_now != NULL, applies);
        if (seen_now != NULL) {
            const double z = (seen_now->value - exact[i]) / seen_now->mcse;
            if (!(fabs(z) < 4.5)) {
                fail_msg("%s: %.7f +- %.7f, expected %.7f, z %.1f", names[i], seen_now->value,
                         seen_now->mcse, exact[i], z);
            }
            ++n;
        }
    }
    assert_int_equal(n, found->n);
}

static void check_case(uint32_t i, gbs_run_options options)
{
    gbs_model *model = cases[i].make();
    gbs_evidence *evidence = test_observe(model, cases[i].observed);
    double exact[N_NAMES];
    enumerate(model, cases[i].observed, exact);
    test_row("%s, scan %d, %d chains, lattice %d", cases[i].name, options.scan, (int)options.chains,
             options.lattice);
    const seen found = observe(model, evidence, &options);
    check_close(&found, exact, gbs_model_arity(model, 0));
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void small_models(void **state)
{
    (void)state;
    const uint64_t sweeps = test_scaled(1 << 16, 1 << 11, 1 << 10);
    const int scans[] = {GBS_SCAN_CHROMATIC, GBS_SCAN_CLUSTER, GBS_SCAN_WOLFF, GBS_SCAN_SPLASH,
                         GBS_SCAN_RANDOM};
    for (uint32_t i = 0; i < N_CASES; ++i) {
        for (size_t s = 0; s < sizeof scans / sizeof scans[0]; ++s) {
            gbs_run_options options = options_of(scans[s], sweeps);
            const bool moves = scans[s] == GBS_SCAN_CLUSTER || scans[s] == GBS_SCAN_WOLFF;
            const bool slow = scans[s] == GBS_SCAN_SPLASH && test_scale_asked() != TEST_FULL;
            if ((!moves || cases[i].clusters) && (!slow || i % 4 == 0)) {
                check_case(i, options);
            }
        }
        gbs_run_options alone = options_of(GBS_SCAN_CHROMATIC, 8 * sweeps);
        alone.chains = 1;
        check_case(i, alone);
    }
    test_no_row();
}

/* Spins in bits, with and without marginals. */
static void other_forms(void **state)
{
    (void)state;
    const uint64_t sweeps = test_scaled(1 << 16, 1 << 11, 1 << 10);
    for (uint32_t i = 0; i < 9; i += 8) { /* the torus and the tree */
        gbs_run_options bits = options_of(GBS_SCAN_CHROMATIC, sweeps);
        bits.lattice = GBS_LATTICE_ALWAYS;
        bits.estimator = GBS_ESTIMATOR_COUNT;
        check_case(i, bits);
        bits.estimator = GBS_ESTIMATOR_TRACES;
        check_case(i, bits);
    }
    test_no_row();
}

/* ---- tori of any size (Kaufman 1949, Crystal statistics II, Phys. Rev. 76:1232) -------------- */

/* ln Z of an n x n torus of spins with coupling K:
 *     Z = 1/2 (2 sinh 2 K)^(n n / 2) (prod 2 cosh(n g_odd / 2) + prod 2 sinh(n g_odd / 2)
 *                                   + prod 2 cosh(n g_even / 2) + prod 2 sinh(n g_even / 2)),
 * cosh g_l = cosh 2 K coth 2 K - cos(pi l / n), and g_0 = 2 K + ln tanh K, which may be negative.
 */
static double kaufman_log_z(uint32_t n, double k)
{
    const double pi = 3.14159265358979323846;
    double log_cosh[2] = {0.0, 0.0};
    double log_sinh[2] = {0.0, 0.0};
    double sign = 1.0;
    for (uint32_t l = 0; l < 2 * n; ++l) {
        const double c = cosh(2.0 * k) / tanh(2.0 * k) - cos(pi * l / n);
        const double g = l == 0 ? 2.0 * k + log(tanh(k)) : acosh(c);
        const double x = 0.5 * n * fabs(g);
        log_cosh[l % 2] += x + log1p(exp(-2.0 * x));
        log_sinh[l % 2] += x + log1p(-exp(-2.0 * x));
        sign = g < 0.0 ? -sign : sign;
    }
    const double first = log_cosh[1];
    const double sum =
        1.0 + exp(log_sinh[1] - first) + exp(log_cosh[0] - first) + sign * exp(log_sinh[0] - first);
    return 0.5 * n * n * log(2.0 * sinh(2.0 * k)) + first + log(0.5 * sum);
}

/* Energy and specific heat per variable, from derivatives of ln Z by differences of fourth order.
 */
static void kaufman(uint32_t n, double k, double *energy, double *heat)
{
    const double h = 0.02 / n;
    double z[5];
    for (int i = 0; i < 5; ++i) {
        z[i] = kaufman_log_z(n, k + (i - 2) * h);
    }
    const double first = (z[0] - 8.0 * z[1] + 8.0 * z[3] - z[4]) / (12.0 * h);
    const double second = (-z[0] + 16.0 * z[1] - 30.0 * z[2] + 16.0 * z[3] - z[4]) / (12.0 * h * h);
    *energy = -k * first / ((double)n * n);
    *heat = k * k * second / ((double)n * n);
}

static void kaufman_is_right(void **state)
{
    (void)state;
    double exact[N_NAMES];
    double energy = 0.0;
    double heat = 0.0;
    gbs_model *model = torus_4();
    enumerate(model, -1, exact);
    kaufman(4, 0.44, &energy, &heat);
    assert_true(fabs(energy - exact[0]) < 1e-7);
    assert_true(fabs(heat - exact[1]) < 1e-6);
    gbs_model_free(model);
}

/* Energies and specific heats of tori at temperatures below, at and above the critical one; 11
 * temperatures and sizes up to 64 at full scale. At most one of the 24 (at full scale 96) values
 * is expected beyond 3 errors in 15 (4) runs of this test, and one beyond 4 in 650 (160). */
static void large_tori(void **state)
{
    (void)state;
    const bool full = test_scale_asked() == TEST_FULL;
    const double usual[] = {0.3, 0.4406867935, 0.5};
    for (uint32_t side = 8; side <= (full ? 64u : 16u); side *= 2) {
        for (uint32_t t = 0; t < (full ? 12u : 3u); ++t) {
            const double k = full ? 0.36 + 0.015 * t : usual[t];
            for (int scan = GBS_SCAN_CLUSTER; scan <= GBS_SCAN_WOLFF; ++scan) {
                const gbs_generate_ising_options o = {
                    .side = {side, side, 1}, .torus = 1, .coupling = k};
                gbs_run_options options =
                    options_of(scan, test_scaled(1 << 14, 1 << 10, 1 << 9) * 8 / side);
                gbs_model *model = NULL;
                double energy = 0.0;
                double heat = 0.0;
                options.burn_in = 200;
                assert_int_equal(gbs_generate_ising(&o, &model, NULL), GBS_OK);
                kaufman(side, k, &energy, &heat);
                test_row("%u x %u, K %.3f, scan %d", side, side, k, scan);
                const seen found = observe(model, NULL, &options);
                const gbs_observable *e = find(&found, "energy");
                const gbs_observable *c = find(&found, "specific_heat");
                assert_true(fabs(e->value - energy) < 4.0 * e->mcse);
                assert_true(fabs(c->value - heat) < 4.0 * c->mcse);
                gbs_model_free(model);
            }
        }
    }
    test_no_row();
}

/* ---- coverage -------------------------------------------------------------------------------- */

/* The shares of runs in which the exact value lies within two stated errors: 95 % for errors that
 * are true. With 100 runs (full scale: 1000), a share of 95 % is below 86 % (92.9 %) or above 99.9
 * % (97.1 %) in 1 of 1000 runs for each observable. */
static void errors_cover(void **state)
{
    (void)state;
    const bool full = test_scale_asked() == TEST_FULL;
    const uint32_t n_runs = (uint32_t)test_scaled(1000, 100, 40);
    for (uint32_t i = 0; i < N_CASES; i += 4) { /* the torus, Potts, the tree */
        uint32_t covered[N_NAMES] = {0};
        double exact[N_NAMES];
        gbs_model *model = cases[i].make();
        gbs_evidence *evidence = test_observe(model, cases[i].observed);
        enumerate(model, cases[i].observed, exact);
        for (uint32_t r = 0; r < n_runs; ++r) {
            gbs_run_options options = options_of(GBS_SCAN_CHROMATIC, full ? 1024 : 512);
            options.seed = 1000 + r;
            const seen found = observe(model, evidence, &options);
            for (uint32_t k = 0; k < N_NAMES; ++k) {
                const gbs_observable *x = find(&found, names[k]);
                covered[k] += x == NULL || fabs(x->value - exact[k]) < 2.0 * x->mcse;
            }
        }
        for (uint32_t k = 0; k < N_NAMES; ++k) {
            const double share = (double)covered[k] / n_runs;
            print_message("%s, %s: %.3f of %u runs\n", cases[i].name, names[k], share, n_runs);
            test_row("%s, %s: %.3f", cases[i].name, names[k], share);
            assert_true(share >= (full ? 0.92 : n_runs == 100 ? 0.86 : 0.8));
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    test_no_row();
}

/* ---- bits ------------------------------------------------------------------------------------ */

static void check_same(const seen *a, const seen *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->batch, b->batch);
    for (uint32_t i = 0; i < a->n; ++i) {
        const gbs_observable *x = &a->of[i];
        const gbs_observable *y = &b->of[i];
        const double of_x[] = {x->value, x->mcse, x->tau, x->tau_mcse};
        const double of_y[] = {y->value, y->mcse, y->tau, y->tau_mcse};
        for (int k = 0; k < 4; ++k) {
            assert_true(of_x[k] == of_y[k] || (isnan(of_x[k]) && isnan(of_y[k])));
        }
    }
}

static void same_bits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N_CASES; i += 3) {
        for (uint64_t chains = 3; chains <= 19; chains += 16) {
            gbs_model *model = cases[i].make();
            gbs_evidence *evidence = test_observe(model, cases[i].observed);
            gbs_run_options options = options_of(GBS_SCAN_CHROMATIC, 600);
            options.chains = chains;
            options.threads = 1;
            test_row("%s, %d chains", cases[i].name, (int)chains);
            const seen first = observe(model, evidence, &options);
            options.threads = 3;
            const seen threads = observe(model, evidence, &options);
            check_same(&first, &threads);
            const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_PORTABLE);
            const seen portable = observe(model, evidence, &options);
            (void)gbsi_simd_force(best);
            check_same(&first, &portable);
            gbs_evidence_free(evidence);
            gbs_model_free(model);
        }
    }
    test_no_row();
}

/* A run that was stopped and resumed has the bits of a run that was not. */
static int stops(void *context, const gbs_progress *progress)
{
    (void)context;
    return progress->burning_in == 0 && progress->pass >= 100;
}

static void resumed_bits(void **state)
{
    (void)state;
    char path[] = "/tmp/gibbsite-observables-XXXXXX";
    gbs_error err = {0};
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    gbs_model *model = torus_4();
    gbs_run_options options = options_of(GBS_SCAN_CLUSTER, 3000);
    const seen whole = observe(model, NULL, &options);
    gbs_run *run = new_run(model, NULL, &options);
    must(gbs_run_checkpoint(run, path, &err), &err);
    const gbs_run_callbacks callbacks = {.progress = stops};
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_STOPPED);
    gbs_run_free(run);
    run = new_run(model, NULL, &options);
    must(gbs_run_resume(run, path, &err), &err);
    must(gbs_run_execute(run, NULL, &err), &err);
    const seen resumed = read_seen(run);
    check_same(&whole, &resumed);
    gbs_run_free(run);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_true(gbs_run_resume(run, path, &err) < 0);
    assert_non_null(strstr(err.message, "--observables"));
    gbs_run_free(run);
    gbs_model_free(model);
    assert_int_equal(unlink(path), 0);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void check_refused(const gbs_model *model, gbs_run_options options, const char *why)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    const gbs_run_setup setup = {
        .size = sizeof setup, .model = model, .options = &options, .observables = 1};
    assert_true(gbs_run_new_with(&setup, &run, &err) < 0);
    assert_null(run);
    if (strstr(err.message, why) == NULL) {
        fail_msg("found %s, expected %s", err.message, why);
    }
}

static void refusals(void **state)
{
    (void)state;
    gbs_model *model = torus_4();
    gbs_run_options options = options_of(GBS_SCAN_CHROMATIC, 100);
    options.method = GBS_METHOD_EXACT;
    check_refused(model, options, "--method sample or auto");
    options.method = GBS_METHOD_AUTO;
    options.temper = 8;
    check_refused(model, options, "--temper off");
    options.temper = GBS_TEMPER_AUTO;
    options.scan = GBS_SCAN_SYNCHRONOUS;
    check_refused(model, options, "--scan synchronous");
    options.scan = GBS_SCAN_USUAL;
    const seen sampled = observe(model, NULL, &options); /* although trees would be quick */
    assert_int_equal(sampled.n, 9);
    gbs_model_free(model);
    model = test_model(TEST_PAIRWISE, 3, 9);
    check_refused(model, options, "all variables must have the same number of states");
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_models),     cmocka_unit_test(other_forms),
        cmocka_unit_test(kaufman_is_right), cmocka_unit_test(large_tori),
        cmocka_unit_test(errors_cover),     cmocka_unit_test(same_bits),
        cmocka_unit_test(resumed_bits),     cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
