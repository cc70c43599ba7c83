/* SPDX-License-Identifier: Apache-2.0 */
/* Tests dense Potts models: the gradient against differences of the objective, learnt models
 * against the model that made the rows, and equal bits on any number of threads, with any
 * instruction set and after checkpoints. */
#include "potts/potts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "simd/dispatch.h"

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static double uniform(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53;
}

static gbs_rows *random_rows(size_t n, uint32_t n_sites, uint32_t n_states)
{
    gbs_rows *rows = NULL;
    uint64_t seed = 5;
    uint32_t x[64];
    ok(gbs_rows_new(n_sites, n_states, &rows, NULL));
    for (size_t b = 0; b < n; ++b) {
        for (uint32_t i = 0; i < n_sites; ++i) {
            x[i] = i > 0 && next_random(&seed) % 2 ? x[i - 1]
                                                   : (uint32_t)(next_random(&seed) % n_states);
        }
        ok(gbs_rows_add(rows, 1, x, NULL));
        rows->weight[b] = 0.5 + uniform(&seed);
    }
    return rows;
}

typedef struct problem {
    gbs_rows *rows;
    gbsi_work work;
    gbsi_potts potts;
    double *x, *gradient, *other;
} problem;

static void problem_init(problem *p, size_t n, uint32_t n_sites, uint32_t n_states)
{
    const gbs_label_options options = {.size = sizeof options, .threads = 2};
    uint64_t seed = 9;
    *p = (problem){.rows = random_rows(n, n_sites, n_states)};
    ok(gbsi_work_begin(&p->work, &options, NULL, 0, NULL));
    ok(gbsi_potts_init(p->rows, &p->work, &p->potts, NULL));
    ok(gbsi_potts_take_memory(&p->potts, true, NULL));
    p->x = calloc(3 * p->potts.n, sizeof *p->x);
    assert_non_null(p->x);
    p->gradient = p->x + p->potts.n;
    p->other = p->gradient + p->potts.n;
    for (size_t k = 0; k < p->potts.n; ++k) {
        p->x[k] = 2.0 * uniform(&seed) - 1.0;
    }
}

static void problem_free(problem *p)
{
    gbsi_potts_free(&p->potts);
    gbsi_work_end(&p->work);
    gbs_rows_free(p->rows);
    free(p->x);
}

static void gradient_against_differences(void **state)
{
    static const uint32_t of_states[] = {2, 3, 9, 21, 34};
    const double h = 1e-5;
    (void)state;
    for (size_t s = 0; s < sizeof of_states / sizeof of_states[0]; ++s) {
        problem p;
        problem_init(&p, 20, 4, of_states[s]);
        (void)gbsi_potts_objective(&p.potts, p.x, 0.3, p.gradient);
        for (size_t k = 0; k < p.potts.n; k += 1 + p.potts.n / 200) {
            const double at = p.x[k];
            p.x[k] = at + h;
            const double above = gbsi_potts_objective(&p.potts, p.x, 0.3, p.other);
            p.x[k] = at - h;
            const double below = gbsi_potts_objective(&p.potts, p.x, 0.3, p.other);
            p.x[k] = at;
            /* third derivatives times h^2, and rounding of the objective by h: below 1e-7 */
            assert_true(fabs(p.gradient[k] - (above - below) / (2.0 * h)) < 1e-6);
        }
        problem_free(&p);
    }
}

/* If all weights are 0, all states have equal probabilities. The gauge does not change the
 * distribution. */
static void objective_and_gauge(void **state)
{
    (void)state;
    problem p;
    problem_init(&p, 30, 5, 7);
    const double before = gbsi_potts_log_pl(&p.potts, p.x);
    gbsi_potts_to_gauge(&p.potts, p.x);
    assert_true(fabs(gbsi_potts_log_pl(&p.potts, p.x) - before) < 1e-10 * fabs(before));
    for (uint32_t b = 0; b < 7; ++b) {
        double sum = 0.0;
        for (uint32_t a = 0; a < 7; ++a) {
            sum += p.x[gbsi_potts_pair(&p.potts, 1, 3) + a * 7 + b];
        }
        assert_true(fabs(sum) < 1e-13);
    }
    memset(p.x, 0, p.potts.n * sizeof *p.x);
    const double log_pl = gbsi_potts_log_pl(&p.potts, p.x);
    assert_true(fabs(log_pl + gbs_rows_weight(p.rows) * 5.0 * log(7.0)) < 1e-10);
    problem_free(&p);
}

static void sets_change_no_bit(void **state)
{
    (void)state;
    problem p;
    const gbsi_simd best = gbsi_simd_level();
    problem_init(&p, 50, 6, 21);
    const double first = gbsi_potts_objective(&p.potts, p.x, 0.3, p.gradient);
    for (int level = 0; level < GBSI_N_SIMD; ++level) {
        if (gbsi_simd_has((gbsi_simd)level)) {
            (void)gbsi_simd_force((gbsi_simd)level);
            assert_true(first == gbsi_potts_objective(&p.potts, p.x, 0.3, p.other));
            assert_memory_equal(p.gradient, p.other, p.potts.n * sizeof *p.other);
        }
    }
    (void)gbsi_simd_force(best);
    problem_free(&p);
}

/* Far-apart weights: nothing overflows, and a state without weight has the probability 0. */
static void wide_weights(void **state)
{
    (void)state;
    problem p;
    problem_init(&p, 30, 4, 5);
    for (size_t k = 0; k < p.potts.n; ++k) {
        p.x[k] *= 1e4;
    }
    assert_true(isfinite(gbsi_potts_objective(&p.potts, p.x, 0.0, p.gradient)));
    for (size_t k = 0; k < p.potts.n; ++k) {
        assert_true(isfinite(p.gradient[k]));
    }
    problem_free(&p);
}

/* ---- learning -------------------------------------------------------------------------------- */

enum { SITES = 4, STATES = 3, CONFIGURATIONS = 81, ROWS = 20000 };

/* @return whether this library can learn. */
static bool has_lbfgs(void)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_rows *rows = random_rows(5, 2, 2);
    const gbs_status status = gbs_potts_learn(rows, NULL, NULL, NULL, &model, NULL, &err);
    gbs_model_free(model);
    gbs_rows_free(rows);
    if (status == GBS_ERR_UNSUPPORTED) {
        assert_non_null(strstr(err.message, "libLBFGS"));
        return false;
    }
    ok(status);
    return true;
}

static void states_of(uint32_t k, uint32_t x[SITES])
{
    for (uint32_t i = SITES; i-- > 0; k /= STATES) {
        x[i] = k % STATES;
    }
}

static void distribution(const gbs_model *model, double p[CONFIGURATIONS])
{
    double sum = 0.0;
    uint32_t x[SITES];
    for (uint32_t k = 0; k < CONFIGURATIONS; ++k) {
        states_of(k, x);
        p[k] = exp(gbs_model_log_density(model, x));
        sum += p[k];
    }
    for (uint32_t k = 0; k < CONFIGURATIONS; ++k) {
        p[k] /= sum;
    }
}

/* Rows drawn from a model with known weights. @param truth out: its distribution. */
static gbs_rows *drawn_rows(double truth[CONFIGURATIONS])
{
    problem p;
    gbs_model *model = NULL;
    gbs_rows *rows = NULL;
    uint64_t seed = 3;
    uint32_t x[SITES];
    problem_init(&p, 1, SITES, STATES);
    ok(gbsi_potts_model(&p.potts, p.x, &model, NULL));
    distribution(model, truth);
    ok(gbs_rows_new(SITES, STATES, &rows, NULL));
    for (size_t b = 0; b < ROWS; ++b) {
        double u = uniform(&seed);
        uint32_t k = 0;
        for (; k + 1 < CONFIGURATIONS && u >= truth[k]; ++k) {
            u -= truth[k];
        }
        states_of(k, x);
        ok(gbs_rows_add(rows, 1, x, NULL));
    }
    gbs_model_free(model);
    problem_free(&p);
    return rows;
}

/* chi2 = ROWS sum (p - truth)^2 / truth of a model with 32 free weights fitted by maximum
 * likelihood has the mean 32 and the standard deviation 8; 80 is 6 of them. A pseudo-likelihood is
 * a little worse. */
static void what_made_the_rows_is_learnt(void **state)
{
    (void)state;
    double truth[CONFIGURATIONS];
    double p[CONFIGURATIONS];
    if (!has_lbfgs()) {
        skip();
    }
    gbs_rows *rows = drawn_rows(truth);
    gbs_rows *held_out = NULL;
    ok(gbs_rows_hold_out(rows, 0.05, &held_out, NULL));
    for (uint64_t method = GBS_POTTS_PL; method <= GBS_POTTS_ASYMMETRIC; ++method) {
        const gbs_potts_options options = {.size = sizeof options,
                                           .l2 = 1e-6,
                                           .tolerance = 1e-9,
                                           .method = method,
                                           .chains = method == GBS_POTTS_PCD ? 20000 : 0,
                                           .steps = method == GBS_POTTS_PCD ? 100 : 0};
        gbs_potts_report report = {.size = sizeof report};
        gbs_model *model = NULL;
        double chi2 = 0.0;
        double log_p = 0.0;
        ok(gbs_potts_learn(rows, held_out, &options, NULL, &model, &report, NULL));
        distribution(model, p);
        for (uint32_t k = 0; k < CONFIGURATIONS; ++k) {
            chi2 += ROWS * (p[k] - truth[k]) * (p[k] - truth[k]) / truth[k];
            log_p += truth[k] * log(p[k] / truth[k]);
        }
        assert_true(chi2 > 5.0 && chi2 < 80.0 && log_p < 0.0);
        assert_true(report.converged == 1 && report.n_parameters == 12 + 6 * 9);
        assert_true(report.n_rows == 19000 && report.held_out_weight == 1000.0);
        /* the mean of ln PL over other rows is nearly that of the rows; at random it is 4 ln 3 */
        assert_true(fabs(report.held_out_pl / 1000.0 - report.pseudo_log_likelihood / 19000.0) <
                    0.2);
        assert_true(report.held_out_pl / 1000.0 > -4.0 * log(3.0) + 0.2);
        /* moments end the steps, 25 or 50 of them; chance moves misfit by about 0.1 */
        assert_true(method == GBS_POTTS_PCD ? report.steps < 100 && report.steps % 25 == 0
                                            : report.steps == 0 && isnan(report.rhat));
        assert_true(method != GBS_POTTS_PCD || report.moment_error < 0.02);
        assert_true(method != GBS_POTTS_PCD || (report.rhat <= 1.05 && report.misfit <= 0.25));
        gbs_model_free(model);
    }
    gbs_rows_free(held_out);
    gbs_rows_free(rows);
}

/* At the maximum under l1, the derivative by a coupling is l1 with the sign of the coupling, and
 * smaller if the coupling is 0. The derivative by a field is 0. L-BFGS ends with a slope below
 * 0.05. */
static void l1_leaves_out_couplings(void **state)
{
    (void)state;
    double truth[CONFIGURATIONS];
    double x[12 + 54];
    double gradient[12 + 54];
    gbs_potts_options options = {
        .size = sizeof options, .l1 = 400.0, .l2 = 0.5, .tolerance = 1e-11};
    gbs_potts_report report = {.size = sizeof report};
    gbs_error err = {0};
    gbs_model *model = NULL;
    problem p;
    size_t n = 0;
    size_t n_zero = 0;
    if (!has_lbfgs()) {
        skip();
    }
    gbs_rows *rows = drawn_rows(truth);
    ok(gbs_potts_learn(rows, NULL, &options, NULL, &model, &report, NULL));
    ok(gbs_potts_parameters(model, &n, x, NULL));
    assert_true(n == 66 && report.converged && report.gradient_norm < 0.05);
    problem_init(&p, 1, SITES, STATES);
    p.potts.rows = rows;
    (void)gbsi_potts_objective(&p.potts, x, options.l2, gradient);
    for (size_t k = 0; k < n; ++k) {
        const double l1 = k < 12 ? 0.0 : options.l1;
        n_zero += x[k] == 0.0;
        assert_true(x[k] == 0.0 ? fabs(gradient[k]) <= l1 + 0.05
                                : fabs(gradient[k] + copysign(l1, x[k])) < 0.05);
    }
    assert_true(n_zero > 9 && n_zero < 50 && report.n_coupled >= 1 && report.n_coupled <= 6);
    problem_free(&p);
    gbs_model_free(model);
    model = NULL;
    options.method = GBS_POTTS_PCD;
    assert_int_equal(gbs_potts_learn(rows, NULL, &options, NULL, &model, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_true(model == NULL && strstr(err.message, "--l1 applies with --method pl only") != NULL);
    gbs_rows_free(rows);
}

/* Nine spins that are nearly always equal: a chain stays in one of the two states for ever. If half
 * of the chains are in each state, they agree with the rows, and only R-hat shows the disagreement.
 */
static void chains_that_disagree(void **state)
{
    (void)state;
    gbs_rows *rows = NULL;
    gbs_model *model = NULL;
    const gbs_potts_options options = {
        .size = sizeof options, .method = GBS_POTTS_PCD, .chains = 200, .steps = 40};
    gbs_potts_report report = {.size = sizeof report};
    if (!has_lbfgs()) {
        skip();
    }
    ok(gbs_rows_new(9, 2, &rows, NULL));
    for (uint32_t b = 0; b < 400; ++b) {
        uint32_t x[9];
        for (uint32_t i = 0; i < 9; ++i) {
            x[i] = (b + (b / 20 == i)) % 2;
        }
        ok(gbs_rows_add(rows, 1, x, NULL));
    }
    ok(gbs_potts_learn(rows, NULL, &options, NULL, &model, &report, NULL));
    assert_true(!report.converged && report.steps == 40 && report.rhat > 1.2);
    gbs_model_free(model);
    gbs_rows_free(rows);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    char digest[3][33];
    if (!has_lbfgs()) {
        skip();
    }
    gbs_rows *rows = random_rows(60, 7, 5);
    for (uint64_t method = GBS_POTTS_PCD; method <= GBS_POTTS_ASYMMETRIC; ++method) {
        for (uint64_t k = 0; k < 3; ++k) {
            const gbs_potts_options options = {.size = sizeof options,
                                               .threads = 1 + k,
                                               .method = method,
                                               .chains = method == GBS_POTTS_PCD ? 50 : 0,
                                               .steps = method == GBS_POTTS_PCD ? 5 : 0};
            gbs_model *model = NULL;
            ok(gbs_potts_learn(rows, NULL, &options, NULL, &model, NULL, NULL));
            memcpy(digest[k], gbs_model_digest(model), sizeof digest[k]);
            gbs_model_free(model);
        }
        assert_string_equal(digest[0], digest[1]);
        assert_string_equal(digest[0], digest[2]);
    }
    gbs_rows_free(rows);
}

/* Two sites have as many weights as pairs of states: every method ends at the frequencies of the
 * rows. */
static void frequencies_of_pairs(void **state)
{
    (void)state;
    gbs_rows *rows = NULL;
    if (!has_lbfgs()) {
        skip();
    }
    ok(gbs_rows_new(2, 3, &rows, NULL));
    for (uint32_t k = 0; k < 9; ++k) {
        const uint32_t x[2] = {k / 3, k % 3};
        for (uint32_t n = 0; n < 1 + k * k % 7; ++n) {
            ok(gbs_rows_add(rows, 1, x, NULL));
        }
    }
    for (uint64_t method = GBS_POTTS_PL; method <= GBS_POTTS_ASYMMETRIC; method += 2) {
        const gbs_potts_options options = {
            .size = sizeof options, .tolerance = 1e-15, .l2 = 1e-7, .method = method};
        const uint32_t first[2] = {0, 0};
        gbs_model *model = NULL;
        ok(gbs_potts_learn(rows, NULL, &options, NULL, &model, NULL, NULL));
        const double base = gbs_model_log_density(model, first);
        for (uint32_t k = 0; k < 9; ++k) {
            const uint32_t x[2] = {k / 3, k % 3};
            const double log_ratio = gbs_model_log_density(model, x) - base;
            assert_true(fabs(log_ratio - log(1.0 + k * k % 7)) < 1e-3);
        }
        gbs_model_free(model);
    }
    gbs_rows_free(rows);
}

/* Stops the call after the chains have started. */
static int stop_chains(void *context, const gbs_progress *progress)
{
    (void)context;
    return progress->passes > 50;
}

static const gbs_potts_options by_chains = {.size = sizeof by_chains,
                                            .iterations = 50,
                                            .method = GBS_POTTS_PCD,
                                            .chains = 2000,
                                            .steps = 40};

/* Learns by chains. @param files NULL: no checkpoints. @param digest out: digest of the model; ""
 * if the call was stopped. */
static void learn_by_chains(const gbs_rows *rows, uint64_t threads, double every_s,
                            const gbs_checkpoint_files *files, const gbs_run_callbacks *callbacks,
                            char digest[33])
{
    gbs_potts_options options = by_chains;
    options.threads = threads;
    options.checkpoints = files;
    options.checkpoint_every_s = every_s;
    gbs_model *model = NULL;
    gbs_potts_report report = {.size = sizeof report};
    const gbs_status status =
        gbs_potts_learn(rows, NULL, &options, callbacks, &model, &report, NULL);
    assert_true(status == GBS_OK || (status == GBS_STOPPED && callbacks != NULL));
    assert_true(report.n_unwritten == 0 && report.iterations > 0);
    memcpy(digest, status == GBS_OK ? gbs_model_digest(model) : "", status == GBS_OK ? 33 : 1);
    gbs_model_free(model);
}

static void copy_with_damage(const char *from, const char *to, size_t damaged)
{
    static unsigned char bytes[1 << 20];
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    assert_true(n > 1000 && n < sizeof bytes);
    bytes[damaged] ^= 1;
    file = fopen(to, "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

/* The call is stopped at the first look of the watch, after a tenth of a second, within a step or
 * between two steps. Then it runs to the end on other threads, from the last checkpoint and from
 * the checkpoint before. */
static void checkpoints_go_on(void **state)
{
    (void)state;
    const gbs_checkpoint_files write = {.size = sizeof write, .write = "potts_test.ckpt"};
    const gbs_checkpoint_files resume = {.size = sizeof resume, .resume = "potts_test.ckpt"};
    const gbs_checkpoint_files before = {.size = sizeof before, .resume = "potts_test.ckpt~"};
    gbs_checkpoint_files files = write;
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .progress = stop_chains};
    char whole[33];
    char digest[33];
    gbs_error err = {0};
    gbs_model *model = NULL;
    if (!has_lbfgs()) {
        skip();
    }
    gbs_rows *rows = random_rows(400, 12, 4);
    learn_by_chains(rows, 2, 0.0, NULL, NULL, whole);
    learn_by_chains(rows, 2, 300.0, &write, &callbacks, digest);
    files.resume = files.write;
    learn_by_chains(rows, 1, 300.0, &files, &callbacks, digest);
    copy_with_damage("potts_test.ckpt", "potts_test.bad", 5000);
    learn_by_chains(rows, 3, 0.0, &resume, NULL, digest);
    assert_string_equal(digest, whole);
    learn_by_chains(rows, 1, 1e-9, &write, NULL, digest);
    assert_string_equal(digest, whole);
    learn_by_chains(rows, 2, 0.0, &before, NULL, digest);
    assert_string_equal(digest, whole);
    files = (gbs_checkpoint_files){.size = sizeof files, .resume = "potts_test.bad"};
    gbs_potts_options options = by_chains;
    options.checkpoints = &files;
    assert_int_equal(gbs_potts_learn(rows, NULL, &options, NULL, &model, NULL, &err),
                     GBS_ERR_FORMAT);
    files.resume = "potts_test.ckpt";
    options.steps = 41;
    assert_int_equal(gbs_potts_learn(rows, NULL, &options, NULL, &model, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "potts_test.ckpt: found a checkpoint of other rows"));
    files = (gbs_checkpoint_files){.size = sizeof files, .write = "/none/none"};
    assert_int_equal(gbs_potts_learn(rows, NULL, &options, NULL, &model, NULL, &err), GBS_ERR_IO);
    assert_null(model);
    assert_true(remove("potts_test.ckpt") == 0 && remove("potts_test.ckpt~") == 0 &&
                remove("potts_test.bad") == 0);
    gbs_rows_free(rows);
}

static int stop(void *context, const gbs_progress *progress)
{
    (void)context;
    return progress->pass >= 1;
}

static int stop_at_once(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return 1;
}

/* Tests failed allocations, a memory limit that is too small, and a caller who stops the call. */
static void what_ends_it(void **state)
{
    (void)state;
    gbs_rows *rows = random_rows(300, 40, 21);
    gbs_model *model = NULL;
    gbs_error err = {0};
    const gbs_potts_options small = {.size = sizeof small, .memory_limit = 1 << 20};
    const gbs_potts_options exact = {.size = sizeof exact, .tolerance = 1e-15};
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .progress = stop};
    gbs_potts_report report = {.size = sizeof report};
    if (!has_lbfgs()) {
        gbs_rows_free(rows);
        skip();
    }
    assert_int_equal(gbs_potts_learn(rows, NULL, &small, NULL, &model, NULL, &err), GBS_ERR_LIMIT);
    assert_null(model);
    assert_int_equal(gbs_potts_learn(rows, rows, &exact, &callbacks, &model, &report, &err),
                     GBS_STOPPED);
    assert_true(model != NULL && report.iterations >= 1 && isnan(report.held_out_pl));
    assert_true(report.pseudo_log_likelihood < 0.0 &&
                report.pseudo_log_likelihood > -300.0 * 40.0 * log(21.0) * 1.5);
    gbs_model_free(model);
    model = NULL;
    const gbs_potts_options alone = {.size = sizeof alone, .method = GBS_POTTS_ASYMMETRIC};
    const gbs_run_callbacks at_once = {.size = sizeof at_once, .progress = stop_at_once};
    assert_int_equal(gbs_potts_learn(rows, NULL, &alone, &at_once, &model, NULL, &err),
                     GBS_ERR_STOPPED);
    assert_null(model);
    gbs_rows_free(rows);
}

static void check_memory(uint64_t method)
{
    const bool pcd = method == GBS_POTTS_PCD;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t allowed = 0; status != GBS_OK; ++allowed) {
        static const char text[] = "a,b,c\n0,1,2\n1,1,0\n2,0,1\n";
        const gbs_potts_options options = {.size = sizeof options,
                                           .threads = 1,
                                           .chains = pcd ? 2 : 0,
                                           .method = method,
                                           .steps = pcd};
        gbs_rows *rows = NULL;
        gbs_rows *held_out = NULL;
        gbs_model *model = NULL;
        assert_true(allowed < 1000);
        gbsi_alloc_fail_after(allowed);
        status = gbs_rows_read_as("d", text, sizeof text - 1, GBS_ALPHABET_AUTO, &rows, NULL);
        if (status >= 0) {
            status = gbs_rows_weigh(rows, 0.8, 1, NULL, NULL);
        }
        if (status >= 0) {
            status = gbs_rows_hold_out(rows, 0.4, &held_out, NULL);
        }
        if (status >= 0) {
            status = gbs_potts_learn(rows, held_out, &options, NULL, &model, NULL, NULL);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((status == GBS_OK) == (model != NULL));
        gbs_model_free(model);
        gbs_rows_free(rows);
        gbs_rows_free(held_out);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    if (!has_lbfgs()) {
        skip();
    }
    check_memory(GBS_POTTS_PCD);
    check_memory(GBS_POTTS_ASYMMETRIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_against_differences),
        cmocka_unit_test(objective_and_gauge),
        cmocka_unit_test(sets_change_no_bit),
        cmocka_unit_test(wide_weights),
        cmocka_unit_test(what_made_the_rows_is_learnt),
        cmocka_unit_test(l1_leaves_out_couplings),
        cmocka_unit_test(chains_that_disagree),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(frequencies_of_pairs),
        cmocka_unit_test(checkpoints_go_on),
        cmocka_unit_test(what_ends_it),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
