/* SPDX-License-Identifier: Apache-2.0 */
/* A Potts model like a noisy picture: patches of grey levels, seen through Gaussian noise. */
#include <math.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "model/generators.h"

enum {
    FEWEST_PATCHES = 12,
    MOST_PATCHES = 64,
};

#define MAX_NOISE 1e6 /* grey levels: far beyond 65535 of them */

static uint32_t layers_of(const gbs_generate_potts_options *o)
{
    return o->layers > 1 ? o->layers : 1;
}

static gbs_status check_potts(const gbs_generate_potts_options *o, uint32_t *n, gbs_error *err)
{
    const uint64_t area = (uint64_t)o->rows * o->columns;
    if (area == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "grid %u x %u: every side must be 1 or more",
                         (unsigned)o->rows, (unsigned)o->columns);
    }
    if (area > GBS_MAX_VARIABLES / layers_of(o)) {
        return gbsi_fail(
            err, GBS_ERR_LIMIT, "grid %u x %u x %u: more than the %u variables possible",
            (unsigned)o->rows, (unsigned)o->columns, (unsigned)layers_of(o), GBS_MAX_VARIABLES);
    }
    if (o->states < 1 || o->states > GBS_MAX_ARITY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%u states, expected 1 to %u", (unsigned)o->states,
                         GBS_MAX_ARITY);
    }
    if (!isfinite(o->coupling)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "coupling: %g, expected a finite number",
                         o->coupling);
    }
    if (!(o->noise >= 0.0 && o->noise <= MAX_NOISE)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "noise: %g, expected 0 to %g grey levels", o->noise,
                         MAX_NOISE);
    }
    *n = (uint32_t)area * layers_of(o);
    return GBS_OK;
}

/* ---- the picture --------------------------------------------------------------------------- */

typedef struct patch {
    double row, column, layer; /* centre, pixels */
    double half_height, half_width,
        half_depth; /* of the box or the axes of the ellipsoid, pixels */
    int round;
    uint16_t level;
} patch;

static patch make_patch(const gbs_generate_potts_options *o, uint64_t p)
{
    double u[4][2];
    for (unsigned i = 0; i < 4; ++i) {
        gbsi_generate_uniforms(o->seed, GBSI_STREAM_PATCH, 4 * p + i, u[i]);
    }
    return (patch){.row = u[0][0] * o->rows,
                   .column = u[0][1] * o->columns,
                   .layer = u[2][1] * layers_of(o),
                   .half_height = (0.06 + 0.2 * u[1][0]) * o->rows,
                   .half_width = (0.06 + 0.2 * u[1][1]) * o->columns,
                   .half_depth = (0.06 + 0.2 * u[3][1]) * layers_of(o),
                   .round = u[2][0] < 0.5,
                   .level = (uint16_t)(u[3][0] * o->states)};
}

static uint32_t clamp_pixel(double x, uint32_t side)
{
    return x <= 0.0 ? 0 : x >= side ? side : (uint32_t)x;
}

/* One layer of a patch. @param z2 square of how far it is from the centre, 1 at the rim. */
static void paint_layer(const gbs_generate_potts_options *o, const patch *p, double z2,
                        uint16_t *picture)
{
    const uint32_t top = clamp_pixel(p->row - p->half_height, o->rows);
    const uint32_t bottom = clamp_pixel(p->row + p->half_height + 1.0, o->rows);
    const uint32_t left = clamp_pixel(p->column - p->half_width, o->columns);
    const uint32_t right = clamp_pixel(p->column + p->half_width + 1.0, o->columns);
    for (uint32_t r = top; r < bottom; ++r) {
        const double y = (r + 0.5 - p->row) / p->half_height;
        for (uint32_t c = left; c < right; ++c) {
            const double x = (c + 0.5 - p->column) / p->half_width;
            if (!p->round || x * x + y * y + z2 <= 1.0) {
                picture[(size_t)r * o->columns + c] = p->level;
            }
        }
    }
}

static void paint(const gbs_generate_potts_options *o, const patch *p, uint16_t *picture)
{
    const uint32_t layers = layers_of(o);
    if (layers == 1) { /* flat: every patch is in it */
        paint_layer(o, p, 0.0, picture);
        return;
    }
    const uint32_t front = clamp_pixel(p->layer - p->half_depth, layers);
    const uint32_t back = clamp_pixel(p->layer + p->half_depth + 1.0, layers);
    for (uint32_t l = front; l < back; ++l) {
        const double z = (l + 0.5 - p->layer) / p->half_depth;
        paint_layer(o, p, z * z, &picture[(size_t)l * o->rows * o->columns]);
    }
}

/* Boxes and ellipsoids (flat: rectangles and ellipses) of about a quarter of the sides, one over
 * the other, on level 0. */
static void paint_picture(const gbs_generate_potts_options *o, uint16_t *picture)
{
    const uint32_t wanted = 3 * (o->states < MOST_PATCHES ? o->states : MOST_PATCHES);
    const uint32_t n = wanted < FEWEST_PATCHES ? FEWEST_PATCHES
                       : wanted > MOST_PATCHES ? MOST_PATCHES
                                               : wanted;
    for (uint32_t p = 0; p < n; ++p) {
        const patch one = make_patch(o, p);
        paint(o, &one, picture);
    }
}

/* ---- factors ------------------------------------------------------------------------------- */

/* Nearly Gaussian of mean 0 and variance 1: twelve uniforms less their mean (Irwin-Hall). Its tails
 * end at -+6; the other methods need sines or an inverse error function for nothing a picture
 * would show. */
static double noise(uint64_t seed, uint32_t v)
{
    double sum = -6.0;
    for (unsigned i = 0; i < 6; ++i) {
        double u[2];
        gbsi_generate_uniforms(seed, GBSI_STREAM_NOISE, 6 * (uint64_t)v + i, u);
        sum += u[0];
        sum += u[1];
    }
    return sum;
}

/* Data term of pixel v seen as y:  -(y - k)^2 / (2 noise^2)  for k = 0 .. states - 1. */
static gbs_status add_data(gbs_builder *builder, const gbs_generate_potts_options *o,
                           const uint16_t *picture, uint32_t n, double *logw, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t v = 0; v < n; ++v) {
        const double y = picture[v] + o->noise * noise(o->seed, v);
        uint32_t table = 0;
        for (uint32_t k = 0; k < o->states; ++k) {
            const double z = (y - k) / o->noise;
            logw[k] = -0.5 * z * z;
        }
        GBSI_TRY(gbs_builder_add_table(builder, o->states, logw, &table, err));
        GBSI_TRY(gbs_builder_add_table_factor(builder, 1, &v, table, err));
    }

cleanup:
    return status;
}

/* Each variable to its right, below and in the next layer. */
static gbs_status add_couplings(gbs_builder *builder, const gbs_generate_potts_options *o,
                                uint32_t n, gbs_error *err)
{
    const uint32_t length[3] = {o->columns, o->rows, layers_of(o)};
    gbs_status status = GBS_OK;
    for (uint32_t v = 0; v < n; ++v) {
        for (unsigned d = 0; d < 3; ++d) {
            uint32_t next = 0;
            if (gbsi_generate_neighbour(length, o->torus != 0, v, d, &next)) {
                GBSI_TRY(gbs_builder_add_potts(builder, v, next, o->coupling, err));
            }
        }
    }

cleanup:
    return status;
}

gbs_status gbs_generate_potts(const gbs_generate_potts_options *options, gbs_model **model,
                              gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_potts_options);
    GBSI_NEED(model);
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    uint16_t *picture = NULL;
    double *logw = NULL;
    uint32_t n = 0;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(check_potts(options, &n, err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbsi_generate_variables(builder, n, options->states, err));
    GBSI_TRY(add_couplings(builder, options, n, err));
    if (options->noise > 0.0) {
        picture = gbsi_alloc_array_zero(n, sizeof *picture);
        logw = gbsi_alloc_array(options->states, sizeof *logw);
        if (picture == NULL || logw == NULL) {
            GBSI_TRY(gbsi_no_memory(err, "picture", n * sizeof *picture));
        }
        paint_picture(options, picture);
        GBSI_TRY(add_data(builder, options, picture, n, logw, err));
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));

cleanup:
    gbs_builder_free(builder);
    gbsi_free(picture);
    gbsi_free(logw);
    gbsi_budget_leave(before);
    return status;
}
