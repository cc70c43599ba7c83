/* SPDX-License-Identifier: Apache-2.0 */
/* Draws beside checkpoints: a run that goes on gives those that it gave before once more, then the
 * ones that follow, and the file grows as if the run had never stopped; what is refused; and disks
 * that fill up later. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/test_random.h"
#include "chains/run.h"
#include "support/runs.h"

static char folder[] = "/tmp/gibbsite-draws-XXXXXX";
static char path[64];
static char other[64];

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/run.ckpt", folder);
    (void)snprintf(other, sizeof other, "%s/other.ckpt", folder);
    return 0;
}

static int drop_folder(void **state)
{
    static const char *const more[] = {"", "~", ".draws"};
    (void)state;
    for (size_t i = 0; i < 3; ++i) {
        char name[80];
        (void)snprintf(name, sizeof name, "%s%s", path, more[i]);
        (void)unlink(name);
        (void)snprintf(name, sizeof name, "%s%s", other, more[i]);
        (void)unlink(name);
    }
    return rmdir(folder);
}

static gbs_model *spins(void)
{
    const gbs_generate_ising_options how = {.side = {6, 5, 1}, .coupling = 0.3, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    return model;
}

static gbs_run_options usual(void)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = 200;
    options.burn_in = 20;
    options.threads = 1;
    return options;
}

/* What callbacks.draw was given. */
typedef struct given {
    const uint32_t *variable; /* [n] that are looked at */
    uint32_t n;
    gbsi_digest *digest;
    uint64_t n_draws; /* begun */
} given;

static gbs_status take(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *state, gbs_error *err)
{
    given *g = context;
    (void)err;
    g->n_draws += chain == 0 ? 1 : 0;
    assert_int_equal(draw + 1, g->n_draws);
    gbsi_digest_f64(g->digest, &log_density, 1);
    for (uint32_t i = 0; i < g->n; ++i) {
        gbsi_digest_u32(g->digest, &state[g->variable[i]], 1);
    }
    return GBS_OK;
}

/* @param from, to NULL: none. @param stop_after passes, 0: to the end. @return draws given. */
static uint64_t go(const gbs_model *model, const gbs_run_options *options, const char *from,
                   const char *to, uint64_t stop_after, given *g, char *digest)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    const gbs_run_callbacks callbacks = {.context = g, .draw = take};
    const gbs_run_setup setup = {.model = model, .options = options, .task = GBS_RUN_DRAWS};
    g->n_draws = 0;
    assert_int_equal(gbsi_digest_new(&g->digest, NULL), GBS_OK);
    if (gbs_run_new_with(&setup, &run, &err) < 0 ||
        gbs_run_keep_draws(run, g->variable, g->n, &err) < 0 ||
        (from != NULL && gbs_run_resume(run, from, &err) < 0) ||
        (to != NULL && gbs_run_checkpoint(run, to, &err) < 0)) {
        fail_msg("%s", err.message);
    }
    run->checkpoints.stop_after = stop_after;
    if (gbs_run_execute(run, &callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    gbsi_digest_text(g->digest, digest);
    gbsi_digest_free(g->digest);
    gbs_run_free(run);
    return g->n_draws;
}

static size_t read_file(const char *name, unsigned char *bytes, size_t room)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, room, file);
    assert_int_equal(fclose(file), 0);
    return n;
}

static void write_file(const char *name, const unsigned char *bytes, size_t n)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, n, file) == n);
    assert_int_equal(fclose(file), 0);
}

static const char *draws_of(const char *checkpoint, char *name)
{
    (void)snprintf(name, 80, "%s.draws", checkpoint);
    return name;
}

static void same_files(const char *a, const char *b)
{
    static unsigned char bytes[2][1 << 20];
    const size_t n = read_file(a, bytes[0], sizeof bytes[0]);
    assert_int_equal(read_file(b, bytes[1], sizeof bytes[1]), n);
    assert_memory_equal(bytes[0], bytes[1], n);
}

/* ---- continued ------------------------------------------------------------------------------- */

static const uint32_t few[] = {4, 0, 17};
static const uint32_t every[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};

static const struct {
    int scan, draw;
    uint64_t chains, thin;
    int all;
} cases[] = {
    {GBS_SCAN_CHROMATIC, GBS_DRAW_RANDOM, 16, 1, 0},
    {GBS_SCAN_CHROMATIC, GBS_DRAW_HERDED, 3, 7, 1},
    {GBS_SCAN_SYNCHRONOUS, GBS_DRAW_RANDOM, 9, 2, 1},
    {GBS_SCAN_PERMUTED, GBS_DRAW_RANDOM, 20, 3, 0},
    {GBS_SCAN_SPLASH, GBS_DRAW_RANDOM, 2, 1, 1},
};

/* Stopped three times at random, with another number of threads each time. */
static void as_if_never_stopped(void **state)
{
    (void)state;
    uint64_t random = 5;
    char name[2][80];
    char digest[2][33];
    gbs_model *model = spins();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        given g = {.variable = cases[i].all ? every : few, .n = cases[i].all ? 30 : 3};
        gbs_run_options options = usual();
        options.scan = cases[i].scan;
        options.draw = cases[i].draw;
        options.chains = cases[i].chains;
        options.thin = cases[i].thin;
        const uint64_t n = go(model, &options, NULL, other, 0, &g, digest[0]);
        assert_int_equal(n, 200 / cases[i].thin);
        uint64_t pass = 0;
        for (int stretch = 0; stretch < 3; ++stretch) {
            pass += 1 + next_random(&random) % 70;
            options.threads = 1 + (uint64_t)stretch;
            (void)go(model, &options, stretch == 0 ? NULL : path, path, pass, &g, digest[1]);
        }
        assert_int_equal(go(model, &options, path, path, 0, &g, digest[1]), n);
        assert_string_equal(digest[0], digest[1]);
        same_files(draws_of(path, name[0]), draws_of(other, name[1]));
    }
    gbs_model_free(model);
}

/* Bytes behind those that a checkpoint names, as after a kill, are no draws of it; and it goes on
 * under another name with a copy. */
static void what_is_behind(void **state)
{
    (void)state;
    char name[2][80];
    char digest[2][33];
    gbs_model *model = spins();
    given g = {.variable = few, .n = 3};
    const gbs_run_options options = usual();
    (void)go(model, &options, NULL, other, 0, &g, digest[0]);
    (void)go(model, &options, NULL, path, 90, &g, digest[1]);
    FILE *file = fopen(draws_of(path, name[0]), "ab");
    assert_non_null(file);
    assert_true(fputs("half a draw", file) >= 0);
    assert_int_equal(fclose(file), 0);
    (void)go(model, &options, path, path, 130, &g, digest[1]);
    (void)unlink(other);
    assert_int_equal(unlink(draws_of(other, name[1])), 0);
    (void)go(model, &options, path, other, 0, &g, digest[1]);
    assert_string_equal(digest[0], digest[1]);
    const uint64_t kept = go(model, &options, path, NULL, 0, &g, digest[1]);
    assert_true(kept == 200);
    assert_string_equal(digest[0], digest[1]);
    (void)go(model, &options, path, path, 0, &g, digest[1]);
    same_files(name[0], name[1]);
    gbs_model_free(model);
}

/* The checkpoint before names fewer draws of the same file. */
static void the_one_before(void **state)
{
    (void)state;
    char digest[2][33];
    char older[72];
    gbs_model *model = spins();
    given g = {.variable = few, .n = 3};
    const gbs_run_options options = usual();
    (void)snprintf(older, sizeof older, "%s~", path);
    (void)go(model, &options, NULL, path, 90, &g, digest[1]);
    (void)go(model, &options, path, path, 140, &g, digest[1]);
    assert_int_equal(go(model, &options, older, NULL, 0, &g, digest[1]), 200);
    (void)go(model, &options, NULL, NULL, 0, &g, digest[0]);
    assert_string_equal(digest[0], digest[1]);
    gbs_model_free(model);
}

/* ---- refused --------------------------------------------------------------------------------- */

/* @param draws 0: a run of marginals. @param part of the message. */
static void refused(const gbs_model *model, const uint32_t *variable, uint32_t n, int draws,
                    gbs_status why, const char *part)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    const gbs_run_options options = usual();
    const gbs_run_setup setup = {
        .model = model, .options = &options, .task = draws ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS};
    assert_int_equal(gbs_run_new_with(&setup, &run, &err), GBS_OK);
    if (n > 0) {
        assert_int_equal(gbs_run_keep_draws(run, variable, n, &err), GBS_OK);
    }
    assert_int_equal(gbs_run_resume(run, path, &err), why);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\" is not in: %s", part, err.message);
    }
    gbs_run_free(run);
}

static void other_draws(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 16];
    char name[80];
    char digest[33];
    gbs_model *model = spins();
    given g = {.variable = few, .n = 3};
    const gbs_run_options options = usual();
    (void)go(model, &options, NULL, path, 90, &g, digest);
    (void)draws_of(path, name);
    refused(model, few, 2, 1, GBS_ERR_ARGUMENT, "--monitor");
    refused(model, few, 0, 1, GBS_ERR_ARGUMENT, "--monitor");
    refused(model, few, 3, 0, GBS_ERR_ARGUMENT, "task sample, this is marginals");
    const size_t n = read_file(name, bytes, sizeof bytes);
    for (size_t i = 0; i < 40; ++i) {
        const size_t at = i * n / 40;
        bytes[at] ^= 1;
        write_file(name, bytes, n);
        bytes[at] ^= 1;
        refused(model, few, 3, 1, GBS_ERR_FORMAT, "damaged, or of another run");
        write_file(name, bytes, at);
        refused(model, few, 3, 1, GBS_ERR_FORMAT, "bytes, and the file has");
    }
    assert_int_equal(unlink(name), 0);
    refused(model, few, 3, 1, GBS_ERR_IO, "draws of the checkpoint cannot be opened");
    gbs_model_free(model);
}

static void misuse(void **state)
{
    (void)state;
    const uint32_t beyond = 30;
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = spins();
    const gbs_run_options options = usual();
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_keep_draws(run, &beyond, 1, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_run_keep_draws(run, NULL, 0, &err), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run, path, &err), GBS_OK);
    assert_int_equal(gbs_run_keep_draws(run, few, 3, &err), GBS_ERR_STATE);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_ERR_STATE);
    assert_non_null(strstr(err.message, "callbacks.draw"));
    gbs_run_free(run);
    gbs_model_free(model);
}

/* ---- a disk that fills up ------------------------------------------------------------------- */

typedef struct filling {
    given g;
    uint64_t at; /* draw from which no file may grow */
} filling;

static gbs_status fill_up(void *context, uint64_t draw, uint32_t chain, double log_density,
                          const uint32_t *state, gbs_error *err)
{
    filling *f = context;
    if (draw == f->at && chain == 0) {
        struct rlimit limit;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = 64;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    return take(&f->g, draw, chain, log_density, state, err);
}

/* Draws and checkpoints that fit are followed by some that do not: the run says so and ends as any
 * other, and the checkpoint that was written is still good. */
static void no_room_later(void **state)
{
    (void)state;
    struct rlimit before;
    char digest[3][33];
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = spins();
    gbs_run_options options = usual();
    options.checkpoint_every_s = 1e-3;
    filling f = {.g = {.variable = few, .n = 3}, .at = 100};
    const gbs_run_callbacks callbacks = {.context = &f, .draw = fill_up};
    (void)go(model, &options, NULL, NULL, 0, &f.g, digest[0]);
    (void)go(model, &options, NULL, path, 60, &f.g, digest[1]);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*const acted)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(gbsi_digest_new(&f.g.digest, NULL), GBS_OK);
    f.g.n_draws = 0;
    const gbs_run_setup setup = {.model = model, .options = &options, .task = GBS_RUN_DRAWS};
    assert_int_equal(gbs_run_new_with(&setup, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_keep_draws(run, few, 3, &err), GBS_OK);
    assert_int_equal(gbs_run_resume(run, path, &err), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run, path, &err), GBS_OK);
    const gbs_status done = gbs_run_execute(run, &callbacks, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, acted);
    assert_int_equal(done, GBS_OK);
    const gbs_report *report = gbs_run_report(run);
    assert_true(report->n_warnings == 1);
    assert_non_null(strstr(report->warning[0], "a checkpoint could not be written"));
    gbsi_digest_text(f.g.digest, digest[1]);
    gbsi_digest_free(f.g.digest);
    assert_string_equal(digest[0], digest[1]);
    gbs_run_free(run);
    assert_int_equal(go(model, &options, path, path, 0, &f.g, digest[2]), 200);
    assert_string_equal(digest[0], digest[2]);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_if_never_stopped),
        cmocka_unit_test(what_is_behind),
        cmocka_unit_test(the_one_before),
        cmocka_unit_test(other_draws),
        cmocka_unit_test(misuse),
        cmocka_unit_test(no_room_later),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
