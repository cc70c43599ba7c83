/* SPDX-License-Identifier: Apache-2.0 */
/* ln P(row) = ln Z(w; observed values of the row) - ln Z(w). The derivative of ln P(row) by a
 * weight is the difference of two expectations of the weight's feature [M66]. One junction tree
 * serves all weights and rows: its model has a table for each factor, and each evaluation fills the
 * tables with new entries. Complete rows need no tree: their features are counted once. Variables
 * of one state are left out, which moves no entry of a table. */
#include "weights/likelihood.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cases/case_tree.h"
#include "solve/solve.h"

#define MOST_ENTRIES ((size_t)1 << 20) /* largest number of entries of a factor's table */

struct gbsi_likelihood {
    const gbs_model *model;
    const gbsi_learnt *learnt;
    const gbs_data *data;
    const double *weight; /* [rows] weights of the rows, or of gbsi_likelihood_scores(), which may
                             have any sign */
    gbsi_watch *watch;
    /* model with a table for each factor that has a variable of two states or more */
    gbs_model *tables;
    uint32_t *number; /* [variables] number of the variable in `tables`; GBSI_NONE: the variable has
                         one state */
    size_t n_kept;    /* number of factors of `tables` */
    size_t *kept;     /* [n_kept] numbers of these factors in the model */
    size_t *start;    /* [n_kept + 1] where the entries of each kept factor begin in `entry` */
    double *entry;    /* log-weights of the entries if the learnt weights are 1 */
    gbsi_solver solver; /* holds the junction tree; it is empty if all variables have one state */
    uint32_t n_columns; /* number of columns whose variables have two states or more */
    uint32_t *from,
        *column; /* [n_columns] number of the column in the data; variable of `tables` */
    uint32_t n_query;
    size_t *asked;          /* [n_query] kept factors that are tied to a learnt weight */
    gbsi_case_scope *query; /* [n_query] scopes of the factors in `asked` */
    size_t n_p;             /* number of joint states of all queried scopes */
    double n_rows;          /* sum of the weights of all rows */
    double base;   /* sum over complete rows of their log-weights without the learnt weights */
    double *count; /* [n] sums of the features of complete rows */
    size_t n_partial;
    size_t *partial; /* [n_partial] rows of the data with a missing value */
    gbsi_case_tree *tree;
    gbsi_case_worker *worker;
    gbsi_case cases[GBSI_CASE_LANES];
    uint32_t *state; /* [GBSI_CASE_LANES][n_columns] observed states of the cases */
    double *p;       /* [GBSI_CASE_LANES][n_p] probabilities of the queried joint states */
};

static void forget_tree(gbsi_likelihood *l)
{
    gbsi_case_worker_free(l->worker);
    gbsi_case_tree_free(l->tree);
    l->worker = NULL;
    l->tree = NULL;
}

void gbsi_likelihood_free(gbsi_likelihood *likelihood)
{
    gbsi_likelihood *l = likelihood;
    if (l == NULL) {
        return;
    }
    forget_tree(l);
    gbsi_solver_free(&l->solver);
    gbs_model_free(l->tables);
    GBSI_FREE(l->number, l->kept, l->start, l->entry, l->from, l->column, l->asked, l->query,
              l->count, l->partial, l->state, l->p, l);
}

/* ---- factors as tables ----------------------------------------------------------------------- */

/* Counts the joint states of a factor's scope. */
static gbs_status count_entries(const gbs_model *m, size_t i, size_t *n, gbs_error *err)
{
    const gbsi_factors *f = &m->factors;
    *n = 1;
    for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
        *n *= m->arity[f->scope[k]];
        if (*n > MOST_ENTRIES) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "factor %zu has more than %zu joint states, too many for the "
                             "likelihood; the pseudo-likelihood takes any factor",
                             i, MOST_ENTRIES);
        }
    }
    return GBS_OK;
}

/* Lists the kept factors, and the offsets of their entries. */
static gbs_status keep_factors(gbsi_likelihood *l, gbs_error *err)
{
    const size_t n = l->model->factors.n_factors;
    l->kept = gbsi_alloc_array(n, sizeof *l->kept);
    l->start = gbsi_alloc_array(n + 1, sizeof *l->start);
    GBSI_PASS(GBSI_HAVE(err, "factors", l->kept, l->start));
    l->start[0] = 0;
    for (size_t i = 0; i < n; ++i) {
        size_t n_entries = 0;
        GBSI_PASS(count_entries(l->model, i, &n_entries, err));
        if (n_entries > 1) {
            l->kept[l->n_kept++] = i;
            l->start[l->n_kept] = l->start[l->n_kept - 1] + n_entries;
        }
    }
    l->entry = gbsi_alloc_array(l->start[l->n_kept], sizeof *l->entry);
    return GBSI_HAVE(err, "factors", l->entry);
}

/* Fills the entries of a kept factor.
 * @param at [variables of its scope] scratch. */
static gbs_status fill_entries(gbsi_likelihood *l, size_t q, uint32_t *at, gbs_error *err)
{
    const gbs_model *m = l->model;
    const gbsi_factors *f = &m->factors;
    const size_t i = l->kept[q];
    const size_t begin = f->scope_start[i];
    const size_t n = f->scope_start[i + 1] - begin;
    memset(at, 0, n * sizeof *at);
    for (size_t e = l->start[q]; e < l->start[q + 1]; ++e) {
        l->entry[e] = gbsi_factor_value_at(&l->learnt->unit, m->arity, i, at);
        for (size_t k = n; k-- > 0 && ++at[k] == m->arity[f->scope[begin + k]];) {
            at[k] = 0;
        }
        if (gbsi_watch_spend(l->watch, n + 4)) {
            return gbsi_watch_fail(err, "learning");
        }
    }
    return GBS_OK;
}

static gbs_status add_factors(gbsi_likelihood *l, gbs_builder *builder, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *f = &l->model->factors;
    const uint32_t n_variables = l->model->n_variables;
    uint32_t *scope = gbsi_alloc_array(n_variables, sizeof *scope);
    uint32_t *at = gbsi_alloc_array(n_variables, sizeof *at);
    size_t most = 0;
    for (size_t q = 0; q < l->n_kept; ++q) {
        const size_t n = l->start[q + 1] - l->start[q];
        most = n > most ? n : most;
    }
    double *zeros = gbsi_alloc_array_zero(most, sizeof *zeros);
    GBSI_TRY(GBSI_HAVE(err, "factors", scope, at, zeros));
    for (size_t q = 0; q < l->n_kept; ++q) {
        uint32_t n = 0;
        uint32_t table = 0;
        GBSI_TRY(fill_entries(l, q, at, err));
        for (size_t k = f->scope_start[l->kept[q]]; k < f->scope_start[l->kept[q] + 1]; ++k) {
            if (l->number[f->scope[k]] != GBSI_NONE) {
                scope[n++] = l->number[f->scope[k]];
            }
        }
        GBSI_TRY(gbs_builder_add_table(builder, l->start[q + 1] - l->start[q], zeros, &table, err));
        GBSI_TRY(gbs_builder_add_table_factor(builder, n, scope, table, err));
    }

cleanup:
    GBSI_FREE(scope, at, zeros);
    return status;
}

static gbs_status make_tables(gbsi_likelihood *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    const gbs_model *m = l->model;
    uint32_t n = 0;
    l->number = gbsi_alloc_array(m->n_variables, sizeof *l->number);
    GBSI_PASS(GBSI_HAVE(err, "variables", l->number));
    GBSI_TRY(gbs_builder_new(&builder, err));
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        l->number[v] = m->arity[v] > 1 ? n++ : GBSI_NONE;
        if (m->arity[v] > 1) {
            GBSI_TRY(gbs_builder_add_variables(builder, 1, &m->arity[v], NULL, err));
        }
    }
    GBSI_TRY(keep_factors(l, err));
    GBSI_TRY(add_factors(l, builder, err));
    GBSI_TRY(gbs_builder_build(builder, &l->tables, err));

cleanup:
    gbs_builder_free(builder);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gbs_status take_columns(gbsi_likelihood *l, gbs_error *err)
{
    const gbs_data *d = l->data;
    l->from = gbsi_alloc_array(d->n_columns, sizeof *l->from);
    l->column = gbsi_alloc_array(d->n_columns, sizeof *l->column);
    l->partial = gbsi_alloc_array(d->n_distinct, sizeof *l->partial);
    l->count = gbsi_alloc_array_zero(l->learnt->n, sizeof *l->count);
    GBSI_PASS(GBSI_HAVE(err, "rows", l->from, l->column, l->partial, l->count));
    for (uint32_t k = 0; k < d->n_columns; ++k) {
        if (l->number[d->column[k]] != GBSI_NONE) {
            l->from[l->n_columns] = k;
            l->column[l->n_columns++] = l->number[d->column[k]];
        }
    }
    return GBS_OK;
}

/* Reads the states of a row. @param x [variables] in: zeros; out: the states. @return whether the
 * row is complete. */
static bool take_row(const gbsi_likelihood *l, size_t row, uint32_t *x)
{
    const gbs_data *d = l->data;
    bool complete = l->n_columns == l->tables->n_variables;
    for (uint32_t k = 0; k < l->n_columns; ++k) {
        const uint16_t state = d->state[row * d->n_columns + l->from[k]];
        complete = complete && state != GBSI_MISSING;
        x[d->column[l->from[k]]] = state;
    }
    return complete;
}

static gbs_status impossible(const gbsi_likelihood *l, size_t row, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                     "row %" PRIu64 " has weight 0 whatever the tied weights are, expected rows "
                     "that the model allows",
                     l->data->first[row] + 1);
}

/* Adds up the features of a complete row. */
static gbs_status count_row(gbsi_likelihood *l, size_t row, const uint32_t *x, gbs_error *err)
{
    const gbs_model *m = l->model;
    const double weight = l->weight[row];
    for (size_t q = 0; q < l->n_kept; ++q) {
        const size_t i = l->kept[q];
        const double value = gbsi_factor_value(&l->learnt->unit, m->arity, i, x);
        if (value == -INFINITY) {
            return impossible(l, row, err);
        }
        *(l->learnt->of[i] == GBSI_NONE ? &l->base : &l->count[l->learnt->of[i]]) += weight * value;
        if (gbsi_watch_spend(l->watch, 8)) {
            return gbsi_watch_fail(err, "learning");
        }
    }
    return GBS_OK;
}

/* Counts the features of complete rows, and lists the rows with missing values. */
static gbs_status count_rows(gbsi_likelihood *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *x = gbsi_alloc_array_zero(l->model->n_variables, sizeof *x);
    GBSI_PASS(GBSI_HAVE(err, "a row", x));
    memset(l->count, 0, l->learnt->n * sizeof *l->count);
    l->base = l->n_rows = 0.0;
    l->n_partial = 0;
    for (size_t row = 0; row < l->data->n_distinct; ++row) {
        l->n_rows += l->weight[row];
        if (take_row(l, row, x)) {
            GBSI_TRY(count_row(l, row, x, err));
        } else {
            l->partial[l->n_partial++] = row;
        }
    }

cleanup:
    gbsi_free(x);
    return status;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static gbs_status take_queries(gbsi_likelihood *l, gbs_error *err)
{
    const gbsi_factors *f = &l->tables->factors;
    l->asked = gbsi_alloc_array(l->n_kept, sizeof *l->asked);
    l->query = gbsi_alloc_array(l->n_kept, sizeof *l->query);
    GBSI_PASS(GBSI_HAVE(err, "factors", l->asked, l->query));
    for (size_t q = 0; q < l->n_kept; ++q) {
        if (l->learnt->of[l->kept[q]] != GBSI_NONE) {
            l->asked[l->n_query] = q;
            l->query[l->n_query++] =
                (gbsi_case_scope){.variable = f->scope + f->scope_start[q],
                                  .n = (uint32_t)(f->scope_start[q + 1] - f->scope_start[q])};
            l->n_p += l->start[q + 1] - l->start[q];
        }
    }
    l->state = gbsi_alloc_array((size_t)GBSI_CASE_LANES * l->n_columns, sizeof *l->state);
    l->p = gbsi_alloc_array(GBSI_CASE_LANES * l->n_p, sizeof *l->p);
    return GBSI_HAVE(err, "expectations", l->state, l->p);
}

/* Plans one tree for all components. */
static gbs_status plan_tree(gbsi_likelihood *l, uint64_t memory_limit, gbs_error *err)
{
    gbs_error why = {GBS_OK, ""};
    const gbs_exact_options options = {
        .size = sizeof options, .memory_limit = memory_limit, .threads = 1};
    gbs_status status = gbsi_solver_init(&l->solver, l->tables, NULL, &options, &why);
    if (status >= 0) {
        status = gbsi_solver_plan_tree(&l->solver, NULL, l->watch, &why);
    }
    if (status == GBS_ERR_LIMIT) {
        return gbsi_fail(err, status, "the likelihood needs a junction tree: %s", why.message);
    }
    if (status < 0 && err != NULL) {
        *err = why;
    }
    return status;
}

/* Checks the memory that the tree and its messages need, before any is allocated. */
static gbs_status check_bytes(const gbsi_likelihood *l, gbs_error *err)
{
    const gbsi_tree *tree = l->solver.tree;
    char needed[16];
    char left[16];
    if (tree == NULL) {
        return GBS_OK;
    }
    const double n_messages = 2.0 * (double)tree->n_messages + (double)l->n_p;
    const double bytes = sizeof(double) * ((double)tree->n_entries + GBSI_CASE_LANES * n_messages);
    if (bytes <= (double)l->solver.bytes) {
        return GBS_OK;
    }
    gbsi_bytes_text(bytes, needed);
    gbsi_bytes_text((double)l->solver.bytes, left);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "the likelihood needs a junction tree of %s, the memory limit leaves %s: give "
                     "a larger --memory-limit, or maximise the pseudo-likelihood",
                     needed, left);
}

gbs_status gbsi_likelihood_new(const gbs_model *model, const gbsi_learnt *learnt,
                               const gbs_data *data, uint64_t memory_limit, gbsi_watch *watch,
                               gbsi_likelihood **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_likelihood *l = gbsi_alloc_zero(sizeof *l);
    GBSI_PASS(GBSI_HAVE(err, "a likelihood", l));
    l->model = model;
    l->learnt = learnt;
    l->data = data;
    l->weight = data->weight;
    l->watch = watch;
    GBSI_TRY(make_tables(l, err));
    GBSI_TRY(take_columns(l, err));
    GBSI_TRY(count_rows(l, err));
    GBSI_TRY(plan_tree(l, memory_limit, err));
    GBSI_TRY(take_queries(l, err));
    GBSI_TRY(check_bytes(l, err));
    *out = l;
    l = NULL;

cleanup:
    gbsi_likelihood_free(l);
    return status;
}

/* Fills the tree with the weights w. */
static gbs_status fill_tree(gbsi_likelihood *l, const double *w, gbs_error *err)
{
    const gbsi_factors *f = &l->tables->factors;
    for (size_t q = 0; q < l->n_kept; ++q) {
        const uint32_t k = l->learnt->of[l->kept[q]];
        const double scale = k == GBSI_NONE ? 1.0 : w[k];
        double *logw = f->table + f->table_start[f->aux[q]];
        for (size_t e = l->start[q]; e < l->start[q + 1]; ++e) {
            logw[e - l->start[q]] = k == GBSI_NONE ? l->entry[e] : scale * l->entry[e];
        }
    }
    forget_tree(l);
    GBSI_PASS(gbsi_case_tree_new(l->solver.whole, l->solver.tree, l->n_columns, l->column,
                                 l->n_query, l->query, l->watch, &l->tree, err));
    return gbsi_case_worker_new(l->tree, NULL, l->watch, &l->worker, err);
}

size_t gbsi_likelihood_n(const gbsi_likelihood *likelihood)
{
    return likelihood->learnt->n;
}

/* ---- an evaluation --------------------------------------------------------------------------- */

/* Adds scale times the expectations of the features in a case to the gradient. */
static void add_expectations(const gbsi_likelihood *l, const double *p, double scale,
                             double *gradient)
{
    for (uint32_t i = 0; i < l->n_query; ++i) {
        const size_t q = l->asked[i];
        double sum = 0.0;
        for (size_t e = l->start[q]; e < l->start[q + 1]; ++e, ++p) {
            sum += *p > 0.0 ? *p * l->entry[e] : 0.0;
        }
        gradient[l->learnt->of[l->kept[q]]] += scale * sum;
    }
}

/* Enters the observed values of a case. Case 0 has no observed values; the other cases are the rows
 * with missing values. */
static double take_case(gbsi_likelihood *l, size_t number, size_t lane)
{
    uint32_t *state = l->state + lane * l->n_columns;
    const uint16_t *row =
        number == 0 ? NULL : l->data->state + l->partial[number - 1] * l->data->n_columns;
    for (uint32_t k = 0; k < l->n_columns; ++k) {
        const uint16_t of = row == NULL ? GBSI_MISSING : row[l->from[k]];
        state[k] = of == GBSI_MISSING ? GBSI_NONE : of;
    }
    l->cases[lane] = (gbsi_case){.state = state, .p = l->p + lane * l->n_p};
    return number == 0 ? -l->n_rows : l->weight[l->partial[number - 1]];
}

static gbs_status check_case(const gbsi_likelihood *l, size_t number, gbsi_case_end end,
                             gbs_error *err)
{
    if (end == GBSI_CASE_UNSURE) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "weights lie further apart than double precision can hold: give a larger "
                         "penalty, or maximise the pseudo-likelihood");
    }
    return end == GBSI_CASE_DONE ? GBS_OK
           : number > 0
               ? impossible(l, l->partial[number - 1], err)
               : gbsi_fail(err, GBS_ERR_IMPOSSIBLE, "no state of the model has positive weight");
}

gbs_status gbsi_likelihood_at(gbsi_likelihood *likelihood, const double *w, double *value,
                              double *gradient, gbs_error *err)
{
    gbsi_likelihood *l = likelihood;
    double sum = l->base;
    double scale[GBSI_CASE_LANES];
    for (uint32_t k = 0; k < l->learnt->n; ++k) {
        sum += w[k] * l->count[k];
        if (gradient != NULL) {
            gradient[k] = l->count[k];
        }
    }
    if (l->solver.tree != NULL) {
        GBSI_PASS(fill_tree(l, w, err));
    }
    for (size_t begin = 0; l->solver.tree != NULL && begin <= l->n_partial;
         begin += GBSI_CASE_LANES) {
        const size_t left = l->n_partial + 1 - begin;
        const uint32_t n = (uint32_t)(left < GBSI_CASE_LANES ? left : GBSI_CASE_LANES);
        for (uint32_t lane = 0; lane < n; ++lane) {
            scale[lane] = take_case(l, begin + lane, lane);
        }
        gbsi_case_batch(l->worker, l->cases, n, l->watch, true);
        if (gbsi_watch_stopped(l->watch)) {
            GBSI_PASS(gbsi_watch_fail(err, "learning"));
        }
        for (uint32_t lane = 0; lane < n; ++lane) {
            GBSI_PASS(check_case(l, begin + lane, l->cases[lane].end, err));
            sum += scale[lane] * l->cases[lane].log_sum;
            if (gradient != NULL) {
                add_expectations(l, l->cases[lane].p, scale[lane], gradient);
            }
        }
    }
    *value = sum;
    return GBS_OK;
}

/* Adds scale times the variances of the features in a case to the diagonal. */
static void add_variances(const gbsi_likelihood *l, const double *p, double scale, double *diagonal)
{
    for (uint32_t i = 0; i < l->n_query; ++i) {
        const size_t q = l->asked[i];
        double mean = 0.0;
        double square = 0.0;
        for (size_t e = l->start[q]; e < l->start[q + 1]; ++e, ++p) {
            mean += *p > 0.0 ? *p * l->entry[e] : 0.0;
            square += *p > 0.0 ? *p * l->entry[e] * l->entry[e] : 0.0;
        }
        const double variance = square - mean * mean;
        diagonal[l->learnt->of[l->kept[q]]] += variance > 0.0 ? scale * variance : 0.0;
    }
}

gbs_status gbsi_likelihood_diagonal(gbsi_likelihood *likelihood, const double *w, double *diagonal,
                                    gbs_error *err)
{
    gbsi_likelihood *l = likelihood;
    memset(diagonal, 0, l->learnt->n * sizeof *diagonal);
    if (l->solver.tree == NULL) {
        return GBS_OK;
    }
    GBSI_PASS(fill_tree(l, w, err));
    (void)take_case(l, 0, 0);
    gbsi_case_batch(l->worker, l->cases, 1, l->watch, true);
    if (gbsi_watch_stopped(l->watch)) {
        GBSI_PASS(gbsi_watch_fail(err, "learning"));
    }
    GBSI_PASS(check_case(l, 0, l->cases[0].end, err));
    add_variances(l, l->cases[0].p, l->n_rows, diagonal);
    return GBS_OK;
}

gbs_status gbsi_likelihood_scores(gbsi_likelihood *likelihood, const double *w,
                                  const double *weight, double *sum, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_likelihood *l = likelihood;
    double value = 0.0;
    l->weight = weight;
    GBSI_TRY(count_rows(l, err));
    GBSI_TRY(gbsi_likelihood_at(l, w, &value, sum, err));
    l->weight = l->data->weight;
    GBSI_TRY(count_rows(l, err));

cleanup:
    l->weight = l->data->weight;
    return status;
}
