/* SPDX-License-Identifier: Apache-2.0 */
/* With s = -1, +1 for the states 0, 1 and literals "state 1": h s_i is h phi of is-true, J s_i s_j
 * is J phi of equal, both exactly. J [x_i = x_j] and tables are sums of and-categorical factors. A
 * clause, w where some literal is true and 0 elsewhere, is w/2 phi of or, plus w/2. */
#include "models/dimmwitted.h"

#include <math.h>

#include "base/memory.h"
#include "store/builder.h"
#include "store/factors.h"

enum { MOST_ENTRIES = 1 << 16 };

static gbs_status refuse(const gbs_model *model, size_t f, const char *reason, gbs_error *err)
{
    char scope[400];
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "factor %zu %s %s: DimmWitted has no form for it", f,
                     gbsi_scope_text(model, f, scope, sizeof scope), reason);
}

/* Zeros are finite weights nowhere, but where they fix a variable they are evidence. */
static gbs_status hard_rule(const gbs_model *model, const uint32_t *clamped, size_t f,
                            gbsi_dw_rule *rule, gbs_error *err)
{
    const uint32_t only = gbsi_factor_clamps(&model->factors, model->arity, f);
    if (only == GBSI_NONE) {
        return refuse(model, f, "forbids combinations", err);
    }
    if (clamped[rule->scope[0]] != only) {
        return refuse(model, f, "and another factor leave no state", err);
    }
    rule->how = GBSI_DW_NOT;
    rule->shifted = gbsi_factor_value_at(&model->factors, model->arity, f, &only) != 0;
    return GBS_OK;
}

static gbs_status table_rule(const gbs_model *model, size_t f, gbsi_dw_rule *rule, gbs_error *err)
{
    size_t n = 1;
    for (uint32_t i = 0; i < rule->n; i++) {
        if (!gbsi_mul_size(n, model->arity[rule->scope[i]], &n) || n > MOST_ENTRIES) {
            return refuse(model, f, "has more than 65536 entries", err);
        }
    }
    rule->how = rule->n == 0 ? GBSI_DW_NOT : GBSI_DW_ENTRIES;
    rule->shifted = rule->n == 0;
    return GBS_OK;
}

static gbs_status logical_rule(const gbs_model *model, size_t f, gbsi_dw_rule *rule, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    const unsigned function = factors->logical[factors->aux[f]].function;
    if (function != GBS_LOGICAL_CLAUSE && !gbsi_dw_function_known(function)) {
        return table_rule(model, f, rule, err);
    }
    rule->function = function;
    rule->literal = factors->literal + factors->scope_start[f];
    rule->rewritten = function == GBS_LOGICAL_CLAUSE;
    if (function == GBS_LOGICAL_CLAUSE && rule->n == 1) {
        rule->function = GBS_LOGICAL_AND_CATEGORICAL; /* the same where there is one literal */
    } else if (function == GBS_LOGICAL_CLAUSE) {
        rule->function = GBS_LOGICAL_OR;
        rule->scale = 0.5;
        rule->weight *= rule->scale;
        rule->shifted = true;
    }
    return GBS_OK;
}

gbs_status gbsi_dw_rule_of(const gbs_model *model, const uint32_t *clamped, size_t factor,
                           gbsi_dw_rule *rule, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    const size_t start = factors->scope_start[factor];
    *rule = (gbsi_dw_rule){.how = GBSI_DW_ONE,
                           .function = GBS_LOGICAL_AND_CATEGORICAL,
                           .n = (uint32_t)(factors->scope_start[factor + 1] - start),
                           .scope = factors->scope + start,
                           .weight = factors->weight[factor],
                           .scale = 1,
                           .rewritten = true};
    if (gbsi_factor_has_zeros(factors, factor)) {
        return hard_rule(model, clamped, factor, rule, err);
    }
    switch ((gbs_factor_kind)factors->kind[factor]) {
    case GBS_FACTOR_LOGICAL:
        return logical_rule(model, factor, rule, err);
    case GBS_FACTOR_POTTS:
        rule->how = GBSI_DW_STATES;
        break;
    case GBS_FACTOR_FIELD:
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_SPIN:
        if (rule->n > 2) {
            return table_rule(model, factor, rule, err);
        }
        rule->function = rule->n == 1 ? GBS_LOGICAL_IS_TRUE : GBS_LOGICAL_EQUAL;
        break;
    case GBS_FACTOR_TABLE:
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX:
    case GBS_FACTOR_NOISY_MIN:
        return table_rule(model, factor, rule, err);
    }
    return GBS_OK;
}

/* ---- numbering ----------------------------------------------------------------------------- */

struct gbsi_dw_slot {
    uint64_t hash;
    size_t id; /* SIZE_MAX: empty */
};

uint64_t gbsi_dw_hash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u; /* odd: 2^64 / golden ratio */
    return hash ^ hash >> 32;
}

static gbs_status grow(gbsi_dw_index *index, gbs_error *err)
{
    const size_t n_slots = index->n_slots == 0 ? 64 : index->n_slots * 2;
    struct gbsi_dw_slot *slot = gbsi_alloc_array(n_slots, sizeof *slot);
    if (slot == NULL) {
        return gbsi_no_memory(err, "numbering", n_slots);
    }
    for (size_t i = 0; i < n_slots; i++) {
        slot[i].id = SIZE_MAX;
    }
    for (size_t i = 0; i < index->n_slots; i++) {
        if (index->slot[i].id != SIZE_MAX) {
            size_t at = (size_t)index->slot[i].hash & (n_slots - 1);
            while (slot[at].id != SIZE_MAX) {
                at = (at + 1) & (n_slots - 1);
            }
            slot[at] = index->slot[i];
        }
    }
    gbsi_free(index->slot);
    index->slot = slot;
    index->n_slots = n_slots;
    return GBS_OK;
}

gbs_status gbsi_dw_index_find(gbsi_dw_index *index, uint64_t hash,
                              bool (*equal)(const void *context, size_t id), const void *context,
                              size_t *id, bool *added, gbs_error *err)
{
    if (2 * (index->n + 1) > index->n_slots) {
        const gbs_status status = grow(index, err);
        if (status < 0) {
            return status;
        }
    }
    size_t at = (size_t)hash & (index->n_slots - 1);
    while (index->slot[at].id != SIZE_MAX) {
        if (index->slot[at].hash == hash && equal(context, index->slot[at].id)) {
            *id = index->slot[at].id;
            *added = false;
            return GBS_OK;
        }
        at = (at + 1) & (index->n_slots - 1);
    }
    index->slot[at] = (struct gbsi_dw_slot){.hash = hash, .id = index->n};
    *id = index->n++;
    *added = true;
    return GBS_OK;
}

void gbsi_dw_index_free(gbsi_dw_index *index)
{
    gbsi_free(index->slot);
    *index = (gbsi_dw_index){0};
}
