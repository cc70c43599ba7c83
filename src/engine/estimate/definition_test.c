/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sums, errors and R-hat against their definitions, computed from a full record of the input;
 * all instruction sets and lane shapes must give equal bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/estimate_feed.h"
#include "estimate/estimate_internal.h"
#include "simd/math.h"

static gbsi_estimate *new_estimate(const gbsi_estimate_shape *shape, gbsi_simd level)
{
    gbsi_estimate *e = NULL;
    gbs_error err = {0};
    assert_int_equal(gbsi_estimate_new(shape, level, &e, &err), GBS_OK);
    return e;
}

/* ---- input ---- */

/* Multiples of 2^-6 with sum 1, whose float sums are exact. */
static float dyadic(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                    uint64_t pass)
{
    (void)context;
    const uint32_t arity = arity_of[slot];
    const uint32_t other = (uint32_t)(feed_word(7, chain * 1000u + slot, pass, 0) % arity);
    const uint32_t mine = (uint32_t)(feed_word(8, chain * 1000u + slot, pass, 0) % arity);
    const float part = (float)(feed_word(9, chain * 1000u + slot, pass, 0) % 65) / 64;
    return (state == mine ? part : 0) + (state == other ? 1 - part : 0);
}

static float visits(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                    uint64_t pass)
{
    (void)context;
    const uint64_t word = feed_word(11, chain * 1000u + slot, pass, 0);
    return state == word % arity_of[slot] ? 1 : 0;
}

static float rough(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                   uint64_t pass)
{
    (void)context;
    return (float)feed_uniform(13, chain * 1000u + slot, pass, state);
}

/* The slots of a pass: all in order, or with `thin` about two thirds of them, some twice. */
static size_t schedule(uint32_t *slot, uint32_t n_slots, bool thin, uint64_t pass)
{
    size_t n = 0;
    for (uint32_t i = 0; i < n_slots; i++) {
        const uint64_t draw = thin ? feed_word(17, i, pass, 0) % 3 : 1;
        for (uint64_t times = 0; times < draw && i != 50; times++) {
            slot[n++] = i;
        }
        if (!thin && i == 50) {
            slot[n++] = i;
        }
    }
    return n;
}

static void feed_pass(const feed *f, bool thin, uint64_t pass)
{
    static uint32_t slot[2 * N_SLOTS];
    if (f->shape->kind == GBS_ESTIMATOR_COUNT) {
        feed_states(f, pass);
    } else {
        feed_slots(f, slot, schedule(slot, f->shape->n_slots, thin, pass), pass);
    }
}

/* ---- the definitions ---- */

typedef struct record {
    uint64_t n; /* number of passes */
    uint32_t n_chains;
    const double *sum;   /* [pass][chain] amount that the pass added */
    const double *count; /* [pass] number of updates */
} record;

static double add_up(const record *r, uint32_t chain, uint64_t from, uint64_t to)
{
    double sum = 0;
    for (uint64_t t = from; t < to; t++) {
        sum += r->sum[t * r->n_chains + chain];
    }
    return sum;
}

static double count_up(const record *r, uint64_t from, uint64_t to)
{
    double sum = 0;
    for (uint64_t t = from; t < to; t++) {
        sum += r->count[t];
    }
    return sum;
}

/* Batches from which errors are claimed after n passes. @return number of batches per chain. */
static uint64_t claimed(uint32_t n_chains, uint64_t n, uint64_t *from, uint64_t *length)
{
    const uint64_t full =
        n_chains >= 5 ? (n_chains >= 8 ? 16 : 32) : (uint64_t[]){0, 128, 64, 64, 32}[n_chains];
    uint64_t begin = 0;
    uint64_t end = 4 * full;
    *length = 4;
    while (end <= n) {
        begin = end;
        end *= 2;
    }
    *length = begin == 0 ? 4 : begin / full;
    *from = begin;
    if ((n - begin) / *length >= full / 2) {
        return (n - begin) / *length;
    }
    if (begin == 0) {
        return 0;
    }
    *from = begin == 4 * full ? 0 : begin / 2;
    *length = (begin - *from) / full;
    return full;
}

static double define_mcse(const record *r)
{
    uint64_t from = 0;
    uint64_t length = 0;
    const uint64_t n_batches = claimed(r->n_chains, r->n, &from, &length);
    const double n_all = (double)n_batches * r->n_chains;
    const uint64_t to = from + n_batches * length;
    if (n_batches == 0 || count_up(r, from, to) == 0) {
        return NAN;
    }
    double ratio = 0;
    for (uint32_t c = 0; c < r->n_chains; c++) {
        ratio += add_up(r, c, from, to) / (count_up(r, from, to) * r->n_chains);
    }
    double squares = 0;
    for (uint32_t c = 0; c < r->n_chains; c++) {
        for (uint64_t t = from; t < to; t += length) {
            const double d = add_up(r, c, t, t + length) - ratio * count_up(r, t, t + length);
            squares += d * d;
        }
    }
    const double v = squares / (n_all - 1);
    const double updates = count_up(r, 0, r->n) * r->n_chains;
    return gbsi_sqrt(v * ((double)r->n * r->n_chains / (double)length)) / updates;
}

static double define_rhat(const record *r)
{
    uint64_t power = 1;
    while (power * 2 <= r->n) {
        power *= 2;
    }
    /* among the last two powers of two, the split whose halves have the most similar lengths (the
     * earlier one of two equal splits) */
    uint64_t split = power / 2;
    if (llabs((long long)(2 * power) - (long long)r->n) <
            llabs((long long)power - (long long)r->n) &&
        power < r->n) {
        split = power;
    }
    const bool halves = r->n_chains < 4;
    const uint64_t cut[] = {0, halves ? split : r->n, r->n};
    double mean[64];
    int n = 0;
    double w = 0;
    double inverse = 0;
    double centre = 0;
    for (uint32_t c = 0; c < r->n_chains; c++) {
        for (int side = 0; side < (halves ? 2 : 1); side++) {
            const double length = count_up(r, cut[side], cut[side + 1]);
            if (length == 0) {
                return NAN;
            }
            mean[n] = add_up(r, c, cut[side], cut[side + 1]) / length;
            w += mean[n] * (1 - mean[n]);
            inverse += 1 / length;
            centre += mean[n];
            n++;
        }
    }
    w /= n;
    centre /= n;
    double b = 0;
    for (int i = 0; i < n; i++) {
        b += (mean[i] - centre) * (mean[i] - centre) / (n - 1);
    }
    const double length = n / inverse;
    if (w == 0) {
        return b > 0 ? (double)INFINITY : (double)NAN;
    }
    return gbsi_sqrt(((length - 1) / length * w + b) / w);
}

static void assert_close(double a, double b, double tolerance)
{
    const bool same = isnan(b) ? isnan(a) : isinf(b) ? a == b : fabs(a - b) <= tolerance;
    if (!same) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

/* Makes the record of one state of one slot. */
static void fill_record(const feed *f, bool thin, uint32_t slot, uint32_t state, record *r,
                        double *sum, double *count)
{
    for (uint64_t t = 0; t < r->n; t++) {
        count[t] = 1;
        if (thin && f->shape->kind == GBS_ESTIMATOR_RAO_BLACKWELL) {
            count[t] = slot == 50 ? 0 : (double)(feed_word(17, slot, t, 0) % 3);
        }
        for (uint32_t c = 0; c < r->n_chains; c++) {
            sum[t * r->n_chains + c] = count[t] * (double)f->value(f->context, c, slot, state, t);
        }
    }
    r->sum = sum;
    r->count = count;
}

/* Lower bound of the error of counted rare states, from its definition in summary.c. */
static double define_floor(const feed *f, double visits, double n)
{
    const double rarer = fmin(visits, n - visits);
    if (f->shape->kind != GBS_ESTIMATOR_COUNT || rarer >= 30) {
        return 0;
    }
    const double p = (rarer + 0.5) / (n + 1);
    return sqrt(p * (1 - p) / n);
}

static void check_slot(const feed *f, bool thin, uint32_t slot)
{
    const gbsi_estimate *e = f->estimate;
    const uint64_t n = gbsi_estimate_n_passes(e);
    double p[20];
    double mcse[20];
    double ess[20];
    double rhat[20];
    gbsi_estimate_slot(e, slot, p, mcse, ess, rhat);
    double *sum = malloc(sizeof *sum * n * f->shape->n_chains);
    double *count = malloc(sizeof *count * n);
    assert_true(sum != NULL && count != NULL);
    for (uint32_t a = 0; a < arity_of[slot]; a++) {
        record r = {.n = n, .n_chains = f->shape->n_chains};
        fill_record(f, thin, slot, a, &r, sum, count);
        double total = 0;
        for (uint32_t c = 0; c < r.n_chains; c++) {
            total += add_up(&r, c, 0, n);
        }
        const double updates = count_up(&r, 0, n) * r.n_chains;
        const double expected = updates > 0 ? total / updates : (double)NAN;
        assert_close(p[a], expected, 1e-15);
        assert_close(rhat[a], define_rhat(&r), 1e-10);
        double error = arity_of[slot] == 1 ? (double)NAN : define_mcse(&r);
        error = error < define_floor(f, total, updates) ? define_floor(f, total, updates) : error;
        /* squares are rounded to float at the end of each batch, of which there are 128 */
        assert_close(mcse[a], error, 1e-9 + 0.5 * 128 * 0x1p-24 * error);
        /* smaller errors are rounding errors */
        if (mcse[a] > 0x1p-24 * p[a] && p[a] > 0 && p[a] < 1) {
            assert_close(ess[a] / (expected * (1 - expected) / (error * error)), 1, 128 * 0x1p-24);
        } else {
            assert_true(isnan(ess[a]));
        }
    }
    free(count);
    free(sum);
}

/* Runs to the last of the lengths, and checks some slots at each length. */
static void check_definitions(gbsi_estimate_shape shape, feed f, bool thin, const uint64_t *length,
                              size_t n_lengths)
{
    static const uint32_t watched[] = {0, 2, 50, 119, 120, 159, 199, 203, 204, 205, 208, 209, 269};
    shape.each_once = !thin;
    f.shape = &shape;
    f.estimate = new_estimate(&shape, gbsi_simd_force(GBSI_SIMD_AVX512));
    uint64_t pass = 0;
    for (size_t i = 0; i < n_lengths; i++) {
        while (pass < length[i]) {
            feed_pass(&f, thin, pass++);
        }
        assert_int_equal(gbsi_estimate_n_passes(f.estimate), pass);
        for (size_t w = 0; w < sizeof watched / sizeof *watched; w++) {
            if (watched[w] >= shape.n_slots) {
                break;
            }
            check_slot(&f, thin, watched[w]);
        }
    }
    gbsi_estimate_free(f.estimate);
}

static void sums_of_probabilities(void **unused)
{
    (void)unused;
    static const uint64_t length[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 95, 96, 127, 128, 160, 200};
    const size_t n = sizeof length / sizeof *length;
    const feed plain = {.value = dyadic};
    const feed wide = {.value = dyadic, .log_weights = true};
    const feed listed = {.value = dyadic, .never_stream = true};
    check_definitions(shape_of(21, 16, GBS_ESTIMATOR_RAO_BLACKWELL), plain, false, length, n);
    check_definitions(shape_of(16, 16, GBS_ESTIMATOR_RAO_BLACKWELL), wide, false, length, 7);
    check_definitions(shape_of(5, 1, GBS_ESTIMATOR_RAO_BLACKWELL), plain, false, length, n);
    check_definitions(shape_of(4, 1, GBS_ESTIMATOR_RAO_BLACKWELL), wide, false, length, 7);
    check_definitions(shape_of(2, 1, GBS_ESTIMATOR_RAO_BLACKWELL), listed, false, length, n);
    check_definitions(shape_of(8, 16, GBS_ESTIMATOR_RAO_BLACKWELL), listed, false, length, 7);
    check_definitions(shape_of(3, 16, GBS_ESTIMATOR_RAO_BLACKWELL), plain, false, length, 7);
}

/* One chain has long blocks. With more chains, batches soon exceed the passes of a flush: 512
 * passes from pass 8192 on. */
static void long_runs(void **unused)
{
    (void)unused;
    static const uint64_t one[] = {255, 256, 257, 511, 512, 513, 700, 1024, 1500};
    static const uint64_t many[] = {4096, 4225, 8192, 9000, 12288, 12600};
    const feed sums = {.value = dyadic};
    const feed counts = {.value = visits};
    check_definitions(shape_of(1, 1, GBS_ESTIMATOR_RAO_BLACKWELL), sums, false, one, 9);
    for (uint32_t lanes = 1; lanes <= 16; lanes += 15) {
        gbsi_estimate_shape few = shape_of(9, lanes, GBS_ESTIMATOR_RAO_BLACKWELL);
        few.n_slots = 3;
        check_definitions(few, sums, false, many, 6);
        check_definitions(few, sums, true, many, 6);
        few.kind = GBS_ESTIMATOR_COUNT;
        check_definitions(few, counts, false, many, 6);
    }
}

/* A state that nearly never occurs for 512 passes, and nearly always after them. The earlier mean
 * is then far from the true one, so that a float holds only six digits of the squared differences.
 */
static float jump(const void *context, uint32_t chain, uint32_t slot, uint32_t state, uint64_t pass)
{
    (void)context;
    const uint64_t word = feed_word(19, chain * 1000u + slot, pass, 0) % 64;
    const float one = (pass < 512 ? 0.0F : 63.0F / 64) + (float)word / 4096 / 64;
    return state == 1 ? one : 1 - one;
}

static void a_jump(void **unused)
{
    (void)unused;
    gbsi_estimate_shape shape = shape_of(1, 1, GBS_ESTIMATOR_RAO_BLACKWELL);
    shape.n_slots = 1;
    feed f = {.value = jump, .shape = &shape, .estimate = new_estimate(&shape, GBSI_SIMD_PORTABLE)};
    static double sum[1024];
    static double count[1024];
    for (uint64_t pass = 0; pass < 1024; pass++) {
        feed_pass(&f, false, pass);
    }
    double p[2];
    double mcse[2];
    record r = {.n = 1024, .n_chains = 1};
    gbsi_estimate_slot(f.estimate, 0, p, mcse, NULL, NULL);
    fill_record(&f, false, 0, 1, &r, sum, count);
    const double expected = define_mcse(&r);
    assert_true(expected > 0 && mcse[1] > 0.9 * expected && mcse[1] < 0.01);
    gbsi_estimate_free(f.estimate);
}

static void own_update_counts(void **unused)
{
    (void)unused;
    static const uint64_t length[] = {1, 2, 5, 32, 40, 64, 70, 100, 128, 300};
    const feed f = {.value = dyadic};
    check_definitions(shape_of(21, 16, GBS_ESTIMATOR_RAO_BLACKWELL), f, true, length, 10);
    check_definitions(shape_of(1, 1, GBS_ESTIMATOR_RAO_BLACKWELL), f, true, length, 10);
    check_definitions(shape_of(3, 16, GBS_ESTIMATOR_RAO_BLACKWELL), f, true, length, 8);
}

static void sums_of_visits(void **unused)
{
    (void)unused;
    static const uint64_t length[] = {1, 4, 32, 63, 64, 127, 128, 129, 255, 256, 257, 300, 513};
    const feed f = {.value = visits};
    gbsi_estimate_shape shape = shape_of(21, 16, GBS_ESTIMATOR_COUNT);
    check_definitions(shape, f, false, length, 13);
    check_definitions(shape_of(3, 1, GBS_ESTIMATOR_COUNT), f, false, length, 13);
    check_definitions(shape_of(2, 16, GBS_ESTIMATOR_COUNT), f, false, length, 5);
    shape.value_bytes = 2;
    check_definitions(shape, f, false, length, 5);
    /* the counting estimator counts every pass once, for any schedule */
    check_definitions(shape, f, true, length, 5);
}

/* ---- equal bits ---- */

static void run_rough(const gbsi_estimate_shape *shape, gbsi_simd level, bool thin, uint64_t n,
                      gbsi_estimate **out)
{
    feed f = {.shape = shape};
    f.value = shape->kind == GBS_ESTIMATOR_COUNT ? visits : rough;
    f.estimate = new_estimate(shape, level);
    for (uint64_t pass = 0; pass < n; pass++) {
        feed_pass(&f, thin, pass);
    }
    *out = f.estimate;
}

static void assert_same_bits(const gbsi_estimate *a, const gbsi_estimate *b)
{
    for (uint32_t slot = 0; slot < N_SLOTS; slot++) {
        double x[4][20] = {{0}};
        double y[4][20] = {{0}};
        gbsi_estimate_slot(a, slot, x[0], x[1], x[2], x[3]);
        gbsi_estimate_slot(b, slot, y[0], y[1], y[2], y[3]);
        assert_memory_equal(x, y, sizeof x);
    }
    gbsi_estimate_worst worst_a;
    gbsi_estimate_worst worst_b;
    assert_int_equal(gbsi_estimate_find_worst(a, NULL, &worst_a, NULL), GBS_OK);
    assert_int_equal(gbsi_estimate_find_worst(b, NULL, &worst_b, NULL), GBS_OK);
    assert_memory_equal(&worst_a, &worst_b, sizeof worst_a);
}

static void instruction_sets_agree(void **unused)
{
    (void)unused;
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    for (int i = 0; i < 8; i++) {
        gbsi_estimate_shape shape =
            shape_of(i & 1 ? 3 : 21, i & 1 ? 1 : 16,
                     i & 2 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL);
        shape.each_once = !(i & 4);
        gbsi_estimate *reference = NULL;
        run_rough(&shape, GBSI_SIMD_PORTABLE, i & 4, 150, &reference);
        for (int level = GBSI_SIMD_PORTABLE; level <= (int)best; level++) {
            if (!gbsi_simd_has((gbsi_simd)level)) {
                continue;
            }
            gbsi_estimate *e = NULL;
            run_rough(&shape, (gbsi_simd)level, i & 4, 150, &e);
            assert_same_bits(reference, e);
            gbsi_estimate_free(e);
        }
        gbsi_estimate_free(reference);
    }
}

static void lane_shapes_agree(void **unused)
{
    (void)unused;
    for (int i = 0; i < 6; i++) {
        const uint32_t n_chains = i < 4 ? 21 : 3;
        gbsi_estimate_shape wide =
            shape_of(n_chains, 16, i & 1 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL);
        wide.each_once = !(i & 2);
        gbsi_estimate_shape narrow = wide;
        narrow.lanes = 1;
        narrow.n_groups = n_chains;
        gbsi_estimate *a = NULL;
        gbsi_estimate *b = NULL;
        run_rough(&wide, gbsi_simd_force(GBSI_SIMD_AVX512), i & 2, 150, &a);
        run_rough(&narrow, gbsi_simd_force(GBSI_SIMD_AVX512), i & 2, 150, &b);
        for (uint32_t chain = 0; chain < n_chains; chain++) {
            for (size_t cell = 0; cell < a->n_cells; cell++) {
                assert_true(gbsi_estimate_chain_total(a, chain / 16, cell, chain % 16) ==
                            gbsi_estimate_chain_total(b, chain, cell, 0));
            }
        }
        assert_same_bits(a, b);
        gbsi_estimate_free(a);
        gbsi_estimate_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_probabilities), cmocka_unit_test(long_runs),
        cmocka_unit_test(own_update_counts),     cmocka_unit_test(a_jump),
        cmocka_unit_test(sums_of_visits),        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(lane_shapes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
