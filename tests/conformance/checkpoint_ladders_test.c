/* SPDX-License-Identifier: Apache-2.0 */
/* Ladders of temperatures that are stopped anywhere and go on: marginals, draws and what is said of
 * them are those of a run that never stopped. */
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

#include "base/digest.h"
#include "base/test_random.h"
#include "chains/run.h"
#include "simd/dispatch.h"
#include "support/runs.h"

static char folder[] = "/tmp/gibbsite-ladders-XXXXXX";
static char path[64];
static char beside[2][80]; /* the one before, and the draws */

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): its own is reserved */
int fsync(int fd) /* many small files: no one switches the machine off */
{
    (void)fd;
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/run.ckpt", folder);
    (void)snprintf(beside[0], sizeof beside[0], "%s~", path);
    (void)snprintf(beside[1], sizeof beside[1], "%s.draws", path);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(beside[0]);
    (void)unlink(beside[1]);
    return rmdir(folder);
}

/* ---- models ---- */

/* A glass, whose ladder is cut; blocks are drawn where it is large. */
static gbs_model *glass(uint32_t side, double spread)
{
    const gbs_generate_ising_options how = {
        .side = {side, side, 1}, .coupling_spread = spread, .seed = 5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    return model;
}

/* A ring with zeros, which a penalty stands for, and chords: neighbours of three states differ,
 * and so do those across. */
static gbs_model *ring_of_colours(void)
{
    enum { N = 12 };
    gbs_error err = {0};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    double differ[9];
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            differ[3 * a + b] = a == b ? -INFINITY : 0.3 * a - 0.2 * b;
        }
    }
    uint32_t arity[N];
    uint32_t table = 0;
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 3;
    }
    assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, N, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table(builder, 9, differ, &table, &err), GBS_OK);
    for (uint32_t v = 0; v < N + N / 2; ++v) {
        const uint32_t scope[2] = {v % N, v < N ? (v + 1) % N : v - N / 2};
        assert_int_equal(gbs_builder_add_table_factor(builder, 2, scope, table, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

/* ---- runs ---- */

/* What a stretch of a run ended with. */
typedef struct ended {
    uint64_t iterations, draws;
    char digest[33], of_draws[33];
    gbs_report report;
} ended;

typedef struct given {
    gbsi_digest *digest;
    const gbs_model *model;
    uint64_t n;
} given;

static gbs_status take(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *state, gbs_error *err)
{
    given *g = context;
    (void)err;
    g->n += chain == 0;
    assert_int_equal(draw + 1, g->n);
    gbsi_digest_f64(g->digest, &log_density, 1);
    gbsi_digest_u32(g->digest, state, gbs_model_n_variables(g->model));
    return GBS_OK;
}

/* @param from, to NULL: none. @param stop_after iterations; 0: to the end. */
static ended go(const gbs_model *model, const gbs_run_options *options, bool draws,
                const char *from, const char *to, uint64_t stop_after)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    ended end = {0};
    given g = {.model = model};
    const gbs_run_callbacks callbacks = {.context = &g, .draw = draws ? take : NULL};
    const gbs_run_setup setup = {
        .model = model, .options = options, .task = draws ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS};
    assert_int_equal(gbsi_digest_new(&g.digest, NULL), GBS_OK);
    if (gbs_run_new_with(&setup, &run, &err) < 0 ||
        (draws && gbs_run_keep_draws(run, NULL, 0, &err) < 0) ||
        (from != NULL && gbs_run_resume(run, from, &err) < 0) ||
        (to != NULL && gbs_run_checkpoint(run, to, &err) < 0)) {
        fail_msg("%s", err.message);
    }
    run->checkpoints.stop_after = stop_after;
    if (gbs_run_execute(run, &callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    gbsi_digest_text(g.digest, end.of_draws);
    gbsi_digest_free(g.digest);
    end.draws = g.n;
    end.report = *gbs_run_report(run);
    end.iterations = end.report.burn_in + end.report.sweeps;
    memcpy(end.digest, end.report.digest, sizeof end.digest);
    gbs_run_free(run);
    return end;
}

static gbs_run_options usual(uint64_t temper)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.temper = temper;
    options.sweeps = 400;
    options.threads = 1;
    return options;
}

/* Stopped twice at random, each stretch with another number of threads; where no draws are kept,
 * the first stretch runs the portable code, which is slow. */
static void check(const gbs_model *model, gbs_run_options options, bool draws, uint64_t *random)
{
    const ended whole = go(model, &options, draws, NULL, NULL, 0);
    const uint64_t first = 1 + next_random(random) % (whole.iterations - 2);
    const uint64_t second = first + 1 + next_random(random) % (whole.iterations - first - 1);
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_PORTABLE);
    if (draws) {
        (void)gbsi_simd_force(best);
    }
    (void)go(model, &options, draws, NULL, path, first);
    (void)gbsi_simd_force(best);
    options.threads = 3;
    (void)go(model, &options, draws, path, path, second);
    options.threads = 2;
    const ended last = go(model, &options, draws, path, NULL, 0);
    assert_string_equal(last.digest, whole.digest);
    assert_string_equal(last.of_draws, whole.of_draws);
    assert_int_equal(last.draws, whole.draws);
    assert_int_equal(last.iterations, whole.iterations);
    assert_int_equal(last.report.burn_in, whole.report.burn_in);
    assert_int_equal(last.report.updates, whole.report.updates);
    assert_int_equal(last.report.round_trips, whole.report.round_trips);
    assert_int_equal(last.report.temperatures, whole.report.temperatures);
    assert_int_equal(last.report.block_variables, whole.report.block_variables);
    assert_int_equal(last.report.chains, whole.report.chains);
    assert_true(last.report.max_mcse == whole.report.max_mcse);
    assert_string_equal(last.report.verdict, whole.report.verdict);
}

/* ---- tests ---- */

static void as_if_never_stopped(void **state)
{
    (void)state;
    uint64_t random = 20261123;
    const bool small = test_scale_asked() == TEST_SMALL;
    gbs_model *model[] = {glass(4, 1.0), glass(9, 1.0), ring_of_colours()};
    for (size_t i = 0; i < 3; ++i) {
        for (uint64_t turn = 0; turn < test_scaled(12, 2, 1); ++turn) {
            gbs_run_options options = usual(turn % 2 == 0 ? 16 : 5);
            options.burn_in = turn % 3 != 0 || (small && i < 2) ? 40 : GBS_BURN_IN_AUTO;
            options.sweeps = small ? 60 : 400;
            options.chains = turn % 4 == 1 ? 4 : options.chains;
            options.seed = turn;
            check(model[i], options, false, &random);
            options.thin = 3;
            check(model[i], options, true, &random);
        }
        gbs_model_free(model[i]);
    }
}

/* Where blocks are drawn too, which a trial among burn-in decides. */
static void blocks(void **state)
{
    (void)state;
    uint64_t random = 3;
    if (test_scale_asked() == TEST_SMALL) {
        skip(); /* the trial is among the last of 1760 iterations */
    }
    gbs_model *model = glass(12, 1.5);
    gbs_run_options options = usual(16);
    options.sweeps = 100;
    const ended whole = go(model, &options, false, NULL, NULL, 0);
    assert_true(whole.report.block_variables > 0);
    for (int draws = test_scale_asked() == TEST_FULL ? 0 : 1; draws < 2; ++draws) {
        check(model, options, draws == 1, &random);
    }
    gbs_model_free(model);
}

/* Windows that the target doubles, and a smaller target after it was reached. */
static void smaller_errors(void **state)
{
    (void)state;
    if (test_scale_asked() == TEST_SMALL) {
        skip(); /* thousands of iterations */
    }
    gbs_model *model = glass(5, 1.0);
    gbs_run_options options = usual(8);
    options.sweeps = 0;
    options.target_error = 0.01;
    const ended first = go(model, &options, false, NULL, path, 0);
    const ended again = go(model, &options, false, path, NULL, 0);
    assert_int_equal(first.report.sweeps, again.report.sweeps);
    assert_string_equal(first.digest, again.digest);
    options.target_error = test_scale_asked() == TEST_FULL ? 0.002 : 0.003;
    const ended found = go(model, &options, false, path, NULL, 0);
    const ended whole = go(model, &options, false, NULL, NULL, 0);
    assert_true(whole.report.sweeps > first.report.sweeps);
    assert_int_equal(found.report.burn_in, whole.report.burn_in);
    assert_string_equal(found.digest, whole.digest);
    gbs_model_free(model);
}

/* 200 iterations, then 500: as 500 at once. */
static void longer_runs(void **state)
{
    (void)state;
    gbs_model *model = ring_of_colours();
    gbs_run_options options = usual(6);
    gbs_checkpoint c = {.size = sizeof c};
    gbs_error err = {0};
    options.burn_in = 100;
    options.sweeps = 200;
    (void)go(model, &options, false, NULL, path, 60);
    assert_int_equal(gbs_checkpoint_read(path, &c, &err), GBS_OK);
    assert_true(c.burning_in && c.burn_in == 60 && c.sweeps == 0);
    const ended first = go(model, &options, false, path, path, 0);
    assert_int_equal(gbs_checkpoint_read(path, &c, &err), GBS_OK);
    assert_true(!c.burning_in && c.burn_in == 100 && c.sweeps == 200 && c.max_mcse > 0.0);
    assert_int_equal(c.chains, first.report.chains);
    options.sweeps = 500;
    const ended found = go(model, &options, false, path, NULL, 0);
    const ended whole = go(model, &options, false, NULL, NULL, 0);
    assert_string_equal(found.digest, whole.digest);
    gbs_model_free(model);
}

/* Plain chains that disagree, after work enough, give way to ladders: stopped among these, which
 * takes half a minute, at full scale. */
static void chains_that_disagree(void **state)
{
    (void)state;
    if (test_scale_asked() != TEST_FULL) {
        skip();
    }
    const gbs_generate_ising_options how = {
        .side = {8, 8, 1}, .torus = 1, .coupling = 0.6, .seed = 3};
    gbs_model *model = NULL;
    gbs_run_options options = usual(0);
    options.temper = GBS_TEMPER_AUTO;
    options.sweeps = 0;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    const ended whole = go(model, &options, false, NULL, NULL, 0);
    assert_true(whole.report.temperatures > 0);
    (void)go(model, &options, false, NULL, path, whole.iterations / 2);
    const ended last = go(model, &options, false, path, NULL, 0);
    assert_int_equal(last.report.temperatures, whole.report.temperatures);
    assert_string_equal(last.digest, whole.digest);
    gbs_model_free(model);
}

/* A digest of so many bytes behind them. */
static void seal(unsigned char *bytes, size_t n)
{
    char text[33];
    gbsi_digest *sum = NULL;
    assert_int_equal(gbsi_digest_new(&sum, NULL), GBS_OK);
    gbsi_digest_bytes(sum, bytes, n);
    gbsi_digest_text(sum, text);
    gbsi_digest_free(sum);
    memcpy(bytes + n, text, 32);
}

/* With checksums that fit: made to do harm. A run is refused, fails, or ends as any other. */
static void forged_files(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 20];
    uint64_t random = 11;
    gbs_model *model = ring_of_colours();
    gbs_run_options options = usual(6);
    options.sweeps = 60;
    options.burn_in = 40;
    for (uint64_t i = 0; i < test_scaled(2000, 200, 15); ++i) {
        if (i % 50 == 0) { /* amid burn-in, or later */
            (void)go(model, &options, false, NULL, path, i % 100 == 0 ? 30 : 70);
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            random += fread(bytes, 1, sizeof bytes, file) << 32;
            assert_int_equal(fclose(file), 0);
        }
        gbs_error err = {0};
        gbs_run *run = NULL;
        uint64_t n = 0;
        memcpy(&n, bytes + 16, sizeof n);
        uint64_t text = 0;
        memcpy(&text, bytes + 24, sizeof text);
        const size_t from = 32 + (size_t)text + 16;
        const size_t room = i % 2 == 0 ? 27 * 8 : (size_t)n - 64 - from; /* numbers, or any */
        const size_t at = from + (size_t)(next_random(&random) % room);
        const unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)(kept ^ (1 + next_random(&random) % 255));
        seal(bytes + from, (size_t)n - 64 - from); /* of the part, */
        seal(bytes, (size_t)n - 32);               /* and of the file */
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_true(fwrite(bytes, 1, (size_t)n, file) == n);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
        if (gbs_run_resume(run, path, &err) == GBS_OK) {
            assert_true(gbs_run_execute(run, NULL, &err) >= 0 || err.message[0] != '\0');
        }
        gbs_run_free(run);
        bytes[at] = kept;
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_if_never_stopped),  cmocka_unit_test(blocks),
        cmocka_unit_test(smaller_errors),       cmocka_unit_test(longer_runs),
        cmocka_unit_test(chains_that_disagree), cmocka_unit_test(forged_files),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
