/* SPDX-License-Identifier: Apache-2.0 */
/* Tests long passes over spins in bits: looks at the watch, equal bits for any division into parts,
 * and the counts after a pass that was cut short. */
#include <math.h>
#include <string.h>

#include "base/test_scale.h"
#include "estimate/estimate.h"
#include "lattice/bits.h"
#include "lattice/lattice_testing.h"
#include "lattice/packed.h"

enum { N_CHAINS = 900 };

/* One of the three kinds of passes over one lattice. */
typedef struct fixture {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_lattice *lattice;
    gbsi_packed *packed; /* NULL for the form with sites in bits */
    const gbsi_pass *pass;
    gbs_run_options options;
    gbsi_pass_setting setting;
    uint32_t n;
} fixture;

/* Packs a model with the colours that the sampler would give an even lattice of two dimensions. */
static gbsi_packed *pack(const gbsi_conditioned *model, uint32_t length)
{
    gbsi_packed *packed = NULL;
    const char *reason = NULL;
    uint32_t *color = malloc(model->n_variables * sizeof *color);
    assert_non_null(color);
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        color[v] = (v / length + v % length) % 2;
    }
    assert_int_equal(gbsi_packed_new(model, color, 2, 1, &packed, &reason, NULL), GBS_OK);
    assert_null(reason);
    free(color);
    return packed;
}

static void open_fixture(fixture *f, const shape *s, bool packed, gbs_estimator_kind estimator,
                         uint32_t n_chains, gbsi_pool *pool)
{
    *f = (fixture){.model = make_model(s), .options = gbs_run_options_default()};
    f->conditioned = condition(f->model);
    f->n = f->conditioned->n_variables;
    f->options.seed = 9;
    f->options.estimator = (int)estimator;
    f->lattice = recognise(f->conditioned, s->name);
    f->packed = packed ? pack(f->conditioned, s->side[1]) : NULL;
    f->pass = packed ? &gbsi_pass_packed : &gbsi_pass_sites;
    f->setting = (gbsi_pass_setting){.compiled = packed ? (void *)f->packed : (void *)f->lattice,
                                     .options = &f->options,
                                     .n_chains = n_chains,
                                     .lanes = 16,
                                     .n_groups = (n_chains + 15) / 16,
                                     .level = gbsi_simd_level(),
                                     .pool = pool,
                                     .n_threads = gbsi_pool_size(pool)};
}

static void close_fixture(fixture *f)
{
    gbsi_packed_free(f->packed);
    gbsi_lattice_free(f->lattice);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
}

/* Chains at a start, and their counts. */
typedef struct chains {
    void *state;
    gbsi_estimate *estimate;
} chains;

static void start(const fixture *f, chains *c)
{
    uint32_t *x = malloc(f->n * sizeof *x);
    const gbsi_estimate_shape shaped = {.n_slots = f->n,
                                        .same_arity = 2,
                                        .n_chains = f->setting.n_chains,
                                        .lanes = f->setting.lanes,
                                        .n_groups = f->setting.n_groups,
                                        .value_bytes = 1,
                                        .kind = GBS_ESTIMATOR_COUNT,
                                        .each_once = true};
    assert_int_equal(f->pass->prepare(&f->setting, &c->state, NULL), GBS_OK);
    assert_int_equal(gbsi_estimate_new(&shaped, f->setting.level, &c->estimate, NULL), GBS_OK);
    for (uint32_t chain = 0; chain < f->setting.n_chains; ++chain) {
        for (uint32_t v = 0; v < f->n; ++v) {
            x[v] = (chain * UINT32_C(2654435761) ^ v * UINT32_C(2246822519)) >> 15 & 1u;
        }
        f->pass->set(c->state, chain, x);
    }
    free(x);
}

static void stop(const fixture *f, chains *c)
{
    f->pass->free(c->state);
    gbsi_estimate_free(c->estimate);
}

static gbs_status run_pass(const fixture *f, const chains *c, uint64_t pass, gbsi_watch *watch)
{
    const gbsi_pass_job job = {.pass = pass, .estimate = c->estimate, .watch = watch};
    bool more = true;
    assert_int_equal(f->pass->begin(c->state, &job, NULL), GBS_OK);
    while (more) {
        assert_int_equal(f->pass->batch(c->state, 1, &more, NULL), GBS_OK);
    }
    const gbs_status status = f->pass->end(c->state, NULL);
    gbsi_estimate_end_pass(c->estimate, NULL);
    return status;
}

/* States by chain and site. */
static uint32_t *states(const fixture *f, const chains *c)
{
    uint32_t *x = malloc((size_t)f->setting.n_chains * f->n * sizeof *x);
    assert_non_null(x);
    for (uint32_t chain = 0; chain < f->setting.n_chains; ++chain) {
        f->pass->get(c->state, chain, x + (size_t)chain * f->n);
    }
    return x;
}

/* Checks that visits are counts of the states after two passes. */
static void check_counts(const fixture *f, const chains *c, const uint32_t *first,
                         const uint32_t *second)
{
    f->pass->fetch(c->state, c->estimate);
    for (uint32_t v = 0; v < f->n; ++v) {
        double p[2];
        uint64_t up = 0;
        for (uint32_t chain = 0; chain < f->setting.n_chains; ++chain) {
            const size_t at = (size_t)chain * f->n + v;
            up += first[at] + second[at];
        }
        gbsi_estimate_slot(c->estimate, v, p, NULL, NULL, NULL);
        assert_true(fabs(p[1] - (double)up / (2.0 * f->setting.n_chains)) < 1e-12);
    }
}

typedef struct countdown {
    uint64_t looks;
} countdown;

static bool stop_at(void *context)
{
    countdown *left = context;
    return left->looks-- <= 1;
}

/* Runs two passes, of which the second is stopped at this look. @return whether the pass was
 * stopped. */
static bool check_cut(const fixture *f, uint64_t look)
{
    chains whole;
    chains cut;
    countdown left = {look};
    gbsi_watch nobody = {0};
    gbsi_watch watch = {.look = stop_at, .context = &left};
    start(f, &whole);
    start(f, &cut);
    gbsi_bits_look_every(cut.state, 70000.0);
    assert_int_equal(run_pass(f, &whole, 0, NULL), GBS_OK); /* run as a whole */
    assert_int_equal(run_pass(f, &cut, 0, &nobody), GBS_OK);
    assert_true(nobody.n_looks > 4 && nobody.longest < GBSI_WATCH_EVERY + 70000);
    uint32_t *before = states(f, &cut);
    uint32_t *after = states(f, &whole);
    assert_memory_equal(before, after, (size_t)f->setting.n_chains * f->n * sizeof *after);
    free(after);
    assert_int_equal(run_pass(f, &whole, 1, NULL), GBS_OK);
    const bool stopped = run_pass(f, &cut, 1, &watch) == GBS_STOPPED;
    assert_true(stopped == (look <= nobody.n_looks));
    after = states(f, &whole);
    uint32_t *now = states(f, &cut);
    uint64_t n_old = 0;
    for (size_t i = 0; i < (size_t)f->setting.n_chains * f->n; ++i) {
        assert_true(now[i] == before[i] || now[i] == after[i]);
        n_old += now[i] != after[i];
    }
    assert_true(n_old > 0 || look > 1);
    assert_true(n_old == 0 || stopped);
    assert_in_range(f->pass->n_updates(cut.state), 1, f->n);
    assert_int_equal(gbsi_estimate_n_passes(cut.estimate), 2);
    check_counts(f, &whole, before, after);
    check_counts(f, &cut, before, now);
    free(before);
    free(after);
    free(now);
    stop(f, &whole);
    stop(f, &cut);
    return stopped;
}

static void long_passes_are_cut(void **state)
{
    (void)state;
    static const shape even = {"even", {32, 64, 1}, 1, {0.3, 0.3, 0.3}, 0.1, 0, 0, 0};
    static const shape odd = {"odd", {31, 63, 1}, 1, {0.3, 0.3, 0.3}, 0.1, 0, 0, 0};
    gbsi_pool *pool = NULL;
    assert_int_equal(gbsi_pool_new(3, &pool, NULL), GBS_OK);
    for (int form = 0; form < 3; ++form) {
        for (int shared = 0; shared < 2; ++shared) {
            fixture f;
            open_fixture(&f, form == 0 ? &odd : &even, form == 2, GBS_ESTIMATOR_COUNT, N_CHAINS,
                         shared ? pool : NULL);
            uint64_t look = shared ? 3 : 1;
            while (check_cut(&f, look) && !shared) {
                look += test_share(3, 14);
            }
            assert_true(shared || look > 4);
            close_fixture(&f);
        }
    }
    gbsi_pool_free(pool);
}

/* Runs that only trace, which fit more chains into memory. */
static void looks_are_no_further_apart(void **state)
{
    (void)state;
    static const shape even = {"even", {64, 64, 1}, 1, {0.3, 0.3, 0.3}, 0.1, 0, 0, 0};
    for (int packed = 0; packed < 2; ++packed) {
        fixture f;
        void *passes = NULL;
        bool more = true;
        gbsi_watch watch = {0};
        open_fixture(&f, &even, packed, GBS_ESTIMATOR_TRACES, 60000, NULL);
        assert_int_equal(f.pass->prepare(&f.setting, &passes, NULL), GBS_OK);
        assert_int_equal(f.pass->begin(passes, &(gbsi_pass_job){.watch = &watch}, NULL), GBS_OK);
        while (more) {
            assert_int_equal(f.pass->batch(passes, UINT32_MAX, &more, NULL), GBS_OK);
        }
        assert_int_equal(f.pass->end(passes, NULL), GBS_OK);
        assert_in_range(watch.n_looks, 2, 5);
        assert_in_range(watch.longest, 20000000, 32000000);
        f.pass->free(passes);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_passes_are_cut),
        cmocka_unit_test(looks_are_no_further_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
