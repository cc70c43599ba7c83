/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define REJECTED  UINT32_MAX
#define UNDECIDED (UINT32_C(1) << 31) /* and above: version of the key */

/* ---- life ------------------------------------------------------------------------------------ */

static uint32_t degree_of(const gbsi_potentials *p, uint32_t slot)
{
    const gbsi_factors *factors = &p->plan->model->factors;
    uint64_t degree = p->link_start[slot + 1] - p->link_start[slot];
    for (size_t i = p->many_start[slot]; i < p->many_start[slot + 1]; ++i) {
        degree += factors->scope_start[p->many[i] + 1] - factors->scope_start[p->many[i]] - 1;
    }
    return degree < UINT32_MAX - 1 ? (uint32_t)degree : UINT32_MAX - 1;
}

uint64_t gbsi_grower_bytes(const gbsi_plan *plan, int order)
{
    const uint64_t n = plan->n_slots;
    return n * (order == GBS_GROW_ADAPTIVE ? 28 : 24) + GBSI_SCORE_STATES * sizeof(double);
}

gbs_status gbsi_grower_init(gbsi_grower *g, const gbsi_potentials *p, int order, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t most = 0;
    for (uint32_t s = 0; s < p->n; ++s) {
        const uint32_t degree = degree_of(p, s);
        most = degree > most ? degree : most;
    }
    *g = (gbsi_grower){0};
    g->mark = gbsi_alloc_array_zero(p->n, sizeof *g->mark);
    g->place = gbsi_alloc_array(p->n, sizeof *g->place);
    g->near = gbsi_alloc_array((size_t)most + 1, sizeof *g->near);
    if (g->mark == NULL || g->place == NULL || g->near == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "splash", (size_t)p->n * 8));
    }
    if (order == GBS_GROW_ADAPTIVE) {
        GBSI_TRY(gbsi_score_scratch_init(&g->score, p, most, err));
    }
cleanup:
    if (status < 0) {
        gbsi_grower_free(g);
    }
    return status;
}

void gbsi_grower_free(gbsi_grower *g)
{
    gbsi_free(g->mark);
    gbsi_free(g->place);
    gbsi_free(g->near);
    gbsi_free(g->heap);
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
    const gbs_status status = gbsi_reserve((void **)&g->heap, &g->heap_capacity, g->n_heap + 1,
                                           sizeof *g->heap, "splash", err);
    if (status < 0) {
        return status;
    }
    size_t at = g->n_heap++;
    for (; at > 0 && before(&candidate, &g->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        g->heap[at] = g->heap[(at - 1) / 2];
    }
    g->heap[at] = candidate;
    return GBS_OK;
}

static gbsi_candidate pop(gbsi_grower *g)
{
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

/* Neighbours of a slot, some of them perhaps more than once. */
static void find_near(gbsi_grower *g, const gbsi_potentials *p, uint32_t slot)
{
    const gbsi_factors *factors = &p->plan->model->factors;
    g->n_near = 0;
    for (size_t l = p->link_start[slot]; l < p->link_start[slot + 1]; ++l) {
        g->near[g->n_near++] = p->link[l].slot;
    }
    for (size_t i = p->many_start[slot]; i < p->many_start[slot + 1]; ++i) {
        const size_t f = p->many[i];
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            const uint32_t other = gbsi_scope_slot(p->plan, e);
            g->near[g->n_near] = other;
            g->n_near += other != slot;
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorted, each once. */
static void sort_near(gbsi_grower *g)
{
    uint32_t n = 0;
    qsort(g->near, g->n_near, sizeof *g->near, ascending);
    for (uint32_t i = 0; i < g->n_near; ++i) {
        if (n == 0 || g->near[n - 1] != g->near[i]) {
            g->near[n++] = g->near[i];
        }
    }
    g->n_near = n;
}

/* The Markov blanket: a write lock on the slot, read locks on its neighbours, ascending. */
static void lock_blanket(gbsi_grower *g, gbsi_rw_lock *lock, uint32_t slot)
{
    bool done = false;
    sort_near(g);
    for (uint32_t i = 0; i < g->n_near; ++i) {
        if (!done && g->near[i] > slot) {
            gbsi_rw_write(&lock[slot]);
            done = true;
        }
        gbsi_rw_read(&lock[g->near[i]]);
    }
    if (!done) {
        gbsi_rw_write(&lock[slot]);
    }
}

static void unlock_blanket(const gbsi_grower *g, gbsi_rw_lock *lock, uint32_t slot)
{
    for (uint32_t i = 0; i < g->n_near; ++i) {
        gbsi_rw_end_read(&lock[g->near[i]]);
    }
    gbsi_rw_end_write(&lock[slot]);
}

static bool is_others(const gbsi_growing *job, uint32_t tag, uint32_t slot)
{
    const uint32_t owner = atomic_load_explicit(&job->own->owner[slot], memory_order_relaxed);
    return owner >= job->first_tag && owner != tag;
}

bool gbsi_is_safe(const gbsi_growing *job, uint32_t tag, uint32_t slot)
{
    const gbsi_potentials *p = job->potentials;
    const gbsi_factors *factors = &p->plan->model->factors;
    if (is_others(job, tag, slot)) {
        return false;
    }
    for (size_t l = p->link_start[slot]; l < p->link_start[slot + 1]; ++l) {
        if (is_others(job, tag, p->link[l].slot)) {
            return false;
        }
    }
    for (size_t i = p->many_start[slot]; i < p->many_start[slot + 1]; ++i) {
        const size_t f = p->many[i];
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            if (is_others(job, tag, gbsi_scope_slot(p->plan, e))) {
                return false;
            }
        }
    }
    return true;
}

/* ---- growing --------------------------------------------------------------------------------- */

static bool is_inside(const gbsi_grower *g, uint32_t slot)
{
    return g->mark[slot] == g->stamp && g->place[slot] < UNDECIDED;
}

/* Numbers of the neighbours inside, ascending. @return how many; width + 1: too many. */
static uint32_t find_inside(const gbsi_grower *g, uint32_t width, uint32_t *number)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_near; ++i) {
        if (!is_inside(g, g->near[i])) {
            continue;
        }
        const uint32_t own = g->place[g->near[i]];
        uint32_t at = n;
        for (; at > 0 && number[at - 1] > own; --at) {
        }
        if (at > 0 && number[at - 1] == own) {
            continue;
        }
        if (n == width) {
            return width + 1;
        }
        memmove(number + at + 1, number + at, (n - at) * sizeof *number);
        number[at] = own;
        ++n;
    }
    return n;
}

/* Entries of the tables that the variable brings: its own, and of long factors with it as the
 * latest inside. */
static uint64_t count_entries(const gbsi_grower *g, const gbsi_potentials *p, uint32_t slot)
{
    const gbsi_factors *factors = &p->plan->model->factors;
    uint64_t sum = gbsi_plan_arity(p->plan, slot);
    for (size_t i = p->many_start[slot]; i < p->many_start[slot + 1]; ++i) {
        const size_t f = p->many[i];
        uint64_t entries = gbsi_plan_arity(p->plan, slot);
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            const uint32_t other = gbsi_scope_slot(p->plan, e);
            entries *= other != slot && is_inside(g, other) ? gbsi_plan_arity(p->plan, other) : 1;
            if (entries > GBSI_SPLASH_ROWS) {
                return UINT64_MAX;
            }
        }
        sum += entries;
    }
    return sum;
}

static bool fits(const gbsi_grower *g, const gbsi_growing *job, uint32_t slot, gbsi_growth *growth,
                 uint64_t *n_entries)
{
    uint32_t inside[GBSI_SPLASH_WIDTH + 1];
    const uint32_t n = find_inside(g, growth->width, inside);
    const uint64_t entries = *n_entries + count_entries(g, job->potentials, slot);
    if (n > growth->width ||
        (growth->n > 0 && (entries > GBSI_SPLASH_ROWS || entries < *n_entries)) ||
        !gbsi_growth_extend(growth, slot, gbsi_plan_arity(job->potentials->plan, slot), n,
                            inside)) {
        return false;
    }
    *n_entries = entries;
    return true;
}

/* Neighbours are in g->near afterwards. */
static bool try_slot(gbsi_grower *g, const gbsi_growing *job, uint32_t tag, uint32_t slot,
                     gbsi_growth *growth, uint64_t *n_entries)
{
    find_near(g, job->potentials, slot);
    if (job->lock != NULL) {
        lock_blanket(g, job->lock, slot);
    }
    const bool taken = gbsi_is_safe(job, tag, slot) && fits(g, job, slot, growth, n_entries);
    if (job->lock != NULL) {
        if (taken) {
            atomic_store_explicit(&job->own->owner[slot], tag, memory_order_relaxed);
        }
        unlock_blanket(g, job->lock, slot);
    }
    return taken;
}

/* SplitMix64's finaliser (Steele, Lea & Flood 2014, OOPSLA). */
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

/* Largest score first: nonnegative doubles are ordered like their bits. */
static uint64_t score_key(gbsi_grower *g, const gbsi_growing *job, uint32_t root, uint32_t slot)
{
    uint32_t n = 0;
    find_near(g, job->potentials, slot);
    sort_near(g);
    for (uint32_t i = 0; i < g->n_near; ++i) {
        if (is_inside(g, g->near[i])) {
            g->near[n++] = g->near[i];
        }
    }
    const double score = gbsi_score(job->potentials, job->states, (gbs_score_kind)job->score, slot,
                                    n, g->near, hash_of(job, root, slot), &g->score);
    uint64_t bits = 0;
    memcpy(&bits, &score, sizeof bits);
    return ~bits;
}

static gbs_status meet(gbsi_grower *g, const gbsi_growing *job, uint32_t root, uint32_t slot,
                       gbs_error *err)
{
    const bool is_new = g->mark[slot] != g->stamp;
    uint64_t key = g->n_met;
    if (!is_new && (job->order != GBS_GROW_ADAPTIVE || g->place[slot] < UNDECIDED ||
                    g->place[slot] >= REJECTED - 1)) {
        return GBS_OK; /* decided, or its key does not change */
    }
    g->place[slot] = is_new ? UNDECIDED : g->place[slot] + 1;
    g->mark[slot] = g->stamp;
    ++g->n_met;
    if (job->order == GBS_GROW_RANDOM) {
        key = hash_of(job, root, slot);
    } else if (job->order == GBS_GROW_ADAPTIVE) {
        key = score_key(g, job, root, slot);
    }
    return push(g, (gbsi_candidate){key, slot, g->place[slot]}, err);
}

/* The neighbours of what was taken last are met. Scores want g->near for themselves. */
static gbs_status meet_near(gbsi_grower *g, const gbsi_growing *job, uint32_t root, uint32_t slot,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    find_near(g, job->potentials, slot);
    for (uint32_t i = 0; i < g->n_near && status >= 0; ++i) {
        status = meet(g, job, root, g->near[i], err);
        if (job->order == GBS_GROW_ADAPTIVE) {
            find_near(g, job->potentials, slot);
        }
    }
    return status;
}

static void new_stamp(gbsi_grower *g, uint32_t n)
{
    if (++g->stamp == 0) {
        memset(g->mark, 0, n * sizeof *g->mark);
        g->stamp = 1;
    }
    g->n_heap = 0;
    g->n_met = 0;
}

gbs_status gbsi_grow(gbsi_grower *g, const gbsi_growing *job, uint32_t tag, uint32_t root,
                     gbsi_growth *growth, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t n_entries = 0;
    uint32_t slot = root;
    new_stamp(g, job->potentials->n);
    growth->n = growth->n_rows = 0;
    g->mark[root] = g->stamp;
    g->place[root] = UNDECIDED;
    if (!try_slot(g, job, tag, root, growth, &n_entries)) {
        return GBS_OK;
    }
    for (bool taken = true; status >= 0;) {
        if (taken) {
            g->place[slot] = growth->n - 1;
            if (growth->n == growth->most) {
                return GBS_OK;
            }
            status = meet_near(g, job, root, slot, err);
        } else {
            g->place[slot] = REJECTED;
        }
        gbsi_candidate next = {0};
        do { /* past keys that have changed since */
            if (g->n_heap == 0) {
                return status;
            }
            next = pop(g);
        } while (g->place[next.slot] != next.version);
        slot = next.slot;
        taken = try_slot(g, job, tag, slot, growth, &n_entries);
    }
    return status;
}
