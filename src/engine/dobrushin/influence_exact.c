/* SPDX-License-Identifier: Apache-2.0 */
/* Computes influences by their definition [M17]. First computes the conditional of i for every
 * configuration of i's neighbours. The influence of j is then the largest total variation between
 * the conditionals at two configurations that differ only in j. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dobrushin/matrix.h"
#include "graph/graph.h"
#include "simd/math.h"

#define MOST_PROBABILITIES ((uint64_t)1 << 20) /* 8 MiB of conditionals */

struct gbsi_enumerator {
    const gbsi_conditioned *model;
    gbsi_watch *watch;
    gbsi_incident_factors
        incident; /* factors of each variable, including factors of one variable */
    double *p;    /* [configurations][arity of i] conditionals of i */
    size_t p_capacity;
    uint32_t *place; /* for each variable in the scopes of i's factors: index of the variable in
                        j[]; GBSI_NONE for i */
    size_t place_capacity;
    uint32_t
        *state; /* states of i's neighbours, followed by the states of one factor's variables */
    size_t state_capacity;
};

gbs_status gbsi_enumerator_new(const gbsi_conditioned *model, gbsi_watch *watch,
                               gbsi_enumerator **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_enumerator *e = gbsi_alloc_zero(sizeof *e);
    GBSI_PASS(GBSI_HAVE(err, "influence", e));
    e->model = model;
    e->watch = watch;
    GBSI_TRY(gbsi_incident_factors_init(&model->factors, model->n_variables, 1, &e->incident, err));
    *out = e;
    e = NULL;

cleanup:
    gbsi_enumerator_free(e);
    return status;
}

void gbsi_enumerator_free(gbsi_enumerator *e)
{
    if (e == NULL) {
        return;
    }
    gbsi_incident_factors_free(&e->incident);
    GBSI_FREE(e->p, e->place, e->state, e);
}

static size_t scope_size(const gbsi_factors *factors, size_t f)
{
    return factors->scope_start[f + 1] - factors->scope_start[f];
}

/* Returns the index in incident.factor of the first factor of i. The factors of i end before
 * first_factor(i + 1). */
static size_t first_factor(const gbsi_enumerator *e, size_t i)
{
    return gbsi_offset(&e->incident.start, i);
}

uint64_t gbsi_enumerator_cost(const gbsi_enumerator *e, uint32_t i, uint32_t n, const uint32_t *j)
{
    const uint64_t k = e->model->arity[i];
    uint64_t n_configurations = 1;
    uint64_t each = 0;
    for (uint32_t q = 0; q < n; ++q) { /* variables have at least two states, so that seventeen
                                          neighbours exceed the limit */
        n_configurations *= e->model->arity[j[q]];
        each += e->model->arity[j[q]];
        if (n_configurations > GBSI_EXACT_CONFIGURATIONS) {
            return UINT64_MAX;
        }
    }
    if (n_configurations * k > MOST_PROBABILITIES) {
        return UINT64_MAX;
    }
    for (size_t f = first_factor(e, i); f < first_factor(e, i + (size_t)1); ++f) {
        each += scope_size(&e->model->factors, e->incident.factor[f]);
    }
    return n_configurations * k * each;
}

static gbs_status reserve(gbsi_enumerator *e, uint32_t i, uint32_t n, size_t n_p, gbs_error *err)
{
    size_t n_places = 0;
    size_t longest = 1;
    for (size_t f = first_factor(e, i); f < first_factor(e, i + (size_t)1); ++f) {
        const size_t size = scope_size(&e->model->factors, e->incident.factor[f]);
        n_places += size;
        longest = size > longest ? size : longest;
    }
    void *pointer = e->p;
    GBSI_PASS(gbsi_reserve(&pointer, &e->p_capacity, n_p, sizeof *e->p, "influence", err));
    e->p = pointer;
    pointer = e->place;
    GBSI_PASS(gbsi_reserve(&pointer, &e->place_capacity, n_places + 1, sizeof *e->place,
                           "influence", err));
    e->place = pointer;
    pointer = e->state;
    GBSI_PASS(gbsi_reserve(&pointer, &e->state_capacity, n + longest, sizeof *e->state, "influence",
                           err));
    e->state = pointer;
    return GBS_OK;
}

static void find_places(gbsi_enumerator *e, uint32_t i, uint32_t n, const uint32_t *j)
{
    const gbsi_factors *factors = &e->model->factors;
    uint32_t *place = e->place;
    for (size_t k = first_factor(e, i); k < first_factor(e, i + (size_t)1); ++k) {
        const size_t f = e->incident.factor[k];
        for (size_t s = factors->scope_start[f]; s < factors->scope_start[f + 1]; ++s) {
            uint32_t q = 0;
            while (q < n && j[q] != factors->scope[s]) {
                ++q;
            }
            *place++ = q < n ? q : GBSI_NONE;
        }
    }
}

/* Returns the log-weight of x_i = a, if the neighbours of i have the states e->state[0 .. n). */
static double log_weight(gbsi_enumerator *e, uint32_t i, uint32_t n, uint32_t a)
{
    const gbsi_factors *factors = &e->model->factors;
    const uint32_t *place = e->place;
    uint32_t *at = e->state + n;
    double sum = 0.0;
    for (size_t k = first_factor(e, i); k < first_factor(e, i + (size_t)1); ++k) {
        const size_t f = e->incident.factor[k];
        const size_t size = scope_size(factors, f);
        for (size_t s = 0; s < size; ++s) {
            at[s] = place[s] == GBSI_NONE ? a : e->state[place[s]];
        }
        sum += gbsi_factor_value_at(factors, e->model->arity, f, at);
        place += size;
    }
    return sum;
}

/* Computes the conditional of i, which is uniform if no state is allowed. @param p [k] out. */
static void conditional(gbsi_enumerator *e, uint32_t i, uint32_t n, double *p)
{
    const uint32_t k = e->model->arity[i];
    double most = -INFINITY;
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        p[a] = log_weight(e, i, n, a);
        most = p[a] > most ? p[a] : most;
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] = most == -INFINITY ? 1.0 : gbsi_exp(p[a] - most);
        sum += p[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] /= sum;
    }
}

static uint64_t work_of_conditional(const gbsi_enumerator *e, uint32_t i)
{
    uint64_t n = 1;
    for (size_t k = first_factor(e, i); k < first_factor(e, i + (size_t)1); ++k) {
        n += scope_size(&e->model->factors, e->incident.factor[k]);
    }
    return n * e->model->arity[i];
}

static double variation(const double *p, const double *q, uint32_t k)
{
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        sum += fabs(p[a] - q[a]);
    }
    return 0.5 * sum;
}

/* Returns the largest total variation between any two of kj distributions. Successive distributions
 * lie `stride` apart in p. */
static double worst_pair(gbsi_enumerator *e, const double *p, uint32_t k, size_t stride,
                         uint32_t kj)
{
    double worst = 0.0;
    for (uint32_t x = 1; x < kj && !gbsi_watch_spend(e->watch, (uint64_t)x * k); ++x) {
        for (uint32_t y = 0; y < x; ++y) {
            const double tv = variation(p + x * stride * k, p + y * stride * k, k);
            worst = tv > worst ? tv : worst;
        }
    }
    return worst;
}

/* Returns the influence of a neighbour with kj states: the largest total variation over all
 * configurations of the other neighbours. A step of this neighbour's state changes the number of a
 * configuration by `stride`. */
static double worst_of(gbsi_enumerator *e, size_t n_configurations, uint32_t k, size_t stride,
                       uint32_t kj)
{
    double worst = 0.0;
    for (size_t block = 0; block < n_configurations; block += stride * kj) {
        for (size_t rest = block; rest < block + stride; ++rest) {
            const double tv = worst_pair(e, e->p + rest * k, k, stride, kj);
            worst = tv > worst ? tv : worst;
        }
    }
    return worst < 1.0 ? worst : 1.0;
}

gbs_status gbsi_enumerator_row(gbsi_enumerator *e, uint32_t i, uint32_t n, const uint32_t *j,
                               double *c, gbs_error *err)
{
    const uint32_t *arity = e->model->arity;
    size_t n_configurations = 1;
    size_t stride = 1;
    for (uint32_t q = 0; q < n; ++q) {
        n_configurations *= arity[j[q]];
    }
    GBSI_PASS(reserve(e, i, n, n_configurations * arity[i], err));
    find_places(e, i, n, j);
    const uint64_t work = work_of_conditional(e, i);
    memset(e->state, 0, n * sizeof *e->state);
    for (size_t at = 0; at < n_configurations && !gbsi_watch_spend(e->watch, work); ++at) {
        conditional(e, i, n, e->p + at * arity[i]);
        for (uint32_t q = 0; q < n;
             ++q) { /* the next configuration; the state of j[0] varies fastest */
            if (++e->state[q] < arity[j[q]]) {
                break;
            }
            e->state[q] = 0;
        }
    }
    for (uint32_t q = 0; q < n; ++q) {
        c[q] = worst_of(e, n_configurations, arity[i], stride, arity[j[q]]);
        stride *= arity[j[q]];
    }
    return GBS_OK;
}
