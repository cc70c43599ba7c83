/* SPDX-License-Identifier: Apache-2.0 */
/* Patches on a grid over a picture, and what describes each. */
#ifndef GBSI_SEGMENT_PATCHES_H
#define GBSI_SEGMENT_PATCHES_H

#include "base/status.h"
#include "gibbsite/image.h"

enum {
    GBSI_TEXTURE = 128, /* numbers of a descriptor: 4 x 4 cells, 8 directions */
    GBSI_COLOR = 8,     /* mean and spread of three channels, and two zeros */
};

typedef struct gbsi_grid {
    uint32_t side, step;    /* pixels */
    uint32_t rows, columns; /* patches; patch row * columns + column begins at pixel
                               (row * step, column * step) */
} gbsi_grid;

/* A picture in the form that descriptors need. */
typedef struct gbsi_view {
    gbs_image colored;
    float *light; /* [height][width] 0 to 1 */
} gbsi_view;

/* Computes the rows and columns of patches of size grid->side, grid->step apart.
 * @return GBS_ERR_ARGUMENT for a picture smaller than a patch. */
gbs_status gbsi_grid_fit(const gbs_image *picture, gbsi_grid *grid, gbs_error *err);

/* Free the view in either case. */
gbs_status gbsi_view_make(const gbs_image *picture, gbsi_view *view, gbs_error *err);
void gbsi_view_free(gbsi_view *view);

/* Histograms of gradients (Lowe 2004, sections 6 and 7: SIFT, unrotated) of length 1, or shorter
 * where a patch has almost no contrast. @param texture [GBSI_TEXTURE] out. */
void gbsi_describe_texture(const gbsi_view *view, const gbsi_grid *grid, size_t patch,
                           float *texture);
/* Mean and standard deviation of the opponent channels (van de Sande, Gevers & Snoek 2010, equation
 * 4). @param color [GBSI_COLOR] out. */
void gbsi_describe_color(const gbsi_view *view, const gbsi_grid *grid, size_t patch, float *color);
/* The cell of cells x cells that the patch lies in. */
uint32_t gbsi_describe_place(const gbsi_grid *grid, size_t patch, uint32_t cells);

#endif
