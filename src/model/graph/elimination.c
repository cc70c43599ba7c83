/* SPDX-License-Identifier: Apache-2.0 */
/* Elimination orders by minimum fill: eliminate the variable whose neighbours lack the fewest edges
 * among one another (Rose 1972, in Graph Theory and Computing, 183-217; Kjaerulff 1990, Aalborg R
 * 90-09). Among several such variables the search takes the variable whose number of missing edges
 * changed last. Ties affect the result strongly. The search is therefore repeated, from other
 * starting orders, for components where it costs little. Every second try eliminates the variable
 * whose clique has the least weight, the sum of the logarithms of its arities (Kjaerulff 1990).
 * This rule is better if arities differ much. The order with the smallest tables is kept, and
 * elimination_improve.c starts from it.
 *
 * The search of a component ends at once if every order needs more entries than the limit. This is
 * known in two cases: if the table of a scope exceeds the limit, or if every variable of some part
 * of the component has many neighbours in this part. The treewidth is at least the least degree in
 * any part (Bodlaender & Koster 2011, Inform. Comput. 209:1103-1119). Otherwise the search
 * completes the order, however large its tables are, unless one table is so large that no
 * improvement of the order would help. Effort is counted in entries of rows that are read, never in
 * time, and is therefore equal on all machines. */
#include "graph/elimination.h"

#include <string.h>

#include "base/memory.h"
#include "graph/elimination_inside.h"
#include "graph/order_search.h"

/* largest number of entries of a table; a larger table of 8-byte entries could not be addressed */
#define MOST_ENTRIES (UINT64_C(1) << 62)
/* work that all components together may do in addition to the effort that each component is allowed
 */
#define POOL  (UINT64_C(1) << 24)
#define SPARE (UINT64_C(1) << 23) /* work for further tries of all components */
/* a clique with more entries than this number ends a search, because no improvement saves a factor
 * of 2^24 */
#define HOPELESS   (UINT64_C(1) << 56)
#define MOST_TRIES 16u
/* rows of a component with at least this number of entries take long to make */
#define LARGE       (UINT64_C(1) << 22)
#define MOST_ROUNDS 8 /* largest number of rounds over the variables of a large component */
#define PATIENCE    (UINT64_C(1) << 24) /* work of a search before its progress is judged */

/* ---- components that exceed the limit ------------------------------------------------------- */

/* Compares a scope of v with the limit of entries. The scope is a clique, so any order needs a
 * table that contains the scope. */
static void check_scope(const search *s, uint32_t v, size_t end, gbsi_elimination_part *part)
{
    const gbsi_members members = gbsi_graph_members(s->graph, end);
    const uint32_t width = (uint32_t)gbsi_graph_n_others(s->graph, end);
    uint64_t entries = s->arity[v];
    for (size_t j = 0; j < members.n && entries <= s->limits.entries; ++j) {
        const uint32_t u = members.variable[j];
        entries = u == v ? entries : gbsi_saturating_mul(entries, s->arity[u]);
    }
    if (entries > s->limits.entries) {
        part->end = GBSI_ELIMINATION_ENTRIES;
        part->entries = entries > part->entries ? entries : part->entries;
        part->width = width > part->width ? width : part->width;
    }
}

static void check_scopes(const search *s, gbsi_elimination_part *part)
{
    for (uint32_t i = 0; i < part->n_variables; ++i) {
        const uint32_t v = s->variable[i];
        const size_t end = gbsi_graph_ends(s->graph, v + (size_t)1);
        (void)gbsi_watch_spend(s->limits.watch, 8 * (end - gbsi_graph_ends(s->graph, v)));
        for (size_t k = gbsi_graph_ends(s->graph, v); k < end; ++k) {
            const uint32_t first = gbsi_graph_members(s->graph, k).variable[0];
            if (s->graph->neighbour != NULL ? first > v : first == v) { /* checks each scope once */
                check_scope(s, v, k, part);
            }
        }
    }
}

/* Returns the smallest d for which any clique of d + 1 variables exceeds the limit; GBSI_NONE if
 * some variables have one state. */
static uint32_t hopeless_degree(const search *s, uint32_t n)
{
    uint64_t least = UINT64_MAX;
    uint32_t d = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint64_t k = s->arity[s->variable[i]];
        least = k < least ? k : least;
    }
    if (least == 1) {
        return GBSI_NONE;
    }
    for (uint64_t entries = least; entries <= s->limits.entries; ++d) {
        entries = gbsi_saturating_mul(entries, least);
    }
    return d;
}

/* Removes variables of degree below d until none remains.
 * @param stack [n] scratch. @return the number of variables left, which all have at least d
 * neighbours among themselves. */
static uint32_t peel(search *s, uint32_t n, uint32_t d, uint32_t *stack)
{
    uint32_t n_left = n;
    uint32_t n_stack = 0;
    for (uint32_t i = 0; i < n; ++i) {
        if (s->x[s->variable[i]].degree < d) {
            stack[n_stack++] = s->variable[i];
        }
    }
    while (n_stack > 0) {
        const vertex *x = &s->x[stack[--n_stack]];
        --n_left;
        for (uint32_t k = 0; k < x->n; ++k) {
            if (s->x[x->to[k]].degree-- == d) {
                stack[n_stack++] = x->to[k];
            }
        }
    }
    return n_left;
}

/* Returns whether v has at least d neighbours that are not removed. @param out [variables of the
 * graph] 1: removed. */
static bool sees(const search *s, uint32_t v, uint32_t d, const uint8_t *out)
{
    const size_t end = gbsi_graph_ends(s->graph, v + (size_t)1);
    uint32_t n = 0;
    s->local[v] = v;
    for (size_t i = gbsi_graph_ends(s->graph, v); i < end; ++i) {
        const gbsi_members members = gbsi_graph_members(s->graph, i);
        for (size_t k = 0; k < members.n; ++k) {
            const uint32_t u = members.variable[k];
            if (out[u] == 0 && s->local[u] != v) {
                s->local[u] = v;
                if (++n == d) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Decides the same question as check_core(), for components whose rows take long to make. It visits
 * only as many neighbours of each variable as the decision needs. */
static void check_large_core(search *s, uint64_t room, gbsi_elimination_part *part)
{
    const uint32_t n = part->n_variables;
    const uint32_t d = hopeless_degree(s, n);
    uint32_t left = n;
    uint32_t before = n + 1;
    if (room < LARGE || d == GBSI_NONE) {
        return;
    }
    memset(s->covered, 0, s->e->n_variables);
    for (int round = 0; round < MOST_ROUNDS && left < before; ++round) {
        before = left;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t v = s->variable[i];
            if (s->covered[v] == 0 && !sees(s, v, d, s->covered)) {
                s->covered[v] = 1;
                --left;
            }
        }
    }
    for (uint32_t i = 0; i < n; ++i) {
        s->local[s->variable[i]] = GBSI_NONE;
    }
    if (left == before && left > 0) {
        part->end = GBSI_ELIMINATION_ENTRIES;
        part->width = d > part->width ? d : part->width;
        part->entries = UINT64_MAX;
    }
}

static void check_core(search *s, gbsi_elimination_part *part)
{
    const uint32_t n = part->n_variables;
    const uint32_t d = hopeless_degree(s, n);
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t own = s->x[s->variable[i]].degree;
        most = own > most ? own : most;
    }
    if (most < d || peel(s, n, d, s->e->order + part->first) == 0) {
        return;
    }
    uint32_t least = GBSI_NONE;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t own = s->x[s->variable[i]].degree;
        least = own >= d && own < least ? own : least;
    }
    part->end = GBSI_ELIMINATION_ENTRIES;
    part->width = least;
    part->entries = UINT64_MAX;
}

/* ---- one search ---------------------------------------------------------------------------- */

static uint64_t exact_entries(search *s, const gbsi_elimination_part *part)
{
    return gbsi_elimination_tree(s->e, s->arity, part->first, part->first + part->n_eliminated,
                                 s->position, NULL, s->covered);
}

static gbs_status keep_clique(search *s, uint32_t at, const neighbourhood *N, gbs_error *err)
{
    gbsi_elimination *e = s->e;
    const size_t used = e->clique_start[at];
    void *pointer = e->clique;
    const gbs_status status = gbsi_reserve(&pointer, &s->clique_capacity, used + N->n + 1,
                                           sizeof *e->clique, "elimination", err);
    if (status == GBS_OK) {
        e->clique = pointer;
        memcpy(e->clique + used, N->v, N->n * sizeof *e->clique);
        e->clique_start[at + (size_t)1] = used + N->n;
    }
    return status;
}

static gbs_status eliminate(search *s, gbsi_elimination_part *part, uint32_t v, gbs_error *err)
{
    neighbourhood near;
    const uint32_t at = part->first + part->n_eliminated;
    uint64_t entries = s->arity[v];
    gbsi_fill_gather(s, v, &near);
    for (uint32_t i = 0; i < near.n; ++i) {
        entries = gbsi_saturating_mul(entries, s->arity[near.v[i]]);
    }
    part->width = near.n > part->width ? near.n : part->width;
    if (entries > HOPELESS) {
        part->end = GBSI_ELIMINATION_ENTRIES;
        part->entries = entries;
        return GBS_OK;
    }
    GBSI_PASS(keep_clique(s, at, &near, err));
    s->position[v] = at;
    s->e->order[at] = v;
    ++part->n_eliminated;
    return gbsi_fill_eliminate(s, v, &near, err);
}

/* Returns the least degree of the remaining variables, which is a lower bound on the number of
 * neighbours of the next variable to be eliminated. */
static uint32_t least_degree(const search *s, uint32_t n)
{
    uint32_t least = GBSI_NONE;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t v = s->variable[i];
        if (s->local[v] != DEAD && s->x[v].degree < least) {
            least = s->x[v].degree;
        }
    }
    return least;
}

/* Returns whether the search cannot end within its work. Cheap variables are eliminated first, and
 * each remaining variable will cost at least as much as the average so far; the search can
 * therefore be given up early.
 * @param begun value of s->work before the first elimination. */
static bool is_hopeless(const search *s, const gbsi_elimination_part *part, uint64_t begun)
{
    const double each = (double)(s->work - begun) / (part->n_eliminated + 1.0);
    return s->work > s->most_work ||
           (s->work - begun > PATIENCE &&
            (double)begun + each * part->n_variables > (double)s->most_work);
}

uint32_t gbsi_count_late(const search *s, uint32_t n)
{
    uint32_t n_late = 0;
    for (uint32_t i = 0; s->limits.late != NULL && i < n; ++i) {
        n_late += s->limits.late[s->variable[i]] != 0;
    }
    return n_late;
}

/* Runs one search on rows that no elimination has changed yet. @param try even: by fill, odd: by
 * weight; tries 0 and 1 start from the lowest variable, later tries start from other variables. */
static gbs_status run_search(search *s, gbsi_elimination_part *part, uint32_t try, gbs_error *err)
{
    const uint32_t n_early = part->n_variables - gbsi_count_late(s, part->n_variables);
    s->by_weight = try % 2 == 1;
    s->held = n_early < part->n_variables;
    GBSI_PASS(gbsi_fill_start(s, part->n_variables, try / 2, err));
    const uint64_t begun = s->work;
    while (part->n_eliminated < part->n_variables && part->end == GBSI_ELIMINATION_DONE) {
        if (s->held && part->n_eliminated == n_early) {
            gbsi_fill_release(s, part->n_variables);
        }
        const uint32_t v = gbsi_fill_least(s);
        if (is_hopeless(s, part, begun)) {
            part->end = GBSI_ELIMINATION_WORK;
        } else if (v == GBSI_NONE) {
            part->end = GBSI_ELIMINATION_ENTRIES;
            part->entries = UINT64_MAX;
        } else {
            GBSI_PASS(eliminate(s, part, v, err));
        }
    }
    if (part->end != GBSI_ELIMINATION_DONE) {
        const uint32_t least = least_degree(s, part->n_variables);
        part->width = least != GBSI_NONE && least > part->width ? least : part->width;
    }
    const uint64_t exact = exact_entries(s, part);
    part->entries = exact > part->entries ? exact : part->entries;
    return GBS_OK;
}

/* ---- one component ------------------------------------------------------------------------- */

/* Restores the state before the first search of this component. */
static gbs_status start_over(search *s, gbsi_elimination_part *part, gbs_error *err)
{
    const uint32_t n = part->n_variables;
    gbsi_rows_free(s, n);
    for (uint32_t i = 0; i < n; ++i) {
        s->position[s->variable[i]] = GBSI_NONE;
        s->local[s->variable[i]] = GBSI_NONE;
    }
    *part = (gbsi_elimination_part){.first = part->first, .n_variables = n};
    s->work = 0;
    return gbsi_rows_make(s, n, err);
}

static bool better(const gbsi_elimination_part *a, const gbsi_elimination_part *b)
{
    const bool a_done = a->end == GBSI_ELIMINATION_DONE;
    const bool b_done = b->end == GBSI_ELIMINATION_DONE;
    return a_done != b_done ? a_done : a_done && a->entries < b->entries;
}

/* Returns whether the spare work suffices for another try; if so, subtracts the cost of the try
 * from the spare work. Each search counts twice, because the best one may have to be repeated. */
static bool afford(search *s)
{
    if (2 * s->work > s->spare) {
        return false;
    }
    s->spare -= 2 * s->work;
    return true;
}

static gbs_status try_again(search *s, gbsi_elimination_part *part, gbs_error *err)
{
    gbsi_elimination_part best = *part;
    uint32_t best_try = 0;
    uint32_t try = 0;
    if (part->width <= GBSI_EASY_WIDTH) {
        return GBS_OK;
    }
    while (try + 1 < MOST_TRIES && afford(s)) {
        ++try;
        GBSI_PASS(start_over(s, part, err));
        GBSI_PASS(run_search(s, part, try, err));
        if (better(part, &best)) {
            best = *part;
            best_try = try;
        }
    }
    if (best_try != try) {
        GBSI_PASS(start_over(s, part, err));
        GBSI_PASS(run_search(s, part, best_try, err));
    }
    return GBS_OK;
}

/* Appends the variables that were not eliminated to the order, in ascending order. */
static void list_rest(search *s, const gbsi_elimination_part *part)
{
    uint32_t at = part->first + part->n_eliminated;
    for (uint32_t i = 0; i < part->n_variables; ++i) {
        if (s->position[s->variable[i]] == GBSI_NONE) {
            s->e->clique_start[at + (size_t)1] = s->e->clique_start[at];
            s->e->order[at++] = s->variable[i];
        }
    }
}

/* Finds the elimination order of a component. Before the call, order[first ..] holds the variables
 * of the component, ascending. */
static gbs_status run_part(search *s, gbsi_elimination_part *part, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = part->n_variables;
    memcpy(s->variable, s->e->order + part->first, n * sizeof *s->variable);
    s->work = 0;
    check_scopes(s, part);
    const uint64_t room = gbsi_rows_room(s, n);
    const uint64_t effort = gbsi_saturating_mul(s->limits.effort, (uint64_t)n + room);
    s->most_work = effort > UINT64_MAX - s->pool ? UINT64_MAX : effort + s->pool;
    if (part->end == GBSI_ELIMINATION_DONE) {
        check_large_core(s, room, part);
    }
    if (part->end == GBSI_ELIMINATION_DONE) {
        GBSI_TRY(gbsi_rows_make(s, n, err));
        check_core(s, part);
    }
    if (part->end == GBSI_ELIMINATION_DONE) {
        GBSI_TRY(run_search(s, part, 0, err));
        const uint64_t more = s->work > effort ? s->work - effort : 0;
        s->pool -= more < s->pool ? more : s->pool;
        GBSI_TRY(try_again(s, part, err));
        GBSI_TRY(gbsi_elimination_improve(s, part, err));
    }
    list_rest(s, part);

cleanup:
    gbsi_rows_free(s, n);
    return status;
}

/* ---- all components ------------------------------------------------------------------------ */

/* Sorts variables by component with a counting sort; fills `order`, and `first` and n_variables
 * of each part. */
static gbs_status sort_components(search *s, gbs_error *err)
{
    gbsi_elimination *e = s->e;
    const uint32_t n = e->n_variables;
    uint32_t *of = s->local; /* s->local serves as scratch and is restored below */
    GBSI_PASS(gbsi_graph_components(s->graph, of, &e->n_parts, err));
    e->part = gbsi_alloc_array_zero(e->n_parts, sizeof *e->part);
    GBSI_PASS(GBSI_HAVE(err, "elimination", e->part));
    for (uint32_t v = 0; v < n; ++v) {
        ++e->part[of[v]].n_variables;
    }
    for (uint32_t c = 1; c < e->n_parts; ++c) {
        e->part[c].first = e->part[c - 1].first + e->part[c - 1].n_variables;
    }
    for (uint32_t v = 0; v < n; ++v) {
        e->order[e->part[of[v]].first++] = v;
    }
    for (uint32_t c = 0; c < e->n_parts; ++c) {
        e->part[c].first -= e->part[c].n_variables;
    }
    memset(of, 0xff, n * sizeof *of);
    return GBS_OK;
}

static gbs_status take_search(search *s, gbs_error *err)
{
    const size_t n = s->e->n_variables;
    s->e->order = gbsi_alloc_array(n, sizeof *s->e->order);
    s->e->clique_start = gbsi_alloc_array_zero(n + 1, sizeof *s->e->clique_start);
    s->position = gbsi_alloc_array(n, sizeof *s->position);
    s->local = gbsi_alloc_array(n, sizeof *s->local);
    s->x = gbsi_alloc_array_zero(n, sizeof *s->x);
    s->covered = gbsi_alloc_array(n, 1);
    s->variable = gbsi_alloc_array(n, sizeof *s->variable);
    GBSI_PASS(GBSI_HAVE(err, "elimination", s->e->order, s->e->clique_start, s->position, s->local,
                        s->x, s->covered, s->variable));
    memset(s->position, 0xff, n * sizeof *s->position);
    memset(s->local, 0xff, n * sizeof *s->local);
    return GBS_OK;
}

static void free_search(search *s)
{
    GBSI_FREE(s->position, s->local, s->x, s->covered, s->variable, s->node, s->outside,
              s->outside_of);
}

void gbsi_elimination_free(gbsi_elimination *e)
{
    if (e == NULL) {
        return;
    }
    GBSI_FREE(e->part, e->order, e->clique_start, e->clique, e);
}

gbs_status gbsi_elimination_new(const gbsi_graph *graph, const gbsi_elimination_limits *limits,
                                gbsi_elimination **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_elimination *e = gbsi_alloc_zero(sizeof *e);
    GBSI_PASS(GBSI_HAVE(err, "elimination", e));
    e->n_variables = graph->n_variables;
    search s = {.graph = graph,
                .arity = graph->model->arity,
                .e = e,
                .limits = *limits,
                .pool = POOL,
                .spare = SPARE,
                .order_pool =
                    limits->steps > 0 ? limits->steps : limits->useful / GBSI_ORDER_SHARE};
    s.limits.entries = limits->entries < MOST_ENTRIES ? limits->entries : MOST_ENTRIES;
    if (graph->n_variables > GBSI_NONE / 2) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT, "elimination: found more than %u variables",
                           GBSI_NONE / 2));
    }
    GBSI_TRY(take_search(&s, err));
    GBSI_TRY(sort_components(&s, err));
    for (uint32_t c = 0; c < e->n_parts; ++c) {
        GBSI_TRY(run_part(&s, &e->part[c], err));
    }
    *out = e;
    e = NULL;

cleanup:
    free_search(&s);
    gbsi_elimination_free(e);
    return status;
}
