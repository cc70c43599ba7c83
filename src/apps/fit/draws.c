/* SPDX-License-Identifier: Apache-2.0 */
/* Each row is the evidence of a sampling run with 16 chains. Chain k of every row adds to set k of
 * 16 sets of counts. The sets are 16 independent estimates of all expected counts. */
#include "fit/draws.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "gibbsite/log_z.h"
#include "rng/philox.h"
#include "simd/math.h"

#define CHAINS       16u
#define FIRST_SWEEPS 64u  /* sweeps of a chain for one row, in the first iteration */
#define LOG_P_SWEEPS 512u /* sweeps of an annealing that estimates ln P of a row */
/* least number of variables for runs on many threads; in smaller networks the threads would
 * mostly wait */
#define LARGE     4096u
#define MOST_RHAT 1.1 /* above this R-hat (Gelman & Rubin 1992) the chains of a row disagree */
/* number of consecutive iterations without progress after which the number of draws grows or EM
 * ends */
#define ITERATIONS_OFF 2u
/* stream of the random numbers of ln P, used in place of the number of an iteration */
#define LOG_P_STREAM (UINT64_MAX >> 8)

struct gbsi_draws {
    const gbsi_families *families;
    const gbs_data *data;
    const gbs_fit_options *options;
    gbsi_watch *watch;
    double begun_s;
    gbs_model *model; /* the network with the parameters theta */
    uint32_t n_asked;
    uint32_t *child; /* [n_asked] children whose tables are counted */
    size_t *at;  /* [n_asked + 1] where the counts of each child begin in a chain's part of `sum` */
    double *sum; /* [CHAINS][at[n_asked]] expected counts of each chain */
    size_t n_rows;
    size_t *row;                  /* [n_rows] numbers of the rows with a missing value */
    double share;                 /* weight of one draw, as a share of the weight of its row */
    double most_share;            /* largest value of `share` in an iteration */
    double *half, *first, *other; /* [entries] counts of one half of the chains; theta from the
                                     first half; theta from the second half */
    double *before;               /* [entries] theta before the step */
    double *of_row;               /* [2][at[n_asked]] counts of the current row, by half */
    double *rise, *fall; /* [at[n_asked]] sums over rows from which rate_of() computes how much of a
                            distance from the fixed point is left after a step */
    uint8_t *met; /* [at[n_asked]] 1 at the first entry of each column that an iteration met */
};

void gbsi_draws_free(gbsi_draws *draws)
{
    gbsi_draws *d = draws;
    if (d == NULL) {
        return;
    }
    gbs_model_free(d->model);
    GBSI_FREE(d->child, d->at, d->sum, d->row, d->half, d->first, d->other, d->before, d->of_row,
              d->rise, d->fall, d->met, d);
}

/* ---- making ---------------------------------------------------------------------------------- */

static gbs_status take_counts(gbsi_draws *d, const uint8_t *asked, gbs_error *err)
{
    const gbsi_families *s = d->families;
    const gbs_model *m = s->network;
    const size_t n_entries = gbsi_families_entries(s);
    size_t n_sums = 0;
    d->child = gbsi_alloc_array(m->n_variables, sizeof *d->child);
    d->at = gbsi_alloc_array_zero(m->n_variables + (size_t)1, sizeof *d->at);
    GBSI_PASS(GBSI_HAVE(err, "fit", d->child, d->at));
    for (uint32_t v = 0; asked != NULL && v < m->n_variables; ++v) {
        if (asked[v] && m->arity[v] > 1) {
            const size_t n = s->start[v + (size_t)1] - s->start[v];
            d->child[d->n_asked++] = v;
            d->at[d->n_asked] = d->at[d->n_asked - 1] + n;
        }
    }
    if (asked == NULL) {
        return GBS_OK;
    }
    if (gbsi_mul_size(CHAINS, d->at[d->n_asked], &n_sums)) {
        d->sum = gbsi_alloc_array(n_sums, sizeof *d->sum);
    }
    d->half = gbsi_alloc_array(n_entries, sizeof *d->half);
    d->first = gbsi_alloc_array(n_entries, sizeof *d->first);
    d->other = gbsi_alloc_array(n_entries, sizeof *d->other);
    d->before = gbsi_alloc_array(n_entries, sizeof *d->before);
    d->of_row = gbsi_alloc_array(2 * d->at[d->n_asked], sizeof *d->of_row);
    d->rise = gbsi_alloc_array(d->at[d->n_asked], sizeof *d->rise);
    d->fall = gbsi_alloc_array(d->at[d->n_asked], sizeof *d->fall);
    d->met = gbsi_alloc_array_zero(d->at[d->n_asked], sizeof *d->met);
    return GBSI_HAVE(err, "fit", d->sum, d->half, d->first, d->other, d->before, d->of_row, d->rise,
                     d->fall, d->met);
}

gbs_status gbsi_draws_new(const gbsi_families *families, const gbs_data *data, const uint8_t *asked,
                          const uint8_t *complete, const gbs_fit_options *options,
                          gbsi_watch *watch, gbsi_draws **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_draws *d = gbsi_alloc_zero(sizeof *d);
    GBSI_PASS(GBSI_HAVE(err, "fit", d));
    *d = (gbsi_draws){.families = families,
                      .data = data,
                      .options = options,
                      .watch = watch,
                      .begun_s = gbsi_clock_s()};
    GBSI_TRY(take_counts(d, asked, err));
    d->row = gbsi_alloc_array(data->n_distinct, sizeof *d->row);
    GBSI_TRY(GBSI_HAVE(err, "fit", d->row));
    for (size_t i = 0; i < data->n_distinct; ++i) {
        if (!complete[i]) {
            d->row[d->n_rows++] = i;
        }
    }
    *out = d;
    d = NULL;

cleanup:
    gbsi_draws_free(d);
    return status;
}

/* ---- a row ----------------------------------------------------------------------------------- */

static gbs_status open_model(gbsi_draws *d, const double *theta, gbs_error *err)
{
    gbs_model_free(d->model);
    d->model = NULL;
    return gbsi_families_model(d->families, theta, &d->model, err);
}

static gbs_status observe(const gbsi_draws *d, size_t row, gbs_evidence **out, gbs_error *err)
{
    const gbs_data *data = d->data;
    const uint16_t *state = data->state + row * data->n_columns;
    gbs_status status = gbs_evidence_new(d->model, out, err);
    for (uint32_t k = 0; k < data->n_columns && status >= 0; ++k) {
        if (state[k] != GBSI_MISSING) {
            status = gbs_evidence_observe(*out, data->column[k], state[k], err);
        }
    }
    return status;
}

/* Makes the options of a run; the random numbers depend on the row and the iteration. */
static gbs_run_options options_of(const gbsi_draws *d, uint64_t sweeps, uint64_t iteration,
                                  size_t row)
{
    gbs_run_options o = gbs_run_options_default();
    uint32_t word[4];
    const double left_s = d->options->time_s - (gbsi_clock_s() - d->begun_s);
    gbsi_philox(d->options->seed, (uint32_t)((uint64_t)row >> 32), iteration, (uint32_t)row,
                GBSI_PURPOSE_ROW, word);
    o.seed = (uint64_t)word[0] << 32 | word[1];
    o.method =
        d->options->expectations == GBS_EXPECTATIONS_SAMPLED ? GBS_METHOD_SAMPLE : GBS_METHOD_AUTO;
    o.chains = CHAINS;
    o.sweeps = sweeps;
    o.temper = GBS_TEMPER_OFF;
    o.threads = d->model->n_variables < LARGE ? 1 : d->options->threads;
    o.memory_limit = d->options->memory_limit;
    o.time_s = d->options->time_s <= 0.0 ? 0.0 : left_s > 1e-3 ? left_s : 1e-3;
    return o;
}

static int on_progress(void *context, const gbs_progress *progress)
{
    const gbsi_draws *d = context;
    (void)progress;
    gbsi_watch_look(d->watch);
    return gbsi_watch_stopped(d->watch);
}

static gbs_status on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                          const uint32_t *state, gbs_error *err)
{
    const gbsi_draws *d = context;
    double *sum = d->sum + d->at[d->n_asked] * (chain % CHAINS);
    double *of_row = d->of_row + d->at[d->n_asked] * (chain % 2);
    (void)draw;
    (void)log_density;
    (void)err;
    for (uint32_t q = 0; q < d->n_asked; ++q) {
        uint32_t n = 0;
        size_t entry = 0;
        const uint32_t *scope = gbsi_family_scope(d->families, d->child[q], &n);
        for (uint32_t k = 0; k < n; ++k) {
            entry = entry * d->model->arity[scope[k]] + state[scope[k]];
        }
        sum[d->at[q] + entry] += d->share;
        of_row[d->at[q] + entry] += 1.0;
    }
    return GBS_OK;
}

/* Returns the status of the whole step from the `status` of the call for one row. A message names
 * this row. */
static gbs_status row_ended(const gbsi_draws *d, size_t row, gbs_status status, gbs_error *err)
{
    if (status != GBS_OK) {
        gbsi_watch_look(d->watch);
    }
    if (status == GBS_STOPPED || status == GBS_ERR_STOPPED) {
        return GBS_STOPPED;
    }
    const char *what = status == GBS_ERR_IMPOSSIBLE ? "has probability zero"
                       : status == GBS_ERR_NOT_FOUND
                           ? "may have probability zero: no state of positive probability was "
                             "found for what is missing in it"
                           : NULL;
    return what == NULL
               ? status
               : gbsi_fail(err, status,
                           "row %" PRIu64 " %s. Zeros of the network, from which EM starts, rule "
                           "it out; with a prior they would not",
                           d->data->first[row] + 1, what);
}

/* Draws samples given the values of one row. @param doubtful out: whether the row's chains
 * disagree. */
static gbs_status draw_row(gbsi_draws *d, size_t row, const gbs_run_options *options,
                           bool *doubtful, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_evidence *evidence = NULL;
    gbs_run *run = NULL;
    gbsi_watch_look(d->watch);
    if (gbsi_watch_stopped(d->watch)) {
        return GBS_STOPPED;
    }
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = d, .progress = on_progress, .draw = on_draw};
    GBSI_TRY(observe(d, row, &evidence, err));
    d->share = d->data->weight[row] / (double)options->sweeps;
    const gbs_run_setup setup = {
        .model = d->model, .evidence = evidence, .options = options, .task = GBS_RUN_DRAWS};
    status = gbs_run_new_with(&setup, &run, err);
    if (status >= 0) {
        status = gbs_run_execute(run, &callbacks, err);
    }
    status = row_ended(d, row, status, err);
    *doubtful = status == GBS_OK && gbs_run_report(run)->max_rhat > MOST_RHAT;

cleanup:
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    return status;
}

/* Adds a row of this weight to d->rise and d->fall, from which rate_of() computes how fast EM
 * converges. In the row let e_k = P(child = k, parents = j | row) and e = sum over k of e_k. If
 * theta_k grows and the other entries of its column shrink in proportion, then [M54]
 *
 *     s = d ln P(row) / d theta_k = e_k / theta_k - (e - e_k) / (1 - theta_k)
 *     d e_k / d theta_k = e_k / theta_k - s e_k ,   d e / d theta_k = s (1 - e)
 *
 * The two factors of a product are estimated from different halves of the chains, which are
 * independent; the product is then right on average. */
static void add_slopes(gbsi_draws *d, const double *theta, double weight, uint64_t sweeps)
{
    const gbsi_families *s = d->families;
    const double *half[2] = {d->of_row, d->of_row + d->at[d->n_asked]};
    const double unit = 2.0 / (CHAINS * (double)sweeps);
    for (uint32_t q = 0; q < d->n_asked; ++q) {
        const uint32_t r = s->network->arity[d->child[q]];
        const double *own = theta + s->start[d->child[q]];
        for (size_t i = d->at[q]; i < d->at[q + 1]; i += r, own += r) {
            double e[2] = {0.0, 0.0};
            for (uint32_t a = 0; a < r; ++a) {
                e[0] += unit * half[0][i + a];
                e[1] += unit * half[1][i + a];
            }
            for (uint32_t a = 0; a < r && e[0] + e[1] > 0.0; ++a) {
                const double t = own[a];
                if (t <= 0.0 || t >= 1.0) {
                    continue; /* EM does not move an entry of 0 or 1 */
                }
                const double e0 = unit * half[0][i + a];
                const double e1 = unit * half[1][i + a];
                const double s0 = e0 / t - (e[0] - e0) / (1.0 - t);
                const double s1 = e1 / t - (e[1] - e1) / (1.0 - t);
                d->rise[i + a] += 0.5 * weight * ((e0 + e1) / t - s0 * e1 - s1 * e0);
                d->fall[i + a] += 0.5 * weight * (s0 * (1.0 - e[1]) + s1 * (1.0 - e[0]));
            }
        }
    }
}

/* The E step: computes the sums of all chains over all rows. @param n_doubtful out: the number of
 * rows whose chains disagree. */
static gbs_status draw_rows(gbsi_draws *d, const double *theta, uint64_t sweeps, uint64_t iteration,
                            uint64_t *n_doubtful, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = d->at[d->n_asked];
    *n_doubtful = 0;
    d->most_share = 0.0;
    memset(d->sum, 0, CHAINS * n * sizeof *d->sum);
    memset(d->rise, 0, n * sizeof *d->rise);
    memset(d->fall, 0, n * sizeof *d->fall);
    GBSI_TRY(open_model(d, theta, err));
    for (size_t i = 0; i < d->n_rows && status == GBS_OK; ++i) {
        bool doubtful = false;
        const gbs_run_options options = options_of(d, sweeps, iteration, d->row[i]);
        memset(d->of_row, 0, 2 * n * sizeof *d->of_row);
        status = draw_row(d, d->row[i], &options, &doubtful, err);
        add_slopes(d, theta, d->data->weight[d->row[i]], sweeps);
        d->most_share = d->share > d->most_share ? d->share : d->most_share;
        *n_doubtful += doubtful ? d->data->count[d->row[i]] : 0;
    }

cleanup:
    return status;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Computes the next tables from counts. One draw more, with the states that theta had before the
 * step, is added to each column. The fixed points of EM do not change. A probability of 0 could
 * never rise again, and without the additional draw a probability would fall to 0 if a few draws
 * happened to miss its state.
 * @param count [entries] in: counts; out: undefined. @return the largest change of an entry. */
static double estimate(const gbsi_draws *d, double *count, double *theta)
{
    const gbsi_families *s = d->families;
    for (uint32_t q = 0; q < d->n_asked; ++q) {
        const size_t start = s->start[d->child[q]];
        const size_t end = s->start[d->child[q] + (size_t)1];
        for (size_t i = start; i < end; ++i) {
            count[i] += d->most_share / CHAINS * d->before[i];
        }
    }
    return gbsi_families_estimate(s, d->options, count, theta);
}

/* Computes the expected counts from the chains `from`, `from` + `every`, `from` + 2 `every`, ... */
static void count_chains(const gbsi_draws *d, const double *base, uint32_t from, uint32_t every,
                         double *count)
{
    const size_t n = d->at[d->n_asked];
    memcpy(count, base, gbsi_families_entries(d->families) * sizeof *count);
    for (uint32_t q = 0; q < d->n_asked; ++q) {
        double *to = count + d->families->start[d->child[q]];
        for (size_t i = d->at[q]; i < d->at[q + 1]; ++i) {
            double sum = 0.0;
            for (uint32_t k = from; k < CHAINS; k += every) {
                sum += d->sum[k * n + i];
            }
            to[i - d->at[q]] += sum * every / CHAINS;
        }
    }
}

/* @return the rate at which EM converges in one entry: the derivative of the entry's next theta by
 * its current theta. Each iteration multiplies the distance from the fixed point by this rate.
 * @param total (expected) count of the column, with its prior. */
static double rate_of(const gbsi_draws *d, size_t entry, double theta, double total)
{
    return (d->rise[entry] - theta * d->fall[entry]) / total;
}

/* @return the least error of an entry that has this share of the draws of its column. All these
 * draws may be equal, and the spread of the chains then does not show the error. If the share has a
 * uniform prior, its standard deviation after n draws is about sqrt(p (1 - p) / (n + 2)), with p =
 * (n share + 1) / (n + 2).
 * @param column expected count of the column without the rows that were counted. */
static double least_error(const gbsi_draws *d, double column, double share, double total)
{
    const double n = column * CHAINS / d->most_share;
    const double p = (n * share + 1.0) / (n + 2.0);
    return gbsi_sqrt(p * (1.0 - p) / (n + 2.0)) * column / total;
}

/* @return the largest error of the r entries of a column, as distances from the fixed point of EM,
 * at most 1. The counts c_i have the sum c, and theta_i = (c_i + alpha) / (c + r alpha). To first
 * order, chain k changes theta_i by (c_ik - theta_i c_k) / (c + r alpha), minus the mean of this
 * term over k. A step that is off by u leaves theta off by up to u / (1 - rate). @param before
 * theta before the step; EM does not move an entry that is 0 or 1. */
static double column_error(const gbsi_draws *d, size_t at, uint32_t r, const double *before,
                           const double *theta, double total)
{
    const size_t n = d->at[d->n_asked];
    double column[CHAINS];
    double mean_column = 0.0;
    double most = 0.0;
    for (uint32_t k = 0; k < CHAINS; ++k) {
        column[k] = 0.0;
        for (uint32_t a = 0; a < r; ++a) {
            column[k] += d->sum[k * n + at + a];
        }
        mean_column += column[k] / CHAINS;
    }
    for (uint32_t a = 0; a < r && mean_column > 0.0; ++a) {
        double mean = 0.0;
        double square = 0.0;
        for (uint32_t k = 0; k < CHAINS; ++k) {
            mean += d->sum[k * n + at + a] / CHAINS;
        }
        for (uint32_t k = 0; k < CHAINS; ++k) {
            const double off = d->sum[k * n + at + a] - mean - theta[a] * (column[k] - mean_column);
            square += off * off;
        }
        const double seen = gbsi_sqrt(square / (CHAINS * (CHAINS - 1.0))) / total;
        const double least = least_error(d, mean_column, mean / mean_column, total);
        const double left = 1.0 - rate_of(d, at + a, theta[a], total);
        const double step = seen > least ? seen : least;
        const double error = step < left ? step / left : 1.0;
        most = before[a] > 0.0 && before[a] < 1.0 && error > most ? error : most;
    }
    return most;
}

/* Compares the steps from d->before that each half of the chains makes: to d->first and to
 * d->other. @param error out: the largest error of an entry, see column_error().
 * @param n_unmet out: see gbs_fit_report.
 * @return the sum over columns of c sum_i (first_i - before_i) (other_i - before_i) / theta_i. The
 * halves are independent; the expectation of the sum is therefore the squared length of the true
 * step in the metric of Fisher's information. To second order this square is twice the rise of ln
 * P. */
static double compare_halves(gbsi_draws *d, const double *theta, const double *count, double *error,
                             uint64_t *n_unmet)
{
    const gbsi_families *s = d->families;
    double square = 0.0;
    *error = 0.0;
    *n_unmet = 0;
    for (uint32_t q = 0; q < d->n_asked; ++q) {
        const uint32_t v = d->child[q];
        const uint32_t r = s->network->arity[v];
        const double alpha = gbsi_family_prior(s, v, d->options);
        for (size_t i = s->start[v]; i < s->start[v + (size_t)1]; i += r) {
            double drawn = 0.0;
            double sum = 0.0;
            for (uint32_t a = 0; a < r; ++a) {
                const double middle = 0.5 * (theta[i + a] + d->before[i + a]);
                const double step =
                    (d->first[i + a] - d->before[i + a]) * (d->other[i + a] - d->before[i + a]);
                drawn += count[i + a];
                sum += middle > 0.0 ? step / middle : 0.0;
            }
            const double total = drawn + r * alpha;
            const size_t at = d->at[q] + (i - s->start[v]);
            square += total * sum;
            d->met[at] |= drawn > 0.0;
            if (total > 0.0) {
                const double e = column_error(d, at, r, d->before + i, theta + i, total);
                *error = e > *error ? e : *error;
            }
            for (uint32_t a = 0; a < r && d->met[at] != 0 && alpha == 0.0; ++a) {
                const double p = d->before[i + a];
                *n_unmet += count[i + a] == 0.0 && p > 0.0 && p < 1.0;
            }
        }
    }
    return square;
}

gbs_status gbsi_draws_maximise(gbsi_draws *draws, const double *base, double *theta, double *count,
                               gbs_fit_report *report, gbs_error *err)
{
    gbsi_draws *d = draws;
    const gbsi_families *s = d->families;
    const gbs_fit_options *o = d->options;
    const size_t n_bytes = gbsi_families_entries(s) * sizeof *theta;
    uint32_t n_off = 0;
    uint64_t sweeps = FIRST_SWEEPS < o->sweeps ? FIRST_SWEEPS : o->sweeps;
    while (report->iterations < o->iterations) {
        uint64_t n_doubtful = 0;
        const gbs_status status = draw_rows(d, theta, sweeps, report->iterations, &n_doubtful, err);
        if (status == GBS_STOPPED && report->iterations == 0) {
            return gbsi_watch_fail(err, "expecting the missing values for the first time");
        }
        if (status != GBS_OK) {
            return status;
        }
        memcpy(d->before, theta, n_bytes);
        count_chains(d, base, 0, 2, d->half);
        (void)estimate(d, d->half, d->first);
        count_chains(d, base, 1, 2, d->half);
        (void)estimate(d, d->half, d->other);
        count_chains(d, base, 0, 1, count);
        memcpy(d->half, count, n_bytes);
        report->change = estimate(d, d->half, theta);
        const double square = compare_halves(d, theta, count, &report->error, &report->n_unmet);
        ++report->iterations;
        report->sweeps = sweeps;
        report->n_doubtful = n_doubtful;
        n_off = square > 0.0 && report->change > o->tolerance ? 0 : n_off + 1;
        if (n_off == ITERATIONS_OFF) {
            report->converged = report->error <= o->target_error && n_doubtful == 0;
            if (report->converged || sweeps == o->sweeps) {
                return GBS_OK;
            }
            n_off = 0;
            sweeps = sweeps <= o->sweeps / 2 ? 2 * sweeps : o->sweeps;
        }
    }
    return GBS_OK;
}

/* ---- ln P ------------------------------------------------------------------------------------ */

static gbs_status estimate_row(gbsi_draws *d, size_t row, gbs_log_z_report *z, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_evidence *evidence = NULL;
    gbsi_watch_look(d->watch);
    if (gbsi_watch_stopped(d->watch)) {
        return GBS_STOPPED;
    }
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = d, .progress = on_progress};
    const gbs_run_options options = options_of(d, LOG_P_SWEEPS, LOG_P_STREAM, row);
    GBSI_TRY(observe(d, row, &evidence, err));
    status = gbs_log_z(d->model, evidence, &options, &callbacks, z, err);

cleanup:
    gbs_evidence_free(evidence);
    return status;
}

gbs_status gbsi_draws_log_p(gbsi_draws *draws, const double *theta, double *log_p, double *variance,
                            uint64_t *n_impossible, double *weight, gbs_error *err)
{
    gbsi_draws *d = draws;
    gbs_status status = open_model(d, theta, err);
    for (size_t i = 0; i < d->n_rows && status == GBS_OK; ++i) {
        const size_t row = d->row[i];
        const double w = d->data->weight[row];
        gbs_log_z_report z = {.size = sizeof z};
        status = estimate_row(d, row, &z, err);
        if (status == GBS_ERR_IMPOSSIBLE && n_impossible != NULL) {
            *n_impossible += d->data->count[row];
            *weight += w;
            status = GBS_OK;
            continue;
        }
        status = row_ended(d, row, status, err);
        /* E ln(estimate) = ln Z - variance / 2, to second order; NaN if ln Z is unknown */
        *log_p += w * (z.log_z + 0.5 * z.error * z.error);
        *variance += w * w * z.error * z.error;
    }
    return status;
}
