/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinate descent by algorithm 2 of Mitliagkas & Mackey (2017), with corrections of its forward
 * pass, its first gradient and its update of V [M39]. Let b_t be what t updates make of the vector
 * of ones, and d_t the weights propagated back through the updates after t. Then
 *
 *     V = d_t' b_t ,     dV / dq_t(i) = w_i = -d_i g_i ,     g = (I - C) b_{t-1} .
 *
 * The descent goes backwards through the scan. Undoing one update of b changes g at the updated
 * variable i and at the neighbours in column i of C. Propagating d back through the new update, of
 * s, changes d along row s of C. A tournament keeps track of the least w. If all weights are 0, all
 * w are 0. */
#include "scan/optimise.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "scan/tournament.h"

#define GRACE       (UINT64_C(1) << 24) /* most operations that are finished after a stop */
#define REFRESHMENT 8u                  /* number of operations of one change in the tournament */

struct gbsi_optimiser {
    const gbsi_influences *c;
    gbsi_watch *watch;
    /* [n] d0: the weights d. g0: 1 minus the row sums of C, which is g before the first update */
    double *d0, *g0;
    uint32_t *support; /* [n_support] variables with d0 > 0; NULL if these are too many to list */
    uint32_t n_support;
    double *d, *g;     /* [n] between calls equal to d0 and g0 */
    double *b;         /* [2 n] first half: between calls equal to 1; second half: scratch */
    gbsi_tournament w; /* tournament over w; between calls w = -d0 g0 */
    uint8_t *is_touched;
    uint32_t *touched; /* [n_touched] variables whose entries in b, d, g and w may differ from these
                          values */
    uint32_t n_touched;
    double *old; /* [n] value of b at the updated variable, before each update of the scan */
    uint32_t *kept;
    size_t old_capacity, kept_capacity;
};

void gbsi_optimiser_free(gbsi_optimiser *o)
{
    if (o == NULL) {
        return;
    }
    GBSI_FREE(o->d0, o->support, o->is_touched, o->touched);
    gbsi_tournament_free(&o->w);
    GBSI_FREE(o->old, o->kept, o);
}

static size_t row(const gbsi_optimiser *o, size_t i)
{
    return gbsi_influences_row(o->c, i);
}

static void refresh(gbsi_optimiser *o, uint32_t i)
{
    gbsi_tournament_set(&o->w, i, -o->d[i] * o->g[i]);
}

static void put_back(gbsi_optimiser *o, uint32_t i)
{
    o->b[i] = 1.0;
    o->d[i] = o->d0[i];
    o->g[i] = o->g0[i];
    refresh(o, i);
}

static void fill(gbsi_optimiser *o, const double *d)
{
    for (uint32_t i = 0; i < o->c->n; ++i) {
        double sum = 0.0;
        for (size_t e = row(o, i); e < row(o, i + (size_t)1); ++e) {
            sum += o->c->on[e];
        }
        o->g0[i] = 1.0 - sum;
        o->d0[i] = d == NULL ? 1.0 : d[i];
        put_back(o, i);
    }
}

/* Lists the variables of positive weight if these are few. With this list, V of a short scan of a
 * large model is a short sum. */
static gbs_status list_support(gbsi_optimiser *o, gbs_error *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->c->n; ++i) {
        n += o->d0[i] > 0.0;
    }
    if (n > o->c->n / 8) {
        return GBS_OK;
    }
    o->support = gbsi_alloc_array(n, sizeof *o->support);
    GBSI_PASS(GBSI_HAVE(err, "scan", o->support));
    for (uint32_t i = 0; i < o->c->n; ++i) {
        if (o->d0[i] > 0.0) {
            o->support[o->n_support++] = i;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_optimiser_new(const gbsi_influences *c, const double *d, gbsi_watch *watch,
                              gbsi_optimiser **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = c->n;
    gbsi_optimiser *o = gbsi_alloc_zero(sizeof *o);
    GBSI_PASS(GBSI_HAVE(err, "scan", o));
    o->c = c;
    o->watch = watch;
    o->d0 = gbsi_alloc_array(n, 6 * sizeof *o->d0);
    o->is_touched = gbsi_alloc_array_zero(n, 1);
    o->touched = gbsi_alloc_array(n, sizeof *o->touched);
    GBSI_TRY(GBSI_HAVE(err, "scan", o->d0, o->is_touched, o->touched));
    o->g0 = o->d0 + n;
    o->d = o->g0 + n;
    o->g = o->d + n;
    o->b = o->g + n;
    GBSI_TRY(gbsi_tournament_init(&o->w, c->n, err));
    fill(o, d);
    GBSI_TRY(list_support(o, err));
    *out = o;
    o = NULL;

cleanup:
    gbsi_optimiser_free(o);
    return status;
}

/* ---- touching ------------------------------------------------------------------------------ */

static void touch(gbsi_optimiser *o, uint32_t i)
{
    if (!o->is_touched[i]) {
        o->is_touched[i] = 1;
        o->touched[o->n_touched++] = i;
    }
}

static void touch_around(gbsi_optimiser *o, uint32_t i)
{
    touch(o, i);
    for (size_t e = row(o, i); e < row(o, i + (size_t)1); ++e) {
        touch(o, o->c->j[e]);
    }
}

static void put_all_back(gbsi_optimiser *o)
{
    for (uint32_t k = 0; k < o->n_touched; ++k) {
        o->is_touched[o->touched[k]] = 0;
        put_back(o, o->touched[k]);
    }
    o->n_touched = 0;
}

/* Touches the variables whose b an update changes. */
static void touch_updated(gbsi_optimiser *o, uint32_t i)
{
    const uint32_t first = i == GBSI_NONE ? 0 : i;
    const uint32_t end = i == GBSI_NONE ? o->c->n : i + 1;
    for (uint32_t k = first; k < end && o->n_touched < o->c->n; ++k) {
        touch(o, k);
    }
}

/* ---- forwards ------------------------------------------------------------------------------ */

static double weigh(const gbsi_optimiser *o)
{
    double sum = 0.0;
    if (o->support == NULL) {
        return gbsi_weigh(o->d0, o->b, o->c->n);
    }
    for (uint32_t k = 0; k < o->n_support; ++k) {
        sum += o->d0[o->support[k]] * o->b[o->support[k]];
    }
    return sum;
}

double gbsi_optimiser_variation(gbsi_optimiser *o, const uint32_t *scan, size_t n)
{
    uint64_t work = 0;
    bool stopped = false;
    for (size_t t = 0; t < n && !stopped; ++t) {
        const uint64_t more = scan[t] == GBSI_NONE ? gbsi_influences_row(o->c, o->c->n) + o->c->n
                                                   : gbsi_influences_work(o->c, scan[t]);
        touch_updated(o, scan[t]);
        (void)gbsi_variation_follow(o->c, scan + t, 1, o->b, NULL);
        work += more;
        stopped = gbsi_watch_spend(o->watch, more) && work > GRACE;
    }
    const double v = stopped ? NAN : weigh(o);
    put_all_back(o);
    return v;
}

/* Computes b after the scan, and stores the replaced values in o->old. Then updates the entries of
 * g and w that changed. @return false if the watch stopped. */
static bool forward(gbsi_optimiser *o, const uint32_t *scan, size_t n)
{
    for (size_t t = 0; t < n; ++t) {
        o->old[t] = o->b[scan[t]];
        if (!gbsi_variation_follow(o->c, scan + t, 1, o->b, o->watch)) {
            return false;
        }
        touch_around(o, scan[t]);
    }
    for (uint32_t k = 0; k < o->n_touched; ++k) {
        const uint32_t i = o->touched[k];
        if (gbsi_watch_spend(o->watch, REFRESHMENT + gbsi_influences_work(o->c, i))) {
            return false;
        }
        o->g[i] = o->b[i] - gbsi_influences_times(o->c, i, o->b);
        refresh(o, i);
    }
    return true;
}

/* ---- backwards ----------------------------------------------------------------------------- */

/* Restores b_k to its value `old` before the current update, and updates g. */
static void undo(gbsi_optimiser *o, uint32_t k, double old)
{
    const double delta = old - o->b[k];
    o->b[k] = old;
    o->g[k] += delta;
    refresh(o, k);
    for (size_t e = row(o, k); e < row(o, k + (size_t)1); ++e) {
        const uint32_t i = o->c->j[e];
        o->g[i] -= o->c->of[e] * delta;
        if (o->d[i] > 0.0) {
            refresh(o, i);
        }
    }
}

/* Propagates d back through an update of s: the weight of s moves to the variables that influence
 * s. */
static void bring_back(gbsi_optimiser *o, uint32_t s)
{
    const double weight = o->d[s];
    if (weight == 0.0) {
        return;
    }
    touch_around(o, s);
    o->d[s] = 0.0;
    refresh(o, s);
    for (size_t e = row(o, s); e < row(o, s + (size_t)1); ++e) {
        if (o->c->on[e] > 0.0) {
            const double more = o->d[o->c->j[e]] + weight * o->c->on[e];
            o->d[o->c->j[e]] = more < GBSI_VARIATION_CEILING ? more : GBSI_VARIATION_CEILING;
            refresh(o, o->c->j[e]);
        }
    }
}

static void backward(gbsi_optimiser *o, uint32_t *scan, size_t n, double enough, double v)
{
    for (size_t t = n; t-- > 0 && v > enough;) {
        const uint32_t k = scan[t];
        uint64_t work = gbsi_influences_work(o->c, k);
        undo(o, k, o->old[t]);
        uint32_t s = gbsi_tournament_least(&o->w);
        const double least = gbsi_tournament_value(&o->w, s);
        const double own = gbsi_tournament_value(&o->w, k);
        if (!(least < own)) { /* at a tie the current variable stays */
            s = k;
        } else {
            v += least - own;
        }
        scan[t] = s;
        bring_back(o, s);
        work += gbsi_influences_work(o->c, s);
        if (gbsi_watch_spend(o->watch, REFRESHMENT * work)) {
            return;
        }
    }
}

gbs_status gbsi_optimiser_descend(gbsi_optimiser *o, uint32_t *scan, size_t n, double enough,
                                  double *variation, gbs_error *err)
{
    void *pointer = o->old;
    GBSI_PASS(gbsi_reserve(&pointer, &o->old_capacity, n, sizeof *o->old, "scan", err));
    o->old = pointer;
    pointer = o->kept;
    GBSI_PASS(gbsi_reserve(&pointer, &o->kept_capacity, n, sizeof *o->kept, "scan", err));
    o->kept = pointer;
    memcpy(o->kept, scan, n * sizeof *scan);
    if (forward(o, scan, n)) {
        backward(o, scan, n, enough, *variation);
    }
    put_all_back(o);
    const double after = gbsi_optimiser_variation(o, scan, n);
    if (after <= *variation) {
        *variation = after;
    } else {
        memcpy(scan, o->kept, n * sizeof *scan);
    }
    return GBS_OK;
}
