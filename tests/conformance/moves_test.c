/* SPDX-License-Identifier: Apache-2.0 */
/* How often variables changed is counted alike however chains stand side by side, and goes on when
 * a run does. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_those_of_draws),
                                       cmocka_unit_test(threads_count_alike),
                                       cmocka_unit_test(counts_are_resumed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
