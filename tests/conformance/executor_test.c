/* SPDX-License-Identifier: Apache-2.0 */
/* Batches against one update at a time: a schedule must give, bit for bit, the states that the
 * sequence gives when its updates run one after the other with the numbers of their places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "support/bare_chains.h"
#include "support/small_models.h"

#define N_PASSES 3

static void *must_have(void *pointer)
{
    assert_non_null(pointer);
    return pointer;
}

/* The pass a plan was made for comes without being levelled again, and is the same. */
static void check_own_pass(const test_chains *f)
{
    gbsi_schedule own = {0};
    gbs_error err = {0};
    const gbsi_schedule *levelled = &f->schedule;
    assert_int_equal(gbsi_plan_own_pass(f->plan, &own, &err), GBS_OK);
    assert_null(own.slot);
    assert_int_equal(own.n_places, levelled->n_places);
    assert_int_equal(own.n_batches, levelled->n_batches);
    assert_int_equal(own.n_pieces, levelled->n_pieces);
    assert_memory_equal(own.batch_start, levelled->batch_start,
                        (own.n_batches + (size_t)1) * sizeof *own.batch_start);
    for (size_t i = 0; i < own.n_pieces; ++i) {
        const gbsi_piece *a = &own.piece[i];
        const gbsi_piece *b = &levelled->piece[i];
        assert_true(a->place == b->place && a->n == b->n && a->first_slot == b->first_slot &&
                    a->arity == b->arity && a->class_id == b->class_id && a->form == b->form &&
                    a->contiguous && b->contiguous);
    }
    for (size_t p = 0; p < own.n_places; ++p) {
        assert_int_equal(levelled->slot[p], p);
    }
    gbsi_schedule_free(&own);
}

/* Refused before anything is read or allocated. */
static void passes_are_bounded(void **state)
{
    (void)state;
    gbsi_schedule schedule = {0};
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbsi_plan_level(NULL, NULL, UINT32_MAX, &schedule, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "this version holds 4294967294"));
    err = (gbs_error){GBS_OK, ""};
    assert_int_equal(gbsi_plan_level(NULL, NULL, GBSI_MOST_PLACES + 1, &schedule, &err),
                     GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "the random numbers of a pass would repeat"));
}

static void set_up(test_chains *f, gbs_model *model, const gbsi_edges *extra,
                   const uint32_t *sequence, size_t n, bool repeats, uint64_t chains, bool heated)
{
    gbs_run_options options = gbs_run_options_default();
    options.scan = GBS_SCAN_SEQUENCE;
    options.chains = chains;
    options.seed = 77;
    test_chains_set_up(
        f, model, extra, sequence, n,
        (gbsi_plan_options){.repeats = repeats, .sell = chains < 8, .heated = heated}, options);
    if (f->plan->level_start != NULL) {
        check_own_pass(f);
    }
}

/* Places of the updates of a sequence: the k-th occurrence of a variable in the sequence is the
 * k-th in the order of the places. */
static uint64_t *places_of(const test_chains *f, const uint32_t *sequence, size_t n)
{
    uint64_t *place = must_have(gbsi_alloc_array(n, sizeof *place));
    for (size_t t = 0; t < n; ++t) {
        const uint32_t slot = f->plan->slot_of[sequence[t]];
        uint32_t before = 0;
        for (size_t u = 0; u < t; ++u) {
            before += sequence[u] == sequence[t];
        }
        uint64_t p = 0;
        while (f->schedule.slot[p] != slot || before-- > 0) {
            ++p;
        }
        place[t] = p;
    }
    return place;
}

/* The same updates in the order of the sequence, one tile of one place at a time. */
static void one_at_a_time(gbsi_executor *x, const test_chains *f, const uint32_t *sequence,
                          const uint64_t *place, size_t n, uint64_t pass)
{
    const gbsi_plan *plan = f->plan;
    uint32_t word[16];
    uint16_t value[16];
    static float w[GBSI_TILE_CELLS];
    for (size_t t = 0; t < n; ++t) {
        const uint32_t slot = plan->slot_of[sequence[t]];
        for (uint32_t g = 0; g < x->n_groups; ++g) {
            gbsi_tile tile = {.class_id = (uint8_t)gbsi_plan_class(plan, slot),
                              .odds = (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0,
                              .linear = (gbsi_plan_form(plan, slot) & GBSI_LINEAR) != 0,
                              .value_bytes = (uint8_t)plan->value_bytes,
                              .lanes = (uint8_t)x->lanes,
                              .arity = gbsi_plan_arity(plan, slot),
                              .n_places = 1,
                              .n_rows = 1,
                              .first_slot = slot,
                              .contiguous = 1,
                              .seed = x->seed,
                              .pass = pass,
                              .place = place[t],
                              .chain = g * x->lanes,
                              .word = word,
                              .w = w,
                              .value = value};
            for (uint32_t lane = 0; lane < 16; ++lane) {
                word[lane] = gbsi_word(x->seed, tile.chain + (x->lanes == 1 ? 0 : lane), pass,
                                       place[t], GBSI_PURPOSE_UPDATE);
            }
            const gbsi_kernel *kernel =
                gbsi_kernel_of((gbsi_class)tile.class_id, GBSI_SIMD_PORTABLE);
            (x->lanes == 1 ? kernel->fill1 : kernel->fill16)(plan, &x->group[g], &tile);
            (tile.odds ? x->draw->binary : x->draw->categorical)(NULL, &tile);
            if (plan->n_counters > 0) {
                gbsi_counters_commit(plan, &x->group[g], &tile);
            }
            const size_t bytes = (size_t)x->lanes * plan->value_bytes;
            memcpy((uint8_t *)x->group[g].state + slot * bytes, value, bytes);
        }
    }
}

static void check(gbs_model *model, const gbsi_edges *extra, const uint32_t *sequence, size_t n,
                  bool repeats, uint64_t chains)
{
    gbs_error err = {0};
    test_chains f;
    set_up(&f, model, extra, sequence, n, repeats, chains, false);
    gbsi_executor batched;
    gbsi_executor serial;
    test_chains_start(&f, gbsi_simd_level(), NULL, UINT64_MAX, &batched);
    test_chains_start(&f, GBSI_SIMD_PORTABLE, NULL, UINT64_MAX, &serial);
    uint64_t *place = places_of(&f, sequence, n);
    for (uint64_t pass = 0; pass < N_PASSES; ++pass) {
        assert_int_equal(gbsi_executor_pass(&batched, &f.schedule, pass, NULL, false, &err),
                         GBS_OK);
        one_at_a_time(&serial, &f, sequence, place, n, pass);
    }
    test_chains_same(&f, &batched, &serial);
    gbsi_free(place);
    gbsi_executor_free(&batched);
    gbsi_executor_free(&serial);
    test_chains_tear_down(&f);
}

static void random_sequences(void **state)
{
    (void)state;
    static const uint64_t chains[] = {1, 3, 8, 21};
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 0; seed < 8; ++seed) {
            test_stream s = {.seed = 31 * seed + (uint64_t)family, .n = 0};
            const uint32_t n_variables = 4 + test_below(&s, 40);
            uint32_t sequence[200];
            const size_t n = 1 + test_below(&s, 200);
            for (size_t t = 0; t < n; ++t) {
                sequence[t] = test_below(&s, n_variables);
            }
            uint32_t pair[20];
            for (size_t e = 0; e < 10; ++e) {
                pair[2 * e] = test_below(&s, n_variables);
                pair[2 * e + 1] = (pair[2 * e] + 1 + test_below(&s, n_variables - 1)) % n_variables;
            }
            const gbsi_edges extra = {.n = 10, .pair = pair};
            check(test_model((test_family)family, seed, n_variables), seed % 2 == 0 ? &extra : NULL,
                  sequence, n, seed % 3 != 0, chains[seed % 4]);
        }
    }
}

static void whole_sweeps(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; ++seed) {
        uint32_t sequence[60];
        for (uint32_t v = 0; v < 60; ++v) {
            sequence[v] = seed % 2 == 0 ? v : 59 - v;
        }
        for (int family = 0; family < TEST_N_FAMILIES; ++family) {
            check(test_model((test_family)family, seed, 60), NULL, sequence, 60, true,
                  seed < 3 ? 1 : 16);
        }
    }
}

/* Inverse temperature 0 forgets the model, and minus infinity stays minus infinity. */
static void heat(void **state)
{
    (void)state;
    gbs_error err = {0};
    uint32_t n_ones = 0;
    test_chains f;
    uint32_t sequence[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    set_up(&f, test_model(TEST_ISING, 3, 8), NULL, sequence, 8, true, 16, true);
    gbsi_executor x;
    test_chains_start(&f, gbsi_simd_level(), NULL, UINT64_MAX, &x);
    assert_int_equal(gbsi_executor_heat(&x, 0.0F, &err), GBS_OK);
    for (uint64_t pass = 0; pass < 500; ++pass) {
        assert_int_equal(gbsi_executor_pass(&x, &f.schedule, pass, NULL, false, &err), GBS_OK);
        for (uint32_t i = 0; i < 8 * 16; ++i) {
            n_ones += ((uint8_t *)x.group[0].state)[i];
        }
    }
    /* 64 000 fair coins: 6 standard deviations are 759. */
    assert_true(n_ones > 32000 - 759 && n_ones < 32000 + 759);
    gbsi_executor_free(&x);
    test_chains_tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sequences),
        cmocka_unit_test(whole_sweeps),
        cmocka_unit_test(heat),
        cmocka_unit_test(passes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
