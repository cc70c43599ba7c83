/* SPDX-License-Identifier: Apache-2.0 */
/* Herded Gibbs [M19]: every variable keeps a herding weight for each key. A key is a context (Chen
 * et al. 2016, algorithm 1), a class of contexts with one conditional (their section 4.3), a sum of
 * neighbours, or a state of all other variables. The key determines the conditional. Conditionals
 * are therefore computed before the run. The rules `pre` and `post` differ only in the initial
 * weights.
 *
 * This file has the functions that do not depend on the instruction set. Some functions make the
 * state of the drawing method. Others draw variables with more than two states or with hard zeros,
 * for one place and chain at a time. */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "draw/herded.h"
#include "plan/kernel.h"

/* ---- making the state ------------------------------------------------------------------------ */

/* Lists dummy edges by variables of the conditioned model. An edge to a variable that is observed,
 * implied or answered exactly is left out, because it would only add a constant to keys. */
gbs_status gbsi_herded_extra_edges(const gbsi_conditioned *model, const gbs_run_options *options,
                                   gbsi_edges *edges, gbs_error *err)
{
    edges->all = gbsi_draw_completes(options);
    if (options->n_dummy_edges == 0) {
        return GBS_OK;
    }
    edges->pair = gbsi_alloc_array(options->n_dummy_edges, 2 * sizeof *edges->pair);
    GBSI_PASS(GBSI_HAVE(err, "dummy edges", edges->pair));
    for (size_t e = 0; e < options->n_dummy_edges; ++e) {
        const uint32_t *end = options->dummy_edges + 2 * e;
        const uint32_t n = model->model->n_variables;
        if (end[0] >= n || end[1] >= n || end[0] == end[1]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "dummy edge %zu: found variables %u and %u, expected two different "
                             "variables below %u",
                             e, end[0], end[1], n);
        }
        const uint32_t a = model->free_variable[end[0]];
        const uint32_t b = model->free_variable[end[1]];
        if (a != GBSI_NONE && b != GBSI_NONE) {
            edges->pair[2 * edges->n] = a;
            edges->pair[2 * edges->n + 1] = b;
            ++edges->n;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_herded_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err)
{
    gbsi_key_sizes sizes;
    const int keys = gbsi_herding_keys(job->options);
    const gbs_status status = gbsi_keys_size(job, keys, &sizes, err);
    if (status == GBS_OK) {
        const uint64_t left = job->room > sizes.dense_bytes ? job->room - sizes.dense_bytes : 0;
        *n = sizes.dense_bytes + (sizes.hashed_bytes < left ? sizes.hashed_bytes : left);
    }
    return status;
}

/* Allocates, for keys `complete`, each chain's code of the state of all variables, if any slot is
 * hashed. */
static gbs_status take_whole(gbsi_herd *herd, gbs_error *err)
{
    const bool wanted = herd->keys.scheme == GBS_KEYS_COMPLETE && herd->n_tables > 0;
    for (uint32_t g = 0; wanted && g < herd->n_groups; ++g) {
        gbsi_herd_group *group = &herd->group[g];
        group->whole = gbsi_alloc_array_zero(herd->lanes, sizeof *group->whole);
        GBSI_PASS(GBSI_HAVE(err, "herding weights", group->whole));
    }
    return GBS_OK;
}

static void start_slot(gbsi_herd *herd, uint32_t slot, uint32_t g, const uint64_t *name)
{
    const gbsi_key_slot *s = &herd->keys.slot[slot];
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    const size_t lanes = herd->lanes;
    for (uint32_t key = 0; key < s->n_keys; ++key) {
        const uint64_t own = name == NULL ? key : name[key];
        const size_t cell = s->cell + (k == 2 ? key : (size_t)key * k);
        if (k == 2) {
            uint32_t *phase = herd->group[g].phase + gbsi_herd_phase_at(herd, cell);
            gbsi_herd_start_phases(herd, slot, g, own, herd->keys.chance[cell], phase);
            phase[herd->paired ? 1 : 0] = herd->paired ? herd->keys.chance[cell] : phase[0];
        } else {
            gbsi_herd_start_vectors(herd, slot, g, own, herd->keys.p + cell,
                                    herd->group[g].vector + cell * lanes);
        }
    }
}

gbs_status gbsi_herded_init(const gbsi_draw_job *job, void **state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_herd *herd = NULL;
    GBSI_TRY(gbsi_herd_new(job, &herd, err));
    GBSI_TRY(gbsi_keys_new(job, herd->how.keys, &herd->keys, err));
    herd->paired = herd->lanes == 1 && !herd->how.bounded;
    /* the turns of bounded herding, which start at 0, come after the phases */
    herd->n_phases = herd->keys.n_phases * (herd->how.bounded || herd->paired ? 2 : 1);
    herd->n_shares = herd->keys.n_shares;
    herd->n_tables = herd->keys.n_hashed;
    GBSI_TRY(gbsi_herd_take(herd, err));
    GBSI_TRY(take_whole(herd, err));
    if (herd->lanes == 1) {
        GBSI_TRY(gbsi_key_slices_new(&herd->keys, &herd->slices, err));
    }
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        const uint64_t *name = herd->keys.name;
        for (uint32_t slot = 0; slot < herd->plan->n_slots; ++slot) {
            start_slot(herd, slot, g, name);
            name += name == NULL ? 0 : herd->keys.slot[slot].n_keys;
        }
    }
    *state = herd;
    herd = NULL;
cleanup:
    gbsi_herd_free(herd);
    return status;
}

/* ---- one place of one chain ------------------------------------------------------------------ */

/* Address in tile->p of the probability of state a, for the place and chain of a cell (row, lane).
 */
static float *share_of(const gbsi_tile *tile, size_t cell, uint32_t width, uint32_t a)
{
    return tile->p + ((cell / GBSI_LANES) * width + a) * GBSI_LANES + cell % GBSI_LANES;
}

static uint32_t dense_key(const gbsi_keys *keys, uint32_t slot, const gbsi_view *view)
{
    const gbsi_key_slot *s = &keys->slot[slot];
    uint32_t code = s->offset;
    for (size_t i = s->link; i < s->link + s->n_links; ++i) {
        code += keys->step[i] * gbsi_view_at(view, keys->link[i]);
    }
    return s->lut == GBSI_NO_LUT ? code : keys->lut[s->lut + code];
}

/* Adds P to the phase, and returns the carry as the value. If p is 0 or 1, the phase stays. */
static uint32_t herd_phase(gbsi_tile *tile, uint32_t place, uint32_t chance, uint32_t certain,
                           uint32_t *phase)
{
    if (certain != GBSI_OPEN) {
        if (certain == GBSI_NEVER) {
            gbsi_tile_flag(tile, place);
        }
        return certain == GBSI_ALWAYS_1;
    }
    *phase += chance;
    return *phase < chance;
}

static void tell_two(const gbsi_tile *tile, size_t cell, uint32_t chance, uint32_t certain)
{
    const float open = (float)((double)chance * 0x1p-32);
    const float one = certain == GBSI_OPEN ? open : (certain == GBSI_ALWAYS_1 ? 1.0F : 0.0F);
    if (tile->p == NULL) {
        return;
    }
    if (tile->odds) {
        *share_of(tile, cell, 1, 0) = one;
    } else {
        *share_of(tile, cell, 2, 0) =
            certain == GBSI_OPEN ? (float)((0x1p32 - (double)chance) * 0x1p-32) : 1.0F - one;
        *share_of(tile, cell, 2, 1) = one;
    }
}

static uint32_t draw_two(gbsi_herd *herd, gbsi_tile *tile, uint32_t place, size_t cell,
                         uint32_t slot, const gbsi_view *view)
{
    const gbsi_keys *keys = &herd->keys;
    uint32_t chance = 0;
    uint32_t certain = GBSI_OPEN;
    uint32_t *phase = NULL;
    size_t to_turns = herd->lanes;
    if (keys->slot[slot].coding == GBSI_CODE_HASHED) {
        gbsi_phase_row *row = gbsi_herded_row(herd, slot, tile->group, view);
        chance = row->chance;
        certain = row->certain;
        phase = &row->phase[view->lane];
    } else {
        const size_t at = keys->slot[slot].cell + dense_key(keys, slot, view);
        chance = keys->chance[at];
        certain = keys->certain == NULL ? GBSI_OPEN : keys->certain[at];
        phase = &herd->group[tile->group].phase[gbsi_herd_phase_at(herd, at) + view->lane];
        to_turns *= keys->n_phases;
    }
    tell_two(tile, cell, chance, certain);
    if (herd->how.bounded && certain == GBSI_OPEN) {
        return gbsi_bounded_phase(&herd->how, chance, tile->word[cell], phase, phase + to_turns);
    }
    return herd_phase(tile, place, chance, certain, phase);
}

static uint32_t draw_many(gbsi_herd *herd, gbsi_tile *tile, uint32_t place, size_t cell,
                          uint32_t slot, const gbsi_view *view)
{
    const gbsi_keys *keys = &herd->keys;
    const uint32_t k = tile->arity;
    const double *p = NULL;
    double *w = NULL;
    if (keys->slot[slot].coding == GBSI_CODE_HASHED) {
        double *row = gbsi_herded_row(herd, slot, tile->group, view);
        p = row;
        w = gbsi_row_vector(row, k, view->lane);
    } else {
        const size_t at = keys->slot[slot].cell + (size_t)dense_key(keys, slot, view) * k;
        p = keys->p + at;
        w = herd->group[tile->group].vector + at * herd->lanes + (size_t)view->lane * k;
    }
    for (uint32_t a = 0; tile->p != NULL && a < k; ++a) {
        *share_of(tile, cell, k, a) = (float)p[a];
    }
    const uint32_t word = herd->how.bounded ? tile->word[cell] : 0;
    const uint32_t value = gbsi_herd_vector(&herd->how, p, w, k, word);
    if (value == k) {
        gbsi_tile_flag(tile, place);
        return 0;
    }
    return value;
}

/* Draws a place in all lanes; the slot may be of any kind. */
static void draw_place(gbsi_herd *herd, gbsi_tile *tile, uint32_t place, uint32_t slot)
{
    for (uint32_t lane = 0; lane < tile->lanes; ++lane) {
        const size_t cell = (size_t)place * tile->lanes + lane;
        const gbsi_view view = {tile->state, tile->value_bytes, tile->lanes, lane};
        const uint32_t value = tile->arity == 2 ? draw_two(herd, tile, place, cell, slot, &view)
                                                : draw_many(herd, tile, place, cell, slot, &view);
        gbsi_herd_put(tile, cell, value);
        gbsi_herded_moved(herd, slot, tile->group, &view, value);
    }
}

void gbsi_herded_place(gbsi_herd *herd, gbsi_tile *tile, uint32_t place)
{
    draw_place(herd, tile, place, gbsi_tile_slot(tile, place));
}

void gbsi_herded_places(void *herd, gbsi_tile *tile)
{
    for (uint32_t place = 0; place < tile->n_places; ++place) {
        gbsi_herded_place(herd, tile, place);
    }
}
