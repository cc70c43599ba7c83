/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether two results have the same variables, and how many states of two assignments
 * differ. */
#include <stdlib.h>
#include <string.h>

#include "answers/result.h"
#include "base/memory.h"
#include "base/plural.h"

/* Compares pairs of variable and state. Each pair is stored as one number, so pairs sort by
 * variable. */
static int compare_pairs(const void *a, const void *b)
{
    const uint64_t *p = a;
    const uint64_t *q = b;
    return *p < *q ? -1 : *p > *q;
}

/* Collects the pairs of variable and state of a result. If the result names no variables (MAP, or
 * only states), the index of a state in the list is taken as its variable. */
static gbs_status take_pairs(const gbs_result *result, bool by_place, uint64_t **pairs,
                             gbs_error *err)
{
    uint64_t *made = gbsi_alloc_array(result->n, sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "comparison", made));
    for (uint32_t i = 0; i < result->n; i++) {
        made[i] = (uint64_t)(by_place ? i : result->variable[i]) << 32 | result->state[i];
    }
    qsort(made, result->n, sizeof *made, compare_pairs);
    *pairs = made;
    return GBS_OK;
}

static gbs_status compare_sorted(const uint64_t *a, const uint64_t *b, uint32_t n,
                                 uint32_t *n_different, uint32_t *first, gbs_error *err)
{
    uint32_t found = 0;
    uint32_t at = 0;
    for (uint32_t i = n; i > 0; i--) {
        const uint32_t variable = (uint32_t)(a[i - 1] >> 32);
        if (variable != (uint32_t)(b[i - 1] >> 32)) {
            const uint32_t other = (uint32_t)(b[i - 1] >> 32);
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "only one of the results has a state of variable %u",
                             variable > other ? variable : other);
        }
        if (a[i - 1] != b[i - 1]) {
            found++;
            at = variable;
        }
    }
    *n_different = found;
    *first = at;
    return GBS_OK;
}

/* Counts the variables that a result names. */
static uint32_t n_named(const gbs_result *result)
{
    const uint32_t n = result->task == GBS_TASK_MAR ? result->marginals.n_variables : result->n;
    return result->name == NULL ? 0 : n;
}

/* @return the number of states of variable i in the marginals. */
static size_t n_states(const gbs_result *result, uint32_t i)
{
    return result->task == GBS_TASK_MAR
               ? result->marginals.offset[i + 1] - result->marginals.offset[i]
               : 0;
}

gbs_status gbs_result_check_names(const gbs_result *a, const gbs_result *b, gbs_error *err)
{
    GBSI_NEED(a, b);
    for (uint32_t i = 0; i < n_named(a) && i < n_named(b); i++) {
        if (strcmp(a->name[i], b->name[i]) != 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u is called %.80s and %.80s", i,
                             a->name[i], b->name[i]);
        }
        if (n_states(a, i) != n_states(b, i)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "variable %.80s has %zu state%s and %zu state%s", a->name[i],
                             n_states(a, i), gbsi_plural(n_states(a, i)), n_states(b, i),
                             gbsi_plural(n_states(b, i)));
        }
    }
    return GBS_OK;
}

/* Compares the labels of states if the numbers of the states are not known. */
static gbs_status compare_labels(const gbs_result *a, const gbs_result *b, uint32_t *n_different,
                                 uint32_t *first, gbs_error *err)
{
    if (a->label == NULL || b->label == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "one result has labels of states, the other numbers: their model is "
                         "needed to compare them (--model)");
    }
    *n_different = 0;
    *first = 0;
    for (uint32_t i = a->n; i > 0; i--) {
        if (strcmp(a->label[i - 1], b->label[i - 1]) != 0) {
            *n_different += 1;
            *first = i - 1;
        }
    }
    return GBS_OK;
}

static bool lacks_numbers(const gbs_result *result)
{
    for (uint32_t i = 0; i < result->n; i++) {
        if (result->state[i] == GBSI_NO_NUMBER) {
            return true;
        }
    }
    return false;
}

gbs_status gbs_result_count_different(const gbs_result *a, const gbs_result *b,
                                      uint32_t *n_different, uint32_t *first, gbs_error *err)
{
    GBSI_NEED(a, b, n_different, first);
    gbs_status status = GBS_OK;
    uint64_t *pairs_a = NULL;
    uint64_t *pairs_b = NULL;
    const bool assignments = a->task == GBS_TASK_MAP || a->task == GBS_TASK_MMAP;
    if (!assignments || a->task != b->task) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found results of %s and of %s",
                         gbs_task_word(a->task), gbs_task_word(b->task));
    }
    if (a->n != b->n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found states of %u and of %u variable%s", a->n,
                         b->n, gbsi_plural(b->n));
    }
    GBSI_TRY(gbs_result_check_names(a, b, err));
    if (lacks_numbers(a) || lacks_numbers(b)) {
        return compare_labels(a, b, n_different, first, err);
    }
    const bool by_place = a->variable == NULL || b->variable == NULL;
    GBSI_TRY(take_pairs(a, by_place, &pairs_a, err));
    GBSI_TRY(take_pairs(b, by_place, &pairs_b, err));
    status = compare_sorted(pairs_a, pairs_b, a->n, n_different, first, err);

cleanup:
    GBSI_FREE(pairs_a, pairs_b);
    return status;
}
