/* SPDX-License-Identifier: Apache-2.0 */
/* The gbsi_draw tables of all drawing methods, by number of the method and by instruction set. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "draw/herding.h"
#include "options/needs.h"
#include "options/options.h"
#include "plan/draw.h"

#define DECLARE(set, SET) extern const gbsi_draw *const gbsi_draws_##set[]; /* draws_lanes.c */
#define ROW(set, SET)     [GBSI_SIMD_##SET] = gbsi_draws_##set,

GBSI_SIMD_SETS(DECLARE)

static const gbsi_draw *const *const draws[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};

const gbsi_draw *gbsi_draw_of(const gbs_run_options *options, gbsi_simd level)
{
    const gbsi_draw *draw = draws[level][options->draw];
    const bool decide = gbsi_keys_decide(gbsi_herding_keys(options));
    return draw->by_bins == NULL || decide ? draw : draw->by_bins;
}

unsigned gbsi_draw_traits(const gbs_run_options *options)
{
    return options->draw < 0 || options->draw >= gbsi_n_draws()
               ? 0
               : gbsi_draw_of(options, GBSI_SIMD_PORTABLE)->traits;
}

int gbsi_draw_with(unsigned traits)
{
    gbs_run_options options = gbs_run_options_default();
    options.draw = 0;
    while ((gbsi_draw_traits(&options) & traits) != traits) {
        ++options.draw;
        assert(options.draw < gbsi_n_draws());
    }
    return options.draw;
}

const char *const *gbsi_draw_options(int draw_kind)
{
    return draws[GBSI_SIMD_PORTABLE][draw_kind]->options;
}

gbs_status gbsi_draw_check_herding(const gbsi_draw *draw, const char *name, const char *option,
                                   gbs_error *err)
{
    const bool herds = (draw->traits & GBSI_DRAW_HERDS) != 0;
    const bool is_keys = strcmp(option, "keys") == 0;
    if (gbsi_option_is_named(draw->options, option) || (herds && !is_keys)) {
        return GBS_OK;
    }
    return herds ? gbsi_fail(err, GBS_ERR_ARGUMENT, "--keys: draw %s has no keys", name)
                 : gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "--%s applies to herded draws only; choose one with --draw", option);
}

gbs_status gbsi_draw_takes_herding(int draw, const char *option, gbs_error *err)
{
    return gbsi_draw_check_herding(draws[GBSI_SIMD_PORTABLE][draw], gbsi_draw_name(draw), option,
                                   err);
}

gbs_run_options gbsi_draw_instead(const gbs_run_options *options, int draw_kind)
{
    gbs_run_options other = *options;
    other.draw = draw_kind;
    for (int kind = 0; draw_kind != options->draw && kind < gbsi_n_draws(); ++kind) {
        const char *const *name = gbsi_draw_options(kind);
        for (size_t i = 0; name != NULL && name[i] != NULL; ++i) {
            gbsi_option_reset(&other, name[i]);
        }
    }
    return other;
}
