/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"
#include "temper/exchange.h"
#include "temper/means.h"
#include "temper/overlap.h"
#include "temper/ratios.h"

static double uniform(uint32_t stream, uint64_t i)
{
    uint32_t word[4];
    gbsi_philox(7, stream, i, 0, GBSI_PURPOSE_TEST, word);
    return gbsi_uniform(word[0], word[1]);
}

static void assert_within(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%.17g, expected %.17g", found, expected);
    }
}

/* ---- exchange -------------------------------------------------------------------------------- */

/* A model of one number x in [0, 1) with log density U = 20 x, drawn exactly at each level:
 * F(x) = (exp(20 b x) - 1) / (exp(20 b) - 1). */
#define SLOPE 20.0

static double draw_at(double beta, double u)
{
    const double s = SLOPE * beta;
    return s < 1e-9 ? u : gbsi_log(1.0 + u * (gbsi_exp(s) - 1.0)) / s;
}

static void ignore_swap(void *context, uint32_t a, uint32_t b)
{
    ++*(uint64_t *)context;
    assert_true(a > b); /* the hotter lane comes later */
}

static void run_ladders(gbsi_exchange *e, uint64_t first, uint64_t n, uint64_t *n_swaps)
{
    double density[64];
    assert_true(e->n_levels * e->n_ladders <= 64);
    for (uint64_t i = first; i < first + n; ++i) {
        for (uint32_t t = 0; t < e->n_levels; ++t) {
            for (uint32_t r = 0; r < e->n_ladders; ++r) {
                const uint32_t lane = gbsi_exchange_lane(e, r, t);
                density[lane] = SLOPE * draw_at(e->beta[t], uniform(lane, i));
            }
        }
        gbsi_exchange_step(e, 3, i, density, ignore_swap, n_swaps);
    }
}

/* Tests levels of equal rejection, and the rate of round trips of exact draws, 1 / (2 + 2 sum r /
 * (1 - r)) in the paper: within 5 %, which is about six standard errors. */
static void ladder(void **unused)
{
    (void)unused;
    gbsi_exchange *e = NULL;
    gbsi_exchange *next = NULL;
    uint64_t n_swaps = 0;
    const uint64_t n = 20000;
    assert_int_equal(gbsi_exchange_new(8, 2, &e, NULL), GBS_OK);
    assert_int_equal(gbsi_exchange_lane(e, 1, 7), 1); /* cold lanes come first */
    for (int round = 0; round < 4; ++round) {
        run_ladders(e, (uint64_t)round * 2000, 2000, &n_swaps);
        assert_int_equal(gbsi_exchange_remade(e, 0, 8, 2, &next, NULL), GBS_OK);
        gbsi_exchange_free(e);
        e = next;
        assert_true(e->beta[0] == 0.0 && e->beta[7] == 1.0);
    }
    run_ladders(e, 10000, n, &n_swaps);
    const double barrier = gbsi_exchange_barrier(e, 0, 7);
    double sum = 0.0;
    for (uint32_t t = 0; t < 7; ++t) {
        const double rate = gbsi_exchange_rate(e, t);
        assert_within(rate, barrier / 7.0, 0.02);
        sum += rate / (1.0 - rate);
    }
    const double expected = (double)n / (2.0 + 2.0 * sum);
    assert_within((double)e->n_trips[0] / expected, 1.0, 0.05);
    assert_within((double)e->n_trips[1] / expected, 1.0, 0.05);
    assert_int_equal(gbsi_exchange_remade(e, 3, 4, 4, &next, NULL), GBS_OK);
    assert_within(next->beta[0], e->beta[3], 1e-12);
    assert_true(next->beta[3] == 1.0);
    gbsi_exchange_free(next);
    assert_int_equal(gbsi_exchange_remade(e, 3.5, 4, 4, &next, NULL), GBS_OK);
    assert_within(next->beta[0], 0.5 * (e->beta[3] + e->beta[4]), 1e-12);
    assert_within(gbsi_exchange_barrier_from(e, 3.5),
                  0.5 * (gbsi_exchange_barrier(e, 3, 7) + gbsi_exchange_barrier(e, 4, 7)), 1e-12);
    gbsi_exchange_free(next);
    gbsi_exchange_free(e);
    assert_true(n_swaps > 0);
}

/* Tests that swaps do not change the law of a level, by means at the cold level of states that only
 * swaps move. Three of a thousand such tests would fail by chance. */
static void swaps_keep_laws(void **unused)
{
    (void)unused;
    gbsi_exchange *e = NULL;
    double sum = 0.0;
    uint64_t n_swaps = 0;
    const uint64_t n = 40000;
    assert_int_equal(gbsi_exchange_new(2, 1, &e, NULL), GBS_OK);
    for (uint64_t i = 0; i < n; ++i) {
        double density[2] = {SLOPE * draw_at(1.0, uniform(0, i)),
                             SLOPE * draw_at(0.0, uniform(1, i))};
        gbsi_exchange_step(e, 5, 2 * i, density, ignore_swap, &n_swaps);
        sum += density[0];
    }
    /* E[U] = 20 / (1 - exp(-20)) - 1 and its standard deviation is 1. */
    assert_within(sum / (double)n, SLOPE / (1.0 - gbsi_exp(-SLOPE)) - 1.0, 3.0 / sqrt((double)n));
    assert_true(n_swaps > 0);
    gbsi_exchange_free(e);
}

/* ---- ratio of partition functions ------------------------------------------------------------ */

static void bar(void **unused)
{
    (void)unused;
    enum { N = 20000 };
    double *u0 = gbsi_alloc_array(N, sizeof *u0);
    double *u1 = gbsi_alloc_array(N, sizeof *u1);
    for (uint64_t i = 0; i < N; ++i) {
        u0[i] = 0.25 * SLOPE * draw_at(0.0, uniform(2, i));
        u1[i] = 0.25 * SLOPE * draw_at(0.25, uniform(3, i));
    }
    /* ln of the integral of exp(5 x) over [0, 1); the error has a standard deviation below 0.01. */
    const double exact = gbsi_log((gbsi_exp(5.0) - 1.0) / 5.0);
    assert_within(gbsi_bar(u0, N, u1, N), exact, 0.03);
    assert_within(gbsi_bar(u0, N, u1, N / 4), exact, 0.04);
    assert_within(gbsi_bar(u1, 1, u1, 1), u1[0], 1e-9);
    GBSI_FREE(u0, u1);
}

/* Ladders of exact draws: ln of the integral of exp(20 x) over [0, 1), where only cold states below
 * 0.9 are valid. The deviations must agree with the claimed error. Five standard errors are
 * exceeded by chance in 1 of 10^5 tests. */
static void ratios(void **unused)
{
    (void)unused;
    enum { ITERATIONS = 4096 };
    gbsi_exchange *e = NULL;
    gbsi_ratios *r = NULL;
    gbsi_means *m = NULL;
    const uint64_t counted[3] = {1, 1, 1};
    const uint64_t trips[3] = {0, 0, 0};
    double density[18];
    assert_int_equal(gbsi_exchange_new(6, 3, &e, NULL), GBS_OK);
    assert_int_equal(gbsi_ratios_new(e, &r, NULL), GBS_OK);
    assert_int_equal(gbsi_means_new(3, gbsi_ratios_cells(e), &m, NULL), GBS_OK);
    for (uint64_t i = 0; i < 100 + ITERATIONS; ++i) {
        for (uint32_t lane = 0; lane < 18; ++lane) {
            density[lane] = SLOPE * draw_at(e->beta[5 - lane / 3], uniform(40 + lane, i));
        }
        if (i < 100) {
            gbsi_ratios_learn(r, density);
            continue;
        }
        if (i == 100) {
            assert_int_equal(gbsi_ratios_fix(r, e, NULL), GBS_OK);
        }
        for (uint32_t ladder = 0; ladder < 3; ++ladder) {
            gbsi_ratios_add(r, e, ladder, density, density[ladder] < 0.9 * SLOPE, m);
        }
        gbsi_means_end(m, counted, trips);
    }
    const gbsi_log_ratio total = gbsi_ratios_total(r, m);
    const double exact = gbsi_log((gbsi_exp(0.9 * SLOPE) - 1.0) / SLOPE);
    assert_true(total.error > 0.005 && total.error < 0.05);
    assert_within(total.value, exact, 5.0 * total.error);
    gbsi_ratios_free(r);
    gbsi_means_free(m);
    gbsi_exchange_free(e);
}

/* ---- means ----------------------------------------------------------------------------------- */

static void feed(gbsi_means *m, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; ++i) {
        uint64_t counted[2];
        uint64_t trips[2];
        for (uint32_t r = 0; r < 2; ++r) {
            counted[r] = uniform(10 + r, i) < 0.75;
            trips[r] = i % 10 == 0;
            if (counted[r] != 0) {
                const bool one = uniform(20 + r, i) < 0.3;
                gbsi_means_row(m, r)[one] += GBSI_MEANS_ONE;
                gbsi_means_row(m, r)[2] += GBSI_MEANS_ONE / 4;
            }
        }
        gbsi_means_end(m, counted, trips);
    }
}

/* Independent draws: the error is that of a binomial, and dropped batches have no effect. */
static void means(void **unused)
{
    (void)unused;
    gbsi_means *m = NULL;
    gbsi_means *fresh = NULL;
    assert_int_equal(gbsi_means_new(2, 3, &m, NULL), GBS_OK);
    assert_int_equal(gbsi_means_new(2, 3, &fresh, NULL), GBS_OK);
    assert_true(isnan(gbsi_means_cell(m, 0).mcse));
    feed(m, 0, 12 * 512);
    assert_true(gbsi_means_may_drop(m));
    assert_int_equal(gbsi_means_drop(m), 4 * 512);
    feed(m, 12 * 512, 1000);
    feed(fresh, 4 * 512, 8 * 512 + 1000);
    assert_int_equal(m->n, fresh->n);
    for (size_t c = 0; c < 3; ++c) {
        const gbsi_mean a = gbsi_means_cell(m, c);
        const gbsi_mean b = gbsi_means_cell(fresh, c);
        assert_true(a.p == b.p && a.mcse == b.mcse);
    }
    const gbsi_mean one = gbsi_means_cell(m, 1);
    const double n_draws = 0.75 * 2.0 * (8 * 512 + 1000);
    const double error = sqrt(0.3 * 0.7 / n_draws);
    assert_within(one.p, 0.3, 4.0 * error);
    assert_true(one.mcse > 0.4 * error && one.mcse < 3.0 * error);
    assert_true(one.rhat >= 1.0 && one.rhat < 1.01);
    assert_within(gbsi_means_cell(m, 2).p, 0.25, 1e-12);
    assert_true(gbsi_means_cell(m, 2).mcse == 0.0);
    assert_within(gbsi_means_share(m), 0.75, 0.02);
    assert_int_equal(gbsi_means_least_trips(m), gbsi_means_least_trips(fresh));
    gbsi_means_free(m);
    gbsi_means_free(fresh);
}

/* ---- overlap --------------------------------------------------------------------------------- */

/* Variable 0 is drawn independently at every level. Variable 1 moves with probability 0.1 at levels
 * colder than level 2. Variable 2 is nearly constant and must not count. */
static void overlap(void **unused)
{
    (void)unused;
    gbsi_exchange *e = NULL;
    gbsi_overlap *o = NULL;
    assert_int_equal(gbsi_exchange_new(6, 2, &e, NULL), GBS_OK);
    assert_int_equal(gbsi_overlap_new(3, 6, &o, NULL), GBS_OK);
    uint32_t x[3][12] = {{0}};
    uint32_t before[12];
    for (uint64_t i = 0; i < 2000; ++i) {
        for (uint32_t v = 0; v < 3; ++v) {
            for (uint32_t lane = 0; lane < 12; ++lane) {
                const double u = uniform(100 + 12 * v + lane, i);
                const bool slow = v == 1 && lane < 2 * (5 - 2) && u >= 0.1;
                before[lane] = x[v][lane];
                x[v][lane] = slow ? x[v][lane] : v == 2 ? u < 0.01 : uniform(200 + lane, i) < 0.5;
            }
            gbsi_overlap_add(o, e, v, before, x[v]);
        }
    }
    assert_within(gbsi_overlap_hot_end(o, 0.45), 2.5, 0.1); /* memory is 0.9 from level 3 on */
    assert_within(gbsi_overlap_hot_end(o, 0.8), 2.89, 0.1);
    assert_true(gbsi_overlap_hot_end(o, 0.99) == 5.0);
    gbsi_overlap_free(o);
    gbsi_exchange_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ladder), cmocka_unit_test(swaps_keep_laws), cmocka_unit_test(bar),
        cmocka_unit_test(ratios), cmocka_unit_test(means),           cmocka_unit_test(overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
