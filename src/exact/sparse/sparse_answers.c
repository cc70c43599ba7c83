/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration over nonzero entries, in logarithms [M51]. Let v(e) be the sum of the log-weights of
 * a clique's factors and of its children's messages at entry e. The message of the clique has, for
 * each row r of the separator, m(r) = ln sum over the entries e of row r of exp(v(e)), minus the
 * largest such number of the clique. On the way down, an entry e of row r has the probability p(e)
 * = exp(v(e) - m(r)) p(r). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "reference/local.h"
#include "rng/philox.h"
#include "simd/math.h"
#include "sparse/sparse.h"

typedef struct answering {
    const gbsi_sparse *sparse;
    gbsi_sparse_scratch scratch;
    double *value;  /* [rows of all cliques] messages m(r); on the way down, the messages are
                       replaced by ln p(r) - m(r) */
    double *top;    /* [cliques] number that was subtracted from the message of each clique */
    double *mass;   /* [largest number of rows of the children of one clique] probabilities of these
                       rows */
    uint32_t *home; /* [variables of the tree's model] home of each variable: the clique of fewest
                       entries that contains the variable */
} answering;

static size_t most_child_rows(const gbsi_sparse *s)
{
    size_t most = 0;
    for (uint32_t i = 0; i < s->tree->n_cliques; ++i) {
        size_t n = 0;
        for (size_t k = s->tree->child_start[i]; k < s->tree->child_start[i + (size_t)1]; ++k) {
            n += s->rows[s->tree->child[k]].n;
        }
        most = n > most ? n : most;
    }
    return most;
}

static gbs_status begin(answering *a, const gbsi_sparse *s, gbsi_watch *watch, bool down,
                        gbs_error *err)
{
    const size_t n_rows = s->first_row[s->tree->n_cliques];
    const size_t n_mass = down ? most_child_rows(s) : 0;
    const size_t n_homes = down ? s->n_variables : 0;
    *a = (answering){.sparse = s};
    GBSI_PASS(gbsi_sparse_scratch_take(s, watch, &a->scratch, err));
    a->value = gbsi_alloc_array(n_rows, sizeof *a->value);
    a->top = gbsi_alloc_array(s->tree->n_cliques, sizeof *a->top);
    a->mass = gbsi_alloc_array(n_mass, sizeof *a->mass);
    a->home = gbsi_alloc_array(n_homes, sizeof *a->home);
    return GBSI_HAVE(err, "sparse tables", a->value, a->top, a->mass, a->home);
}

static void answering_free(answering *a)
{
    gbsi_sparse_scratch_free(&a->scratch);
    GBSI_FREE(a->value, a->top, a->mass, a->home);
}

/* ---- up ------------------------------------------------------------------------------------ */

/* ln of a sum of exponentials (or a maximum of logarithms) that is computed term by term. */
typedef struct log_sum {
    double top; /* the largest term so far */
    double sum; /* sum of the terms so far, in units of exp(top) */
} log_sum;

static inline void add_term(log_sum *l, double v, bool maximise)
{
    if (v > l->top) {
        l->sum = l->sum > 0.0 && !maximise ? 1.0 + l->sum * gbsi_exp(l->top - v) : 1.0;
        l->top = v;
    } else if (!maximise && v > -INFINITY) {
        l->sum += gbsi_exp(v - l->top);
    }
}

static double value_of(const log_sum *l)
{
    return l->sum > 1.0 ? l->top + gbsi_log(l->sum) : l->top;
}

/* Computes the message of clique i. @param log_z in and out: the function adds the number that was
 * subtracted from the message. */
static gbs_status clique_up(answering *a, uint32_t i, gbsi_sum *log_z, gbs_error *err)
{
    const gbsi_sparse *s = a->sparse;
    gbsi_join *join = &a->scratch.join;
    const gbsi_clique *c = &s->tree->clique[i];
    double *message = a->value + s->first_row[i];
    const log_sum nothing = {-INFINITY, 0.0};
    log_sum sum = nothing;
    size_t row = 0;
    a->top[i] = -INFINITY;
    GBSI_PASS(gbsi_sparse_join_clique(s, i, a->value, &a->scratch, err));
    GBSI_PASS(gbsi_sparse_join_own(s, i, NULL, &a->scratch, err));
    GBSI_PASS(gbsi_join_begin(join, err));
    while (gbsi_join_next(join)) {
        if (join->changed < c->n_separator && sum.sum > 0.0) {
            message[row] = value_of(&sum);
            sum = nothing;
        }
        row = join->node[a->scratch.own_row];
        assert(row < s->rows[i].n);
        add_term(&sum, gbsi_join_value(join), c->maximise);
    }
    message[row] = value_of(&sum);
    for (size_t r = 0; r < s->rows[i].n; ++r) {
        a->top[i] = message[r] > a->top[i] ? message[r] : a->top[i];
    }
    for (size_t r = 0; r < s->rows[i].n; ++r) {
        message[r] -= a->top[i];
    }
    *log_z = gbsi_sum_add(*log_z, (gbsi_sum){.high = a->top[i]});
    return GBS_OK;
}

static gbs_status pass_up(answering *a, double *log_z, gbs_error *err)
{
    gbsi_sum total = {0};
    for (uint32_t i = 0; i < a->sparse->tree->n_cliques && !a->scratch.join.stopped; ++i) {
        GBSI_PASS(clique_up(a, i, &total, err));
    }
    *log_z = total.high + total.low;
    return GBS_OK;
}

/* ---- down ---------------------------------------------------------------------------------- */

static void find_homes(answering *a)
{
    const gbsi_sparse *s = a->sparse;
    const gbsi_tree *tree = s->tree;
    memset(a->home, 0xff, s->n_variables * sizeof *a->home);
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        const gbsi_clique *c = &tree->clique[i];
        for (size_t k = c->first; k < c->first + c->n_separator + c->n_own; ++k) {
            uint32_t *h = &a->home[tree->variable[k]];
            *h = *h == GBSI_NONE || s->n_entries_of[i] < s->n_entries_of[*h] ? i : *h;
        }
    }
}

/* Lists the variables whose home is clique i: their axes in the clique, and the indices of their
 * marginals. Chain variables are not listed.
 * @param axis, at [axes] out. @return the number of these variables. */
static uint32_t list_homes(const answering *a, uint32_t i, uint32_t *axis, size_t *at)
{
    const gbsi_sparse *s = a->sparse;
    const gbsi_conditioned *whole = s->components->model;
    const gbsi_clique *c = &s->tree->clique[i];
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->n_separator + c->n_own; ++k) {
        const uint32_t v = s->tree->variable[c->first + k];
        if (v < whole->n_variables && a->home[v] == i) {
            axis[n] = k;
            at[n++] = whole->state_offset[v];
        }
    }
    return n;
}

/* Computes the probabilities of the rows of clique i's children, and the marginals of variables
 * whose home is clique i. */
static gbs_status clique_down(answering *a, uint32_t i, double *p, gbs_error *err)
{
    const gbsi_sparse *s = a->sparse;
    const gbsi_tree *tree = s->tree;
    gbsi_join *join = &a->scratch.join;
    const uint32_t *child = tree->child + tree->child_start[i];
    const uint32_t n_children = tree->child_start[i + (size_t)1] - tree->child_start[i];
    uint32_t axis[GBSI_TREE_AXES];
    size_t at[GBSI_TREE_AXES];
    const uint32_t n_homes = list_homes(a, i, axis, at);
    size_t n = 0;
    for (uint32_t k = 0; k < n_children; ++k) {
        n += s->rows[child[k]].n;
    }
    memset(a->mass, 0, n * sizeof *a->mass);
    GBSI_PASS(gbsi_sparse_join_clique(s, i, a->value, &a->scratch, err));
    GBSI_PASS(gbsi_sparse_join_own(s, i, a->value, &a->scratch, err));
    GBSI_PASS(gbsi_join_begin(join, err));
    while (gbsi_join_next(join)) {
        const double q = gbsi_exp(gbsi_join_value(join));
        double *m = a->mass;
        for (uint32_t k = 0; k < n_children; ++k) {
            m[join->node[a->scratch.row[k]]] += q;
            m += s->rows[child[k]].n;
        }
        for (uint32_t k = 0; k < n_homes; ++k) {
            p[at[k] + join->x[axis[k]]] += q;
        }
    }
    const double *m = a->mass;
    for (uint32_t k = 0; k < n_children; ++k) {
        double *message = a->value + s->first_row[child[k]];
        for (size_t r = 0; r < s->rows[child[k]].n; ++r) {
            message[r] = gbsi_log(*m++) - message[r] - a->top[child[k]];
        }
    }
    return GBS_OK;
}

/* One function sets the marginals of the component to 0, the other divides the marginals of each
 * variable by their sum. */
static void clear_marginals(const gbsi_sparse *s, double *p)
{
    const gbsi_components *of = s->components;
    for (size_t i = of->variable_start[s->component]; i < of->variable_start[s->component + 1];
         ++i) {
        const uint32_t v = of->variable[i];
        memset(p + of->model->state_offset[v], 0, of->model->arity[v] * sizeof *p);
    }
}

static void normalise_marginals(const gbsi_sparse *s, double *p)
{
    const gbsi_components *of = s->components;
    for (size_t i = of->variable_start[s->component]; i < of->variable_start[s->component + 1];
         ++i) {
        const uint32_t v = of->variable[i];
        double *q = p + of->model->state_offset[v];
        double sum = 0.0;
        for (uint32_t k = 0; k < of->model->arity[v]; ++k) {
            sum += q[k];
        }
        for (uint32_t k = 0; k < of->model->arity[v]; ++k) {
            q[k] /= sum;
        }
    }
}

gbs_status gbsi_sparse_sum(const gbsi_sparse *sparse, gbsi_watch *watch, double *p, double *log_z,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    answering a = {0};
    *log_z = -INFINITY;
    if (sparse->impossible) {
        return GBS_OK;
    }
    GBSI_TRY(begin(&a, sparse, watch, p != NULL, err));
    GBSI_TRY(pass_up(&a, log_z, err));
    if (p == NULL || a.scratch.join.stopped) {
        goto cleanup;
    }
    const uint32_t root = sparse->tree->n_cliques - 1;
    a.value[sparse->first_row[root]] =
        -a.top[root]; /* the root has only one row, whose ln p(r) is 0 */
    clear_marginals(sparse, p);
    find_homes(&a);
    for (uint32_t i = root + 1; i-- > 0 && !a.scratch.join.stopped;) {
        GBSI_TRY(clique_down(&a, i, p, err));
    }
    normalise_marginals(sparse, p);

cleanup:
    answering_free(&a);
    return status;
}

/* ---- a most probable state ----------------------------------------------------------------- */

/* Finds the states of largest weight of clique i's own variables, given the states of its
 * separator. If several entries have the largest weight, the first of them is chosen. @param x
 * [variables of the tree's model] in and out. */
static gbs_status trace_back(answering *a, uint32_t i, uint32_t *x, gbs_error *err)
{
    const gbsi_tree *tree = a->sparse->tree;
    const gbsi_clique *c = &tree->clique[i];
    const uint32_t *variable = tree->variable + c->first;
    gbsi_join *join = &a->scratch.join;
    double most = -INFINITY;
    GBSI_PASS(gbsi_sparse_join_clique(a->sparse, i, a->value, &a->scratch, err));
    for (uint32_t k = 0; k < c->n_separator; ++k) {
        join->begin[k] = x[variable[k]];
        join->end[k] = x[variable[k]] + 1;
    }
    GBSI_PASS(gbsi_join_begin(join, err));
    while (gbsi_join_next(join)) {
        if (gbsi_join_value(join) > most) {
            most = gbsi_join_value(join);
            for (uint32_t k = c->n_separator; k < c->n_separator + c->n_own; ++k) {
                x[variable[k]] = join->x[k];
            }
        }
    }
    return GBS_OK;
}

gbs_status gbsi_sparse_maximise(const gbsi_sparse *sparse, gbsi_watch *watch, uint32_t *x,
                                double *log_weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *of = sparse->components;
    answering a = {0};
    uint32_t *found = gbsi_alloc_array_zero(sparse->n_variables, sizeof *found);
    *log_weight = -INFINITY;
    GBSI_TRY(GBSI_HAVE(err, "sparse tables", found));
    if (sparse->impossible) {
        goto cleanup;
    }
    GBSI_TRY(begin(&a, sparse, watch, false, err));
    GBSI_TRY(pass_up(&a, log_weight, err));
    for (uint32_t i = sparse->tree->n_cliques; i-- > 0 && !a.scratch.join.stopped;) {
        if (sparse->tree->clique[i].maximise) { /* all cliques above are maximised out too */
            GBSI_TRY(trace_back(&a, i, found, err));
        }
    }
    for (size_t i = of->variable_start[sparse->component];
         i < of->variable_start[sparse->component + 1]; ++i) {
        x[of->variable[i]] = found[of->variable[i]];
    }

cleanup:
    answering_free(&a);
    gbsi_free(found);
    return status;
}

/* ---- draws --------------------------------------------------------------------------------- */

void gbsi_sparse_draws_free(gbsi_sparse_draws *d)
{
    while (d != NULL) {
        gbsi_sparse_draws *next = d->next;
        GBSI_FREE(d->begin, d->sum, d->column, d);
        d = next;
    }
}

/* Returns the number of the joint state of clique c's own variables at the current entry of the
 * join. */
static size_t column_of(const gbsi_join *join, const gbsi_clique *c)
{
    size_t column = 0;
    for (uint32_t k = c->n_separator; k < c->n_separator + c->n_own; ++k) {
        column = column * join->end[k] + join->x[k];
    }
    return column;
}

/* Appends the running sums of clique i to the running sums of earlier cliques. */
static gbs_status accumulate(answering *a, uint32_t i, gbsi_sparse_draws *d, gbs_error *err)
{
    const gbsi_sparse *s = a->sparse;
    gbsi_join *join = &a->scratch.join;
    size_t n = d->begin[s->first_row[i]];
    GBSI_PASS(gbsi_sparse_join_clique(s, i, a->value, &a->scratch, err));
    GBSI_PASS(gbsi_sparse_join_own(s, i, NULL, &a->scratch, err));
    GBSI_PASS(gbsi_join_begin(join, err));
    while (gbsi_join_next(join)) {
        const size_t row = s->first_row[i] + join->node[a->scratch.own_row];
        const double before = n > d->begin[row] ? d->sum[n - 1] : 0.0;
        d->sum[n] = before + gbsi_exp(gbsi_join_value(join) - a->value[row] - a->top[i]);
        d->column[n] = column_of(join, &s->tree->clique[i]);
        d->begin[row + 1] = ++n; /* every row has at least one entry */
    }
    return GBS_OK;
}

/* @param out in: points to NULL; out: the draws, which the caller frees even if the call fails. */
static gbs_status make_draws(const gbsi_sparse *s, gbsi_watch *watch, gbsi_sparse_draws **out,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    answering a = {0};
    double log_z = 0.0;
    const size_t n = (size_t)s->n_entries;
    const size_t n_rows = s->first_row[s->tree->n_cliques];
    gbsi_sparse_draws *d = gbsi_alloc_zero(sizeof *d);
    *out = d;
    GBSI_PASS(GBSI_HAVE(err, "sparse tables", d));
    d->sparse = s;
    d->begin = gbsi_alloc_array_zero(n_rows + 1, sizeof *d->begin);
    d->sum = gbsi_alloc_array(n, sizeof *d->sum);
    d->column = gbsi_alloc_array(n, sizeof *d->column);
    GBSI_TRY(GBSI_HAVE(err, "sparse tables", d->begin, d->sum, d->column));
    GBSI_TRY(begin(&a, s, watch, false, err));
    GBSI_TRY(pass_up(&a, &log_z, err));
    for (uint32_t i = 0; i < s->tree->n_cliques && !a.scratch.join.stopped; ++i) {
        GBSI_TRY(accumulate(&a, i, d, err));
    }

cleanup:
    answering_free(&a);
    return status;
}

gbs_status gbsi_sparse_draws_new(const gbsi_sparse *sparse, gbsi_watch *watch,
                                 gbsi_sparse_draws **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_sparse_draws *first = NULL;
    gbsi_sparse_draws **end = &first;
    for (; sparse != NULL; sparse = sparse->next, end = &(*end)->next) {
        GBSI_TRY(make_draws(sparse, watch, end, err));
    }
    *out = first;
    first = NULL;

cleanup:
    gbsi_sparse_draws_free(first);
    return status;
}

/* Returns the number of the row of clique i for the states x of its separator. */
static size_t row_at(const gbsi_sparse *s, uint32_t i, const uint32_t *x)
{
    const gbsi_clique *c = &s->tree->clique[i];
    size_t at = 0;
    for (uint32_t k = 0; k < c->n_separator; ++k) {
        const gbsi_trie_level *level = &s->rows[i].level[k];
        assert(at < level->n && x[s->tree->variable[c->first + k]] < level->arity);
        at = level->next[at * level->arity + x[s->tree->variable[c->first + k]]] - (size_t)1;
    }
    return s->first_row[i] + at;
}

void gbsi_sparse_draw(const gbsi_sparse_draws *d, uint64_t seed, uint32_t chain, uint64_t draw,
                      uint32_t *x)
{
    for (; d != NULL; d = d->next) {
        const gbsi_sparse *s = d->sparse;
        for (uint32_t i = s->tree->n_cliques; i-- > 0;) {
            const gbsi_clique *c = &s->tree->clique[i];
            uint32_t word[4];
            gbsi_philox(seed, chain, draw, c->stream, GBSI_PURPOSE_EXACT, word);
            const size_t row = row_at(s, i, x);
            const size_t n = d->begin[row + 1] - d->begin[row];
            assert(n > 0); /* every row that can be reached has at least one entry */
            const size_t k =
                gbsi_draw_column(d->sum + d->begin[row], n, gbsi_uniform(word[0], word[1]));
            gbsi_clique_set_column(s->tree, s->arity, c, d->column[d->begin[row] + k], x);
        }
    }
}
