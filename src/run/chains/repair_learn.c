/* SPDX-License-Identifier: Apache-2.0 */
/* The last method of a repair: elimination of hard parities (satisfy/parity.h), and then the search
 * that learns clauses (satisfy/satisfy.h). The search is complete within its limit: it finds a
 * state, or proves that none exists and names the factors. */
#include "base/memory.h"
#include "chains/repair_internal.h"

/* A first search may take this number of operations, a few nanoseconds each, and if it decides
 * nothing and random walks fail, LAST_LIMIT. */
#define FIRST_LIMIT ((uint64_t)1 << 24)
#define LAST_LIMIT  ((uint64_t)1 << 29)
#define PER_ENTRY   ((uint64_t)64) /* further operations for each entry of the scopes */
/* A draw may take this number of operations, and twice the operations of the first search. */
#define DRAW_LIMIT ((uint64_t)1 << 24)
/* An elimination may read this number of words. */
#define ELIMINATION_LIMIT ((uint64_t)1 << 30)
/* The search for a small set of factors that contradict one another may take this number. */
#define CONFLICT_LIMIT ((uint64_t)1 << 30)

/* Lists the hard factors of a component, and its variables, for a search. @param part out: the
 * caller must free `factor` and `number`. */
static gbs_status take_part(const gbsi_repair *r, uint32_t component, gbsi_hard_part *part,
                            gbs_error *err)
{
    const gbsi_propagation *p = r->propagation;
    const size_t start = r->hard_start[component];
    const uint32_t first = r->member_start[component];
    const size_t n = r->hard_start[component + (size_t)1] - start;
    size_t *factor = gbsi_alloc_array(n, sizeof *factor);
    uint32_t *number = gbsi_alloc_array(p->n_variables, sizeof *number);
    *part = (gbsi_hard_part){.factors = p->factors,
                             .arity = p->arity,
                             .factor = factor,
                             .n_factors = n,
                             .variable = r->member + first,
                             .n_variables = r->member_start[component + (size_t)1] - first,
                             .number = number};
    GBSI_PASS(GBSI_HAVE(err, "start", factor, number));
    for (size_t i = 0; i < n; ++i) {
        factor[i] = p->hard[r->hard[start + i]];
    }
    return GBS_OK;
}

void gbsi_repair_free_searches(gbsi_repair *repair)
{
    for (uint32_t c = 0; repair->learned != NULL && c < repair->n_components; ++c) {
        gbsi_satisfier_free(repair->learned[c].satisfier);
        gbsi_parity_free(repair->learned[c].parity);
        GBSI_FREE((void *)repair->learned[c].part.factor, repair->learned[c].part.number);
    }
    gbsi_free(repair->learned);
}

/* Solves the equations of a component's hard parities, once for all chains. A chain keeps the
 * states of its free variables, and takes the states that follow from them.
 * @param result in and out: GBSI_REPAIRED if the component has no other hard factors;
 * GBSI_NO_STATE if the parities contradict one another; else as before. */
static gbs_status solve_parities(gbsi_repair *r, gbsi_repair_learned *own, uint32_t component,
                                 uint32_t *x, gbsi_repaired *result, gbs_error *err)
{
    if (!own->eliminated) {
        GBSI_PASS(take_part(r, component, &own->part, err));
        const gbs_status status =
            gbsi_parity_new(&own->part, r->watch, ELIMINATION_LIMIT, &own->parity, err);
        if (status != GBS_ERR_LIMIT) { /* without memory for the rows, the search decides */
            GBSI_PASS(status);
        }
        own->eliminated = true;
    }
    const gbsi_parity *p = own->parity;
    if (p == NULL || (p->contradicts == GBSI_NONE && !p->alone)) {
        return GBS_OK;
    }
    *result = GBSI_NO_STATE;
    if (p->contradicts != GBSI_NONE) {
        return GBS_OK;
    }
    uint64_t *bits = gbsi_alloc_array_zero(p->words, sizeof *bits);
    GBSI_PASS(GBSI_HAVE(err, "start", bits));
    for (uint32_t i = 0; i < p->n_columns; ++i) {
        bits[i / 64] |= (uint64_t)x[own->part.variable[i]] << (i % 64);
    }
    gbsi_parity_solve(p, true, bits);
    for (uint32_t i = 0; i < p->n_columns; ++i) {
        x[own->part.variable[i]] = gbsi_bit(bits, i);
    }
    gbsi_free(bits);
    (void)gbsi_watch_spend(r->watch, (uint64_t)p->rank * p->words);
    *result = GBSI_REPAIRED;
    return GBS_OK;
}

static gbsi_repaired repaired(gbsi_satisfied result)
{
    return result == GBSI_SATISFIED      ? GBSI_REPAIRED
           : result == GBSI_CONTRADICTED ? GBSI_NO_STATE
                                         : GBSI_UNREPAIRED;
}

/* Runs the search in a component up to a number of operations, and goes on where it ended. */
static gbs_status search_up_to(gbsi_repair *r, gbsi_repair_learned *own, uint32_t component,
                               uint64_t limit, gbs_error *err)
{
    gbsi_satisfied result = GBSI_UNDECIDED;
    limit += PER_ENTRY * gbsi_repair_entries(r, component);
    if (own->satisfier == NULL) {
        GBSI_PASS(gbsi_satisfier_new(&own->part, r->watch, limit, &own->satisfier, &result, err));
    } else {
        GBSI_PASS(gbsi_satisfier_continue(own->satisfier, limit, &result, err));
    }
    own->draw_limit = DRAW_LIMIT + 2 * gbsi_satisfier_spent(own->satisfier);
    own->result = repaired(result);
    return GBS_OK;
}

/* Runs the first part of the search once for all chains. */
static gbs_status search_first(gbsi_repair *r, gbsi_repair_learned *own, uint32_t component,
                               gbs_error *err)
{
    if (own->satisfier == NULL) {
        GBSI_PASS(search_up_to(r, own, component, FIRST_LIMIT, err));
        own->first = own->result;
    }
    return GBS_OK;
}

gbs_status gbsi_repair_learn(gbsi_repair *repair, uint32_t chain, uint32_t component, uint32_t *x,
                             uint64_t *n_repairs, gbsi_repaired *result, gbs_error *err)
{
    if (repair->learned == NULL) {
        repair->learned = gbsi_alloc_array_zero(repair->n_components, sizeof *repair->learned);
        GBSI_PASS(GBSI_HAVE(err, "start", repair->learned));
    }
    gbsi_repair_learned *own = &repair->learned[component];
    *result = GBSI_UNREPAIRED;
    GBSI_PASS(solve_parities(repair, own, component, x, result, err));
    if (*result != GBSI_UNREPAIRED || gbsi_watch_stopped(repair->watch)) {
        return GBS_OK;
    }
    GBSI_PASS(search_first(repair, own, component, err));
    if (own->first == GBSI_UNREPAIRED) {
        /* whether a chain walks depends on the first part alone, not on chains before it */
        *result = gbsi_repair_long_walks(repair, chain, component, x, n_repairs);
        if (*result == GBSI_REPAIRED || gbsi_watch_stopped(repair->watch)) {
            return GBS_OK;
        }
        if (!own->extended) {
            own->extended = true;
            GBSI_PASS(search_up_to(repair, own, component, LAST_LIMIT, err));
        }
    }
    *result = own->result;
    if (own->result != GBSI_REPAIRED) {
        return GBS_OK;
    }
    bool found = false;
    const gbs_status status = gbsi_satisfier_draw(own->satisfier, own->draw_limit, x, &found, err);
    repair->repeats |= status == GBS_OK && !found;
    return status;
}

gbs_status gbsi_repair_contradiction(const gbsi_repair *repair, uint32_t component,
                                     gbsi_conflict_set *set, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_hard_part part = {0};
    GBSI_TRY(take_part(repair, component, &part, err));
    GBSI_TRY(gbsi_find_conflict_set(&part, repair->watch, CONFLICT_LIMIT, set, err));

cleanup:
    GBSI_FREE((void *)part.factor, part.number);
    return status;
}
