/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scores of adaptive growth against their definitions, for a spin between spins of a splash
 * and other spins. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gibbsite/gibbsite.h"
#include "graph/graph.h"
#include "splash/score.h"

enum { N = 5 };

/* Spin 0 has a field, couplings to all other spins, and a spin product with spins 1 and 4. */
static const double field = 0.3;
static const double coupling[N] = {0.0, 0.7, -0.4, 0.9, 0.0};
static const double product = 0.5;

typedef struct fixture {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_plan *plan;
    gbsi_potentials *potentials;
    gbsi_score_scratch scratch;
    gbsi_shares shares;
    gbsi_growth growth;
} fixture;

static void set_up(fixture *f)
{
    gbs_builder *b = NULL;
    uint32_t two[N];
    uint32_t sequence[N];
    const uint32_t scope[3] = {0, 1, 4};
    for (uint32_t v = 0; v < N; ++v) {
        two[v] = 2;
        sequence[v] = v;
    }
    *f = (fixture){0};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, two, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 0, field, NULL), GBS_OK);
    for (uint32_t v = 1; v < N; ++v) {
        if (coupling[v] != 0.0) {
            assert_int_equal(gbs_builder_add_ising(b, 0, v, coupling[v], NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_add_spin(b, 3, scope, product, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &f->model, NULL), GBS_OK);
    gbs_builder_free(b);
    assert_int_equal(gbsi_condition(f->model, NULL, &f->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, NULL, &f->graph, NULL), GBS_OK);
    assert_int_equal(gbsi_plan_new(f->conditioned, f->graph, sequence, N,
                                   (gbsi_plan_options){.repeats = true}, &f->plan, NULL),
                     GBS_OK);
    assert_int_equal(gbsi_potentials_new(f->plan, &f->potentials, NULL), GBS_OK);
    assert_int_equal(gbsi_score_scratch_init(&f->scratch, f->potentials, NULL), GBS_OK);
    assert_int_equal(gbsi_shares_init(&f->shares, f->potentials, NULL), GBS_OK);
    assert_int_equal(gbsi_growth_init(&f->growth, GBSI_SPLASH_WIDTH, N, NULL), GBS_OK);
}

static void tear_down(fixture *f)
{
    gbsi_score_scratch_free(&f->scratch);
    gbsi_shares_free(&f->shares);
    gbsi_growth_free(&f->growth);
    gbsi_potentials_free(f->potentials);
    gbsi_plan_free(f->plan);
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
}

static double spin(uint32_t x)
{
    return x == 0 ? -1.0 : 1.0;
}

/* p(x_0 | other spins). */
static double share(const uint32_t *x)
{
    double l = field;
    for (uint32_t v = 1; v < N; ++v) {
        l += coupling[v] * spin(x[v]);
    }
    l += product * spin(x[1]) * spin(x[4]);
    return 1.0 / (1.0 + exp(-2.0 * l * spin(x[0])));
}

/* @param inside variables inside, as bits. */
static double expected(const uint32_t *at, unsigned inside, gbs_score_kind kind)
{
    double mean = 0.0;
    double sum = 0.0;
    unsigned n = 0;
    for (int round = 0; round < 2; ++round) {
        for (unsigned u = 0; u < 1u << N; ++u) {
            uint32_t x[N];
            if ((u & ~inside) != 0) {
                continue;
            }
            for (uint32_t v = 0; v < N; ++v) {
                x[v] = (inside >> v & 1u) != 0 ? u >> v & 1u : at[v];
            }
            if (round == 0) {
                mean += share(x);
                ++n;
            } else if (kind == GBS_SCORE_LITERAL) {
                sum -= log(share(x));
            } else {
                sum += fabs(log(mean / n / share(x)));
            }
        }
    }
    return sum / n;
}

/* Makes a splash of these variables, last variable first. @return number of variables. */
static uint32_t take_inside(fixture *f, unsigned inside)
{
    f->growth.n = 0;
    gbsi_shares_begin(&f->shares, &f->growth);
    for (uint32_t v = N; v-- > 1;) {
        if ((inside >> v & 1u) != 0) {
            f->growth.clique[f->growth.n++] =
                (gbsi_growth_clique){.slot = f->plan->slot_of[v], .arity = 2};
            assert_int_equal(gbsi_shares_join(&f->shares, f->potentials, &f->growth, NULL), GBS_OK);
        }
    }
    return f->growth.n;
}

static void definitions(void **state)
{
    (void)state;
    fixture f;
    set_up(&f);
    for (unsigned states = 0; states < 1u << N; ++states) {
        uint32_t x[N];
        uint8_t slots[N];
        const gbsi_splash_view view = {.lanes = 1, .n = 1, .value_bytes = 1, .state = {slots}};
        for (uint32_t v = 0; v < N; ++v) {
            x[v] = states >> v & 1u;
            slots[f.plan->slot_of[v]] = (uint8_t)x[v];
        }
        for (unsigned inside = 2; inside < 1u << N; inside += 2) {
            const uint32_t number[N] = {0, 1, 2, 3, 4};
            const gbsi_score_inside in = {&f.growth, &f.shares, take_inside(&f, inside), number};
            gbsi_score_begin(&f.scratch);
            for (int kind = 0; kind < 2; ++kind) {
                const double found = gbsi_score(f.potentials, &view, (gbs_score_kind)kind,
                                                f.plan->slot_of[0], &in, 1, &f.scratch);
                assert_true(fabs(found - expected(x, inside, (gbs_score_kind)kind)) < 1e-12);
            }
        }
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
