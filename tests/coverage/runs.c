/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the coverage study, a line of tab-separated text each, for tools/coverage:
 *
 *     coverage_runs ESTIMATE FIRST LAST [KIND]
 *
 * an estimate (rao-blackwell, count, ln-z), the first and the last seed, and one class of models or
 * `first`, the first model of each.
 *
 * class, model, estimate, seed, whether it converged, intervals, those that hold the exact value,
 * the most that an error exceeds five standard errors and 0.001, whether ladders gave it.
 *
 * An interval is what is stated: probability +- 1.96 standard errors; of ln Z, low to high. An
 * entry whose conditional was the same at every pass (no effective sample size) has no interval;
 * its error must be rounding. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coverage/models.h"
#include "gibbsite/log_z.h"

#define NORMAL   1.959963984540054 /* the 97.5 % quantile */
#define LIMIT    5.0               /* standard errors that a claim may be off by ... */
#define SLACK    1e-3              /* ... and beyond them */
#define ROUNDING 2e-5              /* of conditionals in float */

typedef struct outcome {
    int converged, tempered;
    uint64_t intervals, held;
    double excess; /* may be negative */
} outcome;

static void must(gbs_status status, const gbs_error *err)
{
    if (status < 0) {
        (void)fprintf(stderr, "coverage: %s\n", err->message);
        exit(3);
    }
}

/* @param n entries. */
typedef struct marginals {
    size_t n;
    double *p, *mcse, *ess;
} marginals;

static marginals marginals_new(const gbs_model *model)
{
    const size_t n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)];
    marginals m = {.n = n, .p = calloc(3 * n + 1, sizeof(double))};
    if (m.p == NULL) {
        exit(3);
    }
    m.mcse = m.p + n;
    m.ess = m.mcse + n;
    return m;
}

static outcome compare(const marginals *found, const marginals *exact)
{
    outcome o = {.excess = -INFINITY};
    for (size_t i = 0; i < found->n; ++i) {
        const double error = fabs(found->p[i] - exact->p[i]);
        const double mcse = isnan(found->mcse[i]) ? 0.0 : found->mcse[i];
        o.excess = fmax(o.excess, error - LIMIT * mcse - SLACK);
        if (isnan(found->ess[i]) && error <= ROUNDING) {
            continue;
        }
        ++o.intervals;
        o.held += error <= NORMAL * mcse;
    }
    return o;
}

static outcome run_once(const gbs_model *model, const gbs_evidence *evidence,
                        const gbs_run_options *options, const marginals *exact)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    marginals m = marginals_new(model);
    must(gbs_run_new(model, evidence, options, &run, &err), &err);
    must(gbs_run_execute(run, NULL, &err), &err);
    must(gbs_run_marginals(run, m.p, m.mcse, m.ess, NULL, &err), &err);
    outcome o = compare(&m, exact);
    o.converged = gbs_run_report(run)->converged;
    o.tempered = gbs_run_report(run)->temperatures > 0;
    gbs_run_free(run);
    free(m.p);
    return o;
}

static outcome log_z_once(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options)
{
    gbs_error err = {0};
    double exact = 0.0;
    gbs_log_z_report r = {.size = sizeof r};
    must(gbs_exact_log_z(model, evidence, NULL, &exact, &err), &err);
    must(gbs_log_z(model, evidence, options, NULL, &r, &err), &err);
    const double rounding = 8.0 * DBL_EPSILON * (1.0 + fabs(exact));
    return (outcome){.converged = r.converged,
                     .tempered = r.tempered,
                     .intervals = r.error > 0.0 || isnan(r.error),
                     .held = r.low - rounding <= exact && exact <= r.high + rounding,
                     .excess = fabs(r.log_z - exact) - LIMIT * r.error - SLACK};
}

static void tell(const coverage_model *c, const char *estimate, uint64_t seed, const outcome *o)
{
    (void)printf("%s\t%s\t%s\t%d\t%d\t%d\t%d\t%.6f\t%d\n", c->kind, c->name, estimate, (int)seed,
                 o->converged, (int)o->intervals, (int)o->held, o->excess, o->tempered);
    (void)fflush(stdout);
}

static marginals find_exact(const gbs_model *model, const gbs_evidence *evidence)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    marginals exact = marginals_new(model);
    options.method = GBS_METHOD_EXACT;
    must(gbs_run_new(model, evidence, &options, &run, &err), &err);
    must(gbs_run_execute(run, NULL, &err), &err);
    must(gbs_run_marginals(run, exact.p, NULL, NULL, NULL, &err), &err);
    gbs_run_free(run);
    return exact;
}

static void study(const coverage_model *c, const char *estimate, uint64_t first, uint64_t last)
{
    gbs_error err = {0};
    gbs_model *model = c->make(c->k);
    gbs_evidence *evidence = NULL;
    gbs_run_options options = gbs_run_options_default();
    must(gbs_evidence_new(model, &evidence, &err), &err);
    if (c->observed >= 0) {
        must(gbs_evidence_observe(evidence, (uint32_t)c->observed, 1, &err), &err);
    }
    marginals exact = find_exact(model, evidence);
    options.method = GBS_METHOD_SAMPLE;
    options.max_updates = c->max_updates;
    options.threads = 1;
    const bool of_z = strcmp(estimate, "ln-z") == 0;
    if (!of_z) {
        must(gbs_option_set(&options, "estimator", estimate, &err), &err);
    }
    for (uint64_t seed = first; seed <= last; ++seed) {
        options.seed = seed;
        const outcome o = of_z ? log_z_once(model, evidence, &options)
                               : run_once(model, evidence, &options, &exact);
        tell(c, estimate, seed, &o);
    }
    free(exact.p);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

int main(int n_words, char **word)
{
    if (n_words < 4) {
        (void)fprintf(stderr, "usage: %s ESTIMATE FIRST LAST [KIND]\n", word[0]);
        return 2;
    }
    const uint64_t first = strtoull(word[2], NULL, 10);
    const uint64_t last = strtoull(word[3], NULL, 10);
    for (size_t i = 0; i < n_coverage_models; ++i) {
        const coverage_model *c = &coverage_models[i];
        const bool is_first = i == 0 || strcmp(c->kind, c[-1].kind) != 0;
        if (n_words < 5 || strcmp(c->kind, word[4]) == 0 ||
            (is_first && strcmp(word[4], "first") == 0)) {
            study(c, word[1], first, last);
        }
    }
    return 0;
}
