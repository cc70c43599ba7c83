/* SPDX-License-Identifier: Apache-2.0 */
#include "sensitivity/parameters.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

/* ---- which there are ------------------------------------------------------------------------- */

static size_t n_of_factor(const gbsi_factors *f, size_t factor)
{
    if (!gbsi_has_table(f->kind[factor])) {
        return 1;
    }
    const size_t *start = f->table_start + f->aux[factor];
    return start[1] - start[0];
}

static gbs_status take_room(gbs_sensitivities *a, gbs_error *err)
{
    const size_t n = a->n_parameters;
    a->kind = gbsi_alloc_array(n, sizeof *a->kind);
    a->factor = gbsi_alloc_array(n, sizeof *a->factor);
    a->of = gbsi_alloc_array(n, sizeof *a->of);
    a->entry = gbsi_alloc_array(n, sizeof *a->entry);
    a->value = gbsi_alloc_array(n, sizeof *a->value);
    a->derivative = gbsi_alloc_array_zero(n, sizeof *a->derivative);
    a->mcse = gbsi_alloc_array_zero(n, sizeof *a->mcse);
    a->log_p = gbsi_alloc_array_zero(n, sizeof *a->log_p);
    a->low = gbsi_alloc_array(n, sizeof *a->low);
    a->high = gbsi_alloc_array(n, sizeof *a->high);
    return GBSI_HAVE(err, "sensitivity", a->kind, a->factor, a->of, a->entry, a->value,
                     a->derivative, a->mcse, a->log_p, a->low, a->high);
}

static void put(gbs_sensitivities *a, size_t i, gbs_parameter_kind kind, size_t factor, uint32_t of,
                size_t entry, double value)
{
    a->kind[i] = (uint32_t)kind;
    a->factor[i] = factor;
    a->of[i] = of;
    a->entry[i] = entry;
    a->value[i] = value;
    a->low[i] = NAN;
    a->high[i] = NAN;
}

static void list_factor(const gbs_model *m, size_t factor, size_t at, gbs_sensitivities *a)
{
    const gbsi_factors *f = &m->factors;
    const size_t end = f->scope_start[factor + 1];
    const uint32_t of = end > f->scope_start[factor] ? f->scope[end - 1] : GBSI_NONE;
    if (gbsi_is_noisy(f->kind[factor])) {
        const gbsi_noisy noisy = gbsi_noisy_of(f, factor);
        size_t e = 0;
        put(a, at, GBS_PARAMETER_LEAK, factor, of, e++, -gbsi_expm1(noisy.log_q[0]));
        for (uint32_t i = 0; i < noisy.n_parents; ++i) {
            for (uint32_t k = 0; k < m->arity[noisy.parent[i]]; ++k, ++e) {
                put(a, at + e, GBS_PARAMETER_INHIBITION, factor, noisy.parent[i], e,
                    gbsi_exp(noisy.log_q[e]));
            }
        }
        return;
    }
    if (f->kind[factor] != GBS_FACTOR_TABLE) {
        put(a, at, GBS_PARAMETER_WEIGHT, factor, of, 0, f->weight[factor]);
        return;
    }
    const double *logs = f->table + f->table_start[f->aux[factor]];
    for (size_t e = 0; e < n_of_factor(f, factor); ++e) {
        put(a, at + e, m->directed ? GBS_PARAMETER_PROBABILITY : GBS_PARAMETER_LOG_WEIGHT, factor,
            of, e, m->directed ? gbsi_exp(logs[e]) : logs[e]);
    }
}

gbs_status gbsi_parameters_list(const gbs_model *model, const gbs_evidence *evidence,
                                gbs_sensitivities *answer, size_t **first, gbs_error *err)
{
    const size_t n_factors = model->factors.n_factors;
    size_t n = 0;
    *first = gbsi_alloc_array(n_factors + 1, sizeof **first);
    if (*first == NULL) {
        return gbsi_no_memory(err, "sensitivity", n_factors * sizeof **first);
    }
    for (size_t f = 0; f < n_factors; ++f) {
        if (gbsi_noisy_is_graded(model->factors.kind[f])) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "factor %zu is a noisy-max or noisy-min, whose probabilities are no "
                             "parameters here: convert the model to a format of tables first",
                             f);
        }
        (*first)[f] = n;
        n += n_of_factor(&model->factors, f);
    }
    (*first)[n_factors] = n;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        n += gbsi_log_likelihood(evidence, v) != NULL ? model->arity[v] : 0;
    }
    answer->n_parameters = n;
    GBSI_PASS(take_room(answer, err));
    for (size_t f = 0; f < n_factors; ++f) {
        list_factor(model, f, (*first)[f], answer);
    }
    n = (*first)[n_factors];
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        const double *l = gbsi_log_likelihood(evidence, v);
        for (uint32_t s = 0; l != NULL && s < model->arity[v]; ++s) {
            put(answer, n++, GBS_PARAMETER_LIKELIHOOD, SIZE_MAX, v, s, l[s]);
        }
    }
    return GBS_OK;
}

/* ---- what they do ---------------------------------------------------------------------------- */

/* Computes derivatives for one column of a conditional table. An entry t becomes t + d, and every
 * other entry t_j becomes t_j (1 - d / R), where R is the sum of the other entries. This changes F
 * = sum_j t_j g_j by d (g - sum over the other entries of t_j g_j / R). Chan & Darwiche (2002), J.
 * Artif. Intell. Res. 17:265-287. @param logs [r] ln t_j. @param sign 1: the second term is
 * subtracted; -1: the g are bounds, which are added. @param g [r] in: g; out: derivatives. @param
 * room [2 * r] scratch for partial sums. */
static void move_column(uint32_t r, const double *logs, double sign, double *g, double *room)
{
    double *before_t = room;
    double *before_f = room + r;
    double sum_t = 0.0;
    double sum_f = 0.0;
    for (uint32_t i = 0; i < r; ++i) {
        const double t = gbsi_exp(logs[i]);
        before_t[i] = sum_t;
        before_f[i] = sum_f;
        sum_t += t;
        sum_f += t > 0.0 ? t * g[i] : 0.0; /* if t is 0, g does not matter, and may be unknown */
    }
    const double first = g[0];
    const double last = g[r - 1];
    sum_t = 0.0;
    sum_f = 0.0;
    for (uint32_t i = r; i-- > 0;) {
        const double t = gbsi_exp(logs[i]);
        const double rest_t = before_t[i] + sum_t;
        const double rest_f = before_f[i] + sum_f;
        const double own = g[i];
        sum_t += t;
        sum_f += t > 0.0 ? t * own : 0.0;
        if (rest_t > 0.0) {
            g[i] = own - sign * (rest_f / rest_t);
        } else if (r == 2) { /* the child has one other state, which takes the whole change of t */
            g[i] = own - sign * (i == 0 ? last : first);
        } else {
            g[i] = NAN;
        }
    }
}

static void move_conditional(const gbsi_reduced *r, size_t factor, gbsi_moved what, const double *w,
                             double *out, double *room)
{
    const gbsi_factors *f = &r->user->factors;
    const double *logs = f->table + f->table_start[f->aux[factor]];
    const size_t n = gbsi_factor_size(f, factor);
    const uint32_t arity = r->user->arity[f->scope[f->scope_start[factor + 1] - 1]];
    gbsi_rest rest = gbsi_rest_begin(r, factor);
    memset(out, 0, n * sizeof *out);
    for (size_t s = 0; s < rest.n_joint; ++s, gbsi_rest_next(&rest)) {
        const double t = gbsi_exp(logs[rest.user]);
        const bool apart = what == GBSI_MOVED_APART || (what != GBSI_MOVED_SUM && !(t > 0.0));
        out[rest.user] = apart ? w[s] : t > 0.0 ? w[s] / t : (double)NAN;
    }
    for (size_t column = 0; column < n; column += arity) {
        move_column(arity, logs + column, what == GBSI_MOVED_BOUND ? -1.0 : 1.0, out + column,
                    room);
    }
}

void gbsi_parameters_move_nothing(const gbsi_reduced *reduced, size_t factor, double *out,
                                  double *room)
{
    const gbsi_factors *f = &reduced->user->factors;
    if (gbsi_is_noisy(f->kind[factor])) {
        return;
    }
    const double *logs = f->table + f->table_start[f->aux[factor]];
    const size_t n = gbsi_factor_size(f, factor);
    const uint32_t arity = reduced->user->arity[f->scope[f->scope_start[factor + 1] - 1]];
    for (size_t column = 0; column < n; column += arity) {
        move_column(arity, logs + column, 1.0, out + column, room);
    }
}

static void move_table(const gbsi_reduced *r, size_t factor, const double *w, double *out)
{
    const gbsi_factors *f = &r->user->factors;
    const double *logs = f->table + f->table_start[f->aux[factor]];
    const size_t n = gbsi_factor_size(f, factor);
    gbsi_rest rest = gbsi_rest_begin(r, factor);
    for (size_t e = 0; e < n; ++e) {
        out[e] = logs[e] == -INFINITY ? (double)NAN : 0.0;
    }
    for (size_t s = 0; s < rest.n_joint; ++s, gbsi_rest_next(&rest)) {
        out[rest.user] = logs[rest.user] == -INFINITY ? (double)NAN : w[s];
    }
}

/* Computes the sum over s of phi(s) F(s). */
static void move_weight(const gbsi_reduced *r, size_t factor, const double *w, double *out)
{
    gbsi_rest rest = gbsi_rest_begin(r, factor);
    *out = isinf(r->user->factors.weight[factor]) ? (double)NAN : 0.0;
    for (size_t s = 0; s < rest.n_joint; ++s, gbsi_rest_next(&rest)) {
        *out += gbsi_factor_value_at(&r->unit, r->user->arity, factor, rest.at) * w[s];
    }
}

void gbsi_parameters_ranges(const gbsi_reduced *reduced, const size_t *first,
                            gbs_sensitivities *answer)
{
    const gbsi_factors *f = &reduced->user->factors;
    for (size_t factor = 0; factor < f->n_factors; ++factor) {
        if (gbsi_has_table(f->kind[factor]) || isinf(f->weight[factor])) {
            continue;
        }
        gbsi_rest rest = gbsi_rest_begin(reduced, factor);
        double range[2] = {INFINITY, -INFINITY};
        bool two = true;
        for (size_t s = 0; s < rest.n_joint; ++s, gbsi_rest_next(&rest)) {
            const double value =
                gbsi_factor_value_at(&reduced->unit, reduced->user->arity, factor, rest.at);
            const bool known = value == range[0] || value == range[1];
            two = two && (known || !(range[0] < range[1])); /* false if phi has a third value */
            range[0] = value < range[0] ? value : range[0];
            range[1] = value > range[1] ? value : range[1];
        }
        if (two && range[0] < range[1]) {
            answer->low[first[factor]] = range[0];
            answer->high[first[factor]] = range[1];
        }
    }
}

void gbsi_parameters_move_cause(uint32_t n, const double *w, bool is_leak, double *out)
{
    for (uint32_t a = 0; a < n; ++a) {
        const double by_q = w[4 * (size_t)a] - w[4 * (size_t)a + 1];
        out[a] = is_leak ? -by_q : by_q; /* q_0 = 1 - leak */
    }
}

void gbsi_parameters_move(const gbsi_reduced *reduced, size_t factor, gbsi_moved what,
                          const double *w, double *out, double *room)
{
    if (reduced->user->factors.kind[factor] != GBS_FACTOR_TABLE) {
        move_weight(reduced, factor, w, out);
    } else if (reduced->user->directed) {
        move_conditional(reduced, factor, what, w, out, room);
    } else {
        move_table(reduced, factor, w, out);
    }
}
