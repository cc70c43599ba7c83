/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kind of noise of a picture, and whether the pixels alone decide all levels
 * (gibbsite/denoise.h). */
#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "denoise/denoise.h"
#include "pictures/image_file.h"

/* largest number of levels of a picture whose values may fill the whole range */
#define FEW_LEVELS 4u
/* with more levels, neighbouring levels must be at least this many values apart */
#define FINE 4u
/* least standard deviation, in levels, at which normal noise changes levels */
#define NEAR       0.15
#define NEARLY_ALL 0.99
/* ln 1e9: a state whose log-probability is lower by this amount never occurs in a run */
#define FROZEN_RATIO 20.7

enum { MOST_VALUES = 1 << 16, MOST_LEVELS = 256 };

gbs_noise gbs_denoise_noise_of(const gbs_image *noisy, uint32_t levels, int labels)
{
    uint8_t seen[MOST_VALUES / CHAR_BIT] = {0};
    uint8_t taken[MOST_LEVELS] = {0};
    const uint32_t k = levels == 0 ? 2 : levels;
    const gbs_denoise_options o = {.levels = k};
    if (noisy == NULL || noisy->sample == NULL || noisy->maxval == 0 || labels ||
        noisy->kind == GBS_IMAGE_BITMAP || noisy->kind == GBS_IMAGE_PALETTE) {
        return GBS_NOISE_FLIP;
    }
    if (k > MOST_LEVELS || (k > FEW_LEVELS && FINE * (k - 1) > noisy->maxval)) {
        return GBS_NOISE_GAUSS;
    }
    const size_t n = (size_t)noisy->width * noisy->height;
    size_t n_near = 0;
    bool apart = true; /* whether no two values are nearest to one level */
    for (size_t i = 0; i < n; i++) {
        const uint32_t value = gbsi_denoise_value(noisy, &o, i);
        const double shown = gbsi_denoise_shown(noisy, &o, i);
        const uint32_t level = gbsi_denoise_nearest(&o, shown);
        const uint8_t bit = (uint8_t)(1u << value % CHAR_BIT);
        n_near += fabs(shown - level) < NEAR;
        if ((seen[value / CHAR_BIT] & bit) == 0) {
            apart = apart && !taken[level];
            seen[value / CHAR_BIT] |= bit;
            taken[level] = 1;
        }
    }
    return apart || (double)n_near >= NEARLY_ALL * (double)n ? GBS_NOISE_FLIP : GBS_NOISE_GAUSS;
}

/* @return the difference of the log-probabilities of the most probable and the second most probable
 * level of a pixel, from the value of the pixel alone. */
static double margin_of(const gbs_denoise_options *o, double shown)
{
    double first = -INFINITY;
    double second = -INFINITY;
    for (uint32_t a = 0; a < o->levels; a++) {
        const double logw = gbsi_denoise_log_seen(o, shown, a);
        second = logw > first ? first : logw > second ? logw : second;
        first = logw > first ? logw : first;
    }
    return first - second;
}

gbs_status gbs_denoise_frozen(const gbs_image *noisy, const gbs_denoise_options *options,
                              uint64_t *n_frozen, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_denoise_options o;
    double *margin = NULL; /* margin of each grey value or label; NAN: not known yet */
    GBSI_NEED(n_frozen);
    GBSI_TRY(gbsi_denoise_settle(noisy, options, &o, err));
    const size_t n = (size_t)noisy->width * noisy->height;
    margin = gbsi_alloc_array(MOST_VALUES, sizeof *margin);
    GBSI_PASS(GBSI_HAVE(err, "picture", margin));
    for (size_t value = 0; value < MOST_VALUES; value++) {
        margin[value] = (double)NAN;
    }
    double sway = 0.0; /* largest difference of log-probabilities that neighbours can cause */
    for (unsigned s = 0; s < gbsi_denoise_n_steps(&o); s++) {
        sway += 2.0 * gbsi_denoise_steps[s].weight * o.coupling *
                gbsi_denoise_distance(&o, 0, o.levels - 1);
    }
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        double *of = &margin[gbsi_denoise_value(noisy, &o, i)];
        *of = isnan(*of) ? margin_of(&o, gbsi_denoise_shown(noisy, &o, i)) : *of;
        found += *of - sway > FROZEN_RATIO;
    }
    *n_frozen = found;

cleanup:
    gbsi_free(margin);
    return status;
}
