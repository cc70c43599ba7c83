/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for a better order by eliminating the variables of small regions again.
 *
 * Let R be a region, that is, a connected set of bags, and let U be the variables in these bags.
 * For each bag outside R that is adjacent to a bag in R, let S be the separator of the two bags.
 * The region's graph has the vertices U and the edges of the model, and in addition each S is a
 * clique. Any tree decomposition of this graph can replace R: each S lies in some bag of this
 * decomposition, and the outside bag of S is joined to this bag.
 *
 * Regions are small and random, and bags with many entries are chosen often. The noise of the
 * greedy elimination is large. On the models that were tried, neither a better rule nor an
 * occasional step to a worse tree gave an improvement. */
#include "graph/order_search.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "graph/elimination.h"
#include "graph/order_search_inside.h"
#include "rng/philox.h"
#include "simd/math.h"

enum {
    FEW_BAGS = 12,  /* a region has at most two bags more than this number */
    MANY_BAGS = 40, /* replaces FEW_BAGS in one of ten regions */
    LEAST_VERTICES = 40,
    MORE_VERTICES = 160, /* a region stops growing at a random number of vertices from 40 to 199 */
    SLOT_STEPS = 20,     /* number of steps that adding, removing or joining a bag costs */
    FIRST_PROSPECT =
        1
        << 24, /* number of steps before the first check whether the search still has a prospect */
    LOOK =
        64, /* number of regions between two times that the sum of all entries is computed again */
};

#define NOISE 16.0

static const char what[] = "elimination order"; /* name of the object in messages */
static const char doing[] = "looking for an elimination order";

typedef struct order_search {
    const gbsi_order_graph *graph;
    bags bags;
    uint32_t *local; /* [n] index in the region; GBSI_NONE outside the region */
    order_random random;
    uint64_t work;
    uint32_t stamp; /* value of `mark` that shows that a bag is in the current region */
    uint32_t n_in, in[2 + MANY_BAGS];
    uint32_t *border; /* [slots] bags outside the region that are adjacent to it */
    uint32_t n_border;
    double entries; /* sum of the entries of the region's bags */
    region region;
    greedy greedy;
    triangulation made;
} order_search;

/* ---- random words -------------------------------------------------------------------------- */

static uint32_t next_word(order_random *random)
{
    if (random->n_left == 0) {
        const uint64_t block = random->next++;
        gbsi_philox(0, 0, block >> 32, (uint32_t)block, GBSI_PURPOSE_ORDER, random->word);
        random->n_left = 4;
    }
    return random->word[--random->n_left];
}

/* Returns a random number below n; all are equally likely. */
static uint32_t random_below(order_random *random, uint32_t n)
{
    return (uint32_t)((uint64_t)next_word(random) * n >> 32);
}

double gbsi_order_uniform(order_random *random)
{
    return next_word(random) * 0x1p-32;
}

/* ---- the bags of an order ------------------------------------------------------------------ */

static gbs_status add_clique(order_search *s, uint32_t v, const uint32_t *later, uint32_t n_later,
                             uint32_t *slot, gbs_error *err)
{
    double entries = s->graph->arity[v];
    for (uint32_t k = 0; k < n_later; ++k) {
        entries *= s->graph->arity[later[k]];
    }
    const gbs_status status = gbsi_bags_reserve(&s->bags, n_later + (size_t)1, err);
    if (status == GBS_OK) {
        *slot = gbsi_bags_add(&s->bags, n_later + 1, entries);
        uint32_t *member = s->bags.member + s->bags.bag[*slot].first;
        member[0] = v;
        memcpy(member + 1, later, n_later * sizeof *member);
    }
    return status;
}

/* Makes a bag from each maximal clique and joins it to the bag of the clique's parent; see
 * elimination_tree.c. */
static gbs_status fill_bags(order_search *s, const uint32_t *order, const gbsi_order_cliques *c,
                            uint32_t *position, uint32_t *slot, gbs_error *err)
{
    const uint32_t n = s->graph->n;
    for (uint32_t i = 0; i < n; ++i) {
        position[order[i]] = i;
        slot[i] = GBSI_NONE;
    }
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t n_later = (uint32_t)(c->start[i + (size_t)1] - c->start[i]);
        const uint32_t *later = c->member + c->start[i];
        uint32_t p = GBSI_NONE;
        if (slot[i] == GBSI_NONE) {
            GBSI_PASS(add_clique(s, order[i], later, n_later, &slot[i], err));
        }
        for (uint32_t k = 0; k < n_later; ++k) {
            p = position[later[k]] < p ? position[later[k]] : p;
        }
        if (p != GBSI_NONE && slot[p] == GBSI_NONE &&
            n_later == c->start[p + (size_t)1] - c->start[p] + 1) {
            slot[p] = slot[i];
        }
        s->border[i] =
            p; /* until the first region is made, this array holds the parents of the cliques */
    }
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t p = s->border[i];
        if (p != GBSI_NONE && slot[i] != slot[p]) {
            gbsi_bags_join(&s->bags, slot[i], slot[p]);
        }
    }
    return GBS_OK;
}

static gbs_status make_bags(order_search *s, const uint32_t *order, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = s->graph->n;
    gbsi_order_cliques cliques = {0};
    uint32_t *slot = NULL;
    GBSI_TRY(gbsi_order_cliques_init(s->graph, order, &cliques, err));
    GBSI_TRY(gbsi_bags_init(&s->bags, n, cliques.start[n], err));
    slot = gbsi_alloc_array(n, sizeof *slot);
    s->local = gbsi_alloc_array(n, sizeof *s->local);
    s->border = gbsi_alloc_array(s->bags.most_slots, sizeof *s->border);
    GBSI_TRY(GBSI_HAVE(err, what, slot, s->local, s->border));
    GBSI_TRY(fill_bags(s, order, &cliques, s->local, slot, err));
    memset(s->local, 0xff, n * sizeof *s->local);
    s->work += SLOT_STEPS * (uint64_t)n + 2 * (cliques.start[n] + s->graph->start[n]);

cleanup:
    gbsi_free(slot);
    gbsi_order_cliques_free(&cliques);
    return status;
}

/* Makes an order from the bags. Each variable belongs to one bag: among the bags that contain the
 * variable, the bag nearest to the root. A variable is eliminated after the variables that belong
 * to bags below its bag. The root is the bag with the most entries. */
static gbs_status write_order(order_search *s, uint32_t *order, gbs_error *err)
{
    const bags *b = &s->bags;
    uint32_t n_listed = 0;
    uint32_t n_placed = 0;
    uint32_t root = 0;
    uint32_t *listed = gbsi_alloc_array(b->n_slots, sizeof *listed);
    GBSI_PASS(GBSI_HAVE(err, what, listed));
    for (uint32_t i = 1; i < b->n_slots; ++i) {
        root = b->bag[i].entries > b->bag[root].entries ? i : root;
    }
    ++s->stamp;
    b->bag[root].mark = s->stamp;
    listed[n_listed++] = root;
    for (uint32_t i = 0; i < n_listed; ++i) {
        const bag *x = &b->bag[listed[i]];
        for (uint32_t k = 0; k < x->n; ++k) {
            const uint32_t v = b->member[x->first + k];
            if (s->local[v] == GBSI_NONE) {
                s->local[v] = 0;
                order[s->graph->n - ++n_placed] = v;
            }
        }
        for (uint32_t l = x->link; l != GBSI_NONE; l = b->link[l].next) {
            const uint32_t y = b->link[l].to;
            if (b->bag[y].mark != s->stamp) {
                b->bag[y].mark = s->stamp;
                listed[n_listed++] = y;
            }
        }
    }
    assert(n_placed == s->graph->n);
    gbsi_free(listed);
    return GBS_OK;
}

/* ---- a region ------------------------------------------------------------------------------ */

static void take_bag(order_search *s, uint32_t at)
{
    const bags *b = &s->bags;
    bag *x = &b->bag[at];
    s->in[s->n_in++] = at;
    s->entries += x->entries;
    s->work += x->n;
    x->mark = s->stamp;
    for (uint32_t k = 0; k < x->n; ++k) {
        const uint32_t v = b->member[x->first + k];
        if (s->local[v] == GBSI_NONE) {
            s->local[v] = s->region.n;
            s->region.vertex[s->region.n++] = v;
        }
    }
    for (uint32_t l = x->link; l != GBSI_NONE; l = b->link[l].next) {
        if (b->bag[b->link[l].to].mark != s->stamp) {
            s->border[s->n_border++] = b->link[l].to;
        }
        ++s->work;
    }
}

/* Returns the index of the border bag that will be added to the region next. On average every
 * second time it is the border bag with the most entries. */
static uint32_t choose_border(order_search *s)
{
    uint32_t at = 0;
    if (random_below(&s->random, 2) == 0) {
        return random_below(&s->random, s->n_border);
    }
    s->work += s->n_border;
    for (uint32_t i = 1; i < s->n_border; ++i) {
        if (s->bags.bag[s->border[i]].entries > s->bags.bag[s->border[at]].entries) {
            at = i;
        }
    }
    return at;
}

/* Lists the members of a bag outside the region that are also in its neighbouring bag of the
 * region.
 * @param shared [MOST_REGION] out: their indices. */
static uint32_t list_shared(order_search *s, const bag *y, uint32_t *shared)
{
    uint32_t n = 0;
    s->work += y->n;
    for (uint32_t k = 0; k < y->n; ++k) {
        const uint32_t i = s->local[s->bags.member[y->first + k]];
        if (i != GBSI_NONE) {
            shared[n++] = i;
        }
    }
    return n;
}

/* Chooses a bag and grows the region from it. */
static void grow(order_search *s)
{
    const bags *b = &s->bags;
    uint32_t shared[MOST_REGION];
    const uint32_t more = random_below(&s->random, 10) == 0 ? MANY_BAGS : FEW_BAGS;
    const uint32_t most_bags = 2 + random_below(&s->random, more);
    const uint32_t most_vertices = LEAST_VERTICES + random_below(&s->random, MORE_VERTICES);
    const uint32_t first = gbsi_bags_pick(b, gbsi_order_uniform(&s->random));
    ++s->stamp;
    s->n_in = 0;
    s->n_border = 0;
    s->entries = 0.0;
    s->region.n = 0;
    if (b->bag[first].n > MOST_REGION) {
        return;
    }
    take_bag(s, first);
    while (s->n_in < most_bags && s->n_border > 0 && s->region.n < most_vertices) {
        const uint32_t at = choose_border(s);
        const uint32_t y = s->border[at];
        if (s->region.n + b->bag[y].n - list_shared(s, &b->bag[y], shared) > MOST_REGION) {
            return;
        }
        s->border[at] = s->border[--s->n_border];
        take_bag(s, y);
    }
}

/* Sets the weight of each vertex of the region to 16 log2 of its arity or, in half of the regions,
 * to 1. */
static void weigh_vertices(order_search *s)
{
    region *r = &s->region;
    const bool by_arity = random_below(&s->random, 2) == 0;
    r->weighted = false;
    for (uint32_t i = 0; i < r->n; ++i) {
        const uint32_t arity = s->graph->arity[r->vertex[i]];
        r->arity[i] = arity;
        r->weight[i] = by_arity ? gbsi_log_weight(arity) : 1;
        r->weighted = r->weighted || r->weight[i] != r->weight[0];
    }
    for (uint32_t i = 0; i < r->n && !r->weighted; ++i) {
        r->weight[i] = 1;
    }
}

static void put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

/* Fills the rows of the region's graph: first adds the edges of the model, then makes each
 * separator a clique. */
static void fill_rows(order_search *s)
{
    region *r = &s->region;
    const gbsi_order_graph *g = s->graph;
    r->n_words = (r->n + 63) / 64;
    memset(r->row, 0, r->n * sizeof *r->row);
    for (uint32_t i = 0; i < r->n; ++i) {
        const size_t end = g->start[r->vertex[i] + (size_t)1];
        for (size_t k = g->start[r->vertex[i]]; k < end; ++k) {
            if (s->local[g->to[k]] != GBSI_NONE) {
                put(r->row[i], s->local[g->to[k]]);
            }
        }
        s->work += end - g->start[r->vertex[i]];
    }
    for (uint32_t k = 0; k < s->n_border; ++k) {
        uint64_t set[REGION_WORDS] = {0};
        uint32_t shared[MOST_REGION];
        const uint32_t n = list_shared(s, &s->bags.bag[s->border[k]], shared);
        for (uint32_t i = 0; i < n; ++i) {
            put(set, shared[i]);
        }
        for (uint32_t i = 0; i < n; ++i) {
            for (uint32_t w = 0; w < r->n_words; ++w) {
                r->row[shared[i]][w] |= set[w];
            }
        }
        s->work += (uint64_t)n * r->n_words;
    }
    for (uint32_t i = 0; i < r->n; ++i) {
        r->row[i][i / 64] &= ~(UINT64_C(1) << i % 64);
    }
}

/* ---- one move ------------------------------------------------------------------------------ */

/* Adds the new bags, which are stored in slot[clique], and their links. */
static void add_made(order_search *s, uint32_t *slot)
{
    const region *r = &s->region;
    const triangulation *t = &s->made;
    bags *b = &s->bags;
    for (uint32_t i = 0; i < t->n; ++i) {
        slot[i] = slot[t->bag[i]];
        if (t->bag[i] != i) {
            continue;
        }
        slot[i] = gbsi_bags_add(b, t->size[i], t->entries[i]);
        uint32_t *member = b->member + b->bag[slot[i]].first;
        for (uint32_t w = 0; w < r->n_words; ++w) {
            for (uint64_t rest = t->clique[i][w]; rest != 0; rest &= rest - 1) {
                *member++ = r->vertex[w * 64 + (uint32_t)__builtin_ctzll(rest)];
            }
        }
        s->work += SLOT_STEPS + t->size[i];
    }
    for (uint32_t i = 0; i < t->n; ++i) {
        if (t->parent[i] != GBSI_NONE && slot[i] != slot[t->parent[i]]) {
            gbsi_bags_join(b, slot[i], slot[t->parent[i]]);
        }
    }
}

/* Joins a bag of the border to a new bag that contains the variables shared with the region. If one
 * of the two bags lies inside the other, the two are merged. */
static void attach(order_search *s, uint32_t y, uint32_t *slot)
{
    const triangulation *t = &s->made;
    bags *b = &s->bags;
    uint32_t shared[MOST_REGION];
    uint32_t at = GBSI_NONE;
    const uint32_t n = list_shared(s, &b->bag[y], shared);
    for (uint32_t i = 0; i < n; ++i) {
        at = t->position[shared[i]] < at ? t->position[shared[i]] : at;
    }
    assert(at != GBSI_NONE); /* a bag is found, because the graph is connected */
    const uint32_t home = slot[at];
    if (n == b->bag[y].n) {
        gbsi_bags_merge(b, home, y);
    } else if (n == b->bag[home].n) {
        gbsi_bags_merge(b, y, home);
        for (uint32_t i = 0; i < t->n; ++i) {
            slot[i] = slot[i] == home ? y : slot[i];
        }
    } else {
        gbsi_bags_join(b, home, y);
    }
    s->work += SLOT_STEPS;
}

static gbs_status replace(order_search *s, gbs_error *err)
{
    uint32_t slot[MOST_REGION];
    size_t n_members = 0;
    for (uint32_t i = 0; i < s->made.n; ++i) {
        n_members += s->made.bag[i] == i ? s->made.size[i] : 0;
    }
    GBSI_PASS(gbsi_bags_reserve(&s->bags, n_members, err));
    for (uint32_t i = 0; i < s->n_in; ++i) {
        gbsi_bags_remove(&s->bags, s->in[i]);
    }
    add_made(s, slot);
    for (uint32_t i = 0; i < s->n_border; ++i) {
        attach(s, s->border[i], slot);
    }
    return GBS_OK;
}

static gbs_status move(order_search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    s->work += SLOT_STEPS;
    grow(s);
    if (s->n_in > 0) {
        weigh_vertices(s);
        fill_rows(s);
        const double noise = NOISE * gbsi_order_uniform(&s->random);
        if (gbsi_greedy_run(&s->greedy, &s->region, noise, &s->random, s->entries, &s->made)) {
            status = replace(s, err);
        }
        s->work += s->greedy.work;
        s->greedy.work = 0;
    }
    for (uint32_t i = 0; i < s->region.n; ++i) {
        s->local[s->region.vertex[i]] = GBSI_NONE;
    }
    return status;
}

/* ---- all moves ----------------------------------------------------------------------------- */

/* Returns the total number of steps that the search may take, given the current number of table
 * entries. */
static uint64_t allow(const gbsi_order_limits *limits, double entries)
{
    if (limits->fixed) {
        return limits->work;
    }
    const double most = (double)limits->entries;
    const uint64_t share = (uint64_t)((entries < most ? entries : most) / GBSI_ORDER_SHARE);
    return share < limits->work ? share : limits->work;
}

/* State of the checks whether the search can still reduce the table entries to a useful number: the
 * number of steps at which the next check is due, and the number of entries at the last check. */
typedef struct prospect {
    uint64_t next; /* steps */
    double entries;
} prospect;

/* Returns whether the search has no prospect of becoming useful. Gains become smaller during a
 * search. A check looks at the gain since the work was half as large. The search is given up if the
 * entries would stay too many even if each remaining doubling of the work gained twice as much. */
static bool is_hopeless(const order_search *s, const gbsi_order_limits *limits, double entries,
                        prospect *p)
{
    const double most = (double)limits->entries;
    if (limits->fixed || entries <= most || s->work < p->next) {
        return false;
    }
    const double gain = gbsi_log2(p->entries / entries);
    const double left = gbsi_log2((double)limits->work / (double)s->work);
    *p = (prospect){.next = 2 * s->work, .entries = entries};
    return 2.0 * gain * left < gbsi_log2(entries / most);
}

static gbs_status search_moves(order_search *s, const gbsi_order_limits *limits, double *entries,
                               gbs_error *err)
{
    prospect p = {.next = FIRST_PROSPECT, .entries = *entries};
    uint64_t most = allow(limits, *entries);
    bool goes_on = s->work < most;
    while (goes_on) {
        const uint64_t begun = s->work;
        for (uint32_t i = 0; i < LOOK && s->work < most; ++i) {
            GBSI_PASS(move(s, err));
        }
        *entries = gbsi_bags_entries(&s->bags);
        most = allow(limits, *entries);
        s->work += s->bags.n_slots;
        if (gbsi_watch_spend(limits->watch, s->work - begun)) {
            GBSI_PASS(gbsi_watch_fail(err, doing));
        }
        goes_on = s->bags.n_bags > 1 && s->work < most && !is_hopeless(s, limits, *entries, &p);
    }
    return GBS_OK;
}

gbs_status gbsi_order_improve(const gbsi_order_graph *graph, const gbsi_order_limits *limits,
                              uint32_t *order, gbsi_order_result *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    order_search *s = gbsi_alloc_zero(sizeof *s);
    GBSI_PASS(GBSI_HAVE(err, what, s));
    s->graph = graph;
    GBSI_TRY(make_bags(s, order, err));
    const double before = gbsi_bags_entries(&s->bags);
    double entries = before;
    GBSI_TRY(search_moves(s, limits, &entries, err));
    if (entries < before) {
        GBSI_TRY(write_order(s, order, err));
    }
    *result = (gbsi_order_result){.before = before, .entries = entries, .work = s->work};

cleanup:
    gbsi_bags_free(&s->bags);
    GBSI_FREE(s->local, s->border, s);
    return status;
}

uint64_t gbsi_order_bytes(uint32_t n, uint64_t n_members)
{
    return sizeof(order_search) + gbsi_bags_bytes(n, n_members) +
           (uint64_t)n * (6 * sizeof(uint32_t) + sizeof(size_t)) + 2 * n_members * sizeof(uint32_t);
}
