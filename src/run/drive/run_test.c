/* SPDX-License-Identifier: Apache-2.0 */
/* The data that a run keeps and gives to callers: passes of burn-in count in no estimate, and draws
 * are in the user's numbering even if evidence and hard zeros remove variables and states. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "chains/run.h"
#include "gibbsite/gibbsite.h"

enum { N_VARIABLES = 5, N_CHAINS = 9 };

static const uint32_t arity[N_VARIABLES] = {2, 4, 3, 5, 2};

/* A ring of tables. States 0 and 2 of variable 1 are ruled out, and all states of variable 3 except
 * 2 and 4. */
static gbs_model *make_model(void)
{
    static const double only[2][5] = {{-INFINITY, 0.3, -INFINITY, 0.0, 0.0},
                                      {-INFINITY, -INFINITY, 0.4, -INFINITY, -0.4}};
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t id = 0;
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N_VARIABLES, arity, NULL, &err), GBS_OK);
    for (uint32_t v = 0; v < N_VARIABLES; ++v) {
        const uint32_t scope[2] = {v, (v + 1) % N_VARIABLES};
        const size_t n = (size_t)arity[scope[0]] * arity[scope[1]];
        double logw[20];
        for (size_t i = 0; i < n; ++i) {
            logw[i] = 0.01 * (double)((i * 37 + v * 11) % 50);
        }
        assert_int_equal(gbs_builder_add_table(b, n, logw, &id, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, id, &err), GBS_OK);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t v = 1 + 2 * i;
        assert_int_equal(gbs_builder_add_table(b, arity[v], only[i], &id, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 1, &v, id, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static gbs_run *new_run(const gbs_model *model, const gbs_evidence *evidence, int estimator)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.estimator = estimator;
    options.chains = N_CHAINS;
    options.burn_in = 37;
    options.sweeps = 120;
    options.thin = 7;
    assert_int_equal(gbs_run_new(model, evidence, &options, &run, &err), GBS_OK);
    return run;
}

static void burn_in_counts_in_nothing(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = make_model();
    for (int estimator = 0; estimator <= GBS_ESTIMATOR_COUNT; ++estimator) {
        gbs_run *run = new_run(model, NULL, estimator);
        assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_OK);
        const gbs_report *report = gbs_run_report(run);
        assert_int_equal(report->burn_in, 37);
        assert_int_equal(report->sweeps, 120);
        assert_int_equal(report->updates, (37 + 120) * N_CHAINS * N_VARIABLES);
        assert_int_equal(gbsi_estimate_n_passes(run->sampling.estimates.estimate), 120);
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

typedef struct seen {
    const gbs_model *model;
    uint64_t n;
    uint64_t count[N_VARIABLES][5];
} seen;

static gbs_status look(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *x, gbs_error *err)
{
    seen *s = context;
    (void)err;
    assert_int_equal(draw * N_CHAINS + chain, s->n++);
    assert_true(fabs(log_density - gbs_model_log_density(s->model, x)) < 1e-9);
    for (uint32_t v = 0; v < N_VARIABLES; ++v) {
        assert_true(x[v] < arity[v]);
        ++s->count[v][x[v]];
    }
    return GBS_OK;
}

static void draws_are_in_the_users_numbering(void **state)
{
    (void)state;
    static const uint32_t possible[N_VARIABLES] = {0x3, 0xA, 0x2, 0x14, 0x3}; /* bit a: state a */
    gbs_error err = {0};
    gbs_model *model = make_model();
    gbs_evidence *evidence = NULL;
    seen s = {.model = model};
    const gbs_run_callbacks callbacks = {.context = &s, .draw = look};
    assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
    assert_int_equal(gbs_evidence_observe(evidence, 2, 1, &err), GBS_OK);
    gbs_run *run = new_run(model, evidence, GBS_ESTIMATOR_RAO_BLACKWELL);
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_OK);
    assert_int_equal(s.n, 120 / 7 * N_CHAINS);
    for (uint32_t v = 0; v < N_VARIABLES; ++v) {
        for (uint32_t a = 0; a < arity[v]; ++a) {
            assert_true((s.count[v][a] > 0) == (possible[v] >> a & 1u));
        }
    }
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* Two variables that must agree: updates of single variables cannot cross between 00 and 11. */
static gbs_model *make_split(void)
{
    static const double equal[4] = {0.0, -INFINITY, -INFINITY, 0.0};
    static const uint32_t two[2] = {2, 2};
    static const uint32_t scope[2] = {0, 1};
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t id = 0;
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 2, two, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 4, equal, &id, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, id, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* A support that is shown to be split ends the run; burn-in takes at most as many passes as the
 * sweeps asked for. */
static void split_support(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = make_split();
    for (uint64_t sweeps = 0; sweeps <= 10; sweeps += 10) {
        gbs_run *run = NULL;
        gbs_run_options options = gbs_run_options_default();
        options.method = GBS_METHOD_SAMPLE;
        options.scan = GBS_SCAN_CHROMATIC;
        options.sweeps = sweeps;
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
        const gbs_status status = gbs_run_execute(run, NULL, &err);
        const gbs_report *report = gbs_run_report(run);
        assert_int_equal(status, sweeps == 0 ? GBS_STOPPED : GBS_OK);
        assert_string_equal(report->stop, sweeps == 0 ? "support" : "sweeps");
        assert_true(report->burn_in <= (sweeps == 0 ? 64 : sweeps));
        assert_false(report->converged);
        assert_non_null(strstr(report->verdict, "split the support"));
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

/* ---- when a run ends ------------------------------------------------------------------------ */

static void check_end(double target, uint64_t sweeps, const char *stop)
{
    gbs_error err = {0};
    gbs_model *model = make_model();
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = sweeps;
    options.target_error = target;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_OK);
    const gbs_report *report = gbs_run_report(run);
    assert_string_equal(report->stop, stop);
    assert_true((report->sweeps == sweeps) == (strcmp(stop, "sweeps") == 0));
    assert_true(report->max_mcse <= target || strcmp(stop, "sweeps") == 0);
    gbs_run_free(run);
    gbs_model_free(model);
}

/* With a number of sweeps and a target, the run ends at whichever is reached first. */
static void target_beside_sweeps(void **state)
{
    (void)state;
    check_end(0.01, 1000000, "target");
    check_end(0.01, 100, "sweeps");
    check_end(1e-7, 200000, "sweeps");
    check_end(0.0, 200000, "sweeps");
    check_end(0.01, 0, "target");
}

/* If the user sets a number of sweeps but no limit of updates, the run makes all sweeps. */
static void updates_allowed(void **state)
{
    (void)state;
    static const uint64_t sweeps[] = {0, 1000, 0, 1000};
    static const uint64_t given[] = {0, 0, 77, 77};
    static const uint64_t allowed[] = {50000000000, UINT64_MAX, 77, 77};
    gbs_model *model = make_model();
    for (int i = 0; i < 4; ++i) {
        gbs_run *run = NULL;
        gbs_run_options options = gbs_run_options_default();
        options.method = GBS_METHOD_SAMPLE;
        options.sweeps = sweeps[i];
        options.max_updates = given[i];
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
        assert_true(run->task.options.max_updates == allowed[i]);
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

/* ---- reading marginals ---------------------------------------------------------------------- */

enum { SIDE = 12, N_SITES = SIDE * SIDE };

typedef struct reader {
    const gbs_run *run;
    uint64_t fail_at; /* number of the draw at which the callback fails */
    uint64_t n, ones[N_SITES];
    double p[4][2 * N_SITES]; /* p as read by each member of a pool */
} reader;

/* Counts the states of its draws, and checks that the run has the same counts. */
static gbs_status read_along(void *context, uint64_t draw, uint32_t chain, double log_density,
                             const uint32_t *x, gbs_error *err)
{
    reader *r = context;
    (void)log_density;
    if (draw == r->fail_at) {
        return gbsi_fail(err, GBS_ERR_IO, "no room for draw 3");
    }
    for (uint32_t v = 0; v < N_SITES; ++v) {
        r->ones[v] += x[v];
    }
    ++r->n;
    if (chain == N_CHAINS - 1) {
        assert_int_equal(gbs_run_marginals(r->run, r->p[0], NULL, NULL, NULL, err), GBS_OK);
        for (uint32_t v = 0; v < N_SITES; ++v) {
            assert_true(fabs(r->p[0][2 * v + 1] - (double)r->ones[v] / (double)r->n) < 1e-12);
        }
    }
    return GBS_OK;
}

/* Makes a run of spins in bits, which counts visits in memory of its own. */
static gbs_run *new_lattice(gbs_model **model)
{
    const gbs_generate_ising_options grid = {.side = {SIDE, SIDE, 1}, .torus = 1, .coupling = 0.3};
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.chains = N_CHAINS;
    options.burn_in = 3;
    options.lattice = GBS_LATTICE_ALWAYS;
    options.sweeps = 10;
    assert_int_equal(gbs_generate_ising(&grid, model, &err), GBS_OK);
    assert_int_equal(gbs_run_new(*model, NULL, &options, &run, &err), GBS_OK);
    assert_non_null(run->sampling.engine.spins);
    return run;
}

static void callbacks_may_read(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = NULL;
    reader *r = calloc(1, sizeof *r);
    assert_non_null(r);
    gbs_run *run = new_lattice(&model);
    const gbs_run_callbacks callbacks = {.context = r, .draw = read_along};
    r->run = run;
    r->fail_at = UINT64_MAX;
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_OK);
    assert_int_equal(r->n, 10 * N_CHAINS);
    gbs_run_free(run);
    gbs_model_free(model);
    free(r);
}

static void read_as_member(void *context, uint32_t member)
{
    reader *r = context;
    if (gbs_run_marginals(r->run, r->p[member], NULL, NULL, NULL, NULL) < 0) {
        r->p[member][0] = NAN;
    }
}

static void must_not_fetch(void *state, struct gbsi_estimate *estimate)
{
    (void)state;
    (void)estimate;
    abort();
}

/* Several threads may read a run that has ended: reading changes nothing in the lattice. */
static void threads_may_read(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbsi_pool *pool = NULL;
    reader *r = calloc(1, sizeof *r);
    assert_non_null(r);
    gbs_run *run = new_lattice(&model);
    r->run = run;
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_OK);
    static const gbsi_pass no_calls = {.fetch = must_not_fetch};
    const gbsi_pass *pass = run->sampling.engine.executor.pass;
    run->sampling.engine.executor.pass = &no_calls;
    assert_int_equal(gbsi_pool_new(4, &pool, &err), GBS_OK);
    gbsi_pool_run(pool, read_as_member, r);
    for (int member = 1; member < 4; ++member) {
        assert_memory_equal(r->p[member], r->p[0], sizeof r->p[0]);
    }
    assert_true(r->p[0][0] > 0.0 && r->p[0][0] < 1.0);
    run->sampling.engine.executor.pass = pass;
    gbsi_pool_free(pool);
    gbs_run_free(run);
    gbs_model_free(model);
    free(r);
}

/* A run that failed has no estimates, whether it failed while sampling, at its start, or without
 * variables to sample. */
static void failed_runs_have_no_marginals(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = NULL;
    reader *r = calloc(1, sizeof *r);
    assert_non_null(r);
    gbs_run *run = new_lattice(&model);
    const gbs_run_callbacks callbacks = {.context = r, .draw = read_along};
    double *p = r->p[1];
    r->run = run;
    r->fail_at = 3;
    p[0] = p[1] = 7.0;
    assert_int_equal(gbs_run_marginals(run, p, p, p, p, &err), GBS_ERR_STATE);
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_ERR_IO);
    assert_int_equal(gbs_run_marginals(run, p, p, p, p, &err), GBS_ERR_STATE);
    assert_true(p[0] == 7.0 && p[1] == 7.0);
    gbs_run_free(run);
    gbs_model_free(model);
    free(r);
}

static void failed_exact_runs_have_no_marginals(void **state)
{
    (void)state;
    gbs_model *model = make_model();
    gbs_status status = GBS_ERR_MEMORY;
    for (int method = GBS_METHOD_AUTO; method <= GBS_METHOD_MEAN_FIELD; ++method) {
        for (uint64_t allowed = 0; status != GBS_OK; ++allowed) {
            gbs_run_options options = gbs_run_options_default();
            double p[16] = {7.0};
            gbs_run *run = NULL;
            options.method = method;
            if (method == GBS_METHOD_SAMPLE) {
                options.sweeps = 3;
            }
            assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
            gbsi_alloc_fail_after(allowed);
            status = gbs_run_execute(run, NULL, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_int_equal(gbs_run_marginals(run, p, NULL, NULL, NULL, NULL),
                             status == GBS_OK ? GBS_OK : GBS_ERR_STATE);
            assert_true((p[0] == 7.0) == (status != GBS_OK));
            gbs_run_free(run);
        }
        status = GBS_ERR_MEMORY;
    }
    gbs_model_free(model);
}

/* The time limit of a run that must be exact also ends its search for an elimination order. */
static void orders_end_in_time(void **state)
{
    (void)state;
    const gbs_generate_ising_options grid = {.side = {15, 15, 1}, .coupling = 0.5};
    gbs_run_options options = gbs_run_options_default();
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    gbs_error err = {0};
    options.method = GBS_METHOD_EXACT;
    options.time_s = 1e-9;
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_STOPPED);
    assert_non_null(strstr(err.message, "looking for an elimination order"));
    assert_null(run);
    options.time_s = 0.0;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    gbs_run_free(run);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(burn_in_counts_in_nothing),
        cmocka_unit_test(draws_are_in_the_users_numbering),
        cmocka_unit_test(split_support),
        cmocka_unit_test(target_beside_sweeps),
        cmocka_unit_test(updates_allowed),
        cmocka_unit_test(callbacks_may_read),
        cmocka_unit_test(threads_may_read),
        cmocka_unit_test(failed_runs_have_no_marginals),
        cmocka_unit_test(failed_exact_runs_have_no_marginals),
        cmocka_unit_test(orders_end_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
