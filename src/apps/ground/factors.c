/* SPDX-License-Identifier: Apache-2.0 */
/* Makes factors from the residues of formulas. A clause, a conjunction and an exclusive or become
 * logical factors; any other residue becomes a table. Equal residues of one formula and weight
 * become one factor, whose feature is their number. Each new factor goes to the builder at once.
 * Whether an equal factor exists is looked up in the builder. A program may have 10^8 groundings,
 * and no copy of them is kept elsewhere. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ground/grounding.h"
#include "store/builder.h"

enum {
    MOST_TABLE = 16,              /* largest number of atoms of a formula that becomes a table */
    MOST_EXPECTED = 100 * 1000000 /* largest number of factors of one allocation */
};

/* ---- literals ------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Appends the literals of a list to g->literal. @return false if a part is not a literal. */
static gbs_status collect(gbsi_grounding *g, size_t root, bool *literals, gbs_error *err)
{
    const gbsi_residue *r = &g->residue[root];
    *literals = true;
    for (size_t at = r->op == GBSI_RESIDUE_LITERAL ? root : r->child; at != SIZE_MAX;
         at = r->op == GBSI_RESIDUE_LITERAL ? SIZE_MAX : g->residue[at].next) {
        if (g->residue[at].op != GBSI_RESIDUE_LITERAL) {
            *literals = false;
            break;
        }
        GBSI_PASS(gbsi_reserve((void **)(void *)&g->literal, &g->literal_capacity,
                               g->n_literals + 1, sizeof *g->literal, "ground formulas", err));
        g->literal[g->n_literals++] = g->residue[at].literal;
    }
    return GBS_OK;
}

/* Sorts a list of literals and removes repeats. @return false if the list holds a literal and its
 * negation. */
static bool unique(uint32_t *literal, uint32_t *n)
{
    uint32_t kept = 0;
    if (*n > 16) {
        qsort(literal, *n, sizeof *literal, by_number);
    }
    for (uint32_t i = 1; i < *n && *n <= 16; i++) { /* sort short lists by insertion */
        const uint32_t moved = literal[i];
        uint32_t at = i;
        for (; at > 0 && literal[at - 1] > moved; at--) {
            literal[at] = literal[at - 1];
        }
        literal[at] = moved;
    }
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

/* ---- one factor ----------------------------------------------------------------------------- */

/* Finds the number of the weight. Each binding of the variables marked '+' has its own weight. */
static gbs_status find_weight(gbsi_grounding *g, uint32_t *weight, gbs_error *err)
{
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
    GBSI_PASS(gbs_builder_add_weights(g->builder, 1, &f->weight, NULL, weight, err));
    return gbsi_atoms_add(&g->weights, code, *weight, err);
}

/* ---- equal factors -------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint32_t part)
{
    h = (h ^ part) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t hash_of(const gbsi_ground_factor *f, const uint32_t *literal)
{
    uint64_t h = mix((uint64_t)f->function, f->weight);
    for (uint32_t i = 0; i < f->n; i++) {
        h = mix(h, literal[i]);
    }
    h *= UINT64_C(0xBF58476D1CE4E5B9);
    return h ^ h >> 32;
}

static void free_slots(gbsi_grounding *g)
{
    GBSI_FREE(g->slot, g->tag);
    g->slot = NULL;
    g->tag = NULL;
    g->n_slots = 0;
    g->n_used = 0;
}

/* @return the logical factor that was given to the builder with this number. @param literal [n]
 * out: its literals. */
static gbsi_ground_factor recall(const gbsi_grounding *g, size_t factor, uint32_t *literal)
{
    const gbsi_factors *all = &g->builder->model.factors;
    const size_t begin = all->scope_start[factor];
    const gbsi_tied *tied = &g->builder->model.tied;
    const gbsi_ground_factor f = {
        .function = (gbs_logical_function)all->logical[all->aux[factor]].function,
        .n = (uint32_t)(all->scope_start[factor + 1] - begin),
        .weight = isinf(g->formula->weight) ? UINT32_MAX : tied->number[factor]};
    for (uint32_t i = 0; i < f.n; i++) {
        literal[i] = 2 * all->scope[begin + i] + (all->literal[begin + i] == 0);
    }
    return f;
}

/* @return seven bits of the hash that do not determine the position in the table, and one bit that
 * is always set. */
static uint8_t tag_of(uint64_t hash)
{
    return (uint8_t)(0x80 | hash >> 41);
}

/* @return the slot where the search for a hash begins. n_slots need not be a power of 2: 32 bits of
 * the hash are scaled to n_slots. */
static size_t first_slot(const gbsi_grounding *g, uint64_t hash)
{
    return (size_t)((hash & UINT32_MAX) * g->n_slots >> 32);
}

static size_t next_slot(const gbsi_grounding *g, size_t at)
{
    return at + 1 == g->n_slots ? 0 : at + 1;
}

/* @return the slot of an equal factor or, if there is none, an empty slot. @param scratch [f->n].
 */
static size_t slot_of(const gbsi_grounding *g, const gbsi_ground_factor *f, const uint32_t *literal,
                      uint64_t hash, uint32_t *scratch)
{
    const size_t *start = g->builder->model.factors.scope_start + g->first_factor;
    size_t at = first_slot(g, hash);
    for (; g->tag[at] != 0; at = next_slot(g, at)) {
        const size_t k = g->slot[at];
        if (g->tag[at] != tag_of(hash) || start[k + 1] - start[k] != f->n) {
            continue;
        }
        const gbsi_ground_factor o = recall(g, g->first_factor + k, scratch);
        if (o.function == f->function && o.weight == f->weight &&
            memcmp(scratch, literal, f->n * sizeof *literal) == 0) {
            break;
        }
    }
    return at;
}

static void put(gbsi_grounding *g, size_t at, uint64_t hash, size_t factor)
{
    g->tag[at] = tag_of(hash);
    g->slot[at] = (uint32_t)(factor - g->first_factor);
    g->n_used++;
}

/* Makes room for one more slot; at most 7 of 8 slots are in use.
 * @param scratch room for the longest factor. */
static gbs_status grow_slots(gbsi_grounding *g, uint32_t *scratch, gbs_error *err)
{
    const gbsi_factors *all = &g->builder->model.factors;
    size_t n = g->n_slots == 0 ? 64 : 2 * g->n_slots;
    if (g->n_used < g->n_slots / 8 * 7) {
        return GBS_OK;
    }
    if (g->n_used > 0 && (double)n < g->expected / 7.0 * 8.0) {
        n = (size_t)(g->expected / 7.0 * 8.0) + 64;
    }
    free_slots(g);
    g->slot = gbsi_alloc_array_zero(n, sizeof *g->slot);
    g->tag = gbsi_alloc_array_zero(n, sizeof *g->tag);
    GBSI_PASS(GBSI_HAVE(err, "ground formulas", g->slot, g->tag));
    g->n_slots = n;
    for (size_t factor = g->first_factor; factor < all->n_factors; factor++) {
        if (all->kind[factor] != GBS_FACTOR_LOGICAL) {
            continue;
        }
        if (gbsi_watch_spend(&g->watch, 16)) {
            return gbsi_watch_fail(err, "grounding");
        }
        const gbsi_ground_factor f = recall(g, factor, scratch);
        const uint64_t hash = hash_of(&f, scratch);
        size_t at = first_slot(g, hash);
        while (g->tag[at] != 0) {
            at = next_slot(g, at);
        }
        put(g, at, hash, factor);
    }
    return GBS_OK;
}

/* Counts one more grounding of a factor of the builder. */
static void count(gbsi_grounding *g, size_t factor)
{
    gbs_model *m = &g->builder->model;
    g->report.n_merged++;
    if (!isinf(g->formula->weight)) {
        m->tied.feature[factor] += 1.0;
        m->factors.weight[factor] = g->formula->weight * m->tied.feature[factor];
    }
}

/* Gives a factor to the builder. @param scope, state [f->n] scratch. */
static gbs_status give(gbsi_grounding *g, const gbsi_ground_factor *f, const uint32_t *literal,
                       uint32_t *scope, uint32_t *state, gbs_error *err)
{
    const size_t factor = g->builder->model.factors.n_factors;
    if (factor - g->first_factor >= UINT32_MAX - 1) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "ground formulas: more than %u of one formula",
                         UINT32_MAX - 1);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        scope[i] = literal[i] / 2;
        state[i] = 1 - (literal[i] & 1);
    }
    GBSI_PASS(gbs_builder_add_logical(g->builder, f->function, f->n, scope, state,
                                      g->formula->weight, err));
    if (f->weight != UINT32_MAX) {
        GBSI_PASS(gbs_builder_tie_factor(g->builder, factor, f->weight, 1.0, err));
    }
    g->report.n_factors++;
    return GBS_OK;
}

/* Adds factor f, whose literals are the last f->n entries of g->literal. The function removes these
 * entries from g->literal. */
static gbs_status add_factor(gbsi_grounding *g, gbsi_ground_factor f, size_t first, gbs_error *err)
{
    g->longest = f.n > g->longest ? f.n : g->longest;
    GBSI_PASS(find_weight(g, &f.weight, err));
    /* scratch arrays for the longest factor so far, after the literals */
    GBSI_PASS(gbsi_reserve((void **)(void *)&g->literal, &g->literal_capacity,
                           g->n_literals + 2 * (size_t)g->longest, sizeof *g->literal,
                           "ground formulas", err));
    const uint32_t *literal = g->literal + first;
    uint32_t *scratch = g->literal + g->n_literals;
    GBSI_PASS(grow_slots(g, scratch, err));
    const uint64_t hash = hash_of(&f, literal);
    const size_t at = slot_of(g, &f, literal, hash, scratch);
    if (g->tag[at] != 0) {
        count(g, g->first_factor + g->slot[at]);
    } else {
        const size_t factor = g->builder->model.factors.n_factors;
        GBSI_PASS(give(g, &f, literal, scratch, scratch + f.n, err));
        put(g, at, hash, factor);
    }
    g->n_literals = first;
    return GBS_OK;
}

/* Checks a grounding whose truth evidence decides: a formula that must hold must not be
 * violated. */
static gbs_status decided(gbsi_grounding *g, bool holds, gbs_error *err)
{
    if (!holds && isinf(g->formula->weight)) {
        return gbsi_text_fail(g->program.text, g->formula->place, err,
                              "found a formula that must hold but that the database violates, "
                              "expected facts that agree with it");
    }
    return GBS_OK;
}

/* ---- tables --------------------------------------------------------------------------------- */

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

/* Adds a table: exp(w [formula holds]) for every state of its atoms. */
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
    GBSI_PASS(GBSI_HAVE(err, "table of a formula", logw));
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

/* ---- any residue ---------------------------------------------------------------------------- */

/* Simplifies an exclusive or, so that only its last literal may be negated. @return whether a
 * factor is left. */
static bool parity(uint32_t *literal)
{
    const uint32_t odd = (literal[0] ^ literal[1]) & 1;
    const uint32_t a = literal[0] / 2;
    const uint32_t b = literal[1] / 2;
    literal[0] = 2 * (a < b ? a : b);
    literal[1] = 2 * (a < b ? b : a) + odd;
    return a != b;
}

/* Adds the factor of a literal, or of a list of literals. */
static gbs_status add_literals(gbsi_grounding *g, gbsi_residue_op op, size_t first, gbs_error *err)
{
    gbsi_ground_factor f = {.function = op == GBSI_RESIDUE_AND   ? GBS_LOGICAL_AND_CATEGORICAL
                                        : op == GBSI_RESIDUE_XOR ? GBS_LOGICAL_PARITY
                                                                 : GBS_LOGICAL_CLAUSE,
                            .n = (uint32_t)(g->n_literals - first)};
    uint32_t *literal = g->literal + first;
    bool left = true;
    bool value = op == GBSI_RESIDUE_OR; /* the value of a literal together with its negation */
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
    return add_factor(g, f, first, err);
}

gbs_status gbsi_factor_of(gbsi_grounding *g, size_t root, gbs_error *err)
{
    const gbsi_residue r = g->residue[root];
    const size_t first = g->n_literals;
    bool literals = false;
    if (r.op <= GBSI_RESIDUE_TRUE) {
        return decided(g, r.op == GBSI_RESIDUE_TRUE, err);
    }
    if (r.op == GBSI_RESIDUE_AND && isinf(g->formula->weight)) { /* each part must hold */
        for (size_t part = r.child; part != SIZE_MAX; part = g->residue[part].next) {
            GBSI_PASS(gbsi_factor_of(g, part, err));
        }
        return GBS_OK;
    }
    GBSI_PASS(collect(g, root, &literals, err));
    if (literals) {
        return add_literals(g, r.op, first, err);
    }
    g->n_literals = first;
    return add_table(g, root, err);
}

void gbsi_factors_begin(gbsi_grounding *g, double expected)
{
    g->expected = expected < MOST_EXPECTED ? expected : MOST_EXPECTED;
    free_slots(g);
    g->n_literals = 0;
    g->first_factor = g->builder->model.factors.n_factors;
    gbsi_atoms_clear(&g->weights);
}
