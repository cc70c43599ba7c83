/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which passes thinned traces keep, and that traces continue after saving and loading as if
 * they had never stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "estimate/thinned.h"

enum { CHAINS = 2, VARIABLES = 3 };

/* Density: 10 * pass + chain. State of variable i: pass + chain + i, as 16 bits hold it. */
static void go_on(gbsi_thinned *t, uint64_t to)
{
    while (t->n_passes < to) {
        if (!gbsi_thinned_pass(t)) {
            continue;
        }
        for (uint32_t chain = 0; chain < CHAINS; ++chain) {
            const uint32_t at = (uint32_t)t->n_passes + chain;
            const uint32_t state[VARIABLES] = {at & 0xffff, (at + 1) & 0xffff, (at + 2) & 0xffff};
            gbsi_thinned_set(t, chain, 10.0 * (double)t->n_passes + chain, state);
        }
        gbsi_thinned_end(t);
    }
}

static void is_right(const gbsi_thinned *t)
{
    for (uint32_t chain = 0; chain < CHAINS; ++chain) {
        for (uint32_t k = 0; k < t->n; ++k) {
            const uint64_t pass = (k + 1) * t->stride;
            assert_true(t->density[chain * GBSI_THINNED + k] == 10.0 * (double)pass + chain);
            for (uint32_t i = 0; i < VARIABLES; ++i) {
                const size_t at = (size_t)(i * CHAINS + chain) * GBSI_THINNED + k;
                assert_int_equal(t->state[at], (pass + chain + i) & 0xffff);
            }
        }
    }
}

/* For any number of passes, kept passes are evenly spaced and fill between half and all of the
 * room. */
static void passes_are_evenly_spaced(void **state)
{
    (void)state;
    static const struct {
        uint64_t first, passes, stride, n;
    } rows[] = {{1, 0, 1, 0},      {1, 1, 1, 1},        {1, 1023, 1, 1023}, {1, 1024, 2, 512},
                {1, 1025, 2, 512}, {1, 1026, 2, 513},   {1, 5000, 8, 625},  {1, 100000, 128, 781},
                {16, 100, 16, 6},  {16, 16384, 32, 512}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        gbsi_thinned t;
        assert_int_equal(gbsi_thinned_init(&t, CHAINS, VARIABLES, rows[r].first, NULL), GBS_OK);
        go_on(&t, rows[r].passes);
        assert_int_equal(t.stride, rows[r].stride);
        assert_int_equal(t.n, rows[r].n);
        is_right(&t);
        gbsi_thinned_free(&t);
    }
}

/* ---- saved ---- */

typedef struct bytes {
    unsigned char at[1 << 16];
    size_t n, taken;
} bytes;

static gbs_status put(void *context, const void *from, size_t n, gbs_error *err)
{
    bytes *b = context;
    (void)err;
    assert_true(b->n + n <= sizeof b->at);
    memcpy(b->at + b->n, from, n);
    b->n += n;
    return GBS_OK;
}

static gbs_status take(void *context, void *to, size_t n, gbs_error *err)
{
    bytes *b = context;
    (void)err;
    assert_true(b->taken + n <= b->n);
    memcpy(to, b->at + b->taken, n);
    b->taken += n;
    return GBS_OK;
}

static void saved_traces_go_on(void **state)
{
    (void)state;
    static bytes b;
    for (uint64_t stop = 100; stop < 5000; stop += 700) {
        gbsi_thinned t;
        gbsi_thinned again;
        memset(&b, 0, sizeof b);
        assert_int_equal(gbsi_thinned_init(&t, CHAINS, VARIABLES, 1, NULL), GBS_OK);
        assert_int_equal(gbsi_thinned_init(&again, CHAINS, VARIABLES, 1, NULL), GBS_OK);
        go_on(&t, stop);
        assert_int_equal(gbsi_thinned_save(&t, &(gbsi_sink){&b, put}, NULL), GBS_OK);
        assert_int_equal(gbsi_thinned_load(&again, &(gbsi_source){&b, take}, NULL), GBS_OK);
        assert_int_equal(b.taken, b.n);
        go_on(&again, 6000);
        go_on(&t, 6000);
        is_right(&again);
        assert_int_equal(again.n, t.n);
        assert_int_equal(again.stride, t.stride);
        gbsi_thinned_free(&t);
        gbsi_thinned_free(&again);
    }
}

static void damage_and_other_shapes_are_refused(void **state)
{
    (void)state;
    static bytes b;
    gbsi_thinned t;
    gbsi_thinned other;
    gbs_error err = {GBS_OK, ""};
    memset(&b, 0, sizeof b);
    assert_int_equal(gbsi_thinned_init(&t, CHAINS, VARIABLES, 1, NULL), GBS_OK);
    go_on(&t, 50);
    assert_int_equal(gbsi_thinned_save(&t, &(gbsi_sink){&b, put}, NULL), GBS_OK);
    assert_int_equal(gbsi_thinned_init(&other, CHAINS, VARIABLES - 1, 1, NULL), GBS_OK);
    assert_int_equal(gbsi_thinned_load(&other, &(gbsi_source){&b, take}, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "monitored variables"));
    b.taken = 0;
    b.at[40] ^= 1;
    assert_int_equal(gbsi_thinned_load(&t, &(gbsi_source){&b, take}, &err), GBS_ERR_FORMAT);
    gbsi_thinned_free(&other);
    gbsi_thinned_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_are_evenly_spaced),
        cmocka_unit_test(saved_traces_go_on),
        cmocka_unit_test(damage_and_other_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
