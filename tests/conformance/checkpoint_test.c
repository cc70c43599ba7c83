/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints beside what the digests suite shows of every scan and draw: what may differ when a
 * run goes on, what is refused and how, and files that are damaged or cannot be written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/test_random.h"
#include "chains/run.h"
#include "support/runs.h"

static char folder[] = "/tmp/gibbsite-checkpoint-XXXXXX";
static char path[64];
static char older[72];

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

static gbs_model *spins(double coupling)
{
    const gbs_generate_ising_options how = {.side = {6, 5, 1}, .coupling = coupling, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    return model;
}

static gbs_run_options usual(void)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = 300;
    options.threads = 1;
    return options;
}

static char warning[512]; /* the last one of the last run; "": it had none */

/* Passes, 0: to the end. @param digest out, [33]. @return the report's numbers. */
static gbs_report go(const gbs_model *model, const gbs_run_options *options, const char *from,
                     const char *to, uint64_t stop_after, char *digest)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    if (gbs_run_new(model, NULL, options, &run, &err) < 0 ||
        (from != NULL && gbs_run_resume(run, from, &err) != GBS_OK) ||
        (to != NULL && gbs_run_checkpoint(run, to, &err) != GBS_OK)) {
        fail_msg("%s", err.message);
    }
    run->checkpoints.stop_after = stop_after;
    if (gbs_run_execute(run, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    const gbs_report report = *gbs_run_report(run);
    memcpy(digest, report.digest, 33);
    const size_t n = report.n_warnings;
    (void)snprintf(warning, sizeof warning, "%s", n > 0 ? report.warning[n - 1] : "");
    gbs_run_free(run);
    return report;
}

/* The run is no other after a refusal: it is executed then. @param part of the message. */
static void refused(const gbs_model *model, const gbs_run_options *options, gbs_status why,
                    const char *part)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_resume(run, path, &err), why);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\" is not in: %s", part, err.message);
    }
    assert_true(gbs_run_execute(run, NULL, &err) >= 0);
    assert_true(gbs_run_report(run)->sweeps > 0);
    gbs_run_free(run);
}

/* ---- what may differ ------------------------------------------------------------------------- */

/* 300 sweeps, then 700: as 700 at once. Burn-in keeps the length it had. */
static void longer_runs(void **state)
{
    (void)state;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    char digest[2][33];
    (void)go(model, &options, NULL, path, 0, digest[0]);
    options.sweeps = 700;
    const gbs_report found = go(model, &options, path, NULL, 0, digest[0]);
    const gbs_report whole = go(model, &options, NULL, NULL, 0, digest[1]);
    assert_int_equal(found.sweeps, 700);
    assert_int_equal(found.burn_in, whole.burn_in);
    assert_int_equal(found.updates, whole.updates);
    assert_string_equal(digest[0], digest[1]);
    gbs_model_free(model);
}

/* A burn-in that is not over yet takes the length of the run that goes on. */
static void burn_in_goes_on(void **state)
{
    (void)state;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    char digest[2][33];
    const gbs_report whole = go(model, &options, NULL, NULL, 0, digest[1]);
    assert_true(whole.burn_in >= 64);
    for (uint64_t sweeps = 10; sweeps <= 1000; sweeps *= 100) {
        options.sweeps = sweeps;
        (void)go(model, &options, NULL, path, 5, digest[0]);
        options = usual();
        assert_int_equal(go(model, &options, path, NULL, 0, digest[0]).burn_in, whole.burn_in);
        assert_string_equal(digest[0], digest[1]);
    }
    options.sweeps = 30; /* fewer than those for which the burn-in was begun */
    const gbs_report less = go(model, &options, NULL, NULL, 0, digest[1]);
    options = usual();
    (void)go(model, &options, NULL, path, 5, digest[0]);
    options.sweeps = 30;
    assert_int_equal(go(model, &options, path, NULL, 0, digest[0]).burn_in, less.burn_in);
    assert_string_equal(digest[0], digest[1]);
    gbs_model_free(model);
}

/* Burn-in that few sweeps cut short keeps its length, and every run that goes on says so. */
static void short_burn_ins(void **state)
{
    (void)state;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    char digest[33];
    options.sweeps = 10;
    (void)go(model, &options, NULL, path, 0, digest);
    assert_int_equal(go(model, &options, path, NULL, 0, digest).burn_in, 10);
    assert_non_null(strstr(warning, "after 10 sweeps: try more --sweeps"));
    for (options.sweeps = 300; options.sweeps <= 700; options.sweeps += 400) {
        assert_int_equal(go(model, &options, path, path, 0, digest).burn_in, 10);
        assert_non_null(strstr(warning, "after 10 sweeps, as the --sweeps or --max-updates that"));
        assert_non_null(strstr(warning, options.sweeps == 300 ? "up to 300:" : "up to 700:"));
    }
    gbs_model_free(model);
}

/* What --max-updates cuts short is told too; what --burn-in asked for is not. */
static void other_short_burn_ins(void **state)
{
    (void)state;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    char digest[33];
    options.sweeps = 0;
    options.max_updates = 20 * 30 * options.chains;
    (void)go(model, &options, NULL, path, 0, digest);
    options.max_updates *= 100;
    assert_int_equal(go(model, &options, path, NULL, 0, digest).burn_in, 10);
    assert_non_null(strstr(warning, "after 10 sweeps, as the --sweeps or --max-updates that"));
    options = usual();
    options.burn_in = 10;
    options.sweeps = 10;
    (void)go(model, &options, NULL, path, 0, digest);
    options.sweeps = 700;
    assert_int_equal(go(model, &options, path, NULL, 0, digest).burn_in, 10);
    assert_string_equal(warning, "");
    gbs_model_free(model);
}

/* A run that reached its target goes on to a smaller one. */
static void smaller_errors(void **state)
{
    (void)state;
    gbs_model *model = spins(0.2);
    gbs_run_options options = usual();
    char digest[2][33];
    options.sweeps = 0;
    options.target_error = 0.01;
    const gbs_report first = go(model, &options, NULL, path, 0, digest[0]);
    const gbs_report again = go(model, &options, path, NULL, 0, digest[1]);
    assert_int_equal(first.sweeps, again.sweeps);
    assert_string_equal(digest[0], digest[1]);
    options.target_error = 0.0005;
    const gbs_report found = go(model, &options, path, NULL, 0, digest[0]);
    const gbs_report whole = go(model, &options, NULL, NULL, 0, digest[1]);
    assert_true(found.sweeps > first.sweeps && found.sweeps == whole.sweeps);
    assert_string_equal(digest[0], digest[1]);
    gbs_model_free(model);
}

/* Updates are counted on: a run that has used them up is at its end. */
static void no_more_updates(void **state)
{
    (void)state;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    char digest[2][33];
    options.sweeps = 0;
    options.max_updates = 100000;
    const gbs_report first = go(model, &options, NULL, path, 0, digest[0]);
    const gbs_report again = go(model, &options, path, NULL, 0, digest[1]);
    assert_true(first.updates >= 100000 && first.sweeps == again.sweeps);
    assert_string_equal(first.stop, again.stop);
    assert_string_equal(digest[0], digest[1]);
    gbs_model_free(model);
}

/* A threshold and a scan that were found by trials are not looked for again. */
static void what_was_decided(void **state)
{
    (void)state;
    gbs_model *model = spins(0.6);
    char digest[2][33];
    gbs_run_options options = usual();
    options.sweeps = 256;
    options.draw = GBS_DRAW_BOUNDED_ERROR;
    options.threshold = GBS_THRESHOLD_AUTO;
    const gbs_report whole = go(model, &options, NULL, NULL, 0, digest[0]);
    (void)go(model, &options, NULL, path, whole.burn_in + 40, digest[1]);
    const gbs_report found = go(model, &options, path, NULL, 0, digest[1]);
    assert_true(found.threshold == whole.threshold);
    assert_string_equal(digest[0], digest[1]);
    options = usual();
    options.scan = GBS_SCAN_AUTO;
    const gbs_report piloted = go(model, &options, NULL, NULL, 0, digest[0]);
    (void)go(model, &options, NULL, path, piloted.burn_in + 40, digest[1]);
    const gbs_report later = go(model, &options, path, NULL, 0, digest[1]);
    assert_string_equal(later.scan, piloted.scan);
    assert_int_equal(later.n_trials, 0);
    assert_string_equal(digest[0], digest[1]);
    gbs_model_free(model);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void foreign_checkpoints(void **state)
{
    (void)state;
    gbs_model *model = spins(0.3);
    gbs_model *other = spins(0.4);
    gbs_run_options options = usual();
    char digest[33];
    (void)go(model, &options, NULL, path, 100, digest);
    refused(other, &options, GBS_ERR_ARGUMENT, "model");
    options.seed = 8;
    refused(model, &options, GBS_ERR_ARGUMENT, "with --seed 1, this run has --seed 8");
    options = usual();
    options.scan = GBS_SCAN_SYSTEMATIC;
    refused(model, &options, GBS_ERR_ARGUMENT, "--scan");
    options = usual();
    options.sweeps = 10;
    refused(model, &options, GBS_ERR_ARGUMENT, "were kept already");
    uint32_t start[30] = {0};
    options = usual();
    options.start = start;
    refused(model, &options, GBS_ERR_ARGUMENT, "--start");
    gbs_model_free(other);
    gbs_model_free(model);
}

/* One run at a time writes a checkpoint, of two in this process too; a lock ends with its run, and
 * a file that is none is left alone. */
static void locked(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run[2] = {NULL, NULL};
    gbs_model *model = spins(0.3);
    const gbs_run_options options = usual();
    assert_int_equal(gbs_run_new(model, NULL, &options, &run[0], &err), GBS_OK);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run[1], &err), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run[0], path, &err), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run[1], path, &err), GBS_ERR_IO);
    assert_non_null(strstr(err.message, "another run that is at work writes this file"));
    gbs_run_free(run[0]);
    assert_int_equal(gbs_run_checkpoint(run[1], path, &err), GBS_OK);
    gbs_run_free(run[1]);
    gbs_model_free(model);
}

static void other_evidence(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run = NULL;
    char digest[33];
    gbs_model *model = spins(0.3);
    gbs_evidence *evidence = test_observe(model, 3);
    const gbs_run_options options = usual();
    (void)go(model, &options, NULL, path, 100, digest);
    assert_int_equal(gbs_run_new(model, evidence, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_resume(run, path, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "evidence"));
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* Bins and shift registers that follow from the length of the run. */
static void lengths_that_decide(void **state)
{
    (void)state;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    char digest[33];
    options.draw = GBS_DRAW_DISCRETIZED;
    (void)go(model, &options, NULL, path, 100, digest);
    options.sweeps = 3000;
    refused(model, &options, GBS_ERR_ARGUMENT, "bins follows from --sweeps");
    options = usual();
    options.draw = GBS_DRAW_CUD;
    options.sweeps = 63;
    (void)go(model, &options, NULL, path, 70, digest);
    options.sweeps = 127;
    refused(model, &options, GBS_ERR_ARGUMENT, "shift register follows from --sweeps");
    gbs_model_free(model);
}

/* ---- files ----------------------------------------------------------------------------------- */

static unsigned char *read_all(size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 1 << 20, file);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static void write_all(const unsigned char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, n, file) == n);
    assert_int_equal(fclose(file), 0);
}

static void damaged_files(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_checkpoint checkpoint = {.size = sizeof checkpoint};
    char digest[33];
    size_t n = 0;
    uint64_t random = 7;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    (void)go(model, &options, NULL, path, 100, digest);
    unsigned char *bytes = read_all(&n);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    for (int i = 0; i < 300; ++i) {
        const size_t at = (size_t)(next_random(&random) % n);
        const unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)(kept ^ (1 + next_random(&random) % 255));
        write_all(bytes, i % 3 == 2 ? at : n); /* changed, or cut there */
        bytes[at] = kept;
        assert_int_equal(gbs_run_resume(run, path, &err), GBS_ERR_FORMAT);
        assert_non_null(strstr(err.message, path));
        assert_int_equal(gbs_checkpoint_read(path, &checkpoint, &err), GBS_ERR_FORMAT);
    }
    (void)unlink(path);
    assert_int_equal(gbs_run_resume(run, path, &err), GBS_ERR_IO);
    assert_int_equal(gbs_run_resume(run, folder, &err), GBS_ERR_FORMAT);
    write_all(bytes, n);
    assert_int_equal(gbs_run_resume(run, path, &err), GBS_OK);
    gbs_run_free(run);
    free(bytes);
    gbs_model_free(model);
}

/* With a checksum that fits: made to do harm. A run is refused, fails, or ends as any other. */
static void forged_files(void **state)
{
    (void)state;
    char digest[33];
    size_t n = 0;
    uint64_t random = 11;
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    options.draw = GBS_DRAW_HERDED;
    (void)go(model, &options, NULL, path, 30, digest);
    unsigned char *bytes = read_all(&n);
    for (uint64_t i = 0; i < test_scaled(2000, 200, 50); ++i) {
        gbs_error err = {0};
        gbs_run *run = NULL;
        gbsi_digest *sum = NULL;
        const size_t end = i % 2 == 0 ? n - 32 : 1600; /* parts, or most of the text */
        const size_t at = 24 + (size_t)(next_random(&random) % (end - 24));
        const unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)(i % 4 == 1 ? '0' + next_random(&random) % 10
                                               : kept ^ (1 + next_random(&random) % 255));
        assert_int_equal(gbsi_digest_new(&sum, NULL), GBS_OK);
        gbsi_digest_bytes(sum, bytes, n - 32);
        gbsi_digest_text(sum, digest);
        gbsi_digest_free(sum);
        memcpy(bytes + n - 32, digest, 32);
        write_all(bytes, n);
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
        if (gbs_run_resume(run, path, &err) == GBS_OK) {
            assert_true(gbs_run_execute(run, NULL, &err) >= 0 || err.message[0] != '\0');
        }
        gbs_run_free(run);
        bytes[at] = kept;
    }
    free(bytes);
    gbs_model_free(model);
}

/* The one before stays, and says where the run stood. */
static void two_are_kept(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_checkpoint c = {.size = sizeof c};
    gbs_checkpoint before = {.size = sizeof before};
    gbs_run_options read = gbs_run_options_default();
    char digest[33];
    gbs_model *model = spins(0.3);
    gbs_run_options options = usual();
    options.burn_in = 20;
    (void)unlink(path);
    (void)unlink(older);
    (void)go(model, &options, NULL, path, 15, digest);
    assert_int_equal(gbs_checkpoint_read(older, &before, &err), GBS_OK);
    assert_true(before.burning_in && before.burn_in == 0 && before.sweeps == 0);
    assert_int_equal(gbs_checkpoint_read(path, &c, &err), GBS_OK);
    assert_true(c.burning_in && c.burn_in == 15 && c.chains == 16 && isnan(c.max_mcse));
    assert_string_equal(c.version, gbs_version());
    assert_string_equal(c.model, gbs_model_digest(model));
    (void)go(model, &options, path, path, 150, digest);
    assert_int_equal(gbs_checkpoint_read(older, &before, &err), GBS_OK);
    assert_true(before.burn_in == 15);
    assert_int_equal(gbs_checkpoint_read(path, &c, &err), GBS_OK);
    assert_true(!c.burning_in && c.burn_in == 20 && c.sweeps == 130 && c.max_mcse > 0.0);
    assert_int_equal(gbs_checkpoint_options(path, &read, &err), GBS_OK);
    assert_true(read.burn_in == 20 && read.sweeps == 300 && read.threads == 0);
    gbs_model_free(model);
}

static void places_that_cannot_be_written(void **state)
{
    (void)state;
    gbs_error err = {0};
    char missing[96];
    gbs_model *model = spins(0.3);
    const gbs_run_options options = usual();
    (void)snprintf(missing, sizeof missing, "%s/none/run.ckpt", folder);
    const char *const bad[] = {missing, folder, "/dev/null", "run.ckpt.gz"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        gbs_run *run = NULL;
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
        assert_true(gbs_run_checkpoint(run, bad[i], &err) < 0 ||
                    gbs_run_execute(run, NULL, &err) < 0);
        assert_non_null(strstr(err.message, bad[i]));
        gbs_run_free(run);
    }
    gbs_model_free(model);
}

/* The second of two runs is refused until the first was executed or is gone. */
static void one_run_at_a_time(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run[3] = {NULL, NULL, NULL};
    gbs_model *model = spins(0.3);
    const gbs_run_options options = usual();
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(gbs_run_new(model, NULL, &options, &run[i], &err), GBS_OK);
    }
    assert_int_equal(gbs_run_checkpoint(run[0], path, &err), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run[1], path, &err), GBS_ERR_IO);
    assert_non_null(strstr(err.message, "another run that is at work writes this file"));
    assert_int_equal(gbs_run_checkpoint(run[0], path, &err), GBS_OK); /* its own lock */
    assert_int_equal(gbs_run_execute(run[0], NULL, &err), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run[1], path, &err), GBS_OK);
    assert_int_equal(gbs_run_checkpoint(run[2], path, &err), GBS_ERR_IO);
    gbs_run_free(run[1]);
    assert_int_equal(gbs_run_checkpoint(run[2], path, &err), GBS_OK);
    gbs_run_free(run[2]);
    gbs_run_free(run[0]);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_at_a_time),    cmocka_unit_test(longer_runs),
        cmocka_unit_test(burn_in_goes_on),      cmocka_unit_test(short_burn_ins),
        cmocka_unit_test(other_short_burn_ins), cmocka_unit_test(smaller_errors),
        cmocka_unit_test(no_more_updates),      cmocka_unit_test(what_was_decided),
        cmocka_unit_test(foreign_checkpoints),  cmocka_unit_test(locked),
        cmocka_unit_test(other_evidence),       cmocka_unit_test(lengths_that_decide),
        cmocka_unit_test(damaged_files),        cmocka_unit_test(forged_files),
        cmocka_unit_test(two_are_kept),         cmocka_unit_test(places_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
