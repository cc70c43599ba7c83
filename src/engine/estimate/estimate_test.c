/* SPDX-License-Identifier: Apache-2.0 */
/* Tests overflows, extreme arities, constant slots, the worst values, and memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "estimate/estimate_feed.h"
#include "estimate/estimate_internal.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static gbsi_estimate *new_estimate(const gbsi_estimate_shape *shape, gbsi_simd level)
{
    gbsi_estimate *e = NULL;
    gbs_error err = {0};
    assert_int_equal(gbsi_estimate_new(shape, level, &e, &err), GBS_OK);
    return e;
}

/* ---- flushing ---- */

static float always_1(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                      uint64_t pass)
{
    (void)context;
    (void)chain;
    (void)slot;
    (void)pass;
    return state == 1 ? 1 : 0;
}

/* Checks that all numbers of batches and halves follow from the number of passes. */
static void check_start(const gbsi_estimate *e)
{
    gbsi_estimate again = *e;
    memset(&again.batches.length, 0xAA, sizeof again.batches.length);
    again.batches.open_used = !e->batches.open_used;
    gbsi_estimate_start(&again, e->n_passes);
    const gbsi_batches *a = &again.batches;
    const gbsi_batches *b = &e->batches;
    assert_true(a->length == b->length && a->start == b->start && a->block_end == b->block_end);
    assert_true(a->n_closed == b->n_closed && a->open_used == b->open_used);
    assert_true(a->has_rate == b->has_rate);
    assert_true(again.half[0].pass == e->half[0].pass && again.half[1].pass == e->half[1].pass);
}

/* Adds ones until batches have 512 passes, so that an overflow of a count or a lost flush shows at
 * once. */
static void flush_boundaries(void **unused)
{
    (void)unused;
    static const uint32_t arity[] = {2, 3, 2, 17, 2};
    const gbs_estimator_kind kinds[] = {GBS_ESTIMATOR_COUNT, GBS_ESTIMATOR_RAO_BLACKWELL};
    for (int i = 0; i < 4; i++) {
        gbsi_estimate_shape shape = shape_of(16, i % 2 == 0 ? 16 : 1, kinds[i / 2]);
        shape.n_slots = 5;
        shape.arity = arity;
        feed f = {.shape = &shape, .value = always_1};
        f.estimate = new_estimate(&shape, gbsi_simd_force(GBSI_SIMD_AVX512));
        for (uint64_t pass = 0; pass < 10000; pass++) {
            static const uint32_t slot[] = {0, 1, 2, 3, 4};
            if (shape.kind == GBS_ESTIMATOR_COUNT) {
                feed_states(&f, pass);
            } else {
                feed_slots(&f, slot, 5, pass);
            }
            const uint64_t n = pass + 1;
            check_start(f.estimate);
            if (n > 600 && n % 128 > 1 && n % 128 < 127) {
                continue;
            }
            for (size_t cell = 0; cell < 3 + 3 + 17; cell++) {
                const bool one = cell == 0 || cell == 2 || cell == 4 || cell == 6 || cell == 22;
                const double total = shape.lanes == 16
                                         ? gbsi_estimate_chain_total(f.estimate, 0, cell, 15)
                                         : gbsi_estimate_chain_total(f.estimate, 15, cell, 0);
                assert_true(total == (one ? (double)n : 0));
            }
        }
        gbsi_estimate_free(f.estimate);
    }
}

/* ---- large arities ---- */

static float first_and_last(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                            uint64_t pass)
{
    const uint32_t *arity = context;
    const uint32_t here = (pass + chain) % 4 == 0 ? 0 : arity[slot] - 1;
    return state == here ? 1 : 0;
}

static void large_arities(void **unused)
{
    (void)unused;
    static const uint32_t arity[] = {300, 65535, 1, 2};
    static const uint32_t slots[] = {0, 1, 2, 3};
    static double p[65535];
    static double rhat[65535];
    for (int i = 0; i < 4; i++) {
        gbsi_estimate_shape shape = {.n_slots = 4,
                                     .arity = arity,
                                     .n_chains = 3,
                                     .lanes = i & 1 ? 1 : 16,
                                     .n_groups = i & 1 ? 3 : 1,
                                     .value_bytes = 2,
                                     .kind =
                                         i & 2 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL,
                                     .each_once = true};
        feed f = {.shape = &shape, .value = first_and_last, .context = arity};
        f.estimate = new_estimate(&shape, GBSI_SIMD_PORTABLE);
        for (uint64_t pass = 0; pass < 4; pass++) {
            if (i & 2) {
                feed_states(&f, pass);
            } else {
                feed_slots(&f, slots, 4, pass);
            }
        }
        for (uint32_t slot = 0; slot < 4; slot++) {
            gbsi_estimate_slot(f.estimate, slot, p, NULL, NULL, rhat);
            const uint32_t k = arity[slot];
            assert_true(p[0] == (k == 1 ? 1 : 0.25) && p[k - 1] == (k == 1 ? 1 : 0.75));
            for (uint32_t a = 1; a + 1 < k; a++) {
                assert_true(p[a] == 0 && isnan(rhat[a]));
            }
        }
        gbsi_estimate_free(f.estimate);
    }
}

/* ---- constant slots ---- */

/* Slot 0 is always 1. Slot 1 is frozen, at 1 in chain 0 only. Slot 2 has states 0 and 2 of 3. Slot
 * 3 moves. Slot 4 is always in state 2 of 3. */
static float stuck(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                   uint64_t pass)
{
    (void)context;
    const uint32_t coin = (uint32_t)(feed_word(3, chain, slot, pass) & 1);
    const uint32_t at[] = {1, chain == 0, 2 * coin, coin, 2};
    return state == at[slot] ? 1 : 0;
}

static void stuck_and_unvisited(void **unused)
{
    (void)unused;
    static const uint32_t arity[] = {2, 2, 3, 2, 3, 2};
    static const uint32_t slots[] = {0, 1, 2, 3, 4}; /* slot 5 is never updated */
    for (int i = 0; i < 4; i++) {
        const uint32_t n_chains = i & 1 ? 16 : 2;
        gbsi_estimate_shape shape = {.n_slots = 6,
                                     .arity = arity,
                                     .n_chains = n_chains,
                                     .lanes = i & 2 ? 16 : 1,
                                     .n_groups = i & 2 ? 1 : n_chains,
                                     .value_bytes = 1,
                                     .kind = GBS_ESTIMATOR_RAO_BLACKWELL};
        feed f = {.shape = &shape, .value = stuck};
        f.estimate = new_estimate(&shape, GBSI_SIMD_PORTABLE);
        gbsi_estimate_worst worst;
        assert_int_equal(gbsi_estimate_find_worst(f.estimate, NULL, &worst, NULL), GBS_OK);
        assert_true(isnan(worst.max_mcse) && isnan(worst.max_rhat) && isnan(worst.min_ess));
        assert_true(worst.n_unvisited == 6 && worst.n_constant == 0);
        for (uint64_t pass = 0; pass < 300; pass++) {
            feed_slots(&f, slots, 5, pass);
            if (pass == 10) { /* too early for errors */
                assert_int_equal(gbsi_estimate_find_worst(f.estimate, NULL, &worst, NULL), GBS_OK);
                assert_true(isnan(worst.max_mcse) && isnan(worst.min_ess));
                assert_true(gbsi_estimate_df(f.estimate) == 0);
            }
        }
        double p[3];
        double mcse[3];
        double ess[3];
        double rhat[3];
        gbsi_estimate_slot(f.estimate, 0, p, mcse, ess, rhat);
        assert_true(p[0] == 0 && p[1] == 1 && isnan(mcse[0]) && isnan(mcse[1]));
        assert_true(isnan(ess[1]) && isnan(rhat[1]));
        gbsi_estimate_slot(f.estimate, 1, p, mcse, ess, rhat);
        assert_true(p[1] == 1.0 / n_chains && mcse[1] > 0 && mcse[0] == mcse[1]);
        assert_true(isinf(rhat[0]) && isinf(rhat[1]));
        gbsi_estimate_slot(f.estimate, 2, p, mcse, ess, rhat);
        /* the state was not visited yet, but may be possible */
        assert_true(p[1] == 0 && isnan(ess[1]) && isnan(rhat[1]));
        assert_true(mcse[1] == gbsi_rare_error(0, 300.0 * n_chains) && mcse[1] > 0.1 / 4800);
        assert_true(p[0] + p[2] == 1 && mcse[0] > 0 && ess[0] > 0 && rhat[0] < 1.2);
        gbsi_estimate_slot(f.estimate, 4, p, mcse, ess, rhat);
        assert_true(p[2] == 1 && isnan(mcse[0]) && isnan(mcse[2]));
        gbsi_estimate_slot(f.estimate, 5, p, mcse, ess, rhat);
        assert_true(isnan(p[0]) && isnan(p[1]) && isnan(mcse[0]) && isnan(rhat[0]));
        assert_int_equal(gbsi_estimate_find_worst(f.estimate, NULL, &worst, NULL), GBS_OK);
        assert_true(worst.n_constant == 2 && worst.n_unvisited == 1 && isinf(worst.max_rhat));
        assert_true(worst.max_mcse > 0 && worst.min_ess > 0);
        gbsi_estimate_free(f.estimate);
    }
}

/* One conditional at every pass and in every chain, so that there is no effective number of draws.
 * Slot 3 varies. */
static float constant(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                      uint64_t pass)
{
    (void)context;
    const float p[] = {0.3F, 1 - 0x1p-20F, 0x1p-30F,
                       0.4F + 0.2F * (float)(feed_word(3, chain, slot, pass) & 1)};
    return state == 1 ? p[slot] : 1 - p[slot];
}

static void conditionals_that_never_vary(void **unused)
{
    (void)unused;
    static const uint32_t arity[] = {2, 2, 2, 2};
    static const uint32_t slots[] = {0, 1, 2, 3};
    for (uint32_t n_chains = 1; n_chains <= 16; n_chains += 15) {
        const gbsi_estimate_shape shape = {.n_slots = 4,
                                           .arity = arity,
                                           .n_chains = n_chains,
                                           .lanes = n_chains,
                                           .n_groups = 1,
                                           .value_bytes = 1,
                                           .kind = GBS_ESTIMATOR_RAO_BLACKWELL,
                                           .each_once = true};
        feed f = {.shape = &shape, .value = constant};
        gbsi_estimate_worst worst;
        double ess[2];
        f.estimate = new_estimate(&shape, GBSI_SIMD_PORTABLE);
        for (uint64_t pass = 0; pass < 3000; ++pass) {
            feed_slots(&f, slots, 4, pass);
        }
        for (uint32_t slot = 0; slot < 4; ++slot) {
            double p[2];
            double mcse[2];
            gbsi_estimate_slot(f.estimate, slot, p, mcse, ess, NULL);
            assert_true(slot == 3 ? ess[0] > 1000 && ess[0] == ess[1]
                                  : isnan(ess[0]) && isnan(ess[1]));
            /* rounding of float sums exceeds the deviations of batches, which are all equal */
            assert_true(slot == 3 || fabs(p[1] - (double)constant(NULL, 0, slot, 1, 0)) <= mcse[1]);
        }
        assert_int_equal(gbsi_estimate_find_worst(f.estimate, NULL, &worst, NULL), GBS_OK);
        assert_true(worst.min_ess > 1000 && worst.min_ess < 1e7);
        gbsi_estimate_free(f.estimate);
    }
}

/* ---- the worst ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static float uneven(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                    uint64_t pass)
{
    const uint32_t n_frozen = *(const uint32_t *)context;
    const double p = feed_uniform(5, slot, 0, 0);
    const bool one = slot >= n_frozen && feed_uniform(6, chain, slot, pass) < p;
    return (state == 1) == one ? 1 : 0;
}

/* Above 10^5 moving cells one in 10^4 is ignored; constant cells do not count. */
static void check_worst(uint32_t n_slots, uint32_t n_frozen, size_t let_off)
{
    uint32_t *arity = malloc(sizeof *arity * n_slots);
    double *error = malloc(sizeof *error * n_slots);
    assert_true(arity != NULL && error != NULL);
    for (uint32_t i = 0; i < n_slots; i++) {
        arity[i] = 2;
    }
    gbsi_estimate_shape shape = {.n_slots = n_slots,
                                 .arity = arity,
                                 .n_chains = 1,
                                 .lanes = 1,
                                 .n_groups = 1,
                                 .value_bytes = 1,
                                 .kind = GBS_ESTIMATOR_COUNT,
                                 .each_once = true};
    feed f = {.shape = &shape, .value = uneven, .context = &n_frozen};
    f.estimate = new_estimate(&shape, gbsi_simd_force(GBSI_SIMD_AVX512));
    for (uint64_t pass = 0; pass < 256; pass++) {
        feed_states(&f, pass);
        check_start(f.estimate);
    }
    size_t n = 0;
    double max_rhat = 0;
    double min_ess = INFINITY;
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        double mcse[2];
        double ess[2];
        double rhat[2];
        gbsi_estimate_slot(f.estimate, slot, NULL, mcse, ess, rhat);
        if (!isnan(mcse[1])) {
            error[n++] = mcse[1];
            max_rhat = rhat[1] > max_rhat ? rhat[1] : max_rhat;
            min_ess = ess[1] < min_ess ? ess[1] : min_ess;
        }
    }
    qsort(error, n, sizeof *error, by_value);
    gbsi_estimate_worst worst;
    assert_int_equal(gbsi_estimate_find_worst(f.estimate, NULL, &worst, NULL), GBS_OK);
    assert_true(worst.n_constant == n_slots - n && worst.n_constant >= n_frozen);
    assert_true(worst.max_mcse == error[n - 1 - let_off]);
    assert_true(worst.max_rhat == max_rhat && worst.min_ess == min_ess);
    gbsi_estimate_free(f.estimate);
    free(error);
    free(arity);
}

static void the_worst(void **unused)
{
    (void)unused;
    check_worst(1000, 10, 0);
    check_worst(130000, 9000, 12);
    if (test_scale_asked() != TEST_SMALL) {
        check_worst(101000, 96000, 0);
    }
}

/* ---- memory ---- */

#if defined(__GLIBC__)
static size_t really_taken(gbsi_estimate *e)
{
    void *const all[] = {e,
                         e->cell_start.narrow,
                         e->cell_start.wide,
                         e->run,
                         e->fast_sum,
                         e->fast_count,
                         e->open,
                         e->total,
                         e->early,
                         e->updates,
                         e->in_cut,
                         e->batches.start_total,
                         e->batches.updates_start,
                         e->batches.square,
                         e->batches.cross,
                         e->batches.rate,
                         e->batches.updates_open,
                         e->batches.n_sum,
                         e->batches.n_square,
                         e->half[0].total,
                         e->half[1].total,
                         e->half[0].updates,
                         e->half[1].updates};
    size_t sum = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sum += malloc_usable_size(all[i]);
    }
    return sum;
}
#endif

static void bytes_are_exact(void **unused)
{
    (void)unused;
    for (int i = 0; i < 16; i++) {
        const uint32_t lanes = i & 1 ? 1 : 16;
        gbsi_estimate_shape shape = shape_of(
            i & 2 ? 3 : 33, lanes, i & 4 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL);
        shape.each_once = i & 8;
        size_t bytes = 0;
        assert_int_equal(gbsi_estimate_bytes(&shape, &bytes, NULL), GBS_OK);
        gbsi_estimate *e = new_estimate(&shape, GBSI_SIMD_PORTABLE);
        assert_true(e->bytes == bytes);
#if defined(__GLIBC__)
        /* malloc adds to a block at most 24 bytes, or the rest of a page */
        const size_t taken = really_taken(e);
        assert_true(taken >= bytes && taken <= bytes + 20 * 4096);
#endif
        gbsi_estimate_free(e);
    }
}

static void bytes_overflow(void **unused)
{
    (void)unused;
    enum { N = 1 << 17 };
    static uint32_t arity[N];
    for (size_t i = 0; i < N; i++) {
        arity[i] = 65535;
    }
    gbsi_estimate_shape shape = {.n_slots = N,
                                 .arity = arity,
                                 .n_chains = UINT32_MAX,
                                 .lanes = 1,
                                 .n_groups = UINT32_MAX,
                                 .value_bytes = 2,
                                 .kind = GBS_ESTIMATOR_COUNT,
                                 .each_once = true};
    size_t bytes = 12345;
    gbs_error err = {0};
    assert_int_equal(gbsi_estimate_bytes(&shape, &bytes, &err), GBS_ERR_LIMIT);
    gbsi_estimate *e = NULL;
    assert_int_equal(gbsi_estimate_new(&shape, GBSI_SIMD_PORTABLE, &e, &err), GBS_ERR_LIMIT);
    assert_true(bytes == 12345 && e == NULL && err.message[0] != 0);
}

static void failing_allocations(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        gbsi_estimate_shape shape =
            shape_of(3, i & 1 ? 1 : 16, i & 2 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL);
        shape.each_once = false;
        uint64_t n = 0;
        for (gbs_status status = GBS_ERR_MEMORY; status != GBS_OK; n++) {
            gbsi_estimate *e = NULL;
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            status = gbsi_estimate_new(&shape, GBSI_SIMD_PORTABLE, &e, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == (e == NULL ? GBS_ERR_MEMORY : GBS_OK) && n < 50);
            assert_true((e == NULL) == (err.message[0] != 0));
            gbsi_estimate_free(e);
        }
        assert_true(n > 10);
    }
    gbsi_estimate_shape shape = shape_of(3, 1, GBS_ESTIMATOR_COUNT);
    gbsi_estimate *e = new_estimate(&shape, GBSI_SIMD_PORTABLE);
    gbsi_estimate_worst worst = {.n_constant = 99};
    gbsi_alloc_fail_after(0);
    const gbs_status status = gbsi_estimate_find_worst(e, NULL, &worst, NULL);
    gbsi_alloc_fail_after(UINT64_MAX);
    assert_true(status == GBS_ERR_MEMORY && worst.n_constant == 99);
    gbsi_estimate_free(e);
    gbsi_estimate_free(NULL);
}

static void nothing_to_estimate(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        gbsi_estimate_shape shape =
            shape_of(3, i & 1 ? 1 : 16, i & 2 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL);
        shape.n_slots = 0;
        shape.arity = NULL;
        shape.each_once = false;
        size_t bytes = 0;
        assert_int_equal(gbsi_estimate_bytes(&shape, &bytes, NULL), GBS_OK);
        gbsi_estimate *e = new_estimate(&shape, GBSI_SIMD_PORTABLE);
        const gbsi_tile tile = {
            .lanes = (uint8_t)shape.lanes, .arity = 2, .odds = 1, .p = (float[16]){0}};
        for (int pass = 0; pass < 1000; pass++) {
            gbsi_estimate_tile(e, 0, &tile);
            gbsi_estimate_state(e, 0, "", 0, 0);
            gbsi_estimate_end_pass(e, NULL);
        }
        gbsi_estimate_worst worst;
        assert_int_equal(gbsi_estimate_find_worst(e, NULL, &worst, NULL), GBS_OK);
        assert_true(isnan(worst.max_mcse) && worst.n_constant == 0 && worst.n_unvisited == 0);
        gbsi_estimate_free(e);
    }
}

/* Jeffreys estimate for a state that n draws missed, had a few times, or always had. */
static void rare_states(void **unused)
{
    (void)unused;
    assert_float_equal(gbsi_rare_error(0, 100), 0.00701854,
                       1e-7); /* sqrt(p (1 - p) / n), p = 1/202 */
    assert_true(gbsi_rare_error(100, 100) == gbsi_rare_error(0, 100));
    assert_true(gbsi_rare_error(1, 100) > gbsi_rare_error(0, 100));
    assert_true(gbsi_rare_error(30, 100) == 0 && gbsi_rare_error(71, 100) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flush_boundaries),    cmocka_unit_test(large_arities),
        cmocka_unit_test(stuck_and_unvisited), cmocka_unit_test(conditionals_that_never_vary),
        cmocka_unit_test(the_worst),           cmocka_unit_test(bytes_are_exact),
        cmocka_unit_test(bytes_overflow),      cmocka_unit_test(failing_allocations),
        cmocka_unit_test(nothing_to_estimate), cmocka_unit_test(rare_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
