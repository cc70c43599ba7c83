/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled maximum likelihood by every scan, persistent and restarted, on grids of spins whose
 * weights are known: within four of its standard errors of them, and as near to the exact maximum
 * as the chance that is said to be in it. Three weights, twelve fits: some weight is farther than
 * four standard errors by chance in 0.1 % of all seeds. Refusals, no memory. */
#include "gibbsite/dobrushin.h"
#include "gibbsite/run.h"
#include "weights/sampled.h"
#include "weights/testing.h"

enum { MOST_SPINS = 16, SPIN_WEIGHTS = 3, SPIN_ROWS = 400 };

static const double known[SPIN_WEIGHTS] = {0.15, 0.1, -0.1}; /* along rows, columns; the field */

/* Makes a grid of spins. @param couplings factor of the couplings in `known`. */
static gbs_model *spin_grid(uint32_t side, double couplings)
{
    const double w[SPIN_WEIGHTS] = {couplings * known[0], couplings * known[1], known[2]};
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    uint32_t two[MOST_SPINS];
    size_t factor = 0;
    for (uint32_t v = 0; v < side * side; ++v) {
        two[v] = 2;
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, side * side, two, NULL, NULL));
    ok(gbs_builder_add_weights(b, SPIN_WEIGHTS, w, NULL, NULL, NULL));
    for (uint32_t v = 0; v < side * side; ++v) {
        if (v % side + 1 < side) {
            ok(gbs_builder_add_ising(b, v, v + 1, w[0], NULL));
            tie(b, factor++, 0, 1.0);
        }
        if (v + side < side * side) {
            ok(gbs_builder_add_ising(b, v, v + side, w[1], NULL));
            tie(b, factor++, 1, 1.0);
        }
        ok(gbs_builder_add_field(b, v, w[2], NULL));
        tie(b, factor++, 2, 1.0);
    }
    ok(gbs_builder_build(b, &m, NULL));
    gbs_builder_free(b);
    return m;
}

/* Independent draws, by enumeration. */
static gbs_data *spin_rows(const gbs_model *m, uint32_t n_spins, uint32_t n_rows)
{
    const size_t n_states = (size_t)1 << n_spins;
    double *weight = malloc(n_states * sizeof *weight);
    uint32_t x[MOST_SPINS];
    uint32_t columns[MOST_SPINS];
    double total = 0.0;
    gbs_data *data = NULL;
    assert_non_null(weight);
    for (size_t i = 0; i < n_states; ++i) {
        for (uint32_t v = 0; v < n_spins; ++v) {
            x[v] = i >> v & 1;
            columns[v] = v;
        }
        total += weight[i] = gbsi_exp(gbs_model_log_density(m, x));
    }
    ok(gbs_data_new(m, n_spins, columns, &data, NULL));
    for (uint32_t r = 0; r < n_rows; ++r) {
        double u = random_below(&seed, 1u << 30) * 0x1p-30 * total;
        size_t i = 0;
        while (i + 1 < n_states && u >= weight[i]) {
            u -= weight[i++];
        }
        for (uint32_t v = 0; v < n_spins; ++v) {
            x[v] = i >> v & 1;
        }
        ok(gbs_data_add(data, 1, x, NULL, NULL));
    }
    free(weight);
    return data;
}

static gbs_learn_options learning(uint64_t scan, uint64_t method, uint64_t steps)
{
    return (gbs_learn_options){.size = sizeof(gbs_learn_options),
                               .objective = GBS_LEARN_SAMPLED,
                               .chains = 50,
                               .steps = steps,
                               .seed = 3,
                               .scan = scan,
                               .method = method,
                               .sweeps = method == GBS_LEARN_RESTARTED ? 2 : 0};
}

static void every_scan(uint32_t side)
{
    const gbs_learn_options exact = {.size = sizeof exact, .objective = GBS_LEARN_LIKELIHOOD};
    gbs_model *m = spin_grid(side, 1.0);
    gbs_model *start = spin_grid(side, 0.0);
    gbs_data *data = spin_rows(m, side * side, SPIN_ROWS);
    gbs_model *best = NULL;
    ok(gbs_learn_weights(start, data, &exact, NULL, NULL, &best, NULL, NULL));
    for (uint64_t which = 0; which < 6; ++which) {
        const gbs_learn_options options = learning(which % 3, which / 3, 400);
        gbs_learn_report report = {.size = sizeof report};
        gbs_model *learnt = NULL;
        double error[SPIN_WEIGHTS];
        ok(gbs_learn_weights(start, data, &options, NULL, error, &learnt, &report, NULL));
        assert_true(report.converged && report.has_errors);
        assert_true(which % 3 == GBS_LEARN_SCAN_OPTIMISED
                        ? report.n_scans > 0 && report.scan_length > side * side
                        : report.n_scans == 0 && report.scan_length == side * side);
        for (uint32_t k = 0; k < SPIN_WEIGHTS; ++k) {
            const double w = gbs_model_weight(learnt, k, NULL);
            close_to(w, known[k], 4.0 * error[k]);
            close_to(w, gbs_model_weight(best, k, NULL), 4.5 * report.chance * error[k]);
        }
        gbs_model_free(learnt);
    }
    gbs_model_free(best);
    gbs_data_free(data);
    gbs_model_free(start);
    gbs_model_free(m);
}

static void nine_spins(void **state)
{
    (void)state;
    every_scan(3);
}

static void sixteen_spins(void **state)
{
    (void)state;
    every_scan(4);
}

/* A scan for a smaller accuracy is longer. A new scan is made only if weights move. */
static void accuracy(void **state)
{
    (void)state;
    gbs_model *m = spin_grid(3, 1.0);
    gbs_data *data = spin_rows(m, 9, SPIN_ROWS);
    gbs_learn_options options = learning(GBS_LEARN_SCAN_OPTIMISED, GBS_LEARN_PERSISTENT, 40);
    uint64_t length[2];
    for (int i = 0; i < 2; ++i) {
        gbs_learn_report report = {.size = sizeof report};
        gbs_model *learnt = NULL;
        options.accuracy = i == 0 ? 0.1 : 0.001;
        options.l2 = 1e9; /* holds the weights at 0 */
        ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, &report, NULL));
        assert_true(report.n_scans <= 3);
        length[i] = report.scan_length;
        gbs_model_free(learnt);
        options.l2 = 0.0;
        ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, &report, NULL));
        assert_true(report.n_scans > 3);
        assert_true(report.scan_length > length[i]);
        length[i] = report.scan_length;
        gbs_model_free(learnt);
    }
    assert_true(length[0] < length[1]);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* Length of the scan that descents find from a start, by doubling and then by bisection to within
 * an eighth. */
static size_t length_from(const gbs_influences *influences, int start, double accuracy)
{
    gbs_run_options from = gbs_run_options_default();
    from.scan = start;
    gbs_scan_request request = {.size = sizeof request, .accuracy = accuracy, .start = &from};
    gbs_scan_report report = {.size = sizeof report};
    uint32_t *scan = NULL;
    size_t n = 0;
    ok(gbs_scan_optimise(influences, &request, &scan, &n, &report, NULL));
    gbs_free(scan);
    for (size_t fails = n / 2; n - fails > n / 8 + 1;) {
        size_t tried = 0;
        request.steps = fails + (n - fails) / 2;
        ok(gbs_scan_optimise(influences, &request, &scan, &tried, &report, NULL));
        gbs_free(scan);
        *(report.after <= accuracy ? &n : &fails) = (size_t)request.steps;
    }
    return n;
}

/* Descents begin with the random scan, as in section 5.3 of the paper. From the systematic scan,
 * some of the scans would have other lengths. */
static void starts_with_the_random_scan(void **state)
{
    (void)state;
    gbs_model *m = spin_grid(4, 1.0);
    gbs_influences *influences = NULL;
    gbsi_learnt learnt = {0};
    size_t n_other = 0;
    ok(gbs_influences_new(m, NULL, NULL, &influences, NULL));
    ok(gbsi_learnt_find(m, &learnt, NULL));
    const gbsi_pseudo pseudo = {.model = m, .learnt = &learnt};
    for (double accuracy = 0.3; accuracy > 0.005; accuracy /= 1.5) {
        gbsi_learning_scan scan = {.pseudo = &pseudo,
                                   .kind = GBS_LEARN_SCAN_OPTIMISED,
                                   .accuracy = accuracy,
                                   .memory_limit = UINT64_MAX};
        ok(gbsi_learning_scan_init(&scan, NULL));
        ok(gbsi_learning_scan_follow(&scan, known, NULL));
        assert_int_equal(scan.n_made, 1);
        assert_int_equal(scan.order.n, length_from(influences, GBS_SCAN_RANDOM, accuracy));
        n_other += scan.order.n != length_from(influences, GBS_SCAN_SYSTEMATIC, accuracy);
        gbsi_learning_scan_free(&scan);
    }
    assert_true(n_other > 0);
    gbsi_learnt_free(&learnt);
    gbs_influences_free(influences);
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    gbs_model *m = spin_grid(3, 5.0);
    gbs_data *data = spin_rows(m, 9, SPIN_ROWS);
    gbs_learn_options options = learning(GBS_LEARN_SCAN_OPTIMISED, GBS_LEARN_PERSISTENT, 40);
    gbs_model *none = NULL;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &none, NULL, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "Dobrushin's condition fails"));
    options.accuracy = 1.0;
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &none, NULL, &err),
                     GBS_ERR_ARGUMENT);
    options = learning(3, 0, 40);
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &none, NULL, &err),
                     GBS_ERR_ARGUMENT);
    options = learning(0, 2, 40);
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &none, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_null(none);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void without_memory(void **state)
{
    (void)state;
    gbs_learn_options options = learning(GBS_LEARN_SCAN_OPTIMISED, GBS_LEARN_RESTARTED, 2);
    gbs_model *m = spin_grid(2, 1.0);
    gbs_data *data = spin_rows(m, 4, 20);
    options.chains = 4;
    options.l2 = 1e3;
    learn_without_memory(m, data, &options, UINT64_MAX);
    gbs_data_free(data);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(nine_spins, restart),
                                       cmocka_unit_test_setup(sixteen_spins, restart),
                                       cmocka_unit_test_setup(accuracy, restart),
                                       cmocka_unit_test_setup(starts_with_the_random_scan, restart),
                                       cmocka_unit_test_setup(refusals, restart),
                                       cmocka_unit_test_setup(without_memory, restart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
