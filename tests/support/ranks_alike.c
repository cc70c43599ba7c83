/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/ranks_alike.h"
#include "support/runs.h"

static const struct {
    int draw, keys, bin_rule, scheme;
} draws[] = {
    {GBS_DRAW_RANDOM, 0, 0, 0},
    {GBS_DRAW_HERDED, 0, 0, 0},
    {GBS_DRAW_HERDED, GBS_KEYS_SUM, 0, 0},
    {GBS_DRAW_HERDED, GBS_KEYS_BINS, 0, 0},
    {GBS_DRAW_HERDED_SHARED, 0, 0, 0},
    {GBS_DRAW_HERDED_COMPLETE, 0, 0, 0},
    {GBS_DRAW_DISCRETIZED, 0, 0, 0},
    {GBS_DRAW_DISCRETIZED, 0, GBS_BIN_ARGMAX, 0},
    {GBS_DRAW_ONE_BIN, 0, 0, 0},
    {GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 0},
    {GBS_DRAW_BOUNDED_ERROR, 0, 0, 0},
    {GBS_DRAW_CUD, 0, 0, GBS_CUD_TRIBBLE},
    {GBS_DRAW_CUD, 0, 0, GBS_CUD_CHEN},
};

const size_t test_n_rank_draws = sizeof draws / sizeof draws[0];
const int test_rank_estimators[2] = {GBS_ESTIMATOR_RAO_BLACKWELL, GBS_ESTIMATOR_COUNT};

gbs_run_options test_rank_options(int scan, size_t draw, size_t estimator, uint64_t n_chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scan;
    test_choose_draw(&options, draws[draw].draw, draws[draw].keys, 0);
    options.bin_rule = draws[draw].bin_rule;
    options.cud_scheme = draws[draw].scheme;
    options.estimator = test_rank_estimators[estimator];
    options.lattice = GBS_LATTICE_NEVER;
    options.threshold = options.draw == GBS_DRAW_BOUNDED_ERROR ? 0.5 : options.threshold;
    options.chains = n_chains;
    const bool cud = options.draw == GBS_DRAW_CUD; /* runs a whole period of 2^M - 1 sweeps */
    options.sweeps = cud ? 63 : 150;               /* past a flush of counts */
    options.burn_in = cud ? 0 : 5;
    options.seed = 20261124;
    return options;
}

gbs_run_options test_ladder_options(size_t turn)
{
    static const struct {
        uint64_t levels, ladders;
    } shapes[] = {{2, 2}, {8, 5}, {3, 17}, {16, 4}, {5, 7}};
    const size_t i = turn % (sizeof shapes / sizeof shapes[0]);
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.temper = shapes[i].levels;
    options.chains = shapes[i].ladders;
    options.burn_in = 40;
    options.sweeps = 60;
    options.thin = 3;
    options.seed = 20261125;
    return options;
}

size_t test_rank_sequence(uint32_t n, uint32_t *sequence)
{
    size_t length = 0;
    for (uint32_t v = 0; v < n; ++v) {
        sequence[length++] = n - 1 - v;
        if (v % 3 == 0) {
            sequence[length++] = (v * 7 + 2) % n;
        }
    }
    return length;
}

static uint64_t bits_of(double x)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

void test_same_numbers(const double *a, const double *b, size_t n, const char *what)
{
    for (size_t i = 0; i < n; ++i) {
        if (bits_of(a[i]) != bits_of(b[i]) && (a[i] == a[i] || b[i] == b[i])) {
            fail_msg("%s %zu: %.17g in one process, %.17g on ranks", what, i, a[i], b[i]);
        }
    }
}

/* Ladders are on one process: on several ranks nobody is told to try them. */
static void check_verdict(const char *one, const char *many)
{
    static const char advice[] = "--temper 16, ";
    const char *found = strstr(one, advice);
    char expected[sizeof((gbs_report *)NULL)->verdict];
    if (found == NULL || strstr(many, advice) != NULL) {
        assert_string_equal(one, many);
        return;
    }
    (void)snprintf(expected, sizeof expected, "%.*s%s", (int)(found - one), one,
                   found + strlen(advice));
    assert_string_equal(expected, many);
}

void test_same_report(const gbs_report *a, const gbs_report *b)
{
    const double one[] = {a->max_mcse,      a->max_rhat,  a->min_ess,
                          a->bias_estimate, a->threshold, a->log_z};
    const double other[] = {b->max_mcse,      b->max_rhat,  b->min_ess,
                            b->bias_estimate, b->threshold, b->log_z};
    assert_string_equal(a->digest, b->digest);
    check_verdict(a->verdict, b->verdict);
    assert_string_equal(a->stop, b->stop);
    assert_int_equal(a->sweeps, b->sweeps);
    assert_int_equal(a->burn_in, b->burn_in);
    assert_int_equal(a->updates, b->updates);
    assert_int_equal(a->chains, b->chains);
    assert_int_equal(a->n_constant, b->n_constant);
    assert_int_equal(a->n_free_variables, b->n_free_variables);
    assert_int_equal(a->n_colors, b->n_colors);
    assert_int_equal(a->n_batches, b->n_batches);
    assert_int_equal(a->converged, b->converged);
    test_same_numbers(one, other, sizeof one / sizeof one[0], "number of the report");
}
