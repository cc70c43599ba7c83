/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithm 2 of Mitliagkas & Mackey (2017), where the distribution q_t of every update begins as
 * the uniform distribution [M39]. An update whose variable is not chosen yet multiplies b by (1 -
 * 1/n) I + C / n, where n is the number of variables. This changes all entries of b and cannot be
 * undone. Therefore b is kept after every sqrt(T)-th of the T updates. The descent goes backwards,
 * and computes b again between two kept vectors. */
#include "scan/optimise.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#define MOST_WORK ((uint64_t)1 << 36) /* limit on updates times influences */

typedef struct descent {
    const gbsi_influences *c;
    gbsi_watch *watch;
    size_t n, stride; /* n: number of updates; stride: number of updates between two kept vectors */
    double *kept, *before; /* kept: [n / stride + 1][n variables] kept vectors b; before: b after
                              each update between two kept vectors */
    double *d;             /* [n variables] weights, propagated back so far */
} descent;

/* Applies to b one update of a variable drawn uniformly. @return false if the watch stopped. */
static bool step(const descent *w, const double *b, double *next)
{
    const gbsi_influences *c = w->c;
    const double n = c->n;
    for (uint32_t i = 0; i < c->n; ++i) {
        const double value = b[i] + (gbsi_influences_times(c, i, b) - b[i]) / n;
        next[i] = value < GBSI_VARIATION_CEILING ? value : GBSI_VARIATION_CEILING;
        if (gbsi_watch_spend(w->watch, gbsi_influences_work(c, i))) {
            return false;
        }
    }
    return true;
}

/* Returns the variable i with the least w_i = -d_i ((I - C) b)_i, which is the derivative of V by
 * q_t(i). Among variables of equal w_i, the lowest is returned. */
static uint32_t best(const descent *w, const double *b)
{
    uint32_t found = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < w->c->n; ++i) {
        const double value =
            w->d[i] > 0.0 ? -w->d[i] * (b[i] - gbsi_influences_times(w->c, i, b)) : 0.0;
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

/* Computes b update by update, and stores b after every w->stride-th update. @param last out: b
 * after all updates. */
static bool forward(const descent *w, double *last)
{
    const size_t size = w->c->n * sizeof *last;
    gbsi_variation_begin(w->c, last);
    for (size_t t = 0; t < w->n; ++t) {
        if (t % w->stride == 0) {
            memcpy(w->kept + t / w->stride * w->c->n, last, size);
        }
        double *next = w->before + t % 2 * w->c->n; /* this function uses w->before as scratch */
        if (!step(w, last, next)) {
            return false;
        }
        memcpy(last, next, size);
    }
    return true;
}

/* Chooses updates from the last to the first. @return the number of updates that are not chosen
 * yet, which is 0 unless the watch stopped the descent. */
static size_t backward(const descent *w, uint32_t *scan)
{
    const size_t n = w->c->n;
    for (size_t first = (w->n - 1) / w->stride * w->stride;; first -= w->stride) {
        const size_t left = w->n - first;
        const size_t length = left < w->stride ? left : w->stride;
        memcpy(w->before, w->kept + first / w->stride * n, n * sizeof *w->before);
        for (size_t t = 1; t < length; ++t) {
            if (!step(w, w->before + (t - 1) * n, w->before + t * n)) {
                return first + length;
            }
        }
        for (size_t t = length; t-- > 0;) {
            scan[first + t] = best(w, w->before + t * n);
            bring_back(w, scan[first + t]);
            if (gbsi_watch_spend(w->watch, gbsi_influences_row(w->c, n) + n)) {
                return first + t;
            }
        }
        if (first == 0) {
            return 0;
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
                                 uint64_t room, uint32_t *scan, size_t n, double *before,
                                 size_t *left, gbs_error *err)
{
    gbs_status status = GBS_OK;
    descent w = {.c = c, .watch = watch, .n = n};
    double *last = gbsi_alloc_array(c->n, 2 * sizeof *last);
    GBSI_PASS(GBSI_HAVE(err, "scan", last));
    w.d = last + c->n;
    GBSI_TRY(take_room(&w, room, err));
    for (uint32_t i = 0; i < c->n; ++i) {
        w.d[i] = d == NULL ? 1.0 : d[i];
    }
    if (!forward(&w, last)) {
        GBSI_TRY(gbsi_watch_fail(err, "bounding the variation of the random scan"));
    }
    *before = gbsi_weigh(w.d, last, c->n);
    *left = backward(&w, scan);
    if (*left == n && n > 0) {
        GBSI_TRY(gbsi_watch_fail(err, "choosing updates of a scan"));
    }
    for (size_t t = 0; t < *left; ++t) {
        scan[t] = (uint32_t)(t % c->n);
    }

cleanup:
    GBSI_FREE(w.kept, last);
    return status;
}
