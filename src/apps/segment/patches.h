/* SPDX-License-Identifier: Apache-2.0 */
/* Patches on a grid over a picture, and the descriptors of each patch. */
#ifndef GBSI_SEGMENT_PATCHES_H
#define GBSI_SEGMENT_PATCHES_H

#include "base/status.h"
#include "gibbsite/image.h"

enum {
    GBSI_TEXTURE = 128, /* length of a texture descriptor: 4 x 4 cells with 8 directions */
    GBSI_COLOR = 8, /* length of a colour descriptor: mean and standard deviation of three channels,
                       and two zeros */
};

typedef struct gbsi_grid {
    uint32_t side, step;    /* side of a patch and distance between patches, in pixels */
    uint32_t rows, columns; /* number of patches along each side; patch row * columns + column
                               begins at pixel (row * step, column * step) */
} gbsi_grid;

/* A picture in the form that descriptors need. */
typedef struct gbsi_view {
    gbs_image colored;
    float *light; /* [height][width] light of each pixel, 0 to 1 */
} gbsi_view;

/* Computes the numbers of rows and columns of patches of size grid->side at distances grid->step.
 * @return GBS_ERR_ARGUMENT for a picture smaller than a patch. */
gbs_status gbsi_grid_fit(const gbs_image *picture, gbsi_grid *grid, gbs_error *err);

/* Makes a view of a picture. Call gbsi_view_free() even after a failure. */
gbs_status gbsi_view_make(const gbs_image *picture, gbsi_view *view, gbs_error *err);
void gbsi_view_free(gbsi_view *view);

/* Computes histograms of gradients (SIFT without rotation: Lowe 2004, sections 6 and 7). The
 * descriptor has length 1, or is shorter if the patch has almost no contrast. @param texture
 * [GBSI_TEXTURE] out. */
void gbsi_describe_texture(const gbsi_view *view, const gbsi_grid *grid, size_t patch,
                           float *texture);
/* Computes mean and standard deviation of the opponent channels (van de Sande, Gevers & Snoek 2010,
 * equation 4). @param color [GBSI_COLOR] out. */
void gbsi_describe_color(const gbsi_view *view, const gbsi_grid *grid, size_t patch, float *color);
/* @return the cell that contains the patch if the picture is divided into cells x cells. */
uint32_t gbsi_describe_place(const gbsi_grid *grid, size_t patch, uint32_t cells);

#endif
