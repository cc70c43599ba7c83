/* SPDX-License-Identifier: Apache-2.0 */
#include "lattice/averages.h"

#include <assert.h>

#define DECLARE(set, SET)                                                                      \
    void gbsi_lattice_average_##set(const gbsi_lattice_averages *, const uint32_t *, uint32_t, \
                                    uint32_t, float *);
#define ROW(set, SET) [GBSI_SIMD_##SET] = gbsi_lattice_average_##set,

GBSI_SIMD_SETS(DECLARE)

gbsi_lattice_average_function gbsi_lattice_average_of(gbsi_simd level)
{
    static const gbsi_lattice_average_function average[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    assert(level < GBSI_N_SIMD && average[level] != NULL);
    return average[level];
}

const char *gbsi_lattice_averages_refusal(const gbsi_lattice *lattice)
{
    if (lattice->spins.n_groups != 1) {
        return "on lattices in bits probabilities are averaged where all couplings have one size: "
               "use --estimator count or traces";
    }
    if (lattice->n_seams > 0) {
        return "on lattices in bits probabilities are averaged where closed sides are even: use "
               "--estimator count or traces";
    }
    return (uint64_t)lattice->n_words * 64 < UINT32_MAX ? NULL : "the lattice has too many sites";
}

/* Probability of state 1 at a level, which is a value of the local log-odds. The threshold of the
 * level is the probability of the less likely state, in units of 2^-32. */
static float probability(const gbsi_lattice *l, const gbsi_lattice_level *level)
{
    const double less = l->threshold[level->threshold] * 0x1p-32;
    return (float)(level->flip ? 1.0 - less : less);
}

gbsi_lattice_averages gbsi_lattice_averages_of(const gbsi_lattice *l)
{
    gbsi_lattice_averages a = {.lattice = l};
    for (uint32_t i = 0; i < l->n_kinds; ++i) {
        const gbsi_lattice_kind *kind = &l->kind[i];
        for (uint32_t j = kind->first_level; j < kind->first_level + kind->n_levels; ++j) {
            const uint32_t c = l->level[j].count[0];
            const float p = probability(l, &l->level[j]);
            a.p[(i + 1) * GBSI_LATTICE_COUNTS + c] = p;
            if (i == l->plain_kind) {
                a.plain[c] = p;
            }
            if (i == l->mirror_kind) {
                a.plain[GBSI_LATTICE_COUNTS + c] = p;
            }
        }
    }
    return a;
}

uint32_t gbsi_lattice_n_slots(const gbsi_lattice *lattice)
{
    return lattice->n_words * 64;
}

uint32_t gbsi_lattice_slot_of(const gbsi_lattice *lattice, uint32_t site)
{
    const gbsi_lattice_place place = gbsi_lattice_locate(lattice, site);
    const uint32_t w = gbsi_lattice_word(lattice, place);
    return w / GBSI_LATTICE_LANES * GBSI_LATTICE_ROW_SLOTS + place.bit * GBSI_LATTICE_LANES +
           w % GBSI_LATTICE_LANES;
}

/* Returns 1 + kind for the site of a bit; 0 if the bit has no site. */
static uint32_t kind_at(const gbsi_lattice *l, uint32_t w, uint32_t bit)
{
    if (l->n_kinds == 1) {
        return l->valid == NULL ? 1 : l->valid[w] >> bit & 1u;
    }
    for (uint32_t i = 0; i < l->n_kinds; ++i) {
        if ((l->kind_mask[i][w] >> bit & 1u) != 0) {
            return i + 1;
        }
    }
    return 0;
}

float gbsi_lattice_average_slot(const gbsi_lattice_averages *a, const uint32_t *kept,
                                uint32_t n_passes, uint32_t slot)
{
    const uint32_t row = slot / GBSI_LATTICE_ROW_SLOTS;
    const uint32_t bit = slot / GBSI_LATTICE_LANES % 32;
    const uint32_t lane = slot % GBSI_LATTICE_LANES;
    const float *p = a->p + (size_t)kind_at(a->lattice, row * GBSI_LATTICE_LANES + lane, bit) *
                                GBSI_LATTICE_COUNTS;
    float sum = 0.0F;
    for (uint32_t pass = 0; pass < n_passes; ++pass) {
        const uint32_t *plane = kept + gbsi_lattice_kept(row, pass) + lane;
        const uint32_t c = (plane[0] >> bit & 1u) | (plane[GBSI_LATTICE_LANES] >> bit & 1u) << 1 |
                           (plane[2 * GBSI_LATTICE_LANES] >> bit & 1u) << 2;
        sum += p[c];
    }
    return sum;
}
