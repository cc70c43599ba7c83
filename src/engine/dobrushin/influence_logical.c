/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a logical factor depends on its body only through the number of true literals [M5].
 * For the variables other than i and j it is therefore enough to try each number of true literals
 * and, if the head is one of these variables, both values of the head. */
#include <math.h>
#include <string.h>

#include "dobrushin/influence_inside.h"

static const range nothing = {0.0, 0.0};

logical_key gbsi_logical_key(const gbsi_influence *w, size_t f, uint32_t pi, uint32_t pj)
{
    const gbsi_factors *factors = w->factors;
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
    const bool free_head = logical->head == GBSI_HEAD_FREE;
    return (logical_key){.logical = *logical,
                         .n = n,
                         .i_head = free_head && pi + 1 == n,
                         .j_head = free_head && pj + 1 == n,
                         .weight = factors->weight[f]};
}

/* Writes the slab for `others` true literals in the body besides i and j. Rows are the values of
 * literal j, columns the values of literal i; false comes first.
 * @param head the value of a free head that is neither i nor j. */
static void logical_slab(const logical_key *k, bool single, uint32_t others, bool head,
                         double slab[4])
{
    const bool free_head = k->logical.head == GBSI_HEAD_FREE;
    for (uint32_t lj = 0; lj < 2; ++lj) {
        for (uint32_t li = 0; li < 2; ++li) {
            const uint32_t n_true = k->logical.n_body_true + others + (k->i_head ? 0 : li) +
                                    (single || k->j_head ? 0 : lj);
            const bool h = k->i_head              ? li != 0
                           : !single && k->j_head ? lj != 0
                           : free_head            ? head
                                                  : k->logical.head == GBSI_HEAD_TRUE;
            slab[2 * lj + li] = gbsi_logical_value(&k->logical, k->weight, n_true, h);
        }
    }
}

/* Returns the number of literals of the body other than i and j. @param head out: whether the
 * factor has a free head, which is neither i nor j. */
static uint32_t logical_others(const logical_key *k, bool single, bool *head)
{
    const bool free_head = k->logical.head == GBSI_HEAD_FREE;
    const uint32_t body = k->n - (free_head ? 1u : 0u);
    *head = free_head && !k->i_head && (single || !k->j_head);
    return body - (k->i_head ? 0u : 1u) - (single || k->j_head ? 0u : 1u);
}

static bool same_key(const logical_key *a, const logical_key *b)
{
    return gbsi_logical_same(&a->logical, &b->logical) && a->n == b->n && a->i_head == b->i_head &&
           a->j_head == b->j_head && a->weight == b->weight;
}

const logical_effect *gbsi_logical_effect(gbsi_influence *w, const logical_key *k, bool single)
{
    uint64_t bits = 0;
    memcpy(&bits, &k->weight, sizeof bits);
    bits = (bits ^ k->n ^ (uint64_t)k->logical.function << 32 ^ (uint64_t)k->logical.n_body << 8) *
           0x9e3779b97f4a7c15u;
    const size_t at = ((size_t)(bits >> 54) ^ (k->i_head ? 1u : 0u) ^ (k->j_head ? 2u : 0u) ^
                       (single ? 4u : 0u)) %
                      N_EFFECTS;
    logical_effect *e = &w->effect[at];
    if (e->known && e->single == single && same_key(&e->key, k)) {
        return e;
    }
    double delta[4] = {0.0};
    double slab[4];
    bool head = false;
    const uint32_t others = logical_others(k, single, &head);
    measure m = {.ki = 2, .kj = 2, .delta = delta, .mid = {INFINITY, -INFINITY}, .field = nothing};
    range odds = {INFINITY, -INFINITY};
    for (uint32_t c = 0; c <= others; ++c) {
        for (int h = 0; h <= (head ? 1 : 0); ++h) {
            logical_slab(k, single, c, h != 0, slab);
            const double o = slab[1] - slab[0];
            if (isfinite(o)) {
                odds.lo = o < odds.lo ? o : odds.lo;
                odds.hi = o > odds.hi ? o : odds.hi;
            }
            if (!single) {
                gbsi_influence_slab(slab, &m);
            }
        }
    }
    *e = (logical_effect){.key = *k,
                          .known = true,
                          .single = single,
                          .apart = m.apart,
                          .delta = delta[2],
                          .odds = odds.lo <= odds.hi ? odds : nothing,
                          .mid = m.mid.lo <= m.mid.hi ? m.mid : nothing};
    return e;
}

void gbsi_logical_walk(const gbsi_influence *w, size_t f, uint32_t pi, uint32_t pj, measure *m)
{
    const logical_key k = gbsi_logical_key(w, f, pi, pj);
    const uint32_t ki = m->ki;
    const bool turn = ki == 2 && gbsi_literal_is_zero(w, f, pi);
    double slab[4];
    double states[6];
    bool head = false;
    const uint32_t others = logical_others(&k, false, &head);
    measure two = *m; /* row 0: literal j false; row 1: literal j true */
    two.ki = ki == 2 ? 2 : 3;
    two.kj = 2;
    for (uint32_t c = 0; c <= others; ++c) {
        for (int h = 0; h <= (head ? 1 : 0); ++h) {
            logical_slab(&k, false, c, h != 0, slab);
            for (uint32_t lj = 0; lj < 2; ++lj) {
                for (uint32_t a = 0; a < two.ki; ++a) {
                    states[lj * two.ki + a] = slab[2 * lj + ((a == 1) != turn ? 1 : 0)];
                }
            }
            gbsi_influence_slab(states, &two);
        }
    }
    m->apart = two.apart;
    m->bound = two.bound;
    m->osc = two.osc;
}
