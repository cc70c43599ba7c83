/* SPDX-License-Identifier: Apache-2.0 */
/* Tests names that a format cannot hold. They are written in a legal form, with a warning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "text/test_models.h"

/* Names and labels that some format cannot hold. The legal forms of two of each would be equal. */
static const char *const VARIABLES[3] = {"Wind.speed", "Wind_speed", "2nd \"day\"/\xff"};
static const char *const LABELS[3][2] = {
    {"0", "1"}, {"caf\xc3\xa9", "caf_"}, {"so-so\\", "\"x\xef\xbf\xbe\""}};

static gbs_model *awkward_network(void)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    const uint32_t arity[3] = {2, 2, 2};
    const uint32_t scope[3][2] = {{0}, {0, 1}, {1, 2}};
    const double logw[4] = {-1.0, -2.0, -3.0, -0.5};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 3, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < 3; v++) {
        uint32_t table = 0;
        assert_int_equal(gbs_builder_name_variable(b, v, VARIABLES[v], NULL), GBS_OK);
        assert_int_equal(gbs_builder_label_states(b, v, LABELS[v], NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table(b, v == 0 ? 2 : 4, logw, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, v == 0 ? 1 : 2, scope[v], table, NULL),
                         GBS_OK);
    }
    gbs_builder_set_directed(b);
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static const struct {
    const char *file;
    const char *variable[3];
    const char *label[3][2]; /* NULL: the format has no labels */
    const char *warning;
} WRITTEN[] = {
    {"l.bif",
     {"Wind.speed", "Wind_speed", "2nd 'day'/\xc3\xbf"},
     {{"0", "1"}, {"caf\xc3\xa9", "caf_"}, {"so-so\\", "'x\xef\xbf\xbe'"}},
     "wrote 2 names in another form, as BIF files cannot hold them"},
    {"l.xml",
     {"Wind.speed", "Wind_speed", "2nd \"day\"/_"},
     {{"0", "1"}, {"caf\xc3\xa9", "caf_"}, {"so-so\\", "\"x_\""}},
     "wrote 2 names in another form, as XMLBIF files cannot hold them"},
    {"l.xdsl",
     {"Wind_speed_2", "Wind_speed", "x2nd__day___"},
     {{"s0", "s1"}, {"caf__2", "caf_"}, {"so_so_", "s_x__"}},
     "'Wind.speed' became 'Wind_speed_2'"},
    {"l.net",
     {"Wind_speed_2", "Wind_speed", "x2nd__day___"},
     {{"0", "1"}, {"caf\xc3\xa9", "caf_"}, {"so-so/", "'x\xef\xbf\xbe'"}},
     "wrote 4 names in another form, as NET files cannot hold them"},
    {"l.alchemy",
     {"Wind.speed", "Wind_speed", "2nd \"day\"_\xc3\xbf"},
     {{NULL, NULL}, {NULL, NULL}, {NULL, NULL}},
     NULL},
};
#define N_WRITTEN (sizeof WRITTEN / sizeof WRITTEN[0])

static void become_legal(void **state)
{
    (void)state;
    gbs_model *m = awkward_network();
    for (size_t i = 0; i < N_WRITTEN; i++) {
        test_row("%s", WRITTEN[i].file);
        if (!can_read(WRITTEN[i].file)) {
            continue;
        }
        gbs_error err = {0};
        gbs_model *back = NULL;
        warnings warned = {0};
        const gbs_write_options options = {.warn = take_warning, .context = &warned};
        const gbs_read_options lenient = {.lenient = 1};
        const char *path = scratch_path(WRITTEN[i].file);
        assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
        assert_true(warned.n >= 1);
        if (WRITTEN[i].warning != NULL && strstr(warned.last, WRITTEN[i].warning) == NULL) {
            fail_msg("%s", warned.last);
        }
        if (gbs_model_read(path, &lenient, &back, &err) != GBS_OK) {
            fail_msg("%s", err.message);
        }
        for (uint32_t v = 0; v < 3; v++) {
            assert_string_equal(gbs_model_variable_name(back, v), WRITTEN[i].variable[v]);
            for (uint32_t a = 0; a < 2 && WRITTEN[i].label[v][a] != NULL; a++) {
                assert_string_equal(gbs_model_state_label(back, v, a), WRITTEN[i].label[v][a]);
            }
        }
        gbs_model_free(back);
    }
    test_no_row();
    gbs_model_free(m);
}

/* If memory runs out, no file is left and no memory leaks. */
static void without_memory(void **state)
{
    (void)state;
    gbs_model *m = awkward_network();
    for (size_t i = 0; i < N_WRITTEN; i++) {
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t n = 0; status == GBS_ERR_MEMORY; n++) {
            gbsi_alloc_fail_after(n);
            status = gbs_model_write(m, scratch_path(WRITTEN[i].file), NULL, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
        }
        assert_int_equal(status, GBS_OK);
    }
    gbs_model_free(m);
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(become_legal),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, end);
}
