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

#include <gibbsite/generate.h>
#include <gibbsite/gibbsite.h>
#include <gibbsite/share.h>

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

/* Of spins, or of levels. */
typedef struct any_lattice {
    const gbs_generate_ising_options *ising;
    const gbs_generate_potts_options *potts;
} any_lattice;

static gbs_status generate(const any_lattice *l, gbs_model **model)
{
    return l->ising != NULL ? gbs_generate_ising(l->ising, model, NULL)
                            : gbs_generate_potts(l->potts, model, NULL);
}

static gbs_status divide(const any_lattice *l, uint32_t n_ranks, gbs_partition **partition,
                         gbs_error *err)
{
    return l->ising != NULL ? gbs_partition_new_of_ising(l->ising, n_ranks, partition, err)
                            : gbs_partition_new_of_potts(l->potts, n_ranks, partition, err);
}

/* @return how many numbers of ranks were not refused. */
static uint32_t check_lattice(const any_lattice *lattice, uint32_t most_ranks)
{
    gbs_model *model = NULL;
    uint32_t n_made = 0;
    assert_int_equal(generate(lattice, &model), GBS_OK);
    for (uint32_t n_ranks = 1; n_ranks <= most_ranks; ++n_ranks) {
        gbs_partition *whole = NULL;
        gbs_partition *formulas = NULL;
        const gbs_status status = divide(lattice, n_ranks, &formulas, NULL);
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
        n_made += check_lattice(&(any_lattice){.ising = &one}, i < 5 ? 7 : 4);
    }
    assert_true(n_made >= 25);
}

/* Levels 2 to 64, with and without data; couplings of both signs and none. */
static void shares_of_levels_are_those_of_the_model(void **state)
{
    (void)state;
    const gbs_generate_potts_options levels[] = {
        {.rows = 61, .columns = 77, .states = 2, .coupling = 0.8, .noise = 0.7},
        {.rows = 40, .columns = 36, .states = 3, .torus = 1, .coupling = 0.5, .noise = 1.0},
        {.rows = 120, .columns = 61, .states = 4, .coupling = -0.6, .noise = 1.1},
        {.rows = 20, .columns = 24, .layers = 22, .states = 5, .torus = 1, .noise = 1.5},
        {.rows = 33, .columns = 24, .layers = 37, .states = 6, .coupling = 0.4, .noise = 2.0},
        {.rows = 90, .columns = 80, .states = 7, .coupling = 1.0},
        {.rows = 260, .columns = 270, .states = 8, .torus = 1, .coupling = 0.5, .noise = 2.5},
        {.rows = 40, .columns = 20, .states = 64, .coupling = 0.5, .noise = 20.0},
        /* some conditionals are sums of logarithms, or all are */
        {.rows = 80, .columns = 90, .states = 2, .coupling = 2.5, .noise = 0.45},
        {.rows = 96, .columns = 100, .states = 5, .torus = 1, .coupling = 1.5, .noise = 1.0},
        {.rows = 32, .columns = 32, .layers = 48, .states = 8, .coupling = 2.0, .noise = 2.0},
        {.rows = 60, .columns = 80, .states = 3, .coupling = 12.0},
        {.rows = 60, .columns = 80, .states = 3, .torus = 1, .coupling = -12.0},
    };
    uint32_t n_made = 0;
    for (size_t i = 0; i < N_OF(levels); ++i) {
        gbs_generate_potts_options one = levels[i];
        one.seed = 5 + i;
        n_made += check_lattice(&(any_lattice){.potts = &one}, i == 6 ? 3 : 5);
    }
    assert_true(n_made >= 45);
}

static void check_variables(const any_lattice *lattice, uint32_t n, uint32_t arity)
{
    char path[] = "/tmp/gibbsite_variables_XXXXXX.gbm";
    gbs_partition *partition = NULL;
    gbs_model *variables = NULL;
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(divide(lattice, 2, &partition, NULL), GBS_OK);
    assert_int_equal(gbs_partition_write_variables(partition, path, NULL), GBS_OK);
    assert_int_equal(gbs_model_read(path, NULL, &variables, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_variables(variables), n);
    assert_int_equal(gbs_model_n_factors(variables), 0);
    for (uint32_t v = 0; v < n; ++v) {
        assert_int_equal(gbs_model_arity(variables, v), arity);
    }
    gbs_model_free(variables);
    gbs_partition_free(partition);
    assert_int_equal(unlink(path), 0);
}

static void variables_are_those_of_the_model(void **state)
{
    (void)state;
    const gbs_generate_ising_options spins = {.side = {40, 50, 1}, .coupling = 0.3};
    const gbs_generate_potts_options levels = {.rows = 40, .columns = 36, .states = 5};
    check_variables(&(any_lattice){.ising = &spins}, 2000, 2);
    check_variables(&(any_lattice){.potts = &levels}, 1440, 5);
}

static void check_refused(const any_lattice *lattice, uint32_t n_ranks, gbs_status status,
                          const char *reason)
{
    gbs_error err = {GBS_OK, ""};
    gbs_partition *partition = NULL;
    assert_int_equal(divide(lattice, n_ranks, &partition, &err), status);
    assert_non_null(strstr(err.message, reason));
    assert_null(partition);
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
        check_refused(&(any_lattice){.ising = &wrong[i].lattice}, wrong[i].n_ranks, wrong[i].status,
                      wrong[i].reason);
    }
}

static void other_levels_are_refused(void **state)
{
    (void)state;
    const struct {
        gbs_generate_potts_options levels;
        gbs_status status;
        const char *reason;
    } wrong[] = {
        {{.rows = 0, .columns = 40, .states = 3}, GBS_ERR_ARGUMENT, "every side must be 1 or more"},
        {{.rows = 40, .columns = 40}, GBS_ERR_ARGUMENT, "0 states"},
        {{.rows = 40, .columns = 40, .states = 1}, GBS_ERR_UNSUPPORTED, "one state"},
        {{.rows = 40, .columns = 40, .states = 65}, GBS_ERR_UNSUPPORTED, "more than 64 states"},
        {{.rows = 41, .columns = 40, .states = 3, .torus = 1}, GBS_ERR_UNSUPPORTED, "even length"},
        {{.rows = 40, .columns = 40, .states = 3, .noise = 0.1}, GBS_ERR_UNSUPPORTED, "too strong"},
        {{.rows = 40, .columns = 40, .states = 3, .noise = 1e-300},
         GBS_ERR_UNSUPPORTED,
         "too strong"},
        {{.rows = 40, .columns = 40, .states = 3, .coupling = 20.0},
         GBS_ERR_UNSUPPORTED,
         "too strong"},
    };
    for (size_t i = 0; i < N_OF(wrong); ++i) {
        check_refused(&(any_lattice){.potts = &wrong[i].levels}, 2, wrong[i].status,
                      wrong[i].reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_model),
        cmocka_unit_test(shares_of_levels_are_those_of_the_model),
        cmocka_unit_test(variables_are_those_of_the_model),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(other_levels_are_refused),
    };
    return cmocka_run_group_tests_name("lattice_shares", tests, NULL, NULL);
}
