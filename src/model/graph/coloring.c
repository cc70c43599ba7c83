/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy colouring: each variable in turn gets the lowest colour that none of its scopes has used.
 *
 * For a short scope its members are looked at. A scope of more than 64 keeps the set of the
 * colours used in it. The set is a bitset for colours below 32 times the length (as much memory as
 * the members) and a list for colours above, which only members of some far larger clique can have.
 * So memory stays linear in the model for any number of colours. Words of a bitset that are full
 * are skipped in one step, by links that are shortened as they are followed (Tarjan 1975, J. ACM
 * 22(2):215-225), so that a clause of 10^6 literals costs some 10^6 look-ups. */
#include "graph/graph.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define LONG_SCOPE     64
#define AHEAD          8  /* variables */
#define BITS_PER_ENTRY 32 /* bits per variable of the scope in a bitset */

/* The colours used in one long scope. */
typedef struct color_set {
    uint64_t *bit;   /* [n_bits / 64] */
    uint32_t *next;  /* [n_bits / 64] for a full word: a later word such that no word between is
                        open */
    uint32_t *above; /* colours of n_bits and more, at most one per variable */
    size_t n_bits;
    size_t n_words; /* words of `bit` in use; later words may be nonzero */
    size_t n_above;
} color_set;

typedef struct greedy {
    const gbsi_graph *graph;
    uint32_t *color;
    uint32_t n_colors;
    uint64_t *used; /* [n_variables / 64 + 1] colours around the current variable, except for those
                       in bitsets; else all zero */
    uint32_t *set_of; /* [n_scopes] index into set, GBSI_NONE for a short one; NULL: all are */
    color_set *set;
    uint32_t *around; /* [n_around] sets of the variable being processed */
    size_t n_around;
    uint64_t *bits; /* storage of all sets */
    uint32_t *next, *above;
    uint64_t work; /* colours and words looked at */
    gbsi_watch *watch;
} greedy;

static size_t scope_size(const gbsi_graph *graph, size_t s)
{
    return graph->scope_start[s + 1] - graph->scope_start[s];
}

/* The set of the scope of an end, NULL for a short one. */
static color_set *set_of_end(const greedy *g, size_t end)
{
    if (g->set_of == NULL || g->set_of[g->graph->incident[end]] == GBSI_NONE) {
        return NULL;
    }
    return &g->set[g->set_of[g->graph->incident[end]]];
}

static size_t set_words(size_t n)
{
    return (n * BITS_PER_ENTRY + 63) / 64;
}

static gbs_status take_sets(greedy *g, gbs_error *err)
{
    const gbsi_graph *graph = g->graph;
    size_t n_sets = 0;
    size_t n_words = 0;
    size_t n_members = 0;
    for (size_t s = 0; s < graph->n_scopes; s++) {
        const size_t n = scope_size(graph, s);
        if (gbsi_watch_spend(g->watch, 2)) {
            return gbsi_watch_fail(err, "colouring");
        }
        if (n > LONG_SCOPE) {
            n_sets++;
            n_words += set_words(n);
            n_members += n;
        }
    }
    assert(n_sets < GBSI_NONE);
    g->set_of = gbsi_alloc_array(graph->n_scopes, sizeof *g->set_of);
    g->set = gbsi_alloc_array(n_sets, sizeof *g->set);
    g->around = gbsi_alloc_array(n_sets, sizeof *g->around);
    g->bits = gbsi_alloc_array_zero(n_words, sizeof *g->bits);
    g->next = gbsi_alloc_array(n_words, sizeof *g->next);
    g->above = gbsi_alloc_array(n_members, sizeof *g->above);
    GBSI_PASS(
        GBSI_HAVE(err, "colouring", g->set_of, g->set, g->around, g->bits, g->next, g->above));
    uint32_t at = 0;
    size_t word = 0;
    uint32_t *above = g->above;
    for (size_t s = 0; s < graph->n_scopes; s++) {
        const size_t n = scope_size(graph, s);
        if (gbsi_watch_spend(g->watch, 4)) {
            return gbsi_watch_fail(err, "colouring");
        }
        g->set_of[s] = GBSI_NONE;
        if (n > LONG_SCOPE) {
            g->set[at] = (color_set){.bit = g->bits + word,
                                     .next = g->next + word,
                                     .above = above,
                                     .n_bits = 64 * set_words(n)};
            g->set_of[s] = at++;
            word += set_words(n);
            above += n;
        }
    }
    return GBS_OK;
}

static void set_insert(color_set *set, uint32_t color)
{
    if (color >= set->n_bits) {
        set->above[set->n_above++] = color;
        return;
    }
    const size_t word = color / 64;
    set->bit[word] |= UINT64_C(1) << (color % 64);
    set->next[word] = (uint32_t)word + 1; /* of use once it is full */
    set->n_words = word + 1 > set->n_words ? word + 1 : set->n_words;
}

/* The first word from w on that is not full; of those not in use any. Links are halved: each of
 * those passed leads to the one after the next. */
static size_t next_open(color_set *set, size_t w, uint64_t *work)
{
    while (w < set->n_words && set->bit[w] == UINT64_MAX) {
        uint32_t *next = &set->next[w];
        if (*next < set->n_words && set->bit[*next] == UINT64_MAX) {
            *next = set->next[*next];
        }
        w = *next;
        ++*work;
    }
    return w;
}

/* Marks a colour as used around the current variable, or wipes the word of its mark; those of limit
 * and more do not matter. */
static void mark(greedy *g, uint32_t color, size_t limit, bool wipe)
{
    if (color < limit) {
        uint64_t *used = &g->used[color / 64];
        *used = wipe ? 0 : *used | UINT64_C(1) << (color % 64);
    }
}

/* The short scopes and the lists of the sets around the current variable, whose ends are [begin,
 * end). */
static void mark_ends(greedy *g, size_t begin, size_t end, size_t limit, bool wipe)
{
    for (size_t i = begin; i < end; i++) {
        const gbsi_members members = gbsi_graph_members(g->graph, i);
        for (size_t j = 0; j < members.n && set_of_end(g, i) == NULL; j++) {
            mark(g, g->color[members.variable[j]], limit, wipe); /* GBSI_NONE is never below */
        }
        g->work += set_of_end(g, i) == NULL ? members.n : 1;
    }
    for (size_t i = 0; i < g->n_around; i++) {
        const color_set *set = &g->set[g->around[i]];
        for (size_t j = 0; j < set->n_above; j++) {
            mark(g, set->above[j], limit, wipe);
        }
        g->work += set->n_above;
    }
}

/* The lowest colour of a word that is used nowhere around, or 64. */
static uint32_t free_in_word(const greedy *g, size_t w)
{
    uint64_t used = g->used[w];
    for (size_t i = 0; i < g->n_around; i++) {
        const color_set *set = &g->set[g->around[i]];
        used |= w < set->n_words ? set->bit[w] : 0;
    }
    return used == UINT64_MAX ? 64 : (uint32_t)__builtin_ctzll(~used);
}

/* The lowest colour that is used nowhere around the current variable. The colours below limit are
 * looked at; limit itself is always free. */
static size_t lowest_free(greedy *g, size_t limit)
{
    for (size_t w = 0; w <= limit / 64; w++) {
        for (size_t i = 0; i < g->n_around; i++) {
            w = next_open(&g->set[g->around[i]], w, &g->work);
        }
        g->work += 1 + 2 * g->n_around;
        const uint32_t bit = w <= limit / 64 ? free_in_word(g, w) : 64;
        if (bit < 64) {
            return 64 * w + bit < limit ? 64 * w + bit : limit;
        }
    }
    return limit;
}

/* @return whether to stop. */
static bool color_variable(greedy *g, uint32_t v)
{
    const gbsi_graph *graph = g->graph;
    const uint64_t worked = g->work;
    const size_t begin = gbsi_graph_ends(graph, v);
    const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
    size_t degree = 0;
    g->n_around = 0;
    for (size_t i = begin; i < end; i++) {
        const color_set *set = set_of_end(g, i);
        degree += gbsi_graph_n_others(graph, i);
        if (set != NULL) {
            g->around[g->n_around++] = (uint32_t)(set - g->set);
        }
    }
    /* The neighbours use at most `degree` colours, all below n_colors: one of 0..limit is free. */
    const size_t limit = degree < g->n_colors ? degree : g->n_colors;
    mark_ends(g, begin, end, limit, false);
    const uint32_t color = (uint32_t)lowest_free(g, limit);
    if (g->n_around == 0) {
        memset(g->used, 0, (limit / 64 + 1) * sizeof *g->used);
    } else {
        mark_ends(g, begin, end, limit, true);
    }
    g->color[v] = color;
    g->n_colors = color >= g->n_colors ? color + 1 : g->n_colors;
    for (size_t i = 0; i < g->n_around; i++) {
        set_insert(&g->set[g->around[i]], color);
    }
    return gbsi_watch_spend(g->watch, g->work - worked);
}

/* The colours around a variable whose turn comes soon; its row even sooner. */
static void look_ahead(const greedy *g, const uint32_t *sequence, size_t n, size_t i)
{
    const gbsi_graph *graph = g->graph;
    if (graph->neighbour == NULL || i + 2 * AHEAD >= n) {
        return;
    }
    __builtin_prefetch(&graph->neighbour[gbsi_graph_ends(graph, sequence[i + 2 * AHEAD])]);
    const size_t begin = gbsi_graph_ends(graph, sequence[i + AHEAD]);
    const size_t end = gbsi_graph_ends(graph, sequence[i + AHEAD] + (size_t)1);
    for (size_t e = begin; e < end && e < begin + 16; e++) {
        __builtin_prefetch(&g->color[graph->neighbour[e]]);
    }
}

gbs_status gbsi_graph_color_greedy(const gbsi_graph *graph, gbsi_color_order order,
                                   gbsi_watch *watch, uint32_t *color, uint32_t *n_colors,
                                   uint64_t *work, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = graph->n_variables;
    greedy g = {.graph = graph, .color = color, .watch = watch};
    uint32_t *sequence = gbsi_alloc_array(n, sizeof *sequence);
    g.used = gbsi_alloc_array_zero(n / 64 + 1, sizeof *g.used);
    GBSI_TRY(GBSI_HAVE(err, "colouring", sequence, g.used));
    if (graph->neighbour == NULL) {
        GBSI_TRY(take_sets(&g, err));
    }
    if (order == GBSI_LARGEST_FIRST) {
        GBSI_TRY(gbsi_order_largest_first(graph, watch, sequence, err));
    } else {
        GBSI_TRY(gbsi_order_smallest_last(graph, watch, sequence, err));
    }
    for (size_t v = 0; v < n; v++) {
        color[v] = GBSI_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        look_ahead(&g, sequence, n, i);
        if (color_variable(&g, sequence[i])) {
            GBSI_TRY(gbsi_watch_fail(err, "colouring"));
        }
    }
    *n_colors = g.n_colors;
    if (work != NULL) {
        *work = g.work;
    }

cleanup:
    GBSI_FREE(sequence, g.used, g.set_of, g.set, g.around, g.bits, g.next, g.above);
    return status;
}

/* Greedy in both orders; three colours are the fewest where two do not do. */
static gbs_status color_greedily(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *color,
                                 uint32_t *n_colors, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = graph->n_variables;
    uint32_t n_first = 0;
    uint32_t n_second = UINT32_MAX;
    uint32_t *second = NULL;
    uint32_t *first = gbsi_alloc_array(n, sizeof *first);
    GBSI_TRY(GBSI_HAVE(err, "colouring", first));
    GBSI_TRY(gbsi_graph_color_greedy(graph, GBSI_LARGEST_FIRST, watch, first, &n_first, NULL, err));
    if (n_first > 3) {
        second = gbsi_alloc_array(n, sizeof *second);
        GBSI_TRY(GBSI_HAVE(err, "colouring", second));
        GBSI_TRY(gbsi_graph_color_greedy(graph, GBSI_SMALLEST_LAST, watch, second, &n_second, NULL,
                                         err));
    }
    memcpy(color, n_second < n_first ? second : first, n * sizeof *color);
    *n_colors = n_second < n_first ? n_second : n_first;

cleanup:
    GBSI_FREE(first, second);
    return status;
}

gbs_status gbsi_graph_color(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *color,
                            uint32_t *n_colors, gbs_error *err)
{
    bool bipartite = false;
    if (graph->all) {
        for (uint32_t v = 0; v < graph->n_variables; v++) {
            color[v] = v;
        }
        *n_colors = graph->n_variables;
        return GBS_OK;
    }
    const gbs_status status = gbsi_graph_color_two(graph, color, &bipartite, err);
    if (status < 0 || !bipartite) {
        return status < 0 ? status : color_greedily(graph, watch, color, n_colors, err);
    }
    *n_colors = graph->n_variables == 0 ? 0 : graph->n_scopes == 0 ? 1 : 2;
    return GBS_OK;
}
