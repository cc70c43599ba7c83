/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a model asks several times whether to go on, in every kind of file, and ends when told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/test_builder.h"
#include "text/test_models.h"

typedef struct asked {
    int n, last;
} asked;

static int ask(void *context)
{
    asked *a = context;
    return ++a->n >= a->last;
}

static void each_format(void **state)
{
    static const char *const name[] = {"m.gbm",     "m.uai",  "m.uai.gz", "m.fg",
                                       "m.alchemy", "m.wcnf", "m.mln",    "m.gbm.gz"};
    enum { N = 60000 };
    (void)state;
    uint32_t *arity = malloc(N * sizeof *arity);
    for (uint32_t v = 0; v < N; v++) {
        arity[v] = 2;
    }
    gbs_builder *b = new_builder(N, arity);
    free(arity);
    for (uint32_t v = 0; v + 1 < N; v++) {
        const uint32_t scope[2] = {v, v + 1};
        const uint32_t wanted[2] = {1, 1};
        assert_int_equal(
            gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, scope, wanted, 0.5, NULL), GBS_OK);
    }
    gbs_model *model = build(b);
    gbs_builder_free(b);
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const char *path = scratch_path(name[i]);
        gbs_model *back = NULL;
        gbs_error err = {0};
        asked all = {0, 1 << 30};
        asked third = {0, 3};
        gbs_read_options options = {.size = sizeof options, .stop = ask, .stop_context = &all};
        if (gbs_model_write(model, path, NULL, &err) != GBS_OK ||
            gbs_model_read(path, &options, &back, &err) != GBS_OK) {
            /* the library for this format is missing */
            assert_int_equal(err.status, GBS_ERR_UNSUPPORTED);
            continue;
        }
        gbs_model_free(back);
        back = NULL;
        assert_true(all.n >= 3);
        options.stop_context = &third;
        assert_int_equal(gbs_model_read(path, &options, &back, &err), GBS_ERR_STOPPED);
        assert_true(back == NULL && third.n == 3);
        assert_non_null(strstr(err.message, "stopped while reading the "));
    }
    gbs_model_free(model);
    remove_scratch();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_format)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
