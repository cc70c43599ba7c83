/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one set of draws from tables in the formats of different programs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "gibbsite/diagnose.h"
#include "text/test_models.h"

/* Two chains of two draws: a is 1 2 | 3 4, b is 0 1 | 1 0. */
static const struct {
    const char *row, *text;
} written[] = {
    {"plain", "chain,draw,a,b\n1,1,1,0\n1,2,2,1\n2,1,3,1\n2,2,4,0\n"},
    {"turned", "chain,draw,a,b\n2,2,4,0\n1,2,2,1\n2,1,3,1\n1,1,1,0\n"},
    {"posterior", "a,b,.chain,.iteration,.draw\n1,0,1,1,1\n2,1,1,2,2\n3,1,2,1,3\n4,0,2,2,4\n"},
    {"chains with labels", "Chain;a;b\nx;1,0;off\ny;3,0;on\nx;2,0;on\ny;4,0;off\n"},
    {"index and quotes", "\"\",\"chain\",\"a\",\"b\"\n\"1\",10,1,\"no\"\n\"2\",10,2,\"yes\"\n"
                         "\"3\",20,3,\"yes\"\n\"4\",20,4,\"no\"\n"},
    {"own draws", "chain,draw,lp,iter,b\n0,0,1,1,0\n1,0,3,3,1\n0,1,2,2,1\n1,1,4,4,0\n"},
    {"cmdstanpy", "chain__,iter__,draw__,stepsize__,a,b\n1,1,1,.5,1,0\n1,2,2,.5,2,1\n2,1,3,.5,3,1\n"
                  "2,2,4,.5,4,0\n"},
};

static gbs_status read_text(const char *text, gbs_draws **draws, gbs_error *err)
{
    const char *const path[1] = {scratch_file("d.csv", text)};
    *err = (gbs_error){GBS_OK, ""};
    return gbs_draws_read(path, 1, NULL, draws, err);
}

static void one_set_of_draws(void **state)
{
    (void)state;
    static const double a[4] = {1, 2, 3, 4};
    static const double b[4] = {0, 1, 1, 0};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        test_row("%s", written[i].row);
        gbs_error err;
        gbs_draws *draws = NULL;
        const gbs_status status = read_text(written[i].text, &draws, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(status, GBS_OK);
        assert_int_equal(gbs_draws_n_chains(draws), 2);
        assert_int_equal(gbs_draws_n_draws(draws), 2);
        const bool own = strcmp(written[i].row, "own draws") == 0; /* lp and iter are as a */
        const size_t n = gbs_draws_n_quantities(draws);
        assert_int_equal(n, own ? 3 : 2);
        assert_string_equal(gbs_draws_name(draws, n - 2), own ? "iter" : "a");
        assert_string_equal(gbs_draws_name(draws, n - 1), "b");
        assert_memory_equal(gbs_draws_values(draws, 0), a, sizeof a);
        assert_memory_equal(gbs_draws_values(draws, n - 2), a, sizeof a);
        assert_memory_equal(gbs_draws_values(draws, n - 1), b, sizeof b);
        gbs_draws_free(draws);
    }
    test_no_row();
}

static void what_is_missing_is_no_number(void **state)
{
    (void)state;
    gbs_error err;
    gbs_draws *draws = NULL;
    assert_int_equal(read_text("a,b\n1,NA\n?,on\n\n3,off\n", &draws, &err), GBS_OK);
    assert_int_equal(gbs_draws_n_draws(draws), 3);
    assert_true(isnan(gbs_draws_values(draws, 0)[1]) && isnan(gbs_draws_values(draws, 1)[0]));
    assert_true(gbs_draws_values(draws, 1)[1] == 1.0 && gbs_draws_values(draws, 1)[2] == 0.0);
    gbs_draws_free(draws);
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t i = 0; status < 0; i++) {
        gbs_error err;
        gbs_draws *draws = NULL;
        gbsi_alloc_fail_after(i);
        status = read_text(written[3].text, &draws, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        assert_int_equal(status == GBS_OK, draws != NULL);
        gbs_draws_free(draws);
        assert_true(i < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_set_of_draws),
        cmocka_unit_test(what_is_missing_is_no_number),
        cmocka_unit_test(memory_runs_out),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_scratch();
    return failed;
}
