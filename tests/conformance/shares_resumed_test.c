/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of models that ranks share: the file of one process, byte by byte, from which a run
 * goes on on any number of ranks, one process included, to the bits of a run that never stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/place.h"
#include "support/ranks_alike.h"
#include "support/runs.h"
#include "support/share_runs.h"
#include "support/small_models.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

typedef struct bytes {
    char *at;
    size_t n;
} bytes;

static bytes read_all(const char *path)
{
    bytes b = {NULL, 0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    b.n = (size_t)ftell(file);
    b.at = calloc(b.n + 1, 1);
    rewind(file);
    assert_int_equal(fread(b.at, 1, b.n, file), b.n);
    (void)fclose(file);
    return b;
}

/* Without what tells of the time: the size of the file, the seconds, the checksum of all. */
static bytes timeless(const char *path)
{
    enum { HEAD = 32, SEAL = 32 };
    bytes b = read_all(path);
    char *seconds = strstr(b.at + HEAD, "at-seconds=");
    assert_non_null(seconds);
    size_t line = 0;
    while (seconds[line] != '\n') {
        ++line;
    }
    memmove(seconds, seconds + line, b.n - (size_t)(seconds - b.at) - line);
    b.n -= line + SEAL + HEAD;
    memmove(b.at, b.at + HEAD, b.n);
    return b;
}

static void check_same_file(const char *path, const char *other)
{
    const bytes a = timeless(path);
    const bytes b = timeless(other);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; ++i) {
        if (a.at[i] != b.at[i]) {
            fail_msg("byte %zu of %zu differs", i, a.n);
        }
    }
    free(a.at);
    free(b.at);
}

static test_share_answer stretch(const test_share_problem *p, uint32_t n_ranks)
{
    const test_share_job j = test_run_job(p, n_ranks, 1 + n_ranks % 2);
    if (j.of[0].status < 0) {
        fail_msg("%u ranks, to pass %u: %s", n_ranks, (unsigned)p->stop_after, j.of[0].err.message);
    }
    return j.of[0];
}

static const uint32_t routes[][4] = {{3, 2, 0, 4}, {0, 3, 1, 2}, {2, 0, 4, 0}, {4, 1, 0, 3}};

/* Four parts of a run, each on another number of ranks, 0 being one process. The first leaves the
 * file that one process leaves. */
static void check_resumed(const test_share_problem *whole, size_t route, const test_place *at)
{
    const test_share_answer expected = stretch(whole, 0);
    const uint64_t n = expected.report.burn_in + expected.report.sweeps;
    const uint64_t stop[] = {1 + n / 9, 1 + n / 3, 1 + 3 * n / 4, 0};
    test_share_answer a = {0};
    char other[80];
    test_share_problem p = *whole;
    (void)snprintf(other, sizeof other, "%s.other", at->path);
    p.stop_after = stop[0];
    p.to = other;
    (void)stretch(&p, 0);
    for (size_t i = 0; i < N_OF(stop); ++i) {
        p.from = i == 0 ? NULL : at->path;
        p.to = at->path;
        p.stop_after = stop[i];
        p.scattered = (route + i) % 2 == 0;
        a = stretch(&p, routes[route][i]);
        if (i == 0) {
            check_same_file(at->path, other);
        }
    }
    assert_string_equal(expected.told, a.told);
    test_same_report(&expected.report, &a.report);
    (void)unlink(other);
    (void)strcat(other, "~");
    (void)unlink(other);
    (void)snprintf(other, sizeof other, "%s.other.draws", at->path);
    (void)unlink(other);
}

static bool check_route(size_t scan, size_t draw, size_t estimator, size_t turn,
                        const test_place *at)
{
    gbs_model *model = test_model((test_family)(turn % TEST_N_FAMILIES), turn, 14);
    gbs_evidence *evidence = test_observe(model, (int)(turn % 3));
    uint32_t sequence[2 * 64 + 1];
    test_share_problem p = {.model = model,
                            .evidence = evidence,
                            .parts = test_share_parts[turn % N_OF(test_share_parts)]};
    p.options = test_rank_options(test_share_scans[scan], draw, estimator,
                                  test_share_chains[turn % N_OF(test_share_chains)]);
    p.options.burn_in =
        p.options.burn_in > 0 && turn % 2 == 0 ? GBS_BURN_IN_AUTO : p.options.burn_in;
    p.gives = turn % 5 == 0;
    if (p.options.scan == GBS_SCAN_SEQUENCE) {
        assert_true(gbs_model_n_variables(model) <= 64);
        p.options.sequence_length = test_rank_sequence(gbs_model_n_variables(model), sequence);
        p.options.sequence = sequence;
    }
    const bool run = test_check_shares(&p, 4, 1);
    if (run) {
        check_resumed(&p, turn % N_OF(routes), at);
    }
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return run;
}

static void runs_go_on_on_other_ranks(void **state)
{
    (void)state;
    const test_place at = test_take_place();
    size_t turn = 0;
    size_t n_run = 0;
    const size_t step = test_scaled(1, 1, 5);
    for (size_t scan = 0; scan < N_OF(test_share_scans); ++scan) {
        for (size_t draw = 0; draw < test_n_rank_draws; ++draw) {
            for (size_t e = 0; e < N_OF(test_rank_estimators); ++e, ++turn) {
                if (turn % step == 0) {
                    n_run += check_route(scan, draw, e, turn, &at);
                }
            }
        }
    }
    assert_true(n_run > turn / step / 3);
    test_leave_place(&at);
}

/* A target found after the checkpoint; hard zeros; more variables than a window, of several states.
 */
static void targets_and_large_models_go_on_too(void **state)
{
    (void)state;
    const test_place at = test_take_place();
    gbs_model *model = test_model(TEST_MIXED, 5, 30);
    test_share_problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.lattice = GBS_LATTICE_NEVER;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.target_error = 0.03;
    p.options.temper = GBS_TEMPER_OFF;
    p.options.max_updates = 1000000;
    check_resumed(&p, 0, &at);
    gbs_model_free(model);
    model = test_picture();
    p = (test_share_problem){.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.lattice = GBS_LATTICE_NEVER;
    p.options.sweeps = 20;
    p.options.burn_in = 3;
    p.options.chains = 17;
    for (size_t route = 0; route < 2; ++route) {
        p.options.estimator = test_rank_estimators[route];
        check_resumed(&p, route, &at);
    }
    gbs_model_free(model);
    const gbs_generate_ising_options wide = {
        .side = {170, 100, 1}, .coupling = 0.3, .coupling_spread = 0.5, .seed = 3};
    assert_int_equal(gbs_generate_ising(&wide, &model, NULL), GBS_OK);
    p.model = model;
    p.options.sweeps = 5;
    p.options.chains = 1;
    test_choose_draw(&p.options, GBS_DRAW_HERDED, 0, 0);
    check_resumed(&p, 0, &at);
    gbs_model_free(model);
    test_leave_place(&at);
}

static void other_checkpoints_are_refused(void **state)
{
    (void)state;
    const test_place at = test_take_place();
    gbs_model *model = test_model(TEST_POTTS, 3, 12);
    gbs_model *another = test_model(TEST_POTTS, 4, 12);
    test_share_problem p = {.model = model, .options = gbs_run_options_default(), .to = at.path};
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.sweeps = 20;
    (void)stretch(&p, 3);
    p.from = at.path;
    p.to = NULL;
    test_share_problem q = p;
    q.model = another;
    test_check_refused(&q, 2, GBS_ERR_ARGUMENT, "a checkpoint of the model with digest");
    q = p;
    q.options.seed = 2;
    test_check_refused(&q, 2, GBS_ERR_ARGUMENT, "a checkpoint of a run with --seed");
    q = p;
    q.options.chains = 17;
    test_check_refused(&q, 2, GBS_ERR_ARGUMENT, "--chains");
    q = p;
    q.options.scan = GBS_SCAN_SYSTEMATIC;
    test_check_refused(&q, 2, GBS_ERR_ARGUMENT, "--scan");
    q = p;
    q.gives = true;
    test_check_refused(&q, 2, GBS_ERR_ARGUMENT, "the task marginals, this is sample");
    q = p;
    q.evidence = test_observe(model, 2);
    test_check_refused(&q, 2, GBS_ERR_ARGUMENT, "the evidence is not that of the checkpoint");
    gbs_evidence_free((gbs_evidence *)q.evidence);
    bytes b = read_all(at.path);
    b.at[b.n - 100] ^= 1;
    FILE *file = fopen(at.path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b.at, 1, b.n, file), b.n);
    assert_int_equal(fclose(file), 0);
    free(b.at);
    test_check_refused(&p, 2, GBS_ERR_FORMAT, "is damaged: its checksum is wrong");
    gbs_model_free(another);
    gbs_model_free(model);
    test_leave_place(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_go_on_on_other_ranks),
        cmocka_unit_test(targets_and_large_models_go_on_too),
        cmocka_unit_test(other_checkpoints_are_refused),
    };
    return cmocka_run_group_tests_name("shares_resumed", tests, NULL, NULL);
}
