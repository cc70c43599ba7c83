/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up probabilities by numbers of neighbours, for sixteen words at a time. A lane is a word,
 * and a loop runs over the bits of the words. */
#include "lattice/averages.h"
#include "simd/lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* Returns bit b of every word, moved to bit `place`. */
INLINE vu bit_at(vu word, int b, int place)
{
    return vu_shl(vu_and(vu_shr(word, b), vu_set1(1)), place);
}

/* Indices in the table of probabilities for the sixteen sites of bit b in one pass. @param first
 * indices at which the entries of the sites' kinds begin. */
INLINE vu index_of(const vu plane[3], int b, vu first)
{
    return vu_or(vu_or(first, bit_at(plane[0], b, 0)),
                 vu_or(bit_at(plane[1], b, 1), bit_at(plane[2], b, 2)));
}

INLINE void load_pass(const uint32_t *kept, uint32_t row, uint32_t pass, vu plane[3])
{
    const uint32_t *at = kept + gbsi_lattice_kept(row, pass);
    for (uint32_t i = 0; i < 3; ++i) {
        plane[i] = vu_load(at + (size_t)i * GBSI_LATTICE_LANES);
    }
}

/* Averages a row whose sites have the plain kind or the kind of the opposite field. The table of
 * sixteen probabilities fits a register. */
INLINE void average_plain(const gbsi_lattice_averages *a, const uint32_t *kept, uint32_t n_passes,
                          uint32_t row, float *sum)
{
    const gbsi_lattice *l = a->lattice;
    const vf table = vf_load(a->plain);
    const vu turned =
        l->mirror_kind == UINT32_MAX
            ? vu_set1(0)
            : vu_load(l->kind_mask[l->mirror_kind] + (size_t)row * GBSI_LATTICE_LANES);
    vu plane[GBSI_LATTICE_KEPT][3];
    for (uint32_t pass = 0; pass < n_passes; ++pass) {
        load_pass(kept, row, pass, plane[pass]);
    }
    for (int b = 0; b < 32; ++b) {
        const vu first = bit_at(turned, b, 3);
        vf s = vf_set1(0.0F);
        for (uint32_t pass = 0; pass < n_passes; ++pass) {
            s = vf_add(s, vf_permute16(table, index_of(plane[pass], b, first)));
        }
        vf_store(sum + (size_t)b * GBSI_LATTICE_LANES, s);
    }
}

/* Returns, for the site at bit b of each word, 8 (1 + kind of the site); 0 if the bit has no site.
 */
INLINE vu first_of_kind(const gbsi_lattice *l, uint32_t row, int b)
{
    const size_t w = (size_t)row * GBSI_LATTICE_LANES;
    vu first = vu_set1(0);
    if (l->n_kinds == 1) {
        return bit_at(l->valid == NULL ? vu_set1(UINT32_MAX) : vu_load(l->valid + w), b, 3);
    }
    for (uint32_t i = 0; i < l->n_kinds; ++i) {
        const vu own = bit_at(vu_load(l->kind_mask[i] + w), b, 0);
        first = vu_or(first, vu_mul(own, vu_set1((i + 1) * GBSI_LATTICE_COUNTS)));
    }
    return first;
}

static void average_mixed(const gbsi_lattice_averages *a, const uint32_t *kept, uint32_t n_passes,
                          uint32_t row, float *sum)
{
    for (int b = 0; b < 32; ++b) {
        const vu first = first_of_kind(a->lattice, row, b);
        vf s = vf_set1(0.0F);
        for (uint32_t pass = 0; pass < n_passes; ++pass) {
            vu plane[3];
            load_pass(kept, row, pass, plane);
            s = vf_add(s, vf_gather(a->p, index_of(plane, b, first)));
        }
        vf_store(sum + (size_t)b * GBSI_LATTICE_LANES, s);
    }
}

void GBSI_V(gbsi_lattice_average)(const gbsi_lattice_averages *a, const uint32_t *kept,
                                  uint32_t n_passes, uint32_t row, float *sum);

void GBSI_V(gbsi_lattice_average)(const gbsi_lattice_averages *a, const uint32_t *kept,
                                  uint32_t n_passes, uint32_t row, float *sum)
{
    const gbsi_lattice *l = a->lattice;
    const bool plain =
        l->plain_kind != UINT32_MAX && l->valid == NULL && (l->plain == NULL || l->plain[row] != 0);
    if (!plain) {
        average_mixed(a, kept, n_passes, row, sum);
    } else if (n_passes == GBSI_LATTICE_KEPT) {
        average_plain(a, kept, GBSI_LATTICE_KEPT, row, sum);
    } else {
        average_plain(a, kept, n_passes, row, sum);
    }
}
