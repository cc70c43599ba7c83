/* SPDX-License-Identifier: Apache-2.0 */
/* Compares sampled maximum likelihood with maximum likelihood by a junction tree, for rows with and
 * without missing values and for one row: the distance must agree with the stated error by chance.
 * Bits must be equal on any number of threads and after checkpoints. */
#include "learn/work.h"
#include "weights/testing.h"

enum { SETS = 12 };

/* Learns by sampling and by a junction tree. @param z2 += squared distances, in standard errors by
 * chance. */
static void compare(const gbs_model *start, const gbs_data *data, uint64_t steps, double *z2)
{
    const gbs_learn_options exact = {.size = sizeof exact, .objective = GBS_LEARN_LIKELIHOOD};
    const gbs_learn_options sampled = {.size = sizeof sampled,
                                       .objective = GBS_LEARN_SAMPLED,
                                       .chains = 50,
                                       .steps = steps,
                                       .seed = 5};
    gbs_model *learnt[2] = {NULL, NULL};
    double error[2][WEIGHTS];
    gbs_learn_report report = {.size = sizeof report};
    ok(gbs_learn_weights(start, data, &exact, NULL, error[0], &learnt[0], NULL, NULL));
    ok(gbs_learn_weights(start, data, &sampled, NULL, error[1], &learnt[1], &report, NULL));
    assert_true(report.converged && report.has_errors && report.rhat < 1.05);
    assert_true(report.chance > 0.0 && report.chance < 0.7);
    for (uint32_t k = 0; k < WEIGHTS; ++k) {
        const double away =
            gbs_model_weight(learnt[0], k, NULL) - gbs_model_weight(learnt[1], k, NULL);
        const double chance =
            report.chance * error[1][k]; /* upper bound of the error by chance of this weight */
        assert_true(k == 3 ? error[1][k] == 0.0 && away == 0.0 : fabs(away) < 4.5 * chance);
        assert_true(k == 3 || fabs(error[1][k] / error[0][k] - 1.0) < 0.5);
        *z2 += k == 3 ? 0.0 : away * away / (chance * chance);
    }
    gbs_model_free(learnt[0]);
    gbs_model_free(learnt[1]);
}

static void try_rows(uint32_t n_rows, uint32_t holes, uint64_t steps)
{
    const double starts[WEIGHTS] = {0.0, 0.0, 0.0, truth[3], 0.0};
    gbs_model *m = small_model(truth);
    gbs_model *start = NULL;
    double z2 = 0.0;
    ok(gbs_model_with_weights(m, starts, &start, NULL));
    for (int i = 0; i < SETS; ++i) {
        gbs_data *complete = drawn_rows(m, n_rows);
        gbs_data *data = with_holes(m, complete, holes);
        compare(start, data, steps, &z2);
        gbs_data_free(complete);
        gbs_data_free(data);
    }
    assert_true(z2 / (SETS * LEARNT) <
                1.6); /* the error by chance is stated for the weight with the largest one */
    gbs_model_free(start);
    gbs_model_free(m);
}

static void complete_rows(void **state)
{
    (void)state;
    try_rows(ROWS, 0, 800);
}

static void rows_with_holes(void **state)
{
    (void)state;
    try_rows(ROWS, 13, 800);
}

static void threads(void **state)
{
    (void)state;
    gbs_learn_options options = {
        .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .chains = 20, .steps = 60};
    gbs_model *m = small_model(truth);
    gbs_data *complete = drawn_rows(m, ROWS);
    gbs_data *data = with_holes(m, complete, 13);
    check_threads(m, complete, options);
    options.method = GBS_LEARN_RESTARTED;
    check_threads(m, data, options);
    gbs_data_free(complete);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

#define CHECKPOINT "sampled_test.ckpt"

typedef struct learning {
    const gbs_model *model;
    const gbs_data *data;
    gbs_learn_options options;
    stopping stop;
    double error[WEIGHTS];
    char digest[80];
    gbs_learn_report report;
} learning;

static gbs_status learn(learning *l, const char *write, const char *resume, uint64_t threads,
                        gbs_error *err)
{
    const gbs_checkpoint_files files = {.size = sizeof files, .write = write, .resume = resume};
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &l->stop, .progress = stop_now};
    gbs_model *learnt = NULL;
    l->stop.now = false;
    l->options.point = stop_see_step;
    l->options.point_context = &l->stop;
    l->options.checkpoints = &files;
    l->options.threads = threads;
    l->report.size = sizeof l->report;
    const gbs_status status = gbs_learn_weights(l->model, l->data, &l->options, &callbacks,
                                                l->error, &learnt, &l->report, err);
    if (learnt != NULL) {
        (void)snprintf(l->digest, sizeof l->digest, "%s", gbs_model_digest(learnt));
    }
    gbs_model_free(learnt);
    l->report.seconds = 0.0;
    return status;
}

static void same_end(const learning *found, const learning *expected)
{
    assert_string_equal(found->digest, expected->digest);
    assert_memory_equal(found->error, expected->error, sizeof found->error);
    assert_memory_equal(&found->report, &expected->report, sizeof found->report);
}

/* Runs n_steps without a stop; a run that is stopped in a step; a run that resumes with a
 * checkpoint after every draw; and runs from the last two of these checkpoints. */
static void go_on(const learning *ways, uint64_t stop_at, uint64_t n_steps, uint64_t threads)
{
    learning whole = *ways;
    learning parts = *ways;
    gbs_error err = {GBS_OK, ""};
    whole.stop.at = parts.stop.at = UINT64_MAX;
    ok(learn(&whole, NULL, NULL, threads, &err));
    assert_true(whole.report.iterations == n_steps);
    parts.stop.at = stop_at;
    assert_int_equal(learn(&parts, CHECKPOINT, NULL, 3 - threads, &err), GBS_STOPPED);
    assert_true(parts.report.iterations >= stop_at && !parts.report.has_errors);
    assert_true(isnan(parts.report.rhat) && isnan(parts.report.change));
    assert_string_not_equal(parts.digest, whole.digest);
    parts.stop.at = UINT64_MAX;
    parts.options.checkpoint_every_s = 1e-9;
    ok(learn(&parts, CHECKPOINT, CHECKPOINT, threads, &err));
    same_end(&parts, &whole);
    ok(learn(&parts, NULL, CHECKPOINT "~", 3, &err));
    same_end(&parts, &whole);
    ok(learn(&parts, NULL, CHECKPOINT, 1, &err));
    same_end(&parts, &whole);
}

static void checkpoints_go_on(void **state)
{
    (void)state;
    const double weak[WEIGHTS] = {0.1, -0.1, 0.1, 0.1, 0.1}; /* a scan can be optimised */
    const double every_s = gbsi_work_progress_s;
    gbs_model *m = small_model(weak);
    gbsi_work_progress_s = 0.0;
    gbs_data *complete = drawn_rows(m, ROWS);
    gbs_data *holes = with_holes(m, complete, 13);
    learning l = {
        .model = m,
        .data = holes,
        .options = {
            .size = sizeof l.options, .objective = GBS_LEARN_SAMPLED, .chains = 2000, .steps = 60}};
    l.data = complete;
    go_on(&l, 1, 15, 2); /* converged after a quarter */
    go_on(&l, 14, 15, 1);
    l.data = holes;
    l.options.chains = 10; /* too few to tell */
    go_on(&l, 14, 60, 1);
    go_on(&l, 15, 60, 2);
    go_on(&l, 50, 60, 1);
    l.options.method = GBS_LEARN_RESTARTED;
    go_on(&l, 20, 60, 1);
    l.options.scan = GBS_LEARN_SCAN_OPTIMISED;
    l.options.sweeps = 2;
    l.data = complete;
    go_on(&l, 33, 60, 2);
    gbsi_work_progress_s = every_s;
    gbs_data_free(holes);
    gbs_data_free(complete);
    gbs_model_free(m);
}

/* @param byte of the checkpoint that is changed. */
static void damage(long byte)
{
    FILE *file = fopen(CHECKPOINT, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, byte, SEEK_SET), 0);
    const int was = fgetc(file);
    assert_int_equal(fseek(file, byte, SEEK_SET), 0);
    assert_true(fputc(was ^ 1, file) != EOF && fclose(file) == 0);
}

static void refuse(learning *l, gbs_status status, const char *part)
{
    gbs_error err = {GBS_OK, ""};
    l->digest[0] = '\0';
    assert_int_equal(learn(l, NULL, CHECKPOINT, 1, &err), status);
    assert_non_null(strstr(err.message, part));
    assert_true(l->digest[0] == '\0');
}

static void checkpoints_that_do_not_fit(void **state)
{
    (void)state;
    const char *const foreign = CHECKPOINT ": found a checkpoint of other rows, other options, ";
    gbs_error err = {GBS_OK, ""};
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 20);
    gbs_data *others = drawn_rows(m, 20);
    learning l = {.model = m,
                  .data = data,
                  .options = {.size = sizeof l.options,
                              .objective = GBS_LEARN_SAMPLED,
                              .steps = 8,
                              .l2 = 1.0},
                  .stop.at = UINT64_MAX};
    ok(learn(&l, CHECKPOINT, NULL, 1, &err));
    l.options.seed = 9;
    refuse(&l, GBS_ERR_ARGUMENT, foreign);
    l.options.seed = 0;
    l.data = others;
    refuse(&l, GBS_ERR_ARGUMENT, foreign);
    l.data = data;
    l.options.checkpoint_every_s = -1.0;
    refuse(&l, GBS_ERR_ARGUMENT, "--checkpoint-every -1: must be at least 1e-09");
    l.options.checkpoint_every_s = 0.0;
    l.options.objective = GBS_LEARN_PSEUDO;
    refuse(&l, GBS_ERR_ARGUMENT, "--steps applies with --objective sampled only");
    l.options.steps = 0;
    refuse(&l, GBS_ERR_ARGUMENT, "none but with the sampled likelihood");
    l.options.objective = GBS_LEARN_SAMPLED;
    l.options.steps = 8;
    assert_int_equal(learn(&l, "/none/none", NULL, 1, &err), GBS_ERR_IO);
    damage(100);
    refuse(&l, GBS_ERR_FORMAT, CHECKPOINT ": ");
    assert_true(remove(CHECKPOINT) == 0 && remove(CHECKPOINT "~") == 0);
    gbs_data_free(others);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void same_bits_and_refusals(void **state)
{
    (void)state;
    gbs_learn_options options = {
        .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .l2 = 1.0, .steps = 40};
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 1); /* one row, with a penalty */
    gbs_model *learnt[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; ++i) {
        ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt[i], NULL, NULL));
    }
    assert_string_equal(gbs_model_digest(learnt[0]), gbs_model_digest(learnt[1]));
    gbs_model_free(learnt[0]);
    gbs_model_free(learnt[1]);
    options.chains = 1;
    gbs_model *none = NULL;
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &none, NULL, NULL),
                     GBS_ERR_ARGUMENT);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void without_memory_and(const gbs_checkpoint_files *files)
{
    const gbs_learn_options options = {.size = sizeof options,
                                       .objective = GBS_LEARN_SAMPLED,
                                       .chains = 4,
                                       .steps = 8,
                                       .checkpoints = files};
    seed = 7;
    gbs_model *m = small_model(truth);
    gbs_data *complete = drawn_rows(m, 20);
    gbs_data *data = with_holes(m, complete, 10);
    learn_without_memory(m, data, &options, UINT64_MAX);
    gbs_data_free(complete);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void without_memory(void **state)
{
    (void)state;
    without_memory_and(NULL);
    without_memory_and(&(gbs_checkpoint_files){.write = CHECKPOINT});
    without_memory_and(&(gbs_checkpoint_files){.resume = CHECKPOINT});
    assert_true(remove(CHECKPOINT) == 0 && remove(CHECKPOINT "~") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(complete_rows, restart),
        cmocka_unit_test_setup(rows_with_holes, restart),
        cmocka_unit_test_setup(threads, restart),
        cmocka_unit_test_setup(checkpoints_go_on, restart),
        cmocka_unit_test_setup(checkpoints_that_do_not_fit, restart),
        cmocka_unit_test_setup(same_bits_and_refusals, restart),
        cmocka_unit_test_setup(without_memory, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
