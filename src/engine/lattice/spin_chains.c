/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the two forms of multi-spin coding use. Sums are integers, so that they do not
 * depend on which thread updated which sites. */
#include "lattice/spin_chains.h"

#include <string.h>

#include "base/memory.h"

size_t gbsi_spin_chains_bytes(size_t n_state, size_t n_visits, uint32_t n_chains,
                              uint32_t n_threads)
{
    return (n_state + n_visits) * sizeof(uint32_t) +
           n_chains * (n_threads + (size_t)1) * sizeof(gbsi_spin_sums);
}

gbs_status gbsi_spin_chains_new(const gbsi_spin_form *form, size_t size, const gbsi_spins *spins,
                                size_t n_state, size_t n_visits, uint32_t n_chains, uint64_t seed,
                                gbsi_pool *pool, gbsi_spin_chains **out, gbs_error *err)
{
    gbsi_spin_chains *c = gbsi_alloc_zero(size);
    GBSI_PASS(GBSI_HAVE(err, "lattice", c));
    c->form = form;
    c->spins = spins;
    c->pool = pool;
    c->seed = seed;
    c->n_chains = n_chains;
    c->n_members = gbsi_pool_size(pool);
    c->n_state = n_state;
    c->n_visits = n_visits;
    c->state = gbsi_alloc_lanes(n_state, sizeof *c->state);
    c->visits = n_visits > 0 ? gbsi_alloc_lanes(n_visits, sizeof *c->visits) : NULL;
    c->partial = gbsi_alloc_array_zero((size_t)c->n_members * n_chains, sizeof *c->partial);
    c->sums = gbsi_alloc_array_zero(n_chains, sizeof *c->sums);
    if (c->state == NULL || (n_visits > 0 && c->visits == NULL) || c->partial == NULL ||
        c->sums == NULL) {
        gbsi_spin_chains_free(c);
        return gbsi_no_memory(err, "lattice", (n_state + n_visits) * sizeof *c->state);
    }
    *out = c;
    return GBS_OK;
}

void gbsi_spin_chains_free(gbsi_spin_chains *c)
{
    if (c == NULL) {
        return;
    }
    GBSI_FREE(c->state, c->visits, c->partial, c->sums, c);
}

bool gbsi_spin_chains_shared(const gbsi_spin_chains *c)
{
    return c->n_members > 1 && (uint64_t)c->spins->n_sites * c->n_chains >= GBSI_SPIN_LEAST_SHARED;
}

void gbsi_spin_chains_begin(gbsi_spin_chains *c, bool count)
{
    memset(c->partial, 0, (size_t)c->n_members * c->n_chains * sizeof *c->partial);
    c->n_counted += count && c->visits != NULL;
}

void gbsi_spin_chains_add_up(gbsi_spin_chains *c)
{
    for (uint32_t chain = 0; chain < c->n_chains; ++chain) {
        gbsi_spin_sums *sums = &c->sums[chain];
        *sums = (gbsi_spin_sums){0};
        for (uint32_t member = 0; member < c->n_members; ++member) {
            const gbsi_spin_sums *part = &c->partial[(size_t)member * c->n_chains + chain];
            for (uint32_t g = 0; g < GBSI_SPIN_GROUPS; ++g) {
                sums->agree[g] += part->agree[g];
            }
            for (uint32_t f = 0; f < GBSI_SPIN_FIELDS; ++f) {
                sums->up[f] += part->up[f];
            }
        }
    }
}

/* Spreads the bits of a byte: bit j becomes byte j. */
static uint64_t spread(uint32_t byte)
{
    const uint64_t one = UINT64_C(0x0101010101010101);
    const uint64_t apart = (byte & 0xFFu) * one & UINT64_C(0x8040201008040201);
    return (apart + 0x7F * one) >> 7 & one;
}

void gbsi_spin_take_counts(uint32_t *visits, size_t plane_words, uint32_t n_counted,
                           uint64_t count[4])
{
    memset(count, 0, 4 * sizeof *count);
    for (uint32_t level = 0; level < GBSI_SPIN_COUNTERS && n_counted >> level != 0; ++level) {
        uint32_t *sum = visits + 2 * level * plane_words;
        const uint32_t waiting = n_counted >> level & 1u ? sum[plane_words] : 0;
        for (uint32_t i = 0; i < 4; ++i) {
            count[i] += (spread(*sum >> 8 * i) + spread(waiting >> 8 * i)) << level;
        }
        *sum = 0;
    }
}

void gbsi_spin_count(uint32_t *visits, size_t plane_words, uint32_t n_counted, uint32_t states)
{
    uint32_t *sum = visits;
    for (uint32_t n = n_counted; n % 2 == 0; n /= 2, sum += 2 * plane_words) {
        const uint32_t waiting = sum[plane_words];
        const uint32_t carry = (*sum & waiting) | (*sum & states) | (waiting & states);
        *sum ^= waiting ^ states;
        states = carry;
    }
    sum[plane_words] = states;
}
