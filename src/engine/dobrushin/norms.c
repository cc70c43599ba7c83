/* SPDX-License-Identifier: Apache-2.0 */
/* Computes norms of the matrix by power iteration, as intervals that contain the norms. For C >= 0
 * and x > 0 (Collatz 1942, Wielandt 1950) the bound
 *
 *     min_i (Cx)_i / x_i  <=  rho(C)  <=  max_i (Cx)_i / x_i ,
 *
 * holds for every connected component; the radius of the matrix is the largest radius of a
 * component. The iteration multiplies by C + I instead of C, because powers of C + I do not
 * oscillate on bipartite graphs. |C|_2^2 is the radius of C'C >= 0, and at least |Cx|^2 / |x|^2. On
 * a bipartite graph C'C has two blocks, and the lower bound of Collatz belongs to the block with
 * the smaller radius. */
#include <math.h>

#include "base/memory.h"
#include "dobrushin/matrix.h"
#include "simd/math.h"

#define ITERATIONS  1000u
#define WORK        ((size_t)1 << 27) /* limit on multiplications over all iterations */
#define LEAST       16u               /* number of iterations that is always allowed */
#define TIGHT       1e-6
#define FLOOR       1e-200 /* keeps x positive; every positive x gives valid bounds */
#define SLACK       1e-12  /* relative amount by which intervals are widened for rounding */
#define VECTOR_WORK 4u     /* operations of a variable, without its row */

typedef struct power {
    const gbsi_influences *c;
    const uint32_t *component;
    uint32_t n_components;
    double *x, *y, *z; /* [n] */
    gbsi_watch *watch;
    gbsi_interval *
        radius; /* [n_components] interval of each component's radius after the iterations so far */
    double *least, *most; /* [n_components] least and largest quotient (Cx)_i / x_i of each
                             component in this iteration */
} power;

/* Computes y = Cx by rows, or y = C'x. @return false if the watch stopped. */
static bool multiply(const power *p, bool transposed, const double *x, double *y)
{
    const gbsi_influences *c = p->c;
    const double *entry = transposed ? c->of : c->on;
    for (uint32_t i = 0; i < c->n; ++i) {
        const size_t end = gbsi_influences_row(c, i + (size_t)1);
        double sum = 0.0;
        for (size_t e = gbsi_influences_row(c, i); e < end; ++e) {
            sum += entry[e] * x[c->j[e]];
        }
        y[i] = sum;
        if (gbsi_watch_spend(p->watch, VECTOR_WORK + gbsi_influences_work(c, i))) {
            return false;
        }
    }
    return true;
}

static size_t most_iterations(const gbsi_influences *c)
{
    const size_t n = WORK / (gbsi_influences_row(c, c->n) + c->n + 1);
    return n < LEAST ? LEAST : n < ITERATIONS ? n : ITERATIONS;
}

/* Narrows the interval of each component's radius by the quotients image_i / x_i. @return whether
 * the bounds of all components that can have the largest radius are tight. */
static bool narrow(power *p, const double *image)
{
    double highest = 0.0;
    double lowest = 0.0;
    for (uint32_t k = 0; k < p->n_components; ++k) {
        p->least[k] = INFINITY;
        p->most[k] = 0.0;
    }
    for (uint32_t i = 0; i < p->c->n; ++i) {
        const uint32_t k = p->component[i];
        const double q = image[i] / p->x[i];
        p->least[k] = q < p->least[k] ? q : p->least[k];
        p->most[k] = q > p->most[k] ? q : p->most[k];
    }
    for (uint32_t k = 0; k < p->n_components; ++k) {
        gbsi_interval *r = &p->radius[k];
        const double lo = p->least[k] * (1.0 - SLACK);
        const double hi = p->most[k] * (1.0 + SLACK);
        r->lo = isfinite(lo) && lo > r->lo ? lo : r->lo;
        r->hi = hi < r->hi ? hi : r->hi;
        lowest = r->lo > lowest ? r->lo : lowest;
        highest = r->hi > highest ? r->hi : highest;
    }
    return highest - lowest <= TIGHT * highest;
}

/* Sets x = image, or x = image + x if `shifted`. Each component is scaled so that its largest entry
 * is 1. */
static void advance(power *p, const double *image, bool shifted)
{
    for (uint32_t k = 0; k < p->n_components; ++k) {
        p->most[k] = FLOOR;
    }
    for (uint32_t i = 0; i < p->c->n; ++i) {
        const double v = image[i] + (shifted ? p->x[i] : 0.0);
        p->x[i] = v > FLOOR ? v : FLOOR;
        p->most[p->component[i]] =
            p->x[i] > p->most[p->component[i]] ? p->x[i] : p->most[p->component[i]];
    }
    for (uint32_t i = 0; i < p->c->n; ++i) {
        const double v = p->x[i] / p->most[p->component[i]];
        p->x[i] = v > FLOOR ? v : FLOOR;
    }
}

static void begin(power *p)
{
    for (uint32_t i = 0; i < p->c->n; ++i) {
        p->x[i] = 1.0;
    }
    for (uint32_t k = 0; k < p->n_components; ++k) {
        p->radius[k] = (gbsi_interval){0.0, INFINITY};
    }
}

static gbsi_interval worst(const power *p)
{
    gbsi_interval all = {0.0, 0.0};
    for (uint32_t k = 0; k < p->n_components; ++k) {
        all.lo = p->radius[k].lo > all.lo ? p->radius[k].lo : all.lo;
        all.hi = p->radius[k].hi > all.hi ? p->radius[k].hi : all.hi;
    }
    return all;
}

static gbsi_interval find_radius(power *p)
{
    const size_t n = most_iterations(p->c);
    begin(p);
    for (size_t t = 0; t < n; ++t) {
        if (!multiply(p, false, p->x, p->y) || narrow(p, p->y)) {
            break;
        }
        advance(p, p->y, true);
    }
    return worst(p);
}

/* Returns |y|^2 / |x|^2 for y = Cx, minus an allowance for rounding. */
static double stretch(const power *p)
{
    double of_x = 0.0;
    double of_y = 0.0;
    for (uint32_t i = 0; i < p->c->n; ++i) {
        of_x += p->x[i] * p->x[i];
        of_y += p->y[i] * p->y[i];
    }
    return of_x > 0.0 ? of_y / of_x * (1.0 - SLACK - 0x1p-50 * p->c->n) : 0.0;
}

static gbsi_interval find_two(power *p)
{
    const size_t n = most_iterations(p->c) / 2;
    double lo = 0.0;
    begin(p);
    for (size_t t = 0; t < n; ++t) {
        if (!multiply(p, false, p->x, p->y) || !multiply(p, true, p->y, p->z)) {
            break;
        }
        const double here = stretch(p);
        lo = here > lo ? here : lo;
        if (narrow(p, p->z) || worst(p).hi - lo <= TIGHT * lo) {
            break;
        }
        advance(p, p->z, false);
    }
    const gbsi_interval square = worst(p);
    return (gbsi_interval){gbsi_sqrt(square.lo > lo ? square.lo : lo), gbsi_sqrt(square.hi)};
}

void gbsi_matrix_sums(const gbsi_influences *c, double *largest, double *mean)
{
    double total = 0.0;
    double most = 0.0;
    for (uint32_t i = 0; i < c->n; ++i) {
        const size_t end = gbsi_influences_row(c, i + (size_t)1);
        double sum = 0.0;
        for (size_t e = gbsi_influences_row(c, i); e < end; ++e) {
            sum += c->on[e];
        }
        most = sum > most ? sum : most;
        total += sum;
    }
    *largest = most;
    *mean = c->n == 0 ? 0.0 : total / c->n;
}

gbs_status gbsi_matrix_norms(const gbsi_influences *c, const uint32_t *component,
                             uint32_t n_components, gbsi_watch *watch, gbsi_norms *norms,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    power p = {.c = c, .component = component, .n_components = n_components, .watch = watch};
    p.x = gbsi_alloc_array(c->n, 3 * sizeof *p.x);
    p.least = gbsi_alloc_array(n_components, 2 * sizeof *p.least);
    p.radius = gbsi_alloc_array(n_components, sizeof *p.radius);
    GBSI_TRY(GBSI_HAVE(err, "norms", p.x, p.least, p.radius));
    p.y = p.x + c->n;
    p.z = p.y + c->n;
    p.most = p.least + n_components;
    norms->two = find_two(&p);
    norms->radius = find_radius(&p);
    if (gbsi_watch_stopped(watch)) {
        status = gbsi_watch_fail(err, "bounding the norms of the influences");
    }

cleanup:
    GBSI_FREE(p.x, p.least, p.radius);
    return status;
}
