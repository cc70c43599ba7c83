/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "search/quench.h"
#include "support/small_models.h"

/* All states that take each component of what differs from one of the two: the largest density
 * among them, by the definition. Components by repeated passes over the factors. */
static double best_of_components(const gbsi_conditioned *model, const uint32_t *x,
                                 const uint32_t *y, uint32_t n)
{
    const gbsi_factors *f = &model->factors;
    uint32_t component[16];
    for (uint32_t v = 0; v < n; ++v) {
        component[v] = v;
    }
    for (uint32_t turn = 0; turn < n; ++turn) {
        for (size_t i = 0; i < f->scope_start[f->n_factors]; ++i) {
            for (size_t k = 0; k < f->n_factors; ++k) {
                const bool here = i >= f->scope_start[k] && i < f->scope_start[k + 1];
                for (size_t j = f->scope_start[k]; here && j < f->scope_start[k + 1]; ++j) {
                    const uint32_t u = f->scope[i];
                    const uint32_t v = f->scope[j];
                    if (x[u] != y[u] && x[v] != y[v] && component[v] < component[u]) {
                        component[u] = component[v];
                    }
                }
            }
        }
    }
    double best = -INFINITY;
    for (uint32_t chosen = 0; chosen < 1u << n; ++chosen) { /* bit c: component c from y */
        uint32_t z[16];
        for (uint32_t v = 0; v < n; ++v) {
            z[v] = (chosen >> component[v] & 1u) != 0 ? y[v] : x[v];
        }
        best = fmax(best, gbsi_conditioned_log_density(model, z));
    }
    return best;
}

static void takes_the_best_components(void **state)
{
    (void)state;
    enum { N = 10 };
    size_t n_changed = 0;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 1; seed <= 6; ++seed) {
            gbs_model *model = test_model((test_family)family, seed, N);
            gbsi_conditioned *c = NULL;
            gbsi_crossover crossover;
            uint32_t x[N];
            uint32_t y[N];
            assert_int_equal(gbsi_condition(model, NULL, &c, NULL), GBS_OK);
            assert_int_equal(c->n_variables, N);
            assert_int_equal(gbsi_crossover_init(&crossover, c, NULL), GBS_OK);
            for (uint32_t v = 0; v < N; ++v) { /* two in three differ */
                x[v] = (uint32_t)((seed * 7 + v * v) % c->arity[v]);
                y[v] = v % 3 == seed % 3 ? x[v] : (x[v] + 1) % c->arity[v];
            }
            const double before = gbsi_conditioned_log_density(c, x);
            if (before > -INFINITY && gbsi_conditioned_log_density(c, y) > -INFINITY) {
                const double best = best_of_components(c, x, y, N);
                const bool changed = gbsi_crossover_take(&crossover, x, y);
                const double after = gbsi_conditioned_log_density(c, x);
                assert_true(fabs(after - best) < 1e-9 * (1.0 + fabs(best)));
                assert_true(changed == (after > before));
                assert_false(gbsi_crossover_take(&crossover, x, x));
                n_changed += changed;
            }
            gbsi_crossover_free(&crossover);
            gbsi_conditioned_free(c);
            gbs_model_free(model);
        }
    }
    assert_true(n_changed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_the_best_components)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
