/* SPDX-License-Identifier: Apache-2.0 */
/* The same bits from any number of threads: every scan and estimator, groups of one chain and of
 * sixteen, batches large enough to be shared and too small. Run under the thread sanitizer too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/models.h"

static gbs_model *grid(uint32_t side, double random_field)
{
    const gbs_generate_ising_options options = {.side = {side, side, 1},
                                                .torus = 1,
                                                .coupling = 0.2,
                                                .coupling_spread = 0.3,
                                                .random_field = random_field,
                                                .seed = 7};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

/* Batches of 512 variables: shared with sixteen chains, not with one. */
static gbs_model *small_grid(void)
{
    return grid(34, 0.5);
}

/* Batches of 9800: shared with one chain. */
static gbs_model *large_grid(void)
{
    return grid(140, 0.0);
}

static gbs_model *potts(void)
{
    const gbs_generate_potts_options options = {
        .rows = 40, .columns = 37, .states = 5, .coupling = 0.7, .noise = 1.0, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_potts(&options, &model, NULL), GBS_OK);
    return model;
}

static gbs_model *network(void)
{
    const gbs_generate_bayes_options options = {
        .variables = 3000, .parents = 3, .min_states = 2, .max_states = 4, .seed = 5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_bayes(&options, &model, NULL), GBS_OK);
    return model;
}

static gbs_model *logical(void)
{
    return test_model(TEST_LOGICAL, 11, 12);
}

/* One coupling for all: run bit by bit. @param side passes of 512 x 512 sites are shared, those of
 * 60 x 60 are not. */
static gbs_model *spins(uint32_t side)
{
    const gbs_generate_ising_options options = {
        .side = {side, side, 1}, .torus = 1, .coupling = 0.4};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

static gbs_model *graph_of_spins(uint32_t n)
{
    const gbs_generate_regular_options options = {
        .variables = n, .degree = 4, .coupling = 0.2, .seed = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_regular(&options, &model, NULL), GBS_OK);
    return model;
}

static const struct {
    const char *name;
    gbs_model *(*make)(void);
} models[] = {
    {"grid of 34 x 34", small_grid},
    {"grid of 140 x 140", large_grid},
    {"potts", potts},
    {"network", network},
    {"logical", logical},
};
enum { N_MODELS = sizeof models / sizeof models[0] };

static void digest_of(const gbs_model *model, const gbs_run_options *options, char digest[33])
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    if (gbs_run_new(model, NULL, options, &run, &err) < 0 || gbs_run_execute(run, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    memcpy(digest, gbs_run_report(run)->digest, 33);
    gbs_run_free(run);
}

static void same_bits(const gbs_model *model, const char *name, gbs_run_options *options)
{
    static const uint64_t threads[] = {2, 3, 7};
    char one[33];
    options->threads = 1;
    digest_of(model, options, one);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        char many[33];
        options->threads = threads[i];
        digest_of(model, options, many);
        if (strcmp(one, many) != 0) {
            fail_msg("%s, scan %d, estimator %d, %u chains: %u threads give another digest", name,
                     (int)options->scan, (int)options->estimator, (unsigned)options->chains,
                     (unsigned)threads[i]);
        }
    }
}

static void every_scan(void **state)
{
    (void)state;
    static const uint64_t chains[] = {1, 3, 16, 40};
    const char *scale = getenv("GIBBSITE_TEST_SCALE");
    const int small = scale != NULL && strcmp(scale, "small") == 0;
    for (size_t m = 0; m < N_MODELS; m++) {
        gbs_model *model = models[m].make();
        for (int scan = GBS_SCAN_CHROMATIC; scan < GBS_SCAN_SEQUENCE; scan++) {
            for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++) {
                for (int estimator = 0; estimator < 2; estimator++) {
                    gbs_run_options options = gbs_run_options_default();
                    options.method = GBS_METHOD_SAMPLE;
                    options.scan = scan;
                    options.chains = chains[c];
                    options.estimator = estimator;
                    options.sweeps = small ? 5 : 140; /* past flushes and closed batches */
                    options.burn_in = 2;
                    options.sweeps = models[m].make == large_grid ? 5 : options.sweeps;
                    same_bits(model, models[m].name, &options);
                }
            }
        }
        gbs_model_free(model);
    }
}

static void lattices(void **state)
{
    (void)state;
    static const struct {
        uint32_t side; /* 0: a graph, its chains in bits */
        uint64_t chains, sweeps;
    } rows[] = {{512, 1, 140}, {511, 3, 5}, {60, 16, 140}, {130, 16, 5}, {0, 40, 140}, {0, 64, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbs_model *model = rows[i].side > 0 ? spins(rows[i].side) : graph_of_spins(5000);
        for (int estimator = GBS_ESTIMATOR_COUNT; estimator <= GBS_ESTIMATOR_TRACES; estimator++) {
            gbs_run_options options = gbs_run_options_default();
            options.method = GBS_METHOD_SAMPLE;
            options.chains = rows[i].chains;
            options.estimator = estimator;
            options.lattice = GBS_LATTICE_ALWAYS;
            options.sweeps = rows[i].sweeps;
            options.burn_in = 2;
            same_bits(model, "lattice", &options);
        }
        gbs_model_free(model);
    }
}

/* Herded weights are touched by whoever runs the place. */
static void every_herded_draw(void **state)
{
    (void)state;
    static const uint64_t chains[] = {1, 3, 40};
    for (size_t m = 0; m < N_MODELS; m++) {
        gbs_model *model = models[m].make();
        const int binary = models[m].make == small_grid || models[m].make == large_grid;
        for (int draw = GBS_DRAW_HERDED; draw <= (binary ? GBS_DRAW_ONE_BIN : GBS_DRAW_HERDED);
             draw++) {
            for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++) {
                gbs_run_options options = gbs_run_options_default();
                options.method = GBS_METHOD_SAMPLE;
                options.scan = c == 1 ? GBS_SCAN_PERMUTED : GBS_SCAN_CHROMATIC;
                options.draw = draw;
                options.chains = chains[c];
                options.sweeps = 3;
                options.burn_in = 2;
                if (draw != GBS_DRAW_HERDED_COMPLETE || models[m].make == small_grid) {
                    same_bits(model, models[m].name, &options);
                }
            }
        }
        gbs_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scan), cmocka_unit_test(lattices),
                                       cmocka_unit_test(every_herded_draw)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
