/* SPDX-License-Identifier: Apache-2.0 */
/* The same bits from any number of threads: every scan, draw and estimator, groups of one chain and
 * of sixteen, batches large enough to be shared and too small. Run under the thread sanitizer too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "gibbsite/generate.h"
#include "support/runs.h"
#include "support/small_models.h"

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

static gbs_model *labels(uint32_t rows, uint32_t columns, uint32_t states)
{
    const gbs_generate_potts_options options = {.rows = rows,
                                                .columns = columns,
                                                .states = states,
                                                .coupling = 0.7,
                                                .noise = 1.0,
                                                .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_potts(&options, &model, NULL), GBS_OK);
    return model;
}

static gbs_model *potts(void)
{
    return labels(40, 37, 5);
}

/* Batches of 180: shared with forty chains. */
static gbs_model *small_potts(void)
{
    return labels(20, 18, 3);
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

/* @param threads 0-terminated. */
static void compare(const gbs_model *model, const char *name, gbs_run_options *options,
                    const uint64_t *threads)
{
    char one[33] = "";
    test_row("%s, draw %d, scan %d, estimator %d, %d chains", name, options->draw, options->scan,
             options->estimator, (int)options->chains);
    options->threads = 1;
    if (!test_races_alone()) {
        digest_of(model, options, one);
    }
    for (; *threads != 0; threads++) {
        char many[33];
        options->threads = *threads;
        digest_of(model, options, many);
        if (!test_races_alone() && strcmp(one, many) != 0) {
            fail_msg(
                "%s, draw %d, scan %d, estimator %d, %u chains: %u threads give another digest",
                name, (int)options->draw, (int)options->scan, (int)options->estimator,
                (unsigned)options->chains, (unsigned)*threads);
        }
    }
}

/* Two, three, seven; at small scale the middle, else the outer ones. @return 0-terminated. */
static const uint64_t *some_threads(void)
{
    static const uint64_t all[] = {2, 3, 7, 0};
    static const uint64_t some[] = {2, 7, 0};
    static const uint64_t few[] = {3, 0};
    const uint64_t *const of_scale[] = {few, some, all};
    return of_scale[test_scale_asked()];
}

static void same_bits(const gbs_model *model, const char *name, gbs_run_options *options)
{
    compare(model, name, options, some_threads());
}

/* Every variable, some twice. @return the caller's to free. */
static uint32_t *sequence_of(uint32_t n, uint64_t *length)
{
    uint32_t *sequence = calloc(n + n / 3 + 1, sizeof *sequence);
    size_t at = 0;
    for (uint32_t v = 0; v < n; v++) {
        sequence[at++] = n - 1 - v;
        if (v % 3 == 2) {
            sequence[at++] = (v * 7 + 2) % n;
        }
    }
    *length = at;
    return sequence;
}

static gbs_run_options options_of(int scan, int estimator, uint64_t chains, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scan;
    options.estimator = estimator;
    options.chains = chains;
    options.sweeps = sweeps;
    options.burn_in = 2;
    return options;
}

/* Two batches are closed. */
static void every_scan(void **state)
{
    (void)state;
    static const uint64_t chains[] = {1, 3, 16, 40};
    /* At small scale one and sixteen chains in turns. */
    const size_t step = test_share(1, 4);
    for (size_t m = 0; m < N_MODELS; m++) {
        gbs_model *model = models[m].make();
        uint64_t length = 0;
        uint32_t *sequence = sequence_of(gbs_model_n_variables(model), &length);
        for (int scan = GBS_SCAN_CHROMATIC; scan <= GBS_SCAN_SEQUENCE; scan++) {
            for (size_t c = (m + (size_t)scan) % test_share(1, 2) * 2;
                 c < sizeof chains / sizeof chains[0]; c += step) {
                const int estimator = (int)(m + c) % 2;
                gbs_run_options options = options_of(scan, estimator, chains[c], 9);
                if (scan == GBS_SCAN_SEQUENCE) {
                    options.sequence = sequence;
                    options.sequence_length = length;
                }
                same_bits(model, models[m].name, &options);
            }
        }
        free(sequence);
        gbs_model_free(model);
    }
}

/* Long enough for sums to be flushed within a batch and for blocks of batches to end, in so many
 * cells that threads share the work. */
static void long_runs(void **state)
{
    (void)state;
    static const struct {
        int scan, estimator;
        uint64_t sweeps, small;
    } rows[] = {{GBS_SCAN_CHROMATIC, GBS_ESTIMATOR_COUNT, 4230, 70},
                {GBS_SCAN_CHROMATIC, GBS_ESTIMATOR_RAO_BLACKWELL, 8450, 70},
                {GBS_SCAN_RANDOM, GBS_ESTIMATOR_COUNT, 70, 70}};
    static const uint64_t threads[] = {3, 0};
    const int small = test_scale_asked() == TEST_SMALL;
    gbs_model *model = grid(38, 0.5);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbs_run_options options =
            options_of(rows[i].scan, rows[i].estimator, 40, small ? rows[i].small : rows[i].sweeps);
        compare(model, "grid of 38 x 38", &options, threads);
    }
    gbs_model_free(model);
}

static void lattices(void **state)
{
    (void)state;
    static const struct {
        uint32_t side; /* 0: a graph, its chains in bits */
        uint64_t chains, sweeps;
    } rows[] = {{512, 1, 140}, {511, 3, 5}, {60, 16, 140}, {130, 16, 5}, {0, 40, 140}, {0, 64, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int large = rows[i].side > 500;
        gbs_model *model = rows[i].side > 0 ? spins(rows[i].side) : graph_of_spins(5000);
        for (int estimator = GBS_ESTIMATOR_COUNT; estimator <= GBS_ESTIMATOR_TRACES; estimator++) {
            gbs_run_options options =
                options_of(GBS_SCAN_CHROMATIC, estimator, rows[i].chains,
                           large && test_scale_asked() == TEST_SMALL ? 5 : rows[i].sweeps);
            options.lattice = GBS_LATTICE_ALWAYS;
            if ((i + (size_t)estimator) % test_share(1, 3) == 0) {
                same_bits(model, "lattice", &options);
            }
        }
        gbs_model_free(model);
    }
}

static const struct {
    const char *name;
    int draw, keys, rule, scheme;
    int binary_only;
} draws[] = {
    {"herded", GBS_DRAW_HERDED, 0, 0, 0, 0},
    {"herded-shared", GBS_DRAW_HERDED_SHARED, 0, 0, 0, 0},
    {"herded-complete", GBS_DRAW_HERDED_COMPLETE, 0, 0, 0, 0},
    {"discretized", GBS_DRAW_DISCRETIZED, 0, 0, 0, 0},
    {"discretized, pre", GBS_DRAW_DISCRETIZED, 0, GBS_HERD_PRE, 0, 1},
    {"one-bin", GBS_DRAW_ONE_BIN, 0, 0, 0, 0},
    {"rounded at random", GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 0, 0},
    {"bounded-error", GBS_DRAW_BOUNDED_ERROR, 0, 0, 0, 0},
    {"bounded-error, bins", GBS_DRAW_BOUNDED_ERROR, GBS_KEYS_BINS, 0, 0, 0},
    {"cud", GBS_DRAW_CUD, 0, 0, GBS_CUD_TRIBBLE, 0},
    {"cud, chen", GBS_DRAW_CUD, 0, 0, GBS_CUD_CHEN, 0},
};
enum { N_DRAWS = sizeof draws / sizeof draws[0] };

/* Complete keys make batches of one, which nobody shares: one scan will do. At full scale each draw
 * runs with every scan, else with every other or sixth, other ones with the other kind of model. */
static int worth_running(size_t d, int scan, int binary)
{
    if ((d + (size_t)scan + (size_t)binary) % test_scaled(1, 2, 6) != 0) {
        return 0;
    }
    const int once = scan != GBS_SCAN_RANDOM && scan != GBS_SCAN_SEQUENCE;
    return (draws[d].draw != GBS_DRAW_CUD || once) &&
           (draws[d].draw != GBS_DRAW_HERDED_COMPLETE || scan == GBS_SCAN_CHROMATIC) &&
           (binary || !draws[d].binary_only);
}

static void draws_and_scans(const gbs_model *model, int binary, int last_scan, uint64_t chains,
                            const uint64_t *threads)
{
    uint64_t length = 0;
    uint32_t *sequence = sequence_of(gbs_model_n_variables(model), &length);
    for (size_t d = 0; d < N_DRAWS; d++) {
        for (int scan = GBS_SCAN_CHROMATIC; scan <= last_scan; scan++) {
            gbs_run_options options = options_of(scan, (int)d % 2, chains, 7);
            test_choose_draw(&options, draws[d].draw, draws[d].keys, draws[d].rule);
            options.cud_scheme = draws[d].scheme;
            if (scan == GBS_SCAN_SEQUENCE) {
                options.sequence = sequence;
                options.sequence_length = length;
            }
            if (worth_running(d, scan, binary)) {
                compare(model, draws[d].name, &options, threads);
            }
        }
    }
    free(sequence);
}

/* What a draw keeps, weights and counts, is touched by whoever runs the place. */
static void every_draw(void **state)
{
    (void)state;
    static const uint64_t seven[] = {7, 0};
    gbs_model *model = small_grid();
    draws_and_scans(model, 1, GBS_SCAN_SEQUENCE, 16, some_threads());
    gbs_model_free(model);
    model = small_potts();
    draws_and_scans(model, 0, GBS_SCAN_SEQUENCE, 40, seven);
    gbs_model_free(model);
    model = grid(130, 0.0);
    draws_and_scans(model, 1, GBS_SCAN_CHROMATIC, 1, seven);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scan), cmocka_unit_test(long_runs),
                                       cmocka_unit_test(lattices), cmocka_unit_test(every_draw)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
