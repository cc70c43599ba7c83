/* SPDX-License-Identifier: Apache-2.0 */
/* The draws there are, by rule and instruction set: options choose a rule by draw and keys. A new
 * one: one file, one row here. */
#include <assert.h>
#include <stddef.h>

#include "draw/herding.h"
#include "plan/draw.h"

#define RULES(X, set)        \
    X(RANDOM, random, set)   \
    X(CUD, cud, set)         \
    X(HERDED, herded, set)   \
    X(BINNED, binned, set)   \
    X(ROUNDED, rounded, set) \
    X(BOUNDED, bounded, set) \
    X(BINNED_BOUNDED, binned_bounded, set)

#define NUMBER(RULE, rule, set)  RULE,
#define DECLARE(RULE, rule, set) extern const gbsi_draw gbsi_draw_##rule##_##set;
#define ENTRY(RULE, rule, set)   [RULE] = &gbsi_draw_##rule##_##set,
#define DECLARE_SET(set, SET)    RULES(DECLARE, set)
#define ROW(set, SET)            [GBSI_SIMD_##SET] = {RULES(ENTRY, set)},

enum { RULES(NUMBER, none) N_RULES };
GBSI_SIMD_SETS(DECLARE_SET)

static const gbsi_draw *const draws[GBSI_N_SIMD][N_RULES] = {GBSI_SIMD_SETS(ROW)};

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
        return draws[level][RANDOM];
    }
    if (options->draw == GBS_DRAW_CUD) {
        return draws[level][CUD];
    }
    if (options->draw == GBS_DRAW_RANDOMLY_DISCRETIZED) {
        return draws[level][ROUNDED];
    }
    const bool decide = gbsi_keys_decide(gbsi_herding_keys(options));
    if (options->draw == GBS_DRAW_BOUNDED_ERROR) {
        return draws[level][decide ? BOUNDED : BINNED_BOUNDED];
    }
    return draws[level][decide ? HERDED : BINNED];
}
