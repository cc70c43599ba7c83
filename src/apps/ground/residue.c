/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the residue of a formula under a binding of its variables. Negations are moved to the
 * atoms, and parts that evidence decides are removed. */
#include "base/memory.h"
#include "ground/grounding.h"

static uint32_t constant_of(const gbsi_grounding *g, int64_t term)
{
    return term >= 0 ? g->binding[term] : (uint32_t)~term;
}

static void constants_of(const gbsi_grounding *g, const gbsi_logic_node *atom, uint32_t *constant)
{
    const uint32_t n = g->program.predicate[atom->predicate].n_arguments;
    for (uint32_t k = 0; k < n; k++) {
        constant[k] = constant_of(g, g->program.term[atom->first_term + k]);
    }
}

uint32_t gbsi_value_of(const gbsi_grounding *g, uint32_t predicate, const uint32_t *constant,
                       uint64_t *code)
{
    const gbsi_program *p = &g->program;
    const gbsi_predicate *q = &p->predicate[predicate];
    uint64_t at = 0;
    for (uint32_t k = 0; k < q->n_arguments; k++) {
        at = at * p->type[q->type[k]].n + constant[k];
    }
    *code = q->first + at;
    const uint32_t *value = gbsi_atoms_find(&g->atoms, *code);
    if (value != NULL) {
        return *value;
    }
    const bool other = q->one != GBSI_GROUND_NO_ONE &&
                       gbsi_atoms_find(&g->chosen, gbsi_choice_of(g, q, *code)) != NULL;
    return q->open && !other ? GBSI_ATOM_NEW : GBSI_ATOM_FALSE;
}

uint32_t gbsi_atom_value(const gbsi_grounding *g, const gbsi_logic_node *atom, uint64_t *code)
{
    uint32_t constant[GBSI_GROUND_MOST_ARGUMENTS];
    constants_of(g, atom, constant);
    return gbsi_value_of(g, atom->predicate, constant, code);
}

static gbs_status name_atom(gbsi_grounding *g, uint32_t predicate, const uint32_t *constant,
                            uint32_t variable, gbs_error *err)
{
    const gbsi_program *p = &g->program;
    const gbsi_predicate *q = &p->predicate[predicate];
    size_t n = 0;
    for (uint32_t k = 0; k <= q->n_arguments; k++) {
        const gbsi_token part =
            k == 0 ? q->name : p->type[q->type[k - 1]].constant[constant[k - 1]];
        GBSI_PASS(gbsi_reserve(&g->name, &g->name_capacity, n + part.n + 2, 1, "names", err));
        char *name = g->name;
        memcpy(name + n, part.at, part.n);
        n += part.n;
        name[n++] = k == 0 ? '(' : k < q->n_arguments ? ',' : ')';
        name[n] = 0;
    }
    return gbs_builder_name_variable(g->builder, variable, g->name, err);
}

gbs_status gbsi_variable_new(gbsi_grounding *g, uint32_t predicate, const uint32_t *constant,
                             uint64_t code, uint32_t *variable, gbs_error *err)
{
    const uint32_t two = 2;
    if (g->n_variables == UINT32_MAX / 2 - 1) { /* a literal is 2 v + sign, and must fit 32 bits */
        return gbsi_fail(err, GBS_ERR_LIMIT, "ground atoms: more than %u", g->n_variables);
    }
    GBSI_PASS(gbs_builder_add_variables(g->builder, 1, &two, variable, err));
    GBSI_PASS(name_atom(g, predicate, constant, *variable, err));
    GBSI_PASS(gbsi_atoms_add(&g->atoms, code, *variable, err));
    g->n_variables++;
    return GBS_OK;
}

static gbs_status add(gbsi_grounding *g, gbsi_residue residue, size_t *root, gbs_error *err)
{
    const gbs_status status =
        gbsi_reserve((void **)(void *)&g->residue, &g->residue_capacity, g->n_residues + 1,
                     sizeof *g->residue, "ground formula", err);
    if (status == GBS_OK) {
        residue.next = SIZE_MAX;
        *root = g->n_residues;
        g->residue[g->n_residues++] = residue;
    }
    return status;
}

static gbs_status add_constant(gbsi_grounding *g, bool holds, size_t *root, gbs_error *err)
{
    return add(g, (gbsi_residue){.op = holds ? GBSI_RESIDUE_TRUE : GBSI_RESIDUE_FALSE}, root, err);
}

static gbs_status atom_residue(gbsi_grounding *g, const gbsi_logic_node *atom, bool negated,
                               size_t *root, gbs_error *err)
{
    uint64_t code = 0;
    uint32_t constant[GBSI_GROUND_MOST_ARGUMENTS];
    constants_of(g, atom, constant);
    uint32_t value = gbsi_value_of(g, atom->predicate, constant, &code);
    if (value == GBSI_ATOM_TRUE || value == GBSI_ATOM_FALSE) {
        return add_constant(g, (value == GBSI_ATOM_TRUE) != negated, root, err);
    }
    if (value == GBSI_ATOM_NEW) {
        GBSI_PASS(gbsi_variable_new(g, atom->predicate, constant, code, &value, err));
    }
    return add(g, (gbsi_residue){.op = GBSI_RESIDUE_LITERAL, .literal = 2 * value + negated}, root,
               err);
}

/* Appends a part to a list. If the part is a list with the same operation, its children are
 * appended instead. @return whether the part is a constant that decides the list's value. */
static bool join(gbsi_grounding *g, size_t list, size_t part)
{
    gbsi_residue *of = &g->residue[list];
    const gbsi_residue_op op = g->residue[part].op;
    const bool any = of->op == GBSI_RESIDUE_OR;
    if (op == GBSI_RESIDUE_TRUE || op == GBSI_RESIDUE_FALSE) {
        return (op == GBSI_RESIDUE_TRUE) == any;
    }
    size_t first = op == of->op ? g->residue[part].child : part;
    size_t last = first;
    while (g->residue[last].next != SIZE_MAX) {
        last = g->residue[last].next;
    }
    g->residue[last].next = of->child;
    of->child = first;
    return false;
}

/* Simplifies a list: a list without parts becomes a constant, and a list of a single part becomes
 * that part. */
static void simplify(gbsi_grounding *g, size_t list, bool decided, size_t *root)
{
    gbsi_residue *of = &g->residue[list];
    const bool any = of->op == GBSI_RESIDUE_OR;
    *root = list;
    if (decided || of->child == SIZE_MAX) {
        of->op = decided == any ? GBSI_RESIDUE_TRUE : GBSI_RESIDUE_FALSE;
    } else if (g->residue[of->child].next == SIZE_MAX) {
        *root = of->child;
    }
}

/* Finds the residue of a conjunction or disjunction, or of a quantifier. The parts of a quantifier
 * are its body, once with each constant. */
static gbs_status list_residue(gbsi_grounding *g, uint32_t node, bool negated, size_t *root,
                               gbs_error *err)
{
    const gbsi_logic_node n = g->program.node[node];
    const bool quantified = n.op == GBSI_LOGIC_EXIST || n.op == GBSI_LOGIC_FORALL;
    const bool any = (n.op == GBSI_LOGIC_OR || n.op == GBSI_LOGIC_EXIST) != negated;
    const uint32_t n_parts = quantified ? g->program.type[g->formula->type[n.predicate]].n : 2;
    bool decided = false;
    size_t list = 0;
    GBSI_PASS(add(g,
                  (gbsi_residue){.op = any ? GBSI_RESIDUE_OR : GBSI_RESIDUE_AND, .child = SIZE_MAX},
                  &list, err));
    for (uint32_t k = 0; k < n_parts && !decided; k++) {
        size_t part = 0;
        if (quantified) {
            g->binding[n.predicate] = k;
        }
        if (gbsi_watch_spend(&g->watch, 4)) {
            return gbsi_watch_fail(err, "grounding");
        }
        GBSI_PASS(gbsi_residue_of(g, quantified || k == 0 ? n.left : n.right, negated, &part, err));
        decided = join(g, list, part);
    }
    simplify(g, list, decided, root);
    return GBS_OK;
}

/* Finds the residue of a <=> b, which is not (a xor b). */
static gbs_status iff_residue(gbsi_grounding *g, const gbsi_logic_node *n, bool negated,
                              size_t *root, gbs_error *err)
{
    const uint32_t left = n->left;
    const uint32_t right = n->right;
    size_t a = 0;
    size_t b = 0;
    GBSI_PASS(gbsi_residue_of(g, left, false, &a, err));
    if (g->residue[a].op <= GBSI_RESIDUE_TRUE) {
        return gbsi_residue_of(g, right, (g->residue[a].op == GBSI_RESIDUE_FALSE) != negated, root,
                               err);
    }
    GBSI_PASS(gbsi_residue_of(g, right, !negated, &b, err));
    if (g->residue[b].op <= GBSI_RESIDUE_TRUE) { /* a xor true is not a */
        return gbsi_residue_of(g, left, g->residue[b].op == GBSI_RESIDUE_TRUE, root, err);
    }
    g->residue[a].next = b;
    return add(g, (gbsi_residue){.op = GBSI_RESIDUE_XOR, .child = a}, root, err);
}

gbs_status gbsi_residue_of(gbsi_grounding *g, uint32_t node, bool negated, size_t *root,
                           gbs_error *err)
{
    const gbsi_logic_node n = g->program.node[node];
    switch (n.op) {
    case GBSI_LOGIC_ATOM:
        return atom_residue(g, &n, negated, root, err);
    case GBSI_LOGIC_EQUAL: {
        const int64_t *term = g->program.term + n.first_term;
        const bool equal = constant_of(g, term[0]) == constant_of(g, term[1]);
        return add_constant(g, equal != negated, root, err);
    }
    case GBSI_LOGIC_NOT:
        return gbsi_residue_of(g, n.left, !negated, root, err);
    case GBSI_LOGIC_IFF:
        return iff_residue(g, &n, negated, root, err);
    default:
        return list_residue(g, node, negated, root, err);
    }
}
