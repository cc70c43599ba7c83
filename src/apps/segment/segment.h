/* SPDX-License-Identifier: Apache-2.0 */
/* A picture cut into patches, with the words of every patch. */
#ifndef GBSI_SEGMENT_SEGMENT_H
#define GBSI_SEGMENT_SEGMENT_H

#include "segment/aspects.h"

struct gbs_segment {
    const gbs_aspects *aspects; /* borrowed */
    gbsi_grid grid;
    uint32_t width, height; /* of the picture */
    double coupling;
    uint32_t neighbours;
    uint32_t *word;  /* [patches][GBSI_WORD_KINDS] */
    double *share;   /* [n_classes] */
    uint32_t *alone; /* [patches] the most probable class without neighbours */
};

static inline size_t gbsi_segment_n(const gbs_segment *s)
{
    return (size_t)s->grid.rows * s->grid.columns;
}

/* Whether a rectangle (NULL: all) lies in the picture. */
gbs_status gbsi_rectangle_check(const gbs_segment *segment, const gbs_rectangle *rectangle,
                                gbs_error *err);
/* Whether a patch lies in a rectangle (NULL: all). */
bool gbsi_rectangle_has(const gbs_segment *segment, const gbs_rectangle *rectangle, size_t patch);

#endif
