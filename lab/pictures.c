/* SPDX-License-Identifier: Apache-2.0 */
/* Generated shapes, pictures of a folder, and models over pictures. */
#include "lab/pictures.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gibbsite/image.h"

void lab_pictures_free(lab_pictures *pictures)
{
    for (size_t i = 0; i < pictures->n; i++) {
        gbsi_free(pictures->picture[i].pixel);
    }
    gbsi_free(pictures->picture);
    *pictures = (lab_pictures){0};
}

/* ---- generated shapes; x to the right and y up, the picture is [-1, 1]^2 --------------------- */

static double square(double x)
{
    return x * x;
}

static bool heart(double x, double y)
{
    const double a = square(1.3 * x) + square(1.3 * y - 0.1) - 0.75;
    return a * a * a < square(1.3 * x) * (1.3 * y - 0.1) * square(1.3 * y - 0.1);
}

static bool ring(double x, double y)
{
    const double r = square(x) + square(y);
    return r < 0.64 && r > 0.16;
}

static bool crescent(double x, double y)
{
    return square(x) + square(y) < 0.6 && square(x - 0.35) + square(y - 0.15) > 0.4;
}

static bool letter(double x, double y)
{
    const double a = x < 0.0 ? -x : x;
    return y > -0.75 && y < 0.75 && a < 0.6 && (a > 0.3 || (y > -0.15 && y < 0.15));
}

static bool fish(double x, double y)
{
    const bool body = square((x - 0.15) / 0.65) + square(y / 0.4) < 1.0;
    const bool tail = x > -0.85 && x < -0.3 && square(y) < square(0.75 * (x + 0.3) - 0.05);
    const bool eye = square(x - 0.5) + square(y - 0.12) < 0.006;
    return (body || tail) && !eye;
}

static bool clover(double x, double y)
{
    const double r = square(x) + square(y); /* the curve r^3 = c (x y)^2 bounds four leaves */
    return r * r * r < 2.6 * square(x) * square(y) || r < 0.03;
}

static const struct {
    const char *name;
    bool (*has)(double x, double y);
} shape[] = {{"heart", heart},   {"ring", ring}, {"crescent", crescent},
             {"letter", letter}, {"fish", fish}, {"clover", clover}};

#define N_SHAPES (sizeof shape / sizeof shape[0])

static gbs_status new_picture(const char *name, uint32_t width, uint32_t height,
                              lab_picture *picture, gbs_error *err)
{
    picture->width = width;
    picture->height = height;
    (void)snprintf(picture->name, sizeof picture->name, "%s", name);
    picture->pixel = gbsi_alloc_array((size_t)width * height, sizeof *picture->pixel);
    return GBSI_HAVE(err, name, picture->pixel);
}

static gbs_status draw_shapes(uint32_t side, lab_pictures *pictures, gbs_error *err)
{
    pictures->picture = gbsi_alloc_array_zero(N_SHAPES, sizeof *pictures->picture);
    GBSI_PASS(GBSI_HAVE(err, "pictures", pictures->picture));
    for (size_t i = 0; i < N_SHAPES; i++) {
        lab_picture *p = &pictures->picture[i];
        pictures->n = i + 1;
        GBSI_PASS(new_picture(shape[i].name, side, side, p, err));
        for (uint32_t row = 0; row < side; row++) {
            for (uint32_t column = 0; column < side; column++) {
                const double x = (2.0 * column + 1.0) / side - 1.0;
                const double y = 1.0 - (2.0 * row + 1.0) / side;
                p->pixel[(size_t)row * side + column] = shape[i].has(x, y);
            }
        }
        pictures->n_pixels += (size_t)side * side;
    }
    return GBS_OK;
}

/* ---- pictures of a folder ---------------------------------------------------------------- */

static bool is_picture(const char *name)
{
    static const char *const ending[] = {".png", ".pgm", ".pbm", ".ppm"};
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        if (n > 4 && strcmp(name + n - 4, ending[i]) == 0) {
            return true;
        }
    }
    return false;
}

static gbs_status read_picture(const char *path, lab_picture *picture, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_image image = {0};
    const char *slash = strrchr(path, '/');
    GBSI_TRY(gbs_image_read(path, NULL, &image, err));
    GBSI_TRY(
        new_picture(slash != NULL ? slash + 1 : path, image.width, image.height, picture, err));
    GBSI_TRY(gbs_image_to_spins(&image, 0, picture->pixel, err));
cleanup:
    gbs_image_free(&image);
    return status;
}

/* Keeps every k-th pixel of every k-th row, with the smallest k that leaves at most `side` rows and
 * columns. */
static void thin_out(lab_picture *p, uint32_t side)
{
    const uint32_t longer = p->width > p->height ? p->width : p->height;
    const uint32_t k = (longer + side - 1) / side;
    const uint32_t width = (p->width + k - 1) / k;
    const uint32_t height = (p->height + k - 1) / k;
    for (uint32_t row = 0; row < height; row++) {
        for (uint32_t column = 0; column < width; column++) {
            p->pixel[row * width + column] = p->pixel[row * k * p->width + column * k];
        }
    }
    p->width = width;
    p->height = height;
}

/* Reads the pictures of a folder. @param side largest side of a picture; 0 for no limit. */
static gbs_status read_folder(const char *folder, uint32_t side, lab_pictures *pictures,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    char **name = NULL;
    size_t n = 0;
    GBSI_TRY(lab_list_folder(folder, is_picture, ".png, .pgm, .pbm or .ppm", &name, &n, err));
    pictures->picture = gbsi_alloc_array_zero(n, sizeof *pictures->picture);
    GBSI_TRY(GBSI_HAVE(err, "pictures", pictures->picture));
    for (size_t i = 0; i < n && (side == 0 || pictures->n_pixels < (size_t)side * side); i++) {
        pictures->n = i + 1;
        GBSI_TRY(read_picture(name[i], &pictures->picture[i], err));
        if (side > 0) {
            thin_out(&pictures->picture[i], side);
        }
        pictures->n_pixels += (size_t)pictures->picture[i].width * pictures->picture[i].height;
    }
cleanup:
    lab_free_names(name, n);
    return status;
}

gbs_status lab_pictures_make(const laboratory *lab, uint32_t side, lab_pictures *pictures,
                             gbs_error *err)
{
    return lab->options->data != NULL
               ? read_folder(lab->options->data, lab->options->quick ? side : 0, pictures, err)
               : draw_shapes(side, pictures, err);
}

void lab_pictures_note(laboratory *lab)
{
    if (lab->options->quick && lab->options->data != NULL) {
        lab_note(lab, "Quick: the first pictures of the folder, large ones thinned out evenly.");
    }
}

gbs_status lab_picture_image(const lab_picture *picture, const uint32_t *pixel, gbs_image *image,
                             gbs_error *err)
{
    return gbs_image_from_spins(pixel, picture->width, picture->height, GBS_IMAGE_GREY, image, err);
}

gbs_generate_potts_options lab_grey_picture(const laboratory *lab, double noise)
{
    const uint32_t side = lab->options->quick ? 64 : 200;
    return (gbs_generate_potts_options){.rows = side,
                                        .columns = side,
                                        .states = LAB_GREY_LEVELS,
                                        .coupling = 3.0,
                                        .noise = noise,
                                        .seed = lab->options->seed};
}

/* ---- models ------------------------------------------------------------------------------ */

static gbs_status couple(const lab_picture *p, double coupling, gbs_builder *builder,
                         gbs_error *err)
{
    for (uint32_t row = 0; row < p->height; row++) {
        for (uint32_t column = 0; column < p->width; column++) {
            const uint32_t i = row * p->width + column;
            if (column + 1 < p->width) {
                GBSI_PASS(gbs_builder_add_ising(builder, i, i + 1, coupling, err));
            }
            if (row + 1 < p->height) {
                GBSI_PASS(gbs_builder_add_ising(builder, i, i + p->width, coupling, err));
            }
        }
    }
    return GBS_OK;
}

gbs_status lab_picture_model(const lab_picture *picture, double coupling, const double *field,
                             gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    const uint32_t n = picture->width * picture->height; /* a picture has at most 2^30 pixels */
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    GBSI_PASS(GBSI_HAVE(err, "picture", arity));
    for (uint32_t i = 0; i < n; i++) {
        arity[i] = 2;
    }
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_add_variables(builder, n, arity, NULL, err));
    for (uint32_t i = 0; i < n; i++) {
        GBSI_TRY(gbs_builder_add_field(builder, i, field[i], err));
    }
    GBSI_TRY(couple(picture, coupling, builder, err));
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    gbsi_free(arity);
    return status;
}
