/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the variation of a scan after given numbers of updates, and the number of passes after
 * which the variation is small enough [M38]. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "scan/influences.h"

/* limit on the work for a given list of numbers of updates: updates times neighbours */
#define MOST_WORK ((uint64_t)1 << 36)
/* limit on the work of a search for the number of passes: updates times neighbours */
#define MOST_SEARCHED ((uint64_t)1 << 34)
#define MOST_PASSES   ((uint64_t)1 << 20)
/* a search gives up if V after twice the number of passes is above this fraction of V before */
#define STALLED        (1.0 - 1e-9)
#define LEAST_DOUBLING 16u

/* Returns the mean number of entries of C and of b that an update of the pass reads. An update of
 * one variable reads a row of C; an update of a variable drawn uniformly reads all rows. */
static double work_of_update(const gbs_influences *f, const gbsi_scan_pass *pass)
{
    const double of_one = f->c->n == 0 ? 1.0 : 1.0 + (double)f->report.n_entries / f->c->n;
    const double n_uniform = (double)pass->n_uniform;
    return n_uniform == 0.0
               ? of_one
               : of_one * (1.0 + n_uniform / (double)pass->sequence.n * (f->c->n - 1.0));
}

/* ---- the variation after given numbers of updates ------------------------------------------- */

/* For each of several targets, the weights d, and a copy of d in which each positive weight is 1.
 * One computation of b then gives, for each target, the sum of d_i b_i and the sum of b_i over its
 * variables. */
typedef struct targets {
    size_t n;
    /* [2 n] the weights of the n targets, then the n copies, owned; NULL stands for weights that
     * are all 1 */
    double **d;
} targets;

static void targets_free(targets *t)
{
    for (size_t k = 0; t->d != NULL && k < 2 * t->n; ++k) {
        gbsi_free(t->d[k]);
    }
    gbsi_free(t->d);
    *t = (targets){0};
}

static gbs_status targets_init(const gbs_influences *f, size_t n, const double *const *weight,
                               targets *t, gbs_error *err)
{
    gbs_status status = GBS_OK;
    t->n = n;
    t->d = gbsi_alloc_array_zero(n, 2 * sizeof *t->d);
    GBSI_PASS(GBSI_HAVE(err, "targets", t->d));
    for (size_t k = 0; k < n; ++k) {
        GBSI_TRY(gbsi_weights_of(f, weight == NULL ? NULL : weight[k], &t->d[k], err));
        if (t->d[k] == NULL) {
            continue;
        }
        t->d[n + k] = gbsi_alloc_array(f->c->n, sizeof **t->d);
        GBSI_TRY(GBSI_HAVE(err, "targets", t->d[n + k]));
        for (uint32_t i = 0; i < f->c->n; ++i) {
            t->d[n + k][i] = t->d[k][i] > 0.0 ? 1.0 : 0.0;
        }
    }

cleanup:
    if (status < 0) {
        targets_free(t);
    }
    return status;
}

/* Returns the sum of a target's weights. A function whose change by variable i is at most d_i
 * changes by at most this sum. */
static double weights_sum(const gbs_influences *f, const double *d)
{
    double sum = 0.0;
    for (uint32_t i = 0; d != NULL && i < f->c->n; ++i) {
        sum += d[i];
    }
    return d == NULL ? f->c->n : sum;
}

/* Computes the bounds of each target from V and the sum of b_i over the variables of the target, by
 * theorem 8 of Mitliagkas & Mackey 2017. */
static void conclude(const gbs_influences *f, const targets *t, size_t n_steps, const double *sums,
                     gbs_variation_bound *bound)
{
    for (size_t k = 0; k < t->n; ++k) {
        const double most = weights_sum(f, t->d[k]);
        for (size_t s = 0; s < n_steps; ++s) {
            const double v = sums[s * 2 * t->n + k];
            const double b = sums[s * 2 * t->n + t->n + k];
            bound[s * t->n + k] = (gbs_variation_bound){.variation = v,
                                                        .functions = v < most ? v : most,
                                                        .total_variation = b < 1.0 ? b : 1.0};
        }
    }
}

static gbs_status of_random(const gbs_influences *f, const targets *t, size_t n_steps,
                            const uint64_t *steps, double *value, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_uniform *u = NULL;
    gbsi_watch watch = gbsi_influences_watch(f);
    GBSI_TRY(gbsi_uniform_new(f->c, 2 * t->n, (const double *const *)t->d, &watch, &u, err));
    for (size_t k = 0; k < n_steps; ++k) {
        GBSI_TRY(gbsi_uniform_at(u, steps[k], value + k * 2 * t->n, err));
    }

cleanup:
    gbsi_uniform_free(u);
    return status;
}

static const char doing[] = "following a scan to bound its variation";

/* Applies n updates of the sequence to b. Begins at index *at of the sequence, and goes on at the
 * beginning of the sequence after its end.
 * @return false if the watch stopped. */
static bool follow(const gbs_influences *f, const gbsi_sequence *sequence, uint64_t n, size_t *at,
                   double *b, gbsi_watch *watch)
{
    while (n > 0 && sequence->n > 0) {
        const size_t left = sequence->n - *at;
        const size_t now = n < left ? (size_t)n : left;
        if (!gbsi_variation_follow(f->c, sequence->variable + *at, now, b, watch)) {
            return false;
        }
        *at = (*at + now) % sequence->n;
        n -= now;
    }
    return true;
}

static gbs_status of_sequence(const gbs_influences *f, const gbsi_sequence *sequence,
                              const targets *t, size_t n_steps, const uint64_t *steps,
                              double *value, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t done = 0;
    size_t at = 0;
    gbsi_watch watch = gbsi_influences_watch(f);
    double *b = gbsi_alloc_array(f->c->n, 2 * sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "variation", b));
    gbsi_variation_begin(f->c, b);
    for (size_t k = 0; k < n_steps; ++k) {
        if (!follow(f, sequence, steps[k] - done, &at, b, &watch)) {
            GBSI_TRY(gbsi_watch_fail(err, doing));
        }
        done = steps[k];
        for (size_t q = 0; q < 2 * t->n; ++q) {
            value[k * 2 * t->n + q] = gbsi_weigh(t->d[q], b, f->c->n);
        }
    }

cleanup:
    gbsi_free(b);
    return status;
}

static gbs_status check_order(size_t n_steps, const uint64_t *steps, gbs_error *err)
{
    for (size_t k = 0; k < n_steps; ++k) {
        if (k > 0 && steps[k] < steps[k - 1]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "steps: %" PRIu64 " after %" PRIu64 ", expected ascending numbers",
                             steps[k], steps[k - 1]);
        }
    }
    return GBS_OK;
}

static gbs_status check_work(const gbs_influences *f, const gbsi_scan_pass *pass, size_t n_steps,
                             const uint64_t *steps, gbs_error *err)
{
    const double work = work_of_update(f, pass);
    for (size_t k = 0; k < n_steps; ++k) {
        if ((double)steps[k] * work > (double)MOST_WORK) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "%" PRIu64 " steps with %.3g influences each are more than the %.3g "
                             "that are looked at: ask for fewer",
                             steps[k], work, (double)MOST_WORK);
        }
    }
    return GBS_OK;
}

gbs_status gbs_variation(const gbs_influences *influences, const gbs_run_options *options,
                         size_t n_targets, const double *const *weight, size_t n_steps,
                         const uint64_t *steps, gbs_variation_bound *bound, gbs_error *err)
{
    GBSI_NEED(influences);
    if (n_targets > 0 && n_steps > 0) {
        GBSI_NEED(steps, bound);
    }
    gbs_status status = GBS_OK;
    gbsi_scan_pass pass = {0};
    targets t = {0};
    double *sums = NULL; /* [n_steps][2 n_targets] */
    gbsi_budget *before = gbsi_influences_enter(influences);
    GBSI_TRY(check_order(n_steps, steps, err));
    GBSI_TRY(targets_init(influences, n_targets, weight, &t, err));
    sums = gbsi_alloc_array(n_steps, 2 * n_targets * sizeof *sums);
    GBSI_TRY(GBSI_HAVE(err, "variation", sums));
    GBSI_TRY(gbsi_scan_pass_init(influences, options, &pass, err));
    GBSI_TRY(check_work(influences, &pass, n_steps, steps, err));
    if (pass.sequence.variable == NULL && pass.sequence.n > 0) {
        GBSI_TRY(of_random(influences, &t, n_steps, steps, sums, err));
    } else {
        GBSI_TRY(of_sequence(influences, &pass.sequence, &t, n_steps, steps, sums, err));
    }
    conclude(influences, &t, n_steps, sums, bound);

cleanup:
    gbsi_free(sums);
    gbsi_scan_pass_free(&pass);
    targets_free(&t);
    gbsi_budget_leave(before);
    return status;
}

/* ---- the number of passes that is enough ---------------------------------------------------- */

/* A search for the least number of passes after which V is small enough. */
typedef struct search {
    const gbs_influences *f;
    const gbsi_scan_pass *pass;
    const double *d;
    double accuracy;
    uint64_t most; /* limit on the number of passes */
    gbs_sufficient *found;
} search;

static void note(const search *s, uint64_t passes, double value)
{
    *s->found = (gbs_sufficient){.found = value <= s->accuracy,
                                 .passes = passes,
                                 .steps = passes * s->pass->sequence.n,
                                 .value = value};
}

static gbs_status search_sequence(const search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_sequence *sequence = &s->pass->sequence;
    gbsi_watch watch = gbsi_influences_watch(s->f);
    double *b = gbsi_alloc_array(s->f->c->n, 2 * sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "variation", b));
    gbsi_variation_begin(s->f->c, b);
    note(s, 0, gbsi_weigh(s->d, b, s->f->c->n));
    double compared = INFINITY; /* V after half of this number of passes */
    for (uint64_t k = 1; !s->found->found && k <= s->most; ++k) {
        if (!gbsi_variation_follow(s->f->c, sequence->variable, sequence->n, b, &watch) ||
            gbsi_watch_spend(&watch, s->f->c->n)) {
            GBSI_TRY(gbsi_watch_fail(err, doing));
        }
        note(s, k, gbsi_weigh(s->d, b, s->f->c->n));
        if (k >= LEAST_DOUBLING && (k & (k - 1)) == 0) {
            if (s->found->value > STALLED * compared) {
                break;
            }
            compared = s->found->value;
        }
    }

cleanup:
    gbsi_free(b);
    return status;
}

/* Searches for the number of passes of the random scan by doubling, then by bisection. */
static gbs_status search_random(const search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_uniform *u = NULL;
    gbsi_watch watch = gbsi_influences_watch(s->f);
    const double *const d[1] = {s->d};
    const uint64_t n = s->pass->sequence.n;
    double value = 0.0;
    double compared = INFINITY;
    uint64_t below = 0; /* largest number of passes that is known to be too small */
    GBSI_TRY(gbsi_uniform_new(s->f->c, 1, d, &watch, &u, err));
    GBSI_TRY(gbsi_uniform_at(u, 0, &value, err));
    note(s, 0, value);
    for (uint64_t k = 1; !s->found->found && k <= s->most; k *= 2) {
        below = s->found->passes;
        GBSI_TRY(gbsi_uniform_at(u, k * n, &value, err));
        note(s, k, value);
        if (k >= LEAST_DOUBLING) {
            if (value > STALLED * compared) {
                break;
            }
            compared = value;
        }
    }
    while (s->found->found && s->found->passes > below + 1) {
        const uint64_t middle = below + (s->found->passes - below) / 2;
        GBSI_TRY(gbsi_uniform_at(u, middle * n, &value, err));
        if (value <= s->accuracy) {
            note(s, middle, value);
        } else {
            below = middle;
        }
    }

cleanup:
    gbsi_uniform_free(u);
    return status;
}

gbs_status gbs_variation_within(const gbs_influences *influences, const gbs_run_options *options,
                                const double *weight, double accuracy, gbs_sufficient *out,
                                gbs_error *err)
{
    GBSI_NEED(influences, out);
    gbs_status status = GBS_OK;
    gbsi_scan_pass pass = {0};
    double *d = NULL;
    gbs_sufficient found = {0};
    if (!(accuracy > 0.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "accuracy: found %g, expected above 0", accuracy);
    }
    gbsi_budget *before = gbsi_influences_enter(influences);
    GBSI_TRY(gbsi_weights_of(influences, weight, &d, err));
    GBSI_TRY(gbsi_scan_pass_init(influences, options, &pass, err));
    const double work = work_of_update(influences, &pass) * (double)(pass.sequence.n + 1);
    const double most = (double)MOST_SEARCHED / work;
    const search s = {.f = influences,
                      .pass = &pass,
                      .d = d,
                      .accuracy = accuracy,
                      .most = most < 1.0                   ? 1
                              : most < (double)MOST_PASSES ? (uint64_t)most
                                                           : MOST_PASSES,
                      .found = &found};
    const bool random = pass.sequence.variable == NULL && pass.sequence.n > 0;
    GBSI_TRY(random ? search_random(&s, err) : search_sequence(&s, err));
    *out = found;

cleanup:
    gbsi_scan_pass_free(&pass);
    gbsi_free(d);
    gbsi_budget_leave(before);
    return status;
}
