/* SPDX-License-Identifier: Apache-2.0 */
/* Elimination on random systems of parities, compared with a walk through all states. */
#include "satisfy/parity.h"

#include <string.h>

#include "base/memory.h"
#include "satisfy/parity_testing.h"

enum { MOST_COLUMNS = 12, MOST_ROWS = 16 };
#define NO_LIMIT (UINT64_MAX / 2)

typedef struct fixture {
    gbs_model *model;
    size_t hard[MOST_ROWS];
    uint32_t variable[MOST_COLUMNS];
    uint32_t number[MOST_COLUMNS];
    gbsi_hard_part part;
} fixture;

static void take_model(fixture *f, gbs_model *model)
{
    *f = (fixture){.model = model};
    f->part = (gbsi_hard_part){.factors = &model->factors,
                               .arity = model->arity,
                               .factor = f->hard,
                               .variable = f->variable,
                               .n_variables = model->n_variables,
                               .number = f->number};
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        f->variable[v] =
            model->n_variables - 1 - v; /* columns need not have the order of variables */
    }
    for (size_t i = 0; i < model->factors.n_factors; ++i) {
        if (gbsi_factor_has_zeros(&model->factors, i)) {
            assert_true(f->part.n_factors < MOST_ROWS);
            f->hard[f->part.n_factors++] = i;
        }
    }
}

/* Returns whether x violates one of the hard factors, factor `without` left out. */
static bool is_violated(const fixture *f, const uint32_t *x, size_t without)
{
    for (size_t i = 0; i < f->part.n_factors; ++i) {
        if (f->hard[i] != without &&
            gbsi_factor_value(&f->model->factors, f->model->arity, f->hard[i], x) == -INFINITY) {
            return true;
        }
    }
    return false;
}

static uint64_t count_states(const fixture *f, size_t without)
{
    uint32_t x[MOST_COLUMNS] = {0};
    uint64_t n = 0;
    do {
        n += !is_violated(f, x, without);
    } while (next_assignment(f->model->n_variables, f->model->arity, x));
    return n;
}

static void take_state(const fixture *f, uint64_t bits, uint32_t *x)
{
    for (uint32_t c = 0; c < f->part.n_variables; ++c) {
        x[f->variable[c]] = gbsi_bit(&bits, c);
    }
}

/* Every solution keeps the free columns that were asked for, and every word leads from one solution
 * to another. */
static void check_solutions(const fixture *f, const gbsi_parity *p, uint64_t *seed)
{
    uint64_t basis[MOST_COLUMNS];
    uint32_t x[MOST_COLUMNS];
    const uint64_t asked = random_below(seed, (uint32_t)1 << p->n_columns);
    uint64_t bits = asked;
    assert_int_equal(p->rank + p->n_free, p->n_columns);
    assert_true(count_states(f, SIZE_MAX) == (uint64_t)1 << p->n_free);
    gbsi_parity_solve(p, true, &bits);
    for (uint32_t k = 0; k < p->n_free; ++k) {
        assert_true(gbsi_bit(&bits, p->free[k]) == gbsi_bit(&asked, p->free[k]));
    }
    take_state(f, bits, x);
    assert_false(is_violated(f, x, SIZE_MAX));
    gbsi_parity_basis(p, NULL, basis);
    uint64_t sums[1 << MOST_COLUMNS] = {0};
    uint64_t n = 1;
    for (uint32_t k = 0; k < p->n_free; ++k) {
        assert_true(k == 0 || __builtin_popcountll(basis[k - 1]) <= __builtin_popcountll(basis[k]));
        take_state(f, bits ^ basis[k], x);
        assert_false(is_violated(f, x, SIZE_MAX));
        for (uint64_t i = 0; i < n; ++i) { /* the words are independent */
            assert_true((sums[i] ^ basis[k]) != 0);
            sums[n + i] = sums[i] ^ basis[k];
        }
        n *= 2;
    }
}

static void check_conflict(const fixture *f, const gbsi_parity *p)
{
    fixture of_set = *f;
    gbsi_conflict_set set = {0};
    assert_int_equal(gbsi_parity_conflict(p, &set, NULL), GBS_OK);
    assert_true(set.n > 0 && set.minimal);
    memcpy(of_set.hard, set.factor, set.n * sizeof *set.factor);
    of_set.part.n_factors = set.n;
    assert_true(count_states(&of_set, SIZE_MAX) == 0);
    for (size_t k = 0; k < set.n; ++k) {
        assert_true(k == 0 || set.factor[k - 1] < set.factor[k]);
        assert_true(count_states(&of_set, set.factor[k]) > 0);
    }
    gbsi_free(set.factor);
}

static void against_enumeration(void **state)
{
    (void)state;
    uint64_t seed = 97;
    uint32_t n_solved = 0;
    uint32_t n_contradicted = 0;
    for (uint32_t i = 0; i < 300; ++i) {
        fixture f;
        gbsi_parity *p = NULL;
        take_model(&f, random_parities(&seed, 2 + random_below(&seed, MOST_COLUMNS - 1),
                                       1 + random_below(&seed, MOST_ROWS), 0));
        assert_int_equal(gbsi_parity_new(&f.part, NULL, NO_LIMIT, &p, NULL), GBS_OK);
        if (p == NULL) { /* every factor of the model allows all states */
            assert_int_equal(f.part.n_factors, 0);
        } else if (p->contradicts == GBSI_NONE) {
            assert_true(p->alone);
            ++n_solved;
            check_solutions(&f, p, &seed);
        } else {
            ++n_contradicted;
            check_conflict(&f, p);
        }
        gbsi_parity_free(p);
        gbs_model_free(f.model);
    }
    assert_true(n_solved > 50 && n_contradicted > 50);
}

/* A factor of any kind is an equation only if all states that it allows, and no others, are a
 * coset of half of all states. */
static void reads_only_parities(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint32_t n_parities = 0;
    for (uint32_t i = 0; i < 3000; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){6, 3, 4, 1}, 40);
        for (size_t f = 0; f < model->factors.n_factors; ++f) {
            uint32_t x[MOST_VARIABLES] = {0};
            uint64_t n = 0;
            uint64_t n_allowed = 0;
            double least = INFINITY;
            double most = -INFINITY;
            bool flat = false;
            if (!gbsi_is_parity(&model->factors, model->arity, f, &flat)) {
                continue;
            }
            ++n_parities;
            do {
                const double value = gbsi_factor_value(&model->factors, model->arity, f, x);
                ++n;
                n_allowed += value > -INFINITY;
                least = value > -INFINITY && value < least ? value : least;
                most = value > most ? value : most;
            } while (next_assignment(model->n_variables, model->arity, x));
            assert_true(2 * n_allowed == n);
            assert_true(flat == (least == most));
        }
        gbs_model_free(model);
    }
    assert_true(n_parities > 100);
}

/* An elimination that may read no word has no result, and every request for memory may fail. */
static void limits(void **state)
{
    (void)state;
    uint64_t seed = 3;
    fixture f;
    gbsi_parity *p = NULL;
    take_model(&f, random_parities(&seed, 10, 8, 0));
    assert_int_equal(gbsi_parity_new(&f.part, NULL, 0, &p, NULL), GBS_OK);
    assert_null(p);
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status == GBS_ERR_MEMORY; ++n) {
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = gbsi_parity_new(&f.part, NULL, NO_LIMIT, &p, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((status == GBS_OK) == (p != NULL) && (p != NULL) == (err.message[0] == '\0'));
    }
    assert_int_equal(status, GBS_OK);
    gbsi_parity_free(p);
    gbs_model_free(f.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_enumeration),
        cmocka_unit_test(reads_only_parities),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
