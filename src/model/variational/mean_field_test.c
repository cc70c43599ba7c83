/* SPDX-License-Identifier: Apache-2.0 */
/* Compares expectations and fixed points with sums over all states, and the bound with ln Z. */
#include <math.h>

#include "generate/random_models.h"

#include <string.h>

#include "gibbsite/generate.h"
#include "reference/enumerate.h"
#include "variational/mean_field.h"

#define N_MODELS 300

static gbsi_conditioned *conditioned(const gbs_model *model)
{
    gbsi_conditioned *c = NULL;
    return gbsi_condition(model, NULL, &c, NULL) == GBS_OK ? c : NULL;
}

static void random_q(const gbsi_conditioned *c, uint64_t *seed, double *q)
{
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        double total = 0.0;
        for (uint32_t a = 0; a < c->arity[v]; ++a) {
            q[c->state_offset[v] + a] = 0.01 + random_below(seed, 1000);
            total += q[c->state_offset[v] + a];
        }
        for (uint32_t a = 0; a < c->arity[v]; ++a) {
            q[c->state_offset[v] + a] /= total;
        }
    }
}

/* Returns the sum over all states with x_v = a of log f times the probability of the other
 * variables' states. */
static double expected_naively(const gbsi_conditioned *c, size_t f, uint32_t v, uint32_t a,
                               const double *q)
{
    uint32_t x[MOST_VARIABLES] = {0};
    double sum = 0.0;
    do {
        double p = x[v] == a ? 1.0 : 0.0;
        for (uint32_t u = 0; u < c->n_variables; ++u) {
            p *= u == v ? 1.0 : q[c->state_offset[u] + x[u]];
        }
        const double logw = gbsi_factor_value(&c->factors, c->arity, f, x);
        sum += p == 0.0 ? 0.0 : p * (logw == -INFINITY ? GBSI_LOG_ZERO : logw);
    } while (next_assignment(c->n_variables, c->arity, x));
    return sum;
}

static void expectations(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint32_t n_kinds[6] = {0};
    for (int i = 0; i < N_MODELS; ++i) {
        gbs_model *model = random_model(&seed, i % 3 == 0 ? 10 : 0);
        gbsi_conditioned *c = conditioned(model);
        for (size_t f = 0; c != NULL && f < c->factors.n_factors; ++f) {
            double q[512];
            double scratch[512];
            assert_true(c->state_offset[c->n_variables] < 512 && gbsi_expected_scratch(c) < 512);
            random_q(c, &seed, q);
            const size_t begin = c->factors.scope_start[f];
            for (size_t e = begin; e < c->factors.scope_start[f + 1]; ++e) {
                const uint32_t v = c->factors.scope[e];
                double out[64] = {0};
                gbsi_expected_logw(c, f, e - begin, q, scratch, out);
                for (uint32_t a = 0; a < c->arity[v]; ++a) {
                    const double naive = expected_naively(c, f, v, a, q);
                    if (!(fabs(out[a] - naive) <= 1e-12 * (1.0 + fabs(naive)))) {
                        fail_msg("factor of kind %d: %.17g, expected %.17g", c->factors.kind[f],
                                 out[a], naive);
                    }
                }
            }
            ++n_kinds[c->factors.kind[f]];
        }
        gbsi_conditioned_free(c);
        gbs_model_free(model);
    }
    for (int kind = 0; kind < 6; ++kind) {
        assert_true(n_kinds[kind] > 10);
    }
}

/* Computes the residual of the fixed point equations from the naive expectations. */
static double residual_naively(const gbsi_conditioned *c, const double *q)
{
    double most = 0.0;
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        double w[64];
        double top = -INFINITY;
        double total = 0.0;
        for (uint32_t a = 0; a < c->arity[v]; ++a) {
            w[a] = 0.0;
            for (size_t f = 0; f < c->factors.n_factors; ++f) {
                bool holds = false;
                for (size_t e = c->factors.scope_start[f]; e < c->factors.scope_start[f + 1]; ++e) {
                    holds = holds || c->factors.scope[e] == v;
                }
                w[a] += holds ? expected_naively(c, f, v, a, q) : 0.0;
            }
            top = w[a] > top ? w[a] : top;
        }
        for (uint32_t a = 0; a < c->arity[v]; ++a) {
            w[a] = exp(w[a] - top);
            total += w[a];
        }
        for (uint32_t a = 0; a < c->arity[v]; ++a) {
            most = fmax(most, fabs(w[a] / total - q[c->state_offset[v] + a]));
        }
    }
    return most;
}

/* The bound holds at every iterate of every schedule, and never decreases in sequential updates. */
static void bound_and_fixed_point(void **state)
{
    (void)state;
    static const double damping[] = {1.0, 0.5};
    uint64_t seed = 7;
    uint32_t n_arrived = 0;
    for (int i = 0; i < N_MODELS; ++i) {
        gbs_model *model = random_model(&seed, 0);
        gbsi_conditioned *c = conditioned(model);
        const int schedule = i / 2 % 2;
        double p[512];
        double log_z = 0.0;
        double last = -INFINITY;
        gbsi_mean_field *m = NULL;
        double moved = 1.0;
        assert_non_null(c);
        assert_int_equal(gbsi_enumerate(c, NULL, p, &log_z, NULL), GBS_OK);
        assert_int_equal(gbsi_mean_field_new(c, (gbs_mean_field_schedule)schedule, damping[i % 2],
                                             NULL, &m, NULL),
                         GBS_OK);
        for (int t = 0; t < 400 && moved > 1e-12; ++t) {
            moved = gbsi_mean_field_step(m);
            const double bound = gbsi_mean_field_bound(m);
            const double slack = 1e-9 * (1.0 + fabs(log_z));
            assert_true(bound <= log_z + slack);
            if (schedule == GBS_MEAN_FIELD_SEQUENTIAL && i % 2 == 0) {
                assert_true(bound >= last - slack);
            }
            last = bound;
        }
        if (moved <= 1e-12) {
            assert_true(gbsi_mean_field_residual(m) < 1e-10);
            assert_true(residual_naively(c, gbsi_mean_field_q(m)) < 1e-9);
            ++n_arrived;
        }
        gbsi_mean_field_free(m);
        gbsi_conditioned_free(c);
        gbs_model_free(model);
    }
    assert_true(n_arrived > N_MODELS * 3 / 4);
}

static gbs_model *spins(uint32_t n, double coupling, const double *field)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; ++v) {
        const uint32_t two = 2;
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, v, field[v], NULL), GBS_OK);
        for (uint32_t u = 0; u < v && coupling != 0.0; ++u) {
            assert_int_equal(gbs_builder_add_ising(b, u, v, coupling, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static void independent_is_exact(void **state)
{
    (void)state;
    static const double field[] = {0.3, -1.2, 0.0, 2.0};
    gbs_model *model = spins(4, 0.0, field);
    gbsi_conditioned *c = conditioned(model);
    gbsi_mean_field *m = NULL;
    double p[8];
    double log_z = 0.0;
    assert_int_equal(gbsi_enumerate(c, NULL, p, &log_z, NULL), GBS_OK);
    assert_int_equal(gbsi_mean_field_new(c, GBS_MEAN_FIELD_SEQUENTIAL, 1.0, NULL, &m, NULL),
                     GBS_OK);
    for (int a = 0; a < 8; ++a) { /* again from the initial state */
        assert_true(fabs(gbsi_mean_field_q(m)[a] - p[a]) < 1e-14);
    }
    assert_true(gbsi_mean_field_step(m) < 1e-14);
    assert_true(fabs(gbsi_mean_field_bound(m) - log_z) < 1e-13);
    gbsi_mean_field_free(m);
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

/* Checks mu <- (1 - D) mu + D tanh(h + sum J mu) by hand. */
static void ising_iterates(void **state)
{
    (void)state;
    static const double field[] = {0.4, -0.1, 0.25};
    const double coupling = 0.7;
    gbs_model *model = spins(3, coupling, field);
    gbsi_conditioned *c = conditioned(model);
    for (int schedule = 0; schedule < 2; ++schedule) {
        gbsi_mean_field *m = NULL;
        double mu[3];
        const double d = 0.6;
        assert_int_equal(
            gbsi_mean_field_new(c, (gbs_mean_field_schedule)schedule, d, NULL, &m, NULL), GBS_OK);
        for (int v = 0; v < 3; ++v) {
            mu[v] = tanh(field[v]);
        }
        for (int t = 0; t < 5; ++t) {
            double old[3];
            memcpy(old, mu, sizeof mu);
            for (int v = 0; v < 3; ++v) {
                const double *from = schedule == GBS_MEAN_FIELD_JACOBI ? old : mu;
                const double others = from[0] + from[1] + from[2] - from[v];
                mu[v] = (1.0 - d) * old[v] + d * tanh(field[v] + coupling * others);
            }
            (void)gbsi_mean_field_step(m);
            for (int v = 0; v < 3; ++v) {
                const double *q = gbsi_mean_field_q(m) + c->state_offset[v];
                assert_true(fabs(q[1] - q[0] - mu[v]) < 1e-13);
            }
        }
        gbsi_mean_field_free(m);
    }
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

/* Strongly opposed spins oscillate if all are updated at once; with damping they converge. */
static void damping_settles(void **state)
{
    (void)state;
    static const double field[] = {0.5, 0.5, 0.5, 0.5};
    gbs_model *model = spins(4, -1.0, field);
    gbsi_conditioned *c = conditioned(model);
    for (int damped = 0; damped < 2; ++damped) {
        gbsi_mean_field *m = NULL;
        double moved = 0.0;
        assert_int_equal(
            gbsi_mean_field_new(c, GBS_MEAN_FIELD_JACOBI, damped ? 0.3 : 1.0, NULL, &m, NULL),
            GBS_OK);
        for (int t = 0; t < 500; ++t) {
            moved = gbsi_mean_field_step(m);
        }
        assert_true(damped ? moved < 1e-12 : moved > 0.5);
        gbsi_mean_field_free(m);
    }
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

static bool stop_at_third(void *context)
{
    const gbsi_watch *watch = context;
    return watch->n_looks >= 3;
}

/* Steps, residual and bound of a dense model are watched inside, and end when the watch stops. */
static void watched(void **state)
{
    (void)state;
    enum { N = 400 };
    const gbs_generate_complete_options how = {
        .variables = N, .coupling_spread = 0.02, .random_field = 0.3, .seed = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_complete(&how, &model, NULL), GBS_OK);
    gbsi_conditioned *c = conditioned(model);
    for (int schedule = 0; schedule < 2; ++schedule) {
        gbsi_mean_field *m = NULL;
        gbsi_watch watch = {0};
        double q[2 * N];
        assert_int_equal(
            gbsi_mean_field_new(c, (gbs_mean_field_schedule)schedule, 1.0, &watch, &m, NULL),
            GBS_OK);
        assert_true(gbsi_mean_field_step(m) > 0.0);
        assert_true(gbsi_mean_field_residual(m) > 0.0 && isfinite(gbsi_mean_field_bound(m)));
        assert_in_range(watch.n_looks, 10, 20);
        assert_true(watch.longest < GBSI_WATCH_EVERY + 8);
        memcpy(q, gbsi_mean_field_q(m), sizeof q);
        watch = (gbsi_watch){.look = stop_at_third, .context = &watch};
        assert_true(isnan(gbsi_mean_field_step(m)));
        assert_int_equal(watch.n_looks, 3);
        const double *now = gbsi_mean_field_q(m);
        assert_true((now[0] == q[0]) == (schedule == GBS_MEAN_FIELD_JACOBI));
        assert_true(now[2 * N - 1] == q[2 * N - 1]);
        assert_true(isnan(gbsi_mean_field_residual(m)) && isnan(gbsi_mean_field_bound(m)));
        gbsi_mean_field_free(m);
    }
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expectations),         cmocka_unit_test(bound_and_fixed_point),
        cmocka_unit_test(independent_is_exact), cmocka_unit_test(ising_iterates),
        cmocka_unit_test(damping_settles),      cmocka_unit_test(watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
