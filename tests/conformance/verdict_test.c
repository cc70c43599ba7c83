/* SPDX-License-Identifier: Apache-2.0 */
/* Every reason for which a run is not called converged, each reached by a run that nothing else
 * speaks against: the row of verdict.def without its condition fails here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/denoise.h"
#include "gibbsite/generate.h"
#include "gibbsite/image.h"
#include "support/small_models.h"

static gbs_model *grid(uint32_t side, double coupling)
{
    const gbs_generate_ising_options shape = {
        .side = {side, side, 1}, .coupling = coupling, .torus = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&shape, &model, NULL), GBS_OK);
    return model;
}

static gbs_model *grid_in_fields(uint32_t side)
{
    const gbs_generate_ising_options shape = {
        .side = {side, side, 1}, .coupling = 0.35, .field = 0.1, .random_field = 0.3, .seed = 4};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&shape, &model, NULL), GBS_OK);
    return model;
}

/* Spins all coupled: their neighbours are all the others. */
static gbs_model *all_coupled(uint32_t n)
{
    const gbs_generate_complete_options shape = {
        .variables = n, .coupling = 0.1, .field = 0.1, .random_field = 0.2, .seed = 4};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_complete(&shape, &model, NULL), GBS_OK);
    return model;
}

static gbs_run_options sampled(uint64_t chains, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = chains;
    options.sweeps = sweeps;
    return options;
}

/* The rows of verdict.def, and those that a run has reached. */
static const char *const row[] = {
#define GBSI_REASON(name, ...) #name,
#include "drive/verdict.def"
#undef GBSI_REASON
};
enum { N_ROWS = sizeof row / sizeof row[0] };
static bool reached[N_ROWS];

static void reach(const char *name)
{
    for (size_t i = 0; i < N_ROWS; ++i) {
        if (name != NULL && strcmp(row[i], name) == 0) {
            reached[i] = true;
            return;
        }
    }
    assert_null(name);
}

/* @param name of a row, part what only its sentence has; NULL: the run converges. Takes both. */
static void check_run(gbs_model *model, gbs_run *run, const gbs_run_callbacks *callbacks,
                      const char *name, const char *part)
{
    gbs_error err = {0};
    assert_true(gbs_run_execute(run, callbacks, &err) >= 0);
    const gbs_report *r = gbs_run_report(run);
    if (part == NULL ? !r->converged
                     : r->converged || strstr(r->verdict, part) == NULL ||
                           strstr(r->verdict, ": try ") == NULL) {
        fail_msg("expected %s, found: %s", part == NULL ? "convergence" : part, r->verdict);
    }
    assert_true(strlen(r->verdict) + 2 < sizeof r->verdict); /* not cut */
    reach(name);
    gbs_run_free(run);
    gbs_model_free(model);
}

static void check_told(gbs_model *model, const gbs_run_options *options,
                       const gbs_run_callbacks *callbacks, const char *name, const char *part)
{
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, NULL), GBS_OK);
    check_run(model, run, callbacks, name, part);
}

static void check(gbs_model *model, const gbs_run_options *options, const char *name,
                  const char *part)
{
    check_told(model, options, NULL, name, part);
}

/* ---- chains --------------------------------------------------------------------------------- */

/* Frozen in one of two states of all spins: each chain agrees with itself, and so may two of them.
 */
static void fewer_than_four_chains(void **state)
{
    (void)state;
    for (uint64_t chains = 1; chains <= 3; ++chains) {
        const gbs_run_options options = sampled(chains, 100000);
        check(grid(8, 0.1), &options, "few_chains", "fewer than 4 chains");
    }
    const gbs_run_options four = sampled(4, 100000);
    check(grid(8, 0.1), &four, NULL, NULL);
    gbs_run_options frozen = sampled(1, 20000);
    check(grid(16, 0.8), &frozen, "few_chains", "fewer than 4 chains");
    frozen.estimator = GBS_ESTIMATOR_COUNT;
    check(grid(16, 0.8), &frozen, "few_chains", "fewer than 4 chains");
}

/* A synchronous chain is two chromatic ones with starts of their own. */
static void synchronous_chains_count_twice(void **state)
{
    (void)state;
    gbs_run_options options = sampled(1, 100000);
    options.scan = GBS_SCAN_SYNCHRONOUS;
    check(grid(8, 0.1), &options, "few_chains", "fewer than 4 chains");
    options.chains = 2;
    check(grid(8, 0.1), &options, NULL, NULL);
}

/* What is proved needs no other chain to compare with. */
static void certificates_vouch_for_one_chain(void **state)
{
    (void)state;
    gbs_run_options options = sampled(1, 100000);
    options.certified = 0.001;
    check(grid(8, 0.1), &options, NULL, NULL);
    uint32_t scan[20 * 64];
    for (uint32_t t = 0; t < 20 * 64; ++t) {
        scan[t] = t % 64;
    }
    options = sampled(1, 20000);
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = scan;
    options.sequence_length = 20 * 64;
    options.restarts = 1;
    check(grid(8, 0.1), &options, NULL, NULL);
}

/* ---- hard zeros ----------------------------------------------------------------------------- */

/* A row of spins that must all be equal, beside a fair one. */
static gbs_model *equal_spins(uint32_t n)
{
    static const double equal[4] = {0.0, -INFINITY, -INFINITY, 0.0};
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t id = 0;
    const uint32_t two = 2;
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    for (uint32_t v = 0; v <= n; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_table(b, 4, equal, &id, &err), GBS_OK);
    for (uint32_t v = 0; v + 1 < n; ++v) {
        const uint32_t scope[2] = {v, v + 1};
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, id, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* A relation of n things that is transitive: no splash holds what its zeros join. */
static gbs_model *transitive(uint32_t n)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    const uint32_t two = 2;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < n * n; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
    }
    for (uint32_t i = 0; i < n * n * n; ++i) {
        const uint32_t x = i / (n * n);
        const uint32_t y = i / n % n;
        const uint32_t z = i % n;
        const uint32_t scope[3] = {x * n + y, y * n + z, x * n + z};
        const uint32_t wanted[3] = {0, 0, 1};
        if (x != y && y != z && x != z) {
            assert_int_equal(
                gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, scope, wanted, INFINITY, NULL),
                GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static void supports(void **state)
{
    (void)state;
    gbs_run_options options = sampled(16, 100);
    options.scan = GBS_SCAN_CHROMATIC;
    check(equal_spins(2), &options, "support_split", "split the support");
    check(equal_spins(30), &options, "support_not_shown", "under updates of single variables");
    options.scan = sampled(16, 100).scan;
    check(transitive(7), &options, "splashes_not_found", "no splash was found to hold");
    options.scan = GBS_SCAN_SPLASH;
    options.splash_size = 1;
    check(equal_spins(2), &options, "splashes_too_small", "no splash held all");
    options.splash_size = 2;
    options.sweeps = 100000;
    check(equal_spins(2), &options, NULL, NULL);
}

/* ---- ladders of temperatures ----------------------------------------------------------------- */

/* Blocks of fourteen spins that must all be equal: states that violate this are so many that a soft
 * zero does not hold the cold end. */
static gbs_model *equal_blocks(uint32_t n)
{
    enum { SPINS = 14, STATES = 1 << SPINS };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t id = 0;
    uint32_t scope[SPINS];
    const uint32_t two = 2;
    double *equal = malloc(STATES * sizeof *equal);
    for (size_t x = 0; x < STATES; ++x) {
        equal[x] = x == 0 || x + 1 == STATES ? 0.0 : -INFINITY;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, STATES, equal, &id, NULL), GBS_OK);
    for (uint32_t block = 0; block < n; ++block) {
        for (uint32_t v = 0; v < SPINS; ++v) {
            assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
            scope[v] = block * SPINS + v;
        }
        assert_int_equal(gbs_builder_add_table_factor(b, SPINS, scope, id, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    free(equal);
    return model;
}

static void ladders(void **state)
{
    (void)state;
    gbs_run_options options = sampled(2, 8192);
    options.target_error = 0.03;
    options.temper = 4;
    check(grid(8, 0.1), &options, NULL, NULL);
    check(equal_spins(80), &options, NULL, NULL); /* what chains of one temperature cannot cross */
    options.chains = 1;
    check(grid(8, 0.1), &options, "one_ladder", "no other to agree with");
    options = sampled(2, 30); /* ... in which all replicas of a ladder make 15 round trips */
    options.target_error = 0.5;
    options.temper = 64;
    check(grid(8, 0.1), &options, "few_round_trips", "round trips between its temperatures");
    options = sampled(2, 512);
    options.target_error = 0.5;
    options.temper = 4;
    options.burn_in = 0; /* penalties do not grow */
    check(equal_blocks(2), &options, "zeros_violated", "violate no hard zero");
}

/* A black picture that shows grey: a run without factors of two frozen modes. */
static void pictures(void **state)
{
    (void)state;
    enum { SIDE = 32 };
    gbs_image image = {0};
    gbs_model *pixels = NULL;
    gbs_run *run = NULL;
    gbs_run_options options = sampled(4, 100);
    gbs_denoise_options how = {.size = sizeof how,
                               .levels = 2,
                               .noise = GBS_NOISE_GAUSS,
                               .noise_level = 1.0,
                               .coupling = 2.0};
    options.lattice = GBS_LATTICE_ALWAYS;
    assert_int_equal(gbs_image_new(GBS_IMAGE_GREY, SIDE, SIDE, 2, 0, &image, NULL), GBS_OK);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; ++i) {
        image.sample[i] = 1;
    }
    assert_int_equal(gbs_denoise_run(&image, &how, &options, &pixels, &run, NULL), GBS_OK);
    check_run(pixels, run, NULL, "pictures_disagree", ": try more --sweeps");
    image.maxval = 1; /* black pixels that are seen as black */
    how.noise_level = 0.01;
    assert_int_equal(gbs_denoise_run(&image, &how, &options, &pixels, &run, NULL), GBS_OK);
    check_run(pixels, run, NULL, "frozen", "the model is frozen");
    how.noise_level = 0.15; /* four white neighbours could turn a pixel that is seen as black */
    how.coupling = 8.0;
    assert_int_equal(gbs_denoise_run(&image, &how, &options, &pixels, &run, NULL), GBS_OK);
    check_run(pixels, run, NULL, "held",
              "pixels keep the level that they and their neighbours show");
    gbs_image_free(&image);
}

/* ---- what the estimates say ----------------------------------------------------------------- */

static void estimates(void **state)
{
    (void)state;
    gbs_run_options options = sampled(16, 2000);
    check(grid(16, 0.8), &options, "chains_stuck", "the chains disagree: R-hat is");
    options.scan = GBS_SCAN_SYSTEMATIC; /* there are no ladders of it */
    check(grid(16, 0.8), &options, "chains_disagree", "the chains disagree: R-hat is");
    options = sampled(16, 10);
    check(grid(8, 0.1), &options, "no_errors_yet", "too few sweeps for standard errors");
    options = sampled(16, 2000);
    options.target_error = 1e-6;
    check(grid(8, 0.1), &options, "error_above_target", "the largest standard error is");
    /* too few updates, and too few draws */
    options = sampled(16, 1000);
    check(grid(8, 0.1), &options, "too_short", "too short a run");
    options = sampled(16, 300);
    check(grid(40, 0.1), &options, "too_short", "too short a run");
    /* all spins up or all down: chains soon agree on up, after some had to leave down */
    const gbs_generate_ising_options two_modes = {.side = {8, 8, 1}, .coupling = 0.6, .field = 0.1};
    gbs_model *slow = NULL;
    assert_int_equal(gbs_generate_ising(&two_modes, &slow, NULL), GBS_OK);
    options = sampled(16, 6000);
    check(slow, &options, "slow_states", "passes to agree");
    const gbs_generate_ising_options field = {.side = {8, 8, 1}, .field = 50.0, .torus = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&field, &model, NULL), GBS_OK);
    options = sampled(16, 10000);
    check(model, &options, "never_moved", "64 variables never moved");
}

/* Two spins that hold together, nearly always up: chains that began down have left, and hardly any
 * has been back. */
static gbs_model *pair(void)
{
    const gbs_generate_ising_options shape = {.side = {2, 1, 1}, .coupling = 5.2, .field = 2.5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&shape, &model, NULL), GBS_OK);
    return model;
}

static void variables_that_hardly_move(void **state)
{
    (void)state;
    const char *said = "2 variables hardly moved";
    gbs_run_options options = sampled(16, 140000);
    check(pair(), &options, "hardly_moved", said);
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.chains = 4;
    options.sweeps = 600000;
    check(pair(), &options, "hardly_moved", said);
    options = sampled(16, 140000);
    options.scan = GBS_SCAN_SYSTEMATIC; /* there are no ladders of it */
    check(pair(), &options, "hardly_moved_alone", said);
    options.scan = GBS_SCAN_SPLASH; /* draws both together, again and again */
    check(pair(), &options, NULL, NULL);
    /* left to itself it tries ladders, which need not move what is rare */
    options = sampled(16, 0);
    check(pair(), &options, NULL, NULL);
    /* a state that is rare whatever the neighbours are needs no moves */
    const gbs_generate_ising_options alone = {
        .side = {2, 1, 1}, .coupling = 0.5, .coupling_spread = 0.1, .field = 7.0};
    gbs_model *rare = NULL;
    assert_int_equal(gbs_generate_ising(&alone, &rare, NULL), GBS_OK);
    options = sampled(16, 140000);
    check(rare, &options, NULL, NULL);
}

/* Variables that change among eleven states, and a twelfth that all of them take together or hardly
 * at all. It has most of the mass, and one start in a hundred leads there. */
static gbs_model *gathering(void)
{
    enum { VARIABLES = 5, STATES = 12 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    double field[STATES] = {0};
    double pair[STATES * STATES];
    uint32_t arity[VARIABLES];
    uint32_t of_field = 0;
    uint32_t of_pair = 0;
    field[STATES - 1] = 2.57; /* exp(5 * 2.57) is 2.4 times 11^5 */
    for (uint32_t i = 0; i < STATES * STATES; ++i) {
        pair[i] = (i / STATES == STATES - 1) != (i % STATES == STATES - 1) ? -3.5 : 0.0;
    }
    for (uint32_t v = 0; v < VARIABLES; ++v) {
        arity[v] = STATES;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, VARIABLES, arity, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, STATES, field, &of_field, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, sizeof pair / sizeof pair[0], pair, &of_pair, NULL),
                     GBS_OK);
    for (uint32_t v = 0; v < VARIABLES; ++v) {
        assert_int_equal(gbs_builder_add_table_factor(b, 1, &v, of_field, NULL), GBS_OK);
        for (uint32_t u = 0; u < v; ++u) {
            const uint32_t scope[] = {u, v};
            assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, of_pair, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static void missed_by_all_chains(void **state)
{
    (void)state;
    const char *said = "these have missed states";
    gbs_run_options options = sampled(16, 60000);
    check(gathering(), &options, "contradicted", said);
    options.estimator = GBS_ESTIMATOR_COUNT;
    check(gathering(), &options, "contradicted", said);
    options = sampled(16, 60000);
    options.scan = GBS_SCAN_SYSTEMATIC; /* there are no ladders of it, but as a control */
    check(gathering(), &options, "contradicted_alone", said);
    /* states as rare that the chains have met: the control agrees */
    const gbs_generate_ising_options near = {.side = {2, 1, 1}, .coupling = 2.0, .field = 2.0};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&near, &model, NULL), GBS_OK);
    options = sampled(16, 140000);
    check(model, &options, NULL, NULL);
}

/* ---- how the run was made ------------------------------------------------------------------- */

static gbs_status ignore_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                              const uint32_t *x, gbs_error *err)
{
    (void)context, (void)draw, (void)chain, (void)log_density, (void)x, (void)err;
    return GBS_OK;
}

static void draws_and_starts(void **state)
{
    (void)state;
    static const uint32_t start[64] = {0};
    const gbs_run_callbacks draws = {.draw = ignore_draw};
    gbs_run_options options = sampled(16, 10000);
    options.draw = GBS_DRAW_HERDED;
    check(grid(8, 0.1), &options, NULL, NULL); /* the random draw agrees closely enough */
    options.sweeps = 1000;
    check(grid(8, 0.1), &options, "unproved_draw", "above the target: try more --sweeps");
    options = sampled(16, 20000);
    options.draw = GBS_DRAW_ONE_BIN;
    check(grid_in_fields(8), &options, "biased_draw", "draw one-bin has a bias");
    options = sampled(16, 5000);
    options.scan = GBS_SCAN_SYNCHRONOUS;
    check_told(grid(8, 0.1), &options, &draws, "split_draws", "two colours of a synchronous draw");
    check(grid(8, 0.1), &options, NULL, NULL);
    options.draw = GBS_DRAW_HERDED;
    options.sweeps = 1000; /* too few to compare draws, but no number of sweeps would do */
    check(grid(8, 0.1), &options, "at_once", "updated at once");
    options = sampled(16, 5000);
    check_told(grid(8, 0.1), &options, &draws, NULL, NULL);
    options.start = start;
    check(grid(8, 0.1), &options, "one_start", "one given state");
    options.certified = 0.001;
    check(grid(8, 0.1), &options, NULL, NULL);
}

static void scans_that_omit_variables(void **state)
{
    (void)state;
    uint32_t scan[64];
    for (uint32_t t = 0; t < 64; ++t) {
        scan[t] = t;
    }
    gbs_run_options options = sampled(16, 5000);
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = scan;
    options.sequence_length = 63;
    options.partial_scan = 1;
    check(grid(8, 0.1), &options, "variables_omitted", "the scan omits 1 variable,");
    options.sweeps = 100; /* too few, but no number of sweeps would do */
    check(grid(8, 0.1), &options, "variables_omitted", "the scan omits 1 variable,");
    options.sweeps = 5000;
    options.partial_scan = 0;
    options.restarts = 1;
    options.sequence_length = 64;
    check(grid(8, 0.2), &options, "restarts_too_short", "a pass that starts afresh may be off by");
}

static void nothing_to_judge(void **state)
{
    (void)state;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_MEAN_FIELD;
    check(grid(8, 0.1), &options, "mean_field", "mean field is an approximation");
    options.method = GBS_METHOD_BELIEF;
    check(grid(8, 0.1), &options, "belief", "belief propagation is an approximation without");
    options = sampled(16, 0);
    options.burn_in = 5;
    options.max_updates = 1;
    check(grid(8, 0.1), &options, "nothing_kept", "before the first sweep was kept");
}

static int stop_at_once(void *context, const gbs_progress *progress)
{
    (void)context;
    return progress->burning_in;
}

/* The answer in hand of `auto` within a time, from the fixed point that --method bp finds. */
static void stopped_with_an_answer_in_hand(void **state)
{
    (void)state;
    const gbs_run_callbacks callbacks = {.progress = stop_at_once};
    gbs_run_options options = gbs_run_options_default();
    gbs_model *model = grid(30, 0.1); /* too large for an exact answer */
    gbs_run *run = NULL;
    gbs_run *belief = NULL;
    double *p = malloc(2 * 900 * sizeof *p);
    double *q = malloc(2 * 900 * sizeof *q);
    double *mcse = malloc(2 * 900 * sizeof *mcse);
    options.time_s = 1e6;
    options.burn_in = UINT64_C(1) << 40;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, &callbacks, NULL), GBS_STOPPED);
    options = gbs_run_options_default();
    options.method = GBS_METHOD_BELIEF;
    assert_int_equal(gbs_run_new(model, NULL, &options, &belief, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(belief, NULL, NULL), GBS_OK);
    const gbs_report *r = gbs_run_report(run);
    assert_string_equal(r->method, "bp");
    assert_false(r->converged);
    assert_non_null(strstr(r->verdict, "stopped before a sweep was kept"));
    assert_int_equal(gbs_run_marginals(run, p, mcse, NULL, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_run_marginals(belief, q, NULL, NULL, NULL, NULL), GBS_OK);
    assert_memory_equal(p, q, 2 * 900 * sizeof *p);
    assert_true(isnan(mcse[0]));
    gbs_run_free(run);
    gbs_run_free(belief);
    free(p);
    free(q);
    free(mcse);
    options = gbs_run_options_default();
    options.time_s = 1e6;
    options.burn_in = UINT64_C(1) << 40;
    check_told(model, &options, &callbacks, "first_answer", "stopped before a sweep was kept");
}

/* One sweep, with the bits of a run with so long a burn-in and one sweep. */
static void stopped_in_burn_in(void **state)
{
    (void)state;
    const gbs_run_callbacks callbacks = {.progress = stop_at_once};
    gbs_run_options options = sampled(16, 5);
    options.burn_in = UINT64_C(1) << 40;
    gbs_model *model = grid(8, 0.1);
    gbs_run *run = NULL;
    gbs_run *again = NULL;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, &callbacks, NULL), GBS_STOPPED);
    const gbs_report *r = gbs_run_report(run);
    assert_true(r->in_burn_in && !r->converged && r->sweeps == 1 && !r->chains_disagree);
    options.burn_in = r->burn_in;
    options.sweeps = 1;
    assert_int_equal(gbs_run_new(model, NULL, &options, &again, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(again, NULL, NULL), GBS_OK);
    assert_false(gbs_run_report(again)->in_burn_in);
    assert_string_equal(gbs_run_report(again)->digest, r->digest);
    gbs_run_free(again);
    gbs_run_free(run);
    options.burn_in = UINT64_C(1) << 40;
    check_told(model, &options, &callbacks, "in_burn_in", "stopped during burn-in, after ");
}

/* ---- burn-in -------------------------------------------------------------------------------- */

static void check_burn_in(double coupling, bool agrees)
{
    gbs_error err = {0};
    gbs_model *model = grid(16, coupling);
    gbs_run *run = NULL;
    const gbs_run_options options = sampled(16, 500);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_OK);
    const gbs_report *r = gbs_run_report(run);
    assert_int_equal(r->burn_in, agrees ? 64 : 500);
    assert_int_equal(r->n_warnings, agrees ? 0 : 1);
    assert_true(agrees || strstr(r->warning[0], "did not agree when burn-in ended") != NULL);
    gbs_run_free(run);
    gbs_model_free(model);
}

/* Burn-in ends as soon as the chains agree on the log density, and says if they never did. */
static void burn_in(void **state)
{
    (void)state;
    check_burn_in(0.1, true);
    check_burn_in(0.8, false);
}

static void every_row_was_reached(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; ++i) {
        if (!reached[i]) {
            fail_msg("no run reaches %s", row[i]);
        }
    }
}

/* The convergence theorem is about weights that all other variables tell apart and a fixed order.
 */
static void theorem_is_told(void **state)
{
    (void)state;
    static const struct {
        int draw, scan;
        bool complete, told;
    } kind[] = {{GBS_DRAW_HERDED_COMPLETE, GBS_SCAN_CHROMATIC, true, true},
                {GBS_DRAW_HERDED_COMPLETE, GBS_SCAN_SYSTEMATIC, false, true},
                {GBS_DRAW_HERDED, GBS_SCAN_SYSTEMATIC, false, false},
                {GBS_DRAW_HERDED_COMPLETE, GBS_SCAN_RANDOM, true, false},
                {GBS_DRAW_HERDED_SHARED, GBS_SCAN_SYSTEMATIC, true, false},
                {GBS_DRAW_RANDOM, GBS_SCAN_SYSTEMATIC, true, false}};
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; ++i) {
        gbs_model *model = kind[i].complete ? all_coupled(4) : grid(3, 0.1);
        gbs_run_options options = sampled(16, 70000);
        gbs_error err = {0};
        gbs_run *run = NULL;
        options.draw = kind[i].draw;
        options.scan = kind[i].scan;
        if (gbs_run_new(model, NULL, &options, &run, &err) < 0 ||
            gbs_run_execute(run, NULL, &err) < 0) {
            fail_msg("row %zu: %s", i, err.message);
        }
        const char *verdict = gbs_run_report(run)->verdict;
        if ((strstr(verdict, "converges as 1 / T") != NULL) != kind[i].told) {
            fail_msg("row %zu: %s", i, verdict);
        }
        gbs_run_free(run);
        gbs_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_than_four_chains),
        cmocka_unit_test(synchronous_chains_count_twice),
        cmocka_unit_test(certificates_vouch_for_one_chain),
        cmocka_unit_test(supports),
        cmocka_unit_test(ladders),
        cmocka_unit_test(pictures),
        cmocka_unit_test(estimates),
        cmocka_unit_test(variables_that_hardly_move),
        cmocka_unit_test(missed_by_all_chains),
        cmocka_unit_test(draws_and_starts),
        cmocka_unit_test(theorem_is_told),
        cmocka_unit_test(scans_that_omit_variables),
        cmocka_unit_test(nothing_to_judge),
        cmocka_unit_test(stopped_in_burn_in),
        cmocka_unit_test(stopped_with_an_answer_in_hand),
        cmocka_unit_test(burn_in),
        cmocka_unit_test(every_row_was_reached), /* last */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
