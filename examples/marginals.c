/* SPDX-License-Identifier: Apache-2.0 */
/* The library in one page: build a model, observe something, sample, print marginals with errors.
 *
 *     cc marginals.c $(pkg-config --cflags --libs gibbsite) -o marginals && ./marginals */
#include <stdio.h>
#include <stdlib.h>

#include <gibbsite/gibbsite.h>

#define N 6

static void check(gbs_status status, const gbs_error *err)
{
    if (status < 0) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

/* A ring of six spins that like to agree, with a field on the first. */
static gbs_model *make_ring(void)
{
    const uint32_t arity[N] = {2, 2, 2, 2, 2, 2};
    gbs_error err = {0};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    check(gbs_builder_new(&builder, &err), &err);
    check(gbs_builder_add_variables(builder, N, arity, NULL, &err), &err);
    for (uint32_t v = 0; v < N; ++v) {
        check(gbs_builder_add_ising(builder, v, (v + 1) % N, 0.5, &err), &err);
    }
    check(gbs_builder_add_field(builder, 0, 0.4, &err), &err);
    check(gbs_builder_build(builder, &model, &err), &err);
    gbs_builder_free(builder);
    return model;
}

int main(void)
{
    gbs_error err = {0};
    gbs_model *model = make_ring();
    gbs_evidence *evidence = NULL;
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    double p[2 * N];
    double mcse[2 * N];
    check(gbs_evidence_new(model, &evidence, &err), &err);
    check(gbs_evidence_observe(evidence, 3, 0, &err), &err); /* spin 3 is down */
    options.method = GBS_METHOD_SAMPLE;
    options.target_error = 0.002;
    check(gbs_run_new(model, evidence, &options, &run, &err), &err);
    check(gbs_run_execute(run, NULL, &err), &err);
    check(gbs_run_marginals(run, p, mcse, NULL, NULL, &err), &err);
    for (uint32_t v = 0; v < N; ++v) {
        (void)printf("P(spin %u up) = %.4f +- %.4f\n", v, p[2 * v + 1], mcse[2 * v + 1]);
    }
    (void)printf("%s\n", gbs_run_report(run)->verdict);
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return 0;
}
