/* SPDX-License-Identifier: Apache-2.0 */
/* The draws there are, by rule and instruction set: options choose a rule by draw and keys. A new
 * one: one file, one line here. */
#include <assert.h>
#include <stddef.h>

#include "draw/herding.h"
#include "plan/draw.h"

#define DECLARE(set)                                \
    extern const gbsi_draw gbsi_draw_random_##set;  \
    extern const gbsi_draw gbsi_draw_cud_##set;     \
    extern const gbsi_draw gbsi_draw_herded_##set;  \
    extern const gbsi_draw gbsi_draw_binned_##set;  \
    extern const gbsi_draw gbsi_draw_rounded_##set; \
    extern const gbsi_draw gbsi_draw_bounded_##set; \
    extern const gbsi_draw gbsi_draw_binned_bounded_##set

DECLARE(portable);
#ifdef GBSI_HAVE_X86_SETS
DECLARE(avx2);
DECLARE(avx512);
#define SETS(draw)                                           \
    {                                                        \
        &draw##_portable, NULL, &draw##_avx2, &draw##_avx512 \
    }
#elif defined(GBSI_HAVE_NEON_SET)
DECLARE(neon);
#define SETS(draw)                                 \
    {                                              \
        &draw##_portable, &draw##_neon, NULL, NULL \
    }
#else
#define SETS(draw)                         \
    {                                      \
        &draw##_portable, NULL, NULL, NULL \
    }
#endif

enum { RANDOM, CUD, HERDED, BINNED, ROUNDED, BOUNDED, BINNED_BOUNDED };

/* [rule][gbsi_simd] */
static const gbsi_draw *const draws[][GBSI_N_SIMD] = {
    [RANDOM] = SETS(gbsi_draw_random),
    [CUD] = SETS(gbsi_draw_cud),
    [HERDED] = SETS(gbsi_draw_herded),
    [BINNED] = SETS(gbsi_draw_binned),
    [ROUNDED] = SETS(gbsi_draw_rounded),
    [BOUNDED] = SETS(gbsi_draw_bounded),
    [BINNED_BOUNDED] = SETS(gbsi_draw_binned_bounded),
};

unsigned gbsi_draw_traits(const gbs_run_options *options)
{
    return gbsi_draw_name(options->draw) == NULL
               ? 0
               : gbsi_draw_of(options, GBSI_SIMD_PORTABLE)->traits;
}

int gbsi_draw_with(unsigned traits)
{
    gbs_run_options options = gbs_run_options_default();
    options.draw = 0;
    while ((gbsi_draw_traits(&options) & traits) != traits) {
        ++options.draw;
        assert(gbsi_draw_name(options.draw) != NULL);
    }
    return options.draw;
}

gbs_run_options gbsi_draw_instead(const gbs_run_options *options, int draw_kind)
{
    const gbs_run_options usual = gbs_run_options_default();
    gbs_run_options other = *options;
    if (draw_kind != options->draw) {
        other.draw = draw_kind;
        other.keys = usual.keys;
        other.herd_rule = usual.herd_rule;
        other.bin_rule = usual.bin_rule;
        other.threshold = usual.threshold;
        other.cud_bits = usual.cud_bits;
        other.cud_offset = usual.cud_offset;
        other.cud_scheme = usual.cud_scheme;
    }
    return other;
}

const gbsi_draw *gbsi_draw_of(const gbs_run_options *options, gbsi_simd level)
{
    if (options->draw == GBS_DRAW_RANDOM) {
        return draws[RANDOM][level];
    }
    if (options->draw == GBS_DRAW_CUD) {
        return draws[CUD][level];
    }
    if (options->draw == GBS_DRAW_RANDOMLY_DISCRETIZED) {
        return draws[ROUNDED][level];
    }
    const bool decide = gbsi_keys_decide(gbsi_herding_keys(options));
    if (options->draw == GBS_DRAW_BOUNDED_ERROR) {
        return draws[decide ? BOUNDED : BINNED_BOUNDED][level];
    }
    return draws[decide ? HERDED : BINNED][level];
}
