/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/clique_tables.h"

#include "simd/math.h"
#include "trees/clique_table.h"

typedef enum piece_job { FIND_MAX, FIND_LEAST, SUM, ADD, MULTIPLY, EXP_LESS, LOG } piece_job;

typedef struct pieces {
    const gbsi_table_loops *loops;
    const gbsi_pieces *shared;
    piece_job job;
    const double *from;
    double *to; /* array to which the operation writes its results */
    size_t n, n_pieces;
    double c;
    uint32_t n_members;
} pieces;

static void do_piece(const pieces *p, size_t piece)
{
    const size_t at = piece * GBSI_PIECE;
    const size_t n = p->n - at < GBSI_PIECE ? p->n - at : GBSI_PIECE;
    switch (p->job) {
    case FIND_MAX:
        p->shared->partial[piece] = p->loops->max(p->from + at, n);
        break;
    case FIND_LEAST:
        p->shared->partial[piece] = p->loops->least_above(p->from + at, n, p->c);
        break;
    case SUM:
        p->shared->partial[piece] = p->loops->sum(p->from + at, n);
        break;
    case ADD:
        p->loops->add.constant(p->to + at, n, p->c);
        break;
    case MULTIPLY:
        p->loops->multiply.constant(p->to + at, n, p->c);
        break;
    case EXP_LESS:
        p->loops->exp_less(p->to + at, n, p->c);
        break;
    case LOG:
        gbsi_log_many(p->to + at, n);
        break;
    }
}

static void do_share(void *context, uint32_t member)
{
    const pieces *p = context;
    gbsi_watch *watch = p->shared->watch;
    uint64_t begin = 0;
    uint64_t end = 0;
    gbsi_pool_share(p->n_pieces, 1, member, p->n_members, &begin, &end);
    for (uint64_t i = begin; i < end && !gbsi_watch_stopped(watch); ++i) {
        do_piece(p, i);
        if (member == 0) {
            (void)gbsi_watch_spend(watch, p->n < GBSI_PIECE ? p->n : GBSI_PIECE);
        }
    }
}

static void run(const gbsi_pieces *shared, piece_job job, const double *from, double *to, size_t n,
                double c)
{
    pieces p = {.loops = gbsi_table_loops_now(),
                .shared = shared,
                .job = job,
                .from = from,
                .to = to,
                .n = n,
                .n_pieces = (n + GBSI_PIECE - 1) / GBSI_PIECE,
                .c = c};
    const bool alone = p.n_pieces < 2;
    p.n_members = alone ? 1 : gbsi_pool_size(shared->pool);
    gbsi_pool_run(alone ? NULL : shared->pool, do_share, &p);
}

double gbsi_pieces_max(const gbsi_pieces *shared, const double *t, size_t n)
{
    run(shared, FIND_MAX, t, NULL, n, 0.0);
    return gbsi_table_loops_now()->max(shared->partial, (n + GBSI_PIECE - 1) / GBSI_PIECE);
}

double gbsi_pieces_least_above(const gbsi_pieces *shared, const double *t, size_t n, double floor)
{
    run(shared, FIND_LEAST, t, NULL, n, floor);
    return gbsi_table_loops_now()->least_above(shared->partial, (n + GBSI_PIECE - 1) / GBSI_PIECE,
                                               floor);
}

double gbsi_pieces_sum(const gbsi_pieces *shared, const double *t, size_t n)
{
    run(shared, SUM, t, NULL, n, 0.0);
    return gbsi_table_loops_now()->sum(shared->partial, (n + GBSI_PIECE - 1) / GBSI_PIECE);
}

void gbsi_pieces_add(const gbsi_pieces *shared, double *t, size_t n, double c)
{
    run(shared, ADD, t, t, n, c);
}

void gbsi_pieces_multiply(const gbsi_pieces *shared, double *t, size_t n, double c)
{
    run(shared, MULTIPLY, t, t, n, c);
}

void gbsi_pieces_exp_less(const gbsi_pieces *shared, double *t, size_t n, double max)
{
    run(shared, EXP_LESS, t, t, n, max);
}

void gbsi_pieces_log(const gbsi_pieces *shared, double *t, size_t n)
{
    run(shared, LOG, t, t, n, 0.0);
}
