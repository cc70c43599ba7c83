/* SPDX-License-Identifier: Apache-2.0 */
/* Limit of the error component cor of herding (Yamashita & Suzuki 2019, sections 5.1 and 5.2)
 * [M31].
 *
 * For each key y, the difference v(z) = pi(z | X = 0, y) - pi(z | X = 1, y) is placed on the states
 * (0, z) and (1, z), and ordinary Gibbs sweeps are applied. A sweep updates all variables except X
 * in order (S), removes the mass of states with key y, and updates X for the remaining mass (K).
 * The removed mass adds up to T_y(0 -> z) - T_y(1 -> z). The computation follows only the
 * difference of these two laws. The total mass of the difference is zero, so that the difference
 * decays as fast as the chain mixes, even if the key is rare. */
#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/watch.h"
#include "lab/focus.h"

#define MOST_SWEEPS 1000000u
#define TOLERANCE   1e-10

/* Sweeps over the joint probabilities [n_z][2] of the states of all other variables and of x. */
typedef struct sweeper {
    const lab_focus *focus;
    gbsi_watch *watch;
    double *mass; /* [n_z][2] */
    double *out;  /* [n_z] mass removed so far */
} sweeper;

/* Updates a variable with k states, which are `stride` apart in the index of mass. The mass of each
 * line of k states is distributed by the conditional, which is proportional to the joint
 * distribution along the line. */
static void update_lines(const sweeper *s, size_t stride, uint32_t k)
{
    const double *joint = s->focus->joint;
    const size_t n = s->focus->n_z * 2;
    for (size_t block = 0; block < n; block += stride * k) {
        for (size_t i = block; i < block + stride; i++) {
            double mass = 0.0;
            double weight = 0.0;
            for (uint32_t a = 0; a < k; a++) {
                mass += s->mass[i + a * stride];
                weight += joint[i + a * stride];
            }
            for (uint32_t a = 0; a < k && weight > 0.0; a++) {
                s->mass[i + a * stride] = mass * (joint[i + a * stride] / weight);
            }
        }
    }
}

/* Performs a sweep: applies S, removes the mass of states with key y, then applies K to the
 * remaining mass. @return the remaining absolute mass. */
static double sweep(const sweeper *s, size_t y)
{
    const lab_focus *f = s->focus;
    double left = 0.0;
    for (uint32_t i = 1; i < f->model->n_variables; i++) {
        /* the loop visits the variables in order, beginning with the variable after x */
        const uint32_t v = (f->x + i) % f->model->n_variables;
        update_lines(s, f->stride[v] * 2, f->model->arity[v]);
    }
    for (size_t z = 0; z < f->n_z; z++) {
        if (f->key[z] == y) {
            s->out[z] += s->mass[2 * z] + s->mass[2 * z + 1];
            s->mass[2 * z] = 0.0;
            s->mass[2 * z + 1] = 0.0;
        }
    }
    update_lines(s, 1, 2);
    for (size_t i = 0; i < 2 * f->n_z; i++) {
        left += fabs(s->mass[i]);
    }
    return left;
}

/* Computes the sum over z of |T_y(0 -> z) - T_y(1 -> z)|, with an error below `tolerance`.
 * @param px [2] pi(x, y). @return GBS_ERR_LIMIT if the sweeps do not converge, or GBS_STOPPED. */
static gbs_status distance_of(const sweeper *s, size_t y, const double *px, double tolerance,
                              double *distance, gbs_error *err)
{
    const lab_focus *f = s->focus;
    for (size_t z = 0; z < f->n_z; z++) {
        const bool here = f->key[z] == y;
        s->mass[2 * z] = here ? f->joint[2 * z] / px[0] : 0.0;
        s->mass[2 * z + 1] = here ? -f->joint[2 * z + 1] / px[1] : 0.0;
        s->out[z] = 0.0;
    }
    uint32_t n = 0;
    while (sweep(s, y) > tolerance) {
        if (++n == MOST_SWEEPS) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "the estimate of the limit of D_cor needs more than %u sweeps for "
                             "key %zu: this model hardly mixes",
                             MOST_SWEEPS, y);
        }
        if (gbsi_watch_spend(s->watch, 2 * f->n_z * f->model->n_variables)) {
            return GBS_STOPPED;
        }
    }
    *distance = 0.0;
    for (size_t z = 0; z < f->n_z; z++) {
        *distance += fabs(s->out[z]);
    }
    return GBS_OK;
}

static gbs_status take_tables(const lab_focus *f, lab_asymptotic *a, gbs_error *err)
{
    const size_t n = f->n_keys;
    a->n_keys = n;
    a->n_neighbours = f->n_neighbours;
    a->neighbour = gbsi_alloc_array(f->n_neighbours, sizeof *a->neighbour);
    a->state = gbsi_alloc_array(n, (f->n_neighbours + 1) * sizeof *a->state);
    a->p = gbsi_alloc_array_zero(n, sizeof *a->p);
    a->t = gbsi_alloc_array_zero(n, sizeof *a->t);
    a->distance = gbsi_alloc_array_zero(n, sizeof *a->distance);
    a->part = gbsi_alloc_array_zero(n, sizeof *a->part);
    GBSI_PASS(
        GBSI_HAVE(err, "decompose", a->neighbour, a->state, a->p, a->t, a->distance, a->part));
    for (uint32_t i = 0; i < f->n_neighbours; i++) {
        a->neighbour[i] = f->model->user_variable[f->neighbour[i]];
    }
    /* in descending order, so that the first z of a key is kept */
    for (size_t z = f->n_z; z-- > 0;) {
        for (uint32_t i = 0; i < f->n_neighbours; i++) {
            const uint32_t v = f->neighbour[i];
            a->state[f->key[z] * f->n_neighbours + i] =
                gbsi_conditioned_states(f->model, v)[lab_focus_state(f, z, v)];
        }
    }
    return GBS_OK;
}

static gbs_status estimate(const lab_focus *f, const gbs_run_callbacks *callbacks,
                           lab_asymptotic *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_wait w = {.callbacks = callbacks, .begun_s = gbsi_clock_s(), .all = f->n_keys};
    gbsi_watch watch = {.look = lab_wait_look, .context = &w};
    double *px = gbsi_alloc_array_zero(f->n_keys, 2 * sizeof *px); /* pi(x, y) */
    sweeper s = {.focus = f,
                 .watch = &watch,
                 .mass = gbsi_alloc_array(f->n_z, 2 * sizeof *s.mass),
                 .out = gbsi_alloc_array(f->n_z, sizeof *s.out)};
    if (px == NULL || s.mass == NULL || s.out == NULL) {
        status = gbsi_no_memory(err, "decompose", f->n_z * 3 * sizeof *px);
        goto cleanup;
    }
    for (size_t i = 0; i < 2 * f->n_z; i++) {
        px[2 * f->key[i / 2] + i % 2] += f->joint[i];
    }
    for (size_t y = 0; y < f->n_keys && status == GBS_OK; y++) {
        w.done = y;
        a->p[y] = px[2 * y] + px[2 * y + 1];
        a->t[y] = a->p[y] > 0.0 ? gbsi_smaller(px[2 * y], px[2 * y + 1]) / a->p[y] : 0.0;
        const double scale = a->p[y] * 2.0 * a->t[y] * a->t[y];
        /* |T| is at most 2; a key of weight 0 therefore needs no sweeps */
        const double tolerance = scale > 0.0 ? TOLERANCE / (scale * (double)f->n_keys) : 2.0;
        if (tolerance < 2.0) {
            GBSI_TRY(distance_of(&s, y, px + 2 * y, tolerance, &a->distance[y], err));
        }
        a->part[y] = scale * a->distance[y];
        a->total += a->part[y];
    }
cleanup:
    GBSI_FREE(px, s.mass, s.out);
    return status;
}

gbs_status lab_decompose_asymptotic(const gbs_model *model, const gbs_evidence *evidence,
                                    const gbs_run_options *options, uint32_t focus,
                                    const gbs_run_callbacks *callbacks, lab_asymptotic *out,
                                    gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_focus_setting setting = {0};
    lab_asymptotic a = {0};
    GBSI_TRY(
        lab_focus_set(model, evidence, options, focus, LAB_ASYMPTOTIC_MAX_STATES, &setting, err));
    if (setting.focus->n_x != 2) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "the limit of D_cor can be estimated for focus variables of two states "
                           "only, variable %u has %u",
                           focus, setting.focus->n_x));
    }
    if (setting.focus->theta != NULL) {
        GBSI_TRY(gbsi_fail(
            err, GBS_ERR_UNSUPPORTED,
            "the limit of D_cor can be estimated only if the states of the other variables "
            "determine the key: choose another --draw than randomly-discretized"));
    }
    GBSI_TRY(take_tables(setting.focus, &a, err));
    GBSI_TRY(estimate(setting.focus, callbacks, &a, err));
    if (status == GBS_OK) {
        *out = a;
        a = (lab_asymptotic){0};
    }
cleanup:
    lab_focus_setting_free(&setting);
    lab_asymptotic_free(&a);
    return status;
}

void lab_asymptotic_free(lab_asymptotic *a)
{
    GBSI_FREE(a->neighbour, a->state, a->p, a->t, a->distance, a->part);
    *a = (lab_asymptotic){0};
}
