/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-likelihood [M61]; Besag (1975), The Statistician 24:179-195. Let T_k(a) be the sum of the
 * features of the factors that contain v and are tied to weight k. In these features v has state a,
 * and all other variables have the states of the row. With p(a) = p(x_v = a | others),
 *
 *     d ln p(x_v) / d w_k       = T_k(x_v) - sum over a of p(a) T_k(a)
 *     -d2 ln p(x_v) / d w_k d w_l = covariance of T_k and T_l under p */
#include "weights/pseudo.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gibbsite/learn.h"
#include "rng/philox.h"
#include "simd/math.h"
#include "store/builder.h"
#include "weights/learning.h"

/* A block has ROWS rows, and one more row for every WEIGHTS weights, because the sums of a block
 * grow with the square of the number of weights. Above the largest number of weights for which a
 * matrix is made, the number of rows stays constant. */
#define ROWS    16u
#define WEIGHTS 4u

void gbsi_pseudo_free(gbsi_pseudo *pseudo)
{
    GBSI_FREE(pseudo->start, pseudo->factor, pseudo->slot, pseudo->local_start, pseudo->local,
              pseudo->work);
    for (uint32_t i = 0; i < pseudo->n_rooms; ++i) {
        GBSI_FREE(pseudo->room[i].x, pseudo->room[i].p, pseudo->room[i].feature,
                  pseudo->room[i].mean);
    }
    gbsi_free(pseudo->room);
}

/* ---- what stands next to what ---------------------------------------------------------------- */

/* Checks that every variable with a choice has a value in every row. */
static gbs_status check_rows(const gbsi_pseudo *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char name[128];
    const gbs_data *d = s->data;
    const uint32_t n = s->model->n_variables;
    uint8_t *seen = gbsi_alloc_array_zero(n, 1);
    GBSI_PASS(GBSI_HAVE(err, "rows", seen));
    for (uint32_t c = 0; c < d->n_columns; ++c) {
        seen[d->column[c]] = 1;
        if (d->n_missing[c] > 0 && s->model->arity[d->column[c]] > 1) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "found rows without a value of variable %s, expected complete rows",
                               gbsi_variable_text(s->model, d->column[c], name, sizeof name)));
        }
    }
    for (uint32_t v = 0; v < n; ++v) {
        if (!seen[v] && s->model->arity[v] > 1) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "found no column of variable %s, expected one for each variable",
                               gbsi_variable_text(s->model, v, name, sizeof name)));
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
            s->factor[s->start[v]++] =
                i; /* start[v] becomes the end of list v, which is the start of the next list */
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
    s->room = gbsi_alloc_array_zero(gbsi_pool_size(s->pool), sizeof *s->room);
    bool taken = s->room != NULL;
    while (taken && s->n_rooms < gbsi_pool_size(s->pool)) {
        gbsi_pseudo_room *r = &s->room[s->n_rooms++];
        r->x = gbsi_alloc_array_zero(s->model->n_variables, sizeof *r->x);
        r->p = gbsi_alloc_array(arity, sizeof *r->p);
        r->feature = gbsi_alloc_array(features, sizeof *r->feature);
        r->mean = gbsi_alloc_array(local, sizeof *r->mean);
        taken = r->x != NULL && r->p != NULL && r->feature != NULL && r->mean != NULL;
    }
    return taken ? GBS_OK : gbsi_no_memory(err, "features", features * sizeof(double));
}

gbs_status gbsi_pseudo_init(gbsi_pseudo *pseudo, const gbs_model *model, const gbsi_learnt *learnt,
                            const gbs_data *data, bool whole, gbsi_pool *pool, gbsi_watch *watch,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_pseudo *s = pseudo;
    const gbsi_factors *f = &model->factors;
    const size_t n_ends = f->scope_start[f->n_factors];
    uint32_t *place = NULL;
    *s =
        (gbsi_pseudo){.model = model, .learnt = learnt, .data = data, .pool = pool, .watch = watch};
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
    GBSI_TRY(GBSI_HAVE(err, "factors of variables", place, s->start, s->local_start, s->work,
                       s->factor, s->slot, s->local));
    list_factors(s);
    list_weights(s, place);
    GBSI_TRY(take_rooms(s, err));

cleanup:
    gbsi_free(place);
    return status;
}

/* ---- one conditional ------------------------------------------------------------------------- */

/* Fills r->feature and r->p for variable v. @return ln p(x_v | others), minus infinity where x_v is
 * impossible. */
static double condition(const gbsi_pseudo *s, const gbsi_pseudo_room *r, const double *w,
                        uint32_t v)
{
    const uint32_t arity = s->model->arity[v];
    const uint32_t own = r->x[v];
    const uint32_t *local = s->local + s->local_start[v];
    const size_t n = s->local_start[v + (size_t)1] - s->local_start[v];
    double most = -INFINITY;
    memset(r->feature, 0, arity * n * sizeof *r->feature);
    for (uint32_t a = 0; a < arity; ++a) {
        double *feature = r->feature + a * n;
        double sum = 0.0;
        r->x[v] = a;
        for (size_t e = s->start[v]; e < s->start[v + (size_t)1]; ++e) {
            const double value =
                gbsi_factor_value(&s->learnt->unit, s->model->arity, s->factor[e], r->x);
            *(s->slot[e] == GBSI_NONE ? &sum : &feature[s->slot[e]]) += value;
        }
        for (size_t j = 0; j < n; ++j) {
            sum += w[local[j]] * feature[j];
        }
        r->p[a] = sum;
        most = sum > most ? sum : most;
    }
    r->x[v] = own;
    if (r->p[own] == -INFINITY) {
        return -INFINITY;
    }
    double total = 0.0;
    const double above = r->p[own] - most;
    for (uint32_t a = 0; a < arity; ++a) {
        r->p[a] = r->p[a] == -INFINITY ? 0.0 : gbsi_exp(r->p[a] - most);
        total += r->p[a];
    }
    for (uint32_t a = 0; a < arity; ++a) {
        r->p[a] /= total;
    }
    return above - gbsi_log(total);
}

/* Adds the derivatives of ln p(x_v | others), after condition(). */
static void add_derivatives(const gbsi_pseudo *s, const gbsi_pseudo_room *r, uint32_t v,
                            double scale, double *gradient, double *information)
{
    const uint32_t *local = s->local + s->local_start[v];
    const size_t n = s->local_start[v + (size_t)1] - s->local_start[v];
    for (size_t j = 0; j < n; ++j) {
        r->mean[j] = 0.0;
        for (uint32_t a = 0; a < s->model->arity[v]; ++a) {
            r->mean[j] += r->p[a] * r->feature[a * n + j];
        }
        gradient[local[j]] += scale * (r->feature[r->x[v] * n + j] - r->mean[j]);
    }
    for (size_t j = 0; information != NULL && j < n; ++j) {
        for (size_t l = 0; l <= j; ++l) {
            const size_t row = local[j] > local[l] ? local[j] : local[l];
            const size_t column = local[j] > local[l] ? local[l] : local[j];
            double sum = 0.0;
            for (uint32_t a = 0; a < s->model->arity[v]; ++a) {
                const double *feature = r->feature + a * n;
                sum += r->p[a] * (feature[j] - r->mean[j]) * (feature[l] - r->mean[l]);
            }
            information[row * s->learnt->n + column] += scale * sum;
        }
    }
}

static void take_row(const gbsi_pseudo *s, const gbsi_pseudo_room *r, size_t i)
{
    const gbs_data *d = s->data;
    for (uint32_t c = 0; c < d->n_columns; ++c) {
        const uint16_t state = d->state[i * d->n_columns + c];
        r->x[d->column[c]] = state == GBSI_MISSING ? 0 : state;
    }
}

void gbsi_pseudo_row(const gbsi_pseudo *pseudo, uint32_t member, const double *w, size_t i,
                     double scale, double *value, double *gradient, double *information)
{
    const gbsi_pseudo *s = pseudo;
    const gbsi_pseudo_room *r = &s->room[member];
    double sum = 0.0;
    take_row(s, r, i);
    for (uint32_t v = 0; v < s->model->n_variables; ++v) {
        const size_t n = s->local_start[v + (size_t)1] - s->local_start[v];
        const size_t work = s->work[v] + n * (information == NULL ? 1 : n);
        if (gbsi_pseudo_stops(s, member, s->model->arity[v] * work)) {
            return;
        }
        const double log_p = condition(s, r, w, v);
        sum += log_p;
        if (gradient != NULL && log_p != -INFINITY) {
            add_derivatives(s, r, v, scale, gradient, information);
        }
    }
    *value += scale * sum;
}

size_t gbsi_pseudo_block(const gbsi_pseudo *pseudo)
{
    const size_t n = pseudo->learnt->n;
    return ROWS + (n < GBS_MAX_LEARNT_WEIGHTS ? n : GBS_MAX_LEARNT_WEIGHTS) / WEIGHTS;
}

typedef struct summing {
    const gbsi_pseudo *pseudo;
    const double *w;
    size_t n;           /* number of weights */
    bool first, second; /* which derivatives are wanted */
} summing;

/* Adds rows to the sums of a block. @param sum value, gradient and information. */
static void sum_rows(void *context, uint32_t member, size_t first, size_t end, double *sum)
{
    const summing *s = context;
    for (size_t i = first; i < end && !gbsi_watch_stopped(s->pseudo->watch); ++i) {
        gbsi_pseudo_row(s->pseudo, member, s->w, i, s->pseudo->data->weight[i], sum,
                        s->first ? sum + 1 : NULL, s->second ? sum + 1 + s->n : NULL);
    }
}

gbs_status gbsi_pseudo_sum(const gbsi_pseudo *pseudo, const double *w, double *value,
                           double *gradient, double *information, gbs_error *err)
{
    const size_t n = pseudo->learnt->n;
    const size_t n_first = gradient != NULL ? n : 0;
    const size_t n_second = information != NULL ? n * n : 0;
    summing s = {.pseudo = pseudo,
                 .w = w,
                 .n = n_first,
                 .first = gradient != NULL,
                 .second = information != NULL};
    const gbsi_blocks blocks = {.n = pseudo->data->n_distinct,
                                .of_block = gbsi_pseudo_block(pseudo),
                                .n_sums = 1 + n_first + n_second,
                                .context = &s,
                                .add = sum_rows};
    double *sum = NULL;
    GBSI_PASS(gbsi_blocks_sum(&blocks, pseudo->pool, &sum, err));
    *value = sum[0];
    if (gradient != NULL) {
        memcpy(gradient, sum + 1, n_first * sizeof *gradient);
    }
    if (information != NULL) {
        memcpy(information, sum + 1 + n_first, n_second * sizeof *information);
    }
    gbsi_free(sum);
    return gbsi_watch_stopped(pseudo->watch) ? gbsi_watch_fail(err, "learning") : GBS_OK;
}

/* ---- without a matrix ------------------------------------------------------------------------ */

/* A sum over rows with one entry for each weight. */
typedef struct slopes {
    const gbsi_pseudo *pseudo;
    const double *w, *weight, *along;
    /* Adds the contribution of variable v, after condition(). */
    void (*add)(const struct slopes *s, const gbsi_pseudo_room *r, uint32_t v, double scale,
                double *sum);
} slopes;

static void add_gradient(const slopes *s, const gbsi_pseudo_room *r, uint32_t v, double scale,
                         double *sum)
{
    add_derivatives(s->pseudo, r, v, scale, sum, NULL);
}

/* Adds the covariance of T_k with u(a) = sum over l of T_l(a) along_l [M73]. */
static void add_product(const slopes *s, const gbsi_pseudo_room *r, uint32_t v, double scale,
                        double *sum)
{
    const gbsi_pseudo *p = s->pseudo;
    const uint32_t *local = p->local + p->local_start[v];
    const size_t n = p->local_start[v + (size_t)1] - p->local_start[v];
    double mean = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t a = 0; a < p->model->arity[v]; ++a) {
            const double *feature = r->feature + a * n;
            double u = 0.0;
            for (size_t j = 0; j < n; ++j) {
                u += feature[j] * s->along[local[j]];
            }
            mean += pass == 0 ? r->p[a] * u : 0.0;
            for (size_t j = 0; pass == 1 && j < n; ++j) {
                sum[local[j]] += scale * r->p[a] * (u - mean) * feature[j];
            }
        }
    }
}

/* Adds the variance of T_k. */
static void add_diagonal(const slopes *s, const gbsi_pseudo_room *r, uint32_t v, double scale,
                         double *sum)
{
    const gbsi_pseudo *p = s->pseudo;
    const uint32_t *local = p->local + p->local_start[v];
    const size_t n = p->local_start[v + (size_t)1] - p->local_start[v];
    for (size_t j = 0; j < n; ++j) {
        double mean = 0.0;
        double square = 0.0;
        for (uint32_t a = 0; a < p->model->arity[v]; ++a) {
            mean += r->p[a] * r->feature[a * n + j];
        }
        for (uint32_t a = 0; a < p->model->arity[v]; ++a) {
            const double away = r->feature[a * n + j] - mean;
            square += r->p[a] * away * away;
        }
        sum[local[j]] += scale * square;
    }
}

static void add_row_slopes(void *context, uint32_t member, size_t first, size_t end, double *sum)
{
    const slopes *s = context;
    const gbsi_pseudo *p = s->pseudo;
    const gbsi_pseudo_room *r = &p->room[member];
    for (size_t i = first; i < end; ++i) {
        take_row(p, r, i);
        for (uint32_t v = 0; v < p->model->n_variables; ++v) {
            const size_t n = p->local_start[v + (size_t)1] - p->local_start[v];
            if (gbsi_pseudo_stops(p, member, p->model->arity[v] * (p->work[v] + 2 * n))) {
                return;
            }
            if (condition(p, r, s->w, v) != -INFINITY) {
                s->add(s, r, v, s->weight[i], sum);
            }
        }
    }
}

static gbs_status sum_slopes(slopes *s, double *sum, gbs_error *err)
{
    const gbsi_pseudo *p = s->pseudo;
    const gbsi_blocks blocks = {.n = p->data->n_distinct,
                                .of_block = gbsi_pseudo_block(p),
                                .n_sums = p->learnt->n,
                                .context = s,
                                .add = add_row_slopes};
    double *found = NULL;
    const gbs_status status = gbsi_blocks_sum(&blocks, p->pool, &found, err);
    if (status >= 0) {
        memcpy(sum, found, p->learnt->n * sizeof *sum);
    }
    gbsi_free(found);
    return status < 0                     ? status
           : gbsi_watch_stopped(p->watch) ? gbsi_watch_fail(err, "learning")
                                          : GBS_OK;
}

gbs_status gbsi_pseudo_scores(const gbsi_pseudo *pseudo, const double *w, const double *weight,
                              double *sum, gbs_error *err)
{
    slopes s = {.pseudo = pseudo, .w = w, .weight = weight, .add = add_gradient};
    return sum_slopes(&s, sum, err);
}

gbs_status gbsi_pseudo_product(const gbsi_pseudo *pseudo, const double *w, const double *along,
                               double *product, gbs_error *err)
{
    slopes s = {.pseudo = pseudo,
                .w = w,
                .weight = pseudo->data->weight,
                .along = along,
                .add = add_product};
    return sum_slopes(&s, product, err);
}

gbs_status gbsi_pseudo_diagonal(const gbsi_pseudo *pseudo, const double *w, double *diagonal,
                                gbs_error *err)
{
    slopes s = {.pseudo = pseudo, .w = w, .weight = pseudo->data->weight, .add = add_diagonal};
    return sum_slopes(&s, diagonal, err);
}

/* ---- chains ---------------------------------------------------------------------------------- */

void gbsi_pseudo_sweep(const gbsi_pseudo *pseudo, uint32_t member, const double *w,
                       const gbsi_sweep_order *order, const uint8_t *clamped, uint64_t seed,
                       uint32_t chain, uint64_t pass, uint32_t *x)
{
    const gbsi_pseudo *s = pseudo;
    const gbsi_pseudo_room *r = &s->room[member];
    const uint32_t n = s->model->n_variables;
    memcpy(r->x, x, n * sizeof *x);
    for (size_t t = 0; t < order->n; ++t) {
        uint32_t word[4];
        gbsi_philox(seed, chain, pass, (uint32_t)t, GBSI_PURPOSE_UPDATE, word);
        const uint32_t v =
            order->variable[order->random ? (size_t)(((uint64_t)word[2] * order->n) >> 32) : t];
        const uint32_t arity = s->model->arity[v];
        if (arity == 1 || (clamped != NULL && clamped[v])) {
            continue;
        }
        if (gbsi_pseudo_stops(s, member, arity * s->work[v])) {
            return;
        }
        (void)condition(s, r, w, v);
        double at = gbsi_uniform(word[0], word[1]);
        uint32_t a = 0;
        while (a + 1 < arity && at >= r->p[a]) {
            at -= r->p[a++];
        }
        r->x[v] =
            r->p[a] > 0.0 ? a : r->x[v]; /* rounding must not select a state of probability 0 */
    }
    memcpy(x, r->x, n * sizeof *x);
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
