/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the rows of draws.def: traits, options and saved weights of each draw, with all keys, on
 * every instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "draw/herding.h"
#include "options/options.h"
#include "plan/draw.h"

enum {
    RANDOM = GBSI_DRAW_EXACT | GBSI_DRAW_INDEPENDENT | GBSI_DRAW_HEATS,
    HERDED = GBSI_DRAW_CONTEXT | GBSI_DRAW_TABLED | GBSI_DRAW_HERDS,
    BY_BINS = GBSI_DRAW_HERDS, /* keys by the conditional alone */
};

static const struct {
    const char *name;
    int keys; /* AUTO for the draw's own keys, or for none */
    unsigned traits;
} rows[] = {
    {"random", GBS_KEYS_AUTO, RANDOM},
    {"herded", GBS_KEYS_AUTO, HERDED},
    {"herded", GBS_KEYS_NEIGHBOURS, HERDED},
    {"herded", GBS_KEYS_SHARED, HERDED},
    {"herded", GBS_KEYS_SUM, HERDED},
    {"herded", GBS_KEYS_COMPLETE, HERDED},
    {"herded", GBS_KEYS_BINS, BY_BINS},
    {"herded", GBS_KEYS_ONE, BY_BINS},
    {"herded-shared", GBS_KEYS_AUTO, HERDED},
    {"herded-complete", GBS_KEYS_AUTO, HERDED},
    {"discretized", GBS_KEYS_AUTO, BY_BINS},
    {"one-bin", GBS_KEYS_AUTO, BY_BINS},
    {"randomly-discretized", GBS_KEYS_AUTO, BY_BINS | GBSI_DRAW_ROUNDS},
    {"bounded-error", GBS_KEYS_AUTO, HERDED | GBSI_DRAW_THRESHOLD},
    {"bounded-error", GBS_KEYS_COMPLETE, HERDED | GBSI_DRAW_THRESHOLD},
    {"bounded-error", GBS_KEYS_BINS, BY_BINS | GBSI_DRAW_THRESHOLD},
    {"cud", GBS_KEYS_AUTO, GBSI_DRAW_POSITION},
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void traits_of_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; ++i) {
        gbs_run_options options = gbs_run_options_default();
        test_row("%s, keys %d", rows[i].name, rows[i].keys);
        assert_int_equal(gbs_option_set(&options, "draw", rows[i].name, NULL), GBS_OK);
        options.keys = rows[i].keys;
        assert_int_equal(gbsi_draw_traits(&options), rows[i].traits);
        for (gbsi_simd set = 0; set < GBSI_N_SIMD; ++set) {
            if (gbsi_simd_has(set)) {
                assert_int_equal(gbsi_draw_of(&options, set)->traits, rows[i].traits);
            }
        }
    }
}

static void check_traits(const gbs_run_options *options)
{
    const gbsi_draw *draw = gbsi_draw_of(options, GBSI_SIMD_PORTABLE);
    const bool herds = (draw->traits & GBSI_DRAW_HERDS) != 0;
    assert_true(herds == (draw->n_weights != NULL));
    assert_true(herds == (draw->save != NULL && draw->load != NULL && draw->weave != NULL));
    assert_true(herds == (gbsi_herding_keys(options) != GBS_KEYS_AUTO));
    assert_true(herds == gbsi_option_is_named(draw->options, "keys"));
    const bool threshold = (draw->traits & GBSI_DRAW_THRESHOLD) != 0;
    assert_true(threshold == gbsi_option_is_named(draw->options, "threshold"));
    for (gbsi_simd set = 0; set < GBSI_N_SIMD; ++set) {
        assert_true(!gbsi_simd_has(set) || gbsi_draw_of(options, set)->traits == draw->traits);
    }
}

/* For every draw, and for every row above: weights are counted, saved and freed; keys and a
 * threshold are options of the draws that have them. */
static void what_traits_imply(void **state)
{
    (void)state;
    gbs_run_options options = gbs_run_options_default();
    for (options.draw = 0; options.draw < gbsi_n_draws(); ++options.draw) {
        assert_non_null(gbsi_draw_name(options.draw)); /* numbers have no gaps */
        test_row("%s", gbsi_draw_name(options.draw));
        check_traits(&options);
    }
    test_no_row();
    assert_null(gbsi_draw_name(gbsi_n_draws()));
    for (size_t i = 0; i < N_ROWS; ++i) {
        test_row("%s, keys %d", rows[i].name, rows[i].keys);
        assert_int_equal(gbs_option_set(&options, "draw", rows[i].name, NULL), GBS_OK);
        options.keys = rows[i].keys;
        check_traits(&options);
    }
}

/* Options of draws that no row describes: weights without keys, and an option of herding without
 * weights. */
static void options_that_apply(void **state)
{
    (void)state;
    static const char *const threshold[] = {"threshold", NULL};
    const gbsi_draw keyless = {.traits = GBSI_DRAW_HERDS};
    const gbsi_draw weightless = {.options = threshold};
    gbs_error err = {0};
    assert_int_equal(gbsi_draw_check_herding(&keyless, "own", "bins", &err), GBS_OK);
    assert_int_equal(gbsi_draw_check_herding(&keyless, "own", "keys", &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--keys: draw own has no keys");
    assert_int_equal(gbsi_draw_check_herding(&weightless, "own", "threshold", &err), GBS_OK);
    assert_int_equal(gbsi_draw_check_herding(&weightless, "own", "bins", &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--bins applies to herded draws only; choose one with --draw");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traits_of_rows),
        cmocka_unit_test(what_traits_imply),
        cmocka_unit_test(options_that_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
