/* SPDX-License-Identifier: Apache-2.0 */
/* Domains, trail and queue of the propagation; revise.c revises one factor. */
#include "condition/propagate.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { WORD_BITS = 64 };

/* a write to a row whose page may not be in memory yet counts as this number of operations */
#define SCATTERED 32u

/* ---- what constrains what ------------------------------------------------------------------ */

/* Scans every table once, not once for every factor that shares it. */
static gbs_status find_hard(gbsi_propagation *p, const uint8_t *has_zeros, gbsi_watch *watch,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *f = p->factors;
    uint8_t *table_zeros = NULL;
    size_t capacity = 0;
    if (has_zeros == NULL) {
        table_zeros = gbsi_alloc(f->n_tables);
        GBSI_TRY(GBSI_HAVE(err, "propagation", table_zeros));
        for (size_t t = 0; t < f->n_tables; ++t) {
            const size_t start = f->table_start[t];
            table_zeros[t] = gbsi_any_zero(&f->table[start], f->table_start[t + 1] - start, watch);
        }
    }
    for (size_t i = 0; i < f->n_factors && !gbsi_watch_spend(watch, 4); ++i) {
        const bool hard = has_zeros != NULL                ? has_zeros[i] != 0
                          : f->kind[i] == GBS_FACTOR_TABLE ? table_zeros[f->aux[i]] != 0
                                                           : gbsi_factor_has_zeros(f, i);
        if (hard) {
            GBSI_TRY(gbsi_reserve((void **)(void *)&p->hard, &capacity, p->n_hard + 1,
                                  sizeof *p->hard, "propagation", err));
            p->hard[p->n_hard++] = i;
        }
    }

cleanup:
    gbsi_free(table_zeros);
    return status;
}

static void measure(gbsi_propagation *p)
{
    const gbsi_factors *f = p->factors;
    p->word_start[0] = 0;
    for (uint32_t v = 0; v < p->n_variables; ++v) {
        p->word_start[v + 1] = p->word_start[v] + (p->arity[v] + WORD_BITS - 1) / WORD_BITS;
    }
    for (size_t h = 0; h < p->n_hard; ++h) {
        const size_t start = f->scope_start[p->hard[h]];
        const size_t end = f->scope_start[p->hard[h] + 1];
        size_t n_states = 0;
        if (f->kind[p->hard[h]] != GBS_FACTOR_TABLE) {
            continue;
        }
        for (size_t i = start; i < end; ++i) {
            n_states += p->arity[f->scope[i]];
        }
        p->max_scope = end - start > p->max_scope ? (uint32_t)(end - start) : p->max_scope;
        p->max_states = n_states > p->max_states ? n_states : p->max_states;
    }
}

static gbs_status find_incident(gbsi_propagation *p, gbsi_watch *watch, gbs_error *err)
{
    const gbsi_factors *f = p->factors;
    /* the count of row v is stored at start[v + 2]; filling the rows then moves each start to its
     * final place */
    size_t *fill = p->incident_start + 1;
    for (size_t h = 0; h < p->n_hard; ++h) {
        const size_t end = f->scope_start[p->hard[h] + 1];
        for (size_t i = f->scope_start[p->hard[h]]; i < end; ++i) {
            ++fill[f->scope[i] + (size_t)1];
        }
        if (gbsi_watch_spend(watch, 2 * (end - f->scope_start[p->hard[h]]))) {
            return GBS_OK;
        }
    }
    for (size_t v = 0; v < p->n_variables; ++v) {
        fill[v + 1] += fill[v];
    }
    const size_t n = fill[p->n_variables];
    p->incident = gbsi_alloc_array(n, sizeof *p->incident);
    GBSI_PASS(GBSI_HAVE(err, "propagation", p->incident));
    for (size_t h = 0; h < p->n_hard; ++h) {
        const size_t end = f->scope_start[p->hard[h] + 1];
        for (size_t i = f->scope_start[p->hard[h]]; i < end; ++i) {
            p->incident[fill[f->scope[i]]++] = h;
        }
        if (gbsi_watch_spend(watch, SCATTERED * (end - f->scope_start[p->hard[h]]))) {
            break;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_propagation_new(const gbsi_factors *factors, const uint32_t *arity,
                                uint32_t n_variables, const uint8_t *has_zeros, gbsi_watch *watch,
                                gbsi_propagation **propagation, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = n_variables;
    gbsi_propagation *p = gbsi_alloc_zero(sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "propagation", p));
    p->factors = factors;
    p->arity = arity;
    p->n_variables = n_variables;
    p->word_start = gbsi_alloc_array(n + 1, sizeof *p->word_start);
    p->incident_start = gbsi_alloc_array_zero(n + 2, sizeof *p->incident_start);
    GBSI_TRY(GBSI_HAVE(err, "propagation", p->word_start, p->incident_start));
    GBSI_TRY(find_hard(p, has_zeros, watch, err));
    measure(p);
    GBSI_TRY(find_incident(p, watch, err));
    /* the scan is incomplete; the result is unusable and contains no hard factor */
    if (gbsi_watch_stopped(watch)) {
        p->n_hard = 0;
        memset(p->incident_start, 0, (n + 2) * sizeof *p->incident_start);
    }
    *propagation = p;
    p = NULL;

cleanup:
    gbsi_propagation_free(p);
    return status;
}

void gbsi_propagation_free(gbsi_propagation *propagation)
{
    if (propagation != NULL) {
        GBSI_FREE(propagation->word_start, propagation->hard, propagation->incident_start,
                  propagation->incident, propagation);
    }
}

/* ---- domains ------------------------------------------------------------------------------- */

/* Makes all domains full, and the queue and the trail empty. */
static void reset(gbsi_propagator *propagator)
{
    const gbsi_propagation *p = propagator->of;
    for (uint32_t v = 0; v < p->n_variables; ++v) {
        uint64_t *word = &propagator->word[p->word_start[v]];
        const uint32_t k = p->arity[v];
        for (uint32_t w = 0; w < k / WORD_BITS; ++w) {
            word[w] = UINT64_MAX;
        }
        if (k % WORD_BITS != 0) {
            word[k / WORD_BITS] = UINT64_MAX >> (WORD_BITS - k % WORD_BITS);
        }
        propagator->size[v] = k;
    }
    propagator->trail_length = 0;
    gbsi_propagator_undo(propagator, 0);
}

/* Every entry of the trail stands for a removed state, and the last state of a variable is never
 * removed. The trail therefore has at most sum of (arity - 1) entries. */
static gbs_status make_trail(gbsi_propagator *q, gbs_error *err)
{
    size_t n = 0;
    for (uint32_t v = 0; v < q->of->n_variables; ++v) {
        n += q->of->arity[v] - 1;
    }
    q->trail = gbsi_alloc_array(n, sizeof *q->trail);
    return GBSI_HAVE(err, "trail", q->trail);
}

gbs_status gbsi_propagator_new(const gbsi_propagation *propagation, bool trail,
                               gbsi_propagator **propagator, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_propagation *p = propagation;
    const size_t n_words = p->word_start[p->n_variables];
    gbsi_propagator *q = gbsi_alloc_zero(sizeof *q);
    GBSI_PASS(GBSI_HAVE(err, "propagator", q));
    q->of = p;
    q->word = gbsi_alloc_array(n_words, sizeof *q->word);
    q->size = gbsi_alloc_array(p->n_variables, sizeof *q->size);
    q->queue = gbsi_alloc_array(p->n_hard, sizeof *q->queue);
    q->queued = gbsi_alloc_zero(p->n_hard);
    q->state = gbsi_alloc_array(p->max_states, sizeof *q->state);
    q->support = gbsi_alloc_array(p->max_states / WORD_BITS + p->max_scope, sizeof *q->support);
    q->scope_work = gbsi_alloc_array(6 * (size_t)p->max_scope, sizeof *q->scope_work);
    GBSI_TRY(GBSI_HAVE(err, "propagator", q->word, q->size, q->queue, q->queued, q->state,
                       q->support, q->scope_work));
    if (trail) {
        GBSI_TRY(make_trail(q, err));
    }
    reset(q);
    *propagator = q;
    q = NULL;

cleanup:
    gbsi_propagator_free(q);
    return status;
}

void gbsi_propagator_free(gbsi_propagator *propagator)
{
    if (propagator != NULL) {
        GBSI_FREE(propagator->word, propagator->size, propagator->queue, propagator->queued,
                  propagator->trail, propagator->state, propagator->support, propagator->scope_work,
                  propagator);
    }
}

bool gbsi_propagator_has(const gbsi_propagator *propagator, uint32_t variable, uint32_t state)
{
    assert(state < propagator->of->arity[variable]);
    const uint64_t *word = &propagator->word[propagator->of->word_start[variable]];
    return (word[state / WORD_BITS] >> (state % WORD_BITS) & 1) != 0;
}

uint32_t gbsi_propagator_next(const gbsi_propagator *propagator, uint32_t variable, uint32_t from)
{
    const uint32_t k = propagator->of->arity[variable];
    const uint64_t *word = &propagator->word[propagator->of->word_start[variable]];
    if (from >= k) {
        return GBSI_NONE;
    }
    uint32_t w = from / WORD_BITS;
    uint64_t bits = word[w] & (UINT64_MAX << (from % WORD_BITS));
    while (bits == 0) {
        if (++w * WORD_BITS >= k) {
            return GBSI_NONE;
        }
        bits = word[w];
    }
    return w * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
}

static void queue_place(gbsi_propagator *q, size_t place)
{
    if (!q->queued[place]) {
        size_t at = q->queue_head + q->queue_length;
        at -= at >= q->of->n_hard ? q->of->n_hard : 0;
        q->queued[place] = 1;
        q->queue[at] = place;
        ++q->queue_length;
        assert(q->queue_length <= q->of->n_hard);
    }
}

static void queue_incident(gbsi_propagator *q, uint32_t variable, size_t except)
{
    const size_t end = q->of->incident_start[variable + (size_t)1];
    for (size_t i = q->of->incident_start[variable]; i < end; ++i) {
        if (q->of->incident[i] != except) {
            queue_place(q, q->of->incident[i]);
        }
    }
}

static void take(gbsi_propagator *q, uint32_t variable, uint32_t word, uint64_t removed)
{
    uint64_t *left = &q->word[q->of->word_start[variable] + word];
    assert(removed != 0 && (*left & removed) == removed); /* each removed state is restored once */
    *left &= ~removed;
    q->size[variable] -= (uint32_t)__builtin_popcountll(removed);
    assert(q->size[variable] > 0); /* the last state of a variable's domain is never removed */
    if (q->trail != NULL) {
        q->trail[q->trail_length++] = (gbsi_trail_entry){variable, word, removed};
    }
}

bool gbsi_propagator_keep(gbsi_propagator *propagator, uint32_t variable, const uint64_t *keep,
                          size_t except)
{
    const gbsi_propagation *p = propagator->of;
    const uint64_t *word = &propagator->word[p->word_start[variable]];
    const uint32_t n = (uint32_t)(p->word_start[variable + (size_t)1] - p->word_start[variable]);
    uint32_t left = 0;
    for (uint32_t w = 0; w < n; ++w) {
        left += (uint32_t)__builtin_popcountll(word[w] & keep[w]);
    }
    if (left == 0) {
        return false;
    }
    if (left < propagator->size[variable]) {
        for (uint32_t w = 0; w < n; ++w) {
            const uint64_t removed = word[w] & ~keep[w];
            if (removed != 0) {
                take(propagator, variable, w, removed);
            }
        }
        queue_incident(propagator, variable, except);
    }
    return true;
}

bool gbsi_propagator_keep_one(gbsi_propagator *propagator, uint32_t variable, uint32_t state,
                              size_t except)
{
    const gbsi_propagation *p = propagator->of;
    const uint64_t *word = &propagator->word[p->word_start[variable]];
    const uint32_t n = (uint32_t)(p->word_start[variable + (size_t)1] - p->word_start[variable]);
    if (!gbsi_propagator_has(propagator, variable, state)) {
        return false;
    }
    if (propagator->size[variable] > 1) {
        for (uint32_t w = 0; w < n; ++w) {
            const uint64_t one = w == state / WORD_BITS ? (uint64_t)1 << (state % WORD_BITS) : 0;
            if ((word[w] & ~one) != 0) {
                take(propagator, variable, w, word[w] & ~one);
            }
        }
        queue_incident(propagator, variable, except);
    }
    return true;
}

bool gbsi_propagator_drop_one(gbsi_propagator *propagator, uint32_t variable, uint32_t state,
                              size_t except)
{
    if (!gbsi_propagator_has(propagator, variable, state)) {
        return true;
    }
    if (propagator->size[variable] == 1) {
        return false;
    }
    take(propagator, variable, state / WORD_BITS, (uint64_t)1 << (state % WORD_BITS));
    queue_incident(propagator, variable, except);
    return true;
}

bool gbsi_propagator_remove(gbsi_propagator *propagator, uint32_t variable, uint32_t state)
{
    return gbsi_propagator_drop_one(propagator, variable, state, SIZE_MAX);
}

bool gbsi_propagator_assign(gbsi_propagator *propagator, uint32_t variable, uint32_t state)
{
    return gbsi_propagator_keep_one(propagator, variable, state, SIZE_MAX);
}

/* ---- to the fixed point -------------------------------------------------------------------- */

void gbsi_propagator_queue_all(gbsi_propagator *propagator)
{
    for (size_t h = 0; h < propagator->of->n_hard && !gbsi_watch_spend(propagator->watch, 4); ++h) {
        queue_place(propagator, h);
    }
}

static size_t take_place(gbsi_propagator *q)
{
    const size_t place = q->queue[q->queue_head];
    q->queue_head = q->queue_head + 1 == q->of->n_hard ? 0 : q->queue_head + 1;
    --q->queue_length;
    q->queued[place] = 0;
    return place;
}

static void empty_queue(gbsi_propagator *q)
{
    while (q->queue_length > 0) {
        (void)take_place(q);
    }
}

size_t gbsi_propagator_run(gbsi_propagator *propagator)
{
    while (propagator->queue_length > 0) {
        const size_t place = take_place(propagator);
        const size_t *scope_start =
            propagator->of->factors->scope_start + propagator->of->hard[place];
        if (gbsi_watch_spend(propagator->watch, scope_start[1] - scope_start[0]) ||
            !gbsi_propagator_revise(propagator, place)) {
            empty_queue(propagator);
            return propagator->of->hard[place];
        }
    }
    return SIZE_MAX;
}

size_t gbsi_propagator_mark(const gbsi_propagator *propagator)
{
    assert(propagator->queue_length == 0);
    return propagator->trail_length;
}

void gbsi_propagator_undo(gbsi_propagator *propagator, size_t mark)
{
    empty_queue(propagator);
    while (propagator->trail_length > mark) {
        const gbsi_trail_entry *e = &propagator->trail[--propagator->trail_length];
        propagator->word[propagator->of->word_start[e->variable] + e->word] |= e->removed;
        propagator->size[e->variable] += (uint32_t)__builtin_popcountll(e->removed);
    }
}
