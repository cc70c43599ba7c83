/* SPDX-License-Identifier: Apache-2.0 */
/* Does the work of loops_lanes.c for one chain in logarithms and in double. This file is used for
 * chains whose weights exceed the range of floats, and for splashes with variables that need sums
 * in double. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "simd/math.h"
#include "splash/loops.h"
#include "trees/clique_table.h"

/* ---- factors with variables outside the splash ---------------------------------------------- */

static double *base_of(const gbsi_splash_job *job, const gbsi_splash_clique *c, uint32_t lane)
{
    return job->work->log_base + (size_t)lane * job->program->n_base + c->base;
}

/* Reads the states of a slot in chains first to end - 1. If the slot has a row of sixteen states of
 * one byte each, the whole row is read at once. */
static void read_lanes(const gbsi_splash_view *view, uint32_t slot, uint32_t first, uint32_t end,
                       uint32_t *x)
{
    if (view->lanes == GBSI_LANES && view->value_bytes == 1) {
        const uint8_t *row = (const uint8_t *)view->state[0] + (size_t)slot * GBSI_LANES;
        for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
            x[lane] = row[lane];
        }
        return;
    }
    for (uint32_t lane = first; lane < end; ++lane) {
        x[lane] = gbsi_view_at(view, slot, lane);
    }
}

/* Adds the log-weights of links to neighbours outside the splash. The list of neighbours is walked
 * once for all chains. Each walk through the list serves two own states, whose sums stay in
 * registers. The terms of each chain's sum are added in the order of the neighbours, as if the
 * chain were alone. */
static void sum_links(const gbsi_splash_job *job, const gbsi_splash_clique *c, uint32_t a,
                      uint32_t n, uint32_t first, uint32_t end)
{
    const gbsi_potentials *p = job->potentials;
    const gbsi_splash_outer *outer = job->program->outer + c->first_outer;
    const double *field = p->field64 + p->field_start[c->slot] + a;
    const uint32_t second = n - 1;
    double sum[GBSI_LANES][2];
    for (uint32_t lane = first; lane < end; ++lane) {
        sum[lane][0] = field[0];
        sum[lane][1] = field[second];
    }
    for (uint32_t o = 0; o < c->n_outer; ++o) {
        const double *table = p->log64 + outer[o].table + a;
        uint32_t x[GBSI_LANES];
        read_lanes(job->view, outer[o].slot, first, end, x);
        for (uint32_t lane = first; lane < end; ++lane) {
            const double *row = table + (size_t)x[lane] * c->arity;
            sum[lane][0] += row[0];
            sum[lane][1] += row[second];
        }
    }
    for (uint32_t lane = first; lane < end; ++lane) {
        double *base = base_of(job, c, lane) + a;
        base[0] = sum[lane][0];
        base[second] = sum[lane][1];
    }
}

void gbsi_logs_outside(const gbsi_splash_job *job, unsigned lanes)
{
    uint32_t first = 0;
    uint32_t end = GBSI_LANES;
    while ((lanes >> first & 1u) == 0) {
        ++first;
    }
    while ((lanes >> (end - 1) & 1u) == 0) {
        --end;
    }
    for (uint32_t i = 0; i < job->program->n; ++i) {
        const gbsi_splash_clique *c = &job->program->clique[i];
        for (uint32_t a = 0; a < c->arity; a += 2) {
            sum_links(job, c, a, c->arity - a < 2 ? 1 : 2, first, end);
        }
        for (uint32_t m = c->first_given; m < c->first_given + c->n_given; ++m) {
            gbsi_splash_add_given(job, &job->program->many[m], first, end, base_of(job, c, 0),
                                  job->program->n_base);
        }
    }
}

/* Fills the tables of long factors with several variables inside, except factors that the variables
 * outside decide. */
static void fill_shared(const gbsi_splash_job *job, uint32_t lane)
{
    const gbsi_splash_program *program = job->program;
    const size_t *start = job->potentials->plan->model->factors.scope_start;
    gbsi_splash_work *work = job->work;
    for (uint32_t m = 0; m < program->n_many; ++m) {
        const gbsi_splash_many *many = &program->many[m];
        if (many->n_inside > 1) {
            work->decided[m] = !gbsi_splash_many_logs(job, many, lane, work->log_many + many->at);
            work->n_log_long += many->n_entries + start[many->factor + 1] - start[many->factor];
        }
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const double *entries_of(const gbsi_splash_job *job, const gbsi_splash_operand *operand)
{
    switch ((gbsi_operand_kind)operand->kind) {
    case GBSI_SPLASH_LINK:
        return job->potentials->log64 + operand->at;
    case GBSI_SPLASH_MANY:
        return job->work->log_many + operand->at;
    default:
        return job->work->log_message + operand->at;
    }
}

/* Computes the states of a clique's axes at a given row of the clique. */
static void states_of_row(const gbsi_splash_clique *c, uint32_t row, uint32_t *x)
{
    for (uint32_t j = 0; j < c->n_axes; ++j) {
        x[j] = row / c->row_stride[j] % c->axis_arity[j];
    }
}

/* Computes the log-weights of own states, given states x of the axes. */
static void fill_row(const gbsi_splash_job *job, const gbsi_splash_clique *c, uint32_t lane,
                     const uint32_t *x, double *out)
{
    memcpy(out, base_of(job, c, lane), c->arity * sizeof *out);
    for (uint32_t o = c->first_operand; o < c->first_operand + c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &job->program->operand[o];
        const double *entry = entries_of(job, operand);
        if (operand->kind == GBSI_SPLASH_MANY && job->work->decided[operand->number] != 0) {
            continue;
        }
        for (uint32_t j = 0; j < operand->depth; ++j) {
            entry += (size_t)x[j] * operand->stride[j];
        }
        for (uint32_t a = 0; a < c->arity; ++a) {
            out[a] += entry[a];
        }
    }
}

/* Returns the number of operands of a clique that are long factors and that the states outside do
 * not decide. */
static uint32_t count_long(const gbsi_splash_job *job, const gbsi_splash_clique *c)
{
    uint32_t n = 0;
    for (uint32_t o = c->first_operand; o < c->first_operand + c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &job->program->operand[o];
        n += operand->kind == GBSI_SPLASH_MANY && job->work->decided[operand->number] == 0;
    }
    return n;
}

/* Fills work->table with p(own state | separator), and `message` with the logarithms of the sums
 * over own states. */
static void fill_table(const gbsi_splash_job *job, const gbsi_splash_clique *c, uint32_t lane,
                       double *message)
{
    double *table = job->work->table;
    for (uint32_t row = 0; row < c->n_rows; ++row) {
        uint32_t x[GBSI_SPLASH_WIDTH];
        states_of_row(c, row, x);
        fill_row(job, c, lane, x, table + (size_t)row * c->arity);
    }
    gbsi_table_loops_now()->sum_rows(table, c->n_rows, c->arity, message);
}

/* Subtracts the maximum of a message, so that messages do not grow from clique to clique. @return
 * false if no entry is finite. */
static bool normalise(double *message, uint32_t n)
{
    double top = -INFINITY;
    for (uint32_t r = 0; r < n; ++r) {
        top = message[r] > top ? message[r] : top;
    }
    for (uint32_t r = 0; r < n && top > -INFINITY; ++r) {
        message[r] -= top;
    }
    return top > -INFINITY;
}

bool gbsi_logs_up(const gbsi_splash_job *job, uint32_t lane)
{
    const gbsi_splash_program *program = job->program;
    bool alive = true;
    fill_shared(job, lane);
    for (uint32_t i = program->n; alive && i-- > 0;) {
        const gbsi_splash_clique *c = &program->clique[i];
        double *message = job->work->log_message + c->message;
        fill_table(job, c, lane, message);
        job->work->n_log_long += (uint64_t)c->n_rows * c->arity * count_long(job, c);
        alive = normalise(message, c->n_rows);
    }
    return alive;
}

/* ---- states ---------------------------------------------------------------------------------- */

bool gbsi_logs_weigh(const gbsi_splash_job *job, uint32_t i, uint32_t lane)
{
    const gbsi_splash_clique *c = &job->program->clique[i];
    const gbsi_splash_work *work = job->work;
    double *logw = work->table;
    double top = -INFINITY;
    uint32_t x[GBSI_SPLASH_WIDTH];
    for (uint32_t j = 0; j < c->n_axes; ++j) {
        x[j] = work->x[(size_t)c->variable[j] * GBSI_LANES + lane];
    }
    fill_row(job, c, lane, x, logw);
    for (uint32_t a = 0; a < c->arity; ++a) {
        top = logw[a] > top ? logw[a] : top;
    }
    for (uint32_t a = 0; a < c->arity; ++a) {
        for (uint32_t l = 0; l < GBSI_LANES; ++l) {
            work->w[(size_t)a * GBSI_LANES + l] = 1.0F;
        }
        if (top > -INFINITY) {
            work->w[(size_t)a * GBSI_LANES + lane] = (float)gbsi_exp(logw[a] - top);
        }
    }
    return top > -INFINITY;
}

/* ---- down ------------------------------------------------------------------------------------ */

static void give_children(const gbsi_splash_job *job, const gbsi_splash_clique *c,
                          const uint32_t *x, double q, const double *p)
{
    for (uint32_t o = c->first_operand; o < c->first_operand + c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &job->program->operand[o];
        if (operand->kind != GBSI_SPLASH_MESSAGE) {
            continue;
        }
        double *to = job->work->log_q + operand->at;
        for (uint32_t j = 0; j < operand->depth; ++j) {
            to += (size_t)x[j] * operand->stride[j];
        }
        for (uint32_t a = 0; a < c->arity; ++a) {
            to[a] += q * p[a];
        }
    }
}

/* Computes marginals downwards. Parents are processed before children, so that the marginal of a
 * clique's separator is complete when the clique is processed. */
void gbsi_logs_down(const gbsi_splash_job *job, uint32_t lane)
{
    const gbsi_splash_program *program = job->program;
    gbsi_splash_work *work = job->work;
    memset(work->log_q, 0, program->n_rows * sizeof *work->log_q);
    for (uint32_t i = 0; i < program->n; ++i) {
        const gbsi_splash_clique *c = &program->clique[i];
        float *p = work->p + (size_t)c->base * GBSI_LANES + lane;
        double *own = base_of(job, c, lane); /* gets the sums over rows, in place of the base */
        if (c->n_axes == 0) {
            work->log_q[c->message] = 1.0;
        }
        /* overwrites the message, which is no longer needed */
        fill_table(job, c, lane, work->log_message + c->message);
        memset(own, 0, c->arity * sizeof *own);
        for (uint32_t row = 0; row < c->n_rows; ++row) {
            uint32_t x[GBSI_SPLASH_WIDTH];
            const double q = work->log_q[c->message + row];
            const double *share = work->table + (size_t)row * c->arity;
            states_of_row(c, row, x);
            for (uint32_t a = 0; a < c->arity; ++a) {
                own[a] += q * share[a];
            }
            give_children(job, c, x, q, share);
        }
        for (uint32_t a = 0; a < c->arity; ++a) {
            p[(size_t)a * GBSI_LANES] = (float)own[a];
        }
    }
}
