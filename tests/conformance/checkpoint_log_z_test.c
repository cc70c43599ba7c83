/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of ln Z that are stopped anywhere and go on, by ladders and by annealing: each stretch
 * has more updates than the one before, and the last ends as if it had never stopped. */
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
#include "gibbsite/checkpoint.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "gibbsite/log_z.h"
#include "simd/dispatch.h"
#include "support/runs.h"

static char folder[] = "/tmp/gibbsite-log-z-XXXXXX";
static char path[64];
static char older[72];

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
    (void)snprintf(older, sizeof older, "%s~", path);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(older);
    return rmdir(folder);
}

static gbs_model *glass(void)
{
    const gbs_generate_ising_options how = {.side = {6, 5, 1}, .coupling_spread = 0.7, .seed = 5};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    return model;
}

/* Neighbours on a ring of three states differ: zeros, softened on the way. */
static gbs_model *ring_of_colours(void)
{
    enum { N = 9 };
    const double differ[9] = {-INFINITY, 0.2, 0.1, 0.4, -INFINITY, -0.3, 0.0, 0.5, -INFINITY};
    uint32_t arity[N];
    uint32_t table = 0;
    gbs_error err = {0};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 3;
    }
    assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, N, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table(builder, 9, differ, &table, &err), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        const uint32_t scope[2] = {v, (v + 1) % N};
        assert_int_equal(gbs_builder_add_table_factor(builder, 2, scope, table, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static gbs_run_options usual(bool ladders)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.temper = ladders ? GBS_TEMPER_AUTO : GBS_TEMPER_OFF;
    options.burn_in = ladders ? 60 : GBS_BURN_IN_AUTO;
    options.sweeps = ladders ? 200 : 300;
    options.threads = 1;
    return options;
}

/* @param from, to NULL: none. */
static gbs_log_z_report go(const gbs_model *model, const gbs_run_options *options, const char *from,
                           const char *to)
{
    gbs_error err = {0};
    gbs_log_z_report report = {.size = sizeof report};
    const gbs_checkpoint_files files = {.size = sizeof files, .write = to, .resume = from};
    if (gbs_log_z_with(NULL, model, NULL, options, &files, NULL, &report, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_string_equal(report.warning, "");
    return report;
}

static void same(const gbs_log_z_report *a, const gbs_log_z_report *b)
{
    assert_true(a->log_z == b->log_z && a->error == b->error && a->low == b->low);
    assert_int_equal(a->updates, b->updates);
    assert_int_equal(a->sweeps, b->sweeps);
    assert_int_equal(a->burn_in, b->burn_in);
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->temperatures, b->temperatures);
    assert_int_equal(a->round_trips, b->round_trips);
    assert_string_equal(a->verdict, b->verdict);
    assert_string_equal(a->stop, b->stop);
}

/* In up to three stretches, each with other threads and another instruction set. */
static void check(const gbs_model *model, gbs_run_options options, uint64_t *random)
{
    const gbs_log_z_report whole = go(model, &options, NULL, NULL);
    const uint64_t first = 1 + next_random(random) % (whole.updates - 2);
    const uint64_t second = first + 1 + next_random(random) % (whole.updates - first - 1);
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_PORTABLE);
    gbs_run_options part = options;
    part.max_updates = first;
    (void)go(model, &part, NULL, path);
    (void)gbsi_simd_force(best);
    part.max_updates = second;
    part.threads = 3;
    (void)go(model, &part, path, path);
    options.threads = 2;
    const gbs_log_z_report last = go(model, &options, path, path);
    same(&last, &whole);
    const gbs_log_z_report again = go(model, &options, path, NULL); /* it was at its end */
    same(&again, &whole);
}

static void as_if_never_stopped(void **state)
{
    (void)state;
    uint64_t random = 20261124;
    gbs_model *model[] = {glass(), ring_of_colours()};
    for (size_t i = 0; i < 2; ++i) {
        for (uint64_t turn = 0; turn < test_scaled(24, 8, 4); ++turn) {
            gbs_run_options options = usual(turn % 2 == 0);
            options.seed = turn;
            if (turn % 4 == 1) { /* until the target */
                options.sweeps = 0;
                options.target_error = 0.1;
            }
            check(model[i], options, &random);
        }
        gbs_model_free(model[i]);
    }
}

static void what_a_checkpoint_says(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = glass();
    for (int ladders = 0; ladders < 2; ++ladders) {
        gbs_checkpoint c = {.size = sizeof c};
        const gbs_run_options options = usual(ladders != 0);
        const gbs_log_z_report whole = go(model, &options, NULL, path);
        assert_int_equal(gbs_checkpoint_read(path, &c, &err), GBS_OK);
        assert_string_equal(c.task, "logz");
        assert_true(c.log_z == whole.log_z && c.max_mcse == whole.error && isnan(c.log_density));
        assert_int_equal(c.updates, whole.updates);
    }
    gbs_model_free(model);
}

/* @param part of the message. */
static void refused(const gbs_model *model, const gbs_run_options *options, gbs_status why,
                    const char *part)
{
    gbs_error err = {0};
    gbs_log_z_report report = {.size = sizeof report, .log_z = 7.0};
    const gbs_checkpoint_files files = {.size = sizeof files, .resume = path};
    assert_int_equal(gbs_log_z_with(NULL, model, NULL, options, &files, NULL, &report, &err), why);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\" is not in: %s", part, err.message);
    }
    assert_true(report.log_z == 7.0);
}

static void what_is_refused(void **state)
{
    (void)state;
    gbs_model *model = glass();
    gbs_model *other = ring_of_colours();
    gbs_run_options options = usual(false);
    (void)go(model, &options, NULL, path);
    options.sweeps = 500;
    refused(model, &options, GBS_ERR_ARGUMENT, "follow from its length");
    options = usual(false);
    refused(other, &options, GBS_ERR_ARGUMENT, "model");
    options = usual(true);
    refused(model, &options, GBS_ERR_ARGUMENT, "--burn-in");
    (void)go(model, &options, NULL, path);
    options.sweeps = 300; /* ladders go on for more */
    const gbs_log_z_report longer = go(model, &options, path, NULL);
    const gbs_log_z_report whole = go(model, &options, NULL, NULL);
    same(&longer, &whole);
    options.method = GBS_METHOD_EXACT;
    refused(model, &options, GBS_ERR_ARGUMENT, "nothing is sampled");
    gbs_model_free(other);
    gbs_model_free(model);
}

/* After a round of burn-in the ladder is new, and nothing is known of its ratios. */
static void stopped_between_rounds(void **state)
{
    (void)state;
    gbs_model *model = glass();
    gbs_run_options options = usual(true);
    options.burn_in = GBS_BURN_IN_AUTO;
    options.max_updates = 1;
    const uint64_t each = go(model, &options, NULL, NULL).updates; /* of an iteration */
    options.max_updates = 32 * each;
    const gbs_log_z_report report = go(model, &options, NULL, path);
    assert_int_equal(report.burn_in, 32);
    assert_true(isnan(report.log_z) && report.converged == 0);
    const gbs_log_z_report again = go(model, &options, path, NULL);
    assert_true(isnan(again.log_z));
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

static void try_it(const gbs_model *model, const gbs_run_options *options,
                   const unsigned char *bytes, size_t n)
{
    gbs_error err = {0};
    gbs_log_z_report report = {.size = sizeof report};
    const gbs_checkpoint_files files = {.size = sizeof files, .resume = path};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, n, file) == n);
    assert_int_equal(fclose(file), 0);
    const gbs_status status =
        gbs_log_z_with(NULL, model, NULL, options, &files, NULL, &report, &err);
    assert_true(status >= 0 || err.message[0] != '\0');
}

/* With checksums that fit: made to do harm. It is refused, fails, or ends as any other. */
static void forged_files(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 20];
    uint64_t random = 11;
    gbs_model *model = ring_of_colours();
    for (uint64_t i = 0; i < test_scaled(2000, 200, 20); ++i) {
        gbs_run_options options = usual(i % 2 == 1);
        options.sweeps = 40;
        gbs_run_options part = options;
        part.max_updates = i % 4 < 2 ? 10000 : 2000000; /* at the beginning, or to the end */
        (void)go(model, &part, NULL, path);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        const size_t n = fread(bytes, 1, sizeof bytes, file);
        assert_int_equal(fclose(file), 0);
        uint64_t text = 0;
        memcpy(&text, bytes + 24, sizeof text);
        static const char *const names[] = {"annealing", "ladders"};
        const char *name = names[i % 2];
        size_t from = 32 + (size_t)text;
        while (from < n && memcmp(bytes + from, name, strlen(name) + 1) != 0) {
            ++from;
        }
        assert_true(from < n);
        from += 16;
        const size_t room = i % 8 < 4 && n - 64 - from > 160 ? 160 : n - 64 - from;
        const size_t at = from + (size_t)(next_random(&random) % room);
        bytes[at] ^= (unsigned char)(1 + next_random(&random) % 255);
        seal(bytes + from, n - 64 - from);
        seal(bytes, n - 32);
        try_it(model, &options, bytes, n);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_between_rounds), cmocka_unit_test(as_if_never_stopped),
        cmocka_unit_test(what_a_checkpoint_says), cmocka_unit_test(what_is_refused),
        cmocka_unit_test(forged_files),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
