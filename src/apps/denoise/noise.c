/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kind of noise of a picture, and whether the pixels alone decide all levels
 * (gibbsite/denoise.h). */
#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "denoise/denoise.h"
#include "pictures/image_file.h"

/* if the picture has at most this number of levels, the spacing of the levels does not matter */
#define FEW_LEVELS 4u
/* if the picture has more levels, neighbouring levels must be at least this number of grey values
 * apart */
#define FINE 4u
/* least standard deviation, in levels, at which normal noise changes levels */
#define NEAR       0.15
#define NEARLY_ALL 0.99
/* ln 1e9: a state whose log-probability is lower by this amount never occurs in a run */
#define FROZEN_RATIO 20.7
/* ln 1e6: a state whose log-probability is lower by this amount hardly ever occurs in a run */
#define HELD_RATIO 13.8

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
    bool apart = true; /* whether different values that occur have different nearest levels */
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

/* @return the margin of a pixel: the largest log-probability of a level minus the second largest,
 * from the value of the pixel alone. */
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

/* @param margin out, [MOST_VALUES]: the margin of each grey value or label; NAN: not known yet. */
static gbs_status new_margins(double **margin, gbs_error *err)
{
    double *made = gbsi_alloc_array(MOST_VALUES, sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "picture", made));
    for (size_t value = 0; value < MOST_VALUES; value++) {
        made[value] = (double)NAN;
    }
    *margin = made;
    return GBS_OK;
}

static double margin_at(const gbs_image *noisy, const gbs_denoise_options *o, double *margin,
                        size_t pixel)
{
    double *of = &margin[gbsi_denoise_value(noisy, o, pixel)];
    *of = isnan(*of) ? margin_of(o, gbsi_denoise_shown(noisy, o, pixel)) : *of;
    return *of;
}

/* Assumes that each neighbour of a pixel has the level it shows. The neighbours then prefer the
 * level that the pixel shows to any other level, by a difference of log-probabilities. @return a
 * lower bound of this difference, for all other levels. */
static double least_pull(const gbs_image *noisy, const gbs_denoise_options *o, uint32_t row,
                         uint32_t column)
{
    const double least = gbsi_denoise_distance(o, 0, 1);
    const double most = gbsi_denoise_distance(o, 0, o->levels - 1);
    const size_t pixel = (size_t)row * noisy->width + column;
    const uint32_t level = gbsi_denoise_nearest(o, gbsi_denoise_shown(noisy, o, pixel));
    double pull = 0.0;
    for (unsigned s = 0; s < 2 * gbsi_denoise_n_steps(o); s++) {
        const gbsi_denoise_step *step = &gbsi_denoise_steps[s / 2];
        const int64_t sign = s % 2 == 0 ? 1 : -1;
        const int64_t r = (int64_t)row + sign * step->row;
        const int64_t c = (int64_t)column + sign * step->column;
        if (r < 0 || c < 0 || r >= noisy->height || c >= noisy->width) {
            continue;
        }
        const size_t other = (size_t)r * noisy->width + (size_t)c;
        const bool same = gbsi_denoise_nearest(o, gbsi_denoise_shown(noisy, o, other)) == level;
        pull += step->weight * o->coupling * (same ? least : -most);
    }
    return pull;
}

gbs_status gbsi_denoise_held(const gbs_image *noisy, const gbs_denoise_options *o, uint64_t *n_held,
                             gbs_error *err)
{
    double *margin = NULL;
    uint64_t found = 0;
    GBSI_PASS(new_margins(&margin, err));
    for (uint32_t row = 0; row < noisy->height; row++) {
        for (uint32_t column = 0; column < noisy->width; column++) {
            const size_t pixel = (size_t)row * noisy->width + column;
            const double own = margin_at(noisy, o, margin, pixel);
            found += own + least_pull(noisy, o, row, column) > HELD_RATIO;
        }
    }
    gbsi_free(margin);
    *n_held = found;
    return GBS_OK;
}

gbs_status gbs_denoise_frozen(const gbs_image *noisy, const gbs_denoise_options *options,
                              uint64_t *n_frozen, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_denoise_options o;
    double *margin = NULL;
    GBSI_NEED(n_frozen);
    GBSI_TRY(gbsi_denoise_settle(noisy, options, &o, err));
    const size_t n = (size_t)noisy->width * noisy->height;
    GBSI_TRY(new_margins(&margin, err));
    double sway =
        0.0; /* largest difference of a pixel's log-probabilities that its neighbours can cause */
    for (unsigned s = 0; s < gbsi_denoise_n_steps(&o); s++) {
        sway += 2.0 * gbsi_denoise_steps[s].weight * o.coupling *
                gbsi_denoise_distance(&o, 0, o.levels - 1);
    }
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        found += margin_at(noisy, &o, margin, i) - sway > FROZEN_RATIO;
    }
    *n_frozen = found;

cleanup:
    gbsi_free(margin);
    return status;
}
