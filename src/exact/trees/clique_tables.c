/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a calibration, and the table and message of one clique:
 *     table = product of its factors and its children's messages           (weights)
 *     message = sum of the table over its own variables
 * or, in logarithms,
 *     table = sum of its factors and its children's messages               (log-weights)
 *     message = ln sum over its own variables of exp(table), or the maximum
 * The table is filled block by block. Each entry is written only once, and a row is finished while
 * its entries are still in the cache. The threads of the pool share blocks and rows; the order of
 * every sum is fixed. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"
#include "trees/clique_table.h"
#include "trees/clique_tables.h"
#include "trees/operand.h"

/* number of operands that are combined with the table in one pass */
#define BATCH  8u
#define SHARED ((size_t)1 << 15) /* least number of table entries that threads share */
/* least size, in entries, of the scratch array for the values of the factors of a batch */
#define VALUES ((size_t)1 << 13)

/* ---- memory -------------------------------------------------------------------------------- */

static size_t n_partial(const gbsi_tree *tree)
{
    size_t most = 0;
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        const gbsi_clique *c = &tree->clique[i];
        most = c->n_columns > most ? c->n_columns : most;
        most = c->n_rows > most ? c->n_rows : most;
    }
    most = tree->n_factor > most ? tree->n_factor : most;
    return most / GBSI_PIECE + 1;
}

/* Returns the scratch size, in entries, for the values of the largest factor or of several small
 * factors. */
static size_t n_values(const gbsi_tree *tree)
{
    return tree->n_factor > VALUES ? tree->n_factor : VALUES;
}

gbsi_scratch_sizes gbsi_scratch_of(const gbsi_tree *tree)
{
    return (gbsi_scratch_sizes){n_values(tree), gbsi_shape_most(tree) * BATCH, BATCH};
}

static uint64_t n_tables(const gbsi_tree *tree, gbsi_keep keep)
{
    return keep == GBSI_KEEP_ALL      ? tree->n_entries
           : keep == GBSI_KEEP_TABLES ? tree->n_tables
                                      : tree->n_largest;
}

static size_t n_messages(const gbsi_tree *tree, gbsi_keep keep)
{
    return keep == GBSI_KEEP_ALL_MESSAGES ? tree->n_messages
           : keep == GBSI_KEEP_MESSAGES   ? tree->n_kept
                                          : tree->n_stack;
}

static size_t n_remade(const gbsi_tree *tree, gbsi_keep keep)
{
    return keep == GBSI_KEEP_MESSAGES ? tree->n_rows : 0;
}

static size_t n_factors(const gbsi_tree *tree)
{
    return tree->n_cliques == 0 ? 0 : tree->factor_start[tree->n_cliques];
}

enum { N_ARRAYS = 11 };

static void list_arrays(gbsi_tables *t, const gbsi_tree *tree, gbsi_keep keep,
                        gbsi_room out[N_ARRAYS])
{
    const gbsi_room arrays[N_ARRAYS] = {
        GBSI_ROOM(t->table, n_tables(tree, keep), gbsi_alloc_array),
        GBSI_ROOM(t->stack, n_messages(tree, keep), gbsi_alloc_array),
        GBSI_ROOM(t->remade, n_remade(tree, keep), gbsi_alloc_array),
        GBSI_ROOM(t->factor, n_values(tree), gbsi_alloc_array),
        GBSI_ROOM(t->axis_of, tree->model->n_variables, gbsi_alloc_array),
        GBSI_ROOM(t->map, gbsi_shape_most(tree) * BATCH, gbsi_alloc_array),
        GBSI_ROOM(t->partial, n_partial(tree), gbsi_alloc_array),
        GBSI_ROOM(t->weights, tree->n_cliques, gbsi_alloc_array),
        GBSI_ROOM(t->spread, tree->n_cliques, gbsi_alloc_array),
        GBSI_ROOM(t->top, n_factors(tree), gbsi_alloc_array),
        GBSI_ROOM(t->log_scale, 2 * (uint64_t)tree->n_cliques, gbsi_alloc_array),
    };
    memcpy(out, arrays, sizeof arrays);
}

double gbsi_tree_operations(const gbsi_tree *tree, gbsi_keep keep, bool down)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        const gbsi_clique *c = &tree->clique[i];
        const double n = (double)c->n_rows * (double)c->n_columns;
        const uint32_t n_children = tree->child_start[i + (size_t)1] - tree->child_start[i];
        const size_t n_factors = tree->factor_start[i + (size_t)1] - tree->factor_start[i];
        const double fill = n * (double)(n_factors + n_children + 1);
        sum += fill;
        if (down) {
            sum += n * (n_children + 3.0) + (keep == GBSI_KEEP_MESSAGES ? fill : 0.0);
        }
    }
    return sum;
}

uint64_t gbsi_tree_work_bytes(const gbsi_tree *tree, gbsi_keep keep)
{
    gbsi_tables nothing = {0};
    gbsi_room arrays[N_ARRAYS];
    list_arrays(&nothing, tree, keep, arrays);
    return gbsi_rooms_bytes(arrays, N_ARRAYS);
}

gbs_status gbsi_tables_new(const gbsi_tree *tree, gbsi_keep keep, gbsi_pool *pool,
                           gbsi_tables **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_room arrays[N_ARRAYS];
    gbsi_tables *t = gbsi_alloc_zero(sizeof *t);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", t));
    t->tree = tree;
    t->keep = keep;
    t->pool = pool;
    list_arrays(t, tree, keep, arrays);
    GBSI_TRY(gbsi_rooms_take(arrays, N_ARRAYS, "junction tree", err));
    t->workers = gbsi_branch_workers_new(t);
    *out = t;
    t = NULL;

cleanup:
    gbsi_tables_free(t);
    return status;
}

void gbsi_tables_free(gbsi_tables *tables)
{
    if (tables == NULL) {
        return;
    }
    /* This function does not read tables->tree, which may have been freed already. */
    GBSI_FREE(tables->table, tables->stack, tables->remade, tables->factor, tables->axis_of,
              tables->map, tables->partial, tables->weights, tables->spread, tables->top,
              tables->log_scale);
    gbsi_branch_workers_free(tables->workers);
    gbsi_free(tables);
}

/* ---- filling a table ----------------------------------------------------------------------- */

typedef struct filling {
    gbsi_watch *watch; /* NULL if the work cannot be stopped */
    const gbsi_clique *clique;
    const gbsi_table_loops *loops;
    const gbsi_take_in
        *take_in; /* the loops that add logarithms, or the loops that multiply weights */
    const gbsi_shape *shape;
    gbsi_operand operand[BATCH];
    uint32_t n_operands;
    size_t room;      /* length of the array tables->factor */
    size_t n_values;  /* number of entries of tables->factor that are in use */
    bool first, last; /* first: whether this is the first batch of the clique's operands; last:
                         whether it is the last batch */
    double *table;
    double *message; /* out: the message of the clique; NULL if some block of the table ends inside
                        a row */
    uint32_t n_members;
} filling;

static void take_in(const filling *f, const gbsi_operand *o, size_t at, double *t)
{
    switch (o->form) {
    case GBSI_CONSTANT:
        f->take_in->constant(t, f->shape->block, o->data[at]);
        break;
    case GBSI_DENSE:
        f->take_in->dense(t, o->data + at, f->shape->block);
        break;
    case GBSI_LEVEL_RUNS:
        f->take_in->level_runs(t, o->data + at, o->map, f->shape->block / o->run, o->run);
        break;
    case GBSI_DENSE_RUNS:
        f->take_in->dense_runs(t, o->data + at, o->map, f->shape->block / o->run, o->run);
        break;
    }
}

static void finish_rows(const filling *f, double *t, size_t n_rows, double *message)
{
    if (f->take_in == &f->loops->multiply) {
        f->loops->add_rows(t, n_rows, f->clique->n_columns, message);
    } else if (f->clique->maximise) {
        f->loops->max_rows(t, n_rows, f->clique->n_columns, message);
    } else {
        f->loops->sum_rows(t, n_rows, f->clique->n_columns, message);
    }
}

static void fill_blocks(void *context, uint32_t member)
{
    const filling *f = context;
    const size_t block = f->shape->block;
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t at[BATCH];
    gbsi_odometer o;
    gbsi_pool_share(f->shape->n_blocks, 1, member, f->n_members, &begin, &end);
    gbsi_odometer_init(&o, f->shape);
    gbsi_odometer_set(&o, begin);
    for (uint32_t i = 0; i < f->n_operands; ++i) {
        at[i] = gbsi_odometer_offset(&o, f->operand[i].stride);
    }
    for (uint64_t b = begin; b < end && !gbsi_watch_stopped(f->watch); ++b) {
        double *t = f->table + b * block;
        if (member == 0) {
            (void)gbsi_watch_spend(f->watch, block * (f->n_operands + 1));
        }
        if (f->first) {
            for (size_t i = 0; i < block; ++i) {
                t[i] = f->take_in->nothing;
            }
        }
        for (uint32_t i = 0; i < f->n_operands; ++i) {
            take_in(f, &f->operand[i], at[i], t);
        }
        if (f->last && f->message != NULL) {
            const size_t n_rows = block / f->clique->n_columns;
            finish_rows(f, t, n_rows, f->message + b * n_rows);
        }
        const uint32_t k = gbsi_odometer_step(&o);
        for (uint32_t i = 0; i < f->n_operands && b + 1 < end; ++i) {
            at[i] += f->operand[i].carry[k];
        }
    }
}

static void fill_batch(gbsi_tables *tables, filling *f, bool last)
{
    gbsi_odometer o;
    gbsi_odometer_init(&o, f->shape);
    for (uint32_t i = 0; i < f->n_operands; ++i) {
        gbsi_odometer_carry(&o, f->operand[i].stride, f->operand[i].carry);
    }
    f->last = last;
    const bool alone = f->shape->block * f->shape->n_blocks < SHARED;
    f->n_members = alone ? 1 : gbsi_pool_size(tables->pool);
    gbsi_pool_run(alone ? NULL : tables->pool, fill_blocks, f);
    f->first = false;
    f->n_operands = 0;
    f->n_values = 0;
}

static void add_to_batch(gbsi_tables *tables, filling *f, uint32_t n, const uint32_t *variable,
                         const double *data)
{
    if (f->n_operands == BATCH) {
        fill_batch(tables, f, false);
    }
    gbsi_operand *o = &f->operand[f->n_operands];
    gbsi_operand_init(o, f->shape, tables->axis_of, tables->tree->model->arity, n, variable,
                      tables->map + f->n_operands * f->shape->block);
    o->data = data;
    ++f->n_operands;
}

/* Writes the log-weights of a factor that is not a table, one for each state of its scope. */
static void evaluate_factor(const gbsi_conditioned *model, size_t f, double *value)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
    uint32_t x[GBSI_TREE_AXES] = {0};
    size_t entry = 0;
    uint32_t k = n;
    while (k > 0) {
        value[entry++] = gbsi_factor_value_at(factors, model->arity, f, x);
        for (k = n; k > 0 && ++x[k - 1] == model->arity[scope[k - 1]]; --k) {
            x[k - 1] = 0;
        }
    }
}

static size_t scope_states(const gbsi_conditioned *model, size_t f)
{
    const gbsi_factors *factors = &model->factors;
    size_t n = 1;
    for (size_t k = factors->scope_start[f]; k < factors->scope_start[f + 1]; ++k) {
        n *= model->arity[factors->scope[k]];
    }
    return n;
}

const double *gbsi_factor_logs(const gbsi_conditioned *model, size_t f, double *room, size_t *n)
{
    const gbsi_factors *factors = &model->factors;
    *n = scope_states(model, f);
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        return factors->table + factors->table_start[factors->aux[f]];
    }
    evaluate_factor(model, f, room);
    return room;
}

/* Adds the factor number k of the tree to the current batch of operands. @param k index of the
 * factor in tree->factor. */
static void add_factor(gbsi_tables *tables, filling *f, size_t k)
{
    const gbsi_conditioned *model = tables->tree->model;
    const gbsi_factors *factors = &model->factors;
    const size_t factor = tables->tree->factor[k];
    const size_t first = factors->scope_start[factor];
    const uint32_t n = (uint32_t)(factors->scope_start[factor + 1] - first);
    size_t n_states = scope_states(model, factor);
    if (f->n_operands == BATCH || f->n_values + n_states > f->room) {
        fill_batch(tables, f, false);
    }
    double *room = tables->factor + f->n_values;
    const double *values = gbsi_factor_logs(model, factor, room, &n_states);
    if (f->take_in == &f->loops->multiply) {
        const gbsi_pieces pieces = gbsi_pieces_of(tables);
        memmove(room, values, n_states * sizeof *room);
        gbsi_pieces_exp_less(&pieces, room, n_states, tables->top[k]);
        values = room;
    }
    add_to_batch(tables, f, n, factors->scope + first, values);
    f->n_values += values == room ? n_states : 0;
}

/* ---- long rows ----------------------------------------------------------------------------- */

/* Does the work of gbsi_table_loops.sum_rows for one row of log-weights that is longer than a
 * piece. */
static double finish_long_row(const gbsi_pieces *pieces, double *t, size_t n)
{
    const double max = gbsi_pieces_max(pieces, t, n);
    if (max == -INFINITY) {
        memset(t, 0, n * sizeof *t);
        return max;
    }
    gbsi_pieces_exp_less(pieces, t, n, max);
    const double sum = gbsi_pieces_sum(pieces, t, n);
    gbsi_pieces_multiply(pieces, t, n, 1.0 / sum);
    return max + gbsi_log(sum);
}

static double long_row_message(const gbsi_pieces *pieces, const filling *f, double *t, size_t n)
{
    return f->take_in == &f->loops->multiply ? gbsi_pieces_sum(pieces, t, n)
           : f->clique->maximise             ? gbsi_pieces_max(pieces, t, n)
                                             : finish_long_row(pieces, t, n);
}

void gbsi_clique_finish_row(gbsi_tables *tables, const gbsi_clique *c, double *row)
{
    const gbsi_pieces pieces = gbsi_pieces_of(tables);
    double log_sum = 0.0;
    if (c->n_columns > GBSI_PIECE) {
        (void)finish_long_row(&pieces, row, c->n_columns);
    } else {
        gbsi_table_loops_now()->sum_rows(row, 1, c->n_columns, &log_sum);
    }
}

/* ---- a clique ------------------------------------------------------------------------------ */

typedef struct row_job {
    const filling *f;
    double *message;
    uint32_t n_members;
} row_job;

static void rows_of_member(void *context, uint32_t member)
{
    const row_job *job = context;
    const gbsi_clique *c = job->f->clique;
    uint64_t begin = 0;
    uint64_t end = 0;
    gbsi_pool_share(c->n_rows, 1, member, job->n_members, &begin, &end);
    finish_rows(job->f, job->f->table + begin * c->n_columns, end - begin, job->message + begin);
}

/* Finishes rows that are longer than a block. */
static void finish_clique(gbsi_tables *tables, const filling *f, double *message)
{
    const gbsi_clique *c = f->clique;
    if (c->n_columns > GBSI_PIECE) {
        const gbsi_pieces pieces = gbsi_pieces_of(tables);
        for (size_t r = 0; r < c->n_rows && !gbsi_watch_stopped(tables->watch); ++r) {
            message[r] = long_row_message(&pieces, f, f->table + r * c->n_columns, c->n_columns);
        }
        return;
    }
    const bool alone = c->n_rows * c->n_columns < SHARED;
    row_job job = {f, message, alone ? 1 : gbsi_pool_size(tables->pool)};
    gbsi_pool_run(alone ? NULL : tables->pool, rows_of_member, &job);
}

void gbsi_clique_fill(gbsi_tables *tables, uint32_t i, double *message)
{
    const gbsi_tree *tree = tables->tree;
    const gbsi_clique *c = &tree->clique[i];
    const gbsi_table_loops *loops = gbsi_table_loops_now();
    gbsi_shape shape;
    gbsi_shape_of(tree, c, &shape, tables->axis_of);
    filling f = {.clique = c,
                 .watch = tables->watch,
                 .loops = loops,
                 .take_in = tables->weights[i] ? &loops->multiply : &loops->add,
                 .shape = &shape,
                 .room = c->in_branch && n_values(tree) > GBSI_BRANCH_ENTRIES ? GBSI_BRANCH_ENTRIES
                                                                              : n_values(tree),
                 .first = true,
                 .table = gbsi_table_of(tables, c),
                 .message = shape.block >= c->n_columns ? message : NULL};
    for (size_t k = tree->factor_start[i]; k < tree->factor_start[i + (size_t)1]; ++k) {
        add_factor(tables, &f, k);
    }
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        const gbsi_clique *child = &tree->clique[tree->child[k]];
        add_to_batch(tables, &f, child->n_separator, tree->variable + child->first,
                     gbsi_message_of(tables, child));
    }
    fill_batch(tables, &f, true);
    if (f.message == NULL) {
        finish_clique(tables, &f, message);
    }
}
