/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of lattices that are never made: those of the model, byte by byte, and so are the
 * variables; lattices that formulas are not right for are refused, with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <gibbsite/gibbsite.h>

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static void check_bytes(const gbs_partition *whole, const gbs_partition *formulas, uint32_t rank)
{
    gbs_share *share[2] = {NULL, NULL};
    void *bytes[2] = {NULL, NULL};
    size_t n[2] = {0, 1};
    assert_int_equal(gbs_partition_share(whole, rank, &share[0], NULL), GBS_OK);
    assert_int_equal(gbs_partition_share(formulas, rank, &share[1], NULL), GBS_OK);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(gbs_share_pack(share[i], &bytes[i], &n[i], NULL), GBS_OK);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    for (int i = 0; i < 2; ++i) {
        gbs_share_bytes_free(bytes[i]);
        gbs_share_free(share[i]);
    }
}

/* @return how many numbers of ranks were not refused. */
static uint32_t check_lattice(const gbs_generate_ising_options *lattice, uint32_t most_ranks)
{
    gbs_model *model = NULL;
    uint32_t n_made = 0;
    assert_int_equal(gbs_generate_ising(lattice, &model, NULL), GBS_OK);
    for (uint32_t n_ranks = 1; n_ranks <= most_ranks; ++n_ranks) {
        gbs_partition *whole = NULL;
        gbs_partition *formulas = NULL;
        const gbs_status status = gbs_partition_new_of_ising(lattice, n_ranks, &formulas, NULL);
        assert_true(status == GBS_OK || status == GBS_ERR_UNSUPPORTED);
        if (status < 0) {
            continue;
        }
        assert_int_equal(
            gbs_partition_new(model, NULL, NULL, n_ranks, GBS_PARTS_BISECTION, &whole, NULL),
            GBS_OK);
        assert_string_equal(gbs_partition_kind(formulas), "bisection");
        assert_int_equal(gbs_partition_find_starts(formulas, 4, NULL), GBS_OK);
        for (uint32_t rank = 0; rank < n_ranks; ++rank) {
            check_bytes(whole, formulas, rank);
        }
        ++n_made;
        gbs_partition_free(whole);
        gbs_partition_free(formulas);
    }
    gbs_model_free(model);
    return n_made;
}

/* Sides odd and even, open and closed, two and three; couplings alike or of their own; with and
 * without fields; above 65535 variables, where the whole may be put in another order. */
static void shares_are_those_of_the_model(void **state)
{
    (void)state;
    const gbs_generate_ising_options lattice[] = {
        {.side = {61, 77, 1}, .coupling = 0.3},
        {.side = {60, 64, 1}, .torus = 1, .coupling = 0.3, .coupling_spread = 0.1, .field = 0.5},
        {.side = {101, 99, 1}, .coupling = -0.3, .coupling_spread = 0.2, .random_field = 1.0},
        {.side = {22, 20, 24}, .torus = 1, .coupling = 0.2, .coupling_spread = 0.1},
        {.side = {23, 29, 31}, .coupling = 0.2, .random_field = 0.4},
        {.side = {260, 270, 1}, .torus = 1, .coupling = 0.2, .coupling_spread = 0.1},
        {.side = {41, 43, 47}, .coupling = 0.2, .coupling_spread = 0.1, .field = -0.1},
    };
    uint32_t n_made = 0;
    for (size_t i = 0; i < N_OF(lattice); ++i) {
        gbs_generate_ising_options one = lattice[i];
        one.seed = 5 + i;
        n_made += check_lattice(&one, i < 5 ? 7 : 4);
    }
    assert_true(n_made >= 25);
}

static void variables_are_those_of_the_model(void **state)
{
    (void)state;
    const gbs_generate_ising_options lattice = {.side = {40, 50, 1}, .coupling = 0.3};
    char path[] = "/tmp/gibbsite_variables_XXXXXX.gbm";
    gbs_partition *partition = NULL;
    gbs_model *variables = NULL;
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(gbs_partition_new_of_ising(&lattice, 2, &partition, NULL), GBS_OK);
    assert_int_equal(gbs_partition_write_variables(partition, path, NULL), GBS_OK);
    assert_int_equal(gbs_model_read(path, NULL, &variables, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_variables(variables), 2000);
    assert_int_equal(gbs_model_n_factors(variables), 0);
    for (uint32_t v = 0; v < 2000; ++v) {
        assert_int_equal(gbs_model_arity(variables, v), 2);
    }
    gbs_model_free(variables);
    gbs_partition_free(partition);
    assert_int_equal(unlink(path), 0);
}

static void others_are_refused(void **state)
{
    (void)state;
    const struct {
        gbs_generate_ising_options lattice;
        uint32_t n_ranks;
        gbs_status status;
        const char *reason;
    } wrong[] = {
        {{.side = {0, 5, 1}}, 1, GBS_ERR_ARGUMENT, "every side must be 1 or more"},
        {{.side = {40, 40, 1}}, 0, GBS_ERR_ARGUMENT, "0 parts"},
        {{.side = {40, 40, 1}, .coupling_spread = -1.0}, 2, GBS_ERR_ARGUMENT, "spread"},
        {{.side = {41, 40, 1}, .torus = 1}, 2, GBS_ERR_UNSUPPORTED, "expected an even length"},
        {{.side = {3, 400, 1}}, 2, GBS_ERR_UNSUPPORTED, "sides are too short"},
        {{.side = {10, 10, 1}}, 7, GBS_ERR_UNSUPPORTED, "do not balance"},
        {{.side = {100, 5000, 1}}, 2, GBS_ERR_UNSUPPORTED, "breadth-first"},
        {{.side = {65, 64, 100}}, 2, GBS_ERR_UNSUPPORTED, "breadth-first"},
        {{.side = {40, 40, 1}, .coupling = 5.0}, 2, GBS_ERR_UNSUPPORTED, "too strong"},
        {{.side = {40, 40, 1}, .coupling = 0x1p-1, .coupling_spread = 0x1p-54},
         2,
         GBS_ERR_UNSUPPORTED,
         "are the same and others are not"},
    };
    for (size_t i = 0; i < N_OF(wrong); ++i) {
        gbs_error err = {GBS_OK, ""};
        gbs_partition *partition = NULL;
        assert_int_equal(
            gbs_partition_new_of_ising(&wrong[i].lattice, wrong[i].n_ranks, &partition, &err),
            wrong[i].status);
        assert_non_null(strstr(err.message, wrong[i].reason));
        assert_null(partition);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_model),
        cmocka_unit_test(variables_are_those_of_the_model),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests_name("lattice_shares", tests, NULL, NULL);
}
