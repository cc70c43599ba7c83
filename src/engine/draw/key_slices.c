/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/herd.h"

#include <string.h>

#include "base/memory.h"

#define WIDTH 16u

void gbsi_key_slices_free(gbsi_key_slices *slices)
{
    GBSI_FREE(slices->slice, slices->link, slices->step, slices->cell, slices->lut, slices->offset);
    *slices = (gbsi_key_slices){0};
}

/* Largest number of links in a slice. Slots with more links are handled one by one, because padding
 * would cost more than slices save. */
#define MOST_WIDTH 64u

/* Returns the slice that begins at slot `first`; the caller must set its member `link`. */
static gbsi_key_slice shape_of(const gbsi_keys *keys, uint32_t first)
{
    const gbsi_key_slot *s = keys->slot + first;
    gbsi_key_slice made = {.cell = s->cell, .lut = s->lut, .coding = s->coding, .regular = 1};
    if (first + WIDTH > keys->plan->n_slots) {
        return (gbsi_key_slice){0};
    }
    for (uint32_t i = 0; i < WIDTH; ++i) {
        made.width = s[i].n_links > made.width ? s[i].n_links : made.width;
        /* bits are shifted in one after another, beginning with the last link; all slots
         * therefore need an equal number of links */
        made.coding =
            s[i].coding != s->coding || s[i].n_links != s->n_links ? GBSI_CODE_RADIX : made.coding;
        made.regular &= s[i].coding != GBSI_CODE_HASHED &&
                        gbsi_plan_arity(keys->plan, first + i) == 2 &&
                        s[i].cell - s->cell < INT32_MAX / 4 &&
                        (s->lut == GBSI_NO_LUT || s[i].lut - s->lut < INT32_MAX / 2);
    }
    made.regular &= made.width <= MOST_WIDTH;
    return made;
}

static void fill(const gbsi_keys *keys, uint32_t first, const gbsi_key_slice *made,
                 gbsi_key_slices *slices)
{
    for (uint32_t i = 0; i < WIDTH; ++i) {
        const gbsi_key_slot *s = &keys->slot[first + i];
        slices->cell[first + i] = (uint32_t)(s->cell - made->cell);
        slices->lut[first + i] = (uint32_t)(s->lut - made->lut);
        slices->offset[first + i] = s->offset;
        for (uint32_t d = 0; d < made->width; ++d) {
            const size_t at = made->link + (size_t)WIDTH * d + i;
            slices->link[at] = d < s->n_links ? keys->link[s->link + d] : first;
            slices->step[at] = d < s->n_links ? keys->step[s->link + d] : 0;
        }
    }
}

gbs_status gbsi_key_slices_new(const gbsi_keys *keys, gbsi_key_slices *slices, gbs_error *err)
{
    const uint32_t n = keys->plan->n_slots / WIDTH; /* number of whole slices */
    size_t n_links = 0;
    slices->slice = gbsi_alloc_array_zero((size_t)n + 1, sizeof *slices->slice);
    for (uint32_t i = 0; slices->slice != NULL && i < n; ++i) {
        slices->slice[i] = shape_of(keys, WIDTH * i);
        slices->slice[i].link = n_links;
        n_links += slices->slice[i].regular ? (size_t)WIDTH * slices->slice[i].width : 0;
    }
    slices->link = gbsi_alloc_array(n_links, sizeof *slices->link);
    slices->step = gbsi_alloc_array(n_links, sizeof *slices->step);
    slices->cell = gbsi_alloc_array_zero((size_t)WIDTH * n, sizeof *slices->cell);
    slices->lut = gbsi_alloc_array_zero((size_t)WIDTH * n, sizeof *slices->lut);
    slices->offset = gbsi_alloc_array_zero((size_t)WIDTH * n, sizeof *slices->offset);
    GBSI_PASS(GBSI_HAVE(err, "herding keys", slices->slice, slices->link, slices->step,
                        slices->cell, slices->lut, slices->offset));
    for (uint32_t i = 0; i < n; ++i) {
        if (slices->slice[i].regular) {
            fill(keys, WIDTH * i, &slices->slice[i], slices);
        }
    }
    return GBS_OK;
}
