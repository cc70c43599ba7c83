/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed point iteration [M26]. If the variables are updated one after the other without damping,
 * the iteration is coordinate ascent, and the bound never decreases. Updating all variables at once
 * may oscillate; damping prevents this. */
#include "variational/mean_field.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

/* An end: one factor in the list of factors of one of its variables. */
typedef struct end {
    size_t factor;
    size_t position; /* position of the variable in the scope */
} end;

struct gbsi_mean_field {
    const gbsi_conditioned *model; /* borrowed */
    gbs_mean_field_schedule schedule;
    double damping;
    gbsi_watch *watch; /* NULL if nothing may stop the work */
    size_t *end_start; /* [n_variables + 1] offsets of the variables in `end` */
    end *end;          /* factors of each variable, ascending */
    double *q;         /* [state_offset[n_variables]] probabilities of the states */
    double *next;  /* [state_offset[n_variables]] the new q if all variables are updated at once;
                      otherwise NULL */
    double *field; /* [largest arity] field of the current variable */
    double *scratch;
};

static size_t n_states(const gbsi_conditioned *model)
{
    return model->state_offset[model->n_variables];
}

static size_t n_ends(const gbsi_conditioned *model)
{
    const gbsi_factors *factors = &model->factors;
    return factors->n_factors == 0 ? 0 : factors->scope_start[factors->n_factors];
}

static size_t largest_arity(const gbsi_conditioned *model)
{
    size_t arity = 1;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        arity = model->arity[v] > arity ? model->arity[v] : arity;
    }
    return arity;
}

uint64_t gbsi_mean_field_bytes(const gbsi_conditioned *model)
{
    return 2 * (uint64_t)n_states(model) * sizeof(double) + (uint64_t)n_ends(model) * sizeof(end) +
           ((uint64_t)model->n_variables + 1) * sizeof(size_t) +
           (largest_arity(model) + gbsi_expected_scratch(model)) * sizeof(double);
}

/* Sorts the ends by variable, with a counting sort that keeps the order of the factors. */
static void sort_ends(gbsi_mean_field *m)
{
    const gbsi_factors *factors = &m->model->factors;
    const uint32_t n = m->model->n_variables;
    for (size_t e = 0; e < n_ends(m->model); ++e) {
        ++m->end_start[factors->scope[e] + 1];
    }
    for (uint32_t v = 0; v < n; ++v) {
        m->end_start[v + 1] += m->end_start[v];
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            m->end[m->end_start[factors->scope[e]]++] = (end){f, e - factors->scope_start[f]};
        }
    }
    for (uint32_t v = n; v > 0; --v) {
        m->end_start[v] = m->end_start[v - 1];
    }
    m->end_start[0] = 0;
}

/* Computes p ∝ exp(field), after subtracting the maximum, which is finite. */
static void softmax(const double *field, uint32_t k, double *p)
{
    double top = field[0];
    double total = 0.0;
    for (uint32_t a = 1; a < k; ++a) {
        top = field[a] > top ? field[a] : top;
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] = gbsi_exp(field[a] - top);
        total += p[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] /= total;
    }
}

/* Adds the expected log-weight of a factor to m->field, and counts the work for the watch. */
static void add_expected(gbsi_mean_field *m, size_t f, size_t position)
{
    if (!gbsi_watch_spend(m->watch, gbsi_factor_size(&m->model->factors, f))) {
        gbsi_expected_logw(m->model, f, position, m->q, m->scratch, m->field);
    }
}

/* Computes the right side of the fixed point equation for one variable, into m->field.
 * @param alone whether to use only the factors of this variable alone. */
static void update(gbsi_mean_field *m, uint32_t v, bool alone)
{
    const gbsi_conditioned *model = m->model;
    const gbsi_factors *factors = &model->factors;
    const uint32_t k = model->arity[v];
    memset(m->field, 0, k * sizeof *m->field);
    for (size_t i = m->end_start[v]; i < m->end_start[v + 1]; ++i) {
        const size_t f = m->end[i].factor;
        if (!alone || factors->scope_start[f + 1] - factors->scope_start[f] == 1) {
            add_expected(m, f, m->end[i].position);
        }
    }
    softmax(m->field, k, m->field);
}

gbs_status gbsi_mean_field_new(const gbsi_conditioned *model, gbs_mean_field_schedule schedule,
                               double damping, gbsi_watch *watch, gbsi_mean_field **out,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_mean_field *m = gbsi_alloc_zero(sizeof *m);
    GBSI_PASS(GBSI_HAVE(err, "mean field", m));
    assert(damping > 0.0 && damping <= 1.0);
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        if (gbsi_is_noisy(model->factors.kind[f])) {
            status = gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                               "mean field: the expectation of a noisy factor of many parents has "
                               "no closed form: use another method");
            goto cleanup;
        }
    }
    m->model = model;
    m->schedule = schedule;
    m->damping = damping;
    m->watch = watch;
    m->end_start = gbsi_alloc_array_zero((size_t)model->n_variables + 1, sizeof *m->end_start);
    m->end = gbsi_alloc_array(n_ends(model), sizeof *m->end);
    m->q = gbsi_alloc_array(n_states(model), sizeof *m->q);
    m->next = gbsi_alloc_array(n_states(model), sizeof *m->next);
    m->field = gbsi_alloc_array(largest_arity(model), sizeof *m->field);
    m->scratch = gbsi_alloc_array(gbsi_expected_scratch(model), sizeof *m->scratch);
    GBSI_TRY(
        GBSI_HAVE(err, "mean field", m->end_start, m->end, m->q, m->next, m->field, m->scratch));
    sort_ends(m);
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        update(m, v, true);
        memcpy(m->q + model->state_offset[v], m->field, model->arity[v] * sizeof *m->q);
    }
    *out = m;
    m = NULL;

cleanup:
    gbsi_mean_field_free(m);
    return status;
}

void gbsi_mean_field_free(gbsi_mean_field *m)
{
    if (m != NULL) {
        GBSI_FREE(m->end_start, m->end, m->q, m->next, m->field, m->scratch, m);
    }
}

/* Returns the largest |field - q| of the variable whose field was computed last. */
static double distance(const gbsi_mean_field *m, uint32_t v)
{
    const double *q = m->q + m->model->state_offset[v];
    double most = 0.0;
    for (uint32_t a = 0; a < m->model->arity[v]; ++a) {
        const double d = fabs(m->field[a] - q[a]);
        most = d > most ? d : most;
    }
    return most;
}

double gbsi_mean_field_step(gbsi_mean_field *m)
{
    const gbsi_conditioned *model = m->model;
    double most = 0.0;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        const size_t at = model->state_offset[v];
        double *to = m->schedule == GBS_MEAN_FIELD_JACOBI ? m->next : m->q;
        update(m, v, false);
        if (gbsi_watch_stopped(m->watch)) {
            return NAN;
        }
        const double d = distance(m, v);
        most = d > most ? d : most;
        for (uint32_t a = 0; a < model->arity[v]; ++a) {
            to[at + a] = (1.0 - m->damping) * m->q[at + a] + m->damping * m->field[a];
        }
    }
    if (m->schedule == GBS_MEAN_FIELD_JACOBI) {
        double *last = m->q;
        m->q = m->next;
        m->next = last;
    }
    return most;
}

double gbsi_mean_field_residual(gbsi_mean_field *m)
{
    double most = 0.0;
    for (uint32_t v = 0; v < m->model->n_variables; ++v) {
        update(m, v, false);
        const double d = distance(m, v);
        most = d > most ? d : most;
    }
    return gbsi_watch_stopped(m->watch) ? NAN : most;
}

static double entropy(const double *q, uint32_t k)
{
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        sum -= q[a] > 0.0 ? q[a] * gbsi_log(q[a]) : 0.0;
    }
    return sum;
}

double gbsi_mean_field_bound(gbsi_mean_field *m)
{
    const gbsi_conditioned *model = m->model;
    const gbsi_factors *factors = &model->factors;
    double sum = model->log_constant;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        sum += entropy(m->q + model->state_offset[v], model->arity[v]);
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const uint32_t v = factors->scope[factors->scope_start[f]];
        double expected = 0.0;
        memset(m->field, 0, model->arity[v] * sizeof *m->field);
        add_expected(m, f, 0);
        for (uint32_t a = 0; a < model->arity[v]; ++a) {
            const double q = m->q[model->state_offset[v] + a];
            expected += q > 0.0 ? q * m->field[a] : 0.0;
        }
        sum += expected;
        if (model->has_zeros[f] &&
            expected < -1e200) { /* q gives a configuration of weight zero a positive probability */
            return -INFINITY;
        }
    }
    return gbsi_watch_stopped(m->watch) ? NAN : sum;
}

const double *gbsi_mean_field_q(const gbsi_mean_field *m)
{
    return m->q;
}
