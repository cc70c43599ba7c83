/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds the change of the conditional of i if x_j changes and all other variables are fixed. For
 * distributions p ~ exp(h) and q ~ exp(h + d), TV(p, q) <= tanh((max d - min d) / 4), with equality
 * for some h. If i is binary and its log-odds change from a + s to c + s, its probability changes
 * by |sigma(a + s) - sigma(c + s)|. This change is largest where (a + c) / 2 + s is closest to 0
 * [M17]. */
#include <math.h>

#include "dobrushin/influence_inside.h"
#include "simd/math.h"

/* Returns the smallest absolute value in [lo, hi]. */
static double closest(range r)
{
    return r.lo > 0.0 ? r.lo : r.hi < 0.0 ? -r.hi : 0.0;
}

/* With h = |a - c| / 2 and m = |(a + c) / 2 + s| the difference is
 *     sinh h / (cosh m + cosh h) = (1 - e^-2h) / ((1 + e^(m-h)) (1 + e^(-m-h))),
 * Only the exponent m - h in this formula can be positive. If exp(m - h) overflows, the result is
 * 0. In the frequent case m = 0 the difference is tanh(h / 2) = (1 - e^-h) / (1 + e^-h). */
static double moved(double delta, range mid)
{
    const double h = 0.5 * delta;
    const double m = closest(mid);
    if (m == 0.0) {
        const double less_one = gbsi_expm1(-h);
        return -less_one / (2.0 + less_one);
    }
    return -gbsi_expm1(-2.0 * h) / ((1.0 + gbsi_exp(m - h)) * (1.0 + gbsi_exp(-m - h)));
}

double gbsi_influence_field(double a, double c, range field)
{
    const double mid = 0.5 * (a + c);
    return moved(fabs(a - c), (range){mid + field.lo, mid + field.hi});
}

/* Whether all rows forbid the same states of i. */
static bool same_zeros(const double *slab, uint32_t ki, uint32_t kj)
{
    for (uint32_t x = 1; x < kj; ++x) {
        for (uint32_t a = 0; a < ki; ++a) {
            if ((slab[(size_t)x * ki + a] == -INFINITY) != (slab[a] == -INFINITY)) {
                return false;
            }
        }
    }
    return true;
}

/* Returns the oscillation (maximum minus minimum over a) of row x minus row y. Both rows forbid the
 * same states. */
static double oscillation(const double *x, const double *y, uint32_t k)
{
    double most = -INFINITY;
    double least = INFINITY;
    for (uint32_t a = 0; a < k; ++a) {
        if (x[a] != -INFINITY) {
            const double d = x[a] - y[a];
            most = d > most ? d : most;
            least = d < least ? d : least;
        }
    }
    return most > least ? most - least : 0.0;
}

/* Returns an upper bound of the oscillation if j has many states. Each row is taken relative to its
 * first finite state. For each a the entries of all rows then lie in an interval, and the
 * difference of two rows at a is at most the length of this interval. */
static double coarse_oscillation(const double *slab, uint32_t ki, uint32_t kj)
{
    double longest = 0.0;
    uint32_t first = 0;
    while (first < ki && slab[first] == -INFINITY) {
        ++first;
    }
    for (uint32_t a = first; a < ki; ++a) {
        double most = -INFINITY;
        double least = INFINITY;
        for (uint32_t x = 0; x < kj && slab[a] != -INFINITY; ++x) {
            const double *row = &slab[(size_t)x * ki];
            const double d = row[a] - row[first];
            most = d > most ? d : most;
            least = d < least ? d : least;
        }
        longest = most - least > longest ? most - least : longest;
    }
    return 2.0 * longest;
}

static void note_pairs(const double *slab, measure *m)
{
    const uint32_t ki = m->ki;
    for (uint32_t x = 1; x < m->kj; ++x) {
        const double *row = &slab[(size_t)x * ki];
        for (uint32_t y = 0; y < x; ++y) {
            const double *other = &slab[(size_t)y * ki];
            double *delta = &m->delta[(size_t)x * m->kj + y];
            const double osc = oscillation(row, other, ki);
            *delta = osc > *delta ? osc : *delta;
            if (ki == 2 && row[0] != -INFINITY && row[1] != -INFINITY) {
                const double mid = 0.5 * ((row[1] - row[0]) + (other[1] - other[0]));
                m->mid.lo = mid < m->mid.lo ? mid : m->mid.lo;
                m->mid.hi = mid > m->mid.hi ? mid : m->mid.hi;
            }
        }
    }
}

/* Records the largest change over all pairs of states of j as one number. */
static void note_all(const double *slab, measure *m)
{
    double osc = 0.0;
    if (m->ki == 2) {
        double most = -INFINITY;
        double least = INFINITY;
        for (uint32_t x = 0; x < m->kj; ++x) {
            const double odds = slab[2 * (size_t)x + 1] - slab[2 * (size_t)x];
            most = odds > most ? odds : most;
            least = odds < least ? odds : least;
        }
        if (isfinite(most) && isfinite(least)) {
            osc = most - least;
            m->mid.lo = least < m->mid.lo ? least : m->mid.lo;
            m->mid.hi = most > m->mid.hi ? most : m->mid.hi;
        }
    } else {
        osc = coarse_oscillation(slab, m->ki, m->kj);
    }
    m->delta[0] = osc > m->delta[0] ? osc : m->delta[0];
}

/* Updates the bound of a binary i. For a given s, the largest change lies between the two rows
 * whose log-odds are furthest apart. */
static void note_binary(const double *slab, measure *m)
{
    double most = -INFINITY;
    double least = INFINITY;
    for (uint32_t x = 0; x < m->kj; ++x) {
        const double odds = slab[2 * (size_t)x + 1] - slab[2 * (size_t)x];
        most = odds > most ? odds : most;
        least = odds < least ? odds : least;
    }
    if (most > least && isfinite(most) && isfinite(least)) {
        const double bound = gbsi_influence_field(most, least, m->field);
        m->bound = bound > m->bound ? bound : m->bound;
    }
}

void gbsi_influence_slab(const double *slab, measure *m)
{
    if (m->apart || !same_zeros(slab, m->ki, m->kj)) {
        m->apart = true;
    } else if (m->delta != NULL) {
        (m->n_delta == 1 ? note_all : note_pairs)(slab, m);
    } else if (m->ki == 2) {
        note_binary(slab, m);
    } else if (m->kj > MOST_PAIRED) {
        const double osc = coarse_oscillation(slab, m->ki, m->kj);
        m->osc = osc > m->osc ? osc : m->osc;
    } else {
        for (uint32_t x = 1; x < m->kj; ++x) {
            for (uint32_t y = 0; y < x; ++y) {
                const double osc =
                    oscillation(&slab[(size_t)x * m->ki], &slab[(size_t)y * m->ki], m->ki);
                m->osc = osc > m->osc ? osc : m->osc;
            }
        }
    }
}

double gbsi_influence_of(const measure *m)
{
    double largest = m->osc;
    if (m->apart) {
        return 1.0;
    }
    for (size_t e = 0; m->delta != NULL && e < m->n_delta; ++e) {
        largest = m->delta[e] > largest ? m->delta[e] : largest;
    }
    if (m->ki != 2) {
        return gbsi_tanh(0.25 * largest);
    }
    return m->delta == NULL
               ? m->bound
               : moved(largest, (range){m->mid.lo + m->field.lo, m->mid.hi + m->field.hi});
}
