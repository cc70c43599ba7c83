/* SPDX-License-Identifier: Apache-2.0 */
/* Compares fits with counts and with EM by enumeration, on random networks with zeros and with
 * variables of one state. Checks that the result is a stationary point of the likelihood, with
 * equal bits on any number of threads. */
#include "gibbsite/fit.h"

#include <string.h>

#include "base/memory.h"
#include "generate/random_models.h"
#include "gibbsite/generate.h"
#include "simd/math.h"

enum { N = 5, MOST = 4, ROWS = 40, ENTRIES = MOST * MOST * MOST };

static uint64_t seed;

/* A network of N variables with up to two parents each, and its rows. */
typedef struct problem {
    gbs_model *network;
    uint32_t n_columns, column[N];
    uint32_t state[ROWS * N]; /* [ROWS][n_columns] */
    gbs_data *data;
    double theta[N][ENTRIES]; /* of the factor of variable v, which has the number v */
    double count[N][ENTRIES];
} problem;

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static void make_network(problem *p, uint32_t zeros)
{
    gbs_builder *b = NULL;
    uint32_t arity[N];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 1 + (random_below(&seed, 5) + 1) / 2; /* 1 seldom */
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, N, arity, NULL, NULL));
    for (uint32_t v = 0; v < N; ++v) {
        uint32_t scope[3] = {0};
        uint32_t table = 0;
        uint32_t n = v == 0 ? 0 : random_scope(&seed, v, arity, 2, 0, scope);
        size_t n_entries = arity[v];
        for (uint32_t k = 0; k < n; ++k) {
            n_entries *= arity[scope[k]];
        }
        scope[n++] = v;
        for (size_t i = 0; i < n_entries; i += arity[v]) {
            double sum = 0.0;
            for (uint32_t a = 0; a < arity[v]; ++a) {
                const int zero = a > 0 && random_below(&seed, 100) < zeros;
                p->theta[v][i + a] = zero ? 0.0 : 1.0 + random_below(&seed, 9);
                sum += p->theta[v][i + a];
            }
            for (uint32_t a = 0; a < arity[v]; ++a) {
                p->theta[v][i + a] /= sum;
            }
        }
        double logw[ENTRIES];
        memcpy(logw, p->theta[v], n_entries * sizeof *logw);
        gbsi_log_many(logw, n_entries);
        ok(gbs_builder_add_table(b, n_entries, logw, &table, NULL));
        ok(gbs_builder_add_table_factor(b, n, scope, table, NULL));
    }
    gbs_builder_set_directed(b);
    ok(gbs_builder_build(b, &p->network, NULL));
    gbs_builder_free(b);
}

/* @return the entry of table v at x. */
static size_t entry(const gbs_model *m, uint32_t v, const uint32_t *x)
{
    uint32_t n = 0;
    const uint32_t *scope = NULL;
    size_t at = 0;
    (void)gbs_model_factor(m, v, &n, &scope);
    for (uint32_t k = 0; k < n; ++k) {
        at = at * gbs_model_arity(m, scope[k]) + x[scope[k]];
    }
    return at;
}

static double probability(const problem *p, const uint32_t *x)
{
    double product = 1.0;
    for (uint32_t v = 0; v < N; ++v) {
        product *= p->theta[v][entry(p->network, v, x)];
    }
    return product;
}

static int next_state(const gbs_model *m, uint32_t *x)
{
    for (uint32_t v = 0; v < N; ++v) {
        if (++x[v] < gbs_model_arity(m, v)) {
            return 1;
        }
        x[v] = 0;
    }
    return 0;
}

/* Draws rows from the network by rejection, so that no row is impossible, and removes some values.
 * @param missing percent. */
static void make_rows(problem *p, uint32_t missing, uint32_t leave_out)
{
    for (uint32_t v = 0; v < N; ++v) {
        if (random_below(&seed, 100) >= leave_out) {
            p->column[p->n_columns++] = N - 1 - v;
        }
    }
    for (uint32_t i = 0; i < ROWS; ++i) {
        uint32_t x[N];
        do {
            for (uint32_t v = 0; v < N; ++v) {
                x[v] = random_below(&seed, gbs_model_arity(p->network, v));
            }
        } while (probability(p, x) == 0.0);
        for (uint32_t k = 0; k < p->n_columns; ++k) {
            p->state[i * p->n_columns + k] =
                random_below(&seed, 100) < missing ? GBS_UNOBSERVED : x[p->column[k]];
        }
    }
    ok(gbs_data_new(p->network, p->n_columns, p->column, &p->data, NULL));
    ok(gbs_data_add(p->data, ROWS, p->state, NULL, NULL));
    assert_int_equal(gbs_data_n_rows(p->data), ROWS);
}

static void begin(problem *p, uint32_t zeros, uint32_t missing, uint32_t leave_out)
{
    memset(p, 0, sizeof *p);
    make_network(p, zeros);
    make_rows(p, missing, leave_out);
}

static void end(problem *p)
{
    gbs_data_free(p->data);
    gbs_model_free(p->network);
}

static int agrees(const problem *p, uint32_t row, const uint32_t *x)
{
    for (uint32_t k = 0; k < p->n_columns; ++k) {
        const uint32_t state = p->state[row * p->n_columns + k];
        if (state != GBS_UNOBSERVED && state != x[p->column[k]]) {
            return 0;
        }
    }
    return 1;
}

/* The E step by enumeration, into p->count. @return ln P(data). */
static double enumerate(problem *p)
{
    double log_p = 0.0;
    memset(p->count, 0, sizeof p->count);
    for (uint32_t i = 0; i < ROWS; ++i) {
        double sum = 0.0;
        for (int pass = 0; pass < 2; ++pass) {
            uint32_t x[N] = {0};
            do {
                const double q = agrees(p, i, x) ? probability(p, x) : 0.0;
                sum += pass == 0 ? q : 0.0;
                for (uint32_t v = 0; pass == 1 && v < N; ++v) {
                    p->count[v][entry(p->network, v, x)] += q / sum;
                }
            } while (next_state(p->network, x));
        }
        log_p += gbsi_log(sum);
    }
    return log_p;
}

static size_t n_entries(const gbs_model *m, uint32_t v)
{
    uint32_t n = 0;
    const uint32_t *scope = NULL;
    size_t size = 1;
    (void)gbs_model_factor(m, v, &n, &scope);
    for (uint32_t k = 0; k < n; ++k) {
        size *= gbs_model_arity(m, scope[k]);
    }
    return size;
}

static double alpha_of(const problem *p, uint32_t v, const gbs_fit_options *o)
{
    return o->prior == GBS_PRIOR_BDEU        ? o->weight / (double)n_entries(p->network, v)
           : o->prior == GBS_PRIOR_DIRICHLET ? o->weight
                                             : 0.0;
}

/* The M step. */
static void estimate(problem *p, const gbs_fit_options *o)
{
    for (uint32_t v = 0; v < N; ++v) {
        const uint32_t r = gbs_model_arity(p->network, v);
        const double alpha = alpha_of(p, v, o);
        for (size_t i = 0; i < n_entries(p->network, v); ++i) {
            double sum = 0.0;
            for (uint32_t a = 0; a < r; ++a) {
                sum += p->count[v][i / r * r + a] + alpha;
            }
            if (sum > 0.0) {
                p->theta[v][i] = (p->count[v][i] + alpha) / sum;
            }
        }
    }
}

/* Where EM starts with a prior. */
static void mix(problem *p)
{
    for (uint32_t v = 0; v < N; ++v) {
        for (size_t i = 0; i < n_entries(p->network, v); ++i) {
            p->theta[v][i] = 0.99 * p->theta[v][i] + 0.01 / gbs_model_arity(p->network, v);
        }
    }
}

static double log_prior(const problem *p, const gbs_fit_options *o)
{
    double sum = 0.0;
    for (uint32_t v = 0; v < N; ++v) {
        for (size_t i = 0; o->prior != GBS_PRIOR_NONE && i < n_entries(p->network, v); ++i) {
            sum += alpha_of(p, v, o) * gbsi_log(p->theta[v][i]);
        }
    }
    return sum;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * (1.0 + fabs(b)))) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

static void assert_fitted(const problem *p, const gbs_fitted *f, double tolerance)
{
    for (uint32_t v = 0; v < N; ++v) {
        double theta[ENTRIES];
        double low[ENTRIES];
        double high[ENTRIES];
        double count[ENTRIES];
        assert_int_equal(gbs_fitted_n_entries(f, v), n_entries(p->network, v));
        ok(gbs_fitted_table(f, v, 0.9, theta, low, high, count, NULL));
        for (size_t i = 0; i < n_entries(p->network, v); ++i) {
            assert_near(theta[i], p->theta[v][i], tolerance);
            if (gbs_model_arity(p->network, v) > 1) {
                assert_near(count[i], p->count[v][i], tolerance * ROWS);
                assert_true(0.0 <= low[i] && low[i] < high[i] && high[i] <= 1.0);
            }
        }
    }
}

static const gbs_fit_options kinds[] = {
    {.size = sizeof(gbs_fit_options)},
    {.size = sizeof(gbs_fit_options), .prior = GBS_PRIOR_BDEU, .weight = 3.0},
    {.size = sizeof(gbs_fit_options), .prior = GBS_PRIOR_DIRICHLET, .weight = 0.5},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- tests ----------------------------------------------------------------------------------- */

static void complete_rows_are_counted(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 60; ++round) {
        problem p;
        gbs_fitted *f = NULL;
        begin(&p, round % 2 * 20, 0, 0);
        const gbs_fit_options *o = &kinds[round % N_KINDS];
        (void)enumerate(&p); /* exact: a row has one state */
        estimate(&p, o);
        ok(gbs_fit(p.network, p.data, NULL, o, NULL, &f, NULL));
        assert_fitted(&p, f, 1e-14);
        const gbs_fit_report *r = gbs_fitted_report(f);
        const double log_p = enumerate(&p);
        assert_near(r->log_likelihood, log_p, 1e-13);
        assert_near(r->log_posterior, log_p + log_prior(&p, o), 1e-12);
        assert_true(r->converged == 1 && r->iterations == 0 && r->n_incomplete == 0);
        double by_model = 0.0; /* the model that is given back has these tables */
        for (uint32_t i = 0; i < ROWS; ++i) {
            uint32_t x[N];
            for (uint32_t k = 0; k < N; ++k) {
                x[p.column[k]] = p.state[i * N + k];
            }
            by_model += gbs_model_log_density(gbs_fitted_model(f), x);
        }
        assert_near(by_model, log_p, 1e-12);
        assert_true(gbs_model_is_normalized(gbs_fitted_model(f)));
        gbs_fitted_free(f);
        end(&p);
    }
}

/* EM step by step, with and without zeros, whole columns missing. */
static void em_is_that_of_enumeration(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 90; ++round) {
        problem p;
        begin(&p, round % 2 * 20, 20 + random_below(&seed, 40), round % 4 * 20);
        gbs_fit_options o = kinds[round % N_KINDS];
        o.iterations = 1 + random_below(&seed, 4);
        o.tolerance = 1e-300;
        gbs_fitted *f = NULL;
        ok(gbs_fit(p.network, p.data, NULL, &o, NULL, &f, NULL));
        const gbs_fit_report *r = gbs_fitted_report(f);
        if (o.prior != GBS_PRIOR_NONE) {
            mix(&p);
        }
        double log_p = enumerate(&p);
        for (uint64_t i = 0; i < r->iterations; ++i) {
            estimate(&p, &o);
            log_p = enumerate(&p);
        }
        assert_true(r->n_incomplete > 0 && r->iterations > 0);
        assert_fitted(&p, f, 1e-9);
        assert_near(r->log_likelihood, log_p, 1e-9);
        assert_near(r->log_posterior, log_p + log_prior(&p, &o), 1e-9);
        gbs_fitted_free(f);
        end(&p);
    }
}

static void the_posterior_never_falls(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 9; ++round) {
        problem p;
        begin(&p, 0, 40, 20);
        gbs_fit_options o = kinds[round % N_KINDS];
        double before = -INFINITY;
        o.tolerance = 1e-300;
        for (o.iterations = 1; o.iterations < 25; ++o.iterations) {
            gbs_fitted *f = NULL;
            ok(gbs_fit(p.network, p.data, NULL, &o, NULL, &f, NULL));
            const double now = gbs_fitted_report(f)->log_posterior;
            assert_true(now >= before - 1e-11 * fabs(now));
            before = now;
            gbs_fitted_free(f);
        }
        end(&p);
    }
}

/* EM ends at a stationary point: if weight moves between two states of a column, the log posterior,
 * by enumeration, changes only to second order. The prior keeps all probabilities positive. */
static void em_ends_where_the_score_is_zero(void **unused)
{
    (void)unused;
    const double h = 1e-5;
    for (uint32_t round = 0; round < 6; ++round) {
        problem p;
        begin(&p, 0, 30, 20);
        gbs_fit_options o = kinds[1 + round % 2];
        o.tolerance = 1e-10;
        o.iterations = 100000;
        gbs_fitted *f = NULL;
        ok(gbs_fit(p.network, p.data, NULL, &o, NULL, &f, NULL));
        assert_int_equal(gbs_fitted_report(f)->converged, 1);
        for (uint32_t v = 0; v < N; ++v) {
            ok(gbs_fitted_table(f, v, 0.9, p.theta[v], NULL, NULL, NULL, NULL));
        }
        for (uint32_t v = 0; v < N; ++v) {
            const uint32_t r = gbs_model_arity(p.network, v);
            for (size_t i = 0; i < n_entries(p.network, v); ++i) {
                if (i % r == 0 || p.theta[v][i] < 1e-3 || p.theta[v][i - 1] < 1e-3) {
                    continue;
                }
                p.theta[v][i] += h;
                p.theta[v][i - 1] -= h;
                const double up = enumerate(&p) + log_prior(&p, &o);
                p.theta[v][i] -= 2 * h;
                p.theta[v][i - 1] += 2 * h;
                const double down = enumerate(&p) + log_prior(&p, &o);
                p.theta[v][i] += h;
                p.theta[v][i - 1] -= h;
                assert_true(fabs(up - down) / (2 * h) < 1e-2);
            }
        }
        gbs_fitted_free(f);
        end(&p);
    }
}

static void held_out_rows(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 20; ++round) {
        problem p;
        begin(&p, 30, round % 2 * 30, 0);
        gbs_fit_options o = kinds[round % N_KINDS];
        gbs_fitted *f = NULL;
        gbs_data *other = NULL;
        uint32_t state[ROWS * N];
        double log_p = 0.0;
        uint64_t n_impossible = 0;
        for (uint32_t i = 0; i < ROWS * N; ++i) {
            const uint32_t r = gbs_model_arity(p.network, p.column[i % N]);
            state[i] = i % 3 == 0 ? GBS_UNOBSERVED : random_below(&seed, r);
        }
        ok(gbs_data_new(p.network, N, p.column, &other, NULL));
        ok(gbs_data_add(other, ROWS, state, NULL, NULL));
        ok(gbs_fit(p.network, p.data, other, &o, NULL, &f, NULL));
        for (uint32_t v = 0; v < N; ++v) {
            ok(gbs_fitted_table(f, v, 0.9, p.theta[v], NULL, NULL, NULL, NULL));
        }
        memcpy(p.state, state, sizeof state);
        for (uint32_t i = 0; i < ROWS; ++i) {
            uint32_t x[N] = {0};
            double sum = 0.0;
            do {
                sum += agrees(&p, i, x) ? probability(&p, x) : 0.0;
            } while (next_state(p.network, x));
            log_p += sum > 0.0 ? gbsi_log(sum) : 0.0;
            n_impossible += sum == 0.0;
        }
        const gbs_fit_report *r = gbs_fitted_report(f);
        assert_int_equal(r->held_out_rows, ROWS);
        assert_int_equal(r->held_out_impossible, n_impossible);
        assert_near(r->held_out_log_likelihood, log_p, 1e-9);
        gbs_data_free(other);
        gbs_fitted_free(f);
        end(&p);
    }
}

static gbs_model *larger_network(void)
{
    gbs_model *m = NULL;
    const gbs_generate_bayes_options o = {.size = sizeof o,
                                          .variables = 30,
                                          .parents = 2,
                                          .min_states = 2,
                                          .max_states = 3,
                                          .seed = 5};
    ok(gbs_generate_bayes(&o, &m, NULL));
    return m;
}

/* @param missing percent. */
static gbs_data *larger_data(const gbs_model *m, uint32_t n, uint32_t missing)
{
    gbs_data *data = NULL;
    uint32_t column[30];
    uint32_t state[30];
    for (uint32_t v = 0; v < 30; ++v) {
        column[v] = v;
    }
    ok(gbs_data_new(m, 30, column, &data, NULL));
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t v = 0; v < 30; ++v) {
            state[v] = random_below(&seed, 100) < missing
                           ? GBS_UNOBSERVED
                           : random_below(&seed, gbs_model_arity(m, v));
        }
        ok(gbs_data_add(data, 1, state, NULL, NULL));
    }
    return data;
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    gbs_model *m = larger_network();
    gbs_data *data = larger_data(m, 300, 20);
    gbs_fit_options o = kinds[1];
    char digest[33] = "";
    double log_p = 0.0;
    o.iterations = 3;
    for (o.threads = 1; o.threads < 5; ++o.threads) {
        gbs_fitted *f = NULL;
        ok(gbs_fit(m, data, data, &o, NULL, &f, NULL));
        const gbs_fit_report *r = gbs_fitted_report(f);
        if (o.threads > 1) {
            assert_string_equal(gbs_model_digest(gbs_fitted_model(f)), digest);
            assert_true(r->log_likelihood == log_p);
        }
        assert_near(r->held_out_log_likelihood, r->log_likelihood, 1e-12);
        memcpy(digest, gbs_model_digest(gbs_fitted_model(f)), sizeof digest);
        log_p = r->log_likelihood;
        gbs_fitted_free(f);
    }
    gbs_data_free(data);
    gbs_model_free(m);
}

/* Tests a time limit that ends at the first look, and a memory limit that allows nothing. */
static void limits(void **unused)
{
    (void)unused;
    gbs_model *m = larger_network();
    gbs_data *data = larger_data(m, 300, 20);
    gbs_fit_options o = kinds[0];
    gbs_fitted *f = NULL;
    o.time_s = 1e-9;
    assert_int_equal(gbs_fit(m, data, NULL, &o, NULL, &f, NULL), GBS_ERR_STOPPED);
    o.time_s = 0.0;
    o.memory_limit = 1;
    assert_int_equal(gbs_fit(m, data, NULL, &o, NULL, &f, NULL), GBS_ERR_LIMIT);
    assert_null(f);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void what_cannot_be(void **unused)
{
    (void)unused;
    problem p;
    gbs_error err = {GBS_OK, ""};
    gbs_fitted *f = NULL;
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_data *data = NULL;
    const uint32_t two[2] = {2, 2};
    const uint32_t scope[2] = {0, 1};
    const uint32_t column = 1;
    const uint32_t states[2] = {0, 1};
    const double never[4] = {0.0, -INFINITY, 0.0, -INFINITY};
    uint32_t table = 0;
    const double half[2] = {0.0, 0.0};
    begin(&p, 0, 20, 0);
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, 2, two, NULL, NULL));
    ok(gbs_builder_add_table(b, 2, half, &table, NULL));
    ok(gbs_builder_add_table_factor(b, 1, scope, table, NULL));
    ok(gbs_builder_add_table(b, 4, never, &table, NULL));
    ok(gbs_builder_add_table_factor(b, 2, scope, table, NULL));
    gbs_builder_set_directed(b);
    ok(gbs_builder_build(b, &m, NULL));
    gbs_builder_free(b);
    ok(gbs_data_new(m, 1, &column, &data, NULL));
    assert_int_equal(gbs_fit(m, data, NULL, NULL, NULL, &f, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "no rows"));
    ok(gbs_data_add(data, 2, states, NULL, NULL));
    assert_int_equal(gbs_fit(m, data, NULL, NULL, NULL, &f, &err), GBS_ERR_IMPOSSIBLE);
    assert_non_null(strstr(err.message, "row 2 has probability zero"));
    ok(gbs_fit(m, data, NULL, &kinds[1], NULL, &f, &err));
    gbs_fitted_free(f);
    assert_int_equal(gbs_fit(m, p.data, NULL, NULL, NULL, &f, &err), GBS_ERR_ARGUMENT);
    gbs_data_free(data);
    gbs_model_free(m);
    end(&p);
}

static void failing_allocations(void **unused)
{
    (void)unused;
    problem p;
    begin(&p, 0, 20, 20);
    gbs_fit_options o = kinds[1];
    o.iterations = 1;
    o.threads = 2;
    uint64_t n = 0;
    for (;; ++n) {
        gbs_fitted *f = NULL;
        gbsi_alloc_fail_after(n);
        const gbs_status status = gbs_fit(p.network, p.data, p.data, &o, NULL, &f, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        gbs_fitted_free(f);
        if (status == GBS_OK) {
            break;
        }
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_null(f);
    }
    assert_true(n > 20);
    end(&p);
}

static int restart(void **unused)
{
    (void)unused;
    seed = 7;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(complete_rows_are_counted, restart),
        cmocka_unit_test_setup(em_is_that_of_enumeration, restart),
        cmocka_unit_test_setup(the_posterior_never_falls, restart),
        cmocka_unit_test_setup(em_ends_where_the_score_is_zero, restart),
        cmocka_unit_test_setup(held_out_rows, restart),
        cmocka_unit_test_setup(threads_change_nothing, restart),
        cmocka_unit_test_setup(limits, restart),
        cmocka_unit_test_setup(what_cannot_be, restart),
        cmocka_unit_test_setup(failing_allocations, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
