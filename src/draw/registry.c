/* SPDX-License-Identifier: Apache-2.0 */
/* The draws there are, by name and instruction set. A new one: one file, one line here. */
#include <stddef.h>

#include "plan/draw.h"

extern const gbsi_draw gbsi_draw_random_portable;
#ifdef GBSI_HAVE_X86_SETS
extern const gbsi_draw gbsi_draw_random_avx2;
extern const gbsi_draw gbsi_draw_random_avx512;
#endif
#ifdef GBSI_HAVE_NEON_SET
extern const gbsi_draw gbsi_draw_random_neon;
#endif

/* [gbs_draw_kind][gbsi_simd] */
static const gbsi_draw *const draws[][GBSI_N_SIMD] = {
#ifdef GBSI_HAVE_X86_SETS
    {&gbsi_draw_random_portable, NULL, &gbsi_draw_random_avx2, &gbsi_draw_random_avx512},
#elif defined(GBSI_HAVE_NEON_SET)
    {&gbsi_draw_random_portable, &gbsi_draw_random_neon, NULL, NULL},
#else
    {&gbsi_draw_random_portable, NULL, NULL, NULL},
#endif
};

const gbsi_draw *gbsi_draw_of(int draw_kind, gbsi_simd level)
{
    const int n = (int)(sizeof draws / sizeof draws[0]);
    return draw_kind >= 0 && draw_kind < n ? draws[draw_kind][level] : NULL;
}
