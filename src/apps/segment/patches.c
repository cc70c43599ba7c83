/* SPDX-License-Identifier: Apache-2.0 */
#include "segment/patches.h"

#include <string.h>

#include "base/memory.h"
#include "pictures/image_file.h"
#include "simd/math.h"

#define ROOT_HALF 0.70710678118654752f
#define CLIP      0.2f /* largest value in a descriptor of length 1 (Lowe 2004, section 6.1) */

enum { CELLS = 4, DIRECTIONS = 8 };

/* Unit vectors (row, column) at angles of multiples of 45 degrees. */
static const float direction[DIRECTIONS][2] = {
    {0.0f, 1.0f},  {ROOT_HALF, ROOT_HALF},   {1.0f, 0.0f},  {ROOT_HALF, -ROOT_HALF},
    {0.0f, -1.0f}, {-ROOT_HALF, -ROOT_HALF}, {-1.0f, 0.0f}, {-ROOT_HALF, ROOT_HALF}};

gbs_status gbsi_grid_fit(const gbs_image *picture, gbsi_grid *grid, gbs_error *err)
{
    if (picture->width < grid->side || picture->height < grid->side) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found a picture of %u x %u pixels, expected at least one patch, %u x %u",
                         picture->width, picture->height, grid->side, grid->side);
    }
    grid->rows = (picture->height - grid->side) / grid->step + 1;
    grid->columns = (picture->width - grid->side) / grid->step + 1;
    return GBS_OK;
}

gbs_status gbsi_view_make(const gbs_image *picture, gbsi_view *view, gbs_error *err)
{
    const size_t n = (size_t)picture->width * picture->height;
    GBSI_PASS(gbsi_image_colored(picture, &view->colored, err));
    view->light = gbsi_alloc_array(n, sizeof *view->light);
    GBSI_PASS(GBSI_HAVE(err, "picture", view->light));
    for (size_t i = 0; i < n; i++) {
        view->light[i] = (float)gbsi_image_grey(&view->colored, i) / (float)view->colored.maxval;
    }
    return GBS_OK;
}

void gbsi_view_free(gbsi_view *view)
{
    gbs_image_free(&view->colored);
    gbsi_free(view->light);
    view->light = NULL;
}

/* Computes the gradient of the light: along each axis, the difference of the pixel's two
 * neighbours. At the borders, the pixel takes the place of the missing neighbour. */
static void gradient(const gbsi_view *view, size_t row, size_t column, float slope[2])
{
    const size_t width = view->colored.width;
    const size_t up = row > 0 ? row - 1 : row;
    const size_t down = row + 1 < view->colored.height ? row + 1 : row;
    const size_t left = column > 0 ? column - 1 : column;
    const size_t right = column + 1 < width ? column + 1 : column;
    slope[0] = view->light[down * width + column] - view->light[up * width + column];
    slope[1] = view->light[row * width + right] - view->light[row * width + left];
}

/* Scales a descriptor to length 1. A descriptor shorter than `floor` is only divided by `floor`,
 * because the noise of flat patches must not be amplified. */
static void scale(float *texture, float floor)
{
    float square = 0.0f;
    for (int i = 0; i < GBSI_TEXTURE; i++) {
        square += texture[i] * texture[i];
    }
    const float length = (float)gbsi_sqrt((double)square);
    const float by = length > floor ? length : floor;
    for (int i = 0; i < GBSI_TEXTURE; i++) {
        texture[i] /= by;
    }
}

void gbsi_describe_texture(const gbsi_view *view, const gbsi_grid *grid, size_t patch,
                           float *texture)
{
    const size_t top = patch / grid->columns * grid->step;
    const size_t left = patch % grid->columns * grid->step;
    const float area = (float)grid->side * (float)grid->side;
    memset(texture, 0, GBSI_TEXTURE * sizeof *texture);
    for (size_t r = 0; r < grid->side; r++) {
        for (size_t c = 0; c < grid->side; c++) {
            const size_t cell = r * CELLS / grid->side * CELLS + c * CELLS / grid->side;
            float *histogram = texture + cell * DIRECTIONS;
            float slope[2];
            gradient(view, top + r, left + c, slope);
            for (int k = 0; k < DIRECTIONS; k++) {
                const float along = slope[0] * direction[k][0] + slope[1] * direction[k][1];
                histogram[k] += along > 0.0f ? along : 0.0f;
            }
        }
    }
    scale(texture, area / 400.0f);
    for (int i = 0; i < GBSI_TEXTURE; i++) {
        texture[i] = texture[i] < CLIP ? texture[i] : CLIP;
    }
    scale(texture, 0.5f);
}

void gbsi_describe_color(const gbsi_view *view, const gbsi_grid *grid, size_t patch, float *color)
{
    const size_t top = patch / grid->columns * grid->step;
    const size_t left = patch % grid->columns * grid->step;
    const double n = (double)grid->side * grid->side;
    double sum[3] = {0.0};
    double square[3] = {0.0};
    for (size_t r = top; r < top + grid->side; r++) {
        for (size_t c = left; c < left + grid->side; c++) {
            const uint16_t *s = view->colored.sample + 3 * (r * view->colored.width + c);
            const double red = s[0];
            const double green = s[1];
            const double blue = s[2];
            const double channel[3] = {(red - green) * 0.70710678118654752,
                                       (red + green - 2.0 * blue) * 0.40824829046386302,
                                       (red + green + blue) * 0.57735026918962576};
            for (int k = 0; k < 3; k++) {
                sum[k] += channel[k] / view->colored.maxval;
                square[k] += channel[k] / view->colored.maxval * channel[k] / view->colored.maxval;
            }
        }
    }
    memset(color, 0, GBSI_COLOR * sizeof *color);
    for (int k = 0; k < 3; k++) {
        const double mean = sum[k] / n;
        const double variance = square[k] / n - mean * mean;
        color[k] = (float)mean;
        color[3 + k] = (float)gbsi_sqrt(variance > 0.0 ? variance : 0.0);
    }
}

uint32_t gbsi_describe_place(const gbsi_grid *grid, size_t patch, uint32_t cells)
{
    const uint64_t row = patch / grid->columns;
    const uint64_t column = patch % grid->columns;
    return (uint32_t)(row * cells / grid->rows * cells + column * cells / grid->columns);
}
