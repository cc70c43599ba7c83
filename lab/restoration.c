/* SPDX-License-Identifier: Apache-2.0 */
/* Runs over pictures, and the errors of their running means. */
#include <assert.h>

#include "base/memory.h"
#include "condition/condition.h"
#include "lab/pictures.h"
#include "variational/mean_field.h"

void lab_restoration_free(lab_restoration *r)
{
    GBSI_FREE(r->wrong, r->squares, r->sum);
    *r = (lab_restoration){0};
}

static gbs_status count_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                             const uint32_t *state, gbs_error *err)
{
    const lab_restoration *r = context;
    const size_t n = (size_t)r->truth->width * r->truth->height;
    uint32_t *sum = r->sum + chain * n;
    const uint32_t sweeps = (uint32_t)draw + 1;
    uint64_t halves = 0;  /* twice the number of wrong pixels */
    uint64_t squares = 0; /* sum of squared errors of pixels, times sweeps^2 */
    (void)log_density;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        sum[i] += state[i];
        const uint32_t off = r->truth->pixel[i] != 0 ? sweeps - sum[i] : sum[i];
        halves += 2 * off > sweeps ? 2 : 2 * off == sweeps;
        squares += (uint64_t)off * off;
    }
    r->wrong[(size_t)draw * r->n_runs + chain] = 0.5 * (double)halves;
    r->squares[(size_t)draw * r->n_runs + chain] =
        (double)squares / ((double)sweeps * (double)sweeps);
    return GBS_OK;
}

static gbs_status take(const lab_picture *truth, uint32_t n_runs, uint32_t n_sweeps,
                       lab_restoration *out, gbs_error *err)
{
    const size_t n = (size_t)truth->width * truth->height;
    *out = (lab_restoration){.truth = truth, .n_runs = n_runs, .n_sweeps = n_sweeps};
    out->wrong = gbsi_alloc_array_zero((size_t)n_sweeps * n_runs, sizeof *out->wrong);
    out->squares = gbsi_alloc_array_zero((size_t)n_sweeps * n_runs, sizeof *out->squares);
    out->sum = gbsi_alloc_array_zero(n, n_runs * sizeof *out->sum);
    GBSI_PASS(GBSI_HAVE(err, truth->name, out->wrong, out->squares, out->sum));
    return GBS_OK;
}

gbs_status lab_restore(laboratory *lab, const gbs_model *model, const lab_picture *truth,
                       const lab_contender *contender, const uint32_t *start,
                       const uint32_t *sequence, uint32_t n_runs, uint32_t n_sweeps,
                       lab_restoration *out, gbs_error *err)
{
    const size_t n = (size_t)truth->width * truth->height;
    gbs_run_options options = lab_options(lab, n_runs, n_sweeps);
    lab_contender_options(contender, (uint32_t)n, NULL, &options);
    options.start = start;
    if (sequence != NULL) {
        options.scan = GBS_SCAN_SEQUENCE;
        options.sequence = sequence;
        options.sequence_length = n;
    }
    const gbs_status status = take(truth, n_runs, n_sweeps, out, err);
    return status < 0 ? status
                      : lab_run(lab, contender->name, model, &options, count_draw, out, NULL, err);
}

/* Records P(x = 1) of all pixels after t iterations. */
static void look_at(const double *q, uint32_t t, lab_restoration *r)
{
    const size_t n = (size_t)r->truth->width * r->truth->height;
    for (size_t i = 0; i < n; i++) {
        const double p = q[2 * i + 1];
        const double off = r->truth->pixel[i] != 0 ? 1.0 - p : p;
        r->wrong[t] += off > 0.5 ? 1.0 : (off == 0.5 ? 0.5 : 0.0);
        r->squares[t] += off * off;
        r->sum[i] = (uint32_t)(p * r->n_sweeps + 0.5);
    }
}

gbs_status lab_restore_mean_field(const gbs_model *model, const lab_picture *truth, double damping,
                                  uint32_t n_sweeps, lab_restoration *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_conditioned *conditioned = NULL;
    gbsi_mean_field *m = NULL;
    GBSI_TRY(take(truth, 1, n_sweeps, out, err));
    GBSI_TRY(gbsi_condition(model, NULL, &conditioned, err));
    GBSI_TRY(gbsi_mean_field_new(conditioned, GBS_MEAN_FIELD_JACOBI, damping, NULL, &m, err));
    for (uint32_t t = 0; t < n_sweeps; t++) {
        (void)gbsi_mean_field_step(m);
        look_at(gbsi_mean_field_q(m), t, out);
    }
cleanup:
    gbsi_mean_field_free(m);
    gbsi_conditioned_free(conditioned);
    return status;
}

gbs_status lab_restoration_image(const lab_restoration *r, uint32_t run, gbs_image *image,
                                 gbs_error *err)
{
    const size_t n = (size_t)r->truth->width * r->truth->height;
    gbs_image made = {0};
    GBSI_PASS(gbs_image_new(GBS_IMAGE_GREY, r->truth->width, r->truth->height, 255, 0, &made, err));
    for (size_t i = 0; i < n; i++) {
        made.sample[i] =
            (uint16_t)((510 * (uint64_t)r->sum[run * n + i] + r->n_sweeps) / (2 * r->n_sweeps));
    }
    *image = made;
    return GBS_OK;
}

/* ---- galleries ------------------------------------------------------------------------------ */

gbs_status lab_gallery_add(lab_gallery *gallery, const lab_picture *picture, const uint32_t *noisy,
                           const lab_restoration *restoration, gbs_error *err)
{
    if (gallery->n == 0) {
        GBSI_PASS(lab_picture_image(picture, picture->pixel, &gallery->truth, err));
        GBSI_PASS(lab_picture_image(picture, noisy, &gallery->noisy, err));
    }
    assert(gallery->n < LAB_MAX_CONTENDERS);
    GBSI_PASS(lab_restoration_image(restoration, 0, &gallery->restored[gallery->n], err));
    gallery->n++;
    return GBS_OK;
}

void lab_gallery_free(lab_gallery *gallery)
{
    gbs_image_free(&gallery->truth);
    gbs_image_free(&gallery->noisy);
    for (size_t i = 0; i < gallery->n; i++) {
        gbs_image_free(&gallery->restored[i]);
    }
}

gbs_status lab_gallery_draw(const laboratory *lab, const lab_gallery *gallery, lab_figure_id which,
                            const char *noisy, const lab_contender *contender, gbs_error *err)
{
    lab_plot plot;
    lab_plot_begin(&plot, which, 1);
    plot.figure.panel_height =
        plot.figure.panel_width * gallery->truth.height / gallery->truth.width;
    lab_plot_image(&plot, "truth", &gallery->truth);
    lab_plot_image(&plot, noisy, &gallery->noisy);
    for (size_t i = 0; i < gallery->n; i++) {
        lab_plot_image(&plot, contender[i].name, &gallery->restored[i]);
    }
    return lab_plot_write(lab, &plot, err);
}
