/* SPDX-License-Identifier: Apache-2.0 */
/* The synchronous scan: chromatic chains recombined, bit for bit; its law, which is the product of
 * the two colours' own (Gonzalez et al. 2011, theorem 3.3); marginals all the same; algorithm 1 as
 * printed on models of more colours; refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

/* ---- models of more colours -------------------------------------------------------------------
 */

enum { MOST_STATES = 243 };

/* Five variables in a circle, pairs and, if asked, a factor of three. */
static gbs_model *circle(uint32_t arity, bool triple)
{
    enum { N = 5 };
    gbs_error err = {0};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    double table[27];
    const uint32_t arities[N] = {arity, arity, arity, arity, arity};
    assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, N, arities, NULL, &err), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        const uint32_t scope[2] = {v, (v + 1) % N};
        for (uint32_t i = 0; i < arity * arity; ++i) {
            table[i] = (i / arity == i % arity ? 3.0 : 1.0) + 0.2 * (double)((i * (v + 2)) % 5);
        }
        assert_int_equal(
            gbs_builder_add_potential(builder, 2, scope, (size_t)arity * arity, table, &err),
            GBS_OK);
    }
    for (uint32_t i = 0; triple && i < 8; ++i) {
        table[i] = 1.0 + 0.5 * (double)((5 * i) % 7);
    }
    static const uint32_t three[3] = {0, 2, 3};
    if (triple) {
        assert_int_equal(gbs_builder_add_potential(builder, 3, three, 8, table, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static size_t state_of(const gbs_model *model, size_t code, uint32_t *x)
{
    size_t n = 1;
    for (uint32_t v = gbs_model_n_variables(model); v-- > 0;) {
        x[v] = (uint32_t)(code % gbs_model_arity(model, v));
        code /= gbs_model_arity(model, v);
        n *= gbs_model_arity(model, v);
    }
    return n;
}

/* P(v = a | others of x). */
static double conditional(const gbs_model *model, uint32_t *x, uint32_t v, uint32_t a)
{
    const uint32_t kept = x[v];
    double sum = 0.0;
    double own = 0.0;
    for (uint32_t b = 0; b < gbs_model_arity(model, v); ++b) {
        x[v] = b;
        const double weight = exp(gbs_model_log_density(model, x));
        sum += weight;
        own = a == b ? weight : own;
    }
    x[v] = kept;
    return own / sum;
}

/* The law of many steps of algorithm 1 from a single state, and the target. @return the number of
 * states. */
static size_t iterate(const gbs_model *model, double *law, double *target)
{
    uint32_t x[8];
    uint32_t y[8];
    const size_t n = state_of(model, 0, x);
    double *kernel = calloc(n * n, sizeof *kernel);
    double *next = calloc(n, sizeof *next);
    double z = 0.0;
    for (size_t i = 0; i < n; ++i) {
        (void)state_of(model, i, x);
        target[i] = exp(gbs_model_log_density(model, x));
        z += target[i];
        for (size_t j = 0; j < n; ++j) {
            (void)state_of(model, j, y);
            kernel[i * n + j] = 1.0;
            for (uint32_t v = 0; v < gbs_model_n_variables(model); ++v) {
                kernel[i * n + j] *= conditional(model, x, v, y[v]);
            }
        }
    }
    for (size_t i = 0; i < n; ++i) {
        target[i] /= z;
        law[i] = i == 0;
    }
    for (int step = 0; step < 400; ++step) {
        memset(next, 0, n * sizeof *next);
        for (size_t i = 0; i < n * n; ++i) {
            next[i % n] += law[i / n] * kernel[i];
        }
        memcpy(law, next, n * sizeof *next);
    }
    free(kernel);
    free(next);
    return n;
}

/* Draws have the law of algorithm 1, which is not the target; and no run says that it is. */
static void as_printed(void **state)
{
    (void)state;
    enum { SWEEPS = 1 << 15, CHAINS = 8 };
    for (int which = 0; which < 3; ++which) {
        gbs_model *model = circle(which == 1 ? 3 : 2, which == 2);
        double law[MOST_STATES];
        double target[MOST_STATES];
        double found[MOST_STATES] = {0.0};
        double from_law = 0.0;
        double from_target = 0.0;
        const size_t n = iterate(model, law, target);
        draws d = run_draws(model, GBS_SCAN_SYNCHRONOUS, CHAINS, SWEEPS);
        for (size_t i = 0; i < (size_t)SWEEPS * CHAINS; ++i) {
            size_t code = 0;
            for (uint32_t v = 0; v < d.n_variables; ++v) {
                code = code * gbs_model_arity(model, v) + d.x[i * d.n_variables + v];
            }
            found[code] += 1.0 / (SWEEPS * (double)CHAINS);
        }
        for (size_t i = 0; i < n; ++i) {
            from_law += 0.5 * fabs(found[i] - law[i]);
            from_target += 0.5 * fabs(found[i] - target[i]);
        }
        /* 2^18 draws of at most 243 states, correlated over a few sweeps: 0.02 is ten deviations */
        assert_true(from_law < 0.02);
        assert_true(from_target > 0.05);
        drop(&d);
        gbs_model_free(model);
    }
}

/* Two spins that follow each other and begin apart change places for ever, also where weights
 * decide: every update reads what was there before. */
static void herded_reads_what_was(void **state)
{
    (void)state;
    static const int draw[] = {GBS_DRAW_HERDED, GBS_DRAW_HERDED_COMPLETE, GBS_DRAW_DISCRETIZED,
                               GBS_DRAW_HERDED_SHARED};
    static const uint32_t start[2] = {0, 1};
    enum { SWEEPS = 40 };
    for (size_t i = 0; i < sizeof draw / sizeof draw[0]; ++i) {
        gbs_error err = {0};
        gbs_run *run = NULL;
        gbs_model *model = grid(1, 2, 12.0);
        uint32_t x[SWEEPS * 2];
        double density[SWEEPS];
        draws d = {.n_variables = 2, .n_chains = 1, .x = x, .density = density};
        gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, 1, SWEEPS);
        const gbs_run_callbacks callbacks = {.context = &d, .draw = keep};
        options.burn_in = 0;
        options.draw = draw[i];
        options.start = start;
        if (gbs_run_new(model, NULL, &options, &run, &err) < 0 ||
            gbs_run_execute(run, &callbacks, &err) < 0) {
            fail_msg("draw %d: %s", draw[i], err.message);
        }
        for (size_t t = 1; t < SWEEPS; ++t) {
            assert_int_equal(x[2 * t], x[2 * t - 1]);
            assert_int_equal(x[2 * t + 1], x[2 * t - 2]);
        }
        assert_int_equal(gbs_run_report(run)->converged, 0);
        gbs_run_free(run);
        gbs_model_free(model);
    }
}

static void many_colors_from_any_threads(void **state)
{
    (void)state;
    const gbs_generate_regular_options about = {
        .variables = 20000, .degree = 4, .coupling = 0.1, .seed = 2};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_regular(&about, &model, NULL), GBS_OK);
    for (int drawn = 0; drawn < 4; ++drawn) {
        gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, drawn % 2 == 0 ? 1 : 9, 20);
        options.draw = drawn / 2 == 0 ? GBS_DRAW_RANDOM : GBS_DRAW_HERDED;
        options.threads = 1;
        test_answer one = test_run_once(model, NULL, &options);
        options.threads = 3;
        test_answer many = test_run_once(model, NULL, &options);
        assert_string_equal(one.digest, many.digest);
        test_drop(&one);
        test_drop(&many);
    }
    gbs_model_free(model);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = grid(3, 3, 0.3);
    gbs_run_options options = options_of(GBS_SCAN_SYNCHRONOUS, 4, 10);
    gbs_map_report found = {.size = sizeof found};
    uint32_t x[9];
    assert_int_equal(gbs_map(model, NULL, &options, NULL, x, &found, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "synchronous chains are not annealed"));
    gbs_run *run = NULL;
    options.burn_in = GBS_BURN_IN_AUTO;
    options.certified = 0.1;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--certified"));
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chromatic_chains_recombined),
        cmocka_unit_test(independent_colors),
        cmocka_unit_test(marginals_are_right),
        cmocka_unit_test(same_bits_from_any_threads),
        cmocka_unit_test(as_printed),
        cmocka_unit_test(herded_reads_what_was),
        cmocka_unit_test(many_colors_from_any_threads),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
