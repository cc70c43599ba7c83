/* SPDX-License-Identifier: Apache-2.0 */
/* Compares answers to many cases with enumeration, on random models of every kind. Also tests cases
 * that are answered by runs because no tree is made, equal bits on any number of threads,
 * probabilities beyond the range of double, and stops. */
#include "gibbsite/cases.h"

#include <string.h>

#include "base/memory.h"
#include "gibbsite/exact.h"
#include "reference/enumerate.h"
#include "reference/joint.h"
#include "reference/testing.h"
#include "simd/math.h"

enum { N_CASES = 21, MOST_STATES = 64 };

/* All data about a model and the question. */
typedef struct asked {
    gbs_model *model;
    gbs_evidence *evidence;
    uint32_t n;
    uint32_t n_columns, column[MOST_VARIABLES];
    uint32_t n_query, query[MOST_VARIABLES];
    uint32_t state[N_CASES * MOST_VARIABLES];
    size_t n_joint;
    double *joint; /* joint weights of all variables without evidence, variable 0 slowest; NULL if
                      the evidence is impossible */
} asked;

static uint32_t pick(uint32_t n, uint32_t *out)
{
    uint32_t found = 0;
    for (uint32_t v = 0; v < n; ++v) {
        if (test_below(2) == 0) {
            out[found++] = v;
        }
    }
    for (uint32_t i = found; i > 1; --i) { /* in a random order */
        const uint32_t k = test_below(i);
        const uint32_t v = out[i - 1];
        out[i - 1] = out[k];
        out[k] = v;
    }
    return found;
}

static void ask(asked *a)
{
    memset(a, 0, sizeof *a);
    a->model = test_random_model();
    a->n = gbs_model_n_variables(a->model);
    a->n_columns = pick(a->n, a->column);
    a->n_query = pick(a->n, a->query);
    a->n_joint = 1;
    for (uint32_t v = 0; v < a->n; ++v) {
        a->n_joint *= gbs_model_arity(a->model, v);
    }
    a->joint = calloc(a->n_joint, sizeof *a->joint);
    uint32_t all[MOST_VARIABLES] = {0, 1, 2, 3, 4, 5};
    if (gbsi_joint_exact(a->model, NULL, a->n, all, a->joint, NULL) != GBS_OK) {
        free(a->joint);
        a->joint = NULL;
    }
    test_ok(gbs_evidence_new(a->model, &a->evidence, NULL));
    if (test_below(2) == 0) {
        const uint32_t v = test_below(a->n);
        test_ok(
            gbs_evidence_observe(a->evidence, v, test_below(gbs_model_arity(a->model, v)), NULL));
    }
    for (uint32_t i = 0; i < N_CASES * a->n_columns; ++i) {
        const uint32_t arity = gbs_model_arity(a->model, a->column[i % a->n_columns]);
        a->state[i] = test_below(3) == 0 ? GBS_UNOBSERVED : test_below(arity);
    }
}

static void forget(asked *a)
{
    free(a->joint);
    gbs_evidence_free(a->evidence);
    gbs_model_free(a->model);
}

/* Whether state x of all variables agrees with the evidence and with a case. @param state NULL if
 * there is no case. */
static int agrees(const asked *a, const uint32_t *x, const uint32_t *state)
{
    for (uint32_t v = 0; v < a->n; ++v) {
        uint32_t seen = 0;
        if (gbs_evidence_state(a->evidence, v, &seen) && seen != x[v]) {
            return 0;
        }
    }
    for (uint32_t k = 0; state != NULL && k < a->n_columns; ++k) {
        if (state[k] != GBS_UNOBSERVED && state[k] != x[a->column[k]]) {
            return 0;
        }
    }
    return 1;
}

/* Computes P(case, evidence), and the unnormalised marginals of the queried variables. */
static double enumerate(const asked *a, const uint32_t *state, double *p)
{
    uint32_t x[MOST_VARIABLES] = {0};
    double total = 0.0;
    memset(p, 0, MOST_STATES * sizeof *p);
    for (size_t i = 0; i < a->n_joint; ++i) {
        size_t rest = i;
        for (uint32_t v = a->n; v-- > 0;) {
            x[v] = (uint32_t)(rest % gbs_model_arity(a->model, v));
            rest /= gbs_model_arity(a->model, v);
        }
        if (!agrees(a, x, state)) {
            continue;
        }
        total += a->joint[i];
        size_t at = 0;
        for (uint32_t k = 0; k < a->n_query; ++k) {
            p[at + x[a->query[k]]] += a->joint[i];
            at += gbs_model_arity(a->model, a->query[k]);
        }
    }
    return total;
}

typedef struct found {
    double p[N_CASES * MOST_STATES], mcse[N_CASES * MOST_STATES], log_p[N_CASES];
    int converged[N_CASES];
    size_t n_states;
} found;

static gbs_status answer(const asked *a, const gbs_run_options *options, int tree, found *f)
{
    gbs_cases *cases = NULL;
    size_t n_done = 0;
    gbs_case_answers answers = {.size = sizeof answers,
                                .p = f->p,
                                .mcse = f->mcse,
                                .log_p = f->log_p,
                                .converged = f->converged};
    const gbs_status status = gbs_cases_new(a->model, a->evidence, options, a->n_columns, a->column,
                                            a->n_query, a->query, &cases, NULL);
    if (status == GBS_OK) {
        f->n_states = gbs_cases_n_states(cases);
        assert_int_equal(gbs_cases_is_exact(cases), tree);
        assert_true(gbs_cases_at_once(cases) > 0);
        test_ok(gbs_cases_answer(cases, N_CASES, a->state, NULL, &answers, &n_done, NULL));
        assert_int_equal(n_done, N_CASES);
    }
    gbs_cases_free(cases);
    return status;
}

/* Compares the answers with enumeration. @param sampled: answers may differ by their errors instead
 * of 1e-9, and have no ln P. @return number of possible cases. */
static uint32_t compare(const asked *a, const found *f, int sampled)
{
    uint32_t n_compared = 0;
    double p[MOST_STATES];
    const double base = enumerate(a, NULL, p);
    for (uint32_t i = 0; i < N_CASES; ++i) {
        const double total = enumerate(a, a->state + (size_t)i * a->n_columns, p);
        if (!(total > 0.0)) {
            assert_true(f->log_p[i] == -INFINITY);
        } else if (!sampled) {
            assert_true(fabs(f->log_p[i] - gbsi_log(total / base)) < 1e-9);
        }
        if (sampled && !f->converged[i]) {
            continue; /* hard zeros split the states that updates of single variables reach */
        }
        n_compared += total > 0.0;
        for (size_t k = 0; k < f->n_states; ++k) {
            const double given = f->p[i * f->n_states + k];
            const double error = f->mcse[i * f->n_states + k];
            if (!(total > 0.0)) {
                assert_true(isnan(given) && isnan(error));
            } else if (sampled) {
                /* 6 standard errors, and 0.02 for rare states: fails by chance less than once in
                 * 10^6 */
                assert_true(isnan(error) || fabs(given - p[k] / total) < 6.0 * error + 0.02);
            } else {
                assert_true(fabs(given - p[k] / total) < 1e-9 && error == 0.0);
            }
        }
    }
    return n_compared;
}

static void test_enumeration(void **unused)
{
    (void)unused;
    static found by_tree;
    static found again;
    test_draws_restart();
    uint32_t n_compared = 0;
    for (uint32_t round = 0; round < 400; ++round) {
        asked a;
        gbs_run_options options = gbs_run_options_default();
        ask(&a);
        options.threads = 1;
        double p[MOST_STATES];
        const int possible = a.joint != NULL && enumerate(&a, NULL, p) > 0.0;
        const gbs_status status = answer(&a, &options, 1, &by_tree);
        assert_int_equal(status, possible ? GBS_OK : GBS_ERR_IMPOSSIBLE);
        if (possible) {
            (void)compare(&a, &by_tree, 0);
            options.threads = 3;
            test_ok(answer(&a, &options, 1, &again));
            const size_t n = N_CASES * by_tree.n_states;
            assert_memory_equal(by_tree.log_p, again.log_p, sizeof by_tree.log_p);
            for (size_t i = 0; i < n; ++i) {
                assert_true(by_tree.p[i] == again.p[i] || isnan(by_tree.p[i]));
            }
            ++n_compared;
        }
        forget(&a);
    }
    assert_true(n_compared > 200);
}

static void test_runs(void **unused)
{
    (void)unused;
    static found sampled;
    test_draws_restart();
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = 2000;
    options.threads = 1;
    uint32_t n_compared = 0;
    for (uint32_t round = 0; round < 40; ++round) {
        asked a;
        double p[MOST_STATES];
        ask(&a);
        if (a.joint != NULL && enumerate(&a, NULL, p) > 0.0) {
            test_ok(answer(&a, &options, 0, &sampled));
            n_compared += compare(&a, &sampled, 1);
        }
        forget(&a);
    }
    assert_true(n_compared > 50);
}

/* --max-updates limits the run of each case, not the table: every case is answered, and none has
 * converged. */
static void test_limit_of_each_case(void **unused)
{
    (void)unused;
    test_draws_restart();
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    gbs_cases *cases = NULL;
    gbs_run_options options = gbs_run_options_default();
    const uint32_t two[3] = {2, 2, 2};
    const uint32_t column = 0;
    const uint32_t query = 2;
    const uint32_t state[3] = {1, GBS_UNOBSERVED, 0};
    double p[3 * 2] = {0.0};
    int converged[3] = {1, 1, 1};
    size_t n_done = 0;
    gbs_case_answers answers = {.size = sizeof answers, .p = p, .converged = converged};
    options.method = GBS_METHOD_SAMPLE;
    options.max_updates = 200;
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, 3, two, NULL, NULL));
    test_ok(gbs_builder_add_ising(b, 0, 1, 0.5, NULL));
    test_ok(gbs_builder_add_ising(b, 1, 2, 0.5, NULL));
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    test_ok(gbs_cases_new(model, NULL, &options, 1, &column, 1, &query, &cases, NULL));
    assert_int_equal(gbs_cases_answer(cases, 3, state, NULL, &answers, &n_done, NULL), GBS_OK);
    assert_int_equal(n_done, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(converged[i], 0);
        assert_true(fabs(p[2 * i] + p[2 * i + 1] - 1.0) < 1e-9);
    }
    gbs_cases_free(cases);
    gbs_model_free(model);
}

/* A chain of spins with strong couplings. Cases in which the ends differ have a probability of
 * about e^-800, which is beyond the range of double. */
static void test_far_apart(void **unused)
{
    (void)unused;
    enum { N = 6 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    gbs_cases *cases = NULL;
    gbs_evidence *evidence = NULL;
    const uint32_t two[N] = {2, 2, 2, 2, 2, 2};
    const uint32_t column[2] = {0, 5};
    const uint32_t query[2] = {2, 3};
    const uint32_t state[3 * 2] = {0, 1, 1, 1, GBS_UNOBSERVED, 0};
    double p[3 * 4];
    double log_p[3];
    double log_z[4];
    gbs_case_answers answers = {.size = sizeof answers, .p = p, .log_p = log_p};
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, N, two, NULL, NULL));
    for (uint32_t v = 0; v + 1 < N; ++v) {
        test_ok(gbs_builder_add_ising(b, v, v + 1, 400.0, NULL));
        test_ok(gbs_builder_add_field(b, v, v % 2 == 0 ? 0.25 : -0.5, NULL));
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    test_ok(gbs_cases_new(model, NULL, NULL, 2, column, 2, query, &cases, NULL));
    assert_int_equal(gbs_cases_is_exact(cases), 1);
    test_ok(gbs_cases_answer(cases, 3, state, NULL, &answers, NULL, NULL));
    test_ok(gbs_exact_log_z(model, NULL, NULL, &log_z[3], NULL));
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t pair[2] = {2, 3};
        double joint[4];
        test_ok(gbs_evidence_new(model, &evidence, NULL));
        for (uint32_t k = 0; k < 2; ++k) {
            if (state[2 * i + k] != GBS_UNOBSERVED) {
                test_ok(gbs_evidence_observe(evidence, column[k], state[2 * i + k], NULL));
            }
        }
        test_ok(gbs_exact_log_z(model, evidence, NULL, &log_z[i], NULL));
        assert_true(fabs(log_p[i] - (log_z[i] - log_z[3])) < 1e-9);
        test_ok(gbs_exact_joint(model, evidence, NULL, 2, pair, joint, NULL));
        assert_true(fabs(p[4 * i] - (joint[0] + joint[1])) < 1e-9);
        assert_true(fabs(p[4 * i + 2] - (joint[0] + joint[2])) < 1e-9);
        gbs_evidence_free(evidence);
    }
    gbs_cases_free(cases);
    gbs_model_free(model);
}

static int stop(void *context, const gbs_progress *progress)
{
    (void)progress;
    ++*(int *)context;
    return 1;
}

static void test_refusals_and_stops(void **unused)
{
    (void)unused;
    test_draws_restart();
    asked a;
    do {
        ask(&a);
        if (a.joint == NULL || a.n_columns == 0 || a.n < 3) {
            forget(&a);
            a.n = 0;
        }
    } while (a.n == 0);
    gbs_cases *cases = NULL;
    gbs_error err;
    gbs_run_options options = gbs_run_options_default();
    double log_p[N_CASES] = {7.0};
    gbs_case_answers answers = {.size = sizeof answers, .log_p = log_p};
    const uint32_t twice[2] = {1, 1};
    assert_int_equal(gbs_cases_new(a.model, NULL, NULL, 2, twice, 0, NULL, &cases, &err),
                     GBS_ERR_ARGUMENT);
    options.estimator = GBS_ESTIMATOR_TRACES;
    assert_int_equal(gbs_cases_new(a.model, NULL, &options, 0, NULL, 0, NULL, &cases, &err),
                     GBS_ERR_ARGUMENT);
    options = gbs_run_options_default();
    options.time_s = 1e-9; /* the time is over before the run begins */
    size_t n_done = 7;
    test_ok(gbs_cases_new(a.model, NULL, &options, a.n_columns, a.column, 0, NULL, &cases, NULL));
    assert_int_equal(gbs_cases_answer(cases, N_CASES, a.state, NULL, &answers, &n_done, NULL),
                     GBS_STOPPED);
    assert_true(n_done == 0 && log_p[0] == 7.0);
    a.state[0] = gbs_model_arity(a.model, a.column[0]);
    n_done = 7;
    assert_int_equal(gbs_cases_answer(cases, N_CASES, a.state, NULL, &answers, &n_done, &err),
                     GBS_ERR_ARGUMENT);
    assert_true(n_done == 7 && log_p[0] == 7.0);
    gbs_cases_free(cases);
    forget(&a);
}

/* A callback stops a long run of one case. */
static void test_stop_by_callback(void **unused)
{
    (void)unused;
    test_draws_restart();
    asked a;
    ask(&a);
    while (a.joint == NULL) {
        forget(&a);
        ask(&a);
    }
    int n_told = 0;
    gbs_cases *cases = NULL;
    size_t n_done = 7;
    gbs_run_options options = gbs_run_options_default();
    const uint32_t column = 0;
    const uint32_t state = GBS_UNOBSERVED;
    const gbs_run_callbacks callbacks = {.context = &n_told, .progress = stop};
    gbs_case_answers answers = {.size = sizeof answers};
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = UINT64_C(1) << 40;
    test_ok(gbs_cases_new(a.model, NULL, &options, 1, &column, 0, NULL, &cases, NULL));
    assert_int_equal(gbs_cases_answer(cases, 1, &state, &callbacks, &answers, &n_done, NULL),
                     GBS_STOPPED);
    assert_true(n_done == 0 && n_told > 0);
    gbs_cases_free(cases);
    forget(&a);
}

static void test_memory_runs_out(void **unused)
{
    (void)unused;
    test_draws_restart();
    asked a;
    ask(&a);
    while (a.joint == NULL || a.n_columns == 0 || a.n_query == 0) {
        forget(&a);
        ask(&a);
    }
    gbs_run_options options = gbs_run_options_default();
    options.threads = 1;
    for (int call = 0; call < 2; ++call) {
        gbs_status status = GBS_ERR_MEMORY;
        gbs_cases *cases = NULL;
        uint64_t n = 0;
        double log_p[N_CASES] = {7.0};
        gbs_case_answers answers = {.size = sizeof answers, .log_p = log_p};
        if (call == 1) {
            test_ok(gbs_cases_new(a.model, NULL, &options, a.n_columns, a.column, a.n_query,
                                  a.query, &cases, NULL));
        }
        for (; status != GBS_OK; ++n) {
            gbsi_alloc_fail_after(n);
            status = call == 0
                         ? gbs_cases_new(a.model, NULL, &options, a.n_columns, a.column, a.n_query,
                                         a.query, &cases, NULL)
                         : gbs_cases_answer(cases, N_CASES, a.state, NULL, &answers, NULL, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true(call == 1 || (status == GBS_OK) == (cases != NULL));
            assert_true(call == 0 || (status == GBS_OK) == (log_p[0] != 7.0));
        }
        assert_true(n > 3);
        gbs_cases_free(cases);
    }
    forget(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_limit_of_each_case), cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_refusals_and_stops), cmocka_unit_test(test_stop_by_callback),
        cmocka_unit_test(test_memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
