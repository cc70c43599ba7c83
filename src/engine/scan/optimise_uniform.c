/* SPDX-License-Identifier: Apache-2.0 */
/* Mitliagkas & Mackey (2017), algorithm 2, from q_t uniform at all or some steps [M39]. A uniform
 * step multiplies b by (1 - 1/n) I + C / n. This changes all entries of b and cannot be undone.
 * Therefore b is kept at every sqrt(T)-th step. The descent goes backwards; between two kept steps,
 * b is computed again. */
#include "scan/optimise.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#define MOST_WORK ((uint64_t)1 << 36) /* limit on steps times influences */

typedef struct descent {
    const gbsi_influences *c;
    gbsi_watch *watch;
    uint32_t *scan;        /* [n] the given updates, replaced from the last to the first */
    size_t n, stride;      /* number of updates; steps between two kept vectors */
    double *kept, *before; /* [n / stride + 1][n variables] b at the kept steps; b at all steps
                              between two of these */
    double *b;             /* [2 n variables] b after the last update that was followed; scratch */
    double *d;             /* [n variables] weights, propagated back so far */
    size_t n_left;         /* number of updates at the beginning that are not chosen yet */
} descent;

/* w_i = -d_i ((I - C) b)_i, the derivative of V by q_t(i). */
static double derivative(const descent *w, const double *b, uint32_t i)
{
    return w->d[i] > 0.0 ? -w->d[i] * (b[i] - gbsi_influences_times(w->c, i, b)) : 0.0;
}

/* Returns the variable with the least derivative: the given variable if no other is less, otherwise
 * the lowest. @param given GBSI_NONE if the update takes a variable drawn uniformly. */
static uint32_t best(const descent *w, const double *b, uint32_t given)
{
    uint32_t found = given == GBSI_NONE ? 0 : given;
    double least = given == GBSI_NONE ? INFINITY : derivative(w, b, given);
    for (uint32_t i = 0; i < w->c->n; ++i) {
        const double value = derivative(w, b, i);
        if (value < least) {
            least = value;
            found = i;
        }
    }
    return found;
}

/* Propagates d back through an update of s: the weight of s moves to the variables that influence
 * s. */
static void bring_back(const descent *w, uint32_t s)
{
    const gbsi_influences *c = w->c;
    const double weight = w->d[s];
    w->d[s] = 0.0;
    for (size_t e = gbsi_influences_row(c, s); e < gbsi_influences_row(c, s + (size_t)1); ++e) {
        const double more = w->d[c->j[e]] + weight * c->on[e];
        w->d[c->j[e]] = more < GBSI_VARIATION_CEILING ? more : GBSI_VARIATION_CEILING;
    }
}

/* Follows the given updates from `first` to `end`, and stores b before each of them whose number is
 * a multiple of `stride`. @param kept [(end - first) / stride, rounded up][n variables] out.
 * @return false if the watch stopped. */
static bool follow(const descent *w, size_t first, size_t end, size_t stride, double *kept)
{
    const size_t n = w->c->n;
    for (size_t t = first; t < end; ++t) {
        if ((t - first) % stride == 0) {
            memcpy(kept + (t - first) / stride * n, w->b, n * sizeof *kept);
        }
        if (!gbsi_variation_follow(w->c, w->scan + t, 1, w->b, w->watch)) {
            return false;
        }
    }
    return true;
}

/* Chooses updates from the last to the first, until the watch stops. @return b before the earliest
 * update that was chosen; NULL if none was. */
static const double *backward(descent *w)
{
    const size_t n = w->c->n;
    const double *at = NULL;
    for (size_t first = (w->n - 1) / w->stride * w->stride;; first -= w->stride) {
        const size_t end = w->n_left;
        memcpy(w->b, w->kept + first / w->stride * n, n * sizeof *w->b);
        if (!follow(w, first, end, 1, w->before)) {
            return at == NULL ? NULL : w->kept + end / w->stride * n;
        }
        for (size_t t = end; t-- > first; w->n_left = t) {
            at = w->before + (t - first) * n;
            w->scan[t] = best(w, at, w->scan[t]);
            bring_back(w, w->scan[t]);
            if (gbsi_watch_spend(w->watch, gbsi_influences_row(w->c, n) + n)) {
                w->n_left = t;
                return at;
            }
        }
        if (first == 0) {
            return at;
        }
    }
}

static gbs_status take_room(descent *w, uint64_t room, gbs_error *err)
{
    const uint64_t n = w->c->n;
    const double work = 2.0 * (double)w->n * (double)(gbsi_influences_row(w->c, n) + n);
    while ((uint64_t)w->stride * w->stride < w->n || w->stride < 2) {
        ++w->stride;
    }
    const uint64_t steps = w->n / w->stride + 1 + w->stride; /* number of stored vectors b */
    if (work > (double)MOST_WORK) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "from the random scan every update looks at all %" PRIu64
                         " variables and their influences: %zu updates are more than %.3g of "
                         "these: ask for fewer, or for --scan systematic",
                         n, w->n, (double)MOST_WORK);
    }
    if (n > 0 && steps > room / sizeof *w->kept / n) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "from the random scan %" PRIu64 " vectors of %" PRIu64
                         " numbers are kept, more than the memory limit leaves: ask for fewer "
                         "updates, or for --scan systematic",
                         steps, n);
    }
    w->kept = gbsi_alloc_array((size_t)steps, n * sizeof *w->kept);
    w->before = w->kept == NULL ? NULL : w->kept + (w->n / w->stride + 1) * n;
    return GBSI_HAVE(err, "scan", w->kept);
}

gbs_status gbsi_optimise_uniform(const gbsi_influences *c, const double *d, gbsi_watch *watch,
                                 uint64_t room, uint32_t *scan, size_t n, gbsi_descended *found,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    descent w = {.c = c, .watch = watch, .scan = scan, .n = n, .n_left = n};
    w.b = gbsi_alloc_array(c->n, 3 * sizeof *w.b);
    GBSI_PASS(GBSI_HAVE(err, "scan", w.b));
    w.d = w.b + 2 * (size_t)c->n;
    GBSI_TRY(take_room(&w, room, err));
    for (uint32_t i = 0; i < c->n; ++i) {
        w.d[i] = d == NULL ? 1.0 : d[i];
    }
    gbsi_variation_begin(c, w.b);
    if (!follow(&w, 0, n, w.stride, w.kept)) {
        GBSI_TRY(gbsi_watch_fail(err, "bounding the variation of a scan with random updates"));
    }
    found->before = gbsi_weigh(w.d, w.b, c->n);
    const double *at = backward(&w);
    if (at == NULL) {
        GBSI_TRY(gbsi_watch_fail(err, "choosing updates of a scan"));
    }
    found->after = gbsi_weigh(w.d, at, c->n);
    found->n_left = w.n_left;

cleanup:
    GBSI_FREE(w.kept, w.b);
    return status;
}
