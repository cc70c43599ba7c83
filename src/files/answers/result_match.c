/* SPDX-License-Identifier: Apache-2.0 */
/* Matches two results that list their variables or states in different orders, or of which one
 * has only some of the variables. */
#include <stdio.h>
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

/* ---- variables --------------------------------------------------------------------------- */

static bool same_names(const gbs_result *a, const gbs_result *b)
{
    bool same = gbsi_result_size(a) == gbsi_result_size(b);
    for (uint32_t i = 0; same && i < gbsi_result_size(a); i++) {
        same = strcmp(a->name[i], b->name[i]) == 0;
    }
    return same;
}

/* Reduces an array of texts to those of n variables, in the order of kept[]. Only the pointers
 * move, because the pointers and the texts behind them are one block of memory. */
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

gbs_status gbsi_result_keep_cells(gbs_result *r, const size_t *cells, size_t n, gbs_error *err)
{
    gbs_marginals *m = &r->marginals;
    gbs_status status = GBS_OK;
    double *p = gbsi_alloc_array(n + 1, sizeof *p);
    double *error = m->error == NULL ? NULL : gbsi_alloc_array(n + 1, sizeof *error);
    char **label = r->label == NULL ? NULL : gbsi_alloc_array(n + 1, sizeof *label);
    GBSI_TRY(GBSI_HAVE(err, "comparison", p));
    GBSI_TRY(m->error == NULL ? GBS_OK : GBSI_HAVE(err, "comparison", error));
    GBSI_TRY(r->label == NULL ? GBS_OK : GBSI_HAVE(err, "comparison", label));
    for (size_t i = 0; i < n; i++) {
        p[i] = m->p[cells[i]];
        if (error != NULL) {
            error[i] = m->error[cells[i]];
        }
        if (label != NULL) {
            label[i] = r->label[cells[i]];
        }
    }
    if (label != NULL && n > 0) { /* the texts follow the pointers in the same block */
        memcpy(r->label, label, n * sizeof *label);
    }
    GBSI_FREE(m->p, m->error, label);
    m->p = p;
    m->error = error;
    return GBS_OK;

cleanup:
    GBSI_FREE(p, error, label);
    return status;
}

static gbs_status keep_marginals(gbs_result *r, const uint32_t *kept, uint32_t n, gbs_error *err)
{
    const gbs_marginals *m = &r->marginals;
    gbs_status status = GBS_OK;
    size_t n_cells = 0;
    size_t *cells = gbsi_alloc_array(m->offset[m->n_variables] + 1, sizeof *cells);
    size_t *offset = gbsi_alloc_array_zero((size_t)n + 1, sizeof *offset);
    GBSI_TRY(GBSI_HAVE(err, "comparison", cells, offset));
    for (uint32_t i = 0; i < n; i++) {
        for (size_t at = m->offset[kept[i]]; at < m->offset[kept[i] + 1]; at++) {
            cells[n_cells++] = at;
        }
        offset[i + 1] = n_cells;
    }
    GBSI_TRY(gbsi_result_keep_cells(r, cells, n_cells, err));
    gbsi_free(r->marginals.offset);
    r->marginals.offset = offset;
    r->marginals.n_variables = n;
    offset = NULL;

cleanup:
    GBSI_FREE(cells, offset);
    return status;
}

gbs_status gbsi_result_keep(gbs_result *r, const uint32_t *kept, uint32_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *room = gbsi_alloc_array((size_t)n + 1, sizeof(char *));
    GBSI_TRY(GBSI_HAVE(err, "comparison", room));
    if (r->task == GBS_TASK_MAR) {
        GBSI_TRY(keep_marginals(r, kept, n, err));
    } else {
        keep_texts(r->label, kept, n, room);
        keep_numbers(r->state, kept, n, room);
        keep_numbers(r->variable, kept, n, room);
        r->n = n;
    }
    keep_texts(r->name, kept, n, room);

cleanup:
    gbsi_free(room);
    return status;
}

/* @param kept out: [2][variables of a] indices of the common variables in each of the two results.
 * @return the number of common variables. */
static uint32_t find_common(const gbs_result *a, const named *sorted, uint32_t n_sorted,
                            uint32_t *kept)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < gbsi_result_size(a); i++) {
        const named key = {a->name[i], 0};
        const named *found = bsearch(&key, sorted, n_sorted, sizeof key, by_name);
        if (found != NULL) {
            kept[n] = i;
            kept[gbsi_result_size(a) + n++] = found->at;
        }
    }
    return n;
}

/* Sorts the variables of a result by name. Refuses two variables with the same name.
 * @param sorted out: [variables + 1]. */
static gbs_status sort_names(const gbs_result *r, const char *which, named **sorted, gbs_error *err)
{
    const uint32_t n = gbsi_result_size(r);
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

/* ---- states ------------------------------------------------------------------------------ */

bool gbsi_are_numbers(char *const *text, size_t n)
{
    bool numbers = true;
    for (size_t i = 0; i < n && numbers; i++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%zu", i);
        numbers = strcmp(text[i], number) == 0;
    }
    return numbers;
}

/* Sorts the states of one variable by their labels. Refuses two states with the same label. */
static gbs_status sort_labels(const gbs_result *r, uint32_t variable, named *sorted, gbs_error *err)
{
    const size_t first = r->marginals.offset[variable];
    const size_t n = r->marginals.offset[variable + 1] - first;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (named){r->label[first + i], (uint32_t)i};
    }
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n; i++) {
        if (by_name(&sorted[i - 1], &sorted[i]) == 0) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "variable %.80s: found state %.80s again, expected each once",
                             r->name[variable], sorted[i].name);
        }
    }
    return GBS_OK;
}

static gbs_status other_states(const gbs_result *a, const gbs_result *b, uint32_t v,
                               const named *of_a, const named *of_b, gbs_error *err)
{
    const size_t n = a->marginals.offset[v + 1] - a->marginals.offset[v];
    const bool numbers_a = gbsi_are_numbers(a->label + a->marginals.offset[v], n);
    const bool numbers_b = gbsi_are_numbers(b->label + b->marginals.offset[v], n);
    size_t i = 0;
    while (strcmp(of_a[i].name, of_b[i].name) == 0) {
        i++;
    }
    /* Both lists are sorted. The smaller of two different names is therefore in one result only. */
    const bool in_a = strcmp(of_a[i].name, of_b[i].name) < 0;
    return numbers_a != numbers_b
               ? gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "variable %.80s: the %s result has numbers of states, the other labels "
                           "such as %.80s: their model is needed to compare them (--model)",
                           a->name[v], numbers_a ? "first" : "second",
                           numbers_a ? of_b[0].name : of_a[0].name)
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "variable %.80s: state %.80s is only in the %s result", a->name[v],
                           in_a ? of_a[i].name : of_b[i].name, in_a ? "first" : "second");
}

/* Finds the state of variable v in b for each state that v has in a.
 * @param sorted room for [2][states].
 * @param cells out: the cell of b for each state of a. */
static gbs_status find_states(const gbs_result *a, const gbs_result *b, uint32_t v, named *sorted,
                              size_t *cells, gbs_error *err)
{
    const size_t first = a->marginals.offset[v];
    const size_t n = a->marginals.offset[v + 1] - first;
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        cells[i] = first + i;
        same = same && strcmp(a->label[first + i], b->label[first + i]) == 0;
    }
    if (same) {
        return GBS_OK;
    }
    GBSI_PASS(sort_labels(a, v, sorted, err));
    GBSI_PASS(sort_labels(b, v, sorted + n, err));
    for (size_t i = 0; i < n; i++) {
        if (by_name(&sorted[i], &sorted[n + i]) != 0) {
            return other_states(a, b, v, sorted, sorted + n, err);
        }
        cells[sorted[i].at] = first + sorted[n + i].at;
    }
    return GBS_OK;
}

/* Puts the states of each variable of b into their order in a, if both have labels. */
static gbs_status match_states(const gbs_result *a, gbs_result *b, gbs_error *err)
{
    const gbs_marginals *m = &a->marginals;
    gbs_status status = GBS_OK;
    named *sorted = NULL;
    size_t *cells = NULL;
    if (a->task != GBS_TASK_MAR || a->label == NULL || b->label == NULL ||
        m->n_variables != b->marginals.n_variables ||
        memcmp(m->offset, b->marginals.offset, (m->n_variables + 1) * sizeof *m->offset) != 0) {
        return GBS_OK; /* the comparison itself reports different sizes */
    }
    cells = gbsi_alloc_array(m->offset[m->n_variables] + 1, sizeof *cells);
    sorted = gbsi_alloc_array(2 * m->offset[m->n_variables] + 1, sizeof *sorted);
    GBSI_TRY(GBSI_HAVE(err, "comparison", cells, sorted));
    for (uint32_t v = 0; v < m->n_variables; v++) {
        GBSI_TRY(find_states(a, b, v, sorted, cells + m->offset[v], err));
    }
    status = gbsi_result_keep_cells(b, cells, m->offset[m->n_variables], err);

cleanup:
    GBSI_FREE(cells, sorted);
    return status;
}

/* ---- variables and states ---------------------------------------------------------------- */

gbs_status gbs_results_match(gbs_result *a, gbs_result *b, uint32_t left_out[2], gbs_error *err)
{
    GBSI_NEED(a, b, left_out);
    gbs_status status = GBS_OK;
    const uint32_t n_a = gbsi_result_size(a);
    const uint32_t n_b = gbsi_result_size(b);
    named *sorted = NULL;
    named *sorted_a = NULL;
    uint32_t *kept = NULL;
    left_out[0] = left_out[1] = 0;
    if (a->name == NULL || b->name == NULL || a->task != b->task) {
        return GBS_OK;
    }
    if (same_names(a, b)) {
        return match_states(a, b, err);
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
    GBSI_TRY(gbsi_result_keep(a, kept, n, err));
    GBSI_TRY(gbsi_result_keep(b, kept + n_a, n, err));
    GBSI_TRY(match_states(a, b, err));
    left_out[0] = n_a - n;
    left_out[1] = n_b - n;

cleanup:
    GBSI_FREE(sorted, sorted_a, kept);
    return status;
}
