/* SPDX-License-Identifier: Apache-2.0 */
/* Judges estimates and their times. The estimates and the number of estimates depend on the seed
 * alone. Only the times depend on the clock. */
#include "lab/timed_estimates.h"

#include "simd/math.h"

double lab_seconds_for(const lab_timed_runs *t, double draws)
{
    const size_t last = t->n - 1;
    const double each = (t->seconds[last] - t->seconds[0]) / (t->draws[last] - t->draws[0]);
    return t->seconds[last] + each * (draws - t->draws[last]);
}

double lab_estimate_band(const lab_timed_runs *t, size_t run)
{
    const size_t last = t->n_estimates - 1;
    return 2.0 * t->mcse[last] * gbsi_sqrt(t->draws[last] / t->draws[run]);
}

/* Distance between an estimate and an interval. */
static double distance(double p, const double truth[2])
{
    return p < truth[0] ? truth[0] - p : p > truth[1] ? p - truth[1] : 0.0;
}

/* Index of the last run that ends within the time; 0 if no run does. */
static size_t run_within(const lab_timed_runs *t, double seconds)
{
    size_t run = 0;
    while (run + 1 < t->n_estimates && t->seconds[run + 1] <= seconds) {
        run++;
    }
    return run;
}

static void judge_time(laboratory *lab, const lab_timed_runs *s, const lab_timed_runs *o,
                       const double truth[2])
{
    size_t run = 0;
    while (run + 1 < s->n_estimates && s->draws[run] < LAB_COMPARED_DRAWS) {
        run++;
    }
    const size_t other = run_within(o, s->seconds[run]);
    const double s_near = distance(s->p[run], truth) + lab_estimate_band(s, run);
    const double o_near = distance(o->p[other], truth) + lab_estimate_band(o, other);
    lab_find(lab,
             LAB_JUDGE(million_sooner, .systematic_s = s->seconds[run],
                       .optimised_s = o->seconds[other], .systematic = s_near, .optimised = o_near),
             "after %.2g s the estimate of %.0f draws by the systematic scan is within %.2g of the "
             "truth, two standard errors included, that of %.0f draws by the optimised scan within "
             "%.2g (wanted: half)",
             s->seconds[run], s->draws[run], s_near, o->draws[other], o_near);
}

void lab_estimates_judge(laboratory *lab, const lab_timed_runs *systematic,
                         const lab_timed_runs *optimised, const double truth[2], double bound)
{
    const size_t s = systematic->n_estimates - 1;
    const size_t o = optimised->n_estimates - 1;
    const double s_off = distance(systematic->p[s], truth);
    const double o_off = distance(optimised->p[o], truth);
    lab_find(lab,
             LAB_JUDGE(million_estimates, .systematic = s_off,
                       .systematic_error = systematic->mcse[s], .optimised = o_off,
                       .optimised_error = optimised->mcse[o], .bound = bound),
             "the estimate of %.0f draws by the systematic scan is off by %.2g (standard error "
             "%.1g), that of %.0f draws by the optimised scan by %.2g (%.1g) (wanted: by chance; "
             "within the bound of %.2g)",
             systematic->draws[s], s_off, systematic->mcse[s], optimised->draws[o], o_off,
             optimised->mcse[o], bound);
    if (!lab->options->quick) { /* quick runs only check the program; their times are not judged,
                                   because they may share the processor */
        judge_time(lab, systematic, optimised, truth);
    }
}
