/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/share_run.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* ---- of ranks -------------------------------------------------------------------------------- */

/* The pairs of ranks that share a factor. */
typedef struct meetings {
    uint32_t n_ranks;
    size_t n_words;  /* number of words of a row of `pair` */
    uint64_t *row;   /* [n_ranks][n_words] bit s of row r is 1 if ranks r and s share a factor */
    uint32_t *ranks; /* [n_ranks] scratch: ranks that own variables of one factor, each once */
    uint8_t *is_in;  /* [n_ranks] scratch, all 0 */
} meetings;

static bool meet(const meetings *m, uint32_t r, uint32_t s)
{
    return (m->row[r * m->n_words + s / 64] >> s % 64 & 1u) != 0;
}

static void note_factor(meetings *m, const gbsi_factors *factors, size_t f, const uint32_t *owner)
{
    uint32_t n = 0;
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        const uint32_t r = owner[factors->scope[e]];
        assert(r < m->n_ranks && n <= m->n_ranks);
        m->ranks[n] = r;
        n += m->is_in[r] == 0;
        m->is_in[r] = 1;
    }
    for (uint32_t i = 0; i < n; ++i) {
        m->is_in[m->ranks[i]] = 0;
        for (uint32_t j = 0; j < n; ++j) {
            const uint32_t s = m->ranks[j];
            m->row[m->ranks[i] * m->n_words + s / 64] |= UINT64_C(1) << s % 64;
        }
    }
}

/* Returns the first turn that is free for `rank`. A turn is not free if an earlier rank has it and
 * shares a factor with `rank`. @param taken [n_ranks] scratch. */
static uint32_t first_free(const meetings *m, uint32_t rank, const uint32_t *turn, uint8_t *taken)
{
    uint32_t first = 0;
    memset(taken, 0, m->n_ranks);
    for (uint32_t s = 0; s < rank; ++s) {
        taken[turn[s]] |= meet(m, rank, s);
    }
    while (taken[first] != 0) {
        ++first;
    }
    assert(first <= rank); /* a rank needs no later turn than its number */
    return first;
}

gbs_status gbsi_turns_of_ranks(const gbsi_factors *factors, const uint32_t *owner, uint32_t n_ranks,
                               uint32_t *turn, gbs_error *err)
{
    gbs_status status = GBS_OK;
    meetings m = {.n_ranks = n_ranks, .n_words = n_ranks / 64 + 1};
    m.row = gbsi_alloc_array_zero(n_ranks * m.n_words, sizeof *m.row);
    m.ranks = gbsi_alloc_array((size_t)n_ranks + 1, sizeof *m.ranks);
    m.is_in = gbsi_alloc_array_zero(n_ranks, 1);
    GBSI_TRY(GBSI_HAVE(err, "turns of ranks", m.row, m.ranks, m.is_in));
    for (size_t f = 0; f < factors->n_factors; ++f) {
        note_factor(&m, factors, f, owner);
    }
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        turn[rank] = first_free(&m, rank, turn, m.is_in);
    }
cleanup:
    GBSI_FREE(m.row, m.ranks, m.is_in);
    return status;
}

/* ---- of a share ------------------------------------------------------------------------------ */

/* In the schedule of a share, even batches have the variables that other ranks see. Among the even
 * batches, only the batch of the rank's own turn has variables. */
void gbsi_turns_of_share(const gbs_share *share, uint8_t *reach, gbsi_turns *turns)
{
    const gbsi_schedule *s = &share->schedule;
    *turns = (gbsi_turns){.n_ranks = (uint32_t)share->facts.n_ranks,
                          .rank = share->rank,
                          .n = (uint32_t)share->facts.n_batches,
                          .reach = reach};
    memset(reach, GBSI_REACH_HALO, share->part->n_variables);
    for (uint32_t b = 0; b < s->n_batches; ++b) {
        for (size_t p = s->batch_start[b]; p < s->batch_start[b + 1]; ++p) {
            for (uint32_t i = 0; i < s->piece[p].n; ++i) {
                reach[s->slot[s->piece[p].place + i]] =
                    b % 2 == 0 ? GBSI_REACH_BOUNDARY : GBSI_REACH_INTERIOR;
            }
            turns->own = b / 2;
        }
    }
}
