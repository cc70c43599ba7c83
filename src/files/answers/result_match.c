/* SPDX-License-Identifier: Apache-2.0 */
/* Two results of the same variables in another order, or of some of them. */
#include <stdlib.h>
#include <string.h>

#include "answers/answers.h"
#include "answers/result.h"
#include "base/memory.h"
#include "base/status.h"

typedef struct named {
    const char *name;
    uint32_t at;
} named;

static int by_name(const void *left, const void *right)
{
    return strcmp(((const named *)left)->name, ((const named *)right)->name);
}

static uint32_t size_of(const gbs_result *r)
{
    return r->task == GBS_TASK_MAR ? r->marginals.n_variables : r->n;
}

static bool same_names(const gbs_result *a, const gbs_result *b)
{
    bool same = size_of(a) == size_of(b);
    for (uint32_t i = 0; same && i < size_of(a); i++) {
        same = strcmp(a->name[i], b->name[i]) == 0;
    }
    return same;
}

/* The texts lie behind their pointers, in one block. */
static void keep_texts(char **text, const uint32_t *kept, uint32_t n, char **room)
{
    for (uint32_t i = 0; text != NULL && i < n; i++) {
        room[i] = text[kept[i]];
    }
    if (text != NULL && n > 0) {
        memcpy(text, room, n * sizeof *text);
    }
}

static void keep_numbers(uint32_t *number, const uint32_t *kept, uint32_t n, uint32_t *room)
{
    for (uint32_t i = 0; number != NULL && i < n; i++) {
        room[i] = number[kept[i]];
    }
    if (number != NULL && n > 0) {
        memcpy(number, room, n * sizeof *number);
    }
}

/* @param of probabilities or errors, NULL: there are none. */
static gbs_status kept_cells(const gbs_marginals *m, const double *of, const uint32_t *kept,
                             uint32_t n, double **made, gbs_error *err)
{
    size_t at = 0;
    *made = of == NULL ? NULL : gbsi_alloc_array(m->offset[m->n_variables] + 1, sizeof **made);
    if (of == NULL) {
        return GBS_OK;
    }
    GBSI_PASS(GBSI_HAVE(err, "comparison", *made));
    for (uint32_t i = 0; i < n; i++) {
        const size_t first = m->offset[kept[i]];
        const size_t size = m->offset[kept[i] + 1] - first;
        memcpy(*made + at, of + first, size * sizeof **made);
        at += size;
    }
    return GBS_OK;
}

static gbs_status keep_marginals(gbs_marginals *m, const uint32_t *kept, uint32_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_marginals made = {.n_variables = n};
    made.offset = gbsi_alloc_array_zero((size_t)n + 1, sizeof *made.offset);
    GBSI_TRY(GBSI_HAVE(err, "comparison", made.offset));
    for (uint32_t i = 0; i < n; i++) {
        made.offset[i + 1] = made.offset[i] + m->offset[kept[i] + 1] - m->offset[kept[i]];
    }
    GBSI_TRY(kept_cells(m, m->p, kept, n, &made.p, err));
    GBSI_TRY(kept_cells(m, m->error, kept, n, &made.error, err));
    gbs_marginals_free(m);
    *m = made;
    return GBS_OK;

cleanup:
    gbs_marginals_free(&made);
    return status;
}

static gbs_status keep(gbs_result *r, const uint32_t *kept, uint32_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *room = gbsi_alloc_array((size_t)n + 1, sizeof(char *));
    GBSI_TRY(GBSI_HAVE(err, "comparison", room));
    if (r->task == GBS_TASK_MAR) {
        GBSI_TRY(keep_marginals(&r->marginals, kept, n, err));
    }
    keep_texts(r->name, kept, n, room);
    keep_texts(r->label, kept, n, room);
    keep_numbers(r->state, kept, n, room);
    keep_numbers(r->variable, kept, n, room);
    r->n = r->task == GBS_TASK_MAR ? r->n : n;

cleanup:
    gbsi_free(room);
    return status;
}

/* @param kept out: [2][variables of the first] places in both. @return the number of common
 * variables. */
static uint32_t find_common(const gbs_result *a, const named *sorted, uint32_t n_sorted,
                            uint32_t *kept)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < size_of(a); i++) {
        const named key = {a->name[i], 0};
        const named *found = bsearch(&key, sorted, n_sorted, sizeof key, by_name);
        if (found != NULL) {
            kept[n] = i;
            kept[size_of(a) + n++] = found->at;
        }
    }
    return n;
}

/* Sorts the variables of a result by name. Refuses two of the same name.
 * @param sorted out: [variables + 1]. */
static gbs_status sort_names(const gbs_result *r, const char *which, named **sorted, gbs_error *err)
{
    const uint32_t n = size_of(r);
    *sorted = gbsi_alloc_array((size_t)n + 1, sizeof **sorted);
    GBSI_PASS(GBSI_HAVE(err, "comparison", *sorted));
    for (uint32_t i = 0; i < n; i++) {
        (*sorted)[i] = (named){r->name[i], i};
    }
    qsort(*sorted, n, sizeof **sorted, by_name);
    for (uint32_t i = 1; i < n; i++) {
        if (by_name(&(*sorted)[i - 1], &(*sorted)[i]) == 0) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "the %s result: found variable %.80s again, expected each once", which,
                             (*sorted)[i].name);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_results_match(gbs_result *a, gbs_result *b, uint32_t left_out[2], gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_a = size_of(a);
    const uint32_t n_b = size_of(b);
    named *sorted = NULL;
    named *sorted_a = NULL;
    uint32_t *kept = NULL;
    left_out[0] = left_out[1] = 0;
    if (a->name == NULL || b->name == NULL || same_names(a, b)) {
        return GBS_OK;
    }
    kept = gbsi_alloc_array(2 * (size_t)n_a + 1, sizeof *kept);
    GBSI_TRY(GBSI_HAVE(err, "comparison", kept));
    GBSI_TRY(sort_names(a, "first", &sorted_a, err));
    GBSI_TRY(sort_names(b, "second", &sorted, err));
    const uint32_t n = find_common(a, sorted, n_b, kept);
    if (n == 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "no variable is in both results: the first begins with %.80s, the "
                           "second with %.80s",
                           n_a > 0 ? a->name[0] : "none", n_b > 0 ? b->name[0] : "none"));
    }
    GBSI_TRY(keep(a, kept, n, err));
    GBSI_TRY(keep(b, kept + n_a, n, err));
    left_out[0] = n_a - n;
    left_out[1] = n_b - n;

cleanup:
    GBSI_FREE(sorted, sorted_a, kept);
    return status;
}
