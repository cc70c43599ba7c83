/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/textures.h"

#include "lab/lab.h"

#define MOST_REGIONS 4
/* difference between the light and dark parts of a texture, in grey levels (of 256) */
#define CONTRAST 26.0
#define NOISE    100.0 /* standard deviation of the noise of a pixel */
#define LEVEL    20
#define LIGHT    2.0 /* largest difference in lightness of a region, in grey levels */

const char *const lab_texture_name[LAB_TEXTURES] = {"across", "down",  "slanted",
                                                    "checks", "spots", "plain"};

/* Small differences of the colours of classes from grey: red, green, blue. */
static const double tint[LAB_TEXTURES][3] = {{6, 0, -6}, {-6, 6, 0}, {0, -6, 6},
                                             {6, -6, 0}, {-6, 0, 6}, {0, 6, -6}};

typedef struct region {
    uint32_t class_number, row, column; /* class of the region, and position of its point */
    uint32_t phase[2];
    double light;
} region;

/* Whether a texture is light at this pixel. */
static bool is_light(const region *r, uint32_t row, uint32_t column)
{
    const uint32_t y = row + r->phase[0];
    const uint32_t x = column + r->phase[1];
    switch (r->class_number) {
    case 0:
        return y / 3 % 2 == 0;
    case 1:
        return x / 3 % 2 == 0;
    case 2:
        return (x + y) / 4 % 2 == 0;
    case 3:
        return (x / 5 + y / 5) % 2 == 0;
    case 4:
        return (x % 9 - 4) * (x % 9 - 4) + (y % 9 - 4) * (y % 9 - 4) <= 9;
    default:
        return false;
    }
}

static uint32_t draw(const laboratory *lab, uint32_t number, uint32_t *n_drawn, uint32_t n)
{
    double u[2];
    lab_uniforms(lab, LAB_TEXTURE, number, (*n_drawn)++, u);
    return (uint32_t)(u[0] * n);
}

/* Chooses the classes of the regions, which are all different, and a random point for each region.
 * @return number of classes. */
static uint32_t place(const laboratory *lab, uint32_t number, region *regions)
{
    uint32_t n_drawn = 0;
    uint32_t used = 0;
    const uint32_t n = 1 + draw(lab, number, &n_drawn, MOST_REGIONS);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t c = draw(lab, number, &n_drawn, LAB_TEXTURES);
        while ((used & 1u << c) != 0) {
            c = (c + 1) % LAB_TEXTURES;
        }
        used |= 1u << c;
        regions[k].class_number = c;
        regions[k].row = draw(lab, number, &n_drawn, LAB_TEXTURES_HEIGHT);
        regions[k].column = draw(lab, number, &n_drawn, LAB_TEXTURES_WIDTH);
        regions[k].phase[0] = draw(lab, number, &n_drawn, 90);
        regions[k].phase[1] = draw(lab, number, &n_drawn, 90);
        regions[k].light = LIGHT * ((double)draw(lab, number, &n_drawn, 201) - 100.0) / 100.0;
    }
    return n;
}

static const region *nearest(const region *regions, uint32_t n, uint32_t row, uint32_t column)
{
    uint32_t best = 0;
    int64_t least = INT64_MAX;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t down = (int64_t)row - regions[k].row;
        const int64_t across = (int64_t)column - regions[k].column;
        const int64_t square = down * down + across * across;
        best = square < least ? k : best;
        least = square < least ? square : least;
    }
    return &regions[best];
}

gbs_status lab_textures_make(const laboratory *lab, uint32_t number, gbs_image *image,
                             uint8_t *class_of, gbs_error *err)
{
    enum { N = LAB_TEXTURES_WIDTH * LAB_TEXTURES_HEIGHT };
    region regions[MOST_REGIONS] = {{0}};
    const uint32_t n = place(lab, number, regions);
    const gbs_status status =
        gbs_image_new(GBS_IMAGE_COLOR, LAB_TEXTURES_WIDTH, LAB_TEXTURES_HEIGHT, 255, 0, image, err);
    for (uint32_t i = 0; i < N && status >= 0; i++) {
        const uint32_t row = i / LAB_TEXTURES_WIDTH;
        const uint32_t column = i % LAB_TEXTURES_WIDTH;
        const region *r = nearest(regions, n, row, column);
        const double texture = r->class_number + 1 == LAB_TEXTURES ? 0.0
                               : is_light(r, row, column)          ? CONTRAST
                                                                   : -CONTRAST;
        const double grey =
            128.0 + r->light + texture + NOISE * lab_normal(lab, LAB_TEXTURE_NOISE, number * N + i);
        /* values are multiples of LEVEL, so that files are small */
        for (uint32_t c = 0; c < 3; c++) {
            const double value = (double)((int)(grey / LEVEL) * LEVEL) + tint[r->class_number][c];
            image->sample[3 * (size_t)i + c] = (uint16_t)(value < 0.0     ? 0.0
                                                          : value > 255.0 ? 255.0
                                                                          : value);
        }
        class_of[i] = (uint8_t)r->class_number;
    }
    return status;
}
