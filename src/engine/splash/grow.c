/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define REJECTED UINT32_MAX
/* values of place[] from UNDECIDED on are UNDECIDED plus the version of the slot's key */
#define UNDECIDED (UINT32_C(1) << 31)

/* ---- life ------------------------------------------------------------------------------------ */

static uint32_t most_links(const gbsi_potentials *p)
{
    size_t most = 0;
    for (uint32_t s = 0; s < p->n; ++s) {
        const size_t n = p->link_start[s + 1] - p->link_start[s];
        most = n > most ? n : most;
    }
    return most < UINT32_MAX - 1 ? (uint32_t)most : UINT32_MAX - 1;
}

uint64_t gbsi_grower_bytes(const gbsi_plan *plan, int order)
{
    const uint64_t n = plan->n_slots;
    const gbsi_long_counts many = gbsi_count_long(plan);
    const uint64_t of_sums = many.n_ends / GBSI_SCORE_LONG * (GBSI_LANES * sizeof(size_t) + 4);
    return n * (order == GBS_GROW_ADAPTIVE ? 28 : 24) + GBSI_SCORE_STATES * sizeof(double) +
           many.n * (order == GBS_GROW_ADAPTIVE ? 12 : 8) +
           (order == GBS_GROW_ADAPTIVE ? of_sums : 0);
}

gbs_status gbsi_grower_init(gbsi_grower *g, const gbsi_potentials *p, int order, gbs_error *err)
{
    gbs_status status = GBS_OK;
    *g = (gbsi_grower){0};
    g->mark = gbsi_alloc_array_zero(p->n, sizeof *g->mark);
    g->place = gbsi_alloc_array(p->n, sizeof *g->place);
    g->near = gbsi_alloc_array((size_t)most_links(p) + 1, sizeof *g->near);
    GBSI_TRY(GBSI_HAVE(err, "splash", g->mark, g->place, g->near));
    GBSI_TRY(gbsi_shares_init(&g->shares, p, err));
    if (order == GBS_GROW_ADAPTIVE) {
        GBSI_TRY(gbsi_score_scratch_init(&g->score, p, err));
    }
cleanup:
    if (status < 0) {
        gbsi_grower_free(g);
    }
    return status;
}

void gbsi_grower_free(gbsi_grower *g)
{
    GBSI_FREE(g->mark, g->place, g->near, g->heap);
    gbsi_shares_free(&g->shares);
    gbsi_score_scratch_free(&g->score);
    *g = (gbsi_grower){0};
}

/* ---- candidates, least key first ------------------------------------------------------------- */

static bool before(const gbsi_candidate *a, const gbsi_candidate *b)
{
    return a->key < b->key || (a->key == b->key && a->slot < b->slot);
}

static gbs_status push(gbsi_grower *g, gbsi_candidate candidate, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve((void **)&g->heap, &g->heap_capacity, g->n_heap + 1, sizeof *g->heap,
                           "splash", err));
    size_t at = g->n_heap++;
    for (; at > 0 && before(&candidate, &g->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        g->heap[at] = g->heap[(at - 1) / 2];
    }
    g->heap[at] = candidate;
    return GBS_OK;
}

static gbsi_candidate pop(gbsi_grower *g)
{
    assert(g->n_heap > 0);
    const gbsi_candidate top = g->heap[0];
    const gbsi_candidate last = g->heap[--g->n_heap];
    size_t at = 0;
    for (size_t child = 1; child < g->n_heap; child = 2 * at + 1) {
        child += child + 1 < g->n_heap && before(&g->heap[child + 1], &g->heap[child]);
        if (!before(&g->heap[child], &last)) {
            break;
        }
        g->heap[at] = g->heap[child];
        at = child;
    }
    g->heap[at] = last;
    return top;
}

/* ---- neighbourhoods -------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the neighbours of a slot by links in g->near, in ascending order and each of them once. */
static void sort_near(gbsi_grower *g, const gbsi_potentials *p, uint32_t slot)
{
    uint32_t n = 0;
    g->n_near = 0;
    for (size_t l = p->link_start[slot]; l < p->link_start[slot + 1]; ++l) {
        g->near[g->n_near++] = p->link[l].slot;
    }
    qsort(g->near, g->n_near, sizeof *g->near, ascending);
    for (uint32_t i = 0; i < g->n_near; ++i) {
        if (n == 0 || g->near[n - 1] != g->near[i]) {
            g->near[n++] = g->near[i];
        }
    }
    g->n_near = n;
}

/* Locks the Markov blanket of a slot: takes a write lock on the slot, and read locks on its
 * neighbours by links. In place of locks on the variables of its long factors, takes write locks on
 * these factors. All locks are taken in ascending order. Without a lock on a long factor, one
 * thread could write a variable of the factor while another thread reads this variable. */
static void lock_blanket(gbsi_grower *g, const gbsi_growing *job, uint32_t slot)
{
    const gbsi_potentials *p = job->potentials;
    bool done = false;
    sort_near(g, p, slot);
    for (uint32_t i = 0; i < g->n_near; ++i) {
        if (!done && g->near[i] > slot) {
            gbsi_rw_write(&job->lock[slot]);
            done = true;
        }
        gbsi_rw_read(&job->lock[g->near[i]]);
    }
    if (!done) {
        gbsi_rw_write(&job->lock[slot]);
    }
    for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m) {
        gbsi_rw_write(&job->lock[p->n + (size_t)p->many[m].number]);
    }
}

static void unlock_blanket(const gbsi_grower *g, const gbsi_growing *job, uint32_t slot)
{
    const gbsi_potentials *p = job->potentials;
    for (uint32_t i = 0; i < g->n_near; ++i) {
        gbsi_rw_end_read(&job->lock[g->near[i]]);
    }
    gbsi_rw_end_write(&job->lock[slot]);
    for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m) {
        gbsi_rw_end_write(&job->lock[p->n + (size_t)p->many[m].number]);
    }
}

/* Reasons why a splash must not take a slot, in ascending strength. */
typedef enum hold {
    FREE,
    FRESH,  /* the slot belongs to an earlier splash of which this splash must not know yet */
    OTHERS, /* the slot belongs to another splash of the round */
} hold;

static hold hold_of(const gbsi_growing *job, uint32_t tag, const _Atomic uint32_t *owner)
{
    const uint32_t of = atomic_load_explicit(owner, memory_order_relaxed);
    if (of < job->first_tag || of == tag) {
        return FREE;
    }
    return job->fresh != NULL && job->fresh[of - job->first_tag] ? FRESH : OTHERS;
}

/* Returns the strongest reason that holds for a slot, its neighbours or its long factors. Only one
 * splash at a time holds variables of a long factor, so that the factor has a single tag. */
static hold hold_around(const gbsi_growing *job, uint32_t tag, uint32_t slot)
{
    const gbsi_potentials *p = job->potentials;
    hold worst = hold_of(job, tag, &job->own->owner[slot]);
    for (size_t l = p->link_start[slot]; worst != OTHERS && l < p->link_start[slot + 1]; ++l) {
        const hold h = hold_of(job, tag, &job->own->owner[p->link[l].slot]);
        worst = h > worst ? h : worst;
    }
    for (size_t m = p->many_start[slot]; worst != OTHERS && m < p->many_start[slot + 1]; ++m) {
        const hold h = hold_of(job, tag, &job->own->of_long[p->many[m].number]);
        worst = h > worst ? h : worst;
    }
    return worst;
}

bool gbsi_is_safe(const gbsi_growing *job, uint32_t tag, uint32_t slot)
{
    return hold_around(job, tag, slot) == FREE;
}

void gbsi_own(const gbsi_growing *job, uint32_t tag, uint32_t slot)
{
    const gbsi_potentials *p = job->potentials;
    atomic_store_explicit(&job->own->owner[slot], tag, memory_order_relaxed);
    for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m) {
        atomic_store_explicit(&job->own->of_long[p->many[m].number], tag, memory_order_relaxed);
    }
}

/* ---- growing --------------------------------------------------------------------------------- */

static bool is_inside(const gbsi_grower *g, uint32_t slot)
{
    return g->mark[slot] == g->stamp && g->place[slot] < UNDECIDED;
}

/* A set of variables inside the splash, by their numbers in the splash, ascending. */
typedef struct insiders {
    uint32_t n;
    uint32_t number[GBSI_SPLASH_WIDTH];
} insiders;

/* Adds number `own` to the set. @return false if the set would have more than `width` numbers. */
static bool add_insider(insiders *in, uint32_t width, uint32_t own)
{
    uint32_t at = in->n;
    for (; at > 0 && in->number[at - 1] > own; --at) {
    }
    if (at > 0 && in->number[at - 1] == own) {
        return true;
    }
    assert(in->n <= width && width <= GBSI_SPLASH_WIDTH);
    if (in->n == width) {
        return false;
    }
    memmove(in->number + at + 1, in->number + at, (in->n - at) * sizeof *in->number);
    in->number[at] = own;
    ++in->n;
    return true;
}

/* Finds the neighbours of a slot that are inside the splash. @return false if more neighbours are
 * inside than the width allows. */
static bool find_inside(gbsi_grower *g, const gbsi_potentials *p, const gbsi_growth *growth,
                        uint32_t slot, insiders *in)
{
    in->n = 0;
    for (size_t l = p->link_start[slot]; l < p->link_start[slot + 1]; ++l) {
        const uint32_t other = p->link[l].slot;
        ++g->n_looked;
        if (is_inside(g, other) && !add_insider(in, growth->width, g->place[other])) {
            return false;
        }
    }
    for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m) {
        uint32_t s = gbsi_shares_last(&g->shares, p->many[m].number);
        ++g->n_looked;
        for (; s != UINT32_MAX; s = growth->share[s].before) {
            if (!add_insider(in, growth->width, growth->share[s].variable)) {
                return false;
            }
        }
    }
    return true;
}

/* Counts the table entries that a variable adds to the splash: one for each of its states, and the
 * entries of its long factors over the variables inside. */
static uint64_t count_entries(const gbsi_grower *g, const gbsi_potentials *p,
                              const gbsi_growth *growth, uint32_t slot)
{
    uint64_t sum = gbsi_plan_arity(p->plan, slot);
    for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m) {
        uint64_t entries = gbsi_plan_arity(p->plan, slot);
        uint32_t s = gbsi_shares_last(&g->shares, p->many[m].number);
        for (; s != UINT32_MAX; s = growth->share[s].before) {
            entries *= growth->clique[growth->share[s].variable].arity;
            if (entries > GBSI_SPLASH_ROWS) {
                return UINT64_MAX;
            }
        }
        if (entries > GBSI_SPLASH_ROWS) {
            return UINT64_MAX;
        }
        sum += entries;
    }
    return sum;
}

/* Returns whether the splash with the tables of a slot would stay within the limits.
 * gbsi_growth_extend() may still refuse the slot. */
static bool may_fit(gbsi_grower *g, const gbsi_potentials *p, uint32_t slot,
                    const gbsi_growth *growth, uint64_t before, insiders *in, uint64_t *after)
{
    if (!find_inside(g, p, growth, slot, in)) {
        return false;
    }
    *after = before + count_entries(g, p, growth, slot);
    return growth->n == 0 || (*after <= GBSI_SPLASH_ROWS && *after >= before);
}

/* Adds a slot to the splash if the limits and the other splashes allow the slot. The neighbours of
 * the slot are checked last, since this check may take locks. */
static bool try_slot(gbsi_grower *g, const gbsi_growing *job, uint32_t tag, uint32_t slot,
                     gbsi_growth *growth, uint64_t *n_entries)
{
    const gbsi_potentials *p = job->potentials;
    uint64_t after = 0;
    insiders in;
    if (!may_fit(g, p, slot, growth, *n_entries, &in, &after)) {
        return false;
    }
    g->n_looked += p->link_start[slot + 1] - p->link_start[slot] + p->many_start[slot + 1] -
                   p->many_start[slot];
    if (job->lock != NULL) {
        lock_blanket(g, job, slot);
    }
    const hold held = hold_around(job, tag, slot);
    const bool taken =
        held != OTHERS &&
        gbsi_growth_extend(growth, slot, gbsi_plan_arity(p->plan, slot), in.n, in.number);
    if (job->lock != NULL) {
        if (taken) {
            gbsi_own(job, tag, slot);
        }
        unlock_blanket(g, job, slot);
    }
    assert(!taken || gbsi_reach_of(job->turns, slot) <= job->reach);
    growth->clashed = taken && held == FRESH;
    *n_entries = taken ? after : *n_entries;
    return taken;
}

/* Finaliser of SplitMix64 (Steele, Lea & Flood 2014, OOPSLA). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static uint64_t hash_of(const gbsi_growing *job, uint32_t root, uint32_t slot)
{
    const uint64_t splash = mix(job->seed + UINT64_C(0x9E3779B97F4A7C15) * (job->round + 1)) + root;
    return mix(mix(splash) + UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)slot + 1));
}

/* Tells the watch how many operations were done since the last call. @return whether to stop. */
static bool is_over(gbsi_grower *g)
{
    const uint64_t looked = g->n_looked + g->score.n_looked;
    const uint64_t n = looked - g->n_spent;
    g->n_spent = looked;
    return g->spends ? gbsi_watch_spend(g->watch, n) : gbsi_watch_stopped(g->watch);
}

/* Returns the key of a candidate; the candidate with the largest score has the least key. */
static uint64_t score_key(gbsi_grower *g, const gbsi_growing *job, uint32_t root, uint32_t slot,
                          const gbsi_growth *growth, const insiders *in)
{
    const double score = gbsi_score(job->potentials, job->states, (gbs_score_kind)job->score, slot,
                                    &(gbsi_score_inside){growth, &g->shares, in->n, in->number},
                                    hash_of(job, root, slot), &g->score);
    uint64_t bits = 0;
    assert(score >= 0.0); /* non-negative floating-point numbers and their bits, read as integers,
                             have the same order */
    memcpy(&bits, &score, sizeof bits);
    return ~bits;
}

static gbs_status meet(gbsi_grower *g, const gbsi_growing *job, uint32_t root, uint32_t slot,
                       const gbsi_growth *growth, gbs_error *err)
{
    const bool is_new = g->mark[slot] != g->stamp;
    uint64_t key = g->n_met;
    insiders in;
    if (gbsi_watch_stopped(g->watch) || gbsi_reach_of(job->turns, slot) > job->reach) {
        return GBS_OK;
    }
    if (!is_new && (job->order != GBS_GROW_ADAPTIVE || g->place[slot] < UNDECIDED ||
                    g->place[slot] >= REJECTED - 1)) {
        return GBS_OK; /* the slot is decided, or its key does not change */
    }
    g->place[slot] = is_new ? UNDECIDED : g->place[slot] + 1;
    g->mark[slot] = g->stamp;
    ++g->n_met;
    if (job->order == GBS_GROW_RANDOM) {
        key = hash_of(job, root, slot);
    } else if (job->order == GBS_GROW_ADAPTIVE) {
        if (!find_inside(g, job->potentials, growth, slot, &in)) {
            g->place[slot] = REJECTED; /* the slot has too many neighbours in the splash, whose
                                          number cannot fall */
            return GBS_OK;
        }
        key = score_key(g, job, root, slot, growth, &in);
        if (is_over(g)) {
            return GBS_OK; /* also true if the watch stops growth */
        }
    }
    return push(g, (gbsi_candidate){key, slot, g->place[slot]}, err);
}

/* Visits the neighbours of the variable that the splash took last. When the splash takes the first
 * variable of a long factor, the factor's other variables become candidates. Each further variable
 * of the factor changes the scores of these candidates, which only adaptive growth uses. */
static gbs_status meet_near(gbsi_grower *g, const gbsi_growing *job, uint32_t root,
                            const gbsi_growth *growth, gbs_error *err)
{
    const gbsi_potentials *p = job->potentials;
    const gbsi_factors *factors = &p->plan->model->factors;
    const uint32_t slot = growth->clique[growth->n - 1].slot;
    uint32_t share = growth->clique[growth->n - 1].first_share;
    for (size_t l = p->link_start[slot]; l < p->link_start[slot + 1]; ++l) {
        ++g->n_looked;
        GBSI_PASS(meet(g, job, root, p->link[l].slot, growth, err));
    }
    for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m, ++share) {
        const size_t f = p->long_factor[p->many[m].number];
        if (growth->share[share].before != UINT32_MAX && job->order != GBS_GROW_ADAPTIVE) {
            continue;
        }
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            ++g->n_looked;
            GBSI_PASS(meet(g, job, root, gbsi_scope_slot(p->plan, e), growth, err));
        }
    }
    return GBS_OK;
}

static void begin(gbsi_grower *g, const gbsi_growing *job, uint32_t root, gbsi_growth *growth)
{
    if (++g->stamp == 0) {
        memset(g->mark, 0, job->potentials->n * sizeof *g->mark);
        g->stamp = 1;
    }
    g->n_heap = 0;
    g->n_met = 0;
    g->mark[root] = g->stamp;
    g->place[root] = UNDECIDED;
    growth->n = growth->n_rows = 0;
    growth->clashed = false;
    gbsi_shares_begin(&g->shares, growth);
    if (job->order == GBS_GROW_ADAPTIVE) {
        gbsi_score_begin(&g->score);
    }
}

gbs_status gbsi_grow(gbsi_grower *g, const gbsi_growing *job, uint32_t tag, uint32_t root,
                     gbsi_growth *growth, gbs_error *err)
{
    uint64_t n_entries = 0;
    uint32_t slot = root;
    begin(g, job, root, growth);
    if (!try_slot(g, job, tag, root, growth, &n_entries)) {
        return GBS_OK;
    }
    for (bool taken = true; !growth->clashed;) {
        ++g->n_looked;
        if (taken) {
            g->place[slot] = growth->n - 1;
            GBSI_PASS(gbsi_shares_join(&g->shares, job->potentials, growth, err));
            if (growth->n == growth->most) {
                return GBS_OK;
            }
            GBSI_PASS(meet_near(g, job, root, growth, err));
        } else {
            g->place[slot] = REJECTED;
        }
        gbsi_candidate next = {0};
        do { /* skips keys that have changed since they were pushed */
            if (g->n_heap == 0) {
                return GBS_OK;
            }
            next = pop(g);
        } while (g->place[next.slot] != next.version);
        slot = next.slot;
        taken = try_slot(g, job, tag, slot, growth, &n_entries);
        if (is_over(g)) {
            growth->n = 0;
            return GBS_OK;
        }
    }
    return GBS_OK;
}
