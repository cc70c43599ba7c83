/* SPDX-License-Identifier: Apache-2.0 */
/* Dobrushin variation of the uniform random scan of n variables [M38]. One update multiplies b by
 * (1 - 1/n) I + C / n, so that
 *
 *     V_T = sum_k Binomial(T, 1/n)(k) a_k ,     a_k = d' C^k 1 .
 *
 * Each a_k is computed when it is first needed, by one product with C. Binomial weights relative to
 * the mode are computed from the ratios of adjacent weights. Above the mode, the sum includes the
 * terms up to k = mode + 12 standard deviations + 40. Below the mode, the sum includes all terms,
 * because a_k may be so large for small k that the lower tail dominates. */
#include <math.h>

#include "base/memory.h"
#include "dobrushin/variation.h"
#include "simd/math.h"

struct gbsi_uniform {
    const gbsi_influences *c;
    size_t n_targets;
    const double *const *d;
    gbsi_watch *watch;
    double *x, *y; /* [n] C^k 1 for the largest k so far, and scratch */
    double *a;     /* [n_a][n_targets] the numbers a_k of each target */
    size_t n_a, a_capacity;
};

static gbs_status add_term(gbsi_uniform *u, gbs_error *err)
{
    void *pointer = u->a;
    const size_t n_targets = u->n_targets;
    GBSI_PASS(gbsi_reserve(&pointer, &u->a_capacity, (u->n_a + 1) * n_targets, sizeof *u->a,
                           "variation", err));
    u->a = pointer;
    for (size_t k = 0; k < n_targets; ++k) {
        u->a[u->n_a * n_targets + k] = gbsi_weigh(u->d[k], u->x, u->c->n);
    }
    ++u->n_a;
    (void)gbsi_watch_spend(u->watch, n_targets * u->c->n);
    return GBS_OK;
}

gbs_status gbsi_uniform_new(const gbsi_influences *c, size_t n_targets, const double *const *d,
                            gbsi_watch *watch, gbsi_uniform **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_uniform *u = gbsi_alloc_zero(sizeof *u);
    GBSI_PASS(GBSI_HAVE(err, "variation", u));
    *u = (gbsi_uniform){.c = c, .n_targets = n_targets, .d = d, .watch = watch};
    u->x = gbsi_alloc_array(c->n, 2 * sizeof *u->x);
    GBSI_TRY(GBSI_HAVE(err, "variation", u->x));
    u->y = u->x + c->n;
    gbsi_variation_begin(c, u->x);
    GBSI_TRY(add_term(u, err));
    *out = u;
    u = NULL;

cleanup:
    gbsi_uniform_free(u);
    return status;
}

void gbsi_uniform_free(gbsi_uniform *u)
{
    if (u == NULL) {
        return;
    }
    gbsi_free(u->x < u->y ? u->x
                          : u->y); /* x and y are the two halves of one array, in either order */
    GBSI_FREE(u->a, u);
}

static gbs_status extend(gbsi_uniform *u, uint64_t last, gbs_error *err)
{
    const gbsi_influences *c = u->c;
    while (u->n_a <= last) {
        for (uint32_t i = 0; i < c->n; ++i) {
            const double sum = gbsi_influences_times(c, i, u->x);
            u->y[i] = sum < GBSI_VARIATION_CEILING ? sum : GBSI_VARIATION_CEILING;
            if (gbsi_watch_spend(u->watch, gbsi_influences_work(c, i))) {
                GBSI_PASS(gbsi_watch_fail(err, "bounding the variation of the random scan"));
            }
        }
        double *swapped = u->x;
        u->x = u->y;
        u->y = swapped;
        GBSI_PASS(add_term(u, err));
    }
    return GBS_OK;
}

/* A walk from the mode in one direction, in which each weight is the previous weight times a ratio.
 */
typedef struct walk {
    double steps, odds; /* T; 1 / (n - 1) */
} walk;

static double up(const walk *w, double k)
{
    return (w->steps - k) / (k + 1.0) * w->odds;
}

static double down(const walk *w, double k)
{
    return k / ((w->steps - k + 1.0) * w->odds);
}

static double whole(double x)
{
    return (double)(uint64_t)x; /* k fits a size_t, because a_k was computed by k products */
}

gbs_status gbsi_uniform_at(gbsi_uniform *u, uint64_t n_updates, double *value, gbs_error *err)
{
    const size_t n_targets = u->n_targets;
    const double n = u->c->n;
    const walk w = {(double)n_updates, 1.0 / (n - 1.0)};
    const double mean = n > 0.0 ? w.steps / n : 0.0;
    double last = whole(mean + 12.0 * gbsi_sqrt(mean) + 40.0);
    last = last < w.steps ? last : w.steps;
    if (n <= 1.0) { /* a single variable has the right distribution after one update */
        for (size_t k = 0; k < n_targets; ++k) {
            value[k] = n_updates == 0 ? u->a[k] : 0.0;
        }
        return GBS_OK;
    }
    GBSI_PASS(extend(u, (uint64_t)last, err));
    double mode = whole((w.steps + 1.0) / n);
    mode = mode < last ? mode : last;
    for (size_t t = 0; t < n_targets; ++t) {
        const double *a = u->a + t;
        double weight = 1.0;
        double total = 1.0;
        double sum = a[(size_t)mode * n_targets];
        for (double k = mode; k < last && weight > 0.0; k += 1.0) {
            weight *= up(&w, k);
            total += weight;
            sum += weight * a[((size_t)k + 1) * n_targets];
        }
        weight = 1.0;
        for (double k = mode; k > 0.0 && weight > 0.0; k -= 1.0) {
            weight *= down(&w, k);
            total += weight;
            sum += weight * a[((size_t)k - 1) * n_targets];
        }
        value[t] = sum / total;
    }
    return GBS_OK;
}
