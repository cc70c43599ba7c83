/* SPDX-License-Identifier: Apache-2.0 */
/* Tests restricted Boltzmann machines: layers against libm, the pseudo-likelihood and learnt
 * machines against enumeration, and equal bits on any number of threads and with any instruction
 * set. */
#include "rbm/rbm.h"

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
#include "base/test_scale.h"
#include "simd/dispatch.h"

enum { VISIBLE = 6, HIDDEN = 3, STATES = 1 << VISIBLE };

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static double uniform(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53;
}

/* ---- layers ---------------------------------------------------------------------------------- */

enum { WIDTH = 4200, ROWS = 20 };

static void layers_against_libm(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double *matrix = calloc((ROWS + 3) * WIDTH, sizeof *matrix);
    double *x = matrix + ROWS * WIDTH;
    double *y = x + WIDTH;
    double *sum = y + WIDTH;
    double log_sum = 0.0;
    const uint32_t list[] = {0, 3, 4, 19};
    assert_non_null(matrix);
    for (size_t k = 0; k < (ROWS + 3) * WIDTH; ++k) {
        matrix[k] = 20.0 * uniform(&seed) - 10.0;
    }
    x[0] = 1e5;
    x[1] = -1e5;
    x[2] = 0.0;
    for (size_t k = 0; k < WIDTH; ++k) {
        const double z = x[k] - 0.5 * y[k];
        log_sum += (z > 0.0 ? z : 0.0) + log1p(exp(-fabs(z)));
    }
    const gbsi_layers *layers = gbsi_layers_here();
    assert_true(fabs(layers->softplus(x, y, -0.5, WIDTH) - log_sum) < 1e-12 * log_sum);
    const double before = sum[77];
    layers->sum_rows(matrix, WIDTH, list, 4, sum);
    const double added =
        matrix[77] + matrix[3 * WIDTH + 77] + matrix[4 * WIDTH + 77] + matrix[19 * WIDTH + 77];
    assert_true(fabs(sum[77] - before - added) < 1e-13);
    memcpy(y, x, WIDTH * sizeof *x);
    layers->logistic(x, WIDTH);
    for (size_t k = 0; k < WIDTH; ++k) {
        assert_true(fabs(x[k] - 1.0 / (1.0 + exp(-y[k]))) < 4e-16);
    }
    free(matrix);
}

/* ---- what made the rows ---------------------------------------------------------------------- */

static void visible_of(uint32_t k, uint32_t v[VISIBLE])
{
    for (uint32_t i = 0; i < VISIBLE; ++i) {
        v[i] = k >> i & 1;
    }
}

/* Computes P(v) of a model whose first VISIBLE variables are visible, and sums out the n_hidden
 * hidden variables. */
static void distribution(const gbs_model *model, uint32_t n_hidden, double p[STATES])
{
    uint32_t x[VISIBLE + 8];
    double sum = 0.0;
    for (uint32_t k = 0; k < STATES; ++k) {
        visible_of(k, x);
        p[k] = 0.0;
        for (uint32_t h = 0; h < 1u << n_hidden; ++h) {
            for (uint32_t j = 0; j < n_hidden; ++j) {
                x[VISIBLE + j] = h >> j & 1;
            }
            p[k] += exp(gbs_model_log_density(model, x));
        }
        sum += p[k];
    }
    for (uint32_t k = 0; k < STATES; ++k) {
        p[k] /= sum;
    }
}

/* Draws rows of a machine in which each hidden unit switches two visible units on or off together.
 */
static gbs_rows *drawn_rows(size_t n, double truth[STATES])
{
    gbs_rows *rows = NULL;
    uint64_t seed = 7;
    double sum = 0.0;
    for (uint32_t k = 0; k < STATES; ++k) {
        uint32_t v[VISIBLE];
        double log_w = 0.0;
        visible_of(k, v);
        for (uint32_t j = 0; j < HIDDEN; ++j) {
            log_w +=
                log1p(exp(3.0 * v[2 * j] + 2.5 * v[2 * j + 1] - 1.0 * v[(2 * j + 2) % 6] - 2.0));
            log_w -= 1.2 * v[2 * j] + 0.8 * v[2 * j + 1];
        }
        truth[k] = exp(log_w);
        sum += truth[k];
    }
    ok(gbs_rows_new(VISIBLE, 2, &rows, NULL));
    for (uint32_t k = 0; k < STATES; ++k) {
        truth[k] /= sum;
    }
    for (size_t b = 0; b < n; ++b) {
        uint32_t v[VISIBLE];
        double u = uniform(&seed);
        uint32_t k = 0;
        for (; k + 1 < STATES && u >= truth[k]; ++k) {
            u -= truth[k];
        }
        visible_of(k, v);
        ok(gbs_rows_add(rows, 1, v, NULL));
    }
    return rows;
}

static double divergence(const double truth[STATES], const double p[STATES])
{
    double sum = 0.0;
    for (uint32_t k = 0; k < STATES; ++k) {
        sum += truth[k] * log(truth[k] / p[k]);
    }
    return sum;
}

/* @return the divergence of the independent model whose means are those of the truth. */
static double divergence_of_means(const double truth[STATES])
{
    double mean[VISIBLE] = {0.0};
    double p[STATES];
    for (uint32_t k = 0; k < STATES; ++k) {
        for (uint32_t i = 0; i < VISIBLE; ++i) {
            mean[i] += k >> i & 1 ? truth[k] : 0.0;
        }
    }
    for (uint32_t k = 0; k < STATES; ++k) {
        p[k] = 1.0;
        for (uint32_t i = 0; i < VISIBLE; ++i) {
            p[k] *= k >> i & 1 ? mean[i] : 1.0 - mean[i];
        }
    }
    return divergence(truth, p);
}

/* With 4000 rows and 48 free weights, the maximum of the likelihood would on average be 48 / 8000 =
 * 0.006 from the truth. With one bin, herded chains would be 0.3 from the truth. */
static void what_made_the_rows_is_learnt(void **state)
{
    (void)state;
    static const struct {
        uint64_t method, draw, sweeps;
        double most;
    } ways[] = {{GBS_RBM_PCD, GBS_RBM_RANDOM, 1, 0.012},
                {GBS_RBM_PCD, GBS_RBM_HERDED, 1, 0.012},
                {GBS_RBM_CD, GBS_RBM_RANDOM, 4, 0.012},
                {GBS_RBM_CD, GBS_RBM_HERDED, 4, 0.012}};
    double truth[STATES];
    double p[STATES];
    gbs_rows *rows = drawn_rows(4000, truth);
    assert_true(divergence_of_means(truth) > 0.1);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k += test_share(1, 3)) {
        const gbs_rbm_options options = {.size = sizeof options,
                                         .hidden = 2 * HIDDEN,
                                         .method = ways[k].method,
                                         .draw = ways[k].draw,
                                         .sweeps = ways[k].sweeps,
                                         .epochs = 120,
                                         .threads = 1,
                                         .rate = 0.3};
        gbs_model *model = NULL;
        ok(gbs_rbm_learn(rows, NULL, &options, NULL, NULL, &model, NULL, NULL));
        distribution(model, 2 * HIDDEN, p);
        const double found = divergence(truth, p);
        assert_true(found > 0.0 && found < ways[k].most);
        gbs_model_free(model);
    }
    gbs_rows_free(rows);
}

/* Long steps with small batches do not converge. Steps with all rows converge long before the last
 * step. */
static void settled_weights_end_it(void **state)
{
    (void)state;
    double truth[STATES];
    double p[STATES];
    gbs_rows *rows = drawn_rows(800, truth);
    for (int settles = 0; settles < (int)test_share(2, 1); ++settles) {
        const gbs_rbm_options options = {.size = sizeof options,
                                         .hidden = HIDDEN,
                                         .threads = 1,
                                         .epochs = settles ? 8000 : 100,
                                         .batch = settles ? 800 : 20,
                                         .l2 = settles ? 4.0 : 0.0,
                                         .rate = 0.5};
        gbs_rbm_report report = {.size = sizeof report};
        gbs_model *model = NULL;
        ok(gbs_rbm_learn(rows, NULL, &options, NULL, NULL, &model, &report, NULL));
        distribution(model, HIDDEN, p);
        assert_true(report.converged == (uint64_t)settles && report.rhat <= 1.05);
        assert_true(report.epochs == (settles ? 2000 : 100));
        assert_true(settles ? report.misfit <= 0.25 && report.rise <= 0.02 : report.misfit > 1.0);
        assert_true(divergence(truth, p) < 0.6 * divergence_of_means(truth));
        gbs_model_free(model);
    }
    gbs_rows_free(rows);
}

static double exact_mean_pl(const gbs_rows *rows, const double p[STATES])
{
    double sum = 0.0;
    for (size_t k = 0; k < gbs_rows_n(rows); ++k) {
        uint32_t v = 0;
        for (uint32_t i = 0; i < VISIBLE; ++i) {
            v |= gbs_rows_state(rows, k, i) << i;
        }
        for (uint32_t i = 0; i < VISIBLE; ++i) {
            sum += log(p[v] / (p[v] + p[v ^ 1u << i]));
        }
    }
    return sum / (double)gbs_rows_n(rows);
}

static void pseudo_likelihood_against_enumeration(void **state)
{
    (void)state;
    double truth[STATES];
    double p[STATES];
    double curve[40][2];
    gbs_rows *rows = drawn_rows(300, truth);
    gbs_rows *held_out = NULL;
    gbs_model *model = NULL;
    gbs_rbm_report report = {.size = sizeof report};
    const gbs_rbm_options options = {
        .size = sizeof options, .hidden = 5, .epochs = 40, .rate = 0.5, .batch = 32, .l2 = 0.1};
    ok(gbs_rows_hold_out(rows, 0.1, &held_out, NULL));
    ok(gbs_rbm_learn(rows, held_out, &options, NULL, &curve[0][0], &model, &report, NULL));
    distribution(model, 5, p);
    assert_true(fabs(report.mean_pl - exact_mean_pl(rows, p)) < 1e-10);
    assert_true(fabs(report.held_out_pl - exact_mean_pl(held_out, p)) < 1e-10);
    assert_true(report.mean_pl == curve[39][0] && report.held_out_pl == curve[39][1]);
    assert_true(curve[39][0] > curve[0][0] + 0.05);
    assert_true(report.n_rows == 270 && report.epochs == 40 && report.steps == 360);
    assert_true(report.n_visible == VISIBLE && report.n_hidden == 5);
    assert_string_equal(gbs_model_variable_name(model, 0), "v1");
    assert_string_equal(gbs_model_variable_name(model, VISIBLE), "h1");
    gbs_model_free(model);
    gbs_rows_free(rows);
    gbs_rows_free(held_out);
}

/* ---- bits, and what ends it ------------------------------------------------------------------ */

static gbs_rows *wide_rows(size_t n, uint32_t n_sites)
{
    gbs_rows *rows = NULL;
    uint64_t seed = 2;
    uint32_t *v = calloc(n_sites, sizeof *v);
    assert_non_null(v);
    ok(gbs_rows_new(n_sites, 2, &rows, NULL));
    for (size_t k = 0; k < n; ++k) {
        for (uint32_t i = 0; i < n_sites; ++i) {
            v[i] = next_random(&seed) % 3 == 0;
        }
        ok(gbs_rows_add(rows, 1, v, NULL));
    }
    free(v);
    return rows;
}

static void nothing_changes_bits(void **state)
{
    (void)state;
    const gbsi_simd best = gbsi_simd_level();
    gbs_rows *rows = wide_rows(150, 37);
    for (uint64_t way = 0; way < 4; way += test_share(1, 3)) {
        char digest[33] = "";
        for (uint64_t threads = 1; threads <= 3; ++threads) {
            for (int level = 0; level < GBSI_N_SIMD; ++level) {
                const gbs_rbm_options options = {.size = sizeof options,
                                                 .hidden = 21,
                                                 .epochs = 2,
                                                 .method = way % 2,
                                                 .draw = way / 2,
                                                 .l1 = way == 3 ? 0.1 : 0.0,
                                                 .sweeps = 2,
                                                 .threads = threads};
                gbs_model *model = NULL;
                if (!gbsi_simd_has((gbsi_simd)level)) {
                    continue;
                }
                (void)gbsi_simd_force((gbsi_simd)level);
                ok(gbs_rbm_learn(rows, NULL, &options, NULL, NULL, &model, NULL, NULL));
                if (digest[0] == '\0') {
                    memcpy(digest, gbs_model_digest(model), sizeof digest);
                }
                assert_string_equal(digest, gbs_model_digest(model));
                gbs_model_free(model);
            }
        }
    }
    (void)gbsi_simd_force(best);
    gbs_rows_free(rows);
}

static int stop(void *context, const gbs_progress *progress)
{
    const uint64_t *epochs = context;
    return progress->pass >= *epochs;
}

static void what_ends_it(void **state)
{
    (void)state;
    gbs_rows *rows = wide_rows(2000, 400);
    gbs_model *model = NULL;
    uint64_t epochs = 1;
    const gbs_rbm_options small = {.size = sizeof small, .hidden = 300, .memory_limit = 1 << 20};
    const gbs_rbm_options options = {.size = sizeof options, .hidden = 64, .epochs = 100000};
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .progress = stop, .context = &epochs};
    gbs_rbm_report report = {.size = sizeof report};
    assert_int_equal(gbs_rbm_learn(rows, NULL, &small, NULL, NULL, &model, NULL, NULL),
                     GBS_ERR_LIMIT);
    assert_null(model);
    assert_int_equal(gbs_rbm_learn(rows, NULL, &options, &callbacks, NULL, &model, &report, NULL),
                     GBS_STOPPED);
    assert_true(model != NULL && report.epochs >= 1 && isfinite(report.mean_pl));
    gbs_model_free(model);
    model = NULL;
    epochs = 0;
    assert_int_equal(gbs_rbm_learn(rows, NULL, &options, &callbacks, NULL, &model, NULL, NULL),
                     GBS_ERR_STOPPED);
    assert_null(model);
    gbs_rows_free(rows);
}

/* Learns a machine. @param digest out: digest of the model. @param curve [2 * EPOCHS] */
static gbs_status learn_with(const gbs_rows *rows, const gbs_rbm_options *options,
                             const gbs_run_callbacks *callbacks, double *curve, char digest[33])
{
    gbs_model *model = NULL;
    gbs_error err = {0};
    const gbs_status status = gbs_rbm_learn(rows, options->patience > 0 ? rows : NULL, options,
                                            callbacks, curve, &model, NULL, &err);
    if (status >= 0) {
        memcpy(digest, gbs_model_digest(model), 33);
    }
    gbs_model_free(model);
    return status;
}

/* The call is stopped in the second epoch and at looks in the third epoch. Then it runs to the end
 * on other threads, also from the checkpoint before the last. A checkpoint of other options is
 * refused. */
static void checkpoints_go_on(void **state)
{
    (void)state;
    enum { EPOCHS = 3 };
    gbs_rows *rows = wide_rows(1500, 100);
    uint64_t epochs = 0;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .progress = stop, .context = &epochs};
    const gbs_rbm_options whole = {
        .size = sizeof whole, .hidden = 30, .epochs = EPOCHS, .threads = 2};
    /* PCD, CD, PCD by herding, the best epoch of PCD, and PCD with zeros */
    for (uint64_t kind = 0; kind < 5; ++kind) {
        gbs_checkpoint_files files = {.size = sizeof files, .write = "rbm_test.ckpt"};
        char digest[2][33];
        double curve[2][2 * EPOCHS];
        gbs_rbm_options options = whole;
        options.method = kind == 1;
        options.draw = kind == 2;
        options.patience = kind == 3 ? 1 : 0;
        options.l1 = kind == 4 ? 0.3 : 0.0;
        options.rate = kind == 3 ? 20.0 : 0.0; /* with this rate the last epoch is not the best */
        ok(learn_with(rows, &options, NULL, curve[0], digest[0]));
        options.checkpoints = &files;
        options.threads = 1;
        for (int stretch = 0; stretch < 2; ++stretch) {
            epochs = 1 + (uint64_t)stretch;
            const gbs_status status = learn_with(rows, &options, &callbacks, curve[1], digest[1]);
            assert_true(status == GBS_OK || status == GBS_STOPPED);
            files.resume = files.write;
        }
        files.write = NULL;
        options.threads = 3;
        ok(learn_with(rows, &options, NULL, curve[1], digest[1]));
        assert_string_equal(digest[0], digest[1]);
        for (size_t k = 0; k < EPOCHS; ++k) {
            assert_true(curve[0][2 * k] == curve[1][2 * k]);
        }
        files = (gbs_checkpoint_files){.size = sizeof files, .write = "rbm_test.ckpt"};
        options.checkpoint_every_s = 1e-9;
        ok(learn_with(rows, &options, NULL, curve[1], digest[1]));
        files = (gbs_checkpoint_files){.size = sizeof files, .resume = "rbm_test.ckpt~"};
        ok(learn_with(rows, &options, NULL, curve[1], digest[1]));
        assert_string_equal(digest[0], digest[1]);
        options.seed = 9;
        assert_int_equal(learn_with(rows, &options, NULL, curve[1], digest[1]), GBS_ERR_ARGUMENT);
    }
    (void)remove("rbm_test.ckpt");
    (void)remove("rbm_test.ckpt~");
    gbs_rows_free(rows);
}

/* With few rows and many units, held-out rows are at their best before the last epoch. More
 * patience finds equal weights, after more epochs. */
static void held_out_rows_end_it(void **state)
{
    (void)state;
    enum { EPOCHS = 400 };
    double curve[2 * EPOCHS];
    char digest[2][33];
    gbs_rows *rows = wide_rows(40, 9);
    gbs_rows *others = NULL;
    gbs_rbm_options options = {
        .size = sizeof options, .hidden = 20, .epochs = EPOCHS, .rate = 0.5, .patience = 60};
    gbs_rbm_report report = {.size = sizeof report};
    ok(gbs_rows_hold_out(rows, 0.6, &others, NULL));
    for (size_t k = 0; k < 2; ++k, options.patience += 40) {
        gbs_model *model = NULL;
        ok(gbs_rbm_learn(rows, others, &options, NULL, curve, &model, &report, NULL));
        memcpy(digest[k], gbs_model_digest(model), sizeof digest[k]);
        gbs_model_free(model);
        const size_t best = (size_t)report.best_epoch;
        assert_true(best > 0 && report.epochs == best + options.patience && report.epochs < EPOCHS);
        assert_true(report.mean_pl == curve[2 * best - 2] &&
                    report.held_out_pl == curve[2 * best - 1]);
        for (size_t epoch = 0; epoch < report.epochs; ++epoch) {
            assert_true(curve[2 * epoch + 1] <= report.held_out_pl);
        }
    }
    assert_string_equal(digest[0], digest[1]);
    gbs_model *none = NULL;
    assert_int_equal(gbs_rbm_learn(rows, NULL, &options, NULL, NULL, &none, NULL, NULL),
                     GBS_ERR_ARGUMENT);
    gbs_rows_free(others);
    gbs_rows_free(rows);
}

/* The units are independent; without a penalty, their couplings are due to chance. */
static void couplings_become_zero(void **state)
{
    (void)state;
    gbs_rows *rows = wide_rows(2000, 20);
    for (int sparse = 0; sparse < 2; ++sparse) {
        const gbs_rbm_options options = {
            .size = sizeof options, .hidden = 10, .epochs = 40, .l1 = sparse ? 4.0 : 0.0};
        gbs_rbm_report report = {.size = sizeof report};
        gbs_model *model = NULL;
        ok(gbs_rbm_learn(rows, NULL, &options, NULL, NULL, &model, &report, NULL));
        assert_true(sparse ? report.n_zero > 190 : report.n_zero == 0);
        gbs_model_free(model);
    }
    gbs_rows_free(rows);
}

static void sizes_of_steps_are_refused(void **state)
{
    (void)state;
    static const struct {
        double first, last;
        const char *said;
    } wrong[] = {{-0.1, 0.0, "--rate -0.1: must be"},
                 {1001.0, 0.0, "--rate 1001: must be"},
                 {0.1, 0.2, "expected 0 to 1000 and 0 to rate"},
                 {0.0, 0.06, "expected 0 to 1000 and 0 to rate"},
                 {0.1, -0.1, "--rate-last -0.1: must be"},
                 {(double)NAN, 0.0, "--rate nan: must be"}};
    gbs_rows *rows = wide_rows(10, 4);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        const gbs_rbm_options options = {.size = sizeof options,
                                         .hidden = 3,
                                         .rate = wrong[k].first,
                                         .rate_last = wrong[k].last};
        gbs_model *model = NULL;
        gbs_error err = {GBS_OK, ""};
        assert_int_equal(gbs_rbm_learn(rows, NULL, &options, NULL, NULL, &model, NULL, &err),
                         GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, wrong[k].said));
    }
    gbs_rows_free(rows);
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    gbs_rows *rows = wide_rows(10, 4);
    for (uint64_t allowed = 0; status != GBS_OK; ++allowed) {
        const gbs_rbm_options options = {.size = sizeof options,
                                         .hidden = 3,
                                         .threads = 1,
                                         .epochs = 1,
                                         .draw = GBS_RBM_HERDED,
                                         .l1 = 1.0,
                                         .patience = 1};
        gbs_model *model = NULL;
        double curve[2] = {7.0, 7.0};
        assert_true(allowed < 1000);
        gbsi_alloc_fail_after(allowed);
        status = gbs_rbm_learn(rows, rows, &options, NULL, curve, &model, NULL, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((status == GBS_OK) == (model != NULL) && (status == GBS_OK || curve[0] == 7.0));
        gbs_model_free(model);
    }
    gbs_rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_against_libm),
        cmocka_unit_test(what_made_the_rows_is_learnt),
        cmocka_unit_test(settled_weights_end_it),
        cmocka_unit_test(pseudo_likelihood_against_enumeration),
        cmocka_unit_test(nothing_changes_bits),
        cmocka_unit_test(what_ends_it),
        cmocka_unit_test(checkpoints_go_on),
        cmocka_unit_test(held_out_rows_end_it),
        cmocka_unit_test(couplings_become_zero),
        cmocka_unit_test(sizes_of_steps_are_refused),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
