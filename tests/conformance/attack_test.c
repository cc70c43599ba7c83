/* SPDX-License-Identifier: Apache-2.0 */
/* Models made to deceive a sampler: strong tables, glasses, zeros, and one table with a single
 * heavy state that chains hardly ever find. Whatever a run calls converged must be right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "support/runs.h"
#include "support/small_models.h"

enum { STRONG_TABLES, GLASS, ZEROS, HEAVY_STATE, N_KINDS };
static const char *const kind_name[] = {"strong tables", "glass", "zeros", "heavy state"};

/* What a claim may be off by: standard errors, and rounding. */
#define LIMIT    5.0
#define ROUNDING 1e-3

static void must(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static gbs_builder *begin(test_stream *s, uint32_t n, uint32_t most_states, uint32_t *arity)
{
    gbs_builder *b = NULL;
    must(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = 2 + test_below(s, most_states - 1);
    }
    must(gbs_builder_add_variables(b, n, arity, NULL, NULL));
    return b;
}

/* The sum of three numbers from -1 .. 1 has variance 1. */
static double normal(test_stream *s)
{
    return test_uniform(s, -1.0, 1.0) + test_uniform(s, -1.0, 1.0) + test_uniform(s, -1.0, 1.0);
}

/* Log-weights of the given spread; @param zeros share of the states that get none. */
static void add_table(gbs_builder *b, test_stream *s, const uint32_t *arity, uint32_t n,
                      const uint32_t *scope, double spread, double zeros)
{
    double logw[256];
    size_t n_entries = 1;
    uint32_t table = 0;
    for (uint32_t i = 0; i < n; ++i) {
        n_entries *= arity[scope[i]];
    }
    assert_true(n_entries <= sizeof logw / sizeof logw[0]);
    for (size_t i = 0; i < n_entries; ++i) {
        logw[i] = spread * normal(s);
        if (i > 0 && test_uniform(s, 0.0, 1.0) < zeros) { /* state 0 of all variables is possible */
            logw[i] = -INFINITY;
        }
    }
    must(gbs_builder_add_table(b, n_entries, logw, &table, NULL));
    must(gbs_builder_add_table_factor(b, n, scope, table, NULL));
}

/* A tree of tables of two and three variables near each other, so that exact answers are cheap. */
static gbs_model *tables(test_stream *s, double zeros)
{
    uint32_t arity[36];
    const uint32_t n = 8 + test_below(s, 29);
    const double spread = test_uniform(s, 1.0, 4.0);
    gbs_model *model = NULL;
    gbs_builder *b = begin(s, n, 4, arity);
    for (uint32_t v = 1; v < n; ++v) {
        const uint32_t near = v < 5 ? v : 5;
        const uint32_t other = v - 1 - test_below(s, near);
        const uint32_t third = v - 1 - test_below(s, near);
        const uint32_t scope[] = {v, other, third};
        add_table(b, s, arity, other == third ? 2 : 3, scope, spread, zeros);
    }
    must(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* A closed square lattice of couplings +-J. */
static gbs_model *glass(test_stream *s)
{
    const uint32_t side = 3 + test_below(s, 4);
    const double coupling = test_uniform(s, 0.7, 2.5);
    const double field = test_uniform(s, 0.0, 0.5);
    uint32_t arity[36];
    gbs_model *model = NULL;
    gbs_builder *b = begin(s, side * side, 2, arity);
    for (uint32_t v = 0; v < side * side; ++v) {
        const uint32_t right = v % side == side - 1 ? v + 1 - side : v + 1;
        const uint32_t down = (v + side) % (side * side);
        must(gbs_builder_add_ising(b, v, right, test_below(s, 2) ? coupling : -coupling, NULL));
        must(gbs_builder_add_ising(b, v, down, test_below(s, 2) ? coupling : -coupling, NULL));
        must(gbs_builder_add_field(b, v, field * normal(s), NULL));
    }
    must(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* Soft couplings, and a table of 8 to 14 variables in which one state outweighs what chains come
 * from: of all the mass it has 0.3 to 3 per cent. */
static gbs_model *heavy_state(test_stream *s)
{
    const uint32_t n_full = 8 + test_below(s, 7);
    const uint32_t n = n_full + test_below(s, 23);
    const double mass = exp(test_uniform(s, log(0.003), log(0.03)));
    const size_t n_entries = (size_t)1 << n_full;
    double *logw = calloc(n_entries, sizeof *logw);
    uint32_t scope[14];
    uint32_t arity[36];
    uint32_t table = 0;
    gbs_model *model = NULL;
    gbs_builder *b = begin(s, n, 2, arity);
    for (uint32_t v = 0; v < n; ++v) {
        must(gbs_builder_add_field(b, v, 0.2 * normal(s), NULL));
        if (v > 0) {
            const uint32_t other = v - 1 - test_below(s, v < 4 ? v : 4);
            must(gbs_builder_add_ising(b, v, other, 0.3 * normal(s), NULL));
        }
        if (v < n_full) {
            scope[v] = v;
        }
    }
    /* the others are about alike: the state has 2^-n_full of the mass without its weight */
    logw[test_below(s, (uint32_t)n_entries)] = log(mass) + n_full * log(2.0);
    must(gbs_builder_add_table(b, n_entries, logw, &table, NULL));
    must(gbs_builder_add_table_factor(b, n_full, scope, table, NULL));
    must(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    free(logw);
    return model;
}

static gbs_model *make(int kind, uint64_t seed)
{
    test_stream s = {.seed = 9000 + seed * N_KINDS + (uint64_t)kind};
    return kind == GLASS         ? glass(&s)
           : kind == HEAVY_STATE ? heavy_state(&s)
                                 : tables(&s, kind == ZEROS ? 0.25 : 0.0);
}

/* How far the worst entry is beyond what its standard error allows; 0: none is. */
static double excess(const test_answer *found, const test_answer *exact)
{
    double most = 0.0;
    for (size_t i = 0; i < found->n; ++i) {
        const double mcse = isnan(found->mcse[i]) ? 0.0 : found->mcse[i];
        const double error = fabs(found->p[i] - exact->p[i]);
        most = fmax(most, error - LIMIT * mcse - ROUNDING);
    }
    return most;
}

/* Of 200 claims less than one is wrong, and seven in ten runs of a fraction of a second claim to
 * have converged. At full scale the former has enough runs to mean something. */
static void claims_are_right(void **state)
{
    (void)state;
    const uint64_t n_seeds = test_scaled(150, 4, 1);
    uint64_t n_wrong = 0;
    uint64_t n_claims = 0;
    for (int kind = 0; kind < N_KINDS; ++kind) {
        uint64_t n_of_kind = 0;
        for (uint64_t seed = 0; seed < n_seeds; ++seed) {
            gbs_model *model = make(kind, seed);
            gbs_run_options options = gbs_run_options_default();
            options.method = GBS_METHOD_SAMPLE;
            options.seed = seed;
            options.max_updates = 200000000;
            test_answer exact = test_exactly(model, NULL);
            test_answer found = test_run_once(model, NULL, &options);
            if (found.report.converged == 1) {
                const double off = excess(&found, &exact);
                ++n_of_kind;
                n_wrong += off > 0.0;
                if (off > 0.0) {
                    print_message("%s %d: converged, and off by %.4f more than stated\n",
                                  kind_name[kind], (int)seed, off);
                }
            }
            test_drop(&found);
            test_drop(&exact);
            gbs_model_free(model);
        }
        print_message("%s: %d of %d called converged\n", kind_name[kind], (int)n_of_kind,
                      (int)n_seeds);
        n_claims += n_of_kind;
    }
    assert_true(200 * n_wrong <= n_claims);
    assert_true(n_seeds == 1 || 10 * n_claims >= 7 * N_KINDS * n_seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
