/* SPDX-License-Identifier: Apache-2.0 */
/* Every kernel against the definition [M2], on every instruction set, in both packings.
 *
 * For random states of random models of every family the conditional of each slot is compared with
 * the one computed from the factors in double; the vector kernels must agree with the portable one,
 * and rows of sixteen chains with sixteen places of one chain, bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/generate.h"
#include "plan/kernel.h"
#include "support/runs.h"
#include "support/small_models.h"

#define LANES 16u

typedef struct fixture {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_plan *plan;   /* for sixteen chains */
    gbsi_plan *sliced; /* for one: the same slots */
    uint32_t *x;       /* [LANES][n_variables] */
    gbsi_group sixteen, one[LANES];
    float *w;
} fixture;

static void *must_have(void *pointer)
{
    assert_non_null(pointer);
    return pointer;
}

static void fill_states(fixture *f, uint64_t seed)
{
    const gbsi_plan *plan = f->plan;
    const uint32_t n = plan->n_slots;
    test_stream s = {.seed = seed, .n = 0};
    f->x = must_have(gbsi_alloc_array((size_t)n * LANES, sizeof *f->x));
    f->sixteen.state = must_have(gbsi_alloc_lanes((size_t)n * LANES, plan->value_bytes));
    f->sixteen.counter =
        must_have(gbsi_alloc_lanes((size_t)plan->n_counters * LANES + 1, sizeof(uint32_t)));
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        f->one[lane].state = must_have(gbsi_alloc_lanes(n, plan->value_bytes));
        f->one[lane].counter =
            must_have(gbsi_alloc_lanes((size_t)plan->n_counters + 1, sizeof(uint32_t)));
        for (uint32_t slot = 0; slot < n; ++slot) {
            const uint32_t v = plan->variable_of[slot];
            const uint32_t a = test_below(&s, gbsi_plan_arity(plan, slot));
            f->x[(size_t)lane * n + v] = a;
            if (plan->value_bytes == 1) {
                ((uint8_t *)f->sixteen.state)[slot * LANES + lane] = (uint8_t)a;
                ((uint8_t *)f->one[lane].state)[slot] = (uint8_t)a;
            } else {
                ((uint16_t *)f->sixteen.state)[slot * LANES + lane] = (uint16_t)a;
                ((uint16_t *)f->one[lane].state)[slot] = (uint16_t)a;
            }
        }
        if (plan->n_counters > 0) {
            gbsi_counters_init(plan, 1, &f->one[lane]);
        }
    }
    if (plan->n_counters > 0) {
        gbsi_counters_init(plan, LANES, &f->sixteen);
    }
}

static void set_up(fixture *f, gbs_model *model, uint64_t seed, bool heated)
{
    gbs_error err = {0};
    memset(f, 0, sizeof *f);
    f->model = model;
    assert_int_equal(gbsi_condition(model, NULL, &f->conditioned, &err), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, NULL, &f->graph, &err), GBS_OK);
    const uint32_t n = f->conditioned->n_variables;
    uint32_t *sequence = must_have(gbsi_alloc_array(n, sizeof *sequence));
    for (uint32_t v = 0; v < n; ++v) {
        sequence[v] = v;
    }
    for (int sell = 0; sell < 2; ++sell) {
        const gbsi_plan_options options = {.repeats = true, .sell = sell != 0, .heated = heated};
        assert_int_equal(gbsi_plan_new(f->conditioned, f->graph, sequence, n, options,
                                       sell == 0 ? &f->plan : &f->sliced, &err),
                         GBS_OK);
    }
    assert_memory_equal(f->plan->slot_of, f->sliced->slot_of, n * sizeof *f->plan->slot_of);
    gbsi_free(sequence);
    fill_states(f, seed);
    f->w = must_have(gbsi_alloc_lanes((size_t)f->plan->max_arity * LANES * 64, sizeof(float)));
}

static void tear_down(fixture *f)
{
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        gbsi_free(f->one[lane].state);
        gbsi_free(f->one[lane].counter);
    }
    gbsi_free(f->sixteen.state);
    gbsi_free(f->sixteen.counter);
    gbsi_free(f->x);
    gbsi_free(f->w);
    gbsi_plan_free(f->plan);
    gbsi_plan_free(f->sliced);
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
}

static gbsi_tile tile_of(const fixture *f, uint32_t slot, uint32_t n_places, uint32_t lanes)
{
    const gbsi_plan *plan = f->plan;
    return (gbsi_tile){.class_id = (uint8_t)gbsi_plan_class(plan, slot),
                       .odds = (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0,
                       .linear = (gbsi_plan_form(plan, slot) & GBSI_LINEAR) != 0,
                       .value_bytes = (uint8_t)plan->value_bytes,
                       .lanes = (uint8_t)lanes,
                       .arity = gbsi_plan_arity(plan, slot),
                       .n_places = n_places,
                       .n_rows = lanes == 1 ? (n_places + 15) / 16 : n_places,
                       .first_slot = slot,
                       .contiguous = 1,
                       .w = f->w};
}

/* ln p(a | rest) relative to its maximum, from the factors, in double. */
static void reference(const fixture *f, uint32_t lane, uint32_t v, double *logw)
{
    const gbsi_conditioned *c = f->conditioned;
    uint32_t *x = f->x + (size_t)lane * c->n_variables;
    const uint32_t kept = x[v];
    double top = -INFINITY;
    for (uint32_t a = 0; a < c->arity[v]; ++a) {
        logw[a] = 0.0;
        x[v] = a;
        for (size_t g = 0; g < c->factors.n_factors; ++g) {
            for (size_t e = c->factors.scope_start[g]; e < c->factors.scope_start[g + 1]; ++e) {
                if (c->factors.scope[e] == v) {
                    logw[a] += gbsi_factor_value(&c->factors, c->arity, g, x);
                }
            }
        }
        top = logw[a] > top ? logw[a] : top;
    }
    x[v] = kept;
    for (uint32_t a = 0; a < c->arity[v] && top > -INFINITY; ++a) {
        logw[a] -= top;
    }
}

static double tolerance = 1.5e-4; /* of log-weights */

/* @param w one slot's rows, as its kernel wrote them. */
static void check_close(const fixture *f, uint32_t slot, uint32_t lane, const float *w)
{
    const gbsi_plan *plan = f->plan;
    const uint32_t k = gbsi_plan_arity(plan, slot);
    const bool odds = (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0;
    double expected[512];
    double found[512];
    double top = -INFINITY;
    assert_true(k <= 512);
    reference(f, lane, plan->variable_of[slot], expected);
    for (uint32_t a = 0; a < (odds ? 1 : k); ++a) {
        const double value = w[a * LANES + lane];
        found[a] = (gbsi_plan_form(plan, slot) & GBSI_LINEAR) != 0 ? log(value) : value;
        top = found[a] > top ? found[a] : top;
    }
    if (odds) {
        assert_true(fabs(found[0] - (expected[1] - expected[0])) <= tolerance);
        return;
    }
    for (uint32_t a = 0; a < k && top > -INFINITY; ++a) {
        if (expected[a] < -30.0 &&
            tolerance > 0.0) { /* a weight below 1e-13: only its smallness counts */
            assert_true(found[a] - top < -29.0);
        } else if (expected[a] > -INFINITY) {
            assert_true(fabs(found[a] - top - expected[a]) <= tolerance);
        } else {
            assert_true(found[a] == -INFINITY);
        }
    }
}

static void check_level(const fixture *f, gbsi_simd level, float *first)
{
    const gbsi_plan *plan = f->plan;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const gbsi_kernel *kernel = gbsi_kernel_of(gbsi_plan_class(plan, slot), level);
        const bool odds = (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0;
        const uint32_t width = odds ? 1 : gbsi_plan_arity(plan, slot);
        float *seen = first + gbsi_offset(&plan->field_start, slot) * LANES;
        gbsi_tile tile = tile_of(f, slot, 1, LANES);
        kernel->fill16(plan, &f->sixteen, &tile);
        if (level == GBSI_SIMD_PORTABLE) {
            for (uint32_t lane = 0; lane < LANES; ++lane) {
                check_close(f, slot, lane, tile.w);
            }
            memcpy(seen, tile.w, sizeof(float) * width * LANES);
        }
        assert_memory_equal(tile.w, seen, sizeof(float) * width * LANES);
        for (uint32_t lane = 0; lane < LANES; ++lane) {
            gbsi_tile one = tile_of(f, slot, 1, 1);
            kernel->fill1(f->sliced, &f->one[lane], &one);
            for (uint32_t a = 0; a < width; ++a) {
                assert_memory_equal(&one.w[a * 16], &seen[a * LANES + lane], sizeof(float));
            }
            kernel->fill1(plan, &f->one[lane], &one); /* passes that differ: one chain by rows */
            for (uint32_t a = 0; a < width; ++a) {
                assert_memory_equal(&one.w[a * 16], &seen[a * LANES + lane], sizeof(float));
            }
        }
    }
}

/* Sixteen slots of one chain at once, regular slices or not, equal one at a time. @return how many
 * of them were regular. */
static uint32_t check_slices(const fixture *f, gbsi_simd level, const float *first)
{
    const gbsi_plan *plan = f->sliced;
    uint32_t n_regular = 0;
    for (uint32_t slot = 0; slot + 16 <= plan->n_slots; slot += 16) {
        bool uniform = true;
        for (uint32_t i = 0; i < 16; ++i) {
            uniform &= gbsi_plan_class(plan, slot + i) == gbsi_plan_class(plan, slot) &&
                       gbsi_plan_form(plan, slot + i) == gbsi_plan_form(plan, slot) &&
                       gbsi_plan_arity(plan, slot + i) == gbsi_plan_arity(plan, slot);
        }
        if (!uniform) {
            continue;
        }
        n_regular += plan->sell.slice[slot / 16].regular;
        gbsi_tile tile = tile_of(f, slot, 16, 1);
        gbsi_kernel_of(gbsi_plan_class(plan, slot), level)->fill1(plan, &f->one[3], &tile);
        const uint32_t width = tile.odds ? 1 : tile.arity;
        for (uint32_t i = 0; i < 16; ++i) {
            const float *seen = first + gbsi_offset(&plan->field_start, slot + i) * LANES;
            for (uint32_t a = 0; a < width; ++a) {
                assert_memory_equal(&tile.w[a * 16 + i], &seen[a * LANES + 3], sizeof(float));
            }
        }
    }
    return n_regular;
}

static uint32_t n_regular; /* slices seen */

static void check_plan(gbs_model *model, uint64_t seed, bool heated, uint32_t *classes)
{
    fixture f;
    set_up(&f, model, seed, heated);
    const size_t cells = gbsi_offset(&f.plan->field_start, f.plan->n_slots) * LANES;
    float *first = must_have(gbsi_alloc_lanes(cells, sizeof *first));
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    for (int level = GBSI_SIMD_PORTABLE; level <= (int)best; ++level) {
        if (!gbsi_simd_has((gbsi_simd)level)) {
            continue;
        }
        check_level(&f, (gbsi_simd)level, first);
        n_regular += check_slices(&f, (gbsi_simd)level, first);
    }
    for (unsigned c = 0; c < GBSI_N_CLASSES; ++c) {
        classes[c] += f.plan->n_of_class[c];
    }
    for (uint32_t slot = 0; slot < f.plan->n_slots; ++slot) {
        assert_false(heated && (gbsi_plan_form(f.plan, slot) & GBSI_LINEAR) != 0);
    }
    gbsi_free(first);
    tear_down(&f);
}

/* Both forms: logarithms, and weights where the model allows them. */
static void check_model(gbs_model *model, uint64_t seed, uint32_t *classes)
{
    check_plan(model, seed, true, classes);
    check_plan(model, seed, false, classes);
    gbs_model_free(model);
}

static void families(void **state)
{
    (void)state;
    uint32_t classes[GBSI_N_CLASSES] = {0};
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 0; seed < 12; seed += test_share(1, 3)) {
            const uint32_t n = seed == 0 ? 1 : 3 + (uint32_t)seed * 3;
            check_model(test_model((test_family)family, seed, n), seed, classes);
        }
    }
    for (unsigned c = 0; c < GBSI_CLASS_LATTICE; ++c) {
        assert_true(classes[c] > 0); /* otherwise this test covers less than it says */
    }
}

static void table_of_cases(void **state)
{
    (void)state;
    uint32_t classes[GBSI_N_CLASSES] = {0};
    for (size_t i = 0; i < n_test_cases; ++i) {
        check_model(test_cases[i].make(), i, classes);
    }
}

/* Rows beyond GBSI_LONG_ROW: strided partial sums. */
static void long_rows(void **state)
{
    (void)state;
    gbs_error err = {0};
    uint32_t classes[GBSI_N_CLASSES] = {0};
    uint32_t arity[200];
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    test_stream s = {.seed = 5, .n = 0};
    for (uint32_t v = 0; v < 200; ++v) {
        arity[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 200, arity, NULL, &err), GBS_OK);
    for (uint32_t v = 1; v < 200; ++v) {
        const double w = test_uniform(&s, -0.005, 0.005);
        assert_int_equal(gbs_builder_add_ising(b, 0, v, w, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_ising(b, v, (v + 7) % 199 + 1, w, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
    gbs_builder_free(b);
    check_model(model, 1, classes);
    assert_true(classes[GBSI_CLASS_ISING] == 400); /* both forms */
}

/* One arity throughout, so that slots of one kind fill slices: every class that has them. */
static void slices(void **state)
{
    (void)state;
    gbs_error err = {0};
    uint32_t classes[GBSI_N_CLASSES] = {0};
    for (int kind = 0; kind < 4; ++kind) { /* spins, Potts, pairwise tables, tables of three */
        enum { N = 160 };
        const uint32_t k = kind == 0 ? 2 : 3;
        uint32_t arity[N];
        gbs_builder *b = NULL;
        gbs_model *model = NULL;
        test_stream s = {.seed = 11, .n = 0};
        for (uint32_t v = 0; v < N; ++v) {
            arity[v] = k;
        }
        assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, &err), GBS_OK);
        for (uint32_t v = 0; v + 2 < N; ++v) {
            const uint32_t scope[3] = {v, v + 1 + test_below(&s, 2) * (kind != 3), v + 2};
            double logw[27];
            uint32_t table = 0;
            for (uint32_t i = 0; i < 27; ++i) {
                logw[i] = test_uniform(&s, -1.0, 1.0);
            }
            const double w = v < N / 2 ? 0.4 : logw[0]; /* one coupling for the first half */
            if (kind == 0) {
                assert_int_equal(gbs_builder_add_ising(b, v, scope[1], w, &err), GBS_OK);
            } else if (kind == 1) {
                assert_int_equal(gbs_builder_add_potts(b, v, scope[1], w, &err), GBS_OK);
            } else {
                const uint32_t n = kind == 2 ? 2 : 3;
                const size_t entries = kind == 2 ? 9 : 27;
                assert_int_equal(gbs_builder_add_table(b, entries, logw, &table, &err), GBS_OK);
                assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, &err), GBS_OK);
            }
        }
        assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
        gbs_builder_free(b);
        n_regular = 0;
        check_model(model, 2, classes);
        assert_true(n_regular >= 8); /* otherwise this test covers less than it says */
    }
    for (unsigned c = GBSI_CLASS_ISING; c <= GBSI_CLASS_TABLE; ++c) {
        assert_true(classes[c] > 0);
    }
}

/* Four neighbours each, with couplings of their own or one for all. */
static void toruses(void **state)
{
    (void)state;
    for (int uniform = 0; uniform < 2; ++uniform) {
        uint32_t classes[GBSI_N_CLASSES] = {0};
        const gbs_generate_ising_options o = {.side = {9, 12, 1},
                                              .torus = 1,
                                              .coupling = 0.3,
                                              .coupling_spread = uniform != 0 ? 0.0 : 0.2,
                                              .random_field = 0.3,
                                              .seed = 4};
        gbs_model *model = NULL;
        assert_int_equal(gbs_generate_ising(&o, &model, NULL), GBS_OK);
        check_model(model, 5, classes);
        assert_int_equal(classes[GBSI_CLASS_ISING], 2 * 108);
    }
}

static void add_pair(gbs_builder *b, int kind, const uint32_t scope[2], test_stream *s)
{
    gbs_error err = {0};
    double logw[9];
    uint32_t table = 0;
    for (uint32_t i = 0; i < 9; ++i) {
        logw[i] = test_uniform(s, -0.5, 0.5);
    }
    if (kind == 0) {
        assert_int_equal(gbs_builder_add_ising(b, scope[0], scope[1], logw[0], &err), GBS_OK);
    } else if (kind == 1) {
        assert_int_equal(gbs_builder_add_potts(b, scope[0], scope[1], logw[0], &err), GBS_OK);
    } else {
        assert_int_equal(gbs_builder_add_table(b, 9, logw, &table, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, &err), GBS_OK);
    }
}

/* Up to three factors of the same two variables are one neighbour, whatever the packing. */
static void parallel_factors(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) { /* spins, Potts, pairwise tables */
        enum { N = 83 };
        gbs_error err = {0};
        uint32_t classes[GBSI_N_CLASSES] = {0};
        uint32_t arity[N];
        gbs_builder *b = NULL;
        gbs_model *model = NULL;
        fixture f;
        test_stream s = {.seed = 21, .n = 0};
        for (uint32_t v = 0; v < N; ++v) {
            arity[v] = kind == 0 ? 2 : 3;
        }
        assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, &err), GBS_OK);
        for (uint32_t v = 0; v < N; ++v) {
            const uint32_t scope[2][2] = {{v, (v + 1) % N}, {(v + 1) % N, v}};
            for (uint32_t i = 0; i <= v % 3; ++i) {
                add_pair(b, kind, scope[i % 2], &s);
            }
        }
        assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
        gbs_builder_free(b);
        set_up(&f, model, 3, false);
        for (uint32_t slot = 0; slot < N; ++slot) {
            const gbsi_row row = gbsi_plan_row(f.plan, slot);
            const gbsi_row sliced = gbsi_plan_row(f.sliced, slot);
            assert_int_equal(row.n, 2);
            for (uint32_t d = 0; d < 2; ++d) {
                assert_int_equal(row.slot[d], sliced.slot[d * sliced.step]);
            }
        }
        tear_down(&f);
        check_model(model, 3, classes);
    }
}

/* A graph of 70 variables in which each has many neighbours and whose log-weights are multiples of
 * `unit`: spins, Potts couplings, pairwise tables with zeros, spin products and tables of three. */
static gbs_model *grained_model(int kind, double unit)
{
    enum { N = 70 };
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[N];
    test_stream s = {.seed = 31, .n = 0};
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = kind == 0 || kind == 3 ? 2 : 3;
    }
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, &err), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        if (arity[v] == 2) {
            assert_int_equal(gbs_builder_add_field(b, v, 3.0 * unit, &err), GBS_OK);
        }
        for (uint32_t d = 1; d < 25; ++d) {
            const uint32_t scope[3] = {v, (v + d) % N, (v + 2 * d + 1) % N};
            const double w = (test_below(&s, 2) == 0 ? -4.0 : 4.0) * unit;
            double logw[27];
            uint32_t table = 0;
            for (uint32_t i = 0; i < 27; ++i) {
                logw[i] = i % 8 == d ? -INFINITY : unit * (1000.0 + test_below(&s, 9));
            }
            if (kind == 0) {
                assert_int_equal(gbs_builder_add_ising(b, v, scope[1], w, &err), GBS_OK);
            } else if (kind == 1) {
                assert_int_equal(gbs_builder_add_potts(b, v, scope[1], w, &err), GBS_OK);
            } else if (kind == 3) {
                assert_int_equal(gbs_builder_add_spin(b, 3, scope, w, &err), GBS_OK);
            } else {
                const uint32_t n = kind == 2 ? 2 : 3;
                const size_t entries = kind == 2 ? 9 : 27;
                assert_int_equal(gbs_builder_add_table(b, entries, logw, &table, &err), GBS_OK);
                assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, &err), GBS_OK);
            }
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* Sums of whole multiples of a power of two need no doubles, and are what doubles give. */
static void exact_sums(void **state)
{
    (void)state;
    static const double units[] = {1.0, 0x1p-3, 0x1p40};
    for (int kind = 0; kind < 5; ++kind) {
        for (size_t u = 0; u < test_share(sizeof units / sizeof units[0], 1); ++u) {
            uint32_t classes[GBSI_N_CLASSES] = {0};
            tolerance = 0.0;
            gbs_model *model = grained_model(kind, units[u]);
            check_plan(model, 7, true, classes);
            gbs_model_free(model);
            tolerance = 1.5e-4;
            assert_int_equal(classes[GBSI_CLASS_PRECISE], 0);
        }
    }
}

static uint32_t n_precise(double coupling)
{
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    const uint32_t arity[3] = {2, 2, 2};
    uint32_t classes[GBSI_N_CLASSES] = {0};
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 3, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 0, 1, coupling, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 1, 2, 1.0, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
    gbs_builder_free(b);
    check_model(model, 1, classes);
    return classes[GBSI_CLASS_PRECISE];
}

/* Where float sums stop being exact: too many bits in all, or a weight that is no multiple of the
 * others' power of two. Each is counted in both forms. */
static void inexact_sums(void **state)
{
    (void)state;
    assert_int_equal(n_precise(0x1p21), 0);
    assert_int_equal(n_precise(0x1p22), 2); /* of spread 2^23, beside one of 2 */
    assert_int_equal(n_precise(1000.0), 0);
    assert_int_equal(n_precise(1000.1), 4);
    assert_int_equal(n_precise(1000.0 + 0x1p-20), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families),         cmocka_unit_test(table_of_cases),
        cmocka_unit_test(long_rows),        cmocka_unit_test(slices),
        cmocka_unit_test(parallel_factors), cmocka_unit_test(toruses),
        cmocka_unit_test(exact_sums),       cmocka_unit_test(inexact_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
