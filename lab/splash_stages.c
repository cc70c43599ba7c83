/* SPDX-License-Identifier: Apache-2.0 */
/* Figure of a junction tree that grows (Gonzalez et al. 2011, figure 3): the clique that a step
 * puts into the tree, and the variables that the step passes on to cliques on the path to the root.
 */
#include <stdio.h>

#include "lab/splash_trees.h"

#define WINDOW (LAB_TREE_SHOWN / (LAB_TREE_STAGES + 1)) /* number of steps of a stage */

/* ---- stages ---------------------------------------------------------------------------------- */

static bool was_there(const uint32_t *before, uint32_t v, uint32_t u)
{
    for (uint32_t i = 0; i < GBSI_SPLASH_WIDTH; i++) {
        if (before[(size_t)v * GBSI_SPLASH_WIDTH + i] == u) {
            return true;
        }
    }
    return false;
}

/* Writes the text of a clique. @return number of variables that were passed on to the clique. */
static uint32_t describe(const gbsi_growth *growth, const uint32_t *before, uint32_t v, char *text,
                         size_t size)
{
    const uint32_t *separator = gbsi_growth_separator(growth, v);
    const uint32_t m = growth->clique[v].n_separator;
    const bool is_new = v + 1 == growth->n;
    uint32_t passed = 0;
    size_t used = (size_t)snprintf(text, size, m > 0 ? "%u:" : "%u", v);
    for (uint32_t i = 0; i < m && used < size; i++) {
        const bool added = !is_new && !was_there(before, v, separator[i]);
        passed += added;
        used += (size_t)snprintf(text + used, size - used, added ? " +%u" : " %u", separator[i]);
    }
    return passed;
}

void lab_tree_stage_see(const gbsi_growth *growth, const uint32_t *before, lab_splash_tree *tree)
{
    lab_tree_stage seen = {.n = growth->n};
    if (growth->n <= WINDOW || growth->n > LAB_TREE_SHOWN) {
        return;
    }
    lab_tree_stage *stage = &tree->stage[(growth->n - 1) / WINDOW - 1];
    for (uint32_t v = 0; v < growth->n; v++) {
        const uint32_t parent = gbsi_growth_parent(growth, v);
        const uint32_t passed = describe(growth, before, v, seen.text[v], sizeof seen.text[v]);
        seen.parent[v] = parent == UINT32_MAX ? v : parent;
        seen.part[v] = v + 1 == growth->n ? LAB_CLIQUE_NEW
                       : passed > 0       ? LAB_CLIQUE_CHANGED
                                          : LAB_CLIQUE_KEPT;
        seen.n_passed += passed;
    }
    if (stage->n == 0 || seen.n_passed > stage->n_passed) {
        *stage = seen;
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Arrays of a panel of boxes. */
typedef struct boxes {
    gbsi_boxes boxes;
    const char *label[LAB_TREE_SHOWN];
    gbsi_color color[LAB_TREE_SHOWN];
    double x[LAB_TREE_SHOWN], y[LAB_TREE_SHOWN];
    char text[LAB_TREE_SHOWN][12];
    char title[40];
} boxes;

static gbsi_panel panel_of(boxes *b, uint32_t n, const uint32_t *joined)
{
    b->boxes = (gbsi_boxes){
        .n = n, .label = b->label, .color = b->color, .x = b->x, .y = b->y, .joined = joined};
    return (gbsi_panel){.title = b->title, .boxes = &b->boxes};
}

/* Places a tree with its roots at the top. Each clique has as much of the width as it has leaves;
 * the numbers of children are larger than the numbers of their parents. */
static void place_tree(const lab_tree_stage *s, boxes *b)
{
    uint32_t leaves[LAB_TREE_SHOWN] = {0};
    uint32_t depth[LAB_TREE_SHOWN] = {0};
    uint32_t next[LAB_TREE_SHOWN] = {0}; /* first free leaf below each clique */
    uint32_t all = 0;
    uint32_t deepest = 0;
    for (uint32_t v = s->n; v-- > 0;) {
        leaves[v] += leaves[v] == 0;
        *(s->parent[v] == v ? &all : &leaves[s->parent[v]]) += leaves[v];
    }
    uint32_t free_leaf = 0;
    for (uint32_t v = 0; v < s->n; v++) {
        const bool root = s->parent[v] == v;
        uint32_t *from = root ? &free_leaf : &next[s->parent[v]];
        depth[v] = root ? 0 : depth[s->parent[v]] + 1;
        deepest = depth[v] > deepest ? depth[v] : deepest;
        next[v] = *from;
        b->x[v] = (*from + 0.5 * leaves[v]) / all;
        *from += leaves[v];
    }
    for (uint32_t v = 0; v < s->n; v++) {
        b->y[v] = (depth[v] + 0.5) / (deepest + 1.0);
    }
}

static gbsi_panel panel_of_stage(const lab_tree_stage *s, boxes *b)
{
    static const gbsi_color color[] = {[LAB_CLIQUE_KEPT] = GBSI_GREY,
                                       [LAB_CLIQUE_CHANGED] = GBSI_ORANGE,
                                       [LAB_CLIQUE_NEW] = GBSI_GREEN};
    place_tree(s, b);
    for (uint32_t v = 0; v < s->n; v++) {
        b->label[v] = s->text[v];
        b->color[v] = color[s->part[v]];
    }
    (void)snprintf(b->title, sizeof b->title, "pixel %u joins", s->n - 1);
    return panel_of(b, s->n, s->parent);
}

/* Shows the first pixels at their places. */
static gbsi_panel panel_of_pixels(const lab_splash_tree *tree, boxes *b)
{
    const uint32_t n = tree->n < LAB_TREE_SHOWN ? tree->n : LAB_TREE_SHOWN;
    uint32_t low[2] = {UINT32_MAX, UINT32_MAX};
    uint32_t high[2] = {0, 0};
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t at[2] = {tree->row[v], tree->column[v]};
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        b->y[v] = (tree->row[v] - low[0] + 0.5) / (high[0] - low[0] + 1.0);
        b->x[v] = (tree->column[v] - low[1] + 0.5) / (high[1] - low[1] + 1.0);
        b->color[v] = GBSI_BLUE;
        (void)snprintf(b->text[v], sizeof b->text[v], "%u", v);
        b->label[v] = b->text[v];
    }
    (void)snprintf(b->title, sizeof b->title, "the first %u pixels", n);
    return panel_of(b, n, NULL);
}

gbs_status lab_splash_trees_draw(const laboratory *lab, const lab_splash_tree *first_come,
                                 const lab_splash_tree *by_coupling, gbs_error *err)
{
    const lab_splash_tree *tree[2] = {first_come, by_coupling};
    boxes b[LAB_TREE_STAGES + 1];
    lab_plot plot;
    lab_plot_begin(&plot, LAB_PGS_ADAPTATION_TREES, 1);
    for (int i = 0; i < 2; i++) {
        lab_plot_line(&plot, 0,
                      (gbsi_line){.label = i == 0 ? "first come" : "by coupling",
                                  .color = i == 0 ? GBSI_BLUE : GBSI_VERMILLION,
                                  .n = tree[i]->n,
                                  .x = tree[i]->variables,
                                  .y = tree[i]->width});
    }
    lab_plot_panel(&plot, panel_of_pixels(first_come, &b[LAB_TREE_STAGES]));
    for (int stage = 0; stage < LAB_TREE_STAGES; stage++) {
        if (first_come->stage[stage].n > 0) {
            lab_plot_panel(&plot, panel_of_stage(&first_come->stage[stage], &b[stage]));
        }
    }
    return lab_plot_write(lab, &plot, err);
}
