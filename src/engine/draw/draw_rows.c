/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of draws that the rows of draws.def state. Drawing methods use these functions.
 * draws.c has the tables of all drawing methods. */
#include <assert.h>

#include "draw/herding.h"
#include "options/options.h"

static const int keys_of[] = {
#define GBS_DRAW(number, SYMBOL, table, KEYS, name, help) [number] = GBS_KEYS_##KEYS,
#include "gibbsite/draws.def"
#undef GBS_DRAW
};

int gbsi_n_draws(void)
{
    return (int)(sizeof keys_of / sizeof keys_of[0]);
}

int gbsi_herding_keys(const gbs_run_options *options)
{
    return options->keys != GBS_KEYS_AUTO ? options->keys : keys_of[options->draw];
}

int gbsi_draw_keyed(int keys)
{
    int kind = 0;
    while (keys_of[kind] != keys) {
        ++kind;
        assert(kind < gbsi_n_draws());
    }
    return kind;
}

const char *gbsi_draw_name(int draw_kind)
{
    return gbsi_option_choice_name(gbsi_option_find("draw"), draw_kind);
}
