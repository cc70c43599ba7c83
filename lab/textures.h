/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of regions with textures, of our own: which pixel is of which class is known. */
#ifndef LAB_TEXTURES_H
#define LAB_TEXTURES_H

#include "gibbsite/image.h"
#include "lab/lab.h"

enum {
    LAB_TEXTURES = 6,
    LAB_TEXTURES_WIDTH = 320, /* pixels: 31 x 20 patches of 20 pixels, 10 apart, as in section 5.5
                                 of Mitliagkas & Mackey (2017) */
    LAB_TEXTURES_HEIGHT = 213,
};

extern const char *const lab_texture_name[LAB_TEXTURES];

/* A picture of one to four classes in regions nearest to points drawn at random.
 * @param number number of the picture, which selects its random numbers.
 * @param class_of [LAB_TEXTURES_HEIGHT][LAB_TEXTURES_WIDTH] out. */
gbs_status lab_textures_make(const laboratory *lab, uint32_t number, gbs_image *image,
                             uint8_t *class_of, gbs_error *err);

#endif
