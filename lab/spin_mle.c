/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient is data moments - model moments [M41]. The model moments come from chains that begin
 * with a new start in every step. The chains follow a scan for the parameters of the step: the
 * shortest scan of its kind whose bound on the total variation of all variables is at most 0.01. */
#include "lab/spin_mle.h"

#include <math.h>

#include "base/memory.h"
#include "lab/curves.h"
#include "lab/spin_fit.h"
#include "lab/spin_grid_scans.h"
#include "simd/math.h"

#define MOST_SPINS  (LAB_MLE_MOST_SIDE * LAB_MLE_MOST_SIDE)
#define MOST_PAIRS  (2 * LAB_MLE_MOST_SIDE * (LAB_MLE_MOST_SIDE - 1))
#define MOST_SIZE   (MOST_SPINS + MOST_PAIRS)
#define MOST_LENGTH (64 * MOST_SPINS) /* longest scan for which a bound is computed */
/* number of random scans for a gradient, each of which an equal share of the chains follows */
#define ORDERS      8u
#define EXACT_STEPS 96u /* number of steps to the optimum with exact moments */
#define EXACT_RATE  0.5
#define LAST_STEPS  12u /* number of last steps over which the final distance is averaged */
#define RATE        0.2
#define HALF        32.0

const char *const lab_mle_scan_name[LAB_MLE_SCANS] = {"random", "systematic", "optimised"};

/* ---- gradients ------------------------------------------------------------------------------- */

/* State of the gradients of one fit. */
typedef struct gradient {
    laboratory *lab;
    const gbsi_spins *spins;
    int scan;
    uint32_t fit;     /* number of the fit among all fits, which selects its random numbers */
    double *sum;      /* sums of statistics over the draws */
    double *updates;  /* [LAB_MLE_STEPS + 1] number of updates of all chains until each step */
    uint32_t *failed; /* number of steps without a scan that meets the bound */
    uint32_t sequence[MOST_LENGTH];
    uint32_t length;
} gradient;

static gbs_status add_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                           const uint32_t *state, gbs_error *err)
{
    const gradient *g = context;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    lab_spins_add(g->spins, state, 1.0 / LAB_MLE_CHAINS, g->sum);
    return GBS_OK;
}

/* Runs one pass of the sequence in the given number of chains, from dispersed starts. */
static gbs_status follow(gradient *g, const gbs_model *model, uint32_t step, uint32_t order,
                         uint32_t chains, gbs_error *err)
{
    gbs_run_options options = lab_options(g->lab, chains, 1);
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = g->sequence;
    options.sequence_length = g->length;
    options.partial_scan = 1; /* a short random scan may omit some variables */
    options.estimator = GBS_ESTIMATOR_RAO_BLACKWELL;
    options.seed = g->lab->options->seed + ((uint64_t)g->fit << 40) + ((uint64_t)step << 8) + order;
    options.threads = 1;
    return lab_run(g->lab, g->lab->what, model, &options, add_draw, g, NULL, err);
}

static void draw_sequence(gradient *g, uint32_t step, uint32_t order)
{
    const uint32_t stream = (g->fit * ORDERS + order) * MOST_LENGTH;
    for (uint32_t t = 0; t < g->length; t++) {
        double u[2];
        lab_uniforms(g->lab, LAB_SCAN, stream + t, step, u);
        g->sequence[t] = (uint32_t)(u[0] * g->spins->n);
    }
}

/* Finds the smallest number of updates after which a scan meets the bound. @param length out: this
 * number; MOST_LENGTH if no number meets the bound. */
static gbs_status shortest(const gbs_influences *influences, int scan, uint32_t *length,
                           gbs_error *err)
{
    uint64_t steps[MOST_LENGTH];
    double bound[MOST_LENGTH];
    for (uint32_t t = 0; t < MOST_LENGTH; t++) {
        steps[t] = t + 1;
    }
    const gbs_status status =
        lab_scan_bounds(influences, scan, 0, NULL, MOST_LENGTH, steps, bound, err);
    for (*length = 1; status >= 0 && *length < MOST_LENGTH; ++*length) {
        if (bound[*length - 1] <= LAB_MLE_ACCURACY) {
            break;
        }
    }
    return status;
}

/* Finds a scan that is optimised from a random scan, as in the paper, and that meets the bound. The
 * optimised scan that is shorter by one update does not meet the bound. The search is a bisection
 * below the length of the shortest random scan that meets the bound. */
static gbs_status optimise(gradient *g, const gbs_influences *influences, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_made_scan made = {0};
    gbs_run_options random = gbs_run_options_default();
    random.scan = GBS_SCAN_RANDOM;
    gbs_scan_request request = {
        .size = sizeof request, .accuracy = LAB_MLE_ACCURACY, .start = &random};
    uint32_t fails = g->spins->n - 1; /* a scan of this length omits at least one variable */
    GBSI_TRY(shortest(influences, GBS_SCAN_RANDOM, &g->length, err));
    while (fails + 1 < g->length) {
        request.steps = (fails + g->length) / 2;
        GBSI_TRY(lab_made_scan_new(influences, &request, &made, err));
        *(made.variation <= LAB_MLE_ACCURACY ? &g->length : &fails) = (uint32_t)request.steps;
    }
    request.steps = g->length;
    GBSI_TRY(lab_made_scan_new(influences, &request, &made, err));
    for (size_t t = 0; t < made.n; t++) {
        g->sequence[t] = made.sequence[t];
    }
cleanup:
    lab_made_scan_free(&made);
    return status;
}

static gbs_status choose_scan(gradient *g, const gbs_influences *influences, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (g->scan == LAB_MLE_OPTIMISED) {
        GBSI_TRY(optimise(g, influences, err));
    } else {
        const bool random = g->scan == LAB_MLE_RANDOM;
        GBSI_TRY(
            shortest(influences, random ? GBS_SCAN_RANDOM : GBS_SCAN_SYSTEMATIC, &g->length, err));
        for (uint32_t t = 0; t < g->length; t++) {
            g->sequence[t] = t % g->spins->n; /* the random scans are drawn later */
        }
    }
    *g->failed += g->length == MOST_LENGTH;
cleanup:
    return status;
}

static gbs_status sampled_moments(void *context, uint32_t step, const gbs_model *model,
                                  double *moment, gbs_error *err)
{
    gradient *g = context;
    const bool random = g->scan == LAB_MLE_RANDOM;
    const uint32_t orders = random ? ORDERS : 1;
    gbs_status status = GBS_OK;
    gbs_influences *influences = NULL;
    if (lab_tell(g->lab, 0.0) != 0) {
        return GBS_STOPPED;
    }
    GBSI_TRY(gbs_influences_new(model, NULL, NULL, &influences, err));
    GBSI_TRY(choose_scan(g, influences, err));
    for (size_t m = 0; m < lab_spins_size(g->spins); m++) {
        moment[m] = 0.0;
    }
    g->sum = moment;
    for (uint32_t order = 0; order < orders; order++) {
        if (random) {
            draw_sequence(g, step, order);
        }
        LAB_TRY(follow(g, model, step, order, LAB_MLE_CHAINS / orders, err));
    }
    g->updates[step + 1] = g->updates[step] + (double)g->length * LAB_MLE_CHAINS;
cleanup:
    gbs_influences_free(influences);
    return status;
}

/* ---- data and optimum ------------------------------------------------------------------------ */

typedef struct task {
    laboratory *lab;
    gbsi_spins spins;
    uint32_t pair[2 * MOST_PAIRS];
    double data[MOST_SIZE];
    double optimum[MOST_SIZE];
    double path[(LAB_MLE_STEPS + 1) * MOST_SIZE];
} task;

static void make_grid(task *t, uint32_t side)
{
    uint32_t n_pairs = 0;
    for (uint32_t v = 0; v < side * side; v++) {
        const uint32_t next[2] = {v + 1, v + side};
        const bool there[2] = {v % side + 1 < side, v + side < side * side};
        for (int k = 0; k < 2; k++) {
            if (there[k]) {
                t->pair[2 * n_pairs] = v;
                t->pair[2 * n_pairs++ + 1] = next[k];
            }
        }
    }
    t->spins = (gbsi_spins){.n = side * side, .n_pairs = n_pairs, .pair = t->pair};
}

/* Makes the moments of rows whose entries are independent and -1 or +1 with equal probability. */
static void make_data(task *t, uint32_t which)
{
    for (size_t m = 0; m < lab_spins_size(&t->spins); m++) {
        t->data[m] = 0.0;
    }
    for (uint32_t row = 0; row < LAB_MLE_ROWS; row++) {
        uint32_t state[MOST_SPINS];
        for (uint32_t v = 0; v < t->spins.n; v++) {
            double u[2];
            lab_uniforms(t->lab, LAB_ROW_OF_SPINS, row * MOST_SPINS + v, which, u);
            state[v] = u[0] < 0.5;
        }
        lab_spins_add(&t->spins, state, 1.0 / LAB_MLE_ROWS, t->data);
    }
}

static gbs_status exact_moments(void *context, uint32_t step, const gbs_model *model,
                                double *moment, gbs_error *err)
{
    const task *t = context;
    (void)step;
    return lab_tell(t->lab, 0.0) != 0 ? GBS_STOPPED
                                      : lab_spins_moments(&t->spins, model, moment, err);
}

/* Finds the optimum with exact moments. @param slope in and out: maximum of the old value and the
 * largest derivative of the likelihood at the end of the ascent. */
static gbs_status find_optimum(task *t, double *slope, gbs_error *err)
{
    const size_t n = lab_spins_size(&t->spins);
    const lab_ascent ascent = {.data = t->data,
                               .steps = EXACT_STEPS,
                               .rate = EXACT_RATE,
                               .half = INFINITY,
                               .moments = exact_moments,
                               .context = t,
                               .path = t->path};
    gbs_status status = GBS_OK;
    t->lab->what = "optimum";
    LAB_TRY(lab_spins_fit(&t->spins, &ascent, err));
    for (size_t m = 0; m < n; m++) {
        const double last = t->path[EXACT_STEPS * n + m];
        const double rise = fabs(last - t->path[(EXACT_STEPS - 1) * n + m]) / EXACT_RATE;
        t->optimum[m] = last;
        *slope = rise > *slope ? rise : *slope;
    }
cleanup:
    return status;
}

/* ---- fits ------------------------------------------------------------------------------------ */

static double distance_from(const task *t, const double *theta)
{
    double sum = 0.0;
    for (size_t m = 0; m < lab_spins_size(&t->spins); m++) {
        sum += (theta[m] - t->optimum[m]) * (theta[m] - t->optimum[m]);
    }
    return gbsi_sqrt(sum);
}

static gbs_status fit(task *t, int scan, uint32_t which, lab_mle_fits *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gradient g = {.lab = t->lab,
                  .spins = &t->spins,
                  .scan = scan,
                  .fit = which,
                  .updates = out->updates[which],
                  .failed = &out->uncertified};
    const lab_ascent ascent = {.data = t->data,
                               .steps = LAB_MLE_STEPS,
                               .rate = RATE,
                               .half = HALF,
                               .moments = sampled_moments,
                               .context = &g,
                               .path = t->path};
    t->lab->what = lab_mle_scan_name[scan]; /* the runs are too short to set lab->what themselves */
    LAB_TRY(lab_spins_fit(&t->spins, &ascent, err));
    for (size_t step = 0; step <= LAB_MLE_STEPS; step++) {
        out->distance[which][step] = distance_from(t, t->path + step * lab_spins_size(&t->spins));
    }
cleanup:
    return status;
}

gbs_status lab_mle_measure(laboratory *lab, uint32_t side, uint32_t n_replicates, lab_mle *out,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    task t = {.lab = lab};
    make_grid(&t, side);
    *out = (lab_mle){.side = side, .n_replicates = n_replicates};
    for (uint32_t which = 0; which < n_replicates; which++) {
        make_data(&t, which);
        LAB_TRY(find_optimum(&t, &out->slope, err));
        for (int scan = 0; scan < LAB_MLE_SCANS; scan++) {
            LAB_TRY(fit(&t, scan, which, &out->by[scan], err));
        }
    }
cleanup:
    return status;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Number of updates until the distance is first a quarter of the initial distance. */
static double updates_to_near(const lab_mle_fits *f, uint32_t which)
{
    for (size_t step = 0; step <= LAB_MLE_STEPS; step++) {
        if (f->distance[which][step] <= 0.25 * f->distance[which][0]) {
            return f->updates[which][step];
        }
    }
    return INFINITY;
}

/* Smallest ratio, over the replicates, of the random scan's updates to the optimised scan's
 * updates. */
static double least_saving(const lab_mle *m)
{
    double least = INFINITY;
    for (uint32_t k = 0; k < m->n_replicates; k++) {
        const double optimised = updates_to_near(&m->by[LAB_MLE_OPTIMISED], k);
        const double saving =
            optimised < INFINITY ? updates_to_near(&m->by[LAB_MLE_RANDOM], k) / optimised : 0.0;
        least = saving < least ? saving : least;
    }
    return least;
}

/* Distance in the last steps, as a mean over steps and replicates. */
static double at_end(const lab_mle *m, int scan)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < m->n_replicates; k++) {
        for (size_t step = LAB_MLE_STEPS - LAST_STEPS + 1; step <= LAB_MLE_STEPS; step++) {
            sum += m->by[scan].distance[k][step];
        }
    }
    return sum / ((double)m->n_replicates * LAST_STEPS);
}

/* Updates per chain, as a mean over steps and replicates. */
static double mean_length(const lab_mle *m, int scan)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < m->n_replicates; k++) {
        sum += m->by[scan].updates[k][LAB_MLE_STEPS];
    }
    return sum / ((double)m->n_replicates * LAB_MLE_STEPS * LAB_MLE_CHAINS);
}

void lab_mle_judge(laboratory *lab, const lab_mle *m)
{
    const double saving = least_saving(m);
    const double optimised = at_end(m, LAB_MLE_OPTIMISED);
    const double random = at_end(m, LAB_MLE_RANDOM);
    lab_find(
        lab, LAB_JUDGE(mle_saving, .times = saving),
        "%u x %u: to get to a quarter of the first distance from the optimum, random scans take "
        "at least %.1f times the updates of optimised scans in each of %u replicates (wanted: "
        "twice as many)",
        m->side, m->side, saving, m->n_replicates);
    lab_find(lab,
             LAB_JUDGE(mle_length, .optimised = mean_length(m, LAB_MLE_OPTIMISED),
                       .systematic = mean_length(m, LAB_MLE_SYSTEMATIC),
                       .random = mean_length(m, LAB_MLE_RANDOM)),
             "to be within %g of the model, chains need %.1f updates with optimised scans, %.1f "
             "systematic, %.1f random (wanted: more systematic, twice as many random)",
             LAB_MLE_ACCURACY, mean_length(m, LAB_MLE_OPTIMISED),
             mean_length(m, LAB_MLE_SYSTEMATIC), mean_length(m, LAB_MLE_RANDOM));
    lab_find(lab, LAB_JUDGE(mle_distance, .optimised = optimised, .random = random),
             "after %u steps the distance is %.2g with optimised scans, %.2g with random scans "
             "(wanted: at most a quarter larger)",
             (unsigned)LAB_MLE_STEPS, optimised, random);
    if (m->by[LAB_MLE_OPTIMISED].uncertified > 0) {
        lab_note(lab, "%u x %u: in %u steps no optimised scan was found within %g.", m->side,
                 m->side, m->by[LAB_MLE_OPTIMISED].uncertified, LAB_MLE_ACCURACY);
    }
}
