/* SPDX-License-Identifier: Apache-2.0 */
/* Computes estimates from the sums, slot by slot: marginals, standard errors, effective sample
 * sizes and R-hat. Chains are summed in ascending order, so that the results do not depend on
 * lanes, threads or instruction sets. */
#include <math.h>

#include "base/memory.h"
#include "estimate/estimate_internal.h"
#include "simd/math.h"

/* ---- R-hat of one cell ---- */

/* Sums over sequences, whose means are added one by one. A sequence is a chain or half of a chain.
 * Differences are taken from the first mean, so that equal means give a spread of exactly 0. */
typedef struct sequences {
    double n, first, shift, shift_square;
    double within;  /* sum over sequences of m (1 - m), where m is the mean of a sequence */
    double inverse; /* sum over sequences of 1 / length */
} sequences;

/* Mean of a sequence. The mean is clipped to [0, 1], because rounding can move a difference of
 * totals out of this interval. */
static double mean_of(double total, double updates)
{
    const double m = total / updates;
    return m < 0 ? 0 : m > 1 ? 1 : m;
}

/* Adds the mean m of a sequence. @param inverse 1 / length of the sequence. */
static void add_sequence(sequences *s, double m, double inverse)
{
    if (s->n == 0) {
        s->first = m;
    }
    const double d = m - s->first;
    s->n += 1;
    s->shift += d;
    s->shift_square += d * d;
    s->within += m * (1 - m);
    s->inverse += inverse;
}

/* Gelman & Rubin (1992), Statistical Science 7(4):457-472; BDA3 (2013) 11.4, eq. 11.4:
 *     R^2 = ((n - 1)/n W + B) / W,   B = variance of the means between sequences,
 * where n is the harmonic mean of the lengths. W is the variance m (1 - m) of the indicator of the
 * state. Rao-Blackwell averages use this W too, because p estimates the mean of the indicator. If p
 * hardly varies within chains but differs between chains, the difference is thus compared with the
 * variance of the state. */
double gbsi_rhat(double within, double shift, double shift_square, double n_sequences,
                 double length)
{
    if (n_sequences < 2) {
        return NAN;
    }
    const double mean_within = within / n_sequences;
    const double squares = shift_square - shift * shift / n_sequences;
    /* rounding can make `squares` negative */
    const double between = squares > 0 ? squares / (n_sequences - 1) : 0;
    if (mean_within <= 0) {
        /* chains frozen in different states, or a constant state */
        return between > 0 ? (double)INFINITY : (double)NAN;
    }
    return gbsi_sqrt(((length - 1) / length * mean_within + between) / mean_within);
}

/* Returns the stored totals whose number of passes is nearest to half of the passes so far; NULL if
 * no totals are stored. */
static const gbsi_half_time *half_time(const gbsi_estimate *e)
{
    const gbsi_half_time *best = NULL;
    double best_distance = INFINITY;
    for (int i = 0; e->split && i < 2; i++) {
        const gbsi_half_time *half = &e->half[i];
        const double distance = fabs(2 * (double)half->pass - (double)e->n_passes);
        if (half->pass > 0 && half->pass < e->n_passes && distance < best_distance) {
            best = half;
            best_distance = distance;
        }
    }
    return best;
}

/* With fewer sequences than this number, the variance of the means of chains is too uncertain. */
#define LEAST_MEANS 8

/* Variance of the mean over all sequences, estimated from the spread of the means of the sequences;
 * 0 if there are too few sequences. */
static double variance_between(const sequences *s)
{
    if (s->n < LEAST_MEANS) {
        return 0;
    }
    const double squares = s->shift_square - s->shift * s->shift / s->n;
    return squares > 0 ? squares / (s->n - 1) / s->n : 0;
}

/* ---- one cell ---- */

typedef struct chain_view {
    const gbsi_estimate *e;
    const gbsi_half_time *half;
    /* updates per chain: all updates, and the updates up to half time */
    double updates, first_updates;
    size_t cell;
} chain_view;

/* Adds every chain as a sequence. @param total [n] total of each chain. */
static void add_whole_chains(const chain_view *v, const double *total, uint32_t n, sequences *s)
{
    const double updates = v->updates;
    const double inverse = 1 / updates;
    double mean[GBSI_LANES];
    sequences sum = *s; /* a copy that stays in registers */
    for (uint32_t lane = 0; lane < n; lane++) {
        mean[lane] = mean_of(total[lane], updates);
    }
    for (uint32_t lane = 0; lane < n; lane++) {
        add_sequence(&sum, mean[lane], inverse);
    }
    *s = sum;
}

/* Adds each half of every chain as a sequence. */
static void add_halves(const chain_view *v, uint32_t group, const double *total, uint32_t n,
                       sequences *s)
{
    const double rest = v->updates - v->first_updates;
    if (v->half == NULL || v->first_updates <= 0 || rest <= 0) {
        return;
    }
    const size_t lanes = v->e->shape.lanes;
    const float *first = v->half->total + ((size_t)group * v->e->n_cells + v->cell) * lanes;
    for (uint32_t lane = 0; lane < n; lane++) {
        const double early = (double)first[lane];
        add_sequence(s, mean_of(early, v->first_updates), 1 / v->first_updates);
        add_sequence(s, mean_of(total[lane] - early, rest), 1 / rest);
    }
}

static chain_view view_of(const gbsi_estimate *e, uint32_t slot, size_t cell)
{
    chain_view v = {.e = e, .half = half_time(e), .cell = cell};
    v.updates = (double)gbsi_estimate_updates(e, slot);
    if (v.half != NULL) {
        v.first_updates = (double)(e->counted ? v.half->updates[slot] : v.half->pass);
    }
    return v;
}

#define RARE_VISITS 30.0

double gbsi_rare_error(double visits, double n)
{
    const double rarer = visits < n - visits ? visits : n - visits;
    const double p = ((rarer > 0 ? rarer : 0) + 0.5) / (n + 1);
    return rarer < RARE_VISITS ? gbsi_sqrt(p * (1 - p) / n) : 0;
}

/* Lower bound of the standard error of a rare state. A conditional that was 0 at every pass, or 1
 * at every pass, is treated like a count, because it may have other values where no chain went.
 * Other conditionals get no such bound and keep the error of their batches. */
static double rare_floor(const gbsi_estimate *e, double visits, double n)
{
    const bool counts = e->shape.kind == GBS_ESTIMATOR_COUNT || visits == 0 || visits == n;
    return counts ? gbsi_rare_error(visits, n) : 0;
}

void gbsi_estimate_heed_stays(gbsi_estimate *estimate, const gbsi_cell_stays *stays)
{
    estimate->stays = stays;
    if (estimate->spread != NULL) {
        const gbsi_spread *s = estimate->spread;
        s->share->stays = stays + s->first_cell[s->ranks->rank];
    }
}

/* A mode that holds the variable for long is recognised by the sum of L^2 over the stays of length
 * L. This sum must exceed HELD times the sum for stays that end by chance as often as the variable
 * changed. */
#define HELD 4

/* Expected sum of L^2, in squared looks, over the long stays among n stays without memory of mean
 * length m: n times the integral of L^2 exp(-L / m) / m from GBSI_LONG_STAY on. */
static double by_chance(double n, double m)
{
    const double least = GBSI_LONG_STAY;
    return n * (least * least + 2 * least * m + 2 * m * m) * gbsi_exp(-least / m);
}

/* Estimates the variance of the time in a state from stays that begin at random times: the sum of
 * L^2, with an addition if stays are few. If all stays had equal length, their number would be (sum
 * of L)^2 / sum of L^2. The result is 0 if the stays are no longer than stays without memory,
 * because batches then show the variance.
 * @param passes number of passes in the state. @param n number of stays. */
static double variance_of(const gbsi_stay *stay, double passes, double n)
{
    const double length = (double)stay->length;
    const double square = (double)stay->square * GBSI_STAY_UNIT * GBSI_STAY_UNIT;
    const double each = (double)GBSI_STAY_EACH;
    return square > HELD * each * each * by_chance(n, passes / each / n)
               ? square * (1 + 2 * square / (length * length))
               : 0;
}

/* Lower bound of the standard error from long stays. A stay in the state raises its total by (1 -
 * p) L; a stay in another state lowers it by p L. If long stays of the two kinds alternate, each
 * kind accounts for half of the variance. [M8] */
static double stay_floor(const gbsi_estimate *e, size_t cell, double p)
{
    if (e->stays == NULL) {
        return 0;
    }
    const gbsi_cell_stays *stays = &e->stays[cell];
    const double passes = (double)e->n_passes * e->shape.n_chains;
    const double n = 0.5 * (double)stays->changes + 1;
    const double in = (1 - p) * (1 - p) * variance_of(&stays->in, p * passes, n);
    const double out = p * p * variance_of(&stays->out, (1 - p) * passes, n);
    return gbsi_sqrt(in > out ? in : out) / passes;
}

static double mcse_of(const gbsi_estimate *e, uint32_t slot, size_t cell, double sum,
                      double updates)
{
    const double mcse = gbsi_batches_mcse(e, slot, cell);
    const double n = updates * e->shape.n_chains;
    const double rare = rare_floor(e, sum, n);
    const double stays = stay_floor(e, cell, sum / n);
    const double resolution = gbsi_resolution(e, sum / n);
    double floor = rare > stays ? rare : stays;
    floor = floor > resolution ? floor : resolution;
    return mcse < floor ? floor
                        : mcse; /* an undefined mcse stays NAN, because no error is reported yet */
}

double gbsi_resolution(const gbsi_estimate *e, double p)
{
    const double n = e->batches.length < GBSI_SUM_TERMS && e->fast_sum != NULL
                         ? (double)e->batches.length
                         : GBSI_SUM_TERMS;
    return e->fast_sum != NULL || e->held_total != NULL
               ? (GBSI_SUM_ROUNDING * n + GBSI_TERM_ROUNDING) * p
               : 0;
}

/* A conditional that was constant over all passes has no effective number of draws, because its
 * standard error comes only from the rounding of float sums. */
double gbsi_effective_size(const gbsi_estimate *e, double p, double mcse)
{
    const double variance = p * (1 - p);
    return variance > 0 && mcse > gbsi_resolution(e, p) ? variance / (mcse * mcse) : (double)NAN;
}

static double mean_of_chains(const gbsi_estimate *e, double sum, double updates)
{
    return sum / (updates * e->shape.n_chains);
}

gbsi_cell_summary gbsi_summarise_cell(const gbsi_estimate *e, uint32_t slot, size_t cell)
{
    const chain_view v = view_of(e, slot, cell);
    gbsi_cell_summary out = {NAN, NAN, NAN, NAN, 0};
    if (v.updates <= 0) {
        return out;
    }
    sequences s = {0};
    double sum = 0;
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        const uint32_t n_real = gbsi_estimate_real_lanes(e, group);
        double total[GBSI_LANES];
        for (uint32_t lane = 0; lane < n_real; lane++) {
            total[lane] = gbsi_estimate_chain_total(e, group, cell, lane);
            sum += total[lane];
        }
        if (e->split) {
            add_halves(&v, group, total, n_real, &s);
        } else {
            add_whole_chains(&v, total, n_real, &s);
        }
    }
    out.p = mean_of_chains(e, sum, v.updates);
    out.rhat = gbsi_rhat(s.within, s.shift, s.shift_square, s.n, s.n / s.inverse);
    out.mcse = mcse_of(e, slot, cell, sum, v.updates);
    out.between = variance_between(&s);
    out.ess = gbsi_effective_size(e, out.p, out.mcse);
    return out;
}

/* Computes only the member p of gbsi_told_cell() and, if `errors` is set, the member mcse. R-hat,
 * which is most of the work, is left out. */
static gbsi_cell_summary part_of_cell(const gbsi_estimate *e, uint32_t slot, size_t cell,
                                      bool errors, bool constant)
{
    gbsi_cell_summary out = {NAN, NAN, NAN, NAN, 0};
    const double updates = (double)gbsi_estimate_updates(e, slot);
    double sum = 0;
    if (updates <= 0) {
        return out;
    }
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        const uint32_t n_real = gbsi_estimate_real_lanes(e, group);
        for (uint32_t lane = 0; lane < n_real; lane++) {
            sum += gbsi_estimate_chain_total(e, group, cell, lane);
        }
    }
    out.p = mean_of_chains(e, sum, updates);
    if (errors && !constant) {
        out.mcse = mcse_of(e, slot, cell, sum, updates);
    }
    return out;
}

/* ---- one slot ---- */

/* Whether every chain's mean is 0, or every chain's mean is 1. Stops at the first chain that
 * differs. */
static bool is_frozen(const gbsi_estimate *e, size_t cell, double updates)
{
    const double common = gbsi_estimate_chain_total(e, 0, cell, 0);
    if (common != 0 && common != updates) {
        return false;
    }
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        const uint32_t n_real = gbsi_estimate_real_lanes(e, group);
        for (uint32_t lane = 0; lane < n_real; lane++) {
            if (gbsi_estimate_chain_total(e, group, cell, lane) != common) {
                return false;
            }
        }
    }
    return true;
}

/* Whether the slot had one state in every chain at every pass. */
bool gbsi_is_constant(const gbsi_estimate *e, uint32_t slot)
{
    const double updates = (double)gbsi_estimate_updates(e, slot);
    for (size_t cell = gbsi_offset(&e->cell_start, slot);
         cell < gbsi_offset(&e->cell_start, slot + (size_t)1); cell++) {
        if (!is_frozen(e, cell, updates)) {
            return false;
        }
    }
    return true;
}

static void put(double *to, size_t i, double value)
{
    if (to != NULL) {
        to[i] = value;
    }
}

/* A variable that never moved has no standard error and no effective size. */
gbsi_cell_summary gbsi_told_cell(const gbsi_estimate *e, uint32_t slot, size_t cell, bool constant)
{
    gbsi_cell_summary s = gbsi_summarise_cell(e, slot, cell);
    s.mcse = constant ? (double)NAN : s.mcse;
    s.ess = constant ? (double)NAN : s.ess;
    return s;
}

void gbsi_estimate_slot(const gbsi_estimate *e, uint32_t slot, double *p, double *mcse, double *ess,
                        double *rhat)
{
    const bool whole = ess != NULL || rhat != NULL;
    const bool constant = (whole || mcse != NULL) && e->spread == NULL && gbsi_is_constant(e, slot);
    const uint32_t arity = gbsi_shape_arity(&e->shape, slot);
    for (uint32_t state = 0; state < arity; state++) {
        const size_t cell = gbsi_offset(&e->cell_start, slot) + (arity == 2 ? 0 : state);
        const gbsi_cell_summary s = e->spread != NULL ? e->spread->told[cell]
                                    : whole           ? gbsi_told_cell(e, slot, cell, constant)
                                            : part_of_cell(e, slot, cell, mcse != NULL, constant);
        put(p, state, arity == 2 && state == 0 ? 1 - s.p : s.p);
        put(mcse, state, s.mcse);
        put(ess, state, s.ess);
        put(rhat, state, s.rhat);
    }
}
