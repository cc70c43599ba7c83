/* SPDX-License-Identifier: Apache-2.0 */
/* A way of running is added by a file and a row. Linked here are the library and, from tests/door,
 * one more: the table of rows is compiled with its row, and nothing else knows of it. It is chosen
 * for the models that suit it, and has memory, checkpoints, a verdict and marginals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "chains/run.h"

static gbs_model *coins(void)
{
    static const uint32_t arity[] = {2, 3, 5};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, 3, arity, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static gbs_run *new_run(const gbs_model *model)
{
    gbs_run_options options = gbs_run_options_default();
    gbs_run *run = NULL;
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = 60;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    return run;
}

/* p of the first state of each variable, then the digest. */
static void answer(gbs_run *run, double p[3], char digest[33])
{
    double all[10];
    assert_int_equal(gbs_run_marginals(run, all, NULL, NULL, NULL, NULL), GBS_OK);
    p[0] = all[0];
    p[1] = all[2];
    p[2] = all[5];
    (void)snprintf(digest, 33, "%s", gbs_run_report(run)->digest);
}

static void runs(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = coins();
    gbs_run *run = new_run(model);
    double p[3];
    char digest[33];
    assert_string_equal(run->task.runner->name, "rotation");
    assert_true(gbs_run_report(run)->predicted_bytes >= 10 * sizeof(uint64_t));
    assert_int_equal(gbs_run_monitor(run, NULL, 0, &err), GBS_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "monitor: a rotation has no chains");
    assert_int_equal(gbs_run_marginals(run, p, NULL, NULL, NULL, &err), GBS_ERR_STATE);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_OK);
    answer(run, p, digest);
    assert_true(p[0] == 0.5 && p[1] == 20.0 / 60.0 && p[2] == 0.2);
    assert_string_equal(gbs_run_report(run)->method, "rotation");
    assert_string_equal(gbs_run_report(run)->verdict, "as good as exact");
    assert_string_equal(gbs_run_report(run)->stop, "sweeps");
    gbs_run_free(run);
    gbs_model_free(model);
}

/* It is asked for no model that has factors. */
static void leaves_others_alone(void **state)
{
    (void)state;
    const gbs_generate_ising_options how = {.side = {3, 3, 1}, .coupling = 0.2, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&how, &model, NULL), GBS_OK);
    gbs_run *run = new_run(model);
    assert_string_equal(run->task.runner->name, "chains");
    gbs_run_free(run);
    gbs_model_free(model);
}

/* A run that is stopped goes on to the same answer. */
static void goes_on(void **state)
{
    (void)state;
    char folder[] = "/tmp/gibbsite-rotation-XXXXXX";
    char path[64];
    gbs_model *model = coins();
    double p[3];
    double whole_p[3];
    char digest[33];
    char whole[33];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/run.ckpt", folder);
    gbs_run *run = new_run(model);
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
    answer(run, whole_p, whole);
    gbs_run_free(run);
    run = new_run(model);
    assert_int_equal(gbs_run_checkpoint(run, path, NULL), GBS_OK);
    run->checkpoints.stop_after = 17;
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_STOPPED);
    answer(run, p, digest);
    assert_string_not_equal(digest, whole);
    gbs_run_free(run);
    run = new_run(model);
    assert_int_equal(gbs_run_resume(run, path, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
    answer(run, p, digest);
    assert_string_equal(digest, whole);
    assert_memory_equal(p, whole_p, sizeof p);
    assert_true(gbs_run_report(run)->sweeps == 60);
    gbs_run_free(run);
    (void)unlink(path);
    (void)rmdir(folder);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs),
        cmocka_unit_test(leaves_others_alone),
        cmocka_unit_test(goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
