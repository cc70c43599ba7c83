/* SPDX-License-Identifier: Apache-2.0 */
/* Generated pictures of regions with textures, in which the class of every pixel is known. */
#ifndef LAB_TEXTURES_H
#define LAB_TEXTURES_H

#include "gibbsite/image.h"
#include "lab/lab.h"

enum {
    LAB_TEXTURES = 6,
    /* width in pixels; as in section 5.5 of Mitliagkas & Mackey (2017), a picture has 31 x 20
     * patches with sides of 20 pixels, at distances of 10 pixels */
    LAB_TEXTURES_WIDTH = 320,
    LAB_TEXTURES_HEIGHT = 213,
};

extern const char *const lab_texture_name[LAB_TEXTURES];

/* Makes a picture of one to four classes. A pixel has the class of the nearest of some random
 * points.
 * @param number number of the picture, which selects its random numbers.
 * @param class_of [LAB_TEXTURES_HEIGHT][LAB_TEXTURES_WIDTH] out. */
gbs_status lab_textures_make(const laboratory *lab, uint32_t number, gbs_image *image,
                             uint8_t *class_of, gbs_error *err);

#endif
