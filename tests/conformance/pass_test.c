/* SPDX-License-Identifier: Apache-2.0 */
/* What runs that hook into passes rely on: batches one at a time give the same bits; a pass cut
 * between two processes, which exchange states after every batch and keep estimates of what each
 * updates, gives those of one; each chain follows its own temperature. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "chains/tiles.h"
#include "gibbsite/generate.h"
#include "support/bare_chains.h"
#include "support/runs.h"
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

static void same_estimate(const test_chains *f, uint32_t slot, const gbsi_estimate *a,
                          const gbsi_estimate *b)
{
    const uint32_t k = gbsi_plan_arity(f->plan, slot);
    double p[2][4 * 8];
    memset(p, 0, sizeof p);
    assert_true(k <= 8);
    gbsi_estimate_slot(a, slot, p[0], p[0] + k, p[0] + 2 * k, p[0] + 3 * k);
    gbsi_estimate_slot(b, slot, p[1], p[1] + k, p[1] + 2 * k, p[1] + 3 * k);
    assert_memory_equal(p[0], p[1], sizeof p[0]);
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
    gbsi_estimate *a = test_chains_estimate(&f, &whole, GBS_ESTIMATOR_RAO_BLACKWELL, false);
    gbsi_estimate *b = test_chains_estimate(&f, &cut, GBS_ESTIMATOR_RAO_BLACKWELL, false);
    cut.hook = (gbsi_batch_hook){count_batch, &n};
    for (uint64_t pass = 0; pass < N_PASSES; ++pass) {
        n = 0;
        assert_int_equal(gbsi_executor_pass(&whole, &f.schedule, pass, a, true, &err), GBS_OK);
        assert_int_equal(gbsi_executor_pass(&cut, &f.schedule, pass, b, true, &err), GBS_OK);
        assert_true(n > 1 && (scan == GBS_SCAN_SPLASH || n == f.schedule.n_batches));
        assert_true(whole.n_updates == cut.n_updates);
    }
    test_chains_same(&f, &whole, &cut);
    for (uint32_t slot = 0; slot < f.plan->n_slots; ++slot) {
        same_estimate(&f, slot, a, b);
    }
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
    p->estimate = test_chains_estimate(f, &p->x, GBS_ESTIMATOR_RAO_BLACKWELL, true);
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
    gbsi_estimate *estimate = test_chains_estimate(&f, &alone, GBS_ESTIMATOR_RAO_BLACKWELL, true);
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
    assert_true(p[0].schedule.n_places + p[1].schedule.n_places == f.plan->n_slots);
    for (uint32_t rank = 0; rank < 2; ++rank) {
        for (uint64_t place = 0; place < p[rank].schedule.n_places; ++place) {
            same_estimate(&f, p[rank].schedule.slot[place], estimate, p[rank].estimate);
        }
    }
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

/* ---- long passes ----------------------------------------------------------------------------- */

enum { N_DENSE = 300, N_DENSE_CHAINS = 4096 };

/* What passes of a complete graph take is more than may lie between two looks, so they are cut. */
static void set_up_dense(test_chains *f, bool own_order)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    uint32_t sequence[N_DENSE];
    const gbs_generate_complete_options how = {
        .variables = N_DENSE, .coupling_spread = 0.02, .random_field = 0.3, .seed = 3};
    const gbs_run_options options = options_of(GBS_SCAN_CHROMATIC, N_DENSE_CHAINS);
    for (uint32_t v = 0; v < N_DENSE; ++v) {
        sequence[v] = own_order ? v : v * 7 % N_DENSE;
    }
    assert_int_equal(gbs_generate_complete(&how, &model, &err), GBS_OK);
    test_chains_set_up(f, model, NULL, sequence, N_DENSE, (gbsi_plan_options){.repeats = own_order},
                       options);
    if (own_order) { /* without a list of slots */
        gbsi_schedule_free(&f->schedule);
        f->schedule = (gbsi_schedule){0};
        assert_int_equal(gbsi_plan_own_pass(f->plan, &f->schedule, &err), GBS_OK);
    }
}

static bool stop_at_second(void *context)
{
    const gbsi_watch *watch = context;
    return watch->n_looks >= 2;
}

/* How many slots were done by a pass that was cut short: those of the one executor are as after the
 * whole pass, the others as before. */
static uint32_t count_done(const test_chains *f, const gbsi_executor *before,
                           const gbsi_executor *cut, const gbsi_executor *after)
{
    const size_t row = (size_t)cut->lanes * f->plan->value_bytes;
    uint32_t n_done = 0;
    for (uint32_t slot = 0; slot < f->plan->n_slots; ++slot) {
        bool is_old = true;
        bool is_new = true;
        for (uint32_t g = 0; g < cut->n_groups; ++g) {
            const char *x = (const char *)cut->group[g].state + slot * row;
            is_old &= memcmp(x, (const char *)before->group[g].state + slot * row, row) == 0;
            is_new &= memcmp(x, (const char *)after->group[g].state + slot * row, row) == 0;
        }
        assert_true(is_old != is_new); /* among so many chains some change */
        n_done += is_new;
    }
    return n_done;
}

/* How many slots have the estimates of the whole pass; the others have those of before. */
static uint32_t count_moved(const test_chains *f, gbsi_estimate *const *estimate)
{
    uint32_t n_moved = 0;
    for (uint32_t slot = 0; slot < f->plan->n_slots; ++slot) {
        double p[3][2]; /* before, cut, whole: of the two states */
        double rhat[3][2];
        for (int i = 0; i < 3; ++i) {
            gbsi_estimate_slot(estimate[i], slot, p[i], NULL, NULL, rhat[i]);
        }
        const bool is_old = p[1][1] == p[0][1] && rhat[1][1] == rhat[0][1];
        const bool is_new = p[1][1] == p[2][1] && rhat[1][1] == rhat[2][1];
        assert_true(is_old != is_new);
        n_moved += is_new;
    }
    return n_moved;
}

static void check_cut(bool own_order, gbs_estimator_kind kind, gbsi_pool *pool)
{
    gbs_error err = {0};
    test_chains f;
    gbsi_executor x[3]; /* one pass, one and a part, two */
    gbsi_estimate *estimate[3];
    gbsi_watch watch = {.look = stop_at_second, .context = &watch};
    set_up_dense(&f, own_order);
    for (int i = 0; i < 3; ++i) {
        const bool rao_blackwell = kind == GBS_ESTIMATOR_RAO_BLACKWELL;
        test_chains_start(&f, gbsi_simd_level(), pool, UINT64_MAX, &x[i]);
        estimate[i] = test_chains_estimate(&f, &x[i], kind, true);
        assert_int_equal(
            gbsi_executor_pass(&x[i], &f.schedule, 0, estimate[i], rao_blackwell, &err), GBS_OK);
        x[i].watch = i == 1 ? &watch : NULL;
        assert_true(i == 0 || gbsi_executor_pass(&x[i], &f.schedule, 1, estimate[i], rao_blackwell,
                                                 &err) == (i == 1 ? GBS_STOPPED : GBS_OK));
    }
    const uint32_t n_done = count_done(&f, &x[0], &x[1], &x[2]);
    assert_true(n_done > 0 && n_done < N_DENSE && x[1].n_updates == n_done);
    assert_int_equal(watch.n_looks, 2);
    assert_in_range(watch.longest, 20000000, 32000000);
    /* slots are added one by one, or else states are counted at the end */
    const bool one_by_one = own_order || kind == GBS_ESTIMATOR_RAO_BLACKWELL;
    assert_int_equal(gbsi_estimate_n_passes(estimate[1]), one_by_one ? 1 : 2);
    if (one_by_one) {
        assert_int_equal(count_moved(&f, estimate), n_done);
    }
    for (int i = 0; i < 3; ++i) {
        gbsi_executor_free(&x[i]);
        gbsi_estimate_free(estimate[i]);
    }
    test_chains_tear_down(&f);
}

static void long_passes_are_cut(void **state)
{
    (void)state;
    gbsi_pool *pool = NULL;
    assert_int_equal(gbsi_pool_new(3, &pool, NULL), GBS_OK);
    check_cut(true, GBS_ESTIMATOR_COUNT, pool);
    check_cut(false, GBS_ESTIMATOR_RAO_BLACKWELL, pool);
    if (test_scale_asked() > TEST_SMALL) {
        check_cut(true, GBS_ESTIMATOR_RAO_BLACKWELL, NULL);
        check_cut(false, GBS_ESTIMATOR_COUNT, NULL);
    }
    gbsi_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_by_batch),
        cmocka_unit_test(two_processes),
        cmocka_unit_test(each_chain_its_own),
        cmocka_unit_test(long_passes_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
