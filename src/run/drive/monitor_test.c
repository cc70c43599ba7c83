/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of runs equal the states of draws that a callback gets, for every scan; recording them
 * does not change the estimates. */
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
#include "gibbsite/gibbsite.h"

enum { CHAINS = 8, SWEEPS = 60, VARIABLES = 30 };
static const uint32_t asked[] = {7, 0, 29};

static gbs_model *spins(void)
{
    const gbs_generate_ising_options how = {.side = {6, 5, 1}, .coupling = 0.2, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    return model;
}

static gbs_run_options usual(void)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = SWEEPS;
    options.chains = CHAINS;
    options.threads = 1;
    return options;
}

typedef struct heard {
    double density[CHAINS][SWEEPS];
    uint32_t state[3][CHAINS][SWEEPS];
} heard;

static gbs_status hear(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *state, gbs_error *err)
{
    heard *h = context;
    (void)err;
    h->density[chain][draw] = log_density;
    for (int i = 0; i < 3; ++i) {
        h->state[i][chain][draw] = state[asked[i]];
    }
    return GBS_OK;
}

static gbs_run *monitored(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options, const gbs_run_callbacks *callbacks)
{
    gbs_error err = {GBS_OK, ""};
    gbs_run *run = NULL;
    if (gbs_run_new(model, evidence, options, &run, &err) < 0 ||
        gbs_run_monitor(run, asked, 3, &err) < 0 || gbs_run_execute(run, callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return run;
}

static void traces_are_those_of_the_draws(void **state)
{
    (void)state;
    gbs_model *model = spins();
    static heard h;
    for (size_t k = 0; k < 4; ++k) {
        static const char *const scan[] = {"chromatic", "systematic", "synchronous", "splash"};
        gbs_run_options options = usual();
        double density[CHAINS][SWEEPS];
        uint32_t x[CHAINS][SWEEPS];
        assert_int_equal(gbs_option_set(&options, "scan", scan[k], NULL), GBS_OK);
        const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .context = &h, .draw = hear};
        gbs_run *run = monitored(model, NULL, &options, &callbacks);
        gbs_traces traces = {.size = sizeof traces};
        assert_int_equal(gbs_run_traces(run, &traces, NULL), GBS_OK);
        assert_int_equal(traces.n_draws, SWEEPS);
        assert_int_equal(traces.stride, 1);
        assert_int_equal(traces.n_chains, gbs_run_report(run)->chains);
        const size_t n = sizeof density[0] * traces.n_chains;
        assert_int_equal(gbs_run_trace_density(run, density[0], NULL), GBS_OK);
        assert_memory_equal(density, h.density, n);
        for (int i = 0; i < 3; ++i) {
            assert_int_equal(gbs_run_trace_state(run, asked[i], x[0], NULL), GBS_OK);
            assert_memory_equal(x, h.state[i], n / 2);
        }
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

static void estimates_do_not_notice(void **state)
{
    (void)state;
    gbs_model *model = spins();
    gbs_run_options options = usual();
    gbs_run *plain = NULL;
    options.sweeps = 3000;
    assert_int_equal(gbs_run_new(model, NULL, &options, &plain, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(plain, NULL, NULL), GBS_OK);
    gbs_run *run = monitored(model, NULL, &options, NULL);
    assert_string_equal(gbs_run_report(run)->digest, gbs_run_report(plain)->digest);
    gbs_traces traces = {.size = sizeof traces};
    assert_int_equal(gbs_run_traces(run, &traces, NULL), GBS_OK);
    assert_int_equal(traces.n_draws, 750);
    assert_int_equal(traces.stride, 4);
    gbs_run_free(run);
    gbs_run_free(plain);
    gbs_model_free(model);
}

/* A run that was interrupted and resumed has the traces of a run that never stopped. */
static void traces_go_on_from_checkpoints(void **state)
{
    (void)state;
    char path[] = "/tmp/gibbsite-monitor-XXXXXX";
    char older[sizeof path + 1];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    (void)snprintf(older, sizeof older, "%s~", path);
    gbs_model *model = spins();
    gbs_run_options options = usual();
    gbs_error err = {GBS_OK, ""};
    double density[2][CHAINS][SWEEPS];
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_monitor(run, asked, 3, NULL), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run, path, NULL), GBS_OK);
    run->checkpoints.stop_after = 90; /* burn-in takes 64 passes */
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_STOPPED);
    gbs_run_free(run);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_resume(run, path, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--monitor"));
    assert_int_equal(gbs_run_monitor(run, asked, 3, NULL), GBS_OK);
    assert_int_equal(gbs_run_resume(run, path, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_OK);
    assert_int_equal(gbs_run_trace_density(run, density[0][0], NULL), GBS_OK);
    gbs_run_free(run);
    run = monitored(model, NULL, &options, NULL);
    assert_int_equal(gbs_run_trace_density(run, density[1][0], NULL), GBS_OK);
    assert_memory_equal(density[0], density[1], sizeof density[0]);
    gbs_run_free(run);
    gbs_model_free(model);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(older), 0);
}

/* Runs of more spin and Potts factors of equal weight than a byte can count, of both signs and
 * mixed with other factors. The log density has the same bits chain by chain and for sixteen chains
 * at a time, and equals the log density of the model. */
enum { RING = 700 };

static gbs_model *mixed_spins(void)
{
    static const double size[] = {0.3, 0.3, 0.0, 0.7};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    uint32_t arity[RING];
    for (uint32_t i = 0; i < RING; ++i) {
        arity[i] = 2;
    }
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, RING, arity, NULL, NULL), GBS_OK);
    for (uint32_t i = 0; i < RING; ++i) {
        const uint32_t three[3] = {i, (i + 1) % RING, (i + 3) % RING};
        const double sign = i % 3 == 0 ? -1.0 : 1.0;
        const double h = sign * (i < 600 ? 0.1 : size[i % 4]);
        assert_int_equal(gbs_builder_add_field(builder, i, h, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_spin(builder, 3, three, 0.1 * sign, NULL), GBS_OK);
    }
    for (uint32_t i = 0; i < RING; ++i) {
        const double coupling = i % 5 == 0 ? -0.2 : 0.2;
        assert_int_equal(gbs_builder_add_ising(builder, i, (i + 1) % RING, coupling, NULL), GBS_OK);
    }
    for (uint32_t i = 0; i < RING; ++i) {
        const double coupling = i < 600 ? 0.1 : -0.1;
        assert_int_equal(gbs_builder_add_potts(builder, i, (i + 2) % RING, coupling, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

typedef struct first_chain {
    const gbs_model *model;
    double density[SWEEPS];
} first_chain;

static gbs_status hear_first(void *context, uint64_t draw, uint32_t chain, double log_density,
                             const uint32_t *state, gbs_error *err)
{
    first_chain *f = context;
    (void)err;
    assert_true(fabs(log_density - gbs_model_log_density(f->model, state)) < 1e-9);
    if (chain == 0) {
        f->density[draw] = log_density;
    }
    return GBS_OK;
}

static void sixteen_chains_have_the_bits_of_one(void **state)
{
    (void)state;
    gbs_model *model = mixed_spins();
    first_chain f[2] = {{.model = model}, {.model = model}};
    for (int many = 0; many < 2; ++many) {
        gbs_run_options options = usual();
        const gbs_run_callbacks callbacks = {
            .size = sizeof callbacks, .context = &f[many], .draw = hear_first};
        options.chains = many ? 16 : 1;
        options.burn_in = 4;
        gbs_run_free(monitored(model, NULL, &options, &callbacks));
    }
    assert_memory_equal(f[0].density, f[1].density, sizeof f[0].density);
    gbs_model_free(model);
}

static void what_has_no_trace_is_said(void **state)
{
    (void)state;
    gbs_model *model = spins();
    gbs_evidence *evidence = NULL;
    gbs_run_options options = usual();
    gbs_error err = {GBS_OK, ""};
    uint32_t x[CHAINS * SWEEPS];
    gbs_traces traces = {.size = sizeof traces};
    const uint32_t beyond = VARIABLES;
    assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(evidence, 7, 1, NULL), GBS_OK);
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, evidence, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_traces(run, &traces, &err), GBS_ERR_STATE);
    assert_int_equal(gbs_run_monitor(run, &beyond, 1, &err), GBS_ERR_ARGUMENT);
    gbs_run_free(run);
    run = monitored(model, evidence, &options, NULL);
    assert_int_equal(gbs_run_trace_state(run, 7, x, &err),
                     GBS_ERR_UNSUPPORTED); /* variable 7 is observed */
    assert_int_equal(gbs_run_trace_state(run, 1, x, &err),
                     GBS_ERR_ARGUMENT); /* variable 1 was not asked for */
    assert_int_equal(gbs_run_trace_state(run, 0, x, &err), GBS_OK);
    assert_int_equal(gbs_run_monitor(run, asked, 3, &err), GBS_ERR_STATE);
    gbs_run_free(run);
    options.method = GBS_METHOD_EXACT;
    run = monitored(model, evidence, &options, NULL);
    assert_int_equal(gbs_run_traces(run, &traces, &err), GBS_OK);
    assert_int_equal(traces.n_draws, 0);
    assert_int_equal(gbs_run_trace_state(run, 0, x, &err), GBS_ERR_UNSUPPORTED);
    gbs_run_free(run);
    options.method = GBS_METHOD_SAMPLE;
    options.temper = 4;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_monitor(run, asked, 3, &err), GBS_ERR_UNSUPPORTED);
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_those_of_the_draws),
        cmocka_unit_test(estimates_do_not_notice),
        cmocka_unit_test(traces_go_on_from_checkpoints),
        cmocka_unit_test(sixteen_chains_have_the_bits_of_one),
        cmocka_unit_test(what_has_no_trace_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
