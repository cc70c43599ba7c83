/* SPDX-License-Identifier: Apache-2.0 */
/* Covariances of 1[X = x] with the joint states of each factor's scope, or with its function phi,
 * over the draws of a run. Draws are counted in batches. If there are 16 chains or more, each chain
 * is a batch. Otherwise batches are pieces of chains; the pieces grow so that each chain has from B
 * / 2 to B pieces. With sums over batch b (of n_b draws) the mean of
 *
 *     w_b(s) = P_b(x, s) - p P_b(s) - P(s) (P_b(x) - p)                                      [M55]
 *
 * is the estimate of Cov(1[X = x], 1[s]). Derivatives are linear in this covariance. Its error is
 * the spread over batches of the mean of (1[X = x] - p) (1[s] - P(s)) [M8]. */
#include "sensitivity/parameters.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gibbsite/run.h"
#include "sensitivity/noisy_scores.h"
#include "sensitivity/reduced.h"
#include "simd/math.h"

#define LEAST_BATCHES 16u

/* Least number of visits to a state with which the spread over batches also covers the values that
 * draws missed. */
#define RARE_VISITS 8.0

typedef struct sampling {
    const gbs_model *model;
    const gbs_run_callbacks *callbacks; /* callbacks of the caller */
    gbs_sensitivities *answer;
    const size_t *first; /* number of the first parameter of each factor */
    gbsi_reduced *reduced;
    gbsi_zero_entries *zeros; /* NULL if the model has no conditional tables */
    gbs_run *run;
    size_t *cell;   /* [factors + 1] first cell of each factor; the last entry is the first cell of
                       the likelihoods */
    size_t n_cells; /* number of cells: one for each joint state of a table; one for phi and one for
                       phi^2 of a formula */
    size_t n_widest;  /* largest number of cells of a factor or likelihood */
    size_t n_longest; /* largest number of parameters of a factor or likelihood */
    uint32_t n_chains;
    /* largest number of batches of a chain; 1: a chain is one batch of any length */
    uint32_t n_pieces;
    uint64_t per;     /* number of draws of a piece */
    uint64_t n_draws; /* number of draws of the first chain */
    double *draws; /* [batches + 1][2] number of draws without and with X = x; the last batch is the
                      sum over all batches */
    /* [batches + 1][n_cells][2] number of draws in each cell, without and with X = x */
    double *sum;
    double *w, *out, *mean, *square, *room;
    uint8_t *is_zero;  /* [GBS_MAX_ARITY] whether the entry of each state of a column is 0 */
    gbsi_score *score; /* [n_longest] whether draws determine each parameter */
} sampling;

static void sampling_free(sampling *s)
{
    gbs_run_free(s->run);
    gbsi_zero_entries_free(s->zeros);
    gbsi_reduced_free(s->reduced);
    GBSI_FREE(s->cell, s->draws, s->sum, s->w, s->out, s->mean, s->square, s->room, s->is_zero,
              s->score);
}

/* ---- room ------------------------------------------------------------------------------------ */

static gbs_status count_cells(sampling *s, gbs_error *err)
{
    const gbsi_reduced *r = s->reduced;
    const gbsi_factors *f = &s->model->factors;
    s->n_longest = 1;
    s->n_widest = 1;
    s->cell = gbsi_alloc_array(f->n_factors + 1, sizeof *s->cell);
    GBSI_PASS(GBSI_HAVE(err, "sensitivity", s->cell));
    for (size_t i = 0; i < f->n_factors; ++i) {
        const size_t n_parameters = s->first[i + 1] - s->first[i];
        const size_t n = f->kind[i] == GBS_FACTOR_TABLE ? gbsi_rest_begin(r, i).n_joint
                         : gbsi_is_noisy(f->kind[i])    ? GBSI_SCORE_CELLS * n_parameters
                                                        : 2;
        s->cell[i] = s->n_cells;
        s->n_cells += n;
        s->n_widest = n > s->n_widest ? n : s->n_widest;
        s->n_longest = n_parameters > s->n_longest ? n_parameters : s->n_longest;
    }
    s->cell[f->n_factors] = s->n_cells;
    for (uint32_t i = 0; i < r->n_likelihoods; ++i) {
        const size_t n = s->model->arity[r->likelihood[i]];
        s->n_cells += n;
        s->n_widest = n > s->n_widest ? n : s->n_widest;
        s->n_longest = n > s->n_longest ? n : s->n_longest;
    }
    return GBS_OK;
}

static uint32_t n_batches(const sampling *s)
{
    return s->n_chains * s->n_pieces;
}

/* Allocates the sums. The number of chains must be known. */
static gbs_status take_room(sampling *s, gbs_error *err)
{
    s->n_chains = (uint32_t)gbs_run_report(s->run)->chains;
    s->n_pieces =
        s->n_chains >= LEAST_BATCHES ? 1 : 2 * ((LEAST_BATCHES + s->n_chains - 1) / s->n_chains);
    s->per = 1;
    const size_t n = n_batches(s) + (size_t)1;
    size_t n_sums = 0;
    if (gbsi_mul_size(2 * n, s->n_cells, &n_sums)) {
        s->sum = gbsi_alloc_array_zero(n_sums, sizeof *s->sum);
    }
    s->draws = gbsi_alloc_array_zero(2 * n, sizeof *s->draws);
    s->w = gbsi_alloc_array(s->n_widest, sizeof *s->w);
    s->out = gbsi_alloc_array(s->n_longest, sizeof *s->out);
    s->mean = gbsi_alloc_array(s->n_longest, sizeof *s->mean);
    s->square = gbsi_alloc_array(s->n_longest, sizeof *s->square);
    s->room = gbsi_alloc_array(2 * (size_t)GBS_MAX_ARITY, sizeof *s->room);
    s->is_zero = gbsi_alloc_array(GBS_MAX_ARITY, 1);
    s->score = gbsi_alloc_array(s->n_longest, sizeof *s->score);
    return GBSI_HAVE(err, "sensitivity", s->sum, s->draws, s->w, s->out, s->mean, s->square,
                     s->room, s->is_zero, s->score);
}

/* ---- draws ----------------------------------------------------------------------------------- */

static void add_batch(sampling *s, size_t to, size_t from)
{
    for (size_t i = 0; i < 2; ++i) {
        s->draws[2 * to + i] += s->draws[2 * from + i];
    }
    for (size_t i = 0; i < 2 * s->n_cells; ++i) {
        s->sum[2 * s->n_cells * to + i] += s->sum[2 * s->n_cells * from + i];
    }
}

static void clear_batch(sampling *s, size_t batch)
{
    memset(s->draws + 2 * batch, 0, 2 * sizeof *s->draws);
    memset(s->sum + 2 * s->n_cells * batch, 0, 2 * s->n_cells * sizeof *s->sum);
}

/* Joins every two pieces to one piece, if all pieces of all chains are full. */
static void join_pieces(sampling *s)
{
    for (uint32_t chain = 0; chain < s->n_chains; ++chain) {
        const size_t first = (size_t)chain * s->n_pieces;
        for (uint32_t k = 0; k < s->n_pieces; ++k) {
            if (k > 0) {
                add_batch(s, first + k / 2, first + k);
                clear_batch(s, first + k);
            }
        }
    }
    s->per *= 2;
}

/* @return the joint state of the free variables in a table's scope. */
static size_t joint_state(const gbsi_reduced *r, size_t factor, const uint32_t *state)
{
    const gbsi_factors *f = &r->user->factors;
    size_t at = 0;
    for (size_t k = f->scope_start[factor]; k < f->scope_start[factor + 1]; ++k) {
        const uint32_t v = f->scope[k];
        at = r->number[v] == GBSI_NONE ? at : at * r->user->arity[v] + state[v];
    }
    return at;
}

static gbs_status on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                          const uint32_t *state, gbs_error *err)
{
    sampling *s = context;
    const gbsi_reduced *r = s->reduced;
    const gbsi_factors *f = &s->model->factors;
    gbs_status status = GBS_OK;
    (void)draw;
    (void)log_density;
    if (s->draws == NULL) {
        status = take_room(s, err);
        if (status < 0) {
            return status;
        }
    }
    if (chain == 0 && s->n_pieces > 1 && s->n_draws == s->per * s->n_pieces) {
        join_pieces(s);
        s->n_draws = s->per * (s->n_pieces / 2);
    }
    s->n_draws += chain == 0;
    const uint64_t piece = s->n_pieces > 1 ? (s->n_draws - 1) / s->per : 0;
    const size_t batch = (size_t)chain * s->n_pieces + (size_t)piece;
    const size_t is_x = state[r->variable] == r->x;
    double *sum = s->sum + 2 * s->n_cells * batch + is_x;
    s->draws[2 * batch + is_x] += 1.0;
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (f->kind[i] == GBS_FACTOR_TABLE) {
            sum[2 * (s->cell[i] + joint_state(r, i, state))] += 1.0;
        } else if (gbsi_is_noisy(f->kind[i])) {
            gbsi_scores_add(r, i, state, sum + 2 * s->cell[i]);
        } else {
            const double phi = gbsi_factor_value(&r->unit, s->model->arity, i, state);
            sum[2 * s->cell[i]] += phi;
            sum[2 * (s->cell[i] + 1)] += phi * phi;
        }
    }
    if (s->zeros != NULL) {
        gbsi_zero_entries_add(s->zeros, state, s->cell, s->sum + 2 * s->n_cells * batch);
    }
    size_t at = s->cell[f->n_factors];
    for (uint32_t i = 0; i < r->n_likelihoods; ++i) {
        sum[2 * (at + state[r->likelihood[i]])] += 1.0;
        at += s->model->arity[r->likelihood[i]];
    }
    return GBS_OK;
}

static int on_progress(void *context, const gbs_progress *progress)
{
    const sampling *s = context;
    return s->callbacks->progress(s->callbacks->context, progress);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* @return whether a batch counts: a piece counts if it is full, and a chain if it has draws. */
static bool is_whole(const sampling *s, size_t batch)
{
    const double n = s->draws[2 * batch] + s->draws[2 * batch + 1];
    return s->n_pieces == 1 ? n > 0.0 : n == (double)s->per;
}

/* Frequencies in a batch: P(x), and P(x, s) and P(s) of a cell. */
typedef struct shares {
    double x, joint, all;
} shares;

static shares shares_of(const sampling *s, size_t batch, size_t cell)
{
    const double *n = s->draws + 2 * batch;
    const double *sum = s->sum + 2 * (s->n_cells * batch + cell);
    const double total = n[0] + n[1];
    return (shares){.x = n[1] / total, .joint = sum[1] / total, .all = (sum[0] + sum[1]) / total};
}

/* Computes w_b of n cells. @param batch number of the batch; n_batches(s) stands for all draws, for
 * which w_b is the covariance. */
static void deviations(sampling *s, size_t batch, size_t cell, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const shares whole = shares_of(s, n_batches(s), cell + i);
        const shares b = shares_of(s, batch, cell + i);
        s->w[i] = b.joint - whole.x * b.all - whole.all * (b.x - whole.x);
    }
}

/* @return the least error of the share of a rarely visited state. A state that N draws miss may
 * have a probability of about 1 / N; the error is not below this size if few draws had the state.
 */
static double error_of_rare(double visits, double n_draws)
{
    const double q = (visits + 0.5) / (n_draws + 1.0);
    return visits < RARE_VISITS ? gbsi_sqrt(q * (1.0 - q) / n_draws) : 0.0;
}

/* @return a bound for a cell that is 0 in a conditional table, in the column that begins at
 * `first`. The bound is a bound of the frequency of the parents' states in the draws, times the
 * mean of rho; NAN if too few draws had these states. */
static double bound_of_zero(const sampling *s, size_t cell, size_t first, uint32_t arity)
{
    const double *whole = s->sum + 2 * s->n_cells * n_batches(s);
    const double *draws = s->draws + 2 * (size_t)n_batches(s);
    const double n = draws[0] + draws[1];
    double visits[2] = {0.0, 0.0};
    double most = 0.0;
    for (size_t c = first; c < first + arity; ++c) {
        for (size_t x = 0; x < 2; ++x) {
            visits[x] += s->is_zero[c - first] ? 0.0 : whole[2 * c + x];
        }
    }
    const double rho = (whole[2 * cell] + whole[2 * cell + 1]) / (visits[0] + visits[1]);
    for (size_t x = 0; x < 2; ++x) {
        const double error = error_of_rare(visits[x], n) * draws[1 - x] / n;
        most = error > most ? error : most;
    }
    return visits[0] + visits[1] < RARE_VISITS ? (double)NAN : most * (rho > 1.0 ? rho : 1.0);
}

/* Sets w to NAN for zeros of a conditional table about which draws say nothing or too little.
 * @param bounds whether w holds bounds. */
static void judge_zeros(sampling *s, size_t factor, size_t cell, bool bounds, double *w)
{
    const gbsi_factors *f = &s->model->factors;
    const double *logs = f->table + f->table_start[f->aux[factor]];
    const uint32_t arity = s->model->arity[f->scope[f->scope_start[factor + 1] - 1]];
    const bool answers = gbsi_zero_entries_answers(s->zeros, factor);
    gbsi_rest rest = gbsi_rest_begin(s->reduced, factor);
    for (size_t i = 0; i < rest.n_joint; ++i, gbsi_rest_next(&rest)) {
        if (answers && i % arity == 0) {
            for (uint32_t c = 0; c < arity; ++c) {
                s->is_zero[c] = logs[rest.user + c] == -INFINITY;
            }
        }
        if (logs[rest.user] == -INFINITY) {
            const double bound =
                answers ? bound_of_zero(s, cell + i, cell + i - i % arity, arity) : (double)NAN;
            w[i] = bounds || isnan(bound) ? bound : w[i];
        }
    }
}

/* Computes the derivatives by the parameters of a factor or likelihood from the values w of its n
 * cells, which begin at `cell`. */
static void move(sampling *s, size_t factor, gbsi_moved what, size_t cell, size_t n, double *w,
                 double *out)
{
    if (factor == SIZE_MAX || s->model->factors.kind[factor] != GBS_FACTOR_TABLE) {
        memcpy(out, w, n * sizeof *w);
        return;
    }
    if (s->model->directed) {
        judge_zeros(s, factor, cell, what == GBSI_MOVED_BOUND, w);
    }
    gbsi_parameters_move(s->reduced, factor, what, w, out, s->room);
}

/* Computes standard errors from the spread over batches.
 * @param n parameters */
static void find_errors(sampling *s, size_t factor, size_t cell, size_t n_cells, size_t n,
                        double *mcse)
{
    double n_whole = 0.0;
    memset(s->mean, 0, n * sizeof *s->mean);
    memset(s->square, 0, n * sizeof *s->square);
    for (size_t b = 0; b < n_batches(s); ++b) {
        if (!is_whole(s, b)) {
            continue;
        }
        n_whole += 1.0;
        deviations(s, b, cell, n_cells);
        move(s, factor, GBSI_MOVED_MIXED, cell, n_cells, s->w, s->out);
        for (size_t i = 0; i < n; ++i) { /* Welford (1962), Technometrics 4:419-420 */
            const double off = s->out[i] - s->mean[i];
            s->mean[i] += off / n_whole;
            s->square[i] += off * (s->out[i] - s->mean[i]);
        }
    }
    for (size_t i = 0; i < n; ++i) {
        mcse[i] =
            n_whole < 2.0 ? (double)NAN : gbsi_sqrt(s->square[i] / (n_whole * (n_whole - 1.0)));
    }
}

/* @return the part of the error of Cov(1[X = x], 1[s]) = P(x, s) P(not x, not s) - P(x, not s)
 * P(not x, s) that is due to the rare events among these four events. */
static double rare_in_table(const sampling *s, size_t cell)
{
    const size_t whole = n_batches(s);
    const double n = s->draws[2 * whole] + s->draws[2 * whole + 1];
    const double *sum = s->sum + 2 * (s->n_cells * whole + cell);
    double most = 0.0;
    for (size_t i = 0; i < 4;
         ++i) { /* the four events: X is not x or is x, together with s or not s */
        const size_t x = i % 2;
        const double own = i < 2 ? sum[x] : s->draws[2 * whole + x] - sum[x];
        const double opposite = i < 2 ? s->draws[2 * whole + 1 - x] - sum[1 - x] : sum[1 - x];
        const double error = error_of_rare(own, n) * opposite / n;
        most = error > most ? error : most;
    }
    return most;
}

/* @return the largest difference of two values of phi. */
static double range_of(const gbsi_factors *f, size_t factor)
{
    if (f->kind[factor] != GBS_FACTOR_LOGICAL) {
        return f->kind[factor] == GBS_FACTOR_POTTS ? 1.0 : 2.0;
    }
    const gbsi_logical *logical = &f->logical[f->aux[factor]];
    const bool sums =
        logical->function == GBS_LOGICAL_LINEAR || logical->function == GBS_LOGICAL_RATIO;
    return sums && logical->n_body > 2 ? logical->n_body : 2.0;
}

/* Estimates from the variance of phi how often phi had its rarer value. The estimate assumes that
 * phi has only two values, whose distance is the largest distance of values of phi. */
static double rare_in_formula(const sampling *s, size_t factor, size_t cell)
{
    const size_t whole = n_batches(s);
    const double *draws = s->draws + 2 * whole;
    const double n = draws[0] + draws[1];
    const double *sum = s->sum + 2 * (s->n_cells * whole + cell);
    const double range = range_of(&s->model->factors, factor);
    double most = 0.0;
    for (size_t x = 0; x < 2; ++x) {
        double share = 0.0;
        if (draws[x] > 0.0) {
            const double mean = sum[x] / draws[x];
            const double variance = sum[2 + x] / draws[x] - mean * mean;
            const double root = 1.0 - 4.0 * variance / (range * range);
            share = 0.5 * (1.0 - gbsi_sqrt(root > 0.0 ? root : 0.0));
        }
        const double error = range * error_of_rare(share * draws[x], n) * draws[1 - x] / n;
        most = error > most ? error : most;
    }
    return most;
}

/* Computes the error that rare values of a score hide. The computation assumes that the score has
 * one size in (sum |score|)^2 / sum score^2 draws (Kish 1965, Survey Sampling), and is 0 in all
 * other draws. @return NAN if no draw had a score other than 0. */
static double rare_in_score(const sampling *s, size_t cell, size_t n_parameters)
{
    const size_t whole = n_batches(s);
    const double *draws = s->draws + 2 * whole;
    const double n = draws[0] + draws[1];
    const double *size = s->sum + 2 * (s->n_cells * whole + cell + n_parameters);
    const double *square = size + 2 * n_parameters;
    const double typical = (square[0] + square[1]) / (size[0] + size[1]);
    double most = 0.0;
    for (size_t x = 0; x < 2; ++x) {
        const double visits = square[x] > 0.0 ? size[x] * size[x] / square[x] : 0.0;
        const double error = typical * error_of_rare(visits, n) * draws[1 - x] / n;
        most = error > most ? error : most;
    }
    return isnan(typical) ? (double)NAN : most;
}

static void raise_errors(sampling *s, size_t factor, size_t cell, size_t n_cells, size_t n,
                         double *mcse)
{
    const gbsi_factors *f = &s->model->factors;
    if (s->reduced->number[s->reduced->variable] == GBSI_NONE) {
        return; /* evidence decides X, and no parameter changes p */
    }
    for (size_t i = 0; i < n_cells; ++i) {
        s->w[i] = factor == SIZE_MAX || f->kind[factor] == GBS_FACTOR_TABLE
                      ? rare_in_table(s, cell + i)
                  : gbsi_is_noisy(f->kind[factor]) ? rare_in_score(s, cell + i, n)
                                                   : rare_in_formula(s, factor, cell);
    }
    move(s, factor, GBSI_MOVED_BOUND, cell, n_cells, s->w, s->out);
    for (size_t i = 0; i < n; ++i) {
        mcse[i] = mcse[i] < s->out[i] ? s->out[i] : mcse[i];
    }
}

/* Reads the cells of a factor or likelihood. @param at number of the first parameter. @param n
 * number of parameters. */
static void read_cells(sampling *s, size_t factor, size_t cell, size_t n_cells, size_t at, size_t n)
{
    const size_t whole = n_batches(s);
    gbs_sensitivities *a = s->answer;
    deviations(s, whole, cell, n_cells);
    move(s, factor, GBSI_MOVED_MIXED, cell, n_cells, s->w, a->derivative + at);
    for (size_t i = 0; i < n_cells; ++i) {
        s->w[i] = shares_of(s, whole, cell + i).all;
    }
    move(s, factor, GBSI_MOVED_MIXED, cell, n_cells, s->w, a->log_p + at);
    find_errors(s, factor, cell, n_cells, n, a->mcse + at);
    raise_errors(s, factor, cell, n_cells, n, a->mcse + at);
}

static void forget(gbs_sensitivities *a, size_t i)
{
    a->derivative[i] = a->mcse[i] = a->log_p[i] = NAN;
}

/* Sets the results to NAN for those parameters of a noisy factor that draws do not determine. */
static void forget_unknown(sampling *s, size_t factor)
{
    const size_t n = s->first[factor + 1] - s->first[factor];
    const double *size = s->sum + 2 * (s->n_cells * n_batches(s) + s->cell[factor] + n);
    gbsi_scores_judge(s->reduced, factor, s->score);
    for (size_t i = 0; i < n; ++i) {
        const bool met = size[2 * i] + size[2 * i + 1] > 0.0;
        if (s->score[i] == GBSI_SCORE_UNKNOWN || (s->score[i] == GBSI_SCORE_KNOWN && !met)) {
            forget(s->answer, s->first[factor] + i);
        }
    }
}

static void read_all(sampling *s)
{
    const gbsi_factors *f = &s->model->factors;
    gbs_sensitivities *a = s->answer;
    for (size_t b = 0; b < n_batches(s); ++b) {
        add_batch(s, n_batches(s), b);
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        const size_t n = s->first[i + 1] - s->first[i];
        const bool is_table = f->kind[i] == GBS_FACTOR_TABLE;
        read_cells(s, i, s->cell[i], is_table ? s->cell[i + 1] - s->cell[i] : n, s->first[i], n);
        if (gbsi_is_noisy(f->kind[i])) {
            forget_unknown(s, i);
        } else if (!is_table && isinf(f->weight[i])) {
            forget(a, s->first[i]);
        }
    }
    size_t cell = s->cell[f->n_factors];
    size_t k = s->first[f->n_factors];
    while (k < a->n_parameters) {
        const uint32_t v = a->of[k];
        const uint32_t arity = s->model->arity[v];
        if (s->reduced->number[v] == GBSI_NONE) { /* evidence gives v one state */
            a->log_p[k + s->reduced->state[v]] = 1.0;
        } else {
            read_cells(s, SIZE_MAX, cell, arity, k, arity);
            cell += arity;
        }
        k += arity;
    }
}

/* Reads the run's estimate of p, which averages conditional probabilities. */
static gbs_status read_p(sampling *s, gbs_error *err)
{
    const gbs_model *m = s->model;
    const size_t n = m->state_offset[m->n_variables];
    const size_t at = m->state_offset[s->answer->variable] + s->answer->state;
    double *p = gbsi_alloc_array(2 * n, sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "sensitivity", p));
    const gbs_status status = gbs_run_marginals(s->run, p, p + n, NULL, NULL, err);
    if (status >= 0) {
        s->answer->p = p[at];
        s->answer->p_mcse = p[n + at];
    }
    gbsi_free(p);
    return status;
}

gbs_status gbsi_sensitivity_sampled(const gbs_model *model, const gbs_evidence *evidence,
                                    const gbs_run_options *options,
                                    const gbs_run_callbacks *callbacks, const size_t *first,
                                    gbs_sensitivities *answer, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_status ended = GBS_OK;
    sampling s = {.model = model, .callbacks = callbacks, .answer = answer, .first = first};
    const gbs_run_callbacks own = {.size = sizeof own,
                                   .context = &s,
                                   .progress = callbacks->progress == NULL ? NULL : on_progress,
                                   .draw = on_draw};
    const gbs_run_setup setup = {
        .model = model, .evidence = evidence, .options = options, .task = GBS_RUN_DRAWS};
    GBSI_TRY(gbsi_reduced_new(model, evidence, answer->variable, answer->state, &s.reduced, err));
    gbsi_parameters_ranges(s.reduced, first, answer);
    GBSI_TRY(gbsi_zero_entries_new(s.reduced, &s.zeros, err));
    GBSI_TRY(count_cells(&s, err));
    GBSI_TRY(gbs_run_new_with(&setup, &s.run, err));
    GBSI_TRY(gbs_run_execute(s.run, &own, err));
    ended = status;
    if (s.draws == NULL) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_STOPPED, "stopped before the first draw was kept"));
    }
    read_all(&s);
    GBSI_TRY(read_p(&s, err));
    const gbs_report *report = gbs_run_report(s.run);
    answer->converged = report->converged;
    memcpy(answer->verdict, report->verdict, sizeof answer->verdict);
    status = ended;

cleanup:
    sampling_free(&s);
    return status;
}
