/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/roots.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"

gbs_status gbsi_roots_init(gbsi_roots *roots, uint32_t n_slots, const gbsi_turns *turns,
                           gbsi_reach reach, uint32_t most, uint64_t seed, gbs_error *err)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < n_slots; ++slot) {
        n += gbsi_reach_of(turns, slot) == reach;
    }
    roots->order = gbsi_alloc_array(n, sizeof *roots->order);
    roots->deferred = gbsi_alloc_array(most, sizeof *roots->deferred);
    GBSI_PASS(GBSI_HAVE(err, "splash", roots->order, roots->deferred));
    for (uint32_t slot = 0; slot < n_slots; ++slot) {
        if (gbsi_reach_of(turns, slot) == reach) {
            uint32_t word[4];
            const uint32_t i = roots->n++;
            gbsi_philox(seed, 0, turns->rank, slot, GBSI_PURPOSE_SCAN, word);
            const uint32_t j = gbsi_below(word[0], word[1], roots->n);
            roots->order[i] = roots->order[j];
            roots->order[j] = slot;
        }
    }
    return GBS_OK;
}

void gbsi_roots_free(gbsi_roots *roots)
{
    GBSI_FREE(roots->order, roots->deferred);
    *roots = (gbsi_roots){0};
}

static uint32_t *taken_at(const gbsi_roots *roots, uint32_t i)
{
    return &roots->order[((uint64_t)roots->head + i) % roots->n];
}

uint32_t gbsi_roots_next(gbsi_roots *roots)
{
    assert(roots->n_taken < roots->n);
    return *taken_at(roots, roots->n_taken++);
}

void gbsi_roots_defer(gbsi_roots *roots, uint32_t root)
{
    assert(roots->n_deferred < roots->n_taken);
    roots->deferred[roots->n_deferred++] = root;
}

/* Moves the roots that were used to the back of the ring. Roots that were put back stay at the
 * front. */
void gbsi_roots_end_round(gbsi_roots *roots)
{
    const uint32_t n = roots->n_taken;
    uint32_t n_done = 0;
    uint32_t next = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t root = *taken_at(roots, i);
        if (next < roots->n_deferred && roots->deferred[next] == root) {
            ++next;
        } else {
            *taken_at(roots, n_done++) = root;
        }
    }
    assert(next == roots->n_deferred);
    for (uint32_t i = 0; i < next; ++i) {
        *taken_at(roots, n_done + i) = roots->deferred[i];
    }
    assert(n_done + next == n);
    roots->head = (uint32_t)(((uint64_t)roots->head + n_done) % roots->n);
    roots->n_taken = roots->n_deferred = 0;
}
