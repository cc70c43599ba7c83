/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random elimination orders with cliques of bounded size, and chooses variables to hold so
 * that no clique exceeds the bound.
 *
 * A few dozen orders are made, each of at most a few thousand variables. A scan over all variables
 * is therefore fast enough to find the next variable of an order. Fill-ins are counted again only
 * near the last eliminated variable. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "block/block_inside.h"
#include "graph/elimination.h"

enum {
    NOT_NOW = 255
}; /* value of a fill-in if the clique is too large, or if the variable is gone */

/* The neighbours of a variable among the remaining variables, ascending. */
typedef struct row {
    uint32_t n;
    size_t room;
    uint32_t *to;
} row;

typedef struct making {
    gbsi_block_graph *graph;
    const uint32_t *arity;
    gbsi_block_order *order;
    row *row;       /* [n] neighbours of each variable */
    uint32_t *bits; /* [n] about 16 log2 of the entries of each variable's clique */
    uint8_t *fill;  /* [n] fill-in: pairs of neighbours of the variable that are not neighbours of
                       each other; or NOT_NOW */
    uint32_t *key;  /* [n] random numbers that break ties */
    uint8_t *gone;  /* [n] 1: the variable is eliminated or held */
    uint32_t *mark; /* [n] scratch */
} making;

/* ---- the graph ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Returns the number of entries of a factor; GBSI_BLOCK_MOST + 1 stands for all larger numbers. */
static uint32_t entries_of(const gbsi_conditioned *model, size_t f)
{
    uint32_t entries = 1;
    for (size_t i = model->factors.scope_start[f]; i < model->factors.scope_start[f + 1]; ++i) {
        const uint32_t arity = model->arity[model->factors.scope[i]];
        entries = entries > GBSI_BLOCK_MOST / arity ? GBSI_BLOCK_MOST + 1 : entries * arity;
        if (entries > GBSI_BLOCK_MOST) {
            break;
        }
    }
    return entries;
}

/* Sorts the rows of `to`, and removes repeated neighbours. */
static void make_rows_sets(gbsi_block_graph *g)
{
    size_t used = 0;
    size_t first = 0;
    for (uint32_t v = 0; v < g->n; ++v) {
        const size_t end = g->start[v + (size_t)1];
        const size_t begin = used;
        if (end > first) {
            qsort(g->to + first, end - first, sizeof *g->to, compare);
        }
        for (size_t i = first; i < end; ++i) {
            if (used == begin || g->to[used - 1] != g->to[i]) {
                g->to[used++] = g->to[i];
            }
        }
        first = end;
        g->start[v + (size_t)1] = used;
    }
}

/* Visits all pairs of neighbours; a pair that shares several factors is visited several times. The
 * first call counts the neighbours of each variable, the second call writes them. */
static void each_pair(const gbsi_conditioned *model, gbsi_block_graph *g, size_t *at)
{
    const gbsi_factors *f = &model->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (entries_of(model, i) > GBSI_BLOCK_MOST) {
            continue;
        }
        for (size_t a = f->scope_start[i]; a < f->scope_start[i + 1]; ++a) {
            for (size_t b = f->scope_start[i]; b < f->scope_start[i + 1]; ++b) {
                if (a != b && g->to != NULL) {
                    g->to[at[f->scope[a]]] = f->scope[b];
                }
                at[f->scope[a]] += a != b;
            }
        }
    }
}

/* Marks the variables that every plan holds. If `raise` is set, raises g->most to the number of
 * entries of the largest factor of at most GBSI_BLOCK_MOST entries. */
static void measure(const gbsi_conditioned *model, bool raise, gbsi_block_graph *g)
{
    const gbsi_factors *f = &model->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        const uint32_t entries = entries_of(model, i);
        g->most = raise && entries > g->most && entries <= GBSI_BLOCK_MOST ? entries : g->most;
        for (size_t k = f->scope_start[i]; entries > GBSI_BLOCK_MOST && k < f->scope_start[i + 1];
             ++k) {
            g->always[f->scope[k]] = 1;
        }
    }
}

gbs_status gbsi_block_graph_init(const gbsi_conditioned *model, uint32_t entries,
                                 gbsi_block_graph *g, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = model->n_variables;
    g->n = model->n_variables;
    g->most = entries != 0 ? entries : GBSI_BLOCK_ENTRIES;
    g->always = gbsi_alloc_array_zero(n, sizeof *g->always);
    g->times = gbsi_alloc_array_zero(n, sizeof *g->times);
    g->start = gbsi_alloc_array_zero(n + 1, sizeof *g->start);
    size_t *at = gbsi_alloc_array_zero(n + 1, sizeof *at);
    GBSI_TRY(GBSI_HAVE(err, "blocks", g->always, g->times, g->start, at));
    measure(model, entries == 0, g);
    each_pair(model, g, at);
    for (size_t v = 0; v < n; ++v) {
        g->start[v + 1] = g->start[v] + at[v];
        at[v] = g->start[v];
    }
    g->to = gbsi_alloc_array(g->start[n], sizeof *g->to);
    GBSI_TRY(GBSI_HAVE(err, "blocks", g->to));
    each_pair(model, g, at);
    make_rows_sets(g);

cleanup:
    gbsi_free(at);
    return status;
}

void gbsi_block_graph_free(gbsi_block_graph *graph)
{
    GBSI_FREE(graph->always, graph->times, graph->start, graph->to);
}

gbs_status gbsi_block_order_init(uint32_t n, gbsi_block_order *order, gbs_error *err)
{
    order->order = gbsi_alloc_array(n, sizeof *order->order);
    order->position = gbsi_alloc_array(n, sizeof *order->position);
    order->clique = gbsi_alloc_array(n, sizeof *order->clique);
    return GBSI_HAVE(err, "blocks", order->order, order->position, order->clique);
}

void gbsi_block_order_free(gbsi_block_order *order)
{
    GBSI_FREE(order->order, order->position, order->clique);
}

/* ---- rows that change ------------------------------------------------------------------------ */

/* Returns the place of u in a row, or the place where u would be inserted. */
static uint32_t place(const row *r, uint32_t u)
{
    uint32_t low = 0;
    uint32_t high = r->n;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (r->to[middle] < u) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has(const row *r, uint32_t u)
{
    const uint32_t i = place(r, u);
    return i < r->n && r->to[i] == u;
}

static gbs_status insert(making *m, uint32_t v, uint32_t u, gbs_error *err)
{
    row *r = &m->row[v];
    const uint32_t i = place(r, u);
    if (i < r->n && r->to[i] == u) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_reserve((void **)(void *)&r->to, &r->room, r->n + (size_t)1, sizeof *r->to,
                           "blocks", err));
    memmove(r->to + i + 1, r->to + i, (r->n - i) * sizeof *r->to);
    r->to[i] = u;
    ++r->n;
    m->bits[v] += gbsi_log_weight(m->arity[u]);
    return GBS_OK;
}

static void take_out(making *m, uint32_t v, uint32_t u)
{
    row *r = &m->row[v];
    const uint32_t i = place(r, u);
    assert(i < r->n && r->to[i] == u);
    --r->n;
    m->bits[v] -= gbsi_log_weight(m->arity[u]);
    memmove(r->to + i, r->to + i + 1, (r->n - i) * sizeof *r->to);
}

/* Whether a clique of v and n other variables has few enough entries. */
static bool fits(const making *m, uint32_t v, const uint32_t *other, uint32_t n)
{
    uint64_t entries = m->arity[v];
    if (n >= GBSI_BLOCK_CLIQUE) {
        return false;
    }
    for (uint32_t i = 0; i < n && entries <= m->graph->most; ++i) {
        entries *= m->arity[other[i]];
    }
    return entries <= m->graph->most;
}

static void count_fill(making *m, uint32_t v)
{
    const row *r = &m->row[v];
    m->fill[v] = NOT_NOW;
    if (m->gone[v] || !fits(m, v, r->to, r->n)) {
        return;
    }
    uint32_t fill = 0; /* at most 13 * 12 / 2 */
    for (uint32_t i = 0; i < r->n; ++i) {
        for (uint32_t k = i + 1; k < r->n; ++k) {
            fill += !has(&m->row[r->to[i]], r->to[k]);
        }
    }
    m->fill[v] = (uint8_t)fill;
}

/* ---- one order ------------------------------------------------------------------------------- */

/* Returns the variable with the least fill-in and, among variables of equal fill-in, the least key;
 * GBSI_NONE if no variable can be eliminated now. */
static uint32_t next_of(const making *m)
{
    uint32_t best = GBSI_NONE;
    for (uint32_t v = 0; v < m->graph->n; ++v) {
        if (m->fill[v] != NOT_NOW && (best == GBSI_NONE || m->fill[v] < m->fill[best] ||
                                      (m->fill[v] == m->fill[best] && m->key[v] < m->key[best]))) {
            best = v;
        }
    }
    return best;
}

/* Returns the variable that must be held; GBSI_NONE if no variable is left. */
static uint32_t next_held(const making *m)
{
    uint32_t best = GBSI_NONE;
    double most = -1.0;
    for (uint32_t v = 0; v < m->graph->n; ++v) {
        if (m->gone[v]) {
            continue;
        }
        const double score =
            m->bits[v] * (0.3 + m->key[v] * 0x1p-32) / (1.0 + (double)m->graph->times[v]);
        if (score > most) {
            most = score;
            best = v;
        }
    }
    return best;
}

static void leave_rows(making *m, uint32_t v)
{
    m->gone[v] = 1;
    m->fill[v] = NOT_NOW;
    for (uint32_t i = 0; i < m->row[v].n; ++i) {
        take_out(m, m->row[v].to[i], v);
    }
}

static void hold(making *m, uint32_t v)
{
    leave_rows(m, v);
    m->order->position[v] = GBSI_NONE;
    for (uint32_t i = 0; i < m->row[v].n; ++i) {
        count_fill(m, m->row[v].to[i]);
    }
}

static gbs_status eliminate(making *m, uint32_t v, gbs_error *err)
{
    const row *r = &m->row[v];
    leave_rows(m, v);
    m->order->position[v] = m->order->n_eliminated;
    m->order->order[m->order->n_eliminated++] = v;
    for (uint32_t i = 0; i < r->n; ++i) {
        for (uint32_t k = 0; k < r->n; ++k) {
            if (i != k) {
                GBSI_PASS(insert(m, r->to[i], r->to[k], err));
            }
        }
    }
    /* A new pair of neighbours changes the fill-in of the variables that are neighbours of both. */
    for (uint32_t i = 0; i < r->n; ++i) {
        const row *near = &m->row[r->to[i]];
        for (uint32_t k = 0; k < near->n; ++k) {
            m->mark[near->to[k]] = v;
        }
        m->mark[r->to[i]] = v;
    }
    for (uint32_t i = 0; i < r->n; ++i) {
        const row *near = &m->row[r->to[i]];
        for (uint32_t k = 0; k <= near->n; ++k) {
            const uint32_t u = k < near->n ? near->to[k] : r->to[i];
            if (m->mark[u] == v) {
                m->mark[u] = GBSI_NONE;
                count_fill(m, u);
            }
        }
    }
    return GBS_OK;
}

/* ---- cliques -------------------------------------------------------------------------------- */

static void join(gbsi_block_clique *c, uint32_t u)
{
    for (uint32_t i = 0; i < c->n; ++i) {
        if (c->member[i] == u) {
            return;
        }
    }
    assert(c->n < GBSI_BLOCK_CLIQUE);
    c->member[c->n++] = u;
}

/* Returns the member of v's clique that is eliminated first after v; GBSI_NONE if no member is
 * eliminated after v. */
static uint32_t parent_of(const gbsi_block_order *order, uint32_t v)
{
    const gbsi_block_clique *c = &order->clique[v];
    uint32_t first = GBSI_NONE;
    for (uint32_t i = 0; i < c->n; ++i) {
        if (first == GBSI_NONE || order->position[c->member[i]] < order->position[first]) {
            first = c->member[i];
        }
    }
    return first;
}

/* Makes the cliques of the order, without held variables. The clique of a variable has its
 * neighbours that are eliminated later, and the members of the cliques of its children. */
static void make_cliques(making *m)
{
    gbsi_block_order *o = m->order;
    const gbsi_block_graph *g = m->graph;
    for (uint32_t v = 0; v < g->n; ++v) {
        o->clique[v].n = 0;
    }
    for (uint32_t i = 0; i < o->n_eliminated; ++i) {
        const uint32_t v = o->order[i];
        for (size_t k = g->start[v]; k < g->start[v + (size_t)1]; ++k) {
            const uint32_t u = o->position[g->to[k]];
            if (u != GBSI_NONE && u > i) {
                join(&o->clique[v], g->to[k]);
            }
        }
        const uint32_t parent = parent_of(o, v);
        for (uint32_t k = 0; k < o->clique[v].n; ++k) {
            if (o->clique[v].member[k] != parent) {
                join(&o->clique[parent], o->clique[v].member[k]);
            }
        }
    }
}

/* ---- held variables once more --------------------------------------------------------------- */

/* Tries to eliminate the held variable v after all others. v then joins the cliques of its
 * neighbours and of all ancestors of these cliques. Nothing changes if one of these cliques
 * would become too large. */
static void try_last(making *m, uint32_t v)
{
    gbsi_block_order *o = m->order;
    const gbsi_block_graph *g = m->graph;
    const uint32_t self[1] = {v};
    if (g->always[v] || !fits(m, v, self, 0)) {
        return;
    }
    for (int joins = 0; joins < 2; ++joins) { /* the first round only checks the sizes; the second
                                                 round joins v to the cliques */
        memset(m->mark, 0xff, g->n * sizeof *m->mark);
        for (size_t i = g->start[v]; i < g->start[v + (size_t)1]; ++i) {
            uint32_t u = o->position[g->to[i]] == GBSI_NONE ? GBSI_NONE : g->to[i];
            while (u != GBSI_NONE && m->mark[u] != v) {
                gbsi_block_clique *c = &o->clique[u];
                const uint32_t parent = parent_of(o, u);
                m->mark[u] = v;
                if (joins) {
                    c->member[c->n++] = v;
                    u = parent;
                    continue;
                }
                uint32_t with[GBSI_BLOCK_CLIQUE];
                memcpy(with, c->member, c->n * sizeof *with);
                with[c->n] = v;
                if (!fits(m, u, with, c->n + 1)) {
                    return;
                }
                u = parent;
            }
        }
    }
    o->clique[v].n = 0;
    o->position[v] = o->n_eliminated;
    o->order[o->n_eliminated++] = v;
}

/* ---- whole orders --------------------------------------------------------------------------- */

static gbs_status making_init(making *m, uint64_t seed, uint32_t plan, gbs_error *err)
{
    const gbsi_block_graph *g = m->graph;
    m->row = gbsi_alloc_array_zero(g->n, sizeof *m->row);
    m->bits = gbsi_alloc_array(g->n, sizeof *m->bits);
    m->fill = gbsi_alloc_array_zero(g->n, sizeof *m->fill);
    m->key = gbsi_alloc_array(g->n, sizeof *m->key);
    m->gone = gbsi_alloc_array_zero(g->n, sizeof *m->gone);
    m->mark = gbsi_alloc_array(g->n, sizeof *m->mark);
    GBSI_PASS(GBSI_HAVE(err, "blocks", m->row, m->bits, m->fill, m->key, m->gone, m->mark));
    memset(m->mark, 0xff, g->n * sizeof *m->mark);
    for (uint32_t v = 0; v < g->n; ++v) {
        const size_t first = g->start[v];
        row *r = &m->row[v];
        m->key[v] = gbsi_word(seed, plan, 0, v, GBSI_PURPOSE_PLAN);
        GBSI_PASS(gbsi_reserve((void **)(void *)&r->to, &r->room, g->start[v + (size_t)1] - first,
                               sizeof *r->to, "blocks", err));
        r->n = (uint32_t)(g->start[v + (size_t)1] - first);
        if (r->n > 0) {
            memcpy(r->to, g->to + first, r->n * sizeof *r->to);
        }
        m->bits[v] = gbsi_log_weight(m->arity[v]);
        for (uint32_t i = 0; i < r->n; ++i) {
            m->bits[v] += gbsi_log_weight(m->arity[r->to[i]]);
        }
    }
    return GBS_OK;
}

static void making_free(making *m)
{
    for (uint32_t v = 0; m->row != NULL && v < m->graph->n; ++v) {
        gbsi_free(m->row[v].to);
    }
    GBSI_FREE(m->row, m->bits, m->fill, m->key, m->gone, m->mark);
}

gbs_status gbsi_block_order_make(gbsi_block_graph *graph, const uint32_t *arity, uint64_t seed,
                                 uint32_t plan, gbsi_block_order *order, gbs_error *err)
{
    gbs_status status = GBS_OK;
    making m = {.graph = graph, .arity = arity, .order = order};
    order->n_eliminated = 0;
    GBSI_TRY(making_init(&m, seed, plan, err));
    for (uint32_t v = 0; v < graph->n; ++v) {
        if (graph->always[v]) {
            hold(&m, v);
        }
    }
    for (uint32_t v = 0; v < graph->n; ++v) {
        count_fill(&m, v);
    }
    for (;;) {
        const uint32_t v = next_of(&m);
        if (v != GBSI_NONE) {
            GBSI_TRY(eliminate(&m, v, err));
            continue;
        }
        const uint32_t held = next_held(&m);
        if (held == GBSI_NONE) {
            break;
        }
        hold(&m, held);
    }
    make_cliques(&m);
    for (uint32_t v = 0; v < graph->n; ++v) {
        if (order->position[v] == GBSI_NONE) {
            try_last(&m, v);
        }
        graph->times[v] += order->position[v] == GBSI_NONE;
    }

cleanup:
    making_free(&m);
    return status;
}
