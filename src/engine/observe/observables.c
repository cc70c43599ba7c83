/* SPDX-License-Identifier: Apache-2.0 */
/* Series of a state, the rows of observables.def, and the jackknife. */
#include "observe/observables.h"

#include <math.h>

#include "base/memory.h"
#include "estimate/blocking.h"
#include "estimate/trace.h"
#include "simd/math.h"

/* The quantities of a state whose means are kept. Energies are counted from the energy of the first
 * state that is kept, so that their squares lose no digits. */
enum { OF_E, OF_EE, OF_M, OF_ABS_M, OF_M2_DRAWN, OF_ORDER, OF_M2, OF_M4, N_SERIES };

/* About how many batches of all chains give the errors: enough to know an error to 9 %, and few, so
 * that batches are long. Fewer than LEAST_BATCHES, or batches shorter than LEAST_LENGTH passes,
 * give no error. */
enum { BATCHES = 64, LEAST_BATCHES = 20, LEAST_LENGTH = 4 };

/* The gradient of an observable is taken by differences of this many standard deviations. */
#define STEP 0x1p-10

struct gbsi_observables {
    uint32_t n_chains, n_states, n_variables;
    double first_energy; /* energy of the first state that was kept; NAN before */
    gbsi_trace *trace;
    gbsi_blocking *blocking;
};

/* The means from which observables are computed. */
typedef struct means {
    double of[N_SERIES];
    double n_variables, first_energy;
} means;

/* ---- rows ------------------------------------------------------------------------------------ */

typedef enum states { ANY, TWO, MORE } states;

/* A function for each row: its expression. */
#define GBSI_OBSERVABLE(name, unit, states, formula, expression)                              \
    static double value_of_##name(const means *x)                                             \
    {                                                                                         \
        const double N = x->n_variables, E0 = x->first_energy;                                \
        const double E = x->of[OF_E], EE = x->of[OF_EE];                                      \
        const double M = x->of[OF_M], ABS_M = x->of[OF_ABS_M], M2_DRAWN = x->of[OF_M2_DRAWN]; \
        const double M2 = x->of[OF_M2], M4 = x->of[OF_M4], ORDER = x->of[OF_ORDER];           \
        (void)N, (void)E0, (void)E, (void)EE, (void)M, (void)ABS_M, (void)M2_DRAWN, (void)M2, \
            (void)M4, (void)ORDER;                                                            \
        return expression;                                                                    \
    }
#include "observe/observables.def"
#undef GBSI_OBSERVABLE

typedef struct row {
    const char *name, *unit, *formula;
    states states;
    double (*value)(const means *x);
} row;

static const row rows[] = {
#define GBSI_OBSERVABLE(name, unit, states, formula, expression) \
    {#name, unit, formula, states, value_of_##name},
#include "observe/observables.def"
#undef GBSI_OBSERVABLE
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static bool is_of(const row *r, uint32_t n_states)
{
    return r->states == ANY || (r->states == TWO) == (n_states == 2);
}

uint32_t gbsi_observables_count(const gbsi_observables *o)
{
    uint32_t n = 0;
    for (uint32_t i = 0; o != NULL && gbsi_trace_n_passes(o->trace) > 0 && i < N_ROWS; ++i) {
        n += is_of(&rows[i], o->n_states);
    }
    return n;
}

/* ---- life ------------------------------------------------------------------------------------ */

uint64_t gbsi_observables_bytes(uint32_t n_chains)
{
    return sizeof(gbsi_observables) + gbsi_trace_bytes(n_chains, N_SERIES) +
           gbsi_blocking_bytes(n_chains, N_SERIES);
}

gbs_status gbsi_observables_new(uint32_t n_chains, uint32_t n_states, uint32_t n_variables,
                                gbsi_observables **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_observables *o = gbsi_alloc_zero(sizeof *o);
    GBSI_PASS(GBSI_HAVE(err, "observables", o));
    *o = (gbsi_observables){.n_chains = n_chains,
                            .n_states = n_states,
                            .n_variables = n_variables,
                            .first_energy = NAN};
    GBSI_TRY(gbsi_trace_new(n_chains, N_SERIES, &o->trace, err));
    GBSI_TRY(gbsi_blocking_new(n_chains, N_SERIES, &o->blocking, err));
    *out = o;
    o = NULL;
cleanup:
    gbsi_observables_free(o);
    return status;
}

void gbsi_observables_free(gbsi_observables *o)
{
    if (o != NULL) {
        gbsi_trace_free(o->trace);
        gbsi_blocking_free(o->blocking);
        gbsi_free(o);
    }
}

/* ---- states ---------------------------------------------------------------------------------- */

/* q / (q - 1) sum over a (f_a - 1 / q)^2 */
static double square_of(const gbsi_observables *o, const uint32_t *count)
{
    const double q = o->n_states;
    double sum = 0.0;
    for (uint32_t a = 0; a < o->n_states; ++a) {
        const double d = (double)count[a] / o->n_variables - 1.0 / q;
        sum += d * d;
    }
    return q / (q - 1.0) * sum;
}

/* (q max f - 1) / (q - 1) */
static double order_of(const gbsi_observables *o, const uint32_t *count)
{
    const double q = o->n_states;
    uint32_t most = 0;
    for (uint32_t a = 0; a < o->n_states; ++a) {
        most = count[a] > most ? count[a] : most;
    }
    return (q * (double)most / o->n_variables - 1.0) / (q - 1.0);
}

gbs_observed gbsi_observables_put(gbsi_observables *o, uint32_t chain, const gbsi_seen *seen)
{
    const double n = o->n_variables;
    const double energy = -seen->log_density / n;
    if (isnan(o->first_energy)) {
        o->first_energy = energy;
    }
    const double e = energy - o->first_energy;
    const double m = ((double)seen->count[1] - (double)seen->count[0]) / n;
    const double square = o->n_states == 2 ? m * m : square_of(o, seen->count);
    const bool given = !isnan(seen->square);
    double value[N_SERIES];
    value[OF_E] = e;
    value[OF_EE] = e * e;
    value[OF_M] = m;
    value[OF_ABS_M] = gbsi_sqrt(square);
    value[OF_M2_DRAWN] = square;
    value[OF_ORDER] = order_of(o, seen->count);
    value[OF_M2] = given ? seen->square : square;
    value[OF_M4] = given ? seen->fourth : square * square;
    gbsi_trace_put(o->trace, chain, value);
    gbsi_blocking_put(o->blocking, chain, value);
    return (gbs_observed){.size = sizeof(gbs_observed),
                          .energy = energy,
                          .magnetisation = o->n_states == 2 ? m : (double)NAN,
                          .square = square,
                          .order = value[OF_ORDER],
                          .improved_square = value[OF_M2],
                          .improved_fourth = value[OF_M4]};
}

void gbsi_observables_end_pass(gbsi_observables *o)
{
    gbsi_trace_end_pass(o->trace);
    gbsi_blocking_end_pass(o->blocking);
}

/* ---- estimates ------------------------------------------------------------------------------- */

static means empty_means(const gbsi_observables *o)
{
    return (means){.n_variables = o->n_variables, .first_energy = o->first_energy};
}

static means means_of_all(const gbsi_observables *o)
{
    means all = empty_means(o);
    for (uint32_t s = 0; s < N_SERIES; ++s) {
        all.of[s] = gbsi_trace_summarise(o->trace, s).mean;
    }
    return all;
}

static gbsi_trace_batches batches_of(const gbsi_observables *o)
{
    const uint32_t wanted = (BATCHES + o->n_chains - 1) / o->n_chains;
    return gbsi_trace_batches_of(o->trace, wanted);
}

/* The means without one batch, or of all batches if `left_out` is NULL.
 * @param sum [N_SERIES] sums over all batches. @param n number of values in these sums. */
static means means_without(const gbsi_observables *o, const double *sum, const double *left_out,
                           double n)
{
    means x = empty_means(o);
    for (uint32_t s = 0; s < N_SERIES; ++s) {
        x.of[s] = (sum[s] - (left_out == NULL ? 0.0 : left_out[s])) / n;
    }
    return x;
}

static void add_batch(const gbsi_observables *o, const gbsi_trace_batches *b, uint32_t j,
                      double *sum)
{
    for (uint32_t s = 0; s < N_SERIES; ++s) {
        sum[s] += gbsi_trace_batch(o->trace, b, s, j / b->per_chain, j % b->per_chain);
    }
}

/* Jackknife over B batches of all chains (Quenouille 1956; Tukey 1958): with theta_(-j) from the
 * means without batch j,
 *     se^2 = (B - 1) / B sum over j (theta_(-j) - their mean)^2,
 *     bias = (B - 1) (mean of theta_(-j) - theta).
 * Both are scaled from the passes of the batches to all passes. */
static void jackknife(const gbsi_observables *o, const row *r, gbs_observable *found)
{
    const gbsi_trace_batches b = batches_of(o);
    const uint32_t n_batches = b.per_chain * o->n_chains;
    const double each = (double)b.length;
    const double n = each * n_batches;
    double sum[N_SERIES] = {0.0};
    double total = 0.0;
    double squares = 0.0;
    if (n_batches < LEAST_BATCHES || b.length < LEAST_LENGTH) {
        return;
    }
    for (uint32_t j = 0; j < n_batches; ++j) {
        add_batch(o, &b, j, sum);
    }
    const means all = means_without(o, sum, NULL, n);
    const double theta = r->value(&all);
    for (uint32_t j = 0; j < n_batches; ++j) {
        double batch[N_SERIES] = {0.0};
        add_batch(o, &b, j, batch);
        const means rest = means_without(o, sum, batch, n - each);
        const double d = r->value(&rest) - theta;
        total += d;
        squares += d * d;
    }
    const double left = squares - total * total / n_batches;
    const double share = n / ((double)gbsi_trace_n_passes(o->trace) * o->n_chains);
    found->mcse = gbsi_sqrt((n_batches - 1.0) / n_batches * (left > 0.0 ? left : 0.0) * share);
    found->value -= (n_batches - 1.0) * total / n_batches * share;
}

/* Derivatives of an observable with the means, by central differences. */
static void differentiate(const gbsi_observables *o, const row *r, const means *at,
                          double gradient[N_SERIES])
{
    for (uint32_t s = 0; s < N_SERIES; ++s) {
        means low = *at;
        means high = *at;
        const double h = STEP * gbsi_sqrt(gbsi_blocking_variance(o->blocking, s));
        low.of[s] -= h;
        high.of[s] += h;
        gradient[s] = h > 0.0 ? (r->value(&high) - r->value(&low)) / (2.0 * h) : 0.0;
    }
}

gbs_observable gbsi_observables_tell(const gbsi_observables *o, uint32_t i)
{
    const row *r = rows;
    for (uint32_t left = i; left > 0 || !is_of(r, o->n_states); ++r) {
        left -= is_of(r, o->n_states);
    }
    const means all = means_of_all(o);
    double gradient[N_SERIES];
    gbs_observable found = {.size = sizeof found,
                            .name = r->name,
                            .unit = r->unit,
                            .formula = r->formula,
                            .value = r->value(&all),
                            .mcse = NAN};
    jackknife(o, r, &found);
    differentiate(o, r, &all, gradient);
    const gbsi_tau tau = gbsi_blocking_tau(o->blocking, gradient);
    found.tau = tau.tau;
    found.tau_mcse = tau.mcse;
    return found;
}

uint64_t gbsi_observables_batch(const gbsi_observables *o)
{
    return o == NULL ? 0 : batches_of(o).length;
}

/* ---- saving and loading ---------------------------------------------------------------------- */

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_observables *o = object;
    GBSI_PASS(gbsi_put_numbers(sink, &o->first_energy, 1, sizeof o->first_energy, err));
    GBSI_PASS(gbsi_trace_save(o->trace, sink, err));
    return gbsi_blocking_save(o->blocking, sink, err);
}

gbs_status gbsi_observables_save(const gbsi_observables *o, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, o, save, err);
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbsi_observables *o = object;
    GBSI_PASS(gbsi_take_numbers(source, &o->first_energy, 1, sizeof o->first_energy, err));
    GBSI_PASS(gbsi_trace_load(o->trace, source, err));
    return gbsi_blocking_load(o->blocking, source, err);
}

gbs_status gbsi_observables_load(gbsi_observables *o, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, o, load, "observables", err);
}
