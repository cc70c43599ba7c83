/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nonzero entries of the cliques of a component, within a limit on the number of look-ups
 * [M51]. */
#include "sparse/sparse.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "trees/clique_tables.h"

#define FILTER      4096u /* most entries of a factor that is used as a filter */
#define TRIAL       8.0   /* after 1 / TRIAL of the allowed steps, the search may be given up */
#define LEAST_RATIO 1.5   /* least ratio of `behind` to `left` at which the search goes on */
#define LOOK        4095u /* number of rows between two checks of the memory, less 1 */

typedef struct making {
    gbsi_sparse *s;
    const gbsi_conditioned *model; /* model of the tree */
    gbsi_sparse_scratch scratch;
    uint32_t *owner;  /* [factors of the tree] clique to which each factor belongs */
    size_t *first_of; /* [variables + 1] start in `of` of the factors of each variable */
    size_t *of;       /* factors of each variable */
    uint32_t *seen; /* [factors of the tree] 1 + number of the last clique for which the factor was
                       considered as a filter */
    gbsi_trie *filter; /* filters of the current clique, which are projections of factors of other
                          cliques */
    size_t n_filters, filter_capacity;
    double *logs, *dense; /* [entries of the largest factor] scratch */
    uint8_t *alive;      /* flags for the rows and nodes of the current clique's children: 1 if some
                            entry of the clique uses the row or node */
    size_t *first_alive; /* [cliques] start of the flags of each child */
    size_t alive_capacity;
    uint64_t bytes, most_bytes; /* number of bytes that the rows and the search take, and limit on
                                   this number */
    double behind, left; /* behind: number of all entries of the finished cliques; left: number of
                            these entries that are in remaining rows */
    bool given_up;
} making;

/* ---- factors ------------------------------------------------------------------------------- */

/* Lists the variables that factor f shares with the current clique, sorted by their axes in the
 * clique. For each variable, writes its position in the factor's scope and its axis. @return the
 * number of these variables. */
static uint32_t sort_scope(const making *m, uint32_t clique, size_t f, uint32_t *position,
                           uint32_t *axis)
{
    const gbsi_clique *c = &m->s->tree->clique[clique];
    const gbsi_factors *factors = &m->model->factors;
    const size_t first = factors->scope_start[f];
    uint32_t n = 0;
    for (size_t i = first; i < factors->scope_start[f + 1]; ++i) {
        const uint32_t v = factors->scope[i];
        const uint32_t at = m->scratch.axis_of[v];
        if (at >= c->n_separator + c->n_own || m->s->tree->variable[c->first + at] != v) {
            continue;
        }
        uint32_t k = n++;
        for (; k > 0 && axis[k - 1] > at; --k) {
            axis[k] = axis[k - 1];
            position[k] = position[k - 1];
        }
        axis[k] = at;
        position[k] = (uint32_t)(i - first);
    }
    return n;
}

/* Writes to m->dense, for each joint state of n variables of factor f, the largest log-weight over
 * all states of the factor's other variables.
 * @param position [n] places of the n variables in the scope of f. @return the number of joint
 * states. */
static size_t project(const making *m, size_t f, uint32_t n, const uint32_t *position)
{
    const gbsi_factors *factors = &m->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const uint32_t n_scope = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
    size_t stride[GBSI_TREE_AXES] = {0};
    uint32_t x[GBSI_TREE_AXES] = {0};
    size_t n_entries = 0;
    size_t n_kept = 1;
    size_t at = 0;
    const double *logs = gbsi_factor_logs(m->model, f, m->logs, &n_entries);
    for (uint32_t k = n; k-- > 0;) {
        stride[position[k]] = n_kept;
        n_kept *= m->model->arity[scope[position[k]]];
    }
    for (size_t i = 0; i < n_kept; ++i) {
        m->dense[i] = -INFINITY;
    }
    for (size_t i = 0; i < n_entries; ++i) {
        m->dense[at] = logs[i] > m->dense[at] ? logs[i] : m->dense[at];
        for (uint32_t q = n_scope; q-- > 0;) {
            at += stride[q];
            if (++x[q] < m->model->arity[scope[q]]) {
                break;
            }
            at -= stride[q] * x[q];
            x[q] = 0;
        }
    }
    return n_kept;
}

/* Lists the nonzero entries of a dense table as rows. @param value NULL, or [size] out: log-weights
 * of the rows. */
static gbs_status make_rows(const double *dense, size_t size, uint32_t n_axes,
                            const uint32_t *arity, gbsi_trie *rows, double *value, gbs_error *err)
{
    uint32_t x[GBSI_TREE_AXES] = {0};
    uint32_t shared = 0; /* x agrees with the previous row on this number of first axes */
    GBSI_PASS(gbsi_trie_init(rows, n_axes, arity, err));
    for (size_t i = 0; i < size; ++i) {
        if (dense[i] > -INFINITY) {
            if (value != NULL) {
                value[rows->n] = dense[i];
            }
            GBSI_PASS(gbsi_trie_add(rows, x, shared, err));
            shared = n_axes;
        }
        for (uint32_t k = n_axes; k-- > 0;) {
            shared = k < shared ? k : shared;
            if (++x[k] < arity[k]) {
                break;
            }
            x[k] = 0;
        }
    }
    return GBS_OK;
}

static void arities_of(const making *m, size_t f, uint32_t n, const uint32_t *position,
                       uint32_t *arity)
{
    const gbsi_factors *factors = &m->model->factors;
    for (uint32_t k = 0; k < n; ++k) {
        arity[k] = m->model->arity[factors->scope[factors->scope_start[f] + position[k]]];
    }
}

static void set_axes(making *m, uint32_t clique)
{
    const gbsi_clique *c = &m->s->tree->clique[clique];
    for (uint32_t k = 0; k < c->n_separator + c->n_own; ++k) {
        m->scratch.axis_of[m->s->tree->variable[c->first + k]] = k;
    }
}

/* Makes the rows of the factors of clique i. */
static gbs_status make_factors(making *m, uint32_t i, gbs_error *err)
{
    const gbsi_tree *tree = m->s->tree;
    set_axes(m, i);
    for (size_t k = tree->factor_start[i]; k < tree->factor_start[i + (size_t)1]; ++k) {
        gbsi_sparse_factor *factor = &m->s->factor[k];
        uint32_t position[GBSI_TREE_AXES];
        uint32_t axis[GBSI_TREE_AXES];
        uint32_t arity[GBSI_TREE_AXES];
        const uint32_t n = sort_scope(m, i, tree->factor[k], position, axis);
        const size_t size = project(m, tree->factor[k], n, position);
        arities_of(m, tree->factor[k], n, position, arity);
        factor->axis = gbsi_alloc_array(n, sizeof *factor->axis);
        factor->value = gbsi_alloc_array(size, sizeof *factor->value);
        GBSI_PASS(GBSI_HAVE(err, "sparse tables", factor->axis, factor->value));
        memcpy(factor->axis, axis, n * sizeof *axis);
        GBSI_PASS(make_rows(m->dense, size, n, arity, &factor->rows, factor->value, err));
        m->s->impossible = m->s->impossible || factor->rows.n == 0;
        m->owner[k] = i;
        m->bytes += gbsi_trie_bytes(&factor->rows) + size * sizeof *factor->value;
        m->scratch.join.n_steps += size;
    }
    return GBS_OK;
}

/* Lists the factors of each variable. */
static void list_factors(making *m)
{
    const gbsi_factors *factors = &m->model->factors;
    const size_t n = m->s->tree->factor_start[m->s->tree->n_cliques];
    for (int deal = 0; deal < 2; ++deal) {
        for (size_t k = 0; k < n; ++k) {
            const size_t f = m->s->tree->factor[k];
            for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; ++i) {
                if (deal == 0) {
                    ++m->first_of[factors->scope[i] + (size_t)2];
                } else {
                    m->of[m->first_of[factors->scope[i] + (size_t)1]++] = k;
                }
            }
        }
        for (size_t v = 2; deal == 0 && v <= m->model->n_variables; ++v) {
            m->first_of[v] += m->first_of[v - 1];
        }
    }
}

/* ---- up ------------------------------------------------------------------------------------ */

/* Projects factor k, which belongs to another clique, onto the separator of clique i. If the
 * projection rules out a state, adds it as a filter. */
static gbs_status add_filter(making *m, uint32_t i, size_t k, gbs_error *err)
{
    const size_t f = m->s->tree->factor[k];
    uint32_t position[GBSI_TREE_AXES];
    uint32_t axis[GBSI_TREE_AXES];
    uint32_t arity[GBSI_TREE_AXES];
    void *filter = m->filter;
    const uint32_t n = sort_scope(m, i, f, position, axis);
    if (n < 2) {
        return GBS_OK;
    }
    const size_t size = project(m, f, n, position);
    arities_of(m, f, n, position, arity);
    m->scratch.join.n_steps += size;
    GBSI_PASS(gbsi_reserve(&filter, &m->filter_capacity, m->n_filters + 1, sizeof *m->filter,
                           "sparse tables", err));
    m->filter = filter;
    gbsi_trie *rows = &m->filter[m->n_filters++];
    *rows = (gbsi_trie){0};
    GBSI_PASS(make_rows(m->dense, size, n, arity, rows, NULL, err));
    if (rows->n < size) {
        GBSI_PASS(gbsi_join_add(&m->scratch.join, rows, axis, NULL, NULL, err));
    } else {
        gbsi_trie_free(&m->filter[--m->n_filters]);
    }
    return GBS_OK;
}

static bool is_filter(const making *m, uint32_t i, size_t k)
{
    const gbsi_trie *rows = &m->s->factor[k].rows;
    double size = 1.0;
    for (uint32_t a = 0; a < rows->n_axes; ++a) {
        size *= rows->level[a].arity;
    }
    const bool below = m->owner[k] <= i && m->owner[k] + m->s->tree->clique[i].size > i;
    return !below && rows->n_axes > 1 && rows->n < size && size <= FILTER;
}

static gbs_status add_filters(making *m, uint32_t i, gbs_error *err)
{
    const gbsi_clique *c = &m->s->tree->clique[i];
    for (uint32_t a = 0; a < c->n_separator; ++a) {
        const uint32_t v = m->s->tree->variable[c->first + a];
        for (size_t at = m->first_of[v]; at < m->first_of[v + (size_t)1]; ++at) {
            const size_t k = m->of[at];
            if (m->seen[k] != i + 1 && is_filter(m, i, k)) {
                m->seen[k] = i + 1;
                GBSI_PASS(add_filter(m, i, k, err));
            }
        }
    }
    return GBS_OK;
}

static void free_filters(making *m)
{
    while (m->n_filters > 0) {
        gbsi_trie_free(&m->filter[--m->n_filters]);
    }
}

/* Finds the rows of clique i: the states of its separator for which some state of its own variables
 * is possible. */
static gbs_status reduce_up(making *m, uint32_t i, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_separator = m->s->tree->clique[i].n_separator;
    gbsi_join *join = &m->scratch.join;
    gbsi_trie *rows = &m->s->rows[i];
    GBSI_TRY(gbsi_sparse_join_clique(m->s, i, NULL, &m->scratch, err));
    GBSI_TRY(gbsi_trie_init(rows, n_separator, join->end, err));
    GBSI_TRY(add_filters(m, i, err));
    GBSI_TRY(gbsi_join_begin(join, err));
    while (gbsi_join_next(join)) {
        GBSI_TRY(gbsi_trie_add(rows, join->x, join->changed, err));
        if (n_separator == 0) {
            break;
        }
        gbsi_join_leave(join, n_separator - 1);
        m->given_up = (rows->n & LOOK) == 0 && m->bytes + gbsi_trie_bytes(rows) > m->most_bytes;
        if (m->given_up) {
            break;
        }
    }
    m->bytes += gbsi_trie_bytes(rows);
    m->given_up = m->given_up || join->stopped || m->bytes > m->most_bytes;
    m->s->impossible = m->s->impossible || (rows->n == 0 && !m->given_up);

cleanup:
    free_filters(m);
    return status;
}

/* ---- down ---------------------------------------------------------------------------------- */

/* Allocates and clears the flags of the rows of clique i's children. @param n out: number of flags.
 */
static gbs_status take_marks(making *m, uint32_t i, size_t *n, gbs_error *err)
{
    const gbsi_tree *tree = m->s->tree;
    void *alive = m->alive;
    *n = 0;
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        m->first_alive[k - tree->child_start[i]] = *n;
        *n += gbsi_trie_most(&m->s->rows[tree->child[k]]);
    }
    m->bytes += *n > m->alive_capacity ? *n - m->alive_capacity : 0;
    GBSI_PASS(gbsi_reserve(&alive, &m->alive_capacity, *n, 1, "sparse tables", err));
    m->alive = alive;
    if (*n > 0) {
        memset(m->alive, 0, *n);
    }
    return GBS_OK;
}

/* Counts the nonzero entries of clique i, whose rows are final. Of the rows of its children, keeps
 * only those that some entry uses. */
static gbs_status reduce_down(making *m, uint32_t i, gbs_error *err)
{
    gbsi_sparse *s = m->s;
    const uint32_t *child = s->tree->child + s->tree->child_start[i];
    const uint32_t n_children = s->tree->child_start[i + (size_t)1] - s->tree->child_start[i];
    gbsi_join *join = &m->scratch.join;
    const uint64_t before = join->n_steps;
    uint64_t n_entries = 0;
    size_t n = 0;
    GBSI_PASS(take_marks(m, i, &n, err));
    GBSI_PASS(gbsi_sparse_join_clique(s, i, NULL, &m->scratch, err));
    GBSI_PASS(gbsi_sparse_join_own(s, i, NULL, &m->scratch, err));
    GBSI_PASS(gbsi_join_begin(join, err));
    while (gbsi_join_next(join)) {
        ++n_entries;
        for (uint32_t k = 0; k < n_children; ++k) {
            m->alive[m->first_alive[k] + join->node[m->scratch.row[k]]] = 1;
        }
    }
    for (uint32_t k = 0; k < n_children; ++k) {
        gbsi_trie_keep(&s->rows[child[k]], m->alive + m->first_alive[k]);
    }
    s->n_entries_of[i] = n_entries;
    s->n_entries += (double)n_entries;
    s->n_steps += (double)(join->n_steps - before);
    m->given_up = join->stopped || m->bytes > m->most_bytes;
    return GBS_OK;
}

/* ---- the whole search ----------------------------------------------------------------------- */

static void making_free(making *m)
{
    free_filters(m);
    gbsi_sparse_scratch_free(&m->scratch);
    GBSI_FREE(m->owner, m->first_of, m->of, m->seen, m->filter, m->logs, m->dense, m->alive,
              m->first_alive);
}

static gbs_status take_making(making *m, gbs_error *err)
{
    const gbsi_tree *tree = m->s->tree;
    const size_t n = tree->factor_start[tree->n_cliques];
    size_t n_scope = 0;
    for (size_t k = 0; k < n; ++k) {
        const size_t *start = m->model->factors.scope_start + tree->factor[k];
        n_scope += start[1] - start[0];
    }
    m->owner = gbsi_alloc_array(n, sizeof *m->owner);
    m->first_of = gbsi_alloc_array_zero(m->model->n_variables + (size_t)2, sizeof *m->first_of);
    m->of = gbsi_alloc_array(n_scope, sizeof *m->of);
    m->seen = gbsi_alloc_array_zero(n, sizeof *m->seen);
    m->first_alive = gbsi_alloc_array(tree->n_cliques, sizeof *m->first_alive);
    m->logs = gbsi_alloc_array(tree->n_factor, sizeof *m->logs);
    m->dense = gbsi_alloc_array(tree->n_factor, sizeof *m->dense);
    GBSI_PASS(GBSI_HAVE(err, "sparse tables", m->owner, m->first_of, m->of, m->seen, m->first_alive,
                        m->logs, m->dense));
    m->bytes = (2 * (uint64_t)tree->n_factor + n_scope + m->model->n_variables) * sizeof(double) +
               n * (sizeof *m->s->factor + 2 * sizeof(uint32_t)) +
               tree->n_cliques * (sizeof *m->s->rows + 5 * sizeof(double));
    return GBS_OK;
}

/* Adds the entries of clique i to m->behind and m->left. Gives up the search if too many of the
 * finished entries are in remaining rows. */
static void count_behind(making *m, uint32_t i, const gbsi_sparse_effort *effort)
{
    const gbsi_clique *c = &m->s->tree->clique[i];
    m->behind += (double)c->n_rows * (double)c->n_columns;
    m->left += (double)m->s->rows[i].n * (double)c->n_columns;
    m->scratch.join.most_steps = effort->steps + effort->a_state * m->behind;
    m->given_up = m->given_up || ((double)m->scratch.join.n_steps > effort->steps / TRIAL &&
                                  effort->a_state > 0.0 && m->left > m->behind / LEAST_RATIO);
}

gbs_status gbsi_sparse_reduce(gbsi_sparse *s, const gbsi_sparse_effort *effort, bool *done,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    making m = {.s = s, .model = effort->model, .most_bytes = effort->bytes};
    const uint32_t n = s->tree->n_cliques;
    GBSI_TRY(take_making(&m, err));
    GBSI_TRY(gbsi_sparse_scratch_take(s, effort->watch, &m.scratch, err));
    m.scratch.join.most_steps = effort->steps;
    m.scratch.join.a_state = effort->a_state;
    for (uint32_t i = 0; i < n && !s->impossible && !m.given_up; ++i) {
        GBSI_TRY(make_factors(&m, i, err));
        m.given_up = m.bytes > m.most_bytes || gbsi_join_pay(&m.scratch.join);
    }
    list_factors(&m);
    for (uint32_t i = 0; i < n && !s->impossible && !m.given_up; ++i) {
        GBSI_TRY(reduce_up(&m, i, err));
        count_behind(&m, i, effort);
    }
    m.scratch.join.a_state = 0.0; /* all entries already count as finished */
    for (uint32_t i = n; i-- > 0 && !s->impossible && !m.given_up;) {
        GBSI_TRY(reduce_down(&m, i, err));
    }
    s->bytes = m.bytes;
    *done = !m.given_up;

cleanup:
    making_free(&m);
    return status;
}
