/* SPDX-License-Identifier: Apache-2.0 */
/* Grows junction trees again from recorded splashes, and also computes these trees by elimination
 * for comparison. */
#include "lab/splash_trees.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "splash/splash_tree.h"

/* kinds of cells in a row of the picture of a stage */
enum { NOTHING, SEPARATOR, OWN, ADDED, N_CELLS };

#define SIDE 192u /* side of a picture in pixels, a multiple of every number of cells */

static const uint32_t stage_size[LAB_TREE_STAGES] = {8, 16, 32};
const char *const lab_tree_stage_name[LAB_TREE_STAGES] = {"cliques of 8 pixels", "of 16 pixels",
                                                          "of 32 pixels"};

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

/* Role of variable u in clique v. */
static uint32_t cell_of(const gbsi_growth *growth, const uint32_t *before, uint32_t v, uint32_t u)
{
    const bool is_last = v + 1 == growth->n;
    const uint32_t *separator = gbsi_growth_separator(growth, v);
    bool was = false;
    bool is = false;
    for (uint32_t i = 0; i < growth->clique[v].n_separator; i++) {
        is = is || separator[i] == u;
    }
    for (uint32_t i = 0; !is_last && i < GBSI_SPLASH_WIDTH; i++) {
        was = was || before[v * GBSI_SPLASH_WIDTH + i] == u;
    }
    if (u == v) {
        return is_last ? ADDED : OWN;
    }
    return !is ? NOTHING : was ? SEPARATOR : ADDED;
}

/* Draws a stage with a row for each clique: its separator, its own variable, and the variables that
 * the last step added. */
static gbs_status draw_stage(const gbsi_growth *growth, const uint32_t *before, gbs_image *image,
                             gbs_error *err)
{
    const uint32_t scale = SIDE / growth->n;
    uint32_t *cell = gbsi_alloc_array((size_t)SIDE * SIDE, sizeof *cell);
    GBSI_PASS(GBSI_HAVE(err, "splash", cell));
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        cell[i] = cell_of(growth, before, i / SIDE / scale, i % SIDE / scale);
    }
    const gbs_status status = gbs_image_from_labels(cell, SIDE, SIDE, N_CELLS, image, err);
    gbsi_free(cell);
    return status;
}

static void remember(const gbsi_growth *growth, uint32_t *before)
{
    memset(before, 0xff, (size_t)growth->n * GBSI_SPLASH_WIDTH * sizeof *before);
    for (uint32_t v = 0; v < growth->n; v++) {
        memcpy(before + (size_t)v * GBSI_SPLASH_WIDTH, gbsi_growth_separator(growth, v),
               growth->clique[v].n_separator * sizeof *before);
    }
}

static gbs_status look_at(const gbsi_growth *growth, const uint32_t *before, const uint32_t *pixel,
                          uint32_t columns, lab_table *table, lab_splash_tree *tree, gbs_error *err)
{
    uint32_t width = 0;
    for (uint32_t v = 0; v < growth->n; v++) {
        const uint32_t m = growth->clique[v].n_separator;
        width = m > width ? m : width;
    }
    tree->variables[growth->n - 1] = growth->n;
    tree->width[growth->n - 1] = tree->widest = width;
    if (table != NULL && growth->n <= LAB_TREE_SHOWN) {
        write_rows(table, growth, pixel, columns);
    }
    for (int stage = 0; stage < LAB_TREE_STAGES; stage++) {
        if (growth->n == stage_size[stage]) {
            GBSI_PASS(draw_stage(growth, before, &tree->stage[stage], err));
        }
    }
    return GBS_OK;
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
        GBSI_TRY(look_at(&growth, before, pixel, columns, table, tree, err));
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
    for (int stage = 0; stage < LAB_TREE_STAGES; stage++) {
        gbs_image_free(&tree->stage[stage]);
    }
    *tree = (lab_splash_tree){0};
}
