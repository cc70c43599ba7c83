/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy colouring: each variable in turn gets the lowest colour that none of its scopes has used.
 *
 * In a short scope the colours of all members are checked. A scope of more than 64 variables
 * keeps a set of the colours used in it. The set is a bitset for colours below 32 times the
 * length (as much memory as the members) and a list for higher colours, which only members of a
 * far larger clique can have. Memory is therefore linear in the size of the model for any number
 * of colours. Full words of a bitset are skipped in one step by links, which every search
 * shortens (Tarjan 1975, J. ACM 22(2):215-225). A clause of 10^6 literals therefore costs some
 * 10^6 look-ups. */
#include "graph/graph.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define LONG_SCOPE     64
#define AHEAD          8  /* number of variables that are prefetched ahead */
#define BITS_PER_ENTRY 32 /* number of bits of a scope's bitset per variable of the scope */

/* The colours used in one long scope. */
typedef struct color_set {
    uint64_t *bit;   /* [n_bits / 64] words of the bitset */
    uint32_t *next;  /* [n_bits / 64] for each full word, the index of a later word; all words
                        between them are full */
    uint32_t *above; /* list of the colours from n_bits up, at most one per variable */
    size_t n_bits;
    size_t n_words; /* number of words of `bit` in use; `next` of later words is not valid */
    size_t n_above;
} color_set;

typedef struct greedy {
    const gbsi_graph *graph;
    uint32_t *color;
    uint32_t n_colors;
    /* [n_variables / 64 + 1] colours used by neighbours of the current variable, except the colours
     * in bitsets; all zero before and after a variable is coloured */
    uint64_t *used;
    uint32_t *set_of; /* [n_scopes] index into `set`; GBSI_NONE for a short scope; NULL if all
                         scopes are short */
    color_set *set;
    uint32_t *around; /* [n_around] sets of the long scopes of the current variable */
    size_t n_around;
    uint64_t *bits; /* storage of all sets */
    uint32_t *next, *above;
    uint64_t work; /* number of colours and of words of bitsets that were examined */
    gbsi_watch *watch;
} greedy;

static size_t scope_size(const gbsi_graph *graph, size_t s)
{
    return graph->scope_start[s + 1] - graph->scope_start[s];
}

/* Returns the set of the scope of an end; NULL if the scope is short. */
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
    set->next[word] = (uint32_t)word + 1; /* used only once the word is full */
    set->n_words = word + 1 > set->n_words ? word + 1 : set->n_words;
}

/* Returns the index of the first word from w on that is not full; words beyond n_words count as not
 * full. The search shortens the links that it follows: each of them then leads to the target of its
 * target. */
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

/* Marks a colour as used by a neighbour of the current variable, or clears the word that contains
 * this mark. Colours from `limit` up are ignored. */
static void mark(greedy *g, uint32_t color, size_t limit, bool wipe)
{
    if (color < limit) {
        uint64_t *used = &g->used[color / 64];
        *used = wipe ? 0 : *used | UINT64_C(1) << (color % 64);
    }
}

/* Marks the colours that neighbours of the current variable use in short scopes, and the colours in
 * the lists of the long scopes' sets. The ends of the variable are [begin, end). */
static void mark_ends(greedy *g, size_t begin, size_t end, size_t limit, bool wipe)
{
    for (size_t i = begin; i < end; i++) {
        const gbsi_members members = gbsi_graph_members(g->graph, i);
        for (size_t j = 0; j < members.n && set_of_end(g, i) == NULL; j++) {
            /* a variable without a colour has GBSI_NONE, which is never below the limit */
            mark(g, g->color[members.variable[j]], limit, wipe);
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

/* Returns the lowest colour of a word, as a bit number, that no neighbour of the current variable
 * uses; 64 if all are used. */
static uint32_t free_in_word(const greedy *g, size_t w)
{
    uint64_t used = g->used[w];
    for (size_t i = 0; i < g->n_around; i++) {
        const color_set *set = &g->set[g->around[i]];
        used |= w < set->n_words ? set->bit[w] : 0;
    }
    return used == UINT64_MAX ? 64 : (uint32_t)__builtin_ctzll(~used);
}

/* Returns the lowest colour that no neighbour of the current variable uses. Only colours below
 * `limit` are checked; `limit` itself is always free. */
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

/* Stores the colour of a variable, also in the sets of its long scopes. @return whether to stop. */
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
    /* The neighbours use at most `degree` colours, all below n_colors. Hence one of the colours
     * 0..limit is free. */
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

/* Prefetches the colours of the neighbours of a variable that will be coloured soon, and the row of
 * a variable that comes later. */
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

/* Colours greedily in both orders. The function is called only if two colours do not suffice; a
 * result with three colours is therefore optimal. */
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
