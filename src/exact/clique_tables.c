/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a calibration, and the upward step of one clique:
 *     table = sum of its factors + sum of its children's messages          (log-weights)
 *     message = ln sum over its own variables of exp(table), or the maximum
 * Work goes block by block, so that a table is written once and a row is finished while it is in
 * the cache. The threads of the pool share blocks and rows; the order of every sum is fixed. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "exact/clique_table.h"
#include "exact/local.h"
#include "exact/operand.h"
#include "simd/math.h"

#define BATCH  8u                /* operands added at once */
#define PIECE  ((size_t)1 << 15) /* entries of a long row that one thread takes */
#define SHARED ((size_t)1 << 15) /* entries from which on the pool is worth waking */
#define VALUES ((size_t)1 << 10) /* of the factors of a batch that are no tables, at least */

/* ---- memory -------------------------------------------------------------------------------- */

static size_t n_partial(const gbsi_tree *tree)
{
    size_t most = 0;
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        most = tree->clique[i].n_columns > most ? tree->clique[i].n_columns : most;
    }
    return most / PIECE + 1;
}

/* Entries of room for the values of the largest factor, or of several small factors. */
static size_t n_values(const gbsi_tree *tree)
{
    return tree->n_factor > VALUES ? tree->n_factor : VALUES;
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

uint64_t gbsi_tree_work_bytes(const gbsi_tree *tree, gbsi_keep keep)
{
    uint64_t n = gbsi_saturating_add(n_tables(tree, keep), n_messages(tree, keep));
    n = gbsi_saturating_add(n, n_remade(tree, keep));
    n = gbsi_saturating_add(gbsi_saturating_add(n, n_values(tree)), n_partial(tree));
    const uint64_t small = (uint64_t)tree->model->n_variables * sizeof(uint32_t) +
                           gbsi_shape_most(tree) * BATCH * sizeof(uint32_t);
    return gbsi_saturating_add(gbsi_saturating_mul(n, sizeof(double)), small);
}

gbs_status gbsi_tables_new(const gbsi_tree *tree, gbsi_keep keep, gbsi_pool *pool,
                           gbsi_tables **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *t = gbsi_alloc_zero(sizeof *t);
    if (t == NULL) {
        return gbsi_no_memory(err, "junction tree", sizeof *t);
    }
    t->tree = tree;
    t->keep = keep;
    t->pool = pool;
    t->table = gbsi_alloc_array(n_tables(tree, keep), sizeof *t->table);
    t->stack = gbsi_alloc_array(n_messages(tree, keep), sizeof *t->stack);
    t->remade = gbsi_alloc_array(n_remade(tree, keep), sizeof *t->remade);
    t->factor = gbsi_alloc_array(n_values(tree), sizeof *t->factor);
    t->axis_of = gbsi_alloc_array(tree->model->n_variables, sizeof *t->axis_of);
    t->map = gbsi_alloc_array(gbsi_shape_most(tree) * BATCH, sizeof *t->map);
    t->partial = gbsi_alloc_array(n_partial(tree), sizeof *t->partial);
    if (t->table == NULL || t->stack == NULL || t->remade == NULL || t->factor == NULL ||
        t->axis_of == NULL || t->map == NULL || t->partial == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "junction tree", n_tables(tree, keep) * sizeof *t->table));
    }
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
    gbsi_free(tables->table);
    gbsi_free(tables->stack);
    gbsi_free(tables->remade);
    gbsi_free(tables->factor);
    gbsi_free(tables->axis_of);
    gbsi_free(tables->map);
    gbsi_free(tables->partial);
    gbsi_free(tables);
}

/* ---- filling a table ----------------------------------------------------------------------- */

typedef struct filling {
    gbsi_watch *watch; /* NULL: cannot be stopped */
    const gbsi_clique *clique;
    const gbsi_table_loops *loops;
    const gbsi_shape *shape;
    gbsi_operand operand[BATCH];
    uint32_t n_operands;
    size_t n_values;  /* of tables->factor in use */
    bool first, last; /* whether this is the first or last batch of the clique's operands */
    double *table;
    double *message; /* out, if a block holds whole rows; else NULL */
    uint32_t n_members;
} filling;

static void add_operand(const filling *f, const gbsi_operand *o, size_t at, double *t)
{
    switch (o->form) {
    case GBSI_CONSTANT:
        f->loops->add_constant(t, f->shape->block, o->data[at]);
        break;
    case GBSI_DENSE:
        f->loops->add_dense(t, o->data + at, f->shape->block);
        break;
    case GBSI_MAPPED:
        f->loops->add_mapped(t, o->data + at, o->map, f->shape->block);
        break;
    }
}

static void finish_rows(const filling *f, double *t, size_t n_rows, double *message)
{
    if (f->clique->maximise) {
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
            memset(t, 0, block * sizeof *t);
        }
        for (uint32_t i = 0; i < f->n_operands; ++i) {
            add_operand(f, &f->operand[i], at[i], t);
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

/* Writes out the values, over its scope, of a factor that is no table. */
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

static void add_factor(gbsi_tables *tables, filling *f, size_t factor)
{
    const gbsi_conditioned *model = tables->tree->model;
    const gbsi_factors *factors = &model->factors;
    const size_t first = factors->scope_start[factor];
    const uint32_t n = (uint32_t)(factors->scope_start[factor + 1] - first);
    if (factors->kind[factor] == GBS_FACTOR_TABLE) {
        add_to_batch(tables, f, n, factors->scope + first,
                     factors->table + factors->table_start[factors->aux[factor]]);
        return;
    }
    const size_t n_states = scope_states(model, factor);
    if (f->n_operands == BATCH || f->n_values + n_states > n_values(tables->tree)) {
        fill_batch(tables, f, false);
    }
    double *values = tables->factor + f->n_values;
    evaluate_factor(model, factor, values);
    add_to_batch(tables, f, n, factors->scope + first, values);
    f->n_values += n_states;
}

/* ---- long rows ----------------------------------------------------------------------------- */

typedef struct long_row {
    const gbsi_table_loops *loops;
    double *t;
    size_t n, n_pieces;
    double *partial; /* [n_pieces] */
    double max, inverse;
    uint32_t n_members;
    enum { FIND_MAX, EXP_SUM, SCALE } job;
} long_row;

static void row_pieces(void *context, uint32_t member)
{
    const long_row *r = context;
    uint64_t begin = 0;
    uint64_t end = 0;
    gbsi_pool_share(r->n_pieces, 1, member, r->n_members, &begin, &end);
    for (uint64_t i = begin; i < end; ++i) {
        double *t = r->t + i * PIECE;
        const size_t n = r->n - i * PIECE < PIECE ? r->n - i * PIECE : PIECE;
        switch (r->job) {
        case FIND_MAX:
            r->partial[i] = r->loops->max(t, n);
            break;
        case EXP_SUM:
            r->partial[i] = r->loops->exp_sum(t, n, r->max);
            break;
        case SCALE:
            r->loops->scale(t, n, r->inverse);
            break;
        }
    }
}

static double finish_long_row(gbsi_tables *tables, const gbsi_clique *c, double *t)
{
    long_row r = {.loops = gbsi_table_loops_now(),
                  .t = t,
                  .n = c->n_columns,
                  .n_pieces = (c->n_columns + PIECE - 1) / PIECE,
                  .partial = tables->partial,
                  .n_members = gbsi_pool_size(tables->pool),
                  .job = FIND_MAX};
    gbsi_pool_run(tables->pool, row_pieces, &r);
    r.max = r.loops->max(r.partial, r.n_pieces);
    if (c->maximise) {
        return r.max;
    }
    if (r.max == -INFINITY) {
        memset(t, 0, r.n * sizeof *t);
        return r.max;
    }
    r.job = EXP_SUM;
    gbsi_pool_run(tables->pool, row_pieces, &r);
    const double sum = r.loops->sum(r.partial, r.n_pieces);
    r.inverse = 1.0 / sum;
    r.job = SCALE;
    gbsi_pool_run(tables->pool, row_pieces, &r);
    double log_sum = sum;
    gbsi_log_many(&log_sum, 1);
    return r.max + log_sum;
}

double gbsi_clique_finish_row(gbsi_tables *tables, const gbsi_clique *c, double *row)
{
    double log_sum = 0.0;
    if (c->n_columns > PIECE) {
        return finish_long_row(tables, c, row);
    }
    gbsi_table_loops_now()->sum_rows(row, 1, c->n_columns, &log_sum);
    return log_sum;
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
    if (c->n_columns > PIECE) {
        for (size_t r = 0; r < c->n_rows && !gbsi_watch_spend(tables->watch, c->n_columns); ++r) {
            message[r] = finish_long_row(tables, c, f->table + r * c->n_columns);
        }
        return;
    }
    const bool alone = c->n_rows * c->n_columns < SHARED;
    row_job job = {f, message, alone ? 1 : gbsi_pool_size(tables->pool)};
    gbsi_pool_run(alone ? NULL : tables->pool, rows_of_member, &job);
}

/* Makes the table of clique i from its factors and the messages of its children.
 * @param message out: its message, not yet normalised. */
static void fill_clique(gbsi_tables *tables, uint32_t i, double *message)
{
    const gbsi_tree *tree = tables->tree;
    const gbsi_clique *c = &tree->clique[i];
    gbsi_shape shape;
    gbsi_shape_of(tree, c, &shape, tables->axis_of);
    filling f = {.clique = c,
                 .watch = tables->watch,
                 .loops = gbsi_table_loops_now(),
                 .shape = &shape,
                 .first = true,
                 .table = gbsi_table_of(tables, c),
                 .message = shape.block >= c->n_columns ? message : NULL};
    for (size_t k = tree->factor_start[i]; k < tree->factor_start[i + (size_t)1]; ++k) {
        add_factor(tables, &f, tree->factor[k]);
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

/* Where the message of clique i is made: in its place if all messages are kept, otherwise on the
 * stack behind the messages of its children. */
static double *new_message(const gbsi_tables *tables, uint32_t i)
{
    const gbsi_tree *tree = tables->tree;
    double *at = gbsi_message_of(tables, &tree->clique[i]);
    if (gbsi_keeps_messages(tables->keep)) {
        return at;
    }
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        at += tree->clique[tree->child[k]].n_rows;
    }
    return at;
}

/* @return what was subtracted from the message to make its largest number 0. */
static double clique_up(gbsi_tables *tables, uint32_t i)
{
    const gbsi_clique *c = &tables->tree->clique[i];
    const gbsi_table_loops *loops = gbsi_table_loops_now();
    double *message = new_message(tables, i);
    fill_clique(tables, i, message);
    const double max = loops->max(message, c->n_rows);
    if (max > -INFINITY) {
        loops->add_constant(message, c->n_rows, -max);
    }
    memmove(gbsi_message_of(tables, c), message, c->n_rows * sizeof *message);
    return max;
}

void gbsi_clique_remake(gbsi_tables *tables, uint32_t i)
{
    if (tables->keep == GBSI_KEEP_MESSAGES) {
        fill_clique(tables, i, tables->remade);
    }
}

void gbsi_tree_up(gbsi_tables *tables, uint32_t t, double *log_z)
{
    const gbsi_tree *tree = tables->tree;
    gbsi_sum total = {0};
    for (uint32_t i = t == 0 ? 0 : tree->tree_end[t - 1];
         i < tree->tree_end[t] && !gbsi_watch_stopped(tables->watch); ++i) {
        total = gbsi_sum_add(total, (gbsi_sum){.high = clique_up(tables, i)});
    }
    *log_z = total.high + total.low;
}
