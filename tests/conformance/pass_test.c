/* SPDX-License-Identifier: Apache-2.0 */
/* What runs that hook into passes rely on: batches one at a time give the same bits; a pass cut
 * between two processes, which exchange states after every batch and add up their estimates at the
 * end, gives those of one; each chain follows its own temperature. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "sampler/tiles.h"
#include "support/bare_chains.h"
#include "support/small_models.h"

enum { N_VARIABLES = 60, N_PASSES = 20 };

static gbs_run_options options_of(int scan, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.scan = scan;
    options.chains = chains;
    options.seed = 5;
    options.splash_size = 7;
    options.splashes = 2;
    return options;
}

static void set_up(test_chains *f, test_family family, gbs_run_options options, bool heated)
{
    const gbsi_plan_options how = {.repeats = true, .sell = options.chains < 8, .heated = heated};
    uint32_t sequence[N_VARIABLES];
    for (uint32_t v = 0; v < N_VARIABLES; ++v) {
        sequence[v] = v;
    }
    test_chains_set_up(f, test_model(family, 5, N_VARIABLES), NULL, sequence, N_VARIABLES, how,
                       options);
}

static void same_estimates(const test_chains *f, const gbsi_estimate *a, const gbsi_estimate *b)
{
    for (uint32_t slot = 0; slot < f->plan->n_slots; ++slot) {
        const uint32_t k = gbsi_plan_arity(f->plan, slot);
        double p[2][4 * 8];
        memset(p, 0, sizeof p);
        assert_true(k <= 8);
        gbsi_estimate_slot(a, slot, p[0], p[0] + k, p[0] + 2 * k, p[0] + 3 * k);
        gbsi_estimate_slot(b, slot, p[1], p[1] + k, p[1] + 2 * k, p[1] + 3 * k);
        assert_memory_equal(p[0], p[1], sizeof p[0]);
    }
}

/* ---- batch by batch -------------------------------------------------------------------------- */

static gbs_status count_batch(void *context, uint32_t batch, gbs_error *err)
{
    uint32_t *n = context;
    (void)err;
    assert_int_equal(batch, *n);
    ++*n;
    return GBS_OK;
}

static void check_batches(int scan, uint64_t chains, gbsi_pool *pool)
{
    gbs_error err = {0};
    test_chains f;
    gbsi_executor whole;
    gbsi_executor cut;
    uint32_t n = 0;
    set_up(&f, TEST_MIXED, options_of(scan, chains), false);
    test_chains_start(&f, gbsi_simd_level(), pool, UINT64_MAX, &whole);
    test_chains_start(&f, gbsi_simd_level(), pool, UINT64_MAX, &cut);
    gbsi_estimate *a = test_chains_estimate(&f, &whole, false);
    gbsi_estimate *b = test_chains_estimate(&f, &cut, false);
    cut.hook = (gbsi_batch_hook){count_batch, &n};
    for (uint64_t pass = 0; pass < N_PASSES; ++pass) {
        n = 0;
        assert_int_equal(gbsi_executor_pass(&whole, &f.schedule, pass, a, true, &err), GBS_OK);
        assert_int_equal(gbsi_executor_pass(&cut, &f.schedule, pass, b, true, &err), GBS_OK);
        assert_true(n > 1 && (scan == GBS_SCAN_SPLASH || n == f.schedule.n_batches));
        assert_true(whole.n_updates == cut.n_updates);
    }
    test_chains_same(&f, &whole, &cut);
    same_estimates(&f, a, b);
    /* work is counted, whoever did it, and is no less than it must be */
    const gbsi_pass_setting setting = {.plan = f.plan, .n_chains = whole.n_chains};
    const double operations = whole.pass->operations(whole.pass_state, whole.n_chains);
    assert_true(operations == cut.pass->operations(cut.pass_state, cut.n_chains));
    assert_true(operations >= 0.999 * N_PASSES * whole.pass->least_operations(&setting));
    gbsi_executor_free(&whole);
    gbsi_executor_free(&cut);
    gbsi_estimate_free(a);
    gbsi_estimate_free(b);
    test_chains_tear_down(&f);
}

static void batch_by_batch(void **state)
{
    (void)state;
    gbsi_pool *pool = NULL;
    assert_int_equal(gbsi_pool_new(3, &pool, NULL), GBS_OK);
    for (uint64_t chains = 3; chains <= 40; chains += 37) {
        check_batches(GBS_SCAN_CHROMATIC, chains, NULL);
        check_batches(GBS_SCAN_CHROMATIC, chains, pool);
        check_batches(GBS_SCAN_SPLASH, chains, NULL);
        check_batches(GBS_SCAN_SPLASH, chains, pool);
    }
    gbsi_pool_free(pool);
}

/* ---- two processes --------------------------------------------------------------------------- */

/* Its part of every piece, and where it stands in the whole. */
typedef struct process {
    gbsi_executor x;
    gbsi_estimate *estimate;
    gbsi_schedule schedule;
    uint64_t *global;
    struct process *other;
    const test_chains *f;
} process;

/* Places of a piece that belong to a rank: the first half, or the rest. */
static void share(const gbsi_schedule *whole, uint32_t rank, gbsi_schedule *own, uint64_t *global)
{
    uint64_t place = 0;
    for (uint32_t b = 0; b < whole->n_batches; ++b) {
        own->batch_start[own->n_batches++] = own->n_pieces;
        for (size_t i = whole->batch_start[b]; i < whole->batch_start[b + 1]; ++i) {
            gbsi_piece piece = whole->piece[i];
            const uint32_t skipped = rank == 0 ? 0 : piece.n / 2;
            piece.n = rank == 0 ? piece.n / 2 : piece.n - piece.n / 2;
            if (piece.n == 0) {
                continue;
            }
            for (uint32_t k = 0; k < piece.n; ++k) {
                own->slot[place + k] = whole->slot[piece.place + skipped + k];
            }
            global[own->n_pieces] = piece.place + skipped;
            piece.first_slot = own->slot[place];
            piece.place = place;
            place += piece.n;
            own->piece[own->n_pieces++] = piece;
        }
    }
    own->batch_start[own->n_batches] = own->n_pieces;
    own->n_places = place;
    for (uint32_t pad = 0; pad < 16; ++pad) {
        own->slot[place + pad] = place > 0 ? own->slot[place - 1] : 0;
    }
    own->global = global;
}

static void begin(process *p, uint32_t rank, const test_chains *f)
{
    *p = (process){.f = f};
    p->schedule.batch_start = gbsi_alloc_array(f->schedule.n_batches + (size_t)1, sizeof(size_t));
    p->schedule.piece = gbsi_alloc_array(f->schedule.n_pieces, sizeof(gbsi_piece));
    p->schedule.slot = gbsi_alloc_array(f->schedule.n_places + 16, sizeof(uint32_t));
    p->global = gbsi_alloc_array(f->schedule.n_pieces, sizeof *p->global);
    share(&f->schedule, rank, &p->schedule, p->global);
    test_chains_start(f, gbsi_simd_level(), NULL, UINT64_MAX, &p->x);
    p->estimate = test_chains_estimate(f, &p->x, true);
}

static void end(process *p)
{
    gbsi_executor_free(&p->x);
    gbsi_estimate_free(p->estimate);
    gbsi_schedule_free(&p->schedule);
    gbsi_free(p->global);
}

/* What the other process updated in a batch, as a message would bring it. */
static void receive(process *to, const process *from, uint32_t batch)
{
    const gbsi_schedule *s = &from->schedule;
    const size_t bytes = (size_t)to->x.lanes * to->x.plan->value_bytes;
    for (size_t i = s->batch_start[batch]; i < s->batch_start[batch + 1]; ++i) {
        for (uint32_t k = 0; k < s->piece[i].n; ++k) {
            const size_t at = gbsi_piece_slot(s, &s->piece[i], k) * bytes;
            for (uint32_t g = 0; g < to->x.n_groups; ++g) {
                memcpy((uint8_t *)to->x.group[g].state + at,
                       (const uint8_t *)from->x.group[g].state + at, bytes);
            }
        }
    }
    gbsi_executor_ready(&to->x);
}

/* The processes take turns: here the other one has done this batch of this pass already, or waits
 * for what this one has to say. */
static gbs_status exchange(void *context, uint32_t batch, gbs_error *err)
{
    process *p = context;
    bool more = false;
    const gbs_status status = p->other->x.pass->batch(p->other->x.pass_state, 1, &more, err);
    receive(p, p->other, batch);
    receive(p->other, p, batch);
    return status;
}

static void run_both(process *p, uint64_t pass)
{
    gbs_error err = {0};
    process *other = p->other;
    const gbsi_pass_job job = {.pass = pass,
                               .schedule = &other->schedule,
                               .draw = other->x.draw,
                               .draw_state = other->x.draw_state,
                               .estimate = other->estimate,
                               .rao_blackwell = true};
    p->x.hook = (gbsi_batch_hook){exchange, p};
    assert_int_equal(other->x.pass->begin(other->x.pass_state, &job, &err), GBS_OK);
    assert_int_equal(gbsi_executor_pass(&p->x, &p->schedule, pass, p->estimate, true, &err),
                     GBS_OK);
    assert_int_equal(other->x.pass->end(other->x.pass_state, &err), GBS_OK);
    gbsi_estimate_end_pass(other->estimate, NULL);
}

static void check_two(test_family family, uint64_t chains)
{
    gbs_error err = {0};
    test_chains f;
    gbsi_executor alone;
    process p[2];
    set_up(&f, family, options_of(GBS_SCAN_SYSTEMATIC, chains), false);
    test_chains_start(&f, gbsi_simd_level(), NULL, UINT64_MAX, &alone);
    gbsi_estimate *estimate = test_chains_estimate(&f, &alone, true);
    for (uint32_t rank = 0; rank < 2; ++rank) {
        begin(&p[rank], rank, &f);
        p[rank].other = &p[1 - rank];
    }
    assert_true(p[0].schedule.n_places > 0 && p[1].schedule.n_places > 0);
    for (uint64_t pass = 0; pass < 3 * N_PASSES; ++pass) {
        assert_int_equal(gbsi_executor_pass(&alone, &f.schedule, pass, estimate, true, &err),
                         GBS_OK);
        run_both(&p[pass % 2], pass);
    }
    test_chains_same(&f, &alone, &p[0].x);
    test_chains_same(&f, &alone, &p[1].x);
    assert_int_equal(gbsi_estimate_reduce(p[0].estimate, p[1].estimate, &err), GBS_OK);
    same_estimates(&f, estimate, p[0].estimate);
    gbsi_estimate_end_pass(p[1].estimate, NULL); /* of other passes */
    assert_int_equal(gbsi_estimate_reduce(p[0].estimate, p[1].estimate, &err), GBS_ERR_ARGUMENT);
    end(&p[0]);
    end(&p[1]);
    gbsi_executor_free(&alone);
    gbsi_estimate_free(estimate);
    test_chains_tear_down(&f);
}

static void two_processes(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        check_two((test_family)family, 3);
        check_two((test_family)family, 17);
    }
}

/* ---- temperatures ---------------------------------------------------------------------------- */

/* Chains at inverse temperature 0 or 1 are those of executors where all are. */
static void each_chain_its_own(void **state)
{
    (void)state;
    for (uint64_t chains = 3; chains <= 20; chains += 17) {
        gbs_error err = {0};
        test_chains f;
        gbsi_executor x[3];
        set_up(&f, TEST_MIXED, options_of(GBS_SCAN_CHROMATIC, chains), true);
        for (int i = 0; i < 3; ++i) {
            test_chains_start(&f, gbsi_simd_level(), NULL, UINT64_MAX, &x[i]);
            assert_int_equal(gbsi_executor_heat(&x[i], i == 0 ? 0.0F : 1.0F, &err), GBS_OK);
        }
        for (uint32_t chain = 0; chain < x[2].n_chains; chain += 2) {
            x[2].beta[chain] = 0.0F;
        }
        for (uint64_t pass = 0; pass < N_PASSES; ++pass) {
            for (int i = 0; i < 3; ++i) {
                assert_int_equal(gbsi_executor_pass(&x[i], &f.schedule, pass, NULL, false, &err),
                                 GBS_OK);
            }
        }
        for (uint32_t chain = 0; chain < x[2].n_chains; ++chain) {
            uint32_t a[N_VARIABLES];
            uint32_t b[N_VARIABLES];
            gbsi_executor_get(&x[2], chain, a);
            gbsi_executor_get(&x[chain % 2], chain, b);
            assert_memory_equal(a, b, sizeof a);
        }
        for (int i = 0; i < 3; ++i) {
            gbsi_executor_free(&x[i]);
        }
        test_chains_tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_by_batch),
        cmocka_unit_test(two_processes),
        cmocka_unit_test(each_chain_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
