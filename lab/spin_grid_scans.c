/* SPDX-License-Identifier: Apache-2.0 */
/* Grids of spins, optimised scans of grids, and short chains that follow these scans. */
#include "lab/spin_grid_scans.h"

#include <time.h>

#include <stdlib.h>

#include "base/memory.h"

/* ---- grids ------------------------------------------------------------------------------- */

const char *const lab_dogs_grid_name[LAB_N_DOGS_GRIDS] = {
    "fields 0 or 1, couplings in [0, 0.25]", "couplings in [0, 0.25]", "couplings 1/3.915"};

lab_spin_grid lab_dogs_grid(size_t which, uint32_t side)
{
    lab_spin_grid grid = {.rows = side,
                          .columns = side,
                          .high = 0.25,
                          .fields = which == 0,
                          .index = (uint32_t)which};
    if (which == 2) {
        grid.low = grid.high = 1 / 3.915; /* the coupling whose tanh is a quarter */
    }
    return grid;
}

/* Coupling of a variable to the next variable in the row (direction 0) or column (direction 1). */
static double coupling(const laboratory *lab, const lab_spin_grid *grid, uint32_t variable,
                       int direction)
{
    double u[2];
    if (grid->low == grid->high) {
        return grid->low;
    }
    lab_uniforms(lab, LAB_COUPLING, variable, grid->index, u);
    return grid->low + (grid->high - grid->low) * u[direction];
}

static double field(const laboratory *lab, const lab_spin_grid *grid, uint32_t variable)
{
    double u[2];
    lab_uniforms(lab, LAB_FIELD, variable, grid->index, u);
    return u[0] < 0.5 ? 0.0 : 1.0;
}

/* Adds a variable's field and its couplings to the next variables in its row and column. */
static gbs_status add_spin(const laboratory *lab, const lab_spin_grid *grid, uint32_t rows,
                           uint32_t columns, uint32_t r, uint32_t c, gbs_builder *builder,
                           gbs_error *err)
{
    const uint32_t variable = r * grid->columns + c; /* number of the variable in the whole grid */
    const uint32_t own = r * columns + c;
    const uint32_t next[2] = {r * columns + (c + 1 < columns ? c + 1 : 0),
                              (r + 1 < rows ? r + 1 : 0) * columns + c};
    const bool joined[2] = {c + 1 < columns || grid->torus, r + 1 < rows || grid->torus};
    if (grid->fields) {
        GBSI_PASS(gbs_builder_add_field(builder, own, field(lab, grid, variable), err));
    }
    for (int d = 0; d < 2; d++) {
        if (joined[d]) {
            GBSI_PASS(gbs_builder_add_ising(builder, own, next[d], coupling(lab, grid, variable, d),
                                            err));
        }
    }
    return GBS_OK;
}

/* Makes a model of the first rows and columns of a grid. */
static gbs_status make_part(const laboratory *lab, const lab_spin_grid *grid, uint32_t rows,
                            uint32_t columns, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    const uint32_t n = rows * columns;
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    GBSI_PASS(GBSI_HAVE(err, "grid", arity));
    for (uint32_t i = 0; i < n; i++) {
        arity[i] = 2;
    }
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_add_variables(builder, n, arity, NULL, err));
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < columns; c++) {
            GBSI_TRY(add_spin(lab, grid, rows, columns, r, c, builder, err));
        }
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    gbsi_free(arity);
    return status;
}

gbs_status lab_spin_grid_make(const laboratory *lab, const lab_spin_grid *grid, gbs_model **model,
                              gbs_error *err)
{
    return make_part(lab, grid, grid->rows, grid->columns, model, err);
}

/* ---- exact values at a corner ------------------------------------------------------------- */

/* Computes P(x_0 = 1) exactly, with the last row and the last column observed in a state. */
static gbs_status given_border(const gbs_model *model, uint32_t side, uint32_t state, double *p,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_evidence *evidence = NULL;
    gbs_run *run = NULL;
    double *all = gbsi_alloc_array(2 * (size_t)side * side, sizeof *all);
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_EXACT;
    options.threads = 1;
    GBSI_PASS(GBSI_HAVE(err, "corner", all));
    GBSI_TRY(gbs_evidence_new(model, &evidence, err));
    for (uint32_t i = 0; i < side; i++) {
        GBSI_TRY(gbs_evidence_observe(evidence, (side - 1) * side + i, state, err));
        GBSI_TRY(gbs_evidence_observe(evidence, i * side + side - 1, state, err));
    }
    GBSI_TRY(gbs_run_new(model, evidence, &options, &run, err));
    GBSI_TRY(gbs_run_execute(run, NULL, err));
    GBSI_TRY(gbs_run_marginals(run, all, NULL, NULL, NULL, err));
    *p = all[1];
cleanup:
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbsi_free(all);
    return status;
}

gbs_status lab_spin_grid_corner(const laboratory *lab, const lab_spin_grid *grid, uint32_t size,
                                double p[2], gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    double found[2] = {0.0, 0.0};
    GBSI_TRY(make_part(lab, grid, size + 1, size + 1, &model, err));
    for (uint32_t state = 0; state < 2; state++) {
        GBSI_TRY(given_border(model, size + 1, state, &found[state], err));
    }
    p[0] = found[0];
    p[1] = found[1];
cleanup:
    gbs_model_free(model);
    return status;
}

double lab_processor_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- scans ------------------------------------------------------------------------------- */

gbs_status lab_sequence_bound(const gbs_influences *influences, const double *weight,
                              const uint32_t *sequence, size_t n, double *variation, gbs_error *err)
{
    const uint64_t steps = n;
    gbs_variation_bound bound = {0};
    gbs_run_options options = gbs_run_options_default();
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = sequence;
    options.sequence_length = n;
    const gbs_status status =
        gbs_variation(influences, &options, 1, &weight, 1, &steps, &bound, err);
    *variation = bound.variation;
    return status;
}

gbs_status lab_made_scan_new(const gbs_influences *influences, const gbs_scan_request *request,
                             lab_made_scan *out, gbs_error *err)
{
    lab_made_scan_free(out);
    out->report.size = sizeof out->report;
    const gbs_status status =
        gbs_scan_optimise(influences, request, &out->sequence, &out->n, &out->report, err);
    if (status != GBS_OK) {
        return status == GBS_STOPPED ? gbsi_fail(err, GBS_ERR_STOPPED, "a scan was optimised")
                                     : status;
    }
    return lab_sequence_bound(influences, request->weight, out->sequence, out->n, &out->variation,
                              err);
}

void lab_made_scan_free(lab_made_scan *scan)
{
    gbs_free(scan->sequence);
    *scan = (lab_made_scan){0};
}

gbs_status lab_scan_bounds(const gbs_influences *influences, int scan, uint64_t origin,
                           const double *weight, size_t n, const uint64_t *steps, double *bound,
                           gbs_error *err)
{
    gbs_run_options options = gbs_run_options_default();
    options.scan = scan;
    options.origin = scan == GBS_SCAN_SYSTEMATIC ? origin : 0;
    gbs_variation_bound *found = malloc(n * sizeof *found + 1);
    if (found == NULL) {
        return gbsi_no_memory(err, "bounds", n * sizeof *found);
    }
    const gbs_status status = gbs_variation(influences, &options, 1, &weight, n, steps, found, err);
    for (size_t k = 0; status >= 0 && k < n; k++) {
        bound[k] = found[k].variation;
    }
    free(found);
    return status;
}

gbs_status lab_short_chains_run(laboratory *lab, const gbs_model *model, const lab_made_scan *scan,
                                lab_short_chains *chains, gbs_error *err)
{
    static const uint32_t target = 0;
    const double begun = lab_processor_s();
    const uint64_t sweeps = (chains->draws + chains->chains - 1) / chains->chains;
    const size_t n_states = gbs_model_state_offsets(model)[gbs_model_n_variables(model)];
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    double *p = gbsi_alloc_array(2 * n_states, sizeof *p);
    gbs_run_options options = lab_options(lab, chains->chains, sweeps);
    GBSI_PASS(GBSI_HAVE(err, "marginals", p));
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = scan->sequence;
    options.sequence_length = scan->n;
    options.partial_scan = 1;
    options.restarts = 1;
    options.target = &target;
    options.n_targets = 1;
    options.start = chains->start;
    options.estimator = GBS_ESTIMATOR_RAO_BLACKWELL;
    options.seed = chains->seed;
    options.threads = 1;
    GBSI_TRY(lab_run(lab, "short chains", model, &options, NULL, NULL, &run, err));
    if (status == GBS_STOPPED) {
        goto cleanup;
    }
    GBSI_TRY(gbs_run_marginals(run, p, p + n_states, NULL, NULL, err));
    chains->p = p[1];
    chains->mcse = p[n_states + 1];
    chains->bound = gbs_run_report(run)->bias_estimate;
    chains->seconds = lab_processor_s() - begun;
cleanup:
    gbs_run_free(run);
    gbsi_free(p);
    return status;
}
