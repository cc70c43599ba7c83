/* SPDX-License-Identifier: Apache-2.0 */
/* Grows junction trees again from recorded splashes, and also computes these trees by elimination
 * for comparison. */
#include "lab/splash_trees.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* ---- elimination from scratch ---------------------------------------------------------------- */

/* Sets of earlier variables, in ascending order. Each variable has one set, in a row of
 * GBSI_SPLASH_WIDTH entries. */
typedef struct sets {
    uint32_t *member;
    uint32_t *n;
} sets;

static void insert(sets *s, uint32_t row, uint32_t v)
{
    uint32_t *set = s->member + (size_t)row * GBSI_SPLASH_WIDTH;
    uint32_t i = s->n[row];
    while (i > 0 && set[i - 1] > v) {
        i--;
    }
    if ((i > 0 && set[i - 1] == v) || s->n[row] == GBSI_SPLASH_WIDTH) {
        return;
    }
    memmove(set + i + 1, set + i, (s->n[row] - i) * sizeof *set);
    set[i] = v;
    s->n[row]++;
}

/* Eliminates n variables, beginning with the last variable. The neighbours of a variable at its
 * elimination are its separator, and become neighbours of one another. @param s in: earlier
 * neighbours of each variable; out: separator of each variable. */
static void eliminate(sets *s, uint32_t n)
{
    for (uint32_t v = n; v-- > 0;) {
        const uint32_t *set = s->member + (size_t)v * GBSI_SPLASH_WIDTH;
        for (uint32_t i = 0; i + 1 < s->n[v]; i++) {
            insert(s, set[s->n[v] - 1], set[i]);
        }
    }
}

static uint32_t count_unlike(const sets *s, const gbsi_growth *growth)
{
    uint32_t unlike = 0;
    for (uint32_t v = 0; v < growth->n; v++) {
        unlike += s->n[v] != growth->clique[v].n_separator ||
                  memcmp(s->member + (size_t)v * GBSI_SPLASH_WIDTH,
                         gbsi_growth_separator(growth, v), s->n[v] * sizeof *s->member) != 0;
    }
    return unlike;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Lists the earlier neighbours of pixel v by their numbers in the splash. @param near [4]. */
static uint32_t see_earlier(const uint32_t *pixel, uint32_t v, uint32_t columns, uint32_t *near)
{
    uint32_t n = 0;
    for (uint32_t u = 0; u < v; u++) {
        const uint32_t low = pixel[u] < pixel[v] ? pixel[u] : pixel[v];
        const uint32_t high = pixel[u] < pixel[v] ? pixel[v] : pixel[u];
        if (high - low == columns || (high - low == 1 && high % columns != 0)) {
            near[n++] = u;
        }
    }
    return n;
}

static void write_rows(lab_table *table, const gbsi_growth *growth, const uint32_t *pixel,
                       uint32_t columns)
{
    for (uint32_t v = 0; v < growth->n; v++) {
        const uint32_t *separator = gbsi_growth_separator(growth, v);
        const uint32_t m = growth->clique[v].n_separator;
        char text[8 * GBSI_SPLASH_WIDTH] = "";
        size_t used = 0;
        for (uint32_t i = 0; i < m; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? " " : "",
                                     separator[i]);
        }
        const uint32_t row = pixel[v] / columns;
        lab_table_text(table, "first come");
        LAB_ROW(table, NULL, NULL, growth->n, v, row, pixel[v] % columns,
                m > 0 ? separator[m - 1] : -1.0);
        table->comma = ",";
        lab_table_text(table, text);
        table->comma = "\n";
    }
}

static void remember(const gbsi_growth *growth, uint32_t *before)
{
    memset(before, 0xff, (size_t)growth->n * GBSI_SPLASH_WIDTH * sizeof *before);
    for (uint32_t v = 0; v < growth->n; v++) {
        memcpy(before + (size_t)v * GBSI_SPLASH_WIDTH, gbsi_growth_separator(growth, v),
               growth->clique[v].n_separator * sizeof *before);
    }
}

static void look_at(const gbsi_growth *growth, const uint32_t *before, const uint32_t *pixel,
                    uint32_t columns, lab_table *table, lab_splash_tree *tree)
{
    const uint32_t last = growth->n - 1;
    uint32_t width = 0;
    for (uint32_t v = 0; v < growth->n; v++) {
        const uint32_t m = growth->clique[v].n_separator;
        width = m > width ? m : width;
    }
    tree->variables[last] = growth->n;
    tree->width[last] = tree->widest = width;
    if (last >= LAB_TREE_SHOWN) {
        return;
    }
    tree->row[last] = pixel[last] / columns;
    tree->column[last] = pixel[last] % columns;
    lab_tree_stage_see(growth, before, tree);
    if (table != NULL) {
        write_rows(table, growth, pixel, columns);
    }
}

gbs_status lab_splash_tree_grow(const uint32_t *pixel, uint32_t n, uint32_t columns,
                                lab_table *table, lab_splash_tree *tree, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_growth growth = {0};
    const size_t room = (size_t)n * GBSI_SPLASH_WIDTH;
    sets s = {gbsi_alloc_array_zero(room, sizeof *s.member), gbsi_alloc_array_zero(n, sizeof *s.n)};
    uint32_t *before = gbsi_alloc_array(room, sizeof *before);
    tree->n = n;
    tree->variables = gbsi_alloc_array(n, sizeof *tree->variables);
    tree->width = gbsi_alloc_array(n, sizeof *tree->width);
    if (s.member == NULL || s.n == NULL || before == NULL || tree->variables == NULL ||
        tree->width == NULL) {
        status = gbsi_no_memory(err, "splash", 3 * room * sizeof *before);
        goto cleanup;
    }
    GBSI_TRY(gbsi_growth_init(&growth, GBSI_SPLASH_WIDTH, n, err));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t near[4];
        const uint32_t n_near = see_earlier(pixel, v, columns, near);
        for (uint32_t i = 0; i < n_near; i++) {
            insert(&s, v, near[i]);
        }
        remember(&growth, before);
        if (!gbsi_growth_extend(&growth, v, 2, n_near, near)) {
            status = gbsi_fail(err, GBS_ERR_LIMIT, "a splash is wider than %u", GBSI_SPLASH_WIDTH);
            goto cleanup;
        }
        look_at(&growth, before, pixel, columns, table, tree);
    }
    eliminate(&s, n);
    tree->differ = count_unlike(&s, &growth);
cleanup:
    gbsi_growth_free(&growth);
    GBSI_FREE(before, s.member, s.n);
    return status;
}

void lab_splash_tree_free(lab_splash_tree *tree)
{
    GBSI_FREE(tree->variables, tree->width);
    *tree = (lab_splash_tree){0};
}
