/* SPDX-License-Identifier: Apache-2.0 */
/* How often variables changed, and how long they stayed, is counted alike however chains stand side
 * by side, and goes on when a run does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "chains/run.h"
#include "support/runs.h"

enum { N = 40 };

static gbs_run_options usual(uint64_t chains, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = chains;
    options.sweeps = sweeps;
    return options;
}

/* Spins whose fields grow from one to the next, so that some change often and some hardly ever. */
static gbs_model *slope(void)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    static uint32_t arity[N];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        assert_int_equal(gbs_builder_add_field(b, v, 0.15 * v, NULL), GBS_OK);
        if (v > 0) {
            assert_int_equal(gbs_builder_add_ising(b, v - 1, v, 0.4, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* @param n out: [N] counts by variable. @param from, to checkpoints; NULL: none. */
static void count(const gbs_model *model, const gbs_run_options *options, const char *from,
                  const char *to, uint64_t stop_after, uint8_t *n)
{
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, NULL), GBS_OK);
    assert_true(from == NULL || gbs_run_resume(run, from, NULL) == GBS_OK);
    assert_true(to == NULL || gbs_run_checkpoint(run, to, NULL) == GBS_OK);
    run->checkpoints.stop_after = stop_after;
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    const gbsi_moves *moves = &run->sampling.estimates.moves;
    assert_int_equal(moves->n_slots, N);
    for (uint32_t slot = 0; slot < N; ++slot) {
        n[run->sampling.engine.plan->variable_of[slot]] = moves->n[slot];
    }
    uint8_t hardly[N];
    uint64_t n_hardly = 0;
    assert_int_equal(gbs_run_hardly_moved(run, hardly, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        assert_true(!hardly[v] || n[v] < GBSI_ENOUGH_MOVES);
        n_hardly += hardly[v];
    }
    assert_int_equal(n_hardly, gbs_run_report(run)->n_hardly_moved);
    gbs_run_free(run);
}

/* The changes that draws show, each counted by itself. */
typedef struct seen {
    uint32_t last[64][N];
    uint32_t n[N];
    bool begun[64];
} seen;

static gbs_status see(void *context, uint64_t draw, uint32_t chain, double log_density,
                      const uint32_t *x, gbs_error *err)
{
    seen *s = context;
    (void)draw, (void)log_density, (void)err;
    for (uint32_t v = 0; v < N; ++v) {
        s->n[v] += s->begun[chain] && s->last[chain][v] != x[v];
        s->last[chain][v] = x[v];
    }
    s->begun[chain] = true;
    return GBS_OK;
}

/* Nothing is seen of the first sweep, which counts: at most a change in every chain. */
static void counts_are_those_of_draws(void **state)
{
    (void)state;
    gbs_model *model = slope();
    static const uint64_t chains[] = {1, 4, 16, 20, 33};
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; ++i) {
        const gbs_run_options options = usual(chains[i], 60);
        static seen s;
        memset(&s, 0, sizeof s);
        const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .context = &s, .draw = see};
        uint8_t n[N];
        gbs_run *run = NULL;
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
        assert_true(gbs_run_execute(run, &callbacks, NULL) >= 0);
        count(model, &options, NULL, NULL, 0, n);
        for (uint32_t v = 0; v < N; ++v) {
            const uint32_t least = s.n[v] < GBSI_ENOUGH_MOVES ? s.n[v] : GBSI_ENOUGH_MOVES;
            assert_in_range(n[v], least, s.n[v] + chains[i]);
        }
        assert_int_equal(n[0], GBSI_ENOUGH_MOVES);
        assert_true(n[N - 1] < GBSI_ENOUGH_MOVES);
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

static void threads_count_alike(void **state)
{
    (void)state;
    gbs_model *model = slope();
    gbs_run_options options = usual(32, 300);
    uint8_t one[N];
    uint8_t three[N];
    options.threads = 1;
    count(model, &options, NULL, NULL, 0, one);
    options.threads = 3;
    count(model, &options, NULL, NULL, 0, three);
    assert_memory_equal(one, three, N);
    gbs_model_free(model);
}

static void counts_are_resumed(void **state)
{
    (void)state;
    char folder[] = "/tmp/gibbsite-moves-XXXXXX";
    char path[64];
    char older[72];
    gbs_model *model = slope();
    const gbs_run_options options = usual(20, 200);
    uint8_t whole[N];
    uint8_t part[N];
    uint8_t again[N];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/run.ckpt", folder);
    (void)snprintf(older, sizeof older, "%s~", path);
    count(model, &options, NULL, NULL, 0, whole);
    count(model, &options, NULL, path, 150, part);
    count(model, &options, path, NULL, 0, again);
    assert_memory_equal(whole, again, N);
    assert_true(memcmp(whole, part, N) != 0); /* else nothing was left to count */
    (void)unlink(path);
    (void)unlink(older);
    (void)rmdir(folder);
    gbs_model_free(model);
}

/* ---- stays ----------------------------------------------------------------------------------- */

enum { LEAST = GBSI_LONG_STAY * GBSI_STAY_EACH }; /* passes of a stay that counts */

/* Stays that draws show, each counted by itself. */
typedef struct lasting {
    uint32_t before[64][N];
    uint64_t since[64][N], pass;
    gbsi_cell_stays sum[N];
} lasting;

static void add_stay(gbsi_stay *stay, uint64_t length)
{
    if (length >= LEAST) {
        stay->length += length;
        stay->square += (length / GBSI_STAY_UNIT) * (length / GBSI_STAY_UNIT);
    }
}

static gbs_status look(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *x, gbs_error *err)
{
    lasting *s = context;
    (void)log_density, (void)err;
    s->pass = draw + 1;
    for (uint32_t v = 0; s->pass % GBSI_STAY_EACH == 0 && v < N; ++v) {
        if (x[v] != s->before[chain][v]) {
            ++s->sum[v].changes;
            const uint64_t length = s->pass - GBSI_STAY_EACH - s->since[chain][v];
            add_stay(x[v] == 0 ? &s->sum[v].in : &s->sum[v].out, length);
            s->since[chain][v] = s->pass;
            s->before[chain][v] = x[v];
        }
    }
    return GBS_OK;
}

/* The first states that count are the last ones of burn-in. */
static gbs_status begin(void *context, uint64_t draw, uint32_t chain, double log_density,
                        const uint32_t *x, gbs_error *err)
{
    lasting *s = context;
    (void)draw, (void)log_density, (void)err;
    memcpy(s->before[chain], x, sizeof s->before[chain]);
    return GBS_OK;
}

static void end(lasting *s, uint32_t n_chains)
{
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        for (uint32_t v = 0; v < N; ++v) {
            const uint64_t looked = s->pass / GBSI_STAY_EACH * GBSI_STAY_EACH;
            if (looked - s->since[chain][v] >= LEAST) {
                add_stay(s->before[chain][v] == 1 ? &s->sum[v].in : &s->sum[v].out,
                         s->pass - s->since[chain][v]);
            }
        }
    }
}

static void execute(const gbs_model *model, const gbs_run_options *options,
                    const gbs_run_callbacks *callbacks, gbs_run **run)
{
    assert_int_equal(gbs_run_new(model, NULL, options, run, NULL), GBS_OK);
    assert_true(gbs_run_execute(*run, callbacks, NULL) >= 0);
}

static void stays_are_those_of_draws(void **state)
{
    (void)state;
    gbs_model *model = slope();
    static const uint64_t chains[] = {1, 4, 16, 20, 33};
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; ++i) {
        gbs_run_options options = usual(chains[i], 1);
        gbs_run *run = NULL;
        static lasting s;
        memset(&s, 0, sizeof s);
        options.burn_in = 19;
        execute(model, &options, &(gbs_run_callbacks){.context = &s, .draw = begin}, &run);
        gbs_run_free(run);
        options.burn_in = 20;
        options.sweeps = 3005;
        execute(model, &options, &(gbs_run_callbacks){.context = &s, .draw = look}, &run);
        gbs_run_free(run);
        end(&s, (uint32_t)chains[i]);
        execute(model, &options, NULL, &run);
        const gbsi_stays *stays = &run->sampling.estimates.stays;
        assert_int_equal(stays->n_slots, N);
        for (uint32_t slot = 0; slot < N; ++slot) {
            const uint32_t v = run->sampling.engine.plan->variable_of[slot];
            assert_memory_equal(&stays->all[stays->cell[slot]], &s.sum[v], sizeof s.sum[v]);
        }
        assert_true(s.sum[N - 1].in.square > 0 && s.sum[0].in.square == 0);
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

/* Fair coins, and a state of all of them that has a tenth of the mass and holds a chain. */
static gbs_model *holding(double weight)
{
    enum { COINS = 17 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[COINS];
    uint32_t scope[COINS];
    uint32_t table = 0;
    double *logs = calloc((size_t)1 << COINS, sizeof *logs);
    assert_non_null(logs);
    logs[0x1234] = log(weight);
    for (uint32_t v = 0; v < COINS; ++v) {
        arity[v] = 2;
        scope[v] = v;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, COINS, arity, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, (size_t)1 << COINS, logs, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, COINS, scope, table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    free(logs);
    return model;
}

/* A mode is met in 15 stays of 800 passes: the error of half the time in it is .5 .1 sqrt(2 / 15) =
 * 0.018. Without the mode there is none that holds a chain. */
static void modes_that_hold_chains_count(void **state)
{
    (void)state;
    const gbs_run_options options = usual(16, 8000);
    for (unsigned held = 0; held < 2; ++held) {
        gbs_model *model = holding(held ? 0x1p17 / 9.0 : 1.0);
        gbs_run *run = NULL;
        double p[2 * 17];
        double mcse[2 * 17];
        execute(model, &options, NULL, &run);
        assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
        for (uint32_t v = 0; v < 17; ++v) {
            assert_true(held ? mcse[2 * v] > 0.009 && mcse[2 * v] < 0.05 : mcse[2 * v] < 0.002);
        }
        gbs_run_free(run);
        gbs_model_free(model);
    }
}

static void stays_are_resumed(void **state)
{
    (void)state;
    char folder[] = "/tmp/gibbsite-stays-XXXXXX";
    char path[64];
    char older[72];
    gbs_model *model = slope();
    const gbs_run_options options = usual(20, 2500);
    gbs_run *whole = NULL;
    gbs_run *part = NULL;
    gbs_run *again = NULL;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/run.ckpt", folder);
    (void)snprintf(older, sizeof older, "%s~", path);
    execute(model, &options, NULL, &whole);
    assert_int_equal(gbs_run_new(model, NULL, &options, &part, NULL), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(part, path, NULL), GBS_OK);
    part->checkpoints.stop_after = 1003;
    assert_true(gbs_run_execute(part, NULL, NULL) >= 0);
    assert_int_equal(gbs_run_new(model, NULL, &options, &again, NULL), GBS_OK);
    assert_int_equal(gbs_run_resume(again, path, NULL), GBS_OK);
    assert_true(gbs_run_execute(again, NULL, NULL) >= 0);
    const size_t bytes = whole->sampling.estimates.stays.n_cells * sizeof(gbsi_cell_stays);
    assert_memory_equal(whole->sampling.estimates.stays.all, again->sampling.estimates.stays.all,
                        bytes);
    assert_true(memcmp(whole->sampling.estimates.stays.all, part->sampling.estimates.stays.all,
                       bytes) != 0);
    assert_string_equal(gbs_run_report(whole)->digest, gbs_run_report(again)->digest);
    gbs_run_free(whole);
    gbs_run_free(part);
    gbs_run_free(again);
    (void)unlink(path);
    (void)unlink(older);
    (void)rmdir(folder);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_draws),    cmocka_unit_test(threads_count_alike),
        cmocka_unit_test(counts_are_resumed),           cmocka_unit_test(stays_are_those_of_draws),
        cmocka_unit_test(modes_that_hold_chains_count), cmocka_unit_test(stays_are_resumed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
