/* SPDX-License-Identifier: Apache-2.0 */
/* Long factors become chains over their literals [M23] or causes [M56]:
 *     f(l_1 .. l_n, h) = sum over s of [s_1 = first(l_1)] prod_i [s_i = next(s_i-1, l_i)] g(s_n, h)
 * Only one term of this sum differs from zero. Noisy factors become the chain of Zhang & Poole
 * (1996) and Heckerman (1993). The links of this chain are the probabilities P(s_i = 0 | s_i-1,
 * u_i) = [s_i-1 = 0] q_i(u_i), where s_i = 1 says that one of the first i causes took effect. All
 * levels of one noisy-max share one chain with the links P(s_i <= k | s_i-1, u_i) = [s_i-1 <= k]
 * prod over levels l > k of q_i^l(u_i), where s_i is the highest level that one of the first i
 * causes reached. */
#include "trees/decompose.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

/* The model that is being built, and how many elements of its arrays are in use. */
typedef struct making {
    const gbsi_conditioned *from;
    gbsi_conditioned *to;
    size_t n_variables, n_scope; /* numbers of elements of the arrays that are in use */
    size_t room_arity, room_kind, room_start, room_scope, room_literal, room_weight, room_aux,
        room_table_start, room_table;
} making;

/* The information about earlier literals that a chain passes on. */
typedef enum memory_kind {
    REMEMBER_ALIKE,  /* the chain remembers whether none, some or all of the literals are true; of
                        these cases, those in which the factor has the same value share a state */
    REMEMBER_NUMBER, /* the chain remembers the number of true (or false) literals; all numbers from
                        `cap` on share one state */
    REMEMBER_CAUSE,  /* the chain remembers the highest level at which a cause took effect; this
                        level is random given the parents */
    REMEMBER_PARITY, /* the chain remembers whether the number of true literals, or of spins in
                        state 0, is odd */
    REMEMBER_NOTHING,
} memory_kind;

typedef struct reading {
    size_t factor;
    memory_kind kind;
    uint32_t n_levels; /* number of consecutive factors from `factor` on that share the chain; they
                          are levels of one noisy-max, or cardinalities of the same literals */
    uint32_t n_body;   /* number of free literals of the body, or number of parents; in the scope, a
                          free head comes after these variables */
    uint32_t none, some, all; /* with REMEMBER_ALIKE: number of the chain's state for none, for some
                                 and for all true literals */
    uint32_t n_states;        /* with REMEMBER_ALIKE: number of different states */
    uint32_t cap;             /* the largest number that a chain with REMEMBER_NUMBER keeps */
    bool count_false;         /* whether REMEMBER_NUMBER counts false literals */
    uint32_t full_link[2]; /* [state] for literals that are true in this state: number of the table
                              that all links between counts from 0 to `cap` share */
} reading;

static bool head_is_free(const gbsi_factors *f, size_t i)
{
    return f->kind[i] == GBS_FACTOR_LOGICAL
               ? f->logical[f->aux[i]].head == GBSI_HEAD_FREE
               : gbsi_is_noisy(f->kind[i]) && f->kind[i] != GBSI_FACTOR_EFFECT;
}

/* ---- how to read a factor ------------------------------------------------------------------ */

/* Returns the sum of the values of a chain's factors if k of the free literals of the body are
 * true. */
static double value_of(const gbsi_factors *f, const reading *r, uint32_t k, uint32_t head)
{
    double sum = 0.0;
    for (size_t i = r->factor; i < r->factor + r->n_levels; ++i) {
        const gbsi_logical *l = &f->logical[f->aux[i]];
        const bool h = l->head == GBSI_HEAD_FREE ? head != 0 : l->head == GBSI_HEAD_TRUE;
        sum += gbsi_logical_value(l, f->weight[i], l->n_body_true + k, h);
    }
    return sum;
}

static bool same_value(const gbsi_factors *f, const reading *r, uint32_t j, uint32_t k)
{
    return value_of(f, r, j, 0) == value_of(f, r, k, 0) &&
           value_of(f, r, j, 1) == value_of(f, r, k, 1);
}

/* Decides whether true or false literals of a cardinality are counted, and up to which number.
 * Counting ends when later literals cannot change the cardinality's value. A count of true literals
 * ends when `least` is reached or `most` is exceeded. A count of false literals ends when `least`
 * can no longer be reached, or when `most` can no longer be exceeded. The function chooses the
 * shorter count. Several cardinalities of the same literals are counted until all are decided. */
static void read_cardinality(const gbsi_factors *f, reading *r)
{
    uint32_t cap = 0;
    uint32_t cap_false = 0;
    r->n_levels = gbsi_count_cardinalities(f, r->factor);
    for (size_t i = r->factor; i < r->factor + r->n_levels; ++i) {
        const gbsi_logical *l = &f->logical[f->aux[i]];
        uint32_t least = 0;
        uint32_t most = 0;
        gbsi_logical_range(l, &least, &most);
        const uint32_t fixed = l->n_body_true + (l->head == GBSI_HEAD_TRUE);
        const uint32_t possible = fixed + r->n_body + (l->head == GBSI_HEAD_FREE);
        const bool at_least = l->function == GBS_LOGICAL_AT_LEAST;
        const uint32_t enough = at_least ? least : most + 1;
        const uint32_t enough_false = l->function == GBS_LOGICAL_AT_MOST
                                          ? possible - (most < possible ? most : possible)
                                          : possible + 1 - (least < possible ? least : possible);
        cap = enough > fixed + cap ? enough - fixed : cap;
        cap_false = enough_false > cap_false ? enough_false : cap_false;
    }
    r->count_false = cap_false < cap;
    r->cap = r->count_false ? cap_false : cap;
    r->kind = r->cap < (r->n_levels == 1 ? GBSI_MOST_COUNTS : GBSI_MOST_TABLE_COUNTS)
                  ? REMEMBER_NUMBER
                  : REMEMBER_NOTHING;
    r->n_levels = r->kind == REMEMBER_NUMBER ? r->n_levels : 1;
}

static void read_logical(const gbsi_factors *f, reading *r)
{
    bool alike = true;
    if (f->logical[f->aux[r->factor]].function == GBS_LOGICAL_PARITY) {
        r->kind = REMEMBER_PARITY;
        return;
    }
    if (gbsi_logical_is_cardinality(f->logical[f->aux[r->factor]].function)) {
        read_cardinality(f, r);
        return;
    }
    for (uint32_t k = 2; k < r->n_body; ++k) {
        alike = alike && same_value(f, r, 1, k);
    }
    if (!alike) {
        r->kind = r->n_body < GBSI_MOST_COUNTS ? REMEMBER_NUMBER : REMEMBER_NOTHING;
        r->cap = r->n_body;
        return;
    }
    r->kind = REMEMBER_ALIKE;
    r->some = 0;
    r->n_states = r->n_body > 1 ? 1 : 0;
    r->none = r->n_body > 1 && same_value(f, r, 0, 1) ? r->some : r->n_states++;
    r->all = r->n_body > 1 && same_value(f, r, r->n_body, 1) ? r->some : r->n_states++;
}

/* Counts the levels of the noisy-max that begins with factor i. The levels of a noisy-max are
 * consecutive factors over the same variables. The member `effect` of successive levels ascends if
 * the factors are rising, and descends if they are falling. */
static uint32_t count_levels(const gbsi_factors *f, size_t i)
{
    const size_t *start = f->scope_start;
    const size_t n = start[i + 1] - start[i];
    size_t k = i;
    if (f->kind[i] != GBSI_FACTOR_RISING && f->kind[i] != GBSI_FACTOR_FALLING) {
        return 1;
    }
    while (k + 1 < f->n_factors && f->kind[k + 1] == f->kind[i] &&
           start[k + 2] - start[k + 1] == n &&
           (f->weight[k + 1] > f->weight[k]) == (f->kind[i] == GBSI_FACTOR_RISING) &&
           f->weight[k + 1] != f->weight[k] &&
           memcmp(f->scope + start[k + 1], f->scope + start[i], n * sizeof *f->scope) == 0) {
        ++k;
    }
    return (uint32_t)(k - i + 1);
}

static reading read_factor(const gbsi_conditioned *model, size_t i, bool maximised)
{
    const gbsi_factors *f = &model->factors;
    reading r = {
        .factor = i, .n_levels = 1, .kind = REMEMBER_NOTHING, .full_link = {GBSI_NONE, GBSI_NONE}};
    uint64_t entries = 1;
    for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
        const uint64_t arity = model->arity[f->scope[k]];
        entries = entries > UINT64_MAX / arity ? UINT64_MAX : entries * arity;
    }
    r.n_body = (uint32_t)(f->scope_start[i + 1] - f->scope_start[i]) - head_is_free(f, i);
    if (gbsi_is_noisy(f->kind[i]) && entries > GBSI_LONG_NOISY && !maximised) {
        r.kind = REMEMBER_CAUSE;
        r.n_levels = count_levels(f, i);
        r.n_states = r.n_levels + 1;
    }
    if (entries <= GBSI_LONG_FACTOR || r.n_body == 0) {
        return r;
    }
    if (f->kind[i] == GBS_FACTOR_SPIN) {
        r.kind = REMEMBER_PARITY;
    } else if (f->kind[i] == GBS_FACTOR_LOGICAL) {
        read_logical(f, &r);
    }
    return r;
}

/* Returns the number of states of the chain variable after n >= 1 literals. */
static uint32_t n_states(const reading *r, uint32_t n)
{
    return r->kind == REMEMBER_PARITY   ? 2
           : r->kind == REMEMBER_NUMBER ? (n < r->cap ? n : r->cap) + 1
                                        : r->n_states;
}

/* Returns the state of the chain after one more literal is read. @param n number of literals that
 * were read before. */
static uint32_t next_state(const reading *r, uint32_t n, uint32_t state, bool literal)
{
    switch (r->kind) {
    case REMEMBER_PARITY:
        return n == 0 ? literal : state ^ (uint32_t)literal;
    case REMEMBER_NUMBER:
        state = (n == 0 ? 0 : state) + (literal != r->count_false);
        return state < r->cap ? state : r->cap;
    default:
        break;
    }
    if (n == 0 || state == (literal ? r->all : r->none)) {
        return literal ? r->all : r->none;
    }
    return r->some;
}

/* Returns a number of true literals for which the chain is in `state`; there may be several such
 * numbers. */
static uint32_t true_literals(const reading *r, uint32_t state)
{
    return r->kind == REMEMBER_NUMBER          ? (r->count_false ? r->n_body - state : state)
           : r->kind == REMEMBER_PARITY        ? state
           : r->n_body > 1 && state == r->some ? 1
           : state == r->all                   ? r->n_body
                                               : 0;
}

/* ---- making the model ---------------------------------------------------------------------- */

static gbs_status room(void *array, size_t *capacity, size_t n, size_t size, gbs_error *err)
{
    void *pointer = NULL;
    memcpy(&pointer, array, sizeof pointer);
    const gbs_status status = gbsi_reserve(&pointer, capacity, n, size, "long factors", err);
    memcpy(array, &pointer, sizeof pointer);
    return status;
}

static gbs_status add_variable(making *m, uint32_t arity, uint32_t *variable, gbs_error *err)
{
    if (m->n_variables >= GBSI_NONE / 2) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "exact inference: long factors would need more than %u variables",
                         GBSI_NONE / 2);
    }
    GBSI_PASS(room(&m->to->arity, &m->room_arity, m->n_variables + 1, sizeof(uint32_t), err));
    *variable = (uint32_t)m->n_variables;
    m->to->arity[m->n_variables++] = arity;
    return GBS_OK;
}

/* Adds a factor of the given kind, with a copy of `scope`. */
static gbs_status add_factor(making *m, uint8_t kind, size_t n, const uint32_t *scope,
                             const uint32_t *literal, double weight, uint32_t aux, gbs_error *err)
{
    gbsi_factors *f = &m->to->factors;
    const size_t i = f->n_factors;
    GBSI_PASS(room(&f->kind, &m->room_kind, i + 1, 1, err));
    GBSI_PASS(room(&f->weight, &m->room_weight, i + 1, sizeof *f->weight, err));
    GBSI_PASS(room(&f->aux, &m->room_aux, i + 1, sizeof *f->aux, err));
    GBSI_PASS(room(&f->scope_start, &m->room_start, i + 2, sizeof *f->scope_start, err));
    GBSI_PASS(room(&f->scope, &m->room_scope, m->n_scope + n, sizeof *f->scope, err));
    GBSI_PASS(room(&f->literal, &m->room_literal, m->n_scope + n, sizeof *f->literal, err));
    f->kind[i] = kind;
    f->weight[i] = weight;
    f->aux[i] = aux;
    f->scope_start[i] = m->n_scope;
    memcpy(f->scope + m->n_scope, scope, n * sizeof *scope);
    if (literal != NULL) {
        memcpy(f->literal + m->n_scope, literal, n * sizeof *literal);
    } else {
        memset(f->literal + m->n_scope, 0, n * sizeof *f->literal);
    }
    m->n_scope += n;
    f->scope_start[i + 1] = m->n_scope;
    ++f->n_factors;
    return GBS_OK;
}

/* Adds a table factor of one to three variables. @param table out: the entries of the factor, which
 * the caller must fill. */
static gbs_status add_table(making *m, uint32_t n, const uint32_t *scope, double **table,
                            gbs_error *err)
{
    gbsi_factors *f = &m->to->factors;
    size_t entries = 1;
    for (uint32_t k = 0; k < n; ++k) {
        entries *= m->to->arity[scope[k]];
    }
    const size_t at = f->table_start[f->n_tables];
    GBSI_PASS(
        room(&f->table_start, &m->room_table_start, f->n_tables + 2, sizeof *f->table_start, err));
    GBSI_PASS(room(&f->table, &m->room_table, at + entries, sizeof *f->table, err));
    GBSI_PASS(add_factor(m, GBS_FACTOR_TABLE, n, scope, NULL, 0.0, (uint32_t)f->n_tables, err));
    ++f->n_tables;
    f->table_start[f->n_tables] = at + entries;
    *table = f->table + at;
    return GBS_OK;
}

/* ---- chains -------------------------------------------------------------------------------- */

static bool is_true(const gbsi_factors *f, const reading *r, uint32_t k, uint32_t state)
{
    const size_t at = f->scope_start[r->factor] + k;
    return state == (f->kind[r->factor] == GBS_FACTOR_SPIN ? 0 : f->literal[at]);
}

/* Returns the entry of r->full_link that names the table of link k, or NULL if link k has a table
 * of its own. The links k > `cap` of variables with two states that are true in the same state
 * share a table. This is possible because the counts before and after such a link range from 0 to
 * `cap`. */
static uint32_t *full_link_of(const making *m, reading *r, uint32_t k, uint32_t v)
{
    const size_t at = m->from->factors.scope_start[r->factor] + k;
    return r->kind == REMEMBER_NUMBER && k > r->cap && m->to->arity[v] == 2
               ? &r->full_link[m->from->factors.literal[at]]
               : NULL;
}

/* Fills the table of the link of parent k. The axes are the states of the parent, of `next` and of
 * `before`, in this order. The table of the first link includes the leak. */
static void fill_causes(const gbsi_factors *f, const reading *r, const uint32_t *arity, uint32_t k,
                        double *t)
{
    const uint32_t n = r->n_levels + 1;
    const uint32_t n_before = k == 0 ? 1 : n;
    size_t at = 1; /* index of the parent's inhibition probabilities */
    const gbsi_noisy first = gbsi_noisy_of(f, r->factor);
    for (uint32_t i = 0; i < k; ++i) {
        at += arity[first.parent[i]];
    }
    for (uint32_t x = 0; x < arity[first.parent[k]]; ++x, t += n * n_before) {
        double log_below = 0.0; /* ln P(the cause reaches no level above `next`) */
        for (uint32_t next = n; next-- > 0;) {
            const double *log_q = next == 0 ? NULL : gbsi_noisy_of(f, r->factor + next - 1).log_q;
            const double log_none = next == 0 ? 0.0 : log_q[at + x] + (k == 0 ? log_q[0] : 0.0);
            const double log_here =
                next == 0 ? log_below : log_below + gbsi_noisy_log(log_none, true);
            for (uint32_t before = 0; before < n_before; ++before) {
                t[next * n_before + before] = before < next    ? log_here
                                              : before == next ? log_below
                                                               : -INFINITY;
            }
            log_below += log_none;
        }
    }
}

/* Returns whether a child's state is possible if `reached` is the highest level that any cause
 * reached. If no cause reached a level, `reached` is 0. */
static bool fits_level(const gbsi_factors *f, const reading *r, uint32_t reached, uint32_t child)
{
    bool fits = true;
    for (uint32_t level = 0; level < r->n_levels; ++level) {
        const gbsi_noisy noisy = gbsi_noisy_of(f, r->factor + level);
        const gbsi_noisy_part part = gbsi_noisy_part_of(noisy.effect, noisy.falling, child);
        fits &= part == GBSI_NOISY_NONE     ? reached <= level
                : part == GBSI_NOISY_EFFECT ? reached == level + 1
                                            : true;
    }
    return fits;
}

/* Adds the factor [next = next_state(before, literal k)]. The link of the first literal has no
 * variable `before`. */
static gbs_status add_link(making *m, reading *r, uint32_t k, uint32_t before, uint32_t next,
                           gbs_error *err)
{
    const gbsi_factors *f = &m->from->factors;
    const uint32_t v = f->scope[f->scope_start[r->factor] + k];
    const uint32_t scope[] = {v, next, before};
    const uint32_t n_before = k == 0 ? 1 : m->to->arity[before];
    uint32_t *full = full_link_of(m, r, k, v);
    double *t = NULL;
    if (full != NULL && *full != GBSI_NONE) {
        return add_factor(m, GBS_FACTOR_TABLE, 3, scope, NULL, 0.0, *full, err);
    }
    if (full != NULL) {
        *full = (uint32_t)m->to->factors.n_tables;
    }
    GBSI_PASS(add_table(m, k == 0 ? 2 : 3, scope, &t, err));
    if (r->kind == REMEMBER_CAUSE) {
        fill_causes(f, r, m->to->arity, k, t);
        return GBS_OK;
    }
    for (uint32_t x = 0; x < m->to->arity[v]; ++x) {
        for (uint32_t s = 0; s < m->to->arity[next]; ++s) {
            for (uint32_t b = 0; b < n_before; ++b) {
                *t++ = next_state(r, k, b, is_true(f, r, k, x)) == s ? 0.0 : -INFINITY;
            }
        }
    }
    return GBS_OK;
}

/* Adds the factor g(last state of the chain, head). */
static gbs_status add_value(making *m, const reading *r, uint32_t last, gbs_error *err)
{
    const gbsi_factors *f = &m->from->factors;
    const bool free_head = head_is_free(f, r->factor);
    const size_t end = f->scope_start[r->factor + 1];
    const uint32_t scope[] = {last, f->scope[end - 1]};
    const uint32_t n_head = free_head ? m->to->arity[scope[1]] : 1;
    double *t = NULL;
    GBSI_PASS(add_table(m, free_head ? 2 : 1, scope, &t, err));
    for (uint32_t s = 0; s < m->to->arity[last]; ++s) {
        for (uint32_t h = 0; h < n_head; ++h) {
            if (r->kind == REMEMBER_CAUSE) {
                const bool fits =
                    free_head ? fits_level(f, r, s, h) : s != 0; /* the effect is observed */
                *t++ = fits ? 0.0 : -INFINITY;
            } else if (f->kind[r->factor] == GBS_FACTOR_SPIN) {
                *t++ = s != 0 ? -f->weight[r->factor] : f->weight[r->factor];
            } else {
                const bool head = free_head && h == f->literal[end - 1];
                *t++ = value_of(f, r, true_literals(r, s), head);
            }
        }
    }
    return GBS_OK;
}

static gbs_status add_chain(making *m, reading *r, gbs_error *err)
{
    uint32_t before = GBSI_NONE;
    for (uint32_t k = 0; k < r->n_body; ++k) {
        uint32_t next = 0;
        GBSI_PASS(add_variable(m, n_states(r, k + 1), &next, err));
        GBSI_PASS(add_link(m, r, k, before, next, err));
        before = next;
    }
    return add_value(m, r, before, err);
}

static gbs_status copy_factor(making *m, size_t i, gbs_error *err)
{
    const gbsi_factors *f = &m->from->factors;
    const size_t first = f->scope_start[i];
    return add_factor(m, f->kind[i], f->scope_start[i + 1] - first, f->scope + first,
                      f->literal == NULL ? NULL : f->literal + first, f->weight[i], f->aux[i], err);
}

/* ---- whole models --------------------------------------------------------------------------- */

static gbs_status begin(making *m, gbs_error *err)
{
    const gbsi_factors *from = &m->from->factors;
    gbsi_factors *f = &m->to->factors;
    const size_t n_entries = from->table_start[from->n_tables];
    m->n_variables = m->from->n_variables;
    m->to->model = m->from->model;
    m->to->log_constant = m->from->log_constant;
    GBSI_PASS(room(&m->to->arity, &m->room_arity, m->n_variables, sizeof(uint32_t), err));
    GBSI_PASS(room(&f->scope_start, &m->room_start, 1, sizeof *f->scope_start, err));
    GBSI_PASS(room(&f->table_start, &m->room_table_start, from->n_tables + 1,
                   sizeof *f->table_start, err));
    GBSI_PASS(room(&f->table, &m->room_table, n_entries, sizeof *f->table, err));
    f->logical = gbsi_alloc_array(from->n_logical, sizeof *f->logical);
    GBSI_PASS(GBSI_HAVE(err, "long factors", f->logical));
    memcpy(m->to->arity, m->from->arity, m->n_variables * sizeof *m->to->arity);
    f->scope_start[0] = 0;
    memcpy(f->table_start, from->table_start, (from->n_tables + 1) * sizeof *f->table_start);
    if (n_entries > 0) {
        memcpy(f->table, from->table, n_entries * sizeof *f->table);
    }
    if (from->n_logical > 0) {
        memcpy(f->logical, from->logical, from->n_logical * sizeof *f->logical);
    }
    f->n_tables = from->n_tables;
    f->n_logical = from->n_logical;
    return GBS_OK;
}

static gbs_status end(making *m, gbs_error *err)
{
    gbsi_conditioned *to = m->to;
    to->n_variables = (uint32_t)m->n_variables;
    to->state_offset = gbsi_alloc_array_zero(m->n_variables + 1, sizeof *to->state_offset);
    GBSI_PASS(GBSI_HAVE(err, "long factors", to->state_offset));
    for (size_t v = 0; v < m->n_variables; ++v) {
        to->state_offset[v + 1] = to->state_offset[v] + to->arity[v];
    }
    return GBS_OK;
}

static bool any_long(const gbsi_conditioned *model, bool maximised)
{
    bool found = false;
    gbsi_watch *watch =
        gbsi_watch_current(); /* the caller, who prepares a run, checks whether the watch stopped */
    for (size_t i = 0; !found && i < model->factors.n_factors; ++i) {
        const uint8_t kind = model->factors.kind[i];
        (void)gbsi_watch_spend(watch, 16);
        found = (kind == GBS_FACTOR_SPIN || kind == GBS_FACTOR_LOGICAL || gbsi_is_noisy(kind)) &&
                read_factor(model, i, maximised).kind != REMEMBER_NOTHING;
    }
    return found;
}

gbs_status gbsi_decompose(const gbsi_conditioned *model, bool maximised, gbsi_conditioned **out,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    making m = {.from = model};
    *out = NULL;
    if (!any_long(model, maximised)) {
        return GBS_OK;
    }
    m.to = gbsi_alloc_zero(sizeof *m.to);
    GBSI_PASS(GBSI_HAVE(err, "long factors", m.to));
    GBSI_TRY(begin(&m, err));
    for (size_t i = 0; i < model->factors.n_factors; ++i) {
        reading r = read_factor(model, i, maximised);
        i += r.n_levels - 1;
        GBSI_TRY(r.kind == REMEMBER_NOTHING ? copy_factor(&m, r.factor, err)
                                            : add_chain(&m, &r, err));
    }
    GBSI_TRY(end(&m, err));
    *out = m.to;
    m.to = NULL;

cleanup:
    gbsi_conditioned_free(m.to);
    return status;
}
