/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for a most probable state that are killed and go on: the state, its log density and the
 * work are those of a search that never stopped. The clock of this program advances when it is
 * looked at, so that a checkpoint follows every sweep and every step of block draws, and the
 * process is killed once it has renamed so many. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/test_random.h"
#include "chains/run.h"
#include "gibbsite/map.h"
#include "support/runs.h"

static char folder[] = "/tmp/gibbsite-map-XXXXXX";
static char path[64];
static char older[72];

/* ---- in place of the system's ----
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): theirs are reserved */

static uint64_t ticks;
static unsigned renames, most_renames; /* 0: any number */

int clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    ++ticks;
    now->tv_sec = (time_t)(ticks / 500);
    now->tv_nsec = (long)(ticks % 500) * 2000000;
    return 0;
}

int rename(const char *from, const char *to)
{
    const int done = renameat(AT_FDCWD, from, AT_FDCWD, to);
    if (++renames == most_renames) {
        _exit(9);
    }
    return done;
}

int fsync(int fd) /* hundreds of small files: no one switches the machine off */
{
    (void)fd;
    return 0;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

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

/* ---- models ---- */

static gbs_model *glass(void)
{
    const gbs_generate_ising_options how = {
        .side = {9, 8, 1}, .coupling_spread = 1.0, .random_field = 0.2, .seed = 4};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    return model;
}

/* Forty spins all coupled, too many for a tree, beside five alone that are answered exactly. */
static gbs_model *all_coupled(void)
{
    enum { COUPLED = 40, ALL = 45 };
    const uint32_t two = 2;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < ALL; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, v, v % 2 == 0 ? 0.5 : -0.25, NULL), GBS_OK);
        for (uint32_t u = 0; u < v && v < COUPLED; ++u) {
            const double coupling = ((u * 31 + v * 17) % 13) / 6.0 - 1.0;
            assert_int_equal(gbs_builder_add_ising(b, u, v, coupling, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* Hard zeros in tables of three states, and two components. */
static gbs_model *with_zeros(void)
{
    enum { RING = 12, APART = 3 };
    static const uint32_t three = 3;
    double weight[9];
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < RING + APART; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &three, NULL, NULL), GBS_OK);
    }
    for (uint32_t v = 0; v < RING + APART - 1; ++v) {
        const uint32_t next = v + 1 == RING ? 0 : v + 1;
        for (uint32_t i = 0; i < 9; ++i) {
            weight[i] = i % 4 == 0 ? 0.0 : 1.0 + ((i * 7 + v * 5) % 11) / 4.0;
        }
        const uint32_t scope[2] = {v, next};
        assert_int_equal(gbs_builder_add_potential(b, 2, scope, 9, weight, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static const struct {
    gbs_model *(*make)(void);
    int draw, schedule, method;
    uint64_t sweeps, chains;
} cases[] = {
    {glass, GBS_DRAW_RANDOM, GBS_SCHEDULE_LINEAR, GBS_METHOD_SAMPLE, 40, 16},
    {glass, GBS_DRAW_RANDOM, GBS_SCHEDULE_GEOMETRIC, GBS_METHOD_SAMPLE, 0, 33},
    {all_coupled, GBS_DRAW_RANDOM, GBS_SCHEDULE_LINEAR, GBS_METHOD_AUTO, 0, 3},
    {with_zeros, GBS_DRAW_RANDOM, GBS_SCHEDULE_LINEAR, GBS_METHOD_SAMPLE, 25, 16},
    {glass, GBS_DRAW_HERDED, GBS_SCHEDULE_LINEAR, GBS_METHOD_SAMPLE, 60, 8},
};
#define N_CASES (sizeof cases / sizeof cases[0])

static gbs_run_options options_of(size_t i)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = cases[i].method;
    options.draw = cases[i].draw;
    options.schedule = cases[i].schedule;
    options.sweeps = cases[i].sweeps;
    options.chains = cases[i].chains;
    options.checkpoint_every_s = 1e-3;
    options.threads = 1;
    return options;
}

/* ---- searches -------------------------------------------------------------------------------- */

typedef struct found {
    uint32_t state[72];
    gbs_map_report report;
} found;

static void search(const gbs_model *model, const gbs_run_options *options, const char *from,
                   const char *to, found *f)
{
    gbs_error err = {0};
    const gbs_checkpoint_files files = {.size = sizeof files, .write = to, .resume = from};
    memset(f, 0, sizeof *f);
    f->report.size = sizeof f->report;
    if (gbs_map_with_checkpoints(model, NULL, options, &files, NULL, f->state, &f->report, &err) <
        0) {
        fail_msg("%s", err.message);
    }
}

/* In a process that is killed after so many checkpoints. @return whether it was. */
static int search_and_die(const gbs_model *model, const gbs_run_options *options, const char *from,
                          unsigned n)
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static found f;
        renames = 0;
        most_renames = n;
        search(model, options, from, path, &f);
        _exit(0);
    }
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
    return WEXITSTATUS(status) == 9;
}

static void same(const found *a, const found *b)
{
    assert_memory_equal(a->state, b->state, sizeof a->state);
    assert_true(a->report.log_density == b->report.log_density);
    assert_true(a->report.final_log_density == b->report.final_log_density);
    assert_true(a->report.tau0 == b->report.tau0);
    assert_true(a->report.upper_bound == b->report.upper_bound);
    assert_true(a->report.gap == b->report.gap);
    assert_int_equal(a->report.rounds, b->report.rounds);
    assert_int_equal(a->report.sweeps, b->report.sweeps);
    assert_int_equal(a->report.updates, b->report.updates);
    assert_string_equal(a->report.stop, b->report.stop);
}

/* Of all checkpoints that the search writes: some random ones, by other threads each time. */
static void killed_anywhere(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (size_t i = 0; i < N_CASES; ++i) {
        static found whole;
        static found f;
        gbs_model *model = cases[i].make();
        gbs_run_options options = options_of(i);
        search(model, &options, NULL, NULL, &whole);
        renames = 0;
        search(model, &options, NULL, path, &f);
        const unsigned n = renames;
        same(&f, &whole);
        assert_true(n > 20);
        for (uint64_t trial = 0; trial < test_scaled(40, 5, 2); ++trial) {
            assert_true(search_and_die(model, &options, NULL,
                                       1 + (unsigned)(next_random(&random) % (n - 1))));
            options.threads = 1 + trial % 3;
            (void)search_and_die(model, &options, path,
                                 1 + (unsigned)(next_random(&random) % (n / 2)));
            search(model, &options, path, path, &f);
            same(&f, &whole);
        }
        search(model, &options, path, NULL, &f); /* at its end */
        same(&f, &whole);
        gbs_model_free(model);
    }
}

/* Stopped by a number of updates, then with more. */
static void more_updates(void **state)
{
    (void)state;
    static found whole;
    static found f;
    gbs_model *model = glass();
    gbs_run_options options = options_of(1);
    search(model, &options, NULL, NULL, &whole);
    options.max_updates = whole.report.updates / 3;
    search(model, &options, NULL, path, &f);
    assert_string_equal(f.report.stop, "updates");
    assert_true(f.report.updates < whole.report.updates);
    options.max_updates = 0;
    search(model, &options, path, NULL, &f);
    same(&f, &whole);
    gbs_model_free(model);
}

static void refused(const gbs_model *model, const gbs_run_options *options, gbs_status why,
                    const char *part)
{
    gbs_error err = {0};
    uint32_t x[72];
    memset(x, 7, sizeof x);
    const gbs_checkpoint_files files = {.size = sizeof files, .resume = path};
    assert_int_equal(gbs_map_with_checkpoints(model, NULL, options, &files, NULL, x, NULL, &err),
                     why);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\" is not in: %s", part, err.message);
    }
    assert_true(x[0] == 0x07070707);
}

static void what_is_refused(void **state)
{
    (void)state;
    static found f;
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = glass();
    gbs_run_options options = options_of(0);
    search(model, &options, NULL, path, &f);
    options.sweeps = 80;
    refused(model, &options, GBS_ERR_ARGUMENT,
            "temperatures of an annealing follow from its length");
    options.sweeps = 0;
    refused(model, &options, GBS_ERR_ARGUMENT,
            "temperatures of an annealing follow from its length");
    options = options_of(0);
    options.schedule = GBS_SCHEDULE_GEOMETRIC;
    refused(model, &options, GBS_ERR_ARGUMENT, "--schedule");
    options = options_of(0);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_resume(run, path, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "task map, this is marginals"));
    gbs_run_free(run);
    gbs_model_free(model);
}

/* With a checksum that fits: made to do harm. */
static void forged_files(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 16];
    static found f;
    uint64_t random = 3;
    gbs_model *model = glass();
    const gbs_run_options options = options_of(1);
    assert_true(search_and_die(model, &options, NULL, 100)); /* amid block draws */
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    uint64_t text = 0;
    memcpy(&text, bytes + 24, sizeof text);
    for (uint64_t i = 0; i < test_scaled(500, 50, 20); ++i) {
        gbs_error err = {0};
        gbsi_digest *sum = NULL;
        char digest[33];
        gbs_run_options short_options = options;
        const gbs_checkpoint_files files = {.size = sizeof files, .resume = path};
        const size_t from = (size_t)text + 32;
        const size_t at = from + (size_t)(next_random(&random) % (n - 32 - from));
        const unsigned char was = bytes[at];
        bytes[at] = (unsigned char)(was ^ (1 + next_random(&random) % 255));
        assert_int_equal(gbsi_digest_new(&sum, NULL), GBS_OK);
        gbsi_digest_bytes(sum, bytes, n - 32);
        gbsi_digest_text(sum, digest);
        gbsi_digest_free(sum);
        memcpy(bytes + n - 32, digest, 32);
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_true(fwrite(bytes, 1, n, file) == n);
        assert_int_equal(fclose(file), 0);
        short_options.time_s = 0.05;
        f.report.size = sizeof f.report;
        const gbs_status done = gbs_map_with_checkpoints(model, NULL, &short_options, &files, NULL,
                                                         f.state, &f.report, &err);
        assert_true(done >= 0 || err.message[0] != '\0');
        bytes[at] = was;
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_anywhere),
        cmocka_unit_test(more_updates),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(forged_files),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
