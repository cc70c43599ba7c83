/* SPDX-License-Identifier: Apache-2.0 */
/* Searches on random models of all kinds of factors, compared with a walk through all states. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "generate/random_models.h"
#include "satisfy/satisfy.h"

enum { MOST_HARD = 64 };
#define NO_LIMIT (UINT64_MAX / 2)

typedef struct fixture {
    gbs_model *model;
    size_t hard[MOST_HARD];
    uint32_t variable[MOST_VARIABLES];
    uint32_t number[MOST_VARIABLES];
    gbsi_hard_part part;
} fixture;

static void take_model(fixture *f, gbs_model *model)
{
    f->model = model;
    f->part = (gbsi_hard_part){.factors = &model->factors,
                               .arity = model->arity,
                               .factor = f->hard,
                               .variable = f->variable,
                               .n_variables = model->n_variables,
                               .number = f->number};
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        f->variable[v] = v;
    }
    for (size_t i = 0; i < model->factors.n_factors; ++i) {
        if (gbsi_factor_has_zeros(&model->factors, i)) {
            assert_true(f->part.n_factors < MOST_HARD);
            f->hard[f->part.n_factors++] = i;
        }
    }
}

/* Returns the hard factors that x violates, as bits. */
static uint64_t violated(const fixture *f, const uint32_t *x)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < f->part.n_factors; ++i) {
        bits |= (uint64_t)(gbsi_factor_value(&f->model->factors, f->model->arity, f->hard[i], x) ==
                           -INFINITY)
                << i;
    }
    return bits;
}

/* Returns whether some state violates none of the factors in `bits`. */
static bool is_possible(const fixture *f, uint64_t bits)
{
    uint32_t x[MOST_VARIABLES] = {0};
    do {
        if ((violated(f, x) & bits) == 0) {
            return true;
        }
    } while (next_assignment(f->model->n_variables, f->model->arity, x));
    return false;
}

static void check_draws(const fixture *f, gbsi_satisfier *s, uint64_t *seed)
{
    uint32_t first[2][MOST_VARIABLES];
    uint32_t x[MOST_VARIABLES];
    bool own = false;
    for (uint32_t draw = 0; draw < 6; ++draw) { /* equal starts give equal results */
        for (uint32_t v = 0; v < f->model->n_variables; ++v) {
            x[v] = draw == 5 ? first[0][v] : random_below(seed, f->model->arity[v]);
        }
        if (draw == 0) {
            memcpy(first[0], x, sizeof x);
        }
        const uint64_t before = violated(f, x);
        uint32_t old[MOST_VARIABLES];
        memcpy(old, x, sizeof x);
        assert_int_equal(gbsi_satisfier_draw(s, NO_LIMIT, x, &own, NULL), GBS_OK);
        assert_true(own);
        assert_true(violated(f, x) == 0);
        if (before == 0) { /* a state that violates nothing stays */
            assert_memory_equal(old, x, f->model->n_variables * sizeof *x);
        }
        if (draw == 0) {
            memcpy(first[1], x, sizeof x);
        }
    }
    assert_memory_equal(first[1], x, f->model->n_variables * sizeof *x);
}

static void check_conflict_set(const fixture *f)
{
    gbsi_conflict_set set = {0};
    assert_int_equal(gbsi_find_conflict_set(&f->part, NULL, NO_LIMIT, &set, NULL), GBS_OK);
    assert_true(set.n > 0 && set.minimal);
    uint64_t bits = 0;
    for (size_t k = 0; k < set.n; ++k) {
        size_t i = 0;
        while (f->hard[i] != set.factor[k]) {
            ++i;
        }
        bits |= (uint64_t)1 << i;
    }
    assert_false(is_possible(f, bits));
    for (size_t i = 0; i < f->part.n_factors; ++i) {
        if ((bits >> i & 1) != 0) {
            assert_true(is_possible(f, bits & ~((uint64_t)1 << i)));
        }
    }
    gbsi_free(set.factor);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t seed = 40;
    uint32_t n_possible = 0;
    uint32_t n_impossible = 0;
    const char *scale = getenv("GIBBSITE_TEST_SCALE");
    const uint32_t n = scale != NULL && strcmp(scale, "full") == 0 ? 100000 : 4000;
    for (uint32_t i = 0; i < n; ++i) {
        fixture f = {0};
        gbsi_satisfier *s = NULL;
        gbsi_satisfied result = GBSI_UNDECIDED;
        const random_size size = {MOST_VARIABLES, 5, 4 + i % 16, i % 3};
        take_model(&f, random_model_of(&seed, size, 20 + i % 50));
        assert_int_equal(gbsi_satisfier_new(&f.part, NULL, NO_LIMIT, &s, &result, NULL), GBS_OK);
        const bool possible = is_possible(&f, UINT64_MAX);
        assert_int_equal(result, possible ? GBSI_SATISFIED : GBSI_CONTRADICTED);
        n_possible += possible;
        n_impossible += !possible;
        if (possible) {
            check_draws(&f, s, &seed);
        } else {
            check_conflict_set(&f);
        }
        gbsi_satisfier_free(s);
        gbs_model_free(f.model);
    }
    assert_true(n_possible > n / 10 && n_impossible > n / 10);
}

/* A search that may take no operation gives up, and has then proved nothing. */
static void test_limit(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (uint32_t i = 0; i < 100; ++i) {
        fixture f = {0};
        gbsi_satisfier *s = NULL;
        gbsi_satisfied result = GBSI_SATISFIED;
        gbsi_conflict_set set = {0};
        take_model(&f, random_model_of(&seed, (random_size){MOST_VARIABLES, 5, 16, 2}, 40));
        assert_int_equal(gbsi_satisfier_new(&f.part, NULL, 0, &s, &result, NULL), GBS_OK);
        assert_true(result == GBSI_UNDECIDED || !is_possible(&f, UINT64_MAX) ||
                    f.part.n_factors == 0);
        gbsi_satisfier_free(s);
        assert_int_equal(gbsi_find_conflict_set(&f.part, NULL, 0, &set, NULL), GBS_OK);
        assert_true(set.n == 0 || !is_possible(&f, UINT64_MAX));
        gbsi_free(set.factor);
        gbs_model_free(f.model);
    }
}

/* Every request for memory may fail. */
static void test_out_of_memory(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (uint32_t i = 0; i < 20; ++i) {
        fixture f = {0};
        gbs_status status = GBS_ERR_MEMORY;
        take_model(&f, random_model_of(&seed, (random_size){MOST_VARIABLES, 5, 16, 2}, 40));
        for (uint64_t n = 0; status == GBS_ERR_MEMORY; ++n) {
            gbsi_satisfier *s = NULL;
            gbsi_satisfied result = GBSI_UNDECIDED;
            gbsi_conflict_set set = {0};
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            status = gbsi_satisfier_new(&f.part, NULL, NO_LIMIT, &s, &result, &err);
            if (status == GBS_OK && result == GBSI_CONTRADICTED) {
                status = gbsi_find_conflict_set(&f.part, NULL, NO_LIMIT, &set, &err);
            }
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true((status == GBS_OK) == (err.message[0] == '\0'));
            gbsi_satisfier_free(s);
            gbsi_free(set.factor);
        }
        assert_int_equal(status, GBS_OK);
        gbs_model_free(f.model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
