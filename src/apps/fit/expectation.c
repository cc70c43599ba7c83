/* SPDX-License-Identifier: Apache-2.0 */
/* The tree is built for a model whose factors have the scopes of the network's factors and tables
 * without zeros. The tree therefore serves all tables that EM reaches; an iteration only fills in
 * new weights. Variables of one state are left out, which moves no entry of a table. */
#include "fit/expectation.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "cases/case_tree.h"
#include "simd/math.h"
#include "solve/solve.h"

/* largest number of bytes for the rows that are answered side by side */
#define ROOM_BYTES ((size_t)16 << 20)

struct gbsi_expectation {
    const gbsi_families *families;
    const gbs_data *data;
    gbsi_pool *pool;
    gbsi_watch *watch;
    gbs_model *model;   /* model of the factors from which the tree is built */
    uint32_t *number;   /* [network's variables] number of the variable in `model`; GBSI_NONE: the
                           variable has one state */
    gbsi_solver solver; /* holds the tree */
    uint32_t n_columns; /* number of columns whose variables have several states */
    uint32_t *from, *column; /* [n_columns] number of the column in the data; variable of `model` */
    uint32_t n_query;
    uint32_t *child;        /* [n_query] number of the child in the network */
    gbsi_case_scope *query; /* [n_query] the families of the queried tables in the model */
    size_t n_p;             /* number of entries of all queried families */
    size_t n_rows;
    size_t *row; /* [n_rows] numbers of the rows with a missing value */
    gbsi_case_tree *tree;
    gbsi_case_worker **worker; /* [members of the pool] worker of each member */
    size_t at_once;            /* number of rows that are answered side by side */
    size_t n_at_hand, begin;
    gbsi_case *cases;  /* [at_once] rows that are answered side by side */
    uint32_t *state;   /* [at_once][n_columns] states of these rows */
    double *p, *count; /* [at_once][n_p] probabilities of the queried families; [entries] expected
                          counts, borrowed */
};

static void forget_tree(gbsi_expectation *e)
{
    for (uint32_t i = 0; e->worker != NULL && i < gbsi_pool_size(e->pool); ++i) {
        gbsi_case_worker_free(e->worker[i]);
        e->worker[i] = NULL;
    }
    gbsi_case_tree_free(e->tree);
    e->tree = NULL;
}

void gbsi_expectation_free(gbsi_expectation *expectation)
{
    gbsi_expectation *e = expectation;
    if (e == NULL) {
        return;
    }
    forget_tree(e);
    gbsi_free(e->worker);
    gbsi_solver_free(&e->solver);
    gbs_model_free(e->model);
    GBSI_FREE(e->number, e->from, e->column, e->child, e->query, e->row, e->cases, e->state, e->p,
              e);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Adds the variables of two states or more to the model, and numbers them. */
static gbs_status add_variables(gbsi_expectation *e, gbs_builder *builder, gbs_error *err)
{
    const gbs_model *m = e->families->network;
    gbs_status status = GBS_OK;
    uint32_t n = 0;
    for (uint32_t v = 0; v < m->n_variables && status >= 0; ++v) {
        e->number[v] = GBSI_NONE;
        if (m->arity[v] > 1) {
            e->number[v] = n++;
            status = gbs_builder_add_variables(builder, 1, &m->arity[v], NULL, err);
        }
    }
    return status;
}

/* Adds a table for each family, in the order of the children. All entries are 1. */
static gbs_status add_factors(gbsi_expectation *e, gbs_builder *builder, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_families *s = e->families;
    const gbs_model *m = s->network;
    const size_t n_entries = gbsi_families_entries(s);
    double *zeros = gbsi_alloc_array_zero(n_entries, sizeof *zeros);
    uint32_t *scope = gbsi_alloc_array(m->n_variables, sizeof *scope);
    GBSI_TRY(GBSI_HAVE(err, "fit", zeros, scope));
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        uint32_t n = 0;
        uint32_t n_left = 0;
        uint32_t table = 0;
        const uint32_t *all = gbsi_family_scope(s, v, &n);
        for (uint32_t k = 0; k < n; ++k) {
            if (e->number[all[k]] != GBSI_NONE) {
                scope[n_left++] = e->number[all[k]];
            }
        }
        if (m->arity[v] > 1) {
            GBSI_TRY(gbs_builder_add_table(builder, s->start[v + (size_t)1] - s->start[v], zeros,
                                           &table, err));
            GBSI_TRY(gbs_builder_add_table_factor(builder, n_left, scope, table, err));
        }
    }

cleanup:
    GBSI_FREE(zeros, scope);
    return status;
}

static gbs_status make_model(gbsi_expectation *e, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    const size_t n = e->families->network->n_variables;
    e->number = gbsi_alloc_array(n, sizeof *e->number);
    GBSI_TRY(GBSI_HAVE(err, "fit", e->number));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(add_variables(e, builder, err));
    GBSI_TRY(add_factors(e, builder, err));
    GBSI_TRY(gbs_builder_build(builder, &e->model, err));

cleanup:
    gbs_builder_free(builder);
    return status;
}

/* Plans one tree for all components. */
static gbs_status plan_tree(gbsi_expectation *e, uint64_t memory_limit, gbs_error *err)
{
    gbsi_solver *s = &e->solver;
    const gbs_exact_options options = {
        .size = sizeof options, .memory_limit = memory_limit, .threads = gbsi_pool_size(e->pool)};
    GBSI_PASS(gbsi_solver_init(s, e->model, NULL, &options, err));
    assert(s->whole->borrows); /* the tables have no zeros, and no variable has only one state */
    return gbsi_solver_plan_tree(s, NULL, e->watch, err);
}

static gbs_status take_columns(gbsi_expectation *e, gbs_error *err)
{
    const gbs_data *d = e->data;
    e->from = gbsi_alloc_array(d->n_columns, sizeof *e->from);
    e->column = gbsi_alloc_array(d->n_columns, sizeof *e->column);
    GBSI_PASS(GBSI_HAVE(err, "fit", e->from, e->column));
    for (uint32_t k = 0; k < d->n_columns; ++k) {
        if (e->number[d->column[k]] != GBSI_NONE) {
            e->from[e->n_columns] = k;
            e->column[e->n_columns++] = e->number[d->column[k]];
        }
    }
    return GBS_OK;
}

/* Makes a query of each family in `asked`. Factors of the model are in the order of the children.
 */
static gbs_status take_queries(gbsi_expectation *e, const uint8_t *asked, gbs_error *err)
{
    const gbs_model *m = e->families->network;
    const gbsi_factors *f = &e->model->factors;
    e->child = gbsi_alloc_array(m->n_variables, sizeof *e->child);
    e->query = gbsi_alloc_array(m->n_variables, sizeof *e->query);
    GBSI_PASS(GBSI_HAVE(err, "fit", e->child, e->query));
    for (uint32_t v = 0; asked != NULL && v < m->n_variables; ++v) {
        const size_t i = e->number[v];
        if (asked[v] && i != GBSI_NONE) {
            e->child[e->n_query] = v;
            e->query[e->n_query++] =
                (gbsi_case_scope){.variable = f->scope + f->scope_start[i],
                                  .n = (uint32_t)(f->scope_start[i + 1] - f->scope_start[i])};
            e->n_p += e->families->start[v + (size_t)1] - e->families->start[v];
        }
    }
    return GBS_OK;
}

/* Checks the memory that the tree and the messages of all threads need, before any is allocated. */
static gbs_status check_bytes(const gbsi_expectation *e, gbs_error *err)
{
    const gbsi_tree *tree = e->solver.tree;
    char needed[16];
    char left[16];
    if (tree == NULL) {
        return GBS_OK;
    }
    const double n_messages = 2.0 * (double)tree->n_messages + (double)e->n_p;
    const double bytes = sizeof(double) * ((double)tree->n_entries +
                                           GBSI_CASE_LANES * gbsi_pool_size(e->pool) * n_messages);
    if (bytes <= (double)e->solver.bytes) {
        return GBS_OK;
    }
    gbsi_bytes_text(bytes, needed);
    gbsi_bytes_text((double)e->solver.bytes, left);
    return gbsi_fail(
        err, GBS_ERR_LIMIT,
        "rows have missing values, and the junction tree for them needs %s, the memory "
        "limit leaves %s: give a larger --memory-limit, or fewer threads",
        needed, left);
}

/* Lists the rows with missing values, and allocates memory for the rows that are answered side by
 * side. */
static gbs_status take_rows(gbsi_expectation *e, const uint8_t *complete, gbs_error *err)
{
    const uint32_t n_threads = gbsi_pool_size(e->pool);
    const size_t least = (size_t)GBSI_CASE_LANES * n_threads;
    const size_t row_bytes = (e->n_p + e->n_columns + 8) * sizeof(double);
    e->at_once = ROOM_BYTES / row_bytes / least * least;
    e->at_once = e->at_once < least ? least : e->at_once;
    e->row = gbsi_alloc_array(e->data->n_distinct, sizeof *e->row);
    e->cases = gbsi_alloc_array_zero(e->at_once, sizeof *e->cases);
    e->state = gbsi_alloc_array(e->at_once * e->n_columns, sizeof *e->state);
    e->p = gbsi_alloc_array(e->at_once * e->n_p, sizeof *e->p);
    e->worker = gbsi_alloc_array_zero(n_threads, sizeof(gbsi_case_worker *));
    GBSI_PASS(GBSI_HAVE(err, "fit", e->row, e->cases, e->state, e->p, e->worker));
    for (size_t i = 0; i < e->data->n_distinct; ++i) {
        if (!complete[i]) {
            e->row[e->n_rows++] = i;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_expectation_new(const gbsi_families *families, const gbs_data *data,
                                const uint8_t *asked, const uint8_t *complete,
                                uint64_t memory_limit, double most_work, gbsi_pool *pool,
                                gbsi_watch *watch, gbsi_expectation **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_expectation *e = gbsi_alloc_zero(sizeof *e);
    GBSI_PASS(GBSI_HAVE(err, "fit", e));
    e->families = families;
    e->data = data;
    e->pool = pool;
    e->watch = watch;
    GBSI_TRY(make_model(e, err));
    GBSI_TRY(plan_tree(e, memory_limit, err));
    GBSI_TRY(take_columns(e, err));
    GBSI_TRY(take_queries(e, asked, err));
    GBSI_TRY(check_bytes(e, err));
    GBSI_TRY(take_rows(e, complete, err));
    if (e->solver.tree != NULL &&
        (double)e->solver.tree->n_entries * (double)e->n_rows > most_work) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT,
                           "rows have missing values, and a junction tree of %.3g entries for %zu "
                           "of them is too long a calculation",
                           (double)e->solver.tree->n_entries, e->n_rows));
    }
    *out = e;
    e = NULL;

cleanup:
    gbsi_expectation_free(e);
    return status;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Fills the tree with the weights theta. */
static gbs_status fill_tree(gbsi_expectation *e, const double *theta, gbs_error *err)
{
    const gbsi_families *s = e->families;
    const gbsi_factors *f = &e->model->factors;
    for (uint32_t v = 0; v < s->network->n_variables; ++v) {
        if (e->number[v] != GBSI_NONE) {
            const size_t n = s->start[v + (size_t)1] - s->start[v];
            double *logw = f->table + f->table_start[f->aux[e->number[v]]];
            memcpy(logw, theta + s->start[v], n * sizeof *logw);
            gbsi_log_many(logw, n);
        }
    }
    forget_tree(e);
    GBSI_PASS(gbsi_case_tree_new(e->solver.whole, e->solver.tree, e->n_columns, e->column,
                                 e->n_query, e->query, e->watch, &e->tree, err));
    for (uint32_t i = 0; i < gbsi_pool_size(e->pool); ++i) {
        GBSI_PASS(gbsi_case_worker_new(e->tree, i > 0 ? e->worker[0] : NULL, e->watch,
                                       &e->worker[i], err));
    }
    return GBS_OK;
}

static void answer_share(void *context, uint32_t member)
{
    gbsi_expectation *e = context;
    const uint64_t n_batches = (e->n_at_hand + GBSI_CASE_LANES - 1) / GBSI_CASE_LANES;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(n_batches, 1, member, gbsi_pool_size(e->pool), &first, &end);
    for (uint64_t k = first; k < end && !gbsi_watch_stopped(e->watch); ++k) {
        const size_t at = (size_t)k * GBSI_CASE_LANES;
        const size_t left = e->n_at_hand - at;
        gbsi_case_batch(e->worker[member], e->cases + at,
                        (uint32_t)(left < GBSI_CASE_LANES ? left : GBSI_CASE_LANES), e->watch,
                        member == 0);
    }
}

/* Computes N_ijk += n P(x_i = k, parents = j | row) for the tables of one thread, over all current
 * rows in their order. */
static void add_share(void *context, uint32_t member)
{
    const gbsi_expectation *e = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(e->n_query, 1, member, gbsi_pool_size(e->pool), &first, &end);
    size_t at = 0;
    for (uint32_t q = 0; q < end; ++q) {
        const size_t start = e->families->start[e->child[q]];
        const size_t n = e->families->start[e->child[q] + (size_t)1] - start;
        for (size_t i = 0; q >= first && i < e->n_at_hand; ++i) {
            const double *p = e->cases[i].p + at;
            const double n_rows = e->data->weight[e->row[e->begin + i]];
            for (size_t k = 0; k < n; ++k) {
                e->count[start + k] += n_rows * p[k];
            }
        }
        at += n;
    }
}

static void take_at_hand(gbsi_expectation *e, size_t begin)
{
    const size_t left = e->n_rows - begin;
    e->begin = begin;
    e->n_at_hand = left < e->at_once ? left : e->at_once;
    for (size_t i = 0; i < e->n_at_hand; ++i) {
        const uint16_t *row = e->data->state + e->row[begin + i] * e->data->n_columns;
        uint32_t *state = e->state + i * e->n_columns;
        for (uint32_t k = 0; k < e->n_columns; ++k) {
            state[k] = row[e->from[k]] == GBSI_MISSING ? GBSI_NONE : row[e->from[k]];
        }
        e->cases[i] = (gbsi_case){.state = state, .p = e->p + i * e->n_p};
    }
}

/* Adds ln P of the current rows. */
static gbs_status add_log_p(const gbsi_expectation *e, double *log_p, uint64_t *n_impossible,
                            double *weight, gbs_error *err)
{
    for (size_t i = 0; i < e->n_at_hand; ++i) {
        const size_t row = e->row[e->begin + i];
        const gbsi_case_end end = e->cases[i].end;
        if (end == GBSI_CASE_UNSURE) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "row %" PRIu64 ": the probabilities of what is missing in it lie "
                             "further apart than double precision can hold",
                             e->data->first[row] + 1);
        }
        if (end == GBSI_CASE_IMPOSSIBLE && n_impossible == NULL) {
            return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                             "row %" PRIu64 " has probability zero: zeros of the network, from "
                             "which EM starts, rule it out; with a prior they would not",
                             e->data->first[row] + 1);
        }
        if (end == GBSI_CASE_IMPOSSIBLE) {
            *n_impossible += e->data->count[row];
            *weight += e->data->weight[row];
        } else {
            *log_p += e->data->weight[row] * e->cases[i].log_sum;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_expectation_add(gbsi_expectation *expectation, const double *theta, double *count,
                                double *log_p, uint64_t *n_impossible, double *weight,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_expectation *e = expectation;
    e->count = count;
    if (e->solver.tree == NULL) {
        return GBS_OK; /* all variables have one state, so all rows have probability 1 */
    }
    GBSI_TRY(fill_tree(e, theta, err));
    for (size_t begin = 0; begin < e->n_rows; begin += e->at_once) {
        take_at_hand(e, begin);
        gbsi_pool_run(e->pool, answer_share, e);
        if (gbsi_watch_stopped(e->watch)) {
            return GBS_STOPPED;
        }
        GBSI_TRY(add_log_p(e, log_p, n_impossible, weight, err));
        if (count != NULL) {
            gbsi_pool_run(e->pool, add_share, e);
        }
    }

cleanup:
    return status == GBS_ERR_STOPPED ? GBS_STOPPED : status;
}
