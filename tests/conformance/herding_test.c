/* SPDX-License-Identifier: Apache-2.0 */
/* The herded family: every legal scan x draw x estimator x number of chains on the table of models
 * against enumeration, an eighth of the models for each. Except with complete keys herding has a
 * bias of its own, which is recorded here as a band: what these runs showed, and half as much
 * again. What is rounded at random errs by its one drawing of the roundings, as much with one chain
 * in a fixed order as in a random one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine.h"
#include "gibbsite/generate.h"
#include "support/runs.h"
#include "support/small_models.h"

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
    {"herded", GBS_DRAW_HERDED, 0, 0, 0, 0, false, {0.035, 0.036}},
    {"shared", GBS_DRAW_HERDED_SHARED, 0, 0, 0, 0, false, {0.026, 0.066}},
    {"complete", GBS_DRAW_HERDED_COMPLETE, 0, 0, 0, 0, false, {0.065, 0.071}},
    {"discretized", GBS_DRAW_DISCRETIZED, 0, 0, 0, 16, false, {0.028, 0.054}},
    {"discretized, pre", GBS_DRAW_DISCRETIZED, 0, GBS_HERD_PRE, 0, 16, true, {0.048, 0.04}},
    {"one bin", GBS_DRAW_ONE_BIN, 0, 0, 0, 0, false, {0.151, 0.138}},
    {"rounded at random", GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 0, 16, false, {0.076, 0.076}},
    {"bounded error", GBS_DRAW_BOUNDED_ERROR, 0, 0, 0, 0, false, {0.051, 0.058}},
    {"bounded, bins", GBS_DRAW_BOUNDED_ERROR, GBS_KEYS_BINS, 0, 0, 16, false, {0.039, 0.05}},
};
enum { N_DRAWS = sizeof draws / sizeof draws[0] };

static gbs_run_options options_of(const herded *d, int scan, int estimator, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    test_choose_draw(&options, d->draw, d->keys, d->rule);
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

/* Scan, estimator and number of chains of a run on a model; two for each draw and model. */
enum { N_WAYS = 16, WAYS_EACH = 2 };

static gbs_run_options way(const herded *d, int number)
{
    const int scan = number % GBS_SCAN_SEQUENCE;
    return options_of(d, scan, number / 4 % 2, number / 8 % 2 == 0 ? 1 : 16);
}

static void check_case(const test_case *c, int number)
{
    gbs_model *model = c->make();
    gbs_evidence *evidence = test_observe(model, c->observe);
    gbs_run_options oracle = gbs_run_options_default();
    oracle.method = GBS_METHOD_EXACT;
    test_answer exact = test_run_once(model, evidence, &oracle);
    for (int d = 0; d < N_DRAWS; ++d) {
        if (draws[d].binary_only && !test_all_binary(model)) {
            continue;
        }
        for (int i = 0; i < WAYS_EACH; ++i) {
            /* 5 and 7 are odd: all ways come round, over models and over draws */
            const gbs_run_options options =
                way(&draws[d], (5 * number + 7 * d + i * N_WAYS / WAYS_EACH) % N_WAYS);
            const bool shuffled =
                options.scan == GBS_SCAN_RANDOM || options.scan == GBS_SCAN_PERMUTED;
            test_answer found = test_run_once(model, evidence, &options);
            const double error = worst(&found, &exact);
            if (c->crossable && error > draws[d].band[shuffled]) {
                fail_msg("%s, %s, scan %d, estimator %d, %d chains: off by %.5f, above %.5f",
                         c->name, draws[d].name, options.scan, options.estimator,
                         (int)options.chains, error, draws[d].band[shuffled]);
            }
            assert_true(!found.report.converged || found.report.n_free_variables == 0);
            test_drop(&found);
        }
    }
    test_drop(&exact);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void scans_and_draws(void **state)
{
    (void)state;
    static const size_t steps[] = {12, 3, 1}; /* [test_scale]: 3 so that all ways come round */
    const size_t step = steps[test_scale_asked()];
    for (size_t i = 0; i < n_test_cases; i += step) {
        check_case(&test_cases[i], (int)i);
    }
}

/* ---- the same bits --------------------------------------------------------------------------- */

/* Not of the instruction set, nor of the memory there is for tables. A seventh of the variants
 * for each model. */
static void same_bits_on_every_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_cases; ++i) {
        gbs_model *model = test_cases[i].make();
        gbs_evidence *evidence = test_observe(model, test_cases[i].observe);
        for (int variant = (int)i % 7; variant < 2 * N_DRAWS; variant += 7) {
            const herded *d = &draws[variant / 2];
            gbs_run_options options =
                options_of(d, variant % 4, variant / 4 % 2, variant % 2 == 0 ? 16 : 3);
            options.sweeps = 40;
            options.burn_in = 3;
            if (!d->binary_only || test_all_binary(model)) {
                test_same_bits(model, evidence, &options);
            }
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* ---- 1/T ------------------------------------------------------------------------------------- */

/* The joint of a run, counted draw by draw, and how far it is off at powers of 2. */
typedef struct joint {
    const gbs_model *model;
    uint32_t n_variables;
    double p[64];
    uint64_t count[64];
    uint64_t n;
    double worst[32]; /* L1 within draws 2^k to 2^(k+1) */
    double last;
    double bound; /* largest of draws times error: the envelope is bound / T */
} joint;

static gbs_status count_joint(void *context, uint64_t draw, uint32_t chain, double log_density,
                              const uint32_t *x, gbs_error *err)
{
    joint *j = context;
    size_t index = 0;
    double error = 0.0;
    unsigned k = 0;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    for (uint32_t v = 0; v < j->n_variables; ++v) {
        index = 2 * index + x[v];
    }
    ++j->count[index];
    ++j->n;
    for (size_t i = 0; i < (size_t)1 << j->n_variables; ++i) {
        error += fabs((double)j->count[i] / (double)j->n - j->p[i]);
    }
    while (j->n >> (k + 1) != 0) {
        ++k;
    }
    j->worst[k] = fmax(j->worst[k], error);
    j->last = error;
    j->bound = fmax(j->bound, error * (double)j->n);
    return GBS_OK;
}

static void run_joint(joint *j, int draw, uint64_t seed, uint64_t sweeps)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    const gbs_run_callbacks callbacks = {.context = j, .draw = count_joint};
    double total = 0.0;
    j->n_variables = gbs_model_n_variables(j->model);
    for (size_t i = 0; i < (size_t)1 << j->n_variables; ++i) {
        uint32_t x[6];
        for (uint32_t v = 0; v < j->n_variables; ++v) {
            x[v] = (uint32_t)(i >> (j->n_variables - 1 - v)) & 1u;
        }
        j->p[i] = exp(gbs_model_log_density(j->model, x));
        total += j->p[i];
    }
    for (size_t i = 0; i < (size_t)1 << j->n_variables; ++i) {
        j->p[i] /= total;
    }
    options.method = GBS_METHOD_SAMPLE;
    options.scan = GBS_SCAN_SYSTEMATIC;
    options.draw = draw;
    options.seed = seed;
    options.bins = draw == GBS_DRAW_DISCRETIZED ? 16 : 0;
    options.chains = 1;
    options.sweeps = sweeps;
    options.burn_in = 0;
    options.estimator = GBS_ESTIMATOR_COUNT;
    if (gbs_run_new(j->model, NULL, &options, &run, &err) < 0 ||
        gbs_run_execute(run, &callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    gbs_run_free(run);
}

/* Least-squares slope of log2 of the error over k = from .. to. */
static double slope(const joint *j, unsigned from, unsigned to)
{
    double n = 0.0;
    double sx = 0.0;
    double sy = 0.0;
    double sxx = 0.0;
    double sxy = 0.0;
    for (unsigned k = from; k <= to; ++k) {
        const double y = log2(j->worst[k]);
        n += 1.0;
        sx += k;
        sy += y;
        sxx += (double)k * k;
        sxy += k * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* Chen et al. (2016), table 1 and figure 5: p(0,0) = 1/4 - e, p(1,1) = 3/4 - e, the others e. */
static gbs_model *two_variables(double e)
{
    const uint32_t scope[2] = {0, 1};
    const double logw[4] = {log(0.25 - e), log(e), log(e), log(0.75 - e)};
    const uint32_t arity[2] = {2, 2};
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t table = 0;
    if (gbs_builder_new(&b, &err) < 0 || gbs_builder_add_variables(b, 2, arity, NULL, &err) < 0 ||
        gbs_builder_add_table(b, 4, logw, &table, &err) < 0 ||
        gbs_builder_add_table_factor(b, 2, scope, table, &err) < 0 ||
        gbs_builder_build(b, &model, &err) < 0) {
        fail_msg("%s", err.message);
    }
    gbs_builder_free(b);
    return model;
}

/* The error of the joint falls as 1/T, from about 1/e draws on. */
static void two_variables_of_the_paper(void **state)
{
    (void)state;
    static const struct {
        double e;
        unsigned from, to;
    } cases[] = {{0.1, 6, 17}, {0.01, 9, 18}, {0.001, 12, 19}, {0.0001, 15, 21}};
    for (size_t i = 0; i < test_share(sizeof cases / sizeof cases[0], 1); ++i) {
        gbs_model *model = two_variables(cases[i].e);
        joint j = {.model = model};
        run_joint(&j, GBS_DRAW_HERDED, 1, (UINT64_C(2) << cases[i].to) - 1);
        const double found = slope(&j, cases[i].from, cases[i].to);
        if (!(found <= -0.9)) {
            fail_msg("e = %g: the error falls as T^%.3f", cases[i].e, found);
        }
        gbs_model_free(model);
    }
}

/* Variables without couplings, with these probabilities of state 1. */
static gbs_model *no_couplings(uint32_t n, const double *p)
{
    const uint32_t arity[3] = {2, 2, 2};
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    if (gbs_builder_new(&b, &err) < 0 || gbs_builder_add_variables(b, n, arity, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    for (uint32_t v = 0; v < n; ++v) {
        const double logw[2] = {log(1.0 - p[v]), log(p[v])};
        uint32_t table = 0;
        if (gbs_builder_add_table(b, 2, logw, &table, &err) < 0 ||
            gbs_builder_add_table_factor(b, 1, &v, table, &err) < 0) {
            fail_msg("%s", err.message);
        }
    }
    if (gbs_builder_build(b, &model, &err) < 0) {
        fail_msg("%s", err.message);
    }
    gbs_builder_free(b);
    return model;
}

/* Chen et al. (2016), theorem 2: without couplings the joint frequencies tend to the target if 1
 * and the probabilities are linearly independent over the rational numbers. The square roots of 2,
 * 3 and 5 are, together with 1. Their multiples of 2^-32 differ from them by less than 2^18 draws
 * notice. If the probabilities are dependent, as p, p and p' = 1 - p are, the weights stay on a
 * line, and the joint frequencies tend to another limit; each variable still has its own frequency.
 */
static void without_couplings(void **state)
{
    (void)state;
    const double independent[3] = {0.41421356237309503, 0.73205080756887729, 0.23606797749978970};
    const double dependent[3] = {0.41421356237309503, 0.41421356237309503, 0.58578643762690497};
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        joint tends = {.model = no_couplings(3, independent)};
        joint stays = {.model = no_couplings(3, dependent)};
        run_joint(&tends, GBS_DRAW_HERDED, seed, (UINT64_C(1) << 18) - 1);
        run_joint(&stays, GBS_DRAW_HERDED, seed, (UINT64_C(1) << 18) - 1);
        if (!(tends.worst[17] < 0.05 * tends.worst[7] && tends.last < 1e-3)) {
            fail_msg("seed %u: the error goes from %g to %g", (unsigned)seed, tends.worst[7],
                     tends.worst[17]);
        }
        if (!(stays.last > 0.1 && stays.worst[17] > 0.9 * stays.worst[12])) {
            fail_msg("seed %u: dependent probabilities, error %g", (unsigned)seed, stays.last);
        }
        for (uint32_t v = 0; v < 3; ++v) {
            uint64_t ones = 0;
            for (size_t i = 0; i < 8; ++i) {
                ones += (i >> (2 - v) & 1u) != 0 ? stays.count[i] : 0;
            }
            assert_true(fabs((double)ones - dependent[v] * (double)stays.n) < 1.01);
        }
        gbs_model_free((gbs_model *)tends.model);
        gbs_model_free((gbs_model *)stays.model);
    }
}

/* At 2^18 draws herding is off by less than the median of the random draw by these factors. */
static void ahead_of_random(void **state)
{
    (void)state;
    static const struct {
        double e, factor;
    } cases[] = {{0.1, 100.0}, {0.01, 10.0}};
    for (size_t i = 0; i < test_share(sizeof cases / sizeof cases[0], 1); ++i) {
        gbs_model *model = two_variables(cases[i].e);
        joint herding = {.model = model};
        double error[5];
        run_joint(&herding, GBS_DRAW_HERDED, 1, (UINT64_C(1) << 18) - 1);
        for (uint64_t seed = 0; seed < 5; ++seed) {
            joint random = {.model = model};
            run_joint(&random, GBS_DRAW_RANDOM, seed, (UINT64_C(1) << 18) - 1);
            size_t at = (size_t)seed; /* insertion: error[2] ends as the median */
            for (; at > 0 && error[at - 1] > random.last; --at) {
                error[at] = error[at - 1];
            }
            error[at] = random.last;
        }
        const double envelope = herding.bound * 0x1p-18;
        if (!(envelope * cases[i].factor <= error[2])) {
            fail_msg("e = %g: herding %.2g, random %.2g", cases[i].e, envelope, error[2]);
        }
        gbs_model_free(model);
    }
}

/* On a cycle all but complete keys end on a plateau: what these runs showed, within a factor of 2.
 */
static void plateaus(void **state)
{
    (void)state;
    static const struct {
        int draw;
        double error;
    } cases[] = {{GBS_DRAW_HERDED, 0.0039},
                 {GBS_DRAW_HERDED_SHARED, 0.0049},
                 {GBS_DRAW_DISCRETIZED, 0.0050},
                 {GBS_DRAW_ONE_BIN, 0.374}};
    const gbs_generate_ring_options ring = {
        .variables = 4, .coupling_spread = 1.0, .random_field = 0.5, .seed = 4};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ring(&ring, &model, NULL), GBS_OK);
    for (size_t i = 0; i < test_share(sizeof cases / sizeof cases[0], 1); ++i) {
        joint j = {.model = model};
        run_joint(&j, cases[i].draw, 1, (UINT64_C(1) << 19) - 1);
        if (!(j.last > cases[i].error / 2 && j.last < cases[i].error * 2)) {
            fail_msg("draw %d: the error ends at %.2g, expected %.2g", cases[i].draw, j.last,
                     cases[i].error);
        }
    }
    gbs_model_free(model);
}

/* Complete keys: T times the error of the joint stays bounded (theorem 3 of Chen et al. 2016, whose
 * constants are larger by orders of magnitude); keys by neighbours end on a plateau. */
static void complete_keys_are_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 1 + test_share(4, 1); ++seed) {
        gbs_model *model = test_model(seed % 2 == 0 ? TEST_ISING : TEST_SPIN, seed, 5);
        joint complete = {.model = model};
        run_joint(&complete, GBS_DRAW_HERDED_COMPLETE, 1, (UINT64_C(2) << 17) - 1);
        const double found = slope(&complete, 8, 17);
        if (!(found <= -0.9 && complete.worst[17] * 0x1p17 < 150.0)) {
            fail_msg("seed %d: the error falls as T^%.3f to %.2g", (int)seed, found,
                     complete.worst[17]);
        }
        gbs_model_free(model);
    }
}

/* A variable of 64 neighbours: 2^64 contexts, of which those met are kept. Too little memory for
 * them is told with the figure. */
static void many_neighbours(void **state)
{
    (void)state;
    static const int draw[] = {GBS_DRAW_HERDED, GBS_DRAW_HERDED_SHARED, GBS_DRAW_DISCRETIZED};
    const gbs_generate_rbm_options star = {
        .visible = 1, .hidden = 64, .coupling_spread = 0.3, .random_field = 0.4, .seed = 6};
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_rbm(&star, &model, NULL), GBS_OK);
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_EXACT;
    test_answer exact = test_run_once(model, NULL, &options);
    for (size_t i = 0; i < sizeof draw / sizeof draw[0]; ++i) {
        for (uint64_t chains = 1; chains <= 16; chains += 15) {
            const herded how = {.draw = draw[i]};
            options = options_of(&how, GBS_SCAN_CHROMATIC, GBS_ESTIMATOR_COUNT, chains);
            test_answer found = test_run_once(model, NULL, &options);
            if (worst(&found, &exact) > 0.04) {
                fail_msg("draw %d, %d chains: off by %.5f", draw[i], (int)chains,
                         worst(&found, &exact));
            }
            if (draw[i] == GBS_DRAW_HERDED && chains == 16) { /* hardly a context comes twice */
                assert_true(found.report.n_weights > 16 * 500);
            }
            test_drop(&found);
        }
    }
    options.draw = GBS_DRAW_HERDED;
    options.sweeps = 1 << 20;
    options.memory_limit = gbsi_program_bytes() + (26 << 20);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "would take"));
    gbs_run_free(run);
    test_drop(&exact);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_on_every_set),
        cmocka_unit_test(scans_and_draws),
        cmocka_unit_test(two_variables_of_the_paper),
        cmocka_unit_test(without_couplings),
        cmocka_unit_test(ahead_of_random),
        cmocka_unit_test(complete_keys_are_exact),
        cmocka_unit_test(plateaus),
        cmocka_unit_test(many_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
