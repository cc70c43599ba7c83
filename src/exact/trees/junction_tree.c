/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the junction tree of maximal cliques from the cliques of an elimination [M22].
 *
 * Each position of the elimination order has a clique, and the positions form a tree. If the clique
 * of a child position has exactly one member more than the clique of its parent position, the
 * former contains the latter. The child's clique then absorbs the parent's clique, and absorption
 * repeats along the path to the root. A clique of the junction tree therefore owns a path of
 * successive positions. Its members other than the variables of these positions are its separator.
 * All algorithms are loops over positions or cliques, not recursions. Trees that are long paths
 * therefore do not exhaust the C stack.
 *
 * Messages stay on a stack until the parent clique is computed, like the contribution blocks of
 * multifrontal elimination. Children with large subtrees and small messages are computed first,
 * which minimises the largest size of the stack (Liu 1986, On the storage requirement in the
 * out-of-core multifrontal method, ACM TOMS 12:249-264). */
#include "trees/junction_tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trees/junction_tree_making.h"

static uint32_t clique_size(const gbsi_elimination *e, uint32_t at)
{
    return (uint32_t)(e->clique_start[at + (size_t)1] - e->clique_start[at]);
}

/* ---- groups -------------------------------------------------------------------------------- */

static bool same_phase(const making *m, uint32_t a, uint32_t b)
{
    return m->maximise == NULL || m->maximise[m->e->order[a]] == m->maximise[m->e->order[b]];
}

static void find_covers(making *m, const gbsi_elimination_part *part)
{
    const gbsi_elimination *e = m->e;
    const uint32_t end = part->first + part->n_variables;
    (void)gbsi_elimination_tree(e, m->tree->model->arity, part->first, end, m->position,
                                m->parent + part->first, m->covered);
    for (uint32_t at = part->first; at < end; ++at) {
        m->cover[at] = GBSI_NONE;
    }
    for (uint32_t at = part->first; at < end; ++at) {
        const uint32_t p = m->parent[at];
        if (p != GBSI_NONE && m->cover[p] == GBSI_NONE && same_phase(m, at, p) &&
            clique_size(e, at) == clique_size(e, p) + 1) {
            m->cover[p] = at;
        }
    }
}

static void make_groups(making *m, const gbsi_elimination_part *part)
{
    const uint32_t *arity = m->tree->model->arity;
    for (uint32_t at = part->first; at < part->first + part->n_variables; ++at) {
        const uint32_t c = m->cover[at];
        const uint32_t g = c == GBSI_NONE ? m->n_groups++ : m->group_of[c];
        if (c == GBSI_NONE) {
            m->group[g] =
                (group){.first = at, .n_columns = 1, .first_hub = GBSI_NONE, .hub = GBSI_NONE};
        }
        m->group_of[at] = g;
        m->group[g].last = at;
        m->group[g].n_own++;
        m->group[g].n_columns *= arity[m->e->order[at]];
    }
}

static void join_groups(making *m)
{
    uint32_t n_listed = 0;
    for (uint32_t at = 0; at < m->n_positions; ++at) {
        if (m->position[m->e->order[at]] == GBSI_NONE || m->group[m->group_of[at]].last != at) {
            continue;
        }
        group *g = &m->group[m->group_of[at]];
        m->by_last[n_listed++] = m->group_of[at];
        g->parent = m->parent[at] == GBSI_NONE ? GBSI_NONE : m->group_of[m->parent[at]];
        g->n_rows = 1;
        for (size_t i = m->e->clique_start[at]; i < m->e->clique_start[at + (size_t)1]; ++i) {
            g->n_rows *= m->tree->model->arity[m->e->clique[i]];
        }
    }
    assert(n_listed == m->n_groups);
}

/* ---- order --------------------------------------------------------------------------------- */

static void list_children(making *m)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < m->n_groups; ++i) {
        if (m->group[i].parent != GBSI_NONE) {
            m->group[m->group[i].parent].n_children++;
        }
    }
    for (uint32_t i = 0; i < m->n_groups; ++i) {
        m->group[i].first_child = next;
        next += m->group[i].n_children;
        m->group[i].n_children = 0;
    }
    for (uint32_t i = 0; i < m->n_groups; ++i) {
        const uint32_t g = m->by_last[i];
        if (m->group[g].parent != GBSI_NONE) {
            group *p = &m->group[m->group[g].parent];
            m->child[p->first_child + p->n_children++] = g;
        }
    }
}

/* For sorting children: the stack space that a child frees when it is finished, which is its peak
 * minus the size of its message. */
typedef struct rank {
    size_t spare;
    uint32_t group;
} rank;

static int by_spare(const void *a, const void *b)
{
    const rank *x = a;
    const rank *y = b;
    if (x->spare != y->spare) {
        return x->spare > y->spare ? -1 : 1;
    }
    return (x->group > y->group) - (x->group < y->group);
}

static void measure_group(making *m, group *g, rank *scratch)
{
    uint32_t *child = m->child + g->first_child;
    size_t standing = 0;
    g->size = 1;
    g->peak = 0;
    for (uint32_t i = 0; i < g->n_children; ++i) {
        scratch[i] = (rank){m->group[child[i]].peak - m->group[child[i]].n_rows, child[i]};
    }
    qsort(scratch, g->n_children, sizeof *scratch, by_spare);
    for (uint32_t i = 0; i < g->n_children; ++i) {
        const group *c = &m->group[scratch[i].group];
        child[i] = scratch[i].group;
        g->size += c->size;
        g->peak = standing + c->peak > g->peak ? standing + c->peak : g->peak;
        standing += c->n_rows;
    }
    g->peak = standing + g->n_rows > g->peak ? standing + g->n_rows : g->peak;
}

/* Assigns clique numbers and places on the stack. Parents are handled before children. */
static void place_groups(making *m)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < m->n_groups; ++i) {
        group *g = &m->group[m->by_last[i]];
        if (g->parent == GBSI_NONE) {
            g->start = start;
            start += g->size;
            m->tree->n_stack = g->peak > m->tree->n_stack ? g->peak : m->tree->n_stack;
            m->tree->n_trees++;
        }
    }
    for (uint32_t i = m->n_groups; i-- > 0;) {
        const group *g = &m->group[m->by_last[i]];
        uint32_t at = g->start;
        size_t base = g->base;
        for (uint32_t k = 0; k < g->n_children; ++k) {
            group *c = &m->group[m->child[g->first_child + k]];
            c->start = at;
            c->base = base;
            at += c->size;
            base += c->n_rows;
        }
    }
}

static uint32_t number_of(const group *g)
{
    return g->start + g->size - 1;
}

/* ---- the tree ------------------------------------------------------------------------------ */

static gbs_status take_tree(making *m, gbs_error *err)
{
    gbsi_tree *t = m->tree;
    const size_t n = m->n_groups;
    t->n_cliques = m->n_groups;
    for (uint32_t i = 0; i < m->n_groups; ++i) {
        const group *g = &m->group[i];
        t->n_variables +=
            g->hub != GBSI_NONE ? m->hub[g->hub].n : g->n_own + clique_size(m->e, g->last);
    }
    t->clique = gbsi_alloc_array_zero(n, sizeof *t->clique);
    t->variable = gbsi_alloc_array(t->n_variables, sizeof *t->variable);
    t->child_start = gbsi_alloc_array_zero(n + 1, sizeof *t->child_start);
    t->child = gbsi_alloc_array(n, sizeof *t->child);
    t->tree_end = gbsi_alloc_array(t->n_trees, sizeof *t->tree_end);
    t->factor_start = gbsi_alloc_array_zero(n + 2, sizeof *t->factor_start);
    t->factor = gbsi_alloc_array(t->model->factors.n_factors, sizeof *t->factor);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", t->clique, t->variable, t->child_start, t->child,
                        t->tree_end, t->factor_start, t->factor));
    return GBS_OK;
}

/* Fills the separator by insertion sort. The variable that is eliminated last comes first. */
static void fill_separator(const making *m, gbsi_clique *c, size_t n, const uint32_t *from)
{
    uint32_t *variable = m->tree->variable + c->first;
    c->n_separator = 0;
    for (size_t i = 0; i < n; ++i) {
        uint32_t k = c->n_separator++;
        for (; k > 0 && m->position[variable[k - 1]] < m->position[from[i]]; --k) {
            variable[k] = variable[k - 1];
        }
        variable[k] = from[i];
    }
}

static void fill_clique(making *m, const group *g, gbsi_clique *c, size_t first)
{
    const gbsi_elimination *e = m->e;
    uint32_t *variable = m->tree->variable + first;
    c->first = first;
    c->n_own = g->n_own;
    c->parent = g->parent == GBSI_NONE ? GBSI_NONE : number_of(&m->group[g->parent]);
    c->maximise = m->maximise != NULL && m->maximise[e->order[g->last]] != 0;
    c->n_rows = g->n_rows;
    c->n_columns = g->n_columns;
    c->message = g->base;
    c->size = g->size;
    if (g->hub != GBSI_NONE) {
        fill_separator(m, c, m->hub[g->hub].n, m->hub[g->hub].variable);
        return;
    }
    fill_separator(m, c, clique_size(e, g->last), e->clique + e->clique_start[g->last]);
    uint32_t at = g->last;
    for (uint32_t k = 0; k < g->n_own; ++k) {
        variable[c->n_separator + k] = e->order[at];
        at = m->cover[at];
    }
    assert(at == GBSI_NONE);
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void fill_tree(making *m)
{
    gbsi_tree *t = m->tree;
    size_t first = 0;
    uint32_t n_children = 0;
    uint32_t n_ended = 0;
    size_t table = 0;
    size_t kept = 0;
    for (uint32_t g = 0; g < m->n_groups;
         ++g) { /* from here on, by_last has the group of each clique number */
        m->by_last[number_of(&m->group[g])] = g;
    }
    for (uint32_t i = 0; i < t->n_cliques; ++i) {
        const group *g = &m->group[m->by_last[i]];
        gbsi_clique *c = &t->clique[i];
        fill_clique(m, g, c, first);
        first += c->n_separator + c->n_own;
        c->table = table;
        c->kept = kept;
        c->stream = i;
        table += c->n_rows * c->n_columns;
        kept += c->n_rows;
        t->n_largest = most(t->n_largest, c->n_rows * c->n_columns);
        t->n_rows = most(t->n_rows, c->n_rows);
        for (uint32_t k = 0; k < g->n_children; ++k) {
            t->child[n_children++] = number_of(&m->group[m->child[g->first_child + k]]);
        }
        t->child_start[i + (size_t)1] = n_children;
        if (c->parent == GBSI_NONE) {
            t->tree_end[n_ended++] = i + 1;
            t->n_tables = most(t->n_tables, table);
            t->n_kept = most(t->n_kept, kept);
            t->n_messages += kept;
            t->n_entries += table;
            table = 0;
            kept = 0;
        }
    }
}

/* Assigns each factor to the clique that eliminates the first of the factor's variables. The
 * factors are sorted by clique with a counting sort. */
static void deal_factors(making *m)
{
    gbsi_tree *t = m->tree;
    const gbsi_factors *f = &t->model->factors;
    for (int deal = 0; deal < 2; ++deal) {
        for (size_t i = 0; i < f->n_factors; ++i) {
            uint32_t at = GBSI_NONE;
            size_t entries = 1;
            for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
                const uint32_t p = m->position[f->scope[k]];
                at = p < at ? p : at;
            }
            if (at == GBSI_NONE) {
                continue; /* the factor's component has no tree */
            }
            const size_t first = f->scope_start[i];
            const uint32_t g = gbsi_tree_hub_for(
                m, m->group_of[at], (uint32_t)(f->scope_start[i + 1] - first), f->scope + first);
            const uint32_t c = number_of(&m->group[g]);
            if (deal == 0) {
                for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
                    entries *= t->model->arity[f->scope[k]];
                }
                t->n_factor = entries > t->n_factor ? entries : t->n_factor;
                ++t->factor_start[c + (size_t)2];
            } else {
                t->factor[t->factor_start[c + (size_t)1]++] = i;
            }
        }
        for (uint32_t c = 2; deal == 0 && c <= t->n_cliques; ++c) {
            t->factor_start[c] += t->factor_start[c - 1];
        }
    }
}

static gbs_status take_making(making *m, gbs_error *err)
{
    const size_t n = m->n_positions;
    m->position = gbsi_alloc_array(n, sizeof *m->position);
    m->parent = gbsi_alloc_array(n, sizeof *m->parent);
    m->cover = gbsi_alloc_array(n, sizeof *m->cover);
    m->group_of = gbsi_alloc_array(n, sizeof *m->group_of);
    m->by_last = gbsi_alloc_array(n, sizeof *m->by_last);
    m->child = gbsi_alloc_array(n, sizeof *m->child);
    m->covered = gbsi_alloc_array(n, 1);
    m->group = gbsi_alloc_array(n, sizeof *m->group);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", m->position, m->parent, m->cover, m->group_of,
                        m->by_last, m->child, m->covered, m->group));
    memset(m->position, 0xff, n * sizeof *m->position);
    return GBS_OK;
}

static void free_making(making *m)
{
    GBSI_FREE(m->position, m->parent, m->cover, m->group_of, m->by_last, m->child, m->covered,
              m->group, m->hub);
}

void gbsi_tree_free(gbsi_tree *tree)
{
    if (tree == NULL) {
        return;
    }
    gbsi_conditioned_free(tree->chains);
    GBSI_FREE(tree->clique, tree->variable, tree->factor_start, tree->factor, tree->child_start,
              tree->child, tree->tree_end, tree->branch, tree->branch_start, tree);
}

gbs_status gbsi_tree_new(const gbsi_conditioned *model, const gbsi_elimination *elimination,
                         const uint8_t *take, const uint8_t *maximise, bool hubs, gbsi_tree **out,
                         gbs_error *err)
{
    gbs_status status = GBS_OK;
    rank *scratch = NULL;
    making m = {.e = elimination, .maximise = maximise, .n_positions = elimination->n_variables};
    m.tree = gbsi_alloc_zero(sizeof *m.tree);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", m.tree));
    m.tree->model = model;
    GBSI_TRY(take_making(&m, err));
    for (uint32_t p = 0; p < elimination->n_parts; ++p) {
        const gbsi_elimination_part *part = &elimination->part[p];
        if (take[p] == 0) {
            continue;
        }
        assert(part->end == GBSI_ELIMINATION_DONE);
        for (uint32_t at = part->first; at < part->first + part->n_variables; ++at) {
            m.position[elimination->order[at]] = at;
        }
        find_covers(&m, part);
        make_groups(&m, part);
    }
    join_groups(&m);
    if (hubs) {
        GBSI_TRY(gbsi_tree_make_hubs(&m, err));
    }
    list_children(&m);
    scratch = gbsi_alloc_array(m.n_groups, sizeof *scratch);
    GBSI_TRY(GBSI_HAVE(err, "junction tree", scratch));
    for (uint32_t i = 0; i < m.n_groups; ++i) {
        measure_group(&m, &m.group[m.by_last[i]], scratch);
    }
    place_groups(&m);
    GBSI_TRY(take_tree(&m, err));
    fill_tree(&m);
    deal_factors(&m);
    GBSI_TRY(gbsi_tree_find_branches(m.tree, err));
    gbsi_tree_check(m.tree);
    *out = m.tree;
    m.tree = NULL;

cleanup:
    gbsi_free(scratch);
    free_making(&m);
    gbsi_tree_free(m.tree);
    return status;
}

uint64_t gbsi_tree_bytes(const gbsi_tree *tree)
{
    const uint64_t n = tree->n_cliques;
    const gbsi_conditioned *c = tree->chains;
    uint64_t bytes =
        sizeof *tree +
        n * (sizeof *tree->clique + 2 * sizeof(uint32_t) + sizeof *tree->factor_start) +
        tree->n_variables * sizeof *tree->variable +
        tree->model->factors.n_factors * sizeof *tree->factor +
        tree->n_trees * 2 * sizeof *tree->tree_end +
        tree->branch_start[tree->n_trees] * sizeof *tree->branch;
    if (c != NULL) { /* the arrays of the model with chains may be longer than needed, because they
                        grew by doubling */
        const gbsi_factors *f = &c->factors;
        bytes += 2 * (f->table_start[f->n_tables] * sizeof *f->table +
                      f->n_factors * (sizeof *f->weight + sizeof *f->scope_start + 5) +
                      f->scope_start[f->n_factors] * 2 * sizeof(uint32_t) +
                      f->n_tables * sizeof *f->table_start + c->n_variables * (uint64_t)12);
    }
    return bytes;
}

/* ---- functions that read a tree ------------------------------------------------------------- */

void gbsi_tree_homes(const gbsi_tree *tree, uint32_t *home)
{
    memset(home, 0xff, tree->model->n_variables * sizeof *home);
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        const gbsi_clique *c = &tree->clique[i];
        for (size_t k = c->first; k < c->first + c->n_separator + c->n_own; ++k) {
            uint32_t *h = &home[tree->variable[k]];
            const gbsi_clique *b = *h == GBSI_NONE ? NULL : &tree->clique[*h];
            if (b == NULL || c->n_rows * c->n_columns < b->n_rows * b->n_columns) {
                *h = i;
            }
        }
    }
}
