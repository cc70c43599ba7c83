/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the fill of every vertex exact during an elimination. The fill is the number of pairs of
 * neighbours of a vertex that are not adjacent.
 *
 * The fill of a vertex that has degree d and lies in t triangles is d (d - 1) / 2 - t. The
 * elimination of a vertex v with the neighbours N changes the fill of two kinds of vertices:
 *   - a vertex w in N, which loses the neighbour v and gains as neighbours the members of N that
 *     were not adjacent to w;
 *   - a vertex outside N that is adjacent to both ends of a new edge; its fill falls by one for
 *     each such edge.
 * One pass over the rows of those members of N that are not adjacent to all other members gives
 * both changes; the members of N are bits of a word. If N is already a clique, this pass is not
 * needed. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "graph/elimination_inside.h"

static unsigned count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

static uint64_t bit(uint32_t i)
{
    return UINT64_C(1) << i;
}

/* Returns the lowest member of a set that is not empty. */
static uint32_t lowest_bit(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

/* ---- the queue ----------------------------------------------------------------------------- */

static uint32_t bucket_of(const search *s, const vertex *x)
{
    const int64_t key = s->by_weight ? (int64_t)x->weight : x->fill;
    return key < MOST_FILL ? (uint32_t)key : MOST_FILL;
}

static bool is_held(const search *s, uint32_t v)
{
    return s->held && s->limits.late[v] != 0;
}

/* Unlinks the queue nodes that are no longer the valid node of a vertex; afterwards the queue has
 * at most as many nodes as vertices. */
static void sweep(search *s)
{
    for (uint32_t b = 0; b < N_BUCKETS; ++b) {
        uint32_t *link = &s->top[b];
        while (*link != GBSI_NONE) {
            const uint32_t at = *link;
            if (s->x[s->node[at].v].node == at) {
                link = &s->node[at].below;
            } else {
                *link = s->node[at].below;
                s->node[at].below = s->free_node;
                s->free_node = at;
            }
        }
    }
}

static uint32_t take_node(search *s)
{
    if (s->free_node == GBSI_NONE && s->n_nodes == s->node_capacity) {
        sweep(s); /* there are twice as many nodes as vertices: the call frees at least half of them
                   */
    }
    if (s->free_node == GBSI_NONE) {
        return s->n_nodes++;
    }
    const uint32_t at = s->free_node;
    s->free_node = s->node[at].below;
    return at;
}

static void enqueue(search *s, uint32_t v)
{
    vertex *x = &s->x[v];
    const uint32_t b = bucket_of(s, x);
    x->node = GBSI_NONE; /* sweep() may free the old node of the vertex */
    if (is_held(s, v)) {
        return;
    }
    const uint32_t at = take_node(s);
    s->node[at] = (queue_node){.v = v, .below = s->top[b]};
    s->top[b] = at;
    x->node = at;
    s->lowest = b < s->lowest ? b : s->lowest;
}

static void change(search *s, uint32_t v, int64_t fill, uint32_t more, uint32_t less)
{
    vertex *x = &s->x[v];
    const uint32_t before = bucket_of(s, x);
    x->fill += fill;
    x->weight = x->weight + more - less;
    assert(x->fill >= 0);
    if (bucket_of(s, x) != before) {
        enqueue(s, v);
    }
}

void gbsi_fill_release(search *s, uint32_t n)
{
    s->held = false;
    for (uint32_t i = n; i-- > 0;) {
        if (s->local[s->variable[i]] != DEAD) {
            enqueue(s, s->variable[i]);
        }
    }
}

uint32_t gbsi_fill_least(search *s)
{
    while (s->lowest < MOST_FILL) {
        const uint32_t at = s->top[s->lowest];
        if (at == GBSI_NONE) {
            ++s->lowest;
            continue;
        }
        const uint32_t v = s->node[at].v;
        if (s->x[v].node == at) {
            return s->x[v].degree <= MOST_DEGREE ? v : GBSI_NONE;
        }
        s->top[s->lowest] = s->node[at].below;
        s->node[at].below = s->free_node;
        s->free_node = at;
    }
    return GBSI_NONE;
}

/* ---- initial state ------------------------------------------------------------------------- */

/* Counts the triangles v < u < x. */
static void count_triangles(search *s, uint32_t v, uint32_t u)
{
    vertex *a = &s->x[v];
    vertex *b = &s->x[u];
    uint32_t i = gbsi_row_find(a, u + 1);
    uint32_t j = gbsi_row_find(b, u + 1);
    if (a->n - i > b->n - j) { /* afterwards `a` is the shorter row */
        vertex *const longer = a;
        const uint32_t k = i;
        a = b;
        i = j;
        b = longer;
        j = k;
    }
    const bool search_b = (b->n - j) / HUB > a->n - i;
    s->work += search_b ? (uint64_t)(a->n - i) * SEARCH : (uint64_t)(a->n - i) + (b->n - j);
    for (; i < a->n && j < b->n; ++i) {
        const uint32_t x = a->to[i];
        if (search_b) {
            j = gbsi_row_find(b, x);
        } else {
            while (j < b->n && b->to[j] < x) {
                ++j;
            }
        }
        if (j < b->n && b->to[j] == x) {
            --a->fill;
            --b->fill;
            --s->x[x].fill;
        }
    }
}

/* Fills the queue. With shuffle = 0 the variables are pushed such that the lowest is on top.
 * Otherwise `shuffle` selects an order: Fisher & Yates, with a linear congruential sequence, whose
 * quality does not matter here. */
static void start_queue(search *s, uint32_t n, uint32_t shuffle)
{
    queue_node *node = s->node;
    uint64_t z = shuffle;
    for (uint32_t i = 0; i < n; ++i) {
        node[i].v = s->variable[n - 1 - i];
    }
    for (uint32_t i = n; shuffle > 0 && i-- > 1;) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        const uint32_t j = (uint32_t)((z >> 32) * (i + UINT64_C(1)) >> 32);
        const uint32_t v = node[i].v;
        node[i].v = node[j].v;
        node[j].v = v;
    }
    memset(s->top, 0xff, sizeof s->top);
    for (uint32_t i = 0; i < n; ++i) {
        vertex *x = &s->x[node[i].v];
        if (is_held(s, node[i].v)) {
            continue;
        }
        node[i].below = s->top[bucket_of(s, x)];
        s->top[bucket_of(s, x)] = i;
        x->node = i;
    }
    s->n_nodes = n;
    s->free_node = GBSI_NONE;
    s->lowest = 0;
}

gbs_status gbsi_fill_start(search *s, uint32_t n, uint32_t shuffle, gbs_error *err)
{
    void *pointer = s->node;
    GBSI_PASS(gbsi_reserve(&pointer, &s->node_capacity, 2 * (size_t)n, sizeof *s->node,
                           "elimination", err));
    s->node = pointer;
    for (uint32_t i = 0; i < n; ++i) {
        vertex *x = &s->x[s->variable[i]];
        const int64_t d = x->n;
        x->degree = x->n;
        x->fill = d * (d - 1) / 2;
        x->weight = gbsi_log_weight(s->arity[s->variable[i]]);
        for (uint32_t k = 0; k < x->n; ++k) {
            x->weight += gbsi_log_weight(s->arity[x->to[k]]);
        }
    }
    for (uint32_t i = 0; i < n && s->work <= s->most_work; ++i) {
        const vertex *x = &s->x[s->variable[i]];
        for (uint32_t k = gbsi_row_find(x, s->variable[i] + 1); k < x->n; ++k) {
            count_triangles(s, s->variable[i], x->to[k]);
        }
    }
    start_queue(s, n, shuffle);
    return GBS_OK;
}

/* ---- elimination of one variable ----------------------------------------------------------- */

void gbsi_fill_gather(search *s, uint32_t v, neighbourhood *N)
{
    const vertex *x = &s->x[v];
    assert(x->degree <= MOST_DEGREE);
    N->n = 0;
    for (uint32_t i = 0; i < x->n; ++i) {
        if (s->local[x->to[i]] != DEAD) {
            N->v[N->n++] = x->to[i];
        }
    }
    s->work += x->n;
    assert(N->n == x->degree);
}

/* Reserves room for n more vertices in `outside`. */
static gbs_status reserve_outside(search *s, size_t n, gbs_error *err)
{
    if (s->n_outside + n <= s->outside_capacity && s->n_outside + n <= s->outside_of_capacity) {
        return GBS_OK;
    }
    void *pointer = s->outside;
    GBSI_PASS(gbsi_reserve(&pointer, &s->outside_capacity, s->n_outside + n, sizeof *s->outside,
                           "elimination", err));
    s->outside = pointer;
    pointer = s->outside_of;
    GBSI_PASS(gbsi_reserve(&pointer, &s->outside_of_capacity, s->n_outside + n,
                           sizeof *s->outside_of, "elimination", err));
    s->outside_of = pointer;
    return GBS_OK;
}

/* Reads the row of the member of N with index i. @param has out: the members of N that are adjacent
 * to member i. For each neighbour of member i outside N, bit i is set in `outside_of`. */
static gbs_status read_row(search *s, const neighbourhood *N, uint32_t i, uint64_t *has,
                           gbs_error *err)
{
    const vertex *x = &s->x[N->v[i]];
    GBSI_PASS(reserve_outside(s, x->n, err));
    s->work += x->n;
    *has = 0;
    for (uint32_t k = 0; k < x->n; ++k) {
        const uint32_t u = x->to[k];
        uint32_t at = s->local[u];
        if (at < MOST_DEGREE) {
            *has |= bit(at);
        } else if (at != DEAD) {
            if (at == GBSI_NONE) {
                at = MOST_DEGREE + s->n_outside++;
                s->local[u] = at;
                s->outside[at - MOST_DEGREE] = u;
                s->outside_of[at - MOST_DEGREE] = 0;
            }
            s->outside_of[at - MOST_DEGREE] |= bit(i);
        }
    }
    return GBS_OK;
}

static uint64_t search_row(search *s, const neighbourhood *N, uint32_t i)
{
    const vertex *x = &s->x[N->v[i]];
    uint64_t has = 0;
    for (uint32_t k = 0; k < N->n; ++k) {
        const uint32_t at = gbsi_row_find(x, N->v[k]);
        has |= at < x->n && x->to[at] == N->v[k] ? bit(k) : 0;
    }
    s->work += (uint64_t)N->n * SEARCH;
    return has;
}

/* Finds the pairs of members of N that are not adjacent to each other, and the neighbours outside N
 * of the members of these pairs. */
static gbs_status look_around(search *s, neighbourhood *N, gbs_error *err)
{
    for (uint32_t i = 0; i < N->n; ++i) {
        const bool hub = s->x[N->v[i]].n / HUB > N->n + HUB;
        uint64_t has = 0;
        if (hub) {
            has = search_row(s, N, i);
        } else {
            GBSI_PASS(read_row(s, N, i, &has, err));
        }
        N->lacks[i] = (bit(N->n) - 1) & ~has & ~bit(i);
        if (hub && N->lacks[i] != 0) {
            GBSI_PASS(read_row(s, N, i, &has, err));
        }
    }
    return GBS_OK;
}

/* Returns the number of new edges with both ends in a set of members. */
static int64_t new_within(const neighbourhood *N, uint64_t set)
{
    unsigned twice = 0;
    for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
        twice += count_bits(N->lacks[lowest_bit(rest)] & set);
    }
    return twice / 2;
}

/* Updates the fill of the members of N. Within N, member w is adjacent to the set A and not to
 * the set B, and w has r neighbours outside N. The fill of w changes in three ways. It loses the r
 * pairs of v with these neighbours, and the pairs within A that the elimination joins. It gains the
 * |B| r pairs of a member of B and one of these neighbours, except the pairs that are already
 * adjacent. */
static void update_fill(search *s, uint32_t v, const neighbourhood *N)
{
    int64_t fill[MOST_DEGREE];
    const uint32_t less = gbsi_log_weight(s->arity[v]);
    for (uint32_t i = 0; i < N->n; ++i) {
        const uint64_t a = (bit(N->n) - 1) & ~N->lacks[i] & ~bit(i);
        const int64_t r = (int64_t)s->x[N->v[i]].degree - 1 - count_bits(a);
        fill[i] = ((int64_t)count_bits(N->lacks[i]) - 1) * r - new_within(N, a);
    }
    for (uint32_t o = 0; o < s->n_outside; ++o) {
        const uint64_t next_to = s->outside_of[o];
        unsigned twice = 0;
        for (uint64_t rest = next_to; rest != 0; rest &= rest - 1) {
            const uint32_t i = lowest_bit(rest);
            const unsigned n = count_bits(N->lacks[i] & next_to);
            fill[i] -= n;
            twice += n;
        }
        if (twice > 0) {
            change(s, s->outside[o], -(int64_t)(twice / 2), 0, 0);
        }
        s->local[s->outside[o]] = GBSI_NONE;
    }
    s->n_outside = 0;
    for (uint32_t i = 0; i < N->n; ++i) {
        uint32_t more = 0;
        for (uint64_t rest = N->lacks[i]; rest != 0; rest &= rest - 1) {
            more += gbsi_log_weight(s->arity[N->v[lowest_bit(rest)]]);
        }
        change(s, N->v[i], fill[i], more, less);
    }
}

/* Rewrites the row of member i: adds the members of N that the row lacked, and removes eliminated
 * variables. */
static gbs_status extend_row(search *s, const neighbourhood *N, uint32_t i, gbs_error *err)
{
    vertex *x = &s->x[N->v[i]];
    uint64_t lacks = N->lacks[i];
    uint32_t *to = gbsi_alloc_array((size_t)x->degree + count_bits(lacks), sizeof *to);
    uint32_t n = 0;
    GBSI_PASS(GBSI_HAVE(err, "elimination", to));
    for (uint32_t k = 0; k < x->n; ++k) {
        const uint32_t u = x->to[k];
        for (; lacks != 0 && N->v[lowest_bit(lacks)] < u; lacks &= lacks - 1) {
            to[n++] = N->v[lowest_bit(lacks)];
        }
        if (s->local[u] != DEAD) {
            to[n++] = u;
        }
    }
    for (; lacks != 0; lacks &= lacks - 1) {
        to[n++] = N->v[lowest_bit(lacks)];
    }
    s->work += x->n;
    if (x->own) {
        gbsi_free(x->to);
    }
    x->to = to;
    x->n = n;
    x->own = 1;
    return GBS_OK;
}

/* Eliminates v if all members of N are adjacent to one another. Each member w then loses the
 * neighbour v, and its fill falls by one for each neighbour of w outside N. */
static void eliminate_simplicial(search *s, uint32_t v, const neighbourhood *N)
{
    const uint32_t less = gbsi_log_weight(s->arity[v]);
    for (uint32_t i = 0; i < N->n; ++i) {
        vertex *x = &s->x[N->v[i]];
        change(s, N->v[i], (int64_t)N->n - x->degree, 0, less);
        --x->degree;
    }
    s->work += N->n;
}

static gbs_status eliminate_filling(search *s, uint32_t v, neighbourhood *N, gbs_error *err)
{
    for (uint32_t i = 0; i < N->n; ++i) {
        s->local[N->v[i]] = i;
    }
    GBSI_PASS(look_around(s, N, err));
    update_fill(s, v, N);
    for (uint32_t i = 0; i < N->n; ++i) {
        s->local[N->v[i]] = GBSI_NONE;
    }
    for (uint32_t i = 0; i < N->n; ++i) {
        if (N->lacks[i] != 0) {
            GBSI_PASS(extend_row(s, N, i, err));
        }
        vertex *x = &s->x[N->v[i]];
        x->degree = x->degree - 1 + count_bits(N->lacks[i]);
    }
    return GBS_OK;
}

gbs_status gbsi_fill_eliminate(search *s, uint32_t v, neighbourhood *N, gbs_error *err)
{
    vertex *x = &s->x[v];
    s->local[v] = DEAD;
    x->node = GBSI_NONE;
    s->work += 2; /* every elimination counts as at least 2 operations */
    if (x->fill == 0) {
        eliminate_simplicial(s, v, N);
        return GBS_OK;
    }
    const gbs_status status = eliminate_filling(s, v, N, err);
    if (x->own) { /* no one reads the row of v again */
        gbsi_free(x->to);
        x->own = 0;
        x->n = 0;
    }
    return status;
}
