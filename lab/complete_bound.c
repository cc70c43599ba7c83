/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the constants of the convergence theorem of herded Gibbs sampling on fully connected
 * models (Chen et al. 2016, theorem 3, equations 13 to 15 and 34), [M80]. The computation
 * enumerates all states. The states of a model of N binary variables are numbered like the joint
 * states of a lab_focus, in which the focus variable is the fastest. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/watch.h"
#include "lab/focus.h"
#include "plan/draw.h"
#include "simd/math.h"

#define MOST_SWEEPS 64u /* limit of the search for the number of steps */

typedef struct enumeration {
    const lab_focus *focus;
    gbsi_watch *watch;
    uint32_t n;       /* number of variables */
    size_t n_states;  /* 2^n */
    size_t n_support; /* number of states with positive probability */
    size_t *stride;   /* [n] stride of each variable, in the order of a sweep */
    double *row;      /* [n_states][n_states] kernel of a sweep, row by row */
    /* [n_states][n_states] 1 if the state of the column is reached from the state of the row after
     * the updates so far */
    uint8_t *reached;
} enumeration;

/* ---- the Dobrushin coefficient of a sweep -----------------------------------------------------
 */

/* Performs an update: the mass of two states that differ in one variable is distributed by the
 * conditional. */
static void update_mass(const enumeration *e, size_t stride, double *mass)
{
    const double *joint = e->focus->joint;
    for (size_t i = 0; i < e->n_states; i++) {
        if ((i & stride) == 0) {
            const double both = mass[i] + mass[i + stride];
            const double weight = joint[i] + joint[i + stride];
            mass[i] = weight > 0.0 ? both * (joint[i] / weight) : 0.0;
            mass[i + stride] = weight > 0.0 ? both * (joint[i + stride] / weight) : 0.0;
        }
    }
}

/* Finds the largest total variation between two rows of the kernel of a sweep. */
static gbs_status find_eta(const enumeration *e, double *eta)
{
    const double *joint = e->focus->joint;
    *eta = 0.0;
    for (size_t s = 0; s < e->n_states; s++) {
        double *row = e->row + s * e->n_states;
        memset(row, 0, e->n_states * sizeof *row);
        row[s] = 1.0;
        for (uint32_t i = 0; i < e->n; i++) {
            update_mass(e, e->stride[i], row);
        }
    }
    for (size_t s = 0; s < e->n_states; s++) {
        for (size_t r = 0; r < s && joint[s] > 0.0; r++) {
            double apart = 0.0;
            for (size_t i = 0; i < e->n_states && joint[r] > 0.0; i++) {
                apart += 0.5 * fabs(e->row[s * e->n_states + i] - e->row[r * e->n_states + i]);
            }
            *eta = apart > *eta ? apart : *eta;
        }
        if (gbsi_watch_spend(e->watch, e->n_states * s)) {
            return GBS_STOPPED;
        }
    }
    return GBS_OK;
}

/* ---- steps between any two states --------------------------------------------------------------
 */

/* Smallest conditional probability that is not 0. */
static double least_conditional(const enumeration *e)
{
    const double *joint = e->focus->joint;
    double least = 1.0;
    for (uint32_t v = 0; v < e->n; v++) {
        for (size_t i = 0; i < e->n_states; i++) {
            const double p = joint[i] > 0.0 ? joint[i] / (joint[i] + joint[i ^ e->stride[v]]) : 1.0;
            least = p < least ? p : least;
        }
    }
    return least;
}

/* Performs an update of the states that are reached from s. @return whether the whole support is
 * now reached. */
static bool update_reached(const enumeration *e, size_t stride, uint8_t *reached)
{
    const double *joint = e->focus->joint;
    size_t n = 0;
    for (size_t i = 0; i < e->n_states; i++) {
        if ((i & stride) == 0) {
            const uint8_t any = reached[i] | reached[i + stride];
            reached[i] = any != 0 && joint[i] > 0.0;
            reached[i + stride] = any != 0 && joint[i + stride] > 0.0;
            n += (size_t)reached[i] + reached[i + stride];
        }
    }
    return n == e->n_support;
}

/* Finds the smallest number of updates, beginning at one place of the sweep, after which every
 * state of the support can be reached from every other state. */
static gbs_status steps_from(const enumeration *e, uint32_t place, uint32_t *steps)
{
    const double *joint = e->focus->joint;
    for (size_t s = 0; s < e->n_states; s++) {
        memset(e->reached + s * e->n_states, 0, e->n_states);
        e->reached[s * e->n_states + s] = 1;
    }
    for (uint32_t t = 0; t < MOST_SWEEPS * e->n; t++) {
        bool all = true;
        for (size_t s = 0; s < e->n_states; s++) {
            if (joint[s] > 0.0) {
                all = update_reached(e, e->stride[(place + t) % e->n],
                                     e->reached + s * e->n_states) &&
                      all;
            }
        }
        if (gbsi_watch_spend(e->watch, e->n_states * e->n_states)) {
            return GBS_STOPPED;
        }
        if (all) {
            *steps = t + 1;
            return GBS_OK;
        }
    }
    *steps = UINT32_MAX;
    return GBS_OK;
}

static gbs_status find_steps(const enumeration *e, uint32_t *steps)
{
    *steps = e->n;
    for (uint32_t place = 0; place < e->n && e->n_support < e->n_states; place++) {
        uint32_t found = 0;
        const gbs_status status = steps_from(e, place, &found);
        if (status != GBS_OK) {
            return status;
        }
        *steps = found > *steps ? found : *steps;
    }
    return GBS_OK;
}

/* ---- constants ----------------------------------------------------------------------------------
 */

/* Finds the constants l and B: in T sweeps each state of the support is visited at least l T - B
 * times. After j updates towards a state from any start, 2^(N - j) keys are left, and each of them
 * may lose one visit. If some states have probability 0, the number of keys left is at most the
 * number of keys over all variables except one. */
static void find_constants(const enumeration *e, lab_bound *b)
{
    double keys = 0.5 * (double)e->n_states;
    double power = 1.0;
    b->n_variables = e->n;
    b->least = least_conditional(e);
    b->b = 0.0;
    b->l = 1.0;
    for (uint32_t j = 0; j < b->steps; j++) {
        b->l *= b->least;
    }
    for (uint32_t j = b->steps; j-- > 0;) { /* the last update comes first, with p^0 */
        if (e->n_support == e->n_states) {
            keys = (double)((uint64_t)1 << (b->steps - 1 - j));
        }
        b->b += keys * power;
        power *= b->least;
    }
    /* largest number of sweeps in which the steps end */
    const uint32_t sweeps = (b->steps + e->n - 1) / e->n;
    b->b += b->l * sweeps;
    b->lambda = 2.0 * e->n * (1.0 + b->eta) / (b->l * (1.0 - b->eta));
    b->t_star = 2.0 * b->b / b->l;
}

double lab_bound_burn_in(const lab_bound *b, double sweeps)
{
    const double x = (1.0 - b->eta) * b->l * sweeps / (4.0 * b->n_variables);
    return x > 1.0 ? gbsi_log(x) / gbsi_log(2.0 / (1.0 + b->eta)) : 0.0;
}

double lab_bound_at(const lab_bound *b, double sweeps)
{
    if (sweeps < b->t_star + lab_bound_burn_in(b, b->t_star)) {
        return 1.0;
    }
    const double bound = (b->lambda + lab_bound_burn_in(b, sweeps)) / sweeps;
    return bound < 1.0 ? bound : 1.0;
}

/* Checks that, for every variable, each state of the other variables has its own weight. */
static gbs_status check_keys(const gbs_model *model, const gbs_evidence *evidence,
                             const gbs_run_options *options, const gbsi_conditioned *part,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_focus_setting setting = {0};
    for (uint32_t v = 0; v < part->n_variables; v++) {
        const uint32_t user = part->user_variable[v];
        if (part->arity[v] != 2) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                               "--bound: the theorem is about variables of two states, variable %u "
                               "has %u",
                               user, part->arity[v]));
        }
        GBSI_TRY(
            lab_focus_set(model, evidence, options, user, LAB_BOUND_MAX_STATES, &setting, err));
        const lab_focus *f = setting.focus;
        const unsigned traits = gbsi_draw_traits(&setting.options);
        if ((traits & GBSI_DRAW_HERDS) == 0 || (traits & GBSI_DRAW_THRESHOLD) != 0 ||
            f->theta != NULL || f->n_keys < f->n_z) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "--bound: the theorem is about herded draws whose weights are told "
                               "apart by all other variables: use --draw herded-complete"));
        }
        lab_focus_setting_free(&setting);
        setting = (lab_focus_setting){0};
    }
cleanup:
    lab_focus_setting_free(&setting);
    return status;
}

static gbs_status enumerate(enumeration *e, lab_bound *b, gbs_error *err)
{
    const lab_focus *f = e->focus;
    gbs_status status = GBS_OK;
    e->n = f->model->n_variables;
    e->n_states = 2 * f->n_z;
    e->stride = gbsi_alloc_array(e->n, sizeof *e->stride);
    e->row = gbsi_alloc_array(e->n_states, e->n_states * sizeof *e->row);
    e->reached = gbsi_alloc_array(e->n_states, e->n_states);
    GBSI_TRY(GBSI_HAVE(err, "decompose", e->stride, e->row, e->reached));
    for (size_t i = 0; i < e->n_states; i++) {
        e->n_support += f->joint[i] > 0.0;
    }
    for (uint32_t i = 0; i < e->n; i++) { /* the focus is the last variable */
        const uint32_t v = (f->x + 1 + i) % e->n;
        e->stride[i] = v == f->x ? 1 : 2 * f->stride[v];
    }
    GBSI_TRY(find_eta(e, &b->eta));
    if (status == GBS_OK) {
        GBSI_TRY(find_steps(e, &b->steps));
    }
    if (status == GBS_OK && (b->eta > 1.0 - 1e-12 || b->steps == UINT32_MAX)) {
        GBSI_TRY(
            gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                      "--bound: the theorem does not apply: zeros keep a sweep from forgetting "
                      "its start (Dobrushin coefficient %.3g)",
                      b->eta));
    }
    if (status == GBS_OK) {
        find_constants(e, b);
    }
cleanup:
    gbsi_free(e->stride);
    gbsi_free(e->row);
    gbsi_free(e->reached);
    return status;
}

gbs_status lab_bound_find(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options, uint32_t focus,
                          const gbs_run_callbacks *callbacks, lab_bound *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_focus_setting setting = {0};
    lab_bound made = {0};
    lab_wait w = {.callbacks = callbacks, .begun_s = gbsi_clock_s()};
    gbsi_watch watch = {.look = lab_wait_look, .context = &w};
    enumeration e = {.watch = &watch};
    GBSI_TRY(lab_focus_set(model, evidence, options, focus, LAB_BOUND_MAX_STATES, &setting, err));
    GBSI_TRY(check_keys(model, evidence, options, setting.model, err));
    e.focus = setting.focus;
    GBSI_TRY(enumerate(&e, &made, err));
    if (status == GBS_OK) {
        *out = made;
    }
cleanup:
    lab_focus_setting_free(&setting);
    return status;
}
