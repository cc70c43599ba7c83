/* SPDX-License-Identifier: Apache-2.0 */
/* Counts drawn joint states of some variables, and computes the probabilities of joint states by
 * enumeration. */
#include "reference/joint.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "reference/enumerate.h"
#include "store/model.h"

/* The chosen variables, and the strides that turn their states into the number of a cell. */
typedef struct cells {
    uint32_t n;
    uint32_t *variable; /* [n] chosen variables */
    size_t *stride;     /* [n] stride of each variable */
    size_t n_cells;
} cells;

struct gbsi_joint {
    cells cells;
    uint32_t n_chains;
    uint64_t *count; /* [n_chains][n_cells] number of draws of each chain in each cell */
    uint64_t *total; /* [n_chains] all draws */
};

static void free_cells(cells *c)
{
    GBSI_FREE(c->variable, c->stride);
}

static gbs_status check_variables(const gbs_model *model, uint32_t n, const uint32_t *variable,
                                  gbs_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (variable[i] >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "joint: there is no variable %u, the model has %u", variable[i],
                             model->n_variables);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (variable[j] == variable[i]) {
                return gbsi_fail(err, GBS_ERR_ARGUMENT, "joint: variable %u is given twice",
                                 variable[i]);
            }
        }
    }
    return GBS_OK;
}

/* @param n_chains n_chains times the number of cells must be within the limit. On failure no memory
 * stays allocated. */
static gbs_status make_cells(const gbs_model *model, uint32_t n, const uint32_t *variable,
                             uint32_t n_chains, cells *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    cells c = {.n = n == 0 ? model->n_variables : n, .n_cells = 1};
    GBSI_TRY(check_variables(model, n, variable, err));
    c.variable = gbsi_alloc_array(c.n, sizeof *c.variable);
    c.stride = gbsi_alloc_array(c.n, sizeof *c.stride);
    GBSI_TRY(GBSI_HAVE(err, "joint", c.variable, c.stride));
    for (uint32_t i = c.n; i-- > 0;) {
        c.variable[i] = n == 0 ? i : variable[i];
        c.stride[i] = c.n_cells;
        const uint32_t arity = model->arity[c.variable[i]];
        if (c.n_cells > GBSI_JOINT_MAX_CELLS / arity / n_chains) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT,
                               "joint: the joint states of %u variable%s times %u chain%s more "
                               "than the limit of %" PRIu64,
                               c.n, gbsi_plural(c.n), n_chains,
                               gbsi_plural_of(n_chains, " is", "s are"), GBSI_JOINT_MAX_CELLS));
        }
        c.n_cells *= arity;
    }
    *out = c;
    return GBS_OK;
cleanup:
    free_cells(&c);
    return status;
}

/* Returns the number of the cell of a joint state; n_cells if the state of some variable is out of
 * range. */
static size_t cell_of(const cells *c, const uint32_t *state)
{
    size_t cell = 0;
    size_t rest = c->n_cells;
    for (uint32_t i = 0; i < c->n; i++) {
        const size_t at = c->stride[i] * (size_t)state[c->variable[i]];
        if (at >= rest) {
            return c->n_cells;
        }
        cell += at;
        rest = c->stride[i];
    }
    return cell;
}

gbs_status gbsi_joint_new(const gbs_model *model, uint32_t n, const uint32_t *variable,
                          uint32_t n_chains, gbsi_joint **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_joint *joint = gbsi_alloc_zero(sizeof *joint);
    GBSI_PASS(GBSI_HAVE(err, "joint", joint));
    if (n_chains == 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "joint: expected at least one chain"));
    }
    GBSI_TRY(make_cells(model, n, variable, n_chains, &joint->cells, err));
    joint->n_chains = n_chains;
    joint->count =
        gbsi_alloc_array_zero(joint->cells.n_cells, (size_t)n_chains * sizeof *joint->count);
    joint->total = gbsi_alloc_array_zero(n_chains, sizeof *joint->total);
    GBSI_TRY(GBSI_HAVE(err, "joint", joint->count, joint->total));
    *out = joint;
    joint = NULL;
cleanup:
    gbsi_joint_free(joint);
    return status;
}

void gbsi_joint_free(gbsi_joint *joint)
{
    if (joint != NULL) {
        free_cells(&joint->cells);
        GBSI_FREE(joint->count, joint->total, joint);
    }
}

size_t gbsi_joint_n_cells(const gbsi_joint *joint)
{
    return joint->cells.n_cells;
}

gbs_status gbsi_joint_add(gbsi_joint *joint, uint32_t chain, const uint32_t *state, gbs_error *err)
{
    const size_t cell = cell_of(&joint->cells, state);
    if (chain >= joint->n_chains) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "joint: there is no chain %u of %u, counted from 0",
                         chain, joint->n_chains);
    }
    if (cell == joint->cells.n_cells) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "joint: a state is outside the range of its variable");
    }
    ++joint->count[chain * joint->cells.n_cells + cell];
    ++joint->total[chain];
    return GBS_OK;
}

const uint64_t *gbsi_joint_counts(const gbsi_joint *joint, uint32_t chain)
{
    return chain < joint->n_chains ? joint->count + chain * joint->cells.n_cells : NULL;
}

uint64_t gbsi_joint_total(const gbsi_joint *joint, uint32_t chain)
{
    return chain < joint->n_chains ? joint->total[chain] : 0;
}

double gbsi_joint_l1(const gbsi_joint *joint, uint32_t chain, const double *p)
{
    const uint64_t *count = gbsi_joint_counts(joint, chain);
    const double total = (double)gbsi_joint_total(joint, chain);
    double sum = 0.0;
    if (count == NULL) {
        return NAN;
    }
    for (size_t i = 0; i < joint->cells.n_cells; i++) {
        sum += fabs((double)count[i] / total - p[i]);
    }
    return sum;
}

/* ---- exact ------------------------------------------------------------------------------- */

/* Adds the probability of every state of the conditioned model to the cell of this state. */
static void project(const gbsi_conditioned *part, const double *joint, size_t n_states,
                    const cells *c, uint32_t *user, uint32_t *x, double *p)
{
    for (uint32_t v = 0; v < part->n_variables; v++) {
        x[v] = 0;
        user[part->user_variable[v]] = gbsi_conditioned_states(part, v)[0];
    }
    for (size_t i = 0; i < n_states; i++) {
        p[cell_of(c, user)] += joint[i];
        for (uint32_t v = part->n_variables; v-- > 0;) { /* the last variable is the fastest */
            x[v] = x[v] + 1 == part->arity[v] ? 0 : x[v] + 1;
            user[part->user_variable[v]] = gbsi_conditioned_states(part, v)[x[v]];
            if (x[v] != 0) {
                break;
            }
        }
    }
}

gbs_status gbsi_joint_exact(const gbs_model *model, const gbs_evidence *evidence, uint32_t n,
                            const uint32_t *variable, double *p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    cells c = {0};
    gbsi_conditioned *part = NULL;
    double *joint = NULL;
    uint32_t *user = NULL;
    uint32_t *x = NULL;
    GBSI_TRY(make_cells(model, n, variable, 1, &c, err));
    GBSI_TRY(gbsi_condition(model, evidence, &part, err));
    const uint64_t n_states = gbsi_n_states(part, NULL);
    if (n_states > GBSI_ENUMERATE_MAX_STATES) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT,
                           "joint: the model has more than %" PRIu64
                           " states, the limit of enumeration",
                           GBSI_ENUMERATE_MAX_STATES));
    }
    joint = gbsi_alloc_array((size_t)n_states, sizeof *joint);
    user = gbsi_alloc_array(model->n_variables, sizeof *user);
    x = gbsi_alloc_array(part->n_variables, sizeof *x);
    GBSI_TRY(GBSI_HAVE(err, "joint", joint, user, x));
    GBSI_TRY(gbsi_enumerate_joint(part, joint, err));
    for (size_t i = 0; i < c.n_cells; i++) {
        p[i] = 0.0;
    }
    memcpy(user, part->fixed_state, model->n_variables * sizeof *user);
    project(part, joint, (size_t)n_states, &c, user, x, p);
cleanup:
    free_cells(&c);
    gbsi_conditioned_free(part);
    GBSI_FREE(joint, user, x);
    return status;
}
