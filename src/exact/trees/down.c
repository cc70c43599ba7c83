/* SPDX-License-Identifier: Apache-2.0 */
/* The downward half of calibration. The marginal of a clique is p(own | separator) p(separator).
 * Here p(own | separator) is each row of the clique's table divided by the sum of the row, and
 * p(separator) is the probability of the row, which the parent gives. Sums over the clique's
 * marginal give p(separator) for each child, and the marginals of single variables. All terms are
 * products of probabilities. Nothing can overflow, and terms that underflow have a probability
 * below 1e-300. */
#include <assert.h>
#include <string.h>

#include "trees/clique_table.h"
#include "trees/clique_tables.h"
#include "trees/operand.h"

#define SHARED ((size_t)1 << 15) /* least number of table entries that threads share */
/* number of pieces of a marginal, if the shape of the marginal allows this number */
#define MANY_PIECES 64u
#define MOST_FOLDED 2048u /* largest block, in entries, whose axes are summed out one by one */

typedef struct marginal {
    gbsi_watch *watch; /* NULL if the work cannot be stopped */
    const gbsi_table_loops *loops;
    const gbsi_shape *shape;
    gbsi_operand operand;
    size_t carry[GBSI_TREE_AXES]; /* change of the offset in the table by a step along each outer
                                     axis, as gbsi_operand.carry */
    gbsi_odometer order;
    size_t n_pieces, piece; /* number of pieces, and number of blocks of each piece */
    const double *table;
    double *out;
    uint32_t n_members;
    uint32_t n_folds; /* number of elements of `fold`; 0 if a block is summed run by run instead */
    struct fold {
        size_t arity, stride;
    } fold[GBSI_TREE_AXES]; /* axes of a block that are summed out, slowest first */
} marginal;

/* Lists the axes of the block that are summed out, and merges adjacent axes. The list stays empty
 * if the remaining part of a block is not contiguous in the operand. */
static void list_folds(marginal *m)
{
    const gbsi_shape *shape = m->shape;
    size_t left = 1;
    struct fold *f = NULL;
    m->n_folds = 0;
    if (shape->block > MOST_FOLDED) {
        return;
    }
    for (uint32_t k = shape->n_axes; k-- > shape->n_outer;) {
        if (m->operand.stride[k] != 0 && m->operand.stride[k] != left) {
            m->n_folds = 0;
            return;
        }
        if (m->operand.stride[k] != 0) {
            left *= shape->arity[k];
            f = NULL;
        } else if (f != NULL) {
            f->arity *= shape->arity[k];
        } else {
            f = &m->fold[m->n_folds++];
            *f = (struct fold){shape->arity[k], shape->stride[k]};
        }
    }
    for (uint32_t i = 0; i < m->n_folds / 2; ++i) {
        const struct fold other = m->fold[i];
        m->fold[i] = m->fold[m->n_folds - 1 - i];
        m->fold[m->n_folds - 1 - i] = other;
    }
}

/* Sums a block t of the table over the axes in m->fold, and adds the result to `out`. */
static void fold_block(const marginal *m, const double *t, double *out)
{
    double room[2][MOST_FOLDED / 2];
    size_t n = m->shape->block;
    for (uint32_t i = 0; i < m->n_folds; ++i) {
        const struct fold *f = &m->fold[i];
        n /= f->arity;
        m->loops->sum_axis(room[i % 2], t, n / f->stride, f->arity, f->stride);
        t = room[i % 2];
    }
    m->loops->add.dense(out, t, n);
}

static void sum_block(const marginal *m, const double *t, size_t at)
{
    if (m->n_folds > 0) {
        fold_block(m, t, m->out + at);
        return;
    }
    switch (m->operand.form) {
    case GBSI_CONSTANT:
        m->out[at] += m->loops->sum(t, m->shape->block);
        break;
    case GBSI_DENSE:
        m->loops->add.dense(m->out + at, t, m->shape->block);
        break;
    case GBSI_LEVEL_RUNS:
        m->loops->sum_runs(m->out + at, t, m->operand.map, m->shape->block / m->operand.run,
                           m->operand.run);
        break;
    case GBSI_DENSE_RUNS:
        m->loops->scatter_runs(m->out + at, t, m->operand.map, m->shape->block / m->operand.run,
                               m->operand.run);
        break;
    }
}

static void sum_pieces(void *context, uint32_t member)
{
    const marginal *m = context;
    uint64_t begin = 0;
    uint64_t end = 0;
    gbsi_odometer o = m->order;
    gbsi_pool_share(m->n_pieces, 1, member, m->n_members, &begin, &end);
    begin *= m->piece;
    end *= m->piece;
    gbsi_odometer_set(&o, begin);
    size_t from = gbsi_odometer_offset(&o, m->shape->stride);
    size_t to = gbsi_odometer_offset(&o, m->operand.stride);
    for (uint64_t b = begin; b < end && !gbsi_watch_stopped(m->watch); ++b) {
        sum_block(m, m->table + from, to);
        if (member == 0) {
            (void)gbsi_watch_spend(m->watch, m->shape->block);
        }
        const uint32_t k = gbsi_odometer_step(&o);
        if (b + 1 < end) {
            from += m->carry[k];
            to += m->operand.carry[k];
        }
    }
}

/* Puts some axes of m->operand first in the order of the walk, and cuts the work into pieces along
 * these axes. Each piece writes to other entries of the result. The terms of each sum keep the
 * order of the table for any number of pieces. */
static void order_axes(marginal *m)
{
    gbsi_odometer *o = &m->order;
    uint32_t n = 0;
    m->n_pieces = 1;
    for (uint32_t k = 0; k < m->shape->n_outer && m->n_pieces < MANY_PIECES; ++k) {
        if (m->operand.stride[k] != 0) {
            o->axis[n++] = k;
            m->n_pieces *= m->shape->arity[k];
        }
    }
    const uint32_t n_first = n;
    for (uint32_t k = 0; k < m->shape->n_outer; ++k) {
        bool taken = false;
        for (uint32_t j = 0; j < n_first; ++j) {
            taken = taken || o->axis[j] == k;
        }
        if (!taken) {
            o->axis[n++] = k;
        }
    }
    o->n = n;
    for (uint32_t j = 0; j < n; ++j) {
        o->arity[j] = m->shape->arity[o->axis[j]];
        o->digit[j] = 0;
    }
    m->piece = m->shape->n_blocks / m->n_pieces;
    assert(n == m->shape->n_outer && m->piece * m->n_pieces == m->shape->n_blocks);
}

/* Sums a table over all variables except n given ones, and writes the sums to `out`. */
static void sum_onto(gbsi_tables *tables, const gbsi_shape *shape, const double *table, uint32_t n,
                     const uint32_t *variable, size_t n_out, double *out)
{
    marginal m = {.watch = tables->watch,
                  .loops = gbsi_table_loops_now(),
                  .shape = shape,
                  .table = table,
                  .out = out};
    gbsi_operand_init(&m.operand, shape, tables->axis_of, tables->tree->model->arity, n, variable,
                      tables->map);
    if (m.operand.form == GBSI_LEVEL_RUNS || m.operand.form == GBSI_DENSE_RUNS) {
        list_folds(&m);
    }
    memset(out, 0, n_out * sizeof *out);
    const bool alone = shape->block * shape->n_blocks < SHARED;
    gbsi_odometer_init(&m.order, shape);
    m.n_pieces = 1;
    m.piece = shape->n_blocks;
    if (!alone) {
        order_axes(&m);
    }
    gbsi_odometer_carry(&m.order, shape->stride, m.carry);
    gbsi_odometer_carry(&m.order, m.operand.stride, m.operand.carry);
    m.n_members = alone ? 1 : gbsi_pool_size(tables->pool);
    gbsi_pool_run(alone ? NULL : tables->pool, sum_pieces, &m);
}

/* ---- rows ---------------------------------------------------------------------------------- */

typedef struct scaling {
    const gbsi_table_loops *loops;
    const gbsi_clique *clique;
    double *table;
    const double *separator;
    uint32_t n_members;
} scaling;

static void scale_share(void *context, uint32_t member)
{
    const scaling *s = context;
    const size_t n = s->clique->n_columns;
    uint64_t begin = 0;
    uint64_t end = 0;
    gbsi_pool_share(s->clique->n_rows, 1, member, s->n_members, &begin, &end);
    s->loops->weigh_rows(s->table + begin * n, end - begin, n, s->separator + begin);
}

/* Multiplies each row r of a table by p[r] / (sum of row r). The rows are longer than a piece. */
static void weigh_long_rows(const gbsi_tables *tables, const gbsi_clique *c, double *table,
                            const double *p)
{
    const gbsi_pieces pieces = gbsi_pieces_of(tables);
    for (size_t r = 0; r < c->n_rows && !gbsi_watch_stopped(tables->watch); ++r) {
        double *row = table + r * c->n_columns;
        const double sum = gbsi_pieces_sum(&pieces, row, c->n_columns);
        gbsi_pieces_multiply(&pieces, row, c->n_columns, sum > 0.0 ? p[r] / sum : 0.0);
    }
}

/* Turns the table of a clique into joint probabilities, from the probabilities of the states of its
 * separator. */
static void weigh(const gbsi_tables *tables, const gbsi_clique *c, double *table)
{
    const double whole = 1.0; /* probability of the only row of a root */
    const double *p = c->parent == GBSI_NONE ? &whole : gbsi_message_of(tables, c);
    if (c->n_columns > GBSI_PIECE) {
        weigh_long_rows(tables, c, table, p);
        return;
    }
    const bool alone = c->n_rows * c->n_columns < SHARED;
    scaling s = {gbsi_table_loops_now(), c, table, p, alone ? 1 : gbsi_pool_size(tables->pool)};
    gbsi_pool_run(alone ? NULL : tables->pool, scale_share, &s);
}

/* ---- single variables ---------------------------------------------------------------------- */

/* Computes the marginals of the variables whose home is clique i, for one axis after the other,
 * slowest axis first. Each finished axis is summed out in place. All marginals together therefore
 * read about twice the number of entries of the table. */
static void fold_marginals(const gbsi_tree *tree, uint32_t i, const uint32_t *home, double *table,
                           double *p)
{
    const gbsi_table_loops *loops = gbsi_table_loops_now();
    const gbsi_clique *c = &tree->clique[i];
    const uint32_t *variable = tree->variable + c->first;
    uint32_t n_axes = c->n_separator + c->n_own;
    size_t n = c->n_rows * c->n_columns;
    while (n_axes > 0 && home[variable[n_axes - 1]] != i) {
        --n_axes;
    }
    for (uint32_t k = 0; k < n_axes; ++k) {
        const uint32_t v = variable[k];
        const uint32_t arity = tree->model->arity[v];
        n /= arity;
        for (uint32_t a = 0; a < arity && home[v] == i; ++a) {
            p[tree->model->state_offset[v] + a] = loops->sum(table + a * n, n);
        }
        for (uint32_t a = 1; a < arity && k + 1 < n_axes; ++a) {
            loops->add.dense(table, table + a * n, n);
        }
    }
}

/* Divides the probabilities of a variable by their sum, which differs from 1 by rounding errors. */
static void normalise(double *p, uint32_t n)
{
    const gbsi_table_loops *loops = gbsi_table_loops_now();
    const double sum = loops->sum(p, n);
    assert(sum > 0.0);
    for (uint32_t a = 0; a < n; ++a) {
        p[a] /= sum;
    }
}

static void clique_down(gbsi_tables *tables, uint32_t i, const uint32_t *home, double *p)
{
    const gbsi_tree *tree = tables->tree;
    const gbsi_clique *c = &tree->clique[i];
    double *table = gbsi_table_of(tables, c);
    gbsi_shape shape;
    gbsi_clique_remake(tables, i);
    gbsi_shape_of(tree, c, &shape, tables->axis_of);
    weigh(tables, c, table);
    for (size_t k = tree->child_start[i]; k < tree->child_start[i + (size_t)1]; ++k) {
        const gbsi_clique *child = &tree->clique[tree->child[k]];
        sum_onto(tables, &shape, table, child->n_separator, tree->variable + child->first,
                 child->n_rows, gbsi_message_of(tables, child));
    }
    if (gbsi_watch_stopped(tables->watch) ||
        gbsi_watch_spend(tables->watch, 3 * c->n_rows * c->n_columns)) {
        return; /* after a stop of the watch, sums are incomplete and may be zero */
    }
    fold_marginals(tree, i, home, table, p);
    for (size_t k = c->first; k < c->first + c->n_separator + c->n_own; ++k) {
        const uint32_t v = tree->variable[k];
        if (home[v] == i) {
            normalise(p + tree->model->state_offset[v], tree->model->arity[v]);
        }
    }
}

typedef struct downward {
    const uint32_t *home;
    double *p;
} downward;

static void branch_down(gbsi_tables *tables, void *context, const gbsi_branch *branch)
{
    const downward *d = context;
    for (uint32_t i = branch->end; i-- > branch->begin && !gbsi_watch_stopped(tables->watch);) {
        clique_down(tables, i, d->home, d->p);
    }
}

void gbsi_tree_down(gbsi_tables *tables, uint32_t t, const uint32_t *home, double *p)
{
    const gbsi_tree *tree = tables->tree;
    const uint32_t first = t == 0 ? 0 : tree->tree_end[t - 1];
    downward d = {home, p};
    for (uint32_t i = tree->tree_end[t]; i-- > first && !gbsi_watch_stopped(tables->watch);) {
        if (!tree->clique[i].in_branch) {
            clique_down(tables, i, home, p);
        }
    }
    gbsi_branches_do(tables, t, branch_down, &d);
}
