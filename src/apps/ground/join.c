/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the groundings of a formula that evidence does not decide, as a join. A clause is satisfied
 * if one of its literals is true. For a negative literal over a closed predicate, only groundings
 * that match true facts of that predicate are therefore examined. The join next takes the literal
 * with the fewest facts that match the bindings so far; an index of each argument finds these
 * facts. Variables that are in no negative literal over a closed predicate run over all their
 * constants. In a conjunction the positive literals over closed predicates are joined in this way.
 */
#include <math.h>

#include "base/memory.h"
#include "ground/grounding.h"

enum {
    MOST_LEAVES = 64
}; /* largest number of leaves that the join examines; further leaves exclude no groundings */

/* A join over the leaves of a formula. A leaf k whose truth value is decides[k] decides the
 * formula. */
typedef struct join {
    gbsi_grounding *g;
    uint32_t leaf[MOST_LEAVES];
    bool decides[MOST_LEAVES];
    uint32_t n_leaves;
    bool every; /* whether the formula is a conjunction that must hold; no grounding is then left
                   out */
    unsigned depth; /* depth of the search */
} join;

/* ---- indexes -------------------------------------------------------------------------------- */

static gbs_status index_argument(const gbsi_program *p, gbsi_predicate *q, uint32_t k,
                                 gbs_error *err)
{
    const uint32_t n = p->type[q->type[k]].n;
    uint32_t *start = gbsi_alloc_array_zero((size_t)n + 1, sizeof *start);
    uint32_t *fact = gbsi_alloc_array_zero(q->n_true, sizeof *fact);
    q->start[k] = start;
    q->fact[k] = fact;
    GBSI_PASS(GBSI_HAVE(err, "index of facts", start, fact));
    for (uint32_t i = 0; i < q->n_true; i++) {
        start[q->tuple[(size_t)i * q->n_arguments + k]]++;
    }
    for (uint32_t a = 1; a <= n; a++) { /* start[a] becomes the end of list a; facts are then put
                                           before the ends, the last facts first */
        start[a] += start[a - 1];
    }
    for (uint32_t i = q->n_true; i > 0; i--) {
        fact[--start[q->tuple[(size_t)(i - 1) * q->n_arguments + k]]] = i - 1;
    }
    return GBS_OK;
}

gbs_status gbsi_index_facts(gbsi_program *program, gbs_error *err)
{
    for (uint32_t id = 0; id < program->n_predicates; id++) {
        gbsi_predicate *q = &program->predicate[id];
        q->fact = gbsi_alloc_array_zero(q->n_arguments, sizeof *q->fact);
        q->start = gbsi_alloc_array_zero(q->n_arguments, sizeof *q->start);
        if (q->start == NULL || q->fact == NULL) {
            gbsi_free(q->start);
            q->start = NULL;
            return gbsi_no_memory(err, "index of facts", q->n_arguments * sizeof *q->start);
        }
        for (uint32_t k = 0; k < q->n_arguments; k++) {
            GBSI_PASS(index_argument(program, q, k, err));
        }
    }
    return GBS_OK;
}

/* ---- leaves --------------------------------------------------------------------------------- */

/* Finds the leaves of a disjunction or conjunction; negations are moved to the leaves. @param
 * negated whether the node is under an odd number of negations. */
static void find_leaves(join *j, uint32_t node, bool negated, bool conjunction)
{
    const gbsi_logic_node *n = &j->g->program.node[node];
    if (n->op == GBSI_LOGIC_NOT) {
        find_leaves(j, n->left, !negated, conjunction);
    } else if (n->op == ((negated != conjunction) ? GBSI_LOGIC_AND : GBSI_LOGIC_OR)) {
        find_leaves(j, n->left, negated, conjunction);
        find_leaves(j, n->right, negated, conjunction);
    } else if ((n->op == GBSI_LOGIC_ATOM || n->op == GBSI_LOGIC_EQUAL) &&
               j->n_leaves < MOST_LEAVES) {
        j->leaf[j->n_leaves] = node;
        j->decides[j->n_leaves++] =
            negated == conjunction; /* a leaf of a clause decides if it is true; under a negation,
                                       if it is false */
    }
}

/* @return whether all variables of a leaf are bound. Variables of quantifiers are never bound. */
static bool is_bound(const gbsi_grounding *g, const gbsi_logic_node *n)
{
    const uint32_t n_terms =
        n->op == GBSI_LOGIC_EQUAL ? 2 : g->program.predicate[n->predicate].n_arguments;
    for (uint32_t k = 0; k < n_terms; k++) {
        const int64_t term = g->program.term[n->first_term + k];
        if (term >= 0 && g->binding[term] == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

static bool is_decided(const join *j)
{
    const gbsi_grounding *g = j->g;
    uint64_t code = 0;
    for (uint32_t i = 0; i < j->n_leaves && !j->every; i++) {
        const gbsi_logic_node *n = &g->program.node[j->leaf[i]];
        if (!is_bound(g, n)) {
            continue;
        }
        if (n->op == GBSI_LOGIC_EQUAL) {
            const int64_t *term = g->program.term + n->first_term;
            const uint32_t a = term[0] >= 0 ? g->binding[term[0]] : (uint32_t)~term[0];
            const uint32_t b = term[1] >= 0 ? g->binding[term[1]] : (uint32_t)~term[1];
            if ((a == b) == j->decides[i]) {
                return true;
            }
            continue;
        }
        const uint32_t value = gbsi_atom_value(g, n, &code);
        if (value == (j->decides[i] ? GBSI_ATOM_TRUE : GBSI_ATOM_FALSE)) {
            return true;
        }
    }
    return false;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* Finds facts that may match an atom: the shortest list of the index over its bound arguments.
 * @return the number of these facts. @param fact out: numbers of the facts, or NULL if they are 0,
 * 1, ... */
static uint32_t candidates(const gbsi_grounding *g, const gbsi_logic_node *n, const uint32_t **fact)
{
    const gbsi_predicate *q = &g->program.predicate[n->predicate];
    uint32_t least = q->n_true;
    *fact = NULL;
    for (uint32_t k = 0; k < q->n_arguments; k++) {
        const int64_t term = g->program.term[n->first_term + k];
        const uint32_t a = term < 0 ? (uint32_t)~term : g->binding[term];
        if (a != UINT32_MAX && q->start[k][a + 1] - q->start[k][a] < least) {
            least = q->start[k][a + 1] - q->start[k][a];
            *fact = q->fact[k] + q->start[k][a];
        }
    }
    return least;
}

static gbs_status search(join *j, gbs_error *err);

/* Continues the search after one of n choices was made. */
static gbs_status descend(join *j, uint32_t choice, uint32_t n, gbs_error *err)
{
    j->g->within = j->depth == 0 ? (double)choice / n : j->g->within;
    j->depth++;
    const gbs_status status = search(j, err);
    j->depth--;
    return status;
}

/* Binds the variables of an atom to the constants of a fact if the two agree, and continues the
 * search. */
static gbs_status try_fact(join *j, const gbsi_logic_node *n, const uint32_t *tuple,
                           uint32_t choice, uint32_t n_choices, gbs_error *err)
{
    gbsi_grounding *g = j->g;
    const uint32_t n_arguments = g->program.predicate[n->predicate].n_arguments;
    uint32_t bound = 0;
    bool fits = true;
    gbs_status status = GBS_OK;
    for (uint32_t k = 0; k < n_arguments && fits; k++) {
        const int64_t term = g->program.term[n->first_term + k];
        if (term >= 0 && g->binding[term] == UINT32_MAX) {
            g->binding[term] = tuple[k];
            bound |= UINT32_C(1) << term;
        } else {
            fits = tuple[k] == (term < 0 ? (uint32_t)~term : g->binding[term]);
        }
    }
    if (fits) {
        status = descend(j, choice, n_choices, err);
    }
    for (uint32_t v = 0; v < g->formula->n_variables; v++) {
        if ((bound >> v & 1) != 0) {
            g->binding[v] = UINT32_MAX;
        }
    }
    return status;
}

/* Grounds the formula; every variable is bound. */
static gbs_status ground_one(join *j, gbs_error *err)
{
    gbsi_grounding *g = j->g;
    size_t root = 0;
    g->n_residues = 0;
    GBSI_PASS(gbsi_residue_of(g, g->formula->root, false, &root, err));
    for (uint32_t v = 0; v < g->formula->n_variables; v++) {
        if ((g->formula->bound >> v & 1) != 0) {
            g->binding[v] = UINT32_MAX;
        }
    }
    g->report.n_groundings += g->residue[root].op > GBSI_RESIDUE_TRUE;
    return gbsi_factor_of(g, root, err);
}

/* @return the free variable with the fewest constants; UINT32_MAX if no variable is free. */
static uint32_t next_variable(const gbsi_grounding *g)
{
    const gbsi_logic_formula *f = g->formula;
    uint32_t best = UINT32_MAX;
    for (uint32_t v = 0; v < f->n_variables; v++) {
        if ((f->bound >> v & 1) == 0 && g->binding[v] == UINT32_MAX &&
            (best == UINT32_MAX ||
             g->program.type[f->type[v]].n < g->program.type[f->type[best]].n)) {
            best = v;
        }
    }
    return best;
}

/* @return the literal over a closed predicate that has free variables and the fewest matching
 * facts. */
static const gbsi_logic_node *next_literal(const join *j, uint32_t *n_facts, const uint32_t **fact)
{
    const gbsi_grounding *g = j->g;
    const gbsi_logic_node *best = NULL;
    for (uint32_t i = 0; i < j->n_leaves && !j->every; i++) {
        const gbsi_logic_node *n = &g->program.node[j->leaf[i]];
        const uint32_t *own = NULL;
        if (j->decides[i] || n->op != GBSI_LOGIC_ATOM || g->program.predicate[n->predicate].open ||
            is_bound(g, n)) {
            continue;
        }
        const uint32_t n_own = candidates(g, n, &own);
        if (best == NULL || n_own < *n_facts) {
            best = n;
            *n_facts = n_own;
            *fact = own;
        }
    }
    return best;
}

static gbs_status search(join *j, gbs_error *err)
{
    gbsi_grounding *g = j->g;
    const uint32_t *fact = NULL;
    uint32_t n_facts = 0;
    if (gbsi_watch_spend(&g->watch, 16)) {
        return gbsi_watch_fail(err, "grounding");
    }
    if (is_decided(j)) {
        return GBS_OK;
    }
    const gbsi_logic_node *n = next_literal(j, &n_facts, &fact);
    for (uint32_t i = 0; i < n_facts; i++) {
        const gbsi_predicate *q = &g->program.predicate[n->predicate];
        GBSI_PASS(gbsi_watch_spend(&g->watch, 4) ? gbsi_watch_fail(err, "grounding") : GBS_OK);
        GBSI_PASS(try_fact(j, n, q->tuple + (size_t)(fact == NULL ? i : fact[i]) * q->n_arguments,
                           i, n_facts, err));
    }
    if (n != NULL) {
        return GBS_OK;
    }
    const uint32_t v = next_variable(g);
    if (v == UINT32_MAX) {
        return ground_one(j, err);
    }
    const uint32_t n_constants = g->program.type[g->formula->type[v]].n;
    for (uint32_t a = 0; a < n_constants; a++) {
        g->binding[v] = a;
        GBSI_PASS(descend(j, a, n_constants, err));
    }
    g->binding[v] = UINT32_MAX;
    return GBS_OK;
}

gbs_status gbsi_ground_formula(gbsi_grounding *g, const gbsi_logic_formula *formula, gbs_error *err)
{
    join j = {.g = g};
    const uint32_t *fact = NULL;
    uint32_t n_facts = 0;
    double n = 1.0;
    uint32_t root = formula->root;
    bool negated = false;
    while (g->program.node[root].op == GBSI_LOGIC_NOT) {
        root = g->program.node[root].left;
        negated = !negated;
    }
    const bool conjunction = g->program.node[root].op == (negated ? GBSI_LOGIC_OR : GBSI_LOGIC_AND);
    j.every = conjunction && isinf(formula->weight);
    find_leaves(&j, formula->root, false, conjunction);
    for (uint32_t v = 0; v < GBSI_GROUND_MOST_VARIABLES; v++) {
        g->binding[v] = UINT32_MAX;
        if (v < formula->n_variables && (formula->bound >> v & 1) == 0) {
            n *= g->program.type[formula->type[v]].n;
        }
    }
    g->formula = formula;
    g->within = 0.0;
    gbsi_factors_begin(g, next_literal(&j, &n_facts, &fact) == NULL ? n : 0.0);
    g->report.n_instances += n;
    return search(&j, err);
}
