/* SPDX-License-Identifier: Apache-2.0 */
/* A Potts model that resembles a noisy picture: patches of grey levels with Gaussian noise. */
#include <math.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "generate/generators.h"

enum { FEWEST_PATCHES = 12 };

/* largest standard deviation of the noise, in grey levels; far above 65535 */
#define MAX_NOISE 1e6

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

/* Finds the pixels that may lie in a patch: their centres are at most half a side from the
 * centre of the patch. */
static void bound(gbsi_generate_patch *p, unsigned d, uint32_t side)
{
    const double from = p->centre[d] - p->half[d];
    const double to = p->centre[d] + p->half[d] + 1.0;
    p->from[d] = from <= 0.0 ? 0 : from >= side ? side : (uint32_t)from;
    p->to[d] = to <= 0.0 ? 0 : to >= side ? side : (uint32_t)to;
}

/* Makes a box or an ellipsoid whose sides are about a quarter of the picture's sides; in a flat
 * picture, a rectangle or an ellipse. */
static gbsi_generate_patch make_patch(const gbsi_generate_picture *picture, uint64_t p)
{
    const gbs_generate_potts_options *o = &picture->options;
    const uint32_t *side = picture->size;
    double u[4][2];
    for (unsigned i = 0; i < 4; ++i) {
        gbsi_generate_uniforms(o->seed, GBSI_STREAM_PATCH, 4 * p + i, u[i]);
    }
    gbsi_generate_patch patch = {
        .centre = {u[0][1] * side[0], u[0][0] * side[1], u[2][1] * side[2]},
        .half = {(0.06 + 0.2 * u[1][1]) * side[0], (0.06 + 0.2 * u[1][0]) * side[1],
                 (0.06 + 0.2 * u[3][1]) * side[2]},
        .round = u[2][0] < 0.5,
        .level = (uint16_t)(u[3][0] * o->states)};
    for (unsigned d = 0; d < 3; ++d) {
        bound(&patch, d, side[d]);
    }
    if (side[2] == 1) { /* in a flat picture every patch reaches through the only layer */
        patch.from[2] = 0;
        patch.to[2] = 1;
    }
    return patch;
}

static bool covers(const gbsi_generate_picture *picture, const gbsi_generate_patch *p,
                   const uint32_t at[3])
{
    /* in a flat picture the third coordinate of the centre is the centre of the layer */
    const unsigned n_directions = picture->size[2] > 1 ? 3 : 2;
    double sum = 0.0;
    for (unsigned d = 0; d < 3; ++d) {
        if (at[d] < p->from[d] || at[d] >= p->to[d]) {
            return false;
        }
    }
    for (unsigned d = 0; p->round && d < n_directions; ++d) {
        const double z = (at[d] + 0.5 - p->centre[d]) / p->half[d];
        sum += z * z;
    }
    return sum <= 1.0;
}

/* Returns the grey level of a pixel: the level of the last patch that covers the pixel, or 0 if
 * no patch does. */
static uint16_t level_of(const gbsi_generate_picture *picture, uint32_t v)
{
    const uint32_t *side = picture->size;
    const uint32_t at[3] = {v % side[0], v / side[0] % side[1], v / side[0] / side[1]};
    uint32_t p = picture->n_patches;
    while (p > 0 && !covers(picture, &picture->patch[p - 1], at)) {
        --p;
    }
    return p > 0 ? picture->patch[p - 1].level : 0;
}

gbs_status gbsi_generate_picture_init(gbsi_generate_picture *picture,
                                      const gbs_generate_potts_options *options, gbs_error *err)
{
    GBSI_IN_STRUCT(options, gbs_generate_potts_options);
    *picture = (gbsi_generate_picture){
        .options = *options, .size = {options->columns, options->rows, layers_of(options)}};
    GBSI_PASS(check_potts(options, &picture->n_variables, err));
    const uint32_t most = GBSI_MOST_PATCHES;
    const uint32_t wanted = 3 * (options->states < most ? options->states : most);
    picture->n_patches = wanted < FEWEST_PATCHES ? FEWEST_PATCHES : wanted > most ? most : wanted;
    for (uint32_t p = 0; p < picture->n_patches; ++p) {
        picture->patch[p] = make_patch(picture, p);
    }
    return GBS_OK;
}

/* ---- factors ------------------------------------------------------------------------------- */

/* Returns nearly Gaussian noise of mean 0 and variance 1: the sum of twelve uniform numbers
 * minus its mean (Irwin-Hall). The tails of this distribution end at -+6. Exact methods need sines
 * or an inverse error function, and no one would see the difference in a picture. */
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

void gbsi_generate_data_term(const gbsi_generate_picture *picture, uint32_t v, double *logw)
{
    const gbs_generate_potts_options *o = &picture->options;
    const double y = level_of(picture, v) + o->noise * noise(o->seed, v);
    for (uint32_t k = 0; k < o->states; ++k) {
        const double z = (y - k) / o->noise;
        logw[k] = -0.5 * z * z;
    }
}

static gbs_status add_data(gbs_builder *builder, const gbsi_generate_picture *picture,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_states = picture->options.states;
    double *logw = gbsi_alloc_array(n_states, sizeof *logw);
    GBSI_PASS(GBSI_HAVE(err, "picture", logw));
    for (uint32_t v = 0; v < picture->n_variables; ++v) {
        uint32_t table = 0;
        gbsi_generate_data_term(picture, v, logw);
        GBSI_TRY(gbs_builder_add_table(builder, n_states, logw, &table, err));
        GBSI_TRY(gbs_builder_add_table_factor(builder, 1, &v, table, err));
    }

cleanup:
    gbsi_free(logw);
    return status;
}

/* Couples each variable to its neighbours to the right, below, and in the next layer. */
static gbs_status add_couplings(gbs_builder *builder, const gbsi_generate_picture *picture,
                                gbs_error *err)
{
    const gbs_generate_potts_options *o = &picture->options;
    for (uint32_t v = 0; v < picture->n_variables; ++v) {
        for (unsigned d = 0; d < 3; ++d) {
            uint32_t next = 0;
            if (gbsi_generate_neighbour(picture->size, o->torus != 0, v, d, &next)) {
                GBSI_PASS(gbs_builder_add_potts(builder, v, next, o->coupling, err));
            }
        }
    }
    return GBS_OK;
}

gbs_status gbs_generate_potts(const gbs_generate_potts_options *options, gbs_model **model,
                              gbs_error *err)
{
    GBSI_NEED(options, model);
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    gbsi_generate_picture picture;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(gbsi_generate_picture_init(&picture, options, err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbsi_generate_variables(builder, picture.n_variables, picture.options.states, err));
    GBSI_TRY(add_couplings(builder, &picture, err));
    if (picture.options.noise > 0.0) {
        GBSI_TRY(add_data(builder, &picture, err));
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));

cleanup:
    gbs_builder_free(builder);
    gbsi_budget_leave(before);
    return status;
}
