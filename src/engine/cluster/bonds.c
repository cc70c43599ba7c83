/* SPDX-License-Identifier: Apache-2.0 */
/* Factors as bonds and fields [M90]. */
#include <assert.h>
#include <inttypes.h>

#include "base/memory.h"
#include "cluster/cluster.h"
#include "lattice/spins.h"
#include "simd/math.h"

static uint32_t order_of(const gbsi_factors *factors, size_t f)
{
    return (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
}

/* Whether all variables have two states. */
static bool is_binary(const gbsi_conditioned *model)
{
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (model->arity[v] != 2) {
            return false;
        }
    }
    return true;
}

/* Reads a factor of two variables as J [x = y]: J and the constant; equal log-weights of minus
 * infinity off the diagonal are J = infinity. States are compared as labels.
 * @return whether the factor has this form. */
static bool potts_of(const gbsi_conditioned *model, size_t f, double *coupling)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const uint32_t *label[2] = {gbsi_conditioned_states(model, scope[0]),
                                gbsi_conditioned_states(model, scope[1])};
    double value[2] = {NAN, NAN}; /* log-weight of different labels, and of equal labels */
    for (uint32_t i = 0; i < model->arity[scope[0]]; ++i) {
        for (uint32_t j = 0; j < model->arity[scope[1]]; ++j) {
            const bool equal = label[0][i] == label[1][j];
            const double logw =
                gbsi_factor_value_at(factors, model->arity, f, (const uint32_t[2]){i, j});
            if (isnan(value[equal])) {
                value[equal] = logw;
            } else if (value[equal] != logw) {
                return false;
            }
        }
    }
    if (isnan(value[0]) || isnan(value[1])) {
        *coupling = 0.0; /* all states differ, or all are equal: the factor is constant */
        return true;
    }
    *coupling = value[1] - value[0];
    return value[1] > -INFINITY;
}

/* Reads a factor of two variables: its coupling, and for variables of two states half the
 * differences of log-weights, h and h'. J [x = y] is (J / 2) s s' plus a constant.
 * @return NULL, or the reason why the factor has no bond. */
static const char *read_pair(const gbsi_conditioned *model, bool binary, size_t f, double *coupling,
                             double field[2])
{
    field[0] = field[1] = 0.0;
    if (model->factors.kind[f] == GBS_FACTOR_POTTS) {
        *coupling = model->factors.weight[f];
    } else if (binary && model->has_zeros[f] == 0) {
        const gbsi_spin_factor factor = gbsi_spin_factor_of(model, f);
        field[0] = factor.field[0];
        field[1] = factor.field[1];
        *coupling = 2.0 * factor.coupling;
    } else if (!potts_of(model, f, coupling)) {
        return model->has_zeros[f] ? "has zeros, but not exactly where its states differ"
                                   : "is no coupling J [x = y] of two variables";
    }
    return *coupling < 0.0 && !binary ? "favours different states of variables with more than two "
                                        "states"
                                      : NULL;
}

gbs_status gbsi_bonds_check(const gbsi_conditioned *model, const char *scan, gbs_error *err)
{
    const bool binary = is_binary(model);
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        const uint32_t n = order_of(&model->factors, f);
        double coupling = 0.0;
        double field[2];
        const char *reason = n > 2    ? "joins three variables or more"
                             : n == 2 ? read_pair(model, binary, f, &coupling, field)
                                      : NULL;
        if (reason != NULL) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "--scan %s: factor %zu %s, expected an Ising or Potts model whose "
                             "couplings favour equal states: use --scan chromatic",
                             scan, gbsi_conditioned_origin(model, f), reason);
        }
    }
    return GBS_OK;
}

bool gbsi_bonds_favour_equal(const gbsi_conditioned *model)
{
    const bool binary = is_binary(model);
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        double coupling = 0.0;
        double field[2];
        if (order_of(&model->factors, f) != 2 ||
            read_pair(model, binary, f, &coupling, field) != NULL || !(coupling > 0.0) ||
            field[0] != 0.0 || field[1] != 0.0) {
            return false;
        }
    }
    return model->factors.n_factors > 0;
}

/* ---- compiling ------------------------------------------------------------------------------- */

bool gbsi_bonds_label(const gbsi_conditioned *model, uint32_t *n_labels)
{
    bool differ = false;
    *n_labels = 2;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        const uint32_t *states = gbsi_conditioned_states(model, v);
        for (uint32_t s = 0; s < model->arity[v]; ++s) {
            differ |= states[s] != s;
            *n_labels = states[s] >= *n_labels ? states[s] + 1 : *n_labels;
        }
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        differ |= model->arity[v] != *n_labels;
    }
    return differ;
}

/* The probability that a bond joins, 1 - exp(-|J|) with J [x = y] [M90], as the largest word. */
static uint64_t most_of(double coupling)
{
    const double p = -gbsi_expm1(-fabs(coupling));
    return p >= 1.0 ? UINT64_MAX : (uint64_t)(p * 0x1p64) - (p * 0x1p64 >= 1.0);
}

/* Sums of fields in double, before they are rounded. */
typedef struct sums {
    double *h; /* [n_slots], or [n_slots][n_labels] */
    bool any;
} sums;

static void add_unary(const gbsi_bonds *b, const gbsi_conditioned *model, const gbsi_plan *plan,
                      size_t f, sums *to)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t v = factors->scope[factors->scope_start[f]];
    const uint32_t slot = plan->slot_of[v];
    const double first = gbsi_factor_value_at(factors, model->arity, f, (const uint32_t[1]){0});
    for (uint32_t s = 1; s < model->arity[v]; ++s) {
        const double rise =
            gbsi_factor_value_at(factors, model->arity, f, (const uint32_t[1]){s}) - first;
        const uint32_t label = b->label_of == NULL ? s : gbsi_conditioned_states(model, v)[s];
        to->h[b->turns ? slot : (size_t)slot * b->n_labels + label] += rise;
        to->any |= rise != 0.0;
    }
}

static void add_pair(gbsi_bonds *b, const gbsi_conditioned *model, const gbsi_plan *plan, size_t f,
                     sums *to)
{
    const uint32_t *scope = model->factors.scope + model->factors.scope_start[f];
    double coupling = 0.0;
    double field[2];
    const char *reason = read_pair(model, b->turns, f, &coupling, field);
    assert(reason == NULL); /* gbsi_bonds_check() has refused other models */
    (void)reason;
    for (uint32_t i = 0; i < 2 && b->turns; ++i) {
        to->h[plan->slot_of[scope[i]]] += 2.0 * field[i];
        to->any |= field[i] != 0.0;
    }
    if (coupling != 0.0) {
        b->bond[b->n_bonds++] =
            (gbsi_bond){.slot = {plan->slot_of[scope[0]], plan->slot_of[scope[1]]},
                        .most = most_of(coupling),
                        .differ = coupling < 0.0};
        b->always |= b->bond[b->n_bonds - 1].most == UINT64_MAX;
    }
}

/* Rounds the fields to multiples of a unit with which the sum of all fields stays below 2^62. */
static gbs_status round_fields(gbsi_bonds *b, const sums *from, gbs_error *err)
{
    const size_t n = (size_t)b->n_slots * (b->turns ? 1 : b->n_labels);
    double largest = 0.0;
    for (size_t i = 0; i < n; ++i) {
        largest = fabs(from->h[i]) > largest ? fabs(from->h[i]) : largest;
    }
    if (largest == 0.0) {
        return GBS_OK; /* the fields of the factors cancel */
    }
    b->unit = gbsi_power_above(largest) * gbsi_power_above((double)b->n_slots) * 0x1p-62;
    b->field = gbsi_alloc_array(n, sizeof *b->field);
    GBSI_PASS(GBSI_HAVE(err, "clusters", b->field));
    for (size_t i = 0; i < n; ++i) {
        const double q = from->h[i] / b->unit;
        b->field[i] = (int64_t)(q + (q < 0.0 ? -0.5 : 0.5));
    }
    return GBS_OK;
}

static gbs_status take_labels(gbsi_bonds *b, const gbsi_plan *plan, gbs_error *err)
{
    const gbsi_conditioned *model = plan->model;
    const size_t n = (size_t)b->n_slots * b->n_labels;
    b->label_of = gbsi_alloc_array_zero(n, sizeof *b->label_of);
    b->state_of = gbsi_alloc_array(n, sizeof *b->state_of);
    GBSI_PASS(GBSI_HAVE(err, "clusters", b->label_of, b->state_of));
    for (size_t i = 0; i < n; ++i) {
        b->state_of[i] = GBSI_NO_STATE;
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        const size_t row = (size_t)plan->slot_of[v] * b->n_labels;
        for (uint32_t s = 0; s < model->arity[v]; ++s) {
            const uint32_t label = gbsi_conditioned_states(model, v)[s];
            b->label_of[row + s] = (uint16_t)label;
            b->state_of[row + label] = (uint16_t)s;
        }
    }
    return GBS_OK;
}

static gbs_status list_by_slot(gbsi_bonds *b, gbs_error *err)
{
    b->start = gbsi_alloc_array_zero((size_t)b->n_slots + 2, sizeof *b->start);
    b->bond_at = gbsi_alloc_array(2 * b->n_bonds, sizeof *b->bond_at);
    GBSI_PASS(GBSI_HAVE(err, "clusters", b->start, b->bond_at));
    size_t *next = b->start + 1; /* becomes the starts when every bond has its place */
    for (size_t e = 0; e < b->n_bonds; ++e) {
        for (uint32_t i = 0; i < 2; ++i) {
            ++b->start[b->bond[e].slot[i] + 2];
        }
    }
    for (uint32_t slot = 1; slot < b->n_slots; ++slot) {
        next[slot] += next[slot - 1];
    }
    for (size_t e = 0; e < b->n_bonds; ++e) {
        for (uint32_t i = 0; i < 2; ++i) {
            b->bond_at[next[b->bond[e].slot[i]]++] = (uint32_t)e;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_bonds_new(const gbsi_plan *plan, bool by_slot, gbsi_bonds **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *model = plan->model;
    sums fields = {NULL, false};
    gbsi_bonds *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "clusters", b));
    b->n_slots = plan->n_slots;
    b->turns = is_binary(model);
    const bool labels = gbsi_bonds_label(model, &b->n_labels) && !b->turns;
    b->n_labels = b->turns ? 2 : b->n_labels;
    if (labels) {
        GBSI_TRY(take_labels(b, plan, err));
    }
    b->bond = gbsi_alloc_array(model->factors.n_factors, sizeof *b->bond);
    fields.h =
        gbsi_alloc_array_zero((size_t)b->n_slots * (b->turns ? 1 : b->n_labels), sizeof *fields.h);
    GBSI_TRY(GBSI_HAVE(err, "clusters", b->bond, fields.h));
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        if (order_of(&model->factors, f) == 1) {
            add_unary(b, model, plan, f, &fields);
        } else {
            add_pair(b, model, plan, f, &fields);
        }
    }
    if (fields.any) {
        GBSI_TRY(round_fields(b, &fields, err));
    }
    if (by_slot) {
        GBSI_TRY(list_by_slot(b, err));
    }
    *out = b;
    b = NULL;
cleanup:
    gbsi_free(fields.h);
    gbsi_bonds_free(b);
    return status;
}

uint64_t gbsi_bonds_bytes(const gbsi_plan *plan, bool by_slot)
{
    uint32_t n_labels = 2;
    const bool turns = is_binary(plan->model);
    const bool labels = gbsi_bonds_label(plan->model, &n_labels) && !turns;
    const uint64_t n_fields = (uint64_t)plan->n_slots * (turns ? 1 : n_labels);
    const uint64_t n_factors = plan->model->factors.n_factors;
    return sizeof(gbsi_bonds) + n_factors * sizeof(gbsi_bond) +
           n_fields * (sizeof(double) + sizeof(int64_t)) +
           (labels ? 2 * n_fields * sizeof(uint16_t) : 0) +
           (by_slot ? 2 * n_factors * sizeof(uint32_t) + (plan->n_slots + 2) * sizeof(size_t) : 0);
}

void gbsi_bonds_free(gbsi_bonds *b)
{
    if (b != NULL) {
        GBSI_FREE(b->bond, b->field, b->label_of, b->state_of, b->start, b->bond_at, b);
    }
}
