/* SPDX-License-Identifier: Apache-2.0 */
/* Joint states of all variables except a focus variable, with their numbers, probabilities and
 * keys. */
#include "lab/focus.h"
#include "base/extremes.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "draw/keys.h"
#include "reference/enumerate.h"
#include "simd/math.h"

void lab_focus_free(lab_focus *focus)
{
    if (focus != NULL) {
        GBSI_FREE(focus->stride, focus->cell, focus->joint, focus->pz, focus->key, focus->chance,
                  focus->theta, focus->neighbour, focus);
    }
}

size_t lab_focus_z(const lab_focus *focus, const uint32_t *user_state)
{
    const gbs_model *model = focus->model->model;
    size_t z = 0;
    for (uint32_t u = 0; u < model->n_variables; u++) {
        z += focus->cell[model->state_offset[u] + user_state[u]];
    }
    return z;
}

uint32_t lab_focus_state(const lab_focus *focus, size_t z, uint32_t v)
{
    return (uint32_t)(z / focus->stride[v] % focus->model->arity[v]);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static gbs_status number(lab_focus *f, gbs_error *err)
{
    const gbsi_conditioned *model = f->model;
    const gbs_model *whole = model->model;
    const size_t n_cells = whole->state_offset[whole->n_variables];
    f->stride = gbsi_alloc_array_zero(model->n_variables, sizeof *f->stride);
    f->cell = gbsi_alloc_array_zero(n_cells, sizeof *f->cell);
    GBSI_PASS(GBSI_HAVE(err, "decompose", f->stride, f->cell));
    f->n_z = 1;
    for (uint32_t v = model->n_variables; v-- > 0;) {
        if (v == f->x) {
            continue;
        }
        f->stride[v] = f->n_z;
        for (uint32_t a = 0; a < model->arity[v]; a++) {
            const uint32_t user = gbsi_conditioned_states(model, v)[a];
            f->cell[whole->state_offset[model->user_variable[v]] + user] = a * f->n_z;
        }
        f->n_z *= model->arity[v];
    }
    return GBS_OK;
}

/* Computes pi(x, z) from the joint of all variables, whose last variable is the fastest. */
static gbs_status weigh(lab_focus *f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = f->n_z * f->n_x;
    double *all = gbsi_alloc_array(n, sizeof *all);
    f->joint = gbsi_alloc_array_zero(n, sizeof *f->joint);
    f->pz = gbsi_alloc_array_zero(f->n_z, sizeof *f->pz);
    GBSI_TRY(GBSI_HAVE(err, "decompose", all, f->joint, f->pz));
    GBSI_TRY(gbsi_enumerate_joint(f->model, all, err));
    size_t inner = 1; /* joint states of the variables after x */
    for (uint32_t v = f->x + 1; v < f->model->n_variables; v++) {
        inner *= f->model->arity[v];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t x = i / inner % f->n_x;
        const size_t z = i / (inner * f->n_x) * inner + i % inner;
        f->joint[z * f->n_x + x] = all[i];
        f->pz[z] += all[i];
    }
cleanup:
    gbsi_free(all);
    return status;
}

/* ---- neighbours -------------------------------------------------------------------------- */

static gbs_status find_neighbours(lab_focus *f, const gbsi_edges *extra, gbs_error *err)
{
    const gbsi_factors *factors = &f->model->factors;
    uint8_t *near = gbsi_alloc_zero(f->model->n_variables);
    f->neighbour = gbsi_alloc_array(f->model->n_variables, sizeof *f->neighbour);
    if (near == NULL || f->neighbour == NULL) {
        gbsi_free(near);
        return gbsi_no_memory(err, "decompose", f->model->n_variables * sizeof *f->neighbour);
    }
    for (size_t i = 0; i < factors->n_factors; i++) {
        const size_t end = factors->scope_start[i + 1];
        size_t e = factors->scope_start[i];
        while (e < end && factors->scope[e] != f->x) {
            e++;
        }
        for (size_t j = factors->scope_start[i]; e < end && j < end; j++) {
            near[factors->scope[j]] = 1;
        }
    }
    for (size_t i = 0; extra != NULL && i < extra->n; i++) {
        const uint32_t a = extra->pair[2 * i];
        const uint32_t b = extra->pair[2 * i + 1];
        near[a] |= b == f->x;
        near[b] |= a == f->x;
    }
    for (uint32_t v = 0; v < f->model->n_variables; v++) {
        if (near[v] && v != f->x) {
            f->neighbour[f->n_neighbours++] = v;
        }
    }
    gbsi_free(near);
    return GBS_OK;
}

/* ---- keys -------------------------------------------------------------------------------- */

static uint64_t neighbours_name(const lab_focus *f, size_t z)
{
    uint64_t name = 0;
    for (uint32_t i = 0; i < f->n_neighbours; i++) {
        const uint32_t v = f->neighbour[i];
        name = name * f->model->arity[v] + lab_focus_state(f, z, v);
    }
    return name;
}

static uint64_t mix(uint64_t name, uint64_t part)
{
    return (name ^ part) * UINT64_C(0x9e3779b97f4a7c15) + (name >> 29);
}

/* Computes ln p(a | z) + const from the factors of x alone. @param state [n_variables] scratch. */
static void log_weights(const lab_focus *f, size_t z, uint32_t *state, double *logw)
{
    const gbsi_factors *factors = &f->model->factors;
    for (uint32_t v = 0; v < f->model->n_variables; v++) {
        state[v] = v == f->x ? 0 : lab_focus_state(f, z, v);
    }
    for (uint32_t a = 0; a < f->n_x; a++) {
        state[f->x] = a;
        logw[a] = 0.0;
        for (size_t i = 0; i < factors->n_factors; i++) {
            size_t e = factors->scope_start[i];
            while (e < factors->scope_start[i + 1] && factors->scope[e] != f->x) {
                e++;
            }
            if (e < factors->scope_start[i + 1]) {
                logw[a] += gbsi_factor_value(factors, f->model->arity, i, state);
            }
        }
    }
}

/* Name made from the bins of the cumulative probabilities (Yamashita & Suzuki 2019, algorithm
 * 5). For two states the name is the bin of p_1. */
static uint64_t bins_name(const lab_focus_keys *keys, const double *logw, uint32_t k)
{
    double max = -INFINITY;
    double sum = 0.0;
    for (uint32_t a = 0; a < k; a++) {
        max = gbsi_larger(max, logw[a]);
    }
    for (uint32_t a = 0; a < k; a++) {
        sum += gbsi_exp(logw[a] - max);
    }
    uint64_t name = 0;
    double up_to = 0.0;
    for (uint32_t a = 0; a + 1 < k; a++) {
        up_to += gbsi_exp(logw[k == 2 ? 1 : a] - max) / sum;
        const double at = up_to * keys->n_bins;
        double bin = keys->left_edge ? floor(at) : ceil(at) - 1.0;
        bin = gbsi_smaller(gbsi_larger(bin, 0.0), keys->n_bins - 1.0);
        name = mix(name, (uint64_t)bin + 1);
    }
    return name;
}

static uint64_t name_of(const lab_focus *f, const lab_focus_keys *keys, size_t z, uint32_t *state,
                        double *logw)
{
    switch (keys->scheme) {
    case GBS_KEYS_NEIGHBOURS:
        return neighbours_name(f, z);
    case GBS_KEYS_COMPLETE:
        return z;
    case GBS_KEYS_ONE:
        return 0;
    default:
        log_weights(f, z, state, logw);
        return keys->scheme == GBS_KEYS_BINS ? bins_name(keys, logw, f->n_x)
                                             : gbsi_name_conditional(logw, f->n_x);
    }
}

/* The name of a state z. The list is sorted by name, then by z, so that keys are numbered by their
 * first z. */
typedef struct named {
    uint64_t name;
    size_t z;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a;
    const named *y = b;
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return (x->z > y->z) - (x->z < y->z);
}

/* Makes keys that are functions of z. */
static gbs_status make_keys(lab_focus *f, const lab_focus_keys *keys, gbs_error *err)
{
    named *list = gbsi_alloc_array(f->n_z, sizeof *list);
    /* smallest z that has the name of each z */
    size_t *first = gbsi_alloc_array(f->n_z, sizeof *first);
    uint32_t *state = gbsi_alloc_array(f->model->n_variables, sizeof *state);
    double *logw = gbsi_alloc_array(f->n_x, sizeof *logw);
    gbs_status status = GBS_OK;
    f->n_choices = 1;
    f->key = gbsi_alloc_array(f->n_z, sizeof *f->key);
    f->chance = gbsi_alloc_array(f->n_z, sizeof *f->chance);
    GBSI_TRY(GBSI_HAVE(err, "decompose", list, first, state, logw, f->key, f->chance));
    for (size_t z = 0; z < f->n_z; z++) {
        list[z] = (named){name_of(f, keys, z, state, logw), z};
        f->chance[z] = 1.0;
    }
    qsort(list, f->n_z, sizeof *list, by_name);
    for (size_t i = 0; i < f->n_z; i++) {
        const bool same = i > 0 && list[i].name == list[i - 1].name;
        first[list[i].z] = same ? first[list[i - 1].z] : list[i].z;
    }
    for (size_t z = 0; z < f->n_z; z++) {
        f->key[z] = first[z] == z ? (uint32_t)f->n_keys++ : f->key[first[z]];
    }
cleanup:
    GBSI_FREE(list, first, state, logw);
    return status;
}

/* Makes keys 0, ..., B, whose weights herd the probabilities 0, 1/B, ..., 1. Let b = floor(p B).
 * The key is b + 1 with probability p B - b, otherwise the key is b (Yamashita & Suzuki 2019,
 * algorithm 9). */
static gbs_status make_rounded_keys(lab_focus *f, const lab_focus_keys *keys, gbs_error *err)
{
    const double n_bins = keys->n_bins;
    f->n_choices = 2;
    f->n_keys = (size_t)keys->n_bins + 1;
    f->key = gbsi_alloc_array(f->n_z, 2 * sizeof *f->key);
    f->chance = gbsi_alloc_array(f->n_z, 2 * sizeof *f->chance);
    f->theta = gbsi_alloc_array(f->n_keys, sizeof *f->theta);
    GBSI_PASS(GBSI_HAVE(err, "decompose", f->key, f->chance, f->theta));
    for (size_t y = 0; y < f->n_keys; y++) {
        f->theta[y] = (double)y / n_bins;
    }
    for (size_t z = 0; z < f->n_z; z++) {
        const double at = f->pz[z] > 0.0 ? f->joint[2 * z + 1] / f->pz[z] * n_bins : 0.0;
        const double low = gbsi_smaller(floor(at), n_bins - 1.0);
        f->key[2 * z] = (uint32_t)low;
        f->key[2 * z + 1] = (uint32_t)low + 1;
        f->chance[2 * z] = 1.0 - (at - low);
        f->chance[2 * z + 1] = at - low;
    }
    return GBS_OK;
}

gbs_status lab_focus_new(const gbsi_conditioned *model, uint32_t x, const lab_focus_keys *keys,
                         lab_focus **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_focus *f = gbsi_alloc_zero(sizeof *f);
    GBSI_PASS(GBSI_HAVE(err, "decompose", f));
    f->model = model;
    f->x = x;
    f->n_x = model->arity[x];
    GBSI_TRY(number(f, err));
    GBSI_TRY(weigh(f, err));
    GBSI_TRY(find_neighbours(f, keys->extra, err));
    if (keys->rounded && f->n_x != 2) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "decompose: with draw randomly-discretized the focus variable must have "
                           "two states, found %u",
                           f->n_x));
    }
    GBSI_TRY(keys->rounded ? make_rounded_keys(f, keys, err) : make_keys(f, keys, err));
    *out = f;
    f = NULL;
cleanup:
    lab_focus_free(f);
    return status;
}

bool lab_wait_look(void *context)
{
    const lab_wait *w = context;
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = w->done,
                                   .passes = w->all,
                                   .elapsed_s = gbsi_clock_s() - w->begun_s,
                                   .worst_error = NAN};
    return w->callbacks != NULL && w->callbacks->progress != NULL &&
           w->callbacks->progress(w->callbacks->context, &progress) != 0;
}
