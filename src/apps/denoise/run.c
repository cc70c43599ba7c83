/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of pictures without factors. A picture of two levels becomes a lattice of spins in fields of
 * two values; the spins are stored in bits. Other pictures become grids of levels, with a byte for
 * each pixel. Lattices and grids are made directly from the picture, without a factor graph. */
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/sized.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "denoise/denoise.h"

#define LEAST_SIDE 48u

bool gbsi_denoise_is_narrow(const gbs_image *noisy)
{
    return noisy->width < LEAST_SIDE || noisy->height < LEAST_SIDE;
}

/* @return whether the options of a run allow updates in bits; the picture must have at most two
 * fields. */
static bool allows_bits(const gbs_run_options *o)
{
    return o->method == GBS_METHOD_SAMPLE && o->estimator != GBS_ESTIMATOR_TRACES &&
           o->temper <= GBS_TEMPER_OFF && o->start == NULL && o->target == NULL &&
           o->sequence == NULL && !o->restarts && !o->partial_scan && o->least_chains == 0 &&
           gbsi_sites_allowed(o);
}

bool gbsi_denoise_is_lattice(const gbs_image *noisy, const gbs_denoise_options *o,
                             const gbs_run_options *run)
{
    return o->levels == 2 && o->noise == GBS_NOISE_FLIP && o->neighbours == 4 &&
           o->coupling * gbsi_denoise_distance(o, 0, 1) > 0.0 && !gbsi_denoise_is_narrow(noisy) &&
           allows_bits(run);
}

bool gbsi_denoise_is_levels(const gbs_image *noisy, const gbs_denoise_options *o,
                            const gbs_run_options *run)
{
    return run->lattice == GBS_LATTICE_ALWAYS && run->estimator == GBS_ESTIMATOR_RAO_BLACKWELL &&
           allows_bits(run) && !gbsi_denoise_is_lattice(noisy, o, run);
}

/* Makes the grid that gbsi_grid_find() would find in the model. Fields are in the order of pixels.
 */
static gbs_status make_grid(const gbs_image *noisy, const gbs_denoise_options *o, gbsi_grid *grid,
                            gbs_error *err)
{
    const size_t n = (size_t)noisy->width * noisy->height;
    const double coupling = 0.5 * o->coupling * gbsi_denoise_distance(o, 0, 1);
    const uint32_t first = gbsi_denoise_nearest(o, gbsi_denoise_shown(noisy, o, 0));
    const double field[2] = {gbsi_denoise_field(o, first), gbsi_denoise_field(o, 1 - first)};
    uint32_t n_fields = 1;
    uint8_t *field_of = gbsi_alloc_array(n, 1);
    GBSI_PASS(GBSI_HAVE(err, "picture", field_of));
    for (size_t i = 0; i < n; i++) {
        field_of[i] = gbsi_denoise_nearest(o, gbsi_denoise_shown(noisy, o, i)) != first;
        n_fields = field_of[i] != 0 ? 2 : n_fields;
    }
    if (n_fields == 1) {
        gbsi_free(field_of);
        field_of = NULL;
    }
    return gbsi_grid_open(noisy->width, noisy->height, coupling, field, n_fields, field_of, grid,
                          err);
}

/* @param lattice out: NULL if the picture has too many sites for bits, or the wrong shape. */
static gbs_status make_lattice(const gbs_image *noisy, const gbs_denoise_options *o,
                               const gbs_run_options *run, gbsi_lattice **lattice, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_grid grid = {0};
    const char *reason = NULL;
    GBSI_TRY(make_grid(noisy, o, &grid, err));
    GBSI_TRY(gbsi_lattice_of_grid(&grid, lattice, &reason, err));
    if (*lattice != NULL && !gbsi_sites_suit(*lattice, run)) {
        gbsi_lattice_free(*lattice);
        *lattice = NULL;
    }
cleanup:
    gbsi_grid_free(&grid);
    return status;
}

static gbs_status run_lattice(const gbs_image *noisy, const gbs_denoise_options *o,
                              const gbs_run_options *options, gbs_model **model, gbs_run **run,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_budget budget;
    gbsi_lattice *lattice = NULL;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    status = make_lattice(noisy, o, options, &lattice, err);
    if (status >= 0 && lattice != NULL) {
        status = gbsi_denoise_pixels(noisy, o, model, err);
    }
    gbsi_budget_leave(before);
    if (status >= 0 && lattice != NULL) {
        status = gbsi_run_new_of_sites(*model, lattice, options, run, err);
        lattice = NULL;
    }
    gbsi_lattice_free(lattice);
    return status;
}

static gbs_status run_levels(const gbs_image *noisy, const gbs_denoise_options *o,
                             const gbs_run_options *options, gbs_model **model, gbs_run **run,
                             gbs_error *err)
{
    gbsi_budget budget;
    gbsi_levels *levels = NULL;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    gbs_status status = gbsi_denoise_levels(noisy, o, &levels, err);
    if (status >= 0) {
        status = gbsi_denoise_pixels(noisy, o, model, err);
    }
    gbsi_budget_leave(before);
    if (status < 0) {
        gbsi_levels_free(levels);
        return status;
    }
    return gbsi_run_new_of_levels(*model, levels, options, run, err);
}

gbs_status gbs_denoise_run(const gbs_image *noisy, const gbs_denoise_options *options,
                           const gbs_run_options *run_options, gbs_model **model, gbs_run **run,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_denoise_options o;
    gbs_run_options taken;
    gbs_model *own = NULL;
    gbs_run *made = NULL;
    uint64_t n_frozen = 0;
    uint64_t n_held = 0;
    GBSI_NEED(model, run);
    GBSI_TRY(gbsi_denoise_settle(noisy, options, &o, err));
    GBSI_TRY(gbsi_options_take(run_options, &taken, err));
    GBSI_TRY(gbsi_options_check(&taken, err));
    GBSI_TRY(gbs_denoise_frozen(noisy, options, &n_frozen, err));
    GBSI_TRY(gbsi_denoise_held(noisy, &o, &n_held, err));
    if (gbsi_denoise_is_lattice(noisy, &o, &taken)) {
        GBSI_TRY(run_lattice(noisy, &o, &taken, &own, &made, err));
    }
    if (gbsi_denoise_is_levels(noisy, &o, &taken)) {
        GBSI_TRY(run_levels(noisy, &o, &taken, &own, &made, err));
    }
    if (made == NULL) {
        GBSI_TRY(gbs_denoise_model(noisy, options, &own, err));
        GBSI_TRY(gbs_run_new(own, NULL, run_options, &made, err));
    }
    made->report.frozen = n_frozen == (uint64_t)noisy->width * noisy->height;
    made->report.n_held = n_held;
    *model = own;
    *run = made;
    own = NULL;
cleanup:
    gbs_model_free(own);
    return status;
}
