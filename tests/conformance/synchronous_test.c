/* SPDX-License-Identifier: Apache-2.0 */
/* The synchronous scan: chromatic chains recombined, bit for bit; its law, which is the product of
 * the two colours' own (Gonzalez et al. 2011, theorem 3.3); marginals all the same; refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/generate.h"
#include "gibbsite/map.h"
#include "support/runs.h"

static gbs_model *grid(uint32_t rows, uint32_t columns, double coupling)
{
    const gbs_generate_ising_options options = {.side = {rows, columns, 1},
                                                .coupling = coupling,
                                                .coupling_spread = 0.1,
                                                .random_field = 0.4,
                                                .seed = 5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

static int color_of(uint32_t v, uint32_t columns)
{
    return (int)((v / columns + v % columns) % 2);
}

static gbs_run_options options_of(int scan, uint64_t chains, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scan;
    options.chains = chains;
    options.sweeps = sweeps;
    options.burn_in = 10;
    return options;
}

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct draws {
    uint32_t n_variables, n_chains;
    uint32_t *x; /* [draw][chain][variable] */
    double *density;
} draws;

static gbs_status keep(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *x, gbs_error *err)
{
    draws *d = context;
    (void)err;
    const size_t at = (size_t)draw * d->n_chains + chain;
    memcpy(d->x + at * d->n_variables, x, d->n_variables * sizeof *x);
    d->density[at] = log_density;
    return GBS_OK;
}

static draws run_draws(const gbs_model *model, int scan, uint64_t chains, uint64_t sweeps)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    const gbs_run_options options = options_of(scan, chains, sweeps);
    draws d = {.n_variables = gbs_model_n_variables(model), .n_chains = (uint32_t)chains};
    d.x = calloc(chains * sweeps * d.n_variables, sizeof *d.x);
    d.density = calloc(chains * sweeps, sizeof *d.density);
    const gbs_run_callbacks callbacks = {.context = &d, .draw = keep};
    if (gbs_run_new(model, NULL, &options, &run, &err) < 0 ||
        gbs_run_execute(run, &callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    if (scan == GBS_SCAN_SYNCHRONOUS) {
        assert_int_equal(gbs_run_report(run)->converged, 0);
        assert_int_equal(gbs_run_report(run)->chains, chains);
    }
    gbs_run_free(run);
    return d;
}

static void drop(draws *d)
{
    free(d->x);
    free(d->density);
}

static void chromatic_chains_recombined(void **state)
{
    (void)state;
    enum { ROWS = 5, COLUMNS = 6, SWEEPS = 50 };
    gbs_model *model = grid(ROWS, COLUMNS, 0.5);
    for (uint32_t chains = 1; chains <= 12; chains += 3) {
        draws both = run_draws(model, GBS_SCAN_SYNCHRONOUS, chains, SWEEPS);
        draws two = run_draws(model, GBS_SCAN_CHROMATIC, 2 * (uint64_t)chains, SWEEPS);
        for (size_t i = 0; i < (size_t)SWEEPS * chains; ++i) {
            const uint32_t *x = both.x + i * ROWS * COLUMNS;
            const uint32_t *y = two.x + 2 * i * ROWS * COLUMNS;
            const uint32_t *z = y + ROWS * COLUMNS;
            for (uint32_t v = 0; v < ROWS * COLUMNS; ++v) {
                assert_int_equal(x[v], color_of(v, COLUMNS) == 0 ? z[v] : y[v]);
            }
            assert_true(fabs(both.density[i] - gbs_model_log_density(model, x)) < 1e-9);
        }
        drop(&both);
        drop(&two);
    }
    gbs_model_free(model);
}

/* ---- law ------------------------------------------------------------------------------------- */

enum { L_ROWS = 2, L_COLUMNS = 3, L_N = 6, L_STATES = 64 };

typedef struct histogram {
    double count[L_STATES];
} histogram;

static gbs_status count_state(void *context, uint64_t draw, uint32_t chain, double log_density,
                              const uint32_t *x, gbs_error *err)
{
    histogram *h = context;
    unsigned index = 0;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    for (uint32_t v = 0; v < L_N; ++v) {
        index |= x[v] << v;
    }
    h->count[index] += 1.0;
    return GBS_OK;
}

/* p of all states, and the product of its marginals over the two colours. */
static void laws(const gbs_model *model, double *p, double *product)
{
    double side[2][L_STATES] = {{0.0}};
    unsigned mask[2] = {0, 0};
    double total = 0.0;
    for (uint32_t v = 0; v < L_N; ++v) {
        mask[color_of(v, L_COLUMNS)] |= 1u << v;
    }
    for (unsigned s = 0; s < L_STATES; ++s) {
        uint32_t x[L_N];
        for (uint32_t v = 0; v < L_N; ++v) {
            x[v] = s >> v & 1u;
        }
        p[s] = exp(gbs_model_log_density(model, x));
        total += p[s];
    }
    for (unsigned s = 0; s < L_STATES; ++s) {
        p[s] /= total;
        side[0][s & mask[0]] += p[s];
        side[1][s & mask[1]] += p[s];
    }
    for (unsigned s = 0; s < L_STATES; ++s) {
        product[s] = side[0][s & mask[0]] * side[1][s & mask[1]];
    }
}

static double variation(const double *count, double n, const double *p)
{
    double sum = 0.0;
    for (unsigned s = 0; s < L_STATES; ++s) {
        sum += fabs(count[s] / n - p[s]) / 2;
    }
    return sum;
}

/* Draws thinned to be nearly independent: the distance of n draws of a law over 64 states to the
 * law itself is sqrt(2 / pi n) sum sqrt(p (1 - p)) / 2 on average, at most sqrt(64 / 2 pi n), and
 * spreads by less than 1 / (2 sqrt(n)); 6 of these. */
static void independent_colors(void **state)
{
    (void)state;
    gbs_model *model = grid(L_ROWS, L_COLUMNS, 0.4);
    gbs_error err = {0};
    gbs_run *run = NULL;
    histogram h = {{0.0}};
    double p[L_STATES];
    double product[L_STATES];
    gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, 16, 64000);
    options.thin = 8;
    const gbs_run_callbacks callbacks = {.context = &h, .draw = count_state};
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_OK);
    gbs_run_free(run);
    laws(model, p, product);
    const double n = 16.0 * 64000 / 8;
    const double chance = sqrt(64.0 / (2 * 3.14159 * n)) + 6.0 / (2 * sqrt(n));
    double apart = 0.0;
    for (unsigned s = 0; s < L_STATES; ++s) {
        apart += fabs(p[s] - product[s]) / 2;
    }
    assert_true(apart > 5 * chance); /* the bias is there to be seen */
    assert_true(variation(h.count, n, product) < chance);
    assert_true(variation(h.count, n, p) > apart - chance);
    gbs_model_free(model);
}

static void marginals_are_right(void **state)
{
    (void)state;
    gbs_model *model = grid(3, 4, 0.5);
    gbs_run_options exactly = gbs_run_options_default();
    exactly.method = GBS_METHOD_EXACT;
    test_answer exact = test_run_once(model, NULL, &exactly);
    for (int estimator = 0; estimator <= GBS_ESTIMATOR_COUNT; ++estimator) {
        gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, 8, 8192);
        options.estimator = estimator;
        test_answer found = test_run_once(model, NULL, &options);
        for (size_t i = 0; i < found.n; ++i) {
            assert_true(found.mcse[i] > 0.0);
            assert_true(fabs(found.p[i] - exact.p[i]) < 6 * found.mcse[i] + 2e-5);
        }
        test_drop(&found);
    }
    test_drop(&exact);
    gbs_model_free(model);
}

static void same_bits_from_any_threads(void **state)
{
    (void)state;
    gbs_model *model = grid(140, 140, 0.3);
    for (uint64_t chains = 1; chains <= 9; chains += 8) {
        gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, chains, 20);
        options.threads = 1;
        test_answer one = test_run_once(model, NULL, &options);
        for (uint64_t threads = 2; threads <= 3; ++threads) {
            options.threads = threads;
            test_answer many = test_run_once(model, NULL, &options);
            assert_string_equal(one.digest, many.digest);
            test_drop(&many);
        }
        test_drop(&one);
    }
    gbs_model_free(model);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void assert_refused(const gbs_model *model, const gbs_run_options *options, const char *part)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, &err), GBS_ERR_ARGUMENT);
    assert_null(run);
    if (strstr(err.message, part) == NULL) {
        fail_msg("%s: expected '%s'", err.message, part);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const uint32_t two[3] = {2, 2, 2};
    static const uint32_t scope[3] = {0, 1, 2};
    gbs_error err = {0};
    for (int ternary = 0; ternary <= 1; ++ternary) {
        gbs_builder *builder = NULL;
        gbs_model *model = NULL;
        assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(builder, 3, two, NULL, &err), GBS_OK);
        if (ternary) {
            assert_int_equal(gbs_builder_add_spin(builder, 3, scope, 0.3, &err), GBS_OK);
        }
        for (uint32_t v = 0; v < 3 && !ternary; ++v) {
            assert_int_equal(gbs_builder_add_ising(builder, v, (v + 1) % 3, 0.3, &err), GBS_OK);
        }
        assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
        gbs_builder_free(builder);
        const gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, 4, 10);
        assert_refused(model, &options, ternary ? "three or more" : "odd cycle");
        gbs_model_free(model);
    }
    gbs_model *model = grid(3, 3, 0.3);
    gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, 4, 10);
    options.draw = GBS_DRAW_HERDED;
    assert_refused(model, &options, "does not leave the target invariant");
    gbs_map_report found = {.size = sizeof found};
    options.draw = GBS_DRAW_RANDOM;
    uint32_t x[9];
    assert_int_equal(gbs_map(model, NULL, &options, NULL, x, &found, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "synchronous chains are not annealed"));
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chromatic_chains_recombined),
        cmocka_unit_test(independent_colors),
        cmocka_unit_test(marginals_are_right),
        cmocka_unit_test(same_bits_from_any_threads),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
