/* SPDX-License-Identifier: Apache-2.0 */
/* Finds conditional tables that give no information about X. Such a table belongs to a variable
 * that has no evidence and is in no other table. Summed over the variable, its entries are always
 * 1. */
#include "base/memory.h"
#include "condition/prune.h"
#include "sensitivity/reduced.h"

typedef struct search {
    gbsi_reduced *reduced;
    uint32_t *uses; /* [user's variables] number of remaining factors with the variable */
    size_t *own;    /* [user's variables] conditional table of the variable; SIZE_MAX: none */
    uint32_t *stack;
    uint32_t n;
} search;

/* @return the variable whose conditional table a factor is; GBSI_NONE if the factor is not a
 * conditional table. */
static uint32_t child_of(const gbs_model *m, size_t factor)
{
    const gbsi_factors *f = &m->factors;
    if (gbsi_is_noisy(f->kind[factor])) {
        return gbsi_noisy_of(f, factor).child;
    }
    return m->directed && f->kind[factor] == GBS_FACTOR_TABLE &&
                   f->scope_start[factor] < f->scope_start[factor + 1]
               ? f->scope[f->scope_start[factor + 1] - 1]
               : GBSI_NONE;
}

/* @return whether the sum over the child is equal for all states of the parents. */
static bool has_one_sum(const gbs_model *m, size_t factor, uint32_t child)
{
    const gbsi_factors *f = &m->factors;
    double log_sum = 0.0;
    return gbsi_is_noisy(f->kind[factor]) ||
           gbsi_table_has_one_sum(f->table + f->table_start[f->aux[factor]],
                                  gbsi_factor_size(f, factor), m->arity[child], 1, NULL, &log_sum);
}

static bool is_barren(const search *s, uint32_t v)
{
    const gbsi_reduced *r = s->reduced;
    const bool observed = r->evidence != NULL && r->evidence->state[v] != GBSI_NONE;
    return !observed && !r->barren[v] && v != r->variable && s->uses[v] == 1 &&
           s->own[v] != SIZE_MAX && gbsi_log_likelihood(r->evidence, v) == NULL &&
           has_one_sum(r->user, s->own[v], v);
}

static void begin(search *s)
{
    const gbs_model *m = s->reduced->user;
    const gbsi_factors *f = &m->factors;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        s->own[v] = SIZE_MAX;
        s->stack[s->n++] = v;
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        const uint32_t child = child_of(m, i);
        if (child != GBSI_NONE) {
            s->own[child] = i;
        }
        for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
            ++s->uses[f->scope[k]];
        }
    }
}

/* Removes the table of v, and puts its parents on the stack. */
static void drop(search *s, uint32_t v)
{
    const gbsi_factors *f = &s->reduced->user->factors;
    const size_t factor = s->own[v];
    s->reduced->barren[v] = 1;
    s->reduced->dropped[factor] = 1;
    for (size_t k = f->scope_start[factor]; k < f->scope_start[factor + 1]; ++k) {
        const uint32_t u = f->scope[k];
        if (--s->uses[u] == 1) {
            s->stack[s->n++] = u; /* u enters the stack at most twice */
        }
    }
}

gbs_status gbsi_reduced_find_barren(gbsi_reduced *reduced, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = reduced->user->n_variables;
    search s = {.reduced = reduced};
    s.uses = gbsi_alloc_array_zero(n, sizeof *s.uses);
    s.own = gbsi_alloc_array(n, sizeof *s.own);
    s.stack = gbsi_alloc_array(2 * n, sizeof *s.stack);
    GBSI_TRY(GBSI_HAVE(err, "sensitivity", s.uses, s.own, s.stack));
    begin(&s);
    while (s.n > 0) {
        const uint32_t v = s.stack[--s.n];
        if (is_barren(&s, v)) {
            drop(&s, v);
        }
    }
cleanup:
    gbsi_free(s.uses);
    gbsi_free(s.own);
    gbsi_free(s.stack);
    return status;
}
