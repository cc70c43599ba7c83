/* SPDX-License-Identifier: Apache-2.0 */
/* Factors from what is left of formulas. A clause, a conjunction and an exclusive or are logical
 * factors, which stay as they are; anything else becomes a table. Equal ones of one formula and
 * weight are one factor, whose feature counts them. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ground/grounding.h"

enum { MOST_TABLE = 16 }; /* atoms of a formula that becomes a table */

/* ---- literals --------------------------------------------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Appends the literals of a list to g->literal. @return false: a part is no literal. */
static gbs_status collect(gbsi_grounding *g, size_t root, bool *literals, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_residue *r = &g->residue[root];
    *literals = true;
    for (size_t at = r->op == GBSI_RESIDUE_LITERAL ? root : r->child; at != SIZE_MAX;
         at = r->op == GBSI_RESIDUE_LITERAL ? SIZE_MAX : g->residue[at].next) {
        if (g->residue[at].op != GBSI_RESIDUE_LITERAL) {
            *literals = false;
            break;
        }
        GBSI_TRY(gbsi_reserve((void **)(void *)&g->literal, &g->literal_capacity, g->n_literals + 1,
                              sizeof *g->literal, "ground formulas", err));
        g->literal[g->n_literals++] = g->residue[at].literal;
    }

cleanup:
    return status;
}

/* Sorts literals of one list, each once. @return false: a literal and its negation are there. */
static bool unique(uint32_t *literal, uint32_t *n)
{
    uint32_t kept = 0;
    qsort(literal, *n, sizeof *literal, by_number);
    for (uint32_t i = 0; i < *n; i++) {
        if (kept > 0 && literal[kept - 1] == literal[i]) {
            continue;
        }
        if (kept > 0 && literal[kept - 1] / 2 == literal[i] / 2) {
            return false;
        }
        literal[kept++] = literal[i];
    }
    *n = kept;
    return true;
}

/* ---- one factor ------------------------------------------------------------------------------
 */

/* The number of the weight: one for each binding of the variables with a '+'. */
static gbs_status find_weight(gbsi_grounding *g, uint32_t *weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_logic_formula *f = g->formula;
    uint64_t code = 0;
    if (isinf(f->weight)) {
        *weight = UINT32_MAX;
        return GBS_OK;
    }
    for (uint32_t k = 0; k < f->n_variables; k++) {
        if ((f->plus >> k & 1) != 0) {
            code = code * g->program.type[f->type[k]].n + g->binding[k];
        }
    }
    const uint32_t *found = gbsi_atoms_find(&g->weights, code);
    if (found != NULL) {
        *weight = *found;
        return GBS_OK;
    }
    GBSI_TRY(gbs_builder_add_weights(g->builder, 1, &f->weight, NULL, weight, err));
    GBSI_TRY(gbsi_atoms_add(&g->weights, code, *weight, err));

cleanup:
    return status;
}

static uint64_t hash_of(const gbsi_ground_factor *f, const uint32_t *literal)
{
    uint64_t h = (uint64_t)f->function * 31 + f->weight;
    for (uint32_t i = 0; i < f->n; i++) {
        h = (h ^ literal[i]) * UINT64_C(0x100000001B3);
        h ^= h >> 29;
    }
    return h >> 1;
}

/* The literals stand last in g->literal; they leave it where there is such a factor already. */
static gbs_status add_factor(gbsi_grounding *g, gbsi_ground_factor f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(find_weight(g, &f.weight, err));
    const uint64_t hash = hash_of(&f, g->literal + f.first);
    uint32_t *head = gbsi_atoms_find(&g->same, hash);
    for (uint32_t i = head == NULL ? UINT32_MAX : *head; i != UINT32_MAX; i = g->factor[i].next) {
        gbsi_ground_factor *o = &g->factor[i];
        if (o->function == f.function && o->n == f.n && o->weight == f.weight &&
            memcmp(g->literal + o->first, g->literal + f.first, f.n * sizeof *g->literal) == 0) {
            o->count++;
            g->report.n_merged++;
            g->n_literals = f.first;
            return GBS_OK;
        }
    }
    if (g->n_factors == UINT32_MAX) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "ground formulas: more than %u", UINT32_MAX);
    }
    GBSI_TRY(gbsi_reserve((void **)(void *)&g->factor, &g->factor_capacity, g->n_factors + 1,
                          sizeof *g->factor, "ground formulas", err));
    f.count = 1;
    f.next = head == NULL ? UINT32_MAX : *head;
    if (head == NULL) {
        GBSI_TRY(gbsi_atoms_add(&g->same, hash, (uint32_t)g->n_factors, err));
    } else {
        *head = (uint32_t)g->n_factors;
    }
    g->factor[g->n_factors++] = f;

cleanup:
    return status;
}

/* Evidence decides the grounding. */
static gbs_status decided(gbsi_grounding *g, bool holds, gbs_error *err)
{
    if (!holds && isinf(g->formula->weight)) {
        return gbsi_text_fail(g->program.text, g->formula->place, err,
                              "found a formula that must hold but that the database violates, "
                              "expected facts that agree with it");
    }
    return GBS_OK;
}

/* ---- tables ----------------------------------------------------------------------------------
 */

static bool truth(const gbsi_grounding *g, size_t at, uint32_t n, const uint32_t *variable,
                  uint32_t state)
{
    const gbsi_residue *r = &g->residue[at];
    bool all = true;
    bool any = false;
    bool odd = false;
    if (r->op == GBSI_RESIDUE_LITERAL) {
        uint32_t k = 0;
        while (k < n && variable[k] != r->literal / 2) {
            k++;
        }
        return (state >> (n - 1 - k) & 1) != (r->literal & 1);
    }
    for (size_t part = r->child; part != SIZE_MAX; part = g->residue[part].next) {
        const bool holds = truth(g, part, n, variable, state);
        all = all && holds;
        any = any || holds;
        odd = odd != holds;
    }
    return r->op == GBSI_RESIDUE_AND ? all : r->op == GBSI_RESIDUE_OR ? any : odd;
}

static bool scope_of(const gbsi_grounding *g, size_t at, uint32_t *n, uint32_t *variable)
{
    const gbsi_residue *r = &g->residue[at];
    if (r->op == GBSI_RESIDUE_LITERAL) {
        for (uint32_t k = 0; k < *n; k++) {
            if (variable[k] == r->literal / 2) {
                return true;
            }
        }
        if (*n == MOST_TABLE) {
            return false;
        }
        variable[(*n)++] = r->literal / 2;
        return true;
    }
    for (size_t part = r->child; part != SIZE_MAX; part = g->residue[part].next) {
        if (!scope_of(g, part, n, variable)) {
            return false;
        }
    }
    return true;
}

/* exp(w [formula holds]) for every state of its atoms. */
static gbs_status add_table(gbsi_grounding *g, size_t root, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t variable[MOST_TABLE];
    uint32_t n = 0;
    uint32_t table = 0;
    uint32_t n_true = 0;
    const double weight = g->formula->weight;
    double *logw = NULL;
    if (!scope_of(g, root, &n, variable)) {
        return gbsi_text_unsupported(g->program.text, g->formula->place, err,
                                     "found a formula that is no clause, conjunction or <=> of "
                                     "two literals, over more than %d open atoms; expected it "
                                     "split into such formulas",
                                     MOST_TABLE);
    }
    const uint32_t n_states = UINT32_C(1) << n;
    logw = gbsi_alloc_array(n_states, sizeof *logw);
    if (logw == NULL) {
        return gbsi_no_memory(err, "table of a formula", n_states * sizeof *logw);
    }
    for (uint32_t x = 0; x < n_states; x++) {
        const bool holds = truth(g, root, n, variable, x);
        n_true += holds;
        logw[x] = isinf(weight) ? (holds ? 0.0 : -INFINITY) : (holds ? weight : 0.0);
    }
    if (n_true == 0 || n_true == n_states) {
        status = decided(g, n_true != 0, err);
        goto cleanup;
    }
    GBSI_TRY(gbs_builder_add_table(g->builder, n_states, logw, &table, err));
    GBSI_TRY(gbs_builder_add_table_factor(g->builder, n, variable, table, err));
    g->report.n_tables++;
    g->report.n_factors++;

cleanup:
    gbsi_free(logw);
    return status;
}

/* ---- any residue -----------------------------------------------------------------------------
 */

/* Exclusive or: only the last literal may be negated. @return whether a factor is left. */
static bool parity(uint32_t *literal)
{
    const uint32_t odd = (literal[0] ^ literal[1]) & 1;
    const uint32_t a = literal[0] / 2;
    const uint32_t b = literal[1] / 2;
    literal[0] = 2 * (a < b ? a : b);
    literal[1] = 2 * (a < b ? b : a) + odd;
    return a != b;
}

/* Of a literal, or a list of literals. */
static gbs_status add_literals(gbsi_grounding *g, gbsi_residue_op op, size_t first, gbs_error *err)
{
    gbsi_ground_factor f = {.function = op == GBSI_RESIDUE_AND   ? GBS_LOGICAL_AND_CATEGORICAL
                                        : op == GBSI_RESIDUE_XOR ? GBS_LOGICAL_PARITY
                                                                 : GBS_LOGICAL_CLAUSE,
                            .first = first,
                            .n = (uint32_t)(g->n_literals - first)};
    uint32_t *literal = g->literal + first;
    bool left = true;
    bool value = op == GBSI_RESIDUE_OR; /* where a literal meets its negation */
    if (op == GBSI_RESIDUE_XOR) {
        value = ((literal[0] ^ literal[1]) & 1) != 0; /* a xor not a, or a xor a */
        left = parity(literal);
    } else {
        left = unique(literal, &f.n);
    }
    if (!left) {
        g->n_literals = first;
        return decided(g, value, err);
    }
    g->n_literals = first + f.n;
    return add_factor(g, f, err);
}

gbs_status gbsi_factor_of(gbsi_grounding *g, size_t root, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_residue r = g->residue[root];
    const size_t first = g->n_literals;
    bool literals = false;
    if (r.op <= GBSI_RESIDUE_TRUE) {
        return decided(g, r.op == GBSI_RESIDUE_TRUE, err);
    }
    if (r.op == GBSI_RESIDUE_AND && isinf(g->formula->weight)) { /* each part must hold */
        for (size_t part = r.child; part != SIZE_MAX; part = g->residue[part].next) {
            GBSI_TRY(gbsi_factor_of(g, part, err));
        }
        return GBS_OK;
    }
    GBSI_TRY(collect(g, root, &literals, err));
    if (literals) {
        return add_literals(g, r.op, first, err);
    }
    g->n_literals = first;
    GBSI_TRY(add_table(g, root, err));

cleanup:
    return status;
}

/* ---- to the builder --------------------------------------------------------------------------
 */

static gbs_status give(gbsi_grounding *g, const gbsi_ground_factor *f, uint32_t *scope,
                       uint32_t *state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const double weight =
        isinf(g->formula->weight) ? g->formula->weight : g->formula->weight * (double)f->count;
    for (uint32_t i = 0; i < f->n; i++) {
        scope[i] = g->literal[f->first + i] / 2;
        state[i] = 1 - (g->literal[f->first + i] & 1);
    }
    GBSI_TRY(gbs_builder_add_logical(g->builder, f->function, f->n, scope, state, weight, err));
    if (f->weight != UINT32_MAX) {
        GBSI_TRY(gbs_builder_tie_factor(g->builder, (size_t)g->report.n_factors, f->weight,
                                        (double)f->count, err));
    }
    g->report.n_factors++;

cleanup:
    return status;
}

gbs_status gbsi_factors_end(gbsi_grounding *g, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t most = 1;
    uint32_t *scope = NULL;
    for (size_t i = 0; i < g->n_factors; i++) {
        most = g->factor[i].n > most ? g->factor[i].n : most;
    }
    scope = gbsi_alloc_array(most, 2 * sizeof *scope);
    if (scope == NULL) {
        return gbsi_no_memory(err, "ground formula", most * 2 * sizeof *scope);
    }
    for (size_t i = 0; i < g->n_factors; i++) {
        if (gbsi_watch_spend(&g->watch, 16 + g->factor[i].n)) {
            status = gbsi_watch_fail(err, "grounding");
            goto cleanup;
        }
        GBSI_TRY(give(g, &g->factor[i], scope, scope + most, err));
    }

cleanup:
    gbsi_free(scope);
    return status;
}
