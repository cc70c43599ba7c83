/* SPDX-License-Identifier: Apache-2.0 */
/* A choice is the set of atoms of a predicate P(a, b!) that differ only in the argument marked '!'.
 * Exactly one atom of each choice is true. If a fact says which value holds, all other values are
 * false. Otherwise the atoms are variables, and a hard factor requires that exactly one of them
 * holds. */
#include <math.h>

#include "base/memory.h"
#include "ground/grounding.h"

uint64_t gbsi_choice_of(const gbsi_grounding *g, const gbsi_predicate *q, uint64_t code)
{
    const uint64_t at = code - q->first;
    const uint64_t value = at / q->stride % g->program.type[q->type[q->one]].n;
    return code - value * q->stride;
}

gbs_status gbsi_choice_made(gbsi_grounding *g, const gbsi_predicate *q, uint64_t code,
                            gbsi_token place, gbs_error *err)
{
    const uint64_t choice = gbsi_choice_of(g, q, code);
    if (gbsi_atoms_find(&g->chosen, choice) != NULL) {
        return gbsi_text_fail(g->program.database, place, err,
                              "found another value of an argument marked '!', expected one fact "
                              "that holds for each of the other arguments' values");
    }
    return gbsi_atoms_add(&g->chosen, choice, 0, err);
}

static gbs_status none_holds(const gbsi_grounding *g, const gbsi_predicate *q, gbs_error *err)
{
    if (q->function) {
        return gbsi_text_fail(g->program.text, q->name, err,
                              "found a function for some of whose arguments the database has no "
                              "value, expected one for each; or name it as a query predicate");
    }
    return gbsi_text_fail(g->program.text, q->name, err,
                          "found an argument marked '!' of which the database leaves no value, "
                          "expected one that holds for each of the other arguments' values");
}

/* @param constant constants of the arguments; the constant of the argument marked '!' is
 * overwritten. */
static gbs_status ground_choice(gbsi_grounding *g, uint32_t predicate, uint32_t *constant,
                                gbs_error *err)
{
    const gbsi_predicate *q = &g->program.predicate[predicate];
    const uint32_t n_values = g->program.type[q->type[q->one]].n;
    uint32_t n = 0;
    bool chosen = false;
    GBSI_PASS(gbsi_reserve((void **)(void *)&g->literal, &g->literal_capacity, 2 * (size_t)n_values,
                           sizeof *g->literal, "choices", err));
    uint32_t *scope = g->literal;
    uint32_t *state = g->literal + n_values;
    for (uint32_t k = 0; k < n_values; k++) {
        uint64_t code = 0;
        constant[q->one] = k;
        uint32_t value = gbsi_value_of(g, predicate, constant, &code);
        if (value == GBSI_ATOM_NEW) {
            GBSI_PASS(gbsi_variable_new(g, predicate, constant, code, &value, err));
        }
        chosen = chosen || value == GBSI_ATOM_TRUE;
        if (value != GBSI_ATOM_TRUE && value != GBSI_ATOM_FALSE) {
            scope[n] = value;
            state[n++] = 1;
        }
    }
    if (n == 0) {
        return chosen ? GBS_OK : none_holds(g, q, err);
    }
    GBSI_PASS(gbs_builder_add_cardinality(g->builder, GBS_LOGICAL_EXACTLY, 1, n, scope, state,
                                          INFINITY, err));
    g->report.n_atoms += n;
    g->report.n_factors++;
    return GBS_OK;
}

static gbs_status ground_predicate(gbsi_grounding *g, uint32_t predicate, gbs_error *err)
{
    const gbsi_predicate *q = &g->program.predicate[predicate];
    uint32_t constant[GBSI_GROUND_MOST_ARGUMENTS] = {0};
    uint64_t n = 1;
    for (uint32_t k = 0; k < q->n_arguments; k++) {
        n *= k == q->one ? 1 : g->program.type[q->type[k]].n;
    }
    if (!q->open) { /* each choice has at most one true fact */
        return q->n_true == n ? GBS_OK : none_holds(g, q, err);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t rest = i;
        for (uint32_t k = q->n_arguments; k > 0; k--) {
            const uint32_t size = g->program.type[q->type[k - 1]].n;
            if (k - 1 != q->one) {
                constant[k - 1] = (uint32_t)(rest % size);
                rest /= size;
            }
        }
        if (gbsi_watch_spend(&g->watch, 16 + (uint64_t)g->program.type[q->type[q->one]].n)) {
            return gbsi_watch_fail(err, "grounding");
        }
        GBSI_PASS(ground_choice(g, predicate, constant, err));
    }
    return GBS_OK;
}

gbs_status gbsi_ground_choices(gbsi_grounding *g, gbs_error *err)
{
    for (uint32_t q = 0; q < g->program.n_predicates; q++) {
        if (g->program.predicate[q].one != GBSI_GROUND_NO_ONE) {
            GBSI_PASS(ground_predicate(g, q, err));
        }
    }
    return GBS_OK;
}
