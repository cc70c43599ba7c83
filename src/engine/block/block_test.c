/* SPDX-License-Identifier: Apache-2.0 */
/* Compares block draws with the exact distribution at the temperature of each lane. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "block/block.h"
#include "generate/random_models.h"
#include "simd/math.h"

enum { L = GBSI_BLOCK_LANES, MOST_STATES = 4096 };

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

/* Convert between the states of a lane and the number of the joint state, variable 0 fastest. */
static size_t number_of(const gbsi_conditioned *model, const uint32_t *x, uint32_t lane)
{
    size_t number = 0;
    for (uint32_t v = model->n_variables; v-- > 0;) {
        number = number * model->arity[v] + x[v * L + lane];
    }
    return number;
}

static void set_lane(const gbsi_conditioned *model, size_t number, uint32_t *x, uint32_t lane)
{
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        x[v * L + lane] = (uint32_t)(number % model->arity[v]);
        number /= model->arity[v];
    }
}

static size_t n_states(const gbsi_conditioned *model)
{
    size_t n = 1;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        n *= model->arity[v];
    }
    return n;
}

/* Computes p(x) in proportion to exp(beta E(x)). At beta = 0 states of weight zero count like all
 * others. */
static void exact_law(const gbsi_conditioned *model, float beta, double *p)
{
    uint32_t x[MOST_VARIABLES] = {0};
    double most = -INFINITY;
    double sum = 0.0;
    size_t n = 0;
    do {
        const double e = gbsi_conditioned_log_density(model, x);
        p[n] = beta == 0.0f ? 0.0 : (double)beta * e;
        most = p[n] > most ? p[n] : most;
        ++n;
    } while (next_assignment(model->n_variables, model->arity, x));
    for (size_t i = 0; i < n; ++i) {
        p[i] = exp(p[i] - most);
        sum += p[i];
    }
    for (size_t i = 0; i < n; ++i) {
        p[i] /= sum;
    }
}

static size_t draw_from(const double *p, uint64_t *seed)
{
    double u = (double)(next_random(seed) >> 11) * 0x1p-53;
    size_t i = 0;
    while (u >= p[i] && i + 1 < MOST_STATES) {
        u -= p[i++];
    }
    return i;
}

/* Checks counts against n p by chi square. Cells with expected counts below 5 are merged. A correct
 * draw exceeds the bound with probability below 1e-7. */
static void check_counts(const uint32_t *count, const double *p, size_t n_cells, uint32_t n)
{
    double chi = 0.0;
    double rest = 0.0;
    double rest_count = 0.0;
    double cells = 0.0;
    for (size_t i = 0; i < n_cells; ++i) {
        assert_true(p[i] > 0.0 || count[i] == 0);
        if (n * p[i] < 5.0) {
            rest += n * p[i];
            rest_count += count[i];
        } else {
            chi += (count[i] - n * p[i]) * (count[i] - n * p[i]) / (n * p[i]);
            cells += 1.0;
        }
    }
    if (rest > 0.0) {
        chi += (rest_count - rest) * (rest_count - rest) / (rest + 1.0);
    }
    if (chi > cells + 6.0 * sqrt(2.0 * cells) + 30.0) {
        fail_msg("chi square %g of %g cells", chi, cells);
    }
}

static gbsi_conditioned *random_conditioned(uint64_t *seed, uint32_t zeros, gbs_model **user)
{
    for (;;) {
        gbsi_conditioned *model = NULL;
        *user = random_model_of(seed, (random_size){MOST_VARIABLES, 4, 12, 2}, zeros);
        if (gbsi_condition(*user, NULL, &model, NULL) == GBS_OK && model->n_variables > 2) {
            uint32_t x[MOST_VARIABLES] = {0};
            do {
                if (gbsi_conditioned_log_density(model, x) > -INFINITY) {
                    return model;
                }
            } while (next_assignment(model->n_variables, model->arity, x));
        }
        gbsi_conditioned_free(model);
        gbs_model_free(*user);
    }
}

static const float betas[L] = {0.0f, 0.05f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.55f,
                               0.6f, 0.65f, 0.7f, 0.8f, 0.9f, 1.0f, 1.0f, 1.0f};

typedef struct lab {
    gbs_model *user;
    gbsi_conditioned *model;
    gbsi_blocks *blocks;
    gbsi_block_lanes *lanes;
    double *p;       /* [L][n_states] */
    uint32_t *count; /* [L][n_states] */
    size_t n;
} lab;

static void lab_open(lab *t, uint64_t *seed, uint32_t zeros, uint32_t entries)
{
    do {
        *t = (lab){0};
        t->model = random_conditioned(seed, zeros, &t->user);
        ok(gbsi_blocks_new(t->model, entries, 4, 6, NULL, &t->blocks, NULL));
        if (t->blocks == NULL) {
            gbsi_conditioned_free(t->model);
            gbs_model_free(t->user);
        }
    } while (t->blocks == NULL);
    ok(gbsi_block_lanes_new(t->blocks, gbsi_simd_level(), &t->lanes, NULL));
    gbsi_block_heat(t->lanes, betas);
    t->n = n_states(t->model);
    assert_true(t->n <= MOST_STATES);
    t->p = malloc(L * t->n * sizeof *t->p);
    t->count = calloc(L * t->n, sizeof *t->count);
    assert_true(t->p != NULL && t->count != NULL);
    for (uint32_t l = 0; l < L; ++l) {
        exact_law(t->model, betas[l], t->p + l * t->n);
    }
}

static void lab_close(lab *t)
{
    free(t->p);
    free(t->count);
    gbsi_block_lanes_free(t->lanes);
    gbsi_blocks_free(t->blocks);
    gbsi_conditioned_free(t->model);
    gbs_model_free(t->user);
}

/* A block draw that starts from an exact draw at the temperature of each lane gives an exact draw
 * again, also if lanes are drawn from the messages of a colder lane. The plans hold many, few and
 * no variables. */
static void draws_leave_the_law_as_it_is(void **state)
{
    (void)state;
    static const uint32_t entries[] = {4, 8, 16, 1024};
    enum { PASSES = 1500 };
    static const uint32_t colder[L] = {15, 3, 3, 0, 13, 13, 13, 13, 8, 9, 10, 11, 12, 1, 14, 15};
    uint64_t seed = 99;
    uint32_t n_held = 0;
    for (int i = 0; i < 48; ++i) {
        lab t;
        uint32_t x[MOST_VARIABLES * L];
        uint32_t y[MOST_VARIABLES * L];
        lab_open(&t, &seed, (uint32_t)(i % 3) * 10, entries[i % 4]);
        const bool redrawn = i % 2 == 1;
        for (uint32_t pass = 0; pass < PASSES; ++pass) {
            for (uint32_t l = 0; l < L; ++l) {
                set_lane(t.model, draw_from(t.p + l * t.n, &seed), x, l);
            }
            const uint32_t plan = pass % t.blocks->n_plans;
            const gbsi_block_draw draw = {.seed = 8,
                                          .pass = pass,
                                          .chain = 16,
                                          .purpose = GBSI_PURPOSE_BLOCK,
                                          .from = redrawn ? colder : NULL};
            gbsi_block_up(t.lanes, plan, x);
            gbsi_block_down(t.lanes, &draw, x, redrawn ? y : x);
            for (uint32_t l = 0; l < L; ++l) {
                ++t.count[l * t.n + number_of(t.model, redrawn ? y : x, l)];
            }
            n_held += t.blocks->plan[plan].n_held;
        }
        for (uint32_t l = 0; l < L; ++l) {
            check_counts(t.count + l * t.n, t.p + (redrawn ? colder[l] : l) * t.n, t.n, PASSES);
        }
        lab_close(&t);
    }
    assert_true(n_held > 10 * PASSES);
}

/* Blocks are drawn from their conditional distribution, given the held states. */
static void draws_are_conditional(void **state)
{
    (void)state;
    enum { PASSES = 3000 };
    uint64_t seed = 1234;
    for (int i = 0; i < 24; ++i) {
        lab t;
        uint32_t x[MOST_VARIABLES * L];
        uint32_t y[MOST_VARIABLES * L];
        lab_open(&t, &seed, (uint32_t)(i % 2) * 10, 6);
        const uint32_t plan = (uint32_t)i % t.blocks->n_plans;
        const gbsi_block_plan *p = &t.blocks->plan[plan];
        for (uint32_t l = 0; l < L; ++l) {
            set_lane(t.model, draw_from(t.p + l * t.n, &seed), x, l);
        }
        for (size_t s = 0; s < L * t.n; ++s) { /* states that differ in a held variable */
            const uint32_t l = (uint32_t)(s / t.n);
            set_lane(t.model, s % t.n, y, l);
            for (uint32_t h = 0; h < p->n_held; ++h) {
                const size_t at = p->held[h] * (size_t)L + l;
                t.p[s] = y[at] == x[at] ? t.p[s] : 0.0;
            }
        }
        for (uint32_t pass = 0; pass < PASSES; ++pass) {
            const gbsi_block_draw draw = {.seed = 3, .pass = pass, .purpose = GBSI_PURPOSE_BLOCK};
            gbsi_block_up(t.lanes, plan, x);
            gbsi_block_down(t.lanes, &draw, x, y);
            for (uint32_t l = 0; l < L; ++l) {
                ++t.count[l * t.n + number_of(t.model, y, l)];
            }
        }
        for (uint32_t l = 0; l < L; ++l) {
            double sum = 0.0;
            for (size_t s = 0; s < t.n; ++s) {
                sum += t.p[l * t.n + s];
            }
            for (size_t s = 0; s < t.n; ++s) {
                t.p[l * t.n + s] /= sum;
            }
            check_counts(t.count + l * t.n, t.p + l * t.n, t.n, PASSES);
        }
        lab_close(&t);
    }
}

/* Given the held states, no state of the block is more probable than the one found, with and
 * without hard zeros. */
static void blocks_are_maximised(void **state)
{
    (void)state;
    uint64_t seed = 4321;
    uint32_t n_raised = 0;
    for (int i = 0; i < 60; ++i) {
        lab t;
        uint32_t x[MOST_VARIABLES * L];
        uint32_t y[MOST_VARIABLES * L];
        lab_open(&t, &seed, (uint32_t)(i % 2) * 10, i % 3 == 0 ? 1024 : 6);
        const uint32_t plan = (uint32_t)i % t.blocks->n_plans;
        const gbsi_block_plan *p = &t.blocks->plan[plan];
        gbsi_block_cool(t.lanes, t.model);
        for (uint32_t l = 0; l < L; ++l) {
            set_lane(t.model, draw_from(t.p + l * t.n, &seed), x, l);
        }
        memcpy(y, x, sizeof x);
        gbsi_block_maximise(t.lanes, plan, y);
        for (uint32_t l = 0; l < L; ++l) {
            uint32_t at[MOST_VARIABLES];
            double most = -INFINITY;
            for (size_t s = 0; s < t.n; ++s) {
                size_t rest = s;
                bool same = true;
                for (uint32_t v = 0; v < t.model->n_variables; ++v) {
                    at[v] = (uint32_t)(rest % t.model->arity[v]);
                    rest /= t.model->arity[v];
                }
                for (uint32_t h = 0; h < p->n_held; ++h) {
                    same = same && at[p->held[h]] == x[p->held[h] * (size_t)L + l];
                }
                const double e = same ? gbsi_conditioned_log_density(t.model, at) : -INFINITY;
                most = e > most ? e : most;
            }
            for (uint32_t v = 0; v < t.model->n_variables; ++v) {
                at[v] = y[v * L + l];
            }
            const double found = gbsi_conditioned_log_density(t.model, at);
            assert_true(found == most || fabs(found - most) < 1e-9 * (1.0 + fabs(most)));
            n_raised += memcmp(x, y, sizeof x) != 0;
        }
        lab_close(&t);
    }
    assert_true(n_raised > 100);
}

/* A torus of spins with couplings of one size and random signs. */
static gbsi_conditioned *torus(uint32_t side, double size, uint64_t *seed, gbs_model **user)
{
    gbs_builder *b = NULL;
    gbsi_conditioned *model = NULL;
    uint32_t *arity = malloc((size_t)side * side * sizeof *arity);
    assert_non_null(arity);
    for (uint32_t v = 0; v < side * side; ++v) {
        arity[v] = 2;
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, side * side, arity, NULL, NULL));
    for (uint32_t v = 0; v < side * side; ++v) {
        const uint32_t right = v - v % side + (v + 1) % side;
        const uint32_t below = (v + side) % (side * side);
        ok(gbs_builder_add_ising(b, v, right, random_below(seed, 2) == 0 ? size : -size, NULL));
        ok(gbs_builder_add_ising(b, v, below, random_below(seed, 2) == 0 ? size : -size, NULL));
    }
    ok(gbs_builder_build(b, user, NULL));
    gbs_builder_free(b);
    free(arity);
    ok(gbsi_condition(*user, NULL, &model, NULL));
    return model;
}

/* On a spin glass of strong couplings all instruction sets draw the same states. The plans differ,
 * and hold each variable about equally often. Cliques stay within the allowed entries. */
static void instruction_sets_agree(void **state)
{
    (void)state;
    enum { SIDE = 12, N = SIDE * SIDE };
    uint64_t seed = 77;
    gbs_model *user = NULL;
    gbsi_conditioned *model = torus(SIDE, 14.0, &seed, &user);
    gbsi_blocks *blocks = NULL;
    static uint32_t first[N * L];
    static uint32_t x[N * L];
    ok(gbsi_blocks_new(model, 0, 1, GBSI_BLOCK_PLANS, NULL, &blocks, NULL));
    assert_int_equal(blocks->n_plans, GBSI_BLOCK_PLANS);
    uint32_t times[N] = {0};
    for (uint32_t i = 0; i < blocks->n_plans; ++i) {
        const gbsi_block_plan *p = &blocks->plan[i];
        assert_true(p->n_held < N / 4);
        for (uint32_t k = 0; k < p->n_buckets; ++k) {
            assert_true(p->bucket[k].n_rows * p->bucket[k].arity <= GBSI_BLOCK_ENTRIES);
        }
        for (uint32_t h = 0; h < p->n_held; ++h) {
            ++times[p->held[h]];
        }
    }
    for (uint32_t v = 0; v < N; ++v) {
        assert_true(times[v] <= GBSI_BLOCK_PLANS / 2);
    }
    for (gbsi_simd level = GBSI_SIMD_PORTABLE; level < GBSI_N_SIMD; ++level) {
        if (!gbsi_simd_has(level)) {
            continue;
        }
        gbsi_block_lanes *lanes = NULL;
        ok(gbsi_block_lanes_new(blocks, level, &lanes, NULL));
        gbsi_block_heat(lanes, betas);
        memset(x, 0, sizeof x);
        for (uint32_t pass = 0; pass < 50; ++pass) {
            const gbsi_block_draw draw = {.seed = 5, .pass = pass, .purpose = GBSI_PURPOSE_BLOCK};
            gbsi_block_up(lanes, pass % blocks->n_plans, x);
            assert_int_equal(lanes->dead, 0);
            gbsi_block_down(lanes, &draw, x, x);
        }
        gbsi_block_cool(lanes, model);
        gbsi_block_maximise(lanes, 0, x);
        if (level == GBSI_SIMD_PORTABLE) {
            memcpy(first, x, sizeof x);
        }
        assert_memory_equal(first, x, sizeof x);
        gbsi_block_lanes_free(lanes);
    }
    gbsi_blocks_free(blocks);
    gbsi_conditioned_free(model);
    gbs_model_free(user);
}

/* A lane whose products underflow to zero keeps its states; the other lanes are drawn. */
static void lanes_beyond_doubles_stay(void **state)
{
    (void)state;
    enum { SIDE = 6, N = SIDE * SIDE };
    uint64_t seed = 3;
    gbs_model *user = NULL;
    gbsi_conditioned *model = torus(SIDE, 4000.0, &seed, &user);
    gbsi_blocks *blocks = NULL;
    gbsi_block_lanes *lanes = NULL;
    uint32_t x[N * L];
    uint32_t y[N * L];
    ok(gbsi_blocks_new(model, 64, 1, 4, NULL, &blocks, NULL));
    ok(gbsi_block_lanes_new(blocks, gbsi_simd_level(), &lanes, NULL));
    gbsi_block_heat(lanes, betas);
    for (uint32_t k = 0; k < N * L; ++k) {
        x[k] = random_below(&seed, 2);
    }
    const gbsi_block_draw draw = {.seed = 5, .purpose = GBSI_PURPOSE_BLOCK};
    gbsi_block_up(lanes, 0, x);
    gbsi_block_down(lanes, &draw, x, y);
    assert_int_equal(lanes->dead & 1, 0);
    assert_true(lanes->dead >> 13 != 0);
    for (uint32_t l = 0; l < L; ++l) {
        bool same = true;
        for (uint32_t v = 0; v < N; ++v) {
            same = same && x[v * L + l] == y[v * L + l];
        }
        assert_int_equal(same, lanes->dead >> l & 1);
    }
    gbsi_block_lanes_free(lanes);
    gbsi_blocks_free(blocks);
    gbsi_conditioned_free(model);
    gbs_model_free(user);
}

/* If weights are thousands of nats apart, products of probable states underflow. Draws must still
 * leave the distribution invariant; they would not if a lane could leave such a state forever. */
static void wide_weights_leave_the_law_as_it_is(void **state)
{
    (void)state;
    enum { PASSES = 200 };
    uint64_t seed = 21;
    uint32_t n_lost = 0;
    for (int i = 0; i < 48; ++i) {
        lab t;
        float wide[L];
        uint32_t x[MOST_VARIABLES * L];
        lab_open(&t, &seed, 0, i % 2 == 0 ? 1024 : 8);
        for (uint32_t l = 0; l < L; ++l) {
            wide[l] = betas[l] * (i % 3 == 0 ? 300.0f : 3000.0f);
            exact_law(t.model, wide[l], t.p + l * t.n);
        }
        gbsi_block_heat(t.lanes, wide);
        for (uint32_t pass = 0; pass < PASSES; ++pass) {
            const gbsi_block_draw draw = {.seed = 6, .pass = pass, .purpose = GBSI_PURPOSE_BLOCK};
            for (uint32_t l = 0; l < L; ++l) {
                set_lane(t.model, draw_from(t.p + l * t.n, &seed), x, l);
            }
            gbsi_block_up(t.lanes, pass % t.blocks->n_plans, x);
            n_lost += t.lanes->lost != 0;
            gbsi_block_spare(t.lanes, x);
            gbsi_block_down(t.lanes, &draw, x, x);
            for (uint32_t l = 0; l < L; ++l) {
                ++t.count[l * t.n + number_of(t.model, x, l)];
            }
        }
        for (uint32_t l = 0; l < L; ++l) {
            check_counts(t.count + l * t.n, t.p + l * t.n, t.n, PASSES);
        }
        lab_close(&t);
    }
    assert_true(n_lost > 1000);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

/* If any request for memory fails, nothing is made and nothing leaks. A stop by the watch ends the
 * call. */
static void fails_whole(void **state)
{
    (void)state;
    uint64_t seed = 6;
    gbs_model *user = NULL;
    gbsi_conditioned *model = torus(6, 1.0, &seed, &user);
    gbsi_blocks *blocks = NULL;
    gbsi_block_lanes *lanes = NULL;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; ++n) {
        gbsi_alloc_fail_after(n);
        status = gbsi_blocks_new(model, 32, 1, 2, NULL, &blocks, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && blocks == NULL));
    }
    assert_true(gbsi_blocks_operations(blocks) > 0.0);
    status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; ++n) {
        gbsi_alloc_fail_after(n);
        status = gbsi_block_lanes_new(blocks, gbsi_simd_level(), &lanes, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && lanes == NULL));
    }
    gbsi_block_lanes_free(lanes);
    gbsi_blocks_free(blocks);
    gbsi_conditioned_free(model);
    gbs_model_free(user);

    gbsi_watch watch = {.look = stop_at_once};
    model = torus(24, 1.0, &seed, &user);
    assert_int_equal(gbsi_blocks_new(model, 32, 1, 2, &watch, &blocks, NULL), GBS_ERR_STOPPED);
    assert_null(blocks);
    gbsi_conditioned_free(model);
    gbs_model_free(user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_leave_the_law_as_it_is),
        cmocka_unit_test(draws_are_conditional),
        cmocka_unit_test(blocks_are_maximised),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(lanes_beyond_doubles_stay),
        cmocka_unit_test(wide_weights_leave_the_law_as_it_is),
        cmocka_unit_test(fails_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
