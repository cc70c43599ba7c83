/* SPDX-License-Identifier: Apache-2.0 */
/* Decomposition of errors: runs whose sweeps end with the focus variable, and whose states are
 * counted. */
#include "lab/decomposition.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "chains/run.h"
#include "draw/herding.h"
#include "lab/focus.h"
#include "options/options.h"
#include "reference/enumerate.h"
#include "rng/philox.h"

#define DEFAULT_SWEEPS (UINT64_C(1) << 16)

/* ---- options ----------------------------------------------------------------------------- */

static gbs_status settle(const gbs_model *model, const gbs_run_options *asked, uint32_t focus,
                         gbs_run_options *options, gbs_error *err)
{
    GBSI_PASS(gbsi_options_take(asked, options, err));
    if (focus >= model->n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "focus: there is no variable %u, the model has %u",
                         focus, model->n_variables);
    }
    const gbs_run_options defaults = gbs_run_options_default();
    if (options->scan != defaults.scan || options->origin != 0 ||
        options->estimator != defaults.estimator) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "decompose: options scan, origin and estimator do not apply: variables "
                         "are updated in order, the focus variable last, and states are counted");
    }
    options->method = GBS_METHOD_SAMPLE;
    options->scan = GBS_SCAN_SYSTEMATIC;
    options->lattice =
        GBS_LATTICE_NEVER; /* lattices ignore the order of updates that is set below */
    options->origin = focus + 1 < model->n_variables ? focus + 1 : 0;
    options->estimator = GBS_ESTIMATOR_COUNT;
    options->burn_in = options->burn_in == GBS_BURN_IN_AUTO ? 0 : options->burn_in;
    options->sweeps = options->sweeps == 0 ? DEFAULT_SWEEPS : options->sweeps;
    options->max_updates = UINT64_MAX; /* the number of sweeps limits the run */
    return GBS_OK;
}

/* Keys of the draw. The random draw has no keys. The keys in its options only serve to measure
 * the draw, and are removed from the options of the run. */
static lab_focus_keys keys_of(gbs_run_options *options, uint32_t n_free, const gbsi_edges *extra)
{
    gbs_run_options herded = *options;
    if (options->draw == GBS_DRAW_RANDOM) {
        herded.draw = GBS_DRAW_HERDED;
        options->keys = GBS_KEYS_AUTO;
        options->bins = 0;
        options->bin_edge = GBS_BIN_RIGHT;
        options->dummy_edges = NULL;
        options->n_dummy_edges = 0;
    }
    const gbsi_herding herding = gbsi_herding_of(&herded, gbsi_draw_traits(&herded), n_free);
    return (lab_focus_keys){.scheme = herding.keys,
                            .n_bins = herding.n_bins,
                            .left_edge = herding.left_edge,
                            .rounded = herding.rounded,
                            .extra = extra};
}

/* Dummy edges between free variables. */
static gbs_status translate_edges(const gbs_run_options *options, lab_focus_setting *setting,
                                  gbs_error *err)
{
    const gbs_model *model = setting->model->model;
    const size_t n = options->n_dummy_edges;
    setting->extra.pair = gbsi_alloc_array(n, 2 * sizeof *setting->extra.pair);
    GBSI_PASS(GBSI_HAVE(err, "decompose", setting->extra.pair));
    for (size_t i = 0; i < n; i++) {
        const uint32_t *pair = options->dummy_edges + 2 * i;
        if (pair[0] >= model->n_variables || pair[1] >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "dummy edge %zu: there is no variable %u, the model has %u", i,
                             pair[pair[0] < model->n_variables], model->n_variables);
        }
        const uint32_t a = setting->model->free_variable[pair[0]];
        const uint32_t b = setting->model->free_variable[pair[1]];
        if (a != GBSI_NONE && b != GBSI_NONE) {
            setting->extra.pair[2 * setting->extra.n] = a;
            setting->extra.pair[2 * setting->extra.n + 1] = b;
            setting->extra.n++;
        }
    }
    return GBS_OK;
}

gbs_status lab_focus_set(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, uint32_t focus, uint64_t most_states,
                         lab_focus_setting *setting, gbs_error *err)
{
    GBSI_PASS(settle(model, options, focus, &setting->options, err));
    GBSI_PASS(gbsi_condition(model, evidence, &setting->model, err));
    const uint64_t n = gbsi_n_states(setting->model, NULL);
    if (n > most_states) {
        char found[24];
        (void)snprintf(found, sizeof found, n == UINT64_MAX ? "too many" : "%" PRIu64, n);
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "decompose: the free variables have %s joint states, at most %" PRIu64
                         " are told apart",
                         found, most_states);
    }
    const uint32_t x = setting->model->free_variable[focus];
    if (x == GBSI_NONE) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "focus: variable %u has only one possible state, so that there is nothing to draw",
            focus);
    }
    GBSI_PASS(translate_edges(&setting->options, setting, err));
    const lab_focus_keys keys =
        keys_of(&setting->options, setting->model->n_variables, &setting->extra);
    return lab_focus_new(setting->model, x, &keys, &setting->focus, err);
}

void lab_focus_setting_free(lab_focus_setting *setting)
{
    lab_focus_free(setting->focus);
    gbsi_free(setting->extra.pair);
    gbsi_conditioned_free(setting->model);
}

/* ---- the run ----------------------------------------------------------------------------- */

typedef struct counter {
    const lab_focus *focus;
    uint32_t user_x; /* focus variable in the user's numbering */
    /* [arity] free state of the focus variable for each of the user's states */
    const uint32_t *state_of;
    uint64_t *count;                  /* [n_chains][n_z][n_choices][n_x] */
    uint64_t seed, first_pass, place; /* seed, pass and place of the random word that drew the key
                                         of the focus variable */
    double *scratch;
    lab_decomposition *out;
    const gbs_run_callbacks *callbacks;
} counter;

static gbs_status count_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                             const uint32_t *state, gbs_error *err)
{
    const counter *c = context;
    const lab_focus *f = c->focus;
    const size_t n_cells = f->n_z * f->n_choices * f->n_x;
    uint64_t *count = c->count + chain * n_cells;
    const uint64_t sweeps = draw + 1;
    const size_t z = lab_focus_z(f, state);
    const uint32_t word = f->n_choices == 1 ? 0
                                            : gbsi_word(c->seed, chain, c->first_pass + draw,
                                                        c->place, GBSI_PURPOSE_UPDATE);
    const size_t cell = z * f->n_choices + lab_focus_choice(f, z, word);
    (void)log_density;
    (void)err;
    ++count[cell * f->n_x + c->state_of[state[c->user_x]]];
    if ((sweeps & (sweeps - 1)) == 0) {
        size_t k = 0;
        while (c->out->sweeps[k] != sweeps) {
            k++;
        }
        double value[LAB_N_COMPONENTS];
        lab_focus_components(f, count, c->scratch, value);
        for (int i = 0; i < LAB_N_COMPONENTS; i++) {
            c->out->value[(k * LAB_N_COMPONENTS + (size_t)i) * c->out->n_chains + chain] = value[i];
        }
    }
    return GBS_OK;
}

/* Place of a variable's update in each pass. */
static uint64_t place_of(const gbs_run *run, uint32_t variable)
{
    const uint32_t slot = run->sampling.engine.plan->slot_of[variable];
    const gbsi_piece *piece = run->sampling.engine.schedule.piece;
    uint32_t i = 0;
    while (gbsi_piece_slot(&run->sampling.engine.schedule, piece, i) != slot) {
        i++;
        if (i == piece->n) {
            piece++;
            i = 0;
        }
    }
    return piece->place + i;
}

static int on_progress(void *context, const gbs_progress *progress)
{
    const counter *c = context;
    return c->callbacks != NULL && c->callbacks->progress != NULL
               ? c->callbacks->progress(c->callbacks->context, progress)
               : 0;
}

static gbs_status take_results(const gbs_run_options *options, size_t n_keys,
                               lab_decomposition *out, gbs_error *err)
{
    out->n_chains = (uint32_t)options->chains;
    out->n_keys = n_keys;
    while (out->n_checkpoints < 63 && UINT64_C(1) << out->n_checkpoints <= options->sweeps) {
        out->n_checkpoints++;
    }
    const size_t n = out->n_checkpoints * LAB_N_COMPONENTS * out->n_chains;
    out->sweeps = gbsi_alloc_array(out->n_checkpoints, sizeof *out->sweeps);
    out->value = gbsi_alloc_array_zero(n, sizeof *out->value);
    GBSI_PASS(GBSI_HAVE(err, "decompose", out->sweeps, out->value));
    for (size_t k = 0; k < out->n_checkpoints; k++) {
        out->sweeps[k] = UINT64_C(1) << k;
    }
    return GBS_OK;
}

/* Computes the components of the pooled counts of all chains. Differences between chains cancel
 * in the mean. */
static void pool(const counter *c)
{
    const size_t n_cells = c->focus->n_z * c->focus->n_choices * c->focus->n_x;
    for (uint32_t chain = 1; chain < c->out->n_chains; chain++) {
        for (size_t i = 0; i < n_cells; i++) {
            c->count[i] += c->count[chain * n_cells + i];
        }
    }
    lab_focus_components(c->focus, c->count, c->scratch, c->out->pooled);
}

/* Lists the free states of the focus variable by the user's states. */
static gbs_status map_states(const lab_focus *f, uint32_t arity, uint32_t **out, gbs_error *err)
{
    uint32_t *map = gbsi_alloc_array_zero(arity, sizeof *map);
    GBSI_PASS(GBSI_HAVE(err, "decompose", map));
    for (uint32_t a = 0; a < f->n_x; a++) {
        map[gbsi_conditioned_states(f->model, f->x)[a]] = a;
    }
    *out = map;
    return GBS_OK;
}

gbs_status lab_decompose(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, uint32_t focus,
                         const gbs_run_callbacks *callbacks, lab_decomposition *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_focus_setting setting = {0};
    lab_decomposition made = {0};
    gbs_run *run = NULL;
    uint32_t *state_of = NULL;
    counter c = {.user_x = focus, .out = &made, .callbacks = callbacks};
    if (callbacks != NULL && callbacks->draw != NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "decompose: the draw callback must be NULL");
    }
    GBSI_TRY(
        lab_focus_set(model, evidence, options, focus, LAB_DECOMPOSE_MAX_STATES, &setting, err));
    c.focus = setting.focus;
    GBSI_TRY(take_results(&setting.options, c.focus->n_keys, &made, err));
    GBSI_TRY(map_states(c.focus, model->arity[focus], &state_of, err));
    c.state_of = state_of;
    const size_t n_cells = c.focus->n_z * c.focus->n_choices * c.focus->n_x;
    c.count = gbsi_alloc_array_zero(made.n_chains, n_cells * sizeof *c.count);
    c.scratch = gbsi_alloc_array(lab_focus_scratch(c.focus), sizeof *c.scratch);
    GBSI_TRY(GBSI_HAVE(err, "decompose", c.count, c.scratch));
    GBSI_TRY(gbs_run_new(model, evidence, &setting.options, &run, err));
    c.seed = setting.options.seed;
    c.first_pass = setting.options.burn_in;
    c.place = c.focus->n_choices == 1 ? 0 : place_of(run, c.focus->x);
    const gbs_run_callbacks inner = {.context = &c, .progress = on_progress, .draw = count_draw};
    GBSI_TRY(gbs_run_execute(run, &inner, err));
    if (status == GBS_OK) {
        pool(&c);
        *out = made;
        made = (lab_decomposition){0};
    }
cleanup:
    gbs_run_free(run);
    GBSI_FREE(state_of, c.count, c.scratch);
    lab_focus_setting_free(&setting);
    lab_decomposition_free(&made);
    return status;
}

void lab_decomposition_free(lab_decomposition *decomposition)
{
    GBSI_FREE(decomposition->sweeps, decomposition->value);
    *decomposition = (lab_decomposition){0};
}
