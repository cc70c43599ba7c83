/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the model of a noisy picture (gibbsite/denoise.h). */
#include <math.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/watch.h"
#include "denoise/denoise.h"
#include "gibbsite/model.h"
#include "options/questions.h"
#include "pictures/image_file.h"
#include "simd/math.h"

enum { MOST_LEVELS = 256 }; /* the largest value of the option --levels */
#define ROOT_HALF 0.70710678118654752

const gbsi_denoise_step gbsi_denoise_steps[4] = {
    {0, 1, 1.0}, {1, 0, 1.0}, {1, -1, ROOT_HALF}, {1, 1, ROOT_HALF}};

unsigned gbsi_denoise_n_steps(const gbs_denoise_options *o)
{
    return o->neighbours == 8 ? 4 : 2;
}

/* ---- options --------------------------------------------------------------------------------- */

static gbs_status check_noise(const gbs_denoise_options *o, gbs_error *err)
{
    const double most = o->noise == GBS_NOISE_FLIP ? 1.0 - 1.0 / o->levels : INFINITY;
    if (o->labels && o->noise != GBS_NOISE_FLIP) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "labels have no distances: their noise is a flip to another label");
    }
    if (!(o->noise_level > 0.0 && o->noise_level < most)) {
        return o->noise == GBS_NOISE_FLIP
                   ? gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "found a flip probability of %g, expected one above 0 and below "
                               "1 - 1/levels = %g, at which a pixel says nothing",
                               o->noise_level, most)
                   : gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "found a standard deviation of %g, expected one above 0",
                               o->noise_level);
    }
    return GBS_OK;
}

static gbs_status check_labels(const gbs_image *image, const gbs_denoise_options *o, gbs_error *err)
{
    const size_t n = (size_t)image->width * image->height;
    if (!o->labels) {
        return GBS_OK;
    }
    if (image->kind == GBS_IMAGE_COLOR) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found a picture in colour, expected grey or a palette: values of pixels "
                         "are labels");
    }
    for (size_t i = 0; i < n; i++) {
        if (image->sample[i] >= o->levels) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "row %zu, column %zu: found a pixel of value %u, expected a label: "
                             "less than %u",
                             i / image->width, i % image->width, image->sample[i], o->levels);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_denoise_settle(const gbs_image *noisy, const gbs_denoise_options *options,
                               gbs_denoise_options *settled, gbs_error *err)
{
    GBSI_NEED(noisy, options);
    gbs_denoise_options o;
    gbs_status status = gbsi_question_settle("denoise", options, &o, err);
    if (status < 0) {
        return status;
    }
    GBSI_IN_STRUCT(o.callbacks, gbs_run_callbacks);
    const double most = (double)o.levels - 1.0;
    o.truncation = o.truncation == 0.0 ? most * most : o.truncation;
    GBSI_TRY(gbsi_image_check(noisy, "picture", err));
    GBSI_TRY(check_noise(&o, err));
    if (noisy->kind == GBS_IMAGE_BITMAP && o.levels != 2) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "a bitmap has 2 levels, found %u", o.levels));
    }
    GBSI_TRY(check_labels(noisy, &o, err));
    *settled = o;
cleanup:
    return status;
}

/* ---- pixels ---------------------------------------------------------------------------------- */

double gbsi_denoise_shown(const gbs_image *image, const gbs_denoise_options *o, size_t pixel)
{
    if (o->labels || image->kind == GBS_IMAGE_BITMAP) {
        return image->sample[pixel];
    }
    return (double)gbsi_image_grey(image, pixel) * (o->levels - 1) / image->maxval;
}

uint32_t gbsi_denoise_nearest(const gbs_denoise_options *o, double shown)
{
    const uint32_t level = (uint32_t)(shown + 0.5);
    return level < o->levels ? level : o->levels - 1;
}

double gbsi_denoise_distance(const gbs_denoise_options *o, uint32_t a, uint32_t b)
{
    const double d = (double)a - (double)b;
    if (o->smoothing == GBS_SMOOTHING_POTTS) {
        return a != b;
    }
    return d * d < o->truncation ? d * d : o->truncation;
}

uint32_t gbsi_denoise_value(const gbs_image *image, const gbs_denoise_options *o, size_t pixel)
{
    const bool is_grey = !o->labels && image->kind != GBS_IMAGE_BITMAP;
    return is_grey ? gbsi_image_grey(image, pixel) : (uint32_t)image->sample[pixel];
}

double gbsi_denoise_log_seen(const gbs_denoise_options *o, double shown, uint32_t level)
{
    if (o->noise == GBS_NOISE_FLIP) {
        const double p = o->noise_level;
        return gbsi_log(gbsi_denoise_nearest(o, shown) == level ? 1.0 - p : p / (o->levels - 1));
    }
    const double d = (shown - level) / o->noise_level;
    return -0.5 * d * d;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* A model that is being made. Pixels with equal values share a table, or a field. */
typedef struct making {
    const gbs_image *noisy;
    gbs_denoise_options o;
    gbs_builder *builder;
    gbsi_watch watch;
    double began_s;
    uint32_t *table_of; /* [maxval + 1] number of the table for each grey value or label;
                           UINT32_MAX: not made yet */
    /* [maxval + 1] for spins: field for each grey value or label; NAN: not computed yet */
    double *field_of;
} making;

static bool look(void *context)
{
    const making *m = context;
    const gbs_progress progress = {.size = sizeof progress,
                                   .elapsed_s = gbsi_clock_s() - m->began_s,
                                   .worst_error = (double)NAN};
    return m->o.callbacks->progress(m->o.callbacks->context, &progress) != 0;
}

/* Spends the operations of n more factors, and fails if the watch stops the call. */
static gbs_status look_up(making *m, size_t n, gbs_error *err)
{
    return gbsi_watch_spend(&m->watch, n) ? gbsi_watch_fail(err, "making the model of a picture")
                                          : GBS_OK;
}

static gbs_status see_table(making *m, size_t pixel, gbs_error *err)
{
    const uint32_t value = gbsi_denoise_value(m->noisy, &m->o, pixel);
    const double shown = gbsi_denoise_shown(m->noisy, &m->o, pixel);
    const uint32_t variable = (uint32_t)pixel;
    double logw[MOST_LEVELS];
    if (m->table_of[value] == UINT32_MAX) {
        for (uint32_t a = 0; a < m->o.levels; a++) {
            logw[a] = gbsi_denoise_log_seen(&m->o, shown, a);
        }
        GBSI_PASS(gbs_builder_add_table(m->builder, m->o.levels, logw, &m->table_of[value], err));
    }
    return gbs_builder_add_table_factor(m->builder, 1, &variable, m->table_of[value], err);
}

/* Two levels are spins s = -1 and +1, because fields and couplings of spins are fastest. A field h
 * s differs by 2 h between the two levels, and a coupling J s s' by 2 J. */
double gbsi_denoise_field(const gbs_denoise_options *o, double shown)
{
    return 0.5 * (gbsi_denoise_log_seen(o, shown, 1) - gbsi_denoise_log_seen(o, shown, 0));
}

static gbs_status see_spin(making *m, size_t pixel, gbs_error *err)
{
    double *h = &m->field_of[gbsi_denoise_value(m->noisy, &m->o, pixel)];
    if (isnan(*h)) {
        *h = gbsi_denoise_field(&m->o, gbsi_denoise_shown(m->noisy, &m->o, pixel));
    }
    return gbs_builder_add_field(m->builder, (uint32_t)pixel, *h, err);
}

static gbs_status see_pixels(making *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = (size_t)m->noisy->width * m->noisy->height;
    for (size_t i = 0; i < n && status >= 0; i++) {
        status = m->o.levels == 2 ? see_spin(m, i, err) : see_table(m, i, err);
        if (status >= 0) {
            status = look_up(m, 1, err);
        }
    }
    return status;
}

/* Makes a table of -coupling w d(a, b), for distances d that are not a function of the difference
 * of states. */
static gbs_status pair_table(making *m, double weight, uint32_t *table, gbs_error *err)
{
    const uint32_t k = m->o.levels;
    double *logw = gbsi_alloc_array((size_t)k * k, sizeof *logw);
    GBSI_PASS(GBSI_HAVE(err, "levels", logw));
    for (uint32_t a = 0; a < k; a++) {
        for (uint32_t b = 0; b < k; b++) {
            logw[(size_t)a * k + b] = -m->o.coupling * weight * gbsi_denoise_distance(&m->o, a, b);
        }
    }
    const gbs_status status = gbs_builder_add_table(m->builder, (size_t)k * k, logw, table, err);
    gbsi_free(logw);
    return status;
}

static gbs_status join(const making *m, uint32_t i, uint32_t j, double weight, uint32_t table,
                       gbs_error *err)
{
    const uint32_t scope[2] = {i, j};
    const double coupling = m->o.coupling * weight;
    if (m->o.levels == 2) { /* for two levels, both kinds of smoothing have d = 1[a != b], but at
                               most the truncation */
        return gbs_builder_add_ising(m->builder, i, j,
                                     0.5 * coupling * gbsi_denoise_distance(&m->o, 0, 1), err);
    }
    return m->o.smoothing == GBS_SMOOTHING_POTTS
               ? gbs_builder_add_potts(m->builder, i, j, coupling, err)
               : gbs_builder_add_table_factor(m->builder, 2, scope, table, err);
}

static gbs_status join_neighbours(making *m, gbs_error *err)
{
    const uint32_t width = m->noisy->width;
    const uint32_t height = m->noisy->height;
    for (unsigned s = 0; s < gbsi_denoise_n_steps(&m->o); s++) {
        const gbsi_denoise_step *step = &gbsi_denoise_steps[s];
        uint32_t table = 0;
        if (m->o.levels > 2 && m->o.smoothing != GBS_SMOOTHING_POTTS) {
            GBSI_PASS(pair_table(m, step->weight, &table, err));
        }
        for (uint32_t r = 0; r + (uint32_t)step->row < height; r++) {
            for (uint32_t c = step->column < 0; c < width - (step->column > 0); c++) {
                const uint32_t i = r * width + c;
                const uint32_t j =
                    (r + (uint32_t)step->row) * width + (uint32_t)((int64_t)c + step->column);
                GBSI_PASS(join(m, i, j, step->weight, table, err));
            }
            GBSI_PASS(look_up(m, width, err));
        }
    }
    return GBS_OK;
}

static gbs_status add_pixels(gbs_builder *builder, const gbs_image *noisy,
                             const gbs_denoise_options *o, gbs_error *err)
{
    const size_t n = (size_t)noisy->width * noisy->height;
    if (n >= UINT32_MAX) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "a picture of %zu pixels is too large", n);
    }
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    GBSI_PASS(GBSI_HAVE(err, "picture", arity));
    for (size_t i = 0; i < n; i++) {
        arity[i] = o->levels;
    }
    const gbs_status status = gbs_builder_add_variables(builder, (uint32_t)n, arity, NULL, err);
    gbsi_free(arity);
    return status;
}

gbs_status gbsi_denoise_pixels(const gbs_image *noisy, const gbs_denoise_options *o,
                               gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(add_pixels(builder, noisy, o, err));
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    return status;
}

gbs_status gbs_denoise_model(const gbs_image *noisy, const gbs_denoise_options *options,
                             gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    making m = {.noisy = noisy, .began_s = gbsi_clock_s()};
    gbsi_budget budget;
    GBSI_NEED(model);
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(gbsi_denoise_settle(noisy, options, &m.o, err));
    const bool tells = m.o.callbacks != NULL && m.o.callbacks->progress != NULL;
    m.watch = gbsi_watch_of(tells ? look : NULL, &m, 0.0, 0.0);
    const size_t n_values =
        (size_t)noisy->maxval + 1 > noisy->n_colors ? (size_t)noisy->maxval + 1 : noisy->n_colors;
    m.table_of = gbsi_alloc_array(n_values, sizeof *m.table_of);
    m.field_of = gbsi_alloc_array(n_values, sizeof *m.field_of);
    if (m.table_of == NULL || m.field_of == NULL) {
        status =
            gbsi_no_memory(err, "picture", n_values * (sizeof *m.table_of + sizeof *m.field_of));
        goto cleanup;
    }
    for (size_t i = 0; i < n_values; i++) {
        m.table_of[i] = UINT32_MAX;
        m.field_of[i] = NAN;
    }
    GBSI_TRY(gbs_builder_new(&m.builder, err));
    GBSI_TRY(add_pixels(m.builder, noisy, &m.o, err));
    GBSI_TRY(see_pixels(&m, err));
    GBSI_TRY(join_neighbours(&m, err));
    GBSI_TRY(gbs_builder_build(m.builder, model, err));
cleanup:
    gbs_builder_free(m.builder);
    GBSI_FREE(m.table_of, m.field_of);
    gbsi_budget_leave(before);
    return status;
}
