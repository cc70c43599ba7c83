/* SPDX-License-Identifier: Apache-2.0 */
/* Asymmetric pseudo-likelihood of a dense Potts model [M62]: each site has its own couplings. One
 * thread finds them by a logistic regression for each site, in a block of memory (potts_rows.h). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learn/climb.h"
#include "potts/potts.h"
#include "simd/math.h"

typedef struct outcome {
    double objective, square;
    uint64_t iterations, evaluations;
    bool converged;
} outcome;

typedef struct sites {
    gbsi_potts *potts;
    const gbs_potts_options *options;
    double *block;    /* [members][n_block + GBSI_CLIMB_PADDING] block at which L-BFGS evaluates the
                         objective */
    outcome *outcome; /* [n_sites] */
    _Atomic bool no_memory;
    _Atomic uint32_t next;
} sites;

/* The regression of one site. */
typedef struct problem {
    sites *s;
    outcome *outcome;
    uint32_t site, member;
} problem;

static bool stops(const sites *s, uint32_t member, uint64_t n_operations)
{
    gbsi_watch *watch = &s->potts->work->watch;
    return member == 0 ? gbsi_watch_spend(watch, n_operations) : gbsi_watch_stopped(watch);
}

/* @return l2/2 |h_i|^2 + l2/4 |J^i|^2 - sum of weight ln p(x_i | others). The two halves of a
 * coupling together have the penalty of one coupling. */
static double evaluate(void *context, const double *x, double *gradient)
{
    problem *q = context;
    const gbsi_potts *p = q->s->potts;
    const size_t row = (size_t)p->n_states * p->width;
    gbsi_potts_site site = {.site = q->site, .block = x, .slope = gradient};
    double penalty = 0.0;
    q->outcome->evaluations++;
    if (!gbsi_potts_sum_rows(p, q->member, &site)) {
        memset(gradient, 0, p->n_block * sizeof *gradient);
        return INFINITY;
    }
    for (size_t k = 0; k < p->n_block; ++k) {
        const double l2 = k / row == q->site ? q->s->options->l2 : 0.5 * q->s->options->l2;
        gradient[k] += l2 * x[k];
        penalty += 0.5 * l2 * x[k] * x[k];
    }
    return penalty - site.log_p;
}

static bool advance(void *context, const gbsi_climb_point *at)
{
    problem *q = context;
    q->outcome->objective = at->objective;
    q->outcome->square = at->slope * at->slope;
    q->outcome->iterations = at->iteration;
    return !gbsi_watch_stopped(&q->s->potts->work->watch);
}

static void solve_sites(void *context, uint32_t member)
{
    sites *s = context;
    gbsi_potts *p = s->potts;
    double *x = s->block + member * (p->n_block + GBSI_CLIMB_PADDING);
    uint32_t i = 0;
    while ((i = s->next++) < p->n_sites && !s->no_memory && !stops(s, member, p->n_block)) {
        problem q = {.s = s, .outcome = &s->outcome[i], .site = i, .member = member};
        gbsi_climb climb = {.n = p->n_block,
                            .iterations = s->options->iterations,
                            .window = GBSI_CLIMB_WINDOW,
                            .tolerance = s->options->tolerance,
                            .context = &q,
                            .evaluate = evaluate,
                            .advance = advance};
        memset(x, 0, p->n_block * sizeof *x);
        if (!gbsi_climb_run(&climb, x)) {
            s->no_memory = true;
            return;
        }
        q.outcome->converged = climb.converged || climb.rounded;
        gbsi_potts_centre_block(p, i, x);
        gbsi_potts_scatter(p, x, i);
        if (member == 0) {
            p->work->progress.pass = i;
        }
    }
}

/* Replaces the two halves of each coupling by their mean. */
static void join_halves(void *context, uint32_t member)
{
    const gbsi_potts *p = ((sites *)context)->potts;
    const size_t n_fields = (size_t)p->n_sites * p->n_states;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(p->n, 8, member, gbsi_pool_size(p->work->pool), &first, &end);
    for (size_t k = first; k < end; ++k) {
        p->gradient[k] = k < n_fields ? p->gradient[k] : 0.5 * (p->gradient[k] + p->other[k]);
    }
}

static void fill_report(const sites *s, gbs_potts_report *r)
{
    double square = 0.0;
    r->converged = 1;
    for (uint32_t i = 0; i < s->potts->n_sites; ++i) {
        const outcome *o = &s->outcome[i];
        r->iterations = o->iterations > r->iterations ? o->iterations : r->iterations;
        r->evaluations += o->evaluations;
        r->objective += o->objective;
        r->converged = r->converged && o->converged;
        square += o->square;
    }
    r->gradient_norm = gbsi_sqrt(square);
}

gbs_status gbsi_potts_sites(gbsi_potts *potts, const gbs_potts_options *options, double *x,
                            gbs_potts_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t members = gbsi_pool_size(potts->work->pool);
    sites s = {.potts = potts, .options = options};
    s.block = gbsi_alloc_lanes(members * (potts->n_block + GBSI_CLIMB_PADDING), sizeof *s.block);
    s.outcome = gbsi_alloc_array_zero(potts->n_sites, sizeof *s.outcome);
    GBSI_TRY(GBSI_HAVE(err, "sites", s.block, s.outcome));
    potts->work->progress.passes = potts->n_sites;
    potts->gradient = x; /* array into which blocks are scattered */
    gbsi_pool_run(potts->work->pool, solve_sites, &s);
    if (s.no_memory) {
        GBSI_TRY(gbsi_no_memory(err, "L-BFGS", gbsi_climb_bytes(potts->n_block)));
    }
    if (gbsi_watch_stopped(&potts->work->watch)) {
        GBSI_TRY(gbsi_watch_fail(err, "learning"));
    }
    gbsi_pool_run(potts->work->pool, join_halves, &s);
    fill_report(&s, report);

cleanup:
    GBSI_FREE(s.block, s.outcome);
    return status;
}
