/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-likelihood [M61]; Besag (1975), The Statistician 24:179-195. With T_k(a) the sum of the
 * features of the factors next to v that are tied to weight k, where v is in state a and all others
 * are as in the row, and p(a) = p(x_v = a | others),
 *
 *     d ln p(x_v) / d w_k       = T_k(x_v) - sum over a of p(a) T_k(a)
 *     -d2 ln p(x_v) / d w_k d w_l = covariance of T_k and T_l under p */
#include "learn/pseudo.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"

void gbsi_pseudo_free(gbsi_pseudo *pseudo)
{
    gbsi_free(pseudo->start);
    gbsi_free(pseudo->factor);
    gbsi_free(pseudo->slot);
    gbsi_free(pseudo->local_start);
    gbsi_free(pseudo->local);
    gbsi_free(pseudo->work);
    gbsi_free(pseudo->x);
    gbsi_free(pseudo->p);
    gbsi_free(pseudo->feature);
    gbsi_free(pseudo->mean);
}

/* ---- what stands next to what ---------------------------------------------------------------- */

/* Every variable with a choice has a value in every row. */
static gbs_status check_rows(const gbsi_pseudo *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_data *d = s->data;
    const uint32_t n = s->model->n_variables;
    uint8_t *seen = gbsi_alloc_array_zero(n, 1);
    if (seen == NULL) {
        return gbsi_no_memory(err, "rows", n);
    }
    for (uint32_t c = 0; c < d->n_columns; ++c) {
        seen[d->column[c]] = 1;
        if (d->n_missing[c] > 0 && s->model->arity[d->column[c]] > 1) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "found rows without a value of variable %u, expected complete rows",
                               (unsigned)d->column[c]));
        }
    }
    for (uint32_t v = 0; v < n; ++v) {
        if (!seen[v] && s->model->arity[v] > 1) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "found no column of variable %u, expected one for each variable",
                               (unsigned)v));
        }
    }

cleanup:
    gbsi_free(seen);
    return status;
}

static void list_factors(gbsi_pseudo *s)
{
    const gbsi_factors *f = &s->model->factors;
    const uint32_t n = s->model->n_variables;
    for (size_t e = 0; e < f->scope_start[f->n_factors]; ++e) {
        ++s->start[f->scope[e] + (size_t)1];
    }
    for (uint32_t v = 0; v < n; ++v) {
        s->start[v + (size_t)1] += s->start[v];
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        const size_t size = f->scope_start[i + 1] - f->scope_start[i];
        for (size_t e = f->scope_start[i]; e < f->scope_start[i + 1]; ++e) {
            const uint32_t v = f->scope[e];
            s->factor[s->start[v]++] = i; /* start becomes the end, which is the next one's start */
            s->work[v] += 4 + size;
        }
    }
    memmove(s->start + 1, s->start, n * sizeof *s->start);
    s->start[0] = 0;
}

/* @param place [n] scratch. */
static void list_weights(gbsi_pseudo *s, uint32_t *place)
{
    size_t used = 0;
    for (uint32_t k = 0; k < s->learnt->n; ++k) {
        place[k] = GBSI_NONE;
    }
    for (uint32_t v = 0; v < s->model->n_variables; ++v) {
        const size_t begin = used;
        s->local_start[v] = begin;
        for (size_t e = s->start[v]; e < s->start[v + (size_t)1]; ++e) {
            const uint32_t k = s->learnt->of[s->factor[e]];
            if (k != GBSI_NONE && place[k] == GBSI_NONE) {
                place[k] = (uint32_t)(used - begin);
                s->local[used++] = k;
            }
            s->slot[e] = k == GBSI_NONE ? GBSI_NONE : place[k];
        }
        for (size_t i = begin; i < used; ++i) {
            place[s->local[i]] = GBSI_NONE;
        }
    }
    s->local_start[s->model->n_variables] = used;
}

static gbs_status take_rooms(gbsi_pseudo *s, gbs_error *err)
{
    size_t arity = 1;
    size_t local = 1;
    size_t features = 1;
    for (uint32_t v = 0; v < s->model->n_variables; ++v) {
        const size_t n = s->local_start[v + (size_t)1] - s->local_start[v];
        arity = s->model->arity[v] > arity ? s->model->arity[v] : arity;
        local = n > local ? n : local;
        features = n * s->model->arity[v] > features ? n * s->model->arity[v] : features;
    }
    s->x = gbsi_alloc_array_zero(s->model->n_variables, sizeof *s->x);
    s->p = gbsi_alloc_array(arity, sizeof *s->p);
    s->feature = gbsi_alloc_array(features, sizeof *s->feature);
    s->mean = gbsi_alloc_array(local, sizeof *s->mean);
    return s->x == NULL || s->p == NULL || s->feature == NULL || s->mean == NULL
               ? gbsi_no_memory(err, "features", features * sizeof *s->feature)
               : GBS_OK;
}

gbs_status gbsi_pseudo_init(gbsi_pseudo *pseudo, const gbs_model *model, const gbsi_learnt *learnt,
                            const gbs_data *data, bool whole, gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_pseudo *s = pseudo;
    const gbsi_factors *f = &model->factors;
    const size_t n_ends = f->scope_start[f->n_factors];
    uint32_t *place = NULL;
    *s = (gbsi_pseudo){.model = model, .learnt = learnt, .data = data, .watch = watch};
    if (whole) {
        GBSI_TRY(check_rows(s, err));
    }
    place = gbsi_alloc_array(learnt->n, sizeof *place);
    s->start = gbsi_alloc_array_zero((size_t)model->n_variables + 1, sizeof *s->start);
    s->local_start = gbsi_alloc_array((size_t)model->n_variables + 1, sizeof *s->local_start);
    s->work = gbsi_alloc_array_zero(model->n_variables, sizeof *s->work);
    s->factor = gbsi_alloc_array(n_ends, sizeof *s->factor);
    s->slot = gbsi_alloc_array(n_ends, sizeof *s->slot);
    s->local = gbsi_alloc_array(n_ends, sizeof *s->local);
    if (place == NULL || s->start == NULL || s->local_start == NULL || s->work == NULL ||
        s->factor == NULL || s->slot == NULL || s->local == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "factors of variables", n_ends * sizeof *s->factor));
    }
    list_factors(s);
    list_weights(s, place);
    GBSI_TRY(take_rooms(s, err));

cleanup:
    gbsi_free(place);
    return status;
}

/* ---- one conditional ------------------------------------------------------------------------- */

/* Fills feature and p. @return ln p(x_v | others), minus infinity where x_v is impossible. */
static double condition(gbsi_pseudo *s, const double *w, uint32_t v)
{
    const uint32_t arity = s->model->arity[v];
    const uint32_t own = s->x[v];
    const uint32_t *local = s->local + s->local_start[v];
    const size_t n = s->local_start[v + (size_t)1] - s->local_start[v];
    double most = -INFINITY;
    memset(s->feature, 0, arity * n * sizeof *s->feature);
    for (uint32_t a = 0; a < arity; ++a) {
        double *feature = s->feature + a * n;
        double sum = 0.0;
        s->x[v] = a;
        for (size_t e = s->start[v]; e < s->start[v + (size_t)1]; ++e) {
            const double value =
                gbsi_factor_value(&s->learnt->unit, s->model->arity, s->factor[e], s->x);
            *(s->slot[e] == GBSI_NONE ? &sum : &feature[s->slot[e]]) += value;
        }
        for (size_t j = 0; j < n; ++j) {
            sum += w[local[j]] * feature[j];
        }
        s->p[a] = sum;
        most = sum > most ? sum : most;
    }
    s->x[v] = own;
    if (s->p[own] == -INFINITY) {
        return -INFINITY;
    }
    double total = 0.0;
    const double above = s->p[own] - most;
    for (uint32_t a = 0; a < arity; ++a) {
        s->p[a] = s->p[a] == -INFINITY ? 0.0 : gbsi_exp(s->p[a] - most);
        total += s->p[a];
    }
    for (uint32_t a = 0; a < arity; ++a) {
        s->p[a] /= total;
    }
    return above - gbsi_log(total);
}

/* Derivatives of ln p(x_v | others), after condition(). */
static void add_derivatives(gbsi_pseudo *s, uint32_t v, double scale, double *gradient,
                            double *information)
{
    const uint32_t *local = s->local + s->local_start[v];
    const size_t n = s->local_start[v + (size_t)1] - s->local_start[v];
    for (size_t j = 0; j < n; ++j) {
        s->mean[j] = 0.0;
        for (uint32_t a = 0; a < s->model->arity[v]; ++a) {
            s->mean[j] += s->p[a] * s->feature[a * n + j];
        }
        gradient[local[j]] += scale * (s->feature[s->x[v] * n + j] - s->mean[j]);
    }
    for (size_t j = 0; information != NULL && j < n; ++j) {
        for (size_t l = 0; l <= j; ++l) {
            const size_t row = local[j] > local[l] ? local[j] : local[l];
            const size_t column = local[j] > local[l] ? local[l] : local[j];
            double sum = 0.0;
            for (uint32_t a = 0; a < s->model->arity[v]; ++a) {
                const double *feature = s->feature + a * n;
                sum += s->p[a] * (feature[j] - s->mean[j]) * (feature[l] - s->mean[l]);
            }
            information[row * s->learnt->n + column] += scale * sum;
        }
    }
}

void gbsi_pseudo_row(gbsi_pseudo *pseudo, const double *w, size_t i, double scale, double *value,
                     double *gradient, double *information)
{
    gbsi_pseudo *s = pseudo;
    const gbs_data *d = s->data;
    double sum = 0.0;
    for (uint32_t c = 0; c < d->n_columns; ++c) {
        const uint16_t state = d->state[i * d->n_columns + c];
        s->x[d->column[c]] = state == GBSI_MISSING ? 0 : state;
    }
    for (uint32_t v = 0; v < s->model->n_variables; ++v) {
        const size_t n = s->local_start[v + (size_t)1] - s->local_start[v];
        const size_t work = s->work[v] + n * (information == NULL ? 1 : n);
        if (gbsi_watch_spend(s->watch, s->model->arity[v] * work)) {
            return;
        }
        const double log_p = condition(s, w, v);
        sum += log_p;
        if (gradient != NULL && log_p != -INFINITY) {
            add_derivatives(s, v, scale, gradient, information);
        }
    }
    *value += scale * sum;
}

gbs_status gbsi_pseudo_sum(gbsi_pseudo *pseudo, const double *w, double *value, double *gradient,
                           double *information, gbs_error *err)
{
    gbsi_pseudo *s = pseudo;
    double sum = 0.0;
    if (gradient != NULL) {
        memset(gradient, 0, s->learnt->n * sizeof *gradient);
    }
    if (information != NULL) {
        memset(information, 0, (size_t)s->learnt->n * s->learnt->n * sizeof *information);
    }
    for (size_t i = 0; i < s->data->n_distinct; ++i) {
        if (gbsi_watch_stopped(s->watch)) {
            return gbsi_watch_fail(err, "learning");
        }
        gbsi_pseudo_row(s, w, i, s->data->weight[i], &sum, gradient, information);
    }
    *value = sum;
    return gbsi_watch_stopped(s->watch) ? gbsi_watch_fail(err, "learning") : GBS_OK;
}

/* ---- chains ---------------------------------------------------------------------------------- */

void gbsi_pseudo_sweep(gbsi_pseudo *pseudo, const double *w, const gbsi_sweep_order *order,
                       const uint8_t *clamped, uint64_t seed, uint32_t chain, uint64_t pass,
                       uint32_t *x)
{
    gbsi_pseudo *s = pseudo;
    const uint32_t n = s->model->n_variables;
    memcpy(s->x, x, n * sizeof *x);
    for (size_t t = 0; t < order->n; ++t) {
        uint32_t word[4];
        gbsi_philox(seed, chain, pass, (uint32_t)t, GBSI_PURPOSE_UPDATE, word);
        const uint32_t v =
            order->variable[order->random ? (size_t)(((uint64_t)word[2] * order->n) >> 32) : t];
        const uint32_t arity = s->model->arity[v];
        if (arity == 1 || (clamped != NULL && clamped[v])) {
            continue;
        }
        if (gbsi_watch_spend(s->watch, arity * s->work[v])) {
            return;
        }
        (void)condition(s, w, v);
        double at = gbsi_uniform(word[0], word[1]);
        uint32_t a = 0;
        while (a + 1 < arity && at >= s->p[a]) {
            at -= s->p[a++];
        }
        s->x[v] = s->p[a] > 0.0 ? a : s->x[v]; /* rounding never leads to a hard zero */
    }
    memcpy(x, s->x, n * sizeof *x);
}

void gbsi_pseudo_features(const gbsi_pseudo *pseudo, const uint32_t *x, double *sum)
{
    const gbsi_learnt *l = pseudo->learnt;
    for (size_t i = 0; i < pseudo->model->factors.n_factors; ++i) {
        if (l->of[i] != GBSI_NONE) {
            sum[l->of[i]] += gbsi_factor_value(&l->unit, pseudo->model->arity, i, x);
        }
    }
}
