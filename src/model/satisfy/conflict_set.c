/* SPDX-License-Identifier: Apache-2.0 */
/* Finds factors that contradict one another: those of a proof, then fewer by deletion. */
#include <assert.h>

#include "base/memory.h"
#include "satisfy/parity.h"
#include "satisfy/solver.h"

/* ---- the factors of a proof ------------------------------------------------------------------ */

typedef struct walk {
    gbsi_satisfier *s;
    uint8_t *learnt, *root; /* 1 if the name was met */
    uint8_t *used;          /* [factors of the part] 1 if the proof uses the factor */
    gbsi_list stack;        /* names to visit */
} walk;

static void meet(walk *w, uint32_t name)
{
    const uint32_t number = name >> 2;
    if (name == GBSI_PROOF_NONE) {
        return;
    }
    if ((name & 3) == GBSI_PROOF_FACTOR) {
        w->used[number] = 1;
        return;
    }
    uint8_t *met = (name & 3) == GBSI_PROOF_LEARNT ? &w->learnt[number] : &w->root[number];
    if (*met == 0) {
        *met = 1;
        (void)gbsi_solver_push(w->s, &w->stack, name);
    }
}

static void visit(walk *w, uint32_t name)
{
    gbsi_satisfier *s = w->s;
    const uint32_t number = name >> 2;
    (void)gbsi_solver_spend(s, 4);
    if ((name & 3) == GBSI_PROOF_LEARNT) {
        const size_t *start = s->proof_start.at;
        const size_t end = number + (size_t)1 < s->proof_start.n ? start[number + 1] : s->proof.n;
        for (size_t k = start[number]; k < end; ++k) {
            meet(w, gbsi_words_at(&s->proof)[k]);
        }
        return;
    }
    uint32_t n = 0;
    uint32_t by = 0;
    const uint32_t literal = 2 * number + (s->value[2 * (size_t)number] < 0);
    const uint32_t *other = gbsi_solver_reason(s, literal, &n, &by);
    meet(w, by);
    for (uint32_t k = 0; k < n; ++k) {
        meet(w, (other[k] / 2) << 2 | GBSI_PROOF_ROOT);
    }
}

/* Marks the factors that the proof of a contradiction uses. @param used [factors of the part] */
static gbs_status read_proof(gbsi_satisfier *s, uint8_t *used, gbs_error *err)
{
    gbs_status status = GBS_OK;
    walk w = {.s = s, .used = used};
    assert(s->proof_start.n > 0);
    w.learnt = gbsi_alloc_zero(s->proof_start.n);
    w.root = gbsi_alloc_zero(s->n_booleans);
    GBSI_TRY(GBSI_HAVE(err, "search", w.learnt, w.root));
    meet(&w, (uint32_t)(s->proof_start.n - 1) << 2 | GBSI_PROOF_LEARNT);
    while (w.stack.n > 0) {
        visit(&w, gbsi_words_at(&w.stack)[--w.stack.n]);
    }
    GBSI_TRY(s->failed ? gbsi_no_memory(err, "search", w.stack.n * sizeof(uint32_t)) : GBS_OK);

cleanup:
    GBSI_FREE(w.learnt, w.root, w.stack.at);
    return status;
}

/* ---- deletion -------------------------------------------------------------------------------- */

typedef struct deletion {
    const gbsi_hard_part *whole;
    gbsi_watch *watch;
    uint64_t left;  /* operations that remain */
    size_t *factor; /* [n] the set */
    size_t n;
    size_t *tried;      /* scratch: the set without one factor */
    uint32_t *variable; /* scratch: variables of `tried` */
    uint8_t *used;      /* scratch */
} deletion;

/* Lists the variables of some factors. @return their number. */
static uint32_t list_variables(const deletion *d, size_t n)
{
    const gbsi_factors *f = d->whole->factors;
    uint32_t *number = d->whole->number;
    uint32_t found = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (size_t i = 0; i < n; ++i) {
            for (size_t e = f->scope_start[d->tried[i]]; e < f->scope_start[d->tried[i] + 1]; ++e) {
                if (pass == 0) {
                    number[f->scope[e]] = GBSI_NONE;
                } else if (number[f->scope[e]] == GBSI_NONE) {
                    number[f->scope[e]] = found;
                    d->variable[found++] = f->scope[e];
                }
            }
        }
    }
    return found;
}

/* Searches for a state that satisfies the first n factors of `tried`. If they contradict one
 * another, the factors of the proof become the set. */
static gbs_status try_factors(deletion *d, size_t n, gbsi_satisfied *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_satisfier *s = NULL;
    gbsi_hard_part part = *d->whole;
    part.factor = d->tried;
    part.n_factors = n;
    part.variable = d->variable;
    part.n_variables = list_variables(d, n);
    GBSI_TRY(gbsi_solver_make(&part, d->watch, true, &s, err));
    *result = gbsi_solver_search(s, d->left);
    if (*result == GBSI_CONTRADICTED) {
        memset(d->used, 0, n);
        GBSI_TRY(read_proof(s, d->used, err));
        d->n = 0;
        for (size_t i = 0; i < n; ++i) {
            if (d->used[i]) {
                d->factor[d->n++] = d->tried[i];
            }
        }
    }
    GBSI_TRY(s->failed ? gbsi_no_memory(err, "search", s->arena.n * sizeof(uint32_t)) : GBS_OK);
    d->left -= s->spent < d->left ? s->spent : d->left;

cleanup:
    gbsi_satisfier_free(s);
    return status;
}

/* Removes factors until each one is needed, or the operations are used up. The factors before place
 * i are needed: without them, a state satisfies the others. */
static gbs_status delete_factors(deletion *d, bool *minimal, gbs_error *err)
{
    size_t i = 0;
    while (i < d->n && d->left > 0 && !gbsi_watch_stopped(d->watch)) {
        gbsi_satisfied result = GBSI_UNDECIDED;
        for (size_t k = 0; k + 1 < d->n; ++k) {
            d->tried[k] = d->factor[k + (k >= i)];
        }
        GBSI_PASS(try_factors(d, d->n - 1, &result, err));
        if (result == GBSI_UNDECIDED) {
            return GBS_OK;
        }
        i += result == GBSI_SATISFIED;
    }
    *minimal = i == d->n;
    return GBS_OK;
}

/* Finds parities that contradict one another, by elimination. */
static gbs_status find_parities(const gbsi_hard_part *part, gbsi_watch *watch, uint64_t limit,
                                gbsi_conflict_set *set, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_parity *parity = NULL;
    GBSI_TRY(gbsi_parity_new(part, watch, limit, &parity, err));
    if (parity != NULL && parity->contradicts != GBSI_NONE) {
        GBSI_TRY(gbsi_parity_conflict(parity, set, err));
    }

cleanup:
    gbsi_parity_free(parity);
    return status;
}

gbs_status gbsi_find_conflict_set(const gbsi_hard_part *part, gbsi_watch *watch, uint64_t limit,
                                  gbsi_conflict_set *set, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_satisfied result = GBSI_UNDECIDED;
    deletion d = {.whole = part, .watch = watch, .left = limit};
    *set = (gbsi_conflict_set){0};
    d.factor = gbsi_alloc_array(part->n_factors, sizeof *d.factor);
    d.tried = gbsi_alloc_array(part->n_factors, sizeof *d.tried);
    d.variable = gbsi_alloc_array(part->n_variables, sizeof *d.variable);
    d.used = gbsi_alloc_array(part->n_factors, 1);
    GBSI_TRY(GBSI_HAVE(err, "search", d.factor, d.tried, d.variable, d.used));
    GBSI_TRY(find_parities(part, watch, limit, set, err));
    if (set->n > 0) {
        goto cleanup;
    }
    memcpy(d.tried, part->factor, part->n_factors * sizeof *d.tried);
    GBSI_TRY(try_factors(&d, part->n_factors, &result, err));
    if (result == GBSI_CONTRADICTED) {
        GBSI_TRY(delete_factors(&d, &set->minimal, err));
        set->factor = d.factor;
        set->n = d.n;
        d.factor = NULL;
    }

cleanup:
    GBSI_FREE(d.factor, d.tried, d.variable, d.used);
    return status;
}
