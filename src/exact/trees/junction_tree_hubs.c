/* SPDX-License-Identifier: Apache-2.0 */
/* Finds hubs. A message to or from a clique of a million entries costs a million steps, even if the
 * message has few variables. Hundreds of small cliques and factors may be attached to one large
 * clique. A hub stands between the large clique and several of these small cliques and factors. The
 * hub is a clique without own variables. The variables of the hub are those that the small cliques
 * and factors share with the large clique. The hub exchanges a single message with the large
 * clique. */
#include <string.h>

#include "base/memory.h"
#include "trees/junction_tree_making.h"

#define LARGE        ((size_t)1 << 13) /* least number of entries of a clique with hubs */
#define SMALLER      64u               /* least ratio of a clique's entries to a hub's entries */
#define MOST_ENTRIES ((size_t)1 << 12) /* largest number of entries of a hub */
#define MOST_HUBS    16u               /* largest number of hubs of a clique */

typedef struct scope {
    uint32_t n;
    const uint32_t *variable;
} scope;

static bool holds(const hub *h, uint32_t v)
{
    for (uint32_t k = 0; k < h->n; ++k) {
        if (h->variable[k] == v) {
            return true;
        }
    }
    return false;
}

static bool holds_all(const hub *h, scope s)
{
    for (uint32_t i = 0; i < s.n; ++i) {
        if (!holds(h, s.variable[i])) {
            return false;
        }
    }
    return true;
}

static size_t clique_entries(const group *g)
{
    return g->n_rows * g->n_columns;
}

static size_t most_entries(const group *g)
{
    const size_t most = clique_entries(g) / SMALLER;
    return most < MOST_ENTRIES ? most : MOST_ENTRIES;
}

/* Returns the number of entries that hub h would have with the variables of scope s added; SIZE_MAX
 * if this would be too many. */
static size_t joined(const making *m, const hub *h, scope s, size_t most)
{
    uint32_t n = h->n;
    size_t entries = h->entries;
    for (uint32_t i = 0; i < s.n; ++i) {
        if (!holds(h, s.variable[i])) {
            entries *= m->tree->model->arity[s.variable[i]];
            ++n;
            if (n > GBSI_HUB_VARIABLES || entries > most) {
                return SIZE_MAX;
            }
        }
    }
    return entries;
}

/* Adds the scope of a child or factor to the existing hub that grows least by it, or to a new hub.
 */
static gbs_status add_item(making *m, uint32_t of, scope s, gbs_error *err)
{
    const size_t most = most_entries(&m->group[of]);
    const hub none = {.entries = 1};
    uint32_t best = GBSI_NONE;
    uint32_t n_hubs = 0;
    size_t least = SIZE_MAX;
    for (uint32_t i = m->group[of].first_hub; i != GBSI_NONE; i = m->hub[i].next, ++n_hubs) {
        const size_t entries = joined(m, &m->hub[i], s, most);
        if (entries != SIZE_MAX && entries / m->hub[i].entries < least) {
            least = entries / m->hub[i].entries;
            best = i;
        }
    }
    if (best == GBSI_NONE) {
        if (n_hubs == MOST_HUBS || joined(m, &none, s, most) == SIZE_MAX) {
            return GBS_OK;
        }
        void *pointer = m->hub;
        GBSI_PASS(gbsi_reserve(&pointer, &m->hub_capacity, m->n_hubs + (size_t)1, sizeof *m->hub,
                               "junction tree", err));
        m->hub = pointer;
        best = m->n_hubs++;
        m->hub[best] = none;
        m->hub[best].of = of;
        m->hub[best].group = GBSI_NONE;
        m->hub[best].next = m->group[of].first_hub;
        m->group[of].first_hub = best;
    }
    hub *h = &m->hub[best];
    h->entries = joined(m, h, s, most);
    for (uint32_t i = 0; i < s.n; ++i) {
        if (!holds(h, s.variable[i])) {
            h->variable[h->n++] = s.variable[i];
        }
    }
    ++h->n_items;
    return GBS_OK;
}

static scope separator_of(const making *m, const group *g)
{
    const size_t first = m->e->clique_start[g->last];
    return (scope){(uint32_t)(m->e->clique_start[g->last + (size_t)1] - first),
                   m->e->clique + first};
}

static gbs_status gather(making *m, gbs_error *err)
{
    const gbsi_factors *f = &m->tree->model->factors;
    for (uint32_t i = 0; i < m->n_groups; ++i) {
        const group *g = &m->group[i];
        if (g->parent != GBSI_NONE && clique_entries(&m->group[g->parent]) >= LARGE) {
            GBSI_PASS(add_item(m, g->parent, separator_of(m, g), err));
        }
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        const scope s = {(uint32_t)(f->scope_start[i + 1] - f->scope_start[i]),
                         f->scope + f->scope_start[i]};
        uint32_t at = GBSI_NONE;
        for (uint32_t k = 0; k < s.n; ++k) {
            at = m->position[s.variable[k]] < at ? m->position[s.variable[k]] : at;
        }
        if (at != GBSI_NONE && clique_entries(&m->group[m->group_of[at]]) >= LARGE) {
            GBSI_PASS(add_item(m, m->group_of[at], s, err));
        }
    }
    return GBS_OK;
}

uint32_t gbsi_tree_hub_for(const making *m, uint32_t of, uint32_t n, const uint32_t *variable)
{
    for (uint32_t i = m->group[of].first_hub; i != GBSI_NONE; i = m->hub[i].next) {
        if (m->hub[i].group != GBSI_NONE && holds_all(&m->hub[i], (scope){n, variable})) {
            return m->hub[i].group;
        }
    }
    return of;
}

/* Makes a group of each hub that has two or more children or factors. */
static gbs_status make_groups(making *m, gbs_error *err)
{
    const uint32_t n_before = m->n_groups;
    group *grown = gbsi_realloc_array(m->group, n_before + (size_t)m->n_hubs, sizeof *m->group);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", grown));
    m->group = grown;
    for (uint32_t i = 0; i < m->n_hubs; ++i) {
        hub *h = &m->hub[i];
        if (h->n_items < 2) {
            continue;
        }
        h->group = m->n_groups++;
        m->group[h->group] = (group){.last = m->group[h->of].last,
                                     .parent = h->of,
                                     .n_rows = h->entries,
                                     .n_columns = 1,
                                     .first_hub = GBSI_NONE,
                                     .hub = i};
    }
    for (uint32_t i = 0; i < n_before; ++i) {
        group *g = &m->group[i];
        if (g->parent != GBSI_NONE) {
            const scope s = separator_of(m, g);
            g->parent = gbsi_tree_hub_for(m, g->parent, s.n, s.variable);
        }
    }
    return GBS_OK;
}

static gbs_status list_again(making *m, gbs_error *err)
{
    const size_t n = m->n_groups;
    uint32_t n_listed = 0;
    uint32_t *listed = gbsi_alloc_array(n, sizeof *listed);
    uint32_t *child = gbsi_realloc_array(m->child, n, sizeof *child);
    m->child = child != NULL ? child : m->child;
    if (listed == NULL || child == NULL) {
        gbsi_free(listed);
        return gbsi_no_memory(err, "junction tree", n * sizeof *listed);
    }
    uint32_t n_hubs = 0;
    for (uint32_t i = 0; i < m->n_hubs; ++i) {
        n_hubs += m->hub[i].group != GBSI_NONE;
    }
    for (uint32_t i = 0; i < n - n_hubs; ++i) {
        const uint32_t g = m->by_last[i];
        for (uint32_t k = m->group[g].first_hub; k != GBSI_NONE; k = m->hub[k].next) {
            if (m->hub[k].group != GBSI_NONE) {
                listed[n_listed++] = m->hub[k].group;
            }
        }
        listed[n_listed++] = g;
    }
    gbsi_free(m->by_last);
    m->by_last = listed;
    return GBS_OK;
}

gbs_status gbsi_tree_make_hubs(making *m, gbs_error *err)
{
    GBSI_PASS(gather(m, err));
    if (m->n_hubs > 0) {
        GBSI_PASS(make_groups(m, err));
        GBSI_PASS(list_again(m, err));
    }
    return GBS_OK;
}
