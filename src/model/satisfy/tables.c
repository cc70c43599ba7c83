/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with zeros. A table of few variables of two states becomes the clauses of all prime
 * implicates: unit propagation over these clauses removes every state without support. A table with
 * few zeros becomes one clause per zero. Other tables keep the list of their nonzero rows, and a
 * state is ruled out when no row with this state is left (generalised arc consistency). */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "satisfy/solver.h"

enum {
    MOST_PLACES = 6,  /* variables of a table that becomes prime implicates */
    MOST_CUBES = 729, /* 3^MOST_PLACES */
    FEW_ZEROS = 4,    /* a table with this number of nonzero entries per zero has few zeros */
    MOST_SCOPE = 64,  /* a table of more variables, with two or more states each, is impossible */
};

typedef struct table {
    uint32_t n;
    const double *entry;
    size_t n_entries, n_zeros;
    uint32_t variable[MOST_SCOPE]; /* numbers of the part */
    uint32_t arity[MOST_SCOPE];
} table;

static table read_table(const gbsi_satisfier *s, size_t factor)
{
    const gbsi_factors *f = s->part.factors;
    const uint32_t *scope = f->scope + f->scope_start[factor];
    const size_t start = f->table_start[f->aux[factor]];
    table t = {.n = 0, .entry = f->table + start};
    t.n_entries = f->table_start[f->aux[factor] + (size_t)1] - start;
    for (size_t i = 0; i < f->scope_start[factor + 1] - f->scope_start[factor]; ++i) {
        if (s->part.arity[scope[i]] > 1) { /* a variable of one state does not move the entry */
            t.variable[t.n] = s->part.number[scope[i]];
            t.arity[t.n++] = s->part.arity[scope[i]];
        }
    }
    for (size_t e = 0; e < t.n_entries; ++e) {
        t.n_zeros += t.entry[e] == -INFINITY;
    }
    return t;
}

/* ---- prime implicates ------------------------------------------------------------------------ */

static bool is_binary(const table *t)
{
    for (uint32_t i = 0; i < t->n; ++i) {
        if (t->arity[i] != 2) {
            return false;
        }
    }
    return t->n <= MOST_PLACES;
}

/* Adds the clause that forbids a cube: digit 2 of a cube means that the variable is not in it. */
static void forbid_cube(gbsi_satisfier *s, const table *t, uint32_t cube, uint32_t proof)
{
    uint32_t literal[MOST_PLACES];
    uint32_t n = 0;
    for (uint32_t i = t->n; i-- > 0; cube /= 3) {
        if (cube % 3 != 2) {
            literal[n++] = gbsi_literal(s, t->variable[i], cube % 3) ^ 1;
        }
    }
    gbsi_solver_clause(s, literal, n, proof);
}

/* A cube is forbidden if all its entries are zero. It is prime if no larger cube that contains it
 * is forbidden (Quine 1955, American Mathematical Monthly 62:627-631). */
static void add_primes(gbsi_satisfier *s, const table *t, uint32_t proof)
{
    uint8_t forbidden[MOST_CUBES] = {0};
    uint32_t n_cubes = 1;
    for (uint32_t i = 0; i < t->n; ++i) {
        n_cubes *= 3;
    }
    for (uint32_t cube = 0; cube < n_cubes; ++cube) {
        size_t entry = 0;
        uint32_t split = 0; /* 3^place of some digit 2 */
        uint32_t left = cube;
        for (uint32_t i = 0, power = 1; i < t->n; ++i, power *= 3, left /= 3) {
            split = left % 3 == 2 ? power : split;
            entry += (size_t)(left % 3 == 1) << i;
        }
        forbidden[cube] = split == 0 ? t->entry[entry] == -INFINITY
                                     : forbidden[cube - split] && forbidden[cube - 2 * split];
    }
    for (uint32_t cube = 0; cube < n_cubes; ++cube) {
        bool prime = forbidden[cube] != 0;
        for (uint32_t power = 1; prime && power < n_cubes; power *= 3) {
            const uint32_t digit = cube / power % 3;
            prime = digit == 2 || !forbidden[cube + (2 - digit) * power];
        }
        if (prime) {
            forbid_cube(s, t, cube, proof);
        }
    }
    (void)gbsi_solver_spend(s, n_cubes);
}

/* ---- zeros ----------------------------------------------------------------------------------- */

static void forbid_zeros(gbsi_satisfier *s, const table *t, uint32_t proof)
{
    uint32_t literal[MOST_SCOPE];
    for (size_t e = 0; e < t->n_entries && !gbsi_solver_spend(s, 1) && !s->failed; ++e) {
        size_t left = e;
        if (t->entry[e] == -INFINITY) {
            for (uint32_t i = t->n; i-- > 0; left /= t->arity[i]) {
                const uint32_t state = (uint32_t)(left % t->arity[i]);
                literal[i] = gbsi_literal(s, t->variable[i], state) ^ 1;
            }
            gbsi_solver_clause(s, literal, t->n, proof);
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool fits(const gbsi_rows *rows, const table *t)
{
    for (uint32_t i = 0; i < t->n; ++i) {
        if (rows->value_first[i + 1] - rows->value_first[i] != t->arity[i]) {
            return false;
        }
    }
    return rows->n_places == t->n;
}

static void list_rows(gbsi_rows *r, const table *t)
{
    size_t at = 0;
    for (size_t e = 0; e < t->n_entries; ++e) {
        size_t left = e;
        if (t->entry[e] == -INFINITY) {
            continue;
        }
        for (uint32_t i = t->n; i-- > 0; left /= t->arity[i]) {
            const uint32_t state = (uint32_t)(left % t->arity[i]);
            r->state[at * t->n + i] = (uint16_t)state;
            ++r->row_start[r->value_first[i] + state + 2];
        }
        ++at;
    }
    for (size_t v = 2; v < r->value_first[t->n] + 2; ++v) {
        r->row_start[v] += r->row_start[v - 1];
    }
    for (size_t row = 0; row < r->n_rows; ++row) {
        for (uint32_t i = 0; i < t->n; ++i) {
            r->row[r->row_start[r->value_first[i] + r->state[row * t->n + i] + 1]++] =
                (uint32_t)row;
        }
    }
}

/* Makes the rows of a table. @return their number, or GBSI_NONE if memory is used up. */
static uint32_t make_rows(gbsi_satisfier *s, const table *t)
{
    gbsi_rows r = {.n_places = t->n, .n_rows = t->n_entries - t->n_zeros};
    if (r.n_rows > UINT32_MAX / 2 || !gbsi_solver_room(s, &s->rows, 1, sizeof r)) {
        s->failed = true;
        return GBSI_NONE;
    }
    r.value_first = gbsi_alloc_array(t->n + (size_t)1, sizeof *r.value_first);
    size_t n_values = 0;
    for (uint32_t i = 0; i < t->n; ++i) {
        n_values += t->arity[i];
    }
    r.row_start = gbsi_alloc_array_zero(n_values + 2, sizeof *r.row_start);
    r.state = gbsi_alloc_array(r.n_rows * t->n, sizeof *r.state);
    r.row = gbsi_alloc_array(r.n_rows * t->n, sizeof *r.row);
    ((gbsi_rows *)s->rows.at)[s->rows.n++] = r;
    if (r.value_first == NULL || r.row_start == NULL || r.state == NULL || r.row == NULL) {
        s->failed = true;
        return GBSI_NONE;
    }
    r.value_first[0] = 0;
    for (uint32_t i = 0; i < t->n; ++i) {
        r.value_first[i + 1] = r.value_first[i] + t->arity[i];
    }
    list_rows(&r, t);
    (void)gbsi_solver_spend(s, t->n_entries);
    return (uint32_t)s->rows.n - 1;
}

void gbsi_solver_free_rows(gbsi_list *rows)
{
    for (size_t i = 0; i < rows->n; ++i) {
        gbsi_rows *r = &((gbsi_rows *)rows->at)[i];
        GBSI_FREE(r->state, r->value_first, r->row_start, r->row);
    }
    gbsi_free(rows->at);
}

/* Finds the rows of a table among the rows of earlier factors, or makes them. */
static uint32_t rows_of(gbsi_satisfier *s, const table *t, uint32_t number)
{
    const size_t n = s->part.factors->n_tables;
    if (s->rows_of == NULL) {
        s->rows_of = gbsi_alloc_array(n, sizeof *s->rows_of);
        if (s->rows_of == NULL) {
            s->failed = true;
            return GBSI_NONE;
        }
        memset(s->rows_of, 0xff, n * sizeof *s->rows_of);
    }
    const uint32_t known = s->rows_of[number];
    if (known == GBSI_NONE || !fits(&((const gbsi_rows *)s->rows.at)[known], t)) {
        s->rows_of[number] = make_rows(s, t);
    }
    return s->rows_of[number];
}

static void add_rows(gbsi_satisfier *s, const table *t, size_t factor, uint32_t proof)
{
    const uint32_t number = rows_of(s, t, s->part.factors->aux[factor]);
    if (number == GBSI_NONE) {
        return;
    }
    const gbsi_rows *r = &((const gbsi_rows *)s->rows.at)[number];
    const size_t n_values = r->value_first[r->n_places];
    const gbsi_constraint c = {.kind = GBSI_CONSTRAINT_ROWS,
                               .proof = proof,
                               .n = t->n,
                               .start = s->pool.n,
                               .rows = number,
                               .support = s->support.n};
    if (!gbsi_solver_room(s, &s->constraint, 1, sizeof c) ||
        !gbsi_solver_room(s, &s->support, n_values, sizeof(uint32_t)) ||
        !gbsi_solver_room(s, &s->pool, t->n, sizeof(uint32_t))) {
        return;
    }
    memset(gbsi_words_at(&s->support) + s->support.n, 0, n_values * sizeof(uint32_t));
    memcpy(gbsi_words_at(&s->pool) + s->pool.n, t->variable, t->n * sizeof *t->variable);
    s->support.n += n_values;
    s->pool.n += t->n;
    ((gbsi_constraint *)s->constraint.at)[s->constraint.n++] = c;
}

void gbsi_solver_table(gbsi_satisfier *s, size_t factor, uint32_t proof)
{
    const table t = read_table(s, factor);
    (void)gbsi_solver_spend(s, t.n_entries);
    if (t.n_zeros == t.n_entries) {
        gbsi_solver_contradict(s, proof);
    } else if (is_binary(&t)) {
        add_primes(s, &t, proof);
    } else if (t.n_zeros <= (t.n_entries - t.n_zeros) / FEW_ZEROS) {
        forbid_zeros(s, &t, proof);
    } else {
        add_rows(s, &t, factor, proof);
    }
}

/* ---- propagation ----------------------------------------------------------------------------- */

typedef struct view {
    const gbsi_rows *rows;
    const uint32_t *variable;
    uint32_t *support;
    uint32_t n;
} view;

static view view_of(const gbsi_satisfier *s, uint32_t constraint)
{
    const gbsi_constraint *c = &((const gbsi_constraint *)s->constraint.at)[constraint];
    return (view){&((const gbsi_rows *)s->rows.at)[c->rows], gbsi_words_at(&s->pool) + c->start,
                  gbsi_words_at(&s->support) + c->support, c->n};
}

static bool is_left(const gbsi_satisfier *s, const view *v, size_t row)
{
    const uint16_t *state = v->rows->state + row * v->n;
    for (uint32_t i = 0; i < v->n; ++i) {
        if (s->value[gbsi_literal(s, v->variable[i], state[i])] < 0) {
            return false;
        }
    }
    return true;
}

/* Returns whether a row with this value is left, and remembers it. */
static bool has_support(gbsi_satisfier *s, const view *v, size_t value)
{
    const size_t start = v->rows->row_start[value];
    const size_t n = v->rows->row_start[value + 1] - start;
    if (n == 0) {
        return false;
    }
    size_t k = v->support[value] < n ? v->support[value] : 0;
    size_t tried = 0;
    while (tried < n && !is_left(s, v, v->rows->row[start + k])) {
        k = k + 1 == n ? 0 : k + 1;
        ++tried;
    }
    v->support[value] = (uint32_t)k;
    (void)gbsi_solver_spend(s, (tried + 1) * 2);
    return tried < n;
}

bool gbsi_propagate_rows(gbsi_satisfier *s, uint32_t constraint)
{
    const view v = view_of(s, constraint);
    const gbsi_reason reason = {GBSI_BY_CONSTRAINT, constraint, 0};
    for (uint32_t i = 0; i < v.n; ++i) {
        const uint32_t k = gbsi_part_arity(s, v.variable[i]);
        for (uint32_t a = 0; a < k; ++a) {
            const uint32_t literal = gbsi_literal(s, v.variable[i], a);
            if (s->value[literal] >= 0 && !has_support(s, &v, v.rows->value_first[i] + a) &&
                !gbsi_solver_imply(s, literal ^ 1, reason)) {
                return false;
            }
        }
    }
    return true;
}

/* Returns the false literal of a row, outside `place`, that became false at the lowest level;
 * GBSI_NO_LITERAL if a marked literal already excludes the row. */
static uint32_t excluding(const gbsi_satisfier *s, const view *v, size_t row, uint32_t place,
                          uint32_t before)
{
    uint32_t best = GBSI_NO_LITERAL;
    for (uint32_t i = 0; i < v->n; ++i) {
        const uint32_t literal = gbsi_literal(s, v->variable[i], v->rows->state[row * v->n + i]);
        const uint32_t b = literal / 2;
        if (i == place || s->value[literal] >= 0 || s->position[b] >= before) {
            continue;
        }
        if (s->marked[literal]) {
            return GBSI_NO_LITERAL;
        }
        if (best == GBSI_NO_LITERAL || s->position[b] < s->position[best / 2]) {
            best = literal;
        }
    }
    assert(best != GBSI_NO_LITERAL); /* the row is excluded, or its value would have support */
    return best;
}

void gbsi_explain_rows(gbsi_satisfier *s, uint32_t constraint, uint32_t literal, uint32_t before)
{
    const view v = view_of(s, constraint);
    const uint32_t variable = s->variable[literal / 2];
    const bool single = s->first[variable + 1] - s->first[variable] == 1;
    /* the literal excludes this state */
    const uint32_t state = single ? literal % 2 : literal / 2 - s->first[variable];
    uint32_t place = 0;
    while (v.variable[place] != variable) {
        ++place;
    }
    const size_t value = v.rows->value_first[place] + state;
    for (size_t k = v.rows->row_start[value]; k < v.rows->row_start[value + 1]; ++k) {
        const uint32_t found = excluding(s, &v, v.rows->row[k], place, before);
        if (found != GBSI_NO_LITERAL && gbsi_solver_push(s, &s->reasons, found)) {
            s->marked[found] = 1;
        }
    }
    (void)gbsi_solver_spend(s, 2 * (v.rows->row_start[value + 1] - v.rows->row_start[value]));
    for (size_t k = 0; k < s->reasons.n; ++k) {
        s->marked[gbsi_words_at(&s->reasons)[k]] = 0;
    }
}
