/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a grid of levels from a picture. The grid needs no factors, and takes a few bytes for each
 * pixel and level. */
#include <string.h>

#include "base/memory.h"
#include "denoise/denoise.h"

typedef struct seeing {
    const gbs_image *noisy;
    const gbs_denoise_options *o;
    uint32_t *index_of; /* [values] for each grey value or label: its index among the values that
                           occur in the picture */
    double *seen;       /* [shown][levels] log-probability of each value at each level */
    uint32_t n_shown;
} seeing;

static uint32_t index_of_pixel(const void *context, size_t pixel)
{
    const seeing *s = context;
    return s->index_of[gbsi_denoise_value(s->noisy, s->o, pixel)];
}

/* Lists the values of pixels in order of first appearance, with the log-probability of each value
 * at each level. */
static gbs_status find_values(seeing *s, gbs_error *err)
{
    const size_t n_pixels = (size_t)s->noisy->width * s->noisy->height;
    const size_t n_values = (size_t)s->noisy->maxval + GBSI_LEVELS_MOST;
    size_t capacity = 0;
    s->index_of = gbsi_alloc_array(n_values, sizeof *s->index_of);
    GBSI_PASS(GBSI_HAVE(err, "picture", s->index_of));
    memset(s->index_of, 0xFF, n_values * sizeof *s->index_of);
    for (size_t i = 0; i < n_pixels; i++) {
        const uint32_t value = gbsi_denoise_value(s->noisy, s->o, i);
        if (s->index_of[value] != UINT32_MAX) {
            continue;
        }
        void *seen = s->seen;
        const size_t n = (s->n_shown + (size_t)1) * s->o->levels;
        const gbs_status status =
            gbsi_reserve(&seen, &capacity, n, sizeof *s->seen, "picture", err);
        s->seen = seen;
        if (status < 0) {
            return status;
        }
        for (uint32_t a = 0; a < s->o->levels; a++) {
            s->seen[n - s->o->levels + a] =
                gbsi_denoise_log_seen(s->o, gbsi_denoise_shown(s->noisy, s->o, i), a);
        }
        s->index_of[value] = s->n_shown++;
    }
    return GBS_OK;
}

gbs_status gbsi_denoise_levels(const gbs_image *noisy, const gbs_denoise_options *o,
                               gbsi_levels **levels, gbs_error *err)
{
    gbs_status status = GBS_OK;
    seeing s = {.noisy = noisy, .o = o};
    GBSI_TRY(find_values(&s, err));
    const gbsi_levels_setting setting = {
        .width = noisy->width,
        .height = noisy->height,
        .n_levels = o->levels,
        .n_neighbours = o->neighbours,
        .coupling = o->coupling * gbsi_denoise_steps[0].weight,
        .diagonal = o->coupling * gbsi_denoise_steps[2].weight,
        .truncation = o->smoothing == GBS_SMOOTHING_POTTS ? 1.0 : o->truncation,
        .n_values = s.n_shown,
        .seen = s.seen,
        .value = index_of_pixel,
        .context = &s};
    GBSI_TRY(gbsi_levels_new(&setting, levels, err));
cleanup:
    GBSI_FREE(s.index_of, s.seen);
    return status;
}
